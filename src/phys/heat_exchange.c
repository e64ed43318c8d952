// Heat from outside: air, walls, flames, lamps.
//
// The free surface lies between cells inside the liquid and cells outside. A face between two such
// stands for h^2 |n_a| of it, n the surface's normal and a the axis of the face: over a plane,
// however it is tilted, these add up to its area. The inner cell exchanges along a
//
//     U = area / (1/(loss + radiated) + d/k),  radiated = e s (T^2 + T_air^2) (T + T_air)  [heat.7]
//
// with the air, d the distance from the cell's middle to the surface, k the conductivity, e the
// emissivity and s the constant of Stefan and Boltzmann: the fourth powers are split so that what
// is left is linear in the new T. A wall touches a cell's face whole, half a cell from its middle.
// A point of power P at a distance r lights it with
//
//     t P / (4 pi r^2) max(0, n . l),  l towards the point                                 [heat.8]
//
// t is what shadows leave of it (phys/shade.c). A lamp has all of its power in a cone around the
// direction in which it points: inside, 4 pi is the cone's 2 pi (1 - cos angle); outside, t is 0.
//
// A solid leaves the fractions f of a cell's two faces across axis a open; what is between them is
// the wall's: A_a = h^2 |f_high - f_low|, A = |(A_x, A_y, A_z)|, and along a the cell exchanges
//
//     U_a = A_a^2 / A / (1/contact + d/k)                                                 [heat.10]
//
// with d the distance from the wall of what the cell knows of. A flux is given to A as it is. The
// kernel of a cell whose middle is the distance s < h from a wall is cut off there, and its mean is
// that of a place farther from the wall, by
//
//     (h/6 - s^2/(2h) + |s|^3/(3h^2)) / m,  m = 1 - (1 - s/h)^2/2 or, behind the wall, (1 +
//     s/h)^2/2
//                                                                                         [heat.11]
//
// differs from [CMVT02 sec. 5.1], which has no loss: there heat sources only are named.
//
// Staggering: all at cells. Symbols: exchange (U), outside (T_air or a wall's), phi (-d/h).
// Properties that tests check: areas of tilted planes and balls; a lumped body's cooling.
#include "phys/heat_exchange.h"

#include <math.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

static const double stefan_boltzmann = 5.670374419e-8; // W/(m^2 K^4)
#define FOUR_PI 12.56637061435917295385

// --- the free surface ----------------------------------------------------------------------------

// The part of the surface that belongs to a cell.
typedef struct facet {
    double area[AXES]; // m^2, along each axis
    double normal[AXES];
    double depth; // m, of the cell's middle
} facet;

static const int block_step[AXES] = {1, BLOCK_SIDE(1, 1), BLOCK_SIDE(1, 1) * BLOCK_SIDE(1, 1)};

static void find_normal(const heat_cells* cells, const float* phi, double out[AXES]) {
    double squared = 0.0;
    for (int a = 0; a < AXES; ++a) {
        bool is_active = cells->domain->is_active[a];
        double d = (double)phi[block_step[a]] - (double)phi[-block_step[a]];
        out[a] = is_active ? d : 0.0;
        squared += out[a] * out[a];
    }
    for (int a = 0; a < AXES; ++a) {
        out[a] = squared > 0.0 ? out[a] / sqrt(squared) : 0.0;
    }
}

// False if the cell has none. phi points at the cell in its gathered block.
static bool find_facet(const heat_cells* cells, const float* phi, facet* out) {
    bool has_any = false;
    double h = cells->domain->h;
    *out = (facet){.depth = -(double)*phi * h};
    if (!(*phi < 0.0f)) {
        return false;
    }
    find_normal(cells, phi, out->normal);
    double size = fabs(out->normal[0]) + fabs(out->normal[1]) + fabs(out->normal[2]);
    for (int a = 0; a < AXES; ++a) {
        int faces = (phi[block_step[a]] >= 0.0f) + (phi[-block_step[a]] >= 0.0f);
        bool is_there = cells->domain->is_active[a] && faces > 0;
        // A drop of one cell has no normal: its faces are its surface.
        double fraction = size > 0.0 ? fabs(out->normal[a]) : 1.0;
        out->area[a] = is_there ? faces * fraction * h * h : 0.0;
        has_any = has_any || out->area[a] > 0.0;
    }
    return has_any;
}

typedef struct facet_job {
    const heat_cells* cells;
    const treacle_heat_def* def;
    const heat_lamp* lamp;
    void (*visit)(const struct facet_job* job, size_t i, const int at[AXES], const facet* f);
} facet_job;

static void visit_facets(void* data, int64_t begin, int64_t end) {
    const facet_job* job = data;
    const heat_cells* cells = job->cells;
    const int margin[2] = {1, 1};
    for (int64_t t = begin; t < end; ++t) {
        float phi[BLOCK_VALUES(1, 1)];
        gather_block(cells->map, cells->phi, (tile_ix)t, 1, 1, phi);
        gather_extend(cells->domain, cells->map->coord[t], margin, phi);
        for (int q = 0; q < TILE_CELLS; ++q) {
            size_t i = (size_t)t * TILE_CELLS + (size_t)q;
            if (!(cells->wet[i] > 0.0f)) {
                continue;
            }
            int at[AXES];
            facet f;
            tile_cell_at(cells->map, (tile_ix)t, q, at);
            const float* here = phi + BLOCK_INDEX(1, 1, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE,
                                                  q / TILE_SIZE / TILE_SIZE);
            if (find_facet(cells, here, &f)) {
                job->visit(job, i, at, &f);
            }
        }
    }
}

// Two things beyond a cell along an axis are one, in between.
static void add_exchange(const heat_cells* cells, int a, size_t i, double u, double outside) {
    double old = (double)cells->exchange[a][i], sum = old + u;
    if (u > 0.0) {
        double mean = (old * (double)cells->outside[a][i] + u * outside) / sum;
        cells->exchange[a][i] = (float)sum;
        cells->outside[a][i] = (float)mean;
    }
}

static void lose_to_air(const facet_job* job, size_t i, const int at[AXES], const facet* f) {
    const heat_cells* cells = job->cells;
    (void)at;
    double t = (double)cells->temperature[i], air = job->def->air,
           k = (double)cells->conductivity[i];
    double radiated =
        job->def->emissivity * stefan_boltzmann * (t * t + air * air) * (t + air); // [heat.7]
    double film = job->def->loss + radiated;
    double through = k > 0.0 ? film / (1.0 + film * f->depth / k) : film;
    for (int a = 0; a < AXES; ++a) {
        add_exchange(cells, a, i, f->area[a] * through, air);
    }
}

void heat_exchange_air(const heat_cells* cells, const treacle_heat_def* def) {
    TREACLE_ASSERT(cells->phi != NULL && cells->temperature != NULL);
    TREACLE_ASSERT(cells->exchange[0] != NULL && cells->outside[0] != NULL);
    facet_job job = {.cells = cells, .def = def, .visit = lose_to_air};
    if (def->loss > 0.0 || def->emissivity > 0.0) {
        tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, visit_facets, &job);
    }
}

static vec3 middle_of(const grid_domain* domain, const int at[AXES]) {
    vec3 x;
    for (int a = 0; a < AXES; ++a) {
        x.at[a] = domain->origin[a] + domain->h * (at[a] + 0.5);
    }
    return x;
}

static void give(const heat_cells* cells, size_t i, double heat) {
    cells->energy[i] += heat;
    cells->exchanged[i] += heat;
}

// What a lamp's cone makes of its power along `way`, from the surface to the lamp, of length r.
static double cone_factor(const heat_lamp* lamp, vec3 way, double r) {
    double cosine = -vec3_dot(way, lamp->aim) / r;
    bool is_round = vec3_dot(lamp->aim, lamp->aim) == 0.0;
    return is_round ? 1.0 : cosine >= lamp->edge ? 2.0 / (1.0 - lamp->edge) : 0.0;
}

static void light_up(const facet_job* job, size_t i, const int at[AXES], const facet* f) {
    const heat_lamp* lamp = job->lamp;
    vec3 normal = vec3_from(f->normal), way = vec3_make(0.0, 0.0, 0.0);
    vec3 x = vec3_add_scaled(middle_of(job->cells->domain, at), f->depth, normal);
    double along = 0.0, area = 0.0, h = job->cells->domain->h;
    for (int a = 0; a < AXES; ++a) {
        way.at[a] = job->cells->domain->is_active[a] ? lamp->place.at[a] - x.at[a] : 0.0;
        along += f->normal[a] * way.at[a];
        area += f->area[a];
    }
    double r = fmax(vec3_length(way), 0.5 * h), cone = cone_factor(lamp, way, r);
    if (!(along > 0.0 && cone > 0.0)) {
        return;
    }
    double seen = lamp->shade != NULL ? shade_light(lamp->shade, x, normal, lamp->place) : 1.0;
    double light = seen * cone * lamp->power / (FOUR_PI * r * r) * along / r; // [heat.8]
    give(job->cells, i, light * area * job->cells->dt);
}

void heat_exchange_radiant(const heat_cells* cells, const heat_lamp* lamp) {
    TREACLE_ASSERT(cells->phi != NULL && cells->energy != NULL && cells->exchanged != NULL);
    TREACLE_ASSERT(vec3_is_finite(lamp->place));
    TREACLE_ASSERT(cells->dt > 0.0);
    facet_job job = {.cells = cells, .lamp = lamp, .visit = light_up};
    tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, visit_facets, &job);
}

// --- sides of the domain -------------------------------------------------------------------------

typedef struct side_job {
    const heat_cells* cells;
    const heat_side* side;
} side_job;

static void touch_side(void* data, int64_t begin, int64_t end) {
    const side_job* job = data;
    const heat_cells* cells = job->cells;
    const heat_side* side = job->side;
    double h = cells->domain->h;
    int plane = side->end == 0 ? 0 : cells->domain->cells[side->axis] - 1;
    for (int64_t k = begin * TILE_CELLS; k < end * TILE_CELLS; ++k) {
        size_t i = (size_t)k;
        int at[AXES];
        tile_cell_at(cells->map, (tile_ix)(k / TILE_CELLS), (int)(k % TILE_CELLS), at);
        double area = h * h * (double)cells->wet[i];
        if (at[side->axis] != plane || !(area > 0.0)) {
            continue;
        }
        double conduct = 2.0 * (double)cells->conductivity[i] / h;
        double through = conduct > 0.0 ? 1.0 / (1.0 / side->contact + 1.0 / conduct) : 0.0;
        if (side->is_held) {
            add_exchange(cells, side->axis, i, area * through, side->temperature);
        } else {
            give(cells, i, area * side->flux * cells->dt);
        }
    }
}

void heat_exchange_side(const heat_cells* cells, const heat_side* side) {
    TREACLE_ASSERT(side->axis >= 0 && side->axis < AXES && side->end >= 0 && side->end < 2);
    TREACLE_ASSERT(cells->domain->is_active[side->axis] && !cells->domain->is_periodic[side->axis]);
    side_job job = {cells, side};
    tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, touch_side, &job);
}

// --- solids --------------------------------------------------------------------------------------

typedef struct solid_job {
    const heat_cells* cells;
    const heat_solids* solids;
} solid_job;

// Fractions of faces; nearer to closed they are closed.
#define CLOSED 1e-3

// The wall in a cell, along each axis in h^2; the sum of its squares. low and high are the
// fractions of its faces that are open; faces on sides of the domain are as open as those opposite.
static double find_solid_area(const double low[AXES], const double high[AXES], bool has_room,
                              double area[AXES]) {
    double squared = 0.0;
    for (int a = 0; a < AXES; ++a) {
        bool is_slot = has_room && low[a] < CLOSED && high[a] < CLOSED;
        area[a] = is_slot ? 2.0 : fabs(high[a] - low[a]);
        squared += area[a] * area[a];
    }
    return squared;
}

double heat_solid_shift(double phi) {
    TREACLE_ASSERT(!isnan(phi));
    double near = fabs(phi), side = phi >= 0.0 ? 1.0 - near : 0.0;
    double mass = phi >= 0.0 ? 1.0 - 0.5 * side * side : 0.5 * (1.0 - near) * (1.0 - near);
    double moment = 1.0 / 6.0 - near * near * (0.5 - near / 3.0);
    return phi <= -0.99 ? 0.99 : phi >= 1.0 ? 0.0 : moment / mass; // [heat.11]
}

static void touch_cell(const solid_job* job, size_t i, const double low[AXES],
                       const double high[AXES]) {
    const heat_cells* cells = job->cells;
    const heat_solids* solids = job->solids;
    const heat_touch* touch = &solids->touch[solids->cell_id[i]];
    double h = cells->domain->h, area[AXES];
    double squared = find_solid_area(low, high, solids->cell_open[i] > 0.1f, area);
    double phi = (double)solids->cell_phi[i], k = (double)cells->conductivity[i];
    double size = sqrt(squared) * h * h * (double)cells->wet[i];
    if (!(squared > CLOSED * CLOSED)) {
        return;
    }
    if (!touch->is_held) {
        give(cells, i, size * touch->flux * cells->dt);
        return;
    }
    double depth = fmax(phi + heat_solid_shift(phi), 0.01) * h;
    double through = k > 0.0 ? 1.0 / (1.0 / touch->contact + depth / k) : 0.0;
    for (int a = 0; a < AXES; ++a) {
        double fraction = area[a] * area[a] / squared;
        add_exchange(cells, a, i, size * fraction * through, touch->temperature); // [heat.10]
    }
}

static void touch_solids(void* data, int64_t begin, int64_t end) {
    const solid_job* job = data;
    const heat_cells* cells = job->cells;
    const heat_solids* solids = job->solids;
    const int side = BLOCK_SIDE(0, 1), step[AXES] = {1, side, side * side};
    for (int64_t t = begin; t < end; ++t) {
        float open[AXES][BLOCK_VALUES(0, 1)];
        for (int a = 0; a < AXES; ++a) {
            gather_block(cells->map, solids->face_open.at[a], (tile_ix)t, 0, 1, open[a]);
        }
        for (int q = 0; q < TILE_CELLS; ++q) {
            size_t i = (size_t)t * TILE_CELLS + (size_t)q;
            int id = solids->cell_id[i];
            bool is_there = cells->wet[i] > 0.0f && id < solids->count &&
                            (solids->touch[id].is_held || solids->touch[id].has_flux);
            if (!is_there) {
                continue;
            }
            int cell[AXES], at = BLOCK_INDEX(0, 1, q % TILE_SIZE, q / TILE_SIZE % TILE_SIZE,
                                             q / TILE_SIZE / TILE_SIZE);
            double low[AXES], high[AXES];
            tile_cell_at(cells->map, (tile_ix)t, q, cell);
            for (int a = 0; a < AXES; ++a) {
                bool is_inner = cells->domain->is_active[a];
                bool is_ring = cells->domain->is_periodic[a];
                low[a] = is_inner ? (double)open[a][at] : 1.0;
                high[a] = is_inner ? (double)open[a][at + step[a]] : 1.0;
                low[a] = is_inner && !is_ring && cell[a] == 0 ? high[a] : low[a];
                bool is_last = cell[a] == cells->domain->cells[a] - 1;
                high[a] = is_inner && !is_ring && is_last ? low[a] : high[a];
            }
            touch_cell(job, i, low, high);
        }
    }
}

void heat_exchange_solids(const heat_cells* cells, const heat_solids* solids) {
    TREACLE_ASSERT(solids->count >= 0 && (solids->touch != NULL || solids->count == 0));
    TREACLE_ASSERT(solids->cell_id != NULL && solids->cell_phi != NULL);
    solid_job job = {cells, solids};
    tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, touch_solids, &job);
}

// --- shapes --------------------------------------------------------------------------------------

typedef struct shape_job {
    const heat_cells* cells;
    const shape* where;
    float* weight; // J/K
    double factor; // J for a J/K
    double temperature;
} shape_job;

// How much of the cell the shape covers, about.
static double cover(const shape_job* job, int64_t i) {
    int at[AXES];
    tile_cell_at(job->cells->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
    double d = shape_distance(job->where, middle_of(job->cells->domain, at));
    return fmin(fmax(0.5 - d / job->cells->domain->h, 0.0), 1.0);
}

static void weigh_cover(void* data, int64_t begin, int64_t end) {
    const shape_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float capacity = job->cells->conduction->capacity[i];
        job->weight[i] = capacity > 0.0f ? (float)((double)capacity * cover(job, i)) : 0.0f;
    }
}

static double weight_of_tile(void* data, int64_t tile) {
    const shape_job* job = data;
    double sum = 0.0;
    for (int64_t i = tile * TILE_CELLS; i < (tile + 1) * TILE_CELLS; ++i) {
        sum += (double)job->weight[i];
    }
    return sum;
}

static void give_fraction(void* data, int64_t begin, int64_t end) {
    const shape_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (job->weight[i] > 0.0f) {
            give(job->cells, (size_t)i, job->factor * (double)job->weight[i]);
        }
    }
}

treacle_status heat_exchange_power(const heat_cells* cells, const shape* where, double power) {
    TREACLE_ASSERT(where != NULL && cells->scratch != NULL);
    TREACLE_ASSERT(cells->dt > 0.0 && isfinite(power));
    treacle_context* ctx = cells->map->ctx;
    shape_job job = {.cells = cells, .where = where};
    size_t values = (size_t)cells->map->count * TILE_CELLS;
    TREACLE_TRY(
        arena_take(cells->scratch, values, sizeof(float), "heated cells", (void**)&job.weight));
    tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, weigh_cover, &job);
    double sum = parallel_sum(ctx, cells->map->count, weight_of_tile, &job);
    if (sum > 0.0) {
        job.factor = power * cells->dt / sum;
        tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, give_fraction, &job);
    }
    arena_give(cells->scratch, job.weight);
    return TREACLE_OK;
}

static void gain_by_rate(void* data, int64_t begin, int64_t end) {
    const shape_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double capacity = (double)job->cells->conduction->capacity[i];
        if (capacity > 0.0) {
            give(job->cells, (size_t)i, job->factor * capacity * cover(job, i));
        }
    }
}

void heat_exchange_rate(const heat_cells* cells, const shape* where, double rate) {
    TREACLE_ASSERT(where != NULL && cells->conduction != NULL);
    TREACLE_ASSERT(cells->dt > 0.0 && isfinite(rate));
    shape_job job = {.cells = cells, .where = where, .factor = rate * cells->dt};
    tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, gain_by_rate, &job);
}

static void hold(void* data, int64_t begin, int64_t end) {
    const shape_job* job = data;
    const heat_cells* cells = job->cells;
    for (int64_t k = begin * TILE_CELLS; k < end * TILE_CELLS; ++k) {
        size_t i = (size_t)k;
        double fraction = cells->conduction->capacity[i] > 0.0f ? cover(job, k) : 0.0;
        if (fraction > 0.0) {
            double target = conduction_energy(cells->conduction, i, job->temperature);
            give(cells, i, fraction * (target - cells->energy[i]));
        }
    }
}

void heat_exchange_hold(const heat_cells* cells, const shape* where, double temperature) {
    TREACLE_ASSERT(where != NULL && cells->conduction != NULL);
    TREACLE_ASSERT(temperature > 0.0);
    shape_job job = {.cells = cells, .where = where, .temperature = temperature};
    tile_for(cells->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, hold, &job);
}
