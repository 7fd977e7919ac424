/* SPDX-License-Identifier: MIT */
#include "base/sha256.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SHA256_KNOWN __attribute__((target("sha,sse4.1")))

/* The cube roots of the first 64 primes, by FIPS 180-4. */
static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The instructions want the eight words of the state as A B E F and C D G H, highest first. */
SHA256_KNOWN static void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks > 0; blocks--, p += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) { /* four rounds each */
            __m128i *now = &w[i % 4], last = w[(i + 3) % 4];
            __m128i sum = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(sha256_k + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]),
                                         _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
            *now = _mm_sha256msg2_epu32(next, last);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}
#else
static void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t blocks)
{
    (void)state, (void)p, (void)blocks;
}
#endif

void odb_sha256_update(SHA256_CTX *sha, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t held = (size_t)(sha->bitcount[0] / 8 % SHA256_BLOCK_LENGTH);
    size_t first = held ? SHA256_BLOCK_LENGTH - held : 0;
    if (size >= first + SHA256_BLOCK_LENGTH && odb_processor_has_sha()) {
        size_t blocks = (size - first) / SHA256_BLOCK_LENGTH;
        SHA256Update(sha, p, first);
        p += first;
        sha256_blocks(sha->state.st32, p, blocks);
        sha->bitcount[0] += (uint64_t)blocks * SHA256_BLOCK_LENGTH * 8;
        p += blocks * SHA256_BLOCK_LENGTH;
        size -= first + blocks * SHA256_BLOCK_LENGTH;
    }
    SHA256Update(sha, p, size);
}
