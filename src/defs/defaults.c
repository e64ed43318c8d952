// The defaults of every def: the one place where they are written. The scene file's schema and its
// manual take theirs from here.
#include <math.h>

#include "treacle/look.h"
#include "treacle/types.h"

#define RIGHT_ANGLE (0.5 * 3.14159265358979323846)
#define RIGHT_ANGLES                                                                               \
    { RIGHT_ANGLE, RIGHT_ANGLE }

static const treacle_key default_gravity = {.time = 0.0, .value = {0.0, -9.81, 0.0}};

treacle_sim_def treacle_sim_def_default(void) {
    return (treacle_sim_def){
        .def_size = sizeof(treacle_sim_def),
        .fps = 24.0,
        .time_lapse = 1.0,
        .domain = {.size = {1.0, 1.0, 1.0},
                   .cell = 0.015625,
                   .contact_angle = {RIGHT_ANGLES, RIGHT_ANGLES, RIGHT_ANGLES}},
        .gravity = {.count = 1, .keys = &default_gravity},
        .particles = {.per_cell = 8, .jitter = 0.5},
        .step = {.cfl = 2.0, .max_dt = 0.02, .min_dt = 1e-6},
        .flow = TREACLE_FLOW_AUTO,
        .level_set = {.markers = 8, .reseed = 10, .cfl = 0.5},
        .transfer = TREACLE_TRANSFER_APIC,
        .flip_blend = 0.97,
        .surface = TREACLE_SURFACE_SMOOTH,
        .pressure = {.tolerance = 1e-4, .max_iterations = 200, .walls = TREACLE_WALLS_AREA},
        .viscosity_solve = {.mean = TREACLE_VISCOSITY_MEAN_AUTO,
                            .tolerance = 1e-3,
                            .max_iterations = 12},
        .density_correction = true,
        .reseed = true,
        .kernel = TREACLE_KERNEL_LINEAR,
        .advection = TREACLE_ADVECTION_RK3,
        .elasticity = {.theta = 1.0, .passes = 3},
        .heat = {.air = 293.15, .speed = 1.0},
    };
}

double treacle_sim_def_frame_time(const treacle_sim_def* def, int64_t number) {
    return (double)(number - 1) * def->time_lapse / def->fps;
}

treacle_shape treacle_shape_default(treacle_shape_kind kind) {
    return (treacle_shape){
        .kind = kind,
        .size = {1.0, 1.0, 1.0},
        .radius = 0.5,
        .height = 1.0,
        .thickness = 0.1,
        .frames = {.first = 1},
        .scale = 1.0,
    };
}

// Water, without its viscosity: at the sizes of a film set it does not show.
treacle_material_def treacle_material_def_default(void) {
    return (treacle_material_def){
        .name = "water",
        .density = 1000.0,
        .colour = {0.05, 0.3, 0.6},
        .rheology = {.consistency = 1.0, .exponent = 1.0, .critical_rate = 1e-3},
        .reference_temperature = 293.15,
        .elastic = {.relaxation_time = INFINITY, .mu_e = NAN, .alpha = NAN, .gamma = NAN},
        .merges = true,
        .heat_capacity = 4184.0,
        .viscosity_law = {
            .reference = 293.15, .low = 1.0, .high = 1.0, .least = 1e-9, .most = 1e12}};
}

treacle_liquid_def treacle_liquid_def_default(void) {
    return (treacle_liquid_def){.temperature = {.value_a = {293.15}},
                                .viscosity_factor = {.value_a = {1.0}},
                                .colour = {.value_a = {-1.0, -1.0, -1.0}}};
}

treacle_emitter_def treacle_emitter_def_default(void) {
    return (treacle_emitter_def){
        .direction = {0.0, -1.0, 0.0},
        .stop = INFINITY,
        .temperature = 293.15,
        .viscosity_factor = 1.0,
    };
}

treacle_drop_def treacle_drop_def_default(void) {
    return (treacle_drop_def){.temperature = 293.15, .viscosity_factor = 1.0};
}

treacle_sink_def treacle_sink_def_default(void) {
    return (treacle_sink_def){.stop = INFINITY};
}

treacle_force_def treacle_force_def_default(void) {
    static const treacle_key full = {.value = {1.0}};
    return (treacle_force_def){.strength = {.count = 1, .keys = &full}, .stop = INFINITY};
}

treacle_solid_def treacle_solid_def_default(void) {
    static const treacle_key full = {.value = {1.0}};
    return (treacle_solid_def){.surface_strength = {.count = 1, .keys = &full},
                               .contact_angle = RIGHT_ANGLE,
                               .contact = INFINITY};
}

treacle_heat_source_def treacle_heat_source_def_default(void) {
    return (treacle_heat_source_def){
        .stop = INFINITY, .angle = 3.14159265358979323846, .shadows = true};
}

treacle_heat_wall_def treacle_heat_wall_def_default(void) {
    return (treacle_heat_wall_def){.contact = INFINITY};
}

treacle_marker_source_def treacle_marker_source_def_default(void) {
    return (treacle_marker_source_def){.stop = INFINITY};
}

treacle_body_def treacle_body_def_default(void) {
    return (treacle_body_def){.density = 1000.0, .friction = 0.3, .contact_angle = RIGHT_ANGLE};
}

treacle_joint_def treacle_joint_def_default(void) {
    return (treacle_joint_def){.axis = {0.0, 1.0, 0.0}};
}

treacle_look_material treacle_look_material_default(void) {
    return (treacle_look_material){
        .colour = {-1.0, -1.0, -1.0},
        .roughness = -1.0,
        .index = -1.0,
        .cloudiness = -1.0,
        .glow = 1.0,
    };
}

treacle_lamp_def treacle_lamp_def_default(void) {
    return (treacle_lamp_def){.centre = {0.0, 1.0, 0.0},
                              .size = {1.0, 1.0},
                              .colour = {1.0, 1.0, 1.0},
                              .strength = 10.0,
                              .seen = true};
}

treacle_look_def treacle_look_def_default(void) {
    treacle_look_material sides = treacle_look_material_default();
    sides.kind = TREACLE_LOOK_NONE;
    return (treacle_look_def){
        .sides = sides,
        .liquid = treacle_look_material_default(),
        .solid = treacle_look_material_default(),
        .emitters = treacle_look_material_default(),
        .light = 1.0,
        .sun = {-0.5, 0.7, 0.5},
        .sun_strength = 1.0,
        .ground_roughness = -1.0,
        .ground = true,
        .ground_colour = {0.78, 0.76, 0.73},
    };
}

treacle_camera_def treacle_camera_def_default(void) {
    return (treacle_camera_def){.field_of_view = 0.5, .shutter = 0.5};
}
