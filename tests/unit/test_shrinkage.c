// What particles that cool or dry lose of their volume [shrink.1, shrink.2].
#include "particle_fixture.h"

#include <math.h>

#include "phys/shrinkage.h"

enum { COUNT = 3 };
static const treacle_material_def materials[2] = {{.shrinkage = {.cooling = 1e-3, .drying = 0.5}},
                                                  {.density = 1000.0}};

// Three particles of two materials.
static particles three(treacle_context* ctx, const grid_domain* domain, uint32_t columns) {
    particles p;
    assert_int_equal(particles_create(ctx, columns | 1u << PARTICLE_REST_SIZE, &p), TREACLE_OK);
    for (int i = 0; i < COUNT; ++i) {
        particle_birth birth = {.id = (uint64_t)i,
                                .volume = 1e-3,
                                .material = i == 2,
                                .temperature = 300.0f,
                                .marker = 0.4f,
                                .place = {{0.1 * (i + 1), 0.1, 0.1}}};
        tile_coord tile;
        particle_ix row = 0;
        particles_locate(domain, birth.place, &tile, birth.position);
        assert_int_equal(particles_append(&p, tile, 1, &row), TREACLE_OK);
        particle_init(&p, domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&p, domain, &stats), TREACLE_OK);
    shrinkage_begin(materials, &p, 0);
    return p;
}

static void test_volume_follows_temperature_and_marker(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 8, 8, 8, 0.1, TREACLE_SIDE_SLIP);
    particles p = three(ctx, &domain, 1u << PARTICLE_TEMPERATURE | 1u << PARTICLE_MARKER);
    double before[COUNT], after[COUNT];
    float size[COUNT], rate[COUNT];
    shrinkage_log_sizes(materials, &p, before);
    for (int i = 0; i < COUNT; ++i) {
        assert_true(fabs(before[i]) < 1e-7); // the exponent of birth is a float
        particles_f32(&p, PARTICLE_TEMPERATURE)[i] = 250.0f;
        particles_f32(&p, PARTICLE_MARKER)[i] = i == 0 ? 0.4f : 0.2f;
    }
    shrinkage_log_sizes(materials, &p, after);
    shrinkage_sizes(&p, after, size);
    shrinkage_rates(&p, before, after, 0.1, rate);
    assert_true(fabs((double)size[0] - exp(-0.05)) < 1e-6);
    assert_true(fabs((double)size[1] - exp(-0.15)) < 1e-6);
    assert_true(fabs((double)rate[1] - (exp(-0.15) - 1.0) / 0.1) < 1e-5);
    assert_true(size[2] == 1.0f && rate[2] == 0.0f); // its material does not shrink
    float volume[COUNT];
    shrinkage_volumes(materials, &p, volume);
    assert_true(fabs((double)volume[1] - 1e-3 * exp(-0.15)) < 1e-9);
    double all = (double)volume[0] + (double)volume[1] + (double)volume[2];
    assert_true(fabs(shrinkage_volume(materials, &p) - all) < 1e-9);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_what_is_not_carried_does_not_count(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, 0.1, TREACLE_SIDE_SLIP);
    particles p = three(ctx, &domain, 1u << PARTICLE_MARKER);
    double log_size[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        particles_f32(&p, PARTICLE_MARKER)[i] = 0.0f;
    }
    shrinkage_log_sizes(materials, &p, log_size);
    assert_true(fabs(log_size[0] + 0.2) < 1e-7 && log_size[2] == 0.0);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

// A cell that a solid takes half of is asked for half.
static void test_source_counts_what_is_open(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, 0.1, TREACLE_SIDE_SLIP);
    const tile_coord at = {{0, 0, 0}};
    tile_map map;
    assert_int_equal(tile_map_create(ctx, &domain, 1, &at, &map), TREACLE_OK);
    static float rate[2 * TILE_CELLS], open[2 * TILE_CELLS], source[2 * TILE_CELLS];
    rate[5] = -2.0f;
    rate[6] = 1.0f;
    open[5] = 0.5f;
    open[6] = 1.0f;
    shrinkage_flow flow = {&domain, &map, rate, open};
    shrinkage_source(&flow, source);
    assert_true(fabsf(source[5] + 0.1f) < 1e-7f && fabsf(source[6] - 0.1f) < 1e-7f);
    assert_true(source[7] == 0.0f && shrinkage_most(&map, source) == fmax(-source[5], source[6]));
    flow.cell_open = NULL;
    shrinkage_source(&flow, source);
    assert_true(fabsf(source[5] + 0.2f) < 1e-7f);
    assert_true(shrinkage_most(&map, source) == -(double)source[5]);
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volume_follows_temperature_and_marker),
        cmocka_unit_test(test_what_is_not_carried_does_not_count),
        cmocka_unit_test(test_source_counts_what_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
