// Strain on the grid: its force, and its update against that of a particle.
#include "flow_fixture.h"
#include "unit.h"

#include "compare/grid_strain.h"

static const int cube[AXES] = {16, 16, 16}, sheet[AXES] = {24, 24, 0};

typedef struct tensor_room {
    grid_field part[STRAIN_PARTS];
    tensor_field tensor;
} tensor_room;

static void room_begin(const tile_map* map, tensor_room* out) {
    for (int k = 0; k < STRAIN_PARTS; ++k) {
        assert_int_equal(grid_field_create(map, tensor_place(k), 0.0f, &out->part[k]), TREACLE_OK);
        *(k < AXES ? &out->tensor.cell[k] : &out->tensor.edge[k - AXES]) = out->part[k].values;
    }
}

static void room_set(const tile_map* map, tensor_room* room, flow_value* value) {
    for (int k = 0; k < STRAIN_PARTS; ++k) {
        flow_sample(map, &room->part[k], value, k);
    }
}

static void room_end(tensor_room* room) {
    for (int k = 0; k < STRAIN_PARTS; ++k) {
        grid_field_destroy(&room->part[k]);
    }
}

static const strain_law elastic = {.modulus = 30.0, .decay = 0.0, .yield = INFINITY};
static const strain_law plastic = {.modulus = 30.0, .decay = 2.0, .yield = 0.1};

static grid_strain_params params_of(const flow_world* w, const strain_law* law, double dt) {
    return (grid_strain_params){&w->domain, &w->map, law, 1000.0, dt};
}

// xx, yy, zz, yz, zx, xy
static const double base[STRAIN_PARTS] = {0.3, -0.1, 0.05, 0.07, -0.11, 0.2};
static const double slope[STRAIN_PARTS][AXES] = {{0.01, -0.02, 0.03},  {0.02, 0.04, -0.01},
                                                 {-0.03, 0.01, 0.02},  {0.05, 0.02, 0.01},
                                                 {0.01, -0.04, -0.02}, {-0.02, 0.03, 0.06}};

static double uniform(const double x[AXES], int part) {
    (void)x;
    return base[part];
}

static double sloping(const double x[AXES], int part) {
    double out = base[part];
    for (int a = 0; a < AXES; ++a) {
        out += slope[part][a] * (x[a] - 8.0);
    }
    return out;
}

// In the plane nothing changes along z, and there is no shear with it.
static double sloping_in_plane(const double x[AXES], int part) {
    const double here[AXES] = {x[0], x[1], 8.0};
    return part == 3 || part == 4 ? 0.0 : sloping(here, part);
}

static void test_a_constant_strain_pushes_nothing(void** state) {
    (void)state;
    const treacle_side sides[] = {TREACLE_SIDE_PERIODIC, TREACLE_SIDE_NO_SLIP, TREACLE_SIDE_OPEN};
    for (int k = 0; k < 3; ++k) {
        flow_world w;
        tensor_room strain;
        flow_world_begin(&w, k == 2 ? sheet : cube, sides[k]);
        room_begin(&w.map, &strain);
        room_set(&w.map, &strain, uniform);
        grid_strain_params params = params_of(&w, &elastic, 0.1);
        grid_strain_push(&params, &strain.tensor, w.flow.u.at);
        for (int64_t i = 0; i < AXES * flow_count(&w.map); ++i) {
            assert_true(w.flow.u.at[i % AXES][i / AXES] == 0.0f);
        }
        room_end(&strain);
        flow_world_end(&w);
    }
}

// A parabola, whose differences are exact in the middle between samples, and nowhere else.
static double bent(const double x[AXES], int part) {
    double out = base[part];
    for (int a = 0; a < AXES; ++a) {
        out += slope[part][a] * (x[a] - 8.0) * (x[a] - 8.0);
    }
    return out;
}

// The part of a tensor between two axes.
static int part_of(int a, int b) {
    return a == b ? a : AXES + (AXES - a - b);
}

static void check_push(const int cells[AXES]) {
    flow_world w;
    tensor_room strain;
    flow_world_begin(&w, cells, TREACLE_SIDE_OPEN);
    room_begin(&w.map, &strain);
    room_set(&w.map, &strain, bent);
    grid_strain_params params = params_of(&w, &elastic, 0.5);
    grid_strain_push(&params, &strain.tensor, w.flow.u.at);
    for (int64_t i = 0; i < AXES * flow_count(&w.map); ++i) {
        int a = (int)(i % AXES);
        double x[AXES], divergence = 0.0;
        flow_place(&w.map, place_face(a), i / AXES, x);
        for (int b = 0; b < AXES; ++b) {
            bool counts = w.domain.is_active[a] && w.domain.is_active[b];
            divergence += counts ? 2.0 * slope[part_of(a, b)][b] * (x[b] - 8.0) : 0.0;
        }
        if (flow_is_within(&w, i / AXES, 1.0)) {
            double expected = 0.5 * 30.0 / 1000.0 * divergence;
            assert_close((double)w.flow.u.at[a][i / AXES], expected, 1e-6);
        }
    }
    room_end(&strain);
    flow_world_end(&w);
}

static void test_the_force_is_the_divergence(void** state) {
    (void)state;
    check_push(cube);
    check_push(sheet);
}

// --- update --------------------------------------------------------------------------------------

// A linear velocity: stretches, shears and turns in all planes.
static const double grad[AXES][AXES] = {{0.4, 1.0, -0.3}, {-0.2, -0.1, 0.5}, {0.7, -0.6, -0.3}};
static double streaming(const double x[AXES], int a) {
    return grad[a][0] * (x[0] - 8.0) + grad[a][1] * (x[1] - 8.0) + grad[a][2] * (x[2] - 8.0);
}
static double streaming_in_plane(const double x[AXES], int a) {
    return grad[a][0] * (x[0] - 8.0) + grad[a][1] * (x[1] - 8.0);
}

// The motion that a particle in that flow has; in the plane without z.
static strain_motion motion_of(int axes) {
    strain_motion out = {{0}, {0}};
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        out.stretch[a] = a < axes ? grad[a][a] : 0.0;
        if (b < axes && c < axes) {
            out.stretch[AXES + a] = 0.5 * (grad[b][c] + grad[c][b]);
            out.spin[a] = 0.5 * (grad[c][b] - grad[b][c]);
        }
    }
    return out;
}

typedef struct update_case {
    const int* cells;
    int axes; // active
    flow_value *velocity, *strain;
    const strain_law* law;
} update_case;

// Every entry, where it lives, is that of a particle with the strain of that place.
static void check_update(const update_case* c) {
    flow_world w;
    tensor_room before, after, stretch;
    grid_field spin[AXES];
    flow_world_begin(&w, c->cells, TREACLE_SIDE_OPEN);
    flow_set(&w, c->velocity);
    room_begin(&w.map, &before);
    room_begin(&w.map, &after);
    room_begin(&w.map, &stretch);
    room_set(&w.map, &before, c->strain);
    for (int a = 0; a < AXES; ++a) {
        assert_int_equal(grid_field_create(&w.map, place_edge(a), 0.0f, &spin[a]), TREACLE_OK);
    }
    float* const turns[AXES] = {spin[0].values, spin[1].values, spin[2].values};
    tensor_of_velocity(&w.flow, NULL, &stretch.tensor, turns);
    grid_strain_params params = params_of(&w, c->law, 0.3);
    grid_strain_motion motion = {&stretch.tensor, turns};
    grid_strain_advance(&params, &motion, &before.tensor, &after.tensor);
    strain_step step = strain_begin(c->law, 0.3);
    strain_motion particle = motion_of(c->axes);
    int64_t checked = 0;
    for (int64_t i = 0; i < STRAIN_PARTS * flow_count(&w.map); ++i) {
        int part = (int)(i % STRAIN_PARTS);
        double x[AXES], eps[STRAIN_PARTS];
        flow_place(&w.map, tensor_place(part), i / STRAIN_PARTS, x);
        for (int k = 0; k < STRAIN_PARTS; ++k) {
            eps[k] = c->strain(x, k);
        }
        strain_advance(&step, &particle, eps);
        if (flow_is_within(&w, i / STRAIN_PARTS, 2.0)) {
            assert_close((double)after.part[part].values[i / STRAIN_PARTS], eps[part], 2e-6);
            checked += 1;
        }
    }
    assert_true(checked > 1000);
    for (int a = 0; a < AXES; ++a) {
        grid_field_destroy(&spin[a]);
    }
    room_end(&before);
    room_end(&after);
    room_end(&stretch);
    flow_world_end(&w);
}

static void test_strain_grows_as_that_of_a_particle_does(void** state) {
    (void)state;
    strain_law turning = elastic, flowing = plastic;
    turning.rate = flowing.rate = TREACLE_STRAIN_COROTATIONAL;
    const strain_law* const laws[] = {&turning, &flowing};
    for (int k = 0; k < 2; ++k) {
        check_update(&(update_case){cube, 3, streaming, sloping, laws[k]});
        check_update(&(update_case){sheet, 2, streaming_in_plane, sloping_in_plane, laws[k]});
    }
}

// A quarter of a turn about an axis, a degree a step: the two other axes change places.
static void check_quarter(int axis) {
    flow_world w;
    tensor_room room[2], stretch;
    grid_field spin[AXES];
    strain_law law = elastic;
    law.rate = TREACLE_STRAIN_COROTATIONAL;
    flow_world_begin(&w, cube, TREACLE_SIDE_PERIODIC);
    room_begin(&w.map, &room[0]);
    room_begin(&w.map, &room[1]);
    room_begin(&w.map, &stretch);
    room_set(&w.map, &room[0], uniform);
    for (int a = 0; a < AXES; ++a) {
        float rate = a == axis ? 1.0f : 0.0f;
        assert_int_equal(grid_field_create(&w.map, place_edge(a), 0.0f, &spin[a]), TREACLE_OK);
        for (int64_t i = 0; i < flow_count(&w.map); ++i) {
            spin[a].values[i] = rate;
        }
    }
    float* const turns[AXES] = {spin[0].values, spin[1].values, spin[2].values};
    grid_strain_params params = params_of(&w, &law, 0.5 * 3.14159265358979 / 90.0);
    grid_strain_motion motion = {&stretch.tensor, turns};
    for (int k = 0; k < 90; ++k) {
        grid_strain_advance(&params, &motion, &room[k % 2].tensor, &room[1 - k % 2].tensor);
    }
    int b = (axis + 1) % AXES, c = (axis + 2) % AXES;
    double is[STRAIN_PARTS], expected[STRAIN_PARTS];
    memcpy(expected, base, sizeof(expected));
    expected[b] = base[c]; // b turns to where c was, c to where -b was
    expected[c] = base[b];
    expected[AXES + axis] = -base[AXES + axis];
    expected[part_of(axis, b)] = -base[part_of(axis, c)];
    expected[part_of(axis, c)] = base[part_of(axis, b)];
    for (int64_t i = 0; i < flow_count(&w.map); ++i) {
        for (int k = 0; k < STRAIN_PARTS; ++k) {
            is[k] = (double)room[0].part[k].values[i];
            assert_close(is[k], expected[k], 1e-4);
        }
        assert_close(strain_norm(is), strain_norm(base), 1e-5);
    }
    for (int a = 0; a < AXES; ++a) {
        grid_field_destroy(&spin[a]);
    }
    room_end(&room[0]);
    room_end(&room[1]);
    room_end(&stretch);
    flow_world_end(&w);
}

static void test_strain_turns_with_a_rigid_rotation(void** state) {
    (void)state;
    for (int a = 0; a < AXES; ++a) {
        check_quarter(a);
    }
}

// --- walls ---------------------------------------------------------------------------------------

static void test_there_is_no_shear_where_liquid_slides_along_a_side(void** state) {
    (void)state;
    flow_world w;
    tensor_room strain;
    flow_world_begin(&w, cube, TREACLE_SIDE_NO_SLIP);
    w.domain.sides[1][0] = w.domain.sides[2][1] = TREACLE_SIDE_SLIP;
    room_begin(&w.map, &strain);
    room_set(&w.map, &strain, uniform);
    grid_strain_params params = params_of(&w, &elastic, 0.1);
    grid_strain_free_sides(&params, &strain.tensor);
    for (int64_t i = 0; i < flow_count(&w.map); ++i) {
        double x[AXES];
        flow_place(&w.map, PLACE_NODE, i, x);
        for (int part = 0; part < STRAIN_PARTS; ++part) {
            // Edges along an axis are on the sides across the two others.
            bool slides = part >= AXES &&
                          ((part != AXES + 1 && x[1] == 0.0) || (part != AXES + 2 && x[2] == 16.0));
            float expected = slides ? 0.0f : (float)base[part];
            assert_true(strain.part[part].values[i] == expected);
        }
    }
    room_end(&strain);
    flow_world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_constant_strain_pushes_nothing),
        cmocka_unit_test(test_the_force_is_the_divergence),
        cmocka_unit_test(test_strain_grows_as_that_of_a_particle_does),
        cmocka_unit_test(test_strain_turns_with_a_rigid_rotation),
        cmocka_unit_test(test_there_is_no_shear_where_liquid_slides_along_a_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
