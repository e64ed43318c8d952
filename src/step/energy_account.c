#include "step/energy_account.h"

#include <math.h>

// The fraction of energy and work together that a step may gain beyond the work [energy.6].
static const double gain_fraction = 0.05;

// Of the energy of a surface: its area, drawn from particles, is not known better [energy.6].
static const double surface_noise = 1e-4;

static treacle_status energy_account_measure(const step_frame* f, const particles* p,
                                             bool has_motion, particle_energy* out) {
    const liquid_setup* setup = f->setup;
    particle_energy_params params = {.domain = setup->domain,
                                     .p = p,
                                     .density = setup->density,
                                     .reference_density = setup->reference_density,
                                     .strain_laws = setup->has.elastic ? setup->strain_laws : NULL,
                                     .gravity = f->gravity.mean,
                                     .kernel = setup->def->kernel,
                                     .is_affine = setup->def->transfer == TREACLE_TRANSFER_APIC,
                                     .has_motion = has_motion};
    return particle_energy_measure(&params, f->dt, f->scratch, out);
}

// What gravity does along the way of bodies, J.
static double body_fall(const step_frame* f, const solid_poses* poses) {
    double sum = 0.0;
    int first = f->setup->solids.scripted_count;
    for (int i = 0; i < f->setup->bodies.count; ++i) {
        vec3 way = vec3_sub(poses->to[first + i].place, poses->from[first + i].place);
        for (int a = 0; a < AXES; ++a) {
            bool is_active = f->setup->domain->is_active[a];
            double mass = f->setup->bodies.bodies[i].mass.mass;
            sum += is_active ? mass * f->gravity.mean[a] * way.at[a] : 0.0;
        }
    }
    return sum;
}

// --- the stages ---------------------------------------------------------------------------------

treacle_status energy_account_begin(const step_frame* f, const particles* p,
                                    const body_state* bodies, energy_account* out) {
    TREACLE_ASSERT(f->setup->bodies.count == 0 || bodies != NULL);
    *out = (energy_account){.bodies = {.begin = body_set_energy(&f->setup->bodies, bodies)}};
    return energy_account_measure(f, p, true, &out->particles.begin);
}

treacle_status energy_account_push(const step_frame* f, const particles* p, energy_account* out) {
    TREACLE_ASSERT(!out->has_part);
    double before = out->particles.begin.kinetic;
    TREACLE_TRY(energy_account_measure(f, p, true, &out->particles.begin));
    out->forces.given_push = out->particles.begin.kinetic - before;
    f->stats->energy.forces += out->forces.given_push;
    return TREACLE_OK;
}

treacle_status energy_account_moved(const step_frame* f, const particles* p,
                                    const body_state* bodies, const solid_poses* poses,
                                    energy_account* out) {
    TREACLE_ASSERT(!out->has_part);
    TREACLE_ASSERT(f->setup->bodies.count == 0 || (poses->from != NULL && poses->to != NULL));
    f->stats->energy.contacts = body_set_energy(&f->setup->bodies, bodies) - out->bodies.begin;
    out->bodies.fallen = body_fall(f, poses);
    bool has_solids = f->setup->solids.count > 0; // without them nobody stops on his way
    const particle_energy* begin = &out->particles.begin;
    particle_energy* moved = &out->particles.moved;
    TREACLE_TRY(energy_account_measure(f, p, has_solids, moved));
    moved->kinetic = has_solids ? moved->kinetic : begin->kinetic;
    moved->elastic = has_solids ? moved->elastic : begin->elastic;
    return TREACLE_OK;
}

treacle_status energy_account_given(const step_frame* f, const particles* p, energy_account* out) {
    TREACLE_ASSERT(!out->has_part);
    return energy_account_measure(f, p, true, &out->particles.given);
}

treacle_status energy_account_forces(const step_frame* f, const tile_map* map,
                                     const particle_grid* given, const body_state* bodies,
                                     energy_account* out) {
    TREACLE_ASSERT(!out->has_part);
    TREACLE_ASSERT(map->count >= 0 && f->dt > 0.0);
    out->bodies.gravity = -body_set_energy(&f->setup->bodies, bodies);
    for (int a = 0; a < AXES; ++a) {
        bool is_active = f->setup->domain->is_active[a];
        out->push.uniform[a] = is_active ? f->dt * f->gravity.mean[a] : 0.0;
    }
    if (f->setup->force_count == 0 && given->buoyancy == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(step_take_faces_zero(f, map, "pushes", &out->face_push));
    for (int a = 0; a < AXES; ++a) {
        out->push.face[a] = out->face_push.at[a];
    }
    return TREACLE_OK;
}

// By the masses that particles gave to faces.
static double forced(const liquid_state* state, const particle_grid* given,
                     const energy_account* account, bool is_pushed) {
    if (account->face_push.at[0] == NULL || given->face_mass.at[0] == NULL) {
        return 0.0;
    }
    energy_forces forces = {&state->map, &account->push, given->face_mass.at, state->face_u.at,
                            is_pushed};
    return energy_of_forces(&forces);
}

void energy_account_pushed(const step_frame* f, const liquid_state* state,
                           const particle_grid* given, const body_state* bodies,
                           energy_account* out) {
    TREACLE_ASSERT(!out->has_part && state->face_u.at[0] != NULL);
    out->forces.forced = forced(state, given, out, true);
    out->bodies.given = body_set_energy(&f->setup->bodies, bodies);
    out->bodies.gravity += out->bodies.given;
}

static double unit_of(const step_frame* f) {
    double h = f->setup->domain->h;
    return f->setup->reference_density * h * h * h;
}

// The faces of emitters are in no solve: without this `transfer` would have it [energy.7].
void energy_account_emitters(const step_frame* f, const liquid_state* state,
                             const particle_grid* given, float* const before[AXES],
                             const energy_account* account) {
    TREACLE_ASSERT(before[0] != state->face_u.at[0]);
    if (given->face_mass.at[0] == NULL) {
        return;
    }
    energy_given faces = {&state->map, &account->push, given->face_mass.at, before,
                          state->face_u.at};
    double work = unit_of(f) * energy_of_given(&faces);
    f->stats->energy.solids += work;
    f->stats->energy.transfer -= work;
}

// The first part begins with the velocity before forces [energy.3].
void energy_account_part(const step_frame* f, energy_account* account) {
    const energy_part* part = &account->part;
    treacle_energy_stats* out = &f->stats->energy;
    double unit = unit_of(f), given = part->before + part->bodies_before;
    double turned = 0.5 * (part->push_after - part->push_before);
    if (!account->has_part) {
        double pushed = part->push_before - part->push_square;
        given -= pushed;
        account->forces.pushed += unit * pushed;
        account->level = account->particles.given.kinetic + account->bodies.given;
        account->forces.resting = unit * part->push_square;
        account->first = unit * given;
        account->has_part = true;
    }
    account->forces.pushed += unit * turned;
    out->transfer += unit * given - account->level;
    out->numerical += unit * (part->lost + part->bodies_lost + turned);
    out->dissipation += unit * (part->dissipation + part->elastic);
    out->tension += unit * part->tension;
    out->solids += unit * part->solids;
    out->shrinkage += unit * part->shrinkage;
    out->exchanged -= unit * (part->bodies_after - part->bodies_before + part->bodies_lost);
    account->level = unit * (part->after + part->bodies_after);
}

treacle_status energy_account_projection(const step_frame* f, const account_projection* flow,
                                         energy_account* out) {
    TREACLE_ASSERT(flow->system->params != NULL && flow->cell_impulse != NULL);
    TREACLE_ASSERT(flow->before != NULL && flow->after->face_u.at[0] != NULL);
    const body_grid* grid = flow->grid;
    energy_projection done = {.system = flow->system,
                              .push = &out->push,
                              .cell_impulse = flow->cell_impulse,
                              .first_body = f->setup->solids.scripted_count};
    for (int a = 0; a < AXES; ++a) {
        done.before[a] = flow->before[a];
        done.after[a] = flow->after->face_u.at[a];
        done.solid[a] = grid->solve != NULL ? grid->solid[a] : NULL;
    }
    TREACLE_TRY(energy_of_projection(&done, &out->part));
    for (int i = 0; flow->motion_before != NULL && i < grid->flow.count; ++i) {
        body_motion after = body_motion_of(&flow->bodies[i], f->setup->domain->h);
        const solve_body* body = &grid->solve[i];
        energy_add_body((const double(*)[BODY_MOTIONS])body->mass, flow->motion_before[i].at,
                        after.at, &out->part);
    }
    energy_account_part(f, out);
    return TREACLE_OK;
}

void energy_account_couple(const step_frame* f, const body_state* bodies, const body_grid* grid,
                           double before, energy_account* out) {
    TREACLE_ASSERT(isfinite(before) && before >= 0.0);
    double work = 0.0;
    for (int i = 0; i < grid->flow.count; ++i) {
        work += grid->flow.at[i].forced;
    }
    f->stats->energy.forces += work;
    out->bodies.given = body_set_energy(&f->setup->bodies, bodies);
    f->stats->energy.contacts += out->bodies.given - before - work;
}

void energy_account_flown(const liquid_state* state, const particle_grid* given,
                          energy_account* out) {
    out->forces.forced += forced(state, given, out, false);
}

// All but `error`, which is what they leave.
static double explained(const treacle_energy_stats* e) {
    double done = e->forces + e->tension + e->solids + e->shrinkage + e->contacts + e->particles;
    return done - e->dissipation - e->fracture - e->numerical + e->transfer + e->advection +
           e->density;
}

// What cannot be told from an error: the energy that forces give to liquid at rest in a step, and
// that of a fall by a fraction of a cell, for nobody knows where in its cell the surface is
// [energy.6].
static double floor_of(const step_frame* f, const energy_account* account) {
    double resting = account->forces.resting, mass = account->particles.given.mass;
    double weight = sqrt(2.0 * mass * resting) / f->dt;
    return resting + gain_fraction * weight * f->setup->domain->h +
           surface_noise * f->stats->energy.surface;
}

// How much a step may gain beyond the work that was done on it, and did.
static void judge(const step_frame* f, const energy_account* account, double before,
                  treacle_energy_stats* e) {
    double done =
        e->gravity + e->forces + e->tension + e->solids + e->shrinkage + e->contacts + e->particles;
    double size = fabs(e->gravity) + fabs(e->forces) + fabs(e->tension) + fabs(e->solids) +
                  fabs(e->shrinkage) + fabs(e->contacts) + fabs(e->particles);
    e->gain = e->change - done;
    e->limit = gain_fraction * (before + size) + floor_of(f, account);
}

static treacle_status energy_account_refuse(const step_frame* f) {
    const treacle_energy_stats* e = &f->stats->energy;
    if (e->gain <= e->limit) { // false where one is not a number
        return TREACLE_OK;
    }
    return check_fail(
        f->ctx, TREACLE_ERR_DIVERGED,
        "in the step from %g s to %g s liquid and bodies gained %g J more than the "
        "work done on them (gravity %g J, forces %g J, surface tension %g J, solids %g "
        "J, contacts %g J); at most %g J can be an error of the step",
        f->time, f->time + f->dt, e->gain, e->gravity, e->forces, e->tension, e->solids,
        e->contacts, e->limit);
}

// The flow alone is judged, from its first part to its last. Gel may give back what it has stored.
treacle_status energy_account_end_on_grid(const step_frame* f, const body_state* bodies,
                                          const energy_account* account) {
    TREACLE_ASSERT(f->stats != NULL && f->dt > 0.0);
    treacle_energy_stats* out = &f->stats->energy;
    out->kinetic = f->stats->kinetic_energy;
    out->bodies = body_set_energy(&f->setup->bodies, bodies);
    out->gravity = account->forces.pushed + account->bodies.gravity;
    out->transfer = 0.0;
    if (f->setup->has.elastic) {
        return TREACLE_OK;
    }
    judge(f, account, account->first, out);
    out->gain =
        account->level - account->first - account->forces.pushed - out->solids - out->shrinkage;
    return energy_account_refuse(f);
}

treacle_status energy_account_end(const step_frame* f, const particles* p, const body_state* bodies,
                                  const energy_account* account) {
    TREACLE_ASSERT(f->stats != NULL && f->dt > 0.0);
    treacle_energy_stats* out = &f->stats->energy;
    particle_energy end;
    TREACLE_TRY(energy_account_measure(f, p, true, &end));
    const particle_energy *begin = &account->particles.begin, *moved = &account->particles.moved;
    const particle_energy* given = &account->particles.given;
    double pushed = given->pushed + end.pushed, work = unit_of(f) * account->forces.forced;
    double fallen = moved->height - begin->height, lifted = given->height - end.height;
    out->kinetic = end.kinetic;
    out->bodies = body_set_energy(&f->setup->bodies, bodies);
    out->elastic = end.elastic;
    out->change = end.kinetic + end.elastic - begin->kinetic - begin->elastic + out->bodies -
                  account->bodies.begin + account->forces.given_push;
    out->potential = lifted - fallen - account->bodies.fallen;
    out->gravity = pushed + account->bodies.gravity;
    out->forces += work;
    out->particles = given->kinetic + given->elastic - moved->kinetic - moved->elastic;
    out->dissipation -= end.elastic - given->elastic + out->fracture;
    out->transfer +=
        end.kinetic + out->bodies - account->level + account->forces.pushed - pushed - work;
    out->advection = moved->kinetic + moved->elastic - begin->kinetic - begin->elastic +
                     out->gravity - fallen - account->bodies.fallen;
    out->density = lifted;
    out->error = out->change + out->potential - explained(out);
    judge(f, account, begin->kinetic + begin->elastic + account->bodies.begin, out);
    return energy_account_refuse(f);
}
