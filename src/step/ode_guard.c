#include "step/ode_guard.h"

#include <ode/ode.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <threads.h>

typedef struct ode_call {
    jmp_buf way_out;
    ode_report* report;
} ode_call;

static _Thread_local ode_call* running; // of this thread; NULL: none

// What was there before us.
static dMessageFunction *host_error, *host_debug, *host_message;

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

static void init_ode(void) {
    dInitODE2(0);
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

void ode_guard_run(ode_work* work, void* data, ode_report* out) {
    *out = (ode_report){0};
    ode_call call = {.report = out};
    running = &call;
    if (setjmp(call.way_out) == 0) {
        work(data);
    }
    running = NULL;
}
