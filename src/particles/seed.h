// The liquid that is there from the start: jittered particles in the cells that a shape covers.
//
// Each cell has `per_cell` candidates, one in each of as many equal boxes, moved at random inside
// the middle fraction `jitter` of the box. A candidate that lies inside the shape becomes a
// particle of the volume h^3 / per_cell. So a shape gets its volume on average, and none of its
// particles lies outside it. Where per_cell has no good factors the boxes of the next number that
// has are used, and in each cell some at random stay empty.
//
// The id counts candidates, cell after cell through the whole domain: it is known before anybody
// knows which of them live, and whoever seeds first or later, with how many threads, changes
// nothing.
#pragma once

#include "geometry/shape.h"
#include "math/field.h"
#include "particles/particles.h"

typedef struct seed_liquid {
    const shape* shape;
    const field* velocity;    // m/s, of 3 components
    const field* temperature; // K
    const field* marker;
    const field* factor; // of the viscosity
    vec3 spin;           // rad/s
    vec3 spin_centre;    // m
    uint8_t material;
    float colour[3];
    const field* tint; // of 3 components, where colour counts if it is below 0; NULL: colour
    uint64_t source;   // of ids
    uint64_t round;    // ids count on from those of this many seedings
    float time;        // s, when it comes
} seed_liquid;

typedef struct seed_def {
    const grid_domain* domain;
    uint64_t seed;
    treacle_particles_def particles;
    int liquid_count;
    const seed_liquid* liquids;                   // none seeds where an earlier one is
    bool (*is_blocked)(const void* data, vec3 x); // where no liquid is; NULL: nowhere
    const void* blocked_data;
    // Called when the groups of all liquids are known, and nothing of their particles: tiles may be
    // shared out. Distributed ranks then fill the particles of their own tiles alone. NULL: nothing
    treacle_status (*partition)(void* data, const particles* p);
    void* partition_data;
} seed_def;

/// Appends the particles of all liquids, by liquid and tile: not in the order of a sort.
treacle_status seed_particles(particles* p, const seed_def* def) TREACLE_NODISCARD;

/// The logarithm that particles carry of a factor of the viscosity; one that is not positive counts
/// as the least.
float seed_log_factor(double factor);

/// Into how many boxes a cell is cut along each axis.
typedef struct seed_boxes {
    int at[AXES];
    int count; // their product, >= per_cell
} seed_boxes;
seed_boxes seed_choose_boxes(const grid_domain* domain, int per_cell);
