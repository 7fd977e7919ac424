/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The family attribute: one attribute has another value, or is read in another way. Values to try
 * come from published reports of such faults; an attribute that has no row is still tried with its
 * default.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "explain/catalogue/attribute.h"
#include "explain/catalogue/padded.h"
#include "explain/variant.h"

#define POOLS "MaxPool|AveragePool|LpPool|MaxpoolWithMask"
#define CONVS "Conv|ConvInteger|QLinearConv|FusedConv|NhwcFusedConv"
#define WINDOWS CONVS "|" POOLS
/* Channels stand before the rest. */
#define PADDED "Conv|ConvInteger|QLinearConv|FusedConv|" POOLS
#define REDUCES                                                                                    \
    "ReduceSum|ReduceMean|ReduceMax|ReduceMin|ReduceProd|ReduceL1|ReduceL2|ReduceLogSum|"          \
    "ReduceLogSumExp|ReduceSumSquare"
#define SOFTMAXES "Softmax|LogSoftmax|Hardmax"
#define RECURRENT "RNN|GRU|LSTM|AttnLSTM"
#define EPSILONS                                                                                   \
    "BatchNormalization|InstanceNormalization|LayerNormalization|GroupNormalization|"              \
    "RMSNormalization|SkipLayerNormalization|SkipSimplifiedLayerNormalization|"                    \
    "SimplifiedLayerNormalization|EmbedLayerNormalization|MeanVarianceNormalization|"              \
    "GatedRMSNorm|EngramGate|MatMulNBitsMlp|MatMulNBitsQkv|QOrderedLayerNormalization"
#define ATTENTIONS                                                                                 \
    "Attention|MultiHeadAttention|GroupQueryAttention|DecoderMaskedMultiHeadAttention|"            \
    "PagedAttention"
#define EXPERTS "MoE|QMoE"
#define CLASSIFIERS "TreeEnsembleClassifier|LinearClassifier|SVMClassifier"
#define LINEAR "LinearAttention|GatedDeltaNet"

/* --- other values ----------------------------------------------------------------------------- */

/* Values that an attribute may be mistaken for, between bars; an axis takes any of the rank. */
static const struct attribute_values {
    const char *ops, *attr, *values;
} attribute_values[] = {
    {SOFTMAXES, "axis", "axes"},
    {"Concat|Split|Gather|GatherElements|ScatterElements|ArgMax|ArgMin|Flatten|TopK|CumSum|"
     "LayerNormalization|LpNormalization|OneHot|Compress|Unique|QuantizeLinear|DequantizeLinear",
     "axis", "axes"},
    {"AveragePool", "count_include_pad", "0|1"},
    {POOLS, "ceil_mode", "0|1"},
    {POOLS "|" CONVS "|ConvTranspose", "auto_pad", "SAME_UPPER|SAME_LOWER|VALID|NOTSET"},
    {"MaxPool", "storage_order", "0|1"},
    {CONVS "|ConvTranspose", "group", "1"},
    {"LpPool|LpNormalization", "p", "1|2"},
    {EPSILONS, "epsilon", "0|1e-05|0.001|1e-06|1e-12|1e-13"},
    {"BatchNormalization", "training_mode", "0|1"},
    {"GroupNormalization", "num_groups", "1|2|4|8|16|32"},
    {"LRN", "alpha", "0.0001|0.001"},
    {"LRN", "bias", "1|2"},
    {"LRN", "beta", "0.75|0.5|1"},
    {"Resize|Upsample", "coordinate_transformation_mode",
     "half_pixel|asymmetric|align_corners|pytorch_half_pixel|half_pixel_symmetric|"
     "tf_half_pixel_for_nn"},
    {"Resize|Upsample", "mode", "nearest|linear|cubic"},
    {"Resize", "nearest_mode", "round_prefer_floor|round_prefer_ceil|floor|ceil"},
    {"Resize", "cubic_coeff_a", "-0.5|-0.75"},
    {"Resize", "antialias", "0|1"},
    {"Resize", "exclude_outside", "0|1"},
    {"GridSample", "align_corners", "0|1"},
    {"GridSample|AffineGrid", "align_corners", "0|1"},
    {"GridSample", "padding_mode", "zeros|border|reflection"},
    {"GridSample", "mode", "linear|nearest|cubic|bilinear|bicubic"},
    {"RoiAlign", "coordinate_transformation_mode", "half_pixel|output_half_pixel"},
    {"RoiAlign", "sampling_ratio", "0|1|2|4"},
    {"RoiAlign", "mode", "avg|max"},
    {"Pad", "mode", "constant|reflect|edge|wrap"},
    {"Pad", "value", "0"},
    {"ScatterElements|ScatterND", "reduction", "none|add|mul|max|min"},
    {"GatherND", "batch_dims", "0"},
    {"Gelu", "approximate", "none|tanh"},
    {"LeakyRelu|Elu|Celu|ThresholdedRelu", "alpha", "0.01|0.1|0.2|0|1"},
    {"Selu", "alpha", "1.67326|1"},
    {"Selu", "gamma", "1.0507|1"},
    {"HardSigmoid", "alpha", "0.2|0.166667"},
    {"HardSigmoid", "beta", "0.5|0"},
    {"Shrink", "bias", "0"},
    {"Shrink", "lambd", "0.5|0"},
    {"Gemm", "alpha", "1"},
    {"Gemm", "beta", "1|0"},
    {"Gemm|FusedMatMul|TransposeMatMul", "transA", "0|1"},
    {"Gemm|FusedMatMul|TransposeMatMul", "transB", "0|1"},
    {"Mod", "fmod", "0|1"},
    {"ArgMax|ArgMin", "select_last_index", "0|1"},
    {"TopK", "largest", "0|1"},
    {"TopK", "sorted", "0|1"},
    {"CumSum", "exclusive", "0|1"},
    {"CumSum", "reverse", "0|1"},
    {"GRU", "linear_before_reset", "0|1"},
    {RECURRENT, "direction", "forward|reverse|bidirectional"},
    {RECURRENT, "layout", "0|1"},
    {"LSTM|AttnLSTM", "input_forget", "0|1"},
    {"RotaryEmbedding|MRotaryEmbedding", "interleaved", "0|1"},
    {"MRotaryEmbedding", "mrope_layout", "0|1"},
    {"RotaryEmbedding", "rotary_embedding_dim", "0"},
    {ATTENTIONS, "is_causal", "0|1"},
    {ATTENTIONS, "unidirectional", "0|1"},
    {ATTENTIONS, "scale", "1"},
    {ATTENTIONS, "softcap", "0"},
    {ATTENTIONS, "do_rotary", "0|1"},
    {ATTENTIONS, "rotary_interleaved", "0|1"},
    {ATTENTIONS, "smooth_softmax", "0|1"},
    {LINEAR, "scale", "1"},
    {LINEAR, "update_rule", "linear|gated|delta|gated_delta"},
    {LINEAR, "qk_l2_norm", "0|1"},
    {LINEAR, "gate_activation", "none|qwen"},
    {LINEAR, "beta_activation", "none|sigmoid"},
    {"CausalConvWithState|VarlenCausalConvWithState", "activation", "none|silu"},
    {EXPERTS, "normalize_routing_weights", "0|1"},
    {EXPERTS, "k", "1|2|4|8"},
    {EXPERTS, "activation_type", "relu|gelu|silu|identity"},
    {EXPERTS, "activation_alpha", "0|1|1.702"},
    {EXPERTS, "activation_beta", "0|1"},
    {EXPERTS, "swiglu_limit", "0|7"},
    {EXPERTS, "swiglu_fusion", "1|2"},
    {"BiasSoftmax", "is_inner_broadcast", "0|1"},
    {"NonMaxSuppression", "center_point_box", "0|1"},
    {"DepthToSpace", "mode", "DCR|CRD"},
    {"Trilu", "upper", "0|1"},
    {"EyeLike", "k", "0"},
    {"DFT|STFT", "onesided", "0|1"},
    {"DFT", "inverse", "0|1"},
    {REDUCES, "noop_with_empty_axes", "0|1"},
    {"BitShift", "direction", "LEFT|RIGHT"},
    {"Cast|CastLike|QuantizeLinear", "saturate", "0|1"},
    {"IsInf", "detect_negative", "0|1"},
    {"IsInf", "detect_positive", "0|1"},
    {"Einsum", "equation", ""},
    {"MatMulNBits", "block_size", "16|32|64|128"},
    {CLASSIFIERS "|TreeEnsembleRegressor|LinearRegressor|SVMRegressor", "post_transform",
     "NONE|LOGISTIC|SOFTMAX|SOFTMAX_ZERO|PROBIT"},
    {"TreeEnsemble", "post_transform", "0|1|2|3|4"},
    {"TreeEnsemble", "aggregate_function", "0|1|2|3"},
    {"TreeEnsembleRegressor", "aggregate_function", "SUM|AVERAGE|MIN|MAX"},
    {"SVMClassifier|SVMRegressor", "kernel_type", "LINEAR|POLY|RBF|SIGMOID"},
    {"Normalizer", "norm", "MAX|L1|L2"},
    {NULL, NULL, NULL},
};

/* Word k of "a|b|c"; false: there are no more. */
static bool attribute_word(const char *words, size_t k, char *out, size_t size)
{
    const char *p = words;
    for (; k && p; k--) {
        p = strchr(p, '|');
        p += p != NULL;
    }
    if (!p || !*p)
        return false;
    odb_text_fit(out, size, "%.*s", (int)strcspn(p, "|"), p);
    return true;
}

/* Value k that the row has for this call, as text. */
static bool attribute_value(const struct accused *s, const struct attribute_values *row, size_t k,
                            char *out, size_t size)
{
    if (strcmp(row->values, "axes") != 0)
        return attribute_word(row->values, k, out, size);
    const struct odb_tensor *x = accused_in(s, 0);
    if (!x || k >= (size_t)x->rank)
        return false;
    odb_text_fit(out, size, "%zu", k);
    return true;
}

/* What the node has, as text; its default where it has nothing; "": neither. */
static void attribute_current(const struct accused *s, const char *name, char *out, size_t size)
{
    const struct odb_attr *attr = accused_attr(s, name);
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    if (attr && attr->type == ODB_ATTR_INT)
        odb_text_fit(out, size, "%lld", (long long)attr->i);
    else if (attr && attr->type == ODB_ATTR_FLOAT)
        odb_text_fit(out, size, "%g", (double)attr->f);
    else if (attr && attr->type == ODB_ATTR_STRING)
        odb_text_fit(out, size, "%.*s", (int)ODB_MIN(attr->s.len, (size_t)60), attr->s.data);
    else
        odb_text_fit(out, size, "%s", !attr && spec && spec->def ? spec->def : "");
}

/* A scalar attribute of the type that the operator's row has, from text. */
static bool attribute_make(const struct accused *s, const char *name, const char *text,
                           struct variant *v)
{
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    enum odb_attr_type type = spec ? spec->type : ODB_ATTR_UNDEFINED;
    v->attr = (struct odb_attr){.name = spec ? spec->name : name, .type = type};
    if (type == ODB_ATTR_INT)
        v->attr.i = strtoll(text, NULL, 10);
    else if (type == ODB_ATTR_FLOAT)
        v->attr.f = strtof(text, NULL);
    return type == ODB_ATTR_INT || type == ODB_ATTR_FLOAT || type == ODB_ATTR_STRING;
}

static bool attribute_same(const struct accused *s, const char *name, const char *text)
{
    char now[80];
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    attribute_current(s, name, now, sizeof now);
    if (spec && spec->type == ODB_ATTR_FLOAT)
        return now[0] && (float)strtod(now, NULL) == (float)strtod(text, NULL);
    if (spec && spec->type == ODB_ATTR_INT && strcmp(name, "axis") == 0 && now[0] == '-') {
        const struct odb_tensor *x = accused_in(s, 0);
        return x && strtoll(now, NULL, 10) + x->rank == strtoll(text, NULL, 10);
    }
    return strcmp(now, text) == 0;
}

static enum choice attribute_choose_value(const struct accused *s, size_t k, struct variant *v)
{
    char text[80];
    for (const struct attribute_values *row = attribute_values; row->attr; row++) {
        if (!variant_is_for(row->ops, s->node->op_type) || !odb_op_attr(s->op, row->attr))
            continue;
        size_t n = 0;
        while (attribute_value(s, row, n, text, sizeof text))
            n++;
        if (k >= n) {
            k -= n;
            continue;
        }
        attribute_value(s, row, k, text, sizeof text);
        if (attribute_same(s, row->attr, text) || !attribute_make(s, row->attr, text, v))
            return CHOICE_SKIP;
        odb_buf_printf(&v->name, "%s=%s", row->attr, text);
        odb_buf_printf(
            &v->text, v->attr.type == ODB_ATTR_STRING ? "as if %s were \"%s\"" : "as if %s were %s",
            row->attr, text);
        return CHOICE_MADE;
    }
    return CHOICE_END;
}

static enum odb_status attribute_change(const struct variant *v, const struct accused *s,
                                        struct change *c, struct odb_error *err)
{
    struct odb_attr attr = v->attr;
    (void)s;
    (void)err;
    if (attr.type == ODB_ATTR_STRING) { /* kernels want a NUL behind it, which the name has */
        const char *text = strchr(odb_buf_text(&v->name), '=') + 1;
        attr.s = (struct odb_str){text, strlen(text)};
    }
    change_attr(c, &attr);
    return ODB_OK;
}

/* --- the default ------------------------------------------------------------------------------ */

static enum choice attribute_choose_default(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= s->node->attrs.n)
        return CHOICE_END;
    const struct odb_attr *attr = &s->node->attrs.items[k];
    const struct odb_attr_spec *spec = odb_op_attr(s->op, attr->name);
    bool graph = attr->type == ODB_ATTR_GRAPH || attr->type == ODB_ATTR_TENSOR;
    if (!spec || spec->required || graph || (spec->def && attribute_same(s, attr->name, spec->def)))
        return CHOICE_SKIP;
    v->word = spec->name;
    odb_buf_printf(&v->name, "%s=default", spec->name);
    if (spec->def)
        odb_buf_printf(&v->text, "as if %s were ignored (%s, its default)", spec->name, spec->def);
    else
        odb_buf_printf(&v->text, "as if %s were ignored", spec->name);
    return CHOICE_MADE;
}

static enum odb_status attribute_drop(const struct variant *v, const struct accused *s,
                                      struct change *c, struct odb_error *err)
{
    (void)s;
    (void)err;
    change_drop_attr(c, v->word);
    return ODB_OK;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Makes to[n] of from[n]; false: nothing changes. */
typedef bool attribute_list_fn(const int64_t *from, size_t n, int64_t *to);

static bool list_fill(const int64_t *from, size_t n, int64_t *to, int64_t v)
{
    bool changes = false;
    for (size_t i = 0; i < n; i++) {
        to[i] = v;
        changes |= from[i] != v;
    }
    return changes;
}

static bool list_ones(const int64_t *from, size_t n, int64_t *to)
{
    return list_fill(from, n, to, 1);
}

static bool list_zeros(const int64_t *from, size_t n, int64_t *to)
{
    return list_fill(from, n, to, 0);
}

/* to[i] = from[at(i)] */
static bool list_move(const int64_t *from, size_t n, int64_t *to, size_t (*at)(size_t i, size_t n))
{
    bool changes = false;
    for (size_t i = 0; i < n; i++) {
        to[i] = from[at(i, n)];
        changes |= to[i] != from[i];
    }
    return changes;
}

static size_t list_at_reversed(size_t i, size_t n)
{
    return n - 1 - i;
}
static size_t list_at_first(size_t i, size_t n)
{
    return (void)i, (void)n, (size_t)0;
}
static size_t list_at_last(size_t i, size_t n)
{
    return (void)i, n - 1;
}
/* Pads are all begins, then all ends. */
static size_t list_at_axes(size_t i, size_t n)
{
    return i < n / 2 ? n / 2 - 1 - i : n - 1 - (i - n / 2);
}
static size_t list_at_exchanged(size_t i, size_t n)
{
    return (i + n / 2) % n;
}
static size_t list_at_interleaved(size_t i, size_t n)
{
    return i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
}
static size_t list_at_begin(size_t i, size_t n)
{
    return i % (n / 2);
}
static size_t list_at_end(size_t i, size_t n)
{
    return n / 2 + i % (n / 2);
}
/* Both axes have the first's, or the last's. */
static size_t list_at_first_axis(size_t i, size_t n)
{
    return i < n / 2 ? 0 : n / 2;
}

#define LIST_MOVE(name)                                                                            \
    static bool list_##name(const int64_t *from, size_t n, int64_t *to)                            \
    {                                                                                              \
        return n > 1 && list_move(from, n, to, list_at_##name);                                    \
    }
LIST_MOVE(reversed)
LIST_MOVE(first)
LIST_MOVE(last)
LIST_MOVE(axes)
LIST_MOVE(exchanged)
LIST_MOVE(interleaved)
LIST_MOVE(begin)
LIST_MOVE(end)
LIST_MOVE(first_axis)
#undef LIST_MOVE

/* Both ends of an axis have the larger pad, or half of both. */
static bool list_larger(const int64_t *from, size_t n, int64_t *to)
{
    bool changes = false;
    for (size_t i = 0; i < n && n % 2 == 0; i++) {
        to[i] = ODB_MAX(from[i % (n / 2)], from[n / 2 + i % (n / 2)]);
        changes |= to[i] != from[i];
    }
    return changes;
}

static bool list_half(const int64_t *from, size_t n, int64_t *to)
{
    bool changes = false;
    for (size_t i = 0; i < n && n % 2 == 0; i++) {
        to[i] = (from[i % (n / 2)] + from[n / 2 + i % (n / 2)]) / 2;
        changes |= to[i] != from[i];
    }
    return changes;
}

static bool list_inverse(const int64_t *from, size_t n, int64_t *to)
{
    bool changes = false;
    for (size_t i = 0; i < n; i++)
        if (from[i] < 0 || from[i] >= (int64_t)n)
            return false;
    for (size_t i = 0; i < n; i++)
        to[from[i]] = (int64_t)i;
    for (size_t i = 0; i < n; i++)
        changes |= to[i] != from[i];
    return changes;
}

static bool list_identity(const int64_t *from, size_t n, int64_t *to)
{
    bool changes = false;
    for (size_t i = 0; i < n; i++) {
        to[i] = (int64_t)i;
        changes |= from[i] != to[i];
    }
    return changes;
}

static const struct attribute_list {
    const char *ops, *attr, *name;
    attribute_list_fn *make;
} attribute_lists[] = {
    {WINDOWS "|ConvTranspose", "dilations", "default", list_ones},
    {WINDOWS "|ConvTranspose", "dilations", "axes exchanged", list_reversed},
    {WINDOWS "|ConvTranspose", "dilations", "first for all", list_first},
    {WINDOWS "|ConvTranspose", "dilations", "last for all", list_last},
    {WINDOWS "|ConvTranspose", "strides", "axes exchanged", list_reversed},
    {WINDOWS "|ConvTranspose", "strides", "first for all", list_first},
    {POOLS, "kernel_shape", "axes exchanged", list_reversed},
    {WINDOWS "|ConvTranspose|Pad", "pads", "begin and end exchanged", list_exchanged},
    {WINDOWS "|ConvTranspose|Pad", "pads", "axes exchanged", list_axes},
    {WINDOWS "|ConvTranspose|Pad", "pads", "interleaved", list_interleaved},
    {WINDOWS "|ConvTranspose", "pads", "begin for end", list_begin},
    {WINDOWS "|ConvTranspose", "pads", "end for begin", list_end},
    {WINDOWS "|ConvTranspose", "pads", "first axis for all", list_first_axis},
    {WINDOWS "|ConvTranspose", "pads", "larger for both", list_larger},
    {WINDOWS "|ConvTranspose", "pads", "half of both", list_half},
    {WINDOWS "|ConvTranspose", "pads", "default", list_zeros},
    {"ConvTranspose", "output_padding", "default", list_zeros},
    {"Transpose", "perm", "inverse", list_inverse},
    {"Transpose", "perm", "identity", list_identity},
    {"Transpose", "perm", "reversed", list_reversed},
    {NULL, NULL, NULL, NULL},
};

static void attribute_put_ints(const int64_t *ints, size_t n, struct odb_buf *out)
{
    for (size_t i = 0; i < n; i++)
        odb_buf_printf(out, "%s%lld", i ? ", " : "[", (long long)ints[i]);
    odb_buf_puts(out, n ? "]" : "[]");
}

static enum choice attribute_choose_list(const struct accused *s, size_t k, struct variant *v)
{
    const struct attribute_list *row = &attribute_lists[k / 2];
    if (!row->attr)
        return CHOICE_END;
    const struct odb_attr *attr = accused_attr(s, row->attr);
    bool window = variant_is_for(WINDOWS, s->node->op_type), again = k % 2;
    if (!variant_is_for(row->ops, s->node->op_type) || !attr || attr->n > VARIANT_LIST ||
        attr->type != ODB_ATTR_INTS || (again && (!window || !strcmp(row->attr, "pads"))) ||
        !row->make(attr->ints, attr->n, v->ints))
        return CHOICE_SKIP;
    v->n = attr->n;
    v->word = row->attr;
    v->at = again;
    odb_buf_printf(&v->name, "%s=%s%s", row->attr, row->name, again ? ", centred" : "");
    odb_buf_printf(&v->text, "as if %s were ", row->attr);
    attribute_put_ints(v->ints, v->n, &v->text);
    odb_buf_printf(&v->text, " (%s%s)", row->name, again ? ", pads chosen anew" : "");
    return CHOICE_MADE;
}

/* The spatial axes of a window that slides; n 0: it is none that is known here. */
struct attribute_window {
    size_t n;
    int64_t in[VARIANT_LIST], out[VARIANT_LIST], kernel[VARIANT_LIST], strides[VARIANT_LIST],
        dilations[VARIANT_LIST], pads[2 * VARIANT_LIST];
};

static void attribute_read_ints(const struct odb_attrs *attrs, const char *name, size_t n,
                                int64_t *out, int64_t fill)
{
    const struct odb_attr *attr = odb_attrs_find(attrs, name);
    for (size_t i = 0; i < n; i++)
        out[i] = attr && attr->n == n ? attr->ints[i] : fill;
}

static bool attribute_window(const struct accused *s, const struct odb_attrs *attrs,
                             struct attribute_window *w)
{
    const struct odb_tensor *x = accused_in(s, 0), *y = s->y[0];
    int weights = strcmp(s->node->op_type, "QLinearConv") ? 1 : 3;
    const struct odb_tensor *kernel =
        variant_is_for(POOLS, s->node->op_type) ? NULL : accused_in(s, weights);
    if (!x || !y || x->rank < 3 || y->rank != x->rank || (kernel && kernel->rank != x->rank))
        return false;
    w->n = (size_t)x->rank - 2;
    for (size_t i = 0; i < w->n; i++) {
        w->in[i] = x->dims[i + 2];
        w->out[i] = y->dims[i + 2];
    }
    attribute_read_ints(attrs, "kernel_shape", w->n, w->kernel, 1);
    for (size_t i = 0; kernel && i < w->n; i++)
        w->kernel[i] = kernel->dims[i + 2];
    attribute_read_ints(attrs, "strides", w->n, w->strides, 1);
    attribute_read_ints(attrs, "dilations", w->n, w->dilations, 1);
    attribute_read_ints(attrs, "pads", 2 * w->n, w->pads, 0);
    return true;
}

/* Elements of padding that axis i has at both ends together, by the shapes. */
static int64_t attribute_room(const struct attribute_window *w, size_t i)
{
    return (w->out[i] - 1) * w->strides[i] + (w->kernel[i] - 1) * w->dilations[i] + 1 - w->in[i];
}

static bool attribute_is(const struct odb_attr *attr, const char *word)
{
    return attr && attr->s.len == strlen(word) && !strncmp(attr->s.data, word, attr->s.len);
}

/* Where pads begin, instead of a number of elements. */
enum { BEGIN_AS_IT_IS = -1, BEGIN_CENTRED = -2 };

/* A target that misreads one attribute has still made room for the right shape: ends of the pads
 * are what that leaves, and where they begin too late, outputs are cut to the shape. */
static bool attribute_keep_shape(const struct accused *s, struct change *c, int64_t begin,
                                 size_t *n)
{
    const struct odb_attr *automatic = odb_attrs_find(&c->call->attrs, "auto_pad");
    struct attribute_window w;
    bool same = automatic && automatic->s.len && strncmp(automatic->s.data, "NOTSET", 6);
    if ((same && begin == BEGIN_AS_IT_IS) || !attribute_window(s, &c->call->attrs, &w))
        return false;
    for (size_t i = 0; i < w.n; i++) {
        int64_t total = attribute_room(&w, i);
        int64_t more = total - w.pads[i] - w.pads[i + w.n], first = w.pads[i];
        if (begin != BEGIN_AS_IT_IS) /* half of what is more, or less, goes to each side */
            first = begin >= 0 ? begin : first + more / 2;
        c->ints[i] = ODB_MAX(first, 0);
        c->ints[i + w.n] = ODB_MAX(total - c->ints[i], 0);
    }
    *n = 2 * w.n;
    return true;
}

bool attribute_pads(const struct accused *s, int64_t *pads, size_t *n)
{
    const struct odb_attr *automatic = accused_attr(s, "auto_pad");
    bool upper = attribute_is(automatic, "SAME_UPPER"),
         lower = attribute_is(automatic, "SAME_LOWER");
    struct attribute_window w;
    if (!attribute_window(s, &s->node->attrs, &w))
        return false;
    *n = 2 * w.n;
    for (size_t i = 0; i < w.n; i++) {
        int64_t total = ODB_MAX(attribute_room(&w, i), 0);
        pads[i] = upper || lower ? (total + lower) / 2 : w.pads[i];
        pads[i + w.n] = upper || lower ? total - pads[i] : w.pads[i + w.n];
    }
    return !attribute_is(automatic, "VALID");
}

void attribute_settle(const struct accused *s, struct change *c)
{
    size_t n;
    if (variant_is_for(WINDOWS, s->node->op_type) && attribute_keep_shape(s, c, BEGIN_AS_IT_IS, &n))
        change_ints(c, "pads", c->ints, n);
}

static enum odb_status attribute_change_list(const struct variant *v, const struct accused *s,
                                             struct change *c, struct odb_error *err)
{
    size_t n;
    (void)err;
    change_ints(c, v->word, v->ints, v->n);
    if (!variant_is_for(WINDOWS, s->node->op_type))
        return ODB_OK;
    if (attribute_keep_shape(s, c, v->at ? BEGIN_CENTRED : BEGIN_AS_IT_IS, &n))
        change_ints(c, "pads", c->ints, n);
    else if (v->at)
        return ODB_SKIPPED;
    return ODB_OK;
}

/* The elements of a larger tensor that those of the target's shape are. */
struct attribute_cut {
    const struct odb_tensor *from, *to;
};

static int64_t attribute_cut(const void *payload, size_t i)
{
    const struct attribute_cut *cut = payload;
    int64_t at = 0, step = 1;
    for (int k = cut->to->rank; k-- > 0;) {
        at += (int64_t)(i % (size_t)cut->to->dims[k]) * step;
        i /= (size_t)cut->to->dims[k];
        step *= cut->from->dims[k];
    }
    return at;
}

enum odb_status attribute_cut_off(const struct variant *v, const struct accused *s,
                                  struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *y = s->y[0], *made = out[0];
    struct odb_tensor *t = NULL;
    (void)v;
    if (!y || !made || odb_tensor_same_shape(y, made))
        return ODB_OK;
    if (made->count == y->count && made->kind == ODB_TENSOR) { /* axes of another length */
        ODB_TRY(odb_tensor_reshape(&t, made, y->rank, y->dims, err));
        tensor_replace(&out[0], t);
        return ODB_OK;
    }
    if (y->rank != made->rank || made->kind != ODB_TENSOR)
        return ODB_SKIPPED;
    for (int k = 0; k < y->rank; k++)
        if (made->dims[k] < y->dims[k])
            return ODB_SKIPPED;
    struct attribute_cut cut = {made, y};
    ODB_TRY(tensor_gather_into(&t, made, y->rank, y->dims, attribute_cut, &cut, err));
    tensor_replace(&out[0], t);
    return ODB_OK;
}

/* Padding begins elsewhere: SAME that takes no notice of strides, or puts the odd one on the other
 * side. */
#define ATTRIBUTE_BEGINS 5

static enum choice attribute_choose_begin(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0);
    int64_t pads[2 * VARIANT_LIST];
    size_t n = 0;
    if (k >= ATTRIBUTE_BEGINS || !x || x->rank < 3)
        return CHOICE_END;
    bool known = attribute_pads(s, pads, &n), alike = known;
    for (size_t i = 1; i < n / 2 && known; i++)
        alike = alike && pads[i] == pads[0];
    if (alike && pads[0] == (int64_t)k) /* as it does */
        return CHOICE_SKIP;
    v->at = (int)k;
    odb_buf_printf(&v->name, "begin %zu", k);
    odb_buf_printf(&v->text, "as if padding began with %zu element%s on each axis", k,
                   k == 1 ? "" : "s");
    if (known)
        odb_buf_puts(&v->text, " instead of ");
    if (alike)
        odb_buf_printf(&v->text, "%lld", (long long)pads[0]);
    else if (known)
        attribute_put_ints(pads, n / 2, &v->text);
    return CHOICE_MADE;
}

static enum odb_status attribute_change_begin(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    size_t n;
    (void)err;
    if (!attribute_keep_shape(s, c, v->at, &n))
        return ODB_SKIPPED;
    change_drop_attr(c, "auto_pad");
    change_ints(c, "pads", c->ints, n);
    return ODB_OK;
}

/* --- values that come of others --------------------------------------------------------------- */

static const struct attribute_formula {
    const char *ops, *attr, *name, *text;
    const char *other;            /* another attribute */
    double by_other, times, plus; /* v * other^by_other * times + plus, of integers whole */
} attribute_formulas[] = {
    {"LRN", "alpha", "times size", "as if alpha were not divided by size", "size", 1, 1, 0},
    {"LRN", "alpha", "over size", "as if alpha were divided by size twice", "size", -1, 1, 0},
    {"LRN", "size", "2 size + 1", "as if size were a radius", NULL, 0, 2, 1},
    {"LRN", "size", "size / 2", "as if size were a diameter, and halved", NULL, 0, 0.5, 0},
    {"Gemm", "beta", "times alpha", "as if alpha multiplied C as well", "alpha", 1, 1, 0},
    {"Gemm", "alpha", "times beta", "as if beta multiplied A B as well", "beta", 1, 1, 0},
    {"GroupQueryAttention", "local_window_size", "one more",
     "as if the window had one more token, as in ONNX Runtime before 1.24", NULL, 0, 1, 1},
    {"PagedAttention", "local_window_size", "one more", "as if the window had one more token", NULL,
     0, 1, 1},
    {ATTENTIONS, "local_window_size", "one less", "as if the window had one token less", NULL, 0, 1,
     -1},
    {"LongformerAttention", "window", "half", "as if window were that of both sides", NULL, 0, 0.5,
     0},
};

/* What the node has, or the default; 0: neither. */
static double attribute_number(const struct accused *s, const char *name)
{
    const struct odb_attr *attr = accused_attr(s, name);
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    if (attr)
        return attr->type == ODB_ATTR_INT ? (double)attr->i : (double)attr->f;
    return spec && spec->def ? strtod(spec->def, NULL) : 0;
}

static enum choice attribute_choose_formula(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(attribute_formulas))
        return CHOICE_END;
    const struct attribute_formula *f = &attribute_formulas[k];
    const struct odb_attr_spec *spec = odb_op_attr(s->op, f->attr);
    if (!variant_is_for(f->ops, s->node->op_type) || !spec)
        return CHOICE_SKIP;
    bool integer = spec->type == ODB_ATTR_INT;
    double now = attribute_number(s, f->attr);
    double other = f->other ? attribute_number(s, f->other) : 1;
    double value = now * pow(other, f->by_other) * f->times + f->plus;
    v->attr = (struct odb_attr){.name = f->attr, .type = spec->type};
    if (!isfinite(value) || (integer && now < 1)) /* it stands for none */
        return CHOICE_SKIP;
    if (integer)
        v->attr.i = (int64_t)value;
    else
        v->attr.f = (odb_f32)value;
    odb_buf_printf(&v->name, "%s=%s", f->attr, f->name);
    odb_buf_puts(&v->text, f->text);
    return value != now && (!integer || v->attr.i > 0) ? CHOICE_MADE : CHOICE_SKIP;
}

/* --- several attributes of one model --------------------------------------------------------- */

/* Kernels that were written for one model have its numbers, whatever attributes say. */
static enum choice attribute_choose_model(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_attr *type = accused_attr(s, "activation_type");
    if (k || !type || type->s.len != 6 || strncmp(type->s.data, "swiglu", 6) != 0)
        return CHOICE_END;
    odb_buf_puts(&v->name, "of gpt-oss");
    odb_buf_puts(&v->text,
                 "as if SwiGLU were that of gpt-oss, whatever attributes say: interleaved, "
                 "alpha 1.702, beta 1, limit 7");
    return CHOICE_MADE;
}

static enum odb_status attribute_change_model(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    static const struct odb_attr attrs[] = {
        {.name = "swiglu_fusion", .type = ODB_ATTR_INT, .i = 1},
        {.name = "activation_alpha", .type = ODB_ATTR_FLOAT, .f = 1.702f},
        {.name = "activation_beta", .type = ODB_ATTR_FLOAT, .f = 1},
        {.name = "swiglu_limit", .type = ODB_ATTR_FLOAT, .f = 7}};
    (void)v, (void)s, (void)err;
    for (size_t i = 0; i < ODB_COUNT(attrs); i++)
        change_attr(c, &attrs[i]);
    return ODB_OK;
}

/* --- parameters of activations ---------------------------------------------------------------- */

static const struct attribute_parameters {
    const char *name, *text;
    bool first; /* that of the first activation for all; else 0 */
} attribute_activations[] = {
    {"0", "as if activation_alpha and activation_beta were 0", false},
    {"first for all", "as if all activations had the alpha and beta of the first", true},
};

static enum choice attribute_choose_activations(const struct accused *s, size_t k,
                                                struct variant *v)
{
    const struct odb_attr *names = accused_attr(s, "activations");
    if (k >= ODB_COUNT(attribute_activations) || !names || names->n > VARIANT_LIST)
        return CHOICE_END;
    const struct odb_attr *alpha = accused_attr(s, "activation_alpha");
    if (attribute_activations[k].first && (!alpha || alpha->n < 2))
        return CHOICE_SKIP;
    v->n = names->n;
    return variant_made(v, k, attribute_activations[k].name, attribute_activations[k].text);
}

static enum odb_status attribute_change_activations(const struct variant *v,
                                                    const struct accused *s, struct change *c,
                                                    struct odb_error *err)
{
    static const char *const lists[] = {"activation_alpha", "activation_beta"};
    (void)err;
    for (size_t k = 0; k < ODB_COUNT(lists); k++) {
        const struct odb_attr *now = accused_attr(s, lists[k]);
        odb_f32 *to = &c->floats[k * VARIANT_LIST];
        if (attribute_activations[v->at].first && !(now && now->n))
            continue;
        for (size_t i = 0; i < v->n; i++)
            to[i] = attribute_activations[v->at].first ? now->floats[0] : 0;
        change_attr(c, &(struct odb_attr){
                           .name = lists[k], .type = ODB_ATTR_FLOATS, .floats = to, .n = v->n});
    }
    return ODB_OK;
}

/* --- all axes --------------------------------------------------------------------------------- */

static enum choice attribute_choose_all_axes(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *y = s->y[0];
    if (k || !y || y->count < 2 || s->op->run == NULL)
        return CHOICE_END;
    odb_buf_puts(&v->name, "all");
    odb_buf_puts(&v->text, "as if it went over all axes, whatever was asked for");
    return CHOICE_MADE;
}

static enum odb_status attribute_change_all_axes(const struct variant *v, const struct accused *s,
                                                 struct change *c, struct odb_error *err)
{
    (void)v;
    (void)s;
    (void)err;
    change_drop_attr(c, "axes");
    change_drop_attr(c, "noop_with_empty_axes");
    if (c->call->n_in > 1)
        change_input(c, 1, NULL);
    return ODB_OK;
}

static int64_t attribute_first(const void *payload, size_t i)
{
    (void)payload;
    (void)i;
    return 0;
}

/* The one number that there is, everywhere. */
static enum odb_status attribute_spread(const struct variant *v, const struct accused *s,
                                        struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *y = s->y[0];
    struct odb_tensor *t = NULL;
    (void)v;
    if (!out[0] || out[0]->count != 1 || !y)
        return ODB_SKIPPED;
    ODB_TRY(tensor_gather_into(&t, out[0], y->rank, y->dims, attribute_first, NULL, err));
    tensor_replace(&out[0], t);
    return ODB_OK;
}

/* --- the operator of another version ---------------------------------------------------------- */

static enum choice attribute_choose_opset(const struct accused *s, size_t k, struct variant *v)
{
    size_t n;
    const struct odb_op *const *rows = odb_op_rows(s->node->domain, s->node->op_type, &n);
    if (k >= n)
        return CHOICE_END;
    const struct odb_op *other = rows[k], *own = s->op;
    bool older = other->since < own->since;
    bool alike = other->run == own->run && other->infer == own->infer && other->attrs == own->attrs;
    if (other == own || !other->run || alike)
        return CHOICE_SKIP;
    v->at = (int)k;
    odb_buf_printf(&v->name, "%d", other->since);
    if (older)
        odb_buf_printf(&v->text, "as %s was before opset %d", own->name,
                       k + 1 < n ? rows[k + 1]->since : own->since);
    else
        odb_buf_printf(&v->text, "as %s is from opset %d on", own->name, other->since);
    return CHOICE_MADE;
}

static enum odb_status attribute_change_opset(const struct variant *v, const struct accused *s,
                                              struct change *c, struct odb_error *err)
{
    size_t n;
    (void)err;
    c->call->op = odb_op_rows(s->node->domain, s->node->op_type, &n)[v->at];
    c->call->opset = c->call->op->since;
    return ODB_OK;
}

/* The axis alone, or with all behind it, and another one at that. */
static enum choice attribute_choose_opset_axis(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0);
    if (!x || !x->rank)
        return CHOICE_END;
    enum choice choice = attribute_choose_opset(s, k / (size_t)x->rank, v);
    if (choice != CHOICE_MADE)
        return choice;
    v->attr = (struct odb_attr){.name = "axis", .type = ODB_ATTR_INT, .i = (int64_t)k % x->rank};
    odb_buf_printf(&v->name, ",axis=%lld", (long long)v->attr.i);
    odb_buf_printf(&v->text, ", of axis %lld", (long long)v->attr.i);
    return CHOICE_MADE;
}

static enum odb_status attribute_change_opset_axis(const struct variant *v, const struct accused *s,
                                                   struct change *c, struct odb_error *err)
{
    ODB_TRY(attribute_change_opset(v, s, c, err));
    change_attr(c, &v->attr);
    return ODB_OK;
}

const struct variant_row variants_attribute[] = {
    {"", "attribute/", attribute_choose_default, attribute_drop, NULL, false, 0},
    {"", "attribute/", attribute_choose_value, attribute_change, NULL, false, 0},
    {"", "attribute/", attribute_choose_list, attribute_change_list, attribute_cut_off, false, 0},
    {WINDOWS, "attribute/pads=", attribute_choose_begin, attribute_change_begin, attribute_cut_off,
     false, 0},
    {PADDED, "attribute/pads=", padded_choose, padded_change, NULL, false, 0},
    {"", "attribute/", attribute_choose_formula, attribute_change, NULL, false, 0},
    {RECURRENT, "attribute/activation_alpha,activation_beta=", attribute_choose_activations,
     attribute_change_activations, NULL, false, 0},
    {EXPERTS, "attribute/swiglu=", attribute_choose_model, attribute_change_model, NULL, false, 0},
    {REDUCES, "attribute/axes=", attribute_choose_all_axes, attribute_change_all_axes,
     attribute_spread, false, 0},
    {"", "attribute/opset=", attribute_choose_opset, attribute_change_opset, NULL, false, 0},
    {SOFTMAXES, "attribute/opset=", attribute_choose_opset_axis, attribute_change_opset_axis, NULL,
     false, 0},
    {NULL, NULL, NULL, NULL, NULL, false, 0},
};
