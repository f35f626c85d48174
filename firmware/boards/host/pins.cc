#include "boards/host/pins.h"

#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>

#include "boards/board.h"

namespace autodeploy::host {
namespace {

int pins = -1;
bool trigger;

}  // namespace

bool init_pins() {
    const char *descriptor = std::getenv("AUTODEPLOY_PINS");
    pins = descriptor ? std::atoi(descriptor) : -1;
    return pins >= 0;
}

void set_lines(bool in0, bool in1) {
    const uint64_t ticks = board::ticks();
    uint8_t change[9] = {static_cast<uint8_t>(in0 | in1 << 1)};
    std::memcpy(change + 1, &ticks, sizeof ticks);
    send(pins, change, sizeof change, 0);
}

bool await_trigger(bool high, uint32_t ms) {
    const uint32_t began = board::milliseconds();
    while (trigger != high) {
        const uint32_t passed = board::milliseconds() - began;
        pollfd socket = {pins, POLLIN, 0};
        if (passed >= ms || poll(&socket, 1, static_cast<int>(ms - passed)) <= 0) {
            return false;
        }
        uint8_t level = 0;
        if (recv(pins, &level, 1, 0) != 1) {
            return false;
        }
        trigger = level != 0;
    }
    return true;
}

}  // namespace autodeploy::host
