#include "boards/board.h"

#include "boards/host/pins.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

/** This PC as a board: the link is standard input and output, the pins may be a socket. */
namespace autodeploy::board {
namespace {

constexpr char kRebooted[] = "AUTODEPLOY_REBOOTED";
constexpr char kHardware[] = "AUTODEPLOY_HARDWARE";    // what it says it is, for tests of hosts
constexpr char kClockRate[] = "AUTODEPLOY_CLOCK_RATE";  // how fast its ticks are, where right is 1
double clock_rate = 1;
Facts the_facts = {BoardKind::kSimulated, "host", 0, {0, 1'000'000'000}, nullptr, 0, 0, 0};

/** The host of a closed link has gone, and this process goes too. */
size_t moved(ssize_t bytes, ssize_t end) {
    if (bytes == end || (bytes < 0 && errno != EAGAIN && errno != EINTR)) {
        std::exit(0);
    }
    return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

uint64_t nanoseconds() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void init() {
    fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    the_facts.kind = std::getenv(kHardware) ? BoardKind::kHardware : the_facts.kind;
    clock_rate = std::getenv(kClockRate) ? std::atof(std::getenv(kClockRate)) : clock_rate;
    the_facts.capabilities = host::init_pins() ? kCapabilityPowerWindow : 0;
}

const Facts &facts() { return the_facts; }
const char *restart_words() { return nullptr; }

bool survive(void (*function)(void *), void *argument) {
    function(argument);
    return true;
}

size_t read(uint8_t *to, size_t size) {
    return size > 0 ? moved(::read(STDIN_FILENO, to, size), 0) : 0;
}

size_t write(const uint8_t *from, size_t size) {
    return moved(::write(STDOUT_FILENO, from, size), -2);
}

void wait(uint32_t ms) {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    poll(&input, 1, static_cast<int>(ms));
}

uint32_t milliseconds() { return static_cast<uint32_t>(nanoseconds() / 1'000'000); }

uint64_t ticks() {
    return clock_rate == 1 ? nanoseconds()
                           : static_cast<uint64_t>(static_cast<double>(nanoseconds()) * clock_rate);
}

uint32_t tick_hz() { return 1'000'000'000; }

void begin_inference() {}
void read_counters(uint32_t *) {}
void count_events(const uint32_t *, size_t) {}

void set_lines(bool in0, bool in1) { host::set_lines(in0, in1); }
bool await_trigger(bool high, uint32_t ms) { return host::await_trigger(high, ms); }
void rest_link() {}
void resume_link() {}

ClockMode clock() { return ClockMode::kHighPerformance; }
bool set_clock(ClockMode mode) { return mode == clock(); }

ResetCause reset_cause() {
    return std::getenv(kRebooted) ? ResetCause::kRequested : ResetCause::kPowerOn;
}

void reboot() {
    setenv(kRebooted, "", 1);
    char path[] = "/proc/self/exe";
    char *arguments[] = {path, nullptr};
    execv(path, arguments);
    std::exit(1);
}

}  // namespace autodeploy::board
