// Particles do not enter solids that change their shape.
#pragma once

#include "phys/solid.h"

/// The way of a particle in the frame of a solid's shape.
typedef struct form_path {
    solid_form form; // the whole step, or the shape at its end if the motion is at its end
    double gap;      // m, that the particle keeps
    bool is_inside_out;
} form_path;

/// The change of shape between two poses of a solid.
solid_form form_between(const solid_pose* from, const solid_pose* to);

/// A particle goes from b0 to *b1 while the shape changes. False if it may; otherwise *b1 is where
/// it ends instead.
bool collide_form_follow(const form_path* p, vec3 b0, vec3* b1);
