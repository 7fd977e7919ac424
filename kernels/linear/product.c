/* SPDX-License-Identifier: MIT
 *
 * Rows of C in registers, a panel of B in the nearest cache, A where it lies: the shape of the
 * kernels is that of every fast matrix product since Goto and van de Geijn (2008). A is not packed:
 * its elements are spread over vectors one by one, which needs no order in memory.
 */
#include "kernels/linear/product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "base/processor.h"
#include "base/simd.h"
#include "kernels/core/workspace.h"

#define PRODUCT_LINE 64 /* bytes */
#define PRODUCT_GROUP 4 /* panels copied at a time: rows of B are best read in long pieces */
#define PRODUCT_FEW 16  /* rows of C, for which B is read where it is */
#define PRODUCT_AHEAD 8 /* rows asked for ahead, for a single row of C */
#define PRODUCT_NEAR (1u << 19) /* bytes of a B that may be in a near cache, likewise */
#define PRODUCT_COLS 1024       /* of a single row at a time, where it is not */
#define PRODUCT_FAR (1u << 22)  /* bytes of a B that is in no cache at all */

/* --- the walk over B -------------------------------------------------------------------------- */

/* Terms [p0, p0 + depth) of columns [j0, j0 + cols) of C: up to three vectors of a row. */
struct product_panel {
    size_t p0, depth, j0, cols; /* depth 0: there are no more */
    size_t index;               /* among those of the same terms */
};

/* Columns are cut into as few panels as will do, all of about the same width. */
static struct product_panel product_panel(const struct odb_gemm *g, size_t lanes, size_t p0,
                                          size_t index)
{
    size_t vectors = (g->n + lanes - 1) / lanes, panels = (vectors + 2) / 3;
    if (index == panels)
        return product_panel(g, lanes, p0 + ODB_PRODUCT_DEPTH, 0);
    if (p0 >= g->k)
        return (struct product_panel){.depth = 0};
    size_t j0 = index * vectors / panels * lanes, j1 = (index + 1) * vectors / panels * lanes;
    return (struct product_panel){.p0 = p0,
                                  .depth = ODB_MIN(g->k - p0, (size_t)ODB_PRODUCT_DEPTH),
                                  .j0 = j0,
                                  .cols = ODB_MIN(j1, g->n) - j0,
                                  .index = index};
}

/* Where the panel's first element lies in B. */
static size_t product_at(const struct odb_gemm *g, const struct product_panel *at)
{
    return g->trans_b ? at->j0 * g->ldb + at->p0 : at->p0 * g->ldb + at->j0;
}

/* What the caches are asked for while a panel is worked on: one that comes soon, a row of it for a
 * term in all rows of C. */
struct product_ahead {
    const char *at; /* the next row */
    ptrdiff_t step; /* bytes from row to row */
    size_t lines;   /* of a row */
    size_t rows;    /* left */
    size_t cells;   /* that share a panel's rows; so much does a row cost */
    size_t credit;  /* one for each term of each cell */
};

static struct product_ahead product_ahead(const struct odb_gemm *g, const struct product_panel *at,
                                          size_t size, size_t cells)
{
    if (g->trans_b) /* columns lie in long pieces */
        return (struct product_ahead){.rows = 0};
    const char *first = (const char *)g->b + product_at(g, at) * size;
    size_t skew = (uintptr_t)first % PRODUCT_LINE;
    return (struct product_ahead){.at = first - skew,
                                  .step = (ptrdiff_t)(g->ldb * size),
                                  .lines = (skew + at->cols * size - 1) / PRODUCT_LINE + 1,
                                  .rows = at->depth,
                                  .cells = cells};
}

ODB_INLINE void product_ask(struct product_ahead *ahead)
{
    ahead->credit++;
    for (; ahead->credit >= ahead->cells && ahead->rows; ahead->rows--) {
        for (size_t l = 0; l < ahead->lines; l++)
            __builtin_prefetch(ahead->at + l * PRODUCT_LINE, 0, 2);
        ahead->at += ahead->step;
        ahead->credit -= ahead->cells;
    }
}

/* Some rows of C: where their part of A lies, in bytes from row to row and from term to term. */
struct product_cell {
    size_t depth; /* terms */
    const char *a;
    ptrdiff_t down, along;
    struct product_ahead ahead;
};

/* --- four terms of some columns ----------------------------------------------------------------
 */

typedef float product_f32x4 __attribute__((vector_size(16)));
typedef double product_f64x2 __attribute__((vector_size(16)));
typedef product_f32x4 product_f32x4_any __attribute__((aligned(1), may_alias));
typedef product_f64x2 product_f64x2_any __attribute__((aligned(1), may_alias));

/* Four terms (x[0, 4)) of each of as many columns as a vector has elements, `ld` apart. */
ODB_INLINE void product_quad_f32(const odb_f32 *x, size_t ld, product_f32x4 *v)
{
    for (size_t p = 0; p < 4; p++)
        v[p] = (product_f32x4){x[p], x[ld + p], x[2 * ld + p], x[3 * ld + p]};
}

ODB_INLINE void product_quad_f64(const odb_f64 *x, size_t ld, product_f64x2 *v)
{
    for (size_t p = 0; p < 4; p++)
        v[p] = (product_f64x2){x[p], x[ld + p]};
}

#if defined(__x86_64__)
#define PRODUCT_AVX2 __attribute__((target("avx2,fma")))

/* Two times four elements, one above the other. */
ODB_INLINE PRODUCT_AVX2 __m256 product_pair(const odb_f32 *low, const odb_f32 *high)
{
    __m256 v = _mm256_castps128_ps256(_mm_loadu_ps((const float *)low));
    return _mm256_insertf128_ps(v, _mm_loadu_ps((const float *)high), 1);
}

/* Four terms (x[0, 4)) of each of eight columns, `ld` apart, as vectors of eight. */
ODB_INLINE PRODUCT_AVX2 void product_quad_f32_avx2(const odb_f32 *x, size_t ld, __m256 *v)
{
    __m256 a = product_pair(x, x + 4 * ld), b = product_pair(x + ld, x + 5 * ld);
    __m256 c = product_pair(x + 2 * ld, x + 6 * ld), d = product_pair(x + 3 * ld, x + 7 * ld);
    __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    __m256 ba = _mm256_unpackhi_ps(a, b), dc = _mm256_unpackhi_ps(c, d);
    v[0] = _mm256_shuffle_ps(ab, cd, 0x44);
    v[1] = _mm256_shuffle_ps(ab, cd, 0xee);
    v[2] = _mm256_shuffle_ps(ba, dc, 0x44);
    v[3] = _mm256_shuffle_ps(ba, dc, 0xee);
}

#define PRODUCT_AVX512 __attribute__((target("avx512f")))

/* Four times four elements, of columns 4 apart. */
ODB_INLINE PRODUCT_AVX512 __m512 product_four(const odb_f32 *x, size_t ld)
{
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps((const float *)x));
    v = _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(x + 4 * ld)), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(x + 8 * ld)), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps((const float *)(x + 12 * ld)), 3);
}

ODB_INLINE PRODUCT_AVX512 void product_quad_f32_avx512(const odb_f32 *x, size_t ld, __m512 *v)
{
    __m512 a = product_four(x, ld), b = product_four(x + ld, ld);
    __m512 c = product_four(x + 2 * ld, ld), d = product_four(x + 3 * ld, ld);
    __m512 ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
    __m512 ba = _mm512_unpackhi_ps(a, b), dc = _mm512_unpackhi_ps(c, d);
    v[0] = _mm512_shuffle_ps(ab, cd, 0x44);
    v[1] = _mm512_shuffle_ps(ab, cd, 0xee);
    v[2] = _mm512_shuffle_ps(ba, dc, 0x44);
    v[3] = _mm512_shuffle_ps(ba, dc, 0xee);
}

ODB_INLINE PRODUCT_AVX2 void product_quad_f64_avx2(const odb_f64 *x, size_t ld, __m256d *v)
{
    for (size_t p = 0; p < 4; p++)
        v[p] = _mm256_set_pd(x[3 * ld + p], x[2 * ld + p], x[ld + p], x[p]);
}

ODB_INLINE PRODUCT_AVX512 void product_quad_f64_avx512(const odb_f64 *x, size_t ld, __m512d *v)
{
    for (size_t p = 0; p < 4; p++)
        v[p] = _mm512_set_pd(x[7 * ld + p], x[6 * ld + p], x[5 * ld + p], x[4 * ld + p],
                             x[3 * ld + p], x[2 * ld + p], x[ld + p], x[p]);
}
#endif

/* --- kernels per set of instructions and element type ----------------------------------------- */

/* Fused steps of single elements: by the instructions of the caller, else by the C library. */
ODB_INLINE product_f32x4 product_fma_f32(product_f32x4 a, product_f32x4 b, product_f32x4 c)
{
    for (int i = 0; i < 4; i++)
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}

ODB_INLINE product_f64x2 product_fma_f64(product_f64x2 a, product_f64x2 b, product_f64x2 c)
{
    for (int i = 0; i < 2; i++)
        c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}

#define TARGET
#define ROWS 4
#define SET(name) name##_plain
#if defined(__arm__) /* many have no such instruction, and their bits are to be the same */
#define FMA_f32(a, b, c) product_fma_f32(a, b, c)
#define FMA_f64(a, b, c) product_fma_f64(a, b, c)
#define FMA1_f32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA1_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA_f32(a, b, c) ((a) * (b) + (c))
#define FMA_f64 FMA_f32
#define FMA1_f32 FMA_f32
#define FMA1_f64 FMA_f32
#endif
#include "kernels/linear/product.short.body.h"

#if defined(__x86_64__) || defined(__aarch64__) || defined(__arm__) ||                             \
    (defined(__FP_FAST_FMAF) && defined(__FP_FAST_FMA))
#define PRODUCT_FMA
#define SET(name) name##_fma
#define FMA1_f32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA1_f64(a, b, c) __builtin_fma(a, b, c)
#if defined(__x86_64__)
#define TARGET __attribute__((target("fma")))
#define ROWS 4
#define FMA_f32(a, b, c) _mm_fmadd_ps(a, b, c)
#define FMA_f64(a, b, c) _mm_fmadd_pd(a, b, c)
#elif defined(__aarch64__)
#define TARGET
#define ROWS 8
#define FMA_f32(a, b, c) vfmaq_f32(c, a, b)
#define FMA_f64(a, b, c) vfmaq_f64(c, a, b)
#else /* it fuses single elements: RISC-V, ARM of 32 bits */
#if defined(__arm__)
#define TARGET __attribute__((target("fpu=vfpv4")))
#else
#define TARGET
#endif
#define ROWS 4
#define FMA_f32(a, b, c) product_fma_f32(a, b, c)
#define FMA_f64(a, b, c) product_fma_f64(a, b, c)
#endif
#include "kernels/linear/product.short.body.h"
#endif

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx512f")))
#define ROWS 8

#define E odb_f32
#define FN(name) name##_f32_avx512
#define QUAD product_quad_f32_avx512
#define V __m512
#define LANES 16
#define LOAD(p) _mm512_loadu_ps((const void *)(p))
#define STORE(p, v) _mm512_storeu_ps((void *)(p), v)
#define ADD(a, b) _mm512_add_ps(a, b)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define FMA1(a, b, c) __builtin_fmaf(a, b, c)
#define SPREAD(x) _mm512_set1_ps(x)
#define ZERO() _mm512_setzero_ps()
#include "kernels/linear/product.body.h"

#define E odb_f64
#define FN(name) name##_f64_avx512
#define QUAD product_quad_f64_avx512
#define V __m512d
#define LANES 8
#define LOAD(p) _mm512_loadu_pd((const void *)(p))
#define STORE(p, v) _mm512_storeu_pd((void *)(p), v)
#define ADD(a, b) _mm512_add_pd(a, b)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define FMA1(a, b, c) __builtin_fma(a, b, c)
#define SPREAD(x) _mm512_set1_pd(x)
#define ZERO() _mm512_setzero_pd()
#include "kernels/linear/product.body.h"

#undef TARGET
#undef ROWS
#define TARGET PRODUCT_AVX2
#define ROWS 4

#define E odb_f32
#define FN(name) name##_f32_avx2
#define QUAD product_quad_f32_avx2
#define V __m256
#define LANES 8
#define LOAD(p) _mm256_loadu_ps((const float *)(p))
#define STORE(p, v) _mm256_storeu_ps((float *)(p), v)
#define ADD(a, b) _mm256_add_ps(a, b)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define FMA1(a, b, c) __builtin_fmaf(a, b, c)
#define SPREAD(x) _mm256_set1_ps(x)
#define ZERO() _mm256_setzero_ps()
#include "kernels/linear/product.body.h"

#define E odb_f64
#define FN(name) name##_f64_avx2
#define QUAD product_quad_f64_avx2
#define V __m256d
#define LANES 4
#define LOAD(p) _mm256_loadu_pd((const double *)(p))
#define STORE(p, v) _mm256_storeu_pd((double *)(p), v)
#define ADD(a, b) _mm256_add_pd(a, b)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define FMA1(a, b, c) __builtin_fma(a, b, c)
#define SPREAD(x) _mm256_set1_pd(x)
#define ZERO() _mm256_setzero_pd()
#include "kernels/linear/product.body.h"

#undef TARGET
#undef ROWS
#endif

/* --- the choice ------------------------------------------------------------------------------- */

bool odb_product_has(enum odb_product_set set)
{
#if defined(__x86_64__)
    bool fused = __builtin_cpu_supports("fma");
    return set == ODB_PRODUCT_PLAIN || (set == ODB_PRODUCT_FMA && fused) ||
           (set == ODB_PRODUCT_AVX2 && fused && __builtin_cpu_supports("avx2")) ||
           (set == ODB_PRODUCT_AVX512 && __builtin_cpu_supports("avx512f"));
#elif defined(__arm__)
    return set == ODB_PRODUCT_PLAIN || (set == ODB_PRODUCT_FMA && odb_processor_has_vfpv4());
#elif defined(PRODUCT_FMA)
    return set <= ODB_PRODUCT_FMA;
#else
    return set == ODB_PRODUCT_PLAIN;
#endif
}

enum odb_product_set odb_product_best(void)
{
#ifdef ODB_SIMD_ONLY_PRODUCT
    return ODB_SIMD_ONLY_PRODUCT;
#else
    enum odb_product_set set = ODB_PRODUCT_AVX512;
    while (!odb_product_has(set))
        set--;
    return set;
#endif
}

size_t odb_product_bytes(enum odb_product_set set)
{
    return set == ODB_PRODUCT_AVX512 ? 64 : set == ODB_PRODUCT_AVX2 ? 32 : 16;
}

bool odb_product_can(const struct odb_gemm *g)
{
    return g->dtype == ODB_F32 || g->dtype == ODB_F64;
}

/* A single column of C is a row of its transpose. */
static struct odb_gemm product_turned(const struct odb_gemm *g)
{
    struct odb_gemm t = *g;
    t.m = 1;
    t.n = g->m;
    t.a = g->b;
    t.b = g->a;
    t.trans_a = !g->trans_b;
    t.trans_b = !g->trans_a;
    t.lda = g->ldb;
    t.ldb = g->lda;
    t.ldc = g->m;
    return t;
}

typedef bool (*product_run_fn)(const struct odb_gemm *);

static const product_run_fn product_fns[][2] = {
    [ODB_PRODUCT_PLAIN] = {product_run_f32_plain, product_run_f64_plain},
#ifdef PRODUCT_FMA
    [ODB_PRODUCT_FMA] = {product_run_f32_fma, product_run_f64_fma},
#endif
#if defined(__x86_64__)
    [ODB_PRODUCT_AVX2] = {product_run_f32_avx2, product_run_f64_avx2},
    [ODB_PRODUCT_AVX512] = {product_run_f32_avx512, product_run_f64_avx512},
#endif
};

static bool product_scaled_by_one(const struct odb_gemm *g, enum odb_product_set set)
{
    struct odb_gemm turned;
    if (g->n == 1 && g->m > 1 && g->ldc == 1) {
        turned = product_turned(g);
        g = &turned;
    }
    return product_fns[set][g->dtype == ODB_F64](g);
}

bool odb_product_run(const struct odb_gemm *g, enum odb_product_set set)
{
    if (g->alpha == 1)
        return product_scaled_by_one(g, set);
    size_t bytes, size = odb_dtype_info(g->dtype)->bits / 8;
    if (!odb_size_mul(g->m * g->n, size, &bytes))
        return false;
    struct odb_gemm raw = *g;
    void *c = odb_work_raw(bytes);
    raw.alpha = 1;
    raw.accumulate = false;
    raw.c = c;
    raw.ldc = g->n;
    bool done = c && product_scaled_by_one(&raw, set);
    for (size_t i = 0; done && i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            size_t to = i * g->ldc + j, from = i * g->n + j;
            double value = g->alpha * odb_load_f64(g->dtype, c, from);
            if (g->dtype == ODB_F32)
                value = (float)value;
            if (g->accumulate)
                value += odb_load_f64(g->dtype, g->c, to);
            odb_store_f64(g->dtype, g->c, to, value);
        }
    odb_work_give(c);
    return done;
}
