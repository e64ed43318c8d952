// Throws a ball of honey and tells how high it got.
#include <stdio.h>
#include <string.h>

#include "treacle/treacle.h"

static const char text[] = "domain: {size: [1 m, 2 m, 1 m], cell: 5 cm}\n"
                           "flow: none\n"
                           "liquids:\n"
                           "  - shape: {sphere: {radius: 10 cm, centre: [0.5, 0.5, 0.5]}}\n"
                           "    velocity: [0, 4, 0]\n";

// The height of the highest particle, in m.
static double highest(const treacle_frame* frame) {
    const treacle_array* first = treacle_frame_find(frame, "tile_first");
    const int64_t* tile_first = first->data;
    const int32_t* tile_coord = treacle_frame_find(frame, "tile_coord")->data;
    const float* position = treacle_frame_find(frame, "position")->data;
    double top = frame->origin[1];
    for (int64_t tile = 0; tile + 1 < first->count; ++tile) {
        for (int64_t i = tile_first[tile]; i < tile_first[tile + 1]; ++i) {
            // Positions are in cells, from the low corner of a tile of 8 x 8 x 8 cells.
            double cells = 8.0 * tile_coord[3 * tile + 1] + (double)position[3 * i + 1];
            double y = frame->origin[1] + frame->cell * cells;
            top = y > top ? y : top;
        }
    }
    return top;
}

static treacle_status simulate(treacle_context* ctx, treacle_scene* scene) {
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(ctx, treacle_scene_sim(scene), &sim);
    double top = 0.0;
    while (status == TREACLE_OK && treacle_sim_time(sim) < 0.5) {
        treacle_step_stats stats;
        treacle_frame frame;
        status = treacle_sim_step(sim, 1.0 / 240.0, &stats);
        if (status == TREACLE_OK) {
            status = treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame);
        }
        if (status == TREACLE_OK) {
            double y = highest(&frame);
            top = y > top ? y : top;
        }
    }
    if (status == TREACLE_OK) {
        printf("%lld particles rose to %.2f m\n", (long long)treacle_sim_particle_count(sim), top);
    }
    treacle_sim_destroy(sim);
    return status;
}

int main(void) {
    treacle_context* ctx = NULL;
    treacle_context_def def = treacle_context_def_default();
    treacle_status status = treacle_context_create(&def, &ctx);
    if (status != TREACLE_OK) {
        fprintf(stderr, "%s\n", treacle_status_text(status));
        return (int)status;
    }
    treacle_scene* scene = NULL;
    status = treacle_scene_parse(ctx, "hello", text, strlen(text), 0, NULL, &scene);
    if (status == TREACLE_OK) {
        status = simulate(ctx, scene);
    }
    if (status != TREACLE_OK) {
        fprintf(stderr, "%s%s\n", scene != NULL ? treacle_scene_report(scene) : "",
                treacle_context_error(ctx));
    }
    treacle_scene_destroy(scene);
    treacle_context_destroy(ctx);
    return (int)status;
}
