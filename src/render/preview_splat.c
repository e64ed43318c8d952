#include "render/preview_splat.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "render/preview_hull.h"

enum {
    TILE_CELLS = 8,
    BAND_ROWS = 32, // a multiple of the widest pixel of thickness
    ROW_GRAIN = 16,
    MATERIALS_MAX = 256,
};

// Radius of a ball over the cube root of a particle's volume: large enough that balls on a lattice
// leave no holes.
static const float radius_factor = 0.92f;
// The same over the root of the area in a flat domain, where no second layer fills a hole.
static const float flat_radius_factor = 1.2f;
// Smaller balls are drawn this large: they would fall between the pixels.
static const float pixel_radius_min = 0.75f;
// #d98c1a: honey.
static const float honey[3] = {0.694f, 0.262f, 0.0103f};

// ---------------------------------------------------------------------------------------------
// The frame's arrays

typedef struct wanted_array {
    const char* name;
    treacle_type type;
    int components;
    bool is_needed;
} wanted_array;

// *out = the data of an array of that shape with `count` items (any number if < 0).
static treacle_status take_array(treacle_context* ctx, const treacle_frame* frame,
                                 wanted_array wanted, int64_t count, const void** out) {
    const treacle_array* array = treacle_frame_find(frame, wanted.name);
    *out = NULL;
    if (array == NULL) {
        return wanted.is_needed
                   ? check_fail(ctx, TREACLE_ERR_FORMAT,
                                "the frame has no array '%s' and cannot be drawn", wanted.name)
                   : TREACLE_OK;
    }
    if (array->type != wanted.type || array->components != wanted.components ||
        (count >= 0 && array->count != count)) {
        return check_fail(
            ctx, TREACLE_ERR_FORMAT,
            "the frame's array '%s' has %lld items of %d values of type %d and cannot "
            "be drawn",
            wanted.name, (long long)array->count, array->components, (int)array->type);
    }
    *out = array->data;
    return TREACLE_OK;
}

static treacle_status check_tiles(treacle_context* ctx, const preview_particles* p) {
    bool is_good = p->tile_first[0] == 0;
    for (int64_t i = 0; i < p->tile_count; ++i) {
        is_good = is_good && p->tile_first[i] <= p->tile_first[i + 1];
    }
    if (!is_good) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "the frame's array 'tile_first' does not rise from 0 to the number of "
                          "particles");
    }
    return TREACLE_OK;
}

static treacle_status take_optional(treacle_context* ctx, int64_t count, preview_particles* p) {
    const void* data = NULL;
    wanted_array volume = {"volume", TREACLE_TYPE_F32, 1, false};
    TREACLE_TRY(take_array(ctx, p->frame, volume, count, &data));
    p->volume = data;
    wanted_array colour = {"colour", TREACLE_TYPE_F32, 3, false};
    TREACLE_TRY(take_array(ctx, p->frame, colour, count, &data));
    p->colour = data;
    wanted_array material = {"material", TREACLE_TYPE_U8, 1, false};
    TREACLE_TRY(take_array(ctx, p->frame, material, count, &data));
    p->material = data;
    wanted_array palette = {"material_colour", TREACLE_TYPE_F32, 3, false};
    TREACLE_TRY(take_array(ctx, p->frame, palette, -1, &data));
    p->palette = data;
    const treacle_array* array = treacle_frame_find(p->frame, "material_colour");
    p->palette_count = array == NULL ? 0 : array->count;
    return TREACLE_OK;
}

// Particles of a tile are all on one rank.
static void find_here(treacle_context* ctx, preview_particles* p) {
    p->rank_first = treacle_frame_parts(p->frame, "position");
    p->here_end = p->tile_count;
    if (p->rank_first != NULL) {
        int rank = comm_rank(ctx);
        while (p->here_begin < p->tile_count &&
               p->tile_first[p->here_begin] < p->rank_first[rank]) {
            p->here_begin += 1;
        }
        p->here_end = p->here_begin;
        while (p->here_end < p->tile_count &&
               p->tile_first[p->here_end] < p->rank_first[rank + 1]) {
            p->here_end += 1;
        }
    }
}

treacle_status preview_particles_init(treacle_context* ctx, const treacle_frame* frame,
                                      const preview_box* box, preview_particles* out) {
    float cell = (float)frame->cell;
    *out = (preview_particles){
        .frame = frame,
        .default_radius = 0.5f * radius_factor * cell,
        .radius_limit = {0.05f * cell, 2.0f * cell},
        .is_flat = box->flat_axis >= 0,
    };
    const void* data = NULL;
    wanted_array coord = {"tile_coord", TREACLE_TYPE_I32, 3, true};
    TREACLE_TRY(take_array(ctx, frame, coord, -1, &data));
    out->tile_coord = data;
    out->tile_count = treacle_frame_find(frame, "tile_coord")->count;
    wanted_array first = {"tile_first", TREACLE_TYPE_I64, 1, true};
    TREACLE_TRY(take_array(ctx, frame, first, out->tile_count + 1, &data));
    out->tile_first = data;
    int64_t count = out->tile_first[out->tile_count];
    TREACLE_TRY(check_tiles(ctx, out));
    // Without particles the columns may be missing.
    wanted_array position = {"position", TREACLE_TYPE_F32, 3, count > 0};
    TREACLE_TRY(take_array(ctx, frame, position, count, &data));
    out->position = data;
    find_here(ctx, out);
    return take_optional(ctx, count, out);
}

// Linear RGB of a fraction of the scale: blue, violet, red, orange, nearly white. Each is lighter
// than the one before, so that it reads without colours, too.
static void scale_colour(float fraction, float rgb[3]) {
    static const float steps[5][3] = {{0.01f, 0.03f, 0.20f},
                                      {0.15f, 0.02f, 0.25f},
                                      {0.60f, 0.04f, 0.05f},
                                      {0.95f, 0.35f, 0.02f},
                                      {1.00f, 0.95f, 0.65f}};
    float at = fminf(fmaxf(fraction, 0.0f), 1.0f) * 4.0f;
    int low = at >= 3.0f ? 3 : (int)at;
    for (int c = 0; c < 3; ++c) {
        rgb[c] = steps[low][c] + (at - (float)low) * (steps[low + 1][c] - steps[low][c]);
    }
}

static void paint_scalar(const preview_particles* p, int64_t i, float rgb[3]) {
    float width = p->scale[1] - p->scale[0];
    scale_colour(width != 0.0f ? (p->scalar[i] - p->scale[0]) / width : 0.0f, rgb);
}

// ---------------------------------------------------------------------------------------------
// Layers

treacle_status preview_layer_create(treacle_context* ctx, const preview_view* view,
                                    preview_layer* out) {
    TREACLE_ASSERT(view->width > 0 && view->height > 0);
    *out = (preview_layer){.ctx = ctx, .view = *view};
    size_t pixels = preview_layer_pixels(out);
    void* block = NULL;
    treacle_status status = alloc_array(ctx, pixels, sizeof(float), "depths", &block);
    out->depth = block;
    if (status == TREACLE_OK) {
        status = alloc_array(ctx, pixels, sizeof(float), "depths", &block);
        out->spare = block;
    }
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, pixels, sizeof(float), "thicknesses", &block);
        out->thickness = block;
    }
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, pixels, sizeof(uint32_t), "colours", &block);
        out->colour = block;
    }
    if (status != TREACLE_OK) {
        preview_layer_destroy(out);
    }
    return status;
}

void preview_layer_destroy(preview_layer* layer) {
    size_t pixels = preview_layer_pixels(layer);
    alloc_free(layer->ctx, layer->depth, pixels * sizeof(float));
    alloc_free(layer->ctx, layer->spare, pixels * sizeof(float));
    alloc_free(layer->ctx, layer->thickness, pixels * sizeof(float));
    alloc_free(layer->ctx, layer->colour, pixels * sizeof(uint32_t));
    *layer = (preview_layer){.ctx = layer->ctx};
}

uint32_t preview_pack(const float rgb[3]) {
    uint32_t packed = 0;
    for (int i = 0; i < 3; ++i) {
        float x = rgb[i] > 0.0f ? rgb[i] : 0.0f;
        float root = sqrtf(x < 1.0f ? x : 1.0f);
        packed |= (uint32_t)(root * 1023.0f + 0.5f) << (10 * i);
    }
    return packed;
}

// ---------------------------------------------------------------------------------------------
// Splatting

// What is known of a tile before it is drawn.
typedef struct tile_seen {
    float first, last; // rows, pixels; first > last: the tile is not seen
    preview_cells hidden;
} tile_seen;

typedef struct splat_job {
    preview_layer* layer;
    const preview_particles* particles;
    preview_hull hull;
    tile_seen* seen;
    double centre[3];
    uint32_t palette[MATERIALS_MAX];
    // Thickness is smooth: it is drawn with pixels `coarse` times as wide, `pixels` wide and as
    // many rows as that leaves.
    float* thickness;
    int coarse, width, height;
} splat_job;

// Where the particles of a tile are, seen from the eye: base + axis0 x + axis1 y + axis2 z, each
// as (across, up, depth).
typedef struct tile_frame {
    float base[3];
    float axis[3][3];
    float volume, radius; // of the last particle: most have the same
} tile_frame;

static tile_frame frame_of_tile(const splat_job* job, int64_t tile) {
    const preview_view* view = &job->layer->view;
    const treacle_frame* f = job->particles->frame;
    const double* basis[3] = {view->right, view->up, view->forward};
    tile_frame out = {.volume = -1.0f};
    for (int k = 0; k < 3; ++k) {
        double base = 0.0;
        for (int i = 0; i < 3; ++i) {
            double corner = (double)job->particles->tile_coord[3 * tile + i] * TILE_CELLS;
            double at = f->origin[i] + f->cell * corner - job->centre[i] - view->eye[i];
            base += basis[k][i] * at;
            out.axis[i][k] = (float)(basis[k][i] * f->cell);
        }
        out.base[k] = (float)base;
    }
    return out;
}

// Cube root to a few bits of a float: a guess from the exponent, then Newton.
static float cube_root(float x) {
    uint32_t bits = 0;
    memcpy(&bits, &x, sizeof(bits));
    bits = bits / 3 + 709921077u;
    float root = 0.0f;
    memcpy(&root, &bits, sizeof(root));
    for (int i = 0; i < 3; ++i) {
        root = (2.0f * root + x / (root * root)) * (1.0f / 3.0f);
    }
    return root;
}

static float radius_of(const preview_particles* p, int64_t i) {
    if (p->volume == NULL) {
        return p->default_radius;
    }
    float volume = p->volume[i];
    if (!(volume > 0.0f) || !isfinite(volume)) {
        return p->radius_limit[0];
    }
    float size = p->is_flat ? sqrtf(volume / (float)p->frame->cell) : cube_root(volume);
    float radius = (p->is_flat ? flat_radius_factor : radius_factor) * size;
    radius = radius > p->radius_limit[0] ? radius : p->radius_limit[0];
    return radius < p->radius_limit[1] ? radius : p->radius_limit[1];
}

typedef struct ball {
    float x, y, depth; // pixels, pixels, metres
    float radius;      // m
    float pixel_radius;
} ball;

// False for what is behind the eye or nowhere.
static bool place_ball(const splat_job* job, tile_frame* t, int64_t i, ball* out) {
    const preview_view* view = &job->layer->view;
    const float* at = job->particles->position + 3 * i;
    float seen[3];
    for (int k = 0; k < 3; ++k) {
        seen[k] =
            t->base[k] + t->axis[0][k] * at[0] + t->axis[1][k] * at[1] + t->axis[2][k] * at[2];
    }
    float volume = job->particles->volume == NULL ? 0.0f : job->particles->volume[i];
    if (volume != t->volume) {
        t->volume = volume;
        t->radius = radius_of(job->particles, i);
    }
    out->radius = t->radius;
    if (!(seen[2] > 2.0f * out->radius)) {
        return false;
    }
    float scale = view->has_perspective ? (float)view->scale / seen[2] : (float)view->scale;
    out->x = (float)view->middle[0] + scale * seen[0];
    out->y = (float)view->middle[1] - scale * seen[1];
    out->depth = seen[2];
    out->pixel_radius = scale * out->radius;
    out->pixel_radius = out->pixel_radius > pixel_radius_min ? out->pixel_radius : pixel_radius_min;
    float limit = (float)view->width + (float)view->height + out->pixel_radius;
    return fabsf(out->x) < limit + (float)view->width && fabsf(out->y) < limit;
}

static void preview_splat_measure_tiles(void* data, int64_t begin, int64_t end) {
    splat_job* job = data;
    const preview_particles* p = job->particles;
    for (int64_t tile = begin; tile < end; ++tile) {
        tile_frame t = frame_of_tile(job, tile);
        tile_seen seen = {.first = INFINITY, .last = -INFINITY};
        bool is_here = tile >= p->here_begin && tile < p->here_end;
        for (int64_t i = p->tile_first[tile]; is_here && i < p->tile_first[tile + 1]; ++i) {
            ball b;
            if (place_ball(job, &t, i, &b)) {
                seen.first = fminf(seen.first, b.y - b.pixel_radius);
                seen.last = fmaxf(seen.last, b.y + b.pixel_radius);
            }
        }
        if (is_here) {
            seen.hidden = preview_hull_hides(&job->hull, tile);
        }
        job->seen[tile] = seen;
    }
}

// The colour of material m.
static const float* paint_of(const preview_particles* p, int m) {
    return p->palette != NULL && m < p->palette_count ? p->palette + 3 * (size_t)m : honey;
}

// The least and the largest value of all.
static void find_scale(treacle_context* ctx, preview_particles* p) {
    double ends[2] = {-INFINITY, -INFINITY}; // less the least, the largest
    for (int64_t i = p->tile_first[p->here_begin]; i < p->tile_first[p->here_end]; ++i) {
        double x = (double)p->scalar[i];
        ends[0] = -x > ends[0] ? -x : ends[0];
        ends[1] = x > ends[1] ? x : ends[1];
    }
    if (p->rank_first != NULL) {
        comm_max_f64(ctx, ends, 2);
    }
    if (ends[1] >= -ends[0]) {
        p->scale[0] = (float)-ends[0];
        p->scale[1] = (float)ends[1];
    }
}

static treacle_status take_scalar(treacle_context* ctx, const treacle_preview_def* def,
                                  preview_particles* p) {
    static const char* const names[] = {NULL, "temperature", "marker"};
    int64_t count = p->tile_first[p->tile_count];
    const void* data = NULL;
    if (def->by == TREACLE_PREVIEW_BY_COLOUR) {
        return TREACLE_OK;
    }
    wanted_array scalar = {names[def->by], TREACLE_TYPE_F32, 1, false};
    TREACLE_TRY(take_array(ctx, p->frame, scalar, count, &data));
    p->scalar = data;
    p->scale[0] = (float)def->from;
    p->scale[1] = (float)def->to;
    if (p->scale[0] == p->scale[1] && p->scalar != NULL) {
        find_scale(ctx, p);
    }
    return TREACLE_OK;
}

// Looks at the first particle, which some rank has.
static void look_at_first(treacle_context* ctx, preview_particles* p) {
    bool is_empty = p->tile_first[p->tile_count] == 0;
    p->first_radius = p->default_radius;
    memcpy(p->first_colour, paint_of(p, 0), sizeof(p->first_colour));
    if (!is_empty && p->here_begin == 0 && p->here_end > 0) {
        p->first_radius = radius_of(p, 0);
        const float* colour =
            p->colour != NULL ? p->colour : paint_of(p, p->material == NULL ? 0 : p->material[0]);
        memcpy(p->first_colour, colour, sizeof(p->first_colour));
        if (p->scalar != NULL) {
            paint_scalar(p, 0, p->first_colour);
        }
    }
    if (p->rank_first != NULL) {
        int rank = 0; // of the first particle
        while (rank + 1 < comm_size(ctx) && p->rank_first[rank + 1] == 0) {
            rank += 1;
        }
        comm_broadcast(ctx, rank, &p->first_radius, sizeof(p->first_radius));
        comm_broadcast(ctx, rank, p->first_colour, sizeof(p->first_colour));
    }
}

treacle_status preview_particles_show(treacle_context* ctx, const treacle_preview_def* def,
                                      preview_particles* p) {
    TREACLE_TRY(take_scalar(ctx, def, p));
    look_at_first(ctx, p);
    return TREACLE_OK;
}

static uint32_t preview_splat_colour_of(const splat_job* job, int64_t i) {
    const preview_particles* p = job->particles;
    if (p->scalar != NULL) {
        float rgb[3];
        paint_scalar(p, i, rgb);
        return preview_pack(rgb);
    }
    if (p->colour != NULL) {
        return preview_pack(p->colour + 3 * i);
    }
    return job->palette[p->material == NULL ? 0 : p->material[i]];
}

// One ball into the rows first..last: the half sphere that faces the eye. Branch-free along a row.
static void draw_ball(preview_layer* layer, const ball* b, uint32_t colour,
                      const int row_range[2]) {
    int width = layer->view.width;
    float r = b->pixel_radius;
    int x0 = b->x - r > 0.0f ? (int)(b->x - r) : 0;
    int x1 = b->x + r < (float)(width - 1) ? (int)(b->x + r) : width - 1;
    int y0 = b->y - r > (float)row_range[0] ? (int)(b->y - r) : row_range[0];
    int y1 = b->y + r < (float)row_range[1] ? (int)(b->y + r) : row_range[1];
    float shrink = 1.0f / (r * r);
    for (int y = y0; y <= y1; ++y) {
        float dy = (float)y + 0.5f - b->y;
        float rest = 1.0f - dy * dy * shrink;
        size_t row = (size_t)y * (size_t)width;
        float* restrict depth = layer->depth + row;
        uint32_t* restrict paint = layer->colour + row;
        for (int x = x0; x <= x1; ++x) {
            float dx = (float)x + 0.5f - b->x;
            float inside = rest - dx * dx * shrink;
            float bulge = b->radius * sqrtf(inside > 0.0f ? inside : 0.0f);
            float front = inside > 0.0f ? b->depth - bulge : INFINITY;
            paint[x] = front < depth[x] ? colour : paint[x];
            depth[x] = front < depth[x] ? front : depth[x];
        }
    }
}

// The same ball's thickness into the wide pixels of those rows.
static void add_thickness(const splat_job* job, const ball* b, const int row_range[2]) {
    float wide = 1.0f / (float)job->coarse;
    float x = b->x * wide, y = b->y * wide, r = fmaxf(b->pixel_radius * wide, pixel_radius_min);
    int first = row_range[0] / job->coarse, last = row_range[1] / job->coarse;
    int x0 = x - r > 0.0f ? (int)(x - r) : 0;
    int x1 = x + r < (float)(job->width - 1) ? (int)(x + r) : job->width - 1;
    int y0 = y - r > (float)first ? (int)(y - r) : first;
    int y1 = y + r < (float)last ? (int)(y + r) : last;
    float shrink = 1.0f / (r * r);
    for (int j = y0; j <= y1; ++j) {
        float dy = (float)j + 0.5f - y;
        float rest = 1.0f - dy * dy * shrink;
        float* restrict thickness = job->thickness + (size_t)j * (size_t)job->width;
        for (int i = x0; i <= x1; ++i) {
            float dx = (float)i + 0.5f - x;
            float inside = rest - dx * dx * shrink;
            thickness[i] += b->radius * sqrtf(inside > 0.0f ? inside : 0.0f);
        }
    }
}

static void draw_tile(const splat_job* job, int64_t tile, const int row_range[2]) {
    const preview_particles* p = job->particles;
    tile_frame t = frame_of_tile(job, tile);
    const preview_cells* hidden = &job->seen[tile].hidden;
    for (int64_t i = p->tile_first[tile]; i < p->tile_first[tile + 1]; ++i) {
        ball b;
        if (place_ball(job, &t, i, &b) && b.y + b.pixel_radius >= (float)row_range[0] &&
            b.y - b.pixel_radius < (float)(row_range[1] + 1)) {
            add_thickness(job, &b, row_range);
            if (!preview_cells_have(hidden, p->position + 3 * i)) {
                draw_ball(job->layer, &b, preview_splat_colour_of(job, i), row_range);
            }
        }
    }
}

static void draw_bands(void* data, int64_t begin, int64_t end) {
    splat_job* job = data;
    const preview_view* view = &job->layer->view;
    for (int64_t band = begin; band < end; ++band) {
        int last = (int)(band + 1) * BAND_ROWS - 1;
        int row_range[2] = {(int)band * BAND_ROWS, last < view->height ? last : view->height - 1};
        for (int64_t tile = job->particles->here_begin; tile < job->particles->here_end; ++tile) {
            const tile_seen* seen = &job->seen[tile];
            if (seen->last >= (float)row_range[0] && seen->first < (float)(row_range[1] + 1)) {
                draw_tile(job, tile, row_range);
            }
        }
    }
}

// Hands what was drawn on from rank to rank.
static void hand_on(const splat_job* job, int from, int to) {
    treacle_context* ctx = job->layer->ctx;
    int me = comm_rank(ctx);
    size_t pixels = preview_layer_pixels(job->layer) * sizeof(float);
    size_t wide = (size_t)job->width * (size_t)job->height * sizeof(float);
    void* const parts[] = {job->layer->depth, job->layer->colour, job->thickness};
    const size_t bytes[] = {pixels, pixels, wide};
    for (int i = 0; i < 3 && from != to && (me == from || me == to); ++i) {
        comm_parcel parcel = {.rank = me == from ? to : from,
                              .give_bytes = me == from ? bytes[i] : 0,
                              .take_bytes = me == from ? 0 : bytes[i],
                              .give = parts[i],
                              .take = parts[i]};
        comm_trade(ctx, 1, &parcel);
    }
}

static void begin_layer(const splat_job* job) {
    preview_layer* layer = job->layer;
    int me = comm_rank(layer->ctx);
    for (size_t i = 0; i < preview_layer_pixels(layer); ++i) {
        layer->depth[i] = INFINITY;
    }
    if (job->particles->rank_first != NULL && me > 0) {
        hand_on(job, me - 1, me);
    }
}

static void end_layer(const splat_job* job) {
    int me = comm_rank(job->layer->ctx), size = comm_size(job->layer->ctx);
    if (job->particles->rank_first != NULL && me < size - 1) {
        hand_on(job, me, me + 1);
    }
    if (job->particles->rank_first != NULL) {
        hand_on(job, size - 1, 0);
    }
}

// Thickness at all pixels, between the middles of the wide ones.
static void widen_rows(void* data, int64_t begin, int64_t end) {
    const splat_job* job = data;
    int width = job->layer->view.width;
    float wide = 1.0f / (float)job->coarse;
    for (int64_t y = begin; y < end; ++y) {
        float v = fminf(fmaxf(((float)y + 0.5f) * wide - 0.5f, 0.0f), (float)(job->height - 1));
        int j = (int)v, above = j + 1 < job->height ? j + 1 : j;
        const float* low = job->thickness + (size_t)j * (size_t)job->width;
        const float* high = job->thickness + (size_t)above * (size_t)job->width;
        float* to = job->layer->thickness + (size_t)y * (size_t)width;
        for (int x = 0; x < width; ++x) {
            float u = fminf(fmaxf(((float)x + 0.5f) * wide - 0.5f, 0.0f), (float)(job->width - 1));
            int i = (int)u, right = i + 1 < job->width ? i + 1 : i;
            float tx = u - (float)i, ty = v - (float)j;
            float below = low[i] + tx * (low[right] - low[i]);
            to[x] = below + ty * (high[i] + tx * (high[right] - high[i]) - below);
        }
    }
}

static treacle_status preview_splat_draw(splat_job* job) {
    treacle_context* ctx = job->layer->ctx;
    const preview_view* view = &job->layer->view;
    size_t wide = (size_t)job->width * (size_t)job->height;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, wide, sizeof(float), "thicknesses", &block));
    job->thickness = block;
    parallel_for(ctx, job->particles->tile_count, 4, preview_splat_measure_tiles, job);
    begin_layer(job);
    parallel_for(ctx, (view->height + BAND_ROWS - 1) / BAND_ROWS, 1, draw_bands, job);
    end_layer(job);
    parallel_for(ctx, view->height, ROW_GRAIN, widen_rows, job);
    alloc_free(ctx, block, wide * sizeof(float));
    return TREACLE_OK;
}

// Balls of eight pixels and more have wide pixels of four, so that a ball still has two of them.
static int coarseness(float ball_pixels) {
    return ball_pixels >= 8.0f ? 4 : ball_pixels >= 4.0f ? 2 : 1;
}

treacle_status preview_splat(preview_layer* layer, const preview_particles* particles) {
    TREACLE_ASSERT(layer->depth != NULL && particles->frame != NULL);
    treacle_context* ctx = layer->ctx;
    splat_job job = {.layer = layer, .particles = particles};
    preview_box box = preview_box_of(particles->frame);
    memcpy(job.centre, box.centre, sizeof(job.centre));
    for (int m = 0; m < MATERIALS_MAX; ++m) {
        job.palette[m] = preview_pack(paint_of(particles, m));
    }
    job.coarse = coarseness(preview_ball_pixels(layer, particles));
    job.width = (layer->view.width + job.coarse - 1) / job.coarse;
    job.height = (layer->view.height + job.coarse - 1) / job.coarse;
    size_t tiles = (size_t)particles->tile_count;
    void* block = NULL;
    TREACLE_TRY(preview_hull_create(ctx, particles, &job.hull));
    treacle_status status =
        alloc_array(ctx, tiles, sizeof(tile_seen), "tiles of a picture", &block);
    if (status == TREACLE_OK) {
        job.seen = block;
        status = preview_splat_draw(&job);
    }
    alloc_free(ctx, block, tiles * sizeof(tile_seen));
    preview_hull_destroy(&job.hull);
    return status;
}

float preview_ball_pixels(const preview_layer* layer, const preview_particles* particles) {
    const double middle[3] = {0.0, 0.0, 0.0};
    preview_point at = preview_view_project(&layer->view, middle);
    float pixels = at.depth > 0.0f ? at.scale * particles->first_radius : 1.0f;
    return pixels > pixel_radius_min ? pixels : pixel_radius_min;
}
