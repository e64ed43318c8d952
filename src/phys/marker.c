// What cures by itself nears a target, at the rate of its material:
//
//     m += (target - m) (1 - exp(-rate dt))                                             [marker.2]
//
// exactly, at each particle.
#include "phys/marker.h"

#include "math/elementary.h"
#include "particles/particle_loop.h"

enum { MATERIALS_MAX = 256 }; // their index is one byte of a particle

typedef struct cure_job {
    const particles* p;
    const treacle_material_def* materials;
    const float* part; // [materials], of the way to the target
} cure_job;

static void cure_rows(void* data, int64_t begin, int64_t end) {
    const cure_job* job = data;
    float* marker = particles_f32(job->p, PARTICLE_MARKER);
    for (int64_t i = begin; i < end; ++i) {
        uint8_t m = particles_material(job->p)[i];
        marker[i] += job->part[m] * ((float)job->materials[m].marker_target - marker[i]);
    }
}

void marker_cure(const particles* p, int material_count, const treacle_material_def* materials,
                 double dt) {
    TREACLE_ASSERT(material_count > 0 && material_count <= MATERIALS_MAX);
    TREACLE_ASSERT(dt > 0.0 && isfinite(dt));
    TREACLE_ASSERT(p->column[PARTICLE_MARKER] != NULL);
    float part[MATERIALS_MAX];
    for (int m = 0; m < material_count; ++m) {
        part[m] = (float)(1.0 - elementary_exp(-materials[m].marker_rate * dt));
    }
    cure_job job = {p, materials, part};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, cure_rows, &job);
}
