#include "grid/fraction.h"

#include <string.h>

#include "base/parallel.h"
#include "grid/gather.h"
#include "grid/octant.h"

// Along an axis, of a tile: cells -LOW .. 7 + HIGH are read, lattice points -2 .. 16 made of them,
// octants -2 .. 15 between these, cells -1 .. 7 of these.
enum {
    LOW = 3,
    HIGH = 2,
    CELLS_IN = BLOCK_SIDE(LOW, HIGH),
    POINTS = 19,
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

typedef struct fraction_job {
    const fraction_params* params;
    const fraction_fields* out;
} fraction_job;

// 13 values at cells to 19 on the lattice: at cells the value itself, midway the cubic through
// four.
static void refine_line(const float* from, int stride, float* to, int to_stride) {
    for (int q = 0; q < POINTS; ++q) {
        int i = q / 2 + 1; // q counts from point -2, midway between cells -2 and -1 of from[1], [2]
        const float* f = from + i * stride;
        to[q * to_stride] =
            q % 2 == 1 ? f[stride]
                       : 0.0625f * (9.0f * (f[0] + f[stride]) - (f[-stride] + f[2 * stride]));
    }
}

static void refine(const float* block, lattice* out) {
    float by_x[CELLS_IN][CELLS_IN][POINTS], by_y[CELLS_IN][POINTS][POINTS];
    for (int z = 0; z < CELLS_IN; ++z) {
        for (int y = 0; y < CELLS_IN; ++y) {
            refine_line(block + (z * CELLS_IN + y) * CELLS_IN, 1, by_x[z][y], 1);
        }
        for (int x = 0; x < POINTS; ++x) {
            refine_line(&by_x[z][0][x], POINTS, &by_y[z][0][x], POINTS);
        }
    }
    for (int y = 0; y < POINTS; ++y) {
        for (int x = 0; x < POINTS; ++x) {
            refine_line(&by_y[0][y][x], POINTS * POINTS, &out->at[0][y][x], POINTS * POINTS);
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

// Volume inside of cell I (from -1 on) and its first moment along an axis, from the cell's low
// side.
typedef struct cell_part {
    float volume, moment;
} cell_part;

static cell_part part_of_cell(const octants* in, int axis, const int cell[AXES]) {
    float half[2] = {0.0f, 0.0f}; // of the lower and the upper four octants
    for (int i = 0; i < 8; ++i) {
        const int o[AXES] = {i & 1, i >> 1 & 1, i >> 2};
        half[o[axis]] += in->volume[2 * cell[2] + o[2]][2 * cell[1] + o[1]][2 * cell[0] + o[0]];
    }
    float bias = in->bias[axis][cell[2]][cell[1]][cell[0]];
    return (cell_part){0.125f * (half[0] + half[1]),
                       0.125f * (0.25f * half[0] + 0.75f * half[1] + 0.5f * bias)};
}

// The tent of face I is the integral over the inside of a weight that falls from 1 at the face to 0
// at the far sides of both cells: V(I) - m(I) + m(I - e_a).
static void fill_tents(const octants* in, const int layers[AXES], int axis, float* tile) {
    for (int z = 0; z < layers[2]; ++z) {
        for (int y = 0; y < layers[1]; ++y) {
            for (int x = 0; x < layers[0]; ++x) {
                int cell[AXES] = {x + 1, y + 1, z + 1};
                cell_part above = part_of_cell(in, axis, cell);
                cell[axis] -= 1;
                cell_part below = part_of_cell(in, axis, cell);
                tile[(z * TILE_SIZE + y) * TILE_SIZE + x] =
                    above.volume - above.moment + below.moment;
            }
        }
    }
}

// Share of the area of the low face of cell (x, y, z) across an axis: its four squares.
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

// 1 if the block is inside throughout, 0 if outside, -1 if the surface may cut an octant of it: no
// point of a cell is further than sqrt(3)/2 from the centre.
static int side_of(const float* block) {
    float low = block[0], high = block[0];
    for (int i = 0; i < BLOCK_VALUES(LOW, HIGH); ++i) {
        low = least(low, block[i]);
        high = greatest(high, block[i]);
    }
    return low > 1.0f ? 0 : high < -1.0f ? 1 : -1;
}

static void fill_even(float* tile, const int layers[AXES], float value) {
    for (int z = 0; z < layers[2]; ++z) {
        for (int y = 0; y < layers[1]; ++y) {
            for (int x = 0; x < layers[0]; ++x) {
                tile[(z * TILE_SIZE + y) * TILE_SIZE + x] = value;
            }
        }
    }
}

enum { FIELDS = 1 + 4 * AXES };

// All fields of the struct, NULL or not.
static void list_fields(const fraction_fields* out, float* list[FIELDS]) {
    list[0] = out->cell;
    for (int a = 0; a < AXES; ++a) {
        list[1 + a] = out->face[a];
        list[1 + AXES + a] = out->edge[a];
        list[1 + 2 * AXES + a] = out->tent[a];
        list[1 + 3 * AXES + a] = out->area[a];
    }
}

static float* tile_of(float* values, tile_ix t) {
    return values + (size_t)t * TILE_CELLS;
}

static void fill_cut_tile(const fraction_fields* out, const int layers[AXES], tile_ix t,
                          const float* block) {
    lattice points;
    octants parts;
    refine(block, &points);
    cut_octants(&points, &parts);
    if (out->cell != NULL) {
        fill_boxes(&parts, layers, (const int[AXES]){0, 0, 0}, tile_of(out->cell, t));
    }
    for (int a = 0; a < AXES; ++a) {
        const int face[AXES] = {a == 0, a == 1, a == 2}, edge[AXES] = {a != 0, a != 1, a != 2};
        if (out->face[a] != NULL) {
            fill_boxes(&parts, layers, face, tile_of(out->face[a], t));
        }
        if (out->edge[a] != NULL) {
            fill_boxes(&parts, layers, edge, tile_of(out->edge[a], t));
        }
        if (out->tent[a] != NULL) {
            fill_tents(&parts, layers, a, tile_of(out->tent[a], t));
        }
        if (out->area[a] != NULL) {
            fill_areas(&points, layers, a, tile_of(out->area[a], t));
        }
    }
}

static void fill_tile(const fraction_job* job, tile_ix t) {
    const tile_map* map = job->params->map;
    const int layers[AXES] = {tile_layers(map, 0), tile_layers(map, 1), tile_layers(map, 2)};
    float block[BLOCK_VALUES(LOW, HIGH)];
    gather_block(map, job->params->phi, t, LOW, HIGH, block);
    gather_extend(job->params->domain, map->coord[t], (const int[2]){LOW, HIGH}, block);
    int side = side_of(block);
    float* list[FIELDS];
    list_fields(job->out, list);
    bool is_flat = layers[0] * layers[1] * layers[2] < TILE_CELLS;
    for (int i = 0; i < FIELDS; ++i) {
        if (list[i] != NULL && is_flat) {
            memset(tile_of(list[i], t), 0, TILE_CELLS * sizeof(float));
        }
        if (list[i] != NULL && side >= 0) {
            fill_even(tile_of(list[i], t), layers, (float)side);
        }
    }
    if (side < 0) {
        fill_cut_tile(job->out, layers, t, block);
    }
}

static void fill_tiles(void* data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        fill_tile(data, (tile_ix)t);
    }
}

void fraction_compute(const fraction_params* params, const fraction_fields* out) {
    fraction_job job = {params, out};
    parallel_for(params->map->ctx, params->map->count, 4, fill_tiles, &job);
}
