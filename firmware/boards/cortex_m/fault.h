#pragma once

#include "rpc/messages.h"

namespace autodeploy::cortex_m {

/** Where the program was when it faulted before this start; nullptr when it did not. */
const char *fault_words();

/** Why the board has started; after `fault_words`. */
ResetCause reset_cause();

[[noreturn]] void reset_on_request();

/** Calls the function; false when it faulted, at which its stack was given up. */
bool survive_fault(void (*function)(void *), void *argument);

}  // namespace autodeploy::cortex_m
