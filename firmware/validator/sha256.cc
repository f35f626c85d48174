#include "validator/sha256.h"

#include <cstring>

/** The names are those of FIPS 180-4. */
namespace autodeploy {
namespace {

constexpr size_t kBlockBytes = 64;
constexpr size_t kLengthBytes = 8;  // at the end of the last block: the bits of the message

constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

constexpr uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

void store_big(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; ++i) {
        to[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
    }
}

void expand(const uint8_t *block, uint32_t (&w)[64]) {
    for (int t = 0; t < 16; ++t) {
        w[t] = load_big(block + 4 * t);
    }
    for (int t = 16; t < 64; ++t) {
        const uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

void compress(const uint8_t *block, uint32_t (&hash)[8]) {
    uint32_t w[64];
    expand(block, w);
    uint32_t a = hash[0], b = hash[1], c = hash[2], d = hash[3];
    uint32_t e = hash[4], f = hash[5], g = hash[6], h = hash[7];
    for (int t = 0; t < 64; ++t) {
        const uint32_t sum1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
        const uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRounds[t] + w[t];
        const uint32_t sum0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
        const uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    hash[0] += a, hash[1] += b, hash[2] += c, hash[3] += d;
    hash[4] += e, hash[5] += f, hash[6] += g, hash[7] += h;
}

/** The rest of the message, a bit of 1, zeros and the length, in one block or two. */
void compress_end(Bytes rest, uint64_t message_bytes, uint32_t (&hash)[8]) {
    uint8_t end[2 * kBlockBytes] = {};
    if (rest.size > 0) {
        std::memcpy(end, rest.data, rest.size);
    }
    end[rest.size] = 0x80;
    const size_t bytes = rest.size + 1 + kLengthBytes <= kBlockBytes ? kBlockBytes : sizeof end;
    store_big(end + bytes - 8, static_cast<uint32_t>(message_bytes >> 29));
    store_big(end + bytes - 4, static_cast<uint32_t>(message_bytes << 3));
    for (size_t at = 0; at < bytes; at += kBlockBytes) {
        compress(end + at, hash);
    }
}

}  // namespace

void sha256(Bytes message, uint8_t (&digest)[kSha256Bytes]) {
    uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t at = 0;
    for (; message.size - at >= kBlockBytes; at += kBlockBytes) {
        compress(message.data + at, hash);
    }
    compress_end({message.data + at, message.size - at}, message.size, hash);
    for (size_t i = 0; i < 8; ++i) {
        store_big(digest + 4 * i, hash[i]);
    }
}

}  // namespace autodeploy
