#include "rpc/calls.h"

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

Status identify(CallContext &context) {
    return give(context, check_complete(context), context.validator.identify());
}

Status configure(CallContext &context) {
    const uint32_t arena_bytes = context.arguments.u32();
    ModelState state = {};
    Status status = check_complete(context);
    if (status == Status::kOk) {
        status = context.validator.configure(arena_bytes, state);
    }
    return give(context, status, state);
}

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
    InvokeTiming timing = {};
    Status status = check_complete(context);
    if (status == Status::kOk) {
        status = context.validator.invoke(count, timing);
    }
    return give(context, status, timing);
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
    Status status = check_complete(context);
    if (status == Status::kOk) {
        status = context.validator.select_counters(events, count);
    }
    if (status == Status::kOk) {
        context.out.u32(static_cast<uint32_t>(board::facts().events_at_once));
    }
    return status;
}

Status keep_tensors(CallContext &context) {
    const bool keep = context.arguments.u8() != 0;
    const Status status = check_complete(context);
    return status == Status::kOk ? context.validator.keep_tensors(keep) : status;
}

constexpr Call kCalls[] = {
    {1, "identify", identify, 64},
    {2, "configure", configure, 24},
    {3, "describe_input", describe_one<&Validator::describe_input>, 24},
    {4, "describe_output", describe_one<&Validator::describe_output>, 24},
    {5, "write_input", write_input, 0},
    {6, "invoke", invoke, 13},
    {7, "read_output", read_bytes<&Validator::read_output>, 4},
    {8, "read_layers", read_layers, 4},
    {9, "read_log", read_log, 8},
    {10, "set_clock", set_clock, 0},
    {11, "reset_state", reset_state, 0},
    {12, "reboot", reboot, 0},
    {13, "arm_power", arm_power, 0},
    {14, "power_result", power_result, 16},
    {15, "keep_tensors", keep_tensors, 0},
    {16, "describe_tensor", describe_one<&Validator::describe_tensor>, 24},
    {17, "read_tensor", read_bytes<&Validator::read_tensor>, 4},
    {18, "select_counters", select_counters, 4},
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
