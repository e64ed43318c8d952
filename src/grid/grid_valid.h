// Whether the grid is what its headers say it is: for builds with assertions, which ask between the
// stages of a step (base/check.h), and for tests. They only read, on the thread that asks.
#pragma once

#include "grid/tile_map.h"

/// Extent, tiles, active and periodic axes agree with each other.
bool grid_domain_is_valid(const grid_domain* domain);
/// Tiles are those that the domain allows, in Morton order, none twice; the hash table finds each
/// of them; neighbours are the tiles next door, and a tile is the neighbour of its neighbours.
bool tile_map_is_valid(const tile_map* map, const grid_domain* domain);
/// Keys, [ranks + 1], that go from 0 to UINT64_MAX and never back, in whole families of eight
/// tiles.
bool partition_is_valid(int ranks, const uint64_t* rank_key);
/// The ranks of a map, if it has any, own all of its tiles, each once, and ghosts are of others.
bool tile_ranks_are_valid(const tile_map* map);
/// Whether all values of the tiles that this rank holds are finite numbers.
bool tile_field_is_finite(const tile_map* map, const float* field);
