#include "boards/cortex_m/cmsdk_uart.h"

#include "boards/cortex_m/registers.h"

namespace autodeploy::cortex_m {
namespace {

constexpr uintptr_t kData = 0x0;
constexpr uintptr_t kState = 0x4;
constexpr uintptr_t kControl = 0x8;
constexpr uintptr_t kInterrupts = 0xC;
constexpr uintptr_t kDivider = 0x10;

constexpr uint32_t kSendFull = 1;
constexpr uint32_t kReceiveFull = 2;
constexpr uint32_t kEnabled = 3;
constexpr uint32_t kReceiveInterrupt = 8;
constexpr uint32_t kAllInterrupts = 15;
constexpr uint32_t kFastest = 16;

}  // namespace

void CmsdkUart::init() {
    reg(base_ + kDivider) = kFastest;
    reg(base_ + kControl) = kEnabled;
    reg(kInterruptEnable + 4 * (interrupt_ / 32)) = 1u << interrupt_ % 32;
}

size_t CmsdkUart::read(uint8_t *to, size_t size) {
    size_t count = 0;
    while (count < size && has_byte()) {
        to[count++] = static_cast<uint8_t>(reg(base_ + kData));
    }
    return count;
}

size_t CmsdkUart::write(const uint8_t *from, size_t size) {
    size_t count = 0;
    while (count < size && !sending()) {
        reg(base_ + kData) = from[count++];
    }
    return count;
}

bool CmsdkUart::has_byte() const { return reg(base_ + kState) & kReceiveFull; }

bool CmsdkUart::sending() const { return reg(base_ + kState) & kSendFull; }

void CmsdkUart::sleep() {
    reg(base_ + kControl) = kEnabled | kReceiveInterrupt;
    if (!has_byte()) {
        wait_for_interrupt();
    }
    reg(base_ + kControl) = kEnabled;
    reg(base_ + kInterrupts) = kAllInterrupts;
    reg(kInterruptClearPending + 4 * (interrupt_ / 32)) = 1u << interrupt_ % 32;
}

}  // namespace autodeploy::cortex_m
