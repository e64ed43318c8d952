// The elasticity of the liquid's flow: what particles bring to the solve, the loop around it while
// material yields, and the strain that they take home.
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "base/profile.h"
#include "grid/extrapolate.h"
#include "grid/gather.h"
#include "math/elementary.h"
#include "phys/elastic.h"
#include "phys/p2g.h"
#include "phys/stress.h"
#include "sim/liquid.h"

// Around samples of stretch that the flow has found, which take theirs over.
enum { STRETCH_LAYERS = 2 };
// A pass that changes the elastic viscosity of particles by less than this is the last.
static const double pass_tolerance = 0.01;

strain_law liquid_strain_law(const treacle_elastic_def* def) {
    double modulus = isnan(def->mu_e) ? 2.0 * def->shear_modulus : def->mu_e;
    double decay = isnan(def->alpha) ? 1.0 / def->relaxation_time : def->alpha;
    double stress = def->yield_stress;
    double yield =
        isnan(def->gamma) ? (modulus > 0.0 ? sqrt(2.0) * stress / modulus : 0.0) : def->gamma;
    return (strain_law){
        .modulus = modulus,
        .decay = decay,
        .yield = yield,
        .rate = def->rate,
        .decays_whole = def->decay == TREACLE_DECAY_WHOLE || def->rate == TREACLE_STRAIN_CONVECTED,
    };
}

static elastic_params params_of(const liquid_work* w) {
    const treacle_elasticity_def* def = &w->setup->def->elasticity;
    return (elastic_params){.laws = w->setup->strain_laws,
                            .melted = particles_f32(w->p, PARTICLE_MELTED),
                            .dt = w->dt,
                            .theta = def->is_explicit ? 0.0 : def->theta};
}

// --- room ----------------------------------------------------------------------------------------

static treacle_status take(liquid_work* w, size_t count, const char* name, float** out) {
    return arena_take_zero(w->scratch, count, sizeof(float), name, (void**)out);
}

// To be written whole.
static treacle_status take_room(liquid_work* w, size_t count, const char* name, float** out) {
    return arena_take(w->scratch, count, sizeof(float), name, (void**)out);
}

treacle_status liquid_elastic_begin(liquid_work* w) {
    if (!w->setup->has_elastic) {
        return TREACLE_OK;
    }
    liquid_elastic* e = &w->elastic;
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take_room(w, w->values, "elastic stress", &e->stress.cell[a]));
        TREACLE_TRY(take_room(w, w->values, "elastic stress", &e->stress.edge[a]));
        TREACLE_TRY(take(w, w->values, "stretch", &e->stretch.cell[a]));
        TREACLE_TRY(take(w, w->values, "stretch", &e->stretch.edge[a]));
        TREACLE_TRY(take(w, w->values, "spin", &e->spin[a]));
    }
    size_t count = (size_t)w->p->count;
    const char* name = "stretch of particles";
    TREACLE_TRY(w->setup->has_yield ? take(w, STRAIN_PARTS * count, name, &e->motion.stretch)
                                    : take_room(w, STRAIN_PARTS * count, name, &e->motion.stretch));
    return take_room(w, AXES * count, "spin of particles", &e->motion.spin);
}

// --- to the grid ---------------------------------------------------------------------------------

typedef struct mix_job {
    const liquid_work* w;
    const float *base, *elastic; // log of Pa s, Pa s
} mix_job;

// The viscosity at cells, with what elasticity adds.
static void mix_tiles(void* data, int64_t begin, int64_t end) {
    const mix_job* job = data;
    float base = 0.0f, more = 0.0f, mixed = 0.0f; // of the last cell: often they are all the same
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (job->elastic[i] > 0.0f && (job->elastic[i] != more || job->base[i] != base)) {
            base = job->base[i];
            more = job->elastic[i];
            mixed = (float)elementary_log(elementary_exp((double)base) + (double)more);
        }
        job->w->cell_log_mu[i] = job->elastic[i] > 0.0f ? mixed : job->base[i];
    }
}

typedef struct expect_job {
    const float* affine;
    float* stretch;
} expect_job;

// The symmetric part of the particles' affine motion.
static void expect_stretch(void* data, int64_t begin, int64_t end) {
    const expect_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        const float* slope = job->affine + AXES * AXES * i;
        float* stretch = job->stretch + STRAIN_PARTS * i;
        for (int a = 0; a < AXES; ++a) {
            int b = (a + 1) % AXES, c = (a + 2) % AXES;
            stretch[a] = slope[AXES * a + a];
            stretch[AXES + a] = 0.5f * (slope[AXES * b + c] + slope[AXES * c + b]);
        }
    }
}

// Whether all particles bring the same viscosity.
static bool is_uniform(const liquid_work* w) {
    return w->setup->material_count == 1 && !w->setup->has_yield && w->p->count > 0 &&
           w->setup->strain_laws[0].rate != TREACLE_STRAIN_CONVECTED &&
           particles_f32(w->p, PARTICLE_MELTED) == NULL;
}

typedef struct uniform_job {
    const float* weight;
    float mu;
    float* out;
} uniform_job;

static void fill_uniform(void* data, int64_t begin, int64_t end) {
    const uniform_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->out[i] = job->weight[i] > 0.0f ? job->mu : 0.0f;
    }
}

// Stress of particles, and the viscosity they add, to the grid.
static treacle_status load(liquid_work* w, float* mu, const float* base) {
    liquid_elastic* e = &w->elastic;
    elastic_params params = params_of(w);
    p2g_params transfer = {.domain = w->setup->domain, .map = &w->state->map, .from = w->p};
    float *stress = NULL, *weight = NULL, *cell_mu = NULL;
    int mark = arena_mark(w->scratch);
    TREACLE_TRY(take_room(w, STRAIN_PARTS * (size_t)w->p->count, "stress of particles", &stress));
    TREACLE_TRY(take_room(w, w->values, "weights of particles", &weight));
    TREACLE_TRY(take_room(w, w->values, "elastic viscosity", &cell_mu));
    elastic_load(&params, w->p, w->setup->has_yield ? e->motion.stretch : NULL, stress, mu);
    for (int part = STRAIN_PARTS - 1; part >= 0; --part) { // those at cells come last
        p2g_values values = {stress + part, STRAIN_PARTS};
        TREACLE_TRY(p2g_mean(&transfer, tensor_place(part), &values, tensor_part(&e->stress, part),
                             weight));
    }
    if (is_uniform(w)) {
        uniform_job all = {weight, mu[0], cell_mu};
        parallel_for(w->ctx, w->state->map.count, 8, fill_uniform, &all);
    } else {
        TREACLE_TRY(p2g_mean(&transfer, PLACE_CELL, &(p2g_values){mu, 1}, cell_mu, weight));
    }
    mix_job job = {w, base, cell_mu};
    parallel_for(w->ctx, w->state->map.count, 8, mix_tiles, &job);
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

// --- back ----------------------------------------------------------------------------------------

// Samples of stretch are found where all faces around them are: elsewhere they hold NAN. Two layers
// around take theirs over.
typedef struct spread_job {
    const liquid_work* w;
    grid_place place;
    int count;
    float* values[AXES]; // which are found together
} spread_job;

static void mark_found(void* data, int64_t begin, int64_t end) {
    const spread_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        tile_mask* mask = &job->w->valid[t];
        memset(mask, 0, sizeof(*mask));
        for (int q = 0; q < TILE_CELLS; ++q) {
            size_t i = (size_t)t * TILE_CELLS + (size_t)q;
            bool is_found = true;
            for (int k = 0; k < job->count; ++k) {
                is_found = is_found && !isnan(job->values[k][i]);
            }
            for (int k = 0; k < job->count; ++k) {
                job->values[k][i] = is_found ? job->values[k][i] : 0.0f;
            }
            if (is_found) {
                tile_mask_add(mask, q);
            }
        }
    }
}

static treacle_status spread(liquid_work* w, spread_job* job) {
    extrapolate_params params = {.domain = w->setup->domain,
                                 .map = &w->state->map,
                                 .place = job->place,
                                 .layers = STRETCH_LAYERS};
    parallel_for(w->ctx, w->state->map.count, 8, mark_found, job);
    return extrapolate_fields(&params, job->count, job->values, w->valid);
}

static treacle_status spread_all(liquid_work* w) {
    liquid_elastic* e = &w->elastic;
    float* const* cell = e->stretch.cell;
    TREACLE_TRY(spread(w, &(spread_job){w, PLACE_CELL, AXES, {cell[0], cell[1], cell[2]}}));
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(
            spread(w, &(spread_job){w, place_edge(a), 2, {e->stretch.edge[a], e->spin[a]}}));
    }
    return TREACLE_OK;
}

treacle_status liquid_measure_stretch(liquid_work* w) {
    liquid_elastic* e = &w->elastic;
    int mark = arena_mark(w->scratch);
    face_velocity flow = {.map = &w->state->map, .domain = w->setup->domain, .has_viscosity = true};
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take_room(w, w->values, "velocity that is found", &flow.u.at[a]));
    }
    liquid_found_velocity(w, flow.u.at);
    tensor_walls walls = {.cell_solid_phi = w->solid.phi, .cell_solid_id = w->solid.id};
    TREACLE_TRY(liquid_wall_kinds(w, &walls.kinds));
    tensor_of_velocity(&flow, walls.kinds != NULL ? &walls : NULL, &e->stretch, e->spin);
    liquid_cut_stretch(w);
    TREACLE_TRY(spread_all(w));
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

// Stretch and spin of the flow as it is, at the particles.
static treacle_status measure(liquid_work* w) {
    liquid_elastic* e = &w->elastic;
    face_velocity on = {.map = &w->state->map, .domain = w->setup->domain, .has_viscosity = true};
    TREACLE_TRY(liquid_measure_stretch(w));
    elastic_gather(&on, &e->stretch, e->spin, w->p, &e->motion);
    return TREACLE_OK;
}

treacle_status liquid_elastic_end(liquid_work* w, const free_flyers* strays) {
    if (!w->setup->has_elastic || w->is_first) {
        return TREACLE_OK;
    }
    double begin = profile_now();
    int mark = arena_mark(w->scratch);
    elastic_params params = params_of(w);
    step_frame f = liquid_frame(w);
    float* kept = NULL;
    TREACLE_TRY(free_flyers_keep(&f, strays, w->p, PARTICLE_STRAIN, &kept));
    elastic_advance(&params, w->p, &w->elastic.motion);
    free_flyers_put(strays, PARTICLE_STRAIN, kept, w->p);
    arena_give_to(w->scratch, mark);
    w->stats->elastic_update_seconds = profile_now() - begin;
    return TREACLE_OK;
}

// --- the loop ------------------------------------------------------------------------------------

typedef struct change_job {
    const particles* p;
    const float *before, *after; // after may be NULL
} change_job;

static double change_of_tile(void* data, int64_t t) {
    const change_job* job = data;
    double sum = 0.0;
    for (particle_ix i = job->p->tile_first[t]; i < job->p->tile_first[t + 1]; ++i) {
        double after = job->after == NULL ? 0.0 : (double)job->after[i];
        sum += fabs((double)job->before[i] - after);
    }
    return sum;
}

// How much the flow that was found changes what particles would bring to the next pass.
static treacle_status change_since(liquid_work* w, const float* mu, double* out) {
    int mark = arena_mark(w->scratch);
    float* next = NULL;
    TREACLE_TRY(take_room(w, (size_t)w->p->count, "viscosity of particles", &next));
    elastic_params params = params_of(w);
    elastic_load(&params, w->p, w->elastic.motion.stretch, NULL, next);
    change_job change = {w->p, mu, next}, all = {w->p, mu, NULL};
    double whole = parallel_sum(w->ctx, w->p->tile_count, change_of_tile, &all);
    double part = parallel_sum(w->ctx, w->p->tile_count, change_of_tile, &change);
    *out = whole > 0.0 ? part / whole : 0.0;
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

typedef struct loop_fields {
    float *start[AXES], *base, *mu;
} loop_fields;

static treacle_status passes(liquid_work* w, const loop_fields* f, liquid_solve_fcn* solve,
                             double* x) {
    const treacle_elasticity_def* def = &w->setup->def->elasticity;
    int most = w->setup->has_yield && !def->is_explicit ? def->passes : 1;
    double change = 1.0;
    w->stats->elastic_passes = 0;
    w->stats->elastic_transfer_seconds = 0.0;
    while (w->stats->elastic_passes < most && change > pass_tolerance) {
        for (int a = 0; a < AXES && w->stats->elastic_passes > 0; ++a) {
            memcpy(w->state->face_u.at[a], f->start[a], w->values * sizeof(float));
        }
        double begin = profile_now();
        TREACLE_TRY(load(w, f->mu, f->base));
        double loaded = profile_now();
        TREACLE_TRY(solve(w, x));
        double solved = profile_now();
        TREACLE_TRY(measure(w));
        w->stats->elastic_transfer_seconds += profile_now() - solved + loaded - begin;
        w->stats->elastic_passes += 1;
        if (most > 1) {
            TREACLE_TRY(change_since(w, f->mu, &change));
        }
    }
    return TREACLE_OK;
}

treacle_status liquid_with_elasticity(liquid_work* w, liquid_solve_fcn* solve, double* x) {
    if (!w->setup->has_elastic || w->is_first || w->euler != NULL) {
        return solve(w, x);
    }
    int mark = arena_mark(w->scratch);
    loop_fields f;
    for (int a = 0; a < AXES && w->setup->has_yield; ++a) {
        TREACLE_TRY(take_room(w, w->values, "velocity before the flow", &f.start[a]));
        memcpy(f.start[a], w->state->face_u.at[a], w->values * sizeof(float));
    }
    TREACLE_TRY(take_room(w, w->values, "viscosity at cells", &f.base));
    memcpy(f.base, w->cell_log_mu, w->values * sizeof(float));
    TREACLE_TRY(take_room(w, (size_t)w->p->count, "viscosity of particles", &f.mu));
    const float* affine = particles_f32(w->p, PARTICLE_AFFINE);
    if (affine != NULL && w->setup->has_yield) {
        expect_job job = {affine, w->elastic.motion.stretch};
        particle_row_for(w->p, 4096, expect_stretch, &job);
    }
    TREACLE_TRY(passes(w, &f, solve, x));
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}
