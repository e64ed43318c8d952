// The liquid where it has let go of solids: as if they were not there, and its surface were theirs.
#pragma once

#include "grid/face_field.h"
#include "grid/fraction.h"
#include "phys/separation.h"

/// Fields [count + 1][512] as the flow without released walls has them.
typedef struct contact_release_params {
    const grid_domain* domain;
    const tile_map* map;
    const contact_set* contacts;
    const float* cell_phi;       // cells, < 0 in liquid
    const float* cell_solid_phi; // cells, < 0 in solids
    const uint16_t* cell_solid_id;
    face_view face_open;
} contact_release_params;

/// What becomes of them; room for as many values.
typedef struct contact_release_fields {
    float* cell_phi;
    uint16_t* cell_solid_id;
    face_field face_open, face_open_below; // as cells above and below a face see it
    uint8_t* cell_kind;                    // [2], for the velocities
} contact_release_fields;

/// Whether a solid has let go anywhere.
bool contact_release_is_needed(const contact_set* contacts);
void contact_release_compute(const contact_release_params* params,
                             const contact_release_fields* out);
/// Takes away what fractions of the released phi have behind the wall.
void contact_release_trim(const contact_release_params* params,
                          const contact_release_fields* fields, const fraction_fields* fraction);
/// Faces of released cells that their solid closed get the velocity of the liquid, which `extended`
/// continues beyond it.
void contact_release_velocity(const contact_release_params* params,
                              const contact_release_fields* fields,
                              const float* const extended[AXES], float* const face_u[AXES]);
