#pragma once

#include "rpc/messages.h"

/**
 * What a board has to offer to the code above it. Nothing here waits, except `wait`.
 *
 * A board that cannot hold back its host keeps what arrives while the core is busy: up to
 * config::kWindowBytes.
 */
namespace autodeploy::board {

constexpr size_t kMaxCounters = 8;

struct Facts {
    BoardKind kind;
    const char *core;
    uint32_t capabilities;
    uint32_t clocks_hz[kClockModes];  // 0 where a mode does not exist
    const char *const *counters;      // names of what read_counters gives
    size_t counter_count;
};

void init();
const Facts &facts();

/** Why the board restarted when nobody asked it to; nullptr when all is well. */
const char *restart_words();

/** Calls the function; false when it crashed and the board could go on without its end. */
bool survive(void (*function)(void *), void *argument);

/** Takes up to `size` bytes that have arrived and returns how many. */
size_t read(uint8_t *to, size_t size);

/** Sends up to `size` bytes, as many as can go now, and returns how many. */
size_t write(const uint8_t *from, size_t size);

/** Sleeps until a byte has arrived or about `ms` have passed; may return early. */
void wait(uint32_t ms);

uint32_t milliseconds();

/** The finest time there is. */
uint64_t ticks();
uint32_t tick_hz();

/** Called around every inference: sets the phase of the tick, drives the pin of the window. */
void begin_inference();
void end_inference();

/** The present values of the counters, which run freely modulo 2^32. */
void read_counters(uint32_t *values);

ClockMode clock();
bool set_clock(ClockMode mode);

/** Restarts when what was written has been sent. */
[[noreturn]] void reboot();

}  // namespace autodeploy::board
