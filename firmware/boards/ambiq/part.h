#pragma once

#include <cstdint>

#include "am_mcu_apollo.h"

/** What differs between the chips. */
namespace autodeploy::ambiq {

/** Named as in the host's catalog; where neuralSPOT's linker scripts have it, or the MSPI's apertures are. */
struct Memory {
    const char *name;
    uintptr_t base;
    uintptr_t bytes;
};

#if defined(AM_PART_APOLLO3P)
constexpr char kCore[] = "cortex-m4f";
constexpr uint32_t kLowPowerHz = 48'000'000;
constexpr uint32_t kHighPerformanceHz = 96'000'000;
constexpr Memory kMemories[] = {
    {"MRAM", 0, 0x20'0000},  // flash on this chip
    {"DTCM", 0x1000'0000, 0x1'0000},
    {"SRAM", 0x1001'0000, 0xB'0000},
};
#elif defined(AM_PART_APOLLO4P) || defined(AM_PART_APOLLO4L)
constexpr char kCore[] = "cortex-m4f";
constexpr uint32_t kLowPowerHz = 96'000'000;
constexpr uint32_t kHighPerformanceHz = 192'000'000;
constexpr Memory kMemories[] = {
    {"MRAM", 0, 0x20'0000},
    {"DTCM", 0x1000'0000, 0x6'0000},
    {"SRAM", 0x1006'0000, 0x22'0000},
};
#else
constexpr char kCore[] = "cortex-m55";
constexpr uint32_t kLowPowerHz = 96'000'000;
constexpr uint32_t kHighPerformanceHz = 250'000'000;
constexpr Memory kMemories[] = {
    {"ITCM", 0, 0x4'0000},
    {"MRAM", 0x40'0000, 0x40'0000},
    {"DTCM", 0x2000'0000, 0x8'0000},
    {"SRAM", 0x2008'0000, 0x30'0000},
    {"PSRAM", 0x6000'0000, 0x200'0000},
    {"NVM", 0x8000'0000, 0x80'0000},
};
#endif

}  // namespace autodeploy::ambiq
