#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "commands.h"
#include "frame_range.h"

typedef struct coiling_options {
    const char* folder;
    const char* frames;
    bool is_table;
} coiling_options;

// The nozzle of the scene's first emitter; false, and a message, if it is none.
static bool nozzle_of(const treacle_sim_def* def, treacle_nozzle* out) {
    const treacle_emitter_def* e = def->emitter_count > 0 ? &def->emitters[0] : NULL;
    bool is_tube = e != NULL && e->shape->kind == TREACLE_SHAPE_CYLINDER;
    bool is_down = is_tube && e->direction[0] == 0.0 && e->direction[1] < 0.0 &&
                   e->direction[2] == 0.0 && e->shape->rotate[0] == 0.0 &&
                   e->shape->rotate[2] == 0.0;
    if (!is_down) {
        cli_error("the scene has no upright cylinder as its first emitter, streaming down");
        return false;
    }
    const treacle_material_def* m = &def->materials[e->material];
    double scale = e->shape->scale;
    *out = (treacle_nozzle){
        .opening = {e->shape->move[0], e->shape->move[1] - 0.5 * scale * e->shape->height,
                    e->shape->move[2]},
        .radius = scale * e->shape->radius,
        .viscosity = m->viscosity * e->viscosity_factor / m->density,
        .gravity = def->gravity.count > 0 ? fmax(-def->gravity.keys[0].value[1], 0.0) : 0.0,
    };
    const treacle_curve* flow = e->rate.count > 0 ? &e->rate : &e->speed;
    double area = e->rate.count > 0 ? 3.14159265358979 * out->radius * out->radius : 1.0;
    out->speed = flow->count > 0 ? flow->keys[0].value[0] / area : 0.0;
    if (!(out->speed > 0.0 && out->viscosity > 0.0)) {
        cli_error("the first emitter has no speed at the start, or its liquid no viscosity");
        return false;
    }
    return true;
}

// The state whose frequency is nearest to the measured one.
static int nearest_state(const treacle_coiling_theory* theory, double frequency) {
    int nearest = 0;
    for (int i = 1; i < theory->count; ++i) {
        double there = fabs(log(theory->frequency[i] / frequency));
        nearest = there < fabs(log(theory->frequency[nearest] / frequency)) ? i : nearest;
    }
    return nearest;
}

static void print_theory(const treacle_coiling_theory* theory, const treacle_coiling* c) {
    const char* regime = treacle_coiling_regime_name(theory->regime);
    if (theory->count == 0) {
        printf(
            "theory     no steady state of a slender rope was found at this height; the limit of\n"
            "           the %s regime is %.4g Hz (G* %.3g, Re* %.3g)\n",
            regime, theory->limit, theory->gravity_number, theory->reynolds_number);
        return;
    }
    for (int i = 0; i < theory->count; ++i) {
        printf("%-10s %.4g Hz, slender rope, %s regime, coil radius %.3g mm, thread %.3g mm\n",
               i == 0 ? "theory" : "  or", theory->frequency[i], regime, 1e3 * theory->radius[i],
               1e3 * theory->thread_radius[i]);
    }
    int nearest = nearest_state(theory, c->frequency);
    printf("           (G* %.3g, Re* %.3g; the theory has no surface tension, no pile that moves\n"
           "           and no shear across the thread: good to about %.0f %%, (a/R)^2)\n",
           theory->gravity_number, theory->reynolds_number,
           100.0 * pow(theory->thread_radius[nearest] / theory->radius[nearest], 2.0));
    printf("difference %+.1f %%%s\n", 100.0 * (c->frequency / theory->frequency[nearest] - 1.0),
           theory->count > 1 ? " from the nearest state" : "");
}

static int print_coiling(treacle_context* ctx, const treacle_nozzle* nozzle,
                         const treacle_coiling* c) {
    if (c->turns < 1.0) {
        printf("coiling    %.2f turns: too few to tell a frequency\n", c->turns);
        return TREACLE_OK;
    }
    treacle_coiling_theory theory;
    treacle_status status =
        treacle_coiling_predict(ctx, nozzle, c->height, c->thread_radius, &theory);
    if (status != TREACLE_OK) {
        return cli_fail(ctx, status);
    }
    printf("coiling    %.2f turns from %.3g s to %.3g s, coil radius %.3g mm\n", c->turns, c->from,
           c->to, 1e3 * c->radius);
    printf("thread     radius %.3g mm at its foot, %.3g mm below the nozzle\n",
           1e3 * c->thread_radius, 1e3 * c->height);
    printf("measured   %.4g Hz, %.3g turns rms off a steady pace\n", c->frequency, c->spread);
    print_theory(&theory, c);
    return TREACLE_OK;
}

static void print_threads(int64_t first, int64_t count, const treacle_thread* threads) {
    printf("frame      time s    foot x mm       y mm       z mm  radius mm\n");
    for (int64_t i = 0; i < count; ++i) {
        const treacle_thread* t = &threads[i];
        if (t->has_landed) {
            printf("%5lld %11.5g %12.5g %10.5g %10.5g %10.4g\n", (long long)(first + i), t->time,
                   1e3 * t->foot[0], 1e3 * t->foot[1], 1e3 * t->foot[2], 1e3 * t->radius);
        }
    }
}

static treacle_status find_thread(treacle_context* ctx, const char* path,
                                  const treacle_nozzle* nozzle, treacle_thread* out) {
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = treacle_frame_read(ctx, path, &loaded);
    if (status == TREACLE_OK) {
        status = treacle_thread_find(ctx, treacle_loaded_frame_view(loaded), nozzle, out);
    }
    treacle_loaded_frame_destroy(loaded);
    return status;
}

static int measure(treacle_context* ctx, const coiling_options* o, const treacle_nozzle* nozzle) {
    frame_range range;
    int code = frame_range_find(ctx, o->folder, o->frames, &range);
    if (code != TREACLE_OK) {
        return code;
    }
    int64_t count = range.last - range.first + 1;
    treacle_thread* threads = malloc((size_t)count * sizeof(treacle_thread));
    if (threads == NULL) {
        cli_error("out of memory");
        return TREACLE_ERR_MEMORY;
    }
    for (int64_t i = 0; i < count && code == TREACLE_OK; ++i) {
        char path[FRAME_PATH_CAPACITY];
        if (!frame_range_path(&range, range.first + i, path)) {
            code = TREACLE_ERR_LIMIT;
            break;
        }
        treacle_status status = find_thread(ctx, path, nozzle, &threads[i]);
        code = status == TREACLE_OK ? code : cli_fail(ctx, status);
    }
    if (code == TREACLE_OK && o->is_table) {
        print_threads(range.first, count, threads);
    }
    if (code == TREACLE_OK) {
        treacle_coiling coiling = treacle_coiling_measure(nozzle, count, threads);
        code = print_coiling(ctx, nozzle, &coiling);
    }
    free(threads);
    return code;
}

static int measure_run(treacle_context* ctx, const void* options) {
    const coiling_options* o = options;
    char path[FRAME_PATH_CAPACITY];
    int length = snprintf(path, sizeof(path), "%s/scene.yaml", o->folder);
    if (length < 0 || length >= FRAME_PATH_CAPACITY) {
        cli_error("the path %.60s... is too long", o->folder);
        return TREACLE_ERR_LIMIT;
    }
    treacle_scene* scene = NULL;
    treacle_nozzle nozzle;
    const cli_list none = {.count = 0};
    int code = (int)cli_load_scene(ctx, path, &none, &scene);
    if (code == TREACLE_OK) {
        bool is_there = nozzle_of(treacle_scene_sim(scene), &nozzle);
        code = is_there ? measure(ctx, o, &nozzle) : (int)TREACLE_ERR_USAGE;
    }
    treacle_scene_destroy(scene);
    return code;
}

int cmd_coiling(int argc, char** argv) {
    coiling_options o = {0};
    const cli_option options[] = {
        FRAME_RANGE_OPTION(&o.frames),
        {.name = "table",
         .kind = CLI_FLAG,
         .out = &o.is_table,
         .help = "also print where the thread's foot is in every frame"},
    };
    const cli_spec spec = {
        .command = "coiling",
        .operand_name = "FOLDER",
        .operand_help = "the folder of a run",
        .summary = "measure how a falling thread coils, beside the theory",
        .details =
            "Follows the thread of the scene's first emitter, a round nozzle that streams\n"
            "down, to where it meets its pile, in every frame, and prints how often that\n"
            "point goes round in a second, and what the equations of a slender rope say for\n"
            "that nozzle and height: all steady states, where there are several. Several\n"
            "frames a turn are needed.",
        .example = "  treacle coiling out/demo\n",
        .operand = &o.folder,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    cli_outcome outcome = cli_parse(&spec, argc, argv);
    return cli_go(outcome, 1, measure_run, &o);
}
