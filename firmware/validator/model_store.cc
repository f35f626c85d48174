#include "validator/model_store.h"

#include <cinttypes>
#include <cstring>

#include "boards/board.h"
#include "validator/limits.h"

namespace autodeploy {

alignas(kArenaAlignment) AUTODEPLOY_MODEL_PLACE uint8_t
    loaded_model[kModelIsLoaded ? config::kUploadBytes : 1];

Status ModelStore::has_its_model() {
    return refusal_.because(Status::kUnsupported, "the image has its model; it takes no other");
}

Status ModelStore::begin(uint32_t bytes, Bytes sha256) {
    if (!kModelIsLoaded) {
        return has_its_model();
    }
    bytes_ = arrived_ = 0;
    proven_ = doubted_ = false;
    if (const char *why = board::missing_memory()) {
        return refusal_.because(Status::kInternalError, "%s", why);
    }
    if (bytes == 0 || sha256.size != sizeof expected_) {
        return refusal_.because(Status::kBadArgument,
                                "a model of %" PRIu32 " bytes with a SHA-256 of %zu", bytes,
                                sha256.size);
    }
    if (bytes > config::kUploadBytes) {
        return refusal_.because(Status::kNoMemory,
                                "a model of %" PRIu32 " bytes does not fit; the most is %" PRIu32,
                                bytes, config::kUploadBytes);
    }
    board::open_memory();
    bytes_ = bytes;
    std::memcpy(expected_, sha256.data, sizeof expected_);
    return Status::kOk;
}

Status ModelStore::write(uint32_t offset, Bytes data) {
    if (!kModelIsLoaded) {
        return has_its_model();
    }
    if (bytes_ == 0) {
        return refusal_.because(Status::kBadArgument, "no model has been begun");
    }
    if (proven_) {
        return refusal_.because(Status::kBadArgument, "the model is complete and proven");
    }
    if (offset > arrived_) {
        return refusal_.because(Status::kBadArgument,
                                "a piece at byte %" PRIu32 "; those from byte %" PRIu32
                                " on are missing",
                                offset, arrived_);
    }
    if (data.size > bytes_ - offset) {
        return refusal_.because(Status::kBadArgument,
                                "%zu bytes at byte %" PRIu32 " of a model of %" PRIu32, data.size,
                                offset, bytes_);
    }
    if (data.size > 0) {
        std::memcpy(loaded_model + offset, data.data, data.size);
    }
    const uint32_t end = offset + static_cast<uint32_t>(data.size);
    arrived_ = end > arrived_ ? end : arrived_;
    return Status::kOk;
}

Status ModelStore::prove() {
    if (!kModelIsLoaded) {
        return has_its_model();
    }
    if (bytes_ == 0 || arrived_ < bytes_) {
        return refusal_.because(Status::kBadArgument,
                                "%" PRIu32 " of the %" PRIu32 " bytes of the model have arrived",
                                arrived_, bytes_);
    }
    board::settle_memory();
    autodeploy::sha256({loaded_model, bytes_}, found_);
    proven_ = std::memcmp(found_, expected_, sizeof found_) == 0;
    doubted_ = false;
    if (proven_) {
        return Status::kOk;
    }
    bytes_ = arrived_ = 0;
    return refusal_.because(Status::kBadModel,
                            "the model is damaged: its SHA-256 begins with %08" PRIx32
                            ", not with %08" PRIx32,
                            load_big(found_), load_big(expected_));
}

Status ModelStore::check() {
    if (!kModelIsLoaded || (proven_ && !doubted_)) {
        return Status::kOk;
    }
    if (doubted_) {
        return prove();
    }
    return refusal_.because(Status::kNoModel, "no model has been loaded and proven since the start");
}

}  // namespace autodeploy
