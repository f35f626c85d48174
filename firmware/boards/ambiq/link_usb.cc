#include "autodeploy_config.h"

#ifdef AUTODEPLOY_LINK_USB

#include "boards/ambiq/link.h"
#include "boards/board.h"
#include "ns_ambiqsuite_harness.h"
#include "ns_usb.h"
#include "tusb.h"

namespace autodeploy::ambiq {
namespace {

/** TinyUSB runs in an interrupt of neuralSPOT's, which its buffers have to be protected from. */
class WithoutInterrupts {
   public:
    WithoutInterrupts() { am_hal_interrupt_master_disable(); }
    ~WithoutInterrupts() { am_hal_interrupt_master_enable(); }
};

// TinyUSB's FIFOs are these buffers. It hears the host only while a whole transfer fits the first.
uint8_t received[2048];
uint8_t to_send[4096];
static_assert(sizeof received >= 2 * CFG_TUD_CDC_EP_BUFSIZE, "no transfer while another waits");

/** The page of the device, which neuralSPOT reads when a browser asks for it: none, scheme 255. */
ns_tusb_desc_webusb_url_t no_page = {3, 3, 255, ""};

}  // namespace

void init_link() {
    static usb_handle_t handle;
    ns_usb_config_t config = {};
    config.api = &ns_usb_V1_0_0;
    config.deviceType = NS_USB_CDC_DEVICE;
    config.rx_buffer = received;
    config.rx_bufferLength = sizeof received;
    config.tx_buffer = to_send;
    config.tx_bufferLength = sizeof to_send;
    config.desc_url = &no_page;
    ns_usb_init(&config, &handle);
}

size_t read_link(uint8_t *to, size_t size) {
    const WithoutInterrupts guard;
    return tud_cdc_available() > 0 ? tud_cdc_read(to, static_cast<uint32_t>(size)) : 0;
}

/** Only what has room: until a host has opened the port, TinyUSB overwrites what is oldest. */
size_t write_link(const uint8_t *from, size_t size) {
    const WithoutInterrupts guard;
    const uint32_t room = tud_cdc_write_available();
    const uint32_t written = tud_cdc_write(from, size < room ? static_cast<uint32_t>(size) : room);
    tud_cdc_write_flush();
    return written;
}

bool link_sends() {
    const WithoutInterrupts guard;
    tud_cdc_write_flush();
    return tud_cdc_write_available() < sizeof to_send;
}

/**
 * neuralSPOT serves USB from this timer, which it starts for 1 ms but counts at 6 MHz: some 36,000 times a second
 * (ns_timer_ap4.c divides the microseconds by 6). The port stays attached: the controller itself answers a host that
 * asks for data, or sends some, with "not now".
 */
void silence_link(bool silent) {
    const auto set = silent ? NVIC_DisableIRQ : NVIC_EnableIRQ;
    set(TIMER3_IRQn);
    set(USB0_IRQn);
}

void power_link(bool on) { silence_link(!on); }

}  // namespace autodeploy::ambiq

namespace autodeploy::board {

/** Serving USB would be part of every timed inference. What came meanwhile is served at the end. */
void begin_quiet() { ambiq::silence_link(true); }
void end_quiet() { ambiq::silence_link(false); }

}  // namespace autodeploy::board

#endif
