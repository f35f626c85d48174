#include "boards/ambiq/core.h"
#include "boards/ambiq/pins.h"
#include "boards/board.h"
#include "ns_ambiqsuite_harness.h"

/** An EVB of Ambiq as it ships: a clock and three pins, no link, no profiler, no debug units. */
namespace autodeploy::board {

void init() {
    ambiq::init_core({});
    ambiq::stop_debug_units();
    ambiq::init_pins();
    am_hal_interrupt_master_enable();
}

uint64_t ticks() { return ambiq::timer_ticks(); }

void rest_link() {}
void resume_link() {}

}  // namespace autodeploy::board
