#pragma once

namespace autodeploy::cortex_m {

/**
 * Makes the use of a null pointer, a write to the code and a jump to data fault.
 *
 * TFLM goes astray when its arena is too small; unprotected, that is silent damage. The core itself
 * still reads its vectors at address 0.
 */
void protect_memory();

/** Whether the place of a model that the host loads can be written to; it cannot until then. */
void open_model(bool writable);

}  // namespace autodeploy::cortex_m
