#include "render/trace_photons.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "render/trace_path.h"

enum { GRAIN = 256, CORNERS = 8, CELL_BITS = 21 };

// Times the environment's mean: what is brighter is a lamp.
static const float lamp_above = 2.0f;

typedef struct photon {
    v3f place, normal;
    v3f from; // towards where it came from
    v3f flux; // black: there is none
    uint64_t cell;
} photon;

typedef struct target {
    int32_t mesh, triangle;
} target;

struct trace_photons {
    treacle_context* ctx;
    trace_photons_def def;
    float plain; // luminance of the environment that paths find by themselves
    int64_t target_count;
    target* targets;
    double* area; // [target_count + 1], sums
    photon* sent; // [def.count]
    photon* kept; // likewise, by cell
    int64_t bucket_count;
    int32_t* first; // [bucket_count + 1]
    float radius;   // m, of this pass
    int pass;
};

static bool is_clear(const trace_scene* s, const trace_mesh* mesh, int triangle) {
    int added =
        mesh->vertex_material == NULL ? 0 : mesh->vertex_material[mesh->triangles[3 * triangle]];
    added = added <= mesh->added_most ? added : mesh->added_most;
    const trace_material* m = &s->materials[mesh->material + added];
    bool melts = m->molten > 0 && s->materials[m->molten].kind == TRACE_GLASS;
    return m->kind == TRACE_GLASS || melts;
}

static v3f corner(const trace_mesh* mesh, int triangle, int k) {
    return v3f_from(mesh->position + 3 * (int64_t)mesh->triangles[3 * (int64_t)triangle + k]);
}

// Twice the area, along the normal.
static v3f cross_of(const trace_mesh* mesh, int triangle) {
    v3f a = corner(mesh, triangle, 0);
    return v3f_cross(v3f_sub(corner(mesh, triangle, 1), a), v3f_sub(corner(mesh, triangle, 2), a));
}

static int64_t count_targets(const trace_scene* s) {
    int64_t count = 0;
    for (int m = 0; m < s->mesh_count; ++m) {
        for (int64_t t = 0; t < s->meshes[m].triangle_count; ++t) {
            count += is_clear(s, &s->meshes[m], (int)t);
        }
    }
    return count;
}

static void list_targets(trace_photons* p) {
    const trace_scene* s = p->def.scene;
    int64_t n = 0;
    for (int m = 0; m < s->mesh_count; ++m) {
        for (int64_t t = 0; t < s->meshes[m].triangle_count; ++t) {
            if (is_clear(s, &s->meshes[m], (int)t)) {
                p->targets[n] = (target){m, (int32_t)t};
                float area = 0.5f * v3f_length(cross_of(&s->meshes[m], (int)t));
                p->area[n + 1] = p->area[n] + (double)area;
                n += 1;
            }
        }
    }
}

// The luminance above which light of the environment is a lamp's; whether there is any.
static bool find_lamps(trace_photons* p) {
    const trace_environment* e = p->def.scene->lights.environment;
    double sum = 0.0, most = 0.0;
    for (int y = 0; y < e->height; ++y) {
        double height = (double)(e->row_edge[y] - e->row_edge[y + 1]);
        for (int x = 0; x < e->width; ++x) {
            double light = (double)v3f_luminance(e->pixel[y * e->width + x]);
            sum += height * light;
            most = most > light ? most : light;
        }
    }
    p->plain = lamp_above * (float)(sum / (2.0 * e->width));
    return most > (double)p->plain || !v3f_is_black(e->sun_radiance) ||
           p->def.scene->lights.lamp_count > 0;
}

static treacle_status reserve(trace_photons* p, int64_t targets) {
    void* block = NULL;
    size_t count = (size_t)p->def.count;
    TREACLE_TRY(alloc_array(p->ctx, (size_t)targets, sizeof(target), "photons", &block));
    p->targets = block;
    p->target_count = targets;
    TREACLE_TRY(alloc_zero(p->ctx, (size_t)targets + 1, sizeof(double), "photons", &block));
    p->area = block;
    TREACLE_TRY(alloc_array(p->ctx, count, sizeof(photon), "photons", &block));
    p->sent = block;
    TREACLE_TRY(alloc_array(p->ctx, count, sizeof(photon), "photons", &block));
    p->kept = block;
    TREACLE_TRY(
        alloc_zero(p->ctx, (size_t)p->bucket_count + 1, sizeof(int32_t), "photons", &block));
    p->first = block;
    return TREACLE_OK;
}

treacle_status trace_photons_create(treacle_context* ctx, const trace_photons_def* def,
                                    trace_photons** out) {
    TREACLE_ASSERT(def->count > 0 && def->count < 1 << 28 && def->radius > 0.0f);
    *out = NULL;
    int64_t targets = count_targets(def->scene);
    if (targets == 0) {
        return TREACLE_OK;
    }
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(trace_photons), "photons", &block));
    trace_photons* p = block;
    *p = (trace_photons){.ctx = ctx, .def = *def, .bucket_count = 1, .pass = -1};
    while (p->bucket_count < def->count) {
        p->bucket_count *= 2;
    }
    bool has_lamps = find_lamps(p);
    treacle_status status = has_lamps ? reserve(p, targets) : TREACLE_OK;
    if (status != TREACLE_OK || !has_lamps) {
        trace_photons_destroy(p);
        return status;
    }
    list_targets(p);
    *out = p;
    return TREACLE_OK;
}

void trace_photons_destroy(trace_photons* p) {
    if (p == NULL) {
        return;
    }
    size_t count = (size_t)p->def.count, targets = (size_t)p->target_count;
    alloc_free(p->ctx, p->targets, targets * sizeof(target));
    alloc_free(p->ctx, p->area, (targets + 1) * sizeof(double));
    alloc_free(p->ctx, p->sent, count * sizeof(photon));
    alloc_free(p->ctx, p->kept, count * sizeof(photon));
    alloc_free(p->ctx, p->first, ((size_t)p->bucket_count + 1) * sizeof(int32_t));
    alloc_free(p->ctx, p, sizeof(*p));
}

v3f trace_photons_rest(const trace_photons* p, v3f radiance) {
    float light = v3f_luminance(radiance);
    return light > p->plain ? v3f_scale(p->plain / light, radiance) : radiance;
}

static const target* choose_target(const trace_photons* p, float u) {
    double wanted = (double)u * p->area[p->target_count];
    int64_t low = 0, high = p->target_count;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        bool is_above = p->area[middle] <= wanted;
        low = is_above ? middle : low;
        high = is_above ? high : middle;
    }
    return &p->targets[low];
}

// A place on the glass, as if a ray had met it.
static void touch_target(const trace_photons* p, trace_random* r, trace_point* out) {
    const trace_scene* s = p->def.scene;
    const target* t = choose_target(p, trace_random_one(r));
    const trace_mesh* mesh = &s->meshes[t->mesh];
    trace_pair u = trace_random_pair(r);
    float root = sqrtf(u.a), b = root * (1.0f - u.b), c = root * u.b;
    v3f a = v3f_scale(1.0f - b - c, corner(mesh, t->triangle, 0));
    a = v3f_madd(a, b, corner(mesh, t->triangle, 1));
    *out = (trace_point){.place = v3f_madd(a, c, corner(mesh, t->triangle, 2))};
    trace_touch touch = {.normal = v3f_normalise(cross_of(mesh, t->triangle)),
                         .u = b,
                         .v = c,
                         .mesh = t->mesh,
                         .triangle = t->triangle};
    trace_scene_look_up(s, &touch, out);
}

// What of a light is for photons, at a place of the glass that it shines on.
static v3f arriving(const trace_photons* p, const trace_point* at, trace_random* r, v3f* to) {
    const trace_scene* s = p->def.scene;
    trace_light_sample light;
    if (!trace_lights_sample(&s->lights, at->place, r, &light)) {
        return v3f_grey(0.0f);
    }
    *to = light.direction;
    float cosine = v3f_dot(light.direction, at->normal);
    v3f radiance = light.is_sky ? v3f_sub(light.radiance, trace_photons_rest(p, light.radiance))
                                : light.radiance;
    if (!(cosine > 0.0f) || v3f_is_black(radiance)) {
        return v3f_grey(0.0f);
    }
    trace_ray shadow = {.origin = v3f_madd(at->place, s->epsilon, at->normal),
                        .direction = light.direction,
                        .far = light.distance < INFINITY ? light.distance * 0.9999f : INFINITY,
                        .time = 0.5f};
    float scale = trace_scene_visibility(s, &shadow) * cosine / light.pdf;
    return v3f_scale(scale * (float)p->area[p->target_count], radiance);
}

static uint64_t cell_of(v3f place, float side, const int step[3]) {
    const float x[3] = {place.x, place.y, place.z};
    uint64_t out = 0;
    for (int k = 0; k < 3; ++k) {
        int64_t i = (int64_t)floorf(x[k] / side) + step[k];
        out = out << CELL_BITS | ((uint64_t)i & ((1u << CELL_BITS) - 1u));
    }
    return out;
}

static int64_t bucket_of(const trace_photons* p, uint64_t cell) {
    uint32_t h = trace_hash((uint32_t)cell ^ trace_hash((uint32_t)(cell >> 32)));
    return (int64_t)(h & (uint32_t)(p->bucket_count - 1));
}

static void send_one(trace_photons* p, int64_t i) {
    const trace_scene* s = p->def.scene;
    static const int here[3] = {0, 0, 0};
    // All passes together are one sequence: they are spread evenly among each other.
    trace_flight f = {
        .r = trace_random_make(p->def.seed ^ 0x70686f74u, 0u,
                               (uint32_t)p->pass * (uint32_t)p->def.count + (uint32_t)i)};
    v3f to = v3f_grey(0.0f);
    p->sent[i].flux = v3f_grey(0.0f);
    touch_target(p, &f.r, &f.at);
    v3f flux = arriving(p, &f.at, &f.r, &to);
    if (v3f_is_black(flux) || s->materials[f.at.material].kind != TRACE_GLASS) {
        return;
    }
    f.ray = (trace_ray){.direction = v3f_negate(to), .time = 0.5f};
    if (trace_path_fly(s, &f)) {
        bool is_behind = v3f_dot(f.ray.direction, f.at.normal) > 0.0f;
        p->sent[i] = (photon){.place = f.at.place,
                              .normal = is_behind ? v3f_negate(f.at.normal) : f.at.normal,
                              .from = v3f_negate(f.ray.direction),
                              .flux = v3f_mul(flux, f.weight),
                              .cell = cell_of(f.at.place, 2.0f * p->radius, here)};
    }
}

static void send_some(void* data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        send_one(data, i);
    }
}

// By buckets, and within one as they were sent: the sums do not depend on threads.
static void sort_photons(trace_photons* p) {
    memset(p->first, 0, ((size_t)p->bucket_count + 1) * sizeof(int32_t));
    for (int64_t i = 0; i < p->def.count; ++i) {
        if (!v3f_is_black(p->sent[i].flux)) {
            p->first[bucket_of(p, p->sent[i].cell) + 1] += 1;
        }
    }
    for (int64_t b = 0; b < p->bucket_count; ++b) {
        p->first[b + 1] += p->first[b];
    }
    for (int64_t i = p->def.count - 1; i >= 0; --i) { // from behind: `next` ends at the first
        if (!v3f_is_black(p->sent[i].flux)) {
            int32_t* next = &p->first[bucket_of(p, p->sent[i].cell) + 1];
            *next -= 1;
            p->kept[*next] = p->sent[i];
        }
    }
    // Every `next` is now where its bucket begins, one place further on.
    int64_t total = 0;
    for (int64_t i = 0; i < p->def.count; ++i) {
        total += !v3f_is_black(p->sent[i].flux);
    }
    memmove(p->first, p->first + 1, (size_t)p->bucket_count * sizeof(int32_t));
    p->first[p->bucket_count] = (int32_t)total;
}

void trace_photons_send(trace_photons* p, int pass) {
    TREACLE_ASSERT(pass >= 0);
    double square = (double)p->def.radius * (double)p->def.radius;
    for (int i = 1; i <= pass; ++i) {
        square *= (i + 2.0 / 3.0) / (i + 1.0);
    }
    p->radius = (float)sqrt(square);
    p->pass = pass;
    parallel_for(p->ctx, p->def.count, GRAIN, send_some, p);
    sort_photons(p);
}

v3f trace_photons_gather(const trace_photons* p, const trace_gathering* at) {
    const float side = 2.0f * p->radius, square = p->radius * p->radius;
    // The lower corner of the eight cells that the ball of that radius may reach into.
    v3f low = v3f_sub(at->place, v3f_grey(p->radius));
    v3f sum = v3f_grey(0.0f);
    for (int c = 0; c < CORNERS; ++c) {
        const int step[3] = {c & 1, c >> 1 & 1, c >> 2};
        uint64_t cell = cell_of(low, side, step);
        int64_t bucket = bucket_of(p, cell);
        for (int32_t i = p->first[bucket]; i < p->first[bucket + 1]; ++i) {
            const photon* q = &p->kept[i];
            v3f away = v3f_sub(q->place, at->place);
            float along = v3f_dot(away, at->normal), d2 = v3f_dot(away, away);
            bool is_near = q->cell == cell && d2 < square && along * along < 0.1f * square &&
                           v3f_dot(q->normal, at->normal) > 0.7f;
            if (is_near) {
                float kernel = 1.0f - d2 / square;
                sum = v3f_madd(sum, kernel, v3f_mul(q->flux, at->value(at->user, q->from)));
            }
        }
    }
    float scale = 2.0f / (TRACE_PI * square * (float)p->def.count);
    return v3f_scale(scale, sum);
}
