#pragma once

#include "rpc/bytes.h"

namespace autodeploy {

constexpr size_t kSha256Bytes = 32;

/** SHA-256 as FIPS 180-4 has it. */
void sha256(Bytes message, uint8_t (&digest)[kSha256Bytes]);

}  // namespace autodeploy
