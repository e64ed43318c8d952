// The system without fixed cells is a pressure system: their links become extra diagonal of the
// neighbours, like mass and exchange. Those sums are rounded to float, which is harmless in the
// operator on the change; the residual is taken term by term, in double, from the caller's fields.
#include "solve/diffusion_solver.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "solve/pressure_solver.h"

enum { GRAIN = 8 };

struct diffusion_solver {
    treacle_context* ctx;
    diffusion_system system;
    float* fields; // links and extra of the pressure system
    pressure_solver* cells;
    double* change;
};

static size_t diffusion_solver_field_length(const diffusion_solver* s) {
    return ((size_t)s->system.map->count + 1) * TILE_CELLS;
}

static bool is_fixed(const diffusion_solver* s, int64_t i) {
    // The zero tile beyond the map is nobody's.
    return s->system.fixed != NULL && i < (int64_t)s->system.map->count * TILE_CELLS &&
           s->system.fixed[i] != 0;
}

static float exchange_at(const diffusion_solver* s, int64_t i) {
    return s->system.exchange != NULL ? s->system.exchange[i] : 0.0f;
}

// A face of a cell: its conductance and the slot of the cell on the other side.
typedef struct cell_face {
    float conductance;
    int64_t other;
} cell_face;

// Face n of cell q of tile t: the low ones along x, y, z, then the high ones.
static cell_face face_of(const diffusion_solver* s, int64_t t, int q, int n) {
    const diffusion_system* system = &s->system;
    int a = n % AXES;
    int64_t here = t * TILE_CELLS + q;
    int64_t other =
        n < AXES ? tile_slot_below(system->map, t, q, a) : tile_slot_above(system->map, t, q, a);
    bool has_other = other < (int64_t)system->map->count * TILE_CELLS;
    // A conductance stands at the low face of its cell: that of a high face is the next cell's.
    int64_t owner = n < AXES ? here : other;
    return (cell_face){has_other ? system->conductance[a][owner] : 0.0f, other};
}

// ---- Set-up ---------------------------------------------------------------------------------

// The system is that of pressure: a conductance is a link, and mass, exchange with air and
// conductances to cells with a given value are the extra. Every cell with mass is an unknown, so
// there is no closed region and no null space.
static void fill_cell(const diffusion_solver* s, int64_t t, int q) {
    size_t length = diffusion_solver_field_length(s);
    int64_t here = t * TILE_CELLS + q;
    // Its links are zero and so is its diagonal: no unknown.
    if (is_fixed(s, here)) {
        return;
    }
    // A neighbour whose value is given holds this cell as a wall does: its conductance joins the
    // diagonal, and its value comes in by the defect.
    float extra = s->system.mass[here] + exchange_at(s, here);
    for (int n = 0; n < 2 * AXES; ++n) {
        cell_face face = face_of(s, t, q, n);
        if (is_fixed(s, face.other)) {
            extra += face.conductance;
            // The high faces are other cells' low ones: each link is written once.
        } else if (n < AXES) {
            s->fields[(size_t)n * length + (size_t)here] = face.conductance;
        }
    }
    s->fields[AXES * length + (size_t)here] = extra;
}

static void diffusion_solver_fill_tiles(void* data, int64_t begin, int64_t end) {
    const diffusion_solver* s = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            fill_cell(s, t, q);
        }
    }
}

// The levels are the pressure solver's; links are copied because given cells take some away.
static treacle_status diffusion_solver_build(diffusion_solver* s) {
    const diffusion_system* system = &s->system;
    size_t length = diffusion_solver_field_length(s);
    // Zeroed: fixed cells write nothing, and so are no unknowns.
    TREACLE_TRY(alloc_zero(s->ctx, (AXES + 1) * length, sizeof(float), "diffusion links",
                           (void**)&s->fields));
    TREACLE_TRY(
        alloc_zero(s->ctx, length, sizeof(double), "changes by diffusion", (void**)&s->change));
    tile_for(system->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = GRAIN},
             diffusion_solver_fill_tiles, s);
    pressure_system cells = {.domain = system->domain,
                             .map = system->map,
                             .link = {s->fields, s->fields + length, s->fields + 2 * length},
                             .extra = s->fields + AXES * length};
    return pressure_solver_create(s->ctx, &cells, &s->cells);
}

treacle_status diffusion_solver_create(treacle_context* ctx, const diffusion_system* system,
                                       diffusion_solver** out) {
    TREACLE_ASSERT(system->domain != NULL && system->map != NULL && system->mass != NULL);
    *out = NULL;
    diffusion_solver* s = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*s), "the diffusion solver", (void**)&s));
    s->ctx = ctx;
    s->system = *system;
    treacle_status status = diffusion_solver_build(s);
    if (status != TREACLE_OK) {
        diffusion_solver_destroy(s);
        return status;
    }
    *out = s;
    return TREACLE_OK;
}

void diffusion_solver_destroy(diffusion_solver* solver) {
    if (solver == NULL) {
        return;
    }
    size_t length = diffusion_solver_field_length(solver);
    pressure_solver_destroy(solver->cells);
    alloc_free(solver->ctx, solver->fields, (AXES + 1) * length * sizeof(float));
    alloc_free(solver->ctx, solver->change, length * sizeof(double));
    alloc_free(solver->ctx, solver, sizeof(*solver));
}

linop diffusion_solver_linop(const diffusion_solver* solver) {
    return pressure_solver_linop(solver->cells);
}

// ---- Solve ----------------------------------------------------------------------------------

typedef struct solve_job {
    const diffusion_solver* s;
    const diffusion_vectors* v;
} solve_job;

// What the equation of a cell lacks.
static double defect(const diffusion_solver* s, const diffusion_vectors* v, int64_t t, int q) {
    int64_t here = t * TILE_CELLS + q;
    double x = v->x[here], outside = v->outside != NULL ? (double)v->outside[here] : 0.0;
    // Differences of values and not values: a constant leaves exactly nothing, whatever its size,
    // and what leaves one cell through a face enters the other to the last bit.
    double sum = v->b[here] - (double)s->system.mass[here] * x -
                 (double)exchange_at(s, here) * (x - outside);
    // Fixed neighbours come in here with their given values.
    for (int n = 0; n < 2 * AXES; ++n) {
        cell_face face = face_of(s, t, q, n);
        sum -= (double)face.conductance * (x - v->x[face.other]);
    }
    return sum;
}

static void find_defects(void* data, int64_t begin, int64_t end) {
    const solve_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            job->v->b[t * TILE_CELLS + q] = defect(job->s, job->v, t, q);
        }
    }
}

static void add_changes(void* data, int64_t begin, int64_t end) {
    const solve_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->v->x[i] += job->s->change[i];
    }
}

treacle_status diffusion_solve(diffusion_solver* solver, const diffusion_vectors* vectors,
                               const solve_params* params, solve_stats* stats) {
    TREACLE_ASSERT(vectors->b != vectors->x);
    solve_job job = {solver, vectors};
    // The unknown is the change from the guess, and its first guess zero: so rounding is that of
    // the change, and the target counts from the guess's residual.
    solve_params cold = *params;
    cold.is_warm = false;
    parallel_for(solver->ctx, solver->system.map->count, GRAIN, find_defects, &job);
    // The tile that stands for all missing neighbours must be zero.
    memset(vectors->b + (size_t)solver->system.map->count * TILE_CELLS, 0,
           TILE_CELLS * sizeof(double));
    // A closed region with mass on its diagonal is not singular: nothing of it is dropped.
    TREACLE_TRY(pressure_solve(solver->cells, vectors->b, solver->change, &cold, stats));
    parallel_for(solver->ctx, solver->system.map->count, GRAIN, add_changes, &job);
    return TREACLE_OK;
}
