// How the rows of bodies are kept. A body pushes at the cells around its surface: a row of six
// numbers a cell. Cells with rows are sites, sorted so that all red ones come first, each with its
// neighbours' places and links at hand. Rows lie by body, for sums of J x over a body, and an index
// by site leads from a cell to its rows, for J^T lambda at a cell. Sums over a body are cut into
// chunks of one colour and at most 256 rows, by number and not by thread, so that their order never
// changes. For each colour K = M + J D^-1 J^T is factored once (block_ldl.c); a sweep then solves
// for all sites of that colour and for all bodies exactly. Coarse levels get summed rows and the
// same masses.
#include "solve/body_term.h"

#include <string.h>

#include "base/alloc.h"
#include "base/exact_sum.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "solve/policy.h"

enum { ROW = TILE_SIZE, LAYER = TILE_SIZE * TILE_SIZE, CHUNK_ROWS = 256 };

// ---- Rows on their way from level to level ----------------------------------------------------

// Rows of all bodies, those of one in order of slots.
typedef struct row_list {
    int64_t count;
    int64_t* slot;
    double (*row)[BODY_MOTIONS];
    int64_t* first; // [body_count + 1]
} row_list;

// Slots and rows of one body after the other; first[b] .. first[b + 1] are those of body b.
static treacle_status list_create(treacle_context* ctx, int64_t rows, int32_t bodies,
                                  row_list* out) {
    // Coarse levels have at most the rows of the finer one: lists are made at that size and cut.
    *out = (row_list){.count = rows};
    TREACLE_TRY(
        alloc_zero(ctx, (size_t)rows, sizeof(int64_t), "rows of bodies", (void**)&out->slot));
    TREACLE_TRY(
        alloc_zero(ctx, (size_t)rows, sizeof(*out->row), "rows of bodies", (void**)&out->row));
    return alloc_zero(ctx, (size_t)bodies + 1, sizeof(int64_t), "rows of bodies",
                      (void**)&out->first);
}

static void list_destroy(treacle_context* ctx, row_list* list, int32_t bodies) {
    alloc_free(ctx, list->slot, (size_t)list->count * sizeof(int64_t));
    alloc_free(ctx, list->row, (size_t)list->count * sizeof(*list->row));
    alloc_free(ctx, list->first, ((size_t)bodies + 1) * sizeof(int64_t));
}

// The largest of the six numbers in magnitude. Lengths and angles are both in cells here, so they
// may be compared.
static double row_size(const double row[BODY_MOTIONS]) {
    double size = 0.0;
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        size = row[i] > size ? row[i] : -row[i] > size ? -row[i] : size;
    }
    return size;
}

// Keeps the rows begin .. end of body b that say something about an unknown.
static void keep_rows(row_list* list, int32_t b, int64_t end, const pressure_level* level) {
    int64_t to = list->first[b];
    // Sums over a block may cancel: a body in the middle of it pushes both ways. What is left then
    // is rounding, and would make a site of a cell that no body moves.
    double largest = 0.0, floor = solve_policy_default()->rounding.body_row;
    for (int64_t n = to; n < end; ++n) {
        double size = row_size(list->row[n]);
        largest = size > largest ? size : largest;
    }
    for (int64_t n = to; n < end; ++n) {
        if (level->inverse[list->slot[n]] > 0.0f && row_size(list->row[n]) > floor * largest) {
            list->slot[to] = list->slot[n];
            memmove(list->row[to], list->row[n], sizeof(*list->row));
            to += 1;
        }
    }
    list->first[b + 1] = to;
}

// ---- Sites ----------------------------------------------------------------------------------

static int64_t body_term_colour_of(int64_t slot) {
    int64_t cell = slot % TILE_CELLS;
    // Tiles have an even number of cells a side, so the parity within a tile is that of the grid.
    return (cell + cell / ROW + cell / LAYER) & 1;
}

// Sorts by colour, then by slot.
// A bit above all slots: red cells come first, and each colour in order of slots.
#define BLACK ((int64_t)1 << 62)
static int64_t key_of(int64_t slot) {
    return body_term_colour_of(slot) * BLACK + slot;
}

static int compare_keys(const void* a, const void* b) {
    int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

// Sorts and drops repetitions: a cell that two bodies touch is one site with two rows.
static int64_t unique_keys(int64_t* key, int64_t count) {
    int64_t kept = 0;
    sort_items(key, (size_t)count, sizeof(*key), compare_keys);
    for (int64_t n = 0; n < count; ++n) {
        if (n == 0 || key[n] != key[n - 1]) {
            key[kept++] = key[n];
        }
    }
    return kept;
}

// Cell one up or down along an axis; the zero tile where there is no tile.
static int64_t neighbour(const tile_map* map, int64_t slot, int axis, int by) {
    static const int stride[AXES] = {1, ROW, LAYER};
    int64_t t = slot / TILE_CELLS, cell = slot % TILE_CELLS;
    int at = (int)(cell / stride[axis]) % TILE_SIZE + by;
    int step[AXES] = {0, 0, 0};
    // Across a tile's side the cell is the other end of the neighbour's row; without a neighbour it
    // is in the zero tile, where x is zero.
    if (at >= 0 && at < TILE_SIZE) {
        return slot + by * stride[axis];
    }
    step[axis] = by;
    int64_t next = map->neighbour[t][TILE_NEIGHBOUR(step[0], step[1], step[2])];
    return next * TILE_CELLS + cell - by * (TILE_SIZE - 1) * stride[axis];
}

// The weight between a cell and the one below it along the axis; none beyond the tiles that exist,
// where the zero tile stands in.
static float low_link(const pressure_level* level, int64_t slot, int axis) {
    int64_t t = slot / TILE_CELLS, cell = slot % TILE_CELLS;
    if (t >= level->map->count) {
        return 0.0f;
    }
    return axis == 0
               ? level->link_x[t * PRESSURE_PADDED_TILE + cell / ROW * PRESSURE_PADDED + cell % ROW]
               : level->link[axis][slot];
}

// A site has all of its equation that is not a body's, so that a relaxation of it reads one record
// and no fields: its neighbours' places, the six links, the extra and the inverse of the diagonal.
static void fill_site(const pressure_level* level, body_site* site, int64_t slot) {
    *site = (body_site){.slot = slot, .extra = level->extra[slot], .inverse = level->inverse[slot]};
    for (int a = 0; a < AXES; ++a) {
        site->near[2 * a] = neighbour(level->map, slot, a, -1);
        site->near[2 * a + 1] = neighbour(level->map, slot, a, 1);
        site->link[2 * a] = low_link(level, slot, a);
        // A link is kept at its high cell: that of the high face by the next one.
        site->link[2 * a + 1] = low_link(level, site->near[2 * a + 1], a);
    }
}

// The place of a key in a sorted list, by halving.
static int64_t find_site(const int64_t* key, int64_t count, int64_t wanted) {
    // It is there, so no search ends without it.
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (key[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Rows by body and site, and the same by site.
// Two orders of the same rows: by body for sums, by site for pulls. Both are stable.
static void sort_rows(body_term* term, const row_list* list, const int64_t* key) {
    int64_t n = 0;
    for (int32_t b = 0; b < term->body_count; ++b) {
        // Red rows of each body come first: chunks are then of one colour, without a look at every
        // row.
        term->first_row[b] = n;
        for (int64_t colour = 0; colour < 2; ++colour) {
            for (int64_t i = list->first[b]; i < list->first[b + 1]; ++i) {
                if (body_term_colour_of(list->slot[i]) == colour) {
                    memcpy(term->row[n], list->row[i], sizeof(*term->row));
                    term->row_site[n] = find_site(key, term->site_count, key_of(list->slot[i]));
                    term->row_body[n++] = b;
                }
            }
        }
    }
    term->first_row[term->body_count] = n;
    for (int64_t i = 0; i < n; ++i) {
        // Counted one place up, added up, and filled from the last on, so that each place ends as
        // the start of its site.
        term->site[term->row_site[i] + 1].first_entry += 1;
    }
    for (int64_t s = 0; s < term->site_count; ++s) {
        term->site[s + 1].first_entry += term->site[s].first_entry;
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        term->entry[--term->site[term->row_site[i] + 1].first_entry] = i;
    }
    for (int64_t s = 0; s < term->site_count; ++s) {
        term->site[s].first_entry = term->site[s + 1].first_entry;
    }
    term->site[term->site_count].first_entry = n;
}

// Cuts the rows of one colour into chunks, or only counts them.
// A chunk is what one thread sums without being asked again; its size is a constant, not a function
// of threads.
static int64_t cut_chunks(const body_term* term, int colour, body_chunk* out) {
    int64_t count = 0;
    for (int32_t b = 0; b < term->body_count; ++b) {
        int64_t begin = term->first_row[b], end = term->first_row[b + 1], middle = begin;
        // Red sites have the lower numbers.
        while (middle < end && term->row_site[middle] < term->red_count) {
            middle += 1;
        }
        begin = colour == 0 ? begin : middle;
        end = colour == 0 ? middle : end;
        for (int64_t n = begin; n < end; n += CHUNK_ROWS) {
            int64_t stop = n + CHUNK_ROWS < end ? n + CHUNK_ROWS : end;
            if (out != NULL) {
                out[count] = (body_chunk){b, n, stop};
            }
            count += 1;
        }
    }
    return count;
}

// ---- Coupling of bodies -----------------------------------------------------------------------

static int64_t pair_of(const body_term* term, int64_t row, int64_t column) {
    int64_t b = term->row_body[row], c = term->row_body[column];
    // One number for a pair, larger body first: the lower triangle.
    return b > c ? b * term->body_count + c : c * term->body_count + b;
}

typedef struct pair_list {
    int64_t room, count;
    int64_t* pair; // row body * body_count + column body, ascending
    int32_t (*entry)[2];
    ldl_block* value;
    ldl_block* diagonal;
    double (*position)[3];
} pair_list;

// Lists the pairs of bodies at every site, or only counts them.
// Bodies couple where they have a site in common: in the gap between them.
static int64_t visit_pairs(const body_term* term, int64_t* out) {
    int64_t count = 0;
    for (int64_t s = 0; s < term->site_count; ++s) {
        for (int64_t i = term->site[s].first_entry; i < term->site[s + 1].first_entry; ++i) {
            // Sites where bodies meet are few, so pairs repeat little, and a sort makes them
            // unique.
            for (int64_t j = term->site[s].first_entry; j < i; ++j) {
                if (out != NULL) {
                    out[count] = pair_of(term, term->entry[i], term->entry[j]);
                }
                count += 1;
            }
        }
    }
    return count;
}

// to += scale row^T column, an outer product of two rows of six.
static void add_product(ldl_block* to, double scale, const double* row, const double* column) {
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        for (int j = 0; j < BODY_MOTIONS; ++j) {
            to->at[i][j] += scale * row[i] * column[j];
        }
    }
}

static void add_site(const body_term* term, const pair_list* pairs, const body_site* site) {
    // J D^-1 J^T of a site: D is diagonal within a colour, so sites add up.
    double inverse = (double)site->inverse;
    for (int64_t i = site->first_entry; i < site[1].first_entry; ++i) {
        int64_t row = term->entry[i];
        add_product(&pairs->diagonal[term->row_body[row]], inverse, term->row[row], term->row[row]);
        for (int64_t j = site->first_entry; j < i; ++j) {
            int64_t column = term->entry[j];
            int64_t at = find_site(pairs->pair, pairs->count, pair_of(term, row, column));
            add_product(&pairs->value[at], inverse, term->row[row], term->row[column]);
        }
    }
}

static void start_pairs(const body_term* term, const pair_list* pairs) {
    for (int64_t n = 0; n < pairs->count; ++n) {
        pairs->entry[n][0] = (int32_t)(pairs->pair[n] / term->body_count);
        pairs->entry[n][1] = (int32_t)(pairs->pair[n] % term->body_count);
        pairs->value[n] = (ldl_block){0};
    }
    for (int32_t b = 0; b < term->body_count; ++b) {
        pairs->diagonal[b] = (ldl_block){0};
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            // K begins as M, and gets the sites of its colour.
            memcpy(pairs->diagonal[b].at[i], term->masses[b].mass[i],
                   BODY_MOTIONS * sizeof(double));
        }
        // Any position will do for the order of elimination; that of a site keeps neighbours near.
        int64_t first = term->first_row[b];
        bool has_rows = first < term->first_row[b + 1];
        int64_t slot = has_rows ? term->site[term->row_site[first]].slot : 0;
        for (int a = 0; a < AXES; ++a) {
            pairs->position[b][a] = (double)(slot / TILE_CELLS) + (a == 0 ? 1e-3 * b : 0.0);
        }
    }
}

// With all cells of one colour eliminated at once, x = D^-1 (b - J^T lambda), what is left for the
// bodies is (M + J D^-1 J^T) lambda = J D^-1 b: the matrix K that is factored here. Its blocks are
// pairs of bodies that have a cell in common, so it is sparse unless bodies are packed.
static treacle_status factor_colour(body_term* term, const pair_list* pairs, int colour) {
    start_pairs(term, pairs);
    int64_t begin = colour == 0 ? 0 : term->red_count;
    int64_t end = colour == 0 ? term->red_count : term->site_count;
    for (int64_t s = begin; s < end; ++s) {
        add_site(term, pairs, &term->site[s]);
    }
    ldl_matrix matrix = {.count = term->body_count,
                         .position = (const double(*)[3])pairs->position,
                         .entry_count = pairs->count,
                         .entry = (const int32_t(*)[2])pairs->entry,
                         .value = pairs->value,
                         .diagonal = pairs->diagonal};
    return block_ldl_create(term->ctx, &matrix, &term->coupling[colour]);
}

// Red and black cells are relaxed one after the other and never together, so each colour has a K of
// its own, from its own sites. Masses enter both: a body answers to either colour as a whole.
static treacle_status factor(body_term* term) {
    treacle_context* ctx = term->ctx;
    size_t bodies = (size_t)term->body_count;
    pair_list pairs = {.room = visit_pairs(term, NULL)};
    size_t room = (size_t)pairs.room;
    treacle_status status;
    TREACLE_TRY_GOTO(
        alloc_array(ctx, room, sizeof(int64_t), "pairs of bodies", (void**)&pairs.pair), finish);
    TREACLE_TRY_GOTO(
        alloc_array(ctx, bodies, sizeof(ldl_block), "pairs of bodies", (void**)&pairs.diagonal),
        finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, bodies, sizeof(*pairs.position), "pairs of bodies",
                                 (void**)&pairs.position),
                     finish);
    visit_pairs(term, pairs.pair);
    pairs.count = unique_keys(pairs.pair, pairs.room);
    TREACLE_TRY_GOTO(alloc_array(ctx, (size_t)pairs.count, sizeof(*pairs.entry), "pairs of bodies",
                                 (void**)&pairs.entry),
                     finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, (size_t)pairs.count, sizeof(ldl_block), "pairs of bodies",
                                 (void**)&pairs.value),
                     finish);
    // The same pairs for both, of which one colour may leave some empty.
    for (int colour = 0; colour < 2; ++colour) {
        TREACLE_TRY_GOTO(factor_colour(term, &pairs, colour), finish);
    }
finish:
    alloc_free(ctx, pairs.pair, room * sizeof(int64_t));
    alloc_free(ctx, pairs.diagonal, bodies * sizeof(ldl_block));
    alloc_free(ctx, pairs.position, bodies * sizeof(*pairs.position));
    alloc_free(ctx, pairs.entry, (size_t)pairs.count * sizeof(*pairs.entry));
    alloc_free(ctx, pairs.value, (size_t)pairs.count * sizeof(ldl_block));
    return status;
}

// ---- Making ---------------------------------------------------------------------------------

// The next array in the term's memory; while there is none, only counts the bytes.
static void* carve(body_term* term, size_t* used, size_t count, size_t item_bytes) {
    size_t begin = *used;
    // One allocation for all arrays of a level, each at the start of a cache line.
    *used += (count * item_bytes + 63) / 64 * 64;
    return term->memory != NULL ? term->memory + begin : NULL;
}

// The order here is that of the pointers in body_term; only their places change from level to
// level.
static size_t carve_all(body_term* term) {
    size_t used = 0, bodies = (size_t)term->body_count, rows = (size_t)term->row_count;
    // Each body may end a chunk of each colour early.
    size_t chunks = rows / CHUNK_ROWS + 2 * bodies + 1;
    term->row = carve(term, &used, rows, sizeof(*term->row));
    term->row_site = carve(term, &used, rows, sizeof(int64_t));
    term->row_body = carve(term, &used, rows, sizeof(int32_t));
    term->first_row = carve(term, &used, bodies + 1, sizeof(int64_t));
    term->site = carve(term, &used, (size_t)term->site_count + 1, sizeof(body_site));
    term->entry = carve(term, &used, rows, sizeof(int64_t));
    term->chunk = carve(term, &used, chunks, sizeof(body_chunk));
    term->chunk_sum = carve(term, &used, chunks, sizeof(*term->chunk_sum));
    term->value = carve(term, &used, (size_t)term->site_count, sizeof(double));
    term->lambda = carve(term, &used, bodies, sizeof(*term->lambda));
    term->sum = carve(term, &used, bodies, sizeof(*term->sum));
    return used;
}

// Keys of sites come sorted with all red ones first, so one number, red_count, tells colours apart.
static void count_sites(body_term* term, int64_t* key, const row_list* list) {
    int64_t n = 0;
    for (int32_t b = 0; b < term->body_count; ++b) {
        for (int64_t i = list->first[b]; i < list->first[b + 1]; ++i) {
            key[n++] = key_of(list->slot[i]);
        }
    }
    term->row_count = n;
    term->site_count = unique_keys(key, n);
    while (term->red_count < term->site_count && key[term->red_count] < BLACK) {
        term->red_count += 1;
    }
}

static treacle_status body_term_fill(body_term* term, const pressure_level* level,
                                     const row_list* list, int64_t* key) {
    count_sites(term, key, list);
    // Twice the same walk: bytes first, then places.
    size_t bytes = carve_all(term);
    TREACLE_TRY(alloc_zero(term->ctx, bytes, 1, "terms of bodies", (void**)&term->memory));
    term->bytes = bytes;
    carve_all(term);
    for (int64_t s = 0; s < term->site_count; ++s) {
        fill_site(level, &term->site[s], key[s] % BLACK);
    }
    sort_rows(term, list, key);
    term->red_chunk_count = cut_chunks(term, 0, term->chunk);
    term->chunk_count =
        term->red_chunk_count + cut_chunks(term, 1, term->chunk + term->red_chunk_count);
    return factor(term);
}

// Makes a term of rows that are no longer needed then. term->masses must be set.
// Nothing of the list is kept: rows are copied into the term's own order.
static treacle_status body_term_build(body_term* term, const pressure_level* level,
                                      const row_list* list) {
    int64_t* key = NULL;
    TREACLE_TRY(
        alloc_array(term->ctx, (size_t)list->count, sizeof(*key), "sites of bodies", (void**)&key));
    treacle_status status = body_term_fill(term, level, list, key);
    alloc_free(term->ctx, key, (size_t)list->count * sizeof(*key));
    return status;
}

// mass = (inverse + a little on the diagonal)^-1.
static void invert_mass(body_masses* m) {
    double held[BODY_MOTIONS][BODY_MOTIONS], largest = 0.0;
    double floor = solve_policy_default()->rounding.body_mass;
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        largest = m->inverse[i][i] > largest ? m->inverse[i][i] : largest;
    }
    // A body that cannot turn, or not move, has an inverse mass without an inverse: a little on its
    // diagonal makes its mass very large instead of infinite.
    memcpy(held, m->inverse, sizeof(held));
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        held[i][i] += largest > 0.0 ? floor * largest : 1.0;
    }
    mat6_invert((const double(*)[BODY_MOTIONS])held, m->mass);
}

static treacle_status term_create(treacle_context* ctx, int32_t body_count, body_term** out) {
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(body_term), "terms of bodies", (void**)out));
    (*out)->ctx = ctx;
    (*out)->body_count = body_count;
    return TREACLE_OK;
}

// The caller's rows, body by body; those at cells that are no unknowns have no one to push and go.
static void copy_rows(const pressure_level* level, int32_t body_count, const solve_body* bodies,
                      row_list* list) {
    for (int32_t b = 0; b < body_count; ++b) {
        size_t count = (size_t)bodies[b].row_count;
        memcpy(list->slot + list->first[b], bodies[b].slot, count * sizeof(int64_t));
        memcpy(list->row + list->first[b], bodies[b].row, count * sizeof(*list->row));
        keep_rows(list, b, list->first[b] + bodies[b].row_count, level);
    }
}

// Masses belong to the finest level and are lent to all others: coarsening a row changes where a
// body acts, never how heavy it is.
static treacle_status create_finest(body_term* term, const pressure_level* level,
                                    const solve_body* bodies, row_list* list) {
    int64_t rows = 0;
    TREACLE_TRY(alloc_zero(term->ctx, (size_t)term->body_count, sizeof(body_masses),
                           "masses of bodies", (void**)&term->own_masses));
    term->masses = term->own_masses;
    for (int32_t b = 0; b < term->body_count; ++b) {
        memcpy(term->own_masses[b].inverse, bodies[b].inverse_mass, sizeof(bodies[b].inverse_mass));
        invert_mass(&term->own_masses[b]);
        rows += bodies[b].row_count;
    }
    TREACLE_TRY(list_create(term->ctx, rows, term->body_count, list));
    copy_rows(level, term->body_count, bodies, list);
    return body_term_build(term, level, list);
}

treacle_status body_term_create(const pressure_level* level, int32_t body_count,
                                const solve_body* bodies, body_term** out) {
    TREACLE_ASSERT(body_count > 0 && bodies != NULL);
    row_list list = {0};
    TREACLE_TRY(term_create(level->ctx, body_count, out));
    treacle_status status = create_finest(*out, level, bodies, &list);
    list_destroy(level->ctx, &list, body_count);
    if (status != TREACLE_OK) {
        body_term_destroy(*out);
        *out = NULL;
    }
    return status;
}

// Slot of the coarse cell that holds a fine one.
static int64_t parent_slot(const pressure_level* fine, const pressure_level* coarse, int64_t slot) {
    const pyramid_step* step = &coarse->step;
    static const int stride[AXES] = {1, ROW, LAYER};
    int64_t t = slot / TILE_CELLS, out = (int64_t)step->parent[t] * TILE_CELLS;
    for (int a = 0; a < AXES; ++a) {
        int at = (int)(slot % TILE_CELLS) / stride[a] % TILE_SIZE;
        int half = (fine->map->coord[t].at[a] & 1) * (TILE_SIZE / 2) + (at >> 1);
        out += (step->shift[a] != 0 ? half : at) * stride[a];
    }
    return out;
}

typedef struct row_key {
    int64_t slot, row;
} row_key;

static int compare_row_keys(const void* a, const void* b) {
    const row_key *x = a, *y = b;
    int order = (x->slot > y->slot) - (x->slot < y->slot);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

// Sums the rows of a body over coarse cells, in the order of the fine ones.
static void sum_rows(const body_term* from, int32_t b, const row_key* key, row_list* list) {
    int64_t end = list->first[b] - 1, count = from->first_row[b + 1] - from->first_row[b];
    for (int64_t n = 0; n < count; ++n) {
        if (n == 0 || key[n].slot != key[n - 1].slot) {
            end += 1;
            list->slot[end] = key[n].slot;
            memset(list->row[end], 0, sizeof(*list->row));
        }
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            list->row[end][i] += from->row[key[n].row][i];
        }
    }
    list->first[b + 1] = end + 1;
}

// The coarse operator of a body is P^T J^T M^-1 J P with constant blocks: rows are summed over
// blocks and nothing else changes. Where all of a body lies in one block its rows cancel, and it is
// gone from the coarse level, as it must: a constant pressure moves no body.
static void aggregate_rows(const pressure_level* fine, const pressure_level* coarse, row_key* key,
                           row_list* list) {
    const body_term* from = fine->bodies;
    for (int32_t b = 0; b < from->body_count; ++b) {
        int64_t begin = from->first_row[b], count = from->first_row[b + 1] - begin;
        for (int64_t n = 0; n < count; ++n) {
            int64_t slot = from->site[from->row_site[begin + n]].slot;
            key[n] = (row_key){parent_slot(fine, coarse, slot), begin + n};
        }
        sort_items(key, (size_t)count, sizeof(*key), compare_row_keys);
        sum_rows(from, b, key, list);
        keep_rows(list, b, list->first[b + 1], coarse);
    }
}

treacle_status body_term_coarsen(const pressure_level* fine, const pressure_level* coarse,
                                 body_term** out) {
    TREACLE_ASSERT(fine->bodies != NULL);
    treacle_context* ctx = fine->ctx;
    const body_term* from = fine->bodies;
    size_t rows = (size_t)from->row_count;
    row_list list = {0};
    row_key* key = NULL;
    treacle_status status;
    TREACLE_TRY(term_create(ctx, from->body_count, out));
    (*out)->masses = from->masses;
    TREACLE_TRY_GOTO(alloc_array(ctx, rows, sizeof(*key), "sites of bodies", (void**)&key), finish);
    TREACLE_TRY_GOTO(list_create(ctx, from->row_count, from->body_count, &list), finish);
    aggregate_rows(fine, coarse, key, &list);
    status = body_term_build(*out, coarse, &list);
finish:
    alloc_free(ctx, key, rows * sizeof(*key));
    list_destroy(ctx, &list, from->body_count);
    if (status != TREACLE_OK) {
        body_term_destroy(*out);
        *out = NULL;
    }
    return status;
}

void body_term_destroy(body_term* term) {
    if (term == NULL) {
        return;
    }
    block_ldl_destroy(term->coupling[0]);
    block_ldl_destroy(term->coupling[1]);
    alloc_free(term->ctx, term->memory, term->bytes);
    alloc_free(term->ctx, term->own_masses, (size_t)term->body_count * sizeof(body_masses));
    alloc_free(term->ctx, term, sizeof(*term));
}
