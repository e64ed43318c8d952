#include "grid/level_splat.h"

// The rows of a tile that a source reaches along one axis.
typedef struct row_range {
    int first, last;
} row_range;

static row_range rows_within(const splat_source* s, int axis) {
    int first = s->cell[axis] - s->reach[axis], last = s->cell[axis] + s->reach[axis];
    return (row_range){first < 0 ? 0 : first, last > TILE_SIZE - 1 ? TILE_SIZE - 1 : last};
}

// A point in the tile's frame, and the x-distances from 8 cell centres to it, the first of which
// is `reach` cells left of the point's cell. Flat axes have no distance.
typedef struct splat_point {
    float at[AXES];
    f32x8 dx;
} splat_point;

static splat_point point_of(const splat_source* s, int64_t p) {
    static const f32x8 steps = {0, 1, 2, 3, 4, 5, 6, 7};
    splat_point out;
    for (int a = 0; a < AXES; ++a) {
        out.at[a] = s->sign[a] * s->position[AXES * p + a] + s->shift[a];
    }
    float first = (float)(s->cell[0] - s->reach[0]) + 0.5f;
    out.dx = f32x8_set(s->reach[0] == 0 ? 0.0f : out.at[0] - first) - steps;
    return out;
}

static float distance_along(const splat_source* s, const splat_point* p, int axis, int cell) {
    return s->reach[axis] == 0 ? 0.0f : p->at[axis] - ((float)cell + 0.5f);
}

static int row_start(const splat_source* s, int y, int z) {
    return (z * TILE_SIZE + y) * SPLAT_STRIDE + s->cell[0] - s->reach[0] + SPLAT_PAD;
}

TREACLE_ALWAYS_INLINE void add_row(float* to, f32x8 v) {
    f32x8_store(to, f32x8_load(to) + v);
}

void ISA(splat_smooth)(const splat_source* s, float (*sums)[SPLAT_VALUES]) {
    TREACLE_ASSERT(s->count >= 0 && s->inverse_square > 0.0f);
    TREACLE_ASSERT(s->cell[0] >= -SPLAT_PAD && s->cell[0] < TILE_SIZE + SPLAT_PAD);
    TREACLE_ASSERT(s->reach[0] >= 0 && s->reach[0] <= SPLAT_REACH_MAX);
    row_range ys = rows_within(s, 1), zs = rows_within(s, 2);
    const f32x8 zero = f32x8_set(0.0f), one = f32x8_set(1.0f);
    const f32x8 scale = f32x8_set(s->inverse_square);
    for (int64_t p = 0; p < s->count; ++p) {
        splat_point point = point_of(s, p);
        f32x8 dx2 = point.dx * point.dx;
        for (int z = zs.first; z <= zs.last; ++z) {
            float dz = distance_along(s, &point, 2, z);
            for (int y = ys.first; y <= ys.last; ++y) {
                float dy = distance_along(s, &point, 1, y);
                f32x8 q = one - (dx2 + f32x8_set(dy * dy + dz * dz)) * scale;
                q = f32x8_select(q > zero, q, zero);
                f32x8 k = q * q * q;
                int at = row_start(s, y, z);
                add_row(sums[0] + at, k);
                add_row(sums[1] + at, k * point.dx);
                add_row(sums[2] + at, k * f32x8_set(dy));
                add_row(sums[3] + at, k * f32x8_set(dz));
            }
        }
    }
}

void ISA(splat_nearest)(const splat_source* s, float (*sums)[SPLAT_VALUES]) {
    TREACLE_ASSERT(s->count >= 0);
    TREACLE_ASSERT(s->cell[0] >= -SPLAT_PAD && s->cell[0] < TILE_SIZE + SPLAT_PAD);
    TREACLE_ASSERT(s->reach[0] >= 0 && s->reach[0] <= SPLAT_REACH_MAX);
    row_range ys = rows_within(s, 1), zs = rows_within(s, 2);
    for (int64_t p = 0; p < s->count; ++p) {
        splat_point point = point_of(s, p);
        f32x8 dx2 = point.dx * point.dx;
        for (int z = zs.first; z <= zs.last; ++z) {
            float dz = distance_along(s, &point, 2, z);
            for (int y = ys.first; y <= ys.last; ++y) {
                float dy = distance_along(s, &point, 1, y);
                f32x8 square = dx2 + f32x8_set(dy * dy + dz * dz);
                float* to = sums[0] + row_start(s, y, z);
                f32x8 least = f32x8_load(to);
                f32x8_store(to, f32x8_select(square < least, square, least));
            }
        }
    }
}
