// Elastic stress on the grid and strain on particles; the law of one particle is in test_strain.c.
#include "particle_fixture.h"
#include "unit.h"

#include <stdlib.h>

#include "grid/gather.h"
#include "phys/elastic.h"
#include "phys/stress.h"

enum { ROOM = 24, FIELDS = 4 * AXES };

typedef struct bench {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    float* block;
    face_velocity flow;
    tensor_field tensor;
    float* spin[AXES];
} bench;

static bench make_bench(int z, int threads) {
    bench b = {.ctx = make_context(threads)};
    b.domain = make_domain(b.ctx, ROOM, ROOM, z, 0.5, TREACLE_SIDE_SLIP);
    tile_coord coords[64];
    int count = 0, deep = z > 1 ? 4 : 1;
    for (int i = 0; i < 4 * 4 * deep; ++i) {
        coords[count++] = (tile_coord){{i % 4, i / 4 % 4, i / 16}};
    }
    assert_int_equal(tile_map_create(b.ctx, &b.domain, count, coords, &b.map), TREACLE_OK);
    b.values = ((size_t)count + 1) * TILE_CELLS;
    void* block = NULL;
    assert_int_equal(alloc_zero(b.ctx, FIELDS * b.values, sizeof(float), "test", &block),
                     TREACLE_OK);
    b.block = block;
    for (int a = 0; a < AXES; ++a) {
        b.flow.u.at[a] = b.block + (size_t)a * b.values;
        b.tensor.cell[a] = b.block + (size_t)(AXES + a) * b.values;
        b.tensor.edge[a] = b.block + (size_t)(2 * AXES + a) * b.values;
        b.spin[a] = b.block + (size_t)(3 * AXES + a) * b.values;
    }
    return b;
}

// The flow refers to the bench, which has moved.
static face_velocity* flow_of(bench* b) {
    b->flow.map = &b->map;
    b->flow.domain = &b->domain;
    return &b->flow;
}

static void free_bench(bench* b) {
    alloc_free(b->ctx, b->block, FIELDS * b->values * sizeof(float));
    tile_map_destroy(&b->map);
    treacle_context_destroy(b->ctx);
}

static void place_of(const bench* b, size_t i, grid_place place, double out[AXES], int at[AXES]) {
    tile_cell_at(&b->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
    for (int a = 0; a < AXES; ++a) {
        out[a] = b->domain.h * (at[a] + (double)place_offset(place, a));
    }
}

static const double slope[AXES][AXES] = {{0.3, -0.7, 0.2}, {0.5, 0.1, -0.4}, {-0.9, 0.6, -0.4}};

static void set_linear(bench* b) {
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < b->values - TILE_CELLS; ++i) {
            double x[AXES];
            int at[AXES];
            place_of(b, i, place_face(a), x, at);
            double u = 0.0;
            for (int c = 0; c < AXES; ++c) {
                u += b->domain.is_active[c] ? slope[a][c] * x[c] : 0.0;
            }
            b->flow.u.at[a][i] = b->domain.is_active[a] ? (float)u : 0.0f;
        }
    }
}

static bool is_inner(const bench* b, const int at[AXES], int margin) {
    bool is = true;
    for (int a = 0; a < AXES; ++a) {
        is = is && (!b->domain.is_active[a] || (at[a] >= margin && at[a] < ROOM - margin));
    }
    return is;
}

static double part_of(const bench* b, int i, int j, double sign) {
    bool is = b->domain.is_active[i] && b->domain.is_active[j];
    return is ? 0.5 * (slope[i][j] + sign * slope[j][i]) : 0.0;
}

static void check_linear(int z) {
    bench b = make_bench(z, 2);
    set_linear(&b);
    tensor_of_velocity(flow_of(&b), NULL, &b.tensor, b.spin);
    for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
        double x[AXES];
        int at[AXES];
        place_of(&b, i, PLACE_CELL, x, at);
        bool is_layer = b.domain.is_active[2] || i % TILE_CELLS < TILE_SIZE * TILE_SIZE;
        for (int a = 0; is_layer && is_inner(&b, at, 2) && a < AXES; ++a) {
            int p = (a + 1) % AXES, q = (a + 2) % AXES;
            assert_close((double)b.tensor.cell[a][i], part_of(&b, a, a, 1.0), 2e-5);
            assert_close((double)b.tensor.edge[a][i], part_of(&b, p, q, 1.0), 2e-5);
            assert_close((double)b.spin[a][i], part_of(&b, q, p, -1.0), 2e-5);
        }
    }
    free_bench(&b);
}

static void test_linear_velocity_has_its_stretch_and_spin(void** state) {
    (void)state;
    check_linear(ROOM);
    check_linear(1);
}

// Shear below a plate that moves at the height of `wall` cells, behind which faces have its
// velocity.
static void check_wall(double wall, treacle_wall kind) {
    bench b = make_bench(1, 2);
    void *phi = NULL, *id = NULL;
    const double rate = 0.7, speed = rate * b.domain.h * wall;
    assert_int_equal(alloc_zero(b.ctx, b.values, sizeof(float), "test", &phi), TREACLE_OK);
    assert_int_equal(alloc_zero(b.ctx, b.values, sizeof(uint16_t), "test", &id), TREACLE_OK);
    for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
        double x[AXES];
        int at[AXES];
        place_of(&b, i, PLACE_CELL, x, at);
        ((float*)phi)[i] = (float)(wall - (at[1] + 0.5));
        b.flow.u.at[0][i] = (float)(at[1] + 0.5 < wall ? rate * x[1] : speed);
    }
    slip_kind kinds[1] = {{.slip = kind}};
    tensor_slip walls = {phi, id, kinds};
    tensor_of_velocity(flow_of(&b), &walls, &b.tensor, b.spin);
    bool sticks = kind == TREACLE_WALL_NO_SLIP;
    int last = (int)floor(wall + 0.5);
    for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
        double x[AXES];
        int at[AXES];
        place_of(&b, i, PLACE_CELL, x, at);
        bool is_layer = i % TILE_CELLS < TILE_SIZE * TILE_SIZE && is_inner(&b, at, 2);
        double fraction = at[1] == last && !sticks ? wall - (last - 0.5) : 1.0;
        if (is_layer && at[1] <= last) {
            assert_close((double)b.tensor.edge[2][i], 0.5 * rate * fraction, 1e-5);
            assert_close((double)b.spin[2][i], -0.5 * rate * fraction, 1e-5);
        }
    }
    alloc_free(b.ctx, phi, b.values * sizeof(float));
    alloc_free(b.ctx, id, b.values * sizeof(uint16_t));
    free_bench(&b);
}

static void test_stretch_beside_a_plate_is_that_of_the_liquid(void** state) {
    (void)state;
    check_wall(14.0, TREACLE_WALL_NO_SLIP);
    check_wall(14.3, TREACLE_WALL_NO_SLIP);
    check_wall(13.9, TREACLE_WALL_NO_SLIP);
    check_wall(14.3, TREACLE_WALL_SLIP);
}

static double* forces(const bench* b) {
    void* force = NULL;
    assert_int_equal(alloc_zero(b->ctx, AXES * b->values, sizeof(double), "test", &force),
                     TREACLE_OK);
    tensor_add_divergence(&b->map, &b->tensor, force);
    return force;
}

static void test_a_uniform_stress_pulls_nowhere(void** state) {
    (void)state;
    bench b = make_bench(ROOM, 2);
    for (int part = 0; part < STRAIN_PARTS; ++part) {
        for (size_t i = 0; i < b.values; ++i) {
            tensor_part(&b.tensor, part)[i] = 1.0f + (float)part;
        }
    }
    double* force = forces(&b);
    for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
        double x[AXES];
        int at[AXES];
        place_of(&b, i, PLACE_CELL, x, at);
        for (int a = 0; is_inner(&b, at, 1) && a < AXES; ++a) {
            size_t slot = (i / TILE_CELLS * AXES + (size_t)a) * TILE_CELLS + i % TILE_CELLS;
            assert_true(force[slot] == 0.0);
        }
    }
    alloc_free(b.ctx, force, AXES * b.values * sizeof(double));
    free_bench(&b);
}

// Shear stress at an edge between gel, in columns below 12, and water counts as much less than
// inside the gel as the edge is less stiff than the mean of the cells around it [elastic.7].
static void check_edge(treacle_viscosity_mean mean, double fraction) {
    bench b = make_bench(1, 1);
    const double gel = 1e4, water = 1e-4;
    float *full = b.flow.u.at[0], *log_mu = b.flow.u.at[1], *stress = b.tensor.edge[2];
    for (size_t i = 0; i < b.values; ++i) {
        double x[AXES];
        int at[AXES] = {0, 0, 0};
        if (i < b.values - TILE_CELLS) {
            place_of(&b, i, PLACE_CELL, x, at);
        }
        full[i] = stress[i] = 1.0f;
        log_mu[i] = (float)log(at[0] < 12 ? gel : water);
    }
    stress_params params = {.domain = &b.domain,
                            .map = &b.map,
                            .cell_fraction = full,
                            .edge_fraction = {{full, full, full}},
                            .face_fraction = {{full, full, full}},
                            .face_open = {{full, full, full}},
                            .cell_log_mu = log_mu,
                            .mean = mean,
                            .stress = &b.tensor,
                            .dt = 1.0,
                            .reference_density = 1.0};
    stress_weights weights;
    assert_int_equal(stress_weights_create(&params, &weights), TREACLE_OK);
    void* force = NULL;
    assert_int_equal(alloc_zero(b.ctx, AXES * b.values, sizeof(double), "test", &force),
                     TREACLE_OK);
    stress_add_force(&params, &weights, force);
    const size_t row = TILE_CELLS + 4 * TILE_SIZE; // of the second tile, columns from 8 on
    assert_close((double)(stress[row + 4] / stress[row + 2]), fraction, 1e-5 * fraction);
    assert_close((double)(stress[row + 6] / stress[row + 2]), 1.0, 1e-6);
    alloc_free(b.ctx, force, AXES * b.values * sizeof(double));
    stress_weights_destroy(&params, &weights);
    free_bench(&b);
}

static void test_gel_beside_water_is_sheared_by_no_more_than_water_bears(void** state) {
    (void)state;
    double middle = 0.5 * (1e4 + 1e-4);
    check_edge(TREACLE_VISCOSITY_GEOMETRIC, 1.0 / middle);
    check_edge(TREACLE_VISCOSITY_HARMONIC, 2.0 / (1e-4 + 1e4) / middle);
    check_edge(TREACLE_VISCOSITY_ARITHMETIC, 1.0);
}

static float random_at(size_t i, int salt) {
    return (float)(hash_random_f64((uint64_t)salt, i, RANDOM_TEST) - 0.5);
}

// The power of the force is minus the stress times the stretch.
static void test_force_and_stretch_are_adjoint(void** state) {
    (void)state;
    for (int z = 1; z <= ROOM; z += ROOM - 1) {
        bench b = make_bench(z, 1);
        int layers = z > 1 ? TILE_CELLS : TILE_SIZE * TILE_SIZE;
        float* pull = malloc(STRAIN_PARTS * b.values * sizeof(float));
        assert_non_null(pull);
        for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
            double x[AXES];
            int at[AXES];
            place_of(&b, i, PLACE_CELL, x, at);
            bool is = is_inner(&b, at, 4) && i % TILE_CELLS < (size_t)layers;
            for (int part = 0; part < STRAIN_PARTS; ++part) {
                int e = part - AXES;
                bool has = part < AXES ? b.domain.is_active[part]
                                       : b.domain.is_active[(e + 1) % AXES] &&
                                             b.domain.is_active[(e + 2) % AXES];
                tensor_part(&b.tensor, part)[i] = is && has ? random_at(i, part) : 0.0f;
            }
            for (int a = 0; a < AXES; ++a) {
                b.flow.u.at[a][i] = b.domain.is_active[a] ? random_at(i, 10 + a) : 0.0f;
            }
        }
        double* force = forces(&b);
        double power = 0.0, work = 0.0, size = 0.0;
        for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
            for (int a = 0; a < AXES && i % TILE_CELLS < (size_t)layers; ++a) {
                size_t slot = (i / TILE_CELLS * AXES + (size_t)a) * TILE_CELLS + i % TILE_CELLS;
                power += force[slot] * (double)b.flow.u.at[a][i];
            }
        }
        for (int part = 0; part < STRAIN_PARTS; ++part) {
            memcpy(pull + (size_t)part * b.values, tensor_part(&b.tensor, part),
                   b.values * sizeof(float));
        }
        tensor_of_velocity(flow_of(&b), NULL, &b.tensor, b.spin);
        for (int part = 0; part < STRAIN_PARTS; ++part) {
            double times = part < AXES ? 1.0 : 2.0;
            for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
                double term = times * (double)pull[(size_t)part * b.values + i] *
                              (double)tensor_part(&b.tensor, part)[i] * b.domain.h;
                work += term;
                size += fabs(term);
            }
        }
        assert_true(size > 1.0);
        assert_close(power, -work, 1e-6 * size);
        free(pull);
        alloc_free(b.ctx, force, AXES * b.values * sizeof(double));
        free_bench(&b);
    }
}

// Particles in the middle of the room, with a strain column.
static particles make_particles(bench* b, int count) {
    particles p;
    assert_int_equal(particles_create(b->ctx, 1u << PARTICLE_STRAIN, &p), TREACLE_OK);
    for (int i = 0; i < count; ++i) {
        particle_birth birth = {.id = (uint64_t)i, .volume = 1.0, .material = (uint8_t)(i & 1)};
        for (int a = 0; a < AXES; ++a) {
            double fraction = 0.3 + 0.4 * ((double)random_at((size_t)(AXES * i + a), 50) + 0.5);
            birth.place.at[a] = fraction * b->domain.h * ROOM;
        }
        tile_coord tile;
        particles_locate(&b->domain, birth.place, &tile, birth.position);
        particle_ix row = 0;
        assert_int_equal(particles_append(&p, tile, 1, &row), TREACLE_OK);
        particle_init(&p, &b->domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&p, &b->domain, &stats), TREACLE_OK);
    return p;
}

static void test_particles_feel_stretch_and_spin_of_the_grid(void** state) {
    (void)state;
    enum { COUNT = 200 };
    bench b = make_bench(ROOM, 2);
    set_linear(&b);
    particles p = make_particles(&b, COUNT);
    tensor_of_velocity(flow_of(&b), NULL, &b.tensor, b.spin);
    float stretch[COUNT * STRAIN_PARTS], spin[COUNT * AXES];
    elastic_motion motion = {stretch, spin};
    elastic_gather(flow_of(&b), &b.tensor, b.spin, &p, &motion);
    for (int i = 0; i < COUNT; ++i) {
        for (int a = 0; a < AXES; ++a) {
            int c = (a + 1) % AXES, d = (a + 2) % AXES;
            assert_close((double)stretch[STRAIN_PARTS * i + a], slope[a][a], 2e-5);
            assert_close((double)stretch[STRAIN_PARTS * i + AXES + a], part_of(&b, c, d, 1.0),
                         2e-5);
            assert_close((double)spin[AXES * i + a], part_of(&b, d, c, -1.0), 2e-5);
        }
    }
    // Material 1 is not elastic and has no strain.
    const strain_law laws[2] = {{.modulus = 100.0, .yield = INFINITY, .rate = TREACLE_STRAIN_FIXED},
                                {.modulus = 0.0}};
    elastic_params params = {.laws = laws, .dt = 0.01, .theta = 1.0};
    elastic_advance(&params, &p, &motion);
    const float* strain = particles_f32(&p, PARTICLE_STRAIN);
    float stress[COUNT * STRAIN_PARTS], mu[COUNT];
    elastic_load(&params, &p, NULL, stress, mu);
    for (int i = 0; i < COUNT; ++i) {
        bool is_elastic = particles_material(&p)[i] == 0;
        assert_close((double)strain[STRAIN_PARTS * i], is_elastic ? 0.01 * slope[0][0] : 0.0, 1e-6);
        assert_close((double)stress[STRAIN_PARTS * i], is_elastic ? slope[0][0] : 0.0, 1e-4);
        assert_close((double)mu[i], is_elastic ? 0.5 : 0.0, 1e-6); // dt mu_e / 2
    }
    particles_destroy(&p);
    free_bench(&b);
}

// Runs of one material go eight at a time; the rest, and what is melted, one by one.
static void test_particles_side_by_side_go_as_each_alone(void** state) {
    (void)state;
    enum { COUNT = 75 };
    bench b = make_bench(ROOM, 1);
    particles p = make_particles(&b, COUNT);
    float *strain = particles_f32(&p, PARTICLE_STRAIN), melted[COUNT] = {0};
    float stretch[COUNT * STRAIN_PARTS], spin[COUNT * AXES], before[COUNT * STRAIN_PARTS];
    for (int i = 0; i < COUNT; ++i) {
        particles_material(&p)[i] = (uint8_t)(i / 21 % 2);
        melted[i] = i == 10 ? 1.0f : 0.0f;
        for (int j = 0; j < STRAIN_PARTS; ++j) {
            strain[STRAIN_PARTS * i + j] = random_at((size_t)i, j);
            stretch[STRAIN_PARTS * i + j] = 10.0f * random_at((size_t)i, 10 + j);
        }
        for (int a = 0; a < AXES; ++a) {
            spin[AXES * i + a] = 10.0f * random_at((size_t)i, 20 + a);
        }
    }
    memcpy(before, strain, sizeof(before));
    const strain_law laws[2] = {{.modulus = 1.0, .decay = 3.0, .yield = 0.2},
                                {.modulus = 1.0, .decay = 9.0, .yield = 0.0, .decays_whole = true}};
    elastic_params params = {.laws = laws, .melted = melted, .dt = 0.1, .theta = 1.0};
    elastic_advance(&params, &p, &(elastic_motion){stretch, spin});
    for (int i = 0; i < COUNT; ++i) {
        strain_step step = strain_begin(&laws[particles_material(&p)[i]], params.dt);
        strain_motion motion;
        double eps[STRAIN_PARTS];
        for (int j = 0; j < STRAIN_PARTS; ++j) {
            eps[j] = (double)before[STRAIN_PARTS * i + j];
            motion.stretch[j] = (double)stretch[STRAIN_PARTS * i + j];
            motion.spin[j % AXES] = (double)spin[AXES * i + j % AXES];
        }
        if (melted[i] < 1.0f) {
            strain_advance(&step, &motion, eps);
        }
        for (int j = 0; j < STRAIN_PARTS; ++j) {
            assert_true(strain[STRAIN_PARTS * i + j] == (float)eps[j]);
        }
    }
    particles_destroy(&p);
    free_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_velocity_has_its_stretch_and_spin),
        cmocka_unit_test(test_stretch_beside_a_plate_is_that_of_the_liquid),
        cmocka_unit_test(test_a_uniform_stress_pulls_nowhere),
        cmocka_unit_test(test_gel_beside_water_is_sheared_by_no_more_than_water_bears),
        cmocka_unit_test(test_force_and_stretch_are_adjoint),
        cmocka_unit_test(test_particles_feel_stretch_and_spin_of_the_grid),
        cmocka_unit_test(test_particles_side_by_side_go_as_each_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
