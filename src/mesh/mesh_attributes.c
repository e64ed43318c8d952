#include "mesh/mesh_attributes.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { AXIS_COUNT = 3, VERTEX_GRAIN = 512, VALUES_MAX = 11, MATERIALS_MAX = 256 };

static const struct {
    const char* name;
    int components;
} infos[MESH_ATTRIBUTE_COUNT] = {
#define MESH_ATTRIBUTE_INFO(name, text, components) [MESH_##name] = {text, components},
    MESH_ATTRIBUTE_LIST(MESH_ATTRIBUTE_INFO)
#undef MESH_ATTRIBUTE_INFO
};

typedef struct attribute_job {
    const mesh_points* p;
    const surface_mesh* m;
    mesh_attributes* out;
    const float* from[MESH_ATTRIBUTE_COUNT];
    const uint8_t* material;
    const float* palette; // of materials, used where particles have no colour of their own
    int64_t palette_count;
} attribute_job;

int mesh_attribute_components(mesh_attribute attribute) {
    TREACLE_ASSERT((int)attribute >= 0 && attribute < MESH_ATTRIBUTE_COUNT);
    return infos[attribute].components;
}

// Sums over the points around a vertex.
typedef struct attribute_sums {
    float weight;
    float value[VALUES_MAX];
    float of_material[MATERIALS_MAX];
    int materials; // highest seen, plus 1
} attribute_sums;

// The attribute of a particle: of its own, or by its material.
static float value_of(const attribute_job* job, int attribute, int64_t row, int component) {
    int n = infos[attribute].components;
    if (job->from[attribute] != NULL) {
        return job->from[attribute][row * n + component];
    }
    if (attribute != MESH_COLOUR || job->palette == NULL) {
        return 0.0f;
    }
    int64_t material = job->material == NULL ? 0 : job->material[row];
    return material < job->palette_count ? job->palette[n * material + component] : 0.0f;
}

static void add_point(const attribute_job* job, int64_t j, float w, attribute_sums* sums) {
    int64_t row = job->p->source[j];
    int at = 0;
    sums->weight += w;
    for (int a = 0; a < MESH_ATTRIBUTE_COUNT; ++a) {
        for (int c = 0; c < infos[a].components; ++c, ++at) {
            sums->value[at] += w * value_of(job, a, row, c);
        }
    }
    int material = job->material == NULL ? 0 : job->material[row];
    for (; sums->materials <= material; ++sums->materials) {
        sums->of_material[sums->materials] = 0.0f;
    }
    sums->of_material[material] += w;
}

static void sum_around(const attribute_job* job, const float x[3], float radius,
                       attribute_sums* sums) {
    const mesh_points* p = job->p;
    int32_t bin[3];
    mesh_run runs[MESH_RUNS];
    mesh_points_bin(p, x, bin);
    mesh_points_around(p, bin, runs);
    float inverse = 1.0f / (radius * radius);
    sums->weight = 0.0f;
    sums->materials = 0;
    memset(sums->value, 0, sizeof(sums->value));
    for (int r = 0; r < MESH_RUNS; ++r) {
        for (int64_t j = runs[r].first; j < runs[r].last; ++j) {
            float square = 0.0f;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                float d = p->place[AXIS_COUNT * j + k] - x[k];
                square += d * d;
            }
            float q = 1.0f - square * inverse;
            if (q > 0.0f) {
                add_point(job, j, q * q * q, sums);
            }
        }
    }
}

static void write_vertex(const attribute_job* job, int64_t v, const attribute_sums* sums) {
    float scale = sums->weight > 0.0f ? 1.0f / sums->weight : 0.0f;
    int at = 0;
    for (int a = 0; a < MESH_ATTRIBUTE_COUNT; ++a) {
        for (int c = 0; c < infos[a].components; ++c, ++at) {
            if (job->out->value[a] != NULL) {
                job->out->value[a][v * infos[a].components + c] = sums->value[at] * scale;
            }
        }
    }
    int best = 0;
    for (int i = 1; i < sums->materials; ++i) {
        best = sums->of_material[i] > sums->of_material[best] ? i : best;
    }
    if (job->out->material != NULL) {
        job->out->material[v] = (uint8_t)best;
    }
}

static void find_values(void* data, int64_t begin, int64_t end) {
    const attribute_job* job = data;
    float near = (float)(2.0 * job->p->spacing), far = (float)job->p->bin;
    attribute_sums sums;
    for (int64_t v = begin; v < end; ++v) {
        sum_around(job, job->m->place[v], near, &sums);
        if (!(sums.weight > 1e-3f)) {
            sum_around(job, job->m->place[v], far, &sums);
        }
        write_vertex(job, v, &sums);
    }
}

static const void* find_rows(const treacle_frame* frame, const char* name, treacle_type type,
                             int components) {
    const treacle_array* found = treacle_frame_find(frame, name);
    const treacle_array* position = treacle_frame_find(frame, "position");
    bool is_alike = found != NULL && found->type == type && found->components == components &&
                    found->count == position->count;
    return is_alike ? found->data : NULL;
}

static void find_palette(attribute_job* job) {
    const treacle_array* found = treacle_frame_find(job->p->frame, "material_colour");
    if (found != NULL && found->type == TREACLE_TYPE_F32 && found->components == AXIS_COUNT &&
        found->count > 0) {
        job->palette = found->data;
        job->palette_count = found->count;
    }
}

static treacle_status mesh_attributes_allocate(attribute_job* job) {
    mesh_attributes* out = job->out;
    find_palette(job);
    size_t vertices = (size_t)out->count;
    void* block = NULL;
    for (int a = 0; a < MESH_ATTRIBUTE_COUNT; ++a) {
        job->from[a] =
            find_rows(job->p->frame, infos[a].name, TREACLE_TYPE_F32, infos[a].components);
        if (job->from[a] != NULL || (a == MESH_COLOUR && job->palette != NULL)) {
            TREACLE_TRY(alloc_array(out->ctx, vertices * (size_t)infos[a].components, sizeof(float),
                                    infos[a].name, &block));
            out->value[a] = block;
        }
    }
    job->material = find_rows(job->p->frame, "material", TREACLE_TYPE_U8, 1);
    if (job->material != NULL) {
        TREACLE_TRY(alloc_array(out->ctx, vertices, 1, "materials", &block));
        out->material = block;
    }
    return TREACLE_OK;
}

treacle_status mesh_attributes_find(const mesh_points* p, const surface_mesh* m,
                                    mesh_attributes* out) {
    TREACLE_ASSERT(p->ctx != NULL && m->vertex_count >= 0);
    *out = (mesh_attributes){.ctx = p->ctx, .count = m->vertex_count};
    attribute_job job = {.p = p, .m = m, .out = out};
    treacle_status status = mesh_attributes_allocate(&job);
    if (status != TREACLE_OK) {
        mesh_attributes_destroy(out);
        return status;
    }
    parallel_for(p->ctx, m->vertex_count, VERTEX_GRAIN, find_values, &job);
    return TREACLE_OK;
}

void mesh_attributes_destroy(mesh_attributes* a) {
    if (a->ctx != NULL) {
        for (int i = 0; i < MESH_ATTRIBUTE_COUNT; ++i) {
            alloc_free(a->ctx, a->value[i],
                       (size_t)a->count * (size_t)infos[i].components * sizeof(float));
        }
        alloc_free(a->ctx, a->material, (size_t)a->count);
    }
    *a = (mesh_attributes){0};
}
