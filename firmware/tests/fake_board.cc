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

}  // namespace

namespace fake_board {

std::jmp_buf rebooted;

void reset() {
    to_board.begin = to_board.end = from_board.end = 0;
    now_ms = 0;
    most_taken = kHeldBytes;
}

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

constexpr const char *kCounters[] = {"calls", "twice"};
constexpr Facts kFacts = {BoardKind::kSimulated, "fake", kCapabilityClockModes,
                          {1'000'000, 2'000'000}, kCounters, 2};
ClockMode mode = ClockMode::kHighPerformance;
uint32_t calls;

}  // namespace

void init() {}
const Facts &facts() { return kFacts; }
const char *restart_words() { return nullptr; }

bool survive(void (*function)(void *), void *argument) {
    function(argument);
    return true;
}

size_t read(uint8_t *to, size_t size) {
    const size_t there = fake_board::unread();
    const size_t count = there < size ? there : size;
    std::memcpy(to, to_board.bytes + to_board.begin, count);
    to_board.begin += count;
    return count;
}

size_t write(const uint8_t *from, size_t size) {
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
void begin_inference() { fake_board::pass(1); }
void end_inference() {}

void read_counters(uint32_t *values) {
    values[0] = ++calls;
    values[1] = 2 * calls;
}

ClockMode clock() { return mode; }

bool set_clock(ClockMode wanted) {
    mode = wanted;
    return true;
}

void reboot() { std::longjmp(fake_board::rebooted, 1); }

}  // namespace board
}  // namespace autodeploy
