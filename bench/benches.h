// All benches of build/bench.
#pragma once

#include "bench.h"

bench_fcn bench_elastic;
bench_fcn bench_house;
bench_fcn bench_tension;
bench_fcn bench_output;
bench_fcn bench_memory;
bench_fcn bench_mesh;
bench_fcn bench_ranks;
bench_fcn bench_render;
bench_fcn bench_solver;
bench_fcn bench_step;
bench_fcn bench_step_viscous;
bench_fcn bench_pressure;
bench_fcn bench_viscosity;
bench_fcn bench_flow;
bench_fcn bench_unified;
bench_fcn bench_field;
bench_fcn bench_carlson;
bench_fcn bench_coupling;
bench_fcn bench_walls; // part of it
bench_fcn bench_threads;

/// The dam break of bench_step: a unit box of cells^3, 8 particles a cell.
treacle_status bench_create_dam(treacle_context* ctx, int cells, treacle_transfer transfer,
                                treacle_sim** out);
/// The scene of bench_step_viscous with the ball above a pool; needs 1024 bytes.
const char* bench_pool_text(char* buffer, size_t capacity, int cells, double nu);

extern const bench_entry bench_entries[];
extern const int bench_entry_count;
