// Does a preview predict the film? Six scenes as users make them, with cells of h and of h/2.
//
// What is asked of a preview is what one wants to know before the night: how far liquid comes,
// when, how often it coils, how much of it there is. Fronts, times and frequencies within 5 % of
// the finer run, volumes within 1 %. The coarse runs take at most 20 s of processor time each. A
// front is where all but a hundredth of the particles are behind it, so that no single one decides.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "cases.h"

enum { SAMPLES = 60, KEPT = SAMPLES + 1 };

typedef enum preview_way { ALONG, UP } preview_way;

typedef struct preview_scene {
    const char *name, *text; // with the cell's width
    double h;                // m, of the preview
    double end;              // s
    preview_way way;         // of the front
    double from;             // m, that its way is counted from
    double past;             // m of way: when it comes by is compared, too; 0: it is not
    double after;            // s: the farthest that it ever is from then on; 0: where it is at last
} preview_scene;

typedef struct preview_run {
    double time[KEPT], front[KEPT]; // s, m
    double volume, seconds;         // m^3 at the end; of the processor
} preview_run;

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Where all but a hundredth of the particles are behind.
static treacle_status find_front(treacle_sim* sim, const preview_scene* s, double* out) {
    validate_particle* particles = NULL;
    int64_t count = 0;
    VALIDATE_TRY(validate_particles(sim, &particles, &count));
    double* at = malloc((size_t)(count > 0 ? count : 1) * sizeof(double));
    for (int64_t i = 0; at != NULL && i < count; ++i) {
        double x = particles[i].place[s->way == UP ? 1 : 0] - s->from;
        at[i] = s->way == UP ? x : fabs(x);
    }
    if (at != NULL && count > 0) {
        qsort(at, (size_t)count, sizeof(double), by_size);
        *out = at[(int64_t)(0.99 * (double)(count - 1))];
    } else {
        *out = 0.0;
    }
    free(at);
    free(particles);
    return TREACLE_OK;
}

static treacle_status run_scene(validate* v, const preview_scene* s, double h, preview_run* out) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    clock_t begin = clock();
    VALIDATE_TRY(validate_sim_create(v, &sim, s->text, h));
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < KEPT && status == TREACLE_OK; ++i) {
        out->time[i] = s->end * i / SAMPLES;
        while (status == TREACLE_OK && out->time[i] - treacle_sim_time(sim) > 1e-9) {
            status = treacle_sim_step(sim, out->time[i] - treacle_sim_time(sim), &stats);
        }
        status = status == TREACLE_OK ? find_front(sim, s, &out->front[i]) : status;
    }
    out->volume = stats.volume;
    out->seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    treacle_sim_destroy(sim);
    return status;
}

static double farthest(const preview_run* r, double after) {
    double most = 0.0;
    for (int i = 0; i < KEPT; ++i) {
        most = r->time[i] >= after ? fmax(most, r->front[i]) : most;
    }
    return most;
}

// When the front comes by, linear between samples; the end if it never does.
static double time_past(const preview_run* r, double way) {
    int i = 1;
    while (i < SAMPLES && r->front[i] < way) {
        ++i;
    }
    double rise = r->front[i] - r->front[i - 1];
    double share = rise > 0.0 ? (way - r->front[i - 1]) / rise : 1.0;
    return r->time[i - 1] + fmin(fmax(share, 0.0), 1.0) * (r->time[i] - r->time[i - 1]);
}

static treacle_status preview(validate* v, const preview_scene* s) {
    // A flat scene is one cell thick.
    preview_run coarse = {0}, fine = {0};
    VALIDATE_TRY(run_scene(v, s, s->h, &coarse));
    VALIDATE_TRY(run_scene(v, s, 0.5 * s->h, &fine));
    bool is_farthest = s->after > 0.0;
    double front[2] = {is_farthest ? farthest(&coarse, s->after) : coarse.front[SAMPLES],
                       is_farthest ? farthest(&fine, s->after) : fine.front[SAMPLES]};
    validate_relative(v, front[0], front[1], 0.05, "%s: %s, m", s->name,
                      is_farthest ? "farthest front" : "front at the end");
    if (s->past > 0.0) {
        validate_relative(v, time_past(&coarse, s->past), time_past(&fine, s->past), 0.05,
                          "%s: s until the front is past %g m", s->name, s->past);
    }
    validate_relative(v, coarse.volume / s->h, fine.volume / (0.5 * s->h), 0.01,
                      "%s: volume over thickness, m^2", s->name);
    validate_at_most(v, coarse.seconds, 20.0, 0.0, "%s: processor time of the preview, s", s->name);
    validate_info(v, fine.seconds, NAN, "%s: processor time of the finer run, s", s->name);
    return TREACLE_OK;
}

static const preview_scene scenes[] = {
    {"pour",
     "domain: {origin: [-0.16, 0], size: [0.32, 0.2], cell: %g, sides: {all: open, bottom: "
     "no-slip}}\n"
     "materials: {honey: {density: 1400, viscosity: 10}}\n"
     "emitters: [{shape: {box: {min: [-0.01, 0.16], max: [0.01, 0.18]}}, speed: 0.4}]\n",
     0.004, 1.0, ALONG, 0.0, 0.06, 0.0},
    {"collapse",
     "domain: {size: [0.6, 0.2], cell: %g, sides: {all: slip, bottom: no-slip, top: open}}\n"
     "materials: {syrup: {density: 1400, viscosity: 5}}\n"
     "liquids: [{shape: {box: {min: [0, 0], max: [0.15, 0.15]}}}]\n",
     0.006, 0.3, ALONG, 0.0, 0.25, 0.0},
    {"dip",
     "domain: {size: [0.24, 0.24], cell: %g, sides: {all: slip, bottom: no-slip, top: open}}\n"
     "materials: {chocolate: {density: 1250, viscosity: 8}}\n"
     "liquids: [{shape: {box: {min: [0, 0], max: [0.24, 0.09]}}}]\n"
     "solids:\n"
     "  bar: {shape: {box: {size: [0.04, 0.08], centre: [0.12, 0.15]}}, wall: no-slip,\n"
     "        position: {keys: {0: [0, 0, 0], 0.4: [0, -0.08, 0], 0.6: [0, -0.08, 0],\n"
     "                          1.0: [0, 0.04, 0]}}}\n",
     0.004, 1.2, UP, 0.0, 0.0, 0.0},
    {"melt",
     "domain: {size: [0.16, 0.12], cell: %g, sides: {all: no-slip, top: open}}\n"
     "materials:\n"
     "  wax: {density: 900, viscosity: 1000, conductivity: 20, heat_capacity: 2000,\n"
     "        viscosity_law: {kind: linear, from: 320 K, to: 330 K, low: 1000, high: 1}}\n"
     "liquids: [{shape: {box: {min: [0.05, 0], max: [0.11, 0.08]}}, temperature: 300 K}]\n"
     "heat_walls: [{side: bottom, temperature: 370 K}]\n",
     0.004, 1.2, ALONG, 0.08, 0.04, 0.0},
    {"splash",
     "domain: {size: [0.5, 0.4], cell: %g, sides: {all: slip, top: open}}\n"
     "liquids:\n"
     "  - {shape: {box: {min: [0, 0], max: [0.5, 0.12]}}}\n"
     "  - {shape: {sphere: {radius: 0.04, centre: [0.25, 0.3]}}, velocity: [0, -2, 0]}\n",
     0.005, 0.6, UP, 0.12, 0.0, 0.12},
};

// --- a coil --------------------------------------------------------------------------------------

static const char coil_scene[] =
    "domain: {origin: [-0.04, 0, -0.04], size: [0.08, 0.1, 0.08], cell: %g, sides: {all: open}}\n"
    "step: {max_dt: 20 ms}\n"
    "materials: {syrup: {density: 1400, viscosity: 0.5 m^2/s}}\n"
    "emitters:\n"
    "  - {shape: {cylinder: {radius: 5 mm, height: 8 mm, centre: [0, 0.09, 0]}}, speed: 0.05}\n"
    "solids: {plate: {shape: {box: {min: [-1, -1, -1], max: [1, 0.02, 1]}}, wall: no-slip,\n"
    "                 position: {keys: {1.2: [0, 0, 0], 6: [0, -0.02, 0]}}}}\n"
    "forces: [{acceleration: [\"0.3*sin(4.5*t)\", 0, \"0.3*cos(4.5*t)\"], start: 0.6, stop: 2}]\n";

static treacle_status coil(validate* v, double h, double* frequency, double* seconds) {
    enum { FRAMES = 120 };
    static treacle_thread threads[FRAMES];
    const treacle_nozzle nozzle = {{0.0, 0.086, 0.0}, 0.005, 0.05, 0.5, 9.81};
    treacle_sim* sim = NULL;
    clock_t begin = clock();
    VALIDATE_TRY(validate_sim_create(v, &sim, coil_scene, h));
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < FRAMES && status == TREACLE_OK; ++i) {
        treacle_frame frame;
        status = validate_advance(sim, 2.2 + 3.8 * i / (FRAMES - 1.0), 1.0);
        status =
            status == TREACLE_OK ? treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame) : status;
        status = status == TREACLE_OK ? treacle_thread_find(v->ctx, &frame, &nozzle, &threads[i])
                                      : status;
    }
    treacle_sim_destroy(sim);
    *frequency = treacle_coiling_measure(&nozzle, FRAMES, threads).frequency;
    *seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    return status;
}

static treacle_status preview_coil(validate* v) {
    double frequency[2], seconds[2];
    VALIDATE_TRY(coil(v, 0.002, &frequency[0], &seconds[0]));
    VALIDATE_TRY(coil(v, 0.001, &frequency[1], &seconds[1]));
    validate_relative(v, frequency[0], frequency[1], 0.05, "coil: Hz");
    validate_at_most(v, seconds[0], 20.0, 0.0, "coil: processor time of the preview, s");
    validate_info(v, seconds[1], NAN, "coil: processor time of the finer run, s");
    return TREACLE_OK;
}

treacle_status case_preview(validate* v) {
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
        if (validate_part_begin(v, scenes[i].name)) {
            VALIDATE_TRY(preview(v, &scenes[i]));
            VALIDATE_TRY(validate_part_end(v));
        }
    }
    if (validate_part_begin(v, "coil")) {
        VALIDATE_TRY(preview_coil(v));
        VALIDATE_TRY(validate_part_end(v));
    }
    return TREACLE_OK;
}
