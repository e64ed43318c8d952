// Who has the memory when a step has the most of it: bytes a particle, by what they are for.
//
// The dam breaks of bench_step with APIC and with FLIP, and the ball above a pool of
// bench_step_viscous, with viscosity 1.5 m^2/s; each in a context of its own. Bytes are those that
// the library asks for, at the moment when they were the most since the simulation was made. What
// the heap of steps holds beyond that, to be used again, is a row of its own. Names are those under
// which memory is asked for; memory of the scratch arena counts for whoever has it at the peak.
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/ledger.h"
#include "benches.h"

enum { STEPS = 4 };

// Owners with a smaller share than this are summed up.
#define LEAST_SHARE 0.01

typedef struct memory_case {
    const char* name; // with the number of cells to fill in
    int cells;
    bool is_pool;
    treacle_transfer transfer; // of a dam
    double limit;              // bytes a particle, or of all if is_pool; 0: none
} memory_case;

static treacle_status create(treacle_context* ctx, const memory_case* c, treacle_scene** scene,
                             treacle_sim** out) {
    if (!c->is_pool) {
        return bench_create_dam(ctx, c->cells, c->transfer, out);
    }
    char text[1024];
    bench_pool_text(text, sizeof(text), c->cells, 1.5);
    TREACLE_TRY(treacle_scene_parse(ctx, "pool.yaml", text, strlen(text), 0, NULL, scene));
    return treacle_sim_create(ctx, treacle_scene_sim(*scene), out);
}

static void report_total(const bench* b, const char* name, const memory_case* c, double bytes,
                         double particles) {
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "all",
                                 .value = c->is_pool ? bytes * 1e-6 : bytes / particles,
                                 .unit = c->is_pool ? "MB" : "B/part",
                                 .limit = c->limit > 0.0 ? BENCH_VALUE_AT_MOST : BENCH_NO_LIMIT,
                                 .minimum = c->limit});
}

static void report_owners(const bench* b, const char* name, const ledger* l, double particles) {
    int order[LEDGER_OWNERS];
    int count = ledger_rank(l, order);
    double rest = 0.0;
    for (int i = 0; i < count; ++i) {
        const ledger_owner* owner = &l->owner[order[i]];
        double bytes = (double)owner->bytes_at_peak;
        if (bytes < LEAST_SHARE * (double)l->bytes_at_peak) {
            rest += bytes;
            continue;
        }
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = owner->name,
                                     .value = bytes / particles,
                                     .unit = "B/part"});
    }
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "all others",
                                 .value = rest / particles,
                                 .unit = "B/part"});
}

static treacle_status run(const bench* b, treacle_context* ctx, const memory_case* c) {
    char name[64];
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_step_stats stats = {0};
    treacle_status status = create(ctx, c, &scene, &sim);
    for (int i = 0; i < STEPS && status == TREACLE_OK; ++i) {
        status = treacle_sim_step(sim, c->is_pool ? 1.0 / 60 : 1.0, &stats);
    }
    if (status == TREACLE_OK) {
        double particles = (double)stats.particles;
        bench_text(name, sizeof(name), "%s %d^3", c->name, c->cells);
        report_total(b, name, c, (double)ctx->ledger->bytes_at_peak, particles);
        report_owners(b, name, ctx->ledger, particles);
        bench_report(b, &(bench_row){.case_name = name,
                                     .quantity = "held by the heap of steps",
                                     .value = (double)ctx->heap.held / particles,
                                     .unit = "B/part"});
    } else {
        fprintf(stderr, "bench: %s of %d^3 cells: %s\n", c->name, c->cells,
                treacle_context_error(ctx));
    }
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    return status;
}

static treacle_status measure(const bench* b, const memory_case* c) {
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.threads = 1;
    ledger* book = calloc(1, sizeof(*book));
    if (book == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    treacle_status status = treacle_context_create(&def, &ctx);
    if (status == TREACLE_OK) {
        ctx->ledger = book;
        status = run(b, ctx, c);
    }
    treacle_context_destroy(ctx);
    free(book);
    return status;
}

treacle_status bench_memory(bench* b) {
    static const memory_case quick[] = {
        {.name = "APIC dam", .cells = 64, .transfer = TREACLE_TRANSFER_APIC},
        {.name = "FLIP dam", .cells = 64, .transfer = TREACLE_TRANSFER_FLIP},
        {.name = "thick pool", .cells = 64, .is_pool = true},
    };
    static const memory_case full[] = {
        {.name = "APIC dam", .cells = 128, .transfer = TREACLE_TRANSFER_APIC, .limit = 145.0},
        {.name = "FLIP dam", .cells = 128, .transfer = TREACLE_TRANSFER_FLIP, .limit = 90.0},
        {.name = "thick pool", .cells = 128, .is_pool = true, .limit = 900.0},
    };
    enum { CASES = sizeof(quick) / sizeof(quick[0]) };
    for (int i = 0; i < CASES; ++i) {
        TREACLE_TRY(measure(b, &quick[i]));
    }
    for (int i = 0; i < CASES && b->is_full; ++i) {
        TREACLE_TRY(measure(b, &full[i]));
    }
    return TREACLE_OK;
}
