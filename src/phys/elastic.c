// Elastic stress in the flow, implicit [G11 sec. 3.2, 3.5, made implicit].
//
//     rho du/dt = ... + div sigma,   sigma = mu_e eps                                   [elastic.1]
//
// eps lives on particles and follows [strain.2]: eps_new = A eps + B dt D(u). With the stress taken
// at the time n + theta,
//
//     sigma = mu_e ((1 - theta) eps + theta eps_new)
//           = mu_e (1 - theta + theta A) eps   +   2 (theta B dt mu_e / 2) D(u)         [elastic.2]
//              `stress`, known before the solve         `mu`, a viscosity
//
// so the flow solve needs no new unknowns: more viscosity and a force. theta = 1 damps, theta = 1/2
// lets waves live. A and B depend on D where the material yields; then the solve is repeated with
// the D that it found.
//
// Convected strain also grows with what is there already: dc/dt = L c + c L^T with c = I + 2 eps,
// so that along what is stretched the stress answers motion up to |c| times as stiffly. That part
// is not in A and B. Left to the next step it is stable as long as the implicit part is at least
// half of it, so the viscosity is
//
//     mu <- mu max(1, |c|/2),   |c| at most the largest sum of a row                    [elastic.5]
//
// Both go to the grid as volume-weighted means, the stress to where the solve has its strains: aa
// to cells, ab to edges. There each counts with the fraction of liquid and what walls make of it,
// like the viscous stress beside it (phys/stress.c), and pulls by its divergence (phys/tensor.c).
//
// The stretch that moves eps is that of the solve's own velocity on the grid, between samples
// linear, and not the particle's affine motion: so stored energy and work agree.
//
// Material that shrinks without being held has no strain: D less what shrinkage makes of it is what
// moves eps, and the stress of that part is taken out of 2 mu D, too [shrink.3].
//
// Properties that tests check: what particles bring for known strains; they feel stretch and spin
// of the grid.
#include "phys/elastic.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "particles/particle_loop.h"
#include "phys/fracture.h"
#include "phys/transfer.h"

// --- from particles ------------------------------------------------------------------------------

typedef struct particle_job {
    const elastic_params* params;
    const particles* p;
    const float* stretch; // [count][6], or NULL
    const float* spin;    // [count][3], or NULL
    float *stress, *mu;
} particle_job;

static void load_strain(const float* from, double out[STRAIN_PARTS]) {
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        out[i] = (double)from[i];
    }
}

// By how much more stiffly stretched material answers [elastic.5].
static double stiffening(const strain_law* law, const double eps[STRAIN_PARTS]) {
    double most = 0.0;
    for (int a = 0; a < AXES && law->rate == TREACLE_STRAIN_CONVECTED; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES; // eps_ab is that of the third axis
        double row = fabs(1.0 + 2.0 * eps[a]) + 2.0 * (fabs(eps[AXES + b]) + fabs(eps[AXES + c]));
        most = fmax(most, row);
    }
    return fmax(1.0, 0.5 * most);
}

typedef struct crack_job {
    const elastic_params* params;
    const particles* p;
    double* sum; // [tiles], J
} crack_job;

// What a particle will carry of its stress if it is stretched like that [crack.1].
static double carried(const particle_job* job, const strain_law* law, int64_t i,
                      const double eps[STRAIN_PARTS], const double stretch[STRAIN_PARTS]) {
    const elastic_params* params = job->params;
    if (params->damage == NULL || !(law->crack.last > 0.0)) {
        return 1.0;
    }
    double next[STRAIN_PARTS];
    for (int k = 0; k < STRAIN_PARTS; ++k) {
        next[k] = eps[k] + params->dt * stretch[k];
    }
    crack_law own = fracture_law_at(&law->crack, params->seed, particles_id(job->p)[i]);
    return fracture_kept(fracture_damage(&own, next, (double)params->damage[i]), next);
}

static void load_particles(void* data, int64_t begin, int64_t end) {
    const particle_job* job = data;
    const elastic_params* params = job->params;
    const float* strain = particles_f32(job->p, PARTICLE_STRAIN);
    const uint8_t* material = particles_material(job->p);
    strain_step step = {0};
    for (int64_t i = begin; i < end; ++i) {
        const strain_law* law = &params->laws[material[i]];
        step = step.law == law ? step : strain_begin(law, params->dt);
        double eps[STRAIN_PARTS], stretch[STRAIN_PARTS] = {0};
        load_strain(strain + STRAIN_PARTS * i, eps);
        if (job->stretch != NULL) {
            load_strain(job->stretch + STRAIN_PARTS * i, stretch);
        }
        strain_factors k = strain_yield(&step, eps, stretch);
        double solid = params->melted != NULL ? 1.0 - (double)params->melted[i] : 1.0;
        double modulus = solid * law->modulus; // [strain.5]
        modulus *= carried(job, law, i, eps, stretch);
        double held = modulus * (1.0 - params->theta + params->theta * k.keep);
        for (int j = 0; job->stress != NULL && j < STRAIN_PARTS; ++j) {
            job->stress[STRAIN_PARTS * i + j] = (float)(held * eps[j]);
        }
        double mu = 0.5 * params->theta * k.gain * params->dt * modulus;
        job->mu[i] = (float)(mu * stiffening(law, eps));
    }
}

void elastic_load(const elastic_params* params, const particles* p, const float* stretch,
                  float* stress, float* mu) {
    TREACLE_ASSERT(params->laws != NULL && mu != NULL);
    TREACLE_ASSERT(params->theta == 0.0 || (params->theta >= 0.5 && params->theta <= 1.0));
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(p->column[PARTICLE_STRAIN] != NULL);
    particle_job job = {.params = params, .p = p, .stretch = stretch, .stress = stress, .mu = mu};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, load_particles, &job);
}

// --- what breaks ---------------------------------------------------------------------------------

// DAMAGE after the strain that is there, and what that took.
static void break_tiles(void* data, int64_t begin, int64_t end) {
    const crack_job* job = data;
    const particles* p = job->p;
    float* damage = particles_f32(p, PARTICLE_DAMAGE);
    for (int64_t t = begin; t < end; ++t) {
        double sum = 0.0;
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            const strain_law* law = &job->params->laws[particles_material(p)[i]];
            if (!(law->crack.last > 0.0)) {
                continue;
            }
            double eps[STRAIN_PARTS], before = (double)damage[i];
            load_strain(particles_f32(p, PARTICLE_STRAIN) + STRAIN_PARTS * i, eps);
            crack_law own = fracture_law_at(&law->crack, job->params->seed, particles_id(p)[i]);
            damage[i] = (float)fracture_damage(&own, eps, before);
            if (damage[i] > 0.0f) {
                strain_forget_pressed(1.0 - (double)damage[i],
                                      particles_f32(p, PARTICLE_STRAIN) + STRAIN_PARTS * i);
            }
            double firm = job->params->melted != NULL ? 1.0 - (double)job->params->melted[i] : 1.0;
            double volume = (double)particles_f32(p, PARTICLE_VOLUME)[i];
            sum += firm * law->modulus * volume *
                   fracture_released(&own, before, fmax(before, (double)damage[i]));
        }
        job->sum[t] = sum;
    }
}

static double broken_of_tile(void* data, int64_t t) {
    return ((const crack_job*)data)->sum[t];
}

treacle_status elastic_break(const elastic_params* params, const particles* p, arena* scratch,
                             double* taken) {
    TREACLE_ASSERT(p->column[PARTICLE_DAMAGE] != NULL && taken != NULL);
    crack_job job = {params, p, NULL};
    TREACLE_TRY(arena_take_zero(scratch, (size_t)p->tile_count, sizeof(double),
                                "energies of cracks", (void**)&job.sum));
    particle_for(p, &(particle_use){.span = PARTICLES_OWN_TILES, .grain = 1}, break_tiles, &job);
    *taken = particle_sum(p, broken_of_tile, &job);
    arena_give(scratch, job.sum);
    return TREACLE_OK;
}

// --- the step of strain --------------------------------------------------------------------------

// Whether the particle's strain is 0 and stays so.
static bool is_slack(const particle_job* job, const strain_law* law, int64_t i) {
    return !(law->modulus > 0.0) || (job->params->melted != NULL && job->params->melted[i] >= 1.0f);
}

static void advance_one(const particle_job* job, const strain_step* step, int64_t i) {
    float* strain = particles_f32(job->p, PARTICLE_STRAIN) + STRAIN_PARTS * i;
    double eps[STRAIN_PARTS];
    strain_motion motion;
    load_strain(strain, eps);
    load_strain(job->stretch + STRAIN_PARTS * i, motion.stretch);
    for (int a = 0; a < AXES; ++a) {
        motion.spin[a] = (double)job->spin[AXES * i + a];
    }
    strain_advance(step, &motion, eps);
    for (int j = 0; j < STRAIN_PARTS; ++j) {
        strain[j] = (float)eps[j];
    }
}

// Whether eight particles from i on can go side by side: all of one material that turns.
static bool is_alike(const particle_job* job, const strain_law* law, int64_t i, int64_t end) {
    const uint8_t* material = particles_material(job->p);
    bool is_alike = i + SIMD_LANES <= end && law->rate == TREACLE_STRAIN_COROTATIONAL;
    for (int k = 0; is_alike && k < SIMD_LANES; ++k) {
        is_alike = material[i + k] == material[i] && !is_slack(job, law, i + k);
    }
    return is_alike;
}

static void advance_eight(const particle_job* job, const strain_step* step, int64_t first) {
    float* strain = particles_f32(job->p, PARTICLE_STRAIN) + STRAIN_PARTS * first;
    const float *stretch = job->stretch + STRAIN_PARTS * first, *spin = job->spin + AXES * first;
    strain_lanes lanes;
    for (int k = 0; k < SIMD_LANES; ++k) {
        double eps[STRAIN_PARTS], rate[STRAIN_PARTS];
        load_strain(strain + STRAIN_PARTS * k, eps);
        load_strain(stretch + STRAIN_PARTS * k, rate);
        strain_factors factors = strain_yield(step, eps, rate);
        lanes.keep[k] = factors.keep;
        lanes.gain[k] = factors.gain;
        for (int j = 0; j < STRAIN_PARTS; ++j) {
            lanes.eps[j][k] = eps[j];
            lanes.stretch[j][k] = rate[j];
        }
        for (int a = 0; a < AXES; ++a) {
            lanes.spin[a][k] = (double)spin[AXES * k + a];
        }
    }
    ISA_CALL(job->p->ctx, strain_turn)(&lanes, step->dt, step->law->decays_whole);
    for (int k = 0; k < SIMD_LANES; ++k) {
        for (int j = 0; j < STRAIN_PARTS; ++j) {
            strain[STRAIN_PARTS * k + j] = (float)lanes.eps[j][k];
        }
    }
}

static void advance_particles(void* data, int64_t begin, int64_t end) {
    const particle_job* job = data;
    const uint8_t* material = particles_material(job->p);
    strain_step step = {0};
    for (int64_t i = begin; i < end;) {
        const strain_law* law = &job->params->laws[material[i]];
        step = step.law == law ? step : strain_begin(law, job->params->dt);
        if (is_alike(job, law, i, end)) {
            advance_eight(job, &step, i);
            i += SIMD_LANES;
            continue;
        }
        if (!is_slack(job, law, i)) {
            advance_one(job, &step, i);
        }
        i += 1;
    }
}

void elastic_advance(const elastic_params* params, const particles* p,
                     const elastic_motion* motion) {
    TREACLE_ASSERT(params->laws != NULL && motion->stretch != NULL);
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(p->column[PARTICLE_STRAIN] != NULL);
    particle_job job = {.params = params, .p = p, .stretch = motion->stretch, .spin = motion->spin};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 1024}, advance_particles,
                 &job);
}

// --- material that shrinks -----------------------------------------------------------------------

typedef struct free_job {
    const elastic_free* of;
    const float* log_mu; // NULL: the stretch is meant, not the stress
    const tensor_field* to;
} free_job;

// Takes the part out that is no strain: the rate over the number of axes, along each of them.
static void free_tiles(void* data, int64_t begin, int64_t end) {
    const free_job* job = data;
    const bool* is_active = job->of->domain->is_active;
    double axes = (double)is_active[0] + (double)is_active[1] + (double)is_active[2];
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double rate = (double)job->of->cell_rate[i] / axes;
        if (job->log_mu != NULL && rate != 0.0) {
            rate *= 2.0 * elementary_exp((double)job->log_mu[i]);
        }
        for (int a = 0; a < AXES && rate != 0.0; ++a) {
            float* value = &job->to->cell[a][i];
            *value = is_active[a] ? (float)((double)*value - rate) : *value;
        }
    }
}

void elastic_free_stretch(const elastic_free* free, const tensor_field* stretch) {
    free_job job = {free, NULL, stretch};
    if (free->cell_rate != NULL) {
        tile_for(free->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, free_tiles, &job);
    }
}

void elastic_free_stress(const elastic_free* free, const float* log_mu,
                         const tensor_field* stress) {
    TREACLE_ASSERT(log_mu != NULL);
    free_job job = {free, log_mu, stress};
    if (free->cell_rate != NULL) {
        tile_for(free->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, free_tiles, &job);
    }
}

// --- to particles --------------------------------------------------------------------------------

typedef struct gather_job {
    const face_velocity* flow;
    const tensor_field* stretch;
    float* const* spin;
    const particles* p;
    const elastic_motion* out;
} gather_job;

// One column of one tile's particles from one field.
static void gather_part(const gather_job* job, int64_t tile, grid_place place, const float* field,
                        float* column, int stride) {
    const particles* p = job->p;
    particle_ix first = p->tile_first[tile];
    transfer_place at = {.kernel = TREACLE_KERNEL_LINEAR};
    for (int a = 0; a < AXES; ++a) {
        at.is_active[a] = job->flow->domain->is_active[a];
        at.offset[a] = at.is_active[a] ? (double)place_offset(place, a) : 0.5;
    }
    transfer_target target = {
        .count = p->tile_first[tile + 1] - first,
        .position = particles_f32(p, PARTICLE_POSITION) + AXES * first,
        .material = particles_material(p) + first,
        .value = column + stride * first,
        .value_stride = stride,
    };
    float block[BLOCK_CELLS + BLOCK_TAIL] = {0};
    tile_ix from = tile_map_find(job->flow->map, p->tile[tile]);
    gather_block(job->flow->map, field, from, BLOCK_HALO, BLOCK_HALO, block);
    ISA_CALL(p->ctx, transfer_gather)(&target, &at, block, NULL);
}

static void gather_tiles(void* data, int64_t begin, int64_t end) {
    const gather_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int part = 0; part < STRAIN_PARTS; ++part) {
            gather_part(job, t, tensor_place(part), tensor_part(job->stretch, part),
                        job->out->stretch + part, STRAIN_PARTS);
        }
        for (int a = 0; job->out->spin != NULL && a < AXES; ++a) {
            gather_part(job, t, place_edge(a), job->spin[a], job->out->spin + a, AXES);
        }
    }
}

void elastic_gather(const face_velocity* flow, const tensor_field* stretch, float* const spin[AXES],
                    const particles* p, const elastic_motion* out) {
    TREACLE_ASSERT(out->stretch != NULL);
    TREACLE_ASSERT(out->spin == NULL || spin != NULL);
    gather_job job = {flow, stretch, spin, p, out};
    particle_for(p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 1}, gather_tiles, &job);
}
