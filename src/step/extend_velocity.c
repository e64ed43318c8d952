#include "step/extend_velocity.h"

#include <math.h>

#include "grid/tile_band.h"
#include "grid/tile_loop.h"
#include "step/narrow_faces.h"
#include "step/viscosity_grid.h"

typedef struct mass_job {
    const float* mass;
    tile_mask* known;
} mass_job;

static void mark_heavy(void* data, int64_t begin, int64_t end) {
    const mass_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        job->known[t] = tile_mask_positive(job->mass + t * TILE_CELLS);
    }
}

treacle_status extend_velocity_given(const step_frame* f, const wet_faces* wet,
                                     const particle_grid* given, const float* slope,
                                     liquid_state* out) {
    TREACLE_ASSERT(wet->map == &out->map && wet->known != NULL);
    TREACLE_ASSERT(given->face_mass.at[0] != NULL);
    bool is_everywhere = f->setup->def->fill == TREACLE_FILL_ALL;
    int layers = is_everywhere ? TILE_BAND_MAX : LIQUID_KERNEL_RADIUS + 1;
    for (int a = 0; a < AXES; ++a) {
        mass_job job = {given->face_mass.at[a], wet->known};
        tile_for(wet->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, mark_heavy, &job);
        TREACLE_TRY(wet_faces_extend(wet, a, layers, slope, out->face_u.at[a]));
    }
    return TREACLE_OK;
}

// The slopes that a viscosity at cells allows; the viscosity is spread outward first.
static treacle_status slopes_of(const step_frame* f, const wet_faces* wet,
                                const particle_grid* given, float* cell_log_mu, float** out) {
    double h = f->setup->domain->h;
    viscosity_grid viscosity = {.domain = f->setup->domain,
                                .map = wet->map,
                                .cell_volume = given->volume,
                                .known = wet->known,
                                .cell_log_mu = cell_log_mu};
    return viscosity_slopes(&viscosity, f->setup, f->setup->reference_density * h * h / f->dt,
                            f->scratch, out);
}

treacle_status extend_velocity_smoothly(const step_frame* f, const wet_faces* wet,
                                        const particle_grid* given, material_grid* material,
                                        liquid_state* out) {
    TREACLE_ASSERT(wet->map == &out->map && wet->known != NULL);
    int mark = arena_mark(f->scratch);
    float* slope = NULL;
    if (!viscosity_keeps_slope(f->setup)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(material_grid_at_rest(f, wet->map, given, material));
    TREACLE_TRY(slopes_of(f, wet, given, material->log_mu, &slope));
    TREACLE_TRY(extend_velocity_given(f, wet, given, slope, out));
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}

treacle_status extend_velocity_found(const step_frame* f, const wet_faces* wet,
                                     const particle_grid* given, const material_grid* material,
                                     const flow_elastic* elastic, liquid_state* out) {
    TREACLE_ASSERT(wet->map == &out->map && wet->known != NULL);
    TREACLE_ASSERT(f->setup->def->step.cfl > 0.0);
    int layers = (int)ceil(f->setup->def->step.cfl) + LIQUID_KERNEL_RADIUS + 1;
    int mark = arena_mark(f->scratch);
    float *slope = NULL, *seen = elastic->log_mu; // what the flow has seen
    TREACLE_TRY(narrow_faces_ease(f, wet, given, face_view_of(material->face_rho), out));
    TREACLE_TRY(slopes_of(f, wet, given, seen != NULL ? seen : material->log_mu, &slope));
    TREACLE_TRY(wet_faces_extend_velocity(wet, layers, false, slope, out->face_u.at));
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}
