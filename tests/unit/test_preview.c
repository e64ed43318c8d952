// Previews: the same bits for every number of threads, near hides far, bad frames are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "render/preview_render.h"
#include "render/preview_view.h"
#include "unit/alloc_failure.h"
#include "unit/frame_fixture.h"

enum { WIDTH = 160, HEIGHT = 90, PARTICLES = 4096, TILES = 8 };

typedef struct pool {
    int64_t first[TILES + 1];
    int32_t coord[TILES][3];
    float position[PARTICLES][3];
    float volume[PARTICLES];
    float colour[PARTICLES][3];
    treacle_array arrays[5];
    treacle_frame frame;
} pool;

// Eight tiles of particles in a domain of 16^3 cells, or 16 x 16 x 1.
static void make_pool(pool* p, bool is_flat) {
    uint8_t* noise = fixture_noise(PARTICLES * 3);
    for (int i = 0; i < PARTICLES; ++i) {
        for (int k = 0; k < 3; ++k) {
            p->position[i][k] = (float)noise[3 * i + k] / 32.0f;
            p->colour[i][k] = (float)noise[3 * i + k] / 255.0f;
        }
        p->position[i][2] = is_flat ? 0.5f : p->position[i][2];
        p->volume[i] = 1e-6f * (0.5f + p->colour[i][0]);
    }
    free(noise);
    for (int t = 0; t < TILES; ++t) {
        p->first[t] = t * (PARTICLES / TILES);
        for (int k = 0; k < 3; ++k) {
            p->coord[t][k] = is_flat && k == 2 ? 0 : t >> k & 1;
        }
    }
    p->first[TILES] = PARTICLES;
    p->arrays[0] = fixture_array("tile_first", TREACLE_TYPE_I64, 1, TILES + 1, p->first);
    p->arrays[1] = fixture_array("tile_coord", TREACLE_TYPE_I32, 3, TILES, p->coord);
    p->arrays[2] = fixture_array("position", TREACLE_TYPE_F32, 3, PARTICLES, p->position);
    p->arrays[3] = fixture_array("volume", TREACLE_TYPE_F32, 1, PARTICLES, p->volume);
    p->arrays[4] = fixture_array("colour", TREACLE_TYPE_F32, 3, PARTICLES, p->colour);
    p->frame = fixture_frame(p->arrays, 5);
    p->frame.kind = TREACLE_FRAME_PICTURE;
    for (int k = 0; k < 3; ++k) {
        p->frame.cells[k] = is_flat && k == 2 ? 1 : 16;
    }
}

static treacle_preview_def small_def(void) {
    treacle_preview_def def = treacle_preview_def_default();
    def.width = WIDTH;
    def.height = HEIGHT;
    return def;
}

static image_rgb8 draw(treacle_context* ctx, const treacle_frame* frame) {
    treacle_preview_def def = small_def();
    image_rgb8 image;
    assert_int_equal(preview_render(ctx, frame, &def, &image), TREACLE_OK);
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    return image;
}

static void test_bits_are_equal_for_1_to_4_threads(void** state) {
    (void)state;
    static pool p;
    for (int is_flat = 0; is_flat < 2; ++is_flat) {
        make_pool(&p, is_flat != 0);
        treacle_context* one = fixture_context(1);
        image_rgb8 expected = draw(one, &p.frame);
        for (int threads = 2; threads <= 4; ++threads) {
            treacle_context* ctx = fixture_context(threads);
            image_rgb8 image = draw(ctx, &p.frame);
            assert_memory_equal(image.pixels, expected.pixels, WIDTH * HEIGHT * 3);
            image_destroy(&image);
            treacle_context_destroy(ctx);
        }
        image_destroy(&expected);
        assert_int_equal(treacle_context_memory(one), 0);
        treacle_context_destroy(one);
    }
}

// The colour where a place of the domain (in cells) is seen.
static const uint8_t* pixel_of(const treacle_frame* frame, const image_rgb8* image,
                               const double cells[3]) {
    treacle_preview_def def = small_def();
    preview_box box = preview_box_of(frame);
    preview_view view = preview_view_camera(&def, &box, WIDTH, HEIGHT);
    double place[3];
    for (int k = 0; k < 3; ++k) {
        place[k] = frame->origin[k] + frame->cell * cells[k] - box.centre[k];
    }
    preview_point at = preview_view_project(&view, place);
    assert_true(at.depth > 0.0f && at.x >= 0.0f && at.x < WIDTH && at.y >= 0.0f && at.y < HEIGHT);
    return image_at(image, (int)at.x, (int)at.y);
}

// Two large balls on the line of sight through the middle, the near one in either place of the
// list.
static void test_near_hides_far(void** state) {
    (void)state;
    static pool p;
    make_pool(&p, false);
    treacle_context* ctx = fixture_context(2);
    treacle_preview_def def = small_def();
    preview_box box = preview_box_of(&p.frame);
    preview_view view = preview_view_camera(&def, &box, WIDTH, HEIGHT);
    const int64_t first[2] = {0, 2};
    const float red[3] = {0.9f, 0.05f, 0.05f};
    const float green[3] = {0.05f, 0.8f, 0.05f};
    for (int near = 0; near < 2; ++near) {
        for (int i = 0; i < 2; ++i) {
            double shift = i == near ? -3.0 : 3.0;
            for (int k = 0; k < 3; ++k) {
                p.position[i][k] = (float)(8.0 + shift * view.forward[k]);
            }
            memcpy(p.colour[i], i == 0 ? red : green, sizeof(red));
            p.volume[i] = 8e-6f;
        }
        p.arrays[0] = fixture_array("tile_first", TREACLE_TYPE_I64, 1, 2, first);
        p.arrays[1].count = 1;
        memset(p.coord, 0, sizeof(p.coord));
        p.arrays[2].count = p.arrays[3].count = p.arrays[4].count = 2;
        image_rgb8 image = draw(ctx, &p.frame);
        const double middle[3] = {8.0, 8.0, 8.0};
        const uint8_t* pixel = pixel_of(&p.frame, &image, middle);
        if (near == 0) {
            assert_true(pixel[0] > pixel[1] + 40);
        } else {
            assert_true(pixel[1] > pixel[0] + 40);
        }
        image_destroy(&image);
    }
    treacle_context_destroy(ctx);
}

static void test_the_camera_frames_the_domain(void** state) {
    (void)state;
    const int32_t shapes[][3] = {{16, 16, 16}, {200, 10, 10}, {10, 300, 10}, {64, 64, 1},
                                 {1, 64, 64},  {64, 1, 32},   {1, 1, 8}};
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); ++s) {
        treacle_frame frame = fixture_frame(NULL, 0);
        memcpy(frame.cells, shapes[s], sizeof(frame.cells));
        preview_box box = preview_box_of(&frame);
        treacle_preview_def def = small_def();
        preview_view view = preview_view_camera(&def, &box, WIDTH, HEIGHT);
        double low = 1e9;
        double high = -1e9;
        for (int corner = 0; corner < 8; ++corner) {
            double place[3];
            for (int k = 0; k < 3; ++k) {
                place[k] = preview_box_sign(corner, k) * box.half[k];
            }
            preview_point at = preview_view_project(&view, place);
            assert_true(at.depth > 0.0f);
            assert_true(at.x > 0.0f && at.x < WIDTH && at.y > 0.0f && at.y < HEIGHT);
            low = fmin(low, fmin(at.x / WIDTH, at.y / HEIGHT));
            high = fmax(high, fmax(at.x / WIDTH, at.y / HEIGHT));
        }
        assert_true(low < 0.06 && high > 0.94); // it fills the picture, too
    }
}

static void test_a_flat_domain_is_seen_straight_on(void** state) {
    (void)state;
    for (int flat = 0; flat < 3; ++flat) {
        treacle_frame frame = fixture_frame(NULL, 0);
        for (int k = 0; k < 3; ++k) {
            frame.cells[k] = k == flat ? 1 : 32;
        }
        preview_box box = preview_box_of(&frame);
        treacle_preview_def def = small_def();
        preview_view view = preview_view_camera(&def, &box, WIDTH, HEIGHT);
        assert_float_equal(fabs(view.forward[flat]), 1.0, 1e-12);
    }
}

static void test_an_empty_frame_is_drawn(void** state) {
    (void)state;
    static pool p;
    make_pool(&p, false);
    const int64_t first[1] = {0};
    p.arrays[0] = fixture_array("tile_first", TREACLE_TYPE_I64, 1, 1, first);
    for (int a = 1; a < 5; ++a) {
        p.arrays[a].count = 0;
    }
    treacle_context* ctx = fixture_context(2);
    image_rgb8 image = draw(ctx, &p.frame);
    image_destroy(&image);
    p.frame.array_count = 2; // a simulation that has no particles yet has no columns
    image = draw(ctx, &p.frame);
    image_destroy(&image);
    treacle_context_destroy(ctx);
}

static void refuse(treacle_context* ctx, const pool* p, const char* text) {
    treacle_preview_def def = small_def();
    image_rgb8 image;
    assert_int_equal(preview_render(ctx, &p->frame, &def, &image), TREACLE_ERR_FORMAT);
    assert_non_null(strstr(treacle_context_error(ctx), text));
    assert_int_equal(treacle_context_memory(ctx), 0);
}

static void test_bad_frames_are_refused_or_drawn_without_harm(void** state) {
    (void)state;
    static pool p;
    treacle_context* ctx = fixture_context(1);
    make_pool(&p, false);
    p.first[3] = p.first[4] + 1;
    refuse(ctx, &p, "'tile_first'");
    make_pool(&p, false);
    p.first[TILES] = PARTICLES + 1;
    refuse(ctx, &p, "'position' has 4096 items");
    make_pool(&p, false);
    p.arrays[1].type = TREACLE_TYPE_F32;
    refuse(ctx, &p, "'tile_coord'");
    make_pool(&p, false);
    p.arrays[3].count -= 1;
    refuse(ctx, &p, "'volume'");
    make_pool(&p, false);
    snprintf(p.arrays[2].name, sizeof(p.arrays[2].name), "place");
    refuse(ctx, &p, "no array 'position'");

    make_pool(&p, false);
    const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 0.0f, -5.0f};
    for (int i = 0; i < PARTICLES; ++i) {
        p.position[i][i % 3] = bad[i % 7];
        p.volume[i] = bad[(i + 3) % 7];
        p.colour[i][0] = bad[(i + 5) % 7];
    }
    for (int t = 1; t < TILES; ++t) {
        p.coord[t][0] = t % 2 == 0 ? INT32_MAX : INT32_MIN;
    }
    image_rgb8 image = draw(ctx, &p.frame);
    image_destroy(&image);
    treacle_context_destroy(ctx);
}

static void test_bad_defs_are_refused(void** state) {
    (void)state;
    static pool p;
    make_pool(&p, false);
    treacle_context* ctx = fixture_context(1);
    treacle_preview_def defs[6];
    for (int i = 0; i < 6; ++i) {
        defs[i] = small_def();
    }
    defs[0].def_size = 0;
    defs[1].width = 0;
    defs[2].height = 16385;
    defs[3].field_of_view = NAN;
    defs[4].eye_set = true; // eye and target are both the origin
    defs[5].eye_set = true;
    defs[5].eye[1] = INFINITY;
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(treacle_preview_write(ctx, &p.frame, &defs[i], "/tmp/never.png"),
                         TREACLE_ERR_USAGE);
    }
    treacle_context_destroy(ctx);
}

static void test_any_eye_draws(void** state) {
    (void)state;
    static pool p;
    make_pool(&p, false);
    treacle_context* ctx = fixture_context(2);
    // Inside the liquid, below the floor, straight from above, far away.
    const double eyes[4][3] = {
        {-0.92, 0.58, 0.08}, {-0.9, -3.0, 0.1}, {-0.92, 2.0, 0.081}, {1e6, 1e6, 1e6}};
    for (int i = 0; i < 4; ++i) {
        treacle_preview_def def = small_def();
        def.eye_set = true;
        memcpy(def.eye, eyes[i], sizeof(def.eye));
        def.target[0] = -0.92;
        def.target[1] = i == 0 ? 0.5 : 0.58;
        def.target[2] = 0.081;
        image_rgb8 image;
        assert_int_equal(preview_render(ctx, &p.frame, &def, &image), TREACLE_OK);
        image_destroy(&image);
    }
    treacle_context_destroy(ctx);
}

typedef struct write_case {
    const treacle_frame* frame;
    const char* path;
} write_case;

static treacle_status write_body(treacle_context* ctx, void* data) {
    const write_case* c = data;
    treacle_preview_def def = small_def();
    def.width = 24;
    def.height = 16;
    return treacle_preview_write(ctx, c->frame, &def, c->path);
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    static pool p;
    make_pool(&p, false);
    char folder[FIXTURE_PATH];
    char path[FIXTURE_PATH + 32];
    fixture_folder(folder);
    snprintf(path, sizeof(path), "%s/preview_0001.png", folder);
    write_case c = {&p.frame, path};
    ALLOC_FAILURE_CHECK(write_body, &c);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

typedef struct sheet_case {
    const char* frames[3];
    const char* path;
} sheet_case;

static treacle_status sheet_body(treacle_context* ctx, void* data) {
    const sheet_case* c = data;
    treacle_sheet_def def = treacle_sheet_def_default();
    def.picture.width = 20;
    def.picture.height = 12;
    def.frame_count = 3;
    def.frames = c->frames;
    return treacle_sheet_write(ctx, &def, c->path);
}

static void test_a_sheet_holds_all_frames(void** state) {
    (void)state;
    static pool p;
    make_pool(&p, false);
    char folder[FIXTURE_PATH];
    char frame[FIXTURE_PATH + 32];
    char path[FIXTURE_PATH + 32];
    fixture_folder(folder);
    snprintf(frame, sizeof(frame), "%s/frame_0001.trf", folder);
    snprintf(path, sizeof(path), "%s/sheet.png", folder);
    treacle_context* ctx = fixture_context(2);
    assert_int_equal(treacle_frame_write(ctx, &p.frame, frame), TREACLE_OK);
    sheet_case c = {{frame, frame, frame}, path};
    assert_int_equal(sheet_body(ctx, &c), TREACLE_OK);
    uint8_t* bytes = NULL;
    assert_true(fixture_bytes(path, &bytes) > 24);
    assert_int_equal(bytes[19], 2 * 24 + 4); // width in the PNG's head: 2 columns
    assert_int_equal(bytes[23], 2 * 16 + 4);
    free(bytes);
    treacle_sheet_def def = treacle_sheet_def_default();
    assert_int_equal(treacle_sheet_write(ctx, &def, path), TREACLE_ERR_USAGE); // no frames
    def.frames = c.frames;
    def.frame_count = 3;
    def.picture.width = 16000;
    assert_int_equal(treacle_sheet_write(ctx, &def, path), TREACLE_ERR_LIMIT);
    c.frames[2] = "/nowhere/frame_0003.trf";
    assert_int_equal(sheet_body(ctx, &c), TREACLE_ERR_IO);
    c.frames[2] = frame;
    ALLOC_FAILURE_CHECK(sheet_body, &c);
    treacle_context_destroy(ctx);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(frame), 0);
    assert_int_equal(rmdir(folder), 0);
}

// Pixels that two pictures of the same size differ in.
static int differences(const image_rgb8* a, const image_rgb8* b) {
    int count = 0;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        count += memcmp(a->pixels + (size_t)3 * i, b->pixels + (size_t)3 * i, 3) != 0;
    }
    return count;
}

// A ball beside the liquid, a container around it, and an emitter that has ended.
typedef struct furnished {
    treacle_shape ball, wall, nozzle;
    treacle_solid_def solids[2];
    treacle_emitter_def emitter;
    treacle_sim_def scene;
} furnished;

static void furnish(furnished* f, const treacle_frame* frame) {
    double cell = frame->cell;
    f->ball = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    f->ball.radius = 4.0 * cell;
    f->wall = treacle_shape_default(TREACLE_SHAPE_BOX);
    f->nozzle = f->ball;
    for (int k = 0; k < 3; ++k) {
        f->ball.move[k] = frame->origin[k] + (k == 2 ? 15.0 : 8.0) * cell;
        f->wall.move[k] = frame->origin[k] + 8.0 * cell;
        f->wall.size[k] = 15.0 * cell;
    }
    f->solids[0] = f->solids[1] = treacle_solid_def_default();
    f->solids[0].shape = &f->ball;
    f->solids[1].shape = &f->wall;
    f->solids[1].inside_out = true;
    f->emitter = treacle_emitter_def_default();
    f->emitter.shape = &f->nozzle;
    f->emitter.stop = -1.0;
    f->scene = treacle_sim_def_default();
    f->scene.solids = f->solids;
    f->scene.emitters = &f->emitter;
    f->scene.emitter_count = 1;
}

static void test_solids_and_containers_are_seen(void** state) {
    (void)state;
    static pool p;
    static furnished f;
    make_pool(&p, false);
    furnish(&f, &p.frame);
    treacle_context* ctx = fixture_context(2);
    treacle_preview_def def = small_def();
    image_rgb8 pictures[3];
    for (int i = 0; i < 3; ++i) { // nothing, a ball, a ball in a container
        f.scene.solid_count = i;
        def.scene = &f.scene;
        assert_int_equal(preview_render(ctx, &p.frame, &def, &pictures[i]), TREACLE_OK);
    }
    assert_true(differences(&pictures[0], &pictures[1]) > 100);
    assert_true(differences(&pictures[1], &pictures[2]) > 100);
    treacle_context* one = fixture_context(1);
    image_rgb8 again;
    assert_int_equal(preview_render(one, &p.frame, &def, &again), TREACLE_OK);
    assert_int_equal(differences(&again, &pictures[2]), 0);
    image_destroy(&again);
    for (int i = 0; i < 3; ++i) {
        image_destroy(&pictures[i]);
    }
    treacle_props* props = NULL;
    assert_int_equal(treacle_props_create(one, &f.scene, &p.frame, &props), TREACLE_OK);
    assert_int_equal(treacle_props_count(props), 3);
    assert_int_equal(treacle_props_get(props, 0).role, TREACLE_PROP_SOLID);
    assert_int_equal(treacle_props_get(props, 1).role, TREACLE_PROP_CONTAINER);
    assert_int_equal(treacle_props_get(props, 2).role, TREACLE_PROP_EMITTER);
    assert_int_equal(treacle_props_get(props, 2).triangle_count, 0); // it has ended
    treacle_props_destroy(props);
    assert_int_equal(treacle_context_memory(one), 0);
    treacle_context_destroy(one);
    treacle_context_destroy(ctx);
}

static treacle_status furnished_body(treacle_context* ctx, void* data) {
    const treacle_frame* frame = data;
    static furnished f;
    furnish(&f, frame);
    f.scene.solid_count = 2;
    f.emitter.stop = INFINITY;
    treacle_preview_def def = small_def();
    def.scene = &f.scene;
    image_rgb8 image;
    treacle_status status = preview_render(ctx, frame, &def, &image);
    if (status == TREACLE_OK) {
        image_destroy(&image);
    }
    return status;
}

static void test_every_allocation_of_solids_may_fail(void** state) {
    (void)state;
    static pool p;
    make_pool(&p, false);
    ALLOC_FAILURE_CHECK(furnished_body, &p.frame);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_are_equal_for_1_to_4_threads),
        cmocka_unit_test(test_near_hides_far),
        cmocka_unit_test(test_the_camera_frames_the_domain),
        cmocka_unit_test(test_a_flat_domain_is_seen_straight_on),
        cmocka_unit_test(test_an_empty_frame_is_drawn),
        cmocka_unit_test(test_bad_frames_are_refused_or_drawn_without_harm),
        cmocka_unit_test(test_bad_defs_are_refused),
        cmocka_unit_test(test_any_eye_draws),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_a_sheet_holds_all_frames),
        cmocka_unit_test(test_solids_and_containers_are_seen),
        cmocka_unit_test(test_every_allocation_of_solids_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
