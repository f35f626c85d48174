#include "validator/validator.h"

#include <cinttypes>
#include <cstring>

#include "validator/limits.h"

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
    identity.capabilities = facts.capabilities | kCapabilityLayerProfile;
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
    if (survives([&] { status = engine_.prepare(arena, arena_bytes, prepared_); })) {
        return status;
    }
    return refusal_.because(Status::kNoMemory,
                            "the engine crashed: an arena of %" PRIu32 " bytes is too small",
                            arena_bytes);
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

Status Validator::describe_input(uint32_t index, TensorInfo &info) {
    const Status status = check_index("input", index, prepared_.inputs);
    if (status == Status::kOk) {
        info = engine_.input(index).info;
    }
    return status;
}

Status Validator::describe_output(uint32_t index, TensorInfo &info) {
    const Status status = check_index("output", index, prepared_.outputs);
    if (status == Status::kOk) {
        info = engine_.output(index).info;
    }
    return status;
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
    board::end_inference();
    if (!configured_) {
        refusal_.because(status, "the engine crashed; configure it anew");
    }
    has_run_ = has_run_ || status == Status::kOk;
    has_outputs_ = status == Status::kOk;
    return status;
}

Status Validator::read_output(uint32_t index, uint32_t offset, uint32_t length, Bytes &data) {
    TensorInfo info;
    Status status = describe_output(index, info);
    if (status == Status::kOk) {
        status = check_range("output", info.bytes, offset, length);
    }
    if (status == Status::kOk && !has_outputs_) {
        status = refusal_.because(Status::kBadArgument, "no inference has run since %s",
                                  has_run_ ? "the reset" : "configure");
    }
    if (status == Status::kOk) {
        data = {engine_.output(index).data + offset, length};
    }
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

Status Validator::check_index(const char *what, uint32_t index, uint32_t count) {
    const Status status = check_configured();
    if (status == Status::kOk && index >= count) {
        return refusal_.because(Status::kBadArgument, "%s %" PRIu32 " of %" PRIu32, what, index,
                                count);
    }
    return status;
}

Status Validator::check_range(const char *what, uint32_t bytes, uint32_t offset, size_t length) {
    if (offset > bytes || length > bytes - offset) {
        return refusal_.because(Status::kBadArgument,
                                "the %s has %" PRIu32 " bytes, not %zu from byte %" PRIu32 " on",
                                what, bytes, length, offset);
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
