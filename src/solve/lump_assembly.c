// E is summed term by term (solve/stress_term.h). A term whose faces all belong to one aggregate
// sees a rigid motion and adds nothing, so only terms at the seams count, and the masses.
#include "solve/lump_assembly.h"

#include <string.h>

#include "base/alloc.h"
#include "solve/stress_term.h"

enum { NONE = -1, LIST_LIMIT = LUMP_MIXED };

// ---- Tile lists -----------------------------------------------------------------------------

// Free lumps alone stay, numbered anew; with only_free false all aggregates do.
static treacle_status renumber(lump_labels* labels, bool only_free, int32_t* count) {
    size_t old_count = (size_t)labels->count;
    size_t length = (size_t)labels->tile_count * VISCOSITY_BLOCK;
    int32_t* number = NULL;
    *count = labels->count;
    if (!only_free) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_array(labels->ctx, old_count, sizeof(int32_t), "numbers of aggregates",
                            (void**)&number));
    *count = 0;
    for (size_t g = 0; g < old_count; ++g) {
        // Walls hold the others: their motions are as stiff as any, and the cycle has them.
        number[g] = labels->is_held[g] != 0 ? NONE : (*count)++;
    }
    for (size_t i = 0; i < length; ++i) {
        labels->label[i] = labels->label[i] == NONE ? NONE : number[labels->label[i]];
    }
    alloc_free(labels->ctx, number, old_count * sizeof(int32_t));
    return TREACLE_OK;
}

// Writes the aggregates of a tile to `list` and the faces' places in it to `place`, each unless
// NULL; returns their number. Faces of more aggregates than a list can hold stay out.
// Lists are in the order in which faces name aggregates, and so depend on labels alone.
static int32_t list_tile(const lump_labels* labels, int64_t t, int32_t* list, uint8_t* place) {
    int32_t seen[LIST_LIMIT], count = 0, at = -1;
    const int32_t* label = labels->label + t * VISCOSITY_BLOCK;
    for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
        // Faces in a row mostly have one label: the search through the list is for the others.
        bool is_as_before = n > 0 && label[n] == label[n - 1];
        at = is_as_before ? at : count - 1;
        while (!is_as_before && at >= 0 && seen[at] != label[n]) {
            --at;
        }
        // Places are bytes, two of which have another meaning.
        if (label[n] != NONE && at < 0 && count < LIST_LIMIT) {
            at = count;
            seen[count++] = label[n];
        }
        if (place != NULL) {
            place[n] = label[n] != NONE && at >= 0 ? (uint8_t)at : LUMP_NO_PLACE;
        }
    }
    if (list != NULL) {
        memcpy(list, seen, (size_t)count * sizeof(int32_t));
    }
    return count;
}

// The place that all unknowns of a row share. Faces that are no unknown have no say.
static uint8_t place_of_row(const viscosity_level* level, int64_t slot, const uint8_t* place) {
    uint8_t common = LUMP_NO_PLACE;
    bool is_first = true;
    for (int i = 0; i < LUMP_ROW; ++i) {
        // Half a row of one place is summed as a whole, which is what makes the space cheap.
        if (level->inverse[slot + i] > 0.0f) {
            common = is_first || common == place[i] ? place[i] : LUMP_MIXED;
            is_first = false;
        }
    }
    return common;
}

// The rows of a tile from the places of its faces; true if one is mixed.
static bool fill_rows(const viscosity_level* level, int64_t t, const uint8_t* place, uint8_t* row) {
    bool is_mixed = false;
    for (int64_t n = 0; n < LUMP_ROWS; ++n) {
        row[n] = place_of_row(level, t * VISCOSITY_BLOCK + n * LUMP_ROW, place + n * LUMP_ROW);
        is_mixed = is_mixed || row[n] == LUMP_MIXED;
    }
    return is_mixed;
}

// Rows, and the places of faces in tiles where rows do not say all.
static treacle_status find_places(const viscosity_level* level, const lump_labels* labels,
                                  lump_map* map) {
    uint8_t place[VISCOSITY_BLOCK];
    size_t used = (size_t)map->used;
    TREACLE_TRY(alloc_array(map->ctx, used * LUMP_ROWS, sizeof(uint8_t), "places of rows",
                            (void**)&map->row));
    TREACLE_TRY(
        alloc_array(map->ctx, used, sizeof(int64_t), "blocks of places", (void**)&map->block));
    for (int64_t u = 0; u < map->used; ++u) {
        list_tile(labels, map->tile[u], map->list + map->first[u], place);
        bool is_mixed = fill_rows(level, map->tile[u], place, map->row + u * LUMP_ROWS);
        // Only tiles with a mixed row, a few at surfaces and seams, keep a byte a face.
        map->block[u] = is_mixed ? map->blocks++ : -1;
    }
    TREACLE_TRY(alloc_array(map->ctx, (size_t)map->blocks, VISCOSITY_BLOCK, "places of faces",
                            (void**)&map->place));
    for (int64_t u = 0; u < map->used; ++u) {
        if (map->block[u] >= 0) {
            list_tile(labels, map->tile[u], NULL, map->place + map->block[u] * VISCOSITY_BLOCK);
        }
    }
    return TREACLE_OK;
}

// Tiles that have faces of aggregates, and how long the list of each is.
static treacle_status lump_assembly_list_tiles(const lump_labels* labels, lump_map* map) {
    treacle_context* ctx = map->ctx;
    // Counted first, then filled: arrays are asked for once, at their size.
    for (tile_ix t = 0; t < labels->tile_count; ++t) {
        map->used += list_tile(labels, t, NULL, NULL) > 0 ? 1 : 0;
    }
    size_t used = (size_t)map->used;
    TREACLE_TRY(alloc_array(ctx, used, sizeof(tile_ix), "tiles of aggregates", (void**)&map->tile));
    TREACLE_TRY(
        alloc_zero(ctx, used + 1, sizeof(int32_t), "lists of aggregates", (void**)&map->first));
    int64_t u = 0;
    for (tile_ix t = 0; t < labels->tile_count; ++t) {
        int32_t length = list_tile(labels, t, NULL, NULL);
        if (length > 0) {
            map->tile[u] = t;
            map->first[u + 1] = map->first[u] + length;
            ++u;
        }
    }
    return alloc_array(ctx, (size_t)map->first[used], sizeof(int32_t), "lists of aggregates",
                       (void**)&map->list);
}

// The mean position of an aggregate's faces.
// Rotations about the centre are nearly orthogonal to translations, which keeps the blocks of E
// well conditioned: arms are of the size of the lump and not of the domain.
static treacle_status find_centres(const viscosity_level* level, const lump_labels* labels,
                                   lump_map* map) {
    size_t count = (size_t)map->count;
    double* faces = NULL;
    TREACLE_TRY(alloc_zero(map->ctx, count, sizeof(*map->centre), "centres of aggregates",
                           (void**)&map->centre));
    TREACLE_TRY(alloc_zero(map->ctx, count, sizeof(double), "sizes of aggregates", (void**)&faces));
    for (int64_t u = 0; u < map->used; ++u) {
        int64_t begin = (int64_t)map->tile[u] * VISCOSITY_BLOCK;
        for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
            int32_t g = labels->label[begin + n];
            for (int b = 0; b < AXES && g != NONE; ++b) {
                int at = TILE_SIZE * level->map->coord[map->tile[u]].at[b] + (n >> 3 * b & 7);
                // Faces lie on cell sides along their own axis and in the middle along the others.
                // Sums of halves below 2^53 are exact: no order matters.
                map->centre[g][b] += at + (b == n / TILE_CELLS ? 0.0 : 0.5);
            }
            if (g != NONE) {
                faces[g] += 1.0;
            }
        }
    }
    for (size_t g = 0; g < count; ++g) {
        for (int b = 0; b < AXES; ++b) {
            map->centre[g][b] /= faces[g];
        }
    }
    alloc_free(map->ctx, faces, count * sizeof(double));
    return TREACLE_OK;
}

// Which aggregate each body belongs to; none for bodies that no liquid sticks to.
static treacle_status find_bodies(const viscosity_level* level, const lump_labels* labels,
                                  lump_map* map) {
    size_t count = (size_t)map->bodies->count;
    int64_t length = (int64_t)labels->tile_count * VISCOSITY_BLOCK;
    TREACLE_TRY(
        alloc_array(map->ctx, count, sizeof(int32_t), "aggregates of bodies", (void**)&map->body));
    memset(map->body, 0xff, count * sizeof(int32_t));
    for (int64_t i = 0; i < length && count > 0; ++i) {
        int a = (int)(i % VISCOSITY_BLOCK) / TILE_CELLS;
        int64_t face = i / VISCOSITY_BLOCK * TILE_CELLS + i % TILE_CELLS;
        int32_t b = (int32_t)level->weights.owner[a][face] - 1;
        if (b >= 0 && labels->label[i] != NONE) {
            // All faces of a body have one label.
            map->body[b] = labels->label[i];
        }
    }
    return TREACLE_OK;
}

treacle_status lump_map_create(const lump_map_def* def, lump_labels* labels, lump_map* out) {
    const viscosity_level* level = def->level;
    *out = (lump_map){.ctx = level->ctx, .bodies = def->bodies};
    treacle_status status;
    TREACLE_TRY_GOTO(renumber(labels, def->only_free, &out->count), fail);
    TREACLE_TRY_GOTO(lump_assembly_list_tiles(labels, out), fail);
    TREACLE_TRY_GOTO(find_places(level, labels, out), fail);
    TREACLE_TRY_GOTO(find_centres(level, labels, out), fail);
    TREACLE_TRY_GOTO(find_bodies(level, labels, out), fail);
    return TREACLE_OK;
fail:
    lump_map_destroy(out);
    return status;
}

void lump_map_destroy(lump_map* map) {
    if (map->ctx == NULL) {
        return;
    }
    size_t used = (size_t)map->used;
    size_t lists = map->first == NULL ? 0 : (size_t)map->first[used];
    alloc_free(map->ctx, map->centre, (size_t)map->count * sizeof(*map->centre));
    alloc_free(map->ctx, map->list, lists * sizeof(int32_t));
    alloc_free(map->ctx, map->tile, used * sizeof(tile_ix));
    alloc_free(map->ctx, map->first, (used + 1) * sizeof(int32_t));
    alloc_free(map->ctx, map->block, used * sizeof(int64_t));
    alloc_free(map->ctx, map->place, (size_t)map->blocks * VISCOSITY_BLOCK);
    alloc_free(map->ctx, map->row, used * LUMP_ROWS);
    alloc_free(map->ctx, map->body, (size_t)map->bodies->count * sizeof(int32_t));
    *map = (lump_map){0};
}

// From the centre of the aggregate to the pivot of the body.
static void arm_of_body(const lump_map* map, const viscosity_level* level, int32_t b,
                        double arm[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        double centre = map->centre[map->body[b]][a];
        arm[a] = level->domain.is_active[a] ? map->bodies->at[b].pivot[a] - centre : 0.0;
    }
}

// The motion of a body that moves with its aggregate, about its own pivot: the row of Z for the
// tail.
void lump_map_move_body(const lump_map* map, const viscosity_level* level, int32_t b,
                        const double g[BLOCK_SIZE], double y[BLOCK_SIZE]) {
    double arm[AXES];
    arm_of_body(map, level, b, arm);
    for (int a = 0; a < AXES; ++a) {
        int n = (a + 1) % AXES, m = (a + 2) % AXES;
        // v + omega x arm; the spin is the same anywhere.
        y[a] = g[a] + g[AXES + n] * arm[m] - g[AXES + m] * arm[n];
        y[AXES + a] = g[AXES + a];
    }
}

void lump_map_push_body(const lump_map* map, const viscosity_level* level, int32_t b,
                        const double y[BLOCK_SIZE], double sum[BLOCK_SIZE]) {
    double arm[AXES];
    arm_of_body(map, level, b, arm);
    for (int a = 0; a < AXES; ++a) {
        int n = (a + 1) % AXES, m = (a + 2) % AXES;
        // The transpose of the above: a force at the pivot is the same force at the centre and a
        // torque.
        sum[a] += y[a];
        sum[AXES + a] += y[AXES + a];
        sum[AXES + n] += y[a] * arm[m];
        sum[AXES + m] -= y[a] * arm[n];
    }
}

// ---- E = Z^T A Z ----------------------------------------------------------------------------

// Blocks of E, found by row and column in an open hash table.
typedef struct assembly {
    treacle_context* ctx;
    const viscosity_level* level;
    const lump_labels* labels;
    const lump_map* map;
    ldl_block* diagonal; // [map->count]
    int64_t count, capacity;
    int64_t entry_capacity; // the same, but while growing
    int32_t (*entry)[2];    // [entry_capacity]
    ldl_block* value;       // [capacity]
    int64_t slot_count;     // a power of two, twice the capacity
    int64_t* slot;          // -1: empty
} assembly;

// E has a block for each pair of aggregates that touch. How many there are is not known beforehand,
// so blocks are kept in a growing list and found by a hash of the pair.
static uint64_t home_slot(const assembly* s, int32_t row, int32_t column) {
    uint64_t key = (uint64_t)(uint32_t)row << 32 | (uint32_t)column;
    // Neighbouring pairs have neighbouring numbers: they are spread by a multiplication.
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    return (key ^ key >> 32) & (uint64_t)(s->slot_count - 1);
}

// Linear probing; nothing is ever removed.
static void insert(assembly* s, int64_t e) {
    uint64_t at = home_slot(s, s->entry[e][0], s->entry[e][1]);
    // The table is at most half full, so there is an empty slot nearby.
    while (s->slot[at] >= 0) {
        at = (at + 1) & (uint64_t)(s->slot_count - 1);
    }
    s->slot[at] = e;
}

static treacle_status grow(assembly* s) {
    const char* what = "blocks of rigid motions";
    // Each array has a size of its own until all have grown: one that fails leaves all to be freed.
    int64_t wanted = s->capacity == 0 ? 256 : 2 * s->capacity;
    TREACLE_TRY(alloc_resize(s->ctx, (void**)&s->slot, (size_t)s->slot_count, 2 * (size_t)wanted,
                             sizeof(int64_t), what));
    s->slot_count = 2 * wanted;
    TREACLE_TRY(alloc_resize(s->ctx, (void**)&s->entry, (size_t)s->entry_capacity, (size_t)wanted,
                             sizeof(*s->entry), what));
    s->entry_capacity = wanted;
    TREACLE_TRY(alloc_resize(s->ctx, (void**)&s->value, (size_t)s->capacity, (size_t)wanted,
                             sizeof(*s->value), what));
    s->capacity = wanted;
    memset(s->slot, 0xff, (size_t)s->slot_count * sizeof(int64_t));
    for (int64_t e = 0; e < s->count; ++e) {
        insert(s, e);
    }
    return TREACLE_OK;
}

// The block of row > column, made if missing; there is room for it.
static ldl_block* find_block(assembly* s, int32_t row, int32_t column) {
    uint64_t at = home_slot(s, row, column);
    for (; s->slot[at] >= 0; at = (at + 1) & (uint64_t)(s->slot_count - 1)) {
        int64_t e = s->slot[at];
        if (s->entry[e][0] == row && s->entry[e][1] == column) {
            return &s->value[e];
        }
    }
    // Entries are numbered in the order in which terms name them, which is that of tiles: the hash
    // decides nothing but where they are found.
    int64_t e = s->count++;
    s->entry[e][0] = row;
    s->entry[e][1] = column;
    memset(&s->value[e], 0, sizeof(ldl_block));
    s->slot[at] = e;
    return &s->value[e];
}

// to += w d e^T: the part of E that one term has for two aggregates.
static void add_product(ldl_block* to, double weight, const double* d, const double* e) {
    for (int r = 0; r < BLOCK_SIZE; ++r) {
        // w d e^T, of which the diagonal blocks are symmetric.
        double left = weight * d[r];
        for (int c = 0; c < BLOCK_SIZE; ++c) {
            to->at[r][c] += left * e[c];
        }
    }
}

// The row of Z at a face: unit translation along its axis, and the rotations about the centre.
static void mode_at(const assembly* s, int64_t slot, int32_t g, double mode[BLOCK_SIZE]) {
    int n = (int)(slot % VISCOSITY_BLOCK), a = n / TILE_CELLS, b = (a + 1) % AXES;
    int c = (a + 2) % AXES;
    double arm[AXES];
    lump_map_arm(s->map, s->level, (tile_ix)(slot / VISCOSITY_BLOCK), n, g, arm);
    memset(mode, 0, BLOCK_SIZE * sizeof(double));
    mode[a] = 1.0;
    // (omega x arm) along a = omega_b arm_c - omega_c arm_b.
    mode[AXES + b] = arm[c];
    mode[AXES + c] = -arm[b];
}

// The strain of a term under the motions of the aggregates it touches.
typedef struct seam {
    int count;
    int32_t aggregate[STRESS_TERM_FACES];
    double strain[STRESS_TERM_FACES][BLOCK_SIZE];
    int covered; // faces in an aggregate
} seam;

// A term has at most four faces. Each belongs to an aggregate, whose motion moves it by its row of
// Z; the strain that each of the six motions makes is the signed sum of those rows.
static void find_seam(const assembly* s, const stress_term* term, seam* out) {
    out->count = out->covered = 0;
    for (int n = 0; n < term->count; ++n) {
        int32_t g = term->slot[n] >= 0 ? s->labels->label[term->slot[n]] : NONE;
        if (g == NONE) {
            continue;
        }
        int at = 0;
        // At most four faces, so at most four aggregates.
        while (at < out->count && out->aggregate[at] != g) {
            ++at;
        }
        if (at == out->count) {
            out->aggregate[out->count++] = g;
            memset(out->strain[at], 0, sizeof(out->strain[at]));
        }
        double mode[BLOCK_SIZE];
        mode_at(s, term->slot[n], g, mode);
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            // Z^T d of the term, aggregate by aggregate.
            out->strain[at][k] += term->sign[n] * mode[k];
        }
        out->covered += 1;
    }
}

// E += w (Z^T d) (Z^T d)^T: a block for each pair of aggregates that the term has faces of.
// is_strain: a rigid motion has none.
static treacle_status add_term(assembly* s, const stress_term* term, bool is_strain) {
    seam m;
    find_seam(s, term, &m);
    // Within one aggregate a rigid motion has no strain, exactly; but in periodic grids a rotation
    // does not close, and all terms count.
    bool moves_as_one = is_strain && m.count == 1 && m.covered == term->count &&
                        !s->level->domain.is_periodic[0] && !s->level->domain.is_periodic[1] &&
                        !s->level->domain.is_periodic[2];
    if (m.count == 0 || moves_as_one) {
        return TREACLE_OK;
    }
    // Before blocks are asked for: their addresses must not change in between.
    if (s->count + STRESS_TERM_FACES * STRESS_TERM_FACES > s->capacity) {
        TREACLE_TRY(grow(s));
    }
    double weight = (double)term->weight;
    for (int i = 0; i < m.count; ++i) {
        add_product(&s->diagonal[m.aggregate[i]], weight, m.strain[i], m.strain[i]);
        for (int j = 0; j < m.count; ++j) {
            // E is symmetric: one triangle is enough.
            if (m.aggregate[i] > m.aggregate[j]) {
                add_product(find_block(s, m.aggregate[i], m.aggregate[j]), weight, m.strain[i],
                            m.strain[j]);
            }
        }
    }
    return TREACLE_OK;
}

// The one aggregate that all faces of a tile belong to, or NONE.
static int32_t only_aggregate(const assembly* s, tile_ix t) {
    const int32_t* label = s->labels->label + (int64_t)t * VISCOSITY_BLOCK;
    for (int n = 1; n < VISCOSITY_BLOCK; ++n) {
        if (label[n] != label[0]) {
            return NONE;
        }
    }
    return label[0];
}

// Whether a tile or one next to it has a face of an aggregate.
static bool is_near_aggregate(const assembly* s, tile_ix t, const uint8_t* is_used) {
    bool is_near = false;
    // Its own place is among the neighbours; a term of this tile may touch a face of the next one.
    for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
        tile_ix other = s->level->map->neighbour[t][n];
        is_near = is_near || (other < s->level->map->count && is_used[other] != 0);
    }
    return is_near;
}

// Terms of the outermost cells may have faces in other tiles.
static bool is_at_side(int q) {
    bool is_side = false;
    for (int a = 0; a < AXES; ++a) {
        int at = q >> 3 * a & 7;
        is_side = is_side || at == 0 || at == TILE_SIZE - 1;
    }
    return is_side;
}

// Whether all faces of a term lie in the tile and in one aggregate, or all in none.
static bool is_within_one(const assembly* s, tile_ix t, int kind, int q) {
    const int32_t* label = s->labels->label + (int64_t)t * VISCOSITY_BLOCK;
    int faces[STRESS_TERM_FACES], count = stress_term_inside(kind, q, faces);
    // Cheaper than to look the term up: most are inside of a tile and of a lump.
    bool is_one = count == (kind < AXES ? 2 : STRESS_TERM_FACES);
    for (int n = 1; n < count; ++n) {
        is_one = is_one && label[faces[n]] == label[faces[0]];
    }
    return is_one;
}

static treacle_status add_tile(assembly* s, tile_ix t) {
    bool is_uniform = only_aggregate(s, t) != NONE;
    for (int kind = 0; kind < STRESS_TERM_KINDS; ++kind) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            // Deep inside of a lump only the sides of tiles have terms that lead out.
            bool can_skip = is_uniform && !is_at_side(q);
            if (!can_skip && stress_term_weight(s->level, t, kind, q) > 0.0f &&
                !is_within_one(s, t, kind, q)) {
                stress_term term = stress_term_at(s->level, (term_place){t, kind, q});
                TREACLE_TRY(add_term(s, &term, true));
            }
        }
    }
    // Of plain differences a rotation is not free, so all count.
    for (int n = 0; n < VISCOSITY_SHEETS * TILE_CELLS; ++n) {
        if (viscosity_level_sheet(s->level, t) == NULL) {
            break;
        }
        stress_term term =
            stress_term_sheet(s->level, (term_place){t, n / TILE_CELLS, n % TILE_CELLS});
        TREACLE_TRY(term.weight > 0.0f ? add_term(s, &term, false) : TREACLE_OK);
    }
    return TREACLE_OK;
}

// Adds the mass of a face: a row of Z has three values, and the other products are zero.
static void add_mass(const assembly* s, int64_t slot, int32_t g, double mass) {
    int n = (int)(slot % VISCOSITY_BLOCK), a = n / TILE_CELLS, b = (a + 1) % AXES;
    int c = (a + 2) % AXES;
    double arm[AXES];
    lump_map_arm(s->map, s->level, (tile_ix)(slot / VISCOSITY_BLOCK), n, g, arm);
    const int at[AXES] = {a, AXES + b, AXES + c};
    const double mode[AXES] = {1.0, arm[c], -arm[b]};
    for (int i = 0; i < AXES; ++i) {
        double left = mass * mode[i];
        for (int j = 0; j < AXES; ++j) {
            s->diagonal[g].at[at[i]][at[j]] += left * mode[j];
        }
    }
}

// Face by face, also within tiles of one aggregate: nothing cancels here.
static void add_masses(const assembly* s) {
    for (int64_t u = 0; u < s->map->used; ++u) {
        int64_t t = s->map->tile[u];
        for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
            int64_t slot = t * VISCOSITY_BLOCK + n;
            int32_t g = s->labels->label[slot];
            float mass = s->level->weights.mass[n / TILE_CELLS][t * TILE_CELLS + n % TILE_CELLS];
            // Z^T M Z: what resists a free lump, and all that does.
            if (g != NONE && mass > 0.0f) {
                add_mass(s, slot, g, (double)mass);
            }
        }
    }
}

// T^T M T of each body, column by column.
static void add_bodies(assembly* s) {
    for (int32_t b = 0; b < s->map->bodies->count; ++b) {
        int32_t g = s->map->body[b];
        for (int c = 0; c < BLOCK_SIZE && g != NONE; ++c) {
            double unit[BLOCK_SIZE] = {0}, motion[BLOCK_SIZE], push[BLOCK_SIZE];
            double column[BLOCK_SIZE] = {0};
            // A unit motion of the lump moves the body by T, M makes momentum of it, T^T brings it
            // back.
            unit[c] = 1.0;
            lump_map_move_body(s->map, s->level, b, unit, motion);
            mat6_multiply((const double(*)[BODY_MOTIONS])s->map->bodies->at[b].mass, motion, push);
            lump_map_push_body(s->map, s->level, b, push, column);
            for (int r = 0; r < BLOCK_SIZE; ++r) {
                s->diagonal[g].at[r][c] += column[r];
            }
        }
    }
}

// Terms first, then masses of liquid and of bodies.
static treacle_status assemble(assembly* s) {
    tile_ix tiles = s->level->map->count;
    uint8_t* is_used = NULL;
    TREACLE_TRY(alloc_zero(s->ctx, (size_t)tiles, 1, "used tiles", (void**)&is_used));
    for (int64_t u = 0; u < s->map->used; ++u) {
        is_used[s->map->tile[u]] = 1;
    }
    // One thread, in the order of tiles: the sums of E are part of the results' bits.
    treacle_status status = grow(s);
    for (tile_ix t = 0; t < tiles && status == TREACLE_OK; ++t) {
        status = is_near_aggregate(s, t, is_used) ? add_tile(s, t) : TREACLE_OK;
    }
    alloc_free(s->ctx, is_used, (size_t)tiles);
    add_masses(s);
    add_bodies(s);
    return status;
}

treacle_status lump_assembly_factor(const viscosity_level* level, const lump_labels* labels,
                                    const lump_map* map, block_ldl** out) {
    assembly s = {.ctx = level->ctx, .level = level, .labels = labels, .map = map};
    size_t count = (size_t)map->count;
    treacle_status status;
    *out = NULL;
    TREACLE_TRY_GOTO(
        alloc_zero(s.ctx, count, sizeof(ldl_block), "blocks of rigid motions", (void**)&s.diagonal),
        finish);
    TREACLE_TRY_GOTO(assemble(&s), finish);
    ldl_matrix matrix = {.count = map->count,
                         // Lumps that are near one another couple: dissection by their centres
                         // keeps the factor small.
                         .position = (const double(*)[3])map->centre,
                         .entry_count = s.count,
                         .entry = (const int32_t(*)[2])s.entry,
                         .value = s.value,
                         .diagonal = s.diagonal};
    status = block_ldl_create(s.ctx, &matrix, out);
finish:
    alloc_free(s.ctx, s.diagonal, count * sizeof(ldl_block));
    alloc_free(s.ctx, s.entry, (size_t)s.entry_capacity * sizeof(*s.entry));
    alloc_free(s.ctx, s.value, (size_t)s.capacity * sizeof(*s.value));
    alloc_free(s.ctx, s.slot, (size_t)s.slot_count * sizeof(int64_t));
    return status;
}
