#pragma once

#include "validator/engine.h"

namespace autodeploy {

/**
 * Answers the calls of the interface about the one model of this firmware.
 *
 * Inputs are kept outside of the arena, because an inference may overwrite the tensors there, and
 * are copied in before each inference.
 */
class Validator {
   public:
    explicit Validator(Log &log) : engine_(make_engine(log, layers_, refusal_)) {}

    Identity identify() const;
    Status configure(uint32_t arena_bytes, ModelState &state);
    Status describe_input(uint32_t index, TensorInfo &info);
    Status describe_output(uint32_t index, TensorInfo &info);
    Status write_input(uint32_t index, uint32_t offset, Bytes data);
    Status invoke(uint32_t count, InvokeTiming &timing);
    Status read_output(uint32_t index, uint32_t offset, uint32_t length, Bytes &data);
    Status read_layers(uint32_t first, const LayerLog *&layers);
    Status set_clock(ClockMode mode);
    Status reset_state();
    void reboot() { reboot_requested_ = true; }

    bool reboot_requested() const { return reboot_requested_; }

    /** For calls that are refused, here or by the service. */
    Refusal &refusal() { return refusal_; }

   private:
    Status prepare(uint32_t arena_bytes);
    Status check_configured();
    Status check_inputs_fit();
    Status check_index(const char *what, uint32_t index, uint32_t count);
    Status check_range(const char *what, uint32_t bytes, uint32_t offset, size_t length);
    uint8_t *kept_input(uint32_t index);
    Status infer(uint64_t &ticks);

    Refusal refusal_;
    LayerLog layers_;
    Engine &engine_;
    Prepared prepared_ = {};
    bool configured_ = false;
    bool has_run_ = false;
    bool has_outputs_ = false;
    bool reboot_requested_ = false;
};

}  // namespace autodeploy
