#include "step/to_particles.h"

#include <math.h>

#include "phys/g2p.h"
#include "step/calm_gaps.h"

// FLIP's part for each material: the user's, or what viscosity leaves of it [S19 eq. 17].
static void flip_parts(const step_frame* f, float* keep) {
    const treacle_sim_def* def = f->setup->def;
    double h = f->setup->domain->h;
    for (int m = 0; m < f->setup->material_count; ++m) {
        const treacle_material_def* material = &f->setup->materials[m];
        double nu = material->viscosity / material->density;
        double pic = fmin(6.0 * nu * f->dt / (h * h), 1.0);
        keep[m] = (float)(def->flip_from_viscosity ? 1.0 - pic : def->flip_blend);
    }
}

static void to_particles_gather(const step_frame* f, const tile_map* map,
                                const particle_grid* given, face_field u, particles* p) {
    const treacle_sim_def* def = f->setup->def;
    face_velocity now = {.map = map,
                         .domain = f->setup->domain,
                         .has_viscosity = liquid_is_viscous(f->setup),
                         .u = u};
    face_velocity before = now;
    float keep[LIQUID_MATERIALS_MAX];
    before.u = given->face_u;
    flip_parts(f, keep);
    g2p_params params = {.now = &now,
                         .before = &before,
                         .to = p,
                         .kernel = def->kernel,
                         .is_affine = def->transfer == TREACLE_TRANSFER_APIC,
                         .keeps_velocity = f->is_first,
                         .keep = def->transfer == TREACLE_TRANSFER_FLIP ? keep : NULL,
                         .thin = &given->thin};
    g2p_velocity(&params);
}

treacle_status to_particles(const step_frame* f, const liquid_state* state,
                            const particle_grid* given, const solid_grid* solids, face_field u,
                            const free_flyers* flyers, particles* p) {
    TREACLE_ASSERT(u.at[0] != NULL && u.at[1] != NULL && u.at[2] != NULL);
    TREACLE_ASSERT(flyers->count <= p->count);
    int mark = arena_mark(f->scratch);
    float *velocity = NULL, *affine = NULL;
    TREACLE_TRY(free_flyers_keep(f, flyers, p, PARTICLE_VELOCITY, &velocity));
    TREACLE_TRY(free_flyers_keep(f, flyers, p, PARTICLE_AFFINE, &affine));
    to_particles_gather(f, &state->map, given, u, p);
    free_flyers_put(flyers, PARTICLE_VELOCITY, velocity, p);
    free_flyers_put(flyers, PARTICLE_AFFINE, affine, p);
    arena_give_to(f->scratch, mark);
    TREACLE_TRY(f->is_first ? TREACLE_OK : free_flyers_push(f, flyers, p));
    calm_gaps(f, &state->map, solids, p);
    return TREACLE_OK;
}
