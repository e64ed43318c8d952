#include "particles/seed.h"

#include <math.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "math/hash_random.h"
#include "math/limits.h"
#include "particles/particle_ranks.h"

// The next number that is the product of sides of which none is more than twice another.
seed_boxes seed_choose_boxes(const grid_domain* domain, int per_cell) {
    TREACLE_ASSERT(per_cell > 0);
    enum { SIDE_MAX = 64 };
    seed_boxes best = {{0}, 0};
    int most[AXES];
    for (int a = 0; a < AXES; ++a) {
        most[a] = domain->is_active[a] ? SIDE_MAX : 1;
    }
    for (int count = per_cell; best.count == 0; ++count) {
        int best_long = 0;
        for (int x = 1; x <= most[0] && x <= count; ++x) {
            for (int y = 1; y <= most[1] && x * y <= count; ++y) {
                int z = count / (x * y);
                int side[AXES] = {x, y, z};
                int longest = 0, shortest = SIDE_MAX;
                for (int a = 0; a < AXES; ++a) {
                    longest = side[a] > longest ? side[a] : longest;
                    shortest = domain->is_active[a] && side[a] < shortest ? side[a] : shortest;
                }
                bool is_good = x * y * z == count && z <= most[2] && longest <= 2 * shortest;
                if (is_good && (best.count == 0 || longest < best_long)) {
                    best = (seed_boxes){{x, y, z}, count};
                    best_long = longest;
                }
            }
        }
    }
    return best;
}

typedef struct seed_job {
    const seed_def* def;
    particles* p;
    seed_boxes boxes;
    int liquid;
    int32_t low[AXES], extent[AXES]; // tiles that the liquid may touch
    int64_t tile_count;              // in that box
    int64_t* tile_births;            // candidates that live, by tile
    particle_ix* tile_begin;         // the first particle of each tile
} seed_job;

static tile_coord tile_at(const seed_job* job, int64_t index) {
    int64_t x = index % job->extent[0], yz = index / job->extent[0];
    return (tile_coord){{job->low[0] + (int32_t)x, job->low[1] + (int32_t)(yz % job->extent[1]),
                         job->low[2] + (int32_t)(yz / job->extent[1])}};
}

static uint64_t source_of(const seed_job* job) {
    return job->def->liquids[job->liquid].source;
}

// One candidate of one cell, in cells from the domain's low corner.
typedef struct candidate {
    uint64_t birth;
    double at[AXES];
} candidate;

static candidate place_candidate(const seed_job* job, const int32_t cell[AXES], uint64_t birth,
                                 int box) {
    static const random_purpose purpose[AXES] = {RANDOM_JITTER_X, RANDOM_JITTER_Y, RANDOM_JITTER_Z};
    const seed_def* def = job->def;
    const int* sides = job->boxes.at;
    const int at[AXES] = {box % sides[0], box / sides[0] % sides[1], box / (sides[0] * sides[1])};
    uint64_t id = particles_make_id(source_of(job), birth);
    candidate out = {.birth = birth};
    for (int a = 0; a < AXES; ++a) {
        double jitter = hash_random_f64(def->seed, id, purpose[a]) - 0.5;
        double in_box = 0.5 + (def->domain->is_active[a] ? def->particles.jitter * jitter : 0.0);
        out.at[a] = cell[a] + (at[a] + in_box) / sides[a];
    }
    return out;
}

static vec3 seed_place_of(const grid_domain* domain, const double cells[AXES]) {
    vec3 out;
    for (int a = 0; a < AXES; ++a) {
        out.at[a] = domain->origin[a] + domain->h * cells[a];
    }
    return out;
}

// How much of a box the liquid's own shape holds.
typedef enum box_part { BOX_NONE, BOX_SOME, BOX_ALL } box_part;

// How much of a box of `width` cells lies in the shape, as far as the distance of its centre tells.
static box_part fraction_of_box(const seed_job* job, const int32_t low[AXES], int width) {
    const grid_domain* domain = job->def->domain;
    double centre[AXES], squared = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double half = domain->is_active[a] ? 0.5 * width : 0.5;
        centre[a] = low[a] + half;
        squared += domain->is_active[a] ? half * half : 0.0;
    }
    double distance =
        shape_distance(job->def->liquids[job->liquid].shape, seed_place_of(domain, centre));
    double reach = domain->h * sqrt(squared) * (1.0 + 1e-9);
    if (distance < reach) {
        return distance < -reach ? BOX_ALL : BOX_SOME;
    }
    return BOX_NONE;
}

// Whether a place, of which is known whether this liquid's shape holds it, is in no earlier one.
static bool is_wet(const seed_job* job, vec3 x, box_part fraction) {
    bool is_inside =
        fraction == BOX_ALL || shape_is_inside(job->def->liquids[job->liquid].shape, x);
    for (int i = 0; is_inside && i < job->liquid; ++i) {
        is_inside = !shape_is_inside(job->def->liquids[i].shape, x);
    }
    const seed_def* def = job->def;
    return is_inside && !(def->is_blocked != NULL && def->is_blocked(def->blocked_data, x));
}

// A field that may be absent.
static double scalar_at(const field* f, vec3 x) {
    double value = 0.0;
    if (f != NULL) {
        field_eval(f, x, 0.0, &value);
    }
    return value;
}

float seed_log_factor(double factor) {
    return (float)elementary_log(fmin(fmax(factor, 1.0 / LIMIT_FACTOR), LIMIT_FACTOR));
}

static float log_factor_at(const field* f, vec3 x) {
    return f == NULL ? 0.0f : seed_log_factor(scalar_at(f, x));
}

static void paint(const seed_liquid* liquid, particle_birth* birth) {
    double rgb[3] = {-1.0, -1.0, -1.0};
    if (liquid->tint != NULL) {
        field_eval(liquid->tint, birth->place, 0.0, rgb);
    }
    for (int c = 0; c < 3; ++c) {
        birth->colour[c] = rgb[c] < 0.0 ? liquid->colour[c] : (float)fmin(rgb[c], 1.0);
    }
}

static void init_particle(const seed_job* job, particle_ix particle, tile_coord tile,
                          const candidate* c) {
    const grid_domain* domain = job->def->domain;
    const seed_liquid* liquid = &job->def->liquids[job->liquid];
    double h = domain->h;
    particle_birth birth = {
        .id = particles_make_id(source_of(job), c->birth),
        .place = seed_place_of(domain, c->at),
        .volume = h * h * h / job->def->particles.per_cell,
        .material = liquid->material,
        .time = liquid->time,
    };
    for (int a = 0; a < AXES; ++a) {
        birth.position[a] =
            fminf((float)(c->at[a] - (double)TILE_SIZE * tile.at[a]), 0x1.fffffep2f);
    }
    field_eval(liquid->velocity, birth.place, 0.0, birth.velocity.at);
    birth.temperature = (float)scalar_at(liquid->temperature, birth.place);
    birth.marker = (float)scalar_at(liquid->marker, birth.place);
    birth.log_factor = log_factor_at(liquid->factor, birth.place);
    paint(liquid, &birth);
    vec3 arm = vec3_sub(birth.place, liquid->spin_centre);
    birth.velocity = vec3_add(birth.velocity, vec3_cross(liquid->spin, arm));
    particle_init(job->p, domain, particle, &birth);
}

// Goes through the candidates of a cell; those that live become particles from `particle` on, or
// are only counted if particle < 0. Returns how many.
static int64_t seed_cell(const seed_job* job, tile_coord tile, const int32_t cell[AXES],
                         box_part fraction, particle_ix particle) {
    const grid_domain* domain = job->def->domain;
    uint64_t x = (uint64_t)domain->cells[0], y = (uint64_t)domain->cells[1];
    uint64_t number = ((uint64_t)cell[2] * y + (uint64_t)cell[1]) * x + (uint64_t)cell[0];
    uint64_t cells = x * y * (uint64_t)domain->cells[2];
    uint64_t first = job->def->liquids[job->liquid].round * cells * (uint64_t)job->boxes.count;
    int64_t lives = 0;
    int wanted = job->def->particles.per_cell;
    for (int box = 0; box < job->boxes.count; ++box) {
        uint64_t birth = first + number * (uint64_t)job->boxes.count + (uint64_t)box;
        // Where there are more boxes than candidates, every choice of them is equally likely.
        uint64_t id = particles_make_id(source_of(job), birth);
        double chance = hash_random_f64(job->def->seed, id, RANDOM_BOX);
        if (!(chance * (job->boxes.count - box) < wanted)) {
            continue;
        }
        wanted -= 1;
        candidate c = place_candidate(job, cell, birth, box);
        if (is_wet(job, seed_place_of(domain, c.at), fraction)) {
            if (particle >= 0) {
                init_particle(job, particle + lives, tile, &c);
            }
            lives += 1;
        }
    }
    return lives;
}

static int64_t seed_tile(const seed_job* job, int64_t index, particle_ix particle) {
    const grid_domain* domain = job->def->domain;
    tile_coord tile = tile_at(job, index);
    int32_t low[AXES], high[AXES], cell[AXES];
    for (int a = 0; a < AXES; ++a) {
        low[a] = TILE_SIZE * tile.at[a];
        high[a] = low[a] + TILE_SIZE < domain->cells[a] ? low[a] + TILE_SIZE : domain->cells[a];
    }
    int64_t lives = 0;
    box_part of_tile = fraction_of_box(job, low, TILE_SIZE);
    if (of_tile == BOX_NONE) {
        return 0;
    }
    for (cell[2] = low[2]; cell[2] < high[2]; ++cell[2]) {
        for (cell[1] = low[1]; cell[1] < high[1]; ++cell[1]) {
            for (cell[0] = low[0]; cell[0] < high[0]; ++cell[0]) {
                box_part fraction = of_tile == BOX_SOME ? fraction_of_box(job, cell, 1) : of_tile;
                if (fraction != BOX_NONE) {
                    lives += seed_cell(job, tile, cell, fraction,
                                       particle < 0 ? particle : particle + lives);
                }
            }
        }
    }
    return lives;
}

static void count_tiles(void* data, int64_t begin, int64_t end) {
    const seed_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        job->tile_births[t] = seed_tile(job, t, -1);
    }
}

static void seed_fill_tiles(void* data, int64_t begin, int64_t end) {
    const seed_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        bool is_here = particle_ranks_has_tile(job->p, tile_at(job, t));
        if (job->tile_births[t] > 0 && is_here) {
            seed_tile(job, t, job->tile_begin[t]);
        }
    }
}

// The tiles that the liquid's bounds touch. Returns their number.
static int64_t bound_tiles(seed_job* job) {
    const grid_domain* domain = job->def->domain;
    box3 bounds = shape_bounds(job->def->liquids[job->liquid].shape);
    int64_t count = 1;
    for (int a = 0; a < AXES; ++a) {
        double width = domain->h * TILE_SIZE, last = domain->tiles[a] - 1;
        double low = floor((bounds.low.at[a] - domain->origin[a]) / width);
        double high = floor((bounds.high.at[a] - domain->origin[a]) / width);
        low = domain->is_active[a] ? fmin(fmax(low, 0.0), last + 1.0) : 0.0;
        high = domain->is_active[a] ? fmin(fmax(high, -1.0), last) : 0.0;
        job->low[a] = (int32_t)low;
        job->extent[a] = high < low ? 0 : (int32_t)(high - low) + 1;
        count *= job->extent[a];
    }
    return box3_is_empty(bounds) ? 0 : count;
}

// Counts what lives in each tile of a liquid; each rank looks at some of them.
static treacle_status count_liquid(seed_job* job) {
    treacle_context* ctx = job->p->ctx;
    bool is_distributed = job->p->owners != NULL;
    int64_t rank = is_distributed ? comm_rank(ctx) : 0, size = is_distributed ? comm_size(ctx) : 1;
    job->tile_count = bound_tiles(job);
    size_t count = (size_t)job->tile_count;
    TREACLE_TRY(
        alloc_array(ctx, count, sizeof(*job->tile_births), "seeding", (void**)&job->tile_births));
    TREACLE_TRY(
        alloc_array(ctx, count, sizeof(*job->tile_begin), "seeding", (void**)&job->tile_begin));
    int64_t* first = NULL;
    size_t bytes = ((size_t)comm_size(ctx) + 1) * sizeof(*first);
    TREACLE_TRY(alloc_array(ctx, bytes, 1, "seeding", (void**)&first));
    for (int64_t r = 0; r <= size; ++r) {
        first[r] = job->tile_count * r / size;
    }
    tile_for_range(ctx, (tile_range){first[rank], first[rank + 1]}, 4, count_tiles, job);
    if (is_distributed) {
        comm_gather(ctx, job->tile_births, sizeof(*job->tile_births), first);
    }
    alloc_free(ctx, first, bytes);
    return TREACLE_OK;
}

// Room for all, then groups for all.
static treacle_status append_liquids(int count, seed_job* jobs, particles* p) {
    int64_t members = 0, groups = 0;
    for (int i = 0; i < count; ++i) {
        for (int64_t t = 0; t < jobs[i].tile_count; ++t) {
            members += jobs[i].tile_births[t];
            groups += jobs[i].tile_births[t] > 0;
        }
    }
    TREACLE_TRY(particles_reserve(p, p->count + members, p->tile_count + groups));
    for (int i = 0; i < count; ++i) {
        for (int64_t t = 0; t < jobs[i].tile_count; ++t) {
            if (jobs[i].tile_births[t] > 0) {
                TREACLE_TRY(particles_append(p, tile_at(&jobs[i], t), jobs[i].tile_births[t],
                                             &jobs[i].tile_begin[t]));
            }
        }
    }
    return TREACLE_OK;
}

static treacle_status seed_liquids(const seed_def* def, seed_job* jobs, particles* p) {
    for (int i = 0; i < def->liquid_count; ++i) {
        jobs[i] = (seed_job){.def = def, .p = p, .liquid = i};
        jobs[i].boxes = seed_choose_boxes(def->domain, def->particles.per_cell);
        TREACLE_TRY(count_liquid(&jobs[i]));
    }
    TREACLE_TRY(append_liquids(def->liquid_count, jobs, p));
    if (def->partition != NULL) {
        TREACLE_TRY(def->partition(def->partition_data, p));
    }
    for (int i = 0; i < def->liquid_count; ++i) {
        parallel_for(p->ctx, jobs[i].tile_count, 4, seed_fill_tiles, &jobs[i]);
    }
    return TREACLE_OK;
}

treacle_status seed_particles(particles* p, const seed_def* def) {
    TREACLE_ASSERT(def->liquid_count >= 0 && (def->liquids != NULL || def->liquid_count == 0));
    TREACLE_ASSERT(def->domain->h > 0.0);
    TREACLE_ASSERT(def->particles.per_cell > 0);
    const grid_domain* domain = def->domain;
    int boxes = seed_choose_boxes(domain, def->particles.per_cell).count;
    double births = (double)domain->cells[0] * domain->cells[1] * domain->cells[2];
    double rounds = 1.0;
    for (int i = 0; i < def->liquid_count; ++i) {
        rounds = fmax(rounds, 1.0 + (double)def->liquids[i].round);
    }
    if (births * rounds * boxes >= (double)PARTICLE_BIRTHS_MAX) {
        return check_fail(p->ctx, TREACLE_ERR_LIMIT,
                          "%g cells with %d particles each: ids can count to %llu only", births,
                          def->particles.per_cell, (unsigned long long)PARTICLE_BIRTHS_MAX);
    }
    seed_job* jobs = NULL;
    size_t count = (size_t)def->liquid_count;
    TREACLE_TRY(alloc_zero(p->ctx, count, sizeof(*jobs), "seeding", (void**)&jobs));
    treacle_status status = seed_liquids(def, jobs, p);
    for (size_t i = 0; i < count; ++i) {
        size_t tiles = (size_t)jobs[i].tile_count;
        alloc_free(p->ctx, jobs[i].tile_births, tiles * sizeof(*jobs[i].tile_births));
        alloc_free(p->ctx, jobs[i].tile_begin, tiles * sizeof(*jobs[i].tile_begin));
    }
    alloc_free(p->ctx, jobs, count * sizeof(*jobs));
    return status;
}
