#pragma once

#include <stdbool.h>
#include <stdint.h>

/** TinyUSB's serial port, as AmbiqSuite builds it for high speed. */
#define CFG_TUD_CDC_RX_BUFSIZE 2048
#define CFG_TUD_CDC_TX_BUFSIZE 2048
#define CFG_TUD_CDC_EP_BUFSIZE 1024

#ifdef __cplusplus
extern "C" {
#endif

uint32_t tud_cdc_available(void);
uint32_t tud_cdc_read(void *to, uint32_t size);
uint32_t tud_cdc_write(const void *from, uint32_t size);
uint32_t tud_cdc_write_flush(void);
uint32_t tud_cdc_write_available(void);

#ifdef __cplusplus
}
#endif
