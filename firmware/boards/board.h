#pragma once

#include "rpc/messages.h"

/**
 * What a board has to offer to the code above it. Nothing here waits, except `wait` and the pins.
 *
 * A board that cannot hold back its host keeps what arrives while the core is busy: up to
 * config::kWindowBytes.
 */
namespace autodeploy::board {

constexpr size_t kMaxCounters = 13;

struct Facts {
    BoardKind kind;
    const char *core;
    uint32_t capabilities;
    uint32_t clocks_hz[kClockModes];  // 0 where a mode does not exist
    const char *const *counters;      // names of what read_counters gives
    size_t counter_count;
    size_t byte_counters;   // so many of them, the last ones, have 8 bits
    size_t events_at_once;  // that count_events takes; 0 where the counters are fixed
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

/** Called before every inference: sets the phase of the tick. */
void begin_inference();

/**
 * Around the inferences of a call, which are timed: a link that takes time from the core, and whose host
 * waits without loss while nobody serves it (USB), is not served between the two. Nothing may have to be
 * waited for. A UART goes on receiving. The default does nothing.
 */
void begin_quiet();
void end_quiet();

/** The core's clock as measured against another one, for which it may take 10 ms; by default 0: there is none. */
uint32_t measured_hz();

/** By default unknown. */
ResetCause reset_cause();

/** The step of `init` that failed, which went on without it; by default "": none. */
const char *failed_step();

/** The memory of an address by its name on the chip, such as DTCM; by default "": unknown. */
const char *memory_of(const void *address);

/**
 * What was written has arrived in its memory, and is read from there: caches are written back and emptied. The
 * default does nothing.
 */
void settle_memory();

/** Before a model is loaded: lets its place be written to. */
void open_memory();

/** Why a memory that the image uses is not there, in words; nullptr when all are. */
const char *missing_memory();

/** The present values of the counters, which run freely modulo 2^32, or 2^8. */
void read_counters(uint32_t *values);

/** Counts these events of the performance monitor from now on; without any, the board's own. */
void count_events(const uint32_t *events, size_t count);

/** The two outputs of a power run, which change within 2 us of each other. */
void set_lines(bool in0, bool in1);

/** Sleeps until the trigger has this level; false when it does not get it within `ms`. */
bool await_trigger(bool high, uint32_t ms);

/** Lets what was written leave; the link and what only measures are off until `resume_link`. */
void rest_link();
void resume_link();

ClockMode clock();
bool set_clock(ClockMode mode);

/** Restarts when what was written has been sent. */
[[noreturn]] void reboot();

}  // namespace autodeploy::board
