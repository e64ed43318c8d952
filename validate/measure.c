#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 8, TILE_VALUES = TILE * TILE * TILE };

// ---- particles

static void add_particle(const treacle_frame* frame, int64_t tile, int64_t i, measure_sums* out) {
    double x[3], speed = 0.0;
    double volume = (double)((const float*)treacle_frame_find(frame, "volume")->data)[i];
    const float* u = (const float*)treacle_frame_find(frame, "velocity")->data + 3 * i;
    validate_position(frame, tile, i, x);
    for (int a = 0; a < 3; ++a) {
        out->centre[a] += volume * x[a];
        out->velocity[a] += volume * (double)u[a];
        speed += (double)u[a] * (double)u[a];
    }
    out->rms_speed += volume * speed;
    out->volume += volume;
    out->count += 1;
    out->lowest = fmin(out->lowest, x[1]);
    out->highest = fmax(out->highest, x[1]);
}

treacle_status measure_particles(treacle_sim* sim, int material, measure_sums* out) {
    *out = (measure_sums){.lowest = INFINITY, .highest = -INFINITY};
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const uint8_t* kind = treacle_frame_find(&frame, "material")->data;
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            if (material == MEASURE_ALL || kind[i] == material) {
                add_particle(&frame, tile, i, out);
            }
        }
    }
    for (int a = 0; a < 3; ++a) {
        out->centre[a] /= out->volume;
        out->velocity[a] /= out->volume;
    }
    out->rms_speed = sqrt(out->rms_speed / out->volume);
    return TREACLE_OK;
}

treacle_status measure_strain(validate* v, treacle_sim* sim, double out[6]) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_array* strain = treacle_frame_find(&frame, "strain");
    if (strain == NULL) {
        return validate_stop(v, "there is no elastic strain");
    }
    const float* volume = treacle_frame_find(&frame, "volume")->data;
    double sum = 0.0;
    memset(out, 0, 6 * sizeof(*out));
    for (int64_t i = 0; i < strain->count; ++i) {
        for (int k = 0; k < 6; ++k) {
            out[k] += (double)volume[i] * (double)((const float*)strain->data)[6 * i + k];
        }
        sum += (double)volume[i];
    }
    for (int k = 0; k < 6; ++k) {
        out[k] /= sum;
    }
    return TREACLE_OK;
}

// ---- fields of the grid, laid out as one array

// A box of values with one more layer at the far sides. Where there is no tile: `outside`.
typedef struct lattice {
    int64_t size[3];
    float* at;
} lattice;

static int64_t index_of(const lattice* l, int64_t x, int64_t y, int64_t z) {
    return (z * l->size[1] + y) * l->size[0] + x;
}

static void spread_tile(const int32_t coord[3], const float* values, lattice* out) {
    for (int i = 0; i < TILE_VALUES; ++i) {
        int64_t x = (int64_t)TILE * coord[0] + i % TILE;
        int64_t y = (int64_t)TILE * coord[1] + i / TILE % TILE;
        int64_t z = (int64_t)TILE * coord[2] + i / TILE / TILE;
        if (x < out->size[0] && y < out->size[1] && z < out->size[2]) {
            out->at[index_of(out, x, y, z)] = values[i];
        }
    }
}

static treacle_status lattice_create(validate* v, const treacle_frame* frame, const char* name,
                                     float outside, lattice* out) {
    const treacle_array* tiles = treacle_frame_find(frame, "grid_tile");
    const treacle_array* values = name != NULL ? treacle_frame_find(frame, name) : NULL;
    if (tiles == NULL || (name != NULL && values == NULL)) {
        return validate_stop(v, "the state has no field %s", name);
    }
    for (int a = 0; a < 3; ++a) {
        out->size[a] = frame->cells[a] + 1;
    }
    int64_t count = out->size[0] * out->size[1] * out->size[2];
    out->at = malloc((size_t)count * sizeof(float));
    if (out->at == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    for (int64_t i = 0; i < count; ++i) {
        out->at[i] = outside;
    }
    for (int64_t t = 0; values != NULL && t < tiles->count; ++t) {
        spread_tile((const int32_t*)tiles->data + 3 * t,
                    (const float*)values->data + TILE_VALUES * t, out);
    }
    return TREACLE_OK;
}

treacle_status measure_field_create(validate* v, treacle_sim* sim, const char* name,
                                    measure_field* out) {
    treacle_frame frame;
    lattice values = {.at = NULL};
    *out = (measure_field){.at = NULL};
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status == TREACLE_OK) {
        status = lattice_create(v, &frame, name, 0.0f, &values);
    }
    memcpy(out->size, values.size, sizeof(out->size));
    out->at = values.at;
    return status;
}

// 1 in cells with particles, else 0.
static treacle_status mark_wet(validate* v, const treacle_frame* frame, lattice* out) {
    treacle_status status = lattice_create(v, frame, NULL, 0.0f, out);
    const treacle_array* first = treacle_frame_find(frame, "tile_first");
    const int64_t* tile_first = first->data;
    for (int64_t tile = 0; status == TREACLE_OK && tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            double x[3];
            int64_t cell[3];
            validate_position(frame, tile, i, x);
            for (int a = 0; a < 3; ++a) {
                cell[a] = (int64_t)((x[a] - frame->origin[a]) / frame->cell);
                cell[a] = cell[a] < 0                 ? 0
                          : cell[a] < frame->cells[a] ? cell[a]
                                                      : frame->cells[a] - 1;
            }
            out->at[index_of(out, cell[0], cell[1], cell[2])] = 1.0f;
        }
    }
    return status;
}

// Whether the low face across axis a of cell i touches a wet cell.
static bool is_wet_face(const lattice* wet, int a, const int64_t cell[3]) {
    int64_t below[3] = {cell[0], cell[1], cell[2]};
    below[a] -= 1;
    bool is_wet = wet->at[index_of(wet, cell[0], cell[1], cell[2])] > 0.0f;
    return is_wet || (below[a] >= 0 && wet->at[index_of(wet, below[0], below[1], below[2])] > 0.0f);
}

static double shear_of(const lattice* wet, const lattice* u, int a) {
    double largest = 0.0;
    int64_t count = u->size[0] * u->size[1] * u->size[2];
    for (int64_t i = 0; i < count; ++i) {
        int64_t cell[3] = {i % u->size[0], i / u->size[0] % u->size[1],
                           i / u->size[0] / u->size[1]};
        if (!is_wet_face(wet, a, cell)) {
            continue;
        }
        for (int b = 0; b < 3; ++b) {
            int64_t next[3] = {cell[0], cell[1], cell[2]};
            next[b] += 1;
            if (next[b] < u->size[b] && is_wet_face(wet, a, next)) {
                double there = (double)u->at[index_of(u, next[0], next[1], next[2])];
                largest = fmax(largest, fabs(there - (double)u->at[i]));
            }
        }
    }
    return largest;
}

treacle_status measure_shear(validate* v, treacle_sim* sim, double* out) {
    static const char* const names[] = {"face_u", "face_v", "face_w"};
    *out = 0.0;
    treacle_frame frame;
    lattice wet = {.at = NULL};
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status == TREACLE_OK) {
        status = mark_wet(v, &frame, &wet);
    }
    for (int a = 0; a < 3 && status == TREACLE_OK; ++a) {
        lattice u = {.at = NULL};
        status = lattice_create(v, &frame, names[a], 0.0f, &u);
        if (status == TREACLE_OK && frame.cells[a] > 1) {
            *out = fmax(*out, shear_of(&wet, &u, a));
        }
        free(u.at);
    }
    free(wet.at);
    return status;
}

// ---- the surface

// Height above the floor at which phi rises through zero, in cells; from above, so that bubbles do
// not count. 0 where the column is dry.
static double height_of_column(const lattice* phi, int64_t x, int64_t z, int64_t cells) {
    for (int64_t y = cells - 2; y >= 0; --y) {
        double low = (double)phi->at[index_of(phi, x, y, z)];
        double high = (double)phi->at[index_of(phi, x, y + 1, z)];
        if (low < 0.0 && high >= 0.0) {
            return (double)y + 0.5 + low / (low - high);
        }
    }
    return 0.0;
}

treacle_status measure_surface(validate* v, treacle_sim* sim, measure_level* out) {
    *out = (measure_level){0};
    treacle_frame frame;
    lattice phi = {.at = NULL};
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame);
    if (status == TREACLE_OK) {
        status = lattice_create(v, &frame, "surface", 1.0f, &phi);
    }
    if (status == TREACLE_OK) {
        double count = 0.0, sum = 0.0, moment = 0.0, square = 0.0;
        for (int64_t z = 0; z < frame.cells[2]; ++z) {
            for (int64_t x = 0; x < frame.cells[0]; ++x) {
                double arm = (double)x + 0.5 - 0.5 * frame.cells[0];
                double height = height_of_column(&phi, x, z, frame.cells[1]);
                count += 1.0;
                sum += height;
                moment += arm * height;
                square += arm * arm;
            }
        }
        out->height = frame.origin[1] + frame.cell * sum / count;
        out->tilt = frame.cell * frame.cells[0] * moment / square;
    }
    free(phi.at);
    return status;
}
