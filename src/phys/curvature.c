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
// surface can bend, 1 in a plane and 2 in space. Behind the sides of the domain and in solids phi
// is what phys/wetting.c has put there.
//
// The curvature in a direction t along the surface is k' = t^T (grad grad psi) t / |grad psi|, and
// k'/(1 - phi k') at the foot.
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
// Squared sine between surface and solid, of which the direction across is still known.
static const float least_tangent = 0.1f;

typedef struct curvature_job {
    const curvature_params* params;
    float* out;
} curvature_job;

// --- phi around a tile ---------------------------------------------------------------------------

static void gather_phi(const curvature_params* params, tile_ix t, float* block) {
    const wetting_params* wetting = params->wetting;
    float bend[FULL * FULL * FULL];
    bool is_wet = wetting != NULL, has_bend = is_wet && wetting->cell_bend != NULL;
    gather_block(params->map, is_wet ? params->cell_wet_phi : params->cell_phi, t, MARGIN, MARGIN,
                 block);
    if (has_bend) {
        gather_block(params->map, wetting->cell_bend, t, MARGIN, MARGIN, bend);
    }
    wetting_block around = {params->map->coord[t], MARGIN, block, has_bend ? bend : NULL};
    wetting_fill_sides(wetting, params->domain, &around);
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

// The curvature in the direction that leads away from a side or a solid, at the foot.
static float across_at(const derivatives* d, const float normal[AXES], float phi) {
    const float *g = d->first, *s = d->second, *m = d->mixed;
    float square = (g[0] * g[0] + g[1] * g[1]) + g[2] * g[2];
    float facing = (g[0] * normal[0] + g[1] * normal[1]) + g[2] * normal[2];
    float t[AXES], length = 0.0f, bent = 0.0f;
    if (!(square > 1e-12f)) {
        return NAN;
    }
    for (int a = 0; a < AXES; ++a) {
        t[a] = normal[a] - facing / square * g[a];
        length += t[a] * t[a];
    }
    for (int c = 0; c < AXES; ++c) {
        bent += s[c] * t[c] * t[c] + 2.0f * m[c] * t[(c + 1) % AXES] * t[(c + 2) % AXES];
    }
    if (length < least_tangent) { // the surface lies along it
        return NAN;
    }
    float k = bent / (length * sqrtf(square));
    return bounded(k / fmaxf(1.0f - phi * k, least_foot), WETTING_BEND_MAX);
}

// Whether a cell is one that says how the surface bends above a side or a solid.
static bool tells_bend(const curvature_params* p, tile_ix t, int q, float phi, float normal[AXES]) {
    if (!(fabsf(phi) < 0.75f)) {
        return false;
    }
    float height = wetting_height_at(p->wetting, t, q, normal);
    return height > WETTING_LOW && height < WETTING_HIGH;
}

// Whether curvature is wanted at a cell: near the surface of the flow, or as it meets a solid.
static bool is_at_surface(const curvature_params* p, int64_t i) {
    return fabsf(p->cell_phi[i]) < CURVATURE_REACH ||
           (p->wetting != NULL && fabsf(p->cell_wet_phi[i]) < CURVATURE_REACH);
}

static bool has_surface(const curvature_params* p, int64_t t) {
    bool is_any = false;
    for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
        is_any = is_any || is_at_surface(p, i);
    }
    return is_any;
}

static void find_tile(const curvature_job* job, tile_ix t) {
    const curvature_params* p = job->params;
    const grid_domain* domain = p->domain;
    const float* phi =
        (p->wetting != NULL ? p->cell_wet_phi : p->cell_phi) + (size_t)t * TILE_CELLS;
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
        if (!is_inside || !is_at_surface(p, (int64_t)t * TILE_CELLS + i)) {
            continue;
        }
        int at = ((i / TILE_SIZE / TILE_SIZE + 1) * INNER + i / TILE_SIZE % TILE_SIZE + 1) * INNER +
                 i % TILE_SIZE + 1;
        derivatives d = differentiate(psi, at);
        float mean, gauss, normal[AXES];
        float foot = bounded(phi[i], CURVATURE_REACH);
        bend(&d, &mean, &gauss);
        out[i] = at_foot(mean, gauss, foot, most);
        if (p->cell_across != NULL && tells_bend(p, t, i, foot, normal)) {
            p->cell_across[(size_t)t * TILE_CELLS + (size_t)i] = across_at(&d, normal, foot);
        }
    }
}

static void forget_across(float* across) {
    for (int i = 0; i < TILE_CELLS; ++i) {
        across[i] = NAN;
    }
}

static void find_tiles(void* data, int64_t begin, int64_t end) {
    const curvature_job* job = data;
    const curvature_params* p = job->params;
    for (int64_t t = begin; t < end; ++t) {
        if (p->is_near_only && !wetting_is_near(p->wetting, (tile_ix)t)) {
            continue;
        }
        memset(job->out + t * TILE_CELLS, 0, TILE_CELLS * sizeof(float));
        if (p->cell_across != NULL) {
            forget_across(p->cell_across + t * TILE_CELLS);
        }
        if (has_surface(p, t)) {
            find_tile(job, (tile_ix)t);
        }
    }
}

void curvature_compute(const curvature_params* params, float* cell_kappa) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->cell_phi != cell_kappa);
    TREACLE_ASSERT(params->domain != NULL);
    TREACLE_ASSERT((params->wetting != NULL) == (params->cell_wet_phi != NULL));
    TREACLE_ASSERT(params->wetting != NULL ||
                   (params->cell_across == NULL && !params->is_near_only));
    curvature_job job = {params, cell_kappa};
    if (params->cell_across != NULL) {
        forget_across(params->cell_across + (size_t)params->map->count * TILE_CELLS);
    }
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {{.at = cell_kappa}, {.at = params->cell_across}}},
             find_tiles, &job);
}
