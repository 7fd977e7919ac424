/* SPDX-License-Identifier: MIT
 *
 * Reductions, per element type. kind is a constant wherever these are inlined.
 */
ODB_INLINE ACC FN(reduce_start)(enum reduce_kind kind)
{
    return kind == REDUCE_PROD ? 1 : kind == REDUCE_MAX ? LOWEST : kind == REDUCE_MIN ? HIGHEST : 0;
}

/* Two partial results as one. */
ODB_INLINE ACC FN(reduce_join)(enum reduce_kind kind, ACC a, ACC b)
{
    if (kind == REDUCE_PROD)
        return (ACC)((WRAP)a * (WRAP)b);
    if (kind == REDUCE_MAX)
        return b > a || IS_NAN(b) ? b : a;
    if (kind == REDUCE_MIN)
        return b < a || IS_NAN(b) ? b : a;
    return (ACC)((WRAP)a + (WRAP)b);
}

/* What an element adds to the sum. top: of ReduceLogSumExp, keeps powers within range. */
ODB_INLINE ACC FN(reduce_map)(enum reduce_kind kind, ACC x, ACC top)
{
    if (kind == REDUCE_L1)
        return ABSOLUTE(x);
    if (kind == REDUCE_L2 || kind == REDUCE_SUM_SQUARE)
        return (ACC)((WRAP)x * (WRAP)x);
    if (kind == REDUCE_LOG_SUM_EXP)
        return (ACC)exp((double)(x - top));
    return x;
}

ODB_INLINE ACC FN(reduce_line)(enum reduce_kind kind, const T *x, size_t n, ACC acc, ACC top)
{
    size_t i = 0;
    if (LANES > 1 && n >= 2 * LANES) {
        ACC part[2 * LANES];
        for (size_t l = 0; l < 2 * LANES; l++)
            part[l] = FN(reduce_map)(kind, x[l], top);
        for (i = 2 * LANES; i + 2 * LANES <= n; i += 2 * LANES)
            for (size_t l = 0; l < 2 * LANES; l++)
                part[l] = FN(reduce_join)(kind, part[l], FN(reduce_map)(kind, x[i + l], top));
        for (size_t half = LANES; half > 0; half /= 2)
            for (size_t l = 0; l < half; l++)
                part[l] = FN(reduce_join)(kind, part[l], part[l + half]);
        acc = FN(reduce_join)(kind, acc, part[0]);
    }
    for (; i < n; i++)
        acc = FN(reduce_join)(kind, acc, FN(reduce_map)(kind, x[i], top));
    return acc;
}

ODB_INLINE void FN(reduce_row)(enum reduce_kind kind, const T *x, size_t n, const ACC *top,
                               ACC *acc)
{
    for (size_t i = 0; i < n; i++)
        acc[i] = FN(reduce_join)(kind, acc[i], FN(reduce_map)(kind, x[i], top[i]));
}

/* acc joined with x[0, n). */
ODB_SIMD static ACC FN(reduce_along)(enum reduce_kind kind, const T *x, size_t n, ACC acc, ACC top)
{
    switch (kind) {
#define REDUCE_CASE(name, text)                                                                    \
    case name:                                                                                     \
        return FN(reduce_line)(name, x, n, acc, top);
        REDUCE_KINDS(REDUCE_CASE)
#undef REDUCE_CASE
    }
    return acc;
}

/* acc[i] joined with x[i]. */
ODB_SIMD static void FN(reduce_across)(enum reduce_kind kind, const T *x, size_t n, const ACC *top,
                                       ACC *acc)
{
    switch (kind) {
#define REDUCE_CASE(name, text)                                                                    \
    case name:                                                                                     \
        FN(reduce_row)(name, x, n, top, acc);                                                      \
        return;
        REDUCE_KINDS(REDUCE_CASE)
#undef REDUCE_CASE
    }
}

/* n <= REDUCE_CHUNK neighbouring lanes from `lane` into acc. */
static void FN(reduce_chunk)(const struct reduce *r, enum reduce_kind kind, size_t lane, size_t n,
                             const ACC *top, ACC *acc)
{
    const struct odb_lane_dims *along = &r->lanes.reduced;
    const T *x = (const T *)r->x + odb_lanes_at(&r->lanes.kept, lane);
    size_t line = r->lines ? along->dims[along->rank - 1] : 1;
    for (size_t i = 0; i < n; i++)
        acc[i] = FN(reduce_start)(kind);
    for (size_t e = 0; e < along->count; e += line) {
        const T *from = x + odb_lanes_at(along, e);
        if (r->lines)
            acc[0] = FN(reduce_along)(kind, from, line, acc[0], top[0]);
        else
            FN(reduce_across)(kind, from, n, top, acc);
    }
}

ODB_INLINE T FN(reduce_finish)(enum reduce_kind kind, ACC acc, size_t n, ACC top)
{
    switch (kind) {
    case REDUCE_MEAN:
        return (T)(n ? acc / (ACC)n : (ACC)NOTHING);
    case REDUCE_L2:
        return (T)sqrt((double)acc);
    case REDUCE_LOG_SUM:
        return (T)log((double)acc);
    case REDUCE_LOG_SUM_EXP:
        return (T)(log((double)acc) + (double)top);
    default:
        return (T)acc;
    }
}

/* Lanes [begin, end). Neighbouring lanes go together where their elements are neighbours. */
static void FN(reduce_lanes)(void *arg, size_t begin, size_t end)
{
    const struct reduce *r = arg;
    const struct odb_lane_dims *kept = &r->lanes.kept;
    size_t row = r->lines || kept->rank == 0 ? 1 : kept->dims[kept->rank - 1];
    ACC acc[REDUCE_CHUNK], top[REDUCE_CHUNK] = {0};
    for (size_t lane = begin; lane < end;) {
        size_t n = ODB_MIN(ODB_MIN(row - lane % row, (size_t)REDUCE_CHUNK), end - lane);
        if (r->kind == REDUCE_LOG_SUM_EXP) {
            FN(reduce_chunk)(r, REDUCE_MAX, lane, n, top, acc);
            for (size_t i = 0; i < n; i++)
                top[i] = acc[i] == LOWEST || acc[i] == HIGHEST || IS_NAN(acc[i]) ? 0 : acc[i];
        }
        FN(reduce_chunk)(r, r->kind, lane, n, top, acc);
        for (size_t i = 0; i < n; i++)
            ((T *)r->y)[lane + i] =
                FN(reduce_finish)(r->kind, acc[i], r->lanes.reduced.count, top[i]);
        lane += n;
    }
}
