// Frames of evenly sampled liquid for tests of what is drawn from frames: a shape is a distance.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "math/hash_random.h"
#include "treacle/cache.h"
#include "unit.h"

/// Distance of a place, in cells, < 0 inside.
typedef double liquid_shape(const double place[3], const void* data);

typedef struct liquid_frame {
    treacle_frame frame;
    treacle_array arrays[8];
    int64_t count, capacity;
    float (*position)[3];
    float (*velocity)[3];
    float* volume;
    float* temperature;
    uint8_t* material;
    int32_t tile[1][3];
    int64_t first[2];
} liquid_frame;

static inline void liquid_frame_array(liquid_frame* f, const char* name, treacle_type type,
                                      int components, int64_t count, const void* data) {
    treacle_array* a = &f->arrays[f->frame.array_count++];
    *a = (treacle_array){.type = type, .components = components, .count = count, .data = data};
    snprintf(a->name, sizeof(a->name), "%s", name);
}

/// 8 particles a cell, jittered by the fraction, in a domain of side^3 cells. Velocity is the
/// place, temperature 300 + the height in cells.
static inline void liquid_frame_create(liquid_frame* f, int side, double cell, double jitter,
                                       liquid_shape* shape, const void* data) {
    *f = (liquid_frame){.capacity = (int64_t)side * side * side * 8};
    size_t n = (size_t)f->capacity;
    f->position = malloc(n * sizeof(*f->position));
    f->velocity = malloc(n * sizeof(*f->velocity));
    f->volume = malloc(n * sizeof(float));
    f->temperature = malloc(n * sizeof(float));
    f->material = malloc(n);
    assert_true(f->position != NULL && f->velocity != NULL && f->volume != NULL &&
                f->temperature != NULL && f->material != NULL);
    int64_t width = 2 * (int64_t)side;
    for (int64_t i = 0; i < f->capacity; ++i) {
        const int64_t at[3] = {i % width, i / width % width, i / (width * width)};
        double place[3];
        for (int k = 0; k < 3; ++k) {
            double random = hash_random_f64((uint64_t)k, (uint64_t)i, RANDOM_TEST);
            place[k] = 0.5 * ((double)at[k] + 0.5 + jitter * (random - 0.5));
        }
        if (shape(place, data) < 0.0) {
            for (int k = 0; k < 3; ++k) {
                f->position[f->count][k] = f->velocity[f->count][k] = (float)place[k];
            }
            f->volume[f->count] = (float)(cell * cell * cell / 8.0);
            f->temperature[f->count] = (float)(300.0 + place[1]);
            f->material[f->count++] = place[0] > 0.5 * side;
        }
    }
    f->first[1] = f->count;
    f->frame = (treacle_frame){.kind = TREACLE_FRAME_PICTURE,
                               .number = 1,
                               .fps = 24.0,
                               .cell = cell,
                               .cells = {side, side, side},
                               .arrays = f->arrays};
    liquid_frame_array(f, "tile_coord", TREACLE_TYPE_I32, 3, 1, f->tile);
    liquid_frame_array(f, "tile_first", TREACLE_TYPE_I64, 1, 2, f->first);
    liquid_frame_array(f, "position", TREACLE_TYPE_F32, 3, f->count, f->position);
    liquid_frame_array(f, "velocity", TREACLE_TYPE_F32, 3, f->count, f->velocity);
    liquid_frame_array(f, "volume", TREACLE_TYPE_F32, 1, f->count, f->volume);
    liquid_frame_array(f, "temperature", TREACLE_TYPE_F32, 1, f->count, f->temperature);
    liquid_frame_array(f, "material", TREACLE_TYPE_U8, 1, f->count, f->material);
}

static inline void liquid_frame_destroy(liquid_frame* f) {
    free(f->position);
    free(f->velocity);
    free(f->volume);
    free(f->temperature);
    free(f->material);
}

/// A ball or ring: centre, radius, thickness of the tube (ring around y).
typedef struct liquid_round {
    double centre[3], radius, tube;
} liquid_round;

static inline double liquid_ball(const double p[3], const void* data) {
    const liquid_round* r = data;
    double x = p[0] - r->centre[0], y = p[1] - r->centre[1], z = p[2] - r->centre[2];
    return sqrt(x * x + y * y + z * z) - r->radius;
}

static inline double liquid_ring(const double p[3], const void* data) {
    const liquid_round* r = data;
    double x = p[0] - r->centre[0], y = p[1] - r->centre[1], z = p[2] - r->centre[2];
    double out = sqrt(x * x + z * z) - r->radius;
    return sqrt(out * out + y * y) - r->tube;
}
