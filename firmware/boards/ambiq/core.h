#pragma once

#include <cstdint>

/** Power, clock modes and time: what every program on an EVB has, with or without instruments. */
namespace autodeploy::ambiq {

/** What of the chip stays on beside core and memories. */
struct Needs {
    bool usb;
    bool uart;
};

void init_core(Needs needs);

/** The first step of `init_core` that failed, "" when none did. */
const char *failed_step_of_core();

/** Turns ITM, DWT and TPIU off, which measure and cost energy. */
void stop_debug_units();

/** The system timer, which runs on while the core sleeps, in ticks of the present clock mode. */
uint64_t timer_ticks();

}  // namespace autodeploy::ambiq
