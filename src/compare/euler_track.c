#include "compare/euler_track.h"

#include "base/check.h"

treacle_status euler_track(euler_work* e) {
    TREACLE_ASSERT(e->before != e->surface && e->w->f.dt > 0.0);
    step_work* w = e->w;
    double reach = euler_reach(e);
    if (w->f.is_first) {
        return level_set_copy(&e->level, e->before, e->surface);
    }
    if (!(reach <= LIQUID_REACH_MAX)) {
        return check_fail(w->f.ctx, TREACLE_ERR_DIVERGED, "liquid would cross %g cells in a step",
                          reach);
    }
    face_velocity flow = euler_flow_of(e, w->before);
    flow.keeps_flux = true;
    level_set_motion motion = {&flow, w->f.dt, reach, e->is_reseeded};
    return level_set_advance(&e->level, &motion, e->before, e->surface);
}

typedef struct placed_shape {
    const shape* what;
    vec3 offset; // m
    double cell; // m, of the lattice
} placed_shape;

static float distance_to(const void* data, vec3 x) {
    const placed_shape* s = data;
    return (float)(shape_distance(s->what, vec3_sub(x, s->offset)) / s->cell);
}

static treacle_status combine(euler_work* e, const placed_shape* s, bool is_taken) {
    box3 bounds = shape_bounds(s->what);
    level_set_part part = {
        .distance = distance_to,
        .data = s,
        .bounds = {vec3_add(bounds.low, s->offset), vec3_add(bounds.high, s->offset)},
        .is_taken = is_taken};
    return level_set_combine(&e->level, &part, e->surface);
}

// Running emitters are full of liquid, sinks that work are empty.
static treacle_status fill_and_drain(euler_work* e, bool* has_changed) {
    step_work* w = e->w;
    double end = w->f.time + w->f.dt, cell = e->level.lattice->h;
    for (int i = 0; i < w->f.setup->emitter_count && !w->f.is_full; ++i) {
        const emitter* source = &w->f.setup->emitters[i];
        placed_shape s = {source->where, emitter_offset(source, end), cell};
        if (emitter_speed(source, end) > 0.0) {
            TREACLE_TRY(combine(e, &s, false));
            *has_changed = true;
        }
    }
    for (int i = 0; i < e->sink_count; ++i) {
        const sink* drain = &e->sinks[i];
        placed_shape s = {drain->shape, {{0.0, 0.0, 0.0}}, cell};
        if (end >= drain->start && end <= drain->stop) {
            TREACLE_TRY(combine(e, &s, true));
            *has_changed = true;
        }
    }
    return *has_changed ? level_set_restore(&e->level, e->surface) : TREACLE_OK;
}

treacle_status euler_find_room(euler_work* e) {
    TREACLE_ASSERT(e->room != NULL);
    step_work* w = e->w;
    double brought;
    if (find_room_is_asked(&w->f, e->sink_count > 0, &brought)) {
        double volume = brought + level_set_volume(&e->level, e->surface);
        w->f.is_full = !find_room(&w->f, &w->made.poses, volume, e->room);
    }
    return TREACLE_OK;
}

treacle_status euler_emit(euler_work* e) {
    TREACLE_ASSERT(e->sink_count == 0 || e->sinks != NULL);
    TREACLE_ASSERT(e->due != NULL);
    step_work* w = e->w;
    bool may_change = w->f.setup->emitter_count + e->sink_count > 0, has_changed = false;
    double before = may_change ? level_set_volume(&e->level, e->surface) : 0.0;
    TREACLE_TRY(fill_and_drain(e, &has_changed));
    *e->due = e->due_before;
    if (has_changed) {
        *e->due += level_set_volume(&e->level, e->surface) - before;
    }
    return TREACLE_OK;
}
