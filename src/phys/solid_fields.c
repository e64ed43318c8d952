// What solids leave open of cells and faces [BBB07 sec. 2.1].
//
// The distance to the nearest solid is worked out on the doubled lattice, at the middles, corners
// and edges of cells that a solid may cut, not interpolated from the middles: so a solid may be
// half a cell thick. On every octant between lattice points it is joined linearly, and with
// octant volumes summed [geometry.3]
//
//     exact   fraction of the volume of the box around the face, half of each cell beside it
//     area    fraction of the area of the face
//     line    fraction of the line between the middles of the two cells
//     voxel   1 if both middles are outside, else 0                                 [solid.2]
//
// A face between cells on two sides of a solid is closed, though part of it be open: the line
// between their middles meets the solid, and the distance grows in opposite directions at its ends.
// A cell whose middle is inside a thin solid belongs to the side that is nearer. So liquid on each
// side of a thin solid has a pressure of its own, and none leaks through [solid.4].
//
// Staggering: distance and volume at cells, open fraction and solid velocity on faces. Symbols:
// points (distance in cells), ids (nearest solid). Properties that tests check: planes are exact at
// every angle; thin plates close the faces that they cross; flat domains agree with deep ones.
// References: [BBB07 sec. 2.1].
#include "phys/solid_fields.h"

#include <math.h>
#include <string.h>

#include "grid/fraction_tile.h"
#include "grid/tile_loop.h"

enum {
    POINTS = FRACTION_POINTS,
    POINT_COUNT = POINTS * POINTS * POINTS,
    CELLS = 9,      // along an axis, from cell -1 on
    NEAR_MAX = 256, // solids that a tile lists; beyond it looks at all of them
};
static const int strides[AXES] = {1, POINTS, POINTS* POINTS};

// A surface is no further from the middle of a cell that it cuts.
static const float cut_reach = 0.8661f;

typedef struct tile_solids {
    const solid_fields_params* params;
    const tile_map* map;
    tile_ix tile;
    vec3 corner; // m, the tile's low corner
    int count;   // near solids; -1: all
    uint16_t near[NEAR_MAX];
    float points[POINT_COUNT]; // cells
    uint16_t ids[POINT_COUNT];
    uint8_t is_exact[POINT_COUNT];
} tile_solids;

typedef struct fields_job {
    const solid_fields_params* params;
    const solid_fields* out;
} fields_job;

// The middle of the tile and of what is read around it, and how far a solid may be from it to have
// any say in the tile.
static double reach_of(const tile_solids* t, vec3* middle) {
    const grid_domain* domain = t->params->domain;
    double squared = 0.0;
    *middle = t->corner;
    for (int a = 0; a < AXES; ++a) {
        middle->at[a] += domain->h * (domain->is_active[a] ? 3.5 : 0.5);
        squared += domain->is_active[a] ? 4.5 * 4.5 : 0.0;
    }
    return domain->h * (sqrt(squared) + (double)SOLID_DISTANCE_MAX);
}

// Whether a solid in a pose has any say in the tile.
static bool is_near(const tile_solids* t, const solid* s, const solid_pose* pose) {
    vec3 middle;
    double reach = reach_of(t, &middle);
    return solid_distance(s, pose, middle) < reach;
}

// Whether it may have had: of a solid that changes its shape only the room is known that it ever
// takes.
static bool was_near(const tile_solids* t, const solid* s, const solid_pose* pose) {
    if (s->sequence == NULL || s->is_inside_out) {
        return s->sequence != NULL || is_near(t, s, pose);
    }
    vec3 middle;
    double reach = reach_of(t, &middle), squared = 0.0;
    vec3 b = solid_to_body(s, pose, middle);
    for (int a = 0; a < AXES; ++a) {
        double below = s->sequence->bounds.low.at[a] - b.at[a];
        double above = b.at[a] - s->sequence->bounds.high.at[a];
        double out = fmax(fmax(below, above), 0.0);
        squared += out * out;
    }
    return squared < reach * reach;
}

// Lists solids that come near the tile; false if there are none.
static bool list_near(tile_solids* t) {
    const solid_scene* scene = &t->params->scene;
    t->count = 0;
    for (int i = 0; i < scene->count; ++i) {
        if (!is_near(t, &scene->solids[i], &scene->poses[i])) {
            continue;
        }
        if (t->count == NEAR_MAX) {
            t->count = -1;
            return true;
        }
        t->near[t->count++] = (uint16_t)i;
    }
    return t->count > 0;
}

// Where a lattice point is; along a flat axis in the mid-plane.
static vec3 solid_fields_place_of(const tile_solids* t, const int at[AXES]) {
    const grid_domain* domain = t->params->domain;
    vec3 x = t->corner;
    for (int a = 0; a < AXES; ++a) {
        x.at[a] += domain->h * (domain->is_active[a] ? 0.5 * (at[a] - 2) : 0.5);
    }
    return x;
}

// To the nearest of the solids near the tile, m.
static double solid_fields_distance_at(const tile_solids* t, vec3 x, int* id) {
    const solid_scene* scene = &t->params->scene;
    double nearest = INFINITY;
    for (int k = 0; k < (t->count < 0 ? scene->count : t->count); ++k) {
        int i = t->count < 0 ? k : t->near[k];
        double d = solid_distance(&scene->solids[i], &scene->poses[i], x);
        if (d < nearest) {
            nearest = d;
            *id = i;
        }
    }
    return nearest;
}

static void solid_fields_measure(tile_solids* t, const int at[AXES]) {
    int index = at[0] + strides[1] * at[1] + strides[2] * at[2];
    if (t->is_exact[index]) {
        return;
    }
    int id = SOLID_NONE;
    double nearest = solid_fields_distance_at(t, solid_fields_place_of(t, at), &id);
    t->points[index] = (float)(nearest / t->params->domain->h);
    t->ids[index] = (uint16_t)id;
    t->is_exact[index] = 1;
}

// The first lattice index of cell i (from -1 on) along an axis, and how many it has.
typedef struct span {
    int first, count;
} span;
static span span_of(const tile_solids* t, int a, int i) {
    return t->map->is_flat[a] ? (span){3, 1} : (span){2 * i + 2, 3};
}

// The points of a cell: by value where the surface is too far to cut it, one by one where not.
static void fill_cell(tile_solids* t, const int cell[AXES], bool is_near) {
    span s[AXES];
    int middle = 0;
    for (int a = 0; a < AXES; ++a) {
        s[a] = span_of(t, a, cell[a]);
        middle += strides[a] * (s[a].first + (s[a].count == 3));
    }
    float phi = t->points[middle];
    if ((fabsf(phi) < cut_reach) != is_near) {
        return;
    }
    for (int k = 0; k < s[2].count; ++k) {
        for (int j = 0; j < s[1].count; ++j) {
            for (int i = 0; i < s[0].count; ++i) {
                const int at[AXES] = {s[0].first + i, s[1].first + j, s[2].first + k};
                int index = at[0] + strides[1] * at[1] + strides[2] * at[2];
                if (is_near) {
                    solid_fields_measure(t, at);
                } else if (!t->is_exact[index]) {
                    t->points[index] = phi;
                    t->ids[index] = t->ids[middle];
                }
            }
        }
    }
}

typedef enum fill_pass {
    FILL_MIDDLES, // of cells, all measured
    FILL_FAR,     // points of cells that no surface cuts take their sign
    FILL_NEAR,    // the others are measured
    FILL_PASSES,
} fill_pass;

static void fill_points(tile_solids* t) {
    memset(t->is_exact, 0, sizeof(t->is_exact));
    int first[AXES];
    for (int a = 0; a < AXES; ++a) {
        first[a] = t->map->is_flat[a] ? 0 : -1;
    }
    for (fill_pass pass = FILL_MIDDLES; pass < FILL_PASSES; ++pass) {
        for (int z = first[2]; z < first[2] + (first[2] == 0 ? 1 : CELLS); ++z) {
            for (int y = first[1]; y < first[1] + (first[1] == 0 ? 1 : CELLS); ++y) {
                for (int x = first[0]; x < first[0] + (first[0] == 0 ? 1 : CELLS); ++x) {
                    const int cell[AXES] = {x, y, z};
                    if (pass == FILL_MIDDLES) {
                        solid_fields_measure(t, (const int[AXES]){2 * x + 3, 2 * y + 3, 2 * z + 3});
                    } else {
                        fill_cell(t, cell, pass == FILL_NEAR);
                    }
                }
            }
        }
    }
}

// Along a flat axis nothing varies.
static void repeat_flat(tile_solids* t) {
    for (int a = 0; a < AXES; ++a) {
        if (!t->map->is_flat[a]) {
            continue;
        }
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        for (int i = 0; i < POINTS * POINTS; ++i) {
            int row = i % POINTS * strides[b] + i / POINTS * strides[c];
            for (int q = 0; q < POINTS; ++q) {
                t->points[row + q * strides[a]] = t->points[row + 3 * strides[a]];
                t->ids[row + q * strides[a]] = t->ids[row + 3 * strides[a]];
            }
        }
    }
}

// The lattice index of a cell's middle.
static int middle_of(int cell) {
    return (2 * (cell % TILE_SIZE) + 3) + (2 * (cell / TILE_SIZE % TILE_SIZE) + 3) * strides[1] +
           (2 * (cell / TILE_SIZE / TILE_SIZE) + 3) * strides[2];
}

// The fraction of a line at or above zero, for values at its ends.
static float fraction_above(float p, float q) {
    if ((p < 0.0f) == (q < 0.0f)) {
        return p < 0.0f ? 0.0f : 1.0f;
    }
    return fmaxf(p, q) / fabsf(p - q);
}

// The direction in which the distance grows at a cell's middle, not normalised. In the very middle
// of a thin solid there is none: such a cell belongs to the upper side of axis a.
static void solid_fields_slope_at(const float* middle, int a, float out[AXES]) {
    float squared = 0.0f;
    for (int b = 0; b < AXES; ++b) {
        out[b] = middle[strides[b]] - middle[-strides[b]];
        squared += out[b] * out[b];
    }
    out[a] = squared < 1e-8f && *middle < 0.0f ? 1.0f : out[a];
}

// Whether the solid is somewhere between two places outside, `length` cells apart, with the
// distances p and q: not if these reach all of the way.
static bool is_between(const tile_solids* t, vec3 x, vec3 y, const float ends[2], float length) {
    enum { PARTS = 16 };
    if (ends[0] + ends[1] >= length || length < 1.0f / PARTS) {
        return false;
    }
    vec3 middle = vec3_scale(0.5, vec3_add(x, y));
    float m = (float)(solid_fields_distance_at(t, middle, &(int){0}) / t->params->domain->h);
    return m < 0.0f || is_between(t, x, middle, (const float[2]){ends[0], m}, 0.5f * length) ||
           is_between(t, middle, y, (const float[2]){m, ends[1]}, 0.5f * length);
}

// Whether the solid stands between the cells on both sides of the face at lattice index `at`.
static bool is_across(const tile_solids* t, int at, int a) {
    const float* face = t->points + at;
    float low = face[-strides[a]], high = face[strides[a]];
    if (low + high >= 1.0f) {
        return false;
    }
    float below[AXES], above[AXES], along = 0.0f;
    solid_fields_slope_at(face - strides[a], a, below);
    solid_fields_slope_at(face + strides[a], a, above);
    for (int b = 0; b < AXES; ++b) {
        along += t->map->is_flat[b] ? 0.0f : below[b] * above[b];
    }
    // On the way from one side to the other the distance falls first, then grows.
    if (!(along < 0.0f) || below[a] > 0.0f || above[a] < 0.0f) {
        return false;
    }
    if (low < 0.0f || high < 0.0f || face[0] < 0.0f) {
        return true;
    }
    const int point[AXES] = {at % POINTS, at / POINTS % POINTS, at / POINTS / POINTS};
    vec3 x = solid_fields_place_of(t, point), y = x;
    x.at[a] -= 0.5 * t->params->domain->h;
    y.at[a] += 0.5 * t->params->domain->h;
    return is_between(t, x, y, (const float[2]){low, high}, 1.0f);
}

// What is open of a face, given the fraction `closed` of it or of its box [solid.2].
static float open_of(treacle_walls openings, const float* face, int step, float closed) {
    float low = face[-step], high = face[step];
    bool is_open = low >= 0.0f && high >= 0.0f;
    float open = openings == TREACLE_WALLS_VOXEL ? (is_open ? 1.0f : 0.0f)
                 : openings == TREACLE_WALLS_LINE
                     ? 0.5f * (fraction_above(low, face[0]) + fraction_above(face[0], high))
                     : 1.0f - closed;
    return open < SOLID_OPEN_MIN ? 0.0f : open;
}

// Whether the cells beside the face are no deeper in the solid than in a thin one.
static bool is_thin(const tile_solids* t, int at, int a) {
    static const float depth = -0.75f;
    return t->points[at - strides[a]] > depth && t->points[at + strides[a]] > depth;
}

// Whether a cell is solid throughout, but for rounding: nothing flows into it, though the wall lies
// on its faces, where it is up to rounding whether their area is open. What is open of the volume
// around a face, or of the line across it, is no matter of the face alone.
static bool solid_fields_is_full(const tile_solids* t, int middle) {
    static const float rounding = 1e-4f;
    bool is_full = t->points[middle] < rounding - 0.5f;
    for (int n = 0; n < 27 && is_full; ++n) {
        int corner = middle + (n % 3 - 1) + (n / 3 % 3 - 1) * strides[1] + (n / 9 - 1) * strides[2];
        is_full = t->points[corner] < rounding;
    }
    return is_full;
}

static void write_faces(const tile_solids* t, int a, float* open, float* u, uint8_t* across) {
    const solid_scene* scene = &t->params->scene;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int at = middle_of(i) - strides[a];
        if (!tile_cell_counts(t->map, i)) {
            continue;
        }
        open[i] = open_of(t->params->openings, t->points + at, strides[a], open[i]);
        bool is_closed = open[i] > 0.0f || is_thin(t, at, a) ? is_across(t, at, a) : false;
        bool is_lid =
            t->params->openings == TREACLE_WALLS_AREA && open[i] > 0.0f &&
            (solid_fields_is_full(t, at - strides[a]) || solid_fields_is_full(t, at + strides[a]));
        open[i] = is_closed || is_lid ? 0.0f : open[i]; // [solid.4]
        across[i] |= (uint8_t)((is_closed ? 1u : 0u) << a);
        u[i] = 0.0f;
        if (open[i] < 1.0f) {
            const int point[AXES] = {at % POINTS, at / POINTS % POINTS, at / POINTS / POINTS};
            vec3 v = solid_velocity(&scene->poses[t->ids[at]], solid_fields_place_of(t, point));
            u[i] = (float)v.at[a];
        }
    }
}

// Who closes what, for those whose motion is not known yet.
static void write_owners(const tile_solids* t, int a, const solid_fields* out) {
    size_t start = (size_t)t->tile * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS && out->face_closed.at[a] != NULL; ++i) {
        float closed = 1.0f - out->face_open.at[a][start + (size_t)i];
        int at = middle_of(i) - strides[a];
        out->face_closed.at[a][start + (size_t)i] = closed;
        bool is_any = closed > 0.0f || out->face_fill.at[a][start + (size_t)i] > 0.0f;
        out->face_id[a][start + (size_t)i] = is_any ? t->ids[at] : SOLID_NONE;
    }
}

static void write_cells(const tile_solids* t, size_t start, const solid_fields* out) {
    for (int i = 0; i < TILE_CELLS; ++i) {
        int middle = middle_of(i);
        float phi = t->points[middle], limit = SOLID_DISTANCE_MAX;
        out->cell_phi[start + (size_t)i] = fminf(fmaxf(phi, -limit), limit);
        out->cell_id[start + (size_t)i] = phi < limit ? t->ids[middle] : SOLID_NONE;
        out->cell_open[start + (size_t)i] = 1.0f - out->cell_open[start + (size_t)i];
    }
}

static void write_open(size_t start, const solid_fields* out) {
    for (size_t i = start; i < start + TILE_CELLS; ++i) {
        out->cell_phi[i] = SOLID_DISTANCE_MAX;
        out->cell_id[i] = SOLID_NONE;
        out->cell_open[i] = 1.0f;
        out->cell_across[i] = 0;
        for (int a = 0; a < AXES; ++a) {
            out->face_open.at[a][i] = 1.0f;
            out->face_u.at[a][i] = 0.0f;
            if (out->face_closed.at[a] != NULL) {
                out->face_closed.at[a][i] = 0.0f;
                out->face_fill.at[a][i] = 0.0f;
                out->face_id[a][i] = SOLID_NONE;
            }
        }
    }
}

// The tile of the fields found before that holds what would be found now; -1: none.
static tile_ix find_before(const tile_solids* t) {
    const solid_fields_before* before = t->params->before;
    const solid_scene* scene = &t->params->scene;
    if (before == NULL || before->map->count == 0) {
        return -1;
    }
    tile_ix old = tile_map_find(before->map, t->map->coord[t->tile]);
    for (int i = 0; i < scene->count && old < before->map->count; ++i) {
        const solid_pose *now = &scene->poses[i], *then = &before->poses[i];
        bool is_still = memcmp(now, then, sizeof(*now)) == 0;
        if (!is_still &&
            (is_near(t, &scene->solids[i], now) || was_near(t, &scene->solids[i], then))) {
            return -1;
        }
    }
    return old < before->map->count && tile_ranks_holds(before->map, old) ? old : -1;
}

static void copy_tile(const tile_solids* t, tile_ix old, const solid_fields* out) {
    const solid_fields* from = &t->params->before->fields;
    size_t start = (size_t)t->tile * TILE_CELLS, old_start = (size_t)old * TILE_CELLS;
    size_t bytes = TILE_CELLS * sizeof(float);
    memcpy(out->cell_phi + start, from->cell_phi + old_start, bytes);
    memcpy(out->cell_open + start, from->cell_open + old_start, bytes);
    memcpy(out->cell_id + start, from->cell_id + old_start, TILE_CELLS * sizeof(uint16_t));
    memcpy(out->cell_across + start, from->cell_across + old_start, TILE_CELLS);
    for (int a = 0; a < AXES; ++a) {
        memcpy(out->face_open.at[a] + start, from->face_open.at[a] + old_start, bytes);
        memcpy(out->face_u.at[a] + start, from->face_u.at[a] + old_start, bytes);
    }
}

static void fill_tile(const fields_job* job, tile_solids* t) {
    const solid_fields* out = job->out;
    const int layers[AXES] = {tile_layers(t->map, 0), tile_layers(t->map, 1),
                              tile_layers(t->map, 2)};
    size_t start = (size_t)t->tile * TILE_CELLS;
    for (int a = 0; a < AXES; ++a) {
        const grid_domain* domain = t->params->domain;
        t->corner.at[a] = domain->origin[a] + domain->h * TILE_SIZE * t->map->coord[t->tile].at[a];
    }
    tile_ix old = find_before(t);
    if (old >= 0) {
        copy_tile(t, old, out);
        return;
    }
    if (!list_near(t)) {
        write_open(start, out);
        return;
    }
    fill_points(t);
    repeat_flat(t);
    bool is_area = t->params->openings == TREACLE_WALLS_AREA;
    fraction_fields fractions = {.cell = out->cell_open + start};
    for (int a = 0; a < AXES; ++a) {
        *(is_area ? &fractions.area.at[a] : &fractions.face.at[a]) = out->face_open.at[a] + start;
        if (is_area && out->face_fill.at[a] != NULL) {
            fractions.face.at[a] = out->face_fill.at[a] + start;
        }
    }
    ISA_CALL(t->map->ctx, fraction_points)(t->points, layers, &fractions);
    for (int a = 0; a < AXES && !is_area && out->face_fill.at[a] != NULL; ++a) {
        memcpy(out->face_fill.at[a] + start, out->face_open.at[a] + start,
               TILE_CELLS * sizeof(float));
    }
    uint8_t* across = out->cell_across + start;
    memset(across, 0, TILE_CELLS);
    for (int a = 0; a < AXES; ++a) {
        write_faces(t, a, out->face_open.at[a] + start, out->face_u.at[a] + start, across);
        write_owners(t, a, out);
    }
    write_cells(t, start, out);
}

static void solid_fields_fill_tiles(void* data, int64_t begin, int64_t end) {
    const fields_job* job = data;
    tile_solids t = {.params = job->params, .map = job->params->map};
    for (int64_t i = begin; i < end; ++i) {
        t.tile = (tile_ix)i;
        fill_tile(job, &t);
    }
}

void solid_fields_compute(const solid_fields_params* params, const solid_fields* out) {
    TREACLE_ASSERT(out->cell_phi != NULL && out->cell_id != NULL && out->cell_open != NULL);
    TREACLE_ASSERT(params->scene.count >= 0 && params->scene.count <= SOLID_COUNT_MAX);
    TREACLE_ASSERT(params->before == NULL || params->before->fields.cell_phi != out->cell_phi);
    fields_job job = {params, out};
    tile_for(params->map, &(tile_use){.reads = TILE_ALONE, .grain = 1}, solid_fields_fill_tiles,
             &job);
}
