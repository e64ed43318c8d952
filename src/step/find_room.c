// Whether what emitters bring still fits.
//
// In a space without a way out, no open side and no sink, liquid fills what solids leave of the
// domain, and then an emitter is a tap on a full bottle: nothing comes out, and what is inside
// stands still. With V the volume of the liquid and A the area of a nozzle, a step brings
//
//     V + sum of A (path(to) - path(from)) <= C,   C = h^3 sum over cells of clamp(1/2 + phi/h)
//                                                                                         [step.4]
//
// or else nothing; phi is the distance to the nearest solid or body at the step's end. A space that
// solids divide is taken for one: its parts are known to nobody.
//
// C is found anew only where solids have moved since it was found last.
//
// Staggering: phi at the middles of cells. Symbols: volume (V), area (A), room (C).
// Properties that tests check: a closed box takes what fits, and its emitter stands still then.
#include "step/find_room.h"

#include <math.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/parallel_sum.h"

typedef struct room_job {
    const grid_domain* domain;
    solid_scene solids;
} room_job;

// What solids leave of a row of cells along x, in cells.
static double room_of_row(void* data, int64_t row) {
    const room_job* job = data;
    const grid_domain* domain = job->domain;
    double sum = 0.0;
    for (int32_t i = 0; i < domain->cells[0]; ++i) {
        const int64_t at[AXES] = {i, row % domain->cells[1], row / domain->cells[1]};
        double distance = INFINITY;
        vec3 x;
        for (int a = 0; a < AXES; ++a) {
            x.at[a] = domain->origin[a] + domain->h * ((double)at[a] + 0.5);
        }
        if (job->solids.count > 0) {
            solid_nearest(&job->solids, x, &distance);
        }
        sum += fmin(fmax(0.5 + distance / domain->h, 0.0), 1.0);
    }
    return sum;
}

// A hash of where solids are and what shape they have, not of how they move.
static uint64_t hash_poses(const solid_scene* solids) {
    uint64_t hash = 1;
    for (int i = 0; i < solids->count; ++i) {
        const solid_pose* pose = &solids->poses[i];
        hash = hash_bytes(&pose->place, sizeof(pose->place), hash);
        hash = hash_bytes(&pose->rotate, sizeof(pose->rotate), hash);
        hash = hash_bytes(pose->form.frames, sizeof(pose->form.frames), hash);
        hash = hash_bytes(&pose->form.fraction, sizeof(pose->form.fraction), hash);
    }
    return hash;
}

static double room_of(const step_frame* f, const solid_poses* poses, room_memory* memory) {
    const grid_domain* domain = f->setup->domain;
    room_job job = {domain, solid_scene_of(&f->setup->solids, poses->to)};
    uint64_t hash = hash_poses(&job.solids);
    if (hash != memory->poses) {
        int64_t rows = (int64_t)domain->cells[1] * domain->cells[2];
        double cells = parallel_sum(f->ctx, rows, room_of_row, &job);
        memory->poses = hash;
        memory->volume = cells * domain->h * domain->h * domain->h;
    }
    return memory->volume;
}

bool find_room_is_asked(const step_frame* f, bool has_sinks, double* brought) {
    TREACLE_ASSERT(brought != NULL && f->dt > 0.0);
    *brought = 0.0;
    for (int i = 0; i < f->setup->emitter_count; ++i) {
        const emitter* e = &f->setup->emitters[i];
        *brought += e->area * (emitter_path(e, f->time + f->dt) - emitter_path(e, f->time));
    }
    return *brought > 0.0 && !has_sinks && !grid_domain_has_open_side(f->setup->domain);
}

bool find_room(const step_frame* f, const solid_poses* poses, double volume, room_memory* memory) {
    TREACLE_ASSERT(volume >= 0.0 && memory != NULL);
    TREACLE_ASSERT(f->setup->solids.count == 0 || poses->to != NULL);
    const grid_domain* domain = f->setup->domain;
    double whole = domain->h * domain->h * domain->h;
    for (int a = 0; a < AXES; ++a) {
        whole *= domain->cells[a];
    }
    bool is_left = volume <= (poses->to == NULL ? whole : room_of(f, poses, memory));
    if (!is_left && !memory->has_warned) {
        memory->has_warned = true;
        log_message(f->ctx, TREACLE_LOG_WARNING,
                    "at %g s the space is full and has no way out: emitters stand still until "
                    "there is room for what they bring",
                    f->time);
    }
    return is_left;
}
