// Where solids and bodies are at a moment: the point b of a shape is at place + rotate (b - pivot).
#pragma once

#include "math/mat3.h"
#include "treacle/types.h"

typedef struct solid_place {
    vec3 pivot, place; // m
    mat3 rotate;
} solid_place;

/// A state of a body in frames: place, quaternion (w first), velocity, spin.
enum { SOLID_STATE_DOUBLES = 13 };

/// As the script of a solid says.
solid_place solid_place_scripted(const treacle_solid_def* def, double time);
/// Of a body that began at one state and has come to another, `later` seconds after that if it goes
/// on as it moves there.
solid_place solid_place_of_body(const double start[SOLID_STATE_DOUBLES],
                                const double state[SOLID_STATE_DOUBLES], double later);

/// From the shape to the world.
static inline vec3 solid_place_apply(const solid_place* p, vec3 b) {
    return vec3_add(p->place, mat3_apply(&p->rotate, vec3_sub(b, p->pivot)));
}

/// From the world to the shape.
static inline vec3 solid_place_invert(const solid_place* p, vec3 x) {
    return vec3_add(p->pivot, mat3_apply_transposed(&p->rotate, vec3_sub(x, p->place)));
}
