#include "step/step_valid.h"

#include <math.h>

#include "grid/grid_valid.h"
#include "particles/particles_valid.h"

bool liquid_state_is_valid(const liquid_state* state, const grid_domain* domain) {
    if (!tile_map_is_valid(&state->map, domain) || state->values == NULL) {
        return false;
    }
    const float* const fields[] = {state->face_u.at[0], state->face_u.at[1], state->face_u.at[2],
                                   state->cell_pressure, state->cell_phi};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
        if (fields[i] == NULL || !tile_field_is_finite(&state->map, fields[i])) {
            return false;
        }
    }
    return true;
}

bool body_set_is_valid(const body_set* set, const body_state* states) {
    for (int i = 0; i < set->count; ++i) {
        if (!body_mass_is_valid(&set->bodies[i].mass) || !body_state_is_valid(&states[i])) {
            return false;
        }
    }
    return true;
}

// Whether what pushes the liquid is a number: a force may be an expression that is none somewhere.
// Then the state is refused at the end of the step (sim/guard.h), and nothing is asked before.
static bool is_push_finite(const step_work* w) {
    const energy_account* account = &w->made.account;
    bool is_finite = isfinite(account->forces.forced);
    for (int a = 0; a < AXES; ++a) {
        is_finite = is_finite && isfinite(account->push.uniform[a]);
    }
    return is_finite;
}

static bool is_velocity_valid(const step_work* w) {
    const liquid_state* state = w->state;
    for (int a = 0; a < AXES; ++a) {
        if (!tile_field_is_finite(&state->map, state->face_u.at[a])) {
            return false;
        }
    }
    return true;
}

// What stages that move particles and bodies have made.
static bool is_motion_valid(const step_work* w, treacle_stage stage) {
    const grid_domain* domain = w->f.setup->domain;
    switch (stage) {
    case TREACLE_STAGE_SOLIDS:
        return body_set_is_valid(&w->f.setup->bodies, w->bodies);
    case TREACLE_STAGE_ADVECT:
    case TREACLE_STAGE_EMIT:
        return particles_is_valid(w->p, domain, PARTICLES_GROUPED);
    case TREACLE_STAGE_SORT:
        return particles_is_valid(w->p, domain, PARTICLES_SORTED);
    default:
        return true;
    }
}

static bool is_grid_valid(const step_work* w, treacle_stage stage) {
    const grid_domain* domain = w->f.setup->domain;
    switch (stage) {
    case TREACLE_STAGE_TILES:
        return grid_domain_is_valid(domain) && liquid_state_is_valid(w->state, domain);
    case TREACLE_STAGE_TO_GRID:
        return is_velocity_valid(w);
    case TREACLE_STAGE_GEOMETRY:
        return tile_field_is_finite(&w->state->map, w->state->cell_phi);
    default:
        return true;
    }
}

static bool is_flow_valid(const step_work* w, treacle_stage stage) {
    const grid_domain* domain = w->f.setup->domain;
    switch (stage) {
    case TREACLE_STAGE_FLOW:
        return is_velocity_valid(w) && body_set_is_valid(&w->f.setup->bodies, w->bodies);
    case TREACLE_STAGE_EXTRAPOLATE:
        return liquid_state_is_valid(w->state, domain);
    case TREACLE_STAGE_TO_PARTICLES:
    case TREACLE_STAGE_DENSITY:
        return particles_is_valid(w->p, domain, PARTICLES_GROUPED);
    default:
        return true;
    }
}

bool step_work_is_valid(const step_work* w, treacle_stage stage) {
    return is_motion_valid(w, stage) && is_grid_valid(w, stage) &&
           (!is_push_finite(w) || is_flow_valid(w, stage));
}
