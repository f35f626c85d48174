#pragma once

#include "autodeploy_config.h"
#include "rpc/frame.h"

namespace autodeploy {

constexpr uint32_t kArenaAlignment = 16;

constexpr uint32_t aligned(uint32_t bytes) {
    return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/** What a reply of `invoke` adds to its list of ticks: head, total, flag, length, status. */
constexpr uint32_t kTimingEnvelopeBytes = kMessageHeadBytes + 8 + 1 + 4 + 4;

constexpr uint32_t kMostTicks =
    (config::kMaxMessageBytes - kTimingEnvelopeBytes) / sizeof(uint64_t);
constexpr uint32_t kMaxInvocations = kMostTicks < 256 ? kMostTicks : 256;

static_assert(config::kMaxMessageBytes >= 256 && config::kMaxMessageBytes <= 65535);
static_assert(config::kWindowBytes >= config::kMaxMessageBytes + kFrameHeaderBytes);
static_assert(config::kArenaBytes > 0 && config::kArenaBytes <= config::kArenaMaxBytes);
static_assert(config::kInputBytes > 0 && config::kMaxLayers > 0);

}  // namespace autodeploy
