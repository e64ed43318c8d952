#include "bench_cycles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "benches.h"
#include "image/exr.h"
#include "render/trace_look.h"

enum { WIDTH = 128, HEIGHT = 96, SAMPLES = 128, MANY = 2048, PATH_ROOM = 600 };

static const double eye[3] = {0.15, 0.15, 0.35}, target[3] = {0.05, 0.05, 0.05};
static const double field_of_view = 0.42;
static const double slab_low[3] = {-0.2, -0.01, -0.2}, slab_high[3] = {0.3, 0.0, 0.3};
static const double slab_colour = 0.6;

typedef struct cycles_case {
    bench* b;
    const treacle_frame* frame;
    treacle_look_kind kind;
    char folder[64];
    treacle_render_def def;
    treacle_shape slab;
    treacle_solid_def solid;
    treacle_look_material solid_look;
} cycles_case;

// A picture in luminance, and what it cost.
typedef struct shot {
    float light[WIDTH * HEIGHT];
    double seconds; // of the processor
} shot;

static void name_file(const cycles_case* c, const char* name, char out[PATH_ROOM]) {
    snprintf(out, PATH_ROOM, "%s/%s", c->folder, name);
}

static treacle_status read_shot(const cycles_case* c, const char* path, shot* out) {
    exr_picture picture;
    TREACLE_TRY(exr_read_rgb(c->b->ctx, path, &picture));
    for (int i = 0; i < WIDTH * HEIGHT && picture.width == WIDTH && picture.height == HEIGHT; ++i) {
        out->light[i] = v3f_luminance(v3f_from(picture.values + 3 * (ptrdiff_t)i));
    }
    exr_picture_destroy(&picture);
    return TREACLE_OK;
}

static double cpu_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Ours, without the time that a picture of one sample takes.
static treacle_status draw(const cycles_case* c, int samples, bool denoise, shot* out) {
    treacle_render_def def = c->def;
    char path[PATH_ROOM];
    double times[2] = {0.0, 0.0};
    name_file(c, "ours.exr", path);
    def.noise = 0.0;
    def.seed = samples == MANY ? 1 : 0;
    for (int round = 0; round < 2; ++round) {
        treacle_picture* picture = NULL;
        def.samples = round == 0 ? 1 : samples;
        def.denoise = denoise && round == 1;
        double from = cpu_now();
        TREACLE_TRY(treacle_render_frame(c->b->ctx, c->frame, &def, &picture));
        times[round] = cpu_now() - from;
        treacle_status status = treacle_picture_write(c->b->ctx, picture, path);
        treacle_picture_destroy(picture);
        TREACLE_TRY(status);
    }
    out->seconds = times[1] - times[0];
    return read_shot(c, path, out);
}

static double error_of(const shot* a, const shot* converged) {
    double sum = 0.0;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        double is = (double)a->light[i], should = (double)converged->light[i];
        sum += (is - should) * (is - should) / (should * should + 0.01);
    }
    return sqrt(sum / (WIDTH * HEIGHT));
}

static double mean_of(const shot* a) {
    double sum = 0.0;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        sum += (double)a->light[i];
    }
    return sum / (WIDTH * HEIGHT);
}

static bool write_array(const cycles_case* c, const char* name, const void* data, size_t bytes) {
    char path[PATH_ROOM];
    name_file(c, name, path);
    FILE* file = fopen(path, "wb");
    bool is_written = file != NULL && fwrite(data, 1, bytes, file) == bytes;
    return file != NULL && fclose(file) == 0 && is_written;
}

// The light of the studio as a picture that both read.
static treacle_status write_light(cycles_case* c) {
    char path[PATH_ROOM];
    trace_environment e;
    treacle_look_def studio = treacle_look_def_default();
    TREACLE_TRY(trace_look_environment(c->b->ctx, &studio, &e));
    const exr_channel channels[] = {
        {"R", &e.pixel[0].x, 3}, {"G", &e.pixel[0].y, 3}, {"B", &e.pixel[0].z, 3}};
    exr_layout layout = {e.width, e.height, 3, channels};
    name_file(c, "light.exr", path);
    treacle_status status = exr_write(c->b->ctx, &layout, path);
    trace_environment_destroy(&e);
    return status;
}

// What Cycles has to know: arrays as they are, numbers as text.
static treacle_status write_scene(cycles_case* c) {
    treacle_mesh* mesh = NULL;
    TREACLE_TRY(treacle_mesh_create(c->b->ctx, c->frame, &c->def.mesh, &mesh));
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    bool is_written =
        write_array(c, "vertices", view.position, (size_t)view.vertex_count * 3 * sizeof(float)) &&
        write_array(c, "triangles", view.triangles,
                    (size_t)view.triangle_count * 3 * sizeof(int32_t));
    treacle_mesh_destroy(mesh);
    trace_material look;
    const trace_look_room room = {.size = 0.1, .depth = 0.1};
    trace_look_material(&c->def, 0, &room, &look);
    const trace_medium* m = &look.medium;
    char text[1000];
    snprintf(text, sizeof(text),
             "{\"is_clear\": %d, \"index\": %.9g, \"absorb\": [%.9g, %.9g, %.9g], "
             "\"scatter\": [%.9g, %.9g, %.9g], \"eye\": [%g, %g, %g], \"target\": [%g, %g, %g], "
             "\"field_of_view\": %g, \"slab\": [[%g, %g, %g], [%g, %g, %g]], \"slab_colour\": %g, "
             "\"size\": [%d, %d], \"samples\": %d, \"many\": %d}\n",
             look.kind == TRACE_GLASS, (double)look.facets.eta, (double)m->absorb.x,
             (double)m->absorb.y, (double)m->absorb.z, (double)m->scatter.x, (double)m->scatter.y,
             (double)m->scatter.z, eye[0], eye[1], eye[2], target[0], target[1], target[2],
             field_of_view, slab_low[0], slab_low[1], slab_low[2], slab_high[0], slab_high[1],
             slab_high[2], slab_colour, WIDTH, HEIGHT, SAMPLES, MANY);
    is_written = is_written && write_array(c, "scene.json", text, strlen(text));
    return is_written ? TREACLE_OK : TREACLE_ERR_IO;
}

// Runs Blender on the folder. False if it is not there or fails: there is nothing to compare with.
static bool draw_by_cycles(const cycles_case* c, shot* few, shot* many) {
    char command[3 * PATH_ROOM], path[PATH_ROOM];
    snprintf(command, sizeof(command),
             "blender -b --factory-startup -t 1 -P bench/cycles_scene.py -- %s 2>/dev/null",
             c->folder);
    FILE* pipe = popen(command, "r");
    char line[512];
    double seconds = 0.0;
    while (pipe != NULL && fgets(line, sizeof(line), pipe) != NULL) {
        const char* found = strstr(line, "treacle seconds ");
        seconds = found != NULL ? strtod(found + strlen("treacle seconds "), NULL) : seconds;
    }
    if (pipe == NULL || pclose(pipe) != 0 || !(seconds > 0.0)) {
        return false;
    }
    few->seconds = seconds;
    name_file(c, "few.exr", path);
    bool is_read = read_shot(c, path, few) == TREACLE_OK;
    name_file(c, "many.exr", path);
    return is_read && read_shot(c, path, many) == TREACLE_OK;
}

static void set_case(cycles_case* c) {
    static char light[PATH_ROOM];
    name_file(c, "light.exr", light);
    c->slab = treacle_shape_default(TREACLE_SHAPE_BOX);
    for (int k = 0; k < 3; ++k) {
        c->slab.size[k] = slab_high[k] - slab_low[k];
        c->slab.move[k] = 0.5 * (slab_high[k] + slab_low[k]);
        c->def.camera.eye[k] = eye[k];
        c->def.camera.target[k] = target[k];
        c->solid_look.colour[k] = slab_colour;
    }
    c->solid = treacle_solid_def_default();
    c->solid.name = "slab";
    c->solid.shape = &c->slab;
    c->solid_look.name = "slab";
    c->solid_look.kind = TREACLE_LOOK_PAINT;
    c->def.camera.eye_set = true;
    c->def.camera.field_of_view = field_of_view;
    c->def.camera.shutter = 0.0;
    c->def.width = WIDTH;
    c->def.height = HEIGHT;
    c->def.solid_count = 1;
    c->def.solids = &c->solid;
    c->def.look.solid_count = 1;
    c->def.look.solids = &c->solid_look;
    c->def.look.ground = false;
    c->def.look.environment = TREACLE_ENVIRONMENT_FILE;
    c->def.look.file = light;
    c->def.look.liquid.kind = c->kind;
    c->def.look.liquid.scale = 1.0;
    c->def.look.liquid.cloudiness = 0.0;
    // Wax without a skin: Cycles' random walks have none that bends light.
    c->def.look.liquid.index = c->kind == TREACLE_LOOK_WAX ? 1.0 : -1.0;
}

typedef struct cycles_shots {
    shot raw, smooth, converged, other, other_converged;
} cycles_shots;

static void report(const cycles_case* c, const cycles_shots* s) {
    char against[96], name[64];
    const char* kind = treacle_look_name(c->kind);
    double theirs = error_of(&s->other, &s->other_converged);
    double apart = mean_of(&s->converged) / mean_of(&s->other_converged);
    bench_text(name, sizeof(name), "%s, %d x %d", kind, WIDTH, HEIGHT);
    bench_text(against, sizeof(against), "Cycles, %.3g", mean_of(&s->other_converged));
    bench_report(c->b, &(bench_row){.case_name = name,
                                    .quantity = "mean radiance",
                                    .value = mean_of(&s->converged),
                                    .unit = "1",
                                    .yardstick = against,
                                    .ratio = apart});
    for (int i = 0; i < 2; ++i) {
        const shot* mine = i == 0 ? &s->raw : &s->smooth;
        double error = error_of(mine, &s->converged) * sqrt(mine->seconds / s->other.seconds);
        bench_text(against, sizeof(against), "Cycles, %.3g in %.3g s", theirs, s->other.seconds);
        bench_report(c->b, &(bench_row){.case_name = name,
                                        .quantity = i == 0 ? "error at equal time, raw"
                                                           : "error at equal time, smoothed",
                                        .value = error,
                                        .unit = "1",
                                        .yardstick = against,
                                        .ratio = theirs / error,
                                        .limit = BENCH_RATIO_AT_LEAST,
                                        .minimum = i == 0 ? 1.0 : 1.0 / 0.7});
    }
}

static treacle_status measure(cycles_case* c, cycles_shots* s) {
    set_case(c);
    TREACLE_TRY(write_light(c));
    TREACLE_TRY(write_scene(c));
    if (!draw_by_cycles(c, &s->other, &s->other_converged)) {
        return TREACLE_OK; // no Blender
    }
    TREACLE_TRY(draw(c, SAMPLES, false, &s->raw));
    TREACLE_TRY(draw(c, SAMPLES, true, &s->smooth));
    TREACLE_TRY(draw(c, MANY, false, &s->converged));
    report(c, s);
    return TREACLE_OK;
}

static void clear_folder(const cycles_case* c) {
    static const char* const names[] = {"vertices", "triangles", "scene.json", "light.exr",
                                        "ours.exr", "few.exr",   "many.exr"};
    char path[PATH_ROOM];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        name_file(c, names[i], path);
        unlink(path);
    }
    rmdir(c->folder);
}

treacle_status bench_cycles(bench* b, const treacle_frame* frame) {
    static const treacle_look_kind kinds[] = {TREACLE_LOOK_HONEY, TREACLE_LOOK_WAX,
                                              TREACLE_LOOK_WATER};
    cycles_shots* shots = calloc(1, sizeof(*shots));
    treacle_status status = shots == NULL ? TREACLE_ERR_MEMORY : TREACLE_OK;
    for (int i = 0; i < 3 && status == TREACLE_OK; ++i) {
        cycles_case c = {.b = b,
                         .frame = frame,
                         .kind = kinds[i],
                         .folder = "/tmp/treacle-bench-XXXXXX",
                         .def = treacle_render_def_default(),
                         .solid_look = treacle_look_material_default()};
        if (mkdtemp(c.folder) == NULL) {
            status = TREACLE_ERR_IO;
            break;
        }
        status = measure(&c, shots);
        clear_folder(&c);
    }
    free(shots);
    return status;
}
