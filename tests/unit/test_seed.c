#include "particle_fixture.h"

#include "particles/seed.h"

static const double pi = 3.14159265358979323846;

typedef struct seeded {
    treacle_context* ctx;
    grid_domain domain;
    shape* shape[2];
    field velocity;
    seed_liquid liquids[2];
    seed_def def;
    particles p;
} seeded;

// A domain of `cells` cells a side (flat if `is_flat`) with up to two shapes in it.
static void seed_shapes(seeded* s, int threads, int cells, bool is_flat, int per_cell,
                        double jitter, int count, const treacle_shape* shapes) {
    memset(s, 0, sizeof(*s));
    s->ctx = make_context(threads);
    s->domain =
        make_domain(s->ctx, cells, cells, is_flat ? 1 : cells, 1.0 / cells, TREACLE_SIDE_SLIP);
    treacle_field constant = {.kind = TREACLE_FIELD_CONSTANT, .value_a = {1.0, 2.0, 3.0}};
    assert_int_equal(field_init(s->ctx, &constant, 3, &s->velocity), TREACLE_OK);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(shape_create(s->ctx, &shapes[i], &s->shape[i]), TREACLE_OK);
        s->liquids[i] =
            (seed_liquid){.shape = s->shape[i], .velocity = &s->velocity, .source = (uint64_t)i};
        s->liquids[i].spin = vec3_make(0.0, 0.0, 5.0);
        s->liquids[i].spin_centre = vec3_make(0.5, 0.5, 0.5);
        s->liquids[i].material = (uint8_t)i;
    }
    s->def = (seed_def){.domain = &s->domain,
                        .seed = 9,
                        .particles = {.per_cell = per_cell, .jitter = jitter},
                        .liquid_count = count,
                        .liquids = s->liquids};
    assert_int_equal(particles_create(s->ctx, 0, &s->p), TREACLE_OK);
    assert_int_equal(seed_particles(&s->p, &s->def), TREACLE_OK);
    particle_sort_stats stats;
    assert_int_equal(sort_store(&s->p, &s->domain, &stats), TREACLE_OK);
    assert_int_equal(stats.removed + stats.stopped + stats.migrated, 0);
}

static void unseed(seeded* s) {
    particles_destroy(&s->p);
    field_finish(&s->velocity);
    shape_destroy(s->shape[0]);
    shape_destroy(s->shape[1]);
    assert_int_equal(treacle_context_memory(s->ctx) > 0, s->ctx->threads > 1);
    treacle_context_destroy(s->ctx);
}

static double volume_of(const particles* p) {
    double volume = 0.0;
    for (particle_ix r = 0; r < p->count; ++r) {
        volume += (double)particles_f32(p, PARTICLE_VOLUME)[r];
    }
    return volume;
}

static treacle_shape ball(double radius) {
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    def.radius = radius;
    def.move[0] = 0.51;
    def.move[1] = 0.503;
    def.move[2] = 0.497;
    return def;
}

static void test_a_ball_gets_its_volume(void** state) {
    (void)state;
    const double jitters[] = {0.0, 0.5, 1.0};
    for (int j = 0; j < 3; ++j) {
        for (int per_cell = 1; per_cell <= 27; per_cell += per_cell == 1 ? 7 : 19) {
            double radius = 8.3 / 20;
            treacle_shape def = ball(radius);
            seeded s;
            seed_shapes(&s, 2, 20, false, per_cell, jitters[j], 1, &def);
            double exact = 4.0 / 3.0 * pi * radius * radius * radius;
            double error = volume_of(&s.p) / exact - 1.0;
            print_message("8.3 cells, %2d a cell, jitter %.1f: volume %+.3f %%\n", per_cell,
                          jitters[j], 100.0 * error);
            assert_true(fabs(error) < 0.01);
            unseed(&s);
        }
    }
}

static void test_a_flat_ball_gets_its_area_times_the_thickness(void** state) {
    (void)state;
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_CYLINDER);
    def.radius = 0.4;
    def.rotate[0] = 0.5 * pi;
    def.move[0] = def.move[1] = 0.5;
    seeded s;
    seed_shapes(&s, 2, 40, true, 4, 0.5, 1, &def);
    double exact = pi * 0.16 / 40;
    assert_true(fabs(volume_of(&s.p) / exact - 1.0) < 0.01);
    for (particle_ix r = 0; r < s.p.count; ++r) {
        assert_true(particles_f32(&s.p, PARTICLE_POSITION)[3 * r + 2] == 0.5f);
        assert_true(particles_f32(&s.p, PARTICLE_VELOCITY)[3 * r + 2] == 0.0f);
    }
    unseed(&s);
}

static void test_a_box_of_whole_cells_is_filled_exactly(void** state) {
    (void)state;
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_BOX);
    def.size[0] = def.size[1] = def.size[2] = 0.5;
    def.move[0] = def.move[1] = def.move[2] = 0.5;
    for (int per_cell = 1; per_cell <= 64; per_cell = per_cell < 12 ? per_cell + 1 : per_cell * 2) {
        seeded s;
        seed_shapes(&s, 1, 16, false, per_cell, 1.0, 1, &def);
        assert_int_equal(s.p.count, 512 * per_cell);
        unseed(&s);
    }
}

// Cells are cut into boxes of which none is more than twice as long as wide.
static void test_boxes_are_nearly_cubes(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    for (int flat = 0; flat < 2; ++flat) {
        grid_domain domain = make_domain(ctx, 8, 8, flat ? 1 : 8, 1.0, TREACLE_SIDE_SLIP);
        for (int n = 1; n <= 64; ++n) {
            seed_boxes b = seed_choose_boxes(&domain, n);
            assert_true(b.count >= n && b.count < 2 * n + 2);
            assert_int_equal(b.at[0] * b.at[1] * b.at[2], b.count);
            for (int a = 0; a < 2; ++a) {
                assert_true(b.at[a] <= 2 * b.at[1 - a]);
            }
            assert_true(!flat || b.at[2] == 1);
        }
        assert_int_equal(seed_choose_boxes(&domain, flat ? 9 : 27).at[0], 3);
        assert_int_equal(seed_choose_boxes(&domain, flat ? 9 : 27).at[1], 3);
    }
    treacle_context_destroy(ctx);
}

static void test_particles_are_inside_and_the_first_liquid_wins(void** state) {
    (void)state;
    treacle_shape shapes[2] = {ball(0.3), ball(0.3)};
    shapes[1].move[0] += 0.2;
    seeded s;
    seed_shapes(&s, 2, 24, false, 8, 1.0, 2, shapes);
    int64_t of[2] = {0, 0};
    for (tile_ix t = 0; t < s.p.tile_count; ++t) {
        for (particle_ix r = s.p.tile_first[t]; r < s.p.tile_first[t + 1]; ++r) {
            int liquid = particles_material(&s.p)[r];
            vec3 x = particles_place(&s.domain, s.p.tile[t],
                                     particles_f32(&s.p, PARTICLE_POSITION) + AXES * r);
            assert_true(shape_distance(s.shape[liquid], x) < 1e-6);
            assert_true(liquid == 0 || shape_distance(s.shape[0], x) > -1e-6);
            assert_int_equal(particles_id(&s.p)[r] >> PARTICLE_SOURCE_SHIFT, liquid);
            const float* v = particles_f32(&s.p, PARTICLE_VELOCITY) + AXES * r;
            assert_true(fabs((double)v[0] - (1.0 - 5.0 * (x.at[1] - 0.5))) < 1e-5);
            assert_true(fabs((double)v[1] - (2.0 + 5.0 * (x.at[0] - 0.5))) < 1e-5);
            assert_true(v[2] == 3.0f);
            of[liquid] += 1;
        }
    }
    assert_true(of[1] > 0 && of[0] > of[1]);
    unseed(&s);
}

static void test_seeds_do_not_depend_on_threads(void** state) {
    (void)state;
    treacle_shape shapes[2] = {ball(0.3), ball(0.4)};
    seeded one, many;
    seed_shapes(&one, 1, 32, false, 7, 0.7, 2, shapes);
    for (int threads = 2; threads <= 4; ++threads) {
        seed_shapes(&many, threads, 32, false, 7, 0.7, 2, shapes);
        assert_int_equal(one.p.count, many.p.count);
        for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
            if (one.p.column[c] != NULL) {
                assert_memory_equal(one.p.column[c], many.p.column[c],
                                    (size_t)one.p.count * particle_columns[c].bytes);
            }
        }
        unseed(&many);
    }
    unseed(&one);
}

static void test_shapes_beyond_the_domain_are_cut_off(void** state) {
    (void)state;
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE);
    plane.move[1] = 0.5;
    seeded s;
    seed_shapes(&s, 2, 20, false, 8, 0.5, 1, &plane);
    assert_true(fabs(volume_of(&s.p) - 0.5) < 1e-6);
    unseed(&s);
    treacle_shape away = ball(0.2);
    away.move[0] = 40.0;
    seed_shapes(&s, 2, 20, false, 8, 0.5, 1, &away);
    assert_int_equal(s.p.count, 0);
    unseed(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ball_gets_its_volume),
        cmocka_unit_test(test_a_flat_ball_gets_its_area_times_the_thickness),
        cmocka_unit_test(test_a_box_of_whole_cells_is_filled_exactly),
        cmocka_unit_test(test_boxes_are_nearly_cubes),
        cmocka_unit_test(test_particles_are_inside_and_the_first_liquid_wins),
        cmocka_unit_test(test_seeds_do_not_depend_on_threads),
        cmocka_unit_test(test_shapes_beyond_the_domain_are_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
