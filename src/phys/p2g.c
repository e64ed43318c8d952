// Particles to grid [S19 eq. 13, 14, 18]; the law is in phys/transfer.h.
//
// A tile scatters its own particles, in their order, into a block on the stack and then adds the
// block to the field, which reaches two cells into its 26 neighbours. Tiles whose coordinates agree
// in parity along every axis never touch the same value: they go in parallel, one of the eight
// parities after the other. So every value is summed in the same order on any number of threads.
//
// Properties that tests check: mass and momentum arrive whole; angular momentum too in APIC; a
// uniform velocity comes out with the same bits on all faces; bits do not depend on threads.
#include "phys/p2g.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "phys/transfer.h"
#include "phys/velocity.h"

enum { COLOURS = 8 };
// What a field is that is no component of velocity.
// AT_NODES: at any place, without its image behind the sides.
enum { AT_CELLS = AXES, AT_NODES };

// The tiles of the particles, sorted by colour.
typedef struct coloured_tiles {
    int64_t first[COLOURS + 1];
    tile_ix* tile; // of the particles
} coloured_tiles;

// One field that particles give to.
typedef struct scatter_field {
    transfer_source whole; // arrays of all particles; pointers are moved to a tile's own
    transfer_place place;
    float* sum;    // [map tiles][512]
    float* weight; // and the sums of weights
    int component; // of velocity, AT_CELLS or AT_NODES
} scatter_field;

// A tile gives to all fields before the next one comes: its particles are read once.
typedef struct scatter_job {
    const p2g_params* params;
    const coloured_tiles* tiles;
    int64_t first; // of the current colour
    int field_count;
    scatter_field field[AXES];
} scatter_job;

static int p2g_colour_of(tile_coord coord) {
    return (coord.at[0] & 1) | (coord.at[1] & 1) << 1 | (coord.at[2] & 1) << 2;
}

// Whether a tile gives to one that is this rank's.
static bool gives_to_own(const p2g_params* params, tile_ix t) {
    tile_range own = tile_ranks_own(params->map);
    tile_ix at = tile_map_find(params->map, params->from->tile[t]);
    bool gives = false;
    for (int n = 0; n < TILE_NEIGHBOURS && !gives; ++n) {
        tile_ix to = params->map->neighbour[at][n];
        gives = to >= own.begin && to < own.end;
    }
    return gives;
}

static treacle_status colour_tiles(const p2g_params* params, coloured_tiles* out) {
    const particles* p = params->from;
    bool is_distributed = params->map->ranks != NULL;
    memset(out, 0, sizeof(*out));
    void* block = NULL;
    TREACLE_TRY(
        alloc_array(p->ctx, (size_t)p->tile_count, sizeof(tile_ix), "coloured tiles", &block));
    out->tile = block;
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        out->first[p2g_colour_of(p->tile[t]) + 1] +=
            !is_distributed || gives_to_own(params, t) ? 1 : 0;
    }
    for (int c = 0; c < COLOURS; ++c) {
        out->first[c + 1] += out->first[c];
    }
    int64_t next[COLOURS];
    memcpy(next, out->first, sizeof(next));
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        if (!is_distributed || gives_to_own(params, t)) {
            out->tile[next[p2g_colour_of(p->tile[t])]++] = t;
        }
    }
    return TREACLE_OK;
}

// What of a block belongs to the neighbour at `offset` along one axis: block index and cell index
// of its first sample, and how many there are.
typedef struct overlap {
    int in_block, in_tile, count;
} overlap;

static overlap overlap_of(int offset) {
    static const overlap of[3] = {
        {0, TILE_SIZE - BLOCK_HALO, BLOCK_HALO},
        {BLOCK_HALO, 0, TILE_SIZE},
        {BLOCK_HALO + TILE_SIZE, 0, BLOCK_HALO},
    };
    return of[offset + 1];
}

static void add_rows(const float* block, const overlap at[AXES], float* sum, float* weight) {
    for (int k = 0; k < at[2].count; ++k) {
        for (int j = 0; j < at[1].count; ++j) {
            int from = ((at[2].in_block + k) * BLOCK_SIZE + at[1].in_block + j) * BLOCK_SIZE +
                       at[0].in_block;
            int to =
                ((at[2].in_tile + k) * TILE_SIZE + at[1].in_tile + j) * TILE_SIZE + at[0].in_tile;
            for (int i = 0; i < at[0].count; ++i) {
                sum[to + i] += block[2 * (from + i)];
                weight[to + i] += block[2 * (from + i) + 1];
            }
        }
    }
}

// Neighbours that do not exist lie beyond the domain: what goes there is lost with them. What goes
// to tiles of other ranks is theirs to find.
static void add_block(const tile_map* map, const scatter_field* field, tile_ix tile,
                      const float* block) {
    tile_range own = tile_ranks_own(map);
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        tile_ix to = map->neighbour[tile][n];
        if (to == map->count || to < own.begin || to >= own.end) {
            continue;
        }
        overlap at[AXES] = {overlap_of(n % 3 - 1), overlap_of(n / 3 % 3 - 1),
                            overlap_of(n / 9 - 1)};
        size_t start = (size_t)to * TILE_CELLS;
        add_rows(block, at, field->sum + start, field->weight + start);
    }
}

// What goes to plane `from` of an axis of a block comes back to plane `to`.
typedef struct fold {
    int axis, from, to;
    float sign, reference, add;
} fold;

// A mirrored particle has the velocity sign u + add; less the reference, this is sign (u -
// reference) + (sign - 1) reference + add.
static void fold_plane(const fold* f, float* block) {
    static const int stride[AXES] = {2, 2 * BLOCK_SIZE, 2 * BLOCK_SIZE * BLOCK_SIZE};
    int c = (f->axis + 1) % AXES, d = (f->axis + 2) % AXES;
    for (int i = 0; i < BLOCK_SIZE * BLOCK_SIZE; ++i) {
        float* row = block + i % BLOCK_SIZE * stride[c] + i / BLOCK_SIZE * stride[d];
        float *from = row + f->from * stride[f->axis], *to = row + f->to * stride[f->axis];
        to[0] += f->sign * from[0] + (f->sign - 1.0f) * f->reference * from[1];
        if (f->add != 0.0f) {
            to[0] += f->add * from[1];
        }
        to[1] += from[1];
        from[0] = from[1] = 0.0f;
    }
}

// Values at cells come back from every side, so that volumes add up; velocities from walls only,
// and not across walls that may let go: there no image is known.
static void fold_sides(const p2g_params* params, const scatter_field* field, tile_coord tile,
                       float* block) {
    const grid_domain* domain = params->domain;
    const face_velocity sides = {.domain = domain, .has_viscosity = params->has_viscosity};
    for (int b = 0; b < AXES; ++b) {
        if (!domain->is_active[b] || domain->is_periodic[b]) {
            continue;
        }
        int low = tile.at[b] * TILE_SIZE - BLOCK_HALO;
        for (int i = 0; i < BLOCK_SIZE; ++i) {
            velocity_mirror m = velocity_mirror_of(&sides, field->component, b, low + i);
            fold f = {b, i, m.plane - low, m.sign, field->whole.reference, m.add};
            bool is_open = domain->sides[b][low + i < 0 ? 0 : 1] == TREACLE_SIDE_OPEN;
            bool lets_go = m.edge != VELOCITY_NO_EDGE;
            bool comes_back = f.to != i && f.to >= 0 && f.to < BLOCK_SIZE &&
                              (field->component == AT_CELLS || !(is_open || lets_go));
            if (comes_back) {
                fold_plane(&f, block);
            }
        }
    }
}

static transfer_source source_of_tile(const particles* from, const scatter_field* field,
                                      tile_ix tile) {
    particle_ix first = from->tile_first[tile];
    transfer_source s = field->whole;
    s.count = from->tile_first[tile + 1] - first;
    s.position += 3 * first;
    s.value += s.value_stride * first;
    s.slope = s.slope == NULL ? NULL : s.slope + s.slope_stride * first;
    s.volume += first;
    s.material += first;
    return s;
}

// Particles that a thin solid hides samples from come last.
static void scatter_thin(const p2g_params* params, const scatter_field* field, tile_ix tile,
                         transfer_source source, float* block) {
    const particles* p = params->from;
    thin_tile thin = {.first = p->tile_first[tile], .which = field->component};
    thin.members =
        thin_particles_between(params->thin, thin.first, p->tile_first[tile + 1], &thin.count);
    if (thin.count > 0) {
        source.volume = particles_f32(p, PARTICLE_VOLUME) + thin.first;
        thin_scatter(&thin, &source, &field->place, block);
    }
}

static void scatter_tiles(void* data, int64_t begin, int64_t end) {
    const scatter_job* job = data;
    const p2g_params* params = job->params;
    float block[2 * BLOCK_CELLS + BLOCK_TAIL];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix tile = job->tiles->tile[job->first + i];
        tile_ix to = tile_map_find(params->map, params->from->tile[tile]);
        for (int f = 0; f < job->field_count; ++f) {
            const scatter_field* field = &job->field[f];
            transfer_source source = source_of_tile(params->from, field, tile);
            ISA_CALL(params->from->ctx, transfer_scatter)(&source, &field->place, block);
            if (field->component != AT_NODES && params->thin != NULL) {
                scatter_thin(params, field, tile, source, block);
            }
            if (field->component != AT_NODES) {
                fold_sides(params, field, params->from->tile[tile], block);
            }
            add_block(params->map, field, to, block);
        }
    }
}

// sum, weight = all particles, colour by colour.
static void p2g_scatter(scatter_job* job) {
    const size_t bytes = TILE_CELLS * sizeof(float);
    for (int f = 0; f < job->field_count; ++f) {
        tile_clear(job->params->map, job->field[f].sum, bytes);
        tile_clear(job->params->map, job->field[f].weight, bytes);
    }
    parallel_count_pass(job->params->from->ctx);
    for (int c = 0; c < COLOURS; ++c) {
        job->first = job->tiles->first[c];
        parallel_for(job->params->from->ctx, job->tiles->first[c + 1] - job->first, 1,
                     scatter_tiles, job);
    }
}

typedef struct normalise_job {
    float* sum;
    float* weight;
    float reference;
} normalise_job;

static void normalise_tiles(void* data, int64_t begin, int64_t end) {
    const normalise_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        bool has_weight = job->weight[i] > P2G_MASS_MIN;
        job->sum[i] = has_weight ? job->reference + job->sum[i] / job->weight[i] : 0.0f;
        job->weight[i] = has_weight ? job->weight[i] : 0.0f;
    }
}

static scatter_field field_of(const p2g_params* params) {
    const particles* p = params->from;
    double h = params->domain->h;
    bool has_thin = params->thin != NULL && params->thin->count > 0;
    scatter_field field = {
        .whole = {.position = particles_f32(p, PARTICLE_POSITION),
                  .volume = has_thin ? params->thin->volume : particles_f32(p, PARTICLE_VOLUME),
                  .volume_scale = (float)(1.0 / (h * h * h)),
                  .material = particles_material(p)},
        .place = {.offset = {0.5, 0.5, 0.5}},
        .component = AT_CELLS,
    };
    memcpy(field.place.is_active, params->domain->is_active, sizeof(field.place.is_active));
    return field;
}

// Component a of velocity.
static scatter_field velocity_of(const p2g_params* params, int a) {
    const particles* p = params->from;
    scatter_field field = field_of(params);
    field.component = a;
    field.place.kernel = params->kernel;
    field.place.offset[a] = params->domain->is_active[a] ? 0.0 : 0.5;
    field.whole.value = particles_f32(p, PARTICLE_VELOCITY) + a;
    field.whole.value_stride = AXES;
    field.whole.density = params->density;
    field.whole.reference = params->reference[a];
    if (params->is_affine) {
        field.whole.slope = particles_f32(p, PARTICLE_AFFINE) + AXES * a;
        field.whole.slope_stride = AXES * AXES;
        field.whole.slope_scale = (float)params->domain->h;
    }
    return field;
}

static treacle_status p2g_run(scatter_job* job) {
    const particles* p = job->params->from;
    coloured_tiles tiles;
    TREACLE_TRY(colour_tiles(job->params, &tiles));
    job->tiles = &tiles;
    p2g_scatter(job);
    for (int f = 0; f < job->field_count; ++f) {
        const scatter_field* field = &job->field[f];
        normalise_job n = {field->sum, field->weight, field->whole.reference};
        tile_for(job->params->map,
                 &(tile_use){.reads = TILE_AROUND,
                             .grain = 8,
                             .writes = {{.at = field->sum}, {.at = field->weight}}},
                 normalise_tiles, &n);
    }
    alloc_free(p->ctx, tiles.tile, (size_t)p->tile_count * sizeof(tile_ix));
    return TREACLE_OK;
}

treacle_status p2g_velocity(const p2g_params* params, float* const face_u[AXES],
                            float* const face_mass[AXES]) {
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    TREACLE_ASSERT(face_mass[0] != NULL && face_mass[0] != face_u[0]);
    TREACLE_ASSERT(!params->is_affine || params->from->column[PARTICLE_AFFINE] != NULL);
    scatter_job job = {.params = params, .field_count = AXES};
    for (int a = 0; a < AXES; ++a) {
        job.field[a] = velocity_of(params, a);
        job.field[a].sum = face_u[a];
        job.field[a].weight = face_mass[a];
    }
    return p2g_run(&job);
}

treacle_status p2g_weighted(const p2g_params* params, const p2g_column* column, float* cell_value,
                            float* cell_weight) {
    TREACLE_ASSERT(cell_value != NULL && cell_weight != NULL && cell_value != cell_weight);
    TREACLE_ASSERT(column->value != NULL || params->from->count == 0);
    TREACLE_ASSERT(isfinite(column->reference));
    scatter_job job = {.params = params, .field_count = 1, .field = {field_of(params)}};
    job.field[0].place.kernel = TREACLE_KERNEL_LINEAR;
    job.field[0].whole.value = column->value;
    job.field[0].whole.value_stride = 1;
    job.field[0].whole.density = column->weight;
    job.field[0].whole.reference = column->reference;
    job.field[0].sum = cell_value;
    job.field[0].weight = cell_weight;
    return p2g_run(&job);
}

treacle_status p2g_mean(const p2g_params* params, grid_place place, const p2g_values* values,
                        float* mean, float* weight) {
    TREACLE_ASSERT(mean != NULL && weight != NULL && mean != weight);
    TREACLE_ASSERT(values->stride > 0);
    TREACLE_ASSERT(values->first != NULL || params->from->count == 0);
    scatter_job job = {.params = params, .field_count = 1, .field = {field_of(params)}};
    scatter_field* field = &job.field[0];
    field->component = AT_NODES;
    field->place.kernel = TREACLE_KERNEL_LINEAR;
    for (int a = 0; a < AXES; ++a) {
        field->place.offset[a] =
            params->domain->is_active[a] ? (double)place_offset(place, a) : 0.5;
    }
    field->whole.value = values->first;
    field->whole.value_stride = values->stride;
    field->sum = mean;
    field->weight = weight;
    return p2g_run(&job);
}

treacle_status p2g_scalar(const p2g_params* params, const float* value, float* cell_value,
                          float* cell_volume) {
    return p2g_weighted(params, &(p2g_column){.value = value}, cell_value, cell_volume);
}

// Nodes on a side see half of what is around them; with its mirror image all.
static void mirror_nodes(void* data, int64_t begin, int64_t end) {
    const scatter_job* job = data;
    const grid_domain* domain = job->params->domain;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        const tile_coord* tile = &job->params->map->coord[i / TILE_CELLS];
        int cell = (int)(i % TILE_CELLS);
        const int at[AXES] = {cell % TILE_SIZE, cell / TILE_SIZE % TILE_SIZE,
                              cell / TILE_SIZE / TILE_SIZE};
        for (int a = 0; a < AXES; ++a) {
            int node = tile->at[a] * TILE_SIZE + at[a];
            bool is_on_side = domain->is_active[a] && !domain->is_periodic[a] &&
                              (node == 0 || node == domain->cells[a]);
            job->field[0].weight[i] *= is_on_side ? 2.0f : 1.0f;
        }
    }
}

treacle_status p2g_node_volume(const p2g_params* params, float* node_volume) {
    TREACLE_ASSERT(node_volume != NULL);
    TREACLE_ASSERT(params->from->ctx == params->map->ctx);
    treacle_context* ctx = params->from->ctx;
    size_t values = ((size_t)params->map->count + 1) * TILE_CELLS;
    void* unused = NULL;
    TREACLE_TRY(alloc_array(ctx, values, sizeof(float), "sums at nodes", &unused));
    scatter_job job = {.params = params, .field_count = 1, .field = {field_of(params)}};
    scatter_field* field = &job.field[0];
    field->component = AT_NODES;
    field->place.kernel = TREACLE_KERNEL_LINEAR;
    for (int a = 0; a < AXES; ++a) {
        field->place.offset[a] = params->domain->is_active[a] ? 0.0 : 0.5;
    }
    field->whole.value = field->whole.volume; // any: only weights are wanted
    field->whole.value_stride = 1;
    field->sum = unused;
    field->weight = node_volume;
    treacle_status status = p2g_run(&job);
    if (status == TREACLE_OK) {
        tile_for(params->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, mirror_nodes, &job);
    }
    alloc_free(ctx, unused, values * sizeof(float));
    return status;
}
