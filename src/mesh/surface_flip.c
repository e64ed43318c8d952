#include "mesh/surface_flip.h"

#include <math.h>

#include "base/alloc.h"

enum { AXIS_COUNT = 3, PASSES = 3 };

static const double flattest = 0.05; // height over the longest side

static double square_between(const surface_mesh* m, int32_t a, int32_t b) {
    double sum = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double d = (double)m->place[a][k] - (double)m->place[b][k];
        sum += d * d;
    }
    return sum;
}

// Height over the longest side; *side is the corner from which that begins.
static double flatness(const surface_mesh* m, const int32_t t[3], int* side) {
    double squares[3], sum = 0.0, twos = 0.0;
    *side = 0;
    for (int c = 0; c < 3; ++c) {
        squares[c] = square_between(m, t[c], t[(c + 1) % 3]);
        sum += squares[c];
        twos += squares[c] * squares[c];
        *side = squares[c] > squares[*side] ? c : *side;
    }
    // Heron: 16 area^2 = sum^2 - 2 (squares of the squares), height = 2 area / side.
    double area = 0.25 * sqrt(fmax(sum * sum - 2.0 * twos, 0.0));
    return squares[*side] > 0.0 ? 2.0 * area / squares[*side] : 1.0;
}

// The triangle that has the side from a to b in this direction, or -1.
static int64_t find_side(const surface_mesh* m, const surface_fans* fans, int32_t a, int32_t b) {
    for (int64_t f = fans->first[a]; f < fans->first[a + 1]; ++f) {
        const int32_t* t = m->triangle[fans->list[f]];
        for (int c = 0; c < 3; ++c) {
            if (t[c] == a && t[(c + 1) % 3] == b) {
                return fans->list[f];
            }
        }
    }
    return -1;
}

static int32_t third_of(const int32_t t[3], int32_t a, int32_t b) {
    for (int c = 0; c < 2; ++c) {
        if (t[c] != a && t[c] != b) {
            return t[c];
        }
    }
    return t[2];
}

static bool is_better(const surface_mesh* m, const int32_t p[3], const int32_t q[3],
                      double before) {
    int side = 0;
    return fmin(flatness(m, p, &side), flatness(m, q, &side)) > before;
}

// Vertices whose fans have changed in this pass wait for the next.
static bool turn(surface_mesh* m, const surface_fans* fans, uint8_t* is_changed, int64_t i) {
    int side = 0;
    double before = flatness(m, m->triangle[i], &side);
    int32_t a = m->triangle[i][side], c = m->triangle[i][(side + 1) % 3];
    int32_t b = m->triangle[i][(side + 2) % 3];
    int64_t other = before < flattest ? find_side(m, fans, c, a) : -1;
    if (other < 0) {
        return false;
    }
    int32_t d = third_of(m->triangle[other], a, c);
    const int32_t first[3] = {a, d, b}, second[3] = {d, c, b};
    bool is_free = is_changed[a] + is_changed[b] + is_changed[c] + is_changed[d] == 0;
    if (!is_free || d == b || find_side(m, fans, b, d) >= 0 || find_side(m, fans, d, b) >= 0 ||
        !is_better(m, first, second, before)) {
        return false;
    }
    for (int k = 0; k < 3; ++k) {
        m->triangle[i][k] = first[k];
        m->triangle[other][k] = second[k];
    }
    is_changed[a] = is_changed[b] = is_changed[c] = is_changed[d] = 1;
    return true;
}

static treacle_status run_pass(surface_mesh* m, int64_t* turned) {
    surface_fans fans;
    void* block = NULL;
    *turned = 0;
    TREACLE_TRY(surface_fans_create(m, &fans));
    treacle_status status = alloc_zero(m->ctx, (size_t)m->vertex_count, 1, "turned sides", &block);
    for (int64_t i = 0; i < m->triangle_count && status == TREACLE_OK; ++i) {
        *turned += turn(m, &fans, block, i);
    }
    alloc_free(m->ctx, block, block == NULL ? 0 : (size_t)m->vertex_count);
    surface_fans_destroy(&fans);
    return status;
}

treacle_status surface_mesh_flip(surface_mesh* m) {
    TREACLE_ASSERT(m->ctx != NULL);
    int64_t turned = 1;
    for (int pass = 0; pass < PASSES && turned > 0; ++pass) {
        TREACLE_TRY(run_pass(m, &turned));
    }
    return TREACLE_OK;
}

// Merging -----------------------------------------------------------------------------------------

typedef struct merge_job {
    surface_mesh* m;
    const mesh_seams* seams;
    surface_fans fans;
    int32_t* becomes;   // [vertices], the vertex that takes its place
    uint8_t* is_locked; // [vertices], near one that has gone
    double square;      // of the length
} merge_job;

static bool is_short(const merge_job* job, int32_t a, int32_t b) {
    double sum = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double d = (double)job->m->place[a][k] - (double)job->m->place[b][k];
        sum += d * d;
    }
    return sum < job->square;
}

// Whether all that vertex b lies on holds a, too.
static bool holds(const mesh_seams* s, int32_t a, int32_t b) {
    bool is_held = s == NULL || s->is_free[a] != 0 || s->is_free[b] == 0;
    for (int i = 0; s != NULL && i < SEAM_BOUNDS && s->bound[b][i] >= 0; ++i) {
        bool has = false;
        for (int j = 0; j < SEAM_BOUNDS; ++j) {
            has = has || s->bound[a][j] == s->bound[b][i];
        }
        is_held = is_held && has;
    }
    return is_held;
}

// The ends share exactly the two vertices opposite to the side, or the surface would pinch; and a
// closed piece keeps at least four triangles.
static bool may_go(const merge_job* job, const int32_t* around_a, int a, const int32_t* around_b,
                   int b) {
    int common = 0, locked = 0;
    for (int i = 0; i < a; ++i) {
        locked += job->is_locked[around_a[i]];
        for (int j = 0; j < b; ++j) {
            common += around_a[i] == around_b[j];
        }
    }
    for (int j = 0; j < b; ++j) {
        locked += job->is_locked[around_b[j]];
    }
    return a > 3 && b > 3 && common == 2 && locked == 0;
}

static bool merge(merge_job* job, int32_t a, int32_t b) {
    if (!holds(job->seams, a, b)) {
        int32_t swap = a;
        a = b;
        b = swap;
    }
    int32_t around_a[SURFACE_RING_MAX], around_b[SURFACE_RING_MAX];
    int a_count = surface_fans_ring(&job->fans, job->m, a, around_a);
    int b_count = surface_fans_ring(&job->fans, job->m, b, around_b);
    if (!holds(job->seams, a, b) || job->is_locked[a] != 0 || job->is_locked[b] != 0 ||
        !may_go(job, around_a, a_count, around_b, b_count)) {
        return false;
    }
    for (int i = 0; i < a_count; ++i) {
        job->is_locked[around_a[i]] = 1;
    }
    for (int i = 0; i < b_count; ++i) {
        job->is_locked[around_b[i]] = 1;
    }
    job->becomes[b] = a;
    return true;
}

static treacle_status begin(merge_job* job) {
    size_t count = (size_t)job->m->vertex_count;
    void* block = NULL;
    TREACLE_TRY(surface_fans_create(job->m, &job->fans));
    TREACLE_TRY(alloc_array(job->m->ctx, count, sizeof(int32_t), "merged vertices", &block));
    job->becomes = block;
    TREACLE_TRY(alloc_zero(job->m->ctx, count, 1, "merged vertices", &block));
    job->is_locked = block;
    for (size_t v = 0; v < count; ++v) {
        job->becomes[v] = (int32_t)v;
    }
    return TREACLE_OK;
}

treacle_status surface_mesh_merge(surface_mesh* m, const mesh_seams* seams, double length) {
    TREACLE_ASSERT(length >= 0.0);
    TREACLE_ASSERT(seams == NULL || seams->count == m->vertex_count);
    merge_job job = {.m = m, .seams = seams, .square = length * length};
    size_t count = (size_t)m->vertex_count;
    treacle_status status = begin(&job);
    bool has_merged = false;
    for (int64_t t = 0; t < m->triangle_count && status == TREACLE_OK; ++t) {
        for (int c = 0; c < 3; ++c) {
            int32_t a = m->triangle[t][c], b = m->triangle[t][(c + 1) % 3];
            if (a < b && is_short(&job, a, b)) {
                has_merged = merge(&job, a, b) || has_merged;
            }
        }
    }
    if (has_merged) {
        surface_mesh_compact(m, job.becomes);
    }
    alloc_free(m->ctx, job.is_locked, job.is_locked == NULL ? 0 : count);
    alloc_free(m->ctx, job.becomes, job.becomes == NULL ? 0 : count * sizeof(int32_t));
    surface_fans_destroy(&job.fans);
    return status;
}
