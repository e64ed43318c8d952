// Exports: clean failures, order of frames, endings. tests/cli/test_round_trip.py reads the files.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc_failure.h"
#include "treacle/export.h"
#include "treacle/sim.h"

enum { SIDE = 4, POINTS = SIDE * SIDE * SIDE };

// A cube of particles in the tile (0, 0, 0).
typedef struct cube_frame {
    int32_t tile[3];
    int64_t first[2];
    float position[3 * POINTS], velocity[3 * POINTS], volume[POINTS], temperature[POINTS];
    uint64_t id[POINTS];
    uint8_t material[POINTS];
    treacle_array arrays[8];
    treacle_frame frame;
    char folder[32];
    treacle_export_format format;
    treacle_export_what what;
} cube_frame;

static treacle_array array_of(const char* name, treacle_type type, int components, int64_t count,
                              const void* data) {
    treacle_array out = {.type = type, .components = components, .count = count, .data = data};
    snprintf(out.name, sizeof(out.name), "%s", name);
    return out;
}

static void fill_points(cube_frame* c) {
    for (int i = 0; i < POINTS; ++i) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)};
        for (int k = 0; k < 3; ++k) {
            c->position[3 * i + k] = 2.25f + 0.5f * (float)at[k];
            c->velocity[3 * i + k] = (float)(k + 1);
        }
        c->volume[i] = 0.125e-6f;
        c->temperature[i] = 300.0f;
        c->id[i] = (uint64_t)i;
    }
}

static void make_cube(cube_frame* c) {
    *c = (cube_frame){.first = {0, POINTS}, .folder = "/tmp/treacle-export-XXXXXX"};
    fill_points(c);
    const treacle_array arrays[8] = {
        array_of("tile_coord", TREACLE_TYPE_I32, 3, 1, c->tile),
        array_of("tile_first", TREACLE_TYPE_I64, 1, 2, c->first),
        array_of("position", TREACLE_TYPE_F32, 3, POINTS, c->position),
        array_of("velocity", TREACLE_TYPE_F32, 3, POINTS, c->velocity),
        array_of("volume", TREACLE_TYPE_F32, 1, POINTS, c->volume),
        array_of("temperature", TREACLE_TYPE_F32, 1, POINTS, c->temperature),
        array_of("id", TREACLE_TYPE_U64, 1, POINTS, c->id),
        array_of("material", TREACLE_TYPE_U8, 1, POINTS, c->material),
    };
    memcpy(c->arrays, arrays, sizeof(arrays));
    c->frame = (treacle_frame){.kind = TREACLE_FRAME_PICTURE,
                               .number = 1,
                               .fps = 24.0,
                               .cell = 0.01,
                               .cells = {8, 8, 8},
                               .array_count = 8,
                               .arrays = c->arrays};
    assert_non_null(mkdtemp(c->folder));
}

static void remove_files(const cube_frame* c) {
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", c->folder);
    assert_int_equal(system(command), 0);
}

static treacle_status dress_and_export(treacle_context* ctx, void* data) {
    cube_frame* c = data;
    treacle_export_def def = treacle_export_def_default();
    treacle_material_def material = treacle_material_def_default();
    treacle_sim_def sim = treacle_sim_def_default();
    sim.material_count = 1;
    sim.materials = &material;
    def.format = c->format;
    def.what = c->what;
    def.folder = c->folder;
    def.mesh.resolution = 1.0;
    treacle_exporter* exporter = NULL;
    treacle_dressed_frame* dressed = NULL;
    treacle_status status = treacle_frame_dress(ctx, &sim, &c->frame, &dressed);
    if (status == TREACLE_OK) {
        status = treacle_exporter_create(ctx, &def, &exporter);
    }
    if (status == TREACLE_OK) {
        status = treacle_exporter_add(exporter, treacle_dressed_frame_view(dressed));
    }
    if (status == TREACLE_OK) {
        status = treacle_exporter_finish(exporter);
    }
    treacle_exporter_destroy(exporter);
    treacle_dressed_frame_destroy(dressed);
    return status;
}

static void test_every_format_survives_every_failing_allocation(void** state) {
    (void)state;
    cube_frame c;
    make_cube(&c);
    for (int format = TREACLE_EXPORT_PLY; format <= TREACLE_EXPORT_GLB; ++format) {
        c.format = (treacle_export_format)format;
        c.what = TREACLE_EXPORT_PARTICLES;
        ALLOC_FAILURE_CHECK(dress_and_export, &c);
    }
    c.format = TREACLE_EXPORT_VTK;
    c.what = TREACLE_EXPORT_VOLUME;
    ALLOC_FAILURE_CHECK(dress_and_export, &c);
    remove_files(&c);
}

static void test_a_surface_survives_every_failing_allocation(void** state) {
    (void)state;
    cube_frame c;
    make_cube(&c);
    c.format = TREACLE_EXPORT_USD;
    c.what = TREACLE_EXPORT_SURFACE;
    ALLOC_FAILURE_CHECK(dress_and_export, &c);
    remove_files(&c);
}

static void test_a_frame_without_liquid_is_exported_too(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    cube_frame c;
    make_cube(&c);
    c.first[1] = 0;
    c.arrays[0].count = 0;
    c.arrays[1].count = 1;
    for (int k = 2; k < 8; ++k) {
        c.arrays[k].count = 0;
    }
    // Not VDB: OpenVDB's threads are not built for the sanitizers.
    for (int format = TREACLE_EXPORT_PLY; format < TREACLE_EXPORT_VDB; ++format) {
        c.format = (treacle_export_format)format;
        c.what = TREACLE_EXPORT_PARTICLES;
        assert_int_equal(dress_and_export(ctx, &c), TREACLE_OK);
        c.what = format == TREACLE_EXPORT_VTK ? TREACLE_EXPORT_VOLUME : TREACLE_EXPORT_SURFACE;
        assert_int_equal(dress_and_export(ctx, &c), TREACLE_OK);
    }
    remove_files(&c);
    unit_context_end(ctx);
}

static void test_frames_come_in_order(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    cube_frame c;
    make_cube(&c);
    treacle_export_def def = treacle_export_def_default();
    treacle_exporter* exporter = NULL;
    def.what = TREACLE_EXPORT_PARTICLES;
    def.folder = c.folder;
    assert_int_equal(treacle_exporter_create(ctx, &def, &exporter), TREACLE_OK);
    c.frame.number = 7;
    assert_int_equal(treacle_exporter_add(exporter, &c.frame), TREACLE_OK);
    assert_non_null(strstr(treacle_exporter_path(exporter), "/particles_0007.ply"));
    assert_int_equal(treacle_exporter_add(exporter, &c.frame), TREACLE_ERR_USAGE);
    treacle_exporter_destroy(exporter);
    remove_files(&c);
    unit_context_end(ctx);
}

// What is no number, or beyond white, has a byte for other programs, too.
static void test_colours_that_no_byte_holds_are_written(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    cube_frame c;
    make_cube(&c);
    float colour[3 * POINTS] = {NAN, -1.0f, 1e30f};
    treacle_array arrays[9];
    memcpy(arrays, c.arrays, sizeof(c.arrays));
    arrays[8] = array_of("colour", TREACLE_TYPE_F32, 3, POINTS, colour);
    c.frame.arrays = arrays;
    c.frame.array_count = 9;
    c.format = TREACLE_EXPORT_PLY;
    c.what = TREACLE_EXPORT_PARTICLES;
    assert_int_equal(dress_and_export(ctx, &c), TREACLE_OK);

    char path[64];
    snprintf(path, sizeof(path), "%s/particles_0001.ply", c.folder);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char line[128];
    int floats = 0;
    while (fgets(line, sizeof(line), file) != NULL && strcmp(line, "end_header\n") != 0) {
        floats += strncmp(line, "property float ", 15) == 0 ? 1 : 0;
    }
    assert_int_equal(fseek(file, 4L * floats, SEEK_CUR), 0);
    uint8_t bytes[3] = {9, 9, 9};
    assert_int_equal(fread(bytes, 1, 3, file), 3);
    fclose(file);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[1], 0);
    assert_int_equal(bytes[2], 255);
    remove_files(&c);
    unit_context_end(ctx);
}

static void test_tiles_that_lie_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    cube_frame c;
    make_cube(&c);
    c.first[1] = POINTS + 1;
    c.what = TREACLE_EXPORT_PARTICLES;
    assert_int_equal(dress_and_export(ctx, &c), TREACLE_ERR_FORMAT);
    remove_files(&c);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_survives_every_failing_allocation),
        cmocka_unit_test(test_a_surface_survives_every_failing_allocation),
        cmocka_unit_test(test_a_frame_without_liquid_is_exported_too),
        cmocka_unit_test(test_frames_come_in_order),
        cmocka_unit_test(test_colours_that_no_byte_holds_are_written),
        cmocka_unit_test(test_tiles_that_lie_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
