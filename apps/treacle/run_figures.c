#include "run_figures.h"

#include <math.h>
#include <stdlib.h>

enum { TILE = 8 }; // cells along a side of a tile, as docs/formats/frame.md has it

static const double time_slack = 1e-9; // s, by which sums of steps may miss a frame's time

const run_figure_name run_figure_names[RUN_FIGURE_COUNT] = {
    [RUN_VOLUME] = {"volume", "m^3"},        [RUN_CENTRE_X] = {"centre x", "m"},
    [RUN_CENTRE_Y] = {"centre y", "m"},      [RUN_CENTRE_Z] = {"centre z", "m"},
    [RUN_FRONT] = {"front (most x)", "m"},   [RUN_TOP] = {"top (most y)", "m"},
    [RUN_KINETIC] = {"kinetic energy", "J"}, [RUN_ELASTIC] = {"elastic energy", "J"},
    [RUN_DISSIPATED] = {"dissipated", "J"},
};

static bool add_step(const treacle_step_stats* step, void* user) {
    run_history* history = user;
    if (history->count == history->capacity) {
        int capacity = history->capacity == 0 ? 256 : 2 * history->capacity;
        run_energies* room = realloc(history->steps, (size_t)capacity * sizeof(*room));
        if (room == NULL) {
            history->is_full = true;
            return false;
        }
        history->steps = room;
        history->capacity = capacity;
    }
    double before = history->count > 0 ? history->steps[history->count - 1].dissipated : 0.0;
    history->steps[history->count++] = (run_energies){
        .time = step->time,
        .kinetic = step->kinetic_energy,
        .elastic = step->energy.elastic,
        .dissipated = before + step->energy.dissipation,
    };
    return true;
}

treacle_status run_history_read(treacle_context* ctx, const char* folder, run_history* out) {
    *out = (run_history){0};
    treacle_status status = treacle_run_visit_steps(ctx, folder, add_step, out);
    return out->is_full ? TREACLE_ERR_MEMORY : status;
}

void run_history_free(run_history* history) {
    free(history->steps);
    *history = (run_history){0};
}

// After the last step that ends by then; nothing at the start.
static run_energies energies_at(const run_history* history, double time) {
    run_energies found = {0};
    for (int k = 0; k < history->count && history->steps[k].time <= time + time_slack; ++k) {
        found = history->steps[k];
    }
    return found;
}

// The liquid's volume, its middle and how far it reaches, of frames of particles.
static void measure_particles(const treacle_frame* frame, run_figures* out) {
    const treacle_array* first = treacle_frame_find(frame, "tile_first");
    const treacle_array* coord = treacle_frame_find(frame, "tile_coord");
    const treacle_array* position = treacle_frame_find(frame, "position");
    const treacle_array* volume = treacle_frame_find(frame, "volume");
    if (first == NULL || coord == NULL || position == NULL || volume == NULL) {
        return;
    }
    double sum[3] = {0.0}, most[3] = {-INFINITY, -INFINITY, -INFINITY}, total = 0.0;
    const int64_t* begin = first->data;
    for (int64_t tile = 0; tile < coord->count; ++tile) {
        const int32_t* corner = (const int32_t*)coord->data + 3 * tile;
        for (int64_t i = begin[tile]; i < begin[tile + 1]; ++i) {
            double size = (double)((const float*)volume->data)[i];
            total += size;
            for (int a = 0; a < 3; ++a) {
                double cells = TILE * corner[a] + (double)((const float*)position->data)[3 * i + a];
                double x = frame->origin[a] + frame->cell * cells;
                sum[a] += size * x;
                most[a] = fmax(most[a], x);
            }
        }
    }
    if (total > 0.0) {
        out->at[RUN_VOLUME] = total;
        out->at[RUN_CENTRE_X] = sum[0] / total;
        out->at[RUN_CENTRE_Y] = sum[1] / total;
        out->at[RUN_CENTRE_Z] = sum[2] / total;
        out->at[RUN_FRONT] = most[0];
        out->at[RUN_TOP] = most[1];
    }
}

run_figures run_figures_of(const treacle_frame* frame, const run_history* history) {
    run_figures out = {{0.0}};
    run_energies energies = energies_at(history, frame->time);
    measure_particles(frame, &out);
    out.at[RUN_KINETIC] = energies.kinetic;
    out.at[RUN_ELASTIC] = energies.elastic;
    out.at[RUN_DISSIPATED] = energies.dissipated;
    return out;
}
