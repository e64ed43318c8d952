// Contact angles.
//
// Where the surface meets a solid, or a side of the domain, the angle between them through the
// liquid is theta, by Young's balance of three tensions. It acts through curvature: phi, for that
// alone, goes on behind the wall as the distance to a surface that meets the wall at that angle.
// Where the surface comes at another one it then has a bend, and its tension pulls it straight.
//
// The circle of curvature kappa that meets the wall at theta has its middle at the height
// -cos(theta)/kappa. With b the height above the wall down to which phi is known, S the sine at
// which the circle comes through that height, and d the distance along the wall, there, to where
// phi is 0, the distance to it at the height y obeys
//
//     phi + kappa/2 phi^2 = S d + kappa/2 d^2 + cos(theta) (y - b) + kappa/2 (y^2 - b^2),
//     S^2 = 1 - (cos(theta) + kappa b)^2                                                [tension.4]
//
// With kappa = 0 that is a straight line. The surface as it is comes at another angle; of a circle
// of the same curvature through that height, whose phi changes by g along the wall,
//
//     phi + kappa/2 phi^2 = A d - kappa/2 d^2,    A = g (1 + kappa phi) [tension.10]
//
// gives d. A surface along the wall, that of a film, has no line of contact: where g is next to 0
// and phi is not, the left side of this takes the place of the first two terms of the right side of
// [tension.4], so that d phi/dy = cos(theta); the same where S is next to 0.
//
// In space kappa is the curvature across the line of contact; what the surface does along it comes
// with phi. b is half a cell at sides of the domain, whose first cells are known, and a cell at
// solids, which cut cells. kappa is the mean of what the surface has a few cells above the wall,
// weighed by how near that is: w = (1 + r^2/4)^-3, r cells from a point 2.5 cells above the wall.
//
// At sides with an angle of pi/2 phi is mirrored, which is the same and has no noise.
//
// Staggering: phi, kappa at cells. Properties that tests check: the curvature of caps on sides and
// on solids across the grid, at all angles, in a plane and in space. References: [Y05].
#include "phys/wetting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "phys/solid_fields.h"

// Cells: the height b of sides and of solids; where phi is cut off.
static const float side_height = 0.5f, solid_height = 1.0f, phi_limit = 4.0f;
static const float least_slope = 0.35f; // of the distance to solids, where it has a direction
static const float least_along = 0.3f;  // of the change of phi along the wall
static const float most_way = 8.0f;     // cells, of d
static const float least_root = 0.1f;   // of 1 + kappa phi: nearer to the circle's middle it ends
static const double right_angle = 1e-9; // of its cosine
static const float bend_height = 2.5f;  // cells

// How a surface meets a wall at one place.
typedef struct meeting {
    float cosine; // of the angle
    float height; // b
    float phi;    // there
    float along;  // g: how it changes along the wall
    float bend;
} meeting;

static float clamped(float value, float low, float high) {
    return fminf(fmaxf(value, low), high);
}

// The part of [tension.4] that depends on where along the wall a place is.
static float place_of(const meeting* m) {
    float kappa = m->bend, known = m->phi + 0.5f * kappa * m->phi * m->phi;
    float up = m->cosine + kappa * m->height;
    float sine = sqrtf(fmaxf(1.0f - up * up, 0.0f));
    float slope = clamped(m->along, least_along, 1.0f) *
                  fmaxf(1.0f + kappa * m->phi, least_root); // [tension.10]
    float root = sqrtf(fmaxf(slope * slope - 2.0f * kappa * known, 0.0f));
    float d = clamped(2.0f * known / (slope + root), -most_way, most_way);
    float at_line = sine * d + 0.5f * kappa * d * d;
    float is_film = clamped((least_along - m->along) / 0.15f, 0.0f, 1.0f) *
                    clamped(2.0f * (fabsf(m->phi) - 1.0f), 0.0f, 1.0f);
    float rest = fmaxf(is_film, clamped((0.25f - sine) / 0.1f, 0.0f, 1.0f));
    return at_line + rest * (known - at_line);
}

// phi at a depth below the height b [tension.4].
static float phi_below(const meeting* m, float depth) {
    float y = m->height - depth, square = y * y - m->height * m->height;
    float sum = place_of(m) - m->cosine * depth + 0.5f * m->bend * square;
    float root = sqrtf(fmaxf(1.0f + 2.0f * m->bend * sum, least_root * least_root));
    return clamped(2.0f * sum / (1.0f + root), -phi_limit, phi_limit);
}

// --- sides ---------------------------------------------------------------------------------------

static bool is_closed(const grid_domain* domain, int a, int end) {
    treacle_side side = domain->sides[a][end];
    return domain->is_active[a] && (side == TREACLE_SIDE_SLIP || side == TREACLE_SIDE_NO_SLIP);
}

static bool is_wetted(const grid_domain* domain, int a, int end) {
    return is_closed(domain, a, end) &&
           fabs(elementary_cos(domain->contact_angle[a][end])) > right_angle;
}

bool wetting_is_needed(const grid_domain* domain, int solid_count) {
    TREACLE_ASSERT(solid_count >= 0);
    bool is_any = solid_count > 0;
    for (int n = 0; n < 2 * AXES; ++n) {
        is_any = is_any || is_wetted(domain, n / 2, n % 2);
    }
    return is_any;
}

// A block as a loop over one of its sides sees it.
typedef struct side_job {
    const grid_domain* domain;
    const wetting_block* block;
    int side, strides[AXES];
    int a, end; // the side of the domain
    int first;  // index of the block's first cell along a
    float cosine;
} side_job;

// Whether place n of the block along an axis is in the domain.
static bool is_in_domain(const side_job* job, int b, int n) {
    int at = job->block->coord.at[b] * TILE_SIZE - job->block->margin + n;
    bool has_sides = job->domain->is_active[b] && !job->domain->is_periodic[b];
    return n >= 0 && n < job->side && (!has_sides || (at >= 0 && at < job->domain->cells[b]));
}

// The change of phi along an axis at place n of it.
static float slope_at(const side_job* job, int b, int n, int i) {
    const float* phi = job->block->phi;
    bool has_low = is_in_domain(job, b, n - 1), has_high = is_in_domain(job, b, n + 1);
    float low = phi[has_low ? i - job->strides[b] : i];
    float high = phi[has_high ? i + job->strides[b] : i];
    return has_low && has_high ? 0.5f * (high - low) : high - low;
}

// Cells beyond the side, in the line through place (p, q) of the two other axes.
static void fill_line(const side_job* job, int last, int p, int q) {
    int b = (job->a + 1) % AXES, c = (job->a + 2) % AXES, stride = job->strides[job->a];
    int line = p * job->strides[b] + q * job->strides[c], i = line + last * stride;
    int away = job->end == 0 ? 1 : -1; // from the side
    float* phi = job->block->phi;
    float one = slope_at(job, b, p, i), two = slope_at(job, c, q, i);
    meeting m = {.cosine = job->cosine,
                 .height = side_height,
                 .phi = phi[i],
                 .along = sqrtf(one * one + two * two)};
    m.bend = job->block->bend != NULL ? job->block->bend[i] : 0.0f;
    for (int n = last - away; n >= 0 && n < job->side; n -= away) {
        phi[line + n * stride] = phi_below(&m, (float)abs(n - last));
    }
}

static void fill_wetted(const side_job* job) {
    int last = (job->end == 0 ? 0 : job->domain->cells[job->a] - 1) - job->first;
    if (last < 0 || last >= job->side) { // the side is not in the block
        return;
    }
    for (int i = 0; i < job->side * job->side; ++i) {
        fill_line(job, last, i % job->side, i / job->side);
    }
}

// The cell inside that mirrors one beyond a side.
static int mirrored(int at, int cells) {
    int in = at < 0 ? -1 - at : at >= cells ? 2 * cells - 1 - at : at;
    return in < 0 ? 0 : in >= cells ? cells - 1 : in;
}

static void fill_mirrored(const side_job* job) {
    int b = (job->a + 1) % AXES, c = (job->a + 2) % AXES, cells = job->domain->cells[job->a];
    for (int n = 0; n < job->side; ++n) {
        int at = job->first + n, from = mirrored(at, cells) - job->first;
        bool is_beyond = job->end == 0 ? at < 0 : at >= cells;
        if (!is_beyond || from == n || from < 0 || from >= job->side) {
            continue;
        }
        for (int i = 0; i < job->side * job->side; ++i) {
            int row = i % job->side * job->strides[b] + i / job->side * job->strides[c];
            job->block->phi[row + n * job->strides[job->a]] =
                job->block->phi[row + from * job->strides[job->a]];
        }
    }
}

void wetting_fill_sides(const wetting_params* params, const grid_domain* domain,
                        const wetting_block* block) {
    TREACLE_ASSERT(block->margin >= 0 && block->margin <= TILE_SIZE && block->phi != NULL);
    int side = TILE_SIZE + 2 * block->margin;
    for (int n = 0; n < 2 * AXES; ++n) {
        side_job job = {.domain = domain,
                        .block = block,
                        .side = side,
                        .strides = {1, side, side * side},
                        .a = n / 2,
                        .end = n % 2,
                        .first = block->coord.at[n / 2] * TILE_SIZE - block->margin};
        if (!domain->is_active[job.a] || domain->is_periodic[job.a]) {
            continue;
        }
        if (params != NULL && is_wetted(domain, job.a, job.end)) {
            job.cosine = (float)elementary_cos(domain->contact_angle[job.a][job.end]);
            fill_wetted(&job);
        } else {
            fill_mirrored(&job);
        }
    }
}

// --- solids --------------------------------------------------------------------------------------

enum {
    MARGIN = 8, // a cell 4 deep is lifted by 5 cells
    SIDE = BLOCK_SIDE(MARGIN, MARGIN),
    VALUES = BLOCK_VALUES(MARGIN, MARGIN)
};

typedef struct wetting_job {
    const wetting_params* params;
    const float* across; // of wetting_bend
    float* out;
} wetting_job;

// phi of a block at a place, in cells from the middle of the block's first cell. Straight lines
// between cells are too high by kappa' (1 - n_a^2) f (1 - f)/2 along each axis, with f the way from
// one cell to the next and n the normal: as much is taken off of a surface with that bend.
static float look(const float* block, const float at[AXES], float bend, float change[AXES]) {
    int low[AXES];
    float part[AXES], value = 0.0f, square = 0.0f, high = 0.0f;
    change[0] = change[1] = change[2] = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        float place = clamped(at[a], 0.0f, (float)(SIDE - 1) - 1e-3f);
        low[a] = (int)place;
        part[a] = place - (float)low[a];
    }
    for (int n = 0; n < 8; ++n) {
        const int up[AXES] = {n & 1, n >> 1 & 1, n >> 2};
        float phi = block[((low[2] + up[2]) * SIDE + low[1] + up[1]) * SIDE + low[0] + up[0]];
        float weight = 1.0f;
        for (int a = 0; a < AXES; ++a) {
            weight *= up[a] == 1 ? part[a] : 1.0f - part[a];
            change[a] += up[a] == 1 ? 0.25f * phi : -0.25f * phi;
        }
        value += weight * phi;
    }
    for (int a = 0; a < AXES; ++a) {
        square += change[a] * change[a];
    }
    for (int a = 0; a < AXES && square > 0.0f; ++a) {
        high += part[a] * (1.0f - part[a]) * (1.0f - change[a] * change[a] / square);
    }
    return value - 0.5f * bend * high;
}

// The change of the distance to solids along an axis, between cells where it is not cut off.
static float solid_slope(const wetting_params* p, int64_t t, int q, int a) {
    const float most = SOLID_DISTANCE_MAX - 1e-3f;
    float here = p->cell_solid_phi[t * TILE_CELLS + q];
    float high = p->cell_solid_phi[tile_slot_above(p->map, t, q, a)];
    float low = p->cell_solid_phi[tile_slot_below(p->map, t, q, a)];
    bool has_high = fabsf(high) < most, has_low = fabsf(low) < most;
    return has_high && has_low ? 0.5f * (high - low)
           : has_high          ? high - here
           : has_low           ? here - low
                               : 0.0f;
}

// The direction away from solids; false where nobody knows.
static bool find_solid_normal(const wetting_params* p, int64_t t, int q, float normal[AXES]) {
    float square = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        normal[a] = p->domain->is_active[a] ? solid_slope(p, t, q, a) : 0.0f;
        square += normal[a] * normal[a];
    }
    float length = sqrtf(square);
    for (int a = 0; a < AXES; ++a) {
        normal[a] = length > 0.0f ? normal[a] / length : 0.0f;
    }
    return length > least_slope;
}

// The size of what is left of a gradient without its part along a normal.
static float along_of(const float gradient[AXES], const float normal[AXES]) {
    float square = 0.0f, across = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        square += gradient[a] * gradient[a];
        across += gradient[a] * normal[a];
    }
    return sqrtf(fmaxf(square - across * across, 0.0f));
}

static bool is_in_reach(const wetting_params* p, int64_t i) {
    return p->cell_solid_phi[i] < solid_height && p->cell_solid[i] != SOLID_NONE;
}

static void extend_cell(const wetting_job* job, int64_t t, int q, const float* block) {
    const wetting_params* p = job->params;
    int64_t i = t * TILE_CELLS + q;
    float normal[AXES], depth = solid_height - p->cell_solid_phi[i];
    if (!tile_cell_counts(p->map, q) || !is_in_reach(p, i) || !find_solid_normal(p, t, q, normal)) {
        return;
    }
    float at[AXES] = {(float)(q % TILE_SIZE), (float)(q / TILE_SIZE % TILE_SIZE),
                      (float)(q / TILE_SIZE / TILE_SIZE)};
    for (int a = 0; a < AXES; ++a) {
        at[a] += (float)MARGIN + depth * normal[a];
    }
    meeting m = {.cosine = (float)elementary_cos(p->solids[p->cell_solid[i]].contact_angle),
                 .height = solid_height,
                 .bend = p->cell_bend != NULL ? p->cell_bend[i] : 0.0f};
    float change[AXES];
    m.phi = look(block, at, m.bend, change);
    m.along = along_of(change, normal);
    job->out[i] = phi_below(&m, depth);
}

static bool has_reached(const wetting_params* p, int64_t t) {
    bool is_any = false;
    for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS && p->cell_solid_phi != NULL; ++i) {
        is_any = is_any || is_in_reach(p, i);
    }
    return is_any;
}

// Whether the surface is so near that its distance is not cut off everywhere.
static bool has_distances(const float* block) {
    bool is_any = false;
    for (int i = 0; i < VALUES; ++i) {
        is_any = is_any || fabsf(block[i]) < phi_limit;
    }
    return is_any;
}

static void extend_tiles(void* data, int64_t begin, int64_t end) {
    const wetting_job* job = data;
    const wetting_params* p = job->params;
    float block[VALUES];
    for (int64_t t = begin; t < end; ++t) {
        memcpy(job->out + t * TILE_CELLS, p->cell_phi + t * TILE_CELLS, TILE_CELLS * sizeof(float));
        if (!has_reached(p, t)) {
            continue;
        }
        gather_block(p->map, p->cell_phi, (tile_ix)t, MARGIN, MARGIN, block);
        wetting_block around = {p->map->coord[t], MARGIN, block, NULL};
        wetting_fill_sides(NULL, p->domain, &around);
        for (int q = 0, end_q = has_distances(block) ? TILE_CELLS : 0; q < end_q; ++q) {
            extend_cell(job, t, q, block);
        }
    }
}

void wetting_extend(const wetting_params* params, float* out) {
    TREACLE_ASSERT(out != params->cell_phi && params->cell_phi != NULL);
    TREACLE_ASSERT(params->cell_solid_phi == NULL || params->solids != NULL);
    wetting_job job = {.params = params, .out = out};
    size_t dummy = tile_map_values(params->map) - TILE_CELLS;
    memcpy(out + dummy, params->cell_phi + dummy, TILE_CELLS * sizeof(float));
    tile_for(params->map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = out}}},
             extend_tiles, &job);
}

// --- how the surface bends -----------------------------------------------------------------------

// The nearest side that is a wall: its axis, and on which end; the height above it, in cells.
static float side_height_at(const grid_domain* domain, const int cell[AXES], int* a, int* end) {
    float least = INFINITY;
    for (int n = 0; n < 2 * AXES; ++n) {
        int below = n % 2 == 0 ? cell[n / 2] : domain->cells[n / 2] - 1 - cell[n / 2];
        if (is_closed(domain, n / 2, n % 2) && (float)below + 0.5f < least) {
            least = (float)below + 0.5f;
            *a = n / 2;
            *end = n % 2;
        }
    }
    return least;
}

float wetting_height_at(const wetting_params* params, tile_ix t, int q, float normal[AXES]) {
    TREACLE_ASSERT(t >= 0 && t < params->map->count);
    int cell[AXES], a = 0, end = 0;
    int64_t i = (int64_t)t * TILE_CELLS + q;
    tile_cell_at(params->map, t, q, cell);
    float height = side_height_at(params->domain, cell, &a, &end);
    bool is_solid = params->cell_solid_phi != NULL && params->cell_solid[i] != SOLID_NONE &&
                    params->cell_solid_phi[i] < fminf(height, SOLID_DISTANCE_MAX);
    if (is_solid && find_solid_normal(params, t, q, normal)) {
        return params->cell_solid_phi[i];
    }
    memset(normal, 0, AXES * sizeof(normal[0]));
    normal[a] = end == 0 ? 1.0f : -1.0f;
    return height;
}

// Cells of a block where curvature is known.
typedef struct known_cells {
    int count;
    uint16_t at[VALUES];
    float across[VALUES];
} known_cells;

static void find_known(const wetting_job* job, tile_ix t, known_cells* out) {
    const tile_map* map = job->params->map;
    gather_block(map, job->across, t, MARGIN, MARGIN, out->across);
    out->count = 0;
    for (int i = 0; i < VALUES; ++i) {
        const int at[AXES] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        bool counts = !isnan(out->across[i]);
        for (int a = 0; a < AXES; ++a) { // along a flat axis all layers are the same
            counts = counts && (!map->is_flat[a] || at[a] == MARGIN);
        }
        if (counts) {
            out->at[out->count++] = (uint16_t)i;
        }
    }
}

static float mean_around(const known_cells* known, const float at[AXES]) {
    float sum = 0.0f, weights = 0.0f;
    for (int n = 0; n < known->count; ++n) {
        int i = known->at[n];
        float x = (float)(i % SIDE) - at[0], y = (float)(i / SIDE % SIDE) - at[1],
              z = (float)(i / SIDE / SIDE) - at[2];
        float near = 1.0f / (1.0f + 0.25f * (x * x + y * y + z * z));
        float weight = near * near * near;
        sum += weight * known->across[i];
        weights += weight;
    }
    return weights > 0.0f ? clamped(sum / weights, -WETTING_BEND_MAX, WETTING_BEND_MAX) : 0.0f;
}

static bool wants_bend(const wetting_params* p, tile_ix t, int q) {
    int cell[AXES], a = 0, end = 0;
    int64_t i = (int64_t)t * TILE_CELLS + q;
    if (!tile_cell_counts(p->map, q)) {
        return false;
    }
    tile_cell_at(p->map, t, q, cell);
    bool is_first = side_height_at(p->domain, cell, &a, &end) == side_height;
    return (is_first && is_wetted(p->domain, a, end)) ||
           (p->cell_solid_phi != NULL && is_in_reach(p, i));
}

static void bend_tiles(void* data, int64_t begin, int64_t end) {
    const wetting_job* job = data;
    const wetting_params* p = job->params;
    known_cells known;
    for (int64_t t = begin; t < end; ++t) {
        bool is_known = false;
        memset(job->out + t * TILE_CELLS, 0, TILE_CELLS * sizeof(float));
        for (int q = 0; q < TILE_CELLS; ++q) {
            float normal[AXES];
            if (!wants_bend(p, (tile_ix)t, q)) {
                continue;
            }
            if (!is_known) {
                find_known(job, (tile_ix)t, &known);
                is_known = true;
            }
            if (known.count == 0) {
                break;
            }
            float up = bend_height - wetting_height_at(p, (tile_ix)t, q, normal);
            float at[AXES] = {(float)(q % TILE_SIZE), (float)(q / TILE_SIZE % TILE_SIZE),
                              (float)(q / TILE_SIZE / TILE_SIZE)};
            for (int a = 0; a < AXES; ++a) {
                at[a] += (float)MARGIN + up * normal[a];
            }
            job->out[t * TILE_CELLS + q] = mean_around(&known, at);
        }
    }
}

void wetting_bend(const wetting_params* params, const float* cell_across, float* cell_bend) {
    TREACLE_ASSERT(cell_across != cell_bend && cell_bend != params->cell_phi);
    wetting_job job = {.params = params, .across = cell_across, .out = cell_bend};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = cell_bend}}},
             bend_tiles, &job);
}

// --- which tiles ---------------------------------------------------------------------------------

bool wetting_is_near(const wetting_params* params, tile_ix t) {
    const grid_domain* domain = params->domain;
    const tile_coord coord = params->map->coord[t];
    bool is_near = false;
    for (int n = 0; n < 2 * AXES; ++n) {
        int a = n / 2, low = coord.at[a] * TILE_SIZE;
        int gap = n % 2 == 0 ? low : domain->cells[a] - low - TILE_SIZE;
        is_near = is_near || (is_wetted(domain, a, n % 2) && gap < TILE_SIZE);
    }
    for (int64_t i = (int64_t)t * TILE_CELLS;
         i < ((int64_t)t + 1) * TILE_CELLS && params->cell_solid_phi != NULL && !is_near; ++i) {
        is_near = params->cell_solid_phi[i] < SOLID_DISTANCE_MAX;
    }
    return is_near;
}
