// Released solids in a flow with viscosity [sep.5].
//
// A wall that has let go neither pushes nor drags: it is free surface, with no traction at all. The
// flow has such a surface by its shares of liquid [visc.2; stokes.1]; so the liquid, which goes on
// behind walls elsewhere, ends at the solid where that is released:
//
//     phi <- max(phi, -phi_solid)      in released cells and in the solid's own next to them
//
// There the solid closes no face, and its stress is none. Cells of the solid between released and
// touching ones follow the majority of the walls around them.
//
// Staggering: phi, kinds at cells; openings, u on faces. Symbols: cell_phi, cell_solid_phi.
// Properties that tests check: thick liquid falls off a ceiling that lets go, and a floor that is
// pulled away leaves it behind.
#include "phys/release.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "phys/solid.h"

// Of a cell. Those behind a wall are the solid's own, and count as air with its released walls.
enum { KIND_NONE, KIND_CONTACT, KIND_RELEASED, KIND_BEHIND };
// Layers of the solid's own cells: as far as shares and tents look.
enum { LAYERS = 3 };

bool release_is_needed(const wall_set* walls) {
    bool is_needed = false;
    for (int64_t i = 0; i < walls->count; ++i) {
        const wall* w = &walls->at[i];
        is_needed = is_needed || (w->slot == WALL_OF_SOLID && w->is_released);
    }
    return is_needed;
}

// --- kinds --------------------------------------------------------------------------------------

static void mark_walls(const release_params* p, uint8_t* kind) {
    memset(kind, KIND_NONE, ((size_t)p->map->count + 1) * TILE_CELLS);
    for (int64_t i = 0; i < p->walls->count; ++i) {
        const wall* w = &p->walls->at[i];
        if (w->slot == WALL_OF_SOLID) {
            kind[w->cell] = w->is_released ? KIND_RELEASED : KIND_CONTACT;
        }
    }
}

typedef struct kind_job {
    const release_params* params;
    const uint8_t* from;
    uint8_t* to;
} kind_job;

static int64_t neighbour_slot(const tile_map* map, int64_t t, int q, const int by[AXES]) {
    int place = 13, cell = 0;
    for (int a = 0; a < AXES; ++a) {
        static const int stride[AXES] = {1, 3, 9};
        int at = (q >> 3 * a & 7) + by[a];
        place += at < 0 ? -stride[a] : at > 7 ? stride[a] : 0;
        cell += (at & 7) << 3 * a;
    }
    return (int64_t)map->neighbour[t][place] * TILE_CELLS + cell;
}

// A cell of the solid lies behind released walls if those around it outnumber those in contact.
static bool is_behind(const kind_job* job, int64_t t, int q) {
    const tile_map* map = job->params->map;
    int released = 0, contact = 0;
    for (int n = 0; n < 27; ++n) {
        const int by[AXES] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        bool is_flat = false;
        for (int a = 0; a < AXES; ++a) {
            is_flat = is_flat || (by[a] != 0 && !job->params->domain->is_active[a]);
        }
        if (!is_flat) {
            uint8_t kind = job->from[neighbour_slot(map, t, q, by)];
            released += kind == KIND_RELEASED || kind == KIND_BEHIND ? 1 : 0;
            contact += kind == KIND_CONTACT ? 1 : 0;
        }
    }
    return released > contact;
}

static void spread_kinds(void* data, int64_t begin, int64_t end, int worker) {
    const kind_job* job = data;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            int64_t i = t * TILE_CELLS + q;
            bool is_solid = job->params->cell_solid_phi[i] <= 0.0f &&
                            job->params->cell_solid_id[i] != SOLID_NONE;
            bool is_due =
                job->from[i] == KIND_NONE && is_solid && tile_cell_counts(job->params->map, q);
            job->to[i] = is_due && is_behind(job, t, q) ? KIND_BEHIND : job->from[i];
        }
    }
}

// --- fields -------------------------------------------------------------------------------------

typedef struct release_job {
    const release_params* params;
    const release_fields* out;
    float* const* face_u;
} release_job;

static bool is_let_go(uint8_t kind) {
    return kind == KIND_RELEASED || kind == KIND_BEHIND;
}

// The face between two cells that have let go, one of which is a wall's.
static bool is_opened(const release_fields* fields, const tile_map* map, int64_t t, int q, int a) {
    int64_t high = t * TILE_CELLS + q, low = tile_slot_below(map, t, q, a);
    uint8_t one = fields->cell_kind[low], other = fields->cell_kind[high];
    return is_let_go(one) && is_let_go(other) && (one == KIND_RELEASED || other == KIND_RELEASED);
}

static bool is_side(const grid_domain* domain, int a, int at) {
    return !domain->is_periodic[a] && (at == 0 || at >= domain->cells[a]);
}

static void fill_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const release_job* job = data;
    const release_params* p = job->params;
    const release_fields* out = job->out;
    (void)worker;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int64_t t = i / TILE_CELLS;
        int q = (int)(i % TILE_CELLS), at[AXES];
        bool is_gone = is_let_go(out->cell_kind[i]);
        tile_cell_at(p->map, (tile_ix)t, q, at);
        out->cell_phi[i] = is_gone ? fmaxf(p->cell_phi[i], -p->cell_solid_phi[i]) : p->cell_phi[i];
        out->cell_solid_id[i] = is_gone ? SOLID_NONE : p->cell_solid_id[i];
        for (int a = 0; a < AXES; ++a) {
            bool is_open = p->domain->is_active[a] && !is_side(p->domain, a, at[a]) &&
                           is_opened(out, p->map, t, q, a);
            out->face_open[a][i] = is_open ? 1.0f : p->face_open[a][i];
        }
    }
}

void release_compute(const release_params* params, const release_fields* out) {
    treacle_context* ctx = params->map->ctx;
    size_t count = (size_t)params->map->count * TILE_CELLS;
    uint8_t* other = out->cell_kind + count + TILE_CELLS;
    mark_walls(params, out->cell_kind);
    for (int n = 0; n < LAYERS; ++n) {
        kind_job job = {params, out->cell_kind, other};
        parallel_for(ctx, params->map->count, 8, spread_kinds, &job);
        memcpy(out->cell_kind, other, count);
    }
    release_job job = {.params = params, .out = out};
    parallel_for(ctx, params->map->count, 8, fill_tiles, &job);
    for (size_t i = count; i < count + TILE_CELLS; ++i) {
        out->cell_phi[i] = params->cell_phi[i];
        out->cell_solid_id[i] = SOLID_NONE;
        for (int a = 0; a < AXES; ++a) {
            out->face_open[a][i] = params->face_open[a][i];
        }
    }
}

// --- velocity -----------------------------------------------------------------------------------

// The velocity of the face across the released cell beside a face that has been opened.
static void carry_over(const release_job* job, int64_t t, int q, int a) {
    const release_params* p = job->params;
    const release_fields* f = job->out;
    int64_t face = t * TILE_CELLS + q, below = tile_slot_below(p->map, t, q, a);
    int64_t above = tile_slot_above(p->map, t, q, a);
    double sum = 0.0, weight = 0.0;
    const int64_t cells[2] = {face, below}, across[2] = {above, below};
    for (int n = 0; n < 2; ++n) {
        double open = (double)p->face_open[a][across[n]];
        if (f->cell_kind[cells[n]] == KIND_RELEASED && open > 0.0) {
            sum += open * (double)job->face_u[a][across[n]];
            weight += open;
        }
    }
    if (weight > 0.0) {
        job->face_u[a][face] = (float)(sum / weight);
    }
}

static void carry_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const release_job* job = data;
    const release_params* p = job->params;
    (void)worker;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        for (int a = 0; a < AXES; ++a) {
            bool was_closed = !(p->face_open[a][i] > 0.0f);
            if (was_closed && job->out->face_open[a][i] > 0.0f) {
                carry_over(job, i / TILE_CELLS, (int)(i % TILE_CELLS), a);
            }
        }
    }
}

void release_velocity(const release_params* params, const release_fields* fields,
                      float* const face_u[AXES]) {
    release_job job = {params, fields, face_u};
    // Only open faces are read and only closed ones are written.
    parallel_for(params->map->ctx, params->map->count, 8, carry_tiles, &job);
}
