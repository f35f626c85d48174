#pragma once

#include "rpc/messages.h"

namespace autodeploy {

/** The words of the latest call that was refused, for the log. */
class Refusal {
   public:
    /** Keeps the words and returns the status. */
    Status because(Status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

    const char *words() const { return words_; }

   private:
    char words_[120] = "";
};

}  // namespace autodeploy
