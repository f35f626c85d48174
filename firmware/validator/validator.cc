#include "validator/validator.h"

#include <cinttypes>
#include <cstring>

#include "validator/limits.h"
#include "validator/power_run.h"
#include "validator/survives.h"

namespace autodeploy {
namespace {

alignas(kArenaAlignment) AUTODEPLOY_ARENA_PLACE uint8_t arena[config::kArenaMaxBytes];
alignas(kArenaAlignment) AUTODEPLOY_INPUT_PLACE uint8_t inputs[config::kInputBytes];

}  // namespace

void Validator::forget_configuration() {
    configured_ = has_run_ = has_outputs_ = has_profile_ = false;
    layers_.clear();
}

Status Validator::begin_model(uint32_t bytes, Bytes sha256) {
    if (kModelIsLoaded) {
        forget_configuration();
    }
    return store_.begin(bytes, sha256);
}

Status Validator::write_model(uint32_t offset, Bytes data) { return store_.write(offset, data); }

Status Validator::prove_model() {
    const Status status = store_.prove();
    if (kModelIsLoaded && status != Status::kOk) {
        forget_configuration();
    }
    return status;
}

Status Validator::configure(uint32_t arena_bytes) {
    forget_configuration();
    Status status = store_.check();
    if (status != Status::kOk) {
        return status;
    }
    if (const char *why = board::missing_memory()) {
        return refusal_.because(Status::kInternalError, "%s", why);
    }
    arena_bytes = arena_bytes ? arena_bytes : config::kArenaBytes;
    if (arena_bytes > config::kArenaMaxBytes) {
        return refusal_.because(Status::kNoMemory,
                                "an arena of %" PRIu32 " bytes does not fit; the most is %" PRIu32,
                                arena_bytes, config::kArenaMaxBytes);
    }
    status = prepare(arena_bytes);
    if (status == Status::kOk) {
        status = check_inputs_fit();
    }
    if (status != Status::kOk) {
        return status;
    }
    std::memset(inputs, 0, sizeof inputs);
    find_inputs();
    configured_ = true;
    state_ = {arena_bytes,       prepared_.arena_used_bytes, prepared_.inputs,
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
    store_.doubt();
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

Status Validator::read_layers(uint32_t first, const LayerLog *&layers) {
    const Status status = check_configured();
    if (status != Status::kOk) {
        return status;
    }
    if (!has_profile_) {
        return refusal_.because(Status::kBadArgument, "no profile has run since configure");
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
    const char *name = fast ? "HP" : "LP";
    if (board::facts().clocks_hz[fast] == 0) {
        return refusal_.because(Status::kUnsupported, "%s has no %s clock", config::kBoardName,
                                name);
    }
    if (!board::set_clock(mode)) {
        return refusal_.because(Status::kUnsupported, "the chip did not change its clock to %s",
                                name);
    }
    return Status::kOk;
}

/** What was counted in the latest profile is forgotten: it has other names. */
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
    const auto infer = [](void *itself, uint32_t count) {
        return static_cast<Validator *>(itself)->run_untimed(count);
    };
    power_run_ = perform_power_run(power_count_, power_wait_ms_, {infer, this});
    if (power_run_.outcome == PowerOutcome::kInvokeFailed) {
        log_.line("power run: %s", refusal_.words());
    }
}

Status Validator::reset_state() {
    Status status = check_configured();
    if (status == Status::kOk) {
        bool outputs_kept = false;
        status = engine_.reset_state(outputs_kept);
        if (status == Status::kOk) {
            find_inputs();
        }
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

void Validator::describe_placements(Placement (&placements)[kPlacements]) const {
    const Bytes model = engine_.model();
    placements[0] = {"arena", "", arena, sizeof arena};
    placements[1] = {"inputs", "", inputs, sizeof inputs};
    placements[2] = {"model", "", model.data, static_cast<uint32_t>(model.size)};
    placements[3] = {"runtime", "", engine_.runtime(), 0};
    for (Placement &placement : placements) {
        placement.memory = placement.address ? board::memory_of(placement.address) : "";
    }
}

uint8_t *Validator::kept_input(uint32_t index) {
    uint8_t *kept = inputs;
    for (uint32_t i = 0; i < index; ++i) {
        kept += aligned(engine_.input(i).info.bytes);
    }
    return kept;
}

}  // namespace autodeploy
