// One rank.
#include "base/comm.h"

#include <stdlib.h>

// Ranks that a launcher has started, as far as its environment tells.
static long launched(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    long most = 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const char* text = getenv(names[i]);
        long count = text == NULL ? 1 : strtol(text, NULL, 10);
        most = count > most ? count : most;
    }
    return most;
}

treacle_status comm_open(treacle_context* ctx) {
    if (ctx->def.ranks && launched() > 1) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "%ld ranks were started, but this treacle is built without MPI; build "
                          "it with -DTREACLE_MPI=ON",
                          launched());
    }
    return TREACLE_OK;
}

void comm_close(treacle_context* ctx) {
    (void)ctx;
}

int comm_rank(const treacle_context* ctx) {
    (void)ctx;
    return 0;
}

int comm_size(const treacle_context* ctx) {
    (void)ctx;
    return 1;
}

int comm_size_here(const treacle_context* ctx) {
    (void)ctx;
    return 1;
}

void comm_barrier(treacle_context* ctx) {
    (void)ctx;
}

void comm_sum_i64(treacle_context* ctx, int64_t* values, int count) {
    TREACLE_ASSERT(count >= 0);
    (void)ctx;
    (void)values;
    (void)count;
}

void comm_sum_u32(treacle_context* ctx, uint32_t* values, int64_t count) {
    TREACLE_ASSERT(count >= 0);
    (void)ctx;
    (void)values;
    (void)count;
}

void comm_max_i64(treacle_context* ctx, int64_t* values, int count) {
    TREACLE_ASSERT(count >= 0);
    (void)ctx;
    (void)values;
    (void)count;
}

void comm_max_f64(treacle_context* ctx, double* values, int count) {
    TREACLE_ASSERT(count >= 0);
    (void)ctx;
    (void)values;
    (void)count;
}

void comm_sum_exact(treacle_context* ctx, exact_sum* sums, int count) {
    TREACLE_ASSERT(count >= 0);
    (void)ctx;
    (void)sums;
    (void)count;
}

void comm_broadcast(treacle_context* ctx, int from, void* data, size_t bytes) {
    TREACLE_ASSERT(from == 0);
    (void)ctx;
    (void)from;
    (void)data;
    (void)bytes;
}

void comm_gather(treacle_context* ctx, void* data, size_t item_bytes, const int64_t* first) {
    TREACLE_ASSERT(first[0] == 0);
    (void)ctx;
    (void)data;
    (void)item_bytes;
    (void)first;
}

void comm_exchange(treacle_context* ctx, int peer_count, const comm_peer* peers,
                   const comm_items* items) {
    TREACLE_ASSERT(peer_count == 0);
    (void)ctx;
    (void)peer_count;
    (void)peers;
    (void)items;
}

void comm_trade(treacle_context* ctx, int count, const comm_parcel* parcels) {
    TREACLE_ASSERT(count == 0);
    (void)ctx;
    (void)count;
    (void)parcels;
}

treacle_status comm_agree(treacle_context* ctx, treacle_status status) {
    (void)ctx;
    return status;
}

treacle_status comm_check_same(treacle_context* ctx, const char* what, const char* text) {
    (void)ctx;
    (void)what;
    (void)text;
    return TREACLE_OK;
}

treacle_status comm_give_up(treacle_context* ctx, treacle_status status) {
    (void)ctx;
    return status;
}

comm_tally comm_tally_of(const treacle_context* ctx) {
    (void)ctx;
    return (comm_tally){0};
}
