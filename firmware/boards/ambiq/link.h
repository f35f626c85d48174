#pragma once

#include <cstddef>
#include <cstdint>

/** The way to the host: USB or a UART, as the generated configuration says. */
namespace autodeploy::ambiq {

void init_link();
size_t read_link(uint8_t *to, size_t size);
size_t write_link(const uint8_t *from, size_t size);

/** Whether something that was written is still on its way. */
bool link_sends();

/** Waits until nothing is, for a second at most: a host that left does not take the rest. */
void drain_link();

/** Turns the interrupts of the link off, or on again. */
void silence_link(bool silent);

/**
 * Turns the link off, or on again.
 *
 * USB stays attached, so that the host need not find its port again: only what serves it stops, and
 * its controller stays on.
 */
void power_link(bool on);

}  // namespace autodeploy::ambiq
