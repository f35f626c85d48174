#include "rpc/server.h"

namespace autodeploy {
namespace {

constexpr uint32_t kIdleMs = 500;
constexpr uint32_t kStuckMs = 10'000;

}  // namespace

void Server::step() {
    if (receive() > 0) {
        answer_frames();
        listened_ms_ = board::milliseconds();
        return;
    }
    if (!scanner_.pending()) {
        board::wait(kIdleMs);
        return;
    }
    const uint32_t silent_ms = board::milliseconds() - listened_ms_;
    if (silent_ms < kSilenceMs) {
        board::wait(kSilenceMs - silent_ms);
        return;
    }
    scanner_.give_up();
    answer_frames();
    listened_ms_ = board::milliseconds();
}

size_t Server::receive() {
    size_t room = 0;
    uint8_t *to = scanner_.room(room);
    const size_t bytes = board::read(to, room);
    scanner_.received(bytes);
    return bytes;
}

void Server::answer_frames() {
    Bytes request;
    while (scanner_.next(request)) {
        uint8_t *body = reply_ + kFrameHeaderBytes;
        const size_t bytes = service_.answer(request, scanner_.mark(), body, config::kMaxMessageBytes);
        scanner_.release();
        if (bytes > 0) {
            write_header(reply_, bytes);
            send(reply_, kFrameHeaderBytes + bytes);
        }
        validator_.run_armed_power();
        if (validator_.reboot_requested()) {
            board::reboot();
        }
    }
}

/** Receives when nothing can be sent, because a host that cannot send may not read either. */
void Server::send(const uint8_t *frame, size_t bytes) {
    uint32_t moved_ms = board::milliseconds();
    while (bytes > 0) {
        const size_t sent = board::write(frame, bytes);
        frame += sent;
        bytes -= sent;
        if (sent > 0) {
            moved_ms = board::milliseconds();
        } else if (board::milliseconds() - moved_ms > kStuckMs) {
            log_.line("gave up a reply: the host does not read");
            return;
        } else if (receive() == 0) {
            board::wait(1);
        }
    }
}

}  // namespace autodeploy
