#include "particle_fixture.h"

#include "phys/collide.h"

typedef struct collide_world {
    treacle_context* ctx;
    grid_domain domain;
    particles p;
    solid plate;
    solid_pose from, to;
} collide_world;

// A plate half a cell thick across x, in a domain of cells of width 1.
static void begin(collide_world* w, double at, double moves) {
    memset(w, 0, sizeof(*w));
    w->ctx = make_context(2);
    w->domain = make_domain(w->ctx, 32, 32, 1, 1.0, TREACLE_SIDE_SLIP);
    assert_int_equal(particles_create(w->ctx, 0, &w->p), TREACLE_OK);
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    box.size[0] = 0.5;
    box.size[1] = 100.0;
    assert_int_equal(shape_create_flat(w->ctx, &box, 2, &w->plate.shape), TREACLE_OK);
    w->from = w->to = (solid_pose){.rotate = mat3_identity()};
    w->from.place.at[0] = at;
    w->to.place.at[0] = at + moves;
}

static void end(collide_world* w) {
    shape_destroy(w->plate.shape);
    particles_destroy(&w->p);
    treacle_context_destroy(w->ctx);
}

static vec3 collide(collide_world* w, vec3 x0, vec3 x1) {
    tile_coord tile;
    float before[AXES];
    particle_ix row;
    particles_clear(&w->p);
    particles_locate(&w->domain, x0, &tile, before);
    assert_int_equal(particles_append(&w->p, tile, 1, &row), TREACLE_OK);
    float* position = particles_f32(&w->p, PARTICLE_POSITION);
    for (int a = 0; a < AXES; ++a) {
        position[a] = before[a] + (float)(x1.at[a] - x0.at[a]);
    }
    collide_params params = {.domain = &w->domain,
                             .from = {1, &w->plate, &w->from},
                             .to = {1, &w->plate, &w->to},
                             .p = &w->p,
                             .before = before,
                             .reach = 5.0};
    collide_particles(&params);
    return particles_place(&w->domain, tile, position);
}

static void test_particles_stay_on_their_side_of_a_plate_at_rest(void** state) {
    (void)state;
    collide_world w;
    begin(&w, 16.0, 0.0);
    for (int i = 0; i < 40; ++i) {
        double way = 0.1 * i;
        vec3 left = collide(&w, vec3_make(15.5, 8.0, 0.5), vec3_make(15.5 + way, 8.0, 0.5));
        vec3 right = collide(&w, vec3_make(16.4, 8.0, 0.5), vec3_make(16.4 - way, 8.0, 0.5));
        assert_true(left.at[0] < 15.75 && right.at[0] > 16.25);
    }
    end(&w);
}

static void test_a_plate_that_moves_several_cells_takes_particles_along(void** state) {
    (void)state;
    collide_world w;
    begin(&w, 10.0, 4.5);
    for (int i = 0; i < 30; ++i) {
        vec3 x = vec3_make(10.4 + 0.15 * i, 8.0, 0.5);
        vec3 ahead = collide(&w, x, x);
        assert_true(ahead.at[0] > 14.75);
    }
    vec3 behind = collide(&w, vec3_make(9.6, 8.0, 0.5), vec3_make(9.6, 8.0, 0.5));
    assert_true(fabs(behind.at[0] - 9.6) < 1e-6);
    end(&w);
}

static void test_motion_along_the_plate_goes_on(void** state) {
    (void)state;
    collide_world w;
    begin(&w, 16.0, 0.0);
    vec3 x = collide(&w, vec3_make(15.5, 8.0, 0.5), vec3_make(17.0, 10.0, 0.5));
    assert_true(x.at[0] < 15.75 && x.at[0] > 15.7);
    assert_true(fabs(x.at[1] - 10.0) < 1e-3);
    end(&w);
}

static void test_far_particles_are_untouched(void** state) {
    (void)state;
    collide_world w;
    begin(&w, 16.0, 1.0);
    vec3 x = collide(&w, vec3_make(3.25, 8.0, 0.5), vec3_make(4.5, 9.25, 0.5));
    assert_true(x.at[0] == 4.5 && x.at[1] == 9.25);
    end(&w);
}

static void test_no_particle_is_pressed_out_of_the_domain(void** state) {
    (void)state;
    collide_world w;
    begin(&w, 29.0, 2.9); // onto the side at 32
    vec3 x = collide(&w, vec3_make(31.5, 8.0, 0.5), vec3_make(31.5, 8.0, 0.5));
    assert_true(x.at[0] >= 0.0 && x.at[0] <= 32.0);
    assert_true(solid_distance(&w.plate, &w.to, x) > 0.0);
    end(&w);
}

// A plate that leans on a side wipes along it: what was in the corner goes up the side, and not
// through the plate.
static void test_a_corner_that_closes_keeps_particles_on_their_side(void** state) {
    (void)state;
    collide_world w;
    const double turn[AXES] = {0.0, 0.0, -0.63};
    const vec3 n = vec3_make(cos(turn[2]), sin(turn[2]), 0.0);
    begin(&w, 0.0, 0.0);
    w.from.rotate = w.to.rotate = mat3_rotation(turn);
    w.from.place = vec3_make(4.0, 8.0, 0.5);
    w.to.place = vec3_add_scaled(w.from.place, -0.6, n);
    int in_corner = 0;
    for (int i = 0; i < 400; ++i) {
        vec3 x = vec3_make(0.05 + 0.05 * (i % 20), 1.0 + 0.25 * (double)(i / 20), 0.5);
        if (vec3_dot(n, vec3_sub(x, w.from.place)) < -0.28) {
            vec3 at = collide(&w, x, x);
            assert_true(vec3_dot(n, vec3_sub(at, w.to.place)) < -0.25);
            in_corner += vec3_dot(n, vec3_sub(x, w.to.place)) > -0.25 ? 1 : 0;
        }
    }
    assert_true(in_corner > 10);
    end(&w);
}

static void test_free_flyers_stop_at_a_solid(void** state) {
    (void)state;
    collide_world w;
    begin(&w, 16.0, 0.0);
    w.to.velocity.at[0] = -1.0;
    collide_params params = {.domain = &w.domain, .to = {1, &w.plate, &w.to}};
    float into[AXES] = {3.0f, 2.0f, 0.0f}, away[AXES] = {-3.0f, 2.0f, 0.0f};
    collide_stop(&params, vec3_make(15.73, 8.0, 0.5), into);
    collide_stop(&params, vec3_make(15.73, 8.0, 0.5), away);
    assert_true(fabsf(into[0] + 1.0f) < 1e-6f && into[1] == 2.0f);
    assert_true(away[0] == -3.0f);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_particles_stay_on_their_side_of_a_plate_at_rest),
        cmocka_unit_test(test_a_plate_that_moves_several_cells_takes_particles_along),
        cmocka_unit_test(test_motion_along_the_plate_goes_on),
        cmocka_unit_test(test_far_particles_are_untouched),
        cmocka_unit_test(test_no_particle_is_pressed_out_of_the_domain),
        cmocka_unit_test(test_a_corner_that_closes_keeps_particles_on_their_side),
        cmocka_unit_test(test_free_flyers_stop_at_a_solid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
