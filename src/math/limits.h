// The largest numbers of each kind that a simulation takes; the library and scene files share them.
//
// They are far beyond what liquids do and far below what floats hold: products of a few of them and
// of cells, steps and densities stay finite (3e38), and so do squares. A speed of 1e6 m/s crosses
// the largest domain in a second; 1e6 kg/m^3 is fifty times osmium, and 1e-6 kg/m^3, a millionth of
// the air's, leaves room for liquids without inertia to speak of.
#pragma once

#define LIMIT_LENGTH 1e9          // m
#define LIMIT_TIME 1e12           // s
#define LIMIT_STEP_LEAST 1e-12    // s
#define LIMIT_STEP 1e3            // s
#define LIMIT_SPEED 1e6           // m/s
#define LIMIT_ACCELERATION 1e9    // m/s^2
#define LIMIT_FREQUENCY 1e12      // 1/s
#define LIMIT_ANGLE 1e9           // rad
#define LIMIT_SPIN 1e6            // rad/s
#define LIMIT_DENSITY_LEAST 1e-6  // kg/m^3
#define LIMIT_DENSITY 1e6         // kg/m^3
#define LIMIT_FORCE 1e12          // N
#define LIMIT_PRESSURE 1e12       // Pa
#define LIMIT_VISCOSITY 1e15      // Pa s
#define LIMIT_FACTOR 1e12         // of viscosities; its inverse is the least
#define LIMIT_VOLUME_RATE 1e9     // m^3/s
#define LIMIT_TEMPERATURE 1e6     // K
#define LIMIT_ENERGY 1e15         // J; also of torques, N m
#define LIMIT_POWER 1e15          // W
#define LIMIT_CONDUCTIVITY 1e6    // W/(m K)
#define LIMIT_CAPACITY_LEAST 1e-3 // J/(kg K)
#define LIMIT_CAPACITY 1e9        // J/(kg K); J/kg of latent heat
#define LIMIT_HEAT_TRANSFER 1e9   // W/(m^2 K)
#define LIMIT_HEAT_FLUX 1e12      // W/m^2
#define LIMIT_TENSION 1e3         // N/m
#define LIMIT_NUMBER 1e12         // of any other kind
