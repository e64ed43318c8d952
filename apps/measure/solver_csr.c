#include "solver_csr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool csr_create(csr_matrix* m, int32_t n, int64_t entries) {
    size_t rows = (size_t)n, count = (size_t)entries;
    *m = (csr_matrix){.n = n};
    m->first = calloc(rows + 1, sizeof(*m->first));
    m->column = malloc((count + 1) * sizeof(*m->column));
    m->value = malloc((count + 1) * sizeof(*m->value));
    m->slot = malloc((rows + 1) * sizeof(*m->slot));
    return m->first != NULL && m->column != NULL && m->value != NULL && m->slot != NULL;
}

void csr_destroy(csr_matrix* m) {
    free(m->first);
    free(m->column);
    free(m->value);
    free(m->slot);
    *m = (csr_matrix){0};
}

void csr_multiply(const csr_matrix* m, const double* x, double* y) {
    for (int32_t i = 0; i < m->n; ++i) {
        double sum = 0.0;
        for (int64_t p = m->first[i]; p < m->first[i + 1]; ++p) {
            sum += m->value[p] * x[m->column[p]];
        }
        y[i] = sum;
    }
}

static double dot(int32_t n, const double* x, const double* y) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

double csr_residual(const csr_matrix* m, const double* b, const double* x) {
    size_t rows = (size_t)m->n;
    double *from = calloc(rows + 1, sizeof(double)), *y = malloc((rows + 1) * sizeof(double));
    double missed = 0.0, whole = 0.0;
    if (from != NULL && y != NULL) {
        for (size_t i = 0; i < rows; ++i) {
            from[i] = x[m->slot[i]];
        }
        csr_multiply(m, from, y);
        for (size_t i = 0; i < rows; ++i) {
            double want = b[m->slot[i]];
            missed += (want - y[i]) * (want - y[i]);
            whole += want * want;
        }
    }
    free(from);
    free(y);
    return sqrt(missed / whole);
}

// ---- Incomplete Cholesky --------------------------------------------------------------------

// A ~ L L^T by columns: the strict lower part of L, and the inverse of its diagonal.
typedef struct factor {
    int32_t n;
    int64_t* first;
    int32_t* row;
    double* value;
    double* inverse;
} factor;

static void factor_destroy(factor* f) {
    free(f->first);
    free(f->row);
    free(f->value);
    free(f->inverse);
}

static bool factor_load(factor* f, const csr_matrix* m) {
    size_t rows = (size_t)m->n, entries = (size_t)m->first[m->n];
    *f = (factor){.n = m->n};
    f->first = malloc((rows + 1) * sizeof(*f->first));
    f->row = malloc((entries + 1) * sizeof(*f->row));
    f->value = malloc((entries + 1) * sizeof(*f->value));
    f->inverse = malloc((rows + 1) * sizeof(*f->inverse));
    if (f->first == NULL || f->row == NULL || f->value == NULL || f->inverse == NULL) {
        return false;
    }
    int64_t count = 0;
    for (int32_t i = 0; i < m->n; ++i) {
        f->first[i] = count;
        for (int64_t p = m->first[i]; p < m->first[i + 1]; ++p) {
            if (m->column[p] > i) {
                f->row[count] = m->column[p];
                f->value[count++] = m->value[p];
            } else if (m->column[p] == i) {
                f->inverse[i] = m->value[p];
            }
        }
    }
    f->first[m->n] = count;
    return true;
}

// Takes column k out of column j = the row of entry p: what falls outside the pattern is dropped,
// or, modified, its share goes to the diagonal.
static void eliminate(factor* f, int64_t p, int64_t k_begin, int64_t k_end, double modification) {
    int32_t j = f->row[p];
    double multiplier = f->value[p], missed = 0.0;
    for (int64_t a = modification > 0.0 ? k_begin : p; a < p; ++a) {
        int32_t i = f->row[a];
        bool is_kept = false;
        for (int64_t b = f->first[i]; b < f->first[i + 1] && !is_kept; ++b) {
            is_kept = f->row[b] == j;
        }
        missed += is_kept ? 0.0 : f->value[a];
    }
    f->inverse[j] -= multiplier * multiplier;
    int64_t b = f->first[j];
    for (int64_t a = p + 1; a < k_end; ++a) {
        while (b < f->first[j + 1] && f->row[b] < f->row[a]) {
            ++b;
        }
        if (b < f->first[j + 1] && f->row[b] == f->row[a]) {
            f->value[b] -= multiplier * f->value[a];
        } else {
            missed += f->value[a];
        }
    }
    f->inverse[j] -= modification * multiplier * missed;
}

static bool factorise(factor* f, const csr_matrix* m, double modification) {
    const double smallest_fraction = 0.25; // of the original diagonal; below, the original is used
    if (!factor_load(f, m)) {
        return false;
    }
    double* original = malloc(((size_t)f->n + 1) * sizeof(double));
    if (original == NULL) {
        return false;
    }
    memcpy(original, f->inverse, (size_t)f->n * sizeof(double));
    for (int32_t k = 0; k < f->n; ++k) {
        bool is_safe = f->inverse[k] >= smallest_fraction * original[k];
        f->inverse[k] = 1.0 / sqrt(is_safe ? f->inverse[k] : original[k]);
        for (int64_t p = f->first[k]; p < f->first[k + 1]; ++p) {
            f->value[p] *= f->inverse[k];
        }
        for (int64_t p = f->first[k]; p < f->first[k + 1]; ++p) {
            eliminate(f, p, f->first[k], f->first[k + 1], modification);
        }
    }
    free(original);
    return true;
}

static void factor_apply(const factor* f, const double* r, double* z) {
    memcpy(z, r, (size_t)f->n * sizeof(double));
    for (int32_t i = 0; i < f->n; ++i) {
        double here = z[i] *= f->inverse[i];
        for (int64_t p = f->first[i]; p < f->first[i + 1]; ++p) {
            z[f->row[p]] -= f->value[p] * here;
        }
    }
    for (int32_t i = f->n - 1; i >= 0; --i) {
        double here = z[i];
        for (int64_t p = f->first[i]; p < f->first[i + 1]; ++p) {
            here -= f->value[p] * z[f->row[p]];
        }
        z[i] = here * f->inverse[i];
    }
}

// ---- Conjugate gradients --------------------------------------------------------------------

typedef struct cg_vectors {
    double *x, *r, *z, *p, *q;
} cg_vectors;

static bool cg_create(cg_vectors* v, int32_t n) {
    double** all[5] = {&v->x, &v->r, &v->z, &v->p, &v->q};
    bool is_complete = true;
    for (int i = 0; i < 5; ++i) {
        *all[i] = calloc((size_t)n + 1, sizeof(double));
        is_complete = is_complete && *all[i] != NULL;
    }
    return is_complete;
}

static void cg_destroy(cg_vectors* v) {
    free(v->x);
    free(v->r);
    free(v->z);
    free(v->p);
    free(v->q);
}

// Notes when the targets are first reached; true once both are.
static bool note(csr_result* result, double fraction, int iteration, double seconds) {
    static const double target[2] = {1e-4, 1e-6};
    for (int i = 0; i < 2; ++i) {
        if (!result->is_reached[i]) {
            result->iterations[i] = iteration;
            result->seconds[i] = seconds;
            result->is_reached[i] = fraction <= target[i];
        }
    }
    return result->is_reached[1];
}

static void cg_loop(const csr_matrix* m, const factor* f, cg_vectors* v, double begin, double cap,
                    csr_result* result) {
    int32_t n = m->n;
    double whole = sqrt(dot(n, v->r, v->r));
    factor_apply(f, v->r, v->z);
    memcpy(v->p, v->z, (size_t)n * sizeof(double));
    double rz = dot(n, v->r, v->z);
    for (int iteration = 1; cpu_seconds() - begin < cap; ++iteration) {
        csr_multiply(m, v->p, v->q);
        double alpha = rz / dot(n, v->p, v->q), square = 0.0;
        for (int32_t i = 0; i < n; ++i) {
            v->x[i] += alpha * v->p[i];
            v->r[i] -= alpha * v->q[i];
            square += v->r[i] * v->r[i];
        }
        if (note(result, sqrt(square) / whole, iteration, cpu_seconds() - begin)) {
            return;
        }
        factor_apply(f, v->r, v->z);
        double next = dot(n, v->r, v->z), beta = next / rz;
        rz = next;
        for (int32_t i = 0; i < n; ++i) {
            v->p[i] = v->z[i] + beta * v->p[i];
        }
    }
}

csr_result csr_solve(const csr_matrix* m, const double* b, double modification,
                     double cap_seconds) {
    csr_result result = {0};
    factor f = {0};
    cg_vectors v = {0};
    double begin = cpu_seconds();
    if (factorise(&f, m, modification) && cg_create(&v, m->n)) {
        result.factor_seconds = cpu_seconds() - begin;
        for (int32_t i = 0; i < m->n; ++i) {
            v.r[i] = b[m->slot[i]];
        }
        cg_loop(m, &f, &v, begin, cap_seconds, &result);
    }
    factor_destroy(&f);
    cg_destroy(&v);
    return result;
}
