// Three failures, three channels: a broken contract (assert), a broken world (status), a solve
// that did not converge (statistics; see solve/solve_stats.h).
#pragma once

#include "treacle/base.h"

// Cheap checks of our own contracts; off in release builds.
#ifdef TREACLE_ENABLE_ASSERT
#define TREACLE_ASSERT(condition)                                                                  \
    ((condition) ? (void)0 : check_assert_failed(#condition, __FILE__, __LINE__))
#else
#define TREACLE_ASSERT(condition) ((void)sizeof(condition))
#endif

void check_assert_failed(const char* condition, const char* file, int line);

// Hands an error on to the caller.
#define TREACLE_TRY(call)                                                                          \
    do {                                                                                           \
        treacle_status try_status_ = (call);                                                       \
        if (try_status_ != TREACLE_OK) {                                                           \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

// Hands an error on to the caller by way of a label that frees what the function holds. Needs a
// local `treacle_status status`.
#define TREACLE_TRY_GOTO(call, label)                                                              \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != TREACLE_OK) {                                                                \
            goto label;                                                                            \
        }                                                                                          \
    } while (0)

/// Records the sentence that treacle_context_error() will show and returns the status.
treacle_status check_fail(treacle_context* ctx, treacle_status status, const char* format, ...)
    TREACLE_PRINTF(3, 4);
