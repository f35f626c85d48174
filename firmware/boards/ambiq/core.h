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

/** Turns ITM, DWT and TPIU off, which measure and cost energy. */
void stop_debug_units();

/** The system timer, which runs on while the core sleeps, in ticks of the present clock mode. */
uint64_t timer_ticks();

}  // namespace autodeploy::ambiq
