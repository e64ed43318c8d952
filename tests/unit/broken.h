// Sees assertions fire: with this header a program has a handler of its own in place of the one in
// base/check.c, and a broken contract fails the test, or is what assert_broken waits for.
#pragma once

#include "unit.h"

#include "base/check.h"

void check_assert_failed(const char* condition, const char* file, int line) {
    mock_assert(0, condition, file, line);
}

/// The call breaks a contract and comes no further than the door. Builds without assertions do not
/// make it.
#ifdef TREACLE_ENABLE_ASSERT
#define assert_broken(call) expect_assert_failure(call)
#else
#define assert_broken(call)                                                                        \
    do {                                                                                           \
        if (false) {                                                                               \
            call;                                                                                  \
        }                                                                                          \
    } while (0)
#endif
