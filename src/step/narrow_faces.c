// Faces of which solids leave less open than the particles around them weigh.
//
// Pressure moves the liquid in what is open of a face, of the mass A T rho, and where that is
// little it is soon fast. The particles around the face have the mass m, most of it beside the
// wall: they would all take the speed of the jet, and give it back to the face in the next step,
// together with the energy of m instead of A T rho. So they see
//
//     u <- e + s (u - e),   s = min(1, 2 A T rho / m)                                     [gap.2]
//
// with e the velocity of the faces around that are not narrow, or of the solid where there are
// none. Then m s u is no more than the flux of two such openings, and a step no more than doubles
// the energy in one: m (s u)^2 <= 2 A T rho u^2. T is the fraction of liquid around the face where
// the flow has counted it in the face's mass, and 1 where it has not.
//
// Staggering: all on faces. Symbols: face_open (A), tent (T), face_rho (rho), face_mass (m),
// eased (e). Properties that tests check: a clump of particles at a slit does not take its speed,
// nor one at half a face with little liquid; faces that are open by more than half of what is
// around them keep theirs to the bit.
#include "step/narrow_faces.h"

#include <math.h>

#include "grid/tile_loop.h"

// Masses that particles may have around a face, in masses of what is open of it.
static const float mass_fraction = 2.0f;
enum { EASE_LAYERS = 2 };

typedef struct narrow_job {
    const wet_faces* wet;
    const float *open, *mass, *rho, *tent, *solid_u;
    const float* eased;
    float* u;
} narrow_job;

// s of [gap.2]; 1 on faces that are closed or have no narrow part.
static float fraction_of(const narrow_job* job, int64_t face) {
    float rho = job->rho != NULL && job->rho[face] > 0.0f ? job->rho[face] : 1.0f;
    float holds = mass_fraction * rho * job->open[face] * (job->tent != NULL ? job->tent[face] : 1);
    bool is_narrow = job->open[face] > 0.0f && job->open[face] < 1.0f && job->mass[face] > holds;
    return is_narrow ? holds / job->mass[face] : 1.0f;
}

static double count_narrow(void* data, int64_t t) {
    const narrow_job* job = data;
    double count = 0.0;
    for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
        bool is_known = tile_mask_has(&job->wet->known[t], (int)(i - t * TILE_CELLS));
        count += is_known && fraction_of(job, i) < 1.0f ? 1.0 : 0.0;
    }
    return count;
}

static void forget_narrow(void* data, int64_t begin, int64_t end) {
    const narrow_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (fraction_of(job, i) < 1.0f) {
            tile_mask_remove(&job->wet->known[i / TILE_CELLS], (int)(i % TILE_CELLS));
        }
    }
}

static void ease_tiles(void* data, int64_t begin, int64_t end) {
    const narrow_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float fraction = fraction_of(job, i);
        if (fraction < 1.0f) {
            bool has_any = tile_mask_has(&job->wet->known[i / TILE_CELLS], (int)(i % TILE_CELLS));
            float e = has_any ? job->eased[i] : job->solid_u[i];
            job->u[i] = e + fraction * (job->u[i] - e);
        }
    }
}

static treacle_status ease_axis(const step_frame* f, narrow_job* job, int axis) {
    const wet_faces* wet = job->wet;
    float* eased = NULL;
    wet_faces_find(wet, axis, false);
    if (!(tile_sum(wet->map, count_narrow, job) > 0.0)) {
        return TREACLE_OK;
    }
    int mark = arena_mark(f->scratch);
    TREACLE_TRY(step_take(f, wet->map, "velocity around narrow faces", &eased));
    tile_copy(wet->map, eased, job->u, TILE_CELLS * sizeof(float));
    tile_for(wet->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, forget_narrow, job);
    TREACLE_TRY(wet_faces_extend(wet, axis, EASE_LAYERS, NULL, eased));
    job->eased = eased;
    tile_for(wet->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, ease_tiles, job);
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}

treacle_status narrow_faces_ease(const step_frame* f, const wet_faces* wet,
                                 const particle_grid* given, face_view face_rho,
                                 liquid_state* out) {
    TREACLE_ASSERT(wet->map == &out->map && wet->solid != NULL);
    const solid_grid* solids = wet->solid;
    if (solids->phi == NULL || given->face_mass.at[0] == NULL) {
        return TREACLE_OK;
    }
    for (int a = 0; a < AXES; ++a) {
        narrow_job job = {.wet = wet,
                          .open = solids->face_open.at[a],
                          .mass = given->face_mass.at[a],
                          .rho = face_rho.at[a],
                          .tent = f->is_thin ? NULL : wet->liquid->fraction.tent.at[a],
                          .solid_u = solids->face_u.at[a],
                          .u = out->face_u.at[a]};
        if (f->setup->domain->is_active[a]) {
            TREACLE_TRY(ease_axis(f, &job, a));
        }
    }
    return TREACLE_OK;
}
