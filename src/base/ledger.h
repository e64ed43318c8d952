// Who has the memory: bytes by what they are for, now and when all of them together were the most.
//
// Blocks are asked for with a name (alloc_array), and a ledger that hangs on the context books them
// under it. Scratch memory is one block, which the arena lends out: what it lends is booked under
// the borrower's name, and what nobody borrows under the arena's own. For benches and tests; no
// ledger costs a look at a pointer.
#pragma once

#include <stdatomic.h>
#include <stddef.h>

enum { LEDGER_OWNERS = 512, LEDGER_BLOCKS = 1 << 16, LEDGER_NAME_BYTES = 48 };

/// What is booked under one name. Idle scratch may be lent while its own block is not booked.
typedef struct ledger_owner {
    char name[LEDGER_NAME_BYTES];
    ptrdiff_t bytes, bytes_at_peak;
} ledger_owner;

/// A block that is out: its address, NULL for an empty place; and whose it is.
typedef struct ledger_block {
    const void* address;
    size_t bytes;
    int owner;
} ledger_block;

/// Zeroed: nothing is booked. The caller's own, and large. Threads may book at the same time. What
/// does not fit into the tables is booked under the last name or not at all, and counted.
typedef struct ledger {
    atomic_flag lock;
    int owner_count;
    int overflow; // blocks and names for which there was no place
    size_t bytes, bytes_at_peak;
    ledger_owner owner[LEDGER_OWNERS];
    ledger_block block[LEDGER_BLOCKS]; // by a hash of the address
} ledger;

void ledger_take(ledger* l, const void* block, const char* name, size_t bytes);
/// A block that was never booked is passed over: it is older than the ledger.
void ledger_give(ledger* l, const void* block);
/// So many bytes that were booked under one name now go by the other.
void ledger_lend(ledger* l, const char* from, const char* to, size_t bytes);

/// The owners sorted by their bytes at the peak, the largest first: indices in `out`, which has
/// LEDGER_OWNERS places; returns how many have any.
int ledger_rank(const ledger* l, int* out);
