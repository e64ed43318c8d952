#include "level_fixture.h"

#include <string.h>

#include "grid/fraction.h"
#include "grid/octant.h"

static double normal[AXES], offset;

static double plane(const double x[AXES]) {
    return normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2] - offset;
}

// Integral of max(0, -plane)^power / power! over the box low + [0, 1]^3 by inclusion and exclusion
// of its corners; needs a normal without zeros. power 0: the volume below the plane.
static double box_integral(const double low[AXES], int power) {
    double sum = 0.0, scale = 1.0;
    for (int i = 0; i < 8; ++i) {
        double corner[AXES] = {low[0] + (i & 1), low[1] + (i >> 1 & 1), low[2] + (i >> 2)};
        double below = -plane(corner), term = below > 0.0 ? 1.0 : 0.0;
        for (int k = 1; k <= 3 + power; ++k) {
            term *= below / k;
        }
        sum += ((i & 1) + (i >> 1 & 1) + (i >> 2)) % 2 == 0 ? term : -term;
    }
    for (int a = 0; a < AXES; ++a) {
        scale *= normal[a];
    }
    return sum / scale;
}

typedef struct fraction_world {
    level_world level;
    grid_field field[13];
    fraction_fields out;
} fraction_world;

static fraction_world fraction_world_with(const int cells[AXES], shape_fcn* shape) {
    fraction_world w = {.level = level_world_with(2, cells, TREACLE_SIDE_SLIP)};
    level_sample(&w.level, shape);
    float** slot[13] = {&w.out.cell};
    for (int a = 0; a < AXES; ++a) {
        slot[1 + a] = &w.out.face.at[a];
        slot[4 + a] = &w.out.edge.at[a];
        slot[7 + a] = &w.out.tent.at[a];
        slot[10 + a] = &w.out.area.at[a];
    }
    for (int i = 0; i < 13; ++i) {
        assert_int_equal(grid_field_create(&w.level.map, PLACE_CELL, -1.0f, &w.field[i]),
                         TREACLE_OK);
        *slot[i] = w.field[i].values;
    }
    fraction_params params = {&w.level.domain, &w.level.map, w.level.phi.values};
    fraction_compute(&params, &w.out);
    return w;
}

static void fraction_world_end(fraction_world* w) {
    for (int i = 0; i < 13; ++i) {
        grid_field_destroy(&w->field[i]);
    }
    level_world_end(&w->level);
}

static void random_plane(uint64_t* seed, double size) {
    double length = 0.0;
    for (int a = 0; a < AXES; ++a) {
        do {
            normal[a] = 2.0 * random_unit(seed) - 1.0;
        } while (fabs(normal[a]) < 0.02);
        length += normal[a] * normal[a];
    }
    offset = 0.0;
    for (int a = 0; a < AXES; ++a) {
        normal[a] /= sqrt(length);
        offset += normal[a] * size * (0.4 + 0.2 * random_unit(seed));
    }
}

static void test_planes_are_exact_at_any_angle(void** state) {
    (void)state;
    uint64_t seed = 1;
    double worst = 0.0;
    for (int round = 0; round < 20; ++round) {
        random_plane(&seed, 20.0);
        fraction_world w = fraction_world_with((const int[AXES]){20, 20, 20}, plane);
        for (int64_t i = 0; i < (int64_t)w.level.map.count * TILE_CELLS; ++i) {
            double centre[AXES];
            if (!level_centre(&w.level, i, centre)) {
                continue;
            }
            double low[AXES] = {centre[0] - 0.5, centre[1] - 0.5, centre[2] - 0.5};
            worst = fmax(worst, fabs(w.out.cell[i] - box_integral(low, 0)));
            for (int a = 0; a < AXES; ++a) {
                double face[AXES] = {low[0], low[1], low[2]}, edge[AXES];
                face[a] -= 0.5;
                for (int b = 0; b < AXES; ++b) {
                    edge[b] = b == a ? low[b] : low[b] - 0.5;
                }
                worst = fmax(worst, fabs(w.out.face.at[a][i] - box_integral(face, 0)));
                worst = fmax(worst, fabs(w.out.edge.at[a][i] - box_integral(edge, 0)));
            }
        }
        fraction_world_end(&w);
    }
    print_message("planes: largest error of cells, faces and edges %.2g\n", worst);
    assert_true(worst < 3e-6);
}

// p = -plane is a pressure that vanishes on the surface and has the gradient -normal.
static void test_tents_make_gravity_a_gradient(void** state) {
    (void)state;
    uint64_t seed = 2;
    double worst = 0.0;
    for (int round = 0; round < 20; ++round) {
        random_plane(&seed, 20.0);
        fraction_world w = fraction_world_with((const int[AXES]){20, 20, 20}, plane);
        for (int64_t i = 0; i < (int64_t)w.level.map.count * TILE_CELLS; ++i) {
            double centre[AXES];
            if (!level_centre(&w.level, i, centre)) {
                continue;
            }
            double low[AXES] = {centre[0] - 0.5, centre[1] - 0.5, centre[2] - 0.5};
            for (int a = 0; a < AXES; ++a) {
                double before[AXES] = {low[0], low[1], low[2]};
                before[a] -= 1.0;
                double difference = box_integral(low, 1) - box_integral(before, 1);
                worst = fmax(worst, fabs(-normal[a] * w.out.tent.at[a][i] - difference));
            }
        }
        fraction_world_end(&w);
    }
    print_message("tents: largest difference from a gradient %.2g\n", worst);
    assert_true(worst < 1e-5);
}

// Area below the plane of the unit square across an axis with the given low corner.
static double square_integral(const double low[AXES], int axis) {
    int b = (axis + 1) % AXES, c = (axis + 2) % AXES;
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) {
        double corner[AXES] = {low[0], low[1], low[2]};
        corner[b] += i & 1;
        corner[c] += i >> 1;
        double below = fmax(0.0, -plane(corner));
        sum += (i == 0 || i == 3 ? 0.5 : -0.5) * below * below;
    }
    return sum / (normal[b] * normal[c]);
}

static void test_areas_of_planes_are_exact(void** state) {
    (void)state;
    uint64_t seed = 3;
    double worst = 0.0;
    for (int round = 0; round < 10; ++round) {
        random_plane(&seed, 20.0);
        fraction_world w = fraction_world_with((const int[AXES]){20, 20, 20}, plane);
        for (int64_t i = 0; i < (int64_t)w.level.map.count * TILE_CELLS; ++i) {
            double centre[AXES];
            if (level_centre(&w.level, i, centre)) {
                double low[AXES] = {centre[0] - 0.5, centre[1] - 0.5, centre[2] - 0.5};
                for (int a = 0; a < AXES; ++a) {
                    worst = fmax(worst, fabs(w.out.area.at[a][i] - square_integral(low, a)));
                }
            }
        }
        fraction_world_end(&w);
    }
    print_message("areas: largest error %.2g\n", worst);
    assert_true(worst < 3e-6);
}

static double radius;
static const double middle[AXES] = {16.13, 15.9, 16.41};
static double sphere(const double x[AXES]) {
    double square = 0.0;
    for (int a = 0; a < AXES; ++a) {
        square += (x[a] - middle[a]) * (x[a] - middle[a]);
    }
    return sqrt(square) - radius;
}

static double sum_of(const fraction_world* w, const float* values) {
    double sum = 0.0;
    for (int64_t i = 0; i < (int64_t)w->level.map.count * TILE_CELLS; ++i) {
        sum += values[i];
    }
    return sum;
}

static void test_spheres_have_their_volume(void** state) {
    (void)state;
    double last = 0.0;
    for (int i = 0; i < 3; ++i) {
        radius = 3.0 * (1 << i);
        fraction_world w = fraction_world_with((const int[AXES]){32, 32, 32}, sphere);
        double exact = 4.0 / 3.0 * 3.141592653589793 * radius * radius * radius;
        double error = fabs(sum_of(&w, w.out.cell) / exact - 1.0);
        print_message("sphere of radius %g: volume off by %.2g\n", radius, error);
        assert_true(error < 0.15 / (radius * radius) && (i == 0 || error < 0.3 * last));
        last = error;
        fraction_world_end(&w);
    }
}

static void test_all_boxes_share_the_same_octants(void** state) {
    (void)state;
    radius = 7.3;
    fraction_world w = fraction_world_with((const int[AXES]){32, 32, 32}, sphere);
    double volume = sum_of(&w, w.out.cell);
    for (int i = 1; i < 10; ++i) {
        assert_true(fabs(sum_of(&w, w.field[i].values) / volume - 1.0) < 1e-6);
    }
    fraction_world_end(&w);
}

// The circle of test_a_flat_axis_gives_flat_fractions around the flat axis.
static int flat_axis;
static double cylinder(const double x[AXES]) {
    int b = (flat_axis + 1) % AXES, c = (flat_axis + 2) % AXES;
    return hypot(x[b] - 9.3, x[c] - 10.1) - 6.2;
}

static void test_a_flat_axis_gives_flat_fractions(void** state) {
    (void)state;
    for (flat_axis = 0; flat_axis < AXES; ++flat_axis) {
        int thick[AXES] = {20, 20, 20}, thin[AXES] = {20, 20, 20};
        thin[flat_axis] = 0;
        fraction_world deep = fraction_world_with(thick, cylinder);
        fraction_world flat = fraction_world_with(thin, cylinder);
        for (int64_t i = 0; i < (int64_t)flat.level.map.count * TILE_CELLS; ++i) {
            const int at[AXES] = {(int)(i % 8), (int)(i / 8 % 8), (int)(i / 64 % 8)};
            tile_coord coord = flat.level.map.coord[i / TILE_CELLS];
            coord.at[flat_axis] = 1;
            int64_t same =
                (int64_t)tile_map_find(&deep.level.map, coord) * TILE_CELLS + i % TILE_CELLS;
            for (int k = 0; k < 13; ++k) {
                float expected = at[flat_axis] == 0 ? deep.field[k].values[same] : 0.0f;
                assert_true(flat.field[k].values[i] == expected);
            }
        }
        fraction_world_end(&deep);
        fraction_world_end(&flat);
    }
}

// Exact mirror images have exactly mirrored fractions, so symmetric scenes stay symmetric.
static double wave(const double x[AXES]) {
    return x[1] - 8.3 - 1.1 * cos(0.7 * (x[0] - 8.0)) * cos(0.5 * (x[2] - 8.0));
}

static void test_mirror_images_are_mirrored(void** state) {
    (void)state;
    fraction_world w = fraction_world_with((const int[AXES]){16, 16, 16}, wave);
    const tile_map* map = &w.level.map;
    for (int z = 0; z < 16; ++z) {
        for (int y = 0; y < 16; ++y) {
            for (int x = 0; x < 8; ++x) {
                tile_ix left = tile_map_find(map, (tile_coord){{0, y / 8, z / 8}});
                tile_ix right = tile_map_find(map, (tile_coord){{1, y / 8, z / 8}});
                int row = ((z & 7) * 8 + (y & 7)) * 8;
                float p = w.out.cell[left * TILE_CELLS + row + x];
                float q = w.out.cell[right * TILE_CELLS + row + 7 - x];
                assert_true(fabsf(p - q) < 1e-6f);
            }
        }
    }
    fraction_world_end(&w);
}

// A half space that ends at y = 11.4 in a domain whose walls cut it: no surface appears at walls.
static double pool(const double x[AXES]) {
    return x[1] - 11.4;
}

static void test_liquid_goes_on_behind_walls(void** state) {
    (void)state;
    fraction_world w = fraction_world_with((const int[AXES]){16, 16, 12}, pool);
    for (int64_t i = 0; i < (int64_t)w.level.map.count * TILE_CELLS; ++i) {
        double x[AXES];
        if (level_centre(&w.level, i, x)) {
            float fraction = x[1] < 11.0 ? 1.0f : x[1] < 12.0 ? 0.4f : 0.0f;
            assert_true(fabsf(w.out.cell[i] - fraction) < 1e-5f);
            assert_true(fabsf(w.out.tent.at[0][i] - fraction) < 1e-5f);
            assert_true(fabsf(w.out.edge.at[1][i] - fraction) < 1e-5f);
        }
    }
    fraction_world_end(&w);
}

static void test_an_octant_and_its_complement_are_whole(void** state) {
    (void)state;
    uint64_t seed = 9;
    for (int round = 0; round < 20000; ++round) {
        float f[8], g[8];
        for (int i = 0; i < 8; ++i) {
            f[i] = (float)(random_unit(&seed) - 0.5);
            g[i] = -f[i];
        }
        octant_part below = octant_below(f), above = octant_below(g);
        assert_true(below.volume >= 0.0f && below.volume <= 1.000001f);
        assert_true(fabsf(below.volume + above.volume - 1.0f) < 2e-6f);
        for (int a = 0; a < AXES; ++a) {
            assert_true(fabsf(below.moment[a] + above.moment[a] - 0.5f) < 2e-6f);
            assert_true(below.moment[a] <= below.volume + 1e-6f && below.moment[a] >= 0.0f);
        }
        float area = square_below(f) + square_below(g);
        assert_true(fabsf(area - 1.0f) < 2e-6f);
    }
}

static void test_bits_do_not_depend_on_threads_or_instructions(void** state) {
    (void)state;
    radius = 9.1;
    fraction_world w = fraction_world_with((const int[AXES]){32, 32, 32}, sphere);
    size_t bytes = (size_t)w.level.map.count * TILE_CELLS * sizeof(float);
    assert_non_null(w.level.ctx->pool);
    grid_field alone;
    assert_int_equal(grid_field_create(&w.level.map, PLACE_CELL, 0.0f, &alone), TREACLE_OK);
    struct parallel_pool* pool_of_two = w.level.ctx->pool;
    w.level.ctx->pool = NULL; // loops run in the caller
    fraction_params params = {&w.level.domain, &w.level.map, w.level.phi.values};
    treacle_isa best = w.level.ctx->isa;
    for (treacle_isa isa = TREACLE_ISA_SSE2; isa <= best; ++isa) {
        w.level.ctx->isa = isa;
        fraction_compute(&params, &(fraction_fields){.tent = {{alone.values}}});
        assert_memory_equal(alone.values, w.out.tent.at[0], bytes);
    }
    w.level.ctx->pool = pool_of_two;
    grid_field_destroy(&alone);
    fraction_world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_octant_and_its_complement_are_whole),
        cmocka_unit_test(test_planes_are_exact_at_any_angle),
        cmocka_unit_test(test_tents_make_gravity_a_gradient),
        cmocka_unit_test(test_areas_of_planes_are_exact),
        cmocka_unit_test(test_spheres_have_their_volume),
        cmocka_unit_test(test_all_boxes_share_the_same_octants),
        cmocka_unit_test(test_a_flat_axis_gives_flat_fractions),
        cmocka_unit_test(test_mirror_images_are_mirrored),
        cmocka_unit_test(test_liquid_goes_on_behind_walls),
        cmocka_unit_test(test_bits_do_not_depend_on_threads_or_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
