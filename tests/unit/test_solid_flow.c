// What solids push out of cells, and how much of it liquid can follow [solid.10].
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "grid_fixture.h"
#include "phys/solid_flow.h"
#include "treacle/scene.h"
#include "treacle/sim.h"

// Faces of a plane of cells, all of which have a pressure.
typedef struct plane {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    float* cell;
    float *open[AXES], *u[AXES];
    double* flow;
} plane;

static solid_face face_of(const void* data, int axis, int64_t face, bool is_below) {
    const plane* p = data;
    (void)is_below;
    double open = (double)p->open[axis][face], u = (double)p->u[axis][face];
    return (solid_face){.open = open, .flow = (1.0 - open) * u, .speed = open < 1.0 ? fabs(u) : 0};
}

static plane plane_of(int x, int y) {
    plane p = {.ctx = context_with(1)};
    p.domain = domain_with(p.ctx, x, y, 0, TREACLE_SIDE_SLIP);
    p.map = whole_map(p.ctx, &p.domain);
    size_t values = ((size_t)p.map.count + 1) * TILE_CELLS;
    p.cell = calloc(values, sizeof(float));
    p.flow = calloc(values, sizeof(double));
    for (int a = 0; a < AXES; ++a) {
        p.open[a] = calloc(values, sizeof(float));
        p.u[a] = calloc(values, sizeof(float));
    }
    for (int j = 0; j < y; ++j) {
        for (int i = 0; i < x; ++i) {
            tile_ix t = tile_map_find(&p.map, (tile_coord){{i / 8, j / 8, 0}});
            p.cell[(size_t)t * TILE_CELLS + (size_t)(j % 8 * 8 + i % 8)] = 1.0f;
        }
    }
    return p;
}

static size_t slot_of(const plane* p, int i, int j) {
    tile_ix t = tile_map_find(&p->map, (tile_coord){{i / 8, j / 8, 0}});
    return (size_t)t * TILE_CELLS + (size_t)(j % 8 * 8 + i % 8);
}

static void compute(plane* p) {
    solid_flow_params params = {.domain = &p->domain,
                                .map = &p->map,
                                .cell = p->cell,
                                .sign = 1.0f,
                                .face = face_of,
                                .data = p};
    assert_int_equal(solid_flow_compute(&params, p->flow), TREACLE_OK);
}

static void end_plane(plane* p) {
    free(p->cell);
    free(p->flow);
    for (int a = 0; a < AXES; ++a) {
        free(p->open[a]);
        free(p->u[a]);
    }
    tile_map_destroy(&p->map);
    treacle_context_destroy(p->ctx);
}

// Whatever it leaves open: cells and pockets of any shape get all that it pushes.
static void test_one_rigid_solid_is_never_bounded(void** state) {
    (void)state;
    enum { SIDE = 24 };
    plane p = plane_of(SIDE, SIDE);
    srand(7);
    for (int j = 0; j <= SIDE; ++j) {
        for (int i = 0; i <= SIDE; ++i) {
            size_t here = slot_of(&p, i, j);
            for (int a = 0; a < 2; ++a) {
                float open = (float)(rand() % 1000) / 999.0f;
                p.open[a][here] = rand() % 3 == 0 ? 0.0f : open * open;
                // It moves with (0.7, -0.4) and turns about the corner with 0.05.
                p.u[a][here] =
                    a == 0 ? 0.7f - 0.05f * ((float)j + 0.5f) : -0.4f + 0.05f * ((float)i + 0.5f);
            }
        }
    }
    compute(&p);
    for (int j = 0; j < SIDE; ++j) {
        for (int i = 0; i < SIDE; ++i) {
            size_t here = slot_of(&p, i, j);
            double want = 0.0;
            for (int a = 0; a < 2; ++a) {
                size_t next = slot_of(&p, i + (a == 0), j + (a == 1));
                want += (double)p.u[a][here] * ((double)p.open[a][here] - (double)p.open[a][next]);
            }
            assert_close(p.flow[here], want, 1e-6);
        }
    }
    end_plane(&p);
}

// A row of cells between a plate that comes down with 1 and one at rest, with the width g.
static void test_a_gap_gives_no_more_than_the_plate_is_fast(void** state) {
    (void)state;
    for (double g = 1.0; g > 1e-3; g *= 0.5) {
        plane p = plane_of(16, 2);
        for (int i = 0; i <= 16; ++i) {
            p.open[0][slot_of(&p, i, 0)] = (float)g;
            p.u[1][slot_of(&p, i, 1)] = -1.0f;
            p.cell[slot_of(&p, i, 1)] = 0.0f;
        }
        compute(&p);
        for (int i = 0; i < 16; ++i) {
            // A cell of a gap of less than a half gives 4 g^2; all 16 of them, (2 g)^2 / (64 g^2)
            // through the two ends, but for gaps so narrow that the cells do not hang together.
            double want = g >= 0.5 ? -1.0 : g >= 1.0 / 32 ? -1.0 / 256 : -4.0 * g * g;
            assert_close(p.flow[slot_of(&p, i, 0)], want, 1e-6);
        }
        end_plane(&p);
    }
}

// A tank with one moving wall and an outlet of a tenth of a face, or none.
static void test_a_pocket_gives_no_more_than_its_outlet_takes(void** state) {
    (void)state;
    for (int closed = 0; closed < 2; ++closed) {
        plane p = plane_of(8, 8);
        float outlet = closed ? 0.0f : 0.1f;
        for (int j = 0; j < 8; ++j) {
            for (int i = 0; i < 8; ++i) {
                p.open[0][slot_of(&p, i, j)] = i > 0 ? 1.0f : 0.0f;
                p.open[1][slot_of(&p, i, j)] = j > 0 ? 1.0f : 0.0f;
            }
            p.u[0][slot_of(&p, 0, j)] = 1.0f;
        }
        p.open[0][slot_of(&p, 8, 3)] = outlet;
        compute(&p);
        double sum = 0.0;
        for (int n = 0; n < 64; ++n) {
            sum += p.flow[slot_of(&p, n % 8, n / 8)];
        }
        assert_close(sum, -8.0 * pow((double)outlet / 8.0, 2.0), 1e-9);
        // The wall still drives the liquid beside it.
        assert_true(p.flow[slot_of(&p, 0, 3)] < -0.8);
        end_plane(&p);
    }
}

// The largest speed of a scene over some steps.
static double fastest_of(const char* text, int steps) {
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "flow", text, strlen(text), 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    treacle_scene_destroy(scene);
    double most = 0.0;
    for (int i = 0; i < steps; ++i) {
        treacle_step_stats stats = {0};
        assert_int_equal(treacle_sim_step(sim, 0.01, &stats), TREACLE_OK);
        most = fmax(most, stats.max_speed);
    }
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
    return most;
}

// A ball comes in through the wall: behind it the wall lets no liquid in, nor need it.
static void test_a_solid_that_comes_through_a_side_shoots_nothing(void** state) {
    (void)state;
    static const char* const flows[] = {"unified", "split"};
    for (int n = 0; n < 2; ++n) {
        char text[600];
        snprintf(text, sizeof(text),
                 "domain: {size: [1, 1, 0], cell: 0.0625, sides: {all: slip, top: open}}\n"
                 "gravity: [0, 0, 0]\n"
                 "flow: %s\n"
                 "materials: {goo: {viscosity: 0.2}}\n"
                 "liquids: [{shape: {box: {min: [0, 0, 0], max: [1, 0.8, 0]}}}]\n"
                 "solids: {ball: {shape: {sphere: {radius: 0.24, centre: [0.03, 0.35, 0]}}, "
                 "velocity: [0.5, 0.3, 0], wall: slip}}\n",
                 flows[n]);
        assert_true(fastest_of(text, 20) < 1.5);
    }
}

// A piston in a channel, with a gap of a twenty-fifth of a cell: the liquid before it is trapped.
static void test_a_piston_shoots_nothing_through_its_gap(void** state) {
    (void)state;
    static const char* const flows[] = {"unified", "split"};
    for (int n = 0; n < 2; ++n) {
        char text[600];
        snprintf(text, sizeof(text),
                 "domain: {size: [1, 1, 0], cell: 0.0625, sides: {all: slip, left: open}}\n"
                 "gravity: [0, 0, 0]\n"
                 "flow: %s\n"
                 "materials: {goo: {viscosity: 0.2}}\n"
                 "liquids: [{shape: {box: {min: [0.5, 0, 0], max: [1, 1, 0]}}}]\n"
                 "solids: {piston: {shape: {box: {min: [0.2, -1, -1], max: [0.49, 0.9975, 1]}}, "
                 "velocity: [0.5, 0, 0], wall: slip}}\n",
                 flows[n]);
        assert_true(fastest_of(text, 20) < 1.5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rigid_solid_is_never_bounded),
        cmocka_unit_test(test_a_gap_gives_no_more_than_the_plate_is_fast),
        cmocka_unit_test(test_a_pocket_gives_no_more_than_its_outlet_takes),
        cmocka_unit_test(test_a_solid_that_comes_through_a_side_shoots_nothing),
        cmocka_unit_test(test_a_piston_shoots_nothing_through_its_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
