#pragma once

#include "rpc/log.h"
#include "validator/layer_log.h"
#include "validator/refusal.h"

namespace autodeploy {

struct Tensor {
    TensorInfo info;
    uint8_t *data;
};

/** What an engine says of a model that it has prepared; `tensors` is 0 when they are not kept. */
struct Prepared {
    uint32_t arena_used_bytes;
    uint32_t inputs;
    uint32_t outputs;
    uint32_t layers;
    uint32_t variables;
    uint32_t tensors;
};

/**
 * Runs the model that was built into the firmware.
 *
 * What fails returns a status and leaves its words in the refusal. `prepare` may follow `prepare`,
 * with any arena; the calls below it follow a `prepare` that succeeded.
 */
class Engine {
   public:
    virtual const char *name() const = 0;
    virtual bool can_keep_tensors() const = 0;
    virtual Status prepare(uint8_t *arena, uint32_t bytes, bool keep_tensors,
                           Prepared &prepared) = 0;
    virtual Tensor input(uint32_t index) = 0;
    virtual Tensor output(uint32_t index) = 0;

    /** One of the kept tensors; one that has no memory has 0 bytes. */
    virtual Tensor tensor(uint32_t index) = 0;

    virtual Status invoke() = 0;

    /** The model file, where there is one. */
    virtual Bytes model() const { return {}; }

    /** Some of the code that runs the model. */
    virtual const void *runtime() const = 0;

    /** Variables and state as after `prepare`. Says whether outputs are still there. */
    virtual Status reset_state(bool &outputs_kept) = 0;

   protected:
    ~Engine() = default;
};

/** The engine of this firmware. */
Engine &make_engine(Log &log, LayerLog &layers, Refusal &refusal);

}  // namespace autodeploy
