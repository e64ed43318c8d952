// Parts of a liquid's step, one by one; see treacle/unstable/stages.h.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/fraction.h"
#include "grid/stagger.h"
#include "grid/tile_band.h"
#include "grid/tile_loop.h"
#include "grid/tile_sample.h"
#include "math/field.h"
#include "phys/advect.h"
#include "phys/transfer.h"
#include "sim/stages_liquid.h"
#include "step/build_tiles.h"
#include "step/move_particles.h"
#include "step/move_solids.h"
#include "treacle/unstable/stages.h"

treacle_status stages_check_flow(const treacle_sim* sim) {
    bool has_grid = sim->def.flow != TREACLE_FLOW_NONE;
    return has_grid ? TREACLE_OK
                    : check_fail(sim->ctx, TREACLE_ERR_USAGE,
                                 "the flow is none: particles fly freely, there is no grid");
}

treacle_status stages_work_begin(treacle_sim* sim, treacle_step_stats* stats, step_work* out) {
    TREACLE_ASSERT(stats != NULL && sim->def.flow != TREACLE_FLOW_NONE);
    liquid_state_destroy(&sim->next.liquid);
    *out = (step_work){
        .f = {.ctx = sim->ctx,
              .setup = &sim->setup,
              .scratch = &sim->scratch,
              .dt = sim->def.step.max_dt,
              .time = sim->now.time,
              .is_first = true,
              .stats = stats},
        .p = &sim->now.particles,
        .before = &sim->now.liquid,
        .state = &sim->next.liquid,
    };
    size_t bodies = (size_t)sim->setup.bodies.count;
    TREACLE_TRY(
        arena_take(&sim->scratch, bodies, sizeof(body_state), "bodies", (void**)&out->bodies));
    if (bodies > 0) {
        memcpy(out->bodies, sim->now.bodies, bodies * sizeof(body_state));
    }
    TREACLE_TRY(move_solids(&out->f, out->before, out->bodies, &out->made.poses));
    TREACLE_TRY(build_tiles(&out->f, out->before, NULL, out->p, out->state, &out->made.history));
    for (size_t i = 0; i < (size_t)out->state->map.count * TILE_CELLS; ++i) {
        out->state->cell_phi[i] = -LIQUID_DISTANCE_MAX;
    }
    return TREACLE_OK;
}

treacle_status stages_work_end(treacle_sim* sim, step_work* w, treacle_status status) {
    step_work_finish(w);
    liquid_state_destroy(&sim->next.liquid);
    arena_give_to(&sim->scratch, 0);
    TREACLE_TRY(status);
    return arena_end_step(&sim->scratch);
}

// --- motion through a given velocity -------------------------------------------------------------

typedef struct sample_job {
    const liquid_state* state;
    const grid_domain* domain;
    const field* velocity; // of the component alone
    int axis;
    double at; // s
} sample_job;

static vec3 face_place(const sample_job* job, int64_t i) {
    const tile_coord* coord = &job->state->map.coord[i / TILE_CELLS];
    const int cell[AXES] = {(int)(i % TILE_SIZE), (int)(i / TILE_SIZE % TILE_SIZE),
                            (int)(i / TILE_SIZE / TILE_SIZE % TILE_SIZE)};
    vec3 x;
    for (int b = 0; b < AXES; ++b) {
        double offset = (double)place_offset(place_face(job->axis), b);
        x.at[b] =
            job->domain->origin[b] + job->domain->h * (coord->at[b] * TILE_SIZE + cell[b] + offset);
    }
    return x;
}

static void sample_tiles(void* data, int64_t begin, int64_t end) {
    const sample_job* job = data;
    int layers = tile_layers(&job->state->map, 2) * TILE_SIZE * TILE_SIZE;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double u = 0.0;
        if (i % TILE_CELLS < layers) {
            field_eval(job->velocity, face_place(job, i), job->at, &u);
        }
        job->state->face_u.at[job->axis][i] = (float)u;
    }
}

// A component of a field, as a field of its own.
static treacle_field component_of(const treacle_field* whole, int a) {
    treacle_field out = *whole;
    out.value_a[0] = whole->value_a[a];
    out.value_b[0] = whole->value_b[a];
    out.expression[0] = whole->expression[a];
    return out;
}

treacle_status stages_sample_faces(step_work* w, const treacle_field* velocity, double at) {
    TREACLE_ASSERT(w->state->face_u.at[0] != NULL);
    for (int a = 0; a < AXES; ++a) {
        if (!w->f.setup->domain->is_active[a]) {
            continue;
        }
        treacle_field def = component_of(velocity, a);
        field component;
        TREACLE_TRY(field_init(w->f.ctx, &def, 1, &component));
        sample_job job = {w->state, w->f.setup->domain, &component, a, at};
        tile_for(&w->state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 1}, sample_tiles,
                 &job);
        field_finish(&component);
    }
    return TREACLE_OK;
}

static treacle_status carry(step_work* w, const treacle_field* velocity, double at) {
    TREACLE_TRY(stages_sample_faces(w, velocity, at));
    return move_particles(&w->f, w->state, &w->made.poses, &(particle_push){.is_given = true},
                          w->p);
}

treacle_status treacle_stages_carry(treacle_sim* sim, const treacle_field* velocity, double at,
                                    double dt) {
    TREACLE_TRY(stages_check_flow(sim));
    if (!(dt > 0.0 && isfinite(dt))) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE, "a step of %g s: expected more than 0", dt);
    }
    if (sim->plan.is_eulerian) {
        return stages_carry_surface(sim, velocity, at, dt);
    }
    step_work w;
    treacle_step_stats stats = {0};
    treacle_status status = stages_work_begin(sim, &stats, &w);
    if (status == TREACLE_OK) {
        w.f.dt = dt;
        status = carry(&w, velocity, at);
    }
    return stages_work_end(sim, &w, status);
}

// --- surface -------------------------------------------------------------------------------------

void stages_spread(const step_work* w, const float* values, float* dense) {
    TREACLE_ASSERT(values != NULL && dense != NULL);
    const grid_domain* domain = w->f.setup->domain;
    const tile_map* map = &w->state->map;
    for (int64_t i = 0; i < (int64_t)map->count * TILE_CELLS; ++i) {
        const tile_coord* coord = &map->coord[i / TILE_CELLS];
        int64_t x = coord->at[0] * TILE_SIZE + i % TILE_SIZE;
        int64_t y = coord->at[1] * TILE_SIZE + i / TILE_SIZE % TILE_SIZE;
        int64_t z = coord->at[2] * TILE_SIZE + i / TILE_SIZE / TILE_SIZE % TILE_SIZE;
        if (x < domain->cells[0] && y < domain->cells[1] && z < domain->cells[2]) {
            dense[(z * domain->cells[1] + y) * domain->cells[0] + x] = values[i];
        }
    }
}

static treacle_status surface(step_work* w, float* distance, float* share) {
    TREACLE_TRY(step_to_grid(w)); // for the volumes at cells
    TREACLE_TRY(step_surface(w));
    if (distance != NULL) {
        stages_spread(w, w->state->cell_phi, distance);
    }
    if (share != NULL) {
        float* fraction = NULL;
        TREACLE_TRY(step_take_zero(&w->f, &w->state->map, "shares of cells", &fraction));
        fraction_params params = {w->f.setup->domain, &w->state->map, w->state->cell_phi};
        fraction_compute(&params, &(fraction_fields){.cell = fraction});
        stages_spread(w, fraction, share);
    }
    return TREACLE_OK;
}

static void fill_dense(const grid_domain* domain, float value, float* dense) {
    int64_t count = (int64_t)domain->cells[0] * domain->cells[1] * domain->cells[2];
    for (int64_t i = 0; dense != NULL && i < count; ++i) {
        dense[i] = value;
    }
}

treacle_status treacle_stages_surface(treacle_sim* sim, float* distance, float* share) {
    TREACLE_TRY(stages_check_flow(sim));
    fill_dense(&sim->domain, LIQUID_DISTANCE_MAX, distance);
    fill_dense(&sim->domain, 0.0f, share);
    step_work w;
    treacle_step_stats stats = {0};
    treacle_status status = stages_work_begin(sim, &stats, &w);
    if (status == TREACLE_OK) {
        status = surface(&w, distance, share);
    }
    return stages_work_end(sim, &w, status);
}

// --- transfer ------------------------------------------------------------------------------------

// Adds momentum p of component a at the place x.
static void add_momentum(treacle_stages_totals* sum, int a, const double x[AXES], double p) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    sum->momentum[a] += p;
    sum->angular[b] += x[c] * p; // x cross e_a
    sum->angular[c] -= x[b] * p;
}

static void add_faces(const step_work* w, int a, double kilograms, treacle_stages_totals* sum) {
    sample_job place = {.state = w->state, .domain = w->f.setup->domain, .axis = a};
    for (int64_t i = 0; i < (int64_t)w->state->map.count * TILE_CELLS; ++i) {
        double mass = kilograms * (double)w->made.given.face_mass.at[a][i];
        if (mass > 0.0) {
            vec3 x = face_place(&place, i);
            add_momentum(sum, a, x.at, mass * (double)w->state->face_u.at[a][i]);
        }
    }
}

static double mass_of(const step_work* w, double kilograms) {
    const bool* is_active = w->f.setup->domain->is_active;
    const float* mass = w->made.given.face_mass.at[is_active[0] ? 0 : is_active[1] ? 1 : 2];
    double sum = 0.0;
    for (int64_t i = 0; i < (int64_t)w->state->map.count * TILE_CELLS; ++i) {
        sum += kilograms * (double)mass[i];
    }
    return sum;
}

static treacle_status transfer(step_work* w, treacle_stages_totals* out) {
    TREACLE_TRY(step_to_grid(w));
    double h = w->f.setup->domain->h, kilograms = w->f.setup->reference_density * h * h * h;
    out->mass = mass_of(w, kilograms);
    for (int a = 0; a < AXES; ++a) {
        if (w->f.setup->domain->is_active[a]) {
            add_faces(w, a, kilograms, out);
        }
    }
    w->f.is_first = false; // or particles would keep the velocity that they have
    return step_to_particles(w);
}

treacle_status treacle_stages_transfer(treacle_sim* sim, treacle_stages_totals* out) {
    *out = (treacle_stages_totals){0};
    TREACLE_TRY(stages_check_flow(sim));
    step_work w;
    treacle_step_stats stats = {0};
    treacle_status status = stages_work_begin(sim, &stats, &w);
    if (status == TREACLE_OK) {
        status = transfer(&w, out);
    }
    return stages_work_end(sim, &w, status);
}

// --- transfer in double --------------------------------------------------------------------------

static treacle_status check_cloud(treacle_context* ctx, const treacle_stages_cloud* cloud) {
    for (int64_t i = 0; i < AXES * cloud->count; ++i) {
        if (!(cloud->position[i] >= 0.0 && cloud->position[i] < TILE_SIZE)) {
            return check_fail(ctx, TREACLE_ERR_USAGE,
                              "particle %lld of the cloud is at %g along axis %d: expected at "
                              "least 0 and less than %d",
                              (long long)(i / AXES), cloud->position[i], (int)(i % AXES),
                              TILE_SIZE);
        }
    }
    return TREACLE_OK;
}

// Pairs of momentum and mass become velocities; their sums go to *sum.
static void make_velocities(const transfer_place* place, int a, const double* pairs, double* block,
                            treacle_stages_totals* sum) {
    for (int i = 0; i < BLOCK_CELLS; ++i) {
        const int at[AXES] = {i % BLOCK_SIZE, i / BLOCK_SIZE % BLOCK_SIZE,
                              i / BLOCK_SIZE / BLOCK_SIZE};
        double x[AXES];
        for (int b = 0; b < AXES; ++b) {
            x[b] = at[b] - BLOCK_HALO + place->offset[b];
        }
        sum->mass += a == 0 ? pairs[2 * i + 1] : 0.0;
        add_momentum(sum, a, x, pairs[2 * i]);
        block[i] = pairs[2 * i + 1] > 0.0 ? pairs[2 * i] / pairs[2 * i + 1] : 0.0;
    }
}

treacle_status treacle_stages_transfer_double(treacle_context* ctx,
                                              const treacle_stages_cloud* cloud,
                                              treacle_stages_totals* out) {
    *out = (treacle_stages_totals){0};
    TREACLE_TRY(check_cloud(ctx, cloud));
    void* memory = NULL;
    size_t values = 3 * BLOCK_CELLS + 2 * BLOCK_TAIL;
    TREACLE_TRY(alloc_zero(ctx, values, sizeof(double), "a block in double", &memory));
    double *pairs = memory, *block = pairs + 2 * BLOCK_CELLS + BLOCK_TAIL;
    for (int a = 0; a < AXES; ++a) {
        transfer_place place = {
            .kernel = cloud->kernel, .is_active = {true, true, true}, .offset = {0.5, 0.5, 0.5}};
        place.offset[a] = 0.0;
        double* velocity = cloud->velocity + a * cloud->count;
        double* affine = cloud->affine + a * AXES * cloud->count;
        if (!cloud->is_affine) {
            memset(affine, 0, (size_t)cloud->count * AXES * sizeof(double));
        }
        transfer_scatter_double(cloud->count, cloud->position, velocity, affine, &place, pairs);
        make_velocities(&place, a, pairs, block, out);
        transfer_gather_double(cloud->count, cloud->position, velocity, affine, &place, block);
    }
    alloc_free(ctx, memory, values * sizeof(double));
    return TREACLE_OK;
}
