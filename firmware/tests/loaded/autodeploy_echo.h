#pragma once

#include "validator/engine_echo.h"

namespace autodeploy::config {

constexpr EchoTensor kEchoTensors[] = {
    {"picture", TensorType::kInt8, {1, 64, 64}, 3, 0.5f, -3},
    {"vector", TensorType::kFloat32, {1, 10}, 2, 0.0f, 0},
    {"number", TensorType::kInt16, {}, 0, 0.25f, 0},
};

}  // namespace autodeploy::config
