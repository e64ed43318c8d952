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
    double mass[BODY_MOTIONS][BODY_MOTIONS], inverse[BODY_MOTIONS][BODY_MOTIONS];
    double momentum[BODY_MOTIONS], motion[BODY_MOTIONS];
} lump;

static bool is_fixed(const lump_set* set, int a, int64_t face) {
    return set->weights->fixed[face] >> a & 1;
}

// Cells: the middle of each lump, and whether something holds it.
static void find_places(const lump_set* set, lump* lumps) {
    const tile_map* map = set->liquid->map;
    for (int64_t i = 0; i < (int64_t)map->count * TILE_CELLS; ++i) {
        int32_t label = set->regions->label[i];
        if (label < 0) {
            continue;
        }
        lump* p = &lumps[label];
        int at[AXES];
        tile_cell_at(map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        p->cells += 1.0;
        for (int a = 0; a < AXES; ++a) {
            int64_t above = tile_slot_above(map, i / TILE_CELLS, (int)(i % TILE_CELLS), a);
            bool is_active = set->liquid->domain->is_active[a];
            p->pivot[a] += at[a] + 0.5;
            p->is_held =
                p->is_held || (is_active && (is_fixed(set, a, i) || is_fixed(set, a, above)));
        }
    }
    for (int32_t n = 0; n < set->regions->count; ++n) {
        for (int a = 0; a < AXES && lumps[n].cells > 0.0; ++a) {
            lumps[n].pivot[a] /= lumps[n].cells;
        }
    }
}

// The free lump that a face belongs to; NULL: none, or it is fixed, or has no mass.
static lump* lump_of(const lump_set* set, int a, int64_t face, lump* lumps) {
    const tile_map* map = set->liquid->map;
    int64_t below = tile_slot_below(map, face / TILE_CELLS, (int)(face % TILE_CELLS), a);
    int32_t label = set->regions->label[face];
    bool has_below = below < (int64_t)map->count * TILE_CELLS;
    label = label < 0 && has_below ? set->regions->label[below] : label;
    bool counts = label >= 0 && !is_fixed(set, a, face) && set->weights->mass[a][face] > 0.0f &&
                  !lumps[label].is_held;
    return counts ? &lumps[label] : NULL;
}

// What each motion of the lump is at a face.
static void row_of(const lump_set* set, const lump* p, int a, int64_t face,
                   double row[BODY_MOTIONS]) {
    int at[AXES], b = (a + 1) % AXES, c = (a + 2) % AXES;
    tile_cell_at(set->liquid->map, (tile_ix)(face / TILE_CELLS), (int)(face % TILE_CELLS), at);
    memset(row, 0, BODY_MOTIONS * sizeof(*row));
    row[a] = 1.0;
    row[AXES + b] = at[c] + 0.5 - p->pivot[c];
    row[AXES + c] = -(at[b] + 0.5 - p->pivot[b]);
}

static void add_mass(const double row[BODY_MOTIONS], double mass, lump* p) {
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        for (int j = 0; j < BODY_MOTIONS; ++j) {
            p->mass[i][j] += mass * row[i] * row[j];
        }
    }
}

static void invert_mass(lump* p) {
    double least = least_inertia * (p->mass[0][0] + p->mass[1][1] + p->mass[2][2]);
    for (int i = AXES; i < BODY_MOTIONS; ++i) {
        for (int j = 0; j < BODY_MOTIONS && p->mass[i][i] <= least; ++j) {
            p->mass[j][i] = j == i ? p->mass[j][i] : 0.0;
            p->mass[i][j] = j == i ? p->mass[i][j] : 0.0;
        }
        p->mass[i][i] = p->mass[i][i] <= least ? 0.0 : p->mass[i][i];
    }
    mat6_invert((const double(*)[BODY_MOTIONS])p->mass, p->inverse);
}

// What a pass over the faces of free lumps does.
typedef enum lump_pass {
    PASS_MASS,     // adds up their masses
    PASS_MOMENTUM, // and what of a vector is theirs
    PASS_TAKE,     // takes the momentum of their motion out of it
    PASS_ADD,      // adds their motion
    PASS_TURN,     // adds their rotation
} lump_pass;

static void pass_face(lump_pass what, const double row[BODY_MOTIONS], double mass, lump* p,
                      double* value) {
    double turn = 0.0;
    switch (what) {
    case PASS_MASS:
        add_mass(row, mass, p);
        break;
    case PASS_MOMENTUM:
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            p->momentum[i] += *value * row[i];
        }
        break;
    case PASS_TAKE:
        *value -= mass * mat6_dot(row, p->motion);
        break;
    case PASS_ADD:
        *value += mat6_dot(row, p->motion);
        break;
    case PASS_TURN:
        for (int i = AXES; i < BODY_MOTIONS; ++i) {
            turn += row[i] * p->motion[i];
        }
        *value += turn;
        break;
    }
}

// The vector is not touched by the first two.
static void pass_faces(const lump_set* set, lump_pass what, double* vector) {
    if (set->at == NULL) { // nobody has looked for lumps, or there are none
        return;
    }
    const tile_map* map = set->liquid->map;
    for (int64_t n = 0; n < (int64_t)map->count * VISCOSITY_BLOCK; ++n) {
        int a = (int)(n / TILE_CELLS % AXES);
        int64_t face = n / VISCOSITY_BLOCK * TILE_CELLS + n % TILE_CELLS;
        lump* p = set->liquid->domain->is_active[a] ? lump_of(set, a, face, set->at) : NULL;
        if (p != NULL) {
            double row[BODY_MOTIONS];
            row_of(set, p, a, face, row);
            pass_face(what, row, (double)set->weights->mass[a][face], p,
                      vector != NULL ? vector + n : NULL);
        }
    }
}

treacle_status lump_set_create(const stress_params* liquid, const stress_weights* weights,
                               const region_set* regions, lump_set* out) {
    TREACLE_ASSERT(regions->count >= 0);
    *out = (lump_set){.liquid = liquid, .weights = weights, .regions = regions};
    if (regions->count == 0 || regions->label == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(liquid->map->ctx, (size_t)regions->count, sizeof(*out->at),
                           "lumps of liquid", (void**)&out->at));
    find_places(out, out->at);
    pass_faces(out, PASS_MASS, NULL);
    for (int32_t n = 0; n < regions->count; ++n) {
        invert_mass(&out->at[n]);
    }
    return TREACLE_OK;
}

void lump_set_destroy(lump_set* set) {
    if (set->at != NULL) {
        alloc_free(set->liquid->map->ctx, set->at, (size_t)set->regions->count * sizeof(*set->at));
    }
    *set = (lump_set){0};
}

void lump_set_find_motions(const lump_set* set, const double* momentum) {
    TREACLE_ASSERT(momentum != NULL);
    for (int32_t n = 0; set->at != NULL && n < set->regions->count; ++n) {
        memset(set->at[n].momentum, 0, sizeof(set->at[n].momentum));
    }
    pass_faces(set, PASS_MOMENTUM, (double*)momentum);
    for (int32_t n = 0; set->at != NULL && n < set->regions->count; ++n) {
        lump* p = &set->at[n];
        mat6_multiply((const double(*)[BODY_MOTIONS])p->inverse, p->momentum, p->motion);
    }
}

void lump_set_take_momentum(const lump_set* set, double* momentum) {
    TREACLE_ASSERT(momentum != NULL);
    pass_faces(set, PASS_TAKE, momentum); // [tension.7]
}

void lump_set_add_motions(const lump_set* set, bool only_rotations, double* u) {
    TREACLE_ASSERT(u != NULL);
    pass_faces(set, only_rotations ? PASS_TURN : PASS_ADD, u);
}
