#include "compare/outer_flow.h"
#include "flow_fixture.h"

static const int square[AXES] = {32, 32, 1};

// A disc of liquid; its faces are held.
typedef struct outer_world {
    flow_world w;
    grid_field phi, room;
    uint8_t* is_held[AXES];
} outer_world;

static double disc(const double x[AXES], int part) {
    (void)part;
    return hypot(x[0] - 16.0, x[1] - 16.0) - 8.0;
}

static bool is_wet(const double x[AXES]) {
    return disc(x, 0) < 0.0;
}

static void begin(outer_world* o, flow_value* velocity) {
    flow_world* w = &o->w;
    flow_world_begin(w, square, TREACLE_SIDE_OPEN);
    flow_set(w, velocity);
    assert_int_equal(grid_field_create(&w->map, PLACE_CELL, 4.0f, &o->phi), TREACLE_OK);
    assert_int_equal(grid_field_create(&w->map, PLACE_CELL, 0.0f, &o->room), TREACLE_OK);
    flow_sample(&w->map, &o->phi, disc, 0);
    for (int a = 0; a < AXES; ++a) {
        o->is_held[a] = calloc((size_t)flow_count(&w->map) + TILE_CELLS, 1);
        assert_non_null(o->is_held[a]);
        for (int64_t i = 0; i < flow_count(&w->map); ++i) {
            double low[AXES], high[AXES];
            flow_place(&w->map, PLACE_CELL, i, high);
            memcpy(low, high, sizeof(low));
            low[a] -= 1.0;
            o->is_held[a][i] = is_wet(low) || is_wet(high);
        }
    }
}

static void end(outer_world* o) {
    for (int a = 0; a < AXES; ++a) {
        free(o->is_held[a]);
    }
    grid_field_destroy(&o->phi);
    grid_field_destroy(&o->room);
    flow_world_end(&o->w);
}

static void project(outer_world* o) {
    outer_flow params = {.domain = &o->w.domain,
                         .map = &o->w.map,
                         .cell_phi = o->phi.values,
                         .face_is_held = {o->is_held[0], o->is_held[1], o->is_held[2]},
                         .reach = 1.5f,
                         .cell_room = o->room.values};
    outer_flow_project(&params, o->w.flow.u.at);
}

// The largest divergence of dry cells within a cell of the surface.
static double worst_divergence(const outer_world* o) {
    const flow_world* w = &o->w;
    double worst = 0.0;
    for (int64_t i = 0; i < flow_count(&w->map); ++i) {
        double sum = 0.0, phi = (double)o->phi.values[i];
        for (int a = 0; a < 2; ++a) {
            int64_t above = tile_slot_above(&w->map, i / TILE_CELLS, (int)(i % TILE_CELLS), a);
            sum += (double)(w->flow.u.at[a][above] - w->flow.u.at[a][i]);
        }
        if (flow_is_within(w, i, 1.0) && phi >= 0.0 && phi < 1.0) {
            worst = fmax(worst, fabs(sum));
        }
    }
    return worst;
}

static double steady(const double x[AXES], int a) {
    (void)x;
    return a == 0 ? 1.5 : -0.5;
}

// A strain that does not reach beyond the disc.
static double strained(const double x[AXES], int a) {
    double r = hypot(x[0] - 16.0, x[1] - 16.0), fraction = r > 8.0 ? 8.0 / r : 1.0;
    return fraction * (a == 0 ? x[0] - 16.0 : 16.0 - x[1]);
}

static void test_a_uniform_flow_stays(void** state) {
    (void)state;
    outer_world o;
    begin(&o, steady);
    project(&o);
    for (int64_t i = 0; i < flow_count(&o.w.map); ++i) {
        assert_true(!flow_is_within(&o.w, i, 0.0) ||
                    (o.w.flow.u.at[0][i] == 1.5f && o.w.flow.u.at[1][i] == -0.5f));
    }
    end(&o);
}

static void test_what_is_held_stays_and_little_divergence_is_left(void** state) {
    (void)state;
    outer_world o;
    begin(&o, strained);
    double before = worst_divergence(&o);
    project(&o);
    double after = worst_divergence(&o);
    if (!(before > 0.5 && after < 0.1 * before)) {
        fail_msg("divergence %g, then %g", before, after);
    }
    for (int a = 0; a < 2; ++a) {
        for (int64_t i = 0; i < flow_count(&o.w.map); ++i) {
            double x[AXES];
            flow_place(&o.w.map, place_face(a), i, x);
            assert_true(!o.is_held[a][i] || o.w.flow.u.at[a][i] == (float)strained(x, a));
        }
    }
    end(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_uniform_flow_stays),
        cmocka_unit_test(test_what_is_held_stays_and_little_divergence_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
