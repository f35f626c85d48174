// neuralSPOT's own eRPC and service on the PC: its frames, codec and shims between a link and a
// firmware, which is the other end of a second descriptor. Started as PROGRAM LINK FIRMWARE.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "GenericDataOperations_PcToEvb_server.h"
#include "erpc_crc16.hpp"
#include "erpc_framed_transport.hpp"
#include "erpc_mbf_setup.h"
#include "erpc_server_setup.h"

extern "C" {
void *erpc_malloc(size_t size) { return std::malloc(size ? size : 1); }
void erpc_free(void *memory) { std::free(memory); }
}

namespace {

// stdio and not unistd.h: neuralSPOT has an enumerator that is called read.
class Stream {
 public:
  explicit Stream(int descriptor) : in_(fdopen(descriptor, "rb")), out_(fdopen(descriptor, "wb")) {
    std::setvbuf(in_, nullptr, _IONBF, 0);
    std::setvbuf(out_, nullptr, _IONBF, 0);
  }
  bool Read(void *data, uint32_t size) { return size == 0 || std::fread(data, size, 1, in_) == 1; }
  bool Write(const void *data, uint32_t size) {
    return size == 0 || std::fwrite(data, size, 1, out_) == 1;
  }

 private:
  FILE *in_;
  FILE *out_;
};

Stream *firmware;

void Need(bool done) {
  if (!done) {
    std::exit(0);  // who started it has ended
  }
}

class Line : public erpc::FramedTransport {
 public:
  explicit Line(int descriptor) : stream_(descriptor) {}

 private:
  erpc_status_t underlyingReceive(uint8_t *data, uint32_t size) override {
    Need(stream_.Read(data, size));
    return kErpcStatus_Success;
  }
  erpc_status_t underlyingSend(const uint8_t *data, uint32_t size) override {
    Need(stream_.Write(data, size));
    return kErpcStatus_Success;
  }
  Stream stream_;
};

// What the firmware says to a call; ``result`` is null where the call has no block.
status Ask(int32_t method, const dataBlock *given, dataBlock *result) {
  const uint32_t size = given ? given->buffer.dataLength : 0;
  const int32_t head[3] = {method, given ? given->cmd : 0, static_cast<int32_t>(size)};
  Need(firmware->Write(head, sizeof head) && (!size || firmware->Write(given->buffer.data, size)));
  int32_t said[4];  // status, bytes of the description, command, bytes
  Need(firmware->Read(said, sizeof said));
  const auto letters = static_cast<uint32_t>(said[1]), bytes = static_cast<uint32_t>(said[3]);
  auto *text = static_cast<char *>(erpc_malloc(letters + 1));
  auto *data = static_cast<uint8_t *>(erpc_malloc(bytes));
  Need(firmware->Read(text, letters) && firmware->Read(data, bytes));
  text[letters] = '\0';
  if (result) {
    *result = {};
    result->length = bytes;
    result->dType = uint8_e;
    result->description = text;
    result->cmd = static_cast<command>(said[2]);
    result->buffer.data = data;
    result->buffer.dataLength = bytes;
  }
  return static_cast<status>(said[0]);
}

}  // namespace

extern "C" {
status ns_rpc_data_sendBlockToEVB(const dataBlock *block) { return Ask(1, block, nullptr); }
status ns_rpc_data_fetchBlockFromEVB(dataBlock *block) { return Ask(2, nullptr, block); }
status ns_rpc_data_computeOnEVB(const dataBlock *given, dataBlock *result) {
  return Ask(3, given, result);
}
}

int main(int, char **arguments) {
  static Line line(std::atoi(arguments[1]));
  firmware = new Stream(std::atoi(arguments[2]));
  auto *transport = reinterpret_cast<erpc_transport_t>(static_cast<erpc::Transport *>(&line));
  erpc_server_init(transport, erpc_mbf_static_init());
  erpc_add_service_to_server(create_pc_to_evb_service());
  while (true) {
    erpc_server_poll();  // a frame that it cannot take is a status, and no answer
  }
}
