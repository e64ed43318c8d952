// What surface tension means to each liquid of a scene: numbers without a unit, of its least
// extent.
#include <math.h>

#include "defs/def_features.h"
#include "math/curve.h"
#include "scene/scene_internal.h"
#include "treacle/materials.h"

// A liquid or a stream.
typedef struct tense_liquid {
    const treacle_shape* shape;
    int material;
    double speed; // m/s; NAN: what gravity gives it
} tense_liquid;

static double length_of(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The fastest that a curve says at its keys.
static double fastest(const treacle_curve* curve) {
    double most = 0.0;
    for (int i = 0; i < curve->count; ++i) {
        most = fmax(most, fabs(curve->keys[i].value[0]));
    }
    return most;
}

static tense_liquid liquid_at(const treacle_sim_def* sim, int index) {
    if (index < sim->liquid_count) {
        const treacle_liquid_def* liquid = &sim->liquids[index];
        return (tense_liquid){liquid->shape, liquid->material, NAN};
    }
    const treacle_emitter_def* from = &sim->emitters[index - sim->liquid_count];
    double speed = from->rate.count > 0 ? NAN : fastest(&from->speed);
    return (tense_liquid){from->shape, from->material, speed};
}

// m, the least extent along an axis that the domain has.
static treacle_status find_length(const treacle_scene* scene, const treacle_shape* def,
                                  double* out) {
    const treacle_domain_def* domain = &scene->root.sim.domain;
    int flat = scene_flat_axis(domain);
    shape* s = NULL;
    TREACLE_TRY(shape_create_silent(scene->ctx, def, &s));
    box3 box = scene_box_inside(domain, s);
    shape_destroy(s);
    *out = INFINITY;
    for (int a = 0; a < 3; ++a) {
        *out = a == flat ? *out : fmin(*out, box.high.at[a] - box.low.at[a]);
    }
    *out = box3_is_empty(box) || !(*out > 0.0) ? NAN : *out;
    return TREACLE_OK;
}

// What falls for its own length: freely, or as viscosity allows.
static double fall_speed(double gravity, double density, double viscosity, double length) {
    double free = sqrt(gravity * length);
    double thick = density * gravity * length * length / viscosity;
    return viscosity > 0.0 ? fmin(free, thick) : free;
}

static void fill_numbers(const treacle_sim_def* sim, const tense_liquid* liquid,
                         treacle_tension_estimate* out) {
    const treacle_material_def* m = &sim->materials[liquid->material];
    double sigma = out->tension > 0.0 ? out->tension : out->known > 0.0 ? out->known : NAN;
    double g[3], length = out->length, mu = treacle_material_viscosity(m, 1.0);
    curve_eval(&sim->gravity, 0.0, g);
    double gravity = length_of(g);
    treacle_material_def with = *m;
    with.surface_tension = sigma;
    out->capillary = sqrt(sigma / (m->density * gravity));
    out->bond = m->density * gravity * length * length / sigma;
    out->speed = isnan(liquid->speed) ? fall_speed(gravity, m->density, mu, length) : liquid->speed;
    out->capillarity = mu * out->speed / sigma;
    out->ohnesorge = mu / sqrt(m->density * sigma * length);
    out->ratio = isnan(sigma) ? NAN : def_tension_ratio(sim, &with);
    out->is_left_out = out->tension > 0.0 && out->ratio < DEF_TENSION_LEAST;
}

treacle_status treacle_scene_tension(const treacle_scene* scene, int index,
                                     treacle_tension_estimate* out) {
    const treacle_sim_def* sim = &scene->root.sim;
    *out = (treacle_tension_estimate){.length = NAN};
    if (scene->diags.errors > 0 || index < 0 || index >= sim->liquid_count + sim->emitter_count) {
        return check_fail(scene->ctx, TREACLE_ERR_USAGE,
                          "there is no liquid or emitter %d in this scene, or it has errors",
                          index);
    }
    tense_liquid liquid = liquid_at(sim, index);
    const treacle_material_def* m = &sim->materials[liquid.material];
    const treacle_material_preset* preset =
        m->name != NULL ? treacle_material_preset_find(m->name) : NULL;
    out->material = liquid.material;
    out->tension = m->surface_tension;
    out->known = preset != NULL ? preset->surface_tension : 0.0;
    TREACLE_TRY(find_length(scene, liquid.shape, &out->length));
    fill_numbers(sim, &liquid, out);
    return TREACLE_OK;
}
