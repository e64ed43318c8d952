// Rigid bodies in a flow with viscosity: momentum, rest, walls that slip.
#include "unit.h"

#include <stdlib.h>

#include "base/context.h"
#include "grid/fraction.h"
#include "math/elementary.h"
#include "phys/flow_bodies.h"
#include "phys/rigid_body.h"
#include "phys/solid_fields.h"
#include "phys/unified.h"
#include "phys/viscosity.h"

enum { CELLS = 32, SIDE_TILES = 5, TILES = SIDE_TILES * SIDE_TILES * SIDE_TILES, FIELDS = 64 };

// A box that lies askew in a drop, or in a full tank.
typedef struct fixture {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    solid solids[1];
    solid_pose pose;
    body_state state;
    slip_kind wall;
    solve_body body;
    flow_motion motion;
    flow_bodies bodies;
    stress_params liquid;
    fraction_fields fraction;
    float *u[AXES], *fill[AXES];
    double* x;
    int block_count;
    void* blocks[FIELDS];
} fixture;

static void* take(fixture* f, size_t bytes) {
    void* block = calloc(f->values, bytes);
    assert_non_null(block);
    assert_true(f->block_count < FIELDS);
    f->blocks[f->block_count++] = block;
    return block;
}

static void make_map(fixture* f) {
    treacle_domain_def def = {.cell = 0.1, .size = {3.2, 3.2, 3.2}};
    tile_coord coords[TILES];
    assert_int_equal(grid_domain_init(f->ctx, &def, &f->domain), TREACLE_OK);
    for (int i = 0; i < TILES; ++i) {
        coords[i] = (tile_coord){
            {i % SIDE_TILES, i / SIDE_TILES % SIDE_TILES, i / SIDE_TILES / SIDE_TILES}};
    }
    assert_int_equal(tile_map_create(f->ctx, &f->domain, TILES, coords, &f->map), TREACLE_OK);
    f->values = ((size_t)f->map.count + 1) * TILE_CELLS;
}

static void make_solid(fixture* f) {
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    box.size[0] = 0.9;
    box.size[1] = 0.5;
    box.size[2] = 0.7;
    assert_int_equal(shape_create(f->ctx, &box, &f->solids[0].shape), TREACLE_OK);
    f->state = (body_state){
        .place = {1.63, 1.58, 1.66}, .quaternion = {1.0, 0.0, 0.0, 0.0}, .spin = {0.7, -0.4, 0.5}};
    body_advance(&f->state, 1.0);
    f->state.velocity[0] = 0.3;
    f->state.velocity[1] = -0.5;
    f->pose = body_pose(&f->state);
}

static void make_solid_fields(fixture* f) {
    solid_fields out = {.cell_phi = take(f, sizeof(float)),
                        .cell_id = take(f, sizeof(uint16_t)),
                        .cell_open = take(f, sizeof(float)),
                        .cell_across = take(f, 1)};
    for (int a = 0; a < AXES; ++a) {
        out.face_open.at[a] = take(f, sizeof(float));
        out.face_u.at[a] = take(f, sizeof(float));
        out.face_closed.at[a] = take(f, sizeof(float));
        out.face_id[a] = take(f, sizeof(uint16_t));
        out.face_fill.at[a] = f->fill[a] = take(f, sizeof(float));
        memset(out.face_id[a] + f->values - TILE_CELLS, 0xff, TILE_CELLS * sizeof(uint16_t));
        f->liquid.face_open.at[a] = out.face_open.at[a];
        f->liquid.face_solid_u.at[a] = out.face_u.at[a];
        f->bodies.closed[a] = out.face_closed.at[a];
        f->bodies.solid[a] = out.face_id[a];
    }
    solid_fields_params params = {.domain = &f->domain,
                                  .map = &f->map,
                                  .scene = {1, f->solids, &f->pose},
                                  .openings = TREACLE_WALLS_EXACT};
    solid_fields_compute(&params, &out);
    f->liquid.cell_solid_phi = out.cell_phi;
    f->liquid.cell_solid_id = out.cell_id;
}

// Sides of the domain are walls.
static void close_sides(fixture* f) {
    for (size_t i = 0; i < f->values - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&f->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            bool is_out = at[a] == 0 || at[0] >= CELLS || at[1] >= CELLS || at[2] >= CELLS;
            if (is_out) {
                ((float*)f->liquid.face_open.at[a])[i] = 0.0f;
            }
        }
    }
}

static void make_liquid(fixture* f, double radius, double viscosity) {
    float *phi = take(f, sizeof(float)), *log_mu = take(f, sizeof(float));
    for (size_t i = 0; i < f->values; ++i) {
        int at[AXES];
        double square = 0.0;
        tile_ix t = (tile_ix)(i / TILE_CELLS);
        if (t < f->map.count) {
            tile_cell_at(&f->map, t, (int)(i % TILE_CELLS), at);
        }
        for (int a = 0; a < AXES && t < f->map.count; ++a) {
            square += (at[a] + 0.5 - 16.0) * (at[a] + 0.5 - 16.0);
        }
        phi[i] = t < f->map.count ? (float)fmin(fmax(sqrt(square) - radius, -4.0), 4.0) : 4.0f;
        log_mu[i] = t < f->map.count ? (float)elementary_log(viscosity) : VISCOSITY_NONE;
    }
    f->fraction.cell = take(f, sizeof(float));
    for (int a = 0; a < AXES; ++a) {
        f->fraction.edge.at[a] = take(f, sizeof(float));
        f->fraction.face.at[a] = take(f, sizeof(float));
        f->fraction.tent.at[a] = take(f, sizeof(float));
        f->liquid.edge_fraction.at[a] = f->fraction.edge.at[a];
        f->liquid.face_fraction.at[a] = f->fraction.tent.at[a];
    }
    f->liquid.cell_fraction = f->fraction.cell;
    f->liquid.cell_log_mu = log_mu;
    fraction_compute(&(fraction_params){&f->domain, &f->map, phi}, &f->fraction);
}

static void make_body(fixture* f, double density) {
    body_faces faces = {.domain = &f->domain, .map = &f->map, .reference_density = 1000.0};
    for (int a = 0; a < AXES; ++a) {
        faces.closed[a] = f->bodies.closed[a];
        faces.id[a] = f->bodies.solid[a];
        faces.fill[a] = f->fill[a];
        f->body.pivot[a] = f->state.place[a] / f->domain.h;
    }
    body_on_grid body = {
        .id = 0, .density = density, .radius = 0.8, .place = vec3_from(f->state.place)};
    body_grid_mass(&faces, &body, f->body.mass);
    body_motion motion = body_motion_of(&f->state, f->domain.h);
    memcpy(f->motion.before, motion.at, sizeof(motion.at));
    f->bodies.count = 1;
    f->bodies.body = &f->body;
    f->bodies.at = &f->motion;
    f->liquid.bodies = &f->bodies;
    f->liquid.slips = &f->wall;
    f->liquid.poses = &f->pose;
    f->liquid.has_slip = f->wall.slip != TREACLE_WALL_NO_SLIP;
}

// A drop of the given radius in cells around a body; larger than the domain: a full tank.
typedef struct drop_def {
    double radius, density, viscosity;
    slip_kind wall;
} drop_def;

static void fixture_open(fixture* f, const drop_def* def) {
    *f = (fixture){.ctx = unit_context(1), .wall = def->wall};
    make_map(f);
    f->liquid = (stress_params){
        .domain = &f->domain, .map = &f->map, .dt = 0.02, .reference_density = 1000.0};
    make_solid(f);
    make_solid_fields(f);
    close_sides(f);
    make_liquid(f, def->radius, def->viscosity);
    make_body(f, def->density);
    f->x = take(f, sizeof(double));
    for (int a = 0; a < AXES; ++a) {
        f->u[a] = take(f, sizeof(float));
    }
}

static void fixture_close(fixture* f) {
    for (int i = 0; i < f->block_count; ++i) {
        free(f->blocks[i]);
    }
    shape_destroy(f->solids[0].shape);
    tile_map_destroy(&f->map);
    unit_context_end(f->ctx);
}

// The row of a face about the body's place.
static void row_at(const fixture* f, int a, size_t i, double row[BODY_MOTIONS]) {
    solve_body about = {0};
    int at[AXES];
    double place[AXES];
    memcpy(about.pivot, f->body.pivot, sizeof(about.pivot));
    tile_cell_at(&f->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
    for (int b = 0; b < AXES; ++b) {
        place[b] = at[b] + (b == a ? 0.0 : 0.5);
    }
    drag_body_row(&about, &f->domain, a, place, row);
}

// Momentum and angular momentum of liquid and body.
static void sum_momentum(const fixture* f, const double motion[BODY_MOTIONS],
                         double out[BODY_MOTIONS]) {
    stress_weights weights;
    assert_int_equal(stress_weights_create(&f->liquid, &weights), TREACLE_OK);
    mat6_multiply((const double(*)[BODY_MOTIONS])f->body.mass, motion, out);
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < f->values - TILE_CELLS; ++i) {
            double mass = (double)weights.mass[a][i] - (double)weights.drag[a][i] +
                          (double)weights.body_liquid[a][i];
            double row[BODY_MOTIONS];
            row_at(f, a, i, row);
            for (int n = 0; n < BODY_MOTIONS && mass > 0.0; ++n) {
                out[n] += mass * row[n] * (double)f->u[a][i];
            }
        }
    }
    stress_weights_destroy(&f->liquid, &weights);
}

static void stir(fixture* f) {
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < f->values - TILE_CELLS; ++i) {
            f->u[a][i] = (float)(0.2 * a + 0.1 * sin(0.37 * (double)(i % 4099)));
        }
    }
}

// The two sides of [energy.1] agree.
static void check_energy(const energy_part* e, double tolerance) {
    double gained = e->after - e->before + e->lost;
    double bodies = e->bodies_after - e->bodies_before + e->bodies_lost;
    double scale = e->before + e->bodies_before + fabs(e->solids) + e->dissipation;
    assert_true(e->dissipation > 0.0 && e->lost > 0.0);
    assert_true(fabs(gained + bodies + e->dissipation - e->solids) <= 10.0 * tolerance * scale);
}

static void flow(fixture* f, bool is_unified, double tolerance) {
    energy_part energy;
    if (is_unified) {
        unified_params params = {.liquid = f->liquid,
                                 .face_box = face_view_of(f->fraction.face),
                                 .push = 1.0,
                                 .tolerance = tolerance,
                                 .max_iterations = 100};
        stokes_stats stats;
        assert_int_equal(unified_apply(&params, f->u, f->x, &stats, &energy), TREACLE_OK);
        assert_true(stats.is_converged);
        check_energy(&energy, tolerance);
        return;
    }
    viscosity_params params = {.liquid = f->liquid, .solve = solve_params_default()};
    params.solve.relative = tolerance;
    solve_stats stats;
    assert_int_equal(viscosity_apply(&params, f->u, &stats, &energy), TREACLE_OK);
    assert_true(stats.is_converged);
    check_energy(&energy, tolerance);
}

static void test_drop_and_body_keep_their_momentum(void** state) {
    (void)state;
    static const slip_kind walls[] = {{TREACLE_WALL_NO_SLIP, 0.0}, {TREACLE_WALL_SLIP_LENGTH, 2.0}};
    static const double densities[] = {100.0, 5000.0};
    for (int i = 0; i < 8; ++i) {
        fixture f;
        double before[BODY_MOTIONS], after[BODY_MOTIONS], size = 0.0;
        bool is_unified = i / 4 == 0;
        fixture_open(&f, &(drop_def){11.3, densities[i % 2], 2e4, walls[i / 2 % 2]});
        stir(&f);
        sum_momentum(&f, f.motion.before, before);
        flow(&f, is_unified, 1e-7);
        sum_momentum(&f, f.motion.after, after);
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            size = fmax(size, fabs(before[n]));
        }
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            assert_close(after[n], before[n], 1e-6 * size);
        }
        fixture_close(&f);
    }
}

static void test_thick_liquid_turns_with_a_body_that_it_sticks_to(void** state) {
    (void)state;
    fixture f;
    fixture_open(&f, &(drop_def){11.3, 1000.0, 2e7, {TREACLE_WALL_NO_SLIP, 0.0}});
    flow(&f, true, 1e-6);
    // Almost rigid: the drop moves as the body does.
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < f.values - TILE_CELLS; ++i) {
            double row[BODY_MOTIONS];
            row_at(&f, a, i, row);
            if (f.fraction.tent.at[a][i] > 0.5f) {
                assert_close((double)f.u[a][i], mat6_dot(row, f.motion.after), 2e-3);
            }
        }
    }
    fixture_close(&f);
}

static void test_neutral_body_rests_in_a_full_tank(void** state) {
    (void)state;
    static const treacle_wall walls[] = {TREACLE_WALL_NO_SLIP, TREACLE_WALL_SLIP};
    for (int k = 0; k < 2; ++k) {
        fixture f;
        const double g[AXES] = {0.02, -0.2, 0.05}; // m/s a step
        fixture_open(&f, &(drop_def){100.0, 1000.0, 2e4, {walls[k], 0.0}});
        memset(f.motion.before, 0, sizeof(f.motion.before));
        for (int a = 0; a < AXES; ++a) {
            f.motion.before[a] = g[a];
            for (size_t i = 0; i < f.values - TILE_CELLS; ++i) {
                f.u[a][i] = (float)g[a];
            }
        }
        flow(&f, true, 2e-6);
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            assert_close(f.motion.after[n], 0.0, 5e-6);
        }
        fixture_close(&f);
    }
}

// Of two balls of the same weight the one that slips sinks faster, that with a slip length between.
static void test_walls_that_slip_drag_less(void** state) {
    (void)state;
    static const slip_kind walls[] = {
        {TREACLE_WALL_NO_SLIP, 0.0}, {TREACLE_WALL_SLIP_LENGTH, 2.0}, {TREACLE_WALL_SLIP, 0.0}};
    double speed[3];
    for (int k = 0; k < 3; ++k) {
        fixture f;
        fixture_open(&f, &(drop_def){100.0, 9000.0, 2e4, walls[k]});
        memset(f.motion.before, 0, sizeof(f.motion.before));
        f.motion.before[1] = -0.2;
        for (size_t i = 0; i < f.values - TILE_CELLS; ++i) {
            f.u[1][i] = -0.2f;
        }
        flow(&f, true, 1e-3);
        speed[k] = -f.motion.after[1];
        fixture_close(&f);
    }
    assert_true(speed[0] > 0.0 && speed[1] > 1.05 * speed[0] && speed[2] > 1.05 * speed[1]);
}

static void test_a_face_is_unknown_or_given_or_of_a_body(void** state) {
    (void)state;
    uint8_t fixed[] = {0, 2, 2};
    uint16_t owner[] = {0, 0, 3};
    stress_weights weights = {.fixed = fixed, .owner = {owner, owner, owner}};
    assert_int_equal(stress_face_state(&weights, 1, 0), FACE_UNKNOWN);
    assert_int_equal(stress_face_state(&weights, 1, 1), FACE_GIVEN);
    assert_int_equal(stress_face_state(&weights, 1, 2), FACE_OF_BODY);
    assert_int_equal(stress_face_state(&weights, 0, 2), FACE_UNKNOWN); // another axis
    weights.owner[1] = NULL;                                           // there are no bodies
    assert_int_equal(stress_face_state(&weights, 1, 2), FACE_GIVEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drop_and_body_keep_their_momentum),
        cmocka_unit_test(test_thick_liquid_turns_with_a_body_that_it_sticks_to),
        cmocka_unit_test(test_neutral_body_rests_in_a_full_tank),
        cmocka_unit_test(test_walls_that_slip_drag_less),
        cmocka_unit_test(test_a_face_is_unknown_or_given_or_of_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
