#pragma once

#include "rpc/messages.h"

namespace autodeploy {

/** Runs inferences, and nothing else that takes time, to the first one that fails: how many did not. */
struct Inference {
    uint32_t (*run)(void *itself, uint32_t count);
    void *itself;
};

/**
 * The sequence that autodeploy.erpc describes at armPower, on the pins of the board.
 *
 * Every wait ends: the two for the trigger after `wait_ms`. The lines are low afterwards.
 */
PowerRun perform_power_run(uint32_t count, uint32_t wait_ms, Inference inference);

}  // namespace autodeploy
