// Enthalpy and temperature of what melts and freezes.
#pragma once

/// K, where the enthalpy of liquids is zero; the same as a float and as a double.
#define HEAT_REFERENCE 273.0

/// A body of matter: of a kilogram, a particle or a cell.
typedef struct heat_curve {
    double capacity;  // J/K, > 0
    double latent;    // J, >= 0
    double melt[2];   // K: melting begins, melting ends, on the way up
    double freeze[2]; // K: freezing ends, freezing begins, on the way down; <= those of melting
    double reference; // K, where its energy is zero
} heat_curve;

typedef struct heat_state {
    double temperature; // K
    double melted;      // 0..1
    double slope;       // dT/dE, K/J, >= 0
} heat_state;

/// J, of a temperature and a melted fraction.
double heat_curve_energy(const heat_curve* curve, double temperature, double melted);
/// What a body is that has this energy now and had this melted fraction before [heat.2].
heat_state heat_curve_at(const heat_curve* curve, double energy, double melted);
/// The temperature that laws of viscosity see, K. Liquid that is colder than it melts counts as
/// what it is: as melted as when it was melted.
float heat_curve_law_temperature(const heat_curve* curve, float temperature, float melted);
/// The melted fraction of a body that has come to this temperature and had this fraction before.
double heat_curve_melted(const heat_curve* curve, double temperature, double melted);
