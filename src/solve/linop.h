// A symmetric positive (semi)definite operator as a Krylov loop sees it.
#pragma once

#include "solve/vec_space.h"

typedef struct linop {
    const vec_space* space;
    const void* data; // handed to the functions
    double unknowns;  // active ones: rows with a positive diagonal

    /// y = A x on the active tiles; returns x . y. Values of x at inactive unknowns must be zero,
    /// those of y are.
    double (*apply)(const void* data, const double* x, double* y);
    double (*apply_rounded)(const void* data, const float* x, double* y); // the same
    /// The diagonal of A; zero at inactive unknowns.
    void (*diagonal)(const void* data, double* d);
    /// z = B r with B near the inverse of A, symmetric positive definite, or nearly so: then
    /// is_flexible is true and the loop keeps its directions conjugate by itself.
    void (*precondition)(const void* data, const float* r, float* z);
    bool is_flexible;
} linop;
