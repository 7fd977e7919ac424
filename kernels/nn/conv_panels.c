/* SPDX-License-Identifier: MIT
 *
 * Convolutions as products of the weights with panels: some 48 neighbouring results wide, one row
 * per channel and tap, laid out in a cache right before they are multiplied (product.h). Every
 * result is bias + (256 products) + (256 products)…, in the order of channels and taps, and each
 * 256 are one chain of fused multiply-adds; no more is lost than in BLAS, which sums as many one by
 * one, and sums in double would halve the speed. How the work is cut changes no bit.
 *
 * Panels are cut out of planes (window.h), in which all that a tap reads for neighbouring results
 * is contiguous. The results outside of a plane's corner are computed with the others and thrown
 * away (flat), where gathering only those inside (dense) would cost more.
 */
#include <stdatomic.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/nn/conv.h"
#include "kernels/linear/product.h"
#include "kernels/core/real.h"
#include "kernels/core/workspace.h"

#define PANEL_VECTORS 3 /* in a panel */
#define PANEL_SPAN 15   /* at most so many in the panels that the weights go through together */
#define PANEL_LEAST 6   /* and at least, rather than that the weights are cut */
#define PANEL_BYTES (1u << 19)  /* of all these panels: they should stay in a cache */
#define PANEL_PLANES (1u << 19) /* of planes, likewise */
#define PANEL_TILE 2048         /* weights multiplied at a time: fewer, and calls cost too much */
#define PANEL_ROWS 24           /* or so many rows of them: the product takes 4 to 12 at a time */
#define PANEL_PART 256          /* output channels whose sums are kept, where weights are cut */
#define PANEL_TASKS 3           /* for a thread */
#define PANEL_RESULTS 192       /* at least so many in a block of lines */
#define PANEL_GRAIN (1u << 18)  /* multiplications worth a thread's wake-up */
#define PANEL_FILL_GRAIN (1u << 15) /* elements moved, likewise */
#define PANEL_CACHE_LINE 64

struct panels {
    const struct conv *conv;
    enum odb_product_set set;
    struct odb_window window; /* over a block: `rows` results of dimension 0 */
    struct odb_planes planes; /* of a block */
    bool in_place;            /* the image is its own plane */
    bool dense;
    size_t rows, blocks;  /* rows of a block; blocks of an image */
    size_t lines, length; /* lines of a block; results in a line */
    size_t *line;         /* owned: where each line begins in a plane */
    size_t channel;       /* elements from one channel's planes to the next's */
    size_t m, k, lanes;   /* output channels of a group; products in a sum; elements of a vector */
    size_t step;          /* columns are multiplied in multiples of so many */
    size_t tasks;         /* wanted of a round, at least */
    atomic_bool failed;
};

/* Neighbouring results of a line. */
struct panel_run {
    size_t column; /* of the panel */
    size_t from;   /* in a plane */
    size_t to;     /* in the block of y */
    size_t n;
};

/* A block of lines of one group of one image. */
struct panel_round {
    struct panels *s;
    struct odb_window window; /* placed over the block */
    size_t group;
    size_t lines, length;    /* the last block may have fewer */
    size_t columns, vectors; /* results to compute; the same in vectors */
    size_t spans, parts;     /* of the columns, of the output channels: a task is one of both */
    size_t part;             /* output channels of a part */
    size_t depth;            /* products taken into sums at a time */
    const void *x, *source;  /* the group's channels; their planes, once they are filled */
    size_t there;            /* elements from x to the end of all images */
    char *y;                 /* the block's results of the group's first output channel */
};

/* What a task computes, and with what. */
struct panel_task {
    size_t m0, m, v0, vectors; /* output channels, vectors of columns */
    size_t runs;
    struct panel_run run[PANEL_SPAN * ODB_VEC_BYTES / sizeof(odb_u32)];
    char *panels, *sums; /* borrowed */
};

#define E odb_u32
#define SUFFIX 4
#include "kernels/nn/conv_panels.body.h"
#undef E
#undef SUFFIX
#define E odb_u64
#define SUFFIX 8
#include "kernels/nn/conv_panels.body.h"
#undef E
#undef SUFFIX

/* --- one task --------------------------------------------------------------------------------- */

/* The runs of columns [first, first + n); of those, results outside of every line have none. */
static size_t panel_runs(const struct panel_round *r, size_t first, size_t n, struct panel_run *run)
{
    const struct panels *s = r->s;
    size_t line, runs = 0, low = 0, high = r->lines;
    if (s->dense) {
        line = first / r->length;
    } else {
        while (high - low > 1) { /* the last that begins at first or before */
            size_t mid = low + (high - low) / 2;
            *(s->line[mid] <= first ? &low : &high) = mid;
        }
        line = low;
    }
    for (; line < r->lines; line++) {
        size_t start = s->dense ? line * r->length : s->line[line];
        size_t begin = ODB_MAX(start, first), end = ODB_MIN(start + r->length, first + n);
        if (start >= first + n)
            break;
        if (begin >= end)
            continue;
        run[runs++] = (struct panel_run){begin - first, s->line[line] + begin - start,
                                         line * r->length + begin - start, end - begin};
    }
    return runs;
}

/* Lays out rows [k0, k0 + depth) of columns [first, first + width). */
static void panel_fill(const struct panel_round *r, size_t k0, size_t depth, size_t first,
                       size_t width, void *panel)
{
    const struct panels *s = r->s;
    struct panel_run run[PANEL_VECTORS * ODB_VEC_BYTES / sizeof(odb_u32)];
    size_t runs = 1, n = ODB_MIN(width, r->columns - first);
    if (s->dense)
        runs = panel_runs(r, first, n, run);
    else
        run[0] = (struct panel_run){0, first, 0, s->in_place ? n : width};
    if (s->conv->size == 8)
        panel_pack_8(s, r->source, k0, depth, run, runs, width, panel);
    else
        panel_pack_4(s, r->source, k0, depth, run, runs, width, panel);
}

/* Columns of panel p of the task, as vectors from its first. */
static size_t panel_at(const struct panel_task *t, size_t p, size_t *vectors)
{
    size_t panels = (t->vectors + PANEL_VECTORS - 1) / PANEL_VECTORS;
    size_t at = p * t->vectors / panels;
    *vectors = (p + 1) * t->vectors / panels - at;
    return at;
}

/* Rows [i, i + rows) of the task: sums, begun with the bias, take the products [k0, k0 + depth)
 * in. */
static bool panel_multiply(const struct panel_round *r, const struct panel_task *t, size_t i,
                           size_t rows, size_t k0, size_t depth, char *sums)
{
    const struct panels *s = r->s;
    const struct conv *c = s->conv;
    size_t width = t->vectors * s->lanes, m = r->group * s->m + t->m0 + i, vectors;
    if (k0 == 0 && c->bias && c->size == 8)
        panel_bias_8((const odb_u64 *)c->bias + m, rows, width, (odb_u64 *)sums);
    else if (k0 == 0 && c->bias)
        panel_bias_4((const odb_u32 *)c->bias + m, rows, width, (odb_u32 *)sums);
    struct odb_gemm g = {.dtype = c->dtype,
                         .accumulate = c->bias || k0 > 0,
                         .m = rows,
                         .k = depth,
                         .a = (const char *)c->w + (m * s->k + k0) * c->size,
                         .lda = s->k,
                         .ldc = width,
                         .alpha = 1};
    for (size_t at = 0, p = 0; at < t->vectors; at += vectors, p++) {
        at = panel_at(t, p, &vectors);
        size_t left = r->columns - (t->v0 + at) * s->lanes;
        g.ldb = vectors * s->lanes;
        g.n = ODB_MIN(g.ldb, (left + s->step - 1) / s->step * s->step);
        g.b = t->panels + at * s->lanes * depth * c->size;
        g.c = sums + at * s->lanes * c->size;
        if (!odb_product_run(&g, s->set))
            return false;
    }
    return true;
}

/* The task's results of output channels from t->m0 + i on; NULL: asks for that memory instead,
 * which comes while the sums are made. */
static void panel_emit(const struct panel_round *r, const struct panel_task *t, size_t i,
                       size_t rows, const void *sums)
{
    const struct conv *c = r->s->conv;
    size_t step = c->window.out_size, width = t->vectors * r->s->lanes;
    char *y = r->y + (t->m0 + i) * step * c->size;
    if (t->runs == 0)
        return;
    const struct panel_run *last = &t->run[t->runs - 1];
    size_t begin = t->run[0].to * c->size, end = (last->to + last->n) * c->size;
    if (sums && c->size == 8)
        panel_emit_8(t->run, t->runs, sums, rows, width, (odb_u64 *)y, step);
    else if (sums)
        panel_emit_4(t->run, t->runs, sums, rows, width, (odb_u32 *)y, step);
    for (size_t row = 0; !sums && row < rows; row++)
        for (size_t at = begin; at < end; at += PANEL_CACHE_LINE)
            __builtin_prefetch(y + row * step * c->size + at, 1, 2);
}

static bool panel_task(const struct panel_round *r, struct panel_task *t)
{
    const struct panels *s = r->s;
    const struct conv *c = s->conv;
    size_t row = t->vectors * s->lanes * c->size, vectors;
    size_t chunk = ODB_MAX(PANEL_TILE / s->k / PANEL_ROWS * PANEL_ROWS, (size_t)PANEL_ROWS);
    for (size_t k0 = 0; k0 < s->k; k0 += r->depth) {
        size_t depth = ODB_MIN(r->depth, s->k - k0);
        bool last = k0 + depth == s->k;
        for (size_t at = 0, p = 0; at < t->vectors; at += vectors, p++) {
            at = panel_at(t, p, &vectors);
            panel_fill(r, k0, depth, (t->v0 + at) * s->lanes, vectors * s->lanes,
                       t->panels + at * s->lanes * depth * c->size);
        }
        for (size_t i = 0; i < t->m; i += chunk) {
            size_t rows = ODB_MIN(chunk, t->m - i);
            char *sums = t->sums + (r->depth < s->k ? i * row : 0);
            if (last)
                panel_emit(r, t, i, rows, NULL);
            if (!panel_multiply(r, t, i, rows, k0, depth, sums))
                return false;
            if (last)
                panel_emit(r, t, i, rows, sums);
        }
    }
    return true;
}

static void panel_tasks(void *arg, size_t begin, size_t end)
{
    struct panel_round *r = arg;
    struct panels *s = r->s;
    struct panel_task t;
    size_t widest = (r->vectors + r->spans - 1) / r->spans * ODB_VEC_BYTES;
    size_t rows =
        r->depth < s->k ? r->part : ODB_MIN(r->part, ODB_MAX(PANEL_TILE / s->k, PANEL_ROWS));
    t.panels = odb_workspace(ODB_WORKSPACE_COLUMNS, r->depth * widest + ODB_VEC_BYTES);
    t.sums = odb_workspace(ODB_WORKSPACE_ROWS, rows * widest);
    for (size_t i = begin; i < end; i++) {
        size_t span = i / r->parts;
        t.m0 = i % r->parts * r->part;
        t.m = ODB_MIN(r->part, s->m - t.m0);
        t.v0 = span * r->vectors / r->spans;
        t.vectors = (span + 1) * r->vectors / r->spans - t.v0;
        size_t first = t.v0 * s->lanes, n = ODB_MIN(t.vectors * s->lanes, r->columns - first);
        t.runs = panel_runs(r, first, n, t.run);
        if (!t.panels || !t.sums || !panel_task(r, &t))
            atomic_store(&s->failed, true);
    }
}

/* Deals the round's work into tasks. */
static void panel_deal(struct panel_round *r)
{
    const struct panels *s = r->s;
    size_t fit = PANEL_BYTES / (s->k * ODB_VEC_BYTES), span = PANEL_SPAN;
    if (fit >= PANEL_LEAST || fit >= r->vectors)
        span = ODB_MIN(span, fit);
    r->spans = (r->vectors + span - 1) / span;
    span = (r->vectors + r->spans - 1) / r->spans;
    size_t cuts = (s->k * span * ODB_VEC_BYTES + PANEL_BYTES - 1) / PANEL_BYTES;
    r->depth = s->k;
    if (cuts > 1 && span > fit)
        r->depth = (s->k / cuts + ODB_PRODUCT_DEPTH - 1) / ODB_PRODUCT_DEPTH * ODB_PRODUCT_DEPTH;
    size_t part = r->depth < s->k ? PANEL_PART : s->m;
    size_t parts = ODB_MAX((s->m + part - 1) / part, (s->tasks + r->spans - 1) / r->spans);
    part = (s->m + parts - 1) / parts;
    r->part = (part + PANEL_ROWS - 1) / PANEL_ROWS * PANEL_ROWS;
    r->parts = (s->m + r->part - 1) / r->part;
}

/* --- one round -------------------------------------------------------------------------------- */

static void panel_planes(void *arg, size_t begin, size_t end)
{
    const struct panel_round *r = arg;
    const struct panels *s = r->s;
    for (size_t i = begin; i < end; i++) {
        size_t from = i * s->window.in_size, to = i * s->channel, there = r->there - from;
        if (s->conv->size == 8)
            planes_fill_8(&r->window, &s->planes, (const odb_u64 *)r->x + from, there, 0,
                          (odb_u64 *)r->source + to);
        else
            planes_fill_4(&r->window, &s->planes, (const odb_u32 *)r->x + from, there, 0,
                          (odb_u32 *)r->source + to);
    }
}

static bool panel_round(struct panels *s, size_t index)
{
    const struct conv *c = s->conv;
    const struct odb_window *w = &s->window;
    size_t block = index % s->blocks, item = index / s->blocks, channels = c->c / c->group;
    size_t row = block * s->rows;
    struct panel_round r = {.s = s, .window = s->window, .group = item % c->group};
    size_t all = w->rank == c->window.rank ? (size_t)c->window.out[0] : c->window.out_size;
    size_t rows = ODB_MIN(s->rows, all - row);
    r.window.before[0] -= (int64_t)row * w->stride[0];
    r.lines = w->rank == 1 ? 1 : s->lines / s->rows * rows;
    r.length = w->rank == 1 ? rows : s->length;
    r.columns = s->dense ? r.lines * r.length : s->line[r.lines - 1] + r.length;
    r.x = (const char *)c->x + item * channels * w->in_size * c->size;
    r.there = (c->n * c->c - item * channels) * w->in_size;
    r.y = (char *)c->y +
          (item * s->m * c->window.out_size + row * (c->window.out_size / all)) * c->size;
    r.source = r.x;
    if (!s->in_place) {
        r.source = odb_workspace(ODB_WORKSPACE_PLANES, channels * s->channel * c->size);
        if (!r.source)
            return false;
        odb_parallel_for(channels, PANEL_FILL_GRAIN / s->channel + 1, panel_planes, &r);
    }
    r.vectors = (r.columns + s->lanes - 1) / s->lanes;
    panel_deal(&r);
    size_t tasks = r.spans * r.parts;
    double work = (double)s->m * (double)s->k * (double)r.columns / (double)tasks;
    odb_parallel_for(tasks, (size_t)(PANEL_GRAIN / (work + 1)) + 1, panel_tasks, &r);
    return true;
}

static void panel_rounds(void *arg, size_t begin, size_t end)
{
    struct panels *s = arg;
    for (size_t i = begin; i < end; i++)
        if (!panel_round(s, i))
            atomic_store(&s->failed, true);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Cuts images into blocks of lines whose planes stay in a cache. */
static void panels_cut(struct panels *s)
{
    const struct conv *c = s->conv;
    struct odb_window *w = &s->window;
    size_t all = (size_t)w->out[0], per_row = w->out_size / all;
    s->rows = all;
    if (!s->in_place) {
        size_t plane_row = c->c / c->group * c->size;
        for (int d = 0; d < w->rank; d++)
            plane_row *= (size_t)ODB_MIN(w->stride[d], w->kernel[d]);
        for (int d = 1; d < w->rank; d++)
            plane_row *= (size_t)((w->kernel[d] - 1) * w->dilation[d] / w->stride[d] + w->out[d]);
        size_t halo = (size_t)((w->kernel[0] - 1) * w->dilation[0] / w->stride[0]);
        size_t fit = PANEL_PLANES / plane_row, least = PANEL_RESULTS / per_row + 1;
        fit = ODB_MAX(fit > halo ? fit - halo : 1, least);
        s->blocks = (all + fit - 1) / fit;
        s->rows = (all + s->blocks - 1) / s->blocks;
    }
    s->blocks = (all + s->rows - 1) / s->rows;
    w->out[0] = (int64_t)s->rows;
    w->out_size = s->rows * per_row;
}

/* Whether to gather results rather than to compute those between the lines as well: per row of the
 * weights' transpose, a panel costs its vectors' multiplications and its runs' moves. */
static bool panels_dense(const struct panels *s)
{
    double flat = (double)(s->line[s->lines - 1] + s->length);
    double dense = (double)(s->lines * s->length), wide = (double)(PANEL_VECTORS * s->lanes);
    double multiply = PANEL_VECTORS / 2.0 * (double)s->m, run = 4;
    double each = multiply + run * (wide / (double)s->length + 1);
    return ceil(dense / (double)s->lanes) * each < ceil(flat / (double)s->lanes) * (multiply + 6);
}

static bool panels_init(struct panels *s, const struct conv *c)
{
    *s = (struct panels){.conv = c,
                         .set = odb_product_best(),
                         .window = c->window,
                         .in_place = odb_conv_is_pointwise(c),
                         .m = c->m / c->group,
                         .k = c->c / c->group * c->window.taps,
                         .lanes = ODB_VEC_BYTES / c->size};
    s->step = odb_product_bytes(s->set) / c->size;
    struct odb_window *w = &s->window;
    if (s->in_place) { /* of one dimension */
        w->rank = 1;
        w->in[0] = w->out[0] = (int64_t)w->in_size;
    }
    panels_cut(s);
    if (!odb_planes_init(&s->planes, w))
        return false;
    s->channel = s->planes.count * s->planes.plane + (s->in_place ? 0 : ODB_PLANES_SLACK);
    s->length = (size_t)w->out[w->rank - 1];
    s->lines = w->out_size / s->length;
    s->line = odb_work_take(s->lines, sizeof *s->line);
    if (!s->line) {
        odb_planes_dispose(&s->planes);
        return false;
    }
    for (size_t i = 0; i < s->lines; i++) {
        size_t rest = i;
        for (int d = w->rank - 2; d >= 0; d--) {
            s->line[i] += rest % (size_t)w->out[d] * s->planes.step[d];
            rest /= (size_t)w->out[d];
        }
    }
    s->dense = !s->in_place && panels_dense(s); /* no slack behind the image */
    atomic_init(&s->failed, false);
    return true;
}

bool odb_conv_panels_can(const struct conv *c)
{
    struct odb_gemm g = {.dtype = c->dtype, .m = 1, .n = 1, .k = 1};
    return !c->sequential && odb_product_can(&g);
}

bool odb_conv_panels_run(const struct conv *c)
{
    struct panels s;
    if (!panels_init(&s, c))
        return false;
    size_t rounds = c->n * c->group * s.blocks;
    size_t threads = (size_t)odb_parallel_threads();
    s.tasks = threads > 1 ? PANEL_TASKS * threads : 1;
    if (rounds >= s.tasks && threads > 1) {
        s.tasks = 1;
        double work = (double)s.m * (double)s.k * (double)s.window.out_size;
        odb_parallel_for(rounds, (size_t)(PANEL_GRAIN / (work + 1)) + 1, panel_rounds, &s);
    } else {
        panel_rounds(&s, 0, rounds);
    }
    odb_planes_dispose(&s.planes);
    odb_work_give(s.line);
    return !atomic_load(&s.failed);
}
