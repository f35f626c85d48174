#pragma once

#include "autodeploy_config.h"
#include "validator/refusal.h"
#include "validator/sha256.h"

namespace autodeploy {

/** Whether the host loads the model over the link; else the image has it. */
constexpr bool kModelIsLoaded = config::kUploadBytes > 0;

/** Where a model that is loaded goes. */
extern uint8_t loaded_model[];

/**
 * A model that the host loads, piece by piece, where the image has no model but a place for one.
 *
 * It is there when what the place holds has the SHA-256 that the host began with.
 */
class ModelStore {
   public:
    explicit ModelStore(Refusal &refusal) : refusal_(refusal) {}

    /** Forgets the model that is there. */
    Status begin(uint32_t bytes, Bytes sha256);

    /** Pieces come in order, and may come again. */
    Status write(uint32_t offset, Bytes data);

    /** Reads all of it back; what is not what was begun is forgotten. */
    Status prove();

    /** After a crash, which may have written anywhere: `check` reads the model back before it is used again. */
    void doubt() { doubted_ = proven_; }

    /** Whether the model may be used: it is in the image, or there and proven. */
    Status check();

    /** Of the model that is there, as it was read back; empty when none is. */
    Bytes sha256() const { return {found_, proven_ ? sizeof found_ : 0}; }

   private:
    Status has_its_model();

    Refusal &refusal_;
    uint32_t bytes_ = 0;  // of the model that was begun; 0: none was
    uint32_t arrived_ = 0;
    bool proven_ = false;
    bool doubted_ = false;
    uint8_t expected_[kSha256Bytes] = {};
    uint8_t found_[kSha256Bytes] = {};
};

}  // namespace autodeploy
