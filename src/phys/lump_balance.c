// What a lump of liquid does to itself.
//
// The surface of a drop pulls at the drop alone: by Newton's third law the sum of its forces is
// zero, and so is that of their torques. Of a force on faces that comes from measured curvature
// both hold only up to the error of that, and a drop would wander. With Z the six rigid motions of
// a lump at its faces (three in a plane) and M their masses,
//
//     b <- b - M Z (Z^T M Z)^-1 Z^T b                                                   [tension.7]
//
// has neither, and changes the force as little as possible, measured by the masses. A lump is a
// connected set of cells with a pressure. One that touches a fixed face, of a wall, a body or an
// emitter, is held by that and keeps its force.
//
// Staggering: forces and masses on faces; a face belongs to the lump of the cell above it, else to
// that of the cell below. Sums run in the order of tiles, by one thread. Properties that tests
// check: no net force, no torque, a force without both stays, held lumps stay.
#include "phys/lump_balance.h"

#include <string.h>

#include "base/alloc.h"
#include "solve/mat6.h"

// Of its mass, in cells: below it the inertia of a lump about an axis is rounding.
static const double least_inertia = 1e-9;

typedef struct lump {
    bool is_held;
    double cells;
    double pivot[AXES]; // sum of places, then their mean, cells
    double force[BODY_MOTIONS], mass[BODY_MOTIONS][BODY_MOTIONS];
    double motion[BODY_MOTIONS];
} lump;

static bool is_fixed(const lump_balance* balance, int a, int64_t face) {
    return balance->weights->fixed[face] >> a & 1;
}

// Cells: the middle of each lump, and whether something holds it.
static void find_places(const lump_balance* balance, lump* lumps) {
    const tile_map* map = balance->liquid->map;
    for (int64_t i = 0; i < (int64_t)map->count * TILE_CELLS; ++i) {
        int32_t label = balance->lumps->label[i];
        if (label < 0) {
            continue;
        }
        lump* p = &lumps[label];
        int at[AXES];
        tile_cell_at(map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        p->cells += 1.0;
        for (int a = 0; a < AXES; ++a) {
            int64_t above = tile_slot_above(map, i / TILE_CELLS, (int)(i % TILE_CELLS), a);
            bool is_active = balance->liquid->domain->is_active[a];
            p->pivot[a] += at[a] + 0.5;
            p->is_held = p->is_held ||
                         (is_active && (is_fixed(balance, a, i) || is_fixed(balance, a, above)));
        }
    }
    for (int32_t n = 0; n < balance->lumps->count; ++n) {
        for (int a = 0; a < AXES && lumps[n].cells > 0.0; ++a) {
            lumps[n].pivot[a] /= lumps[n].cells;
        }
    }
}

// The free lump that a face belongs to; NULL: none, or it is fixed, or has no mass.
static lump* lump_of(const lump_balance* balance, int a, int64_t face, lump* lumps) {
    const tile_map* map = balance->liquid->map;
    int64_t below = tile_slot_below(map, face / TILE_CELLS, (int)(face % TILE_CELLS), a);
    int32_t label = balance->lumps->label[face];
    bool has_below = below < (int64_t)map->count * TILE_CELLS;
    label = label < 0 && has_below ? balance->lumps->label[below] : label;
    bool counts = label >= 0 && !is_fixed(balance, a, face) &&
                  balance->weights->mass[a][face] > 0.0f && !lumps[label].is_held;
    return counts ? &lumps[label] : NULL;
}

// What each motion of the lump is at a face.
static void row_of(const lump_balance* balance, const lump* p, int a, int64_t face,
                   double row[BODY_MOTIONS]) {
    int at[AXES], b = (a + 1) % AXES, c = (a + 2) % AXES;
    tile_cell_at(balance->liquid->map, (tile_ix)(face / TILE_CELLS), (int)(face % TILE_CELLS), at);
    memset(row, 0, BODY_MOTIONS * sizeof(*row));
    row[a] = 1.0;
    row[AXES + b] = at[c] + 0.5 - p->pivot[c];
    row[AXES + c] = -(at[b] + 0.5 - p->pivot[b]);
}

static void add_face(const double row[BODY_MOTIONS], double mass, double force, lump* p) {
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        p->force[i] += force * row[i];
        for (int j = 0; j < BODY_MOTIONS; ++j) {
            p->mass[i][j] += mass * row[i] * row[j];
        }
    }
}

static void solve_lump(lump* p) {
    double inverse[BODY_MOTIONS][BODY_MOTIONS];
    double least = least_inertia * (p->mass[0][0] + p->mass[1][1] + p->mass[2][2]);
    for (int i = AXES; i < BODY_MOTIONS; ++i) {
        for (int j = 0; j < BODY_MOTIONS && p->mass[i][i] <= least; ++j) {
            p->mass[j][i] = j == i ? p->mass[j][i] : 0.0;
            p->mass[i][j] = j == i ? p->mass[i][j] : 0.0;
        }
        p->mass[i][i] = p->mass[i][i] <= least ? 0.0 : p->mass[i][i];
    }
    mat6_invert((const double(*)[BODY_MOTIONS])p->mass, inverse);
    mat6_multiply((const double(*)[BODY_MOTIONS])inverse, p->force, p->motion);
}

// Adds up what pulls at each lump, or takes that out.
static void pass_faces(const lump_balance* balance, lump* lumps, double* force, bool takes_out) {
    const tile_map* map = balance->liquid->map;
    for (int64_t n = 0; n < (int64_t)map->count * VISCOSITY_BLOCK; ++n) {
        int a = (int)(n / TILE_CELLS % AXES);
        int64_t face = n / VISCOSITY_BLOCK * TILE_CELLS + n % TILE_CELLS;
        lump* p = balance->liquid->domain->is_active[a] ? lump_of(balance, a, face, lumps) : NULL;
        if (p == NULL) {
            continue;
        }
        double row[BODY_MOTIONS], mass = (double)balance->weights->mass[a][face];
        row_of(balance, p, a, face, row);
        if (takes_out) {
            force[n] -= mass * mat6_dot(row, p->motion);
        } else {
            add_face(row, mass, force[n], p);
        }
    }
}

treacle_status lump_balance_apply(const lump_balance* balance, double* force) {
    TREACLE_ASSERT(force != NULL && balance->lumps->count >= 0);
    treacle_context* ctx = balance->liquid->map->ctx;
    size_t count = (size_t)balance->lumps->count;
    lump* lumps = NULL;
    if (count == 0 || balance->lumps->label == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*lumps), "lumps of liquid", (void**)&lumps));
    find_places(balance, lumps);
    pass_faces(balance, lumps, force, false);
    for (size_t n = 0; n < count; ++n) {
        solve_lump(&lumps[n]);
    }
    pass_faces(balance, lumps, force, true); // [tension.7]
    alloc_free(ctx, lumps, count * sizeof(*lumps));
    return TREACLE_OK;
}
