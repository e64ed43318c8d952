#include "solve/lump_labels.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/forest.h"
#include "solve/lump_strength.h"
#include "solve/stress_term.h"

// An aggregate has faces of one octant of its tile: these bits of their places are the same.
enum { OCTANT_BITS = 0444 };
enum { NONE = -1, HELD = 1 << 30 };

// Labels are found in two stages. Inside each tile, by threads, strong terms unite the faces that
// they join; what hangs together is a part. Between tiles, by one thread, strong terms across the
// sides join parts to lumps (scope of the grid) or only tell which parts something holds (scope of
// a tile). Sets are named by their lowest member, so no order of unions and no number of threads
// changes a label.
typedef struct labeller {
    const viscosity_level* level;
    const solve_body_list* bodies;
    const lump_policy* policy;
    bool joins_bodies; // liquid and the bodies that it sticks to are one
    bool has_octants;  // they split tiles
    lump_strength strength;
    lump_labels* out;
    int32_t* part_count; // [tile]
    int32_t* first;      // [tile + 1], the first part of a tile
    int32_t* parent;     // [parts]
    uint8_t* is_held;    // [parts]
    uint8_t* is_whole;   // [tile]: full of unknowns with strong links only
} labeller;

// ---- Bodies ---------------------------------------------------------------------------------

// The free body that a face belongs to, or NONE.
static int32_t body_at(const labeller* l, int64_t slot) {
    if (slot < 0 || l->level->weights.owner[0] == NULL) {
        return NONE;
    }
    int a = (int)(slot % VISCOSITY_BLOCK) / TILE_CELLS;
    const uint16_t* owner = l->level->weights.owner[a];
    // Owners count from one, bodies from zero.
    int32_t b = (int32_t)owner[slot / VISCOSITY_BLOCK * TILE_CELLS + slot % TILE_CELLS] - 1;
    return b >= 0 && !l->bodies->at[b].is_bound ? b : NONE;
}

// Whether an aggregate may have a face: an unknown, or one of a body.
static bool is_member(const labeller* l, int64_t slot) {
    return stress_term_is_unknown(l->level, slot) || (l->joins_bodies && body_at(l, slot) != NONE);
}

// ---- Inside a tile --------------------------------------------------------------------------

// A tile deep inside of liquid: every face is an unknown and every term strong. That is found by
// reading weights, which is much cheaper than uniting 1536 faces.
static bool check_whole(const labeller* l, tile_ix t) {
    const float* inverse = l->level->inverse + (size_t)t * VISCOSITY_BLOCK;
    for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
        if (!(inverse[n] > 0.0f)) {
            return false;
        }
    }
    return lump_strength_has_all(&l->strength, t);
}

// The faces of a strong term in tile t: unites the unknowns, notes the others.
typedef struct tile_union {
    int32_t parent[VISCOSITY_BLOCK];
    bool is_member[VISCOSITY_BLOCK];
    int apart;                        // bits in which places of faces that are united agree
    uint8_t is_held[VISCOSITY_BLOCK]; // in a strong term with a face that is no member
} tile_union;

// A term with a face that moves by script or not at all holds all others of it: the lump cannot
// move rigidly without straining that term.
static void unite_faces(tile_union* u, int count, const int* faces) {
    int previous = NONE;
    bool is_held = false;
    for (int n = 0; n < count; ++n) {
        if (!u->is_member[faces[n]]) {
            is_held = true;
            continue;
        }
        // Places have three bits an axis: the highest ones say which octant.
        if (previous != NONE && ((previous ^ faces[n]) & u->apart) == 0) {
            forest_unite(u->parent, previous, faces[n]);
        }
        previous = faces[n];
    }
    for (int n = 0; n < count && is_held; ++n) {
        // Noted at faces, since parts have no numbers yet.
        u->is_held[faces[n]] = 1;
    }
}

// Place of a cell in its tile along an axis: three bits each, x lowest.
static int coordinate(int q, int axis) {
    return q >> 3 * axis & 7;
}

// Numbers from 0 on within the tile; spread_labels adds what tiles before it have.
static int32_t number_parts(tile_union* u, int32_t* label) {
    int32_t count = 0;
    for (int32_t n = 0; n < VISCOSITY_BLOCK; ++n) {
        int32_t root = forest_root(u->parent, n);
        bool is_unknown = u->is_member[n];
        // A root is the lowest face of its part, so it has its number before its members ask. A bit
        // above all numbers says that the face is held.
        label[n] = !is_unknown ? NONE : root == n ? count++ : label[root] & ~HELD;
        label[n] |= is_unknown && u->is_held[n] != 0 ? HELD : 0;
    }
    return count;
}

// The slow way, for tiles at surfaces, walls and jumps of viscosity.
static void split_tile(const labeller* l, tile_ix t) {
    tile_union u = {.apart = l->has_octants ? OCTANT_BITS : 0};
    for (int32_t n = 0; n < VISCOSITY_BLOCK; ++n) {
        u.parent[n] = n;
        u.is_member[n] = is_member(l, (int64_t)t * VISCOSITY_BLOCK + n);
    }
    for (int q = 0; q < TILE_CELLS; ++q) {
        unsigned terms = l->strength.terms[(size_t)t * TILE_CELLS + (size_t)q];
        for (int kind = 0; kind < STRESS_TERM_KINDS && terms >> kind != 0; ++kind) {
            if ((terms >> kind & 1) != 0) {
                int faces[STRESS_TERM_FACES];
                unite_faces(&u, stress_term_inside(kind, q, faces), faces);
            }
        }
    }
    l->part_count[t] = number_parts(&u, l->out->label + (size_t)t * VISCOSITY_BLOCK);
}

static void fill_labels(int32_t* label, int32_t value) {
    for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
        label[n] = value;
    }
}

static void split_tiles(void* data, int64_t begin, int64_t end) {
    const labeller* l = data;
    for (int64_t t = begin; t < end; ++t) {
        if (lump_strength_is_empty(l->level, t)) {
            fill_labels(l->out->label + t * VISCOSITY_BLOCK, NONE);
            continue;
        }
        // Inside of liquid: one part, without a union.
        l->is_whole[t] = check_whole(l, (tile_ix)t) ? 1 : 0;
        if (l->is_whole[t] != 0) {
            memset(l->out->label + t * VISCOSITY_BLOCK, 0, VISCOSITY_BLOCK * sizeof(int32_t));
            l->part_count[t] = 1;
        } else {
            split_tile(l, (tile_ix)t);
        }
    }
}

// ---- Between tiles --------------------------------------------------------------------------

// Joins the parts of a strong term's faces; a fixed face holds them.
static void join_term(const labeller* l, const stress_term* term, bool can_join) {
    int32_t previous = NONE;
    bool is_held = false;
    for (int n = 0; n < term->count; ++n) {
        if (!is_member(l, term->slot[n])) {
            is_held = true;
            continue;
        }
        int32_t here = l->out->label[term->slot[n]];
        // Within tiles nothing is joined, but walls hold an aggregate across its tile's side all
        // the same.
        if (previous != NONE && can_join) {
            forest_unite(l->parent, previous, here);
        }
        previous = here;
    }
    for (int n = 0; n < term->count && is_held; ++n) {
        if (is_member(l, term->slot[n])) {
            l->is_held[l->out->label[term->slot[n]]] = 1;
        }
    }
}

// True if all terms of a tile that reach out of it lead to whole tiles.
// Most tiles of a large liquid are such, and cost three unions instead of thousands.
static bool is_deep_inside(const labeller* l, tile_ix t) {
    // Its terms at its sides join whole tiles, which are one part each: three unions stand for all.
    bool is_deep = l->is_whole[t] != 0;
    for (int n = 0; n < TILE_NEIGHBOURS && is_deep; ++n) {
        tile_ix other = l->level->map->neighbour[t][n];
        is_deep = other < l->level->map->count && l->is_whole[other] != 0;
    }
    return is_deep;
}

// Whether a term has faces outside its own tile.
// A stretch ends at the next cell's face, a shear begins at the cell before.
static bool reaches_out(int kind, int q) {
    if (kind < AXES) {
        return coordinate(q, kind) == TILE_SIZE - 1;
    }
    return coordinate(q, (kind + 1) % AXES) == 0 || coordinate(q, (kind + 2) % AXES) == 0;
}

// Only terms that reach into another tile are asked: those inside have been used by split_tile.
static void join_tile(const labeller* l, tile_ix t, bool can_join) {
    if (is_deep_inside(l, t)) {
        static const int low[AXES] = {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(0, -1, 0),
                                      TILE_NEIGHBOUR(0, 0, -1)};
        for (int a = 0; a < AXES && can_join; ++a) {
            forest_unite(l->parent, l->first[t], l->first[l->level->map->neighbour[t][low[a]]]);
        }
        return;
    }
    for (int kind = 0; kind < STRESS_TERM_KINDS && l->part_count[t] > 0; ++kind) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            if (reaches_out(kind, q) && lump_strength_has(&l->strength, t, kind, q)) {
                stress_term term = stress_term_at(l->level, (term_place){t, kind, q});
                join_term(l, &term, can_join);
            }
        }
    }
}

// All faces of a body are one part.
static treacle_status join_bodies(const labeller* l) {
    size_t count = (size_t)l->bodies->count;
    int64_t length = (int64_t)l->out->tile_count * VISCOSITY_BLOCK;
    int32_t* part = NULL;
    TREACLE_TRY(alloc_array(l->out->ctx, count, sizeof(int32_t), "parts of bodies", (void**)&part));
    memset(part, 0xff, count * sizeof(int32_t));
    for (int64_t i = 0; i < length && count > 0; ++i) {
        int32_t b = body_at(l, i), here = l->out->label[i];
        if (b == NONE || here == NONE) {
            continue;
        }
        if (part[b] != NONE) {
            forest_unite(l->parent, part[b], here);
        }
        part[b] = here;
    }
    alloc_free(l->out->ctx, part, count * sizeof(int32_t));
    return TREACLE_OK;
}

// Union, then flattened: each part knows its root, and a root whether anything holds its lump.
static treacle_status join_parts(const labeller* l, lump_scope scope) {
    int32_t parts = l->first[l->out->tile_count];
    for (int32_t i = 0; i < parts; ++i) {
        l->parent[i] = i;
    }
    for (tile_ix t = 0; t < l->out->tile_count; ++t) {
        join_tile(l, t, scope == LUMP_SCOPE_GRID);
    }
    // After the liquid: a body may join two lumps that do not touch.
    TREACLE_TRY(l->joins_bodies ? join_bodies(l) : TREACLE_OK);
    for (int32_t i = 0; i < parts; ++i) {
        // Held parts hold their whole lump.
        l->parent[i] = forest_root(l->parent, i);
        if (l->is_held[i] != 0) {
            l->is_held[l->parent[i]] = 1;
        }
    }
    return TREACLE_OK;
}

// Sizes decide which sets are worth six unknowns.
static void count_faces(const labeller* l, int32_t* size) {
    for (tile_ix t = 0; t < l->out->tile_count; ++t) {
        const int32_t* label = l->out->label + (size_t)t * VISCOSITY_BLOCK;
        if (l->is_whole[t] != 0) {
            // Sizes are faces: whole tiles have all of them.
            size[l->parent[l->first[t]]] += VISCOSITY_BLOCK;
            continue;
        }
        for (int n = 0; n < VISCOSITY_BLOCK && l->part_count[t] > 0; ++n) {
            if (label[n] != NONE) {
                size[l->parent[label[n]]] += 1;
            }
        }
    }
}

// From numbers of parts to numbers of aggregates; small ones end up with none.
static void relabel(const labeller* l) {
    for (tile_ix t = 0; t < l->out->tile_count; ++t) {
        int32_t* label = l->out->label + (size_t)t * VISCOSITY_BLOCK;
        if (l->is_whole[t] != 0) {
            fill_labels(label, l->parent[l->first[t]]);
            continue;
        }
        for (int n = 0; n < VISCOSITY_BLOCK && l->part_count[t] > 0; ++n) {
            label[n] = label[n] == NONE ? NONE : l->parent[label[n]];
        }
    }
}

// Makes parent[i] the number of the aggregate of part i, NONE for the small ones.
// Numbers follow the first face of each set in the order of tiles.
static treacle_status number_aggregates(const labeller* l) {
    lump_labels* out = l->out;
    int32_t parts = l->first[out->tile_count];
    int32_t* size = NULL;
    int smallest = l->strength.has_specks ? l->policy->smallest_speck : l->policy->smallest;
    TREACLE_TRY(alloc_zero(out->ctx, (size_t)parts, sizeof(int32_t), "sizes", (void**)&size));
    count_faces(l, size);
    for (int32_t i = 0; i < parts; ++i) {
        int32_t root = l->parent[i];
        if (root != i) {
            l->parent[i] = l->parent[root]; // a root comes before its members
            continue;
        }
        bool is_kept = size[i] >= smallest;
        if (is_kept) {
            // Numbers never pass the parts that they are given to, so marks can be moved in place.
            l->is_held[out->count] = l->is_held[i];
        }
        l->parent[i] = is_kept ? out->count++ : NONE;
    }
    alloc_free(out->ctx, size, (size_t)parts * sizeof(int32_t));
    return TREACLE_OK;
}

// Bodies that were not joined to liquid become aggregates of their own.
static treacle_status number_bodies(const labeller* l) {
    size_t count = (size_t)l->bodies->count;
    int64_t length = (int64_t)l->out->tile_count * VISCOSITY_BLOCK;
    int32_t* number = NULL;
    TREACLE_TRY(
        alloc_array(l->out->ctx, count, sizeof(int32_t), "numbers of bodies", (void**)&number));
    memset(number, 0xff, count * sizeof(int32_t));
    for (int64_t i = 0; i < length && count > 0; ++i) {
        int32_t b = body_at(l, i);
        if (b != NONE && number[b] == NONE) {
            l->is_held[l->out->count] = 0;
            number[b] = l->out->count++;
        }
        l->out->label[i] = b != NONE ? number[b] : l->out->label[i];
    }
    alloc_free(l->out->ctx, number, count * sizeof(int32_t));
    return TREACLE_OK;
}

// ---- Growth ---------------------------------------------------------------------------------

// The lowest label next to an unlabelled unknown.
// The lowest of several, so that the outcome does not depend on the order in which terms are met.
static int32_t lowest_beside(const labeller* l, int64_t slot) {
    term_place place[STRESS_TERMS_OF_FACE];
    int32_t lowest = NONE;
    stress_terms_of_face(l->level, slot, place);
    for (int m = 0; m < STRESS_TERMS_OF_FACE; ++m) {
        if (place[m].tile == l->level->map->count) {
            continue;
        }
        stress_term term = stress_term_at(l->level, place[m]);
        for (int n = 0; n < term.count && term.weight > 0.0f; ++n) {
            int32_t label = term.slot[n] >= 0 ? l->out->label[term.slot[n]] : NONE;
            if (label != NONE && (lowest == NONE || label < lowest)) {
                lowest = label;
            }
        }
    }
    return lowest;
}

typedef struct growth {
    int64_t slot;
    int32_t label;
} growth;

typedef struct growth_job {
    const labeller* l;
    growth* list;
} growth_job;

static void look_beside(void* data, int64_t begin, int64_t end) {
    const growth_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        job->list[i].label = lowest_beside(job->l, job->list[i].slot);
    }
}

// One layer: all look first, then all take. Returns how many are left.
static int64_t grow_layer(const labeller* l, growth* list, int64_t count) {
    int64_t left = 0;
    parallel_for(l->out->ctx, count, 64, look_beside, &(growth_job){l, list});
    for (int64_t i = 0; i < count; ++i) {
        if (list[i].label != NONE) {
            l->out->label[list[i].slot] = list[i].label;
        } else {
            list[left++] = list[i];
        }
    }
    return left;
}

// Unknowns without an aggregate: faces whose terms are all weak, at slivers of the surface.
static int64_t list_uncovered(const labeller* l, growth* list) {
    int64_t count = 0;
    for (int64_t t = 0; t < l->out->tile_count; ++t) {
        int64_t first = t * VISCOSITY_BLOCK;
        for (int64_t i = first; i < first + VISCOSITY_BLOCK && l->part_count[t] > 0; ++i) {
            if (l->out->label[i] == NONE && l->level->inverse[i] > 0.0f) {
                if (list != NULL) {
                    list[count].slot = i;
                }
                ++count;
            }
        }
    }
    return count;
}

// A face without an aggregate would stand still while the lump beside it moves. However weak the
// term between them is, the energy of that step would ruin the coarse space: so every face joins
// one.
static treacle_status cover_all(const labeller* l) {
    treacle_context* ctx = l->out->ctx;
    growth* list = NULL;
    int64_t all = list_uncovered(l, NULL), left = all, before;
    TREACLE_TRY(alloc_array(ctx, (size_t)all, sizeof(growth), "uncovered faces", (void**)&list));
    list_uncovered(l, list);
    // Layer by layer from all lumps at once, so that faces join what is nearest. What no lump
    // reaches stays without.
    do {
        before = left;
        left = grow_layer(l, list, left);
    } while (left > 0 && left < before);
    alloc_free(ctx, list, (size_t)all * sizeof(growth));
    return TREACLE_OK;
}

// ---- All together ---------------------------------------------------------------------------

static treacle_status lump_labels_allocate(labeller* l) {
    treacle_context* ctx = l->out->ctx;
    size_t tiles = (size_t)l->out->tile_count;
    TREACLE_TRY(alloc_array(ctx, tiles * VISCOSITY_BLOCK, sizeof(int32_t), "labels of faces",
                            (void**)&l->out->label));
    TREACLE_TRY(alloc_zero(ctx, tiles, sizeof(int32_t), "parts of tiles", (void**)&l->part_count));
    TREACLE_TRY(alloc_zero(ctx, tiles + 1, sizeof(int32_t), "parts of tiles", (void**)&l->first));
    return alloc_zero(ctx, tiles, sizeof(uint8_t), "whole tiles", (void**)&l->is_whole);
}

// Whether some lump is held by nothing.
static bool has_free(const labeller* l) {
    return memchr(l->is_held, 0, (size_t)l->out->count) != NULL;
}

// Labels of tiles to labels of the grid; the marks of held faces to their parts.
static void spread_labels(const labeller* l) {
    for (tile_ix t = 0; t < l->out->tile_count; ++t) {
        int32_t* label = l->out->label + (size_t)t * VISCOSITY_BLOCK;
        if (l->is_whole[t] != 0) {
            fill_labels(label, l->first[t]);
            continue;
        }
        for (int n = 0; n < VISCOSITY_BLOCK && l->part_count[t] > 0; ++n) {
            if (label[n] == NONE) {
                continue;
            }
            // From marks at faces to marks at parts.
            bool is_held = (label[n] & HELD) != 0;
            label[n] = (label[n] & ~HELD) + l->first[t];
            l->is_held[label[n]] |= is_held ? 1 : 0;
        }
    }
}

// Parts to lumps, lumps to numbers, numbers to faces, and the faces in between to the nearest.
static treacle_status join_and_cover(labeller* l, lump_scope scope) {
    treacle_context* ctx = l->out->ctx;
    int32_t parts = l->first[l->out->tile_count];
    TREACLE_TRY(alloc_array(ctx, (size_t)parts, sizeof(int32_t), "parts", (void**)&l->parent));
    TREACLE_TRY(alloc_zero(ctx, (size_t)(parts + l->bodies->count), sizeof(uint8_t), "parts",
                           (void**)&l->is_held));
    spread_labels(l);
    TREACLE_TRY(join_parts(l, scope));
    TREACLE_TRY(number_aggregates(l));
    // A pool in a pan: nothing is free, and covering all faces would be for nothing.
    if (scope == LUMP_SCOPE_GRID && !has_free(l)) {
        l->out->count = 0; // nobody will ask for the labels
        return TREACLE_OK;
    }
    relabel(l);
    // In tiles a body is an aggregate of its own: it moves with no part of the liquid alone.
    TREACLE_TRY(l->joins_bodies ? TREACLE_OK : number_bodies(l));
    TREACLE_TRY(cover_all(l));
    TREACLE_TRY(alloc_array(ctx, (size_t)l->out->count, sizeof(uint8_t), "held aggregates",
                            (void**)&l->out->is_held));
    memcpy(l->out->is_held, l->is_held, (size_t)l->out->count);
    return TREACLE_OK;
}

// How strong a term must be depends on what is looked for: free lumps, aggregates that end at
// necks, specks.
static treacle_status label_all(labeller* l, const lump_def* def) {
    tile_ix tiles = l->out->tile_count;
    TREACLE_TRY(lump_labels_allocate(l));
    bool has_specks = def->regime->has_specks;
    float fraction = has_specks       ? l->policy->speck_strong
                     : l->has_octants ? l->policy->strong_of_aggregate
                                      : l->policy->strong;
    TREACLE_TRY(lump_strength_create(l->level, fraction, has_specks, &l->strength));
    parallel_for(l->out->ctx, tiles, 4, split_tiles, l);
    // Parts are numbered through in the order of tiles, whatever thread split them.
    for (tile_ix t = 0; t < tiles; ++t) {
        l->first[t + 1] = l->first[t] + l->part_count[t];
    }
    return join_and_cover(l, def->scope);
}

treacle_status lump_labels_create(const lump_def* def, lump_labels* out) {
    TREACLE_ASSERT(def->policy->smallest > 0 && def->policy->smallest_speck > 0);
    TREACLE_ASSERT(def->bodies->count == 0 || def->level->weights.owner[0] != NULL);
    const viscosity_level* level = def->level;
    size_t tiles = (size_t)level->map->count;
    *out = (lump_labels){.ctx = level->ctx, .tile_count = level->map->count};
    bool is_grid = def->scope == LUMP_SCOPE_GRID;
    labeller l = {.level = level,
                  .bodies = def->bodies,
                  .policy = def->policy,
                  .joins_bodies = is_grid,
                  .has_octants =
                      !is_grid && def->regime->has_small_aggregates && !def->regime->has_specks,
                  .out = out};
    treacle_status status = label_all(&l, def);
    size_t parts = l.first != NULL ? (size_t)l.first[tiles] : 0;
    alloc_free(out->ctx, l.parent, parts * sizeof(int32_t));
    alloc_free(out->ctx, l.is_held, (parts + (size_t)def->bodies->count) * sizeof(uint8_t));
    alloc_free(out->ctx, l.part_count, tiles * sizeof(int32_t));
    alloc_free(out->ctx, l.first, (tiles + 1) * sizeof(int32_t));
    alloc_free(out->ctx, l.is_whole, tiles * sizeof(uint8_t));
    lump_strength_destroy(&l.strength);
    if (status != TREACLE_OK) {
        lump_labels_destroy(out);
    }
    return status;
}

void lump_labels_destroy(lump_labels* labels) {
    if (labels->ctx != NULL) {
        size_t length = (size_t)labels->tile_count * VISCOSITY_BLOCK;
        alloc_free(labels->ctx, labels->label, length * sizeof(int32_t));
        alloc_free(labels->ctx, labels->is_held, (size_t)labels->count * sizeof(uint8_t));
    }
    *labels = (lump_labels){0};
}
