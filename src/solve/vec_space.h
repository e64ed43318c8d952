// Vectors of unknowns on tiles.
//
//     | tile 0 | tile 1 | ... | tile count-1 | zero tile | tail |
//
// A tile has `block` values, a multiple of TILE_CELLS: one array of TILE_CELLS for each component.
// The zero tile stands in for neighbours that do not exist. The tail holds unknowns that belong to
// no tile. Only the tiles in `active` are ever touched; all others stay zero. Where `rows` are
// given (bit 8 z + y: the row of eight values along x), so do all other rows of the active tiles:
// vectors of drops and sheets are mostly empty.
//
// Outer vectors are double. What the preconditioner reads and writes is float, scaled by a power of
// two so that it is neither huge nor denormal.
//
// Where each rank has tiles of its own (grid/tile_ranks.h) a loop runs over the rank's own tiles
// and a sum is taken over all ranks. What a loop reads beside its own tiles has to be exchanged
// before. Every rank has the whole tail.
//
// Sums: every tile adds up its products in eight lanes and the lanes in a fixed tree; the tiles'
// sums go through base/exact_sum.h. So a sum depends on the values only, not on threads.
#pragma once

#include "grid/pyramid.h"

enum { VEC_MANY = 64 };

typedef struct vec_space {
    treacle_context* ctx;
    tile_ix tile_count;
    tile_ix active_count;
    const tile_ix* active;  // not owned; ascending
    const tile_map* shared; // whose ranks share out the tiles; NULL: everybody has all
    const uint64_t* rows;   // [tile][block / TILE_CELLS], not owned; NULL: all rows count
    int block;
    int tail;
    double* partial[3]; // [tile_count + 1] each, sums and maxima by tile; the last is the tail's
} vec_space;

typedef struct vec_sizes {
    double square; // sum of squares
    double max;    // largest magnitude
} vec_sizes;

typedef struct vec_pair {
    double first, second;
} vec_pair;

/// Makes a space without active tiles; set `active` and `active_count` before use.
treacle_status vec_space_create(treacle_context* ctx, tile_ix tile_count, int block, int tail,
                                vec_space* out) TREACLE_NODISCARD;
void vec_space_destroy(vec_space* space);

/// Values in a vector, zero tile and tail included.
size_t vec_length(const vec_space* space);
/// Fetches the tiles of a vector that are next to one's own from the ranks that own them;
/// vec_gather fetches all tiles.
void vec_exchange(const vec_space* space, const double* v);
void vec_exchange_float(const vec_space* space, const float* v);
/// Fetches only the neighbouring tiles of one colour.
void vec_exchange_colour(const vec_space* space, const tile_colours* colours, int colour, float* v);
void vec_gather(const vec_space* space, double* v);
/// Brings the tiles that this rank has written to all ranks that may read them (tile_fraction).
void vec_publish(const vec_space* space, double* v);
void vec_publish_float(const vec_space* space, const float* v);
void vec_gather_float(const vec_space* space, const float* v);

treacle_status vec_create(const vec_space* space, const char* what, double** out) TREACLE_NODISCARD;
treacle_status vec_create_float(const vec_space* space, const char* what,
                                float** out) TREACLE_NODISCARD;
/// One of undefined values: for vectors that are written before they are read, and never beside
/// what counts.
treacle_status vec_create_float_raw(const vec_space* space, const char* what,
                                    float** out) TREACLE_NODISCARD;
void vec_destroy(const vec_space* space, double* v);
void vec_destroy_float(const vec_space* space, float* v);

void vec_set_zero(const vec_space* space, double* v);
void vec_copy(const vec_space* space, const double* from, double* to);
/// y += a x.
void vec_add_scaled(const vec_space* space, double a, const double* x, double* y);
/// y = x - y.
void vec_subtract_from(const vec_space* space, const double* x, double* y);
double vec_dot(const vec_space* space, const double* x, const double* y);
/// y += sum of coefficient[i] x[i].
void vec_add_many_float(const vec_space* space, int count, const float* const* x,
                        const double* coefficient, double* y);
double vec_dot_float(const vec_space* space, const float* x, const float* y);
vec_sizes vec_measure(const vec_space* space, const double* x);
/// to = scale * from, rounded.
void vec_round(const vec_space* space, double scale, const double* from, float* to);
/// to = weight * from, value by value.
void vec_weigh(const vec_space* space, const float* weight, const float* from, float* to);

/// The step of conjugate gradients: x += a p, r -= a q, rounded = scale * r; returns the sizes of
/// r.
typedef struct vec_descent {
    double a, scale;
    const float* p;
    const double* q;
    double *x, *r;
    float* rounded;
} vec_descent;
vec_sizes vec_descend(const vec_space* space, const vec_descent* step);

/// {z . x, z . y}.
vec_pair vec_dot_two(const vec_space* space, const float* z, const double* x, const double* y);
/// Room for the partial sums of many dot products at once.
typedef struct vec_many {
    const vec_space* space;
    double* partial; // [VEC_MANY][tile_count + 1]
} vec_many;
treacle_status vec_many_create(const vec_space* space, vec_many* out) TREACLE_NODISCARD;
void vec_many_destroy(vec_many* many);

/// The steps of an orthogonalisation of float vectors, count <= VEC_MANY.
/// product[i] = q[i] . w.
void vec_dot_many(const vec_many* many, int count, const float* const* q, const float* w,
                  double* product);
/// w -= sum of coefficient[i] q[i], in double, rounded at the end.
typedef struct vec_orthogonal {
    int count;
    const float* const* q;
    const double* coefficient;
    float* w;
} vec_orthogonal;
void vec_subtract_many(const vec_space* space, const vec_orthogonal* step);
/// The same, and then r -= a w, rounded = scale * r; returns the sizes of r.
typedef struct vec_retreat_step {
    vec_orthogonal first;
    double a, scale;
    double* r;
    float* rounded;
} vec_retreat_step;
vec_sizes vec_retreat(const vec_space* space, const vec_retreat_step* step);
/// u = a f + c u.
void vec_combine_float(const vec_space* space, float a, const float* f, float c, float* u);
void vec_set_zero_float(const vec_space* space, float* v);
void vec_copy_float(const vec_space* space, const float* from, float* to);
/// p = z + beta p.
void vec_conjugate(const vec_space* space, const float* z, double beta, float* p);

/// The sum of partial[which] over the active tiles and the tail, whatever the order of tiles.
double vec_sum_partial(const vec_space* space, int which);
double vec_max_partial(const vec_space* space, int which);
