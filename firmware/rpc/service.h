#pragma once

#include "rpc/calls.h"

namespace autodeploy {

/** Answers requests; when a status is not ok, the words are in the log. */
class Service {
   public:
    Service(Validator &validator, Log &log) : validator_(validator), log_(log) {}

    /**
     * Writes the body of the reply and returns its bytes; 0 when the body was no request.
     *
     * `mark` tells the request from others with its number.
     */
    size_t answer(Bytes request, uint32_t mark, uint8_t *reply, size_t capacity);

   private:
    Status perform(const Call &call, CallContext &context, uint32_t mark);
    Status perform_in_order(const Call &call, CallContext &context, uint32_t mark);

    Validator &validator_;
    Log &log_;
    Sessions sessions_;
};

}  // namespace autodeploy
