#include "validator/tflm_log.h"

#include <cstdio>
#include <cstring>

#include "tensorflow/lite/micro/debug_log.h"

namespace autodeploy {
namespace {

constexpr const char *kMemoryWords[] = {"llocate", "arena size", "equested", "emory",
                                        "Too many buffers"};
constexpr const char *kOperatorWords[] = {"find op", "find a parser", "opcode", "op code"};

Log *target = nullptr;
TflmWords heard = {};

template <size_t count>
bool has_any(const char *text, const char *const (&phrases)[count]) {
    for (const char *phrase : phrases) {
        if (std::strstr(text, phrase)) {
            return true;
        }
    }
    return false;
}

}  // namespace

void listen_to_tflm(Log &log) {
    target = &log;
    heard = {};
}

TflmWords tflm_words() { return heard; }

extern "C" void DebugLog(const char *format, va_list arguments) {
    char text[200];
    std::vsnprintf(text, sizeof text, format, arguments);
    if (target) {
        target->text(text);
    }
    heard.any = true;
    heard.memory = heard.memory || has_any(text, kMemoryWords);
    heard.missing_operator = heard.missing_operator || has_any(text, kOperatorWords);
}

extern "C" int DebugVsnprintf(char *buffer, size_t size, const char *format, va_list arguments) {
    return std::vsnprintf(buffer, size, format, arguments);
}

}  // namespace autodeploy
