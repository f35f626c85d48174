#include "rpc/scanner.h"

#include <cstring>

namespace autodeploy {
namespace {

size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

}  // namespace

uint8_t *FrameScanner::room(size_t &bytes) {
    if (begin_ > 0 && (held() == 0 || end_ == capacity_)) {
        std::memmove(buffer_, buffer_ + begin_, held());
        end_ -= begin_;
        begin_ = 0;
    }
    bytes = capacity_ - end_;
    return buffer_ + end_;
}

bool FrameScanner::next(Bytes &body) {
    while (true) {
        const size_t skipped = smaller(skip_, held());
        skip_ -= skipped;
        drop(skipped);
        const Found found = look(body);
        if (found == Found::kFrame) {
            return true;
        }
        if (found == Found::kMore && abandoned_ == 0) {
            return false;
        }
        if (held() > 0 && skip_ == 0) {
            drop(1);
        }
    }
}

FrameScanner::Found FrameScanner::look(Bytes &body) {
    if (held() < kFrameHeaderBytes) {
        return Found::kMore;
    }
    FrameHeader header;
    const uint8_t *start = buffer_ + begin_;
    if (!parse_header(start, header)) {
        return Found::kNothing;
    }
    const size_t frame = kFrameHeaderBytes + header.body_bytes;
    if (header.body_bytes > max_message_bytes_) {
        skip_ = frame;
        return Found::kNothing;
    }
    if (held() < frame) {
        return Found::kMore;
    }
    body = {start + kFrameHeaderBytes, header.body_bytes};
    if (crc16(body) != header.body_crc) {
        return Found::kNothing;
    }
    frame_ = frame;
    mark_ = static_cast<uint32_t>(header.body_bytes) << 16 | header.body_crc;
    return Found::kFrame;
}

void FrameScanner::release() {
    drop(frame_);
    frame_ = 0;
}

void FrameScanner::give_up() {
    skip_ = 0;
    abandoned_ = held();
}

void FrameScanner::drop(size_t bytes) {
    begin_ += bytes;
    abandoned_ -= smaller(abandoned_, bytes);
}

}  // namespace autodeploy
