/* SPDX-License-Identifier: MIT
 *
 * One operator call in one of the reference's precisions. Kernels know nothing of precisions; all
 * of it happens at their borders:
 *
 *   native   float16 and bfloat16 operands of arithmetic (ODB_OP_REAL) are widened to float,
 *            results are rounded once to the declared type; by the piece, where a kernel goes
 *            element by element.
 *   f64      every float operand is converted to double and every float result stays double.
 *   f16 bf16 operands and results are rounded to that type and carried in their declared type, so
 *            sums inside a kernel are taken in float32.
 *   tf32     operands of matrix products lose all but 10 bits of mantissa.
 *   noisy    what an honest other implementation may do: sums one by one in the element type, and
 *            operands and results of arithmetic moved at random. Those of float and double become
 *            the next number up or down (probability 1/4 each: half an ulp on average; a smaller
 *            step cannot be written down). Those of narrower types, which are computed with in
 *            float, are moved by up to half an ulp of their own type. Moves and selections are left
 *            alone: rounding cannot make those wrong.
 */
#include <math.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "base/simd.h"
#include "kernels/core/kern.h"
#include "kernels/core/workspace.h"

#define RUN_BLOCK ((size_t)1 << 16) /* elements that a thread takes at a time */
#define RUN_FEW 8                   /* inputs and outputs that need no memory of their own */

static bool run_is_narrow(enum odb_dtype dtype)
{
    return (ODB_BIT(dtype) & ODB_T_HALVES) != 0;
}

static bool run_is_float(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR && odb_dtype_is_float(t->dtype);
}

/* --- jitter ----------------------------------------------------------------------------------- */

static uint64_t run_mix(uint64_t x) /* the finaliser of splitmix64 (Steele, Lea, Flood 2014) */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct run_jitter {
    enum odb_dtype dtype; /* of data */
    double narrow_eps;    /* data holds numbers of a narrower type with this epsilon; 0: its own */
    double narrow_max;    /* and this largest number */
    const void *from;     /* may be data; narrow ones are moved in place */
    void *data;
    size_t count;
    uint64_t seed;
};

/* Random bits, the upper ones best, of which a loop makes vectors: two rounds of multiplying and
 * folding, as hashes end (murmur3's finaliser, Appleby 2011, has three). */
static inline uint32_t run_bits(uint32_t k)
{
    k *= 0x9e3779b1u;
    return (k ^ k >> 15) * 0x85ebca6bu;
}

/* Floats of one sign are ordered like their bits, so a step is +-1 on the magnitude. Two random
 * bits say which: 0 is one step down, 1 one step up, else the number stays. So do zeros,
 * infinities, NaN and the largest finite number, whose magnitudes less one are not below limit less
 * one. There is no branch, because it would be taken at random. to may be from. */
#define RUN_JITTER(name, uint, magnitude, limit)                                                   \
    static ODB_SIMD void name(uint *to, const uint *from, uint32_t n, uint32_t salt)               \
    {                                                                                              \
        _Pragma("GCC ivdep") for (uint32_t k = 0; k < n; k++)                                      \
        {                                                                                          \
            uint x = from[k], bits = run_bits(k + salt) >> 30;                                     \
            bool moves = (x & (magnitude)) - 1 < (limit)-1;                                        \
            to[k] = x + (moves ? (uint)(bits == 1) - (uint)(bits == 0) : 0);                       \
        }                                                                                          \
    }
RUN_JITTER(run_jitter_32, odb_u32, 0x7fffffffu, 0x7f7fffffu)
RUN_JITTER(run_jitter_64, odb_u64, 0x7fffffffffffffffu, 0x7fefffffffffffffu)
#undef RUN_JITTER

/* Numbers of a narrower type in floats: up to half of its unit in the last place, up or down. Its
 * largest number stays here too. Eight elements take their bits from a random word; begin is a
 * multiple of 8. */
static ODB_SIMD void run_jitter_narrow(odb_f32 *x, size_t begin, size_t end, uint64_t seed,
                                       double eps, double max)
{
    for (size_t i = begin; i < end; i += 8) {
        uint64_t bits = run_mix(seed + i / 8);
        uint32_t n = (uint32_t)ODB_MIN(end - i, (size_t)8);
        _Pragma("GCC ivdep") for (uint32_t k = 0; k < n; k++)
        {
            float v = x[i + k], power;
            uint32_t magnitude;
            memcpy(&magnitude, &v, sizeof magnitude);
            magnitude &= 0x7f800000u; /* the power of two below |x|; infinite for Inf and NaN */
            memcpy(&power, &magnitude, sizeof power);
            double unit = (double)(int32_t)(bits >> 8 * k & 0xff) * (1.0 / 255) - 0.5;
            float moved = (float)(v + unit * eps * power);
            x[i + k] = fabs((double)v) < max ? moved : v;
        }
    }
}

static void run_jitter_block(void *arg, size_t begin, size_t end)
{
    const struct run_jitter *j = arg;
    uint32_t n = (uint32_t)(end - begin), salt = (uint32_t)run_mix(j->seed + begin);
    if (j->narrow_eps > 0)
        run_jitter_narrow(j->data, begin, end, j->seed, j->narrow_eps, j->narrow_max);
    else if (j->dtype == ODB_F32)
        run_jitter_32((odb_u32 *)j->data + begin, (const odb_u32 *)j->from + begin, n, salt);
    else if (j->dtype == ODB_F64)
        run_jitter_64((odb_u64 *)j->data + begin, (const odb_u64 *)j->from + begin, n, salt);
}

/* --- rounding --------------------------------------------------------------------------------- */

struct run_round {
    struct odb_tensor *t;
    enum odb_dtype to; /* ODB_UNDEFINED: tf32 */
};

static void run_round_block(void *arg, size_t begin, size_t end)
{
    const struct run_round *r = arg;
    if (r->t->dtype == ODB_F64)
        odb_round_f64(r->to, (odb_f64 *)r->t->data + begin, end - begin);
    else if (r->to == ODB_UNDEFINED)
        odb_round_tf32((odb_f32 *)r->t->data + begin, end - begin);
    else
        odb_round_f32(r->to, (odb_f32 *)r->t->data + begin, end - begin);
}

/* Moves the elements of t, which is not shared; from: what they are to be moved from, t itself or a
 * tensor like it. declared is the model's type of what t holds, salt tells the operands and results
 * of a call apart. */
static void run_move(const struct odb_call *call, struct odb_tensor *t,
                     const struct odb_tensor *from, enum odb_dtype declared, uint64_t salt)
{
    double eps = run_is_narrow(declared) ? odb_dtype_info(declared)->eps : 0;
    struct run_jitter j = {t->dtype,
                           t->dtype == ODB_F32 ? eps : 0,
                           eps > 0 ? odb_dtype_info(declared)->max : 0,
                           from->data,
                           t->data,
                           t->count,
                           run_mix(call->seed ^ salt << 56)};
    odb_parallel_for(t->count, RUN_BLOCK, run_jitter_block, &j);
}

/* Parts of 1: a rational approximation has as many digits behind the point as 1 has (MLAS computes
 * sigmoids so), so that a sigmoid of 0.001 is as far off as one of 0.9. By up to one unit of 1. */
#define RUN_PARTS(name, ctype)                                                                     \
    static ODB_SIMD void name(ctype *x, uint32_t n, ctype unit, uint32_t salt)                     \
    {                                                                                              \
        for (uint32_t k = 0; k < n; k++) {                                                         \
            ctype v = x[k], at = (ctype)(int32_t)(run_bits(k + salt) >> 24);                       \
            ctype moved = v + (at - (ctype)127.5) * (unit / (ctype)127.5);                         \
            moved = moved < 0 ? 0 : moved > 1 ? 1 : moved;                                         \
            x[k] = v > 0 && v < 1 ? moved : v;                                                     \
        }                                                                                          \
    }
RUN_PARTS(run_parts_32, odb_f32)
RUN_PARTS(run_parts_64, odb_f64)
#undef RUN_PARTS

static void run_parts_block(void *arg, size_t begin, size_t end)
{
    const struct run_jitter *j = arg;
    uint32_t n = (uint32_t)(end - begin), salt = (uint32_t)run_mix(j->seed + begin);
    double unit = odb_dtype_info(j->dtype)->eps / 2;
    if (j->dtype == ODB_F32)
        run_parts_32((odb_f32 *)j->data + begin, n, (odb_f32)unit, salt);
    else if (j->dtype == ODB_F64)
        run_parts_64((odb_f64 *)j->data + begin, n, unit, salt);
}

static void run_move_parts(const struct odb_call *call, struct odb_tensor *t)
{
    struct run_jitter j = {
        .dtype = t->dtype, .data = t->data, .seed = run_mix(call->seed ^ 0x5167)};
    odb_parallel_for(t->count, RUN_BLOCK, run_parts_block, &j);
}

/* Rounds or moves the elements of t, which is not shared, as the precision wants; declared and salt
 * as above. */
static void run_disturb(const struct odb_call *call, struct odb_tensor *t, enum odb_dtype declared,
                        bool result, uint64_t salt)
{
    if (call->precision == ODB_PREC_NOISY) {
        run_move(call, t, t, declared, salt);
        if (result && !run_is_narrow(declared) &&
            odb_facts_of(call->op->domain, call->op->name)->traits & ODB_IS_OF_ONE)
            run_move_parts(call, t);
        return;
    }
    struct run_round r = {t, call->precision == ODB_PREC_F16    ? ODB_F16
                             : call->precision == ODB_PREC_BF16 ? ODB_BF16
                             : call->precision == ODB_PREC_F32  ? ODB_F32
                                                                : ODB_UNDEFINED};
    if (t->dtype == ODB_F32 || (t->dtype == ODB_F64 && r.to != ODB_UNDEFINED))
        odb_parallel_for(t->count, RUN_BLOCK, run_round_block, &r);
}

/* Whether the precision changes t, an operand (a result) of this call, at all. */
static bool run_disturbs(const struct odb_call *call, const struct odb_tensor *t, bool result)
{
    switch (call->precision) {
    case ODB_PREC_F16:
    case ODB_PREC_BF16:
        return true;
    case ODB_PREC_F32:
        return t->dtype == ODB_F64;
    case ODB_PREC_TF32:
        return !result && (call->op->flags & ODB_OP_MATMUL) != 0;
    case ODB_PREC_NOISY:
        return (call->op->flags & ODB_OP_REAL) != 0 && (call->op->flags & ODB_OP_EXACT) == 0 &&
               (result || (call->op->flags & ODB_OP_STEADY) == 0);
    default:
        return false;
    }
}

/* --- operands --------------------------------------------------------------------------------- */

/* Moves give the same whether their operands are converted before or their results after, and
 * results are often far smaller (Gather from a vocabulary). True where that holds for the call. */
static bool run_moves_only(const struct odb_call *call)
{
    enum odb_dtype first = ODB_UNDEFINED;
    if (!(call->op->flags & ODB_OP_EXACT) || (call->op->flags & ODB_OP_REAL))
        return false;
    for (int i = 0; i < call->n_in; i++) {
        if (call->in[i] && call->in[i]->kind != ODB_TENSOR)
            return false;
        if (!run_is_float(call->in[i]))
            continue;
        if (first != ODB_UNDEFINED && call->in[i]->dtype != first)
            return false;
        first = call->in[i]->dtype;
    }
    return true;
}

/* Whether floats of one width would meet doubles in a kernel of arithmetic, which is written for
 * one type: where the model has inputs of several, it gets doubles alone. */
static bool run_mixes(const struct odb_call *call)
{
    bool wide = false, other = false;
    if (!(call->op->flags & ODB_OP_REAL) || call->precision == ODB_PREC_F64)
        return false;
    for (int i = 0; i < call->n_in; i++) {
        bool is_float = run_is_float(call->in[i]);
        wide = wide || (is_float && call->in[i]->dtype == ODB_F64);
        other = other || (is_float && call->in[i]->dtype != ODB_F64);
    }
    return wide && other;
}

/* The operand as the kernel gets it: *out is a new reference. */
static enum odb_status run_operand(const struct odb_call *call, int i, struct odb_tensor **out,
                                   struct odb_error *err)
{
    const struct odb_tensor *t = call->in[i];
    bool kept = i < 32 && (call->keep_in >> i & 1);
    *out = NULL;
    if (t && t->kind != ODB_TENSOR && call->precision == ODB_PREC_F64)
        return odb_tensor_cast_floats(out, t, ODB_F64, err); /* a kernel never meets both */
    bool like = i == 1 && (call->op->flags & ODB_OP_LIKE);
    if (!run_is_float(t) || !t->data || like || run_moves_only(call)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    bool pieces = i == 1 && (call->op->flags & ODB_OP_PIECES);
    if (call->precision == ODB_PREC_F64 && !pieces)
        return odb_tensor_cast(out, t, ODB_F64, err);
    bool disturb = run_disturbs(call, t, false) && !kept;
    bool widen = run_is_narrow(t->dtype) && (call->op->flags & ODB_OP_REAL);
    if (pieces && !disturb && (widen || call->precision == ODB_PREC_F64)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    bool plain = t->dtype == ODB_F32 || t->dtype == ODB_F64;
    if (disturb && plain && call->precision == ODB_PREC_NOISY) { /* in one go: weights are large */
        ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, t->dims, err));
        run_move(call, *out, t, t->dtype, (uint64_t)i + 1);
        return ODB_OK;
    }
    if (widen)
        ODB_TRY(odb_tensor_cast(out, t, ODB_F32, err));
    else if (disturb)
        ODB_TRY(odb_tensor_clone(out, t, err));
    else
        *out = odb_tensor_ref(t);
    if (disturb && !run_is_narrow((*out)->dtype))
        run_disturb(call, *out, t->dtype, false, (uint64_t)i + 1);
    return ODB_OK;
}

static enum odb_status run_widen(struct odb_tensor **t, struct odb_error *err)
{
    struct odb_tensor *narrow = *t;
    if (!run_is_float(narrow) || !narrow->data)
        return ODB_OK;
    enum odb_status status = odb_tensor_cast(t, narrow, ODB_F64, err);
    if (status == ODB_OK)
        odb_tensor_unref(narrow);
    return status;
}

static enum odb_status run_operands(const struct odb_call *call, struct odb_tensor **in,
                                    struct odb_error *err)
{
    bool mixes = run_mixes(call);
    for (int i = 0; i < call->n_in; i++) {
        ODB_TRY(run_operand(call, i, &in[i], err));
        if (mixes)
            ODB_TRY(run_widen(&in[i], err));
    }
    return ODB_OK;
}

/* --- results ---------------------------------------------------------------------------------- */

/* Notes the model's type of a result that is carried in double; of one that others hold, too, a
 * view is taken. */
static enum odb_status run_result_of(enum odb_dtype declared, struct odb_tensor **out,
                                     struct odb_error *err)
{
    struct odb_tensor *t = *out, *view = NULL;
    if (t->declared == declared)
        return ODB_OK;
    if (atomic_load(&t->refs) > 1) {
        ODB_TRY(odb_tensor_reshape(&view, t, t->rank, t->dims, err));
        odb_tensor_unref(t);
        *out = t = view;
    }
    t->declared = declared;
    return ODB_OK;
}

/* Brings result i from the kernel's type to the declared one, and disturbs it. */
static enum odb_status run_result(const struct odb_call *call, int i, enum odb_dtype declared,
                                  struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *t = out[i];
    if (t->kind != ODB_TENSOR && call->precision == ODB_PREC_F64) {
        ODB_TRY(odb_tensor_cast_floats(&out[i], t, ODB_F64, err));
        odb_tensor_unref(t);
        return ODB_OK;
    }
    if (!run_is_float(t))
        return ODB_OK;
    enum odb_dtype want = call->precision == ODB_PREC_F64 ? ODB_F64 : declared;
    bool kept = i < 32 && (call->keep_out >> i & 1);
    bool disturb = run_disturbs(call, t, true) && !kept;
    bool shared = atomic_load(&t->refs) > 1 || atomic_load(&t->storage->refs) > 1;
    struct odb_tensor *next = NULL;
    if (disturb && !run_is_narrow(t->dtype)) {
        if (shared) {
            ODB_TRY(odb_tensor_clone(&next, t, err));
            odb_tensor_unref(t);
            out[i] = t = next;
        }
        run_disturb(call, t, want, true, (uint64_t)i + 101);
    }
    if (odb_dtype_is_float(want) && want != t->dtype) {
        ODB_TRY(odb_tensor_cast(&next, t, want, err));
        odb_tensor_unref(t);
        out[i] = next;
    }
    return call->precision == ODB_PREC_F64 ? run_result_of(declared, &out[i], err) : ODB_OK;
}

/* The input that a result shares its bytes with, in the result's shape; a sequence as it is. */
static enum odb_status run_alias(const struct odb_outline *line, const struct odb_tensor *in,
                                 struct odb_tensor **out, struct odb_error *err)
{
    if (in->kind == ODB_TENSOR)
        return odb_tensor_reshape(out, in, line->rank, line->dims, err);
    *out = odb_tensor_ref(in);
    return ODB_OK;
}

/* An input that output 0 may be written over: nothing else needs it. NULL: there is none. */
static struct odb_tensor *run_overwrite(const struct odb_call *call, const struct odb_kern *k,
                                        struct odb_tensor *const *in)
{
    const struct odb_outline *line = &k->outline[0];
    bool plain = call->precision == ODB_PREC_NATIVE || call->precision == ODB_PREC_F64;
    if (!(call->op->flags & ODB_OP_OVERWRITE) || !plain)
        return NULL;
    for (int i = 0; i < call->n_in && i < 32; i++) {
        struct odb_tensor *t = in[i];
        if (!t || !(call->dying >> i & 1) || t != call->in[i] || t->kind != ODB_TENSOR ||
            t->dtype != line->dtype || t->rank != line->rank || t->count == 0 ||
            memcmp(t->dims, line->dims, (size_t)t->rank * sizeof *t->dims) != 0)
            continue;
        if (atomic_load(&t->refs) == 2 && atomic_load(&t->storage->refs) == 1)
            return t;
    }
    return NULL;
}

static enum odb_status run_allocate(const struct odb_call *call, struct odb_kern *k,
                                    struct odb_tensor *const *in, bool *all_alias)
{
    *all_alias = true;
    for (int i = 0; i < k->n_out; i++) {
        const struct odb_outline *line = &k->outline[i];
        if (!k->wanted[i])
            continue;
        if (!line->set)
            return ODB_KERN_FAIL(k, "%s does not give output %d", k->op->name, i);
        if (line->alias) {
            ODB_TRY(run_alias(line, k->in[line->alias - 1], &k->out[i], k->err));
            continue;
        }
        *all_alias = false;
        k->out[i] = i == 0 && call->dying ? odb_tensor_ref(run_overwrite(call, k, in)) : NULL;
        if (!k->out[i])
            ODB_TRY(odb_tensor_new_raw(&k->out[i], line->dtype, line->rank, line->dims, k->err));
    }
    return ODB_OK;
}

/* The operand as the model has it, for infer(): floats that are carried in double are a shape of
 * their own type. *out is a new reference; false: its type is not known. */
static bool run_uncarried(const struct odb_call *call, int i, struct odb_tensor **out)
{
    const struct odb_tensor *t = call->in[i];
    *out = NULL;
    if (!t)
        return true;
    enum odb_dtype own = t->kind == ODB_TENSOR ? odb_call_dtype(call, i) : ODB_UNDEFINED;
    if (own == ODB_UNDEFINED || own == t->dtype)
        *out = odb_tensor_ref(t);
    else if (odb_tensor_new_shape(out, own, t->rank, t->dims, NULL) != ODB_OK)
        return false;
    return own != ODB_UNDEFINED;
}

/* Double mode: what infer() says of operands in the model's own types. Where those of some are not
 * known, and where infer() needs values of floats, neither are the results'. */
static enum odb_status run_declare_carried(const struct odb_call *call, const struct odb_kern *k,
                                           enum odb_dtype *declared)
{
    struct odb_tensor *few[RUN_FEW] = {NULL};
    struct odb_tensor **in =
        call->n_in <= RUN_FEW ? few : odb_work_n(struct odb_tensor *, call->n_in);
    bool known = true;
    for (int i = 0; i < call->n_out; i++)
        declared[i] = ODB_UNDEFINED;
    for (int i = 0; i < call->n_in; i++)
        known = run_uncarried(call, i, &in[i]) && known;
    struct odb_kern own = *k;
    own.in = (const struct odb_tensor **)in;
    own.carry_f64 = false;
    own.err = NULL;
    bool told = call->op->infer && !call->inner && call->op->infer(&own) == ODB_OK;
    for (int i = 0; i < call->n_out; i++) {
        const struct odb_outline *line = &k->outline[i];
        if (told && line->set && (known || line->dtype != ODB_F64))
            declared[i] = line->dtype;
        k->outline[i].set = false;
        k->outline[i].alias = 0;
    }
    for (int i = 0; i < call->n_in; i++)
        odb_tensor_unref(in[i]);
    if (in != few)
        odb_work_give(in);
    return ODB_OK;
}

/* What infer() says of the call's own operands: the declared types of the results. */
static enum odb_status run_declare(const struct odb_call *call, struct odb_kern *k,
                                   enum odb_dtype *declared)
{
    for (int i = 0; i < call->n_in && k->narrow == ODB_UNDEFINED; i++)
        if (call->in[i] && run_is_narrow(call->in[i]->dtype))
            k->narrow = call->in[i]->dtype;
    if (call->precision == ODB_PREC_F64)
        return run_declare_carried(call, k, declared);
    for (int i = 0; i < call->n_out; i++)
        declared[i] = k->narrow; /* operators that allocate for themselves: the operands' type */
    if (call->precision == ODB_PREC_NATIVE && k->narrow == ODB_UNDEFINED && !run_mixes(call))
        return ODB_OK; /* results are what the kernel makes of the operands as they are */
    if (!call->op->infer)
        return ODB_OK;
    ODB_TRY(call->op->infer(k));
    for (int i = 0; i < call->n_out; i++) {
        declared[i] = k->outline[i].dtype;
        k->outline[i].set = false;
    }
    return ODB_OK;
}

/* --- half types by the piece ------------------------------------------------------------------ */

#define RUN_PIECE ((size_t)8192) /* elements that stay in a near cache as floats */
#define RUN_PIECE_IN 3

struct run_pieces {
    const struct odb_call *call;
    const struct odb_kern *k; /* whose output 0 is to be filled */
    atomic_bool failed;       /* some piece but the first */
};

/* Whether the kernel is one of elements, and may be given some of them at a time: of operands of
 * one half type that are of one shape, or one element. */
static bool run_by_pieces(const struct odb_call *call, const struct odb_kern *k)
{
    const unsigned flags = ODB_OP_REAL | ODB_OP_OVERWRITE;
    const struct odb_tensor *whole = NULL;
    if (call->precision != ODB_PREC_NATIVE || (call->op->flags & flags) != flags ||
        k->narrow == ODB_UNDEFINED || call->n_out != 1 || !call->wanted[0] ||
        call->n_in > RUN_PIECE_IN ||
        (call->n_in > 1 && call->op->since < 7)) /* the axis meant the whole */
        return false;
    for (int i = 0; i < call->n_in; i++) {
        const struct odb_tensor *t = call->in[i];
        if (!t || t->kind != ODB_TENSOR || t->dtype != k->narrow || !t->data)
            return false;
        if (t->count > 1 && whole && !odb_tensor_same_shape(t, whole))
            return false;
        whole = t->count > 1 ? t : whole;
    }
    return whole != NULL;
}

static void run_piece_view(struct odb_tensor *t, odb_f32 *data, size_t n)
{
    *t = (struct odb_tensor){.kind = ODB_TENSOR, .dtype = ODB_F32, .rank = 1};
    atomic_init(&t->refs, 1); /* the caller's, which never releases it */
    t->dims[0] = (int64_t)n;
    t->count = n;
    t->bytes = n * sizeof *data;
    t->data = data;
}

static enum odb_status run_piece(const struct run_pieces *p, size_t begin, size_t end,
                                 struct odb_error *err)
{
    const struct odb_call *call = p->call;
    struct odb_tensor in[RUN_PIECE_IN], out, *outs = &out;
    const struct odb_tensor *ins[RUN_PIECE_IN];
    odb_u16 *y = p->k->out[0]->data;
    odb_f32 *room =
        odb_workspace(ODB_WORKSPACE_PIECES, (RUN_PIECE_IN + 1) * RUN_PIECE * sizeof *room);
    if (!room)
        return odb_fail(err, ODB_E_NOMEM, "no memory to compute %s in", call->op->name);
    for (int i = 0; i < call->n_in; i++) {
        bool one = call->in[i]->count == 1;
        const odb_u16 *x = (const odb_u16 *)call->in[i]->data + (one ? 0 : begin);
        run_piece_view(&in[i], room + (size_t)i * RUN_PIECE, one ? 1 : end - begin);
        odb_convert(ODB_F32, in[i].data, p->k->narrow, x, in[i].count);
        ins[i] = &in[i];
    }
    run_piece_view(&out, room + RUN_PIECE_IN * RUN_PIECE, end - begin);
    struct odb_kern k = *p->k;
    k.in = ins;
    k.out = &outs;
    k.err = err;
    ODB_TRY(call->op->run(&k));
    odb_convert(p->k->narrow, y + begin, ODB_F32, out.data, end - begin);
    return ODB_OK;
}

static void run_piece_block(void *arg, size_t begin, size_t end)
{
    struct run_pieces *p = arg;
    if (run_piece(p, begin + RUN_PIECE, end + RUN_PIECE, NULL) != ODB_OK)
        atomic_store(&p->failed, true);
}

static enum odb_status run_pieces(const struct odb_call *call, struct odb_kern *k,
                                  struct odb_tensor *const *in)
{
    struct run_pieces p = {.call = call, .k = k};
    bool all_alias;
    ODB_TRY(call->op->infer(k));
    ODB_TRY(run_allocate(call, k, in, &all_alias));
    size_t n = k->out[0]->count, first = ODB_MIN(n, RUN_PIECE);
    ODB_TRY(run_piece(&p, 0, first, k->err));
    odb_parallel_for(n - first, RUN_PIECE, run_piece_block, &p);
    /* The first has the same attributes and types, so that only memory can be what they lack. */
    return atomic_load(&p.failed) ? odb_kern_no_memory(k) : ODB_OK;
}

static enum odb_status run_check_values(const struct odb_call *call, struct odb_error *err)
{
    for (int i = 0; i < call->n_in; i++) {
        const struct odb_tensor *t = call->in[i];
        if (t && t->kind == ODB_TENSOR && !t->data && t->count)
            return odb_fail(err, ODB_E_OPERATOR, "input %d of %s has no values", i, call->op->name);
    }
    return ODB_OK;
}

/* The call as its kernel sees it, without what only a run has. */
static struct odb_kern run_kern(const struct odb_call *call, struct odb_tensor **out,
                                struct odb_outline *lines, struct odb_error *err)
{
    return (struct odb_kern){.op = call->op,
                             .opset = call->opset,
                             .attrs = call->attrs,
                             .n_in = call->n_in,
                             .n_out = call->n_out,
                             .in = (const struct odb_tensor **)call->in,
                             .out = out,
                             .outline = lines,
                             .wanted = call->wanted,
                             .err = err};
}

enum odb_status odb_op_run(const struct odb_call *call, struct odb_tensor **out,
                           struct odb_error *err)
{
    ODB_TRY(odb_op_check(call, err));
    enum odb_status status = ODB_OK;
    struct odb_memo own_memo = {NULL};
    bool few = call->n_out <= RUN_FEW && call->n_in <= RUN_FEW;
    struct odb_outline few_lines[RUN_FEW];
    struct odb_tensor *few_in[RUN_FEW] = {NULL};
    enum odb_dtype few_declared[RUN_FEW];
    struct odb_outline *lines = few ? few_lines : odb_work_n(struct odb_outline, call->n_out);
    struct odb_tensor **in = few ? few_in : odb_work_n(struct odb_tensor *, call->n_in);
    enum odb_dtype *declared = few ? few_declared : odb_work_n(enum odb_dtype, call->n_out);
    for (int i = 0; i < call->n_out; i++) {
        lines[i].set = false;
        lines[i].alias = 0;
    }
    memset(out, 0, (size_t)call->n_out * sizeof *out);
    struct odb_kern k = run_kern(call, out, lines, err);
    k.sequential = call->precision == ODB_PREC_NOISY;
    k.carry_f64 = call->precision == ODB_PREC_F64;
    k.seed = call->seed;
    k.memo = call->memo ? call->memo : &own_memo;
    k.constant = call->precision == ODB_PREC_NATIVE ? call->constant : 0;
    ODB_TRY_OUT(run_declare(call, &k, declared));
    ODB_TRY_OUT(run_check_values(call, err));
    if (run_by_pieces(call, &k)) {
        for (int i = 0; i < call->n_in; i++)
            in[i] = odb_tensor_ref(call->in[i]);
        status = run_pieces(call, &k, in);
        goto out;
    }
    ODB_TRY_OUT(run_operands(call, in, err));
    k.in = (const struct odb_tensor **)in;
    bool all_alias = false;
    if (call->op->infer) {
        ODB_TRY_OUT(call->op->infer(&k));
        ODB_TRY_OUT(run_allocate(call, &k, in, &all_alias));
    }
    if (!all_alias)
        ODB_TRY_OUT(call->op->run(&k));
    for (int i = 0; i < call->n_out; i++)
        if (call->wanted[i] && out[i])
            ODB_TRY_OUT(run_result(call, i, declared[i], out, err));
out:
    if (own_memo.first)
        odb_memo_dispose(&own_memo);
    for (int i = 0; i < call->n_in; i++)
        odb_tensor_unref(in[i]);
    if (status != ODB_OK) {
        for (int i = 0; i < call->n_out; i++) {
            odb_tensor_unref(out[i]);
            out[i] = NULL;
        }
    }
    if (status == ODB_SKIPPED) /* an input without values, in a real run */
        status = odb_fail(err, ODB_E_OPERATOR, "an input of %s has no values", call->op->name);
    if (!few) {
        odb_work_give(in);
        odb_work_give(declared);
        odb_work_give(lines);
    }
    return status;
}

enum odb_status odb_op_infer(const struct odb_call *call, struct odb_tensor **out,
                             struct odb_error *err)
{
    memset(out, 0, (size_t)call->n_out * sizeof *out);
    ODB_TRY(odb_op_check(call, err));
    if (!call->op->infer)
        return ODB_SKIPPED;
    struct odb_outline *lines = odb_work_n(struct odb_outline, call->n_out);
    struct odb_kern k = run_kern(call, out, lines, err);
    enum odb_status status = call->op->infer(&k);
    for (int i = 0; i < call->n_out && status == ODB_OK; i++) {
        const struct odb_outline *line = &lines[i];
        if (!call->wanted[i] || !line->set)
            continue;
        const struct odb_tensor *in = line->alias ? call->in[line->alias - 1] : NULL;
        if (in && (in->data || in->kind != ODB_TENSOR))
            status = run_alias(line, in, &out[i], err);
        else
            status = odb_tensor_new_shape(&out[i], line->dtype, line->rank, line->dims, err);
    }
    odb_work_give(lines);
    return status;
}
