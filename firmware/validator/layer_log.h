#pragma once

#include "autodeploy_config.h"
#include "boards/board.h"

namespace autodeploy {

/**
 * Ticks and counters of every layer of the latest inference.
 *
 * Operators that run inside of another one (the body of an IF or a WHILE) belong to that one.
 */
class LayerLog {
   public:
    void clear();

    /** While it is paused it keeps nothing, and costs next to nothing. */
    void pause(bool paused) { paused_ = paused; }

    /** `tag` has to live as long as the records. */
    void begin(const char *tag);
    void end();

    uint32_t count() const { return count_; }
    LayerRecord record(uint32_t index) const;

   private:
    struct Layer {
        const char *tag;
        uint64_t ticks;
        uint32_t counters[board::kMaxCounters];
    };

    Layer layers_[config::kMaxLayers] = {};
    uint32_t count_ = 0;
    uint32_t depth_ = 0;
    uint64_t began_ = 0;
    bool paused_ = false;
};

}  // namespace autodeploy
