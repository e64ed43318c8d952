// Drops finer than the grid. The surface drawn round particles cannot show each of them, and
// velocity outside it is extrapolated from the liquid: a lone particle in its reach would take over
// the velocity of a pool that it has not yet met, and hang above it. A free flyer is a body in free
// flight instead, as between any two steps of [S19 eq. 3, 4] without pressure:
//
//     v += dt (g + sum of fields),     x += dt v + fall                                 [flyer.1]
//
// where fall is what uniform forces add to the way of what flies [path.1].
//
// A particle flies free if the centre of its own cell is outside and
//
//     no centre around it is in the liquid, or phi(x_p) > FREE_FLYER_DISTANCE
//
// with phi linear between the 8 centres (4 in a plane) around the particle. Particles at the
// surface of a pool lie within 0.1 of it and never fly free; but at the surface of a thin thread,
// which is drawn too slim, they may lie farther out. Thick liquid does not let go of its skin:
// there only
//
//     phi(x_p) > FREE_FLYER_DISTANCE_THICK
//
// counts. On the grid free flyers weigh as all particles
// do, so what they meet gets their momentum.
//
// Staggering: phi at cells. Symbols: cell_phi. Properties that tests check: a lone particle falls
// as a stone does, all the way to the surface of a pool; a pool has no free flyers.
#include "phys/free_flyer.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "particles/particle_loop.h"

enum { CORNERS = 8 };

typedef struct free_flyer_job {
    const free_flyer_params* params;
    uint8_t* is_free_flyer;
} free_flyer_job;

// phi around a tile, and the range of the domain's cells in the tile's frame.
typedef struct surroundings {
    float phi[BLOCK_VALUES(2, 2)];
    float first[AXES], last[AXES]; // of no concern along inactive axes
} surroundings;

static void look_around(const free_flyer_params* params, tile_coord coord, surroundings* out) {
    const grid_domain* domain = params->domain;
    tile_ix tile = tile_map_find(params->map, coord);
    gather_block(params->map, params->cell_phi, tile, 2, 2, out->phi);
    for (int a = 0; a < AXES; ++a) {
        int low = coord.at[a] * TILE_SIZE;
        out->first[a] = domain->is_periodic[a] ? -2.0f : (float)-low;
        out->last[a] =
            domain->is_periodic[a] ? TILE_SIZE + 2.0f : (float)(domain->cells[a] - 1 - low);
    }
}

// phi around a place, in cells from the tile's low corner: at the corners of the cube between
// centres that holds it, and their weights. Beyond a side phi is what it is at the side.
static void corners_of(const grid_domain* domain, const surroundings* around, const float x[AXES],
                       float value[CORNERS], float weight[CORNERS]) {
    int low[AXES];
    float beyond[AXES];
    for (int a = 0; a < AXES; ++a) {
        float at = fminf(fmaxf(x[a] - 0.5f, around->first[a]), around->last[a]);
        at = domain->is_active[a] ? at : 0.0f;
        low[a] = (int)floorf(at);
        beyond[a] = at - (float)low[a];
    }
    for (int i = 0; i < CORNERS; ++i) {
        const int up[AXES] = {i & 1, i >> 1 & 1, i >> 2};
        weight[i] = 1.0f;
        for (int a = 0; a < AXES; ++a) {
            weight[i] *= up[a] == 1 ? beyond[a] : 1.0f - beyond[a];
        }
        value[i] = around->phi[BLOCK_INDEX(2, 2, low[0] + up[0], low[1] + up[1], low[2] + up[2])];
    }
}

static bool is_outside(const grid_domain* domain, const surroundings* around, const float x[AXES],
                       bool is_thick) {
    int own[AXES];
    for (int a = 0; a < AXES; ++a) {
        own[a] = domain->is_active[a] ? (int)floorf(x[a]) : 0;
    }
    if (around->phi[BLOCK_INDEX(2, 2, own[0], own[1], own[2])] < 0.0f) {
        return false;
    }
    float value[CORNERS], weight[CORNERS], mean = 0.0f, least = INFINITY;
    corners_of(domain, around, x, value, weight);
    for (int i = 0; i < CORNERS; ++i) {
        mean += weight[i] * value[i];
        least = weight[i] > 0.0f ? fminf(least, value[i]) : least;
    }
    return is_thick ? mean > FREE_FLYER_DISTANCE_THICK
                    : least >= 0.0f || mean > FREE_FLYER_DISTANCE;
}

// Most tiles: nothing around them is outside.
static bool is_all_liquid(const surroundings* around) {
    int outside = 0;
    for (int i = 0; i < BLOCK_VALUES(2, 2); ++i) {
        outside |= !(around->phi[i] < 0.0f);
    }
    return outside == 0;
}

static void find_in_tiles(void* data, int64_t begin, int64_t end) {
    const free_flyer_job* job = data;
    const free_flyer_params* params = job->params;
    const particles* p = params->p;
    const uint8_t* material = p->column[PARTICLE_MATERIAL];
    surroundings around;
    for (int64_t t = begin; t < end; ++t) {
        look_around(params, p->tile[t], &around);
        if (is_all_liquid(&around)) {
            memset(job->is_free_flyer + p->tile_first[t], 0,
                   (size_t)(p->tile_first[t + 1] - p->tile_first[t]));
            continue;
        }
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * i;
            bool is_thick = params->is_thick != NULL && params->is_thick[material[i]] != 0;
            job->is_free_flyer[i] = is_outside(params->domain, &around, x, is_thick);
        }
    }
}

void free_flyer_find(const free_flyer_params* params, uint8_t* is_free_flyer) {
    TREACLE_ASSERT(params->cell_phi != NULL);
    TREACLE_ASSERT(is_free_flyer != NULL || params->p->count == 0);
    free_flyer_job job = {params, is_free_flyer};
    particle_for(
        params->p,
        &(particle_use){
            .span = PARTICLES_OWN_TILES, .grain = 4, .values = is_free_flyer, .value_bytes = 1},
        find_in_tiles, &job);
}
