// Sorting in place: any count and size of items comes out in order.
#include "base/sort.h"
#include "math/hash_random.h"
#include "unit.h"

enum { MOST = 300 };

typedef struct pair {
    int64_t key, place;
    char more[5];
} pair;

static int compare_pairs(const void* a, const void* b) {
    const pair *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->place > y->place) - (x->place < y->place);
}

static void test_items_come_out_in_order(void** state) {
    (void)state;
    for (int count = 0; count < MOST; ++count) {
        pair items[MOST] = {{0}};
        bool is_found[MOST] = {0};
        for (int i = 0; i < count; ++i) {
            double key = 50.0 * hash_random_f64(7, (uint64_t)i, RANDOM_TEST);
            items[i] = (pair){.key = (int64_t)key, .place = i, .more = "more"};
        }
        sort_items(items, (size_t)count, sizeof(*items), compare_pairs);
        for (int i = 0; i < count; ++i) {
            assert_true(i == 0 || compare_pairs(&items[i - 1], &items[i]) < 0);
            assert_string_equal(items[i].more, "more");
            assert_false(is_found[items[i].place]);
            is_found[items[i].place] = true;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_come_out_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
