#include "controller.h"
#include "tusb.h"

#include "device/usbd_pvt.h"

/** Joins a controller of ours and the class driver of an SDK, of whichever version of TinyUSB. */
#if TUSB_VERSION_MINOR >= 18
typedef uint32_t TransferBytes;
#else
typedef uint16_t TransferBytes;
#endif

static bool mounted;
static const uint8_t kDescriptor[] = {TUD_CDC_DESCRIPTOR(0, 0, 0x81, 8, kOut, kIn, 512)};

static void request(uint8_t number, uint16_t value) {
    tusb_control_request_t asked = {0};
    asked.bmRequestType_bit.type = TUSB_REQ_TYPE_CLASS;
    asked.bRequest = number;
    asked.wValue = value;
    cdcd_control_xfer_cb(0, CONTROL_STAGE_SETUP, &asked);
    cdcd_control_xfer_cb(0, CONTROL_STAGE_ACK, &asked);
}

void class_start(void) { cdcd_init(); }

void class_open(void) {
    mounted = true;
    cdcd_reset(0);
    const uint8_t *interface = kDescriptor + 8;  // behind the association
    cdcd_open(0, (const tusb_desc_interface_t *)interface, sizeof kDescriptor - 8);
}

void class_line_state(bool ready) { request(CDC_REQUEST_SET_CONTROL_LINE_STATE, ready ? 3 : 0); }

void class_done(uint8_t endpoint, uint32_t bytes) {
    cdcd_xfer_cb(0, endpoint, XFER_RESULT_SUCCESS, bytes);
}

bool tud_mounted(void) { return mounted; }
bool tud_suspended(void) { return false; }
bool tud_inited(void) { return true; }
bool usbd_edpt_claim(uint8_t port, uint8_t endpoint) { return port == 0 && controller_claim(endpoint); }
bool usbd_edpt_busy(uint8_t port, uint8_t endpoint) { return port != 0 || controller_claimed(endpoint); }
bool usbd_edpt_open(uint8_t port, tusb_desc_endpoint_t const *endpoint) { return port == 0 && endpoint; }
bool tud_control_xfer(uint8_t port, tusb_control_request_t const *asked, void *data, uint16_t bytes) {
    return port == 0 && asked && data && bytes;
}
bool tud_control_status(uint8_t port, tusb_control_request_t const *asked) { return port == 0 && asked; }

bool usbd_edpt_release(uint8_t port, uint8_t endpoint) {
    controller_release(endpoint);
    return port == 0;
}

bool usbd_edpt_xfer(uint8_t port, uint8_t endpoint, uint8_t *data, TransferBytes bytes) {
    controller_arm(endpoint, data, bytes);
    return port == 0;
}

bool usbd_open_edpt_pair(uint8_t port, uint8_t const *descriptor, uint8_t count, uint8_t type, uint8_t *out,
                         uint8_t *in) {
    *out = kOut;
    *in = kIn;
    return port == 0 && descriptor && count == 2 && type == TUSB_XFER_BULK;
}
