// The state as named arrays, and back. Every piece of sim_state is here; what is not is made anew
// every step.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid/tile_loop.h"
#include "particles/particle_ranks.h"
#include "phys/shrinkage.h"
#include "sim/attempt.h"
#include "sim/eulerian.h"
#include "sim/guard.h"
#include "sim/sim_seed.h"

// A position may be outside its tile between steps, but not far (cells): the sort comes first in a
// step's work on it.
static const float farthest = 64.0f;

// log(LIMIT_FACTOR), a little more: what a scene may give. A liquid of no end of viscosity would
// have steps of no end.
static const float largest_log_factor = 27.64f;
// More than heat and drying can make of the exponent of a volume.
static const float largest_rest_size = 1e6f;

static bool is_shown(particle_column column, treacle_frame_kind kind) {
    bool is_inner = column == PARTICLE_AFFINE || column == PARTICLE_ENTHALPY;
    return kind == TREACLE_FRAME_STATE || !is_inner;
}

static treacle_array array_of(const char* name, treacle_type type, int components, int64_t count,
                              const void* data) {
    treacle_array out = {.type = type, .components = components, .count = count, .data = data};
    snprintf(out.name, sizeof(out.name), "%s", name);
    return out;
}

// The names of the liquid's fields in a state, in the order of liquid_state.
static const char* const field_names[] = {"face_u", "face_v", "face_w", "pressure", "surface"};
enum { FIELDS = sizeof(field_names) / sizeof(field_names[0]) };

static float* field_at(const liquid_state* liquid, int i) {
    return i < AXES ? liquid->face_u.at[i] : i == AXES ? liquid->cell_pressure : liquid->cell_phi;
}

// Fields that the grid carries, in the order of liquid_state.carried.
static const char* const carried_names[CARRIED_COUNT] = {
    "grid_temperature", "grid_melted",    "grid_strain_xx", "grid_strain_yy",
    "grid_strain_zz",   "grid_strain_yz", "grid_strain_zx", "grid_strain_xy"};

static int show_liquid(const liquid_state* liquid, treacle_array* arrays) {
    int64_t tiles = liquid->map.count;
    int count = 0;
    arrays[count++] = array_of("grid_tile", TREACLE_TYPE_I32, AXES, tiles, liquid->map.coord);
    for (int i = 0; i < FIELDS; ++i) {
        arrays[count++] =
            array_of(field_names[i], TREACLE_TYPE_F32, 1, tiles * TILE_CELLS, field_at(liquid, i));
    }
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        if (liquid->carried[f] != NULL) {
            arrays[count++] = array_of(carried_names[f], TREACLE_TYPE_F32, 1, tiles * TILE_CELLS,
                                       liquid->carried[f]);
        }
    }
    if (liquid->cell_contact != NULL) {
        arrays[count++] =
            array_of("wall", TREACLE_TYPE_U8, 1, tiles * TILE_CELLS, liquid->cell_contact);
    }
    return count;
}

// Fields that ranks hold in part, from array `begin` to `end` - 1 of the view.
static void publish_fields(treacle_sim* sim, int begin, int end) {
    const tile_map* map = &sim->now.liquid.map;
    if (!tile_ranks_are_distributed(map)) {
        return;
    }
    for (int r = 0; r <= comm_size(sim->ctx); ++r) {
        sim->ranks.cells[r] = map->ranks->first[r] * TILE_CELLS;
    }
    for (int i = begin; i < end; ++i) {
        sim->parts[i] = sim->ranks.cells;
    }
}

// The columns of markers that are state.
static const struct {
    particle_column column;
    const char* name;
} marker_columns[] = {
    {PARTICLE_POSITION, "surface_marker"},
    {PARTICLE_ID, "surface_marker_id"},
    {PARTICLE_VOLUME, "surface_marker_radius"},
    {PARTICLE_MATERIAL, "surface_marker_side"},
};
enum { MARKER_COLUMNS = sizeof(marker_columns) / sizeof(marker_columns[0]) };

static int show_surface(const level_set* set, treacle_array* arrays) {
    const particles* m = &set->markers;
    int count = 0;
    arrays[count++] =
        array_of("surface_tile", TREACLE_TYPE_I32, AXES, set->map.count, set->map.coord);
    arrays[count++] = array_of("surface_distance", TREACLE_TYPE_F32, 1,
                               (int64_t)set->map.count * TILE_CELLS, set->phi);
    arrays[count++] =
        array_of("surface_marker_tile", TREACLE_TYPE_I32, AXES, m->tile_count, m->tile);
    arrays[count++] = array_of("surface_marker_first", TREACLE_TYPE_I64, 1,
                               (int64_t)m->tile_count + 1, m->tile_first);
    for (int i = 0; i < MARKER_COLUMNS; ++i) {
        const particle_column_info* info = &particle_columns[marker_columns[i].column];
        arrays[count++] = array_of(marker_columns[i].name, info->type, info->components, m->count,
                                   m->column[marker_columns[i].column]);
    }
    arrays[count++] = array_of("surface_births", TREACLE_TYPE_U64, 1, 1, &set->births);
    return count;
}

// What pictures need beside the particles: colours of materials, and where bodies were at first.
static int show_looks(const treacle_sim* sim, treacle_array* arrays) {
    int count = 0;
    arrays[count++] =
        array_of("material_colour", TREACLE_TYPE_F32, 3, sim->material_count, sim->palette);
    if (sim->setup.bodies.count > 0) {
        arrays[count++] = array_of("body_start", TREACLE_TYPE_F64, BODY_STATE_DOUBLES,
                                   sim->setup.bodies.count, sim->setup.bodies.start);
    }
    return count;
}

// Pictures show the volume that particles have; that of their column is what they began with.
static treacle_status show_volumes(treacle_sim* sim) {
    const particles* p = &sim->now.particles;
    if (sim->shown.ctx == NULL) {
        TREACLE_TRY(particles_create(sim->ctx, 0, &sim->shown));
    }
    TREACLE_TRY(particles_reserve(&sim->shown, p->count, 1));
    shrinkage_volumes(sim->setup.materials, p, particles_f32(&sim->shown, PARTICLE_VOLUME));
    return TREACLE_OK;
}

treacle_status treacle_sim_view(treacle_sim* sim, treacle_frame_kind kind, int64_t number,
                                treacle_frame* out) {
    bool is_shown_apart = sim->plan.is_eulerian && kind == TREACLE_FRAME_PICTURE;
    if (is_shown_apart) {
        TREACLE_TRY(eulerian_show(sim));
    }
    bool has_sizes = sim->setup.has.shrinkage && kind == TREACLE_FRAME_PICTURE;
    if (has_sizes) {
        TREACLE_TRY(show_volumes(sim));
    }
    const particles* p = is_shown_apart ? &sim->shown : &sim->now.particles;
    const int64_t* rank_rows = NULL;
    if (sim->ranks.owners.is_distributed) {
        particle_ranks_first(p, sim->ranks.rows);
        rank_rows = sim->ranks.rows;
    }
    treacle_array* arrays = sim->arrays;
    int count = 0;
    memset(sim->parts, 0, sizeof(sim->parts));
    arrays[count++] = array_of("tile_coord", TREACLE_TYPE_I32, AXES, p->tile_count, p->tile);
    arrays[count++] =
        array_of("tile_first", TREACLE_TYPE_I64, 1, (int64_t)p->tile_count + 1, p->tile_first);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        const particle_column_info* info = &particle_columns[c];
        if ((p->column_mask >> c & 1u) != 0 && is_shown((particle_column)c, kind)) {
            const particles* from = has_sizes && c == PARTICLE_VOLUME ? &sim->shown : p;
            sim->parts[count] = rank_rows;
            arrays[count++] =
                array_of(info->name, info->type, info->components, p->count, from->column[c]);
        }
    }
    if (sim->setup.bodies.count > 0) {
        arrays[count++] = array_of("body_state", TREACLE_TYPE_F64, BODY_STATE_DOUBLES,
                                   sim->setup.bodies.count, sim->now.bodies);
    }
    if (kind == TREACLE_FRAME_PICTURE) {
        count += show_looks(sim, arrays + count);
    }
    if (kind == TREACLE_FRAME_STATE) {
        arrays[count++] =
            array_of("reseed_births", TREACLE_TYPE_U64, 1, 1, &sim->now.reseed_births);
        arrays[count++] = array_of("calm", TREACLE_TYPE_F64, 1, 1, &sim->now.calm);
    }
    if (kind == TREACLE_FRAME_STATE && sim->now.liquid.map.count > 0) {
        int first = count + 1; // of fields; the tiles are known to all ranks
        count += show_liquid(&sim->now.liquid, arrays + count);
        publish_fields(sim, first, count);
    }
    if (kind == TREACLE_FRAME_STATE && sim->plan.is_eulerian) {
        count += show_surface(&sim->now.surface, arrays + count);
        arrays[count++] = array_of("volume_due", TREACLE_TYPE_F64, 1, 1, &sim->now.volume_due);
    }
    *out = (treacle_frame){
        .kind = kind,
        .number = number,
        .step = sim->now.step,
        .time = sim->now.time,
        .fps = sim->def.fps,
        .cell = sim->domain.h,
        .array_count = count,
        .arrays = arrays,
        .parts = sim->parts,
    };
    for (int a = 0; a < AXES; ++a) {
        out->origin[a] = sim->domain.origin[a];
        out->cells[a] = sim->domain.cells[a];
    }
    return TREACLE_OK;
}

static treacle_status check_head(const treacle_sim* sim, const treacle_frame* state) {
    if (state->kind != TREACLE_FRAME_STATE) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                          "frame %lld is a picture: only a state can be restored",
                          (long long)state->number);
    }
    if (!(state->time >= 0.0 && isfinite(state->time)) || state->step < 0) {
        return check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                          "the state is of step %lld at %g s: expected numbers >= 0",
                          (long long)state->step, state->time);
    }
    bool is_same = state->cell == sim->domain.h;
    for (int a = 0; a < AXES; ++a) {
        is_same = is_same && state->cells[a] == sim->domain.cells[a] &&
                  state->origin[a] == sim->domain.origin[a];
    }
    return is_same ? TREACLE_OK
                   : check_fail(sim->ctx, TREACLE_ERR_USAGE,
                                "the state is of a domain of %d x %d x %d cells of %g m, the "
                                "simulation has %d x %d x %d of %g m, or another origin",
                                (int)state->cells[0], (int)state->cells[1], (int)state->cells[2],
                                state->cell, (int)sim->domain.cells[0], (int)sim->domain.cells[1],
                                (int)sim->domain.cells[2], sim->domain.h);
}

// Looks for the array that should be `like`; its count is taken over if that is negative. What is
// in it may still be in a file.
static treacle_status find_head(const treacle_sim* sim, const treacle_frame* state,
                                treacle_array* like) {
    const treacle_array* found = treacle_frame_find(state, like->name);
    if (found == NULL) {
        return check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                          "the state has no array '%s', which this simulation needs", like->name);
    }
    bool is_alike = found->type == like->type && found->components == like->components &&
                    (like->count < 0 || found->count == like->count) && found->count >= 0;
    if (!is_alike) {
        return check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                          "array '%s' of the state has %lld items of %d components of type %d: "
                          "expected %lld of %d of type %d",
                          like->name, (long long)found->count, found->components, (int)found->type,
                          (long long)like->count, like->components, (int)like->type);
    }
    *like = *found;
    return TREACLE_OK;
}

// Brings items begin .. end - 1 of an array that was found.
static treacle_status fetch(const treacle_frame* state, const treacle_array* array, tile_range of) {
    return state->source == NULL
               ? TREACLE_OK
               : treacle_loaded_frame_fetch(state->source, array->name, of.begin, of.end);
}

static treacle_status find_array(const treacle_sim* sim, const treacle_frame* state,
                                 treacle_array* like) {
    TREACLE_TRY(find_head(sim, state, like));
    return fetch(state, like, (tile_range){0, like->count});
}

// An array of no items may have no address.
static void copy_bytes(void* to, const void* from, size_t bytes) {
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static treacle_status copy_tiles(treacle_sim* sim, const treacle_frame* state) {
    particles* p = &sim->next.particles;
    treacle_array id = array_of("id", TREACLE_TYPE_U64, 1, -1, NULL);
    TREACLE_TRY(find_head(sim, state, &id));
    treacle_array tile = array_of("tile_coord", TREACLE_TYPE_I32, AXES, -1, NULL);
    TREACLE_TRY(find_array(sim, state, &tile));
    treacle_array first = array_of("tile_first", TREACLE_TYPE_I64, 1, tile.count + 1, NULL);
    TREACLE_TRY(find_array(sim, state, &first));
    particles_clear(p);
    TREACLE_TRY(particles_reserve(p, id.count, tile.count));
    copy_bytes(p->tile, tile.data, (size_t)tile.count * sizeof(*p->tile));
    memcpy(p->tile_first, first.data, (size_t)first.count * sizeof(*p->tile_first));
    p->tile_count = (tile_ix)tile.count;
    p->count = id.count;
    return TREACLE_OK;
}

// Items begin .. end - 1 of the array `like`.
static treacle_status copy_items(const treacle_sim* sim, const treacle_frame* state,
                                 treacle_array* like, tile_range of, void* to) {
    size_t bytes = treacle_type_size(like->type) * (size_t)like->components;
    TREACLE_TRY(find_head(sim, state, like));
    TREACLE_TRY(fetch(state, like, of));
    copy_bytes((char*)to + (size_t)of.begin * bytes,
               (const char*)like->data + (size_t)of.begin * bytes,
               (size_t)(of.end - of.begin) * bytes);
    return TREACLE_OK;
}

static treacle_status copy_columns(treacle_sim* sim, const treacle_frame* state) {
    particles* p = &sim->next.particles;
    tile_range own = particle_ranks_own_range(p);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        const particle_column_info* info = &particle_columns[c];
        if (p->column[c] != NULL) {
            treacle_array column =
                array_of(info->name, info->type, info->components, p->count, NULL);
            TREACLE_TRY(copy_items(sim, state, &column, own, p->column[c]));
        }
    }
    return TREACLE_OK;
}

static bool are_rows_sound(const treacle_sim* sim, const particles* p) {
    const float* position = particles_f32(p, PARTICLE_POSITION);
    const float* log_factor = particles_f32(p, PARTICLE_LOG_FACTOR);
    const float* volume = particles_f32(p, PARTICLE_VOLUME);
    const float* melted = particles_f32(p, PARTICLE_MELTED);
    const float* damage = particles_f32(p, PARTICLE_DAMAGE);
    const float* rest_size = particles_f32(p, PARTICLE_REST_SIZE);
    const uint8_t* material = particles_material(p);
    tile_range own = particle_ranks_own_range(p);
    bool is_sound = true;
    for (particle_ix i = own.begin; i < own.end; ++i) {
        is_sound = is_sound && material[i] < sim->material_count && !(volume[i] <= 0.0f) &&
                   (melted == NULL || !(melted[i] < 0.0f || melted[i] > 1.0f)) &&
                   (log_factor == NULL || fabsf(log_factor[i]) <= largest_log_factor) &&
                   (damage == NULL || (damage[i] >= 0.0f && damage[i] <= 1.0f)) &&
                   (rest_size == NULL || fabsf(rest_size[i]) <= largest_rest_size);
        for (int a = 0; a < AXES; ++a) {
            is_sound = is_sound && fabsf(position[AXES * i + a]) <= farthest;
        }
    }
    return is_sound;
}

static bool are_tiles_sound(const treacle_sim* sim, const particles* p) {
    bool is_sound = particles_is_grouped(p);
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        for (int a = 0; a < AXES; ++a) {
            int32_t at = p->tile[t].at[a];
            is_sound = is_sound && at >= 0 && at < sim->domain.tiles[a];
        }
    }
    return is_sound;
}

// Tiles of a state's array that a map is to be made of; it may have those of the domain's far
// faces.
static treacle_status check_tiles(const treacle_sim* sim, const grid_domain* domain,
                                  const treacle_array* tile) {
    bool is_inside = true;
    for (int64_t t = 0; t < tile->count; ++t) {
        tile_coord coord = ((const tile_coord*)tile->data)[t];
        is_inside = is_inside && tile_coord_wrap(domain, &coord);
    }
    return is_inside
               ? TREACLE_OK
               : check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                            "array '%s' of the state has a tile outside the domain", tile->name);
}

static treacle_status copy_counters(treacle_sim* sim, const treacle_frame* state) {
    treacle_array births = array_of("reseed_births", TREACLE_TYPE_U64, 1, 1, NULL);
    TREACLE_TRY(find_array(sim, state, &births));
    sim->next.reseed_births = *(const uint64_t*)births.data;
    treacle_array calm = array_of("calm", TREACLE_TYPE_F64, 1, 1, NULL);
    TREACLE_TRY(find_array(sim, state, &calm));
    sim->next.calm = *(const double*)calm.data;
    return sim->next.calm >= 0.0 && sim->next.calm <= 1.0
               ? TREACLE_OK
               : check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                            "the state's 'calm' is %g: expected 0 to 1", sim->next.calm);
}

static treacle_status copy_liquid(treacle_sim* sim, const treacle_frame* state) {
    liquid_state* liquid = &sim->next.liquid;
    liquid_state_destroy(liquid);
    if (sim->def.flow == TREACLE_FLOW_NONE) {
        return TREACLE_OK;
    }
    if (treacle_frame_find(state, "grid_tile") == NULL) { // where all liquid is gone
        return liquid_state_create(sim->ctx, &sim->domain, 0, NULL, liquid);
    }
    treacle_array tile = array_of("grid_tile", TREACLE_TYPE_I32, AXES, -1, NULL);
    TREACLE_TRY(find_array(sim, state, &tile));
    TREACLE_TRY(check_tiles(sim, &sim->domain, &tile));
    TREACLE_TRY(liquid_state_create(sim->ctx, &sim->domain, tile.count, tile.data, liquid));
    TREACLE_TRY(tile_ranks_create(sim->next.particles.owners, &liquid->map));
    bool is_whole =
        liquid->map.count == tile.count &&
        memcmp(liquid->map.coord, tile.data, (size_t)tile.count * sizeof(*liquid->map.coord)) == 0;
    if (!is_whole) {
        return check_fail(sim->ctx, TREACLE_ERR_FORMAT, "the state's tiles are not in order");
    }
    tile_range here = tile_ranks_are_distributed(&liquid->map) ? tile_ranks_own(&liquid->map)
                                                               : (tile_range){0, tile.count};
    here = (tile_range){here.begin * TILE_CELLS, here.end * TILE_CELLS};
    for (int i = 0; i < FIELDS; ++i) {
        treacle_array values =
            array_of(field_names[i], TREACLE_TYPE_F32, 1, tile.count * TILE_CELLS, NULL);
        TREACLE_TRY(copy_items(sim, state, &values, here, field_at(liquid, i)));
    }
    if (liquid->cell_contact != NULL) {
        treacle_array bits = array_of("wall", TREACLE_TYPE_U8, 1, tile.count * TILE_CELLS, NULL);
        TREACLE_TRY(find_array(sim, state, &bits));
        memcpy(liquid->cell_contact, bits.data, (size_t)bits.count);
    }
    return TREACLE_OK;
}

static treacle_status copy_carried(treacle_sim* sim, const treacle_frame* state) {
    liquid_state* liquid = &sim->next.liquid;
    if (!sim->plan.is_eulerian) {
        return TREACLE_OK;
    }
    TREACLE_TRY(liquid_state_add_carried(liquid, euler_fields(&sim->setup)));
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        if (liquid->carried[f] != NULL && liquid->map.count > 0) {
            treacle_array values = array_of(carried_names[f], TREACLE_TYPE_F32, 1,
                                            (int64_t)liquid->map.count * TILE_CELLS, NULL);
            TREACLE_TRY(find_array(sim, state, &values));
            memcpy(liquid->carried[f], values.data, (size_t)values.count * sizeof(float));
        }
    }
    return TREACLE_OK;
}

static treacle_status copy_markers(treacle_sim* sim, const treacle_frame* state) {
    particles* m = &sim->next.surface.markers;
    treacle_array tile = array_of("surface_marker_tile", TREACLE_TYPE_I32, AXES, -1, NULL);
    treacle_array id = array_of("surface_marker_id", TREACLE_TYPE_U64, 1, -1, NULL);
    TREACLE_TRY(find_array(sim, state, &tile));
    TREACLE_TRY(find_array(sim, state, &id));
    treacle_array first =
        array_of("surface_marker_first", TREACLE_TYPE_I64, 1, tile.count + 1, NULL);
    TREACLE_TRY(find_array(sim, state, &first));
    TREACLE_TRY(particles_reserve(m, id.count, tile.count));
    copy_bytes(m->tile, tile.data, (size_t)tile.count * sizeof(*m->tile));
    memcpy(m->tile_first, first.data, (size_t)first.count * sizeof(*m->tile_first));
    m->tile_count = (tile_ix)tile.count;
    m->count = id.count;
    for (int i = 0; i < MARKER_COLUMNS; ++i) {
        const particle_column_info* info = &particle_columns[marker_columns[i].column];
        treacle_array column =
            array_of(marker_columns[i].name, info->type, info->components, id.count, NULL);
        TREACLE_TRY(find_array(sim, state, &column));
        copy_bytes(m->column[marker_columns[i].column], column.data,
                   (size_t)id.count * info->bytes);
    }
    memset(m->column[PARTICLE_VELOCITY], 0,
           (size_t)m->count * particle_columns[PARTICLE_VELOCITY].bytes);
    return TREACLE_OK;
}

static treacle_status copy_surface(treacle_sim* sim, const treacle_frame* state) {
    if (!sim->plan.is_eulerian) {
        return TREACLE_OK;
    }
    level_set* set = &sim->next.surface;
    level_set_work w = eulerian_level(sim);
    treacle_array tile = array_of("surface_tile", TREACLE_TYPE_I32, AXES, -1, NULL);
    TREACLE_TRY(find_array(sim, state, &tile));
    treacle_array phi =
        array_of("surface_distance", TREACLE_TYPE_F32, 1, tile.count * TILE_CELLS, NULL);
    treacle_array births = array_of("surface_births", TREACLE_TYPE_U64, 1, 1, NULL);
    TREACLE_TRY(find_array(sim, state, &phi));
    TREACLE_TRY(find_array(sim, state, &births));
    TREACLE_TRY(check_tiles(sim, &sim->lattice, &tile));
    TREACLE_TRY(level_set_tiles(&w, tile.count, tile.data, set));
    bool is_whole = set->map.count == tile.count &&
                    (tile.count == 0 || memcmp(set->map.coord, tile.data,
                                               (size_t)tile.count * sizeof(tile_coord)) == 0);
    if (is_whole) {
        copy_bytes(set->phi, phi.data, (size_t)phi.count * sizeof(float));
        set->births = *(const uint64_t*)births.data;
        TREACLE_TRY(copy_markers(sim, state));
        is_whole = particles_is_grouped(&set->markers) &&
                   particles_is_sorted(&set->markers, &sim->lattice);
    }
    return is_whole ? TREACLE_OK
                    : check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                                 "tiles or markers of the state's surface are not in order");
}

// States of other versions may not have it.
static treacle_status copy_due(treacle_sim* sim, const treacle_frame* state) {
    treacle_array due = array_of("volume_due", TREACLE_TYPE_F64, 1, 1, NULL);
    sim->next.volume_due = NAN;
    if (sim->plan.is_eulerian && treacle_frame_find(state, due.name) != NULL) {
        TREACLE_TRY(find_array(sim, state, &due));
        sim->next.volume_due = *(const double*)due.data;
    }
    return TREACLE_OK;
}

static treacle_status copy_bodies(treacle_sim* sim, const treacle_frame* state) {
    int64_t count = sim->setup.bodies.count;
    if (count == 0) {
        return TREACLE_OK;
    }
    treacle_array bodies =
        array_of("body_state", TREACLE_TYPE_F64, BODY_STATE_DOUBLES, count, NULL);
    TREACLE_TRY(find_array(sim, state, &bodies));
    memcpy(sim->next.bodies, bodies.data, (size_t)count * sizeof(body_state));
    for (int64_t i = 0; i < count; ++i) {
        const body_state* body = &sim->next.bodies[i];
        if (body_is_finite(body) && !body_state_is_valid(body)) {
            return check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                              "the quaternion of body %lld of the state is not of unit length",
                              (long long)i);
        }
    }
    return TREACLE_OK;
}

static treacle_status fail_rows(const treacle_sim* sim, const treacle_frame* state) {
    return check_fail(sim->ctx, TREACLE_ERR_FORMAT,
                      "the state of step %lld has particles outside their tiles, tiles outside the "
                      "domain, or numbers that no scene can have",
                      (long long)state->step);
}

// Tiles, and who holds them where ranks are distributed; then what ranks hold.
static treacle_status copy_particles(treacle_sim* sim, const treacle_frame* state) {
    particles* p = &sim->next.particles;
    treacle_status status = copy_tiles(sim, state);
    if (status == TREACLE_OK && !are_tiles_sound(sim, p)) {
        status = fail_rows(sim, state);
    }
    TREACLE_TRY(comm_agree(sim->ctx, status));
    TREACLE_TRY(sim_partition_tiles(sim, p));
    status = copy_columns(sim, state);
    if (status == TREACLE_OK && !are_rows_sound(sim, p)) {
        status = fail_rows(sim, state);
    }
    particle_ranks_keep_own(p);
    return status;
}

static treacle_status copy_rest(treacle_sim* sim, const treacle_frame* state) {
    TREACLE_TRY(copy_counters(sim, state));
    TREACLE_TRY(copy_liquid(sim, state));
    TREACLE_TRY(copy_carried(sim, state));
    TREACLE_TRY(copy_surface(sim, state));
    TREACLE_TRY(copy_due(sim, state));
    return copy_bodies(sim, state);
}

// A number that is not finite is damage, whatever the file's sum says.
static treacle_status check_numbers(const treacle_sim* sim, const treacle_frame* state) {
    guard_speeds speeds = guard_measure(sim, &sim->next);
    treacle_status status = guard_finite(sim, &sim->next, &speeds, TREACLE_ERR_FORMAT);
    if (status == TREACLE_OK) {
        return TREACLE_OK;
    }
    char what[CONTEXT_ERROR_CAPACITY / 2];
    snprintf(what, sizeof(what), "%s", treacle_context_error(sim->ctx));
    return check_fail(sim->ctx, status, "the state of step %lld is damaged: %s",
                      (long long)state->step, what);
}

treacle_status treacle_sim_restore(treacle_sim* sim, const treacle_frame* state) {
    TREACLE_TRY(check_head(sim, state));
    size_t keys = (size_t)comm_size(sim->ctx) + 1;
    if (sim->ranks.key != NULL) {
        copy_bytes(sim->ranks.key + keys, sim->ranks.key, keys * sizeof(*sim->ranks.key));
    }
    treacle_status status = copy_particles(sim, state);
    if (status == TREACLE_OK) {
        status = copy_rest(sim, state);
    }
    status = comm_agree(sim->ctx, status);
    status = status == TREACLE_OK ? check_numbers(sim, state) : status;
    if (status != TREACLE_OK && sim->ranks.key != NULL) { // `now` is shared out as it was
        copy_bytes(sim->ranks.key, sim->ranks.key + keys, keys * sizeof(*sim->ranks.key));
    }
    if (status != TREACLE_OK) {
        particles_clear(&sim->next.particles);
        liquid_state_destroy(&sim->next.liquid);
        return status;
    }
    for (int i = 0; i < FIELDS && tile_ranks_are_distributed(&sim->next.liquid.map); ++i) {
        tile_publish(&sim->next.liquid.map, &(tile_values){.at = field_at(&sim->next.liquid, i)});
    }
    sim->next.time = state->time;
    sim->next.step = state->step;
    sim_state_swap(sim);
    return TREACLE_OK;
}
