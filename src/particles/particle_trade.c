#include "particles/particle_trade.h"

#include <string.h>

static size_t bytes_of_row(const particles* p) {
    size_t bytes = sizeof(uint32_t); // its number
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        bytes += p->column[c] != NULL ? particle_columns[c].bytes : 0;
    }
    return bytes;
}

// Column by column.
static void pack(const particles* p, particle_ix count, const uint32_t* rows, char* to) {
    memcpy(to, rows, (size_t)count * sizeof(*rows));
    to += (size_t)count * sizeof(*rows);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        size_t bytes = particle_columns[c].bytes;
        const char* column = p->column[c];
        for (particle_ix i = 0; column != NULL && i < count; ++i, to += bytes) {
            memcpy(to, column + (size_t)rows[i] * bytes, bytes);
        }
    }
}

static void unpack(const particles* p, particle_ix count, uint32_t* rows, const char* from) {
    memcpy(rows, from, (size_t)count * sizeof(*rows));
    from += (size_t)count * sizeof(*rows);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        size_t bytes = particle_columns[c].bytes;
        char* column = p->column[c];
        for (particle_ix i = 0; column != NULL && i < count; ++i, from += bytes) {
            memcpy(column + (size_t)rows[i] * bytes, from, bytes);
        }
    }
}

static void trade(const particles* p, int count, const particle_parcel* parcels,
                  comm_parcel* packed, char* room) {
    size_t bytes = bytes_of_row(p);
    for (int i = 0; i < count; ++i) {
        const particle_parcel* rows = &parcels[i];
        size_t give = (size_t)rows->give_count * bytes, take = (size_t)rows->take_count * bytes;
        packed[i] = (comm_parcel){rows->rank, give, take, room, room + give};
        pack(p, rows->give_count, rows->give, room);
        room += give + take;
    }
    comm_trade(p->ctx, count, packed);
    for (int i = 0; i < count; ++i) {
        unpack(p, parcels[i].take_count, parcels[i].take, packed[i].take);
    }
}

treacle_status particle_trade(const particles* p, int count, const particle_parcel* parcels,
                              arena* scratch) {
    TREACLE_ASSERT(count >= 0 && (parcels != NULL || count == 0));
    size_t rows = 0;
    for (int i = 0; i < count; ++i) {
        rows += (size_t)(parcels[i].give_count + parcels[i].take_count);
    }
    comm_parcel* packed = NULL;
    char* room = NULL;
    int mark = arena_mark(scratch);
    TREACLE_TRY(
        arena_take(scratch, (size_t)count, sizeof(*packed), "rows on their way", (void**)&packed));
    TREACLE_TRY(arena_take(scratch, rows, bytes_of_row(p), "rows on their way", (void**)&room));
    trade(p, count, parcels, packed, room);
    arena_give_to(scratch, mark);
    return TREACLE_OK;
}
