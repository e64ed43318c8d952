#include "particle_fixture.h"

#include "sim/ballistic.h"

enum { ROWS_MAX = 70 };

typedef struct rows {
    float position[AXES * ROWS_MAX], velocity[AXES * ROWS_MAX];
} rows;

static rows make_rows(void) {
    rows out;
    for (int i = 0; i < AXES * ROWS_MAX; ++i) {
        out.position[i] = 8.0f * hash_random_f32(1, (uint64_t)i, RANDOM_TEST);
        out.velocity[i] = 10.0f * hash_random_f32(2, (uint64_t)i, RANDOM_TEST) - 5.0f;
    }
    return out;
}

static const ballistic_push push = {
    {0.1f, -0.2f, 0.3f}, {0.5f, 0.6f, 0.7f}, {0.01f, 0.02f, -0.03f}};

static bool has(treacle_isa isa) {
    treacle_context* ctx = make_context_on(1, isa);
    bool is_there = ctx != NULL;
    treacle_context_destroy(ctx);
    return is_there;
}

static void test_every_instruction_set_gives_the_bits_of_plain_code(void** state) {
    (void)state;
    for (int count = 0; count <= ROWS_MAX; ++count) {
        rows plain = make_rows(), moved[3] = {make_rows(), make_rows(), make_rows()};
        float most = 0.0f;
        for (int i = 0; i < AXES * count; ++i) {
            plain.position[i] += plain.velocity[i] * push.drift[i % AXES] + push.fall[i % AXES];
            plain.velocity[i] += push.kick[i % AXES];
        }
        for (int r = 0; r < count; ++r) {
            const float* v = plain.velocity + AXES * r;
            most = fmaxf(most, (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
        }
        ballistic_rows_sse2(count, moved[0].position, moved[0].velocity, &push);
        assert_memory_equal(&moved[0], &plain, sizeof(plain));
        assert_true(ballistic_max_squared_sse2(count, plain.velocity) == most);
        if (has(TREACLE_ISA_AVX2)) {
            ballistic_rows_avx2(count, moved[1].position, moved[1].velocity, &push);
            assert_memory_equal(&moved[1], &plain, sizeof(plain));
            assert_true(ballistic_max_squared_avx2(count, plain.velocity) == most);
        }
        if (has(TREACLE_ISA_AVX512)) {
            ballistic_rows_avx512(count, moved[2].position, moved[2].velocity, &push);
            assert_memory_equal(&moved[2], &plain, sizeof(plain));
            assert_true(ballistic_max_squared_avx512(count, plain.velocity) == most);
        }
    }
}

static void test_inactive_axes_do_not_move(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    grid_domain flat = make_domain(ctx, 16, 16, 1, 0.1, TREACLE_SIDE_SLIP);
    particles p;
    particle_ix row;
    assert_int_equal(particles_create(ctx, 0, &p), TREACLE_OK);
    assert_int_equal(particles_append(&p, (tile_coord){{0}}, 9, &row), TREACLE_OK);
    for (int i = 0; i < 9; ++i) {
        particle_birth birth = {.velocity = {{1.0, 2.0, 3.0}}, .volume = 1.0};
        particle_init(&p, &flat, i, &birth);
    }
    const treacle_key pull = {.value = {50.0, 50.0, 50.0}};
    const treacle_curve gravity = {1, &pull};
    ballistic_advect(&p, &flat, &gravity, 0.0, 0.01);
    for (int i = 0; i < 9; ++i) {
        assert_true(particles_f32(&p, PARTICLE_POSITION)[AXES * i + 2] == 0.5f);
        assert_true(particles_f32(&p, PARTICLE_VELOCITY)[AXES * i + 2] == 0.0f);
        assert_true(particles_f32(&p, PARTICLE_VELOCITY)[AXES * i] == 1.5f);
        assert_true(fabsf(particles_f32(&p, PARTICLE_POSITION)[AXES * i] - 0.125f) < 1e-6f);
    }
    assert_true(fabs(ballistic_max_speed(&p) - sqrt(1.5 * 1.5 + 2.5 * 2.5)) < 1e-6);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_instruction_set_gives_the_bits_of_plain_code),
        cmocka_unit_test(test_inactive_axes_do_not_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
