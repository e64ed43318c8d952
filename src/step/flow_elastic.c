#include "step/flow_elastic.h"

#include "base/profile.h"

static treacle_status take(const step_frame* f, size_t count, const char* name, float** out) {
    return arena_take_zero(f->scratch, count, sizeof(float), name, (void**)out);
}

// To be written whole.
static treacle_status take_room(const step_frame* f, size_t count, const char* name, float** out) {
    return arena_take(f->scratch, count, sizeof(float), name, (void**)out);
}

treacle_status flow_elastic_take(const step_frame* f, const tile_map* map, const particles* p,
                                 flow_elastic* out) {
    TREACLE_ASSERT(!f->setup->has.elastic || p->column[PARTICLE_STRAIN] != NULL);
    size_t values = tile_map_values(map), count = (size_t)p->count;
    if (!f->setup->has.elastic) {
        return TREACLE_OK;
    }
    if (!f->is_first) {
        TREACLE_TRY(take_room(f, values, "viscosity and elasticity", &out->log_mu));
    }
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take_room(f, values, "elastic stress", &out->stress.cell[a]));
        TREACLE_TRY(take_room(f, values, "elastic stress", &out->stress.edge[a]));
        TREACLE_TRY(take(f, values, "stretch", &out->stretch.cell[a]));
        TREACLE_TRY(take(f, values, "stretch", &out->stretch.edge[a]));
        TREACLE_TRY(take(f, values, "spin", &out->spin[a]));
    }
    const char* name = "stretch of particles";
    TREACLE_TRY(f->setup->has.yield
                    ? take(f, STRAIN_PARTS * count, name, &out->motion.stretch)
                    : take_room(f, STRAIN_PARTS * count, name, &out->motion.stretch));
    return take_room(f, AXES * count, "spin of particles", &out->motion.spin);
}

elastic_params flow_elastic_params(const step_frame* frame, const particles* p) {
    const treacle_elasticity_def* def = &frame->setup->def->elasticity;
    return (elastic_params){.laws = frame->setup->strain_laws,
                            .melted = particles_f32(p, PARTICLE_MELTED),
                            .damage = particles_f32(p, PARTICLE_DAMAGE),
                            .seed = frame->setup->def->seed,
                            .dt = frame->dt,
                            .theta = def->is_explicit ? 0.0 : def->theta};
}

treacle_status flow_elastic_end(const step_frame* f, const flow_elastic* elastic,
                                const free_flyers* flyers, particles* p) {
    TREACLE_ASSERT(!f->setup->has.elastic || f->is_first || elastic->motion.stretch != NULL);
    if (!f->setup->has.elastic || f->is_first) {
        return TREACLE_OK;
    }
    double begin = profile_now();
    int mark = arena_mark(f->scratch);
    elastic_params params = flow_elastic_params(f, p);
    float* kept = NULL;
    TREACLE_TRY(free_flyers_keep(f, flyers, p, PARTICLE_STRAIN, &kept));
    elastic_advance(&params, p, &elastic->motion);
    free_flyers_put(flyers, PARTICLE_STRAIN, kept,
                    p); // what flies breaks by the strain that it has
    if (f->setup->has.cracks) {
        TREACLE_TRY(elastic_break(&params, p, f->scratch, &f->stats->energy.fracture));
    }
    arena_give_to(f->scratch, mark);
    f->stats->elastic_update_seconds = profile_now() - begin;
    return TREACLE_OK;
}
