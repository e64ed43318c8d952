#include "sim_checks.h"

#include "sim/solids.h"

static const double step = 1e-6;

static treacle_key position_keys[] = {{0.0, {0.0, 0.0, 0.0}}, {2.0, {1.0, -2.0, 0.5}}};
static treacle_key rotation_keys[] = {{0.0, {0.2, 0.1, -0.3}}, {2.0, {1.2, -0.9, 2.1}}};

static treacle_solid_def moving_def(const treacle_shape* of) {
    treacle_solid_def def = treacle_solid_def_default();
    def.shape = of;
    def.position = (treacle_curve){2, position_keys};
    def.rotation = (treacle_curve){2, rotation_keys};
    def.velocity[0] = 0.7;
    def.spin[0] = 0.5;
    def.spin[1] = -1.5;
    def.pivot[0] = 0.25;
    def.pivot[2] = 0.5;
    return def;
}

static solid_motion motion_of(const treacle_solid_def* def) {
    return (solid_motion){.position = def->position,
                          .rotation = def->rotation,
                          .velocity = vec3_from(def->velocity),
                          .spin = vec3_from(def->spin),
                          .pivot = vec3_from(def->pivot)};
}

static void test_material_moves_as_its_velocity_says(void** state) {
    (void)state;
    treacle_solid_def def = moving_def(NULL);
    solid_motion motion = motion_of(&def);
    solid s = {.pivot = motion.pivot};
    for (int i = 0; i < 10; ++i) {
        double t = 0.17 * i;
        solid_pose now = solids_pose_at(&motion, t), then = solids_pose_at(&motion, t + step);
        vec3 b = vec3_make(0.3, -0.4, 0.9 + 0.1 * i);
        vec3 x = solid_to_world(&s, &now, b), y = solid_to_world(&s, &then, b);
        vec3 v = solid_velocity(&now, x);
        for (int a = 0; a < AXES; ++a) {
            assert_true(fabs((y.at[a] - x.at[a]) / step - v.at[a]) < 1e-4);
        }
        vec3 back = solid_to_body(&s, &now, x);
        assert_true(vec3_length(vec3_sub(back, b)) < 1e-12);
    }
}

static void test_a_turned_solid_is_the_solid_of_a_turned_shape(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    treacle_shape plain = treacle_shape_default(TREACLE_SHAPE_BOX), turned = plain;
    turned.rotate[2] = 0.4;
    turned.move[0] = 2.0;
    solid a = {0}, b = {0};
    assert_int_equal(shape_create(ctx, &plain, &a.shape), TREACLE_OK);
    assert_int_equal(shape_create(ctx, &turned, &b.shape), TREACLE_OK);
    solid_pose pose = {.place = {{2.0, 0.0, 0.0}}, .rotate = mat3_rotation(turned.rotate)};
    solid_pose rest = {.rotate = mat3_identity()};
    for (int i = 0; i < 20; ++i) {
        vec3 x = vec3_make(1.0 + 0.15 * i, 0.3, 0.1 * i - 1.0);
        assert_true(fabs(solid_distance(&a, &pose, x) - solid_distance(&b, &rest, x)) < 1e-12);
        solid container = b;
        container.is_inside_out = true;
        assert_true(solid_distance(&container, &rest, x) == -solid_distance(&b, &rest, x));
    }
    shape_destroy(a.shape);
    shape_destroy(b.shape);
    treacle_context_destroy(ctx);
}

static void test_flat_boxes_have_no_ends(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    treacle_shape thin = treacle_shape_default(TREACLE_SHAPE_BOX);
    thin.size[2] = 0.01;
    thin.rotate[2] = 0.3;
    shape* s = NULL;
    assert_int_equal(shape_create_flat(ctx, &thin, 2, &s), TREACLE_OK);
    assert_true(fabs(shape_distance(s, vec3_make(0.0, 0.0, 0.0)) + 0.5) < 1e-12);
    shape_destroy(s);
    treacle_context_destroy(ctx);
}

// On the top of a turned box a belt runs along, at its end it goes round the edge, and it slows
// down by its strength; a table goes round its pivot.
static void test_a_surface_moves_in_its_own_plane(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    treacle_key strength[] = {{0.0, {0.0}}, {2.0, {1.0}}};
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    treacle_sim_def def = treacle_sim_def_default();
    treacle_solid_def solids[2] = {treacle_solid_def_default(), treacle_solid_def_default()};
    static treacle_key turned = {.value = {0.0, 0.0, 0.5}};
    solids[0].shape = solids[1].shape = &box;
    solids[0].wall = solids[1].wall = TREACLE_WALL_NO_SLIP;
    solids[0].rotation = (treacle_curve){1, &turned};
    solids[0].surface_velocity.kind = TREACLE_FIELD_EXPRESSION;
    solids[0].surface_velocity.expression[0] = "3 + z + t";
    solids[0].surface_velocity.expression[1] = "7";
    solids[0].surface_velocity.expression[2] = "0";
    solids[0].surface_strength = (treacle_curve){2, strength};
    solids[1].surface_spin[1] = 2.0;
    def.solid_count = 2;
    def.solids = solids;
    grid_domain domain;
    solid_set set;
    assert_int_equal(grid_domain_init(ctx, &def.domain, &domain), TREACLE_OK);
    assert_int_equal(solids_create(ctx, &def, &domain, &set), TREACLE_OK);
    solid_pose pose = solids_pose_at(&set.motions[0], 1.0);
    pose.belt = solids_belt_at(&set.solids[0], &set.motions[0], 1.0);
    vec3 top = solid_velocity(&pose, solid_to_world(&set.solids[0], &pose, vec3_make(0, 0.5, 0.2)));
    assert_true(vec3_length(vec3_sub(top, vec3_make(2.1 * cos(0.5), 2.1 * sin(0.5), 0))) < 1e-9);
    vec3 end = solid_velocity(&pose, solid_to_world(&set.solids[0], &pose, vec3_make(0.5, 0, 0.2)));
    assert_true(vec3_length(vec3_sub(end, vec3_make(-3.5 * sin(0.5), 3.5 * cos(0.5), 0))) < 1e-9);
    solid_pose table = solids_pose_at(&set.motions[1], 1.0);
    table.belt = solids_belt_at(&set.solids[1], &set.motions[1], 1.0);
    vec3 round = solid_velocity(&table, vec3_make(0.2, 0.5, -0.1));
    assert_true(vec3_length(vec3_sub(round, vec3_make(-0.2, 0.0, -0.4))) < 1e-9);
    solids_destroy(ctx, &set);
    treacle_context_destroy(ctx);
}

// --- in a simulation -----------------------------------------------------------------------------

typedef struct solid_scene_def {
    sim_scene scene;
    treacle_shape plate, bowl;
    treacle_solid_def solids[2];
} solid_scene_def;

static void fill_scene(solid_scene_def* s) {
    sim_scene_fill(&s->scene);
    s->scene.def.flow = TREACLE_FLOW_PRESSURE;
    s->scene.def.domain.cell = 1.0 / 16;
    s->plate = shape_at(TREACLE_SHAPE_BOX, 0.5, 0.5, 0.5);
    s->plate.size[1] = 0.03; // half a cell
    s->bowl = shape_at(TREACLE_SHAPE_SPHERE, 0.5, 0.5, 0.5);
    s->bowl.radius = 0.48;
    s->solids[0] = moving_def(&s->plate);
    s->solids[1] = treacle_solid_def_default();
    s->solids[1].shape = &s->bowl;
    s->solids[1].inside_out = true;
    s->scene.def.solid_count = 2;
    s->scene.def.solids = s->solids;
}

static void test_the_state_does_not_depend_on_threads_or_sets(void** state) {
    (void)state;
    solid_scene_def s;
    fill_scene(&s);
    check_threads_and_sets(&s.scene, 3);
}

static void test_a_resumed_run_finds_its_solids(void** state) {
    (void)state;
    solid_scene_def s;
    fill_scene(&s);
    check_restore(&s.scene, 4);
}

static treacle_status make_set(treacle_context* ctx, void* data) {
    const solid_scene_def* s = data;
    grid_domain domain;
    TREACLE_TRY(grid_domain_init(ctx, &s->scene.def.domain, &domain));
    solid_set set;
    TREACLE_TRY(solids_create(ctx, &s->scene.def, &domain, &set));
    solids_destroy(ctx, &set);
    return TREACLE_OK;
}

// Belts of all kinds, over time.
static void fill_belts(solid_scene_def* s) {
    static treacle_key side_keys[] = {{0.0, {0.0, 0.0, 0.0}}, {0.02, {0.5, 0.3, 0.0}}};
    fill_scene(s);
    s->scene.def.flow = TREACLE_FLOW_UNIFIED;
    s->scene.materials[0].viscosity = s->scene.materials[1].viscosity = 20.0;
    s->scene.def.domain.surface_velocity[2][0] = (treacle_curve){2, side_keys};
    s->solids[0].wall = TREACLE_WALL_NO_SLIP;
    s->solids[0].surface_velocity.value_a[0] = 0.4;
    s->solids[1].wall = TREACLE_WALL_SLIP_LENGTH;
    s->solids[1].slip_length = 0.05;
    s->solids[1].surface_spin[1] = 1.0;
    s->solids[1].surface_strength = (treacle_curve){2, position_keys};
}

static void test_belts_do_not_depend_on_threads_or_sets(void** state) {
    (void)state;
    solid_scene_def s;
    fill_belts(&s);
    check_threads_and_sets(&s.scene, 3);
    check_restore(&s.scene, 4);
}

static void test_every_allocation_of_belts_may_fail(void** state) {
    (void)state;
    solid_scene_def s;
    fill_belts(&s);
    ALLOC_FAILURE_CHECK(make_set, &s);
}

static void test_no_liquid_is_born_in_a_solid(void** state) {
    (void)state;
    solid_scene_def s;
    fill_scene(&s);
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &s.scene.def);
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 0, &frame), TREACLE_OK);
    int64_t with = treacle_sim_particle_count(sim);
    treacle_sim_destroy(sim);
    s.scene.def.solid_count = 0;
    sim = check_make_sim(ctx, &s.scene.def);
    assert_true(with > 0 && with < treacle_sim_particle_count(sim));
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// One step of a simulation so small that failing each of its allocations takes a moment.
static treacle_status make_and_step(treacle_context* ctx, void* data) {
    const solid_scene_def* s = data;
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    TREACLE_TRY(treacle_sim_create(ctx, &s->scene.def, &sim));
    treacle_status status = treacle_sim_step(sim, 0.01, &stats);
    treacle_sim_destroy(sim);
    return status;
}

static void test_every_allocation_of_a_step_may_fail(void** state) {
    (void)state;
    solid_scene_def s;
    fill_scene(&s);
    s.scene.def.domain.size[2] = 0.0;
    s.scene.def.domain.cell = 1.0 / 16;
    s.scene.def.emitter_count = s.scene.def.sink_count = 0;
    s.scene.def.liquid_count = 1;
    ALLOC_FAILURE_CHECK(make_and_step, &s);
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    solid_scene_def s;
    fill_scene(&s);
    ALLOC_FAILURE_CHECK(make_set, &s);
}

static void test_bad_solids_are_refused(void** state) {
    (void)state;
    solid_scene_def s;
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = NULL;
    fill_scene(&s);
    s.solids[1].shape = NULL;
    assert_int_equal(treacle_sim_create(ctx, &s.scene.def, &sim), TREACLE_ERR_SCENE);
    fill_scene(&s);
    s.solids[0].spin[1] = NAN;
    assert_int_equal(treacle_sim_create(ctx, &s.scene.def, &sim), TREACLE_ERR_SCENE);
    fill_scene(&s);
    s.solids[0].slip_length = -1.0;
    assert_int_equal(treacle_sim_create(ctx, &s.scene.def, &sim), TREACLE_ERR_SCENE);
    fill_scene(&s);
    s.solids[0].surface_velocity.value_a[0] = 1.0; // liquid slides along it
    assert_int_equal(treacle_sim_create(ctx, &s.scene.def, &sim), TREACLE_ERR_SCENE);
    fill_belts(&s);
    s.scene.def.domain.surface_velocity[2][0] = (treacle_curve){.count = 2};
    assert_int_equal(treacle_sim_create(ctx, &s.scene.def, &sim), TREACLE_ERR_SCENE);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_material_moves_as_its_velocity_says),
        cmocka_unit_test(test_a_turned_solid_is_the_solid_of_a_turned_shape),
        cmocka_unit_test(test_flat_boxes_have_no_ends),
        cmocka_unit_test(test_the_state_does_not_depend_on_threads_or_sets),
        cmocka_unit_test(test_a_resumed_run_finds_its_solids),
        cmocka_unit_test(test_a_surface_moves_in_its_own_plane),
        cmocka_unit_test(test_belts_do_not_depend_on_threads_or_sets),
        cmocka_unit_test(test_every_allocation_of_belts_may_fail),
        cmocka_unit_test(test_no_liquid_is_born_in_a_solid),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_every_allocation_of_a_step_may_fail),
        cmocka_unit_test(test_bad_solids_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
