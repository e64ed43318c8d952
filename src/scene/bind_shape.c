// Shapes: from what a file says to the def's tree, and back for printing.
#include <math.h>
#include <string.h>

#include "geometry/shape.h"
#include "math/elementary.h"
#include "scene/bind.h"

static const double pi = 3.14159265358979323846;

// Checks ---------------------------------------------------------------------

static treacle_status corners_to_size(binder* b, const scene_node* map, shape_spec* spec,
                                      const schema_path* path) {
    for (int a = 0; a < 3; ++a) {
        if (spec->min[a] > spec->max[a]) {
            return bind_error(b, bind_place(map, "max"), path,
                              "'max' is below 'min' along %c: %g m and %g m", "xyz"[a],
                              spec -> max[a], spec -> min[a]);
        }
        spec->size[a] = spec->max[a] - spec->min[a];
        spec->centre[a] = 0.5 * (spec->min[a] + spec->max[a]);
    }
    return TREACLE_OK;
}

static treacle_status check_extent(binder* b, const scene_node* map, shape_spec* spec,
                                   const schema_path* path) {
    for (int a = 0; a < 3; ++a) {
        bool is_flat = b->is_domain_known && b->flat_axis == a;
        if (spec->size[a] > 0.0 || !b->is_domain_known) {
            continue;
        }
        if (!is_flat) {
            return bind_error(b, bind_place(map, "size"), path,
                              "the box is empty: it has no extent along %c", "xyz"[a]);
        }
        spec->size[a] = b->root->sim.domain.cell;
    }
    return TREACLE_OK;
}

treacle_status bind_shape_check_box(binder* b, const scene_node* map, void* item,
                                    const schema_path* path) {
    bool has_size = scene_node_find(map, "size") != NULL;
    bool has_centre = scene_node_find(map, "centre") != NULL;
    bool has_min = scene_node_find(map, "min") != NULL;
    bool has_max = scene_node_find(map, "max") != NULL;
    if ((has_min || has_max) && (has_size || has_centre)) {
        return bind_error(b, map->place, path,
                          "give either 'min' and 'max', or 'size' and 'centre', not both");
    }
    if (has_min != has_max) {
        return bind_error(b, map->place, path, "the key '%s' is missing beside '%s'",
                          has_min ? "max" : "min", has_min ? "min" : "max");
    }
    if (!has_min && !has_size) {
        return bind_error(b, map->place, path, "give 'min' and 'max', or 'size' and 'centre'");
    }
    if (has_min) {
        const int errors = b->diags->errors;
        TREACLE_TRY(corners_to_size(b, map, item, path));
        if (b->diags->errors != errors) {
            return TREACLE_OK;
        }
    }
    return check_extent(b, map, item, path);
}

treacle_status bind_shape_check_torus(binder* b, const scene_node* map, void* item,
                                      const schema_path* path) {
    const shape_spec* spec = item;
    if (spec->thickness > spec->radius) {
        return bind_error(b, bind_place(map, "thickness"), path,
                          "the tube's radius 'thickness' (%g m) is larger than the ring's 'radius' "
                          "(%g m)",
                          spec->thickness, spec->radius);
    }
    return TREACLE_OK;
}

// The angle whose sine and cosine are in the ratio s : c, s^2 + c^2 = 1. Newton's method on our own
// sine and cosine, so that the bits are the same everywhere.
static double angle_of(double s, double c) {
    if (s == 0.0 || c == 0.0) {
        return s == 0.0 ? (c < 0.0 ? pi : 0.0) : (s < 0.0 ? -0.5 * pi : 0.5 * pi);
    }
    double angle = fabs(c) > fabs(s) ? s / fabs(c) : (s > 0.0 ? 0.5 * pi : -0.5 * pi);
    angle = fabs(c) > fabs(s) && c < 0.0 ? (s > 0.0 ? pi : -pi) - angle : angle;
    for (int i = 0; i < 6; ++i) {
        angle += s * elementary_cos(angle) - c * elementary_sin(angle);
    }
    return angle;
}

treacle_status bind_shape_check_plane(binder* b, const scene_node* map, void* item,
                                      const schema_path* path) {
    shape_spec* spec = item;
    double largest =
        fmax(fabs(spec->normal[0]), fmax(fabs(spec->normal[1]), fabs(spec->normal[2])));
    if (!(largest > 0.0)) {
        return bind_error(b, bind_place(map, "normal"), path, "the normal must not be [0, 0, 0]");
    }
    double n[3], length = 0.0;
    for (int a = 0; a < 3; ++a) {
        n[a] = spec->normal[a] / largest;
        length += n[a] * n[a];
    }
    length = sqrt(length);
    double flat = sqrt(n[0] * n[0] + n[1] * n[1]);
    memcpy(spec->centre, spec->point, sizeof(spec->centre));
    // Y turned about x by the first angle, then about z by the second, is the normal.
    spec->rotate[0] = angle_of(n[2] / length, flat / length);
    spec->rotate[2] = flat > 0.0 ? angle_of(-n[0] / flat, n[1] / flat) : 0.0;
    return TREACLE_OK;
}

// Binding --------------------------------------------------------------------

static treacle_shape_kind kind_of(const scene_node* map) {
    for (int i = 0; i < SCHEMA_SHAPE_KINDS; ++i) {
        if (scene_node_find(map, schema_shape.keys[i].name) != NULL) {
            return (treacle_shape_kind)i;
        }
    }
    return TREACLE_SHAPE_BOX;
}

static void finish_shape(const shape_spec* spec, treacle_shape_kind kind, treacle_shape* out) {
    *out = treacle_shape_default(kind);
    memcpy(out->size, spec->size, sizeof(out->size));
    memcpy(out->rotate, spec->rotate, sizeof(out->rotate));
    out->radius = spec->radius;
    out->height = spec->height;
    out->thickness = spec->thickness;
    out->file = spec->file;
    out->frames = spec->frames;
    out->scale = spec->scale;
    out->child_count = spec->child_count;
    out->children = spec->children;
    for (int a = 0; a < 3; ++a) {
        out->move[a] = spec->centre[a] + spec->move[a];
    }
}

static treacle_status bind_one(binder* b, const scene_node* node, const schema_path* path,
                               treacle_shape* out) {
    shape_spec spec;
    schema_shape.init(&spec);
    TREACLE_TRY(bind_section(b, &schema_shape, node, &spec, path));
    if (node->kind != NODE_MAP) {
        return TREACLE_OK;
    }
    treacle_shape_kind kind = kind_of(node);
    const scene_node* rotate = scene_node_find(node, "rotate");
    const scene_node* plane = scene_node_find(node, "plane");
    bool has_normal =
        plane != NULL && plane->kind == NODE_MAP && scene_node_find(plane, "normal") != NULL;
    if (rotate != NULL && has_normal) {
        return bind_error(b, rotate->key_place, path,
                          "a plane is turned by its 'normal' or by 'rotate', not by both");
    }
    finish_shape(&spec, kind, out);
    return TREACLE_OK;
}

treacle_status bind_shapes(binder* b, const bind_slot* slot) {
    const scene_node* list = slot->node;
    if (list->kind != NODE_LIST || list->count == 0) {
        return bind_error(b, list->place, slot->path,
                          "expected a list of shapes, each beginning with '- '; got %s",
                          list->kind == NODE_LIST ? "an empty one" : scene_node_kind_text(list));
    }
    void* block = NULL;
    TREACLE_TRY(scene_pool_take(b->pool, (size_t)list->count, sizeof(treacle_shape), &block));
    int index = 0;
    for (const scene_node* n = list->first; n != NULL; n = n->next, ++index) {
        schema_path path = {.up = slot->path, .index = index};
        TREACLE_TRY(bind_one(b, n, &path, (treacle_shape*)block + index));
    }
    memcpy(slot->item + slot->key->offset, &block, sizeof(block));
    memcpy(slot->item + slot->key->count_offset, &list->count, sizeof(int));
    return TREACLE_OK;
}

static bool has_sequence(const treacle_shape* def) {
    bool is_set = def->kind >= TREACLE_SHAPE_UNION;
    bool has = def->kind == TREACLE_SHAPE_MESH && def->frames.fps > 0.0;
    for (int i = 0; is_set && i < def->child_count; ++i) {
        has = has || has_sequence(&def->children[i]);
    }
    return has;
}

// What only the whole tree shows: too deep, or nothing left.
static treacle_status check_tree(binder* b, const bind_slot* slot, const treacle_shape* def) {
    shape* s = NULL;
    treacle_status status = shape_create_silent(b->ctx, def, &s);
    if (status == TREACLE_ERR_SCENE || status == TREACLE_ERR_LIMIT) {
        return bind_error(b, slot->node->place, slot->path, "%s", treacle_context_error(b->ctx));
    }
    TREACLE_TRY(status);
    bool is_empty = box3_is_empty(shape_bounds(s));
    shape_destroy(s);
    return is_empty ? bind_error(b, slot->node->place, slot->path,
                                 "the shape is empty: its parts have nothing in common")
                    : TREACLE_OK;
}

treacle_status bind_shape(binder* b, const bind_slot* slot) {
    const int errors = b->diags->errors;
    void* block = NULL;
    TREACLE_TRY(scene_pool_take(b->pool, 1, sizeof(treacle_shape), &block));
    TREACLE_TRY(bind_one(b, slot->node, slot->path, block));
    const treacle_shape* def = block;
    bool may_change =
        (slot->key->flags & SCHEMA_MAY_CHANGE) != 0 && def->kind == TREACLE_SHAPE_MESH;
    if (b->diags->errors == errors && has_sequence(def) && !may_change) {
        TREACLE_TRY(bind_error(b, slot->node->place, slot->path,
                               "a sequence of meshes can only be the shape of a solid, and all of "
                               "it"));
    }
    if (b->diags->errors == errors && b->is_domain_known) {
        TREACLE_TRY(check_tree(b, slot, block));
    }
    memcpy(slot->item + slot->key->offset, &block, sizeof(block));
    return TREACLE_OK;
}
