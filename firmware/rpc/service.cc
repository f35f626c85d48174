#include "rpc/service.h"

#include <cinttypes>

namespace autodeploy {
namespace {

constexpr uint32_t kCodecVersion = 1;
constexpr size_t kStatusBytes = 4;

enum MessageType : uint32_t { kInvocation = 0, kReply = 2, kLastType = 3 };

struct Head {
    uint32_t version, service, call, type, sequence;
};

Head read_head(Reader &message) {
    const uint32_t word = message.u32();
    return {word >> 24, word >> 16 & 0xFF, word >> 8 & 0xFF, word & 0xFF, message.u32()};
}

void write_reply_head(Writer &out, const Head &request) {
    out.u32(kCodecVersion << 24 | request.service << 16 | request.call << 8 | kReply);
    out.u32(request.sequence);
}

}  // namespace

size_t Service::answer(Bytes request, uint32_t mark, uint8_t *reply, size_t capacity) {
    Writer out(reply, capacity - kStatusBytes);
    Reader message(request);
    const Head head = read_head(message);
    write_reply_head(out, head);
    const Call *call = head.service == kServiceId ? find_call(head.call) : nullptr;
    Status status = Status::kUnsupported;
    if (head.version != kCodecVersion || head.type > kLastType) {
        log_.line("unreadable request: codec version %" PRIu32 ", type %" PRIu32, head.version,
                  head.type);
    } else if (head.type != kInvocation) {
        log_.line("not a request: type %" PRIu32, head.type);
        return 0;
    } else if (call == nullptr) {
        log_.line("unknown call %" PRIu32 " of service %" PRIu32, head.call, head.service);
    } else {
        CallContext context{validator_, log_, sessions_, head.sequence, message, out};
        status = perform(*call, context, mark);
    }
    out.limit(capacity);
    out.i32(static_cast<int32_t>(status));
    return out.size();
}

Status Service::perform(const Call &call, CallContext &context, uint32_t mark) {
    Writer &out = context.out;
    const size_t head_bytes = out.size();
    Status status =
        call.tell ? perform_in_order(call, context, mark) : call.perform(context);
    if (!out.fits()) {
        status = validator_.refusal().because(Status::kBadArgument, "the answer is too long");
    }
    if (status != Status::kOk) {
        log_.line("%s: %s", call.name, validator_.refusal().words());
        out.cut(head_bytes);
        out.zeros(call.blank_bytes);
    }
    return status;
}

/** What comes again is told again; it is not carried out again. */
Status Service::perform_in_order(const Call &call, CallContext &context, uint32_t mark) {
    switch (sessions_.place(context.number, mark)) {
        case Place::kNext:
            sessions_.keep(call.perform(context));
            break;
        case Place::kAgain:
            break;
        case Place::kStale:
            return validator_.refusal().because(
                Status::kOutOfOrder,
                "request %" PRIu32 " is late, or its session has ended; identify opens one",
                context.number);
    }
    if (sessions_.status() == Status::kOk) {
        call.tell(context);
    }
    return sessions_.status();
}

}  // namespace autodeploy
