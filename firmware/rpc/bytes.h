#pragma once

#include <cstddef>
#include <cstdint>

namespace autodeploy {

/** Bytes that belong to someone else. */
struct Bytes {
    const uint8_t *data = nullptr;
    size_t size = 0;
};

inline uint16_t load_u16(const uint8_t *from) {
    return static_cast<uint16_t>(from[0] | from[1] << 8);
}

inline uint32_t load_u32(const uint8_t *from) {
    return load_u16(from) | static_cast<uint32_t>(load_u16(from + 2)) << 16;
}

/** The most significant byte first. */
inline uint32_t load_big(const uint8_t *from) {
    return uint32_t{from[0]} << 24 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 8 | from[3];
}

inline void store_u16(uint8_t *to, uint16_t value) {
    to[0] = static_cast<uint8_t>(value);
    to[1] = static_cast<uint8_t>(value >> 8);
}

inline void store_u32(uint8_t *to, uint32_t value) {
    store_u16(to, static_cast<uint16_t>(value));
    store_u16(to + 2, static_cast<uint16_t>(value >> 16));
}

}  // namespace autodeploy
