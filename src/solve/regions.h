// Connected regions of cells that nothing holds: where the operator has a null space.
//
// Cells are connected when the link of their common face is positive. A region none of whose cells
// has an extra diagonal is closed: adding a constant to it changes nothing, and a right-hand side
// can be met only if its sum over the region is zero.
#pragma once

#include "solve/pressure_level.h"

enum { REGION_NONE = -1, REGION_MIXED = -2 };

typedef struct region_set {
    treacle_context* ctx;
    const vec_space* space;
    const tile_map* map;
    int32_t count;       // regions: the closed ones, or all
    int32_t* tile_label; // [tile]: the one region in it, REGION_NONE or REGION_MIXED
    int32_t* label;      // [tile][512], or REGION_NONE; NULL when there are no regions
    double* size;        // [count], cells
    int32_t held_count;  // directions among the constants that something holds
    int32_t held_room;
    double* held; // [held_room][count], orthonormal, scaled by the root of the sizes
} region_set;

/// Finds the closed regions of a level. They are numbered by their first cell.
treacle_status regions_create(const pressure_level* level, region_set* out) TREACLE_NODISCARD;
/// Finds all regions, open ones too.
treacle_status regions_create_all(const pressure_level* level, region_set* out) TREACLE_NODISCARD;
void regions_destroy(region_set* set);

/// sum[r] = the sum of v over region r.
treacle_status regions_sum(const region_set* set, const double* v, double* sum) TREACLE_NODISCARD;

/// Terms beyond the level's may hold constants: row[n][r] is what a term makes of the constant one
/// in region r. From then on only combinations of constants that no row sees are taken out. A row
/// below `floor[n]` sees nothing.
treacle_status regions_hold(region_set* set, int32_t row_count, const double* row,
                            const double* floor) TREACLE_NODISCARD;
/// Subtracts from v its mean over each closed region.
treacle_status regions_project(const region_set* set, double* v) TREACLE_NODISCARD;
/// The same; *dropped = the largest of what it subtracts, in size.
treacle_status regions_project_told(const region_set* set, double* v,
                                    double* dropped) TREACLE_NODISCARD;
