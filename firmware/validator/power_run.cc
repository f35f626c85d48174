#include "validator/power_run.h"

#include "boards/board.h"

namespace autodeploy {
namespace {

constexpr uint32_t kSettleMs = 10;
constexpr uint32_t kHoldMs = 100;
constexpr uint32_t kEmptyWindowMs = 1;

void pass(uint32_t ms) {
    const uint64_t began = board::ticks();
    const uint64_t span = uint64_t{ms} * board::tick_hz() / 1000;
    while (board::ticks() - began < span) {
        board::wait(1);
    }
}

PowerRun run_window(uint32_t count, Inference inference) {
    PowerRun run = {PowerOutcome::kDone, 0, 0};
    board::set_lines(false, false);
    const uint64_t began = board::ticks();
    if (count == 0) {
        pass(kEmptyWindowMs);
    }
    if (count > 0) {
        run.inferences = inference.run(inference.itself, count);
    }
    run.ticks = board::ticks() - began;
    if (run.inferences < count) {
        run.outcome = PowerOutcome::kInvokeFailed;
    }
    board::set_lines(false, true);
    pass(kHoldMs);
    return run;
}

PowerRun run_sequence(uint32_t count, uint32_t wait_ms, Inference inference) {
    if (!board::await_trigger(true, wait_ms)) {
        return {PowerOutcome::kNoTrigger, 0, 0};
    }
    board::set_lines(true, true);
    if (!board::await_trigger(false, wait_ms)) {
        return {PowerOutcome::kTriggerStuck, 0, 0};
    }
    pass(kSettleMs);
    return run_window(count, inference);
}

}  // namespace

PowerRun perform_power_run(uint32_t count, uint32_t wait_ms, Inference inference) {
    board::set_lines(false, false);
    board::rest_link();
    const PowerRun run = run_sequence(count, wait_ms, inference);
    board::resume_link();  // before the host sees the end
    board::set_lines(false, false);
    return run;
}

}  // namespace autodeploy
