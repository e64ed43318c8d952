// Particles outside the surface: stages overwrite what they have with what the liquid would give
// them, and then it is put back [stray.1].
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "particles/particle_ranks.h"
#include "phys/stray.h"
#include "sim/liquid.h"

// Materials that viscosity makes smooth within a step: mu dt/(rho h^2) >= 1.
static void find_thick(const liquid_work* w, uint8_t* is_thick) {
    double h = w->setup->domain->h;
    for (int m = 0; m < w->setup->material_count; ++m) {
        const treacle_material_def* material = &w->setup->materials[m];
        is_thick[m] = liquid_is_viscous(w->setup) &&
                      material->viscosity * w->dt >= material->density * (h * h);
    }
}

treacle_status liquid_find_strays(liquid_work* w, const liquid_state* state, liquid_strays* out) {
    *out = (liquid_strays){0};
    tile_range rows = particle_ranks_rows(w->setup->domain, w->p);
    int64_t found = 0;
    uint8_t* is_stray = NULL;
    TREACLE_TRY(
        arena_take(w->scratch, (size_t)w->p->count, 1, "marks of strays", (void**)&is_stray));
    uint8_t is_thick[LIQUID_MATERIALS_MAX];
    find_thick(w, is_thick);
    stray_params params = {w->setup->domain, &state->map, state->cell_phi, w->p, is_thick};
    stray_find(&params, is_stray);
    for (particle_ix i = rows.begin; i < rows.end; ++i) {
        found += is_stray[i];
    }
    TREACLE_TRY(
        arena_take(w->scratch, (size_t)found, sizeof(*out->row), "strays", (void**)&out->row));
    const uint8_t *next = is_stray + rows.begin, *end = is_stray + rows.end;
    for (int64_t i = 0; i < found; ++i) {
        next = memchr(next, 1, (size_t)(end - next));
        out->row[i] = next++ - is_stray;
    }
    out->count = found;
    return TREACLE_OK;
}

treacle_status liquid_keep_strays(liquid_work* w, const liquid_strays* strays,
                                  particle_column column, float** kept) {
    size_t bytes = particle_columns[column].bytes;
    TREACLE_TRY(
        arena_take(w->scratch, (size_t)strays->count, bytes, "what strays have", (void**)kept));
    const char* from = w->p->column[column];
    for (int64_t i = 0; from != NULL && i < strays->count; ++i) {
        memcpy((char*)*kept + (size_t)i * bytes, from + (size_t)strays->row[i] * bytes, bytes);
    }
    return TREACLE_OK;
}

void liquid_put_strays(liquid_work* w, const liquid_strays* strays, particle_column column,
                       const float* kept) {
    size_t bytes = particle_columns[column].bytes;
    char* to = w->p->column[column];
    for (int64_t i = 0; to != NULL && i < strays->count; ++i) {
        memcpy(to + (size_t)strays->row[i] * bytes, (const char*)kept + (size_t)i * bytes, bytes);
    }
}

void liquid_move_strays(liquid_work* w, const liquid_strays* strays, const double fall[AXES]) {
    double h = w->setup->domain->h;
    float cells = (float)(w->dt / h);
    const float down[AXES] = {(float)(fall[0] / h), (float)(fall[1] / h), (float)(fall[2] / h)};
    for (int64_t i = 0; i < strays->count; ++i) {
        float* x = particles_f32(w->p, PARTICLE_POSITION) + AXES * strays->row[i];
        const float* v = particles_f32(w->p, PARTICLE_VELOCITY) + AXES * strays->row[i];
        for (int a = 0; a < AXES; ++a) {
            x[a] += w->setup->domain->is_active[a] ? cells * v[a] + down[a] : 0.0f;
        }
    }
}

tile_ix liquid_tile_of_row(const particles* p, particle_ix row) {
    tile_ix low = 0, high = p->tile_count;
    while (high - low > 1) {
        tile_ix middle = low + (high - low) / 2;
        bool is_above = p->tile_first[middle] <= row;
        low = is_above ? middle : low;
        high = is_above ? high : middle;
    }
    return low;
}

typedef struct push_job {
    const liquid_work* w;
    const liquid_strays* strays;
    const force_params* forces;
} push_job;

static void push_rows(void* data, int64_t begin, int64_t end) {
    const push_job* job = data;
    const particles* p = job->w->p;
    for (int64_t i = begin; i < end; ++i) {
        particle_ix row = job->strays->row[i];
        const float* position = particles_f32(p, PARTICLE_POSITION) + AXES * row;
        float* v = particles_f32(p, PARTICLE_VELOCITY) + AXES * row;
        vec3 x =
            particles_place(job->w->setup->domain, p->tile[liquid_tile_of_row(p, row)], position);
        double push[AXES];
        force_at(job->forces, x, push);
        for (int a = 0; a < AXES; ++a) {
            v[a] = (float)((double)v[a] + job->w->dt * push[a]);
        }
    }
}

treacle_status liquid_push_strays(liquid_work* w, const liquid_strays* strays) {
    force_params forces;
    TREACLE_TRY(liquid_forces(w, &forces));
    push_job job = {w, strays, &forces};
    parallel_for(w->ctx, strays->count, 64, push_rows, &job);
    arena_give(w->scratch, forces.fields);
    return TREACLE_OK;
}

// --- pieces that fly -----------------------------------------------------------------------------

// Whether a solid, a body or an emitter that runs is that near.
static bool is_near_anything(const void* data, vec3 x, double reach) {
    const liquid_work* w = data;
    solid_scene solids = liquid_solids_at(w, false);
    double distance = INFINITY;
    if (solids.count > 0) {
        solid_nearest(&solids, x, &distance);
    }
    for (int e = 0; e < w->setup->emitter_count && distance >= reach; ++e) {
        const emitter* source = &w->setup->emitters[e];
        if (emitter_speed(source, w->time) > 0.0) {
            vec3 from = vec3_sub(x, emitter_offset(source, w->time));
            distance = fmin(distance, shape_distance(source->where, from));
        }
    }
    return distance < reach;
}

treacle_status liquid_find_flights(liquid_work* w, const double fall[AXES], piece_rows* out) {
    const liquid_state* before = w->before;
    *out = (piece_rows){0};
    if (w->is_given) {
        return TREACLE_OK;
    }
    pieces_params params = {
        .domain = w->setup->domain,
        .map = &before->map,
        .cell_phi = before->cell_phi,
        .face_u = face_view_of(before->face_u),
        .scratch = w->scratch,
        .is_near = w->setup->solids.count + w->setup->emitter_count > 0 ? is_near_anything : NULL,
        .near_data = w,
    };
    pieces found;
    TREACLE_TRY(pieces_find(&params, &found));
    treacle_status status =
        found.has_flight ? pieces_rows(&found, w->p, w->dt, fall, out) : TREACLE_OK;
    pieces_finish(&found);
    return status;
}
