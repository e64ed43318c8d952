#include "render/trace_path.h"

#include "render/trace_glow.h"
#include "render/trace_photons.h"

enum { ROULETTE_FROM = 4 };

// What the camera sees reflected gets at least this fraction of the samples.
static const float reflect_least = 0.25f;

typedef struct path {
    const trace_scene* s;
    trace_ray ray;
    trace_random* r;
    v3f sum;    // light so far
    v3f weight; // of what is still to come
    float pdf;  // of the last direction; 0: a mirror's, or the camera's
    int inside; // material of glass that the ray is in; -1: none
    int under;  // liquid that glass takes the place of here; -1: none
    int bounces;
    trace_guide* guide;
    bool is_gathered;   // photons bring what small lamps send to the last surface through glass ...
    bool is_caustic;    // ... which the path has met since
    bool looks_through; // clear things alone so far: the guide is to tell what is behind them
    trace_point entry;  // where a walk below the surface begins
} path;

static void add_light(path* p, v3f light) {
    v3f bring = v3f_mul(p->weight, light);
    float most = v3f_max(bring), clamp = p->s->clamp;
    if (clamp > 0.0f && p->bounces > 0 && most > clamp) {
        bring = v3f_scale(clamp / most, bring);
    }
    if (isfinite(most)) {
        p->sum = v3f_add(p->sum, bring);
    }
}

static float balance(float mine, float other) {
    return mine <= 0.0f ? 1.0f : mine / (mine + other);
}

static void add_environment(path* p) {
    const trace_scene* s = p->s;
    v3f d = p->ray.direction;
    if (p->bounces == 0 && s->has_backdrop) {
        add_light(p, trace_scene_backdrop(s, d));
        return;
    }
    const trace_environment* e = s->lights.environment;
    float chance = 1.0f / (float)trace_lights_count(&s->lights);
    float pdf;
    v3f light = trace_environment_look(e, d, &pdf);
    light = p->is_caustic ? trace_photons_rest(s->photons, light) : light;
    add_light(p, v3f_scale(balance(p->pdf, pdf * chance), light));
    v3f sun = trace_environment_sun(e, d);
    if (!v3f_is_black(sun) && !p->is_caustic) {
        float sun_pdf = chance / (2.0f * TRACE_PI * (1.0f - e->sun_cosine));
        add_light(p, v3f_scale(balance(p->pdf, sun_pdf), sun));
    }
}

static void add_lamp(path* p, const trace_point* at) {
    const trace_lamp* lamp = &p->s->lights.lamps[at->lamp];
    if (p->is_caustic) {
        return;
    }
    float chance = 1.0f / (float)trace_lights_count(&p->s->lights);
    float pdf = trace_lamp_pdf(lamp, p->ray.direction, at->distance) * chance;
    add_light(p, v3f_scale(balance(p->pdf, pdf), lamp->radiance));
}

// A wide lobe at a surface: matt, or a rough metal.
typedef struct lobe {
    const trace_facets* facets; // NULL: matt
    v3f colour;
    v3f normal;   // for shading, on the side of the path
    v3f geometry; // the normal of the triangle itself
    v3f back;     // world w_o
    float skin;   // index of a dielectric skin that light must pass; 0: none
} lobe;

static v3f lobe_value(const lobe* l, v3f to, float* pdf) {
    float cosine = v3f_dot(to, l->normal);
    *pdf = 0.0f;
    if (v3f_dot(to, l->geometry) <= 0.0f || cosine <= 0.0f) {
        return v3f_grey(0.0f);
    }
    if (l->facets != NULL) {
        return trace_metal_value(l->facets, l->colour, v3f_to_local(l->back, l->normal),
                                 v3f_to_local(to, l->normal), pdf);
    }
    *pdf = cosine / TRACE_PI;
    float unused, passes = l->skin > 0.0f ? 1.0f - trace_fresnel(cosine, l->skin, &unused) : 1.0f;
    return v3f_scale(*pdf * passes, l->colour);
}

static void add_sample(path* p, const lobe* l, v3f place, const trace_light_sample* light) {
    const trace_scene* s = p->s;
    float pdf;
    v3f value = lobe_value(l, light->direction, &pdf);
    if (v3f_is_black(value)) {
        return;
    }
    trace_ray shadow = {.origin = v3f_madd(place, s->epsilon, l->geometry),
                        .direction = light->direction,
                        .far = light->distance < INFINITY ? light->distance * 0.9999f : INFINITY,
                        .time = p->ray.time};
    float seen = trace_scene_visibility(s, &shadow);
    if (seen > 0.0f) {
        p->bounces += 1; // what comes by way of this surface
        float fraction = seen * balance(light->pdf, pdf) / light->pdf;
        add_light(p, v3f_scale(fraction, v3f_mul(value, light->radiance)));
        p->bounces -= 1;
    }
}

static void add_direct(path* p, const lobe* l, v3f place) {
    const trace_scene* s = p->s;
    trace_light_sample light;
    if (trace_lights_sample(&s->lights, place, p->r, &light)) {
        add_sample(p, l, place, &light);
    }
    if (s->glowing != NULL && trace_glow_sample(s, place, p->r, &light)) {
        add_sample(p, l, place, &light);
    }
}

static v3f lobe_per_cosine(const void* user, v3f to) {
    const lobe* l = user;
    float pdf;
    v3f value = lobe_value(l, to, &pdf);
    return v3f_scale(1.0f / trace_max(v3f_dot(to, l->normal), 1e-3f), value);
}

// What photons bring to a matt surface. From here on they stand for lamps behind glass.
static void add_caustics(path* p, const lobe* l, v3f place) {
    p->is_caustic = false;
    p->is_gathered = p->s->photons != NULL && l->facets == NULL;
    if (p->is_gathered) {
        const trace_gathering at = {place, l->geometry, lobe_per_cosine, l};
        p->bounces += 1; // what comes by way of this surface
        add_light(p, trace_photons_gather(p->s->photons, &at));
        p->bounces -= 1;
    }
}

static void go_on(path* p, v3f place, v3f geometry, v3f direction) {
    float side = v3f_dot(direction, geometry) < 0.0f ? -p->s->epsilon : p->s->epsilon;
    p->ray.origin = v3f_madd(place, side, geometry);
    p->ray.direction = direction;
    p->ray.near = 0.0f;
    p->ray.far = INFINITY;
    p->ray.is_first = false;
}

// Light at a wide lobe, and a direction to go on. False if the path ends.
static bool trace_path_scatter(path* p, const lobe* l, v3f place) {
    add_direct(p, l, place);
    add_caustics(p, l, place);
    p->ray.sees_containers = false;
    v3f direction;
    if (l->facets != NULL) {
        trace_bounce b;
        if (!trace_metal_sample(l->facets, l->colour, v3f_to_local(l->back, l->normal),
                                trace_random_pair(p->r), &b)) {
            return false;
        }
        direction = v3f_to_world(b.direction, l->normal);
        p->weight = v3f_mul(p->weight, b.weight);
        p->pdf = b.pdf;
    } else {
        direction = v3f_to_world(trace_sample_cosine(trace_random_pair(p->r)), l->normal);
        v3f value = lobe_value(l, direction, &p->pdf);
        p->weight = v3f_scale(1.0f / trace_max(p->pdf, 1e-20f), v3f_mul(p->weight, value));
    }
    go_on(p, place, l->geometry, direction);
    return v3f_dot(direction, l->geometry) > 0.0f;
}

// The side of the surface that the path comes from.
static lobe lobe_at(const path* p, const trace_point* at) {
    v3f back = v3f_negate(p->ray.direction);
    bool is_behind = v3f_dot(back, at->normal) < 0.0f;
    lobe l = {.back = back,
              .geometry = is_behind ? v3f_negate(at->normal) : at->normal,
              .normal = is_behind ? v3f_negate(at->shading) : at->shading};
    // Seen from behind, an interpolated normal is of no use.
    if (v3f_dot(back, l.normal) <= 1e-3f) {
        l.normal = l.geometry;
    }
    return l;
}

// Whether the path is in glass that takes the place of the liquid whose surface it meets.
static bool is_displaced(const path* p, const trace_material* m) {
    return p->inside >= 0 && p->s->materials[p->inside].is_solid && !m->is_solid;
}

// The index on the other side of a surface, and which liquid that is: glass in liquid meets that,
// everything else meets air.
static int other_side(const path* p, const trace_material* m, bool is_inside) {
    int other = is_inside ? p->under : p->inside;
    return m->is_solid && other >= 0 && !p->s->materials[other].is_solid ? other : -1;
}

// Passes a surface as if there were none.
static void pass_through(path* p, const trace_point* at, bool is_inside) {
    p->under = is_inside ? -1 : at->material;
    go_on(p, at->place, at->normal, p->ray.direction);
}

static bool hit_glass(path* p, const trace_point* at, const trace_material* m) {
    bool is_inside = v3f_dot(p->ray.direction, at->normal) > 0.0f;
    if (is_displaced(p, m)) {
        pass_through(p, at, is_inside);
        return true;
    }
    lobe l = lobe_at(p, at);
    trace_bounce b;
    int other = other_side(p, m, is_inside);
    trace_meeting meeting = {.w_o = v3f_to_local(l.back, l.normal),
                             .is_inside = is_inside,
                             .outside = other < 0 ? 0.0f : p->s->materials[other].facets.eta,
                             .least = p->bounces == 0 ? reflect_least : 0.0f};
    if (!trace_glass_sample(&m->facets, &meeting, p->r, &b)) {
        return false;
    }
    v3f direction = v3f_to_world(b.direction, l.normal);
    p->weight = v3f_mul(p->weight, b.weight);
    // A normal that was interpolated may send light to the wrong side of the triangle: what it
    // weighs is then scattered anew by the triangle's own.
    if ((v3f_dot(direction, l.geometry) < 0.0f) != b.is_through) {
        meeting.w_o = v3f_to_local(l.back, l.geometry);
        meeting.least = 0.0f;
        if (!trace_glass_sample(&m->facets, &meeting, p->r, &b)) {
            return false;
        }
        direction = v3f_to_world(b.direction, l.geometry);
        p->weight = v3f_mul(p->weight, b.weight);
    }
    p->pdf = 0.0f;
    p->is_caustic = p->is_gathered;
    bool ends_inside = is_inside != b.is_through;
    p->inside = ends_inside ? at->material : other;
    p->under = ends_inside ? other : -1;
    go_on(p, at->place, l.geometry, direction);
    return true;
}

static trace_entry entry_of(const path* p, const trace_point* at) {
    return (trace_entry){.rays = p->s->rays,
                         .place = at->place,
                         .normal = at->normal,
                         .time = p->ray.time,
                         .epsilon = p->s->epsilon,
                         .mesh = at->mesh};
}

// Out again elsewhere. False if the path ends.
static bool come_out(path* p, const trace_point* at, const trace_exit* out) {
    const trace_material* m = &p->s->materials[at->material];
    trace_point there = {.distance = out->touch.distance, .place = out->place};
    trace_scene_look_up(p->s, &out->touch, &there);
    p->weight = v3f_mul(p->weight, out->weight);
    v3f normal = v3f_dot(there.shading, out->normal) > 0.0f ? there.shading : out->normal;
    lobe leaving = {.colour = at->colour,
                    .normal = normal,
                    .geometry = out->normal,
                    .skin = m->kind == TRACE_DIPOLE ? m->medium.eta : 0.0f};
    return trace_path_scatter(p, &leaving, out->place);
}

// Whether a path ends at a surface.
typedef enum path_end {
    END_NOT,
    END_HERE,
    END_WALKS, // it goes on from where a walk that begins at `entry` comes out
} path_end;

static path_end end_unless(bool goes_on) {
    return goes_on ? END_NOT : END_HERE;
}

// Under a skin: reflected by it, or in and out elsewhere.
static path_end hit_translucent(path* p, const trace_point* at, const trace_material* m) {
    lobe l = lobe_at(p, at);
    float cosine = v3f_dot(l.back, l.normal), unused, weight[2];
    float fresnel = trace_fresnel(cosine, m->medium.eta, &unused);
    float chance = trace_reflect_chance(fresnel, p->bounces == 0 ? reflect_least : 0.0f, weight);
    bool is_reflected = trace_random_one(p->r) < chance;
    p->weight = v3f_scale(weight[is_reflected ? 0 : 1], p->weight);
    if (is_reflected) {
        // The skin is a metal that reflects all: Fresnel is in the choice.
        l.facets = &m->facets;
        l.colour = v3f_grey(1.0f);
        return end_unless(trace_path_scatter(p, &l, at->place));
    }
    if (m->kind == TRACE_WALK) {
        p->entry = *at;
        p->inside = p->under = -1;
        return END_WALKS;
    }
    trace_entry entry = entry_of(p, at);
    trace_exit out;
    return end_unless(trace_dipole_sample(&m->medium, &entry, p->r, &out) && come_out(p, at, &out));
}

// Scattering on the way through glass. False if the path was absorbed; *is_scattered if it did not
// get to the surface.
static bool pass_medium(path* p, float distance, bool* is_scattered) {
    const trace_material* m = &p->s->materials[p->inside];
    const trace_medium* medium = &m->medium;
    *is_scattered = false;
    v3f sigma_t = v3f_add(medium->absorb, medium->scatter);
    if (v3f_is_black(medium->scatter)) {
        p->weight = v3f_mul(p->weight, v3f_exp(v3f_scale(-distance, sigma_t)));
        return true;
    }
    trace_pair u = trace_random_pair(p->r);
    int channel = (int)(u.a * 3.0f);
    float free = -logf(trace_max(1.0f - u.b, 1e-7f)) / trace_max(v3f_at(sigma_t, channel), 1e-9f);
    *is_scattered = free < distance;
    float along = *is_scattered ? free : distance;
    v3f passed = v3f_exp(v3f_scale(-along, sigma_t));
    v3f density = *is_scattered ? v3f_mul(sigma_t, passed) : passed;
    float mean = v3f_mean(density);
    if (!(mean > 1e-30f)) {
        return false;
    }
    v3f value = *is_scattered ? v3f_mul(medium->scatter, passed) : passed;
    p->weight = v3f_scale(1.0f / mean, v3f_mul(p->weight, value));
    if (*is_scattered) {
        p->ray.origin = v3f_madd(p->ray.origin, along, p->ray.direction);
        p->ray.direction = trace_sample_phase(p->ray.direction, m->g, trace_random_pair(p->r));
        p->pdf = 0.0f;
    }
    return true;
}

// Matt, perhaps under a lacquer, which reflects as much as Fresnel says and takes the same on the
// way in and out.
static path_end hit_matt(path* p, const trace_point* at, const trace_material* m) {
    lobe l = lobe_at(p, at);
    l.colour = v3f_mul(m->colour, at->colour);
    if (m->coat > 0.0f) {
        float unused, fresnel = trace_fresnel(v3f_dot(l.back, l.normal), m->coat, &unused);
        float weight[2];
        float chance =
            trace_reflect_chance(fresnel, p->bounces == 0 ? reflect_least : 0.0f, weight);
        bool is_reflected = trace_random_one(p->r) < chance;
        p->weight = v3f_scale(weight[is_reflected ? 0 : 1], p->weight);
        l.facets = is_reflected ? &m->facets : NULL;
        l.colour = is_reflected ? v3f_grey(1.0f) : l.colour;
        l.skin = m->coat;
    }
    return end_unless(trace_path_scatter(p, &l, at->place));
}

static path_end hit_surface(path* p, const trace_point* at) {
    const trace_material* m = &p->s->materials[at->material];
    if (m->glows && v3f_dot(p->ray.direction, at->normal) < 0.0f) {
        float fraction = balance(p->pdf, trace_glow_pdf(p->s, at, p->ray.direction));
        add_light(p, v3f_scale(fraction * m->glow, trace_scene_glow(p->s, at->temperature)));
    }
    lobe l = lobe_at(p, at);
    switch (m->kind) {
    case TRACE_DIFFUSE:
        return hit_matt(p, at, m);
    case TRACE_METAL:
        l.colour = v3f_mul(m->colour, at->colour);
        l.facets = &m->facets;
        return end_unless(trace_path_scatter(p, &l, at->place));
    case TRACE_GLASS:
        return end_unless(hit_glass(p, at, m));
    case TRACE_DIPOLE:
    case TRACE_WALK:
        return at->mesh >= 0 ? hit_translucent(p, at, m) : END_HERE;
    }
    return END_HERE;
}

static v3f albedo_of(const trace_material* m, const trace_point* at) {
    switch (m->kind) {
    case TRACE_DIFFUSE:
    case TRACE_METAL:
        return v3f_mul(m->colour, at->colour);
    case TRACE_DIPOLE:
    case TRACE_WALK:
        return v3f_mul(m->medium.total, at->colour);
    case TRACE_GLASS:
        break;
    }
    return v3f_exp(v3f_scale(-0.005f, m->medium.absorb));
}

static void tell(const trace_scene* s, const trace_point* at, trace_guide* guide) {
    bool is_thing = at->distance < INFINITY && at->material >= 0;
    *guide = (trace_guide){.albedo = {1.0f, 1.0f, 1.0f}};
    if (is_thing) {
        guide->albedo = albedo_of(&s->materials[at->material], at);
        guide->normal = at->shading;
        guide->velocity = at->velocity;
        guide->depth = at->distance;
    }
}

static bool is_clear(const trace_scene* s, const trace_point* at) {
    return at->distance < INFINITY && at->material >= 0 &&
           s->materials[at->material].kind == TRACE_GLASS;
}

static bool survives(path* p) {
    if (p->bounces < ROULETTE_FROM) {
        return true;
    }
    float keep = trace_min(v3f_max(p->weight), 1.0f);
    if (!(trace_random_one(p->r) < keep)) {
        return false;
    }
    p->weight = v3f_scale(1.0f / keep, p->weight);
    return true;
}

// Follows the path by one bounce.
static path_end bounce(path* p) {
    const trace_scene* s = p->s;
    trace_point at;
    trace_scene_find(s, &p->ray, s->ground.is_there ? trace_random_one(p->r) : 0.0f, &at);
    if (p->bounces == 0) {
        tell(s, &at, p->guide);
        p->looks_through = is_clear(s, &at);
    } else if (p->looks_through && !is_clear(s, &at)) {
        bool is_thing = at.distance < INFINITY && at.material >= 0;
        v3f behind = is_thing ? albedo_of(&s->materials[at.material], &at) : v3f_grey(1.0f);
        p->guide->albedo = v3f_mul(p->guide->albedo, behind);
        p->looks_through = false;
    }
    bool is_scattered = false;
    if (p->inside >= 0 && !pass_medium(p, at.distance, &is_scattered)) {
        return END_HERE;
    }
    if (is_scattered) {
        return end_unless(survives(p));
    }
    if (!(at.distance < INFINITY)) {
        add_environment(p);
        return END_HERE;
    }
    if (at.material < 0) {
        add_lamp(p, &at);
        return END_HERE;
    }
    path_end end = hit_surface(p, &at);
    return end == END_NOT ? end_unless(survives(p)) : end;
}

// Until it ends or has to walk. False if it has ended.
static bool follow(path* p) {
    for (; p->bounces <= p->s->max_bounces; ++p->bounces) {
        path_end end = bounce(p);
        if (end != END_NOT) {
            return end == END_WALKS;
        }
    }
    return false;
}

void trace_paths(const trace_scene* s, trace_quest* quests, int count) {
    TREACLE_ASSERT(count >= 0 && count <= TRACE_WALKS_MAX);
    TREACLE_ASSERT(s->max_bounces >= 0);
    path paths[TRACE_WALKS_MAX];
    trace_walker walkers[TRACE_WALKS_MAX];
    int waiting[TRACE_WALKS_MAX], wait_count = 0;
    for (int i = 0; i < count; ++i) {
        trace_quest* q = &quests[i];
        paths[i] = (path){.s = s,
                          .ray = q->ray,
                          .r = &q->r,
                          .weight = v3f_grey(1.0f),
                          .inside = -1,
                          .under = -1,
                          .guide = &q->guide};
        if (follow(&paths[i])) {
            waiting[wait_count++] = i;
        }
    }
    while (wait_count > 0) {
        for (int k = 0; k < wait_count; ++k) {
            path* p = &paths[waiting[k]];
            const trace_material* m = &s->materials[p->entry.material];
            walkers[k] = (trace_walker){.m = &m->medium, .from = entry_of(p, &p->entry), .r = p->r};
        }
        trace_walks(walkers, wait_count);
        int still = 0;
        for (int k = 0; k < wait_count; ++k) {
            path* p = &paths[waiting[k]];
            if (walkers[k].is_out && come_out(p, &p->entry, &walkers[k].out) && survives(p)) {
                p->bounces += 1;
                if (follow(p)) {
                    waiting[still++] = waiting[k];
                }
            }
        }
        wait_count = still;
    }
    for (int i = 0; i < count; ++i) {
        quests[i].light = paths[i].sum;
    }
}

// To the next surface, with as many scatterings on the way as there are. False if light is lost.
static bool fly_on(path* p, trace_point* at) {
    const trace_scene* s = p->s;
    bool is_scattered = true;
    for (; is_scattered && p->bounces <= s->max_bounces; ++p->bounces) {
        trace_scene_find(s, &p->ray, s->ground.is_there ? trace_random_one(p->r) : 0.0f, at);
        is_scattered = false;
        if (p->inside >= 0 && !pass_medium(p, at->distance, &is_scattered)) {
            return false;
        }
        if (!survives(p)) {
            return false;
        }
    }
    return !is_scattered && at->distance < INFINITY && at->material >= 0;
}

bool trace_path_fly(const trace_scene* s, trace_flight* f) {
    path p = {.s = s,
              .ray = f->ray,
              .r = &f->r,
              .weight = v3f_grey(1.0f),
              .inside = -1,
              .under = -1,
              .bounces = 1}; // no camera's: nothing is reflected more often than it should
    while (s->materials[f->at.material].kind == TRACE_GLASS) {
        if (!hit_glass(&p, &f->at, &s->materials[f->at.material]) || !fly_on(&p, &f->at)) {
            return false;
        }
    }
    f->ray = p.ray;
    f->weight = p.weight;
    return s->materials[f->at.material].kind != TRACE_METAL;
}

v3f trace_path(const trace_scene* s, trace_ray ray, const trace_random* r) {
    trace_quest quest = {.ray = ray, .r = *r};
    trace_paths(s, &quest, 1);
    return quest.light;
}

// The colour matching functions of the CIE, as sums of lobes [WSS13].
static float wing(float nm, float middle, float left, float right) {
    float t = (nm - middle) * (nm < middle ? left : right);
    return expf(-0.5f * t * t);
}

static v3f matching(float nm) {
    float x = 1.056f * wing(nm, 599.8f, 0.0264f, 0.0323f) +
              0.362f * wing(nm, 442.0f, 0.0624f, 0.0374f) -
              0.065f * wing(nm, 501.1f, 0.0490f, 0.0382f);
    float y =
        0.821f * wing(nm, 568.8f, 0.0213f, 0.0247f) + 0.286f * wing(nm, 530.9f, 0.0613f, 0.0322f);
    float z =
        1.217f * wing(nm, 437.0f, 0.0845f, 0.0278f) + 0.681f * wing(nm, 459.0f, 0.0385f, 0.0725f);
    return v3f_make(x, y, z);
}

v3f trace_black_body(float kelvin) {
    if (!(kelvin > 500.0f)) {
        return v3f_grey(0.0f);
    }
    v3f xyz = v3f_grey(0.0f);
    for (float nm = 380.0f; nm <= 780.0f; nm += 10.0f) {
        // Planck's law over that of 1500 K at 560 nm, to stay in the range of float.
        float x = 560.0f / nm, x5 = x * x * x * x * x;
        float power = x5 * expf(1.4388e7f / (560.0f * 1500.0f) - 1.4388e7f / (nm * kelvin));
        xyz = v3f_madd(xyz, power * 10.0f, matching(nm));
    }
    v3f rgb = v3f_make(3.2406f * xyz.x - 1.5372f * xyz.y - 0.4986f * xyz.z,
                       -0.9689f * xyz.x + 1.8758f * xyz.y + 0.0415f * xyz.z,
                       0.0557f * xyz.x - 0.2040f * xyz.y + 1.0570f * xyz.z);
    const float one = 1.0f / 145.2f; // the luminance of 1500 K in these units
    return v3f_make(trace_max(rgb.x, 0.0f) * one, trace_max(rgb.y, 0.0f) * one,
                    trace_max(rgb.z, 0.0f) * one);
}
