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
    if (*autodeploy::board::failed_step() != '\0') {
        board_log.line("start-up: %s failed; the board goes on without it",
                       autodeploy::board::failed_step());
    }
    while (true) {
        server.step();
    }
}
