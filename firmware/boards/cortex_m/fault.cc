#include "boards/cortex_m/fault.h"

#include <cinttypes>
#include <csetjmp>
#include <cstdint>
#include <cstdio>

#include "boards/cortex_m/registers.h"

extern "C" uint32_t stack_start[], stack_end[];

namespace autodeploy::cortex_m {
namespace {

constexpr uint32_t kMagic = 0xFA17'ED00;
constexpr uint32_t kRequested = 0xFA17'ED01;
constexpr uint32_t kMemoryAddressValid = 1 << 7;
constexpr uint32_t kThumbState = 1 << 24;

struct StackedRegisters {
    uint32_t r0, r1, r2, r3, r12, link_register, program_counter, program_status;
};

struct Fault {
    uint32_t magic, program_counter, link_register, status, address;
};

__attribute__((section(".noinit"))) Fault kept;
char words[112];
std::jmp_buf way_back;
volatile bool has_way_back = false;
ResetCause cause = ResetCause::kPowerOn;

bool is_whole(const StackedRegisters *stacked) {
    const auto *start = reinterpret_cast<const uint32_t *>(stacked);
    return start >= stack_start && start + sizeof *stacked / sizeof *start <= stack_end;
}

uint32_t faulting_address() {
    const bool memory = reg(kFaultStatus) & kMemoryAddressValid;
    return reg(memory ? kMemoryFaultAddress : kBusFaultAddress);
}

[[noreturn]] void go_back() { std::longjmp(way_back, 1); }

}  // namespace

const char *fault_words() {
    const uint32_t magic = kept.magic;
    kept.magic = 0;
    if (magic != kMagic) {
        cause = magic == kRequested ? ResetCause::kRequested : ResetCause::kPowerOn;
        return nullptr;
    }
    cause = ResetCause::kFault;
    if (kept.program_counter == 0) {
        return "restarted after the stack had overflowed";
    }
    std::snprintf(words, sizeof words,
                  "restarted after a fault at 0x%08" PRIx32 ", called from 0x%08" PRIx32
                  ": status 0x%08" PRIx32 ", address 0x%08" PRIx32,
                  kept.program_counter, kept.link_register, kept.status, kept.address);
    return words;
}

ResetCause reset_cause() { return cause; }

void reset_on_request() {
    kept.magic = kRequested;
    reset_system();
}

bool survive_fault(void (*function)(void *), void *argument) {
    if (setjmp(way_back) != 0) {
        has_way_back = false;
        return false;
    }
    has_way_back = true;
    function(argument);
    has_way_back = false;
    return true;
}

/** Returns into `go_back`, or keeps what is known of the fault and restarts. */
extern "C" void handle_fault(StackedRegisters *stacked) {
    const bool whole = is_whole(stacked);
    if (whole && has_way_back) {
        reg(kFaultStatus) = reg(kFaultStatus);
        stacked->program_counter = reinterpret_cast<uintptr_t>(&go_back) & ~1u;
        stacked->program_status = kThumbState;
        return;
    }
    kept = {kMagic, whole ? stacked->program_counter : 0, whole ? stacked->link_register : 0,
            reg(kFaultStatus), faulting_address()};
    reset_system();
}

/** Gives the handler a good stack when the old one has overflowed. */
extern "C" __attribute__((naked)) void fault_handler() {
    asm volatile(
        "mrs r0, msp\n"
        "ldr r1, =stack_start\n"
        "cmp r0, r1\n"
        "bhi handle_fault\n"
        "ldr r1, =stack_end\n"
        "msr msp, r1\n"
        "b handle_fault\n");
}

}  // namespace autodeploy::cortex_m
