// Released solids in a flow with viscosity [sep.5].
//
// A wall that has let go neither pushes nor drags: it is free surface, with no traction at all. The
// flow has such a surface by its fractions of liquid [visc.2; stokes.1]; so the liquid, which goes
// on behind walls elsewhere, ends at the solid where that is released:
//
//     phi <- max(phi, -phi_solid)      in released cells and in the solid's own next to them
//
// Shares join phi linearly, so beside a place of contact, where the liquid goes on behind the wall,
// they find some in the solid's own cells, too: it is taken away, or it would have mass.
//
// There the solid holds no face, and its stress is none. Cells of the solid between released and
// touching ones follow the majority of the walls around them. A face between a released cell and
// one in contact is open by all of it to the first and by what the solid leaves to the other:
//
//     sum of +-A_f^c over the faces of a cell = A n in contact, 0 where it has let go       [sep.6]
//
// Staggering: phi, kinds at cells; openings, u on faces. Symbols: cell_phi, cell_solid_phi,
// face_open and face_open_below (A_f^c of the cells above and below a face).
// Properties that tests check: no cell sees a step where contact ends; a wall that slips exerts no
// shear, touched or let go of; thick liquid falls off a ceiling that lets go, and a floor that is
// pulled away leaves it behind.
#include "phys/contact_release.h"

#include <math.h>
#include <string.h>

#include "grid/tile_loop.h"
#include "phys/slip_stress.h"
#include "phys/solid.h"

// What a cell is. Cells behind a wall are the solid's own, and count as air with its released
// walls.
enum { KIND_NONE, KIND_CONTACT, KIND_RELEASED, KIND_BEHIND };
// Layers of the solid's own cells: as far as fractions and tents look.
enum { LAYERS = 3 };

bool contact_release_is_needed(const contact_set* contacts) {
    TREACLE_ASSERT(contacts->count >= 0 && contacts->count <= contacts->capacity);
    bool is_needed = false;
    for (int64_t i = 0; i < contacts->count; ++i) {
        const contact* w = &contacts->at[i];
        is_needed = is_needed || (w->slot == CONTACT_OF_SOLID && w->is_released);
    }
    return is_needed;
}

// --- kinds --------------------------------------------------------------------------------------

static void mark_contacts(const contact_release_params* p, uint8_t* kind) {
    memset(kind, KIND_NONE, ((size_t)p->map->count + 1) * TILE_CELLS);
    for (int64_t i = 0; i < p->contacts->count; ++i) {
        const contact* w = &p->contacts->at[i];
        if (w->slot == CONTACT_OF_SOLID) {
            kind[w->cell] = w->is_released ? KIND_RELEASED : KIND_CONTACT;
        }
    }
}

typedef struct kind_job {
    const contact_release_params* params;
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
    int released = 0, in_contact = 0;
    for (int n = 0; n < 27; ++n) {
        const int by[AXES] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        bool is_flat = false;
        for (int a = 0; a < AXES; ++a) {
            is_flat = is_flat || (by[a] != 0 && !job->params->domain->is_active[a]);
        }
        if (!is_flat) {
            uint8_t kind = job->from[neighbour_slot(map, t, q, by)];
            released += kind == KIND_RELEASED || kind == KIND_BEHIND ? 1 : 0;
            in_contact += kind == KIND_CONTACT ? 1 : 0;
        }
    }
    return released > in_contact;
}

static void spread_kinds(void* data, int64_t begin, int64_t end) {
    const kind_job* job = data;
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

typedef struct contact_release_job {
    const contact_release_params* params;
    const contact_release_fields* out;
} contact_release_job;

static bool is_let_go(uint8_t kind) {
    return kind == KIND_RELEASED || kind == KIND_BEHIND;
}

static bool is_side(const grid_domain* domain, int a, int at) {
    return !domain->is_periodic[a] && (at == 0 || at >= domain->cells[a]);
}

static void contact_release_fill_tiles(void* data, int64_t begin, int64_t end) {
    const contact_release_job* job = data;
    const contact_release_params* p = job->params;
    const contact_release_fields* out = job->out;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int64_t t = i / TILE_CELLS;
        int q = (int)(i % TILE_CELLS), at[AXES];
        bool is_gone = is_let_go(out->cell_kind[i]);
        tile_cell_at(p->map, (tile_ix)t, q, at);
        out->cell_phi[i] = is_gone ? fmaxf(p->cell_phi[i], -p->cell_solid_phi[i]) : p->cell_phi[i];
        out->cell_solid_id[i] = is_gone ? SLIP_LET_GO : p->cell_solid_id[i];
        for (int a = 0; a < AXES; ++a) {
            bool is_face = p->domain->is_active[a] && !is_side(p->domain, a, at[a]);
            bool is_gone_below = is_let_go(out->cell_kind[tile_slot_below(p->map, t, q, a)]);
            float open = p->face_open.at[a][i];
            out->face_open.at[a][i] = is_face && is_gone ? 1.0f : open;
            out->face_open_below.at[a][i] = is_face && is_gone_below ? 1.0f : open;
        }
    }
}

void contact_release_compute(const contact_release_params* params,
                             const contact_release_fields* out) {
    TREACLE_ASSERT(params->contacts != NULL && params->cell_solid_id != NULL);
    TREACLE_ASSERT(out->cell_phi != NULL && out->cell_phi != params->cell_phi);
    TREACLE_ASSERT(out->cell_kind != NULL);
    TREACLE_ASSERT(out->cell_solid_id != params->cell_solid_id);
    size_t count = (size_t)params->map->count * TILE_CELLS;
    uint8_t* other = out->cell_kind + count + TILE_CELLS;
    mark_contacts(params, out->cell_kind);
    for (int n = 0; n < LAYERS; ++n) {
        kind_job job = {params, out->cell_kind, other};
        tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, spread_kinds, &job);
        memcpy(out->cell_kind, other, count);
    }
    contact_release_job job = {params, out};
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8},
             contact_release_fill_tiles, &job);
    for (size_t i = count; i < count + TILE_CELLS; ++i) {
        out->cell_phi[i] = params->cell_phi[i];
        out->cell_solid_id[i] = SOLID_NONE;
        for (int a = 0; a < AXES; ++a) {
            out->face_open.at[a][i] = out->face_open_below.at[a][i] = params->face_open.at[a][i];
        }
    }
}

// --- fractions
// --------------------------------------------------------------------------------------

typedef struct trim_job {
    const contact_release_params* params;
    const uint8_t* kind;
    const fraction_fields* fraction;
} trim_job;

static void trim_cell(const trim_job* job, int64_t t, int q) {
    int64_t i = t * TILE_CELLS + q;
    if (job->kind[i] != KIND_BEHIND) {
        return;
    }
    job->fraction->cell[i] = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        if (job->kind[tile_slot_below(job->params->map, t, q, a)] == KIND_BEHIND) {
            job->fraction->face.at[a][i] = 0.0f;
            if (job->fraction->tent.at[a] != NULL) {
                job->fraction->tent.at[a][i] = 0.0f;
            }
        }
    }
}

static void trim_tiles(void* data, int64_t begin, int64_t end) {
    const trim_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        trim_cell(job, i / TILE_CELLS, (int)(i % TILE_CELLS));
    }
}

void contact_release_trim(const contact_release_params* params,
                          const contact_release_fields* fields, const fraction_fields* fraction) {
    TREACLE_ASSERT(fields->cell_kind != NULL);
    TREACLE_ASSERT(fraction->cell != NULL);
    trim_job job = {params, fields->cell_kind, fraction};
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, trim_tiles, &job);
}

// --- velocity -----------------------------------------------------------------------------------

typedef struct velocity_job {
    const contact_release_params* params;
    const contact_release_fields* fields;
    const float* const* extended;
    float* const* face_u;
} velocity_job;

// Whether a face of axis a belongs to a cell that has let go.
static bool is_of_released(const velocity_job* job, int64_t t, int q, int a) {
    int64_t here = t * TILE_CELLS + q, below = tile_slot_below(job->params->map, t, q, a);
    return is_let_go(job->fields->cell_kind[here]) || is_let_go(job->fields->cell_kind[below]);
}

static void velocity_tiles(void* data, int64_t begin, int64_t end) {
    const velocity_job* job = data;
    const contact_release_params* p = job->params;
    for (int64_t n = begin * TILE_CELLS * AXES; n < end * TILE_CELLS * AXES; ++n) {
        int64_t t = n / (TILE_CELLS * AXES), i = t * TILE_CELLS + n % TILE_CELLS;
        int a = (int)(n / TILE_CELLS % AXES), q = (int)(n % TILE_CELLS), at[AXES];
        tile_cell_at(p->map, (tile_ix)t, q, at);
        bool was_closed = !(p->face_open.at[a][i] > 0.0f) && p->domain->is_active[a];
        if (was_closed && !is_side(p->domain, a, at[a]) && is_of_released(job, t, q, a)) {
            job->face_u[a][i] = job->extended[a][i];
        }
    }
}

void contact_release_velocity(const contact_release_params* params,
                              const contact_release_fields* fields,
                              const float* const extended[AXES], float* const face_u[AXES]) {
    TREACLE_ASSERT(fields->cell_kind != NULL);
    TREACLE_ASSERT(extended[0] != NULL && extended[0] != face_u[0]);
    velocity_job job = {params, fields, extended, face_u};
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, velocity_tiles, &job);
}
