// Which terms count when lumps are looked for. The outcome is a byte a cell, a bit for each of its
// six terms; lump_labels.c asks for nothing else.
#include "solve/lump_strength.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "solve/policy.h"
#include "solve/stress_term.h"

// Strong is relative. A term binds if it is not much weaker than what is around it: its cell's
// neighbours in plain liquid, the terms at its own faces where stiff specks swim in thin liquid.
// Absolute weights would tell nothing: they span twelve orders of magnitude in one scene.
static const int steps[AXES] = {1, BLOCK_SIDE(1, 1), BLOCK_SIDE(1, 1) * BLOCK_SIDE(1, 1)};

typedef struct strength_job {
    const viscosity_level* level;
    float fraction;
    float* face[AXES]; // [tile + 1][512], the heaviest of the terms that a face enters: of specks
    float* cell;       // [tile + 1][512], weights of cells: where there are none
    double* softest;   // [tile], 1 / the least stiffness of a face
    lump_strength* out;
} strength_job;

static float larger(float a, float b) {
    return a > b ? a : b;
}

// The heaviest of the terms that each of a row of faces enters: all are in the tile's own block.
static void find_heaviest(const float* stress, int a, int row, float* out) {
    int j = row & 7, k = row >> 3, b = (a + 1) % AXES, c = (a + 2) % AXES;
    const float* cell = stress + viscosity_cell_at(0, j, k);
    // A face enters the stretches of its two cells and four shears: two edges along each other
    // axis.
    const float* below = cell - VISCOSITY_STRIDE(a);
    const float* across_b = stress + viscosity_edge_at(c, 0, j, k);
    const float* across_c = stress + viscosity_edge_at(b, 0, j, k);
    for (int i = 0; i < TILE_SIZE; ++i) {
        float stretch = larger(cell[i], below[i]);
        float shear_b = larger(across_b[i], across_b[i + VISCOSITY_STRIDE(b)]);
        float shear_c = larger(across_c[i], across_c[i + VISCOSITY_STRIDE(c)]);
        out[i] = larger(stretch, larger(shear_b, shear_c));
    }
}

static void read_faces(void* data, int64_t begin, int64_t end) {
    const strength_job* job = data;
    enum { ROWS = TILE_SIZE * TILE_SIZE };
    // Also of tiles without unknowns: their neighbours ask for the terms at their common faces.
    for (int64_t t = begin; t < end; ++t) {
        const float* stress = job->level->stress + (size_t)t * VISCOSITY_STRESS_BLOCK;
        for (int n = 0; n < AXES * ROWS; ++n) {
            int a = n / ROWS, row = n % ROWS;
            find_heaviest(stress, a, row, job->face[a] + t * TILE_CELLS + row * TILE_SIZE);
        }
    }
}

// Weights of cells as a plain field, for gather_block.
static void read_cells(void* data, int64_t begin, int64_t end) {
    const strength_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        tile_ix t = (tile_ix)(i / TILE_CELLS);
        // Packed weights of cells are twice w_c: here is the weight itself, as edges have it.
        job->cell[i] = 0.5f * stress_term_weight(job->level, t, 0, (int)(i % TILE_CELLS));
    }
}

typedef struct face_blocks {
    float at[AXES][BLOCK_VALUES(1, 1)];
} face_blocks;

// The heaviest terms at all faces of a tile and of one layer around it.
static void gather_faces(const strength_job* job, tile_ix t, face_blocks* out) {
    for (int a = 0; a < AXES; ++a) {
        gather_block(job->level->map, job->face[a], t, 1, 1, out->at[a]);
    }
}

// The heaviest of all terms that the faces of a term enter. `at` is its cell in the blocks.
static float heaviest_around(const face_blocks* face, int kind, int at) {
    // Two faces of a stretch, four of a shear; block neighbours lie a step along an axis away.
    if (kind < AXES) {
        return larger(face->at[kind][at], face->at[kind][at + steps[kind]]);
    }
    int a = (kind + 1) % AXES, b = (kind + 2) % AXES;
    return larger(larger(face->at[a][at], face->at[a][at - steps[b]]),
                  larger(face->at[b][at], face->at[b][at - steps[a]]));
}

// Stress against mass at a face, which does not depend on how full its cells are; 0 where there is
// hardly any liquid.
static double stiffness_at(const strength_job* job, int64_t t, int a, int q) {
    const float* stress = job->level->stress + (size_t)t * VISCOSITY_STRESS_BLOCK;
    int i = q & 7, j = q >> 3 & 7, k = q >> 6;
    const float* cell = stress + viscosity_cell_at(i, j, k);
    // Both are times the fraction of liquid of the face's surroundings, so it cancels.
    double mass = (double)job->level->weights.mass[a][t * TILE_CELLS + q];
    return mass > solve_policy_default()->lump.speck_mass
               ? (double)larger(cell[0], cell[-VISCOSITY_STRIDE(a)]) / mass
               : 0.0;
}

// The largest of a tile. The inverse of the smallest is noted on the way: one look at the faces
// serves for both.
static double stiffest_of_tile(void* data, int64_t t) {
    const strength_job* job = data;
    double most = 0.0, least = 0.0;
    for (int n = 0; n < VISCOSITY_BLOCK && !lump_strength_is_empty(job->level, t); ++n) {
        double here = stiffness_at(job, t, n / TILE_CELLS, n % TILE_CELLS);
        most = here > most ? here : most;
        least = here > 0.0 && (here < least || least == 0.0) ? here : least;
    }
    job->softest[t] = least > 0.0 ? 1.0 / least : 0.0;
    return most;
}

static double softest_of_tile(void* data, int64_t t) {
    return ((const strength_job*)data)->softest[t];
}

// The largest ratio of stress across a face of a tile.
static double jump_of_tile(void* data, int64_t t) {
    const strength_job* job = data;
    const float* stress = job->level->stress + (size_t)t * VISCOSITY_STRESS_BLOCK;
    double most = 1.0;
    for (int n = 0; n < VISCOSITY_BLOCK && !lump_strength_is_empty(job->level, t); ++n) {
        int a = n / TILE_CELLS, q = n % TILE_CELLS;
        const float* above = stress + viscosity_cell_at(q & 7, q >> 3 & 7, q >> 6);
        float one = above[0], other = above[-VISCOSITY_STRIDE(a)];
        float low = one < other ? one : other;
        bool counts = low > 0.0f && one != other &&
                      job->level->weights.mass[a][t * TILE_CELLS + q] >
                          solve_policy_default()->lump.jump_mass;
        double jump = counts ? (double)larger(one, other) / (double)low : 1.0;
        most = jump > most ? jump : most;
    }
    return most;
}

// The largest value of a tile, over all of them. On ranks each asks its own tiles, whose stresses
// it has, and then the others.
static double largest_of(strength_job* job, parallel_term_fcn* of_tile) {
    const viscosity_level* level = job->level;
    bool is_distributed = level->space.shared != NULL;
    tile_range own =
        is_distributed ? tile_ranks_own(level->map) : (tile_range){0, level->map->count};
    return tile_max_range(level->ctx, own, is_distributed, of_tile, job);
}

// Largest over smallest stiffness: whether lumps of very different stiffness may lie side by side.
double lump_strength_contrast(const viscosity_level* level) {
    // Partial sums are free here.
    strength_job job = {.level = level, .softest = level->space.partial[0]};
    double stiffest = largest_of(&job, stiffest_of_tile);
    return stiffest * largest_of(&job, softest_of_tile);
}

// Contrast may build up smoothly, as with heat; this is how much of it lies between two cells.
double lump_strength_jump(const viscosity_level* level) {
    strength_job job = {.level = level};
    return largest_of(&job, jump_of_tile);
}

// Bits of a tile where viscosity varies: no face has a term that is much heavier.
static void mark_by_faces(const strength_job* job, tile_ix t) {
    // Terms of this tile have faces in the next ones: hence blocks with a layer of neighbours.
    face_blocks face;
    gather_faces(job, t, &face);
    for (int q = 0; q < TILE_CELLS; ++q) {
        int at = BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6);
        unsigned bits = 0;
        for (int kind = 0; kind < STRESS_TERM_KINDS; ++kind) {
            float weight = stress_term_weight(job->level, t, kind, q);
            // Against the heaviest of all its faces: a link from a speck to thin liquid is weak at
            // the face that the speck has, whatever the other one says.
            bool is_so =
                weight > 0.0f && weight >= job->fraction * heaviest_around(&face, kind, at);
            bits |= is_so ? 1u << kind : 0u;
        }
        job->out->terms[(size_t)t * TILE_CELLS + (size_t)q] = (uint8_t)bits;
    }
}

// The largest of three in a row, along one axis after the other.
static void find_peaks(const strength_job* job, tile_ix t, float peak[BLOCK_VALUES(1, 1)]) {
    enum { VALUES = BLOCK_VALUES(1, 1) };
    float spare[VALUES];
    float* block[2] = {spare, peak};
    // One axis after the other makes the largest of 3 x 3 x 3 from three passes of three.
    gather_block(job->level->map, job->cell, t, 1, 1, spare);
    memcpy(peak, spare, sizeof(spare));
    for (int a = 0; a < AXES; ++a) {
        const float* from = block[a % 2];
        float* to = block[(a + 1) % 2];
        for (int i = steps[a]; i < VALUES - steps[a]; ++i) {
            to[i] = larger(from[i], larger(from[i - steps[a]], from[i + steps[a]]));
        }
    }
}

static void mark_by_cells(const strength_job* job, tile_ix t) {
    float peak[BLOCK_VALUES(1, 1)];
    find_peaks(job, t, peak);
    for (int q = 0; q < TILE_CELLS; ++q) {
        // Against cells and not faces: so a sliver at the surface is weak beside a full cell.
        float least = job->fraction * peak[BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6)];
        unsigned bits = 0;
        for (int kind = 0; kind < STRESS_TERM_KINDS; ++kind) {
            float weight = stress_term_weight(job->level, t, kind, q);
            bits |= weight > 0.0f && weight >= least ? 1u << kind : 0u;
        }
        job->out->terms[(size_t)t * TILE_CELLS + (size_t)q] = (uint8_t)bits;
    }
}

// One byte a cell: a bit for each of the six terms that it keeps.
static void mark_tiles(void* data, int64_t begin, int64_t end) {
    const strength_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        if (lump_strength_is_empty(job->level, t)) {
            continue;
        }
        if (job->out->has_specks) {
            mark_by_faces(job, (tile_ix)t);
        } else {
            mark_by_cells(job, (tile_ix)t);
        }
    }
}

// Two passes: what is heaviest around, and who holds its own against it.
treacle_status lump_strength_create(const viscosity_level* level, float fraction, bool has_specks,
                                    lump_strength* out) {
    TREACLE_ASSERT(fraction > 0.0f && fraction <= 1.0f);
    treacle_context* ctx = level->ctx;
    int64_t tiles = level->map->count;
    size_t values = ((size_t)tiles + 1) * TILE_CELLS;
    *out = (lump_strength){.ctx = ctx, .tile_count = level->map->count, .has_specks = has_specks};
    strength_job job = {.level = level, .fraction = fraction, .out = out};
    float* fields = NULL;
    TREACLE_TRY(alloc_zero(ctx, (size_t)tiles, TILE_CELLS, "strong terms", (void**)&out->terms));
    // By faces or by cells: never both.
    size_t length = (out->has_specks ? AXES : 1) * values;
    treacle_status status =
        alloc_zero(ctx, length, sizeof(float), "weights of faces or cells", (void**)&fields);
    if (status != TREACLE_OK) {
        lump_strength_destroy(out);
        return status;
    }
    for (int a = 0; a < AXES && out->has_specks; ++a) {
        job.face[a] = fields + (size_t)a * values;
    }
    job.cell = out->has_specks ? NULL : fields;
    parallel_for(ctx, tiles, 8, out->has_specks ? read_faces : read_cells, &job);
    parallel_for(ctx, tiles, 8, mark_tiles, &job);
    alloc_free(ctx, fields, length * sizeof(float));
    return TREACLE_OK;
}

void lump_strength_destroy(lump_strength* strength) {
    if (strength->ctx != NULL) {
        alloc_free(strength->ctx, strength->terms, (size_t)strength->tile_count * TILE_CELLS);
    }
    *strength = (lump_strength){0};
}
