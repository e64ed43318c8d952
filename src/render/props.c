// Solids, bodies and emitters of a scene as triangles.
#include "base/alloc.h"
#include "render/trace_solid.h"
#include "treacle/preview.h"

// Shapes that are drawn by their distance are as fine as a preview shows.
enum { SAMPLES_ALONG = 64 };

struct treacle_props {
    treacle_context* ctx;
    int solid_count, emitter_count;
    solid_meshes solids;    // and bodies
    surface_mesh* emitters; // [emitter_count]
};

static treacle_status make_all(treacle_props* p, const treacle_sim_def* scene,
                               const treacle_frame* frame) {
    const solid_cast cast = {.solid_count = scene->solid_count,
                             .solids = scene->solids,
                             .body_count = scene->body_count,
                             .bodies = scene->bodies,
                             .samples = SAMPLES_ALONG};
    void* block = NULL;
    TREACLE_TRY(solid_meshes_create(p->ctx, &cast, frame, &p->solids));
    TREACLE_TRY(
        alloc_zero(p->ctx, (size_t)scene->emitter_count, sizeof(surface_mesh), "emitters", &block));
    p->emitters = block;
    p->solid_count = scene->solid_count;
    p->emitter_count = scene->emitter_count;
    for (int i = 0; i < scene->emitter_count; ++i) {
        const treacle_emitter_def* e = &scene->emitters[i];
        if (e->shape != NULL && frame->time >= e->start && frame->time <= e->stop) {
            TREACLE_TRY(emitter_mesh_create(p->ctx, e, frame, SAMPLES_ALONG, &p->emitters[i]));
        }
    }
    return TREACLE_OK;
}

treacle_status treacle_props_create(treacle_context* ctx, const treacle_sim_def* scene,
                                    const treacle_frame* frame, treacle_props** out) {
    void* block = NULL;
    *out = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_props), "solids", &block));
    treacle_props* p = block;
    p->ctx = ctx;
    treacle_status status = make_all(p, scene, frame);
    if (status != TREACLE_OK) {
        treacle_props_destroy(p);
        return status;
    }
    *out = p;
    return TREACLE_OK;
}

void treacle_props_destroy(treacle_props* p) {
    if (p == NULL) {
        return;
    }
    for (int i = 0; i < p->emitter_count; ++i) {
        surface_mesh_destroy(&p->emitters[i]);
    }
    if (p->emitters != NULL) {
        alloc_free(p->ctx, p->emitters, (size_t)p->emitter_count * sizeof(surface_mesh));
    }
    solid_meshes_destroy(&p->solids);
    alloc_free(p->ctx, p, sizeof(*p));
}

int treacle_props_count(const treacle_props* p) {
    return p->solids.count + p->emitter_count;
}

treacle_prop treacle_props_get(const treacle_props* p, int index) {
    int emitter = index - p->solids.count, body = index - p->solid_count;
    const surface_mesh* m = emitter < 0 ? &p->solids.solids[index].mesh : &p->emitters[emitter];
    treacle_prop out = {.role = TREACLE_PROP_SOLID,
                        .index = index,
                        .vertex_count = m->vertex_count,
                        .triangle_count = m->triangle_count};
    if (emitter >= 0) {
        out.role = TREACLE_PROP_EMITTER;
        out.index = emitter;
    } else if (body >= 0) {
        out.role = TREACLE_PROP_BODY;
        out.index = body;
    } else if (p->solids.solids[index].is_container) {
        out.role = TREACLE_PROP_CONTAINER;
    }
    if (m->triangle_count > 0) {
        out.position = &m->place[0][0];
        out.normal = &m->normal[0][0];
        out.triangles = &m->triangle[0][0];
    }
    return out;
}
