// Random scenes over all features (random_scene.h). Each either is refused by the checks of scene
// files, with its reasons, or runs to its end. In every one that runs, after every step,
//
//     every place and velocity is a number, and every particle is in the domain;
//     particles = those before + emitted - absorbed + split - merged, and their volume is that
//     before; without a sink and without an open side none is absorbed;
//     none is deeper than half a cell in a solid or a body, by closed forms;
//     what is on one side of a plate from wall to wall stays there;
//     a pool at rest needs no retry;
//     nothing is faster than three times the sum of all that drives the scene: the fastest that
//     liquids, bodies, solids and emitters begin with or are moved at, and for gravity and forces
//     of acceleration a sqrt(2 a L), L the way through the domain;
//     or what is faster was given its energy: solids that move press liquid out of gaps faster than
//     they are. The account has to show it, in every step:
//
//         sum of m v^2/2 over what is faster <= work of solids and emitters - what was gained
//
//     both summed over all steps so far, of the work what is positive, and of what a step gains
//     beyond the work done on it [energy.6], too.
//
// A scene that fails is kept in out/random-scenes, to be run by "treacle run".
// TREACLE_RANDOM_FROM=520 TREACLE_RANDOM_TO=560 runs scenes 520 to 559 of random-scenes-all alone.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cases.h"
#include "random_scene.h"

enum { STEPS = 40, PART = 50, ALL = 1000 };
#define SPEED_MOST 3.0

// What goes wrong.
enum {
    FAULT_STATUS,  // it does not run to its end
    FAULT_NUMBERS, // not finite
    FAULT_OUTSIDE,
    FAULT_COUNT,
    FAULT_LOST, // without a way out
    FAULT_VOLUME,
    FAULT_DEEP,
    FAULT_ACROSS,
    FAULT_RETRY,
    FAULT_SPEED,
    FAULTS
};
static const char* const fault_names[] = {
    "that do not run to their end",
    "with places or velocities that are not finite",
    "with particles outside the domain",
    "with particles that are not counted",
    "with particles lost without a way out",
    "with volume lost",
    "with particles deeper than half a cell in a solid",
    "with particles on the wrong side of a plate",
    "at rest with a retry",
    "with speeds that nothing explains",
};

typedef struct tally {
    int faults[FAULTS]; // scenes
    int kept, refused, run, retries, plates, bodies, solids, eulerian;
    int64_t steps, particles;
    double depth, speed; // the deepest, cells; the fastest, over what drives its scene
    int driven;          // faster than that allows, and the account shows the work
} tally;

// One scene as it runs.
typedef struct trial {
    const random_scene* scene;
    treacle_sim* sim;
    bool faults[FAULTS];
    double volume;
    double depth, speed;
    double fast;         // J, of what is faster than SPEED_MOST times what drives the scene
    double work, gained; // J, of solids and emitters; beyond all work
    bool is_driven;      // something was, and the account shows the work
    int retries;
} trial;

// ---- after a step -------------------------------------------------------------------------------

// How far beyond a side a particle may be, in cells: the density correction, at most a quarter of a
// cell, comes after the sort, which removes it or carries it round. What has come round may be in a
// solid, which a periodic side does not repeat, and is pushed out of it, back over the side.
static double leeway(const treacle_sim_def* def, int axis, int side) {
    treacle_side kind = def->domain.sides[axis][side];
    return kind == TREACLE_SIDE_OPEN ? 0.2501 : kind == TREACLE_SIDE_PERIODIC ? 8.0 : 1e-5;
}

typedef struct poses {
    random_pose solids[RANDOM_SOLIDS], bodies[RANDOM_BODIES];
} poses;

static poses find_poses(const trial* t, const treacle_frame* frame) {
    poses out;
    double time = treacle_sim_time(t->sim);
    for (int i = 0; i < t->scene->solid_count; ++i) {
        out.solids[i] = random_pose_at(&t->scene->solids[i], time);
    }
    const treacle_array* bodies = treacle_frame_find(frame, "body_state");
    for (int i = 0; bodies != NULL && i < t->scene->body_count; ++i) {
        const double* state = (const double*)bodies->data + i * bodies->components;
        out.bodies[i] = random_pose_of_body(state, state + 3);
    }
    return out;
}

static double depth_of(const trial* t, const poses* at, const double x[3]) {
    const random_scene* s = t->scene;
    double depth = 0.0, time = treacle_sim_time(t->sim);
    for (int i = 0; i < s->solid_count; ++i) {
        depth = fmax(depth, -random_distance(s, &s->solids[i], &at->solids[i], time, x));
    }
    for (int i = 0; i < s->body_count; ++i) {
        depth = fmax(depth, -random_distance(s, &s->bodies[i], &at->bodies[i], time, x));
    }
    return depth / s->cell;
}

static void look_at_particle(trial* t, const treacle_sim_def* def, const treacle_frame* frame,
                             const double x[3]) {
    for (int a = 0; a < t->scene->axes; ++a) {
        double cells = (x[a] - frame->origin[a]) / frame->cell;
        t->faults[FAULT_NUMBERS] = t->faults[FAULT_NUMBERS] || !isfinite(x[a]);
        t->faults[FAULT_OUTSIDE] = t->faults[FAULT_OUTSIDE] || cells < -leeway(def, a, 0) ||
                                   cells > frame->cells[a] + leeway(def, a, 1);
    }
}

// Wholly behind the plate.
static bool is_across(const trial* t, const poses* at, int material, const double x[3]) {
    double side = random_side(t->scene, &at->solids[0], x);
    double half = 0.5 * t->scene->solids[0].size[0];
    return material == 0 ? side > half : side < -half;
}

// J, of a particle, if it is fast.
static double fast_energy(const trial* t, double mass, const float u[3]) {
    double x = (double)u[0], y = (double)u[1], z = (double)u[2];
    double square = x * x + y * y + z * z, most = SPEED_MOST * t->scene->drive;
    return square > most * most ? 0.5 * mass * square : 0.0;
}

static treacle_status look(trial* t, const treacle_sim_def* def) {
    treacle_frame frame;
    VALIDATE_TRY(treacle_sim_view(t->sim, TREACLE_FRAME_STATE, 1, &frame));
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const treacle_array* material = treacle_frame_find(&frame, "material");
    if (first == NULL || t->scene->is_eulerian) {
        return TREACLE_OK;
    }
    poses at = find_poses(t, &frame);
    const int64_t* tile_first = first->data;
    const float* u = treacle_frame_find(&frame, "velocity")->data;
    const float* volume = treacle_frame_find(&frame, "volume")->data;
    t->fast = 0.0;
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            double x[3];
            validate_position(&frame, tile, i, x);
            look_at_particle(t, def, &frame, x);
            bool is_finite = isfinite(u[3 * i]) && isfinite(u[3 * i + 1]) && isfinite(u[3 * i + 2]);
            t->faults[FAULT_NUMBERS] = t->faults[FAULT_NUMBERS] || !is_finite;
            t->depth = fmax(t->depth, depth_of(t, &at, x));
            int which = material != NULL ? ((const uint8_t*)material->data)[i] : 0;
            t->fast += fast_energy(t, (double)volume[i] * def->materials[which].density, u + 3 * i);
            if (t->scene->has_strangers && material != NULL) {
                t->faults[FAULT_ACROSS] = t->faults[FAULT_ACROSS] || is_across(t, &at, which, x);
            }
        }
    }
    return TREACLE_OK;
}

static void judge_step(trial* t, const treacle_step_stats* stats, int64_t before) {
    int64_t expected = before + stats->emitted - stats->absorbed + stats->split - stats->merged;
    bool is_same = stats->emitted == 0 && stats->absorbed == 0;
    bool is_eulerian = t->scene->is_eulerian;
    t->faults[FAULT_COUNT] =
        t->faults[FAULT_COUNT] || (!is_eulerian && stats->particles != expected);
    t->faults[FAULT_LOST] =
        t->faults[FAULT_LOST] || (!t->scene->has_way_out && stats->absorbed > 0);
    if (t->volume > 0.0 && is_same && !is_eulerian) {
        double change = fabs(stats->volume / t->volume - 1.0);
        t->faults[FAULT_VOLUME] = t->faults[FAULT_VOLUME] || !(change <= 1e-6);
    }
    t->volume = stats->volume;
    t->retries += stats->retries;
    t->speed = fmax(t->speed, stats->max_speed / t->scene->drive);
    t->work += fmax(stats->energy.solids, 0.0) + fmax(stats->energy.particles, 0.0);
    t->gained += fmax(stats->energy.gain, 0.0);
    t->fast = is_eulerian ? stats->kinetic_energy : t->fast; // nobody knows of what
}

// Whether the account shows who made it fast.
static void judge_speed(trial* t, const treacle_step_stats* stats) {
    if (stats->max_speed > SPEED_MOST * t->scene->drive) {
        bool is_shown = t->fast <= t->work - t->gained;
        t->is_driven = t->is_driven || is_shown;
        t->faults[FAULT_SPEED] = t->faults[FAULT_SPEED] || !is_shown;
    }
}

static treacle_status step(trial* t, const treacle_sim_def* def, double dt) {
    int64_t before = treacle_sim_particle_count(t->sim);
    treacle_step_stats stats;
    VALIDATE_TRY(treacle_sim_step(t->sim, dt, &stats));
    judge_step(t, &stats, before);
    VALIDATE_TRY(look(t, def));
    judge_speed(t, &stats);
    return TREACLE_OK;
}

// ---- a scene ------------------------------------------------------------------------------------

static void keep_text(const random_scene* scene) {
    char path[64];
    snprintf(path, sizeof(path), "out/random-scenes/scene_%04llu.yaml",
             (unsigned long long)scene->number);
    mkdir("out", 0777);
    mkdir("out/random-scenes", 0777);
    FILE* out = fopen(path, "w");
    if (out != NULL) {
        fwrite(scene->text, 1, scene->length, out);
        fclose(out);
    }
}

// Adds what the scene has shown, and tells of what is wrong with it.
static void close_trial(validate* v, trial* t, treacle_status status, tally* sum) {
    const random_scene* s = t->scene;
    t->faults[FAULT_STATUS] = status != TREACLE_OK;
    t->faults[FAULT_DEEP] = t->depth > 0.5;
    t->faults[FAULT_RETRY] = s->is_at_rest && t->retries > 0;
    bool is_wrong = false;
    for (int i = 0; i < FAULTS; ++i) {
        sum->faults[i] += t->faults[i];
        is_wrong = is_wrong || t->faults[i];
        if (t->faults[i]) {
            fprintf(stderr, "random-scenes: scene %llu is one %s%s%s\n",
                    (unsigned long long)s->number, fault_names[i], i == FAULT_STATUS ? ": " : "",
                    i == FAULT_STATUS ? treacle_context_error(v->ctx) : "");
        }
    }
    if (is_wrong) {
        keep_text(s);
        sum->kept += 1;
    }
    sum->run += 1;
    sum->retries += t->retries;
    sum->plates += s->has_strangers;
    sum->bodies += s->body_count > 0;
    sum->solids += s->solid_count > 0;
    sum->eulerian += s->is_eulerian;
    sum->depth = fmax(sum->depth, t->depth);
    sum->speed = fmax(sum->speed, t->speed);
    sum->driven += t->is_driven;
}

static void run_trial(validate* v, const random_scene* scene, const treacle_sim_def* def,
                      tally* sum) {
    trial t = {.scene = scene};
    treacle_status status = treacle_sim_create(v->ctx, def, &t.sim);
    for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
        double left = scene->until - treacle_sim_time(t.sim);
        if (left <= 1e-9 * scene->until) {
            break;
        }
        status = step(&t, def, left);
        sum->steps += 1;
    }
    if (t.sim != NULL) {
        int64_t count = treacle_sim_particle_count(t.sim);
        sum->particles = count > sum->particles ? count : sum->particles;
    }
    close_trial(v, &t, status, sum);
    treacle_sim_destroy(t.sim);
}

static treacle_status run_scene(validate* v, uint64_t number, tally* sum) {
    random_scene scene;
    int kept = sum->kept;
    if (!random_scene_draw(number, &scene)) {
        random_scene_free(&scene);
        return validate_stop(v, "scene %llu could not be drawn: %s", (unsigned long long)number,
                             strerror(errno));
    }
    treacle_scene* parsed = NULL;
    treacle_status status =
        treacle_scene_parse(v->ctx, "random", scene.text, scene.length, 0, NULL, &parsed);
    if (status == TREACLE_OK) {
        run_trial(v, &scene, treacle_scene_sim(parsed), sum);
    } else if (status == TREACLE_ERR_SCENE) {
        sum->refused += 1;
        validate_progress(v, "scene %llu is refused: %s", (unsigned long long)number,
                          treacle_scene_report(parsed));
        status = TREACLE_OK;
    }
    treacle_scene_destroy(parsed);
    if (sum->kept > kept) {
        scene.folder[0] = '\0'; // the text that is kept asks for its meshes
    }
    random_scene_free(&scene);
    return status;
}

static treacle_status run(validate* v, int first, int count) {
    tally sum = {0};
    for (int i = first; i < first + count; ++i) {
        VALIDATE_TRY(run_scene(v, (uint64_t)i, &sum));
    }
    for (int i = 0; i < FAULTS; ++i) {
        validate_absolute(v, sum.faults[i], 0.0, 0.0, "scenes %d to %d, %s", first,
                          first + count - 1, fault_names[i]);
    }
    validate_at_most(v, (double)sum.refused / count, 0.1, 0.0, "that are refused, of all");
    validate_info(v, sum.depth, NAN, "the deepest particle in a solid, cells");
    validate_info(v, sum.speed, NAN, "the fastest, over what drives its scene");
    validate_info(v, sum.driven, NAN,
                  "faster than three times that, by the work of solids or emitters");
    validate_info(v, sum.plates, NAN, "with a plate between two liquids");
    validate_info(v, sum.solids, NAN, "with solids");
    validate_info(v, sum.bodies, NAN, "with bodies");
    validate_info(v, sum.eulerian, NAN, "that the grid carries");
    validate_info(v, sum.retries, NAN, "retries");
    validate_info(v, (double)sum.steps, NAN, "steps");
    validate_info(v, (double)sum.particles, NAN, "particles of the largest");
    return TREACLE_OK;
}

treacle_status case_random_scenes(validate* v) {
    return run(v, 0, 60);
}

// A number of the environment, from 0 to ALL.
static int number_of(const char* name, int usual) {
    const char* text = getenv(name);
    long number = text != NULL ? strtol(text, NULL, 10) : usual;
    return number < 0 ? 0 : number > ALL ? ALL : (int)number;
}

treacle_status case_random_scenes_all(validate* v) {
    int from = number_of("TREACLE_RANDOM_FROM", 0), to = number_of("TREACLE_RANDOM_TO", ALL);
    for (int first = from; first < to; first += PART) {
        int count = to - first < PART ? to - first : PART;
        char name[32];
        snprintf(name, sizeof(name), "from-%d-%d", first, count);
        if (validate_part_begin(v, name)) {
            VALIDATE_TRY(run(v, first, count));
            VALIDATE_TRY(validate_part_end(v));
        }
    }
    return TREACLE_OK;
}
