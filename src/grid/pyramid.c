#include "grid/pyramid.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/tile_ranks.h"

static bool can_halve(const grid_domain* domain, int a) {
    if (domain->is_periodic[a]) {
        return domain->tiles[a] % 2 == 0 && domain->tiles[a] > 2;
    }
    return domain->is_active[a] && domain->tiles[a] > 1;
}

bool pyramid_can_coarsen(const grid_domain* domain, pyramid_rule rule) {
    bool is_blocked = false;
    for (int a = 0; a < AXES; ++a) {
        is_blocked = is_blocked || (domain->is_periodic[a] && !can_halve(domain, a));
    }
    bool is_any = can_halve(domain, 0) || can_halve(domain, 1) || can_halve(domain, 2);
    return is_any && !(rule == PYRAMID_TOGETHER && is_blocked);
}

static void halve_domain(const grid_domain* fine, pyramid_rule rule, pyramid_step* step) {
    step->domain = *fine;
    step->domain.h = 2.0 * fine->h;
    for (int a = 0; a < AXES; ++a) {
        bool is_halved = rule == PYRAMID_TOGETHER ? fine->is_active[a] : can_halve(fine, a);
        step->shift[a] = is_halved ? 1 : 0;
        if (is_halved) {
            step->domain.cells[a] = (fine->cells[a] + 1) / 2;
            step->domain.tiles[a] = (step->domain.cells[a] + TILE_SIZE - 1) / TILE_SIZE;
        }
    }
}

static tile_coord parent_coord(const pyramid_step* step, tile_coord at) {
    for (int a = 0; a < AXES; ++a) {
        at.at[a] >>= step->shift[a];
    }
    return at;
}

static int child_number(const pyramid_step* step, tile_coord at) {
    int o = 0;
    for (int a = 0; a < AXES; ++a) {
        o |= (at.at[a] & step->shift[a]) << a;
    }
    return o;
}

// Appends the parents that a tile reaches to `coords`; with coords NULL it only counts them.
static int64_t list_parents(const grid_domain* domain, const pyramid_step* step, tile_coord at,
                            uint32_t reach, tile_coord* coords) {
    int64_t n = 0;
    for (int k = 0; k < TILE_NEIGHBOURS; ++k) {
        tile_coord c = {{at.at[0] + k % 3 - 1, at.at[1] + k / 3 % 3 - 1, at.at[2] + k / 9 - 1}};
        if ((reach >> k & 1) == 0 || !tile_coord_wrap(domain, &c)) {
            continue;
        }
        if (coords != NULL) {
            coords[n] = parent_coord(step, c);
        }
        ++n;
    }
    return n;
}

static int64_t gather_parents(const grid_domain* domain, const tile_map* map, const uint32_t* reach,
                              const pyramid_step* step, tile_coord* coords) {
    int64_t n = 0;
    for (tile_ix t = 0; t < map->count; ++t) {
        n +=
            list_parents(domain, step, map->coord[t], reach[t], coords == NULL ? NULL : coords + n);
    }
    return n;
}

static treacle_status create_map(treacle_context* ctx, const grid_domain* domain,
                                 const tile_map* map, const uint32_t* reach, pyramid_step* step) {
    int64_t count = gather_parents(domain, map, reach, step, NULL);
    void* coords = NULL;
    TREACLE_TRY(alloc_array(ctx, (size_t)count, sizeof(tile_coord), "coarse tiles", &coords));
    gather_parents(domain, map, reach, step, coords);
    treacle_status status = tile_map_create(ctx, &step->domain, count, coords, &step->map);
    alloc_free(ctx, coords, (size_t)count * sizeof(tile_coord));
    return status;
}

static void link_family(const tile_map* fine, pyramid_step* step) {
    for (tile_ix T = 0; T < step->map.count; ++T) {
        for (int o = 0; o < PYRAMID_CHILDREN; ++o) {
            step->child[T][o] = PYRAMID_NONE;
        }
    }
    for (tile_ix t = 0; t < fine->count; ++t) {
        tile_ix T = tile_map_find(&step->map, parent_coord(step, fine->coord[t]));
        step->parent[t] = T < step->map.count ? T : PYRAMID_NONE;
        if (T < step->map.count) {
            step->child[T][child_number(step, fine->coord[t])] = t;
        }
    }
}

treacle_status pyramid_step_create(treacle_context* ctx, const grid_domain* domain,
                                   const tile_map* map, const uint32_t* reach, pyramid_rule rule,
                                   pyramid_step* out) {
    TREACLE_ASSERT(reach != NULL || map->count == 0);
    TREACLE_ASSERT(pyramid_can_coarsen(domain, rule));
    *out = (pyramid_step){.fine_count = map->count};
    treacle_status status;
    halve_domain(domain, rule, out);
    TREACLE_TRY_GOTO(create_map(ctx, domain, map, reach, out), fail);
    TREACLE_TRY_GOTO(alloc_array(ctx, (size_t)map->count, sizeof(tile_ix), "parents of tiles",
                                 (void**)&out->parent),
                     fail);
    TREACLE_TRY_GOTO(alloc_array(ctx, (size_t)out->map.count, sizeof(*out->child),
                                 "children of tiles", (void**)&out->child),
                     fail);
    link_family(map, out);
    TREACLE_TRY_GOTO(tile_ranks_coarsen(map, out->parent, &out->map), fail);
    return TREACLE_OK;
fail:
    out->map.ctx = ctx;
    pyramid_step_destroy(out);
    return status;
}

// The fine tile at place n around coarse tile T.
static tile_ix find_wide(const pyramid_step* step, const grid_domain* domain, const tile_map* map,
                         tile_ix T, int n) {
    const int offset[AXES] = {n % 4 - 1, n / 4 % 4 - 1, n / 16 - 1};
    tile_coord at = step->map.coord[T];
    for (int a = 0; a < AXES; ++a) {
        at.at[a] = (at.at[a] << step->shift[a]) + offset[a];
        if (step->shift[a] == 0 && offset[a] != 0) {
            return map->count;
        }
    }
    return tile_coord_wrap(domain, &at) ? tile_map_find(map, at) : map->count;
}

treacle_status pyramid_step_widen(pyramid_step* step, const grid_domain* domain,
                                  const tile_map* map) {
    TREACLE_ASSERT(step->wide == NULL);
    TREACLE_ASSERT(step->fine_count == map->count);
    TREACLE_TRY(alloc_array(step->map.ctx, (size_t)step->map.count, sizeof(*step->wide),
                            "tiles around children", (void**)&step->wide));
    for (tile_ix T = 0; T < step->map.count; ++T) {
        for (int n = 0; n < PYRAMID_WIDE; ++n) {
            step->wide[T][n] = find_wide(step, domain, map, T, n);
        }
    }
    return tile_ranks_reach(map, &step->map, &(tile_reach){PYRAMID_WIDE, &step->wide[0][0]},
                            &step->wide_ranks);
}

void pyramid_step_destroy(pyramid_step* step) {
    treacle_context* ctx = step->map.ctx;
    if (ctx == NULL) {
        return;
    }
    alloc_free(ctx, step->parent, (size_t)step->fine_count * sizeof(tile_ix));
    alloc_free(ctx, step->child, (size_t)step->map.count * sizeof(*step->child));
    alloc_free(ctx, step->wide, (size_t)step->map.count * sizeof(*step->wide));
    tile_ranks_free(ctx, step->wide_ranks);
    tile_map_destroy(&step->map);
    *step = (pyramid_step){0};
}

// 0 and 1 in turn; the last tile of an odd period touches the first one and takes 2.
static int axis_colour(const grid_domain* domain, int a, int32_t at) {
    bool is_odd_period = domain->is_periodic[a] && domain->tiles[a] % 2 == 1;
    return is_odd_period && at == domain->tiles[a] - 1 ? 2 : at & 1;
}

static bool has_odd_period(const grid_domain* domain) {
    bool is_odd = false;
    for (int a = 0; a < AXES; ++a) {
        is_odd = is_odd || (domain->is_periodic[a] && domain->tiles[a] % 2 == 1);
    }
    return is_odd;
}

static int pyramid_colour_of(const grid_domain* domain, tile_coord at, tile_contact contact) {
    int c[AXES];
    for (int a = 0; a < AXES; ++a) {
        c[a] = axis_colour(domain, a, at.at[a]);
    }
    if (has_odd_period(domain)) {
        return c[0] + 3 * c[1] + 9 * c[2];
    }
    return contact == TILE_CONTACT_FACE ? (c[0] + c[1] + c[2]) & 1 : c[0] + 2 * c[1] + 4 * c[2];
}

static void sort_by_colour(const grid_domain* domain, const tile_map* map, tile_ix list_count,
                           const tile_ix* list, tile_contact contact, tile_colours* out) {
    tile_ix next[TILE_COLOURS_MAX + 1] = {0};
    for (tile_ix i = 0; i < list_count; ++i) {
        next[pyramid_colour_of(domain, map->coord[list[i]], contact) + 1] += 1;
    }
    for (int c = 0; c < TILE_COLOURS_MAX; ++c) {
        next[c + 1] += next[c];
        out->first[c + 1] = next[c + 1];
    }
    for (tile_ix i = 0; i < list_count; ++i) {
        out->tile[next[pyramid_colour_of(domain, map->coord[list[i]], contact)]++] = list[i];
    }
}

static treacle_status note_colours(const tile_map* map, tile_colours* out) {
    size_t tiles = (size_t)map->count;
    TREACLE_TRY(alloc_array(map->ctx, tiles, 1, "colours of tiles", (void**)&out->of_tile));
    out->map_count = map->count;
    memset(out->of_tile, TILE_COLOURS_MAX, tiles);
    for (int c = 0; c < out->count; ++c) {
        for (tile_ix i = out->first[c]; i < out->first[c + 1]; ++i) {
            out->of_tile[out->tile[i]] = (uint8_t)c;
        }
    }
    return TREACLE_OK;
}

treacle_status tile_colours_create(const grid_domain* domain, const tile_map* map,
                                   tile_ix list_count, const tile_ix* list, tile_contact contact,
                                   tile_colours* out) {
    TREACLE_ASSERT(list_count >= 0 && list_count <= map->count);
    TREACLE_ASSERT(list != NULL || list_count == 0);
    int usual = contact == TILE_CONTACT_FACE ? 2 : 8;
    *out = (tile_colours){.ctx = map->ctx, .tile_count = list_count};
    out->count = has_odd_period(domain) ? TILE_COLOURS_MAX : usual;
    TREACLE_TRY(alloc_array(map->ctx, (size_t)list_count, sizeof(tile_ix), "coloured tiles",
                            (void**)&out->tile));
    sort_by_colour(domain, map, list_count, list, contact, out);
    return map->ranks == NULL ? TREACLE_OK : note_colours(map, out);
}

void tile_colours_destroy(tile_colours* colours) {
    if (colours->ctx != NULL) {
        alloc_free(colours->ctx, colours->tile, (size_t)colours->tile_count * sizeof(tile_ix));
        alloc_free(colours->ctx, colours->of_tile, (size_t)colours->map_count);
    }
    *colours = (tile_colours){0};
}
