// What everything else stands on: frame files, sorting, exact sums.
#include "benches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parallel_sum.h"

enum { TILES_A_SIDE = 16, PARTICLES_A_TILE = 512, REPEATS = 5 };

// ---- Frames

// A block of liquid: jittered particles, a smooth velocity.
typedef struct block {
    int64_t tiles, count;
    int64_t* tile_first;
    int32_t* tile_coord;
    float *position, *velocity;
    uint64_t* id;
    treacle_array arrays[5];
    treacle_frame frame;
    double bytes; // of all arrays
    treacle_context* ctx;
    char path[1024];
    char* copy; // where memcpy puts the arrays
} block;

// A number in [0, 1) that looks random, from a counter.
static float scatter(uint64_t n) {
    n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15u;
    n = (n ^ (n >> 29)) * 0xbf58476d1ce4e5b9u;
    return (float)(n >> 40) * 0x1p-24f;
}

static void fill_tile(block* b, int64_t tile) {
    int32_t* coord = &b->tile_coord[3 * tile];
    coord[0] = (int32_t)(tile % TILES_A_SIDE);
    coord[1] = (int32_t)(tile / TILES_A_SIDE % TILES_A_SIDE);
    coord[2] = (int32_t)(tile / TILES_A_SIDE / TILES_A_SIDE);
    b->tile_first[tile] = tile * PARTICLES_A_TILE;
    for (int64_t i = tile * PARTICLES_A_TILE; i < (tile + 1) * PARTICLES_A_TILE; ++i) {
        int64_t cell = i % 512;
        const int64_t low[3] = {cell % 8, cell / 8 % 8, cell / 64};
        for (int a = 0; a < 3; ++a) {
            float x = (float)low[a] + scatter((uint64_t)(3 * i + a));
            b->position[3 * i + a] = x;
            b->velocity[3 * i + a] = sinf(0.1f * ((float)coord[(a + 1) % 3] * 8.0f + x));
        }
        b->id[i] = (uint64_t)i;
    }
}

static void describe(block* b) {
    b->arrays[0] = (treacle_array){"tile_first", TREACLE_TYPE_I64, 1, b->tiles + 1, b->tile_first};
    b->arrays[1] = (treacle_array){"tile_coord", TREACLE_TYPE_I32, 3, b->tiles, b->tile_coord};
    b->arrays[2] = (treacle_array){"position", TREACLE_TYPE_F32, 3, b->count, b->position};
    b->arrays[3] = (treacle_array){"velocity", TREACLE_TYPE_F32, 3, b->count, b->velocity};
    b->arrays[4] = (treacle_array){"id", TREACLE_TYPE_U64, 1, b->count, b->id};
    b->frame = (treacle_frame){.kind = TREACLE_FRAME_PICTURE,
                               .number = 1,
                               .fps = 24.0,
                               .cell = 0.01,
                               .cells = {8 * TILES_A_SIDE, 8 * TILES_A_SIDE, 8 * TILES_A_SIDE},
                               .array_count = 5,
                               .arrays = b->arrays};
    for (int i = 0; i < 5; ++i) {
        const treacle_array* a = &b->arrays[i];
        b->bytes += (double)a->count * a->components * (double)treacle_type_size(a->type);
    }
}

static void block_destroy(block* b) {
    free(b->tile_first);
    free(b->tile_coord);
    free(b->position);
    free(b->velocity);
    free(b->id);
    free(b->copy);
}

static bool block_create(bench* run, block* b) {
    *b = (block){.ctx = run->ctx, .tiles = TILES_A_SIDE * TILES_A_SIDE * TILES_A_SIDE};
    b->count = b->tiles * PARTICLES_A_TILE;
    size_t count = (size_t)b->count, tiles = (size_t)b->tiles;
    b->tile_first = malloc((tiles + 1) * sizeof(int64_t));
    b->tile_coord = malloc(tiles * 3 * sizeof(int32_t));
    b->position = malloc(count * 3 * sizeof(float));
    b->velocity = malloc(count * 3 * sizeof(float));
    b->id = malloc(count * sizeof(uint64_t));
    if (!b->tile_first || !b->tile_coord || !b->position || !b->velocity || !b->id) {
        return false;
    }
    for (int64_t t = 0; t < b->tiles; ++t) {
        fill_tile(b, t);
    }
    b->tile_first[b->tiles] = b->count;
    describe(b);
    b->copy = malloc((size_t)b->bytes);
    snprintf(b->path, sizeof(b->path), "%s/house_0001.frame", run->folder);
    return b->copy != NULL;
}

static bool write_frame(void* data) {
    block* b = data;
    return treacle_frame_write(b->ctx, &b->frame, b->path) == TREACLE_OK;
}

static bool read_frame(void* data) {
    block* b = data;
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = treacle_frame_read(b->ctx, b->path, &loaded);
    treacle_loaded_frame_destroy(loaded);
    return status == TREACLE_OK;
}

static bool copy_arrays(void* data) {
    block* b = data;
    char* to = b->copy;
    for (int i = 0; i < 5; ++i) {
        const treacle_array* a = &b->arrays[i];
        size_t bytes = (size_t)a->count * (size_t)a->components * treacle_type_size(a->type);
        memcpy(to, a->data, bytes);
        to += bytes;
    }
    return true;
}

static void report_rate(bench* run, const char* quantity, double rate, double yardstick) {
    char name[64], against[64];
    bench_text(name, sizeof(name), "%d particles",
               TILES_A_SIDE * TILES_A_SIDE * TILES_A_SIDE * PARTICLES_A_TILE);
    bench_text(against, sizeof(against), "memcpy, %.0f MB/s", yardstick * 1e-6);
    bench_report(run, &(bench_row){.case_name = name,
                                   .quantity = quantity,
                                   .value = rate * 1e-6,
                                   .unit = "MB/s",
                                   .yardstick = against,
                                   .ratio = rate / yardstick});
}

static void report_packing(bench* run, const block* b) {
    struct stat file;
    if (stat(b->path, &file) == 0) {
        bench_report(run, &(bench_row){.case_name = "frame file",
                                       .quantity = "bytes a particle",
                                       .value = (double)file.st_size / (double)b->count,
                                       .unit = "B"});
    }
}

static treacle_status bench_frames(bench* run) {
    block b;
    if (!block_create(run, &b)) {
        block_destroy(&b);
        return TREACLE_ERR_MEMORY;
    }
    double copy = b.bytes / bench_median(REPEATS, copy_arrays, &b);
    double write = b.bytes / bench_median(REPEATS, write_frame, &b);
    double read = b.bytes / bench_median(REPEATS, read_frame, &b);
    report_rate(run, "frame write", write, copy);
    report_rate(run, "frame read", read, copy);
    report_packing(run, &b);
    unlink(b.path);
    block_destroy(&b);
    return isfinite(write) && isfinite(read) ? TREACLE_OK : TREACLE_ERR_IO;
}

// ---- Sorting

// A box of liquid that is stirred, so that a fraction of the particles changes its cell every step.
static treacle_status create_stirred(bench* run, treacle_sim** out) {
    static const treacle_key weightless = {.value = {0.0, 0.0, 0.0}};
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    treacle_liquid_def liquid = treacle_liquid_def_default();
    treacle_material_def material = treacle_material_def_default();
    treacle_sim_def def = treacle_sim_def_default();
    for (int a = 0; a < 3; ++a) {
        box.size[a] = 0.5;
        box.move[a] = 0.5;
        def.domain.size[a] = 1.0;
    }
    liquid.shape = &box;
    liquid.velocity.kind = TREACLE_FIELD_EXPRESSION;
    liquid.velocity.expression[0] = "sin(20*y)";
    liquid.velocity.expression[1] = "sin(20*z)";
    liquid.velocity.expression[2] = "sin(20*x)";
    def.domain.cell = 0.01;
    def.flow = TREACLE_FLOW_NONE;
    def.gravity = (treacle_curve){.count = 1, .keys = &weightless};
    def.material_count = def.liquid_count = 1;
    def.materials = &material;
    def.liquids = &liquid;
    return treacle_sim_create(run->ctx, &def, out);
}

static int compare_keys(const void* a, const void* b) {
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

// The C library's sort of as many pairs of key and index, where one in ten is out of place.
static bool sort_keys(void* data) {
    int64_t count = *(const int64_t*)data;
    uint64_t* pairs = malloc((size_t)count * 2 * sizeof(uint64_t));
    if (pairs == NULL) {
        return false;
    }
    for (int64_t i = 0; i < count; ++i) {
        bool is_out_of_place = scatter((uint64_t)i) < 0.1f;
        pairs[2 * i] = (uint64_t)(is_out_of_place ? (i * 7919) % count : i);
        pairs[2 * i + 1] = (uint64_t)i;
    }
    qsort(pairs, (size_t)count, 2 * sizeof(uint64_t), compare_keys);
    free(pairs);
    return true;
}

static int compare_doubles(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static treacle_status bench_sort(bench* run) {
    treacle_sim* sim = NULL;
    double seconds[REPEATS];
    treacle_status status = create_stirred(run, &sim);
    for (int i = 0; status == TREACLE_OK && i < REPEATS; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, 1e-3, &stats);
        seconds[i] = stats.seconds[TREACLE_STAGE_SORT];
    }
    if (status == TREACLE_OK) {
        qsort(seconds, REPEATS, sizeof(seconds[0]), compare_doubles);
        int64_t count = treacle_sim_particle_count(sim);
        double rate = (double)count / seconds[REPEATS / 2];
        bench_yardstick keys = bench_time_yardstick(BENCH_CAP_SECONDS, sort_keys, &count);
        char name[64], against[64];
        bench_text(name, sizeof(name), "%lld particles", (long long)count);
        bench_text(against, sizeof(against), "qsort of keys alone, %.3g s", keys.seconds);
        bench_report(run, &(bench_row){.case_name = name,
                                       .quantity = "sort",
                                       .value = rate * 1e-6,
                                       .unit = "M/s",
                                       .yardstick = against,
                                       .ratio = keys.seconds / seconds[REPEATS / 2],
                                       .is_at_least = keys.is_stopped});
    }
    treacle_sim_destroy(sim);
    return status;
}

// ---- Sums

enum { TERMS = 1 << 22 };

typedef struct sum_work {
    treacle_context* ctx;
    double* values;
    double sum;
} sum_work;

static double value_at(void* data, int64_t item) {
    return ((const sum_work*)data)->values[item];
}

static bool sum_exactly(void* data) {
    sum_work* w = data;
    w->sum = parallel_sum(w->ctx, TERMS, value_at, w);
    return true;
}

static bool sum_naively(void* data) {
    sum_work* w = data;
    double sum = 0.0;
    for (int64_t i = 0; i < TERMS; ++i) {
        sum += w->values[i];
    }
    w->sum = sum;
    return true;
}

static treacle_status bench_sums(bench* run) {
    sum_work work = {.ctx = run->ctx, .values = malloc(TERMS * sizeof(double))};
    if (work.values == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    for (int64_t i = 0; i < TERMS; ++i) {
        work.values[i] = (double)scatter((uint64_t)i) - 0.5;
    }
    double naive = TERMS / bench_median(REPEATS, sum_naively, &work);
    double exact = TERMS / bench_median(REPEATS, sum_exactly, &work);
    char against[64];
    bench_text(against, sizeof(against), "a plain loop, %.0f M/s", naive * 1e-6);
    bench_report(run, &(bench_row){.case_name = "4 M doubles",
                                   .quantity = "exact sum",
                                   .value = exact * 1e-6,
                                   .unit = "M/s",
                                   .yardstick = against,
                                   .ratio = exact / naive});
    free(work.values);
    return TREACLE_OK;
}

treacle_status bench_house(bench* run) {
    treacle_status status = bench_frames(run);
    if (status == TREACLE_OK) {
        status = bench_sort(run);
    }
    return status == TREACLE_OK ? bench_sums(run) : status;
}
