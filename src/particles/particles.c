#include "particles/particles.h"

#include <string.h>

#include "base/alloc.h"

// Particles that a loop over a column takes at a time: some tens of kilobytes.
enum { COPY_GRAIN = 16384 };

static const uint32_t basic_columns = 1u << PARTICLE_POSITION | 1u << PARTICLE_VELOCITY |
                                      1u << PARTICLE_ID | 1u << PARTICLE_VOLUME |
                                      1u << PARTICLE_MATERIAL;

enum {
    BYTES_U8 = 1,
    BYTES_U64 = 8,
    BYTES_F32 = 4,
    BYTES_F64 = 8,
};

const particle_column_info particle_columns[PARTICLE_COLUMN_COUNT] = {
#define COLUMN_INFO(name, text, type, components)                                                  \
    {text, TREACLE_TYPE_##type, components, (size_t)BYTES_##type * components},
    PARTICLE_COLUMN_LIST(COLUMN_INFO)
#undef COLUMN_INFO
};

treacle_status particles_create(treacle_context* ctx, uint32_t column_mask, particles* out) {
    TREACLE_ASSERT(ctx != NULL);
    TREACLE_ASSERT(column_mask >> PARTICLE_COLUMN_COUNT == 0);
    *out = (particles){.ctx = ctx, .column_mask = column_mask | basic_columns};
    treacle_status status = particles_reserve(out, 0, 0);
    if (status != TREACLE_OK) {
        particles_destroy(out);
        return status;
    }
    out->tile_first[0] = 0;
    return TREACLE_OK;
}

static bool is_borrowed(const particles* p, int c) {
    return (p->borrowed_mask >> c & 1u) != 0;
}

void particles_show_own(particles* p, particle_column column) {
    TREACLE_ASSERT(is_borrowed(p, column));
    p->column[column] = p->own_block[column];
    p->own_block[column] = NULL;
    p->borrowed_mask &= ~(1u << column);
}

// What is in the store's own blocks means nothing then.
static void give_back_borrowed(particles* p) {
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (is_borrowed(p, c)) {
            particles_show_own(p, (particle_column)c);
        }
    }
}

void particles_destroy(particles* p) {
    if (p->ctx == NULL) {
        return;
    }
    give_back_borrowed(p);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        alloc_free(p->ctx, p->column[c], (size_t)p->column_capacity[c] * particle_columns[c].bytes);
    }
    alloc_free(p->ctx, p->tile, (size_t)p->tile_capacity * sizeof(*p->tile));
    alloc_free(p->ctx, p->tile_first, (size_t)p->tile_first_capacity * sizeof(*p->tile_first));
    *p = (particles){0};
}

treacle_status particles_reserve_groups(particles* p, int64_t groups) {
    TREACLE_ASSERT(groups >= 0);
    if (groups >= INT32_MAX) {
        return check_fail(p->ctx, TREACLE_ERR_LIMIT,
                          "particles in %lld tiles: at most %d are possible", (long long)groups,
                          (int)INT32_MAX - 1);
    }
    if (p->tile == NULL || groups > p->tile_capacity) {
        TREACLE_TRY(alloc_resize(p->ctx, (void**)&p->tile, (size_t)p->tile_capacity, (size_t)groups,
                                 sizeof(*p->tile), "the particles' tiles"));
        p->tile_capacity = (tile_ix)groups;
    }
    if (groups + 1 > p->tile_first_capacity) {
        TREACLE_TRY(alloc_resize(p->ctx, (void**)&p->tile_first, (size_t)p->tile_first_capacity,
                                 (size_t)groups + 1, sizeof(*p->tile_first),
                                 "the particles' tiles"));
        p->tile_first_capacity = (tile_ix)(groups + 1);
    }
    return TREACLE_OK;
}

typedef struct copy_job {
    char* to;
    const char* from;
    size_t bytes;
    particle_ix first; // particle
} copy_job;

static void copy_particles(void* data, int64_t begin, int64_t end) {
    const copy_job* job = data;
    size_t at = (size_t)(job->first + begin) * job->bytes;
    memcpy(job->to + at, job->from + at, (size_t)(end - begin) * job->bytes);
}

// Copies a column's particles as far as they are here.
static void copy_column(const particles* p, int c, void* to) {
    copy_job job = {to, p->column[c], particle_columns[c].bytes, p->away.low_end};
    parallel_for(p->ctx, p->away.high_first - job.first, COPY_GRAIN, copy_particles, &job);
    job.first = p->away.high_end;
    parallel_for(p->ctx, p->count - job.first, COPY_GRAIN, copy_particles, &job);
}

static treacle_status grow_column(particles* p, int c, particle_ix members) {
    TREACLE_ASSERT(!is_borrowed(p, c));
    void* grown = NULL;
    size_t bytes = particle_columns[c].bytes;
    TREACLE_TRY(alloc_array(p->ctx, (size_t)members, bytes, particle_columns[c].name, &grown));
    copy_column(p, c, grown);
    alloc_free(p->ctx, p->column[c], (size_t)p->column_capacity[c] * bytes);
    p->column[c] = grown;
    p->column_capacity[c] = members;
    return TREACLE_OK;
}

treacle_status particles_reserve_own(particles* p, particle_column column) {
    TREACLE_ASSERT(is_borrowed(p, column));
    particle_ix members = p->borrowed_capacity;
    size_t bytes = particle_columns[column].bytes;
    if (p->own_block[column] != NULL && members <= p->column_capacity[column]) {
        return TREACLE_OK;
    }
    alloc_free(p->ctx, p->own_block[column], (size_t)p->column_capacity[column] * bytes);
    p->own_block[column] = NULL;
    p->column_capacity[column] = 0;
    TREACLE_TRY(alloc_array(p->ctx, (size_t)members, bytes, particle_columns[column].name,
                            &p->own_block[column]));
    p->column_capacity[column] = members;
    return TREACLE_OK;
}

treacle_status particles_own(particles* p, uint32_t columns) {
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (is_borrowed(p, c) && (columns >> c & 1u) != 0) {
            TREACLE_TRY(particles_reserve_own(p, (particle_column)c));
            copy_column(p, c, p->own_block[c]);
            particles_show_own(p, (particle_column)c);
        }
    }
    return TREACLE_OK;
}

treacle_status particles_reserve(particles* p, particle_ix members, int64_t groups) {
    TREACLE_ASSERT(members >= 0 && groups >= 0);
    TREACLE_ASSERT(p->ctx != NULL);
    TREACLE_TRY(particles_own(p, p->borrowed_mask));
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        bool exists = (p->column_mask >> c & 1u) != 0;
        if (exists && (p->column[c] == NULL || members > p->column_capacity[c])) {
            TREACLE_TRY(grow_column(p, c, members));
        }
    }
    return particles_reserve_groups(p, groups);
}

// Room for `wanted` where there is room for `capacity`: by an eighth more at a time, so that many
// small appends stay cheap.
static int64_t grown(int64_t capacity, int64_t wanted) {
    int64_t more = capacity + capacity / 8 + 16;
    return wanted <= capacity ? capacity : wanted > more ? wanted : more;
}

static bool is_same_tile(tile_coord a, tile_coord b) {
    return a.at[0] == b.at[0] && a.at[1] == b.at[1] && a.at[2] == b.at[2];
}

treacle_status particles_append(particles* p, tile_coord tile, particle_ix members,
                                particle_ix* first) {
    TREACLE_ASSERT(members >= 0 && first != NULL);
    TREACLE_ASSERT(p->tile_first[p->tile_count] == p->count);
    bool extends = p->tile_count > 0 && is_same_tile(p->tile[p->tile_count - 1], tile);
    tile_ix groups = p->tile_count + (extends ? 0 : 1);
    TREACLE_TRY(particles_reserve(p, grown(p->column_capacity[PARTICLE_ID], p->count + members),
                                  grown(p->tile_capacity, groups)));
    *first = p->count;
    p->tile[groups - 1] = tile;
    p->tile_count = groups;
    p->count += members;
    p->tile_first[groups] = p->count;
    return TREACLE_OK;
}

typedef struct remove_job {
    particles* p;
    const uint8_t* is_removed;
    particle_ix first; // the first particle that goes
} remove_job;

static void compact_columns(void* data, int64_t begin, int64_t end) {
    const remove_job* job = data;
    for (int64_t c = begin; c < end; ++c) {
        char* column = job->p->column[c];
        size_t bytes = particle_columns[c].bytes;
        size_t kept = (size_t)job->first;
        for (particle_ix particle = job->first; column != NULL && particle < job->p->count;
             ++particle) {
            if (!job->is_removed[particle]) {
                memcpy(column + kept * bytes, column + (size_t)particle * bytes, bytes);
                kept += 1;
            }
        }
    }
}

static void compact_groups(particles* p, const uint8_t* is_removed) {
    particle_ix kept = 0, particle = 0;
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        for (; particle < p->tile_first[g + 1]; ++particle) {
            kept += is_removed[particle] == 0;
        }
        p->tile_first[g + 1] = kept;
    }
    p->count = kept;
}

void particles_remove(particles* p, const uint8_t* is_removed) {
    TREACLE_ASSERT(p->away.low_end == 0 && p->away.high_first == p->away.high_end);
    TREACLE_ASSERT(p->borrowed_mask == 0);
    const uint8_t* gone = p->count > 0 ? memchr(is_removed, 1, (size_t)p->count) : NULL;
    if (gone == NULL) {
        return;
    }
    remove_job job = {p, is_removed, gone - is_removed};
    parallel_for(p->ctx, PARTICLE_COLUMN_COUNT, 1, compact_columns, &job);
    compact_groups(p, is_removed);
}

static void copy_groups(particles* dst, const particles* src) {
    size_t groups = (size_t)src->tile_count;
    memcpy(dst->tile, src->tile, groups * sizeof(*src->tile));
    memcpy(dst->tile_first, src->tile_first, (groups + 1) * sizeof(*src->tile_first));
    dst->count = src->count;
    dst->away = src->away;
    dst->tile_count = src->tile_count;
}

treacle_status particles_copy(particles* dst, const particles* src) {
    TREACLE_ASSERT(dst != src && dst->ctx == src->ctx);
    TREACLE_ASSERT(dst->column_mask == src->column_mask);
    particles_clear(dst);
    // The capacity of src, not its count: then the two stores of a step settle at one size.
    TREACLE_TRY(particles_reserve(dst, src->column_capacity[PARTICLE_ID], src->tile_capacity));
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (src->column[c] != NULL) {
            copy_column(src, c, dst->column[c]);
        }
    }
    copy_groups(dst, src);
    return TREACLE_OK;
}

treacle_status particles_borrow(particles* dst, const particles* src) {
    TREACLE_ASSERT(dst != src && dst->ctx == src->ctx);
    TREACLE_ASSERT(dst->column_mask == src->column_mask && src->borrowed_mask == 0);
    TREACLE_ASSERT(src->away.low_end == 0 && src->away.high_first == src->away.high_end);
    particles_clear(dst);
    TREACLE_TRY(particles_reserve_groups(dst, src->tile_capacity));
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (src->column[c] != NULL) {
            dst->own_block[c] = dst->column[c];
            dst->column[c] = src->column[c];
            dst->borrowed_mask |= 1u << c;
        }
    }
    dst->borrowed_capacity = src->column_capacity[PARTICLE_ID];
    copy_groups(dst, src);
    return TREACLE_OK;
}

void particles_swap(particles* a, particles* b) {
    TREACLE_ASSERT(a != b && a->column_mask == b->column_mask);
    particles c = *a;
    *a = *b;
    *b = c;
}

void particles_clear(particles* p) {
    TREACLE_ASSERT(p->tile_first != NULL);
    give_back_borrowed(p);
    p->count = 0;
    p->away = (particle_away){0};
    p->tile_count = 0;
    p->tile_first[0] = 0;
}

bool particles_is_grouped(const particles* p) {
    TREACLE_ASSERT(p->tile_count >= 0 && p->count >= 0);
    if (p->tile_first[0] != 0 || p->tile_first[p->tile_count] != p->count) {
        return false;
    }
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        if (p->tile_first[g] > p->tile_first[g + 1]) {
            return false;
        }
    }
    return true;
}

// Whether the tile-local position is in its tile and the domain.
static bool is_in_place(const grid_domain* domain, tile_coord tile, const float position[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        float x = position[a];
        double place = (double)TILE_SIZE * tile.at[a] + (double)x;
        bool is_there = domain->is_active[a] ? x >= 0.0f && x < (float)TILE_SIZE : x == 0.5f;
        if (!is_there || !(place >= 0.0 && place < domain->cells[a])) {
            return false;
        }
    }
    return true;
}

static bool is_group_sorted(const particles* p, const grid_domain* domain, tile_ix g) {
    const float* position = particles_f32(p, PARTICLE_POSITION);
    const uint64_t* id = particles_id(p);
    for (particle_ix particle = p->tile_first[g]; particle < p->tile_first[g + 1]; ++particle) {
        if (!is_in_place(domain, p->tile[g], position + AXES * particle)) {
            return false;
        }
        if (particle > p->tile_first[g]) {
            int before = particles_cell(position + AXES * (particle - 1));
            int cell = particles_cell(position + AXES * particle);
            if (before > cell || (before == cell && id[particle - 1] >= id[particle])) {
                return false;
            }
        }
    }
    return p->tile_first[g] < p->tile_first[g + 1];
}

bool particles_is_sorted(const particles* p, const grid_domain* domain) {
    if (!particles_is_grouped(p)) {
        return false;
    }
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        if (!is_group_sorted(p, domain, g) ||
            (g > 0 && tile_key(p->tile[g - 1]) >= tile_key(p->tile[g]))) {
            return false;
        }
    }
    return true;
}

void particle_init(particles* p, const grid_domain* domain, particle_ix particle,
                   const particle_birth* birth) {
    TREACLE_ASSERT(particle >= 0 && particle < p->count);
    TREACLE_ASSERT(birth->volume > 0.0 && isfinite(birth->volume));
    float* affine = particles_f32(p, PARTICLE_AFFINE);
    float* colour = particles_f32(p, PARTICLE_COLOUR);
    float* rest = particles_f32(p, PARTICLE_REST);
    for (int a = 0; a < AXES; ++a) {
        bool moves = domain->is_active[a];
        particle_ix at = AXES * particle + a;
        particles_f32(p, PARTICLE_POSITION)[at] = moves ? birth->position[a] : 0.5f;
        particles_f32(p, PARTICLE_VELOCITY)[at] = moves ? (float)birth->velocity.at[a] : 0.0f;
        if (colour != NULL) {
            colour[at] = birth->colour[a];
        }
        if (rest != NULL) {
            rest[at] = (float)(birth->place.at[a] - domain->origin[a]);
        }
    }
    if (affine != NULL) {
        memset(affine + AXES * AXES * particle, 0, particle_columns[PARTICLE_AFFINE].bytes);
    }
    if (p->column[PARTICLE_STRAIN] != NULL) {
        memset(particles_f32(p, PARTICLE_STRAIN) +
                   particle_columns[PARTICLE_STRAIN].components * particle,
               0, particle_columns[PARTICLE_STRAIN].bytes);
    }
    if (p->column[PARTICLE_TEMPERATURE] != NULL) {
        particles_f32(p, PARTICLE_TEMPERATURE)[particle] = birth->temperature;
    }
    if (p->column[PARTICLE_MARKER] != NULL) {
        particles_f32(p, PARTICLE_MARKER)[particle] = birth->marker;
    }
    if (p->column[PARTICLE_LOG_FACTOR] != NULL) {
        particles_f32(p, PARTICLE_LOG_FACTOR)[particle] = birth->log_factor;
    }
    if (p->column[PARTICLE_ENTHALPY] != NULL) {
        particles_f64(p, PARTICLE_ENTHALPY)[particle] = 0.0;
    }
    if (p->column[PARTICLE_MELTED] != NULL) {
        particles_f32(p, PARTICLE_MELTED)[particle] = 0.0f;
    }
    if (p->column[PARTICLE_BIRTH] != NULL) {
        particles_f32(p, PARTICLE_BIRTH)[particle] = birth->time;
    }
    if (p->column[PARTICLE_REST_SIZE] != NULL) {
        particles_f32(p, PARTICLE_REST_SIZE)[particle] = 0.0f;
    }
    if (p->column[PARTICLE_DAMAGE] != NULL) {
        particles_f32(p, PARTICLE_DAMAGE)[particle] = 0.0f;
    }
    particles_id(p)[particle] = birth->id;
    particles_f32(p, PARTICLE_VOLUME)[particle] = (float)birth->volume;
    particles_material(p)[particle] = birth->material;
}

void particles_locate(const grid_domain* domain, vec3 place, tile_coord* tile,
                      float position[AXES]) {
    TREACLE_ASSERT(domain->h > 0.0);
    TREACLE_ASSERT(vec3_is_finite(place));
    for (int a = 0; a < AXES; ++a) {
        double cells = (place.at[a] - domain->origin[a]) / domain->h;
        double at = domain->is_active[a] ? floor(cells / TILE_SIZE) : 0.0;
        at = fmin(fmax(at, -1.0), domain->tiles[a]);
        tile->at[a] = (int32_t)at;
        position[a] = domain->is_active[a] ? (float)(cells - TILE_SIZE * at) : 0.5f;
    }
}
