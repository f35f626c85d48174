#include "rpc/calls.h"

#include <cinttypes>

namespace autodeploy {
namespace {

/** Says no when the arguments that were read are not all of the message. */
Status check_complete(CallContext &context) {
    if (context.arguments.complete()) {
        return Status::kOk;
    }
    return context.validator.refusal().because(Status::kBadArgument, "malformed arguments");
}

template <typename Result>
Status give(CallContext &context, Status status, const Result &result) {
    if (status == Status::kOk) {
        write(context.out, result);
    }
    return status;
}

/** Of ordered calls that give nothing but their status. */
void nothing(CallContext &) {}

/** Hosts of version 1 do not say theirs. */
Status identify(CallContext &context) {
    const uint32_t host_version = context.arguments.at_end() ? 1 : context.arguments.u32();
    const Status status = check_complete(context);
    if (status != Status::kOk) {
        return status;
    }
    if (host_version != kProtocolVersion) {
        context.log.line("the host speaks version %" PRIu32 " of the protocol, this firmware %" PRIu32,
                         host_version, kProtocolVersion);
    }
    Identity identity = context.validator.identify();
    identity.session = context.sessions.give(context.number);
    return give(context, status, identity);
}

Status configure(CallContext &context) {
    const uint32_t arena_bytes = context.arguments.u32();
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.configure(arena_bytes) : status;
}

void tell_state(CallContext &context) { write(context.out, context.validator.state()); }

using Describe = Status (Validator::*)(uint32_t, TensorInfo &);

template <Describe describe>
Status describe_one(CallContext &context) {
    const uint32_t index = context.arguments.u32();
    TensorInfo info = {};
    Status status = check_complete(context);
    if (status == Status::kOk) {
        status = (context.validator.*describe)(index, info);
    }
    return give(context, status, info);
}

Status write_input(CallContext &context) {
    const uint32_t index = context.arguments.u32();
    const uint32_t offset = context.arguments.u32();
    const Bytes data = context.arguments.binary();
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.write_input(index, offset, data) : status;
}

Status invoke(CallContext &context) {
    const uint32_t count = context.arguments.u32();
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.invoke(count) : status;
}

void tell_timing(CallContext &context) { write(context.out, context.validator.timing()); }

Status infer(CallContext &context) {
    const Bytes inputs = context.arguments.binary();
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.infer(inputs) : status;
}

/** All outputs, or none when they do not fit. */
void write_outputs(CallContext &context) {
    Writer &out = context.out;
    const size_t length_at = out.size();
    const uint32_t count = context.validator.state().outputs;
    out.u32(0);
    for (uint32_t i = 0; i < count; ++i) {
        out.bytes(context.validator.output(i));
    }
    if (out.fits()) {
        out.patch_u32(length_at, static_cast<uint32_t>(out.size() - length_at - 4));
    } else {
        out.cut(length_at + 4);
    }
}

void tell_inference(CallContext &context) {
    const InvokeTiming timing = context.validator.timing();
    write(context.out, InferenceHead{timing.total_ticks, timing.includes_first});
    write_outputs(context);
}

Status profile(CallContext &context) {
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.profile() : status;
}

void tell_profile(CallContext &context) {
    write(context.out, context.validator.profile_timing());
}

using Read = Status (Validator::*)(uint32_t, uint32_t, uint32_t, Bytes &);

template <Read read>
Status read_bytes(CallContext &context) {
    const uint32_t index = context.arguments.u32();
    const uint32_t offset = context.arguments.u32();
    const uint32_t length = context.arguments.u32();
    Bytes data;
    Status status = check_complete(context);
    if (status == Status::kOk) {
        status = (context.validator.*read)(index, offset, length, data);
    }
    if (status == Status::kOk) {
        context.out.binary(data);
    }
    return status;
}

void write_fitting(Writer &out, const LayerLog &layers, uint32_t first, uint32_t count) {
    const size_t length_at = out.size();
    out.u32(0);
    uint32_t written = 0;
    while (written < count && first + written < layers.count()) {
        const size_t before = out.size();
        write(out, layers.record(first + written));
        if (!out.fits()) {
            out.cut(before);
            break;
        }
        ++written;
    }
    out.patch_u32(length_at, written);
}

Status read_layers(CallContext &context) {
    const uint32_t first = context.arguments.u32();
    const uint32_t count = context.arguments.u32();
    const LayerLog *layers = nullptr;
    Status status = check_complete(context);
    if (status == Status::kOk) {
        status = context.validator.read_layers(first, layers);
    }
    if (status == Status::kOk) {
        context.out.u32(layers->count());
        write_fitting(context.out, *layers, first, count);
    }
    return status;
}

Status read_log(CallContext &context) {
    const uint32_t cursor = context.arguments.u32();
    const Status status = check_complete(context);
    if (status == Status::kOk) {
        context.log.read(cursor, context.out);
    }
    return status;
}

Status set_clock(CallContext &context) {
    const uint32_t mode = context.arguments.u32();
    const Status status = check_complete(context);
    if (status != Status::kOk) {
        return status;
    }
    if (mode >= kClockModes) {
        return context.validator.refusal().because(Status::kBadArgument, "no such clock mode");
    }
    return context.validator.set_clock(static_cast<ClockMode>(mode));
}

Status reset_state(CallContext &context) {
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.reset_state() : status;
}

Status reboot(CallContext &context) {
    const Status status = check_complete(context);
    if (status == Status::kOk) {
        context.validator.reboot();
    }
    return status;
}

Status arm_power(CallContext &context) {
    const uint32_t count = context.arguments.u32();
    const uint32_t wait_ms = context.arguments.u32();
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.arm_power(count, wait_ms) : status;
}

Status power_result(CallContext &context) {
    return give(context, check_complete(context), context.validator.power_result());
}

Status select_counters(CallContext &context) {
    uint32_t events[board::kMaxCounters] = {};
    const uint32_t count = context.arguments.list(events, board::kMaxCounters);
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.select_counters(events, count) : status;
}

void tell_counters(CallContext &context) {
    context.out.u32(static_cast<uint32_t>(board::facts().events_at_once));
}

Status describe_board(CallContext &context) {
    const Status status = check_complete(context);
    if (status != Status::kOk) {
        return status;
    }
    Placement placements[kPlacements];
    context.validator.describe_placements(placements);
    context.out.u32(kPlacements);
    for (const Placement &placement : placements) {
        write(context.out, placement);
    }
    context.out.u32(board::measured_hz());
    context.out.i32(static_cast<int32_t>(board::reset_cause()));
    context.out.string(board::failed_step());
    context.out.u64(board::ticks());
    return status;
}

Status keep_tensors(CallContext &context) {
    const bool keep = context.arguments.u8() != 0;
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.keep_tensors(keep) : status;
}

Status begin_model(CallContext &context) {
    const uint32_t bytes = context.arguments.u32();
    const Bytes sha256 = context.arguments.binary();
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.begin_model(bytes, sha256) : status;
}

Status write_model(CallContext &context) {
    const uint32_t offset = context.arguments.u32();
    const Bytes data = context.arguments.binary();
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.write_model(offset, data) : status;
}

Status prove_model(CallContext &context) {
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.prove_model() : status;
}

void tell_model(CallContext &context) { context.out.binary(context.validator.model_sha256()); }

constexpr Call kCalls[] = {
    {1, "identify", identify, 68, nullptr},
    {2, "configure", configure, 24, tell_state},
    {3, "describe_input", describe_one<&Validator::describe_input>, 24, nullptr},
    {4, "describe_output", describe_one<&Validator::describe_output>, 24, nullptr},
    {5, "write_input", write_input, 0, nothing},
    {6, "invoke", invoke, 13, tell_timing},
    {7, "read_output", read_bytes<&Validator::read_output>, 4, nullptr},
    {8, "read_layers", read_layers, 8, nullptr},
    {9, "read_log", read_log, 12, nullptr},
    {10, "set_clock", set_clock, 0, nothing},
    {11, "reset_state", reset_state, 0, nothing},
    {12, "reboot", reboot, 0, nothing},
    {13, "arm_power", arm_power, 0, nothing},
    {14, "power_result", power_result, 16, nullptr},
    {15, "keep_tensors", keep_tensors, 0, nothing},
    {16, "describe_tensor", describe_one<&Validator::describe_tensor>, 24, nullptr},
    {17, "read_tensor", read_bytes<&Validator::read_tensor>, 4, nullptr},
    {18, "select_counters", select_counters, 4, tell_counters},
    {19, "infer", infer, 13, tell_inference},
    {20, "profile", profile, 21, tell_profile},
    {21, "describe_board", describe_board, 24, nullptr},
    {22, "begin_model", begin_model, 0, nothing},
    {23, "write_model", write_model, 0, nothing},
    {24, "prove_model", prove_model, 4, tell_model},
};

}  // namespace

const Call *find_call(uint32_t id) {
    for (const Call &call : kCalls) {
        if (call.id == id) {
            return &call;
        }
    }
    return nullptr;
}

}  // namespace autodeploy
