// What a step works on is looked at between its stages: each way to break it is seen.
#include "grid_fixture.h"

#include <math.h>

#include "step/step_valid.h"

static const body_mass some_mass = {
    .volume = 2.0, .mass = 3.0, .inertia = {{{2.0, 0.1, 0.0}, {0.1, 3.0, 0.2}, {0.0, 0.2, 4.0}}}};
static const body_state at_rest = {.quaternion = {1.0, 0.0, 0.0, 0.0}};

static void test_bodies_have_a_mass_and_are_turned_by_a_rotation(void** state) {
    (void)state;
    rigid_body body = {.mass = some_mass};
    body_state where = at_rest;
    const body_set set = {.count = 1, .bodies = &body};
    assert_true(body_set_is_valid(&set, &where));
    body.mass.mass = 0.0;
    assert_false(body_set_is_valid(&set, &where));
    body.mass = some_mass;
    body.mass.volume = 0.0;
    assert_false(body_set_is_valid(&set, &where));
    body.mass = some_mass;
    body.mass.inertia.at[0][1] = 0.2; // no more symmetric
    assert_false(body_set_is_valid(&set, &where));
    body.mass = some_mass;
    body.mass.inertia.at[2][2] = 0.0; // no more positive
    assert_false(body_set_is_valid(&set, &where));
    body.mass = some_mass;
    where.quaternion[0] = 1.001;
    assert_false(body_set_is_valid(&set, &where));
    where = at_rest;
    where.velocity[1] = NAN;
    assert_false(body_set_is_valid(&set, &where));
}

typedef struct work {
    treacle_context* ctx;
    grid_domain domain;
    liquid_setup setup;
    liquid_state state;
    particles p;
    step_work w;
} work;

static void work_begin(work* k) {
    *k = (work){.ctx = context_with(1)};
    k->domain = domain_with(k->ctx, 32, 16, 16, TREACLE_SIDE_SLIP);
    tile_map map = whole_map(k->ctx, &k->domain);
    assert_int_equal(liquid_state_create(k->ctx, &k->domain, map.count, map.coord, &k->state),
                     TREACLE_OK);
    tile_map_destroy(&map);
    assert_int_equal(particles_create(k->ctx, 0, &k->p), TREACLE_OK);
    particle_birth birth = {.position = {4.5f, 4.5f, 4.5f}, .volume = 1.0};
    particle_ix row;
    assert_int_equal(particles_append(&k->p, (tile_coord){{0, 0, 0}}, 1, &row), TREACLE_OK);
    particle_init(&k->p, &k->domain, row, &birth);
    k->setup.domain = &k->domain;
    k->w = (step_work){.f = {.ctx = k->ctx, .setup = &k->setup}, .p = &k->p, .state = &k->state};
}

static void work_end(work* k) {
    liquid_state_destroy(&k->state);
    particles_destroy(&k->p);
    assert_int_equal(treacle_context_memory(k->ctx), 0);
    treacle_context_destroy(k->ctx);
}

static void test_all_stages_leave_a_sound_state_sound(void** state) {
    (void)state;
    work k;
    work_begin(&k);
    for (int stage = 0; stage < TREACLE_STAGE_COUNT; ++stage) {
        assert_true(step_work_is_valid(&k.w, (treacle_stage)stage));
    }
    work_end(&k);
}

static void test_fields_that_are_no_numbers_are_seen_after_who_makes_them(void** state) {
    (void)state;
    work k;
    work_begin(&k);
    const struct {
        float* field;
        treacle_stage stage;
    } made[] = {
        {k.state.face_u.at[0], TREACLE_STAGE_TO_GRID},
        {k.state.face_u.at[2], TREACLE_STAGE_FLOW},
        {k.state.face_u.at[0], TREACLE_STAGE_EXTRAPOLATE},
        {k.state.cell_phi, TREACLE_STAGE_GEOMETRY},
        {k.state.cell_phi, TREACLE_STAGE_EXTRAPOLATE},
        {k.state.cell_pressure, TREACLE_STAGE_EXTRAPOLATE},
        {k.state.cell_pressure, TREACLE_STAGE_TILES},
    };
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); ++i) {
        made[i].field[1000] = NAN;
        assert_false(step_work_is_valid(&k.w, made[i].stage));
        made[i].field[1000] = 0.0f;
        assert_true(step_work_is_valid(&k.w, made[i].stage));
    }
    work_end(&k);
}

static void test_where_a_force_is_no_number_the_flow_is_not_asked(void** state) {
    (void)state;
    work k;
    work_begin(&k);
    k.state.face_u.at[2][1000] = NAN;
    assert_false(step_work_is_valid(&k.w, TREACLE_STAGE_FLOW));
    k.w.made.account.forces.forced = NAN;
    assert_true(step_work_is_valid(&k.w, TREACLE_STAGE_FLOW));
    assert_false(step_work_is_valid(&k.w, TREACLE_STAGE_TO_GRID)); // which comes before forces
    k.w.made.account.forces.forced = 0.0;
    k.w.made.account.push.uniform[1] = INFINITY;
    assert_true(step_work_is_valid(&k.w, TREACLE_STAGE_FLOW));
    work_end(&k);
}

static void test_a_state_without_a_map_or_fields_is_seen(void** state) {
    (void)state;
    work k;
    work_begin(&k);
    tile_ix kept = k.state.map.neighbour[0][TILE_SELF];
    k.state.map.neighbour[0][TILE_SELF] = 1;
    assert_false(liquid_state_is_valid(&k.state, &k.domain));
    assert_false(step_work_is_valid(&k.w, TREACLE_STAGE_TILES));
    k.state.map.neighbour[0][TILE_SELF] = kept;
    float* phi = k.state.cell_phi;
    k.state.cell_phi = NULL;
    assert_false(liquid_state_is_valid(&k.state, &k.domain));
    k.state.cell_phi = phi;
    float* values = k.state.values;
    k.state.values = NULL;
    assert_false(liquid_state_is_valid(&k.state, &k.domain));
    k.state.values = values;
    k.domain.h = -1.0;
    assert_false(step_work_is_valid(&k.w, TREACLE_STAGE_TILES));
    work_end(&k);
}

static void test_particles_are_looked_at_after_who_moves_them(void** state) {
    (void)state;
    work k;
    work_begin(&k);
    float* x = particles_f32(&k.p, PARTICLE_POSITION);
    x[0] = 9.0f; // in the next tile: the sort is to bring it there
    assert_true(step_work_is_valid(&k.w, TREACLE_STAGE_ADVECT));
    assert_false(step_work_is_valid(&k.w, TREACLE_STAGE_SORT));
    x[0] = NAN;
    static const treacle_stage stages[] = {TREACLE_STAGE_ADVECT, TREACLE_STAGE_EMIT,
                                           TREACLE_STAGE_SORT, TREACLE_STAGE_TO_PARTICLES,
                                           TREACLE_STAGE_DENSITY};
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); ++i) {
        assert_false(step_work_is_valid(&k.w, stages[i]));
    }
    work_end(&k);
}

static void test_bodies_are_looked_at_after_who_moves_them(void** state) {
    (void)state;
    work k;
    work_begin(&k);
    rigid_body body = {.mass = some_mass};
    body_state where = at_rest;
    k.setup.bodies = (body_set){.count = 1, .bodies = &body};
    k.w.bodies = &where;
    assert_true(step_work_is_valid(&k.w, TREACLE_STAGE_SOLIDS));
    where.spin[2] = INFINITY;
    assert_false(step_work_is_valid(&k.w, TREACLE_STAGE_SOLIDS));
    assert_false(step_work_is_valid(&k.w, TREACLE_STAGE_FLOW));
    work_end(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_have_a_mass_and_are_turned_by_a_rotation),
        cmocka_unit_test(test_all_stages_leave_a_sound_state_sound),
        cmocka_unit_test(test_fields_that_are_no_numbers_are_seen_after_who_makes_them),
        cmocka_unit_test(test_where_a_force_is_no_number_the_flow_is_not_asked),
        cmocka_unit_test(test_a_state_without_a_map_or_fields_is_seen),
        cmocka_unit_test(test_particles_are_looked_at_after_who_moves_them),
        cmocka_unit_test(test_bodies_are_looked_at_after_who_moves_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
