#include <cinttypes>

#include "validator/validator.h"

/** The calls of the validator that tell and read tensors. */
namespace autodeploy {

Status Validator::describe_input(uint32_t index, TensorInfo &info) {
    const Status status = check_index("input", index, prepared_.inputs);
    if (status == Status::kOk) {
        info = engine_.input(index).info;
    }
    return status;
}

Status Validator::describe_output(uint32_t index, TensorInfo &info) {
    const Status status = check_index("output", index, prepared_.outputs);
    if (status == Status::kOk) {
        info = engine_.output(index).info;
    }
    return status;
}

Status Validator::keep_tensors(bool keep) {
    if (keep && !engine_.can_keep_tensors()) {
        return refusal_.because(Status::kUnsupported,
                                "the engine %s, as it was built, cannot keep tensors",
                                engine_.name());
    }
    keep_tensors_ = keep;
    return Status::kOk;
}

Status Validator::describe_tensor(uint32_t index, TensorInfo &info) {
    const Status status = check_kept(index);
    if (status == Status::kOk) {
        info = engine_.tensor(index).info;
    }
    return status;
}

Status Validator::read_output(uint32_t index, uint32_t offset, uint32_t length, Bytes &data) {
    const Status status = check_index("output", index, prepared_.outputs);
    return status == Status::kOk
               ? read("output", engine_.output(index), offset, length, data)
               : status;
}

Status Validator::read_tensor(uint32_t index, uint32_t offset, uint32_t length, Bytes &data) {
    const Status status = check_kept(index);
    return status == Status::kOk
               ? read("tensor", engine_.tensor(index), offset, length, data)
               : status;
}

Status Validator::read(const char *what, const Tensor &tensor, uint32_t offset, uint32_t length,
                       Bytes &data) {
    Status status = check_range(what, tensor.info.bytes, offset, length);
    if (status == Status::kOk && !has_outputs_) {
        status = refusal_.because(Status::kBadArgument, "no inference has run since %s",
                                  has_run_ ? "the reset" : "configure");
    }
    if (status == Status::kOk && length > 0) {
        data = {tensor.data + offset, length};
    }
    return status;
}

Status Validator::check_index(const char *what, uint32_t index, uint32_t count) {
    const Status status = check_configured();
    if (status == Status::kOk && index >= count) {
        return refusal_.because(Status::kBadArgument, "%s %" PRIu32 " of %" PRIu32, what, index,
                                count);
    }
    return status;
}

Status Validator::check_kept(uint32_t index) {
    const Status status = check_configured();
    if (status == Status::kOk && prepared_.tensors == 0) {
        return refusal_.because(Status::kBadArgument,
                                "tensors are not kept: call keep_tensors, then configure");
    }
    return status == Status::kOk ? check_index("tensor", index, prepared_.tensors) : status;
}

Status Validator::check_range(const char *what, uint32_t bytes, uint32_t offset, size_t length) {
    if (offset > bytes || length > bytes - offset) {
        return refusal_.because(Status::kBadArgument,
                                "the %s has %" PRIu32 " bytes, not %zu from byte %" PRIu32 " on",
                                what, bytes, length, offset);
    }
    return Status::kOk;
}

}  // namespace autodeploy
