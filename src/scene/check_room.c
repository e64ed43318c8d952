// Whether there is room: liquid that a solid swallows, solids that fill the domain, liquids below a
// cell, liquids in each other. Nothing of it is an error, and all of it is hardly meant: warnings.
//
// Shares are counted at the middles of a lattice of points, with solids where they are at the
// start.
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "geometry/shape.h"
#include "math/curve.h"
#include "scene/bind.h"
#include "scene/scene_internal.h"

enum { SAMPLES = 16, FLAT_SAMPLES = 64, RAYS = 64 };
enum { PAIRS_MAX = 2000 }; // of shapes that are compared: scenes may have thousands

static const double swallowed = 0.5; // fraction of a liquid that is said to be inside a solid
static const double filled = 0.995;  // fraction of the domain that solids may fill
static const double shared = 0.02;   // fraction of a liquid that another one may take

// Shapes of the scene, made once.
typedef struct room {
    binder* b;
    const scene_node* root;
    int solid_count, liquid_count;
    shape** solids; // NULL: not where its shape is at the start, or not to be looked at
    shape** liquids;
    int pairs; // that were compared
} room;

static bool is_zero_at_start(const treacle_curve* curve) {
    double value[3] = {0};
    if (curve->count > 0) {
        curve_eval(curve, 0.0, value);
    }
    return !(vec3_length(vec3_from(value)) > 0.0);
}

static treacle_status make_shapes(room* r) {
    const treacle_sim_def* sim = &r->b->root->sim;
    treacle_context* ctx = r->b->ctx;
    TREACLE_TRY(alloc_zero(ctx, (size_t)r->solid_count, sizeof(shape*), "solids of the scene",
                           (void**)&r->solids));
    TREACLE_TRY(alloc_zero(ctx, (size_t)r->liquid_count, sizeof(shape*), "liquids of the scene",
                           (void**)&r->liquids));
    for (int i = 0; i < r->solid_count; ++i) {
        const treacle_solid_def* def = &sim->solids[i];
        if (is_zero_at_start(&def->position) && is_zero_at_start(&def->rotation)) {
            TREACLE_TRY(shape_create_silent(ctx, def->shape, &r->solids[i]));
        }
    }
    for (int i = 0; i < r->liquid_count; ++i) {
        TREACLE_TRY(shape_create_silent(ctx, sim->liquids[i].shape, &r->liquids[i]));
    }
    return TREACLE_OK;
}

static void free_shapes(room* r) {
    for (int i = 0; r->solids != NULL && i < r->solid_count; ++i) {
        shape_destroy(r->solids[i]);
    }
    for (int i = 0; r->liquids != NULL && i < r->liquid_count; ++i) {
        shape_destroy(r->liquids[i]);
    }
    alloc_free(r->b->ctx, r->solids, (size_t)r->solid_count * sizeof(shape*));
    alloc_free(r->b->ctx, r->liquids, (size_t)r->liquid_count * sizeof(shape*));
}

// A lattice in a box; one layer of it where the domain is flat.
typedef struct lattice {
    box3 box;
    int n[3];
} lattice;

static lattice lattice_of(const treacle_domain_def* domain, const shape* s) {
    lattice out = {.box = scene_box_inside(domain, s)};
    int flat = scene_flat_axis(domain);
    for (int a = 0; a < 3; ++a) {
        out.n[a] = box3_is_empty(out.box) ? 0 : flat < 0 ? SAMPLES : a == flat ? 1 : FLAT_SAMPLES;
    }
    return out;
}

static int lattice_count(const lattice* l) {
    return l->n[0] * l->n[1] * l->n[2];
}

static vec3 lattice_point(const lattice* l, int i) {
    int at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / (l->n[0] * l->n[1])};
    vec3 x;
    for (int a = 0; a < 3; ++a) {
        double fraction = (at[a] + 0.5) / l->n[a];
        x.at[a] = l->box.low.at[a] + fraction * (l->box.high.at[a] - l->box.low.at[a]);
    }
    return x;
}

// Fraction of `s` (NULL: of the domain) that lies in the other, or outside of it.
static double fraction_in(room* r, const shape* s, const shape* other, bool inside_out) {
    const treacle_domain_def* domain = &r->b->root->sim.domain;
    lattice l = lattice_of(domain, s);
    bool is_apart = box3_is_empty(box3_intersect(l.box, shape_bounds(other)));
    int all = 0, in = 0;
    if ((is_apart && !inside_out) || r->pairs >= PAIRS_MAX) {
        return 0.0;
    }
    r->pairs += 1;
    for (int i = 0; i < lattice_count(&l); ++i) {
        vec3 x = lattice_point(&l, i);
        if (s == NULL || shape_is_inside(s, x)) {
            all += 1;
            in += shape_is_inside(other, x) != inside_out;
        }
    }
    return all > 0 ? (double)in / all : 0.0;
}

// Solids ---------------------------------------------------------------------

static treacle_status check_solid_rooms(room* r) {
    schema_path list = {.name = "solids"};
    const scene_node* nodes = scene_node_find(r->root, "solids");
    for (int i = 0; i < r->solid_count; ++i) {
        const treacle_solid_def* def = &r->b->root->sim.solids[i];
        if (r->solids[i] == NULL ||
            !(fraction_in(r, NULL, r->solids[i], def->inside_out) > filled)) {
            continue;
        }
        schema_path path = {.up = &list, .name = def->name};
        const scene_node* node = scene_node_find(nodes, def->name);
        TREACLE_TRY(bind_warning(r->b, bind_place(node, "shape"), &path,
                                 "the solid fills the whole domain, so that no liquid has room: %s",
                                 def->inside_out
                                     ? "its inside is elsewhere, or 'inside_out' is not meant"
                                     : "for a container say 'inside_out: true'"));
        shape_destroy(r->solids[i]); // enough is said of it
        r->solids[i] = NULL;
    }
    return TREACLE_OK;
}

// Warns once, of the first solid that swallows it.
static treacle_status check_swallowed(room* r, const shape* s, scene_place place,
                                      const schema_path* path) {
    for (int i = 0; i < r->solid_count && r->pairs < PAIRS_MAX; ++i) {
        const treacle_solid_def* def = &r->b->root->sim.solids[i];
        double fraction =
            r->solids[i] == NULL ? 0.0 : fraction_in(r, s, r->solids[i], def->inside_out);
        if (fraction > swallowed) {
            return bind_warning(
                r->b, place, path, "%.0f %% of the shape is inside the solid '%s' and left out: %s",
                100.0 * fraction, def->name,
                def->inside_out ? "it lies outside of that container; move one of them"
                                : "if that is a container, say 'inside_out: true' of it");
        }
    }
    return TREACLE_OK;
}

// Liquids --------------------------------------------------------------------

static double volume_of(const room* r, const shape* s) {
    lattice l = lattice_of(&r->b->root->sim.domain, s);
    int flat = scene_flat_axis(&r->b->root->sim.domain);
    double volume = 1.0;
    int in = 0;
    for (int i = 0; i < lattice_count(&l); ++i) {
        in += shape_is_inside(s, lattice_point(&l, i));
    }
    for (int a = 0; a < 3; ++a) {
        volume *= a == flat ? r->b->root->sim.domain.cell : l.box.high.at[a] - l.box.low.at[a];
    }
    return in > 0 ? volume * in / lattice_count(&l) : 0.0;
}

// A cell's worth of liquid at least, or particles are few, or none, by chance.
static treacle_status check_size(const room* r, const shape* s, scene_place place,
                                 const schema_path* path) {
    const treacle_sim_def* sim = &r->b->root->sim;
    double cell = sim->domain.cell, cells = volume_of(r, s) / (cell * cell * cell);
    if (!(cells > 0.0 && cells < 1.0)) {
        return TREACLE_OK; // what has no volume at all was told before
    }
    return bind_warning(r->b, place, path,
                        "the shape is smaller than a cell: it brings about %.2g particles; choose "
                        "a smaller 'cell', at most %.3g m",
                        cells * sim->particles.per_cell, cell * cbrt(cells));
}

static treacle_status check_shared(room* r, int i, scene_place place, const schema_path* path) {
    for (int k = 0; k < i && r->pairs < PAIRS_MAX; ++k) {
        const treacle_liquid_def* defs = r->b->root->sim.liquids;
        double fraction = fraction_in(r, r->liquids[i], r->liquids[k], false);
        if (fraction > shared) {
            return bind_warning(r->b, place, path,
                                "%.0f %% of the shape lies in liquids[%d], which comes first and "
                                "takes that place%s; cut one out of the other by a 'difference', "
                                "or put this one first",
                                100.0 * fraction, k,
                                defs[i].material == defs[k].material ? ""
                                                                     : " with its own material");
        }
    }
    return TREACLE_OK;
}

static treacle_status check_liquid_rooms(room* r) {
    schema_path list = {.name = "liquids"};
    const scene_node* nodes = scene_node_find(r->root, "liquids");
    for (int i = 0; i < r->liquid_count; ++i) {
        schema_path path = {.up = &list, .index = i};
        scene_place place = bind_place(scene_node_at(nodes, i), "shape");
        TREACLE_TRY(check_swallowed(r, r->liquids[i], place, &path));
        TREACLE_TRY(check_size(r, r->liquids[i], place, &path));
        TREACLE_TRY(check_shared(r, i, place, &path));
    }
    return TREACLE_OK;
}

// Emitters -------------------------------------------------------------------

// Cells that the nozzle's shadow along the stream covers, by rays.
static double shadow_cells(const treacle_domain_def* domain, const shape* s, vec3 along) {
    box3 box = scene_box_inside(domain, s);
    int flat = scene_flat_axis(domain), rows = flat >= 0 ? 1 : RAYS, hits = 0;
    if (box3_is_empty(box)) {
        return 0.0;
    }
    vec3 other = {{0.0, 0.0, 0.0}}, middle = vec3_scale(0.5, vec3_add(box.low, box.high));
    other.at[flat >= 0 ? flat : fabs(along.at[0]) < 0.6 ? 0 : 1] = 1.0;
    vec3 u = vec3_normalise(vec3_cross(along, other)), v = vec3_cross(along, u);
    double reach = 0.5 * vec3_length(vec3_sub(box.high, box.low)), width = 2.0 * reach / RAYS;
    for (int i = 0; i < RAYS * rows; ++i) {
        double a = width * (i % RAYS + 0.5) - reach;
        double b = rows == 1 ? 0.0 : width * (i / RAYS + 0.5) - reach;
        vec3 x = vec3_add_scaled(vec3_add_scaled(middle, a, u), b, v);
        shape_ray ray = {vec3_add_scaled(x, -reach, along), along, 0.0, 2.0 * reach};
        hits += shape_is_met(s, &ray);
    }
    double w = width / domain->cell;
    return rows == 1 ? hits * w : hits * w * w;
}

static treacle_status check_emitter_room(room* r, const treacle_emitter_def* def, const shape* s,
                                         scene_place place, const schema_path* path) {
    const treacle_domain_def* domain = &r->b->root->sim.domain;
    double cells = shadow_cells(domain, s, vec3_normalise(vec3_from(def->direction)));
    double root = scene_flat_axis(domain) >= 0 ? cells : sqrt(cells);
    if (cells > 0.0 && cells < 1.0) {
        TREACLE_TRY(bind_warning(r->b, place, path,
                                 "the nozzle is narrower than a cell: few particles come out of "
                                 "it, or none; choose a smaller 'cell', at most %.3g m",
                                 domain->cell * root));
    }
    return check_swallowed(r, s, place, path);
}

static treacle_status check_emitter_rooms(room* r) {
    schema_path list = {.name = "emitters"};
    const scene_node* nodes = scene_node_find(r->root, "emitters");
    for (int i = 0; i < r->b->root->sim.emitter_count; ++i) {
        const treacle_emitter_def* def = &r->b->root->sim.emitters[i];
        schema_path path = {.up = &list, .index = i};
        shape* s = NULL;
        TREACLE_TRY(shape_create_silent(r->b->ctx, def->shape, &s));
        treacle_status status =
            check_emitter_room(r, def, s, bind_place(scene_node_at(nodes, i), "shape"), &path);
        shape_destroy(s);
        TREACLE_TRY(status);
    }
    return TREACLE_OK;
}

treacle_status bind_check_room(binder* b, const scene_node* root) {
    TREACLE_ASSERT(b->is_domain_known);
    const treacle_sim_def* sim = &b->root->sim;
    room r = {b, root, sim->solid_count, sim->liquid_count, NULL, NULL, 0};
    treacle_status status = make_shapes(&r);
    if (status == TREACLE_OK) {
        status = check_solid_rooms(&r);
    }
    if (status == TREACLE_OK) {
        status = check_liquid_rooms(&r);
    }
    if (status == TREACLE_OK) {
        status = check_emitter_rooms(&r);
    }
    free_shapes(&r);
    return status;
}
