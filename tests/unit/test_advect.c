// Advection in a prescribed velocity: orders of the schemes, tiles that do not show.
#include "grid_fixture.h"

#include <math.h>
#include <string.h>

#include "unit.h"

#include "base/alloc.h"
#include "grid/stagger.h"
#include "particles/particles.h"
#include "phys/advect.h"

enum { CELLS = 32 };
static const double turn_speed = 1.0; // rad/s

typedef struct vortex {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    float* u[AXES];
    face_velocity field;
    particles p;
} vortex;

// Rigid rotation about the middle of a flat box: linear, so the grid holds it exactly.
static double rotation(int a, double x, double y) {
    return a == 0 ? -turn_speed * (y - CELLS / 2.0) : a == 1 ? turn_speed * (x - CELLS / 2.0) : 0.0;
}

// Fills the vortex in place: it points into itself.
static void make_vortex(vortex* v) {
    *v = (vortex){.ctx = context_with(2)};
    v->domain = domain_with(v->ctx, CELLS, CELLS, 0, TREACLE_SIDE_OPEN);
    v->map = whole_map(v->ctx, &v->domain);
    size_t values = ((size_t)v->map.count + 1) * TILE_CELLS;
    v->field = (face_velocity){.map = &v->map, .domain = &v->domain};
    for (int a = 0; a < AXES; ++a) {
        void* block = NULL;
        assert_int_equal(alloc_zero(v->ctx, values, sizeof(float), "u", &block), TREACLE_OK);
        v->u[a] = v->field.u.at[a] = block;
        for (size_t i = 0; i < values - TILE_CELLS; ++i) {
            int cell = (int)(i % TILE_CELLS);
            const tile_coord* tile = &v->map.coord[i / TILE_CELLS];
            double x =
                tile->at[0] * TILE_SIZE + cell % TILE_SIZE + (double)place_offset(place_face(a), 0);
            double y = tile->at[1] * TILE_SIZE + cell / TILE_SIZE % TILE_SIZE +
                       (double)place_offset(place_face(a), 1);
            v->u[a][i] = (float)rotation(a, x, y);
        }
    }
}

static void end_vortex(vortex* v) {
    for (int a = 0; a < AXES; ++a) {
        alloc_free(v->ctx, v->u[a], ((size_t)v->map.count + 1) * TILE_CELLS * sizeof(float));
    }
    tile_map_destroy(&v->map);
    treacle_context_destroy(v->ctx);
}

// Where a particle from (21, 16) is after a quarter of a turn in `steps`; its distance from where
// it should be, in cells.
static double miss_after_quarter(treacle_advection scheme, int steps) {
    vortex v;
    make_vortex(&v);
    assert_int_equal(particles_create(v.ctx, 0, &v.p), TREACLE_OK);
    particle_ix row = 0;
    assert_int_equal(particles_append(&v.p, (tile_coord){{2, 2, 0}}, 1, &row), TREACLE_OK);
    float* x = particles_f32(&v.p, PARTICLE_POSITION);
    x[0] = 5.0f, x[1] = 0.0f, x[2] = 0.5f; // 21, 16: radius 5
    double dt = 0.5 * 3.14159265358979 / turn_speed / steps;
    for (int i = 0; i < steps; ++i) {
        advect_particles(&v.field, &v.p,
                         &(advect_params){.scheme = scheme, .dt = dt, .reach = 5.0});
    }
    double miss = hypot((double)x[0] - 0.0, (double)x[1] - 5.0);
    particles_destroy(&v.p);
    end_vortex(&v);
    return miss;
}

static void test_schemes_have_their_order(void** state) {
    (void)state;
    for (int scheme = TREACLE_ADVECTION_EULER; scheme <= TREACLE_ADVECTION_RK3; ++scheme) {
        double coarse = miss_after_quarter((treacle_advection)scheme, 8);
        double fine = miss_after_quarter((treacle_advection)scheme, 16);
        double order = log2(coarse / fine);
        assert_close(order, scheme + 1.0, 0.25);
    }
}

// The same place, told from two tiles.
static void test_the_tile_does_not_show(void** state) {
    (void)state;
    vortex v;
    make_vortex(&v);
    assert_int_equal(particles_create(v.ctx, 0, &v.p), TREACLE_OK);
    particle_ix row = 0;
    assert_int_equal(particles_append(&v.p, (tile_coord){{1, 1, 0}}, 1, &row), TREACLE_OK);
    assert_int_equal(particles_append(&v.p, (tile_coord){{2, 1, 0}}, 1, &row), TREACLE_OK);
    float* x = particles_f32(&v.p, PARTICLE_POSITION);
    x[0] = 8.25f, x[1] = 3.0f, x[2] = 0.5f;
    x[3] = 0.25f, x[4] = 3.0f, x[5] = 0.5f;
    advect_particles(&v.field, &v.p,
                     &(advect_params){.scheme = TREACLE_ADVECTION_RK3, .dt = 0.1, .reach = 2.0});
    assert_close(x[0] - 8.0f, x[3], 1e-6);
    assert_close(x[1], x[4], 1e-6);
    particles_destroy(&v.p);
    end_vortex(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes_have_their_order),
        cmocka_unit_test(test_the_tile_does_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
