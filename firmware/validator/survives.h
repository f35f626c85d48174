#pragma once

#include "boards/board.h"

namespace autodeploy {

/** `board::survive` for any function without arguments. */
template <typename Function>
bool survives(Function function) {
    return board::survive([](void *itself) { (*static_cast<Function *>(itself))(); }, &function);
}

}  // namespace autodeploy
