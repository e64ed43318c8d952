// ODE's complaints, kept from ending the process, and its memory, which is the context's.
//
// ODE tells of what it cannot do by three handlers of the whole process. A message goes on
// afterwards: the solver of contacts says in one that it gave up. An error or a failed assertion
// ends the process (exit, abort) as soon as its handler returns; so ours does not return, it jumps
// back to the code that called ODE. What ODE was at work on is then given up; it must belong to
// that call alone: a world with threading of its own, which no other call sees. No object with a
// destructor is on the stack between the call and the assertions.
//
// ODE takes its memory by handlers of the process, too. What it takes during a call comes from the
// call's context, in chunks that are dropped as a whole at the end of the call, however it ended;
// so nothing that is made in a call may be used after it. Without memory a call ends as by an
// error: most of ODE does not look at what it is given.
//
// That is the last resort. Who calls ODE first makes sure of what it asks for: numbers that are
// finite, steps above zero, masses that are positive.
//
// Threads: each has its own call. What happens outside of any call is the host's, and goes to the
// handlers that were there before.
#pragma once

#include "base/context.h"

/// How a call of ODE went.
typedef struct ode_report {
    bool is_broken; // it did not come to its end
    bool is_poor;   // for lack of memory
    int messages;   // of ODE on the way
    char text[160]; // the last complaint
} ode_report;

typedef void ode_work(void* data);

/// Makes ODE ready for this thread; as often as you like.
void ode_guard_start(void);
/// Runs what calls ODE.
void ode_guard_run(treacle_context* ctx, ode_work* work, void* data, ode_report* out);
