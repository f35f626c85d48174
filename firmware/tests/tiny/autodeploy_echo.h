#pragma once

#include "validator/engine_echo.h"

namespace autodeploy::config {

constexpr EchoTensor kEchoTensors[] = {
    {"vector", TensorType::kFloat32, {1, 10}, 2, 0.0f, 0},
    {"number", TensorType::kInt16, {}, 0, 0.25f, 0},
};

}  // namespace autodeploy::config
