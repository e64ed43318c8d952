// A tree of nodes is whole as it is built, and not once a link, a key or a count is wrong.
#include "unit.h"

#include "scene/scene_node.h"

static const scene_file file = {.name = "a.yaml"};
static const scene_place place = {&file, 1, 1};

// root: {liquid: {colour: red}, sizes: [1, 2]}
typedef struct tree {
    scene_node root, liquid, colour, sizes, one, two;
} tree;

static scene_node make(scene_node_kind kind, const char* key, const char* text) {
    return (scene_node){.kind = kind, .place = place, .key = key, .text = text};
}

static void grow(tree* t) {
    *t = (tree){.root = make(NODE_MAP, NULL, NULL),
                .liquid = make(NODE_MAP, "liquid", NULL),
                .colour = make(NODE_SCALAR, "colour", "red"),
                .sizes = make(NODE_LIST, "sizes", NULL),
                .one = make(NODE_SCALAR, NULL, "1"),
                .two = make(NODE_SCALAR, NULL, "2")};
    scene_node_append(&t->root, &t->liquid);
    scene_node_append(&t->root, &t->sizes);
    scene_node_append(&t->liquid, &t->colour);
    scene_node_append(&t->sizes, &t->one);
    scene_node_append(&t->sizes, &t->two);
    assert_true(scene_node_is_valid(&t->root));
}

static void test_trees_stay_whole_while_nodes_come_and_go(void** state) {
    (void)state;
    tree t;
    grow(&t);
    scene_node_remove(&t.sizes, &t.two);
    assert_true(scene_node_is_valid(&t.root));
    assert_int_equal(t.sizes.count, 1);
    scene_node blue = make(NODE_SCALAR, NULL, "blue");
    scene_node_replace(&t.liquid, &t.colour, &blue);
    assert_true(scene_node_is_valid(&t.root));
    assert_ptr_equal(scene_node_find(&t.liquid, "colour"), &blue);
}

#define assert_breaks(change)                                                                      \
    do {                                                                                           \
        tree t;                                                                                    \
        grow(&t);                                                                                  \
        change;                                                                                    \
        assert_false(scene_node_is_valid(&t.root));                                                \
    } while (0)

static void test_broken_trees_are_seen(void** state) {
    (void)state;
    assert_breaks(t.root.count = 3);
    assert_breaks(t.root.count = 1);
    assert_breaks(t.sizes.last = &t.one);
    assert_breaks(t.sizes.first = NULL);
    assert_breaks(t.two.next = &t.one); // in a ring
    assert_breaks(t.liquid.key = NULL);
    assert_breaks(t.liquid.key = "sizes"); // twice
    assert_breaks(t.one.key = "first");    // in a list
    assert_breaks(t.colour.text = NULL);
    assert_breaks(t.colour.count = 1);
    assert_breaks(t.colour.first = &t.one);
    assert_breaks(t.two.place.file = NULL);
}

static void test_trees_that_are_too_deep_are_seen(void** state) {
    (void)state;
    scene_node level[SCENE_DEPTH_MAX + 2];
    level[0] = make(NODE_LIST, NULL, NULL);
    for (int i = 1; i < SCENE_DEPTH_MAX + 2; ++i) {
        level[i] = make(NODE_LIST, NULL, NULL);
        scene_node_append(&level[i - 1], &level[i]);
        assert_int_equal(scene_node_is_valid(&level[0]), i <= SCENE_DEPTH_MAX);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees_stay_whole_while_nodes_come_and_go),
        cmocka_unit_test(test_broken_trees_are_seen),
        cmocka_unit_test(test_trees_that_are_too_deep_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
