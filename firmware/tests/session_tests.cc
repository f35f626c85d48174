#include <cstring>

#include "check.h"
#include "fake_board.h"
#include "rpc/frame.h"
#include "rpc/service.h"

/** Ordered requests are carried out once and in order, whoever asks. */
using namespace autodeploy;

namespace {

constexpr uint32_t kIdentify = 1, kConfigure = 2, kWriteInput = 5, kInvoke = 6, kReadOutput = 7;
constexpr uint32_t kInfer = 19;
constexpr uint32_t kNumber = 2;  // the input of two bytes

struct Bench {
    Log log;
    Validator validator{log};
    Service service{validator, log};
    uint8_t reply[512];
    size_t bytes = 0;

    Bench() { fake_board::reset(); }

    Status ask(uint32_t call, uint32_t number, const uint8_t *arguments, size_t size) {
        uint8_t request[64];
        store_u32(request, 1u << 24 | kServiceId << 16 | call << 8);
        store_u32(request + 4, number);
        std::memcpy(request + kMessageHeadBytes, arguments, size);
        const Bytes body{request, kMessageHeadBytes + size};
        bytes = service.answer(body, static_cast<uint32_t>(body.size << 16) | crc16(body), reply,
                               sizeof reply);
        return static_cast<Status>(load_u32(reply + bytes - 4));
    }

    Status ask(uint32_t call, uint32_t number) { return ask(call, number, reply, 0); }

    Status ask(uint32_t call, uint32_t number, uint32_t argument) {
        uint8_t word[4];
        store_u32(word, argument);
        return ask(call, number, word, sizeof word);
    }

    /** What identify says in the field before its status. */
    uint32_t session(uint32_t number) {
        CHECK(ask(kIdentify, number, kProtocolVersion) == Status::kOk);
        return load_u32(reply + bytes - 8);
    }

    Status write(uint32_t number, const char (&text)[3]) {
        uint8_t arguments[18] = {kNumber};
        store_u32(arguments + 8, 2);
        std::memcpy(arguments + 12, text, 2);
        return ask(kWriteInput, number, arguments, 14);
    }

    bool output_is(const char (&text)[3]) {
        uint8_t arguments[12] = {kNumber};
        store_u32(arguments + 8, 2);
        CHECK(ask(kReadOutput, 0, arguments, sizeof arguments) == Status::kOk);
        return std::memcmp(reply + kMessageHeadBytes + 4, text, 2) == 0;
    }
};

void what_comes_again_is_answered_but_not_carried_out_again() {
    Bench bench;
    const uint32_t first = bench.session(7);
    CHECK(bench.ask(kConfigure, first + 1, 0) == Status::kOk);
    CHECK(bench.write(first + 2, "ab") == Status::kOk);
    CHECK(bench.ask(kInvoke, first + 3, 2) == Status::kOk);
    const size_t bytes = bench.bytes;
    uint8_t reply[sizeof bench.reply];
    std::memcpy(reply, bench.reply, bytes);
    CHECK(bench.ask(kInvoke, first + 3, 2) == Status::kOk);
    CHECK(bench.bytes == bytes && std::memcmp(reply, bench.reply, bytes) == 0);
    CHECK(bench.validator.timing().includes_first);
    CHECK(bench.ask(kInvoke, first + 4, 1) == Status::kOk);
    CHECK(!bench.validator.timing().includes_first);
}

void a_late_request_is_refused() {
    Bench bench;
    const uint32_t first = bench.session(7);
    CHECK(bench.ask(kConfigure, first + 1, 0) == Status::kOk);
    CHECK(bench.write(first + 2, "ab") == Status::kOk);
    CHECK(bench.ask(kConfigure, first + 1, 0) == Status::kOutOfOrder);
    CHECK(bench.ask(kInvoke, first + 3, 1) == Status::kOk);
    CHECK(bench.output_is("ab"));
}

void another_request_with_the_same_number_is_refused() {
    Bench bench;
    const uint32_t first = bench.session(7);
    CHECK(bench.ask(kConfigure, first + 1, 0) == Status::kOk);
    CHECK(bench.ask(kConfigure, first + 1, 1) == Status::kOutOfOrder);
    CHECK(bench.ask(kInvoke, first + 1, 1) == Status::kOutOfOrder);
}

void a_refusal_is_repeated_too() {
    Bench bench;
    const uint32_t first = bench.session(7);
    CHECK(bench.ask(kInvoke, first + 1, 1) == Status::kNotConfigured);
    CHECK(bench.ask(kInvoke, first + 1, 1) == Status::kNotConfigured);
}

void a_later_session_ends_the_earlier_with_its_first_request() {
    Bench bench;
    const uint32_t one = bench.session(7);
    CHECK(bench.ask(kConfigure, one + 1, 0) == Status::kOk);
    const uint32_t two = bench.session(70'000);
    CHECK(one != two);
    CHECK(bench.write(one + 2, "ab") == Status::kOk);
    CHECK(bench.ask(kConfigure, two + 1, 0) == Status::kOk);
    CHECK(bench.write(one + 3, "xy") == Status::kOutOfOrder);
}

void an_identify_that_comes_again_offers_the_same_session() {
    Bench bench;
    const uint32_t first = bench.session(7);
    CHECK(bench.session(7) == first);
    CHECK(bench.ask(kConfigure, first + 1, 0) == Status::kOk);
    CHECK(bench.session(7) != first);
    CHECK(bench.write(first + 2, "ab") == Status::kOk);
}

void a_session_that_was_given_stays_good_until_a_later_one_is_used() {
    Bench bench;
    const uint32_t one = bench.session(7);
    const uint32_t two = bench.session(99);
    CHECK(bench.ask(kConfigure, one + 1, 0) == Status::kOk);
    CHECK(bench.ask(kConfigure, two + 1, 0) == Status::kOk);
    CHECK(bench.write(one + 2, "ab") == Status::kOutOfOrder);
    CHECK(bench.ask(kConfigure, two + 0x1'0001, 0) == Status::kOutOfOrder);  // nobody's yet
}

void clients_that_count_on_their_own_may_follow_each_other() {
    Bench bench;
    for (int client = 0; client < 2; ++client) {
        bench.session(1);
        CHECK(bench.ask(kConfigure, 2, 0) == Status::kOk);
        CHECK(bench.write(3, "ab") == Status::kOk);
        CHECK(bench.ask(kConfigure, 2, 0) == Status::kOutOfOrder);
        CHECK(bench.ask(kInvoke, 4, 1) == Status::kOk);
        CHECK(bench.validator.timing().includes_first);
    }
}

void a_client_may_start_anywhere_and_its_numbers_may_wrap() {
    Bench bench;
    bench.session(0xFFFF'FFFE);
    CHECK(bench.ask(kConfigure, 0xFFFF'FFFF, 0) == Status::kOk);
    CHECK(bench.write(0, "ab") == Status::kOk);
    CHECK(bench.ask(kConfigure, 0xFFFF'FFFF, 0) == Status::kOutOfOrder);
    CHECK(bench.ask(kInvoke, 1, 1) == Status::kOk);
}

void without_identify_numbers_below_2_31_open_a_board_that_has_started() {
    Bench bench;
    CHECK(bench.ask(kConfigure, 0x8000'0001, 0) == Status::kOutOfOrder);
    CHECK(bench.ask(kConfigure, 12, 0) == Status::kOk);
    CHECK(bench.ask(kConfigure, 11, 0) == Status::kOutOfOrder);
}

void an_inference_in_one_call_comes_again_with_its_outputs() {
    Bench bench;
    const uint32_t first = bench.session(7);
    CHECK(bench.ask(kConfigure, first + 1, 0) == Status::kOk);
    CHECK(bench.write(first + 2, "ab") == Status::kOk);
    CHECK(bench.ask(kInfer, first + 3, 0) == Status::kOk);
    const size_t bytes = bench.bytes;
    CHECK(bench.ask(kInfer, first + 3, 0) == Status::kOk && bench.bytes == bytes);
    CHECK(bench.validator.timing().includes_first);
    CHECK(bench.ask(kInfer, first + 4, 5) == Status::kBadArgument);  // bytes that are not there
    CHECK(bench.output_is("ab"));
}

}  // namespace

void test_sessions() {
    what_comes_again_is_answered_but_not_carried_out_again();
    a_late_request_is_refused();
    another_request_with_the_same_number_is_refused();
    a_refusal_is_repeated_too();
    a_later_session_ends_the_earlier_with_its_first_request();
    an_identify_that_comes_again_offers_the_same_session();
    a_session_that_was_given_stays_good_until_a_later_one_is_used();
    clients_that_count_on_their_own_may_follow_each_other();
    a_client_may_start_anywhere_and_its_numbers_may_wrap();
    without_identify_numbers_below_2_31_open_a_board_that_has_started();
    an_inference_in_one_call_comes_again_with_its_outputs();
}
