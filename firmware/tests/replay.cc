#include <cstdint>
#include <cstdio>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Runs the inputs of standard input, each behind its length (uint32, little endian). */
int main() {
    uint8_t length[4];
    int inputs = 0;
    while (std::fread(length, sizeof length, 1, stdin) == 1) {
        const size_t size = length[0] | length[1] << 8 | length[2] << 16 | length[3] << 24;
        std::vector<uint8_t> input(size);
        if (std::fread(input.data(), 1, size, stdin) != size) {
            return 1;
        }
        LLVMFuzzerTestOneInput(input.data(), size);
        ++inputs;
    }
    std::printf("%d inputs\n", inputs);
    return 0;
}
