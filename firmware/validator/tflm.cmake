# TFLM comes as a tree of headers and a static library that was built with its error strings:
# without them it neither says what is wrong nor tells the profiler about layers.
if(NOT EXISTS "${TFLM_ROOT}/tensorflow/lite/micro/micro_interpreter.h")
  message(FATAL_ERROR "TFLM_ROOT=${TFLM_ROOT} has no tensorflow/lite/micro/micro_interpreter.h")
endif()
set(engine_sources
  validator/engine_tflm.cc validator/tflm_log.cc validator/tflm_tensor.cc
  "${CONFIG_DIR}/model_data.cc" "${CONFIG_DIR}/model_init.cc")
target_compile_definitions(firmware_options INTERFACE TF_LITE_STATIC_MEMORY)
target_include_directories(firmware_options SYSTEM INTERFACE
  "${TFLM_ROOT}" "${TFLM_ROOT}/third_party/flatbuffers/include" "${TFLM_ROOT}/third_party/gemmlowp"
  "${TFLM_ROOT}/third_party/ruy")
target_link_libraries(firmware_options INTERFACE "${TFLM_LIB}")
