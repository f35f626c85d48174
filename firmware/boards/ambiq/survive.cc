#include "boards/ambiq/survive.h"

#include <csetjmp>

#include "boards/ambiq/part.h"
#include "boards/ambiq/start.h"
#include "boards/board.h"

namespace autodeploy::ambiq {
namespace {

constexpr uint32_t kThumbState = 1u << 24;
constexpr uintptr_t kDeepest = 32 * 1024;  // more than any stack of these boards

struct StackedRegisters {
    uint32_t r0, r1, r2, r3, r12, link_register, program_counter, program_status;
};

std::jmp_buf way_back;
volatile uintptr_t way_back_stack;  // 0: there is no way back

[[noreturn]] void go_back() { std::longjmp(way_back, 1); }

/** Whether the fault came with a stack that is still one, below that of `survive`. */
bool can_go_back(const StackedRegisters *stacked) {
    const auto at = reinterpret_cast<uintptr_t>(stacked);
    return at < way_back_stack && way_back_stack - at < kDeepest;
}

/** Not when the stack itself had overflowed. */
bool stacked_is_ram(const StackedRegisters *stacked) {
    const char *memory = board::memory_of(stacked);
    return memory[0] == 'D' || memory[0] == 'S';
}

}  // namespace

void guard_null_pointers() {
#if defined(MPU_RASR_ENABLE_Msk)
    constexpr uint32_t k4Kilobytes = 11;
    MPU->RNR = 0;
    MPU->RBAR = 0;
    MPU->RASR = MPU_RASR_XN_Msk | k4Kilobytes << MPU_RASR_SIZE_Pos | MPU_RASR_ENABLE_Msk;
#else
    constexpr uint32_t kReadOnly = 3u << 1;
    constexpr uint32_t kUncached = 0x44;
    if (MPU->CTRL & MPU_CTRL_ENABLE_Msk) {
        return;  // the SDK has regions of its own, which may not overlap
    }
    MPU->MAIR0 = kUncached;
    MPU->RNR = 0;
    MPU->RBAR = kReadOnly;
    MPU->RLAR = (4096u - 32u) | MPU_RLAR_EN_Msk;
#endif
    MPU->CTRL = MPU_CTRL_PRIVDEFENA_Msk | MPU_CTRL_ENABLE_Msk;
    __DSB();
    __ISB();
}

/** Instead of neuralSPOT's endless loop; all faults of these boards end here. */
extern "C" __attribute__((used)) void autodeploy_handle_fault(StackedRegisters *stacked) {
    if (!can_go_back(stacked)) {
        restart_after_crash(stacked_is_ram(stacked) ? stacked->program_counter : 0);
    }
    SCB->CFSR = SCB->CFSR;  // each bit is cleared by a 1
    SCB->HFSR = SCB->HFSR;
    stacked->program_counter = reinterpret_cast<uintptr_t>(&go_back) & ~uintptr_t{1};
    stacked->program_status = kThumbState;
}

extern "C" __attribute__((naked)) void HardFault_Handler() {
    asm volatile(
        "mrs r0, msp\n"
        "b autodeploy_handle_fault\n");
}

}  // namespace autodeploy::ambiq

namespace autodeploy::board {

bool survive(void (*function)(void *), void *argument) {
    using namespace ambiq;
    if (setjmp(way_back) != 0) {
        way_back_stack = 0;
        return false;
    }
    way_back_stack = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    function(argument);
    way_back_stack = 0;
    return true;
}

}  // namespace autodeploy::board
