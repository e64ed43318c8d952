#include "render/picture_part.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/hash.h"

typedef struct part_head {
    char name[24];
    uint64_t hash;
    int32_t width, height, done, pixel_bytes;
} part_head;

static part_head head_of(uint64_t hash, const trace_image* image) {
    part_head out = {.name = "treacle picture part 1\n",
                     .hash = hash,
                     .width = image->width,
                     .height = image->height,
                     .pixel_bytes = (int32_t)sizeof(trace_pixel)};
    return out;
}

static uint64_t add_floats(uint64_t hash, const float* values, size_t count) {
    return values == NULL ? hash : hash_bytes(values, count * sizeof(float), hash);
}

static uint64_t add_material(uint64_t hash, const trace_material* m) {
    const float values[] = {(float)m->kind,
                            m->colour.x,
                            m->colour.y,
                            m->colour.z,
                            m->facets.alpha,
                            m->facets.eta,
                            m->medium.scatter.x,
                            m->medium.scatter.y,
                            m->medium.scatter.z,
                            m->medium.absorb.x,
                            m->medium.absorb.y,
                            m->medium.absorb.z,
                            m->medium.eta,
                            m->glow,
                            m->crust,
                            m->coat,
                            m->texture_size,
                            (float)m->texture,
                            m->melting[0],
                            m->melting[1],
                            (float)m->is_tinted};
    return add_floats(hash, values, sizeof(values) / sizeof(values[0]));
}

uint64_t picture_part_hash(const trace_stage* s) {
    const trace_camera* c = &s->camera;
    const float view[] = {
        c->eye.x,         c->eye.y, c->eye.z, c->forward.x, c->forward.y,         c->forward.z,
        c->half_slope[0], c->lens,  c->focus, c->shutter,   (float)s->frame->time};
    uint64_t hash = add_floats(s->def->seed, view, sizeof(view) / sizeof(view[0]));
    const trace_environment* e = &s->environment;
    hash = add_floats(hash, &e->pixel[0].x, 3 * (size_t)e->width * (size_t)e->height);
    hash = add_floats(hash, &e->sun_direction.x, 3);
    hash = add_floats(hash, &e->sun_radiance.x, 3);
    for (int i = 0; i < s->scene.lights.lamp_count; ++i) {
        const trace_lamp* l = &s->lamps[i];
        const float lamp[] = {l->centre.x,   l->centre.y,   l->centre.z,   l->normal.x,
                              l->normal.y,   l->normal.z,   l->half[0],    l->half[1],
                              l->radiance.x, l->radiance.y, l->radiance.z, (float)l->is_seen};
        hash = add_floats(hash, lamp, sizeof(lamp) / sizeof(lamp[0]));
    }
    for (int i = 0; i < s->material_count; ++i) {
        hash = add_material(hash, &s->materials[i]);
    }
    for (int i = 0; i < s->scene.mesh_count; ++i) {
        const trace_mesh* m = &s->meshes[i];
        for (int64_t t = 0; t < 3 * m->triangle_count; ++t) {
            hash = add_floats(hash, m->position + 3 * (int64_t)m->triangles[t], 3);
        }
    }
    return hash;
}

void picture_part_read(const char* path, uint64_t hash, trace_image* image) {
    FILE* file = fopen(path, "rb");
    part_head head, wanted = head_of(hash, image);
    if (file == NULL) {
        return;
    }
    size_t n = (size_t)image->width * (size_t)image->height;
    bool is_right = fread(&head, sizeof(head), 1, file) == 1;
    wanted.done = is_right ? head.done : 0;
    is_right = is_right && memcmp(&head, &wanted, sizeof(head)) == 0 && head.done > 0;
    if (is_right && fread(image->pixels, sizeof(trace_pixel), n, file) == n) {
        image->done = head.done;
    } else {
        memset(image->pixels, 0, n * sizeof(trace_pixel));
    }
    fclose(file);
}

treacle_status picture_part_write(const char* path, uint64_t hash, const trace_image* image) {
    part_head head = head_of(hash, image);
    atomic_file file;
    head.done = image->done;
    size_t n = (size_t)image->width * (size_t)image->height;
    TREACLE_TRY(atomic_file_open(image->ctx, path, &file));
    TREACLE_TRY(atomic_file_append(&file, &head, sizeof(head)));
    TREACLE_TRY(atomic_file_append(&file, image->pixels, n * sizeof(trace_pixel)));
    return atomic_file_commit(&file);
}
