#include "boards/board.h"
#include "rpc/server.h"

namespace {

autodeploy::Log board_log;
autodeploy::Validator validator(board_log);
autodeploy::Server server(validator, board_log);

}  // namespace

int main() {
    autodeploy::board::init();
    if (const char *words = autodeploy::board::restart_words()) {
        board_log.line("%s", words);
    }
    while (true) {
        server.step();
    }
}
