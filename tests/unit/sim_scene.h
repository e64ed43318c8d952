// A small scene that uses everything the simulation has: two liquids, an emitter, a sink, walls,
// open and periodic sides. It knows the public API alone.
#pragma once

#include <math.h>
#include <string.h>

#include "treacle/sim.h"

typedef struct sim_scene {
    treacle_sim_def def;
    treacle_material_def materials[2];
    treacle_shape ball, box, nozzle, drain;
    treacle_liquid_def liquids[2];
    treacle_emitter_def emitter;
    treacle_sink_def sink;
    treacle_key speed[2];
} sim_scene;

static inline treacle_shape shape_at(treacle_shape_kind kind, double x, double y, double z) {
    treacle_shape shape = treacle_shape_default(kind);
    shape.move[0] = x;
    shape.move[1] = y;
    shape.move[2] = z;
    return shape;
}

static inline void sim_scene_fill_domain(treacle_domain_def* domain) {
    domain->cell = 1.0 / 32;
    domain->size[0] = domain->size[1] = domain->size[2] = 1.0;
    domain->sides[0][0] = domain->sides[0][1] = TREACLE_SIDE_PERIODIC;
    domain->sides[1][0] = TREACLE_SIDE_SLIP;
    domain->sides[1][1] = TREACLE_SIDE_OPEN;
    domain->sides[2][0] = TREACLE_SIDE_NO_SLIP;
    domain->sides[2][1] = TREACLE_SIDE_OPEN;
}

// Fills the scene in place: it points into itself.
static inline void sim_scene_fill(sim_scene* s) {
    memset(s, 0, sizeof(*s));
    s->def = treacle_sim_def_default();
    s->def.seed = 3;
    s->def.flow = TREACLE_FLOW_NONE;
    sim_scene_fill_domain(&s->def.domain);
    s->materials[0] = s->materials[1] = treacle_material_def_default();
    s->materials[0].name = "honey";
    s->materials[0].density = 1400.0;
    s->materials[1].name = "oil";
    s->materials[1].density = 900.0;
    s->ball = shape_at(TREACLE_SHAPE_SPHERE, 0.3, 0.6, 0.5);
    s->ball.radius = 0.2;
    s->box = shape_at(TREACLE_SHAPE_BOX, 0.5, 0.3, 0.5);
    s->box.size[0] = s->box.size[1] = s->box.size[2] = 0.5;
    s->nozzle = shape_at(TREACLE_SHAPE_SPHERE, 0.8, 0.8, 0.5);
    s->nozzle.radius = 0.1;
    s->drain = shape_at(TREACLE_SHAPE_SPHERE, 0.5, 0.0, 0.5);
    s->drain.radius = 0.2;
    s->liquids[0] = s->liquids[1] = treacle_liquid_def_default();
    s->liquids[0].shape = &s->ball;
    s->liquids[0].spin[1] = 3.0;
    s->liquids[0].spin[2] = 1.0;
    s->liquids[0].spin_centre[0] = 0.3;
    s->liquids[0].velocity.value_a[0] = 2.0;
    s->liquids[1].shape = &s->box;
    s->liquids[1].material = 1;
    s->liquids[1].velocity.value_a[2] = -1.5;
    s->speed[0] = (treacle_key){.time = 0.0, .value = {1.0}};
    s->speed[1] = (treacle_key){.time = 0.2, .value = {3.0}};
    s->emitter = treacle_emitter_def_default();
    s->emitter.shape = &s->nozzle;
    s->emitter.direction[0] = -1.0;
    s->emitter.direction[1] = -0.5;
    s->emitter.speed = (treacle_curve){2, s->speed};
    s->sink = (treacle_sink_def){.shape = &s->drain, .start = 0.05, .stop = INFINITY};
    s->def.material_count = 2;
    s->def.materials = s->materials;
    s->def.liquid_count = 2;
    s->def.liquids = s->liquids;
    s->def.emitter_count = 1;
    s->def.emitters = &s->emitter;
    s->def.sink_count = 1;
    s->def.sinks = &s->sink;
}
