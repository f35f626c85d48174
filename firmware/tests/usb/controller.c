#include "controller.h"

#include <string.h>

#include "ns_ambiqsuite_harness.h"
#include "ns_usb.h"

typedef struct {
    bool claimed;
    uint8_t *data;
    uint32_t size, done;
    bool finished;  // and the class driver does not know it yet
} Endpoint;

const ns_core_api_t ns_usb_V1_0_0 = {1};
int interrupts_masked, interrupt_enabled[kInterrupts];
int services;
static ns_usb_config_t config;
static Endpoint out, in;

static Endpoint *which(uint8_t endpoint) { return endpoint == kOut ? &out : &in; }

uint8_t *ns_usb_get_rx_buffer(void) { return (uint8_t *)config.rx_buffer; }
uint8_t *ns_usb_get_tx_buffer(void) { return (uint8_t *)config.tx_buffer; }
uint32_t ns_get_cdc_rx_bufferLength(void) { return config.rx_bufferLength; }
uint32_t ns_get_cdc_tx_bufferLength(void) { return config.tx_bufferLength; }
ns_tusb_desc_webusb_url_t *ns_get_desc_url(void) { return config.desc_url; }

uint32_t ns_usb_init(ns_usb_config_t *wanted, usb_handle_t *handle) {
    config = *wanted;
    *handle = &config;
    interrupt_enabled[TIMER3_IRQn] = interrupt_enabled[USB0_IRQn] = 1;
    class_start();
    return 0;
}

bool controller_claimed(uint8_t endpoint) { return which(endpoint)->claimed; }

bool controller_claim(uint8_t endpoint) {
    const bool free = !which(endpoint)->claimed;
    which(endpoint)->claimed = true;
    return free;
}

void controller_release(uint8_t endpoint) { which(endpoint)->claimed = false; }

void controller_arm(uint8_t endpoint, uint8_t *data, uint32_t bytes) {
    *which(endpoint) = (Endpoint){true, data, bytes, 0, false};
}

static void tell(uint8_t endpoint) {
    const uint32_t done = which(endpoint)->done;
    if (which(endpoint)->finished) {
        *which(endpoint) = (Endpoint){0};
        class_done(endpoint, done);
    }
}

/** The class driver hears of transfers only while it is served, which takes both interrupts. */
void controller_interrupt(void) {
    if (interrupt_enabled[TIMER3_IRQn] && interrupt_enabled[USB0_IRQn]) {
        ++services;
        tell(kOut);
        tell(kIn);
    }
}

void timer_ticks(int count) {
    for (; count > 0; --count) {
        controller_interrupt();
    }
}

static void finish(uint8_t endpoint) {
    which(endpoint)->finished = true;
    controller_interrupt();
}

/** A transfer ends when it is full, or with a packet that is shorter than the others. */
size_t host_send(const uint8_t *data, size_t size) {
    const size_t packet = size < kPacketBytes ? size : kPacketBytes;
    if (out.data == NULL || out.finished) {
        return 0;
    }
    memcpy(out.data + out.done, data, packet);
    out.done += (uint32_t)packet;
    if (packet < kPacketBytes || out.done == out.size) {
        finish(kOut);
    }
    return packet;
}

size_t host_fetch(uint8_t *data) {
    if (!in.claimed || in.finished) {
        return 0;
    }
    const uint32_t left = in.size - in.done, packet = left < kPacketBytes ? left : kPacketBytes;
    if (packet > 0) {
        memcpy(data, in.data + in.done, packet);
    }
    in.done += packet;
    if (in.done == in.size) {
        finish(kIn);
    }
    return packet;
}
