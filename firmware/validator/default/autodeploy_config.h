#pragma once

#include <cstdint>

#define AUTODEPLOY_ARENA_PLACE
#define AUTODEPLOY_INPUT_PLACE
#define AUTODEPLOY_MODEL_PLACE

namespace autodeploy::config {

constexpr char kBoardName[] = AUTODEPLOY_BOARD;
constexpr char kBuildId[] = "default";
constexpr uint8_t kModelSha256[32] = {'e', 'c', 'h', 'o'};
constexpr char kEngineVersion[] = "1";

constexpr uint32_t kArenaBytes = 2 * ((1 << 20) + 48);
constexpr uint32_t kArenaMaxBytes = kArenaBytes + 1024;
constexpr uint32_t kInputBytes = (1 << 20) + 48;
constexpr uint32_t kMaxLayers = 2;
constexpr uint32_t kUploadBytes = 0;

constexpr uint32_t kMaxMessageBytes = 16 * 1024;
constexpr uint32_t kWindowBytes = 64 * 1024;
constexpr uint32_t kLogBytes = 8 * 1024;

}  // namespace autodeploy::config
