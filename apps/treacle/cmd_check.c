#include <math.h>
#include <stdio.h>

#include "cli.h"
#include "commands.h"
#include "human.h"
#include "run_end.h"

static void print_grid(const treacle_sim_def* sim, const treacle_estimate* estimate) {
    const int* n = estimate->cells;
    double cell = sim->domain.cell;
    printf("grid       %d x %d x %d cells of %s, %s x %s x %s\n", n[0], n[1], n[2],
           human_metres(cell).at, human_metres(n[0] * cell).at, human_metres(n[1] * cell).at,
           human_metres(n[2] * cell).at);
}

enum { HEAT_LINES = 6 };

// What heat does to a liquid, in nature and in the scene.
static void print_heat(const treacle_scene* scene, const treacle_material_def* material,
                       const treacle_heat_estimate* heat) {
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    double end = treacle_sim_def_frame_time(sim, treacle_scene_output(scene)->frames);
    double speed = sim->heat.speed, shown = heat->seconds / speed;
    const char* what = !heat->turns  ? "comes half of the way to"
                       : heat->melts ? "melts through in"
                                     : "sets through in";
    printf("heat       %s %s", material->name, what);
    if (!heat->turns) {
        printf(" %.0f degC in", heat->outside - 273.15);
    }
    printf(" about %s by %s, %s of it", human_seconds(heat->seconds).at, heat->by,
           human_metres(heat->length).at);
    if (speed != 1.0) {
        printf("; at speed %.6g in %s", speed, human_seconds(shown).at);
    }
    if (shown > end) {
        printf("; the scene ends after %s, for which it would take a speed of %.2g",
               human_seconds(end).at, heat->seconds / end);
    }
    putchar('\n');
}

static treacle_status print_heats(const treacle_scene* scene) {
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    int lines = 0;
    for (int i = 0; i < sim->liquid_count && lines < HEAT_LINES; ++i) {
        treacle_heat_estimate heat;
        treacle_status status = treacle_scene_heat(scene, i, &heat);
        if (status != TREACLE_OK) {
            return status;
        }
        if (isfinite(heat.seconds)) {
            print_heat(scene, &sim->materials[sim->liquids[i].material], &heat);
            lines += 1;
        }
    }
    return TREACLE_OK;
}

// Below this Bond number tension rules, above its inverse weight does.
static const double tension_bond = 0.3;
enum { TENSION_LINES = 6, TENSION_CELLS = 4 }; // cells that a capillary length needs at least

static const char* who_rules(const treacle_tension_estimate* e) {
    return e->bond < tension_bond         ? "tension rules"
           : e->bond < 1.0 / tension_bond ? "tension and weight both count"
                                          : "weight rules, tension rounds what is small";
}

// Whether cells are small enough to show what tension does.
static void print_cell_advice(const treacle_tension_estimate* e, double cell) {
    double shown = fmin(e->capillary, e->length), wanted = shown / TENSION_CELLS;
    if (cell > wanted * 1.0001) {
        printf("; what tension makes is %s wide, %.2g cells: cells of %s would show it",
               human_metres(shown).at, shown / cell, human_metres(wanted).at);
    }
}

// What tension does to a liquid or a stream; where the scene has none, whether it would count.
static bool print_tension(const treacle_sim_def* sim, const treacle_tension_estimate* e) {
    const char* name = sim->materials[e->material].name;
    bool is_given = e->tension > 0.0;
    if (isnan(e->bond) || isnan(e->length) || (!is_given && e->bond > 1.0 / tension_bond)) {
        return false;
    }
    printf("tension    %s of %s: Bond %.2g, capillary %.2g, Ohnesorge %.2g",
           human_metres(e->length).at, name, e->bond, e->capillarity, e->ohnesorge);
    if (e->is_left_out) {
        printf("; tension is left out: it would change the shortest waves by %.2g %%",
               100.0 * e->ratio);
    } else if (!is_given) {
        printf("; %s, but the scene gives none: \"surface_tension: %.3g mN/m\" is that of %s",
               who_rules(e), 1e3 * e->known, name);
    } else {
        printf(": %s", who_rules(e));
        print_cell_advice(e, sim->domain.cell);
    }
    putchar('\n');
    return true;
}

static treacle_status print_tensions(const treacle_scene* scene) {
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    int lines = 0;
    for (int i = 0; i < sim->liquid_count + sim->emitter_count && lines < TENSION_LINES; ++i) {
        treacle_tension_estimate tension;
        treacle_status status = treacle_scene_tension(scene, i, &tension);
        if (status != TREACLE_OK) {
            return status;
        }
        lines += print_tension(sim, &tension) ? 1 : 0;
    }
    return TREACLE_OK;
}

static void print_summary(const treacle_context* ctx, const char* path, const treacle_scene* scene,
                          const treacle_estimate* estimate) {
    const treacle_sim_def* sim = treacle_scene_sim(scene);
    const treacle_output_def* output = treacle_scene_output(scene);
    int threads = treacle_context_threads(ctx);
    printf("scene      %s (%s)\n", output->name, path);
    double film = (double)(output->frames - 1) / sim->fps;
    printf("frames     %lld at %.6g a second, %s", (long long)output->frames, sim->fps,
           human_seconds(film).at);
    if (sim->time_lapse != 1.0) {
        printf(" of film for %s: %.6g times as fast",
               human_seconds(treacle_sim_def_frame_time(sim, output->frames)).at, sim->time_lapse);
    }
    putchar('\n');
    print_grid(sim, estimate);
    printf("particles  %s", human_count((double)estimate->particles).at);
    if (estimate->particles_end != estimate->particles) {
        printf(" at the start, about %s at the end",
               human_count((double)estimate->particles_end).at);
    }
    printf("\nmemory     about %s\n", human_bytes(estimate->memory).at);
    printf("disk       about %s\n", human_bytes(estimate->disk).at);
    printf("time       about %s with %d thread%s, %s\n", human_seconds(estimate->seconds).at,
           threads, threads == 1 ? "" : "s",
           estimate->is_measured ? "by the first steps" : "very roughly: no step was tried");
}

// s of processor time, to try steps of the scene.
static const double trial_seconds = 2.0;

typedef struct check_options {
    const char* path;
    bool quick, preview;
    int64_t threads;
    double coarser;
    bool shows_plan;
    cli_list sets;
} check_options;

static treacle_status print_plan(treacle_context* ctx, const treacle_scene* scene) {
    char* plan = NULL;
    treacle_status status = treacle_sim_plan(ctx, treacle_scene_sim(scene), &plan);
    if (status == TREACLE_OK) {
        fputs(plan, stdout);
    }
    treacle_text_free(ctx, plan);
    return status;
}

static int check(treacle_context* ctx, const void* options) {
    const check_options* o = options;
    cli_list sets = o->sets;
    char room[CLI_COARSER_MAX];
    treacle_scene* scene = NULL;
    treacle_estimate estimate;
    treacle_run_def run = treacle_run_def_default();
    run.preview = o->preview;
    treacle_status status = cli_load_coarser(ctx, o->path, o->coarser, &sets, room, &scene);
    if (status == TREACLE_OK) {
        status = treacle_run_estimate(ctx, scene, &run, o->quick ? 0.0 : trial_seconds, &estimate);
        if (status == TREACLE_OK) {
            print_summary(ctx, o->path, scene, &estimate);
            status = print_heats(scene);
            status = status == TREACLE_OK ? print_tensions(scene) : status;
        }
        if (status == TREACLE_OK && o->shows_plan) {
            status = print_plan(ctx, scene);
        }
        if (status != TREACLE_OK) {
            cli_fail(ctx, status);
        }
    }
    treacle_scene_destroy(scene);
    return (int)status;
}

static cli_outcome parse(check_options* o, int argc, char** argv) {
    const cli_option options[] = {
        RUN_SET_OPTION(&o->sets, "lay a value over the scene file; may be repeated"),
        RUN_COARSER_OPTION(&o->coarser),
        {.name = "plan",
         .kind = CLI_FLAG,
         .out = &o->shows_plan,
         .help = "tell what the simulation is made of, too"},
        {.name = "preview",
         .kind = CLI_FLAG,
         .out = &o->preview,
         .help = "count the previews of \"run --preview\", too"},
        {.name = "quick",
         .kind = CLI_FLAG,
         .out = &o->quick,
         .help = "try no steps: the time is then a rough guess"},
        {.name = "threads",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->threads,
         .min = 1,
         .max = 1024,
         .help = "estimate for N threads (default: one per core)"},
    };
    const cli_spec spec = {
        .command = "check",
        .operand_name = "SCENE",
        .operand_help = "the scene file",
        .summary = "look a scene over: its errors, or what it will cost",
        .details =
            "Prints every error of the scene at once, with file, line and column, on the\n"
            "standard error output; or, if there is none, a summary: grid, particles, and\n"
            "estimates of memory, disk and time. For the time it simulates first frames and a\n"
            "coarser copy of the scene, in about two seconds. Warnings tell of what is no\n"
            "error and yet hardly meant. With --plan, also what follows from the scene for the\n"
            "simulation: flow, laws, columns of particles, stages of a step, and what ranks hold.",
        .example = "  treacle check honey.yaml\n"
                   "  treacle check honey.yaml --set domain.cell=2mm\n",
        .operand = &o->path,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_check(int argc, char** argv) {
    check_options options = {.coarser = 1.0};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, options.threads, check, &options);
}
