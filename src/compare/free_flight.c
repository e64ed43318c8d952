// Free flight [CMVT02 sec. 4.4]: viscosity inside a drop cannot change how it flies.
//
// A solve of each component by itself can: its free surface stops rotations, and if it is not
// solved to the end, translations as well. So the liquid's cells are grouped into regions that
// share faces; those that touch neither wall nor inflow are in free flight. Of each, with Z the six
// rigid motions at faces and M their masses (half a cell for each side that is liquid),
//
//     u' = u + Z (Z^T M Z)^-1 Z^T M (u_before - u)                                      [flight.1]
//
// has the linear and angular momentum of before, and the deformation that the solve has made.
//
// differs from [CMVT02 sec. 4.4], which gives back the linear part only.
//
// Staggering: labels at cells, u on faces. Properties that tests check: momenta are those of
// before; liquid at a wall is left alone; other solves do not need it.
#include "compare/free_flight.h"

#include <math.h>

#include "base/alloc.h"
#include "math/forest.h"
#include "solve/mat6.h"

typedef struct flight_region {
    bool is_held;
    double mass, centre[AXES]; // cells
    double inertia[BODY_MOTIONS][BODY_MOTIONS];
    double momentum[BODY_MOTIONS];
} flight_region;

enum { NO_CELL = -1 };

// --- regions -------------------------------------------------------------------------------------

static const int cell_step[AXES] = {1, TILE_SIZE, TILE_SIZE* TILE_SIZE};
static const int tile_step[AXES] = {1, 3, 9};

static int64_t low_cell(const tile_map* map, int64_t i, int a) {
    int64_t t = i / TILE_CELLS;
    int q = (int)(i % TILE_CELLS);
    if (q / cell_step[a] % TILE_SIZE > 0) {
        return i - cell_step[a];
    }
    tile_ix n = map->neighbour[t][TILE_SELF - tile_step[a]];
    return n == map->count ? NO_CELL : (int64_t)n * TILE_CELLS + q + (TILE_SIZE - 1) * cell_step[a];
}

// up becomes trees of cells, the roots being their first cells.
static void join_cells(const free_flight_params* p, int32_t* up) {
    int64_t cells = (int64_t)p->map->count * TILE_CELLS;
    for (int64_t i = 0; i < cells; ++i) {
        up[i] = p->cell_phi[i] < 0.0f ? (int32_t)i : NO_CELL;
    }
    for (int64_t i = 0; i < cells; ++i) {
        for (int a = 0; a < AXES && up[i] >= 0; ++a) {
            int64_t low = p->domain->is_active[a] ? low_cell(p->map, i, a) : NO_CELL;
            if (low != NO_CELL && up[low] >= 0) {
                forest_unite(up, (int32_t)i, (int32_t)low);
            }
        }
    }
}

// Numbers the trees by their roots. Returns how many there are.
static int32_t number_regions(int64_t cells, int32_t* up, int32_t* label) {
    int32_t count = 0;
    for (int64_t i = 0; i < cells; ++i) {
        int32_t root = up[i] < 0 ? NO_CELL : forest_root(up, (int32_t)i);
        label[i] = root < 0 ? NO_CELL : root == (int32_t)i ? count++ : label[root];
    }
    return count;
}

static treacle_status find_regions(const free_flight_params* p, free_flight* out) {
    treacle_context* ctx = p->map->ctx;
    size_t cells = (size_t)p->map->count * TILE_CELLS;
    int32_t* up = NULL;
    TREACLE_TRY(alloc_array(ctx, cells, sizeof(int32_t), "regions in flight", (void**)&out->label));
    TREACLE_TRY(alloc_array(ctx, cells, sizeof(int32_t), "regions in flight", (void**)&up));
    join_cells(p, up);
    int32_t count = number_regions((int64_t)cells, up, out->label);
    alloc_free(ctx, up, cells * sizeof(int32_t));
    TREACLE_TRY(alloc_zero(ctx, (size_t)count, sizeof(flight_region), "regions in flight",
                           (void**)&out->regions));
    out->count = count;
    return TREACLE_OK;
}

// --- faces ---------------------------------------------------------------------------------------

// A face that liquid has a side of.
typedef struct flight_face {
    int64_t at;
    int axis;
    int32_t region;
    double mass;        // cells
    double place[AXES]; // cells
    bool is_held;
} flight_face;

typedef void face_fcn(const free_flight* flight, const flight_face* face, float* const u[AXES]);

// Whether something else than liquid and air is at the face.
static bool is_held(const free_flight_params* p, int64_t i, int a, const int at[AXES],
                    bool is_inner) {
    bool is_closed = p->face_open.at[a][i] < 0.999f;
    bool is_given = p->face_rho.at[a] != NULL && isinf(p->face_rho.at[a][i]);
    bool wraps = p->domain->is_periodic[a] && at[a] == 0 && is_inner;
    return is_closed || is_given || wraps;
}

static void visit_faces(const free_flight* flight, face_fcn* visit, float* const u[AXES]) {
    const free_flight_params* p = flight->params;
    int64_t cells = (int64_t)p->map->count * TILE_CELLS;
    for (int64_t i = 0; i < cells; ++i) {
        int at[AXES];
        tile_cell_at(p->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            int64_t low = low_cell(p->map, i, a);
            int32_t high_region = flight->label[i];
            int32_t low_region = low == NO_CELL ? NO_CELL : flight->label[low];
            bool has_any = high_region >= 0 || low_region >= 0;
            if (!p->domain->is_active[a] || !has_any) {
                continue;
            }
            flight_face face = {.at = i, .axis = a};
            face.region = high_region >= 0 ? high_region : low_region;
            face.mass = 0.5 * ((high_region >= 0) + (low_region >= 0));
            face.is_held = is_held(p, i, a, at, high_region >= 0 && low_region >= 0);
            for (int b = 0; b < AXES; ++b) {
                bool is_active = p->domain->is_active[b];
                face.place[b] = !is_active ? 0.0 : at[b] + (b == a ? 0.0 : 0.5);
            }
            visit(flight, &face, u);
        }
    }
}

// What the six motions are at a face.
static void motions_at(const flight_region* r, const flight_face* face, double z[BODY_MOTIONS]) {
    int a = face->axis, b = (a + 1) % AXES, c = (a + 2) % AXES;
    for (int k = 0; k < BODY_MOTIONS; ++k) {
        z[k] = k == a ? 1.0 : 0.0;
    }
    z[AXES + b] = face->place[c] - r->centre[c];
    z[AXES + c] = -(face->place[b] - r->centre[b]);
}

static void find_centre(const free_flight* flight, const flight_face* face, float* const u[AXES]) {
    flight_region* r = &flight->regions[face->region];
    (void)u;
    r->is_held = r->is_held || face->is_held;
    r->mass += face->mass;
    for (int b = 0; b < AXES; ++b) {
        r->centre[b] += face->mass * face->place[b];
    }
}

static void find_inertia(const free_flight* flight, const flight_face* face, float* const u[AXES]) {
    flight_region* r = &flight->regions[face->region];
    double z[BODY_MOTIONS];
    (void)u;
    motions_at(r, face, z);
    for (int j = 0; j < BODY_MOTIONS; ++j) {
        for (int k = 0; k < BODY_MOTIONS; ++k) {
            r->inertia[j][k] += face->mass * z[j] * z[k];
        }
    }
}

static void add_momentum(const free_flight* flight, const flight_face* face, float* const u[AXES]) {
    flight_region* r = &flight->regions[face->region];
    double z[BODY_MOTIONS], moves = face->mass * (double)u[face->axis][face->at];
    motions_at(r, face, z);
    for (int k = 0; k < BODY_MOTIONS; ++k) {
        r->momentum[k] += moves * z[k];
    }
}

static void take_momentum(const free_flight* flight, const flight_face* face,
                          float* const u[AXES]) {
    flight_region* r = &flight->regions[face->region];
    double z[BODY_MOTIONS], moves = face->mass * (double)u[face->axis][face->at];
    motions_at(r, face, z);
    for (int k = 0; k < BODY_MOTIONS; ++k) {
        r->momentum[k] -= moves * z[k];
    }
}

static void give_motion(const free_flight* flight, const flight_face* face, float* const u[AXES]) {
    const flight_region* r = &flight->regions[face->region];
    double z[BODY_MOTIONS];
    motions_at(r, face, z);
    float* at = &u[face->axis][face->at];
    *at = r->is_held ? *at : (float)((double)*at + mat6_dot(r->momentum, z));
}

// --- before and after ----------------------------------------------------------------------------

// Beyond the far sides of the domain there may be no cell whose face it is.
static void hold_far_sides(const free_flight* flight) {
    const free_flight_params* p = flight->params;
    for (int64_t i = 0; i < (int64_t)p->map->count * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(p->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES && flight->label[i] >= 0; ++a) {
            bool is_last = at[a] == p->domain->cells[a] - 1;
            bool is_side = p->domain->is_active[a] && !p->domain->is_periodic[a];
            flight_region* r = &flight->regions[flight->label[i]];
            r->is_held = r->is_held || (is_last && is_side);
        }
    }
}

treacle_status free_flight_begin(const free_flight_params* params, float* const face_u[AXES],
                                 free_flight* out) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->face_open.at[0] != NULL);
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    *out = (free_flight){.params = params};
    treacle_status status = find_regions(params, out);
    if (status != TREACLE_OK) {
        free_flight_finish(out);
        return status;
    }
    visit_faces(out, find_centre, NULL);
    for (int32_t r = 0; r < out->count; ++r) {
        for (int b = 0; b < AXES; ++b) {
            out->regions[r].centre[b] /= fmax(out->regions[r].mass, 0.5);
        }
    }
    hold_far_sides(out);
    visit_faces(out, find_inertia, NULL);
    visit_faces(out, add_momentum, face_u);
    return TREACLE_OK;
}

void free_flight_end(const free_flight* flight, float* const face_u[AXES]) {
    TREACLE_ASSERT(flight->count == 0 || (flight->label != NULL && flight->regions != NULL));
    visit_faces(flight, take_momentum, face_u);
    for (int32_t i = 0; i < flight->count; ++i) {
        flight_region* r = &flight->regions[i];
        double inverse[BODY_MOTIONS][BODY_MOTIONS], motion[BODY_MOTIONS];
        mat6_invert((const double(*)[BODY_MOTIONS])r->inertia, inverse);
        mat6_multiply((const double(*)[BODY_MOTIONS])inverse, r->momentum, motion); // [flight.1]
        for (int k = 0; k < BODY_MOTIONS; ++k) {
            r->momentum[k] = motion[k];
        }
    }
    visit_faces(flight, give_motion, face_u);
}

int32_t free_flight_count(const free_flight* flight) {
    int32_t count = 0;
    for (int32_t i = 0; i < flight->count; ++i) {
        count += flight->regions[i].is_held ? 0 : 1;
    }
    return count;
}

void free_flight_finish(free_flight* flight) {
    if (flight->params == NULL) {
        return;
    }
    const tile_map* map = flight->params->map;
    alloc_free(map->ctx, flight->label, (size_t)map->count * TILE_CELLS * sizeof(int32_t));
    alloc_free(map->ctx, flight->regions, (size_t)flight->count * sizeof(flight_region));
    *flight = (free_flight){0};
}
