#pragma once

#include "rpc/messages.h"

namespace autodeploy {

/** A tensor of the echo engine: output i equals input i. */
struct EchoTensor {
    const char *name;
    TensorType type;
    int shape[4];
    size_t rank;
    float scale;
    int32_t zero_point;
};

}  // namespace autodeploy
