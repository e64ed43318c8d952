// Kernels over vectors. All of them walk spans, stretches of a tile that have unknowns, in steps of
// eight lanes; spans are whole rows of eight, so no loop has a remainder. Sums are kept in eight
// lanes a tile and added by f64x8_sum in one fixed tree, which makes them independent of the
// instruction set, of threads and of ranks. Values that are stored as float are widened before they
// enter a sum: what is rounded is the storage. Where nothing but a cycle reads a result, it is made
// in float.
#include <stdint.h>

#include "solve/vec_kernels.h"

typedef int64_t i64x8 __attribute__((vector_size(64)));

// By bits and not by comparison: a NaN stays one, and the solve that has met it is told so.
static f64x8 magnitude(f64x8 v) {
    const int64_t all_but_sign = INT64_MAX;
    i64x8 mask = {all_but_sign, all_but_sign, all_but_sign, all_but_sign,
                  all_but_sign, all_but_sign, all_but_sign, all_but_sign};
    return (f64x8)((i64x8)v & mask);
}

// The larger of each lane; v's where they cannot be compared.
static f64x8 larger(f64x8 most, f64x8 v) {
    // False for a NaN in v, which is then taken.
    i64x8 keep = most > v;
    return (f64x8)(((i64x8)most & keep) | ((i64x8)v & ~keep));
}

// A NaN that is not in the last lane is lost here; the sum of squares beside it has it.
static double largest_lane(f64x8 v) {
    double most = v[0];
    for (int i = 1; i < SIMD_LANES; ++i) {
        most = most > v[i] ? most : v[i];
    }
    return most;
}

// u += a x, the update of an iterate.
void ISA(vec_loop_add_scaled)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    f64x8 a = f64x8_set(job->a);
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            const double* x = job->x + s.offset;
            double* u = job->u + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                f64x8_store(u + k, f64x8_load(u + k) + a * f64x8_load(x + k));
            }
        }
    }
}

void ISA(vec_loop_dot)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        f64x8 sum = f64x8_set(0.0);
        FOR_SPANS(s, job->space, run) {
            const double *x = job->x + s.offset, *y = job->y + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                sum += f64x8_load(x + k) * f64x8_load(y + k);
            }
        }
        // Lanes have the same meaning for every instruction set and are added in one fixed tree: a
        // tile's sum has the same bits everywhere.
        job->space->partial[0][run.slot] = f64x8_sum(sum);
    }
}

void ISA(vec_loop_dot_float)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        f64x8 sum = f64x8_set(0.0);
        FOR_SPANS(s, job->space, run) {
            const float *f = job->f + s.offset, *g = job->g + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                // Products of floats are exact in double.
                sum += f64x8_from_f32x8(f32x8_load(f + k)) * f64x8_from_f32x8(f32x8_load(g + k));
            }
        }
        job->space->partial[0][run.slot] = f64x8_sum(sum);
    }
}

// Square and largest magnitude in one pass; the second finds single cells that a norm would hide.
void ISA(vec_loop_measure)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        f64x8 sum = f64x8_set(0.0), most = f64x8_set(0.0);
        FOR_SPANS(s, job->space, run) {
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                f64x8 v = f64x8_load(job->x + s.offset + k);
                sum += v * v;
                most = larger(most, magnitude(v));
            }
        }
        job->space->partial[0][run.slot] = f64x8_sum(sum);
        job->space->partial[1][run.slot] = largest_lane(most);
    }
}

void ISA(vec_loop_weigh)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            const float *f = job->f + s.offset, *g = job->g + s.offset;
            float* h = job->h + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                // In float: a weight only has to be near.
                f32x8_store(h + k, f32x8_load(f + k) * f32x8_load(g + k));
            }
        }
    }
}

void ISA(vec_loop_round)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    f64x8 scale = f64x8_set(job->scale);
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            const double* x = job->x + s.offset;
            float* h = job->h + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                // A power of two, so that residuals of any size use the range of a float and lose
                // nothing by it.
                f32x8_store(h + k, f32x8_from_f64x8(scale * f64x8_load(x + k)));
            }
        }
    }
}

// A step of conjugate gradients: x += a p, r -= a q, the residual as the next cycle reads it, and
// its sizes. Done apart these are four passes, and memory is what an iteration costs.
void ISA(vec_loop_descend)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    f64x8 a = f64x8_set(job->a), scale = f64x8_set(job->scale);
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        f64x8 sum = f64x8_set(0.0), most = f64x8_set(0.0);
        FOR_SPANS(s, job->space, run) {
            const float* f = job->f + s.offset;
            const double* y = job->y + s.offset;
            double *u = job->u + s.offset, *v = job->v + s.offset;
            float* h = job->h + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                f64x8_store(u + k, f64x8_load(u + k) + a * f64x8_from_f32x8(f32x8_load(f + k)));
                f64x8 r = f64x8_load(v + k) - a * f64x8_load(y + k);
                f64x8_store(v + k, r);
                f32x8_store(h + k, f32x8_from_f64x8(scale * r));
                sum += r * r;
                most = larger(most, magnitude(r));
            }
        }
        job->space->partial[0][run.slot] = f64x8_sum(sum);
        job->space->partial[1][run.slot] = largest_lane(most);
    }
}

// z . x and z . y: the flexible beta needs the new residual and the old one against one z.
void ISA(vec_loop_dot_two)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        f64x8 with_x = f64x8_set(0.0), with_y = f64x8_set(0.0);
        FOR_SPANS(s, job->space, run) {
            const double *x = job->x + s.offset, *y = job->y + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                f64x8 z = f64x8_from_f32x8(f32x8_load(job->f + s.offset + k));
                with_x += z * f64x8_load(x + k);
                with_y += z * f64x8_load(y + k);
            }
        }
        job->space->partial[0][run.slot] = f64x8_sum(with_x);
        job->space->partial[1][run.slot] = f64x8_sum(with_y);
    }
}

// p is kept in float: it is read by the operator, whose images are in double whatever p is.
void ISA(vec_loop_conjugate)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    f64x8 a = f64x8_set(job->a);
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            const float* f = job->f + s.offset;
            float* h = job->h + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                f64x8 z = f64x8_from_f32x8(f32x8_load(f + k));
                f64x8 p = z + a * f64x8_from_f32x8(f32x8_load(h + k));
                f32x8_store(h + k, f32x8_from_f64x8(p));
            }
        }
    }
}

// u = a f + c u in float, for the two directions of a K-cycle.
void ISA(vec_loop_combine_float)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    f32x8 a = f32x8_set((float)job->a), c = f32x8_set((float)job->scale);
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            const float* f = job->f + s.offset;
            float* h = job->h + s.offset;
            for (int k = 0; k < s.count; k += SIMD_LANES) {
                f32x8_store(h + k, a * f32x8_load(f + k) + c * f32x8_load(h + k));
            }
        }
    }
}

// Four vectors of the list at a time, from entry i on, so that what they meet is read once for all.
typedef struct four {
    int count;
    const float* q[4];
} four;

static four four_from(const vec_job* job, int i) {
    four out = {.count = job->count - i < 4 ? job->count - i : 4};
    for (int m = 0; m < 4; ++m) {
        // Behind the end of the list the first one stands in, so that loops are always over four;
        // its products are not stored, and its coefficient is zero.
        out.q[m] = job->list[i + (m < out.count ? m : 0)];
    }
    return out;
}

// Four products with one reading of w: GCR has up to 60 of them an iteration.
static void dot_four(const vec_job* job, vec_run run, int i) {
    f64x8 sum[4] = {f64x8_set(0.0), f64x8_set(0.0), f64x8_set(0.0), f64x8_set(0.0)};
    four with = four_from(job, i);
    FOR_SPANS(s, job->space, run) {
        for (size_t k = s.offset; k < s.offset + (size_t)s.count; k += SIMD_LANES) {
            f64x8 x = f64x8_from_f32x8(f32x8_load(job->f + k));
            for (int m = 0; m < 4; ++m) {
                sum[m] += f64x8_from_f32x8(f32x8_load(with.q[m] + k)) * x;
            }
        }
    }
    for (int m = 0; m < with.count; ++m) {
        size_t stride = (size_t)job->space->tile_count + 1;
        job->many[(size_t)(i + m) * stride + (size_t)run.slot] = f64x8_sum(sum[m]);
    }
}

void ISA(vec_loop_dot_many)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t n = begin; n < end; ++n) {
        vec_run run = vec_run_at(job->space, n);
        for (int i = 0; i < job->count; i += 4) {
            dot_four(job, run, i);
        }
    }
}

enum { CHUNK = TILE_CELLS }; // values worked on at a time, in double

// A chunk of a stretch of at most CHUNK values.
typedef struct chunk {
    size_t offset;
    int count;
} chunk;

static chunk chunk_of(const vec_spans* s, int start) {
    int rest = s->count - start;
    return (chunk){s->offset + (size_t)start, rest < CHUNK ? rest : CHUNK};
}

// w += sign * coefficient[i] list[i] for four entries.
static void add_four(const vec_job* job, chunk at, int i, double sign, double* w) {
    f64x8 coefficient[4];
    four with = four_from(job, i);
    for (int m = 0; m < 4; ++m) {
        coefficient[m] = f64x8_set(m < with.count ? sign * job->coefficient[i + m] : 0.0);
    }
    for (int k = 0; k < at.count; k += SIMD_LANES) {
        size_t n = at.offset + (size_t)k;
        f64x8 sum = coefficient[0] * f64x8_from_f32x8(f32x8_load(with.q[0] + n));
        for (int m = 1; m < 4; ++m) {
            sum += coefficient[m] * f64x8_from_f32x8(f32x8_load(with.q[m] + n));
        }
        f64x8_store(w + k, f64x8_load(w + k) + sum);
    }
}

// Sums are in double over a chunk that stays in the first-level cache, and rounded to float once at
// the end. What goes on in w is the rounded value: r must lose exactly the image that is kept, or
// the residual of the recurrence drifts away from b - A x.
// h less its parts along the list, kept in h and in w.
static void subtract_list(const vec_job* job, chunk at, double* w) {
    float* h = job->h + at.offset;
    for (int k = 0; k < at.count; k += SIMD_LANES) {
        f64x8_store(w + k, f64x8_from_f32x8(f32x8_load(h + k)));
    }
    for (int i = 0; i < job->count; i += 4) {
        add_four(job, at, i, -1.0, w);
    }
    for (int k = 0; k < at.count; k += SIMD_LANES) {
        f32x8 rounded = f32x8_from_f64x8(f64x8_load(w + k));
        f32x8_store(h + k, rounded);
        f64x8_store(w + k, f64x8_from_f32x8(rounded));
    }
}

void ISA(vec_loop_subtract_many)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    TREACLE_ALIGNED(64) double w[CHUNK];
    for (int64_t n = begin; n < end; ++n) {
        vec_run run = vec_run_at(job->space, n);
        FOR_SPANS(s, job->space, run) {
            for (int start = 0; start < s.count; start += CHUNK) {
                subtract_list(job, chunk_of(&s, start), w);
            }
        }
    }
}

// The image becomes orthogonal to those before it, the residual loses its part along the image, is
// rounded for the next correction and measured: one pass over everything that GCR keeps.
void ISA(vec_loop_retreat)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    TREACLE_ALIGNED(64) double w[CHUNK];
    f64x8 a = f64x8_set(job->a), scale = f64x8_set(job->scale);
    for (int64_t n = begin; n < end; ++n) {
        vec_run run = vec_run_at(job->space, n);
        f64x8 sum = f64x8_set(0.0), most = f64x8_set(0.0);
        FOR_SPANS(s, job->space, run) {
            for (int start = 0; start < s.count; start += CHUNK) {
                chunk at = chunk_of(&s, start);
                subtract_list(job, at, w);
                for (int k = 0; k < at.count; k += SIMD_LANES) {
                    f64x8 v = f64x8_load(job->v + at.offset + k) - a * f64x8_load(w + k);
                    f64x8_store(job->v + at.offset + k, v);
                    f32x8_store(job->rounded + at.offset + k, f32x8_from_f64x8(scale * v));
                    sum += v * v;
                    most = larger(most, magnitude(v));
                }
            }
        }
        job->space->partial[0][run.slot] = f64x8_sum(sum);
        job->space->partial[1][run.slot] = largest_lane(most);
    }
}

// u += sum of coefficient[i] list[i], four at a time, in double.
void ISA(vec_loop_add_many_float)(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t n = begin; n < end; ++n) {
        vec_run run = vec_run_at(job->space, n);
        FOR_SPANS(s, job->space, run) {
            chunk all = {s.offset, s.count};
            for (int i = 0; i < job->count; i += 4) {
                add_four(job, all, i, 1.0, job->u + s.offset);
            }
        }
    }
}
