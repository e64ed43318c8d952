#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_assert_failed(const char* condition, const char* file, int line) {
    fprintf(stderr, "treacle: broken invariant: %s, at %s:%d\n", condition, file, line);
    abort();
}
