#include "boards/ambiq/counters.h"
#include "boards/ambiq/part.h"
#include "ns_perf_profile.h"

#if defined(AM_PART_APOLLO3P) || defined(AM_PART_APOLLO4P) || defined(AM_PART_APOLLO4L)

/** A Cortex-M4: the cache monitor, and the five counters of DWT, which have 8 bits. */
namespace autodeploy::ambiq {
namespace {

constexpr const char *kNames[] = {
    "daccess",     "dtaglookup",  "dhitslookup",   "dhitsline",   "iaccess",
    "itaglookup",  "ihitslookup", "ihitsline",     "cpi mod 256", "exc mod 256",
    "sleep mod 256", "lsu mod 256", "fold mod 256"};
constexpr size_t kCounters = sizeof kNames / sizeof kNames[0];
constexpr size_t kByteCounters = 5;
static_assert(kCounters == board::kMaxCounters);

constexpr uint32_t kDwtCounters = DWT_CTRL_CPIEVTENA_Msk | DWT_CTRL_EXCEVTENA_Msk |
                                  DWT_CTRL_SLEEPEVTENA_Msk | DWT_CTRL_LSUEVTENA_Msk |
                                  DWT_CTRL_FOLDEVTENA_Msk;

}  // namespace

void init_counters(board::Facts &facts) {
    resume_counters();
    facts.counters = kNames;
    facts.counter_count = kCounters;
    facts.byte_counters = kByteCounters;
}

void read_counters(uint32_t *values) {
    ns_cache_dump_t dump = {};
    ns_capture_cache_stats(&dump);
    const uint32_t all[kCounters] = {
        dump.daccess,    dump.dtaglookup,  dump.dhitslookup, dump.dhitsline, dump.iaccess,
        dump.itaglookup, dump.ihitslookup, dump.ihitsline,   DWT->CPICNT,    DWT->EXCCNT,
        DWT->SLEEPCNT,   DWT->LSUCNT,      DWT->FOLDCNT};
    for (size_t i = 0; i < kCounters; ++i) {
        values[i] = all[i];
    }
}

void count_events(const uint32_t *, size_t, board::Facts &) {}

void stop_counters() {
    ns_cache_config_t config = {false};
    ns_cache_profiler_init(&config);
    DWT->CTRL = DWT->CTRL & ~kDwtCounters;
}

void resume_counters() {
    ns_cache_config_t config = {true};
    ns_cache_profiler_init(&config);
    ITM->TCR = ITM->TCR & ~ITM_TCR_DWTENA_Msk;  // no packet for every counter that wraps
    DWT->CTRL = DWT->CTRL | kDwtCounters;
}

}  // namespace autodeploy::ambiq

#endif
