// Body forces [S19 eq. 3, step 1]: u += dt (g (1 - b) + sum of fields f(x)), at each face.
//
// b is the fraction of its weight that the liquid loses by being warm or marked (Boussinesq):
//
//     b = beta (T - T_0) + k m                                                           [force.1]
//
// with T and the marker m carried by particles and brought to cells; a face takes the mean of its
// two cells. Density in the pressure solve stays what the material says.
//
// Properties that tests check: a uniform field adds the same bits to every face; fields act only
// in their shape. Sum in double, one rounding to float [G11 sec. 3.2 adds the same forces].
#include "phys/force.h"

#include "grid/gather.h"
#include "grid/stagger.h"
#include "grid/tile_loop.h"

typedef struct force_job {
    const force_params* params;
    float* const* face_u;
} force_job;

// sum + component a of the force fields at x, m/s^2.
static double add_fields(const force_params* params, vec3 x, int a, double sum) {
    for (int i = 0; i < params->field_count; ++i) {
        const force_field* f = &params->fields[i];
        if (f->where == NULL || shape_is_inside(f->where, x)) {
            sum += f->strength * field_eval_component(f->acceleration, a, x, params->time);
        }
    }
    return sum;
}

// The sum of the force fields at the face of component a, m/s^2.
static double fields_at(const force_params* params, int a, const int cell[AXES], tile_ix tile) {
    vec3 x;
    for (int b = 0; b < AXES; ++b) {
        double index = (double)params->map->coord[tile].at[b] * TILE_SIZE + cell[b];
        x.at[b] = params->domain->origin[b] +
                  params->domain->h * (index + (double)place_offset(place_face(a), b));
    }
    return add_fields(params, x, a, 0.0);
}

void force_at(const force_params* params, vec3 x, double out[AXES]) {
    TREACLE_ASSERT(params->field_count >= 0 &&
                   (params->fields != NULL || params->field_count == 0));
    for (int a = 0; a < AXES; ++a) {
        double even = params->gravity[a] + params->uniform[a];
        out[a] = params->domain->is_active[a] ? add_fields(params, x, a, even) : 0.0;
    }
}

// Where all faces are pushed alike.
static void push_evenly(const force_job* job, int a, tile_ix tile) {
    const force_params* params = job->params;
    const double push = params->dt * (params->gravity[a] + params->uniform[a]);
    float *u = job->face_u[a] + (size_t)tile * TILE_CELLS, *out = params->face_push.at[a];
    for (int i = 0; i < TILE_CELLS; ++i) {
        u[i] = (float)((double)u[i] + push);
    }
    for (size_t i = (size_t)tile * TILE_CELLS; i < ((size_t)tile + 1) * TILE_CELLS && out != NULL;
         ++i) {
        out[i] = (float)push;
    }
}

static void push_component(const force_job* job, int a, tile_ix tile) {
    const force_params* params = job->params;
    if (params->cell_buoyancy == NULL && params->field_count == 0) {
        push_evenly(job, a, tile);
        return;
    }
    float buoyancy[BLOCK_VALUES(1, 0)] = {0};
    if (params->cell_buoyancy != NULL) {
        gather_block(params->map, params->cell_buoyancy, tile, 1, 0, buoyancy);
    }
    const int step[AXES] = {1, BLOCK_SIDE(1, 0), BLOCK_SIDE(1, 0) * BLOCK_SIDE(1, 0)};
    float* u = job->face_u[a] + (size_t)tile * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int cell[AXES] = {i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE, i / TILE_SIZE / TILE_SIZE};
        int at = BLOCK_INDEX(1, 0, cell[0], cell[1], cell[2]);
        double lost = 0.5 * ((double)buoyancy[at] + (double)buoyancy[at - step[a]]);
        double push = params->gravity[a] * (1.0 - lost) + params->uniform[a];
        if (params->field_count > 0) {
            push += fields_at(params, a, cell, tile);
        }
        u[i] = (float)((double)u[i] + params->dt * push);
        if (params->face_push.at[a] != NULL) {
            params->face_push.at[a][(size_t)tile * TILE_CELLS + (size_t)i] =
                (float)(params->dt * push);
        }
    }
}

static void push_tiles(void* data, int64_t begin, int64_t end) {
    const force_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int a = 0; a < AXES; ++a) {
            if (job->params->domain->is_active[a]) {
                push_component(job, a, (tile_ix)t);
            }
        }
    }
}

void force_apply(const force_params* params, float* const face_u[AXES]) {
    TREACLE_ASSERT(params->dt > 0.0 && isfinite(params->dt));
    TREACLE_ASSERT(face_u[0] != NULL && face_u[1] != NULL && face_u[2] != NULL);
    TREACLE_ASSERT(params->face_push.at[0] == NULL || params->face_push.at[0] != face_u[0]);
    force_job job = {params, face_u};
    const face_field* push = &params->face_push;
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND,
                         .grain = 4,
                         .writes = {{.at = face_u[0]},
                                    {.at = face_u[1]},
                                    {.at = face_u[2]},
                                    {.at = push->at[0]},
                                    {.at = push->at[1]},
                                    {.at = push->at[2]}}},
             push_tiles, &job);
}
