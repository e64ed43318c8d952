#include "defs/schema_examples.h"

#include <stddef.h>
#include <string.h>

typedef struct example {
    const char* section;
    const char* lines;
} example;

#define LIQUID_OF(shape) "liquids:\n  - shape: {" shape "}\n"

static const example examples[] = {
    {"scene", "frames: 72\n"
              "domain: {size: [40 cm, 40 cm, 40 cm], cell: 1 cm}\n"
              "liquids:\n"
              "  - shape: {sphere: {radius: 10 cm, centre: [20 cm, 25 cm, 20 cm]}}\n"
              "    material: honey\n"},
    {"domain", "domain:\n"
               "  size: [40 cm, 40 cm, 40 cm]\n"
               "  cell: 1 cm\n"
               "  sides: {all: open, bottom: no-slip}\n"},
    {"sides", "domain:\n"
              "  size: [40 cm, 40 cm, 40 cm]\n"
              "  cell: 1 cm\n"
              "  sides: {all: open, bottom: no-slip}\n"},
    {"separation", "domain:\n"
                   "  size: [40 cm, 40 cm, 40 cm]\n"
                   "  cell: 1 cm\n"
                   "  separation: {all: on, bottom: 50 Pa}\n"},
    {"slip_length", "domain:\n"
                    "  size: [40 cm, 40 cm, 40 cm]\n"
                    "  cell: 1 cm\n"
                    "  sides: no-slip\n"
                    "  slip_length: {bottom: 2 mm}\n"},
    {"surface_velocity", "domain:\n"
                         "  size: [40 cm, 40 cm, 40 cm]\n"
                         "  cell: 1 cm\n"
                         "  sides: no-slip\n"
                         "  surface_velocity: {bottom: [10 cm/s, 0, 0],\n"
                         "                     top: {keys: {0 s: [0, 0, 0], 1 s: [1, 0, 0]}}}\n"},
    {"contact_angle", "domain:\n"
                      "  size: [4 cm, 4 cm, 4 cm]\n"
                      "  cell: 1 mm\n"
                      "  sides: no-slip\n"
                      "  contact_angle: {all: 90 deg, bottom: 60 deg}\n"},
    {"particles", "particles: {per_cell: 27, colour: true}\n"},
    {"step", "step: {cfl: 1, max_dt: 10 ms}\n"},
    {"pressure", "pressure: {tolerance: 1e-6}\n"},
    {"elasticity", "elasticity: {limits_step: true}\n"},
    {"viscosity_solve", "viscosity_solve: {mean: harmonic}\n"},
    {"output", "output: {preview_by: temperature, preview_from: 20 degC, preview_to: 80 degC}\n"},
    {"material", "materials:\n"
                 "  honey: {density: 1420 kg/m^3, viscosity: 10 Pa.s, colour: \"#d9a441\"}\n"
                 "  cold: {preset: honey, viscosity: 70 Pa.s}\n"},
    {"rheology", "materials:\n"
                 "  sauce:\n"
                 "    density: 1100\n"
                 "    rheology: {law: herschel-bulkley, consistency: 20, exponent: 0.4,\n"
                 "               yield_stress: 30 Pa}\n"},
    {"elastic", "materials:\n"
                "  gel: {density: 1000, viscosity: 0.5 Pa.s,\n"
                "        elastic: {mu_e: 4 kPa, alpha: 10, gamma: 0.1}}\n"},
    {"shrinkage", "materials:\n"
                  "  clay: {density: 1700, viscosity: 20 Pa.s, marker_diffusivity: 4e-5 m^2/s,\n"
                  "         shrinkage: {drying: 0.5}}\n"},
    {"viscosity_law",
     "materials:\n"
     "  syrup: {density: 1400, viscosity: 5 Pa.s, conductivity: 0.5, heat_capacity: 2200,\n"
     "          viscosity_law: {kind: arrhenius, activation: 6000 K, reference: 300 K}}\n"},
    {"heat", "heat: {air: 20 degC, loss: 15, emissivity: 0.9}\n"},
    {"heat_source", "heat_sources:\n"
                    "  - {place: [20 cm, 38 cm, 20 cm], power: 4 kW, stop: 8 s}\n"},
    {"heat_wall", "heat_walls:\n  - {side: bottom, temperature: 80 degC, contact: 500}\n"},
    {"marker", "marker: {air: 1, loss: 1 mm/s}\n"},
    {"marker_source", "marker_sources:\n"
                      "  - {shape: {sphere: {radius: 5 cm, centre: [20 cm, 20 cm, 20 cm]}},\n"
                      "     rate: 0.5 1/s}\n"},
    {"level_set", "motion: eulerian\nlevel_set: {markers: 16}\n"},
    {"liquid", "liquids:\n"
               "  - shape: {box: {min: [0, 0, 0], max: [40 cm, 10 cm, 40 cm]}}\n"
               "    material: honey\n"
               "    velocity: [0.1 m/s, 0, 0]\n"},
    {"emitter",
     "emitters:\n"
     "  - shape: {cylinder: {radius: 3 cm, height: 3 cm, centre: [20 cm, 37 cm, 20 cm]}}\n"
     "    material: honey\n"
     "    speed: 15 cm/s\n"
     "    stop: 2 s\n"},
    {"drop", "drops:\n"
             "  - shape: {sphere: {radius: 3 cm}}\n"
             "    material: honey\n"
             "    places: [[0 s, [10 cm, 30 cm, 20 cm]], [0.5 s, [30 cm, 30 cm, 20 cm]]]\n"},
    {"sink", "sinks:\n  - shape: {box: {min: [0, 0, 0], max: [4 cm, 4 cm, 40 cm]}}\n"},
    {"force", "forces:\n"
              "  - shape: {sphere: {radius: 10 cm, centre: [20 cm, 20 cm, 20 cm]}}\n"
              "    acceleration: [\"5*sin(6*t)\", 0, 0]\n"},
    {"solid", "solids:\n"
              "  spoon:\n"
              "    shape: {capsule: {radius: 2 cm, height: 20 cm, centre: [20 cm, 20 cm, 12 cm]}}\n"
              "    spin: [0, 90 deg/s, 0]\n"
              "    pivot: [20 cm, 0, 20 cm]\n"},
    {"body", "bodies:\n"
             "  ball: {shape: {sphere: {radius: 5 cm, centre: [20 cm, 30 cm, 20 cm]}},\n"
             "         density: 600 kg/m^3}\n"},
    {"joint", "bodies:\n"
              "  wheel:\n"
              "    shape: {cylinder: {radius: 8 cm, height: 6 cm, centre: [20 cm, 20 cm, 20 cm]}}\n"
              "    density: 600\n"
              "    joints: [{kind: hinge, anchor: [20 cm, 20 cm, 20 cm], axis: [0, 1, 0]}]\n"},
    {"shape", "liquids:\n"
              "  - shape:\n"
              "      difference:\n"
              "        - torus: {radius: 10 cm, thickness: 4 cm}\n"
              "        - box: {size: [8 cm, 10 cm, 8 cm], centre: [12 cm, 0, 0]}\n"
              "      rotate: [90 deg, 0, 0]\n"
              "      move: [20 cm, 20 cm, 20 cm]\n"},
    {"box", LIQUID_OF("box: {min: [0, 0, 0], max: [40 cm, 10 cm, 40 cm]}")},
    {"sphere", LIQUID_OF("sphere: {radius: 10 cm, centre: [20 cm, 20 cm, 20 cm]}")},
    {"cylinder",
     LIQUID_OF("cylinder: {radius: 5 cm, height: 20 cm, centre: [20 cm, 20 cm, 20 cm]}")},
    {"capsule", LIQUID_OF("capsule: {radius: 5 cm, height: 10 cm, centre: [20 cm, 20 cm, 20 cm]}")},
    {"torus", LIQUID_OF("torus: {radius: 10 cm, thickness: 4 cm, centre: [20 cm, 20 cm, 20 cm]}")},
    {"plane", "solids:\n"
              "  slope: {shape: {plane: {point: [20 cm, 5 cm, 20 cm], normal: [-0.2, 1, 0]}}}\n"},
    {"mesh", "liquids:\n"
             "  - shape: {mesh: {file: meshes/knot.ply}, move: [20 cm, 20 cm, 20 cm]}\n"},
    {"ramp", "liquids:\n"
             "  - shape: {box: {min: [0, 0, 0], max: [40 cm, 10 cm, 40 cm]}}\n"
             "    velocity: {ramp: {from: [0, 0, 0], to: [0, 10 cm, 0], a: [0, 0, 0],\n"
             "                      b: [1 m/s, 0, 0]}}\n"},
    {"look", "look: {liquid: {kind: honey}, environment: sky, ground_texture: checker}\n"},
    {"liquid_look", "look:\n  liquid: {kind: jelly, colour: \"#b02030\"}\n"},
    {"material_look", "materials: {syrup: golden-syrup}\n"
                      "look:\n  materials: {syrup: {kind: honey}}\n"},
    {"solid_look", "look:\n  solid: {kind: metal, roughness: 0.2}\n"},
    {"sides_look", "look:\n  sides: {kind: glass}\n"},
    {"emitters_look", "look:\n  emitters: {kind: metal, colour: \"#b8a070\"}\n"},
    {"named_solid_look", "solids: {pole: {shape: {box: {min: [18 cm, 0, 18 cm],\n"
                         "                                max: [22 cm, 30 cm, 22 cm]}}}}\n"
                         "look:\n  solids: {pole: {kind: marble}}\n"},
    {"lamp", "look:\n"
             "  lamps: [{centre: [0, 1 m, 1 m], target: [20 cm, 10 cm, 20 cm], radius: 20 cm}]\n"},
    {"camera", "camera: {eye: [1 m, 60 cm, 1.2 m], target: [20 cm, 10 cm, 20 cm],\n"
               "         field_of_view: 24 deg}\n"},
    {"camera_key", "camera:\n"
                   "  keys:\n"
                   "    - {time: 0 s, eye: [1 m, 60 cm, 1.2 m], target: [20 cm, 10 cm, 20 cm]}\n"
                   "    - {time: 2 s, eye: [-1 m, 60 cm, 1.2 m], target: [20 cm, 10 cm, 20 cm]}\n"},
};

const char* schema_example(const char* section) {
    for (size_t k = 0; k < sizeof(examples) / sizeof(examples[0]); ++k) {
        if (strcmp(examples[k].section, section) == 0) {
            return examples[k].lines;
        }
    }
    return NULL;
}
