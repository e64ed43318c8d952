// Hashes: of bytes for checksums and state, of numbers for tables and random choices.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// XXH3, 64 bits. The same on every machine; files may hold it.
uint64_t hash_bytes(const void* data, size_t size, uint64_t seed);

/// A bijection of 64-bit numbers in which every input bit flips each output bit half of the time
/// (the finaliser of MurmurHash3 with the constants of Stafford's mix 13).
static inline uint64_t hash_u64(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// A hash of two hashes; the order counts.
static inline uint64_t hash_combine(uint64_t a, uint64_t b) {
    return hash_u64(hash_u64(a + 0x9e3779b97f4a7c15u) ^ b);
}
