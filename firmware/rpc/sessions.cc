#include "rpc/sessions.h"

namespace autodeploy {
namespace {

constexpr uint32_t kSessionBit = 0x8000'0000;
constexpr uint32_t kNumbers = 0x1'0000;  // of one session, the first of which stays unused

constexpr uint32_t session_of(uint32_t number) { return kSessionBit | (number & ~(kNumbers - 1)); }

/** How many sessions were given from one to the other. */
constexpr uint32_t steps(uint32_t from, uint32_t to) { return (to - from) % kSessionBit / kNumbers; }

/** Numbers count modulo 2^32. */
constexpr bool follows(uint32_t number, uint32_t latest) {
    return number - latest - 1 < kNumbers - 1;
}

/** Hosts number their first identify at random, so that a board that restarts gives other sessions. */
constexpr uint32_t scatter(uint32_t number) { return number * 0x9E37'79B1; }

}  // namespace

uint32_t Sessions::give(uint32_t number) {
    if (identified_ && number == identify_) {
        return given_;
    }
    if (given_ == 0) {
        ended_ = session_of(scatter(number) - kNumbers);
        given_ = ended_;
    }
    given_ = session_of(given_ + kNumbers);
    identify_ = number;
    identified_ = true;
    return given_;
}

bool Sessions::opens_session(uint32_t number) const {
    const uint32_t ahead = steps(ended_, session_of(number));
    return given_ != 0 && (number & kSessionBit) != 0 && number % kNumbers != 0 && ahead > 0 &&
           ahead <= steps(ended_, given_);
}

/** Also of a client that has not asked identify, on a board that has just started. */
bool Sessions::opens_own_count(uint32_t number) const {
    return identified_ ? follows(number, identify_)
                       : !open_ && given_ == 0 && (number & kSessionBit) == 0;
}

bool Sessions::goes_on(uint32_t number) const {
    return open_ && follows(number, latest_) &&
           (!in_session_ || session_of(number) == session_of(latest_));
}

Place Sessions::place(uint32_t number, uint32_t mark) {
    if (opens_session(number)) {
        ended_ = session_of(number);
        identified_ = identified_ && ended_ != given_;
        in_session_ = true;
    } else if (opens_own_count(number)) {
        ended_ = given_;
        identified_ = false;
        in_session_ = false;
    } else if (open_ && number == latest_ && mark == mark_) {
        return Place::kAgain;
    } else if (!goes_on(number)) {
        return Place::kStale;
    }
    open_ = true;
    latest_ = number;
    mark_ = mark;
    return Place::kNext;
}

}  // namespace autodeploy
