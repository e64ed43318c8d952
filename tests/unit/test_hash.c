#include "unit.h"

#include "base/hash.h"
#include "math/hash_random.h"

static void test_byte_hashes_are_those_of_xxh3(void** state) {
    (void)state;
    assert_true(hash_bytes("", 0, 0) == 0x2d06800538d394c2u);
    assert_true(hash_bytes("honey", 5, 0) != hash_bytes("honey", 5, 1));
    assert_true(hash_bytes("honey", 5, 0) != hash_bytes("hones", 5, 0));
}

static void test_one_bit_flips_half_of_the_bits(void** state) {
    (void)state;
    for (int bit = 0; bit < 64; ++bit) {
        int flips = 0;
        for (uint64_t i = 0; i < 1000; ++i) {
            flips += __builtin_popcountll(hash_u64(i) ^ hash_u64(i ^ (uint64_t)1 << bit));
        }
        assert_close(flips / 1000.0, 32.0, 1.0);
    }
}

static void test_the_order_counts_in_combinations(void** state) {
    (void)state;
    assert_true(hash_combine(1, 2) != hash_combine(2, 1));
    assert_true(hash_combine(0, 0) != 0);
    assert_true(hash_combine(hash_combine(1, 2), 3) != hash_combine(1, hash_combine(2, 3)));
}

static void test_random_numbers_are_uniform(void** state) {
    (void)state;
    enum { COUNT = 100000, BINS = 20 };
    int bins[BINS] = {0}, float_bins[BINS] = {0};
    for (uint64_t id = 0; id < COUNT; ++id) {
        double u = hash_random_f64(7, id, RANDOM_JITTER_X);
        float f = hash_random_f32(7, id, RANDOM_JITTER_Y);
        assert_true(u >= 0.0 && u < 1.0 && f >= 0.0f && f < 1.0f);
        bins[(int)(u * BINS)] += 1;
        float_bins[(int)(f * BINS)] += 1;
    }
    double expected = (double)COUNT / BINS, chi = 0.0, float_chi = 0.0;
    for (int i = 0; i < BINS; ++i) {
        chi += (bins[i] - expected) * (bins[i] - expected) / expected;
        float_chi += (float_bins[i] - expected) * (float_bins[i] - expected) / expected;
    }
    assert_true(chi < 43.8 && float_chi < 43.8); // 19 degrees of freedom, one in a thousand
}

static void test_purposes_ids_and_seeds_are_independent(void** state) {
    (void)state;
    enum { COUNT = 50000 };
    double by_purpose = 0.0, by_id = 0.0, by_seed = 0.0;
    for (uint64_t id = 0; id < COUNT; ++id) {
        double u = hash_random_f64(1, id, RANDOM_JITTER_X) - 0.5;
        by_purpose += u * (hash_random_f64(1, id, RANDOM_JITTER_Y) - 0.5);
        by_id += u * (hash_random_f64(1, id + 1, RANDOM_JITTER_X) - 0.5);
        by_seed += u * (hash_random_f64(2, id, RANDOM_JITTER_X) - 0.5);
    }
    double limit = 4.0 * sqrt((double)COUNT) / 12.0; // four standard deviations
    assert_close(by_purpose, 0.0, limit);
    assert_close(by_id, 0.0, limit);
    assert_close(by_seed, 0.0, limit);
}

// Scenes mean these very numbers.
static void test_random_numbers_never_change(void** state) {
    (void)state;
    assert_true(hash_random_bits(0, 0, RANDOM_JITTER_X) == 0xed10172cc0c96cf8u);
    assert_true(hash_random_bits(42, (uint64_t)3 << 48 | 17, RANDOM_EMIT_Z) == 0xf238e1c011013bf9u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_hashes_are_those_of_xxh3),
        cmocka_unit_test(test_one_bit_flips_half_of_the_bits),
        cmocka_unit_test(test_the_order_counts_in_combinations),
        cmocka_unit_test(test_random_numbers_are_uniform),
        cmocka_unit_test(test_purposes_ids_and_seeds_are_independent),
        cmocka_unit_test(test_random_numbers_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
