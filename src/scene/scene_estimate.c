// What a scene will cost: counted where it can be, and guessed from typical figures where not.
#include <math.h>
#include <string.h>

#include "math/curve.h"
#include "math/field.h"
#include "scene/scene_internal.h"

enum {
    SAMPLES = 16, // along each axis, for volumes
    RAYS = 48,    // along each axis, for the shadows of nozzles
};

// Typical figures, from runs of the scenes in scenes/.
static const double picture_bytes = 37.0;  // of a particle in a frame, before compression
static const double packed_fraction = 0.6; // after it
static const double base_bytes = 5.5e6;    // of a simulation without anything in it
static const double tile_bytes = 1e5;      // of all fields of a tile
static const double tile_fill = 0.35;      // fraction of liquid in the tiles around it; flat: twice
static const double tiles_more = 8.0;      // around each liquid and emitter
static const double step_seconds = 0.01;   // of one core, for a step of liquid without particles
static const double particle_seconds = 5e-7;        // and for each particle
static const double flying_particle_seconds = 1e-7; // the same without flow
static const double parallel_fraction = 0.9;        // of the work that threads divide
static const double kept_states = 2.0;

int scene_flat_axis(const treacle_domain_def* domain) {
    TREACLE_ASSERT(domain->cell > 0.0);
    for (int a = 0; a < 3; ++a) {
        if (domain->size[a] < 1.5 * domain->cell) {
            return a;
        }
    }
    return -1;
}

box3 scene_box_inside(const treacle_domain_def* domain, const shape* s) {
    TREACLE_ASSERT(domain->cell > 0.0);
    box3 box = {vec3_from(domain->origin), vec3_from(domain->origin)};
    for (int a = 0; a < 3; ++a) {
        box.high.at[a] += fmax(domain->size[a], domain->cell);
    }
    box = s == NULL ? box : box3_intersect(shape_bounds(s), box);
    int flat = scene_flat_axis(domain);
    if (flat >= 0) {
        double middle = domain->origin[flat] + 0.5 * domain->cell;
        bool is_hit = box.low.at[flat] <= middle && middle <= box.high.at[flat];
        double half = is_hit ? 1e-3 * domain->cell : -1.0;
        box.low.at[flat] = middle - half;
        box.high.at[flat] = middle + half;
    }
    return box;
}

double scene_volume_inside(const treacle_domain_def* domain, const shape* s) {
    TREACLE_ASSERT(domain->cell > 0.0);
    box3 box = scene_box_inside(domain, s);
    if (box3_is_empty(box)) {
        return 0.0;
    }
    int flat = scene_flat_axis(domain);
    double stretch = 1.0;
    if (flat >= 0) {
        stretch = domain->cell / (box.high.at[flat] - box.low.at[flat]);
    }
    return stretch * shape_volume_in(s, &box, SAMPLES);
}

static treacle_status liquid_volume(const treacle_scene* scene, const treacle_shape* def,
                                    double* out) {
    shape* s = NULL;
    TREACLE_TRY(shape_create_silent(scene->ctx, def, &s));
    *out = scene_volume_inside(&scene->root.sim.domain, s);
    shape_destroy(s);
    return TREACLE_OK;
}

// Two directions across a third.
static void make_across(vec3 along, int flat, vec3 across[2]) {
    int least = 0;
    for (int a = 1; a < 3; ++a) {
        least = fabs(along.at[a]) < fabs(along.at[least]) ? a : least;
    }
    vec3 other = vec3_make(0.0, 0.0, 0.0);
    other.at[flat >= 0 ? flat : least] = 1.0;
    across[0] = vec3_normalise(vec3_cross(along, other));
    across[1] = vec3_cross(along, across[0]);
}

// Area of the nozzle's shadow along the stream, by rays; a flat domain is one cell thick.
static double shadow_area(const treacle_domain_def* domain, const shape* s, vec3 along) {
    box3 box = scene_box_inside(domain, s);
    if (box3_is_empty(box)) {
        return 0.0;
    }
    int flat = scene_flat_axis(domain), rows = flat >= 0 ? 1 : RAYS, hits = 0;
    vec3 across[2], middle = vec3_scale(0.5, vec3_add(box.low, box.high));
    double reach = 0.5 * vec3_length(vec3_sub(box.high, box.low));
    make_across(along, flat, across);
    for (int i = 0; i < RAYS * rows; ++i) {
        int row = i / RAYS, column = i % RAYS;
        double u = reach * (2.0 * (column + 0.5) / RAYS - 1.0);
        double v = reach * (2.0 * (row + 0.5) / rows - 1.0);
        vec3 origin = vec3_add_scaled(middle, -reach, along);
        origin = vec3_add_scaled(vec3_add_scaled(origin, u, across[0]), v, across[1]);
        shape_ray ray = {.origin = origin, .direction = along, .begin = 0.0, .end = 2.0 * reach};
        hits += shape_is_met(s, &ray);
    }
    double width = 2.0 * reach / RAYS;
    return hits * width * (rows == 1 ? domain->cell : width);
}

static treacle_status nozzle_area(const treacle_scene* scene, const treacle_emitter_def* emitter,
                                  double* out) {
    shape* s = NULL;
    TREACLE_TRY(shape_create_silent(scene->ctx, emitter->shape, &s));
    vec3 along = vec3_normalise(vec3_from(emitter->direction));
    *out = shadow_area(&scene->root.sim.domain, s, along);
    shape_destroy(s);
    return TREACLE_OK;
}

// Drops that have come by the end; those that lie partly outside count as they do in their place.
static treacle_status dropped_volume(const treacle_scene* scene, double end, double* out) {
    for (int i = 0; i < scene->root.sim.drop_count; ++i) {
        const treacle_drop_def* drops = &scene->root.sim.drops[i];
        treacle_shape moved = treacle_shape_default(TREACLE_SHAPE_UNION);
        moved.child_count = 1;
        moved.children = drops->shape;
        for (int k = 0; k < drops->places.count && drops->places.keys[k].time <= end; ++k) {
            double volume = 0.0;
            memcpy(moved.move, drops->places.keys[k].value, sizeof(moved.move));
            TREACLE_TRY(liquid_volume(scene, &moved, &volume));
            *out += volume;
        }
    }
    return TREACLE_OK;
}

static treacle_status emitted_volume(const treacle_scene* scene, double end, double* out) {
    *out = 0.0;
    for (int i = 0; i < scene->root.sim.emitter_count; ++i) {
        const treacle_emitter_def* emitter = &scene->root.sim.emitters[i];
        double stop = fmin(emitter->stop, end), area = 1.0;
        if (stop <= emitter->start) {
            continue;
        }
        bool has_rate = emitter->rate.count > 0;
        if (!has_rate) {
            TREACLE_TRY(nozzle_area(scene, emitter, &area));
        }
        const treacle_curve* curve = has_rate ? &emitter->rate : &emitter->speed;
        *out += area * curve_integral_scalar(curve, emitter->start, stop);
    }
    return dropped_volume(scene, end, out);
}

// A speed that liquid may reach: what it is given, and a fall through the domain.
static double typical_speed(const treacle_sim_def* sim) {
    double gravity[3], given = 0.0;
    curve_eval(&sim->gravity, 0.0, gravity);
    double g = vec3_length(vec3_from(gravity));
    for (int i = 0; i < sim->liquid_count; ++i) {
        given = fmax(given, vec3_length(vec3_from(sim->liquids[i].velocity.value_a)));
    }
    for (int i = 0; i < sim->emitter_count; ++i) {
        const treacle_curve* speed = &sim->emitters[i].speed;
        for (int k = 0; k < speed->count; ++k) {
            given = fmax(given, speed->keys[k].value[0]);
        }
    }
    return given + sqrt(g * vec3_length(vec3_from(sim->domain.size)));
}

static double steps_per_frame(const treacle_sim_def* sim) {
    double frame = treacle_sim_def_frame_time(sim, 2), dt = fmin(sim->step.max_dt, frame);
    double speed = typical_speed(sim);
    if (speed > 0.0) {
        bool is_euler = sim->motion == TREACLE_MOTION_EULERIAN;
        double cfl = is_euler ? fmin(sim->step.cfl, sim->level_set.cfl) : sim->step.cfl;
        dt = fmin(dt, cfl * sim->domain.cell / speed);
    }
    return ceil(frame / dt - 1e-9);
}

static double state_bytes(const treacle_sim_def* sim) {
    return picture_bytes + (sim->transfer == TREACLE_TRANSFER_APIC ? 36.0 : 0.0);
}

static int64_t count_of(double value) {
    return value < 9e18 ? (int64_t)(value + 0.5) : INT64_MAX;
}

// Bytes of the tiles that hold so many particles.
static double grid_bytes(const treacle_sim_def* sim, double particles) {
    bool is_flat = scene_flat_axis(&sim->domain) >= 0;
    double tile_cells = is_flat ? 64.0 * 2.0 * tile_fill : 512.0 * tile_fill;
    double tiles = particles / sim->particles.per_cell / tile_cells +
                   tiles_more * (sim->liquid_count + sim->emitter_count);
    return sim->flow == TREACLE_FLOW_NONE ? 0.0 : tiles * tile_bytes;
}

static double seconds_per_step(const treacle_sim_def* sim, double particles, int threads) {
    bool is_flying = sim->flow == TREACLE_FLOW_NONE;
    double work = is_flying ? particles * flying_particle_seconds
                            : step_seconds + particles * particle_seconds;
    return work * (1.0 - parallel_fraction + parallel_fraction / threads);
}

static void fill_costs(const treacle_scene* scene, double start, double end,
                       treacle_estimate* out) {
    const treacle_sim_def* sim = &scene->root.sim;
    const treacle_output_def* output = &scene->root.output;
    double frames = (double)output->frames, mean = 0.5 * (start + end);
    double states = output->state_every > 0 ? frames / output->state_every : 0.0;
    out->particles = count_of(start);
    out->particles_end = count_of(end);
    out->memory = base_bytes + end * (2.0 * state_bytes(sim) + 24.0) + grid_bytes(sim, end);
    out->disk = packed_fraction *
                (frames * mean * picture_bytes + (states + kept_states) * mean * state_bytes(sim));
    out->seconds = (frames - 1.0) * steps_per_frame(sim) *
                   seconds_per_step(sim, mean, treacle_context_threads(scene->ctx));
}

treacle_status treacle_scene_estimate(const treacle_scene* scene, treacle_estimate* out) {
    *out = (treacle_estimate){0};
    if (scene->diags.errors > 0) {
        return check_fail(scene->ctx, TREACLE_ERR_SCENE, "a scene with errors has no estimate");
    }
    const treacle_sim_def* sim = &scene->root.sim;
    double cell = sim->domain.cell, volume = 0.0, emitted = 0.0;
    for (int a = 0; a < 3; ++a) {
        out->cells[a] = (int)fmax(1.0, floor(sim->domain.size[a] / cell + 0.5));
    }
    for (int i = 0; i < sim->liquid_count; ++i) {
        double one = 0.0;
        TREACLE_TRY(liquid_volume(scene, sim->liquids[i].shape, &one));
        volume += one;
    }
    if (sim->fill == TREACLE_FILL_ALL) {
        volume = (double)out->cells[0] * out->cells[1] * out->cells[2] * (cell * cell * cell);
    }
    double last = treacle_sim_def_frame_time(sim, scene->root.output.frames);
    TREACLE_TRY(emitted_volume(scene, last, &emitted));
    double per_volume = sim->particles.per_cell / (cell * cell * cell);
    fill_costs(scene, volume * per_volume, (volume + emitted) * per_volume, out);
    return TREACLE_OK;
}
