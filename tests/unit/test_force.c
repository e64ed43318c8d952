// Body forces: the same everywhere where they are uniform, and only where they are meant.
#include "grid_fixture.h"

#include <string.h>

#include "unit.h"

#include "base/alloc.h"
#include "phys/force.h"

typedef struct pool {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t values;
    float* u[AXES];
    float* buoyancy;
} pool;

static float* zeros(treacle_context* ctx, size_t count) {
    void* block = NULL;
    assert_int_equal(alloc_zero(ctx, count, sizeof(float), "test", &block), TREACLE_OK);
    return block;
}

static pool make_pool(void) {
    pool p = {.ctx = context_with(2)};
    p.domain = domain_with(p.ctx, 16, 16, 16, TREACLE_SIDE_SLIP);
    p.map = whole_map(p.ctx, &p.domain);
    p.values = ((size_t)p.map.count + 1) * TILE_CELLS;
    p.buoyancy = zeros(p.ctx, p.values);
    for (int a = 0; a < AXES; ++a) {
        p.u[a] = zeros(p.ctx, p.values);
    }
    return p;
}

static void end_pool(pool* p) {
    alloc_free(p->ctx, p->buoyancy, p->values * sizeof(float));
    for (int a = 0; a < AXES; ++a) {
        alloc_free(p->ctx, p->u[a], p->values * sizeof(float));
    }
    tile_map_destroy(&p->map);
    treacle_context_destroy(p->ctx);
}

static force_params params_of(const pool* p) {
    return (force_params){
        .domain = &p->domain, .map = &p->map, .dt = 0.01, .gravity = {0.3, -9.81, 0.1}};
}

static void test_gravity_adds_the_same_bits_everywhere(void** state) {
    (void)state;
    pool p = make_pool();
    force_params params = params_of(&p);
    for (int round = 0; round < 5; ++round) {
        force_apply(&params, p.u);
    }
    for (int a = 0; a < AXES; ++a) {
        for (size_t i = 0; i < p.values - TILE_CELLS; ++i) {
            assert_true(p.u[a][i] == p.u[a][0]);
        }
        assert_close(p.u[a][0], 0.05 * params.gravity[a], 1e-6);
    }
    end_pool(&p);
}

static void test_a_field_acts_only_in_its_shape(void** state) {
    (void)state;
    pool p = make_pool();
    force_params params = params_of(&p);
    memset(params.gravity, 0, sizeof(params.gravity));
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_BOX);
    def.size[0] = def.size[1] = def.size[2] = 4.0;
    def.move[0] = def.move[1] = def.move[2] = 8.0;
    shape* where = NULL;
    field push;
    treacle_field push_def = {.kind = TREACLE_FIELD_CONSTANT, .value_a = {2.0, 0.0, -1.0}};
    assert_int_equal(shape_create(p.ctx, &def, &where), TREACLE_OK);
    assert_int_equal(field_init(p.ctx, &push_def, AXES, &push), TREACLE_OK);
    force_field fields = {where, &push, 3.0};
    params.field_count = 1;
    params.fields = &fields;
    force_apply(&params, p.u);
    double sum = 0.0;
    for (size_t i = 0; i < p.values; ++i) {
        assert_true(p.u[0][i] == 0.0f || fabsf(p.u[0][i] - 0.06f) < 1e-7f);
        assert_true(p.u[1][i] == 0.0f);
        sum += (double)p.u[2][i];
    }
    // Across z the box from 6 to 10 holds the faces 7, 8, 9 inside, and 4 x 4 cells across them;
    // those on its own faces may fall to either side.
    assert_in_range((unsigned)lround(-sum / 0.03), 48, 80);
    field_finish(&push);
    shape_destroy(where);
    end_pool(&p);
}

static void test_what_has_lost_its_weight_does_not_fall(void** state) {
    (void)state;
    pool p = make_pool();
    for (size_t i = 0; i < p.values; ++i) {
        p.buoyancy[i] = 1.0f;
    }
    force_params params = params_of(&p);
    params.cell_buoyancy = p.buoyancy;
    force_apply(&params, p.u);
    for (size_t i = 0; i < p.values - TILE_CELLS; ++i) {
        assert_true(p.u[1][i] == 0.0f);
    }
    end_pool(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gravity_adds_the_same_bits_everywhere),
        cmocka_unit_test(test_a_field_acts_only_in_its_shape),
        cmocka_unit_test(test_what_has_lost_its_weight_does_not_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
