#pragma once

#include "rpc/bytes.h"

namespace autodeploy {

/** A frame is a header (CRC of the header, length and CRC of the body, each uint16) and a body. */
constexpr size_t kFrameHeaderBytes = 6;

/** The head of every message body: codec version, service, call and type; the sequence number. */
constexpr size_t kMessageHeadBytes = 8;

struct FrameHeader {
    uint16_t body_bytes;
    uint16_t body_crc;
};

/** eRPC's CRC-16: polynomial 0x1021, start 0xEF4A, most significant bit first. */
uint16_t crc16(Bytes bytes);

/** Whether the 6 bytes are a header that a message can follow. */
bool parse_header(const uint8_t *bytes, FrameHeader &header);

/** Completes a frame whose body of `body_bytes` stands behind the room for the header. */
void write_header(uint8_t *frame, size_t body_bytes);

}  // namespace autodeploy
