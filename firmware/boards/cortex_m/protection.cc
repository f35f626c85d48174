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

constexpr uint32_t kModelRegion = 1;

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

void set_region(uint32_t number, const Region &region) {
    reg(kRegion) = number;
    reg(kBase) = region.start | region.access;
    reg(kSize) = (region.start + region.bytes - 32) | region.attributes | kEnabled;
}

void set_regions() {
    reg(kAttributes) = kMemoryThenDevice;
    for (const Region &region : kRegions) {
        set_region(static_cast<uint32_t>(&region - kRegions), region);
    }
    reg(kControl) = kEnabled;
}

void set_model_region(bool writable) {
    Region region = kRegions[kModelRegion];
    region.access = kNoCode | (writable ? 0 : kReadOnly);
    set_region(kModelRegion, region);
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

/** In regions of a power of two: the model's place ends with the code's and begins within. */
void set_model_region(bool writable) {
    constexpr uint32_t kFirst = 3;
    uint32_t number = kFirst;
    for (uint32_t start = memory_map::kModelStart; start < memory_map::kCodeBytes; start *= 2) {
        set_region(number, start, start, writable ? kReadWriteNoCode : kReadOnly);
        ++number;
    }
}
static_assert((memory_map::kModelStart & (memory_map::kModelStart - 1)) == 0);

#endif

void settle() { asm volatile("dsb\n isb" ::: "memory"); }

}  // namespace

void protect_memory() {
    set_regions();
    settle();
}

void open_model(bool writable) {
    settle();
    set_model_region(writable);
    settle();
}

}  // namespace autodeploy::cortex_m
