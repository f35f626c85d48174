#include <cstring>

#include "check.h"
#include "fake_board.h"
#include "validator/validator.h"

/** The counters of layers, and the choice of their events. */
using namespace autodeploy;

namespace {

constexpr uint32_t kEvents[] = {0x0008, 0x0011, 0x001D};

Log board_log;
Validator validator(board_log);

void run() {
    CHECK(validator.configure(0) == Status::kOk);
    CHECK(validator.profile() == Status::kOk);
}

void chosen_events_are_counted_and_the_records_before_dropped() {
    fake_board::reset();
    run();
    CHECK(validator.select_counters(kEvents, 1) == Status::kOk);
    const LayerLog *layers = nullptr;
    CHECK(validator.read_layers(0, layers) == Status::kOk && layers->count() == 0);
    CHECK(fake_board::events()[0] == kEvents[0]);
    run();
    CHECK(validator.identify().counter_count == 1);
    CHECK(validator.read_layers(0, layers) == Status::kOk);
    CHECK(layers->record(0).counter_count == 1 && layers->record(0).counters[0] == 1);
    CHECK(validator.select_counters(nullptr, 0) == Status::kOk);
    CHECK(validator.identify().counter_count == 2);
}

void an_invoke_records_no_layers() {
    fake_board::reset();
    CHECK(validator.configure(0) == Status::kOk);
    CHECK(validator.invoke(1) == Status::kOk);
    const LayerLog *layers = nullptr;
    CHECK(validator.read_layers(0, layers) == Status::kBadArgument);
    CHECK(validator.profile() == Status::kOk && validator.profile_timing().layers == 3);
    CHECK(validator.invoke(2) == Status::kOk);
    CHECK(validator.read_layers(0, layers) == Status::kOk && layers->count() == 3);
}

/** Timed inferences run with a quiet link, which is not quiet any more behind any of their ends. */
void the_link_is_served_again_however_an_inference_ends() {
    fake_board::reset();
    CHECK(validator.configure(0) == Status::kOk);
    CHECK(validator.invoke(3) == Status::kOk && !fake_board::quiet());
    CHECK(validator.profile() == Status::kOk && !fake_board::quiet());
    CHECK(validator.invoke(0) == Status::kBadArgument && !fake_board::quiet());
    fake_board::crash(true);
    CHECK(validator.invoke(3) == Status::kInvokeFailed && !fake_board::quiet());
    fake_board::crash(false);
    CHECK(validator.configure(0) == Status::kOk);
    fake_board::crash(true);
    CHECK(validator.profile() == Status::kInvokeFailed && !fake_board::quiet());
    fake_board::crash(false);
    CHECK(validator.invoke(1) == Status::kNotConfigured && !fake_board::quiet());
    CHECK(validator.configure(0) == Status::kOk);
    CHECK(validator.infer({nullptr, 0}) == Status::kOk && !fake_board::quiet());
}

bool refused(const uint32_t *events, uint32_t count, Status status, const char *words) {
    return validator.select_counters(events, count) == status &&
           std::strstr(validator.refusal().words(), words) != nullptr;
}

void a_choice_that_cannot_be_counted_is_refused() {
    fake_board::reset();
    const uint32_t none[] = {0x10000};
    CHECK(refused(kEvents, 3, Status::kBadArgument, "3 events; 2 fit at once"));
    CHECK(refused(none, 1, Status::kBadArgument, "no event has the number 65536"));
    fake_board::facts().events_at_once = 0;
    CHECK(refused(kEvents, 1, Status::kUnsupported, "are fixed"));
}

void a_counter_of_8_bits_is_modulo_256() {
    fake_board::reset();
    fake_board::facts().byte_counters = 1;
    uint32_t values[2];
    board::read_counters(values);
    LayerLog layers;
    layers.clear();
    layers.begin("LONG");
    for (int i = 0; i < 299; ++i) {
        board::read_counters(values);
    }
    layers.end();
    CHECK(layers.record(0).counters[0] == 300);
    CHECK(layers.record(0).counters[1] == 600 % 256);
}

}  // namespace

void test_counters() {
    an_invoke_records_no_layers();
    the_link_is_served_again_however_an_inference_ends();
    chosen_events_are_counted_and_the_records_before_dropped();
    a_choice_that_cannot_be_counted_is_refused();
    a_counter_of_8_bits_is_modulo_256();
}
