#pragma once

#include "rpc/log.h"

namespace autodeploy {

/** What TFLM's words, which go to the log, were about since the latest `listen_to_tflm`. */
struct TflmWords {
    bool any;
    bool memory;
    bool missing_operator;
};

void listen_to_tflm(Log &log);
TflmWords tflm_words();

}  // namespace autodeploy
