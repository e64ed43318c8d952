#include "solid_fixture.h"

#include "grid/fraction.h"
#include "phys/surface_level.h"

enum { WIDTH = 32, HEIGHT = 32 };

typedef struct level_world {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    arena scratch;
    float *volume, *share, *phi;
} level_world;

static void level_begin(level_world* w, int threads) {
    *w = (level_world){.ctx = context_with(threads)};
    w->domain = domain_with(w->ctx, WIDTH, HEIGHT, 1, TREACLE_SIDE_SLIP);
    w->map = whole_map(w->ctx, &w->domain);
    arena_init(&w->scratch, w->ctx);
    size_t values = ((size_t)w->map.count + 1) * TILE_CELLS;
    w->volume = calloc(values, sizeof(float));
    w->share = calloc(values, sizeof(float));
    w->phi = calloc(values, sizeof(float));
    assert_true(w->volume != NULL && w->share != NULL && w->phi != NULL);
    for (size_t i = 0; i < values; ++i) {
        w->phi[i] = 4.0f;
    }
}

static void level_end(level_world* w) {
    free(w->volume);
    free(w->share);
    free(w->phi);
    arena_finish(&w->scratch);
    tile_map_destroy(&w->map);
    treacle_context_destroy(w->ctx);
}

static size_t at(const level_world* w, int x, int y) {
    tile_ix t = tile_map_find(&w->map, (tile_coord){{x / 8, y / 8, 0}});
    return (size_t)t * TILE_CELLS + (size_t)(y % 8 * 8 + x % 8);
}

// Liquid between two heights, cells: how full cells are, and the distance to a surface that is too
// low by `low` at the upper end.
static void fill(level_world* w, double from, double to, double low) {
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        int y = i / WIDTH;
        size_t q = at(w, i % WIDTH, y);
        double below = fmin(fmax(to - y, 0.0), 1.0) - fmin(fmax(from - y, 0.0), 1.0);
        double distance = fmax(y + 0.5 - (to - low), from - (y + 0.5));
        w->volume[q] = (float)below;
        w->phi[q] = (float)fmin(fmax(distance, -4.0), 4.0);
    }
}

static void run(level_world* w) {
    fraction_params inside = {&w->domain, &w->map, w->phi};
    fraction_compute(&inside, &(fraction_fields){.cell = w->share});
    surface_level_params params = {.domain = &w->domain,
                                   .map = &w->map,
                                   .cell_volume = w->volume,
                                   .cell_share = w->share,
                                   .scratch = &w->scratch};
    assert_int_equal(surface_level(&params, w->phi), TREACLE_OK);
}

static double height(const level_world* w, int x) {
    for (int y = HEIGHT - 2; y >= 0; --y) {
        double below = (double)w->phi[at(w, x, y)], above = (double)w->phi[at(w, x, y + 1)];
        if (below < 0.0 && above >= 0.0) {
            return y + 0.5 + below / (below - above);
        }
    }
    return NAN;
}

static void test_a_pool_is_raised_to_its_volume(void** state) {
    (void)state;
    static const double off[] = {0.0, 0.05, -0.07};
    for (int i = 0; i < 3; ++i) {
        for (int n = 0; n < 4; ++n) {
            level_world w;
            level_begin(&w, 2);
            fill(&w, 0.0, 14.0 + 0.3 * n, off[i]);
            run(&w);
            for (int x = 0; x < WIDTH; ++x) {
                assert_true(fabs(height(&w, x) - (14.0 + 0.3 * n)) < 0.006);
            }
            level_end(&w);
        }
    }
}

// As a pool that is filled by steps of a column is: the mean over some cells counts.
static void test_no_more_than_a_tenth_of_a_cell(void** state) {
    (void)state;
    level_world w;
    level_begin(&w, 1);
    fill(&w, 0.0, 14.2, 0.6);
    run(&w);
    assert_true(fabs(height(&w, 9) - 13.7) < 0.02);
    level_end(&w);
}

static void test_a_thin_sheet_is_left_alone(void** state) {
    (void)state;
    level_world w;
    level_begin(&w, 1);
    fill(&w, 12.0, 13.9, 0.05);
    float before = w.phi[at(&w, 9, 13)];
    run(&w);
    assert_true(w.phi[at(&w, 9, 13)] == before);
    level_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pool_is_raised_to_its_volume),
        cmocka_unit_test(test_no_more_than_a_tenth_of_a_cell),
        cmocka_unit_test(test_a_thin_sheet_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
