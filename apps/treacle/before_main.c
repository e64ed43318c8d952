// What must be in order before anything else runs, even the constructors of the libraries that the
// program is linked with: some of them begin threads, and throw where there is no memory for that.
//
// So an exception that nobody catches ends with a sentence and the exit code of memory, and so does
// a stack that is too small to work on. All here is safe to call that early.
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "treacle/base.h"

// The run time of C++ has it under this name; C cannot say std::.
typedef void end_fcn(void);
extern end_fcn* set_terminate(end_fcn* handler) __asm__("_ZSt13set_terminatePFvvE");

enum { STACK_LEAST = 1 << 20 }; // bytes; a small scene needs some 200 000

static _Noreturn void end_with(const char* text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    _exit(written < 0 ? 1 : TREACLE_ERR_MEMORY);
}

static void end_of_exception(void) {
    end_with("treacle: error: out of memory, or of threads, in a library; limits are shown by "
             "\"ulimit -a\"\n");
}

static void check_stack(void) {
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < STACK_LEAST) {
        end_with("treacle: error: the stack is too small: at least 1024 KB are needed, see "
                 "\"ulimit -s\"\n");
    }
}

static void prepare(void) {
    set_terminate(end_of_exception);
    check_stack();
}

__attribute__((section(".preinit_array"), used)) static end_fcn* const before_main = prepare;
