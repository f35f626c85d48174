#include "boards/ambiq/counters.h"
#include "boards/ambiq/part.h"

#if !defined(AM_PART_APOLLO3P) && !defined(AM_PART_APOLLO4P) && !defined(AM_PART_APOLLO4L)

/**
 * A Cortex-M55: its performance monitor.
 *
 * Its counters have 16 bits; each odd one counts the overflows of the one before, which makes 32.
 */
namespace autodeploy::ambiq {
namespace {

constexpr size_t kPairs = 4;
constexpr uint32_t kAllCounters = (1u << 2 * kPairs) - 1;

constexpr uint32_t kOwnEvents[kPairs] = {ARM_PMU_MVE_INST_RETIRED, ARM_PMU_MVE_INT_MAC_RETIRED,
                                         ARM_PMU_INST_RETIRED, ARM_PMU_BUS_CYCLES};
constexpr const char *kOwnNames[kPairs] = {"MVE_INST_RETIRED", "MVE_INT_MAC_RETIRED",
                                           "INST_RETIRED", "BUS_CYCLES"};

char numbers[kPairs][7];  // such as 0x0008, the names of events that the host has chosen
const char *const kNumbers[kPairs] = {numbers[0], numbers[1], numbers[2], numbers[3]};
size_t counted = kPairs;

void write_number(char *text, uint32_t event) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    *text++ = '0';
    *text++ = 'x';
    for (int shift = 12; shift >= 0; shift -= 4) {
        *text++ = kDigits[event >> shift & 0xF];
    }
    *text = '\0';
}

void start(const uint32_t *events, size_t count) {
    ARM_PMU_CNTR_Disable(kAllCounters);
    for (uint32_t i = 0; i < count; ++i) {
        ARM_PMU_Set_EVTYPER(2 * i, events[i]);
        ARM_PMU_Set_EVTYPER(2 * i + 1, ARM_PMU_CHAIN);
    }
    ARM_PMU_EVCNTR_ALL_Reset();
    ARM_PMU_CNTR_Enable((1u << 2 * count) - 1);
    counted = count;
}

}  // namespace

void init_counters(board::Facts &facts) {
    resume_counters();
    facts.events_at_once = kPairs;
    count_events(nullptr, 0, facts);
}

void read_counters(uint32_t *values) {
    for (uint32_t i = 0; i < counted; ++i) {
        uint32_t high = 0;
        do {
            high = ARM_PMU_Get_EVCNTR(2 * i + 1);
            values[i] = high << 16 | ARM_PMU_Get_EVCNTR(2 * i);
        } while (high != ARM_PMU_Get_EVCNTR(2 * i + 1));
    }
}

void count_events(const uint32_t *events, size_t count, board::Facts &facts) {
    const bool own = count == 0;
    for (size_t i = 0; i < count; ++i) {
        write_number(numbers[i], events[i]);
    }
    facts.counters = own ? kOwnNames : kNumbers;
    facts.counter_count = own ? kPairs : count;
    start(own ? kOwnEvents : events, facts.counter_count);
}

void stop_counters() { ARM_PMU_Disable(); }

void resume_counters() {
    constexpr uint32_t kTraceEnabled = 1u << 24;
    DCB->DEMCR |= kTraceEnabled;
    ARM_PMU_Enable();
}

}  // namespace autodeploy::ambiq

#endif
