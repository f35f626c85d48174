#pragma once

/** Faults of what the board runs, from which it can go on. */
namespace autodeploy::ambiq {

/**
 * Makes the use of a null pointer fault, where the core's protection can do that.
 *
 * TFLM does not check its own first allocations: an arena that is far too small sends it to address
 * 0, where these chips have memory. A Cortex-M55 can only be kept from writing there.
 */
void guard_null_pointers();

}  // namespace autodeploy::ambiq
