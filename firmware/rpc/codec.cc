#include "rpc/codec.h"

#include <cstring>

namespace autodeploy {

uint8_t Reader::u8() {
    const Bytes bytes = take(1);
    return good_ ? bytes.data[0] : 0;
}

uint32_t Reader::u32() {
    const Bytes bytes = take(4);
    return good_ ? load_u32(bytes.data) : 0;
}

Bytes Reader::binary() { return take(u32()); }

uint32_t Reader::list(uint32_t *to, size_t most) {
    const uint32_t length = u32();
    for (uint32_t i = 0; i < length && good_; ++i) {
        const uint32_t value = u32();
        if (i < most) {
            to[i] = value;
        }
    }
    return length;
}

Bytes Reader::take(size_t bytes) {
    if (!good_ || bytes > rest_.size) {
        good_ = false;
        return {};
    }
    const Bytes taken{rest_.data, bytes};
    rest_ = {rest_.data + bytes, rest_.size - bytes};
    return taken;
}

void Writer::u8(uint8_t value) {
    if (uint8_t *place = take(1)) {
        *place = value;
    }
}

void Writer::u32(uint32_t value) {
    if (uint8_t *place = take(4)) {
        store_u32(place, value);
    }
}

void Writer::u64(uint64_t value) {
    u32(static_cast<uint32_t>(value));
    u32(static_cast<uint32_t>(value >> 32));
}

void Writer::f32(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    u32(bits);
}

void Writer::binary(Bytes bytes) {
    u32(static_cast<uint32_t>(bytes.size));
    this->bytes(bytes);
}

void Writer::bytes(Bytes bytes) {
    uint8_t *place = take(bytes.size);
    if (place && bytes.size > 0) {
        std::memcpy(place, bytes.data, bytes.size);
    }
}

void Writer::string(const char *text) {
    binary({reinterpret_cast<const uint8_t *>(text), std::strlen(text)});
}

void Writer::zeros(size_t bytes) {
    if (uint8_t *place = take(bytes)) {
        std::memset(place, 0, bytes);
    }
}

void Writer::cut(size_t size) {
    size_ = size;
    fits_ = true;
}

uint8_t *Writer::take(size_t bytes) {
    if (!fits_ || bytes > capacity_ - size_) {
        fits_ = false;
        return nullptr;
    }
    uint8_t *place = buffer_ + size_;
    size_ += bytes;
    return place;
}

}  // namespace autodeploy
