// Random numbers of the path tracer: a function of (seed, pixel, sample, dimension), nothing else.
//
// Pairs come from the first two dimensions of Sobol's sequence, shuffled and scrambled anew for
// every pixel and dimension by hashes [Bur20]: within a pixel the samples of a dimension are evenly
// spread, between dimensions and pixels they are independent. No state, so that pixels may be
// rendered in any order, by any thread, and samples added later.
#pragma once

#include <stdint.h>

typedef struct trace_random {
    uint32_t pixel;     // hash of the pixel and the seed
    uint32_t sample;    // number of the sample
    uint32_t dimension; // next pair
} trace_random;

typedef struct trace_pair {
    float a, b; // [0, 1)
} trace_pair;

static inline uint32_t trace_hash(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

static inline uint32_t trace_reverse(uint32_t x) {
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
}

// Owen's scrambling of a number whose bits are reversed.
static inline uint32_t trace_scramble(uint32_t x, uint32_t seed) {
    x ^= x * 0x3d20adeau;
    x += seed;
    x *= (seed >> 16) | 1u;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return x;
}

// The second dimension of Sobol's sequence, bits reversed: the product with Pascal's triangle.
static inline uint32_t trace_sobol(uint32_t index) {
    uint32_t x = index;
    x ^= (x & 0xaaaaaaaau) >> 1;
    x ^= (x & 0xccccccccu) >> 2;
    x ^= (x & 0xf0f0f0f0u) >> 4;
    x ^= (x & 0xff00ff00u) >> 8;
    x ^= x >> 16;
    return x;
}

static inline float trace_unit(uint32_t bits) {
    return (float)(bits >> 8) * 0x1p-24f;
}

static inline trace_random trace_random_make(uint32_t seed, uint32_t pixel, uint32_t sample) {
    return (trace_random){trace_hash(pixel ^ trace_hash(seed)), sample, 0};
}

// Dimensions far out are plain random: what they decide is blurred by all before.
enum { TRACE_SPREAD_DIMENSIONS = 24 };

static inline trace_pair trace_random_plain(const trace_random* r) {
    uint64_t x = (uint64_t)(r->pixel + 0x9e3779b9u * r->dimension) << 32 | r->sample;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return (trace_pair){trace_unit((uint32_t)x), trace_unit((uint32_t)(x >> 32))};
}

static inline trace_pair trace_random_pair(trace_random* r) {
    if (++r->dimension > TRACE_SPREAD_DIMENSIONS) {
        return trace_random_plain(r);
    }
    uint32_t seed = trace_hash(r->pixel + 0x9e3779b9u * r->dimension);
    // The index as reversed bits; scrambling it so shuffles the samples within the sequence.
    uint32_t index = trace_reverse(trace_scramble(trace_reverse(r->sample), seed));
    uint32_t a = trace_scramble(index, trace_hash(seed ^ 0x68bc21ebu));
    uint32_t b = trace_scramble(trace_sobol(index), trace_hash(seed ^ 0x02e5be93u));
    return (trace_pair){trace_unit(trace_reverse(a)), trace_unit(trace_reverse(b))};
}

static inline float trace_random_one(trace_random* r) {
    return trace_random_pair(r).a;
}
