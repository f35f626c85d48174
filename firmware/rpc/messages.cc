#include "rpc/messages.h"

namespace autodeploy {
namespace {

void write_list(Writer &out, const uint32_t *values, size_t count) {
    out.u32(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) {
        out.u32(values[i]);
    }
}

void write_list(Writer &out, const char *const *texts, size_t count) {
    out.u32(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) {
        out.string(texts[i]);
    }
}

}  // namespace

void write(Writer &out, const Identity &identity) {
    out.u32(kProtocolVersion);
    out.i32(static_cast<int32_t>(identity.kind));
    out.string(identity.board);
    out.string(identity.core);
    out.string(identity.build_id);
    out.binary(identity.model_sha256);
    out.string(identity.engine);
    out.string(identity.engine_version);
    out.u32(identity.capabilities);
    out.i32(static_cast<int32_t>(identity.clock));
    write_list(out, identity.clocks_hz, kClockModes);
    out.u32(identity.tick_hz);
    out.u32(identity.max_message_bytes);
    out.u32(identity.window_bytes);
    out.u32(identity.max_invocations);
    write_list(out, identity.counters, identity.counter_count);
    out.u32(identity.session);
}

void write(Writer &out, const ModelState &state) {
    out.u32(state.arena_bytes);
    out.u32(state.arena_used_bytes);
    out.u32(state.inputs);
    out.u32(state.outputs);
    out.u32(state.layers);
    out.u32(state.variables);
}

void write(Writer &out, const TensorInfo &info) {
    out.string(info.name);
    out.i32(static_cast<int32_t>(info.type));
    out.u32(static_cast<uint32_t>(info.rank));
    for (size_t i = 0; i < info.rank; ++i) {
        out.i32(info.shape[i]);
    }
    out.u32(info.bytes);
    out.f32(info.scale);
    out.i32(info.zero_point);
}

void write(Writer &out, const InvokeTiming &timing) {
    out.u64(timing.total_ticks);
    out.u8(timing.includes_first);
    out.u32(static_cast<uint32_t>(timing.count));
    for (size_t i = 0; i < timing.count; ++i) {
        out.u64(timing.ticks[i]);
    }
}

/** What comes before the outputs. */
void write(Writer &out, const InferenceHead &inference) {
    out.u64(inference.ticks);
    out.u8(inference.is_first);
}

void write(Writer &out, const ProfileTiming &timing) {
    out.u64(timing.ticks);
    out.u64(timing.profiler_ticks);
    out.u8(timing.is_first);
    out.u32(timing.layers);
}

void write(Writer &out, const LayerRecord &record) {
    out.string(record.tag);
    out.u64(record.ticks);
    write_list(out, record.counters, record.counter_count);
}

void write(Writer &out, const PowerRun &run) {
    out.i32(static_cast<int32_t>(run.outcome));
    out.u32(run.inferences);
    out.u64(run.ticks);
}

void write(Writer &out, const Placement &placement) {
    out.string(placement.part);
    out.string(placement.memory);
    out.u64(reinterpret_cast<uintptr_t>(placement.address));
    out.u32(placement.bytes);
}

}  // namespace autodeploy
