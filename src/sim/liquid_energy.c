// The account of energy of a step: what particles and bodies have at its begin and its end, and
// what every stage between did to it [energy.4].
//
//     begin -> moved -> given -> parts of the flow -> end
//
// Kinetic energy is measured in the masses of whoever has the velocity: particles, then the faces
// of each solve, then particles again. Two measures that follow each other of the same state differ
// by what the change of masses makes: that is `transfer`. `level` is the newest measure.
#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "particles/particle_ranks.h"
#include "sim/liquid.h"

// --- particles ----------------------------------------------------------------------------------

enum { SUM_KINETIC, SUM_ELASTIC, SUM_PUSHED, SUM_HEIGHT, SUM_COUNT };

typedef struct particle_job {
    const liquid_work* w;
    double gravity[AXES];     // m/s^2, 0 along inactive axes
    double affine;            // m^2, second moment of the transfer's kernel; 0: no affine motion
    double (*sum)[SUM_COUNT]; // [groups]
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

static double strain_energy(const liquid_work* w, particle_ix i) {
    const strain_law* law = &w->setup->strain_laws[particles_material(w->p)[i]];
    const float* strain = particles_f32(w->p, PARTICLE_STRAIN);
    const float* melted = particles_f32(w->p, PARTICLE_MELTED);
    double firm = melted != NULL ? 1.0 - (double)melted[i] : 1.0;
    return law->modulus > 0.0 ? firm * stored(law, strain + STRAIN_PARTS * i) : 0.0;
}

static double affine_square(const float* slope) {
    double sum = 0.0;
    for (int n = 0; n < AXES * AXES; ++n) {
        sum += (double)slope[n] * (double)slope[n];
    }
    return sum;
}

static void sum_groups(void* data, int64_t begin, int64_t end, int worker) {
    const particle_job* job = data;
    const liquid_work* w = job->w;
    const particles* p = w->p;
    const float *volume = particles_f32(p, PARTICLE_VOLUME),
                *v = particles_f32(p, PARTICLE_VELOCITY);
    const float *x = particles_f32(p, PARTICLE_POSITION),
                *slope = particles_f32(p, PARTICLE_AFFINE);
    const double *g = job->gravity, h = w->setup->domain->h;
    bool has_strain = w->setup->has_elastic && particles_f32(p, PARTICLE_STRAIN) != NULL;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        double sum[SUM_COUNT] = {0}, mass = 0.0, corner = 0.0;
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            double m = (double)w->setup->density[particles_material(p)[i]] * (double)volume[i];
            double square = 0.0, along = 0.0, height = 0.0;
            for (int a = 0; a < AXES; ++a) {
                double u = (double)v[AXES * i + a];
                square += u * u;
                along += g[a] * u;
                height += g[a] * (double)x[AXES * i + a];
            }
            square +=
                job->affine > 0.0 ? job->affine * affine_square(slope + AXES * AXES * i) : 0.0;
            mass += m;
            sum[SUM_KINETIC] += m * square;
            sum[SUM_PUSHED] += m * along;
            sum[SUM_HEIGHT] += m * height;
            sum[SUM_ELASTIC] += has_strain ? (double)volume[i] * strain_energy(w, i) : 0.0;
        }
        for (int a = 0; a < AXES; ++a) {
            corner += g[a] * (double)(TILE_SIZE * p->tile[t].at[a]);
        }
        sum[SUM_HEIGHT] = h * (sum[SUM_HEIGHT] + mass * corner);
        memcpy(job->sum[t], sum, sizeof(sum));
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

static treacle_status measure(liquid_work* w, particle_energy* out) {
    const grid_domain* domain = w->setup->domain;
    const treacle_sim_def* def = w->setup->def;
    bool is_affine =
        def->transfer == TREACLE_TRANSFER_APIC && particles_f32(w->p, PARTICLE_AFFINE) != NULL;
    particle_job job = {.w = w,
                        .affine = is_affine ? moment_of(def->kernel) * domain->h * domain->h : 0.0};
    double total[SUM_COUNT], unit = w->setup->reference_density;
    for (int a = 0; a < AXES; ++a) {
        job.gravity[a] = domain->is_active[a] ? w->gravity[a] : 0.0;
    }
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->tile_count, sizeof(*job.sum),
                           "energies of particles", (void**)&job.sum));
    particle_ranks_for(domain, w->p, 1, sum_groups, &job);
    for (job.which = 0; job.which < SUM_COUNT; ++job.which) {
        total[job.which] = particle_ranks_sum(domain, w->p, sum_of_group, &job);
    }
    arena_give(w->scratch, job.sum);
    *out = (particle_energy){.kinetic = 0.5 * unit * total[SUM_KINETIC],
                             .elastic = total[SUM_ELASTIC],
                             .pushed = 0.5 * w->dt * unit * total[SUM_PUSHED],
                             .height = unit * total[SUM_HEIGHT]};
    return TREACLE_OK;
}

// --- bodies -------------------------------------------------------------------------------------

double liquid_energy_of_body(const liquid_work* w, int i) {
    const body_mass* mass = &w->setup->bodies.bodies[i].mass;
    const body_state* state = &w->bodies[i];
    solid_pose pose = body_pose(state);
    mat3 inertia = body_world_inertia(mass, &pose.rotate);
    vec3 v = vec3_from(state->velocity), spin = vec3_from(state->spin);
    return 0.5 * (mass->mass * vec3_dot(v, v) + vec3_dot(spin, mat3_apply(&inertia, spin)));
}

double liquid_energy_of_bodies(const liquid_work* w) {
    double sum = 0.0;
    for (int i = 0; i < w->setup->bodies.count; ++i) {
        sum += liquid_energy_of_body(w, i);
    }
    return sum;
}

// What gravity does along the way of bodies, J.
static double body_fall(const liquid_work* w) {
    double sum = 0.0;
    int first = w->setup->solids.scripted_count;
    for (int i = 0; i < w->setup->bodies.count; ++i) {
        vec3 way = vec3_sub(w->solid_to[first + i].place, w->solid_from[first + i].place);
        for (int a = 0; a < AXES; ++a) {
            bool is_active = w->setup->domain->is_active[a];
            double mass = w->setup->bodies.bodies[i].mass.mass;
            sum += is_active ? mass * w->gravity[a] * way.at[a] : 0.0;
        }
    }
    return sum;
}

// --- the stages ---------------------------------------------------------------------------------

treacle_status liquid_account_begin(liquid_work* w) {
    w->account.bodies_begin = liquid_energy_of_bodies(w);
    return measure(w, &w->account.begin);
}

treacle_status liquid_account_moved(liquid_work* w) {
    w->stats->energy.contacts = liquid_energy_of_bodies(w) - w->account.bodies_begin;
    w->account.fallen = body_fall(w);
    return measure(w, &w->account.moved);
}

treacle_status liquid_account_given(liquid_work* w) {
    return measure(w, &w->account.given);
}

treacle_status liquid_account_forces(liquid_work* w) {
    liquid_account* account = &w->account;
    for (int a = 0; a < AXES; ++a) {
        bool is_active = w->setup->domain->is_active[a];
        account->push.uniform[a] = is_active ? w->dt * w->gravity[a] : 0.0;
    }
    if (w->setup->force_count == 0 && w->cell_buoyancy == NULL) {
        return TREACLE_OK;
    }
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "pushes",
                                    (void**)&account->face_push[a]));
        account->push.face[a] = account->face_push[a];
    }
    return TREACLE_OK;
}

// Half of what forces do beside gravity, by the masses that particles gave to faces: with the
// velocity of before and of after they make the mean.
static double half_forced(const liquid_work* w) {
    const liquid_account* account = &w->account;
    if (account->face_push[0] == NULL || w->face_mass[0] == NULL) {
        return 0.0;
    }
    energy_push gravity = account->push;
    memset(gravity.face, 0, sizeof(gravity.face));
    const tile_map* map = &w->state->map;
    return energy_of_push(map, &account->push, w->face_mass, w->state->face_u) -
           energy_of_push(map, &gravity, w->face_mass, w->state->face_u);
}

void liquid_account_before_push(liquid_work* w) {
    w->account.forced = half_forced(w);
    w->account.gravity = -liquid_energy_of_bodies(w);
}

void liquid_account_pushed(liquid_work* w) {
    w->account.bodies_given = liquid_energy_of_bodies(w);
    w->account.gravity += w->account.bodies_given;
}

static double unit_of(const liquid_work* w) {
    double h = w->setup->domain->h;
    return w->setup->reference_density * h * h * h;
}

// The first part begins with the velocity before forces [energy.3].
void liquid_account_part(liquid_work* w) {
    liquid_account* account = &w->account;
    const energy_part* part = &account->part;
    treacle_energy_stats* out = &w->stats->energy;
    double unit = unit_of(w), given = part->before + part->bodies_before;
    double turned = 0.5 * (part->push_after - part->push_before);
    if (!account->has_part) {
        double pushed = part->push_before - part->push_square;
        given -= pushed;
        account->pushed += unit * pushed;
        account->level = account->given.kinetic + account->bodies_given;
        account->has_part = true;
    }
    account->pushed += unit * turned;
    out->transfer += unit * given - account->level;
    out->numerical += unit * (part->lost + part->bodies_lost + turned);
    out->dissipation += unit * (part->dissipation + part->elastic);
    out->solids += unit * part->walls;
    out->exchanged -= unit * (part->bodies_after - part->bodies_before + part->bodies_lost);
    account->level = unit * (part->after + part->bodies_after);
}

treacle_status liquid_account_projection(liquid_work* w, const float* const before[AXES],
                                         const body_motion* bodies, const double* cell_x) {
    energy_projection flow = {.system = &w->projection,
                              .push = &w->account.push,
                              .cell_x = cell_x,
                              .first_body = w->setup->solids.scripted_count};
    for (int a = 0; a < AXES; ++a) {
        flow.before[a] = before[a];
        flow.after[a] = w->state->face_u[a];
        flow.solid[a] = w->body_rows != NULL ? w->face_body[a] : NULL;
    }
    TREACLE_TRY(energy_of_projection(&flow, &w->account.part));
    for (int i = 0; bodies != NULL && i < w->flow_bodies.count; ++i) {
        body_motion after = body_motion_of(&w->bodies[i], w->setup->domain->h);
        const flow_body* body = &w->flow_bodies.at[i];
        energy_add_body((const double(*)[BODY_MOTIONS])body->mass, bodies[i].at, after.at,
                        &w->account.part);
    }
    liquid_account_part(w);
    return TREACLE_OK;
}

void liquid_account_couple(liquid_work* w, double before) {
    double forced = 0.0;
    for (int i = 0; i < w->flow_bodies.count; ++i) {
        forced += w->flow_bodies.at[i].forced;
    }
    w->stats->energy.forces += forced;
    w->account.bodies_given = liquid_energy_of_bodies(w);
    w->stats->energy.contacts += w->account.bodies_given - before - forced;
}

void liquid_account_flown(liquid_work* w) {
    w->account.forced += half_forced(w);
}

treacle_status liquid_account_euler(liquid_work* w) {
    treacle_energy_stats* out = &w->stats->energy;
    out->kinetic = w->stats->kinetic_energy;
    out->bodies = liquid_energy_of_bodies(w);
    out->gravity = w->account.pushed + w->account.gravity;
    out->transfer = 0.0;
    return TREACLE_OK;
}

// All but `error`, which is what they leave.
static double explained(const treacle_energy_stats* e) {
    double done = e->forces + e->solids + e->contacts + e->particles;
    return done - e->dissipation - e->numerical + e->transfer + e->advection + e->density;
}

treacle_status liquid_account_end(liquid_work* w) {
    liquid_account* account = &w->account;
    treacle_energy_stats* out = &w->stats->energy;
    particle_energy end;
    TREACLE_TRY(measure(w, &end));
    const particle_energy *begin = &account->begin, *moved = &account->moved;
    const particle_energy* given = &account->given;
    double pushed = given->pushed + end.pushed, forced = unit_of(w) * account->forced;
    double fallen = moved->height - begin->height, lifted = given->height - end.height;
    out->kinetic = end.kinetic;
    out->bodies = liquid_energy_of_bodies(w);
    out->elastic = end.elastic;
    out->change = end.kinetic + end.elastic - begin->kinetic - begin->elastic + out->bodies -
                  account->bodies_begin;
    out->potential = lifted - fallen - account->fallen;
    out->gravity = pushed + account->gravity;
    out->forces += forced;
    out->particles = given->kinetic + given->elastic - moved->kinetic - moved->elastic;
    out->dissipation -= end.elastic - given->elastic;
    out->transfer += end.kinetic + out->bodies - account->level + account->pushed - pushed - forced;
    out->advection = moved->kinetic + moved->elastic - begin->kinetic - begin->elastic +
                     out->gravity - fallen - account->fallen;
    out->density = lifted;
    out->error = out->change + out->potential - explained(out);
    return TREACLE_OK;
}
