#pragma once

#include "rpc/frame.h"

namespace autodeploy {

/**
 * Finds the good frames in a stream of bytes and drops what lies between them.
 *
 * `buffer` has to hold at least one frame of the largest message. Bodies are given in place.
 */
class FrameScanner {
   public:
    FrameScanner(uint8_t *buffer, size_t capacity, size_t max_message_bytes)
        : buffer_(buffer), capacity_(capacity), max_message_bytes_(max_message_bytes) {}

    /** Where the next bytes go, and how many. A body that `next` gave is no longer valid. */
    uint8_t *room(size_t &bytes);

    /** Says how many bytes went into the room. */
    void received(size_t bytes) { end_ += bytes; }

    /** The body of the next good frame; `release` has to follow. */
    bool next(Bytes &body);

    /** Length and CRC of the body that `next` gave: what tells it from most others. */
    uint32_t mark() const { return mark_; }

    /** Forgets the frame that `next` gave. */
    void release();

    /** Whether an unfinished frame waits for more bytes. */
    bool pending() const { return end_ > begin_ || skip_ > 0; }

    /** After a silence: lets `next` look for good frames that a broken one has swallowed. */
    void give_up();

   private:
    enum class Found { kFrame, kNothing, kMore };

    Found look(Bytes &body);
    void drop(size_t bytes);
    size_t held() const { return end_ - begin_; }

    uint8_t *buffer_;
    size_t capacity_;
    size_t max_message_bytes_;
    size_t begin_ = 0;
    size_t end_ = 0;
    size_t frame_ = 0;      // bytes of the frame that next gave
    uint32_t mark_ = 0;
    size_t skip_ = 0;       // bytes of an oversized frame still to come
    size_t abandoned_ = 0;  // held bytes that wait for nothing any more
};

}  // namespace autodeploy
