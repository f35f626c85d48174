#include "boards/board.h"

/** What a board need not offer: it defines those of these functions that it has more to say to. */
namespace autodeploy::board {

__attribute__((weak)) void begin_quiet() {}
__attribute__((weak)) void end_quiet() {}
__attribute__((weak)) uint32_t measured_hz() { return 0; }
__attribute__((weak)) ResetCause reset_cause() { return ResetCause::kUnknown; }
__attribute__((weak)) const char *failed_step() { return ""; }
__attribute__((weak)) const char *memory_of(const void *) { return ""; }
__attribute__((weak)) void settle_memory() {}
__attribute__((weak)) void open_memory() {}
__attribute__((weak)) const char *missing_memory() { return nullptr; }

}  // namespace autodeploy::board
