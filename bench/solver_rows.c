#include "solver_rows.h"

void solver_row_name(const solver_row* row, const char* what, size_t capacity, char* out) {
    char r[32] = "";
    if (row->r > 0.0) {
        bench_text(r, sizeof(r), " r=%g", row->r);
    }
    bench_text(out, capacity, "%s S%d %d^3%s%s", what, (int)row->scene.shape, row->scene.n, r,
               row->has_contrast ? " contrast" : "");
}
