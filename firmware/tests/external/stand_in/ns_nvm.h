#pragma once

#include <stdint.h>

/** What external.cc needs of neuralSPOT's NVM, under its names. */
enum { NS_STATUS_SUCCESS = 0 };
typedef struct {
    int version;
} ns_core_api_t;
typedef enum { NS_NVM_IF_OCTAL_DDR, NS_NVM_IF_OCTAL_1_8_8 } ns_nvm_interface_e;
typedef enum { AM_HAL_MSPI_CLK_96MHZ = 7 } am_hal_mspi_clock_e;

typedef struct {
    const ns_core_api_t *api;
    bool enable;
    bool enable_xip;
    uint8_t mspi_module;
    uint8_t chip_select;
    ns_nvm_interface_e iface;
    am_hal_mspi_clock_e clock_freq;
    uint32_t xip_base_address;
} ns_nvm_config_t;

extern const ns_core_api_t ns_nvm_current_version;
uint32_t ns_nvm_init(ns_nvm_config_t *config);
uint32_t ns_nvm_write(uint32_t address, const uint8_t *from, uint32_t bytes, bool wait);
uint32_t ns_nvm_sector_erase(uint32_t address);
uint32_t ns_nvm_enable_xip(void);
uint32_t ns_nvm_disable_xip(void);
