#pragma once

#include "rpc/log.h"
#include "rpc/sessions.h"
#include "validator/validator.h"

namespace autodeploy {

/** What a call works with; `out` gets its results, which are dropped when it is refused. */
struct CallContext {
    Validator &validator;
    Log &log;
    Sessions &sessions;
    uint32_t number;  // of the request
    Reader &arguments;
    Writer &out;
};

struct Call {
    uint32_t id;
    const char *name;
    Status (*perform)(CallContext &context);
    size_t blank_bytes;  // of the results when it is refused: zeros and empty

    /** Of an ordered call: writes the results, from what `perform` has left behind. */
    void (*tell)(CallContext &context);
};

/** The call of that number, nullptr when the interface has none. */
const Call *find_call(uint32_t id);

}  // namespace autodeploy
