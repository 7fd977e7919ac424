/* SPDX-License-Identifier: MIT
 *
 * Choosing among operands: Where, Clip, and the operators of any number of inputs, Max, Min, Sum
 * and Mean. NaN wins in Max and Min, as in NumPy, and passes through Clip.
 */
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/core/row.h"

/* --- Where ------------------------------------------------------------------------------------ */

/* Elements are only moved, so their size is all that matters. */
#define CHOOSE_WHERE(type, size)                                                                   \
    ODB_EW_HOT static void choose_where_##size(size_t n, const void *const *in, const int *step,   \
                                               void *out, const void *arg)                         \
    {                                                                                              \
        const odb_u8 *c = in[0];                                                                   \
        const type *x = in[1], *y = in[2];                                                         \
        type *z = out;                                                                             \
        (void)arg;                                                                                 \
        if (step[0] && step[1] && step[2]) {                                                       \
            ODB_EW_EACH(i, n)                                                                      \
                z[i] = c[i] ? x[i] : y[i];                                                         \
        } else if (step[0] && step[1]) {                                                           \
            const type other = *y;                                                                 \
            ODB_EW_EACH(i, n)                                                                      \
                z[i] = c[i] ? x[i] : other;                                                        \
        } else {                                                                                   \
            ODB_EW_EACH(i, n)                                                                      \
                z[i] = c[step[0] ? i : 0] ? x[step[1] ? i : 0] : y[step[2] ? i : 0];               \
        }                                                                                          \
    }
struct choose_16 {
    char bytes[16]; /* a complex128, or the pointer and length of a string */
};
CHOOSE_WHERE(odb_u8, 1)
CHOOSE_WHERE(odb_u16, 2)
CHOOSE_WHERE(odb_u32, 4)
CHOOSE_WHERE(odb_u64, 8)
CHOOSE_WHERE(struct choose_16, 16)

static enum odb_status choose_infer_where(struct odb_kern *k)
{
    int rank;
    int64_t dims[ODB_MAX_RANK];
    enum odb_dtype dtype = k->in[1]->dtype;
    if (!odb_ew_same_type(k, 1, 2))
        return ODB_KERN_FAIL(k, "X is %s and Y is %s; Where wants one type",
                             odb_dtype_info(dtype)->name, odb_dtype_info(k->in[2]->dtype)->name);
    ODB_TRY(odb_ew_shape(k, &rank, dims));
    return odb_kern_outline(k, 0, dtype, rank, dims);
}

/* A string belongs to its tensor, so the chosen ones are found first and copied then. */
static enum odb_status choose_strings(struct odb_kern *k)
{
    struct odb_tensor *out = k->out[0], chosen = *out;
    struct odb_str *from = odb_work_take(out->count, sizeof *from);
    if (!from)
        return odb_kern_no_memory(k);
    enum odb_status status = ODB_OK;
    chosen.data = from;
    odb_ew_apply(choose_where_16, 3, k->in, &chosen, NULL);
    for (size_t i = 0; i < out->count && status == ODB_OK; i++)
        status = odb_tensor_set_string(out, i, from[i].data, from[i].len, k->err);
    odb_work_give(from);
    return status;
}

static enum odb_status choose_where(struct odb_kern *k)
{
    static const odb_ew_loop by_size[] = {[1] = choose_where_1,
                                          [2] = choose_where_2,
                                          [4] = choose_where_4,
                                          [8] = choose_where_8,
                                          [16] = choose_where_16};
    ODB_TRY(odb_ew_check(k));
    if (!k->out[0])
        return ODB_OK;
    if (k->out[0]->dtype == ODB_STRING)
        return choose_strings(k);
    odb_ew_apply(by_size[odb_ew_size(k->out[0]->dtype)], 3, k->in, k->out[0], NULL);
    return ODB_OK;
}

/* --- Clip ------------------------------------------------------------------------------------- */

/* arg: borders in the input's own type. A low border above the high one gives way to it, as in
 * Min(high, Max(low, x)). */
#define CHOOSE_CLIP(t, T, ctype, name)                                                             \
    ODB_SIMD static void ew_##name##_##T(size_t n, const void *const *in, const int *step,         \
                                         void *out, const void *arg)                               \
    {                                                                                              \
        const void *const *borders = arg;                                                          \
        const ctype low = *(const odb_##t *)borders[0], high = *(const odb_##t *)borders[1];       \
        const odb_##t *x = in[0];                                                                  \
        odb_##t *y = out;                                                                          \
        (void)step;                                                                                \
        ODB_EW_EACH(i, n) {                                                                        \
            ctype a = x[i];                                                                        \
            a = a < low ? low : a;                                                                 \
            y[i] = a > high ? high : a;                                                            \
        }                                                                                          \
    }
ODB_EW_FLOATS(CHOOSE_CLIP, clip)
ODB_EW_INTS(CHOOSE_CLIP, clip)
static const odb_ew_loop ew_clip[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, clip)
                                                         ODB_EW_INTS(ODB_EW_SLOT, clip)};

/* Writes the border that holds when none is given: the limit of the type, of a half where it was
 * widened from one. A double that stands for a narrower type gets float's, so that an infinity is
 * clipped alike in all modes. */
static void choose_limit(const struct odb_kern *k, bool high, void *border)
{
    enum odb_dtype dtype = k->in[0]->dtype;
    const struct odb_dtype_info *info = odb_dtype_info(dtype);
    if (odb_dtype_is_float(dtype)) {
        enum odb_dtype own = k->carry_f64 ? ODB_F32 : k->narrow ? k->narrow : dtype;
        double top = odb_dtype_info(own)->max;
        double limit = high ? top : -top;
        if (k->op->since < 11)
            limit = odb_kern_float(k, high ? "max" : "min", limit);
        odb_store_f64(dtype, border, 0, limit);
    } else {
        int64_t low = info->class_ == ODB_CLASS_INT ? INT64_MIN >> (64 - info->bits) : 0;
        int64_t top = low ? ~low : (int64_t)(UINT64_MAX >> (64 - info->bits));
        odb_store_i64(dtype, border, 0, high ? top : low);
    }
}

static enum odb_status choose_clip(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    double limits[2]; /* room for a number of any type */
    const void *borders[2] = {&limits[0], &limits[1]};
    for (int i = 0; i < 2; i++) {
        const struct odb_tensor *given = odb_kern_in(k, 1 + i);
        choose_limit(k, i == 1, &limits[i]);
        if (!given)
            continue;
        if (given->dtype != x->dtype || given->count != 1)
            return ODB_KERN_FAIL(k, "%s must be one %s", i ? "max" : "min",
                                 odb_dtype_info(x->dtype)->name);
        borders[i] = given->data;
    }
    return odb_ew_run_first(k, ew_clip, borders);
}

/* --- any number of inputs --------------------------------------------------------------------- */

ODB_EW_BINARY(max, a > b || a != a ? a : b, a > b ? a : b, a > b ? a : b)
ODB_EW_BINARY(min, a < b || a != a ? a : b, a < b ? a : b, a < b ? a : b)
ODB_EW_FLOATS(ODB_EW_LOOP2_WIDE, sum, a + b)
static const odb_ew_loop ew_sum[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, sum)};

/* arg: how many. */
#define CHOOSE_SHARE(t, T, ctype, name)                                                            \
    ODB_EW_LOOP1_SAME(t, T, ctype, name, a / (ctype) * (const int *)arg)
ODB_EW_FLOATS(CHOOSE_SHARE, share)
static const odb_ew_loop ew_share[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, share)};

/* Before opset 8 nothing was broadcast. */
static enum odb_status choose_infer_fold(struct odb_kern *k)
{
    char a[200], b[200];
    ODB_TRY(odb_ew_infer(k));
    for (int i = 1; i < k->n_in && k->op->since < 8; i++)
        if (!odb_tensor_same_shape(k->in[0], k->in[i]))
            return ODB_KERN_FAIL(k, "inputs of shapes %s and %s; %s wants one shape before opset 8",
                                 odb_shape_text(k->in[0], a, sizeof a),
                                 odb_shape_text(k->in[i], b, sizeof b), k->op->name);
    return ODB_OK;
}

/* ((in 0 op in 1) op in 2) …, in the output. */
static enum odb_status choose_fold(struct odb_kern *k, const odb_ew_loop *loops)
{
    struct odb_tensor *out = k->out[0];
    odb_ew_loop loop = loops[k->in[0]->dtype];
    ODB_TRY(odb_ew_check(k));
    if (!loop)
        return ODB_KERN_UNSUPPORTED(k, "no %s kernel for type %s", k->op->name,
                                    odb_dtype_info(k->in[0]->dtype)->name);
    if (!out)
        return ODB_OK;
    if (k->n_in == 1)
        odb_convert(out->dtype, out->data, out->dtype, k->in[0]->data, out->count);
    else
        odb_ew_apply(loop, 2, k->in, out, NULL);
    for (int i = 2; i < k->n_in; i++) {
        const struct odb_tensor *pair[2] = {out, k->in[i]};
        odb_ew_apply(loop, 2, pair, out, NULL);
    }
    return ODB_OK;
}

static enum odb_status choose_max(struct odb_kern *k)
{
    return choose_fold(k, ew_max);
}

static enum odb_status choose_min(struct odb_kern *k)
{
    return choose_fold(k, ew_min);
}

static enum odb_status choose_sum(struct odb_kern *k)
{
    return choose_fold(k, ew_sum);
}

static enum odb_status choose_mean(struct odb_kern *k)
{
    ODB_TRY(choose_fold(k, ew_sum));
    if (k->out[0])
        odb_ew_apply(ew_share[k->out[0]->dtype], 1, (const struct odb_tensor *const *)&k->out[0],
                     k->out[0], &k->n_in);
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec choose_clip_attrs_1[] = {
    ODB_EW_CONSUMED,
    {"max", ODB_ATTR_FLOAT, NULL, false},
    {"min", ODB_ATTR_FLOAT, NULL, false},
    {.name = NULL},
};
static const struct odb_attr_spec choose_clip_attrs_6[] = {
    {"max", ODB_ATTR_FLOAT, "3.4028234663852886e+38", false},
    {"min", ODB_ATTR_FLOAT, "-3.4028234663852886e+38", false},
    {.name = NULL},
};

#define CHOOSE_EXACT (ODB_OP_EXACT | ODB_OP_REAL)
#define CHOOSE_CLIPS (CHOOSE_EXACT | ODB_OP_OVERWRITE)
#define CHOOSE_ANY (ODB_T_NUMBER | ODB_T_BOOL | ODB_T_STRING | ODB_BIT(ODB_C64) | ODB_BIT(ODB_C128))
#define CHOOSE_FOLD_ROW(op_name, first, mask, op_flags, op_run, op_attrs, ...)                     \
    {                                                                                              \
        .domain = "", .name = op_name, .since = first, .min_in = 1, .max_in = ODB_MANY,            \
        .min_out = 1, .max_out = 1, .flags = op_flags, .types = {mask}, .attrs = op_attrs,         \
        .infer = choose_infer_fold, .run = op_run, __VA_ARGS__                                     \
    }
#define CHOOSE_FOLD(name, mask, flags, run, ...)                                                   \
    CHOOSE_FOLD_ROW(name, 1, mask, flags, run, odb_ew_consumed_attrs, __VA_ARGS__),                \
        CHOOSE_FOLD_ROW(name, 6, mask, flags, run, NULL),                                          \
        CHOOSE_FOLD_ROW(name, 8, mask, flags, run, NULL)

const struct odb_op odb_ops_choose[] = {
    ODB_EW_ROW("Where", 9, 3, ODB_T_BOOL, ODB_OP_EXACT, choose_infer_where, choose_where,
               .types[1] = CHOOSE_ANY, ODB_NAMES("condition,X,Y", "output"), ODB_HALVES(9, 16)),
    ODB_EW_ROW("Clip", 1, 1, ODB_T_FLOAT, CHOOSE_CLIPS, odb_infer_same, choose_clip,
               .attrs = choose_clip_attrs_1, ODB_NAMES("input", "output"), ODB_HALVES(1, 13),
               ODB_WORK(per_output, 1)),
    ODB_EW_ROW("Clip", 6, 1, ODB_T_FLOAT, CHOOSE_CLIPS, odb_infer_same, choose_clip,
               .attrs = choose_clip_attrs_6),
    ODB_ONNX("Clip", 11, ODB_ARITY(1, 3), ODB_ARITY(1, 1), CHOOSE_CLIPS, NULL, odb_infer_same,
             choose_clip, ODB_T_NUMBER, ODB_NAMES("input,min,max", "output")),
    CHOOSE_FOLD("Max", ODB_T_NUMBER, CHOOSE_EXACT, choose_max, ODB_NAMES("data_0...", "max"),
                ODB_HALVES(1, 13), ODB_WORK(per_operand), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    CHOOSE_FOLD("Min", ODB_T_NUMBER, CHOOSE_EXACT, choose_min, ODB_NAMES("data_0...", "min"),
                ODB_HALVES(1, 13), ODB_WORK(per_operand), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    CHOOSE_FOLD("Sum", ODB_T_FLOAT, ODB_OP_REAL, choose_sum, ODB_NAMES("data_0...", "sum"),
                ODB_HALVES(1, 13), ODB_WORK(per_operand), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    CHOOSE_FOLD("Mean", ODB_T_FLOAT, ODB_OP_REAL, choose_mean, ODB_NAMES("data_0...", "mean"),
                ODB_HALVES(1, 13), ODB_WORK(per_operand), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    {.name = NULL},
};
