#pragma once

#include <csetjmp>

#include "boards/board.h"

/** A board without hardware: the test is its host and its clock. */
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

/** Lets time pass. */
void pass(uint32_t ms);

/** From now on takes at most so many bytes in every second write, and none in the others. */
void take_slowly(size_t bytes);

}  // namespace autodeploy::fake_board
