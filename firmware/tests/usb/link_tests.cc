#include <cstdio>
#include <cstring>
#include <vector>

#include "boards/ambiq/link.h"
#include "boards/board.h"
#include "controller.h"
#include "ns_ambiqsuite_harness.h"
#include "ns_usb.h"
#include "tests/check.h"

/** The board's USB link against a host: what either sends arrives, all of it and in order. */
using namespace autodeploy;
using namespace autodeploy::ambiq;

int failures = 0;

namespace {

constexpr size_t kMegabyte = 1 << 20;
constexpr int kMostIdleSteps = 100;  // steps in which nothing moves

std::vector<uint8_t> numbers(size_t size, uint32_t seed) {
    std::vector<uint8_t> data(size);
    for (uint8_t &byte : data) {
        seed = seed * 1'664'525u + 1'013'904'223u;
        byte = static_cast<uint8_t>(seed >> 24);
    }
    return data;
}

/** Sizes of messages from one byte on; none ends with a whole packet. */
size_t message(size_t sent, size_t size) {
    const size_t wanted = 1 + sent % 4093;
    const size_t odd = wanted % kPacketBytes == 0 ? wanted + 1 : wanted;
    return odd < size - sent ? odd : size - sent;
}

std::vector<uint8_t> fetch() {
    uint8_t packet[kPacketBytes];
    std::vector<uint8_t> got;
    for (size_t size = host_fetch(packet); size > 0; size = host_fetch(packet)) {
        got.insert(got.end(), packet, packet + size);
    }
    return got;
}

void what_is_written_before_a_host_comes_is_kept_as_far_as_it_fits() {
    const auto sent = numbers(10'000, 3);
    const size_t written = write_link(sent.data(), sent.size());
    CHECK(written > 0 && written < sent.size());
    CHECK(write_link(sent.data(), sent.size()) == 0);
    class_open();
    class_line_state(true);
    write_link(sent.data(), 0);
    std::vector<uint8_t> got = fetch();
    got.resize(got.size() < written ? got.size() : written);
    CHECK(got.empty() || std::memcmp(got.data(), sent.data(), got.size()) == 0);
}

void a_megabyte_arrives_at_the_board() {
    const auto sent = numbers(kMegabyte + 1, 1);
    std::vector<uint8_t> got;
    size_t done = 0;
    for (int idle = 0; got.size() < sent.size() && idle < kMostIdleSteps; ++idle) {
        const size_t end = done + message(done, sent.size());
        for (size_t packet = 1; done < end && packet > 0; done += packet) {
            packet = host_send(sent.data() + done, end - done);
            if (packet == 0) {
                uint8_t some[1500];
                const size_t size = read_link(some, sizeof some);
                got.insert(got.end(), some, some + size);
                packet = host_send(sent.data() + done, end - done);
            }
        }
        uint8_t some[700];
        for (size_t size = read_link(some, sizeof some); size > 0; size = read_link(some, sizeof some)) {
            got.insert(got.end(), some, some + size);
            idle = 0;
        }
    }
    CHECK(got == sent);
}

void a_megabyte_arrives_at_the_host() {
    const auto sent = numbers(kMegabyte, 2);
    std::vector<uint8_t> got;
    size_t done = 0;
    for (int idle = 0; got.size() < sent.size() && idle < kMostIdleSteps; ++idle) {
        done += write_link(sent.data() + done, sent.size() - done);
        const auto some = fetch();
        got.insert(got.end(), some.begin(), some.end());
        idle = some.empty() ? idle : 0;
    }
    CHECK(got == sent);
}

void the_link_says_when_it_has_sent_all() {
    const auto sent = numbers(3000, 4);
    CHECK(!link_sends());
    CHECK(write_link(sent.data(), sent.size()) == sent.size());
    CHECK(link_sends());
    CHECK(fetch().size() == sent.size());
    CHECK(!link_sends());
}

void the_link_takes_no_interrupts_while_it_is_silent() {
    silence_link(true);
    CHECK(!interrupt_enabled[TIMER3_IRQn] && !interrupt_enabled[USB0_IRQn]);
    silence_link(false);
    CHECK(interrupt_enabled[TIMER3_IRQn] && interrupt_enabled[USB0_IRQn]);
    CHECK(interrupts_masked == 0);
}

std::vector<uint8_t> received() {
    std::vector<uint8_t> got;
    uint8_t some[700];
    for (size_t size = read_link(some, sizeof some); size > 0; size = read_link(some, sizeof some)) {
        got.insert(got.end(), some, some + size);
    }
    return got;
}

void a_timed_inference_is_not_interrupted_to_serve_usb() {
    const int before = services;
    board::begin_quiet();
    timer_ticks(36'000);
    CHECK(services == before);
    board::end_quiet();
    timer_ticks(1);
    CHECK(services > before);
    CHECK(interrupts_masked == 0);
}

void what_a_host_sends_during_an_inference_waits_and_arrives() {
    const auto sent = numbers(10'001, 5);
    size_t done = 0;
    board::begin_quiet();
    for (size_t size = 1; size > 0; done += size) {
        size = host_send(sent.data() + done, sent.size() - done);
    }
    CHECK(done < sent.size());
    CHECK(host_send(sent.data() + done, sent.size() - done) == 0);
    board::end_quiet();
    std::vector<uint8_t> got = received();
    for (int idle = 0; done < sent.size() && idle < kMostIdleSteps; ++idle) {
        done += host_send(sent.data() + done, sent.size() - done);
        const auto some = received();
        got.insert(got.end(), some.begin(), some.end());
    }
    CHECK(got == sent);
}

void an_answer_that_a_host_has_not_fetched_before_an_inference_is_there_after_it() {
    const auto sent = numbers(3'000, 6);
    CHECK(write_link(sent.data(), sent.size()) == sent.size());
    board::begin_quiet();
    std::vector<uint8_t> got = fetch();
    CHECK(got.size() < sent.size());
    board::end_quiet();
    const auto rest = fetch();
    got.insert(got.end(), rest.begin(), rest.end());
    CHECK(got == sent);
    CHECK(!link_sends());
}

/** neuralSPOT reads its length when a browser asks, whether there is one or not. */
void there_is_a_url_that_a_browser_may_ask_for() {
    const auto *url = ns_get_desc_url();
    CHECK(url != nullptr && url->bLength >= 3 && url->bDescriptorType == 3);
}

}  // namespace

int main() {
    init_link();
    there_is_a_url_that_a_browser_may_ask_for();
    what_is_written_before_a_host_comes_is_kept_as_far_as_it_fits();
    a_megabyte_arrives_at_the_board();
    a_megabyte_arrives_at_the_host();
    the_link_says_when_it_has_sent_all();
    the_link_takes_no_interrupts_while_it_is_silent();
    a_timed_inference_is_not_interrupted_to_serve_usb();
    what_a_host_sends_during_an_inference_waits_and_arrives();
    an_answer_that_a_host_has_not_fetched_before_an_inference_is_there_after_it();
    std::printf(failures ? "%d failures\n" : "passed\n", failures);
    return failures ? 1 : 0;
}
