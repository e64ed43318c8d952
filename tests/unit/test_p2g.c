// What particles give to the whole grid; the kernels of one tile are in test_transfer.c.
#include "particle_fixture.h"

#include "grid/tile_band.h"
#include "phys/p2g.h"

// Particles at random places of the domain, many of them at its sides.
static particles random_store(treacle_context* ctx, const grid_domain* domain, int count) {
    particles p;
    assert_int_equal(particles_create(ctx, 0, &p), TREACLE_OK);
    for (int i = 0; i < count; ++i) {
        particle_birth birth = {.id = (uint64_t)i, .volume = 0.5 + i % 3};
        for (int a = 0; a < AXES; ++a) {
            double r = hash_random_f64(1, (uint64_t)(AXES * i + a), RANDOM_TEST) * 1.2 - 0.1;
            r = fmin(fmax(r, 0.0), 0.9999);
            birth.place.at[a] = domain->origin[a] + r * domain->h * domain->cells[a];
        }
        tile_coord tile;
        particles_locate(domain, birth.place, &tile, birth.position);
        particle_ix row = 0;
        assert_int_equal(particles_append(&p, tile, 1, &row), TREACLE_OK);
        particle_init(&p, domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&p, domain, &stats), TREACLE_OK);
    assert_int_equal(p.count, count);
    return p;
}

static float* ones(treacle_context* ctx, size_t count) {
    void* block = NULL;
    assert_int_equal(alloc_array(ctx, count, sizeof(float), "test", &block), TREACLE_OK);
    for (size_t i = 0; i < count; ++i) {
        ((float*)block)[i] = 1.0f;
    }
    return block;
}

// The volume that all cells see, over that of all particles.
static double volume_fraction(const int cells[AXES], treacle_side side) {
    enum { COUNT = 500 };
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, cells[0], cells[1], cells[2], 1.0, side);
    particles p = random_store(ctx, &domain, COUNT);
    tile_points points = particles_points(&p);
    tile_map map;
    assert_int_equal(tile_band_create(ctx, &domain, &points, 4, &map), TREACLE_OK);
    size_t values = ((size_t)map.count + 1) * TILE_CELLS;
    float *value = ones(ctx, COUNT), *mean = ones(ctx, values), *volume = ones(ctx, values);
    p2g_params params = {
        .domain = &domain, .map = &map, .from = &p, .kernel = TREACLE_KERNEL_QUADRATIC};
    assert_int_equal(p2g_scalar(&params, value, mean, volume), TREACLE_OK);
    double sum = 0.0, whole = 0.0;
    for (size_t i = 0; i < values - TILE_CELLS; ++i) {
        sum += (double)volume[i];
        assert_true(volume[i] == 0.0f || fabsf(mean[i] - 1.0f) < 1e-5f);
    }
    for (int i = 0; i < COUNT; ++i) {
        whole += (double)particles_f32(&p, PARTICLE_VOLUME)[i];
    }
    alloc_free(ctx, value, COUNT * sizeof(float));
    alloc_free(ctx, mean, values * sizeof(float));
    alloc_free(ctx, volume, values * sizeof(float));
    tile_map_destroy(&map);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
    return sum / whole;
}

static void test_cells_see_all_volume_beside_walls_too(void** state) {
    (void)state;
    const int rooms[][AXES] = {{16, 8, 24}, {5, 9, 3}, {2, 17, 30}, {13, 1, 7}, {1, 16, 9}};
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); ++i) {
        assert_float_equal(volume_fraction(rooms[i], TREACLE_SIDE_SLIP), 1.0, 1e-5);
        assert_float_equal(volume_fraction(rooms[i], TREACLE_SIDE_OPEN), 1.0, 1e-5);
    }
    assert_float_equal(volume_fraction((const int[AXES]){16, 32, 16}, TREACLE_SIDE_PERIODIC), 1.0,
                       1e-5);
}

// Velocity on the faces that `count` particles at x, y, z (cells) give, in a slip room.
typedef struct given_faces {
    treacle_context* ctx;
    tile_map map;
    size_t values;
    float *u[AXES], *mass[AXES];
} given_faces;

static given_faces give(const int cells[AXES], treacle_kernel kernel, int count, double (*x)[AXES],
                        double (*v)[AXES]) {
    given_faces out = {.ctx = make_context(1)};
    grid_domain domain = make_domain(out.ctx, cells[0], cells[1], cells[2], 1.0, TREACLE_SIDE_SLIP);
    particles p;
    assert_int_equal(particles_create(out.ctx, 0, &p), TREACLE_OK);
    for (int i = 0; i < count; ++i) {
        particle_birth birth = {.id = (uint64_t)i, .volume = 1.0};
        for (int a = 0; a < AXES; ++a) {
            birth.place.at[a] = domain.origin[a] + x[i][a];
            birth.velocity.at[a] = v[i][a];
        }
        tile_coord tile;
        particle_ix row = 0;
        particles_locate(&domain, birth.place, &tile, birth.position);
        assert_int_equal(particles_append(&p, tile, 1, &row), TREACLE_OK);
        particle_init(&p, &domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
    tile_points points = particles_points(&p);
    assert_int_equal(tile_band_create(out.ctx, &domain, &points, 4, &out.map), TREACLE_OK);
    out.values = ((size_t)out.map.count + 1) * TILE_CELLS;
    for (int a = 0; a < AXES; ++a) {
        out.u[a] = ones(out.ctx, out.values);
        out.mass[a] = ones(out.ctx, out.values);
    }
    p2g_params params = {.domain = &domain,
                         .map = &out.map,
                         .from = &p,
                         .kernel = kernel,
                         .reference = {0.3f, -0.2f, 0.1f}};
    assert_int_equal(p2g_velocity(&params, out.u, out.mass), TREACLE_OK);
    particles_destroy(&p);
    return out;
}

static void give_end(given_faces* g) {
    for (int a = 0; a < AXES; ++a) {
        alloc_free(g->ctx, g->u[a], g->values * sizeof(float));
        alloc_free(g->ctx, g->mass[a], g->values * sizeof(float));
    }
    tile_map_destroy(&g->map);
    treacle_context_destroy(g->ctx);
}

static size_t face_at(const given_faces* g, int x, int y, int z) {
    tile_ix t = tile_map_find(&g->map, (tile_coord){{x / 8, y / 8, z / 8}});
    assert_true(t < g->map.count);
    return (size_t)t * TILE_CELLS + (size_t)((z % 8 * 8 + y % 8) * 8 + x % 8);
}

// A room and its mirror image behind the low x wall are a room twice as long without that wall.
static void test_walls_are_mirrors_to_velocity(void** state) {
    (void)state;
    enum { COUNT = 600, N = 8 };
    static double x[2 * COUNT][AXES], v[2 * COUNT][AXES];
    for (int i = 0; i < COUNT; ++i) {
        for (int a = 0; a < AXES; ++a) {
            uint64_t key = (uint64_t)(AXES * i + a);
            x[i][a] = 0.01 + (N - 0.02) * hash_random_f64(2, key, RANDOM_TEST);
            v[i][a] = hash_random_f64(3, key, RANDOM_TEST) - 0.5;
            x[COUNT + i][a] = a == 0 ? N - x[i][a] : x[i][a];
            v[COUNT + i][a] = a == 0 ? -v[i][a] : v[i][a];
        }
    }
    for (int kernel = TREACLE_KERNEL_LINEAR; kernel <= TREACLE_KERNEL_WIDE; ++kernel) {
        given_faces room = give((const int[AXES]){N, N, N}, (treacle_kernel)kernel, COUNT, x, v);
        static double moved[2 * COUNT][AXES];
        memcpy(moved, x, sizeof(moved));
        for (int i = 0; i < COUNT; ++i) {
            moved[i][0] += N;
        }
        given_faces both =
            give((const int[AXES]){2 * N, N, N}, (treacle_kernel)kernel, 2 * COUNT, moved, v);
        for (int a = 0; a < AXES; ++a) {
            for (int i = 0; i < N * N * N; ++i) {
                int at[AXES] = {i % N, i / N % N, i / N / N};
                if (a == 0 && at[0] == 0) {
                    continue; // on the wall itself, where the flow makes it zero
                }
                size_t one = face_at(&room, at[0], at[1], at[2]);
                size_t other = face_at(&both, at[0] + N, at[1], at[2]);
                assert_float_equal(room.u[a][one], both.u[a][other], 2e-6);
                assert_float_equal(room.mass[a][one], both.mass[a][other], 2e-5);
            }
        }
        give_end(&room);
        give_end(&both);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_see_all_volume_beside_walls_too),
        cmocka_unit_test(test_walls_are_mirrors_to_velocity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
