// The elasticity of the liquid's flow: room for it, and the strain that particles take home.
#include <math.h>

#include "base/profile.h"
#include "sim/liquid.h"
#include "step/flow_yield.h"

strain_law liquid_strain_law(const treacle_elastic_def* def) {
    double modulus = isnan(def->mu_e) ? 2.0 * def->shear_modulus : def->mu_e;
    double decay = isnan(def->alpha) ? 1.0 / def->relaxation_time : def->alpha;
    double stress = def->yield_stress;
    double yield =
        isnan(def->gamma) ? (modulus > 0.0 ? sqrt(2.0) * stress / modulus : 0.0) : def->gamma;
    return (strain_law){
        .modulus = modulus,
        .decay = decay,
        .yield = yield,
        .rate = def->rate,
        .decays_whole = def->decay == TREACLE_DECAY_WHOLE || def->rate == TREACLE_STRAIN_CONVECTED,
    };
}

// --- room ----------------------------------------------------------------------------------------

static treacle_status take(liquid_work* w, size_t count, const char* name, float** out) {
    return arena_take_zero(w->scratch, count, sizeof(float), name, (void**)out);
}

// To be written whole.
static treacle_status take_room(liquid_work* w, size_t count, const char* name, float** out) {
    return arena_take(w->scratch, count, sizeof(float), name, (void**)out);
}

treacle_status liquid_elastic_begin(liquid_work* w) {
    if (!w->setup->has_elastic) {
        return TREACLE_OK;
    }
    flow_elastic* e = &w->elastic;
    if (!w->is_first) {
        TREACLE_TRY(take_room(w, w->values, "viscosity and elasticity", &e->log_mu));
    }
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take_room(w, w->values, "elastic stress", &e->stress.cell[a]));
        TREACLE_TRY(take_room(w, w->values, "elastic stress", &e->stress.edge[a]));
        TREACLE_TRY(take(w, w->values, "stretch", &e->stretch.cell[a]));
        TREACLE_TRY(take(w, w->values, "stretch", &e->stretch.edge[a]));
        TREACLE_TRY(take(w, w->values, "spin", &e->spin[a]));
    }
    size_t count = (size_t)w->p->count;
    const char* name = "stretch of particles";
    TREACLE_TRY(w->setup->has_yield ? take(w, STRAIN_PARTS * count, name, &e->motion.stretch)
                                    : take_room(w, STRAIN_PARTS * count, name, &e->motion.stretch));
    return take_room(w, AXES * count, "spin of particles", &e->motion.spin);
}

treacle_status liquid_measure_stretch(liquid_work* w) {
    flow_inputs in = liquid_flow_inputs(w, true);
    flow_outputs out = liquid_flow_outputs(w, NULL);
    return flow_measure_stretch(&in, &out);
}

treacle_status liquid_elastic_end(liquid_work* w, const free_flyers* strays) {
    if (!w->setup->has_elastic || w->is_first) {
        return TREACLE_OK;
    }
    double begin = profile_now();
    int mark = arena_mark(w->scratch);
    step_frame f = liquid_frame(w);
    elastic_params params = flow_elastic_params(&f, w->p);
    float* kept = NULL;
    TREACLE_TRY(free_flyers_keep(&f, strays, w->p, PARTICLE_STRAIN, &kept));
    elastic_advance(&params, w->p, &w->elastic.motion);
    free_flyers_put(strays, PARTICLE_STRAIN, kept, w->p);
    arena_give_to(w->scratch, mark);
    w->stats->elastic_update_seconds = profile_now() - begin;
    return TREACLE_OK;
}
