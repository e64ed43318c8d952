#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/parallel.h"

enum {
    THREADS_MAX = 1024,
    LOG_CAPACITY = 4096,
    // The context's own block is not counted: there is no context yet to count it.
    CONTEXT_BYTES =
        (sizeof(treacle_context) + TREACLE_ALIGNMENT - 1) / TREACLE_ALIGNMENT * TREACLE_ALIGNMENT,
};

const char* treacle_status_text(treacle_status status) {
    switch (status) {
#define STATUS_TEXT(name, value, text)                                                             \
    case TREACLE_##name:                                                                           \
        return text;
        TREACLE_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char* treacle_status_name(treacle_status status) {
    switch (status) {
#define STATUS_NAME(name, value, text)                                                             \
    case TREACLE_##name:                                                                           \
        return "TREACLE_" #name;
        TREACLE_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "TREACLE_UNKNOWN";
}

static void* default_alloc(size_t bytes, size_t alignment, void* user) {
    (void)user;
    return aligned_alloc(alignment, bytes);
}

static void default_free(void* block, size_t bytes, void* user) {
    (void)bytes;
    (void)user;
    free(block);
}

static void default_log(treacle_log_level level, const char* text, void* user) {
    (void)user;
    if (level >= TREACLE_LOG_WARNING) {
        fprintf(stderr, "treacle: %s%s\n", level == TREACLE_LOG_WARNING ? "warning: " : "", text);
    }
}

treacle_context_def treacle_context_def_default(void) {
    return (treacle_context_def){.def_size = sizeof(treacle_context_def)};
}

static bool machine_has(treacle_isa isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (isa) {
    case TREACLE_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512cd");
    case TREACLE_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    case TREACLE_ISA_AUTO:
    case TREACLE_ISA_SSE2:
        return true;
    }
#endif
    return isa == TREACLE_ISA_AUTO || isa == TREACLE_ISA_SSE2;
}

static treacle_isa best_isa(void) {
    if (machine_has(TREACLE_ISA_AVX512)) {
        return TREACLE_ISA_AVX512;
    }
    return machine_has(TREACLE_ISA_AVX2) ? TREACLE_ISA_AVX2 : TREACLE_ISA_SSE2;
}

int context_core_count(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (int)cores;
}

static void fill_defaults(treacle_context_def* def) {
    if (def->alloc == NULL) {
        def->alloc = default_alloc;
        def->free = default_free;
    }
    if (def->log == NULL) {
        def->log = default_log;
    }
}

// Ranks of one machine share its cores.
static int cores_of_rank(const treacle_context* ctx) {
    int cores = context_core_count() / comm_size_here(ctx);
    return cores < 1 ? 1 : cores;
}

bool context_has_plain_memory(const treacle_context* ctx) {
    return ctx->def.alloc == default_alloc;
}

// The context's error dies with the context: the log gets it. Ranks of different versions would
// not understand each other.
static treacle_status join_ranks(treacle_context* ctx) {
    treacle_status status = comm_open(ctx);
    if (status == TREACLE_OK) {
        status = comm_check_same(ctx, "the version of treacle", treacle_version());
    }
    if (status != TREACLE_OK && comm_rank(ctx) == 0) {
        log_message(ctx, TREACLE_LOG_ERROR, "%s", ctx->error);
    }
    bool is_ours = context_has_plain_memory(ctx);
    ctx->has_pages = comm_size(ctx) > 1 && is_ours;
    ctx->poisons = getenv("TREACLE_POISON") != NULL;
    ctx->has_heap = comm_size(ctx) == 1 && is_ours && !TREACLE_WATCHES_MEMORY;
    return status;
}

treacle_status treacle_context_create(const treacle_context_def* def, treacle_context** out) {
    *out = NULL;
    bool valid = def != NULL && def->def_size == sizeof(*def) && def->threads >= 0 &&
                 def->threads <= THREADS_MAX && (def->alloc == NULL) == (def->free == NULL);
    if (!valid) {
        return TREACLE_ERR_USAGE;
    }
    if (!machine_has(def->isa)) {
        return TREACLE_ERR_UNSUPPORTED;
    }
    treacle_context_def filled = *def;
    fill_defaults(&filled);
    treacle_context* ctx = filled.alloc(CONTEXT_BYTES, TREACLE_ALIGNMENT, filled.alloc_user);
    if (ctx == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    memset(ctx, 0, sizeof(*ctx));
    ctx->def = filled;
    ctx->isa = def->isa == TREACLE_ISA_AUTO ? best_isa() : def->isa;
    treacle_status status = join_ranks(ctx);
    if (status == TREACLE_OK) {
        ctx->threads = def->threads == 0 ? cores_of_rank(ctx) : def->threads;
        status = parallel_pool_create(ctx);
    }
    if (status != TREACLE_OK) {
        comm_close(ctx);
        filled.free(ctx, CONTEXT_BYTES, filled.alloc_user);
        return status;
    }
    *out = ctx;
    return TREACLE_OK;
}

void treacle_context_destroy(treacle_context* ctx) {
    if (ctx == NULL) {
        return;
    }
    parallel_pool_destroy(ctx);
    comm_close(ctx);
    alloc_trim(ctx);
    ctx->def.free(ctx, CONTEXT_BYTES, ctx->def.alloc_user);
}

const char* treacle_context_error(const treacle_context* ctx) {
    return ctx->error;
}

int treacle_context_threads(const treacle_context* ctx) {
    return ctx->threads;
}

treacle_isa treacle_context_isa(const treacle_context* ctx) {
    return ctx->isa;
}

int treacle_context_rank(const treacle_context* ctx) {
    return comm_rank(ctx);
}

int treacle_context_ranks(const treacle_context* ctx) {
    return comm_size(ctx);
}

treacle_status treacle_context_agree(treacle_context* ctx, treacle_status status) {
    return comm_agree(ctx, status);
}

size_t treacle_context_memory(const treacle_context* ctx) {
    return atomic_load(&ctx->memory);
}

size_t treacle_context_memory_peak(const treacle_context* ctx) {
    return atomic_load(&ctx->memory_peak);
}

treacle_status check_fail(treacle_context* ctx, treacle_status status, const char* format, ...) {
    TREACLE_ASSERT(status != TREACLE_OK);
    TREACLE_ASSERT(format != NULL);
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof(ctx->error), format, args);
    va_end(args);
    return status;
}

void log_message(treacle_context* ctx, treacle_log_level level, const char* format, ...) {
    TREACLE_ASSERT(ctx->def.log != NULL);
    char text[LOG_CAPACITY];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ctx->def.log(level, text, ctx->def.log_user);
}
