// What the density correction cannot see. Particles that draw back from the face between two cells
// towards their centres leave the volume that each cell sees as it is, and no displacement on the
// faces of cells brings them back.
// In liquid of one density it does no harm. Between two densities it does: cells at the interface
// see less of the other liquid the further its particles have moved off, so the interface seems
// sharper there, light above it lighter and heavy below it heavier, and the flow that this drives
// moves the particles further off: currents along an interface at rest, which grow until the
// particles nearest to it are at the centres of their cells.
//
// The nodes between the cells see it. Particles drift down the slope of the volume c that the nodes
// see through the linear kernel, which in evenly filled liquid is 1 everywhere:
//
//     d = - SHIFT_RATE grad c(x_p),     c linear between the nodes of the particle's cell [shift.1]
//
// deeper than a cell and a half, where no node of the cell sees the surface. Velocity is not
// touched.
//
// differs from [vol.1]: no solve, for this is the part of the density's error that alternates from
// cell to cell, and its own diffusion takes it away in a few steps.
//
// Staggering: c at nodes, phi at cells. Symbols: node_volume (c), cell_phi. Properties that tests
// check: evenly spread particles stay; a gap between rows closes; two densities at rest stay at
// rest. References: drift down the slope of particle concentration is common in
// particle methods; [S19 sec. 4] names clumps of particles as a weakness of the method.
#include "phys/even_spacing.h"

#include <math.h>

#include "grid/gather.h"
#include "particles/particle_loop.h"

enum { MARGIN = 2, CORNERS = 8 };

// A tile and what is around it.
typedef struct surroundings {
    tile_coord tile;
    float phi[BLOCK_VALUES(MARGIN, MARGIN)], volume[BLOCK_VALUES(MARGIN, MARGIN)];
} surroundings;

static int block_at(const int cell[AXES]) {
    return BLOCK_INDEX(MARGIN, MARGIN, cell[0], cell[1], cell[2]);
}

// The cell of a place and how far beyond its low corner it is. False outside the domain and near
// the surface.
static bool find_cell(const grid_domain* domain, const surroundings* around, const float x[AXES],
                      int cell[AXES], float beyond[AXES]) {
    bool is_inside = true;
    for (int a = 0; a < AXES; ++a) {
        cell[a] = domain->is_active[a] ? (int)floorf(x[a]) : 0;
        beyond[a] = domain->is_active[a] ? x[a] - (float)cell[a] : 0.0f;
        int at = cell[a] + around->tile.at[a] * TILE_SIZE;
        is_inside = is_inside && (domain->is_periodic[a] || (at >= 0 && at < domain->cells[a]));
    }
    return is_inside && around->phi[block_at(cell)] < -1.5f;
}

// The slope of the volume at a place of a cell; 0 along inactive axes.
static void even_spacing_slope_at(const grid_domain* domain, const surroundings* around,
                                  const int cell[AXES], const float beyond[AXES],
                                  float slope[AXES]) {
    slope[0] = slope[1] = slope[2] = 0.0f;
    for (int i = 0; i < CORNERS; ++i) {
        const int up[AXES] = {i & 1, i >> 1 & 1, i >> 2};
        int node[AXES];
        float weight[AXES];
        for (int a = 0; a < AXES; ++a) {
            node[a] = cell[a] + (domain->is_active[a] ? up[a] : 0);
            weight[a] = up[a] == 1 ? beyond[a] : 1.0f - beyond[a];
        }
        float volume = around->volume[block_at(node)];
        for (int a = 0; a < AXES; ++a) {
            float across = weight[(a + 1) % AXES] * weight[(a + 2) % AXES];
            float along = up[a] == 1 ? volume : -volume;
            slope[a] += domain->is_active[a] ? across * along : 0.0f;
        }
    }
}

static void move_one(const grid_domain* domain, const surroundings* around, float x[AXES]) {
    int cell[AXES];
    float beyond[AXES], slope[AXES];
    if (!find_cell(domain, around, x, cell, beyond)) {
        return;
    }
    even_spacing_slope_at(domain, around, cell, beyond, slope);
    for (int a = 0; a < AXES; ++a) {
        float low = (float)(-around->tile.at[a] * TILE_SIZE), high = low + (float)domain->cells[a];
        float to = x[a] - fminf(fmaxf(SHIFT_RATE * slope[a], -SHIFT_MAX), SHIFT_MAX);
        x[a] = domain->is_periodic[a] ? to : fminf(fmaxf(to, low), high);
    }
}

static void move_tiles(void* data, int64_t begin, int64_t end) {
    const even_spacing_params* params = data;
    const particles* p = params->p;
    surroundings around;
    for (int64_t t = begin; t < end; ++t) {
        tile_ix tile = tile_map_find(params->map, p->tile[t]);
        around.tile = p->tile[t];
        gather_block(params->map, params->cell_phi, tile, MARGIN, MARGIN, around.phi);
        gather_block(params->map, params->node_volume, tile, MARGIN, MARGIN, around.volume);
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            float* x = particles_f32(p, PARTICLE_POSITION) + AXES * i;
            move_one(params->domain, &around, x);
        }
    }
}

void even_spacing_move(const even_spacing_params* params) {
    TREACLE_ASSERT(params->cell_phi != NULL && params->node_volume != NULL);
    TREACLE_ASSERT(params->p->tile_first[params->p->tile_count] == params->p->count);
    particle_for(params->p,
                 &(particle_use){
                     .span = PARTICLES_OWN_TILES, .grain = 4, .columns = 1u << PARTICLE_POSITION},
                 move_tiles, (void*)params);
}
