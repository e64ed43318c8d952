// The stages of a step that know solids: where they are, and what they leave open.
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "grid/gather.h"
#include "grid/tile_ranks.h"
#include "phys/open_volume.h"
#include "phys/solid_velocity.h"
#include "phys/sweep.h"
#include "sim/euler.h"

treacle_status liquid_move_solids(liquid_work* w) {
    const solid_set* set = &w->setup->solids;
    if (set->count == 0) {
        return TREACLE_OK;
    }
    size_t count = (size_t)set->count;
    TREACLE_TRY(arena_take_zero(w->scratch, count, sizeof(solid_pose), "poses of solids",
                                (void**)&w->poses.from));
    TREACLE_TRY(arena_take_zero(w->scratch, count, sizeof(solid_pose), "poses of solids",
                                (void**)&w->poses.to));
    for (int i = 0; i < set->scripted_count; ++i) {
        w->poses.from[i] = solids_pose_at(&set->motions[i], w->time);
        w->poses.to[i] = solids_pose_at(&set->motions[i], w->is_first ? w->time : w->time + w->dt);
        if (set->solids[i].sequence != NULL) {
            solid_pose* const poses[2] = {&w->poses.from[i], &w->poses.to[i]};
            solids_reshape(&set->solids[i], &set->motions[i], w->time, w->dt, poses);
            w->poses.to[i].form.share = w->is_first ? 0.0 : 1.0;
        }
    }
    return liquid_move_bodies(w);
}

solid_scene liquid_solids_at(const liquid_work* w, bool is_end) {
    const solid_set* set = &w->setup->solids;
    return (solid_scene){set->count, set->solids, is_end ? w->poses.to : w->poses.from};
}

static treacle_status take(liquid_work* w, size_t bytes, const char* name, void** out) {
    return arena_take_zero(w->scratch, w->values, bytes, name, out);
}

treacle_status liquid_solid_fields(liquid_work* w) {
    if (w->setup->solids.count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(take(w, sizeof(float), "distance to solids", (void**)&w->solid.phi));
    TREACLE_TRY(take(w, sizeof(uint16_t), "nearest solids", (void**)&w->solid.id));
    TREACLE_TRY(take(w, sizeof(float), "open cells", (void**)&w->solid.open));
    TREACLE_TRY(take(w, 1, "thin solids", (void**)&w->solid.across));
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take(w, sizeof(float), "velocity of solids", (void**)&w->solid.face_u.at[a]));
    }
    for (int a = 0; a < AXES && w->setup->bodies.count > 0; ++a) {
        TREACLE_TRY(take(w, sizeof(float), "faces of bodies", (void**)&w->body.shut.at[a]));
        TREACLE_TRY(take(w, sizeof(float), "faces of bodies", (void**)&w->body.fill.at[a]));
        TREACLE_TRY(take(w, sizeof(uint16_t), "faces of bodies", (void**)&w->body.solid[a]));
    }
    // Liquid that slides along a wall has no divergence if faces are open by their area; with
    // viscosity the least of it would hold the liquid.
    const treacle_sim_def* def = w->setup->def;
    bool is_area = def->flow == TREACLE_FLOW_UNIFIED && def->pressure.walls == TREACLE_WALLS_EXACT;
    solid_fields_params params = {.domain = w->setup->domain,
                                  .map = &w->state->map,
                                  .scene = liquid_solids_at(w, true),
                                  .walls = is_area ? TREACLE_WALLS_AREA : def->pressure.walls};
    // Bodies move at every step, and want fields of their own.
    solid_cache* cache = w->setup->bodies.count == 0 ? w->solid_cache : NULL;
    solid_fields_before before;
    if (cache != NULL) {
        before = solid_cache_view(cache);
        params.before = cache->count == params.scene.count ? &before : NULL;
    }
    solid_fields fields = {
        .cell_phi = w->solid.phi,
        .cell_id = w->solid.id,
        .cell_open = w->solid.open,
        .cell_across = w->solid.across,
        .face_open = w->solid.face_open,
        .face_u = w->solid.face_u,
        .face_shut = w->body.shut,
        .face_fill = w->body.fill,
        .face_id = {w->body.solid[0], w->body.solid[1], w->body.solid[2]},
    };
    solid_fields_compute(&params, &fields);
    for (size_t i = w->values - TILE_CELLS; i < w->values; ++i) {
        w->solid.phi[i] = SOLID_DISTANCE_MAX; // the dummy tile is open
        w->solid.id[i] = SOLID_NONE;
        w->solid.open[i] = 1.0f;
        for (int a = 0; a < AXES && w->body.solid[a] != NULL; ++a) {
            w->body.solid[a][i] = SOLID_NONE;
        }
    }
    if (cache != NULL) {
        TREACLE_TRY(solid_cache_keep(cache, params.domain, params.map, &params.scene, &fields));
    }
    open_volume_normalise(w->setup->domain, &w->state->map, w->solid.open, w->given.volume);
    return TREACLE_OK;
}

// --- holes ---------------------------------------------------------------------------------------

typedef struct hole_job {
    const liquid_work* w;
    int axis;
} hole_job;

static bool is_hole(float open, float phi, float other_phi, float other_open) {
    return open < LIQUID_HOLE && phi < 0.0f && other_phi >= 0.0f && other_open < LIQUID_HOLE;
}

static void close_tile(const hole_job* job, tile_ix t) {
    const liquid_work* w = job->w;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    float phi[BLOCK_VALUES(1, 0)], room[BLOCK_VALUES(1, 0)];
    gather_block(&w->state->map, w->state->cell_phi, t, 1, 0, phi);
    gather_block(&w->state->map, w->solid.open, t, 1, 0, room);
    float* open = w->solid.face_open.at[job->axis] + (size_t)t * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int high =
            BLOCK_INDEX(1, 0, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE, i / TILE_SIZE / TILE_SIZE);
        int low = high - steps[job->axis];
        bool is_shut = is_hole(open[i], phi[low], phi[high], room[high]) ||
                       is_hole(open[i], phi[high], phi[low], room[low]);
        open[i] = is_shut ? 0.0f : open[i];
    }
}

static void close_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        close_tile(data, (tile_ix)t);
    }
}

// What is solid but for a little is no air that liquid could flow into [solid.4].
void liquid_close_holes(liquid_work* w) {
    for (int a = 0; a < AXES && w->solid.open != NULL; ++a) {
        hole_job job = {w, a};
        tile_for(&w->state->map, 8, close_tiles, &job);
        tile_share_field(&w->state->map, w->solid.face_open.at[a]);
    }
}

treacle_status liquid_slide(liquid_work* w) {
    if (w->setup->solids.count == 0) {
        return TREACLE_OK;
    }
    int mark = arena_mark(w->scratch);
    float* room[AXES];
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take(w, sizeof(float), "velocity in solids", (void**)&room[a]));
    }
    solid_velocity_params params = {
        .domain = w->setup->domain,
        .map = &w->state->map,
        .scene = liquid_solids_at(w, true),
        .cell_phi = w->solid.phi,
        .cell_id = w->solid.id,
        .face_open = face_view_of(w->solid.face_open),
    };
    if (w->euler != NULL) {
        params.face_give = face_view_of(w->euler->face_give);
    }
    solid_velocity_constrain(&params, w->state->face_u.at, room);
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

void liquid_warn_closed(liquid_work* w, const solve_stats* solve) {
    double share = solve->dropped * w->dt / w->setup->domain->h;
    if (share > LIQUID_SQUEEZE_MIN && w->has_warned != NULL && !*w->has_warned) {
        *w->has_warned = true;
        log_message(w->ctx, TREACLE_LOG_WARNING,
                    "at %g s something presses on liquid that has no way out; the part of the "
                    "motion that would change its volume (by %.2g %% in this step) is left out",
                    w->time, 100.0 * share);
    }
}

treacle_status liquid_look(liquid_work* w, bool is_end, treacle_kernel kernel, thin_view* out) {
    thin_params params = {.domain = w->setup->domain,
                          .scene = liquid_solids_at(w, is_end),
                          .p = w->p,
                          .kernel = kernel,
                          .scratch = w->scratch};
    return thin_look(&params, out);
}

// --- particles -----------------------------------------------------------------------------------

treacle_status liquid_keep_positions(liquid_work* w, float** out) {
    *out = NULL;
    if (w->setup->solids.count == 0) {
        return TREACLE_OK;
    }
    size_t bytes = AXES * sizeof(float);
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->count, bytes, "places", (void**)out));
    if (w->p->count > 0) {
        memcpy(*out, particles_f32(w->p, PARTICLE_POSITION), (size_t)w->p->count * bytes);
    }
    return TREACLE_OK;
}

static sweep_params sweep_of(const liquid_work* w, bool is_at_end) {
    return (sweep_params){.domain = w->setup->domain,
                          .from = liquid_solids_at(w, is_at_end),
                          .to = liquid_solids_at(w, true),
                          .p = w->p,
                          .reach = LIQUID_REACH_MAX};
}

void liquid_sweep(liquid_work* w, const float* start, bool is_at_end) {
    if (start != NULL) {
        sweep_params params = sweep_of(w, is_at_end);
        params.before = start;
        sweep_particles(&params);
    }
}

void liquid_stop_strays(liquid_work* w, const liquid_strays* strays) {
    sweep_params params = sweep_of(w, true);
    const particles* p = w->p;
    for (int64_t i = 0; params.to.count > 0 && i < strays->count; ++i) {
        particle_ix row = strays->row[i];
        const float* position = particles_f32(p, PARTICLE_POSITION) + AXES * row;
        float* v = particles_f32(p, PARTICLE_VELOCITY) + AXES * row;
        tile_coord tile = p->tile[liquid_tile_of_row(p, row)];
        sweep_stop(&params, particles_place(w->setup->domain, tile, position), v);
    }
}
