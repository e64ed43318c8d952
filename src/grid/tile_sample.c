#include "grid/tile_sample.h"

#include <math.h>
#include <string.h>

static int clamp_index(const tile_sampler* s, int axis, int at) {
    const grid_domain* domain = s->domain;
    if (!domain->is_active[axis]) {
        return 0;
    }
    int n = domain->cells[axis];
    if (domain->is_periodic[axis]) {
        return at < 0 ? at + n : at >= n ? at - n : at;
    }
    int last = place_half(s->place, axis) ? n - 1 : n;
    return at < 0 ? 0 : at > last ? last : at;
}

float tile_sample_at(tile_sampler* s, const int at[AXES]) {
    TREACLE_ASSERT(s->values != NULL);
    tile_coord coord;
    int cell[AXES];
    for (int a = 0; a < AXES; ++a) {
        int index = clamp_index(s, a, at[a]);
        coord.at[a] = index / TILE_SIZE;
        cell[a] = index % TILE_SIZE;
    }
    bool is_last = s->last_tile >= 0 && coord.at[0] == s->last.at[0] &&
                   coord.at[1] == s->last.at[1] && coord.at[2] == s->last.at[2];
    if (!is_last) {
        s->last = coord;
        s->last_tile = tile_map_find(s->map, coord);
    }
    return s->values[(size_t)s->last_tile * TILE_CELLS +
                     (size_t)((cell[2] * TILE_SIZE + cell[1]) * TILE_SIZE + cell[0])];
}

// A point among samples: the one below it, and how far beyond it, along each axis.
typedef struct between {
    int low[AXES];
    float f[AXES];
} between;

static between between_of(const tile_sampler* s, tile_coord home, const float x[AXES]) {
    between out;
    for (int a = 0; a < AXES; ++a) {
        float g = x[a] - place_offset(s->place, a), whole = floorf(g);
        out.low[a] = home.at[a] * TILE_SIZE + (int)whole;
        out.f[a] = s->domain->is_active[a] ? g - whole : 0.0f;
    }
    return out;
}

static float linear(const between* b, const float corner[8]) {
    float value[8];
    memcpy(value, corner, sizeof(value));
    for (int a = 0, count = 8; a < AXES; ++a, count /= 2) {
        for (int i = 0; i < count / 2; ++i) {
            value[i] = value[2 * i] + b->f[a] * (value[2 * i + 1] - value[2 * i]);
        }
    }
    return value[0];
}

static void read_corners(tile_sampler* s, const between* b, float corner[8]) {
    for (int i = 0; i < 8; ++i) {
        const int at[AXES] = {b->low[0] + (i & 1), b->low[1] + (i >> 1 & 1), b->low[2] + (i >> 2)};
        corner[i] = tile_sample_at(s, at);
    }
}

float tile_sample(tile_sampler* s, tile_coord home, const float x[AXES]) {
    TREACLE_ASSERT(s->last_tile <= s->map->count);
    TREACLE_ASSERT(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]));
    between b = between_of(s, home, x);
    float corner[8];
    read_corners(s, &b, corner);
    return linear(&b, corner);
}

static float lesser(float p, float q) {
    if (p * q <= 0.0f) {
        return 0.0f;
    }
    return fabsf(p) < fabsf(q) ? p : q;
}

// As much of a second difference as another one near it bears out: at most twice that one.
static float borne_out(float bend, float by) {
    float most = 2.0f * lesser(bend, by);
    return fabsf(bend) < fabsf(most) ? bend : most;
}

// What the bend along axis a takes off the value: of the cubic through four samples in a row, the
// part that the chord between the two in the middle lacks.
static float sagitta(tile_sampler* s, const between* b, const float corner[8], int a) {
    float f = b->f[a], value[8];
    for (int i = 0; i < 8; ++i) {
        if ((i >> a & 1) != 0) {
            continue; // pairs along the axis: this is the lower one
        }
        int below[AXES] = {b->low[0] + (i & 1), b->low[1] + (i >> 1 & 1), b->low[2] + (i >> 2)};
        int above[AXES] = {below[0], below[1], below[2]};
        below[a] -= 1;
        above[a] += 2;
        float p = corner[i], q = corner[i | 1 << a];
        float low = tile_sample_at(s, below) - 2.0f * p + q;
        float high = p - 2.0f * q + tile_sample_at(s, above);
        value[i] = (2.0f - f) * borne_out(low, high) + (1.0f + f) * borne_out(high, low);
        value[i | 1 << a] = value[i];
    }
    return f * (1.0f - f) / 6.0f * linear(b, value);
}

float tile_sample_smooth(tile_sampler* s, tile_coord home, const float x[AXES]) {
    TREACLE_ASSERT(s->last_tile <= s->map->count);
    TREACLE_ASSERT(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]));
    between b = between_of(s, home, x);
    float corner[8];
    read_corners(s, &b, corner);
    float value = linear(&b, corner);
    for (int a = 0; a < AXES; ++a) {
        if (b.f[a] > 0.0f) {
            value -= sagitta(s, &b, corner, a);
        }
    }
    return value;
}
