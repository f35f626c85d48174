#include <cinttypes>
#include <cstring>

#include "validator/limits.h"
#include "validator/survives.h"
#include "validator/validator.h"

/** The calls of the validator that give the model inputs and run it. */
namespace autodeploy {
namespace {

uint64_t ticks_of_inferences[kMaxInvocations];

/** What the profiler takes of the time of one layer. */
uint64_t ticks_of_profiler(LayerLog &layers) {
    constexpr uint32_t kRounds = 16;
    board::begin_quiet();
    board::begin_inference();
    const uint64_t began = board::ticks();
    for (uint32_t i = 0; i < kRounds; ++i) {
        layers.clear();
        layers.begin("");
        layers.end();
    }
    const uint64_t ticks = (board::ticks() - began) / kRounds;
    board::end_quiet();
    layers.clear();
    return ticks;
}

}  // namespace

Status Validator::write_input(uint32_t index, uint32_t offset, Bytes data) {
    TensorInfo info;
    Status status = describe_input(index, info);
    if (status == Status::kOk) {
        status = check_range("input", info.bytes, offset, data.size);
    }
    if (status == Status::kOk && data.size > 0) {
        std::memcpy(kept_input(index) + offset, data.data, data.size);
    }
    return status;
}

Status Validator::infer(Bytes data) {
    Status status = check_configured();
    if (status == Status::kOk && data.size > 0) {
        status = take_inputs(data);
    }
    return status == Status::kOk ? invoke(1) : status;
}

Status Validator::take_inputs(Bytes data) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < prepared_.inputs; ++i) {
        bytes += engine_.input(i).info.bytes;
    }
    if (bytes != data.size) {
        return refusal_.because(Status::kBadArgument, "the inputs have %" PRIu32 " bytes, not %zu",
                                bytes, data.size);
    }
    const uint8_t *from = data.data;
    for (uint32_t i = 0; i < prepared_.inputs; ++i) {
        const uint32_t size = engine_.input(i).info.bytes;
        std::memcpy(kept_input(i), from, size);
        from += size;
    }
    return Status::kOk;
}

Status Validator::invoke(uint32_t count) {
    Status status = check_configured();
    if (status == Status::kOk && (count < 1 || count > kMaxInvocations)) {
        status = refusal_.because(Status::kBadArgument, "count %" PRIu32 " is not 1 to %" PRIu32,
                                  count, kMaxInvocations);
    }
    return status == Status::kOk ? run(count) : status;
}

Status Validator::run(uint32_t count) {
    Status status = Status::kOk;
    timing_ = {0, !has_run_, ticks_of_inferences, count};
    board::begin_quiet();
    for (uint32_t i = 0; i < count && status == Status::kOk; ++i) {
        status = run_once(ticks_of_inferences[i]);
        timing_.total_ticks += ticks_of_inferences[i];
    }
    board::end_quiet();
    return status;
}

Status Validator::profile() {
    Status status = check_configured();
    if (status != Status::kOk) {
        return status;
    }
    layers_.pause(false);
    const uint64_t profiler_ticks = ticks_of_profiler(layers_);
    status = run(1);
    layers_.pause(true);
    has_profile_ = status == Status::kOk;
    profile_timing_ = {timing_.total_ticks, profiler_ticks * layers_.count(),
                       timing_.includes_first, layers_.count()};
    return status;
}

Status Validator::run_once(uint64_t &ticks) {
    has_outputs_ = false;
    fill_inputs();
    board::begin_inference();
    Status status = Status::kInvokeFailed;
    configured_ = survives([&] {
        const uint64_t began = board::ticks();
        status = engine_.invoke();
        ticks = board::ticks() - began;
    });
    if (!configured_) {
        refusal_.because(Status::kInvokeFailed, "the engine crashed; configure it anew");
        store_.doubt();
    }
    has_run_ = has_run_ || status == Status::kOk;
    has_outputs_ = status == Status::kOk;
    return status;
}

/** As `run`, but nothing is timed: a window of these takes what as many timed ones take, within 2 %. */
uint32_t Validator::run_untimed(uint32_t count) {
    volatile uint32_t done = 0;  // it is read after a crash
    Status status = Status::kInvokeFailed;
    has_outputs_ = false;
    configured_ = survives([&] {
        for (status = Status::kOk; done < count && status == Status::kOk;) {
            fill_inputs();
            board::begin_inference();
            status = engine_.invoke();
            done = status == Status::kOk ? done + 1 : done;
        }
    });
    if (!configured_) {
        refusal_.because(Status::kInvokeFailed, "the engine crashed; configure it anew");
        store_.doubt();
    }
    has_run_ = has_run_ || done > 0;
    has_outputs_ = configured_ && status == Status::kOk && done > 0;
    return done;
}

/** To ask the engine for a tensor takes as long as a small layer: the first inputs are asked for once. */
void Validator::find_inputs() {
    for (uint32_t i = 0; i < prepared_.inputs && i < kKnownPlaces; ++i) {
        const Tensor input = engine_.input(i);
        places_[i] = {input.data, input.info.bytes};
    }
}

/** An inference may overwrite its inputs: they are given before each. */
void Validator::fill_inputs() {
    const uint8_t *from = kept_input(0);
    for (uint32_t i = 0; i < prepared_.inputs; ++i) {
        Place place = places_[i < kKnownPlaces ? i : 0];
        if (i >= kKnownPlaces) {
            const Tensor input = engine_.input(i);
            place = {input.data, input.info.bytes};
        }
        std::memcpy(place.data, from, place.bytes);
        from += aligned(place.bytes);
    }
}

Bytes Validator::output(uint32_t index) const {
    const Tensor output = engine_.output(index);
    return {output.data, output.info.bytes};
}

}  // namespace autodeploy
