#include "validator/refusal.h"

#include <cstdarg>
#include <cstdio>

namespace autodeploy {

Status Refusal::because(Status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(words_, sizeof words_, format, arguments);
    va_end(arguments);
    return status;
}

}  // namespace autodeploy
