/* SPDX-License-Identifier: MIT
 *
 * Conv, ConvTranspose, ConvInteger, QLinearConv (ai.onnx 1 to 28), for images of any rank.
 *
 *   direct     few channels per group (depthwise): sums of shifted planes, in double for float
 *   pointwise  the image is already the matrix: 1x1 without stride or pad, or one result
 *   columns    a few windows apart: blocks of results are laid out as columns and multiplied; where
 *              a convolution has only a few blocks, each is multiplied by all threads
 *   panels     all others of floats or doubles: conv_panels.c
 *
 * Noisy mode (where direct sums are sequential too) and processors without a fused multiply-add do
 * without the last. Bytes are convolved as floats or doubles, which hold their sums exactly. x is
 * (N, C, in…), w (M, C/group, kernel…), y (N, M, out…).
 */
#include <stdatomic.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/nn/conv.h"
#include "kernels/core/kern.h"
#include "kernels/linear/matmul.h"
#include "kernels/core/real.h"
#include "kernels/core/workspace.h"
#include "kernels/nn/window.h"

/* --- where taps reach ------------------------------------------------------------------------- */

/* Coordinates that tap t of the kernel has when the window stands at 0. */
static void conv_reach(const struct odb_window *w, size_t t, int64_t *reach)
{
    for (int d = w->rank - 1; d >= 0; d--) {
        reach[d] = (int64_t)(t % (size_t)w->kernel[d]) * w->dilation[d] - w->before[d];
        t /= (size_t)w->kernel[d];
    }
}

/* Start of the line (along the last dimension) of an image `of` that a window, standing at the
 * line whose other coordinates are `at`, reaches. False: outside. */
ODB_INLINE bool conv_line(const struct odb_window *w, const int64_t *reach, const int64_t *of,
                          const int64_t *at, size_t *start)
{
    int64_t line = 0;
    for (int d = 0; d < w->rank - 1; d++) {
        int64_t i = at[d] * w->stride[d] + reach[d];
        if (i < 0 || i >= of[d])
            return false;
        line = line * of[d] + i;
    }
    *start = (size_t)(line * of[w->rank - 1]);
    return true;
}

/* Coordinates of line number `line` of an image, and from one line to the next. */
static void conv_line_at(const struct odb_window *w, const int64_t *dims, size_t line, int64_t *at)
{
    for (int d = w->rank - 2; d >= 0; d--) {
        at[d] = (int64_t)(line % (size_t)dims[d]);
        line /= (size_t)dims[d];
    }
}

ODB_INLINE void conv_line_next(const struct odb_window *w, const int64_t *dims, int64_t *at)
{
    for (int d = w->rank - 2; d >= 0 && ++at[d] == dims[d]; d--)
        at[d] = 0;
}

/* --- direct ----------------------------------------------------------------------------------- */

#define CONV_STEP 8 /* results moved at a time */
#define CONV_MANY_TAPS 4
#define CONV_LINE 16 /* results that make a line worth a panel */

struct conv_direct {
    const struct conv *conv;
    struct odb_planes planes;
    size_t *tap; /* owned: offsets for all channels of a group */
    atomic_bool failed;
};

#define ODB_BODY "kernels/nn/conv.real.h"
#include "kernels/core/real.h"

#define E odb_u32
#define SUFFIX 4
#include "kernels/nn/columns.body.h"
#include "kernels/core/row.h"
#undef E
#undef SUFFIX
#define E odb_u64
#define SUFFIX 8
#include "kernels/nn/columns.body.h"
#undef E
#undef SUFFIX

#define CONV_GRAIN (1u << 17) /* multiplications worth a thread's wake-up */

static bool conv_is_direct(const struct conv *c)
{
    size_t in_group = c->c / c->group, out_group = c->m / c->group;
    return odb_dtype_is_float(c->dtype) && (in_group == 1 || out_group == 1) &&
           in_group * out_group <= 4;
}

static bool conv_run_direct(const struct conv *c)
{
    struct conv_direct d = {.conv = c};
    size_t in_group = c->c / c->group;
    if (!odb_planes_init(&d.planes, &c->window))
        return false;
    size_t channel = d.planes.count * d.planes.plane + ODB_PLANES_SLACK;
    d.tap = odb_work_take(in_group * c->window.taps, sizeof *d.tap);
    atomic_init(&d.failed, !d.tap);
    for (size_t i = 0; d.tap && i < in_group * c->window.taps; i++)
        d.tap[i] = d.planes.tap[i % c->window.taps] + i / c->window.taps * channel;
    size_t work = c->m / c->group * in_group * c->window.taps * c->window.out_size;
    if (d.tap)
        odb_parallel_for(c->n * c->group, CONV_GRAIN / (work + 1) + 1,
                         ODB_REAL_FN(c, c->dtype, conv_groups), &d);
    odb_planes_dispose(&d.planes);
    odb_work_give(d.tap);
    return !atomic_load(&d.failed);
}

/* --- by matrix products ----------------------------------------------------------------------- */

/* The product of one group of one image, results [0, out_size). */
static struct odb_gemm conv_gemm(const struct conv *c)
{
    size_t depth = c->c / c->group * c->window.taps;
    return (struct odb_gemm){.dtype = c->dtype,
                             .sequential = c->sequential,
                             .accumulate = c->bias != NULL,
                             .m = c->m / c->group,
                             .n = c->window.out_size,
                             .k = depth,
                             .a = c->w,
                             .b = c->x,
                             .c = c->y,
                             .lda = depth,
                             .ldb = c->window.out_size,
                             .ldc = c->window.out_size,
                             .alpha = 1};
}

/* Whether one window is the whole image. */
static bool conv_is_whole(const struct conv *c)
{
    const struct odb_window *w = &c->window;
    for (int d = 0; d < w->rank; d++)
        if (w->kernel[d] != w->in[d] || w->out[d] != 1 || w->before[d])
            return false;
    return true;
}

/* Whether the image is cut into few patches that do not overlap: planes of phases would be many,
 * and their lines short. */
static bool conv_is_apart(const struct conv *c)
{
    const struct odb_window *w = &c->window;
    if (w->taps < CONV_MANY_TAPS || w->out[w->rank - 1] >= CONV_LINE)
        return false;
    for (int d = 0; d < w->rank; d++)
        if ((w->kernel[d] - 1) * w->dilation[d] >= w->stride[d])
            return false;
    return true;
}

bool odb_conv_is_pointwise(const struct conv *c)
{
    const struct odb_window *w = &c->window;
    for (int d = 0; d < w->rank; d++)
        if (w->kernel[d] != 1 || w->stride[d] != 1 || w->out[d] != w->in[d] || w->before[d])
            return false;
    return true;
}

static bool conv_run_pointwise(const struct conv *c)
{
    struct odb_gemm g = conv_gemm(c);
    size_t batch = c->n * c->group;
    size_t *at = odb_work_take(3 * batch, sizeof *at);
    if (!at)
        return false;
    for (size_t i = 0; i < batch; i++) {
        at[i] = i % c->group * g.m * g.k;
        at[batch + i] = i * (c->c / c->group) * c->window.in_size;
        at[2 * batch + i] = i * g.m * c->window.out_size;
    }
    bool done = odb_gemm_batch(&g, batch, at, at + batch, at + 2 * batch);
    odb_work_give(at);
    return done;
}

struct conv_columns {
    const struct conv *conv;
    struct odb_gemm g;
    size_t block, blocks; /* results in a block; blocks of a group */
    void *shared;         /* borrowed: the columns that all threads fill together, or NULL */
    size_t task;          /* whose columns they are */
    atomic_bool failed;
};

/* First result and number of results of a task. */
static size_t conv_block(const struct conv_columns *s, size_t task, size_t *n)
{
    size_t first = task % s->blocks * s->block;
    *n = ODB_MIN(s->block, s->conv->window.out_size - first);
    return first;
}

static void conv_fill(const struct conv_columns *s, size_t task, size_t begin, size_t end,
                      void *columns)
{
    const struct conv *c = s->conv;
    size_t n, first = conv_block(s, task, &n), group = task / s->blocks;
    const char *x = (const char *)c->x + group * (c->c / c->group) * c->window.in_size * c->size;
    if (c->size == 8)
        columns_fill_8(&c->window, (const odb_u64 *)x, begin, end, first, n, columns);
    else
        columns_fill_4(&c->window, (const odb_u32 *)x, begin, end, first, n, columns);
}

static struct odb_gemm conv_task_gemm(const struct conv_columns *s, size_t task,
                                      const void *columns)
{
    const struct conv *c = s->conv;
    struct odb_gemm g = s->g;
    size_t first = conv_block(s, task, &g.n), group = task / s->blocks;
    g.ldb = g.n;
    g.b = columns;
    g.a = (const char *)c->w + group % c->group * g.m * g.k * c->size;
    g.c = (char *)c->y + (group * g.m * c->window.out_size + first) * c->size;
    return g;
}

static void conv_tasks(void *arg, size_t begin, size_t end)
{
    struct conv_columns *s = arg;
    void *columns = odb_workspace(ODB_WORKSPACE_COLUMNS, s->g.k * s->block * s->conv->size);
    for (size_t task = begin; task < end; task++) {
        if (columns)
            conv_fill(s, task, 0, s->g.k, columns);
        struct odb_gemm g = conv_task_gemm(s, task, columns);
        if (!columns || !odb_gemm_run(&g))
            atomic_store(&s->failed, true);
    }
}

static void conv_fill_rows(void *arg, size_t begin, size_t end)
{
    struct conv_columns *s = arg;
    conv_fill(s, s->task, begin, end, s->shared);
}

#define CONV_COLUMN_BYTES (1u << 20) /* columns of a block: they should stay in a cache */
#define CONV_MIN_BLOCK 256 /* results; fewer, and packing the weights again costs too much */
#define CONV_FEW_TASKS 4
#define CONV_FILL_GRAIN (1u << 16) /* elements moved */

static bool conv_run_columns(const struct conv *c)
{
    struct conv_columns s = {.conv = c, .g = conv_gemm(c)};
    size_t out = c->window.out_size;
    size_t fit = ODB_MAX(CONV_COLUMN_BYTES / (s.g.k * c->size), CONV_MIN_BLOCK);
    s.blocks = (out + fit - 1) / fit;
    s.block = (out + s.blocks - 1) / s.blocks;
    s.block = ODB_MIN((s.block + 15) / 16 * 16, out);
    s.blocks = (out + s.block - 1) / s.block;
    atomic_init(&s.failed, false);
    size_t tasks = c->n * c->group * s.blocks;
    if (tasks >= CONV_FEW_TASKS) {
        size_t work = s.g.m * s.g.k * s.block;
        odb_parallel_for(tasks, CONV_GRAIN / (work + 1) + 1, conv_tasks, &s);
        return !atomic_load(&s.failed);
    }
    s.shared = odb_workspace(ODB_WORKSPACE_COLUMNS, s.g.k * s.block * c->size);
    if (!s.shared)
        return false;
    for (s.task = 0; s.task < tasks; s.task++) {
        odb_parallel_for(s.g.k, CONV_FILL_GRAIN / s.block + 1, conv_fill_rows, &s);
        struct odb_gemm g = conv_task_gemm(&s, s.task, s.shared);
        if (!odb_gemm_batch(&g, 1, NULL, NULL, NULL))
            return false;
    }
    return true;
}

static bool conv_compute(const struct conv *c)
{
    if (c->n * c->m * c->window.out_size == 0)
        return true;
    if (c->c > 0 && conv_is_direct(c))
        return conv_run_direct(c);
    bool matrix = c->c == 0 || odb_conv_is_pointwise(c) || conv_is_whole(c);
    bool wide = matrix ? c->window.out_size > 1 : !conv_is_apart(c);
    if (c->c > 0 && wide && odb_conv_panels_can(c))
        return odb_conv_panels_run(c);
    void (*add)(const void *, size_t, size_t, void *) = c->size == 8 ? conv_bias_8 : conv_bias_4;
    for (size_t i = 0; c->bias && i < c->n; i++)
        add(c->bias, c->m, c->window.out_size,
            (char *)c->y + i * c->m * c->window.out_size * c->size);
    return matrix ? conv_run_pointwise(c) : conv_run_columns(c);
}

/* --- Conv ------------------------------------------------------------------------------------- */

/* Checks x (N, C, …), w and the 1-D bias against each other and the group. out_at, in_at: which
 * dimension of w counts outputs and inputs of a group (transposed weights have them swapped). */
static enum odb_status conv_check(struct odb_kern *k, const struct odb_tensor *x,
                                  const struct odb_tensor *w, const struct odb_tensor *bias,
                                  bool transposed, struct conv *c)
{
    char text_x[200], text_w[200];
    memset(c, 0, sizeof *c);
    int64_t group = odb_kern_int(k, "group", 1), m = 0;
    bool fits = x->rank >= 3 && x->rank == w->rank && group >= 1;
    if (fits && transposed)
        fits = w->dims[0] == x->dims[1] && w->dims[0] % group == 0 &&
               !__builtin_mul_overflow(w->dims[1], group, &m);
    else if (fits)
        fits =
            w->dims[1] == x->dims[1] / group && x->dims[1] % group == 0 && w->dims[0] % group == 0;
    if (!fits)
        return ODB_KERN_FAIL(k, "input %s and weights %s do not fit with group %lld",
                             odb_shape_text(x, text_x, sizeof text_x),
                             odb_shape_text(w, text_w, sizeof text_w), (long long)group);
    c->n = (size_t)x->dims[0];
    c->c = (size_t)x->dims[1];
    c->m = (size_t)(transposed ? m : w->dims[0]);
    c->group = (size_t)group;
    c->sequential = k->sequential;
    if (bias && (bias->rank != 1 || bias->count != c->m))
        return ODB_KERN_FAIL(k, "bias of shape %s for %zu channels",
                             odb_shape_text(bias, text_x, sizeof text_x), c->m);
    return (transposed ? odb_window_spread : odb_window_slide)(k, x, w->dims + 2, &c->window);
}

static enum odb_status conv_same_types(struct odb_kern *k)
{
    for (int i = 1; i < k->n_in; i++)
        if (k->in[i] && k->in[i]->dtype != k->in[0]->dtype)
            return ODB_KERN_FAIL(k, "inputs 0 and %d of %s have types %s and %s", i, k->op->name,
                                 odb_dtype_info(k->in[0]->dtype)->name,
                                 odb_dtype_info(k->in[i]->dtype)->name);
    return ODB_OK;
}

static enum odb_status conv_infer_any(struct odb_kern *k, bool transposed)
{
    struct conv c;
    ODB_TRY(conv_same_types(k));
    ODB_TRY(conv_check(k, k->in[0], k->in[1], odb_kern_in(k, 2), transposed, &c));
    return odb_window_outline(k, 0, k->in[0]->dtype, k->in[0], (int64_t)c.m, &c.window);
}

/* The call's operands, of one float type. */
static enum odb_status conv_operands(struct odb_kern *k, bool transposed, struct conv *c)
{
    const struct odb_tensor *bias = odb_kern_in(k, 2);
    ODB_TRY(conv_check(k, k->in[0], k->in[1], bias, transposed, c));
    c->dtype = k->in[0]->dtype;
    c->size = odb_dtype_info(c->dtype)->bits / 8;
    c->x = k->in[0]->data;
    c->w = k->in[1]->data;
    c->bias = bias ? bias->data : NULL;
    c->y = k->out[0]->data;
    return ODB_OK;
}

static enum odb_status conv_infer(struct odb_kern *k)
{
    return conv_infer_any(k, false);
}

static enum odb_status conv_run(struct odb_kern *k)
{
    struct conv c;
    ODB_TRY(conv_operands(k, false, &c));
    return conv_compute(&c) ? ODB_OK : odb_kern_no_memory(k);
}

/* --- ConvTranspose ---------------------------------------------------------------------------- */

/* A task is some output channels of one group of one image: their columns are a product of the
 * transposed weights and the image, and are then spread over the result. */
struct conv_transpose {
    const struct conv *conv;
    size_t channels, tasks; /* output channels in a task; tasks of a group */
    atomic_bool failed;
};

static void conv_transpose_tasks(void *arg, size_t begin, size_t end)
{
    struct conv_transpose *s = arg;
    const struct conv *c = s->conv;
    const struct odb_window *w = &c->window;
    size_t out_group = c->m / c->group, in_group = c->c / c->group;
    size_t column_bytes = s->channels * w->taps * w->in_size * c->size;
    void *columns = odb_workspace(ODB_WORKSPACE_COLUMNS, column_bytes);
    void *sums = odb_workspace(ODB_WORKSPACE_ROWS, w->out_size * sizeof(double));
    for (size_t task = begin; task < end; task++) {
        size_t image = task / s->tasks / c->group, group = task / s->tasks % c->group;
        size_t first = task % s->tasks * s->channels;
        size_t channels = ODB_MIN(s->channels, out_group - first);
        size_t weight = (group * in_group * out_group + first) * w->taps;
        size_t x = (image * c->c + group * in_group) * w->in_size;
        struct odb_gemm g = {.dtype = c->dtype,
                             .trans_a = true,
                             .sequential = c->sequential,
                             .m = channels * w->taps,
                             .n = w->in_size,
                             .k = in_group,
                             .a = (const char *)c->w + weight * c->size,
                             .b = (const char *)c->x + x * c->size,
                             .c = columns,
                             .lda = out_group * w->taps,
                             .ldb = w->in_size,
                             .ldc = w->in_size,
                             .alpha = 1};
        if (!columns || !sums || !odb_gemm_run(&g)) {
            atomic_store(&s->failed, true);
            return;
        }
        for (size_t i = 0; i < channels; i++) {
            size_t m = group * out_group + first + i;
            ODB_REAL_FN(c, c->dtype, conv_spread)
            (w, (char *)columns + i * w->taps * w->in_size * c->size, c->bias, m, sums,
             (char *)c->y + (image * c->m + m) * w->out_size * c->size);
        }
    }
}

static enum odb_status conv_transpose_infer(struct odb_kern *k)
{
    return conv_infer_any(k, true);
}

static enum odb_status conv_transpose_run(struct odb_kern *k)
{
    struct conv c;
    ODB_TRY(conv_operands(k, true, &c));
    if (c.n * c.m * c.window.out_size == 0)
        return ODB_OK;
    struct conv_transpose s = {.conv = &c};
    size_t out_group = c.m / c.group;
    size_t fit = CONV_COLUMN_BYTES / (c.window.taps * ODB_MAX(c.window.in_size, 1) * c.size);
    s.channels = ODB_MAX(ODB_MIN(fit, out_group), 1);
    s.tasks = (out_group + s.channels - 1) / s.channels;
    atomic_init(&s.failed, false);
    odb_parallel_for(c.n * c.group * s.tasks, 1, conv_transpose_tasks, &s);
    return atomic_load(&s.failed) ? odb_kern_no_memory(k) : ODB_OK;
}

/* --- 8-bit integers --------------------------------------------------------------------------- */

/* Which inputs are what; zero points and bias may be absent. */
struct conv_roles {
    int x, x_zero, w, w_zero, bias;
};

#define CONV_WIDEN(name, FROM, TO)                                                                 \
    ODB_SIMD static void name(const void *from, size_t n, int32_t point, void *to)                 \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            ((TO *)to)[i] = (TO)(((const FROM *)from)[i] - point);                                 \
    }
CONV_WIDEN(conv_widen_i8_f32, int8_t, float)
CONV_WIDEN(conv_widen_u8_f32, uint8_t, float)
CONV_WIDEN(conv_widen_i8_f64, int8_t, double)
CONV_WIDEN(conv_widen_u8_f64, uint8_t, double)

/* y[i] = sums[i] + add, wrapping. */
#define CONV_NARROW(name, FROM)                                                                    \
    ODB_SIMD static void name(const void *sums, size_t n, uint32_t add, odb_i32 *y)                \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = (int32_t)((uint32_t)(int64_t)((const FROM *)sums)[i] + add);                    \
    }
CONV_NARROW(conv_narrow_f32, float)
CONV_NARROW(conv_narrow_f64, double)

/* t less its zero point, one or one per row of dimension 0, as dtype: *out is a new reference. */
static enum odb_status conv_widen(struct odb_kern *k, const struct odb_tensor *t,
                                  const struct odb_tensor *zero, enum odb_dtype dtype,
                                  struct odb_tensor **out)
{
    bool one = !zero || zero->count == 1;
    if (t->count && !one && zero->count != (size_t)t->dims[0])
        return ODB_KERN_FAIL(k, "%zu zero points for %lld channels", zero->count,
                             (long long)t->dims[0]);
    ODB_TRY(odb_tensor_new_raw(out, dtype, t->rank, t->dims, k->err));
    size_t rows = one ? 1 : zero->count, row = t->count / ODB_MAX(rows, (size_t)1);
    size_t size = odb_dtype_info(dtype)->bits / 8;
    void (*widen)(const void *, size_t, int32_t, void *) =
        t->dtype == ODB_I8 ? (dtype == ODB_F32 ? conv_widen_i8_f32 : conv_widen_i8_f64)
                           : (dtype == ODB_F32 ? conv_widen_u8_f32 : conv_widen_u8_f64);
    for (size_t m = 0; m < rows && t->count; m++)
        widen((const char *)t->data + m * row, row, zero ? (int32_t)odb_tensor_i64(zero, m) : 0,
              (char *)(*out)->data + m * row * size);
    return ODB_OK;
}

/* products of bytes, less zero points, of which sums stay below 2^24 */
#define CONV_EXACT_F32 258

/* The int32 convolution of what stands there, into y; c says of what shape. Sums of so few products
 * of bytes are exact in float, and all that there can be are in double, in any order. */
static enum odb_status conv_integer(struct odb_kern *k, const struct conv_roles *in, struct conv *c,
                                    odb_i32 *y)
{
    struct odb_tensor *x = NULL, *w = NULL, *sums = NULL;
    const struct odb_tensor *x_zero = odb_kern_in(k, in->x_zero);
    const struct odb_tensor *bias = in->bias < 0 ? NULL : odb_kern_in(k, in->bias);
    enum odb_status status;
    ODB_TRY(conv_check(k, k->in[in->x], k->in[in->w], bias, false, c));
    if (bias && bias->dtype != ODB_I32)
        return ODB_KERN_FAIL(k, "the bias is %s, not int32", odb_dtype_info(bias->dtype)->name);
    if (x_zero && x_zero->count != 1)
        return ODB_KERN_FAIL(k, "%zu zero points for the input", x_zero->count);
    bool few = c->c / c->group * c->window.taps <= CONV_EXACT_F32;
    c->dtype = few ? ODB_F32 : ODB_F64;
    c->size = few ? sizeof(float) : sizeof(double);
    ODB_TRY_OUT(conv_widen(k, k->in[in->x], x_zero, c->dtype, &x));
    ODB_TRY_OUT(conv_widen(k, k->in[in->w], odb_kern_in(k, in->w_zero), c->dtype, &w));
    ODB_TRY_OUT(odb_tensor_new_raw(&sums, c->dtype, k->out[0]->rank, k->out[0]->dims, k->err));
    c->x = x->data;
    c->w = w->data;
    c->y = sums->data;
    status = conv_compute(c) ? ODB_OK : odb_kern_no_memory(k);
    size_t n = c->window.out_size;
    void (*narrow)(const void *, size_t, uint32_t, odb_i32 *) =
        few ? conv_narrow_f32 : conv_narrow_f64;
    for (size_t i = 0; status == ODB_OK && n && i < sums->count / n; i++)
        narrow((const char *)sums->data + i * n * c->size, n,
               bias ? (uint32_t)odb_tensor_i64(bias, i % c->m) : 0, y + i * n);
out:
    odb_tensor_unref(x);
    odb_tensor_unref(w);
    odb_tensor_unref(sums);
    return status;
}

static enum odb_status conv_integer_infer(struct odb_kern *k)
{
    struct conv c;
    ODB_TRY(conv_check(k, k->in[0], k->in[1], NULL, false, &c));
    return odb_window_outline(k, 0, ODB_I32, k->in[0], (int64_t)c.m, &c.window);
}

static enum odb_status conv_integer_run(struct odb_kern *k)
{
    struct conv c;
    return conv_integer(k, &(struct conv_roles){0, 2, 1, 3, -1}, &c, k->out[0]->data);
}

static enum odb_status conv_quantized_infer(struct odb_kern *k)
{
    struct conv c;
    ODB_TRY(conv_check(k, k->in[0], k->in[3], odb_kern_in(k, 8), false, &c));
    if (k->in[1]->count != 1 || k->in[6]->count != 1 || k->in[7]->count != 1)
        return ODB_KERN_FAIL(k, "input and result have one scale and one zero point");
    if (k->in[4]->count != 1 && k->in[4]->count != c.m)
        return ODB_KERN_FAIL(k, "%zu scales for %zu channels", k->in[4]->count, c.m);
    return odb_window_outline(k, 0, k->in[7]->dtype, k->in[0], (int64_t)c.m, &c.window);
}

/* x, its scale and zero point; w, its; y's; bias in units of x's scale times w's. */
static enum odb_status conv_quantized_run(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0], *sums;
    struct conv c;
    ODB_TRY(odb_tensor_new_raw(&sums, ODB_I32, y->rank, y->dims, k->err));
    enum odb_status status = conv_integer(k, &(struct conv_roles){0, 2, 3, 5, 8}, &c, sums->data);
    int32_t zero = (int32_t)odb_tensor_i64(k->in[7], 0);
    float scale_x = (float)odb_tensor_f64(k->in[1], 0);
    float scale_y = (float)odb_tensor_f64(k->in[6], 0);
    size_t n = c.window.out_size;
    for (size_t i = 0; status == ODB_OK && n && i < y->count / n; i++) {
        size_t m = i % c.m;
        float scale_w = (float)odb_tensor_f64(k->in[4], k->in[4]->count == 1 ? 0 : m);
        float ratio = scale_x * scale_w / scale_y;
        odb_requantize((odb_i32 *)sums->data + i * n, n, &ratio, 0, y->dtype, zero,
                       (odb_u8 *)y->data + i * n);
    }
    odb_tensor_unref(sums);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec conv_attrs[] = {{"auto_pad", ODB_ATTR_STRING, "NOTSET", false},
                                                  {"dilations", ODB_ATTR_INTS, NULL, false},
                                                  {"group", ODB_ATTR_INT, "1", false},
                                                  {"kernel_shape", ODB_ATTR_INTS, NULL, false},
                                                  {"pads", ODB_ATTR_INTS, NULL, false},
                                                  {"strides", ODB_ATTR_INTS, NULL, false},
                                                  {NULL}};

static const struct odb_attr_spec conv_transpose_attrs[] = {
    {"auto_pad", ODB_ATTR_STRING, "NOTSET", false},
    {"dilations", ODB_ATTR_INTS, NULL, false},
    {"group", ODB_ATTR_INT, "1", false},
    {"kernel_shape", ODB_ATTR_INTS, NULL, false},
    {"output_padding", ODB_ATTR_INTS, NULL, false},
    {"output_shape", ODB_ATTR_INTS, NULL, false},
    {"pads", ODB_ATTR_INTS, NULL, false},
    {"strides", ODB_ATTR_INTS, NULL, false},
    {NULL}};

#define CONV_BYTES (ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8))

/* Later versions only allow more types. */
const struct odb_op odb_ops_conv[] = {
    ODB_ONNX("Conv", 1, ODB_ARITY(2, 3), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_MATMUL, conv_attrs,
             conv_infer, conv_run, ODB_T_FLOAT, ODB_NAMES("X,W,B", "Y"), ODB_HALVES(1, 22),
             ODB_WORK(conv, 0, 1, 2),
             ODB_FUSES(" BatchNormalization Mul Add Sub Div ",
                       " Conv BatchNormalization Mul Add Sub Div ")),
    ODB_ONNX(
        "ConvTranspose", 1, ODB_ARITY(2, 3), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_MATMUL,
        conv_transpose_attrs, conv_transpose_infer, conv_transpose_run, ODB_T_FLOAT,
        ODB_NAMES("X,W,B", "Y"), ODB_HALVES(1, 22), ODB_WORK(conv_transpose, 0, 1, 2),
        ODB_FUSES(" BatchNormalization Mul Add ", " ConvTranspose BatchNormalization Mul Add ")),
    ODB_ONNX("ConvInteger", 10, ODB_ARITY(2, 4), ODB_ARITY(1, 1), ODB_OP_EXACT, conv_attrs,
             conv_integer_infer, conv_integer_run, CONV_BYTES, CONV_BYTES, ODB_AS(0), ODB_AS(1),
             ODB_NAMES("x,w,x_zero_point,w_zero_point", "y"), ODB_WORK(conv, 0, 1),
             ODB_TRAITS(ODB_IS_QUANTISED)),
    ODB_ONNX("QLinearConv", 10, ODB_ARITY(8, 9), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_BOUNDARY,
             conv_attrs, conv_quantized_infer, conv_quantized_run, CONV_BYTES, ODB_BIT(ODB_F32),
             ODB_AS(0), CONV_BYTES, ODB_BIT(ODB_F32), ODB_AS(3), ODB_BIT(ODB_F32), CONV_BYTES,
             ODB_BIT(ODB_I32),
             ODB_NAMES("x,x_scale,x_zero_point,w,w_scale,w_zero_point,y_scale,y_zero_point,B", "y"),
             ODB_WORK(conv, 0, 3, 8), ODB_QUANTISED("Conv", 6, 3, {0, 3, 8}),
             ODB_TRAITS(ODB_IS_QUANTISED)),
    {.name = NULL},
};
