// Turning and relaxing of eight strains at once; the law is in phys/strain.c.
#include "base/simd.h"
#include "phys/strain.h"

typedef struct turn {
    f64x8 at[AXES][AXES];
} turn;

// (I - w)^-1 (I + w) of the skew matrix w x = t x x: I + 2 (w + w w) / (1 + t^2).
TREACLE_ALWAYS_INLINE turn turn_by(const f64x8 t[AXES]) {
    f64x8 one = f64x8_set(1.0), x = t[0], y = t[1], z = t[2];
    f64x8 k = f64x8_set(2.0) / (one + (x * x + y * y + z * z));
    return (turn){{{one - k * (y * y + z * z), k * (x * y - z), k * (x * z + y)},
                   {k * (x * y + z), one - k * (x * x + z * z), k * (y * z - x)},
                   {k * (x * z - y), k * (y * z + x), one - k * (x * x + y * y)}}};
}

// eps <- R eps R^T
TREACLE_ALWAYS_INLINE void turn_strain(const turn* r, f64x8 eps[STRAIN_PARTS]) {
    static const int part[AXES][AXES] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    static const int first[STRAIN_PARTS] = {0, 1, 2, 1, 2, 0},
                     second[STRAIN_PARTS] = {0, 1, 2, 2, 0, 1};
    f64x8 half[AXES][AXES];
    for (int i = 0; i < AXES; ++i) {
        for (int j = 0; j < AXES; ++j) {
            half[i][j] = r->at[i][0] * eps[part[0][j]] + r->at[i][1] * eps[part[1][j]] +
                         r->at[i][2] * eps[part[2][j]];
        }
    }
    for (int k = 0; k < STRAIN_PARTS; ++k) {
        const f64x8 *one = half[first[k]], *other = r->at[second[k]];
        eps[k] = one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
    }
}

// [strain.2], on the deviator or on the whole.
TREACLE_ALWAYS_INLINE void relax(strain_lanes* s, double dt, bool is_whole) {
    f64x8 zero = f64x8_set(0.0), third = f64x8_set(3.0);
    f64x8 mean = is_whole ? zero : (s->eps[0] + s->eps[1] + s->eps[2]) / third;
    f64x8 mean_rate = is_whole ? zero : (s->stretch[0] + s->stretch[1] + s->stretch[2]) / third;
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        f64x8 m = i < AXES ? mean : zero, rate = i < AXES ? mean_rate : zero;
        s->eps[i] = s->keep * (s->eps[i] - m) + m + dt * (s->gain * (s->stretch[i] - rate) + rate);
    }
}

void ISA(strain_turn)(strain_lanes* lanes, double dt, bool decays_whole) {
    TREACLE_ASSERT(dt > 0.0);
    f64x8 quarter[AXES];
    for (int a = 0; a < AXES; ++a) {
        quarter[a] = 0.25 * dt * lanes->spin[a];
    }
    turn half_turn = turn_by(quarter);
    turn_strain(&half_turn, lanes->eps);
    relax(lanes, dt, decays_whole);
    turn_strain(&half_turn, lanes->eps);
}
