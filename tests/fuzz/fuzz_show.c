// Frames with right checksums and wrong numbers, shown: an input is a row of edits of a frame that
// a simulation has made. Its surface, its particles as a file, a preview and its bounds are made of
// it or refused with a sentence.
#include <stdio.h>
#include <unistd.h>

#include "frame_edit.h"
#include "treacle/treacle.h"

static const char scene_text[] =
    "domain: {size: [0.08, 0.08, 0.08], cell: 1 cm}\n"
    "particles: {colour: true, rest: true, age: true}\n"
    "materials: {wax: {density: 900, conductivity: 1, heat_capacity: 2000}, oil: {density: 800}}\n"
    "liquids:\n"
    "  - {shape: {sphere: {radius: 2 cm, centre: [0.04, 0.03, 0.04]}}, material: wax,\n"
    "     temperature: 330 K}\n"
    "  - {shape: {box: {min: [0, 0, 0], max: [0.02, 0.01, 0.02]}}, material: oil}\n"
    "bodies: {die: {shape: {box: {size: [1 cm, 1 cm, 1 cm], centre: [0.04, 0.07, 0.04]}}}}\n";

static treacle_context* ctx;
static treacle_frame base;
static treacle_array base_arrays[FRAME_EDIT_ARRAYS];
static char folder[64];

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerInitialize(int* argc, char*** argv) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_frame view;
    (void)argc;
    (void)argv;
    ctx = fuzz_context();
    treacle_status status =
        treacle_scene_parse(ctx, "scene", scene_text, strlen(scene_text), 0, NULL, &scene);
    if (status != TREACLE_OK) {
        fputs(treacle_scene_report(scene), stderr);
        abort();
    }
    fuzz_check(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim) == TREACLE_OK);
    fuzz_check(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &view) == TREACLE_OK);
    frame_edit_keep(&view, &base, base_arrays);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    snprintf(folder, sizeof(folder), "/tmp/fuzz_show_XXXXXX");
    fuzz_check(mkdtemp(folder) != NULL);
    return 0;
}

static void check_status(treacle_status status) {
    fuzz_check(status == TREACLE_OK || status == TREACLE_ERR_FORMAT ||
               status == TREACLE_ERR_USAGE || status == TREACLE_ERR_LIMIT);
    fuzz_check(status == TREACLE_OK || treacle_context_error(ctx)[0] != '\0');
}

static void make_mesh(const treacle_frame* frame) {
    treacle_mesh_def def = treacle_mesh_def_default();
    treacle_mesh* mesh = NULL;
    treacle_status status = treacle_mesh_create(ctx, frame, &def, &mesh);
    check_status(status);
    if (status == TREACLE_OK) {
        treacle_mesh_view view = treacle_mesh_get_view(mesh);
        for (int64_t i = 0; i < 3 * view.triangle_count; ++i) {
            fuzz_check(view.triangles[i] >= 0 && view.triangles[i] < view.vertex_count);
        }
    }
    treacle_mesh_destroy(mesh);
}

static void export_particles(const treacle_frame* frame) {
    treacle_export_def def = treacle_export_def_default();
    treacle_exporter* exporter = NULL;
    def.format = TREACLE_EXPORT_PLY;
    def.what = TREACLE_EXPORT_PARTICLES;
    def.folder = folder;
    fuzz_check(treacle_exporter_create(ctx, &def, &exporter) == TREACLE_OK);
    treacle_status status = treacle_exporter_add(exporter, frame);
    check_status(status);
    if (status == TREACLE_OK) {
        unlink(treacle_exporter_path(exporter));
    }
    treacle_exporter_destroy(exporter);
}

static void draw_preview(const treacle_frame* frame, treacle_preview_by by) {
    char path[128];
    treacle_preview_def def = treacle_preview_def_default();
    def.width = def.height = 16;
    def.by = by;
    snprintf(path, sizeof(path), "%s/preview.png", folder);
    check_status(treacle_preview_write(ctx, frame, &def, path));
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_choices c = {data, size};
    int way = fuzz_pick(&c, 8);
    static frame_edit e;
    frame_edit_begin(&e, &base, &c);
    if (way < 4) {
        make_mesh(&e.frame);
    } else if (way < 6) {
        export_particles(&e.frame);
    } else {
        draw_preview(&e.frame,
                     way == 6 ? TREACLE_PREVIEW_BY_COLOUR : TREACLE_PREVIEW_BY_TEMPERATURE);
    }
    frame_edit_end(&e);
    fuzz_check(treacle_context_memory(ctx) == 0);
    return 0;
}
