#include "step/flow_yield.h"

#include <math.h>
#include <string.h>

#include "base/profile.h"
#include "grid/extrapolate.h"
#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "particles/particle_loop.h"
#include "phys/no_merge.h"
#include "phys/p2g.h"
#include "step/flow_system.h"

// Layers of samples around the stretch that the flow has found, which take over its values.
enum { STRETCH_LAYERS = 2 };
// A pass that changes the elastic viscosity of particles by less than this is the last.
static const double pass_tolerance = 0.01;
// The same where material breaks: a crack is a small part of all of it.
static const double crack_tolerance = 1e-4;

static bool is_on(const flow_outputs* out) {
    return out->elastic->log_mu != NULL;
}

static treacle_status take_particles(const flow_inputs* in, size_t parts, const char* what,
                                     float** out) {
    return arena_take(in->frame.scratch, parts * (size_t)in->p->count, sizeof(float), what,
                      (void**)out);
}

treacle_status flow_yield_begin(const flow_inputs* in, const flow_outputs* out, flow_yield* loop) {
    TREACLE_ASSERT(out->elastic != NULL && out->material != NULL);
    const treacle_elasticity_def* def = &in->frame.setup->def->elasticity;
    *loop = (flow_yield){.most = in->frame.setup->has.yield && !def->is_explicit ? def->passes : 1};
    if (!is_on(out)) {
        return TREACLE_OK;
    }
    if (in->frame.setup->has.yield) {
        TREACLE_TRY(flow_take_faces(in, "velocity before the flow", &loop->start));
    }
    return take_particles(in, 1, "viscosity of particles", &loop->mu);
}

// --- to the grid ---------------------------------------------------------------------------------

typedef struct mix_job {
    const float *newtonian, *elastic; // log of Pa s, Pa s
    float* out;
} mix_job;

// The viscosity at cells, with what elasticity adds.
static void mix_tiles(void* data, int64_t begin, int64_t end) {
    const mix_job* job = data;
    float newtonian = 0.0f, more = 0.0f,
          mixed = 0.0f; // of the last cell: often they are all the same
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (job->elastic[i] > 0.0f && (job->elastic[i] != more || job->newtonian[i] != newtonian)) {
            newtonian = job->newtonian[i];
            more = job->elastic[i];
            mixed = (float)elementary_log(elementary_exp((double)newtonian) + (double)more);
        }
        job->out[i] = job->elastic[i] > 0.0f ? mixed : job->newtonian[i];
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

void flow_yield_start(const flow_inputs* in, const flow_outputs* out, flow_yield* loop) {
    TREACLE_ASSERT(loop->most > 0);
    loop->is_over = false;
    loop->change = 1.0;
    if (!is_on(out)) {
        return;
    }
    in->frame.stats->elastic_passes = 0;
    in->frame.stats->elastic_transfer_seconds = 0.0;
    if (in->frame.setup->has.yield) {
        flow_copy_faces(in, out->u, loop->start);
    }
    const float* affine = particles_f32(in->p, PARTICLE_AFFINE);
    if (affine != NULL && in->frame.setup->has.yield) {
        expect_job job = {affine, out->elastic->motion.stretch};
        particle_for(in->p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, expect_stretch,
                     &job);
    }
}

// Whether all particles bring the same viscosity.
static bool is_uniform(const flow_inputs* in) {
    return in->frame.setup->material_count == 1 && !in->frame.setup->has.yield &&
           in->p->count > 0 && in->frame.setup->strain_laws[0].rate != TREACLE_STRAIN_CONVECTED &&
           particles_f32(in->p, PARTICLE_MELTED) == NULL;
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

static treacle_status flow_yield_load(const flow_inputs* in, const flow_outputs* out, float* mu) {
    const tile_map* map = in->wet.map;
    flow_elastic* e = out->elastic;
    elastic_params params = flow_elastic_params(&in->frame, in->p);
    p2g_params transfer = {.domain = in->wet.domain, .map = map, .from = in->p};
    float *stress = NULL, *weight = NULL, *cell_mu = NULL;
    int mark = arena_mark(in->frame.scratch);
    TREACLE_TRY(take_particles(in, STRAIN_PARTS, "stress of particles", &stress));
    TREACLE_TRY(flow_take(in, "weights of particles", &weight));
    TREACLE_TRY(flow_take(in, "elastic viscosity", &cell_mu));
    elastic_load(&params, in->p, in->frame.setup->has.yield ? e->motion.stretch : NULL, stress, mu);
    for (int part = STRAIN_PARTS - 1; part >= 0; --part) { // those at cells come last
        p2g_values values = {stress + part, STRAIN_PARTS};
        TREACLE_TRY(p2g_mean(&transfer, tensor_place(part), &values, tensor_part(&e->stress, part),
                             weight));
    }
    if (is_uniform(in)) {
        uniform_job all = {weight, mu[0], cell_mu};
        tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, fill_uniform, &all);
    } else {
        TREACLE_TRY(p2g_mean(&transfer, PLACE_CELL, &(p2g_values){mu, 1}, cell_mu, weight));
    }
    mix_job job = {out->material->log_mu, cell_mu, e->log_mu};
    tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, mix_tiles, &job);
    elastic_free shrunk = {in->wet.domain, map, in->given->swell};
    elastic_free_stress(&shrunk, e->log_mu, &e->stress);
    arena_give_to(in->frame.scratch, mark);
    return TREACLE_OK;
}

treacle_status flow_yield_set(const flow_inputs* in, const flow_outputs* out,
                              const flow_yield* loop) {
    TREACLE_ASSERT(!loop->is_over);
    if (!is_on(out)) {
        return TREACLE_OK;
    }
    if (in->frame.stats->elastic_passes > 0) {
        flow_copy_faces(in, loop->start, out->u);
    }
    double begin = profile_now();
    TREACLE_TRY(flow_yield_load(in, out, loop->mu));
    in->frame.stats->elastic_transfer_seconds += profile_now() - begin;
    return TREACLE_OK;
}

// --- back ----------------------------------------------------------------------------------------

// Samples of stretch are found where all faces around them are: elsewhere they hold NAN. Two layers
// around those that are found take over their values.
typedef struct spread_job {
    tile_mask* known;
    grid_place place;
    int count;
    float* values[AXES]; // which are found together
} spread_job;

static void mark_found(void* data, int64_t begin, int64_t end) {
    const spread_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        tile_mask* mask = &job->known[t];
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

static treacle_status spread(const wet_faces* w, spread_job* job) {
    extrapolate_params params = {
        .domain = w->domain, .map = w->map, .place = job->place, .layers = STRETCH_LAYERS};
    job->known = w->known;
    tile_for(w->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, mark_found, job);
    return extrapolate_fields(&params, job->count, job->values, w->known);
}

static treacle_status spread_all(const wet_faces* w, const flow_elastic* e) {
    float* const* cell = e->stretch.cell;
    spread_job cells = {.place = PLACE_CELL, .count = AXES, .values = {cell[0], cell[1], cell[2]}};
    TREACLE_TRY(spread(w, &cells));
    for (int a = 0; a < AXES; ++a) {
        spread_job edges = {
            .place = place_edge(a), .count = 2, .values = {e->stretch.edge[a], e->spin[a]}};
        TREACLE_TRY(spread(w, &edges));
    }
    return TREACLE_OK;
}

treacle_status flow_measure_stretch(const flow_inputs* in, const flow_outputs* out) {
    TREACLE_ASSERT(out->elastic->stretch.cell[0] != NULL && out->elastic->stretch.edge[0] != NULL);
    const flow_elastic* e = out->elastic;
    int mark = arena_mark(in->frame.scratch);
    face_velocity flow = {.map = in->wet.map, .domain = in->wet.domain, .has_viscosity = true};
    TREACLE_TRY(flow_take_faces(in, "velocity that is found", &flow.u));
    wet_faces_copy(&in->wet, face_view_of(out->u), flow.u.at);
    tensor_slip slip = {.cell_solid_phi = in->wet.solid->phi, .cell_solid_id = in->wet.solid->id};
    TREACLE_TRY(flow_slip_kinds(in, &slip.kinds));
    tensor_of_velocity(&flow, slip.kinds != NULL ? &slip : NULL, &e->stretch, e->spin);
    elastic_free shrunk = {in->wet.domain, in->wet.map, in->given->swell};
    elastic_free_stretch(&shrunk, &e->stretch);
    no_merge_cut_stretch(in->wet.map, out->material->cut, &e->stretch, e->spin);
    TREACLE_TRY(spread_all(&in->wet, e));
    arena_give_to(in->frame.scratch, mark);
    return TREACLE_OK;
}

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
static treacle_status change_since(const flow_inputs* in, const float* stretch, const float* mu,
                                   double* out) {
    treacle_context* ctx = in->frame.ctx;
    int mark = arena_mark(in->frame.scratch);
    float* next = NULL;
    TREACLE_TRY(take_particles(in, 1, "viscosity of particles", &next));
    elastic_params params = flow_elastic_params(&in->frame, in->p);
    elastic_load(&params, in->p, stretch, NULL, next);
    change_job change = {in->p, mu, next}, all = {in->p, mu, NULL};
    double whole = parallel_sum(ctx, in->p->tile_count, change_of_tile, &all);
    double part = parallel_sum(ctx, in->p->tile_count, change_of_tile, &change);
    *out = whole > 0.0 ? part / whole : 0.0;
    arena_give_to(in->frame.scratch, mark);
    return TREACLE_OK;
}

treacle_status flow_yield_judge(const flow_inputs* in, const flow_outputs* out, flow_yield* loop) {
    TREACLE_ASSERT(loop->most > 0);
    loop->is_over = true;
    if (!is_on(out)) {
        return TREACLE_OK;
    }
    const flow_elastic* e = out->elastic;
    face_velocity on = {.map = in->wet.map, .domain = in->wet.domain, .has_viscosity = true};
    double begin = profile_now();
    TREACLE_TRY(flow_measure_stretch(in, out));
    elastic_gather(&on, &e->stretch, e->spin, in->p, &e->motion);
    in->frame.stats->elastic_transfer_seconds += profile_now() - begin;
    in->frame.stats->elastic_passes += 1;
    if (loop->most > 1) {
        TREACLE_TRY(change_since(in, e->motion.stretch, loop->mu, &loop->change));
    }
    double enough = in->frame.setup->has.cracks ? crack_tolerance : pass_tolerance;
    loop->is_over = in->frame.stats->elastic_passes >= loop->most || !(loop->change > enough);
    return TREACLE_OK;
}
