#include "compare/euler_work.h"

uint32_t euler_fields(const liquid_setup* setup) {
    bool melts = setup->heat.is_on && setup->heat.latent_unit > 0.0;
    bool has_heat = setup->heat.is_on || setup->heat.has_law || setup->has.buoyancy;
    uint32_t strain = ((1u << STRAIN_PARTS) - 1u) << CARRIED_STRAIN;
    return (has_heat ? 1u << CARRIED_TEMPERATURE : 0u) | (melts ? 1u << CARRIED_MELTED : 0u) |
           (setup->has.elastic ? strain : 0u);
}

grid_place euler_place_of(int carried) {
    TREACLE_ASSERT(carried >= 0 && carried < CARRIED_COUNT);
    return carried < CARRIED_STRAIN ? PLACE_CELL : tensor_place(carried - CARRIED_STRAIN);
}

tensor_field euler_strain(const liquid_state* state) {
    tensor_field out;
    for (int a = 0; a < AXES; ++a) {
        out.cell[a] = state->carried[CARRIED_STRAIN + a];
        out.edge[a] = state->carried[CARRIED_STRAIN + AXES + a];
    }
    return out;
}

face_velocity euler_flow_of(const euler_work* e, const liquid_state* state) {
    const step_work* w = e->w;
    return (face_velocity){.map = &state->map,
                           .has_viscosity = liquid_is_viscous(w->f.setup),
                           .has_gaps = true,
                           .domain = w->f.setup->domain,
                           .u = state->face_u};
}

double euler_reach(const euler_work* e) {
    TREACLE_ASSERT(e->w->f.dt > 0.0 && e->w->f.setup->domain->h > 0.0);
    const step_work* w = e->w;
    return liquid_state_fastest(w->before) * w->f.dt / w->f.setup->domain->h;
}

bool euler_is_in_domain(const euler_work* e, const int at[AXES]) {
    TREACLE_ASSERT(at[0] >= 0 && at[1] >= 0 && at[2] >= 0);
    const step_work* w = e->w;
    const int* cells = w->f.setup->domain->cells;
    return at[0] < cells[0] && at[1] < cells[1] && at[2] < cells[2];
}

tile_sampler euler_surface_of(const euler_work* e) {
    TREACLE_ASSERT(e->surface->phi != NULL);
    return tile_sampler_of(e->level.lattice, &e->surface->map, PLACE_CELL, e->surface->phi);
}
