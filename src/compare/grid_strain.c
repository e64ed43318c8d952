// The elastic strain on a staggered grid [G11 sec. 3.2 and 3.5]:
//
//     f_e = mu_e div eps                                                          [G11 eq. 3.5]
//
//     d eps/dt = W eps - eps W + D
//                - alpha eps'/|eps'| max(0, |eps'| - gamma)                       [G11 eq. 3.29]
//
// Diagonal entries live at cells, the others at edges (phys/tensor.h). What an update needs at a
// place where it does not live is the mean of the nearest samples of it [semi.3]: two along each
// axis in which the places differ.
//
// differs from [G11 Alg. 11 and 13]: they print the increments as the new values; they are added
// here. Alg. 13's lambda is gamma. Strain turns by a rotation, eps <- R eps R^T, since the forward
// Euler step of the print lets it grow, by 24 % a turn at a degree a step; and it decays
// implicitly, which is the same to first order and divides by nothing at rest (phys/strain.c, which
// particles use, too).
//
// differs from [G11 sec. 3.6]: shear is zero at edges on walls along which liquid slides only. A
// wall to which it sticks does shear it.
//
// Properties that tests check: a constant strain pushes nothing, a parabola as its divergence says;
// strain turns with a rigid rotation and keeps its norm; each entry of a strain that is linear in
// space, in a flow that is, too, becomes what that of a particle at its place does; only sides
// along which liquid slides have no shear.
#include "compare/grid_strain.h"

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "grid/tile_sample.h"

enum { SIDE = BLOCK_SIDE(1, 1), ROOM = BLOCK_VALUES(1, 1) };
static const int step_of[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct strain_job {
    const grid_strain_params* params;
    const grid_strain_motion* motion;
    const tensor_field *before, *after;
    float* const* face_u;
    strain_step step;
} strain_job;

// A tile and one sample around it; beyond the sides of the domain the last one goes on.
static void grid_strain_gather(const grid_strain_params* p, grid_place place, const float* values,
                               tile_ix t, float block[ROOM]) {
    tile_sampler from = tile_sampler_of(p->domain, p->map, place, values);
    const int32_t* coord = p->map->coord[t].at;
    for (int i = 0; i < ROOM; ++i) {
        const int local[AXES] = {i % SIDE - 1, i / SIDE % SIDE - 1, i / SIDE / SIDE - 1};
        int at[AXES];
        bool counts = true;
        for (int a = 0; a < AXES; ++a) {
            counts = counts && (p->domain->is_active[a] || local[a] == 0);
            at[a] = coord[a] * TILE_SIZE + local[a];
        }
        block[i] = counts ? tile_sample_at(&from, at) : 0.0f;
    }
}

// --- force ---------------------------------------------------------------------------------------

static void push_tiles(void* data, int64_t begin, int64_t end) {
    const strain_job* job = data;
    const grid_strain_params* p = job->params;
    float scale = (float)(p->dt * p->law->modulus / (p->density * p->domain->h));
    const bool* is_active = p->domain->is_active;
    float block[ROOM];
    for (int64_t t = begin; t < end; ++t) {
        for (int part = 0; part < STRAIN_PARTS; ++part) {
            grid_strain_gather(p, tensor_place(part), tensor_part(job->before, part), (tile_ix)t,
                               block);
            for (int i = 0; i < TILE_CELLS; ++i) {
                const float* at = block + BLOCK_INDEX(1, 1, i & 7, i >> 3 & 7, i >> 6);
                size_t slot = (size_t)t * TILE_CELLS + (size_t)i;
                if (part < AXES) { // normal: cells on both sides of the face
                    float normal = is_active[part] ? at[0] - at[-step_of[part]] : 0.0f;
                    job->face_u[part][slot] += scale * normal;
                    continue;
                }
                int b = (part - AXES + 1) % AXES, c = (part - AXES + 2) % AXES;
                bool is_sheared = is_active[b] && is_active[c];
                job->face_u[b][slot] += is_sheared ? scale * (at[step_of[c]] - at[0]) : 0.0f;
                job->face_u[c][slot] += is_sheared ? scale * (at[step_of[b]] - at[0]) : 0.0f;
            }
        }
    }
}

void grid_strain_push(const grid_strain_params* params, const tensor_field* strain,
                      float* const face_u[AXES]) {
    TREACLE_ASSERT(params->density > 0.0 && params->dt > 0.0);
    TREACLE_ASSERT(strain->cell[0] != NULL && strain->edge[0] != NULL);
    strain_job job = {.params = params, .before = strain, .face_u = face_u};
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, push_tiles, &job);
}

// --- update --------------------------------------------------------------------------------------

// What lives at one place, at another: `at` points to the sample of the same cell [semi.3].
static double mean_at(const grid_domain* domain, const float* at, grid_place from, grid_place to) {
    double sum = 0.0;
    int first[AXES], count = 1, along[AXES], n = 0;
    for (int a = 0; a < AXES; ++a) {
        int differs = domain->is_active[a] ? place_half(from, a) - place_half(to, a) : 0;
        first[a] = differs > 0 ? -1 : 0;
        if (differs != 0) {
            along[n++] = a;
            count *= 2;
        }
    }
    for (int k = 0; k < count; ++k) {
        int offset = 0;
        for (int i = 0; i < n; ++i) {
            offset += (first[along[i]] + (k >> i & 1)) * step_of[along[i]];
        }
        sum += (double)at[offset];
    }
    return sum / count;
}

typedef struct strain_blocks {
    float eps[STRAIN_PARTS][ROOM], stretch[STRAIN_PARTS][ROOM], spin[AXES][ROOM];
} strain_blocks;

static void gather_all(const strain_job* job, tile_ix t, strain_blocks* out) {
    for (int part = 0; part < STRAIN_PARTS; ++part) {
        grid_place place = tensor_place(part);
        grid_strain_gather(job->params, place, tensor_part(job->before, part), t, out->eps[part]);
        grid_strain_gather(job->params, place, tensor_part(job->motion->stretch, part), t,
                           out->stretch[part]);
    }
    for (int a = 0; a < AXES; ++a) {
        grid_strain_gather(job->params, place_edge(a), job->motion->spin[a], t, out->spin[a]);
    }
}

// The strain at a place of cell i after the step.
static void advance_at(const strain_job* job, const strain_blocks* b, grid_place place, int i,
                       double eps[STRAIN_PARTS]) {
    int at = BLOCK_INDEX(1, 1, i & 7, i >> 3 & 7, i >> 6);
    const grid_domain* domain = job->params->domain;
    strain_motion motion;
    for (int part = 0; part < STRAIN_PARTS; ++part) {
        eps[part] = mean_at(domain, b->eps[part] + at, tensor_place(part), place);
        motion.stretch[part] = mean_at(domain, b->stretch[part] + at, tensor_place(part), place);
    }
    for (int a = 0; a < AXES; ++a) {
        motion.spin[a] = mean_at(domain, b->spin[a] + at, place_edge(a), place);
    }
    if (job->step.law->rate == TREACLE_STRAIN_CONVECTED) {
        strain_keep_whole(eps); // [strain.6]
    }
    strain_advance(&job->step, &motion, eps);
}

static void advance_tiles(void* data, int64_t begin, int64_t end) {
    const strain_job* job = data;
    strain_blocks blocks;
    for (int64_t t = begin; t < end; ++t) {
        gather_all(job, (tile_ix)t, &blocks);
        for (int i = 0; i < TILE_CELLS; ++i) {
            size_t slot = (size_t)t * TILE_CELLS + (size_t)i;
            double eps[STRAIN_PARTS];
            if (!tile_cell_counts(job->params->map, i)) {
                continue;
            }
            advance_at(job, &blocks, PLACE_CELL, i, eps);
            for (int a = 0; a < AXES; ++a) {
                job->after->cell[a][slot] = (float)eps[a];
            }
            for (int a = 0; a < AXES; ++a) {
                advance_at(job, &blocks, place_edge(a), i, eps);
                job->after->edge[a][slot] = (float)eps[AXES + a];
            }
        }
    }
}

void grid_strain_advance(const grid_strain_params* params, const grid_strain_motion* motion,
                         const tensor_field* before, const tensor_field* after) {
    TREACLE_ASSERT(params->law != NULL && params->dt > 0.0);
    TREACLE_ASSERT(before->cell[0] != after->cell[0] && before->edge[0] != after->edge[0]);
    TREACLE_ASSERT(motion->spin != NULL);
    strain_job job = {.params = params, .motion = motion, .before = before, .after = after};
    job.step = strain_begin(params->law, params->dt);
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 1}, advance_tiles, &job);
}

// --- walls ---------------------------------------------------------------------------------------

static bool slides(const grid_domain* domain, int axis, int at) {
    bool is_side = at == 0 || at == domain->cells[axis];
    return is_side && domain->is_active[axis] &&
           domain->sides[axis][at == 0 ? 0 : 1] == TREACLE_SIDE_SLIP;
}

static void free_sides(void* data, int64_t begin, int64_t end) {
    const strain_job* job = data;
    const grid_strain_params* p = job->params;
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(p->map, (tile_ix)t, i, at);
            for (int a = 0; a < AXES; ++a) {
                int b = (a + 1) % AXES, c = (a + 2) % AXES;
                if (slides(p->domain, b, at[b]) || slides(p->domain, c, at[c])) {
                    job->after->edge[a][t * TILE_CELLS + i] = 0.0f;
                }
            }
        }
    }
}

void grid_strain_free_sides(const grid_strain_params* params, const tensor_field* strain) {
    TREACLE_ASSERT(strain->edge[0] != NULL);
    strain_job job = {.params = params, .after = strain};
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, free_sides, &job);
}
