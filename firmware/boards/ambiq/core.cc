#include "boards/ambiq/core.h"

#include "boards/ambiq/part.h"
#include "boards/ambiq/timer.h"
#include "boards/board.h"
#include "ns_ambiqsuite_harness.h"
#include "ns_core.h"
#include "ns_peripherals_power.h"

namespace autodeploy::ambiq {
namespace {

constexpr uint32_t kWaitUs = 50;

ClockMode mode = ClockMode::kHighPerformance;
const char *step = "";    // that the start-up is at
const char *failed = "";  // the first that failed
uint64_t counts;  // of the timer, until `latest`
uint32_t latest;

/** Everything is off but what a program says it needs: neuralSPOT's defaults leave it on. */
ns_power_config_t power_of(Needs needs) {
    ns_power_config_t power = {};
    power.api = &ns_power_V1_0_0;
    power.eAIPowerMode = NS_MAXIMUM_PERF;
    power.bNeedSharedSRAM = true;
    power.bNeedUSB = needs.usb;
    power.bNeedXtal = needs.usb;
    power.bNeedAlternativeUART = needs.uart;
    return power;
}

/** What the chip itself says: the HAL refuses HP to some, and neuralSPOT does not pass that on. */
bool runs_fast() {
#if defined(AM_PART_APOLLO3P)
    return am_hal_burst_mode_status() == AM_HAL_BURST_MODE;
#else
    am_hal_pwrctrl_mcu_mode_e status = AM_HAL_PWRCTRL_MCU_MODE_LOW_POWER;
    am_hal_pwrctrl_mcu_mode_status(&status);
    return status != AM_HAL_PWRCTRL_MCU_MODE_LOW_POWER;
#endif
}

uint64_t timer_counts() {
    const uint32_t now = am_hal_stimer_counter_get();
    counts += now - latest;
    latest = now;
    return counts;
}

}  // namespace

/**
 * Instead of neuralSPOT's endless loop, in which a board would be silent: it goes on behind the step that failed. The
 * linker puts it there; armlink has another name for that.
 */
#if defined(__ARMCC_VERSION)
extern "C" void $Sub$$ns_core_fail_loop() {
#else
extern "C" void __wrap_ns_core_fail_loop() {
#endif
    failed = *failed == '\0' ? step : failed;
}

namespace {

void attempt(const char *what, bool (*succeeds)(Needs), Needs needs) {
    step = what;
    if (!succeeds(needs) && *failed == '\0') {
        failed = what;
    }
}

bool start_core(Needs) {
    ns_core_config_t config = {&ns_core_V1_0_0};
    return ns_core_init(&config) == NS_STATUS_SUCCESS;
}

bool configure_power(Needs needs) {
    const ns_power_config_t power = power_of(needs);
    return ns_power_config(&power) == NS_STATUS_SUCCESS;
}

bool go_fast(Needs) { return board::set_clock(ClockMode::kHighPerformance); }

}  // namespace

const char *failed_step_of_core() { return failed; }

void init_core(Needs needs) {
    attempt("ns_core_init", start_core, needs);
    attempt("ns_power_config", configure_power, needs);
    am_hal_stimer_config(kTimerClock | AM_HAL_STIMER_CFG_COMPARE_A_ENABLE |
                         AM_HAL_STIMER_CFG_COMPARE_B_ENABLE);
    latest = am_hal_stimer_counter_get();
    attempt("the high performance mode", go_fast, needs);
    mode = runs_fast() ? ClockMode::kHighPerformance : ClockMode::kLowPower;
}

void stop_debug_units() {
    constexpr uint32_t kTraceEnabled = 1u << 24;
    volatile uint32_t &debug_control = *reinterpret_cast<volatile uint32_t *>(0xE000'EDFC);
    am_hal_itm_disable();
    am_hal_tpiu_disable();
    DWT->CTRL = 0;
    debug_control = debug_control & ~kTraceEnabled;
#if !defined(AM_PART_APOLLO3P)
    am_hal_pwrctrl_periph_disable(AM_HAL_PWRCTRL_PERIPH_DEBUG);
#endif
}

uint64_t timer_ticks() { return timer_counts() * board::tick_hz() / kTimerHz; }

}  // namespace autodeploy::ambiq

namespace autodeploy::board {

using namespace ambiq;

void wait(uint32_t) { ns_delay_us(kWaitUs); }

uint32_t milliseconds() { return static_cast<uint32_t>(timer_counts() * 1000 / kTimerHz); }

uint32_t tick_hz() {
    return mode == ClockMode::kHighPerformance ? kHighPerformanceHz : kLowPowerHz;
}

ClockMode clock() { return mode; }

bool set_clock(ClockMode wanted) {
    const bool fast = wanted == ClockMode::kHighPerformance;
    if (ns_set_performance_mode(fast ? NS_MAXIMUM_PERF : NS_MINIMUM_PERF) != NS_STATUS_SUCCESS ||
        runs_fast() != fast) {
        return false;
    }
    mode = wanted;
    return true;
}

}  // namespace autodeploy::board
