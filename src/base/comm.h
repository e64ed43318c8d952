// The communicator: what ranks of one run say to each other. All calls but rank and size are
// collective: every rank makes them, in the same order, from the thread that runs the step.
//
// There are two of it. base/comm.c has one rank, for which every call is the identity;
// base/comm_mpi.c has the ranks that mpirun has started. Which of them a program gets is decided
// when it is linked. Sums go through exact_sum, so that they do not depend on the number of ranks.
#pragma once

#include "base/context.h"
#include "base/exact_sum.h"

/// Joins the ranks if the context's def wants them; otherwise the context is one rank by itself.
treacle_status comm_open(treacle_context* ctx) TREACLE_NODISCARD;
void comm_close(treacle_context* ctx);

/// This process, 0 .. size-1.
int comm_rank(const treacle_context* ctx);
int comm_size(const treacle_context* ctx);
/// Ranks that share this machine, this one included.
int comm_size_here(const treacle_context* ctx);
/// Returns when every rank has called it.
void comm_barrier(treacle_context* ctx);

/// values[i] = sum or maximum of values[i] over the ranks.
void comm_sum_i64(treacle_context* ctx, int64_t* values, int count);
void comm_sum_u32(treacle_context* ctx, uint32_t* values, int64_t count);
void comm_max_i64(treacle_context* ctx, int64_t* values, int count);
/// NaN on any rank gives NaN on all.
void comm_max_f64(treacle_context* ctx, double* values, int count);
void comm_sum_exact(treacle_context* ctx, exact_sum* sums, int count);
/// What rank `from` has in data comes to all.
void comm_broadcast(treacle_context* ctx, int from, void* data, size_t bytes);

/// data has items of item_bytes, of which rank r has made those from first[r] to first[r + 1] - 1;
/// afterwards all are everywhere.
void comm_gather(treacle_context* ctx, void* data, size_t item_bytes, const int64_t* first);

/// What two ranks tell each other: items of an array, by their index.
typedef struct comm_peer {
    int rank;
    int32_t give_count, take_count;
    const int32_t* give; // [give_count], this rank's
    const int32_t* take; // [take_count], the peer's, in the order in which the peer gives them
} comm_peer;
/// What is told: items of an array, item_bytes each. With a mark those whose mark[item] is value.
typedef struct comm_items {
    void* data;
    size_t item_bytes;
    const uint8_t* mark; // NULL: all
    uint8_t value;
} comm_items;
/// Brings the peers' items to this rank, and this rank's to them.
void comm_exchange(treacle_context* ctx, int peer_count, const comm_peer* peers,
                   const comm_items* items);

/// What two ranks send each other: bytes, as many as both know of.
typedef struct comm_parcel {
    int rank;
    size_t give_bytes, take_bytes;
    const void* give;
    void* take;
} comm_parcel;
/// Delivers this rank's parcels and takes those meant for it: at most one for each other rank, in
/// any order. Where both byte counts are 0 the other rank may leave its parcel out, too.
void comm_trade(treacle_context* ctx, int count, const comm_parcel* parcels);

/// The status that all ranks return: OK if it is OK everywhere, else that of the lowest rank that
/// failed, with that rank's sentence. Call it before leaving a collective function.
treacle_status comm_agree(treacle_context* ctx, treacle_status status) TREACLE_NODISCARD;
/// ERR_USAGE on all ranks if the text is not the same on all. `what` it is, for the message.
treacle_status comm_check_same(treacle_context* ctx, const char* what,
                               const char* text) TREACLE_NODISCARD;
/// Ends all ranks where this one alone has failed and the others may wait for it; logs the
/// context's last error. Returns the status if there are no others.
treacle_status comm_give_up(treacle_context* ctx, treacle_status status) TREACLE_NODISCARD;

/// What was said since the context was made.
typedef struct comm_tally {
    double seconds; // in calls, waiting included
    double
        cpu_seconds; // of the processor, in all of them: a rank that waits looks round all the time
    int64_t messages;
    int64_t bytes; // that this rank has sent
} comm_tally;
comm_tally comm_tally_of(const treacle_context* ctx);
