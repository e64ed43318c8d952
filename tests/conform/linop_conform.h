// What every operator of src/solve must satisfy, whatever it stands for.
//
// Include cmocka.h before this header. Vectors are random at active unknowns, those with a positive
// diagonal, and zero elsewhere.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "solve/linop.h"

// A number in [-1, 1) from a hash of n.
static inline double conform_random(uint64_t n) {
    n = (n + 1) * 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    n ^= n >> 31;
    return (double)(n >> 11) * 0x1p-52 - 1.0;
}

static inline double* conform_vector(const linop* op) {
    double* v = NULL;
    assert_int_equal(vec_create(op->space, "a test vector", &v), TREACLE_OK);
    return v;
}

static inline double* conform_random_vector(const linop* op, uint64_t seed) {
    double *v = conform_vector(op), *d = conform_vector(op);
    op->diagonal(op->data, d);
    for (size_t i = 0; i < vec_length(op->space); ++i) {
        v[i] = d[i] > 0.0 ? conform_random(seed * 0x10001 + i) : 0.0;
    }
    vec_destroy(op->space, d);
    return v;
}

// z = B r by way of floats; r stays as it is up to rounding.
static inline double* conform_precondition(const linop* op, const double* r) {
    float *rounded = NULL, *correction = NULL;
    double* z = conform_vector(op);
    assert_int_equal(vec_create_float(op->space, "a test vector", &rounded), TREACLE_OK);
    assert_int_equal(vec_create_float(op->space, "a test vector", &correction), TREACLE_OK);
    vec_round(op->space, 1.0, r, rounded);
    op->precondition(op->data, rounded, correction);
    for (size_t i = 0; i < vec_length(op->space); ++i) {
        z[i] = (double)correction[i];
    }
    vec_destroy_float(op->space, rounded);
    vec_destroy_float(op->space, correction);
    return z;
}

// x . A y = y . A x, and apply returns x . A x.
static inline void conform_is_symmetric(const linop* op) {
    double *x = conform_random_vector(op, 1), *y = conform_random_vector(op, 2);
    double *ax = conform_vector(op), *ay = conform_vector(op);
    double xax = op->apply(op->data, x, ax), yay = op->apply(op->data, y, ay);
    double scale = sqrt(xax * yay);
    assert_true(fabs(vec_dot(op->space, x, ay) - vec_dot(op->space, y, ax)) <= 1e-13 * scale);
    assert_true(fabs(vec_dot(op->space, x, ax) - xax) <= 1e-13 * xax);
    vec_destroy(op->space, x);
    vec_destroy(op->space, y);
    vec_destroy(op->space, ax);
    vec_destroy(op->space, ay);
}

// A x of floats is A x of the same numbers in double.
static inline void conform_rounded_agrees(const linop* op) {
    double *x = conform_random_vector(op, 9), *y = conform_vector(op), *z = conform_vector(op);
    float* rounded = NULL;
    assert_int_equal(vec_create_float(op->space, "a test vector", &rounded), TREACLE_OK);
    vec_round(op->space, 1.0, x, rounded);
    for (size_t i = 0; i < vec_length(op->space); ++i) {
        x[i] = (double)rounded[i];
    }
    double energy = op->apply(op->data, x, y);
    assert_true(fabs(op->apply_rounded(op->data, rounded, z) - energy) <= 1e-13 * energy);
    double size = vec_measure(op->space, y).max;
    for (size_t i = 0; i < vec_length(op->space); ++i) {
        assert_true(fabs(z[i] - y[i]) <= 1e-13 * size);
    }
    vec_destroy_float(op->space, rounded);
    vec_destroy(op->space, x);
    vec_destroy(op->space, y);
    vec_destroy(op->space, z);
}

static inline void conform_is_positive(const linop* op) {
    double* y = conform_vector(op);
    for (uint64_t seed = 3; seed < 8; ++seed) {
        double* x = conform_random_vector(op, seed);
        assert_true(op->apply(op->data, x, y) > 0.0);
        vec_destroy(op->space, x);
    }
    vec_destroy(op->space, y);
}

// diagonal_i = e_i . A e_i for some unknowns, and A e_i is zero at inactive ones.
static inline void conform_diagonal_agrees(const linop* op) {
    double *d = conform_vector(op), *x = conform_vector(op), *y = conform_vector(op);
    op->diagonal(op->data, d);
    size_t length = vec_length(op->space), active = 0;
    for (size_t i = 0; i < length; ++i) {
        active += d[i] > 0.0 ? 1 : 0;
    }
    assert_true((double)active == op->unknowns);
    size_t stride = active / 97 + 1, n = 0;
    for (size_t i = 0; i < length; ++i) {
        if (!(d[i] > 0.0) || n++ % stride != 0) {
            continue;
        }
        x[i] = 1.0;
        double energy = op->apply(op->data, x, y);
        assert_true(fabs(energy - d[i]) <= 1e-6 * d[i]);
        for (size_t k = 0; k < length; ++k) {
            assert_true(y[k] == 0.0 || d[k] > 0.0);
        }
        x[i] = 0.0;
    }
    vec_destroy(op->space, d);
    vec_destroy(op->space, x);
    vec_destroy(op->space, y);
}

// x . B y = y . B x to the precision of floats, and x . B x > 0.
static inline void conform_preconditioner_is_symmetric_positive(const linop* op, double tolerance) {
    double *x = conform_random_vector(op, 11), *y = conform_random_vector(op, 12);
    double *bx = conform_precondition(op, x), *by = conform_precondition(op, y);
    double xbx = vec_dot(op->space, x, bx), yby = vec_dot(op->space, y, by);
    assert_true(xbx > 0.0);
    assert_true(yby > 0.0);
    double skew = fabs(vec_dot(op->space, x, by) - vec_dot(op->space, y, bx));
    assert_true(skew <= tolerance * sqrt(xbx * yby));
    vec_destroy(op->space, x);
    vec_destroy(op->space, y);
    vec_destroy(op->space, bx);
    vec_destroy(op->space, by);
}
