// The energy of particles: sums over them, in double and in a fixed order.
//
//     kinetic = sum m (|v|^2 + d |C|^2) / 2      C the affine motion, d the kernel's second moment
//     elastic = sum V e(strain)                                                        [energy.5]
//     height  = sum m g . x                      minus the potential energy
#include "phys/particle_energy.h"

#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "math/mat3.h"
#include "particles/particle_loop.h"
#include "phys/fracture.h"

enum { SUM_KINETIC, SUM_ELASTIC, SUM_PUSHED, SUM_HEIGHT, SUM_MASS, SUM_COUNT };

typedef struct particle_job {
    const particle_energy_params* of;
    double gravity[AXES];        // m/s^2, 0 along inactive axes
    double affine;               // m^2, second moment of the transfer's kernel; 0: no affine motion
    bool has_motion, has_strain; // else places alone
    double (*sum)[SUM_COUNT];    // [groups]
    int which;
} particle_job;

// What strain stores in a unit of volume: mu_e |eps|^2 / 2, or of a convected law with c = 1 + 2
// eps mu_e (tr c - 3 - log det c) / 4, whose rate is the stress times the stretch, too [energy.5].
static double stored(const strain_law* law, const float eps[STRAIN_PARTS]) {
    double trace = 0.0, square = 0.0;
    mat3 c;
    for (int a = 0; a < AXES; ++a) {
        double normal = (double)eps[a], shear = (double)eps[AXES + a];
        int b = (a + 1) % AXES, d = (a + 2) % AXES;
        trace += normal;
        square += normal * normal + 2.0 * shear * shear;
        c.at[a][a] = 1.0 + 2.0 * normal;
        c.at[b][d] = c.at[d][b] = 2.0 * shear;
    }
    if (law->rate != TREACLE_STRAIN_CONVECTED) {
        return 0.5 * law->modulus * square;
    }
    double determinant = mat3_determinant(&c);
    return determinant > 0.0 ? 0.25 * law->modulus * (2.0 * trace - elementary_log(determinant))
                             : 0.5 * law->modulus * trace;
}

// Broken material stores nothing [crack.1].
static double carried(const particle_energy_params* of, particle_ix i) {
    const float* damage = particles_f32(of->p, PARTICLE_DAMAGE);
    if (damage == NULL || !(damage[i] > 0.0f)) {
        return 1.0;
    }
    double eps[STRAIN_PARTS];
    for (int k = 0; k < STRAIN_PARTS; ++k) {
        eps[k] = (double)particles_f32(of->p, PARTICLE_STRAIN)[STRAIN_PARTS * i + k];
    }
    return fracture_kept((double)damage[i], eps);
}

static double strain_energy(const particle_energy_params* of, particle_ix i) {
    const strain_law* law = &of->strain_laws[particles_material(of->p)[i]];
    const float* strain = particles_f32(of->p, PARTICLE_STRAIN);
    const float* melted = particles_f32(of->p, PARTICLE_MELTED);
    double firm = melted != NULL ? 1.0 - (double)melted[i] : 1.0;
    firm *= carried(of, i);
    return law->modulus > 0.0 ? firm * stored(law, strain + STRAIN_PARTS * i) : 0.0;
}

// Rows are added up in bunches: the loops over their columns run side by side.
enum { BUNCH = 8, BUNCH_AXES = BUNCH * AXES, BUNCH_SLOPES = BUNCH * AXES * AXES };

typedef struct bunch_sums {
    double mass[BUNCH];
    double square[BUNCH_AXES], along[BUNCH_AXES], place[BUNCH_AXES]; // m v^2, m v, m x
    double slope[BUNCH];                                             // m |C|^2
} bunch_sums;

static void add_bunch(const particle_job* job, particle_ix first, int count, bunch_sums* sum) {
    const particles* p = job->of->p;
    const float* volume = particles_f32(p, PARTICLE_VOLUME) + first;
    const float* v = particles_f32(p, PARTICLE_VELOCITY) + AXES * first;
    const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * first;
    double mass[BUNCH] = {0}, spread[BUNCH_AXES] = {0};
    for (int i = 0; i < count; ++i) {
        float density = job->of->density[particles_material(p)[first + i]];
        mass[i] = (double)density * (double)volume[i];
        sum->mass[i] += mass[i];
        spread[AXES * i] = spread[AXES * i + 1] = spread[AXES * i + 2] = mass[i];
    }
    int values = AXES * count;
    for (int n = 0; n < values; ++n) {
        sum->place[n] += spread[n] * (double)x[n];
    }
    for (int n = 0; n < values && job->has_motion; ++n) {
        double momentum = spread[n] * (double)v[n];
        sum->along[n] += momentum;
        sum->square[n] += momentum * (double)v[n];
    }
    if (job->affine > 0.0) {
        const float* slope = particles_f32(p, PARTICLE_AFFINE) + AXES * AXES * first;
        for (int i = 0; i < count; ++i) {
            double square = 0.0;
            for (int n = 0; n < AXES * AXES; ++n) {
                square += (double)slope[AXES * AXES * i + n] * (double)slope[AXES * AXES * i + n];
            }
            sum->slope[i] += mass[i] * square;
        }
    }
}

// Whole bunches come first: their number of particles is known to the compiler.
static void add_rows(const particle_job* job, particle_ix begin, particle_ix end, bunch_sums* sum) {
    particle_ix i = begin;
    for (; i + BUNCH <= end; i += BUNCH) {
        add_bunch(job, i, BUNCH, sum);
    }
    add_bunch(job, i, (int)(end - i), sum);
}

static void close_group(const particle_job* job, int64_t t, const bunch_sums* bunch) {
    const particles* p = job->of->p;
    double *sum = job->sum[t], h = job->of->domain->h, mass = 0.0;
    memset(sum, 0, SUM_COUNT * sizeof(double));
    for (int i = 0; i < BUNCH; ++i) {
        mass += bunch->mass[i];
        sum[SUM_KINETIC] += job->affine * bunch->slope[i];
    }
    for (int n = 0; n < BUNCH_AXES; ++n) {
        sum[SUM_KINETIC] += bunch->square[n];
        sum[SUM_PUSHED] += job->gravity[n % AXES] * bunch->along[n];
        sum[SUM_HEIGHT] += job->gravity[n % AXES] * bunch->place[n];
    }
    for (int a = 0; a < AXES; ++a) {
        double corner = job->gravity[a] * (double)(TILE_SIZE * p->tile[t].at[a]);
        sum[SUM_HEIGHT] += mass * corner;
    }
    sum[SUM_HEIGHT] *= h;
    sum[SUM_MASS] = mass;
}

static void sum_groups(void* data, int64_t begin, int64_t end) {
    const particle_job* job = data;
    const particles* p = job->of->p;
    for (int64_t t = begin; t < end; ++t) {
        bunch_sums bunch = {0};
        add_rows(job, p->tile_first[t], p->tile_first[t + 1], &bunch);
        close_group(job, t, &bunch);
        for (particle_ix i = p->tile_first[t]; job->has_strain && i < p->tile_first[t + 1]; ++i) {
            double volume = (double)particles_f32(p, PARTICLE_VOLUME)[i];
            job->sum[t][SUM_ELASTIC] += volume * strain_energy(job->of, i);
        }
    }
}

static double sum_of_group(void* data, int64_t group) {
    const particle_job* job = data;
    return job->sum[group][job->which];
}

// Second moment of a kernel over the square of the cell width; its mean where it depends on the
// place.
static double moment_of(treacle_kernel kernel) {
    return kernel == TREACLE_KERNEL_QUADRATIC ? 0.25
           : kernel == TREACLE_KERNEL_WIDE    ? 2.0 / 3.0
                                              : 1.0 / 6.0;
}

static particle_job job_of(const particle_energy_params* of) {
    double h = of->domain->h;
    bool is_affine =
        of->has_motion && of->is_affine && particles_f32(of->p, PARTICLE_AFFINE) != NULL;
    bool has_strain = of->strain_laws != NULL && particles_f32(of->p, PARTICLE_STRAIN) != NULL;
    particle_job out = {.of = of,
                        .affine = is_affine ? moment_of(of->kernel) * h * h : 0.0,
                        .has_motion = of->has_motion,
                        .has_strain = of->has_motion && has_strain};
    for (int a = 0; a < AXES; ++a) {
        out.gravity[a] = of->domain->is_active[a] ? of->gravity[a] : 0.0;
    }
    return out;
}

treacle_status particle_energy_measure(const particle_energy_params* params, double dt,
                                       arena* scratch, particle_energy* out) {
    TREACLE_ASSERT(dt > 0.0 && isfinite(dt));
    TREACLE_ASSERT(params->reference_density > 0.0 && params->density != NULL);
    TREACLE_ASSERT(params->gravity != NULL);
    TREACLE_ASSERT(!params->is_affine || !params->has_motion ||
                   params->p->column[PARTICLE_AFFINE] != NULL);
    particle_job job = job_of(params);
    double total[SUM_COUNT], unit = params->reference_density;
    TREACLE_TRY(arena_take(scratch, (size_t)params->p->tile_count, sizeof(*job.sum),
                           "energies of particles", (void**)&job.sum));
    particle_for(params->p, &(particle_use){.span = PARTICLES_OWN_TILES, .grain = 1}, sum_groups,
                 &job);
    for (job.which = 0; job.which < SUM_COUNT; ++job.which) {
        total[job.which] = particle_sum(params->p, sum_of_group, &job);
    }
    arena_give(scratch, job.sum);
    *out = (particle_energy){.kinetic = 0.5 * unit * total[SUM_KINETIC],
                             .elastic = total[SUM_ELASTIC],
                             .pushed = 0.5 * dt * unit * total[SUM_PUSHED],
                             .height = unit * total[SUM_HEIGHT],
                             .mass = unit * total[SUM_MASS]};
    return TREACLE_OK;
}
