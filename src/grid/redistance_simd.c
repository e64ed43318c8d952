#include "grid/redistance_kernels.h"

// Feet of eight cells of a row.
typedef struct feet8 {
    f32x8 v[AXES];
    i32x8 from;
} feet8;

TREACLE_ALWAYS_INLINE i32x8 load_labels(const int32_t* at) {
    i32x8 labels;
    memcpy(&labels, at, sizeof(labels));
    return labels;
}

TREACLE_ALWAYS_INLINE feet8 load_feet(const foot_tile* tile, int at) {
    return (feet8){
        {f32x8_load(tile->v[0] + at), f32x8_load(tile->v[1] + at), f32x8_load(tile->v[2] + at)},
        load_labels(tile->from + at)};
}

TREACLE_ALWAYS_INLINE f32x8 square_of(const feet8* f) {
    return f->v[0] * f->v[0] + (f->v[1] * f->v[1] + f->v[2] * f->v[2]);
}

// own = the nearer of own and other, which is `step` cells away along the axis. Returns who took.
TREACLE_ALWAYS_INLINE i32x8 redistance_take(feet8* own, feet8 other, int axis, float step,
                                            f32x8 limit) {
    other.v[axis] += f32x8_set(step);
    f32x8 square = square_of(&other);
    i32x8 takes = (square < square_of(own)) & (square < limit);
    for (int a = 0; a < AXES; ++a) {
        own->v[a] = f32x8_select(takes, other.v[a], own->v[a]);
    }
    own->from = (takes & other.from) | (~takes & own->from);
    return takes;
}

TREACLE_ALWAYS_INLINE void store_feet(foot_tile* tile, int at, const feet8* f) {
    for (int a = 0; a < AXES; ++a) {
        f32x8_store(tile->v[a] + at, f->v[a]);
    }
    memcpy(tile->from + at, &f->from, sizeof(f->from));
}

TREACLE_ALWAYS_INLINE int32_t any_lane(i32x8 mask) {
    int32_t any = 0;
    for (int i = 0; i < SIMD_LANES; ++i) {
        any |= mask[i];
    }
    return any;
}

// Along y or z: rows hear from the rows before them.
TREACLE_ALWAYS_INLINE i32x8 sweep_rows(const foot_sweep* s, int axis, int side) {
    const int stride = axis == 1 ? TILE_SIZE : TILE_SIZE * TILE_SIZE;
    const int across = axis == 1 ? TILE_SIZE * TILE_SIZE : TILE_SIZE;
    const f32x8 limit = f32x8_set(s->limit_square);
    i32x8 any = {0};
    for (int line = 0; line < TILE_SIZE; ++line) {
        int first = line * across;
        int giver = side < 0 ? TILE_SIZE - 1 : 0;
        feet8 before = load_feet(s->next[axis][side > 0], first + giver * stride);
        for (int i = 0; i < TILE_SIZE; ++i) {
            int at = first + (side < 0 ? i : TILE_SIZE - 1 - i) * stride;
            feet8 own = load_feet(s->tile, at);
            any |= redistance_take(&own, before, axis, (float)side, limit);
            store_feet(s->tile, at, &own);
            before = own;
        }
    }
    return any;
}

// The feet of the cells n places on in the sixteen of low and high.
#define SLIDE_FEET(low, high, n)                                                                   \
    ((feet8){{SIMD_SLIDE((low).v[0], (high).v[0], n), SIMD_SLIDE((low).v[1], (high).v[1], n),      \
              SIMD_SLIDE((low).v[2], (high).v[2], n)},                                             \
             SIMD_SLIDE((low).from, (high).from, n)})

// Along x, in both directions: cells hear from those 1, then 2, then 4 away, which amounts to all.
TREACLE_ALWAYS_INLINE i32x8 sweep_along(const foot_sweep* s) {
    const f32x8 limit = f32x8_set(s->limit_square);
    i32x8 any = {0};
    for (int at = 0; at < TILE_CELLS; at += TILE_SIZE) {
        feet8 left = load_feet(s->next[0][0], at), right = load_feet(s->next[0][1], at);
        feet8 own = load_feet(s->tile, at);
        any |= redistance_take(&own, SLIDE_FEET(left, own, 7), 0, -1.0f, limit);
        any |= redistance_take(&own, SLIDE_FEET(left, own, 6), 0, -2.0f, limit);
        any |= redistance_take(&own, SLIDE_FEET(left, own, 4), 0, -4.0f, limit);
        any |= redistance_take(&own, SLIDE_FEET(own, right, 1), 0, 1.0f, limit);
        any |= redistance_take(&own, SLIDE_FEET(own, right, 2), 0, 2.0f, limit);
        any |= redistance_take(&own, SLIDE_FEET(own, right, 4), 0, 4.0f, limit);
        store_feet(s->tile, at, &own);
    }
    return any;
}

bool ISA(foot_sweep_tile)(const foot_sweep* s) {
    TREACLE_ASSERT(s->tile != NULL && s->limit_square > 0.0f);
    i32x8 any = {0};
    for (int axis = 1; axis < AXES; ++axis) {
        if (!s->is_flat[axis]) {
            any |= axis == 1 ? sweep_rows(s, 1, -1) : sweep_rows(s, 2, -1);
            any |= axis == 1 ? sweep_rows(s, 1, 1) : sweep_rows(s, 2, 1);
        }
    }
    if (!s->is_flat[0]) {
        any |= sweep_along(s);
    }
    return any_lane(any) != 0;
}

void ISA(foot_look_round)(float (*const block)[BLOCK_VALUES(1, 1)], foot_nearest* out) {
    for (int row = 0; row < TILE_CELLS / TILE_SIZE; ++row) {
        f32x8 best = f32x8_set(FOOT_FAR);
        i32x8 which = (i32x8){0} + TILE_SELF;
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            const int step[AXES] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            int at = BLOCK_INDEX(1, 1, step[0], (row & 7) + step[1], (row >> 3) + step[2]);
            feet8 f = {.from = (i32x8){0} + n};
            for (int a = 0; a < AXES; ++a) {
                f.v[a] = f32x8_load(block[a] + at) + f32x8_set((float)step[a]);
            }
            f32x8 square = square_of(&f);
            i32x8 is_nearer = square < best;
            best = f32x8_select(is_nearer, square, best);
            which = (is_nearer & f.from) | (~is_nearer & which);
        }
        f32x8_store(out->square + row * TILE_SIZE, best);
        memcpy(out->neighbour + row * TILE_SIZE, &which, sizeof(which));
    }
}
