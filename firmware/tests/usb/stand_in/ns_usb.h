#pragma once

#include <stdbool.h>
#include <stdint.h>

/** What link_usb.cc and the class driver need of neuralSPOT's ns-usb, under its names. */
#ifdef __cplusplus
extern "C" {
#endif

typedef void *usb_handle_t;
typedef struct {
    int version;
} ns_core_api_t;
typedef enum { NS_USB_CDC_DEVICE } ns_usb_device_type_e;

typedef struct __attribute__((packed)) {
    uint8_t bLength;
    uint8_t bDescriptorType;
    uint8_t bScheme;
    char url[100];
} ns_tusb_desc_webusb_url_t;

typedef struct {
    const ns_core_api_t *api;
    ns_usb_device_type_e deviceType;
    void *rx_buffer;
    uint16_t rx_bufferLength;
    void *tx_buffer;
    uint16_t tx_bufferLength;
    void (*rx_cb)(void *);
    void (*tx_cb)(void *);
    void (*service_cb)(uint8_t);
    ns_tusb_desc_webusb_url_t *desc_url;
} ns_usb_config_t;

extern const ns_core_api_t ns_usb_V1_0_0;
extern uint8_t *ns_usb_get_rx_buffer(void);
extern uint8_t *ns_usb_get_tx_buffer(void);
extern uint32_t ns_get_cdc_rx_bufferLength(void);
extern uint32_t ns_get_cdc_tx_bufferLength(void);
extern ns_tusb_desc_webusb_url_t *ns_get_desc_url(void);
extern uint32_t ns_usb_init(ns_usb_config_t *config, usb_handle_t *handle);

#ifdef __cplusplus
}
#endif
