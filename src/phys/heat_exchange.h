// Heat that liquid gets from, or gives to, what is around it.
#pragma once

#include "base/arena.h"
#include "geometry/shape.h"
#include "grid/face_field.h"
#include "phys/conduction.h"
#include "phys/shade.h"

/// The cells of a step. Fields are [count + 1][512].
typedef struct heat_cells {
    const grid_domain* domain;
    const tile_map* map;
    arena* scratch;
    const float* phi;           // distance to the surface, cells
    const float* wet;           // 0..1, how much of a cell's faces conducts
    const float* conductivity;  // W/(m K)
    const float* temperature;   // K, before the step
    float* exchange[AXES];      // W/K, along each axis
    float* outside[AXES];       // K
    double *energy, *exchanged; // J
    const conduction_params* conduction;
    double dt; // s
} heat_cells;

/// Loss of the free surface to air, by its motion and by radiation [heat.7].
void heat_exchange_air(const heat_cells* cells, const treacle_heat_def* def);

/// A side of the domain that is held at a temperature, or gives a flux.
typedef struct heat_side {
    int axis, end;
    bool is_held;
    double temperature; // K
    double flux;        // W/m^2
    double contact;     // W/(m^2 K)
} heat_side;
void heat_exchange_side(const heat_cells* cells, const heat_side* side);

/// What a solid does to the heat of liquid that touches it.
typedef struct heat_touch {
    bool is_held, has_flux; // neither: it lets no heat through
    double temperature;     // K
    double flux;            // W/m^2
    double contact;         // W/(m^2 K)
} heat_touch;
/// Solids as cells and faces see them; see phys/solid_fields.h.
typedef struct heat_solids {
    int count;               // of touches; solids beyond let no heat through
    const heat_touch* touch; // [count]
    const uint16_t* cell_id;
    const float* cell_phi;
    const float* cell_open;
    face_view face_open; // by solids and sides of the domain
} heat_solids;
/// Cells, by how much the mean that a cell has is that of a place farther from a wall; phi in cells
/// [heat.11].
double heat_solid_shift(double phi);
/// Contact with solids [heat.10].
void heat_exchange_solids(const heat_cells* cells, const heat_solids* solids);

/// A point that radiates, all round or in a cone.
typedef struct heat_lamp {
    vec3 place;         // m
    double power;       // W
    vec3 aim;           // of unit length; 0: all round
    double edge;        // cosine of the angle of the cone
    const shade* shade; // what stands in the way; NULL: nothing
} heat_lamp;
/// It lights the surface that faces it [heat.8].
void heat_exchange_radiant(const heat_cells* cells, const heat_lamp* lamp);
/// Power for the liquid in the shape, shared by heat capacity.
treacle_status heat_exchange_power(const heat_cells* cells, const shape* where,
                                   double power) TREACLE_NODISCARD;
/// Liquid in the shape gains `rate` kelvin a second, whatever its heat capacity.
void heat_exchange_rate(const heat_cells* cells, const shape* where, double rate);
/// The liquid in the shape is brought to a temperature.
void heat_exchange_hold(const heat_cells* cells, const shape* where, double temperature);
