#pragma once

#include "validator/engine_echo.h"

namespace autodeploy::config {

constexpr EchoTensor kEchoTensors[] = {
    {"picture", TensorType::kInt8, {1, 1024, 1024}, 3, 0.0078125f, -1},
    {"vector", TensorType::kFloat32, {1, 10}, 2, 0.0f, 0},
};

}  // namespace autodeploy::config
