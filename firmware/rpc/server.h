#pragma once

#include "autodeploy_config.h"
#include "rpc/scanner.h"
#include "rpc/service.h"

namespace autodeploy {

/** Serves the host on the board's link. */
class Server {
   public:
    Server(Validator &validator, Log &log)
        : validator_(validator),
          log_(log),
          service_(validator, log),
          scanner_(received_, sizeof received_, config::kMaxMessageBytes) {}

    /** Takes what has arrived and answers it, or sleeps until there may be more. */
    void step();

   private:
    size_t receive();
    void answer_frames();
    void send(const uint8_t *frame, size_t bytes);

    Validator &validator_;
    Log &log_;
    Service service_;
    FrameScanner scanner_;
    uint32_t listened_ms_ = 0;  // when a byte came, or when the board began to listen again
    uint8_t received_[config::kWindowBytes];
    uint8_t reply_[kFrameHeaderBytes + config::kMaxMessageBytes];
};

}  // namespace autodeploy
