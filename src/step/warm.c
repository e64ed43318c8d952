#include "step/warm.h"

#include "phys/fracture.h"

#include "grid/tile_loop.h"
#include "particles/particle_loop.h"
#include "phys/even_out.h"
#include "phys/g2p.h"

typedef struct gain_job {
    const heat_place* at;
    const heat_kind* kind;
    const heat_gained* gained;
    float* gain; // K, of cells
} gain_job;

static void find_gain(void* data, int64_t begin, int64_t end) {
    const gain_job* job = data;
    const float* capacity = job->gained->capacity;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double change = job->gained->after[i] - job->gained->before[i];
        bool is_there = capacity[i] > 0.0f;
        job->gain[i] = is_there ? (float)(change / (double)capacity[i]) : 0.0f;
    }
}

typedef struct warm_job {
    const heat_setup* heat;
    const particles* p;
    const float* gain; // K, of each row
} warm_job;

static void warm_rows(void* data, int64_t begin, int64_t end) {
    const warm_job* job = data;
    double* enthalpy = particles_f64(job->p, PARTICLE_ENTHALPY);
    float* temperature = particles_f32(job->p, PARTICLE_TEMPERATURE);
    float* melted = particles_f32(job->p, PARTICLE_MELTED);
    float* strain = particles_f32(job->p, PARTICLE_STRAIN);
    float* damage = particles_f32(job->p, PARTICLE_DAMAGE);
    const uint8_t* material = particles_material(job->p);
    for (int64_t i = begin; i < end; ++i) {
        const heat_curve* curve = &job->heat->curve[material[i]];
        enthalpy[i] += curve->capacity * (double)job->gain[i];
        heat_state state = heat_curve_at(curve, enthalpy[i], (double)melted[i]);
        temperature[i] = (float)state.temperature;
        if (strain != NULL) {
            strain_melt((double)melted[i], state.melted, strain + STRAIN_PARTS * i);
        }
        if (damage != NULL) {
            damage[i] = fracture_heal(damage[i], (double)melted[i], state.melted);
        }
        melted[i] = (float)state.melted;
    }
}

static void add_rows(void* data, int64_t begin, int64_t end) {
    const warm_job* job = data;
    float* marker = particles_f32(job->p, PARTICLE_MARKER);
    for (int64_t i = begin; i < end; ++i) {
        marker[i] += job->gain[i];
    }
}

static void warm_by(const heat_place* at, const heat_kind* kind, const float* gain) {
    warm_job job = {kind->heat, at->p, gain};
    bool is_heat = kind->column == PARTICLE_TEMPERATURE;
    particle_for(at->p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096},
                 is_heat ? warm_rows : add_rows, &job);
}

static void warm_tiles(void* data, int64_t begin, int64_t end) {
    const gain_job* job = data;
    const heat_curve* curve = &job->kind->heat->curve[0];
    float *temperature = job->at->state->carried[CARRIED_TEMPERATURE],
          *melted = job->at->state->carried[CARRIED_MELTED];
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double fraction = melted != NULL ? (double)melted[i] : 0.0;
        double energy = heat_curve_energy(curve, (double)temperature[i], fraction);
        if (job->gain[i] != 0.0f) {
            heat_state state =
                heat_curve_at(curve, energy + curve->capacity * (double)job->gain[i], fraction);
            temperature[i] = (float)state.temperature;
            if (melted != NULL) {
                melted[i] = (float)state.melted;
            }
        }
    }
}

static treacle_status warm_particles(const gain_job* job) {
    const step_frame* f = job->at->f;
    const particles* p = job->at->p;
    float* gain = NULL;
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->count, sizeof(float), "gain of particles",
                           (void**)&gain));
    face_velocity on = {.map = &job->at->state->map, .domain = f->setup->domain};
    g2p_scalar(&on, p, job->gain, gain);
    warm_by(job->at, job->kind, gain);
    return TREACLE_OK;
}

// What the grid does not see.
static treacle_status even_out_particles(const heat_place* at, const heat_kind* kind) {
    const step_frame* f = at->f;
    even_out_params params = {.domain = f->setup->domain,
                              .map = &at->state->map,
                              .p = at->p,
                              .value = particles_f32(at->p, kind->column),
                              .capacity = kind->heat->capacity,
                              .reference = (float)kind->surface.air,
                              .diffusivity = kind->heat->least_diffusivity,
                              .cell_solid_phi = at->solids->phi};
    float* change = NULL;
    TREACLE_TRY(even_out(&params, kind->dt, f->scratch, &change));
    if (change != NULL) {
        warm_by(at, kind, change);
    }
    return TREACLE_OK;
}

treacle_status warm(const heat_place* at, const heat_kind* kind, const heat_gained* gained) {
    TREACLE_ASSERT(gained->capacity != NULL);
    TREACLE_ASSERT(gained->before != NULL && gained->after != NULL &&
                   gained->before != gained->after);
    const step_frame* f = at->f;
    const tile_map* map = &at->state->map;
    gain_job job = {.at = at, .kind = kind, .gained = gained};
    TREACLE_TRY(step_take_zero(f, map, "gain of cells", &job.gain));
    tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, find_gain, &job);
    if (at->state->carried[CARRIED_TEMPERATURE] != NULL) {
        tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, warm_tiles, &job);
        return TREACLE_OK;
    }
    TREACLE_TRY(warm_particles(&job));
    return even_out_particles(at, kind);
}
