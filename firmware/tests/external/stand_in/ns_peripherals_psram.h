#pragma once

#include <stdint.h>

/** What external.cc needs of neuralSPOT's PSRAM, under its names. */
enum { NS_STATUS_SUCCESS = 0 };
typedef struct {
    int version;
} ns_core_api_t;
typedef enum { PSRAM_TYPE_HEX, PSRAM_TYPE_OCT } psram_type_e;

typedef struct {
    const ns_core_api_t *api;
    bool psram_enable;
    psram_type_e psram_type;
    uint8_t psram_block;
    uint32_t psram_size;
    uint32_t psram_base_address;
} ns_psram_config_t;

extern const ns_core_api_t ns_psram_V0_0_1;
uint32_t ns_psram_init(ns_psram_config_t *config);
