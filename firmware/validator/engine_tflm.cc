#include <cinttypes>
#include <new>

#include "tensorflow/lite/micro/memory_planner/linear_memory_planner.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "validator/engine.h"
#include "validator/limits.h"
#include "validator/model.h"
#include "validator/tflm_log.h"
#include "validator/tflm_tensor.h"

namespace autodeploy {
namespace {

/** TFLM does not check that its own first allocations fit; these bytes are enough for them. */
constexpr uint32_t kLeastArenaBytes = 512;

/** What plans an arena in which each tensor has a place of its own lies at the start of it. */
constexpr uint32_t kPlannerBytes = aligned(sizeof(tflite::LinearMemoryPlanner));

/** Hands TFLM's events to the layer log. */
class Profiler final : public tflite::MicroProfilerInterface {
   public:
    explicit Profiler(LayerLog &layers) : layers_(layers) {}

    uint32_t BeginEvent(const char *tag) override {
        layers_.begin(tag);
        return 0;
    }

    void EndEvent(uint32_t) override { layers_.end(); }

   private:
    LayerLog &layers_;
};

/**
 * Runs the model in TensorFlow Lite Micro's interpreter, which is made anew in every `prepare`.
 *
 * The old one is not destroyed: all that it owns lies in the arena, and what it would touch there
 * may be damaged.
 */
class TflmEngine final : public Engine {
   public:
    TflmEngine(Log &log, LayerLog &layers, Refusal &refusal)
        : log_(log), refusal_(refusal), profiler_(layers) {}

    const char *name() const override { return "tflm"; }
    bool can_keep_tensors() const override {
        return GivesTensors<tflite::MicroInterpreter>::value;
    }

    Status prepare(uint8_t *arena, uint32_t bytes, bool keep_tensors,
                   Prepared &prepared) override {
        arena_ = arena;
        arena_bytes_ = bytes;
        planner_bytes_ = keep_tensors ? kPlannerBytes : 0;
        const Status status = make_interpreter();
        if (status == Status::kOk) {
            const size_t used = planner_bytes_ + interpreter_->arena_used_bytes();
            prepared = {static_cast<uint32_t>(used),
                        static_cast<uint32_t>(interpreter_->inputs_size()),
                        static_cast<uint32_t>(interpreter_->outputs_size()),
                        main_graph()->operators()->size(),
                        static_cast<uint32_t>(kResourceVariables),
                        keep_tensors ? main_graph()->tensors()->size() : 0};
        }
        return status;
    }

    Tensor input(uint32_t index) override {
        return describe(*interpreter_->input(index), main_graph()->inputs()->Get(index));
    }

    Tensor output(uint32_t index) override {
        return describe(*interpreter_->output(index), main_graph()->outputs()->Get(index));
    }

    Tensor tensor(uint32_t index) override {
        return describe_kept(*eval_tensor(*interpreter_, index), *tflite::GetModel(kModelData),
                             index, {arena_, arena_bytes_});
    }

    Status invoke() override {
        if (interpreter_->Invoke() != kTfLiteOk) {
            return refusal_.because(Status::kInvokeFailed, "TFLM failed; its words are above");
        }
        return Status::kOk;
    }

    Bytes model() const override { return {kModelData, kModelBytes}; }

    const void *runtime() const override {
        using Create = tflite::MicroResourceVariables *(*)(tflite::MicroAllocator *, int);
        return reinterpret_cast<const void *>(
            static_cast<Create>(&tflite::MicroResourceVariables::Create));
    }

    /** TFLM's reset leaves CALL_ONCE as it is, so a model with variables is prepared anew. */
    Status reset_state(bool &outputs_kept) override {
        outputs_kept = kResourceVariables == 0;
        if (!outputs_kept) {
            return make_interpreter();
        }
        if (interpreter_->Reset() != kTfLiteOk) {
            return refusal_.because(Status::kInternalError, "TFLM cannot reset the model");
        }
        return Status::kOk;
    }

   private:
    Status make_interpreter() {
        listen_to_tflm(log_);
        const tflite::Model *model = tflite::GetModel(kModelData);
        const tflite::MicroOpResolver *resolver = make_resolver();
        if (model->version() != TFLITE_SCHEMA_VERSION || resolver == nullptr) {
            return refusal_.because(
                resolver ? Status::kBadModel : Status::kUnsupportedOperator,
                resolver ? "the model has another schema version" : "TFLM lacks an operator");
        }
        if (arena_bytes_ < planner_bytes_ + kLeastArenaBytes + variable_bytes()) {
            return too_small();
        }
        auto *allocator = make_allocator();
        auto *variables = kResourceVariables == 0 ? nullptr
                                                  : tflite::MicroResourceVariables::Create(
                                                        allocator, kResourceVariables);
        interpreter_ = new (storage_)
            tflite::MicroInterpreter(model, *resolver, allocator, variables, &profiler_);
        return interpreter_->AllocateTensors() == kTfLiteOk ? Status::kOk : why_not();
    }

    tflite::MicroAllocator *make_allocator() {
        if (planner_bytes_ == 0) {
            return tflite::MicroAllocator::Create(arena_, arena_bytes_);
        }
        auto *planner = new (arena_) tflite::LinearMemoryPlanner();
        return tflite::MicroAllocator::Create(arena_ + planner_bytes_,
                                              arena_bytes_ - planner_bytes_, planner);
    }

    Status why_not() {
        const TflmWords words = tflm_words();
        if (words.missing_operator) {
            return refusal_.because(Status::kUnsupportedOperator, "TFLM has no such operator");
        }
        if (words.memory || !words.any) {  // a library without words: most often it is the arena
            return too_small();
        }
        return refusal_.because(Status::kBadModel, "TFLM cannot prepare the model");
    }

    Status too_small() {
        return refusal_.because(Status::kNoMemory,
                                "an arena of %" PRIu32 " bytes is too small for the model%s",
                                arena_bytes_, planner_bytes_ ? " with all tensors kept" : "");
    }

    static uint32_t variable_bytes() {
        constexpr uint32_t kBytesOfOne = 32;
        return static_cast<uint32_t>(kResourceVariables) * kBytesOfOne;
    }

    static const tflite::SubGraph *main_graph() {
        return tflite::GetModel(kModelData)->subgraphs()->Get(0);
    }

    static Tensor describe(TfLiteTensor &tensor, int32_t index) {
        const auto *name = main_graph()->tensors()->Get(static_cast<uint32_t>(index))->name();
        const TfLiteIntArray &dims = *tensor.dims;
        return {{name ? name->c_str() : "", static_cast<TensorType>(tensor.type), dims.data,
                 static_cast<size_t>(dims.size), static_cast<uint32_t>(tensor.bytes),
                 tensor.params.scale, tensor.params.zero_point},
                tensor.data.uint8};
    }

    Log &log_;
    Refusal &refusal_;
    Profiler profiler_;
    uint8_t *arena_ = nullptr;
    uint32_t arena_bytes_ = 0;
    uint32_t planner_bytes_ = 0;  // 0 when tensors are not kept
    tflite::MicroInterpreter *interpreter_ = nullptr;
    alignas(tflite::MicroInterpreter) unsigned char storage_[sizeof(tflite::MicroInterpreter)];
};

}  // namespace

Engine &make_engine(Log &log, LayerLog &layers, Refusal &refusal) {
    static TflmEngine engine(log, layers, refusal);
    return engine;
}

}  // namespace autodeploy
