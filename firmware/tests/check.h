#pragma once

#include <cstdio>

extern int failures;

#define CHECK(what)                                                  \
    do {                                                             \
        if (!(what)) {                                               \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #what);   \
            ++failures;                                              \
        }                                                            \
    } while (false)

void test_tensors();
void test_power();
void test_counters();
void test_sessions();
