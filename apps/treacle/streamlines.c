// Velocities of particles become means at the middles of cells, linear between them. Lines begin on
// a lattice where no other is near, are followed both ways by the midpoint rule, and end where the
// liquid does, where another line is near, or where they have come back to their begin.
#include "streamlines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 8, LINES_ALONG = 28, STEPS_MAX = 4000, POINTS_MIN = 24, GROWTH = 4096 };
static const double step = 0.25; // cells

typedef struct plane {
    int axes[2], size[2]; // cells
    double* u;            // [cells][3]: velocity and weight, then velocity and 1 or 0
    uint8_t* is_taken;    // [blocks], by a line
    int blocks[2];
    double block; // cells, between lines
    streamlines* out;
    int64_t capacity;
} plane;

static bool add_point(plane* p, double x, double y) {
    streamlines* s = p->out;
    if (s->count == p->capacity) {
        int64_t more = p->capacity + GROWTH;
        double* grown_x = realloc(s->x, (size_t)more * sizeof(double));
        s->x = grown_x != NULL ? grown_x : s->x;
        double* grown_y = realloc(s->y, (size_t)more * sizeof(double));
        s->y = grown_y != NULL ? grown_y : s->y;
        if (grown_x == NULL || grown_y == NULL) {
            return false;
        }
        p->capacity = more;
    }
    s->x[s->count] = x;
    s->y[s->count++] = y;
    return true;
}

static double* cell_at(const plane* p, int i, int j) {
    bool is_there = i >= 0 && j >= 0 && i < p->size[0] && j < p->size[1];
    return is_there ? p->u + 3 * ((size_t)j * (size_t)p->size[0] + (size_t)i) : NULL;
}

// What one particle gives to the four middles around it.
static void scatter(plane* p, const double x[2], const float* v) {
    int low[2] = {(int)floor(x[0] - 0.5), (int)floor(x[1] - 0.5)};
    for (int n = 0; n < 4; ++n) {
        int i = low[0] + n % 2, j = low[1] + n / 2;
        double w = (1.0 - fabs(x[0] - 0.5 - i)) * (1.0 - fabs(x[1] - 0.5 - j));
        double* cell = cell_at(p, i, j);
        for (int k = 0; k < 2 && cell != NULL; ++k) {
            cell[k] += w * (double)v[p->axes[k]];
        }
        if (cell != NULL) {
            cell[2] += w;
        }
    }
}

static void normalise(plane* p) {
    for (int64_t i = 0; i < (int64_t)p->size[0] * p->size[1]; ++i) {
        double* cell = p->u + 3 * i;
        bool is_wet = cell[2] > 0.25;
        cell[0] = is_wet ? cell[0] / cell[2] : 0.0;
        cell[1] = is_wet ? cell[1] / cell[2] : 0.0;
        cell[2] = is_wet ? 1.0 : 0.0;
    }
}

// The direction at a place, of unit length; false outside the liquid and where it rests.
static bool direction_at(const plane* p, const double x[2], double out[2]) {
    int low[2] = {(int)floor(x[0] - 0.5), (int)floor(x[1] - 0.5)};
    double sum[3] = {0};
    for (int n = 0; n < 4; ++n) {
        int i = low[0] + n % 2, j = low[1] + n / 2;
        double w = (1.0 - fabs(x[0] - 0.5 - i)) * (1.0 - fabs(x[1] - 0.5 - j));
        const double* cell = cell_at(p, i, j);
        for (int k = 0; k < 3 && cell != NULL; ++k) {
            sum[k] += w * cell[k];
        }
    }
    double speed = hypot(sum[0], sum[1]);
    out[0] = speed > 0.0 ? sum[0] / speed : 0.0;
    out[1] = speed > 0.0 ? sum[1] / speed : 0.0;
    return sum[2] > 0.5 && speed > 1e-9;
}

static uint8_t* block_at(const plane* p, const double x[2]) {
    int i = (int)(x[0] / p->block), j = (int)(x[1] / p->block);
    i = i < 0 ? 0 : i < p->blocks[0] ? i : p->blocks[0] - 1;
    j = j < 0 ? 0 : j < p->blocks[1] ? j : p->blocks[1] - 1;
    return &p->is_taken[(size_t)j * (size_t)p->blocks[0] + (size_t)i];
}

// One midpoint step, along the flow or against it.
static bool advance(const plane* p, double x[2], double sign) {
    double a[2], b[2], middle[2];
    if (!direction_at(p, x, a)) {
        return false;
    }
    middle[0] = x[0] + 0.5 * sign * step * a[0];
    middle[1] = x[1] + 0.5 * sign * step * a[1];
    if (!direction_at(p, middle, b)) {
        return false;
    }
    x[0] += sign * step * b[0];
    x[1] += sign * step * b[1];
    return true;
}

// A line from `begin`; `number` (2 ..) tells its own blocks from those of others. False if there is
// no memory.
static bool follow(plane* p, const double begin[2], double sign, uint8_t number) {
    double x[2] = {begin[0], begin[1]};
    for (int i = 0; i < STEPS_MAX; ++i) {
        uint8_t* block = block_at(p, x);
        if (*block != 0 && *block != number) {
            break;
        }
        *block = number;
        if (!add_point(p, x[0], x[1])) {
            return false;
        }
        bool has_returned = i > 12 && hypot(x[0] - begin[0], x[1] - begin[1]) < 1.5 * step;
        if (has_returned || !advance(p, x, sign)) {
            break;
        }
    }
    return add_point(p, NAN, NAN);
}

static bool draw_lines(plane* p) {
    bool is_good = true;
    uint8_t number = 2;
    for (int64_t n = 0; n < (int64_t)p->blocks[0] * p->blocks[1] && is_good; ++n) {
        int64_t i = n % p->blocks[0], j = n / p->blocks[0];
        const double begin[2] = {((double)i + 0.5) * p->block, ((double)j + 0.5) * p->block};
        double unused[2];
        if (p->is_taken[n] != 0 || !direction_at(p, begin, unused)) {
            continue;
        }
        int64_t before = p->out->count;
        is_good = follow(p, begin, 1.0, number) && follow(p, begin, -1.0, number);
        p->out->count = p->out->count - before < POINTS_MIN ? before : p->out->count;
        number = number == 255 ? 2 : (uint8_t)(number + 1);
    }
    return is_good;
}

static treacle_status take_particles(const treacle_frame* frame, plane* p) {
    const treacle_array* position = treacle_frame_find(frame, "position");
    const treacle_array* velocity = treacle_frame_find(frame, "velocity");
    const treacle_array* coord = treacle_frame_find(frame, "tile_coord");
    const treacle_array* first = treacle_frame_find(frame, "tile_first");
    if (position == NULL || velocity == NULL || coord == NULL || first == NULL ||
        velocity->type != TREACLE_TYPE_F32 || position->type != TREACLE_TYPE_F32 ||
        velocity->count != position->count || first->count != coord->count + 1) {
        return TREACLE_ERR_FORMAT;
    }
    const int32_t* tile = coord->data;
    const int64_t* begin = first->data;
    for (int64_t t = 0; t < coord->count; ++t) {
        for (int64_t i = begin[t]; i < begin[t + 1] && i < position->count; ++i) {
            double x[2];
            for (int k = 0; k < 2; ++k) {
                int a = p->axes[k];
                x[k] = (double)TILE * tile[3 * t + a] +
                       (double)((const float*)position->data)[3 * i + a];
            }
            scatter(p, x, (const float*)velocity->data + 3 * i);
        }
    }
    return TREACLE_OK;
}

static treacle_status find_in(const treacle_frame* frame, plane* p) {
    size_t cells = (size_t)p->size[0] * (size_t)p->size[1];
    p->u = calloc(3 * cells, sizeof(double));
    p->is_taken = calloc((size_t)p->blocks[0] * (size_t)p->blocks[1], 1);
    treacle_status status = p->u != NULL && p->is_taken != NULL ? TREACLE_OK : TREACLE_ERR_MEMORY;
    if (status == TREACLE_OK) {
        status = take_particles(frame, p);
    }
    if (status == TREACLE_OK) {
        normalise(p);
        status = draw_lines(p) ? TREACLE_OK : TREACLE_ERR_MEMORY;
    }
    free(p->u);
    free(p->is_taken);
    return status;
}

treacle_status streamlines_find(const treacle_frame* frame, streamlines* out) {
    int flat = frame->cells[2] == 1 ? 2 : frame->cells[1] == 1 ? 1 : frame->cells[0] == 1 ? 0 : -1;
    *out = (streamlines){0};
    if (flat < 0) {
        return TREACLE_ERR_USAGE;
    }
    plane p = {.out = out};
    for (int k = 0, a = 0; a < 3; ++a) {
        if (a != flat) {
            out->axes[k] = p.axes[k] = a;
            p.size[k++] = frame->cells[a];
        }
    }
    int longest = p.size[0] > p.size[1] ? p.size[0] : p.size[1];
    p.block = (double)longest / LINES_ALONG;
    for (int k = 0; k < 2; ++k) {
        p.blocks[k] = (int)ceil(p.size[k] / p.block);
    }
    treacle_status status = find_in(frame, &p);
    for (int64_t i = 0; i < out->count; ++i) {
        out->x[i] = frame->origin[p.axes[0]] + frame->cell * out->x[i];
        out->y[i] = frame->origin[p.axes[1]] + frame->cell * out->y[i];
    }
    if (status != TREACLE_OK) {
        streamlines_free(out);
    }
    return status;
}

void streamlines_free(streamlines* s) {
    free(s->x);
    free(s->y);
    *s = (streamlines){0};
}
