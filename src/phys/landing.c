// Liquid that comes down on a floor has air below it until it touches. On the grid there is a cell
// between both that is partly liquid. With a pressure that cell would keep its air as if it were
// liquid: what has only begun to reach into the last cell would stop there, a cell above the floor,
// held by liquid that is not there, and slide on it.
//
// So a cell i is a gap if solids or sides close a part of it, n_a = A_high - A_low, and the liquid
// that it has, V_i < 0.9, lies away from them, l_a = B_high - B_low with the fractions B of liquid
// of the boxes around its faces:
//
//     l . n > 4/5 |l| |n|,   |l| > 4/5 min(V_i, 1/2)                                       [land.1]
//
// In corners it is enough that the liquid lies away from one of the walls. Surfaces that meet a
// wall, and noses of currents that advance on it, lie at a wider angle.
// A gap has no pressure, and no stress across it [land.3]: its surface is free. In the step in
// which it fills up it has a pressure, and takes in what it lacks, and no more,
//
//     sum +- A_f u_f = -(1 - V_i) R_i h / dt    once -dt sum +- A_f u'_f >= (1 - V_i) R_i h
//                                                                                          [land.2]
//
// R the open fraction of the cell, u' the velocity that is expected: so liquid lands where the wall
// is, though a step be most of a cell long. A cell that had a
// pressure in the last step is no gap: what has touched a wall does not let go because the grid
// begins to see air.
//
// Staggering: V, R at cells; A, B, u' on faces. Properties that tests check: a slab falls freely
// until it touches, and then not through the floor; pools and films have no gaps.
#include "phys/landing.h"

#include <math.h>

#include "base/check.h"
#include "grid/gather.h"

// Of [land.1]: cosine of the angle, and how much the liquid must change across a cell, over what is
// in it, up to a fraction.
static const float facing = 0.8f, least_change = 0.8f, much = 0.5f;
static const float least_closed = 0.5f; // of a cell's faces, net
static const float full = 0.9f;         // a fraction of liquid

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int strides[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct surroundings {
    float box[AXES][VALUES], open[AXES][VALUES], u[AXES][VALUES];
} surroundings;

static int block_at(int q) {
    return BLOCK_INDEX(1, 1, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE, q / TILE_SIZE / TILE_SIZE);
}

// [land.1]
static bool is_gap(const landing_params* p, const surroundings* s, int at, float fraction) {
    float least = least_change * fminf(fraction, much);
    float product = 0.0f, liquid = 0.0f, closed = 0.0f, along = 0.0f; // along: of one axis
    for (int a = 0; a < AXES; ++a) {
        if (p->domain->is_active[a]) {
            float n = s->open[a][at + strides[a]] - s->open[a][at];
            float l = s->box[a][at + strides[a]] - s->box[a][at];
            product += l * n;
            along = fabsf(n) > least_closed ? fmaxf(along, copysignf(1.0f, n) * l) : along;
            liquid += l * l;
            closed += n * n;
        }
    }
    return closed > least_closed * least_closed && liquid > least * least &&
           (product > facing * sqrtf(liquid * closed) || along > facing * sqrtf(liquid));
}

// What the gap lacks, m/s, if as much comes in [land.2].
static float fill_of(const landing_params* p, const surroundings* s, int at, int64_t cell) {
    float inflow = 0.0f, open = p->cell_open != NULL ? p->cell_open[cell] : 1.0f;
    for (int a = 0; a < AXES; ++a) {
        int high = at + strides[a];
        inflow += p->domain->is_active[a]
                      ? s->open[a][at] * s->u[a][at] - s->open[a][high] * s->u[a][high]
                      : 0.0f;
    }
    float lacks = (1.0f - p->cell_fraction[cell]) * open * (float)(p->domain->h / p->dt);
    return inflow >= lacks ? lacks : LANDING_GAP;
}

// The first contact of a tile or of one after it: they are listed tile after tile.
static int64_t first_contact(const contact_set* contacts, tile_ix tile) {
    int64_t low = 0, high = contacts != NULL ? contacts->count : 0;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        bool is_before = contacts->at[middle].cell / TILE_CELLS < tile;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

// What may let go says itself what is held.
static void leave_contacts(const contact_set* contacts, tile_ix tile, float fill[TILE_CELLS]) {
    int64_t count = contacts != NULL ? contacts->count : 0;
    for (int64_t i = first_contact(contacts, tile);
         i < count && contacts->at[i].cell / TILE_CELLS == tile; ++i) {
        fill[contacts->at[i].cell % TILE_CELLS] = LANDING_NONE;
    }
}

static bool is_part(const landing_params* p, int64_t cell) {
    bool is_held = p->cell_impulse != NULL && p->cell_impulse[cell] != 0.0;
    return !is_held && p->cell_fraction[cell] > 0.0f && p->cell_fraction[cell] < full &&
           tile_cell_counts(p->map, (int)(cell % TILE_CELLS));
}

bool landing_find(const landing_params* params, tile_ix tile, float fill[TILE_CELLS]) {
    TREACLE_ASSERT(fill != NULL && (params == NULL || params->dt > 0.0));
    bool has_part = false, has_any = false;
    for (int q = 0; q < TILE_CELLS; ++q) {
        fill[q] = LANDING_NONE;
        has_part = has_part || (params != NULL && is_part(params, (int64_t)tile * TILE_CELLS + q));
    }
    if (!has_part) {
        return false;
    }
    surroundings s;
    for (int a = 0; a < AXES; ++a) {
        gather_block(params->map, params->face_box.at[a], tile, 1, 1, s.box[a]);
        gather_block(params->map, params->face_open.at[a], tile, 1, 1, s.open[a]);
        gather_block(params->map, params->face_u.at[a], tile, 1, 1, s.u[a]);
    }
    for (int q = 0; q < TILE_CELLS; ++q) {
        int64_t i = (int64_t)tile * TILE_CELLS + q;
        bool is_here =
            is_part(params, i) && is_gap(params, &s, block_at(q), params->cell_fraction[i]);
        fill[q] = is_here ? fill_of(params, &s, block_at(q), i) : LANDING_NONE;
        has_any = has_any || is_here;
    }
    leave_contacts(params->contacts, tile, fill);
    return has_any;
}
