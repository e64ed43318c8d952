// Particles below the resolution of cells [shift.1].
#include "particle_fixture.h"

#include "grid/tile_band.h"
#include "phys/even_spacing.h"
#include "phys/p2g.h"

enum { CELLS = 12, PER_CELL = 8 };

typedef struct box {
    treacle_context* ctx;
    grid_domain domain;
    particles p;
    tile_map map;
    size_t values;
    float *phi, *volume;
} box;

static float* field_of(treacle_context* ctx, size_t values, float value) {
    void* block = NULL;
    assert_int_equal(alloc_array(ctx, values, sizeof(float), "test", &block), TREACLE_OK);
    for (size_t i = 0; i < values; ++i) {
        ((float*)block)[i] = value;
    }
    return block;
}

// A full box; particles `apart` cells from the centre of their cell along each axis.
static box full_box(double apart) {
    box b = {.ctx = make_context(2)};
    b.domain = make_domain(b.ctx, CELLS, CELLS, CELLS, 1.0, TREACLE_SIDE_SLIP);
    assert_int_equal(particles_create(b.ctx, 0, &b.p), TREACLE_OK);
    for (int i = 0; i < CELLS * CELLS * CELLS * PER_CELL; ++i) {
        int cell = i / PER_CELL;
        const int at[AXES] = {cell % CELLS, cell / CELLS % CELLS, cell / CELLS / CELLS};
        particle_birth birth = {.id = (uint64_t)i, .volume = 1.0 / PER_CELL};
        for (int a = 0; a < AXES; ++a) {
            birth.place.at[a] = at[a] + 0.5 + ((i >> a & 1) != 0 ? apart : -apart);
        }
        tile_coord tile;
        particle_ix row = 0;
        particles_locate(&b.domain, birth.place, &tile, birth.position);
        assert_int_equal(particles_append(&b.p, tile, 1, &row), TREACLE_OK);
        particle_init(&b.p, &b.domain, row, &birth);
    }
    particle_sort_stats stats;
    assert_int_equal(sort_store(&b.p, &b.domain, &stats), TREACLE_OK);
    tile_points points = particles_points(&b.p);
    assert_int_equal(tile_band_create(b.ctx, &b.domain, &points, 4, &b.map), TREACLE_OK);
    b.values = ((size_t)b.map.count + 1) * TILE_CELLS;
    b.phi = field_of(b.ctx, b.values, -4.0f);
    b.volume = field_of(b.ctx, b.values, 0.0f);
    return b;
}

static void box_end(box* b) {
    alloc_free(b->ctx, b->phi, b->values * sizeof(float));
    alloc_free(b->ctx, b->volume, b->values * sizeof(float));
    tile_map_destroy(&b->map);
    particles_destroy(&b->p);
    treacle_context_destroy(b->ctx);
}

static void shift_box(box* b) {
    p2g_params from = {.domain = &b->domain, .map = &b->map, .from = &b->p};
    assert_int_equal(p2g_node_volume(&from, b->volume), TREACLE_OK);
    even_spacing_params params = {&b->domain, &b->map, b->phi, b->volume, &b->p};
    even_spacing_move(&params);
}

// Mean distance of particles from the centres of their cells, along x.
static double mean_distance(const box* b) {
    double sum = 0.0;
    for (particle_ix i = 0; i < b->p.count; ++i) {
        double x = (double)particles_f32(&b->p, PARTICLE_POSITION)[AXES * i];
        sum += fabs(x - floor(x) - 0.5);
    }
    return sum / (double)b->p.count;
}

static void test_nodes_see_even_liquid_as_full(void** state) {
    (void)state;
    box b = full_box(0.25);
    shift_box(&b);
    for (size_t i = 0; i < b.values - TILE_CELLS; ++i) {
        const tile_coord* tile = &b.map.coord[i / TILE_CELLS];
        const int at[AXES] = {(int)i % 8, (int)i / 8 % 8, (int)i / 64 % 8};
        bool is_inside = true;
        for (int a = 0; a < AXES; ++a) {
            is_inside = is_inside && tile->at[a] * TILE_SIZE + at[a] <= CELLS;
        }
        assert_true(!is_inside || fabsf(b.volume[i] - 1.0f) < 1e-5f);
    }
    box_end(&b);
}

static void test_even_particles_stay(void** state) {
    (void)state;
    box b = full_box(0.25);
    for (int i = 0; i < 20; ++i) {
        shift_box(&b);
    }
    assert_float_equal(mean_distance(&b), 0.25, 1e-5);
    box_end(&b);
}

// A place along y, in cells of the domain.
static double height_of(const box* b, tile_ix t, particle_ix i) {
    return TILE_SIZE * (double)b->p.tile[t].at[1] +
           (double)particles_f32(&b->p, PARTICLE_POSITION)[AXES * i + 1];
}

// Mean distance from the plane y = 6 of the particles nearest to it.
static double mean_gap(const box* b) {
    double sum = 0.0, count = 0.0;
    for (tile_ix t = 0; t < b->p.tile_count; ++t) {
        for (particle_ix i = b->p.tile_first[t]; i < b->p.tile_first[t + 1]; ++i) {
            double distance = fabs(height_of(b, t, i) - 6.0);
            sum += distance < 0.5 ? distance : 0.0;
            count += distance < 0.5;
        }
    }
    return sum / count;
}

static void test_a_gap_closes(void** state) {
    (void)state;
    box b = full_box(0.25);
    for (tile_ix t = 0; t < b.p.tile_count; ++t) {
        for (particle_ix i = b.p.tile_first[t]; i < b.p.tile_first[t + 1]; ++i) {
            double height = height_of(&b, t, i);
            float off = fabs(height - 6.0) < 0.3 ? 0.2f : 0.0f;
            particles_f32(&b.p, PARTICLE_POSITION)[AXES * i + 1] += height < 6.0 ? -off : off;
        }
    }
    assert_float_equal(mean_gap(&b), 0.45, 1e-5);
    for (int i = 0; i < 40; ++i) {
        shift_box(&b);
    }
    assert_true(mean_gap(&b) < 0.37);
    box_end(&b);
}

static void test_nothing_moves_near_the_surface(void** state) {
    (void)state;
    box b = full_box(0.05);
    for (size_t i = 0; i < b.values; ++i) {
        b.phi[i] = -1.4f;
    }
    double before = mean_distance(&b);
    shift_box(&b);
    assert_true(mean_distance(&b) == before);
    box_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_see_even_liquid_as_full),
        cmocka_unit_test(test_even_particles_stay),
        cmocka_unit_test(test_a_gap_closes),
        cmocka_unit_test(test_nothing_moves_near_the_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
