// What the solve of velocity and pressure is made of: the cycle of A, the cycle of B M^-1 B^T and
// the weights W of the Schur complement, the scaling in which images are compared, and the
// preconditioner that joins them. The loop is in stokes_krylov.c.
#include "solve/stokes_solver.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/stokes_internal.h"

stokes_params stokes_params_default(void) {
    return (stokes_params){.energy = 5e-4,
                           .least = 1.0,
                           .divergence = INFINITY,
                           .net = INFINITY,
                           .relative = INFINITY,
                           .max_iterations = 150,
                           .keeps_momentum = true,
                           .restart = solve_policy_default()->krylov.restart};
}

// ---- B and B^T ------------------------------------------------------------------------------

stokes_job stokes_job_of(const stokes_solver* s) {
    return (stokes_job){.faces = s->reweighed.map != NULL ? &s->reweighed : s->faces,
                        .cells = s->cells,
                        .cell_rows = s->p_space.rows,
                        .opening = {s->opening[0], s->opening[1], s->opening[2]},
                        .below = {s->below[0], s->below[1], s->below[2]}};
}

// Over the own ones of the active tiles.
static void run_own(const vec_space* space, int64_t grain, parallel_fcn* fcn, void* data) {
    tile_subset active = {space->shared, space->active_count, space->active};
    tile_for_subset(space->ctx, &active, grain, fcn, data);
}

void stokes_run_faces(const stokes_solver* s, parallel_fcn* loop, stokes_job* job) {
    job->tiles = s->faces->active;
    run_own(&s->faces->space, 4, loop, job);
}

void stokes_run_tiles(const stokes_solver* s, parallel_fcn* loop, stokes_job* job, int64_t count,
                      const tile_ix* tiles) {
    job->tiles = tiles;
    parallel_for(s->ctx, count, 4, loop, job);
}

void stokes_run_cells(const stokes_solver* s, parallel_fcn* loop, stokes_job* job) {
    job->tiles = s->cells->active;
    run_own(&s->p_space, 8, loop, job);
}

static void exchange(const stokes_solver* s, const double* u, const double* p) {
    vec_exchange(&s->faces->space, u);
    vec_exchange(&s->p_space, p);
}

void stokes_apply(const stokes_solver* solver, const double* u, const double* p, double* y_u,
                  double* y_p) {
    stokes_job job = stokes_job_of(solver);
    job.u = u;
    job.p = p;
    // Both loops read neighbours' values: halos once, before either.
    job.to = y_u;
    exchange(solver, u, p);
    stokes_run_faces(solver, ISA_CALL(solver->ctx, stokes_loop_forces), &job);
    job.to = y_p;
    stokes_run_cells(solver, ISA_CALL(solver->ctx, stokes_loop_divergence), &job);
    size_t tail = vec_length(&solver->faces->space), all = vec_length(solver->u_space);
    memset(y_u + tail, 0, (all - tail) * sizeof(double));
    stokes_vectors x = {.u = (double*)u, .p = (double*)p}, y = {.u = y_u, .p = y_p};
    stokes_bodies_add(solver, &x, 1.0, &y);
    vec_publish(&solver->faces->space, y_u);
    vec_publish(&solver->p_space, y_p);
}

// ---- Set-up ---------------------------------------------------------------------------------

// Values of all cells of a tile, or of the faces at their low or high sides along an axis.
typedef float tile_floats[TILE_CELLS];

// A field of which each tile has `stride` values.
typedef struct tile_field {
    const tile_map* map;
    const float* values;
    size_t stride;
} tile_field;

// A field as the cells of tile t see it one step along an axis, up or down, row by row: zero where
// there is no tile.
static void see_beside(const tile_field* field, int64_t t, int axis, bool is_above,
                       tile_floats out) {
    static const int place[2][AXES] = {
        {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(0, -1, 0), TILE_NEIGHBOUR(0, 0, -1)},
        {TILE_NEIGHBOUR(1, 0, 0), TILE_NEIGHBOUR(0, 1, 0), TILE_NEIGHBOUR(0, 0, 1)}};
    static const tile_floats nothing = {0};
    tile_ix next = field->map->neighbour[t][place[is_above ? 1 : 0][axis]];
    const float* here = field->values + (size_t)t * field->stride;
    const float* there =
        next < field->map->count ? field->values + (size_t)next * field->stride : nothing;
    int step = (is_above ? 1 : -1) * (1 << 3 * axis), edge = is_above ? TILE_SIZE - 1 : 0;
    for (int row = 0; row < TILE_CELLS; row += TILE_SIZE) {
        if (axis == 0) {
            memcpy(out + row + (is_above ? 0 : 1), here + row + (is_above ? 1 : 0),
                   (TILE_SIZE - 1) * sizeof(float));
            out[row + edge] = there[row + TILE_SIZE - 1 - edge];
        } else {
            bool is_inside = (row >> 3 * axis & 7) != edge;
            const float* from = is_inside ? here + row + step : there + row - 7 * step;
            memcpy(out + row, from, TILE_SIZE * sizeof(float));
        }
    }
}

static float cell_weight(const viscosity_level* level, int64_t t, int q) {
    int i = q & 7, j = q >> 3 & 7, k = q >> 6;
    return level->stress[t * VISCOSITY_STRESS_BLOCK + viscosity_cell_at(i, j, k)]; // twice w_c
}

// W of a cell, from 2 w_c and diag(B D^-1 B^T). A cell with one open face, as behind a wall, holds
// that face however little stress it has itself.
static double schur_weight(double held, double twice, double sum) {
    return fmax(2.0 / 3.0 * sqrt(twice * 1.5 / sum), held / sum);
}

// What faces on one side of a tile's cells are: 1 / diag(A), mass, and what is open of them to the
// cell itself and to that across, whose volume is the last.
typedef struct cell_faces {
    tile_floats inverse, mass, opening, across, volume;
} cell_faces;

// The faces n of all cells of tile t: the low ones along x, y, z, then the high ones. A face
// belongs to the cell above it: high faces are the low ones of the next cell.
static void find_faces(const stokes_solver* s, const stokes_system* system, int64_t t, int n,
                       cell_faces* out) {
    int a = n % AXES;
    bool is_high = n >= AXES;
    const float* inverse = s->faces->inverse + a * TILE_CELLS;
    const float* mass = system->weights.mass[a];
    // What the cell on the other side has of the same face: where one has let go of a solid the
    // two differ, and the link is their product, as B M^-1 B^T has it.
    const float *above = s->opening[a], *below = s->below[a];
    size_t first = (size_t)t * TILE_CELLS;
    see_beside(&(tile_field){s->map, system->volume, TILE_CELLS}, t, a, is_high, out->volume);
    if (is_high) {
        see_beside(&(tile_field){s->map, inverse, VISCOSITY_BLOCK}, t, a, true, out->inverse);
        see_beside(&(tile_field){s->map, mass, TILE_CELLS}, t, a, true, out->mass);
        see_beside(&(tile_field){s->map, below, TILE_CELLS}, t, a, true, out->opening);
        see_beside(&(tile_field){s->map, above, TILE_CELLS}, t, a, true, out->across);
    } else {
        memcpy(out->inverse, inverse + (size_t)t * VISCOSITY_BLOCK, sizeof(tile_floats));
        memcpy(out->mass, mass + first, sizeof(tile_floats));
        memcpy(out->opening, above + first, sizeof(tile_floats));
        memcpy(out->across, below + first, sizeof(tile_floats));
    }
}

// What the faces of each cell of a tile give to B M^-1 B^T and to diag(B D^-1 B^T).
typedef struct cell_sums {
    tile_floats stiffness, extra, diagonal, link[AXES];
} cell_sums;

// Adds faces of one kind. A fixed face moves as it is told: no pressure changes that, and it adds
// nothing.
static void add_faces(const schur_policy* policy, const cell_faces* faces, float* link,
                      cell_sums* sums) {
    const float least = policy->smallest_volume, light = policy->smallest_mass;
    for (int q = 0; q < TILE_CELLS; ++q) {
        float mass = faces->mass[q], opening = faces->opening[q];
        bool is_free = faces->inverse[q] > 0.0f, has_other = faces->volume[q] >= least;
        float inverse = is_free ? faces->inverse[q] : 1.0f;
        float weight =
            opening * (has_other ? faces->across[q] : opening) / (mass > light ? mass : light);
        // D = diag(A) - M, the stress alone; zero where a face has no viscous neighbour, and then
        // the floor makes this cell one that nothing viscous holds.
        float stiffness = 1.0f / inverse - mass;
        float give = opening * opening / (stiffness > 1e-12f ? stiffness : 1e-12f);
        sums->stiffness[q] += is_free ? give : 0.0f;
        sums->diagonal[q] += is_free ? weight : 0.0f;
        // Towards a cell without a pressure the link ends at zero: it is diagonal only.
        sums->extra[q] += is_free && !has_other ? weight : 0.0f;
        link[q] = is_free && has_other ? weight : 0.0f;
    }
}

// Fills in what the faces of a cell give to B M^-1 B^T, links to cells with a pressure and extra
// diagonal for the others, and to W, whose diag(B D^-1 B^T) gets opening^2 / D of each. Returns
// 2 w_c of the cell if it were full, infinity where it has no pressure.
static double fill_cell(const stokes_solver* s, float volume, int64_t t, int q,
                        const cell_sums* sums) {
    size_t length = stokes_field_length(s), here = (size_t)t * TILE_CELLS + (size_t)q;
    const schur_policy* policy = &s->policy->schur;
    // Infinite stress: it does not count in the least weight.
    if (!(volume >= policy->smallest_volume)) {
        return INFINITY;
    }
    double twice = (double)cell_weight(s->faces, t, q), give = (double)sums->stiffness[q];
    bool is_cell = sums->diagonal[q] > 0.0f && sums->stiffness[q] > 0.0f;
    for (int a = 0; a < AXES; ++a) {
        s->fields[(size_t)a * length + here] = sums->link[a][q];
    }
    s->fields[AXES * length + here] = sums->extra[q];
    s->schur[here] = is_cell ? (float)schur_weight(policy->held, twice, give) : 0.0f;
    // Weights are times the fraction of liquid: divided by it, a sliver of thick liquid is thick.
    return sums->diagonal[q] > 0.0f ? twice / (double)volume : INFINITY;
}

// Face by face of all cells at once, since it is the same for each.
static void sum_tile(const stokes_solver* s, const stokes_system* system, int64_t t,
                     cell_sums* sums) {
    cell_faces faces;
    tile_floats unused; // a link belongs to the cell above it
    memset(sums, 0, sizeof(*sums));
    for (int n = 0; n < 2 * AXES; ++n) {
        find_faces(s, system, t, n, &faces);
        add_faces(&s->policy->schur, &faces, n < AXES ? sums->link[n] : unused, sums);
    }
}

static bool has_any(const float* volume, float least) {
    int count = 0;
    for (int q = 0; q < TILE_CELLS; ++q) {
        count += volume[q] >= least;
    }
    return count > 0;
}

typedef struct fill_job {
    const stokes_solver* s;
    const stokes_system* system;
    double* least;         // [tile]
    double *cells, *outer; // [tile]: with a pressure, and beside one without
} fill_job;

typedef struct scale_job {
    float* schur;
    float by;
} scale_job;

static void stokes_solver_fill_tiles(void* data, int64_t begin, int64_t end) {
    const fill_job* job = data;
    const stokes_solver* s = job->s;
    for (int64_t t = begin; t < end; ++t) {
        // Sums go by tiles, each written by one thread, and are added up in the order of tiles.
        double least = INFINITY;
        int cells = 0, outer = 0;
        const float* extra = s->fields + AXES * stokes_field_length(s);
        const float* volume = job->system->volume + t * TILE_CELLS;
        bool is_wet = has_any(volume, s->policy->schur.smallest_volume);
        cell_sums sums;
        if (is_wet) {
            sum_tile(s, job->system, t, &sums);
        }
        for (int q = 0; q < TILE_CELLS && is_wet; ++q) {
            double here = fill_cell(s, volume[q], t, q, &sums);
            least = here < least ? here : least;
            cells += here < (double)INFINITY ? 1 : 0;
            outer += extra[t * TILE_CELLS + q] > 0.0f ? 1 : 0;
        }
        job->least[t] = least;
        job->cells[t] = cells;
        job->outer[t] = outer;
    }
}

static void scale_tiles(void* data, int64_t begin, int64_t end) {
    const scale_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->schur[i] *= job->by;
    }
}

// Liquid that can give way at its surface answers a pressure by growing as a whole, at 2/3 of the
// viscosity, where inside of much liquid only waves are left, at twice of it: the fewer cells are
// inside, the less W.
static void scale_schur(const stokes_solver* s, tile_range own) {
    // Partial sums 1 and 2 of the space of faces were filled tile by tile by
    // stokes_solver_fill_tiles.
    double cells = vec_sum_partial(&s->faces->space, 1),
           outer = vec_sum_partial(&s->faces->space, 2);
    double fraction = cells > 0.0 ? outer / cells : 0.0;
    scale_job job = {s->schur, (float)(1.0 - s->policy->schur.surface * fraction)};
    tile_for_range(s->ctx, own, 8, scale_tiles, &job);
}

// Links, extra diagonal and W. Returns the least 2 w_c of a full cell, which says whether pressure
// waves need their own cycle.
static double fill_fields(const stokes_solver* s, const stokes_system* system) {
    double least = INFINITY;
    double* const* partial = s->faces->space.partial;
    fill_job job = {s, system, partial[0], partial[1], partial[2]};
    const tile_map* shared = s->faces->space.shared;
    tile_range own = shared != NULL ? tile_ranks_own(s->map) : (tile_range){0, s->map->count};
    tile_for_range(s->ctx, own, 8, stokes_solver_fill_tiles, &job);
    scale_schur(s, own);
    if (shared != NULL) {
        for (int n = 0; n <= AXES; ++n) {
            tile_publish(s->map,
                         &(tile_values){.at = s->fields + (size_t)n * stokes_field_length(s)});
        }
        tile_publish(s->map, &(tile_values){.at = s->schur});
    }
    for (int64_t t = own.begin; t < own.end; ++t) {
        least = fmin(least, job.least[t]);
    }
    // Ranks agree on the least by the largest of its negative.
    double most = -least;
    if (shared != NULL) {
        comm_max_f64(s->ctx, &most, 1);
    }
    return -most;
}

static int widest_side(const grid_domain* domain) {
    // The longest wave that fits the domain is that of its longest side.
    int most = 1;
    for (int a = 0; a < AXES; ++a) {
        most = domain->cells[a] > most ? domain->cells[a] : most;
    }
    return most;
}

// The pressure solver is used for its cycle alone; its own loop never runs here.
static treacle_status create_pressure(stokes_solver* s, const stokes_system* system) {
    size_t length = stokes_field_length(s);
    TREACLE_TRY(
        alloc_zero(s->ctx, 4 * length, sizeof(float), "pressure links", (void**)&s->fields));
    TREACLE_TRY(alloc_zero(s->ctx, length, sizeof(float), "Schur weights", (void**)&s->schur));
    // Links first: the pressure solver keeps pointers into `fields`.
    double least = fill_fields(s, system);
    pressure_system links = {.domain = system->domain,
                             .map = system->map,
                             .link = {s->fields, s->fields + length, s->fields + 2 * length},
                             .extra = s->fields + 3 * length,
                             .body_count = system->body_count,
                             .bodies = system->bodies,
                             .policy = s->policy};
    TREACLE_TRY(pressure_solver_create(s->ctx, &links, &s->pressure));
    s->cells = pressure_solver_finest(s->pressure);
    s->p_space = s->cells->space;
    // Sums over cells skip rows without unknowns; rows of bodies are summed apart, and reach cells
    // that have no other unknown in their row.
    s->p_space.rows = system->body_count == 0 ? s->cells->rows : NULL; // bodies fill more
    // What the faces are is known already: the rest are the waves of pressure.
    solve_facts facts = *viscosity_solver_facts(s->viscosity);
    facts.has_cells = true;
    facts.softest = least;
    facts.side = widest_side(system->domain);
    s->regime = regime_of(s->policy, &facts);
    return TREACLE_OK;
}

static treacle_status create_vectors(stokes_solver* s) {
    const vec_space *u = s->u_space, *p = &s->p_space;
    // What a solve needs in any case; directions are made as they are met.
    TREACLE_TRY(vec_create(u, "right-hand sides", &s->vec.b_u));
    TREACLE_TRY(vec_create(p, "right-hand sides", &s->vec.b_p));
    TREACLE_TRY(vec_create_float(u, "directions", &s->vec.w_u));
    TREACLE_TRY(vec_create_float(p, "directions", &s->vec.w_p));
    TREACLE_TRY(vec_create_float(u, "residuals", &s->vec.r_u));
    TREACLE_TRY(vec_create_float(p, "residuals", &s->vec.r_p));
    TREACLE_TRY(vec_create_float(p, "divergences", &s->vec.t_p));
    TREACLE_TRY(vec_create_float(p, "pressure corrections", &s->vec.s_p));
    TREACLE_TRY(vec_create_float(u, "weights of rows", &s->vec.h_u));
    TREACLE_TRY(vec_create_float(p, "weights of rows", &s->vec.h_p));
    TREACLE_TRY(vec_create_float(u, "weighted images", &s->vec.m_u));
    return vec_create_float(p, "weighted images", &s->vec.m_p);
}

// 1 / diag(A), the bodies' six unknowns included below.
static void weigh_faces(void* data, int64_t begin, int64_t end) {
    const stokes_solver* s = data;
    for (int64_t i = begin; i < end; ++i) {
        size_t at = (size_t)s->faces->active[i] * VISCOSITY_BLOCK;
        memcpy(s->vec.h_u + at, s->faces->inverse + at, VISCOSITY_BLOCK * sizeof(float));
    }
}

// Inverse diagonals of what stands for the Schur complement.
static void weigh_cells(void* data, int64_t begin, int64_t end) {
    const stokes_solver* s = data;
    const float viscous = s->policy->schur.weight_of_image;
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = s->cells->active[i];
        for (int64_t q = t * TILE_CELLS; q < (t + 1) * TILE_CELLS; ++q) {
            float inverse = s->regime.has_pressure_cycle ? s->cells->inverse[q] : 0.0f;
            s->vec.h_p[q] = viscous * s->schur[q] + inverse;
        }
    }
}

// The inverse diagonals of A, so that stiff faces do not drown soft ones, and of the Schur
// complement, but only a small fraction of W. With all of it a residual would be near the square of
// the energy that it stands for; but every correction mends the divergence that the one before has
// left, and what holds the loop up where viscosity rules is pressure, which forces alone show.
static treacle_status weigh_rows(stokes_solver* s) {
    const drag_term* drag = viscosity_solver_drag(s->viscosity, false);
    size_t faces = vec_length(&s->faces->space), tail = vec_length(s->u_space) - faces;
    double* diagonal = NULL;
    // Own tiles are enough: products are sums over own tiles, and then over ranks.
    run_own(&s->faces->space, 8, weigh_faces, s);
    run_own(&s->p_space, 8, weigh_cells, s);
    if (drag == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(s->ctx, tail, sizeof(double), "weights of bodies", (void**)&diagonal));
    // Six rows a body: their own diagonal, masses and stresses at its faces.
    drag_term_diagonal(drag, diagonal);
    for (size_t i = 0; i < tail; ++i) {
        s->vec.h_u[faces + i] = diagonal[i] > 0.0 ? (float)(1.0 / diagonal[i]) : 0.0f;
    }
    alloc_free(s->ctx, diagonal, tail * sizeof(double));
    return TREACLE_OK;
}

// The order matters: W reads the diagonals of A, the regime needs W, aggregates need the regime.
static treacle_status stokes_solver_build(stokes_solver* s, const stokes_system* system) {
    viscosity_system viscosity = {.domain = system->domain,
                                  .map = system->map,
                                  .weights = system->weights,
                                  .body_count = system->body_count,
                                  .bodies = system->bodies,
                                  .policy = s->policy};
    TREACLE_TRY(viscosity_solver_create(s->ctx, &viscosity, &s->viscosity));
    // The cycle of A first: fill_fields reads its diagonals.
    s->faces = viscosity_solver_finest(s->viscosity);
    s->u_space = viscosity_solver_linop(s->viscosity).space;
    TREACLE_TRY(create_pressure(s, system));
    // After the regime is known, which needs the least weight that create_pressure finds.
    if (s->regime.is_stacked) {
        TREACLE_TRY(viscosity_solver_add_aggregates(s->viscosity));
    }
    TREACLE_TRY(stokes_bodies_create(s, system));
    TREACLE_TRY(vec_many_create(s->u_space, &s->dir.many_u));
    TREACLE_TRY(vec_many_create(&s->p_space, &s->dir.many_p));
    TREACLE_TRY(create_vectors(s));
    return weigh_rows(s);
}

treacle_status stokes_solver_create(treacle_context* ctx, const stokes_system* system,
                                    stokes_solver** out) {
    TREACLE_ASSERT(system->domain != NULL && system->map != NULL && system->volume != NULL);
    TREACLE_ASSERT(system->opening[0] != NULL && system->opening[1] != NULL);
    TREACLE_ASSERT(system->body_count >= 0 && (system->body_count == 0 || system->bodies != NULL));
    *out = NULL;
    // Zeroed: a build that fails half-way can be destroyed as it is.
    stokes_solver* s = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*s), "the Stokes solver", (void**)&s));
    s->ctx = ctx;
    s->map = system->map;
    s->net.volume = system->volume;
    s->policy = solve_policy_or_default(system->policy);
    // Where nothing lets go of solids both cells of a face see the same opening.
    for (int a = 0; a < AXES; ++a) {
        const float* below = system->opening_below[a];
        s->opening[a] = system->opening[a];
        s->below[a] = below != NULL ? below : system->opening[a];
    }
    treacle_status status = stokes_solver_build(s, system);
    if (status != TREACLE_OK) {
        stokes_solver_destroy(s);
        return status;
    }
    *out = s;
    return TREACLE_OK;
}

const solve_regime* stokes_solver_regime(const stokes_solver* solver) {
    return &solver->regime;
}

treacle_status stokes_solver_reweigh(stokes_solver* solver, const viscosity_weights* weights) {
    TREACLE_ASSERT(solver->bodies == NULL); // their links keep copies of the weights
    // Only A itself is made anew, and that without coarser levels: the cycle of the first weights
    // is a preconditioner still, as long as Newton's method has not gone far.
    viscosity_level_destroy(&solver->reweighed);
    return viscosity_level_create(solver->ctx, &solver->faces->domain, solver->map, weights,
                                  &solver->reweighed);
}

// Directions exist up to the longest cycle that was run; those that were never made are NULL.
static void destroy_vectors(stokes_solver* s) {
    const vec_space *u = s->u_space, *p = &s->p_space;
    for (int j = 0; j < STOKES_MAX_RESTART; ++j) {
        vec_destroy_float(u, s->dir.z_u[j]);
        vec_destroy_float(u, s->dir.q_u[j]);
        vec_destroy_float(p, s->dir.z_p[j]);
        vec_destroy_float(p, s->dir.q_p[j]);
    }
    vec_many_destroy(&s->dir.many_u);
    vec_many_destroy(&s->dir.many_p);
    vec_destroy(u, s->vec.b_u);
    vec_destroy(u, s->vec.e_u);
    vec_destroy(p, s->vec.b_p);
    vec_destroy_float(u, s->vec.w_u);
    vec_destroy_float(p, s->vec.w_p);
    vec_destroy_float(u, s->vec.r_u);
    vec_destroy_float(p, s->vec.r_p);
    vec_destroy_float(p, s->vec.t_p);
    vec_destroy_float(p, s->vec.s_p);
    vec_destroy_float(u, s->vec.h_u);
    vec_destroy_float(p, s->vec.h_p);
    vec_destroy_float(u, s->vec.m_u);
    vec_destroy_float(p, s->vec.m_p);
}

void stokes_solver_destroy(stokes_solver* solver) {
    if (solver == NULL) {
        return;
    }
    // A solver whose making failed half-way may be without spaces, and then has no vectors.
    if (solver->faces != NULL && solver->cells != NULL) {
        destroy_vectors(solver);
    }
    // Bodies refer to the viscosity solver's drag, so they go first.
    size_t length = stokes_field_length(solver);
    stokes_bodies_destroy(solver);
    viscosity_level_destroy(&solver->reweighed);
    alloc_free(solver->ctx, solver->net.region_volume,
               (2 * (size_t)solver->net.regions.count + 1) * sizeof(double));
    regions_destroy(&solver->net.regions);
    pressure_solver_destroy(solver->pressure);
    viscosity_solver_destroy(solver->viscosity);
    alloc_free(solver->ctx, solver->fields, 4 * length * sizeof(float));
    alloc_free(solver->ctx, solver->schur, length * sizeof(float));
    alloc_free(solver->ctx, solver, sizeof(*solver));
}

// ---- Preconditioner -------------------------------------------------------------------------

typedef struct schur_job {
    const stokes_solver* s;
    const float* cycled;
    float* z;
} schur_job;

// The pressure's part of the preconditioner, [CC88]: both ends of the Schur complement, added.
static void add_diagonal(void* data, int64_t begin, int64_t end) {
    const schur_job* job = data;
    const stokes_solver* s = job->s;
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = s->cells->active[i];
        for (int64_t q = t * TILE_CELLS; q < (t + 1) * TILE_CELLS; ++q) {
            // z_p = W t + cycle(t); with viscosity everywhere the second part is nothing.
            float cycled = job->cycled != NULL ? job->cycled[q] : 0.0f;
            job->z[q] = s->schur[q] * s->vec.t_p[q] + cycled;
        }
    }
}

void stokes_precondition(const stokes_solver* s, int j) {
    TREACLE_ASSERT(j >= 0 && j < s->dir.capacity);
    linop a = viscosity_solver_linop(s->viscosity);
    // Block triangular: the pressure's part sees what the velocity's has left of the divergence.
    a.precondition(a.data, s->vec.r_u, s->vec.w_u);
    stokes_job defect = stokes_job_of(s);
    defect.u_float = s->vec.w_u;
    defect.r = s->vec.r_p;
    // B z_u is half of the image of z, and comes for free here: it goes to q_p, and t = B z_u - r_p
    // to t_p, in one pass.
    defect.out = s->dir.q_p[j];
    defect.defect = s->vec.t_p;
    vec_exchange_float(&s->faces->space, s->vec.w_u);
    stokes_run_cells(s, ISA_CALL(s->ctx, stokes_loop_defect), &defect);
    stokes_bodies_defect(s, j);
    schur_job schur = {.s = s, .z = s->vec.w_p};
    if (s->regime.has_pressure_cycle) {
        linop l = pressure_solver_linop(s->pressure);
        l.precondition(l.data, s->vec.t_p, s->vec.s_p);
        schur.cycled = s->vec.s_p;
    }
    run_own(&s->p_space, 8, add_diagonal, &schur);
    stokes_bodies_schur(s, s->vec.w_p);
    // w stays as it is for the image: it is zero beside unknowns, where the z that are kept are not
    // even written.
    vec_copy_float(s->u_space, s->vec.w_u, s->dir.z_u[j]);
    vec_copy_float(&s->p_space, s->vec.w_p, s->dir.z_p[j]);
}

bool stokes_solver_is_valid(const stokes_solver* solver) {
    const krylov_policy* krylov = &solver->policy->krylov;
    return viscosity_solver_is_valid(solver->viscosity) &&
           pressure_solver_is_valid(solver->pressure) && krylov->restart > 0 &&
           krylov->restart_long <= STOKES_MAX_RESTART &&
           vec_length(solver->u_space) >= vec_length(&solver->faces->space);
}
