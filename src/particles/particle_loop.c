#include "particles/particle_loop.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "grid/tile_loop.h"

// --- what ranks send to one another --------------------------------------------------------------

// Values of particles come to all ranks that hold all particles.
static void publish(const particles* p, const int64_t* first, void* values, size_t value_bytes) {
    if (values != NULL) {
        comm_gather(p->ctx, values, value_bytes, first);
    }
}

static void publish_all(const particles* p, const particle_use* use) {
    bool is_any = use->columns != 0 || use->values != NULL;
    if (!is_any || p->owners == NULL || p->owners->is_distributed) {
        return;
    }
    size_t count = (size_t)comm_size(p->ctx) + 1;
    int64_t* first = NULL;
    treacle_status status =
        alloc_array(p->ctx, count, sizeof(*first), "rows of ranks", (void**)&first);
    if (status != TREACLE_OK) { // this rank alone may lack memory; the others wait for it
        (void)!comm_give_up(p->ctx, status);
        return;
    }
    particle_ranks_first(p, first);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if ((use->columns >> c & 1u) != 0) {
            publish(p, first, p->column[c], particle_columns[c].bytes);
        }
    }
    publish(p, first, use->values, use->value_bytes);
    alloc_free(p->ctx, first, count * sizeof(*first));
}

// --- the loop ------------------------------------------------------------------------------------

static void run_near(const particles* p, const particle_use* use, parallel_fcn* fcn, void* data) {
    tile_for_range(p->ctx, particle_ranks_own_range(p), use->grain, fcn, data);
    if (!particle_ranks_are_distributed(p) || use->map->ranks == NULL) {
        return;
    }
    for (int64_t i = 0; i < use->map->ranks->ghost_count; ++i) {
        tile_range members = particle_ranks_of_tile(use->map, p, use->map->ranks->ghost[i]);
        tile_for_range(p->ctx, members, use->grain, fcn, data);
    }
}

void particle_for(const particles* p, const particle_use* use, parallel_fcn* fcn, void* data) {
    TREACLE_ASSERT(use->grain > 0);
    TREACLE_ASSERT(use->span != PARTICLES_EACH_NEAR || use->map != NULL);
    parallel_count_pass(p->ctx);
    switch (use->span) {
    case PARTICLES_OWN_TILES:
        tile_for_range(p->ctx, particle_ranks_own(p), use->grain, fcn, data);
        publish_all(p, use);
        break;
    case PARTICLES_EACH_NEAR:
        run_near(p, use, fcn, data);
        break;
    case PARTICLES_ALL_TILES:
        parallel_for(p->ctx, p->tile_count, use->grain, fcn, data);
        break;
    case PARTICLES_EACH:
        parallel_for(p->ctx, p->count, use->grain, fcn, data);
        break;
    }
}

// --- sums ----------------------------------------------------------------------------------------

double particle_sum(const particles* p, parallel_term_fcn* fcn, void* data) {
    tile_range own = particle_ranks_own(p);
    parallel_count_pass(p->ctx);
    return tile_sum_range(p->ctx, own, p->owners != NULL, fcn, data);
}

double particle_max(const particles* p, parallel_term_fcn* fcn, void* data) {
    tile_range own = particle_ranks_own(p);
    parallel_count_pass(p->ctx);
    return tile_max_range(p->ctx, own, p->owners != NULL, fcn, data);
}

static double volume_of_group(void* data, int64_t group) {
    const particles* p = data;
    const float* volume = particles_f32(p, PARTICLE_VOLUME);
    double sum = 0.0;
    for (particle_ix i = p->tile_first[group]; i < p->tile_first[group + 1]; ++i) {
        sum += (double)volume[i];
    }
    return sum;
}

double particle_volume(const particles* p) {
    return particle_sum(p, volume_of_group, (void*)p);
}

// --- poison --------------------------------------------------------------------------------------

static void poison_particle(const particles* p, particle_ix particle) {
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (p->column[c] != NULL) {
            size_t bytes = particle_columns[c].bytes;
            memset((char*)p->column[c] + (size_t)particle * bytes, 0xff, bytes); // floats: NaN
        }
    }
}

static void spare_particles(void* data, int64_t begin, int64_t end) {
    memset((uint8_t*)data + begin, 1, (size_t)(end - begin));
}

void particle_poison(const tile_map* map, const particles* p) {
    if (!particle_ranks_are_distributed(p) || !p->ctx->poisons) {
        return;
    }
    size_t count = (size_t)p->count;
    uint8_t* is_spared = NULL;
    treacle_status status = alloc_array(p->ctx, count, 1, "rows to spare", (void**)&is_spared);
    if (status != TREACLE_OK) { // a check that there is no memory for is left out
        return;
    }
    memset(is_spared, 0, count);
    spare_particles(is_spared, p->away.low_end, p->away.high_first);
    spare_particles(is_spared, p->away.high_end, p->count);
    if (map != NULL) {
        particle_use near = {.span = PARTICLES_EACH_NEAR, .grain = p->count + 1, .map = map};
        particle_for(p, &near, spare_particles, is_spared);
    }
    for (particle_ix particle = 0; particle < p->count; ++particle) {
        if (is_spared[particle] == 0) {
            poison_particle(p, particle);
        }
    }
    alloc_free(p->ctx, is_spared, count);
}
