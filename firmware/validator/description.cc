#include "validator/limits.h"
#include "validator/validator.h"

/** What the validator says of the board and its firmware. */
namespace autodeploy {

Identity Validator::identify() const {
    const board::Facts &facts = board::facts();
    Identity identity = {};
    identity.kind = facts.kind;
    identity.board = config::kBoardName;
    identity.core = facts.core;
    identity.build_id = config::kBuildId;
    identity.model_sha256 = model_sha256();
    identity.engine = engine_.name();
    identity.engine_version = config::kEngineVersion;
    identity.capabilities = facts.capabilities | kCapabilityLayerProfile |
                            (engine_.can_keep_tensors() ? kCapabilityAnyTensor : 0) |
                            (kModelIsLoaded ? kCapabilityModelUpload : 0);
    identity.clock = board::clock();
    identity.clocks_hz = facts.clocks_hz;
    identity.tick_hz = board::tick_hz();
    identity.max_message_bytes = config::kMaxMessageBytes;
    identity.window_bytes = config::kWindowBytes;
    identity.max_invocations = kMaxInvocations;
    identity.counters = facts.counters;
    identity.counter_count = facts.counter_count;
    return identity;
}

Bytes Validator::model_sha256() const {
    return kModelIsLoaded ? store_.sha256() : Bytes{config::kModelSha256, sizeof config::kModelSha256};
}

}  // namespace autodeploy
