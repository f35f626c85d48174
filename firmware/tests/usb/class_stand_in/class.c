#include <string.h>

#include "controller.h"
#include "ns_usb.h"
#include "tusb.h"

/**
 * What AmbiqSuite's changed class driver promises, and no more:
 *
 * - its FIFOs are the buffers that neuralSPOT was given, in their sizes;
 * - the endpoint to the board is armed only while a whole transfer fits its FIFO;
 * - until a host has opened the port, what is written beyond the room overwrites what is oldest.
 */
typedef struct {
    uint8_t *data;
    uint32_t size, first, count;
} Fifo;

static Fifo from_host, to_host;
static uint8_t out_transfer[CFG_TUD_CDC_EP_BUFSIZE], in_transfer[CFG_TUD_CDC_EP_BUFSIZE];
static bool opened, overwrites;

static uint32_t room(const Fifo *fifo) { return fifo->size - fifo->count; }

static void put(Fifo *fifo, uint8_t byte) {
    if (room(fifo) == 0) {
        fifo->first = (fifo->first + 1) % fifo->size;
        --fifo->count;
    }
    fifo->data[(fifo->first + fifo->count++) % fifo->size] = byte;
}

static uint32_t take(Fifo *fifo, uint8_t *to, uint32_t most) {
    uint32_t taken = 0;
    for (; taken < most && fifo->count > 0; --fifo->count) {
        to[taken++] = fifo->data[fifo->first];
        fifo->first = (fifo->first + 1) % fifo->size;
    }
    return taken;
}

static void arm_out(void) {
    if (opened && room(&from_host) >= sizeof out_transfer && controller_claim(kOut)) {
        controller_arm(kOut, out_transfer, sizeof out_transfer);
    }
}

void class_start(void) {
    from_host = (Fifo){ns_usb_get_rx_buffer(), ns_get_cdc_rx_bufferLength(), 0, 0};
    to_host = (Fifo){ns_usb_get_tx_buffer(), ns_get_cdc_tx_bufferLength(), 0, 0};
    overwrites = true;
}

void class_open(void) {
    opened = true;
    arm_out();
}

void class_line_state(bool ready) { overwrites = !ready; }

void class_done(uint8_t endpoint, uint32_t bytes) {
    if (endpoint == kIn) {
        tud_cdc_write_flush();
        return;
    }
    for (uint32_t i = 0; i < bytes; ++i) {
        put(&from_host, out_transfer[i]);
    }
    arm_out();
}

uint32_t tud_cdc_available(void) { return from_host.count; }

uint32_t tud_cdc_read(void *to, uint32_t size) {
    const uint32_t taken = take(&from_host, (uint8_t *)to, size);
    arm_out();
    return taken;
}

uint32_t tud_cdc_write(const void *from, uint32_t size) {
    const uint32_t written = overwrites || size < room(&to_host) ? size : room(&to_host);
    for (uint32_t i = 0; i < written; ++i) {
        put(&to_host, ((const uint8_t *)from)[i]);
    }
    return written;
}

uint32_t tud_cdc_write_flush(void) {
    if (!opened || to_host.count == 0 || !controller_claim(kIn)) {
        return 0;
    }
    const uint32_t count = take(&to_host, in_transfer, sizeof in_transfer);
    controller_arm(kIn, in_transfer, count);
    return count;
}

uint32_t tud_cdc_write_available(void) { return room(&to_host); }
