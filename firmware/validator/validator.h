#pragma once

#include "validator/engine.h"
#include "validator/model_store.h"

namespace autodeploy {

constexpr size_t kPlacements = 4;

/**
 * Answers the calls of the interface about the one model of this firmware.
 *
 * Inputs are kept outside of the arena, because an inference may overwrite the tensors there, and
 * are copied in before each inference.
 */
class Validator {
   public:
    explicit Validator(Log &log) : log_(log), engine_(make_engine(log, layers_, refusal_)) {
        layers_.pause(true);
    }

    /** All but the session. */
    Identity identify() const;

    /** Arena, inputs, model and runtime. */
    void describe_placements(Placement (&placements)[kPlacements]) const;

    /** Of a model that comes over the link; nothing is configured afterwards, or is without the model. */
    Status begin_model(uint32_t bytes, Bytes sha256);
    Status write_model(uint32_t offset, Bytes data);
    Status prove_model();

    /** Of the model that is there; empty when none is. */
    Bytes model_sha256() const;

    Status configure(uint32_t arena_bytes);
    Status describe_input(uint32_t index, TensorInfo &info);
    Status describe_output(uint32_t index, TensorInfo &info);
    Status write_input(uint32_t index, uint32_t offset, Bytes data);

    /** All inputs one behind the other, or none for those that were written; then as `invoke(1)`. */
    Status infer(Bytes data);

    /** Runs the model without the profiler, and with a quiet link. */
    Status invoke(uint32_t count);

    /** Runs the model once with the profiler. */
    Status profile();

    Status read_output(uint32_t index, uint32_t offset, uint32_t length, Bytes &data);
    Status read_layers(uint32_t first, const LayerLog *&layers);
    Status keep_tensors(bool keep);
    Status describe_tensor(uint32_t index, TensorInfo &info);
    Status read_tensor(uint32_t index, uint32_t offset, uint32_t length, Bytes &data);
    Status set_clock(ClockMode mode);
    Status select_counters(const uint32_t *events, uint32_t count);
    Status reset_state();
    void reboot() { reboot_requested_ = true; }
    Status arm_power(uint32_t count, uint32_t wait_ms);
    PowerRun power_result() const { return power_run_; }

    /** What the latest calls that succeeded have left: for their answers, which may be asked for again. */
    const ModelState &state() const { return state_; }
    const InvokeTiming &timing() const { return timing_; }
    const ProfileTiming &profile_timing() const { return profile_timing_; }
    Bytes output(uint32_t index) const;

    bool reboot_requested() const { return reboot_requested_; }

    /** The power run that was armed by the call before, if any; the answer has to be on its way. */
    void run_armed_power();

    /** For calls that are refused, here or by the service. */
    Refusal &refusal() { return refusal_; }

   private:
    /** Where the engine has an input. */
    struct Place {
        uint8_t *data;
        uint32_t bytes;
    };
    static constexpr uint32_t kKnownPlaces = 4;

    void forget_configuration();
    Status prepare(uint32_t arena_bytes);
    Status check_configured();
    Status check_inputs_fit();
    Status check_index(const char *what, uint32_t index, uint32_t count);
    Status check_kept(uint32_t index);
    Status check_range(const char *what, uint32_t bytes, uint32_t offset, size_t length);
    Status read(const char *what, const Tensor &tensor, uint32_t offset, uint32_t length,
                Bytes &data);
    uint8_t *kept_input(uint32_t index);
    Status take_inputs(Bytes data);
    Status run(uint32_t count);
    Status run_once(uint64_t &ticks);
    uint32_t run_untimed(uint32_t count);
    void find_inputs();
    void fill_inputs();

    Log &log_;
    Refusal refusal_;
    ModelStore store_{refusal_};
    LayerLog layers_;
    Engine &engine_;
    Prepared prepared_ = {};
    Place places_[kKnownPlaces] = {};
    ModelState state_ = {};
    InvokeTiming timing_ = {};
    ProfileTiming profile_timing_ = {};
    bool keep_tensors_ = false;  // from the next configure on
    bool configured_ = false;
    bool has_run_ = false;
    bool has_outputs_ = false;
    bool has_profile_ = false;
    bool reboot_requested_ = false;
    bool power_armed_ = false;
    uint32_t power_count_ = 0;
    uint32_t power_wait_ms_ = 0;
    PowerRun power_run_ = {};
};

}  // namespace autodeploy
