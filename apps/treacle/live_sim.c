#include "live_sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BODY_DOUBLES = 13, BODY_VELOCITY = 7, BODY_SPIN = 10, SETS_MAX = 64, SET_LENGTH = 160 };

// How fast a held body follows the hand, 1/s, and at most how many cells a step.
static const double follow_rate = 12.0, follow_cells = 2.5;
static const double step_seconds = 1.0 / 30.0;
// Of the ball of liquid that a pour adds in a step, cells; and how fast it falls, m/s.
static const double pour_radius = 1.6, pour_speed = 0.3;

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const treacle_sim_def* def_of(const live_sim* live) {
    return treacle_scene_sim(live->data.scene);
}

static void complain(live_sim* live) {
    snprintf(live->told, sizeof(live->told), "%s", treacle_context_error(live->data.ctx));
}

// Viscosities as settings that are laid over the scene.
static int viscosity_sets(const treacle_sim_def* def, double factor,
                          char texts[SETS_MAX][SET_LENGTH], const char* sets[SETS_MAX]) {
    int count = 0;
    for (int m = 0; m < def->material_count && count < SETS_MAX; ++m) {
        const treacle_material_def* material = &def->materials[m];
        if (material->name != NULL && factor != 1.0) {
            snprintf(texts[count], SET_LENGTH, "materials.%.100s.viscosity=%.9g", material->name,
                     material->viscosity * factor);
            sets[count] = texts[count];
            count += 1;
        }
    }
    return count;
}

static treacle_status load(live_sim* live, double factor, treacle_scene** scene,
                           treacle_sim** sim) {
    char texts[SETS_MAX][SET_LENGTH];
    const char* sets[CLI_LIST_CAPACITY + SETS_MAX];
    int given = live->sets->count;
    treacle_context* ctx = live->data.ctx;
    *sim = NULL;
    memcpy(sets, live->sets->items, (size_t)given * sizeof(sets[0]));
    treacle_status status = treacle_scene_load(ctx, live->path, given, sets, scene);
    int count = status != TREACLE_OK
                    ? 0
                    : viscosity_sets(treacle_scene_sim(*scene), factor, texts, sets + given);
    if (count > 0) {
        treacle_scene_destroy(*scene);
        status = treacle_scene_load(ctx, live->path, given + count, sets, scene);
    }
    return status == TREACLE_OK ? treacle_sim_create(ctx, treacle_scene_sim(*scene), sim) : status;
}

static void adopt(live_sim* live, treacle_scene* scene, treacle_sim* sim) {
    treacle_sim_destroy(live->sim);
    treacle_scene_destroy(live->data.scene);
    live->data.scene = scene;
    live->sim = sim;
    live->grabbed = -1;
}

static void count_bodies(live_sim* live) {
    treacle_frame frame;
    live->body_count = 0;
    if (treacle_sim_view(live->sim, TREACLE_FRAME_PICTURE, 1, &frame) != TREACLE_OK) {
        return;
    }
    const treacle_array* bodies = treacle_frame_find(&frame, "body_state");
    live->body_count = bodies == NULL ? 0 : (int)bodies->count;
}

int live_sim_open(treacle_context* ctx, const char* path, const cli_list* sets, live_sim* out) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    *out = (live_sim){
        .data = {.ctx = ctx}, .path = path, .sets = sets, .viscosity_factor = 1.0, .grabbed = -1};
    treacle_status status = cli_load_scene(ctx, path, sets, &scene);
    if (status != TREACLE_OK) {
        treacle_scene_destroy(scene);
        return (int)status;
    }
    status = treacle_sim_create(ctx, treacle_scene_sim(scene), &sim);
    if (status != TREACLE_OK) {
        treacle_scene_destroy(scene);
        return cli_fail(ctx, status);
    }
    adopt(out, scene, sim);
    count_bodies(out);
    return TREACLE_OK;
}

void live_sim_close(live_sim* live) {
    treacle_sim_destroy(live->sim);
    treacle_scene_destroy(live->data.scene);
}

void live_sim_restart(live_sim* live) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    if (load(live, live->viscosity_factor, &scene, &sim) == TREACLE_OK) {
        adopt(live, scene, sim);
        live->told[0] = '\0';
    } else {
        complain(live);
        treacle_scene_destroy(scene);
    }
}

void live_sim_set_viscosity(live_sim* live, double factor) {
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_frame state;
    treacle_status status = load(live, factor, &scene, &sim);
    if (status == TREACLE_OK) {
        status = treacle_sim_view(live->sim, TREACLE_FRAME_STATE, 1, &state);
    }
    if (status == TREACLE_OK) {
        status = treacle_sim_restore(sim, &state);
    }
    if (status == TREACLE_OK) {
        adopt(live, scene, sim);
        live->viscosity_factor = factor;
    } else {
        complain(live);
        treacle_sim_destroy(sim);
        treacle_scene_destroy(scene);
    }
}

// Hands -------------------------------------------------------------------------------------------

static void drag(live_sim* live, treacle_edit* edit) {
    treacle_array* bodies = treacle_edit_find(edit, "body_state");
    if (bodies == NULL || live->grabbed < 0 || live->grabbed >= bodies->count) {
        return;
    }
    double* state = (double*)bodies->data + BODY_DOUBLES * live->grabbed;
    double speed = 0.0, most = follow_cells * def_of(live)->domain.cell / step_seconds;
    for (int k = 0; k < 3; ++k) {
        double v = follow_rate * (live->grab_to[k] - state[k]);
        state[BODY_VELOCITY + k] = v;
        state[BODY_SPIN + k] *= 0.8;
        speed += v * v;
    }
    double shorten = sqrt(speed) > most ? most / sqrt(speed) : 1.0;
    for (int k = 0; k < 3; ++k) {
        state[BODY_VELOCITY + k] *= shorten;
    }
}

// Whether liquid is within half a spacing of the place.
static bool is_taken(const double* places, int64_t count, const double at[3], double spacing) {
    for (int64_t i = 0; i < count; ++i) {
        double far = 0.0;
        for (int k = 0; k < 3; ++k) {
            far = fmax(far, fabs(places[3 * i + k] - at[k]));
        }
        if (far < 0.75 * spacing) {
            return true;
        }
    }
    return false;
}

typedef struct pour_job {
    live_sim* live;
    treacle_edit* edit;
    const double* places; // of the liquid before
    int64_t count;
    double spacing;
} pour_job;

static treacle_status pour_one(const pour_job* job, const int at[3], int side) {
    const treacle_domain_def* domain = &def_of(job->live)->domain;
    treacle_particle_def p = {.volume = job->spacing * job->spacing * job->spacing};
    double far = 0.0;
    for (int k = 0; k < 3; ++k) {
        double offset = (at[k] - 0.5 * (side - 1)) * job->spacing;
        p.position[k] = job->live->pour_at[k] + offset;
        far += offset * offset;
        double cells = (p.position[k] - domain->origin[k]) / domain->cell;
        if (cells < 1.0 || cells > domain->size[k] / domain->cell - 1.0) {
            return TREACLE_OK;
        }
    }
    p.velocity[1] = -pour_speed;
    bool is_in = sqrt(far) <= pour_radius * domain->cell;
    return is_in && !is_taken(job->places, job->count, p.position, job->spacing)
               ? treacle_edit_add(job->edit, 1, &p)
               : TREACLE_OK;
}

static treacle_status pour(live_sim* live, treacle_edit* edit) {
    const treacle_sim_def* def = def_of(live);
    int64_t before = treacle_edit_particle_count(edit);
    double* places = malloc((size_t)(before + 1) * 3 * sizeof(double));
    if (places == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    treacle_edit_positions(edit, places);
    double spacing = def->domain.cell / cbrt((double)def->particles.per_cell);
    int side = (int)(2.0 * pour_radius * def->domain.cell / spacing) + 1;
    pour_job job = {live, edit, places, before, spacing};
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < side * side * side && i < 4096 && status == TREACLE_OK; ++i) {
        const int at[3] = {i % side, i / side % side, i / (side * side)};
        status = pour_one(&job, at, side);
    }
    free(places);
    return status;
}

static void warm(live_sim* live, treacle_edit* edit) {
    treacle_array *temperature = treacle_edit_find(edit, "temperature"),
                  *enthalpy = treacle_edit_find(edit, "enthalpy");
    const uint8_t* material = treacle_edit_find(edit, "material")->data;
    if (temperature == NULL) {
        snprintf(live->told, sizeof(live->told), "this scene has no temperature");
        return;
    }
    for (int64_t i = 0; i < temperature->count; ++i) {
        ((float*)temperature->data)[i] += (float)live->heat;
        if (enthalpy != NULL) {
            double capacity = def_of(live)->materials[material[i]].heat_capacity;
            ((double*)enthalpy->data)[i] += capacity * live->heat;
        }
    }
}

static treacle_status use_hands(live_sim* live) {
    treacle_edit* edit = NULL;
    treacle_status status = treacle_edit_begin(live->sim, &edit);
    if (status == TREACLE_OK) {
        drag(live, edit);
        if (live->heat != 0.0) {
            warm(live, edit);
        }
        status = live->is_pouring ? pour(live, edit) : TREACLE_OK;
    }
    if (status == TREACLE_OK) {
        status = treacle_edit_apply(edit);
    }
    treacle_edit_destroy(edit);
    live->heat = 0.0;
    return status;
}

void live_sim_advance(live_sim* live) {
    treacle_step_stats stats;
    double begun = now_seconds();
    bool is_touched = live->grabbed >= 0 || live->is_pouring || live->heat != 0.0;
    treacle_status status = is_touched ? use_hands(live) : TREACLE_OK;
    if (status == TREACLE_OK) {
        status = treacle_sim_step(live->sim, step_seconds, &stats);
    }
    if (status != TREACLE_OK) {
        complain(live);
        live->is_paused = true;
        return;
    }
    live->steps += 1;
    double rate = 1.0 / fmax(now_seconds() - begun, 1e-6);
    live->rate = live->rate == 0.0 ? rate : 0.9 * live->rate + 0.1 * rate;
}
