#include <cstddef>
#include <cstdint>
#include <cstring>

#include "boards/cortex_m/registers.h"

extern "C" {

extern uint32_t stack_end[], stack_start[];
extern uint8_t data_start[], data_end[], data_load[], bss_start[], bss_end[];

int main();
void __libc_init_array();
void systick_handler();
void fault_handler();

void _init() {}
void *__dso_handle = nullptr;

/** Not inlined: its code may use registers that the caller has to enable. */
__attribute__((noinline, noreturn)) static void start_program() {
    std::memcpy(data_start, data_load, static_cast<size_t>(data_end - data_start));
    std::memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
    __libc_init_array();
    main();
    while (true) {
    }
}

__attribute__((noreturn)) void reset_handler() {
    using namespace autodeploy::cortex_m;
    constexpr uint32_t kFloatAndVector = 0xF << 20;
    reg(kCoprocessorAccess) = reg(kCoprocessorAccess) | kFloatAndVector;
#if __ARM_ARCH >= 8
    constexpr uint32_t kLowOverheadBranches = 1 << 19;
    reg(kConfigurationControl) = reg(kConfigurationControl) | kLowOverheadBranches;
    asm volatile("msr msplim, %0" ::"r"(stack_start));
#endif
    asm volatile("dsb\n isb" ::: "memory");
    start_program();
}

using Handler = void (*)();

struct VectorTable {
    const uint32_t *stack;
    Handler handlers[15];
};

__attribute__((section(".vectors"), used)) const VectorTable vector_table = {
    stack_end,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
     fault_handler, fault_handler, systick_handler}};
}
