#pragma once

#include <stdint.h>

/** What link_usb.cc needs of neuralSPOT's harness: interrupts. One that is pending comes when it is enabled. */
#ifdef __cplusplus
extern "C" {
#endif

enum { TIMER3_IRQn, USB0_IRQn, kInterrupts };
extern int interrupts_masked;
extern int interrupt_enabled[kInterrupts];
extern void controller_interrupt(void);

static inline uint32_t am_hal_interrupt_master_disable(void) { return (uint32_t)interrupts_masked++; }
static inline uint32_t am_hal_interrupt_master_enable(void) { return (uint32_t)--interrupts_masked; }
static inline void NVIC_DisableIRQ(int number) { interrupt_enabled[number] = 0; }
static inline void NVIC_EnableIRQ(int number) {
    interrupt_enabled[number] = 1;
    controller_interrupt();
}

#ifdef __cplusplus
}
#endif
