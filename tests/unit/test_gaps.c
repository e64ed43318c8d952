// Facts about liquid in gaps narrower than half a cell.
#include "unit.h"

#include "flow_fixture.h"
#include "step/narrow_faces.h"
#include "treacle/scene.h"
#include "treacle/sim.h"

// A slab 0.3 cells above the floor over the middle of a shallow stream.
static const char text[] =
    "domain: {size: [1, 0.5, 0], resolution: 16, sides: {all: no-slip}}\n"
    "materials: {water: {density: 1000, viscosity: 0.01}}\n"
    "particles: {per_cell: 16}\n"
    "solids:\n"
    "  slab: {shape: {box: {min: [0.25, 0.01875, -1], max: [0.75, 0.6, 1]}}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0, -1], max: [1, 0.2, 1]}}, velocity: [0.2, 0, 0]}\n";

static double slope_of(const float* affine) {
    double sum = 0.0;
    for (int i = 0; i < 9; ++i) {
        sum += fabs((double)affine[i]);
    }
    return sum;
}

static void test_particles_in_a_gap_have_no_slope_and_others_keep_theirs(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    treacle_frame frame;
    assert_int_equal(treacle_scene_parse(ctx, "gap", text, sizeof(text) - 1, 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    assert_int_equal(treacle_sim_step(sim, 0.001, &stats), TREACLE_OK);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* tile_first = first->data;
    const int32_t* tile = treacle_frame_find(&frame, "tile_coord")->data;
    const float* x = treacle_frame_find(&frame, "position")->data;
    const float* affine = treacle_frame_find(&frame, "affine")->data;
    int inside = 0, outside = 0, sloped = 0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = tile_first[t]; i < tile_first[t + 1]; ++i) {
            double across = 8.0 * tile[3 * t] + (double)x[3 * i];
            bool is_inside = across > 5.0 && across < 11.0;
            inside += is_inside;
            outside += !is_inside;
            sloped += !is_inside && slope_of(affine + 9 * i) > 0.0;
            assert_true(!is_inside || slope_of(affine + 9 * i) == 0.0);
        }
    }
    assert_true(inside > 5 && outside > 50 && sloped > outside / 2);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

// A heavy box that leans a little, a twentieth of a cell from the left wall of a tube.
static const char tube[] = "domain: {size: [8 cm, 16 cm], cell: 1 cm}\n"
                           "particles: {per_cell: 9}\n"
                           "step: {max_dt: 5 ms}\n"
                           "liquids:\n"
                           "  - {shape: {box: {min: [0, 0], max: [8 cm, 14 cm]}}}\n"
                           "bodies:\n"
                           "  box:\n"
                           "    shape: {box: {size: [7 cm, 3 cm, 1 cm]}, rotate: [0, 0, 0.1 deg], "
                           "move: [3.54 cm, 9.5 cm]}\n"
                           "    density: 3000 kg/m^3\n"
                           "    friction: 0\n";

// Without [gap.2] steps that gain too much are refused after 0.41 s, however short they are.
static void test_a_box_sinks_through_a_tube_and_transfers_only_take_energy(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "tube", tube, sizeof(tube) - 1, 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    double transfer = 0.0;
    int retries = 0;
    while (treacle_sim_time(sim) < 0.6) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 0.005, &stats), TREACLE_OK);
        transfer += stats.energy.transfer;
        retries += stats.retries;
    }
    assert_true(transfer < 0.0);
    assert_int_equal(retries, 0);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

// --- narrow faces --------------------------------------------------------------------------------

enum {
    NARROW_TILES = 4,
    NARROW_VALUES = (NARROW_TILES + 1) * TILE_CELLS,
    NARROW = 4 * TILE_SIZE + 3
};

// Liquid everywhere, at 0.1 m/s, and a solid at 0.3 m/s that closes no face.
typedef struct narrow_world {
    flow_world flow;
    arena scratch;
    liquid_setup setup;
    liquid_state state;
    solid_grid solid;
    liquid_grid liquid;
    particle_grid given;
    tile_mask known[NARROW_TILES + 1];
    float phi[NARROW_VALUES], open[NARROW_VALUES], mass[NARROW_VALUES], solid_u[NARROW_VALUES];
    float tent[NARROW_VALUES]; // 1; of a flow that has them
} narrow_world;

static void narrow_begin(narrow_world* w) {
    memset(w, 0, sizeof(*w));
    flow_world_begin(&w->flow, (int[]){8, 8, 1}, TREACLE_SIDE_SLIP);
    assert_true(w->flow.map.count <= NARROW_TILES);
    arena_init(&w->scratch, w->flow.ctx);
    w->setup = (liquid_setup){.domain = &w->flow.domain};
    w->state.map = w->flow.map;
    w->solid.phi = w->phi;
    for (int i = 0; i < NARROW_VALUES; ++i) {
        w->phi[i] = -1.0f;
        w->open[i] = w->mass[i] = w->tent[i] = 1.0f;
        w->solid_u[i] = 0.3f;
    }
    for (int a = 0; a < AXES; ++a) {
        w->state.face_u.at[a] = w->flow.u[a].values;
        w->solid.face_open.at[a] = w->open;
        w->solid.face_u.at[a] = w->solid_u;
        w->given.face_mass.at[a] = w->mass;
        for (int64_t i = 0; i < flow_count(&w->flow.map); ++i) {
            w->flow.u[a].values[i] = 0.1f;
        }
    }
    w->flow.u[1].values[NARROW] = 6.0f;
}

// The velocity through the face that differs, eased.
static double narrow_eased(narrow_world* w) {
    step_frame f = {.ctx = w->flow.ctx, .scratch = &w->scratch, .setup = &w->setup};
    wet_faces wet = {.domain = &w->flow.domain,
                     .map = &w->state.map,
                     .cell_phi = w->phi,
                     .solid = &w->solid,
                     .liquid = &w->liquid,
                     .known = w->known};
    assert_int_equal(narrow_faces_ease(&f, &wet, &w->given, (face_view){0}, &w->state), TREACLE_OK);
    return (double)w->flow.u[1].values[NARROW];
}

static void narrow_end(narrow_world* w) {
    arena_finish(&w->scratch);
    flow_world_end(&w->flow);
}

static void test_particles_at_a_slit_take_its_speed_by_what_it_weighs(void** state) {
    (void)state;
    static narrow_world w;
    narrow_begin(&w);
    w.open[NARROW] = 0.01f;
    w.mass[NARROW] = 1.7f;
    assert_true(fabs(narrow_eased(&w) - (0.1 + 0.02 / 1.7 * 5.9)) < 1e-5);
    for (int64_t i = 0; i < flow_count(&w.flow.map); ++i) {
        assert_true(i == NARROW || w.flow.u[1].values[i] == 0.1f);
    }
    narrow_end(&w);
}

static void test_faces_open_by_half_of_what_is_around_them_keep_their_speed(void** state) {
    (void)state;
    static narrow_world w;
    narrow_begin(&w);
    w.open[NARROW] = 0.5f;
    assert_true(narrow_eased(&w) == 6.0);
    w.open[NARROW] = 0.0f; // closed: no matter of slits
    assert_true(narrow_eased(&w) == 6.0);
    w.open[NARROW] = 0.4f;
    assert_true(narrow_eased(&w) < 6.0);
    narrow_end(&w);
}

// Liquid that a plate squeezes out beside a wall: 22 m/s through a third of a face with little
// liquid was the speed of all that was around.
static void test_faces_with_little_liquid_weigh_what_the_flow_has_moved(void** state) {
    (void)state;
    static narrow_world w;
    narrow_begin(&w);
    w.open[NARROW] = 0.346f;
    w.mass[NARROW] = 0.69f;
    w.tent[NARROW] = 0.1f;
    assert_true(narrow_eased(&w) == 6.0); // a flow that has no fractions on faces
    for (int a = 0; a < AXES; ++a) {
        w.liquid.fraction.tent.at[a] = w.tent;
    }
    assert_true(fabs(narrow_eased(&w) - (0.1 + 2.0 * 0.0346 / 0.69 * 5.9)) < 1e-5);
    narrow_end(&w);
}

static void test_where_all_faces_are_slits_the_solid_says_how_fast_its_side_is(void** state) {
    (void)state;
    static narrow_world w;
    narrow_begin(&w);
    for (int i = 0; i < NARROW_VALUES; ++i) {
        w.open[i] = 0.05f;
    }
    assert_true(fabs(narrow_eased(&w) - (0.3 + 0.1 * 5.7)) < 1e-5);
    narrow_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_box_sinks_through_a_tube_and_transfers_only_take_energy),
        cmocka_unit_test(test_particles_at_a_slit_take_its_speed_by_what_it_weighs),
        cmocka_unit_test(test_faces_open_by_half_of_what_is_around_them_keep_their_speed),
        cmocka_unit_test(test_faces_with_little_liquid_weigh_what_the_flow_has_moved),
        cmocka_unit_test(test_where_all_faces_are_slits_the_solid_says_how_fast_its_side_is),
        cmocka_unit_test(test_particles_in_a_gap_have_no_slope_and_others_keep_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
