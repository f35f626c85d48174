#pragma once

#include "boards/ambiq/part.h"

/** The system timer, which runs from the start on. */
namespace autodeploy::ambiq {

#if defined(AM_PART_APOLLO3P)
constexpr uint32_t kTimerClock = AM_HAL_STIMER_HFRC_187_5KHZ;
constexpr uint32_t kTimerHz = 187'500;
#else
constexpr uint32_t kTimerClock = AM_HAL_STIMER_HFRC_375KHZ;
constexpr uint32_t kTimerHz = 375'000;
#endif
constexpr uint32_t kTimerPerMs = kTimerHz / 1000;

}  // namespace autodeploy::ambiq
