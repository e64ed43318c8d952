// The ledger: who has memory, now and at the peak.
#include "base/ledger.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "unit/unit.h"

static ledger* make_ledger(void) {
    ledger* l = calloc(1, sizeof(*l));
    assert_non_null(l);
    return l;
}

static const ledger_owner* find(const ledger* l, const char* name) {
    const ledger_owner* found = NULL;
    for (int i = 0; i < l->owner_count; ++i) {
        found = strcmp(l->owner[i].name, name) == 0 ? &l->owner[i] : found;
    }
    assert_non_null(found);
    return found;
}

static void test_the_peak_is_kept_by_owner(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    ledger* l = make_ledger();
    void *a, *b, *c;
    int order[LEDGER_OWNERS];
    ctx->ledger = l;
    assert_int_equal(alloc_array(ctx, 1000, 64, "wood", &a), TREACLE_OK);
    assert_int_equal(alloc_array(ctx, 3000, 64, "stone", &b), TREACLE_OK);
    alloc_free(ctx, a, 64000);
    assert_int_equal(alloc_array(ctx, 500, 64, "wood", &c), TREACLE_OK);
    assert_int_equal(l->bytes_at_peak, 4000 * 64);
    assert_int_equal(find(l, "wood")->bytes, 500 * 64);
    assert_int_equal(find(l, "wood")->bytes_at_peak, 1000 * 64);
    assert_int_equal(find(l, "stone")->bytes_at_peak, 3000 * 64);
    assert_int_equal(ledger_rank(l, order), 2);
    assert_string_equal(l->owner[order[0]].name, "stone");
    alloc_free(ctx, b, 192000);
    alloc_free(ctx, c, 32000);
    assert_int_equal(l->bytes, 0);
    assert_int_equal(l->bytes_at_peak, treacle_context_memory_peak(ctx));
    unit_context_end(ctx);
    free(l);
}

static void test_scratch_goes_by_the_name_of_who_has_it(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    ledger* l = make_ledger();
    arena scratch;
    void* block = NULL;
    ctx->ledger = l;
    arena_init(&scratch, ctx);
    assert_int_equal(arena_take(&scratch, 1 << 20, 1, "a field", &block), TREACLE_OK);
    arena_give(&scratch, block);
    assert_int_equal(arena_end_step(&scratch), TREACLE_OK);
    assert_int_equal(find(l, "a field")->bytes, 0);
    assert_int_equal(find(l, "the scratch memory of a step")->bytes, 1 << 20);
    assert_int_equal(arena_take(&scratch, 1 << 18, 1, "a field", &block), TREACLE_OK);
    assert_int_equal(find(l, "a field")->bytes, 1 << 18);
    assert_int_equal(find(l, "the scratch memory of a step")->bytes, 3 << 18);
    arena_give(&scratch, block);
    arena_finish(&scratch);
    assert_int_equal(l->bytes, 0);
    unit_context_end(ctx);
    free(l);
}

// As many blocks as there are places, and more, in an order that is not that of their addresses.
static void test_a_full_table_is_no_harm(void** state) {
    (void)state;
    enum { MORE = LEDGER_BLOCKS + 100 };
    ledger* l = make_ledger();
    const char* base = (const char*)l; // addresses alone: nothing is read there
    for (size_t i = 0; i < MORE; ++i) {
        ledger_take(l, base + 64 * (i * 7919 % MORE), i % 2 == 0 ? "even" : "odd", 1);
    }
    assert_int_equal(l->bytes, LEDGER_BLOCKS);
    assert_int_equal(l->overflow, 100);
    for (size_t i = 0; i < MORE; ++i) {
        ledger_give(l, base + 64 * i);
    }
    assert_int_equal(l->bytes, 0);
    assert_true(find(l, "even")->bytes == 0 && find(l, "odd")->bytes == 0);
    free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_peak_is_kept_by_owner),
        cmocka_unit_test(test_scratch_goes_by_the_name_of_who_has_it),
        cmocka_unit_test(test_a_full_table_is_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
