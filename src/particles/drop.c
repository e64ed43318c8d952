#include "particles/drop.h"

#include "base/alloc.h"
#include "math/curve.h"

static treacle_status drop_check_def(treacle_context* ctx, const treacle_drop_def* def) {
    if (def->shape == NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "drops have no shape");
    }
    TREACLE_TRY(curve_check(ctx, &def->places, "the places of drops"));
    if (def->places.keys[0].time < 0.0) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "a drop comes at %g s: expected a time that is not before the start",
                          def->places.keys[0].time);
    }
    if (!(def->viscosity_factor > 0.0 && def->viscosity_factor <= 1e12)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity_factor of drops is %g: expected a number > 0",
                          def->viscosity_factor);
    }
    return TREACLE_OK;
}

static treacle_status make_shapes(const treacle_drop_def* def, drop_list* out) {
    size_t count = (size_t)def->places.count;
    TREACLE_TRY(alloc_zero(out->ctx, count, sizeof(*out->where), "the drops", (void**)&out->where));
    out->count = def->places.count;
    TREACLE_TRY(alloc_zero(out->ctx, count, sizeof(*out->time), "the drops", (void**)&out->time));
    for (int i = 0; i < out->count; ++i) {
        treacle_shape moved = treacle_shape_default(TREACLE_SHAPE_UNION);
        moved.child_count = 1;
        moved.children = def->shape;
        for (int a = 0; a < AXES; ++a) {
            moved.move[a] = def->places.keys[i].value[a];
        }
        out->time[i] = def->places.keys[i].time;
        TREACLE_TRY(shape_create(out->ctx, &moved, &out->where[i]));
    }
    return TREACLE_OK;
}

static treacle_status make_fields(const treacle_drop_def* def, drop_list* out) {
    treacle_field velocity = {.value_a = {def->velocity[0], def->velocity[1], def->velocity[2]}};
    TREACLE_TRY(field_init(out->ctx, &velocity, AXES, &out->velocity));
    const double value[] = {def->temperature, def->marker, def->viscosity_factor};
    field* const to[] = {&out->temperature, &out->marker, &out->factor};
    for (int k = 0; k < 3; ++k) {
        treacle_field constant = {.value_a = {value[k]}};
        TREACLE_TRY(field_init(out->ctx, &constant, 1, to[k]));
    }
    return TREACLE_OK;
}

treacle_status drop_list_init(treacle_context* ctx, const treacle_drop_def* def, uint64_t source,
                              drop_list* out) {
    *out = (drop_list){.ctx = ctx, .source = source, .material = (uint8_t)def->material};
    TREACLE_TRY(drop_check_def(ctx, def));
    treacle_status status = make_shapes(def, out);
    if (status == TREACLE_OK) {
        status = make_fields(def, out);
    }
    if (status != TREACLE_OK) {
        drop_list_finish(out);
    }
    return status;
}

void drop_list_finish(drop_list* list) {
    for (int i = 0; list->where != NULL && i < list->count; ++i) {
        shape_destroy(list->where[i]);
    }
    if (list->ctx != NULL) {
        size_t count = (size_t)list->count;
        alloc_free(list->ctx, list->where, count * sizeof(*list->where));
        alloc_free(list->ctx, list->time, count * sizeof(*list->time));
        field_finish(&list->velocity);
        field_finish(&list->temperature);
        field_finish(&list->marker);
        field_finish(&list->factor);
    }
    *list = (drop_list){0};
}

treacle_status drop_list_emit(const drop_list* list, double from, double to,
                              const seed_def* seeding, particles* p, int64_t* count) {
    TREACLE_ASSERT(from <= to);
    TREACLE_ASSERT(count != NULL && seeding->domain != NULL);
    particle_ix before = p->count;
    for (int i = 0; i < list->count && list->time[i] <= to; ++i) {
        bool comes = list->time[i] > from || (from == 0.0 && list->time[i] == 0.0);
        seed_liquid liquid = {.shape = list->where[i],
                              .velocity = &list->velocity,
                              .temperature = &list->temperature,
                              .marker = &list->marker,
                              .factor = &list->factor,
                              .material = list->material,
                              .colour = {list->colour[0], list->colour[1], list->colour[2]},
                              .source = list->source,
                              .time = (float)list->time[i],
                              .round = (uint64_t)i};
        seed_def def = *seeding;
        def.liquid_count = 1;
        def.liquids = &liquid;
        if (comes) {
            TREACLE_TRY(seed_particles(p, &def));
        }
    }
    *count = p->count - before;
    return TREACLE_OK;
}
