#include "boards/board.h"
#include "validator/engine.h"
#include "validator/model_store.h"

/** An engine that crashes, fails or dawdles on demand, for the tests of what a board does then. */
namespace autodeploy {
namespace {

constexpr uint32_t kLeastArenaBytes = 64;
constexpr int kShape[] = {1};
constexpr TensorInfo kInfo = {"order", TensorType::kInt8, kShape, 1, 1, 0.0f, 0};

enum Order : uint8_t {
    kWork = 0,
    kReadNull = 1,
    kCallData = 2,
    kOverflowStack = 3,
    kAbort = 4,
    kDawdle = 5,
    kFail = 6,
    kSpoilModel = 7,  // one that was loaded, and crash
};
constexpr uint32_t kDawdleMs = 100;

uint8_t order;
uint32_t data_as_code[4];

__attribute__((noinline)) uint32_t overflow_stack(volatile uint32_t depth) {
    volatile uint32_t here[64] = {depth};
    return depth == UINT32_MAX ? 0 : overflow_stack(depth + 1) + here[depth % 64];
}

void dawdle() {
    const uint64_t began = board::ticks();
    const uint64_t span = uint64_t{kDawdleMs} * board::tick_hz() / 1000;
    while (board::ticks() - began < span) {
        board::wait(1);
    }
}

void obey() {
    volatile uintptr_t null = 0;
    switch (order) {
        case kSpoilModel:
            loaded_model[0] ^= 1;
            [[fallthrough]];
        case kReadNull:
            order = *reinterpret_cast<volatile uint8_t *>(null);
            break;
        case kCallData:
            reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(data_as_code) | 1)();
            break;
        case kOverflowStack:
            order = static_cast<uint8_t>(overflow_stack(0));
            break;
        case kAbort:
            __builtin_trap();
        case kDawdle:
            dawdle();
            break;
        default:
            break;
    }
}

class FaultyEngine final : public Engine {
   public:
    const char *name() const override { return "faulty"; }

    bool can_keep_tensors() const override { return false; }

    Status prepare(uint8_t *, uint32_t bytes, bool, Prepared &prepared) override {
        order = bytes < kLeastArenaBytes ? kReadNull : kWork;
        obey();
        prepared = {kLeastArenaBytes, 1, 1, 1, 0, 0};
        return Status::kOk;
    }

    Tensor input(uint32_t) override { return {kInfo, &order}; }
    Tensor output(uint32_t) override { return {kInfo, &order}; }
    Tensor tensor(uint32_t) override { return {kInfo, &order}; }

    Status invoke() override {
        obey();
        return order == kFail ? Status::kInvokeFailed : Status::kOk;
    }

    const void *runtime() const override {
        return reinterpret_cast<const void *>(&make_engine);
    }

    Status reset_state(bool &outputs_kept) override {
        outputs_kept = true;
        return Status::kOk;
    }
};

}  // namespace

Engine &make_engine(Log &, LayerLog &, Refusal &) {
    static FaultyEngine engine;
    return engine;
}

}  // namespace autodeploy
