#pragma once

#include <cstdint>

/** The registers of the Armv7-M and Armv8-M system that the boards use. */
namespace autodeploy::cortex_m {

inline volatile uint32_t &reg(uintptr_t address) {
    return *reinterpret_cast<volatile uint32_t *>(address);
}

constexpr uintptr_t kSysTickControl = 0xE000E010;
constexpr uintptr_t kSysTickReload = 0xE000E014;
constexpr uintptr_t kSysTickValue = 0xE000E018;
constexpr uintptr_t kInterruptEnable = 0xE000E100;
constexpr uintptr_t kInterruptClearPending = 0xE000E280;
constexpr uintptr_t kInterruptControl = 0xE000ED04;
constexpr uintptr_t kResetControl = 0xE000ED0C;
constexpr uintptr_t kConfigurationControl = 0xE000ED14;
constexpr uintptr_t kFaultStatus = 0xE000ED28;
constexpr uintptr_t kMemoryFaultAddress = 0xE000ED34;
constexpr uintptr_t kBusFaultAddress = 0xE000ED38;
constexpr uintptr_t kCoprocessorAccess = 0xE000ED88;

inline void disable_interrupts() { asm volatile("cpsid i" ::: "memory"); }
inline void enable_interrupts() { asm volatile("cpsie i" ::: "memory"); }
inline void wait_for_interrupt() { asm volatile("dsb\n wfi\n isb" ::: "memory"); }

[[noreturn]] inline void reset_system() {
    constexpr uint32_t kKey = 0x05FA'0000;
    constexpr uint32_t kSystemReset = 1 << 2;
    asm volatile("dsb" ::: "memory");
    reg(kResetControl) = kKey | kSystemReset;
    asm volatile("dsb" ::: "memory");
    while (true) {
    }
}

}  // namespace autodeploy::cortex_m
