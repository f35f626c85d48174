#pragma once

#include <cstddef>
#include <cstdint>

namespace autodeploy::cortex_m {

/**
 * Two rings in memory that QEMU shares with the host, because its UARTs take some 20 us a byte.
 *
 * The host puts kMagic there before the start. Counts are of bytes since then, modulo 2^32; whoever
 * moves one sends a byte over the UART to wake the other side.
 */
struct Mailbox {
    static constexpr uint32_t kMagic = 0x584F'424D;
    static constexpr uint32_t kRingBytes = 256 * 1024;

    volatile uint32_t magic;
    volatile uint32_t to_board_written, to_board_read;
    volatile uint32_t to_host_written, to_host_read;
    uint8_t padding[4096 - 5 * 4];
    uint8_t to_board[kRingBytes];
    uint8_t to_host[kRingBytes];

    bool present() const { return magic == kMagic; }
    size_t waiting() const { return to_board_written - to_board_read; }
    size_t read(uint8_t *to, size_t size);
    size_t write(const uint8_t *from, size_t size);
};

}  // namespace autodeploy::cortex_m
