// Loops over the tiles of sorted particles in which every rank does its own; see grid/tile_ranks.h.
#pragma once

#include "grid/tile_ranks.h"
#include "particles/particles.h"

/// The groups whose tiles are one's own; all of them where tiles are not shared out.
tile_range particle_ranks_own(const grid_domain* domain, const particles* p);
/// parallel_for over one's own groups.
void particle_ranks_for(const grid_domain* domain, const particles* p, int64_t grain,
                        parallel_fcn* fcn, void* data);
/// What the owners of rows have in `data`, row_bytes a row, comes to all.
void particle_ranks_gather(const grid_domain* domain, const particles* p, void* data,
                           size_t row_bytes);
/// The same for a column; harmless where it is not there.
void particle_ranks_gather_column(const grid_domain* domain, const particles* p,
                                  particle_column column);
