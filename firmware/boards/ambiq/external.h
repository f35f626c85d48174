#pragma once

/** Memories outside of the chip, of which the linker scripts of the SDK know nothing. */
namespace autodeploy::ambiq {

/** Starts those that the image uses, and puts the model there. Before `guard_null_pointers`: it clears regions. */
void init_external();

}  // namespace autodeploy::ambiq
