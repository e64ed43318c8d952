// Reseeding keeps what particles hold and brings crowded and thin cells back to measure.
#include "particle_fixture.h"

#include "alloc_failure.h"
#include "particles/reseed.h"
#include "unit.h"

enum { PER_CELL = 4 };

typedef struct held {
    double volume, momentum[AXES];
    int64_t count;
} held;

static held measure(const particles* p) {
    held sum = {.count = p->count};
    for (particle_ix i = 0; i < p->count; ++i) {
        double volume = (double)particles_f32(p, PARTICLE_VOLUME)[i];
        sum.volume += volume;
        for (int a = 0; a < AXES; ++a) {
            sum.momentum[a] += volume * (double)particles_f32(p, PARTICLE_VELOCITY)[AXES * i + a];
        }
    }
    return sum;
}

// `count` particles of `volume` cells each, spread over the cell (2, 2, 2) of tile 0.
static treacle_status crowd(treacle_context* ctx, const grid_domain* domain, int count,
                            double volume, particles* out) {
    TREACLE_TRY(particles_create(ctx, 0, out));
    for (int i = 0; i < count; ++i) {
        tile_coord tile = {{0, 0, 0}};
        particle_ix row = 0;
        TREACLE_TRY(particles_append(out, tile, 1, &row));
        particle_birth birth = {.id = (uint64_t)i, .volume = volume};
        for (int a = 0; a < AXES; ++a) {
            double r = hash_random_f64(7, (uint64_t)(3 * i + a), RANDOM_JITTER_X);
            birth.position[a] = (float)(2.0 + r);
            birth.velocity.at[a] = r - 0.5;
        }
        particle_init(out, domain, row, &birth);
    }
    particle_sort_stats stats;
    return sort_store(out, domain, &stats);
}

static treacle_status reseed_crowd(treacle_context* ctx, int count, double volume, held sums[2],
                                   reseed_stats* stats) {
    grid_domain domain = make_domain(ctx, 8, 8, 8, 1.0, TREACLE_SIDE_SLIP);
    particles p = {0};
    arena scratch;
    arena_init(&scratch, ctx);
    treacle_status status = crowd(ctx, &domain, count, volume, &p);
    if (status == TREACLE_OK) {
        sums[0] = measure(&p);
        reseed_params params = {
            .domain = &domain, .scratch = &scratch, .seed = 1, .per_cell = PER_CELL, .source = 9};
        status = reseed_particles(&p, &params, stats);
    }
    if (status == TREACLE_OK) {
        sums[1] = measure(&p);
    }
    particles_destroy(&p);
    arena_finish(&scratch);
    return status;
}

static void check_kept(const held sums[2]) {
    assert_close(sums[1].volume, sums[0].volume, 1e-6 * sums[0].volume);
    for (int a = 0; a < AXES; ++a) {
        assert_close(sums[1].momentum[a], sums[0].momentum[a], 1e-6);
    }
}

static void test_a_crowded_cell_merges_down_to_twice_its_number(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    held sums[2];
    reseed_stats stats;
    assert_int_equal(reseed_crowd(ctx, 14, 0.25 / 4, sums, &stats), TREACLE_OK);
    assert_int_equal(stats.merged, 14 - 2 * PER_CELL);
    assert_int_equal(stats.split, 0);
    assert_int_equal(sums[1].count, 2 * PER_CELL);
    check_kept(sums);
    treacle_context_destroy(ctx);
}

static void test_large_particles_in_a_thin_cell_split(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    held sums[2];
    reseed_stats stats;
    assert_int_equal(reseed_crowd(ctx, 2, 2.0 * 0.25, sums, &stats), TREACLE_OK);
    assert_int_equal(stats.split, 2);
    assert_int_equal(sums[1].count, 4);
    check_kept(sums);
    treacle_context_destroy(ctx);
}

// New particles of the last tile belong to it at once, and what the store has left of others where
// they come must not count: a fourth particle of the cell, gone by now, made it look full.
static void test_what_is_left_of_others_does_not_count(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, 1.0, TREACLE_SIDE_SLIP);
    particles p = {0};
    arena scratch;
    arena_init(&scratch, ctx);
    assert_int_equal(crowd(ctx, &domain, PER_CELL, 2.0 * 0.25, &p), TREACLE_OK);
    particles_remove(&p, (const uint8_t[PER_CELL]){[PER_CELL - 1] = 1});
    held sums[2] = {measure(&p)};
    reseed_params params = {
        .domain = &domain, .scratch = &scratch, .seed = 1, .per_cell = PER_CELL, .source = 9};
    reseed_stats stats;
    assert_int_equal(reseed_particles(&p, &params, &stats), TREACLE_OK);
    sums[1] = measure(&p);
    assert_int_equal(stats.split, PER_CELL - 1);
    assert_int_equal(sums[1].count, 2 * (PER_CELL - 1));
    check_kept(sums);
    particles_destroy(&p);
    arena_finish(&scratch);
    treacle_context_destroy(ctx);
}

static void test_a_full_cell_stays_as_it_is(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    held sums[2];
    reseed_stats stats;
    assert_int_equal(reseed_crowd(ctx, PER_CELL, 0.25, sums, &stats), TREACLE_OK);
    assert_int_equal(stats.split + stats.merged, 0);
    assert_int_equal(sums[1].count, PER_CELL);
    treacle_context_destroy(ctx);
}

static treacle_status reseed_once(treacle_context* ctx, void* data) {
    held sums[2];
    reseed_stats stats;
    return reseed_crowd(ctx, *(int*)data, 2.0 * 0.25, sums, &stats);
}

static void test_failing_memory_is_an_error(void** state) {
    (void)state;
    int few = 2, many = 14;
    ALLOC_FAILURE_CHECK(reseed_once, &few);
    ALLOC_FAILURE_CHECK(reseed_once, &many);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_crowded_cell_merges_down_to_twice_its_number),
        cmocka_unit_test(test_large_particles_in_a_thin_cell_split),
        cmocka_unit_test(test_what_is_left_of_others_does_not_count),
        cmocka_unit_test(test_a_full_cell_stays_as_it_is),
        cmocka_unit_test(test_failing_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
