// Terms of rank six in a pressure operator: A = L + sum over bodies of J_b^T C_b J_b.
//
// L are the links and extras of solve/pressure_level.h. A body has a row of six numbers at some
// cells, J_b, and a symmetric inverse mass C_b of 6 x 6, positive or semidefinite. Its six values
// lambda_b = C_b J_b x are unknowns of their own that are eliminated; they are carried along by the
// sweeps and never stored in a vector.
//
// Cells with a row are sites. A sweep leaves them to two steps of their own, the red sites (i + j +
// k even) and the black ones. No link joins two sites of one colour, so there A is a diagonal D and
// the bodies' terms, and the step solves for all sites of a colour together and exactly [W50]:
//
//     (K_bc) = M_b + sum over sites of J_b D^-1 J_c^T,  M = C^-1,  r = b - L x
//     lambda = K^-1 (sum of J D^-1 r + M lambda_before)
//     x += D^-1 (r - J^T lambda)                                                     [body.1]
//
// Each step lowers the energy of the error whatever the masses are: bodies of a thousandth of the
// liquid's density and heavy ones alike. Coarse levels have the rows J P, summed over the cells of
// a block: the term is exact on all of them. K couples bodies that share a site.
#pragma once

#include "solve/block_ldl.h"
#include "solve/pressure_level.h"
#include "solve/solve_body.h"

typedef struct body_masses {
    double inverse[BODY_MOTIONS][BODY_MOTIONS]; // C
    double mass[BODY_MOTIONS][BODY_MOTIONS];    // C^-1, very large where C has no inverse
} body_masses;

// A cell with rows, its links, and where its neighbours are.
typedef struct body_site {
    int64_t slot;
    int64_t near[2 * AXES];
    float link[2 * AXES];
    float extra, inverse; // inverse of the diagonal of L
    int64_t first_entry;  // in `entry`; the last site is followed by an end
} body_site;

// Rows of one body and one colour whose products are summed in one go.
typedef struct body_chunk {
    int32_t body;
    int64_t begin, end;
} body_chunk;

_Static_assert((int)BODY_MOTIONS == (int)BLOCK_SIZE, "blocks of the coupling are bodies");

struct body_term {
    treacle_context* ctx;
    int32_t body_count;
    const body_masses* masses; // [body_count], the finest level's
    body_masses* own_masses;   // of the finest level
    char* memory;              // of all arrays below
    size_t bytes;

    int64_t row_count;
    double (*row)[BODY_MOTIONS]; // by body, then by site
    int64_t* row_site;
    int32_t* row_body;
    int64_t* first_row; // [body_count + 1]

    int64_t site_count, red_count; // red ones come first, each colour in order of slots
    body_site* site;               // [site_count + 1]
    int64_t* entry;                // [row_count], rows by site

    int64_t chunk_count, red_chunk_count; // red ones come first
    body_chunk* chunk;
    double (*chunk_sum)[BODY_MOTIONS];

    double* value;                  // [site_count], residuals of a step
    double (*lambda)[BODY_MOTIONS]; // [body_count], of the x that the level works on
    double (*sum)[BODY_MOTIONS];    // [body_count]
    block_ldl* coupling[2];         // K of red and of black sites
};

/// Makes the term of the finest level. `bodies` may go afterwards. A level without rows gets a term
/// too.
treacle_status body_term_create(const pressure_level* level, int32_t body_count,
                                const solve_body* bodies, body_term** out) TREACLE_NODISCARD;
/// Makes the term of the next coarser level; `fine` and its term must outlive it.
treacle_status body_term_coarsen(const pressure_level* fine, const pressure_level* coarse,
                                 body_term** out) TREACLE_NODISCARD;
/// Accepts NULL.
void body_term_destroy(body_term* term);

/// Forgets lambda: x is zero.
void body_term_reset(body_term* term);
/// One step on the sites of a colour, 0 red, 1 black.
void body_term_relax(body_term* term, int colour, const float* b, float* x);
/// coarse_b -= J^T lambda, with the coarse rows and the fine lambda.
void body_term_restrict(const body_term* fine, const body_term* coarse, float* coarse_b);
/// lambda of the fine level after x += P coarse_x.
void body_term_prolong(body_term* fine, const body_term* coarse, const float* coarse_x);
/// y += J^T C J x unless y is NULL; returns x . J^T C J x.
double body_term_apply_float(const body_term* term, const float* x, float* y);
/// The same; sums over rows are exact.
double body_term_apply(const body_term* term, const double* x, double* y);
double body_term_apply_rounded(const body_term* term, const float* x, double* y);
void body_term_add_diagonal(const body_term* term, double* d);
/// out[body] = J x, exactly summed.
void body_term_multiply(const body_term* term, const double* x, double (*out)[BODY_MOTIONS]);
