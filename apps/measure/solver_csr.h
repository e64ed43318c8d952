// Yardsticks: the same systems as assembled matrices, by conjugate gradients with incomplete
// Cholesky in double, serial.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Rows in the order of the grid: x fastest, component after component.
typedef struct csr_matrix {
    int32_t n;
    int64_t* first;  // [n + 1]
    int32_t* column; // ascending within a row
    double* value;
    size_t* slot; // [n], of the unknown in a tile vector
} csr_matrix;

/// An empty matrix of n rows with room for `entries`; false if memory fails.
bool csr_create(csr_matrix* m, int32_t n, int64_t entries);
void csr_destroy(csr_matrix* m);
void csr_multiply(const csr_matrix* m, const double* x, double* y);

/// |b - A x| / |b| in the 2-norm, with b and x tile vectors.
double csr_residual(const csr_matrix* m, const double* b, const double* x);

/// The first iteration and time at which the residual fell below 1e-4 and 1e-6 of |b|.
typedef struct csr_result {
    int iterations[2];
    double seconds[2]; // factorisation included; of the whole run where it was not reached
    bool is_reached[2];
    double factor_seconds;
} csr_result;

/// Conjugate gradients with incomplete Cholesky without fill; modification 0 is IC(0), 0.97 the
/// usual MIC(0). b is a tile vector. Gives up after cap_seconds of CPU time.
csr_result csr_solve(const csr_matrix* m, const double* b, double modification, double cap_seconds);
