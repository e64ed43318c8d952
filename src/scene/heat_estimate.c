// What heat will do to each liquid of a scene, and how long that takes: of all that heats or cools
// it, what is through first. A liquid is the box around it, a wall or a solid that heats acts on
// one side of that, air on two; what flows in the meantime is not counted on.
#include <math.h>
#include <stdio.h>

#include "math/curve.h"
#include "math/field.h"
#include "scene/melt_time.h"
#include "scene/scene_internal.h"

static const double boltzmann = 5.670374419e-8; // W/(m^2 K^4)

typedef struct heated {
    const treacle_sim_def* sim;
    const treacle_material_def* material;
    melt_body body;
    box3 box;
    double extent[3], least; // m; a flat axis is one cell thick and does not count as the least
    double volume;           // m^3
    double end;              // s, the last frame
    treacle_heat_estimate* out;
} heated;

// --- where it melts ------------------------------------------------------------------------------

static double middle(double low, double high) {
    return 0.5 * (low + high);
}

// Where it melts on the way up or sets on the way down; NAN: at no temperature in particular.
static double turning_point(const treacle_material_def* m, bool rises) {
    const treacle_viscosity_law* law = &m->viscosity_law;
    bool has_zone = law->of == TREACLE_LAW_OF_TEMPERATURE &&
                    (law->kind == TREACLE_LAW_LINEAR || law->kind == TREACLE_LAW_QUADRATIC);
    if (m->latent_heat > 0.0) {
        double low = !rises && m->freezing_solidus > 0.0 ? m->freezing_solidus : m->solidus;
        double high = !rises && m->freezing_liquidus > 0.0 ? m->freezing_liquidus : m->liquidus;
        return middle(low, high);
    }
    return has_zone ? middle(law->from, law->to) : NAN;
}

// --- what acts on it -----------------------------------------------------------------------------

static double mean_of(const heated* h, const treacle_curve* curve, double start, double stop) {
    double from = fmax(start, 0.0), to = fmin(stop, h->end);
    return to > from ? curve_integral_scalar(curve, from, to) / (to - from)
                     : curve_eval_scalar(curve, from);
}

// Keeps what is through first.
static void note(const heated* h, const melt_body* body, treacle_heat_estimate found,
                 const char* by) {
    double kappa = body->conductivity / (body->density * body->capacity);
    double range = body->capacity * fabs(found.outside - body->target);
    if (found.seconds < h->out->seconds) {
        found.melts = body->target > body->start;
        found.target = body->target;
        found.stefan = body->latent > 0.0 ? range / body->latent : INFINITY;
        found.fourier = kappa * h->end * h->sim->heat.speed / (found.length * found.length);
        snprintf(found.by, sizeof(found.by), "%s", by);
        *h->out = found;
    }
}

// Something at a temperature. A liquid without a turning point is to come half of the way.
static void hold(const heated* h, double outside, double film, double length, const char* by) {
    melt_body body = h->body;
    double turn = turning_point(h->material, outside > body.start);
    treacle_heat_estimate found = {.length = length, .outside = outside, .turns = !isnan(turn)};
    body.target = found.turns ? turn : middle(body.start, outside);
    found.seconds = melt_time_held(&body, length, outside, film);
    note(h, &body, found, by);
}

static void feed(const heated* h, double watts, const char* by) {
    melt_body body = h->body;
    body.target = turning_point(h->material, watts > 0.0);
    treacle_heat_estimate found = {.length = h->least, .outside = NAN, .turns = true};
    found.seconds = isnan(body.target) ? INFINITY : melt_time_powered(&body, h->volume, watts);
    note(h, &body, found, by);
}

static void ask_sides(const heated* h) {
    static const char* const names[] = {"left", "right", "bottom", "top", "back", "front"};
    const treacle_domain_def* domain = &h->sim->domain;
    for (int i = 0; i < h->sim->heat_wall_count; ++i) {
        const treacle_heat_wall_def* from = &h->sim->heat_walls[i];
        int a = (int)from->side / 2, end = (int)from->side % 2;
        double gap = end == 0 ? h->box.low.at[a] - domain->origin[a]
                              : domain->origin[a] + domain->size[a] - h->box.high.at[a];
        char by[sizeof(h->out->by)];
        snprintf(by, sizeof(by), "the %s side", names[from->side]);
        if (gap > domain->cell) {
            continue;
        }
        if (from->temperature.count > 0) {
            double outside = mean_of(h, &from->temperature, 0.0, h->end);
            hold(h, outside, from->contact, h->extent[a], by);
        } else {
            double area = h->volume / h->extent[a];
            feed(h, area * mean_of(h, &from->flux, 0.0, h->end), by);
        }
    }
}

static void ask_solids(const heated* h) {
    for (int i = 0; i < h->sim->solid_count; ++i) {
        const treacle_solid_def* solid = &h->sim->solids[i];
        char by[sizeof(h->out->by)];
        snprintf(by, sizeof(by), "solid %.40s", solid->name != NULL ? solid->name : "");
        if (solid->temperature.count > 0) {
            double outside = mean_of(h, &solid->temperature, 0.0, h->end);
            hold(h, outside, solid->contact, h->least, by);
        } else if (solid->flux.count > 0) {
            double area = h->volume / h->least;
            feed(h, area * mean_of(h, &solid->flux, 0.0, h->end), by);
        }
    }
}

// The part of a sphere around the place that the ball around the box takes; of a lamp's cone.
static double seen_from(const heated* h, const treacle_heat_source_def* source) {
    const treacle_curve* place = &source->place;
    double at[3];
    curve_eval(place, 0.0, at);
    vec3 centre = vec3_scale(0.5, vec3_add(h->box.low, h->box.high));
    double radius = 0.5 * vec3_length(vec3_sub(h->box.high, h->box.low));
    double distance = vec3_length(vec3_sub(vec3_from(at), centre));
    double sine = distance > radius ? radius / distance : 1.0;
    double whole = 0.5 * (1.0 - cos(source->angle));
    return fmin(0.5 * (1.0 - sqrt(1.0 - sine * sine)) / whole, 1.0);
}

static treacle_status ask_sources(treacle_context* ctx, const heated* h) {
    for (int i = 0; i < h->sim->heat_source_count; ++i) {
        const treacle_heat_source_def* source = &h->sim->heat_sources[i];
        char by[sizeof(h->out->by)];
        snprintf(by, sizeof(by), "heat source %d", i + 1);
        double fraction = 1.0;
        if (source->shape == NULL) {
            fraction = seen_from(h, source);
        } else {
            shape* s = NULL;
            TREACLE_TRY(shape_create_silent(ctx, source->shape, &s));
            box3 box = scene_box_inside(&h->sim->domain, s);
            fraction = box3_is_empty(box3_intersect(box, h->box)) ? 0.0 : 1.0;
            shape_destroy(s);
        }
        if (source->power.count > 0) {
            feed(h, fraction * mean_of(h, &source->power, source->start, source->stop), by);
        } else if (fraction > 0.0) {
            double outside = mean_of(h, &source->temperature, source->start, source->stop);
            hold(h, outside, INFINITY, h->least, by);
        }
    }
    return TREACLE_OK;
}

static void ask_air(const heated* h) {
    const treacle_heat_def* heat = &h->sim->heat;
    double t = h->body.start, air = heat->air;
    double film = heat->loss + heat->emissivity * boltzmann * (t * t + air * air) * (t + air);
    if (film > 0.0) {
        hold(h, air, film, 0.5 * h->least, "the air");
    }
}

// --- a liquid ------------------------------------------------------------------------------------

static treacle_status heat_estimate_begin(const treacle_scene* scene,
                                          const treacle_liquid_def* liquid, heated* h) {
    const treacle_material_def* m = &h->sim->materials[liquid->material];
    int flat = scene_flat_axis(&h->sim->domain);
    shape* s = NULL;
    field temperature;
    TREACLE_TRY(shape_create_silent(scene->ctx, liquid->shape, &s));
    h->box = scene_box_inside(&h->sim->domain, s);
    h->volume = scene_volume_inside(&h->sim->domain, s);
    shape_destroy(s);
    TREACLE_TRY(field_init(scene->ctx, &liquid->temperature, 1, &temperature));
    double start = 0.0;
    field_eval(&temperature, vec3_scale(0.5, vec3_add(h->box.low, h->box.high)), 0.0, &start);
    field_finish(&temperature);
    h->least = INFINITY;
    for (int a = 0; a < 3; ++a) {
        h->extent[a] = a == flat ? h->sim->domain.cell : h->box.high.at[a] - h->box.low.at[a];
        h->least = a == flat ? h->least : fmin(h->least, h->extent[a]);
    }
    h->material = m;
    h->body = (melt_body){.density = m->density,
                          .capacity = m->heat_capacity,
                          .latent = m->latent_heat,
                          .conductivity = m->conductivity,
                          .start = start};
    return TREACLE_OK;
}

treacle_status treacle_scene_heat(const treacle_scene* scene, int liquid,
                                  treacle_heat_estimate* out) {
    const treacle_sim_def* sim = &scene->root.sim;
    *out = (treacle_heat_estimate){.seconds = INFINITY};
    if (scene->diags.errors > 0 || liquid < 0 || liquid >= sim->liquid_count) {
        return check_fail(scene->ctx, TREACLE_ERR_USAGE,
                          "there is no liquid %d in this scene, or it has errors", liquid);
    }
    heated h = {.sim = sim, .out = out};
    h.end = treacle_sim_def_frame_time(sim, scene->root.output.frames);
    TREACLE_TRY(heat_estimate_begin(scene, &sim->liquids[liquid], &h));
    if (box3_is_empty(h.box) || !(h.volume > 0.0)) {
        return TREACLE_OK;
    }
    ask_sides(&h);
    ask_solids(&h);
    TREACLE_TRY(ask_sources(scene->ctx, &h));
    ask_air(&h);
    return TREACLE_OK;
}
