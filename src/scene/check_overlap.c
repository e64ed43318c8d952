// Bodies that are inside something at the start, each at its place in the file.
#include "scene/bind.h"
#include "treacle/sim.h"

typedef struct overlap_report {
    binder* b;
    const scene_node* bodies;
} overlap_report;

static treacle_status report(const treacle_overlap* found, void* user) {
    static const char* const sides[] = {"left", "right", "bottom", "top", "back", "front"};
    const overlap_report* r = user;
    const treacle_sim_def* sim = &r->b->root->sim;
    const char* name = sim->bodies[found->body].name;
    schema_path list = {.name = "bodies"}, path = {.up = &list, .name = name};
    bool is_side = found->kind == TREACLE_OVERLAP_SIDE;
    const char* other = is_side                               ? sides[found->other]
                        : found->kind == TREACLE_OVERLAP_BODY ? sim->bodies[found->other].name
                                                              : sim->solids[found->other].name;
    const char* what = is_side                               ? "the side"
                       : found->kind == TREACLE_OVERLAP_BODY ? "the body"
                                                             : "the solid";
    return bind_error(
        r->b, bind_place(scene_node_find(r->bodies, name), "shape"), &path,
        "it begins %.3g cells deep in %s '%s': expected that both are apart or touch, "
        "at most 0.01 cells deep",
        found->depth, what, other);
}

treacle_status bind_check_overlaps(binder* b, const scene_node* root) {
    overlap_report r = {b, scene_node_find(root, "bodies")};
    treacle_status status = treacle_sim_visit_overlaps(b->ctx, &b->root->sim, report, &r);
    // What else is wrong with bodies comes out when they are made.
    return status == TREACLE_ERR_MEMORY ? status : TREACLE_OK;
}
