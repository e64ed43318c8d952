// The energy of particles [energy.5]: sums that can be done by hand.
#include "particle_fixture.h"

#include "phys/particle_energy.h"

static const float density[2] = {1.0f, 2.0f};
static const double gravity[AXES] = {0.0, -10.0, 0.0};

// Two particles of 1 and 2 kg, a metre apart in height.
static particles pair(treacle_context* ctx, const grid_domain* domain, uint32_t columns) {
    particles p;
    assert_int_equal(particles_create(ctx, columns, &p), TREACLE_OK);
    for (int i = 0; i < 2; ++i) {
        particle_birth birth = {.id = (uint64_t)i,
                                .place = {{1.5, 1.5 + i, 1.5}},
                                .velocity = {{3.0, i == 0 ? 0.0 : -4.0, 0.0}},
                                .volume = 1e-3,
                                .material = (uint8_t)i};
        tile_coord tile;
        particle_ix row = 0;
        particles_locate(domain, birth.place, &tile, birth.position);
        assert_int_equal(particles_append(&p, tile, 1, &row), TREACLE_OK);
        particle_init(&p, domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&p, domain, &stats), TREACLE_OK);
    return p;
}

static particle_energy measure(const particle_energy_params* params, double dt) {
    arena scratch;
    particle_energy out;
    arena_init(&scratch, params->p->ctx);
    assert_int_equal(particle_energy_measure(params, dt, &scratch, &out), TREACLE_OK);
    arena_finish(&scratch);
    return out;
}

static particle_energy_params params_of(const grid_domain* domain, const particles* p) {
    return (particle_energy_params){.domain = domain,
                                    .p = p,
                                    .density = density,
                                    .reference_density = 1000.0,
                                    .gravity = gravity,
                                    .kernel = TREACLE_KERNEL_QUADRATIC,
                                    .has_motion = true};
}

static void test_mass_motion_and_height_are_those_of_the_particles(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, 1.0, TREACLE_SIDE_SLIP);
    particles p = pair(ctx, &domain, 0);
    particle_energy_params params = params_of(&domain, &p);
    particle_energy e = measure(&params, 0.1);
    assert_true(fabs(e.mass - 3.0) < 1e-6);
    assert_true(fabs(e.kinetic - (0.5 * 9.0 + 25.0)) < 1e-5);
    assert_true(fabs(e.height - -10.0 * (1.5 + 2.0 * 2.5)) < 1e-5);
    assert_true(fabs(e.pushed - 0.5 * 0.1 * (-10.0 * 2.0 * -4.0)) < 1e-6);
    assert_true(e.elastic == 0.0);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

static void test_places_alone_have_no_motion(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, 1.0, TREACLE_SIDE_SLIP);
    particles p = pair(ctx, &domain, 0);
    particle_energy_params params = params_of(&domain, &p);
    params.has_motion = false;
    particle_energy e = measure(&params, 0.1);
    assert_true(e.kinetic == 0.0 && e.pushed == 0.0);
    assert_true(fabs(e.mass - 3.0) < 1e-6);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

// mu_e |eps|^2 / 2 in a unit of volume.
static void test_strain_stores_energy_in_what_is_firm(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    grid_domain domain = make_domain(ctx, 8, 8, 8, 1.0, TREACLE_SIDE_SLIP);
    particles p = pair(ctx, &domain, 1u << PARTICLE_STRAIN | 1u << PARTICLE_MELTED);
    const strain_law laws[2] = {{.modulus = 1000.0}, {.modulus = 0.0}};
    memset(particles_f32(&p, PARTICLE_STRAIN), 0, 2 * STRAIN_PARTS * sizeof(float));
    for (int i = 0; i < 2; ++i) {
        particles_f32(&p, PARTICLE_STRAIN)[STRAIN_PARTS * i] = 0.5f;
        particles_f32(&p, PARTICLE_MELTED)[i] = 0.25f;
    }
    particle_energy_params params = params_of(&domain, &p);
    params.strain_laws = laws;
    particle_energy e = measure(&params, 0.1);
    assert_true(fabs(e.elastic - 1e-3 * 0.75 * 0.5 * 1000.0 * 0.25) < 1e-6);
    particles_destroy(&p);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_motion_and_height_are_those_of_the_particles),
        cmocka_unit_test(test_places_alone_have_no_motion),
        cmocka_unit_test(test_strain_stores_energy_in_what_is_firm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
