#include "base/check.h"
#include "defs/rules.h"
#include "defs/schema_parts.h"
#include "math/limits.h"

#include <stdio.h>
#include <string.h>

// In the order of the enums in types.h.
static const char* const fill_words[] = {"particles", "all", NULL};
static const char* const flow_words[] = {"none", "pressure", "split", "unified", "auto", NULL};
static const char* const motion_words[] = {"particles", "eulerian", NULL};
static const char* const transfer_words[] = {"pic", "flip", "apic", NULL};
static const char* const kernel_words[] = {"linear", "quadratic", "wide", NULL};
static const char* const surface_words[] = {"smooth", "spheres", NULL};
static const char* const projection_words[] = {"solve", "relax", NULL};
static const char* const opening_words[] = {"exact", "area", "line", "voxel", NULL};
static const char* const advection_words[] = {"euler", "rk2", "rk3", NULL};

static const schema_key particles_keys[] = {
    {.name = "per_cell",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_particles_def, per_cell),
     .range = WITHIN(1, 64),
     .help = "particles that fill a cell of liquid; a cube (1, 8, 27) is best, or a square (4, 9, "
             "16) in 2D"},
    {.name = "jitter",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_particles_def, jitter),
     .range = WITHIN(0, 1),
     .help = "how much of its own little box a particle may be shifted in, at random"},
    {.name = "colour",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_particles_def, colour),
     .help = "each carries its colour, into frames and meshes; always so where a liquid has a "
             "`colour` of its own"},
    {.name = "rest",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_particles_def, rest),
     .help = "particles remember where they were born, so that textures stick to the liquid; a "
             "texture in `look` turns it on"},
    {.name = "age",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_particles_def, age),
     .help = "particles remember when they were born; `treacle export` then gives their age"},
};
static const schema_section particles_section = {
    .name = "particles",
    .help = "How liquid is sampled.",
    .keys = particles_keys,
    .key_count = COUNT(particles_keys),
    .bytes = sizeof(treacle_particles_def),
};

static const char* const splitting_words[] = {"first", "second", NULL};
static const schema_key step_keys[] = {
    {.name = "cfl",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_step_def, cfl),
     .range = WITHIN(0.1, 5),
     .help = "cells that the fastest particle may cross in a step; less is slower and more exact"},
    {.name = "max_dt",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_step_def, max_dt),
     .unit = UNIT_TIME,
     .range = WITHIN(LIMIT_STEP_LEAST, LIMIT_STEP),
     .help = "the longest step"},
    {.name = "min_dt",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_step_def, min_dt),
     .unit = UNIT_TIME,
     .range = WITHIN(LIMIT_STEP_LEAST, LIMIT_STEP),
     .help = "a step that fails is tried again with half of its length, down to this; a speed that "
             "asks for a shorter one ends the run"},
    {.name = "splitting",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_step_def, splitting),
     .words = splitting_words,
     .help =
         "of which order in the step's length motion and flow take turns. With `second` what "
         "turns or swirls hardly loses speed to long steps, for one more pressure solve a step; "
         "particles then carry half of what pressure will do to their motion"},
};
const schema_section schema_step = {
    .name = "step",
    .help = "Time steps.",
    .keys = step_keys,
    .key_count = COUNT(step_keys),
    .bytes = sizeof(treacle_step_def),
    .rule = rule_step,
};

static const char* const method_words[] = {"implicit", "explicit", "imex", "decoupled", NULL};
static const char* const boundary_words[] = {"natural", "neumann", "dirichlet", "nichols-hirt",
                                             NULL};
static const char* const mean_words[] = {"geometric", "arithmetic", "harmonic", "auto", NULL};

#define VISCOSITY(field) offsetof(treacle_viscosity_def, field)
static const schema_key viscosity_keys[] = {
    {.name = "method",
     .type = SCHEMA_ENUM,
     .offset = VISCOSITY(method),
     .words = method_words,
     .help = "`implicit`: all components of velocity together. For comparison only: `explicit` in "
             "sub-steps, `imex` implicit in each component and explicit between them, `decoupled` "
             "each by itself"},
    {.name = "surface",
     .type = SCHEMA_ENUM,
     .offset = VISCOSITY(surface),
     .words = boundary_words,
     .help = "`natural`: no traction. For comparison only: `neumann` (no normal derivative, with "
             "`decoupled`), `dirichlet` (the air moves as the surface did before), `nichols-hirt` "
             "(no shear, on full and empty cells, 2D)"},
    {.name = "mean",
     .type = SCHEMA_ENUM,
     .offset = VISCOSITY(mean),
     .words = mean_words,
     .help = "where viscosities meet: with `arithmetic` the thicker wins, with `harmonic` the "
             "thinner; `auto`: `harmonic` where a `viscosity_law` makes them differ and no "
             "rheology does, else `geometric`"},
    {.name = "free_flight",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_viscosity_def, free_flight),
     .help = "with `decoupled`: drops that fly freely get back what it takes from their motion and "
             "spin; the other methods take nothing"},
    {.name = "substeps",
     .type = SCHEMA_INT,
     .offset = VISCOSITY(substeps),
     .range = WITHIN(0, 1000000),
     .help = "of `explicit` and `imex`; 0: as many as `explicit` needs, one for `imex`"},
    {.name = "tolerance",
     .type = SCHEMA_REAL,
     .offset = VISCOSITY(tolerance),
     .range = UP_TO(0, 1),
     .help = "with a `rheology`: the change of velocity at which its loop ends"},
    {.name = "max_iterations",
     .type = SCHEMA_INT,
     .offset = VISCOSITY(max_iterations),
     .range = WITHIN(1, 1000),
     .help = "with a `rheology`: the most solves a step"},
};
const schema_section schema_viscosity_solve = {
    .name = "viscosity_solve",
    .help = "How viscosity acts.",
    .keys = viscosity_keys,
    .key_count = COUNT(viscosity_keys),
    .bytes = sizeof(treacle_viscosity_def),
    .rule = rule_viscosity_solve,
};

static const schema_key pressure_keys[] = {
    {.name = "method",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_pressure_def, method),
     .words = projection_words,
     .help = "`solve`: the linear system by multigrid; `relax`: sweeps, slow, for comparison"},
    {.name = "tolerance",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_pressure_def, tolerance),
     .range = UP_TO(0, 1),
     .help = "at which residual the solver stops"},
    {.name = "max_iterations",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_pressure_def, max_iterations),
     .range = WITHIN(1, 100000),
     .help = "after which it gives up"},
    {.name = "walls",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_pressure_def, walls),
     .words = opening_words,
     .help = "what solids leave open of a face: `exact`, the share of the volume around it; "
             "`area`, of the face; `line`, of the line across; `voxel`: walls are stairs, for "
             "comparison"},
};
static const schema_section pressure_section = {
    .name = "pressure",
    .help = "How the pressure is found.",
    .keys = pressure_keys,
    .key_count = COUNT(pressure_keys),
    .bytes = sizeof(treacle_pressure_def),
};

static const schema_key elasticity_keys[] = {
    {.name = "theta",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_elasticity_def, theta),
     .range = WITHIN(0.5, 1),
     .help = "1 is calm; towards 0.5 wobble lives longer"},
    {.name = "explicit",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_elasticity_def, is_explicit),
     .help = "the explicit force of the thesis [G11], which limits the time step; for comparison"},
    {.name = "limits_step",
     .type = SCHEMA_BOOL,
     .offset = offsetof(treacle_elasticity_def, limits_step),
     .help = "steps so short that elastic waves cross at most a cell: accurate wobble"},
    {.name = "passes",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_elasticity_def, passes),
     .range = WITHIN(1, 10),
     .help = "solves a step, at most, while material yields"},
};
static const schema_section elasticity_section = {
    .name = "elasticity",
    .help = "How elastic stress enters the flow.",
    .keys = elasticity_keys,
    .key_count = COUNT(elasticity_keys),
    .bytes = sizeof(treacle_elasticity_def),
};

static const char* const by_words[] = {"colour", "temperature", "marker", NULL};

static const schema_key output_keys[] = {
    {.name = "state_every",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_output_def, state_every),
     .range = WITHIN(0, 1000000000),
     .help = "keep the full state of every so many frames for good; 0 keeps the last two only"},
    {.name = "resume_every",
     .type = SCHEMA_INT,
     .offset = offsetof(treacle_output_def, resume_every),
     .range = WITHIN(1, 1000000000),
     .help = "write the full state after every so many frames, and after the last: a run that is "
             "killed simulates at most that many again, and the one that was being written"},
    {.name = "preview_by",
     .type = SCHEMA_ENUM,
     .offset = offsetof(treacle_output_def, preview_by),
     .words = by_words,
     .help = "what colours of previews show: the liquid's `colour`, or its `temperature` or "
             "`marker` from blue over red to nearly white"},
    {.name = "preview_from",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_output_def, preview_from),
     .unit = UNIT_TEMPERATURE,
     .help = "what blue stands for; a plain number for the `marker`",
     .default_text = "the least of each frame"},
    {.name = "preview_to",
     .type = SCHEMA_REAL,
     .offset = offsetof(treacle_output_def, preview_to),
     .unit = UNIT_TEMPERATURE,
     .help = "what white stands for",
     .default_text = "the most of each frame"},
};
static const schema_section output_section = {
    .name = "output",
    .help = "What is written.",
    .keys = output_keys,
    .key_count = COUNT(output_keys),
    .bytes = sizeof(treacle_output_def),
};

// The root -------------------------------------------------------------------

static void init_root(void* item) {
    scene_root* root = item;
    treacle_sim_def sim = treacle_sim_def_default();
    *root = (scene_root){.sim = sim, .output = {.frames = 120, .resume_every = 4}};
    root->look = treacle_look_def_default();
    root->camera = treacle_camera_def_default();
    memcpy(root->domain.sides, sim.domain.sides, sizeof(sim.domain.sides));
    memcpy(root->domain.separation, sim.domain.separation, sizeof(sim.domain.separation));
    memcpy(root->domain.contact_angle, sim.domain.contact_angle, sizeof(sim.domain.contact_angle));
}

#define SIM(field) offsetof(scene_root, sim.field)

static const schema_key root_keys[] = {
    {.name = "include",
     .type = SCHEMA_INCLUDE,
     .flags = SCHEMA_INPUT_ONLY,
     .help = "a scene file, or a list of them, on top of which this one lies",
     .default_text = ""},
    {.name = "name",
     .type = SCHEMA_NAME,
     .flags = SCHEMA_ALWAYS,
     .offset = offsetof(scene_root, output.name),
     .help = "of the scene, used in file names",
     .default_text = "the file's"},
    {.name = "frames",
     .type = SCHEMA_INT64,
     .offset = offsetof(scene_root, output.frames),
     .range = WITHIN(1, 1000000),
     .help = "how many to simulate; frame 1 is the start"},
    {.name = "fps",
     .type = SCHEMA_REAL,
     .offset = SIM(fps),
     .unit = UNIT_FREQUENCY,
     .range = WITHIN(0.001, 1e6),
     .help = "frames a second"},
    {.name = "time_lapse",
     .type = SCHEMA_REAL,
     .offset = SIM(time_lapse),
     .range = WITHIN(0.001, 1e6),
     .help =
         "seconds that a second of the film shows: frames are `time_lapse`/`fps` apart, and the "
         "film still has `fps` of them a second; below 1 it is slow motion. The physics does "
         "not change"},
    {.name = "seed",
     .type = SCHEMA_INT64,
     .offset = SIM(seed),
     .range = FROM(0),
     .help = "another number gives other random choices"},
    {.name = "domain",
     .type = SCHEMA_SECTION,
     .flags = SCHEMA_REQUIRED,
     .offset = offsetof(scene_root, domain),
     .of = &schema_domain,
     .help = "the box that is simulated"},
    {.name = "gravity",
     .type = SCHEMA_CURVE3,
     .offset = SIM(gravity),
     .unit = UNIT_ACCELERATION,
     .range = WITHIN(-1e6, 1e6),
     .help = "may change over time"},
    {.name = "particles",
     .type = SCHEMA_SECTION,
     .offset = SIM(particles),
     .of = &particles_section,
     .help = "how liquid is sampled"},
    {.name = "step",
     .type = SCHEMA_SECTION,
     .offset = SIM(step),
     .of = &schema_step,
     .help = "time steps"},
    {.name = "flow",
     .type = SCHEMA_ENUM,
     .offset = SIM(flow),
     .words = flow_words,
     .help =
         "`unified`: pressure and viscosity in one solve; `split`: pressure, viscosity, pressure; "
         "`pressure`: without viscosity, and without elasticity but in `eulerian` motion; "
         "`auto`: `unified` if a material has viscosity or is elastic, else "
         "`pressure`; `none`: particles that fly freely"},
    {.name = "fill",
     .type = SCHEMA_ENUM,
     .offset = SIM(fill),
     .words = fill_words,
     .help = "where liquid is: where its `particles` are, or `all` over the domain, outside "
             "solids: no surface, as for smoke and closed tanks. Then what no liquid takes is "
             "filled with the first material, at rest, and its particles are markers of the flow; "
             "`marker_buoyancy` of a material lets them rise"},
    {.name = "heat",
     .type = SCHEMA_SECTION,
     .offset = SIM(heat),
     .of = &schema_heat,
     .help = "how heat flows and is lost"},
    {.name = "heat_sources",
     .type = SCHEMA_LIST,
     .offset = SIM(heat_sources),
     .count_offset = SIM(heat_source_count),
     .range = WITHIN(0, 16384),
     .of = &schema_heat_source,
     .help = "what heats and cools",
     .default_text = "none"},
    {.name = "heat_walls",
     .type = SCHEMA_LIST,
     .offset = SIM(heat_walls),
     .count_offset = SIM(heat_wall_count),
     .range = WITHIN(0, 16384),
     .of = &schema_heat_wall,
     .help = "sides of the domain that heat and cool",
     .default_text = "none"},
    {.name = "marker",
     .type = SCHEMA_SECTION,
     .offset = SIM(marker),
     .of = &schema_marker,
     .help = "what the surface does to the `marker` that liquid carries"},
    {.name = "marker_sources",
     .type = SCHEMA_LIST,
     .offset = SIM(marker_sources),
     .count_offset = SIM(marker_source_count),
     .range = WITHIN(0, 16384),
     .of = &schema_marker_source,
     .help = "where the `marker` grows or is held",
     .default_text = "none"},
    {.name = "motion",
     .type = SCHEMA_ENUM,
     .offset = SIM(motion),
     .words = motion_words,
     .help =
         "what carries the liquid: `particles`, or with `eulerian` the grid itself, and a level "
         "set with markers for its surface. See [two ways to move](motion.md)"},
    {.name = "level_set",
     .type = SCHEMA_SECTION,
     .offset = SIM(level_set),
     .of = &schema_level_set,
     .help = "with `motion: eulerian`, how the surface is kept"},
    {.name = "transfer",
     .type = SCHEMA_ENUM,
     .offset = SIM(transfer),
     .words = transfer_words,
     .help = "between particles and grid: `apic` keeps rotation, `flip` is lively and noisy, `pic` "
             "calm and thick"},
    {.name = "flip_blend",
     .type = SCHEMA_REAL,
     .offset = SIM(flip_blend),
     .range = WITHIN(0, 1),
     .help = "with `transfer: flip`, how much of it is FLIP; the rest is PIC"},
    {.name = "flip_from_viscosity",
     .type = SCHEMA_BOOL,
     .offset = SIM(flip_from_viscosity),
     .help = "with `transfer: flip`, the share of PIC follows from the viscosity: damping in place "
             "of a viscosity solve"},
    {.name = "kernel",
     .type = SCHEMA_ENUM,
     .offset = SIM(kernel),
     .words = kernel_words,
     .help = "how far a particle reaches on the grid; `wide` is for one particle a cell"},
    {.name = "advection",
     .type = SCHEMA_ENUM,
     .offset = SIM(advection),
     .words = advection_words,
     .help = "how paths of particles are followed: Euler, or Runge-Kutta of order 2 or 3"},
    {.name = "surface",
     .type = SCHEMA_ENUM,
     .offset = SIM(surface),
     .words = surface_words,
     .help = "how the surface follows from the particles: `smooth` is flat where the liquid is, "
             "`spheres` a union of balls"},
    {.name = "pressure",
     .type = SCHEMA_SECTION,
     .offset = SIM(pressure),
     .of = &pressure_section,
     .help = "how the pressure is found"},
    {.name = "elasticity",
     .type = SCHEMA_SECTION,
     .offset = SIM(elasticity),
     .of = &elasticity_section,
     .help = "how elastic stress enters the flow"},
    {.name = "viscosity_solve",
     .type = SCHEMA_SECTION,
     .offset = SIM(viscosity_solve),
     .of = &schema_viscosity_solve,
     .help = "how viscosity acts"},
    {.name = "density_correction",
     .type = SCHEMA_BOOL,
     .offset = SIM(density_correction),
     .help = "moves particles apart so that the volume is kept"},
    {.name = "reseed",
     .type = SCHEMA_BOOL,
     .offset = SIM(reseed),
     .help = "splits and merges particles so that cells keep about `per_cell`"},
    {.name = "materials",
     .type = SCHEMA_MAP,
     .offset = SIM(materials),
     .count_offset = SIM(material_count),
     .range = WITHIN(1, 256),
     .of = &schema_material,
     .help = "what liquids are made of, by name",
     .default_text = "`water`"},
    {.name = "liquids",
     .type = SCHEMA_LIST,
     .offset = SIM(liquids),
     .count_offset = SIM(liquid_count),
     .range = WITHIN(0, 16384),
     .of = &schema_liquid,
     .help = "liquid that is there from the start",
     .default_text = "none"},
    {.name = "emitters",
     .type = SCHEMA_LIST,
     .offset = SIM(emitters),
     .count_offset = SIM(emitter_count),
     .range = WITHIN(0, 16384),
     .of = &schema_emitter,
     .help = "inflows",
     .default_text = "none"},
    {.name = "drops",
     .type = SCHEMA_LIST,
     .offset = SIM(drops),
     .count_offset = SIM(drop_count),
     .range = WITHIN(0, 16384),
     .of = &schema_drop,
     .help = "liquid that appears by a list of times and places",
     .default_text = "none"},
    {.name = "sinks",
     .type = SCHEMA_LIST,
     .offset = SIM(sinks),
     .count_offset = SIM(sink_count),
     .range = WITHIN(0, 16384),
     .of = &schema_sink,
     .help = "where liquid vanishes",
     .default_text = "none"},
    {.name = "forces",
     .type = SCHEMA_LIST,
     .offset = SIM(forces),
     .count_offset = SIM(force_count),
     .range = WITHIN(0, 16384),
     .of = &schema_force,
     .help = "accelerations in parts of space and time",
     .default_text = "none"},
    {.name = "solids",
     .type = SCHEMA_MAP,
     .offset = SIM(solids),
     .count_offset = SIM(solid_count),
     .range = WITHIN(0, 4096),
     .of = &schema_solid,
     .help = "obstacles and containers, by name",
     .default_text = "none"},
    {.name = "bodies",
     .type = SCHEMA_MAP,
     .offset = SIM(bodies),
     .count_offset = SIM(body_count),
     .range = WITHIN(0, 4096),
     .of = &schema_body,
     .help = "rigid bodies that liquid moves and that move liquid, by name",
     .default_text = "none"},
    {.name = "output",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_root, output),
     .of = &output_section,
     .help = "what is written"},
    {.name = "look",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_root, look),
     .of = &schema_look,
     .help = "what pictures look like"},
    {.name = "camera",
     .type = SCHEMA_SECTION,
     .offset = offsetof(scene_root, camera),
     .of = &schema_camera,
     .help = "from where pictures are taken"},
};

const schema_section schema_root = {
    .name = "scene",
    .help = "The top level of the file.",
    .keys = root_keys,
    .key_count = COUNT(root_keys),
    .bytes = sizeof(scene_root),
    .init = init_root,
    .rule = rule_root,
};

const schema_key* schema_find(const schema_section* section, const char* key) {
    TREACLE_ASSERT(section->keys != NULL && key != NULL);
    for (int i = 0; i < section->key_count; ++i) {
        if (strcmp(section->keys[i].name, key) == 0) {
            return &section->keys[i];
        }
    }
    return NULL;
}

void schema_path_print(const schema_path* path, char out[SCHEMA_PATH_MAX]) {
    if (path == NULL) {
        out[0] = '\0';
        return;
    }
    schema_path_print(path->up, out);
    size_t used = strlen(out);
    if (path->name == NULL) {
        snprintf(out + used, SCHEMA_PATH_MAX - used, "[%d]", path->index);
    } else {
        snprintf(out + used, SCHEMA_PATH_MAX - used, used == 0 ? "%s" : ".%s", path->name);
    }
}

void schema_range_text(const schema_range* range, unit_kind unit, char out[SCHEMA_RANGE_TEXT_MAX]) {
    char low[32], high[32];
    const char* si = unit_kind_get(unit)->si;
    const char* space = si[0] == '\0' ? "" : " ";
    unit_print_number(range->min, low);
    unit_print_number(range->max, high);
    if (range->has_min && range->has_max) {
        const char* form =
            range->is_min_open ? "greater than %s and at most %s%s%s" : "from %s to %s%s%s";
        snprintf(out, SCHEMA_RANGE_TEXT_MAX, form, low, high, space, si);
    } else if (range->is_min_open && range->min == 0.0) {
        snprintf(out, SCHEMA_RANGE_TEXT_MAX, "greater than 0");
    } else if (range->min == 0.0) {
        snprintf(out, SCHEMA_RANGE_TEXT_MAX,
                 unit == UNIT_TEMPERATURE ? "0 K or more" : "0 or more");
    } else {
        snprintf(out, SCHEMA_RANGE_TEXT_MAX, "%s %s%s%s", range->is_min_open ? "above" : "at least",
                 low, space, si);
    }
}

bool schema_range_has(const schema_range* range, double value) {
    TREACLE_ASSERT(!range->has_min || !range->has_max || range->min <= range->max);
    bool is_low =
        range->has_min && (range->is_min_open ? !(value > range->min) : !(value >= range->min));
    return !is_low && !(range->has_max && !(value <= range->max));
}
