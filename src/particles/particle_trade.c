#include "particles/particle_trade.h"

#include <string.h>

static size_t bytes_of_particle(const particles* p) {
    size_t bytes = sizeof(uint32_t); // its number
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        bytes += p->column[c] != NULL ? particle_columns[c].bytes : 0;
    }
    return bytes;
}

// Column by column.
static void pack(const particles* p, particle_ix count, const uint32_t* members, char* to) {
    memcpy(to, members, (size_t)count * sizeof(*members));
    to += (size_t)count * sizeof(*members);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        size_t bytes = particle_columns[c].bytes;
        const char* column = p->column[c];
        for (particle_ix i = 0; column != NULL && i < count; ++i, to += bytes) {
            memcpy(to, column + (size_t)members[i] * bytes, bytes);
        }
    }
}

static void unpack(const particles* p, particle_ix count, uint32_t* members, const char* from) {
    memcpy(members, from, (size_t)count * sizeof(*members));
    from += (size_t)count * sizeof(*members);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        size_t bytes = particle_columns[c].bytes;
        char* column = p->column[c];
        for (particle_ix i = 0; column != NULL && i < count; ++i, from += bytes) {
            memcpy(column + (size_t)members[i] * bytes, from, bytes);
        }
    }
}

static void trade(const particles* p, int count, const particle_parcel* parcels,
                  comm_parcel* packed, char* room) {
    size_t bytes = bytes_of_particle(p);
    for (int i = 0; i < count; ++i) {
        const particle_parcel* parcel = &parcels[i];
        size_t give = (size_t)parcel->give_count * bytes, take = (size_t)parcel->take_count * bytes;
        packed[i] = (comm_parcel){parcel->rank, give, take, room, room + give};
        pack(p, parcel->give_count, parcel->give, room);
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
    size_t members = 0;
    for (int i = 0; i < count; ++i) {
        members += (size_t)(parcels[i].give_count + parcels[i].take_count);
    }
    comm_parcel* packed = NULL;
    char* room = NULL;
    int mark = arena_mark(scratch);
    TREACLE_TRY(
        arena_take(scratch, (size_t)count, sizeof(*packed), "rows on their way", (void**)&packed));
    TREACLE_TRY(
        arena_take(scratch, members, bytes_of_particle(p), "rows on their way", (void**)&room));
    trade(p, count, parcels, packed, room);
    arena_give_to(scratch, mark);
    return TREACLE_OK;
}
