#include "validator/validator.h"

#include <cinttypes>
#include <cstring>

#include "validator/limits.h"
#include "validator/power_run.h"

namespace autodeploy {
namespace {

alignas(kArenaAlignment) AUTODEPLOY_ARENA_PLACE uint8_t arena[config::kArenaMaxBytes];
alignas(kArenaAlignment) AUTODEPLOY_INPUT_PLACE uint8_t inputs[config::kInputBytes];
uint64_t ticks_of_inferences[kMaxInvocations];

template <typename Function>
bool survives(Function function) {
    return board::survive([](void *itself) { (*static_cast<Function *>(itself))(); }, &function);
}

}  // namespace

Identity Validator::identify() const {
    const board::Facts &facts = board::facts();
    Identity identity = {};
    identity.kind = facts.kind;
    identity.board = config::kBoardName;
    identity.core = facts.core;
    identity.build_id = config::kBuildId;
    identity.model_sha256 = {config::kModelSha256, sizeof config::kModelSha256};
    identity.engine = engine_.name();
    identity.engine_version = config::kEngineVersion;
    identity.capabilities = facts.capabilities | kCapabilityLayerProfile |
                            (engine_.can_keep_tensors() ? kCapabilityAnyTensor : 0);
    identity.clock = board::clock();
    identity.clocks_hz = facts.clocks_hz;
    identity.tick_hz = board::tick_hz();
    identity.max_message_bytes = config::kMaxMessageBytes;
    identity.window_bytes = config::kWindowBytes;
    identity.max_invocations = kMaxInvocations;
    identity.counters = facts.counters;
    identity.counter_count = facts.counter_count;
    return identity;
}

Status Validator::configure(uint32_t arena_bytes, ModelState &state) {
    configured_ = has_run_ = has_outputs_ = false;
    layers_.clear();
    arena_bytes = arena_bytes ? arena_bytes : config::kArenaBytes;
    if (arena_bytes > config::kArenaMaxBytes) {
        return refusal_.because(Status::kNoMemory,
                                "an arena of %" PRIu32 " bytes does not fit; the most is %" PRIu32,
                                arena_bytes, config::kArenaMaxBytes);
    }
    Status status = prepare(arena_bytes);
    if (status == Status::kOk) {
        status = check_inputs_fit();
    }
    if (status != Status::kOk) {
        return status;
    }
    std::memset(inputs, 0, sizeof inputs);
    configured_ = true;
    state = {arena_bytes,       prepared_.arena_used_bytes, prepared_.inputs,
             prepared_.outputs, prepared_.layers,           prepared_.variables};
    return Status::kOk;
}

Status Validator::prepare(uint32_t arena_bytes) {
    Status status = Status::kInternalError;
    if (survives([&] {
            status = engine_.prepare(arena, arena_bytes, keep_tensors_, prepared_);
        })) {
        return status;
    }
    return refusal_.because(Status::kNoMemory,
                            "the engine crashed: an arena of %" PRIu32 " bytes is too small%s",
                            arena_bytes, keep_tensors_ ? " to keep all tensors" : "");
}

Status Validator::check_inputs_fit() {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < prepared_.inputs; ++i) {
        bytes += aligned(engine_.input(i).info.bytes);
    }
    if (bytes > config::kInputBytes || prepared_.layers > config::kMaxLayers) {
        return refusal_.because(Status::kInternalError,
                                "the firmware was generated for another model: inputs of %" PRIu32
                                " bytes, %" PRIu32 " layers",
                                bytes, prepared_.layers);
    }
    return Status::kOk;
}

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

Status Validator::invoke(uint32_t count, InvokeTiming &timing) {
    Status status = check_configured();
    if (status == Status::kOk && (count < 1 || count > kMaxInvocations)) {
        status = refusal_.because(Status::kBadArgument, "count %" PRIu32 " is not 1 to %" PRIu32,
                                  count, kMaxInvocations);
    }
    timing = {0, !has_run_, ticks_of_inferences, count};
    for (uint32_t i = 0; i < count && status == Status::kOk; ++i) {
        status = infer(ticks_of_inferences[i]);
        timing.total_ticks += ticks_of_inferences[i];
    }
    return status;
}

Status Validator::infer(uint64_t &ticks) {
    has_outputs_ = false;
    for (uint32_t i = 0; i < prepared_.inputs; ++i) {
        const Tensor input = engine_.input(i);
        std::memcpy(input.data, kept_input(i), input.info.bytes);
    }
    layers_.clear();
    board::begin_inference();
    Status status = Status::kInvokeFailed;
    configured_ = survives([&] {
        const uint64_t began = board::ticks();
        status = engine_.invoke();
        ticks = board::ticks() - began;
    });
    if (!configured_) {
        refusal_.because(status, "the engine crashed; configure it anew");
    }
    has_run_ = has_run_ || status == Status::kOk;
    has_outputs_ = status == Status::kOk;
    return status;
}

Status Validator::read_layers(uint32_t first, const LayerLog *&layers) {
    const Status status = check_configured();
    if (status != Status::kOk) {
        return status;
    }
    if (!has_run_) {
        return refusal_.because(Status::kBadArgument, "no inference has run since configure");
    }
    if (first > layers_.count()) {
        return refusal_.because(Status::kBadArgument, "layer %" PRIu32 " of %" PRIu32, first,
                                layers_.count());
    }
    layers = &layers_;
    return Status::kOk;
}

Status Validator::set_clock(ClockMode mode) {
    const bool fast = mode == ClockMode::kHighPerformance;
    if (board::facts().clocks_hz[fast] == 0 || !board::set_clock(mode)) {
        return refusal_.because(Status::kUnsupported, "%s has no %s clock", config::kBoardName,
                                fast ? "HP" : "LP");
    }
    return Status::kOk;
}

/** What was counted of the latest inference is forgotten: it has other names. */
Status Validator::select_counters(const uint32_t *events, uint32_t count) {
    const size_t most = board::facts().events_at_once;
    if (most == 0) {
        return refusal_.because(Status::kUnsupported, "the counters of %s are fixed",
                                config::kBoardName);
    }
    if (count > most) {
        return refusal_.because(Status::kBadArgument, "%" PRIu32 " events; %zu fit at once", count,
                                most);
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (events[i] > UINT16_MAX) {
            return refusal_.because(Status::kBadArgument, "no event has the number %" PRIu32,
                                    events[i]);
        }
    }
    board::count_events(events, count);
    layers_.clear();
    return Status::kOk;
}

Status Validator::arm_power(uint32_t count, uint32_t wait_ms) {
    if ((board::facts().capabilities & kCapabilityPowerWindow) == 0) {
        return refusal_.because(Status::kUnsupported, "%s has no power window",
                                config::kBoardName);
    }
    const Status status = count > 0 ? check_configured() : Status::kOk;
    power_armed_ = status == Status::kOk;
    power_count_ = count;
    power_wait_ms_ = wait_ms;
    return status;
}

void Validator::run_armed_power() {
    if (!power_armed_) {
        return;
    }
    power_armed_ = false;
    const auto infer_once = [](void *itself) {
        uint64_t ticks = 0;
        return static_cast<Validator *>(itself)->infer(ticks) == Status::kOk;
    };
    layers_.pause(true);
    power_run_ = perform_power_run(power_count_, power_wait_ms_, {infer_once, this});
    layers_.pause(false);
    if (power_run_.outcome == PowerOutcome::kInvokeFailed) {
        log_.line("power run: %s", refusal_.words());
    }
}

Status Validator::reset_state() {
    Status status = check_configured();
    if (status == Status::kOk) {
        bool outputs_kept = false;
        status = engine_.reset_state(outputs_kept);
        configured_ = status == Status::kOk;
        has_outputs_ = has_outputs_ && outputs_kept && configured_;
    }
    return status;
}

Status Validator::check_configured() {
    if (!configured_) {
        return refusal_.because(Status::kNotConfigured,
                                "configure has not succeeded since the start");
    }
    return Status::kOk;
}

uint8_t *Validator::kept_input(uint32_t index) {
    uint8_t *kept = inputs;
    for (uint32_t i = 0; i < index; ++i) {
        kept += aligned(engine_.input(i).info.bytes);
    }
    return kept;
}

}  // namespace autodeploy
