#pragma once

#include <cstddef>

#include "tensorflow/lite/micro/micro_op_resolver.h"

/** What is generated for a model: model_data.cc and model_init.cc define these. */
namespace autodeploy {

extern const unsigned char *const kModelData;
extern const size_t kModelBytes;

/** What an image has of the model: the same, but when the board copies it to another memory at its start. */
extern const unsigned char *const kModelImage;

/** The resource variables that the model creates. */
extern const int kResourceVariables;

/** A resolver with the operators of the model; nullptr when one could not be added. */
const tflite::MicroOpResolver *make_resolver();

}  // namespace autodeploy
