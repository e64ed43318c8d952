#include "particle_fixture.h"

#include "particles/split_merge.h"

static const double h = 0.03;

// What two particles must keep together, in double.
typedef struct whole {
    double volume;
    double centre[AXES];   // sum V x, cells
    double momentum[AXES]; // sum V v
} whole;

static whole add_up(const particles* p, int rows) {
    whole w = {0};
    for (int r = 0; r < rows; ++r) {
        double volume = (double)particles_f32(p, PARTICLE_VOLUME)[r];
        w.volume += volume;
        for (int a = 0; a < AXES; ++a) {
            w.centre[a] += volume * (double)particles_f32(p, PARTICLE_POSITION)[AXES * r + a];
            w.momentum[a] += volume * (double)particles_f32(p, PARTICLE_VELOCITY)[AXES * r + a];
        }
    }
    return w;
}

static void fill_random(const particles* p, const grid_domain* domain, int rows, uint64_t seed) {
    for (int r = 0; r < rows; ++r) {
        particle_birth birth = {.id = (uint64_t)r};
        uint64_t key = seed * 64 + (uint64_t)r * 16;
        birth.volume = 1e-6 * (0.5 + hash_random_f64(1, key, RANDOM_TEST));
        for (int a = 0; a < AXES; ++a) {
            birth.position[a] = (float)(2.0 + 4.0 * hash_random_f64(2, key + a, RANDOM_TEST));
            birth.velocity.at[a] = 10.0 * hash_random_f64(3, key + a, RANDOM_TEST) - 5.0;
        }
        particle_init((particles*)p, domain, r, &birth);
        for (int i = 0; i < 9; ++i) {
            particles_f32(p, PARTICLE_AFFINE)[9 * r + i] =
                (float)(100.0 * hash_random_f64(4, key + (uint64_t)i, RANDOM_TEST) - 50.0);
        }
    }
}

static void check_same(const whole* a, const whole* b) {
    assert_true(fabs(a->volume - b->volume) <= 1e-7 * a->volume);
    for (int i = 0; i < AXES; ++i) {
        assert_true(fabs(a->centre[i] - b->centre[i]) <= 8e-7 * a->volume * 8.0);
        assert_true(fabs(a->momentum[i] - b->momentum[i]) <= 8e-7 * a->volume * 10.0);
    }
}

static void make_store(treacle_context* ctx, particles* p) {
    particle_ix row;
    assert_int_equal(particles_create(ctx, 1u << PARTICLE_AFFINE, p), TREACLE_OK);
    assert_int_equal(particles_append(p, (tile_coord){{0}}, 2, &row), TREACLE_OK);
}

static void test_a_split_keeps_volume_centre_and_momentum(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, h, TREACLE_SIDE_SLIP);
    particles p;
    make_store(ctx, &p);
    for (uint64_t seed = 0; seed < 200; ++seed) {
        fill_random(&p, &domain, 1, seed);
        whole before = add_up(&p, 1);
        particle_split split = {.particle = 0, .other = 1, .apart = 0.5f, .id = 99, .h = h};
        particles_split_axis(5, seed, &domain, split.axis);
        particles_split(&p, &split);
        whole after = add_up(&p, 2);
        check_same(&before, &after);
        assert_true(particles_id(&p)[0] == 0 && particles_id(&p)[1] == 99);
    }
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

// Two halves of a spinning particle move as the spin moves the places where they are.
static void test_a_split_keeps_the_velocity_field(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, h, TREACLE_SIDE_SLIP);
    particles p;
    make_store(ctx, &p);
    fill_random(&p, &domain, 1, 7);
    const float* affine = particles_f32(&p, PARTICLE_AFFINE);
    particle_split split = {.particle = 0, .other = 1, .apart = 0.4f, .h = h};
    particles_split_axis(5, 1, &domain, split.axis);
    particles_split(&p, &split);
    const float* x = particles_f32(&p, PARTICLE_POSITION);
    const float* v = particles_f32(&p, PARTICLE_VELOCITY);
    for (int a = 0; a < AXES; ++a) {
        double expected = 0.0;
        for (int b = 0; b < AXES; ++b) {
            expected += (double)affine[AXES * a + b] * h * (double)(x[b] - x[AXES + b]);
        }
        assert_true(fabs((double)(v[a] - v[AXES + a]) - expected) < 1e-5);
    }
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_a_merge_keeps_volume_centre_and_momentum(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, h, TREACLE_SIDE_SLIP);
    particles p;
    make_store(ctx, &p);
    for (uint64_t seed = 0; seed < 200; ++seed) {
        fill_random(&p, &domain, 2, seed);
        whole before = add_up(&p, 2);
        particle_merge merge = {.particle = 0, .other = 1};
        particles_merge(&p, &merge);
        whole after = add_up(&p, 1);
        check_same(&before, &after);
    }
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_a_merge_keeps_heat_and_marker(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, h, TREACLE_SIDE_SLIP);
    particles p;
    particle_ix row;
    uint32_t columns = 1u << PARTICLE_TEMPERATURE | 1u << PARTICLE_MARKER | 1u << PARTICLE_AFFINE;
    assert_int_equal(particles_create(ctx, columns, &p), TREACLE_OK);
    assert_int_equal(particles_append(&p, (tile_coord){{0}}, 2, &row), TREACLE_OK);
    fill_random(&p, &domain, 2, 5);
    double heat = 0.0, volume = 0.0;
    for (int r = 0; r < 2; ++r) {
        particles_f32(&p, PARTICLE_TEMPERATURE)[r] = 300.0f + 50.0f * (float)r;
        particles_f32(&p, PARTICLE_MARKER)[r] = (float)r;
        double mine = (double)particles_f32(&p, PARTICLE_VOLUME)[r];
        heat += mine * (300.0 + 50.0 * r);
        volume += mine;
    }
    particles_merge(&p, &(particle_merge){.particle = 1, .other = 0});
    double after = (double)particles_f32(&p, PARTICLE_TEMPERATURE)[1];
    assert_true(fabs(after * volume / heat - 1.0) < 1e-6);
    double marker = (double)particles_f32(&p, PARTICLE_MARKER)[1];
    assert_true(marker > 0.0 && marker < 1.0);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_a_merge_undoes_a_split(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, h, TREACLE_SIDE_SLIP);
    particles p;
    make_store(ctx, &p);
    fill_random(&p, &domain, 1, 3);
    float before[9];
    memcpy(before, particles_f32(&p, PARTICLE_AFFINE), sizeof(before));
    whole first = add_up(&p, 1);
    particle_split split = {.particle = 0, .other = 1, .axis = {0.0f, 1.0f, 0.0f}, .apart = 0.5f};
    split.h = h;
    particles_split(&p, &split);
    // As if the second half had gone to the tile on the right.
    particles_f32(&p, PARTICLE_POSITION)[AXES] -= 8.0f;
    particle_merge merge = {.particle = 0, .other = 1, .shift = {8.0f, 0.0f, 0.0f}};
    particles_merge(&p, &merge);
    whole last = add_up(&p, 1);
    check_same(&first, &last);
    for (int i = 0; i < 9; ++i) {
        assert_true(particles_f32(&p, PARTICLE_AFFINE)[i] == before[i]);
    }
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_split_axes_have_unit_length_and_no_favourite(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain flat = make_domain(ctx, 8, 8, 1, h, TREACLE_SIDE_SLIP);
    grid_domain full = make_domain(ctx, 8, 8, 8, h, TREACLE_SIDE_SLIP);
    double mean[AXES] = {0}, square[AXES] = {0};
    enum { MANY = 20000 };
    for (uint64_t id = 0; id < MANY; ++id) {
        float axis[AXES];
        particles_split_axis(11, id, &flat, axis);
        assert_true(axis[2] == 0.0f && fabsf(axis[0] * axis[0] + axis[1] * axis[1] - 1.0f) < 1e-6f);
        particles_split_axis(11, id, &full, axis);
        for (int a = 0; a < AXES; ++a) {
            mean[a] += (double)axis[a] / MANY;
            square[a] += (double)(axis[a] * axis[a]) / MANY;
        }
    }
    for (int a = 0; a < AXES; ++a) {
        assert_true(fabs(mean[a]) < 0.02 && fabs(square[a] - 1.0 / 3.0) < 0.01);
    }
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_split_keeps_volume_centre_and_momentum),
        cmocka_unit_test(test_a_split_keeps_the_velocity_field),
        cmocka_unit_test(test_a_merge_keeps_volume_centre_and_momentum),
        cmocka_unit_test(test_a_merge_keeps_heat_and_marker),
        cmocka_unit_test(test_a_merge_undoes_a_split),
        cmocka_unit_test(test_split_axes_have_unit_length_and_no_favourite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
