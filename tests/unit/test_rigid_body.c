// Rigid bodies on the grid: rows, masses, momentum, and their turning.
#include "unit.h"

#include <stdlib.h>

#include "base/context.h"
#include "phys/projection.h"
#include "phys/rigid_body.h"
#include "phys/solid_fields.h"

enum { CELLS = 24, TILES_MAX = 64 };

// A box that lies askew in a cube of cells, all tiles there.
typedef struct fixture {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    solid solids[1];
    solid_pose pose;
    body_state state;
    body_mass own;
    float *cell_phi, *cell_open, *open[AXES], *u[AXES], *closed[AXES], *fill[AXES];
    uint16_t *cell_id, *id[AXES];
    uint8_t* cell_across;
    int64_t row_count;
    int64_t* slot;
    double (*row)[BODY_MOTIONS];
    body_faces faces;
    body_on_grid body;
} fixture;

static void* take(fixture* f, size_t bytes) {
    void* block = calloc(f->values, bytes);
    assert_non_null(block);
    return block;
}

static void make_map(fixture* f, bool is_flat) {
    treacle_domain_def def = {.cell = 0.1, .size = {2.4, 2.4, is_flat ? 0.0 : 2.4}};
    tile_coord coords[TILES_MAX];
    int64_t n = 0;
    assert_int_equal(grid_domain_init(f->ctx, &def, &f->domain), TREACLE_OK);
    for (int i = 0; i < (is_flat ? 16 : 64); ++i) {
        coords[n++] = (tile_coord){{i % 4, i / 4 % 4, i / 16}};
    }
    assert_int_equal(tile_map_create(f->ctx, &f->domain, n, coords, &f->map), TREACLE_OK);
    f->values = ((size_t)f->map.count + 1) * TILE_CELLS;
}

static void make_fields(fixture* f) {
    f->cell_phi = take(f, sizeof(float));
    f->cell_open = take(f, sizeof(float));
    f->cell_id = take(f, sizeof(uint16_t));
    f->cell_across = take(f, 1);
    solid_fields out = {.cell_phi = f->cell_phi,
                        .cell_id = f->cell_id,
                        .cell_open = f->cell_open,
                        .cell_across = f->cell_across};
    for (int a = 0; a < AXES; ++a) {
        out.face_open.at[a] = f->open[a] = take(f, sizeof(float));
        out.face_u.at[a] = f->u[a] = take(f, sizeof(float));
        out.face_closed.at[a] = f->closed[a] = take(f, sizeof(float));
        out.face_fill.at[a] = f->fill[a] = take(f, sizeof(float));
        out.face_id[a] = f->id[a] = take(f, sizeof(uint16_t));
        memset(f->id[a] + f->values - TILE_CELLS, 0xff, TILE_CELLS * sizeof(uint16_t));
        f->faces.closed[a] = f->closed[a];
        f->faces.fill[a] = f->fill[a];
        f->faces.id[a] = f->id[a];
    }
    f->pose = body_pose(&f->state);
    solid_fields_params params = {.domain = &f->domain,
                                  .map = &f->map,
                                  .scene = {1, f->solids, &f->pose},
                                  .openings = TREACLE_WALLS_EXACT};
    solid_fields_compute(&params, &out);
}

static void make_rows(fixture* f) {
    f->faces.domain = &f->domain;
    f->faces.map = &f->map;
    f->faces.reference_density = 1000.0;
    f->body = (body_on_grid){
        .id = 0, .density = 300.0, .radius = 0.8, .place = vec3_from(f->state.place)};
    f->row_count = body_make_rows(&f->faces, &f->body, 0, NULL, NULL);
    f->slot = calloc((size_t)f->row_count, sizeof(*f->slot));
    f->row = calloc((size_t)f->row_count, sizeof(*f->row));
    body_make_rows(&f->faces, &f->body, f->row_count, f->slot, f->row);
}

static void fixture_open(fixture* f, bool is_flat) {
    *f = (fixture){.ctx = unit_context(1)};
    make_map(f, is_flat);
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    box.size[0] = 0.9;
    box.size[1] = 0.5;
    box.size[2] = 0.7;
    assert_int_equal(is_flat ? shape_create_flat(f->ctx, &box, 2, &f->solids[0].shape)
                             : shape_create(f->ctx, &box, &f->solids[0].shape),
                     TREACLE_OK);
    assert_true(body_measure(f->solids[0].shape, 300.0, &f->domain, &f->own, &f->solids[0].pivot));
    f->state = (body_state){.place = {1.13, 1.21, is_flat ? 0.05 : 1.18},
                            .quaternion = {0.9, 0.0, 0.0, sqrt(0.19)}};
    if (!is_flat) {
        f->state.spin[0] = 0.7;
        f->state.spin[1] = -0.4;
        body_advance(&f->state, 1.0);
        f->state.place[0] = 1.13;
    }
    make_fields(f);
    make_rows(f);
}

static void fixture_close(fixture* f) {
    void* blocks[] = {f->cell_phi, f->cell_open, f->cell_id, f->cell_across, f->slot, f->row};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); ++i) {
        free(blocks[i]);
    }
    for (int a = 0; a < AXES; ++a) {
        free(f->open[a]);
        free(f->u[a]);
        free(f->closed[a]);
        free(f->fill[a]);
        free(f->id[a]);
    }
    shape_destroy(f->solids[0].shape);
    tile_map_destroy(&f->map);
    unit_context_end(f->ctx);
}

static void place_of(const fixture* f, int64_t slot, int at[AXES]) {
    tile_cell_at(&f->map, (tile_ix)(slot / TILE_CELLS), (int)(slot % TILE_CELLS), at);
}

static void test_rows_sum_to_zero_and_balance_a_linear_pressure(void** state) {
    (void)state;
    for (int flat = 0; flat < 2; ++flat) {
        fixture f;
        fixture_open(&f, flat == 1);
        double mass[BODY_MOTIONS][BODY_MOTIONS], sum[BODY_MOTIONS] = {0};
        double pushed[BODY_MOTIONS] = {0};
        const double g[AXES] = {0.3, -1.0, flat == 1 ? 0.0 : 0.6};
        assert_true(f.row_count > 20);
        f.body.density = f.faces.reference_density;
        body_grid_mass(&f.faces, &f.body, mass);
        for (int64_t n = 0; n < f.row_count; ++n) {
            int at[AXES];
            place_of(&f, f.slot[n], at);
            double x = g[0] * at[0] + g[1] * at[1] + g[2] * at[2];
            assert_true(n == 0 || f.slot[n] > f.slot[n - 1]);
            for (int i = 0; i < BODY_MOTIONS; ++i) {
                sum[i] += f.row[n][i];
                pushed[i] += f.row[n][i] * x;
            }
        }
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            double weight = (mass[i][0] * g[0] + mass[i][1] * g[1] + mass[i][2] * g[2]);
            assert_close(sum[i], 0.0, 1e-10);
            assert_close(pushed[i], -weight, 1e-8);
        }
        fixture_close(&f);
    }
}

static void test_mass_of_faces_is_that_of_the_shape(void** state) {
    (void)state;
    for (int flat = 0; flat < 2; ++flat) {
        fixture f;
        fixture_open(&f, flat == 1);
        double grid[BODY_MOTIONS][BODY_MOTIONS], own[BODY_MOTIONS][BODY_MOTIONS];
        double volume = body_grid_mass(&f.faces, &f.body, grid);
        double exact = flat == 1 ? 0.9 * 0.5 / 0.01 : 0.9 * 0.5 * 0.7 / 0.001;
        body_own_mass(&f.own, &f.pose.rotate, &f.faces, own);
        assert_close(volume / exact, 1.0, 0.02);
        assert_close(own[0][0] / (0.3 * exact), 1.0, 0.005);
        for (int i = flat == 1 ? 5 : 3; i < BODY_MOTIONS; ++i) {
            for (int j = flat == 1 ? 5 : 3; j < BODY_MOTIONS; ++j) {
                assert_close(grid[i][j], own[i][j], 0.02 * own[5][5]);
            }
        }
        fixture_close(&f);
    }
}

// A drop of liquid around the body, all of it moving at random.
static void fill_drop(fixture* f, float* phi, float* u[AXES]) {
    for (int64_t i = 0; i < (int64_t)f->values; ++i) {
        int at[AXES] = {100, 100, 100};
        if (i < (int64_t)f->values - TILE_CELLS) {
            place_of(f, i, at);
        }
        double square = 0.0;
        for (int a = 0; a < AXES; ++a) {
            double x = at[a] + 0.5 - 12.0;
            square += x * x;
            u[a][i] = (float)((double)((i * 7919 + a * 104729) % 1000) / 500.0 - 1.0);
        }
        phi[i] = (float)(sqrt(square) - 9.3);
    }
}

// Adds what a face of liquid across axis a gained: w_f times its mass times the change.
static void add_face(const fixture* f, int64_t slot, int a, double gain, double sum[BODY_MOTIONS]) {
    int at[AXES], b = (a + 1) % AXES, c = (a + 2) % AXES;
    vec3 arm;
    place_of(f, slot, at);
    for (int k = 0; k < AXES; ++k) {
        arm.at[k] = at[k] + 0.5 - f->state.place[k] / f->domain.h;
    }
    sum[a] += gain;
    sum[AXES + b] += gain * arm.at[c];
    sum[AXES + c] -= gain * arm.at[b];
}

static double mass_fraction(float low, float high) {
    if (low < 0.0f && high < 0.0f) {
        return 1.0;
    }
    float inside = low < 0.0f ? low : high, outside = low < 0.0f ? high : low;
    return inside < 0.0f ? (double)fmaxf(inside / (inside - outside), PROJECTION_THETA_MIN) : 0.0;
}

static void test_pressure_keeps_momentum_and_angular_momentum(void** state) {
    (void)state;
    fixture f;
    fixture_open(&f, false);
    float *phi = take(&f, sizeof(float)), *u[AXES], *before[AXES];
    double *x = calloc(f.values, sizeof(double)), sum[BODY_MOTIONS] = {0}, size = 0.0;
    for (int a = 0; a < AXES; ++a) {
        u[a] = take(&f, sizeof(float));
        before[a] = take(&f, sizeof(float));
    }
    fill_drop(&f, phi, u);
    double mass[BODY_MOTIONS][BODY_MOTIONS], impulse[1][BODY_MOTIONS];
    solve_body rows = {
        .row_count = f.row_count, .slot = f.slot, .row = (const double(*)[BODY_MOTIONS])f.row};
    body_grid_mass(&f.faces, &f.body, mass);
    mat6_invert((const double(*)[BODY_MOTIONS])mass, rows.inverse_mass);
    projection_params params = {.domain = &f.domain,
                                .map = &f.map,
                                .cell_phi = phi,
                                .body_count = 1,
                                .bodies = &rows,
                                .solve = {.relative = 1e-10, .max_iterations = 100}};
    for (int a = 0; a < AXES; ++a) {
        params.face_open.at[a] = f.open[a];
        params.face_solid_u.at[a] = f.u[a];
        memcpy(before[a], u[a], f.values * sizeof(float));
    }
    projection p;
    solve_stats stats;
    assert_int_equal(projection_create(&params, &p), TREACLE_OK);
    assert_int_equal(projection_apply(&p, u, x, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    projection_body_impulses(&p, x, impulse);
    for (int a = 0; a < AXES; ++a) {
        for (int64_t i = 0; i < (int64_t)f.values - TILE_CELLS; ++i) {
            int64_t below = tile_slot_below(&f.map, i / TILE_CELLS, (int)(i % TILE_CELLS), a);
            double fraction = (double)f.open[a][i] * mass_fraction(phi[below], phi[i]);
            double gain = fraction * ((double)u[a][i] - (double)before[a][i]);
            add_face(&f, i, a, gain, sum);
            size += fabs(gain);
        }
    }
    assert_true(fabs(impulse[0][0]) > 1e-4 * size);
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        // Velocities are floats: 6e-8 each, and of random sign.
        assert_close((sum[i] + impulse[0][i]) / size, 0.0, 1e-8);
    }
    projection_destroy(&p);
    free(phi);
    free(x);
    for (int a = 0; a < AXES; ++a) {
        free(u[a]);
        free(before[a]);
    }
    fixture_close(&f);
}

static void test_turning_keeps_its_length_and_comes_round(void** state) {
    (void)state;
    body_state s = {.quaternion = {1.0, 0.0, 0.0, 0.0}, .spin = {1.0, 2.0, -2.0}};
    const double pi = 3.14159265358979324;
    for (int i = 0; i < 3000; ++i) {
        body_advance(&s, 2.0 * pi / 3.0 / 100.0); // a hundredth of a turn
    }
    double square = 0.0;
    for (int i = 0; i < 4; ++i) {
        square += s.quaternion[i] * s.quaternion[i];
    }
    assert_close(square, 1.0, 1e-14);
    assert_close(fabs(s.quaternion[0]), 1.0, 1e-11);
    solid_pose pose = body_pose(&s);
    assert_close(mat3_determinant(&pose.rotate), 1.0, 1e-14);
}

static void test_inverse_mass_is_one(void** state) {
    (void)state;
    fixture f;
    fixture_open(&f, true);
    double mass[BODY_MOTIONS][BODY_MOTIONS], inverse[BODY_MOTIONS][BODY_MOTIONS];
    body_grid_mass(&f.faces, &f.body, mass);
    mat6_invert((const double(*)[BODY_MOTIONS])mass, inverse);
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        for (int j = 0; j < BODY_MOTIONS; ++j) {
            double sum = 0.0;
            for (int k = 0; k < BODY_MOTIONS; ++k) {
                sum += inverse[i][k] * mass[k][j];
            }
            bool has_mass = i != 2 && i != 3 && i != 4; // it stays in its plane
            assert_close(sum, i == j && has_mass ? 1.0 : 0.0, 1e-12);
        }
    }
    fixture_close(&f);
}

static void test_masses_and_states_that_no_body_has_are_seen(void** state) {
    (void)state;
    const body_mass good = {.volume = 1.0, .mass = 2.0, .inertia = mat3_identity()};
    assert_true(body_mass_is_valid(&good));
    body_mass m = good;
    m.mass = 0.0;
    assert_false(body_mass_is_valid(&m));
    m.mass = INFINITY;
    assert_false(body_mass_is_valid(&m));
    m = good;
    m.volume = 0.0;
    assert_false(body_mass_is_valid(&m));
    m = good;
    m.inertia.at[0][1] = 0.1; // not symmetric
    assert_false(body_mass_is_valid(&m));
    m.inertia.at[1][0] = 0.1;
    assert_true(body_mass_is_valid(&m));
    m.inertia.at[0][1] = m.inertia.at[1][0] = 1.5; // not positive
    assert_false(body_mass_is_valid(&m));
    const body_state rest = {.quaternion = {1.0, 0.0, 0.0, 0.0}};
    assert_true(body_state_is_valid(&rest));
    body_state s = rest;
    s.quaternion[0] = 0.5;
    assert_false(body_state_is_valid(&s));
    s = rest;
    s.velocity[2] = NAN;
    assert_false(body_state_is_valid(&s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_sum_to_zero_and_balance_a_linear_pressure),
        cmocka_unit_test(test_mass_of_faces_is_that_of_the_shape),
        cmocka_unit_test(test_pressure_keeps_momentum_and_angular_momentum),
        cmocka_unit_test(test_turning_keeps_its_length_and_comes_round),
        cmocka_unit_test(test_inverse_mass_is_one),
        cmocka_unit_test(test_masses_and_states_that_no_body_has_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
