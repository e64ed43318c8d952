#include "step/solid_geometry.h"

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "phys/open_volume.h"
#include "phys/solid_velocity.h"
#include "phys/unified.h"
#include "step/side_faces.h"

// Less than this fraction of a cell or a face is a hole.
#define HOLE 0.05f

// --- fields -------------------------------------------------------------------------------------

static treacle_status take_fields(const step_frame* f, const tile_map* map, solid_fields* out) {
    size_t values = tile_map_values(map);
    TREACLE_TRY(step_take_zero(f, map, "distance to solids", &out->cell_phi));
    TREACLE_TRY(arena_take_zero(f->scratch, values, sizeof(uint16_t), "nearest solids",
                                (void**)&out->cell_id));
    TREACLE_TRY(step_take_zero(f, map, "open cells", &out->cell_open));
    TREACLE_TRY(arena_take_zero(f->scratch, values, 1, "thin solids", (void**)&out->cell_across));
    TREACLE_TRY(step_take_faces_zero(f, map, "velocity of solids", &out->face_u));
    if (f->setup->bodies.count == 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(step_take_faces_zero(f, map, "faces of bodies", &out->face_closed));
    TREACLE_TRY(step_take_faces_zero(f, map, "faces of bodies", &out->face_fill));
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take_zero(f->scratch, values, sizeof(uint16_t), "faces of bodies",
                                    (void**)&out->face_id[a]));
    }
    return TREACLE_OK;
}

// The dummy tile is open.
static void open_dummy(size_t values, const solid_fields* fields) {
    for (size_t i = values - TILE_CELLS; i < values; ++i) {
        fields->cell_phi[i] = SOLID_DISTANCE_MAX;
        fields->cell_id[i] = SOLID_NONE;
        fields->cell_open[i] = 1.0f;
        for (int a = 0; a < AXES && fields->face_id[a] != NULL; ++a) {
            fields->face_id[a][i] = SOLID_NONE;
        }
    }
}

// Liquid that slides along a wall has no divergence if faces are open by their area; with viscosity
// the least of it would hold the liquid.
static treacle_walls openings_of(const treacle_sim_def* def) {
    bool is_area = def->flow == TREACLE_FLOW_UNIFIED && def->pressure.walls == TREACLE_WALLS_EXACT;
    return is_area ? TREACLE_WALLS_AREA : def->pressure.walls;
}

static treacle_status find_solids(const step_frame* f, const tile_map* map,
                                  const solid_poses* poses, solid_cache* cache, solid_grid* out,
                                  body_grid* bodies) {
    solid_fields fields = {.face_open = out->face_open};
    TREACLE_TRY(take_fields(f, map, &fields));
    solid_fields_params params = {.domain = f->setup->domain,
                                  .map = map,
                                  .scene = solid_scene_of(&f->setup->solids, poses->to),
                                  .openings = openings_of(f->setup->def)};
    // Bodies move at every step, and want fields of their own.
    bool is_kept = cache != NULL && f->setup->bodies.count == 0;
    solid_fields_before before;
    if (is_kept) {
        before = solid_cache_view(cache);
        params.before = cache->count == params.scene.count ? &before : NULL;
    }
    solid_fields_compute(&params, &fields);
    open_dummy(tile_map_values(map), &fields);
    *out = (solid_grid){.phi = fields.cell_phi,
                        .id = fields.cell_id,
                        .open = fields.cell_open,
                        .across = fields.cell_across,
                        .face_open = fields.face_open,
                        .face_u = fields.face_u};
    bodies->closed = fields.face_closed;
    bodies->fill = fields.face_fill;
    for (int a = 0; a < AXES; ++a) {
        bodies->solid[a] = fields.face_id[a];
    }
    return is_kept ? solid_cache_keep(cache, params.domain, map, &params.scene, &fields)
                   : TREACLE_OK;
}

treacle_status solid_geometry_find(const step_frame* f, const tile_map* map,
                                   const solid_poses* poses, solid_cache* cache, solid_grid* out,
                                   body_grid* bodies) {
    TREACLE_ASSERT(f->setup->solids.count == 0 || poses->to != NULL);
    *out = (solid_grid){0};
    TREACLE_TRY(step_take_faces_zero(f, map, "open faces", &out->face_open));
    if (f->setup->solids.count > 0) {
        TREACLE_TRY(find_solids(f, map, poses, cache, out, bodies));
    }
    side_faces_close(f->setup->domain, map, out);
    return TREACLE_OK;
}

void solid_geometry_normalise(const grid_domain* domain, const tile_map* map,
                              const solid_grid* grid, float* cell_volume) {
    TREACLE_ASSERT(grid->open == NULL || cell_volume != NULL);
    if (grid->open != NULL) {
        open_volume_normalise(domain, map, grid->open, grid->phi, cell_volume);
    }
}

// --- holes ---------------------------------------------------------------------------------------

typedef struct hole_job {
    const tile_map* map;
    const float* cell_phi;
    const float* cell_fraction;
    const float* cell_open;
    float* face_open;
    int axis;
} hole_job;

static bool is_hole(float open, float air, float other_air, float other_open) {
    return open < HOLE && air < 0.0f && other_air >= 0.0f && other_open < HOLE;
}

// Below zero in cells with a pressure. A corner between walls that has one is no air: closing one
// of its faces would leave it a dead end, where liquid that slides by is held.
static void gather_air(const hole_job* job, tile_ix t, float* air) {
    bool has_fraction = job->cell_fraction != NULL;
    float least = solve_policy_default()->schur.smallest_volume;
    gather_block(job->map, has_fraction ? job->cell_fraction : job->cell_phi, t, 1, 0, air);
    for (int i = 0; i < BLOCK_VALUES(1, 0) && has_fraction; ++i) {
        air[i] = air[i] >= least ? -1.0f : 1.0f;
    }
}

static void close_tile(const hole_job* job, tile_ix t) {
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    float air[BLOCK_VALUES(1, 0)], room[BLOCK_VALUES(1, 0)];
    gather_air(job, t, air);
    gather_block(job->map, job->cell_open, t, 1, 0, room);
    float* open = job->face_open + (size_t)t * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int high =
            BLOCK_INDEX(1, 0, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE, i / TILE_SIZE / TILE_SIZE);
        int low = high - steps[job->axis];
        bool is_closed = is_hole(open[i], air[low], air[high], room[high]) ||
                         is_hole(open[i], air[high], air[low], room[low]);
        open[i] = is_closed ? 0.0f : open[i];
    }
}

static void close_tiles(void* data, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
        close_tile(data, (tile_ix)t);
    }
}

void solid_geometry_close_holes(const tile_map* map, const float* cell_phi,
                                const float* cell_fraction, solid_grid* out) {
    TREACLE_ASSERT(cell_phi != NULL && out->face_open.at[0] != NULL);
    for (int a = 0; a < AXES && out->open != NULL; ++a) {
        hole_job job = {map, cell_phi, cell_fraction, out->open, out->face_open.at[a], a};
        tile_for(
            map,
            &(tile_use){.reads = TILE_AROUND, .grain = 8, .writes = {{.at = out->face_open.at[a]}}},
            close_tiles, &job);
    }
}

// --- velocity -----------------------------------------------------------------------------------

treacle_status solid_geometry_slide(const step_frame* f, const solid_poses* poses,
                                    const solid_grid* grid, face_view face_give,
                                    liquid_state* out) {
    TREACLE_ASSERT(out->face_u.at[0] != NULL);
    TREACLE_ASSERT(f->setup->solids.count == 0 || (poses->to != NULL && grid->phi != NULL));
    if (f->setup->solids.count == 0) {
        return TREACLE_OK;
    }
    int mark = arena_mark(f->scratch);
    face_field room;
    TREACLE_TRY(step_take_faces_zero(f, &out->map, "velocity in solids", &room));
    solid_velocity_params params = {
        .domain = f->setup->domain,
        .map = &out->map,
        .scene = solid_scene_of(&f->setup->solids, poses->to),
        .cell_phi = grid->phi,
        .cell_id = grid->id,
        .face_open = face_view_of(grid->face_open),
        .face_give = face_give,
    };
    solid_velocity_constrain(&params, out->face_u.at, room.at);
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}
