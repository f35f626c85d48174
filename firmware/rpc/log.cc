#include "rpc/log.h"

#include <cstdio>

namespace autodeploy {
namespace {

constexpr size_t kLineBytes = 160;
constexpr size_t kLengthBytes = 4;

}  // namespace

void Log::line(const char *format, ...) {
    char words[kLineBytes];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    text(words);
    add('\n');
}

void Log::text(const char *text) {
    for (; *text; ++text) {
        if (*text != '\r') {
            add(static_cast<uint8_t>(*text));
        }
    }
}

void Log::read(uint32_t cursor, Writer &out) const {
    const uint32_t oldest = end_ - kept_;
    if (cursor - oldest > kept_) {  // modulo 2^32: also a cursor before the oldest byte
        cursor = oldest;
    }
    const size_t there = end_ - cursor;
    const size_t room = out.room() - 3 * kLengthBytes;
    const size_t count = there < room ? there : room;
    out.u32(end_);
    out.u32(cursor + static_cast<uint32_t>(count));
    out.u32(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) {
        out.u8(ring_[(at_ + sizeof ring_ - there + i) % sizeof ring_]);
    }
}

void Log::add(uint8_t byte) {
    ring_[at_] = byte;
    at_ = (at_ + 1) % sizeof ring_;
    ++end_;
    kept_ += kept_ < sizeof ring_;
}

}  // namespace autodeploy
