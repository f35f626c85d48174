#include "validator/tflm_tensor.h"

#include "tensorflow/lite/micro/memory_helpers.h"

namespace autodeploy {
namespace {

const flatbuffers::Vector<uint8_t> *constant(const tflite::Model &model,
                                             const tflite::Tensor &tensor) {
    const auto *data = model.buffers()->Get(tensor.buffer())->data();
    return data && data->size() > 0 ? data : nullptr;
}

uint32_t bytes_within(Bytes arena, const TfLiteEvalTensor &tensor) {
    size_t bytes = 0;
    if (tflite::TfLiteEvalTensorByteLength(&tensor, &bytes) != kTfLiteOk) {
        return 0;
    }
    const auto begin = reinterpret_cast<uintptr_t>(arena.data);
    const auto at = reinterpret_cast<uintptr_t>(tensor.data.data);
    const bool within = at >= begin && at - begin <= arena.size;
    return within && bytes <= arena.size - (at - begin) ? static_cast<uint32_t>(bytes) : 0;
}

/** The one value of a tensor that is quantised as a whole, else 0. */
template <typename Values>
auto only(const Values *values) {
    return values && values->size() == 1 ? values->Get(0) : decltype(values->Get(0)){};
}

}  // namespace

Tensor describe_kept(const TfLiteEvalTensor &tensor, const tflite::Model &model, uint32_t index,
                     Bytes arena) {
    const tflite::Tensor &file = *model.subgraphs()->Get(0)->tensors()->Get(index);
    const auto *stored = constant(model, file);
    const auto *quantization = file.quantization();
    const float scale = quantization ? only(quantization->scale()) : 0.0f;
    const int64_t zero_point = quantization && scale > 0 ? only(quantization->zero_point()) : 0;
    return {{file.name() ? file.name()->c_str() : "", static_cast<TensorType>(tensor.type),
             tensor.dims ? tensor.dims->data : nullptr,
             tensor.dims ? static_cast<size_t>(tensor.dims->size) : 0,
             stored ? stored->size() : bytes_within(arena, tensor), scale,
             static_cast<int32_t>(zero_point)},
            tensor.data.uint8};
}

}  // namespace autodeploy
