// The viscosity of the liquid at cells, and the loop that finds it together with the velocity where
// one depends on the other.
//
// With f(mu) what is averaged (log mu, mu or 1/mu), F the particles' own factors and phi_m the
// share of material m at a cell, [rheo.3]
//
//     f(mu) = sum over m of phi_m f(F mu_m(g)) = base + sum over non-Newtonian m of portion_m
//     f(mu_m(g))
//
// where base and portions come from the particles once a step. The loop is the fixed point
//
//     mu_k = mu(g(u_k)),   u_k+1 = solve(u*, mu_k)                                         [rheo.4]
//
// It lowers the dissipation potential with every pass as long as no material thickens under shear.
// Where one does, with exponent n, f moves by 1/n of the way only.
#include <math.h>

#include "grid/fraction.h"
#include "grid/tile_ranks.h"
#include "math/elementary.h"
#include "particles/particle_ranks.h"
#include "sim/rheology_loop.h"

// --- from particles -----------------------------------------------------------------------------

typedef struct part_job {
    const liquid_work* w;
    int material; // whose portion; -1: the base
    float* out;
} part_job;

static double part_of(const part_job* job, int material, double log_factor) {
    const liquid_setup* setup = job->w->setup;
    treacle_viscosity_mean mean = setup->def->viscosity_solve.mean;
    // Those come at cells: by the rate of shear, by what is carried.
    bool is_later = rheology_is_needed(&setup->materials[material]) ||
                    setup->heat.law[material].def.kind != TREACLE_LAW_NONE;
    bool is_geometric = mean == TREACLE_VISCOSITY_GEOMETRIC;
    if (job->material >= 0) {
        double portion = is_geometric ? 1.0 : rheology_to_mean(mean, elementary_exp(log_factor));
        return material == job->material ? portion : 0.0;
    }
    double log_mu = (is_later ? 0.0 : (double)setup->log_mu[material]) + log_factor;
    if (is_geometric) {
        return log_mu;
    }
    return is_later ? 0.0 : rheology_to_mean(mean, elementary_exp(log_mu));
}

static void fill_parts(void* data, int64_t begin, int64_t end) {
    const part_job* job = data;
    const uint8_t* material = particles_material(job->w->p);
    const float* log_factor = particles_f32(job->w->p, PARTICLE_LOG_FACTOR);
    for (int64_t i = begin; i < end; ++i) {
        double factor = log_factor == NULL ? 0.0 : (double)log_factor[i];
        job->out[i] = (float)part_of(job, material[i], factor);
    }
}

static treacle_status part_to_grid(liquid_work* w, int material, float** out) {
    float* column = NULL;
    TREACLE_TRY(
        arena_take_zero(w->scratch, w->values, sizeof(float), "viscosity at cells", (void**)out));
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->count, sizeof(float), "viscosity of particles",
                           (void**)&column));
    part_job job = {w, material, column};
    particle_ranks_near(w->setup->domain, &w->state->map, w->p, fill_parts, &job);
    treacle_status status = liquid_column_to_grid(w, column, *out);
    arena_give(w->scratch, column);
    return status;
}

treacle_status liquid_viscosity_to_grid(liquid_work* w) {
    const liquid_setup* setup = w->setup;
    TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "viscosity at cells",
                                (void**)&w->cell_log_mu));
    TREACLE_TRY(arena_take(w->scratch, (size_t)setup->material_count, sizeof(*w->cell_portion),
                           "portions of materials", (void**)&w->cell_portion));
    TREACLE_TRY(part_to_grid(w, -1, &w->cell_base));
    for (int m = 0; m < setup->material_count; ++m) {
        w->cell_portion[m] = NULL;
        if (rheology_is_needed(&setup->materials[m])) {
            TREACLE_TRY(part_to_grid(w, m, &w->cell_portion[m]));
        }
    }
    return TREACLE_OK;
}

// --- the law at cells ---------------------------------------------------------------------------

typedef struct law_job {
    const liquid_work* w;
    const float* rate;                // 1/s; NULL: nothing depends on it
    float* slope;                     // d log mu / d log rate; NULL: nobody asks
    const float *rate_before, *along; // of the pass before; NULL: there was none
    double share;                     // of the way from the viscosity that is there
} law_job;

// f(mu) and its derivative by log rate.
typedef struct mean_value {
    double value, slope;
} mean_value;

static mean_value mean_at(const law_job* job, int64_t i) {
    const liquid_work* w = job->w;
    treacle_viscosity_mean mean = w->setup->def->viscosity_solve.mean;
    mean_value sum = {.value = (double)w->cell_base[i]}; // [rheo.3]
    for (int m = 0; job->rate != NULL && m < w->setup->material_count; ++m) {
        double portion = w->cell_portion[m] == NULL ? 0.0 : (double)w->cell_portion[m][i];
        if (portion > 0.0) {
            const treacle_material_def* material = &w->setup->materials[m];
            double mu = rheology_viscosity(material, (double)job->rate[i]);
            double part = portion * rheology_to_mean(mean, mu);
            double slope =
                job->slope != NULL ? rheology_slope(material, (double)job->rate[i]) : 0.0;
            sum.value += part;
            sum.slope += (mean == TREACLE_VISCOSITY_GEOMETRIC ? portion : part) * slope;
        }
    }
    return sum;
}

// d log mu / d log rate of the mixture; mu and 1/mu are as steep, up to the sign.
static float slope_of(treacle_viscosity_mean mean, mean_value at) {
    return (float)(mean == TREACLE_VISCOSITY_GEOMETRIC ? at.slope : at.slope / at.value);
}

// How far the stress that the last pass expected along the strain that came out agrees with the law
// [rheo.8].
static double trust_of(const law_job* job, int64_t i, double log_mu) {
    double along = (double)job->along[i], rate = (double)job->rate[i];
    double grown = rate > 0.0 ? (double)job->rate_before[i] / rate : 0.0;
    double change = (double)job->slope[i] * (along - 1.0);
    double expected = 1.0 + change * along * (grown * grown);
    double trust = elementary_exp((double)job->w->cell_log_mu[i] - log_mu) * expected;
    return isnan(along) ? 1.0 : fmax(-1.0, fmin(trust, 1.0));
}

static void evaluate_tiles(void* data, int64_t begin, int64_t end) {
    const law_job* job = data;
    const liquid_work* w = job->w;
    treacle_viscosity_mean mean = w->setup->def->viscosity_solve.mean;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (!(w->given.volume[i] > 0.0f)) {
            continue;
        }
        mean_value at = mean_at(job, i);
        double log_mu = mean == TREACLE_VISCOSITY_GEOMETRIC
                            ? at.value
                            : elementary_log(rheology_from_mean(mean, at.value));
        double before = (double)w->cell_log_mu[i];
        double trust = job->along != NULL ? trust_of(job, i, log_mu) : 1.0;
        w->cell_log_mu[i] = (float)(before + job->share * (log_mu - before));
        if (job->slope != NULL) {
            job->slope[i] = (float)trust * slope_of(mean, at);
        }
    }
}

static void evaluate(liquid_work* w, const float* rate, double share) {
    law_job job = {.w = w, .rate = rate, .share = share};
    tile_for_held(&w->state->map, 4, evaluate_tiles, &job);
}

void rheology_loop_evaluate(liquid_work* w, const rheology_loop* loop, double share) {
    law_job job = {.w = w,
                   .rate = loop->rate,
                   .slope = loop->slope,
                   .rate_before = loop->rate_before,
                   .along = w->rheology != NULL ? loop->along : NULL,
                   .share = share};
    tile_for_held(&w->state->map, 4, evaluate_tiles, &job);
}

treacle_status liquid_viscosity_at_rest(liquid_work* w) {
    float* rate = NULL;
    if (w->setup->has_rheology) {
        TREACLE_TRY(
            arena_take_zero(w->scratch, w->values, sizeof(float), "rates of shear", (void**)&rate));
    }
    evaluate(w, rate, 1.0);
    arena_give(w->scratch, rate);
    return TREACLE_OK;
}

// --- the loop -----------------------------------------------------------------------------------

typedef struct change_job {
    const liquid_work* w;
    float* const* before; // NULL: the velocity itself
} change_job;

static double square_of_tile(void* data, int64_t t) {
    const change_job* job = data;
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
            double u = (double)job->w->state->face_u.at[a][i];
            double d = job->before == NULL ? u : u - (double)job->before[a][i];
            sum += job->w->given.face_mass.at[a][i] > 0.0f ? d * d : 0.0;
        }
    }
    return sum;
}

// The change of velocity on faces that have particles, relative to the velocity.
static double change_since(const liquid_work* w, float* const before[AXES]) {
    const tile_map* map = &w->state->map;
    change_job change = {w, before}, all = {w, NULL};
    double size = tile_sum(map, square_of_tile, &all);
    double square = tile_sum(map, square_of_tile, &change);
    return size > 0.0 ? sqrt(square / size) : 0.0;
}

static treacle_status take_fields(liquid_work* w, rheology_loop* out) {
    float** fields[] = {&out->start.at[0],
                        &out->start.at[1],
                        &out->start.at[2],
                        &out->before.at[0],
                        &out->before.at[1],
                        &out->before.at[2],
                        &out->edge_share.at[0],
                        &out->edge_share.at[1],
                        &out->edge_share.at[2],
                        &out->cell_share,
                        &out->rate,
                        &out->slope,
                        &out->rate_before,
                        &out->along};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
        TREACLE_TRY(
            arena_take_zero(w->scratch, w->values, sizeof(float), "rheology", (void**)fields[i]));
    }
    fraction_params params = {w->setup->domain, &w->state->map, w->state->cell_phi};
    fraction_compute(&params, &(fraction_fields){.cell = out->cell_share, .edge = out->edge_share});
    return TREACLE_OK;
}

void rheology_loop_copy(const liquid_work* w, float* const from[AXES], float* const to[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        tile_copy(&w->state->map, to[a], from[a], TILE_CELLS * sizeof(float));
    }
}

rheology_params rheology_loop_params(const liquid_work* w, const rheology_loop* loop,
                                     float* const face_u[AXES]) {
    return (rheology_params){
        .domain = w->setup->domain,
        .map = &w->state->map,
        .cell_share = loop->cell_share,
        .edge_share = face_view_of(loop->edge_share),
        .face_u = {{face_u[0], face_u[1], face_u[2]}},
    };
}

void rheology_loop_count(const liquid_work* w, const rheology_loop* loop, bool is_solved) {
    treacle_rheology_stats* stats = &w->stats->rheology;
    stats->iterations += 1;
    stats->change = change_since(w, loop->before.at);
    stats->converged = is_solved && stats->change <= w->setup->def->viscosity_solve.tolerance;
}

bool rheology_loop_is_over(const liquid_work* w) {
    const treacle_rheology_stats* stats = &w->stats->rheology;
    int most = w->is_first ? 1 : w->setup->def->viscosity_solve.max_iterations;
    return stats->iterations >= most || stats->converged;
}

// 1/n of the largest exponent above 1.
static double share_of(const liquid_setup* setup) {
    double exponent = 1.0;
    for (int m = 0; m < setup->material_count; ++m) {
        const treacle_rheology_def* r = &setup->materials[m].rheology;
        bool has_exponent =
            r->law != TREACLE_RHEOLOGY_NEWTONIAN && r->law != TREACLE_RHEOLOGY_BINGHAM;
        exponent = has_exponent ? fmax(exponent, r->exponent) : exponent;
    }
    return 1.0 / exponent;
}

static treacle_status iterate(liquid_work* w, const rheology_loop* loop, liquid_solve_fcn* solve,
                              double* cell_x) {
    rheology_params params = rheology_loop_params(w, loop, w->state->face_u.at);
    rheology_loop_copy(w, w->state->face_u.at, loop->start.at);
    while (!rheology_loop_is_over(w)) {
        bool is_first = w->stats->rheology.iterations == 0;
        rheology_rate(&params, loop->rate);
        rheology_loop_evaluate(w, loop, is_first ? 1.0 : share_of(w->setup));
        rheology_loop_copy(w, w->state->face_u.at, loop->before.at);
        rheology_loop_copy(w, loop->start.at, w->state->face_u.at);
        TREACLE_TRY(solve(w, cell_x)); // [rheo.4]
        rheology_loop_count(w, loop, true);
    }
    return TREACLE_OK;
}

// The unified flow by itself knows how to go on from the last pass.
static bool has_newton(const liquid_work* w) {
    return w->setup->def->flow == TREACLE_FLOW_UNIFIED && !w->setup->has_elastic;
}

// The first pass is about the velocity of the last step.
static treacle_status run_newton(liquid_work* w, rheology_loop* loop, liquid_solve_fcn* solve,
                                 double* cell_x) {
    rheology_params params = rheology_loop_params(w, loop, loop->before.at);
    liquid_carry_velocity(w, loop->before.at);
    rheology_rate(&params, loop->rate);
    rheology_loop_evaluate(w, loop, 1.0);
    w->rheology = loop;
    treacle_status status = solve(w, cell_x);
    w->rheology = NULL;
    return status;
}

// The fields stay until the end of the step: what the solve leaves behind lies above them.
treacle_status liquid_with_rheology(liquid_work* w, liquid_solve_fcn* solve, double* cell_x) {
    if (w->cell_base == NULL) { // the viscosity is given
        return solve(w, cell_x);
    }
    if (!w->setup->has_rheology) {
        evaluate(w, NULL, 1.0);
        return solve(w, cell_x);
    }
    int mark = arena_mark(w->scratch);
    rheology_loop loop;
    TREACLE_TRY(take_fields(w, &loop));
    TREACLE_TRY(liquid_extend_wet(w, LIQUID_KERNEL_RADIUS));
    w->stats->rheology = (treacle_rheology_stats){0};
    TREACLE_TRY(has_newton(w) ? run_newton(w, &loop, solve, cell_x)
                              : iterate(w, &loop, solve, cell_x));
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}
