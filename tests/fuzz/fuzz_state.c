// States with right checksums and wrong numbers. An input is a row of edits of a state that a small
// simulation has made: numbers, counts, types, names, the head. What comes of it is restored, by
// way of a file now and then, and may be stepped. It is refused, and nothing has changed, or it is
// taken, and a step ends.
#include <stdio.h>
#include <unistd.h>

#include "frame_edit.h"
#include "treacle/treacle.h"

enum { STEPS_BEFORE = 2 };

// Between them the scenes have every array that a state can have.
static const char* const scenes[] = {
    // particles of all columns, bodies, an emitter, heat that melts
    "domain: {size: [0.16, 0.16, 0.0], cell: 1 cm, sides: {all: no-slip, top: open}}\n"
    "particles: {colour: true, rest: true, age: true}\n"
    "heat: {air: 20 degC, loss: 10}\n"
    "materials:\n"
    "  wax: {density: 850, viscosity: 0.5, conductivity: 0.5, heat_capacity: 2400,\n"
    "        latent_heat: 60 kJ/kg, solidus: 52 degC, liquidus: 60 degC,\n"
    "        viscosity_law: {kind: linear, from: 52 degC, to: 60 degC, low: 1e6, high: 0.05}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0], max: [0.16, 0.05]}}, temperature: 55 degC,\n"
    "     viscosity_factor: 2}\n"
    "emitters:\n"
    "  - {shape: {box: {min: [0.03, 0.1], max: [0.06, 0.12]}}, speed: 0.5 m/s,\n"
    "     temperature: 58 degC}\n"
    "bodies:\n"
    "  disc: {shape: {sphere: {radius: 2 cm, centre: [0.1, 0.09, 0]}}, density: 700}\n",
    // gel in three dimensions that walls let go of
    "domain: {size: [0.08, 0.08, 0.08], cell: 1 cm, sides: no-slip, separation: on}\n"
    "materials:\n"
    "  gel: {density: 1000, viscosity: 1, elastic: {shear_modulus: 100, yield_stress: 10,\n"
    "        relaxation_time: 1 s}}\n"
    "liquids: [{shape: {sphere: {radius: 2.5 cm, centre: [0.04, 0.03, 0.04]}}}]\n",
    // liquid on the grid with markers, heat and strain
    "motion: eulerian\n"
    "domain: {size: [0.16, 0.16, 0.0], cell: 1 cm, sides: no-slip}\n"
    "materials:\n"
    "  gel: {density: 1000, viscosity: 1, conductivity: 0.5, heat_capacity: 2000,\n"
    "        elastic: {shear_modulus: 100}}\n"
    "liquids: [{shape: {box: {min: [0.02, 0], max: [0.12, 0.06]}}, temperature: 300 K}]\n",
};
enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

// A simulation, and its state apart from it.
typedef struct subject {
    treacle_scene* scene;
    treacle_sim* sim;
    uint64_t hash;
    treacle_frame base;
    treacle_array arrays[FRAME_EDIT_ARRAYS];
} subject;

static treacle_context* ctx;
static subject subjects[SCENES];
static char file_name[64];

static void begin(subject* s, const char* text) {
    treacle_frame view;
    treacle_step_stats stats;
    treacle_status status =
        treacle_scene_parse(ctx, "scene", text, strlen(text), 0, NULL, &s->scene);
    if (status != TREACLE_OK) {
        fputs(treacle_scene_report(s->scene), stderr);
        abort();
    }
    fuzz_check(treacle_sim_create(ctx, treacle_scene_sim(s->scene), &s->sim) == TREACLE_OK);
    for (int i = 0; i < STEPS_BEFORE; ++i) {
        fuzz_check(treacle_sim_step(s->sim, 0.02, &stats) == TREACLE_OK);
    }
    fuzz_check(treacle_sim_view(s->sim, TREACLE_FRAME_STATE, 1, &view) == TREACLE_OK);
    frame_edit_keep(&view, &s->base, s->arrays);
    s->hash = treacle_sim_hash(s->sim);
}

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerInitialize(int* argc, char*** argv) {
    (void)argc;
    (void)argv;
    ctx = fuzz_context();
    snprintf(file_name, sizeof(file_name), "/tmp/fuzz_state_%d.trs", (int)getpid());
    for (int i = 0; i < SCENES; ++i) {
        begin(&subjects[i], scenes[i]);
    }
    return 0;
}

// Restoring ---------------------------------------------------------------------------------------

static treacle_status restore_by_file(treacle_sim* sim, const treacle_frame* frame) {
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = treacle_frame_write(ctx, frame, file_name);
    if (status == TREACLE_OK) {
        status = treacle_frame_open(ctx, file_name, &loaded);
        fuzz_check(status == TREACLE_OK);
        status = treacle_sim_restore(sim, treacle_loaded_frame_view(loaded));
        treacle_loaded_frame_destroy(loaded);
        unlink(file_name);
    }
    return status;
}

static void check_restoring(subject* s, const treacle_frame* frame, bool by_file, bool steps) {
    treacle_status status =
        by_file ? restore_by_file(s->sim, frame) : treacle_sim_restore(s->sim, frame);
    if (status != TREACLE_OK) {
        fuzz_check(status == TREACLE_ERR_FORMAT || status == TREACLE_ERR_USAGE);
        fuzz_check(treacle_context_error(ctx)[0] != '\0');
        fuzz_check(treacle_sim_hash(s->sim) == s->hash);
        return;
    }
    treacle_step_stats stats;
    if (steps) {
        (void)treacle_sim_step(s->sim, 0.01, &stats);
    }
    fuzz_check(treacle_sim_restore(s->sim, &s->base) == TREACLE_OK);
    fuzz_check(treacle_sim_hash(s->sim) == s->hash);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_choices c = {data, size};
    int way = fuzz_byte(&c);
    subject* s = &subjects[fuzz_pick(&c, SCENES)];
    static frame_edit e;
    frame_edit_begin(&e, &s->base, &c);
    check_restoring(s, &e.frame, way % 32 == 31, way % 4 == 1);
    frame_edit_end(&e);
    return 0;
}
