#include "benches.h"

const bench_entry bench_entries[] = {
    {"house", 10, "frame files against memcpy, sorting, exact sums", bench_house},
    {"step", 200, "a step of dam breaks by stage: growth, speed-up, bandwidth, memory", bench_step},
    {"step-viscous", 200, "the whole step of thick liquids, and the sheet of the paper",
     bench_step_viscous},
    {"memory", 60, "bytes a particle at the peak of a step, by what they are for", bench_memory},
    {"output", 40, "a run with its files against its steps alone; bytes of a frame", bench_output},
    {"elastic", 60, "a step of goop against one without elasticity; the thesis' cube",
     bench_elastic},
    {"tension", 30, "a step with surface tension against one without, and its iterations",
     bench_tension},
    {"solver", 400, "pressure, viscosity and both together against other methods", bench_solver},
    {"pressure", 60, "pressure against incomplete Cholesky", bench_pressure},
    {"viscosity", 800, "flow of thick liquid and its viscosity against incomplete Cholesky",
     bench_viscosity},
    {"flow", 300, "the flow of thick liquid, split and unified, against incomplete Cholesky",
     bench_flow},
    {"threads", 30, "two threads against one, share of bandwidth, small systems", bench_threads},
    {"unified", 90, "velocity and pressure together against the split", bench_unified},
    {"field", 60, "the benchmark of Shao, Huang and Michels: drop and tank", bench_field},
    {"coupling", 120, "rigid bodies, walls that let go, the scenes of the paper", bench_coupling},
    {"carlson", 200, "the animations of Carlson et al., whole, beside their table 1",
     bench_carlson},
    {"ranks", 200, "two ranks against two threads, exchange, cost of a particle, memory",
     bench_ranks},
    {"mesh", 20, "surfaces from particles: triangles a second, growth", bench_mesh},
    {"render", 400, "the path tracer against Embree alone, and pictures against Cycles",
     bench_render},
};

const int bench_entry_count = sizeof(bench_entries) / sizeof(bench_entries[0]);
