// First-order upwind differences for the convection of heat [CMVT02 sec. 5.1, eq. 12]:
//
//     T_new = T - dt/h sum over axes of  max(u, 0) (T - T_below) + min(u, 0) (T_above - T) [semi.2]
//
// at cells, u the mean of a cell's two faces; sides of the domain and tiles that are not there make
// no difference. Stable while sum |u| dt <= h, hence the substeps. It spreads heat as a diffusivity
// of |u| h (1 - |u| dt/h) / 2 would along the flow's axis; the semi-Lagrangian way has the same
// order but goes as far as it likes in a step.
//
// Properties that tests check: a constant stays, values stay between the least and the largest, a
// step that crosses exactly a cell is exact, and that diffusivity.
#include "compare/upwind.h"

#include <math.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

// The velocity at a cell along an axis.
static float speed_at(const face_velocity* flow, int64_t t, int q, int axis) {
    int64_t above = tile_slot_above(flow->map, t, q, axis);
    return 0.5f * (flow->u.at[axis][t * TILE_CELLS + q] + flow->u.at[axis][above]);
}

static double fastest_of_tile(void* data, int64_t t) {
    const face_velocity* flow = data;
    double most = 0.0;
    for (int q = 0; q < TILE_CELLS; ++q) {
        double sum = 0.0;
        for (int a = 0; a < AXES; ++a) {
            bool counts = flow->domain->is_active[a] && tile_cell_counts(flow->map, q);
            sum += counts ? fabs((double)speed_at(flow, t, q, a)) : 0.0;
        }
        most = fmax(most, sum);
    }
    return most;
}

int upwind_substeps(const face_velocity* flow, double dt) {
    TREACLE_ASSERT(dt >= 0.0 && flow->domain->h > 0.0);
    double fastest = parallel_max(flow->map->ctx, flow->map->count, fastest_of_tile, (void*)flow);
    double cells = fmax(fastest, 0.0) * dt / flow->domain->h;
    return cells > 1.0 ? (int)ceil(fmin(cells, 1000.0)) : 1;
}

typedef struct upwind_job {
    const face_velocity* flow;
    float courant; // dt/h
    const float* in;
    float* out;
} upwind_job;

static void step_tiles(void* data, int64_t begin, int64_t end) {
    const upwind_job* job = data;
    const face_velocity* flow = job->flow;
    const int side = BLOCK_SIDE(1, 1), steps[AXES] = {1, side, side * side};
    const int64_t known = (int64_t)flow->map->count * TILE_CELLS;
    for (int64_t t = begin; t < end; ++t) {
        float block[BLOCK_VALUES(1, 1)];
        gather_block(flow->map, job->in, (tile_ix)t, 1, 1, block);
        for (int q = 0; q < TILE_CELLS; ++q) {
            const float* at = block + BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6);
            int cell[AXES];
            float change = 0.0f;
            tile_cell_at(flow->map, (tile_ix)t, q, cell);
            for (int a = 0; a < AXES; ++a) {
                int n = flow->domain->cells[a];
                bool is_wrapped = flow->domain->is_periodic[a];
                bool has_low =
                    (is_wrapped || cell[a] > 0) && tile_slot_below(flow->map, t, q, a) < known;
                bool has_high =
                    (is_wrapped || cell[a] < n - 1) && tile_slot_above(flow->map, t, q, a) < known;
                float u = flow->domain->is_active[a] ? speed_at(flow, t, q, a) : 0.0f;
                float low = has_low ? at[0] - at[-steps[a]] : 0.0f;
                float high = has_high ? at[steps[a]] - at[0] : 0.0f;
                change += u > 0.0f ? u * low : u * high; // [semi.2]
            }
            job->out[t * TILE_CELLS + q] = at[0] - job->courant * change;
        }
    }
}

void upwind_step(const face_velocity* flow, double dt, const float* in, float* out) {
    TREACLE_ASSERT(in != NULL && out != NULL && in != out);
    TREACLE_ASSERT(dt > 0.0);
    upwind_job job = {flow, (float)(dt / flow->domain->h), in, out};
    tile_for(flow->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, step_tiles, &job);
}
