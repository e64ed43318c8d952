// Random scenes: shapes, emitters, sinks, forces, sides, flat axes, kernels, transfers, surfaces,
// densities, viscosities, whatever the library accepts. In every one of them, after every step,
//
//     every velocity and position is a number; every particle is in the domain;
//     particles = those before + emitted - absorbed + split - merged;
//     without a sink and without an open side none is absorbed;
//     their volume is that before, but for what was emitted and absorbed.
//
// Between steps a particle may be up to 0.25 cells beyond an open side and 0.35 beyond a periodic
// one: the density correction comes after the sort, which removes it or carries it round.
#include <math.h>

#include "cases.h"

enum { STEPS = 20, LIQUIDS = 3 };

// Chance, by a number that tells how often it was asked.
typedef struct dice {
    uint64_t state;
} dice;

static double between(dice* d, double low, double high) {
    uint64_t x = d->state += 0x9e3779b97f4a7c15u; // splitmix64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static int below(dice* d, int count) {
    return (int)between(d, 0.0, count);
}

typedef struct random_scene {
    treacle_sim_def def;
    treacle_material_def materials[LIQUIDS];
    treacle_shape shapes[LIQUIDS], nozzle, drain, wind;
    treacle_liquid_def liquids[LIQUIDS];
    treacle_emitter_def emitter;
    treacle_sink_def sink;
    treacle_force_def force;
    treacle_key speed, gravity;
} random_scene;

static void throw_domain(dice* d, treacle_domain_def* domain) {
    static const treacle_side walls[] = {TREACLE_SIDE_SLIP, TREACLE_SIDE_NO_SLIP,
                                         TREACLE_SIDE_OPEN};
    int flat = below(d, 5); // 0, 1, 2: that axis is inactive
    int kinds = 2 + below(d, 2);
    domain->cell = 1.0 / 16;
    for (int a = 0; a < 3; ++a) {
        bool is_periodic = below(d, 4) == 0;
        int cells = is_periodic ? 16 : 2 + below(d, 24);
        domain->size[a] = a == flat ? 0.0 : cells * domain->cell;
        domain->origin[a] = between(d, -2.0, 2.0);
        for (int s = 0; s < 2; ++s) {
            domain->sides[a][s] = is_periodic ? TREACLE_SIDE_PERIODIC : walls[below(d, kinds)];
        }
    }
}

static treacle_shape throw_shape(dice* d, const treacle_domain_def* domain) {
    treacle_shape out = treacle_shape_default((treacle_shape_kind)below(d, 5));
    out.radius = between(d, 0.1, 0.4);
    out.height = between(d, 0.1, 0.5);
    out.thickness = between(d, 0.05, 0.1);
    for (int a = 0; a < 3; ++a) {
        bool is_flat = domain->size[a] == 0.0;
        double middle = domain->origin[a] + 0.5 * (is_flat ? domain->cell : domain->size[a]);
        out.size[a] = between(d, 0.1, 0.8);
        out.rotate[a] = between(d, -3.0, 3.0);
        out.move[a] = middle + (is_flat ? 0.0 : between(d, -0.4, 0.4));
    }
    return out;
}

static void throw_liquids(dice* d, random_scene* s) {
    s->def.material_count = s->def.liquid_count = 1 + below(d, LIQUIDS);
    s->def.materials = s->materials;
    s->def.liquids = s->liquids;
    double speed = between(d, 0.0, 10.0), spin = between(d, 0.0, 30.0);
    for (int i = 0; i < s->def.liquid_count; ++i) {
        s->materials[i] = treacle_material_def_default();
        s->materials[i].density = 1000.0 * pow(10.0, below(d, 2) * between(d, -1.0, 1.0));
        s->materials[i].viscosity = below(d, 2) * pow(10.0, between(d, -3.0, 3.0));
        s->shapes[i] = throw_shape(d, &s->def.domain);
        s->liquids[i] = treacle_liquid_def_default();
        s->liquids[i].shape = &s->shapes[i];
        s->liquids[i].material = i;
        for (int a = 0; a < 3; ++a) {
            s->liquids[i].velocity.value_a[a] = between(d, -speed, speed);
            s->liquids[i].spin[a] = below(d, 2) * between(d, -spin, spin);
            s->liquids[i].spin_centre[a] = s->shapes[i].move[a];
        }
    }
}

static void throw_actors(dice* d, random_scene* s) {
    s->nozzle = throw_shape(d, &s->def.domain);
    s->nozzle.kind = TREACLE_SHAPE_SPHERE;
    s->drain = throw_shape(d, &s->def.domain);
    s->wind = throw_shape(d, &s->def.domain);
    s->emitter = treacle_emitter_def_default();
    s->emitter.shape = &s->nozzle;
    s->speed.value[0] = between(d, 0.0, 5.0);
    s->emitter.speed = (treacle_curve){1, &s->speed};
    s->sink = treacle_sink_def_default();
    s->sink.shape = &s->drain;
    s->force = treacle_force_def_default();
    s->force.shape = &s->wind;
    for (int a = 0; a < 3; ++a) {
        s->emitter.direction[a] = between(d, -1.0, 1.0);
        s->force.acceleration.value_a[a] = between(d, -30.0, 30.0);
        s->gravity.value[a] = a == 1 ? -9.81 : below(d, 2) * between(d, -10.0, 10.0);
    }
    s->def.gravity = (treacle_curve){1, &s->gravity};
    s->def.emitter_count = below(d, 2);
    s->def.emitters = &s->emitter;
    s->def.sink_count = below(d, 3) == 0;
    s->def.sinks = &s->sink;
    s->def.force_count = below(d, 3) == 0;
    s->def.forces = &s->force;
}

// Fills the scene in place: it points into itself.
static void throw_scene(uint64_t number, random_scene* s) {
    dice d = {number * 1000003u};
    *s = (random_scene){.def = treacle_sim_def_default()};
    s->def.seed = number;
    throw_domain(&d, &s->def.domain);
    throw_liquids(&d, s);
    throw_actors(&d, s);
    s->def.particles.per_cell = 1 + below(&d, 10);
    s->def.particles.jitter = between(&d, 0.0, 1.0);
    s->def.step.cfl = between(&d, 0.3, 5.0);
    s->def.transfer = (treacle_transfer)below(&d, 3);
    s->def.kernel = (treacle_kernel)below(&d, 3);
    s->def.advection = (treacle_advection)below(&d, 3);
    s->def.surface = (treacle_surface)below(&d, 2);
    s->def.reseed = below(&d, 2) == 0;
    s->def.density_correction = below(&d, 4) != 0;
}

// What went wrong in all scenes together.
typedef struct tally {
    int64_t failed, not_numbers, outside, uncounted, lost; // steps, particles, ...
    double volume;                                         // largest relative change, unexplained
    int64_t particles;                                     // of the largest scene
    int64_t steps, compared, reseeded; // compared: steps without emission and absorption
} tally;

static double leeway(treacle_side side) {
    return side == TREACLE_SIDE_OPEN ? 0.2501 : side == TREACLE_SIDE_PERIODIC ? 0.3501 : 1e-6;
}

static treacle_status look_at(treacle_sim* sim, const treacle_sim_def* def, tally* out) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const float* u = treacle_frame_find(&frame, "velocity")->data;
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            double x[3];
            validate_position(&frame, tile, i, x);
            for (int a = 0; a < 3; ++a) {
                double cells = (x[a] - frame.origin[a]) / frame.cell;
                bool is_inside = cells >= -leeway(def->domain.sides[a][0]) &&
                                 cells <= frame.cells[a] + leeway(def->domain.sides[a][1]);
                bool is_flat = def->domain.size[a] == 0.0;
                out->not_numbers += !isfinite(x[a]) || !isfinite((double)u[3 * i + a]);
                out->outside += !is_inside && !is_flat;
            }
        }
    }
    return TREACLE_OK;
}

static bool has_way_out(const treacle_sim_def* def) {
    bool is_open = def->sink_count > 0;
    for (int i = 0; i < 6; ++i) {
        bool is_flat = def->domain.size[i / 2] == 0.0;
        is_open = is_open || (!is_flat && def->domain.sides[i / 2][i % 2] == TREACLE_SIDE_OPEN);
    }
    return is_open;
}

static treacle_status step(treacle_sim* sim, const treacle_sim_def* def, double* volume,
                           tally* out) {
    int64_t before = treacle_sim_particle_count(sim);
    treacle_step_stats stats;
    treacle_status status = treacle_sim_step(sim, 1.0 / 24, &stats);
    if (status != TREACLE_OK) {
        return status;
    }
    int64_t expected = before + stats.emitted - stats.absorbed + stats.split - stats.merged;
    out->uncounted += stats.particles != expected;
    out->lost += has_way_out(def) ? 0 : stats.absorbed;
    if (*volume > 0.0 && stats.emitted == 0 && stats.absorbed == 0) {
        out->volume = fmax(out->volume, fabs(stats.volume / *volume - 1.0));
        out->compared += 1;
    }
    out->reseeded += stats.split + stats.merged > 0;
    *volume = stats.volume;
    out->particles = stats.particles > out->particles ? stats.particles : out->particles;
    out->steps += 1;
    return look_at(sim, def, out);
}

static treacle_status run_scene(validate* v, uint64_t number, tally* out) {
    random_scene scene;
    throw_scene(number, &scene);
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(v->ctx, &scene.def, &sim);
    double volume = 0.0;
    for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
        status = step(sim, &scene.def, &volume, out);
    }
    treacle_sim_destroy(sim);
    if (status != TREACLE_OK) {
        out->failed += 1;
        fprintf(stderr, "scene %llu: %s\n", (unsigned long long)number,
                treacle_context_error(v->ctx));
    }
    return status == TREACLE_ERR_MEMORY ? status : TREACLE_OK;
}

static treacle_status run(validate* v, int count) {
    tally sum = {0};
    for (int i = 0; i < count; ++i) {
        treacle_status status = run_scene(v, (uint64_t)i, &sum);
        if (status != TREACLE_OK) {
            return status;
        }
    }
    validate_absolute(v, (double)sum.failed, 0.0, 0.0, "%d scenes, that failed", count);
    validate_absolute(v, (double)sum.not_numbers, 0.0, 0.0, "%d scenes, not numbers", count);
    validate_absolute(v, (double)sum.outside, 0.0, 0.0, "%d scenes, particles outside", count);
    validate_absolute(v, (double)sum.uncounted, 0.0, 0.0, "%d scenes, counts that are off", count);
    validate_absolute(v, (double)sum.lost, 0.0, 0.0, "%d scenes, lost without a way out", count);
    validate_absolute(v, sum.volume, 0.0, 1e-6, "%d scenes, volume lost in a step", count);
    validate_info(v, (double)sum.steps, NAN, "%d scenes, steps", count);
    validate_info(v, (double)sum.compared, NAN, "%d scenes, steps whose volume is compared", count);
    validate_info(v, (double)sum.reseeded, NAN, "%d scenes, steps with splits or merges", count);
    validate_info(v, (double)sum.particles, NAN, "%d scenes, particles of the largest", count);
    return TREACLE_OK;
}

treacle_status case_random_scenes(validate* v) {
    return run(v, 50);
}

treacle_status case_random_scenes_all(validate* v) {
    return run(v, 1000);
}
