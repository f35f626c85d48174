#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A USB controller and its host, below a class driver that is either a stand-in or an SDK's. */
#ifdef __cplusplus
extern "C" {
#endif

enum { kOut = 0x02, kIn = 0x82, kPacketBytes = 512 };

/** What the class driver asks of the controller. */
bool controller_claim(uint8_t endpoint);
bool controller_claimed(uint8_t endpoint);
void controller_release(uint8_t endpoint);
void controller_arm(uint8_t endpoint, uint8_t *data, uint32_t bytes);

/** What the controller asks of the class driver. */
void class_start(void);
void class_open(void);
void class_line_state(bool ready);
void class_done(uint8_t endpoint, uint32_t bytes);

/** The timer that the SDK serves USB from: comes so often, and how often it has been served. */
void timer_ticks(int count);
extern int services;

/** The host: sends one packet, or none (0) while the board takes nothing; fetches what is there. */
size_t host_send(const uint8_t *data, size_t size);
size_t host_fetch(uint8_t *data);

#ifdef __cplusplus
}
#endif
