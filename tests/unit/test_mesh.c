// Surfaces of sampled liquid: closed, manifold, outward, of the right size, in one piece.
#include "mesh/contour.h"
#include "treacle/mesh.h"

#include "alloc_failure.h"
#include "liquid_frame.h"

// A context with more than one thread holds their pool until its end.
static size_t memory_at_start;

static treacle_context* begin(int threads) {
    treacle_context* ctx = unit_context(threads);
    memory_at_start = treacle_context_memory(ctx);
    return ctx;
}

static void finish(treacle_context* ctx) {
    assert_int_equal(treacle_context_memory(ctx), memory_at_start);
    treacle_context_destroy(ctx);
}

enum { METHODS = 3 };
static const double pi = 3.14159265358979323846;

typedef struct half_edge {
    int32_t from, to;
} half_edge;

static int compare_half_edges(const void* a, const void* b) {
    const half_edge *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to < y->to ? -1 : x->to > y->to);
}

// Every directed edge is there once, and so is its opposite: closed, oriented, edge-manifold.
static void check_edges(const treacle_mesh_view* view) {
    size_t count = 3 * (size_t)view->triangle_count;
    half_edge* edges = malloc((count + 1) * sizeof(half_edge));
    assert_non_null(edges);
    for (size_t i = 0; i < count; ++i) {
        size_t t = i / 3 * 3;
        edges[i] = (half_edge){view->triangles[i], view->triangles[t + (i + 1) % 3]};
        assert_true(edges[i].from >= 0 && edges[i].from < view->vertex_count);
        assert_int_not_equal(edges[i].from, edges[i].to);
    }
    qsort(edges, count, sizeof(half_edge), compare_half_edges);
    for (size_t i = 0; i < count; ++i) {
        assert_true(i == 0 || compare_half_edges(&edges[i - 1], &edges[i]) != 0);
        half_edge back = {edges[i].to, edges[i].from};
        assert_non_null(bsearch(&back, edges, count, sizeof(half_edge), compare_half_edges));
    }
    free(edges);
}

// The triangles around every vertex are one fan: walking round meets all of them.
static void check_fans(const treacle_mesh_view* view) {
    size_t vertices = (size_t)view->vertex_count, corners = 3 * (size_t)view->triangle_count;
    int32_t* degree = calloc(vertices + 1, sizeof(int32_t));
    int32_t* start = malloc((vertices + 1) * sizeof(int32_t));
    half_edge* around = malloc((corners + 1) * sizeof(half_edge)); // (vertex, corner), sorted
    assert_true(degree != NULL && start != NULL && around != NULL);
    for (size_t i = 0; i < corners; ++i) {
        degree[view->triangles[i]] += 1;
        around[i] = (half_edge){view->triangles[i], (int32_t)i};
    }
    qsort(around, corners, sizeof(half_edge), compare_half_edges);
    for (size_t first = 0; first < corners; first += (size_t)degree[around[first].from]) {
        int32_t v = around[first].from, n = degree[v], steps = 0;
        int32_t begin = view->triangles[around[first].to / 3 * 3 + (around[first].to + 1) % 3];
        int32_t at = begin;
        do {
            int32_t next = -1;
            for (int32_t k = 0; k < n; ++k) {
                int32_t c = around[first + (size_t)k].to, t = c / 3 * 3;
                if (view->triangles[t + (c + 1) % 3] == at) {
                    next = view->triangles[t + (c + 2) % 3];
                }
            }
            assert_int_not_equal(next, -1);
            at = next;
            steps += 1;
        } while (at != begin && steps <= n);
        assert_int_equal(steps, n);
    }
    free(degree);
    free(start);
    free(around);
}

static int32_t root_of(int32_t* parent, int32_t v) {
    while (parent[v] != v) {
        v = parent[v] = parent[parent[v]];
    }
    return v;
}

static int count_pieces(const treacle_mesh_view* view) {
    int32_t* parent = malloc(((size_t)view->vertex_count + 1) * sizeof(int32_t));
    assert_non_null(parent);
    for (int32_t v = 0; v < view->vertex_count; ++v) {
        parent[v] = v;
    }
    for (int64_t t = 0; t < view->triangle_count; ++t) {
        for (int c = 0; c < 3; ++c) {
            int32_t a = root_of(parent, view->triangles[3 * t + c]);
            int32_t b = root_of(parent, view->triangles[3 * t + (c + 1) % 3]);
            parent[a] = b;
        }
    }
    int pieces = 0;
    for (int32_t v = 0; v < view->vertex_count; ++v) {
        pieces += parent[v] == v;
    }
    free(parent);
    return pieces;
}

static treacle_mesh* make_mesh(treacle_context* ctx, const liquid_frame* f,
                               const treacle_mesh_def* def) {
    treacle_mesh* mesh = NULL;
    treacle_status status = treacle_mesh_create(ctx, &f->frame, def, &mesh);
    if (status != TREACLE_OK) {
        print_error("%s\n", treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    return mesh;
}

static void test_every_case_of_the_table_is_made(void** state) {
    (void)state;
    contour_table table;
    assert_true(contour_table_make(&table));
    assert_int_equal(table.count[0], 0);
    assert_int_equal(table.count[255], 0);
    assert_int_equal(table.count[1], 1);
    assert_int_equal(table.count[0x69], 4); // four corners apart
}

static void test_surfaces_are_closed_manifold_and_outward(void** state) {
    (void)state;
    treacle_context* ctx = begin(2);
    liquid_round ring = {{12.3, 12.1, 11.8}, 6.0, 3.0};
    liquid_frame f;
    liquid_frame_create(&f, 24, 0.01, 0.9, liquid_ring, &ring);
    for (int method = 0; method < METHODS; ++method) {
        for (int decimation = 0; decimation < 2; ++decimation) {
            treacle_mesh_def def = treacle_mesh_def_default();
            def.method = (treacle_mesh_method)method;
            def.decimation = 0.7 * decimation;
            treacle_mesh* mesh = make_mesh(ctx, &f, &def);
            treacle_mesh_view view = treacle_mesh_get_view(mesh);
            check_edges(&view);
            check_fans(&view);
            assert_true(view.volume > 0.0);
            assert_close(view.volume / view.liquid_volume, 1.0, 0.01);
            if (def.method == TREACLE_MESH_SMOOTH) {
                assert_int_equal(count_pieces(&view), 1);
                // A torus: V - E + F = 0, and E = 3 F / 2.
                assert_int_equal(2 * view.vertex_count - view.triangle_count, 0);
            }
            treacle_mesh_destroy(mesh);
        }
    }
    liquid_frame_destroy(&f);
    finish(ctx);
}

static double noise_of(const double p[3], const void* data) {
    (void)data;
    uint64_t cell = (uint64_t)p[0] + 100 * (uint64_t)p[1] + 10000 * (uint64_t)p[2];
    return hash_random_f64(7, cell, RANDOM_TEST) < 0.35 ? -1.0 : 1.0;
}

static void test_random_cells_give_a_manifold_too(void** state) {
    (void)state;
    treacle_context* ctx = begin(1);
    liquid_frame f;
    liquid_frame_create(&f, 12, 1.0, 0.0, noise_of, NULL);
    treacle_mesh_def def = treacle_mesh_def_default();
    for (int method = 0; method < METHODS; ++method) {
        def.method = (treacle_mesh_method)method;
        def.resolution = 1.0;
        treacle_mesh* mesh = make_mesh(ctx, &f, &def);
        treacle_mesh_view view = treacle_mesh_get_view(mesh);
        assert_true(view.triangle_count > 100);
        check_edges(&view);
        check_fans(&view);
        treacle_mesh_destroy(mesh);
    }
    liquid_frame_destroy(&f);
    finish(ctx);
}

typedef struct size_error {
    double volume, area;
} size_error;

// Of a ball or ring of `scale` cells radius, against the true figures.
static size_error error_of(treacle_context* ctx, liquid_shape* shape, double scale) {
    int side = (int)(4.0 * scale) + 8;
    double middle = 0.5 * side;
    liquid_round round = {{middle + 0.3, middle + 0.1, middle - 0.2}, scale, 0.45 * scale};
    liquid_frame f;
    liquid_frame_create(&f, side, 1.0, 0.5, shape, &round);
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = make_mesh(ctx, &f, &def);
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    double r = round.radius, t = round.tube;
    bool is_ball = shape == liquid_ball;
    double volume = is_ball ? 4.0 / 3.0 * pi * r * r * r : 2.0 * pi * pi * r * t * t;
    double area = is_ball ? 4.0 * pi * r * r : 4.0 * pi * pi * r * t;
    size_error error = {fabs(view.volume / volume - 1.0), fabs(view.area / area - 1.0)};
    treacle_mesh_destroy(mesh);
    liquid_frame_destroy(&f);
    return error;
}

// The isosurface of the true distance, sampled with the step.
static size_error contour_error(treacle_context* ctx, liquid_shape* shape, double step) {
    liquid_round round = {{8.1, 8.2, 7.9}, 4.0, 1.8};
    const double low[3] = {0.0, 0.0, 0.0}, high[3] = {16.0, 16.0, 16.0};
    block_list list = {.ctx = ctx};
    mesh_blocks b;
    assert_int_equal(block_list_add(&list, step, low, high), TREACLE_OK);
    assert_int_equal(mesh_blocks_create(&list, step, -1.0f, &b), TREACLE_OK);
    block_list_destroy(&list);
    for (int64_t i = 0; i < b.count * BLOCK_SAMPLES; ++i) {
        const int64_t s = i % BLOCK_SAMPLES;
        const int64_t at[3] = {s % 8, s / 8 % 8, s / 64};
        double place[3];
        for (int k = 0; k < 3; ++k) {
            place[k] = step * (double)(8 * b.at[i / BLOCK_SAMPLES][k] + at[k]);
        }
        b.value[i] = (float)-shape(place, &round);
    }
    contour_table table;
    surface_mesh m;
    assert_true(contour_table_make(&table));
    assert_int_equal(contour_mesh(&b, &table, 0.0f, &m), TREACLE_OK);
    bool is_ball = shape == liquid_ball;
    double r = round.radius, t = round.tube;
    double volume = is_ball ? 4.0 / 3.0 * pi * r * r * r : 2.0 * pi * pi * r * t * t;
    double area = is_ball ? 4.0 * pi * r * r : 4.0 * pi * pi * r * t;
    assert_close(surface_mesh_volume(&m), contour_volume(&b, &table, 0.0f), 1e-3 * volume);
    size_error error = {fabs(surface_mesh_volume(&m) / volume - 1.0),
                        fabs(surface_mesh_area(&m) / area - 1.0)};
    surface_mesh_destroy(&m);
    mesh_blocks_destroy(&b);
    return error;
}

// The contour itself is of second order; sampled liquid, whose surface is rough by a fraction of
// the spacing, comes within a percent.
static void check_convergence(liquid_shape* shape, double scale) {
    treacle_context* ctx = begin(2);
    size_error a = contour_error(ctx, shape, 0.5), b = contour_error(ctx, shape, 0.25);
    assert_true(b.volume < 0.3 * a.volume && b.volume < 0.005);
    assert_true(b.area < 0.3 * a.area && b.area < 0.005);
    size_error sampled = error_of(ctx, shape, scale);
    assert_true(sampled.volume < 0.01);
    assert_true(sampled.area < 0.01);
    finish(ctx);
}

static void test_a_sphere_converges(void** state) {
    (void)state;
    check_convergence(liquid_ball, 6.0);
}

static void test_a_torus_converges(void** state) {
    (void)state;
    check_convergence(liquid_ring, 6.0);
}

// A thread of 2 cells across that climbs in a helix.
static double thread(const double p[3], const void* data) {
    (void)data;
    double x = p[0] - 14.0, z = p[2] - 14.0, out = sqrt(x * x + z * z) - 8.0, nearest = 1e9;
    for (double a = atan2(z, x); a < 16.0; a += 2.0 * pi) {
        double up = p[1] - 3.0 - 1.4 * a;
        nearest = a > 0.0 ? fmin(nearest, out * out + up * up) : nearest;
    }
    return sqrt(nearest) - 1.0;
}

static double sheet(const double p[3], const void* data) {
    (void)data;
    double slope = 0.35 * p[0] + 0.2 * p[2];
    bool is_inside = p[0] > 4.0 && p[0] < 24.0 && p[2] > 4.0 && p[2] < 24.0;
    return is_inside ? fabs(p[1] - 6.0 - slope) - 0.5 * sqrt(1.0 + 0.35 * 0.35 + 0.2 * 0.2) : 1.0;
}

static void check_thin(liquid_shape* shape) {
    treacle_context* ctx = begin(2);
    liquid_frame f;
    liquid_frame_create(&f, 28, 0.5, 0.6, shape, NULL);
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = make_mesh(ctx, &f, &def);
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    assert_int_equal(count_pieces(&view), 1);
    // Without a hole: V - E + F = 2.
    assert_int_equal(2 * view.vertex_count - view.triangle_count, 4);
    assert_close(view.volume / view.liquid_volume, 1.0, 0.01);
    treacle_mesh_destroy(mesh);
    liquid_frame_destroy(&f);
    finish(ctx);
}

static void test_a_thread_of_two_cells_stays_connected(void** state) {
    (void)state;
    check_thin(thread);
}

static void test_a_sheet_of_one_cell_has_no_holes(void** state) {
    (void)state;
    check_thin(sheet);
}

static void test_attributes_are_those_of_the_particles_near(void** state) {
    (void)state;
    treacle_context* ctx = begin(2);
    liquid_round ball = {{8.0, 8.0, 8.0}, 5.0, 0.0};
    liquid_frame f;
    liquid_frame_create(&f, 16, 0.1, 0.5, liquid_ball, &ball);
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = make_mesh(ctx, &f, &def);
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    assert_null(view.colour);
    assert_null(view.rest);
    for (int64_t v = 0; v < view.vertex_count; ++v) {
        double length = 0.0, out = 0.0;
        for (int k = 0; k < 3; ++k) {
            double x = (double)view.position[3 * v + k] / 0.1, n = (double)view.normal[3 * v + k];
            assert_close((double)view.velocity[3 * v + k], x, 0.6);
            length += n * n;
            out += n * (x - 8.0);
        }
        assert_close(length, 1.0, 1e-5);
        assert_true(out > 4.0);
        double y = (double)view.position[3 * v + 1] / 0.1;
        assert_close((double)view.temperature[v], 300.0 + y, 0.6);
        assert_true(view.material[v] == (view.position[3 * v] > 0.8f) ||
                    fabsf(view.position[3 * v] - 0.8f) < 0.06f);
    }
    treacle_mesh_destroy(mesh);
    liquid_frame_destroy(&f);
    finish(ctx);
}

static void test_threads_do_not_change_a_bit(void** state) {
    (void)state;
    liquid_round ring = {{12.3, 12.1, 11.8}, 6.0, 3.0};
    liquid_frame f;
    liquid_frame_create(&f, 24, 0.01, 0.9, liquid_ring, &ring);
    for (int method = 0; method < METHODS; ++method) {
        treacle_context *one = begin(1), *three = begin(3);
        treacle_mesh_def def = treacle_mesh_def_default();
        def.method = (treacle_mesh_method)method;
        def.decimation = 0.5;
        treacle_mesh *a = make_mesh(one, &f, &def), *b = make_mesh(three, &f, &def);
        treacle_mesh_view x = treacle_mesh_get_view(a), y = treacle_mesh_get_view(b);
        assert_int_equal(x.vertex_count, y.vertex_count);
        assert_int_equal(x.triangle_count, y.triangle_count);
        size_t floats = 3 * (size_t)x.vertex_count * sizeof(float);
        assert_memory_equal(x.position, y.position, floats);
        assert_memory_equal(x.velocity, y.velocity, floats);
        assert_memory_equal(x.triangles, y.triangles, 12 * (size_t)x.triangle_count);
        treacle_mesh_destroy(a);
        treacle_mesh_destroy(b);
        treacle_context_destroy(one);
        finish(three);
    }
    liquid_frame_destroy(&f);
}

static double nothing(const double p[3], const void* data) {
    (void)p;
    (void)data;
    return 1.0;
}

// Below half of the box, about.
static double pool_of(const double p[3], const void* data) {
    (void)data;
    return p[1] - 6.3;
}

// A pool in a box of 12 cells with a ball in it that looks out.
static treacle_mesh_def room_def(const treacle_solid_def* ball) {
    treacle_mesh_def def = treacle_mesh_def_default();
    for (int k = 0; k < 3; ++k) {
        def.room.is_closed[k][0] = def.room.is_closed[k][1] = true;
    }
    def.room.solid_count = 1;
    def.room.solids = ball;
    return def;
}

static const treacle_shape ball_shape = {
    .kind = TREACLE_SHAPE_SPHERE, .radius = 3.0, .move = {6.0, 7.0, 6.0}, .scale = 1.0};
static const treacle_solid_def ball_solid = {.name = "ball", .shape = &ball_shape};

static double behind_walls(const treacle_mesh_view* view) {
    double behind = 0.0;
    for (int64_t v = 0; v < view->vertex_count; ++v) {
        const float* x = view->position + 3 * v;
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
            double centre = k == 1 ? 7.0 : 6.0;
            square += ((double)x[k] - centre) * ((double)x[k] - centre);
            behind = fmax(behind, fmax(-(double)x[k], (double)x[k] - 12.0));
        }
        behind = fmax(behind, 3.0 - sqrt(square));
    }
    return behind;
}

static void test_liquid_ends_at_walls_and_solids(void** state) {
    (void)state;
    treacle_context* ctx = begin(2);
    liquid_frame f;
    liquid_frame_create(&f, 12, 1.0, 0.5, pool_of, NULL);
    treacle_mesh_def def = room_def(&ball_solid);
    for (int method = 0; method < METHODS; ++method) {
        def.method = (treacle_mesh_method)method;
        treacle_mesh* mesh = make_mesh(ctx, &f, &def);
        treacle_mesh_view view = treacle_mesh_get_view(mesh);
        check_edges(&view);
        check_fans(&view);
        assert_true(view.vertex_count > 500);
        assert_true(behind_walls(&view) < 0.001);
        treacle_mesh_destroy(mesh);
    }
    def.method = TREACLE_MESH_SMOOTH;
    def.overlap = 0.25;
    treacle_mesh* mesh = make_mesh(ctx, &f, &def);
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    check_edges(&view);
    assert_close(behind_walls(&view), 0.25, 0.001);
    treacle_mesh_destroy(mesh);
    def.overlap = -1.0;
    assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_ERR_USAGE);
    liquid_frame_destroy(&f);
    finish(ctx);
}

static void test_threads_do_not_change_a_bit_at_walls(void** state) {
    (void)state;
    liquid_frame f;
    liquid_frame_create(&f, 12, 1.0, 0.5, pool_of, NULL);
    treacle_context *one = begin(1), *three = begin(3);
    treacle_mesh_def def = room_def(&ball_solid);
    treacle_mesh *a = make_mesh(one, &f, &def), *b = make_mesh(three, &f, &def);
    treacle_mesh_view x = treacle_mesh_get_view(a), y = treacle_mesh_get_view(b);
    assert_int_equal(x.vertex_count, y.vertex_count);
    assert_memory_equal(x.position, y.position, 12 * (size_t)x.vertex_count);
    assert_memory_equal(x.normal, y.normal, 12 * (size_t)x.vertex_count);
    treacle_mesh_destroy(a);
    treacle_mesh_destroy(b);
    treacle_context_destroy(one);
    finish(three);
    liquid_frame_destroy(&f);
}

static void test_no_liquid_is_an_empty_mesh(void** state) {
    (void)state;
    treacle_context* ctx = begin(1);
    liquid_frame f;
    liquid_frame_create(&f, 4, 1.0, 0.0, nothing, NULL);
    for (int method = 0; method < METHODS; ++method) {
        treacle_mesh_def def = treacle_mesh_def_default();
        def.method = (treacle_mesh_method)method;
        def.decimation = 0.5;
        treacle_mesh* mesh = make_mesh(ctx, &f, &def);
        assert_int_equal(treacle_mesh_get_view(mesh).triangle_count, 0);
        treacle_mesh_destroy(mesh);
    }
    liquid_frame_destroy(&f);
    finish(ctx);
}

static void test_wrong_defs_and_frames_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = begin(1);
    liquid_frame f;
    liquid_frame_create(&f, 4, 1.0, 0.0, nothing, NULL);
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = NULL;
    def.resolution = 100.0;
    assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_ERR_USAGE);
    assert_error_says(ctx, "samples along a cell");
    def = treacle_mesh_def_default();
    def.flat_cells = 0;
    assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_ERR_USAGE);
    assert_error_says(ctx, "flat liquid of 0 cells");
    def = treacle_mesh_def_default();
    f.frame.array_count = 1;
    assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_ERR_FORMAT);
    assert_error_says(ctx, "tile_first");
    assert_null(mesh);
    liquid_frame_destroy(&f);
    finish(ctx);
}

// A disc in a domain of one layer of cells, of four particles a cell in the middle of the layer.
static double flat_disc(const double place[3], const void* data) {
    const liquid_round* disc = data;
    bool is_lowest = place[2] < 0.5;
    double x = place[0] - disc->centre[0], y = place[1] - disc->centre[1];
    return is_lowest ? hypot(x, y) - disc->radius : 1.0;
}

// One number of a file is enough: the mean of all volumes decides how far points reach.
static void test_volumes_that_no_surface_can_have_are_refused(void** state) {
    (void)state;
    static const float wrong[] = {1e30f, -1.0f, NAN, 0.0f};
    treacle_context* ctx = begin(1);
    liquid_frame f;
    liquid_round ball = {{4.0, 4.0, 4.0}, 3.0, 0.0};
    liquid_frame_create(&f, 8, 1.0, 0.0, liquid_ball, &ball);
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = NULL;
    const treacle_array* volume = treacle_frame_find(&f.frame, "volume");
    float* values = (float*)volume->data;
    float kept = values[3];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        values[3] = wrong[i];
        assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_ERR_FORMAT);
    }
    values[3] = kept;
    for (int64_t i = 0; i < volume->count; ++i) {
        values[i] *= 1e-30f;
    }
    assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_ERR_FORMAT);
    assert_error_says(ctx, "no surface can be drawn");
    liquid_frame_destroy(&f);
    finish(ctx);
}

static void test_flat_liquid_is_as_thick_as_asked_for(void** state) {
    (void)state;
    treacle_context* ctx = begin(1);
    liquid_round disc = {{12.0, 12.0, 0.0}, 8.0, 0.0};
    liquid_frame f;
    liquid_frame_create(&f, 24, 1.0, 0.0, flat_disc, &disc);
    f.frame.cells[2] = 1;
    for (int64_t i = 0; i < f.count; ++i) {
        f.position[i][2] = 0.5f;
        f.volume[i] = 0.25f;
    }
    for (int cells = 1; cells <= 6; cells += 5) {
        treacle_mesh_def def = treacle_mesh_def_default();
        def.flat_cells = cells;
        treacle_mesh* mesh = NULL;
        assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_OK);
        treacle_mesh_view view = treacle_mesh_get_view(mesh);
        float low = 1e9f, high = -1e9f;
        for (int64_t v = 0; v < view.vertex_count; ++v) {
            low = fminf(low, view.position[3 * v + 2]);
            high = fmaxf(high, view.position[3 * v + 2]);
        }
        assert_true(fabs(view.volume / (64.0 * 3.14159 * cells) - 1.0) < 0.02);
        assert_true(fabs((double)(high + low) - 1.0) < 0.02);
        assert_true(fabs((double)(high - low) - cells) < 0.4);
        treacle_mesh_destroy(mesh);
    }
    liquid_frame_destroy(&f);
    finish(ctx);
}

static void test_hidden_materials_are_left_out(void** state) {
    (void)state;
    treacle_context* ctx = begin(1);
    liquid_round ball = {{8.0, 8.0, 8.0}, 5.0, 0.0};
    liquid_frame f;
    liquid_frame_create(&f, 16, 1.0, 0.4, liquid_ball, &ball); // material 1 in its right half
    const uint8_t hidden[2] = {0, 1};
    treacle_mesh_def def = treacle_mesh_def_default();
    double volume[3], right = 0.0;
    for (int count = 0; count <= 2; ++count) {
        treacle_mesh* mesh = NULL;
        def.hidden = hidden;
        def.hidden_count = count;
        assert_int_equal(treacle_mesh_create(ctx, &f.frame, &def, &mesh), TREACLE_OK);
        treacle_mesh_view view = treacle_mesh_get_view(mesh);
        volume[count] = view.volume;
        right = 0.0;
        for (int64_t v = 0; v < view.vertex_count; ++v) {
            right = fmax(right, (double)view.position[3 * v]);
        }
        treacle_mesh_destroy(mesh);
    }
    assert_true(volume[1] == volume[0]);
    assert_true(fabs(volume[2] / volume[0] - 0.5) < 0.03);
    assert_true(right < 9.0);
    liquid_frame_destroy(&f);
    finish(ctx);
}

static treacle_status create_and_destroy(treacle_context* ctx, void* data) {
    const liquid_frame* f = data;
    for (int method = 0; method < METHODS; ++method) {
        treacle_mesh_def def = treacle_mesh_def_default();
        def.method = (treacle_mesh_method)method;
        def.decimation = 0.5;
        def.room.is_closed[1][0] = true;
        def.room.solid_count = 1;
        def.room.solids = &ball_solid;
        treacle_mesh* mesh = NULL;
        treacle_status status = treacle_mesh_create(ctx, &f->frame, &def, &mesh);
        treacle_mesh_destroy(mesh);
        if (status != TREACLE_OK) {
            return status;
        }
    }
    return TREACLE_OK;
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    liquid_round ball = {{4.0, 4.0, 4.0}, 2.0, 0.0};
    liquid_frame f;
    liquid_frame_create(&f, 8, 1.0, 0.5, liquid_ball, &ball);
    ALLOC_FAILURE_CHECK(create_and_destroy, &f);
    liquid_frame_destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_case_of_the_table_is_made),
        cmocka_unit_test(test_surfaces_are_closed_manifold_and_outward),
        cmocka_unit_test(test_random_cells_give_a_manifold_too),
        cmocka_unit_test(test_a_sphere_converges),
        cmocka_unit_test(test_a_torus_converges),
        cmocka_unit_test(test_a_thread_of_two_cells_stays_connected),
        cmocka_unit_test(test_a_sheet_of_one_cell_has_no_holes),
        cmocka_unit_test(test_attributes_are_those_of_the_particles_near),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_liquid_ends_at_walls_and_solids),
        cmocka_unit_test(test_threads_do_not_change_a_bit_at_walls),
        cmocka_unit_test(test_no_liquid_is_an_empty_mesh),
        cmocka_unit_test(test_wrong_defs_and_frames_are_refused),
        cmocka_unit_test(test_volumes_that_no_surface_can_have_are_refused),
        cmocka_unit_test(test_flat_liquid_is_as_thick_as_asked_for),
        cmocka_unit_test(test_hidden_materials_are_left_out),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
