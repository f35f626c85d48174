#pragma once

#include <cstddef>
#include <cstdint>

namespace autodeploy::cortex_m {

/** Arm's CMSDK UART; it holds one byte in each direction. */
class CmsdkUart {
   public:
    CmsdkUart(uintptr_t base, uint32_t receive_interrupt)
        : base_(base), interrupt_(receive_interrupt) {}

    void init();
    size_t read(uint8_t *to, size_t size);
    size_t write(const uint8_t *from, size_t size);
    bool has_byte() const;
    bool sending() const;

    /** With interrupts off: sleeps until a byte or another interrupt comes. */
    void sleep();

   private:
    uintptr_t base_;
    uint32_t interrupt_;
};

}  // namespace autodeploy::cortex_m
