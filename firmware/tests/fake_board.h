#pragma once

#include <csetjmp>

#include "boards/board.h"

/**
 * A board without hardware: the test is its host, its clock and its trigger.
 *
 * It traps when a link at rest or a quiet one is used, and when an inference is timed with a link that is neither.
 */
namespace autodeploy::fake_board {

constexpr size_t kHeldBytes = 1 << 20;

extern std::jmp_buf rebooted;

/** Forgets the link and starts the clock anew. */
void reset();

/** Bytes that the board has not read yet. */
void give(const uint8_t *bytes, size_t size);
size_t unread();

/** What the board has written since `reset`. */
Bytes written();

/** From now on, or not any more, whatever the board has to survive crashes. */
void crash(bool always);

/** Whether the link is quiet. */
bool quiet();

/** Lets time pass. */
void pass(uint32_t ms);

/** The board's facts, which a test may change until `reset`. */
board::Facts &facts();

constexpr uint32_t kNever = 0xFFFFFFFF;

/** How long the board waits for the trigger to rise, and then for it to fall. */
void script_trigger(uint32_t rises_ms, uint32_t falls_ms);

/** What the lines became (In0 is bit 0), when, and how many bytes had been written by then. */
struct Change {
    uint8_t lines;
    uint32_t at_ms;
    size_t written;
};

/** The changes since `reset`. */
constexpr size_t kMostChanges = 8;
const Change *changes();
size_t change_count();

/** The events that were chosen latest. */
const uint32_t *events();

/** From now on takes at most so many bytes in every second write, and none in the others. */
void take_slowly(size_t bytes);

}  // namespace autodeploy::fake_board
