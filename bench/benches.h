// All benches of build/bench.
#pragma once

#include "bench.h"

bench_fcn bench_elastic;
bench_fcn bench_house;
bench_fcn bench_tension;
bench_fcn bench_output;
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

extern const bench_entry bench_entries[];
extern const int bench_entry_count;
