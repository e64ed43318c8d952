// The loops of solve/body_term.h over sites and rows. Sums over the rows of a body are taken in
// chunks of fixed size and then over chunks, in order: no thread has a say in them.
#include <string.h>

#include "base/exact_sum.h"
#include "base/parallel.h"
#include "solve/body_term.h"

// Large: waking a thread costs as much as some thousand sites.
enum { SITE_GRAIN = 4096, CHUNK_GRAIN = 24 };

typedef struct sweep_job {
    const body_term* term;
    int64_t first; // site or chunk of loop item 0
    const float* b;
    float* x;
    const double* from;
    double* to;
    double (*lambda)[BODY_MOTIONS];
} sweep_job;

// (J^T lambda) at a site.
static double pull(const body_term* term, double (*const lambda)[BODY_MOTIONS],
                   const body_site* site) {
    double sum = 0.0;
    // A site may have rows of several bodies: it lies in the gap between them.
    for (int64_t i = site->first_entry; i < site[1].first_entry; ++i) {
        int64_t row = term->entry[i];
        sum += mat6_dot(term->row[row], lambda[term->row_body[row]]);
    }
    return sum;
}

// ---- Sums of J v ----------------------------------------------------------------------------

static void sum_values(void* data, int64_t begin, int64_t end) {
    const sweep_job* job = data;
    const body_term* term = job->term;
    for (int64_t c = job->first + begin; c < job->first + end; ++c) {
        // A chunk has rows of one body and one colour.
        double sum[BODY_MOTIONS] = {0};
        for (int64_t n = term->chunk[c].begin; n < term->chunk[c].end; ++n) {
            double value = term->value[term->row_site[n]];
            for (int i = 0; i < BODY_MOTIONS; ++i) {
                sum[i] += term->row[n][i] * value;
            }
        }
        memcpy(term->chunk_sum[c], sum, sizeof(sum));
    }
}

// sum[body] = J value over the chunks begin .. end.
static void add_chunks(const body_term* term, int64_t begin, int64_t end) {
    sweep_job job = {.term = term, .first = begin};
    parallel_for(term->ctx, end - begin, CHUNK_GRAIN, sum_values, &job);
    // Chunks in their order, by one thread.
    memset(term->sum, 0, (size_t)term->body_count * sizeof(*term->sum));
    for (int64_t c = begin; c < end; ++c) {
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            term->sum[term->chunk[c].body][i] += term->chunk_sum[c][i];
        }
    }
}

// Values at sites, side by side and in double: rows of all bodies then read one short list.
static void read_float(void* data, int64_t begin, int64_t end) {
    const sweep_job* job = data;
    for (int64_t s = begin; s < end; ++s) {
        job->term->value[s] = (double)job->x[job->term->site[s].slot];
    }
}

static void multiply_float(const body_term* term, const float* x) {
    sweep_job job = {.term = term, .x = (float*)x};
    parallel_for(term->ctx, term->site_count, SITE_GRAIN, read_float, &job);
    add_chunks(term, 0, term->chunk_count);
}

// ---- Sweeps ---------------------------------------------------------------------------------

void body_term_reset(body_term* term) {
    // lambda = C J x, and x is zero.
    memset(term->lambda, 0, (size_t)term->body_count * sizeof(*term->lambda));
}

// value = D^-1 (b - L x) at sites.
static void find_residuals(void* data, int64_t begin, int64_t end) {
    const sweep_job* job = data;
    for (int64_t s = job->first + begin; s < job->first + end; ++s) {
        const body_site* site = &job->term->site[s];
        float self = job->x[site->slot];
        // b - L x alone: what bodies add is in lambda, which is solved for.
        float r = job->b[site->slot] - site->extra * self;
        for (int n = 0; n < 2 * AXES; ++n) {
            r -= site->link[n] * (self - job->x[site->near[n]]);
        }
        job->term->value[s] = (double)r * (double)site->inverse;
    }
}

// The new values of one colour, all at once.
static void move_sites(void* data, int64_t begin, int64_t end) {
    const sweep_job* job = data;
    for (int64_t s = job->first + begin; s < job->first + end; ++s) {
        const body_site* site = &job->term->site[s];
        // x += D^-1 (r - J^T lambda) [body.1].
        double force = pull(job->term, job->lambda, site);
        job->x[site->slot] += (float)(job->term->value[s] - (double)site->inverse * force);
    }
}

// All sites of one colour and all bodies at once. With D the diagonal of the sites, r the residual
// without bodies and lambda the values of bodies before, the new ones solve (M + J D^-1 J^T)
// lambda' = J D^-1 r + M lambda: bodies keep what they have and take what this colour pushes. Then
// each site has its own equation left, x += D^-1 (r - J^T lambda').
void body_term_relax(body_term* term, int colour, const float* b, float* x) {
    // No link joins two sites of one colour, so all of them can be solved for together.
    int64_t first = colour == 0 ? 0 : term->red_count;
    int64_t count = colour == 0 ? term->red_count : term->site_count - term->red_count;
    sweep_job job = {.term = term, .first = first, .b = b, .x = x, .lambda = term->lambda};
    parallel_for(term->ctx, count, SITE_GRAIN, find_residuals, &job);
    add_chunks(term, colour == 0 ? 0 : term->red_chunk_count,
               colour == 0 ? term->red_chunk_count : term->chunk_count);
    for (int32_t n = 0; n < term->body_count; ++n) {
        double before[BODY_MOTIONS];
        // M lambda_before: what the other colour and the liquid have given the bodies so far.
        mat6_multiply(term->masses[n].mass, term->lambda[n], before);
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            term->lambda[n][i] = term->sum[n][i] + before[i];
        }
    }
    // K couples bodies that share a site; the lambdas lie one behind the other.
    block_ldl_solve(term->coupling[colour], term->lambda[0]);
    parallel_for(term->ctx, count, SITE_GRAIN, move_sites, &job);
}

// x -= J^T lambda at sites, in float: the right-hand side of a coarse level, or an image.
static void subtract_pull(void* data, int64_t begin, int64_t end) {
    const sweep_job* job = data;
    for (int64_t s = begin; s < end; ++s) {
        const body_site* site = &job->term->site[s];
        job->x[site->slot] -= (float)pull(job->term, job->lambda, site);
    }
}

// The residual that links have restricted lacks the bodies' part, J^T lambda, whose restriction is
// that of the rows: coarse rows, fine lambda.
void body_term_restrict(const body_term* fine, const body_term* coarse, float* coarse_b) {
    sweep_job job = {.term = coarse, .x = coarse_b, .lambda = fine->lambda};
    parallel_for(coarse->ctx, coarse->site_count, SITE_GRAIN, subtract_pull, &job);
}

void body_term_prolong(body_term* fine, const body_term* coarse, const float* coarse_x) {
    // x += P x' changes lambda by C J P x', and J P are the coarse rows.
    multiply_float(coarse, coarse_x);
    for (int32_t n = 0; n < fine->body_count; ++n) {
        double change[BODY_MOTIONS];
        mat6_multiply(fine->masses[n].inverse, coarse->sum[n], change);
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            fine->lambda[n][i] += change[i];
        }
    }
}

// ---- Operator -------------------------------------------------------------------------------

// Makes sum = -C sum of every body; returns the energy sum . C sum.
static double load_bodies(const body_term* term) {
    double energy = 0.0;
    for (int32_t n = 0; n < term->body_count; ++n) {
        double force[BODY_MOTIONS];
        mat6_multiply(term->masses[n].inverse, term->sum[n], force);
        energy += mat6_dot(force, term->sum[n]);
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            // Negative, since the loops below subtract what is pulled: y += J^T C J x.
            term->sum[n][i] = -force[i];
        }
    }
    return energy;
}

// y += J^T C J x for a K-cycle; the energy is wanted even where y is not.
double body_term_apply_float(const body_term* term, const float* x, float* y) {
    multiply_float(term, x);
    double energy = load_bodies(term);
    if (y != NULL) {
        sweep_job job = {.term = term, .x = y, .lambda = term->sum};
        parallel_for(term->ctx, term->site_count, SITE_GRAIN, subtract_pull, &job);
    }
    return energy;
}

static void read_double(void* data, int64_t begin, int64_t end) {
    const sweep_job* job = data;
    for (int64_t s = begin; s < end; ++s) {
        job->term->value[s] = job->from[job->term->site[s].slot];
    }
}

// The sums of all bodies over the values that were read, exactly.
static void sum_exactly(const body_term* term, double (*out)[BODY_MOTIONS]) {
    // Chunks are summed as they are, in a fixed order; the many of a large body then exactly: this
    // is the outer operator, which residuals are held against.
    add_chunks(term, 0, term->chunk_count);
    memset(out, 0, (size_t)term->body_count * sizeof(*out));
    exact_sum sum[BODY_MOTIONS];
    for (int32_t n = 0; n < term->body_count; ++n) {
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            exact_sum_init(&sum[i]);
        }
        for (int64_t c = 0; c < term->chunk_count; ++c) {
            for (int i = 0; i < BODY_MOTIONS && term->chunk[c].body == n; ++i) {
                exact_sum_add(&sum[i], term->chunk_sum[c][i]);
            }
        }
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            out[n][i] = exact_sum_value(&sum[i]);
        }
    }
}

void body_term_multiply(const body_term* term, const double* x, double (*out)[BODY_MOTIONS]) {
    sweep_job job = {.term = term, .from = x};
    parallel_for(term->ctx, term->site_count, SITE_GRAIN, read_double, &job);
    sum_exactly(term, out);
}

// The same in double, for the outer operator.
static void add_pull(void* data, int64_t begin, int64_t end) {
    const sweep_job* job = data;
    for (int64_t s = begin; s < end; ++s) {
        const body_site* site = &job->term->site[s];
        job->to[site->slot] -= pull(job->term, job->lambda, site);
    }
}

// Adds what the bodies make of the sums in `sum`; returns the energy.
static double add_bodies(const body_term* term, double* y) {
    double energy = load_bodies(term);
    sweep_job job = {.term = term, .to = y, .lambda = term->sum};
    parallel_for(term->ctx, term->site_count, SITE_GRAIN, add_pull, &job);
    return energy;
}

double body_term_apply(const body_term* term, const double* x, double* y) {
    body_term_multiply(term, x, term->sum);
    return add_bodies(term, y);
}

double body_term_apply_rounded(const body_term* term, const float* x, double* y) {
    sweep_job job = {.term = term, .x = (float*)x};
    parallel_for(term->ctx, term->site_count, SITE_GRAIN, read_float, &job);
    sum_exactly(term, term->sum);
    return add_bodies(term, y);
}

void body_term_add_diagonal(const body_term* term, double* d) {
    for (int64_t n = 0; n < term->row_count; ++n) {
        double force[BODY_MOTIONS];
        // Row . C row; pairs of bodies at one site are no part of a diagonal.
        mat6_multiply(term->masses[term->row_body[n]].inverse, term->row[n], force);
        d[term->site[term->row_site[n]].slot] += mat6_dot(force, term->row[n]);
    }
}
