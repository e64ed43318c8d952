// Surfaces and pictures: triangles a second, and rays a second against Embree alone.
//
// `mesh`: balls of growing numbers of particles; a ratio of 1 is a cost that does not grow.
// `render`: the path tracer's main loop on a ball of honey, and then the very rays that it traced,
// recorded, through Embree alone on one thread: what shading costs on top. Then the error of
// pictures at equal time, against Cycles where Blender is installed.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/check.h"
#include "bench_cycles.h"
#include "benches.h"
#include "math/hash_random.h"
#include "render/trace_image.h"
#include "render/trace_look.h"

enum { SIZES = 3, RAYS_MAX = 1 << 22, PIXELS = 96, SAMPLES = 16, TURNS = 5 };

// A ball of liquid in the middle of side^3 cells.
typedef struct ball_frame {
    treacle_frame frame;
    treacle_array arrays[5];
    int32_t tile[3];
    int64_t first[2];
    float* position;
    float* velocity;
    float* volume;
    int64_t count;
} ball_frame;

static void add_array(ball_frame* f, const char* name, treacle_type type, int components,
                      int64_t count, const void* data) {
    treacle_array* a = &f->arrays[f->frame.array_count++];
    *a = (treacle_array){.type = type, .components = components, .count = count, .data = data};
    snprintf(a->name, sizeof(a->name), "%s", name);
}

static bool make_ball(ball_frame* f, int side) {
    int64_t width = 2 * (int64_t)side, most = width * width * width;
    double radius = 0.45 * side, middle = 0.5 * side;
    *f = (ball_frame){.frame = {.kind = TREACLE_FRAME_PICTURE, .number = 1, .fps = 24.0}};
    f->position = malloc((size_t)most * 3 * sizeof(float));
    f->velocity = calloc((size_t)most * 3, sizeof(float));
    f->volume = malloc((size_t)most * sizeof(float));
    if (f->position == NULL || f->velocity == NULL || f->volume == NULL) {
        return false;
    }
    double cell = 0.1 / side;
    for (int64_t i = 0; i < most; ++i) {
        const int64_t at[3] = {i % width, i / width % width, i / (width * width)};
        double square = 0.0, x[3];
        for (int k = 0; k < 3; ++k) {
            double jitter = hash_random_f64((uint64_t)k, (uint64_t)i, RANDOM_TEST) - 0.5;
            x[k] = 0.5 * ((double)at[k] + 0.5 + 0.8 * jitter);
            square += (x[k] - middle) * (x[k] - middle);
        }
        if (square < radius * radius) {
            for (int k = 0; k < 3; ++k) {
                f->position[3 * f->count + k] = (float)x[k];
            }
            f->volume[f->count++] = (float)(cell * cell * cell / 8.0);
        }
    }
    f->first[1] = f->count;
    f->frame.cell = cell;
    for (int k = 0; k < 3; ++k) {
        f->frame.cells[k] = side;
    }
    f->frame.arrays = f->arrays;
    add_array(f, "tile_coord", TREACLE_TYPE_I32, 3, 1, f->tile);
    add_array(f, "tile_first", TREACLE_TYPE_I64, 1, 2, f->first);
    add_array(f, "position", TREACLE_TYPE_F32, 3, f->count, f->position);
    add_array(f, "velocity", TREACLE_TYPE_F32, 3, f->count, f->velocity);
    add_array(f, "volume", TREACLE_TYPE_F32, 1, f->count, f->volume);
    return true;
}

static void free_ball(ball_frame* f) {
    free(f->position);
    free(f->velocity);
    free(f->volume);
}

typedef struct mesh_work {
    treacle_context* ctx;
    const ball_frame* frame;
    int64_t triangles;
    double cpu; // s of all threads, the least so far
} mesh_work;

static bool do_mesh(void* data) {
    mesh_work* w = data;
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = NULL;
    clock_t start = clock();
    bool is_done = treacle_mesh_create(w->ctx, &w->frame->frame, &def, &mesh) == TREACLE_OK;
    w->triangles = is_done ? treacle_mesh_get_view(mesh).triangle_count : 0;
    treacle_mesh_destroy(mesh);
    w->cpu = fmin(w->cpu, (double)(clock() - start) / CLOCKS_PER_SEC);
    return is_done;
}

treacle_status bench_mesh(bench* b) {
    static const int sides[SIZES] = {24, 48, 96}, rounds[SIZES] = {3, 3, 1};
    double before = 0.0;
    for (int i = 0; i < SIZES; ++i) {
        ball_frame f;
        if (!make_ball(&f, sides[i])) {
            free_ball(&f);
            return TREACLE_ERR_MEMORY;
        }
        mesh_work work = {b->ctx, &f, 0, INFINITY};
        double seconds = bench_median(rounds[i], do_mesh, &work),
               each = 1e9 * seconds / (double)f.count;
        char name[64], against[64];
        bench_text(name, sizeof(name), "ball of %lld particles", (long long)f.count);
        bench_text(against, sizeof(against), "a smaller ball, %.3g", before);
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "surface",
                                     .value = (double)work.triangles / seconds * 1e-6,
                                     .unit = "Mtri/s"});
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "surface",
                                     .value = each,
                                     .unit = "ns/part",
                                     .yardstick = i == 0 ? NULL : against,
                                     .ratio = before / each});
        double cpu = 1e9 * work.cpu / (double)f.count;
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "CPU of all threads",
                                     .value = cpu,
                                     .unit = "ns/part",
                                     .yardstick = "what is asked for, 4000",
                                     .ratio = 4000.0 / cpu});
        before = each;
        free_ball(&f);
    }
    return TREACLE_OK;
}

// Rays as they were traced, and whether anything or the nearest was asked for.
typedef struct ray_record {
    trace_ray* rays;
    uint8_t* is_shadow;
    int64_t count;
    int64_t seen; // with those that there was no room for
} ray_record;

static void record_ray(void* user, const trace_ray* ray, bool is_shadow) {
    ray_record* r = user;
    r->seen += 1;
    if (r->count < RAYS_MAX) {
        r->rays[r->count] = *ray;
        r->is_shadow[r->count++] = is_shadow;
    }
}

typedef struct render_work {
    trace_scene scene;
    trace_mesh mesh;
    trace_environment environment;
    trace_material materials[2];
    trace_camera camera;
    ray_record record;
    int64_t checksum;
    int rows; // of the picture, from its middle on
} render_work;

// The main loop without threads: as one worker does it.
static bool do_paths(void* data) {
    render_work* w = data;
    v3f sum = v3f_grey(0.0f);
    trace_quest quests[TRACE_WALKS_MAX];
    for (int i = 0; i < w->rows * PIXELS * SAMPLES; ++i) {
        int first = (PIXELS - w->rows) / 2 * PIXELS;
        int pixel = first + i / SAMPLES, at = i % TRACE_WALKS_MAX;
        trace_random r = trace_random_make(1, (uint32_t)pixel, (uint32_t)(i % SAMPLES));
        quests[at].ray = trace_camera_ray(&w->camera, pixel % PIXELS, pixel / PIXELS, &r);
        quests[at].r = r;
        if (at == TRACE_WALKS_MAX - 1) {
            trace_paths(&w->scene, quests, TRACE_WALKS_MAX);
            sum = v3f_add(sum, quests[at].light);
        }
    }
    return isfinite(sum.x);
}

static bool do_rays(void* data) {
    render_work* w = data;
    for (int64_t i = 0; i < w->record.count; ++i) {
        if (w->record.is_shadow[i] != 0) {
            w->checksum += trace_rays_blocked(w->scene.rays, &w->record.rays[i]);
        } else {
            trace_touch touch;
            trace_rays_hit(w->scene.rays, &w->record.rays[i], &touch);
            w->checksum += touch.triangle;
        }
    }
    return true;
}

static double cpu_seconds(bool (*work)(void* data), void* data) {
    struct timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    work(data);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Medians of the processor's time for both, which take turns: whatever else the machine does then
// disturbs both alike.
static void measure_in_turn(render_work* w, double* paths, double* rays) {
    double times[2][TURNS];
    for (int i = 0; i < TURNS; ++i) {
        times[0][i] = cpu_seconds(do_paths, w);
        times[1][i] = cpu_seconds(do_rays, w);
    }
    qsort(times[0], TURNS, sizeof(double), compare);
    qsort(times[1], TURNS, sizeof(double), compare);
    *paths = times[0][TURNS / 2];
    *rays = times[1][TURNS / 2];
}

static treacle_status set_scene(bench* b, const treacle_mesh_view* view, treacle_look_kind kind,
                                render_work* w) {
    treacle_render_def def = treacle_render_def_default();
    def.look.liquid.kind = kind;
    const trace_look_room room = {.size = 0.2, .depth = 0.05};
    trace_look_material(&def, 0, &room, &w->materials[0]);
    trace_look_ground(&def.look, 0.2, &w->materials[1]);
    TREACLE_TRY(trace_look_environment(b->ctx, &def.look, &w->environment));
    trace_environment_finish(&w->environment);
    w->scene.mesh_count = 1;
    w->mesh = (trace_mesh){.triangles = view->triangles, .normal = view->normal};
    w->scene.meshes = &w->mesh;
    w->scene.materials = w->materials;
    w->scene.material_count = 2;
    w->scene.lights = (trace_lights){.environment = &w->environment};
    w->scene.ground = (trace_ground){
        .is_there = true, .centre = {0.05f, 0.0f, 0.05f}, .near = 0.3f, .far = 1.0f, .material = 1};
    w->scene.epsilon = 1e-6f;
    w->scene.max_bounces = 32;
    w->camera = (trace_camera){.width = PIXELS, .height = PIXELS};
    trace_camera_aim(&w->camera, v3f_make(0.15f, 0.15f, 0.35f), v3f_make(0.05f, 0.05f, 0.05f),
                     0.35f);
    trace_triangles triangles = {.vertex_count = view->vertex_count,
                                 .triangle_count = view->triangle_count,
                                 .from = view->position,
                                 .triangles = view->triangles};
    TREACLE_TRY(trace_rays_create(b->ctx, &w->scene.rays));
    TREACLE_TRY(trace_rays_add(w->scene.rays, &triangles));
    return trace_rays_commit(w->scene.rays);
}

static treacle_status measure_look(bench* b, const treacle_mesh_view* view, treacle_look_kind kind,
                                   render_work* w) {
    TREACLE_TRY(set_scene(b, view, kind, w));
    // As many rows of the picture as there is room for their rays.
    w->rows = PIXELS;
    do {
        w->record.count = w->record.seen = 0;
        trace_rays_listen(w->scene.rays, record_ray, &w->record);
        do_paths(w);
        trace_rays_listen(w->scene.rays, NULL, NULL);
        w->rows /= 2;
    } while (w->record.seen > w->record.count);
    w->rows *= 2;
    double paths = 0.0, rays = 0.0;
    measure_in_turn(w, &paths, &rays);
    double count = (double)w->record.count;
    char against[64];
    bench_text(against, sizeof(against), "Embree alone, %.3g Mrays/s", 1e-6 * count / rays);
    bench_report(b, &(bench_row){.case_name = treacle_look_name(kind),
                                 .quantity = "main loop, 1 thread",
                                 .value = 1e-6 * count / paths,
                                 .unit = "Mrays/s",
                                 .yardstick = against,
                                 .ratio = rays / paths});
    return TREACLE_OK;
}

static treacle_status measure_looks(bench* b, const ball_frame* f, render_work* w) {
    static const treacle_look_kind kinds[] = {TREACLE_LOOK_PAINT, TREACLE_LOOK_HONEY,
                                              TREACLE_LOOK_WAX};
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = NULL;
    TREACLE_TRY(treacle_mesh_create(b->ctx, &f->frame, &def, &mesh));
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < 3 && status == TREACLE_OK; ++i) {
        status = measure_look(b, &view, kinds[i], w);
        trace_rays_destroy(w->scene.rays);
        trace_environment_destroy(&w->environment);
        w->scene.rays = NULL;
    }
    treacle_mesh_destroy(mesh);
    return status;
}

treacle_status bench_render(bench* b) {
    ball_frame f;
    render_work* w = calloc(1, sizeof(*w));
    trace_ray* rays = malloc(RAYS_MAX * sizeof(trace_ray));
    uint8_t* shadows = malloc(RAYS_MAX);
    treacle_status status = TREACLE_ERR_MEMORY;
    if (make_ball(&f, 64) && w != NULL && rays != NULL && shadows != NULL) {
        w->record = (ray_record){.rays = rays, .is_shadow = shadows};
        status = measure_looks(b, &f, w);
    }
    if (status == TREACLE_OK) {
        status = bench_cycles(b, &f.frame);
    }
    free(w);
    free(rays);
    free(shadows);
    free_ball(&f);
    return status;
}
