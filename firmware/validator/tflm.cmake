# TFLM comes as a tree of headers and a static library that was built with its error strings:
# without them it neither says what is wrong nor tells the profiler about layers.
if(NOT EXISTS "${TFLM_ROOT}/tensorflow/lite/micro/micro_interpreter.h")
  message(FATAL_ERROR "TFLM_ROOT=${TFLM_ROOT} has no tensorflow/lite/micro/micro_interpreter.h")
endif()
# Reading TFLM's headers takes seconds and nearly all of a build. What needs them is compiled as one file, beside
# model_init.cc: two cores then read them once each. (Headers that are compiled before, as CMake can have
# them, save nothing: most of the time goes to templates, which each file makes anew.)
add_library(engine OBJECT validator/engine_tflm.cc validator/tflm_tensor.cc)
target_link_libraries(engine PRIVATE firmware_options)
set_target_properties(engine PROPERTIES UNITY_BUILD ON)
set(engine_sources
  validator/tflm_log.cc "${CONFIG_DIR}/model_data.cc" "${CONFIG_DIR}/model_init.cc"
  "$<TARGET_OBJECTS:engine>")
target_compile_definitions(firmware_options INTERFACE TF_LITE_STATIC_MEMORY)
target_include_directories(firmware_options SYSTEM INTERFACE
  "${TFLM_ROOT}" "${TFLM_ROOT}/third_party/flatbuffers/include" "${TFLM_ROOT}/third_party/gemmlowp"
  "${TFLM_ROOT}/third_party/ruy")
target_link_libraries(firmware_options INTERFACE "${TFLM_LIB}")
