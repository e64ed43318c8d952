// One particle made into two, or two into one, without a change in what they hold together.
//
// With m = density * volume, x the place and v the velocity, C the affine matrix (row a is the
// gradient of velocity a), split and merge keep
//
//     volume   sum V          centre   sum m x          momentum   sum m v
//
// to the rounding of a float. A split gives both halves the velocity field of the whole: at x +- d
// the velocity is v +- C d, so the affine motion and its angular momentum stay too. A merge
// averages v, C and whatever else they carry by mass; what the two moved against each other becomes
// heat, as in any inelastic impact.
#pragma once

#include "particles/particles.h"

/// Particles `particle` and `other` (both exist; `other` is overwritten) share what `particle`
/// held, `apart` cells from each other along `axis`, both local to the tile of `particle`.
typedef struct particle_split {
    particle_ix particle, other;
    float axis[AXES]; // of unit length, 0 along inactive axes
    float apart;      // cells
    uint64_t id;      // of the new one; the old one keeps its own
    double h;         // m
} particle_split;
void particles_split(const particles* p, const particle_split* split);

/// `particle` takes what `other` held; the caller removes `other`. Both must be of the same
/// material and in the same tile, or `shift` (cells) is what to add to the position of `other` to
/// make it so.
typedef struct particle_merge {
    particle_ix particle, other;
    float shift[AXES];
} particle_merge;
void particles_merge(const particles* p, const particle_merge* merge);

/// A unit vector that depends on (seed, id) alone, evenly spread over the active axes.
void particles_split_axis(uint64_t seed, uint64_t id, const grid_domain* domain, float axis[AXES]);
