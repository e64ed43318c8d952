// Rigid bodies on the grid during a step, in the scratch arena; zeroed without bodies.
#pragma once

#include <stdint.h>

#include "grid/face_field.h"
#include "phys/flow_bodies.h"
#include "phys/rigid_body.h"

typedef struct body_grid {
    face_field closed;     // what solids closed of faces, [count + 1][512]
    face_field fill;       // what they fill of the boxes around faces
    uint16_t* solid[AXES]; // which of them it is
    solve_body* solve;     // [bodies]
    body_motion* impulse;  // [bodies]
    flow_bodies flow;      // in a flow with viscosity; none: at is NULL
} body_grid;
