// Blocks of face velocity with the sides of the domain folded in; the rules are in the header
// [BB08 sec. 5.2 for what no-slip means to the liquid].
#include "phys/velocity.h"

#include <string.h>

// The part of a block that one neighbour fills along one axis.
typedef struct span {
    int first, count; // in the block
    int from;         // in the neighbour
} span;

// Low neighbours give their last layers, the tile itself all of it, high ones their first layers.
static span span_of(int offset, velocity_block block, bool is_active) {
    if (!is_active) {
        return offset == 0 ? (span){block.halo, 1, 0} : (span){0, 0, 0};
    }
    switch (offset) {
    case -1:
        return (span){0, block.halo, TILE_SIZE - block.halo};
    case 0:
        return (span){block.halo, TILE_SIZE, 0};
    default:
        return (span){block.halo + TILE_SIZE, block.halo, 0};
    }
}

static void copy_span(const float* from, const span at[AXES], int n, float* out) {
    for (int k = 0; k < at[2].count; ++k) {
        for (int j = 0; j < at[1].count; ++j) {
            const float* row =
                from + ((at[2].from + k) * TILE_SIZE + at[1].from + j) * TILE_SIZE + at[0].from;
            memcpy(out + ((at[2].first + k) * n + at[1].first + j) * n + at[0].first, row,
                   (size_t)at[0].count * sizeof(float));
        }
    }
}

// All 26 neighbours: the kernel of a particle at a corner of the tile reaches into each of them.
static void gather_neighbours(const face_velocity* field, const float* values, tile_ix tile,
                              velocity_block block, float* out) {
    const bool* is_active = field->domain->is_active;
    for (int i = 0; i < TILE_NEIGHBOURS; ++i) {
        int offset[AXES] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        span at[AXES];
        for (int b = 0; b < AXES; ++b) {
            at[b] = span_of(offset[b], block, is_active[b]);
        }
        tile_ix from = field->map->neighbour[tile][i];
        copy_span(values + (size_t)from * TILE_CELLS, at, block.size, out);
    }
}

// Copies plane `from` of axis b to plane `to`, times sign.
static void copy_plane(float* out, int n, int b, int from, int to, float sign) {
    int stride[AXES] = {1, n, n * n};
    int c = (b + 1) % AXES, d = (b + 2) % AXES;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            int row = i * stride[c] + j * stride[d];
            out[row + to * stride[b]] = sign * out[row + from * stride[b]];
        }
    }
}

// Adds twice the plane `from` of axis b to plane `to`.
static void add_twice(float* out, int n, int b, int from, int to) {
    int stride[AXES] = {1, n, n * n};
    int c = (b + 1) % AXES, d = (b + 2) % AXES;
    for (int i = 0; i < n * n; ++i) {
        int row = i % n * stride[c] + i / n * stride[d];
        out[row + to * stride[b]] += 2.0f * out[row + from * stride[b]];
    }
}

// Adds the same to all of plane `to` of axis b.
static void add_to_plane(float* out, int n, int b, int to, float value) {
    int stride[AXES] = {1, n, n * n};
    int c = (b + 1) % AXES, d = (b + 2) % AXES;
    for (int i = 0; i < n * n; ++i) {
        out[i % n * stride[c] + i / n * stride[d] + to * stride[b]] += value;
    }
}

// Where liquid may leave a side, the side is no mirror for the flow across it.
static bool lets_go(const face_velocity* field, int axis, int end) {
    return field->has_gaps || field->domain->separation[axis][end].is_on;
}

// A value beyond a side is a combination of values inside, u(g) = sign u(plane) + 2 u(edge) + add:
// the table in the header, evaluated for one plane.
velocity_mirror velocity_mirror_of(const face_velocity* field, int a, int b, int g) {
    TREACLE_ASSERT(a >= 0 && a <= AXES && b >= 0 && b < AXES);
    const grid_domain* domain = field->domain;
    int n = domain->cells[b];
    int last = b == a ? n : n - 1;
    if (g >= 0 && g <= last) {
        int end = g == 0 ? 0 : 1;
        bool on_side = b == a && (g == 0 || g == n) && domain->sides[b][end] != TREACLE_SIDE_OPEN &&
                       !lets_go(field, b, end);
        return (velocity_mirror){g, on_side ? 0.0f : 1.0f, VELOCITY_NO_EDGE, 0.0f};
    }
    treacle_side side = domain->sides[b][g < 0 ? 0 : 1];
    if (b == a) {
        bool is_open = side == TREACLE_SIDE_OPEN;
        int edge = g < 0 ? 0 : n;
        bool has_edge = !is_open && lets_go(field, b, g < 0 ? 0 : 1);
        return (velocity_mirror){is_open ? edge : 2 * edge - g, is_open ? 1.0f : -1.0f,
                                 has_edge ? edge : VELOCITY_NO_EDGE, 0.0f};
    }
    if (a < AXES && field->keeps_flux) {
        int edge = g < 0 ? 0 : last;
        return (velocity_mirror){2 * edge - g, -1.0f, edge, 0.0f};
    }
    bool sticks = a < AXES && side == TREACLE_SIDE_NO_SLIP && field->has_viscosity;
    int end = g < 0 ? 0 : 1, plane = g < 0 ? -1 - g : 2 * n - 1 - g;
    if (!sticks) {
        return (velocity_mirror){plane, 1.0f, VELOCITY_NO_EDGE, 0.0f};
    }
    // The line through u at the distance y from the side that is v at the slip length behind it.
    double y = g < 0 ? plane + 0.5 : n - plane - 0.5,
           slip = domain->slip_length[b][end] / domain->h;
    double ratio = (slip - y) / (slip + y), v = domain->side_u[b][end][a];
    return (velocity_mirror){plane, (float)ratio, VELOCITY_NO_EDGE, (float)((1.0 - ratio) * v)};
}

// Axis after axis, each on what the one before has filled: corners and edges then follow from both
// rules.
static void fold_sides(const face_velocity* field, int a, tile_ix tile, velocity_block block,
                       float* out) {
    for (int b = 0; b < AXES; ++b) {
        if (!field->domain->is_active[b] || field->domain->is_periodic[b]) {
            continue;
        }
        int low = field->map->coord[tile].at[b] * TILE_SIZE - block.halo;
        for (int i = 0; i < block.size; ++i) {
            velocity_mirror m = velocity_mirror_of(field, a, b, low + i);
            int from = m.plane - low;
            if ((from != i || m.sign != 1.0f) && from >= 0 && from < block.size) {
                copy_plane(out, block.size, b, from, i, m.sign);
                if (m.edge != VELOCITY_NO_EDGE) {
                    add_twice(out, block.size, b, m.edge - low, i);
                }
                if (m.add != 0.0f) {
                    add_to_plane(out, block.size, b, i, m.add);
                }
            }
        }
    }
}

void velocity_gather(const face_velocity* field, int a, tile_ix tile, velocity_block block,
                     float* out) {
    TREACLE_ASSERT(a >= 0 && a < AXES && field->u.at[a] != NULL);
    TREACLE_ASSERT(tile >= 0 && tile < field->map->count);
    TREACLE_ASSERT(block.halo <= VELOCITY_HALO_MAX && block.size == TILE_SIZE + 2 * block.halo);
    gather_neighbours(field, field->u.at[a], tile, block, out);
    fold_sides(field, a, tile, block, out);
}

void velocity_gather_cells(const face_velocity* field, const float* cell, tile_ix tile,
                           velocity_block block, float* out) {
    TREACLE_ASSERT(cell != NULL);
    TREACLE_ASSERT(tile >= 0 && tile < field->map->count);
    TREACLE_ASSERT(block.halo <= VELOCITY_HALO_MAX && block.size == TILE_SIZE + 2 * block.halo);
    gather_neighbours(field, cell, tile, block, out);
    fold_sides(field, AXES, tile, block, out);
}
