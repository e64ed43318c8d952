// Three failures, three channels: a broken contract (assert), a broken world (status), a solve
// that did not converge (statistics; see solve/solve_stats.h).
#pragma once

#include "treacle/base.h"

// TREACLE_ASSERT stands at the door of a function and says what its caller has to see to: a few
// comparisons, never about what users or files say (that is a status). TREACLE_VALIDATE stands
// between stages and hands a whole structure to its predicate (`tile_map_is_valid`), which may pass
// over all of its data. Both are evaluated in builds with assertions alone and change nothing: in
// all others not even the expression is run.
#ifdef TREACLE_ENABLE_ASSERT
#define TREACLE_ASSERT(condition)                                                                  \
    ((condition) ? (void)0 : check_assert_failed(#condition, __FILE__, __LINE__))
#define TREACLE_VALIDATE(condition)                                                                \
    ((condition) ? (void)0 : check_assert_failed(#condition, __FILE__, __LINE__))
#else
#define TREACLE_ASSERT(condition) ((void)sizeof(condition))
#define TREACLE_VALIDATE(condition) ((void)sizeof(condition))
#endif

/// Says what was broken and where, and ends the process. It is alone in its file: a program that is
/// linked with the library and has a function of this name has replaced it (tests/unit/broken.h).
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
