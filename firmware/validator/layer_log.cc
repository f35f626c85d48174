#include "validator/layer_log.h"

namespace autodeploy {

void LayerLog::clear() {
    count_ = 0;
    depth_ = 0;
}

void LayerLog::begin(const char *tag) {
    if (paused_) {
        return;
    }
    if (depth_++ > 0 || count_ == config::kMaxLayers) {
        return;
    }
    Layer &layer = layers_[count_];
    layer.tag = tag;
    board::read_counters(layer.counters);
    began_ = board::ticks();
}

void LayerLog::end() {
    if (paused_) {
        return;
    }
    const uint64_t ended = board::ticks();
    if (--depth_ > 0 || count_ == config::kMaxLayers) {
        return;
    }
    uint32_t counters[board::kMaxCounters];
    board::read_counters(counters);
    Layer &layer = layers_[count_++];
    layer.ticks = ended - began_;
    const board::Facts &facts = board::facts();
    for (size_t i = 0; i < facts.counter_count; ++i) {
        const bool byte = i >= facts.counter_count - facts.byte_counters;
        layer.counters[i] = (counters[i] - layer.counters[i]) & (byte ? 0xFF : UINT32_MAX);
    }
}

LayerRecord LayerLog::record(uint32_t index) const {
    const Layer &layer = layers_[index];
    return {layer.tag, layer.ticks, layer.counters, board::facts().counter_count};
}

}  // namespace autodeploy
