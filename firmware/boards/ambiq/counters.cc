#include "boards/ambiq/counters.h"

#include "boards/ambiq/part.h"
#include "ns_perf_profile.h"

namespace autodeploy::ambiq {

#if defined(AM_PART_APOLLO3P) || defined(AM_PART_APOLLO4P) || defined(AM_PART_APOLLO4L)

const char *const kCounterNames[] = {"daccess", "dtaglookup", "dhitslookup", "dhitsline",
                                     "iaccess", "itaglookup", "ihitslookup", "ihitsline"};
const size_t kCounters = sizeof kCounterNames / sizeof kCounterNames[0];

void init_counters() {
    ns_cache_config_t config = {true};
    ns_cache_profiler_init(&config);
}

void read_counters(uint32_t *values) {
    ns_cache_dump_t dump = {};
    ns_capture_cache_stats(&dump);
    const uint32_t all[] = {dump.daccess, dump.dtaglookup, dump.dhitslookup, dump.dhitsline,
                            dump.iaccess, dump.itaglookup, dump.ihitslookup, dump.ihitsline};
    for (size_t i = 0; i < kCounters; ++i) {
        values[i] = all[i];
    }
}

#else

const char *const kCounterNames[] = {"MVE_INST_RETIRED", "MVE_INT_MAC_RETIRED", "INST_RETIRED",
                                     "BUS_CYCLES"};
const size_t kCounters = sizeof kCounterNames / sizeof kCounterNames[0];

namespace {

constexpr uint32_t kEvents[] = {ARM_PMU_MVE_INST_RETIRED, ARM_PMU_MVE_INT_MAC_RETIRED,
                                ARM_PMU_INST_RETIRED, ARM_PMU_BUS_CYCLES};

}  // namespace

/** Counters have 16 bits; each odd one counts the overflows of the one before. */
void init_counters() {
    constexpr uint32_t kTraceEnabled = 1u << 24;
    DCB->DEMCR |= kTraceEnabled;
    ARM_PMU_Enable();
    for (uint32_t i = 0; i < kCounters; ++i) {
        ARM_PMU_Set_EVTYPER(2 * i, kEvents[i]);
        ARM_PMU_Set_EVTYPER(2 * i + 1, ARM_PMU_CHAIN);
    }
    ARM_PMU_EVCNTR_ALL_Reset();
    ARM_PMU_CNTR_Enable((1u << 2 * kCounters) - 1);
}

void read_counters(uint32_t *values) {
    for (uint32_t i = 0; i < kCounters; ++i) {
        uint32_t high = 0;
        do {
            high = ARM_PMU_Get_EVCNTR(2 * i + 1);
            values[i] = high << 16 | ARM_PMU_Get_EVCNTR(2 * i);
        } while (high != ARM_PMU_Get_EVCNTR(2 * i + 1));
    }
}

#endif

}  // namespace autodeploy::ambiq
