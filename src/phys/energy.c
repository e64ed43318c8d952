// The account of energy in the flow.
//
// A solve finds u from u*, with M the masses of faces, K = D^T W D the stress, B the divergence of
// what is open, e the stress that was there before, and v the velocities of fixed faces:
//
//     M (u - u*) + K u + B^T p + D^T e = 0 at unknown faces,   B u = -B_s v
//
// Times u, and with u . M (u - u*) = [K]_u - [K]_u* + |u - u*|_M^2 / 2,
//
//     |u|^2/2 - |u*|^2/2 + |u - u*|^2/2 + (D u) W (D u) + (D u) . e =
//         v . D^T (W D u + e)  +  p . B_s v                                             [energy.1]
//
// On the left what kinetic energy gains, what the implicit step takes, what viscosity takes and
// what elastic stress stores; on the right the traction and the pressure of walls times their
// velocity. Each term is a sum of its own over the very weights of the solve, none is what is left
// over; so the two sides differ by the error of the solve alone. Strain and traction need one pass:
// with v the velocity at fixed faces and zero elsewhere, v . D^T s = (D v) . s.
//
// Walls that liquid slips along with a slip length have the pull d (u - v) [visc.5]: they take
// d (u - v)^2 and do d (v - u) v. Bodies move with the solve: they are unknowns with masses of
// their own and stand on the left. Liquid that sticks to them counts as liquid, with the body's
// velocity.
//
// In the projection [press.1] the masses are M = A rho between liquid cells and A rho theta at the
// surface: those for which u - u* = -M^-1 A grad x holds. A released wall [sep.2] is a face of mass
// A^2/k with the pressure -b behind it; there                                           [energy.2]
//
//     walls = sum over faces of (1 - A) v (x_above - x_below) - sum over released walls of A (x v_w
//             + b u)
//
// Forces have added q to u* before: u* = u^n + q. Their work is taken with the mean of the velocity
// before and after the step, q . M (u^n + u)/2: so it is exact in free fall and zero at rest. What
// the implicit step takes is then (u - u*) . M (u - u^n)/2 = |u - u*|^2/2 + q . M (u - u*)/2.
//                                                                                       [energy.3]
//
// Emitters give their faces a velocity v before all solves. That is an impulse, too, and its work
// is
//
//     (v - u*) . M (u^n + v)/2                                                          [energy.7]
//
// Staggering: masses, velocities and pushes on faces, normal strains at cells, shear at edges.
// Properties that tests check: the identity in every kind of flow; dissipation of a shear wave; the
// work of a piston; the bits do not depend on threads.
#include "phys/energy.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "phys/separation.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int step_of[AXES] = {1, SIDE, SIDE* SIDE};

// Sums of a tile.
enum {
    SUM_BEFORE,
    SUM_AFTER,
    SUM_LOST,
    SUM_PUSH_BEFORE,
    SUM_PUSH_AFTER,
    SUM_PUSH_SQUARE,
    SUM_DISSIPATION,
    SUM_ELASTIC,
    SUM_SOLIDS,
    SUM_SHRINKAGE,
    SUM_COUNT
};

typedef struct energy_job {
    const energy_flow* flow;
    const energy_projection* projected;
    double (*sum)[SUM_COUNT];  // [tiles]
    uint8_t* has_moving_faces; // [tiles + 1], a fixed face that moves by script
    int which;
} energy_job;

static double push_at(const energy_push* push, int a, int64_t face) {
    return push->face[a] != NULL ? (double)push->face[a][face] : push->uniform[a];
}

// A face of mass m that went from u to w.
static void add_face(double m, double u, double w, double push, double sum[SUM_COUNT]) {
    double half = 0.5 * m, change = w - u;
    sum[SUM_BEFORE] += half * (u * u);
    sum[SUM_AFTER] += half * (w * w);
    sum[SUM_LOST] += half * (change * change);
    sum[SUM_PUSH_BEFORE] += m * push * u;
    sum[SUM_PUSH_AFTER] += m * push * w;
    sum[SUM_PUSH_SQUARE] += half * (push * push);
}

static double sum_of_tile(void* data, int64_t tile) {
    const energy_job* job = data;
    return job->sum[tile][job->which];
}

static void total(energy_job* job, const tile_map* map, energy_part* out) {
    double* const to[SUM_COUNT] = {[SUM_BEFORE] = &out->before,
                                   [SUM_AFTER] = &out->after,
                                   [SUM_LOST] = &out->lost,
                                   [SUM_PUSH_BEFORE] = &out->push_before,
                                   [SUM_PUSH_AFTER] = &out->push_after,
                                   [SUM_PUSH_SQUARE] = &out->push_square,
                                   [SUM_DISSIPATION] = &out->dissipation,
                                   [SUM_ELASTIC] = &out->elastic,
                                   [SUM_SOLIDS] = &out->solids,
                                   [SUM_SHRINKAGE] = &out->shrinkage};
    for (job->which = 0; job->which < SUM_COUNT; ++job->which) {
        *to[job->which] += tile_sum(map, sum_of_tile, job);
    }
}

// --- flows with viscosity -----------------------------------------------------------------------

// The velocity of a fixed face, of the solid or of the body that has it.
static double fixed_velocity(const energy_flow* flow, int a, int64_t face) {
    const stress_weights* weights = flow->weights;
    if (stress_face_state(weights, a, face) != FACE_OF_BODY) {
        return stress_given_velocity(flow->liquid, a, face, (double)flow->before[a][face]);
    }
    int32_t body = (int32_t)weights->owner[a][face] - 1;
    return body_coupling_speed(flow->bodies, flow->liquid, body, flow->motion, a, face);
}

// A wall that moves by script pulls at a face beside it.
static void add_pull(const energy_flow* flow, int a, int64_t face, double u,
                     double sum[SUM_COUNT]) {
    const stress_params* p = flow->liquid;
    double drag = (double)flow->weights->drag[a][face];
    bool is_body = p->bodies != NULL && p->cell_solid_id[face] >= p->bodies->first_solid;
    if (drag > 0.0 && !is_body) {
        double v = stress_slip_velocity(p, a, face);
        sum[SUM_DISSIPATION] += drag * ((u - v) * (u - v));
        sum[SUM_SOLIDS] += drag * (v - u) * v;
    }
}

static void add_unknown(const energy_flow* flow, int a, int64_t face, double u,
                        double sum[SUM_COUNT]) {
    const stress_weights* weights = flow->weights;
    double mass = (double)weights->mass[a][face];
    if (weights->drag[a] != NULL) {
        mass -= (double)weights->drag[a][face];
        add_pull(flow, a, face, u, sum);
    }
    if (mass > 0.0) {
        add_face(mass, (double)flow->before[a][face], u, push_at(flow->push, a, face), sum);
    }
}

// Fixed faces get their velocity in u; sums over faces.
static void sum_faces(void* data, int64_t begin, int64_t end) {
    const energy_job* job = data;
    const energy_flow* flow = job->flow;
    for (int64_t t = begin; t < end; ++t) {
        double* sum = job->sum[t];
        for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
            int a = n / TILE_CELLS;
            int64_t face = t * TILE_CELLS + n % TILE_CELLS;
            double* u = &flow->u[t * VISCOSITY_BLOCK + n];
            if (!(flow->weights->fixed[face] >> a & 1)) {
                add_unknown(flow, a, face, *u, sum);
                continue;
            }
            *u = fixed_velocity(flow, a, face);
            if (stress_face_state(flow->weights, a, face) != FACE_OF_BODY) {
                job->has_moving_faces[t] |= *u != 0.0;
            } else if (flow->weights->body_liquid[a][face] > 0.0f) {
                add_face((double)flow->weights->body_liquid[a][face], (double)flow->before[a][face],
                         *u, push_at(flow->push, a, face), sum);
            }
        }
        for (int64_t i = t * TILE_CELLS; flow->p != NULL && i < (t + 1) * TILE_CELLS; ++i) {
            double asked =
                flow->source != NULL && flow->p[i] != 0.0 ? (double)flow->source[i] : 0.0;
            sum[SUM_SOLIDS] -= flow->p[i] * (flow->h[i] - asked);
            sum[SUM_SHRINKAGE] -= flow->p[i] * asked;
        }
    }
}

// One component around a tile, row by row; the dummy tile has no velocity.
static void gather_component(const energy_job* job, tile_ix tile, int a, double out[VALUES]) {
    const energy_flow* flow = job->flow;
    const tile_map* map = flow->liquid->map;
    for (int z = -1; z <= TILE_SIZE; ++z) {
        for (int y = -1; y <= TILE_SIZE; ++y) {
            const tile_ix* from = block_row_tiles(map, tile, y, z);
            const double* row = flow->u + a * TILE_CELLS + block_row_at(y, z);
            const double *low = row + (int64_t)from[0] * VISCOSITY_BLOCK,
                         *here = row + (int64_t)from[1] * VISCOSITY_BLOCK,
                         *high = row + (int64_t)from[2] * VISCOSITY_BLOCK;
            double* to = out + BLOCK_INDEX(1, 1, -1, y, z);
            to[0] = from[0] < map->count ? low[TILE_SIZE - 1] : 0.0;
            for (int x = 0; x < TILE_SIZE; ++x) {
                to[1 + x] = from[1] < map->count ? here[x] : 0.0;
            }
            to[1 + TILE_SIZE] = from[2] < map->count ? high[0] : 0.0;
        }
    }
}

// The same of fixed faces that move by script alone.
static void gather_moving(const energy_job* job, tile_ix tile, int a, double out[VALUES]) {
    const energy_flow* flow = job->flow;
    const tile_map* map = flow->liquid->map;
    gather_component(job, tile, a, out);
    for (int n = 0; n < VALUES; ++n) {
        int x = n % SIDE - 1, y = n / SIDE % SIDE - 1, z = n / SIDE / SIDE - 1;
        int64_t t = block_row_tiles(map, tile, y, z)[block_side_of(x) + 1];
        int64_t face = t * TILE_CELLS + block_row_at(y, z) + (x & 7);
        out[n] = stress_face_state(flow->weights, a, face) == FACE_GIVEN ? out[n] : 0.0;
    }
}

// Faces beyond sides that move are fixed faces, too, that move by script [visc.6].
static bool is_at_belt(const grid_domain* domain, tile_coord tile) {
    bool is_any = false;
    for (int b = 0; b < AXES && domain->has_belts; ++b) {
        int first = tile.at[b] * TILE_SIZE;
        is_any = is_any || first == 0 || first + TILE_SIZE >= domain->cells[b];
    }
    return is_any;
}

static void hold_sides(const grid_domain* domain, tile_coord tile, int a, double out[VALUES]) {
    for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
        const int x[AXES] = {n % SIDE - 1, n / SIDE % SIDE - 1, n / SIDE / SIDE - 1};
        int at[AXES];
        double u;
        for (int b = 0; b < AXES; ++b) {
            at[b] = domain->is_active[b] ? tile.at[b] * TILE_SIZE + x[b] : 0;
        }
        if (grid_domain_side_u(domain, a, at, &u)) {
            out[BLOCK_INDEX(1, 1, x[0], x[1], x[2])] = u;
        }
    }
}

// Strains of a cell and of the edges that it owns, times h.
static void strain_at(double (*u)[VALUES], int at, double normal[AXES], double shear[AXES]) {
    for (int c = 0; c < AXES; ++c) {
        int a = (c + 1) % AXES, b = (c + 2) % AXES;
        normal[c] = u[c][at + step_of[c]] - u[c][at];
        shear[c] = (u[a][at] - u[a][at - step_of[b]]) + (u[b][at] - u[b][at - step_of[a]]);
    }
}

// Whether a cell and the edges that it owns have no weight.
static bool is_without_stress(const stress_weights* weights, size_t i) {
    return !(weights->cell[i] > 0.0f) && !(weights->edge[0][i] > 0.0f) &&
           !(weights->edge[1][i] > 0.0f) && !(weights->edge[2][i] > 0.0f);
}

static void add_strains(const energy_job* job, tile_ix t, double (*u)[VALUES],
                        double (*moving)[VALUES]) {
    const stress_weights* weights = job->flow->weights;
    const tensor_field* stress = job->flow->liquid->stress;
    const float* swell = job->flow->swell;
    const grid_domain* domain = job->flow->liquid->domain;
    const bool* is_active = domain->is_active;
    double axes = (double)is_active[0] + (double)is_active[1] + (double)is_active[2];
    double* sum = job->sum[t];
    double dissipation = sum[SUM_DISSIPATION], elastic = sum[SUM_ELASTIC], solids = sum[SUM_SOLIDS];
    for (int q = 0; q < TILE_CELLS; ++q) {
        size_t i = (size_t)t * TILE_CELLS + (size_t)q;
        int at =
            BLOCK_INDEX(1, 1, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE, q / TILE_SIZE / TILE_SIZE);
        double normal[AXES], shear[AXES], normal_v[AXES] = {0}, shear_v[AXES] = {0};
        double free = swell != NULL ? (double)swell[i] * domain->h / axes : 0.0; // [shrink.3]
        if (stress == NULL && is_without_stress(weights, i)) {
            continue;
        }
        strain_at(u, at, normal, shear);
        if (moving != NULL) {
            strain_at(moving, at, normal_v, shear_v);
        }
        for (int a = 0; a < AXES; ++a) {
            double sheet = weights->sheet_cell != NULL ? (double)weights->sheet_cell[i] : 0.0;
            double pull = 2.0 * ((double)weights->cell[i] - sheet) * normal[a];
            double drag = (double)weights->edge[a][i] * shear[a];
            double pull_before = stress != NULL ? (double)stress->cell[a][i] : 0.0;
            double drag_before = stress != NULL ? (double)stress->edge[a][i] : 0.0;
            double shrunk = is_active[a] ? free * (pull + pull_before) : 0.0;
            sum[SUM_SHRINKAGE] -= shrunk;
            dissipation += pull * normal[a] + drag * shear[a] - shrunk;
            elastic += pull_before * normal[a] + drag_before * shear[a];
            solids += (pull + pull_before) * normal_v[a] + (drag + drag_before) * shear_v[a];
        }
    }
    sum[SUM_DISSIPATION] = dissipation;
    sum[SUM_ELASTIC] = elastic;
    sum[SUM_SOLIDS] = solids;
}

static bool has_moving_around(const energy_job* job, tile_ix t) {
    bool has_moving_faces = false;
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        has_moving_faces =
            has_moving_faces || job->has_moving_faces[job->flow->liquid->map->neighbour[t][n]] != 0;
    }
    return has_moving_faces;
}

// Whether a tile has stress somewhere.
static bool has_stress(const energy_flow* flow, int64_t t) {
    const stress_weights* w = flow->weights;
    int64_t first = t * TILE_CELLS;
    return flow->liquid->stress != NULL || tile_has_positive(w->cell + first) ||
           tile_has_positive(w->edge[0] + first) || tile_has_positive(w->edge[1] + first) ||
           tile_has_positive(w->edge[2] + first);
}

static void sum_strains(void* data, int64_t begin, int64_t end) {
    const energy_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        if (!has_stress(job->flow, t)) {
            continue;
        }
        double u[AXES][VALUES], moving[AXES][VALUES];
        const grid_domain* domain = job->flow->liquid->domain;
        tile_coord coord = job->flow->liquid->map->coord[t];
        bool has_belt = is_at_belt(domain, coord);
        bool has_moving_faces = has_belt || has_moving_around(job, (tile_ix)t);
        for (int a = 0; a < AXES; ++a) {
            gather_component(job, (tile_ix)t, a, u[a]);
            if (has_moving_faces) {
                gather_moving(job, (tile_ix)t, a, moving[a]);
            }
            if (has_belt) {
                hold_sides(domain, coord, a, u[a]);
                hold_sides(domain, coord, a, moving[a]);
            }
        }
        add_strains(job, (tile_ix)t, u, has_moving_faces ? moving : NULL);
    }
}

void energy_add_body(const double mass[BODY_MOTIONS][BODY_MOTIONS], const double* before,
                     const double* after, energy_part* out) {
    TREACLE_ASSERT(before != NULL && after != NULL && before != after);
    double change[BODY_MOTIONS], impulse[BODY_MOTIONS];
    for (int n = 0; n < BODY_MOTIONS; ++n) {
        change[n] = after[n] - before[n];
    }
    mat6_multiply(mass, before, impulse);
    out->bodies_before += 0.5 * mat6_dot(before, impulse);
    mat6_multiply(mass, after, impulse);
    out->bodies_after += 0.5 * mat6_dot(after, impulse);
    mat6_multiply(mass, change, impulse);
    out->bodies_lost += 0.5 * mat6_dot(change, impulse);
}

static void add_bodies(const energy_flow* flow, energy_part* out) {
    for (int32_t b = 0; b < flow->bodies->count; ++b) {
        const flow_bodies* bodies = flow->liquid->bodies;
        double after[BODY_MOTIONS];
        body_coupling_motion(flow->bodies, b, flow->motion, after);
        energy_add_body((const double(*)[BODY_MOTIONS])bodies->body[b].mass, bodies->at[b].before,
                        after, out);
    }
    out->dissipation += body_coupling_drag(flow->bodies, flow->liquid, flow->u, flow->motion);
}

treacle_status energy_of_flow(const energy_flow* flow, energy_part* out) {
    TREACLE_ASSERT(flow->u != NULL && flow->before != NULL);
    TREACLE_ASSERT((flow->p == NULL) == (flow->h == NULL));
    TREACLE_ASSERT(flow->push != NULL);
    TREACLE_ASSERT(flow->liquid->reference_density > 0.0);
    const tile_map* map = flow->liquid->map;
    size_t tiles = (size_t)map->count + 1;
    energy_job job = {.flow = flow};
    *out = (energy_part){0};
    TREACLE_TRY(
        alloc_zero(map->ctx, tiles, sizeof(*job.sum), "energies of tiles", (void**)&job.sum));
    treacle_status status =
        alloc_zero(map->ctx, tiles, 1, "energies of tiles", (void**)&job.has_moving_faces);
    if (status == TREACLE_OK) {
        tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 4}, sum_faces, &job);
        tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4}, sum_strains, &job);
        total(&job, map, out);
        add_bodies(flow, out);
        alloc_free(map->ctx, job.has_moving_faces, tiles);
    }
    alloc_free(map->ctx, job.sum, tiles * sizeof(*job.sum));
    return status;
}

// --- projections --------------------------------------------------------------------------------

// What goes through the part of a face whose velocity is given.
static double given_flux(const energy_projection* flow, int a, int64_t face, bool is_prescribed) {
    const projection_params* params = flow->system->params;
    double open = (double)params->face_open.at[a][face];
    bool is_body = flow->solid[a] != NULL && flow->solid[a][face] != SOLID_NONE &&
                   flow->solid[a][face] >= flow->first_body;
    bool is_still = params->face_solid_u.at[a] == NULL || is_body;
    double carried = is_still ? 0.0 : (1.0 - open) * (double)params->face_solid_u.at[a][face];
    return carried + (is_prescribed ? open * (double)flow->after[a][face] : 0.0);
}

// The fraction of the way between two cells that is in the liquid.
static double wet_way(float low, float high) {
    return low < 0.0f && high < 0.0f ? 1.0
           : low < 0.0f              ? (double)projection_theta(low, high)
           : high < 0.0f             ? (double)projection_theta(high, low)
                                     : 0.0;
}

static void add_projected(const energy_job* job, tile_ix t, int a, const float* phi,
                          const double* x) {
    const energy_projection* flow = job->projected;
    const projection_params* params = flow->system->params;
    double* sum = job->sum[t];
    for (int q = 0; q < TILE_CELLS; ++q) {
        int64_t face = (int64_t)t * TILE_CELLS + q;
        int at =
            BLOCK_INDEX(1, 1, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE, q / TILE_SIZE / TILE_SIZE);
        float low = phi[at - step_of[a]], high = phi[at];
        double way = wet_way(low, high);
        if (!(way > 0.0)) {
            continue;
        }
        const float* rho = params->face_rho.at[a];
        double density = rho != NULL && rho[face] > 0.0f ? (double)rho[face] : 1.0;
        double open = (double)params->face_open.at[a][face];
        if (open > 0.0 && isfinite(density)) {
            add_face(open * density * way, (double)flow->before[a][face],
                     (double)flow->after[a][face], push_at(flow->push, a, face), sum);
        }
        double above = high < 0.0f ? x[at] : 0.0, below = low < 0.0f ? x[at - step_of[a]] : 0.0;
        sum[SUM_SOLIDS] += given_flux(flow, a, face, isinf(density)) * (above - below);
    }
}

// What shrinks does the work of its pressure.
static void add_source(const energy_job* job, tile_ix t) {
    const projection_params* params = job->projected->system->params;
    int64_t first = (int64_t)t * TILE_CELLS;
    for (int64_t i = first; params->cell_source != NULL && i < first + TILE_CELLS; ++i) {
        double x = params->cell_phi[i] < 0.0f ? job->projected->cell_impulse[i] : 0.0;
        job->sum[t][SUM_SHRINKAGE] += x * (double)params->cell_source[i];
    }
}

static void sum_projected(void* data, int64_t begin, int64_t end) {
    const energy_job* job = data;
    const projection* system = job->projected->system;
    for (int64_t t = begin; t < end; ++t) {
        float phi[VALUES];
        double x[VALUES];
        projection_gather(system, (tile_ix)t, job->projected->cell_impulse, phi, x);
        add_source(job, (tile_ix)t);
        for (int a = 0; a < AXES; ++a) {
            if (system->params->domain->is_active[a]) {
                add_projected(job, (tile_ix)t, a, phi, x);
            }
        }
    }
}

// Walls that have let go [energy.2].
static void add_released(const energy_projection* flow, energy_part* out) {
    const contact_set* contacts = flow->system->params->contacts;
    double sum[SUM_COUNT] = {0};
    for (int64_t i = 0; contacts != NULL && i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        if (w->is_released && !w->is_shallow) {
            double area = (double)w->area, mass = area * area / (double)w->conductance;
            double push = 0.0;
            for (int a = 0; a < AXES; ++a) {
                push += (double)w->normal[a] * flow->push->uniform[a];
            }
            add_face(mass, w->u_before, w->u_after, push, sum);
            sum[SUM_SOLIDS] -=
                area * (flow->cell_impulse[w->cell] * w->u_solid + w->pull * w->u_after);
        }
    }
    out->before += sum[SUM_BEFORE];
    out->after += sum[SUM_AFTER];
    out->lost += sum[SUM_LOST];
    out->push_before += sum[SUM_PUSH_BEFORE];
    out->push_after += sum[SUM_PUSH_AFTER];
    out->push_square += sum[SUM_PUSH_SQUARE];
    out->solids += sum[SUM_SOLIDS];
}

treacle_status energy_of_projection(const energy_projection* flow, energy_part* out) {
    TREACLE_ASSERT(flow->system->params != NULL && flow->push != NULL);
    TREACLE_ASSERT(flow->cell_impulse != NULL);
    TREACLE_ASSERT(flow->before[0] != NULL && flow->after[0] != NULL &&
                   flow->before[0] != flow->after[0]);
    const tile_map* map = flow->system->params->map;
    size_t tiles = (size_t)map->count + 1;
    energy_job job = {.projected = flow};
    *out = (energy_part){0};
    TREACLE_TRY(
        alloc_zero(map->ctx, tiles, sizeof(*job.sum), "energies of tiles", (void**)&job.sum));
    tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4}, sum_projected, &job);
    total(&job, map, out);
    add_released(flow, out);
    alloc_free(map->ctx, job.sum, tiles * sizeof(*job.sum));
    return TREACLE_OK;
}

// --- forces --------------------------------------------------------------------------------------

static double forces_of_tile(void* data, int64_t t) {
    const energy_forces* forces = data;
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
            double push = push_at(forces->push, a, i), u = (double)forces->face_u[a][i];
            u -= forces->is_pushed ? push : 0.0;
            sum += (double)forces->mass[a][i] * (push - forces->push->uniform[a]) * u;
        }
    }
    return 0.5 * sum;
}

double energy_of_forces(const energy_forces* forces) {
    TREACLE_ASSERT(forces->push != NULL && forces->mass != NULL && forces->face_u != NULL);
    energy_forces job = *forces;
    return tile_sum(forces->map, forces_of_tile, &job);
}

// --- given velocities ----------------------------------------------------------------------------

static double given_of_tile(void* data, int64_t t) {
    const energy_given* given = data;
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
            double u = (double)given->before[a][i], v = (double)given->after[a][i];
            sum += (double)given->mass[a][i] * (v - u) * (u - push_at(given->push, a, i) + v);
        }
    }
    return 0.5 * sum;
}

double energy_of_given(const energy_given* given) {
    TREACLE_ASSERT(given->push != NULL && given->mass != NULL);
    TREACLE_ASSERT(given->before != NULL && given->after != NULL && given->before != given->after);
    energy_given job = *given;
    return tile_sum(given->map, given_of_tile, &job);
}
