// Meshes that follow each other: from files to solids that change their shape.
#include <unistd.h>

#include "alloc_failure.h"
#include "liquid_frame.h"
#include "mesh_fixture.h"

#include "geometry/mesh_sequence.h"
#include "geometry/mesh_tree.h"
#include "math/hash_random.h"
#include "phys/collide_form.h"
#include "treacle/treacle.h"

enum { FILES = 4 };
static char folder[64], pattern[96];

static void path_of(int number, char out[128]) {
    snprintf(out, 128, "%s/cube_%02d.obj", folder, number);
}

static int make_folder(void** state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/treacle-sequence-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(pattern, sizeof(pattern), "%s/cube_##.obj", folder);
    return 0;
}

static int remove_folder(void** state) {
    (void)state;
    for (int i = 0; i <= FILES; ++i) {
        char path[128];
        path_of(i, path);
        unlink(path);
    }
    return rmdir(folder);
}

// The unit cube scaled along each axis, sheared along x by y, and moved along x.
typedef struct cube {
    double scale[3], shear, move;
} cube;

static void write_cube(int number, int sides, const cube* c) {
    char path[128];
    path_of(number, path);
    mesh_soup s = mesh_soup_cube(sides);
    for (int i = 0; i < 3 * s.triangles; ++i) {
        double* x = s.corners[i].at;
        for (int a = 0; a < 3; ++a) {
            x[a] *= c->scale[a];
        }
        x[0] += c->move + c->shear * x[1];
    }
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    mesh_put_soup(f, &s, MESH_OBJ);
    fclose(f);
    free(s.corners);
}

static const cube plain = {{1.0, 1.0, 1.0}, 0.0, 0.0};
static const cube wide = {{2.0, 1.0, 1.0}, 0.5, 3.0};

static treacle_mesh_sequence numbers(int first, int last) {
    return (treacle_mesh_sequence){.first = first, .last = last, .fps = 10.0};
}

static mesh_sequence* load(treacle_context* ctx, const treacle_mesh_sequence* def) {
    mesh_sequence* seq = NULL;
    assert_int_equal(mesh_sequence_load(ctx, pattern, def, &seq), TREACLE_OK);
    return seq;
}

static void test_vertices_go_straight_between_meshes(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    write_cube(1, 6, &plain);
    write_cube(2, 6, &wide);
    treacle_mesh_sequence def = numbers(1, 2);
    mesh_sequence* seq = load(ctx, &def);
    assert_int_equal(seq->first->vertex_count, 8); // of a soup of 36
    vec3 at[8];
    double frame = mesh_sequence_frame(seq, 0.05);
    assert_close(frame, 0.5, 1e-12);
    mesh_sequence_places(seq, frame, at);
    for (int i = 0; i < 8; ++i) {
        const double* x = seq->places[i].at;
        assert_close(at[i].at[0], 0.5 * x[0] + 0.5 * (3.0 + 2.0 * x[0] + 0.5 * x[1]), 1e-12);
        assert_close(at[i].at[1], x[1], 1e-12);
    }
    assert_close(mesh_sequence_frame(seq, -1.0), 0.0, 0.0);
    assert_close(mesh_sequence_frame(seq, 7.0), 1.0, 0.0);
    mesh_sequence_destroy(seq);
    def.repeat = true;
    def.start = 0.1;
    seq = load(ctx, &def);
    assert_close(mesh_sequence_frame(seq, 0.1 + 0.2 + 0.15), 1.5, 1e-9); // back to the first
    assert_close(mesh_sequence_frame(seq, 0.05), 1.5, 1e-9);
    mesh_sequence_destroy(seq);
    unit_context_end(ctx);
}

static void assert_fails(const treacle_mesh_sequence* def, treacle_status status,
                         const char* says) {
    treacle_context* ctx = unit_context(1);
    mesh_sequence* seq = NULL;
    assert_int_equal(mesh_sequence_load(ctx, pattern, def, &seq), status);
    assert_null(seq);
    assert_error_says(ctx, says);
    unit_context_end(ctx);
}

static void test_what_is_wrong_with_a_sequence_is_said(void** state) {
    (void)state;
    write_cube(1, 6, &plain);
    write_cube(2, 6, &wide);
    write_cube(3, 5, &wide); // without its lid
    treacle_mesh_sequence def = numbers(1, 4);
    assert_fails(&def, TREACLE_ERR_FORMAT, "cube_03.obj: the mesh has 30 vertices, number 1 of");
    write_cube(3, 6, &wide);
    assert_fails(&def, TREACLE_ERR_IO, "cube_04.obj is missing: the sequence goes from 1 to 4");
    def = numbers(3, 1);
    assert_fails(&def, TREACLE_ERR_SCENE, "from 3 to 1");
    def = numbers(1, 2);
    def.fps = NAN;
    assert_fails(&def, TREACLE_ERR_SCENE, "fps");
    char path[MESH_SEQUENCE_PATH_MAX];
    treacle_context* ctx = unit_context(1);
    assert_int_equal(mesh_sequence_path(ctx, "a_##_#.ply", 3, path), TREACLE_ERR_SCENE);
    assert_int_equal(mesh_sequence_path(ctx, "a.ply", 3, path), TREACLE_ERR_SCENE);
    assert_int_equal(mesh_sequence_path(ctx, "f/a_###b.ply", 12345, path), TREACLE_OK);
    assert_string_equal(path, "f/a_12345b.ply");
    unit_context_end(ctx);
}

static treacle_status load_and_destroy(treacle_context* ctx, void* data) {
    mesh_sequence* seq = NULL;
    TREACLE_TRY(mesh_sequence_load(ctx, pattern, data, &seq));
    mesh_sequence_destroy(seq);
    return TREACLE_OK;
}

static void test_any_allocation_may_fail(void** state) {
    (void)state;
    write_cube(1, 6, &plain);
    write_cube(2, 6, &wide);
    treacle_mesh_sequence def = numbers(1, 2);
    ALLOC_FAILURE_CHECK(load_and_destroy, &def);
}

// Trees of both ends.
typedef struct both {
    mesh_sequence* seq;
    mesh_tree *from, *to;
    double reach;
} both;

static both make_both(treacle_context* ctx, const cube* begin, const cube* end) {
    both b;
    write_cube(1, 6, begin);
    write_cube(2, 6, end);
    treacle_mesh_sequence def = numbers(1, 2);
    b.seq = load(ctx, &def);
    assert_int_equal(mesh_tree_create(b.seq->first, &b.from), TREACLE_OK);
    assert_int_equal(mesh_tree_create(b.seq->first, &b.to), TREACLE_OK);
    mesh_tree_refit(b.to, b.seq->places + 8);
    b.reach = 0.0;
    for (int i = 0; i < 8; ++i) {
        b.reach = fmax(b.reach, vec3_length(vec3_sub(b.seq->places[8 + i], b.seq->places[i])));
    }
    return b;
}

static void free_both(both* b) {
    mesh_tree_destroy(b->from);
    mesh_tree_destroy(b->to);
    mesh_sequence_destroy(b->seq);
}

static vec3 random_point(uint64_t id, double size) {
    vec3 x;
    for (uint64_t a = 0; a < 3; ++a) {
        x.at[a] = size * (2.0 * hash_random_f64(a, id, RANDOM_TEST) - 1.0);
    }
    return x;
}

static void test_a_tree_that_was_moved_is_the_tree_of_the_moved_mesh(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    both b = make_both(ctx, &plain, &wide);
    char path[128];
    path_of(2, path);
    triangle_mesh* mesh = NULL;
    mesh_tree* fresh = NULL;
    assert_int_equal(triangle_mesh_load(ctx, path, &mesh), TREACLE_OK);
    assert_int_equal(mesh_tree_create(mesh, &fresh), TREACLE_OK);
    for (uint64_t i = 0; i < 2000; ++i) {
        vec3 x = random_point(i, 4.0);
        double d = mesh_tree_distance(fresh, x);
        assert_close(mesh_tree_distance(b.to, x), d, 1e-12);
        mesh_nearest near = mesh_tree_nearest(b.from, b.to, 1.0, x);
        assert_close(near.distance, fabs(d), 1e-9);
        assert_close(vec3_length(vec3_sub(near.place, near.end)), 0.0, 1e-9);
        assert_true(!near.is_face || near.is_behind == (d < 0.0));
    }
    triangle_mesh_destroy(mesh);
    mesh_tree_destroy(fresh);
    free_both(&b);
    unit_context_end(ctx);
}

// A sheet 0.02 thick that stretches, shears and moves by 3: those in front of it stay in front,
// those behind stay behind, whatever their own way is.
static void test_particles_stay_on_their_side_of_a_sheet_that_swings(void** state) {
    (void)state;
    static const cube begin = {{0.02, 4.0, 4.0}, 0.3, 0.0}, end = {{0.02, 4.0, 4.0}, -0.5, 3.0};
    treacle_context* ctx = unit_context(1);
    both b = make_both(ctx, &begin, &end);
    form_path p = {
        .form = {.from = b.from, .to = b.to, .fraction = 1.0, .reach = b.reach, .dt = 1.0},
        .gap = 0.001};
    int met = 0;
    for (uint64_t i = 0; i < 4000; ++i) {
        vec3 b0 = random_point(i, 1.0), b1 = vec3_add(b0, random_point(i + 10000, 1.0));
        double before = b0.at[0] - 0.3 * b0.at[1];
        if (fabs(before) < 0.02 || fabs(b1.at[1]) > 1.2 || fabs(b1.at[2]) > 1.2) {
            continue;
        }
        bool is_hit = collide_form_follow(&p, b0, &b1);
        double after = b1.at[0] - 3.0 + 0.5 * b1.at[1];
        if (fabs(b1.at[1]) < 1.9 && fabs(b1.at[2]) < 1.9) { // or it has gone round the rim
            assert_true((before > 0.0) == (after > 0.0));
            assert_true(mesh_tree_distance(b.to, b1) > 0.0);
        }
        met += is_hit ? 1 : 0;
    }
    assert_true(met > 500);
    free_both(&b);
    unit_context_end(ctx);
}

// --- solids in a simulation ---------------------------------------------------------------------

typedef struct pool {
    treacle_sim_def def;
    treacle_material_def material;
    treacle_shape water, cube;
    treacle_liquid_def liquid;
    treacle_solid_def solid;
} pool;

static void fill_pool(pool* s) {
    *s = (pool){.def = treacle_sim_def_default(), .material = treacle_material_def_default()};
    s->def.domain.cell = 1.0 / 16;
    s->def.domain.size[2] = 0.5;
    s->def.material_count = 1;
    s->def.materials = &s->material;
    s->water = treacle_shape_default(TREACLE_SHAPE_BOX);
    s->water.size[0] = 2.0;
    s->liquid = treacle_liquid_def_default();
    s->liquid.shape = &s->water;
    s->def.liquid_count = 1;
    s->def.liquids = &s->liquid;
    s->solid = treacle_solid_def_default();
    s->solid.shape = &s->cube;
    s->def.solid_count = 1;
    s->def.solids = &s->solid;
}

typedef struct outcome {
    double energy; // J
    int64_t count;
    double fastest; // m/s
} outcome;

static outcome run_pool(const pool* s, int steps) {
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    outcome out = {0};
    assert_int_equal(treacle_sim_create(ctx, &s->def, &sim), TREACLE_OK);
    for (int i = 0; i < steps; ++i) {
        assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
    }
    out.energy = stats.kinetic_energy;
    out.count = stats.particles;
    out.fastest = stats.max_speed;
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
    return out;
}

// A cube that its meshes move by 2 m/s, and one that is moved by the script.
static void test_meshes_that_only_move_do_what_a_script_does(void** state) {
    (void)state;
    static const cube begin = {{0.2, 0.2, 0.2}, 0.0, 0.0}, end = {{0.2, 0.2, 0.2}, 0.0, 0.2};
    write_cube(1, 6, &begin);
    write_cube(2, 6, &end);
    char path[128];
    path_of(1, path);
    pool by_meshes, by_script;
    fill_pool(&by_meshes);
    fill_pool(&by_script);
    by_meshes.cube = by_script.cube = treacle_shape_default(TREACLE_SHAPE_MESH);
    for (int a = 0; a < 3; ++a) {
        static const double place[3] = {0.3, 0.25, 0.25};
        by_meshes.cube.move[a] = by_script.cube.move[a] = place[a];
    }
    by_meshes.cube.file = pattern;
    by_meshes.cube.frames = (treacle_mesh_sequence){.first = 1, .last = 2, .fps = 10.0};
    by_script.cube.file = path;
    by_script.solid.velocity[0] = 2.0;
    outcome a = run_pool(&by_meshes, 5), b = run_pool(&by_script, 5);
    assert_int_equal(a.count, b.count);
    assert_close(a.fastest / b.fastest, 1.0, 0.05);
    assert_true(a.fastest > 1.0);
    assert_close(a.energy / b.energy, 1.0, 0.01);
}

static treacle_status make_pool(treacle_context* ctx, void* data) {
    treacle_sim* sim = NULL;
    TREACLE_TRY(treacle_sim_create(ctx, &((pool*)data)->def, &sim));
    treacle_sim_destroy(sim);
    return TREACLE_OK;
}

static void test_a_solid_of_meshes_may_run_out_of_memory(void** state) {
    (void)state;
    static const cube small = {{0.2, 0.2, 0.2}, 0.0, 0.0};
    write_cube(1, 6, &small);
    write_cube(2, 6, &small);
    pool s;
    fill_pool(&s);
    s.water.size[1] = 0.3;
    s.water.size[0] = 0.3;
    s.cube = treacle_shape_default(TREACLE_SHAPE_MESH);
    s.cube.file = pattern;
    s.cube.frames = (treacle_mesh_sequence){.first = 1, .last = 2, .fps = 10.0};
    ALLOC_FAILURE_CHECK(make_pool, &s);
}

static double below_the_lid(const double p[3], const void* data) {
    (void)data;
    return p[1] - 6.3;
}

typedef struct drawn_pool {
    liquid_frame liquid;
    treacle_mesh_def def;
} drawn_pool;

static treacle_status draw_pool(treacle_context* ctx, void* data) {
    drawn_pool* p = data;
    treacle_mesh* mesh = NULL;
    TREACLE_TRY(treacle_mesh_create(ctx, &p->liquid.frame, &p->def, &mesh));
    treacle_mesh_destroy(mesh);
    return TREACLE_OK;
}

// A cube that is 4 cells wide at the frame's time, half on its way from 2 to 6.
static void test_a_solid_that_grows_ends_the_surface_where_it_is(void** state) {
    (void)state;
    static const cube small = {{2.0, 2.0, 2.0}, 0.0, 0.0}, large = {{6.0, 6.0, 6.0}, 0.0, 0.0};
    write_cube(1, 6, &small);
    write_cube(2, 6, &large);
    treacle_shape form = treacle_shape_default(TREACLE_SHAPE_MESH);
    form.file = pattern;
    form.frames = numbers(1, 2);
    form.move[0] = form.move[2] = 6.0;
    form.move[1] = 7.0;
    const treacle_solid_def growing = {.name = "cube", .shape = &form};
    drawn_pool p = {.def = treacle_mesh_def_default()};
    p.def.room.solid_count = 1;
    p.def.room.solids = &growing;
    liquid_frame_create(&p.liquid, 12, 1.0, 0.5, below_the_lid, NULL);
    p.liquid.frame.time = 0.05;
    treacle_context* ctx = unit_context(1);
    treacle_mesh* mesh = NULL;
    assert_int_equal(treacle_mesh_create(ctx, &p.liquid.frame, &p.def, &mesh), TREACLE_OK);
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    int on_sides = 0;
    for (int64_t v = 0; v < view.vertex_count; ++v) {
        const float* x = view.position + 3 * v;
        double away = fmax(fabs((double)x[0] - 6.0), fabs((double)x[2] - 6.0));
        double outside = fmax(away, fabs((double)x[1] - 7.0)) - 2.0;
        assert_true(outside > -1e-3);
        on_sides += fabs(away - 2.0) < 1e-3 && x[1] > 5.2f && x[1] < 6.0f;
    }
    assert_true(on_sides > 40);
    treacle_mesh_destroy(mesh);
    unit_context_end(ctx);
    liquid_frame_destroy(&p.liquid);
    liquid_frame_create(&p.liquid, 3, 1.0, 0.5, below_the_lid, NULL);
    ALLOC_FAILURE_CHECK(draw_pool, &p);
    liquid_frame_destroy(&p.liquid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vertices_go_straight_between_meshes),
        cmocka_unit_test(test_what_is_wrong_with_a_sequence_is_said),
        cmocka_unit_test(test_any_allocation_may_fail),
        cmocka_unit_test(test_a_tree_that_was_moved_is_the_tree_of_the_moved_mesh),
        cmocka_unit_test(test_particles_stay_on_their_side_of_a_sheet_that_swings),
        cmocka_unit_test(test_meshes_that_only_move_do_what_a_script_does),
        cmocka_unit_test(test_a_solid_of_meshes_may_run_out_of_memory),
        cmocka_unit_test(test_a_solid_that_grows_ends_the_surface_where_it_is),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
