#pragma once

#include <stdint.h>

/** What link_usb.cc needs of neuralSPOT's harness: interrupts, of which a test has none. */
#ifdef __cplusplus
extern "C" {
#endif

enum { TIMER3_IRQn, USB0_IRQn, kInterrupts };
extern int interrupts_masked;
extern int interrupt_enabled[kInterrupts];

static inline uint32_t am_hal_interrupt_master_disable(void) { return (uint32_t)interrupts_masked++; }
static inline uint32_t am_hal_interrupt_master_enable(void) { return (uint32_t)--interrupts_masked; }
static inline void NVIC_DisableIRQ(int number) { interrupt_enabled[number] = 0; }
static inline void NVIC_EnableIRQ(int number) { interrupt_enabled[number] = 1; }

#ifdef __cplusplus
}
#endif
