#include "base/ledger.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"

static void ledger_lock(ledger* l) {
    while (atomic_flag_test_and_set_explicit(&l->lock, memory_order_acquire)) {
    }
}

static void ledger_unlock(ledger* l) {
    atomic_flag_clear_explicit(&l->lock, memory_order_release);
}

// The account of a name, which is opened if there is none.
static int owner_of(ledger* l, const char* name) {
    for (int i = 0; i < l->owner_count; ++i) {
        if (strncmp(l->owner[i].name, name, LEDGER_NAME_BYTES - 1) == 0) {
            return i;
        }
    }
    if (l->owner_count == LEDGER_OWNERS) {
        l->overflow += 1;
        return LEDGER_OWNERS - 1;
    }
    size_t length = strnlen(name, LEDGER_NAME_BYTES - 1);
    memcpy(l->owner[l->owner_count].name, name, length);
    return l->owner_count++;
}

static size_t home_of(const void* block) {
    uint64_t key = (uint64_t)(uintptr_t)block * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(key >> 48) % LEDGER_BLOCKS;
}

static size_t after(size_t place) {
    return (place + 1) % LEDGER_BLOCKS;
}

// Where the block is booked, or the empty place where it would be; LEDGER_BLOCKS: there is none.
static size_t place_of(const ledger* l, const void* block) {
    size_t at = home_of(block);
    for (size_t i = 0; i < LEDGER_BLOCKS; ++i, at = after(at)) {
        if (l->block[at].address == NULL || l->block[at].address == block) {
            return at;
        }
    }
    return LEDGER_BLOCKS;
}

static void note_peak(ledger* l) {
    if (l->bytes <= l->bytes_at_peak) {
        return;
    }
    l->bytes_at_peak = l->bytes;
    for (int i = 0; i < l->owner_count; ++i) {
        l->owner[i].bytes_at_peak = l->owner[i].bytes;
    }
}

void ledger_take(ledger* l, const void* block, const char* name, size_t bytes) {
    TREACLE_ASSERT(block != NULL && name != NULL);
    ledger_lock(l);
    size_t at = place_of(l, block);
    if (at < LEDGER_BLOCKS) {
        int owner = owner_of(l, name);
        l->block[at] = (ledger_block){block, bytes, owner};
        l->owner[owner].bytes += (ptrdiff_t)bytes;
        l->bytes += bytes;
        note_peak(l);
    } else {
        l->overflow += 1;
    }
    ledger_unlock(l);
}

// Empties a place; blocks behind it that would have been there move up, so that every block is
// found by going on from its home to the first empty place.
static void clear(ledger* l, size_t at) {
    l->block[at] = (ledger_block){0};
    for (size_t next = after(at); l->block[next].address != NULL; next = after(next)) {
        size_t home = home_of(l->block[next].address);
        bool stays = at <= next ? home > at && home <= next : home > at || home <= next;
        if (!stays) {
            l->block[at] = l->block[next];
            l->block[next] = (ledger_block){0};
            at = next;
        }
    }
}

void ledger_give(ledger* l, const void* block) {
    TREACLE_ASSERT(block != NULL);
    ledger_lock(l);
    size_t at = place_of(l, block);
    if (at < LEDGER_BLOCKS && l->block[at].address == block) {
        l->owner[l->block[at].owner].bytes -= (ptrdiff_t)l->block[at].bytes;
        l->bytes -= l->block[at].bytes;
        clear(l, at);
    }
    ledger_unlock(l);
}

void ledger_lend(ledger* l, const char* from, const char* to, size_t bytes) {
    TREACLE_ASSERT(from != NULL && to != NULL);
    ledger_lock(l);
    l->owner[owner_of(l, from)].bytes -= (ptrdiff_t)bytes;
    l->owner[owner_of(l, to)].bytes += (ptrdiff_t)bytes;
    ledger_unlock(l);
}

int ledger_rank(const ledger* l, int* out) {
    int count = 0;
    for (int i = 0; i < l->owner_count; ++i) {
        ptrdiff_t bytes = l->owner[i].bytes_at_peak;
        int at = count;
        if (bytes <= 0) {
            continue;
        }
        for (; at > 0 && l->owner[out[at - 1]].bytes_at_peak < bytes; --at) {
            out[at] = out[at - 1];
        }
        out[at] = i;
        count += 1;
    }
    return count;
}
