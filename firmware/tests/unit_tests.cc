#include <cstring>

#include "check.h"
#include "fake_board.h"
#include "rpc/scanner.h"
#include "rpc/server.h"

using namespace autodeploy;

int failures = 0;

namespace {

constexpr size_t kBodyBytes = 12;
constexpr size_t kFrameBytes = kFrameHeaderBytes + kBodyBytes;

struct Frame {
    uint8_t bytes[kFrameBytes];

    explicit Frame(uint8_t fill) {
        std::memset(bytes, fill, sizeof bytes);
        write_header(bytes, kBodyBytes);
    }
};

struct Line {
    uint8_t buffer[3 * kFrameBytes];
    FrameScanner scanner{buffer, sizeof buffer, kBodyBytes};

    void send(const uint8_t *bytes, size_t size) {
        size_t room = 0;
        uint8_t *to = scanner.room(room);
        CHECK(size <= room);
        std::memcpy(to, bytes, size);
        scanner.received(size);
    }

    /** The byte that fills the next body, -1 when there is none. */
    int next() {
        Bytes body;
        if (!scanner.next(body)) {
            return -1;
        }
        CHECK(body.size == kBodyBytes);
        const int fill = body.data[0];
        scanner.release();
        return fill;
    }
};

void crc_of_the_check_text() {
    CHECK(crc16({reinterpret_cast<const uint8_t *>("123456789"), 9}) == 0x89AC);
    CHECK(crc16({nullptr, 0}) == 0xEF4A);
}

void frames_that_arrive_together_come_one_by_one() {
    Line line;
    line.send(Frame(1).bytes, kFrameBytes);
    line.send(Frame(2).bytes, kFrameBytes);
    CHECK(line.next() == 1);
    CHECK(line.next() == 2);
    CHECK(line.next() == -1);
    CHECK(!line.scanner.pending());
}

void a_frame_may_arrive_byte_by_byte() {
    Line line;
    const Frame frame(7);
    for (size_t i = 0; i < kFrameBytes; ++i) {
        CHECK(line.next() == -1);
        line.send(frame.bytes + i, 1);
    }
    CHECK(line.next() == 7);
}

void stray_bytes_before_a_frame_are_dropped() {
    Line line;
    const uint8_t stray[] = {0xFF, 0x00, 0x12, 0x34, 0x56};
    line.send(stray, sizeof stray);
    line.send(Frame(3).bytes, kFrameBytes);
    CHECK(line.next() == 3);
}

void a_body_with_a_wrong_crc_is_dropped() {
    Line line;
    Frame damaged(4);
    damaged.bytes[kFrameBytes - 1] ^= 1;
    line.send(damaged.bytes, kFrameBytes);
    line.send(Frame(5).bytes, kFrameBytes);
    CHECK(line.next() == 5);
}

void a_frame_that_is_too_long_is_skipped_whole() {
    Line line;
    uint8_t large[kFrameHeaderBytes + kBodyBytes + 10] = {};
    write_header(large, sizeof large - kFrameHeaderBytes);
    std::memcpy(large + kFrameHeaderBytes, Frame(6).bytes, kBodyBytes);
    line.send(large, sizeof large);
    CHECK(line.next() == -1);
    line.send(Frame(8).bytes, kFrameBytes);
    CHECK(line.next() == 8);
}

void giving_up_finds_what_a_broken_frame_swallowed() {
    Line line;
    line.send(Frame(1).bytes, kFrameHeaderBytes + 2);  // its end is lost
    line.send(Frame(9).bytes, kFrameBytes - 8);
    CHECK(line.next() == -1);
    line.send(Frame(9).bytes + kFrameBytes - 8, 8);
    CHECK(line.next() == 9);  // the CRC of the broken one was wrong
    line.send(Frame(1).bytes, kFrameBytes - 1);
    CHECK(line.next() == -1);
    line.scanner.give_up();
    CHECK(line.next() == -1);
    CHECK(!line.scanner.pending());
    line.send(Frame(2).bytes, kFrameBytes);
    CHECK(line.next() == 2);
}

void a_reader_stops_at_the_end() {
    const uint8_t message[] = {1, 0, 0, 0, 9, 0, 0, 0, 'x'};
    Reader reader({message, sizeof message});
    CHECK(reader.u32() == 1);
    CHECK(reader.binary().size == 0);  // 9 bytes are announced, 1 is there
    CHECK(!reader.complete());
    CHECK(reader.u32() == 0);
}

void a_reader_takes_bytes_one_by_one() {
    const uint8_t message[] = {7, 8};
    Reader reader({message, sizeof message});
    CHECK(reader.u8() == 7 && reader.u8() == 8 && reader.complete());
    CHECK(reader.u8() == 0 && !reader.complete());
}

void a_writer_stops_at_its_capacity() {
    uint8_t buffer[9];
    Writer writer(buffer, 8);
    writer.u32(1);
    writer.u64(2);
    CHECK(!writer.fits());
    writer.u32(3);
    CHECK(writer.size() <= 8);
    writer.cut(4);
    writer.u32(3);
    CHECK(writer.fits() && writer.size() == 8 && load_u32(buffer + 4) == 3);
}

struct LogPage {
    uint8_t bytes[64];
    uint32_t end, next, size;

    LogPage(const Log &log, uint32_t cursor) {
        Writer writer(bytes, sizeof bytes);
        log.read(cursor, writer);
        end = load_u32(bytes);
        next = load_u32(bytes + 4);
        size = load_u32(bytes + 8);
    }

    bool is(const char *text) const {
        return size == std::strlen(text) && std::memcmp(bytes + 12, text, size) == 0;
    }
};

void the_log_is_read_by_cursor() {
    Log log;
    log.line("%s %d", "line", 1);
    log.text("two\r\n");
    CHECK(LogPage(log, 0).is("line 1\ntwo\n"));
    CHECK(LogPage(log, 7).is("two\n"));
    CHECK(LogPage(log, 11).is(""));
    CHECK(LogPage(log, 0).end == 11);
    CHECK(LogPage(log, 12).is("line 1\ntwo\n"));  // not in the ring: from its oldest byte
}

void the_log_keeps_its_latest_bytes() {
    Log log;
    for (uint32_t i = 0; i < config::kLogBytes; ++i) {
        log.text("abc");
    }
    const LogPage page(log, 0);
    CHECK(page.size == sizeof page.bytes - 12);
    CHECK(page.end == 3 * config::kLogBytes);
    CHECK(page.next == 2 * config::kLogBytes + page.size);
    CHECK(page.bytes[12] == "abc"[2 * config::kLogBytes % 3]);
}

}  // namespace

int main() {
    crc_of_the_check_text();
    frames_that_arrive_together_come_one_by_one();
    a_frame_may_arrive_byte_by_byte();
    stray_bytes_before_a_frame_are_dropped();
    a_body_with_a_wrong_crc_is_dropped();
    a_frame_that_is_too_long_is_skipped_whole();
    giving_up_finds_what_a_broken_frame_swallowed();
    a_reader_stops_at_the_end();
    a_reader_takes_bytes_one_by_one();
    a_writer_stops_at_its_capacity();
    the_log_is_read_by_cursor();
    the_log_keeps_its_latest_bytes();
    test_tensors();
    test_power();
    test_counters();
    test_sessions();
    return failures;
}
