#include "step/free_flyers.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "particles/particle_ranks.h"
#include "phys/free_flyer.h"
#include "step/forces.h"

// Materials that viscosity makes smooth within a step: mu dt/(rho h^2) >= 1.
static void find_thick(const step_frame* f, uint8_t* is_thick) {
    double h = f->setup->domain->h;
    for (int m = 0; m < f->setup->material_count; ++m) {
        const treacle_material_def* material = &f->setup->materials[m];
        is_thick[m] = liquid_is_viscous(f->setup) &&
                      material->viscosity * f->dt >= material->density * (h * h);
    }
}

treacle_status free_flyers_find(const step_frame* f, const liquid_state* state, const particles* p,
                                free_flyers* out) {
    TREACLE_ASSERT(state->cell_phi != NULL || p->count == 0);
    TREACLE_ASSERT(p->tile_first[p->tile_count] == p->count);
    *out = (free_flyers){0};
    tile_range own = particle_ranks_own_range(p);
    int64_t found = 0;
    uint8_t* is_free_flyer = NULL;
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->count, 1, "marks of free flyers",
                           (void**)&is_free_flyer));
    uint8_t is_thick[LIQUID_MATERIALS_MAX];
    find_thick(f, is_thick);
    free_flyer_params params = {f->setup->domain, &state->map, state->cell_phi, p, is_thick};
    free_flyer_find(&params, is_free_flyer);
    for (particle_ix i = own.begin; i < own.end; ++i) {
        found += is_free_flyer[i];
    }
    TREACLE_TRY(arena_take(f->scratch, (size_t)found, sizeof(*out->particle), "free flyers",
                           (void**)&out->particle));
    const uint8_t *next = is_free_flyer + own.begin, *end = is_free_flyer + own.end;
    for (int64_t i = 0; i < found; ++i) {
        next = memchr(next, 1, (size_t)(end - next));
        out->particle[i] = next++ - is_free_flyer;
    }
    out->count = found;
    return TREACLE_OK;
}

treacle_status free_flyers_keep(const step_frame* f, const free_flyers* flyers, const particles* p,
                                particle_column column, float** kept) {
    TREACLE_ASSERT((int)column >= 0 && column < PARTICLE_COLUMN_COUNT);
    TREACLE_ASSERT(flyers->count >= 0 && flyers->count <= p->count);
    size_t bytes = particle_columns[column].bytes;
    TREACLE_TRY(arena_take(f->scratch, (size_t)flyers->count, bytes, "what free flyers have",
                           (void**)kept));
    const char* from = p->column[column];
    for (int64_t i = 0; from != NULL && i < flyers->count; ++i) {
        memcpy((char*)*kept + (size_t)i * bytes, from + (size_t)flyers->particle[i] * bytes, bytes);
    }
    return TREACLE_OK;
}

void free_flyers_put(const free_flyers* flyers, particle_column column, const float* kept,
                     particles* p) {
    TREACLE_ASSERT((int)column >= 0 && column < PARTICLE_COLUMN_COUNT);
    TREACLE_ASSERT(flyers->count >= 0 && flyers->count <= p->count);
    size_t bytes = particle_columns[column].bytes;
    char* to = p->column[column];
    for (int64_t i = 0; to != NULL && i < flyers->count; ++i) {
        memcpy(to + (size_t)flyers->particle[i] * bytes, (const char*)kept + (size_t)i * bytes,
               bytes);
    }
}

void free_flyers_move(const step_frame* f, const free_flyers* flyers, const double fall[AXES],
                      particles* p) {
    TREACLE_ASSERT(f->dt > 0.0 && f->setup->domain->h > 0.0);
    TREACLE_ASSERT(flyers->count <= p->count);
    double h = f->setup->domain->h;
    float cells = (float)(f->dt / h);
    const float down[AXES] = {(float)(fall[0] / h), (float)(fall[1] / h), (float)(fall[2] / h)};
    for (int64_t i = 0; i < flyers->count; ++i) {
        float* x = particles_f32(p, PARTICLE_POSITION) + AXES * flyers->particle[i];
        const float* v = particles_f32(p, PARTICLE_VELOCITY) + AXES * flyers->particle[i];
        for (int a = 0; a < AXES; ++a) {
            x[a] += f->setup->domain->is_active[a] ? cells * v[a] + down[a] : 0.0f;
        }
    }
}

tile_ix free_flyers_tile(const particles* p, particle_ix particle) {
    TREACLE_ASSERT(particle >= 0 && particle < p->count);
    tile_ix low = 0, high = p->tile_count;
    while (high - low > 1) {
        tile_ix middle = low + (high - low) / 2;
        bool is_above = p->tile_first[middle] <= particle;
        low = is_above ? middle : low;
        high = is_above ? high : middle;
    }
    return low;
}

typedef struct push_job {
    const step_frame* f;
    const free_flyers* flyers;
    const particles* p;
    const force_params* forces;
} push_job;

static void push_rows(void* data, int64_t begin, int64_t end) {
    const push_job* job = data;
    const particles* p = job->p;
    for (int64_t i = begin; i < end; ++i) {
        particle_ix particle = job->flyers->particle[i];
        const float* position = particles_f32(p, PARTICLE_POSITION) + AXES * particle;
        float* v = particles_f32(p, PARTICLE_VELOCITY) + AXES * particle;
        vec3 x = particles_place(job->f->setup->domain, p->tile[free_flyers_tile(p, particle)],
                                 position);
        double push[AXES];
        force_at(job->forces, x, push);
        for (int a = 0; a < AXES; ++a) {
            v[a] = (float)((double)v[a] + job->f->dt * push[a]);
        }
    }
}

treacle_status free_flyers_push(const step_frame* f, const free_flyers* flyers, particles* p) {
    TREACLE_ASSERT(flyers->count >= 0 && flyers->count <= p->count);
    force_params forces;
    TREACLE_TRY(forces_find(f, NULL, NULL, &forces));
    push_job job = {f, flyers, p, &forces};
    parallel_for(f->ctx, flyers->count, 64, push_rows, &job);
    arena_give(f->scratch, forces.fields);
    return TREACLE_OK;
}
