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
        particles_bear(&p, domain, row, &birth);
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
static double volume_share(const int cells[AXES], treacle_side side) {
    enum { COUNT = 500 };
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, cells[0], cells[1], cells[2], 1.0, side);
    particles p = random_store(ctx, &domain, COUNT);
    tile_points points = {p.tile_count, p.tile, p.tile_first, particles_f32(&p, PARTICLE_POSITION)};
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
        assert_float_equal(volume_share(rooms[i], TREACLE_SIDE_SLIP), 1.0, 1e-5);
        assert_float_equal(volume_share(rooms[i], TREACLE_SIDE_OPEN), 1.0, 1e-5);
    }
    assert_float_equal(volume_share((const int[AXES]){16, 32, 16}, TREACLE_SIDE_PERIODIC), 1.0,
                       1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_see_all_volume_beside_walls_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
