// Divergence of a stress, and the stretch and spin of a velocity [G11 sec. 3.2, eq. 3.32].
//
// A stress on the grid pulls at the faces around it. `pull` is the stress of a sample times the
// volume it stands for; the force is minus the gradient of the sum of pull D(u) over samples:
//
//     f_a(I) = pull_aa(I) - pull_aa(I - e_a) + sum over b != a of pull_ab(I + e_b) - pull_ab(I)
//                                                                                       [elastic.3]
//
//     D_aa(I) = (u_a(I + e_a) - u_a(I)) / h,     D_bc, spin_a = (d_c u_b +- d_b u_c) / 2 at edges a
//
// Between a face in the liquid and one behind a wall that holds it the difference is divided by the
// fraction theta of the way [visc.4]; beyond sides of the domain faces are mirror images.
//
// Staggering: aa at cells, bc and the spin about a at the edges along a.
// Properties that tests check: linear velocity gives its stretch and spin exactly; a uniform stress
// pulls nowhere; force and stretch are adjoint.
#include "phys/tensor.h"

#include "grid/gather.h"
#include "grid/tile_loop.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int step_of[AXES] = {1, SIDE, SIDE* SIDE};

typedef struct grid_job {
    const tile_map* map;
    const tensor_field* tensor;
    double* force;
    const face_velocity* flow;
    const tensor_slip* slip;
    float* const* spin;
} grid_job;

// The part of [elastic.3] that one entry of the stress has in one component of the force.
static void add_difference(const float* pull, int step, double* force) {
    for (int q = 0; q < TILE_CELLS; ++q) {
        int at = BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6);
        int low = step < 0 ? step : 0, high = step < 0 ? 0 : step;
        force[q] += (double)pull[at + high] - (double)pull[at + low];
    }
}

static void force_tiles(void* data, int64_t begin, int64_t end) {
    const grid_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        double* force = job->force + (size_t)t * AXES * TILE_CELLS;
        for (int a = 0; a < AXES; ++a) {
            int b = (a + 1) % AXES, c = (a + 2) % AXES;
            float pull[VALUES];
            if (!job->map->is_flat[a]) {
                gather_block(job->map, job->tensor->cell[a], (tile_ix)t, 1, 1, pull);
                add_difference(pull, -step_of[a], force + (size_t)a * TILE_CELLS);
            }
            if (!job->map->is_flat[b] && !job->map->is_flat[c]) {
                gather_block(job->map, job->tensor->edge[a], (tile_ix)t, 1, 1, pull);
                add_difference(pull, step_of[c], force + (size_t)b * TILE_CELLS);
                add_difference(pull, step_of[b], force + (size_t)c * TILE_CELLS);
            }
        }
    }
}

void tensor_add_divergence(const tile_map* map, const tensor_field* pull, double* force) {
    TREACLE_ASSERT(force != NULL);
    TREACLE_ASSERT(pull->cell[0] != NULL && pull->edge[0] != NULL);
    grid_job job = {.map = map, .tensor = pull, .force = force};
    tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, force_tiles, &job);
}

enum { MOTION_SIDE = TILE_SIZE + 2 };
static const velocity_block motion_block = {.halo = 1, .size = MOTION_SIDE};
static const int motion_step[AXES] = {1, MOTION_SIDE, MOTION_SIDE* MOTION_SIDE};

// How much steeper velocity is than its differences say.
typedef struct slopes {
    double aa, bc, cb;
} slopes;

// Takes differences of faces a around the cell q of a tile, and of faces b and c around its edge
// along a.
static void measure_cell(const grid_job* job, tile_ix tile, int q, int a,
                         const float* const u[AXES], slopes steep) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    int at = ((q >> 6) + 1) * motion_step[2] + ((q >> 3 & 7) + 1) * motion_step[1] + (q & 7) + 1;
    float scale = (float)(1.0 / job->flow->domain->h);
    size_t i = (size_t)tile * TILE_CELLS + (size_t)q;
    bool has_edge = !job->map->is_flat[b] && !job->map->is_flat[c];
    float aa = job->map->is_flat[a] ? 0.0f : scale * (u[a][at + motion_step[a]] - u[a][at]);
    float bc = has_edge ? 0.5f * scale * (u[b][at] - u[b][at - motion_step[c]]) : 0.0f;
    float cb = has_edge ? 0.5f * scale * (u[c][at] - u[c][at - motion_step[b]]) : 0.0f;
    bc *= (float)steep.bc;
    cb *= (float)steep.cb;
    job->tensor->cell[a][i] = (float)steep.aa * aa;
    job->tensor->edge[a][i] = bc + cb;
    job->spin[a][i] = cb - bc;
}

// Once more for the cells of a tile that walls touch.
static void meet_slip(const grid_job* job, tile_ix tile, const float* const u[AXES],
                      const int last[AXES]) {
    const tensor_slip* slip = job->slip;
    slip_block block;
    gather_block(job->map, slip->cell_solid_phi, tile, 1, 1, block.phi);
    for (int q = 0; q < TILE_CELLS; ++q) {
        int x = q & 7, y = q >> 3 & 7, z = q >> 6;
        size_t i = (size_t)tile * TILE_CELLS + (size_t)q;
        uint16_t id = slip->cell_solid_id[i];
        bool is_near = slip->cell_solid_phi[i] < SLIP_REACH && id != SLIP_NONE;
        if (!is_near || x >= last[0] || y >= last[1] || z >= last[2] ||
            !slip_sticks(&slip->kinds[id])) {
            continue;
        }
        int at = BLOCK_INDEX(1, 1, x, y, z);
        for (int a = 0; a < AXES; ++a) {
            int b = (a + 1) % AXES, c = (a + 2) % AXES;
            slopes steep = {slip_steepness(&block, at, at + step_of[a], a),
                            slip_steepness(&block, at, at - step_of[c], b),
                            slip_steepness(&block, at, at - step_of[b], c)};
            measure_cell(job, tile, q, a, u, steep);
        }
    }
}

static void tensor_measure_tiles(void* data, int64_t begin, int64_t end) {
    const grid_job* job = data;
    const int last[AXES] = {tile_layers(job->map, 0), tile_layers(job->map, 1),
                            tile_layers(job->map, 2)};
    for (int64_t t = begin; t < end; ++t) {
        float block[AXES][MOTION_SIDE * MOTION_SIDE * MOTION_SIDE] = {{0}};
        const float* u[AXES] = {block[0], block[1], block[2]};
        for (int a = 0; a < AXES; ++a) {
            velocity_gather(job->flow, a, (tile_ix)t, motion_block, block[a]);
        }
        for (int q = 0; q < AXES * TILE_CELLS; ++q) {
            int x = q & 7, y = q >> 3 & 7, z = q >> 6 & 7;
            if (x < last[0] && y < last[1] && z < last[2]) {
                measure_cell(job, (tile_ix)t, q & (TILE_CELLS - 1), q / TILE_CELLS, u,
                             (slopes){1.0, 1.0, 1.0});
            }
        }
        if (job->slip != NULL) {
            meet_slip(job, (tile_ix)t, u, last);
        }
    }
}

void tensor_of_velocity(const face_velocity* flow, const tensor_slip* slip,
                        const tensor_field* stretch, float* const spin[AXES]) {
    TREACLE_ASSERT(flow->u.at[0] != NULL && flow->u.at[1] != NULL && flow->u.at[2] != NULL);
    TREACLE_ASSERT(slip == NULL || (slip->cell_solid_phi != NULL && slip->cell_solid_id != NULL));
    TREACLE_ASSERT(stretch->cell[0] != NULL && stretch->edge[0] != NULL);
    grid_job job = {.map = flow->map, .tensor = stretch, .flow = flow, .slip = slip, .spin = spin};
    tile_for(flow->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 2}, tensor_measure_tiles,
             &job);
}
