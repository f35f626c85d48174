#pragma once

#include <cstdarg>

#include "autodeploy_config.h"
#include "rpc/codec.h"

namespace autodeploy {

/** The board's log: a ring of its latest bytes. Cursors count bytes since the start. */
class Log {
   public:
    /** Adds a line, cut off at 160 bytes. */
    void line(const char *format, ...) __attribute__((format(printf, 2, 3)));

    /** Adds text as it is, without its carriage returns. */
    void text(const char *text);

    /** Writes the end, the cursor to go on with and what is there from `cursor` on, as much as fits. */
    void read(uint32_t cursor, Writer &out) const;

   private:
    void add(uint8_t byte);

    uint8_t ring_[config::kLogBytes] = {};
    uint32_t end_ = 0;
    uint32_t kept_ = 0;
    uint32_t at_ = 0;  // place in the ring of the byte that comes next
};

}  // namespace autodeploy
