#include "step/emitter_faces.h"

#include <math.h>

#include "grid/stagger.h"
#include "grid/tile_loop.h"

typedef struct emitter_job {
    const step_frame* f;
    const tile_map* map;
    float *u, *rho;
    int axis;
} emitter_job;

static void set_tiles(void* data, int64_t begin, int64_t end) {
    const emitter_job* job = data;
    const step_frame* f = job->f;
    const grid_domain* domain = f->setup->domain;
    double to = f->time + f->dt;
    int a = job->axis;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(job->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        vec3 x;
        for (int b = 0; b < AXES; ++b) {
            double offset = (double)place_offset(place_face(a), b);
            x.at[b] = domain->origin[b] + domain->h * (at[b] + offset);
        }
        for (int e = 0; e < f->setup->emitter_count; ++e) {
            const emitter* source = &f->setup->emitters[e];
            double speed = emitter_speed(source, to);
            vec3 offset = emitter_offset(source, to);
            if (speed > 0.0 && shape_is_inside(source->where, vec3_sub(x, offset))) {
                vec3 motion = emitter_motion(source, f->time, to);
                job->u[i] = (float)(speed * source->direction.at[a] + motion.at[a]);
                job->rho[i] = INFINITY;
            }
        }
    }
}

treacle_status emitter_faces_set(const step_frame* f, const particle_grid* given,
                                 const energy_account* account, face_field face_rho,
                                 liquid_state* out) {
    TREACLE_ASSERT(f->setup->emitter_count == 0 || face_rho.at[0] != NULL);
    const tile_map* map = &out->map;
    int mark = arena_mark(f->scratch);
    float* before[AXES];
    if (f->setup->emitter_count == 0 || f->is_full) {
        return TREACLE_OK;
    }
    for (int a = 0; a < AXES; ++a) {
        emitter_job job = {f, map, out->face_u.at[a], face_rho.at[a], a};
        TREACLE_TRY(step_take(f, map, "velocity before emitters", &before[a]));
        tile_copy(map, before[a], out->face_u.at[a], TILE_CELLS * sizeof(float));
        tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 4}, set_tiles, &job);
    }
    if (account != NULL) {
        energy_account_emitters(f, out, given, before, account);
    }
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}
