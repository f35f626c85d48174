#pragma once

#include <cstdint>

#include "am_mcu_apollo.h"

/** What differs between the chips. */
namespace autodeploy::ambiq {

#if defined(AM_PART_APOLLO3P)
constexpr char kCore[] = "cortex-m4f";
constexpr uint32_t kLowPowerHz = 48'000'000;
constexpr uint32_t kHighPerformanceHz = 96'000'000;
#elif defined(AM_PART_APOLLO4P) || defined(AM_PART_APOLLO4L)
constexpr char kCore[] = "cortex-m4f";
constexpr uint32_t kLowPowerHz = 96'000'000;
constexpr uint32_t kHighPerformanceHz = 192'000'000;
#else
constexpr char kCore[] = "cortex-m55";
constexpr uint32_t kLowPowerHz = 96'000'000;
constexpr uint32_t kHighPerformanceHz = 250'000'000;
#endif

}  // namespace autodeploy::ambiq
