// A simulation in which rank 1 gets no more memory after its first steps, while the others wait for
// it: all must end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "treacle/treacle.h"

static const char scene_text[] =
    "name: pool\n"
    "domain: {size: [0.32, 0.32, 0.32], cell: 2 cm}\n"
    "materials: {water: {density: 1000}}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0, 0, 0], max: [16 cm, 16 cm, 32 cm]}}}\n";

typedef struct purse {
    bool is_empty;
} purse;

static void* take(size_t bytes, size_t alignment, void* user) {
    const purse* p = user;
    return p->is_empty ? NULL : aligned_alloc(alignment, bytes);
}

static void give(void* block, size_t bytes, void* user) {
    (void)bytes;
    (void)user;
    free(block);
}

static treacle_status simulate(treacle_context* ctx, const treacle_scene* scene, purse* p) {
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(ctx, treacle_scene_sim(scene), &sim);
    for (int i = 0; i < 6 && status == TREACLE_OK; ++i) {
        treacle_step_stats stats;
        p->is_empty = i == 3 && treacle_context_rank(ctx) == 1;
        status = treacle_sim_step(sim, 0.01, &stats);
    }
    treacle_sim_destroy(sim);
    return status;
}

int main(void) {
    purse p = {false};
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    treacle_scene* scene = NULL;
    def.ranks = true;
    def.threads = 1;
    def.alloc = take;
    def.free = give;
    def.alloc_user = &p;
    treacle_status status = treacle_context_create(&def, &ctx);
    if (status == TREACLE_OK) {
        status = treacle_scene_parse(ctx, "pool", scene_text, strlen(scene_text), 0, NULL, &scene);
    }
    if (status == TREACLE_OK) {
        status = simulate(ctx, scene, &p);
    }
    treacle_scene_destroy(scene);
    treacle_context_destroy(ctx);
    return (int)status;
}
