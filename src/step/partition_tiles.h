// Who owns which tiles: shared out anew when the load has drifted.
#pragma once

#include "particles/particles.h"
#include "step/step_frame.h"

/// Changes the domain's keys, and gives particles to whom they then belong, if one rank has much
/// more to do than others. rank_key is NULL where tiles are not shared out.
treacle_status partition_tiles(const step_frame* f, uint64_t* rank_key,
                               particles* p) TREACLE_NODISCARD;
