// The tree is an array in preorder: the first child of an inner node follows it, the second is at
// `second`. Leaves hold `count` triangles from `begin` on, copied in the order of the leaves. Nodes
// are split where the surface area heuristic is least, on BINS bins of the middles.
//
// Half the solid angle of a triangle (a, b, c relative to the point) is the angle of the complex
// number
//     |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|  +  i  a.(b x c),
// so the sum over triangles is the angle of a product, with a count of full turns beside it. A node
// whose triangles are all nearer to its centre c than 1/FAR of the point's distance counts as
// N.(c - x) / (2 |c - x|^3), N being the sum of its area vectors and c the mean weighted by area.
//
// differs from [B18]: only the first term of the expansion, because the sign is all that is asked
// for and it is off by less than 0.05 of a turn (test_mesh_tree.c).
#include "geometry/mesh_tree.h"

#include "base/alloc.h"
#include "math/elementary.h"

enum {
    BINS = 16,
    LEAF_MAX = 8,
    SPLIT_DEPTH = 48, // below it nodes are cut into equal halves, so the depth is bounded ...
    STACK_MAX = 128,  // ... by 48 + 31
};

static const double far_ratio = 2.5;
static const double pi = 3.14159265358979323846;

typedef struct tree_triangle {
    vec3 at[3];
} tree_triangle;

typedef struct tree_node {
    box3 box;
    vec3 centre, normal; // mean weighted by area; sum of the area vectors
    double area;
    double radius, reach2; // around the centre; (far_ratio radius)^2
    int32_t second;        // inner nodes
    int32_t begin, count;  // leaves; count is 0 for inner nodes
} tree_node;

struct mesh_tree {
    treacle_context* ctx;
    int32_t triangle_count, node_count;
    tree_triangle* triangles;
    mesh_triangle* corners; // of the triangles, vertices of the mesh
    tree_node* nodes;
    size_t node_capacity;
};

// Building ----------------------------------------------------------------------------------------

// A triangle on its way to a leaf.
typedef struct item {
    box3 box;
    vec3 middle;
    int32_t triangle;
} item;

typedef struct build {
    mesh_tree* tree;
    const triangle_mesh* mesh;
    item* items;
} build;

typedef struct bin {
    box3 box;
    int32_t count;
} bin;

typedef struct split {
    int axis;
    double low, scale; // bin = (middle - low) scale
    int place;         // bins below it go left
    double cost;
} split;

static const box3 empty_box = {{{INFINITY, INFINITY, INFINITY}},
                               {{-INFINITY, -INFINITY, -INFINITY}}};

static double box_area(box3 b) {
    vec3 d = vec3_sub(b.high, b.low);
    return d.at[0] * d.at[1] + d.at[1] * d.at[2] + d.at[2] * d.at[0];
}

static int bin_of(const split* s, const item* it) {
    double at = (it->middle.at[s->axis] - s->low) * s->scale;
    return at >= BINS ? BINS - 1 : at > 0.0 ? (int)at : 0;
}

static void fill_bins(const build* b, int32_t begin, int32_t end, const split* s, bin bins[BINS]) {
    for (int k = 0; k < BINS; ++k) {
        bins[k] = (bin){.box = empty_box};
    }
    for (int32_t i = begin; i < end; ++i) {
        bin* one = &bins[bin_of(s, &b->items[i])];
        one->box = box3_union(one->box, b->items[i].box);
        one->count += 1;
    }
}

// The best place between bins of one axis; *best is replaced where it is cheaper.
static void try_axis(const bin bins[BINS], split s, split* best) {
    double right_cost[BINS];
    box3 box = empty_box;
    int32_t count = 0;
    for (int k = BINS - 1; k > 0; --k) {
        box = box3_union(box, bins[k].box);
        count += bins[k].count;
        right_cost[k] = count == 0 ? INFINITY : count * box_area(box);
    }
    box = empty_box;
    count = 0;
    for (s.place = 1; s.place < BINS; ++s.place) {
        box = box3_union(box, bins[s.place - 1].box);
        count += bins[s.place - 1].count;
        s.cost = count == 0 ? INFINITY : count * box_area(box) + right_cost[s.place];
        if (s.cost < best->cost) {
            *best = s;
        }
    }
}

static split find_split(const build* b, int32_t begin, int32_t end) {
    split best = {.cost = INFINITY};
    box3 middles = {b->items[begin].middle, b->items[begin].middle};
    for (int32_t i = begin + 1; i < end; ++i) {
        middles.low = vec3_min(middles.low, b->items[i].middle);
        middles.high = vec3_max(middles.high, b->items[i].middle);
    }
    for (int axis = 0; axis < 3; ++axis) {
        double width = middles.high.at[axis] - middles.low.at[axis];
        split s = {.axis = axis, .low = middles.low.at[axis], .scale = BINS / width};
        if (width > 0.0 && isfinite(s.scale)) {
            bin bins[BINS];
            fill_bins(b, begin, end, &s, bins);
            try_axis(bins, s, &best);
        }
    }
    return best;
}

static int32_t partition(const build* b, int32_t begin, int32_t end, const split* s) {
    int32_t low = begin, high = end;
    while (low < high) {
        if (bin_of(s, &b->items[low]) < s->place) {
            low += 1;
        } else {
            high -= 1;
            item swapped = b->items[low];
            b->items[low] = b->items[high];
            b->items[high] = swapped;
        }
    }
    return low;
}

static void sum_leaf(const mesh_tree* tree, tree_node* n) {
    vec3 sum = {{0.0, 0.0, 0.0}};
    n->box = empty_box;
    for (int32_t i = n->begin; i < n->begin + n->count; ++i) {
        const vec3* at = tree->triangles[i].at;
        vec3 normal = vec3_scale(0.5, vec3_cross(vec3_sub(at[1], at[0]), vec3_sub(at[2], at[0])));
        double area = vec3_length(normal);
        n->normal = vec3_add(n->normal, normal);
        n->area += area;
        sum = vec3_add_scaled(sum, area / 3.0, vec3_add(vec3_add(at[0], at[1]), at[2]));
        for (int k = 0; k < 3; ++k) {
            n->box.low = vec3_min(n->box.low, at[k]);
            n->box.high = vec3_max(n->box.high, at[k]);
        }
    }
    n->centre = n->area > 0.0 ? vec3_scale(1.0 / n->area, sum)
                              : vec3_scale(0.5, vec3_add(n->box.low, n->box.high));
    for (int32_t i = n->begin; i < n->begin + n->count; ++i) {
        for (int k = 0; k < 3; ++k) {
            double distance = vec3_length(vec3_sub(tree->triangles[i].at[k], n->centre));
            n->radius = distance > n->radius ? distance : n->radius;
        }
    }
}

static double radius_around(const tree_node* child, vec3 centre) {
    return vec3_length(vec3_sub(child->centre, centre)) + child->radius;
}

static void sum_children(tree_node* n, const tree_node* left, const tree_node* right) {
    n->box = box3_union(left->box, right->box);
    n->normal = vec3_add(left->normal, right->normal);
    n->area = left->area + right->area;
    double fraction = n->area > 0.0 ? right->area / n->area : 0.5;
    n->centre = vec3_add_scaled(left->centre, fraction, vec3_sub(right->centre, left->centre));
    double by_children = fmax(radius_around(left, n->centre), radius_around(right, n->centre));
    vec3 farthest = vec3_max(vec3_sub(n->box.high, n->centre), vec3_sub(n->centre, n->box.low));
    n->radius = fmin(by_children, vec3_length(farthest));
}

static int32_t build_leaf(build* b, int32_t begin, int32_t end) {
    mesh_tree* tree = b->tree;
    int32_t at = tree->node_count;
    tree->node_count += 1;
    tree->nodes[at] = (tree_node){.begin = begin, .count = end - begin};
    for (int32_t i = begin; i < end; ++i) {
        tree->corners[i] = b->mesh->triangles[b->items[i].triangle];
        for (int k = 0; k < 3; ++k) {
            tree->triangles[i].at[k] = b->mesh->vertices[tree->corners[i].at[k]];
        }
    }
    sum_leaf(tree, &tree->nodes[at]);
    return at;
}

static void set_reach(tree_node* n) {
    n->reach2 = far_ratio * n->radius * (far_ratio * n->radius);
}

// The subtree of items [begin, end).
static int32_t build_node(build* b, int32_t begin, int32_t end, int depth) {
    mesh_tree* tree = b->tree;
    if (end - begin <= LEAF_MAX) {
        int32_t leaf = build_leaf(b, begin, end);
        set_reach(&tree->nodes[leaf]);
        return leaf;
    }
    int32_t at = tree->node_count, middle = begin + (end - begin) / 2;
    tree->node_count += 1;
    if (depth < SPLIT_DEPTH) {
        split s = find_split(b, begin, end);
        middle = s.cost < INFINITY ? partition(b, begin, end, &s) : middle;
    }
    int32_t first = build_node(b, begin, middle, depth + 1);
    int32_t second = build_node(b, middle, end, depth + 1);
    tree_node* n = &tree->nodes[at];
    *n = (tree_node){.second = second};
    sum_children(n, &tree->nodes[first], &tree->nodes[second]);
    set_reach(n);
    return at;
}

static void fill_items(const triangle_mesh* mesh, item* items) {
    for (int32_t i = 0; i < mesh->triangle_count; ++i) {
        vec3 x = triangle_mesh_corner(mesh, i, 0);
        items[i] = (item){.box = {x, x}, .triangle = i};
        for (int k = 1; k < 3; ++k) {
            x = triangle_mesh_corner(mesh, i, k);
            items[i].box.low = vec3_min(items[i].box.low, x);
            items[i].box.high = vec3_max(items[i].box.high, x);
        }
        items[i].middle = vec3_scale(0.5, vec3_add(items[i].box.low, items[i].box.high));
    }
}

static treacle_status mesh_tree_allocate(mesh_tree* tree, const triangle_mesh* mesh) {
    void* block = NULL;
    size_t count = (size_t)mesh->triangle_count;
    TREACLE_TRY(
        alloc_array(tree->ctx, count, sizeof(tree_triangle), "the triangles of a mesh", &block));
    tree->triangles = block;
    tree->triangle_count = mesh->triangle_count;
    TREACLE_TRY(
        alloc_array(tree->ctx, count, sizeof(mesh_triangle), "the triangles of a mesh", &block));
    tree->corners = block;
    TREACLE_TRY(alloc_array(tree->ctx, 2 * count, sizeof(tree_node), "the tree of a mesh", &block));
    tree->nodes = block;
    tree->node_capacity = 2 * count;
    return TREACLE_OK;
}

static treacle_status build_tree(mesh_tree* tree, const triangle_mesh* mesh) {
    void* block = NULL;
    size_t count = (size_t)mesh->triangle_count;
    TREACLE_TRY(
        alloc_array(tree->ctx, count, sizeof(item), "sorting the triangles of a mesh", &block));
    build b = {.tree = tree, .mesh = mesh, .items = block};
    fill_items(mesh, b.items);
    build_node(&b, 0, mesh->triangle_count, 0);
    alloc_free(tree->ctx, block, count * sizeof(item));
    block = tree->nodes;
    size_t used = (size_t)tree->node_count;
    TREACLE_TRY(alloc_resize(tree->ctx, &block, tree->node_capacity, used, sizeof(tree_node),
                             "the tree of a mesh"));
    tree->nodes = block;
    tree->node_capacity = used;
    return TREACLE_OK;
}

treacle_status mesh_tree_create(const triangle_mesh* mesh, mesh_tree** out) {
    TREACLE_ASSERT(mesh->triangle_count > 0 && mesh->vertex_count > 0);
    void* block = NULL;
    *out = NULL;
    TREACLE_TRY(alloc_zero(mesh->ctx, 1, sizeof(mesh_tree), "the tree of a mesh", &block));
    mesh_tree* tree = block;
    tree->ctx = mesh->ctx;
    treacle_status status = mesh_tree_allocate(tree, mesh);
    if (status == TREACLE_OK) {
        status = build_tree(tree, mesh);
    }
    if (status != TREACLE_OK) {
        mesh_tree_destroy(tree);
        return status;
    }
    *out = tree;
    return TREACLE_OK;
}

void mesh_tree_destroy(mesh_tree* tree) {
    if (tree == NULL) {
        return;
    }
    if (tree->triangles != NULL) {
        alloc_free(tree->ctx, tree->triangles,
                   (size_t)tree->triangle_count * sizeof(tree_triangle));
    }
    if (tree->corners != NULL) {
        alloc_free(tree->ctx, tree->corners, (size_t)tree->triangle_count * sizeof(mesh_triangle));
    }
    if (tree->nodes != NULL) {
        alloc_free(tree->ctx, tree->nodes, tree->node_capacity * sizeof(tree_node));
    }
    alloc_free(tree->ctx, tree, sizeof(*tree));
}

void mesh_tree_refit(mesh_tree* tree, const vec3* vertices) {
    TREACLE_ASSERT(vertices != NULL);
    for (int32_t i = 0; i < tree->triangle_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            tree->triangles[i].at[k] = vertices[tree->corners[i].at[k]];
        }
    }
    for (int32_t i = tree->node_count - 1; i >= 0; --i) { // children come after their parent
        tree_node* n = &tree->nodes[i];
        *n = (tree_node){.second = n->second, .begin = n->begin, .count = n->count};
        if (n->count > 0) {
            sum_leaf(tree, n);
        } else {
            sum_children(n, &tree->nodes[i + 1], &tree->nodes[n->second]);
        }
        set_reach(n);
    }
}

// Distance ----------------------------------------------------------------------------------------

static double length2(vec3 a) {
    return vec3_dot(a, a);
}

// The point of a segment from a along d that is nearest to the origin, 0..1.
static double nearest_on_segment(vec3 a, vec3 d) {
    double square = length2(d);
    double at = square > 0.0 ? -vec3_dot(a, d) / square : 0.0;
    return at < 0.0 ? 0.0 : at > 1.0 ? 1.0 : at;
}

static double segment_distance2(vec3 a, vec3 d) {
    return length2(vec3_add_scaled(a, nearest_on_segment(a, d), d));
}

// From the origin, or `best` if it is not less. The foot of the perpendicular is nearest if it is
// inside; otherwise a point of an edge that has it on its outer side is.
static double triangle_distance2(const vec3 corner[3], double best) {
    vec3 side[3] = {vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[1]),
                    vec3_sub(corner[0], corner[2])};
    vec3 normal = vec3_cross(side[0], side[1]);
    double square = length2(normal), along = vec3_dot(normal, corner[0]);
    if (along * along > best * square) {
        return best;
    }
    bool is_over = square > 0.0;
    for (int k = 0; k < 3; ++k) {
        bool is_beyond = vec3_dot(vec3_cross(normal, side[k]), corner[k]) > 0.0;
        if (is_beyond || !(square > 0.0)) {
            double d = segment_distance2(corner[k], side[k]);
            best = d < best ? d : best;
            is_over = false;
        }
    }
    double foot = is_over ? along * along / square : best;
    return foot < best ? foot : best;
}

static double box_distance2(const box3* box, vec3 x) {
    double sum = 0.0;
    for (int a = 0; a < 3; ++a) {
        double below = box->low.at[a] - x.at[a], above = x.at[a] - box->high.at[a];
        double out = below > above ? below : above;
        sum += out > 0.0 ? out * out : 0.0;
    }
    return sum;
}

static double leaf_distance2(const mesh_tree* tree, const tree_node* n, vec3 x, double best) {
    for (int32_t i = n->begin; i < n->begin + n->count; ++i) {
        const vec3* at = tree->triangles[i].at;
        const vec3 corner[3] = {vec3_sub(at[0], x), vec3_sub(at[1], x), vec3_sub(at[2], x)};
        best = triangle_distance2(corner, best);
    }
    return best;
}

typedef struct visit {
    int32_t node;
    double bound; // squared distance of its box
} visit;

static double distance2(const mesh_tree* tree, vec3 x) {
    visit stack[STACK_MAX];
    int top = 1;
    double best = INFINITY;
    stack[0] = (visit){0, 0.0};
    while (top > 0) {
        top -= 1;
        visit v = stack[top];
        const tree_node* n = &tree->nodes[v.node];
        if (!(v.bound < best)) {
            continue;
        }
        if (n->count > 0) {
            best = leaf_distance2(tree, n, x, best);
            continue;
        }
        visit near = {v.node + 1, box_distance2(&tree->nodes[v.node + 1].box, x)};
        visit other = {n->second, box_distance2(&tree->nodes[n->second].box, x)};
        bool is_swapped = other.bound < near.bound;
        stack[top] = is_swapped ? near : other;
        stack[top + 1] = is_swapped ? other : near;
        top += 2;
    }
    return best;
}

// Winding -----------------------------------------------------------------------------------------

// Multiplies by the number of one triangle. Two angles from 0 to pi, or two from 0 to -pi, whose
// sum leaves that half have gone around.
static void wind_triangle(mesh_winding* w, vec3 a, vec3 b, vec3 c) {
    double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
    double re = (la * lb * lc + vec3_dot(a, b) * lc) + (vec3_dot(b, c) * la + vec3_dot(c, a) * lb);
    double im = vec3_dot(a, vec3_cross(b, c));
    double size = fabs(re) + fabs(im);
    if (!(size > 0.0)) {
        return; // the point is a corner, or on an edge: the angle has no value
    }
    re /= size;
    im /= size;
    double product_re = w->re * re - w->im * im, product_im = w->re * im + w->im * re;
    if (w->im >= 0.0 && im >= 0.0 && product_im < 0.0) {
        w->turns += 1;
    } else if (w->im < 0.0 && im < 0.0 && product_im >= 0.0) {
        w->turns -= 1;
    }
    double product_size = fabs(product_re) + fabs(product_im);
    w->re = product_re / product_size;
    w->im = product_im / product_size;
}

mesh_winding mesh_tree_wind(const mesh_tree* tree, vec3 x) {
    int32_t stack[STACK_MAX];
    int top = 1;
    mesh_winding w = {.re = 1.0};
    stack[0] = 0;
    while (top > 0) {
        top -= 1;
        int32_t at = stack[top];
        const tree_node* n = &tree->nodes[at];
        vec3 d = vec3_sub(n->centre, x);
        double r2 = length2(d);
        if (r2 > n->reach2) {
            w.far += vec3_dot(n->normal, d) / (2.0 * r2 * sqrt(r2));
        } else if (n->count == 0) {
            stack[top] = n->second;
            stack[top + 1] = at + 1;
            top += 2;
        }
        for (int32_t i = n->begin; !(r2 > n->reach2) && i < n->begin + n->count; ++i) {
            const vec3* p = tree->triangles[i].at;
            wind_triangle(&w, vec3_sub(p[0], x), vec3_sub(p[1], x), vec3_sub(p[2], x));
        }
    }
    return w;
}

// The angle of (re, im) exceeds pi - far - 2 pi turns, told by the side of that direction.
static bool is_more_than_half(mesh_winding w) {
    double limit = pi - w.far - 2.0 * pi * w.turns;
    if (limit >= pi || limit < -pi) {
        return limit < 0.0;
    }
    bool is_upper = w.im >= 0.0;
    if (is_upper != (limit >= 0.0)) {
        return is_upper;
    }
    return elementary_cos(limit) * w.im - elementary_sin(limit) * w.re > 0.0;
}

bool mesh_tree_is_inside(const mesh_tree* tree, vec3 x) {
    // From outside of the box no mesh fills more than half of the view.
    bool is_near = box_distance2(&tree->nodes[0].box, x) == 0.0;
    return is_near && is_more_than_half(mesh_tree_wind(tree, x));
}

double mesh_tree_distance(const mesh_tree* tree, vec3 x) {
    double distance = sqrt(distance2(tree, x));
    return mesh_tree_is_inside(tree, x) ? -distance : distance;
}

bool mesh_tree_is_thicker(const mesh_tree* tree, double width) {
    TREACLE_ASSERT(width >= 0.0);
    double thin = 0.0, depth = 0.5 * width;
    for (int32_t i = 0; i < tree->triangle_count; ++i) {
        const vec3* at = tree->triangles[i].at;
        vec3 normal = vec3_cross(vec3_sub(at[1], at[0]), vec3_sub(at[2], at[0]));
        vec3 middle = vec3_scale(1.0 / 3.0, vec3_add(vec3_add(at[0], at[1]), at[2]));
        vec3 below = vec3_add_scaled(middle, -depth, vec3_normalise(normal));
        bool is_thick = mesh_tree_distance(tree, below) < -0.6 * depth;
        thin += is_thick ? 0.0 : 0.5 * vec3_length(normal);
    }
    return thin <= 0.05 * tree->nodes[0].area;
}

// Motion ------------------------------------------------------------------------------------------

// Two trees of one mesh, and a moment between them.
typedef struct moving_tree {
    const mesh_tree *from, *to;
    double fraction;
} moving_tree;

static vec3 between(vec3 a, vec3 b, double fraction) {
    return vec3_add_scaled(a, fraction, vec3_sub(b, a));
}

// Boxes that move as the vertices do hold them at every moment; a little more for rounding.
static double moving_box_distance2(const moving_tree* m, int32_t node, vec3 x) {
    const box3 *a = &m->from->nodes[node].box, *b = &m->to->nodes[node].box;
    box3 box = {between(a->low, b->low, m->fraction), between(a->high, b->high, m->fraction)};
    return box_distance2(&box, x) * (1.0 - 1e-12);
}

// The point of a triangle nearest to the origin, as fractions of its corners; true if it is none of
// an edge.
static bool nearest_on_triangle(const vec3 corner[3], double fraction[3]) {
    vec3 side[3] = {vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[1]),
                    vec3_sub(corner[0], corner[2])};
    vec3 normal = vec3_cross(side[0], side[1]);
    double square = length2(normal), best = INFINITY;
    bool is_over = square > 0.0;
    for (int k = 0; k < 3; ++k) {
        // The fraction of a corner is the area opposite to it.
        vec3 area = vec3_cross(corner[(k + 1) % 3], corner[(k + 2) % 3]);
        fraction[k] = is_over ? vec3_dot(area, normal) / square : 0.0;
    }
    is_over = is_over && fraction[0] > 0.0 && fraction[1] > 0.0 && fraction[2] > 0.0;
    for (int k = 0; k < 3 && !is_over; ++k) {
        double at = nearest_on_segment(corner[k], side[k]);
        double d = length2(vec3_add_scaled(corner[k], at, side[k]));
        if (d < best) {
            best = d;
            fraction[k] = 1.0 - at;
            fraction[(k + 1) % 3] = at;
            fraction[(k + 2) % 3] = 0.0;
        }
    }
    return is_over;
}

static vec3 weighted(const vec3 corner[3], const double fraction[3]) {
    vec3 sum = vec3_scale(fraction[0], corner[0]);
    return vec3_add_scaled(vec3_add_scaled(sum, fraction[1], corner[1]), fraction[2], corner[2]);
}

static vec3 normal_of(const vec3 at[3]) {
    return vec3_normalise(vec3_cross(vec3_sub(at[1], at[0]), vec3_sub(at[2], at[0])));
}

// Replaces *best where a triangle of the leaf is nearer.
static void look_at_leaf(const moving_tree* m, const tree_node* n, vec3 x, mesh_nearest* best) {
    for (int32_t i = n->begin; i < n->begin + n->count; ++i) {
        const vec3 *from = m->from->triangles[i].at, *to = m->to->triangles[i].at;
        vec3 at[3], corner[3];
        for (int k = 0; k < 3; ++k) {
            at[k] = between(from[k], to[k], m->fraction);
            corner[k] = vec3_sub(at[k], x);
        }
        double fraction[3];
        bool is_over = nearest_on_triangle(corner, fraction);
        vec3 away = weighted(corner, fraction);
        double distance = vec3_length(away);
        if (!(distance < best->distance)) {
            continue;
        }
        vec3 normal = normal_of(at);
        *best =
            (mesh_nearest){.distance = distance,
                           .is_face = is_over,
                           .is_behind = vec3_dot(away, normal) > 0.0,
                           .place = vec3_add(x, away),
                           .normal = normal,
                           .end = weighted(to, fraction),
                           .end_normal = normal_of(to),
                           .motion = vec3_sub(weighted(to, fraction), weighted(from, fraction))};
    }
}

mesh_nearest mesh_tree_nearest(const mesh_tree* from, const mesh_tree* to, double fraction,
                               vec3 x) {
    TREACLE_ASSERT(fraction >= 0.0 && fraction <= 1.0);
    TREACLE_ASSERT(from->triangle_count == to->triangle_count);
    moving_tree m = {from, to, fraction};
    visit stack[STACK_MAX];
    int top = 1;
    mesh_nearest best = {.distance = INFINITY};
    stack[0] = (visit){0, 0.0};
    while (top > 0) {
        top -= 1;
        visit v = stack[top];
        const tree_node* n = &from->nodes[v.node];
        if (!(v.bound < best.distance * best.distance)) {
            continue;
        }
        if (n->count > 0) {
            look_at_leaf(&m, n, x, &best);
            continue;
        }
        visit near = {v.node + 1, moving_box_distance2(&m, v.node + 1, x)};
        visit other = {n->second, moving_box_distance2(&m, n->second, x)};
        bool is_swapped = other.bound < near.bound;
        stack[top] = is_swapped ? near : other;
        stack[top + 1] = is_swapped ? other : near;
        top += 2;
    }
    return best;
}
