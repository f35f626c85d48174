#include <cstring>
#include <new>

#include "fake_board.h"
#include "rpc/server.h"

/**
 * A host that sends what the fuzzer wants; at the end the board has to answer a good request.
 *
 * The input is a list of steps: what to do, a length, and so many bytes. Frames around them get
 * right headers, since a fuzzer does not find CRCs.
 */
namespace autodeploy {
namespace {

constexpr uint32_t kHeadOfCalls = 1 << 24 | kServiceId << 16;
constexpr uint32_t kIdentify = 1;
constexpr uint8_t kCalls = 27;  // from 0 on: all there are, and some that are none
constexpr uint32_t kMark = 0x5EEDED;

enum Step : uint8_t { kRaw, kBody, kDamagedBody, kCall, kSilence, kSlowHost, kLateCall, kSteps };

Bytes left;  // of the input; a board that reboots goes on from here
uint32_t number;  // of the latest call

alignas(Log) unsigned char log_place[sizeof(Log)];
alignas(Validator) unsigned char validator_place[sizeof(Validator)];
alignas(Server) unsigned char server_place[sizeof(Server)];

Server *start() {
    auto *log = new (log_place) Log();
    auto *validator = new (validator_place) Validator(*log);
    return new (server_place) Server(*validator, *log);
}

void give_frame(const uint8_t *body, size_t size, bool damaged = false) {
    uint8_t frame[kFrameHeaderBytes + kMessageHeadBytes + 255];
    std::memcpy(frame + kFrameHeaderBytes, body, size);
    write_header(frame, size);
    frame[kFrameHeaderBytes] ^= damaged;
    fake_board::give(frame, kFrameHeaderBytes + size);
}

void give_call(uint32_t call, uint32_t sequence, const uint8_t *arguments, size_t size) {
    uint8_t body[kMessageHeadBytes + 255];
    store_u32(body, kHeadOfCalls | call << 8);
    store_u32(body + 4, sequence);
    std::memcpy(body + kMessageHeadBytes, arguments, size);
    give_frame(body, kMessageHeadBytes + size);
}

void take_step(Step step, const uint8_t *bytes, size_t size) {
    switch (step) {
        case kRaw:
            fake_board::give(bytes, size);
            break;
        case kBody:
        case kDamagedBody:
            give_frame(bytes, size, step == kDamagedBody);
            break;
        case kCall:
            if (size > 0) {
                give_call(bytes[0] % kCalls, ++number, bytes + 1, size - 1);
            }
            break;
        case kLateCall:  // 0: the number of the latest call
            if (size > 1) {
                give_call(bytes[1] % kCalls, number - bytes[0], bytes + 2, size - 2);
            }
            break;
        case kSilence:
            fake_board::pass(static_cast<uint32_t>(size));
            break;
        default:
            fake_board::take_slowly(1 + size);
    }
}

void serve(Server &server) {
    do {
        server.step();
    } while (fake_board::unread() > 0);
}

bool ends_with_identity(Bytes written) {
    constexpr size_t kFound = kFrameHeaderBytes + kMessageHeadBytes;
    for (size_t at = 0; at + kFound <= written.size; ++at) {
        const uint8_t *reply = written.data + at;
        FrameHeader header;
        if (parse_header(reply, header) && load_u32(reply + kFrameHeaderBytes + 4) == kMark &&
            at + kFrameHeaderBytes + header.body_bytes == written.size) {
            return crc16({reply + kFrameHeaderBytes, header.body_bytes}) == header.body_crc;
        }
    }
    return false;
}

void take_next_step() {
    const auto step = static_cast<Step>(left.data[0] % kSteps);
    const size_t there = left.size - 2;
    const size_t length = left.data[1] < there ? left.data[1] : there;
    const uint8_t *bytes = left.data + 2;
    left = {bytes + length, there - length};
    take_step(step, bytes, length);
}

void play() {
    setjmp(fake_board::rebooted);
    Server *server = start();
    while (left.size >= 2) {
        take_next_step();
        serve(*server);
    }
    fake_board::take_slowly(fake_board::kHeldBytes);
    for (int silence = 0; silence < 4; ++silence) {
        fake_board::pass(kSilenceMs);
        serve(*server);
    }
    constexpr uint8_t kNoArguments[1] = {};
    give_call(kIdentify, kMark, kNoArguments, 0);
    serve(*server);
}

}  // namespace
}  // namespace autodeploy

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    constexpr size_t kMostBytes = 4096;
    autodeploy::fake_board::reset();
    autodeploy::left = {data, size < kMostBytes ? size : kMostBytes};
    autodeploy::number = 0;
    autodeploy::play();
    if (!autodeploy::ends_with_identity(autodeploy::fake_board::written())) {
        __builtin_trap();
    }
    return 0;
}
