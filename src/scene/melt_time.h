// How long a body takes to melt or to set through: Neumann's solution, and what a power does.
#pragma once

/// A body on its way from one temperature to another.
typedef struct melt_body {
    double density, capacity, latent, conductivity; // kg/m^3, J/(kg K), J/kg, W/(m K)
    double start, target;                           // K: what it has, and where it melts or sets
} melt_body;

/// The front is at 2 lambda sqrt(k t) from a side at `outside`, K; 0: it does not come.
double melt_time_lambda(const melt_body* body, double outside);
/// s, until the front is `length`, m, deep. The side is held at `outside` and touches with `film`,
/// W/(m^2 K), which may be infinite. INFINITY: never.
double melt_time_held(const melt_body* body, double length, double outside, double film);
/// s, until `watts` have brought `volume`, m^3, to the target and through it. INFINITY: never.
double melt_time_powered(const melt_body* body, double volume, double watts);
