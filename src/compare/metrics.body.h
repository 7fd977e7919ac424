/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is summed over a chunk of pairs, in eight lanes, per width of registers (wide.h). Numbers
 * are read as floats or doubles from where they stand; there are a multiple of eight.
 */
#define V WIDE_FN(metrics_vec)
#define M WIDE_FN(metrics_mask)
#define LANES (VEC / sizeof(double))
#define VECS (ODB_LANES / LANES)

typedef double V __attribute__((vector_size(VEC)));
typedef int64_t M __attribute__((vector_size(VEC)));
typedef double WIDE_FN(metrics_doubles) __attribute__((vector_size(VEC), aligned(1), may_alias));
typedef float WIDE_FN(metrics_floats) __attribute__((vector_size(VEC / 2), aligned(1), may_alias));

/* Floats as doubles. Of finite numbers: the larger, and the integer part. Counting where x is above
 * y, or not equal: masks are -1 where true. */
#if VEC == 64 && defined(__x86_64__)
#define WIDEN(x) ((V)_mm512_cvtps_pd((__m256)(x)))
#define LARGER(x, y) ((V)_mm512_max_pd((__m512d)(x), (__m512d)(y)))
#define WHOLE(x) ((V)_mm512_roundscale_pd((__m512d)(x), _MM_FROUND_TO_ZERO))
#define COUNT(n, x, y, is)                                                                         \
    (M) _mm512_mask_add_epi64((__m512i)(n), _mm512_cmp_pd_mask((__m512d)(x), (__m512d)(y), is),    \
                              (__m512i)(n), (__m512i)((M){} + 1))
#define ABOVE(n, x, y) ((n) = COUNT(n, x, y, _CMP_GT_OQ))
#define APART(n, x, y) ((n) = COUNT(n, x, y, _CMP_NEQ_UQ))
#else
#define ABOVE(n, x, y) ((n) -= (x) > (y))
#define APART(n, x, y) ((n) -= (x) != (y))
#if VEC == 32 && defined(__x86_64__)
#define WIDEN(x) ((V)_mm256_cvtps_pd((__m128)(x)))
#define LARGER(x, y) ((V)_mm256_max_pd((__m256d)(x), (__m256d)(y)))
#define WHOLE(x) ((V)_mm256_round_pd((__m256d)(x), _MM_FROUND_TO_ZERO))
#else
#define WIDEN(x) __builtin_convertvector(x, V)
#define LARGER VEC_MAX
#define WHOLE WIDE_FN(metrics_whole)
#endif
#endif

#define PART static inline __attribute__((always_inline))
#define ABS(x) VEC_AND(x, (M){} + INT64_MAX)
/* The vectors of every step, as v. */
#define STEPS(n)                                                                                   \
    for (size_t i = 0; i < (n); i += ODB_LANES)                                                    \
        for (size_t v = 0; v < VECS; v++)
#define E WIDE_FN(metrics_at)(x.e.at, x.e.wide, i + v * LANES)
#define B WIDE_FN(metrics_at)(x.b.at, x.b.wide, i + v * LANES)
#define TOTAL(lanes) metrics_total((const double *)(lanes))
#define LARGEST(lanes) metrics_largest((const double *)(lanes))
#define COUNTED(lanes) metrics_counted((const int64_t *)(lanes))
#define ANY(lanes) metrics_any((const int64_t *)(lanes))

WIDE PART V WIDE_FN(metrics_at)(const void *at, bool wide, size_t i)
{
    if (wide)
        return *(const WIDE_FN(metrics_doubles) *)((const odb_f64 *)at + i);
    return WIDEN(*(const WIDE_FN(metrics_floats) *)((const odb_f32 *)at + i));
}

/* The integer part of a finite number, with its sign. Adding and taking away 2^52 rounds to
 * nearest; from there on every double is an integer. */
WIDE PART V WIDE_FN(metrics_whole)(V x)
{
    V a = ABS(x), near = a + 0x1p52 - 0x1p52;
    V whole = VEC_PICK(a < 0x1p52, near - VEC_AND((V){} + 1, near > a), a);
    return (V)((M)whole | ((M)x & INT64_MIN));
}

WIDE PART void WIDE_FN(metrics_distances)(struct metrics_pairs x, struct metrics_part *p)
{
    V ad[VECS] = {0}, b2[VECS] = {0}, max[VECS] = {0};
    M differ[VECS] = {0};
    STEPS(x.n)
    {
        V e = E, b = B, d = ABS(e - b);
        metrics_ahead(&x, i);
        ad[v] += d;
        b2[v] += b * b;
        max[v] = LARGER(d, max[v]);
        APART(differ[v], d, (V){});
    }
    p->ad = TOTAL(ad);
    p->b2 = TOTAL(b2);
    p->max_ad = LARGEST(max);
    p->more = COUNTED(differ);
}

struct WIDE_FN(metrics_lane_sums) {
    V ad[VECS], ab[VECS], d2[VECS], b2[VECS], e2[VECS], eb[VECS], d3[VECS], ape[VECS];
    V max[VECS], peak[VECS], max_d3[VECS];
    M far[VECS], above[VECS], more[VECS], less[VECS], whole[VECS];
};

/* Distances and the squares. */
WIDE PART void WIDE_FN(metrics_moments)(struct WIDE_FN(metrics_lane_sums) * s, size_t v, V e, V b)
{
    V d = ABS(e - b), a = ABS(b);
    s->ad[v] += d;
    s->ab[v] += a;
    s->d2[v] += d * d;
    s->b2[v] += b * b;
    s->e2[v] += e * e;
    s->eb[v] += e * b;
    s->max[v] = LARGER(d, s->max[v]);
    s->peak[v] = LARGER(a, s->peak[v]);
}

/* The divisions. above: not 0 where a quotient |e-b|/|b| may be greater than least; those are made
 * only then, because a chunk rarely has one. */
WIDE PART void WIDE_FN(metrics_relative)(struct WIDE_FN(metrics_lane_sums) * s, size_t v, V e, V b,
                                         double th, double least)
{
    V d = ABS(e - b), a = ABS(b), relative = d / (a + METRICS_EPS);
    V local = VEC_PICK(a > th, relative, d);
    s->ape[v] += relative;
    s->d3[v] += local;
    s->max_d3[v] = LARGER(local, s->max_d3[v]);
    s->above[v] |= (M)a & (d > least * a);
    ABOVE(s->far[v], d, th + th * a);
}

WIDE PART void WIDE_FN(metrics_counts)(struct WIDE_FN(metrics_lane_sums) * s, size_t v, V e, V b)
{
    ABOVE(s->more[v], e, b);
    ABOVE(s->less[v], b, e);
    APART(s->whole[v], WHOLE(e), WHOLE(b));
}

WIDE PART void WIDE_FN(metrics_quotients)(struct metrics_pairs x, struct metrics_part *p)
{
    V max_rel[VECS] = {0};
    STEPS(x.n)
    {
        V b = B, d = ABS(E - b), a = ABS(b);
        V plain = VEC_AND(d / VEC_PICK(a > 0, a, a + 1), a > 0);
        max_rel[v] = LARGER(plain, max_rel[v]);
    }
    p->max_rel = LARGEST(max_rel);
}

WIDE PART void WIDE_FN(metrics_full)(struct metrics_pairs x, const struct metrics_ask *ask,
                                     struct metrics_part *p)
{
    struct WIDE_FN(metrics_lane_sums) s = {0};
    const bool together = VEC == 64; /* there are registers for all of it */
    const double th = ask->th, least = ask->max_rel * (1 - 0x1p-50); /* a product is rounded */
    STEPS(x.n)
    {
        V e = E, b = B;
        metrics_ahead(&x, i);
        WIDE_FN(metrics_moments)(&s, v, e, b);
        if (together) {
            WIDE_FN(metrics_relative)(&s, v, e, b, th, least);
            WIDE_FN(metrics_counts)(&s, v, e, b);
        }
    }
    if (!together) {
        STEPS(x.n)
        WIDE_FN(metrics_relative)(&s, v, E, B, th, least);
        STEPS(x.n)
        WIDE_FN(metrics_counts)(&s, v, E, B);
    }
    *p = (struct metrics_part){.ad = TOTAL(s.ad),
                               .ab = TOTAL(s.ab),
                               .d3 = TOTAL(s.d3),
                               .mape = TOTAL(s.ape),
                               .d2 = TOTAL(s.d2),
                               .b2 = TOTAL(s.b2),
                               .e2 = TOTAL(s.e2),
                               .eb = TOTAL(s.eb),
                               .max_ad = LARGEST(s.max),
                               .max_b = LARGEST(s.peak),
                               .max_d3 = LARGEST(s.max_d3),
                               .more = COUNTED(s.more),
                               .less = COUNTED(s.less),
                               .whole = COUNTED(s.whole),
                               .not_close = COUNTED(s.far)};
    if (ANY(s.above))
        WIDE_FN(metrics_quotients)(x, p);
}

/* What is not 0 of pairs that are equal. */
WIDE PART void WIDE_FN(metrics_equal)(struct metrics_pairs x, struct metrics_part *p)
{
    V ab[VECS] = {0}, b2[VECS] = {0}, peak[VECS] = {0};
    STEPS(x.n)
    {
        V b = B, a = ABS(b);
        metrics_ahead(&x, i);
        ab[v] += a;
        b2[v] += b * b;
        peak[v] = LARGER(a, peak[v]);
    }
    p->ab = TOTAL(ab);
    p->b2 = p->e2 = p->eb = TOTAL(b2);
    p->max_b = LARGEST(peak);
}

WIDE PART void WIDE_FN(metrics_kind)(struct metrics_pairs x, bool e_wide, bool b_wide,
                                     const struct metrics_ask *ask, struct metrics_part *p)
{
    x.e.wide = e_wide; /* which the compiler knows */
    x.b.wide = b_wide;
    if (ask->equal)
        WIDE_FN(metrics_equal)(x, p);
    else if (ask->light)
        WIDE_FN(metrics_distances)(x, p);
    else
        WIDE_FN(metrics_full)(x, ask, p);
}

/* The loops once for every pair of types. */
WIDE static void WIDE_FN(metrics)(const struct metrics_pairs *x, const struct metrics_ask *ask,
                                  struct metrics_part *p)
{
    if (x->e.wide && x->b.wide)
        WIDE_FN(metrics_kind)(*x, true, true, ask, p);
    else if (x->e.wide)
        WIDE_FN(metrics_kind)(*x, true, false, ask, p);
    else if (x->b.wide)
        WIDE_FN(metrics_kind)(*x, false, true, ask, p);
    else
        WIDE_FN(metrics_kind)(*x, false, false, ask, p);
}

#undef V
#undef M
#undef LANES
#undef VECS
#undef WIDEN
#undef LARGER
#undef WHOLE
#undef COUNT
#undef ABOVE
#undef APART
#undef PART
#undef ABS
#undef STEPS
#undef E
#undef B
#undef TOTAL
#undef LARGEST
#undef COUNTED
#undef ANY
