// One rank after the other goes on with the hash where the one before it stopped.
#include "base/comm_hash.h"

#define XXH_STATIC_LINKING_ONLY // for the size of a state
#include <xxhash.h>

#include "base/hash.h"

uint64_t comm_hash(treacle_context* ctx, const comm_array* array, uint64_t seed) {
    TREACLE_ASSERT(array->count >= 0 && array->item_bytes > 0);
    TREACLE_ASSERT(array->data != NULL || array->count == 0);
    if (array->first == NULL) {
        return hash_bytes(array->data, (size_t)array->count * array->item_bytes, seed);
    }
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset_withSeed(&state, seed);
    const unsigned char* secret = state.extSecret; // the one pointer: each process has its own
    for (int r = 0; r < comm_size(ctx); ++r) {
        if (r == comm_rank(ctx)) {
            size_t begin = (size_t)array->first[r] * array->item_bytes;
            size_t end = (size_t)array->first[r + 1] * array->item_bytes;
            XXH3_64bits_update(&state, (const char*)array->data + begin, end - begin);
        }
        comm_broadcast(ctx, r, &state, sizeof(state));
        state.extSecret = secret;
    }
    return XXH3_64bits_digest(&state);
}
