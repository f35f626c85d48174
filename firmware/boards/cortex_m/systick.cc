#include "boards/cortex_m/systick.h"

#include "boards/cortex_m/registers.h"

namespace autodeploy::cortex_m {
namespace {

constexpr uint32_t kRun = 7;  // enabled, with interrupt, on the core's clock
constexpr uint32_t kPendingTick = 1 << 26;
constexpr uint32_t kClearPendingTick = 1 << 25;

volatile uint64_t before_period;
uint32_t period = kLongestPeriod;

uint64_t count_with_interrupts_off() {
    const uint32_t left = reg(kSysTickValue);
    if (reg(kInterruptControl) & kPendingTick) {
        return before_period + 2 * period - 1 - reg(kSysTickValue);
    }
    return before_period + period - 1 - left;
}

}  // namespace

void restart_systick(uint32_t new_period) {
    disable_interrupts();
    if (reg(kSysTickControl) & 1) {
        before_period = count_with_interrupts_off();
    }
    reg(kSysTickControl) = 0;
    reg(kInterruptControl) = kClearPendingTick;
    period = new_period;
    reg(kSysTickReload) = new_period - 1;
    reg(kSysTickValue) = 0;
    reg(kSysTickControl) = kRun;
    while (reg(kSysTickValue) == 0) {  // it reloads with its next clock
    }
    enable_interrupts();
}

uint64_t systick() {
    uint64_t before;
    uint32_t left;
    do {
        before = before_period;
        left = reg(kSysTickValue);
    } while (before != before_period);
    return before + period - 1 - left;
}

extern "C" void systick_handler() { before_period = before_period + period; }

}  // namespace autodeploy::cortex_m
