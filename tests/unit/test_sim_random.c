// Random scenes: whatever is asked for, no particle is lost uncounted, none is outside the domain
// or out of order, nothing is NaN.
#include "sim_fixture.h"

#include "sim/sim_internal.h"

enum { BALLISTIC_SCENES = 60, LIQUID_SCENES = 18, STEPS = 12 };

typedef struct dice {
    uint64_t scene, throws;
} dice;

static double throw_between(dice* d, double low, double high) {
    return low + (high - low) * hash_random_f64(d->scene, d->throws++, RANDOM_TEST);
}

static int throw_below(dice* d, int count) {
    return (int)throw_between(d, 0.0, count);
}

static void throw_domain(dice* d, treacle_domain_def* domain) {
    domain->cell = 1.0 / 16;
    int flat = throw_below(d, 8); // 0, 1, 2: that axis is inactive
    for (int a = 0; a < AXES; ++a) {
        bool is_periodic = throw_below(d, 3) == 0;
        int cells = is_periodic ? 16 * (1 + throw_below(d, 2)) : 2 + throw_below(d, 30);
        domain->size[a] = a == flat ? 0.0 : cells * domain->cell;
        domain->origin[a] = throw_between(d, -2.0, 2.0);
        for (int s = 0; s < 2; ++s) {
            const treacle_side walls[] = {TREACLE_SIDE_SLIP, TREACLE_SIDE_NO_SLIP,
                                          TREACLE_SIDE_OPEN};
            domain->sides[a][s] = is_periodic ? TREACLE_SIDE_PERIODIC : walls[throw_below(d, 3)];
        }
    }
}

static treacle_shape throw_shape(dice* d, const treacle_domain_def* domain) {
    treacle_shape out = treacle_shape_default((treacle_shape_kind)throw_below(d, 5));
    out.radius = throw_between(d, 0.1, 0.5);
    out.height = throw_between(d, 0.1, 0.5);
    out.thickness = throw_between(d, 0.05, 0.1);
    for (int a = 0; a < AXES; ++a) {
        out.size[a] = throw_between(d, 0.1, 0.8);
        out.rotate[a] = throw_between(d, -3.0, 3.0);
        double middle = domain->origin[a] + 0.5 * domain->size[a] + 0.5 * domain->cell;
        bool is_flat = domain->size[a] == 0.0;
        out.move[a] = middle + (is_flat ? 0.0 : throw_between(d, -0.4, 0.4));
    }
    return out;
}

static void throw_scene(dice* d, sim_scene* s) {
    sim_scene_fill(s);
    s->def.seed = d->scene;
    throw_domain(d, &s->def.domain);
    s->def.particles.per_cell = 1 + throw_below(d, 12);
    s->def.particles.jitter = throw_between(d, 0.0, 1.0);
    s->def.step.cfl = throw_between(d, 0.1, 5.0);
    s->ball = throw_shape(d, &s->def.domain);
    s->box = throw_shape(d, &s->def.domain);
    s->nozzle = throw_shape(d, &s->def.domain);
    s->nozzle.kind = TREACLE_SHAPE_SPHERE;
    s->drain = throw_shape(d, &s->def.domain);
    s->def.sink_count = throw_below(d, 2);
    for (int a = 0; a < AXES; ++a) {
        s->emitter.direction[a] = throw_between(d, -1.0, 1.0);
        s->liquids[0].velocity.value_a[a] = throw_between(d, -20.0, 20.0);
        s->liquids[1].spin[a] = throw_between(d, -50.0, 50.0);
    }
}

// How far outside a side a particle may be between steps, in cells: the density correction of a
// liquid comes after the sort, and may put it a quarter of a cell through an open side; round a
// periodic one a tenth more.
static double leeway(treacle_side side) {
    return side == TREACLE_SIDE_OPEN ? 0.25 : side == TREACLE_SIDE_PERIODIC ? 0.35 : 0.0;
}

// Every particle is in the domain, and moves at a speed that is a number.
static void check_state(const treacle_sim* sim) {
    const particles* p = &sim->now.particles;
    assert_true(particles_is_grouped(p));
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        for (particle_ix row = p->tile_first[t]; row < p->tile_first[t + 1]; ++row) {
            for (int a = 0; a < AXES; ++a) {
                double x = (double)particles_f32(p, PARTICLE_POSITION)[AXES * row + a];
                double cells = TILE_SIZE * p->tile[t].at[a] + x;
                const treacle_side* sides = sim->domain.sides[a];
                assert_true(cells >= -leeway(sides[0]));
                assert_true(cells <= sim->domain.cells[a] + leeway(sides[1]));
                assert_true(isfinite(particles_f32(p, PARTICLE_VELOCITY)[AXES * row + a]));
            }
        }
    }
}

static int64_t run_scene(treacle_context* ctx, const sim_scene* scene) {
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(ctx, &scene->def, &sim);
    if (status != TREACLE_OK) {
        print_message("scene %d: %s\n", (int)scene->def.seed, treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    int64_t count = treacle_sim_particle_count(sim);
    check_state(sim);
    for (int k = 0; k < STEPS; ++k) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 1.0 / 24, &stats), TREACLE_OK);
        count += stats.emitted - stats.absorbed + stats.split - stats.merged;
        assert_int_equal(stats.particles, count);
        check_state(sim);
        bool is_ballistic = scene->def.flow == TREACLE_FLOW_NONE;
        assert_true(!is_ballistic || particles_is_sorted(&sim->now.particles, &sim->domain));
    }
    treacle_sim_destroy(sim);
    return count;
}

static void test_random_flights_keep_their_particles(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    int64_t most = 0;
    for (uint64_t i = 0; i < BALLISTIC_SCENES; ++i) {
        dice d = {.scene = i};
        sim_scene scene;
        throw_scene(&d, &scene);
        int64_t count = run_scene(ctx, &scene);
        most = count > most ? count : most;
    }
    assert_true(most > 1000);
    treacle_context_destroy(ctx);
}

static void test_random_liquids_keep_their_particles(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    for (uint64_t i = 0; i < LIQUID_SCENES; ++i) {
        dice d = {.scene = i};
        sim_scene scene;
        throw_scene(&d, &scene);
        scene.def.flow = TREACLE_FLOW_PRESSURE;
        scene.def.transfer = (treacle_transfer)(i % 3);
        scene.def.kernel = (treacle_kernel)(i / 3 % 3);
        scene.def.reseed = i % 2 == 0;
        run_scene(ctx, &scene);
    }
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_flights_keep_their_particles),
        cmocka_unit_test(test_random_liquids_keep_their_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
