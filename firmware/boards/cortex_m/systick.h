#pragma once

#include <cstdint>

/** SysTick, extended to 64 bits: on QEMU with -icount it counts instructions exactly. */
namespace autodeploy::cortex_m {

constexpr uint32_t kLongestPeriod = 1 << 24;

/** Goes on counting from the present count with a new period, which starts now. */
void restart_systick(uint32_t period);

uint64_t systick();

}  // namespace autodeploy::cortex_m
