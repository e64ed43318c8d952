#include "heat_measure.h"

#include <math.h>
#include <string.h>

static const float* column(const treacle_frame* frame, const char* name) {
    const treacle_array* found = treacle_frame_find(frame, name);
    return found == NULL ? NULL : found->data;
}

static void add_particle(const treacle_frame* frame, int64_t i, heat_layer* layer) {
    const float *volume = column(frame, "volume"), *temperature = column(frame, "temperature");
    const float *melted = column(frame, "melted"), *velocity = column(frame, "velocity");
    double v = (double)volume[i];
    layer->volume += v;
    layer->temperature += temperature == NULL ? 0.0 : v * (double)temperature[i];
    layer->melted += melted == NULL ? 0.0 : v * (double)melted[i];
    for (int a = 0; a < 3; ++a) {
        layer->speed[a] += v * (double)velocity[3 * i + a];
    }
}

treacle_status heat_layers(treacle_sim* sim, int axis, heat_layer* out, int count) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    if (status != TREACLE_OK) {
        return status;
    }
    memset(out, 0, (size_t)count * sizeof(*out));
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int64_t* rows = first->data;
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = rows[tile]; i < rows[tile + 1]; ++i) {
            double place[3];
            validate_position(&frame, tile, i, place);
            int at = (int)floor((place[axis] - frame.origin[axis]) / frame.cell);
            if (at >= 0 && at < count) {
                add_particle(&frame, i, &out[at]);
            }
        }
    }
    for (int k = 0; k < count; ++k) {
        double v = out[k].volume > 0.0 ? out[k].volume : 1.0;
        out[k].temperature /= v;
        out[k].melted /= v;
        for (int a = 0; a < 3; ++a) {
            out[k].speed[a] /= v;
        }
    }
    return TREACLE_OK;
}

double heat_front(const heat_layer* layers, int count, double level) {
    for (int k = 0; k + 1 < count; ++k) {
        double a = layers[k].temperature, b = layers[k + 1].temperature;
        bool is_there = layers[k].volume > 0.0 && layers[k + 1].volume > 0.0;
        if (is_there && a >= level && b < level) {
            return k + 0.5 + (a - level) / (a - b);
        }
    }
    return NAN;
}

treacle_status heat_melted(treacle_sim* sim, double* out) {
    treacle_frame frame;
    treacle_status status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
    *out = 0.0;
    const float* melted = status == TREACLE_OK ? column(&frame, "melted") : NULL;
    if (melted == NULL) {
        return status;
    }
    const treacle_array* volume = treacle_frame_find(&frame, "volume");
    for (int64_t i = 0; i < volume->count; ++i) {
        *out += (double)((const float*)volume->data)[i] * (double)melted[i];
    }
    return TREACLE_OK;
}
