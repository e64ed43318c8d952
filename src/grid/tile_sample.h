// Values of a field between its samples, anywhere in the domain.
#pragma once

#include "grid/stagger.h"
#include "grid/tile_map.h"

/// A field, and the tile that was read last: points near each other ask for the same ones.
typedef struct tile_sampler {
    const grid_domain* domain;
    const tile_map* map;
    grid_place place;
    const float* values; // [count + 1][512]; tiles that do not exist read as the dummy
    tile_coord last;
    tile_ix last_tile; // where `last` is; -1: nothing was read yet
} tile_sampler;

static inline tile_sampler tile_sampler_of(const grid_domain* domain, const tile_map* map,
                                           grid_place place, const float* values) {
    return (tile_sampler){
        .domain = domain, .map = map, .place = place, .values = values, .last_tile = -1};
}

/// The value at x, in cells from the low corner of the tile at `home` (which need not exist),
/// linear along every active axis. Beyond the sides the last sample goes on; periodic axes wrap.
float tile_sample(tile_sampler* s, tile_coord home, const float x[AXES]);
/// The same along the cubic through the four samples around the point, along each axis. Of the two
/// bends that make it, second differences, none counts more than twice the other, and none if they
/// differ in sign: a kink bends nothing.
float tile_sample_smooth(tile_sampler* s, tile_coord home, const float x[AXES]);
/// The sample of a cell of the domain, by the same rules.
float tile_sample_at(tile_sampler* s, const int at[AXES]);
