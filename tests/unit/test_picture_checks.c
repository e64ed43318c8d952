// What a picture shows, in numbers: a coil's outline has its turns, its thread is in one piece,
// and no pixel shines out of its neighbourhood by chance.
#include "image/exr.h"
#include "render/trace_image.h"
#include "treacle/render.h"

#include "liquid_frame.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 120, HEIGHT = 160, SIDE = 40 };

// A thread of `radius` that has laid itself down in a coil and hangs from above. In cells.
typedef struct coil {
    double turns, coil_radius, radius, pitch;
} coil;

static const double middle = 0.5 * SIDE, pi = 3.14159265358979;

static double segment_distance(const double p[3], const double a[3], const double b[3]) {
    double ab = 0.0, ap = 0.0, square = 0.0;
    for (int k = 0; k < 3; ++k) {
        ab += (b[k] - a[k]) * (b[k] - a[k]);
        ap += (p[k] - a[k]) * (b[k] - a[k]);
    }
    double t = fmin(fmax(ap / ab, 0.0), 1.0);
    for (int k = 0; k < 3; ++k) {
        double d = p[k] - a[k] - t * (b[k] - a[k]);
        square += d * d;
    }
    return sqrt(square);
}

static double coil_distance(const double p[3], const void* data) {
    const coil* c = data;
    const double first = 0.5 * pi; // it begins and ends towards the camera
    double x = p[0] - middle, z = p[2] - middle, y = p[1] - 1.2 * c->radius;
    double away = hypot(x, z) - c->coil_radius, angle = atan2(z, x) - first, best = 1e9;
    angle += angle < 0.0 ? 2.0 * pi : 0.0;
    for (int k = 0; k <= (int)c->turns; ++k) {
        double along = angle / (2.0 * pi) + k;
        if (along <= c->turns) {
            best = fmin(best, hypot(away, y - c->pitch * along));
        }
    }
    double top = 1.2 * c->radius + c->pitch * c->turns, last = first + 2.0 * pi * c->turns;
    const double end[3] = {middle + c->coil_radius * cos(last), top,
                           middle + c->coil_radius * sin(last)};
    const double hook[3] = {middle, top + 5.0, middle}, nozzle[3] = {middle, SIDE + 4.0, middle};
    best = fmin(best, segment_distance(p, end, hook));
    return fmin(best, segment_distance(p, hook, nozzle)) - c->radius;
}

static treacle_render_def side_view(void) {
    treacle_render_def def = treacle_render_def_default();
    def.width = WIDTH;
    def.height = HEIGHT;
    def.samples = 16;
    def.noise = 0.0;
    def.denoise = false;
    def.mesh.resolution = 1.5;
    def.camera.eye_set = true;
    def.camera.shutter = 0.0;
    def.camera.field_of_view = 0.2;
    for (int k = 0; k < 3; ++k) {
        def.camera.target[k] = def.camera.eye[k] = 0.01 * middle;
    }
    def.camera.eye[2] += 2.3;
    return def;
}

static void take_picture(treacle_context* ctx, const liquid_frame* f, const treacle_render_def* def,
                         exr_picture* out) {
    char path[64];
    treacle_picture* picture = NULL;
    snprintf(path, sizeof(path), "/tmp/treacle-checks-%d.exr", (int)getpid());
    assert_int_equal(treacle_render_frame(ctx, &f->frame, def, &picture), TREACLE_OK);
    assert_int_equal(treacle_picture_write(ctx, picture, path), TREACLE_OK);
    treacle_picture_destroy(picture);
    assert_int_equal(exr_read_rgb(ctx, path, out), TREACLE_OK);
    unlink(path);
}

static float brightness(const exr_picture* p, int x, int y) {
    const float* v = p->values + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    return (v[0] + v[1] + v[2]) / 3.0f;
}

// Black paint before the bright room: dark is liquid.
static void take_silhouette(treacle_context* ctx, const liquid_frame* f, bool* out) {
    treacle_render_def def = side_view();
    def.look.liquid.kind = TREACLE_LOOK_PAINT;
    def.look.liquid.colour[0] = def.look.liquid.colour[1] = def.look.liquid.colour[2] = 0.0;
    def.look.ground = false;
    exr_picture picture;
    take_picture(ctx, f, &def, &picture);
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        out[i] = brightness(&picture, i % WIDTH, i / WIDTH) < 0.2f;
    }
    exr_picture_destroy(&picture);
}

// The outline on one side, in pixels from the other; 0 above and below the pile, which is where the
// liquid is at least a third as wide as it gets.
static void trace_outline(const bool* mask, bool is_right, double edge[HEIGHT]) {
    int widest = 0, width[HEIGHT];
    for (int y = 0; y < HEIGHT; ++y) {
        int low = WIDTH, high = -1;
        for (int x = 0; x < WIDTH; ++x) {
            bool is_liquid = mask[y * WIDTH + x];
            low = is_liquid && x < low ? x : low;
            high = is_liquid ? x : high;
        }
        width[y] = high >= low ? high - low + 1 : 0;
        widest = width[y] > widest ? width[y] : widest;
        edge[y] = is_right ? high : WIDTH - 1 - low;
    }
    for (int y = 0; y < HEIGHT; ++y) {
        edge[y] = 3 * width[y] >= widest ? edge[y] : 0.0;
    }
}

// Bumps of the outline, each at least `least` pixels higher than the dents beside it.
static int count_bumps(const bool* mask, bool is_right, double least) {
    int bumps = 0;
    double edge[HEIGHT], high = 0.0, low = 0.0; // of the run up, and of the run down since
    bool rises = true;
    trace_outline(mask, is_right, edge);
    for (int y = 0; y < HEIGHT; ++y) {
        high = fmax(high, edge[y]);
        low = fmin(low, edge[y]);
        if (rises && high - edge[y] >= least) {
            bumps += 1;
            rises = false;
            low = edge[y];
        } else if (!rises && edge[y] - low >= least) {
            rises = true;
            high = edge[y];
        }
    }
    return bumps;
}

// Regions of liquid that do not touch, with corners counting as touch.
static int count_regions(bool* mask) {
    static int stack[WIDTH * HEIGHT];
    int regions = 0;
    for (int seed = 0; seed < WIDTH * HEIGHT; ++seed) {
        if (!mask[seed]) {
            continue;
        }
        int depth = 0;
        regions += 1;
        stack[depth++] = seed;
        mask[seed] = false;
        while (depth > 0) {
            int at = stack[--depth];
            for (int n = 0; n < 9; ++n) {
                int x = at % WIDTH + n % 3 - 1, y = at / WIDTH + n / 3 - 1;
                if (x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT && mask[y * WIDTH + x]) {
                    mask[y * WIDTH + x] = false;
                    stack[depth++] = y * WIDTH + x;
                }
            }
        }
    }
    return regions;
}

static void check_coil(double turns, int expected) {
    static bool mask[WIDTH * HEIGHT];
    coil c = {turns, 8.0, 1.6, 4.0};
    treacle_context* ctx = unit_context(1);
    liquid_frame f;
    liquid_frame_create(&f, SIDE, 0.01, 0.6, coil_distance, &c);
    memset(f.material, 0, (size_t)f.count);
    take_silhouette(ctx, &f, mask);
    const double least = 2.0;
    print_message("%g turns: %d bumps left, %d right\n", turns, count_bumps(mask, false, least),
                  count_bumps(mask, true, least));
    assert_int_equal(count_bumps(mask, true, least), expected);
    assert_int_equal(count_bumps(mask, false, least), expected);
    assert_int_equal(count_regions(mask), 1);
    liquid_frame_destroy(&f);
    unit_context_end(ctx);
}

static void test_the_outline_of_a_coil_has_its_turns(void** state) {
    (void)state;
    check_coil(2.0, 2);
    check_coil(4.0, 4);
}

static int compare(const void* a, const void* b) {
    float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

// What a screen shows of the light, by the curve that pictures are shown with: what is far beyond
// white is white.
static float shown(const exr_picture* p, int x, int y) {
    const float* c = p->values + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    v3f tone = trace_tone_map(v3f_make(c[0], c[1], c[2]), TRACE_TONE_FILMIC, 1.0f);
    return (tone.x + tone.y + tone.z) / 3.0f;
}

// How far a pixel is above the brightest of the nine around it in a picture by other random
// numbers, in sigma: 1.48 times the median distance of the two pictures where they differ by more
// than 1 %, which the quiet backdrop does not.
static double worst_firefly(const exr_picture* p, const exr_picture* other) {
    static float away[WIDTH * HEIGHT];
    size_t count = 0;
    double worst = 0.0;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        int x = i % WIDTH, y = i / WIDTH;
        away[count] = fabsf(shown(p, x, y) - shown(other, x, y));
        count += away[count] > 1e-2f * shown(other, x, y) ? 1 : 0;
    }
    qsort(away, count, sizeof(float), compare);
    double sigma = 1.48 * (double)away[count / 2];
    for (int y = 1; y < HEIGHT - 1; ++y) {
        for (int x = 1; x < WIDTH - 1; ++x) {
            float most = 0.0f;
            for (int n = 0; n < 9; ++n) {
                most = fmaxf(most, shown(other, x + n % 3 - 1, y + n / 3 - 1));
            }
            worst = fmax(worst, (double)(shown(p, x, y) - most) / sigma);
        }
    }
    return worst;
}

static int darkest(const exr_picture* p) {
    int best = WIDTH + 1;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        int x = i % WIDTH, y = i / WIDTH;
        bool is_inner = x > 0 && y > 0 && x < WIDTH - 1 && y < HEIGHT - 1;
        bool is_darker = shown(p, x, y) < shown(p, best % WIDTH, best / WIDTH);
        best = is_inner && is_darker ? i : best;
    }
    return best;
}

static void test_no_pixel_shines_out_by_chance(void** state) {
    (void)state;
    static const treacle_look_kind kinds[] = {TREACLE_LOOK_HONEY, TREACLE_LOOK_WAX,
                                              TREACLE_LOOK_METAL};
    coil c = {2.0, 8.0, 1.6, 4.0};
    treacle_context* ctx = unit_context(1);
    liquid_frame f;
    liquid_frame_create(&f, SIDE, 0.003, 0.6, coil_distance, &c);
    memset(f.material, 0, (size_t)f.count);
    for (int k = 0; k < 3; ++k) {
        treacle_render_def def = side_view();
        def.samples = 32;
        for (int a = 0; a < 3; ++a) {
            def.camera.eye[a] *= 0.3;
            def.camera.target[a] *= 0.3;
        }
        def.look.liquid.kind = kinds[k];
        def.denoise = true; // as pictures are shown
        exr_picture picture, other;
        take_picture(ctx, &f, &def, &picture);
        def.seed = 12345;
        take_picture(ctx, &f, &def, &other);
        double worst = worst_firefly(&picture, &other);
        print_message("%s: worst pixel at %.1f sigma\n", treacle_look_name(kinds[k]), worst);
        assert_true(worst < 8.0);
        // It can fail: white in the middle of the coil's shade is found.
        for (int i = 0; i < 3; ++i) {
            picture.values[3 * darkest(&other) + i] = 4.0f;
        }
        assert_true(worst_firefly(&picture, &other) > 8.0);
        exr_picture_destroy(&picture);
        exr_picture_destroy(&other);
    }
    liquid_frame_destroy(&f);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_outline_of_a_coil_has_its_turns),
        cmocka_unit_test(test_no_pixel_shines_out_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
