#pragma once

#include <cstdint>

/**
 * The pins of this PC: a socket whose descriptor is in the variable AUTODEPLOY_PINS.
 *
 * The board sends 9 bytes for each change: the lines (In0 is bit 0) and the ticks. Each byte that
 * it gets is the trigger's level.
 */
namespace autodeploy::host {

/** Whether there are pins. */
bool init_pins();

void set_lines(bool in0, bool in1);
bool await_trigger(bool high, uint32_t ms);

}  // namespace autodeploy::host
