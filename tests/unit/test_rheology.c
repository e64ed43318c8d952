// Facts about viscosity that depends on shear [rheo.1, rheo.2], and about the library's materials.
#include "grid_fixture.h"

#include <math.h>

#include "base/alloc.h"
#include "grid/stagger.h"
#include "phys/rheology.h"
#include "treacle/materials.h"
#include "unit.h"

static treacle_material_def material_of(treacle_rheology law) {
    treacle_material_def m = treacle_material_def_default();
    m.viscosity = 2.0;
    m.rheology = (treacle_rheology_def){.law = law,
                                        .consistency = 5.0,
                                        .exponent = 0.5,
                                        .yield_stress = 7.0,
                                        .viscosity_infinite = 0.1,
                                        .time = 3.0,
                                        .critical_rate = 1e-4};
    return m;
}

static void test_laws_have_their_limits(void** state) {
    (void)state;
    treacle_material_def m = material_of(TREACLE_RHEOLOGY_NEWTONIAN);
    assert_close(rheology_viscosity(&m, 0.0), 2.0, 0.0);
    assert_close(rheology_viscosity(&m, 1e9), 2.0, 0.0);
    m = material_of(TREACLE_RHEOLOGY_POWER_LAW);
    assert_close(rheology_viscosity(&m, 4.0), 2.5, 1e-8);
    assert_close(rheology_viscosity(&m, 0.0), 500.0, 1e-9);
    m = material_of(TREACLE_RHEOLOGY_CARREAU);
    assert_close(rheology_viscosity(&m, 0.0), 2.0, 1e-6);
    assert_close(rheology_viscosity(&m, 1e12), 0.1, 1e-5);
    assert_close(rheology_viscosity(&m, 1.0), 0.1 + 1.9 * pow(10.0, -0.25), 1e-7);
    m = material_of(TREACLE_RHEOLOGY_BINGHAM);
    assert_close(rheology_viscosity(&m, 10.0), 2.7, 1e-9);
    assert_close(rheology_viscosity(&m, 0.0), 2.0 + 7e4, 1e-9);
    m = material_of(TREACLE_RHEOLOGY_HERSCHEL_BULKLEY);
    assert_close(rheology_viscosity(&m, 4.0), 2.5 + 1.75, 1e-8);
}

static void test_stress_never_falls_with_the_rate(void** state) {
    (void)state;
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        const treacle_material_def* m = &treacle_material_preset_at(i)->material;
        double last = 0.0;
        for (double rate = 1e-6; rate < 1e5; rate *= 1.5) {
            double stress = rate * rheology_viscosity(m, rate);
            assert_true(stress > last);
            last = stress;
        }
    }
}

static void test_slopes_are_derivatives(void** state) {
    (void)state;
    for (int law = 0; law <= TREACLE_RHEOLOGY_HERSCHEL_BULKLEY; ++law) {
        treacle_material_def m = material_of((treacle_rheology)law);
        for (double rate = 1e-6; rate < 1e3; rate *= 3.0) {
            double step = 1e-4;
            double high = rheology_viscosity(&m, rate * exp(step));
            double low = rheology_viscosity(&m, rate * exp(-step));
            assert_close(rheology_slope(&m, rate), log(high / low) / (2.0 * step), 1e-6);
        }
        assert_close(rheology_slope(&m, 0.0), 0.0, 0.0);
    }
    treacle_material_def thin = material_of(TREACLE_RHEOLOGY_POWER_LAW);
    thin.rheology.consistency = 1e-20; // cut off
    assert_close(rheology_slope(&thin, 1.0), 0.0, 0.0);
}

static void test_absurd_rates_give_finite_viscosities(void** state) {
    (void)state;
    for (int law = 0; law <= TREACLE_RHEOLOGY_HERSCHEL_BULKLEY; ++law) {
        treacle_material_def m = material_of((treacle_rheology)law);
        m.rheology.exponent = 10.0;
        m.rheology.yield_stress = 1e12;
        m.rheology.critical_rate = 1e-9;
        const double rates[] = {0.0, 1e-300, 1e30, 1e150};
        for (int k = 0; k < 4; ++k) {
            double mu = rheology_viscosity(&m, rates[k]);
            assert_true(mu > 0.0 && mu <= RHEOLOGY_MOST);
        }
    }
}

static void test_means_are_what_they_are_called(void** state) {
    (void)state;
    const double expected[] = {10.0, 50.5, 2.0 / 1.01};
    for (int mean = 0; mean < 3; ++mean) {
        treacle_viscosity_mean m = (treacle_viscosity_mean)mean;
        double value = 0.5 * (rheology_to_mean(m, 1.0) + rheology_to_mean(m, 100.0));
        assert_close(rheology_from_mean(m, value), expected[mean], 1e-12);
    }
}

// --- the rate of shear --------------------------------------------------------------------------

enum { CELLS = 16 };

typedef struct box {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    float* field[8]; // cell share, edge shares, velocities, rate
} box;

static void make_box(box* b, int depth, treacle_side sides, const double gradient[3][3]) {
    *b = (box){.ctx = context_with(2)};
    b->domain = domain_with(b->ctx, CELLS, CELLS, depth, sides);
    b->map = whole_map(b->ctx, &b->domain);
    b->values = ((size_t)b->map.count + 1) * TILE_CELLS;
    for (int k = 0; k < 8; ++k) {
        void* block = NULL;
        assert_int_equal(alloc_zero(b->ctx, b->values, sizeof(float), "test", &block), TREACLE_OK);
        b->field[k] = block;
    }
    for (size_t i = 0; i < b->values - TILE_CELLS; ++i) {
        int q = (int)(i % TILE_CELLS), cell[AXES] = {q % 8, q / 8 % 8, q / 64};
        for (int k = 0; k < 4; ++k) {
            b->field[k][i] = 1.0f;
        }
        for (int a = 0; a < AXES && b->domain.is_active[a]; ++a) {
            double u = 0.0;
            for (int c = 0; c < AXES; ++c) {
                double x = b->map.coord[i / TILE_CELLS].at[c] * TILE_SIZE + cell[c] +
                           (double)place_offset(place_face(a), c);
                u += gradient[a][c] * x;
            }
            b->field[4 + a][i] = (float)u;
        }
    }
    rheology_params params = {.domain = &b->domain,
                              .map = &b->map,
                              .cell_fraction = b->field[0],
                              .edge_fraction = {{b->field[1], b->field[2], b->field[3]}},
                              .face_u = {{b->field[4], b->field[5], b->field[6]}}};
    rheology_rate(&params, b->field[7]);
}

static double rate_at(const box* b, int x, int y, int z) {
    tile_coord coord = {{x / TILE_SIZE, y / TILE_SIZE, z / TILE_SIZE}};
    int q = ((z % 8) * 8 + y % 8) * 8 + x % 8;
    return (double)b->field[7][(size_t)tile_map_find(&b->map, coord) * TILE_CELLS + (size_t)q];
}

static void end_box(box* b) {
    for (int k = 0; k < 8; ++k) {
        alloc_free(b->ctx, b->field[k], b->values * sizeof(float));
    }
    tile_map_destroy(&b->map);
    treacle_context_destroy(b->ctx);
}

static void check_rate(const double gradient[3][3], double expected) {
    for (int depth = 1; depth <= CELLS; depth += CELLS - 1) {
        box b;
        make_box(&b, depth, TREACLE_SIDE_OPEN, gradient);
        double h = b.domain.h;
        assert_close(rate_at(&b, 7, 8, depth / 2) * h, expected, 1e-5);
        assert_close(rate_at(&b, 3, 12, depth / 2) * h, expected, 1e-5);
        end_box(&b);
    }
}

static void test_shear_has_the_rate_of_its_slope(void** state) {
    (void)state;
    check_rate((const double[3][3]){{0, 3, 0}, {0, 0, 0}, {0, 0, 0}}, 3.0);
    check_rate((const double[3][3]){{0, 0, 0}, {-2, 0, 0}, {0, 0, 0}}, 2.0);
}

static void test_stretching_in_a_plane_has_twice_its_rate(void** state) {
    (void)state;
    check_rate((const double[3][3]){{1.5, 0, 0}, {0, -1.5, 0}, {0, 0, 0}}, 3.0);
}

static void test_rotation_has_no_rate(void** state) {
    (void)state;
    check_rate((const double[3][3]){{0, 2, 0}, {-2, 0, 0}, {0, 0, 0}}, 0.0);
}

static void test_a_sticking_wall_is_half_a_cell_away(void** state) {
    (void)state;
    // u = y from the wall on: the edges at the wall see the same slope as those inside
    box b;
    make_box(&b, 1, TREACLE_SIDE_NO_SLIP, (const double[3][3]){{0, 1, 0}, {0, 0, 0}, {0, 0, 0}});
    assert_close(rate_at(&b, 8, 0, 0) * b.domain.h, 1.0, 1e-5);
    end_box(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws_have_their_limits),
        cmocka_unit_test(test_stress_never_falls_with_the_rate),
        cmocka_unit_test(test_slopes_are_derivatives),
        cmocka_unit_test(test_absurd_rates_give_finite_viscosities),
        cmocka_unit_test(test_means_are_what_they_are_called),
        cmocka_unit_test(test_shear_has_the_rate_of_its_slope),
        cmocka_unit_test(test_stretching_in_a_plane_has_twice_its_rate),
        cmocka_unit_test(test_rotation_has_no_rate),
        cmocka_unit_test(test_a_sticking_wall_is_half_a_cell_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
