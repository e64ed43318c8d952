// Particles outside the surface fly [flyer.1]; those inside are its volume.
#include "sim_checks.h"

#include "sim/sim_internal.h"
#include "treacle/scene.h"

static const double cell = 1.0 / 32;

typedef struct pond {
    treacle_sim_def def;
    treacle_material_def material;
    treacle_shape water, drop;
    treacle_liquid_def liquids[2];
} pond;

// A pool of 4.3 cells and, if wanted, one particle high above it at the given cell along x.
static void fill_pond(pond* p, treacle_transfer transfer, double drop_at) {
    memset(p, 0, sizeof(*p));
    p->def = treacle_sim_def_default();
    p->def.transfer = transfer;
    p->def.domain = (treacle_domain_def){.size = {1.0, 1.0, 0.0}, .cell = cell};
    p->def.particles = (treacle_particles_def){.per_cell = 4, .jitter = 0.5};
    p->def.step.max_dt = 0.004;
    p->material = treacle_material_def_default();
    p->water = shape_at(TREACLE_SHAPE_BOX, 0.5, 0.0, 0.5 * cell);
    p->water.size[1] = 2.0 * 4.3 * cell;
    p->drop = shape_at(TREACLE_SHAPE_BOX, (drop_at + 0.25) * cell, 28.25 * cell, 0.5 * cell);
    p->drop.size[0] = p->drop.size[1] = 0.5 * cell;
    p->liquids[0] = p->liquids[1] = treacle_liquid_def_default();
    p->liquids[0].shape = &p->water;
    p->liquids[1].shape = &p->drop;
    p->def.material_count = 1;
    p->def.materials = &p->material;
    p->def.liquid_count = drop_at < 0.0 ? 1 : 2;
    p->def.liquids = p->liquids;
}

typedef struct sight {
    int64_t count;
    double height, speed; // cells, m/s
} sight;

// The last particle of the second liquid.
static sight look(const treacle_sim* sim) {
    const particles* p = &sim->now.particles;
    sight out = {0};
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            if (particles_id(p)[i] >> PARTICLE_SOURCE_SHIFT == 1) {
                out.count += 1;
                out.height = TILE_SIZE * (double)p->tile[t].at[1] +
                             (double)particles_f32(p, PARTICLE_POSITION)[AXES * i + 1];
                out.speed = (double)particles_f32(p, PARTICLE_VELOCITY)[AXES * i + 1];
            }
        }
    }
    return out;
}

static void check_fall(treacle_transfer transfer, double drop_at) {
    pond scene;
    fill_pond(&scene, transfer, drop_at);
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    treacle_step_stats stats;
    sight now = look(sim);
    assert_int_equal(now.count, 1);
    while (treacle_sim_time(sim) < 0.5) {
        check_step(ctx, sim, 0.004, &stats);
        now = look(sim);
        double fall = -9.81 * treacle_sim_time(sim);
        assert_true(now.height < 7.5 || fabs(now.speed / fall - 1.0) < 1e-4);
    }
    assert_true(now.height < 5.5);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_a_lone_particle_falls_to_the_pool(void** state) {
    (void)state;
    for (int transfer = TREACLE_TRANSFER_PIC; transfer <= TREACLE_TRANSFER_APIC; ++transfer) {
        check_fall((treacle_transfer)transfer, 16.0);
        check_fall((treacle_transfer)transfer, 16.25);
        check_fall((treacle_transfer)transfer, 31.5); // along a wall
    }
}

static void test_the_surface_of_a_pool_holds_its_volume(void** state) {
    (void)state;
    pond scene;
    fill_pond(&scene, TREACLE_TRANSFER_APIC, -1.0);
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    treacle_step_stats stats;
    check_step(ctx, sim, 0.004, &stats);
    assert_true(fabs(stats.surface_volume / stats.volume - 1.0) < 0.02);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_nothing_flies_free_from_a_pool_at_rest(void** state) {
    (void)state;
    pond scene;
    fill_pond(&scene, TREACLE_TRANSFER_APIC, -1.0);
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    for (int i = 0; i < 100; ++i) {
        treacle_step_stats stats;
        check_step(ctx, sim, 0.004, &stats);
        step_frame f = {.ctx = ctx, .setup = &sim->setup, .scratch = &sim->scratch};
        free_flyers flyers;
        assert_int_equal(free_flyers_find(&f, &sim->now.liquid, &sim->now.particles, &flyers),
                         TREACLE_OK);
        assert_int_equal(flyers.count, 0);
        arena_give_to(&sim->scratch, 0);
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// What flows out of a nozzle hangs together: no particle of its skin falls ahead.
static void test_thick_liquid_keeps_its_skin(void** state) {
    (void)state;
    static const char text[] =
        "domain: {origin: [-8 mm, 0, -8 mm], size: [16 mm, 40 mm, 16 mm], cell: 1 mm,\n"
        "         sides: {all: open}}\n"
        "step: {max_dt: 10 ms}\n"
        "materials: {goo: {density: 1000, viscosity: 500}}\n"
        "emitters:\n"
        "  - shape: {cylinder: {radius: 4 mm, height: 4 mm, centre: [0.1 mm, 36 mm, 0]}}\n"
        "    speed: 5 cm/s\n";
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "nozzle", text, sizeof(text) - 1, 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    double most = 0.0;
    for (int k = 0; k < 30; ++k) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 0.01, &stats), TREACLE_OK);
        most = fmax(most, stats.max_speed);
    }
    assert_true(most < 0.08);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lone_particle_falls_to_the_pool),
        cmocka_unit_test(test_the_surface_of_a_pool_holds_its_volume),
        cmocka_unit_test(test_nothing_flies_free_from_a_pool_at_rest),
        cmocka_unit_test(test_thick_liquid_keeps_its_skin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
