#include "mesh/contour.h"

#include <string.h>

enum { AXIS_COUNT = 3, FACES = 6, LOOP_MAX = 12, NONE = 255 };

typedef struct cube {
    uint8_t edge_of[8][8];           // edge between two corners
    uint8_t face[FACES][4];          // corners, counter-clockwise seen from outside
    uint8_t faces_of[CONTOUR_EDGES]; // bits: the two faces at an edge
    uint8_t corner[CONTOUR_EDGES][2];
} cube;

static void list_edges(cube* q) {
    for (int e = 0; e < CONTOUR_EDGES; ++e) {
        int a = e / 4, j = e % 4;
        int low = (j & 1) << (a + 1) % 3 | (j >> 1) << (a + 2) % 3, high = low | 1 << a;
        q->corner[e][0] = (uint8_t)low;
        q->corner[e][1] = (uint8_t)high;
        q->edge_of[low][high] = q->edge_of[high][low] = (uint8_t)e;
    }
}

static void list_faces(cube* q) {
    for (int f = 0; f < FACES; ++f) {
        int a = f / 2, side = f % 2, b = 1 << (a + 1) % 3, c = 1 << (a + 2) % 3;
        const int around[4] = {0, b, b | c, c};
        for (int i = 0; i < 4; ++i) {
            q->face[f][i] = (uint8_t)(side << a | around[side == 1 ? i : 3 - i]);
        }
        for (int i = 0; i < 4; ++i) {
            int e = q->edge_of[q->face[f][i]][q->face[f][(i + 1) % 4]];
            q->faces_of[e] = (uint8_t)(q->faces_of[e] | 1 << f);
        }
    }
}

// next[e]: where the loop goes from edge e, across the face on which e leaves the inside.
static void link_edges(const cube* q, int inside, uint8_t next[CONTOUR_EDGES]) {
    memset(next, NONE, CONTOUR_EDGES);
    for (int f = 0; f < FACES; ++f) {
        const uint8_t* corner = q->face[f];
        for (int i = 0; i < 4; ++i) {
            int j = (i + 1) % 4;
            if ((inside >> corner[i] & 1) == 0 || (inside >> corner[j] & 1) != 0) {
                continue;
            }
            int k = i; // back to where the run of inside corners begins
            while ((inside >> corner[(k + 3) % 4] & 1) != 0) {
                k = (k + 3) % 4;
            }
            next[q->edge_of[corner[i]][corner[j]]] = q->edge_of[corner[(k + 3) % 4]][corner[k]];
        }
    }
}

typedef struct loop {
    const cube* q;
    int count;
    uint8_t edge[LOOP_MAX];
    uint8_t (*out)[3];
    int triangles;
} loop;

static bool may_join(const loop* l, int i, int j) {
    int apart = j - i;
    bool is_side = apart == 1 || apart == l->count - 1;
    return is_side || (l->q->faces_of[l->edge[i]] & l->q->faces_of[l->edge[j]]) == 0;
}

// Triangulates the part of the loop from i to j, whose side (i, j) is there already.
static bool triangulate(loop* l, int i, int j) {
    if (j == i + 1) {
        return true;
    }
    int before = l->triangles;
    for (int k = i + 1; k < j; ++k) {
        if (may_join(l, i, k) && may_join(l, k, j) && triangulate(l, i, k) &&
            triangulate(l, k, j)) {
            uint8_t* out = l->out[l->triangles++];
            out[0] = l->edge[j];
            out[1] = l->edge[k];
            out[2] = l->edge[i];
            return true;
        }
        l->triangles = before;
    }
    return false;
}

static bool make_case(const cube* q, int inside, contour_table* out) {
    uint8_t next[CONTOUR_EDGES];
    link_edges(q, inside, next);
    loop l = {.q = q, .out = out->edge[inside]};
    bool is_made = true;
    for (int e = 0; e < CONTOUR_EDGES; ++e) {
        l.count = 0;
        for (int at = e; next[at] != NONE;) {
            int to = next[at];
            l.edge[l.count++] = (uint8_t)at;
            next[at] = NONE;
            at = to;
        }
        is_made = is_made && (l.count == 0 || triangulate(&l, 0, l.count - 1));
    }
    out->count[inside] = (uint8_t)l.triangles;
    return is_made;
}

bool contour_table_make(contour_table* out) {
    cube q = {0};
    *out = (contour_table){0};
    list_edges(&q);
    list_faces(&q);
    memcpy(out->corner, q.corner, sizeof(q.corner));
    bool is_made = true;
    for (int inside = 0; inside < CONTOUR_CASES; ++inside) {
        is_made = make_case(&q, inside, out) && is_made;
    }
    return is_made;
}
