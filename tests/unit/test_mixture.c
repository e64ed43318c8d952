// Facts about the viscosity of cells with several materials [rheo.3], and about how far the slope
// of a law is trusted [rheo.8].
#include "grid_fixture.h"

#include <math.h>

#include "grid/tile_loop.h"
#include "phys/mixture.h"
#include "phys/rheology.h"
#include "unit.h"

enum { CELL = 77, EMPTY = 78 };

// One tile with liquid in one cell: honey, whose fraction is the base, and paste.
typedef struct mixture_fixture {
    treacle_context* ctx;
    tile_map map;
    treacle_material_def materials[2];
    float volume[2 * TILE_CELLS], base[2 * TILE_CELLS], portion[2 * TILE_CELLS];
    float rate[2 * TILE_CELLS], slope[2 * TILE_CELLS], log_mu[2 * TILE_CELLS];
    float rate_before[2 * TILE_CELLS], along[2 * TILE_CELLS];
    float* portions[2];
    mixture_params params;
} mixture_fixture;

static const double honey = 70.0, fraction = 0.25; // of paste

static void begin(mixture_fixture* f, treacle_viscosity_mean mean) {
    memset(f, 0, sizeof(*f));
    f->ctx = unit_context(1);
    grid_domain domain = domain_with(f->ctx, 8, 8, 8, TREACLE_SIDE_SLIP);
    tile_coord at = {{0, 0, 0}};
    assert_int_equal(tile_map_create(f->ctx, &domain, 1, &at, &f->map), TREACLE_OK);
    f->materials[0] = f->materials[1] = treacle_material_def_default();
    f->materials[0].viscosity = honey;
    f->materials[1].rheology = (treacle_rheology_def){.law = TREACLE_RHEOLOGY_HERSCHEL_BULKLEY,
                                                      .consistency = 5.0,
                                                      .exponent = 0.5,
                                                      .yield_stress = 7.0,
                                                      .critical_rate = 1e-3};
    f->volume[CELL] = 1.0f;
    f->base[CELL] = (float)((1.0 - fraction) * rheology_to_mean(mean, honey));
    f->portion[CELL] = (float)fraction;
    f->rate[CELL] = 3.0f;
    f->log_mu[EMPTY] = 5.0f;
    f->portions[1] = f->portion;
    f->params = (mixture_params){.map = &f->map,
                                 .cell_volume = f->volume,
                                 .material_count = 2,
                                 .materials = f->materials,
                                 .mean = mean,
                                 .cell_newtonian = f->base,
                                 .cell_shear_part = f->portions};
}

static void end(mixture_fixture* f) {
    tile_map_destroy(&f->map);
    unit_context_end(f->ctx);
}

static double mean_of(const mixture_fixture* f, double rate) {
    treacle_viscosity_mean mean = f->params.mean;
    double paste = rheology_viscosity(&f->materials[1], rate);
    double sum =
        (1.0 - fraction) * rheology_to_mean(mean, honey) + fraction * rheology_to_mean(mean, paste);
    return log(rheology_from_mean(mean, sum));
}

static const treacle_viscosity_mean means[] = {
    TREACLE_VISCOSITY_GEOMETRIC, TREACLE_VISCOSITY_ARITHMETIC, TREACLE_VISCOSITY_HARMONIC};

static void test_materials_mix_by_the_mean_that_is_asked_for(void** state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        mixture_fixture f;
        begin(&f, means[i]);
        mixture_viscosity(&f.params, &(mixture_rates){.rate = f.rate, .way = 1.0}, f.log_mu);
        assert_close(f.log_mu[CELL], mean_of(&f, 3.0), 1e-6);
        assert_close(f.log_mu[EMPTY], 5.0, 0.0); // no liquid: it keeps what it has
        end(&f);
    }
}

// A thin solid may hide all liquid from a cell: then no part of any material is there.
static void test_a_cell_without_parts_has_a_viscosity(void** state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        mixture_fixture f;
        begin(&f, means[i]);
        f.base[CELL] = f.portion[CELL] = 0.0f;
        mixture_rates rates = {.rate = f.rate, .slope = f.slope, .way = 1.0};
        mixture_viscosity(&f.params, &rates, f.log_mu);
        assert_true(f.log_mu[CELL] == 0.0f);
        assert_true(f.slope[CELL] == 0.0f);
        end(&f);
    }
}

static void test_slopes_are_those_of_the_mean(void** state) {
    (void)state;
    for (int i = 0; i < 2; ++i) { // of 1/mu the sign is the other one
        mixture_fixture f;
        begin(&f, means[i]);
        mixture_rates rates = {.rate = f.rate, .slope = f.slope, .way = 1.0};
        mixture_viscosity(&f.params, &rates, f.log_mu);
        double step = 1e-4;
        double change = mean_of(&f, 3.0 * exp(step)) - mean_of(&f, 3.0 * exp(-step));
        assert_close(f.slope[CELL], change / (2.0 * step), 1e-5);
        end(&f);
    }
}

static void test_a_part_of_the_way_ends_between(void** state) {
    (void)state;
    mixture_fixture f;
    begin(&f, TREACLE_VISCOSITY_GEOMETRIC);
    f.log_mu[CELL] = 2.0f;
    mixture_viscosity(&f.params, &(mixture_rates){.rate = f.rate, .way = 0.25}, f.log_mu);
    assert_close(f.log_mu[CELL], 2.0 + 0.25 * (mean_of(&f, 3.0) - 2.0), 1e-6);
    end(&f);
}

static void test_a_pass_that_was_right_is_trusted_and_one_that_turned_round_is_not(void** state) {
    (void)state;
    mixture_fixture f;
    begin(&f, TREACLE_VISCOSITY_GEOMETRIC);
    mixture_rates first = {.rate = f.rate, .slope = f.slope, .way = 1.0};
    mixture_viscosity(&f.params, &first, f.log_mu);
    float slope = f.slope[CELL];
    mixture_rates again = first;
    again.rate_before = f.rate_before;
    again.along = f.along;
    f.rate_before[CELL] = 3.0f;
    f.along[CELL] = 1.0f; // the strain has not changed
    mixture_viscosity(&f.params, &again, f.log_mu);
    assert_close(f.slope[CELL], slope, 1e-6);
    f.along[CELL] = -100.0f; // it has turned round, and is a hundredth of what it was
    f.rate_before[CELL] = 300.0f;
    f.slope[CELL] = slope;
    mixture_viscosity(&f.params, &again, f.log_mu);
    assert_true(f.slope[CELL] * slope < 0.0f && fabsf(f.slope[CELL]) <= fabsf(slope) * 1.0001f);
    end(&f);
}

static void test_what_thickens_goes_a_part_of_the_way(void** state) {
    (void)state;
    treacle_material_def m[2] = {treacle_material_def_default(), treacle_material_def_default()};
    assert_close(mixture_way(2, m), 1.0, 0.0);
    m[1].rheology.law = TREACLE_RHEOLOGY_POWER_LAW;
    m[1].rheology.exponent = 0.5;
    assert_close(mixture_way(2, m), 1.0, 0.0);
    m[1].rheology.exponent = 2.0;
    assert_close(mixture_way(2, m), 0.5, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_materials_mix_by_the_mean_that_is_asked_for),
        cmocka_unit_test(test_a_cell_without_parts_has_a_viscosity),
        cmocka_unit_test(test_slopes_are_those_of_the_mean),
        cmocka_unit_test(test_a_part_of_the_way_ends_between),
        cmocka_unit_test(test_a_pass_that_was_right_is_trusted_and_one_that_turned_round_is_not),
        cmocka_unit_test(test_what_thickens_goes_a_part_of_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
