// Liquid that the grid carries, as a whole: repeatable, restorable, and honest about its limits.
#include <math.h>

#include "grid_fixture.h"
#include "sim_fixture.h"

typedef struct euler_scene {
    treacle_sim_def def;
    treacle_material_def material;
    treacle_shape ball, nozzle, drain;
    treacle_liquid_def liquid;
    treacle_emitter_def emitter;
    treacle_sink_def sink;
    treacle_key speed;
    treacle_heat_wall_def wall;
    treacle_key warm;
} euler_scene;

// An elastic drop that is heated from below, a nozzle and a drain, in the plane.
static void fill(euler_scene* s) {
    memset(s, 0, sizeof(*s));
    s->def = treacle_sim_def_default();
    s->def.motion = TREACLE_MOTION_EULERIAN;
    s->def.level_set.reseed = 3;
    s->def.domain.cell = 1.0 / 24;
    s->def.domain.size[0] = s->def.domain.size[1] = 1.0;
    s->def.domain.size[2] = 0.0;
    s->material = treacle_material_def_default();
    s->material.viscosity = 2.0;
    s->material.elastic.shear_modulus = 50.0;
    s->material.elastic.relaxation_time = 0.5;
    s->material.conductivity = 100.0;
    s->ball = shape_at(TREACLE_SHAPE_SPHERE, 0.4, 0.3, 0.5 / 24);
    s->ball.radius = 0.25;
    s->nozzle = shape_at(TREACLE_SHAPE_SPHERE, 0.8, 0.8, 0.5 / 24);
    s->nozzle.radius = 0.08;
    s->drain = shape_at(TREACLE_SHAPE_SPHERE, 0.1, 0.1, 0.5 / 24);
    s->drain.radius = 0.06;
    s->liquid = treacle_liquid_def_default();
    s->liquid.shape = &s->ball;
    s->liquid.velocity.value_a[0] = 1.0;
    s->liquid.temperature.value_a[0] = 320.0;
    s->speed = (treacle_key){.value = {1.0}};
    s->emitter = treacle_emitter_def_default();
    s->emitter.shape = &s->nozzle;
    s->emitter.direction[1] = -1.0;
    s->emitter.speed = (treacle_curve){.count = 1, .keys = &s->speed};
    s->sink = treacle_sink_def_default();
    s->sink.shape = &s->drain;
    s->warm = (treacle_key){.value = {350.0}};
    s->wall = treacle_heat_wall_def_default();
    s->wall.side = TREACLE_AT_BOTTOM;
    s->wall.temperature = (treacle_curve){.count = 1, .keys = &s->warm};
    s->def.materials = &s->material;
    s->def.material_count = 1;
    s->def.liquids = &s->liquid;
    s->def.liquid_count = 1;
    s->def.emitters = &s->emitter;
    s->def.emitter_count = 1;
    s->def.sinks = &s->sink;
    s->def.sink_count = 1;
    s->def.heat_walls = &s->wall;
    s->def.heat_wall_count = 1;
}

static treacle_sim* create(treacle_context* ctx, const treacle_sim_def* def) {
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(ctx, def, &sim);
    if (status != TREACLE_OK) {
        fail_msg("%s", treacle_context_error(ctx));
    }
    return sim;
}

static treacle_step_stats steps(treacle_sim* sim, int count) {
    treacle_step_stats stats = {0};
    for (int i = 0; i < count; ++i) {
        assert_int_equal(treacle_sim_step(sim, 0.01, &stats), TREACLE_OK);
    }
    return stats;
}

static void test_threads_do_not_show(void** state) {
    (void)state;
    euler_scene s;
    uint64_t hash[2];
    fill(&s);
    for (int i = 0; i < 2; ++i) {
        treacle_context* ctx = context_with(i == 0 ? 1 : 3);
        treacle_sim* sim = create(ctx, &s.def);
        steps(sim, 6);
        hash[i] = treacle_sim_hash(sim);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
    assert_true(hash[0] == hash[1]);
}

static void test_a_restored_state_goes_on_bit_for_bit(void** state) {
    (void)state;
    euler_scene s;
    fill(&s);
    treacle_context* ctx = context_with(1);
    treacle_sim *sim = create(ctx, &s.def), *other = create(ctx, &s.def);
    treacle_frame frame;
    steps(sim, 4);
    uint64_t before = treacle_sim_hash(sim);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    assert_true(treacle_sim_hash(sim) == before); // being looked at changes nothing
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    assert_int_equal(treacle_sim_restore(other, &frame), TREACLE_OK);
    assert_true(treacle_sim_hash(other) == before);
    steps(sim, 4);
    steps(other, 4);
    assert_true(treacle_sim_hash(other) == treacle_sim_hash(sim));
    treacle_sim_destroy(sim);
    treacle_sim_destroy(other);
    treacle_context_destroy(ctx);
}

static void test_a_picture_shows_points_of_the_liquid(void** state) {
    (void)state;
    euler_scene s;
    fill(&s);
    s.def.emitter_count = s.def.sink_count = 0;
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = create(ctx, &s.def);
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array* volume = treacle_frame_find(&frame, "volume");
    const float* u = treacle_frame_find(&frame, "velocity")->data;
    const float* temperature = treacle_frame_find(&frame, "temperature")->data;
    double sum = 0.0, area = 3.14159265 * 0.0625;
    for (int64_t i = 0; i < volume->count; ++i) {
        sum += (double)((const float*)volume->data)[i];
        assert_true(fabsf(u[3 * i] - 1.0f) < 0.01f && fabsf(u[3 * i + 1]) < 0.01f);
        assert_true(fabsf(temperature[i] - 320.0f) < 0.01f);
    }
    assert_true(fabs(sum * 24.0 / area - 1.0) < 0.03);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_liquid_that_falls_keeps_its_volume_and_gains_speed(void** state) {
    (void)state;
    euler_scene s;
    fill(&s);
    s.def.emitter_count = s.def.sink_count = s.def.heat_wall_count = 0;
    s.ball.move[1] = 0.6;
    s.liquid.velocity.value_a[0] = 0.0;
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = create(ctx, &s.def);
    double area = 3.14159265 * 0.0625 / 24.0;
    treacle_step_stats stats = steps(sim, 10);
    assert_true(fabs(stats.volume / area - 1.0) < 0.02);
    double fall = 9.81 * 0.1, energy = 0.5 * 1000.0 * area * fall * fall;
    assert_true(fabs(stats.kinetic_energy / energy - 1.0) < 0.05);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// The liquid alone, without elasticity, at rest.
static void fill_plain(euler_scene* s) {
    fill(s);
    s->def.emitter_count = s->def.sink_count = s->def.heat_wall_count = 0;
    s->material.elastic.shear_modulus = 0.0;
    s->liquid.velocity.value_a[0] = 0.0;
}

// A box of the liquid, as wide as high, through the whole plane.
static treacle_shape square_at(double y, double side) {
    treacle_shape out = shape_at(TREACLE_SHAPE_BOX, 0.5, y, 0.0);
    out.size[0] = out.size[1] = side;
    out.size[2] = 1.0;
    return out;
}

static treacle_step_stats go_to(treacle_sim* sim, double time) {
    treacle_step_stats stats = {0};
    while (treacle_sim_time(sim) < time - 1e-9) {
        assert_int_equal(treacle_sim_step(sim, time - treacle_sim_time(sim), &stats), TREACLE_OK);
    }
    return stats;
}

// Neither does a gap at the bottom stay, nor is liquid lost in closing it, nor along the rim.
static void test_a_block_that_lands_keeps_its_volume(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        euler_scene s;
        fill_plain(&s);
        s.material.viscosity = 20.0;
        s.def.domain.sides[1][0] = k == 0 ? TREACLE_SIDE_NO_SLIP : TREACLE_SIDE_SLIP;
        s.ball = square_at(0.33, 0.4);
        treacle_context* ctx = context_with(1);
        treacle_sim* sim = create(ctx, &s.def);
        treacle_step_stats stats = go_to(sim, 0.4);
        assert_true(fabs(stats.volume * 24.0 / 0.16 - 1.0) < 0.03);
        treacle_frame frame;
        assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
        const treacle_array* position = treacle_frame_find(&frame, "position");
        float lowest = 8.0f; // in cells, and the lowest tiles are the first
        for (int64_t i = 0; i < position->count / 4; ++i) {
            lowest = fminf(lowest, ((const float*)position->data)[3 * i + 1]);
        }
        assert_true(lowest < 0.3f);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

// Below the middle of cells, and round; here the volume is that of cells.
static void test_a_block_that_lands_on_a_solid_keeps_its_volume(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        euler_scene s;
        treacle_solid_def rock = treacle_solid_def_default();
        treacle_shape stone =
            shape_at(k == 0 ? TREACLE_SHAPE_BOX : TREACLE_SHAPE_SPHERE, 0.5, 0.0, 0.5 / 24);
        stone.size[0] = stone.size[2] = 2.0;
        stone.size[1] = 0.43;
        stone.radius = 0.3;
        rock.shape = &stone;
        fill_plain(&s);
        s.def.solids = &rock;
        s.def.solid_count = 1;
        s.material.viscosity = 50.0;
        s.ball = square_at(0.6, 0.4);
        treacle_context* ctx = context_with(1);
        treacle_sim* sim = create(ctx, &s.def);
        treacle_step_stats stats = go_to(sim, 0.4);
        assert_true(fabs(stats.volume * 24.0 / 0.16 - 1.0) < 0.05);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

// Less than a cell wide, between the middles of cells: no cell is liquid, and it falls all the
// same.
static void test_a_drop_too_small_for_the_flow_falls(void** state) {
    (void)state;
    euler_scene s;
    fill_plain(&s);
    s.def.flow = TREACLE_FLOW_PRESSURE;
    s.ball = shape_at(TREACLE_SHAPE_SPHERE, 0.5, 20.0 / 24, 0.5 / 24);
    s.ball.radius = 0.6 / 24;
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = create(ctx, &s.def);
    treacle_step_stats stats = go_to(sim, 0.2);
    double area = 3.14159265 * s.ball.radius * s.ball.radius / 24.0;
    assert_true(fabs(stats.volume / area - 1.0) < 0.2);
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array* velocity = treacle_frame_find(&frame, "velocity");
    assert_true(velocity->count > 0);
    assert_true(fabsf(((const float*)velocity->data)[1] + 1.96f) < 0.2f);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_nothing_comes_in_through_open_sides(void** state) {
    (void)state;
    euler_scene s;
    fill_plain(&s);
    s.def.domain.sides[1][1] = TREACLE_SIDE_OPEN;
    s.ball = square_at(0.9, 0.4);
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = create(ctx, &s.def);
    treacle_step_stats stats = go_to(sim, 0.2);
    assert_true(fabs(stats.volume * 24.0 / 0.12 - 1.0) < 0.03);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// Down a stream that is thin, and without an end: what is above the nozzle must not follow it.
static void test_a_nozzle_gives_what_it_says(void** state) {
    (void)state;
    euler_scene s;
    fill(&s);
    s.def.liquid_count = s.def.sink_count = s.def.heat_wall_count = 0;
    s.material.elastic.shear_modulus = 0.0;
    s.material.viscosity = 200.0;
    s.nozzle = square_at(0.8, 0.125);
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = create(ctx, &s.def);
    treacle_step_stats stats = {0};
    int count = 0;
    for (; treacle_sim_time(sim) < 0.4 - 1e-9; ++count) {
        assert_int_equal(treacle_sim_step(sim, 0.4 - treacle_sim_time(sim), &stats), TREACLE_OK);
    }
    double given = 0.125 * (0.125 + 0.4) / 24.0;
    assert_true(fabs(stats.volume / given - 1.0) < 0.03);
    assert_true(count < 40); // air that falls ever faster would shorten the steps
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// However fast it moves, and whichever way heat is carried: what is outside does not come in.
static void test_a_drop_of_one_temperature_keeps_it(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        euler_scene s;
        fill(&s);
        s.def.emitter_count = s.def.sink_count = 0; // and it does not touch the warm bottom
        s.def.heat.convection =
            k == 0 ? TREACLE_CONVECTION_SEMI_LAGRANGIAN : TREACLE_CONVECTION_UPWIND;
        s.def.step.cfl = 4.0;
        s.def.domain.cell = 1.0 / 48;
        s.ball.move[0] = s.ball.move[1] = 0.2;
        s.ball.radius = 0.06;
        s.liquid.velocity.value_a[0] = s.liquid.velocity.value_a[1] = 8.0;
        treacle_context* ctx = context_with(1);
        treacle_sim* sim = create(ctx, &s.def);
        treacle_frame frame;
        steps(sim, 6);
        assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
        const treacle_array* temperature = treacle_frame_find(&frame, "temperature");
        assert_true(temperature->count > 20);
        for (int64_t i = 0; i < temperature->count; ++i) {
            float at = ((const float*)temperature->data)[i];
            assert_true(fabsf(at - 320.0f) < 0.01f);
        }
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

// A pool on a hot bottom, without motion: all heat that comes is in it, in what has melted, too.
static void test_what_melts_takes_the_heat_that_comes(void** state) {
    (void)state;
    euler_scene s;
    fill(&s);
    s.def.emitter_count = s.def.sink_count = 0;
    s.material.elastic.shear_modulus = 0.0;
    s.material.conductivity = 2000.0;
    s.material.heat_capacity = 100.0;
    s.material.latent_heat = 1000.0;
    s.material.solidus = 322.0;
    s.material.liquidus = 324.0;
    s.ball = shape_at(TREACLE_SHAPE_BOX, 0.5, 0.0, 0.0);
    s.ball.size[0] = s.ball.size[2] = 4.0;
    s.ball.size[1] = 1.0;
    s.liquid.velocity.value_a[0] = 0.0;
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = create(ctx, &s.def);
    treacle_step_stats stats = steps(sim, 1);
    double begin = stats.enthalpy - stats.heat_in, came = stats.heat_in;
    for (int i = 0; i < 30; ++i) {
        stats = steps(sim, 1);
        came += stats.heat_in;
    }
    assert_true(came > 100.0);
    assert_true(fabs((stats.enthalpy - begin) / came - 1.0) < 0.03);
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array* melted = treacle_frame_find(&frame, "melted");
    double sum = 0.0;
    for (int64_t i = 0; i < melted->count; ++i) {
        sum += (double)((const float*)melted->data)[i] / (double)melted->count;
    }
    assert_true(sum > 0.02 && sum < 0.9);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_what_it_cannot_do_it_says(void** state) {
    (void)state;
    euler_scene s;
    treacle_material_def two[2];
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = NULL;
    fill(&s);
    two[0] = two[1] = s.material;
    s.def.materials = two;
    s.def.material_count = 2;
    assert_int_equal(treacle_sim_create(ctx, &s.def, &sim), TREACLE_ERR_SCENE);
    fill(&s);
    s.def.flow = TREACLE_FLOW_NONE;
    assert_int_equal(treacle_sim_create(ctx, &s.def, &sim), TREACLE_ERR_SCENE);
    fill(&s);
    s.liquid.viscosity_factor.value_a[0] = 2.0;
    assert_int_equal(treacle_sim_create(ctx, &s.def, &sim), TREACLE_ERR_SCENE);
    treacle_context_destroy(ctx);
}

static treacle_status step_once(treacle_sim* sim) {
    treacle_step_stats stats;
    return treacle_sim_step(sim, 0.01, &stats);
}

static treacle_status show(treacle_sim* sim) {
    treacle_frame frame;
    return treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
}

static treacle_status restore(treacle_sim* sim) {
    treacle_frame frame;
    TREACLE_TRY(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame));
    return treacle_sim_restore(sim, &frame);
}

typedef struct life {
    const treacle_sim_def* def;
    uint64_t hash; // at the end of a life in which nothing fails
} life;

// What fails is done again, and then nothing shows of it.
static treacle_status live(treacle_context* ctx, void* data) {
    static treacle_status (*const acts[])(treacle_sim*) = {step_once, show, restore};
    const life* l = data;
    treacle_status first = TREACLE_OK;
    treacle_sim* sim = NULL;
    TREACLE_TRY(treacle_sim_create(ctx, l->def, &sim));
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); ++i) {
        treacle_status status = acts[i](sim);
        if (status != TREACLE_OK) {
            first = status;
            assert_int_equal(acts[i](sim), TREACLE_OK);
        }
    }
    assert_true(treacle_sim_hash(sim) == l->hash);
    treacle_sim_destroy(sim);
    return first;
}

static uint64_t hash_of_life(const treacle_sim_def* def) {
    treacle_context* ctx = context_with(1);
    treacle_sim* sim = create(ctx, def);
    steps(sim, 1);
    uint64_t hash = treacle_sim_hash(sim);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return hash;
}

static void test_any_allocation_may_fail(void** state) {
    (void)state;
    euler_scene s;
    treacle_solid_def rock = treacle_solid_def_default();
    treacle_shape stone = shape_at(TREACLE_SHAPE_SPHERE, 0.5, 0.0, 0.0625);
    stone.radius = 0.2;
    rock.shape = &stone;
    fill(&s);
    s.def.domain.cell = 0.125;
    s.def.heat.convection = TREACLE_CONVECTION_UPWIND;
    s.def.level_set.reseed = 1;
    s.def.level_set.markers = 4;
    s.def.solids = &rock;
    s.def.solid_count = 1;
    s.material.latent_heat = 50e3;
    s.material.solidus = 318.0;
    s.material.liquidus = 330.0;
    life l = {&s.def, hash_of_life(&s.def)};
    ALLOC_FAILURE_CHECK(live, &l);
}

// As a file may say it: there is a surface, and no grid around it.
static void test_a_state_without_a_grid_can_be_stepped(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    euler_scene scene;
    fill(&scene);
    treacle_sim *sim = create(ctx, &scene.def), *other = create(ctx, &scene.def);
    steps(sim, 2);
    treacle_frame frame;
    treacle_array arrays[64];
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    assert_true(frame.array_count <= 64);
    memcpy(arrays, frame.arrays, (size_t)frame.array_count * sizeof(arrays[0]));
    for (int i = 0; i < frame.array_count; ++i) {
        arrays[i].name[0] = strcmp(arrays[i].name, "grid_tile") == 0 ? 'x' : arrays[i].name[0];
    }
    frame.arrays = arrays;
    assert_int_equal(treacle_sim_restore(other, &frame), TREACLE_OK);
    steps(other, 1);
    treacle_sim_destroy(sim);
    treacle_sim_destroy(other);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_show),
        cmocka_unit_test(test_a_restored_state_goes_on_bit_for_bit),
        cmocka_unit_test(test_a_picture_shows_points_of_the_liquid),
        cmocka_unit_test(test_liquid_that_falls_keeps_its_volume_and_gains_speed),
        cmocka_unit_test(test_a_block_that_lands_keeps_its_volume),
        cmocka_unit_test(test_a_drop_too_small_for_the_flow_falls),
        cmocka_unit_test(test_nothing_comes_in_through_open_sides),
        cmocka_unit_test(test_a_nozzle_gives_what_it_says),
        cmocka_unit_test(test_a_drop_of_one_temperature_keeps_it),
        cmocka_unit_test(test_what_melts_takes_the_heat_that_comes),
        cmocka_unit_test(test_a_block_that_lands_on_a_solid_keeps_its_volume),
        cmocka_unit_test(test_what_it_cannot_do_it_says),
        cmocka_unit_test(test_a_state_without_a_grid_can_be_stepped),
        cmocka_unit_test(test_any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
