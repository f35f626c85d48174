#include "boards/board.h"

#include "boards/cortex_m/cmsdk_uart.h"
#include "boards/cortex_m/fault.h"
#include "boards/cortex_m/mailbox.h"
#include "boards/cortex_m/protection.h"
#include "boards/cortex_m/registers.h"
#include "boards/cortex_m/systick.h"
#include "memory_map.h"

/** A Cortex-M machine of QEMU. */
namespace autodeploy::board {
namespace {

constexpr Facts kFacts = {BoardKind::kEmulated, memory_map::kCore, 0,
                          {0, memory_map::kClockHz},  nullptr, 0, 0, 0};
constexpr uint32_t kTicksPerMs = memory_map::kClockHz / 1000;
constexpr uint32_t kLongestWaitMs = cortex_m::kLongestPeriod / kTicksPerMs;
cortex_m::CmsdkUart uart(memory_map::kUart, memory_map::kUartReceiveInterrupt);

cortex_m::Mailbox &mailbox() {
    return *reinterpret_cast<cortex_m::Mailbox *>(memory_map::kMailbox);
}

/** Takes the bytes that say that there is something in the mailbox. */
void hear_bells() {
    uint8_t bells[32];
    while (uart.read(bells, sizeof bells) > 0) {
    }
}

}  // namespace

void init() {
    cortex_m::protect_memory();
    uart.init();
    cortex_m::restart_systick(cortex_m::kLongestPeriod);
}

void open_memory() { cortex_m::open_model(true); }

void settle_memory() { cortex_m::open_model(false); }

const Facts &facts() { return kFacts; }

const char *restart_words() { return cortex_m::fault_words(); }

bool survive(void (*function)(void *), void *argument) {
    return cortex_m::survive_fault(function, argument);
}

size_t read(uint8_t *to, size_t size) {
    if (!mailbox().present()) {
        return uart.read(to, size);
    }
    hear_bells();
    return mailbox().read(to, size);
}

size_t write(const uint8_t *from, size_t size) {
    if (!mailbox().present()) {
        return uart.write(from, size);
    }
    const size_t written = mailbox().write(from, size);
    if (written > 0) {
        constexpr uint8_t kBell = 0;
        uart.write(&kBell, 1);
    }
    return written;
}

void wait(uint32_t ms) {
    ms = ms < kLongestWaitMs ? ms : kLongestWaitMs;
    cortex_m::restart_systick(ms * kTicksPerMs + 1);
    cortex_m::disable_interrupts();
    uart.sleep();
    cortex_m::enable_interrupts();
    cortex_m::restart_systick(cortex_m::kLongestPeriod);
}

uint32_t milliseconds() { return static_cast<uint32_t>(ticks() / kTicksPerMs); }

uint64_t ticks() { return cortex_m::systick(); }
uint32_t tick_hz() { return memory_map::kClockHz; }

/** Always the same phase, so that the same instructions take the same number of ticks. */
void begin_inference() { cortex_m::restart_systick(cortex_m::kLongestPeriod); }

void read_counters(uint32_t *) {}
void count_events(const uint32_t *, size_t) {}

void set_lines(bool, bool) {}
bool await_trigger(bool, uint32_t) { return false; }
void rest_link() {}
void resume_link() {}

ClockMode clock() { return ClockMode::kHighPerformance; }
bool set_clock(ClockMode mode) { return mode == clock(); }

const char *memory_of(const void *address) {
    for (const memory_map::Memory &memory : memory_map::kMemories) {
        if (reinterpret_cast<uintptr_t>(address) - memory.start < memory.bytes) {
            return memory.name;
        }
    }
    return "";
}

ResetCause reset_cause() { return cortex_m::reset_cause(); }

void reboot() {
    while (uart.sending()) {
    }
    cortex_m::reset_on_request();
}

}  // namespace autodeploy::board
