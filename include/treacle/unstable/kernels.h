// Single kernels, for benches, validation and research. May change or vanish with any version.
#pragma once

#include "../base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The exact sum of the values, rounded once: what every sum over tiles and particles goes through.
/// The same bits for every order of the values and every number of threads.
TREACLE_API double treacle_unstable_sum(treacle_context* ctx, int64_t count, const double* values);

#ifdef __cplusplus
}
#endif
