/* SPDX-License-Identifier: MIT
 *
 * The product for one element type E and one set of instructions (product.c): functions carry
 * TARGET; V is a vector of LANES elements with LOAD, STORE, ADD, ZERO, SPREAD (one element to all
 * lanes) and FMA; FMA1 is that of one element; QUAD loads four terms of LANES columns of a
 * transposed B; ROWS is how many rows of C the registers hold three vectors of: 4 or 8. Panels of
 * fewer vectors are multiplied by more rows at a time, so that as many sums are under way.
 */
#define TALL(nv) ((nv) == 1 ? 8 : (nv) == 2 ? ROWS * 3 / 2 : ROWS)

/* Adds a term to MR rows and NV vectors of C. */
ODB_INLINE TARGET void FN(product_term)(const int mr, const int nv, const char *a, ptrdiff_t down,
                                        const E *b, V (*sum)[3])
{
    V part[3];
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++)
        part[j] = LOAD(b + j * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < mr; i++) {
        V left = SPREAD(*(const E *)(a + i * down));
#pragma GCC unroll 3
        for (int j = 0; j < nv; j++)
            sum[i][j] = FMA(left, part[j], sum[i][j]);
    }
}

/* MR rows and NV vectors of C; rows of B are `step` elements apart. */
ODB_INLINE TARGET void FN(product_cell)(const int mr, const int nv, struct product_cell *t,
                                        const E *b, size_t step, E *c, size_t ldc, bool add)
{
    V sum[ROWS + 4][3];
    const char *a = t->a;
    const ptrdiff_t down = t->down, along = t->along;
    size_t p = 0;
#pragma GCC unroll 16
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 3
        for (int j = 0; j < nv; j++)
            sum[i][j] = ZERO();
    for (; !t->ahead.rows && p + 4 <= t->depth; p += 4)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++, a += along, b += step)
            FN(product_term)(mr, nv, a, down, b, sum);
    for (; p < t->depth; p++, a += along, b += step) {
        product_ask(&t->ahead);
        FN(product_term)(mr, nv, a, down, b, sum);
    }
#pragma GCC unroll 16
    for (int i = 0; i < mr; i++, c += ldc)
#pragma GCC unroll 3
        for (int j = 0; j < nv; j++)
            STORE(c + j * LANES, add ? ADD(LOAD(c + j * LANES), sum[i][j]) : sum[i][j]);
}

/* Cells of mr rows and nv vectors. */
struct FN(product_height) {
    size_t rows;
    void (*cell)(struct product_cell *, const E *, size_t, E *, size_t, bool);
};

#define PRODUCT_CELL(name, mr, nv)                                                                 \
    static TARGET void FN(product_##name##_##nv)(struct product_cell * t, const E *b, size_t step, \
                                                 E *c, size_t ldc, bool add)                       \
    {                                                                                              \
        FN(product_cell)(mr, nv, t, b, step, c, ldc, add);                                         \
    }
#define PRODUCT_CELLS(nv)                                                                          \
    PRODUCT_CELL(tall, TALL(nv), nv)                                                               \
    PRODUCT_CELL(half, ROWS / 2, nv)                                                               \
    PRODUCT_CELL(pair, 2, nv)                                                                      \
    PRODUCT_CELL(line, 1, nv)
#define PRODUCT_HEIGHTS(nv)                                                                        \
    {                                                                                              \
        {TALL(nv), FN(product_tall_##nv)}, {ROWS / 2, FN(product_half_##nv)},                      \
            {2, FN(product_pair_##nv)}, {1, FN(product_line_##nv)},                                \
    }
PRODUCT_CELLS(1)
PRODUCT_CELLS(2)
PRODUCT_CELLS(3)

/* By the vectors less one; the tallest first, and the last is of one row. */
static const struct FN(product_height)
    FN(product_heights)[][4] = {PRODUCT_HEIGHTS(1), PRODUCT_HEIGHTS(2), PRODUCT_HEIGHTS(3)};
#undef PRODUCT_CELL
#undef PRODUCT_CELLS
#undef PRODUCT_HEIGHTS

/* The terms of a panel in all rows of C. b holds it, rows `step` apart; soon: a panel to ask for.
 */
static void FN(product_column)(const struct odb_gemm *g, const struct product_panel *at, const E *b,
                               size_t step, const struct product_panel *soon)
{
    size_t nv = (at->cols + LANES - 1) / LANES, rows;
    const struct FN(product_height) *height = FN(product_heights)[nv - 1];
    size_t cells = (g->m + height->rows - 1) / height->rows;
    struct product_cell t = {.depth = at->depth,
                             .down = (ptrdiff_t)((g->trans_a ? 1 : g->lda) * sizeof(E)),
                             .along = (ptrdiff_t)((g->trans_a ? g->lda : 1) * sizeof(E)),
                             .ahead = product_ahead(g, soon, sizeof(E), cells)};
    const char *a = (const char *)g->a + (ptrdiff_t)at->p0 * t.along;
    bool add = at->p0 > 0 || g->accumulate;
    for (size_t i = 0; i < g->m; i += rows) {
        while (height->rows > g->m - i)
            height++;
        rows = height->rows;
        t.a = a + (ptrdiff_t)i * t.down;
        E *c = (E *)g->c + i * g->ldc + at->j0;
        if (at->cols == nv * LANES) {
            height->cell(&t, b, step, c, g->ldc, add);
            continue;
        }
        E tile[(ROWS + 4) * 3 * LANES], *from = tile;
        height->cell(&t, b, step, tile, nv * LANES, false);
        for (size_t r = 0; r < rows; r++, c += g->ldc, from += nv * LANES)
            for (size_t j = 0; j < at->cols; j++)
                c[j] = add ? c[j] + from[j] : from[j];
    }
}

/* --- one row of C, B read where it lies --- */

/* nv vectors of sums of `depth` terms. */
ODB_INLINE TARGET void FN(product_sums)(const int nv, const E *a, size_t along, const E *b,
                                        size_t ldb, size_t depth, E *sums)
{
    V sum[8];
#pragma GCC unroll 8
    for (int j = 0; j < nv; j++)
        sum[j] = ZERO();
    for (size_t p = 0; p < depth; p++, a += along, b += ldb) {
        V left = SPREAD(*a);
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) {
            __builtin_prefetch(b + PRODUCT_AHEAD * ldb + j * LANES);
            sum[j] = FMA(left, LOAD(b + j * LANES), sum[j]);
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < nv; j++)
        STORE(sums + j * LANES, sum[j]);
}

/* The same where B is transposed: four terms at a time are turned round in registers. What is far
 * is asked for ahead, which costs more than it gains where a cache has it. */
ODB_INLINE TARGET void FN(product_dots)(const int nv, bool far, const E *a, size_t along,
                                        const E *b, size_t ldb, size_t depth, E *sums)
{
    V sum[8], part[4];
    size_t p = 0;
#pragma GCC unroll 8
    for (int j = 0; j < nv; j++)
        sum[j] = ZERO();
    for (; p + 4 <= depth; p += 4) {
        if (far && p % (PRODUCT_LINE / sizeof(E)) == 0)
            for (size_t c = 0; c < (size_t)nv * LANES; c++)
                __builtin_prefetch(b + c * ldb + p + 4 * PRODUCT_LINE / sizeof(E));
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) {
            QUAD(b + (size_t)j * LANES * ldb + p, ldb, part);
#pragma GCC unroll 4
            for (size_t r = 0; r < 4; r++)
                sum[j] = FMA(SPREAD(a[(p + r) * along]), part[r], sum[j]);
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < nv; j++)
        STORE(sums + j * LANES, sum[j]);
    for (; p < depth; p++)
        for (size_t j = 0; j < (size_t)nv * LANES; j++)
            sums[j] = FMA1(a[p * along], b[j * ldb + p], sums[j]);
}

static TARGET void FN(product_sums_of)(size_t nv, bool turned, bool far, const E *a, size_t along,
                                       const E *b, size_t ldb, size_t depth, E *sums)
{
    if (turned && nv >= 2)
        FN(product_dots)(2, far, a, along, b, ldb, depth, sums);
    else if (turned)
        FN(product_dots)(1, far, a, along, b, ldb, depth, sums);
    else if (nv == 8)
        FN(product_sums)(8, a, along, b, ldb, depth, sums);
    else if (nv == 4)
        FN(product_sums)(4, a, along, b, ldb, depth, sums);
    else
        FN(product_sums)(1, a, along, b, ldb, depth, sums);
}

/* The same of many columns, in sums that lie in memory: long pieces of four rows of B at a time. */
static TARGET void FN(product_long)(const E *a, size_t along, const E *b, size_t ldb, size_t depth,
                                    E *sums, size_t cols)
{
    for (size_t j = 0; j < cols; j++)
        sums[j] = 0;
    for (size_t p = 0; p < depth; p += 4, b += 4 * ldb) {
        size_t n = ODB_MIN(depth - p, (size_t)4), j = 0;
        E left[4] = {0};
        for (size_t r = 0; r < n; r++)
            left[r] = a[(p + r) * along];
        for (; n == 4 && j + LANES <= cols; j += LANES) {
            V s = LOAD(sums + j);
#pragma GCC unroll 4
            for (size_t r = 0; r < 4; r++) {
                __builtin_prefetch(b + (r + 4) * ldb + j);
                s = FMA(SPREAD(left[r]), LOAD(b + r * ldb + j), s);
            }
            STORE(sums + j, s);
        }
        for (; j < cols; j++)
            for (size_t r = 0; r < n; r++)
                sums[j] = FMA1(left[r], b[r * ldb + j], sums[j]);
    }
}

/* At least a vector of columns: the last ones are a vector too, and some of it known already. */
static void FN(product_row)(const struct odb_gemm *g)
{
    E sums[PRODUCT_COLS];
    size_t along = g->trans_a ? g->lda : 1;
    size_t bytes = g->n * g->k * sizeof(E);
    bool pieces = !g->trans_b && bytes > PRODUCT_NEAR, far = bytes > PRODUCT_FAR;
    for (size_t j0 = 0; pieces && j0 < g->n; j0 += PRODUCT_COLS)
        for (size_t p0 = 0; p0 < g->k; p0 += ODB_PRODUCT_DEPTH) {
            size_t cols = ODB_MIN(g->n - j0, (size_t)PRODUCT_COLS);
            E *c = (E *)g->c + j0;
            FN(product_long)
            ((const E *)g->a + p0 * along, along, (const E *)g->b + p0 * g->ldb + j0, g->ldb,
             ODB_MIN(g->k - p0, (size_t)ODB_PRODUCT_DEPTH), sums, cols);
            for (size_t j = 0; j < cols; j++)
                c[j] = p0 > 0 || g->accumulate ? c[j] + sums[j] : sums[j];
        }
    for (size_t j0 = pieces ? g->n : 0; j0 < g->n;) {
        size_t left = (g->n - j0) / LANES, nv = left >= 8 ? 8 : left >= 4 ? 4 : 1;
        if (g->trans_b)
            nv = left >= 2 ? 2 : 1;
        size_t known = left ? 0 : j0 + LANES - g->n, from = j0 - known, cols = nv * LANES - known;
        for (size_t p0 = 0; p0 < g->k; p0 += ODB_PRODUCT_DEPTH) {
            const E *b = (const E *)g->b + (g->trans_b ? from * g->ldb + p0 : p0 * g->ldb + from);
            E *c = (E *)g->c + j0;
            FN(product_sums_of)
            (nv, g->trans_b, far, (const E *)g->a + p0 * along, along, b, g->ldb,
             ODB_MIN(g->k - p0, (size_t)ODB_PRODUCT_DEPTH), sums);
            for (size_t j = 0; j < cols; j++)
                c[j] = p0 > 0 || g->accumulate ? c[j] + sums[known + j] : sums[known + j];
        }
        j0 += cols;
    }
}

/* to[p * width + j] = from[j * ld + p] for p < depth, j < cols; 0 for cols <= j < width. */
static TARGET void FN(product_turn)(const E *from, size_t ld, size_t cols, size_t depth, E *to,
                                    size_t width)
{
    V part[4];
    for (size_t j = 0; j < width; j += LANES) {
        size_t p = 0;
        for (; j + LANES <= cols && p + 4 <= depth; p += 4) {
            QUAD(from + j * ld + p, ld, part);
#pragma GCC unroll 4
            for (size_t r = 0; r < 4; r++)
                STORE(to + (p + r) * width + j, part[r]);
        }
        for (; p < depth; p++)
            for (size_t c = j; c < j + LANES; c++)
                to[p * width + c] = c < cols ? from[c * ld + p] : 0;
    }
}

/* Panels of op(B), one behind the other, the last vector filled up with zeros. Rows are read in one
 * go. */
static TARGET void FN(product_pack)(const struct odb_gemm *g, const struct product_panel *at,
                                    size_t n, E *to)
{
    const E *b = (const E *)g->b + product_at(g, at);
    E *line[PRODUCT_GROUP];
    for (size_t q = 0; q < n; q++) {
        size_t width = (at[q].cols + LANES - 1) / LANES * LANES;
        line[q] = to + (at[q].j0 - at->j0) * at->depth;
        if (g->trans_b)
            FN(product_turn)
        ((const E *)g->b + product_at(g, &at[q]), g->ldb, at[q].cols, at->depth, line[q], width);
    }
    for (size_t p = 0; p < at->depth && !g->trans_b; p++, b += g->ldb)
        for (size_t q = 0; q < n; q++) {
            size_t j = 0, cols = at[q].cols;
            const E *from = b + (at[q].j0 - at->j0);
            for (; j + LANES <= cols; j += LANES, line[q] += LANES)
                STORE(line[q], LOAD(from + j));
            for (size_t l = 0; j < cols && l < LANES; l++)
                *line[q]++ = j + l < cols ? from[j + l] : 0;
        }
}

/* The panels that follow at[0] with the same terms, as many as are copied in one go; at[n] is what
 * comes after them. */
static size_t FN(product_group)(const struct odb_gemm *g, struct product_panel *at)
{
    for (size_t n = 1;; n++) {
        at[n] = product_panel(g, LANES, at[n - 1].p0, at[n - 1].index + 1);
        if (n == PRODUCT_GROUP || at[n].depth == 0 || at[n].p0 != at->p0)
            return n;
    }
}

/* All of C. Panels of B that are used too seldom for a copy are read where they are. */
static bool FN(product_run)(const struct odb_gemm *g)
{
    if (g->m == 1 && g->n >= LANES) {
        FN(product_row)(g);
        return true;
    }
    E *packed = odb_workspace(ODB_WORKSPACE_PACK,
                              ODB_PRODUCT_DEPTH * PRODUCT_GROUP * 3 * LANES * sizeof(E));
    if (!packed)
        return false;
    bool seldom = !g->trans_b && (g->m <= PRODUCT_FEW || g->ldb * sizeof(E) <= 256);
    struct product_panel at[PRODUCT_GROUP + 1] = {product_panel(g, LANES, 0, 0)};
    while (at->depth) {
        size_t n = FN(product_group)(g, at);
        bool direct = seldom && at[n - 1].cols % LANES == 0;
        if (!direct)
            FN(product_pack)(g, at, n, packed);
        struct product_panel soon = at[direct ? 1 : n];
        for (size_t q = 0; q < n; q++) {
            const E *b = direct ? (const E *)g->b + product_at(g, &at[q])
                                : packed + (at[q].j0 - at->j0) * at->depth;
            size_t step = direct ? g->ldb : (at[q].cols + LANES - 1) / LANES * LANES;
            FN(product_column)(g, &at[q], b, step, &soon);
            if (soon.depth)
                soon = product_panel(g, LANES, soon.p0, soon.index + 1);
        }
        at[0] = at[n];
    }
    return true;
}
#undef TALL
#undef FN
#undef E
#undef QUAD
#undef V
#undef LANES
#undef LOAD
#undef STORE
#undef ADD
#undef FMA
#undef FMA1
#undef SPREAD
#undef ZERO
