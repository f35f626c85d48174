#include "boards/board.h"

#include "autodeploy_config.h"
#include "boards/ambiq/core.h"
#include "boards/ambiq/counters.h"
#include "boards/ambiq/external.h"
#include "boards/ambiq/link.h"
#include "boards/ambiq/part.h"
#include "boards/ambiq/pins.h"
#include "boards/ambiq/start.h"
#include "boards/ambiq/survive.h"
#include "boards/ambiq/timer.h"
#include "ns_ambiqsuite_harness.h"

/** An evaluation board of Ambiq, over neuralSPOT, with a link and with instruments. */
namespace autodeploy::board {
namespace {

#ifdef AUTODEPLOY_LINK_USB
constexpr ambiq::Needs kNeeds = {true, false};
#else
constexpr ambiq::Needs kNeeds = {false, true};
#endif

Facts the_facts = {BoardKind::kHardware,
                   ambiq::kCore,
                   kCapabilityCycleCounter | kCapabilityClockModes | kCapabilityPowerWindow,
                   {ambiq::kLowPowerHz, ambiq::kHighPerformanceHz},
                   nullptr,
                   0,
                   0,
                   0};
uint64_t cycles;  // until `latest`
uint32_t latest;  // reading of the 32-bit counter
bool rests;

void start_cycle_counter() {
    constexpr uint32_t kTraceEnabled = 1u << 24;
    volatile uint32_t &debug_control = *reinterpret_cast<volatile uint32_t *>(0xE000'EDFC);
    am_hal_itm_enable();  // it powers the debug domain
    debug_control = debug_control | kTraceEnabled;
    DWT->CTRL = DWT->CTRL | DWT_CTRL_CYCCNTENA_Msk;
    latest = DWT->CYCCNT;
}

/** Of the core and of the system timer, at the same time. */
struct Clocks {
    uint32_t cycles;
    uint32_t counts;
};

Clocks both_clocks() {
    am_hal_interrupt_master_disable();
    const Clocks now = {DWT->CYCCNT, am_hal_stimer_counter_get()};
    am_hal_interrupt_master_enable();
    return now;
}

}  // namespace

void init() {
    ambiq::note_start();
    ambiq::init_core(kNeeds);
    ambiq::init_external();
    ambiq::guard_null_pointers();
    start_cycle_counter();
    ambiq::init_counters(the_facts);
    ambiq::init_pins();
    ambiq::init_link();
    am_hal_interrupt_master_enable();
}

const Facts &facts() { return the_facts; }

size_t read(uint8_t *to, size_t size) { return size > 0 ? ambiq::read_link(to, size) : 0; }
size_t write(const uint8_t *from, size_t size) { return ambiq::write_link(from, size); }

/** Right while it is called at least once in 2^32 cycles: at every layer and in every wait. */
uint64_t ticks() {
    if (rests) {
        return ambiq::timer_ticks();
    }
    const uint32_t now = DWT->CYCCNT;
    cycles += now - latest;
    latest = now;
    return cycles;
}

void begin_inference() {}

void read_counters(uint32_t *values) { ambiq::read_counters(values); }

void count_events(const uint32_t *events, size_t count) {
    ambiq::count_events(events, count, the_facts);
}

/** The link and all that measures: what ships has none of it. */
void rest_link() {
    ambiq::drain_link();
    ambiq::power_link(false);
    ambiq::stop_counters();
    ambiq::stop_debug_units();
    rests = true;
}

void resume_link() {
    start_cycle_counter();
    ambiq::resume_counters();
    rests = false;
    ambiq::power_link(true);
}

/** Over 10 ms, so that the system timer's counts are 1 in 1,875 at least. */
uint32_t measured_hz() {
    constexpr uint32_t kSpanUs = 10'000;
    const Clocks began = both_clocks();
    ns_delay_us(kSpanUs);
    const Clocks ended = both_clocks();
    const uint32_t counted = ended.counts - began.counts;
    const uint64_t scaled = uint64_t{ended.cycles - began.cycles} * ambiq::kTimerHz;
    return counted > 0 ? static_cast<uint32_t>(scaled / counted) : 0;
}

const char *failed_step() { return ambiq::failed_step_of_core(); }

const char *memory_of(const void *address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (const ambiq::Memory &memory : ambiq::kMemories) {
        if (at - memory.base < memory.bytes) {
            return memory.name;
        }
    }
    return "";
}

void reboot() {
    ambiq::drain_link();
    ambiq::restart_as_asked();
}

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
