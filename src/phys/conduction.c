// Conduction by lines of cells, or all at once.
//
//     dE_i/dt = sum over faces G_f (T_j - T_i) + sum over axes U_a (T_out,a - T_i) =: (L T)_i
//                                                                                         [heat.3]
//
// E and T = T(E) at cells as in phys/heat_curve.h, G conductances of faces, U exchange with walls,
// solids and air. Backward Euler in three ways:
//
//     lod        E^a - dt L_a T(E^a) = E^(a-1), one axis after the other [CMVT02 eq. 13]  [heat.4]
//     adi        the first axis with the others as they were at the begin; the others then correct
//                themselves, E^a - dt L_a T(E^a) = E^(a-1) - dt L_a T^0 [DR56]            [heat.5]
//     implicit   E - dt L T(E) = E^0, by multigrid                                        [heat.6]
//
// L_a are the flows along axis a. Lines of cells along an axis go through the tiles that follow one
// another, and are solved in double. Where nothing melts T(E) is linear and one solve is exact;
// else Newton's method takes the slopes dT/dE of the last round. In the end energies follow from
// the flows: whatever the solve left undone, heat is neither made nor lost.
//
// differs from [CMVT02 sec. 5.1]: variable conductivity and capacity, latent heat, and E instead of
// T as what is solved for, which has a slope of 0 and no jump where ice melts.
//
// Staggering: E, T, C at cells; G on faces. Symbols: conductance (G), exchange (U), energy (E).
// Properties that tests check: the decay of a wave to 1e-6; no overshoot; sums to rounding; bits do
// not depend on threads.
#include "phys/conduction.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/diffusion_solver.h"

enum { NEWTON_MAX = 40, NEWTON_FULL = 12, WHOLE_ROUNDS_MAX = 12, LINES = TILE_SIZE * TILE_SIZE };
// A change of energy is none below this fraction of what a kelvin and melting take.
#define NEWTON_TOLERANCE 1e-11
#define WHOLE_TOLERANCE 1e-6

// --- what a cell is made of ----------------------------------------------------------------------

static heat_curve curve_of(const conduction_params* p, size_t i) {
    heat_curve out = p->melt.same;
    out.capacity = (double)p->capacity[i];
    out.latent = p->melt.latent == NULL ? 0.0 : (double)p->melt.latent[i];
    for (int k = 0; k < 2 && p->melt.range[0] != NULL; ++k) {
        out.melt[k] = (double)p->melt.range[k][i];
        out.freeze[k] = (double)p->melt.range[2 + k][i];
    }
    return out;
}

static heat_state state_of(const conduction_params* p, size_t i, double energy) {
    if (!(p->capacity[i] > 0.0f)) {
        return (heat_state){p->melt.same.reference, 0.0, 0.0};
    }
    heat_curve curve = curve_of(p, i);
    double melted = p->melt.melted == NULL ? 0.0 : (double)p->melt.melted[i];
    return heat_curve_at(&curve, energy, melted);
}

// The energy that counts as none.
static double least_energy(const conduction_params* p, size_t i) {
    double latent = p->melt.latent == NULL ? 0.0 : (double)p->melt.latent[i];
    return NEWTON_TOLERANCE * ((double)p->capacity[i] + latent);
}

// --- lines of cells along an axis ----------------------------------------------------------------

// Work on one line; arrays of count + 1.
typedef struct line {
    const conduction_params* params;
    int axis, count;
    bool is_ring; // periodic, and whole
    size_t* at;   // where cell i is in fields
    double* low;  // conductance of low faces; of the last face at [count]
    double *rhs, *energy, *temperature, *slope, *change, *upper, *spike;
} line;
enum { LINE_DOUBLES = 8 };

typedef struct line_job {
    const conduction_params* params;
    int axis;
    double *energy, *exchanged;
    const double* before; // T at the begin, of adi; NULL: none
    tile_ix* chain;       // tiles at which chains begin
    tile_ix chain_count, longest;
    char* room; // of each worker
    size_t room_bytes;
} line_job;

static tile_ix next_tile(const tile_map* map, int axis, tile_ix t, int way) {
    const int step[AXES] = {1, 3, 9};
    return map->neighbour[t][TILE_SELF + way * step[axis]];
}

// Tiles of the chain that begins at t.
static tile_ix chain_length(const tile_map* map, int axis, tile_ix t) {
    tile_ix length = 1;
    for (tile_ix n = next_tile(map, axis, t, 1); n != map->count && n != t;
         n = next_tile(map, axis, n, 1)) {
        length += 1;
    }
    return length;
}

static bool is_ring(const tile_map* map, int axis, tile_ix t, tile_ix length) {
    tile_ix last = t;
    for (tile_ix i = 1; i < length; ++i) {
        last = next_tile(map, axis, last, 1);
    }
    return next_tile(map, axis, last, 1) == t;
}

static void find_chains(line_job* job) {
    const tile_map* map = job->params->map;
    for (tile_ix t = 0; t < map->count; ++t) {
        bool is_open = next_tile(map, job->axis, t, -1) == map->count;
        bool may_be_ring = !is_open && job->params->domain->is_periodic[job->axis] &&
                           map->coord[t].at[job->axis] == 0;
        tile_ix length = is_open || may_be_ring ? chain_length(map, job->axis, t) : 0;
        if (is_open || (may_be_ring && is_ring(map, job->axis, t, length))) {
            job->chain[job->chain_count++] = t;
            job->longest = length > job->longest ? length : job->longest;
        }
    }
}

// Along the line the temperature of cell i and of its neighbours; what is beyond an end has no
// conductance.
static int before_of(const line* l, int i) {
    return i > 0 ? i - 1 : l->is_ring ? l->count - 1 : 0;
}

static int after_of(const line* l, int i) {
    return i < l->count - 1 ? i + 1 : l->is_ring ? 0 : i;
}

static double exchange_at(const line* l, int i) {
    const float* u = l->params->exchange[l->axis];
    return u == NULL ? 0.0 : (double)u[l->at[i]];
}

// What flows to cell i from outside, W.
static double from_outside(const line* l, int i, double temperature) {
    double u = exchange_at(l, i);
    return u > 0.0 ? u * ((double)l->params->outside[l->axis][l->at[i]] - temperature) : 0.0;
}

// (L_a T)_i, W.
static double flow_to(const line* l, const double* t, int i) {
    return l->low[i] * (t[before_of(l, i)] - t[i]) + l->low[i + 1] * (t[after_of(l, i)] - t[i]) +
           from_outside(l, i, t[i]);
}

// (1 - dt L_a b) change = change, by elimination; of a ring without its corners, with `fix` added
// to the diagonal of its first and last cell.
static void eliminate(const line* l, const double fix[2], double* change) {
    double dt = l->params->dt;
    const double *low = l->low, *b = l->slope;
    double* upper = l->upper;
    for (int i = 0; i < l->count; ++i) {
        bool has_before = i > 0, has_after = i < l->count - 1;
        double diagonal = 1.0 + dt * (low[i] + low[i + 1] + exchange_at(l, i)) * b[i] +
                          (has_before ? 0.0 : fix[0]) + (has_after ? 0.0 : fix[1]);
        double left = has_before ? -dt * low[i] * b[i - 1] : 0.0;
        double pivot = diagonal - (has_before ? left * upper[i - 1] : 0.0);
        upper[i] = has_after ? -dt * low[i + 1] * b[i + 1] / pivot : 0.0;
        change[i] = (change[i] - (has_before ? left * change[i - 1] : 0.0)) / pivot;
    }
    for (int i = l->count - 2; i >= 0; --i) {
        change[i] -= upper[i] * change[i + 1];
    }
}

// The corners of a ring, by Sherman and Morrison: A = B + u v^T.
static void solve_line(const line* l) {
    double fix[2] = {0.0, 0.0};
    if (!l->is_ring || !(l->low[0] > 0.0) || !(l->slope[0] > 0.0)) {
        eliminate(l, fix, l->change);
        return;
    }
    int last = l->count - 1;
    double dt = l->params->dt;
    double right = -dt * l->low[0] * l->slope[last]; // of the first row, in the last column
    double left = -dt * l->low[0] * l->slope[0];     // of the last row, in the first column
    double gamma = -1.0;
    fix[0] = -gamma;
    fix[1] = -left * right / gamma;
    memset(l->spike, 0, (size_t)l->count * sizeof(double));
    l->spike[0] = gamma;
    l->spike[last] = left;
    eliminate(l, fix, l->change);
    eliminate(l, fix, l->spike);
    double v = right / gamma;
    double factor = (l->change[0] + v * l->change[last]) / (1.0 + l->spike[0] + v * l->spike[last]);
    for (int i = 0; i < l->count; ++i) {
        l->change[i] -= factor * l->spike[i];
    }
}

static void look_up(const line* l) {
    for (int i = 0; i < l->count; ++i) {
        heat_state state = state_of(l->params, l->at[i], l->energy[i]);
        l->temperature[i] = state.temperature;
        l->slope[i] = state.slope;
    }
}

// energy - dt L_a T(energy) = rhs, by Newton's method; ends with T of the energy.
static void converge_line(const line* l) {
    bool is_converged = false;
    for (int round = 0; round < NEWTON_MAX && !is_converged; ++round) {
        look_up(l);
        for (int i = 0; i < l->count; ++i) {
            l->change[i] = l->rhs[i] - l->energy[i] + l->params->dt * flow_to(l, l->temperature, i);
        }
        solve_line(l);
        is_converged = true;
        double step = round < NEWTON_FULL ? 1.0 : 0.5;
        for (int i = 0; i < l->count; ++i) {
            l->energy[i] += step * l->change[i];
            is_converged = is_converged && fabs(l->change[i]) <= least_energy(l->params, l->at[i]);
        }
        is_converged = is_converged || l->params->melt.latent == NULL;
    }
    look_up(l);
}

static bool load_line(const line_job* job, line* l, tile_ix chain, int which) {
    const tile_map* map = job->params->map;
    const int step[AXES] = {1, TILE_SIZE, TILE_SIZE * TILE_SIZE};
    int b = (job->axis + 1) % AXES, c = (job->axis + 2) % AXES;
    int first = which % TILE_SIZE * step[b] + which / TILE_SIZE * step[c];
    const float* g = job->params->conductance[job->axis];
    tile_ix t = job->chain[chain];
    bool has_any = false;
    l->count = 0;
    l->is_ring = false;
    do {
        for (int k = 0; k < TILE_SIZE; ++k) {
            size_t at = (size_t)t * TILE_CELLS + (size_t)(first + k * step[job->axis]);
            l->at[l->count] = at;
            l->low[l->count++] = (double)g[at];
            has_any = has_any || job->params->capacity[at] > 0.0f;
        }
        t = next_tile(map, job->axis, t, 1);
        l->is_ring = t == job->chain[chain];
    } while (t != map->count && !l->is_ring);
    l->low[l->count] = l->is_ring ? l->low[0] : 0.0;
    return has_any;
}

// The flows of temperatures t along the line times `sign` come to the energies.
static void add_flows(const line_job* job, const line* l, const double* t, double sign) {
    double dt = sign * job->params->dt;
    for (int i = 0; i < l->count; ++i) {
        job->energy[l->at[i]] += dt * flow_to(l, t, i);
        job->exchanged[l->at[i]] += dt * from_outside(l, i, t[i]);
    }
}

static void step_line(const line_job* job, line* l) {
    if (job->before != NULL) {
        for (int i = 0; i < l->count; ++i) {
            l->temperature[i] = job->before[l->at[i]];
        }
        add_flows(job, l, l->temperature, -1.0);
    }
    for (int i = 0; i < l->count; ++i) {
        l->rhs[i] = l->energy[i] = job->energy[l->at[i]];
    }
    converge_line(l);
    add_flows(job, l, l->temperature, 1.0);
}

static line line_in(const line_job* job) {
    size_t values = (size_t)job->longest * TILE_SIZE + 1;
    char* room = job->room + (size_t)parallel_worker() * job->room_bytes;
    double* d = (double*)room;
    return (line){.params = job->params,
                  .axis = job->axis,
                  .low = d,
                  .rhs = d + values,
                  .energy = d + 2 * values,
                  .temperature = d + 3 * values,
                  .slope = d + 4 * values,
                  .change = d + 5 * values,
                  .upper = d + 6 * values,
                  .spike = d + 7 * values,
                  .at = (size_t*)(room + LINE_DOUBLES * values * sizeof(double))};
}

static void step_chains(void* data, int64_t begin, int64_t end) {
    const line_job* job = data;
    const tile_map* map = job->params->map;
    line l = line_in(job);
    int across = tile_layers(map, (job->axis + 1) % AXES);
    int up = tile_layers(map, (job->axis + 2) % AXES);
    for (int64_t item = begin; item < end; ++item) {
        int which = (int)(item % LINES);
        bool is_there = which % TILE_SIZE < across && which / TILE_SIZE < up;
        if (is_there && load_line(job, &l, (tile_ix)(item / LINES), which)) {
            step_line(job, &l);
        }
    }
}

// The flows along the line at the begin, of adi.
static void begin_chains(void* data, int64_t begin, int64_t end) {
    const line_job* job = data;
    line l = line_in(job);
    for (int64_t item = begin; item < end; ++item) {
        if (load_line(job, &l, (tile_ix)(item / LINES), (int)(item % LINES))) {
            for (int i = 0; i < l.count; ++i) {
                l.temperature[i] = job->before[l.at[i]];
            }
            add_flows(job, &l, l.temperature, 1.0);
        }
    }
}

static treacle_status step_axis(line_job* job, parallel_fcn* fcn) {
    treacle_context* ctx = job->params->map->ctx;
    size_t tiles = (size_t)job->params->map->count, workers = (size_t)ctx->threads;
    void *chains = NULL, *room = NULL;
    treacle_status status = TREACLE_OK;
    TREACLE_TRY(alloc_array(ctx, tiles, sizeof(tile_ix), "chains of tiles", &chains));
    job->chain = chains;
    job->chain_count = job->longest = 0;
    find_chains(job);
    size_t values = (size_t)job->longest * TILE_SIZE + 1;
    job->room_bytes = values * (LINE_DOUBLES * sizeof(double) + sizeof(size_t));
    TREACLE_TRY_GOTO(alloc_array(ctx, workers, job->room_bytes, "lines of cells", &room), finish);
    job->room = room;
    parallel_for(ctx, (int64_t)job->chain_count * LINES, 16, fcn, job);
finish:
    alloc_free(ctx, room, workers * job->room_bytes);
    alloc_free(ctx, chains, tiles * sizeof(tile_ix));
    return status;
}

static treacle_status step_by_lines(const conduction_params* p, const double* before,
                                    double* energy, double* exchanged) {
    for (int a = 0; a < AXES; ++a) {
        line_job job = {
            .params = p, .axis = a, .energy = energy, .exchanged = exchanged, .before = before};
        if (p->domain->is_active[a]) {
            TREACLE_TRY(step_axis(&job, step_chains));
        }
    }
    return TREACLE_OK;
}

// --- all axes at once ----------------------------------------------------------------------------

typedef struct whole_job {
    const conduction_params* params;
    const double* rhs; // E^0
    double *energy, *temperature, *b;
    float *mass, *exchange, *outside;
} whole_job;

// mass (T' - T) + E - E^0 = dt L T', over dt: the linear system of a round of Newton's method.
static void linearise(void* data, int64_t begin, int64_t end) {
    const whole_job* job = data;
    const conduction_params* p = job->params;
    for (int64_t k = begin * TILE_CELLS; k < end * TILE_CELLS; ++k) {
        size_t i = (size_t)k;
        if (!(p->capacity[i] > 0.0f)) {
            job->temperature[i] = job->b[i] = 0.0;
            job->mass[i] = 0.0f;
            continue;
        }
        heat_state state = state_of(p, i, job->energy[i]);
        double slope = fmax(state.slope, 1e-6 / (double)p->capacity[i]);
        job->mass[i] = (float)(1.0 / (slope * p->dt));
        job->temperature[i] = state.temperature;
        job->b[i] =
            (double)job->mass[i] * state.temperature + (job->rhs[i] - job->energy[i]) / p->dt;
    }
}

static void sum_exchange(void* data, int64_t begin, int64_t end) {
    const whole_job* job = data;
    const conduction_params* p = job->params;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double u = 0.0, flow = 0.0;
        for (int a = 0; a < AXES; ++a) {
            bool has_any = p->exchange[a] != NULL && p->capacity[i] > 0.0f;
            double part = has_any ? (double)p->exchange[a][i] : 0.0;
            u += part;
            flow += part > 0.0 ? part * (double)p->outside[a][i] : 0.0;
        }
        job->exchange[i] = (float)u;
        job->outside[i] = u > 0.0 ? (float)(flow / u) : 0.0f;
    }
}

// Puts in what mass and T' say of the energy. The largest change over what counts as none.
static double advance_tile(void* data, int64_t tile) {
    const whole_job* job = data;
    const conduction_params* p = job->params;
    double largest = 0.0;
    for (int64_t k = tile * TILE_CELLS; k < (tile + 1) * TILE_CELLS; ++k) {
        size_t i = (size_t)k;
        if (p->capacity[i] > 0.0f) {
            double old = state_of(p, i, job->energy[i]).temperature;
            double change = (double)job->mass[i] * p->dt * (job->temperature[i] - old);
            job->energy[i] += change;
            largest = fmax(largest, fabs(change) / least_energy(p, i));
        }
    }
    return largest;
}

static treacle_status solve_round(whole_job* job, solve_stats* stats) {
    const conduction_params* p = job->params;
    treacle_context* ctx = p->map->ctx;
    tile_for(p->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, linearise, job);
    diffusion_system system = {
        .domain = p->domain,
        .map = p->map,
        .conductance = {p->conductance[0], p->conductance[1], p->conductance[2]},
        .mass = job->mass,
        .exchange = job->exchange};
    diffusion_solver* solver = NULL;
    TREACLE_TRY(diffusion_solver_create(ctx, &system, &solver));
    diffusion_vectors vectors = {.b = job->b, .outside = job->outside, .x = job->temperature};
    treacle_status status = diffusion_solve(solver, &vectors, &p->solve, stats);
    diffusion_solver_destroy(solver);
    return status;
}

// job->temperature becomes that of the end of the step.
static treacle_status converge_whole(whole_job* job, solve_stats* stats) {
    const conduction_params* p = job->params;
    treacle_context* ctx = p->map->ctx;
    tile_for(p->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, sum_exchange, job);
    for (int round = 0; round < WHOLE_ROUNDS_MAX; ++round) {
        TREACLE_TRY(solve_round(job, stats));
        double largest = parallel_max(ctx, p->map->count, advance_tile, job);
        if (p->melt.latent == NULL || !(largest > WHOLE_TOLERANCE / NEWTON_TOLERANCE)) {
            break;
        }
    }
    return TREACLE_OK;
}

static treacle_status flow_by_lines(const conduction_params* p, const double* temperature,
                                    double* energy, double* exchanged) {
    for (int a = 0; a < AXES; ++a) {
        line_job job = {.params = p,
                        .axis = a,
                        .energy = energy,
                        .exchanged = exchanged,
                        .before = temperature};
        if (p->domain->is_active[a]) {
            TREACLE_TRY(step_axis(&job, begin_chains));
        }
    }
    return TREACLE_OK;
}

static treacle_status step_whole(const conduction_params* p, double* energy, double* exchanged,
                                 solve_stats* stats) {
    treacle_context* ctx = p->map->ctx;
    size_t values = ((size_t)p->map->count + 1) * TILE_CELLS;
    enum { DOUBLES = 3, FLOATS = 3 };
    void *doubles = NULL, *floats = NULL;
    treacle_status status;
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, DOUBLES * values, sizeof(double), "vectors of conduction", &doubles),
        finish);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, FLOATS * values, sizeof(float), "weights of conduction", &floats), finish);
    whole_job job = {.params = p, .rhs = energy, .energy = doubles, .mass = floats};
    job.temperature = job.energy + values;
    job.b = job.temperature + values;
    job.exchange = job.mass + values;
    job.outside = job.exchange + values;
    memcpy(job.energy, energy, values * sizeof(double));
    TREACLE_TRY_GOTO(converge_whole(&job, stats), finish);
    TREACLE_TRY_GOTO(flow_by_lines(p, job.temperature, energy, exchanged), finish);
finish:
    alloc_free(ctx, doubles, DOUBLES * values * sizeof(double));
    alloc_free(ctx, floats, FLOATS * values * sizeof(float));
    return status;
}

// --- the step ------------------------------------------------------------------------------------

typedef struct state_job {
    const conduction_params* params;
    const double* energy;
    double* temperature;
} state_job;

static void find_temperature(void* data, int64_t begin, int64_t end) {
    const state_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->temperature[i] = state_of(job->params, (size_t)i, job->energy[i]).temperature;
    }
}

static treacle_status step_adi(const conduction_params* p, double* energy, double* exchanged) {
    treacle_context* ctx = p->map->ctx;
    size_t values = ((size_t)p->map->count + 1) * TILE_CELLS;
    void* before = NULL;
    TREACLE_TRY(alloc_zero(ctx, values, sizeof(double), "temperature before", &before));
    state_job job = {p, energy, before};
    tile_for(p->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, find_temperature, &job);
    treacle_status status = flow_by_lines(p, before, energy, exchanged);
    if (status == TREACLE_OK) {
        status = step_by_lines(p, before, energy, exchanged);
    }
    alloc_free(ctx, before, values * sizeof(double));
    return status;
}

treacle_status conduction_step(const conduction_params* params, double* energy, double* exchanged,
                               solve_stats* stats) {
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(params->capacity != NULL && energy != NULL && exchanged != NULL);
    TREACLE_ASSERT(params->method != TREACLE_CONDUCTION_AUTO);
    TREACLE_ASSERT(params->melt.latent == NULL || params->melt.melted != NULL);
    TREACLE_ASSERT(energy != exchanged);
    *stats = (solve_stats){.is_converged = true};
    switch (params->method) {
    case TREACLE_CONDUCTION_IMPLICIT:
        return step_whole(params, energy, exchanged, stats);
    case TREACLE_CONDUCTION_ADI:
        return step_adi(params, energy, exchanged);
    case TREACLE_CONDUCTION_LOD:
    case TREACLE_CONDUCTION_AUTO:
        break;
    }
    return step_by_lines(params, NULL, energy, exchanged);
}

double conduction_temperature(const conduction_params* params, size_t cell, double energy) {
    TREACLE_ASSERT(cell < tile_map_values(params->map));
    TREACLE_ASSERT(params->capacity[cell] > 0.0f);
    return state_of(params, cell, energy).temperature;
}

double conduction_energy(const conduction_params* params, size_t cell, double temperature) {
    TREACLE_ASSERT(cell < tile_map_values(params->map));
    TREACLE_ASSERT(params->capacity[cell] > 0.0f);
    heat_curve curve = curve_of(params, cell);
    double before = params->melt.melted == NULL ? 0.0 : (double)params->melt.melted[cell];
    double melted = heat_curve_melted(&curve, temperature, before);
    return heat_curve_energy(&curve, temperature, melted);
}
