#include "boards/ambiq/external.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "autodeploy_config.h"
#include "boards/board.h"
#include "tests/check.h"
#if defined(AUTODEPLOY_PSRAM)
#include "am_mcu_apollo.h"
#include "ns_peripherals_psram.h"
#else
#include "ns_nvm.h"
#endif

/** The start of a memory outside of the chip, against one that works and ones that fail. */
int failures = 0;

namespace {

constexpr size_t kBytes = 300'000;  // three sectors, and no whole number of pieces
unsigned char image[kBytes];
unsigned char memory[kBytes];

bool starts = true;
uint32_t base_offset = 0;
bool keeps = true;
bool writable = true;
int erased = 0;
bool xip = false;

}  // namespace

namespace autodeploy {

extern const unsigned char *const kModelData;
extern const unsigned char *const kModelImage;
extern const size_t kModelBytes;
const unsigned char *const kModelData = memory;
const unsigned char *const kModelImage = image;
const size_t kModelBytes = kBytes;

}  // namespace autodeploy

#if defined(AUTODEPLOY_PSRAM)

const ns_core_api_t ns_psram_V0_0_1 = {1};

uint32_t ns_psram_init(ns_psram_config_t *config) {
    CHECK(config->api == &ns_psram_V0_0_1 && config->psram_enable);
    config->psram_base_address = autodeploy::config::kPsramBase + base_offset;
    return starts ? NS_STATUS_SUCCESS : 1;
}

/** A memory that keeps nothing shows so when the cache is emptied, and not before. */
void am_hal_cachectrl_dcache_invalidate(void *range, bool clean) {
    CHECK(range == nullptr && clean);
    if (!keeps) {
        std::memset(memory, 0, kBytes);
    }
}

#else

const ns_core_api_t ns_nvm_current_version = {1};

uint32_t ns_nvm_init(ns_nvm_config_t *config) {
    CHECK(config->api == &ns_nvm_current_version && config->enable && config->enable_xip);
    config->xip_base_address = autodeploy::config::kNvmBase + base_offset;
    xip = true;
    return starts ? NS_STATUS_SUCCESS : 1;
}

uint32_t ns_nvm_sector_erase(uint32_t address) {
    CHECK(!xip && address % 0x20000 == 0 && address < kBytes);
    ++erased;
    const size_t left = kBytes - address;
    std::memset(memory + address, 0xFF, left < 0x20000 ? left : 0x20000);
    return NS_STATUS_SUCCESS;
}

/** Flash: a bit that is 0 becomes 1 by erasing alone. */
uint32_t ns_nvm_write(uint32_t address, const uint8_t *from, uint32_t bytes, bool wait) {
    CHECK(!xip && wait && address + bytes <= kBytes);
    for (uint32_t i = 0; i < bytes && keeps; ++i) {
        memory[address + i] &= from[i];
    }
    return writable ? NS_STATUS_SUCCESS : 1;
}

uint32_t ns_nvm_enable_xip() {
    xip = true;
    return NS_STATUS_SUCCESS;
}

uint32_t ns_nvm_disable_xip() {
    xip = false;
    return NS_STATUS_SUCCESS;
}

#endif

namespace {

void begin() {
    for (size_t i = 0; i < kBytes; ++i) {
        image[i] = static_cast<unsigned char>(i * 7 + i / 251);
    }
    std::memset(memory, 0, kBytes);
    starts = keeps = writable = true;
    base_offset = 0;
    erased = 0;
    xip = false;
}

/** What the start says, nothing when all is well. */
const char *start() {
    autodeploy::ambiq::init_external();
    const char *why = autodeploy::board::missing_memory();
    return why ? why : "";
}

bool says(const char *word) { return std::strstr(start(), word) != nullptr; }

}  // namespace

int main() {
    begin();
    CHECK(*start() == '\0');
#if defined(AUTODEPLOY_MODEL_COPIED_TO_PSRAM) || defined(AUTODEPLOY_NVM)
    CHECK(std::memcmp(memory, image, kBytes) == 0);
#else
    std::memset(memory, 1, kBytes);  // a model that the host has loaded
    CHECK(*start() == '\0' && memory[kBytes - 1] == 1);
    keeps = false;
    autodeploy::board::settle_memory();
    CHECK(memory[0] == 0);
#endif
#if defined(AUTODEPLOY_NVM)
    CHECK(erased == 3 && xip);
    CHECK(*start() == '\0' && erased == 3);  // the flash has the model already
    image[kBytes - 1] ^= 1;
    CHECK(*start() == '\0' && erased == 6);
    begin();
    writable = false;
    CHECK(says("NVM cannot be written"));
    begin();
    keeps = false;
    CHECK(says("NVM does not keep the model"));
#elif defined(AUTODEPLOY_MODEL_COPIED_TO_PSRAM)
    begin();
    keeps = false;
    CHECK(says("PSRAM does not keep the model"));
#endif
    begin();
    starts = false;
    CHECK(says("did not start"));
    begin();
    base_offset = 0x0400'0000;
    CHECK(says("another address"));
    return failures == 0 ? 0 : 1;
}
