#include "base/hash.h"

#include <xxhash.h>

#include "base/check.h"

uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) {
    TREACLE_ASSERT(data != NULL || size == 0);
    return XXH3_64bits_withSeed(data, size, seed);
}
