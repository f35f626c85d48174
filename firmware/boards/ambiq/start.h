#pragma once

#include <cstdint>

/** Why an EVB starts, which the restart before leaves behind or the chip itself tells. */
namespace autodeploy::ambiq {

/** Once, when the board starts. */
void note_start();

[[noreturn]] void restart_as_asked();
[[noreturn]] void restart_after_crash(uint32_t program_counter);

}  // namespace autodeploy::ambiq
