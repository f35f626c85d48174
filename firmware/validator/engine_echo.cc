#include "validator/engine_echo.h"

#include <cinttypes>
#include <cstring>

#include "autodeploy_echo.h"
#include "validator/engine.h"
#include "validator/limits.h"

namespace autodeploy {
namespace {

constexpr uint32_t kTensors = sizeof config::kEchoTensors / sizeof config::kEchoTensors[0];
static_assert(config::kMaxLayers >= kTensors);

uint32_t element_bytes(TensorType type) {
    switch (type) {
        case TensorType::kFloat32:
        case TensorType::kInt32:
            return 4;
        case TensorType::kInt16:
            return 2;
        case TensorType::kInt8:
        case TensorType::kUint8:
            return 1;
    }
    return 0;
}

uint32_t bytes_of(const EchoTensor &tensor) {
    uint32_t bytes = element_bytes(tensor.type);
    for (size_t i = 0; i < tensor.rank; ++i) {
        bytes *= static_cast<uint32_t>(tensor.shape[i]);
    }
    return bytes;
}

/** Copies its inputs to its outputs, which stand behind each other in the arena. */
class EchoEngine final : public Engine {
   public:
    EchoEngine(LayerLog &layers, Refusal &refusal) : layers_(layers), refusal_(refusal) {}

    const char *name() const override { return "echo"; }
    bool can_keep_tensors() const override { return true; }

    Status prepare(uint8_t *arena, uint32_t bytes, bool keep_tensors,
                   Prepared &prepared) override {
        const uint32_t used = 2 * offset_of(kTensors);
        if (used > bytes) {
            return refusal_.because(Status::kNoMemory,
                                    "an arena of %" PRIu32 " bytes is too small; %" PRIu32
                                    " are needed",
                                    bytes, used);
        }
        arena_ = arena;
        std::memset(arena, 0, used);
        prepared = {used, kTensors, kTensors, kTensors, 0, keep_tensors ? 2 * kTensors : 0};
        return Status::kOk;
    }

    Tensor input(uint32_t index) override { return echo(index, arena_); }
    Tensor output(uint32_t index) override { return echo(index, arena_ + offset_of(kTensors)); }

    /** The inputs, then the outputs: each has a place of its own, so all are kept at no cost. */
    Tensor tensor(uint32_t index) override {
        return index < kTensors ? input(index) : output(index - kTensors);
    }

    Status invoke() override {
        for (uint32_t i = 0; i < kTensors; ++i) {
            layers_.begin("ECHO");
            std::memcpy(output(i).data, input(i).data, input(i).info.bytes);
            layers_.end();
        }
        return Status::kOk;
    }

    const void *runtime() const override {
        return reinterpret_cast<const void *>(&make_engine);
    }

    Status reset_state(bool &outputs_kept) override {
        outputs_kept = true;
        return Status::kOk;
    }

   private:
    static uint32_t offset_of(uint32_t index) {
        uint32_t offset = 0;
        for (uint32_t i = 0; i < index; ++i) {
            offset += aligned(bytes_of(config::kEchoTensors[i]));
        }
        return offset;
    }

    static Tensor echo(uint32_t index, uint8_t *start) {
        const EchoTensor &tensor = config::kEchoTensors[index];
        return {{tensor.name, tensor.type, tensor.shape, tensor.rank, bytes_of(tensor),
                 tensor.scale, tensor.zero_point},
                start + offset_of(index)};
    }

    LayerLog &layers_;
    Refusal &refusal_;
    uint8_t *arena_ = nullptr;
};

}  // namespace

Engine &make_engine(Log &, LayerLog &layers, Refusal &refusal) {
    static EchoEngine engine(layers, refusal);
    return engine;
}

}  // namespace autodeploy
