#include "boards/cortex_m/mailbox.h"

#include <cstring>

namespace autodeploy::cortex_m {
namespace {

void barrier() { asm volatile("dmb" ::: "memory"); }

size_t smallest(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

}  // namespace

size_t Mailbox::read(uint8_t *to, size_t size) {
    const uint32_t at = to_board_read % kRingBytes;
    const size_t count = smallest(size, waiting(), kRingBytes - at);
    barrier();
    std::memcpy(to, to_board + at, count);
    barrier();
    to_board_read = to_board_read + static_cast<uint32_t>(count);
    return count;
}

size_t Mailbox::write(const uint8_t *from, size_t size) {
    const uint32_t at = to_host_written % kRingBytes;
    const size_t room = kRingBytes - (to_host_written - to_host_read);
    const size_t count = smallest(size, room, kRingBytes - at);
    barrier();
    std::memcpy(to_host + at, from, count);
    barrier();
    to_host_written = to_host_written + static_cast<uint32_t>(count);
    return count;
}

}  // namespace autodeploy::cortex_m
