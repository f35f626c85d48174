#pragma once

#include "boards/board.h"

/** The cache monitor and DWT of a Cortex-M4, four events of the PMU of a Cortex-M55. */
namespace autodeploy::ambiq {

/** Starts the counters and writes to the facts what there is. */
void init_counters(board::Facts &facts);
void read_counters(uint32_t *values);
void count_events(const uint32_t *events, size_t count, board::Facts &facts);

/** What the counters cost while nobody reads them is nothing between these two. */
void stop_counters();
void resume_counters();

}  // namespace autodeploy::ambiq
