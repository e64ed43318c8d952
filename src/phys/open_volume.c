// The density correction's target at walls. A cell sees the volume c of particles through the
// linear kernel, which reaches one cell to each side. In a cell beside a solid even evenly spread
// liquid gives less than 1. What it could give is the kernel's fraction outside of solids,
//
//     c_0 = sum over 27 cells of  w w w * open,   w = 1/8, 3/4, 1/8 along each axis       [solid.8]
//
// (the tent's integrals over the three cells), mirrored at sides of the domain as c is. Then
// c / c_0 takes the place of c [vol.1].
//
// That takes the open part of a cut cell as if it were spread over the cell, and is off by up to
// 0.03. For a plane wall at the distance d with the normal n both are known: the integral of the
// kernel over the half space, and what the sum makes of it,
//
//     c_0 += F_2(d) - sum w w w F_1(d + n . j),                                        [solid.13]
//     F_k(d) = sum b b b (d + n . s)_+^m / (m! n^k)
//
// the fraction outside of a box (k = 1: s = -1/2, 1/2, b = -1, 1) and of a tent (k = 2: s = -1, 0,
// 1, b = 1, -2, 1), m = k times the axes, n^k the product of the normal's components to the k.
//
// Staggering: cells. Properties that tests check: without solids nothing changes; evenly spread
// particles beside a wall give 1, at every distance and slope.
#include "phys/open_volume.h"

#include <math.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };

typedef struct open_job {
    const grid_domain* domain;
    const tile_map* map;
    const float* open;
    const float* solid_phi;
    float* volume;
} open_job;

// Planes beyond the sides of the domain: the mirror image of the last one inside.
static void mirror_sides(const open_job* job, tile_ix t, float* block) {
    static const int strides[AXES] = {1, SIDE, SIDE * SIDE};
    for (int a = 0; a < AXES; ++a) {
        if (job->domain->is_periodic[a] || !job->domain->is_active[a]) {
            continue;
        }
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        int low = job->map->coord[t].at[a] * TILE_SIZE - 1, last = job->domain->cells[a] - 1;
        for (int i = 0; i < SIDE; ++i) {
            int inside = low + i < 0 ? -low : low + i > last ? last - low : i;
            if (inside == i || inside < 0 || inside >= SIDE) {
                continue;
            }
            for (int k = 0; k < SIDE * SIDE; ++k) {
                int row = k % SIDE * strides[b] + k / SIDE * strides[c];
                block[row + i * strides[a]] = block[row + inside * strides[a]];
            }
        }
    }
}

static float seen_from(const float* block, int cell) {
    static const float weight[3] = {0.125f, 0.75f, 0.125f};
    int x = cell % TILE_SIZE, y = cell / TILE_SIZE % TILE_SIZE, z = cell / TILE_SIZE / TILE_SIZE;
    float sum = 0.0f;
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 3; ++i) {
                float open = block[BLOCK_INDEX(1, 1, x + i - 1, y + j - 1, z + k - 1)];
                sum += weight[i] * weight[j] * weight[k] * open;
            }
        }
    }
    return sum; // the sum of [solid.8]
}

// A wall whose normal has less than this along an axis counts as lying along it: F_k divides by it,
// and what is lost is a thousandth.
static const double slope_least = 0.1;

typedef struct solid_plane {
    int axes;        // that the wall lies across
    double at[AXES]; // its normal along them, above zero
    double reach;    // cells from the wall at which the sum still sees it
    double scale[2]; // 1 / (m! n^k)
} solid_plane;

static double power_of(double x, int n) {
    double out = 1.0;
    for (int i = 0; i < n; ++i) {
        out *= x;
    }
    return out;
}

// F_k(d) of [solid.13].
static double half_space(const solid_plane* plane, int k, double d) {
    static const double coefficient[2][3] = {{-1.0, 1.0, 0.0}, {1.0, -2.0, 1.0}};
    int terms = k + 1, count = 1;
    double sum = 0.0;
    for (int a = 0; a < plane->axes; ++a) {
        count *= terms;
    }
    for (int i = 0; i < count; ++i) {
        double shift = d, factor = 1.0;
        for (int a = 0, rest = i; a < plane->axes; ++a, rest /= terms) {
            shift += plane->at[a] * (rest % terms - 0.5 * k);
            factor *= coefficient[k - 1][rest % terms];
        }
        sum += shift > 0.0 ? factor * power_of(shift, k * plane->axes) : 0.0;
    }
    return sum * plane->scale[k - 1];
}

// The wall as a plane, from the distances around a cell; false where they have no slope.
static bool plane_of(const open_job* job, const float* solid, int at, solid_plane* out) {
    static const int strides[AXES] = {1, SIDE, SIDE * SIDE};
    static const double factorial[2][AXES] = {{1.0, 2.0, 6.0}, {2.0, 24.0, 720.0}};
    double slope[AXES] = {0}, squared = 0.0, length = 0.0, product = 1.0;
    for (int a = 0; a < AXES; ++a) {
        float change = solid[at + strides[a]] - solid[at - strides[a]];
        slope[a] = job->domain->is_active[a] ? fabs((double)change) : 0.0;
        squared += slope[a] * slope[a];
    }
    if (!(squared > 0.0)) {
        return false;
    }
    *out = (solid_plane){0};
    for (int a = 0; a < AXES; ++a) {
        if (slope[a] > slope_least * sqrt(squared)) {
            out->at[out->axes++] = slope[a];
            length += slope[a] * slope[a];
        }
    }
    for (int a = 0; a < out->axes; ++a) {
        out->at[a] /= sqrt(length);
        out->reach += 1.5 * out->at[a];
        product *= out->at[a];
    }
    out->scale[0] = 1.0 / (factorial[0][out->axes - 1] * product);
    out->scale[1] = 1.0 / (factorial[1][out->axes - 1] * product * product);
    return true;
}

// What the sum over cells lacks of the kernel's fraction outside of a plane wall.
static float missing_at(const open_job* job, const float* solid, int cell) {
    static const double weight[3] = {0.125, 0.75, 0.125};
    int at = BLOCK_INDEX(1, 1, cell % TILE_SIZE, cell / TILE_SIZE % TILE_SIZE,
                         cell / TILE_SIZE / TILE_SIZE);
    solid_plane plane;
    double d = (double)solid[at];
    if (!plane_of(job, solid, at, &plane) || !(fabs(d) < plane.reach)) {
        return 0.0f;
    }
    double sum = half_space(&plane, 2, d);
    int count = plane.axes == 3 ? 27 : plane.axes == 2 ? 9 : 3;
    for (int i = 0; i < count; ++i) {
        double to = d, factor = 1.0;
        for (int a = 0, rest = i; a < plane.axes; ++a, rest /= 3) {
            to += plane.at[a] * (rest % 3 - 1);
            factor *= weight[rest % 3];
        }
        sum -= factor * half_space(&plane, 1, to);
    }
    return (float)sum;
}

static void normalise_tiles(void* data, int64_t begin, int64_t end) {
    const open_job* job = data;
    float block[VALUES], solid[VALUES];
    for (int64_t t = begin; t < end; ++t) {
        gather_block(job->map, job->open, (tile_ix)t, 1, 1, block);
        mirror_sides(job, (tile_ix)t, block);
        float least = 1.0f;
        for (int i = 0; i < VALUES; ++i) {
            least = block[i] < least ? block[i] : least;
        }
        if (!(least < 1.0f)) {
            continue;
        }
        gather_block(job->map, job->solid_phi, (tile_ix)t, 1, 1, solid);
        gather_extend(job->domain, job->map->coord[t], (const int[2]){1, 1}, solid);
        for (int i = 0; i < TILE_CELLS; ++i) {
            float volume = job->volume[t * TILE_CELLS + i];
            if (!(volume > 0.0f)) {
                continue;
            }
            float seen = seen_from(block, i) + missing_at(job, solid, i);
            float fraction = volume / fmaxf(seen, OPEN_VOLUME_NONE);
            job->volume[t * TILE_CELLS + i] =
                seen >= OPEN_VOLUME_MIN ? fraction : fminf(fraction, 1.0f);
        }
    }
}

void open_volume_normalise(const grid_domain* domain, const tile_map* map, const float* cell_open,
                           const float* cell_solid_phi, float* cell_volume) {
    TREACLE_ASSERT(cell_open != NULL && cell_volume != NULL && cell_open != cell_volume);
    open_job job = {domain, map, cell_open, cell_solid_phi, cell_volume};
    tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = cell_volume}}},
             normalise_tiles, &job);
}
