#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "compare/level_set.h"
#include "grid_fixture.h"

// A surface on its lattice, and a flow that is known everywhere.
typedef struct world {
    treacle_context* ctx;
    grid_domain grid, lattice;
    tile_map map;
    face_velocity flow;
    arena scratch;
    level_set_work work;
    level_set now, next;
} world;

static void assert_near(double is, double wanted, double by) {
    if (!(fabs(is - wanted) <= by)) {
        fail_msg("%.9g: expected %.9g to %.3g", is, wanted, by);
    }
}

static void assert_in_fraction(double is, double of, double fraction) {
    if (!(fabs(is) <= fraction * fabs(of))) {
        fail_msg("%.9g: expected at most %g of %.9g", is, fraction, of);
    }
}

static size_t values_of(const world* w) {
    return ((size_t)w->map.count + 1) * TILE_CELLS;
}

static void world_begin(world* w, int threads, const int cells[AXES], treacle_side side) {
    *w = (world){.ctx = context_with(threads)};
    w->grid = domain_with(w->ctx, cells[0], cells[1], cells[2], side);
    w->lattice = level_set_domain(&w->grid);
    w->map = whole_map(w->ctx, &w->grid);
    w->flow = (face_velocity){.map = &w->map, .domain = &w->grid};
    for (int a = 0; a < AXES; ++a) {
        w->flow.u.at[a] = calloc(values_of(w), sizeof(float));
        assert_non_null(w->flow.u.at[a]);
    }
    arena_init(&w->scratch, w->ctx);
    w->work = (level_set_work){.ctx = w->ctx,
                               .grid = &w->grid,
                               .lattice = &w->lattice,
                               .scratch = &w->scratch,
                               .per_cell = 8};
    assert_int_equal(level_set_create(w->ctx, &w->lattice, &w->now), TREACLE_OK);
    assert_int_equal(level_set_create(w->ctx, &w->lattice, &w->next), TREACLE_OK);
}

static void world_end(world* w) {
    level_set_destroy(&w->now);
    level_set_destroy(&w->next);
    for (int a = 0; a < AXES; ++a) {
        free(w->flow.u.at[a]);
    }
    tile_map_destroy(&w->map);
    arena_finish(&w->scratch);
    treacle_context_destroy(w->ctx);
}

// A turn about the middle of the domain at one radian a second.
static void turn(world* w) {
    for (int64_t i = 0; i < (int64_t)w->map.count * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        w->flow.u.at[0][i] = (float)(0.5 * w->grid.cells[1] - (at[1] + 0.5));
        w->flow.u.at[1][i] = (float)(at[0] + 0.5 - 0.5 * w->grid.cells[0]);
    }
}

typedef struct ball {
    vec3 centre;
    double radius;
    bool is_flat;
} ball;

static float ball_distance(const void* data, vec3 x) {
    const ball* b = data;
    vec3 arm = vec3_sub(x, b->centre);
    arm.at[2] = b->is_flat ? 0.0 : arm.at[2];
    return (float)(2.0 * (sqrt(vec3_dot(arm, arm)) - b->radius)); // cells of the lattice: h/2
}

static float plane_distance(const void* data, vec3 x) {
    const double* at = data;
    return (float)(2.0 * (x.at[1] + 0.25 * x.at[0] - *at) / sqrt(1.0625));
}

static void put(world* w, level_set_distance* distance, const void* data, bool is_taken) {
    level_set_part part = {.distance = distance,
                           .data = data,
                           .bounds = {{{-100, -100, -100}}, {{100, 100, 100}}},
                           .is_taken = is_taken};
    assert_int_equal(level_set_combine(&w->work, &part, &w->now), TREACLE_OK);
    assert_int_equal(level_set_restore(&w->work, &w->now), TREACLE_OK);
}

static treacle_status step(world* w, double dt, double reach, bool is_reseeded) {
    level_set_motion motion = {&w->flow, dt, reach, is_reseeded};
    TREACLE_TRY(level_set_advance(&w->work, &motion, &w->now, &w->next));
    level_set before = w->now;
    w->now = w->next;
    w->next = before;
    return arena_end_step(&w->scratch);
}

static void test_every_sample_of_the_grid_is_one_of_the_lattice(void** state) {
    (void)state;
    world w;
    world_begin(&w, 1, (const int[AXES]){20, 16, 1}, TREACLE_SIDE_SLIP);
    assert_int_equal(w.lattice.cells[0], 41);
    assert_int_equal(w.lattice.cells[1], 33);
    assert_int_equal(w.lattice.cells[2], 1);
    // The centre of its cell 2 i + 1 is that of the grid's cell i.
    double centre = w.lattice.origin[0] + w.lattice.h * (2 * 7 + 1 + 0.5);
    assert_near(centre, w.grid.origin[0] + 7.5 * w.grid.h, 1e-12);
    level_set_home home = level_set_home_of(&w.lattice, (tile_coord){{3, 2, 0}});
    assert_int_equal(home.grid.at[0], 1);
    assert_near(home.offset[0] + 0.5 * 0.5, 4.0, 1e-12); // its first sample: 24 h/2
    world_end(&w);
}

static void test_volume_of_a_plane_is_exact(void** state) {
    (void)state;
    for (int side = 0; side < 2; ++side) {
        world w;
        world_begin(&w, 1, (const int[AXES]){32, 32, side == 0 ? 1 : 8}, TREACLE_SIDE_SLIP);
        double at = 15.3;
        put(&w, plane_distance, &at, false);
        double depth = at - 0.25 * 16.0;
        assert_near(level_set_volume(&w.work, &w.now), depth * 32.0 * (side == 0 ? 1 : 8),
                    1e-5 * depth * 32.0);
        world_end(&w);
    }
}

static void test_volume_of_a_ball_and_of_what_is_left_of_it(void** state) {
    (void)state;
    world w;
    world_begin(&w, 1, (const int[AXES]){24, 24, 24}, TREACLE_SIDE_SLIP);
    ball whole = {{{12.1, 11.8, 12.0}}, 8.0, false}, hole = {{{12.1, 11.8, 12.0}}, 5.0, false};
    put(&w, ball_distance, &whole, false);
    double volume = 4.0 / 3.0 * 3.14159265358979 * 512.0;
    assert_near(level_set_volume(&w.work, &w.now), volume, 0.01 * volume);
    put(&w, ball_distance, &hole, true);
    assert_near(level_set_volume(&w.work, &w.now), volume * (1.0 - 125.0 / 512.0), 0.01 * volume);
    world_end(&w);
}

static void test_markers_are_on_their_sides_and_in_the_band(void** state) {
    (void)state;
    world w;
    world_begin(&w, 1, (const int[AXES]){32, 32, 1}, TREACLE_SIDE_SLIP);
    ball disc = {{{16.0, 16.0, 0.5}}, 8.0, true};
    put(&w, ball_distance, &disc, false);
    const particles* m = &w.now.markers;
    assert_true(particles_is_sorted(m, &w.lattice));
    int64_t sides[2] = {0, 0};
    for (tile_ix g = 0; g < m->tile_count; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(m, PARTICLE_POSITION) + AXES * i;
            vec3 place = particles_place(&w.lattice, m->tile[g], x);
            float d = ball_distance(&disc, place);
            int side = particles_material(m)[i];
            float own = side == LEVEL_OUTSIDE ? d : -d,
                  radius = particles_f32(m, PARTICLE_VOLUME)[i];
            assert_true(own > 0.0f && own < LEVEL_BAND + 0.1f);
            assert_true(radius >= LEVEL_RADIUS_MIN && radius <= own + 0.1f);
            sides[side] += 1;
        }
    }
    double ring = 3.14159265 * 16.0 * 2.0 * 8.0 * 3.0; // expected on each side
    assert_near((double)sides[0] / ring, 0.9, 0.2);
    assert_near((double)sides[1] / ring, 0.9, 0.2);
    world_end(&w);
}

static void test_a_surface_at_rest_stays(void** state) {
    (void)state;
    world w;
    world_begin(&w, 1, (const int[AXES]){32, 32, 1}, TREACLE_SIDE_SLIP);
    ball disc = {{{16.0, 16.0, 0.5}}, 8.0, true};
    put(&w, ball_distance, &disc, false);
    double before = level_set_volume(&w.work, &w.now);
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(step(&w, 0.1, 0.0, i % 5 == 0), TREACLE_OK);
    }
    assert_near(level_set_volume(&w.work, &w.now), before, 5e-3 * before);
    for (int64_t i = 0; i < (int64_t)w.now.map.count * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w.now.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        vec3 x = {{0.5 * at[0], 0.5 * at[1], 0.5}};
        float d = ball_distance(&disc, x);
        if (tile_cell_counts(&w.now.map, (int)(i % TILE_CELLS)) && fabsf(d) < 1.0f) {
            assert_near((double)w.now.phi[i], (double)d, 0.1);
        }
    }
    world_end(&w);
}

static double centre_of(const world* w, int axis) {
    double sum = 0.0, weight = 0.0;
    for (int64_t i = 0; i < (int64_t)w->now.map.count * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->now.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        float fraction = fminf(fmaxf(0.5f - w->now.phi[i], 0.0f), 1.0f);
        if (tile_cell_counts(&w->now.map, (int)(i % TILE_CELLS))) {
            sum += (double)fraction * 0.5 * at[axis];
            weight += (double)fraction;
        }
    }
    return sum / weight;
}

static void test_a_disc_turns_with_the_flow_and_keeps_its_area(void** state) {
    (void)state;
    world w;
    world_begin(&w, 1, (const int[AXES]){48, 48, 1}, TREACLE_SIDE_SLIP);
    turn(&w);
    ball disc = {{{36.0, 24.0, 0.5}}, 6.0, true};
    put(&w, ball_distance, &disc, false);
    double before = level_set_volume(&w.work, &w.now);
    for (int i = 0; i < 40; ++i) { // a quarter turn
        assert_int_equal(step(&w, 1.5707963 / 40, 1.1, i % 10 == 9), TREACLE_OK);
    }
    assert_near(level_set_volume(&w.work, &w.now), before, 0.002 * before);
    assert_near(centre_of(&w, 0), 24.0, 0.1);
    assert_near(centre_of(&w, 1), 36.0, 0.1);
    world_end(&w);
}

static uint64_t hash_after_turning(int threads, treacle_side side) {
    world w;
    world_begin(&w, threads, (const int[AXES]){32, 32, 16}, side);
    turn(&w);
    ball drop = {{{20.0, 16.0, 8.0}}, 6.0, false};
    put(&w, ball_distance, &drop, false);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(step(&w, 0.1, 2.4, true), TREACLE_OK);
    }
    uint64_t hash = hash_bytes(w.now.phi, (size_t)w.now.map.count * TILE_CELLS * sizeof(float), 1);
    hash = hash_bytes(particles_f32(&w.now.markers, PARTICLE_POSITION),
                      (size_t)w.now.markers.count * AXES * sizeof(float), hash);
    world_end(&w);
    return hash;
}

static void test_threads_do_not_show(void** state) {
    (void)state;
    assert_true(hash_after_turning(1, TREACLE_SIDE_SLIP) ==
                hash_after_turning(4, TREACLE_SIDE_SLIP));
    assert_true(hash_after_turning(1, TREACLE_SIDE_PERIODIC) ==
                hash_after_turning(3, TREACLE_SIDE_PERIODIC));
}

static void test_markers_bring_back_what_the_grid_has_lost(void** state) {
    (void)state;
    world w;
    world_begin(&w, 1, (const int[AXES]){32, 32, 1}, TREACLE_SIDE_SLIP);
    ball disc = {{{16.0, 16.0, 0.5}}, 8.0, true};
    put(&w, ball_distance, &disc, false);
    double whole = level_set_volume(&w.work, &w.now);
    for (int64_t i = 0; i < (int64_t)w.now.map.count * TILE_CELLS; ++i) {
        w.now.phi[i] += 0.7f; // the surface moves in, the markers know better
    }
    double less = level_set_volume(&w.work, &w.now);
    assert_int_equal(level_set_correct(&w.work, &w.now), TREACLE_OK);
    double again = level_set_volume(&w.work, &w.now);
    assert_in_fraction(whole - again, whole - less, 0.5);
    world_end(&w);
}

static int64_t count_wrong(const world* w, const ball* b, int side) {
    const particles* m = &w->now.markers;
    int64_t count = 0;
    for (tile_ix g = 0; g < m->tile_count; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(m, PARTICLE_POSITION) + AXES * i;
            bool is_in = ball_distance(b, particles_place(&w->lattice, m->tile[g], x)) < 0.0f;
            count += is_in && particles_material(m)[i] == side;
        }
    }
    return count;
}

// As a nozzle does it, whose own air is carried into it from above.
static void test_markers_do_not_undo_what_is_put_in_or_taken_out(void** state) {
    (void)state;
    for (int is_taken = 0; is_taken < 2; ++is_taken) {
        world w;
        world_begin(&w, 1, (const int[AXES]){32, 32, 1}, TREACLE_SIDE_SLIP);
        double at = 16.0;
        put(&w, plane_distance, &at, false);
        ball part = {{{16.0, 12.0, 0.5}}, 6.0, true};
        put(&w, ball_distance, &part, is_taken != 0);
        double before = level_set_volume(&w.work, &w.now);
        assert_int_equal(count_wrong(&w, &part, is_taken ? LEVEL_INSIDE : LEVEL_OUTSIDE), 0);
        assert_int_equal(level_set_correct(&w.work, &w.now), TREACLE_OK);
        assert_near(level_set_volume(&w.work, &w.now), before, 2e-3 * before);
        world_end(&w);
    }
}

// Every allocation fails in turn; nothing leaks.
static treacle_status advance_once(treacle_context* ctx, void* data) {
    (void)data;
    grid_domain grid = domain_with(ctx, 16, 16, 1, TREACLE_SIDE_SLIP);
    grid_domain lattice = level_set_domain(&grid);
    tile_map map = {0};
    arena scratch;
    level_set now = {0}, next = {0};
    ball disc = {{{8.0, 8.0, 0.5}}, 4.0, true};
    arena_init(&scratch, ctx);
    level_set_work work = {
        .ctx = ctx, .grid = &grid, .lattice = &lattice, .scratch = &scratch, .per_cell = 4};
    level_set_part part = {
        .distance = ball_distance, .data = &disc, .bounds = {{{0, 0, 0}}, {{16, 16, 16}}}};
    float still[TILE_CELLS * 2] = {0};
    face_velocity flow = {.map = &map, .domain = &grid, .u = {{still, still, still}}};
    level_set_motion motion = {&flow, 0.1, 1.0, true};
    treacle_status status = tile_map_create(ctx, &grid, 1, &(tile_coord){{0, 0, 0}}, &map);
    if (status == TREACLE_OK) {
        status = level_set_create(ctx, &lattice, &now);
    }
    if (status == TREACLE_OK) {
        status = level_set_create(ctx, &lattice, &next);
    }
    if (status == TREACLE_OK) {
        status = level_set_combine(&work, &part, &now);
    }
    if (status == TREACLE_OK) {
        status = level_set_restore(&work, &now);
    }
    if (status == TREACLE_OK) {
        status = level_set_advance(&work, &motion, &now, &next);
    }
    level_set_destroy(&now);
    level_set_destroy(&next);
    if (map.ctx != NULL) {
        tile_map_destroy(&map);
    }
    arena_finish(&scratch);
    return status;
}

static void test_a_step_survives_failing_memory(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(advance_once, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sample_of_the_grid_is_one_of_the_lattice),
        cmocka_unit_test(test_volume_of_a_plane_is_exact),
        cmocka_unit_test(test_volume_of_a_ball_and_of_what_is_left_of_it),
        cmocka_unit_test(test_markers_are_on_their_sides_and_in_the_band),
        cmocka_unit_test(test_a_surface_at_rest_stays),
        cmocka_unit_test(test_a_disc_turns_with_the_flow_and_keeps_its_area),
        cmocka_unit_test(test_threads_do_not_show),
        cmocka_unit_test(test_markers_bring_back_what_the_grid_has_lost),
        cmocka_unit_test(test_markers_do_not_undo_what_is_put_in_or_taken_out),
        cmocka_unit_test(test_a_step_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
