// Edge collapse by quadrics [GH97], in rounds: each prices all edges, then collapses the cheapest
// that do not touch each other. A round works on a mesh that stands still, so that its result does
// not depend on which thread does what first.
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/mat3.h"
#include "mesh/surface_mesh.h"

enum { AXIS_COUNT = 3, ROUNDS_MAX = 60, EDGE_GRAIN = 512 };

static const double largest_error = 0.25; // samples: how far a vertex may leave its planes
static const double least_turn = 0.3;     // cosine between a triangle before and after

typedef struct edge {
    int32_t a, b;
    float cost; // squared distance, cells^2
    float place[3];
} edge;

typedef struct decimation {
    surface_mesh* m;
    surface_fans fans;
    edge* edges;
    size_t edge_count, edge_capacity;
    uint8_t* is_locked; // [vertices]
    int32_t* becomes;   // [vertices], the vertex that takes its place
    double limit;       // cost
    int64_t wanted;     // triangles to take away
} decimation;

// Q(x) = sum over planes of area (n . (x - o))^2, with o the first vertex of the edge.
typedef struct quadric {
    mat3 a;
    vec3 b;
    double c, weight;
} quadric;

static vec3 mesh_decimate_place_of(const surface_mesh* m, int32_t v) {
    return vec3_make((double)m->place[v][0], (double)m->place[v][1], (double)m->place[v][2]);
}

static vec3 triangle_normal(vec3 p, vec3 q, vec3 r) {
    return vec3_cross(vec3_sub(q, p), vec3_sub(r, p));
}

static void add_planes(const decimation* d, int32_t v, vec3 origin, quadric* q) {
    const surface_mesh* m = d->m;
    for (int64_t f = d->fans.first[v]; f < d->fans.first[v + 1]; ++f) {
        const int32_t* t = m->triangle[d->fans.list[f]];
        vec3 p = mesh_decimate_place_of(m, t[0]);
        vec3 twice =
            triangle_normal(p, mesh_decimate_place_of(m, t[1]), mesh_decimate_place_of(m, t[2]));
        double area = 0.5 * vec3_length(twice);
        vec3 n = vec3_normalise(twice);
        double away = vec3_dot(n, vec3_sub(p, origin));
        for (int i = 0; i < AXIS_COUNT; ++i) {
            for (int j = 0; j < AXIS_COUNT; ++j) {
                q->a.at[i][j] += area * n.at[i] * n.at[j];
            }
            q->b.at[i] += area * away * n.at[i];
        }
        q->c += area * away * away;
        q->weight += area;
    }
}

static void price(void* data, int64_t begin, int64_t end) {
    const decimation* d = data;
    for (int64_t e = begin; e < end; ++e) {
        edge* it = &d->edges[e];
        vec3 origin = mesh_decimate_place_of(d->m, it->a),
             other = mesh_decimate_place_of(d->m, it->b);
        quadric q = {0};
        add_planes(d, it->a, origin, &q);
        add_planes(d, it->b, origin, &q);
        // The middle of the edge, pulled to the planes where they are not flat.
        vec3 middle = vec3_scale(0.5, vec3_sub(other, origin));
        mat3 soft = q.a, inverse;
        for (int i = 0; i < AXIS_COUNT; ++i) {
            soft.at[i][i] += 1e-3 * q.weight;
        }
        vec3 x = middle;
        if (mat3_invert(&soft, &inverse)) {
            vec3 residual = vec3_sub(q.b, mat3_apply(&q.a, middle));
            x = vec3_add(middle, mat3_apply(&inverse, residual));
        }
        double value = vec3_dot(x, mat3_apply(&q.a, x)) - 2.0 * vec3_dot(q.b, x) + q.c;
        it->cost = (float)(fmax(value, 0.0) / fmax(q.weight, 1e-30));
        for (int k = 0; k < AXIS_COUNT; ++k) {
            it->place[k] = (float)(origin.at[k] + x.at[k]);
        }
    }
}

static int compare_edges(const void* x, const void* y) {
    const edge *a = x, *b = y;
    if (a->cost != b->cost) {
        return a->cost < b->cost ? -1 : 1;
    }
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

static void list_edges(decimation* d) {
    d->edge_count = 0;
    for (int64_t t = 0; t < d->m->triangle_count; ++t) {
        for (int c = 0; c < 3; ++c) {
            int32_t a = d->m->triangle[t][c], b = d->m->triangle[t][(c + 1) % 3];
            if (a < b) {
                d->edges[d->edge_count++] = (edge){.a = a, .b = b};
            }
        }
    }
}

static int count_common(const int32_t* a, int a_count, const int32_t* b, int b_count) {
    int common = 0;
    for (int i = 0; i < a_count; ++i) {
        for (int j = 0; j < b_count; ++j) {
            common += a[i] == b[j];
        }
    }
    return common;
}

// No triangle around v that stays turns over if v goes to x.
static bool stays_upright(const decimation* d, int32_t v, int32_t other, vec3 x) {
    const surface_mesh* m = d->m;
    for (int64_t f = d->fans.first[v]; f < d->fans.first[v + 1]; ++f) {
        const int32_t* t = m->triangle[d->fans.list[f]];
        if (t[0] == other || t[1] == other || t[2] == other) {
            continue;
        }
        vec3 before[3], after[3];
        for (int c = 0; c < 3; ++c) {
            before[c] = mesh_decimate_place_of(m, t[c]);
            after[c] = t[c] == v ? x : before[c];
        }
        vec3 n = vec3_normalise(triangle_normal(before[0], before[1], before[2]));
        vec3 k = vec3_normalise(triangle_normal(after[0], after[1], after[2]));
        if (!(vec3_dot(n, k) > least_turn)) {
            return false;
        }
    }
    return true;
}

static bool are_free(const decimation* d, const int32_t* ring, int count) {
    for (int i = 0; i < count; ++i) {
        if (d->is_locked[ring[i]] != 0) {
            return false;
        }
    }
    return true;
}

static bool collapse(decimation* d, const edge* e) {
    int32_t around_a[SURFACE_RING_MAX], around_b[SURFACE_RING_MAX];
    if (d->is_locked[e->a] != 0 || d->is_locked[e->b] != 0) {
        return false;
    }
    int a = surface_fans_ring(&d->fans, d->m, e->a, around_a);
    int b = surface_fans_ring(&d->fans, d->m, e->b, around_b);
    vec3 x = vec3_make((double)e->place[0], (double)e->place[1], (double)e->place[2]);
    // The ends share exactly the two vertices opposite to the edge, or the surface would pinch; and
    // a closed piece keeps at least four triangles.
    bool may = a > 3 && b > 3 && count_common(around_a, a, around_b, b) == 2 &&
               are_free(d, around_a, a) && are_free(d, around_b, b) &&
               stays_upright(d, e->a, e->b, x) && stays_upright(d, e->b, e->a, x);
    if (!may) {
        return false;
    }
    for (int i = 0; i < a; ++i) {
        d->is_locked[around_a[i]] = 1;
    }
    for (int i = 0; i < b; ++i) {
        d->is_locked[around_b[i]] = 1;
    }
    d->becomes[e->b] = e->a;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        d->m->place[e->a][k] = e->place[k];
    }
    return true;
}

// Returns how many triangles went, or a failure.
static treacle_status do_round(decimation* d, int64_t* gone) {
    surface_mesh* m = d->m;
    TREACLE_TRY(surface_fans_create(m, &d->fans));
    list_edges(d);
    parallel_for(m->ctx, (int64_t)d->edge_count, EDGE_GRAIN, price, d);
    qsort(d->edges, d->edge_count, sizeof(edge), compare_edges);
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        d->is_locked[v] = 0;
        d->becomes[v] = (int32_t)v;
    }
    *gone = 0;
    for (size_t e = 0; e < d->edge_count && *gone < d->wanted; ++e) {
        if ((double)d->edges[e].cost > d->limit) {
            break;
        }
        *gone += collapse(d, &d->edges[e]) ? 2 : 0;
    }
    surface_mesh_compact(m, d->becomes);
    d->wanted -= *gone;
    surface_fans_destroy(&d->fans);
    return TREACLE_OK;
}

static treacle_status mesh_decimate_allocate(decimation* d) {
    treacle_context* ctx = d->m->ctx;
    size_t vertices = (size_t)d->m->vertex_count;
    void* block = NULL;
    d->edge_capacity = 3 * (size_t)d->m->triangle_count / 2 + 1;
    TREACLE_TRY(alloc_array(ctx, d->edge_capacity, sizeof(edge), "edges", &block));
    d->edges = block;
    TREACLE_TRY(alloc_array(ctx, vertices, 1, "marks of vertices", &block));
    d->is_locked = block;
    TREACLE_TRY(alloc_array(ctx, vertices, sizeof(int32_t), "marks of vertices", &block));
    d->becomes = block;
    return TREACLE_OK;
}

treacle_status surface_mesh_decimate(surface_mesh* m, double fraction, double step) {
    TREACLE_ASSERT(fraction >= 0.0 && fraction < 1.0);
    TREACLE_ASSERT(step > 0.0);
    decimation d = {.m = m, .limit = largest_error * largest_error * step * step};
    size_t vertices = (size_t)m->vertex_count;
    d.wanted = (int64_t)(fraction * (double)m->triangle_count);
    treacle_status status = mesh_decimate_allocate(&d);
    int64_t gone = 1;
    for (int round = 0; round < ROUNDS_MAX && status == TREACLE_OK; ++round) {
        if (d.wanted < 2 || gone == 0) {
            break;
        }
        status = do_round(&d, &gone);
    }
    alloc_free(m->ctx, d.edges, d.edge_capacity * sizeof(edge));
    alloc_free(m->ctx, d.is_locked, vertices);
    alloc_free(m->ctx, d.becomes, vertices * sizeof(int32_t));
    return status;
}
