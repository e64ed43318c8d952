// What a frame does not carry because the scene has it: viscosity, density and colour of particles.
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "math/elementary.h"
#include "phys/viscosity_law.h"
#include "treacle/sim.h"

enum { DERIVED_VISCOSITY, DERIVED_DENSITY, DERIVED_COLOUR, DERIVED_COUNT };

static const struct {
    const char* name;
    int components;
} extras[DERIVED_COUNT] = {{"viscosity", 1}, {"density", 1}, {"colour", 3}};

struct treacle_dressed_frame {
    treacle_context* ctx;
    treacle_frame frame;
    treacle_array* arrays;
    int capacity;                // of arrays
    int64_t count;               // particles
    float* extra[DERIVED_COUNT]; // NULL where the frame has its own
    viscosity_law* laws;         // while it is made
    int law_count;
};

static const void* column(const treacle_frame* frame, const char* name, treacle_type type,
                          int64_t count) {
    const treacle_array* found = treacle_frame_find(frame, name);
    bool is_alike =
        found != NULL && found->type == type && found->components == 1 && found->count == count;
    return is_alike ? found->data : NULL;
}

static treacle_status make_laws(treacle_dressed_frame* d, const treacle_sim_def* def) {
    void* block = NULL;
    TREACLE_TRY(alloc_zero(d->ctx, (size_t)def->material_count, sizeof(viscosity_law),
                           "laws of viscosity", &block));
    d->laws = block;
    d->law_count = def->material_count;
    for (int m = 0; m < def->material_count; ++m) {
        const treacle_material_def* material = &def->materials[m];
        TREACLE_TRY(
            viscosity_law_init(d->ctx, &material->viscosity_law, material->viscosity, &d->laws[m]));
    }
    return TREACLE_OK;
}

static void finish_laws(treacle_dressed_frame* d) {
    for (int m = 0; m < d->law_count && d->laws != NULL; ++m) {
        viscosity_law_finish(&d->laws[m]);
    }
    alloc_free(d->ctx, d->laws, (size_t)d->law_count * sizeof(viscosity_law));
    d->laws = NULL;
    d->law_count = 0;
}

void treacle_dressed_frame_destroy(treacle_dressed_frame* d) {
    if (d == NULL) {
        return;
    }
    finish_laws(d);
    for (int e = 0; e < DERIVED_COUNT; ++e) {
        size_t floats = (size_t)d->count * (size_t)extras[e].components;
        alloc_free(d->ctx, d->extra[e], floats * sizeof(float));
    }
    alloc_free(d->ctx, d->arrays, (size_t)d->capacity * sizeof(treacle_array));
    alloc_free(d->ctx, d, sizeof(*d));
}

const treacle_frame* treacle_dressed_frame_view(const treacle_dressed_frame* d) {
    return &d->frame;
}

// Columns that the viscosity follows from; NULL where the frame has none.
typedef struct derived_columns {
    const uint8_t* material;
    const float *temperature, *marker, *log_factor;
} derived_columns;

static double viscosity_of(const treacle_dressed_frame* d, const derived_columns* c, int64_t i,
                           int m) {
    const viscosity_law* law = &d->laws[m];
    const float* x = law->def.of == TREACLE_LAW_OF_MARKER ? c->marker : c->temperature;
    double log_mu = law->def.kind == TREACLE_LAW_NONE || x == NULL
                        ? law->log_mu
                        : viscosity_law_eval(law, (double)x[i]);
    return elementary_exp(log_mu + (c->log_factor == NULL ? 0.0 : (double)c->log_factor[i]));
}

static void fill_row(treacle_dressed_frame* d, const treacle_sim_def* def, const derived_columns* c,
                     int64_t i) {
    int m = c->material == NULL || c->material[i] >= def->material_count ? 0 : c->material[i];
    const treacle_material_def* material = &def->materials[m];
    if (d->extra[DERIVED_VISCOSITY] != NULL) {
        d->extra[DERIVED_VISCOSITY][i] = (float)viscosity_of(d, c, i, m);
    }
    if (d->extra[DERIVED_DENSITY] != NULL) {
        d->extra[DERIVED_DENSITY][i] = (float)material->density;
    }
    for (int k = 0; k < 3 && d->extra[DERIVED_COLOUR] != NULL; ++k) {
        d->extra[DERIVED_COLOUR][3 * i + k] = (float)material->colour[k];
    }
}

static void add_array(treacle_dressed_frame* d, int e) {
    treacle_array* out = &d->arrays[d->frame.array_count];
    *out = (treacle_array){.type = TREACLE_TYPE_F32,
                           .components = extras[e].components,
                           .count = d->count,
                           .data = d->extra[e]};
    strcpy(out->name, extras[e].name);
    d->frame.array_count += 1;
}

static treacle_status make_extras(treacle_dressed_frame* d, const treacle_frame* frame) {
    void* block = NULL;
    TREACLE_TRY(alloc_array(d->ctx, (size_t)d->capacity, sizeof(treacle_array), "a frame", &block));
    d->arrays = block;
    if (frame->array_count > 0) {
        memcpy(d->arrays, frame->arrays, (size_t)frame->array_count * sizeof(treacle_array));
    }
    d->frame.arrays = d->arrays;
    for (int e = 0; e < DERIVED_COUNT; ++e) {
        if (treacle_frame_find(frame, extras[e].name) == NULL) {
            size_t floats = (size_t)d->count * (size_t)extras[e].components;
            TREACLE_TRY(alloc_array(d->ctx, floats, sizeof(float), "a frame", &block));
            d->extra[e] = block;
            add_array(d, e);
        }
    }
    return TREACLE_OK;
}

static treacle_status add_derived_arrays(treacle_dressed_frame* d, const treacle_sim_def* def,
                                         const treacle_frame* frame) {
    TREACLE_TRY(make_laws(d, def));
    TREACLE_TRY(make_extras(d, frame));
    derived_columns columns = {
        .material = column(frame, "material", TREACLE_TYPE_U8, d->count),
        .temperature = column(frame, "temperature", TREACLE_TYPE_F32, d->count),
        .marker = column(frame, "marker", TREACLE_TYPE_F32, d->count),
        .log_factor = column(frame, "viscosity_log_factor", TREACLE_TYPE_F32, d->count),
    };
    for (int64_t i = 0; i < d->count; ++i) {
        fill_row(d, def, &columns, i);
    }
    finish_laws(d);
    return TREACLE_OK;
}

treacle_status treacle_frame_dress(treacle_context* ctx, const treacle_sim_def* def,
                                   const treacle_frame* frame, treacle_dressed_frame** out) {
    void* block = NULL;
    *out = NULL;
    if (def->material_count < 1) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a def without materials cannot dress a frame");
    }
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_dressed_frame), "a frame", &block));
    treacle_dressed_frame* d = block;
    const treacle_array* id = treacle_frame_find(frame, "id");
    *d = (treacle_dressed_frame){.ctx = ctx,
                                 .frame = *frame,
                                 .capacity = frame->array_count + DERIVED_COUNT,
                                 .count = id == NULL ? 0 : id->count};
    treacle_status status = add_derived_arrays(d, def, frame);
    if (status != TREACLE_OK) {
        treacle_dressed_frame_destroy(d);
        return status;
    }
    *out = d;
    return TREACLE_OK;
}
