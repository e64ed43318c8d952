// Contacts and joints of rigid bodies.
//
// Velocities are ODE's: a world is built from our own state every step, contacts in a fixed order,
// stepped once with dWorldStep, and taken down again; so that a resumed run has the same bits. The
// poses are then advanced by our own arithmetic (phys/rigid_body.c), since ODE's uses the sine of
// the C library. ODE's gravity is zero: it comes with the flow.
//
// A step is solved twice where something touches or is joined. Velocities come from contacts that
// ask for nothing but that bodies do not approach: nothing is gained by them but what restitution
// keeps. Places come from velocities that also push apart what has sunk in, by a fraction of a cell
// at most; these are then forgotten. If they stayed, what sinks in by a little would leave with a
// speed of that little a step, the faster the shorter the step [rigid.8].
//
// A body between solids that close on it cannot obey both. Contacts give way by a fraction of the
// body's own inverse mass: so that impulses stay bounded, and bodies are pressed in rather than
// shot [rigid.9].
//
// Contacts are ours, too, since a body may have any shape: points on the surface of a body that
// are inside another body, a solid or a side are contacts, with the normal and the depth of the
// other's distance [rigid.5]. Of each pair only a few that are far
// apart are kept.
#include "step/body_world.h"

#include <math.h>
#include <ode/ode.h>
#include <string.h>

#include "base/alloc.h"
#include "step/ode_guard.h"

enum { CONTACTS_KEPT = 4, NEAR_MAX = 1024 };

// Depth in cells that a contact may have, and the speed in cells a step that pushes out the rest.
static const double contact_layer = 0.01, correction = 0.25;
static const double drift_fraction = 0.2; // of what bodies have drifted apart, a step

typedef struct contact {
    vec3 x, normal; // normal out of the other
    double depth;
} contact;

// A pair of a body and something else: another body, a scripted solid, or a side.
typedef struct contact_pair {
    int body;
    int other; // index of a solid; -1: a side
    int axis, high;
} contact_pair;

typedef struct stepper {
    treacle_context* ctx;
    const body_world* world;
    body_state* states;
    solid_pose* poses; // [bodies]
    dWorldID ode;
    dThreadingImplementationID threading; // of this world alone: ODE's default is the process's
    dJointGroupID contacts;
    bool pushes_bodies; // bodies are pushed apart, too
    int touch_count;    // contacts and joints
    double give;        // of contacts, over the inverse masses
    bool is_done;       // else ODE lacked memory
    dBodyID* body;      // [bodies]
    dBodyID* moved;     // [scripted solids], NULL where nothing touches it
    bool* is_held;      // [bodies], by a contact or a joint
} stepper;

// --- finding contacts ----------------------------------------------------------------------------

static double side_distance(const stepper* s, const contact_pair* pair, vec3 x) {
    const grid_domain* domain = s->world->domain;
    double low = domain->origin[pair->axis];
    double high = low + domain->h * domain->cells[pair->axis];
    return pair->high ? high - x.at[pair->axis] : x.at[pair->axis] - low;
}

static const solid_pose* pose_of(const stepper* s, int other) {
    int first = s->world->first_body;
    return other >= first ? &s->poses[other - first] : &s->world->solids.poses[other];
}

static double distance_of(const stepper* s, const contact_pair* pair, vec3 x) {
    return pair->other < 0
               ? side_distance(s, pair, x)
               : solid_distance(&s->world->solids.solids[pair->other], pose_of(s, pair->other), x);
}

static vec3 normal_of(const stepper* s, const contact_pair* pair, vec3 x) {
    if (pair->other < 0) {
        vec3 n = {{0.0, 0.0, 0.0}};
        n.at[pair->axis] = pair->high ? -1.0 : 1.0;
        return n;
    }
    vec3 n = solid_normal(&s->world->solids.solids[pair->other], pose_of(s, pair->other), x,
                          s->world->domain->h);
    for (int a = 0; a < AXES; ++a) {
        n.at[a] = s->world->domain->is_active[a] ? n.at[a] : 0.0;
    }
    return vec3_normalise(n);
}

// The candidate that is farthest from those chosen; at first the deepest. -1 when none is left.
static int choose(const contact* found, int count, const contact* kept, int kept_count,
                  double least_gap) {
    int best = -1;
    double most = kept_count == 0 ? 0.0 : least_gap;
    for (int i = 0; i < count; ++i) {
        double value = kept_count == 0 ? found[i].depth : INFINITY;
        for (int k = 0; k < kept_count; ++k) {
            value = fmin(value, vec3_length(vec3_sub(found[i].x, kept[k].x)));
        }
        if (value > most) {
            most = value;
            best = i;
        }
    }
    return best;
}

// Points of the body inside the other, as many as are worth keeping.
static int find_contacts(const stepper* s, const contact_pair* pair, contact* kept) {
    const rigid_body* body = &s->world->set->bodies[pair->body];
    const solid_pose* pose = &s->poses[pair->body];
    contact found[NEAR_MAX];
    int count = 0, kept_count = 0;
    for (int i = 0; i < body->sample_count && count < NEAR_MAX; ++i) {
        vec3 x = vec3_add(pose->place, mat3_apply(&pose->rotate, body->samples[i]));
        double distance = distance_of(s, pair, x);
        if (distance < 0.0) {
            found[count++] = (contact){.x = x, .depth = -distance};
        }
    }
    while (kept_count < CONTACTS_KEPT) {
        int best = choose(found, count, kept, kept_count, 0.1 * body->radius);
        if (best < 0) {
            break;
        }
        kept[kept_count] = found[best];
        kept[kept_count].normal = normal_of(s, pair, found[best].x);
        kept_count += 1;
    }
    return kept_count;
}

// --- ODE -----------------------------------------------------------------------------------------

static void set_pose(dBodyID body, const solid_pose* pose) {
    dMatrix3 r;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            r[4 * i + j] = pose->rotate.at[i][j];
        }
        r[4 * i + 3] = 0.0;
    }
    dBodySetPosition(body, pose->place.at[0], pose->place.at[1], pose->place.at[2]);
    dBodySetRotation(body, r);
    dBodySetLinearVel(body, pose->velocity.at[0], pose->velocity.at[1], pose->velocity.at[2]);
    dBodySetAngularVel(body, pose->spin.at[0], pose->spin.at[1], pose->spin.at[2]);
}

static void add_body(stepper* s, int i) {
    const body_mass* own = &s->world->set->bodies[i].mass;
    const mat3* m = &own->inertia;
    dMass mass;
    dMassSetParameters(&mass, own->mass, 0.0, 0.0, 0.0, m->at[0][0], m->at[1][1], m->at[2][2],
                       m->at[0][1], m->at[0][2], m->at[1][2]);
    s->body[i] = dBodyCreate(s->ode);
    dBodySetMass(s->body[i], &mass);
    solid_pose start = body_pose(&s->world->set->start[i]);
    set_pose(s->body[i], &start);
}

// Joints are made where bodies were at the start, and bodies are moved then: so ODE sees by how
// much they have drifted apart.
static void add_joint(stepper* s, const body_joint* joint) {
    dBodyID a = s->body[joint->body], b = joint->to >= 0 ? s->body[joint->to] : NULL;
    const double *at = joint->anchor.at, *axis = joint->axis.at;
    dJointID made;
    s->is_held[joint->body] = true;
    if (joint->to >= 0) {
        s->is_held[joint->to] = true;
    }
    if (joint->kind == TREACLE_JOINT_HINGE) {
        made = dJointCreateHinge(s->ode, NULL);
        dJointAttach(made, a, b);
        dJointSetHingeAnchor(made, at[0], at[1], at[2]);
        dJointSetHingeAxis(made, axis[0], axis[1], axis[2]);
    } else if (joint->kind == TREACLE_JOINT_SLIDER) {
        made = dJointCreateSlider(s->ode, NULL);
        dJointAttach(made, a, b);
        dJointSetSliderAxis(made, axis[0], axis[1], axis[2]);
    } else {
        made = dJointCreateFixed(s->ode, NULL);
        dJointAttach(made, a, b);
        dJointSetFixed(made);
    }
}

// The body of the other side of a contact; NULL where it stands still.
static dBodyID body_of(stepper* s, int other) {
    int first = s->world->first_body;
    if (other < 0 || other >= first) {
        return other < 0 ? NULL : s->body[other - first];
    }
    if (s->moved[other] == NULL) {
        s->moved[other] = dBodyCreate(s->ode);
        dBodySetKinematic(s->moved[other]);
        set_pose(s->moved[other], &s->world->solids.poses[other]);
    }
    return s->moved[other];
}

static void add_contacts(stepper* s, const contact_pair* pair) {
    contact kept[CONTACTS_KEPT];
    int count = find_contacts(s, pair, kept), first = s->world->first_body;
    const rigid_body* body = &s->world->set->bodies[pair->body];
    double friction = body->friction, bounce = body->restitution;
    double inverse_mass = 1.0 / body->mass.mass;
    if (pair->other >= first) {
        const rigid_body* other = &s->world->set->bodies[pair->other - first];
        friction = sqrt(friction * other->friction);
        bounce = fmax(bounce, other->restitution);
        inverse_mass += 1.0 / other->mass.mass;
    }
    if (count > 0) {
        s->is_held[pair->body] = true;
    }
    if (count > 0 && pair->other >= first) {
        s->is_held[pair->other - first] = true;
    }
    for (int i = 0; i < count; ++i) {
        dContact c;
        memset(&c, 0, sizeof(c));
        c.surface.mode = dContactApprox1 | dContactSoftCFM | (bounce > 0.0 ? dContactBounce : 0);
        c.surface.soft_cfm = s->give * s->world->dt * inverse_mass;
        c.surface.mu = fmin(friction, 1e6);
        c.surface.bounce = bounce;
        c.surface.bounce_vel = 0.5 * s->world->domain->h / s->world->dt * correction;
        c.geom.depth = kept[i].depth;
        for (int a = 0; a < AXES; ++a) {
            c.geom.pos[a] = kept[i].x.at[a];
            c.geom.normal[a] = kept[i].normal.at[a];
        }
        dJointID joint = dJointCreateContact(s->ode, s->contacts, &c);
        dJointAttach(joint, s->body[pair->body], body_of(s, pair->other));
        s->touch_count += 1;
    }
}

static bool are_near(const stepper* s, int i, int j) {
    const body_set* set = s->world->set;
    double reach = set->bodies[i].radius + set->bodies[j].radius;
    return vec3_length(vec3_sub(s->poses[i].place, s->poses[j].place)) < reach;
}

static void add_sides(stepper* s, int i) {
    const grid_domain* domain = s->world->domain;
    for (int a = 0; a < AXES; ++a) {
        for (int high = 0; high < 2; ++high) {
            contact_pair pair = {.body = i, .other = -1, .axis = a, .high = high};
            bool is_closed = domain->is_active[a] && domain->sides[a][high] != TREACLE_SIDE_OPEN;
            if (is_closed &&
                side_distance(s, &pair, s->poses[i].place) < s->world->set->bodies[i].radius) {
                add_contacts(s, &pair);
            }
        }
    }
}

static void add_all_contacts(stepper* s) {
    const body_world* world = s->world;
    for (int i = 0; i < world->set->count; ++i) {
        double radius = world->set->bodies[i].radius;
        add_sides(s, i);
        for (int k = 0; k < world->first_body; ++k) {
            contact_pair pair = {.body = i, .other = k};
            if (distance_of(s, &pair, s->poses[i].place) < radius) {
                add_contacts(s, &pair);
            }
        }
        for (int k = 0; k < world->set->count; ++k) {
            if (k != i && are_near(s, i, k)) {
                add_contacts(s, &(contact_pair){.body = i, .other = world->first_body + k});
            }
        }
    }
}

static void open_world(stepper* s) {
    const body_world* world = s->world;
    s->ode = dWorldCreate();
    s->threading = dThreadingAllocateSelfThreadedImplementation();
    dWorldSetStepThreadingImplementation(s->ode, dThreadingImplementationGetFunctions(s->threading),
                                         s->threading);
    s->contacts = dJointGroupCreate(0);
    dWorldSetGravity(s->ode, 0.0, 0.0, 0.0);
    dWorldSetContactSurfaceLayer(s->ode, contact_layer * world->domain->h);
    dWorldSetContactMaxCorrectingVel(
        s->ode, s->pushes_bodies ? correction * world->domain->h / world->dt : 0.0);
    dWorldSetERP(s->ode, s->pushes_bodies ? drift_fraction : 0.0);
    dWorldSetCFM(s->ode, 1e-12);
    dWorldSetAutoDisableAverageSamplesCount(s->ode, 0); // memory that passes by the handlers
    for (int i = 0; i < world->set->count; ++i) {
        add_body(s, i);
    }
    for (int i = 0; i < world->set->joint_count; ++i) {
        add_joint(s, &world->set->joints[i]);
    }
    for (int i = 0; i < world->set->count; ++i) {
        set_pose(s->body[i], &s->poses[i]);
    }
}

static void read_velocities(stepper* s) {
    for (int i = 0; i < s->world->set->count; ++i) {
        const dReal *v = dBodyGetLinearVel(s->body[i]), *w = dBodyGetAngularVel(s->body[i]);
        for (int a = 0; a < AXES; ++a) {
            s->states[i].velocity[a] = v[a];
            s->states[i].spin[a] = w[a];
        }
    }
}

static void step_world(void* data) {
    stepper* s = data;
    s->touch_count = s->world->set->joint_count;
    memset(s->moved, 0, (size_t)s->world->first_body * sizeof(*s->moved));
    open_world(s);
    add_all_contacts(s);
    s->is_done = dWorldStep(s->ode, s->world->dt) != 0;
    if (s->is_done) {
        read_velocities(s);
    }
    dJointGroupDestroy(s->contacts);
    dWorldSetStepThreadingImplementation(s->ode, NULL, NULL);
    dWorldDestroy(s->ode);
    dThreadingFreeImplementation(s->threading);
}

// What ODE takes for granted.
static treacle_status check_input(const stepper* s) {
    bool is_sound = s->world->dt > 0.0 && isfinite(s->world->dt);
    for (int i = 0; i < s->world->set->count && is_sound; ++i) {
        is_sound = body_is_finite(&s->states[i]);
    }
    return is_sound ? TREACLE_OK
                    : check_fail(s->ctx, TREACLE_ERR_DIVERGED,
                                 "a body is nowhere before its contacts are solved");
}

// Velocities after contacts and joints: of the states, or, to push bodies apart, of their places.
// Contacts that hold a body many times over can be beyond ODE's solver, which then leaves some of
// them without a force; so does what gives way more.
static treacle_status run_world(stepper* s, bool pushes_bodies) {
    static const double give[] = {0.02, 0.1, 0.5};
    ode_report report = {.messages = 1};
    TREACLE_TRY(check_input(s));
    ode_guard_start();
    s->pushes_bodies = pushes_bodies;
    for (size_t i = 0; i < sizeof(give) / sizeof(give[0]) && report.messages > 0; ++i) {
        s->give = give[i];
        ode_guard_run(s->ctx, step_world, s, &report);
        if (report.is_poor || (!report.is_broken && !s->is_done)) {
            return check_fail(s->ctx, TREACLE_ERR_MEMORY, "out of memory for contacts of bodies");
        }
    }
    return report.messages == 0 && !report.is_broken
               ? TREACLE_OK
               : check_fail(s->ctx, TREACLE_ERR_DIVERGED, "contacts of bodies have no solution: %s",
                            report.text);
}

// In a flat domain bodies stay in its plane.
static void flatten(const grid_domain* domain, body_state* state) {
    for (int a = 0; a < AXES; ++a) {
        for (int b = 0; b < AXES && !domain->is_active[a]; ++b) {
            state->velocity[b] = b == a ? 0.0 : state->velocity[b];
            state->spin[b] = b == a ? state->spin[b] : 0.0;
        }
    }
}

// Places advance by the velocities of `places`, velocities are those of the states.
static void advance(const stepper* s, const body_state* places, int i) {
    body_state moved = places[i];
    flatten(s->world->domain, &moved);
    flatten(s->world->domain, &s->states[i]);
    body_advance(&moved, s->world->dt);
    for (int a = 0; a < AXES && !s->is_held[i]; ++a) {
        moved.place[a] += s->world->fall[i].at[a]; // [path.1]
    }
    memcpy(s->states[i].place, moved.place, sizeof(moved.place));
    memcpy(s->states[i].quaternion, moved.quaternion, sizeof(moved.quaternion));
}

static treacle_status step_all(stepper* s, body_state* places) {
    bool is_sound = true;
    body_state* states = s->states;
    size_t bytes = (size_t)s->world->set->count * sizeof(*places);
    memcpy(places, states, bytes);
    TREACLE_TRY(run_world(s, false));
    if (s->touch_count > 0) {
        s->states = places;
        TREACLE_TRY(run_world(s, true));
        s->states = states;
    } else {
        memcpy(places, states, bytes);
    }
    for (int i = 0; i < s->world->set->count; ++i) {
        advance(s, places, i);
        is_sound = is_sound && body_is_finite(&states[i]);
    }
    return is_sound ? TREACLE_OK
                    : check_fail(s->ctx, TREACLE_ERR_DIVERGED, "a body has left all bounds");
}

treacle_status bodies_step(treacle_context* ctx, const body_world* world, body_state* states) {
    TREACLE_ASSERT(world->dt > 0.0 && isfinite(world->dt));
    TREACLE_ASSERT(world->set->count >= 0 &&
                   world->first_body + world->set->count == world->solids.count);
    TREACLE_ASSERT(world->set->count == 0 || (states != NULL && world->fall != NULL));
    stepper s = {.ctx = ctx, .world = world, .states = states};
    size_t count = (size_t)world->set->count, scripted = (size_t)world->first_body;
    body_state* places = NULL;
    treacle_status status;
    TREACLE_TRY_GOTO(alloc_zero(ctx, count, sizeof(*places), "contacts of bodies", (void**)&places),
                     finish);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, count, sizeof(*s.poses), "contacts of bodies", (void**)&s.poses), finish);
    TREACLE_TRY_GOTO(alloc_zero(ctx, count, sizeof(*s.body), "contacts of bodies", (void**)&s.body),
                     finish);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, scripted, sizeof(*s.moved), "contacts of bodies", (void**)&s.moved),
        finish);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, count, sizeof(*s.is_held), "contacts of bodies", (void**)&s.is_held),
        finish);
    for (size_t i = 0; i < count; ++i) {
        s.poses[i] = body_pose(&states[i]);
    }
    status = step_all(&s, places);
finish:
    alloc_free(ctx, places, count * sizeof(*places));
    alloc_free(ctx, s.poses, count * sizeof(*s.poses));
    alloc_free(ctx, s.body, count * sizeof(*s.body));
    alloc_free(ctx, s.moved, scripted * sizeof(*s.moved));
    alloc_free(ctx, s.is_held, count * sizeof(*s.is_held));
    return status;
}
