#pragma once

#include "rpc/calls.h"

namespace autodeploy {

/** Answers requests; when a status is not ok, the words are in the log. */
class Service {
   public:
    Service(Validator &validator, Log &log) : validator_(validator), log_(log) {}

    /** Writes the body of the reply and returns its bytes; 0 when the body was no request. */
    size_t answer(Bytes request, uint8_t *reply, size_t capacity);

   private:
    Status perform(const Call &call, Reader &arguments, Writer &out);

    Validator &validator_;
    Log &log_;
};

}  // namespace autodeploy
