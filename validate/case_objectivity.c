// A strained disk that rotates, and must not care [SUITE 9d, G11 fig. 2.6].
//
// A disk of R = 0.35 m with eps = diag(e, -e) everywhere turns once in a second, a degree a step.
// It is so soft that its stress moves nothing: strain is carried and turned, no more. By the angle
// th through which its particles have come,
//
//     eps = e (cos 2 th, sin 2 th; sin 2 th, -cos 2 th)
//
// and a strain that does not turn with the material is wrong by 2 |sin th| of itself: of the wrong
// sign after a quarter turn. The disk itself lags a little: a step keeps the cosine of its angle of
// the spin.
//
// Tolerance of the suite: 1 % after a turn, of the strain of all particles, root mean square, and
// of its norm.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static const double pi = 3.14159265358979323846, strained = 0.1;

static const char scene[] =
    "domain: {origin: [-0.5, -0.5], size: [1, 1], cell: 0.03125, sides: slip}\n"
    "gravity: [0, 0, 0]\n"
    "step: {max_dt: 0.00277777778}\n"
    "materials: {gel: {density: 1000, viscosity: 1e6, elastic: {mu_e: 1e-6, rate: %s}}}\n"
    "liquids:\n"
    "  - shape: {sphere: {radius: 0.35, centre: [0, 0, 0]}}\n"
    "    spin: [0, 0, 6.283185307]\n";

// Gives all particles the strain diag(e, -e).
static treacle_status strain_all(validate* v, treacle_sim* sim) {
    treacle_frame frame;
    VALIDATE_TRY(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame));
    size_t bytes = (size_t)frame.array_count * sizeof(treacle_array);
    int64_t count = treacle_frame_find(&frame, "strain")->count;
    treacle_array* arrays = malloc(bytes);
    float* strain = calloc((size_t)count * 6, sizeof(*strain));
    treacle_status status = TREACLE_OK;
    if (arrays == NULL || strain == NULL) {
        status = validate_stop(v, "out of memory");
    } else {
        memcpy(arrays, frame.arrays, bytes);
        for (int64_t i = 0; i < count; ++i) {
            strain[6 * i] = (float)strained;
            strain[6 * i + 1] = (float)-strained;
        }
        for (int i = 0; i < frame.array_count; ++i) {
            arrays[i].data = strcmp(arrays[i].name, "strain") == 0 ? strain : arrays[i].data;
        }
        frame.arrays = arrays;
        status = treacle_sim_restore(sim, &frame);
    }
    free(arrays);
    free(strain);
    return status;
}

// The angle through which the particles have come, from 0 to a turn, in the mean.
static treacle_status angle_since(treacle_sim* sim, const validate_particle* start, double* out) {
    validate_particle* now = NULL;
    int64_t count = 0;
    treacle_status status = validate_particles(sim, &now, &count);
    double along = 0.0, across = 0.0;
    for (int64_t i = 0; i < count && status == TREACLE_OK; ++i) {
        const double *a = start[i].place, *b = now[i].place;
        along += a[0] * b[0] + a[1] * b[1];
        across += a[0] * b[1] - a[1] * b[0];
    }
    *out = atan2(across, along);
    free(now);
    return status;
}

// Root mean squares over particles: the error against the strain turned by the angle, and the norm;
// both over the norm at the start.
static treacle_status compare(treacle_sim* sim, double angle, double* error, double* norm) {
    treacle_frame frame;
    VALIDATE_TRY(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame));
    const treacle_array* strain = treacle_frame_find(&frame, "strain");
    double c = strained * cos(2.0 * angle), s = strained * sin(2.0 * angle);
    const double exact[6] = {c, -c, 0.0, 0.0, 0.0, s};
    double wrong = 0.0, square = 0.0;
    for (int64_t i = 0; i < 6 * strain->count; ++i) {
        int k = (int)(i % 6);
        double is = (double)((const float*)strain->data)[i], times = k < 3 ? 1.0 : 2.0;
        wrong += times * (is - exact[k]) * (is - exact[k]);
        square += times * is * is;
    }
    double all = 2.0 * strained * strained * (double)strain->count;
    *error = sqrt(wrong / all);
    *norm = sqrt(square / all);
    return TREACLE_OK;
}

static treacle_status turn(validate* v, treacle_sim* sim, const char* rate) {
    validate_particle* start = NULL;
    int64_t count = 0;
    double angle = NAN, error = NAN, norm = NAN;
    bool is_fixed = strcmp(rate, "fixed") == 0, is_whole = strcmp(rate, "corotational") == 0;
    treacle_status status = strain_all(v, sim);
    status = status == TREACLE_OK ? validate_particles(sim, &start, &count) : status;
    for (int quarter = 1; quarter <= (is_whole ? 4 : 1) && status == TREACLE_OK; ++quarter) {
        status = validate_advance(sim, 0.25 * quarter, 1.0);
        status = status == TREACLE_OK ? angle_since(sim, start, &angle) : status;
        status = status == TREACLE_OK ? compare(sim, angle, &error, &norm) : status;
    }
    if (status == TREACLE_OK && is_fixed) {
        validate_relative(v, error, 2.0 * fabs(sin(angle)), 0.01,
                          "error without turning, after a quarter turn, over |eps|");
    } else if (status == TREACLE_OK) {
        const char* way = is_whole ? "a turn" : "a quarter turn";
        validate_info(v, angle * 180.0 / pi, is_whole ? 0.0 : 90.0, "%s: angle after %s, degrees",
                      rate, way);
        validate_at_most(v, error, 0.0, 0.01, "%s: error of eps after %s, over |eps|", rate, way);
        validate_relative(v, norm, 1.0, 0.01, "%s: |eps| after %s", rate, way);
    }
    free(start);
    return status;
}

treacle_status case_objectivity(validate* v) {
    static const char* const rates[] = {"corotational", "convected", "fixed"};
    for (int i = 0; i < 3; ++i) {
        treacle_sim* sim = NULL;
        treacle_status status = validate_sim_create(v, &sim, scene, rates[i]);
        status = status == TREACLE_OK ? turn(v, sim, rates[i]) : status;
        treacle_sim_destroy(sim);
        VALIDATE_TRY(status);
    }
    return TREACLE_OK;
}
