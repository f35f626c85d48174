#include "boards/cortex_m/protection.h"

#include "boards/cortex_m/registers.h"
#include "memory_map.h"

namespace autodeploy::cortex_m {
namespace {

constexpr uintptr_t kControl = 0xE000ED94;
constexpr uintptr_t kRegion = 0xE000ED98;
constexpr uintptr_t kBase = 0xE000ED9C;
constexpr uintptr_t kSize = 0xE000EDA0;
constexpr uint32_t kEnabled = 1;

#if __ARM_ARCH >= 8

constexpr uintptr_t kAttributes = 0xE000EDC0;
constexpr uint32_t kMemoryThenDevice = 0x00FF;
constexpr uint32_t kDevice = 1 << 1;
constexpr uint32_t kReadOnly = 2 << 1;
constexpr uint32_t kNoCode = 1;

struct Region {
    uint32_t start, bytes, access, attributes;
};

// Whatever is in no region faults.
constexpr Region kRegions[] = {
    {memory_map::kNullBytes, memory_map::kCodeBytes - memory_map::kNullBytes, kReadOnly, 0},
    {memory_map::kModelStart, memory_map::kModelBytes, kReadOnly | kNoCode, 0},
    {memory_map::kRamStart, memory_map::kRamBytes, kNoCode, 0},
    {0x4000'0000, 0x2000'0000, kNoCode, kDevice},
    {memory_map::kMailbox, memory_map::kExternalBytes, kNoCode, 0},
};

void set_regions() {
    reg(kAttributes) = kMemoryThenDevice;
    for (const Region &region : kRegions) {
        reg(kRegion) = static_cast<uint32_t>(&region - kRegions);
        reg(kBase) = region.start | region.access;
        reg(kSize) = (region.start + region.bytes - 32) | region.attributes | kEnabled;
    }
    reg(kControl) = kEnabled;
}

#else

constexpr uint32_t kBackground = 1 << 2;
constexpr uint32_t kNoAccess = 0;
constexpr uint32_t kReadOnly = 6 << 24;
constexpr uint32_t kReadWriteNoCode = 3 << 24 | 1 << 28;
constexpr uint32_t kWriteBackMemory = 3 << 16;

void set_region(uint32_t number, uint32_t start, uint32_t bytes, uint32_t access) {
    const auto size_bits = static_cast<uint32_t>(__builtin_ctz(bytes) - 1);
    reg(kRegion) = number;
    reg(kBase) = start;
    reg(kSize) = access | kWriteBackMemory | size_bits << 1 | kEnabled;
}

void set_regions() {
    set_region(0, 0, memory_map::kCodeBytes, kReadOnly);
    set_region(1, 0, memory_map::kNullBytes, kNoAccess);  // the higher number decides
    set_region(2, memory_map::kRamStart, memory_map::kRamBytes, kReadWriteNoCode);
    reg(kControl) = kEnabled | kBackground;
}

#endif

}  // namespace

void protect_memory() {
    set_regions();
    asm volatile("dsb\n isb" ::: "memory");
}

}  // namespace autodeploy::cortex_m
