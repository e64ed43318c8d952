// Edits of a state: what is changed is there after the next step, and nothing else is.
#include <math.h>
#include <string.h>

#include "alloc_failure.h"
#include "treacle/edit.h"

static const treacle_shape* cube(void) {
    static treacle_shape box;
    box = treacle_shape_default(TREACLE_SHAPE_BOX);
    for (int k = 0; k < 3; ++k) {
        box.size[k] = 0.4;
        box.move[k] = k == 1 ? 0.2 : 0.5;
    }
    return &box;
}

static treacle_sim* make_sim(treacle_context* ctx, treacle_status* status) {
    treacle_material_def material = treacle_material_def_default();
    treacle_liquid_def liquid = treacle_liquid_def_default();
    treacle_sim_def def = treacle_sim_def_default();
    material.viscosity = 1.0;
    liquid.shape = cube();
    def.domain.cell = 0.1;
    for (int k = 0; k < 3; ++k) {
        def.domain.size[k] = 1.6;
    }
    def.material_count = 1;
    def.materials = &material;
    def.liquid_count = 1;
    def.liquids = &liquid;
    treacle_sim* sim = NULL;
    *status = treacle_sim_create(ctx, &def, &sim);
    return sim;
}

static treacle_sim* ready_sim(treacle_context* ctx) {
    treacle_status status = TREACLE_OK;
    treacle_sim* sim = make_sim(ctx, &status);
    assert_int_equal(status, TREACLE_OK);
    assert_int_equal(treacle_sim_step(sim, 0.01, &(treacle_step_stats){0}), TREACLE_OK);
    return sim;
}

static void test_an_edit_without_changes_changes_nothing(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = ready_sim(ctx);
    treacle_edit* edit = NULL;
    uint64_t before = treacle_sim_hash(sim);
    assert_int_equal(treacle_edit_begin(sim, &edit), TREACLE_OK);
    assert_int_equal(treacle_edit_apply(edit), TREACLE_OK);
    treacle_edit_destroy(edit);
    assert_true(treacle_sim_hash(sim) == before);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_added_particles_fall_and_removed_ones_are_gone(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = ready_sim(ctx);
    treacle_edit* edit = NULL;
    int64_t before = treacle_sim_particle_count(sim);
    // Far from the liquid, in a tile that the grid did not have.
    const treacle_particle_def drop = {{1.25, 1.35, 1.25}, {0.0, -1.0, 0.0}, 1e-3 / 8.0, 0};
    assert_int_equal(treacle_edit_begin(sim, &edit), TREACLE_OK);
    assert_int_equal(treacle_edit_add(edit, 1, &drop), TREACLE_OK);
    assert_int_equal(treacle_edit_particle_count(edit), before + 1);
    assert_int_equal(treacle_edit_apply(edit), TREACLE_OK);
    treacle_edit_destroy(edit);
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(treacle_sim_step(sim, 0.01, &(treacle_step_stats){0}), TREACLE_OK);
    }
    assert_int_equal(treacle_sim_particle_count(sim), before + 1);
    assert_int_equal(treacle_edit_begin(sim, &edit), TREACLE_OK);
    int64_t count = treacle_edit_particle_count(edit);
    double* place = malloc((size_t)count * 3 * sizeof(double));
    uint8_t* is_gone = calloc((size_t)count, 1);
    treacle_edit_positions(edit, place);
    int64_t high = 0;
    for (int64_t i = 0; i < count; ++i) {
        high = place[3 * i + 1] > place[3 * high + 1] ? i : high;
    }
    assert_true(place[3 * high + 1] < 1.349 && place[3 * high + 1] > 1.2);
    is_gone[high] = 1;
    treacle_edit_remove(edit, is_gone);
    assert_int_equal(treacle_edit_apply(edit), TREACLE_OK);
    assert_int_equal(treacle_sim_particle_count(sim), before);
    assert_int_equal(treacle_sim_step(sim, 0.01, &(treacle_step_stats){0}), TREACLE_OK);
    free(place);
    free(is_gone);
    treacle_edit_destroy(edit);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_a_velocity_that_is_set_moves_the_liquid(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = ready_sim(ctx);
    treacle_edit* edit = NULL;
    treacle_step_stats stats;
    assert_int_equal(treacle_edit_begin(sim, &edit), TREACLE_OK);
    treacle_array* velocity = treacle_edit_find(edit, "velocity");
    for (int64_t i = 0; i < velocity->count; ++i) {
        ((float*)velocity->data)[3 * i] = 2.0f;
    }
    assert_null(treacle_edit_find(edit, "nothing"));
    assert_int_equal(treacle_edit_apply(edit), TREACLE_OK);
    treacle_edit_destroy(edit);
    assert_int_equal(treacle_sim_step(sim, 0.01, &stats), TREACLE_OK);
    assert_true(stats.max_speed > 1.5);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_nonsense_is_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = ready_sim(ctx);
    treacle_edit* edit = NULL;
    const treacle_particle_def wrong[] = {
        {{9.0, 0.5, 0.5}, {0}, 1e-3, 0},
        {{0.5, 0.5, NAN}, {0}, 1e-3, 0},
        {{0.5, 0.5, 0.5}, {0}, 0.0, 0},
        {{0.5, 0.5, 0.5}, {0}, 1e-3, 1},
        {{0.5, 0.5, 0.5}, {INFINITY, 0.0, 0.0}, 1e-3, 0},
    };
    assert_int_equal(treacle_edit_begin(sim, &edit), TREACLE_OK);
    int64_t before = treacle_edit_particle_count(edit);
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); ++k) {
        assert_int_equal(treacle_edit_add(edit, 1, &wrong[k]), TREACLE_ERR_USAGE);
    }
    assert_int_equal(treacle_edit_particle_count(edit), before);
    treacle_edit_destroy(edit);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static treacle_status edit_all(treacle_context* ctx, void* data) {
    const treacle_particle_def drop = {{1.25, 1.35, 1.25}, {0.0, -1.0, 0.0}, 1e-3 / 8.0, 0};
    treacle_edit* edit = NULL;
    treacle_status status = TREACLE_OK;
    (void)data;
    treacle_sim* sim = make_sim(ctx, &status);
    if (status == TREACLE_OK) {
        status = treacle_edit_begin(sim, &edit);
    }
    if (status == TREACLE_OK) {
        status = treacle_edit_add(edit, 1, &drop);
    }
    if (status == TREACLE_OK) {
        status = treacle_edit_apply(edit);
    }
    treacle_edit_destroy(edit);
    treacle_sim_destroy(sim);
    return status;
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(edit_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_edit_without_changes_changes_nothing),
        cmocka_unit_test(test_added_particles_fall_and_removed_ones_are_gone),
        cmocka_unit_test(test_a_velocity_that_is_set_moves_the_liquid),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
