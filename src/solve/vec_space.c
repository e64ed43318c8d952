// Vectors of all solvers: where they live, how they are summed, how they come to other ranks. A
// loop visits runs, that is active tiles and at last the tail, and within a run the spans that hold
// unknowns. Every sum is a partial sum a tile, in eight lanes, and an exact sum over tiles: its
// bits do not depend on threads, on ranks or on the instruction set.
#include "solve/vec_space.h"

#include <string.h>

#include "base/alloc.h"
#include "base/exact_sum.h"
#include "grid/tile_loop.h"
#include "solve/vec_kernels.h"

enum { GRAIN_VALUES = 16 * TILE_CELLS }; // a chunk of a loop

// A vector is tiles of `block` values and a tail for what has no place in the grid. Sums are taken
// tile by tile into `partial` and then over tiles: no thread and no rank has a say in them.
treacle_status vec_space_create(treacle_context* ctx, tile_ix tile_count, int block, int tail,
                                vec_space* out) {
    // The tail is one more run of whole vectors: what is behind its values is zero and stays zero.
    int padded_tail = (tail + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    *out = (vec_space){.ctx = ctx, .tile_count = tile_count, .block = block, .tail = padded_tail};
    // Three sums at most are taken in one pass: a square, a largest value and one more product.
    for (int i = 0; i < 3; ++i) {
        treacle_status status = alloc_zero(ctx, (size_t)tile_count + 1, sizeof(double),
                                           "sums over tiles", (void**)&out->partial[i]);
        if (status != TREACLE_OK) {
            vec_space_destroy(out);
            return status;
        }
    }
    return TREACLE_OK;
}

// Vectors are not the space's: they are given back by the function that made them.
void vec_space_destroy(vec_space* space) {
    for (int i = 0; i < 3 && space->ctx != NULL; ++i) {
        alloc_free(space->ctx, space->partial[i], ((size_t)space->tile_count + 1) * sizeof(double));
    }
    *space = (vec_space){0};
}

// Tiles, one more that is always zero and stands for all missing neighbours, and the tail.
size_t vec_length(const vec_space* space) {
    return ((size_t)space->tile_count + 1) * (size_t)space->block + (size_t)space->tail;
}

// Exchange: the tiles beside one's own, from their owners. Gather: all tiles to everybody. Publish:
// as the map has it, either of the two.
void vec_exchange(const vec_space* space, const double* v) {
    if (space->shared != NULL) {
        tile_publish(space->shared,
                     &(tile_values){.at = (void*)v,
                                    .tile_bytes = (size_t)space->block * sizeof(double),
                                    .readers = TILE_TO_NEIGHBOURS});
    }
}

// The same in float: vectors of a cycle. Half of the bytes go over the wire.
void vec_exchange_float(const vec_space* space, const float* v) {
    if (space->shared != NULL) {
        tile_publish(space->shared,
                     &(tile_values){.at = (void*)v,
                                    .tile_bytes = (size_t)space->block * sizeof(float),
                                    .readers = TILE_TO_NEIGHBOURS});
    }
}

void vec_exchange_colour(const vec_space* space, const tile_colours* colours, int colour,
                         float* v) {
    if (space->shared != NULL) {
        const tile_ranks* ranks = space->shared->ranks;
        // After a colour of a sweep only tiles of this colour have changed: only they travel.
        comm_items items = {.data = v,
                            .item_bytes = (size_t)space->block * sizeof(float),
                            .mark = colours->of_tile,
                            .value = (uint8_t)colour};
        comm_exchange(space->ctx, ranks->peer_count, ranks->peers, &items);
    }
}

// For what reads anywhere: labels of lumps, levels that every rank has whole.
void vec_gather(const vec_space* space, double* v) {
    if (space->shared != NULL) {
        tile_publish(space->shared,
                     &(tile_values){.at = v,
                                    .tile_bytes = (size_t)space->block * sizeof(double),
                                    .readers = TILE_TO_ALL});
    }
}

void vec_publish(const vec_space* space, double* v) {
    if (space->shared != NULL) {
        tile_publish(space->shared,
                     &(tile_values){.at = v, .tile_bytes = (size_t)space->block * sizeof(double)});
    }
}

void vec_publish_float(const vec_space* space, const float* v) {
    if (space->shared != NULL) {
        tile_publish(
            space->shared,
            &(tile_values){.at = (void*)v, .tile_bytes = (size_t)space->block * sizeof(float)});
    }
}

void vec_gather_float(const vec_space* space, const float* v) {
    if (space->shared != NULL) {
        tile_publish(space->shared,
                     &(tile_values){.at = (void*)v,
                                    .tile_bytes = (size_t)space->block * sizeof(float),
                                    .readers = TILE_TO_ALL});
    }
}

treacle_status vec_create(const vec_space* space, const char* what, double** out) {
    return alloc_zero(space->ctx, vec_length(space), sizeof(double), what, (void**)out);
}

treacle_status vec_create_float(const vec_space* space, const char* what, float** out) {
    return alloc_zero(space->ctx, vec_length(space), sizeof(float), what, (void**)out);
}

// Without zeros, for vectors that a loop fills before it reads: pages are then touched once.
treacle_status vec_create_float_raw(const vec_space* space, const char* what, float** out) {
    return alloc_array(space->ctx, vec_length(space), sizeof(float), what, (void**)out);
}

void vec_destroy(const vec_space* space, double* v) {
    if (v != NULL) {
        alloc_free(space->ctx, v, vec_length(space) * sizeof(double));
    }
}

void vec_destroy_float(const vec_space* space, float* v) {
    if (v != NULL) {
        alloc_free(space->ctx, v, vec_length(space) * sizeof(float));
    }
}

// Places in the list of active tiles that are one's own.
static tile_range own_runs(const vec_space* space) {
    return tile_ranks_list(space->shared, space->active_count, space->active);
}

static void run_loop(parallel_fcn* loop, vec_job* job) {
    const vec_space* space = job->space;
    // A run is an active tile, and one more the tail. On ranks the tail is everybody's: it is
    // worked on by all alike, after the loop, for its place is not in anybody's stretch.
    tile_range runs = own_runs(space);
    runs.end += space->tail > 0 && space->shared == NULL ? 1 : 0;
    // Chunks of the same number of values, whatever a tile has: 1 for cells, 3 for faces.
    int64_t grain = GRAIN_VALUES / space->block;
    tile_for_range(space->ctx, runs, grain < 1 ? 1 : grain, loop, job);
    if (space->tail > 0 && space->shared != NULL) {
        loop(job, space->active_count, (int64_t)space->active_count + 1);
    }
}

// Adds one's own tiles; comm_sum_exact adds those of the other ranks.
static void add_runs(const vec_space* space, const double* partial, exact_sum* sum) {
    tile_range own = own_runs(space);
    // In the order of tiles, though an exact sum has the same bits in any.
    exact_sum_init(sum);
    for (int64_t i = own.begin; i < own.end; ++i) {
        exact_sum_add(sum, partial[space->active[i]]);
    }
    // The tail is the same on all ranks and counts once.
    if (space->tail > 0 && (space->shared == NULL || comm_rank(space->ctx) == 0)) {
        exact_sum_add(sum, partial[space->tile_count]);
    }
}

// The one way in which a sum over a vector becomes a number.
static double sum_runs(const vec_space* space, const double* partial) {
    exact_sum sum;
    add_runs(space, partial, &sum);
    // Exact accumulators are added over ranks before they are rounded: as if there were one rank.
    if (space->shared != NULL) {
        comm_sum_exact(space->ctx, &sum, 1);
    }
    return exact_sum_value(&sum);
}

double vec_sum_partial(const vec_space* space, int which) {
    return sum_runs(space, space->partial[which]);
}

double vec_max_partial(const vec_space* space, int which) {
    // The largest of magnitudes is never below zero; that of the tail is known to all ranks.
    double most = space->tail > 0 ? space->partial[which][space->tile_count] : 0.0;
    tile_range own = own_runs(space);
    for (int64_t i = own.begin; i < own.end; ++i) {
        double here = space->partial[which][space->active[i]];
        most = most > here ? most : here;
    }
    if (space->shared != NULL) {
        comm_max_f64(space->ctx, &most, 1);
    }
    return most;
}

// Loops that measure leave squares in the first partial sums and largest values in the second.
static vec_sizes sizes_of_partials(const vec_space* space) {
    return (vec_sizes){vec_sum_partial(space, 0), vec_max_partial(space, 1)};
}

// These move bytes, for which no instruction set does better than memset and memcpy. Spans are the
// stretches of a run that have unknowns: vectors are not touched elsewhere.
static void zero_runs(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            memset(job->u + s.offset, 0, (size_t)s.count * sizeof(double));
        }
    }
}

static void copy_runs(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            memcpy(job->u + s.offset, job->x + s.offset, (size_t)s.count * sizeof(double));
        }
    }
}

static void zero_float_runs(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            memset(job->h + s.offset, 0, (size_t)s.count * sizeof(float));
        }
    }
}

static void copy_float_runs(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            memcpy(job->h + s.offset, job->f + s.offset, (size_t)s.count * sizeof(float));
        }
    }
}

void vec_copy_float(const vec_space* space, const float* from, float* to) {
    run_loop(copy_float_runs, &(vec_job){.space = space, .f = from, .h = to});
}

void vec_set_zero_float(const vec_space* space, float* v) {
    run_loop(zero_float_runs, &(vec_job){.space = space, .h = v});
}

void vec_set_zero(const vec_space* space, double* v) {
    run_loop(zero_runs, &(vec_job){.space = space, .u = v});
}

void vec_copy(const vec_space* space, const double* from, double* to) {
    run_loop(copy_runs, &(vec_job){.space = space, .x = from, .u = to});
}

// y += a x. Loops over values are kernels, compiled once for each instruction set with the same
// meaning.
void vec_add_scaled(const vec_space* space, double a, const double* x, double* y) {
    vec_job job = {.space = space, .a = a, .x = x, .u = y};
    run_loop(ISA_CALL(space->ctx, vec_loop_add_scaled), &job);
}

// u = x - u, in place.
static void subtract_runs(void* data, int64_t begin, int64_t end) {
    const vec_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        vec_run run = vec_run_at(job->space, i);
        FOR_SPANS(s, job->space, run) {
            for (size_t k = s.offset; k < s.offset + (size_t)s.count; ++k) {
                // Each value for itself: any order, any vector width, the same bits.
                job->u[k] = job->x[k] - job->u[k];
            }
        }
    }
}

void vec_subtract_from(const vec_space* space, const double* x, double* y) {
    run_loop(subtract_runs, &(vec_job){.space = space, .x = x, .u = y});
}

// x . y, tile by tile in eight lanes and then exactly over tiles.
double vec_dot(const vec_space* space, const double* x, const double* y) {
    vec_job job = {.space = space, .x = x, .y = y};
    run_loop(ISA_CALL(space->ctx, vec_loop_dot), &job);
    return vec_sum_partial(space, 0);
}

double vec_dot_float(const vec_space* space, const float* x, const float* y) {
    vec_job job = {.space = space, .f = x, .g = y};
    run_loop(ISA_CALL(space->ctx, vec_loop_dot_float), &job);
    return vec_sum_partial(space, 0);
}

// |x|^2 and the largest |x_i| in one pass over memory.
vec_sizes vec_measure(const vec_space* space, const double* x) {
    vec_job job = {.space = space, .x = x};
    run_loop(ISA_CALL(space->ctx, vec_loop_measure), &job);
    return sizes_of_partials(space);
}

// Vectors of cycles are floats: half the memory, and a cycle need not be exact.
void vec_round(const vec_space* space, double scale, const double* from, float* to) {
    vec_job job = {.space = space, .scale = scale, .x = from, .h = to};
    run_loop(ISA_CALL(space->ctx, vec_loop_round), &job);
}

// to = weight from, value by value: the scaling in which images are compared.
void vec_weigh(const vec_space* space, const float* weight, const float* from, float* to) {
    vec_job job = {.space = space, .f = weight, .g = from, .h = to};
    run_loop(ISA_CALL(space->ctx, vec_loop_weigh), &job);
}

vec_sizes vec_descend(const vec_space* space, const vec_descent* step) {
    // Step and measure in one pass over memory: x += a p, r -= a q, the rounded residual, its
    // sizes.
    vec_job job = {.space = space,
                   .a = step->a,
                   .scale = step->scale,
                   .f = step->p,
                   .y = step->q,
                   .u = step->x,
                   .v = step->r,
                   .h = step->rounded};
    run_loop(ISA_CALL(space->ctx, vec_loop_descend), &job);
    return sizes_of_partials(space);
}

vec_pair vec_dot_two(const vec_space* space, const float* z, const double* x, const double* y) {
    vec_job job = {.space = space, .f = z, .x = x, .y = y};
    run_loop(ISA_CALL(space->ctx, vec_loop_dot_two), &job);
    // One pass over z for both products.
    return (vec_pair){vec_sum_partial(space, 0), vec_sum_partial(space, 1)};
}

// p = z + beta p: the next direction of conjugate gradients.
void vec_conjugate(const vec_space* space, const float* z, double beta, float* p) {
    vec_job job = {.space = space, .f = z, .a = beta, .h = p};
    run_loop(ISA_CALL(space->ctx, vec_loop_conjugate), &job);
}

void vec_combine_float(const vec_space* space, float a, const float* f, float c, float* u) {
    // Handed over as doubles, which hold floats exactly; the loop works in float.
    vec_job job = {.space = space, .a = (double)a, .scale = (double)c, .f = f, .h = u};
    run_loop(ISA_CALL(space->ctx, vec_loop_combine_float), &job);
}

// All directions of a cycle of GCR at once: y is read and written once for four of them.
void vec_add_many_float(const vec_space* space, int count, const float* const* x,
                        const double* coefficient, double* y) {
    vec_job job = {.space = space, .count = count, .list = x, .coefficient = coefficient, .u = y};
    run_loop(ISA_CALL(space->ctx, vec_loop_add_many_float), &job);
}

// Room for the products of one vector with up to VEC_MANY others.
treacle_status vec_many_create(const vec_space* space, vec_many* out) {
    // Partial sums of each product lie together: [product][tile].
    *out = (vec_many){.space = space};
    return alloc_zero(space->ctx, VEC_MANY * ((size_t)space->tile_count + 1), sizeof(double),
                      "sums over tiles", (void**)&out->partial);
}

void vec_many_destroy(vec_many* many) {
    if (many->partial != NULL) {
        size_t runs = (size_t)many->space->tile_count + 1;
        alloc_free(many->space->ctx, many->partial, VEC_MANY * runs * sizeof(double));
    }
    *many = (vec_many){0};
}

void vec_dot_many(const vec_many* many, int count, const float* const* q, const float* w,
                  double* product) {
    const vec_space* space = many->space;
    vec_job job = {.space = space, .count = count, .list = q, .f = w, .many = many->partial};
    run_loop(ISA_CALL(space->ctx, vec_loop_dot_many), &job);
    // All products go over the ranks in one message.
    exact_sum sums[VEC_MANY];
    for (int i = 0; i < count; ++i) {
        add_runs(space, many->partial + (size_t)i * ((size_t)space->tile_count + 1), &sums[i]);
    }
    if (space->shared != NULL) {
        comm_sum_exact(space->ctx, sums, count);
    }
    for (int i = 0; i < count; ++i) {
        product[i] = exact_sum_value(&sums[i]);
    }
}

// What vec_subtract_many and vec_retreat have in common: the list and its coefficients.
static vec_job subtraction(const vec_space* space, const vec_orthogonal* step) {
    return (vec_job){.space = space,
                     .count = step->count,
                     .list = step->q,
                     .coefficient = step->coefficient,
                     .h = step->w};
}

void vec_subtract_many(const vec_space* space, const vec_orthogonal* step) {
    vec_job job = subtraction(space, step);
    run_loop(ISA_CALL(space->ctx, vec_loop_subtract_many), &job);
}

// The last and largest loop of an iteration of GCR.
vec_sizes vec_retreat(const vec_space* space, const vec_retreat_step* step) {
    // Orthogonalise, step and measure in one pass: the images are the largest of all that is read.
    vec_job job = subtraction(space, &step->first);
    job.a = step->a;
    job.scale = step->scale;
    job.v = step->r;
    job.rounded = step->rounded;
    run_loop(ISA_CALL(space->ctx, vec_loop_retreat), &job);
    return sizes_of_partials(space);
}
