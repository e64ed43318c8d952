#include "step/emitter_faces.h"

#include <math.h>

#include "grid/stagger.h"
#include "grid/tile_loop.h"

// What an emitter that runs does to faces inside of it.
typedef struct running_emitter {
    const shape* where;
    vec3 offset, u; // m, m/s
    box3 box;       // m, that holds it
} running_emitter;

typedef struct emitter_job {
    const grid_domain* domain;
    const tile_map* map;
    float *u, *rho;
    int axis, count;
    const running_emitter* emitters;
} emitter_job;

// Whether a face of a tile may lie inside: few tiles are near an emitter, and asking each face of
// all others was 7.5 % of the demo. A cell more than the tile has, for rounding.
static bool is_near(const emitter_job* job, tile_coord tile, const running_emitter* e) {
    const grid_domain* domain = job->domain;
    bool is_so = true;
    for (int a = 0; a < AXES; ++a) {
        double low = domain->origin[a] + domain->h * (tile.at[a] * TILE_SIZE - 1);
        double high = low + domain->h * (TILE_SIZE + 2);
        is_so = is_so && e->box.low.at[a] <= high && e->box.high.at[a] >= low;
    }
    return is_so;
}

static void set_tile(const emitter_job* job, tile_ix t, const running_emitter* e) {
    const grid_domain* domain = job->domain;
    int a = job->axis;
    for (int q = 0; q < TILE_CELLS; ++q) {
        int at[AXES];
        tile_cell_at(job->map, t, q, at);
        vec3 x;
        for (int b = 0; b < AXES; ++b) {
            double offset = (double)place_offset(place_face(a), b);
            x.at[b] = domain->origin[b] + domain->h * (at[b] + offset);
        }
        if (shape_is_inside(e->where, vec3_sub(x, e->offset))) {
            job->u[(size_t)t * TILE_CELLS + (size_t)q] = (float)e->u.at[a];
            job->rho[(size_t)t * TILE_CELLS + (size_t)q] = INFINITY;
        }
    }
}

// Where emitters overlap the last one has the face.
static void set_tiles(void* data, int64_t begin, int64_t end) {
    const emitter_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int e = 0; e < job->count; ++e) {
            if (is_near(job, job->map->coord[t], &job->emitters[e])) {
                set_tile(job, (tile_ix)t, &job->emitters[e]);
            }
        }
    }
}

// Those that run at the end of the step, in their order.
static treacle_status list_running(const step_frame* f, running_emitter** list, int* count) {
    double to = f->time + f->dt;
    TREACLE_TRY(arena_take(f->scratch, (size_t)f->setup->emitter_count, sizeof(**list),
                           "running emitters", (void**)list));
    *count = 0;
    for (int e = 0; e < f->setup->emitter_count; ++e) {
        const emitter* source = &f->setup->emitters[e];
        double speed = emitter_speed(source, to);
        vec3 motion = emitter_motion(source, f->time, to), offset = emitter_offset(source, to);
        box3 box = shape_bounds(source->where);
        if (!(speed > 0.0)) {
            continue;
        }
        running_emitter* out = &(*list)[(*count)++];
        *out = (running_emitter){.where = source->where, .offset = offset};
        out->box = (box3){vec3_add(box.low, offset), vec3_add(box.high, offset)};
        for (int a = 0; a < AXES; ++a) {
            out->u.at[a] = speed * source->direction.at[a] + motion.at[a];
        }
    }
    return TREACLE_OK;
}

treacle_status emitter_faces_set(const step_frame* f, const particle_grid* given,
                                 const energy_account* account, face_field face_rho,
                                 liquid_state* out) {
    TREACLE_ASSERT(f->setup->emitter_count == 0 || face_rho.at[0] != NULL);
    const tile_map* map = &out->map;
    int mark = arena_mark(f->scratch);
    float* before[AXES];
    emitter_job job = {.domain = f->setup->domain, .map = map};
    running_emitter* emitters = NULL;
    if (f->setup->emitter_count == 0 || f->is_full) {
        return TREACLE_OK;
    }
    TREACLE_TRY(list_running(f, &emitters, &job.count));
    job.emitters = emitters;
    for (int a = 0; a < AXES; ++a) {
        job.axis = a;
        job.u = out->face_u.at[a];
        job.rho = face_rho.at[a];
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
