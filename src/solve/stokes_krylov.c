// GCR keeps the corrections z_j, in float exactly as the preconditioner gave them, and the images
// q_j = (A z_j made orthogonal), in float too: rounding q only moves the recurrence of the residual
// by 1e-7 of itself, whereas rounding a combination of z would be multiplied by the stiffness. With
// [z] = [p] R, R upper triangular with ones, A p_j = q_j, the solution is put together at the end
// of a cycle:
//
//     r -= g_j q_j, g_j = r . q_j / q_j . q_j;   x += [z] R^-1 g.
//
// Products weigh each row with the inverse of its diagonal (weigh_rows in stokes_solver.c): with
// stiff and thin liquid side by side the plain residual would say all of the one and nothing of the
// other. r is orthogonal to the images before j, so r . q_j = r . A z_j; and q_j . q_j follows from
// the products of A z_j with itself and with them. So one pass over the images finds all products
// and one more takes the parts out and steps; where little is left of A z_j, and rounding counts,
// two.
//
// A step along A z_j may bring nothing: with forces of zero and a flow that is asked for, z is a
// pressure alone, whose image lies across the residual, and the next z would be the same one. There
// the next direction comes from the image q_j in the residual's place, which spans the space that
// the residual alone does not reach.
//
// The energy norm of the error comes for free from the preconditioned residual z = (z_u, z_p):
//
//     est^2 = z_u . r_u + |z_p . (B z_u - r_p)|,  over f . A^-1 f by the same cycle.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/profile.h"
#include "grid/tile_loop.h"
#include "solve/stokes_internal.h"

// The square of the energy of the error, estimated from direction j, times the scale that r was
// rounded with.
static double energy_square(const stokes_solver* s, int j) {
    return vec_dot_float(s->u_space, s->dir.z_u[j], s->vec.r_u) +
           fabs(vec_dot_float(&s->p_space, s->dir.z_p[j], s->vec.t_p));
}

typedef struct gcr_state {
    const stokes_params* params;
    stokes_stats* stats;
    double *r_u, *r_p;        // residual
    double scale;             // a power of two for rounding the residual
    double energy_norm;       // of the solution, estimated
    double whole;             // 2-norm of f and h
    double weighed;           // square of the residual, rows weighed: falls like the energy
    double measured;          // what it was when it was last measured, not carried on
    double fallen;            // fraction of its root that the last step left
    vec_sizes size_u, size_p; // of the residual
    int count;                // directions in this cycle
    bool has_first;           // direction 0 stands already
    bool is_stalled;          // the last step brought nothing
    int stalls;               // such steps in a row
    double r[STOKES_MAX_RESTART][STOKES_MAX_RESTART], g[STOKES_MAX_RESTART];
    double length[STOKES_MAX_RESTART]; // q_j . q_j
} gcr_state;

static double power_of_two_near(double size) {
    int exponent = 0;
    frexp(size, &exponent);
    return size > 0.0 ? ldexp(1.0, -exponent) : 1.0;
}

static double square(const stokes_solver* s, const double* u, const double* p) {
    return vec_measure(s->u_space, u).square + vec_measure(&s->p_space, p).square;
}

static treacle_status make_room(stokes_solver* s, int j) {
    const vec_space *u = s->u_space, *p = &s->p_space;
    if (j < s->dir.capacity) {
        return TREACLE_OK;
    }
    const char* what = "directions";
    TREACLE_TRY(s->dir.z_u[j] != NULL ? TREACLE_OK : vec_create_float_raw(u, what, &s->dir.z_u[j]));
    TREACLE_TRY(s->dir.q_u[j] != NULL ? TREACLE_OK : vec_create_float_raw(u, what, &s->dir.q_u[j]));
    TREACLE_TRY(s->dir.z_p[j] != NULL ? TREACLE_OK : vec_create_float_raw(p, what, &s->dir.z_p[j]));
    TREACLE_TRY(s->dir.q_p[j] != NULL ? TREACLE_OK : vec_create_float_raw(p, what, &s->dir.q_p[j]));
    s->dir.capacity = j + 1;
    return TREACLE_OK;
}

static void round_residual(const stokes_solver* s, gcr_state* k) {
    k->size_u = vec_measure(s->u_space, k->r_u);
    k->size_p = vec_measure(&s->p_space, k->r_p);
    vec_round(s->u_space, k->scale, k->r_u, s->vec.r_u);
    vec_round(&s->p_space, k->scale, k->r_p, s->vec.r_p);
}

static double weigh_residual(const stokes_solver* s, const gcr_state* k) {
    vec_weigh(s->u_space, s->vec.h_u, s->vec.r_u, s->vec.m_u);
    vec_weigh(&s->p_space, s->vec.h_p, s->vec.r_p, s->vec.m_p);
    double square = vec_dot_float(s->u_space, s->vec.m_u, s->vec.r_u) +
                    vec_dot_float(&s->p_space, s->vec.m_p, s->vec.r_p);
    return square / (k->scale * k->scale);
}

// After a step along an image of the square `length` that takes `gone` away. The products are those
// of rounded numbers: of a residual that has fallen far their difference is all rounding, and no
// step would seem to bring anything any more.
static void update_weighed(const stokes_solver* s, gcr_state* k, double length, double gone) {
    const krylov_policy* policy = &s->policy->krylov;
    double left = fmax(k->weighed - gone, 0.0);
    if (left < policy->weighed_reach * k->measured) {
        left = k->measured = weigh_residual(s, k);
    }
    k->fallen = k->weighed > 0.0 ? sqrt(left / k->weighed) : 1.0;
    k->is_stalled = k->fallen > policy->stalled;
    bool has_image = length > 0.0 && gone >= 0.0; // without one there is nothing to look past
    k->stalls = !k->is_stalled ? 0 : has_image ? k->stalls + 1 : policy->stalls;
    k->weighed = left;
}

// The volume of each region, which its net flow is measured by.
static treacle_status find_regions(stokes_solver* s) {
    double* volume = NULL;
    treacle_status status;
    if (s->net.region_volume != NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(regions_create_all(s->cells, &s->net.regions));
    TREACLE_TRY(alloc_zero(s->ctx, 2 * (size_t)s->net.regions.count + 1, sizeof(double),
                           "volumes of regions", (void**)&s->net.region_volume));
    TREACLE_TRY(vec_create(&s->p_space, "volumes", &volume));
    tile_range own =
        s->p_space.shared != NULL ? tile_ranks_own(s->map) : (tile_range){0, s->map->count};
    for (int64_t i = own.begin * TILE_CELLS; i < own.end * TILE_CELLS; ++i) {
        volume[i] = (double)s->net.volume[i];
    }
    status = regions_sum(&s->net.regions, volume, s->net.region_volume);
    vec_destroy(&s->p_space, volume);
    return status;
}

treacle_status stokes_regions(stokes_solver* solver, const region_set** out) {
    TREACLE_TRY(find_regions(solver));
    *out = &solver->net.regions;
    return TREACLE_OK;
}

// The largest |sum of r| of a region over its volume. Drops and specks count as if they were
// larger: a fraction of theirs is next to nothing, and they would keep the whole solve waiting.
static treacle_status find_net(stokes_solver* s, const double* r_p, double* net) {
    TREACLE_TRY(find_regions(s));
    int32_t count = s->net.regions.count;
    double *sum = s->net.region_volume + count, small = s->policy->krylov.small_region;
    TREACLE_TRY(regions_sum(&s->net.regions, r_p, sum));
    *net = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        *net = fmax(*net, fabs(sum[i]) / fmax(s->net.region_volume[i], small));
    }
    return TREACLE_OK;
}

static void record(stokes_stats* stats) {
    int at = stats->history_count < SOLVE_HISTORY ? stats->history_count++ : SOLVE_HISTORY - 1;
    stats->history[at] = stats->energy;
    stats->history_relative[at] = stats->relative;
}

// Measures the residual by all but energy and net flow.
static void stokes_krylov_measure(const gcr_state* k) {
    stokes_stats* have = k->stats;
    have->divergence = k->size_p.max;
    have->relative = k->whole > 0.0 ? sqrt(k->size_u.square + k->size_p.square) / k->whole : 0.0;
}

// Whether all targets are met. The net flow, which costs a pass over all cells, is asked last.
static treacle_status check_targets(stokes_solver* s, const gcr_state* k) {
    const stokes_params* want = k->params;
    stokes_stats* have = k->stats;
    double first = have->history_count > 0 ? have->history[0] : have->energy;
    double energy = fmax(want->energy, want->drop * first);
    have->is_converged = have->energy <= energy && have->divergence <= want->divergence &&
                         have->relative <= want->relative;
    have->is_rough = have->energy > want->energy;
    have->net = isfinite(want->net) ? (double)INFINITY : 0.0;
    if (have->is_converged && isfinite(want->net)) {
        TREACLE_TRY(find_net(s, k->r_p, &have->net));
        have->is_converged = have->net <= want->net;
    }
    return TREACLE_OK;
}

// Judges the residual, whose correction direction j is.
static treacle_status judge(stokes_solver* s, const gcr_state* k, int j) {
    stokes_stats* have = k->stats;
    stokes_krylov_measure(k);
    double estimate = sqrt(fmax(energy_square(s, j), 0.0)) / k->scale;
    have->energy = k->energy_norm > 0.0 ? estimate / k->energy_norm : 0.0;
    have->is_broken = !isfinite(have->relative) || !isfinite(have->energy);
    TREACLE_TRY(check_targets(s, k));
    record(have);
    return TREACLE_OK;
}

// After a step: takes the energy to have fallen like the residual, plain or weighed, give or take.
// If even so it is small enough, and all else is, the solve ends without another correction only to
// measure it.
static treacle_status predict_energy(stokes_solver* s, const gcr_state* k) {
    stokes_stats* have = k->stats;
    double before = have->relative, energy = have->energy;
    stokes_krylov_measure(k);
    double plain = before > 0.0 ? have->relative / before : 1.0;
    have->energy = s->policy->krylov.caution * energy * fmax(plain, k->fallen);
    TREACLE_TRY(check_targets(s, k));
    if (have->is_converged) {
        record(have);
    } else {
        have->energy = energy;
    }
    return TREACLE_OK;
}

// What the products of A z_j say: its parts along the images before, what is left, and the step.
typedef struct gcr_products {
    double coefficient[STOKES_MAX_RESTART];
    double whole, left_over; // squares
    double step;
} gcr_products;

static gcr_products find_products(const stokes_solver* s, const gcr_state* k, int j) {
    const float *u[STOKES_MAX_RESTART + 2], *p[STOKES_MAX_RESTART + 2];
    double product[STOKES_MAX_RESTART + 2], product_p[STOKES_MAX_RESTART + 2];
    gcr_products out;
    for (int i = 0; i <= j; ++i) {
        u[i] = s->dir.q_u[i];
        p[i] = s->dir.q_p[i];
    }
    u[j + 1] = s->vec.r_u;
    p[j + 1] = s->vec.r_p;
    vec_weigh(s->u_space, s->vec.h_u, s->dir.q_u[j], s->vec.m_u);
    vec_weigh(&s->p_space, s->vec.h_p, s->dir.q_p[j], s->vec.m_p);
    vec_dot_many(&s->dir.many_u, j + 2, u, s->vec.m_u, product);
    vec_dot_many(&s->dir.many_p, j + 2, p, s->vec.m_p, product_p);
    out.whole = out.left_over = product[j] + product_p[j];
    for (int i = 0; i < j; ++i) {
        double along = product[i] + product_p[i];
        out.coefficient[i] = k->length[i] > 0.0 ? along / k->length[i] : 0.0;
        out.left_over -= along * out.coefficient[i];
    }
    double slope = (product[j + 1] + product_p[j + 1]) / k->scale;
    out.step = out.left_over > 0.0 ? slope / out.left_over : 0.0;
    return out;
}

static vec_orthogonal parts(float* const* q, int j, const double* coefficient) {
    return (vec_orthogonal){j, (const float* const*)q, coefficient, q[j]};
}

// Appends direction j: its image, made orthogonal to those before, and the step along it.
static void add_direction(const stokes_solver* s, gcr_state* k, int j) {
    const vec_space *u = s->u_space, *p = &s->p_space;
    stokes_job image = stokes_job_of(s);
    image.u_float = s->vec.w_u;
    image.p_float = s->vec.w_p;
    image.out = s->dir.q_u[j];
    vec_exchange_float(&s->faces->space, s->vec.w_u);
    vec_exchange_float(&s->p_space, s->vec.w_p);
    stokes_run_faces(s, ISA_CALL(s->ctx, stokes_loop_image), &image);
    stokes_extra_image(s, k->params->extra, j);
    stokes_bodies_image(s, j);
    gcr_products now = find_products(s, k, j);
    for (int i = 0; i < j; ++i) {
        k->r[i][j] = now.coefficient[i];
    }
    if (now.left_over < s->policy->krylov.twice_below * now.whole) {
        vec_orthogonal first_u = parts(s->dir.q_u, j, now.coefficient),
                       first_p = parts(s->dir.q_p, j, now.coefficient);
        vec_subtract_many(u, &first_u);
        vec_subtract_many(p, &first_p);
        now = find_products(s, k, j);
        for (int i = 0; i < j; ++i) {
            k->r[i][j] += now.coefficient[i];
        }
    }
    vec_retreat_step step_u = {parts(s->dir.q_u, j, now.coefficient), now.step, k->scale, k->r_u,
                               s->vec.r_u};
    vec_retreat_step step_p = {parts(s->dir.q_p, j, now.coefficient), now.step, k->scale, k->r_p,
                               s->vec.r_p};
    k->size_u = vec_retreat(u, &step_u);
    k->size_p = vec_retreat(p, &step_p);
    update_weighed(s, k, now.left_over, now.step * now.step * now.left_over);
    k->length[j] = fmax(now.left_over, 0.0);
    k->g[j] = now.step;
    k->count = j + 1;
}

// x += [z] R^-1 g.
static void add_solution(const stokes_solver* s, const gcr_state* k, double* x_u, double* x_p) {
    double y[STOKES_MAX_RESTART];
    for (int j = k->count - 1; j >= 0; --j) {
        double sum = k->g[j];
        for (int i = j + 1; i < k->count; ++i) {
            sum -= k->r[j][i] * y[i];
        }
        y[j] = sum;
    }
    vec_add_many_float(s->u_space, k->count, (const float* const*)s->dir.z_u, y, x_u);
    vec_add_many_float(&s->p_space, k->count, (const float* const*)s->dir.z_p, y, x_p);
}

// Whether the estimate has fallen less than `factor` an iteration over the last `count`.
static bool is_slow_over(const stokes_stats* stats, double factor, int count) {
    int n = stats->history_count - 1, before = n - count;
    double fraction = 1.0;
    for (int i = 0; i < count; ++i) {
        fraction *= factor;
    }
    return before >= 0 && n < SOLVE_HISTORY - 1 &&
           stats->history[n] > fraction * stats->history[before];
}

// Slow for long, not getting faster, and far from the target: not there in twice as many iterations
// of this pace. The loop begins anew with its aggregates, and forgets all directions.
static bool is_slow(const slow_policy* slow, const stokes_stats* stats, double target) {
    if (!is_slow_over(stats, slow->factor, slow->iterations) ||
        !is_slow_over(stats, slow->factor, slow->recent)) {
        return false;
    }
    int n = stats->history_count - 1;
    double energy = stats->history[n], pace = energy / stats->history[n - slow->iterations];
    bool is_met = energy <= target; // or not asked for: then something else is far off
    return is_met || energy * (pace * pace) > target;
}

// Direction j from the image before it, made as long as one: images of images would grow without
// end.
static void look_past(stokes_solver* s, const gcr_state* k, int j) {
    float *r_u = s->vec.r_u, *r_p = s->vec.r_p,
          by = (float)power_of_two_near(sqrt(k->length[j - 1]));
    s->vec.r_u = s->dir.q_u[j - 1];
    s->vec.r_p = s->dir.q_p[j - 1];
    stokes_precondition(s, j);
    s->vec.r_u = r_u;
    s->vec.r_p = r_p;
    float* const of_faces[] = {s->vec.w_u, s->dir.z_u[j]};
    float* const of_cells[] = {s->vec.w_p, s->dir.z_p[j], s->dir.q_p[j]};
    for (int i = 0; i < 2; ++i) {
        vec_combine_float(s->u_space, 0.0f, of_faces[i], by, of_faces[i]);
    }
    for (int i = 0; i < 3; ++i) {
        vec_combine_float(&s->p_space, 0.0f, of_cells[i], by, of_cells[i]);
    }
}

// Direction j and what it says of the residual.
static treacle_status look(stokes_solver* s, gcr_state* k, int j) {
    TREACLE_TRY(make_room(s, j));
    if (k->is_stalled && j > 0) {
        look_past(s, k, j);
        return TREACLE_OK;
    }
    if (!k->has_first) {
        stokes_precondition(s, j);
    }
    k->has_first = false;
    return judge(s, k, j);
}

static bool is_at_end(const gcr_state* k) {
    return k->stats->is_converged || k->stats->is_broken ||
           k->stats->iterations >= k->params->max_iterations;
}

static double size_of(const gcr_state* k) {
    return sqrt(k->size_u.square + k->size_p.square);
}

// Whether the directions of a cycle say something of the residual still.
static bool has_more(const krylov_policy* policy, const gcr_state* k, double begun) {
    return !(size_of(k) < policy->cycle_reach * begun) && k->stalls < policy->stalls;
}

// One cycle of up to `restart` directions, or until its images say no more of the residual. True if
// the solve is over.
static treacle_status run_cycle(stokes_solver* s, gcr_state* k, bool* is_over) {
    // A cycle is as long as there is room for directions; what it has found is added to x at its
    // end.
    int room = k->params->restart < STOKES_MAX_RESTART ? k->params->restart : STOKES_MAX_RESTART;
    k->count = 0;
    k->is_stalled = false;
    k->stalls = 0;
    if (!k->has_first) {
        round_residual(s, k);
    }
    double begun = size_of(k);
    k->weighed = k->measured = weigh_residual(s, k);
    for (int j = 0; j < room && !*is_over && has_more(&s->policy->krylov, k, begun); ++j) {
        TREACLE_TRY(look(s, k, j));
        *is_over = is_at_end(k);
        if (*is_over) {
            break;
        }
        if (is_slow(&s->policy->slow, k->stats, k->params->energy) &&
            !viscosity_solver_has_aggregates(s->viscosity)) {
            regime_note_slow(&s->regime);
            return viscosity_solver_add_aggregates(s->viscosity);
        }
        add_direction(s, k, j);
        k->stats->iterations += 1;
        TREACLE_TRY(predict_energy(s, k));
        *is_over = k->stats->is_converged;
    }
    return TREACLE_OK;
}

// r = b - A x.
static void find_residual(const stokes_solver* s, const stokes_vectors* v, gcr_state* k) {
    stokes_job job = stokes_job_of(s);
    job.u = v->u;
    job.p = v->p;
    job.b = s->vec.b_u;
    job.to = k->r_u;
    vec_exchange(&s->faces->space, v->u);
    vec_exchange(&s->p_space, v->p);
    stokes_run_faces(s, ISA_CALL(s->ctx, stokes_loop_forces), &job);
    job.b = s->vec.b_p;
    job.to = k->r_p;
    stokes_run_cells(s, ISA_CALL(s->ctx, stokes_loop_divergence), &job);
    size_t tail = vec_length(&s->faces->space), all = vec_length(s->u_space);
    memcpy(k->r_u + tail, s->vec.b_u + tail, (all - tail) * sizeof(double));
    stokes_vectors r = {.u = k->r_u, .p = k->r_p};
    stokes_bodies_add(s, v, -1.0, &r);
    stokes_extra_residual(s, k->params->extra, v->u, k->r_u);
    k->has_first = false;
}

// The energy norm of the solution without pressure, for scale: sqrt(f . A^-1 f).
static treacle_status measure_goal(stokes_solver* s, gcr_state* k) {
    // The first preconditioning serves twice: for the scale, and as direction 0 of a cold start.
    double unknowns = s->faces->unknowns + s->cells->unknowns;
    TREACLE_TRY(make_room(s, 0));
    k->whole = sqrt(square(s, k->r_u, k->r_p));
    k->scale = power_of_two_near(k->whole / sqrt(fmax(unknowns, 1.0)));
    round_residual(s, k);
    stokes_precondition(s, 0);
    k->energy_norm = sqrt(fmax(energy_square(s, 0), 0.0)) / k->scale;
    k->has_first = true;
    return TREACLE_OK;
}

// Where pressure bears most of the load, what moves has little of its energy: then that of the
// first guess is the scale,  u . A u = u . (f - r_u) - p . (h - r_p)  [stokes.6].
static void measure_guess(const stokes_solver* s, const stokes_vectors* v, gcr_state* k) {
    double forces = vec_dot(s->u_space, v->u, s->vec.b_u) - vec_dot(s->u_space, v->u, k->r_u);
    double flow = vec_dot(&s->p_space, v->p, s->vec.b_p) - vec_dot(&s->p_space, v->p, k->r_p);
    double energy = sqrt(fmax(forces - flow, 0.0));
    double least = k->params->least * k->energy_norm;
    k->energy_norm = fmin(k->energy_norm, fmax(energy, least));
}

typedef struct mask_job {
    const float* inverse;
    double* v;
    int64_t block;
} mask_job;

static void mask_tiles(void* data, int64_t begin, int64_t end) {
    const mask_job* job = data;
    for (int64_t i = begin * job->block; i < end * job->block; ++i) {
        job->v[i] = job->inverse[i] > 0.0f ? job->v[i] : 0.0;
    }
}

// The dummy tile, too.
static void mask(const tile_map* map, mask_job job) {
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, mask_tiles, &job);
    mask_tiles(&job, map->count, (int64_t)map->count + 1);
}

static void mask_vectors(const stokes_solver* s, const stokes_vectors* v) {
    mask(s->map, (mask_job){s->faces->inverse, v->f, VISCOSITY_BLOCK});
    mask(s->map, (mask_job){s->faces->inverse, v->u, VISCOSITY_BLOCK});
    mask(s->map, (mask_job){s->cells->inverse, v->h, TILE_CELLS});
    mask(s->map, (mask_job){s->cells->inverse, v->p, TILE_CELLS});
}

// Whether the residual proves larger than its recurrence said, so that another cycle is due.
static bool has_drifted(const stokes_solver* s, const gcr_state* k) {
    const solve_policy* policy = s->policy;
    double said = k->stats->relative, rounding = policy->rounding.residual;
    double relative = k->whole > 0.0 ? sqrt(square(s, k->r_u, k->r_p)) / k->whole : 0.0;
    k->stats->relative = relative;
    return k->stats->is_converged &&
           (relative > policy->krylov.drift_of_target * k->params->relative ||
            relative > policy->krylov.drift_of_said * said + rounding);
}

// Free bodies get exactly the momentum that f asks for, unless that makes a divergence: then what
// moves is held by pressure; or forces: then the weights of stress have changed since it was found
// what is free, and what moves is held by them.
static treacle_status move_lumps(stokes_solver* s, const stokes_vectors* v, gcr_state* k) {
    const vec_space *faces = s->u_space, *cells = &s->p_space;
    double *before = NULL, most = vec_measure(cells, k->r_p).max;
    double all = vec_measure(faces, k->r_u).square;
    bool has_moved = false;
    // To be taken back if the motion proves to be held: pressure and changed weights hold what the
    // labels of lumps do not know.
    TREACLE_TRY(vec_create(faces, "velocities", &before));
    vec_copy(faces, v->u, before);
    treacle_status status = viscosity_solver_move_lumps(s->viscosity, k->r_u, v->u, &has_moved);
    if (has_moved) {
        find_residual(s, v, k);
    }
    const krylov_policy* policy = &s->policy->krylov;
    double rounding = s->policy->rounding.velocity * vec_measure(faces, v->u).max;
    double flow = vec_measure(cells, k->r_p).max, force = vec_measure(faces, k->r_u).square;
    bool is_held = !(flow <= policy->push_divergence * most + rounding) ||
                   !(force <= policy->push_force * all);
    if (has_moved && is_held) {
        vec_copy(faces, before, v->u);
        find_residual(s, v, k);
    }
    vec_destroy(faces, before);
    return status;
}

static treacle_status iterate(stokes_solver* s, const stokes_vectors* v, gcr_state* k) {
    bool is_over = false;
    TREACLE_TRY(pressure_solver_project(s->pressure, v->h));
    TREACLE_TRY(measure_goal(s, k));
    vec_copy(s->u_space, k->r_u, s->vec.b_u);
    vec_copy(&s->p_space, k->r_p, s->vec.b_p);
    if (k->params->is_warm) {
        find_residual(s, v, k);
    } else {
        vec_set_zero(s->u_space, v->u);
        vec_set_zero(&s->p_space, v->p);
    }
    TREACLE_TRY(move_lumps(s, v, k));
    if (k->params->is_warm && k->params->least < 1.0) {
        measure_guess(s, v, k);
    }
    while (!is_over) {
        TREACLE_TRY(run_cycle(s, k, &is_over));
        add_solution(s, k, v->u, v->p);
        find_residual(s, v, k);
        is_over = is_over && (k->count == 0 || !has_drifted(s, k));
    }
    if (k->params->keeps_momentum) {
        TREACLE_TRY(move_lumps(s, v, k));
    }
    return pressure_solver_project(s->pressure, v->p);
}

treacle_status stokes_solve(stokes_solver* solver, const stokes_vectors* vectors,
                            const stokes_params* params, stokes_stats* stats) {
    TREACLE_ASSERT(vectors->f != vectors->u && vectors->h != vectors->p);
    TREACLE_ASSERT(params->restart > 0 && params->max_iterations >= 0 && params->energy >= 0.0);
    TREACLE_VALIDATE(stokes_solver_is_valid(solver));
    double begin = profile_now();
    gcr_state* k = NULL;
    *stats = (stokes_stats){.unknowns = solver->faces->unknowns + solver->cells->unknowns};
    TREACLE_TRY(stokes_extra_create(solver, params->extra));
    TREACLE_TRY(alloc_zero(solver->ctx, 1, sizeof(*k), "a Krylov cycle", (void**)&k));
    k->params = params;
    k->stats = stats;
    k->r_u = vectors->f;
    k->r_p = vectors->h;
    mask_vectors(solver, vectors);
    treacle_status status = iterate(solver, vectors, k);
    vec_publish(&solver->faces->space, vectors->f);
    vec_publish(&solver->faces->space, vectors->u);
    vec_publish(&solver->p_space, vectors->h);
    vec_publish(&solver->p_space, vectors->p);
    alloc_free(solver->ctx, k, sizeof(*k));
    memcpy(stats->regime, solver->regime.name, sizeof(stats->regime));
    stats->seconds = profile_now() - begin;
    return status;
}
