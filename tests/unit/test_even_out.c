// What the grid does not see of particles in a cell, and how fast that goes [heat.9].
#include "particle_fixture.h"

#include "grid/tile_band.h"
#include "phys/even_out.h"

enum { CELLS = 8, PER_CELL = 8 };
static const double width = 0.25; // of a cell, m

typedef struct cloud {
    treacle_context* ctx;
    grid_domain domain;
    particles p;
    tile_map map;
    arena scratch;
} cloud;

// A full box of evenly spread particles.
static cloud full_box(void) {
    cloud c = {.ctx = make_context(2)};
    c.domain = make_domain(c.ctx, CELLS, CELLS, CELLS, width, TREACLE_SIDE_SLIP);
    uint32_t columns = 1u << PARTICLE_TEMPERATURE;
    assert_int_equal(particles_create(c.ctx, columns, &c.p), TREACLE_OK);
    for (int i = 0; i < CELLS * CELLS * CELLS * PER_CELL; ++i) {
        int cell = i / PER_CELL;
        const int at[AXES] = {cell % CELLS, cell / CELLS % CELLS, cell / CELLS / CELLS};
        double h = width;
        particle_birth birth = {.id = (uint64_t)i, .volume = h * h * h / PER_CELL};
        for (int a = 0; a < AXES; ++a) {
            birth.place.at[a] = h * (at[a] + ((i >> a & 1) != 0 ? 0.75 : 0.25));
        }
        tile_coord tile;
        particle_ix row = 0;
        particles_locate(&c.domain, birth.place, &tile, birth.position);
        assert_int_equal(particles_append(&c.p, tile, 1, &row), TREACLE_OK);
        particle_init(&c.p, &c.domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&c.p, &c.domain, &stats), TREACLE_OK);
    tile_points points = particles_points(&c.p);
    assert_int_equal(tile_band_create(c.ctx, &c.domain, &points, 4, &c.map), TREACLE_OK);
    arena_init(&c.scratch, c.ctx);
    return c;
}

static void cloud_end(cloud* c) {
    arena_finish(&c->scratch);
    tile_map_destroy(&c->map);
    particles_destroy(&c->p);
    treacle_context_destroy(c->ctx);
}

static const float capacity[1] = {1.0f};

// The change of the box's temperatures within dt; NULL: there is none.
static float* change_of(cloud* c, double diffusivity, double dt) {
    even_out_params params = {.domain = &c->domain,
                              .map = &c->map,
                              .p = &c->p,
                              .value = particles_f32(&c->p, PARTICLE_TEMPERATURE),
                              .capacity = capacity,
                              .reference = 300.0f,
                              .diffusivity = diffusivity};
    float* change = NULL;
    assert_int_equal(even_out(&params, dt, &c->scratch, &change), TREACLE_OK);
    return change;
}

// Neighbours differ by 2 K, which no cell can hold.
static void ripple(cloud* c) {
    for (particle_ix i = 0; i < c->p.count; ++i) {
        const float* x = particles_f32(&c->p, PARTICLE_POSITION) + AXES * i;
        bool is_high = x[0] - floorf(x[0]) > 0.5f;
        particles_f32(&c->p, PARTICLE_TEMPERATURE)[i] = 300.0f + (is_high ? 1.0f : -1.0f);
    }
}

static void test_what_is_even_stays(void** state) {
    (void)state;
    cloud c = full_box();
    for (particle_ix i = 0; i < c.p.count; ++i) {
        particles_f32(&c.p, PARTICLE_TEMPERATURE)[i] = 310.0f;
    }
    const float* change = change_of(&c, 1e-3, 1.0);
    assert_non_null(change);
    for (particle_ix i = 0; i < c.p.count; ++i) {
        assert_true(fabsf(change[i]) < 1e-4f);
    }
    cloud_end(&c);
}

static void test_ripples_within_cells_go_and_heat_stays(void** state) {
    (void)state;
    cloud c = full_box();
    ripple(&c);
    const float* change = change_of(&c, 1.0, 1.0); // long enough for all of it
    const float* temperature = particles_f32(&c.p, PARTICLE_TEMPERATURE);
    double sum = 0.0, before = 0.0, after = 0.0;
    for (particle_ix i = 0; i < c.p.count; ++i) {
        double was = (double)temperature[i] - 300.0, is = was + (double)change[i];
        sum += (double)change[i];
        before += was * was;
        after += is * is;
    }
    assert_true(fabs(sum) < 1e-3 * (double)c.p.count);
    assert_true(after < 0.25 * before);
    cloud_end(&c);
}

static void test_a_moment_changes_nothing(void** state) {
    (void)state;
    cloud c = full_box();
    ripple(&c);
    assert_null(change_of(&c, 1e-6, 1e-6));
    cloud_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_even_stays),
        cmocka_unit_test(test_ripples_within_cells_go_and_heat_stays),
        cmocka_unit_test(test_a_moment_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
