#include <cstring>
#include <initializer_list>

#include "check.h"
#include "fake_board.h"
#include "rpc/server.h"
#include "validator/power_run.h"

/** The power run, on a board whose trigger is scripted and whose lines are written down. */
using namespace autodeploy;

namespace {

constexpr uint32_t kWaitMs = 1000;
constexpr uint32_t kInferenceMs = 7;
constexpr uint8_t kNone = 0, kIn1 = 2, kBoth = 3;

uint32_t failing;  // the number of the inference that fails
uint32_t inferences;

uint32_t infer(void *, uint32_t count) {
    for (uint32_t done = 0; done < count; ++done) {
        fake_board::pass(kInferenceMs);
        if (++inferences == failing) {
            return done;
        }
    }
    return count;
}

PowerRun run(uint32_t count, uint32_t rises_ms, uint32_t falls_ms, uint32_t fails = 0) {
    fake_board::reset();
    fake_board::script_trigger(rises_ms, falls_ms);
    failing = fails;
    inferences = 0;
    return perform_power_run(count, kWaitMs, {infer, nullptr});
}

/** Whether the lines had just these levels, each as many milliseconds after the one before. */
bool lines_were(std::initializer_list<fake_board::Change> wanted) {
    uint32_t before = 0;
    size_t number = 0;
    for (const fake_board::Change &change : wanted) {
        const fake_board::Change &found = fake_board::changes()[number++];
        if (found.lines != change.lines || found.at_ms - before != change.at_ms) {
            return false;
        }
        before = found.at_ms;
    }
    return number == fake_board::change_count();
}

bool is(const PowerRun &run, PowerOutcome outcome, uint32_t count, uint64_t ticks) {
    return run.outcome == outcome && run.inferences == count && run.ticks == ticks;
}

void both_lines_mark_the_window_in_one_step() {
    CHECK(is(run(5, 30, 20), PowerOutcome::kDone, 5, 5 * kInferenceMs));
    CHECK(lines_were({{kNone, 0, 0},
                      {kBoth, 30, 0},
                      {kNone, 20 + 10, 0},
                      {kIn1, 5 * kInferenceMs, 0},
                      {kNone, 100, 0}}));
}

void a_trigger_that_never_rises_ends_the_run() {
    CHECK(is(run(5, fake_board::kNever, 0), PowerOutcome::kNoTrigger, 0, 0));
    CHECK(lines_were({{kNone, 0, 0}}));
    CHECK(board::milliseconds() == kWaitMs && inferences == 0);
}

void a_trigger_that_never_falls_ends_the_run_with_low_lines() {
    CHECK(is(run(5, 30, fake_board::kNever), PowerOutcome::kTriggerStuck, 0, 0));
    CHECK(lines_were({{kNone, 0, 0}, {kBoth, 30, 0}, {kNone, kWaitMs, 0}}));
    CHECK(inferences == 0);
}

void a_failing_inference_ends_the_window() {
    CHECK(is(run(5, 0, 0, 3), PowerOutcome::kInvokeFailed, 2, 3 * kInferenceMs));
    CHECK(inferences == 3);
    CHECK(lines_were({{kNone, 0, 0},
                      {kBoth, 0, 0},
                      {kNone, 10, 0},
                      {kIn1, 3 * kInferenceMs, 0},
                      {kNone, 100, 0}}));
}

void an_empty_window_lasts_a_millisecond() {
    CHECK(is(run(0, 0, 0), PowerOutcome::kDone, 0, 1));
    CHECK(inferences == 0);
    CHECK(lines_were({{kNone, 0, 0}, {kBoth, 0, 0}, {kNone, 10, 0}, {kIn1, 1, 0}, {kNone, 100, 0}}));
}

/** A board with the echo engine, and the server that talks to it. */
struct Bench {
    Log log;
    Validator validator{log};
    Server server{validator, log};

    Bench() {
        fake_board::reset();
        fake_board::script_trigger(0, 0);
    }

    void configure() {
        CHECK(validator.configure(0) == Status::kOk);
    }
};

void give_arm_power(uint32_t count) {
    uint8_t frame[kFrameHeaderBytes + kMessageHeadBytes + 8] = {};
    uint8_t *body = frame + kFrameHeaderBytes;
    store_u32(body, 1 << 24 | kServiceId << 16 | 13 << 8);
    store_u32(body + 8, count);
    store_u32(body + 12, kWaitMs);
    write_header(frame, sizeof frame - kFrameHeaderBytes);
    fake_board::give(frame, sizeof frame);
}

void the_answer_leaves_before_the_run_begins() {
    static Bench bench;
    bench.configure();
    give_arm_power(4);
    bench.server.step();
    CHECK(fake_board::changes()[0].written == kFrameHeaderBytes + kMessageHeadBytes + 4);
    CHECK(fake_board::change_count() == 5);
    CHECK(is(bench.validator.power_result(), PowerOutcome::kDone, 4, 4));
    bench.server.step();
    CHECK(fake_board::change_count() == 5);  // one run for one call
}

void inferences_run_on_the_inputs_as_written() {
    static Bench bench;
    const auto *text = reinterpret_cast<const uint8_t *>("ab");
    Bytes data;
    bench.configure();
    CHECK(bench.validator.write_input(2, 0, {text, 2}) == Status::kOk);
    CHECK(bench.validator.arm_power(2, kWaitMs) == Status::kOk);
    bench.validator.run_armed_power();
    CHECK(bench.validator.read_output(2, 0, 2, data) == Status::kOk);
    CHECK(std::memcmp(data.data, "ab", 2) == 0);
    CHECK(bench.validator.invoke(1) == Status::kOk && !bench.validator.timing().includes_first);
}

void a_crash_ends_the_window() {
    static Bench bench;
    bench.configure();
    CHECK(bench.validator.arm_power(3, kWaitMs) == Status::kOk);
    fake_board::crash(true);
    bench.validator.run_armed_power();
    fake_board::crash(false);
    CHECK(is(bench.validator.power_result(), PowerOutcome::kInvokeFailed, 0, 0));
    CHECK(fake_board::change_count() == 5);
    CHECK(bench.validator.invoke(1) == Status::kNotConfigured);
}

void a_paused_layer_log_keeps_nothing() {
    static LayerLog layers;
    fake_board::reset();
    for (const bool paused : {true, false}) {
        layers.pause(paused);
        layers.begin("LAYER");
        layers.end();
        CHECK(layers.count() == (paused ? 0 : 1));
    }
}

void a_run_of_a_model_needs_a_configured_one() {
    static Bench bench;
    CHECK(bench.validator.arm_power(1, kWaitMs) == Status::kNotConfigured);
    bench.validator.run_armed_power();
    CHECK(fake_board::change_count() == 0);
    CHECK(bench.validator.power_result().outcome == PowerOutcome::kNone);
    CHECK(bench.validator.arm_power(0, kWaitMs) == Status::kOk);
}

void a_board_without_pins_refuses() {
    static Bench bench;
    fake_board::facts().capabilities = 0;
    CHECK(bench.validator.arm_power(0, kWaitMs) == Status::kUnsupported);
    CHECK(std::strstr(bench.validator.refusal().words(), "has no power window"));
    bench.validator.run_armed_power();
    CHECK(fake_board::change_count() == 0);
}

}  // namespace

void test_power() {
    both_lines_mark_the_window_in_one_step();
    a_trigger_that_never_rises_ends_the_run();
    a_trigger_that_never_falls_ends_the_run_with_low_lines();
    a_failing_inference_ends_the_window();
    an_empty_window_lasts_a_millisecond();
    the_answer_leaves_before_the_run_begins();
    inferences_run_on_the_inputs_as_written();
    a_crash_ends_the_window();
    a_paused_layer_log_keeps_nothing();
    a_run_of_a_model_needs_a_configured_one();
    a_board_without_pins_refuses();
}
