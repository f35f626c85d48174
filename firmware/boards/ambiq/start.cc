#include "boards/ambiq/start.h"

#include "boards/ambiq/part.h"
#include "boards/board.h"

/** Why an EVB has started. */
namespace autodeploy::ambiq {
namespace {

// Words of the system timer that outlive all resets but those of its supply: a mark, and what belongs to it. The HAL's
// am_hal_stimer_nvram_set does nothing on Apollo3 (AmbiqSuite R3.1.1).
#if defined(AM_PART_APOLLO3P)
volatile uint32_t &mark_word() { return CTIMER->SNVR0; }
volatile uint32_t &address_word() { return CTIMER->SNVR1; }
#else
volatile uint32_t &mark_word() { return STIMER->SNVR0; }
volatile uint32_t &address_word() { return STIMER->SNVR1; }
#endif
constexpr uint32_t kRequested = 0xAD10'0001;
constexpr uint32_t kCrashed = 0xAD10'0002;

ResetCause cause = ResetCause::kUnknown;
char words[] = "restarted after a crash at 0x00000000";

void mark(uint32_t what, uint32_t address) {
    mark_word() = what;
    address_word() = address;
}

void write_address(uint32_t address) {
    for (char *digit = words + sizeof words - 2; *digit != 'x'; --digit, address >>= 4) {
        *digit = "0123456789ABCDEF"[address % 16];
    }
}

bool by_software(const am_hal_reset_status_t &status) {
#if defined(AM_PART_APOLLO3P) || defined(AM_PART_APOLLO4P) || defined(AM_PART_APOLLO4L)
    return status.bSWPORStat || status.bSWPOIStat || status.bDBGRStat;  // AIRCR counts as the first
#else
    return status.bSWPORStat || status.bSWPOIStat || status.bDBGRStat || status.bAIRCRStat;
#endif
}

bool by_power(const am_hal_reset_status_t &status) {
#if defined(AM_PART_APOLLO3P) || defined(AM_PART_APOLLO4P) || defined(AM_PART_APOLLO4L)
    return status.bPORStat;
#else
    return status.bPOAStat;
#endif
}

/** Several may be told at once: the rarest counts. */
ResetCause cause_of_chip() {
    am_hal_reset_status_t status = {};
    if (am_hal_reset_status_get(&status) != AM_HAL_STATUS_SUCCESS) {
        return ResetCause::kUnknown;
    }
    return status.bWDTStat       ? ResetCause::kWatchdog
           : status.bBODStat     ? ResetCause::kBrownOut
           : by_software(status) ? ResetCause::kRequested
           : status.bEXTStat     ? ResetCause::kPin
           : by_power(status)    ? ResetCause::kPowerOn
                                 : ResetCause::kUnknown;
}

}  // namespace

void note_start() {
    const uint32_t before = mark_word();
    cause = before == kCrashed     ? ResetCause::kFault
            : before == kRequested ? ResetCause::kRequested
                                   : cause_of_chip();
    write_address(address_word());
    mark(0, 0);
}

void restart_as_asked() {
    mark(kRequested, 0);
    NVIC_SystemReset();
}

void restart_after_crash(uint32_t program_counter) {
    mark(kCrashed, program_counter);
    NVIC_SystemReset();
}

}  // namespace autodeploy::ambiq

namespace autodeploy::board {

ResetCause reset_cause() { return ambiq::cause; }

const char *restart_words() {
    return ambiq::cause == ResetCause::kFault ? ambiq::words : nullptr;
}

}  // namespace autodeploy::board
