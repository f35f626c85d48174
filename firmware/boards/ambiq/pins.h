#pragma once

/** The pins of a power run, by the numbers in the generated configuration. */
namespace autodeploy::ambiq {

void init_pins();

}  // namespace autodeploy::ambiq
