// Weights of mass and stress [BB08 sec. 5]. Over rho_ref and with r = dt / (rho_ref h^2):
//
//     mass at faces     rho_f / rho_ref A_f V_f
//     weight at cells   r mu V_c                weight at edges   r mu V_e                 [visc.2]
//
// V are fractions of liquid: of the cell, of the box around the edge, and for the face what the
// caller says. There are no boundary rows at the surface: where V_c and V_e are 0 there is no
// stress.
//
// Walls lie on grid planes. Faces on a wall are fixed. The edges on a wall hold the shear between
// the liquid and the wall, half a cell away: with the wall's velocity at the mirror place of the
// face, a full cell away, the weight must be doubled at a no-slip side, or multiplied with
// 1/(1/2 + b/h) if it slips as far as b behind the side [visc.3], and is 0 at a slip side. On an
// open side half of the box of a face lies outside, and there is no shear.
//
// A side may move in its own plane with the velocity v, as a belt does. Its edges then pull by
// w (v - u) instead of -w u: the weights stay as they are, and w v is an impulse on the face beside
// the side [visc.6].
//
// Solids that lie across the grid change the weights beside them: phys/slip_stress.c.
//
// Between samples viscosity is the geometric mean: log mu is averaged [CMVT02 sec. 5.2]. The
// arithmetic and the harmonic mean are for comparison.
//
// Staggering: mass on faces, mu, V_c at cells, V_e at edges along the third axis.
// Symbols: cell_fraction, edge_fraction, face_fraction (V), cell_log_mu, face_rho (rho_f /
// rho_ref), face_open (A). Properties that tests check: rigid motion is free; momentum is kept; a
// film's profile.
#include "phys/stress.h"

#include <math.h>

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/stagger.h"
#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "phys/flow_bodies.h"
#include "phys/rheology.h"

static const double least_view = 0.1; // of the wider view of a face, that its mass is taken from
static const double firm = 1e3;       // times the weight of stress: where viscosity is enough

// A mean and the viscosity that it stands for. Next to all samples have that of the one before:
// exponentials were 1.7 % of a dam's steps.
typedef struct last_mean {
    double value, mu;
} last_mean;

typedef struct stress_job {
    const stress_params* params;
    const stress_weights* out;
    last_mean* last; // of the thread that works at it
} stress_job;

static bool is_inside(const grid_domain* domain, const int at[AXES]) {
    return at[0] < domain->cells[0] && at[1] < domain->cells[1] && at[2] < domain->cells[2];
}

static bool is_on_side(const grid_domain* domain, int a, int at) {
    return domain->is_active[a] && !domain->is_periodic[a] && (at == 0 || at == domain->cells[a]);
}

// What a place on the side of axis a at index `at` does to a weight there [visc.3]; 1 inside.
static double side_factor(const grid_domain* domain, int a, int at, bool is_edge) {
    if (!is_on_side(domain, a, at)) {
        return at < domain->cells[a] ? 1.0 : 0.0;
    }
    int side = at == 0 ? 0 : 1;
    switch (domain->sides[a][side]) {
    case TREACLE_SIDE_NO_SLIP:
        return is_edge ? 1.0 / (0.5 + domain->slip_length[a][side] / domain->h) : 0.0;
    case TREACLE_SIDE_OPEN:
        return is_edge ? 0.0 : 0.5;
    case TREACLE_SIDE_SLIP:
    case TREACLE_SIDE_PERIODIC:
        break;
    }
    return 0.0;
}

// What is averaged over the cells around an edge: log mu, mu or 1/mu; rheology_from_mean() goes
// back.
static double to_mean(treacle_viscosity_mean mean, double log_mu) {
    return mean == TREACLE_VISCOSITY_GEOMETRIC
               ? log_mu
               : elementary_exp(mean == TREACLE_VISCOSITY_ARITHMETIC ? log_mu : -log_mu);
}

// What the viscosities of cells are on average, as it is averaged; NAN if none is known
// [CMVT02 sec. 5.2].
static double mean_value(treacle_viscosity_mean mean, int count, const float* const log_mu[]) {
    double sum = 0.0;
    int known = 0;
    for (int i = 0; i < count; ++i) {
        bool is_known = *log_mu[i] > VISCOSITY_NONE;
        sum += is_known ? to_mean(mean, (double)*log_mu[i]) : 0.0;
        known += is_known;
    }
    return known > 0 ? sum / known : (double)NAN;
}

// The mean itself; 0 if none is known.
static double mean_of(treacle_viscosity_mean mean, int count, const float* const log_mu[]) {
    double value = mean_value(mean, count, log_mu);
    return isnan(value) ? 0.0 : rheology_from_mean(mean, value);
}

// r times the mean that the def asks for.
static double mean_weight(const stress_job* job, int count, const float* const log_mu[]) {
    const stress_params* p = job->params;
    last_mean* last = job->last;
    double r = p->dt / (p->reference_density * p->domain->h * p->domain->h);
    double value = mean_value(p->mean, count, log_mu);
    if (isnan(value)) {
        return r * 0.0;
    }
    if (value != last->value) {
        *last = (last_mean){value, rheology_from_mean(p->mean, value)};
    }
    return r * last->mu;
}

// Edge along c: between the axes a and b.
static float edge_weight(const stress_job* job, int c, const int at[AXES], double volume,
                         const float* log_mu) {
    const grid_domain* domain = job->params->domain;
    int a = (c + 1) % AXES, b = (c + 2) % AXES;
    static const int side = BLOCK_SIDE(1, 0);
    const int step[AXES] = {1, side, side * side};
    if (!domain->is_active[a] || !domain->is_active[b] || at[c] >= domain->cells[c]) {
        return 0.0f;
    }
    double factor = side_factor(domain, a, at[a], true) * side_factor(domain, b, at[b], true);
    if (!(volume * factor > 0.0)) {
        return 0.0f;
    }
    const float* const around[] = {log_mu, log_mu - step[a], log_mu - step[b],
                                   log_mu - step[a] - step[b]};
    return (float)(mean_weight(job, 4, around) * volume * factor); // [visc.2]
}

// Both cells of a face have half of its mass: A_f V_f is their harmonic mean where they see another
// fraction of it open [sep.6].
static double mean_opening(const stress_params* p, int a, size_t i) {
    double above = stress_opening(p, a, (int64_t)i, false);
    double below = stress_opening(p, a, (int64_t)i, true);
    return above == below ? above : 2.0 * above * below / (above + below);
}

// What its mass is taken from. A cell that sees the face open pushes it, though the other see it
// closed: without any mass nothing but viscosity would hold against that, and where there is none
// the solve would have no answer. Where viscosity does, the face moves as the stress lets it.
static double heavy_opening(const stress_job* job, int a, size_t i, const float* log_mu) {
    const stress_params* p = job->params;
    static const int side = BLOCK_SIDE(1, 0);
    const int step[AXES] = {1, side, side * side};
    const float* const around[] = {log_mu, log_mu - step[a]};
    double above = stress_opening(p, a, (int64_t)i, false);
    double below = stress_opening(p, a, (int64_t)i, true);
    if (above == below) {
        return above;
    }
    double held = 1.0 + firm * mean_weight(job, 2, around);
    return fmax(mean_opening(p, a, i), least_view * fmax(above, below) / held);
}

static float face_mass(const stress_job* job, int a, const int at[AXES], size_t i,
                       const float* log_mu) {
    const stress_params* p = job->params;
    const float* rho = p->face_rho.at[a];
    double opening = heavy_opening(job, a, i, log_mu);
    bool has_liquid = opening > 0.0 && (rho == NULL || isfinite(rho[i]));
    double factor = side_factor(p->domain, a, at[a], false);
    factor = has_liquid && factor == 0.0 && at[a] <= p->domain->cells[a] ? 0.5 : factor; // let go
    double density = rho == NULL ? 1.0 : (double)rho[i];
    double fraction = (double)p->face_fraction.at[a][i] * opening;
    return has_liquid ? (float)(density * fraction * factor) : 0.0f;
}

static bool is_given(const stress_params* p, int a, size_t i) {
    return !p->domain->is_active[a] || !(mean_opening(p, a, i) > 0.0) ||
           (p->face_rho.at[a] != NULL && isinf(p->face_rho.at[a][i]));
}

// Whether there is no liquid in a cell, nor at the faces and edges that it owns.
static bool is_dry(const stress_params* p, size_t i) {
    bool is_wet = p->cell_fraction[i] > 0.0f;
    for (int a = 0; a < AXES; ++a) {
        is_wet = is_wet || p->edge_fraction.at[a][i] > 0.0f || p->face_fraction.at[a][i] > 0.0f;
    }
    return !is_wet;
}

static void weigh_cell(const stress_job* job, tile_ix tile, int q, const float* log_mu) {
    const stress_params* p = job->params;
    const grid_domain* domain = p->domain;
    size_t i = (size_t)tile * TILE_CELLS + (size_t)q;
    for (int a = 0; a < AXES; ++a) {
        job->out->fixed[i] |= (uint8_t)(is_given(p, a, i) ? 1u << a : 0u);
    }
    if (is_dry(p, i)) {
        return; // weights are zero
    }
    int at[AXES];
    tile_cell_at(p->map, tile, q, at);
    unsigned cut = p->cell_cut != NULL ? p->cell_cut[i] : 0;
    if (is_inside(domain, at) && p->cell_fraction[i] > 0.0f && (cut & STRESS_CUT_CELL) == 0) {
        job->out->cell[i] = (float)(mean_weight(job, 1, &log_mu) * (double)p->cell_fraction[i]);
    }
    for (int a = 0; a < AXES; ++a) {
        bool is_cut = (cut >> a & 1) != 0;
        job->out->edge[a][i] =
            is_cut ? 0.0f : edge_weight(job, a, at, (double)p->edge_fraction.at[a][i], log_mu);
        bool is_fixed = (job->out->fixed[i] >> a & 1) != 0;
        job->out->mass[a][i] = is_fixed ? 0.0f : face_mass(job, a, at, i, log_mu);
    }
}

static bool is_closed_by_solid(const stress_params* p, int a, const int at[AXES], size_t i) {
    const grid_domain* domain = p->domain;
    bool is_low = at[a] == 0, is_high = at[a] == domain->cells[a];
    bool is_side = (is_low && domain->sides[a][0] != TREACLE_SIDE_OPEN) ||
                   (is_high && domain->sides[a][1] != TREACLE_SIDE_OPEN);
    return domain->is_active[a] && !(is_side && !domain->is_periodic[a]) &&
           !(mean_opening(p, a, i) > 0.0);
}

// What the solid beside a cell does to its weights.
static void apply_slip(const stress_job* job, tile_ix tile, int q, const slip_effect* effect,
                       const float* log_mu) {
    static const int side = BLOCK_SIDE(1, 0);
    const int step[AXES] = {1, side, side * side};
    const stress_weights* out = job->out;
    size_t i = (size_t)tile * TILE_CELLS + (size_t)q;
    int at[AXES];
    tile_cell_at(job->params->map, tile, q, at);
    out->cell[i] *= (float)effect->cell;
    for (int a = 0; a < AXES; ++a) {
        out->edge[a][i] *= (float)effect->edge[a];
        if (effect->is_free && is_closed_by_solid(job->params, a, at, i)) {
            out->fixed[i] &= (uint8_t) ~(1u << a);
            out->mass[a][i] = face_mass(job, a, at, i, log_mu);
        }
        if (effect->is_behind[a]) {
            if (out->body_liquid[a] != NULL) {
                out->body_liquid[a][i] = out->mass[a][i];
            }
            out->mass[a][i] = 0.0f;
            out->fixed[i] |= (uint8_t)(1u << a);
        } else if (effect->drag[a] > 0.0 && !(out->fixed[i] >> a & 1)) {
            const float* const around[] = {log_mu, log_mu - step[a]};
            double fraction = (double)job->params->face_fraction.at[a][i]; // wet part of the wall
            double weight = mean_weight(job, 2, around);
            out->drag[a][i] = (float)(weight * effect->drag[a] * fraction);
            out->mass[a][i] += out->drag[a][i];
        }
    }
}

static void apply_slips(const stress_job* job, tile_ix t, const float* log_mu) {
    const stress_params* p = job->params;
    slip_block block;
    gather_block(p->map, p->cell_solid_phi, t, 1, 1, block.phi);
    for (int q = 0; q < TILE_CELLS; ++q) {
        int x = q % TILE_SIZE, y = q / TILE_SIZE % TILE_SIZE, z = q / TILE_SIZE / TILE_SIZE;
        size_t i = (size_t)t * TILE_CELLS + (size_t)q;
        uint16_t id = p->cell_solid_id[i];
        bool is_here =
            x < tile_layers(p->map, 0) && y < tile_layers(p->map, 1) && z < tile_layers(p->map, 2);
        if (is_here && id != SLIP_NONE && p->cell_solid_phi[i] < SLIP_REACH) {
            int at = BLOCK_INDEX(1, 1, x, y, z);
            slip_effect effect = id == SLIP_LET_GO
                                     ? slip_let_go()
                                     : slip_stress(&block, at, p->domain, &p->slips[id]);
            apply_slip(job, t, q, &effect, log_mu + BLOCK_INDEX(1, 0, x, y, z));
        }
    }
}

// The body that moves a fixed face: the one that closes it, or else the nearest; 0 for none. Sides
// of the domain and emitters hold their faces themselves.
static uint16_t owner_of(const stress_job* job, tile_ix tile, int q, int a) {
    const stress_params* p = job->params;
    const flow_bodies* bodies = p->bodies;
    const grid_domain* domain = p->domain;
    size_t i = (size_t)tile * TILE_CELLS + (size_t)q;
    int at[AXES];
    tile_cell_at(p->map, tile, q, at);
    bool is_side = !domain->is_periodic[a] && (at[a] == 0 || at[a] >= domain->cells[a]);
    bool is_prescribed = p->face_rho.at[a] != NULL && isinf(p->face_rho.at[a][i]);
    if (!(job->out->fixed[i] >> a & 1) || !domain->is_active[a] || is_side || is_prescribed) {
        return 0;
    }
    int id = bodies->solid[a][i] != SOLID_NONE ? bodies->solid[a][i] : p->cell_solid_id[i];
    int b = id - bodies->first_solid;
    return b >= 0 && b < bodies->count ? (uint16_t)(b + 1) : 0;
}

static void find_owners(const stress_job* job, tile_ix t) {
    const stress_weights* out = job->out;
    for (int n = 0; n < AXES * TILE_CELLS; ++n) {
        int a = n / TILE_CELLS, q = n % TILE_CELLS;
        size_t i = (size_t)t * TILE_CELLS + (size_t)q;
        out->owner[a][i] = owner_of(job, t, q, a);
        out->body_liquid[a][i] = out->owner[a][i] != 0 ? out->body_liquid[a][i] : 0.0f;
    }
}

// Calls f for all cells of a tile, with the viscosity around them.
typedef void cell_fcn(const stress_job* job, tile_ix tile, int q, const float* log_mu);
static void each_cell(const stress_job* job, tile_ix t, const float* log_mu, cell_fcn* f) {
    const tile_map* map = job->params->map;
    for (int z = 0; z < tile_layers(map, 2); ++z) {
        for (int y = 0; y < tile_layers(map, 1); ++y) {
            for (int x = 0; x < tile_layers(map, 0); ++x) {
                f(job, t, (z * TILE_SIZE + y) * TILE_SIZE + x, log_mu + BLOCK_INDEX(1, 0, x, y, z));
            }
        }
    }
}

// Whether all values are the same; NAN is not.
static bool are_all(const float* values, int count, float value) {
    int others = 0;
    for (int i = 0; i < count; ++i) {
        others |= values[i] != value;
    }
    return others == 0;
}

static bool are_finite(const float* values, int count) {
    int others = 0;
    for (int i = 0; i < count; ++i) {
        others |= !(fabsf(values[i]) < INFINITY);
    }
    return others == 0;
}

// Whether a tile is full of one liquid, and has no side, emitter or closed face: most of a pool is.
static bool is_even(const stress_params* p, tile_ix t, const float* log_mu) {
    size_t first = (size_t)t * TILE_CELLS;
    bool is_so = p->cell_cut == NULL && log_mu[0] > VISCOSITY_NONE &&
                 are_all(p->cell_fraction + first, TILE_CELLS, 1.0f) &&
                 are_all(log_mu, BLOCK_VALUES(1, 0), log_mu[0]);
    for (int a = 0; a < AXES && is_so; ++a) {
        int low = p->map->coord[t].at[a] * TILE_SIZE;
        is_so = p->domain->is_active[a] && low > 0 && low + TILE_SIZE <= p->domain->cells[a] &&
                p->face_open_below.at[a] == NULL &&
                are_all(p->face_open.at[a] + first, TILE_CELLS, 1.0f) &&
                are_all(p->edge_fraction.at[a] + first, TILE_CELLS, 1.0f) &&
                are_all(p->face_fraction.at[a] + first, TILE_CELLS, 1.0f) &&
                (p->face_rho.at[a] == NULL || are_finite(p->face_rho.at[a] + first, TILE_CELLS));
    }
    return is_so;
}

// What weigh_cell would find in each cell of such a tile. The faces are unknowns, as they were.
static void weigh_even(const stress_job* job, tile_ix t, const float* log_mu) {
    const stress_params* p = job->params;
    float weight = (float)mean_weight(job, 1, &log_mu);
    for (size_t i = (size_t)t * TILE_CELLS; i < ((size_t)t + 1) * TILE_CELLS; ++i) {
        job->out->cell[i] = weight;
        for (int a = 0; a < AXES; ++a) {
            job->out->edge[a][i] = weight;
            job->out->mass[a][i] = p->face_rho.at[a] != NULL ? p->face_rho.at[a][i] : 1.0f;
        }
    }
}

static void weigh_tiles(void* data, int64_t begin, int64_t end) {
    last_mean last = {.value = (double)NAN};
    stress_job of_thread = *(const stress_job*)data;
    const stress_job* job = &of_thread;
    const stress_params* p = job->params;
    of_thread.last = &last;
    for (int64_t t = begin; t < end; ++t) {
        float log_mu[BLOCK_VALUES(1, 0)];
        gather_block(p->map, p->cell_log_mu, (tile_ix)t, 1, 0, log_mu);
        if (is_even(p, (tile_ix)t, log_mu)) {
            weigh_even(job, (tile_ix)t, log_mu);
        } else {
            each_cell(job, (tile_ix)t, log_mu, weigh_cell);
        }
        if (p->cell_solid_phi != NULL) {
            apply_slips(job, (tile_ix)t, log_mu);
        }
        if (p->cell_solid_phi != NULL && p->bodies != NULL) {
            find_owners(job, (tile_ix)t);
        }
    }
}

// --- stress that is there before -----------------------------------------------------------------

// A stress sigma at a sample of weight w = r mu V, V the volume with all that walls make of it, has
// the pull = dt / (rho_ref h) V sigma = w h sigma / mu [elastic.3].
//
// Beside a wall that holds the liquid V is too large by 1 / theta, which stands for the square of
// the velocity's slope over theta of the volume; sigma works on the slope itself, and theta times 1
// / theta is 1. On a side of the domain theta is 1/2, with a slip length, too: [elastic.4] 1/2 /
// (1/2 + b/h) of the stress reaches the wall.
static double fraction_of_cell(const stress_job* job, size_t i, const float* log_mu) {
    const stress_params* p = job->params;
    double weight = (double)job->out->cell[i], fraction = (double)p->cell_fraction[i];
    bool is_near_solid = p->cell_solid_phi != NULL && p->cell_solid_phi[i] < SLIP_REACH;
    return !(weight > 0.0) ? 0.0
           : is_near_solid ? fmin(weight / mean_weight(job, 1, &log_mu), fraction)
                           : fraction;
}

// Particles bring the mean of their stress to an edge, but where viscosities around it differ its
// stiffness is a lower mean than that: gel beside water is sheared by no more than water bears.
// Stress and stiffness are of the same material, so the stress counts as much less [elastic.7].
static double softness(const stress_params* p, const float* const log_mu[4]) {
    bool is_even = true;
    for (int i = 0; i < 4; ++i) {
        is_even = is_even && *log_mu[i] == *log_mu[0];
    }
    double most = is_even ? 0.0 : mean_of(TREACLE_VISCOSITY_ARITHMETIC, 4, log_mu);
    return most > 0.0 ? fmin(mean_of(p->mean, 4, log_mu) / most, 1.0) : 1.0;
}

// The fraction of liquid at the edge along a.
static double fraction_of_edge(const stress_job* job, int a, const int at[AXES], size_t i,
                               const float* log_mu) {
    const stress_params* p = job->params;
    static const int side = BLOCK_SIDE(1, 0);
    const int step[AXES] = {1, side, side * side};
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    double weight = (double)job->out->edge[a][i], fraction = (double)p->edge_fraction.at[a][i];
    bool is_side = is_on_side(p->domain, b, at[b]) || is_on_side(p->domain, c, at[c]);
    bool is_near_solid = p->cell_solid_phi != NULL && p->cell_solid_phi[i] < SLIP_REACH;
    if (!(weight > 0.0)) {
        return 0.0;
    }
    const float* const around[] = {log_mu, log_mu - step[b], log_mu - step[c],
                                   log_mu - step[b] - step[c]};
    double whole =
        is_side || is_near_solid
            ? fmin(weight / mean_weight(job, 4, around) * (is_side ? 0.5 : 1.0), fraction)
            : fraction;
    return whole * softness(p, around);
}

static void pull_cell(const stress_job* job, tile_ix tile, int q, const float* log_mu) {
    const stress_params* p = job->params;
    size_t i = (size_t)tile * TILE_CELLS + (size_t)q;
    int at[AXES];
    tile_cell_at(p->map, tile, q, at);
    double rh = p->dt / (p->reference_density * p->domain->h);
    double fraction = fraction_of_cell(job, i, log_mu);
    for (int a = 0; a < AXES; ++a) {
        p->stress->cell[a][i] *= (float)(rh * fraction);
        p->stress->edge[a][i] *= (float)(rh * fraction_of_edge(job, a, at, i, log_mu));
    }
}

static void pull_tiles(void* data, int64_t begin, int64_t end) {
    last_mean last = {.value = (double)NAN};
    stress_job job = *(const stress_job*)data;
    job.last = &last;
    for (int64_t t = begin; t < end; ++t) {
        float log_mu[BLOCK_VALUES(1, 0)];
        gather_block(job.params->map, job.params->cell_log_mu, (tile_ix)t, 1, 0, log_mu);
        each_cell(&job, (tile_ix)t, log_mu, pull_cell);
    }
}

void stress_add_force(const stress_params* params, const stress_weights* weights, double* force) {
    TREACLE_ASSERT(weights->fixed != NULL && force != NULL);
    TREACLE_ASSERT(params->dt > 0.0);
    if (params->stress == NULL) {
        return;
    }
    stress_job job = {.params = params, .out = weights};
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, pull_tiles, &job);
    tensor_add_divergence(params->map, params->stress, force);
}

// --- walls ---------------------------------------------------------------------------------------

double stress_given_velocity(const stress_params* params, int axis, int64_t face, double u) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    TREACLE_ASSERT(face >= 0 && face < (int64_t)tile_map_values(params->map));
    bool is_prescribed =
        params->face_rho.at[axis] != NULL && isinf(params->face_rho.at[axis][face]);
    const float* held = params->face_solid_u.at[axis];
    return is_prescribed && params->face_open.at[axis][face] > 0.0f ? u
           : held != NULL                                           ? (double)held[face]
                                                                    : 0.0;
}

double stress_slip_velocity(const stress_params* p, int axis, int64_t face) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    TREACLE_ASSERT(p->cell_solid_id != NULL && p->poses != NULL);
    int at[AXES];
    vec3 x;
    tile_cell_at(p->map, (tile_ix)(face / TILE_CELLS), (int)(face % TILE_CELLS), at);
    for (int a = 0; a < AXES; ++a) {
        double offset = (double)place_offset(place_face(axis), a);
        x.at[a] = p->domain->origin[a] + p->domain->h * (at[a] + offset);
    }
    return solid_velocity(&p->poses[p->cell_solid_id[face]], x).at[axis];
}

// What sides that move pull at a face [visc.6].
static double pull_of_sides(const stress_params* p, const stress_weights* weights, int axis,
                            int64_t face) {
    const grid_domain* domain = p->domain;
    double sum = 0.0;
    int at[AXES], q = (int)(face % TILE_CELLS);
    tile_ix tile = (tile_ix)(face / TILE_CELLS);
    tile_cell_at(p->map, tile, q, at);
    for (int b = 0; b < AXES; ++b) {
        int c = AXES - axis - b;
        if (b == axis || domain->is_periodic[b]) {
            continue;
        }
        if (at[b] == 0) {
            sum += (double)weights->edge[c][face] * domain->side_u[b][0][axis];
        }
        if (at[b] == domain->cells[b] - 1) {
            int64_t edge = tile_slot_above(p->map, tile, q, b);
            sum += (double)weights->edge[c][edge] * domain->side_u[b][1][axis];
        }
    }
    return sum;
}

double stress_impulse_dragged(const stress_params* params, const stress_weights* weights, int axis,
                              int64_t face, double u) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    TREACLE_ASSERT(face >= 0 && face < (int64_t)tile_map_values(params->map));
    double mass = (double)weights->mass[axis][face], impulse = mass * u;
    double drag = weights->drag[axis] != NULL ? (double)weights->drag[axis][face] : 0.0;
    if (drag > 0.0) {
        bool is_body =
            params->bodies != NULL && params->cell_solid_id[face] >= params->bodies->first_solid;
        double pull = is_body ? 0.0 : drag * stress_slip_velocity(params, axis, face);
        impulse = (mass - drag) * u + pull;
    }
    bool has_side = params->domain->has_belts && face / TILE_CELLS < params->map->count;
    return has_side ? impulse + pull_of_sides(params, weights, axis, face) : impulse;
}

// --- creation ------------------------------------------------------------------------------------

enum { FIELDS = 1 + 2 * AXES, FIELDS_OF_DRAG = AXES, FIELDS_OF_BODIES = AXES };

static size_t field_count(const stress_params* params) {
    return FIELDS + (size_t)(params->cell_solid_phi != NULL ? FIELDS_OF_DRAG : 0) +
           (size_t)(params->bodies != NULL ? FIELDS_OF_BODIES : 0);
}

static size_t stress_field_length(const stress_params* params) {
    return ((size_t)params->map->count + 1) * TILE_CELLS;
}

static treacle_status create_owners(const stress_params* params, stress_weights* out) {
    size_t values = stress_field_length(params);
    if (params->bodies == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(params->map->ctx, AXES * values, sizeof(uint16_t), "faces of bodies",
                           (void**)&out->owners));
    for (int a = 0; a < AXES; ++a) {
        out->owner[a] = out->owners + (size_t)a * values;
        out->body_liquid[a] = out->block + (size_t)(FIELDS + FIELDS_OF_DRAG + a) * values;
    }
    return TREACLE_OK;
}

treacle_status stress_weights_create(const stress_params* params, stress_weights* out) {
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(params->reference_density > 0.0);
    TREACLE_ASSERT(params->cell_fraction != NULL && params->cell_log_mu != NULL);
    TREACLE_ASSERT(params->cell_solid_id == NULL ||
                   (params->cell_solid_phi != NULL && params->slips != NULL));
    treacle_context* ctx = params->map->ctx;
    size_t values = stress_field_length(params);
    *out = (stress_weights){0};
    TREACLE_TRY(alloc_zero(ctx, field_count(params) * values, sizeof(float), "weights of the flow",
                           (void**)&out->block));
    treacle_status status;
    TREACLE_TRY_GOTO(alloc_zero(ctx, values, 1, "fixed faces", (void**)&out->fixed), fail);
    TREACLE_TRY_GOTO(create_owners(params, out), fail);
    out->cell = out->block;
    for (int a = 0; a < AXES; ++a) {
        out->edge[a] = out->block + (size_t)(1 + a) * values;
        out->mass[a] = out->block + (size_t)(1 + AXES + a) * values;
        bool is_near_solid = params->cell_solid_phi != NULL;
        out->drag[a] = is_near_solid ? out->block + (size_t)(FIELDS + a) * values : NULL;
    }
    stress_job job = {.params = params, .out = out};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {{.at = out->block, .fields = (int64_t)field_count(params)},
                                    {.at = out->owners,
                                     .tile_bytes = TILE_CELLS * sizeof(uint16_t),
                                     .fields = AXES},
                                    tile_block(out->fixed, TILE_CELLS, TILE_TO_HOLDERS)}},
             weigh_tiles, &job);
    return TREACLE_OK;
fail:
    stress_weights_destroy(params, out);
    return status;
}

void stress_weights_destroy(const stress_params* params, stress_weights* weights) {
    treacle_context* ctx = params->map->ctx;
    size_t values = stress_field_length(params);
    alloc_free(ctx, weights->block, field_count(params) * values * sizeof(float));
    alloc_free(ctx, weights->fixed, values);
    alloc_free(ctx, weights->sheet_cell, STRESS_SHEETS * values * sizeof(float));
    alloc_free(ctx, weights->owners, AXES * values * sizeof(uint16_t));
    *weights = (stress_weights){0};
}

viscosity_weights stress_weights_view(const stress_weights* weights) {
    TREACLE_ASSERT(weights->block != NULL && weights->fixed != NULL);
    viscosity_weights view = {.cell = weights->cell, .fixed = weights->fixed};
    for (int a = 0; a < AXES; ++a) {
        view.edge[a] = weights->edge[a];
        view.mass[a] = weights->mass[a];
        view.owner[a] = weights->owner[a];
        view.sheet[a][0] = weights->sheet[a][0];
        view.sheet[a][1] = weights->sheet[a][1];
    }
    return view;
}
