#include "step/ode_guard.h"

#include <ode/ode.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/alloc.h"

enum { CHUNK_BYTES = 1 << 16, BLOCK_ALIGNMENT = 64 };

// What ODE has taken; blocks follow.
typedef struct ode_chunk {
    _Alignas(BLOCK_ALIGNMENT) struct ode_chunk* next;
    size_t bytes, used; // of all of it
} ode_chunk;

typedef struct ode_call {
    treacle_context* ctx;
    jmp_buf way_out;
    ode_report* report;
    ode_chunk* chunks; // the last first
} ode_call;

static _Thread_local ode_call* running; // of this thread; NULL: none

// What was there before us.
static dMessageFunction *host_error, *host_debug, *host_message;
static dAllocFunction* host_alloc;
static dReallocFunction* host_realloc;
static dFreeFunction* host_free;

// --- complaints ----------------------------------------------------------------------------------

// As ODE would without a handler.
static void tell_host(dMessageFunction* host, const char* kind, int number, const char* format,
                      va_list args) {
    if (host != NULL) {
        host(number, format, args);
        return;
    }
    fprintf(stderr, "\nODE %s %d: ", kind, number);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
}

static void leave(const char* format, va_list args) {
    ode_report* report = running->report;
    vsnprintf(report->text, sizeof(report->text), format, args);
    report->is_broken = true;
    longjmp(running->way_out, 1);
}

static void on_error(int number, const char* format, va_list args) {
    if (running != NULL) {
        leave(format, args);
    }
    tell_host(host_error, "Error", number, format, args);
}

static void on_debug(int number, const char* format, va_list args) {
    if (running != NULL) {
        leave(format, args);
    }
    tell_host(host_debug, "INTERNAL ERROR", number, format, args);
}

static void on_message(int number, const char* format, va_list args) {
    if (running == NULL) {
        tell_host(host_message, "Message", number, format, args);
        return;
    }
    ode_report* report = running->report;
    report->messages += 1;
    vsnprintf(report->text, sizeof(report->text), format, args);
}

// --- memory --------------------------------------------------------------------------------------

static void add_chunk(ode_call* call, size_t bytes) {
    size_t whole = sizeof(ode_chunk) + (bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
    ode_chunk* chunk = alloc_bytes(call->ctx, whole);
    if (chunk == NULL) {
        call->report->is_broken = call->report->is_poor = true;
        longjmp(call->way_out, 1);
    }
    *chunk = (ode_chunk){.next = call->chunks, .bytes = whole, .used = sizeof(*chunk)};
    call->chunks = chunk;
}

static void* on_alloc(dsizeint bytes) {
    ode_call* call = running;
    if (call == NULL) {
        return host_alloc != NULL ? host_alloc(bytes) : malloc(bytes);
    }
    size_t room = (bytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    if (call->chunks == NULL || call->chunks->bytes - call->chunks->used < room) {
        add_chunk(call, room);
    }
    void* block = (char*)call->chunks + call->chunks->used;
    call->chunks->used += room;
    return block;
}

static void* on_realloc(void* block, dsizeint before, dsizeint bytes) {
    if (running == NULL) {
        return host_realloc != NULL ? host_realloc(block, before, bytes) : realloc(block, bytes);
    }
    void* moved = on_alloc(bytes);
    memcpy(moved, block, before < bytes ? before : bytes);
    return moved;
}

static void on_free(void* block, dsizeint bytes) {
    if (running == NULL && host_free != NULL) {
        host_free(block, bytes);
    } else if (running == NULL) {
        free(block);
    }
}

// --- calls ---------------------------------------------------------------------------------------

static void init_ode(void) {
    dInitODE2(0);
    host_alloc = dGetAllocHandler();
    host_realloc = dGetReallocHandler();
    host_free = dGetFreeHandler();
    dSetAllocHandler(on_alloc);
    dSetReallocHandler(on_realloc);
    dSetFreeHandler(on_free);
    host_error = dGetErrorHandler();
    host_debug = dGetDebugHandler();
    host_message = dGetMessageHandler();
    dSetErrorHandler(on_error);
    dSetDebugHandler(on_debug);
    dSetMessageHandler(on_message);
}

void ode_guard_start(void) {
    static once_flag flag = ONCE_FLAG_INIT; // ODE's own state is the process's
    call_once(&flag, init_ode);
    dAllocateODEDataForThread(dAllocateMaskAll);
}

// Changes of the call are seen after a jump: it is not of this function.
static void run(ode_call* call, ode_work* work, void* data) {
    running = call;
    if (setjmp(call->way_out) == 0) {
        work(data);
    }
    running = NULL;
}

void ode_guard_run(treacle_context* ctx, ode_work* work, void* data, ode_report* out) {
    TREACLE_ASSERT(ctx != NULL && work != NULL && out != NULL);
    *out = (ode_report){0};
    ode_call call = {.ctx = ctx, .report = out};
    run(&call, work, data);
    while (call.chunks != NULL) {
        ode_chunk* chunk = call.chunks;
        call.chunks = chunk->next;
        alloc_free(ctx, chunk, chunk->bytes);
    }
}
