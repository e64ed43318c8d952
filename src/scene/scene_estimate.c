// What a scene will cost: counted where it can be, and guessed from typical figures where not.
#include <math.h>
#include <string.h>

#include "math/curve.h"
#include "math/field.h"
#include "scene/scene_internal.h"

enum { SAMPLES = 48 }; // along each axis, for volumes

// Typical figures.
static const double picture_bytes = 37.0;    // of a particle in a frame, before compression
static const double packed_share = 0.75;     // after it
static const double tile_bytes = 60e3;       // of all fields of a tile of 8^3 cells
static const double tile_fill = 0.35;        // share of liquid in the tiles around it
static const double particle_seconds = 6e-7; // of one core, for a step of one particle
static const double parallel_share = 0.9;    // of the work that threads divide
static const double kept_states = 2.0;

int scene_flat_axis(const treacle_domain_def* domain) {
    for (int a = 0; a < 3; ++a) {
        if (domain->size[a] < 1.5 * domain->cell) {
            return a;
        }
    }
    return -1;
}

box3 scene_box_inside(const treacle_domain_def* domain, const shape* s) {
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

// Volume in the domain; a flat domain is one cell thick.
static double volume_inside(const treacle_domain_def* domain, const shape* s) {
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
    TREACLE_TRY(shape_create(scene->ctx, def, &s));
    *out = volume_inside(&scene->root.sim.domain, s);
    shape_destroy(s);
    return TREACLE_OK;
}

// Area of the nozzle across the stream: its volume by its length along it.
static treacle_status nozzle_area(const treacle_scene* scene, const treacle_emitter_def* emitter,
                                  double* out) {
    shape* s = NULL;
    TREACLE_TRY(shape_create(scene->ctx, emitter->shape, &s));
    box3 box = scene_box_inside(&scene->root.sim.domain, s);
    vec3 along = vec3_normalise(vec3_from(emitter->direction));
    double length = 0.0;
    for (int a = 0; a < 3 && !box3_is_empty(box); ++a) {
        length += fabs(along.at[a]) * (box.high.at[a] - box.low.at[a]);
    }
    *out = length > 0.0 ? volume_inside(&scene->root.sim.domain, s) / length : 0.0;
    shape_destroy(s);
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
    return TREACLE_OK;
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
    double dt = fmin(sim->step.max_dt, 1.0 / sim->fps);
    double speed = typical_speed(sim);
    if (speed > 0.0) {
        dt = fmin(dt, sim->step.cfl * sim->domain.cell / speed);
    }
    return ceil(1.0 / (sim->fps * dt) - 1e-9);
}

static double state_bytes(const treacle_sim_def* sim) {
    return picture_bytes + (sim->transfer == TREACLE_TRANSFER_APIC ? 36.0 : 0.0);
}

static int64_t count_of(double value) {
    return value < 9e18 ? (int64_t)value : INT64_MAX;
}

static void fill_costs(const treacle_scene* scene, double start, double end,
                       treacle_estimate* out) {
    const treacle_sim_def* sim = &scene->root.sim;
    const treacle_output_def* output = &scene->root.output;
    double frames = (double)output->frames, mean = 0.5 * (start + end), most = fmax(start, end);
    double cells = most / sim->particles.per_cell;
    double states = output->state_every > 0 ? frames / output->state_every : 0.0;
    double threads = treacle_context_threads(scene->ctx);
    out->particles = count_of(start);
    out->particles_end = count_of(end);
    out->memory = most * (2.0 * state_bytes(sim) + 24.0) + cells / (512.0 * tile_fill) * tile_bytes;
    out->disk = packed_share *
                (frames * mean * picture_bytes + (states + kept_states) * mean * state_bytes(sim));
    out->seconds = (frames - 1.0) * steps_per_frame(sim) * mean * particle_seconds *
                   (1.0 - parallel_share + parallel_share / threads);
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
    double last = (double)(scene->root.output.frames - 1) / sim->fps;
    TREACLE_TRY(emitted_volume(scene, last, &emitted));
    double per_volume = sim->particles.per_cell / (cell * cell * cell);
    fill_costs(scene, volume * per_volume, (volume + emitted) * per_volume, out);
    return TREACLE_OK;
}
