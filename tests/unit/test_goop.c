// Several elastic materials in one scene, bodies that do not merge, and gel that melts.
#include <math.h>
#include <stdio.h>

#include "treacle/treacle.h"
#include "unit.h"

static treacle_sim* make(treacle_context* ctx, const char* text) {
    treacle_scene* s = NULL;
    treacle_sim* sim = NULL;
    treacle_status status = treacle_scene_parse(ctx, "test.yaml", text, strlen(text), 0, NULL, &s);
    if (status == TREACLE_OK) {
        status = treacle_sim_create(ctx, treacle_scene_sim(s), &sim);
    }
    treacle_scene_destroy(s);
    assert_int_equal(status, TREACLE_OK);
    return sim;
}

static void advance(treacle_sim* sim, double until) {
    while (treacle_sim_time(sim) < until - 1e-9) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, until - treacle_sim_time(sim), &stats), TREACLE_OK);
    }
}

// Means over the particles of a material: place and velocity along x, y, and the norm of the
// strain.
typedef struct body {
    double x[2], v[2], strain;
} body;

static body measure(treacle_sim* sim, int material) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int32_t* tile = treacle_frame_find(&frame, "tile_coord")->data;
    const uint8_t* kind = treacle_frame_find(&frame, "material")->data;
    const float* position = treacle_frame_find(&frame, "position")->data;
    const float* velocity = treacle_frame_find(&frame, "velocity")->data;
    const float* strain = treacle_frame_find(&frame, "strain")->data;
    body out = {0};
    double count = 0.0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        const int64_t* rows = (const int64_t*)first->data + t;
        for (int64_t i = rows[0]; i < rows[1]; ++i) {
            if (kind[i] != material) {
                continue;
            }
            double square = 0.0;
            for (int k = 0; k < 6; ++k) {
                double e = (double)strain[6 * i + k];
                square += (k < 3 ? 1.0 : 2.0) * e * e;
            }
            for (int a = 0; a < 2; ++a) {
                out.x[a] += frame.cell * (8.0 * tile[3 * t + a] + (double)position[3 * i + a]);
                out.v[a] += (double)velocity[3 * i + a];
            }
            out.strain += sqrt(square);
            count += 1.0;
        }
    }
    for (int a = 0; a < 2; ++a) {
        out.x[a] /= count;
        out.v[a] /= count;
    }
    out.strain /= count;
    return out;
}

static const char balls[] =
    "domain: {size: [0.8, 0.4], cell: 0.0125, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: 0.01}\n"
    "elasticity: {theta: 0.55}\n"
    "materials:\n"
    "  red: {viscosity: 0.5, merges: %s, elastic: {shear_modulus: 2 kPa}}\n"
    "  blue: {viscosity: 0.5, elastic: {shear_modulus: 2 kPa}}\n"
    "liquids:\n"
    "  - {shape: {sphere: {radius: 0.06, centre: [0.3, 0.2, 0]}}, material: red,\n"
    "     velocity: [0.7, 0, 0]}\n"
    "  - {shape: {sphere: {radius: 0.06, centre: [0.5, 0.2, 0]}}, material: blue,\n"
    "     velocity: [-0.7, 0, 0]}\n";

static treacle_sim* make_balls(treacle_context* ctx, bool merges) {
    char text[sizeof(balls) + 8];
    snprintf(text, sizeof(text), balls, merges ? "true" : "false");
    return make(ctx, text);
}

// Balls that are thrown at each other.
static void test_bodies_that_do_not_merge_come_off(void** state) {
    (void)state;
    for (int merges = 0; merges < 2; ++merges) {
        treacle_context* ctx = unit_context(2);
        treacle_sim* sim = make_balls(ctx, merges == 1);
        advance(sim, 0.09);
        body red = measure(sim, 0), blue = measure(sim, 1);
        assert_true(blue.x[0] - red.x[0] < 0.12); // pressed together
        assert_true(blue.x[0] - red.x[0] > 0.06); // not through each other
        advance(sim, 0.5);
        red = measure(sim, 0);
        blue = measure(sim, 1);
        double apart = hypot(blue.x[0] - red.x[0], blue.x[1] - red.x[1]);
        double leaves = blue.v[0] - red.v[0];
        assert_true(merges == 1 ? apart < 0.16 : apart > 0.25);
        assert_true(merges == 1 ? fabs(leaves) < 0.15 : leaves > 0.4);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

static const char stack[] =
    "domain: {size: [0.1, 0.25], cell: 0.0125, sides: slip}\n"
    "step: {max_dt: 0.01}\n"
    "materials:\n"
    "  red: {viscosity: 50, merges: false, elastic: {shear_modulus: 10 kPa}}\n"
    "  blue: {viscosity: 50, elastic: {shear_modulus: 10 kPa}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [-1, -1, -1], max: [1, 0.1, 1]}}, material: red}\n"
    "  - {shape: {box: {min: [-1, 0.1, -1], max: [1, 0.2, 1]}}, material: blue}\n";

// A block on another one is borne by it.
static void test_a_body_rests_on_one_with_which_it_does_not_merge(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(2);
    treacle_sim* sim = make(ctx, stack);
    advance(sim, 1.0);
    body low = measure(sim, 0), high = measure(sim, 1);
    assert_close(low.x[1], 0.05, 0.002);
    assert_close(high.x[1], 0.15, 0.003);
    assert_true(fabs(high.v[1]) < 0.02);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static uint64_t hash_of_balls(int threads) {
    treacle_context* ctx = unit_context(threads);
    treacle_sim* sim = make_balls(ctx, false);
    advance(sim, 0.12);
    uint64_t hash = treacle_sim_hash(sim);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return hash;
}

static void test_contacts_do_not_depend_on_threads(void** state) {
    (void)state;
    assert_true(hash_of_balls(1) == hash_of_balls(3));
}

static void test_contacts_are_found_again_after_a_restore(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(2);
    treacle_sim *sim = make_balls(ctx, false), *other = make_balls(ctx, false);
    treacle_frame frame;
    advance(sim, 0.1);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    assert_int_equal(treacle_sim_restore(other, &frame), TREACLE_OK);
    advance(sim, 0.13);
    advance(other, 0.13);
    assert_true(treacle_sim_hash(other) == treacle_sim_hash(sim));
    treacle_sim_destroy(sim);
    treacle_sim_destroy(other);
    treacle_context_destroy(ctx);
}

static const char blocks[] =
    "domain: {size: [0.6, 0.15], cell: 0.0125, sides: slip}\n"
    "gravity: [[0, [0, 0, 0]], [0.5, [0, -9.81, 0]]]\n"
    "step: {max_dt: 0.01}\n"
    "materials:\n"
    "  soft: {viscosity: 50, elastic: {shear_modulus: 10 kPa}}\n"
    "  stiff: {viscosity: 50, elastic: {shear_modulus: 40 kPa, rate: convected}}\n"
    "  thin: {viscosity: 1e5}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0.05, -1, -1], max: [0.1, 0.1, 1]}}, material: soft}\n"
    "  - {shape: {box: {min: [0.2, -1, -1], max: [0.25, 0.1, 1]}}, material: stiff}\n"
    "  - {shape: {box: {min: [0.4, -1, -1], max: [0.5, 0.05, 1]}}, material: thin}\n";

// Each is strained by its own weight over its own modulus; what is not elastic is not.
static void test_each_material_has_its_own_law(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(2);
    treacle_sim* sim = make(ctx, blocks);
    advance(sim, 1.0);
    body soft = measure(sim, 0), stiff = measure(sim, 1), thin = measure(sim, 2);
    assert_true(soft.strain > 0.01);
    assert_true(fabs(soft.strain / stiff.strain - 4.0) < 0.4);
    assert_true(thin.strain == 0.0);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static const char slab[] =
    "domain: {size: [0.2, 0.15], cell: 0.0125,\n"
    "         sides: {left: periodic, right: periodic, bottom: %s, top: open}}\n"
    "gravity: [1, 0, 0]\n"
    "step: {max_dt: 0.01}\n"
    "materials: {gel: {viscosity: 50, elastic: {shear_modulus: 1 kPa}}}\n"
    "liquids: [{shape: {box: {min: [-1, -1, -1], max: [1, 0.1, 1]}}}]\n";

// A slab that is pulled along: at rest eps_xy = rho g (H - y) / mu_e where it sticks, the mean of
// its norm is sqrt 2 times rho g H / 2 mu_e. Where it slips nothing holds it, and nothing shears
// it.
static void test_gel_is_sheared_where_it_sticks_and_not_where_it_slips(void** state) {
    (void)state;
    for (int slips = 0; slips < 2; ++slips) {
        char text[sizeof(slab) + 16];
        snprintf(text, sizeof(text), slab, slips == 1 ? "slip" : "no-slip");
        treacle_context* ctx = unit_context(2);
        treacle_sim* sim = make(ctx, text);
        advance(sim, 0.8);
        body gel = measure(sim, 0);
        double held = sqrt(2.0) * 1000.0 * 1.0 * 0.1 / (2.0 * 2000.0);
        assert_close(gel.strain, slips == 1 ? 0.0 : held, slips == 1 ? 1e-5 : 0.02 * held);
        assert_close(gel.v[0], slips == 1 ? 0.8 : 0.0, 1e-2);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

static const char jelly[] =
    "domain: {size: [0.3, 0.15], cell: 0.0125, sides: slip}\n"
    "step: {max_dt: 0.01}\n"
    "heat: {air: 290 K, loss: 1}\n"
    "heat_sources:\n"
    "  - {shape: {box: {min: [-1, -1, -1], max: [1, 1, 1]}}, power: 500 kW, start: 0.3}\n"
    "materials:\n"
    "  jelly: {viscosity: 1, heat_capacity: 2000, conductivity: 1, latent_heat: 50 kJ/kg,\n"
    "          solidus: 305 K, liquidus: 310 K, elastic: {shear_modulus: 3 kPa}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0.1, -1, -1], max: [0.2, 0.1, 1]}}, temperature: 300 K}\n";

// A block of jelly stands until it melts.
static void test_melting_forgets_strain(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(2);
    treacle_sim* sim = make(ctx, jelly);
    advance(sim, 0.3);
    body cold = measure(sim, 0);
    assert_true(cold.strain > 0.02);
    assert_true(cold.x[1] > 0.04);
    advance(sim, 1.3);
    body warm = measure(sim, 0);
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* melted = treacle_frame_find(&frame, "melted");
    for (int64_t i = 0; i < melted->count; ++i) {
        assert_true(((const float*)melted->data)[i] == 1.0f);
    }
    assert_true(warm.strain == 0.0);
    assert_true(warm.x[1] < 0.03);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_that_do_not_merge_come_off),
        cmocka_unit_test(test_a_body_rests_on_one_with_which_it_does_not_merge),
        cmocka_unit_test(test_contacts_do_not_depend_on_threads),
        cmocka_unit_test(test_contacts_are_found_again_after_a_restore),
        cmocka_unit_test(test_each_material_has_its_own_law),
        cmocka_unit_test(test_gel_is_sheared_where_it_sticks_and_not_where_it_slips),
        cmocka_unit_test(test_melting_forgets_strain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
