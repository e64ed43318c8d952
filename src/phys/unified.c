// Pressure and viscosity in one solve [BB08 sec. 8; LBB17].
//
//     rho (u - u*) / dt = -grad p + div tau,   div u = 0,   tau = mu (grad u + grad u^T),
//     (tau - p) n = 0 on the surface
//
// is the saddle point over u and p of [visc.1] and -dt sum p div u. The split [BB08] meets p = 0
// and tau n = 0 each on its own: a thread then stretches as if its viscosity were 2/3, a sheet half
// of what it is. With one condition for both, the normal stress 2 mu eps_nn holds the pressure.
//
// Discretised, with the pressure of a cell times its fraction of liquid, x~ = V_c dt p / (rho_ref
// h), and with the source s of what shrinks [shrink.2], 0 elsewhere:
//
//     m_f u_f + (D^T W D u)_f + A_f (x~_here - x~_below) = m_f u*_f,  sum +-A_f u_f = s  [stokes.1]
//
// The mass of a face is m_f = rho_f / rho_ref A_f T_f with T_f the tent: the mean fraction of
// liquid of the box while it slides from one cell to the next. T_f g is then the difference of V_c
// p for every plane surface with p = rho g (distance): liquid under a tilted plane is at rest
// exactly, and the inviscid limit is no worse than the ghost fluid's [stokes.2].
//
// The solver's pressure is -x~: so its system is symmetric. Cells have a pressure where V_c >=
// 0.02. Two surfaces that approach share cells before they touch: if a face without liquid lies
// between two cells with a pressure, the emptier one loses its own [stokes.3]. Gaps between liquid
// that lands and what it lands on have none until they close (phys/landing.c). Prescribed faces go
// to the right-hand sides.
//
// The solve starts from the last step's velocity where viscosity is strong, since the new one has
// not yet felt it, and from the last step's pressure. It is exact enough when the energy norm of
// the error, the largest divergence and the net loss of volume are small, all three [stokes.4].
// The energy is compared with that of what can go wrong: forces and motion against the mean.
//
// Liquid in free flight needs neither pressure nor stress: then nothing is built. With the velocity
// u* as it is the error e has A e = -D^T W D u*, and since A is M + D^T W D
//
//     e . A e <= D u* W D u*,    f . A^-1 f >= (u* . f)^2 / (u* . A u*),  f = M u*      [stokes.7]
//
// so the strain of u* against its motion bounds the relative error, before there is a solver.
//
// Staggering: u, T, A on faces; p, V_c at cells. Symbols: liquid.face_fraction.at (T),
// liquid.face_open.at (A), cell_impulse. Properties that tests check: rigid motion is free;
// momentum and angular momentum are kept; plane surfaces at rest stay at rest; a thread has three
// times its viscosity, a sheet four times.
#include "phys/unified.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"
#include "phys/flow_bodies.h"
#include "phys/lump_balance.h"
#include "phys/shrinkage.h"
#include "phys/solid_flow.h"

// Targets [stokes.4]: of cells' volume a step, and of a connected region's volume a step.
static const double divergence_target = 1e-3, net_target = 2e-6;
// With bodies, the least fraction of the load's energy that what moves is taken to have.
static const double motion_least = 0.003;
// Velocities below this fraction of a cell a step are none.
static const double speed_floor = 1e-6;
static const float gap_fraction = 1e-3f; // a face below it lies in a gap
// Of a divergence that is asked for, the fraction that may be missing.
static const double source_target = 0.01;
enum { MOMENTS = 2 * AXES + 1 };

typedef struct unified_solver {
    const unified_params* params;
    stress_weights weights; // of the viscosity as it is
    stress_weights first;   // of the preconditioner, where they are others
    stokes_solver* stokes;
    const unified_pass* pass;
    double* about; // its velocity, as a vector; NULL without passes
    tangent tangent;
    float* cell; // fraction of liquid of cells with a pressure, 0 elsewhere
    body_coupling bodies;
    size_t tail;              // of bodies in a vector of faces
    stokes_vectors v;         // f, h, u, p, one after the other
    double *vectors, *moment; // moment: [count][MOMENTS]
    double* pull;             // of the surface, as f; NULL: none
    lump_set lumps;           // that nothing holds, where there is such a pull
    bool is_stiff;            // the velocity that particles bring has not felt the stress: no guess
    float* const* face_u;
    double* cell_impulse;
    energy_part* energy;
} unified_solver;

static size_t unified_field_length(const unified_solver* job) {
    return ((size_t)job->params->liquid.map->count + 1) * TILE_CELLS;
}

// Values in a vector of faces, bodies included, and in one of both faces and cells.
static size_t face_length(const unified_solver* job) {
    return AXES * unified_field_length(job) + job->tail;
}

static size_t half_length(const unified_solver* job) {
    return face_length(job) + unified_field_length(job);
}

// --- cells with a pressure ----------------------------------------------------------------------

// Whether the cell at `at` of a block loses its pressure to a neighbour across a gap [stokes.3].
static bool is_across_gap(const float* const box[AXES], const float* cell, int at) {
    static const int side = BLOCK_SIDE(1, 1);
    const int steps[AXES] = {1, side, side * side};
    float least = solve_policy_default()->schur.smallest_volume;
    bool is_lost = false;
    for (int a = 0; a < AXES; ++a) {
        int s = steps[a];
        is_lost = is_lost ||
                  (box[a][at] < gap_fraction && cell[at - s] >= cell[at] && cell[at - s] >= least);
        is_lost = is_lost || (box[a][at + s] < gap_fraction && cell[at + s] > cell[at] &&
                              cell[at + s] >= least);
    }
    return is_lost;
}

static void choose_cells(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    const stress_params* p = &job->params->liquid;
    float least = solve_policy_default()->schur.smallest_volume;
    const float* firm = job->params->cell_firm;
    for (int64_t t = begin; t < end; ++t) {
        float fraction[BLOCK_VALUES(1, 1)], boxes[AXES][BLOCK_VALUES(1, 1)], fill[TILE_CELLS];
        const float* const box[AXES] = {boxes[0], boxes[1], boxes[2]};
        gather_block(p->map, p->cell_fraction, (tile_ix)t, 1, 1, fraction);
        landing_find(job->params->landing, (tile_ix)t, fill);
        for (int a = 0; a < AXES; ++a) {
            gather_block(p->map, job->params->face_box.at[a], (tile_ix)t, 1, 1, boxes[a]);
        }
        for (int q = 0; q < TILE_CELLS; ++q) {
            int at = BLOCK_INDEX(1, 1, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE,
                                 q / TILE_SIZE / TILE_SIZE);
            int cell[AXES];
            tile_cell_at(p->map, (tile_ix)t, q, cell);
            bool is_inside = cell[0] < p->domain->cells[0] && cell[1] < p->domain->cells[1] &&
                             cell[2] < p->domain->cells[2];
            bool is_firm = firm != NULL && firm[t * TILE_CELLS + q] > 0.5f; // [crack.1]
            bool has_pressure = is_inside && !is_firm && fraction[at] >= least &&
                                fill[q] != LANDING_GAP &&
                                (fraction[at] > 0.5f || !is_across_gap(box, fraction, at));
            job->cell[t * TILE_CELLS + q] = has_pressure ? fraction[at] : 0.0f;
        }
    }
}

// --- vectors ------------------------------------------------------------------------------------

// v.u = velocities of fixed faces, 0 elsewhere.
static void load_fixed(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    const uint8_t* fixed = job->weights.fixed;
    for (int64_t t = begin; t < end; ++t) {
        double* to = job->v.u + t * VISCOSITY_BLOCK;
        memset(to, 0, VISCOSITY_BLOCK * sizeof(double));
        for (int64_t q = 0, i = t * TILE_CELLS; q < TILE_CELLS; ++q, ++i) {
            for (int a = 0; a < AXES && fixed[i] != 0; ++a) {
                if (stress_face_state(&job->weights, a, i) == FACE_GIVEN) {
                    double u = (double)job->face_u[a][i];
                    to[a * TILE_CELLS + q] = stress_given_velocity(&job->params->liquid, a, i, u);
                }
            }
        }
    }
}

// What solids carry through a face, as one of its cells sees it: with the part that they close, and
// with the open part of one whose velocity is given. Faces of bodies give way, and what bodies
// carry is in their rows.
static solid_face face_of_solids(const void* data, int a, int64_t face, bool is_below) {
    const unified_solver* job = data;
    const stress_params* p = &job->params->liquid;
    uint16_t by = p->bodies != NULL ? p->bodies->solid[a][face] : SOLID_NONE;
    bool is_body = by != SOLID_NONE && by >= p->bodies->first_solid;
    face_state state = stress_face_state(&job->weights, a, face);
    bool is_given = state == FACE_GIVEN, is_of_body = state == FACE_OF_BODY;
    double open = stress_opening(p, a, face, is_below), closed = 1.0 - open;
    double u = closed > 0.0 && !is_body ? (double)p->face_solid_u.at[a][face] : 0.0;
    double given_u = is_given && open > 0.0
                         ? stress_given_velocity(p, a, face, (double)job->face_u[a][face])
                         : 0.0;
    return (solid_face){.open = state != FACE_UNKNOWN ? 0.0 : open,
                        .give = (is_body ? closed : 0.0) + (is_of_body ? open : 0.0),
                        .body = is_of_body ? job->weights.owner[a][face] - 1
                                : is_body  ? by - p->bodies->first_solid
                                           : 0,
                        .flow = closed * u + open * given_u,
                        .speed = fmax(fabs(u), fabs(given_u))};
}

// What flows into cells that close below liquid that lands [land.2].
static void fill_cells(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    float fill[TILE_CELLS];
    for (int64_t t = begin; t < end; ++t) {
        bool has_any = landing_find(job->params->landing, (tile_ix)t, fill);
        for (int q = 0; q < TILE_CELLS && has_any; ++q) {
            int64_t i = t * TILE_CELLS + q;
            job->v.h[i] += job->cell[i] > 0.0f && fill[q] > 0.0f ? (double)fill[q] : 0.0;
        }
    }
}

// v.h = what solids push out of cells, but for bodies.
static treacle_status push_cells(const unified_solver* job) {
    const stress_params* p = &job->params->liquid;
    solid_flow_params solids = {.domain = p->domain,
                                .map = p->map,
                                .cell = job->cell,
                                .sign = 1.0f,
                                .body_count = p->bodies != NULL ? p->bodies->count : 0,
                                .face = face_of_solids,
                                .data = job};
    return p->face_solid_u.at[0] != NULL ? solid_flow_compute(&solids, job->v.h) : TREACLE_OK;
}

// One component of a tile: f, and the first guess of u.
static void load_component(const unified_solver* job, int64_t t, int a) {
    const float* guess = job->pass != NULL ? job->pass->about.at[a]
                         : job->is_stiff   ? job->params->guess_u.at[a]
                                           : NULL;
    const float *u = job->face_u[a] + t * TILE_CELLS,
                *first = guess != NULL ? guess + t * TILE_CELLS : u;
    double* f = job->v.f + t * VISCOSITY_BLOCK + a * TILE_CELLS;
    double* to = job->v.u + t * VISCOSITY_BLOCK + a * TILE_CELLS;
    for (int64_t q = 0; q < TILE_CELLS; ++q) {
        f[q] = stress_impulse(&job->params->liquid, &job->weights, a, t * TILE_CELLS + q,
                              (double)u[q]) -
               f[q];
        to[q] = (double)first[q];
    }
}

// f = M u* less the forces of fixed faces, h = less their flow; the first guesses.
static void load_tiles(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    const float* source = job->params->cell_source;
    for (int64_t n = begin * AXES; n < end * AXES; ++n) {
        load_component(job, n / AXES, (int)(n % AXES));
    }
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->v.h[i] = -job->v.h[i];
        if (source != NULL && job->cell[i] > 0.0f) {
            job->v.h[i] += (double)source[i];
        }
        job->v.p[i] = -job->cell_impulse[i] * (double)job->cell[i];
    }
}

// One component of a tile: what was found, and what was given.
static void store_component(const unified_solver* job, int64_t t, int a) {
    const double* found = job->v.u + t * VISCOSITY_BLOCK + a * TILE_CELLS;
    const float* mass = job->weights.mass[a] + t * TILE_CELLS;
    const uint8_t* fixed = job->weights.fixed + t * TILE_CELLS;
    float* u = job->face_u[a] + t * TILE_CELLS;
    for (int q = 0; q < TILE_CELLS; ++q) {
        bool is_unknown = mass[q] > 0.0f || found[q] != 0.0;
        if ((fixed[q] >> a & 1) != 0) {
            u[q] = (float)stress_given_velocity(&job->params->liquid, a, t * TILE_CELLS + q,
                                                (double)u[q]);
        } else if (is_unknown) {
            u[q] = (float)found[q];
        }
    }
}

static void store_tiles(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    for (int64_t n = begin * AXES; n < end * AXES; ++n) {
        store_component(job, n / AXES, (int)(n % AXES));
    }
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double fraction = (double)job->cell[i];
        job->cell_impulse[i] = fraction > 0.0 ? -job->v.p[i] / fraction : 0.0;
    }
}

// --- how exact ----------------------------------------------------------------------------------

// Measures each tile: mass and momentum along each axis, energy, and the liquid in cells with a
// pressure.
static void unified_measure_tiles(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    for (int64_t t = begin; t < end; ++t) {
        double energy = 0.0;
        for (int a = 0; a < AXES; ++a) {
            double mass = 0.0, momentum = 0.0;
            for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
                double m = (double)job->weights.mass[a][i], u = (double)job->face_u[a][i];
                mass += m;
                momentum += m * u;
                energy += m * (u * u);
            }
            job->moment[t * MOMENTS + a] = mass;
            job->moment[t * MOMENTS + AXES + a] = momentum;
        }
        job->moment[t * MOMENTS + 2 * AXES] = energy;
    }
}

typedef struct moment_job {
    const double* moment;
    int which;
} moment_job;

static double moment_of_tile(void* data, int64_t tile) {
    const moment_job* job = data;
    return job->moment[tile * MOMENTS + job->which];
}

// The fraction of the velocity u* that is not the mean motion, but at least what forces have given.
static double motion_fraction(unified_solver* job) {
    const stress_params* p = &job->params->liquid;
    double sum[MOMENTS], mean_energy = 0.0;
    tile_for(p->map, &(tile_use){.reads = TILE_AROUND, .grain = 8}, unified_measure_tiles, job);
    for (int i = 0; i < MOMENTS; ++i) {
        moment_job one = {job->moment, i};
        sum[i] = tile_sum(p->map, moment_of_tile, &one);
    }
    double mass = sum[0] + sum[1] + sum[2], energy = sum[2 * AXES];
    for (int a = 0; a < AXES; ++a) {
        mean_energy += sum[a] > 0.0 ? sum[AXES + a] * sum[AXES + a] / sum[a] : 0.0;
    }
    double least = job->params->push + speed_floor * p->domain->h / p->dt;
    double moved = fmax(energy - mean_energy, 0.0) + mass * (least * least);
    return energy > moved ? sqrt(moved / energy) : 1.0;
}

static stokes_params targets_of(unified_solver* job) {
    const stress_params* p = &job->params->liquid;
    double cell_a_step = p->domain->h / p->dt;
    stokes_params out = stokes_params_default();
    out.energy = job->params->tolerance * motion_fraction(job);
    out.least = job->bodies.count > 0 && job->is_stiff ? motion_least : 1.0;
    out.drop = job->pass != NULL ? job->pass->drop : 0.0;
    out.divergence = divergence_target * cell_a_step;
    out.net = net_target * cell_a_step;
    if (job->params->cell_source != NULL) { // what is asked for is met to a fraction of itself
        double most = shrinkage_most(p->map, job->params->cell_source);
        out.divergence = most > 0.0 ? fmin(out.divergence, source_target * most) : out.divergence;
    }
    out.max_iterations = job->params->max_iterations;
    out.is_warm = true;
    out.keeps_momentum = !p->has_slip;
    return out;
}

// --- free flight --------------------------------------------------------------------------------

// The largest divergence of u* in cells with a pressure of a tile; the sum of its size goes to the
// tile's first moment.
static double divergence_of_tile(void* data, int64_t t) {
    const unified_solver* job = data;
    const stress_params* p = &job->params->liquid;
    static const int side = BLOCK_SIDE(0, 1), steps[AXES] = {1, side, side * side};
    float flow[AXES][BLOCK_VALUES(0, 1)], open[BLOCK_VALUES(0, 1)];
    double most = 0.0, all = 0.0;
    for (int a = 0; a < AXES; ++a) {
        gather_block(p->map, job->face_u[a], (tile_ix)t, 0, 1, flow[a]);
        gather_block(p->map, p->face_open.at[a], (tile_ix)t, 0, 1, open);
        for (int i = 0; i < BLOCK_VALUES(0, 1); ++i) {
            flow[a][i] *= open[i];
        }
    }
    for (int q = 0; q < TILE_CELLS; ++q) {
        int at = BLOCK_INDEX(0, 1, q & 7, q >> 3 & 7, q >> 6);
        double sum = 0.0;
        for (int a = 0; a < AXES; ++a) {
            double out = (double)flow[a][at + steps[a]] - (double)flow[a][at];
            sum += p->domain->is_active[a] ? out : 0.0;
        }
        double size = job->cell[t * TILE_CELLS + q] > 0.0f ? fabs(sum) : 0.0;
        most = size > most ? size : most;
        all += size;
    }
    job->moment[t * MOMENTS] = all;
    return most;
}

static void take_velocity(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    for (int64_t n = begin * VISCOSITY_BLOCK; n < end * VISCOSITY_BLOCK; ++n) {
        int64_t i = n / VISCOSITY_BLOCK * TILE_CELLS + n % TILE_CELLS;
        job->v.u[n] = (double)job->face_u[n / TILE_CELLS % AXES][i];
    }
}

// Whether u* meets the targets as it is, without a pressure [stokes.7]. Where something else than
// viscosity pulls nobody looks.
static treacle_status is_in_flight(unified_solver* job, stokes_stats* stats, bool* out) {
    const stress_params* p = &job->params->liquid;
    double cell_a_step = p->domain->h / p->dt;
    bool is_asked = job->pass == NULL && job->stokes == NULL && job->bodies.count == 0 &&
                    p->stress == NULL && p->cell_solid_phi == NULL && !p->domain->has_belts &&
                    job->pull == NULL && job->params->cell_source == NULL;
    *out = false;
    // Liquid that something stops shows a divergence at once.
    double most = is_asked ? tile_max(p->map, divergence_of_tile, job) : (double)INFINITY;
    if (!(most <= divergence_target * cell_a_step)) {
        return TREACLE_OK;
    }
    moment_job sizes = {job->moment, 0};
    double net =
        tile_sum(p->map, moment_of_tile, &sizes) / solve_policy_default()->krylov.small_region;
    energy_flow flow = {.liquid = p,
                        .weights = &job->weights,
                        .bodies = &job->bodies,
                        .push = &job->params->pushed,
                        .before = job->face_u,
                        .u = job->v.u};
    tile_for(p->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, take_velocity, job);
    TREACLE_TRY(energy_of_flow(&flow, job->energy));
    double motion = 2.0 * job->energy->before, strain = job->energy->dissipation;
    double error = strain > 0.0 ? sqrt(strain * (motion + strain)) / motion : 0.0;
    *stats = (stokes_stats){
        .is_converged = true, .energy = error, .divergence = most, .net = net, .regime = "free"};
    *out = error <= targets_of(job).energy && net <= net_target * cell_a_step;
    return TREACLE_OK;
}

// --- the solve ----------------------------------------------------------------------------------

// f and h, which lie one behind the other.
static void copy_rhs(const unified_solver* job, const double* from, double* to) {
    const tile_map* map = job->params->liquid.map;
    size_t tail = AXES * unified_field_length(job), cells = face_length(job);
    tile_copy(map, to, from, VISCOSITY_BLOCK * sizeof(double));
    memcpy(to + tail, from + tail, (cells - tail) * sizeof(double));
    tile_copy(map, to + cells, from + cells, TILE_CELLS * sizeof(double));
}

// --- the solver
// -----------------------------------------------------------------------------------

static treacle_status create_stokes(unified_solver* job) {
    const stress_params* p = &job->params->liquid;
    stokes_system system = {.domain = p->domain,
                            .map = p->map,
                            .weights = stress_weights_view(&job->weights),
                            .opening = {p->face_open.at[0], p->face_open.at[1], p->face_open.at[2]},
                            .opening_below = {p->face_open_below.at[0], p->face_open_below.at[1],
                                              p->face_open_below.at[2]},
                            .volume = job->cell,
                            .body_count = job->bodies.count,
                            .bodies = job->bodies.bodies};
    return stokes_solver_create(p->map->ctx, &system, &job->stokes);
}

// The solver is made when it is first needed: in free flight it is not.
static treacle_status need_stokes(unified_solver* job) {
    if (job->stokes != NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(create_stokes(job));
    job->is_stiff = stokes_solver_regime(job->stokes)->is_thick;
    return TREACLE_OK;
}

// --- the surface --------------------------------------------------------------------------------

// Lumps that nothing holds do not pull themselves anywhere. Where liquid slides along walls these
// do not show as fixed faces, and nobody knows which lumps are held.
static treacle_status find_lumps(unified_solver* job) {
    const stress_params* p = &job->params->liquid;
    const region_set* regions = NULL;
    if (p->has_slip) {
        return TREACLE_OK;
    }
    TREACLE_TRY(stokes_regions(job->stokes, &regions));
    return lump_set_create(p, &job->weights, regions, &job->lumps);
}

typedef struct momentum_job {
    const unified_solver* job;
    float* const* before; // u*
    const double* u;      // NULL: none
    double* to;
} momentum_job;

// to = M (u* - u).
static void find_momentum(void* data, int64_t begin, int64_t end) {
    const momentum_job* m = data;
    for (int64_t n = begin * VISCOSITY_BLOCK; n < end * VISCOSITY_BLOCK; ++n) {
        int64_t a = n / TILE_CELLS % AXES, i = n / VISCOSITY_BLOCK * TILE_CELLS + n % TILE_CELLS;
        double u = (double)m->before[a][i] - (m->u != NULL ? m->u[n] : 0.0);
        m->to[n] = (double)m->job->weights.mass[a][i] * u;
    }
}

// The pull, and what the implicit part of it does to a lump that turns: that does not bend its
// surface, and must not be resisted [tension.8].
static treacle_status find_pull(unified_solver* job, float* const face_u[AXES]) {
    const stress_params* p = &job->params->liquid;
    if (job->params->tension == NULL) {
        return TREACLE_OK;
    }
    lump_set_destroy(&job->lumps);
    TREACLE_TRY(find_lumps(job));
    tension_force(job->params->tension, p, &job->weights, job->cell, job->pull);
    lump_set_find_motions(&job->lumps, job->pull);
    lump_set_take_momentum(&job->lumps, job->pull);
    if (job->weights.sheet_cell == NULL || job->lumps.at == NULL) {
        return TREACLE_OK;
    }
    // Nothing is in the vectors yet.
    size_t faces = AXES * unified_field_length(job);
    double *momentum = job->vectors, *turn = job->vectors + half_length(job);
    momentum_job m = {.job = job, .before = face_u, .to = momentum};
    tile_for(p->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, find_momentum, &m);
    lump_set_find_motions(&job->lumps, momentum);
    memset(turn, 0, faces * sizeof(*turn));
    lump_set_add_motions(&job->lumps, true, turn);
    tension_add_stiffness(p, &job->weights, 1.0, turn, job->pull);
    return TREACLE_OK;
}

// After the solve free lumps get the momentum and the spin back that they began with.
static void keep_lumps(unified_solver* job) {
    if (job->pull == NULL || job->weights.sheet_cell == NULL || job->lumps.at == NULL) {
        return;
    }
    momentum_job m = {job, job->face_u, job->v.u, job->v.f}; // what is in f has been used up
    tile_for(job->params->liquid.map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, find_momentum,
             &m);
    lump_set_find_motions(&job->lumps, job->v.f);
    lump_set_add_motions(&job->lumps, false, job->v.u);
}

static void add_pull(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    for (int64_t n = begin * VISCOSITY_BLOCK; n < end * VISCOSITY_BLOCK; ++n) {
        job->v.f[n] += job->pull[n];
    }
}

static double work_of_tile(void* data, int64_t tile) {
    const unified_solver* job = data;
    double sum = 0.0;
    for (int64_t n = tile * VISCOSITY_BLOCK; n < (tile + 1) * VISCOSITY_BLOCK; ++n) {
        sum += job->v.u[n] * job->v.f[n];
    }
    return sum;
}

// rhs: as it was given to the solve, faces and then cells.
static treacle_status account(unified_solver* job, const double* rhs) {
    energy_flow flow = {.liquid = &job->params->liquid,
                        .weights = &job->weights,
                        .bodies = &job->bodies,
                        .push = &job->params->pushed,
                        .before = job->face_u,
                        .u = job->v.u,
                        .motion = job->v.u + AXES * unified_field_length(job),
                        .p = job->v.p,
                        .h = rhs + face_length(job),
                        .swell = job->params->cell_swell,
                        .source = job->params->cell_source};
    TREACLE_TRY(energy_of_flow(&flow, job->energy));
    if (job->pull != NULL) {
        double* pull = job->v.f; // used up: the pull at the end of the step
        tile_copy(job->params->liquid.map, pull, job->pull, VISCOSITY_BLOCK * sizeof(double));
        tension_add_stiffness(&job->params->liquid, &job->weights, -1.0, job->v.u, pull);
        job->energy->tension = tile_sum(job->params->liquid.map, work_of_tile, job);
    }
    return TREACLE_OK;
}

// The right-hand sides and the first guesses.
static treacle_status unified_load(unified_solver* job) {
    const tile_map* map = job->params->liquid.map;
    size_t tail = AXES * unified_field_length(job);
    memset(job->v.u + tail, 0, job->tail * sizeof(double));
    tile_clear(map, job->v.p, TILE_CELLS * sizeof(double));
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, load_fixed, job);
    stokes_apply(job->stokes, job->v.u, job->v.p, job->v.f, job->v.h);
    TREACLE_TRY(push_cells(job));
    if (job->params->landing != NULL) {
        tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 8}, fill_cells, job);
    }
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, load_tiles, job);
    stress_add_force(&job->params->liquid, &job->weights, job->v.f);
    if (job->pull != NULL) {
        tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, add_pull, job);
    }
    for (size_t i = tail; i < face_length(job); ++i) {
        job->v.f[i] = -job->v.f[i];
    }
    bool is_stiff = job->is_stiff && job->params->guess_u.at[0] != NULL;
    body_coupling_load(&job->bodies, &job->params->liquid, is_stiff, job->v.f + tail,
                       job->v.u + tail);
    return TREACLE_OK;
}

// From the first guesses in u and cell_impulse; a second time from where the first ended, with more
// memory, if that was not enough.
static treacle_status solve(unified_solver* job, const stokes_extra* extra, stokes_stats* stats) {
    stokes_params targets = targets_of(job);
    size_t half = half_length(job), tail = AXES * unified_field_length(job);
    targets.extra = extra;
    double* again = job->vectors + 2 * half;
    copy_rhs(job, job->v.f, again);
    TREACLE_TRY(stokes_solve(job->stokes, &job->v, &targets, stats));
    if (!stats->is_converged && !stats->is_broken) {
        int before = stats->iterations;
        double seconds = stats->seconds;
        copy_rhs(job, again, job->v.f);
        targets.restart = solve_policy_default()->krylov.restart_long;
        TREACLE_TRY(stokes_solve(job->stokes, &job->v, &targets, stats));
        stats->iterations += before;
        stats->seconds += seconds;
    }
    keep_lumps(job);
    TREACLE_TRY(account(job, again));
    tile_for(job->params->liquid.map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, store_tiles,
             job);
    body_coupling_store(&job->bodies, &job->params->liquid, &job->weights, job->v.u + tail,
                        job->face_u);
    return TREACLE_OK;
}

// Behind walls and where the velocity is prescribed.
static void hold_tiles(void* data, int64_t begin, int64_t end) {
    const unified_solver* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        for (int a = 0; a < AXES; ++a) {
            double u = (double)job->face_u[a][i];
            if (stress_face_state(&job->weights, a, i) == FACE_GIVEN) {
                job->pass->about.at[a][i] =
                    (float)stress_given_velocity(&job->params->liquid, a, i, u);
            }
        }
    }
}

typedef struct power_job {
    const unified_solver* job;
    float* change;
    double* force;
} power_job;

static void find_change(void* data, int64_t begin, int64_t end) {
    const power_job* power = data;
    for (int64_t n = begin * VISCOSITY_BLOCK; n < end * VISCOSITY_BLOCK; ++n) {
        power->change[n] = (float)(power->job->v.u[n] - power->job->about[n]);
        power->force[n] = 0.0;
    }
}

static double power_of_tile(void* data, int64_t tile) {
    const power_job* power = data;
    double sum = 0.0;
    for (int64_t n = tile * VISCOSITY_BLOCK; n < (tile + 1) * VISCOSITY_BLOCK; ++n) {
        sum += power->job->v.u[n] * power->force[n];
    }
    return sum;
}

// The stress of a pass is that of its viscosity and of what the tangent has added: its power is
// dissipated, too.
static treacle_status account_tangent(unified_solver* job) {
    const tile_map* map = job->params->liquid.map;
    size_t values = AXES * unified_field_length(job);
    power_job power = {.job = job, .force = job->vectors + 2 * half_length(job)};
    TREACLE_TRY(
        alloc_zero(map->ctx, values, sizeof(float), "changes of velocity", (void**)&power.change));
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, find_change, &power);
    tangent_add(&job->tangent, power.change, power.force);
    job->energy->dissipation += tile_sum(map, power_of_tile, &power);
    alloc_free(map->ctx, power.change, values * sizeof(float));
    return TREACLE_OK;
}

static treacle_status solve_pass(unified_solver* job, stokes_stats* stats) {
    const tile_map* map = job->params->liquid.map;
    const unified_pass* pass = job->pass;
    if (job->about == NULL) {
        TREACLE_TRY(alloc_zero(map->ctx, AXES * unified_field_length(job), sizeof(double),
                               "velocities", (void**)&job->about));
    }
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, hold_tiles, job);
    TREACLE_TRY(unified_load(job));
    tile_copy(map, job->about, job->v.u, VISCOSITY_BLOCK * sizeof(double));
    tangent_params params = {.rate = pass->rate,
                             .cell_rate = pass->cell_rate,
                             .cell_slope = pass->cell_slope,
                             .weights = &job->weights};
    TREACLE_TRY(tangent_create(&params, &job->tangent));
    stokes_extra extra = {tangent_add, &job->tangent, job->about};
    treacle_status status = solve(job, &extra, stats);
    status = status == TREACLE_OK ? account_tangent(job) : status;
    tangent_destroy(&job->tangent);
    return status;
}

treacle_status unified_solve(unified_solver* solver, const unified_pass* pass,
                             float* const face_u[AXES], double* cell_impulse, stokes_stats* stats) {
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    TREACLE_ASSERT(cell_impulse != NULL && stats != NULL);
    TREACLE_ASSERT(pass == NULL || (pass->cell_rate != NULL && pass->cell_slope != NULL));
    bool is_free = false;
    solver->face_u = face_u;
    solver->cell_impulse = cell_impulse;
    solver->pass = pass;
    TREACLE_TRY(is_in_flight(solver, stats, &is_free));
    if (is_free) {
        const tile_map* map = solver->params->liquid.map;
        tile_clear(map, solver->v.p, TILE_CELLS * sizeof(double));
        tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, store_tiles, solver);
        return TREACLE_OK;
    }
    TREACLE_TRY(need_stokes(solver));
    if (pass != NULL) {
        return solve_pass(solver, stats);
    }
    TREACLE_TRY(unified_load(solver));
    return solve(solver, NULL, stats);
}

// --- set-up -------------------------------------------------------------------------------------

enum { VECTORS = 3 }; // right-hand side, solution, and the former again

static treacle_status create_vectors(unified_solver* job) {
    const stress_params* p = &job->params->liquid;
    treacle_context* ctx = p->map->ctx;
    size_t values = unified_field_length(job), tiles = (size_t)p->map->count;
    TREACLE_TRY(
        alloc_zero(ctx, values, sizeof(float), "cells with a pressure", (void**)&job->cell));
    TREACLE_TRY(alloc_zero(ctx, VECTORS * half_length(job), sizeof(double), "vectors of the flow",
                           (void**)&job->vectors));
    TREACLE_TRY(
        alloc_zero(ctx, tiles * MOMENTS, sizeof(double), "moments of tiles", (void**)&job->moment));
    if (job->params->tension != NULL) {
        TREACLE_TRY(alloc_zero(ctx, face_length(job), sizeof(double), "the pull of the surface",
                               (void**)&job->pull));
    }
    job->v.f = job->vectors;
    job->v.h = job->v.f + face_length(job);
    job->v.u = job->v.h + values;
    job->v.p = job->v.u + face_length(job);
    return TREACLE_OK;
}

typedef struct gap_job {
    const landing_params* landing;
    float* weight;
} gap_job;

// Stress does not reach across a gap to what is behind it [land.3].
static void leave_gaps(void* data, int64_t begin, int64_t end) {
    const gap_job* job = data;
    float fill[TILE_CELLS];
    for (int64_t t = begin; t < end; ++t) {
        bool has_any = landing_find(job->landing, (tile_ix)t, fill);
        for (int q = 0; q < TILE_CELLS && has_any; ++q) {
            float* weight = &job->weight[t * TILE_CELLS + q];
            *weight = fill[q] != LANDING_NONE ? 0.0f : *weight;
        }
    }
}

static treacle_status make_weights(const unified_solver* job, stress_weights* out) {
    const tension_params* tension = job->params->tension;
    TREACLE_TRY(stress_weights_create(&job->params->liquid, out));
    gap_job gaps = {job->params->landing, out->cell};
    if (gaps.landing != NULL) {
        tile_for(job->params->liquid.map,
                 &(tile_use){.reads = TILE_AROUND, .grain = 8, .writes = {{.at = out->cell}}},
                 leave_gaps, &gaps);
    }
    return tension == NULL ? TREACLE_OK : tension_add_weights(tension, &job->params->liquid, out);
}

static treacle_status unified_build(unified_solver* job, float* const face_u[AXES]) {
    const stress_params* p = &job->params->liquid;
    TREACLE_TRY(make_weights(job, &job->weights));
    TREACLE_TRY(body_coupling_create(p, &job->weights, face_u, &job->bodies));
    job->tail = body_coupling_tail(&job->bodies);
    TREACLE_TRY(create_vectors(job));
    tile_for(p->map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = job->cell}}},
             choose_cells, job);
    TREACLE_TRY(job->params->tension != NULL ? need_stokes(job) : TREACLE_OK);
    return find_pull(job, face_u);
}

treacle_status unified_create(const unified_params* params, float* const face_u[AXES],
                              energy_part* energy, unified_solver** out) {
    TREACLE_ASSERT(params->tolerance > 0.0 && params->max_iterations > 0);
    TREACLE_ASSERT(params->liquid.dt > 0.0 && isfinite(params->liquid.dt));
    TREACLE_ASSERT(params->push >= 0.0);
    unified_solver* job = NULL;
    *out = NULL;
    TREACLE_TRY(
        alloc_zero(params->liquid.map->ctx, 1, sizeof(*job), "the flow's solve", (void**)&job));
    job->params = params;
    job->energy = energy;
    treacle_status status = unified_build(job, face_u);
    if (status != TREACLE_OK) {
        unified_destroy(job);
        return status;
    }
    *out = job;
    return TREACLE_OK;
}

// All that depends on the viscosity.
static treacle_status rebuild(unified_solver* job, float* const face_u[AXES]) {
    const stress_params* p = &job->params->liquid;
    lump_set_destroy(&job->lumps);
    stokes_solver_destroy(job->stokes);
    job->stokes = NULL;
    body_coupling_destroy(&job->bodies);
    stress_weights_destroy(p, &job->weights);
    stress_weights_destroy(p, &job->first);
    TREACLE_TRY(make_weights(job, &job->weights));
    TREACLE_TRY(body_coupling_create(p, &job->weights, face_u, &job->bodies));
    TREACLE_TRY(create_stokes(job));
    return find_pull(job, face_u);
}

treacle_status unified_reweigh(unified_solver* solver, float* const face_u[AXES]) {
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    const stress_params* p = &solver->params->liquid;
    if (solver->bodies.count > 0) {
        return rebuild(solver, face_u);
    }
    stress_weights now;
    TREACLE_TRY(make_weights(solver, &now));
    viscosity_weights view = stress_weights_view(&now);
    treacle_status status = stokes_solver_reweigh(solver->stokes, &view);
    if (solver->first.block == NULL) {
        solver->first = solver->weights;
    } else {
        stress_weights_destroy(p, &solver->weights);
    }
    solver->weights = now;
    return status;
}

void unified_destroy(unified_solver* solver) {
    if (solver == NULL) {
        return;
    }
    const stress_params* p = &solver->params->liquid;
    treacle_context* ctx = p->map->ctx;
    size_t values = unified_field_length(solver), tiles = (size_t)p->map->count;
    lump_set_destroy(&solver->lumps); // before the regions that they are made of
    stokes_solver_destroy(solver->stokes);
    alloc_free(ctx, solver->cell, values * sizeof(float));
    alloc_free(ctx, solver->vectors, VECTORS * half_length(solver) * sizeof(double));
    if (solver->pull != NULL) {
        alloc_free(ctx, solver->pull, face_length(solver) * sizeof(double));
    }
    alloc_free(ctx, solver->about, AXES * values * sizeof(double));
    alloc_free(ctx, solver->moment, tiles * MOMENTS * sizeof(double));
    stress_weights_destroy(p, &solver->weights);
    stress_weights_destroy(p, &solver->first);
    body_coupling_destroy(&solver->bodies);
    alloc_free(ctx, solver, sizeof(*solver));
}

treacle_status unified_apply(const unified_params* params, float* const face_u[AXES],
                             double* cell_impulse, stokes_stats* stats, energy_part* energy) {
    TREACLE_ASSERT(cell_impulse != NULL && stats != NULL && energy != NULL);
    unified_solver* solver = NULL;
    TREACLE_TRY(unified_create(params, face_u, energy, &solver));
    treacle_status status = unified_solve(solver, NULL, face_u, cell_impulse, stats);
    unified_destroy(solver);
    return status;
}
