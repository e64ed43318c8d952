// What no single key can tell: whether the parts of a scene fit together.
#include <math.h>
#include <string.h>

#include "geometry/shape.h"
#include "math/field.h"
#include "math/limits.h"
#include "scene/bind.h"
#include "scene/scene_internal.h"

enum {
    PERIOD_CELLS = 16,
    ROUGH_SAMPLES = 4,   // find most shapes; ...
    VOLUME_SAMPLES = 24, // ... thin ones need more
    PLANE_SAMPLES = 64,  // along each axis of a flat scene
    FIELD_SAMPLES = 5,   // along each axis
};

static const double most_cells = 1 << 20;  // along an axis
static const double size_tolerance = 1e-4; // cells; 0.3 / 0.1 is not 3
static const double smallest_cell = 1e-9;  // m
static const char* const axis_names = "xyz";

// Domain ---------------------------------------------------------------------

typedef struct domain_check {
    const scene_node* map;
    scene_domain* said; // sizes become whole numbers of cells
    treacle_domain_def* def;
    const schema_path* path;
    int cells[3];
} domain_check;

// The place of one component of `size`; that of the cell, if it lies on top of it.
static scene_place size_place(const domain_check* check, int a) {
    const scene_node* size = scene_node_find(check->map, "size");
    const scene_node* part = scene_node_at(size, a);
    scene_place place = part == NULL ? size->place : part->place;
    const scene_node* cell = scene_node_find(check->map, "cell");
    cell = cell == NULL ? scene_node_find(check->map, "resolution") : cell;
    const scene_file *under = place.file, *over = cell->place.file;
    bool is_over =
        over->is_set ? over->order > under->order : !under->is_set && over->order < under->order;
    return is_over ? cell->place : place;
}

// The size becomes that of the cells there are, as the scene's text will tell it.
static treacle_status round_size(binder* b, domain_check* check, int a) {
    double said = check->said->size[a], cell = check->def->cell;
    double taken = check->cells[a] * cell;
    check->said->size[a] = taken;
    return bind_note(b, size_place(check, a), check->path,
                     "the size along %c, %.9g m, is not a multiple of the cell, %.9g m: %d cells, "
                     "%.9g m, are taken",
                     axis_names[a], said, cell, check->cells[a], taken);
}

static treacle_status count_cells(binder* b, domain_check* check, int a) {
    double size = check->said->size[a], cell = check->def->cell;
    double exact = size / cell, whole = floor(exact + 0.5);
    if (whole > most_cells) {
        return bind_error(b, size_place(check, a), check->path,
                          "%.0f cells along %c are too many (at most %.0f): choose a larger 'cell' "
                          "or a smaller 'size'",
                          whole, axis_names[a], most_cells);
    }
    bool is_whole = fabs(exact - whole) <= size_tolerance;
    if (size > 0.0 && (is_whole ? whole < 1.0 : whole < 2.0)) {
        return bind_error(
            b, size_place(check, a), check->path,
            "the size along %c, %.9g m, is %.3g cells of %.9g m: one cell, %.9g m, or "
            "0 makes the scene flat (2D), and two or more do not",
            axis_names[a], size, exact, cell, cell);
    }
    check->cells[a] = whole < 1.0 ? 1 : (int)whole;
    return size > 0.0 && !is_whole ? round_size(b, check, a) : TREACLE_OK;
}

static treacle_status check_flat(binder* b, domain_check* check) {
    int flat = 0;
    for (int a = 0; a < 3; ++a) {
        bool is_flat = check->cells[a] == 1;
        flat += is_flat;
        b->flat_axis = is_flat ? a : b->flat_axis;
        check->def->size[a] =
            is_flat && check->said->size[a] == 0.0 ? 0.0 : check->cells[a] * check->def->cell;
        // What lies at the plane of the picture shall lie in the middle of its one layer of cells.
        bool is_plane = check->said->size[a] == 0.0;
        check->def->origin[a] = check->said->origin[a] - (is_plane ? 0.5 * check->def->cell : 0.0);
    }
    return flat > 1 ? bind_error(b, bind_place(check->map, "size"), check->path,
                                 "%d axes are flat (at most one cell thick): only one can be", flat)
                    : TREACLE_OK;
}

treacle_status bind_check_sides(binder* b, const scene_node* map, void* item,
                                const schema_path* path) {
    static const char* const names[3][2] = {
        {"left", "right"}, {"bottom", "top"}, {"back", "front"}};
    treacle_side sides[3][2];
    memcpy(sides, item, sizeof(sides));
    for (int a = 0; a < 3; ++a) {
        int periodic = sides[a][0] == TREACLE_SIDE_PERIODIC ? 0 : 1;
        bool is_one = sides[a][0] != sides[a][1] && sides[a][periodic] == TREACLE_SIDE_PERIODIC;
        if (is_one) {
            TREACLE_TRY(bind_error(b, bind_place(map, names[a][periodic]), path,
                                   "'%s' is periodic and '%s' is not: both must be, or none",
                                   names[a][periodic], names[a][1 - periodic]));
        }
    }
    return TREACLE_OK;
}

static treacle_status check_period(binder* b, const domain_check* check, int a) {
    bool is_periodic = check->said->sides[a][0] == TREACLE_SIDE_PERIODIC &&
                       check->said->sides[a][1] == TREACLE_SIDE_PERIODIC;
    if (b->flat_axis == a || !is_periodic || check->cells[a] % PERIOD_CELLS == 0) {
        return TREACLE_OK;
    }
    int above = (check->cells[a] / PERIOD_CELLS + 1) * PERIOD_CELLS;
    return bind_error(b, size_place(check, a), check->path,
                      "a periodic axis must be a multiple of %d cells wide, and %c has %d: choose "
                      "%d cells, %.9g m",
                      PERIOD_CELLS, axis_names[a], check->cells[a], above,
                      above * check->def->cell);
}

static double longest(const double size[3]) {
    return fmax(size[0], fmax(size[1], size[2]));
}

static treacle_status check_cell(binder* b, const domain_check* check) {
    if (!(longest(check->said->size) > 0.0)) {
        return bind_error(b, bind_place(check->map, "size"), check->path,
                          "the size must not be 0 along all axes");
    }
    if (check->def->cell < smallest_cell) {
        return bind_error(b, bind_place(check->map, "cell"), check->path,
                          "a cell of %.9g m is too small: at least %g m", check->def->cell,
                          smallest_cell);
    }
    return TREACLE_OK;
}

treacle_status bind_check_domain(binder* b, const scene_node* map, void* item,
                                 const schema_path* path) {
    const int errors = b->diags->errors;
    scene_domain* said = item;
    domain_check check = {.map = map, .said = said, .def = &b->root->sim.domain, .path = path};
    bool has_cell = scene_node_find(map, "cell") != NULL;
    check.def->cell = has_cell ? said->cell : longest(said->size) / said->resolution;
    memcpy(check.def->sides, said->sides, sizeof(said->sides));
    memcpy(check.def->separation, said->separation, sizeof(said->separation));
    memcpy(check.def->slip_length, said->slip_length, sizeof(said->slip_length));
    memcpy(check.def->surface_velocity, said->surface_velocity, sizeof(said->surface_velocity));
    memcpy(check.def->contact_angle, said->contact_angle, sizeof(said->contact_angle));
    TREACLE_TRY(check_cell(b, &check));
    const bool is_cell_right = b->diags->errors == errors;
    for (int a = 0; a < 3 && is_cell_right; ++a) {
        TREACLE_TRY(count_cells(b, &check, a));
    }
    if (b->diags->errors == errors) {
        TREACLE_TRY(check_flat(b, &check));
    }
    b->is_domain_known = b->diags->errors == errors;
    for (int a = 0; a < 3 && b->is_domain_known; ++a) {
        TREACLE_TRY(check_period(b, &check, a));
    }
    return TREACLE_OK;
}

// Small sections -------------------------------------------------------------

treacle_status bind_check_viscosity(binder* b, const scene_node* map, void* item,
                                    const schema_path* path) {
    const treacle_viscosity_def* def = item;
    if (def->surface == TREACLE_VISCOSITY_NICHOLS_HIRT && b->is_domain_known && b->flat_axis < 0) {
        return bind_error(b, bind_place(map, "surface"), path,
                          "'surface: nichols-hirt' is for flat scenes");
    }
    return TREACLE_OK;
}

static treacle_status check_bounded(binder* b, const scene_node* map, const treacle_shape* def,
                                    const schema_path* path) {
    shape* s = NULL;
    if (!b->is_domain_known) {
        return TREACLE_OK; // then the shape was not checked as a whole
    }
    TREACLE_TRY(shape_create_silent(b->ctx, def, &s));
    box3 bounds = shape_bounds(s);
    shape_destroy(s);
    if (vec3_is_finite(bounds.low) && vec3_is_finite(bounds.high)) {
        return TREACLE_OK;
    }
    return bind_error(b, bind_place(map, "shape"), path,
                      "the shape has no end: a plane must be cut off by an 'intersection'");
}

treacle_status bind_check_emitter(binder* b, const scene_node* map, void* item,
                                  const schema_path* path) {
    const treacle_emitter_def* emitter = item;
    if (b->flat_axis >= 0 && emitter->direction[b->flat_axis] != 0.0) {
        return bind_error(b, bind_place(map, "direction"), path,
                          "the domain is flat along %c, so the direction must have 0 there",
                          axis_names[b->flat_axis]);
    }
    return check_bounded(b, map, emitter->shape, path);
}

treacle_status bind_check_drop(binder* b, const scene_node* map, void* item,
                               const schema_path* path) {
    const treacle_drop_def* drop = item;
    if (drop->places.count > 0 && drop->places.keys[0].time < 0.0) {
        return bind_error(b, bind_place(map, "places"), path,
                          "a drop at %g s, before the start: expected times of 0 or more",
                          drop->places.keys[0].time);
    }
    return check_bounded(b, map, drop->shape, path);
}

treacle_status bind_check_solid(binder* b, const scene_node* map, void* item,
                                const schema_path* path) {
    const treacle_solid_def* def = item;
    bool has_length = scene_node_find(map, "slip_length") != NULL;
    if (has_length != (def->wall == TREACLE_WALL_SLIP_LENGTH)) {
        return bind_error(b, bind_place(map, has_length ? "slip_length" : "wall"), path,
                          "'slip_length' and 'wall: slip-length' belong together: one is missing");
    }
    if (scene_node_find(map, "contact") != NULL && def->temperature.count == 0) {
        return bind_error(b, bind_place(map, "contact"), path,
                          "'contact' goes with a 'temperature' of the solid, and there is none");
    }
    return TREACLE_OK;
}

treacle_status bind_check_body(binder* b, const scene_node* map, void* item,
                               const schema_path* path) {
    const treacle_body_def* def = item;
    bool has_length = scene_node_find(map, "slip_length") != NULL;
    if (has_length != (def->wall == TREACLE_WALL_SLIP_LENGTH)) {
        return bind_error(b, bind_place(map, has_length ? "slip_length" : "wall"), path,
                          "'slip_length' and 'wall: slip-length' belong together: one is missing");
    }
    return check_bounded(b, map, def->shape, path);
}

// The whole ------------------------------------------------------------------

// Whether a shape of a flat scene ends at the plane of the picture, which is where all particles
// are: a box from z = 0 up has none.
static bool is_beside_plane(const treacle_domain_def* domain, const shape* s, const box3* box) {
    int flat = scene_flat_axis(domain), n = PLANE_SAMPLES;
    int c = (flat + 1) % 3, d = (flat + 2) % 3;
    for (int i = 0; i < n * n; ++i) {
        vec3 x = {{0.0}};
        x.at[flat] = domain->origin[flat] + 0.5 * domain->cell;
        double u = (i % n + 0.5) / n, v = ((double)(i / n) + 0.5) / n;
        x.at[c] = box->low.at[c] + u * (box->high.at[c] - box->low.at[c]);
        x.at[d] = box->low.at[d] + v * (box->high.at[d] - box->low.at[d]);
        if (shape_is_inside(s, x)) {
            return false;
        }
    }
    return true;
}

static treacle_status check_placement(binder* b, const scene_node* map, const treacle_shape* def,
                                      const schema_path* path, const char* effect) {
    shape* s = NULL;
    TREACLE_TRY(shape_create_silent(b->ctx, def, &s));
    box3 box = scene_box_inside(&b->root->sim.domain, s);
    bool is_outside = box3_is_empty(box);
    bool is_thin = !is_outside && !(shape_volume_in(s, &box, ROUGH_SAMPLES) > 0.0) &&
                   !(shape_volume_in(s, &box, VOLUME_SAMPLES) > 0.0);
    const treacle_domain_def* domain = &b->root->sim.domain;
    int flat = scene_flat_axis(domain);
    bool is_beside = !is_outside && !is_thin && flat >= 0 && is_beside_plane(domain, s, &box);
    shape_destroy(s);
    if (is_beside) {
        return bind_warning(b, bind_place(map, "shape"), path,
                            "the shape only touches the plane of the picture, %c = %.6g m: %s; let "
                            "it reach to both sides of it",
                            axis_names[flat], domain->origin[flat] + 0.5 * domain->cell, effect);
    }
    if (is_outside) {
        return bind_warning(b, bind_place(map, "shape"), path,
                            "the shape is outside of the domain: %s", effect);
    }
    if (is_thin) {
        return bind_warning(b, bind_place(map, "shape"), path,
                            "nothing of the shape was found in the domain: %s", effect);
    }
    return TREACLE_OK;
}

// A field of the scene, and where it counts.
typedef struct field_check {
    const scene_node* map;
    const char* key;
    const treacle_field* def;
    int components;
    const treacle_shape* shape; // NULL: the whole domain
    const schema_path* path;
    double most; // in SI
} field_check;

// The first of a lattice of points in the box and the shape at which the field is too large.
static bool find_bad_value(const field* f, box3 box, const shape* s, double most, vec3* out) {
    int n = FIELD_SAMPLES;
    for (int i = 0; i < n * n * n && !box3_is_empty(box); ++i) {
        int at[3] = {i % n, i / n % n, i / (n * n)};
        double value[3] = {0};
        for (int a = 0; a < 3; ++a) {
            double fraction = at[a] / (double)(n - 1);
            out->at[a] = box.low.at[a] + fraction * (box.high.at[a] - box.low.at[a]);
        }
        field_eval(f, *out, 0.0, value);
        double largest = fmax(fmax(fabs(value[0]), fabs(value[1])), fabs(value[2]));
        bool is_good = vec3_is_finite(vec3_from(value)) && largest <= most;
        if ((s == NULL || shape_is_inside(s, *out)) && !is_good) {
            return true;
        }
    }
    return false;
}

static treacle_status check_field(binder* b, const field_check* check) {
    if (check->def->kind != TREACLE_FIELD_EXPRESSION) {
        return TREACLE_OK;
    }
    const treacle_domain_def* domain = &b->root->sim.domain;
    shape* s = NULL;
    field f = {0};
    vec3 x = {0};
    bool is_bad = false;
    if (check->shape != NULL) {
        TREACLE_TRY(shape_create_silent(b->ctx, check->shape, &s));
    }
    treacle_status status = field_init(b->ctx, check->def, check->components, &f);
    if (status == TREACLE_OK) {
        is_bad = find_bad_value(&f, scene_box_inside(domain, s), s, check->most, &x);
        field_finish(&f);
    }
    shape_destroy(s);
    if (status == TREACLE_OK && is_bad) {
        return bind_error(b, bind_place(check->map, check->key), check->path,
                          "'%s' is not finite or above %g at [%.6g, %.6g, %.6g]", check->key,
                          check->most, x.at[0], x.at[1], x.at[2]);
    }
    return status;
}

static treacle_status check_liquids(binder* b, const scene_node* root) {
    schema_path list = {.name = "liquids"};
    const scene_node* nodes = scene_node_find(root, "liquids");
    for (int i = 0; i < b->root->sim.liquid_count; ++i) {
        const treacle_liquid_def* def = &b->root->sim.liquids[i];
        schema_path path = {.up = &list, .index = i};
        const scene_node* map = scene_node_at(nodes, i);
        field_check fields[] = {
            {map, "velocity", &def->velocity, 3, def->shape, &path, LIMIT_SPEED},
            {map, "temperature", &def->temperature, 1, def->shape, &path, LIMIT_TEMPERATURE},
            {map, "marker", &def->marker, 1, def->shape, &path, LIMIT_NUMBER},
            {map, "viscosity_factor", &def->viscosity_factor, 1, def->shape, &path, LIMIT_NUMBER},
        };
        TREACLE_TRY(check_placement(b, map, def->shape, &path, "it brings no liquid"));
        for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); ++k) {
            TREACLE_TRY(check_field(b, &fields[k]));
        }
    }
    return TREACLE_OK;
}

static treacle_status check_forces(binder* b, const scene_node* root) {
    schema_path list = {.name = "forces"};
    const scene_node* nodes = scene_node_find(root, "forces");
    for (int i = 0; i < b->root->sim.force_count; ++i) {
        const treacle_force_def* def = &b->root->sim.forces[i];
        schema_path path = {.up = &list, .index = i};
        field_check check = {
            scene_node_at(nodes, i), "acceleration", &def->acceleration, 3, def->shape, &path,
            LIMIT_ACCELERATION};
        TREACLE_TRY(check_field(b, &check));
    }
    return TREACLE_OK;
}

static treacle_status check_emitters(binder* b, const scene_node* root) {
    schema_path list = {.name = "emitters"};
    const scene_node* nodes = scene_node_find(root, "emitters");
    for (int i = 0; i < b->root->sim.emitter_count; ++i) {
        const treacle_emitter_def* def = &b->root->sim.emitters[i];
        schema_path path = {.up = &list, .index = i};
        const scene_node* map = scene_node_at(nodes, i);
        TREACLE_TRY(check_placement(b, map, def->shape, &path, "it brings no liquid"));
        double end = treacle_sim_def_frame_time(&b->root->sim, b->root->output.frames);
        if (def->start >= end) {
            TREACLE_TRY(bind_warning(b, bind_place(map, "start"), &path,
                                     "the emitter opens at %g s, after the last frame (%.6g s)",
                                     def->start, end));
        }
    }
    return TREACLE_OK;
}

static treacle_status check_sinks(binder* b, const scene_node* root) {
    schema_path list = {.name = "sinks"};
    const scene_node* nodes = scene_node_find(root, "sinks");
    for (int i = 0; i < b->root->sim.sink_count; ++i) {
        schema_path path = {.up = &list, .index = i};
        TREACLE_TRY(check_placement(b, scene_node_at(nodes, i), b->root->sim.sinks[i].shape, &path,
                                    "it absorbs nothing"));
    }
    return TREACLE_OK;
}

static treacle_status check_solids(binder* b, const scene_node* root) {
    schema_path list = {.name = "solids"};
    const scene_node* nodes = scene_node_find(root, "solids");
    for (int i = 0; i < b->root->sim.solid_count; ++i) {
        const treacle_solid_def* def = &b->root->sim.solids[i];
        schema_path path = {.up = &list, .name = def->name};
        bool is_moving = def->position.count > 0 || vec3_length(vec3_from(def->velocity)) > 0.0;
        if (!is_moving && !def->inside_out) {
            TREACLE_TRY(check_placement(b, scene_node_find(nodes, def->name), def->shape, &path,
                                        "it stops no liquid"));
        }
    }
    return TREACLE_OK;
}

static bool has_body(const treacle_sim_def* sim, const char* name, int except) {
    bool is_there = false;
    for (int i = 0; i < sim->body_count; ++i) {
        is_there = is_there || (i != except && strcmp(sim->bodies[i].name, name) == 0);
    }
    return is_there;
}

static treacle_status check_bodies(binder* b, const scene_node* root) {
    const treacle_sim_def* sim = &b->root->sim;
    schema_path list = {.name = "bodies"};
    const scene_node* nodes = scene_node_find(root, "bodies");
    for (int i = 0; i < sim->body_count; ++i) {
        const treacle_body_def* def = &sim->bodies[i];
        schema_path path = {.up = &list, .name = def->name};
        const scene_node* node = scene_node_find(nodes, def->name);
        TREACLE_TRY(check_placement(b, node, def->shape, &path, "no liquid meets it"));
        for (int j = 0; j < def->joint_count; ++j) {
            const char* to = def->joints[j].to;
            if (to != NULL && !has_body(sim, to, i)) {
                TREACLE_TRY(bind_error(b, bind_place(node, "joints"), &path,
                                       "a joint is to '%s': there is no other body of that name",
                                       to));
            }
        }
    }
    return TREACLE_OK;
}

static treacle_status add_default_material(binder* b) {
    void* block = NULL;
    TREACLE_TRY(scene_pool_take(b->pool, 1, sizeof(treacle_material_def), &block));
    *(treacle_material_def*)block = treacle_material_def_default();
    b->root->sim.materials = block;
    b->root->sim.material_count = 1;
    return TREACLE_OK;
}

static treacle_status warn_without_effect(binder* b, const scene_node* root) {
    const treacle_sim_def* sim = &b->root->sim;
    static const char* const flip_keys[] = {"flip_blend", "flip_from_viscosity"};
    for (int i = 0; i < 2; ++i) {
        const scene_node* node = scene_node_find(root, flip_keys[i]);
        if (node != NULL && sim->transfer != TREACLE_TRANSFER_FLIP) {
            TREACLE_TRY(bind_warning(b, node->place, NULL,
                                     "'%s' has no effect without 'transfer: flip'", flip_keys[i]));
        }
    }
    const scene_node* level_set = scene_node_find(root, "level_set");
    if (level_set != NULL && sim->motion != TREACLE_MOTION_EULERIAN) {
        TREACLE_TRY(bind_warning(b, level_set->place, NULL,
                                 "'level_set' has no effect without 'motion: eulerian'"));
    }
    bool is_full = sim->fill == TREACLE_FILL_ALL;
    if (sim->liquid_count == 0 && sim->emitter_count == 0 && sim->drop_count == 0 && !is_full) {
        TREACLE_TRY(bind_warning(b, root->place, NULL,
                                 "the scene has neither 'liquids' nor 'emitters': nothing will "
                                 "move"));
    }
    return TREACLE_OK;
}

treacle_status bind_check_root(binder* b, const scene_node* map, void* item,
                               const schema_path* path) {
    (void)item;
    (void)path;
    if (b->diags->errors > 0) {
        return TREACLE_OK; // half of a scene would only mislead
    }
    if (b->root->sim.material_count == 0) {
        TREACLE_TRY(add_default_material(b));
    }
    TREACLE_TRY(warn_without_effect(b, map));
    TREACLE_TRY(check_liquids(b, map));
    TREACLE_TRY(check_emitters(b, map));
    TREACLE_TRY(check_sinks(b, map));
    TREACLE_TRY(check_solids(b, map));
    TREACLE_TRY(check_bodies(b, map));
    TREACLE_TRY(check_forces(b, map));
    if (b->diags->errors > 0) {
        return TREACLE_OK;
    }
    TREACLE_TRY(bind_check_room(b, map));
    TREACLE_TRY(bind_check_effect(b, map));
    return bind_check_overlaps(b, map);
}
