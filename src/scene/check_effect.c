// What will not do what it seems to: temperatures that a law does not know, heat that changes
// nothing, walls that hold what is thrown at them. Warnings, each at its place in the file.
#include <math.h>

#include "base/alloc.h"
#include "geometry/shape.h"
#include "math/curve.h"
#include "scene/bind.h"
#include "scene/scene_internal.h"

enum { FLIGHT_STEPS = 4000, PARTS_MAX = 256 }; // scenes of more parts are not looked at

// Temperatures ---------------------------------------------------------------

static double least_of(const treacle_curve* table) {
    return table->keys[0].time;
}

static double most_of(const treacle_curve* table) {
    return table->keys[table->count - 1].time;
}

// log10 of a formula's viscosity in Pa s; INFINITY below the temperature at which it diverges.
static double formula_log10(const treacle_material_def* m, double t) {
    const treacle_viscosity_law* law = &m->viscosity_law;
    if (law->kind == TREACLE_LAW_VFT) {
        return t > law->c ? law->a + law->b / (t - law->c) : INFINITY;
    }
    double rise = t > 0.0 ? law->activation * (1.0 / t - 1.0 / law->reference) : INFINITY;
    return log10(m->viscosity) + rise / log(10.0);
}

// Ramps are made to be left at both ends; tables and formulas are not.
static treacle_status check_temperature(binder* b, scene_place place, const schema_path* path,
                                        int material, double t) {
    const treacle_material_def* m = &b->root->sim.materials[material];
    const treacle_viscosity_law* law = &m->viscosity_law;
    if (law->of != TREACLE_LAW_OF_TEMPERATURE) {
        return TREACLE_OK;
    }
    if (law->kind == TREACLE_LAW_TABLE && (t < least_of(&law->table) || t > most_of(&law->table))) {
        return bind_warning(b, place, path,
                            "%.6g K is outside of the table of the viscosity of '%s', %.6g K to "
                            "%.6g K: beyond its ends the viscosity does not change; add a point, "
                            "or correct the temperature",
                            t, m->name, least_of(&law->table), most_of(&law->table));
    }
    if (law->kind != TREACLE_LAW_VFT && law->kind != TREACLE_LAW_ARRHENIUS) {
        return TREACLE_OK;
    }
    double found = formula_log10(m, t);
    bool is_thick = found > log10(law->most);
    if (is_thick || found < log10(law->least)) {
        return bind_warning(b, place, path,
                            "at %.6g K the law of '%s' gives %s than '%s', %.3g Pa.s, where it is "
                            "cut off: correct the temperature, or give '%s' if that is meant",
                            t, m->name, is_thick ? "more" : "less", is_thick ? "most" : "least",
                            is_thick ? law->most : law->least, is_thick ? "most" : "least");
    }
    return TREACLE_OK;
}

// Whether the scene itself cuts the law off: then that is meant.
static bool is_cut_on_purpose(const scene_node* root, const char* material) {
    const scene_node* materials = scene_node_find(root, "materials");
    const scene_node* map = materials == NULL ? NULL : scene_node_find(materials, material);
    const scene_node* law = map == NULL ? NULL : scene_node_find(map, "viscosity_law");
    return law != NULL &&
           (scene_node_find(law, "most") != NULL || scene_node_find(law, "least") != NULL);
}

static treacle_status check_temperatures(binder* b, const scene_node* root) {
    const treacle_sim_def* sim = &b->root->sim;
    static const char* const lists[] = {"liquids", "emitters", "drops"};
    const int counts[] = {sim->liquid_count, sim->emitter_count, sim->drop_count};
    for (int k = 0; k < 3; ++k) {
        schema_path list = {.name = lists[k]};
        const scene_node* nodes = scene_node_find(root, lists[k]);
        for (int i = 0; i < counts[k]; ++i) {
            schema_path path = {.up = &list, .index = i};
            const treacle_field* field = k == 0 ? &sim->liquids[i].temperature : NULL;
            int material = k == 0   ? sim->liquids[i].material
                           : k == 1 ? sim->emitters[i].material
                                    : sim->drops[i].material;
            double t = k == 0   ? field->value_a[0]
                       : k == 1 ? sim->emitters[i].temperature
                                : sim->drops[i].temperature;
            bool is_known = field == NULL || field->kind == TREACLE_FIELD_CONSTANT;
            if (is_known && !is_cut_on_purpose(root, sim->materials[material].name)) {
                TREACLE_TRY(check_temperature(b, bind_place(scene_node_at(nodes, i), "temperature"),
                                              &path, material, t));
            }
        }
    }
    return TREACLE_OK;
}

// Heat -----------------------------------------------------------------------

static bool feels_heat(const treacle_material_def* m) {
    bool has_law = m->viscosity_law.kind != TREACLE_LAW_NONE &&
                   m->viscosity_law.of == TREACLE_LAW_OF_TEMPERATURE;
    bool melts = m->latent_heat > 0.0 && m->elastic.shear_modulus > 0.0;
    return has_law || melts || m->expansion > 0.0 || m->shrinkage.cooling > 0.0;
}

static treacle_status check_heat_effect(binder* b, const scene_node* root) {
    const treacle_sim_def* sim = &b->root->sim;
    bool is_felt = b->root->output.preview_by == TREACLE_PREVIEW_BY_TEMPERATURE;
    for (int i = 0; i < sim->material_count; ++i) {
        is_felt = is_felt || feels_heat(&sim->materials[i]);
    }
    const scene_node* sources = scene_node_find(root, "heat_sources");
    const scene_node* sides = scene_node_find(root, "heat_walls");
    const scene_node* place = sources != NULL ? sources : sides;
    bool is_there = sim->heat_source_count > 0 || sim->heat_wall_count > 0;
    return is_felt || !is_there || place == NULL
               ? TREACLE_OK
               : bind_warning(b, place->place, NULL,
                              "heat changes nothing of the flow: no material has a "
                              "'viscosity_law' of the temperature or an 'expansion'; give one, or "
                              "say 'output: {preview_by: temperature}' to look at it");
}

// Walls ----------------------------------------------------------------------

// What is thrown, and the boxes around all liquids and solids at the start, which may be in its
// way.
typedef struct throw_check {
    binder* b;
    const scene_node* root;
    int count;   // of boxes: liquids, then solids
    box3* boxes; // around a container: the whole domain
    int own;     // box of what is thrown, -1: none
    box3 box;    // around what is thrown
    vec3 velocity;
} throw_check;

// Whether it meets one of the boxes when its middle is at x.
static bool is_in_way(const throw_check* c, vec3 x) {
    bool is_in = false;
    for (int i = 0; i < c->count && !is_in; ++i) {
        is_in = i != c->own;
        for (int a = 0; a < 3; ++a) {
            double half = 0.5 * (c->box.high.at[a] - c->box.low.at[a]);
            is_in = is_in && c->boxes[i].low.at[a] - half <= x.at[a] &&
                    x.at[a] <= c->boxes[i].high.at[a] + half;
        }
    }
    return is_in;
}

// The wall (2 axis + high) that is within reach, or -1.
static int side_at(const treacle_domain_def* domain, vec3 x, double reach) {
    for (int side = 0; side < 6; ++side) {
        int a = side / 2;
        double from = x.at[a] - domain->origin[a];
        double gap = side % 2 == 0 ? from : domain->size[a] - from;
        if (domain->size[a] > 1.5 * domain->cell && gap < reach) {
            return side;
        }
    }
    return -1;
}

// The side that the middle of what is thrown flies against before it lands or meets something; -1:
// none.
static int side_hit(const throw_check* c, vec3 g) {
    const treacle_domain_def* domain = &c->b->root->sim.domain;
    vec3 x = vec3_scale(0.5, vec3_add(c->box.low, c->box.high)), v = c->velocity;
    double reach = 0.25 * vec3_length(vec3_sub(c->box.high, c->box.low));
    double speed = vec3_length(v), dt = 0.25 * domain->cell / speed;
    for (int i = 0; i < FLIGHT_STEPS && !is_in_way(c, x); ++i) {
        int side = side_at(domain, x, reach);
        if (side >= 0) {
            double sign = side % 2 == 0 ? -1.0 : 1.0;
            bool is_floor = sign * g.at[side / 2] > 0.5 * vec3_length(g);
            return !is_floor && sign * v.at[side / 2] > 0.5 * speed ? side : -1;
        }
        v = vec3_add_scaled(v, dt, g);
        x = vec3_add_scaled(x, dt, v);
    }
    return -1;
}

// Slow liquid creeps along a wall, and nobody is surprised: v^2 must be more than g times the size.
static treacle_status check_throw(const throw_check* c, scene_place place,
                                  const schema_path* path) {
    static const char* const names[] = {"left", "right", "bottom", "top", "back", "front"};
    const treacle_sim_def* sim = &c->b->root->sim;
    double gravity[3], speed = vec3_length(c->velocity);
    curve_eval(&sim->gravity, 0.0, gravity);
    vec3 g = vec3_from(gravity);
    double size = vec3_length(vec3_sub(c->box.high, c->box.low));
    bool is_fast = vec3_length(g) > 0.0 && speed * speed > vec3_length(g) * size;
    int side = is_fast && !box3_is_empty(c->box) ? side_hit(c, g) : -1;
    treacle_side kind = side < 0 ? TREACLE_SIDE_OPEN : sim->domain.sides[side / 2][side % 2];
    if (kind != TREACLE_SIDE_SLIP && kind != TREACLE_SIDE_NO_SLIP) {
        return TREACLE_OK;
    }
    return bind_warning(c->b, place, path,
                        "the liquid flies against the side '%s', which will hold it by suction: "
                        "say 'domain: {separation: on}' to let it come off again, or "
                        "'domain: {separation: off}' if that is meant",
                        names[side]);
}

static treacle_status box_of(const throw_check* c, const treacle_shape* def, box3* out) {
    shape* s = NULL;
    TREACLE_TRY(shape_create_silent(c->b->ctx, def, &s));
    *out = scene_box_inside(&c->b->root->sim.domain, s);
    shape_destroy(s);
    return TREACLE_OK;
}

static treacle_status find_boxes(throw_check* c) {
    const treacle_sim_def* sim = &c->b->root->sim;
    for (int i = 0; i < c->count; ++i) {
        const treacle_solid_def* solid =
            i < sim->liquid_count ? NULL : &sim->solids[i - sim->liquid_count];
        if (solid != NULL && solid->inside_out) {
            c->boxes[i] = scene_box_inside(&sim->domain, NULL);
        } else {
            TREACLE_TRY(
                box_of(c, solid == NULL ? sim->liquids[i].shape : solid->shape, &c->boxes[i]));
        }
    }
    return TREACLE_OK;
}

static treacle_status check_liquid_throws(throw_check* c) {
    const treacle_sim_def* sim = &c->b->root->sim;
    schema_path list = {.name = "liquids"};
    const scene_node* nodes = scene_node_find(c->root, "liquids");
    for (int i = 0; i < sim->liquid_count; ++i) {
        const treacle_field* velocity = &sim->liquids[i].velocity;
        schema_path path = {.up = &list, .index = i};
        c->own = i;
        c->box = c->boxes[i];
        c->velocity = vec3_from(velocity->value_a);
        if (velocity->kind == TREACLE_FIELD_CONSTANT) {
            TREACLE_TRY(check_throw(c, bind_place(scene_node_at(nodes, i), "velocity"), &path));
        }
    }
    return TREACLE_OK;
}

static treacle_status check_emitter_throws(throw_check* c) {
    const treacle_sim_def* sim = &c->b->root->sim;
    schema_path list = {.name = "emitters"};
    const scene_node* nodes = scene_node_find(c->root, "emitters");
    for (int i = 0; i < sim->emitter_count; ++i) {
        const treacle_emitter_def* def = &sim->emitters[i];
        schema_path path = {.up = &list, .index = i};
        double speed = 0.0;
        for (int k = 0; k < def->speed.count; ++k) {
            speed = fmax(speed, def->speed.keys[k].value[0]);
        }
        c->own = -1;
        c->velocity = vec3_scale(speed, vec3_normalise(vec3_from(def->direction)));
        TREACLE_TRY(box_of(c, def->shape, &c->box));
        TREACLE_TRY(check_throw(c, bind_place(scene_node_at(nodes, i), "speed"), &path));
    }
    return TREACLE_OK;
}

static treacle_status check_sides(binder* b, const scene_node* root) {
    const scene_node* domain = scene_node_find(root, "domain");
    bool is_said = domain != NULL && scene_node_find(domain, "separation") != NULL;
    const treacle_sim_def* sim = &b->root->sim;
    int parts = sim->liquid_count + sim->solid_count + sim->emitter_count;
    if (is_said || sim->flow == TREACLE_FLOW_NONE || sim->fill == TREACLE_FILL_ALL ||
        parts > PARTS_MAX) {
        return TREACLE_OK;
    }
    throw_check c = {.b = b, .root = root, .count = sim->liquid_count + sim->solid_count};
    size_t bytes = (size_t)c.count * sizeof(box3);
    TREACLE_TRY(
        alloc_array(b->ctx, (size_t)c.count, sizeof(box3), "the scene's boxes", (void**)&c.boxes));
    treacle_status status = find_boxes(&c);
    if (status == TREACLE_OK) {
        status = check_liquid_throws(&c);
    }
    if (status == TREACLE_OK) {
        status = check_emitter_throws(&c);
    }
    alloc_free(b->ctx, c.boxes, bytes);
    return status;
}

treacle_status bind_check_effect(binder* b, const scene_node* root) {
    TREACLE_TRY(check_temperatures(b, root));
    TREACLE_TRY(check_heat_effect(b, root));
    return check_sides(b, root);
}
