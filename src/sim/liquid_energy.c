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

// Of energy and work together, that a step may gain beyond the latter [energy.6].
static const double gain_share = 0.05;

// --- particles ----------------------------------------------------------------------------------

enum { SUM_KINETIC, SUM_ELASTIC, SUM_PUSHED, SUM_HEIGHT, SUM_MASS, SUM_COUNT };

typedef struct particle_job {
    const liquid_work* w;
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

static double strain_energy(const liquid_work* w, particle_ix i) {
    const strain_law* law = &w->setup->strain_laws[particles_material(w->p)[i]];
    const float* strain = particles_f32(w->p, PARTICLE_STRAIN);
    const float* melted = particles_f32(w->p, PARTICLE_MELTED);
    double firm = melted != NULL ? 1.0 - (double)melted[i] : 1.0;
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
    const particles* p = job->w->p;
    const float* volume = particles_f32(p, PARTICLE_VOLUME) + first;
    const float* v = particles_f32(p, PARTICLE_VELOCITY) + AXES * first;
    const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * first;
    double mass[BUNCH] = {0}, spread[BUNCH_AXES] = {0};
    for (int i = 0; i < count; ++i) {
        float density = job->w->setup->density[particles_material(p)[first + i]];
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

// Of whole bunches the number of rows is known to the compiler.
static void add_rows(const particle_job* job, particle_ix begin, particle_ix end, bunch_sums* sum) {
    particle_ix i = begin;
    for (; i + BUNCH <= end; i += BUNCH) {
        add_bunch(job, i, BUNCH, sum);
    }
    add_bunch(job, i, (int)(end - i), sum);
}

static void close_group(const particle_job* job, int64_t t, const bunch_sums* bunch) {
    const particles* p = job->w->p;
    double *sum = job->sum[t], h = job->w->setup->domain->h, mass = 0.0;
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
    const particles* p = job->w->p;
    for (int64_t t = begin; t < end; ++t) {
        bunch_sums bunch = {0};
        add_rows(job, p->tile_first[t], p->tile_first[t + 1], &bunch);
        close_group(job, t, &bunch);
        for (particle_ix i = p->tile_first[t]; job->has_strain && i < p->tile_first[t + 1]; ++i) {
            double volume = (double)particles_f32(p, PARTICLE_VOLUME)[i];
            job->sum[t][SUM_ELASTIC] += volume * strain_energy(job->w, i);
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

static particle_job job_of(const liquid_work* w, bool has_motion) {
    const treacle_sim_def* def = w->setup->def;
    double h = w->setup->domain->h;
    bool is_affine = has_motion && def->transfer == TREACLE_TRANSFER_APIC &&
                     particles_f32(w->p, PARTICLE_AFFINE) != NULL;
    bool has_strain = w->setup->has_elastic && particles_f32(w->p, PARTICLE_STRAIN) != NULL;
    particle_job out = {.w = w,
                        .affine = is_affine ? moment_of(def->kernel) * h * h : 0.0,
                        .has_motion = has_motion,
                        .has_strain = has_motion && has_strain};
    for (int a = 0; a < AXES; ++a) {
        out.gravity[a] = w->setup->domain->is_active[a] ? w->gravity[a] : 0.0;
    }
    return out;
}

static treacle_status measure(liquid_work* w, bool has_motion, particle_energy* out) {
    const grid_domain* domain = w->setup->domain;
    particle_job job = job_of(w, has_motion);
    double total[SUM_COUNT], unit = w->setup->reference_density;
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
                             .height = unit * total[SUM_HEIGHT],
                             .mass = unit * total[SUM_MASS]};
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
        vec3 way = vec3_sub(w->poses.to[first + i].place, w->poses.from[first + i].place);
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
    return measure(w, true, &w->account.begin);
}

treacle_status liquid_account_given_push(liquid_work* w) {
    double before = w->account.begin.kinetic;
    TREACLE_TRY(measure(w, true, &w->account.begin));
    w->account.given_push = w->account.begin.kinetic - before;
    w->stats->energy.forces += w->account.given_push;
    return TREACLE_OK;
}

treacle_status liquid_account_moved(liquid_work* w) {
    w->stats->energy.contacts = liquid_energy_of_bodies(w) - w->account.bodies_begin;
    w->account.fallen = body_fall(w);
    bool has_solids = w->setup->solids.count > 0; // without them nobody stops on his way
    particle_energy* moved = &w->account.moved;
    TREACLE_TRY(measure(w, has_solids, moved));
    moved->kinetic = has_solids ? moved->kinetic : w->account.begin.kinetic;
    moved->elastic = has_solids ? moved->elastic : w->account.begin.elastic;
    return TREACLE_OK;
}

treacle_status liquid_account_given(liquid_work* w) {
    return measure(w, true, &w->account.given);
}

treacle_status liquid_account_forces(liquid_work* w) {
    liquid_account* account = &w->account;
    account->gravity = -liquid_energy_of_bodies(w);
    for (int a = 0; a < AXES; ++a) {
        bool is_active = w->setup->domain->is_active[a];
        account->push.uniform[a] = is_active ? w->dt * w->gravity[a] : 0.0;
    }
    if (w->setup->force_count == 0 && w->given.buoyancy == NULL) {
        return TREACLE_OK;
    }
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "pushes",
                                    (void**)&account->face_push.at[a]));
        account->push.face[a] = account->face_push.at[a];
    }
    return TREACLE_OK;
}

// By the masses that particles gave to faces.
static double forced(const liquid_work* w, bool is_pushed) {
    if (w->account.face_push.at[0] == NULL || w->given.face_mass.at[0] == NULL) {
        return 0.0;
    }
    energy_forces forces = {&w->state->map, &w->account.push, w->given.face_mass.at,
                            w->state->face_u.at, is_pushed};
    return energy_of_forces(&forces);
}

void liquid_account_pushed(liquid_work* w) {
    w->account.forced = forced(w, true);
    w->account.bodies_given = liquid_energy_of_bodies(w);
    w->account.gravity += w->account.bodies_given;
}

static double unit_of(const liquid_work* w) {
    double h = w->setup->domain->h;
    return w->setup->reference_density * h * h * h;
}

// The faces of emitters are in no solve: without this `transfer` would have it [energy.7].
void liquid_account_emitters(liquid_work* w, float* const before[AXES]) {
    if (w->given.face_mass.at[0] == NULL || w->euler != NULL) {
        return;
    }
    energy_given given = {&w->state->map, &w->account.push, w->given.face_mass.at, before,
                          w->state->face_u.at};
    double work = unit_of(w) * energy_of_given(&given);
    w->stats->energy.solids += work;
    w->stats->energy.transfer -= work;
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
        account->resting = unit * part->push_square;
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
        flow.after[a] = w->state->face_u.at[a];
        flow.solid[a] = w->body.rows != NULL ? w->body.solid[a] : NULL;
    }
    TREACLE_TRY(energy_of_projection(&flow, &w->account.part));
    for (int i = 0; bodies != NULL && i < w->body.flow.count; ++i) {
        body_motion after = body_motion_of(&w->bodies[i], w->setup->domain->h);
        const flow_body* body = &w->body.flow.at[i];
        energy_add_body((const double(*)[BODY_MOTIONS])body->mass, bodies[i].at, after.at,
                        &w->account.part);
    }
    liquid_account_part(w);
    return TREACLE_OK;
}

void liquid_account_couple(liquid_work* w, double before) {
    double forced = 0.0;
    for (int i = 0; i < w->body.flow.count; ++i) {
        forced += w->body.flow.at[i].forced;
    }
    w->stats->energy.forces += forced;
    w->account.bodies_given = liquid_energy_of_bodies(w);
    w->stats->energy.contacts += w->account.bodies_given - before - forced;
}

void liquid_account_flown(liquid_work* w) {
    w->account.forced += forced(w, false);
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

// What cannot be told from an error: the energy that forces give to liquid at rest in a step, and
// that of a fall by a share of a cell, for nobody knows where in its cell the surface is
// [energy.6].
static double floor_of(const liquid_work* w) {
    double resting = w->account.resting, mass = w->account.given.mass;
    double weight = sqrt(2.0 * mass * resting) / w->dt;
    return resting + gain_share * weight * w->setup->domain->h;
}

// How much a step may gain beyond the work that was done on it, and did.
static void judge(const liquid_work* w, double before, treacle_energy_stats* e) {
    double done = e->gravity + e->forces + e->solids + e->contacts + e->particles;
    double size = fabs(e->gravity) + fabs(e->forces) + fabs(e->solids) + fabs(e->contacts) +
                  fabs(e->particles);
    e->gain = e->change - done;
    e->limit = gain_share * (before + size) + floor_of(w);
}

static treacle_status refuse(const liquid_work* w) {
    const treacle_energy_stats* e = &w->stats->energy;
    if (e->gain <= e->limit) { // false where one is not a number
        return TREACLE_OK;
    }
    return check_fail(w->ctx, TREACLE_ERR_DIVERGED,
                      "in the step from %g s to %g s liquid and bodies gained %g J more than the "
                      "work done on them (gravity %g J, forces %g J, solids %g J, contacts %g J); "
                      "at most %g J can be an error of the step",
                      w->time, w->time + w->dt, e->gain, e->gravity, e->forces, e->solids,
                      e->contacts, e->limit);
}

treacle_status liquid_account_end(liquid_work* w) {
    liquid_account* account = &w->account;
    treacle_energy_stats* out = &w->stats->energy;
    particle_energy end;
    TREACLE_TRY(measure(w, true, &end));
    const particle_energy *begin = &account->begin, *moved = &account->moved;
    const particle_energy* given = &account->given;
    double pushed = given->pushed + end.pushed, work = unit_of(w) * account->forced;
    double fallen = moved->height - begin->height, lifted = given->height - end.height;
    out->kinetic = end.kinetic;
    out->bodies = liquid_energy_of_bodies(w);
    out->elastic = end.elastic;
    out->change = end.kinetic + end.elastic - begin->kinetic - begin->elastic + out->bodies -
                  account->bodies_begin + account->given_push;
    out->potential = lifted - fallen - account->fallen;
    out->gravity = pushed + account->gravity;
    out->forces += work;
    out->particles = given->kinetic + given->elastic - moved->kinetic - moved->elastic;
    out->dissipation -= end.elastic - given->elastic;
    out->transfer += end.kinetic + out->bodies - account->level + account->pushed - pushed - work;
    out->advection = moved->kinetic + moved->elastic - begin->kinetic - begin->elastic +
                     out->gravity - fallen - account->fallen;
    out->density = lifted;
    out->error = out->change + out->potential - explained(out);
    judge(w, begin->kinetic + begin->elastic + account->bodies_begin, out);
    return refuse(w);
}
