// What the transfers keep, on one block, in double and float [S19 eq. 13-19; SUITE 13].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "unit.h"

#include "phys/transfer.h"

enum { COUNT = 200 };

typedef struct cloud {
    double x[COUNT][3], u[3][COUNT], c[3][COUNT][3];
} cloud;

// A repeatable number in [-1, 1).
static double noise(uint64_t i) {
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i ^= i >> 31;
    i *= 0xbf58476d1ce4e5b9u;
    i ^= i >> 29;
    return (double)(i >> 11) * 0x1p-52 - 1.0;
}

static cloud random_cloud(void) {
    cloud p;
    for (int i = 0; i < COUNT; ++i) {
        for (int a = 0; a < 3; ++a) {
            p.x[i][a] = 4.0 + 2.0 * noise((uint64_t)(7 * i + a));
            p.u[a][i] = noise((uint64_t)(1000 + 7 * i + a));
            for (int b = 0; b < 3; ++b) {
                p.c[a][i][b] = noise((uint64_t)(9000 + 21 * i + 3 * a + b));
            }
        }
    }
    return p;
}

static transfer_place place_of(treacle_kernel kernel, int a) {
    transfer_place place = {
        .kernel = kernel, .is_active = {true, true, true}, .offset = {0.5, 0.5, 0.5}};
    place.offset[a] = 0.0;
    return place;
}

typedef struct totals {
    double mass, momentum[3], angular[3];
} totals;

// Sums over the samples of component a of a block of pairs.
static void add_totals(const double* block, const transfer_place* place, int a, totals* sum) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    for (int i = 0; i < BLOCK_CELLS; ++i) {
        double at[3] = {i % BLOCK_SIZE - BLOCK_HALO + place->offset[0],
                        i / BLOCK_SIZE % BLOCK_SIZE - BLOCK_HALO + place->offset[1],
                        i / BLOCK_SIZE / BLOCK_SIZE - BLOCK_HALO + place->offset[2]};
        double momentum = block[2 * i];
        sum->mass += block[2 * i + 1];
        sum->momentum[a] += momentum;
        sum->angular[b] += at[c] * momentum; // x cross e_a
        sum->angular[c] -= at[b] * momentum;
    }
}

// Scatters the cloud; if `back`, gathers it again afterwards.
static totals there_and_back(cloud* p, treacle_kernel kernel, bool is_affine, bool back) {
    totals sum = {0};
    for (int a = 0; a < 3; ++a) {
        static double pairs[2 * BLOCK_CELLS + BLOCK_TAIL], block[BLOCK_CELLS + BLOCK_TAIL];
        transfer_place place = place_of(kernel, a);
        double zero[COUNT][3] = {{0}};
        transfer_scatter_double(COUNT, p->x[0], p->u[a], is_affine ? p->c[a][0] : zero[0], &place,
                                pairs);
        add_totals(pairs, &place, a, &sum);
        for (int i = 0; i < BLOCK_CELLS; ++i) {
            block[i] = pairs[2 * i + 1] > 1e-12 ? pairs[2 * i] / pairs[2 * i + 1] : 0.0;
        }
        if (back) {
            transfer_gather_double(COUNT, p->x[0], p->u[a], p->c[a][0], &place, block);
        }
    }
    return sum;
}

static void test_mass_and_momentum_arrive_whole(void** state) {
    (void)state;
    for (int kernel = TREACLE_KERNEL_LINEAR; kernel <= TREACLE_KERNEL_WIDE; ++kernel) {
        cloud p = random_cloud();
        totals sum = there_and_back(&p, (treacle_kernel)kernel, true, false);
        assert_close(sum.mass, 3.0 * COUNT, 1e-10);
        for (int a = 0; a < 3; ++a) {
            double momentum = 0.0;
            for (int i = 0; i < COUNT; ++i) {
                momentum += p.u[a][i];
            }
            assert_close(sum.momentum[a], momentum, 1e-11);
        }
    }
}

static double angular_loss(treacle_kernel kernel, bool is_affine) {
    cloud p = random_cloud();
    totals before = there_and_back(&p, kernel, is_affine, true);
    totals after = there_and_back(&p, kernel, is_affine, true);
    double loss = 0.0, size = 0.0;
    for (int a = 0; a < 3; ++a) {
        loss += (after.angular[a] - before.angular[a]) * (after.angular[a] - before.angular[a]);
        size += before.angular[a] * before.angular[a];
    }
    return sqrt(loss / size);
}

static void test_apic_keeps_angular_momentum_and_pic_loses_it(void** state) {
    (void)state;
    for (int kernel = TREACLE_KERNEL_LINEAR; kernel <= TREACLE_KERNEL_WIDE; ++kernel) {
        assert_true(angular_loss((treacle_kernel)kernel, true) < 1e-12);
        assert_true(angular_loss((treacle_kernel)kernel, false) > 1e-3);
    }
}

static double linear_field(int a, const double x[3]) {
    return 0.3 * (a + 1) + 0.7 * x[0] - (1.1 + a) * x[1] + 0.2 * x[2];
}

static void test_linear_fields_come_back_exactly(void** state) {
    (void)state;
    for (int kernel = TREACLE_KERNEL_LINEAR; kernel <= TREACLE_KERNEL_WIDE; ++kernel) {
        for (int a = 0; a < 3; ++a) {
            transfer_place place = place_of((treacle_kernel)kernel, a);
            static double block[BLOCK_CELLS + BLOCK_TAIL];
            for (int i = 0; i < BLOCK_CELLS; ++i) {
                double at[3] = {i % BLOCK_SIZE - BLOCK_HALO + place.offset[0],
                                i / BLOCK_SIZE % BLOCK_SIZE - BLOCK_HALO + place.offset[1],
                                i / BLOCK_SIZE / BLOCK_SIZE - BLOCK_HALO + place.offset[2]};
                block[i] = linear_field(a, at);
            }
            cloud p = random_cloud();
            transfer_gather_double(COUNT, p.x[0], p.u[a], p.c[a][0], &place, block);
            for (int i = 0; i < COUNT; ++i) {
                assert_close(p.u[a][i], linear_field(a, p.x[i]), 1e-12);
                assert_close(p.c[a][i][0], 0.7, 1e-12);
                assert_close(p.c[a][i][1], -(1.1 + a), 1e-12);
                assert_close(p.c[a][i][2], 0.2, 1e-12);
            }
        }
    }
}

// The product's float kernels on every instruction set the machine has: equal bits.
static void test_instruction_sets_agree(void** state) {
    (void)state;
    cloud p = random_cloud();
    static float x[COUNT][3], u[COUNT], c[COUNT][3], volume[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        for (int a = 0; a < 3; ++a) {
            x[i][a] = (float)p.x[i][a];
            c[i][a] = (float)p.c[0][i][a];
        }
        u[i] = (float)p.u[0][i];
        volume[i] = 1.0f + (float)i / COUNT;
    }
    transfer_source source = {.count = COUNT,
                              .position = x[0],
                              .value = u,
                              .value_stride = 1,
                              .slope = c[0],
                              .slope_stride = 3,
                              .slope_scale = 0.5f,
                              .reference = 0.1f,
                              .volume = volume,
                              .volume_scale = 1.0f};
    static float block[4][3][2 * BLOCK_CELLS + BLOCK_TAIL], back[4][3][COUNT][4];
    int compared = 0;
    for (int isa = TREACLE_ISA_SSE2; isa <= TREACLE_ISA_AVX512; ++isa) {
        treacle_context_def def = treacle_context_def_default();
        def.threads = 1;
        def.isa = (treacle_isa)isa;
        treacle_context* ctx = NULL;
        if (treacle_context_create(&def, &ctx) != TREACLE_OK) {
            continue;
        }
        for (int kernel = 0; kernel < 3; ++kernel) {
            transfer_place place = place_of((treacle_kernel)kernel, 0);
            transfer_target target = {.count = COUNT,
                                      .position = x[0],
                                      .value = back[isa][kernel][0],
                                      .value_stride = 4,
                                      .slope = back[isa][kernel][0] + 1,
                                      .slope_stride = 4,
                                      .slope_scale = 0.3f};
            ISA_CALL(ctx, transfer_scatter)(&source, &place, block[isa][kernel]);
            ISA_CALL(ctx, transfer_gather)(&target, &place, block[isa][kernel], NULL);
        }
        if (isa > TREACLE_ISA_SSE2) {
            assert_memory_equal(block[isa], block[TREACLE_ISA_SSE2], sizeof(block[isa]));
            assert_memory_equal(back[isa], back[TREACLE_ISA_SSE2], sizeof(back[isa]));
            compared += 1;
        }
        treacle_context_destroy(ctx);
    }
    print_message("compared %d instruction sets with sse2\n", compared);
}

// The last number below 8 is in the tile: its samples must not go past the block's.
static void test_a_particle_at_the_very_end_of_a_tile_stays_in_its_block(void** state) {
    (void)state;
    const float edges[] = {0.0f, 0x1p-30f, 4.0f, nextafterf(8.0f, 0.0f)};
    const treacle_kernel kernels[] = {TREACLE_KERNEL_LINEAR, TREACLE_KERNEL_QUADRATIC,
                                      TREACLE_KERNEL_WIDE};
    enum { USED = 2 * BLOCK_CELLS + BLOCK_TAIL, MORE = 1000 };
    static float block[USED + MORE];
    for (int e = 0; e < 4; ++e) {
        for (int k = 0; k < 3; ++k) {
            const float position[3] = {edges[e], edges[e], edges[e]}, value = 3.0f, volume = 1.0f;
            const uint8_t material = 0;
            transfer_source source = {.count = 1,
                                      .position = position,
                                      .value = &value,
                                      .value_stride = 1,
                                      .volume = &volume,
                                      .volume_scale = 1.0f,
                                      .material = &material};
            transfer_place place = {.kernel = kernels[k], .is_active = {true, true, true}};
            transfer_scatter_sse2(&source, &place, block);
            double sum = 0.0, weight = 0.0;
            for (int i = 0; i < BLOCK_CELLS; ++i) {
                sum += (double)block[2 * i];
                weight += (double)block[2 * i + 1];
            }
            assert_true(fabs(weight - 1.0) < 1e-6 && fabs(sum - 3.0) < 1e-5);
            for (int i = USED; i < USED + MORE; ++i) {
                assert_true(block[i] == 0.0f);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_and_momentum_arrive_whole),
        cmocka_unit_test(test_apic_keeps_angular_momentum_and_pic_loses_it),
        cmocka_unit_test(test_linear_fields_come_back_exactly),
        cmocka_unit_test(test_instruction_sets_agree),
        cmocka_unit_test(test_a_particle_at_the_very_end_of_a_tile_stays_in_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
