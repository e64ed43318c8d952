// Rigid bodies in the simulation: bits, resuming, contacts, joints, and liquid that carries them.
#include "sim_checks.h"

#include "phys/rigid_body.h"

typedef struct body_scene {
    sim_scene scene;
    treacle_shape shapes[3];
    treacle_body_def bodies[3];
    treacle_joint_def joints[2];
} body_scene;

// A pool in a box with a light ball, a heavy box and a hinged plate.
static void fill_bodies(body_scene* s) {
    memset(s, 0, sizeof(*s));
    sim_scene_fill(&s->scene);
    treacle_sim_def* def = &s->scene.def;
    def->flow = TREACLE_FLOW_PRESSURE;
    def->transfer = TREACLE_TRANSFER_APIC;
    def->domain.cell = 1.0 / 16;
    for (int a = 0; a < 3; ++a) {
        def->domain.sides[a][0] = def->domain.sides[a][1] = TREACLE_SIDE_SLIP;
    }
    def->emitter_count = def->sink_count = 0;
    s->shapes[0] = shape_at(TREACLE_SHAPE_SPHERE, 0.3, 0.3, 0.4);
    s->shapes[0].radius = 0.15;
    s->shapes[1] = shape_at(TREACLE_SHAPE_BOX, 0.7, 0.2, 0.6);
    s->shapes[2] = shape_at(TREACLE_SHAPE_BOX, 0.5, 0.6, 0.3);
    for (int a = 0; a < 3; ++a) {
        s->shapes[1].size[a] = 0.25;
        s->shapes[2].size[a] = a == 0 ? 0.5 : 0.15;
    }
    for (int i = 0; i < 3; ++i) {
        s->bodies[i] = treacle_body_def_default();
        s->bodies[i].shape = &s->shapes[i];
    }
    s->bodies[0].density = 10.0;
    s->bodies[0].velocity[0] = 1.0;
    s->bodies[0].restitution = 0.5;
    s->bodies[1].density = 5000.0;
    s->bodies[1].spin[1] = 2.0;
    s->bodies[2].name = "plate";
    s->joints[0] = treacle_joint_def_default();
    s->joints[0].anchor[0] = 0.3;
    s->joints[0].anchor[1] = 0.6;
    s->joints[0].axis[1] = 0.0;
    s->joints[0].axis[2] = 1.0;
    s->bodies[2].joint_count = 1;
    s->bodies[2].joints = s->joints;
    def->body_count = 3;
    def->bodies = s->bodies;
}

// The same in thick liquid: one body sticks, one has a slip length, the hinged one slides.
static void fill_thick(body_scene* s, treacle_flow flow) {
    fill_bodies(s);
    s->scene.def.flow = flow;
    s->scene.def.domain.cell = 1.0 / 8;
    s->scene.def.particles.per_cell = 1;
    s->scene.materials[0].viscosity = 200.0;
    s->scene.materials[1].viscosity = 5.0;
    s->bodies[0].wall = TREACLE_WALL_NO_SLIP;
    s->bodies[1].wall = TREACLE_WALL_SLIP_LENGTH;
    s->bodies[1].slip_length = 0.05;
    s->bodies[2].wall = TREACLE_WALL_NO_SLIP;
}

static const body_state* state_of(treacle_sim* sim, int i) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array* bodies = treacle_frame_find(&frame, "body_state");
    assert_non_null(bodies);
    assert_int_equal(bodies->components, BODY_STATE_DOUBLES);
    return (const body_state*)bodies->data + i;
}

static void test_state_is_the_same_on_all_threads_and_instruction_sets(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    check_threads_and_sets(&s.scene, 6);
}

static void test_restoring_at_every_step_equals_an_uninterrupted_run(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    check_restore(&s.scene, 8);
}

static void test_bits_in_thick_liquid_do_not_depend_on_threads_or_restoring(void** state) {
    (void)state;
    static const treacle_flow flows[] = {TREACLE_FLOW_UNIFIED, TREACLE_FLOW_SPLIT};
    for (int i = 0; i < 2; ++i) {
        body_scene s;
        fill_thick(&s, flows[i]);
        check_threads_and_sets(&s.scene, 2);
        check_restore(&s.scene, 2);
    }
}

static void test_failing_memory_leaves_the_state_as_it_was(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    s.scene.def.particles.per_cell = 1;
    s.scene.def.domain.cell = 1.0 / 8;
    ALLOC_FAILURE_CHECK(check_create_and_step, &s.scene);
}

static void test_failing_memory_in_thick_liquid_leaves_the_state_as_it_was(void** state) {
    (void)state;
    body_scene s;
    fill_thick(&s, TREACLE_FLOW_UNIFIED);
    s.scene.def.body_count = 1;
    ALLOC_FAILURE_CHECK(check_create_and_step, &s.scene);
}

// Bodies alone in a dry box, for a while.
static body_state run_dry(const treacle_body_def* bodies, int count, int shown, double until) {
    body_scene s;
    fill_bodies(&s);
    s.scene.def.liquid_count = 0;
    s.scene.def.body_count = count;
    s.scene.def.bodies = bodies;
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &s.scene.def);
    treacle_step_stats stats;
    for (double t = 0.0; t < until; t += 0.005) {
        check_step(ctx, sim, 0.005, &stats);
    }
    body_state out = *state_of(sim, shown);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return out;
}

static void test_body_falls_freely_and_comes_to_rest_on_the_floor(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    s.bodies[1].spin[1] = 0.0;
    s.shapes[1].move[1] = 0.6;
    body_state falling = run_dry(&s.bodies[1], 1, 0, 0.1);
    assert_close(falling.velocity[1], -0.981, 0.06);
    assert_close(falling.place[1], 0.6 - 0.5 * 9.81 * 0.01, 0.01);
    body_state resting = run_dry(&s.bodies[1], 1, 0, 1.0);
    assert_close(resting.place[1], 0.125, 0.005);
    assert_close(resting.place[0], 0.7, 1e-3);
    assert_close(resting.quaternion[0], 1.0, 1e-3);
}

static void test_bounce_gives_back_its_share(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    s.bodies[0].velocity[0] = 0.0;
    s.bodies[0].restitution = 0.8;
    s.shapes[0].move[1] = 0.65; // half a metre above where it touches
    double highest = 0.0;
    for (double t = 0.4; t < 0.8; t += 0.04) {
        highest = fmax(highest, run_dry(s.bodies, 1, 0, t).place[1]);
    }
    assert_close(highest - 0.15, 0.64 * 0.5, 0.05);
}

// The fastest that a light ball in a dry box becomes whose neighbours are plates that move along x.
static double fastest_between(const double (*plates)[2], int count, double dt) {
    body_scene s;
    fill_bodies(&s);
    treacle_shape shapes[2];
    treacle_solid_def solids[2];
    for (int i = 0; i < count; ++i) {
        shapes[i] = shape_at(TREACLE_SHAPE_BOX, plates[i][0], 0.5, 0.4);
        shapes[i].size[0] = 0.1;
        shapes[i].size[1] = shapes[i].size[2] = 0.6;
        shapes[i].rotate[2] = 0.02 * (i + 1);
        solids[i] = treacle_solid_def_default();
        solids[i].shape = &shapes[i];
        solids[i].velocity[0] = plates[i][1];
    }
    s.scene.def.solid_count = count;
    s.scene.def.solids = solids;
    s.scene.def.liquid_count = 0;
    s.scene.def.body_count = 1;
    s.scene.def.bodies = s.bodies;
    treacle_key none = {0};
    s.scene.def.gravity = (treacle_curve){1, &none};
    s.shapes[0] = shape_at(TREACLE_SHAPE_SPHERE, 0.5, 0.5, 0.4);
    s.shapes[0].radius = 0.15;
    memset(s.bodies[0].velocity, 0, sizeof(s.bodies[0].velocity));
    s.bodies[0].restitution = 0.0;
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &s.scene.def);
    double most = 0.0;
    for (int i = 0; i < (int)(0.25 / dt); ++i) {
        treacle_step_stats stats;
        check_step(ctx, sim, dt, &stats);
        most = fmax(most, vec3_length(vec3_from(state_of(sim, 0)->velocity)));
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return most;
}

// What has sunk into a solid is pushed out, which leaves no speed, however short the step
// [rigid.8].
static void test_a_plate_gives_a_body_its_own_speed(void** state) {
    (void)state;
    const double plate[][2] = {{0.25, 1.0}};
    for (double dt = 8e-3; dt > 4e-4; dt *= 0.25) {
        assert_close(fastest_between(plate, 1, dt), 1.0, 0.03);
    }
}

// It cannot obey both, and gives way into them [rigid.9].
static void test_plates_that_close_on_a_body_do_not_shoot_it(void** state) {
    (void)state;
    const double plates[][2] = {{0.25, 1.0}, {0.75, -0.7}};
    for (double dt = 8e-3; dt > 4e-4; dt *= 0.25) {
        assert_true(fastest_between(plates, 2, dt) < 6.0);
    }
}

static void test_bodies_stack(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    treacle_shape low = shape_at(TREACLE_SHAPE_BOX, 0.5, 0.15, 0.5);
    treacle_shape high = shape_at(TREACLE_SHAPE_BOX, 0.52, 0.5, 0.5);
    treacle_body_def pile[2] = {treacle_body_def_default(), treacle_body_def_default()};
    for (int a = 0; a < 3; ++a) {
        low.size[a] = 0.3;
        high.size[a] = 0.2;
    }
    pile[0].shape = &low;
    pile[1].shape = &high;
    body_state top = run_dry(pile, 2, 1, 1.0);
    assert_close(top.place[1], 0.4, 0.01);
    assert_close(top.place[0], 0.52, 0.01);
}

static void test_hinge_keeps_its_distance(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    for (double t = 0.1; t < 1.0; t += 0.3) {
        body_state plate = run_dry(&s.bodies[2], 1, 0, t);
        double arm = hypot(plate.place[0] - 0.3, plate.place[1] - 0.6);
        assert_close(arm, 0.2, 2e-3);
        assert_close(plate.place[2], 0.3, 1e-3);
        assert_close(plate.spin[0], 0.0, 1e-6);
    }
    // A pendulum let go level passes its lowest point with the speed that its fall gives.
    s.joints[0].kind = TREACLE_JOINT_SLIDER;
    s.joints[0].axis[2] = 0.0;
    s.joints[0].axis[0] = 1.0;
    body_state held = run_dry(&s.bodies[2], 1, 0, 0.3);
    assert_close(held.place[1], 0.6, 1e-3);
}

// A hinge whose axis lies in the plane, a slider that leaves it: nothing is left to the body, and
// it holds against liquid, although its anchor is not quite in the plane [rigid.4].
static void test_joints_out_of_the_plane_hold_a_flat_body(void** state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        body_scene s;
        fill_bodies(&s);
        s.scene.def.domain.size[2] = 0.0;
        s.scene.def.domain.origin[2] = 0.3;
        s.shapes[2].move[1] = 0.3;
        s.joints[0].kind = i == 0 ? TREACLE_JOINT_HINGE : TREACLE_JOINT_SLIDER;
        s.joints[0].anchor[0] = 0.5;
        s.joints[0].anchor[1] = 0.3;
        s.joints[0].anchor[2] = 0.3 + 1e-15;
        s.joints[0].axis[1] = 1.0;
        s.joints[0].axis[2] = i == 0 ? 0.0 : 1.0;
        s.scene.def.body_count = 1;
        s.scene.def.bodies = &s.bodies[2];
        treacle_context* ctx = make_context(1);
        treacle_sim* sim = check_make_sim(ctx, &s.scene.def);
        for (int n = 0; n < 20; ++n) {
            treacle_step_stats stats;
            check_step(ctx, sim, 0.01, &stats);
        }
        const body_state* plate = state_of(sim, 0);
        assert_close(plate->velocity[0], 0.0, 1e-9);
        assert_close(plate->velocity[1], 0.0, 1e-9);
        assert_close(plate->spin[2], 0.0, 1e-9);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

static void test_light_body_rises_and_heavy_body_sinks(void** state) {
    (void)state;
    body_scene s;
    fill_bodies(&s);
    s.bodies[0].velocity[0] = 0.0;
    s.bodies[1].spin[1] = 0.0;
    s.scene.def.liquid_count = 1;
    s.scene.liquids[0] = s.scene.liquids[1];
    s.scene.liquids[0].velocity.value_a[2] = 0.0;
    for (int a = 0; a < 3; ++a) {
        s.scene.box.size[a] = a == 1 ? 0.8 : 1.0;
        s.scene.box.move[a] = a == 1 ? 0.4 : 0.5;
    }
    s.scene.def.body_count = 2;
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &s.scene.def);
    treacle_step_stats stats;
    for (int i = 0; i < 10; ++i) {
        check_step(ctx, sim, 0.01, &stats);
    }
    assert_true(state_of(sim, 0)->velocity[1] > 0.3);
    assert_true(state_of(sim, 1)->velocity[1] < -0.1 || state_of(sim, 1)->place[1] < 0.13);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// One that has fallen out of the domain long ago, or that a file puts there.
static void test_a_body_far_away_can_be_stepped(void** state) {
    (void)state;
    static const double far[] = {1e6, -1e9, 1e12, -1e15};
    body_scene s;
    fill_bodies(&s);
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &s.scene.def);
    treacle_step_stats stats;
    for (int i = 0; i < 4; ++i) {
        treacle_frame frame;
        assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
        body_state* bodies = (body_state*)treacle_frame_find(&frame, "body_state")->data;
        bodies[0].place[i % 3] = far[i];
        assert_int_equal(treacle_sim_restore(sim, &frame), TREACLE_OK);
        check_step(ctx, sim, 0.005, &stats);
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_bad_bodies_are_refused(void** state) {
    (void)state;
    body_scene s;
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = NULL;
    for (int i = 0; i < 5; ++i) {
        fill_bodies(&s);
        s.bodies[0].density = i == 0 ? 0.0 : s.bodies[0].density;
        s.bodies[0].restitution = i == 1 ? 2.0 : 0.0;
        s.joints[0].to = i == 2 ? "nobody" : NULL;
        s.scene.def.flow = i == 3 ? TREACLE_FLOW_NONE : TREACLE_FLOW_PRESSURE;
        s.shapes[0].kind = i == 4 ? TREACLE_SHAPE_PLANE : TREACLE_SHAPE_SPHERE;
        assert_int_equal(treacle_sim_create(ctx, &s.scene.def, &sim), TREACLE_ERR_SCENE);
    }
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_is_the_same_on_all_threads_and_instruction_sets),
        cmocka_unit_test(test_restoring_at_every_step_equals_an_uninterrupted_run),
        cmocka_unit_test(test_bits_in_thick_liquid_do_not_depend_on_threads_or_restoring),
        cmocka_unit_test(test_failing_memory_leaves_the_state_as_it_was),
        cmocka_unit_test(test_failing_memory_in_thick_liquid_leaves_the_state_as_it_was),
        cmocka_unit_test(test_body_falls_freely_and_comes_to_rest_on_the_floor),
        cmocka_unit_test(test_bounce_gives_back_its_share),
        cmocka_unit_test(test_a_plate_gives_a_body_its_own_speed),
        cmocka_unit_test(test_plates_that_close_on_a_body_do_not_shoot_it),
        cmocka_unit_test(test_bodies_stack),
        cmocka_unit_test(test_hinge_keeps_its_distance),
        cmocka_unit_test(test_joints_out_of_the_plane_hold_a_flat_body),
        cmocka_unit_test(test_light_body_rises_and_heavy_body_sinks),
        cmocka_unit_test(test_a_body_far_away_can_be_stepped),
        cmocka_unit_test(test_bad_bodies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
