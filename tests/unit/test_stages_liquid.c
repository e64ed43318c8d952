// The parts of a liquid's step, one by one, as tests and research call them.
#include "sim_fixture.h"

#include "alloc_failure.h"
#include "treacle/unstable/stages.h"

enum { N = 16, CELLS = N * N * N };

// A ball of radius 5 in a room of 16^3 cells of width 1 m, density 2 kg/m^3, at 1, 2, 3 m/s.
typedef struct ball_scene {
    treacle_sim_def def;
    treacle_material_def material;
    treacle_shape ball;
    treacle_liquid_def liquid;
} ball_scene;

static void fill(ball_scene* s, treacle_transfer transfer) {
    memset(s, 0, sizeof(*s));
    s->def = treacle_sim_def_default();
    s->def.transfer = transfer;
    s->def.particles.jitter = 1.0;
    s->def.domain.cell = 1.0;
    s->def.domain.size[0] = s->def.domain.size[1] = s->def.domain.size[2] = N;
    s->material = treacle_material_def_default();
    s->material.density = 2.0;
    s->ball = shape_at(TREACLE_SHAPE_SPHERE, 8.1, 7.8, 8.3);
    s->ball.radius = 5.0;
    s->liquid = treacle_liquid_def_default();
    s->liquid.shape = &s->ball;
    for (int a = 0; a < AXES; ++a) {
        s->liquid.velocity.value_a[a] = 1.0 + a;
    }
    s->def.material_count = 1;
    s->def.materials = &s->material;
    s->def.liquid_count = 1;
    s->def.liquids = &s->liquid;
}

static treacle_sim* make(treacle_context* ctx, treacle_transfer transfer) {
    ball_scene scene;
    fill(&scene, transfer);
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_sim_create(ctx, &scene.def, &sim), TREACLE_OK);
    return sim;
}

// The mean place of all particles, m.
static void middle_of(treacle_sim* sim, double out[AXES]) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const int32_t* coord = treacle_frame_find(&frame, "tile_coord")->data;
    const float* position = treacle_frame_find(&frame, "position")->data;
    double count = (double)tile_first[first->count - 1];
    out[0] = out[1] = out[2] = 0.0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = AXES * tile_first[t]; i < AXES * tile_first[t + 1]; ++i) {
            out[i % AXES] += (8.0 * coord[AXES * t + i % AXES] + (double)position[i]) / count;
        }
    }
}

static void test_particles_are_carried_by_the_given_velocity(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = make(ctx, TREACLE_TRANSFER_APIC);
    treacle_field wind = {.kind = TREACLE_FIELD_EXPRESSION, .expression = {"2*t", "-1", "0.5"}};
    double before[AXES], after[AXES];
    treacle_stages_sort_stats sorted;
    middle_of(sim, before);
    assert_int_equal(treacle_stages_carry(sim, &wind, 1.5, 0.25), TREACLE_OK);
    assert_int_equal(treacle_stages_sort(sim, &sorted), TREACLE_OK);
    middle_of(sim, after);
    assert_close(after[0] - before[0], 0.75, 1e-5);
    assert_close(after[1] - before[1], -0.25, 1e-5);
    assert_close(after[2] - before[2], 0.125, 1e-5);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_carrying_too_far_or_by_nonsense_is_refused(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = make(ctx, TREACLE_TRANSFER_APIC);
    uint64_t hash = treacle_sim_hash(sim);
    treacle_field storm = {.kind = TREACLE_FIELD_CONSTANT, .value_a = {0, 60, 0}};
    assert_int_equal(treacle_stages_carry(sim, &storm, 0.0, 0.1), TREACLE_ERR_DIVERGED);
    treacle_field nonsense = {.kind = TREACLE_FIELD_EXPRESSION, .expression = {"1", "2*", "3"}};
    assert_int_equal(treacle_stages_carry(sim, &nonsense, 0.0, 0.1), TREACLE_ERR_SCENE);
    assert_int_equal(treacle_stages_carry(sim, &storm, 0.0, -0.1), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_stages_carry(sim, &storm, 0.0, NAN), TREACLE_ERR_USAGE);
    assert_true(treacle_sim_hash(sim) == hash);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_the_surface_holds_the_ball(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = make(ctx, TREACLE_TRANSFER_APIC);
    static float distance[CELLS], fraction[CELLS];
    assert_int_equal(treacle_stages_surface(sim, distance, fraction), TREACLE_OK);
    double volume = 0.0;
    for (int i = 0; i < CELLS; ++i) {
        double x = i % N + 0.5, y = i / N % N + 0.5, z = i / N / N + 0.5;
        double exact = sqrt(pow(x - 8.1, 2) + pow(y - 7.8, 2) + pow(z - 8.3, 2)) - 5.0;
        if (fabs(exact) < 2.0) {
            assert_true(fabs(exact - (double)distance[i]) < 0.4);
        }
        assert_true((double)fraction[i] == (exact < -2.0  ? 1.0
                                            : exact > 2.0 ? 0.0
                                                          : (double)fraction[i]));
        volume += (double)fraction[i];
    }
    assert_close(volume / (4.0 / 3.0 * 3.14159265358979 * 125.0), 1.0, 0.04);
    assert_int_equal(treacle_stages_surface(sim, NULL, NULL), TREACLE_OK);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_a_transfer_brings_mass_and_momentum(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    for (int kind = TREACLE_TRANSFER_PIC; kind <= TREACLE_TRANSFER_APIC; ++kind) {
        treacle_sim* sim = make(ctx, (treacle_transfer)kind);
        double mass = 2.0 / 8.0 * (double)treacle_sim_particle_count(sim);
        treacle_stages_totals sum;
        for (int round = 0; round < 2; ++round) {
            assert_int_equal(treacle_stages_transfer(sim, &sum), TREACLE_OK);
            assert_close(sum.mass / mass, 1.0, 1e-6);
            for (int a = 0; a < AXES; ++a) {
                assert_close(sum.momentum[a] / ((1.0 + a) * mass), 1.0, 1e-5);
            }
            double middle[AXES];
            middle_of(sim, middle);
            // x cross p of a body that does not turn
            assert_close(sum.angular[0] / mass, 3.0 * middle[1] - 2.0 * middle[2], 1e-4);
        }
        treacle_sim_destroy(sim);
    }
    treacle_context_destroy(ctx);
}

static void test_where_nothing_flows_there_is_no_grid(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    ball_scene scene;
    fill(&scene, TREACLE_TRANSFER_APIC);
    scene.def.flow = TREACLE_FLOW_NONE;
    treacle_sim* sim = NULL;
    treacle_stages_totals sum;
    assert_int_equal(treacle_sim_create(ctx, &scene.def, &sim), TREACLE_OK);
    treacle_field calm = {.kind = TREACLE_FIELD_CONSTANT};
    assert_int_equal(treacle_stages_transfer(sim, &sum), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_stages_surface(sim, NULL, NULL), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_stages_carry(sim, &calm, 0.0, 0.1), TREACLE_ERR_USAGE);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_a_cloud_in_double_keeps_its_momentum(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    double position[2][AXES] = {{1.25, 3.5, 6.75}, {7.5, 0.0, 4.0}};
    double velocity[AXES][2] = {{1, 2}, {3, 4}, {-5, 6}}, affine[AXES][2][AXES] = {{{0.5}}};
    treacle_stages_cloud cloud = {.is_affine = true,
                                  .count = 2,
                                  .position = position[0],
                                  .velocity = velocity[0],
                                  .affine = affine[0][0]};
    treacle_stages_totals sum, again;
    assert_int_equal(treacle_stages_transfer_double(ctx, &cloud, &sum), TREACLE_OK);
    assert_int_equal(treacle_stages_transfer_double(ctx, &cloud, &again), TREACLE_OK);
    assert_close(sum.mass, 2.0, 1e-14);
    for (int a = 0; a < AXES; ++a) {
        double momentum = (const double[]){3.0, 7.0, 1.0}[a];
        assert_close(sum.momentum[a], momentum, 1e-13);
        assert_close(again.angular[a], sum.angular[a], 1e-12);
    }
    position[1][2] = 8.0;
    assert_int_equal(treacle_stages_transfer_double(ctx, &cloud, &sum), TREACLE_ERR_USAGE);
    treacle_context_destroy(ctx);
}

static treacle_status use_all(treacle_context* ctx, treacle_sim* sim) {
    static float distance[CELLS], fraction[CELLS];
    treacle_field wind = {.kind = TREACLE_FIELD_EXPRESSION, .expression = {"1", "x", "0"}};
    treacle_stages_totals sum;
    treacle_stages_sort_stats sorted;
    double position[AXES] = {4, 4, 4}, velocity[AXES] = {0}, affine[AXES][AXES] = {{0}};
    treacle_stages_cloud cloud = {
        .count = 1, .position = position, .velocity = velocity, .affine = affine[0]};
    TREACLE_TRY(treacle_stages_carry(sim, &wind, 0.0, 0.01));
    TREACLE_TRY(treacle_stages_sort(sim, &sorted));
    TREACLE_TRY(treacle_stages_surface(sim, distance, fraction));
    TREACLE_TRY(treacle_stages_transfer(sim, &sum));
    return treacle_stages_transfer_double(ctx, &cloud, &sum);
}

static treacle_status create_and_use_all(treacle_context* ctx, void* user) {
    treacle_sim* sim = NULL;
    TREACLE_TRY(treacle_sim_create(ctx, user, &sim));
    treacle_status status = use_all(ctx, sim);
    treacle_sim_destroy(sim);
    return status;
}

static void test_failed_allocations_leave_nothing(void** state) {
    (void)state;
    ball_scene scene;
    fill(&scene, TREACLE_TRANSFER_FLIP);
    scene.ball.radius = 1.0;
    ALLOC_FAILURE_CHECK(create_and_use_all, &scene.def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_particles_are_carried_by_the_given_velocity),
        cmocka_unit_test(test_carrying_too_far_or_by_nonsense_is_refused),
        cmocka_unit_test(test_the_surface_holds_the_ball),
        cmocka_unit_test(test_a_transfer_brings_mass_and_momentum),
        cmocka_unit_test(test_where_nothing_flows_there_is_no_grid),
        cmocka_unit_test(test_a_cloud_in_double_keeps_its_momentum),
        cmocka_unit_test(test_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
