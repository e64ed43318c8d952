// The ranks that mpirun has started, by MPI.
//
// MPI is begun with the first context that wants ranks and ended when the program ends: it can be
// begun only once. Every context has a communicator of its own, so that its messages meet no
// others. An error of MPI ends all ranks, as MPI does by default.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "base/comm_world.h"
#include "base/log.h"
#include "base/profile.h"

struct comm {
    MPI_Comm world;
    MPI_Op merge; // of exact sums
    MPI_Datatype exact;
    int rank, size, size_here;
    int *counts, *places;  // [size]
    MPI_Request* requests; // [2 size]
    char* room;            // for items on their way
    size_t room_bytes;
    comm_tally tally;
    double began, began_cpu; // s, of the call that is being timed
};

static void merge_exact(void* in, void* in_out, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        exact_sum_merge((exact_sum*)in_out + i, (const exact_sum*)in + i);
    }
}

static void finalize(void) {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (!is_over) {
        MPI_Finalize();
    }
}

static treacle_status begin_mpi(treacle_context* ctx) {
    int is_begun = 0, provided = 0;
    MPI_Initialized(&is_begun);
    if (!is_begun) {
        // Open MPI's ranks look for messages without a pause while they wait. On a machine that is
        // not all theirs this keeps whom they wait for from the core: steps took ten times longer.
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
        if (provided < MPI_THREAD_FUNNELED) {
            return check_fail(ctx, TREACLE_ERR_UNSUPPORTED, "this MPI does not allow threads");
        }
        atexit(finalize);
    }
    return TREACLE_OK;
}

static int count_here(MPI_Comm world) {
    MPI_Comm here;
    int count = 1;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &count);
    MPI_Comm_free(&here);
    return count;
}

treacle_status comm_open(treacle_context* ctx) {
    TREACLE_ASSERT(ctx->comm == NULL);
    if (!ctx->def.ranks) {
        return TREACLE_OK;
    }
    TREACLE_TRY(begin_mpi(ctx));
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(struct comm), "the communicator", &block));
    struct comm* c = block;
    ctx->comm = c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c->world);
    MPI_Comm_rank(c->world, &c->rank);
    MPI_Comm_size(c->world, &c->size);
    c->size_here = count_here(c->world);
    MPI_Op_create(merge_exact, 1, &c->merge);
    MPI_Type_contiguous((int)sizeof(exact_sum), MPI_BYTE, &c->exact);
    MPI_Type_commit(&c->exact);
    treacle_status status = alloc_zero(ctx, 2 * (size_t)c->size, sizeof(int), "ranks", &block);
    c->counts = block;
    if (status == TREACLE_OK) {
        c->places = c->counts + c->size;
        status = alloc_zero(ctx, 2 * (size_t)c->size, sizeof(MPI_Request), "messages", &block);
        c->requests = block;
    }
    return comm_agree(ctx, status);
}

void comm_close(treacle_context* ctx) {
    struct comm* c = ctx->comm;
    if (c == NULL) {
        return;
    }
    MPI_Type_free(&c->exact);
    MPI_Op_free(&c->merge);
    MPI_Comm_free(&c->world);
    alloc_free(ctx, c->counts, 2 * (size_t)c->size * sizeof(int));
    alloc_free(ctx, c->requests, 2 * (size_t)c->size * sizeof(MPI_Request));
    alloc_free(ctx, c->room, c->room_bytes);
    alloc_free(ctx, c, sizeof(*c));
    ctx->comm = NULL;
}

int comm_rank(const treacle_context* ctx) {
    return ctx->comm == NULL ? 0 : ctx->comm->rank;
}

int comm_size(const treacle_context* ctx) {
    return ctx->comm == NULL ? 1 : ctx->comm->size;
}

int comm_size_here(const treacle_context* ctx) {
    return ctx->comm == NULL ? 1 : ctx->comm->size_here;
}

// The communicator, if there is anybody to talk to; a call begins.
static struct comm* comm_mpi_begin(treacle_context* ctx) {
    struct comm* c = ctx->comm;
    if (c == NULL || c->size == 1) {
        return NULL;
    }
    c->began = profile_now();
    c->began_cpu = profile_cpu();
    return c;
}

static void end(struct comm* c, int64_t messages, int64_t bytes) {
    c->tally.seconds += profile_now() - c->began;
    c->tally.cpu_seconds += profile_cpu() - c->began_cpu;
    c->tally.messages += messages;
    c->tally.bytes += bytes;
}

void comm_barrier(treacle_context* ctx) {
    struct comm* c = comm_mpi_begin(ctx);
    if (c != NULL) {
        MPI_Barrier(c->world);
        end(c, 1, 0);
    }
}

void comm_sum_i64(treacle_context* ctx, int64_t* values, int count) {
    TREACLE_ASSERT(count >= 0);
    struct comm* c = comm_mpi_begin(ctx);
    if (c != NULL) {
        MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, c->world);
        end(c, 1, 8 * (int64_t)count);
    }
}

void comm_sum_u32(treacle_context* ctx, uint32_t* values, int64_t count) {
    TREACLE_ASSERT(count >= 0);
    const int64_t most = 1 << 28;
    struct comm* c = comm_mpi_begin(ctx);
    if (c == NULL) {
        return;
    }
    for (int64_t at = 0; at < count; at += most) {
        int part = (int)(count - at < most ? count - at : most);
        MPI_Allreduce(MPI_IN_PLACE, values + at, part, MPI_UINT32_T, MPI_SUM, c->world);
    }
    end(c, 1, 4 * count);
}

void comm_max_i64(treacle_context* ctx, int64_t* values, int count) {
    TREACLE_ASSERT(count >= 0);
    struct comm* c = comm_mpi_begin(ctx);
    if (c != NULL) {
        MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, c->world);
        end(c, 1, 8 * (int64_t)count);
    }
}

// MPI leaves it open what the maximum of NaN is: NaN is counted beside.
void comm_max_f64(treacle_context* ctx, double* values, int count) {
    TREACLE_ASSERT(count >= 0);
    struct comm* c = comm_mpi_begin(ctx);
    if (c == NULL) {
        return;
    }
    for (int i = 0; i < count; ++i) {
        double pair[2] = {values[i] == values[i] ? values[i] : 0.0,
                          values[i] == values[i] ? 0.0 : 1.0};
        MPI_Allreduce(MPI_IN_PLACE, pair, 2, MPI_DOUBLE, MPI_MAX, c->world);
        if (pair[1] > 0.0) {
            pair[0] = 0.0 / 0.0;
        }
        values[i] = pair[0];
    }
    end(c, count, 16 * (int64_t)count);
}

void comm_sum_exact(treacle_context* ctx, exact_sum* sums, int count) {
    TREACLE_ASSERT(count >= 0);
    struct comm* c = comm_mpi_begin(ctx);
    if (c != NULL) {
        MPI_Allreduce(MPI_IN_PLACE, sums, count, c->exact, c->merge, c->world);
        end(c, 1, (int64_t)sizeof(exact_sum) * count);
    }
}

void comm_broadcast(treacle_context* ctx, int from, void* data, size_t bytes) {
    TREACLE_ASSERT(from >= 0 && from < comm_size(ctx));
    const size_t most = (size_t)1 << 30;
    struct comm* c = comm_mpi_begin(ctx);
    if (c == NULL) {
        return;
    }
    for (size_t at = 0; at < bytes; at += most) {
        size_t part = bytes - at < most ? bytes - at : most;
        MPI_Bcast((char*)data + at, (int)part, MPI_BYTE, from, c->world);
    }
    end(c, 1, c->rank == from ? (int64_t)bytes : 0);
}

void comm_gather(treacle_context* ctx, void* data, size_t item_bytes, const int64_t* first) {
    struct comm* c = comm_mpi_begin(ctx);
    if (c == NULL || item_bytes == 0) {
        return;
    }
    MPI_Datatype item;
    MPI_Type_contiguous((int)item_bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    for (int r = 0; r < c->size; ++r) {
        c->counts[r] = (int)(first[r + 1] - first[r]);
        c->places[r] = (int)first[r];
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, c->counts, c->places, item, c->world);
    MPI_Type_free(&item);
    end(c, c->size - 1, (int64_t)item_bytes * c->counts[c->rank] * (c->size - 1));
}

static void make_room(treacle_context* ctx, struct comm* c, size_t bytes) {
    if (bytes <= c->room_bytes) {
        return;
    }
    alloc_free(ctx, c->room, c->room_bytes);
    c->room_bytes = 0;
    c->room = alloc_bytes(ctx, bytes);
    if (c->room == NULL) {
        treacle_status status =
            check_fail(ctx, TREACLE_ERR_MEMORY,
                       "out of memory: %zu bytes for what ranks tell each other", bytes);
        (void)!comm_give_up(ctx, status);
    }
    c->room_bytes = bytes;
}

static bool is_told(const comm_items* items, int32_t item) {
    return items->mark == NULL || items->mark[item] == items->value;
}

static int count_told(const comm_items* items, int32_t count, const int32_t* list) {
    int told = items->mark == NULL ? count : 0;
    for (int32_t k = 0; k < count && items->mark != NULL; ++k) {
        told += is_told(items, list[k]) ? 1 : 0;
    }
    return told;
}

// Copies the told items of a list to `at`, or from there; returns what is behind them.
static char* move_items(const comm_items* items, int32_t count, const int32_t* list, char* at,
                        bool is_taken) {
    size_t bytes = items->item_bytes;
    for (int32_t k = 0; k < count; ++k) {
        char* item = (char*)items->data + (size_t)list[k] * bytes;
        if (is_told(items, list[k])) {
            memcpy(is_taken ? item : at, is_taken ? at : item, bytes);
            at += bytes;
        }
    }
    return at;
}

void comm_exchange(treacle_context* ctx, int peer_count, const comm_peer* peers,
                   const comm_items* items) {
    TREACLE_ASSERT(peer_count >= 0 && peer_count < comm_size(ctx));
    struct comm* c = comm_mpi_begin(ctx);
    if (c == NULL || peer_count == 0) {
        return;
    }
    size_t bytes = items->item_bytes;
    int64_t all = 0;
    for (int i = 0; i < peer_count; ++i) {
        all += peers[i].give_count + peers[i].take_count;
    }
    make_room(ctx, c, (size_t)all * bytes);
    MPI_Datatype item;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    char* at = c->room;
    for (int i = 0; i < peer_count; ++i) {
        int count = count_told(items, peers[i].take_count, peers[i].take);
        MPI_Irecv(at, count, item, peers[i].rank, 0, c->world, &c->requests[i]);
        at += (size_t)count * bytes;
    }
    char* sent = at;
    for (int i = 0; i < peer_count; ++i) {
        char* first = at;
        at = move_items(items, peers[i].give_count, peers[i].give, at, false);
        MPI_Isend(first, (int)((size_t)(at - first) / bytes), item, peers[i].rank, 0, c->world,
                  &c->requests[peer_count + i]);
    }
    MPI_Waitall(2 * peer_count, c->requests, MPI_STATUSES_IGNORE);
    int64_t sent_bytes = at - sent;
    at = c->room;
    for (int i = 0; i < peer_count; ++i) {
        at = move_items(items, peers[i].take_count, peers[i].take, at, true);
    }
    MPI_Type_free(&item);
    end(c, peer_count, sent_bytes);
}

// MPI counts by int: parcels go in pieces, the first of each, then the second.
enum { PART_BYTES = 1 << 30 };

static int part_bytes(size_t bytes, size_t at) {
    size_t left = at < bytes ? bytes - at : 0;
    return left < PART_BYTES ? (int)left : PART_BYTES;
}

// The pieces that begin at byte `at`. Returns how many messages there were.
static int trade_parts(struct comm* c, int count, const comm_parcel* parcels, size_t at) {
    int posted = 0;
    for (int i = 0; i < count; ++i) {
        int bytes = part_bytes(parcels[i].take_bytes, at);
        if (bytes > 0) {
            MPI_Irecv((char*)parcels[i].take + at, bytes, MPI_BYTE, parcels[i].rank, 0, c->world,
                      &c->requests[posted++]);
        }
    }
    for (int i = 0; i < count; ++i) {
        int bytes = part_bytes(parcels[i].give_bytes, at);
        if (bytes > 0) {
            MPI_Isend((const char*)parcels[i].give + at, bytes, MPI_BYTE, parcels[i].rank, 0,
                      c->world, &c->requests[posted++]);
        }
    }
    MPI_Waitall(posted, c->requests, MPI_STATUSES_IGNORE);
    return posted;
}

void comm_trade(treacle_context* ctx, int count, const comm_parcel* parcels) {
    TREACLE_ASSERT(count >= 0 && count < comm_size(ctx));
    struct comm* c = comm_mpi_begin(ctx);
    if (c == NULL) {
        return;
    }
    int64_t bytes = 0, messages = 0;
    for (int i = 0; i < count; ++i) {
        bytes += (int64_t)parcels[i].give_bytes;
        messages += parcels[i].give_bytes > 0;
    }
    for (size_t at = 0; trade_parts(c, count, parcels, at) > 0; at += PART_BYTES) {
    }
    end(c, messages, bytes);
}

treacle_status comm_agree(treacle_context* ctx, treacle_status status) {
    struct comm* c = comm_mpi_begin(ctx);
    if (c == NULL) {
        return status;
    }
    struct {
        int failed, rank;
    } worst = {.failed = status != TREACLE_OK, .rank = c->rank};
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_2INT, MPI_MAXLOC, c->world);
    if (worst.failed != 0) {
        char text[CONTEXT_ERROR_CAPACITY] = "";
        int code = (int)status;
        snprintf(text, sizeof(text), "%s", ctx->error);
        MPI_Bcast(&code, 1, MPI_INT, worst.rank, c->world);
        MPI_Bcast(text, (int)sizeof(text), MPI_CHAR, worst.rank, c->world);
        status = check_fail(ctx, (treacle_status)code, "rank %d: %.*s", worst.rank,
                            CONTEXT_ERROR_CAPACITY - 32, text);
    }
    end(c, 1, (int64_t)sizeof(worst));
    return status;
}

treacle_status comm_check_same(treacle_context* ctx, const char* what, const char* text) {
    enum { TEXT_CAPACITY = 1024 };
    char first[TEXT_CAPACITY] = "";
    snprintf(first, sizeof(first), "%s", text);
    comm_broadcast(ctx, 0, first, sizeof(first));
    treacle_status status = TREACLE_OK;
    if (strncmp(first, text, sizeof(first) - 1) != 0) {
        status = check_fail(ctx, TREACLE_ERR_USAGE,
                            "the ranks of a run must be alike, but %s is %s here and %s on rank 0",
                            what, text, first);
    }
    return comm_agree(ctx, status);
}

treacle_status comm_give_up(treacle_context* ctx, treacle_status status) {
    struct comm* c = ctx->comm;
    if (c == NULL || c->size == 1) {
        return status;
    }
    fprintf(stderr, "treacle: rank %d of %d ends the run: %s\n", c->rank, c->size, ctx->error);
    fflush(stderr);
    MPI_Abort(c->world, (int)status);
    _exit((int)status);
}

const void* comm_world(const treacle_context* ctx) {
    TREACLE_ASSERT(ctx->comm != NULL);
    return &ctx->comm->world;
}

comm_tally comm_tally_of(const treacle_context* ctx) {
    return ctx->comm == NULL ? (comm_tally){0} : ctx->comm->tally;
}
