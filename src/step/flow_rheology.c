#include "step/flow_rheology.h"

#include <math.h>

#include "grid/tile_loop.h"
#include "phys/mixture.h"

// A solve of Newton's method may end at this fraction of the error that it began with: the next
// pass changes the law anyway. A tenth of it takes 15 % more passes than an exact solve and three
// quarters of the iterations.
static const double enough = 0.1;

static bool is_loop(const flow_rheology* loop) {
    return loop->kind == FLOW_RHEOLOGY_FIXED_POINT || loop->kind == FLOW_RHEOLOGY_NEWTON;
}

static flow_rheology_kind kind_of(const flow_inputs* in, const flow_outputs* out) {
    if (out->material->newtonian == NULL || !in->frame.setup->has.rheology) {
        return out->material->newtonian == NULL ? FLOW_RHEOLOGY_GIVEN : FLOW_RHEOLOGY_NONE;
    }
    return in->is_unified && !in->frame.setup->has.elastic ? FLOW_RHEOLOGY_NEWTON
                                                           : FLOW_RHEOLOGY_FIXED_POINT;
}

treacle_status flow_rheology_begin(const flow_inputs* in, const flow_outputs* out,
                                   flow_rheology* loop) {
    *loop = (flow_rheology){.kind = kind_of(in, out)};
    if (!is_loop(loop)) {
        return TREACLE_OK;
    }
    float** const fields[] = {&loop->rate, &loop->slope, &loop->rate_before, &loop->along,
                              &loop->cell_fraction};
    face_field* const faces[] = {&loop->start, &loop->before, &loop->edge_fraction};
    for (size_t i = 0; i < sizeof(faces) / sizeof(faces[0]); ++i) {
        TREACLE_TRY(flow_take_faces(in, "rheology", faces[i]));
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
        TREACLE_TRY(arena_take_zero(in->frame.scratch, flow_values(in), sizeof(float), "rheology",
                                    (void**)fields[i]));
    }
    for (int a = 0; a < AXES; ++a) {
        tile_clear(in->wet.map, loop->edge_fraction.at[a], TILE_CELLS * sizeof(float));
    }
    fraction_params params = {in->wet.domain, in->wet.map, in->wet.cell_phi};
    fraction_fields fractions = {.cell = loop->cell_fraction, .edge = loop->edge_fraction};
    fraction_compute(&params, &fractions);
    return TREACLE_OK;
}

// --- the law -------------------------------------------------------------------------------------

static mixture_params mixture_of(const flow_inputs* in, const flow_outputs* out) {
    return (mixture_params){.map = in->wet.map,
                            .cell_volume = in->given->volume,
                            .material_count = in->frame.setup->material_count,
                            .materials = in->frame.setup->materials,
                            .mean = in->frame.setup->def->viscosity_solve.mean,
                            .cell_newtonian = out->material->newtonian,
                            .cell_shear_part = out->material->shear_part};
}

static rheology_params rates_of(const flow_inputs* in, const flow_rheology* loop, face_field u) {
    return (rheology_params){.domain = in->wet.domain,
                             .map = in->wet.map,
                             .cell_fraction = loop->cell_fraction,
                             .edge_fraction = face_view_of(loop->edge_fraction),
                             .face_u = face_view_of(u)};
}

// The viscosity of a velocity; Newton's method asks for its slope, too, and whether the last pass
// was right about it.
static void find_viscosity(const flow_inputs* in, const flow_outputs* out,
                           const flow_rheology* loop, face_field u, double way) {
    bool is_newton = loop->kind == FLOW_RHEOLOGY_NEWTON;
    bool is_again = is_newton && in->frame.stats->rheology.iterations > 0;
    rheology_params rates = rates_of(in, loop, u);
    mixture_params params = mixture_of(in, out);
    rheology_rate(&rates, loop->rate);
    mixture_viscosity(&params,
                      &(mixture_rates){.rate = loop->rate,
                                       .slope = is_newton ? loop->slope : NULL,
                                       .rate_before = is_again ? loop->rate_before : NULL,
                                       .along = is_again ? loop->along : NULL,
                                       .way = way},
                      out->material->log_mu);
}

// Without a slope a pass of Newton's method is one of the fixed point.
static void forget_slope(const flow_inputs* in, const flow_rheology* loop) {
    tile_clear(in->wet.map, loop->slope, TILE_CELLS * sizeof(float));
}

// --- the loop ------------------------------------------------------------------------------------

treacle_status flow_rheology_start(const flow_inputs* in, const flow_outputs* out,
                                   flow_rheology* loop) {
    TREACLE_ASSERT(!loop->is_over || loop->kind != FLOW_RHEOLOGY_GIVEN ||
                   out->material->log_mu != NULL);
    loop->is_over = loop->is_plain = false;
    if (loop->kind == FLOW_RHEOLOGY_NONE) {
        mixture_params params = mixture_of(in, out);
        mixture_viscosity(&params, &(mixture_rates){.way = 1.0}, out->material->log_mu);
    }
    if (!is_loop(loop)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(flow_extend_velocity(in, out->material->log_mu, out->u));
    in->frame.stats->rheology = (treacle_rheology_stats){0};
    if (loop->kind == FLOW_RHEOLOGY_NEWTON) {
        flow_remap_velocity(in, out->u, loop->before);
        find_viscosity(in, out, loop, loop->before, 1.0);
    } else {
        flow_copy_faces(in, out->u, loop->start);
    }
    return TREACLE_OK;
}

void flow_rheology_set(const flow_inputs* in, const flow_outputs* out, const flow_rheology* loop) {
    TREACLE_ASSERT(loop->kind == FLOW_RHEOLOGY_GIVEN || out->material->log_mu != NULL);
    bool is_again = in->frame.stats->rheology.iterations > 0;
    if (loop->kind == FLOW_RHEOLOGY_FIXED_POINT) {
        double way = is_again
                         ? mixture_way(in->frame.setup->material_count, in->frame.setup->materials)
                         : 1.0;
        find_viscosity(in, out, loop, out->u, way);
        flow_copy_faces(in, out->u, loop->before);
        flow_copy_faces(in, loop->start, out->u);
    } else if (loop->kind == FLOW_RHEOLOGY_NEWTON && is_again) {
        rheology_params rates = rates_of(in, loop, loop->before);
        face_view found = face_view_of(out->u);
        tile_copy(in->wet.map, loop->rate_before, loop->rate, TILE_CELLS * sizeof(float));
        rheology_along(&rates, found.at, loop->along);
        flow_copy_faces(in, out->u, loop->before);
        flow_copy_faces(in, loop->start, out->u);
        find_viscosity(in, out, loop, loop->before, 1.0);
        if (loop->is_plain) {
            forget_slope(in, loop);
        }
    }
}

typedef struct change_job {
    const flow_inputs* in;
    face_view u;
    face_view before; // NULL: the velocity itself
} change_job;

static double square_of_tile(void* data, int64_t t) {
    const change_job* job = data;
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        const float* mass = job->in->given->face_mass.at[a];
        for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
            double u = (double)job->u.at[a][i];
            double d = job->before.at[a] == NULL ? u : u - (double)job->before.at[a][i];
            sum += mass[i] > 0.0f ? d * d : 0.0;
        }
    }
    return sum;
}

// The change of velocity on faces that have particles, relative to the velocity.
static double change_of(const flow_inputs* in, const flow_outputs* out, face_field before) {
    change_job all = {.in = in, .u = face_view_of(out->u)}, change = all;
    change.before = face_view_of(before);
    double size = tile_sum(in->wet.map, square_of_tile, &all);
    double square = tile_sum(in->wet.map, square_of_tile, &change);
    return size > 0.0 ? sqrt(square / size) : 0.0;
}

static int most_passes(const flow_inputs* in) {
    return in->frame.is_first ? 1 : in->frame.setup->def->viscosity_solve.max_iterations;
}

void flow_rheology_judge(const flow_inputs* in, const flow_outputs* out, bool is_solved,
                         flow_rheology* loop) {
    loop->is_over = true;
    if (!is_loop(loop)) {
        return;
    }
    treacle_rheology_stats* stats = &in->frame.stats->rheology;
    bool is_right = is_solved || loop->kind == FLOW_RHEOLOGY_FIXED_POINT;
    stats->iterations += 1;
    stats->change = change_of(in, out, loop->before);
    stats->converged = is_right && stats->change <= in->frame.setup->def->viscosity_solve.tolerance;
    loop->is_over = stats->iterations >= most_passes(in) || stats->converged;
}

// --- Newton's method -----------------------------------------------------------------------------

void flow_rheology_keep_start(const flow_inputs* in, const flow_outputs* out,
                              const flow_rheology* loop) {
    TREACLE_ASSERT(loop->kind == FLOW_RHEOLOGY_NEWTON);
    flow_copy_faces(in, out->u, loop->start);
}

void flow_rheology_retreat(const flow_inputs* in, const flow_outputs* out, flow_rheology* loop) {
    TREACLE_ASSERT(out->x != NULL);
    TREACLE_ASSERT(loop->kind == FLOW_RHEOLOGY_NEWTON);
    treacle_rheology_stats* stats = &in->frame.stats->rheology;
    flow_copy_faces(in, loop->before, out->u);
    tile_clear(in->wet.map, out->x, TILE_CELLS * sizeof(double));
    stats->iterations += 1;
    stats->change = 1.0;
    stats->converged = false;
    loop->is_plain = true;
    loop->is_over = stats->iterations >= most_passes(in);
}

// Once little changes the solve has to be exact, too.
static double drop_of(const flow_inputs* in, const treacle_rheology_stats* so_far) {
    bool is_last =
        so_far->iterations > 0 && so_far->change <= in->frame.setup->def->viscosity_solve.tolerance;
    return is_last || in->frame.is_first ? 0.0 : enough;
}

unified_pass flow_rheology_pass(const flow_inputs* in, const flow_rheology* loop) {
    TREACLE_ASSERT(loop->kind == FLOW_RHEOLOGY_NEWTON);
    return (unified_pass){.about = loop->before,
                          .rate = rates_of(in, loop, loop->before),
                          .cell_rate = loop->rate,
                          .cell_slope = loop->slope,
                          .drop = drop_of(in, &in->frame.stats->rheology)};
}
