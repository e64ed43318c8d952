#include "base/profile.h"

#include <string.h>
#include <time.h>

#include "base/check.h"

double profile_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double profile_cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void profile_init(profile* p) {
    memset(p, 0, sizeof(*p));
    p->open = -1;
}

void profile_end(profile* p) {
    TREACLE_ASSERT(p->open < PROFILE_STAGES_MAX);
    if (p->open >= 0) {
        p->seconds[p->open] += profile_now() - p->began;
        p->open = -1;
    }
}

void profile_begin(profile* p, int stage) {
    TREACLE_ASSERT(stage >= 0 && stage < PROFILE_STAGES_MAX);
    profile_end(p);
    p->open = stage;
    p->visits[stage] += 1;
    p->began = profile_now();
}
