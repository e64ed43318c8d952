#include "particle_fixture.h"

#include "alloc_failure.h"

enum { CLOUD = 20000 };

static double chance(uint64_t id, int what) {
    return hash_random_f64(17, id * 16 + (uint64_t)what, RANDOM_TEST);
}

// Particles in random tiles, up to `reach` cells away from where they are said to be.
static treacle_status make_cloud(treacle_context* ctx, const grid_domain* domain, int count,
                                 double reach, particles* p) {
    TREACLE_TRY(particles_create(ctx, 1u << PARTICLE_AFFINE, p));
    for (int i = 0; i < count; ++i) {
        // Every id once, in no order.
        uint64_t id = (uint64_t)((int64_t)i * 7919 % count);
        tile_coord tile;
        for (int a = 0; a < AXES; ++a) {
            tile.at[a] = (int32_t)(chance(id, a) * domain->tiles[a]);
        }
        particle_ix row;
        treacle_status status = particles_append(p, tile, 1, &row);
        if (status != TREACLE_OK) {
            particles_destroy(p);
            return status;
        }
        particle_birth birth = {.id = id, .volume = 1.0 + (double)id};
        for (int a = 0; a < AXES; ++a) {
            birth.position[a] =
                (float)(8.0 * chance(id, 3 + a) + reach * (2.0 * chance(id, 6 + a) - 1.0));
            birth.velocity.at[a] = chance(id, 9 + a) - 0.5;
        }
        particle_init(p, domain, row, &birth);
        particles_f32(p, PARTICLE_AFFINE)[9 * row + 4] = (float)id;
    }
    return TREACLE_OK;
}

// Every id that is left is there once and has kept its other columns; `where` gives its place, m.
static void check_rows(const particles* p, const grid_domain* domain, int count, vec3* where) {
    uint8_t seen[CLOUD] = {0};
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        for (particle_ix row = p->tile_first[t]; row < p->tile_first[t + 1]; ++row) {
            uint64_t id = particles_id(p)[row];
            assert_true(id < (uint64_t)count);
            assert_int_equal(seen[id]++, 0);
            assert_true(particles_f32(p, PARTICLE_VOLUME)[row] == 1.0f + (float)id);
            assert_true(particles_f32(p, PARTICLE_AFFINE)[9 * row + 4] == (float)id);
            where[id] = particles_place(domain, p->tile[t],
                                        particles_f32(p, PARTICLE_POSITION) + AXES * row);
        }
    }
}

static void note_places(const particles* p, const grid_domain* domain, vec3* where) {
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        for (particle_ix row = p->tile_first[t]; row < p->tile_first[t + 1]; ++row) {
            where[particles_id(p)[row]] = particles_place(
                domain, p->tile[t], particles_f32(p, PARTICLE_POSITION) + AXES * row);
        }
    }
}

static void test_sort_is_a_permutation_in_order(void** state) {
    (void)state;
    static vec3 before[CLOUD], after[CLOUD];
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 64, 48, 32, 1.0, TREACLE_SIDE_PERIODIC);
    const double reaches[] = {0.0, 1.0, 7.0, 500.0};
    for (int r = 0; r < 4; ++r) {
        particles p;
        particle_sort_stats stats;
        assert_int_equal(make_cloud(ctx, &domain, CLOUD, reaches[r], &p), TREACLE_OK);
        note_places(&p, &domain, before);
        assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
        assert_true(particles_is_sorted(&p, &domain));
        assert_int_equal(p.count, CLOUD);
        assert_int_equal(stats.removed, 0);
        check_rows(&p, &domain, CLOUD, after);
        for (int i = 0; i < CLOUD; ++i) {
            for (int a = 0; a < AXES; ++a) {
                double gap = (after[i].at[a] - before[i].at[a]) / domain.cells[a];
                assert_true(fabs(gap - floor(gap + 0.5)) * domain.cells[a] < 1e-4);
            }
        }
        particles_destroy(&p);
    }
    treacle_context_destroy(ctx);
}

static void test_sort_of_sorted_changes_nothing(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 61, 43, 20, 1.0, TREACLE_SIDE_SLIP);
    particles p, copy;
    particle_sort_stats stats;
    assert_int_equal(make_cloud(ctx, &domain, CLOUD, 3.0, &p), TREACLE_OK);
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
    assert_true(stats.stopped > 0);
    assert_true(particles_is_sorted(&p, &domain));
    assert_int_equal(particles_create(ctx, p.column_mask, &copy), TREACLE_OK);
    assert_int_equal(particles_copy(&copy, &p), TREACLE_OK);
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
    assert_int_equal(stats.migrated, 0);
    assert_int_equal(stats.stopped, 0);
    assert_int_equal(p.count, copy.count);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (p.column[c] != NULL) {
            assert_memory_equal(p.column[c], copy.column[c],
                                (size_t)p.count * particle_columns[c].bytes);
        }
    }
    particles_destroy(&copy);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void assert_same_columns(const particles* a, const particles* b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->tile_count, b->tile_count);
    assert_memory_equal(a->tile_first, b->tile_first,
                        ((size_t)a->tile_count + 1) * sizeof(*a->tile_first));
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        assert_true((a->column[c] == NULL) == (b->column[c] == NULL));
        if (a->column[c] != NULL) {
            assert_memory_equal(a->column[c], b->column[c],
                                (size_t)a->count * particle_columns[c].bytes);
        }
    }
}

// What a step does: it moves particles of a borrowed store, some leave, new ones come, all are
// sorted.
static treacle_status work_on(particles* p, const grid_domain* domain, bool comes) {
    particle_sort_stats stats;
    particle_ix row = 0;
    for (particle_ix i = 0; i < AXES * p->count; i += 7) {
        particles_f32(p, PARTICLE_POSITION)[i] += 3.0f;
    }
    if (comes) {
        TREACLE_TRY(particles_append(p, (tile_coord){{1, 1, 1}}, 1, &row));
        const particle_birth birth = {.id = 1u << 30, .position = {1, 2, 3}, .volume = 1.0};
        particle_init(p, domain, row, &birth);
    }
    return sort_store(p, domain, &stats);
}

static void test_borrowed_columns_are_sorted_like_copies(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 64, 48, 32, 1.0, TREACLE_SIDE_OPEN);
    particles now, kept, copied, borrowed;
    size_t before = treacle_context_memory(ctx);
    particle_sort_stats stats;
    assert_int_equal(make_cloud(ctx, &domain, CLOUD, 3.0, &now), TREACLE_OK);
    assert_int_equal(sort_store(&now, &domain, &stats), TREACLE_OK);
    assert_int_equal(particles_create(ctx, now.column_mask, &kept), TREACLE_OK);
    assert_int_equal(particles_create(ctx, now.column_mask, &copied), TREACLE_OK);
    assert_int_equal(particles_create(ctx, now.column_mask, &borrowed), TREACLE_OK);
    assert_int_equal(particles_copy(&kept, &now), TREACLE_OK);
    for (int i = 0; i < 4; ++i) { // the second time its own blocks are there
        assert_int_equal(particles_copy(&copied, &now), TREACLE_OK);
        assert_int_equal(particles_borrow(&borrowed, &now), TREACLE_OK);
        assert_same_columns(&borrowed, &now);
        assert_int_equal(particles_own(&borrowed, 1u << PARTICLE_POSITION), TREACLE_OK);
        assert_int_equal(work_on(&copied, &domain, i % 2 == 1), TREACLE_OK);
        assert_int_equal(work_on(&borrowed, &domain, i % 2 == 1), TREACLE_OK);
        assert_true(borrowed.borrowed_mask == 0 && borrowed.count < now.count);
        assert_same_columns(&borrowed, &copied);
        assert_same_columns(&now, &kept);
    }
    assert_int_equal(particles_borrow(&borrowed, &now), TREACLE_OK); // given up before the sort
    particles_clear(&borrowed);
    assert_true(borrowed.borrowed_mask == 0 && borrowed.column[PARTICLE_ID] != now.column[2]);
    particles_destroy(&now);
    particles_destroy(&kept);
    particles_destroy(&copied);
    particles_destroy(&borrowed);
    assert_int_equal(treacle_context_memory(ctx), before);
    treacle_context_destroy(ctx);
}

static treacle_status borrow_and_work(treacle_context* ctx, void* data) {
    const bool* comes = data;
    grid_domain domain = make_domain(ctx, 32, 24, 16, 1.0, TREACLE_SIDE_OPEN);
    particles now, next = {0};
    treacle_status status = make_cloud(ctx, &domain, 500, 3.0, &now);
    if (status == TREACLE_OK) {
        status = particles_create(ctx, now.column_mask, &next);
    }
    if (status == TREACLE_OK) {
        status = particles_borrow(&next, &now);
    }
    if (status == TREACLE_OK) {
        status = particles_own(&next, 1u << PARTICLE_POSITION | 1u << PARTICLE_VELOCITY);
    }
    if (status == TREACLE_OK) {
        status = work_on(&next, &domain, *comes);
    }
    particles_destroy(&next);
    particles_destroy(&now);
    return status;
}

static void test_failing_memory_leaves_what_is_borrowed(void** state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        bool comes = i == 1;
        ALLOC_FAILURE_CHECK(borrow_and_work, &comes);
    }
}

// So many that wide columns are put in order in slices.
static void test_large_stores_are_sorted_in_slices(void** state) {
    (void)state;
    enum { MANY = 500000 };
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 64, 64, 64, 1.0, TREACLE_SIDE_SLIP);
    particles p;
    particle_sort_stats stats;
    assert_int_equal(make_cloud(ctx, &domain, MANY, 3.0, &p), TREACLE_OK);
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
    assert_true(particles_is_sorted(&p, &domain));
    for (particle_ix row = 0; row < p.count; ++row) {
        float id = (float)particles_id(&p)[row];
        assert_true(particles_f32(&p, PARTICLE_VOLUME)[row] == 1.0f + id);
        assert_true(particles_f32(&p, PARTICLE_AFFINE)[9 * row + 4] == id);
    }
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_order_does_not_depend_on_history_or_threads(void** state) {
    (void)state;
    particles reference = {0};
    treacle_context* home = make_context(1);
    for (int threads = 1; threads <= 4; ++threads) {
        treacle_context* ctx = threads == 1 ? home : make_context(threads);
        grid_domain domain = make_domain(ctx, 64, 48, 32, 1.0, TREACLE_SIDE_SLIP);
        particles p;
        particle_sort_stats stats;
        assert_int_equal(make_cloud(ctx, &domain, CLOUD, 9.0, &p), TREACLE_OK);
        assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
        if (threads == 1) {
            reference = p;
            continue;
        }
        assert_int_equal(p.count, reference.count);
        assert_memory_equal(particles_id(&p), particles_id(&reference), (size_t)p.count * 8);
        assert_memory_equal(p.column[0], reference.column[0], (size_t)p.count * 12);
        particles_destroy(&p);
        treacle_context_destroy(ctx);
    }
    particles_destroy(&reference);
    treacle_context_destroy(home);
}

// One particle at a tile-local position; returns whether it is still there, and where.
static bool sort_one(const grid_domain* domain, treacle_context* ctx, const float position[AXES],
                     particles* p, particle_sort_stats* stats) {
    assert_int_equal(particles_create(ctx, 0, p), TREACLE_OK);
    particle_ix row;
    tile_coord tile = {{1, domain->tiles[1] > 1 ? 1 : 0, domain->tiles[2] > 1 ? 1 : 0}};
    assert_int_equal(particles_append(p, tile, 1, &row), TREACLE_OK);
    particle_birth birth = {.velocity = {{-1.0, 2.0, 3.0}}, .volume = 1.0};
    particle_init(p, domain, row, &birth);
    memcpy(particles_f32(p, PARTICLE_POSITION), position, AXES * sizeof(float));
    assert_int_equal(sort_store(p, domain, stats), TREACLE_OK);
    assert_true(particles_is_sorted(p, domain));
    return p->count == 1;
}

static void test_a_hair_below_a_tile_stays_in_range(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    const treacle_side sides[] = {TREACLE_SIDE_SLIP, TREACLE_SIDE_PERIODIC};
    const float hairs[] = {-1e-30f, -1e-9f,     -1e-7f,     -0.0f,
                           8.0f,    7.9999995f, 15.999999f, -7.9999995f};
    for (int s = 0; s < 2; ++s) {
        grid_domain domain = make_domain(ctx, 32, 32, 32, 1.0, sides[s]);
        for (int i = 0; i < 8; ++i) {
            particles p;
            particle_sort_stats stats;
            assert_true(
                sort_one(&domain, ctx, (float[]){hairs[i], hairs[i], hairs[i]}, &p, &stats));
            vec3 at = particles_place(&domain, p.tile[0], particles_f32(&p, PARTICLE_POSITION));
            assert_true(fabs(at.at[1] - (8.0 + (double)hairs[i])) < 1e-6);
            particles_destroy(&p);
        }
    }
    treacle_context_destroy(ctx);
}

static void test_walls_stop_and_open_sides_let_go(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    const float out[AXES] = {-9.5f, 4.0f, 4.0f};
    particles p;
    particle_sort_stats stats;
    grid_domain slip = make_domain(ctx, 20, 20, 20, 1.0, TREACLE_SIDE_SLIP);
    assert_true(sort_one(&slip, ctx, out, &p, &stats));
    assert_int_equal(stats.stopped, 1);
    assert_true(particles_f32(&p, PARTICLE_POSITION)[0] == (float)SIDE_MARGIN);
    assert_true(particles_f32(&p, PARTICLE_VELOCITY)[0] == 0.0f);
    assert_true(particles_f32(&p, PARTICLE_VELOCITY)[1] == 2.0f);
    particles_destroy(&p);
    grid_domain sticky = make_domain(ctx, 20, 20, 20, 1.0, TREACLE_SIDE_NO_SLIP);
    assert_true(sort_one(&sticky, ctx, out, &p, &stats));
    assert_true(particles_f32(&p, PARTICLE_VELOCITY)[1] == 0.0f);
    particles_destroy(&p);
    grid_domain open = make_domain(ctx, 20, 20, 20, 1.0, TREACLE_SIDE_OPEN);
    assert_false(sort_one(&open, ctx, out, &p, &stats));
    assert_int_equal(stats.removed, 1);
    assert_int_equal(p.tile_count, 0);
    particles_destroy(&p);
    // Past the far side of 20 cells, which is inside tile 2.
    assert_true(sort_one(&slip, ctx, (float[]){12.5f, 4.0f, 4.0f}, &p, &stats));
    assert_int_equal(p.tile[0].at[0], 2);
    assert_true(particles_f32(&p, PARTICLE_VELOCITY)[0] == -1.0f); // it already leaves
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_flat_domains_keep_the_mid_plane(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 20, 20, 1, 1.0, TREACLE_SIDE_SLIP);
    particles p;
    particle_sort_stats stats;
    assert_true(sort_one(&domain, ctx, (float[]){1.0f, 1.0f, 77.0f}, &p, &stats));
    assert_true(particles_f32(&p, PARTICLE_POSITION)[2] == 0.5f);
    assert_int_equal(p.tile[0].at[2], 0);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_positions_that_are_not_finite_are_reported(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 64, 64, 64, 1.0, TREACLE_SIDE_SLIP);
    particles p;
    particle_sort_stats stats;
    assert_int_equal(make_cloud(ctx, &domain, 100, 0.0, &p), TREACLE_OK);
    particles_f32(&p, PARTICLE_POSITION)[3 * 41 + 1] = NAN;
    particles_f32(&p, PARTICLE_POSITION)[3 * 77] = INFINITY;
    particles_id(&p)[41] = 12345;
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_ERR_DIVERGED);
    assert_non_null(strstr(treacle_context_error(ctx), "2 particles"));
    assert_non_null(strstr(treacle_context_error(ctx), "12345"));
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_a_crowded_cell_is_sorted_by_id(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    grid_domain domain = make_domain(ctx, 64, 64, 64, 1.0, TREACLE_SIDE_SLIP);
    particles p;
    particle_sort_stats stats;
    assert_int_equal(make_cloud(ctx, &domain, CLOUD, 1.0, &p), TREACLE_OK);
    for (particle_ix i = 0; i < AXES * p.count; ++i) {
        particles_f32(&p, PARTICLE_POSITION)[i] = -1000.0f; // all into one corner
    }
    assert_int_equal(sort_store(&p, &domain, &stats), TREACLE_OK);
    assert_true(particles_is_sorted(&p, &domain));
    assert_int_equal(p.tile_count, 1);
    assert_int_equal(p.count, CLOUD);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static treacle_status build_and_sort(treacle_context* ctx, void* data) {
    const grid_domain* domain = data;
    particles p;
    particle_sort_stats stats;
    TREACLE_TRY(make_cloud(ctx, domain, 50, 20.0, &p));
    treacle_status status = sort_store(&p, domain, &stats);
    particles_destroy(&p);
    return status;
}

static void test_failing_memory_is_survived(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 64, 64, 64, 1.0, TREACLE_SIDE_SLIP);
    ALLOC_FAILURE_CHECK(build_and_sort, &domain);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort_is_a_permutation_in_order),
        cmocka_unit_test(test_sort_of_sorted_changes_nothing),
        cmocka_unit_test(test_borrowed_columns_are_sorted_like_copies),
        cmocka_unit_test(test_failing_memory_leaves_what_is_borrowed),
        cmocka_unit_test(test_large_stores_are_sorted_in_slices),
        cmocka_unit_test(test_order_does_not_depend_on_history_or_threads),
        cmocka_unit_test(test_a_hair_below_a_tile_stays_in_range),
        cmocka_unit_test(test_walls_stop_and_open_sides_let_go),
        cmocka_unit_test(test_flat_domains_keep_the_mid_plane),
        cmocka_unit_test(test_positions_that_are_not_finite_are_reported),
        cmocka_unit_test(test_a_crowded_cell_is_sorted_by_id),
        cmocka_unit_test(test_failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
