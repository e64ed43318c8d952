// How a frame is cut into steps.
//
// Every step may take all that is left of the frame. Where CFL or the scene allow only a part d of
// it, the last step would take whatever remains, however little. So when between one and two times
// the last step's dt is left, the next step may take only half of it and the frame ends with two
// equal steps. Nothing is remembered from the frame before: a resumed run cuts the same.
#pragma once

#include <stdint.h>

typedef struct substep_plan {
    double end;     // s, when the frame ends
    double tiny;    // s, a rest that counts as none: rounding
    double last_dt; // s, of the frame's last step; 0 before the first
} substep_plan;

/// For the steps that lead to `frame` (from 2); frame n is at (n - 1)/fps.
substep_plan substep_begin(int64_t frame, double fps);
/// s, the most that the next step may take; 0 once the frame is reached.
double substep_limit(const substep_plan* plan, double time);
/// Tells the plan what the step took.
void substep_took(substep_plan* plan, double dt);
