#include "rpc/frame.h"

namespace autodeploy {
namespace {

constexpr uint16_t kPolynomial = 0x1021;
constexpr uint16_t kStart = 0xEF4A;

struct CrcTable {
    uint16_t entries[256] = {};

    constexpr CrcTable() {
        for (unsigned byte = 0; byte < 256; ++byte) {
            unsigned crc = byte << 8;
            for (int bit = 0; bit < 8; ++bit) {
                crc = crc & 0x8000 ? crc << 1 ^ kPolynomial : crc << 1;
            }
            entries[byte] = static_cast<uint16_t>(crc);
        }
    }
};

constexpr CrcTable kTable;

uint16_t crc_of_u16(uint16_t value) {
    uint8_t bytes[2];
    store_u16(bytes, value);
    return crc16({bytes, sizeof bytes});
}

uint16_t header_crc(uint16_t body_bytes, uint16_t body_crc) {
    return static_cast<uint16_t>(crc_of_u16(body_bytes) + crc_of_u16(body_crc));
}

}  // namespace

uint16_t crc16(Bytes bytes) {
    unsigned crc = kStart;
    for (size_t i = 0; i < bytes.size; ++i) {
        crc = (crc << 8 & 0xFFFF) ^ kTable.entries[crc >> 8 ^ bytes.data[i]];
    }
    return static_cast<uint16_t>(crc);
}

bool parse_header(const uint8_t *bytes, FrameHeader &header) {
    header = {load_u16(bytes + 2), load_u16(bytes + 4)};
    return header.body_bytes >= kMessageHeadBytes &&
           load_u16(bytes) == header_crc(header.body_bytes, header.body_crc);
}

void write_header(uint8_t *frame, size_t body_bytes) {
    const auto length = static_cast<uint16_t>(body_bytes);
    const uint16_t crc = crc16({frame + kFrameHeaderBytes, body_bytes});
    store_u16(frame, header_crc(length, crc));
    store_u16(frame + 2, length);
    store_u16(frame + 4, crc);
}

}  // namespace autodeploy
