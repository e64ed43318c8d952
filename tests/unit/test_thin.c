#include "particle_fixture.h"

#include "phys/thin.h"

typedef struct thin_world {
    treacle_context* ctx;
    grid_domain domain;
    particles p;
    arena scratch;
    solid s;
    solid_pose pose;
} thin_world;

// A box across y from y = 10 on, in a domain of cells of width 1.
static void begin(thin_world* w, double thickness, double turned) {
    memset(w, 0, sizeof(*w));
    w->ctx = make_context(2);
    w->domain = make_domain(w->ctx, 32, 32, 1, 1.0, TREACLE_SIDE_SLIP);
    arena_init(&w->scratch, w->ctx);
    assert_int_equal(particles_create(w->ctx, 0, &w->p), TREACLE_OK);
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    box.size[0] = 100.0;
    box.size[1] = thickness;
    box.move[0] = 16.0;
    box.move[1] = 10.0 + 0.5 * thickness;
    box.rotate[2] = turned;
    assert_int_equal(shape_create_flat(w->ctx, &box, 2, &w->s.shape), TREACLE_OK);
    w->pose = (solid_pose){.rotate = mat3_identity()};
}

static void end(thin_world* w) {
    shape_destroy(w->s.shape);
    particles_destroy(&w->p);
    arena_finish(&w->scratch);
    treacle_context_destroy(w->ctx);
}

static thin_view look_from(thin_world* w, double x, double y) {
    thin_view view;
    tile_coord tile;
    float position[AXES];
    particle_ix row;
    arena_give_to(&w->scratch, 0);
    particles_clear(&w->p);
    particles_locate(&w->domain, vec3_make(x, y, 0.5), &tile, position);
    assert_int_equal(particles_append(&w->p, tile, 1, &row), TREACLE_OK);
    memcpy(particles_f32(&w->p, PARTICLE_POSITION), position, sizeof(position));
    particles_f32(&w->p, PARTICLE_VOLUME)[0] = 1.0f;
    thin_params params = {.domain = &w->domain,
                          .scene = {1, &w->s, &w->pose},
                          .p = &w->p,
                          .kernel = TREACLE_KERNEL_LINEAR,
                          .scratch = &w->scratch};
    assert_int_equal(thin_look(&params, &view), TREACLE_OK);
    return view;
}

static void test_a_plate_hides_what_is_behind_it(void** state) {
    (void)state;
    thin_world w;
    begin(&w, 0.4, 0.0);
    // Below the plate; faces across x are at y = 9.5 and, behind it, 10.5.
    thin_view view = look_from(&w, 8.3, 9.9);
    assert_int_equal(view.count, 1);
    assert_int_equal(view.members[0].seen[0], 0x3); // of 2 x 2 the lower two
    assert_int_equal(view.members[0].seen[THIN_CELLS], 0x3);
    assert_true(view.volume[0] == 0.0f);
    assert_true(fabsf(view.members[0].normal[1] + 1.0f) < 1e-3f);
    // Above it, the upper two; faces across y are at 10, in the plate but nearer to the other side.
    view = look_from(&w, 8.3, 10.45);
    assert_int_equal(view.count, 1);
    assert_int_equal(view.members[0].seen[0], 0x30);
    assert_int_equal(view.members[0].seen[1], 0x30);
    // Far away nothing is hidden.
    assert_int_equal(look_from(&w, 8.3, 12.5).count, 0);
    assert_int_equal(look_from(&w, 8.3, 8.4).count, 0);
    end(&w);
}

static void test_a_thick_solid_hides_nothing(void** state) {
    (void)state;
    thin_world w;
    begin(&w, 4.0, 0.0);
    for (int i = 0; i < 40; ++i) {
        assert_int_equal(look_from(&w, 5.0 + 0.1 * i, 9.99 - 0.03 * i).count, 0);
    }
    end(&w);
}

// Whoever sees a sample of a turned plate is on its side.
static void test_only_samples_on_the_particles_side_are_seen(void** state) {
    (void)state;
    static const double turned = 0.5;
    thin_world w;
    begin(&w, 0.5, turned);
    int hidden = 0;
    for (int i = 0; i < 400; ++i) {
        double x = 10.0 + 0.03 * i, along = x - 16.0;
        double surface = 10.25 + along * tan(turned) - 0.25 / cos(turned);
        double y = surface - 0.02 - 0.7 * (i % 10) / 10.0;
        thin_view view = look_from(&w, x, y);
        for (int64_t k = 0; k < view.count; ++k) {
            int cell_impulse = (int)floor(x - 0.5), cell_y = (int)floor(y - 0.5);
            for (int s = 0; s < 4; ++s) {
                double sx = cell_impulse + s % 2 + 0.5, sy = cell_y + s / 2 + 0.5;
                double middle = 10.25 + (sx - 16.0) * tan(turned);
                bool is_seen = view.members[k].seen[THIN_CELLS] >> (s % 2 + s / 2 * 4) & 1;
                if (fabs(sy - middle) > 0.02) {
                    assert_int_equal(is_seen, sy < middle);
                }
                hidden += is_seen ? 0 : 1;
            }
        }
    }
    assert_true(hidden > 100);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plate_hides_what_is_behind_it),
        cmocka_unit_test(test_a_thick_solid_hides_nothing),
        cmocka_unit_test(test_only_samples_on_the_particles_side_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
