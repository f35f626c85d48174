#pragma once

#include "rpc/messages.h"

namespace autodeploy {

/** Runs one inference; false when it failed. */
struct Inference {
    bool (*run)(void *itself);
    void *itself;
};

/**
 * The sequence that autodeploy.erpc describes at armPower, on the pins of the board.
 *
 * Every wait ends: the two for the trigger after `wait_ms`. The lines are low afterwards.
 */
PowerRun perform_power_run(uint32_t count, uint32_t wait_ms, Inference inference);

}  // namespace autodeploy
