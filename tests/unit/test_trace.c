// The path tracer against what is known: Fresnel's equations, half spaces, lamps, closed rooms.
#include "render/trace_glow.h"
#include "render/trace_image.h"
#include "render/trace_look.h"
#include "render/trace_photons.h"
#include "render/trace_sides.h"

#include "alloc_failure.h"
#include "liquid_frame.h"

#include <unistd.h>

static void test_random_pairs_are_even(void** state) {
    (void)state;
    enum { SIDE = 16, COUNT = SIDE * SIDE };
    for (uint32_t pixel = 0; pixel < 4; ++pixel) {
        int seen[COUNT] = {0};
        for (uint32_t i = 0; i < COUNT; ++i) {
            trace_random r = trace_random_make(3, pixel, i);
            trace_random_pair(&r);
            trace_pair u = trace_random_pair(&r);
            assert_true(u.a >= 0.0f && u.a < 1.0f && u.b >= 0.0f && u.b < 1.0f);
            seen[(int)(u.a * SIDE) * SIDE + (int)(u.b * SIDE)] += 1;
        }
        for (int k = 0; k < COUNT; ++k) {
            assert_int_equal(seen[k], 1); // one sample in every cell: a (0, 2)-sequence
        }
    }
}

static void test_fresnel_is_that_of_the_formula(void** state) {
    (void)state;
    float cos_t;
    assert_close((double)trace_fresnel(1.0f, 1.5f, &cos_t), 0.04, 1e-6);
    assert_close((double)trace_fresnel(1.0f, 1.0f / 1.5f, &cos_t), 0.04, 1e-6);
    assert_close((double)trace_fresnel(0.0f, 1.5f, &cos_t), 1.0, 1e-6);
    // 60 degrees into 1.5: sin t = 0.57735, cos t = 0.81650.
    double s = (0.5 - 1.5 * 0.816497) / (0.5 + 1.5 * 0.816497);
    double p = (1.5 * 0.5 - 0.816497) / (1.5 * 0.5 + 0.816497);
    assert_close((double)trace_fresnel(0.5f, 1.5f, &cos_t), 0.5 * (s * s + p * p), 1e-5);
    assert_close((double)cos_t, 0.816497, 1e-5);
    // Brewster's angle: no reflection of one polarisation; beyond the critical one, all.
    assert_close((double)trace_fresnel(0.5f, 1.0f / 1.5f, &cos_t), 1.0, 1e-6);
    assert_close((double)cos_t, 0.0, 0.0);
}

// Everything in a white room of radiance 1.
typedef struct furnace {
    treacle_context* ctx;
    trace_environment environment;
    trace_scene scene;
    trace_mesh shown;
    treacle_mesh* mesh;
    liquid_frame frame;
} furnace;

static void furnace_begin(furnace* f, int threads, trace_material* material) {
    liquid_round ball = {{8.0, 8.0, 8.0}, 5.0, 0.0};
    treacle_mesh_def def = treacle_mesh_def_default();
    *f = (furnace){.ctx = unit_context(threads)};
    liquid_frame_create(&f->frame, 16, 0.01, 0.0, liquid_ball, &ball);
    assert_int_equal(treacle_mesh_create(f->ctx, &f->frame.frame, &def, &f->mesh), TREACLE_OK);
    assert_int_equal(trace_environment_create(f->ctx, 16, 8, &f->environment), TREACLE_OK);
    for (int i = 0; i < 16 * 8; ++i) {
        f->environment.pixel[i] = v3f_grey(1.0f);
    }
    trace_environment_finish(&f->environment);
    treacle_mesh_view view = treacle_mesh_get_view(f->mesh);
    trace_triangles triangles = {.vertex_count = view.vertex_count,
                                 .triangle_count = view.triangle_count,
                                 .from = view.position,
                                 .triangles = view.triangles};
    assert_int_equal(trace_rays_create(f->ctx, &f->scene.rays), TREACLE_OK);
    assert_int_equal(trace_rays_add(f->scene.rays, &triangles), TREACLE_OK);
    assert_int_equal(trace_rays_commit(f->scene.rays), TREACLE_OK);
    f->scene.mesh_count = 1;
    // The triangles' own normals: interpolated ones send a little light into the surface, where it
    // is lost (0.4 % of this ball, with roughness 0.8).
    f->shown = (trace_mesh){.triangles = view.triangles};
    f->scene.meshes = &f->shown;
    f->scene.material_count = 1;
    f->scene.materials = material;
    f->scene.lights = (trace_lights){.environment = &f->environment};
    f->scene.epsilon = 1e-6f;
    f->scene.max_bounces = 1000;
}

static void furnace_end(furnace* f) {
    trace_rays_destroy(f->scene.rays);
    trace_environment_destroy(&f->environment);
    treacle_mesh_destroy(f->mesh);
    treacle_context_destroy(f->ctx);
    liquid_frame_destroy(&f->frame);
}

// The mean light of paths that hit the ball.
static double furnace_light(const furnace* f, int samples) {
    double sum = 0.0;
    for (int i = 0; i < samples; ++i) {
        trace_random r = trace_random_make(5, (uint32_t)i >> 10, (uint32_t)i & 1023u);
        trace_pair u = trace_random_pair(&r);
        float radius = 0.045f * sqrtf(u.a), phi = 2.0f * TRACE_PI * u.b;
        trace_ray ray = {.origin = {0.08f + radius * cosf(phi), 0.08f + radius * sinf(phi), 1.0f},
                         .direction = {0.0f, 0.0f, -1.0f},
                         .far = INFINITY};
        sum += (double)v3f_mean(trace_path(&f->scene, ray, &r));
    }
    return sum / samples;
}

static void check_furnace(trace_material material, const char* name) {
    furnace f;
    furnace_begin(&f, 1, &material);
    // Rough glass has rare paths of large weight.
    double light = furnace_light(&f, material.kind == TRACE_GLASS ? 1 << 19 : 1 << 17);
    print_message("%s: %.5f\n", name, light);
    assert_close(light, 1.0, 0.005);
    furnace_end(&f);
}

static void test_a_white_furnace_stays_white(void** state) {
    (void)state;
    check_furnace((trace_material){.kind = TRACE_DIFFUSE, .colour = {1.0f, 1.0f, 1.0f}}, "matt");
    static const float rough[] = {0.0f, 0.1f, 0.25f, 0.5f};
    for (int i = 0; i < 4; ++i) {
        trace_material metal = {.kind = TRACE_METAL, .colour = {1.0f, 1.0f, 1.0f}};
        trace_facets_init(&metal.facets, rough[i], 0.0f);
        check_furnace(metal, "metal");
        trace_material glass = {.kind = TRACE_GLASS};
        trace_facets_init(&glass.facets, rough[i], 1.5f);
        trace_medium_init(&glass.medium, v3f_grey(i == 1 ? 30.0f : 0.0f), v3f_grey(0.0f), 1.5f);
        check_furnace(glass, "glass");
    }
    trace_material walk = {.kind = TRACE_WALK};
    trace_facets_init(&walk.facets, 0.2f, 0.0f);
    trace_medium_init(&walk.medium, v3f_grey(60.0f), v3f_grey(0.0f), 1.3f);
    check_furnace(walk, "walk");
}

static void test_absorption_is_that_of_beer(void** state) {
    (void)state;
    // Through the middle of the ball, of 10 cm, without refraction.
    trace_material clear = {.kind = TRACE_GLASS};
    trace_facets_init(&clear.facets, 0.0f, 1.0001f);
    trace_medium_init(&clear.medium, v3f_grey(0.0f), v3f_make(1.0f, 10.0f, 30.0f), 1.0f);
    furnace f;
    furnace_begin(&f, 1, &clear);
    trace_ray ray = {
        .origin = {0.08f, 0.08f, 1.0f}, .direction = {0.0f, 0.0f, -1.0f}, .far = INFINITY};
    trace_random r = trace_random_make(1, 1, 1);
    trace_touch in, out;
    trace_rays_hit(f.scene.rays, &ray, &in);
    trace_ray inside = ray;
    inside.near = in.distance + 1e-4f;
    trace_rays_hit(f.scene.rays, &inside, &out);
    float length = out.distance - in.distance;
    assert_close((double)length, 0.1, 0.004);
    v3f light = trace_path(&f.scene, ray, &r);
    assert_close((double)light.x, exp(-1.0 * (double)length), 2e-3);
    assert_close((double)light.y, exp(-10.0 * (double)length), 2e-3);
    assert_close((double)light.z, exp(-30.0 * (double)length), 2e-3);
    furnace_end(&f);
}

static void test_dipole_sums_to_the_half_space(void** state) {
    (void)state;
    trace_medium m;
    trace_medium_init(&m, v3f_make(2550.0f, 740.0f, 70.0f), v3f_make(1.1f, 32.0f, 970.0f), 1.3f);
    const double total[3] = {(double)m.total.x, (double)m.total.y, (double)m.total.z};
    for (int c = 0; c < 3; ++c) {
        double sum = 0.0, step = 1.02, radius = 1e-7;
        while (radius < 3.0) {
            double next = radius * step, middle = 0.5 * (radius + next);
            sum += 2.0 * (double)TRACE_PI * middle * (next - radius) *
                   (double)trace_dipole_profile(&m, c, (float)middle);
            radius = next;
        }
        assert_close(sum, total[c], 0.005 * total[c]);
    }
    // Milk is white, ketchup's blue is nearly black.
    assert_true(total[0] > 0.85 && total[2] < 0.05);
}

// A slab so large and deep that it is a half space.
static trace_rays* make_slab(treacle_context* ctx, float size) {
    float places[8][3];
    for (int i = 0; i < 8; ++i) {
        places[i][0] = (i & 1) != 0 ? size : -size;
        places[i][1] = (i & 2) != 0 ? 0.0f : -size;
        places[i][2] = (i & 4) != 0 ? size : -size;
    }
    static const int32_t triangles[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5},
                                             {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                             {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
    trace_rays* rays = NULL;
    assert_int_equal(trace_rays_create(ctx, &rays), TREACLE_OK);
    trace_triangles t = {.vertex_count = 8,
                         .triangle_count = 12,
                         .from = &places[0][0],
                         .triangles = &triangles[0][0]};
    assert_int_equal(trace_rays_add(rays, &t), TREACLE_OK);
    assert_int_equal(trace_rays_commit(rays), TREACLE_OK);
    return rays;
}

typedef bool sample_fcn(const trace_medium* m, const trace_entry* from, trace_random* r,
                        trace_exit* out);

static bool walk_sample(const trace_medium* m, const trace_entry* from, trace_random* r,
                        trace_exit* out) {
    trace_walker walker = {.m = m, .from = *from, .r = r};
    trace_walks(&walker, 1);
    *out = walker.out;
    return walker.is_out;
}

static v3f slab_reflectance(const trace_medium* m, sample_fcn* sample, int samples) {
    treacle_context* ctx = unit_context(1);
    trace_rays* rays = make_slab(ctx, 10.0f);
    trace_entry from = {.rays = rays, .normal = {0.0f, 1.0f, 0.0f}, .epsilon = 1e-6f};
    double sum[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < samples; ++i) {
        trace_random r = trace_random_make(9, 0, (uint32_t)i);
        trace_exit out;
        if (sample(m, &from, &r, &out)) {
            assert_close((double)out.normal.y, 1.0, 1e-5);
            sum[0] += (double)out.weight.x;
            sum[1] += (double)out.weight.y;
            sum[2] += (double)out.weight.z;
        }
    }
    trace_rays_destroy(rays);
    unit_context_end(ctx);
    return v3f_make((float)(sum[0] / samples), (float)(sum[1] / samples),
                    (float)(sum[2] / samples));
}

static void test_dipole_samples_reflect_like_a_half_space(void** state) {
    (void)state;
    trace_medium m;
    trace_medium_init(&m, v3f_make(740.0f, 880.0f, 1010.0f), v3f_make(32.0f, 170.0f, 480.0f), 1.3f);
    v3f found = slab_reflectance(&m, trace_dipole_sample, 60000);
    assert_close((double)found.x, (double)m.total.x, 0.015 * (double)m.total.x);
    assert_close((double)found.y, (double)m.total.y, 0.015 * (double)m.total.y);
    assert_close((double)found.z, (double)m.total.z, 0.02 * (double)m.total.z);
}

// Chandrasekhar's H by iteration, and from it the fraction of diffuse light that a half space of
// isotropic scatterers sends back: 1 - 2 sqrt(1 - a) integral of H(mu) mu.
static double half_space_albedo(double a) {
    enum { N = 400 };
    static double h[N];
    for (int i = 0; i < N; ++i) {
        h[i] = 1.0;
    }
    for (int round = 0; round < 500; ++round) {
        for (int i = 0; i < N; ++i) {
            double mu = (i + 0.5) / N, sum = 0.0;
            for (int j = 0; j < N; ++j) {
                double nu = (j + 0.5) / N;
                sum += nu * h[j] / (mu + nu) / N;
            }
            h[i] = 1.0 / (sqrt(1.0 - a) + 0.5 * a * sum);
        }
        if (round > 40 && a < 0.95) {
            break;
        }
    }
    double first = 0.0;
    for (int i = 0; i < N; ++i) {
        first += (i + 0.5) / N * h[i] / N;
    }
    return 1.0 - 2.0 * sqrt(1.0 - a) * first;
}

static void test_walks_reflect_like_a_half_space(void** state) {
    (void)state;
    // Without a skin: exact.
    trace_medium m;
    trace_medium_init(&m, v3f_make(900.0f, 700.0f, 400.0f), v3f_make(100.0f, 300.0f, 600.0f), 1.0f);
    v3f found = slab_reflectance(&m, walk_sample, 60000);
    assert_close((double)found.x, half_space_albedo(0.9), 0.01);
    assert_close((double)found.y, half_space_albedo(0.7), 0.01);
    assert_close((double)found.z, half_space_albedo(0.4), 0.01);
    // With one: as the dipole, which is itself an approximation.
    trace_medium_init(&m, v3f_make(2550.0f, 990.0f, 950.0f), v3f_make(1.1f, 10.0f, 50.0f), 1.3f);
    found = slab_reflectance(&m, walk_sample, 15000);
    print_message("walk %.3f %.3f %.3f, dipole %.3f %.3f %.3f\n", (double)found.x, (double)found.y,
                  (double)found.z, (double)m.total.x, (double)m.total.y, (double)m.total.z);
    assert_close((double)found.x, (double)m.total.x, 0.05);
    assert_close((double)found.y, (double)m.total.y, 0.06);
    assert_close((double)found.z, (double)m.total.z, 0.08);
}

// The mean light of a floor under the furnace's ball, with photons of so many passes or, with 0,
// without any.
static v3f floor_light(furnace* f, int passes, int samples) {
    trace_photons_def def = {.scene = &f->scene, .count = 1 << 15, .radius = 2e-3f, .seed = 3};
    assert_int_equal(trace_photons_create(f->ctx, &def, &f->scene.photons), TREACLE_OK);
    assert_non_null(f->scene.photons);
    trace_photons* photons = f->scene.photons;
    v3f sum = v3f_grey(0.0f);
    for (int i = 0; i < samples; ++i) {
        if (passes > 0 && i % (samples / passes) == 0) {
            trace_photons_send(photons, i / (samples / passes));
        }
        f->scene.photons = passes > 0 ? photons : NULL;
        trace_random r = trace_random_make(7, (uint32_t)i >> 10, (uint32_t)i & 1023u);
        trace_pair u = trace_random_pair(&r);
        float radius = 0.05f * sqrtf(u.a), phi = 2.0f * TRACE_PI * u.b;
        trace_ray ray = {.origin = {0.08f + radius * cosf(phi), 0.001f, 0.08f + radius * sinf(phi)},
                         .direction = {0.0f, -1.0f, 0.0f},
                         .far = INFINITY};
        sum = v3f_madd(sum, 1.0f / (float)samples, trace_path(&f->scene, ray, &r));
    }
    trace_photons_destroy(photons);
    f->scene.photons = NULL;
    return sum;
}

static void test_photons_bring_the_light_that_paths_find(void** state) {
    (void)state;
    trace_material materials[2] = {{.kind = TRACE_GLASS},
                                   {.kind = TRACE_DIFFUSE, .colour = {0.6f, 0.6f, 0.6f}}};
    trace_facets_init(&materials[0].facets, 0.0f, 1.4f);
    trace_medium_init(&materials[0].medium, v3f_grey(5.0f), v3f_make(1.0f, 6.0f, 20.0f), 1.4f);
    furnace f;
    furnace_begin(&f, 1, materials);
    treacle_mesh_view view = treacle_mesh_get_view(f.mesh);
    f.shown.position = view.position;
    f.shown.triangle_count = view.triangle_count;
    f.scene.material_count = 2;
    f.scene.ground = (trace_ground){.is_there = true, .near = 1e3f, .far = 2e3f, .material = 1};
    // A lamp of a sixteenth of the half space, so that paths find it, too.
    for (int i = 0; i < 16 * 8; ++i) {
        f.environment.pixel[i] = v3f_grey(i / 16 == 2 && i % 16 < 2 ? 40.0f : 0.3f);
    }
    trace_environment_finish(&f.environment);
    v3f paths = floor_light(&f, 0, 1 << 18), photons = floor_light(&f, 8, 1 << 15);
    print_message("paths %.4f %.4f %.4f, photons %.4f %.4f %.4f\n", (double)paths.x,
                  (double)paths.y, (double)paths.z, (double)photons.x, (double)photons.y,
                  (double)photons.z);
    assert_close((double)photons.x, (double)paths.x, 0.015 * (double)paths.x);
    assert_close((double)photons.y, (double)paths.y, 0.015 * (double)paths.y);
    assert_close((double)photons.z, (double)paths.z, 0.015 * (double)paths.z);
    furnace_end(&f);
}

// Panes around a box of 16 x 16 x 16 cells of 1 cm: as thick as a cell, a tenth of it inside.
static void test_closed_sides_become_panes(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_frame frame = {.cell = 0.01, .cells = {16, 16, 16}};
    treacle_domain_def domain = {.sides = {{TREACLE_SIDE_SLIP, TREACLE_SIDE_NO_SLIP},
                                           {TREACLE_SIDE_NO_SLIP, TREACLE_SIDE_OPEN},
                                           {TREACLE_SIDE_OPEN, TREACLE_SIDE_SLIP}}};
    surface_mesh m;
    assert_int_equal(trace_sides_create(ctx, &domain, &frame, true, &m), TREACLE_OK);
    assert_int_equal(m.triangle_count, 3 * 6 * 2);
    double thick = 0.011, across_x = thick * 0.16 * 0.17, across_z = thick * 0.16 * 0.158;
    assert_close(surface_mesh_volume(&m), 2.0 * across_x + across_z, 1e-8);
    surface_mesh_destroy(&m);
    assert_int_equal(trace_sides_create(ctx, &domain, &frame, false, &m), TREACLE_OK);
    assert_int_equal(m.triangle_count, 3 * 2);
    assert_close((double)m.normal[0][0], 1.0, 0.0); // inwards
    assert_close((double)m.normal[4][0], -1.0, 0.0);
    surface_mesh_destroy(&m);
    frame.cells[2] = 1; // flat
    assert_int_equal(trace_sides_create(ctx, &domain, &frame, true, &m), TREACLE_OK);
    assert_int_equal(m.triangle_count, 0);
    unit_context_end(ctx);
}

static void test_a_disc_lights_the_floor_as_computed(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    trace_environment dark;
    assert_int_equal(trace_environment_create(ctx, 8, 4, &dark), TREACLE_OK);
    trace_environment_finish(&dark);
    trace_material floor = {.kind = TRACE_DIFFUSE, .colour = {0.5f, 0.5f, 0.5f}};
    treacle_lamp_def lamp_def = treacle_lamp_def_default();
    lamp_def.radius = 0.7;
    lamp_def.strength = 3.0;
    trace_lamp lamp = trace_look_lamp(&lamp_def);
    trace_scene scene = {.material_count = 1,
                         .materials = &floor,
                         .lights = {&dark, 1, &lamp},
                         .ground = {.is_there = true, .near = 1e6f, .far = 2e6f},
                         .epsilon = 1e-5f,
                         .max_bounces = 4};
    assert_int_equal(trace_rays_create(ctx, &scene.rays), TREACLE_OK);
    assert_int_equal(trace_rays_commit(scene.rays), TREACLE_OK);
    double sum = 0.0;
    enum { SAMPLES = 20000 };
    for (int i = 0; i < SAMPLES; ++i) {
        trace_random r = trace_random_make(2, 0, (uint32_t)i);
        trace_ray ray = {
            .origin = {0.6f, 0.8f, 0.0f}, .direction = {-0.6f, -0.8f, 0.0f}, .far = INFINITY};
        sum += (double)trace_path(&scene, ray, &r).x;
    }
    // Irradiance below the middle: pi L R^2 / (R^2 + h^2); radiance: times albedo over pi.
    double expected = 0.5 * 3.0 * 0.49 / (0.49 + 1.0);
    assert_close(sum / SAMPLES, expected, 0.005 * expected);
    trace_rays_destroy(scene.rays);
    trace_environment_destroy(&dark);
    unit_context_end(ctx);
}

// A square of hot liquid over the floor, half of it by far the brighter.
static void test_liquid_that_glows_lights_the_floor_as_computed(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    trace_environment dark;
    assert_int_equal(trace_environment_create(ctx, 8, 4, &dark), TREACLE_OK);
    trace_environment_finish(&dark);
    const trace_material materials[2] = {
        {.kind = TRACE_DIFFUSE, .glows = true, .glow = 2.0f, .texture_size = 1.0f},
        {.kind = TRACE_DIFFUSE, .colour = {0.5f, 0.5f, 0.5f}}};
    static const float place[] = {-0.5f, 1.0f, -0.5f, 0.5f,  1.0f, -0.5f, 0.5f, 1.0f, 0.5f,
                                  -0.5f, 1.0f, 0.5f,  -0.5f, 1.0f, -0.5f, 0.5f, 1.0f, 0.5f};
    static const float kelvin[] = {1400.0f, 1400.0f, 1400.0f, 1000.0f, 1000.0f, 1000.0f};
    static const int32_t corners[] = {0, 1, 2, 4, 5, 3};
    const trace_mesh mesh = {
        .triangles = corners, .triangle_count = 2, .position = place, .temperature = kelvin};
    trace_scene scene = {.mesh_count = 1,
                         .meshes = &mesh,
                         .material_count = 2,
                         .materials = materials,
                         .lights = {&dark, 0, NULL},
                         .ground = {.is_there = true, .near = 1e6f, .far = 2e6f, .material = 1},
                         .epsilon = 1e-5f,
                         .max_bounces = 4};
    for (int i = 0; i <= TRACE_GLOW_STEPS; ++i) {
        scene.glow[i] = trace_black_body(500.0f + 10.0f * (float)i);
    }
    const trace_triangles triangles = {
        .vertex_count = 6, .triangle_count = 2, .from = place, .triangles = corners};
    assert_int_equal(trace_rays_create(ctx, &scene.rays), TREACLE_OK);
    assert_int_equal(trace_rays_add(scene.rays, &triangles), TREACLE_OK);
    assert_int_equal(trace_rays_commit(scene.rays), TREACLE_OK);
    trace_glow glow;
    assert_int_equal(trace_glow_create(ctx, &scene, &glow), TREACLE_OK);
    assert_int_equal(glow.count, 2);
    // Below the middle of a square of side 2 a at the height h the floor gets
    // E = 4 L a/q atan(a/q), q^2 = a^2 + h^2; half of the square is half of it.
    double q = sqrt(0.25 + 1.0),
           light = (double)(trace_black_body(1400.0f).x + trace_black_body(1000.0f).x);
    double expected = 0.5 / 3.14159265358979 * 4.0 * light * 0.5 / q * atan(0.5 / q);
    double spread[2];
    for (int is_known = 0; is_known < 2; ++is_known) {
        enum { SAMPLES = 20000 };
        double sum = 0.0, square = 0.0;
        scene.glowing = is_known != 0 ? &glow : NULL;
        for (int i = 0; i < SAMPLES; ++i) {
            trace_random r = trace_random_make(2, 0, (uint32_t)i);
            trace_ray ray = {
                .origin = {0.6f, 0.8f, 0.0f}, .direction = {-0.6f, -0.8f, 0.0f}, .far = INFINITY};
            double x = (double)trace_path(&scene, ray, &r).x;
            sum += x;
            square += x * x;
        }
        assert_close(sum / SAMPLES, expected, 0.02 * expected);
        spread[is_known] = square / SAMPLES - sum / SAMPLES * (sum / SAMPLES);
    }
    assert_true(spread[1] < 0.1 * spread[0]); // one path does for ten
    trace_glow_destroy(&glow);
    trace_rays_destroy(scene.rays);
    trace_environment_destroy(&dark);
    unit_context_end(ctx);
}

static void test_a_black_body_goes_from_red_to_white(void** state) {
    (void)state;
    v3f cool = trace_black_body(1000.0f), warm = trace_black_body(1500.0f);
    v3f hot = trace_black_body(3000.0f);
    assert_close((double)v3f_luminance(warm), 1.0, 0.1);
    assert_true(v3f_luminance(cool) < 0.02f && v3f_luminance(hot) > 50.0f);
    assert_true(cool.y / cool.x < warm.y / warm.x && warm.y / warm.x < hot.y / hot.x);
    assert_true(hot.x > hot.y && hot.y > hot.z);
}

static treacle_status render(treacle_context* ctx, const liquid_frame* f, treacle_look_kind kind,
                             treacle_picture** out) {
    treacle_render_def def = treacle_render_def_default();
    def.width = 40;
    def.height = 24;
    def.samples = 8;
    def.noise = 0.05;
    def.look.liquid.kind = kind;
    return treacle_render_frame(ctx, &f->frame, &def, out);
}

static size_t picture_bytes(treacle_context* ctx, const treacle_picture* picture,
                            const char* ending, uint8_t* out, size_t capacity) {
    char path[64];
    snprintf(path, sizeof(path), "/tmp/treacle-trace-%d.%s", (int)getpid(), ending);
    assert_int_equal(treacle_picture_write(ctx, picture, path), TREACLE_OK);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(out, 1, capacity, file);
    fclose(file);
    unlink(path);
    return size;
}

// A material of any name looks like its preset, and a spoon, a jar and a tank of it alike: light
// that crosses them is as deep a colour.
static void test_presets_bring_their_look(void** state) {
    (void)state;
    treacle_render_def def = treacle_render_def_default();
    treacle_material_def material = treacle_material_def_default();
    material.name = "cold honey";
    def.material_count = 1;
    def.materials = &material;
    trace_material out;
    trace_look_room room = {.size = 0.1, .depth = 0.02};
    trace_look_material(&def, 0, &room, &out);
    assert_int_equal(out.kind, TRACE_WALK); // nothing says what it looks like
    material.look = TREACLE_LOOK_HONEY;
    for (room.depth = 0.001; room.depth < 10.0; room.depth *= 3.0) {
        trace_look_material(&def, 0, &room, &out);
        assert_int_equal(out.kind, TRACE_GLASS);
        float depth = out.medium.absorb.y * (float)room.depth;
        assert_true(depth > 0.49f && depth < 1.41f);
    }
    room.depth = 0.02; // between the bounds lengths are true: 0.6 of green is left after 1 cm
    trace_look_material(&def, 0, &room, &out);
    assert_float_equal(out.medium.absorb.y, -logf(0.6f) / 0.01f, 0.01f);
    def.look.liquid.kind = TREACLE_LOOK_METAL;
    trace_look_material(&def, 0, &room, &out);
    assert_int_equal(out.kind, TRACE_METAL); // the look of the scene counts first
}

static void test_wax_is_clear_where_it_is_molten(void** state) {
    (void)state;
    treacle_render_def def = treacle_render_def_default();
    treacle_material_def material = treacle_material_def_default();
    def.material_count = 1;
    def.materials = &material;
    trace_material out;
    const trace_look_room room = {.size = 0.1, .depth = 0.02};
    material.look = TREACLE_LOOK_WAX;
    assert_false(trace_look_molten(&def, 0, &room, &out)); // it never melts
    material.solidus = 320.0;
    material.liquidus = 330.0;
    assert_true(trace_look_molten(&def, 0, &room, &out));
    assert_int_equal(out.kind, TRACE_GLASS);
    material.look = TREACLE_LOOK_CHOCOLATE;
    assert_false(trace_look_molten(&def, 0, &room, &out));
}

// Glass in a liquid of its own index is not to be seen; in another it bends light by their ratio.
static void test_glass_meets_the_liquid_around_it(void** state) {
    (void)state;
    trace_facets glass;
    trace_facets_init(&glass, 0.0f, 1.5f);
    trace_random r = trace_random_make(1, 2, 3);
    trace_bounce b;
    trace_meeting at = {.w_o = {0.6f, 0.0f, 0.8f}, .outside = 1.5f};
    for (int i = 0; i < 32; ++i) {
        at.is_inside = i % 2 == 1;
        assert_true(trace_glass_sample(&glass, &at, &r, &b));
        assert_true(b.is_through);
        assert_float_equal(b.direction.x, -0.6f, 1e-6f);
        assert_float_equal(b.direction.z, -0.8f, 1e-6f);
    }
    at.outside = 1.2f;
    at.is_inside = false;
    do {
        assert_true(trace_glass_sample(&glass, &at, &r, &b));
    } while (!b.is_through);
    assert_float_equal(b.direction.x, -0.6f * 1.2f / 1.5f, 1e-6f); // Snell
}

static void test_a_lamp_may_be_hidden_from_the_camera(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_lamp_def def = treacle_lamp_def_default();
    def.target[1] = -1.0; // it hangs at 1 m and shines down
    for (int is_seen = 0; is_seen < 2; ++is_seen) {
        def.seen = is_seen != 0;
        trace_lamp lamp = trace_look_lamp(&def);
        trace_scene s = {.lights = {.lamp_count = 1, .lamps = &lamp}};
        assert_int_equal(trace_rays_create(ctx, &s.rays), TREACLE_OK);
        assert_int_equal(trace_rays_commit(s.rays), TREACLE_OK);
        trace_ray ray = {.direction = {0.0f, 1.0f, 0.0f}, .far = INFINITY, .is_first = true};
        trace_point at;
        trace_scene_find(&s, &ray, 0.5f, &at);
        assert_int_equal(at.distance < INFINITY, is_seen);
        ray.is_first = false;
        trace_scene_find(&s, &ray, 0.5f, &at);
        assert_float_equal(at.distance, 1.0f, 1e-6f);
        trace_rays_destroy(s.rays);
    }
    unit_context_end(ctx);
}

static void test_threads_do_not_change_a_bit(void** state) {
    (void)state;
    static uint8_t a[1 << 18], b[1 << 18];
    liquid_round ring = {{12.3, 8.1, 11.8}, 6.0, 3.0};
    liquid_frame f;
    liquid_frame_create(&f, 24, 0.005, 0.9, liquid_ring, &ring);
    static const treacle_look_kind kinds[] = {TREACLE_LOOK_HONEY, TREACLE_LOOK_WAX,
                                              TREACLE_LOOK_METAL, TREACLE_LOOK_LAVA};
    for (int k = 0; k < 4; ++k) {
        treacle_context *one = unit_context(1), *two = unit_context(2);
        treacle_picture *x = NULL, *y = NULL;
        assert_int_equal(render(one, &f, kinds[k], &x), TREACLE_OK);
        assert_int_equal(render(two, &f, kinds[k], &y), TREACLE_OK);
        size_t size = picture_bytes(one, x, "exr", a, sizeof(a));
        assert_true(size > 1000 && size < sizeof(a));
        assert_int_equal(picture_bytes(two, y, "exr", b, sizeof(b)), size);
        assert_memory_equal(a, b, size);
        treacle_picture_destroy(x);
        treacle_picture_destroy(y);
        unit_context_end(one);
        treacle_context_destroy(two);
    }
    liquid_frame_destroy(&f);
}

static treacle_status render_and_destroy(treacle_context* ctx, void* data) {
    treacle_picture* picture = NULL;
    treacle_status status = render(ctx, data, TREACLE_LOOK_PAINT, &picture);
    treacle_picture_destroy(picture);
    return status;
}

// Ends a picture after some passes.
static bool end_early(double fraction, void* user) {
    int* left = user;
    (void)fraction;
    *left -= 1;
    return *left != 0;
}

static void test_a_picture_that_was_ended_goes_on(void** state) {
    (void)state;
    static uint8_t a[1 << 18], b[1 << 18];
    char keep[64];
    snprintf(keep, sizeof(keep), "/tmp/treacle-trace-%d.part", (int)getpid());
    treacle_context* ctx = unit_context(1);
    liquid_round ring = {{12.3, 8.1, 11.8}, 6.0, 3.0};
    liquid_frame f;
    liquid_frame_create(&f, 24, 0.005, 0.9, liquid_ring, &ring);
    treacle_render_def def = treacle_render_def_default();
    def.width = 40;
    def.height = 24;
    def.samples = 64;
    def.noise = 0.12; // some tiles are quiet before others
    treacle_picture *whole = NULL, *part = NULL;
    assert_int_equal(treacle_render_frame(ctx, &f.frame, &def, &whole), TREACLE_OK);
    double samples = treacle_picture_get_stats(whole).samples;
    assert_true(samples > 16.0 && samples < 64.0);
    int left = 2;
    def.keep = keep;
    def.progress = end_early;
    def.progress_user = &left;
    assert_int_equal(treacle_render_frame(ctx, &f.frame, &def, &part), TREACLE_OK);
    assert_true(treacle_picture_get_stats(part).samples < samples);
    assert_int_equal(access(keep, F_OK), 0);
    treacle_picture_destroy(part);
    assert_int_equal(treacle_render_frame(ctx, &f.frame, &def, &part), TREACLE_OK);
    assert_int_equal(access(keep, F_OK), -1);
    size_t size = picture_bytes(ctx, whole, "exr", a, sizeof(a));
    assert_int_equal(picture_bytes(ctx, part, "exr", b, sizeof(b)), size);
    assert_memory_equal(a, b, size);
    treacle_picture_destroy(whole);
    treacle_picture_destroy(part);
    liquid_frame_destroy(&f);
    unit_context_end(ctx);
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    liquid_round ball = {{4.0, 4.0, 4.0}, 2.0, 0.0};
    liquid_frame f;
    liquid_frame_create(&f, 8, 0.01, 0.5, liquid_ball, &ball);
    ALLOC_FAILURE_CHECK(render_and_destroy, &f);
    liquid_frame_destroy(&f);
}

static void test_wrong_defs_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    liquid_round ball = {{4.0, 4.0, 4.0}, 2.0, 0.0};
    liquid_frame f;
    liquid_frame_create(&f, 8, 0.01, 0.5, liquid_ball, &ball);
    treacle_picture* picture = NULL;
    treacle_render_def def = treacle_render_def_default();
    def.width = 0;
    assert_int_equal(treacle_render_frame(ctx, &f.frame, &def, &picture), TREACLE_ERR_USAGE);
    assert_error_says(ctx, "0 x 540 pixels");
    def = treacle_render_def_default();
    def.look.environment = TREACLE_ENVIRONMENT_FILE;
    def.look.file = "/nowhere/sky.exr";
    assert_int_equal(treacle_render_frame(ctx, &f.frame, &def, &picture), TREACLE_ERR_IO);
    assert_error_says(ctx, "/nowhere/sky.exr");
    def.look.file = "README.md";
    assert_int_equal(treacle_render_frame(ctx, &f.frame, &def, &picture), TREACLE_ERR_FORMAT);
    assert_error_says(ctx, "not an EXR picture");
    assert_null(picture);
    liquid_frame_destroy(&f);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_pairs_are_even),
        cmocka_unit_test(test_fresnel_is_that_of_the_formula),
        cmocka_unit_test(test_a_white_furnace_stays_white),
        cmocka_unit_test(test_absorption_is_that_of_beer),
        cmocka_unit_test(test_dipole_sums_to_the_half_space),
        cmocka_unit_test(test_dipole_samples_reflect_like_a_half_space),
        cmocka_unit_test(test_walks_reflect_like_a_half_space),
        cmocka_unit_test(test_photons_bring_the_light_that_paths_find),
        cmocka_unit_test(test_closed_sides_become_panes),
        cmocka_unit_test(test_a_disc_lights_the_floor_as_computed),
        cmocka_unit_test(test_liquid_that_glows_lights_the_floor_as_computed),
        cmocka_unit_test(test_a_black_body_goes_from_red_to_white),
        cmocka_unit_test(test_presets_bring_their_look),
        cmocka_unit_test(test_wax_is_clear_where_it_is_molten),
        cmocka_unit_test(test_glass_meets_the_liquid_around_it),
        cmocka_unit_test(test_a_lamp_may_be_hidden_from_the_camera),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_a_picture_that_was_ended_goes_on),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_wrong_defs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
