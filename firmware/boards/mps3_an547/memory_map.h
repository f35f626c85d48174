#pragma once

#include <cstdint>

/** Arm MPS3 with the AN547 image: a Cortex-M55 with Helium. */
namespace autodeploy::memory_map {

constexpr char kCore[] = "cortex-m55";
constexpr uint32_t kClockHz = 32'000'000;
constexpr uint32_t kNullBytes = 4 * 1024;    // from address 0: the vectors
constexpr uint32_t kCodeBytes = 512 * 1024;  // from address 0
constexpr uint32_t kModelStart = 0x0100'0000;
constexpr uint32_t kModelBytes = 2 * 1024 * 1024;
constexpr uint32_t kRamStart = 0x2100'0000;
constexpr uint32_t kRamBytes = 4 * 1024 * 1024;
constexpr uintptr_t kUart = 0x4930'3000;
constexpr uint32_t kUartReceiveInterrupt = 33;
constexpr uintptr_t kMailbox = 0x6000'0000;
constexpr uint32_t kExternalBytes = 32 * 1024 * 1024;  // with the mailbox

struct Memory {
    const char *name;  // as in memory.ld
    uintptr_t start, bytes;
};

constexpr Memory kMemories[] = {
    {"CODE", 0, kCodeBytes},
    {"MODEL", kModelStart, kModelBytes},
    {"RAM", kRamStart, kRamBytes},
    {"EXTERNAL", kMailbox, kExternalBytes},
};

}  // namespace autodeploy::memory_map
