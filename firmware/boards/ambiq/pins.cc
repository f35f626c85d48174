#include "am_bsp.h"
#include "autodeploy_config.h"
#include "boards/ambiq/part.h"
#include "boards/ambiq/pins.h"
#include "boards/ambiq/timer.h"
#include "boards/board.h"

namespace autodeploy::ambiq {
namespace {

constexpr uint32_t kIn0 = config::kPinIn0;
constexpr uint32_t kIn1 = config::kPinIn1;
constexpr uint32_t kTrigger = config::kPinTrigger;

// The second comparator is a reserve: one alone may miss its count.
constexpr uint32_t kAlarms = AM_HAL_STIMER_INT_COMPAREA | AM_HAL_STIMER_INT_COMPAREB;

void configure_pins() {
#if defined(AM_PART_APOLLO3P)
    am_hal_gpio_pinconfig(kIn0, g_AM_HAL_GPIO_OUTPUT);
    am_hal_gpio_pinconfig(kIn1, g_AM_HAL_GPIO_OUTPUT);
    am_hal_gpio_pinconfig(kTrigger, g_AM_HAL_GPIO_INPUT);
#else
    am_hal_gpio_pincfg_t trigger = am_hal_gpio_pincfg_input;
    trigger.GP.cfg_b.ePullup = AM_HAL_GPIO_PIN_PULLDOWN_50K;  // low when nothing is connected
    am_hal_gpio_pinconfig(kIn0, am_hal_gpio_pincfg_output);
    am_hal_gpio_pinconfig(kIn1, am_hal_gpio_pincfg_output);
    am_hal_gpio_pinconfig(kTrigger, trigger);
#endif
}

void clear_alarms() {
    am_hal_stimer_int_clear(kAlarms);
    NVIC_ClearPendingIRQ(STIMER_CMPR0_IRQn);
    NVIC_ClearPendingIRQ(STIMER_CMPR1_IRQn);
}

/** An alarm ends the sleep. */
void sleep_a_millisecond() {
    am_hal_stimer_compare_delta_set(0, kTimerPerMs);
    am_hal_stimer_compare_delta_set(1, kTimerPerMs + 4);
    am_hal_sysctrl_sleep(AM_HAL_SYSCTRL_SLEEP_NORMAL);
    clear_alarms();
}

/**
 * Interrupts stay masked until the alarms are off again, so that an alarm calls nothing: the SDK's handlers count ticks
 * of a FreeRTOS that has not been started, and follow its null pointers.
 */
void enable_alarms() {
    am_hal_interrupt_master_disable();
    am_hal_stimer_int_enable(kAlarms);
    NVIC_EnableIRQ(STIMER_CMPR0_IRQn);
    NVIC_EnableIRQ(STIMER_CMPR1_IRQn);
}

void disable_alarms() {
    NVIC_DisableIRQ(STIMER_CMPR0_IRQn);
    NVIC_DisableIRQ(STIMER_CMPR1_IRQn);
    am_hal_stimer_int_disable(kAlarms);
    clear_alarms();
    am_hal_interrupt_master_enable();
}

/** Whether the trigger gets this level within so many counts of the timer. */
bool trigger_comes(bool high, uint64_t left) {
    uint32_t latest = am_hal_stimer_counter_get();
    while ((am_hal_gpio_input_read(kTrigger) != 0) != high) {
        if (left == 0) {
            return false;
        }
        sleep_a_millisecond();
        const uint32_t now = am_hal_stimer_counter_get();
        const uint32_t passed = now - latest;
        left -= passed < left ? passed : left;
        latest = now;
    }
    return true;
}

}  // namespace

void init_pins() {
    am_hal_gpio_output_clear(kIn0);
    am_hal_gpio_output_clear(kIn1);
    configure_pins();
}

}  // namespace autodeploy::ambiq

namespace autodeploy::board {

using namespace ambiq;

/** Two writes to registers: the chips have no one register for all pins. */
void set_lines(bool in0, bool in1) {
    am_hal_interrupt_master_disable();
    if (in0) {
        am_hal_gpio_output_set(kIn0);
    } else {
        am_hal_gpio_output_clear(kIn0);
    }
    if (in1) {
        am_hal_gpio_output_set(kIn1);
    } else {
        am_hal_gpio_output_clear(kIn1);
    }
    am_hal_interrupt_master_enable();
}

bool await_trigger(bool high, uint32_t ms) {
    enable_alarms();
    const bool came = trigger_comes(high, uint64_t{ms} * kTimerPerMs);
    disable_alarms();
    return came;
}

}  // namespace autodeploy::board
