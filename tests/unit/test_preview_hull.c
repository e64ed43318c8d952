// Which particles of a block can be seen: the outermost layer of cells, and none of the others.
#include "render/preview_hull.h"

#include <stdlib.h>

#include "particle_fixture.h"

enum { SIDE = 3, TILES = SIDE * SIDE * SIDE, CELL = PREVIEW_TILE_CELLS };

// A block of 3 x 3 x 3 tiles with particles in the middles of cells.
typedef struct block {
    treacle_context* ctx;
    treacle_frame frame;
    preview_particles particles;
    int32_t coord[TILES][3];
    int64_t first[TILES + 1];
    float* position;
} block;

static void open_block(block* b, int a_cell) {
    int a_tile = CELL * CELL * CELL * a_cell;
    memset(b, 0, sizeof(*b));
    b->ctx = make_context(1);
    b->position = malloc(sizeof(float) * 3 * (size_t)(TILES * a_tile));
    for (int t = 0; t < TILES; ++t) {
        int at[3] = {t % SIDE, t / SIDE % SIDE, t / SIDE / SIDE};
        for (int a = 0; a < 3; ++a) {
            b->coord[t][a] = at[a];
        }
        b->first[t + 1] = b->first[t] + a_tile;
        for (int i = 0; i < a_tile; ++i) {
            int cell = i / a_cell;
            float* p = b->position + 3 * (b->first[t] + i);
            p[0] = (float)(cell % CELL) + 0.5f;
            p[1] = (float)(cell / CELL % CELL) + 0.5f;
            p[2] = (float)(cell / CELL / CELL) + 0.5f;
        }
    }
    b->frame = (treacle_frame){.cell = 1.0, .cells = {SIDE * CELL, SIDE * CELL, SIDE * CELL}};
    b->particles = (preview_particles){.frame = &b->frame,
                                       .tile_count = TILES,
                                       .here_end = TILES,
                                       .tile_first = b->first,
                                       .tile_coord = b->coord[0],
                                       .position = b->position};
}

static void close_block(block* b) {
    free(b->position);
    treacle_context_destroy(b->ctx);
}

static int count_hidden(const preview_hull* hull, int64_t tile) {
    preview_cells hidden = preview_hull_hides(hull, tile);
    int count = 0;
    for (int z = 0; z < CELL; ++z) {
        count += __builtin_popcountll(hidden.layer[z]);
    }
    return count;
}

static void test_only_the_outermost_cells_are_seen(void** state) {
    (void)state;
    block b;
    preview_hull hull;
    open_block(&b, 8);
    assert_int_equal(preview_hull_create(b.ctx, &b.particles, &hull), TREACLE_OK);
    for (int64_t t = 0; t < TILES; ++t) {
        int hidden = 1;
        for (int a = 0; a < 3; ++a) {
            hidden *= b.coord[t][a] == 1 ? CELL : CELL - 1;
        }
        assert_int_equal(count_hidden(&hull, t), hidden);
    }
    preview_cells corner = preview_hull_hides(&hull, 0);
    assert_false(preview_cells_have(&corner, (float[3]){0.5f, 3.5f, 3.5f}));
    assert_true(preview_cells_have(&corner, (float[3]){7.5f, 3.5f, 3.5f}));
    assert_false(preview_cells_have(&corner, (float[3]){-0.1f, 3.5f, 3.5f}));
    assert_false(preview_cells_have(&corner, (float[3]){8.0f, 3.5f, 3.5f}));
    preview_hull_destroy(&hull);
    close_block(&b);
}

static void test_a_hole_shows_the_cells_around_it(void** state) {
    (void)state;
    block b;
    preview_hull hull;
    open_block(&b, 8);
    // Cell (4, 4, 4) of the middle tile loses its particles to the corner beside it.
    int middle = TILES / 2, cell = 4 + CELL * (4 + CELL * 4);
    for (int i = 0; i < 8; ++i) {
        b.position[3 * (b.first[middle] + 8 * cell + i)] = 0.5f;
    }
    assert_int_equal(preview_hull_create(b.ctx, &b.particles, &hull), TREACLE_OK);
    assert_int_equal(count_hidden(&hull, middle), CELL * CELL * CELL - 7);
    preview_hull_destroy(&hull);
    close_block(&b);
}

static void test_particles_that_are_far_apart_hide_nothing(void** state) {
    (void)state;
    block b;
    preview_hull hull;
    open_block(&b, 2);
    assert_int_equal(preview_hull_create(b.ctx, &b.particles, &hull), TREACLE_OK);
    assert_int_equal(count_hidden(&hull, TILES / 2), 0);
    preview_hull_destroy(&hull);
    close_block(&b);
}

static void test_tiles_outside_of_the_domain_are_no_harm(void** state) {
    (void)state;
    block b;
    preview_hull hull;
    open_block(&b, 8);
    b.coord[0][0] = -2147483647 - 1;
    b.coord[1][2] = 2147483647;
    assert_int_equal(preview_hull_create(b.ctx, &b.particles, &hull), TREACLE_OK);
    assert_true(count_hidden(&hull, 0) <= (CELL - 2) * (CELL - 2) * (CELL - 2));
    preview_hull_destroy(&hull);
    close_block(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_outermost_cells_are_seen),
        cmocka_unit_test(test_a_hole_shows_the_cells_around_it),
        cmocka_unit_test(test_particles_that_are_far_apart_hide_nothing),
        cmocka_unit_test(test_tiles_outside_of_the_domain_are_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
