#pragma once

#include <cstdint>

#define AUTODEPLOY_ARENA_PLACE
#define AUTODEPLOY_INPUT_PLACE
#define AUTODEPLOY_MODEL_PLACE

/** An image without a model: the host loads one. */
namespace autodeploy::config {

constexpr char kBoardName[] = AUTODEPLOY_BOARD;
constexpr char kBuildId[] = "loaded";
constexpr uint8_t kModelSha256[32] = {};
constexpr char kEngineVersion[] = "1";

constexpr uint32_t kArenaBytes = 2 * (4096 + 48 + 16);
constexpr uint32_t kArenaMaxBytes = kArenaBytes + 64;
constexpr uint32_t kInputBytes = 4096 + 48 + 16;
constexpr uint32_t kMaxLayers = 24;
constexpr uint32_t kUploadBytes = 5000;

constexpr uint32_t kMaxMessageBytes = 512;
constexpr uint32_t kWindowBytes = 1100;
constexpr uint32_t kLogBytes = 1000;

}  // namespace autodeploy::config
