#pragma once

#include "rpc/codec.h"

/** What host and board say to each other, as autodeploy.erpc declares it. */
namespace autodeploy {

constexpr uint32_t kProtocolVersion = 2;
constexpr uint32_t kServiceId = 1;
constexpr uint32_t kSilenceMs = 100;

constexpr uint32_t kCapabilityLayerProfile = 1;
constexpr uint32_t kCapabilityClockModes = 2;
constexpr uint32_t kCapabilityCycleCounter = 4;
constexpr uint32_t kCapabilityPowerWindow = 8;
constexpr uint32_t kCapabilityAnyTensor = 16;
constexpr uint32_t kCapabilityModelUpload = 32;

enum class Status : int32_t {
    kOk = 0,
    kBadArgument = 1,
    kNoModel = 2,
    kNotConfigured = 3,
    kNoMemory = 4,
    kUnsupportedOperator = 5,
    kBadModel = 6,
    kInvokeFailed = 7,
    kUnsupported = 8,
    kInternalError = 9,
    kOutOfOrder = 10,
};

enum class BoardKind : int32_t { kSimulated = 0, kEmulated = 1, kHardware = 2 };

enum class ClockMode : int32_t { kLowPower = 0, kHighPerformance = 1 };
constexpr size_t kClockModes = 2;

/** The values of TfLiteType that echo tensors have; the TFLM engine passes any value on. */
enum class TensorType : int32_t { kFloat32 = 1, kInt32 = 2, kUint8 = 3, kInt16 = 7, kInt8 = 9 };

/** How a power run ended. */
enum class PowerOutcome : int32_t {
    kNone = 0,
    kDone = 1,
    kNoTrigger = 2,
    kTriggerStuck = 3,
    kInvokeFailed = 4,
};

/** What a board was last started by. */
enum class ResetCause : int32_t {
    kUnknown = 0,
    kPowerOn = 1,
    kPin = 2,
    kRequested = 3,
    kWatchdog = 4,
    kBrownOut = 5,
    kFault = 6,
};

struct Identity {
    BoardKind kind;
    const char *board;
    const char *core;
    const char *build_id;
    Bytes model_sha256;
    const char *engine;
    const char *engine_version;
    uint32_t capabilities;
    ClockMode clock;
    const uint32_t *clocks_hz;
    uint32_t tick_hz;
    uint32_t max_message_bytes;
    uint32_t window_bytes;
    uint32_t max_invocations;
    const char *const *counters;
    size_t counter_count;
    uint32_t session;
};

struct ModelState {
    uint32_t arena_bytes;
    uint32_t arena_used_bytes;
    uint32_t inputs;
    uint32_t outputs;
    uint32_t layers;
    uint32_t variables;
};

struct TensorInfo {
    const char *name;
    TensorType type;
    const int *shape;
    size_t rank;
    uint32_t bytes;
    float scale;
    int32_t zero_point;
};

struct InvokeTiming {
    uint64_t total_ticks;
    bool includes_first;
    const uint64_t *ticks;
    size_t count;
};

/** An inference but for its outputs. */
struct InferenceHead {
    uint64_t ticks;
    bool is_first;
};

struct ProfileTiming {
    uint64_t ticks;
    uint64_t profiler_ticks;
    bool is_first;
    uint32_t layers;
};

struct LayerRecord {
    const char *tag;
    uint64_t ticks;
    const uint32_t *counters;
    size_t counter_count;
};

struct PowerRun {
    PowerOutcome outcome;
    uint32_t inferences;
    uint64_t ticks;
};

struct Placement {
    const char *part;
    const char *memory;
    const void *address;
    uint32_t bytes;
};

void write(Writer &out, const Identity &identity);
void write(Writer &out, const ModelState &state);
void write(Writer &out, const TensorInfo &info);
void write(Writer &out, const InvokeTiming &timing);
void write(Writer &out, const InferenceHead &inference);
void write(Writer &out, const ProfileTiming &timing);
void write(Writer &out, const LayerRecord &record);
void write(Writer &out, const PowerRun &run);
void write(Writer &out, const Placement &placement);

}  // namespace autodeploy
