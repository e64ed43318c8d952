// Facts about liquid that lands on a floor, in the unified flow.
#include "sim_checks.h"

#include <stdio.h>

#include "grid_fixture.h"

#include "treacle/scene.h"
#include "treacle/unstable/stages.h"

enum { SIDE = 24, FACES = SIDE + 1, LEFT = 8, RIGHT = 16, THICK = 6 };
static const double cell = 0.1, dt = 0.1;

typedef struct landing_world {
    float distance[SIDE * SIDE];
    float u[FACES * FACES], v[FACES * FACES];
} landing_world;

// A slab `gap` cells above the floor, or one that fills all of the width; it sinks by `way` cells.
static void fill_slab(landing_world* w, double gap, bool is_wide, double way) {
    memset(w, 0, sizeof(*w));
    for (int i = 0; i < SIDE * SIDE; ++i) {
        double x = i % SIDE + 0.5, y = i / SIDE + 0.5;
        double up = fmax(gap - y, y - gap - THICK);
        double aside = is_wide ? -SIDE : fmax(LEFT - x, x - RIGHT);
        w->distance[i] = (float)fmax(up, aside);
    }
    for (int i = 0; i < FACES * FACES; ++i) {
        w->v[i] = (float)(-way * cell / dt);
    }
}

static void flow_once(landing_world* w, double floor_at, double viscosity) {
    treacle_context* ctx = context_with(1);
    treacle_material_def syrup = treacle_material_def_default();
    treacle_solid_def floor = treacle_solid_def_default();
    treacle_sim_def def = treacle_sim_def_default();
    syrup.viscosity = viscosity;
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE);
    plane.move[1] = floor_at * cell;
    floor.shape = &plane;
    floor.wall = TREACLE_WALL_NO_SLIP;
    def.domain.size[0] = def.domain.size[1] = SIDE * cell;
    def.domain.size[2] = 0.0;
    def.domain.cell = cell;
    def.domain.sides[1][0] = TREACLE_SIDE_NO_SLIP;
    def.flow = TREACLE_FLOW_UNIFIED;
    def.pressure.tolerance = 1e-7;
    def.material_count = 1;
    def.materials = &syrup;
    def.solid_count = floor_at > 0.0 ? 1 : 0;
    def.solids = &floor;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    treacle_stages_liquid liquid = {
        .distance = w->distance, .velocity = {w->u, w->v, NULL}, .dt = dt};
    treacle_step_stats stats;
    assert_int_equal(treacle_stages_flow(sim, &liquid, &stats), TREACLE_OK);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// Cells that flow into a cell in the step, in 2D.
static double inflow(const landing_world* w, int x, int y) {
    int at = y * FACES + x;
    double out = (double)w->u[at + 1] - (double)w->u[at] + (double)w->v[at + FACES];
    return -(out - (double)w->v[at]) * dt / cell;
}

static void test_a_slab_falls_freely_until_it_touches(void** state) {
    (void)state;
    const double gaps[] = {0.35, 0.6, 0.9, 0.97};
    for (int i = 0; i < 8; ++i) {
        landing_world w;
        fill_slab(&w, gaps[i / 2], i % 2 == 1, 0.3);
        flow_once(&w, 0.0, 100.0);
        for (int x = LEFT; x < RIGHT; ++x) {
            for (int y = 1; y < THICK; ++y) {
                assert_close((double)w.v[y * FACES + x], -0.3 * cell / dt, 1e-3);
            }
        }
    }
}

static void test_it_lands_on_the_floor_and_not_in_it(void** state) {
    (void)state;
    const double gaps[] = {0.2, 0.6, 0.9};
    for (int i = 0; i < 3; ++i) {
        landing_world w;
        fill_slab(&w, gaps[i], true, 1.0);
        flow_once(&w, 0.0, 100.0);
        for (int x = LEFT; x < RIGHT; ++x) {
            assert_close(inflow(&w, x, 0), gaps[i], 2e-3);
            assert_close(inflow(&w, x, 2), 0.0, 2e-3);
        }
    }
}

static void test_pools_and_films_have_no_gap(void** state) {
    (void)state;
    landing_world w;
    fill_slab(&w, 0.0, true, 0.3);
    flow_once(&w, 0.0, 100.0);
    for (int x = 0; x < SIDE; ++x) {
        assert_close((double)w.v[FACES + x], 0.0, 1e-4);
    }
    fill_slab(&w, 0.6 - THICK, true, 0.3);
    flow_once(&w, 0.0, 100.0);
    for (int x = 0; x < SIDE; ++x) {
        assert_close(inflow(&w, x, 0), 0.0, 2e-3);
    }
}

static void test_floors_between_cells_are_floors(void** state) {
    (void)state;
    const double floors[] = {4.0, 4.3, 4.7}, gaps[] = {0.6, 0.9};
    for (int i = 0; i < 6; ++i) {
        landing_world w;
        double floor = floors[i / 2];
        fill_slab(&w, floor + gaps[i % 2], true, 0.3);
        flow_once(&w, floor, 100.0);
        for (int x = LEFT; x < RIGHT; ++x) {
            for (int y = 6; y < 4 + THICK; ++y) {
                assert_close((double)w.v[y * FACES + x], -0.3 * cell / dt, 1e-3);
            }
        }
    }
}

// The distance to the surface in the cell beside a solid floor, its middle 0.2 cells above, under a
// slab of particles.
static double drawn_beside(double gap) {
    treacle_context* ctx = context_with(1);
    char text[400];
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    float distance[SIDE * SIDE];
    snprintf(text, sizeof(text),
             "domain: {size: [24, 24], cell: 1}\n"
             "liquids: [{shape: {box: {min: [4, %g], max: [20, 12]}}}]\n"
             "solids: {floor: {shape: {plane: {}, move: [0, 4.3, 0]}}}\n",
             4.3 + gap);
    assert_int_equal(treacle_scene_parse(ctx, "slab", text, strlen(text), 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    assert_int_equal(treacle_stages_surface(sim, distance, NULL), TREACLE_OK);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    treacle_context_destroy(ctx);
    return (double)distance[4 * SIDE + SIDE / 2];
}

static void test_images_of_what_does_not_touch_close_no_gap(void** state) {
    (void)state;
    assert_true(drawn_beside(0.0) < 0.0);
    assert_close(drawn_beside(0.7), 0.5, 0.25);
    assert_close(drawn_beside(1.0), 0.8, 0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slab_falls_freely_until_it_touches),
        cmocka_unit_test(test_it_lands_on_the_floor_and_not_in_it),
        cmocka_unit_test(test_pools_and_films_have_no_gap),
        cmocka_unit_test(test_floors_between_cells_are_floors),
        cmocka_unit_test(test_images_of_what_does_not_touch_close_no_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
