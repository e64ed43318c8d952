#include "particles/emitter.h"

#include <math.h>

#include "base/alloc.h"
#include "math/curve.h"
#include "math/elementary.h"
#include "math/hash_random.h"
#include "particles/line_grid.h"
#include "particles/seed.h"

// Column (i, j) of the lattice, moved at random in its square.
static bool column_enters(const emitter* e, const line_grid* lattice, int64_t line, vec3* entry) {
    uint64_t id = particles_make_id(e->source, (uint64_t)line);
    double i = (double)(line % lattice->count_u), j = (double)(line / lattice->count_u);
    double move_u = e->jitter * (hash_random_f64(e->seed, id, RANDOM_EMIT_X) - 0.5);
    double move_v = e->jitter * (hash_random_f64(e->seed, id, RANDOM_EMIT_Y) - 0.5);
    return line_grid_enters(lattice, i + 0.5 + move_u, j + 0.5 + move_v, entry);
}

static treacle_status list_columns(const line_grid* lattice, emitter* e) {
    int64_t lines = lattice->count_u * lattice->count_v;
    vec3 entry;
    for (int64_t line = 0; line < lines; ++line) {
        e->column_count += column_enters(e, lattice, line, &entry);
    }
    TREACLE_TRY(alloc_array(e->ctx, (size_t)e->column_count, sizeof(*e->entry), "an emitter",
                            (void**)&e->entry));
    int64_t column = 0;
    for (int64_t line = 0; line < lines; ++line) {
        if (column_enters(e, lattice, line, &entry)) {
            e->entry[column++] = entry;
        }
    }
    return TREACLE_OK;
}

static treacle_status check_path(treacle_context* ctx, const treacle_curve* path,
                                 const char* what) {
    TREACLE_TRY(curve_check(ctx, path, what));
    for (int k = 0; k < path->count; ++k) {
        if (path->keys[k].value[0] < 0.0) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "%s is %g at %g s: expected a number >= 0; turn the direction "
                              "round for a stream that flows the other way",
                              what, path->keys[k].value[0], path->keys[k].time);
        }
    }
    return TREACLE_OK;
}

static treacle_status emitter_check_def(treacle_context* ctx, const treacle_emitter_def* def) {
    if (!isfinite(def->start) || !(def->stop >= def->start)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "emitter runs from %g s to %g s: expected a finite start and a stop that "
                          "is not before it",
                          def->start, def->stop);
    }
    bool has_rate = def->rate.count > 0;
    return check_path(ctx, has_rate ? &def->rate : &def->speed,
                      has_rate ? "emitter rate" : "emitter speed");
}

static treacle_status choose_direction(treacle_context* ctx, const treacle_emitter_def* def,
                                       const grid_domain* domain, vec3* out) {
    vec3 direction = vec3_from(def->direction);
    for (int a = 0; a < AXES; ++a) {
        direction.at[a] = domain->is_active[a] ? direction.at[a] : 0.0;
    }
    *out = vec3_normalise(direction);
    if (!vec3_is_finite(*out) || vec3_length(*out) == 0.0) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "emitter direction is (%g, %g, %g): expected a vector with a length "
                          "along the axes that the domain has",
                          def->direction[0], def->direction[1], def->direction[2]);
    }
    return TREACLE_OK;
}

static treacle_status check_bounds(treacle_context* ctx, const grid_domain* domain,
                                   const shape* s) {
    box3 bounds = shape_bounds(s);
    bool is_bounded = !box3_is_empty(bounds);
    for (int a = 0; a < AXES; ++a) {
        bool is_finite = isfinite(bounds.low.at[a]) && isfinite(bounds.high.at[a]);
        is_bounded = is_bounded && (is_finite || !domain->is_active[a]);
    }
    return is_bounded ? TREACLE_OK
                      : check_fail(ctx, TREACLE_ERR_SCENE,
                                   "emitter shape is empty or has no bounds: expected a shape of "
                                   "finite size");
}

// Lays the columns through the shape and measures what flows through it.
static treacle_status meet_shape(emitter* e, const emitter_setting* setting) {
    const grid_domain* domain = setting->domain;
    const shape* s = e->where;
    TREACLE_TRY(check_bounds(e->ctx, domain, s));
    line_grid lattice = line_grid_lay(domain, s, e->direction, e->spacing);
    const double most = 1e8;
    if (!((double)lattice.count_u * (double)lattice.count_v <= most)) {
        return check_fail(e->ctx, TREACLE_ERR_LIMIT,
                          "emitter is %lld x %lld particles wide: at most %g are possible",
                          (long long)lattice.count_u, (long long)lattice.count_v, most);
    }
    TREACLE_TRY(line_grid_area(e->ctx, domain, s, e->direction, &e->area));
    TREACLE_TRY(list_columns(&lattice, e));
    if (e->column_count == 0 || !(e->area > 0.0)) {
        return check_fail(e->ctx, TREACLE_ERR_SCENE,
                          "emitter shape is narrower than a particle (%g m): nothing would flow; "
                          "choose smaller cells or a wider shape",
                          e->spacing);
    }
    return TREACLE_OK;
}

static int active_axes(const grid_domain* domain) {
    return (int)domain->is_active[0] + (int)domain->is_active[1] + (int)domain->is_active[2];
}

// a with a^axes = x, by Newton's method: libm's cbrt may differ from one machine to the next.
static double root(double x, int axes) {
    double a = axes == 1 ? x : sqrt(x);
    for (int i = 0; axes == 3 && i < 60; ++i) {
        a = (2.0 * a + x / (a * a)) / 3.0;
    }
    return a;
}

treacle_status emitter_init(treacle_context* ctx, const treacle_emitter_def* def,
                            const emitter_setting* setting, emitter* out) {
    TREACLE_ASSERT(setting->domain != NULL && setting->domain->h > 0.0);
    TREACLE_ASSERT(setting->particles.per_cell > 0);
    *out = (emitter){.ctx = ctx, .seed = setting->seed, .source = setting->source};
    emitter e = *out;
    e.domain = *setting->domain;
    e.jitter = setting->particles.jitter;
    e.material = (uint8_t)def->material;
    e.start = def->start;
    e.stop = def->stop;
    e.temperature = (float)def->temperature;
    e.marker = (float)def->marker;
    e.log_factor = seed_log_factor(def->viscosity_factor);
    for (int c = 0; c < 3; ++c) {
        e.colour[c] = setting->colour[c];
    }
    e.spacing =
        setting->domain->h / root(setting->particles.per_cell, active_axes(setting->domain));
    TREACLE_TRY(emitter_check_def(ctx, def));
    TREACLE_TRY(choose_direction(ctx, def, setting->domain, &e.direction));
    TREACLE_TRY(shape_create(ctx, def->shape, &e.where));
    treacle_status status;
    bool has_rate = def->rate.count > 0;
    TREACLE_TRY_GOTO(meet_shape(&e, setting), fail);
    e.path_divisor = has_rate ? e.area : 1.0;
    TREACLE_TRY_GOTO(curve_copy(ctx, has_rate ? &def->rate : &def->speed, &e.path), fail);
    if (def->position.count > 0) {
        TREACLE_TRY_GOTO(curve_check(ctx, &def->position, "emitter position"), fail);
        TREACLE_TRY_GOTO(curve_copy(ctx, &def->position, &e.motion), fail);
    }
    *out = e;
    return TREACLE_OK;
fail:
    emitter_finish(&e);
    return status;
}

void emitter_finish(emitter* e) {
    if (e->ctx == NULL) {
        return;
    }
    shape_destroy(e->where);
    curve_free(e->ctx, &e->path);
    curve_free(e->ctx, &e->motion);
    alloc_free(e->ctx, e->entry, (size_t)e->column_count * sizeof(*e->entry));
    *e = (emitter){.ctx = e->ctx};
}

double emitter_path(const emitter* e, double time) {
    TREACLE_ASSERT(e->path_divisor > 0.0 && e->start <= e->stop);
    double until = fmin(fmax(time, e->start), e->stop);
    return curve_integral_scalar(&e->path, e->start, until) / e->path_divisor;
}

double emitter_speed(const emitter* e, double time) {
    TREACLE_ASSERT(e->path_divisor > 0.0);
    bool runs = time >= e->start && time <= e->stop;
    return runs ? curve_eval_scalar(&e->path, time) / e->path_divisor : 0.0;
}

vec3 emitter_offset(const emitter* e, double time) {
    double at[AXES] = {0.0, 0.0, 0.0};
    if (e->motion.count > 0) {
        curve_eval(&e->motion, time, at);
    }
    for (int a = 0; a < AXES; ++a) {
        at[a] = e->domain.is_active[a] ? at[a] : 0.0;
    }
    return vec3_from(at);
}

vec3 emitter_motion(const emitter* e, double from, double to) {
    vec3 way = vec3_sub(emitter_offset(e, to), emitter_offset(e, from));
    return to > from ? vec3_scale(1.0 / (to - from), way) : vec3_make(0.0, 0.0, 0.0);
}

// The particle of a column that a layer holds.
typedef struct drop {
    uint64_t id;
    double height; // m, of the path at which it is born
} drop;

static drop drop_of(const emitter* e, int64_t layer, int64_t column) {
    uint64_t birth = (uint64_t)(layer * e->column_count + column);
    drop out = {.id = particles_make_id(e->source, birth)};
    // Strictly inside the layer, so that layers do not mix.
    double jitter = e->jitter * (hash_random_f64(e->seed, out.id, RANDOM_EMIT_Z) - 0.5);
    out.height = ((double)layer + 0.5 + jitter) * e->spacing;
    return out;
}

typedef struct emission {
    const emitter* e;
    double from, to;     // m, of the path
    double begun, ended; // s, when it was at the ends of that
    vec3 velocity;       // m/s, at its end
    vec3 offset;         // m, of the nozzle
    const treacle_curve* gravity;
    particles* p;
} emission;

// What is born during the step falls from then on.
static void fall_since_birth(const emission* now, double born, particle_birth* birth) {
    double kick[AXES], way[AXES];
    curve_integral(now->gravity, born, now->ended, kick);
    curve_way(now->gravity, born, now->ended, way);
    for (int a = 0; a < AXES; ++a) {
        bool is_active = now->e->domain.is_active[a];
        birth->velocity.at[a] += is_active ? kick[a] : 0.0;
        birth->place.at[a] += is_active ? way[a] : 0.0;
    }
}

static treacle_status add_drop(const emission* now, drop d, vec3 entry) {
    const emitter* e = now->e;
    double born =
        now->ended - (now->ended - now->begun) * (now->to - d.height) / (now->to - now->from);
    particle_birth birth = {
        .id = d.id,
        .place = vec3_add(vec3_add_scaled(entry, now->to - d.height, e->direction), now->offset),
        .velocity = now->velocity,
        .volume = e->area * e->spacing / (double)e->column_count,
        .material = e->material,
        .colour = {e->colour[0], e->colour[1], e->colour[2]},
        .temperature = e->temperature,
        .marker = e->marker,
        .log_factor = e->log_factor,
        .time = (float)born,
    };
    if (now->gravity != NULL) {
        fall_since_birth(now, born, &birth);
    }
    tile_coord tile;
    particles_locate(&e->domain, birth.place, &tile, birth.position);
    // At rest the stream is a rod behind the entry: what is born later lies further back.
    birth.place = vec3_add_scaled(entry, -d.height, e->direction);
    particle_ix particle;
    TREACLE_TRY(particles_append(now->p, tile, 1, &particle));
    particle_init(now->p, &e->domain, particle, &birth);
    return TREACLE_OK;
}

treacle_status emitter_emit(const emitter* e, double from, double to, const treacle_curve* gravity,
                            particles* p, int64_t* count) {
    TREACLE_ASSERT(from <= to);
    TREACLE_ASSERT(count != NULL);
    TREACLE_ASSERT(e->column_count == 0 || e->spacing > 0.0);
    double speed = emitter_speed(e, fmin(to, e->stop));
    emission now = {.e = e, .p = p, .offset = emitter_offset(e, to), .gravity = gravity};
    now.velocity = vec3_add_scaled(emitter_motion(e, from, to), speed, e->direction);
    now.from = emitter_path(e, from);
    now.to = emitter_path(e, to);
    now.begun = from;
    now.ended = to;
    *count = 0;
    // One layer before the first, lest one be lost to rounding.
    double first = fmax(floor(now.from / e->spacing) - 1.0, 0.0), last = floor(now.to / e->spacing);
    if ((last + 1.0) * (double)e->column_count >= (double)PARTICLE_BIRTHS_MAX) {
        return check_fail(e->ctx, TREACLE_ERR_LIMIT,
                          "an emitter has given more than %llu particles",
                          (unsigned long long)PARTICLE_BIRTHS_MAX);
    }
    for (int64_t layer = (int64_t)first; now.to > now.from && layer <= (int64_t)last; ++layer) {
        for (int64_t column = 0; column < e->column_count; ++column) {
            drop d = drop_of(e, layer, column);
            if (d.height > now.from && d.height <= now.to) {
                TREACLE_TRY(add_drop(&now, d, e->entry[column]));
                *count += 1;
            }
        }
    }
    return TREACLE_OK;
}
