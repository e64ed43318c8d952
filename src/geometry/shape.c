// A compiled shape is the tree in preorder: a node, then the subtrees of its children. `end` of a
// node is where its subtree ends, so the children of node i begin at i + 1 and at the `end` of the
// child before. Placements are multiplied out and sizes scaled: a leaf only moves and turns a
// point into its own frame. A mesh keeps the size of its file, so its points are scaled, too.
#include "geometry/shape.h"

#include "base/alloc.h"
#include "base/log.h"
#include "geometry/mesh_sequence.h"
#include "geometry/mesh_tree.h"
#include "math/mat3.h"

typedef struct node {
    treacle_shape_kind kind;
    int end;
    vec3 half;                        // m, of a box
    double radius, height, thickness; // m
    vec3 move;
    mat3 rotate; // from the leaf's frame to the world's
    double scale;
    mesh_tree* mesh; // of a mesh
    box3 bounds;     // of a mesh, in the world
} node;

struct shape {
    treacle_context* ctx;
    int node_count;
    node* nodes;
};

typedef struct placement {
    double scale;
    mat3 rotate;
    vec3 move;
} placement;

static bool is_set_operation(treacle_shape_kind kind) {
    return kind == TREACLE_SHAPE_UNION || kind == TREACLE_SHAPE_INTERSECTION ||
           kind == TREACLE_SHAPE_DIFFERENCE;
}

// Checks ------------------------------------------------------------------------------------------

static const char* kind_name(treacle_shape_kind kind) {
    switch (kind) {
    case TREACLE_SHAPE_BOX:
        return "box";
    case TREACLE_SHAPE_SPHERE:
        return "sphere";
    case TREACLE_SHAPE_CYLINDER:
        return "cylinder";
    case TREACLE_SHAPE_CAPSULE:
        return "capsule";
    case TREACLE_SHAPE_TORUS:
        return "torus";
    case TREACLE_SHAPE_PLANE:
        return "plane";
    case TREACLE_SHAPE_MESH:
        return "mesh";
    case TREACLE_SHAPE_UNION:
        return "union";
    case TREACLE_SHAPE_INTERSECTION:
        return "intersection";
    case TREACLE_SHAPE_DIFFERENCE:
        return "difference";
    }
    return NULL;
}

static treacle_status check_positive(treacle_context* ctx, const treacle_shape* def,
                                     const char* what, double value) {
    if (value > 0.0 && isfinite(value)) {
        return TREACLE_OK;
    }
    return check_fail(ctx, TREACLE_ERR_SCENE, "the %s of a %s is %g; it must be greater than 0",
                      what, kind_name(def->kind), value);
}

static treacle_status check_finite(treacle_context* ctx, const treacle_shape* def, const char* what,
                                   const double value[3]) {
    if (vec3_is_finite(vec3_from(value))) {
        return TREACLE_OK;
    }
    return check_fail(ctx, TREACLE_ERR_SCENE,
                      "%s of a %s is (%g, %g, %g); the numbers must be finite", what,
                      kind_name(def->kind), value[0], value[1], value[2]);
}

static treacle_status check_box(treacle_context* ctx, const treacle_shape* def) {
    for (int a = 0; a < 3; ++a) {
        static const char* const what[3] = {"size along x", "size along y", "size along z"};
        TREACLE_TRY(check_positive(ctx, def, what[a], def->size[a]));
    }
    return TREACLE_OK;
}

static treacle_status check_sizes(treacle_context* ctx, const treacle_shape* def) {
    TREACLE_TRY(check_positive(ctx, def, "scale", def->scale));
    TREACLE_TRY(check_finite(ctx, def, "move", def->move));
    TREACLE_TRY(check_finite(ctx, def, "rotate", def->rotate));
    if (def->kind == TREACLE_SHAPE_BOX) {
        return check_box(ctx, def);
    }
    if (def->kind == TREACLE_SHAPE_MESH && (def->file == NULL || def->file[0] == '\0')) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "a mesh has no file");
    }
    if (def->kind == TREACLE_SHAPE_PLANE || def->kind == TREACLE_SHAPE_MESH ||
        is_set_operation(def->kind)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(check_positive(ctx, def, "radius", def->radius));
    if (def->kind == TREACLE_SHAPE_CYLINDER || def->kind == TREACLE_SHAPE_CAPSULE) {
        return check_positive(ctx, def, "height", def->height);
    }
    if (def->kind == TREACLE_SHAPE_TORUS) {
        return check_positive(ctx, def, "thickness", def->thickness);
    }
    return TREACLE_OK;
}

// Checks the def at `depth` and counts its nodes into *count.
static treacle_status check_tree(treacle_context* ctx, const treacle_shape* def, int depth,
                                 int* count) {
    *count += 1;
    if (depth > SHAPE_DEPTH_MAX || *count > SHAPE_NODES_MAX) {
        return check_fail(ctx, TREACLE_ERR_LIMIT,
                          "a shape may have %d parts and %d set operations inside each other; this "
                          "one has more",
                          SHAPE_NODES_MAX, SHAPE_DEPTH_MAX);
    }
    if (kind_name(def->kind) == NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "there is no shape of kind %d", (int)def->kind);
    }
    TREACLE_TRY(check_sizes(ctx, def));
    if (!is_set_operation(def->kind)) {
        return TREACLE_OK;
    }
    if (def->child_count < 1 || def->children == NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "a %s has no children; at least one is expected",
                          kind_name(def->kind));
    }
    for (int i = 0; i < def->child_count; ++i) {
        TREACLE_TRY(check_tree(ctx, &def->children[i], depth + 1, count));
    }
    return TREACLE_OK;
}

treacle_status shape_check(treacle_context* ctx, const treacle_shape* def) {
    int count = 0;
    return check_tree(ctx, def, 0, &count);
}

// Bounds of a part --------------------------------------------------------------------------------

static double radius_about_y(vec3 p) {
    return sqrt(p.at[0] * p.at[0] + p.at[2] * p.at[2]);
}

// How far the leaf reaches from its centre along a world axis, of which `u` are the parts along the
// leaf's own axes. A disc about y reaches radius times the sine of the angle to y.
static double reach(const node* n, vec3 u) {
    double along = 0.5 * n->height * fabs(u.at[1]);
    double across = n->radius * radius_about_y(u);
    switch (n->kind) {
    case TREACLE_SHAPE_BOX:
        return n->half.at[0] * fabs(u.at[0]) + n->half.at[1] * fabs(u.at[1]) +
               n->half.at[2] * fabs(u.at[2]);
    case TREACLE_SHAPE_SPHERE:
        return n->radius;
    case TREACLE_SHAPE_CYLINDER:
        return along + across;
    case TREACLE_SHAPE_CAPSULE:
        return along + n->radius;
    case TREACLE_SHAPE_TORUS:
        return across + n->thickness;
    default:
        return INFINITY; // a plane
    }
}

static box3 leaf_bounds(const node* n) {
    if (n->kind == TREACLE_SHAPE_MESH) {
        return n->bounds;
    }
    vec3 reaches;
    for (int a = 0; a < 3; ++a) {
        reaches.at[a] = reach(n, mat3_row(&n->rotate, a));
    }
    return (box3){vec3_sub(n->move, reaches), vec3_add(n->move, reaches)};
}

// Compilation -------------------------------------------------------------------------------------

// The child's own placement, then the parent's: x = M + S R (m + s r x').
static placement placed_in(const placement* parent, const treacle_shape* def) {
    mat3 rotate = mat3_rotation(def->rotate);
    vec3 move = mat3_apply(&parent->rotate, vec3_from(def->move));
    return (placement){.scale = parent->scale * def->scale,
                       .rotate = mat3_multiply(&parent->rotate, &rotate),
                       .move = vec3_add_scaled(parent->move, parent->scale, move)};
}

static void compile(shape* s, const treacle_shape* def, const placement* parent) {
    placement p = placed_in(parent, def);
    node* n = &s->nodes[s->node_count];
    s->node_count += 1;
    *n = (node){.kind = def->kind,
                .half = vec3_scale(0.5 * p.scale, vec3_from(def->size)),
                .radius = p.scale * def->radius,
                .height = p.scale * def->height,
                .thickness = p.scale * def->thickness,
                .move = p.move,
                .rotate = p.rotate,
                .scale = p.scale};
    for (int i = 0; is_set_operation(def->kind) && i < def->child_count; ++i) {
        compile(s, &def->children[i], &p);
    }
    n->end = s->node_count;
}

static box3 mesh_bounds(const node* n, const triangle_mesh* mesh) {
    box3 bounds = {0};
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; ++i) {
        vec3 corner = triangle_mesh_corner(mesh, (int32_t)(i / 3), (int)(i % 3));
        vec3 x = vec3_add_scaled(n->move, n->scale, mat3_apply(&n->rotate, corner));
        bounds.low = i == 0 ? x : vec3_min(bounds.low, x);
        bounds.high = i == 0 ? x : vec3_max(bounds.high, x);
    }
    return bounds;
}

// Loads a mesh, or the first one of a sequence.
static treacle_status load_mesh(shape* s, node* n, const treacle_shape* def, bool is_silent) {
    triangle_mesh* mesh = NULL;
    char warning[TRIANGLE_MESH_WARNING_MAX], path[MESH_SEQUENCE_PATH_MAX];
    const char* file = def->file;
    if (def->frames.fps > 0.0) {
        TREACLE_TRY(mesh_sequence_path(s->ctx, def->file, def->frames.first, path));
        file = path;
    }
    TREACLE_TRY(triangle_mesh_load(s->ctx, file, &mesh));
    treacle_status status = mesh_tree_create(mesh, &n->mesh);
    n->bounds = mesh_bounds(n, mesh);
    if (!is_silent && triangle_mesh_warning(mesh, warning)) {
        log_message(s->ctx, TREACLE_LOG_WARNING, "%s: %s", file, warning);
    }
    triangle_mesh_destroy(mesh);
    return status;
}

// The meshes of the subtree of `def`, whose nodes begin at *at.
static treacle_status load_meshes(shape* s, const treacle_shape* def, int* at, bool is_silent) {
    node* n = &s->nodes[*at];
    *at += 1;
    if (def->kind == TREACLE_SHAPE_MESH) {
        return load_mesh(s, n, def, is_silent);
    }
    for (int i = 0; is_set_operation(def->kind) && i < def->child_count; ++i) {
        TREACLE_TRY(load_meshes(s, &def->children[i], at, is_silent));
    }
    return TREACLE_OK;
}

// Each number of the def may be fine and their products out of range.
static treacle_status check_compiled(const shape* s) {
    for (int i = 0; i < s->node_count; ++i) {
        const node* n = &s->nodes[i];
        bool has_bounds = !is_set_operation(n->kind) && n->kind != TREACLE_SHAPE_PLANE;
        box3 bounds = has_bounds ? leaf_bounds(n) : (box3){n->move, n->move};
        if (!vec3_is_finite(bounds.low) || !vec3_is_finite(bounds.high)) {
            return check_fail(s->ctx, TREACLE_ERR_SCENE,
                              "a %s is too large or too far away once it is scaled and moved",
                              kind_name(n->kind));
        }
    }
    return TREACLE_OK;
}

static treacle_status create(treacle_context* ctx, const treacle_shape* def, bool is_silent,
                             shape** out) {
    *out = NULL;
    int count = 0;
    TREACLE_TRY(check_tree(ctx, def, 0, &count));
    void* block = NULL;
    void* nodes = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(shape), "a shape", &block));
    treacle_status status =
        alloc_array(ctx, (size_t)count, sizeof(node), "the parts of a shape", &nodes);
    if (status != TREACLE_OK) {
        alloc_free(ctx, block, sizeof(shape));
        return status;
    }
    shape* s = block;
    *s = (shape){.ctx = ctx, .nodes = nodes};
    placement world = {.scale = 1.0, .rotate = mat3_identity(), .move = vec3_make(0.0, 0.0, 0.0)};
    compile(s, def, &world);
    int first = 0;
    status = load_meshes(s, def, &first, is_silent);
    if (status == TREACLE_OK) {
        status = check_compiled(s);
    }
    if (status != TREACLE_OK) {
        shape_destroy(s);
        return status;
    }
    *out = s;
    return TREACLE_OK;
}

treacle_status shape_create(treacle_context* ctx, const treacle_shape* def, shape** out) {
    return create(ctx, def, false, out);
}

treacle_status shape_create_silent(treacle_context* ctx, const treacle_shape* def, shape** out) {
    return create(ctx, def, true, out);
}

// Longer than any scene, short enough that sums of its square are finite.
static const double endless = 1e100;

// The leaf's own axis that lies along a world axis; -1 if none does.
static int own_axis(const node* n, int axis) {
    for (int k = 0; k < 3; ++k) {
        if (fabs(n->rotate.at[axis][k]) > 1.0 - 1e-12) {
            return k;
        }
    }
    return -1;
}

static void make_endless(shape* s, int axis) {
    for (int i = 0; i < s->node_count; ++i) {
        node* n = &s->nodes[i];
        int own = own_axis(n, axis);
        if (n->kind == TREACLE_SHAPE_BOX && own >= 0) {
            n->half.at[own] = endless;
        }
        if (n->kind == TREACLE_SHAPE_CYLINDER && own == 1) {
            n->height = endless;
        }
    }
}

treacle_status shape_create_flat(treacle_context* ctx, const treacle_shape* def, int axis,
                                 shape** out) {
    TREACLE_ASSERT(axis >= 0 && axis < 3);
    TREACLE_TRY(create(ctx, def, false, out));
    make_endless(*out, axis);
    return TREACLE_OK;
}

// Moves the vertices of the first mesh of a sequence to where they are at a time.
static treacle_status bend(shape* s, const treacle_shape* def, double time) {
    mesh_sequence* seq = NULL;
    void* block = NULL;
    TREACLE_TRY(mesh_sequence_load(s->ctx, def->file, &def->frames, &seq));
    size_t count = (size_t)seq->first->vertex_count;
    treacle_status status = alloc_array(s->ctx, count, sizeof(vec3), "a mesh that moves", &block);
    if (status == TREACLE_OK) {
        triangle_mesh now = *seq->first;
        now.vertices = block;
        mesh_sequence_places(seq, mesh_sequence_frame(seq, time), now.vertices);
        mesh_tree_refit(s->nodes[0].mesh, now.vertices);
        s->nodes[0].bounds = mesh_bounds(&s->nodes[0], &now);
    }
    alloc_free(s->ctx, block, block == NULL ? 0 : count * sizeof(vec3));
    mesh_sequence_destroy(seq);
    return status;
}

treacle_status shape_create_at(treacle_context* ctx, const treacle_shape* def, int flat_axis,
                               double time, shape** out) {
    TREACLE_ASSERT(flat_axis < 3);
    TREACLE_TRY(create(ctx, def, true, out));
    if (flat_axis >= 0) {
        make_endless(*out, flat_axis);
    }
    treacle_status status = TREACLE_OK;
    if (def->kind == TREACLE_SHAPE_MESH && def->frames.fps > 0.0) {
        status = bend(*out, def, time);
    }
    if (status != TREACLE_OK) {
        shape_destroy(*out);
        *out = NULL;
    }
    return status;
}

void shape_destroy(shape* s) {
    if (s != NULL) {
        for (int i = 0; i < s->node_count; ++i) {
            mesh_tree_destroy(s->nodes[i].mesh);
        }
        alloc_free(s->ctx, s->nodes, (size_t)s->node_count * sizeof(node));
        alloc_free(s->ctx, s, sizeof(*s));
    }
}

// Distances ---------------------------------------------------------------------------------------

// To a box around the origin of `axes` dimensions, q = |p| - half.
static double box_distance(const double* q, int axes) {
    double outside = 0.0, inside = -INFINITY;
    for (int a = 0; a < axes; ++a) {
        double positive = q[a] > 0.0 ? q[a] : 0.0;
        outside += positive * positive;
        inside = q[a] > inside ? q[a] : inside;
    }
    return inside > 0.0 ? sqrt(outside) : inside;
}

static double leaf_distance(const node* n, vec3 x) {
    vec3 p = mat3_apply_transposed(&n->rotate, vec3_sub(x, n->move));
    double along = fabs(p.at[1]) - 0.5 * n->height;
    if (n->kind == TREACLE_SHAPE_MESH) {
        return n->scale * mesh_tree_distance(n->mesh, vec3_scale(1.0 / n->scale, p));
    }
    switch (n->kind) {
    case TREACLE_SHAPE_BOX: {
        double q[3];
        for (int a = 0; a < 3; ++a) {
            q[a] = fabs(p.at[a]) - n->half.at[a];
        }
        return box_distance(q, 3);
    }
    case TREACLE_SHAPE_SPHERE:
        return vec3_length(p) - n->radius;
    case TREACLE_SHAPE_CYLINDER: {
        double q[2] = {radius_about_y(p) - n->radius, along};
        return box_distance(q, 2);
    }
    case TREACLE_SHAPE_CAPSULE:
        p.at[1] = along > 0.0 ? along : 0.0;
        return vec3_length(p) - n->radius;
    case TREACLE_SHAPE_TORUS: {
        double from_ring = radius_about_y(p) - n->radius;
        return sqrt(from_ring * from_ring + p.at[1] * p.at[1]) - n->thickness;
    }
    default:
        return p.at[1]; // a plane
    }
}

static double node_distance(const shape* s, int at, vec3 x) {
    const node* n = &s->nodes[at];
    if (!is_set_operation(n->kind)) {
        return leaf_distance(n, x);
    }
    double distance = node_distance(s, at + 1, x);
    for (int child = s->nodes[at + 1].end; child < n->end; child = s->nodes[child].end) {
        double other = node_distance(s, child, x);
        if (n->kind == TREACLE_SHAPE_UNION) {
            distance = other < distance ? other : distance;
        } else {
            other = n->kind == TREACLE_SHAPE_DIFFERENCE ? -other : other;
            distance = other > distance ? other : distance;
        }
    }
    return distance;
}

double shape_distance(const shape* s, vec3 x) {
    TREACLE_ASSERT(s->node_count > 0);
    return node_distance(s, 0, x);
}

bool shape_is_inside(const shape* s, vec3 x) {
    return node_distance(s, 0, x) < 0.0;
}

vec3 shape_gradient(const shape* s, vec3 x, double h) {
    TREACLE_ASSERT(h > 0.0);
    vec3 gradient;
    for (int a = 0; a < 3; ++a) {
        vec3 low = x, high = x;
        low.at[a] -= h;
        high.at[a] += h;
        gradient.at[a] = (shape_distance(s, high) - shape_distance(s, low)) / (2.0 * h);
    }
    return gradient;
}

// Bounds ------------------------------------------------------------------------------------------

static box3 node_bounds(const shape* s, int at) {
    const node* n = &s->nodes[at];
    if (!is_set_operation(n->kind)) {
        return leaf_bounds(n);
    }
    box3 bounds = node_bounds(s, at + 1);
    if (n->kind == TREACLE_SHAPE_DIFFERENCE) {
        return bounds;
    }
    for (int child = s->nodes[at + 1].end; child < n->end; child = s->nodes[child].end) {
        box3 other = node_bounds(s, child);
        bounds = n->kind == TREACLE_SHAPE_UNION ? box3_union(bounds, other)
                                                : box3_intersect(bounds, other);
    }
    return bounds;
}

box3 shape_bounds(const shape* s) {
    return node_bounds(s, 0);
}

static double leaf_thickness(const node* n) {
    switch (n->kind) {
    case TREACLE_SHAPE_BOX:
        return 2.0 * fmin(n->half.at[0], fmin(n->half.at[1], n->half.at[2]));
    case TREACLE_SHAPE_SPHERE:
    case TREACLE_SHAPE_CAPSULE:
        return 2.0 * n->radius;
    case TREACLE_SHAPE_CYLINDER:
        return fmin(2.0 * n->radius, n->height);
    case TREACLE_SHAPE_TORUS:
        return 2.0 * n->thickness;
    case TREACLE_SHAPE_PLANE:
        return INFINITY;
    default:
        return 0.0; // a mesh
    }
}

static bool is_leaf_thicker(const node* n, double width) {
    return n->kind == TREACLE_SHAPE_MESH ? mesh_tree_is_thicker(n->mesh, width / n->scale)
                                         : leaf_thickness(n) >= width;
}

// A union is if its parts are: where they overlap it is thicker.
bool shape_is_thicker(const shape* s, double width) {
    TREACLE_ASSERT(width >= 0.0);
    bool is_thicker = true;
    for (int i = 0; i < s->node_count && is_thicker; ++i) {
        const node* n = &s->nodes[i];
        is_thicker = n->kind == TREACLE_SHAPE_UNION ||
                     (!is_set_operation(n->kind) && is_leaf_thicker(n, width));
    }
    return is_thicker;
}

bool shape_is_thicker_outside(const shape* s) {
    treacle_shape_kind kind = s->nodes[0].kind;
    bool is_convex = !is_set_operation(kind) && kind != TREACLE_SHAPE_MESH;
    return is_convex && kind != TREACLE_SHAPE_TORUS;
}

// Rays and volumes --------------------------------------------------------------------------------

// The distance is a bound, so a step of that length cannot jump over the surface. Where a ray
// grazes, steps would shrink without end: they are at least 1/RAY_STEPS of the ray.
enum { RAY_STEPS = 1000, BISECTIONS = 60, SPLIT_PARTS = 3 };

static double distance_along(const shape* s, const shape_ray* ray, double at) {
    return shape_distance(s, vec3_add_scaled(ray->origin, at, ray->direction));
}

// `outside` and `inside` are places on the ray; returns the inner of two neighbouring ones.
static double bisect(const shape* s, const shape_ray* ray, double outside, double inside) {
    for (int i = 0; i < BISECTIONS; ++i) {
        double middle = 0.5 * (outside + inside);
        if (distance_along(s, ray, middle) < 0.0) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    return inside;
}

// Goes along the ray until it is inside: at `found`, and `before` was the place before that.
static bool march(const shape* s, const shape_ray* ray, double* found, double* before) {
    double speed = vec3_length(ray->direction);
    double least = (ray->end - ray->begin) / RAY_STEPS;
    double at = ray->begin, last = at;
    double distance = distance_along(s, ray, at);
    while (!(distance < 0.0)) {
        if (!(at < ray->end) || !(speed > 0.0)) {
            return false;
        }
        last = at;
        double safe = distance / speed;
        at += safe > least ? safe : least;
        at = at < ray->end && at > last ? at : ray->end;
        distance = distance_along(s, ray, at);
    }
    *found = at;
    *before = last;
    return true;
}

bool shape_is_met(const shape* s, const shape_ray* ray) {
    TREACLE_ASSERT(ray->begin >= 0.0 && ray->begin <= ray->end && isfinite(ray->end));
    double found, before;
    return march(s, ray, &found, &before);
}

bool shape_enter(const shape* s, const shape_ray* ray, double* out) {
    TREACLE_ASSERT(ray->begin >= 0.0 && ray->begin <= ray->end && isfinite(ray->end));
    TREACLE_ASSERT(out != NULL);
    double found, before;
    if (!march(s, ray, &found, &before)) {
        return false;
    }
    *out = found == before ? found : bisect(s, ray, before, found);
    return true;
}

// The fraction of a small box with the sides `h` around x that is inside: the surface is taken for
// a plane, and the fraction for linear between the first and the last corner that it meets.
static double plane_fraction(const shape* s, vec3 x, vec3 h, double distance) {
    vec3 normal = vec3_normalise(shape_gradient(s, x, 1e-3 * vec3_length(h)));
    double width = (fabs(normal.at[0]) * h.at[0] + fabs(normal.at[1]) * h.at[1]) +
                   fabs(normal.at[2]) * h.at[2];
    if (!(width > 0.0)) {
        return distance < 0.0 ? 1.0 : 0.0;
    }
    double fraction = 0.5 - distance / width;
    return fraction < 0.0 ? 0.0 : fraction > 1.0 ? 1.0 : fraction;
}

static double fraction_inside(const shape* s, vec3 x, vec3 h, int splits);

// The mean fraction of the n x n x n equal parts of a box.
static double mean_fraction(const shape* s, const box3* box, int n, int splits) {
    vec3 h = vec3_scale(1.0 / n, vec3_sub(box->high, box->low));
    double sum = 0.0;
    for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i) {
                const vec3 at = {{i + 0.5, j + 0.5, k + 0.5}};
                vec3 x = box->low;
                for (int a = 0; a < 3; ++a) {
                    x.at[a] += at.at[a] * h.at[a];
                }
                sum += fraction_inside(s, x, h, splits);
            }
        }
    }
    return sum / ((double)n * n * n);
}

// Boxes that the surface meets are split, because at an edge of a shape it is not a plane.
static double fraction_inside(const shape* s, vec3 x, vec3 h, int splits) {
    double distance = shape_distance(s, x);
    if (fabs(distance) >= 0.5 * vec3_length(h)) {
        return distance < 0.0 ? 1.0 : 0.0;
    }
    if (splits == 0) {
        return plane_fraction(s, x, h, distance);
    }
    box3 box = {vec3_add_scaled(x, -0.5, h), vec3_add_scaled(x, 0.5, h)};
    return mean_fraction(s, &box, SPLIT_PARTS, splits - 1);
}

double shape_volume_in(const shape* s, const box3* box, int n) {
    TREACLE_ASSERT(n > 0);
    vec3 size = vec3_sub(box->high, box->low);
    return mean_fraction(s, box, n, 1) * (size.at[0] * size.at[1] * size.at[2]);
}
