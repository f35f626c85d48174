#include "autodeploy_config.h"

#ifdef AUTODEPLOY_LINK_UART

#include "am_bsp.h"
#include "boards/ambiq/link.h"
#include "boards/ambiq/part.h"

namespace autodeploy::ambiq {
namespace {

constexpr uint32_t kBaud = 115'200;
constexpr uint32_t kRingBytes = config::kWindowBytes + 1;
constexpr auto kInterrupt = static_cast<IRQn_Type>(UART0_IRQn + AM_BSP_UART_PRINT_INST);
constexpr uint32_t kReceiveInterrupts = AM_HAL_UART_INT_RX | AM_HAL_UART_INT_RX_TMOUT;

constexpr bool is_link(uint32_t pin) {
    return pin == AM_BSP_GPIO_COM_UART_TX || pin == AM_BSP_GPIO_COM_UART_RX;
}
static_assert(!is_link(config::kPinIn0) && !is_link(config::kPinIn1) &&
                  !is_link(config::kPinTrigger),
              "the pins of a power run are those of the UART");

// The interrupt writes at `head`, the program reads at `tail`. A full ring loses what comes then.
uint8_t ring[kRingBytes];
volatile uint32_t head;
volatile uint32_t tail;
void *handle;

UART0_Type &uart() { return *UARTn(AM_BSP_UART_PRINT_INST); }

am_hal_uart_config_t settings() {
    am_hal_uart_config_t config = {};
    config.ui32BaudRate = kBaud;
#if defined(AM_PART_APOLLO3P)
    config.ui32DataBits = AM_HAL_UART_DATA_BITS_8;
    config.ui32Parity = AM_HAL_UART_PARITY_NONE;
    config.ui32StopBits = AM_HAL_UART_ONE_STOP_BIT;
    config.ui32FlowControl = AM_HAL_UART_FLOW_CTRL_NONE;
    config.ui32FifoLevels = AM_HAL_UART_TX_FIFO_1_2 | AM_HAL_UART_RX_FIFO_1_2;
#else
    config.eDataBits = AM_HAL_UART_DATA_BITS_8;
    config.eParity = AM_HAL_UART_PARITY_NONE;
    config.eStopBits = AM_HAL_UART_ONE_STOP_BIT;
    config.eFlowControl = AM_HAL_UART_FLOW_CTRL_NONE;
    config.eTXFifoLevel = AM_HAL_UART_FIFO_LEVEL_16;
    config.eRXFifoLevel = AM_HAL_UART_FIFO_LEVEL_16;
#endif
    return config;
}

void receive() {
    uint32_t status = 0;
    am_hal_uart_interrupt_status_get(handle, &status, true);
    am_hal_uart_interrupt_clear(handle, status);
    while (!uart().FR_b.RXFE) {
        const auto byte = static_cast<uint8_t>(uart().DR);
        const uint32_t next = (head + 1) % kRingBytes;
        if (next != tail) {
            ring[head] = byte;
            head = next;
        }
    }
}

}  // namespace

void init_link() {
    const am_hal_uart_config_t config = settings();
    am_hal_uart_initialize(AM_BSP_UART_PRINT_INST, &handle);
    am_hal_uart_power_control(handle, AM_HAL_SYSCTRL_WAKE, false);
    am_hal_uart_configure(handle, &config);
    am_hal_gpio_pinconfig(AM_BSP_GPIO_COM_UART_TX, g_AM_BSP_GPIO_COM_UART_TX);
    am_hal_gpio_pinconfig(AM_BSP_GPIO_COM_UART_RX, g_AM_BSP_GPIO_COM_UART_RX);
    silence_link(false);
    am_hal_uart_interrupt_enable(handle, kReceiveInterrupts);
}

size_t read_link(uint8_t *to, size_t size) {
    size_t count = 0;
    while (count < size && tail != head) {
        to[count++] = ring[tail];
        tail = (tail + 1) % kRingBytes;
    }
    return count;
}

size_t write_link(const uint8_t *from, size_t size) {
    size_t count = 0;
    while (count < size && !uart().FR_b.TXFF) {
        uart().DR = from[count++];
    }
    return count;
}

bool link_sends() { return uart().FR_b.BUSY; }

void silence_link(bool silent) { silent ? NVIC_DisableIRQ(kInterrupt) : NVIC_EnableIRQ(kInterrupt); }

/** Its settings are kept while it is off. */
void power_link(bool on) {
    if (on) {
        am_hal_uart_power_control(handle, AM_HAL_SYSCTRL_WAKE, true);
    }
    silence_link(!on);
    if (!on) {
        am_hal_uart_power_control(handle, AM_HAL_SYSCTRL_DEEPSLEEP, true);
    }
}

extern "C" void am_uart_isr() { receive(); }
extern "C" void am_uart1_isr() { receive(); }
extern "C" void am_uart2_isr() { receive(); }

}  // namespace autodeploy::ambiq

#endif
