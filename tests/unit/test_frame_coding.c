// What picture frames keep of positions, velocities and ids, and in how many bytes.
#include "cache/frame_coding.h"

#include "treacle/scene.h"
#include "treacle/sim.h"
#include "unit/unit.h"

#include "unit/frame_fixture.h"

enum { COUNT = 3 * 1000 + 1 };

static uint32_t random_state = 1;
static double next_random(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return (double)(random_state >> 8) / (double)(1u << 24);
}

// Packs and unpacks; returns the packed bytes.
static size_t go_round(frame_coding coding, const void* raw, size_t bytes, void* out) {
    uint8_t* packed = malloc(bytes + 1);
    assert_non_null(packed);
    size_t size = frame_coding_pack(coding, raw, bytes, packed);
    assert_true(size > 0 && size <= bytes);
    assert_true(frame_coding_unpack(coding, packed, size, out, bytes));
    assert_false(size > 1 && frame_coding_unpack(coding, packed, size - 1, out, bytes));
    assert_true(frame_coding_unpack(coding, packed, size, out, bytes));
    free(packed);
    return size;
}

static void test_places_stay_in_their_cells(void** state) {
    (void)state;
    static float x[COUNT], y[COUNT], z[COUNT];
    const float edges[] = {0.0f,  -0.0f, 1e-30f,    -1e-30f, 7.9999995f, 8.0f, 3.9999998f,
                           -4.0f, -1.0f, 11.99999f, 0.5f,    1e-45f,     7.0f, 5.5f};
    enum { EDGES = sizeof(edges) / sizeof(edges[0]) };
    for (int k = 0; k < COUNT; ++k) {
        x[k] = k < EDGES ? edges[k] : (float)(8.0 * next_random());
    }
    for (int from = 0; from < 3; ++from) { // a chunk may begin with any component
        size_t bytes = (COUNT - (size_t)from) * sizeof(float);
        go_round(FRAME_PLACES, x + from, bytes, y + from);
        for (int k = from; k < COUNT; ++k) {
            assert_true(fabs((double)x[k] - (double)y[k]) <= 1.0 / 16384.0);
            assert_true(floorf(x[k]) == floorf(y[k]));
        }
        go_round(FRAME_PLACES, y + from, bytes, z + from);
        assert_memory_equal(y + from, z + from, bytes);
    }
}

static void test_an_axis_of_one_cell_is_exact(void** state) {
    (void)state;
    static float x[COUNT], y[COUNT];
    for (int k = 0; k < COUNT; ++k) {
        x[k] = k % 3 == 2 ? 0.5f : (float)(8.0 * next_random());
    }
    go_round(FRAME_PLACES, x, sizeof(x), y);
    for (int k = 2; k < COUNT; k += 3) {
        assert_true(y[k] == 0.5f);
    }
}

static void test_places_that_do_not_fit_stay_plain(void** state) {
    (void)state;
    const float bad[] = {12.0f, -4.0001f, 1e30f, NAN, INFINITY, -INFINITY};
    float x[30];
    uint8_t packed[sizeof(x)];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        for (int k = 0; k < 30; ++k) {
            x[k] = k == 17 ? bad[i] : 0.1f * (float)k;
        }
        assert_int_equal(frame_coding_pack(FRAME_PLACES, x, sizeof(x), packed), 0);
    }
}

static void test_speeds_keep_their_share_of_the_fastest(void** state) {
    (void)state;
    static float v[COUNT], w[COUNT];
    const double scales[] = {1e-36, 1e-6, 1.0, 4.0, 1e4, 1e30};
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); ++s) {
        for (int k = 0; k < COUNT; ++k) {
            double lively = k / 768 == 1 ? 100.0 : 1.0; // one block is faster than the others
            v[k] = (float)(scales[s] * lively * (2.0 * next_random() - 1.0));
        }
        v[5] = 0.0f;
        go_round(FRAME_SPEEDS, v, sizeof(v), w);
        for (int begin = 0; begin < COUNT; begin += 768) {
            int end = begin + 768 < COUNT ? begin + 768 : COUNT;
            float most = 0.0f;
            for (int k = begin; k < end; ++k) {
                most = fmaxf(most, fabsf(v[k]));
            }
            for (int k = begin; k < end; ++k) {
                assert_true(fabs((double)v[k] - (double)w[k]) <= (double)most / 4096.0);
            }
        }
        assert_true(w[5] == 0.0f);
    }
}

static void test_still_and_broken_speeds_come_back(void** state) {
    (void)state;
    static float v[COUNT], w[COUNT];
    assert_true(go_round(FRAME_SPEEDS, v, sizeof(v), w) <= 8); // nothing moves
    assert_memory_equal(v, w, sizeof(v));
    v[1000] = NAN;
    v[1001] = 1e-44f;
    v[1002] = INFINITY;
    go_round(FRAME_SPEEDS, v, sizeof(v), w);
    assert_memory_equal(v, w, sizeof(v));
    memset(v, 0, sizeof(v));
    v[3] = 1e-44f; // too small for steps
    go_round(FRAME_SPEEDS, v, sizeof(v), w);
    assert_memory_equal(v, w, sizeof(v));
}

static void test_ids_come_back(void** state) {
    (void)state;
    static uint64_t id[COUNT], got[COUNT];
    for (int k = 0; k < COUNT; ++k) {
        id[k] = (uint64_t)(next_random() * 3.0) << 48 | (uint64_t)(1e6 * next_random());
    }
    size_t size = go_round(FRAME_IDS, id, sizeof(id), got);
    assert_memory_equal(id, got, sizeof(id));
    assert_true((double)size < 2.9 * COUNT); // 20 bits and 2 for the source
    id[7] = UINT64_MAX;
    id[8] = 0;
    go_round(FRAME_IDS, id, sizeof(id), got);
    assert_memory_equal(id, got, sizeof(id));
}

static void test_any_bytes_are_refused_or_unpacked(void** state) {
    (void)state;
    uint8_t bytes[200];
    static uint64_t out[3000];
    for (int i = 0; i < 20000; ++i) {
        size_t size = (size_t)(1.0 + 199.0 * next_random());
        for (size_t k = 0; k < size; ++k) {
            bytes[k] = (uint8_t)(next_random() < 0.5 ? 0.0 : 255.0 * next_random());
        }
        frame_coding coding = (frame_coding)(1 + i % 3);
        size_t raw = 8 * (size_t)(3000.0 * next_random());
        (void)!frame_coding_unpack(coding, bytes, size, out, raw);
    }
}

// --- in files ------------------------------------------------------------------------------------

static const char splash[] =
    "domain: {size: [0.24, 0.24, 0.24], cell: 1 cm}\n"
    "liquids: [{shape: {box: {min: [0, 0, 0], max: [0.1, 0.16, 0.24]}}}]\n";

static treacle_sim* splash_begin(treacle_context* ctx, treacle_scene** scene) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    assert_int_equal(treacle_scene_parse(ctx, "a.yaml", splash, strlen(splash), 0, NULL, scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(*scene), &sim), TREACLE_OK);
    while (treacle_sim_time(sim) < 0.2) {
        assert_int_equal(treacle_sim_step(sim, 0.2 - treacle_sim_time(sim), &stats), TREACLE_OK);
    }
    return sim;
}

static void compare(const treacle_frame* got, const treacle_frame* want) {
    const treacle_array *x = treacle_frame_find(want, "position"),
                        *y = treacle_frame_find(got, "position"),
                        *v = treacle_frame_find(want, "velocity"),
                        *w = treacle_frame_find(got, "velocity");
    const float *wanted = x->data, *found = y->data, *speed = v->data, *kept = w->data;
    float most = 0.0f;
    for (int64_t k = 0; k < 3 * x->count; ++k) {
        assert_true(fabs((double)wanted[k] - (double)found[k]) <= 1.0 / 16384.0);
        most = fmaxf(most, fabsf(speed[k]));
    }
    for (int64_t k = 0; k < 3 * x->count; ++k) {
        assert_true(fabs((double)speed[k] - (double)kept[k]) <= (double)most / 4096.0);
    }
    assert_memory_equal(treacle_frame_find(got, "id")->data, treacle_frame_find(want, "id")->data,
                        (size_t)x->count * sizeof(uint64_t));
}

// Twelve bytes a particle, all of the file included, of liquid that splashes.
static void test_a_frame_takes_twelve_bytes_a_particle(void** state) {
    (void)state;
    char folder[FIXTURE_PATH], path[FIXTURE_PATH + 32];
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_loaded_frame* loaded = NULL;
    uint8_t* bytes = NULL;
    treacle_frame frame;
    treacle_sim* sim = splash_begin(ctx, &scene);
    fixture_folder(folder);
    snprintf(path, sizeof(path), "%s/frame_0001.trf", folder);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    assert_int_equal(treacle_frame_write(ctx, &frame, path), TREACLE_OK);
    double count = (double)treacle_frame_find(&frame, "id")->count;
    double size = (double)fixture_bytes(path, &bytes);
    print_message("%.2f bytes a particle\n", size / count);
    assert_true(size < 12.0 * count);
    free(bytes);
    assert_int_equal(treacle_frame_read(ctx, path, &loaded), TREACLE_OK);
    compare(treacle_loaded_frame_view(loaded), &frame);
    treacle_loaded_frame_destroy(loaded);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_stay_in_their_cells),
        cmocka_unit_test(test_an_axis_of_one_cell_is_exact),
        cmocka_unit_test(test_places_that_do_not_fit_stay_plain),
        cmocka_unit_test(test_speeds_keep_their_share_of_the_fastest),
        cmocka_unit_test(test_still_and_broken_speeds_come_back),
        cmocka_unit_test(test_ids_come_back),
        cmocka_unit_test(test_any_bytes_are_refused_or_unpacked),
        cmocka_unit_test(test_a_frame_takes_twelve_bytes_a_particle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
