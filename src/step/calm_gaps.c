// Liquid in gaps that the grid does not resolve: between two solids, or a solid and a side, that
// leave less than half of a cell open.
//
// A face has the mean velocity through what is open of it; no sample knows how it varies across the
// gap. A slope taken from samples in the solids would say that liquid beside the wall moves at many
// times its own speed at the middle of the cell, and since its particles weigh more than the narrow
// face does, the next step would make energy of that, the more steps the more. So
//
//     c_p = 0   where solids leave less than 1/2 of a cell, and close two opposite faces of it
//                                                                                          [gap.1]
//
// Staggering: open fractions at cells and on faces.
// Properties that tests check: particles in a gap have no slope, those beside one wall keep theirs.
#include "step/calm_gaps.h"

#include <string.h>

#include "particles/particle_loop.h"

static const float gap_open = 0.5f;  // fraction of a cell
static const float side_open = 0.1f; // of a face that counts as closed

typedef struct gap_job {
    const grid_domain* domain;
    const tile_map* map;
    const solid_grid* solid;
    const particles* p;
} gap_job;

static bool is_gap(const gap_job* job, tile_ix t, int q) {
    int64_t i = (int64_t)t * TILE_CELLS + q;
    bool is_between = false;
    for (int a = 0; a < AXES && job->solid->open[i] < gap_open; ++a) {
        int64_t above = tile_slot_above(job->map, t, q, a);
        const float* open = job->solid->face_open.at[a];
        is_between = is_between ||
                     (job->domain->is_active[a] && open[i] < side_open && open[above] < side_open);
    }
    return is_between;
}

static void calm_groups(void* data, int64_t begin, int64_t end) {
    const gap_job* job = data;
    const particles* p = job->p;
    float* affine = particles_f32(p, PARTICLE_AFFINE);
    for (int64_t g = begin; g < end; ++g) {
        tile_ix t = tile_map_find(job->map, p->tile[g]);
        for (particle_ix i = p->tile_first[g]; i < p->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * i;
            if (is_gap(job, t, particles_cell(x))) {
                memset(affine + AXES * AXES * i, 0, AXES * AXES * sizeof(float));
            }
        }
    }
}

void calm_gaps(const step_frame* f, const tile_map* map, const solid_grid* room, particles* p) {
    gap_job job = {f->setup->domain, map, room, p};
    if (room->open != NULL && particles_f32(p, PARTICLE_AFFINE) != NULL) {
        particle_for(p,
                     &(particle_use){
                         .span = PARTICLES_OWN_TILES, .grain = 1, .columns = 1u << PARTICLE_AFFINE},
                     calm_groups, &job);
    }
}
