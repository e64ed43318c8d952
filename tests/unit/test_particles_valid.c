// A store is valid as it is sorted, and not once a part of it is broken.
#include "particle_fixture.h"

#include "particles/particles_valid.h"

enum { ROWS = 40 };

typedef struct store {
    treacle_context* ctx;
    grid_domain domain;
    particles p;
} store;

static store store_begin(void) {
    store s = {.ctx = make_context(1)};
    s.domain = make_domain(s.ctx, 32, 32, 32, 0.1, TREACLE_SIDE_SLIP);
    assert_int_equal(particles_create(s.ctx, 0, &s.p), TREACLE_OK);
    for (uint64_t i = 0; i < ROWS; ++i) {
        particle_birth birth = {.id = particles_make_id(1, i), .volume = 1e-4};
        tile_coord tile;
        vec3 x;
        for (int a = 0; a < AXES; ++a) {
            x.at[a] = 3.2 * hash_random_f64((uint64_t)a, i, RANDOM_TEST);
        }
        particle_ix row;
        particles_locate(&s.domain, x, &tile, birth.position);
        assert_int_equal(particles_append(&s.p, tile, 1, &row), TREACLE_OK);
        particle_init(&s.p, &s.domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&s.p, &s.domain, &stats), TREACLE_OK);
    assert_true(particles_is_valid(&s.p, &s.domain, PARTICLES_SORTED));
    return s;
}

static void store_end(store* s) {
    assert_true(particles_is_valid(&s->p, &s->domain, PARTICLES_SORTED));
    particles_destroy(&s->p);
    assert_int_equal(treacle_context_memory(s->ctx), 0);
    treacle_context_destroy(s->ctx);
}

static bool is_grouped(const store* s) {
    return particles_is_valid(&s->p, &s->domain, PARTICLES_GROUPED);
}

static bool is_sorted(const store* s) {
    return particles_is_valid(&s->p, &s->domain, PARTICLES_SORTED);
}

static void test_rows_that_are_no_numbers_are_seen(void** state) {
    (void)state;
    store s = store_begin();
    static const particle_column columns[] = {PARTICLE_POSITION, PARTICLE_VELOCITY,
                                              PARTICLE_VOLUME};
    for (int c = 0; c < 3; ++c) {
        float* value = particles_f32(&s.p, columns[c]) + 5;
        float kept = *value;
        *value = NAN;
        assert_false(is_grouped(&s));
        *value = INFINITY;
        assert_false(is_grouped(&s));
        *value = kept;
    }
    float* volume = particles_f32(&s.p, PARTICLE_VOLUME) + ROWS - 1;
    float kept = *volume;
    *volume = 0.0f;
    assert_false(is_grouped(&s));
    *volume = kept;
    store_end(&s);
}

static void test_borrowed_columns_have_the_room_of_the_other_store(void** state) {
    (void)state;
    store s = store_begin();
    particles guest;
    assert_int_equal(particles_create(s.ctx, s.p.column_mask, &guest), TREACLE_OK);
    assert_int_equal(particles_borrow(&guest, &s.p), TREACLE_OK);
    assert_true(particles_is_valid(&guest, &s.domain, PARTICLES_SORTED));
    guest.borrowed_capacity = guest.count - 1;
    assert_false(particles_is_valid(&guest, &s.domain, PARTICLES_SORTED));
    guest.borrowed_capacity = guest.count;
    particles_destroy(&guest);
    store_end(&s);
}

static void test_rows_out_of_order_are_seen_where_they_are_said_to_be_sorted(void** state) {
    (void)state;
    store s = store_begin();
    float* x = particles_f32(&s.p, PARTICLE_POSITION);
    float kept = x[0];
    x[0] = -0.5f;
    assert_true(is_grouped(&s));
    assert_false(is_sorted(&s));
    x[0] = kept;
    tile_coord tile = s.p.tile[0];
    s.p.tile[0] = s.p.tile[1];
    assert_true(is_grouped(&s));
    assert_false(is_sorted(&s));
    s.p.tile[0] = tile;
    // The same particle twice in a cell.
    uint64_t* id = particles_id(&s.p);
    float place[AXES];
    memcpy(place, x + AXES, sizeof(place));
    uint64_t second = id[1];
    bool is_alone = s.p.tile_first[1] < 2;
    memcpy(x + AXES, x, sizeof(place));
    id[1] = id[0];
    assert_true(is_alone || !is_sorted(&s));
    memcpy(x + AXES, place, sizeof(place));
    id[1] = second;
    store_end(&s);
}

static void test_groups_that_do_not_partition_the_rows_are_seen(void** state) {
    (void)state;
    store s = store_begin();
    particle_ix* first = s.p.tile_first;
    first[0] = 1;
    assert_false(is_grouped(&s));
    first[0] = 0;
    particle_ix kept = first[1];
    first[1] = first[2] + 1;
    assert_false(is_grouped(&s));
    first[1] = kept;
    s.p.count -= 1;
    assert_false(is_grouped(&s));
    s.p.count += 1;
    store_end(&s);
}

static void test_columns_without_room_or_reason_are_seen(void** state) {
    (void)state;
    store s = store_begin();
    s.p.column_mask |= 1u << PARTICLE_MARKER;
    assert_false(is_grouped(&s));
    s.p.column_mask &= ~(1u << PARTICLE_MARKER);
    particle_ix kept = s.p.column_capacity[PARTICLE_ID];
    s.p.column_capacity[PARTICLE_ID] = ROWS - 1;
    assert_false(is_grouped(&s));
    s.p.column_capacity[PARTICLE_ID] = kept;
    tile_ix groups = s.p.tile_capacity;
    s.p.tile_capacity = s.p.tile_count - 1;
    assert_false(is_grouped(&s));
    s.p.tile_capacity = groups;
    store_end(&s);
}

// What others have may be anything; that it is theirs must make sense.
static void test_rows_of_other_ranks_are_not_looked_at(void** state) {
    (void)state;
    store s = store_begin();
    float* velocity = particles_f32(&s.p, PARTICLE_VELOCITY);
    velocity[0] = NAN;
    s.p.away = (particle_away){1, ROWS, ROWS};
    assert_true(is_grouped(&s));
    velocity[AXES * 1] = NAN;
    assert_false(is_grouped(&s));
    velocity[AXES * 1] = 0.0f;
    s.p.away = (particle_away){1, ROWS, ROWS + 1};
    assert_false(is_grouped(&s));
    s.p.away = (particle_away){1, 3, 2};
    assert_false(is_grouped(&s));
    s.p.away = (particle_away){0};
    velocity[0] = 0.0f;
    store_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_that_are_no_numbers_are_seen),
        cmocka_unit_test(test_borrowed_columns_have_the_room_of_the_other_store),
        cmocka_unit_test(test_rows_out_of_order_are_seen_where_they_are_said_to_be_sorted),
        cmocka_unit_test(test_groups_that_do_not_partition_the_rows_are_seen),
        cmocka_unit_test(test_columns_without_room_or_reason_are_seen),
        cmocka_unit_test(test_rows_of_other_ranks_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
