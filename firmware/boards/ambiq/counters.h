#pragma once

#include <cstddef>
#include <cstdint>

/** The cache monitor of a Cortex-M4, four events of the PMU of a Cortex-M55. */
namespace autodeploy::ambiq {

extern const char *const kCounterNames[];
extern const size_t kCounters;

void init_counters();
void read_counters(uint32_t *values);

}  // namespace autodeploy::ambiq
