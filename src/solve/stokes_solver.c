// GCR keeps the corrections z_j, in float exactly as the preconditioner gave them, and the images
// q_j = (A z_j made orthogonal), in float too: rounding q only moves the recurrence of the residual
// by 1e-7 of itself, whereas rounding a combination of z would be multiplied by the stiffness. With
// [z] = [p] R, R upper triangular with ones, A p_j = q_j, the solution is put together at the end
// of a cycle:
//
//     r -= g_j q_j, g_j = r . q_j / q_j . q_j;   x += [z] R^-1 g.
//
// r is orthogonal to the images before j, so r . q_j = r . A z_j; and q_j . q_j follows from the
// products of A z_j with itself and with them. So one pass over the images finds all products and
// one more takes the parts out and steps; where little is left of A z_j, and rounding counts, two.
//
// The energy norm of the error comes for free from the preconditioned residual z = (z_u, z_p):
//
//     est^2 = z_u . r_u + |z_p . (B z_u - r_p)|,  over f . A^-1 f by the same cycle.
#include "solve/stokes_solver.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "solve/pressure_solver.h"
#include "solve/stokes_kernels.h"

enum { MAX_RESTART = 60, SLOW_ITERATIONS = 7 };

static const double smallest_volume = 0.02; // of a cell with a pressure
static const float smallest_mass = 1e-3f;   // in B M^-1 B^T
static const double slow_factor = 0.8;      // of the estimate an iteration: pieces pay
static const double little_left = 0.01;     // of the square of an image: orthogonalise it twice

struct stokes_solver {
    treacle_context* ctx;
    const tile_map* map;
    viscosity_solver* viscosity;
    pressure_solver* pressure;
    const viscosity_level* faces;
    const pressure_level* cells;
    const float* opening[AXES];
    float* fields; // link[3] and extra of B M^-1 B^T
    float* schur;  // W, [tile][512]
    bool has_pressure_cycle;
    int capacity; // directions that there is room for
    float* z_u[MAX_RESTART];
    float* z_p[MAX_RESTART];
    float* q_u[MAX_RESTART];
    float* q_p[MAX_RESTART];
    vec_many many_u, many_p;
    double *b_u, *b_p; // f and h
    float *r_u, *r_p;  // the residual rounded
    float *t_p, *s_p;  // in the Schur part
};

stokes_params stokes_params_default(void) {
    return (stokes_params){.energy = 5e-4,
                           .divergence = INFINITY,
                           .net = INFINITY,
                           .relative = INFINITY,
                           .max_iterations = 150,
                           .restart = 30};
}

// ---- B and B^T ------------------------------------------------------------------------------

typedef void stokes_loop(const stokes_job* job, int64_t begin, int64_t end);

typedef struct loop_job {
    stokes_loop* loop;
    const stokes_job* job;
} loop_job;

static void run_chunk(void* data, int64_t begin, int64_t end, int worker) {
    const loop_job* work = data;
    (void)worker;
    work->loop(work->job, begin, end);
}

static stokes_job job_of(const stokes_solver* s) {
    return (stokes_job){.faces = s->faces,
                        .cells = s->cells,
                        .opening = {s->opening[0], s->opening[1], s->opening[2]}};
}

static void run_faces(const stokes_solver* s, stokes_loop* loop, stokes_job* job) {
    job->tiles = s->faces->active;
    parallel_for(s->ctx, s->faces->space.active_count, 4, run_chunk, &(loop_job){loop, job});
}

static void run_cells(const stokes_solver* s, stokes_loop* loop, stokes_job* job) {
    job->tiles = s->cells->active;
    parallel_for(s->ctx, s->cells->space.active_count, 8, run_chunk, &(loop_job){loop, job});
}

void stokes_apply(const stokes_solver* solver, const double* u, const double* p, double* y_u,
                  double* y_p) {
    stokes_job job = job_of(solver);
    job.u = u;
    job.p = p;
    job.to = y_u;
    run_faces(solver, ISA_CALL(solver->ctx, stokes_loop_forces), &job);
    job.to = y_p;
    run_cells(solver, ISA_CALL(solver->ctx, stokes_loop_divergence), &job);
}

// ---- Set-up ---------------------------------------------------------------------------------

static size_t field_length(const stokes_solver* s) {
    return ((size_t)s->map->count + 1) * TILE_CELLS;
}

static bool is_face_unknown(const stokes_solver* s, int64_t t, int q, int a) {
    return s->faces->inverse[t * VISCOSITY_BLOCK + a * TILE_CELLS + q] > 0.0f;
}

// Adds what face a of a cell gives to B M^-1 B^T: a link if both cells have a pressure, else to the
// diagonal of the one that has.
static void add_face(stokes_solver* s, const stokes_system* system, int64_t t, int q, int a) {
    size_t length = field_length(s);
    int64_t here = t * TILE_CELLS + q, below = tile_slot_below(s->map, t, q, a);
    float opening = system->opening[a][here], mass = system->weights.mass[a][here];
    float weight = opening * opening / (mass > smallest_mass ? mass : smallest_mass);
    bool has_here = (double)system->volume[here] >= smallest_volume;
    bool has_below = below < (int64_t)s->map->count * TILE_CELLS &&
                     (double)system->volume[below] >= smallest_volume;
    if (has_here && has_below) {
        s->fields[(size_t)a * length + (size_t)here] = weight;
    } else if (has_here || has_below) {
        s->fields[3 * length + (size_t)(has_here ? here : below)] += weight;
    }
}

static void fill_fields(stokes_solver* s, const stokes_system* system) {
    for (tile_ix i = 0; i < s->faces->space.active_count; ++i) {
        int64_t t = s->faces->active[i];
        for (int a = 0; a < AXES; ++a) {
            for (int q = 0; q < TILE_CELLS; ++q) {
                if (is_face_unknown(s, t, q, a)) {
                    add_face(s, system, t, q, a);
                }
            }
        }
    }
}

// diag(B D^-1 B^T) gets opening^2 / D of each face at both of its cells.
static void add_stiffness(const stokes_solver* s, const stokes_system* system, float* sums) {
    for (tile_ix i = 0; i < s->faces->space.active_count; ++i) {
        int64_t t = s->faces->active[i];
        for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
            int a = n / TILE_CELLS, q = n % TILE_CELLS;
            float inverse = s->faces->inverse[t * VISCOSITY_BLOCK + n];
            if (!(inverse > 0.0f)) {
                continue;
            }
            int64_t here = t * TILE_CELLS + q, below = tile_slot_below(s->map, t, q, a);
            float stiffness = 1.0f / inverse - system->weights.mass[a][here];
            float opening = system->opening[a][here];
            float share = opening * opening / (stiffness > 1e-12f ? stiffness : 1e-12f);
            sums[here] += share;
            sums[below] += share;
        }
    }
}

static float cell_weight(const viscosity_level* level, int64_t t, int q) {
    int i = q & 7, j = q >> 3 & 7, k = q >> 6;
    int at = ((k + 1) * VISCOSITY_SIDE + j + 1) * VISCOSITY_SIDE + i + 1;
    return level->stress[t * VISCOSITY_STRESS_BLOCK + at]; // twice w_c
}

// W, and the least 2 w_c of a full cell, which says whether pressure waves need their own cycle.
static void fill_schur(stokes_solver* s, const stokes_system* system, double* least) {
    *least = INFINITY;
    add_stiffness(s, system, s->schur);
    for (int64_t t = 0; t < s->map->count; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            int64_t at = t * TILE_CELLS + q;
            double sum = (double)s->schur[at], twice = (double)cell_weight(s->faces, t, q);
            bool is_cell = s->cells->inverse[at] > 0.0f;
            s->schur[at] = is_cell && sum > 0.0 ? (float)(0.75 * sqrt(twice * 1.5 / sum)) : 0.0f;
            if (is_cell) {
                *least = fmin(*least, twice / (double)system->volume[at]);
            }
        }
    }
    memset(s->schur + (size_t)s->map->count * TILE_CELLS, 0, TILE_CELLS * sizeof(float));
}

static int widest_side(const grid_domain* domain) {
    int most = 1;
    for (int a = 0; a < AXES; ++a) {
        most = domain->cells[a] > most ? domain->cells[a] : most;
    }
    return most;
}

static treacle_status create_pressure(stokes_solver* s, const stokes_system* system) {
    size_t length = field_length(s);
    double least = 0.0, side = widest_side(system->domain);
    TREACLE_TRY(
        alloc_zero(s->ctx, 4 * length, sizeof(float), "pressure links", (void**)&s->fields));
    TREACLE_TRY(alloc_zero(s->ctx, length, sizeof(float), "Schur weights", (void**)&s->schur));
    fill_fields(s, system);
    pressure_system links = {.domain = system->domain,
                             .map = system->map,
                             .link = {s->fields, s->fields + length, s->fields + 2 * length},
                             .extra = s->fields + 3 * length};
    TREACLE_TRY(pressure_solver_create(s->ctx, &links, &s->pressure));
    s->cells = pressure_solver_finest(s->pressure);
    fill_schur(s, system, &least);
    s->has_pressure_cycle = least < side * side / 30.0;
    return TREACLE_OK;
}

static treacle_status create_vectors(stokes_solver* s) {
    const vec_space *u = &s->faces->space, *p = &s->cells->space;
    TREACLE_TRY(vec_create(u, "right-hand sides", &s->b_u));
    TREACLE_TRY(vec_create(p, "right-hand sides", &s->b_p));
    TREACLE_TRY(vec_create_float(u, "residuals", &s->r_u));
    TREACLE_TRY(vec_create_float(p, "residuals", &s->r_p));
    TREACLE_TRY(vec_create_float(p, "divergences", &s->t_p));
    return vec_create_float(p, "pressure corrections", &s->s_p);
}

static treacle_status build(stokes_solver* s, const stokes_system* system) {
    viscosity_system viscosity = {system->domain, system->map, system->weights};
    TREACLE_TRY(viscosity_solver_create(s->ctx, &viscosity, &s->viscosity));
    s->faces = viscosity_solver_finest(s->viscosity);
    TREACLE_TRY(create_pressure(s, system));
    TREACLE_TRY(vec_many_create(&s->faces->space, &s->many_u));
    TREACLE_TRY(vec_many_create(&s->cells->space, &s->many_p));
    return create_vectors(s);
}

treacle_status stokes_solver_create(treacle_context* ctx, const stokes_system* system,
                                    stokes_solver** out) {
    *out = NULL;
    stokes_solver* s = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*s), "the Stokes solver", (void**)&s));
    s->ctx = ctx;
    s->map = system->map;
    memcpy(s->opening, system->opening, sizeof(s->opening));
    treacle_status status = build(s, system);
    if (status != TREACLE_OK) {
        stokes_solver_destroy(s);
        return status;
    }
    *out = s;
    return TREACLE_OK;
}

static void destroy_vectors(stokes_solver* s) {
    const vec_space *u = &s->faces->space, *p = &s->cells->space;
    for (int j = 0; j < MAX_RESTART; ++j) {
        vec_destroy_float(u, s->z_u[j]);
        vec_destroy_float(u, s->q_u[j]);
        vec_destroy_float(p, s->z_p[j]);
        vec_destroy_float(p, s->q_p[j]);
    }
    vec_many_destroy(&s->many_u);
    vec_many_destroy(&s->many_p);
    vec_destroy(u, s->b_u);
    vec_destroy(p, s->b_p);
    vec_destroy_float(u, s->r_u);
    vec_destroy_float(p, s->r_p);
    vec_destroy_float(p, s->t_p);
    vec_destroy_float(p, s->s_p);
}

void stokes_solver_destroy(stokes_solver* solver) {
    if (solver == NULL) {
        return;
    }
    if (solver->faces != NULL && solver->cells != NULL) {
        destroy_vectors(solver);
    }
    size_t length = field_length(solver);
    pressure_solver_destroy(solver->pressure);
    viscosity_solver_destroy(solver->viscosity);
    alloc_free(solver->ctx, solver->fields, 4 * length * sizeof(float));
    alloc_free(solver->ctx, solver->schur, length * sizeof(float));
    alloc_free(solver->ctx, solver, sizeof(*solver));
}

// ---- Preconditioner -------------------------------------------------------------------------

typedef struct schur_job {
    const stokes_solver* s;
    const float* cycled;
    float* z;
} schur_job;

static void add_diagonal(void* data, int64_t begin, int64_t end, int worker) {
    const schur_job* job = data;
    const stokes_solver* s = job->s;
    (void)worker;
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = s->cells->active[i];
        for (int64_t q = t * TILE_CELLS; q < (t + 1) * TILE_CELLS; ++q) {
            float cycled = job->cycled != NULL ? job->cycled[q] : 0.0f;
            job->z[q] = s->schur[q] * s->t_p[q] + cycled;
        }
    }
}

// Direction j from the rounded residual: z_u = cycle(r_u), t = B z_u - r_p, z_p = W t + cycle(t).
// Leaves B z_u in q_p.
static void precondition(const stokes_solver* s, int j) {
    linop a = viscosity_solver_linop(s->viscosity);
    a.precondition(a.data, s->r_u, s->z_u[j]);
    stokes_job defect = job_of(s);
    defect.u_float = s->z_u[j];
    defect.r = s->r_p;
    defect.out = s->q_p[j];
    defect.rest = s->t_p;
    run_cells(s, ISA_CALL(s->ctx, stokes_loop_defect), &defect);
    schur_job schur = {.s = s, .z = s->z_p[j]};
    if (s->has_pressure_cycle) {
        linop l = pressure_solver_linop(s->pressure);
        l.precondition(l.data, s->t_p, s->s_p);
        schur.cycled = s->s_p;
    }
    parallel_for(s->ctx, s->cells->space.active_count, 8, add_diagonal, &schur);
}

// The square of the energy of the error, estimated from direction j, times the scale that r was
// rounded with.
static double energy_square(const stokes_solver* s, int j) {
    return vec_dot_float(&s->faces->space, s->z_u[j], s->r_u) +
           fabs(vec_dot_float(&s->cells->space, s->z_p[j], s->t_p));
}

// ---- GCR ------------------------------------------------------------------------------------

typedef struct gcr_state {
    const stokes_params* params;
    stokes_stats* stats;
    double *r_u, *r_p;        // residual
    double scale;             // a power of two for rounding the residual
    double energy_norm;       // of the solution, estimated
    double whole;             // 2-norm of f and h
    vec_sizes size_u, size_p; // of the residual
    int count;                // directions in this cycle
    bool has_first;           // direction 0 stands already
    double r[MAX_RESTART][MAX_RESTART], g[MAX_RESTART];
    double length[MAX_RESTART]; // q_j . q_j
} gcr_state;

static double wall_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double square(const stokes_solver* s, const double* u, const double* p) {
    return vec_measure(&s->faces->space, u).square + vec_measure(&s->cells->space, p).square;
}

static treacle_status make_room(stokes_solver* s, int j) {
    const vec_space *u = &s->faces->space, *p = &s->cells->space;
    if (j < s->capacity) {
        return TREACLE_OK;
    }
    TREACLE_TRY(s->z_u[j] != NULL ? TREACLE_OK : vec_create_float(u, "directions", &s->z_u[j]));
    TREACLE_TRY(s->q_u[j] != NULL ? TREACLE_OK : vec_create_float(u, "directions", &s->q_u[j]));
    TREACLE_TRY(s->z_p[j] != NULL ? TREACLE_OK : vec_create_float(p, "directions", &s->z_p[j]));
    TREACLE_TRY(s->q_p[j] != NULL ? TREACLE_OK : vec_create_float(p, "directions", &s->q_p[j]));
    s->capacity = j + 1;
    return TREACLE_OK;
}

static void round_residual(const stokes_solver* s, gcr_state* k) {
    k->size_u = vec_measure(&s->faces->space, k->r_u);
    k->size_p = vec_measure(&s->cells->space, k->r_p);
    vec_round(&s->faces->space, k->scale, k->r_u, s->r_u);
    vec_round(&s->cells->space, k->scale, k->r_p, s->r_p);
}

static double net_flow(const stokes_solver* s, const double* r_p) {
    const vec_space* cells = &s->cells->space;
    for (tile_ix i = 0; i < cells->active_count; ++i) {
        int64_t t = cells->active[i];
        double sum = 0.0;
        for (int q = 0; q < TILE_CELLS; ++q) {
            sum += r_p[t * TILE_CELLS + q];
        }
        cells->partial[2][t] = sum;
    }
    return fabs(vec_sum_partial(cells, 2));
}

// Judges the residual, whose correction direction j is. True if all targets are met.
static bool judge(const stokes_solver* s, const gcr_state* k, int j) {
    const stokes_params* want = k->params;
    stokes_stats* have = k->stats;
    have->net = isfinite(want->net) ? net_flow(s, k->r_p) : 0.0;
    have->divergence = k->size_p.max;
    have->relative = k->whole > 0.0 ? sqrt(k->size_u.square + k->size_p.square) / k->whole : 0.0;
    double estimate = energy_square(s, j);
    have->energy = k->energy_norm > 0.0 ? sqrt(fmax(estimate, 0.0)) / k->scale / k->energy_norm : 0;
    int at = have->history_count < SOLVE_HISTORY ? have->history_count++ : SOLVE_HISTORY - 1;
    have->history[at] = have->energy;
    have->history_relative[at] = have->relative;
    have->is_broken = !isfinite(have->relative) || !isfinite(have->energy);
    return have->energy <= want->energy && have->divergence <= want->divergence &&
           have->net <= want->net && have->relative <= want->relative;
}

// What the products of A z_j say: its parts along the images before, what is left, and the step.
typedef struct gcr_products {
    double share[MAX_RESTART];
    double whole, rest; // squares
    double step;
} gcr_products;

static gcr_products find_products(const stokes_solver* s, const gcr_state* k, int j) {
    const float *u[MAX_RESTART + 2], *p[MAX_RESTART + 2];
    double product[MAX_RESTART + 2], product_p[MAX_RESTART + 2];
    gcr_products out;
    for (int i = 0; i <= j; ++i) {
        u[i] = s->q_u[i];
        p[i] = s->q_p[i];
    }
    u[j + 1] = s->r_u;
    p[j + 1] = s->r_p;
    vec_dot_many(&s->many_u, j + 2, u, s->q_u[j], product);
    vec_dot_many(&s->many_p, j + 2, p, s->q_p[j], product_p);
    out.whole = out.rest = product[j] + product_p[j];
    for (int i = 0; i < j; ++i) {
        double along = product[i] + product_p[i];
        out.share[i] = k->length[i] > 0.0 ? along / k->length[i] : 0.0;
        out.rest -= along * out.share[i];
    }
    double slope = (product[j + 1] + product_p[j + 1]) / k->scale;
    out.step = out.rest > 0.0 ? slope / out.rest : 0.0;
    return out;
}

static vec_orthogonal parts(float* const* q, int j, const double* share) {
    return (vec_orthogonal){j, (const float* const*)q, share, q[j]};
}

// Appends direction j: its image, made orthogonal to those before, and the step along it.
static void add_direction(const stokes_solver* s, gcr_state* k, int j) {
    const vec_space *u = &s->faces->space, *p = &s->cells->space;
    stokes_job image = job_of(s);
    image.u_float = s->z_u[j];
    image.p_float = s->z_p[j];
    image.out = s->q_u[j];
    run_faces(s, ISA_CALL(s->ctx, stokes_loop_image), &image);
    gcr_products now = find_products(s, k, j);
    for (int i = 0; i < j; ++i) {
        k->r[i][j] = now.share[i];
    }
    if (now.rest < little_left * now.whole) {
        vec_orthogonal first_u = parts(s->q_u, j, now.share), first_p = parts(s->q_p, j, now.share);
        vec_subtract_many(u, &first_u);
        vec_subtract_many(p, &first_p);
        now = find_products(s, k, j);
        for (int i = 0; i < j; ++i) {
            k->r[i][j] += now.share[i];
        }
    }
    vec_retreat_step step_u = {parts(s->q_u, j, now.share), now.step, k->scale, k->r_u, s->r_u};
    vec_retreat_step step_p = {parts(s->q_p, j, now.share), now.step, k->scale, k->r_p, s->r_p};
    k->size_u = vec_retreat(u, &step_u);
    k->size_p = vec_retreat(p, &step_p);
    k->length[j] = fmax(now.rest, 0.0);
    k->g[j] = now.step;
    k->count = j + 1;
}

// x += [z] R^-1 g.
static void add_solution(const stokes_solver* s, const gcr_state* k, double* x_u, double* x_p) {
    double y[MAX_RESTART];
    for (int j = k->count - 1; j >= 0; --j) {
        double sum = k->g[j];
        for (int i = j + 1; i < k->count; ++i) {
            sum -= k->r[j][i] * y[i];
        }
        y[j] = sum;
    }
    for (int j = 0; j < k->count; ++j) {
        vec_add_scaled_float(&s->faces->space, y[j], s->z_u[j], x_u);
        vec_add_scaled_float(&s->cells->space, y[j], s->z_p[j], x_p);
    }
}

static bool is_slow(const stokes_stats* stats) {
    int n = stats->history_count - 1, before = n - SLOW_ITERATIONS;
    double share = 1.0;
    for (int i = 0; i < SLOW_ITERATIONS; ++i) {
        share *= slow_factor;
    }
    return before >= 0 && n < SOLVE_HISTORY - 1 &&
           stats->history[n] > share * stats->history[before];
}

// One cycle of up to `restart` directions. True if the solve is over.
static treacle_status run_cycle(stokes_solver* s, gcr_state* k, bool* is_over) {
    int room = k->params->restart < MAX_RESTART ? k->params->restart : MAX_RESTART;
    k->count = 0;
    if (!k->has_first) {
        round_residual(s, k);
    }
    for (int j = 0; j < room && !*is_over; ++j) {
        TREACLE_TRY(make_room(s, j));
        if (!k->has_first) {
            precondition(s, j);
        }
        k->has_first = false;
        k->stats->is_converged = judge(s, k, j);
        *is_over = k->stats->is_converged || k->stats->is_broken ||
                   k->stats->iterations >= k->params->max_iterations;
        bool needs_pieces = is_slow(k->stats) && !viscosity_solver_has_pieces(s->viscosity);
        if (needs_pieces && !*is_over) {
            return viscosity_solver_add_pieces(s->viscosity);
        }
        if (!*is_over) {
            add_direction(s, k, j);
            k->stats->iterations += 1;
        }
    }
    return TREACLE_OK;
}

// r = b - A x.
static void find_residual(const stokes_solver* s, const stokes_vectors* v, gcr_state* k) {
    stokes_job job = job_of(s);
    job.u = v->u;
    job.p = v->p;
    job.b = s->b_u;
    job.to = k->r_u;
    run_faces(s, ISA_CALL(s->ctx, stokes_loop_forces), &job);
    job.b = s->b_p;
    job.to = k->r_p;
    run_cells(s, ISA_CALL(s->ctx, stokes_loop_divergence), &job);
    k->has_first = false;
}

static double power_of_two_near(double size) {
    int exponent = 0;
    frexp(size, &exponent);
    return size > 0.0 ? ldexp(1.0, -exponent) : 1.0;
}

// The energy norm of the solution without pressure, for scale: sqrt(f . A^-1 f).
static treacle_status measure_goal(stokes_solver* s, gcr_state* k) {
    double unknowns = s->faces->unknowns + s->cells->unknowns;
    TREACLE_TRY(make_room(s, 0));
    k->whole = sqrt(square(s, k->r_u, k->r_p));
    k->scale = power_of_two_near(k->whole / sqrt(fmax(unknowns, 1.0)));
    round_residual(s, k);
    precondition(s, 0);
    k->energy_norm = sqrt(fmax(energy_square(s, 0), 0.0)) / k->scale;
    k->has_first = true;
    return TREACLE_OK;
}

static void mask_cells(const float* inverse, int64_t length, double* v) {
    for (int64_t i = 0; i < length; ++i) {
        v[i] = inverse[i] > 0.0f ? v[i] : 0.0;
    }
}

static void mask_vectors(const stokes_solver* s, const stokes_vectors* v) {
    int64_t faces = (int64_t)vec_length(&s->faces->space);
    int64_t cells = (int64_t)vec_length(&s->cells->space);
    mask_cells(s->faces->inverse, faces, v->f);
    mask_cells(s->faces->inverse, faces, v->u);
    mask_cells(s->cells->inverse, cells, v->h);
    mask_cells(s->cells->inverse, cells, v->p);
}

// Whether the residual proves larger than its recurrence said, so that another cycle is due.
static bool has_drifted(const stokes_solver* s, const gcr_state* k) {
    double relative = k->whole > 0.0 ? sqrt(square(s, k->r_u, k->r_p)) / k->whole : 0.0;
    k->stats->relative = relative;
    return k->stats->is_converged && relative > 1.1 * k->params->relative;
}

// Free bodies get exactly the momentum that f asks for.
static treacle_status move_bodies(stokes_solver* s, const stokes_vectors* v, gcr_state* k) {
    bool has_moved = false;
    TREACLE_TRY(viscosity_solver_move_bodies(s->viscosity, k->r_u, v->u, &has_moved));
    if (has_moved) {
        find_residual(s, v, k);
    }
    return TREACLE_OK;
}

static treacle_status iterate(stokes_solver* s, const stokes_vectors* v, gcr_state* k) {
    bool is_over = false;
    TREACLE_TRY(pressure_solver_project(s->pressure, v->h));
    TREACLE_TRY(measure_goal(s, k));
    vec_copy(&s->faces->space, k->r_u, s->b_u);
    vec_copy(&s->cells->space, k->r_p, s->b_p);
    if (k->params->is_warm) {
        find_residual(s, v, k);
    } else {
        vec_set_zero(&s->faces->space, v->u);
        vec_set_zero(&s->cells->space, v->p);
    }
    TREACLE_TRY(move_bodies(s, v, k));
    while (!is_over) {
        TREACLE_TRY(run_cycle(s, k, &is_over));
        add_solution(s, k, v->u, v->p);
        find_residual(s, v, k);
        is_over = is_over && (k->count == 0 || !has_drifted(s, k));
    }
    TREACLE_TRY(move_bodies(s, v, k));
    return pressure_solver_project(s->pressure, v->p);
}

treacle_status stokes_solve(stokes_solver* solver, const stokes_vectors* vectors,
                            const stokes_params* params, stokes_stats* stats) {
    double begin = wall_seconds();
    gcr_state* k = NULL;
    *stats = (stokes_stats){.unknowns = solver->faces->unknowns + solver->cells->unknowns};
    TREACLE_TRY(alloc_zero(solver->ctx, 1, sizeof(*k), "a Krylov cycle", (void**)&k));
    k->params = params;
    k->stats = stats;
    k->r_u = vectors->f;
    k->r_p = vectors->h;
    mask_vectors(solver, vectors);
    treacle_status status = iterate(solver, vectors, k);
    alloc_free(solver->ctx, k, sizeof(*k));
    stats->seconds = wall_seconds() - begin;
    return status;
}
