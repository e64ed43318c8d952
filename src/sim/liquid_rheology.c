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
#include "phys/rheology.h"
#include "sim/liquid.h"

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

static void fill_parts(void* data, int64_t begin, int64_t end, int worker) {
    const part_job* job = data;
    const uint8_t* material = particles_material(job->w->p);
    const float* log_factor = particles_f32(job->w->p, PARTICLE_LOG_FACTOR);
    (void)worker;
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
    const float* rate; // 1/s; NULL: nothing depends on it
    double share;      // of the way from the viscosity that is there
} law_job;

static double mean_at(const law_job* job, int64_t i) {
    const liquid_work* w = job->w;
    treacle_viscosity_mean mean = w->setup->def->viscosity_solve.mean;
    double sum = (double)w->cell_base[i]; // [rheo.3]
    for (int m = 0; job->rate != NULL && m < w->setup->material_count; ++m) {
        double portion = w->cell_portion[m] == NULL ? 0.0 : (double)w->cell_portion[m][i];
        if (portion > 0.0) {
            double mu = rheology_viscosity(&w->setup->materials[m], (double)job->rate[i]);
            sum += portion * rheology_to_mean(mean, mu);
        }
    }
    return sum;
}

static void evaluate_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const law_job* job = data;
    const liquid_work* w = job->w;
    treacle_viscosity_mean mean = w->setup->def->viscosity_solve.mean;
    (void)worker;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (!(w->cell_volume[i] > 0.0f)) {
            continue;
        }
        double value = mean_at(job, i);
        double log_mu = mean == TREACLE_VISCOSITY_GEOMETRIC
                            ? value
                            : elementary_log(rheology_from_mean(mean, value));
        double before = (double)w->cell_log_mu[i];
        w->cell_log_mu[i] = (float)(before + job->share * (log_mu - before));
    }
}

static void evaluate(liquid_work* w, const float* rate, double share) {
    law_job job = {w, rate, share};
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
            double u = (double)job->w->state->face_u[a][i];
            double d = job->before == NULL ? u : u - (double)job->before[a][i];
            sum += job->w->face_mass[a][i] > 0.0f ? d * d : 0.0;
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

typedef struct loop_fields {
    float *start[AXES], *before[AXES];
    float *cell_share, *edge_share[AXES], *rate;
} loop_fields;

static treacle_status take_fields(liquid_work* w, loop_fields* out) {
    float** fields[] = {&out->start[0],      &out->start[1],      &out->start[2],
                        &out->before[0],     &out->before[1],     &out->before[2],
                        &out->edge_share[0], &out->edge_share[1], &out->edge_share[2],
                        &out->cell_share,    &out->rate};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
        TREACLE_TRY(
            arena_take_zero(w->scratch, w->values, sizeof(float), "rheology", (void**)fields[i]));
    }
    fraction_params params = {w->setup->domain, &w->state->map, w->cell_phi};
    fraction_compute(&params, &(fraction_fields){.cell = out->cell_share,
                                                 .edge = {out->edge_share[0], out->edge_share[1],
                                                          out->edge_share[2]}});
    return TREACLE_OK;
}

static void copy_faces(const liquid_work* w, float* const from[AXES], float* const to[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        tile_copy(&w->state->map, to[a], from[a], TILE_CELLS * sizeof(float));
    }
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

static treacle_status loop(liquid_work* w, const loop_fields* fields, liquid_solve_fcn* solve,
                           double* cell_x) {
    const treacle_viscosity_def* def = &w->setup->def->viscosity_solve;
    treacle_rheology_stats* stats = &w->stats->rheology;
    int most = w->is_first ? 1 : def->max_iterations;
    rheology_params params = {
        .domain = w->setup->domain,
        .map = &w->state->map,
        .cell_share = fields->cell_share,
        .edge_share = {fields->edge_share[0], fields->edge_share[1], fields->edge_share[2]},
        .face_u = {w->state->face_u[0], w->state->face_u[1], w->state->face_u[2]},
    };
    *stats = (treacle_rheology_stats){0};
    copy_faces(w, w->state->face_u, fields->start);
    while (stats->iterations < most && !stats->converged) {
        rheology_rate(&params, fields->rate);
        evaluate(w, fields->rate, stats->iterations == 0 ? 1.0 : share_of(w->setup));
        copy_faces(w, w->state->face_u, fields->before);
        copy_faces(w, fields->start, w->state->face_u);
        TREACLE_TRY(solve(w, cell_x)); // [rheo.4]
        stats->iterations += 1;
        stats->change = change_since(w, fields->before);
        stats->converged = stats->change <= def->tolerance;
    }
    return TREACLE_OK;
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
    loop_fields fields;
    TREACLE_TRY(take_fields(w, &fields));
    TREACLE_TRY(liquid_extend_wet(w, LIQUID_KERNEL_RADIUS));
    TREACLE_TRY(loop(w, &fields, solve, cell_x));
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}
