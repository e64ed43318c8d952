#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/linop_conform.h"
#include "solve/block_ldl.h"
#include "unit/alloc_failure.h"

// Nodes on a grid of nx * ny * nz, linked to all neighbours by random springs.
typedef struct lattice {
    int32_t count;
    int64_t entries;
    double (*position)[3];
    int32_t (*entry)[2];
    ldl_block* value;
    ldl_block* diagonal;
} lattice;

// Adds w (e_i - e_j)(e_i - e_j)^T with random 6-vectors as e.
static void add_spring(lattice* l, int32_t i, int32_t j, int64_t n) {
    for (int64_t k = 0; k < 4; ++k) {
        double a[BLOCK_SIZE], b[BLOCK_SIZE];
        for (int r = 0; r < BLOCK_SIZE; ++r) {
            a[r] = conform_random((uint64_t)(100 * n + 12 * k + r));
            b[r] = conform_random((uint64_t)(100 * n + 12 * k + 6 + r));
        }
        for (int r = 0; r < BLOCK_SIZE; ++r) {
            for (int c = 0; c < BLOCK_SIZE; ++c) {
                l->diagonal[i].at[r][c] += a[r] * a[c];
                l->diagonal[j].at[r][c] += b[r] * b[c];
                l->value[n].at[r][c] += a[r] * b[c];
            }
        }
    }
    l->entry[n][0] = i;
    l->entry[n][1] = j;
}

static lattice lattice_create(int nx, int ny, int nz, double mass) {
    lattice l = {.count = nx * ny * nz};
    l.position = calloc((size_t)l.count, sizeof(*l.position));
    l.entry = calloc((size_t)l.count * 3, sizeof(*l.entry));
    l.value = calloc((size_t)l.count * 3, sizeof(*l.value));
    l.diagonal = calloc((size_t)l.count, sizeof(*l.diagonal));
    for (int32_t i = 0; i < l.count; ++i) {
        const int at[3] = {i % nx, i / nx % ny, i / nx / ny};
        const int32_t stride[3] = {1, nx, nx * ny};
        for (int a = 0; a < 3; ++a) {
            l.position[i][a] = at[a];
            if (at[a] > 0) {
                add_spring(&l, i, i - stride[a], l.entries++);
            }
        }
        for (int r = 0; r < BLOCK_SIZE; ++r) {
            l.diagonal[i].at[r][r] += mass;
        }
    }
    return l;
}

static void lattice_destroy(lattice* l) {
    free(l->position);
    free(l->entry);
    free(l->value);
    free(l->diagonal);
}

static ldl_matrix matrix_of(const lattice* l) {
    return (ldl_matrix){.count = l->count,
                        .position = (const double(*)[3])l->position,
                        .entry_count = l->entries,
                        .entry = (const int32_t(*)[2])l->entry,
                        .value = l->value,
                        .diagonal = l->diagonal};
}

static void multiply(const lattice* l, const double* x, double* y) {
    memset(y, 0, (size_t)l->count * BLOCK_SIZE * sizeof(double));
    for (int32_t i = 0; i < l->count; ++i) {
        for (int r = 0; r < BLOCK_SIZE; ++r) {
            for (int c = 0; c < BLOCK_SIZE; ++c) {
                y[6 * i + r] += l->diagonal[i].at[r][c] * x[6 * i + c];
            }
        }
    }
    for (int64_t e = 0; e < l->entries; ++e) {
        int32_t i = l->entry[e][0], j = l->entry[e][1];
        for (int r = 0; r < BLOCK_SIZE; ++r) {
            for (int c = 0; c < BLOCK_SIZE; ++c) {
                y[6 * i + r] += l->value[e].at[r][c] * x[6 * j + c];
                y[6 * j + c] += l->value[e].at[r][c] * x[6 * i + r];
            }
        }
    }
}

static double largest_error(treacle_context* ctx, int nx, int ny, int nz) {
    lattice l = lattice_create(nx, ny, nz, 0.1);
    ldl_matrix matrix = matrix_of(&l);
    block_ldl* ldl = NULL;
    size_t length = (size_t)l.count * BLOCK_SIZE;
    double *x = malloc(length * sizeof(double)), *y = malloc(length * sizeof(double)), worst = 0.0;
    for (size_t i = 0; i < length; ++i) {
        x[i] = conform_random(i);
    }
    multiply(&l, x, y);
    assert_int_equal(block_ldl_create(ctx, &matrix, &ldl), TREACLE_OK);
    block_ldl_solve(ldl, y);
    for (size_t i = 0; i < length; ++i) {
        worst = fmax(worst, fabs(x[i] - y[i]));
    }
    block_ldl_destroy(ldl);
    free(x);
    free(y);
    lattice_destroy(&l);
    return worst;
}

static treacle_context* context_create(treacle_isa isa) {
    treacle_context_def def = treacle_context_def_default();
    def.isa = isa;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

static void test_solves_lattices_of_every_shape(void** state) {
    (void)state;
    treacle_context* ctx = context_create(TREACLE_ISA_AUTO);
    assert_true(largest_error(ctx, 1, 1, 1) < 1e-12);
    assert_true(largest_error(ctx, 300, 1, 1) < 1e-9);
    assert_true(largest_error(ctx, 20, 1, 17) < 1e-9);
    assert_true(largest_error(ctx, 7, 8, 9) < 1e-9);
    treacle_context_destroy(ctx);
}

static void test_a_line_has_almost_no_fill(void** state) {
    (void)state;
    treacle_context* ctx = context_create(TREACLE_ISA_AUTO);
    lattice l = lattice_create(400, 1, 1, 1.0);
    ldl_matrix matrix = matrix_of(&l);
    block_ldl* ldl = NULL;
    assert_int_equal(block_ldl_create(ctx, &matrix, &ldl), TREACLE_OK);
    assert_true(block_ldl_fill(ldl) < 4 * 400);
    block_ldl_destroy(ldl);
    lattice_destroy(&l);
    treacle_context_destroy(ctx);
}

static void test_directions_that_nothing_holds_stay_zero(void** state) {
    (void)state;
    treacle_context* ctx = context_create(TREACLE_ISA_AUTO);
    double position[1][3] = {{0}};
    ldl_block diagonal = {0};
    diagonal.at[0][0] = diagonal.at[0][1] = diagonal.at[1][0] = diagonal.at[1][1] = 2.0;
    diagonal.at[3][3] = 4.0;
    ldl_matrix matrix = {
        .count = 1, .position = (const double(*)[3])position, .diagonal = &diagonal};
    block_ldl* ldl = NULL;
    double y[BLOCK_SIZE] = {2.0, 2.0, 7.0, 8.0, 0.0, 1.0};
    assert_int_equal(block_ldl_create(ctx, &matrix, &ldl), TREACLE_OK);
    block_ldl_solve(ldl, y);
    const double want[BLOCK_SIZE] = {1.0, 0.0, 0.0, 2.0, 0.0, 0.0};
    for (int r = 0; r < BLOCK_SIZE; ++r) {
        assert_true(y[r] == want[r]);
    }
    block_ldl_destroy(ldl);
    treacle_context_destroy(ctx);
}

static void test_instruction_sets_give_the_same_bits(void** state) {
    (void)state;
    double error[2];
    for (int n = 0; n < 2; ++n) {
        treacle_context* ctx = context_create(n == 0 ? TREACLE_ISA_SSE2 : TREACLE_ISA_AUTO);
        error[n] = largest_error(ctx, 6, 5, 7);
        treacle_context_destroy(ctx);
    }
    assert_true(error[0] == error[1]);
}

static treacle_status factor_once(treacle_context* ctx, void* data) {
    ldl_matrix matrix = matrix_of(data);
    block_ldl* ldl = NULL;
    treacle_status status = block_ldl_create(ctx, &matrix, &ldl);
    block_ldl_destroy(ldl);
    return status;
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    lattice l = lattice_create(5, 5, 2, 1.0);
    ALLOC_FAILURE_CHECK(factor_once, &l);
    lattice_destroy(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves_lattices_of_every_shape),
        cmocka_unit_test(test_a_line_has_almost_no_fill),
        cmocka_unit_test(test_directions_that_nothing_holds_stay_zero),
        cmocka_unit_test(test_instruction_sets_give_the_same_bits),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
