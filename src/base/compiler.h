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

// Whether the address sanitizer watches: it should see every block come and go.
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#define TREACLE_WATCHES_MEMORY 1
#else
#define TREACLE_WATCHES_MEMORY 0
#endif

// Bytes to which every block of memory is aligned: a cache line, and a whole AVX-512 register.
#define TREACLE_ALIGNMENT 64
