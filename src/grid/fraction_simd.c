#include "grid/fraction_tile.h"

#include "grid/octant.h"

// Along an axis, of a tile: lattice points -2 .. 16 are made of the cells that are read, octants
// -2 .. 15 between these, cells -1 .. 7 of these.
enum {
    CELLS_IN = BLOCK_SIDE(FRACTION_LOW, FRACTION_HIGH),
    POINTS = FRACTION_POINTS,
    OCTANTS = 18,
    CELLS = 9,
};

typedef struct lattice {
    float at[POINTS][POINTS][POINTS]; // [z][y][x], from point -2 on
} lattice;

typedef struct octants {
    float volume[OCTANTS][OCTANTS][OCTANTS]; // 0..1, from octant -2 on
    float bias[AXES][CELLS][CELLS][CELLS];   // of each cell, from cell -1 on: first moment of its
                                             // octants about their own middle, in octants
} octants;

// n lines of 13 values at cells, `stride` apart along the line, to lines of 19 on the lattice: at
// cells the value itself, midway the cubic through four.
static void refine_lines(int n, const float* from, int stride, float* to, int to_stride) {
    for (int q = 0; q < POINTS; ++q) {
        // q counts from point -2, which is midway between the second and the third cell read.
        const float* f = from + (q / 2 + 1) * stride;
        float* out = to + q * to_stride;
        for (int i = 0; i < n; ++i) {
            float midway =
                0.0625f * (9.0f * (f[i] + f[i + stride]) - (f[i - stride] + f[i + 2 * stride]));
            out[i] = q % 2 == 1 ? f[i + stride] : midway;
        }
    }
}

static void refine(const float* block, lattice* out) {
    float by_z[POINTS][CELLS_IN][CELLS_IN], by_y[POINTS][POINTS][CELLS_IN];
    refine_lines(CELLS_IN * CELLS_IN, block, CELLS_IN * CELLS_IN, &by_z[0][0][0],
                 CELLS_IN * CELLS_IN);
    for (int z = 0; z < POINTS; ++z) {
        refine_lines(CELLS_IN, &by_z[z][0][0], CELLS_IN, &by_y[z][0][0], CELLS_IN);
        for (int y = 0; y < POINTS; ++y) {
            refine_lines(1, by_y[z][y], 1, out->at[z][y], 1);
        }
    }
}

static float least(float p, float q) {
    return p < q ? p : q;
}

static float greatest(float p, float q) {
    return p > q ? p : q;
}

// Octant (x, y, z), which the surface cuts. Its diagonal runs from the cell's centre, so that the
// diagonals of neighbours agree and mirror images are mirrored exactly.
static void cut_octant(const lattice* points, int x, int y, int z, octants* out) {
    const int q[AXES] = {x, y, z};
    int from[AXES], step[AXES];
    for (int a = 0; a < AXES; ++a) {
        // Counted from -2, so odd octants begin at a centre and even ones end there.
        from[a] = q[a] + (q[a] + 1) % 2;
        step[a] = q[a] % 2 == 1 ? 1 : -1;
    }
    float f[8];
    for (int i = 0; i < 8; ++i) {
        f[i] = points->at[from[2] + (i >> 2) * step[2]][from[1] + (i >> 1 & 1) * step[1]]
                         [from[0] + (i & 1) * step[0]];
    }
    octant_part part = octant_below(f);
    out->volume[z][y][x] = part.volume;
    for (int a = 0; a < AXES; ++a) {
        float about_middle = part.moment[a] - 0.5f * part.volume;
        out->bias[a][z / 2][y / 2][x / 2] += (float)step[a] * about_middle;
    }
}

// One row of octants: those that the surface does not cut at once, the others one by one.
static void cut_row(const lattice* points, int y, int z, octants* out) {
    const float *r00 = points->at[z][y], *r01 = points->at[z][y + 1];
    const float *r10 = points->at[z + 1][y], *r11 = points->at[z + 1][y + 1];
    float low[POINTS], high[POINTS], any_cut = 0.0f;
    for (int x = 0; x < POINTS; ++x) {
        low[x] = least(least(r00[x], r01[x]), least(r10[x], r11[x]));
        high[x] = greatest(greatest(r00[x], r01[x]), greatest(r10[x], r11[x]));
    }
    float* volume = out->volume[z][y];
    for (int x = 0; x < OCTANTS; ++x) {
        bool has_below = least(low[x], low[x + 1]) < 0.0f;
        bool has_above = greatest(high[x], high[x + 1]) >= 0.0f;
        volume[x] = has_below ? (has_above ? -1.0f : 1.0f) : 0.0f;
        any_cut = least(any_cut, volume[x]);
    }
    for (int x = 0; x < OCTANTS && any_cut < 0.0f; ++x) {
        if (volume[x] < 0.0f) {
            cut_octant(points, x, y, z, out);
        }
    }
}

static void cut_octants(const lattice* points, octants* out) {
    memset(out->bias, 0, sizeof(out->bias));
    for (int z = 0; z < OCTANTS; ++z) {
        for (int y = 0; y < OCTANTS; ++y) {
            cut_row(points, y, z, out);
        }
    }
}

// Mean of the 8 octants of the first n boxes of a tile's row (y, z); shift[a] = 1 for boxes that
// begin half a cell below the cell.
static void sum_row(const octants* in, const int shift[AXES], const int yz[2], int n, float* out) {
    float sum[OCTANTS];
    const int qy = 2 * yz[0] + 2 - shift[1], qz = 2 * yz[1] + 2 - shift[2];
    for (int x = 0; x < OCTANTS; ++x) {
        sum[x] = (in->volume[qz][qy][x] + in->volume[qz][qy + 1][x]) +
                 (in->volume[qz + 1][qy][x] + in->volume[qz + 1][qy + 1][x]);
    }
    for (int x = 0; x < n; ++x) {
        int q = 2 * x + 2 - shift[0];
        out[x] = 0.125f * (sum[q] + sum[q + 1]);
    }
}

static void fill_boxes(const octants* in, const int layers[AXES], const int shift[AXES],
                       float* tile) {
    for (int z = 0; z < layers[2]; ++z) {
        for (int y = 0; y < layers[1]; ++y) {
            sum_row(in, shift, (const int[2]){y, z}, layers[0],
                    tile + (z * TILE_SIZE + y) * TILE_SIZE);
        }
    }
}

// Volume inside of cells (from -1 on) and its first moments about the cell's low corner.
typedef struct cell_parts {
    float volume[CELLS][CELLS][CELLS];
    float moment[AXES][CELLS][CELLS][CELLS];
} cell_parts;

// The four rows of octants of a row of cells: all of them, the upper ones along y, and along z.
static void sum_cell_row(const octants* in, int y, int z, cell_parts* out) {
    float all[OCTANTS], upper_y[OCTANTS], upper_z[OCTANTS];
    for (int q = 0; q < OCTANTS; ++q) {
        float v00 = in->volume[2 * z][2 * y][q], v01 = in->volume[2 * z][2 * y + 1][q];
        float v10 = in->volume[2 * z + 1][2 * y][q], v11 = in->volume[2 * z + 1][2 * y + 1][q];
        all[q] = (v00 + v11) + (v01 + v10);
        upper_y[q] = v01 + v11;
        upper_z[q] = v10 + v11;
    }
    for (int x = 0; x < CELLS; ++x) {
        float sum = all[2 * x] + all[2 * x + 1];
        const float upper[AXES] = {all[2 * x + 1], upper_y[2 * x] + upper_y[2 * x + 1],
                                   upper_z[2 * x] + upper_z[2 * x + 1]};
        out->volume[z][y][x] = 0.125f * sum;
        for (int a = 0; a < AXES; ++a) {
            // Middles of octants are 1/4 and 3/4 up the cell.
            out->moment[a][z][y][x] =
                0.125f * (0.25f * sum + 0.5f * (upper[a] + in->bias[a][z][y][x]));
        }
    }
}

static void sum_cells(const octants* in, cell_parts* out) {
    for (int z = 0; z < CELLS; ++z) {
        for (int y = 0; y < CELLS; ++y) {
            sum_cell_row(in, y, z, out);
        }
    }
}

// The tent of face I is the integral over the inside of a weight that falls from 1 at the face to 0
// at the far sides of both cells: V(I) - m(I) + m(I - e_a).
static void fill_tents(const cell_parts* in, const int layers[AXES], int axis, float* tile) {
    const int down = axis == 0 ? 1 : axis == 1 ? CELLS : CELLS * CELLS;
    for (int z = 0; z < layers[2]; ++z) {
        for (int y = 0; y < layers[1]; ++y) {
            const float* volume = &in->volume[z + 1][y + 1][1];
            const float* moment = &in->moment[axis][z + 1][y + 1][1];
            float* out = tile + (z * TILE_SIZE + y) * TILE_SIZE;
            for (int x = 0; x < layers[0]; ++x) {
                out[x] = volume[x] - moment[x] + moment[x - down];
            }
        }
    }
}

// Fraction of the area of the low face of cell (x, y, z) across an axis: its four squares.
static float area_of_face(const lattice* points, int axis, const int cell[AXES]) {
    static const int strides[AXES] = {1, POINTS, POINTS * POINTS};
    int b = (axis + 1) % AXES, c = (axis + 2) % AXES;
    // The middle of the face; the cell's low corner is point 2 I, counted from -2.
    int middle = 2 * cell[axis] * strides[axis] + (2 * cell[b] + 1) * strides[b] +
                 (2 * cell[c] + 1) * strides[c];
    const float* f = &points->at[0][0][0] + middle;
    f += 2 * (strides[0] + strides[1] + strides[2]);
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i) {
        int to_b = i % 2 == 0 ? strides[b] : -strides[b];
        int to_c = i < 2 ? strides[c] : -strides[c];
        sum += square_below((const float[4]){f[0], f[to_b], f[to_c], f[to_b + to_c]});
    }
    return 0.25f * sum;
}

static void fill_areas(const lattice* points, const int layers[AXES], int axis, float* tile) {
    for (int z = 0; z < layers[2]; ++z) {
        for (int y = 0; y < layers[1]; ++y) {
            for (int x = 0; x < layers[0]; ++x) {
                tile[(z * TILE_SIZE + y) * TILE_SIZE + x] =
                    area_of_face(points, axis, (const int[AXES]){x, y, z});
            }
        }
    }
}

static void fill_fields(const lattice* points, const int layers[AXES],
                        const fraction_fields* tile) {
    octants parts;
    cut_octants(points, &parts);
    if (tile->cell != NULL) {
        fill_boxes(&parts, layers, (const int[AXES]){0, 0, 0}, tile->cell);
    }
    bool has_tents =
        tile->tent.at[0] != NULL || tile->tent.at[1] != NULL || tile->tent.at[2] != NULL;
    cell_parts cells;
    if (has_tents) {
        sum_cells(&parts, &cells);
    }
    for (int a = 0; a < AXES; ++a) {
        const int face[AXES] = {a == 0, a == 1, a == 2}, edge[AXES] = {a != 0, a != 1, a != 2};
        if (tile->face.at[a] != NULL) {
            fill_boxes(&parts, layers, face, tile->face.at[a]);
        }
        if (tile->edge.at[a] != NULL) {
            fill_boxes(&parts, layers, edge, tile->edge.at[a]);
        }
        if (tile->tent.at[a] != NULL) {
            fill_tents(&cells, layers, a, tile->tent.at[a]);
        }
        if (tile->area.at[a] != NULL) {
            fill_areas(points, layers, a, tile->area.at[a]);
        }
    }
}

void ISA(fraction_tile)(const float* block, const int layers[AXES], const fraction_fields* tile) {
    TREACLE_ASSERT(layers[0] >= 1 && layers[0] <= TILE_SIZE);
    TREACLE_ASSERT(layers[1] >= 1 && layers[1] <= TILE_SIZE);
    TREACLE_ASSERT(layers[2] >= 1 && layers[2] <= TILE_SIZE);
    lattice points;
    refine(block, &points);
    fill_fields(&points, layers, tile);
}

void ISA(fraction_refine)(const float* block, float* points) {
    TREACLE_ASSERT(block != points);
    refine(block, (lattice*)(void*)points);
}

void ISA(fraction_points)(const float* points, const int layers[AXES],
                          const fraction_fields* tile) {
    TREACLE_ASSERT(layers[0] >= 1 && layers[0] <= TILE_SIZE);
    TREACLE_ASSERT(layers[1] >= 1 && layers[1] <= TILE_SIZE);
    TREACLE_ASSERT(layers[2] >= 1 && layers[2] <= TILE_SIZE);
    fill_fields((const lattice*)(const void*)points, layers, tile);
}
