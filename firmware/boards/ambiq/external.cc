#include "boards/ambiq/external.h"

#include <cstring>

#include "autodeploy_config.h"
#include "boards/board.h"

#if defined(AUTODEPLOY_PSRAM)
#include "am_mcu_apollo.h"
#include "ns_peripherals_psram.h"
#elif defined(AUTODEPLOY_NVM)
#include "ns_nvm.h"
#endif

namespace autodeploy {

extern const unsigned char *const kModelData;
extern const unsigned char *const kModelImage;
extern const size_t kModelBytes;

}  // namespace autodeploy

namespace autodeploy::ambiq {
namespace {

const char *missing = nullptr;

#if defined(AUTODEPLOY_MODEL_COPIED_TO_PSRAM) || defined(AUTODEPLOY_NVM)
bool model_is_there() { return std::memcmp(kModelData, kModelImage, kModelBytes) == 0; }
#endif

#if defined(AUTODEPLOY_PSRAM)

/** As neuralSPOT's AutoDeploy has it: at the first MSPI, 16 bits wide. */
const char *start_psram() {
    ns_psram_config_t psram = {};
    psram.api = &ns_psram_V0_0_1;
    psram.psram_enable = true;
    psram.psram_type = PSRAM_TYPE_HEX;
    if (ns_psram_init(&psram) != NS_STATUS_SUCCESS) {
        return "PSRAM did not start";
    }
    if (psram.psram_base_address != config::kPsramBase) {
        return "PSRAM begins at another address than the image was linked for";
    }
#if defined(AUTODEPLOY_MODEL_COPIED_TO_PSRAM)
    std::memcpy(const_cast<unsigned char *>(kModelData), kModelImage, kModelBytes);
    board::settle_memory();
    if (!model_is_there()) {
        return "PSRAM does not keep the model";
    }
#endif
    return nullptr;
}

#elif defined(AUTODEPLOY_NVM)

constexpr uint32_t kSectorBytes = 128 * 1024;  // of the IS25WX064
constexpr uint32_t kPieceBytes = 4096;

/** The flash is written only when it has another model: it wears. */
bool write_model() {
    for (uint32_t at = 0; at < kModelBytes; at += kSectorBytes) {
        if (ns_nvm_sector_erase(at) != NS_STATUS_SUCCESS) {
            return false;
        }
    }
    for (uint32_t at = 0; at < kModelBytes; at += kPieceBytes) {
        const uint32_t left = static_cast<uint32_t>(kModelBytes) - at;
        const uint32_t bytes = left < kPieceBytes ? left : kPieceBytes;
        if (ns_nvm_write(at, kModelImage + at, bytes, true) != NS_STATUS_SUCCESS) {
            return false;
        }
    }
    return true;
}

/** As neuralSPOT's AutoDeploy has it: at the second MSPI, eight lines. neuralSPOT keeps the pointer to its settings. */
const char *start_nvm() {
    static ns_nvm_config_t nvm = {};
    nvm.api = &ns_nvm_current_version;
    nvm.enable = true;
    nvm.enable_xip = true;
    nvm.mspi_module = 1;
    nvm.iface = NS_NVM_IF_OCTAL_1_8_8;
    nvm.clock_freq = AM_HAL_MSPI_CLK_96MHZ;
    if (ns_nvm_init(&nvm) != NS_STATUS_SUCCESS) {
        return "NVM did not start";
    }
    if (nvm.xip_base_address != config::kNvmBase) {
        return "NVM begins at another address than the image was linked for";
    }
    if (model_is_there()) {
        return nullptr;
    }
    if (ns_nvm_disable_xip() != NS_STATUS_SUCCESS || !write_model() ||
        ns_nvm_enable_xip() != NS_STATUS_SUCCESS) {
        return "NVM cannot be written";
    }
    return model_is_there() ? nullptr : "NVM does not keep the model";
}

#endif

}  // namespace

void init_external() {
#if defined(AUTODEPLOY_PSRAM)
    missing = start_psram();
#elif defined(AUTODEPLOY_NVM)
    missing = start_nvm();
#endif
}

}  // namespace autodeploy::ambiq

namespace autodeploy::board {

const char *missing_memory() { return ambiq::missing; }

#if defined(AUTODEPLOY_PSRAM)
void settle_memory() {
    am_hal_cachectrl_dcache_invalidate(nullptr, true);  // written back first: else the cache would answer
}
#endif

}  // namespace autodeploy::board
