// Random solids in random liquids: balls, boxes and plates half a cell thick, at rest, moving and
// spinning, up to several cells a step, into each other, into the sides and through closed liquid;
// in a plane and in space; some scenes inside a container. In every one
//
//     no step fails, and all places and velocities stay finite;
//     no particle is outside the domain;
//     no particle is deeper than half a cell in a solid, by closed forms that are written here
//     again.
#include <math.h>
#include <stdlib.h>

#include "cases.h"

enum { SOLIDS = 4, STEPS = 12 };
static const double cell = 1.0 / 24; // m

typedef struct draws {
    uint64_t state;
} draws;

static double draw(draws* d, double low, double high) {
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(d->state >> 11) * 0x1p-53;
}

static bool chance(draws* d, double share) {
    return draw(d, 0.0, 1.0) < share;
}

typedef struct scene {
    treacle_sim_def def;
    treacle_material_def material;
    treacle_shape pool, shapes[SOLIDS];
    treacle_liquid_def liquid;
    treacle_solid_def solids[SOLIDS];
    bool is_flat;
} scene;

static void draw_shape(scene* s, draws* d, treacle_shape* out) {
    bool is_ball = chance(d, 0.35);
    *out = treacle_shape_default(is_ball ? TREACLE_SHAPE_SPHERE : TREACLE_SHAPE_BOX);
    out->radius = draw(d, 0.05, 0.2);
    for (int a = 0; a < 3; ++a) {
        out->size[a] = draw(d, 0.1, 0.5);
        out->move[a] = draw(d, 0.1, 0.9);
    }
    if (chance(d, 0.5)) {
        out->size[0] = 0.5 * cell; // a plate
    }
    out->move[2] = s->is_flat ? 0.5 * cell : out->move[2];
}

// Turns about z only, so that the closed form below stays short.
static void draw_solid(scene* s, draws* d, int i) {
    treacle_solid_def* solid = &s->solids[i];
    *solid = treacle_solid_def_default();
    draw_shape(s, d, &s->shapes[i]);
    solid->shape = &s->shapes[i];
    bool is_moving = chance(d, 0.7);
    double speed = chance(d, 0.3) ? 8.0 : 1.0;
    for (int a = 0; a < 3; ++a) {
        solid->pivot[a] = s->shapes[i].move[a];
        solid->velocity[a] = is_moving && !(s->is_flat && a == 2) ? draw(d, -speed, speed) : 0.0;
    }
    solid->spin[2] = is_moving ? draw(d, -speed * 3.0, speed * 3.0) : 0.0;
}

static void draw_scene(scene* s, uint64_t seed) {
    draws d = {seed * 0x9e3779b97f4a7c15u + 77};
    *s = (scene){.def = treacle_sim_def_default(), .material = treacle_material_def_default()};
    s->is_flat = chance(&d, 0.7);
    s->def.seed = seed;
    s->def.domain.cell = cell;
    s->def.domain.size[2] = s->is_flat ? 0.0 : 0.5;
    s->def.particles.per_cell = s->is_flat ? 4 : 8;
    s->def.material_count = 1;
    s->def.materials = &s->material;
    s->pool = treacle_shape_default(TREACLE_SHAPE_BOX);
    s->pool.size[1] = draw(&d, 0.6, 1.6); // about the floor: 0.3 to 0.8 of the domain
    s->pool.size[0] = draw(&d, 1.0, 2.0);
    s->liquid = treacle_liquid_def_default();
    s->liquid.shape = &s->pool;
    s->def.liquid_count = 1;
    s->def.liquids = &s->liquid;
    s->def.solid_count = 1 + (int)draw(&d, 0.0, SOLIDS - 0.001);
    s->def.solids = s->solids;
    for (int i = 0; i < s->def.solid_count; ++i) {
        draw_solid(s, &d, i);
    }
    s->solids[0].inside_out = chance(&d, 0.15);
    if (s->solids[0].inside_out) {
        s->shapes[0].size[0] = s->shapes[0].size[1] = s->shapes[0].size[2] = 0.8;
        s->shapes[0].move[0] = s->shapes[0].move[1] = s->solids[0].pivot[0] =
            s->solids[0].pivot[1] = 0.5;
        s->solids[0].velocity[0] *= 0.1;
        s->solids[0].velocity[1] *= 0.1;
    }
}

// ---- by closed forms

static double distance_of(const scene* s, int i, double time, const double x[3]) {
    const treacle_solid_def* solid = &s->solids[i];
    const treacle_shape* shape = &s->shapes[i];
    double angle = solid->spin[2] * time, c = cos(angle), n = sin(angle), r[3], b[3];
    for (int a = 0; a < 3; ++a) {
        r[a] = x[a] - solid->pivot[a] - solid->velocity[a] * time;
    }
    b[0] = c * r[0] + n * r[1];
    b[1] = c * r[1] - n * r[0];
    b[2] = s->is_flat ? 0.0 : r[2];
    double distance = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]) - shape->radius;
    if (shape->kind == TREACLE_SHAPE_BOX) {
        double outside = 0.0, inside = -INFINITY;
        for (int a = 0; a < (s->is_flat ? 2 : 3); ++a) {
            double q = fabs(b[a]) - 0.5 * shape->size[a];
            outside += q > 0.0 ? q * q : 0.0;
            inside = fmax(inside, q);
        }
        distance = inside > 0.0 ? sqrt(outside) : inside;
    }
    return solid->inside_out ? -distance : distance;
}

typedef struct tally {
    int failed, outside, deep, bad; // scenes
    double depth;                   // cells, the deepest
} tally;

static treacle_status inspect(const scene* s, treacle_sim* sim, tally* sum) {
    validate_particle* all = NULL;
    int64_t count = 0;
    treacle_status status = validate_particles(sim, &all, &count);
    bool is_outside = false, is_bad = false;
    double depth = 0.0, time = treacle_sim_time(sim);
    for (int64_t i = 0; i < count && status == TREACLE_OK; ++i) {
        for (int a = 0; a < 3; ++a) {
            double size = fmax(s->def.domain.size[a], cell);
            is_bad = is_bad || !isfinite(all[i].place[a]);
            is_outside = is_outside || all[i].place[a] < -1e-6 || all[i].place[a] > size + 1e-6;
        }
        for (int k = 0; k < s->def.solid_count; ++k) {
            depth = fmax(depth, -distance_of(s, k, time, all[i].place) / cell);
        }
    }
    free(all);
    sum->outside += is_outside;
    sum->bad += is_bad;
    sum->deep += depth > 0.5;
    sum->depth = fmax(sum->depth, depth);
    return status;
}

static void run_scene(validate* v, uint64_t seed, tally* sum) {
    scene s;
    treacle_sim* sim = NULL;
    draw_scene(&s, seed);
    treacle_status status = treacle_sim_create(v->ctx, &s.def, &sim);
    for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, 0.02, &stats);
        if (status == TREACLE_OK) {
            status = inspect(&s, sim, sum);
        }
    }
    sum->failed += status != TREACLE_OK;
    treacle_sim_destroy(sim);
}

static treacle_status run(validate* v, int count) {
    tally sum = {0};
    for (int i = 0; i < count; ++i) {
        run_scene(v, (uint64_t)i, &sum);
    }
    validate_absolute(v, sum.failed, 0.0, 0.0, "%d scenes, of which failed", count);
    validate_absolute(v, sum.bad, 0.0, 0.0, "of which had a place that is not finite");
    validate_absolute(v, sum.outside, 0.0, 0.0, "steps with a particle outside the domain");
    validate_absolute(v, sum.deep, 0.0, 0.0, "steps with a particle deeper than half a cell");
    validate_info(v, sum.depth, NAN, "the deepest particle, cells");
    return TREACLE_OK;
}

treacle_status case_random_solids(validate* v) {
    return run(v, 50);
}

treacle_status case_random_solids_all(validate* v) {
    return run(v, 1000);
}
