// Version, status codes and the context that every other call hangs on.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TREACLE_VERSION_MAJOR 0
#define TREACLE_VERSION_MINOR 1
#define TREACLE_VERSION_PATCH 0

#if defined(__GNUC__)
#define TREACLE_API __attribute__((visibility("default")))
#define TREACLE_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define TREACLE_API
#define TREACLE_PRINTF(format_at, args_at)
#endif

/// "major.minor.patch" of the library that is linked, for comparison with the header's.
TREACLE_API const char* treacle_version(void);

// Every status: name, value, text. The value is the command's exit code.
#define TREACLE_STATUS_LIST(X)                                                                     \
    X(OK, 0, "success")                                                                            \
    X(ERR_INTERNAL, 1, "internal error: an invariant of the library does not hold")                \
    X(ERR_USAGE, 2, "wrong use of the command or of the library")                                  \
    X(ERR_SCENE, 3, "the scene has errors")                                                        \
    X(ERR_MEMORY, 4, "out of memory")                                                              \
    X(ERR_IO, 5, "a file could not be read or written")                                            \
    X(ERR_FORMAT, 6, "a file is damaged or is not of the expected kind")                           \
    X(ERR_VERSION, 7, "a file was written by an incompatible version")                             \
    X(ERR_UNSUPPORTED, 8, "this build does not have the feature")                                  \
    X(ERR_DIVERGED, 9, "a time step could not be completed")                                       \
    X(ERR_LIMIT, 10, "a limit of the library is exceeded")                                         \
    X(ERR_EXTERNAL, 11, "a helper program failed or is missing")                                   \
    X(ERR_INTERRUPTED, 12, "interrupted")

typedef enum treacle_status {
#define TREACLE_STATUS_ENUM(name, value, text) TREACLE_##name = (value),
    TREACLE_STATUS_LIST(TREACLE_STATUS_ENUM)
#undef TREACLE_STATUS_ENUM
} treacle_status;

/// The fixed one-line text of a status. Never NULL.
TREACLE_API const char* treacle_status_text(treacle_status status);
/// The status' own name, "TREACLE_ERR_IO". Never NULL.
TREACLE_API const char* treacle_status_name(treacle_status status);

typedef enum treacle_log_level {
    TREACLE_LOG_DEBUG,
    TREACLE_LOG_INFO,
    TREACLE_LOG_WARNING,
    TREACLE_LOG_ERROR,
} treacle_log_level;

/// Which instruction set the kernels use. All give the same bits; AUTO takes the machine's best.
typedef enum treacle_isa {
    TREACLE_ISA_AUTO,
    TREACLE_ISA_SSE2,
    TREACLE_ISA_AVX2,
    TREACLE_ISA_AVX512,
} treacle_isa;

typedef void* treacle_alloc_fcn(size_t bytes, size_t alignment, void* user);
typedef void treacle_free_fcn(void* block, size_t bytes, void* user);
typedef void treacle_log_fcn(treacle_log_level level, const char* text, void* user);

/// How to make a context. Start from treacle_context_def_default().
typedef struct treacle_context_def {
    size_t def_size;          ///< set by treacle_context_def_default(), checked on entry
    int threads;              ///< worker threads, 1..1024; 0 takes one per core
    treacle_isa isa;          ///< instruction set; ERR_UNSUPPORTED if the machine lacks it
    treacle_alloc_fcn* alloc; ///< NULL: the C library's. Must return NULL on failure
    treacle_free_fcn* free;   ///< goes with alloc; gets the size that was asked for
    void* alloc_user;         ///< handed to alloc and free
    treacle_log_fcn* log;     ///< NULL: warnings and errors go to stderr
    void* log_user;           ///< handed to log
    bool ranks; ///< join the ranks that mpirun has started, in a build with MPI. Then what is made
                ///< with the context is made by all ranks together: every rank makes the same calls
                ///< in the same order
} treacle_context_def;

/// Allocator, log, threads and the last error. One context, one caller at a time.
typedef struct treacle_context treacle_context;

TREACLE_API treacle_context_def treacle_context_def_default(void);
TREACLE_API treacle_status treacle_context_create(const treacle_context_def* def,
                                                  treacle_context** out);
/// Accepts NULL. Everything made with the context must be gone before.
TREACLE_API void treacle_context_destroy(treacle_context* ctx);

/// What went wrong in the last call that returned an error: one sentence or more, "" if none yet.
/// Valid until the next failing call.
TREACLE_API const char* treacle_context_error(const treacle_context* ctx);
TREACLE_API int treacle_context_threads(const treacle_context* ctx);
TREACLE_API treacle_isa treacle_context_isa(const treacle_context* ctx);
/// This process among the ranks, from 0, and how many they are. One by itself is rank 0 of 1.
TREACLE_API int treacle_context_rank(const treacle_context* ctx);
TREACLE_API int treacle_context_ranks(const treacle_context* ctx);
/// OK if the status is OK on all ranks, else that of the lowest rank where it is not, with its
/// error. Every rank calls it.
TREACLE_API treacle_status treacle_context_agree(treacle_context* ctx, treacle_status status);
/// Bytes that the library uses now, and the most it ever used; what a simulation keeps for its next
/// steps comes on top.
TREACLE_API size_t treacle_context_memory(const treacle_context* ctx);
TREACLE_API size_t treacle_context_memory_peak(const treacle_context* ctx);

/// "Did you mean": the candidate that differs from the word by the fewest letters, or NULL if none
/// is near enough.
TREACLE_API const char* treacle_suggest(const char* word, const char* const* candidates, int count);

#ifdef __cplusplus
}
#endif
