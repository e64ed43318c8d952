// The error of pictures at equal processor time, against Blender's Cycles where it is installed.
//
// Both draw the same mesh over the same slab in the same light, with the same constants. Each is
// measured against its own picture of many samples, since their models differ in small things; that
// the two agree in mean radiance within 5 % shows that it is the same scene. Error: the root of the
// mean over pixels of (L - L')^2 / (L'^2 + 0.01), L the luminance, L' of the converged picture. It
// falls as one over the root of time, by which it is brought to equal times; the time of a picture
// of one sample is taken off both.
#pragma once

#include "bench.h"

treacle_status bench_cycles(bench* b, const treacle_frame* frame);
