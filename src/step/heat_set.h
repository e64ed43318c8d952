// The setup of scalar transport: what a def says about heat, or about the marker.
//
// Both are scalars that particles carry, that are conducted at cells and that sources and sides
// feed, and one code does both. Its names are those of heat. For the marker a temperature is the
// value of the marker, a heat capacity is a volume, and the reference value is 0 instead of
// HEAT_REFERENCE.
#pragma once

#include "geometry/shape.h"
#include "math/curve.h"
#include "phys/heat_curve.h"
#include "phys/viscosity_law.h"

typedef struct heat_source {
    shape* where; // NULL: radiant
    treacle_curve place, power, temperature;
    bool is_rate; // power is what each bit of liquid gains in a second, instead of what all of it
    double start, stop;
    vec3 aim;       // of unit length; 0: it shines all round
    double edge;    // cosine of the angle of its cone
    bool is_shaded; // something may stand in its light's way
} heat_source;

typedef struct heat_boundary {
    int axis, end; // of a side of the domain
    treacle_curve temperature, flux;
    double contact; // W/(m^2 K)
} heat_boundary;

typedef struct heat_setup {
    bool is_on;   // heat flows: particles have enthalpy
    bool has_law; // viscosity follows from what particles carry
    bool grows;   // of the marker: by itself, at the rate of its material
    int source_count;
    heat_source* sources;
    int boundary_count;
    heat_boundary* boundaries;
    int solid_count;       // 0 if none gives or takes heat
    heat_boundary* solids; // [solid_count], those that move by script
    int material_count;
    heat_curve* curve;        // [materials], of a kilogram
    viscosity_law* law;       // [materials]
    float* capacity;          // [materials], heat capacity of a volume over capacity_unit
    float* latent;            // [materials], latent heat of a volume over latent_unit
    float* conductivity;      // [materials], W/(m K)
    double capacity_unit;     // J/(m^3 K)
    double latent_unit;       // J/m^3; 0: nothing melts
    double diffusivity;       // m^2/s, the largest
    double least_diffusivity; // m^2/s, the smallest
    bool has_ranges;          // of melting that differ
    bool has_conductivities;  // that differ
} heat_setup;
