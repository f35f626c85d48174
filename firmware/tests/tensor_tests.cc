#include <cstring>
#include <initializer_list>

#include "check.h"
#include "validator/validator.h"

/** The validator keeps, tells and reads the tensors of the echo engine of tests/small. */
using namespace autodeploy;

namespace {

constexpr uint32_t kNumber = 2, kNumberOutput = 5, kTensors = 6;

Log board_log;
Validator validator(board_log);
TensorInfo info;
Bytes data;

/** Configures, and runs once with "ab" in the last input. */
void run(bool keep) {
    const auto *number = reinterpret_cast<const uint8_t *>("ab");
    CHECK(validator.keep_tensors(keep) == Status::kOk);
    CHECK(validator.configure(0) == Status::kOk);
    CHECK(validator.write_input(kNumber, 0, {number, 2}) == Status::kOk);
    CHECK(validator.invoke(1) == Status::kOk);
}

Status read(uint32_t index, uint32_t offset, uint32_t length) {
    data = {};
    return validator.read_tensor(index, offset, length, data);
}

bool said(const char *words) { return std::strstr(validator.refusal().words(), words) != nullptr; }

void kept_tensors_are_the_inputs_and_then_the_outputs() {
    run(true);
    for (const uint32_t index : {kNumber, kNumberOutput}) {
        CHECK(validator.describe_tensor(index, info) == Status::kOk && info.bytes == 2);
        CHECK(read(index, 1, 1) == Status::kOk && data.size == 1 && data.data[0] == 'b');
    }
    CHECK(validator.describe_tensor(kTensors, info) == Status::kBadArgument);
    CHECK(read(kTensors, 0, 0) == Status::kBadArgument && said("tensor 6 of 6"));
}

void a_kept_tensor_is_read_within_its_bytes() {
    run(true);
    CHECK(read(kNumberOutput, 2, 0) == Status::kOk && data.size == 0);
    CHECK(read(kNumberOutput, 0, 3) == Status::kBadArgument && said("the tensor has 2 bytes"));
    CHECK(read(kNumberOutput, 3, 0) == Status::kBadArgument);
    CHECK(read(kNumberOutput, 0xFFFFFFFF, 2) == Status::kBadArgument);
    CHECK(read(kNumberOutput, 1, 0xFFFFFFFF) == Status::kBadArgument);
}

void tensors_that_are_not_kept_are_refused() {
    run(false);
    CHECK(validator.describe_tensor(kNumber, info) == Status::kBadArgument);
    CHECK(read(kNumber, 0, 1) == Status::kBadArgument);
    CHECK(said("call keep_tensors, then configure"));
}

void tensors_are_kept_from_the_next_configure_on() {
    run(false);
    CHECK(validator.keep_tensors(true) == Status::kOk);
    CHECK(read(kNumber, 0, 1) == Status::kBadArgument);
    CHECK(validator.configure(0) == Status::kOk);
    CHECK(read(kNumber, 0, 1) == Status::kBadArgument && said("no inference has run"));
    CHECK(validator.invoke(1) == Status::kOk);
    CHECK(validator.keep_tensors(false) == Status::kOk);
    CHECK(read(kNumber, 0, 1) == Status::kOk);
}

void after_a_failed_configure_no_tensor_is_there() {
    run(true);
    CHECK(validator.configure(1) == Status::kNoMemory);
    CHECK(validator.describe_tensor(kNumber, info) == Status::kNotConfigured);
    CHECK(read(kNumber, 0, 1) == Status::kNotConfigured);
}

}  // namespace

void test_tensors() {
    kept_tensors_are_the_inputs_and_then_the_outputs();
    a_kept_tensor_is_read_within_its_bytes();
    tensors_that_are_not_kept_are_refused();
    tensors_are_kept_from_the_next_configure_on();
    after_a_failed_configure_no_tensor_is_there();
}
