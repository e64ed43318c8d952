#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

// A signal handler can reach nothing but a global.
static volatile sig_atomic_t wanted;

static void remember(int signal_number) {
    (void)signal_number;
    wanted = 1;
}

void interrupt_begin(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = remember, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof(signals) / sizeof(signals[0]); ++k) {
        struct sigaction before;
        bool ignored = sigaction(signals[k], NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!ignored) {
            sigaction(signals[k], &action, NULL);
        }
    }
}

bool interrupt_wanted(void) {
    return wanted != 0;
}
