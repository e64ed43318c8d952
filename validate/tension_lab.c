#include "tension_lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "treacle/unstable/stages.h"

// --- liquids of points ---------------------------------------------------------------------------

static double random_at(uint64_t* counter) {
    uint64_t x = *counter += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static int64_t fill(const tension_drop* d, double* place, float* velocity) {
    uint64_t counter = d->seed;
    int n[3];
    int64_t count = 0, boxes = 1;
    for (int a = 0; a < 3; ++a) {
        n[a] = d->cells[a] > 1 ? 2 * d->cells[a] : 1;
        boxes *= n[a];
    }
    for (int64_t i = 0; i < boxes; ++i) {
        const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        double x[3];
        for (int a = 0; a < 3; ++a) {
            double shift = random_at(&counter);
            x[a] = d->cells[a] > 1 ? 0.5 * ((double)at[a] + shift) : 0.5;
        }
        if (d->shape(x) < 0.0) {
            for (int a = 0; a < 3 && place != NULL; ++a) {
                place[3 * count + a] = x[a] * d->cell;
            }
            if (velocity != NULL) {
                double p = x[0] - 16.2, q = x[1] - 15.9;
                velocity[3 * count] = (float)(d->cell * (d->velocity[0] - d->spin * q));
                velocity[3 * count + 1] = (float)(d->cell * (d->velocity[1] + d->spin * p));
                velocity[3 * count + 2] = 0.0f;
            }
            ++count;
        }
    }
    return count;
}

treacle_status tension_lab_put(treacle_sim* sim, const tension_drop* d) {
    int64_t count = fill(d, NULL, NULL);
    double* place = malloc((size_t)count * 3 * sizeof(double));
    float* velocity = malloc((size_t)count * 3 * sizeof(float));
    treacle_status status = place != NULL && velocity != NULL ? TREACLE_OK : TREACLE_ERR_MEMORY;
    if (status == TREACLE_OK) {
        fill(d, place, velocity);
        treacle_stages_particles points = {.count = count, .place = place, .velocity = velocity};
        status = treacle_stages_put(sim, &points);
    }
    free(place);
    free(velocity);
    treacle_stages_sort_stats sorted;
    VALIDATE_TRY(status);
    VALIDATE_TRY(treacle_stages_sort(sim, &sorted));
    return treacle_stages_prepare(sim);
}

// --- the surface ---------------------------------------------------------------------------------

static int64_t cross(const tension_drop* d, const float* phi, double (*out)[3]) {
    const int64_t strides[3] = {1, d->cells[0], (int64_t)d->cells[0] * d->cells[1]};
    int64_t count = 0, cells = strides[2] * d->cells[2];
    for (int64_t i = 0; i < cells; ++i) {
        const int64_t at[3] = {i % d->cells[0], i / d->cells[0] % d->cells[1], i / strides[2]};
        for (int a = 0; a < 3; ++a) {
            bool has_next = at[a] + 1 < d->cells[a];
            double one = (double)phi[i], two = has_next ? (double)phi[i + strides[a]] : one;
            if ((one < 0.0) == (two < 0.0)) {
                continue;
            }
            for (int b = 0; b < 3 && out != NULL; ++b) {
                out[count][b] = (double)at[b] + 0.5 + (a == b ? one / (one - two) : 0.0);
            }
            ++count;
        }
    }
    return count;
}

treacle_status tension_lab_surface(treacle_sim* sim, const tension_drop* d, tension_surface* out) {
    size_t cells = (size_t)d->cells[0] * (size_t)d->cells[1] * (size_t)d->cells[2];
    float* phi = malloc(cells * sizeof(float));
    *out = (tension_surface){0};
    treacle_status status =
        phi != NULL ? treacle_stages_surface(sim, phi, NULL) : TREACLE_ERR_MEMORY;
    if (status == TREACLE_OK) {
        out->count = cross(d, phi, NULL);
        out->at = malloc((size_t)(out->count + 1) * sizeof(*out->at));
        status = out->at != NULL ? TREACLE_OK : TREACLE_ERR_MEMORY;
    }
    if (status == TREACLE_OK) {
        cross(d, phi, out->at);
    }
    free(phi);
    return status;
}

// Gauss' elimination of a few equations, rows of n + 1 numbers.
static void solve(int n, double rows[4][5]) {
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(rows[i][k]) > fabs(rows[best][k]) ? i : best;
        }
        for (int j = 0; j <= n; ++j) {
            double kept = rows[k][j];
            rows[k][j] = rows[best][j];
            rows[best][j] = kept;
        }
        for (int i = 0; i < n; ++i) {
            double factor = i == k ? 0.0 : rows[i][k] / rows[k][k];
            for (int j = k; j <= n; ++j) {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    for (int k = 0; k < n; ++k) {
        rows[k][n] /= rows[k][k];
    }
}

static double height_above(const tension_plane* plane, const double x[3]) {
    double sum = 0.0;
    for (int a = 0; a < 3; ++a) {
        sum += (x[a] - plane->foot[a]) * plane->up[a];
    }
    return sum;
}

// |x|^2 = 2 m . x + (r^2 - |m|^2) is linear in the middle m and the number in brackets.
tension_ball tension_lab_fit(const tension_surface* surface, const tension_plane* plane,
                             bool is_flat) {
    int axes = is_flat ? 2 : 3, n = axes + 1;
    double rows[4][5] = {{0}};
    tension_ball out = {.top = -INFINITY};
    for (int64_t i = 0; i < surface->count; ++i) {
        const double* x = surface->at[i];
        double height = height_above(plane, x), terms[4], square = 0.0;
        if (height < plane->least) {
            continue;
        }
        for (int a = 0; a < axes; ++a) {
            terms[a] = x[a] - plane->foot[a];
            square += terms[a] * terms[a];
        }
        terms[axes] = 1.0;
        for (int p = 0; p < n; ++p) {
            for (int q = 0; q < n; ++q) {
                rows[p][q] += terms[p] * terms[q];
            }
            rows[p][n] += terms[p] * square;
        }
        out.top = fmax(out.top, height);
    }
    solve(n, rows);
    double square = rows[axes][n];
    for (int a = 0; a < axes; ++a) {
        double half = 0.5 * rows[a][n];
        out.middle[a] = plane->foot[a] + half;
        square += half * half;
    }
    out.middle[2] = is_flat ? plane->foot[2] : out.middle[2];
    out.radius = sqrt(square);
    double down = -height_above(plane, out.middle) / out.radius;
    out.angle = 180.0 / acos(-1.0) * acos(fmin(fmax(down, -1.0), 1.0));
    return out;
}

treacle_status tension_lab_heights(treacle_sim* sim, const tension_drop* d, double* out) {
    size_t cells = (size_t)d->cells[0] * (size_t)d->cells[1] * (size_t)d->cells[2];
    float* fraction = malloc(cells * sizeof(float));
    treacle_status status =
        fraction != NULL ? treacle_stages_surface(sim, NULL, fraction) : TREACLE_ERR_MEMORY;
    for (size_t i = 0; i < cells && status == TREACLE_OK; ++i) {
        size_t x = i % (size_t)d->cells[0], y = i / (size_t)d->cells[0] % (size_t)d->cells[1];
        size_t z = i / (size_t)d->cells[0] / (size_t)d->cells[1];
        double* column = &out[z * (size_t)d->cells[0] + x];
        *column = (y == 0 ? 0.0 : *column) + (double)fraction[i];
    }
    free(fraction);
    return status;
}
