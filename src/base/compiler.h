// The only place for compiler extensions.
#pragma once

#include <stdint.h>

#if !defined(__GNUC__)
#error "treacle needs gcc or clang"
#endif

#define TREACLE_RESTRICT restrict
#define TREACLE_ALWAYS_INLINE static inline __attribute__((always_inline))
#define TREACLE_NOINLINE __attribute__((noinline))
#define TREACLE_LIKELY(x) __builtin_expect(!!(x), 1)
#define TREACLE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TREACLE_ALIGNED(n) __attribute__((aligned(n)))
#define TREACLE_NODISCARD __attribute__((warn_unused_result))

// Bytes to which every block of memory is aligned: a cache line, and a whole AVX-512 register.
#define TREACLE_ALIGNMENT 64
