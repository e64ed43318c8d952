#include "grid/octant.h"

#include <math.h>

// Integrals of the four barycentric coordinates over the part of a tetrahedron that is below zero,
// for a tetrahedron of volume 1.
typedef struct tet_part {
    float of[4];
} tet_part;

// Fraction of the way from a value to another of the other sign at which zero lies.
static float fraction(float from, float to) {
    return from / (from - to);
}

// Vertex a alone is on its side: a small tetrahedron at a, its three other corners t along the
// edges.
static tet_part corner_part(const float f[4], int a) {
    tet_part out;
    float volume = 1.0f, sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        out.of[k] = k == a ? 0.0f : fraction(f[a], f[k]);
        volume *= k == a ? 1.0f : out.of[k];
        sum += out.of[k];
    }
    for (int k = 0; k < 4; ++k) {
        out.of[k] = 0.25f * volume * (k == a ? 4.0f - sum : out.of[k]);
    }
    return out;
}

// Vertices a and b are on one side, c and d on the other: a wedge of the three tetrahedra
// (a, b, bc, bd), (a, ac, bc, bd), (a, ac, ad, bd), where bc is the point on the edge b c.
static tet_part wedge_part(const float f[4], const int at[4]) {
    int a = at[0], b = at[1], c = at[2], d = at[3];
    float ac = fraction(f[a], f[c]), ad = fraction(f[a], f[d]);
    float bc = fraction(f[b], f[c]), bd = fraction(f[b], f[d]);
    float first = 0.25f * bc * bd;
    float second = 0.25f * ac * (1.0f - bc) * bd;
    float third = 0.25f * ac * ad * (1.0f - bd);
    tet_part out;
    out.of[a] = first + second * (2.0f - ac) + third * (3.0f - ac - ad);
    out.of[b] = (first + second) * (2.0f - bc - bd) + first + third * (1.0f - bd);
    out.of[c] = (first + second) * bc + (second + third) * ac;
    out.of[d] = (first + second + third) * bd + third * ad;
    return out;
}

static tet_part tet_below(const float f[4]) {
    int at[4], low = 0, high = 4; // vertices below zero from the front, the others from the back
    for (int k = 0; k < 4; ++k) {
        at[f[k] < 0.0f ? low++ : --high] = k;
    }
    switch (low) {
    case 0:
        return (tet_part){{0.0f, 0.0f, 0.0f, 0.0f}};
    case 1:
        return corner_part(f, at[0]);
    case 2:
        return wedge_part(f, at);
    case 4:
        return (tet_part){{0.25f, 0.25f, 0.25f, 0.25f}};
    default: {
        tet_part out = corner_part(f, at[3]);
        for (int k = 0; k < 4; ++k) {
            out.of[k] = 0.25f - out.of[k];
        }
        return out;
    }
    }
}

octant_part octant_below(const float f[8]) {
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    octant_part out = {0};
    for (int i = 0; i < 6; ++i) {
        // The tetrahedron on the way from corner 0 to corner 7 along axes a, b, c in turn.
        int a = order[i][0], b = order[i][1], c = order[i][2];
        int first = 1 << a, second = first | 1 << b;
        tet_part part = tet_below((const float[4]){f[0], f[first], f[second], f[7]});
        float beyond_c = part.of[3], beyond_b = part.of[2] + beyond_c;
        float beyond_a = part.of[1] + beyond_b;
        out.moment[c] += beyond_c;
        out.moment[b] += beyond_b;
        out.moment[a] += beyond_a;
        out.volume += part.of[0] + beyond_a;
    }
    out.volume *= 1.0f / 6.0f;
    for (int a = 0; a < 3; ++a) {
        out.moment[a] *= 1.0f / 6.0f;
    }
    return out;
}

// Where zero lies on the edge from vertex i to vertex j of a tetrahedron.
static void zero_on_edge(const float f[4], const float x[4][3], int i, int j, float out[3]) {
    float t = fraction(f[i], f[j]);
    for (int a = 0; a < 3; ++a) {
        out[a] = x[i][a] + t * (x[j][a] - x[i][a]);
    }
}

// Adds a flat piece whose area and normal are half of the product of two vectors, b - a and d - c.
static void add_facet(const float a[3], const float b[3], const float c[3], const float d[3],
                      octant_sheet* out) {
    float p[3], q[3], twice[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = b[k] - a[k];
        q[k] = d[k] - c[k];
    }
    for (int k = 0; k < 3; ++k) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        twice[k] = p[l] * q[m] - p[m] * q[l];
    }
    float length = sqrtf((twice[0] * twice[0] + twice[1] * twice[1]) + twice[2] * twice[2]);
    for (int k = 0; k < 3 && length > 0.0f; ++k) {
        out->square[k] += 0.5f * twice[k] * twice[k] / length;
    }
}

// The piece of a tetrahedron with its vertices at x: a triangle around a vertex that is alone on
// its side, or a quadrangle, whose area follows from its diagonals.
static void add_tet_surface(const float f[4], const float x[4][3], octant_sheet* out) {
    int at[4], low = 0, high = 4;
    for (int k = 0; k < 4; ++k) {
        at[f[k] < 0.0f ? low++ : --high] = k;
    }
    float p[4][3];
    if (low == 2) {
        zero_on_edge(f, x, at[0], at[2], p[0]);
        zero_on_edge(f, x, at[1], at[3], p[1]);
        zero_on_edge(f, x, at[0], at[3], p[2]);
        zero_on_edge(f, x, at[1], at[2], p[3]);
        add_facet(p[0], p[1], p[2], p[3], out);
    } else if (low == 1 || low == 3) {
        int lone = low == 1 ? 0 : 3;
        for (int k = 0; k < 3; ++k) {
            zero_on_edge(f, x, at[lone], at[(lone + 1 + k) % 4], p[k]);
        }
        add_facet(p[0], p[1], p[0], p[2], out);
    }
}

octant_sheet octant_surface(const float f[8]) {
    octant_sheet out = {0};
    for (int i = 0; i < 6; ++i) {
        // As in octant_below: from corner 0 to corner 7 along axes a, b, c in turn.
        int a = i / 2, b = (a + 1 + i % 2) % 3, first = 1 << a, second = first | 1 << b;
        const int corner[4] = {0, first, second, 7};
        float x[4][3], value[4];
        for (int k = 0; k < 4; ++k) {
            value[k] = f[corner[k]];
            for (int n = 0; n < 3; ++n) {
                x[k][n] = (float)(corner[k] >> n & 1);
            }
        }
        add_tet_surface(value, (const float(*)[3])x, &out);
    }
    return out;
}

static float triangle_below(float p, float q, float r) {
    int low = (p < 0.0f) + (q < 0.0f) + (r < 0.0f);
    if (low == 0 || low == 3) {
        return low == 0 ? 0.0f : 1.0f;
    }
    // The vertex that is alone on its side.
    float lone = p, one = q, two = r;
    if ((q < 0.0f) == (low == 1)) {
        lone = q;
        one = p;
    } else if ((r < 0.0f) == (low == 1)) {
        lone = r;
        two = p;
    }
    float corner = fraction(lone, one) * fraction(lone, two);
    return low == 1 ? corner : 1.0f - corner;
}

float square_below(const float f[4]) {
    return 0.5f * (triangle_below(f[0], f[1], f[3]) + triangle_below(f[0], f[2], f[3]));
}
