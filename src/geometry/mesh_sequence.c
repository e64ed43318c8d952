#include "geometry/mesh_sequence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"

static size_t place_count(const mesh_sequence* seq) {
    return (size_t)seq->count * (size_t)seq->first->vertex_count;
}

// Names -------------------------------------------------------------------------------------------

treacle_status mesh_sequence_path(treacle_context* ctx, const char* pattern, int number,
                                  char out[MESH_SEQUENCE_PATH_MAX]) {
    const char* first = strchr(pattern, '#');
    size_t digits = first == NULL ? 0 : strspn(first, "#");
    if (first == NULL || strchr(first + digits, '#') != NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "%s: the name of a sequence of meshes has one run of # in the place of "
                          "the number, as in wave_####.ply",
                          pattern);
    }
    int length = snprintf(out, MESH_SEQUENCE_PATH_MAX, "%.*s%0*d%s", (int)(first - pattern),
                          pattern, (int)digits, number, first + digits);
    return length < MESH_SEQUENCE_PATH_MAX
               ? TREACLE_OK
               : check_fail(ctx, TREACLE_ERR_LIMIT, "the name of a mesh is longer than %d bytes",
                            MESH_SEQUENCE_PATH_MAX - 1);
}

static treacle_status mesh_sequence_check_def(treacle_context* ctx, const char* pattern,
                                              const treacle_mesh_sequence* def) {
    if (!(def->fps > 0.0 && isfinite(def->fps)) || !isfinite(def->start)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "%s: fps is %g and start is %g s: expected numbers, fps above 0", pattern,
                          def->fps, def->start);
    }
    int64_t count = (int64_t)def->last - def->first + 1;
    if (def->first < 0 || count < 1 || count > MESH_SEQUENCE_LENGTH_MAX) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "%s: the sequence goes from %d to %d: expected numbers from 0 on, the "
                          "last not below the first, and at most %d meshes",
                          pattern, def->first, def->last, MESH_SEQUENCE_LENGTH_MAX);
    }
    return TREACLE_OK;
}

// Reading -----------------------------------------------------------------------------------------

// What reading the meshes shares.
typedef struct reading {
    mesh_sequence* seq;
    const char* pattern;
    char path[MESH_SEQUENCE_PATH_MAX];
    mesh_builder first; // as the file says it
    int32_t* row;       // [vertices], of the file, that the joined ones come from
} reading;

// A sequence with a gap is told from a file that cannot be read.
static treacle_status read_raw(reading* r, int number, mesh_builder* out) {
    treacle_context* ctx = r->seq->ctx;
    TREACLE_TRY(mesh_sequence_path(ctx, r->pattern, number, r->path));
    if (access(r->path, F_OK) != 0 && errno == ENOENT) {
        return check_fail(ctx, TREACLE_ERR_IO,
                          "the mesh %s is missing: the sequence goes from %d to %d", r->path,
                          r->seq->def.first, r->seq->def.last);
    }
    return triangle_mesh_load_raw(ctx, r->path, out);
}

static treacle_status check_like_first(const reading* r, const mesh_builder* b) {
    treacle_context* ctx = r->seq->ctx;
    int first = r->seq->def.first;
    if (b->vertex_count != r->first.vertex_count) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "%s: the mesh has %zu vertices, number %d of the sequence has %zu; all "
                          "meshes of a sequence have the same",
                          r->path, b->vertex_count, first, r->first.vertex_count);
    }
    if (b->triangle_count != r->first.triangle_count) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "%s: the mesh has %zu triangles, number %d of the sequence has %zu; all "
                          "meshes of a sequence have the same",
                          r->path, b->triangle_count, first, r->first.triangle_count);
    }
    size_t bytes = b->triangle_count * sizeof(mesh_triangle);
    if (memcmp(b->triangles, r->first.triangles, bytes) != 0) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "%s: the triangles join other vertices than those of number %d of the "
                          "sequence; all meshes of a sequence have the same",
                          r->path, first);
    }
    return TREACLE_OK;
}

static void take_places(const reading* r, const mesh_builder* b, int i) {
    mesh_sequence* seq = r->seq;
    int32_t vertices = seq->first->vertex_count;
    vec3* to = seq->places + (size_t)i * (size_t)vertices;
    for (int32_t k = 0; k < vertices; ++k) {
        to[k] = b->vertices[r->row[k]];
    }
    seq->hash = hash_combine(seq->hash,
                             hash_bytes(b->vertices, b->vertex_count * sizeof(vec3), (uint64_t)i));
}

// Joined vertices keep the order of the file, and each comes from the first at its place.
static void find_rows(reading* r) {
    const triangle_mesh* mesh = r->seq->first;
    int32_t next = 0;
    for (size_t i = 0; i < r->first.vertex_count && next < mesh->vertex_count; ++i) {
        const double *x = r->first.vertices[i].at, *y = mesh->vertices[next].at;
        if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) {
            r->row[next++] = (int32_t)i;
        }
    }
}

static treacle_status read_others(reading* r) {
    treacle_status status = TREACLE_OK;
    for (int i = 1; i < r->seq->count && status == TREACLE_OK; ++i) {
        mesh_builder b;
        mesh_builder_init(&b, r->seq->ctx);
        status = read_raw(r, r->seq->def.first + i, &b);
        if (status == TREACLE_OK) {
            status = check_like_first(r, &b);
        }
        if (status == TREACLE_OK) {
            take_places(r, &b, i);
        }
        mesh_builder_finish(&b);
    }
    return status;
}

static void find_bounds(mesh_sequence* seq) {
    seq->bounds = (box3){seq->places[0], seq->places[0]};
    for (size_t i = 1; i < place_count(seq); ++i) {
        seq->bounds.low = vec3_min(seq->bounds.low, seq->places[i]);
        seq->bounds.high = vec3_max(seq->bounds.high, seq->places[i]);
    }
}

static treacle_status read_all(reading* r) {
    mesh_sequence* seq = r->seq;
    TREACLE_TRY(read_raw(r, seq->def.first, &r->first));
    TREACLE_TRY(triangle_mesh_load(seq->ctx, r->path, &seq->first));
    TREACLE_TRY(alloc_array(seq->ctx, (size_t)seq->first->vertex_count, sizeof(*r->row),
                            "joining the vertices of a mesh", (void**)&r->row));
    TREACLE_TRY(alloc_array(seq->ctx, place_count(seq), sizeof(vec3), "a sequence of meshes",
                            (void**)&seq->places));
    find_rows(r);
    seq->hash = hash_bytes(&seq->def.fps, sizeof(double), seq->first->hash);
    take_places(r, &r->first, 0);
    TREACLE_TRY(read_others(r));
    find_bounds(seq);
    return TREACLE_OK;
}

treacle_status mesh_sequence_load(treacle_context* ctx, const char* pattern,
                                  const treacle_mesh_sequence* def, mesh_sequence** out) {
    void* block = NULL;
    *out = NULL;
    TREACLE_TRY(mesh_sequence_check_def(ctx, pattern, def));
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(mesh_sequence), "a sequence of meshes", &block));
    mesh_sequence* seq = block;
    *seq = (mesh_sequence){.ctx = ctx, .def = *def, .count = def->last - def->first + 1};
    reading r = {.seq = seq, .pattern = pattern};
    mesh_builder_init(&r.first, ctx);
    treacle_status status = read_all(&r);
    if (r.row != NULL) {
        alloc_free(ctx, r.row, (size_t)seq->first->vertex_count * sizeof(*r.row));
    }
    mesh_builder_finish(&r.first);
    if (status != TREACLE_OK) {
        mesh_sequence_destroy(seq);
        return status;
    }
    *out = seq;
    return TREACLE_OK;
}

void mesh_sequence_destroy(mesh_sequence* seq) {
    if (seq == NULL) {
        return;
    }
    if (seq->places != NULL) {
        alloc_free(seq->ctx, seq->places, place_count(seq) * sizeof(vec3));
    }
    triangle_mesh_destroy(seq->first);
    alloc_free(seq->ctx, seq, sizeof(*seq));
}

// Motion ------------------------------------------------------------------------------------------

void mesh_sequence_transform(mesh_sequence* seq, double scale, const mat3* rotate, vec3 move) {
    TREACLE_ASSERT(scale > 0.0 && isfinite(scale));
    for (size_t i = 0; i < place_count(seq); ++i) {
        seq->places[i] = vec3_add_scaled(move, scale, mat3_apply(rotate, seq->places[i]));
    }
    find_bounds(seq);
}

double mesh_sequence_frame(const mesh_sequence* seq, double time) {
    TREACLE_ASSERT(seq->count > 0 && isfinite(time));
    double at = (time - seq->def.start) * seq->def.fps;
    if (seq->def.repeat) {
        at -= seq->count * floor(at / seq->count);
        return at < seq->count ? at : 0.0;
    }
    return at < 0.0 ? 0.0 : at < seq->count - 1 ? at : seq->count - 1;
}

void mesh_sequence_places(const mesh_sequence* seq, double frame, vec3* out) {
    TREACLE_ASSERT(frame >= 0.0 && frame < seq->count);
    TREACLE_ASSERT(out != NULL && seq->places != NULL);
    int low = (int)frame, high = (low + 1) % seq->count;
    double beyond = frame - low;
    size_t vertices = (size_t)seq->first->vertex_count;
    const vec3 *from = seq->places + (size_t)low * vertices,
               *to = seq->places + (size_t)high * vertices;
    for (size_t i = 0; i < vertices; ++i) {
        out[i] = vec3_add_scaled(from[i], beyond, vec3_sub(to[i], from[i]));
    }
}
