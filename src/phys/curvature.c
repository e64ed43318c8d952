// The curvature of the surface, from the distance to it.
//
// The distance comes from particles and is noisy; second differences of it would be noise alone.
// With B the product over axes of the filter (1, 2, 1)/4, what is differentiated is
//
//     psi = 2 B^2 phi - B^4 phi                                                         [tension.2]
//
// B^2 adds to phi its second derivatives, and the second application takes as much out again: so
// psi is smooth and has the curvature of phi up to fourth derivatives. Of psi
//
//     kappa' = div (grad psi / |grad psi|),    K' = Gauss' curvature of its level set,
//
// from central differences of 19 points, are the curvatures of the level set through the cell's
// middle, not of the surface. Level sets of a distance are parallel: their principal curvatures are
// k' = k / (1 + phi k), hence at the foot, on the surface,
//
//     kappa = (kappa' - 2 phi K') / max(1 - phi kappa' + phi^2 K', 0.4)                 [tension.5]
//
// A grid knows no radius below its cell: |kappa| h is at most the number of directions in which the
// surface can bend, 1 in a plane and 2 in space. Behind the sides of the domain phi is mirrored, so
// the surface meets them at a right angle.
//
// Staggering: phi and kappa at cells. Properties that tests check: planes have none; sphere,
// cylinder, torus, cone and circle, with the order of their error; particles of a ball; threads.
#include "phys/curvature.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

enum {
    MARGIN = 5, // of phi: 4 for B^4 and 1 for differences
    FULL = TILE_SIZE + 2 * MARGIN,
    HALF = FULL - 4,  // what B^2 leaves
    INNER = HALF - 4, // what B^4 leaves
};
static const float least_foot = 0.4f; // of the denominator of [tension.5]

typedef struct curvature_job {
    const curvature_params* params;
    float* out;
} curvature_job;

// --- phi around a tile ---------------------------------------------------------------------------

// The cell inside that mirrors one beyond the sides.
static int mirrored(int at, int cells) {
    int in = at < 0 ? -1 - at : at >= cells ? 2 * cells - 1 - at : at;
    return in < 0 ? 0 : in >= cells ? cells - 1 : in;
}

static void mirror_axis(const grid_domain* domain, tile_coord coord, int a, float* block) {
    static const int strides[AXES] = {1, FULL, FULL * FULL};
    int first = coord.at[a] * TILE_SIZE - MARGIN, b = (a + 1) % AXES, c = (a + 2) % AXES;
    for (int n = 0; n < FULL; ++n) {
        int from = mirrored(first + n, domain->cells[a]) - first;
        if (from == n || from < 0 || from >= FULL) {
            continue;
        }
        for (int i = 0; i < FULL * FULL; ++i) {
            int row = i % FULL * strides[b] + i / FULL * strides[c];
            block[row + n * strides[a]] = block[row + from * strides[a]];
        }
    }
}

static void gather_phi(const curvature_params* params, tile_ix t, float* block) {
    const grid_domain* domain = params->domain;
    gather_block(params->map, params->cell_phi, t, MARGIN, MARGIN, block);
    for (int a = 0; a < AXES; ++a) {
        if (domain->is_active[a] && !domain->is_periodic[a]) {
            mirror_axis(domain, params->map->coord[t], a, block);
        }
    }
}

// --- the filter ----------------------------------------------------------------------------------

// Two passes of (1, 2, 1)/4 along lines of `from`: n lines side by side, `count` values of each.
static void filter_lines(int n, int count, int stride, const float* from, float* to) {
    for (int q = 0; q < count; ++q) {
        const float* f = from + q * stride;
        for (int i = 0; i < n; ++i) {
            to[q * stride + i] =
                0.0625f * ((f[i] + f[i + 4 * stride]) + 4.0f * (f[i + stride] + f[i + 3 * stride]) +
                           6.0f * f[i + 2 * stride]);
        }
    }
}

// B^2 of a block of `side`, which leaves two less on every side; `room` is as large as the block.
static void filter_block(int side, const float* from, float* room, float* to) {
    int left = side - 4;
    filter_lines(side * side, left, side * side, from, room); // along z
    for (int z = 0; z < left; ++z) {
        filter_lines(side, left, side, room + z * side * side, room + z * side * side);
        for (int y = 0; y < left; ++y) {
            filter_lines(1, left, 1, room + (z * side + y) * side, to + (z * left + y) * left);
        }
    }
}

// psi with a margin of one [tension.2].
static void filter_phi(const float* block, float* psi) {
    float room[FULL * FULL * FULL], once[HALF * HALF * HALF];
    filter_block(FULL, block, room, once);
    filter_block(HALF, once, room, psi);
    for (int z = 0; z < INNER; ++z) {
        for (int y = 0; y < INNER; ++y) {
            for (int x = 0; x < INNER; ++x) {
                float* to = &psi[(z * INNER + y) * INNER + x];
                *to = 2.0f * once[((z + 2) * HALF + y + 2) * HALF + x + 2] - *to;
            }
        }
    }
}

// --- curvature -----------------------------------------------------------------------------------

typedef struct derivatives {
    float first[AXES], second[AXES], mixed[AXES]; // mixed[c]: along the two other axes
} derivatives;

static derivatives differentiate(const float* psi, int at) {
    static const int strides[AXES] = {1, INNER, INNER * INNER};
    const float* f = psi + at;
    derivatives d;
    for (int c = 0; c < AXES; ++c) {
        int s = strides[c], a = strides[(c + 1) % AXES], b = strides[(c + 2) % AXES];
        d.first[c] = 0.5f * (f[s] - f[-s]);
        d.second[c] = (f[s] - f[0]) + (f[-s] - f[0]);
        d.mixed[c] = 0.25f * ((f[a + b] - f[a - b]) - (f[b - a] - f[-a - b]));
    }
    return d;
}

// kappa' and K' of the level set.
static void bend(const derivatives* d, float* mean, float* gauss) {
    const float *g = d->first, *s = d->second, *m = d->mixed;
    float square = (g[0] * g[0] + g[1] * g[1]) + g[2] * g[2];
    float sum = 0.0f, product = 0.0f;
    if (!(square > 1e-12f)) {
        *mean = *gauss = 0.0f;
        return;
    }
    for (int c = 0; c < AXES; ++c) {
        int a = (c + 1) % AXES, b = (c + 2) % AXES;
        sum += g[c] * g[c] * (s[a] + s[b]) - 2.0f * g[a] * g[b] * m[c];
        product += g[c] * g[c] * (s[a] * s[b] - m[c] * m[c]) +
                   2.0f * g[a] * g[b] * (m[a] * m[b] - m[c] * s[c]);
    }
    *mean = sum / (square * sqrtf(square));
    *gauss = product / (square * square);
}

static float bounded(float value, float most) {
    return fminf(fmaxf(value, -most), most);
}

// [tension.5]
static float at_foot(float mean, float gauss, float phi, float most) {
    mean = bounded(mean, most);
    gauss = fminf(fmaxf(gauss, -1.0f), 0.25f * mean * mean);
    float least = fmaxf(1.0f - phi * mean + phi * phi * gauss, least_foot);
    return bounded((mean - 2.0f * phi * gauss) / least, most);
}

static bool has_surface(const float* phi) {
    bool is_any = false;
    for (int i = 0; i < TILE_CELLS; ++i) {
        is_any = is_any || fabsf(phi[i]) < CURVATURE_REACH;
    }
    return is_any;
}

static void find_tile(const curvature_job* job, tile_ix t) {
    const curvature_params* p = job->params;
    const grid_domain* domain = p->domain;
    const float* phi = p->cell_phi + (size_t)t * TILE_CELLS;
    float* out = job->out + (size_t)t * TILE_CELLS;
    float most = (float)(domain->is_active[0] + domain->is_active[1] + domain->is_active[2] - 1);
    float block[FULL * FULL * FULL], psi[INNER * INNER * INNER];
    gather_phi(p, t, block);
    filter_phi(block, psi);
    for (int i = 0; i < TILE_CELLS; ++i) {
        int cell[AXES];
        tile_cell_at(p->map, t, i, cell);
        bool is_inside =
            cell[0] < domain->cells[0] && cell[1] < domain->cells[1] && cell[2] < domain->cells[2];
        if (!is_inside || !(fabsf(phi[i]) < CURVATURE_REACH)) {
            continue;
        }
        int at = ((i / TILE_SIZE / TILE_SIZE + 1) * INNER + i / TILE_SIZE % TILE_SIZE + 1) * INNER +
                 i % TILE_SIZE + 1;
        derivatives d = differentiate(psi, at);
        float mean, gauss;
        bend(&d, &mean, &gauss);
        out[i] = at_foot(mean, gauss, phi[i], most);
    }
}

static void find_tiles(void* data, int64_t begin, int64_t end) {
    const curvature_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        memset(job->out + t * TILE_CELLS, 0, TILE_CELLS * sizeof(float));
        if (has_surface(job->params->cell_phi + t * TILE_CELLS)) {
            find_tile(job, (tile_ix)t);
        }
    }
}

void curvature_compute(const curvature_params* params, float* cell_kappa) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->cell_phi != cell_kappa);
    TREACLE_ASSERT(params->domain != NULL);
    curvature_job job = {params, cell_kappa};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = cell_kappa}}},
             find_tiles, &job);
}
