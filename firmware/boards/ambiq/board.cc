#include "boards/board.h"

#include "boards/ambiq/counters.h"
#include "boards/ambiq/link.h"
#include "boards/ambiq/part.h"
#include "boards/ambiq/pins.h"
#include "ns_ambiqsuite_harness.h"
#include "ns_core.h"
#include "ns_peripherals_power.h"

/**
 * An evaluation board of Ambiq, over neuralSPOT.
 *
 * The core sleeps in nothing but the waits of a power run, so otherwise its cycles are time.
 */
namespace autodeploy::board {
namespace {

constexpr uint32_t kWaitUs = 50;

Facts the_facts = {BoardKind::kHardware,
                   ambiq::kCore,
                   kCapabilityCycleCounter | kCapabilityClockModes | kCapabilityPowerWindow,
                   {ambiq::kLowPowerHz, ambiq::kHighPerformanceHz},
                   nullptr,
                   0,
                   0,
                   0};
ClockMode mode = ClockMode::kHighPerformance;
uint64_t cycles;           // until `latest`
uint32_t latest;           // reading of the 32-bit counter
uint64_t cycles_at_clock;  // when the present clock was set
uint32_t ms_at_clock;

void start_cycle_counter() {
    constexpr uint32_t kTraceEnabled = 1u << 24;
    volatile uint32_t &debug_control = *reinterpret_cast<volatile uint32_t *>(0xE000'EDFC);
    am_hal_itm_enable();  // it powers the debug domain
    debug_control = debug_control | kTraceEnabled;
    DWT->CTRL = DWT->CTRL | DWT_CTRL_CYCCNTENA_Msk;
    latest = DWT->CYCCNT;
}

}  // namespace

void init() {
    ns_core_config_t config = {&ns_core_V1_0_0};
    ns_core_init(&config);
    ns_power_config(&ns_development_default);
    set_clock(ClockMode::kHighPerformance);
    start_cycle_counter();
    ambiq::init_counters(the_facts);
    ambiq::init_pins();
    ambiq::init_link();
    am_hal_interrupt_master_enable();
}

const Facts &facts() { return the_facts; }

const char *restart_words() { return nullptr; }

bool survive(void (*function)(void *), void *argument) {
    function(argument);
    return true;
}

size_t read(uint8_t *to, size_t size) { return size > 0 ? ambiq::read_link(to, size) : 0; }
size_t write(const uint8_t *from, size_t size) { return ambiq::write_link(from, size); }

void wait(uint32_t) { ns_delay_us(kWaitUs); }

uint32_t milliseconds() {
    return ms_at_clock + static_cast<uint32_t>((ticks() - cycles_at_clock) / (tick_hz() / 1000));
}

/** Right while it is called at least once in 2^32 cycles: at every layer and in every wait. */
uint64_t ticks() {
    const uint32_t now = DWT->CYCCNT;
    cycles += now - latest;
    latest = now;
    return cycles;
}

uint32_t tick_hz() { return the_facts.clocks_hz[static_cast<size_t>(mode)]; }

void begin_inference() {}

void read_counters(uint32_t *values) { ambiq::read_counters(values); }

void count_events(const uint32_t *events, size_t count) {
    ambiq::count_events(events, count, the_facts);
}

ClockMode clock() { return mode; }

bool set_clock(ClockMode wanted) {
    const bool fast = wanted == ClockMode::kHighPerformance;
    const uint32_t ms = milliseconds();
    if (ns_set_performance_mode(fast ? NS_MAXIMUM_PERF : NS_MINIMUM_PERF) != NS_STATUS_SUCCESS) {
        return false;
    }
    ms_at_clock = ms;
    cycles_at_clock = ticks();
    mode = wanted;
    return true;
}

void reboot() {
    ambiq::drain_link();
    NVIC_SystemReset();
}

/** Instead of neuralSPOT's endless loop. */
extern "C" void HardFault_Handler() { NVIC_SystemReset(); }

}  // namespace autodeploy::board

namespace autodeploy::ambiq {

void drain_link() {
    constexpr uint32_t kMostMs = 1000;
    const uint32_t began = board::milliseconds();
    while (link_sends() && board::milliseconds() - began < kMostMs) {
    }
    ns_delay_us(2000);  // what the controller itself still holds
}

}  // namespace autodeploy::ambiq
