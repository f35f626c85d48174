#include "fake_board.h"

#include <cstring>

namespace autodeploy {
namespace {

struct Buffer {
    uint8_t bytes[fake_board::kHeldBytes];
    size_t begin = 0;
    size_t end = 0;
};

Buffer to_board;
Buffer from_board;
uint32_t now_ms;
size_t most_taken;
bool taking;
bool resting;
bool silent;
bool crashing;
uint32_t waits_ms[2];  // for the trigger to fall, and to rise
fake_board::Change changed[fake_board::kMostChanges];
size_t change_number;
uint32_t chosen[board::kMaxCounters];
constexpr const char *kCounters[] = {"calls", "twice"};
constexpr board::Facts kFacts = {BoardKind::kSimulated,
                                 "fake",
                                 kCapabilityClockModes | kCapabilityPowerWindow,
                                 {1'000'000, 2'000'000},
                                 kCounters,
                                 2,
                                 0,
                                 2};
board::Facts the_facts = kFacts;

void trap_unless(bool right) {
    if (!right) {
        __builtin_trap();
    }
}

void use_link() { trap_unless(!resting && !silent); }

}  // namespace

namespace fake_board {

std::jmp_buf rebooted;

void reset() {
    to_board.begin = to_board.end = from_board.end = 0;
    now_ms = 0;
    most_taken = kHeldBytes;
    resting = silent = crashing = false;
    change_number = 0;
    the_facts = kFacts;
    script_trigger(kNever, kNever);
}

board::Facts &facts() { return the_facts; }
void crash(bool always) { crashing = always; }
bool quiet() { return silent; }

void script_trigger(uint32_t rises_ms, uint32_t falls_ms) {
    waits_ms[true] = rises_ms;
    waits_ms[false] = falls_ms;
}

const Change *changes() { return changed; }
size_t change_count() { return change_number; }
const uint32_t *events() { return chosen; }

void give(const uint8_t *bytes, size_t size) {
    if (to_board.end + size > kHeldBytes) {
        __builtin_trap();
    }
    std::memcpy(to_board.bytes + to_board.end, bytes, size);
    to_board.end += size;
}

size_t unread() { return to_board.end - to_board.begin; }
Bytes written() { return {from_board.bytes, from_board.end}; }
void pass(uint32_t ms) { now_ms += ms; }
void take_slowly(size_t bytes) { most_taken = bytes; }

}  // namespace fake_board

namespace board {
namespace {

ClockMode mode = ClockMode::kHighPerformance;
uint32_t calls;

}  // namespace

void init() {}
const Facts &facts() { return the_facts; }
const char *restart_words() { return nullptr; }

bool survive(void (*function)(void *), void *argument) {
    if (!crashing) {
        function(argument);
    }
    return !crashing;
}

size_t read(uint8_t *to, size_t size) {
    use_link();
    const size_t there = fake_board::unread();
    const size_t count = there < size ? there : size;
    std::memcpy(to, to_board.bytes + to_board.begin, count);
    to_board.begin += count;
    return count;
}

size_t write(const uint8_t *from, size_t size) {
    use_link();
    taking = !taking || most_taken == fake_board::kHeldBytes;
    const size_t most = taking ? most_taken : 0;
    const size_t room = fake_board::kHeldBytes - from_board.end;
    const size_t wanted = size < most ? size : most;
    const size_t count = wanted < room ? wanted : room;
    std::memcpy(from_board.bytes + from_board.end, from, count);
    from_board.end += count;
    return count;
}

void wait(uint32_t ms) { now_ms += ms; }
uint32_t milliseconds() { return now_ms; }
uint64_t ticks() { return now_ms; }
uint32_t tick_hz() { return 1000; }

void begin_inference() {
    trap_unless(silent || resting);
    fake_board::pass(1);
}

void begin_quiet() {
    trap_unless(!silent);
    silent = true;
}

void end_quiet() {
    trap_unless(silent);
    silent = false;
}

void read_counters(uint32_t *values) {
    values[0] = ++calls;
    values[1] = 2 * calls;
}

void count_events(const uint32_t *events, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        chosen[i] = events[i];
    }
    the_facts.counter_count = count > 0 ? count : kFacts.counter_count;
}

void set_lines(bool in0, bool in1) {
    const auto lines = static_cast<uint8_t>(in0 | in1 << 1);
    const bool same = change_number > 0 && changed[change_number - 1].lines == lines;
    if (!same && change_number < fake_board::kMostChanges) {
        changed[change_number++] = {lines, now_ms, from_board.end};
    }
}

bool await_trigger(bool high, uint32_t ms) {
    const bool comes = waits_ms[high] != fake_board::kNever && waits_ms[high] < ms;
    now_ms += comes ? waits_ms[high] : ms;
    return comes;
}

void rest_link() { resting = true; }
void resume_link() { resting = false; }

ClockMode clock() { return mode; }

bool set_clock(ClockMode wanted) {
    mode = wanted;
    return true;
}

void reboot() { std::longjmp(fake_board::rebooted, 1); }

}  // namespace board
}  // namespace autodeploy
