#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { TEXT_CAPACITY = 1024 };

// A signal handler can reach nothing but a global.
static volatile sig_atomic_t wanted;
static char last_words[TEXT_CAPACITY];

static void remember(int signal_number) {
    (void)signal_number;
    wanted = 1;
}

static void say_and_end(int signal_number) {
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
    _exit(written < 0 ? 1 : CLI_EXIT_INTERRUPTED);
}

static void listen(int signal_number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    bool ignored = sigaction(signal_number, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
    if (!ignored) {
        sigaction(signal_number, &action, NULL);
    }
}

void interrupt_begin(void) {
    listen(SIGINT, remember);
    listen(SIGHUP, remember);
    listen(SIGTERM, remember);
}

void interrupt_begin_run(const treacle_context* ctx, const char* folder) {
    enum { SPEAKERS = 2 }; // one of them may be the one that died
    interrupt_begin();
    if (treacle_context_ranks(ctx) == 1) {
        return;
    }
    if (treacle_context_rank(ctx) < SPEAKERS) {
        snprintf(last_words, sizeof(last_words),
                 "treacle: error: the run was ended from outside, or because one of its ranks "
                 "died\ntreacle: hint: all frames in %.256s are whole; go on with \"treacle resume "
                 "%.256s\"\n",
                 folder, folder);
    }
    listen(SIGTERM, say_and_end);
}

bool interrupt_wanted(void) {
    return wanted != 0;
}
