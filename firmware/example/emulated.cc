#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "boards/cortex_m/cmsdk_uart.h"
#include "boards/cortex_m/fault.h"
#include "boards/cortex_m/protection.h"
#include "memory_map.h"

/** Runs a generated example on a machine of QEMU, which ends with its status. */
extern "C" int example_main();

namespace {

constexpr int kFault = 70;  // EX_SOFTWARE of sysexits.h

autodeploy::cortex_m::CmsdkUart uart(autodeploy::memory_map::kUart, autodeploy::memory_map::kUartReceiveInterrupt);

/** Arm semihosting: SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit. */
[[noreturn]] void stop(int status) {
    const uint32_t reason[] = {0x20026, static_cast<uint32_t>(status)};
    register uint32_t operation asm("r0") = 0x20;
    register const uint32_t *argument asm("r1") = reason;
    asm volatile("bkpt 0xab" : : "r"(operation), "r"(argument) : "memory");
    while (true) {
    }
}

}  // namespace

extern "C" int _write(int, const char *text, int size) {
    const auto *from = reinterpret_cast<const uint8_t *>(text);
    for (size_t sent = 0; sent < static_cast<size_t>(size);) {
        sent += uart.write(from + sent, static_cast<size_t>(size) - sent);
    }
    return size;
}

int main() {
    autodeploy::cortex_m::protect_memory();
    uart.init();
    const char *words = autodeploy::cortex_m::fault_words();
    if (words) {
        std::puts(words);
    }
    stop(words ? kFault : example_main());
}
