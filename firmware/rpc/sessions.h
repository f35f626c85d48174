#pragma once

#include "rpc/messages.h"

namespace autodeploy {

/** Where a request stands among the ordered ones. */
enum class Place { kNext, kAgain, kStale };

/**
 * Which client's requests are carried out, and in which order, by the numbers in their heads.
 *
 * `identify` gives a client a session: numbers that no other client has. The first ordered request with
 * one of them opens the session and ends all that were given before; so an `identify` that comes late
 * ends nothing. A client that knows nothing of sessions counts on from its `identify`.
 */
class Sessions {
   public:
    /** What `identify` with this number is told; the same when it comes again before any use. */
    uint32_t give(uint32_t number);

    /** `mark` tells requests with the same number apart. One that is next has to be `kept`. */
    Place place(uint32_t number, uint32_t mark);

    /** Keeps how the request that was next has ended. */
    void keep(Status status) { status_ = status; }

    /** How the latest request has ended. */
    Status status() const { return status_; }

   private:
    bool opens_session(uint32_t number) const;
    bool opens_own_count(uint32_t number) const;
    bool goes_on(uint32_t number) const;

    uint32_t given_ = 0;  // the latest session; 0: none since the start
    uint32_t ended_ = 0;  // up to this one sessions cannot be opened
    bool identified_ = false;
    uint32_t identify_ = 0;  // number of the latest identify, whose client has not gone on
    bool open_ = false;
    bool in_session_ = false;
    uint32_t latest_ = 0;  // number of the latest request
    uint32_t mark_ = 0;
    Status status_ = Status::kOk;
};

}  // namespace autodeploy
