#include "flow_lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static treacle_status take(int64_t count, float** out) {
    *out = calloc((size_t)count, sizeof(float));
    return *out == NULL ? TREACLE_ERR_MEMORY : TREACLE_OK;
}

treacle_status flow_lab_open(flow_lab* lab, treacle_sim* sim, const int cells[3], double cell) {
    *lab = (flow_lab){.sim = sim, .cell = cell, .cell_count = 1, .face_count = 1};
    for (int a = 0; a < 3; ++a) {
        lab->cells[a] = cells[a];
        lab->faces[a] = cells[a] + (cells[a] > 1 ? 1 : 0);
        lab->cell_count *= lab->cells[a];
        lab->face_count *= lab->faces[a];
    }
    treacle_status status = take(lab->cell_count, &lab->distance);
    status = status == TREACLE_OK ? take(lab->cell_count, &lab->viscosity) : status;
    status = status == TREACLE_OK ? take(lab->cell_count, &lab->liquid.pressure) : status;
    for (int a = 0; a < 3 && status == TREACLE_OK; ++a) {
        status = cells[a] > 1 ? take(lab->face_count, &lab->liquid.velocity[a]) : TREACLE_OK;
        status = status == TREACLE_OK ? take(lab->face_count, &lab->liquid.share[a]) : status;
    }
    lab->liquid.distance = lab->distance;
    return status;
}

void flow_lab_close(flow_lab* lab) {
    treacle_sim_destroy(lab->sim);
    free(lab->distance);
    free(lab->viscosity);
    free(lab->liquid.pressure);
    for (int a = 0; a < 3; ++a) {
        free(lab->liquid.velocity[a]);
        free(lab->liquid.share[a]);
    }
    *lab = (flow_lab){0};
}

void flow_lab_place(const flow_lab* lab, int64_t i, int axis, double x[3]) {
    const int* side = axis < 0 ? lab->cells : lab->faces;
    const int64_t at[3] = {i % side[0], i / side[0] % side[1], i / side[0] / side[1]};
    for (int a = 0; a < 3; ++a) {
        x[a] = lab->cell * ((double)at[a] + (a == axis ? 0.0 : 0.5));
    }
}

int64_t flow_lab_face(const flow_lab* lab, int x, int y, int z) {
    return ((int64_t)z * lab->faces[1] + y) * lab->faces[0] + x;
}

int64_t flow_lab_cell(const flow_lab* lab, int x, int y, int z) {
    return ((int64_t)z * lab->cells[1] + y) * lab->cells[0] + x;
}

void flow_lab_surface(flow_lab* lab, flow_lab_fcn* fcn, const void* data) {
    for (int64_t i = 0; i < lab->cell_count; ++i) {
        double x[3];
        flow_lab_place(lab, i, -1, x);
        lab->distance[i] = (float)(fcn(data, x, -1) / lab->cell);
    }
}

void flow_lab_velocity(flow_lab* lab, flow_lab_fcn* fcn, const void* data) {
    for (int a = 0; a < 3; ++a) {
        for (int64_t i = 0; lab->liquid.velocity[a] != NULL && i < lab->face_count; ++i) {
            double x[3];
            flow_lab_place(lab, i, a, x);
            lab->liquid.velocity[a][i] = (float)fcn(data, x, a);
        }
    }
}

void flow_lab_push(flow_lab* lab, const double push[3]) {
    lab->liquid.push = sqrt((push[0] * push[0] + push[1] * push[1]) + push[2] * push[2]);
    for (int a = 0; a < 3; ++a) {
        for (int64_t i = 0; lab->liquid.velocity[a] != NULL && i < lab->face_count; ++i) {
            lab->liquid.velocity[a][i] += (float)push[a];
        }
    }
}

void flow_lab_stop(flow_lab* lab) {
    for (int a = 0; a < 3; ++a) {
        if (lab->liquid.velocity[a] != NULL) {
            memset(lab->liquid.velocity[a], 0, (size_t)lab->face_count * sizeof(float));
        }
    }
    memset(lab->liquid.pressure, 0, (size_t)lab->cell_count * sizeof(float));
}

treacle_status flow_lab_run(flow_lab* lab, double dt, treacle_stages_part part) {
    lab->liquid.dt = dt;
    lab->liquid.part = part;
    return treacle_stages_flow(lab->sim, &lab->liquid, &lab->stats);
}

flow_lab_sums flow_lab_measure(const flow_lab* lab, const double centre[3]) {
    flow_lab_sums sum = {0};
    for (int a = 0; a < 3; ++a) {
        const float* velocity = lab->liquid.velocity[a];
        int b = (a + 1) % 3, c = (a + 2) % 3;
        for (int64_t i = 0; velocity != NULL && i < lab->face_count; ++i) {
            double x[3], m = (double)lab->liquid.share[a][i], p = m * (double)velocity[i];
            flow_lab_place(lab, i, a, x);
            sum.mass += a == 0 ? m : 0.0;
            sum.momentum[a] += p;
            sum.angular[b] += (x[c] - centre[c]) * p;
            sum.angular[c] -= (x[b] - centre[b]) * p;
            sum.energy += 0.5 * p * (double)velocity[i];
        }
    }
    return sum;
}

double flow_lab_sample(const flow_lab* lab, int axis, const double x[3]) {
    int low[3];
    double share[3], sum = 0.0;
    for (int a = 0; a < 3; ++a) {
        double at = x[a] / lab->cell - (a == axis ? 0.0 : 0.5);
        at = fmin(fmax(at, 0.0), fmax(lab->faces[a] - 1.000001, 0.0));
        low[a] = (int)floor(at);
        share[a] = lab->cells[a] > 1 ? at - low[a] : 0.0;
    }
    for (int n = 0; n < 8; ++n) {
        double weight = 1.0;
        int at[3];
        for (int a = 0; a < 3; ++a) {
            int is_high = n >> a & 1;
            weight *= is_high ? share[a] : 1.0 - share[a];
            at[a] = low[a] + (share[a] > 0.0 ? is_high : 0);
        }
        sum += weight > 0.0
                   ? weight *
                         (double)lab->liquid.velocity[axis][flow_lab_face(lab, at[0], at[1], at[2])]
                   : 0.0;
    }
    return sum;
}
