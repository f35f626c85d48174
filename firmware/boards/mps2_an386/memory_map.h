#pragma once

#include <cstdint>

/** Arm MPS2 with the AN386 image: a Cortex-M4 with FPU. */
namespace autodeploy::memory_map {

constexpr char kCore[] = "cortex-m4f";
constexpr uint32_t kClockHz = 25'000'000;
constexpr uint32_t kNullBytes = 4 * 1024;         // from address 0: the vectors
constexpr uint32_t kCodeBytes = 4 * 1024 * 1024;  // from address 0
constexpr uint32_t kModelStart = 512 * 1024;
constexpr uint32_t kModelBytes = kCodeBytes - kModelStart;
constexpr uint32_t kRamStart = 0x2000'0000;
constexpr uint32_t kRamBytes = 4 * 1024 * 1024;
constexpr uintptr_t kUart = 0x4000'4000;
constexpr uint32_t kUartReceiveInterrupt = 0;
constexpr uintptr_t kMailbox = 0x2100'0000;

struct Memory {
    const char *name;  // as in memory.ld
    uintptr_t start, bytes;
};

constexpr Memory kMemories[] = {
    {"CODE", 0, kCodeBytes},
    {"RAM", kRamStart, kRamBytes},
    {"EXTERNAL", kMailbox, 16 * 1024 * 1024},
};

}  // namespace autodeploy::memory_map
