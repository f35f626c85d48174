#pragma once

#include <type_traits>
#include <utility>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "validator/engine.h"

namespace autodeploy {

/** Whether this tree of TFLM gives out the tensors that it keeps; the older ones do not. */
template <typename Interpreter, typename = void>
struct GivesTensors : std::false_type {};

template <typename Interpreter>
struct GivesTensors<Interpreter,
                    std::void_t<decltype(std::declval<Interpreter &>().GetTensor(0, 0))>>
    : std::true_type {};

/** A tensor of the main graph; nullptr from trees that do not give it. */
template <typename Interpreter>
const TfLiteEvalTensor *eval_tensor(Interpreter &interpreter, uint32_t index) {
    if constexpr (GivesTensors<Interpreter>::value) {
        return interpreter.GetTensor(static_cast<int>(index), 0);
    } else {
        return nullptr;
    }
}

/**
 * What TFLM and the model file say of a tensor of the main graph.
 *
 * Its data is what the file holds of a constant, else a place within the arena; what is neither
 * has 0 bytes.
 */
Tensor describe_kept(const TfLiteEvalTensor &tensor, const tflite::Model &model, uint32_t index,
                     Bytes arena);

}  // namespace autodeploy
