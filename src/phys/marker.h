// The marker of particles that cure by themselves.
#pragma once

#include "particles/particles.h"
#include "treacle/types.h"

/// Brings every particle's marker nearer to its material's target, by what dt does.
void marker_cure(const particles* p, int material_count, const treacle_material_def* materials,
                 double dt);
