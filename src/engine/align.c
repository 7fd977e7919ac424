/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that only carry a value on (Identity, Cast to a float type, QuantizeLinear, …) are looked
 * through: the value before them and the one behind them are of one class, and a class has one
 * partner. Quantised operators are read as the operators that they stand for.
 *
 * Names come first, in the order of the other model, so that what stands before a value has its
 * partners already and can speak for or against it. Then whatever both models have alike finds its
 * partner by value, and what is left by structure, forwards from pairs and backwards, round by
 * round as long as there is something new.
 */
#include "engine/align.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/weights.h"

#define ALIGN_CHAIN 8   /* nodes that may be folded into the one before them */
#define ALIGN_REGION 96 /* nodes of a pattern that is fused */
#define ALIGN_CANDIDATES 64
#define ALIGN_AGREE 3  /* pairs that must bear out what numbers mean */
#define ALIGN_INPUTS 8 /* of a call, as its normal form has them */
#define ALIGN_RIVAL 10 /* by value: the next best is farther than this times the best */

/* An operator that stands for another on quantised values: where that one's inputs are among its
 * own, and the scale of what it makes; the zero point comes behind it. */
static const struct align_quantised {
    const char *op, *of;
    int in[3], n_in;
    int scale;
} align_quantised[] = {
    {"QLinearConv", "Conv", {0, 3, 8}, 3, 6},
    {"QLinearMatMul", "MatMul", {0, 3}, 2, 6},
    {"QLinearAdd", "Add", {0, 3}, 2, 6},
    {"QLinearMul", "Mul", {0, 3}, 2, 6},
    {"QGemm", "Gemm", {0, 3, 6}, 3, 7},
    {"QLinearSigmoid", "Sigmoid", {0}, 1, 3},
    {"QLinearLeakyRelu", "LeakyRelu", {0}, 1, 3},
    {"QLinearSoftmax", "Softmax", {0}, 1, 3},
    {"QLinearAveragePool", "AveragePool", {0}, 1, 3},
    {"QLinearGlobalAveragePool", "GlobalAveragePool", {0}, 1, 3},
};

#define ALIGN_ACTIVATIONS " Relu Clip Sigmoid Tanh LeakyRelu HardSigmoid Elu Softplus HardSwish "
#define ALIGN_NORM " ReduceMean Sub Pow Mul Add Sqrt Div Cast Reciprocal LayerNormalization "
#define ALIGN_GELU " Div Mul Add Erf Pow Tanh Sqrt Gelu "
#define ALIGN_ATTENTION                                                                            \
    " MatMul Gemm Add Sub Mul Div Sqrt Reshape Transpose Split Slice Concat Shape Gather "         \
    "Unsqueeze Squeeze Softmax Where Cast Expand Equal ConstantOfShape "

/* What stands in one model for several nodes of the other: the operators that a pattern ends in,
 * and those that it may hold. */
static const struct align_fusion {
    const char *op, *ends, *holds;
} align_fusions[] = {
    {"FusedConv", ALIGN_ACTIVATIONS "Add ", ALIGN_ACTIVATIONS "Conv Add BatchNormalization Mul "},
    {"Conv", " BatchNormalization Mul Add Sub Div ", " Conv BatchNormalization Mul Add Sub Div "},
    {"ConvTranspose", " BatchNormalization Mul Add ", " ConvTranspose BatchNormalization Mul Add "},
    {"Gemm", " Add BatchNormalization Gemm Reshape ",
     " MatMul Gemm Add BatchNormalization Transpose Reshape Flatten "},
    {"FusedGemm", ALIGN_ACTIVATIONS, ALIGN_ACTIVATIONS "MatMul Gemm Add "},
    {"FusedMatMul", " MatMul Mul Div ", " MatMul Transpose Mul Div "},
    {"MatMul", " Mul Div ", " MatMul Mul Div "},
    {"Gelu", " Mul ", ALIGN_GELU},
    {"BiasGelu", " Mul Gelu ", ALIGN_GELU},
    {"FastGelu", " Mul Gelu ", ALIGN_GELU},
    {"QuickGelu", " Mul ", " Mul Sigmoid "},
    {"LayerNormalization", " Add Mul Div ", ALIGN_NORM},
    {"SimplifiedLayerNormalization", " Mul ", ALIGN_NORM},
    {"SkipLayerNormalization", " Add Mul Div LayerNormalization ", ALIGN_NORM},
    {"SkipSimplifiedLayerNormalization", " Mul SimplifiedLayerNormalization ",
     ALIGN_NORM "SimplifiedLayerNormalization "},
    {"EmbedLayerNormalization", " Add Mul Div LayerNormalization ",
     ALIGN_NORM "Gather Shape Slice Unsqueeze Expand Concat "},
    {"Attention", " Reshape MatMul ", ALIGN_ATTENTION},
    {"MultiHeadAttention", " Reshape MatMul ", ALIGN_ATTENTION},
    {"GroupQueryAttention", " Reshape MatMul ", ALIGN_ATTENTION},
    {"HardSwish", " Mul Div ", " Mul Div Add Clip HardSigmoid "},
    {"Mish", " Mul ", " Mul Softplus Tanh Exp Log Add "},
};

/* What converters and optimisers put behind a name. */
static const char *const align_suffixes[] = {
    "_DequantizeLinear_Output",
    "_DequantizeLinear",
    "_QuantizeLinear_Output",
    "_QuantizeLinear_Input",
    "_QuantizeLinear",
    "_quantized",
    "_dequantized",
    "_fp16",
    "_cast",
    "_fused",
};

struct align {
    const struct odb_align_sides *s;
    const struct odb_graph *a, *b; /* the original, the other */
    struct odb_alignment *out;
    bool *stop_a, *stop_b;   /* owned; values that have a partner */
    bool *opaque;            /* owned; [values of b] in a layout of their own */
    bool *taken;             /* owned; [nodes of a] some node of b does the same */
    bool *marks_a, *marks_b; /* owned: scratch of regions */
    int *border_a, *border_b;
    bool numbers_agree; /* names that are but numbers have meant the same so far */
};

/* A node in its normal form. */
struct align_call {
    const char *op, *domain;
    int in[ALIGN_INPUTS], n_in;
};

/* --- reading a graph -------------------------------------------------------------------------- */

static bool align_is(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, list[i]))
            return true;
    return false;
}

/* Whether the words, each between blanks, hold this one. */
static bool align_holds(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if (p > words && p[-1] == ' ' && p[n] == ' ')
            return true;
    return false;
}

static bool align_carries(const struct odb_node *node)
{
    static const char *const words[] = {
        "Identity",     "Dropout",        "QuantizeLinear", "DequantizeLinear",
        "MemcpyToHost", "MemcpyFromHost", "Debug"};
    if (node->n_in < 1 || node->n_out < 1 || node->in[0] < 0)
        return false;
    if (!strcmp(node->op_type, "Cast")) {
        const struct odb_attr *to = odb_attrs_find(&node->attrs, "to");
        return to && to->type == ODB_ATTR_INT && odb_dtype_is_float((enum odb_dtype)to->i);
    }
    return align_is(node->op_type, words, ODB_COUNT(words));
}

/* The node that carries a value on from another; NULL: it is made. */
static const struct odb_node *align_carrier(const struct odb_graph *g, int v)
{
    int producer = g->values[v].producer;
    if (producer == ODB_NO_NODE || g->values[v].init || g->values[v].slot ||
        !align_carries(&g->nodes[producer]))
        return NULL;
    return &g->nodes[producer];
}

static int align_root(const struct odb_graph *g, int v)
{
    const struct odb_node *carrier;
    while ((carrier = align_carrier(g, v)))
        v = carrier->in[0];
    return v;
}

const struct odb_value *odb_constant_behind(const struct odb_graph *graph, int value)
{
    const struct odb_value *root = &graph->values[align_root(graph, value)];
    return root->init && root->producer == ODB_NO_NODE && !root->is_outer ? root
           : root->init && graph->nodes[root->producer].n_in == 0         ? root
                                                                          : NULL;
}

/* The operator that a fused one begins with; others are their own. */
static const char *align_head(const char *op)
{
    static const char *const heads[][2] = {{"FusedConv", "Conv"},
                                           {"Gemm", "MatMul"},
                                           {"FusedGemm", "MatMul"},
                                           {"FusedMatMul", "MatMul"},
                                           {"TransposeMatMul", "MatMul"}};
    for (size_t i = 0; i < ODB_COUNT(heads); i++)
        if (!strcmp(heads[i][0], op))
            return heads[i][1];
    return op;
}

static const struct align_quantised *align_quantised_row(const struct odb_node *node)
{
    for (size_t i = 0; i < ODB_COUNT(align_quantised); i++)
        if (!strcmp(align_quantised[i].op, node->op_type))
            return &align_quantised[i];
    return NULL;
}

static struct align_call align_call(const struct odb_node *node)
{
    const struct align_quantised *row = align_quantised_row(node);
    struct align_call call = {.op = node->op_type, .domain = node->domain};
    if (row) {
        call.op = row->of;
        call.domain = "";
        for (int i = 0; i < row->n_in; i++)
            call.in[call.n_in++] = row->in[i] < node->n_in ? node->in[row->in[i]] : ODB_NO_VALUE;
    } else {
        for (int i = 0; i < node->n_in && i < ALIGN_INPUTS; i++)
            call.in[call.n_in++] = node->in[i];
    }
    return call;
}

bool odb_quantised_by(const struct odb_graph *graph, int value, int *scale, int *zero)
{
    for (int depth = 0; depth < ALIGN_CHAIN && graph->values[value].producer >= 0; depth++) {
        static const char *const moves[] = {"Reshape",   "Transpose", "Flatten", "Squeeze",
                                            "Unsqueeze", "MaxPool",   "Slice",   "Identity"};
        const struct odb_node *node = &graph->nodes[graph->values[value].producer];
        const struct align_quantised *row = align_quantised_row(node);
        int at = row ? row->scale : !strcmp(node->op_type, "QuantizeLinear") ? 1 : -1;
        if (at >= 0 && at < node->n_in && node->in[at] >= 0) {
            *scale = node->in[at];
            *zero = at + 1 < node->n_in ? node->in[at + 1] : ODB_NO_VALUE;
            return true;
        }
        if (!align_is(node->op_type, moves, ODB_COUNT(moves)) || node->n_in < 1 || node->in[0] < 0)
            break;
        value = node->in[0];
    }
    return false;
}

size_t odb_region(const struct odb_graph *graph, int value, const bool *stop, bool *marks,
                  int *border)
{
    bool *met = odb_new_n(bool, graph->n_values + 1);
    int *stack = odb_new_n(int, graph->n_values + 1);
    size_t depth = 0, n = 0;
    memset(marks, 0, graph->n_nodes * sizeof *marks);
    stack[depth++] = value;
    met[value] = true;
    while (depth) {
        int v = stack[--depth], producer = graph->values[v].producer;
        if (v != value && stop[v] && !graph->values[v].init) {
            border[n++] = v;
            continue;
        }
        if (producer == ODB_NO_NODE || marks[producer])
            continue;
        const struct odb_node *node = &graph->nodes[producer];
        marks[producer] = true;
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int in = odb_node_reads(node, i);
            if (in >= 0 && !met[in]) {
                met[in] = true;
                stack[depth++] = in;
            }
        }
    }
    free(stack);
    free(met);
    return n;
}

/* --- pairs ------------------------------------------------------------------------------------ */

static double align_gap(const struct align *al, int u, int w)
{
    return al->s->gap ? al->s->gap(al->s->payload, u, w) : NAN;
}

static bool align_near(const struct align *al, double gap)
{
    return !isnan(gap) && gap <= al->s->near;
}

/* What both have alike, and not by chance. */
static bool align_equals(const struct align *al, int u, int w)
{
    return (!al->s->tells || al->s->tells(al->s->payload, u)) &&
           align_near(al, align_gap(al, u, w));
}

/* Whether w is not what the original has for u, but what it has for another value: then it is
 * hardly u with an error. */
static bool align_is_another(const struct align *al, int u, int w)
{
    double gap = align_gap(al, u, w);
    if (isnan(gap) || align_near(al, gap))
        return false;
    for (size_t v = 0; v < al->a->n_values; v++)
        if ((int)v != u && al->a->values[v].producer != ODB_NO_NODE &&
            align_near(al, align_gap(al, (int)v, w)))
            return true;
    return false;
}

static bool align_free(const struct align *al, int u, int w)
{
    return al->out->other[u] == ODB_NO_VALUE && al->out->original[w] == ODB_NO_VALUE &&
           !al->opaque[w];
}

/* What is quantised in the other is what the original has behind the nodes that quantise it, where
 * it has such. */
static int align_quantised_end(const struct odb_graph *g, int u)
{
    int end = u;
    while (g->values[u].n_consumers == 1 && !g->values[u].is_output) {
        const struct odb_node *node = &g->nodes[g->values[u].consumers[0]];
        bool back = !strcmp(node->op_type, "DequantizeLinear");
        if ((!back && strcmp(node->op_type, "QuantizeLinear") != 0) || node->in[0] != u ||
            node->out[0] < 0)
            break;
        u = node->out[0];
        end = back ? u : end;
    }
    return end;
}

static bool align_is_quantised_next(const struct odb_graph *g, int u)
{
    bool quantised = false;
    for (size_t c = 0; c < g->values[u].n_consumers; c++)
        quantised |= !strcmp(g->nodes[g->values[u].consumers[c]].op_type, "QuantizeLinear");
    return quantised;
}

static bool align_pair(struct align *al, int u, int w, enum odb_paired how, double confidence)
{
    int scale, zero;
    if (u >= 0 && w >= 0 && how != ODB_PAIRED_MAP && how != ODB_PAIRED_PLACE &&
        odb_quantised_by(al->b, w, &scale, &zero)) {
        u = align_quantised_end(al->a, u);
        if (align_is_quantised_next(al->a, u)) /* to codes that stay codes: this is before that */
            return false;
    }
    if (u < 0 || w < 0 || !align_free(al, u, w))
        return false;
    if (how != ODB_PAIRED_MAP && how != ODB_PAIRED_PLACE && align_is_another(al, u, w))
        return false;
    al->out->other[u] = w;
    al->out->original[w] = u;
    al->out->how[u] = how;
    al->out->confidence[u] = align_near(al, align_gap(al, u, w)) ? 1 : confidence;
    al->stop_a[u] = al->stop_b[w] = true;
    return true;
}

/* The partner of what a value of the other carries; ODB_NO_VALUE: it has none. */
static int align_partner(const struct align *al, int w)
{
    for (;;) {
        const struct odb_node *carrier;
        if (al->out->original[w] >= 0)
            return al->out->original[w];
        if (!(carrier = align_carrier(al->b, w)))
            return ODB_NO_VALUE;
        w = carrier->in[0];
    }
}

/* Whether some value of w's class has a partner, before it or behind it. */
static bool align_has_partner(const struct align *al, int w)
{
    if (align_partner(al, w) >= 0)
        return true;
    for (size_t c = 0; c < al->b->values[w].n_consumers; c++) {
        const struct odb_node *node = &al->b->nodes[al->b->values[w].consumers[c]];
        if (align_carries(node) && node->in[0] == w && node->out[0] >= 0 &&
            al->out->original[node->out[0]] >= 0)
            return true;
    }
    return false;
}

enum align_slot { ALIGN_NO, ALIGN_UNKNOWN, ALIGN_YES, ALIGN_CONSTANT, ALIGN_ALIKE };

/* What an input of a node of each means to the other. */
static enum align_slot align_slot(const struct align *al, int x, int y)
{
    const struct odb_value *cx = x < 0 ? NULL : odb_constant_behind(al->a, x);
    const struct odb_value *cy = y < 0 ? NULL : odb_constant_behind(al->b, y);
    struct odb_constant a, b;
    if (x < 0 && y < 0)
        return ALIGN_ALIKE;
    if (x < 0 || y < 0) /* a bias that was folded in */
        return (x < 0 ? cy : cx) ? ALIGN_CONSTANT : ALIGN_NO;
    if (cx && cy) {
        if (cx->init->count != cy->init->count)
            return ALIGN_NO;
        return odb_constant_of(&a, al->a, x) && odb_constant_of(&b, al->b, y) &&
                       odb_constants_alike(&a, &b)
                   ? ALIGN_ALIKE
                   : ALIGN_CONSTANT;
    }
    if (cx || cy) /* folded on one side: what is computed may be this constant */
        return ALIGN_CONSTANT;
    int partner = align_partner(al, y);
    if (partner >= 0)
        return align_root(al->a, partner) == align_root(al->a, x) ? ALIGN_YES : ALIGN_NO;
    for (int v = x;;) { /* x may have another one */
        const struct odb_node *carrier;
        if (al->out->other[v] >= 0)
            return align_root(al->b, al->out->other[v]) == align_root(al->b, y) ? ALIGN_YES
                                                                                : ALIGN_NO;
        if (!(carrier = align_carrier(al->a, v)))
            return ALIGN_UNKNOWN;
        v = carrier->in[0];
    }
}

static bool align_commutes(const char *op)
{
    static const char *const words[] = {"Add", "Mul", "Sum", "Max",   "Min",
                                        "And", "Or",  "Xor", "Equal", "Mean"};
    return align_is(op, words, ODB_COUNT(words));
}

/* How two calls fit. */
struct align_fit {
    bool possible;                   /* the same operator, and no input against it */
    int yes, unknown, differ, alike; /* inputs; constants that differ and that do not */
    bool swapped;
};

static struct align_fit align_fit_order(const struct align *al, const struct align_call *n,
                                        const struct align_call *m, bool swapped)
{
    struct align_fit fit = {.possible = true, .swapped = swapped};
    int most = ODB_MAX(n->n_in, m->n_in);
    for (int i = 0; i < most; i++) {
        int k = swapped && i < 2 ? 1 - i : i;
        switch (align_slot(al, i < n->n_in ? n->in[i] : ODB_NO_VALUE,
                           k < m->n_in ? m->in[k] : ODB_NO_VALUE)) {
        case ALIGN_NO:
            fit.possible = false;
            break;
        case ALIGN_UNKNOWN:
            fit.unknown++;
            break;
        case ALIGN_YES:
            fit.yes++;
            break;
        case ALIGN_CONSTANT:
            fit.differ++;
            break;
        case ALIGN_ALIKE:
            fit.alike++;
            break;
        }
    }
    return fit;
}

static struct align_fit align_fit(const struct align *al, int n, int m)
{
    const struct odb_node *here = &al->a->nodes[n], *there = &al->b->nodes[m];
    struct align_call x = align_call(here), y = align_call(there);
    struct align_fit none = {.possible = false};
    if (strcmp(x.op, y.op) != 0 || strcmp(x.domain, y.domain) != 0)
        return none;
    struct align_fit fit = align_fit_order(al, &x, &y, false);
    if (align_commutes(x.op) && x.n_in == 2 && y.n_in == 2) {
        struct align_fit other = align_fit_order(al, &x, &y, true);
        if (other.possible && (!fit.possible || other.yes > fit.yes ||
                               (other.yes == fit.yes && other.alike > fit.alike)))
            return other;
    }
    return fit;
}

static bool align_same_attr(const struct odb_attr *x, const struct odb_attr *y)
{
    struct odb_buf a = ODB_BUF_INIT, b = ODB_BUF_INIT;
    odb_attr_text(x, &a);
    odb_attr_text(y, &b);
    bool same = !strcmp(odb_buf_text(&a), odb_buf_text(&b));
    odb_buf_dispose(&a);
    odb_buf_dispose(&b);
    return same;
}

/* Attributes that both have are the same. */
static bool align_same_attrs(const struct odb_node *x, const struct odb_node *y)
{
    for (size_t i = 0; i < x->attrs.n; i++) {
        const struct odb_attr *other = odb_attrs_find(&y->attrs, x->attrs.items[i].name);
        if (other && other->type != ODB_ATTR_GRAPH && !align_same_attr(&x->attrs.items[i], other))
            return false;
    }
    return true;
}

static int align_score(const struct align *al, const struct align_fit *fit, int n, int m)
{
    const struct odb_node *x = &al->a->nodes[n], *y = &al->b->nodes[m];
    bool named = x->name[0] && !strcmp(x->name, y->name);
    return (fit->differ ? 0 : 4) + (align_same_attrs(x, y) ? 2 : 0) + named;
}

/* --- by name ---------------------------------------------------------------------------------- */

/* Names that say nothing but a number: others may have it by chance. */
static bool align_weak(const char *name)
{
    const char *p = strncmp(name, "onnx::", 6) == 0 ? name + 6 : name;
    while (isalpha((unsigned char)*p))
        p++;
    p += *p == '_';
    return *p && strspn(p, "0123456789") == strlen(p);
}

/* The operators that read a value, through what carries it on, sorted, each between blanks. */
static void align_readers(const struct odb_graph *g, int v, struct odb_buf *out, int depth)
{
    const struct odb_value *value = &g->values[v];
    if (value->is_output)
        odb_buf_puts(out, "output ");
    for (size_t c = 0; c < value->n_consumers && depth; c++) {
        const struct odb_node *node = &g->nodes[value->consumers[c]];
        if (align_carries(node) && node->out[0] >= 0)
            align_readers(g, node->out[0], out, depth - 1);
        else
            odb_buf_printf(out, "%s ", align_head(align_call(node).op));
    }
}

static int align_by_word(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *align_signature(const struct odb_graph *g, int v)
{
    struct odb_buf words = ODB_BUF_INIT, out = ODB_BUF_INIT;
    ODB_VEC(char *) list = {0};
    char *save = NULL;
    align_readers(g, v, &words, ALIGN_CHAIN);
    for (char *p = words.data ? strtok_r(words.data, " ", &save) : NULL; p;
         p = strtok_r(NULL, " ", &save))
        odb_push(&list, p);
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, align_by_word);
    for (size_t i = 0; i < list.n; i++)
        odb_buf_printf(&out, " %s ", list.items[i]);
    free(list.items);
    odb_buf_dispose(&words);
    return out.data ? odb_buf_take(&out) : odb_xstrdup("");
}

static bool align_same_readers(const struct align *al, int u, int w)
{
    char *a = align_signature(al->a, u), *b = align_signature(al->b, w);
    bool same = !strcmp(a, b);
    free(a);
    free(b);
    return same;
}

/* The next value of a chain: what the one node that reads v makes of it and of constants. */
static int align_next(const struct odb_graph *g, int v)
{
    const struct odb_value *value = &g->values[v];
    if (value->n_consumers != 1 || value->is_output)
        return ODB_NO_VALUE;
    const struct odb_node *node = &g->nodes[value->consumers[0]];
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0 && node->in[i] != v && !odb_constant_behind(g, node->in[i]))
            return ODB_NO_VALUE;
    return node->n_out ? node->out[0] : ODB_NO_VALUE;
}

/* What was folded into the node that makes w may have left it the name of the first value: the one
 * of the chain behind u that w equals, or that is read as w is. */
static int align_mend(const struct align *al, int u, int w, bool *by_value)
{
    int found = ODB_NO_VALUE, n = 0, v = u;
    *by_value = false;
    for (int i = 0; i < ALIGN_CHAIN && (v = align_next(al->a, v)) >= 0; i++)
        if (align_equals(al, v, w)) {
            *by_value = true;
            return v;
        }
    if (align_same_readers(al, u, w))
        return u;
    for (int i = 0, at = u; i < ALIGN_CHAIN && (at = align_next(al->a, at)) >= 0; i++)
        if (align_same_readers(al, at, w) && !isinf(align_gap(al, at, w))) {
            found = at;
            n++;
        }
    return n == 1 ? found : u;
}

static const struct align_fusion *align_fusion(const struct odb_node *node)
{
    for (size_t i = 0; i < ODB_COUNT(align_fusions); i++)
        if (!strcmp(align_fusions[i].op, align_call(node).op))
            return &align_fusions[i];
    return NULL;
}

/* Whether both values are made of the very same partners. */
static bool align_same_border(struct align *al, int u, int w)
{
    size_t n = odb_region(al->a, u, al->stop_a, al->marks_a, al->border_a);
    size_t k = odb_region(al->b, w, al->stop_b, al->marks_b, al->border_b);
    size_t met = 0;
    for (size_t i = 0; i < k; i++) {
        int partner = al->out->original[al->border_b[i]];
        bool there = false;
        for (size_t j = 0; j < n && !there; j++)
            there = al->border_a[j] == partner;
        met += there;
    }
    return n && n == k && met == n;
}

/* How sure a name is where the values differ, or nobody knows them; 0: not at all. */
static double align_trust(struct align *al, int u, int w)
{
    int n = al->a->values[u].producer, m = al->b->values[w].producer;
    const struct align_fusion *fusion = align_fusion(&al->b->nodes[m]);
    struct align_fit fit = align_fit(al, n, m);
    bool weak = !al->numbers_agree && align_weak(al->a->values[u].name);
    bool same_op = !strcmp(align_call(&al->a->nodes[n]).op, align_call(&al->b->nodes[m]).op);
    if (fit.possible && fit.yes && !fit.unknown)
        return 0.95;
    bool ends = fusion && align_holds(fusion->ends, al->a->nodes[n].op_type);
    if (align_same_border(al, u, w))
        return ends || (same_op && !weak) ? 0.9 : weak ? 0 : 0.8;
    return weak || !same_op ? 0 : 0.6;
}

static void align_name(struct align *al, int u, int w)
{
    bool by_value;
    if (u < 0 || !align_free(al, u, w) || al->a->values[u].producer == ODB_NO_NODE ||
        al->a->values[u].init || align_has_partner(al, w))
        return;
    double gap = align_gap(al, u, w);
    if (align_near(al, gap)) {
        align_pair(al, u, w, ODB_PAIRED_NAME, 1);
        return;
    }
    int right = align_carrier(al->b, w) ? u : align_mend(al, u, w, &by_value);
    if (right != u) {
        align_pair(al, right, w, by_value ? ODB_PAIRED_VALUE : ODB_PAIRED_FUSED, 0.85);
        return;
    }
    double trust = isinf(gap) ? 0 : align_trust(al, u, w);
    if (trust > 0)
        align_pair(al, u, w, ODB_PAIRED_NAME, trust);
}

/* The value of the original that a name means, without what converters put behind it. */
static int align_stripped(const struct align *al, const char *name)
{
    size_t n = strlen(name), index;
    for (size_t i = 0; i < ODB_COUNT(align_suffixes); i++) {
        size_t k = strlen(align_suffixes[i]);
        if (n <= k || strcmp(name + n - k, align_suffixes[i]) != 0)
            continue;
        char *stem = odb_xstrndup(name, n - k);
        bool found = odb_map_get(al->a->by_name, stem, &index);
        free(stem);
        if (found)
            return (int)index;
    }
    return ODB_NO_VALUE;
}

/* Whether pairs that were found in other ways have the same number for a name, where they have
 * numbers at all: both models count alike then, and nobody has by chance the name of another. */
static void align_ask_numbers(struct align *al)
{
    size_t agree = 0, differ = 0;
    for (size_t u = 0; u < al->a->n_values; u++) {
        const char *name = al->a->values[u].name;
        int w = al->out->other[u];
        if (w < 0 || al->a->values[u].producer == ODB_NO_NODE || al->a->values[u].is_output ||
            !align_weak(name))
            continue;
        bool same = !strcmp(name, al->b->values[w].name);
        agree += same;
        differ += !same && odb_map_has(al->b->by_name, name);
    }
    al->numbers_agree = agree >= ALIGN_AGREE && agree >= 9 * differ;
}

static void align_names(struct align *al)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t m = 0; m < al->b->n_nodes; m++)
            for (int o = 0; o < al->b->nodes[m].n_out; o++) {
                int w = al->b->nodes[m].out[o];
                const char *name = w < 0 ? "" : al->b->values[w].name;
                size_t index;
                if (!*name || al->b->values[w].init)
                    continue;
                if (pass)
                    align_name(al, align_stripped(al, name), w);
                else if (odb_map_get(al->a->by_name, name, &index))
                    align_name(al, (int)index, w);
            }
}

/* --- by map and by place ---------------------------------------------------------------------- */

static void align_map(struct align *al)
{
    for (size_t u = 0; u < al->a->n_values && al->s->mapped; u++) {
        const char *name = al->a->values[u].name;
        char *mapped = *name ? al->s->mapped(al->s->payload, name) : NULL;
        size_t index;
        if (mapped && !odb_map_get(al->b->by_name, mapped, &index) && !al->out->n_unknown++)
            al->out->unknown = name;
        else if (mapped)
            align_pair(al, (int)u, (int)index, ODB_PAIRED_MAP, 1);
        free(mapped);
    }
}

/* Inputs or outputs: by name, and the rest in order where as many are left. */
static void align_places(struct align *al, const int *us, size_t n, const int *ws, size_t k)
{
    size_t left_a = 0, left_b = 0, index;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < n; j++)
            if (odb_map_get(al->a->by_name, al->b->values[ws[i]].name, &index) &&
                (int)index == us[j])
                align_pair(al, us[j], ws[i], ODB_PAIRED_PLACE, 1);
    for (size_t j = 0; j < n; j++)
        left_a += al->out->other[us[j]] < 0;
    for (size_t i = 0; i < k; i++)
        left_b += al->out->original[ws[i]] < 0;
    for (size_t i = 0, j = 0; left_a == left_b && i < k && j < n; i++, j++) {
        while (i < k && al->out->original[ws[i]] >= 0)
            i++;
        while (j < n && al->out->other[us[j]] >= 0)
            j++;
        if (i < k && j < n)
            align_pair(al, us[j], ws[i], ODB_PAIRED_PLACE, left_a == 1 ? 0.95 : 0.9);
    }
}

static void align_borders(struct align *al)
{
    int *us = odb_new_n(int, al->a->n_inputs + 1), *ws = odb_new_n(int, al->b->n_inputs + 1);
    size_t n = odb_graph_feeds(al->a, us), k = odb_graph_feeds(al->b, ws);
    align_places(al, us, n, ws, k);
    align_places(al, al->a->outputs, al->a->n_outputs, al->b->outputs, al->b->n_outputs);
    free(us);
    free(ws);
}

/* --- by value --------------------------------------------------------------------------------- */

/* Two values of one side that one may stand for the other: nobody asks which. */
static bool align_one_class(const struct odb_graph *g, int v, int w)
{
    return align_root(g, v) == align_root(g, w);
}

static bool align_open_value(const struct odb_graph *g, int v, const int *partners)
{
    return g->values[v].producer != ODB_NO_NODE && !g->values[v].init && partners[v] < 0;
}

/* The value of the original that w equals, and that nothing else comes near to. */
static int align_equal(const struct align *al, int w)
{
    int best = ODB_NO_VALUE;
    double least = INFINITY, second = INFINITY;
    for (size_t u = 0; u < al->a->n_values; u++) {
        double gap = al->a->values[u].producer == ODB_NO_NODE ? INFINITY : align_gap(al, (int)u, w);
        if (isnan(gap) || isinf(gap))
            continue;
        if (gap < least) {
            if (best < 0 || !align_one_class(al->a, best, (int)u))
                second = least;
            least = gap;
            best = (int)u;
        } else if (gap < second && !align_one_class(al->a, best, (int)u)) {
            second = gap;
        }
    }
    if (best >= 0 && !align_equals(al, best, w))
        return ODB_NO_VALUE;
    bool alone = second > ALIGN_RIVAL * fmax(least, al->s->near / ALIGN_RIVAL);
    return best >= 0 && align_near(al, least) && alone ? best : ODB_NO_VALUE;
}

static void align_values(struct align *al)
{
    int *equal = odb_new_n(int, al->b->n_values + 1); /* 1 + value of a */
    int *count = odb_new_n(int, al->a->n_values + 1);
    for (size_t w = 0; w < al->b->n_values && al->s->gap; w++) {
        if (!align_open_value(al->b, (int)w, al->out->original) || al->opaque[w] ||
            align_carrier(al->b, (int)w) || align_has_partner(al, (int)w))
            continue;
        int u = align_equal(al, (int)w);
        if (u >= 0) {
            equal[w] = 1 + u;
            count[u]++;
        }
    }
    for (size_t w = 0; w < al->b->n_values; w++)
        if (equal[w] && count[equal[w] - 1] == 1)
            align_pair(al, equal[w] - 1, (int)w, ODB_PAIRED_VALUE, 1);
    free(equal);
    free(count);
}

/* --- by structure ----------------------------------------------------------------------------- */

/* Nodes that read a value, through what carries it on. Returns how many. */
static int align_consumers(const struct odb_graph *g, int v, int *list, int n)
{
    for (size_t c = 0; c < g->values[v].n_consumers && n < ALIGN_CANDIDATES; c++) {
        int reader = g->values[v].consumers[c];
        const struct odb_node *node = &g->nodes[reader];
        if (align_carries(node) && node->in[0] == v && node->out[0] >= 0)
            n = align_consumers(g, node->out[0], list, n);
        else
            list[n++] = reader;
    }
    return n;
}

/* The first input of a node that has a partner: the value itself; ODB_NO_VALUE. */
static int align_known_input(const struct align *al, int m)
{
    struct align_call call = align_call(&al->b->nodes[m]);
    for (int i = 0; i < call.n_in; i++)
        if (call.in[i] >= 0 && align_partner(al, call.in[i]) >= 0)
            return call.in[i];
    return ODB_NO_VALUE;
}

/* The node among those that read the same as m which does the same as m, if there is one alone. */
static int align_like(const struct align *al, int m, int in, double *confidence)
{
    int list[ALIGN_CANDIDATES], rivals[ALIGN_CANDIDATES], best = ODB_NO_NODE, top = -1, ties = 0;
    int n = align_consumers(al->a, align_root(al->a, align_partner(al, in)), list, 0);
    for (int i = 0; i < n; i++) {
        struct align_fit fit = align_fit(al, list[i], m);
        if (al->taken[list[i]] || !fit.possible || !fit.yes || fit.unknown || list[i] == best)
            continue;
        int score = align_score(al, &fit, list[i], m);
        ties = score == top ? ties + 1 : score > top ? 0 : ties;
        best = score > top ? list[i] : best;
        top = ODB_MAX(top, score);
    }
    if (best < 0 || ties)
        return ODB_NO_NODE;
    int k = align_consumers(al->b, align_root(al->b, in), rivals, 0);
    for (int i = 0; i < k; i++) {
        if (rivals[i] == m || al->out->node[rivals[i]] >= 0)
            continue;
        struct align_fit fit = align_fit(al, best, rivals[i]);
        if (fit.possible && fit.yes && !fit.unknown &&
            align_score(al, &fit, best, rivals[i]) >= top)
            return ODB_NO_NODE;
    }
    *confidence = top >= 6 ? 0.95 : top >= 4 ? 0.85 : 0.8;
    return best;
}

/* How many of the nodes are still without one that does the same; *last is the last of them. */
static int align_left(const struct align *al, const int *list, int n, bool other, int *last)
{
    int left = 0;
    for (int i = 0; i < n; i++) {
        bool known = other ? al->out->node[list[i]] >= 0 : al->taken[list[i]];
        *last = known ? *last : list[i];
        left += !known;
    }
    return left;
}

/* Another operator stands where the original has this one: of all that read the same value they
 * alone are left, and what they make is read alike. */
static bool align_replaced(struct align *al, int m)
{
    int list[ALIGN_CANDIDATES], last_a = ODB_NO_NODE, last_b = ODB_NO_NODE;
    int in = al->out->node[m] < 0 ? align_known_input(al, m) : ODB_NO_VALUE;
    if (in < 0 || align_carries(&al->b->nodes[m]) || align_fusion(&al->b->nodes[m]))
        return false;
    int k = align_consumers(al->b, align_root(al->b, in), list, 0);
    if (align_left(al, list, k, true, &last_b) != 1 || last_b != m)
        return false;
    int n = align_consumers(al->a, align_root(al->a, align_partner(al, in)), list, 0);
    if (align_left(al, list, n, false, &last_a) != 1)
        return false;
    const struct odb_node *x = &al->a->nodes[last_a], *y = &al->b->nodes[m];
    if (!strcmp(align_call(x).op, align_call(y).op) || x->n_in != y->n_in || x->n_out != 1 ||
        y->n_out != 1 || align_fusion(x) || align_carries(x) || align_has_partner(al, y->out[0]) ||
        isinf(align_gap(al, x->out[0], y->out[0])) ||
        !align_same_readers(al, x->out[0], y->out[0]) ||
        !align_same_border(al, x->out[0], y->out[0]))
        return false;
    al->out->node[m] = last_a;
    al->taken[last_a] = true;
    return align_pair(al, x->out[0], y->out[0], ODB_PAIRED_STRUCTURE, 0.7);
}

/* A node of the other does the same as one of the original. */
static bool align_nodes(struct align *al, int n, int m, double confidence)
{
    const struct odb_node *x = &al->a->nodes[n], *y = &al->b->nodes[m];
    bool any = al->out->node[m] != n;
    al->out->node[m] = n;
    al->taken[n] = true;
    for (int o = 0; o < x->n_out && o < y->n_out; o++) {
        int u = x->out[o], w = y->out[o];
        if (u >= 0 && w >= 0 && !align_has_partner(al, w) && !isinf(align_gap(al, u, w)))
            any |= align_pair(al, u, w, ODB_PAIRED_STRUCTURE, confidence);
    }
    return any;
}

/* The node of the original that makes the partner of what m makes, where it is the same operator.
 */
static int align_maker(const struct align *al, int m)
{
    const struct odb_node *node = &al->b->nodes[m];
    int partner = node->n_out && node->out[0] >= 0 ? al->out->original[node->out[0]] : ODB_NO_VALUE;
    int n = partner < 0 ? ODB_NO_NODE : al->a->values[align_root(al->a, partner)].producer;
    return n >= 0 && !strcmp(align_call(&al->a->nodes[n]).op, align_call(node).op) ? n
                                                                                   : ODB_NO_NODE;
}

static bool align_forward(struct align *al, int m)
{
    double confidence = 1;
    int n = align_maker(al, m);
    if (al->out->node[m] >= 0 || align_carries(&al->b->nodes[m]))
        return false;
    if (n < 0 || al->taken[n]) {
        int in = align_known_input(al, m);
        n = in < 0 ? ODB_NO_NODE : align_like(al, m, in, &confidence);
    }
    return n >= 0 && align_nodes(al, n, m, confidence);
}

/* Whether two values may be made by the same operator, of the same constants. */
static bool align_akin(const struct align *al, int x, int y)
{
    int n = x < 0 ? ODB_NO_NODE : al->a->values[align_root(al->a, x)].producer;
    int m = y < 0 ? ODB_NO_NODE : al->b->values[align_root(al->b, y)].producer;
    if (n < 0 || m < 0)
        return false;
    struct align_fit fit = align_fit(al, n, m);
    return fit.possible && !fit.differ && align_same_attrs(&al->a->nodes[n], &al->b->nodes[m]);
}

/* In which order two unknown inputs of an operator that commutes belong together, where one order
 * alone is possible. */
static bool align_order(const struct align *al, const struct align_call *x,
                        const struct align_call *y, bool *swapped)
{
    bool straight = align_akin(al, x->in[0], y->in[0]) && align_akin(al, x->in[1], y->in[1]);
    bool crossed = align_akin(al, x->in[0], y->in[1]) && align_akin(al, x->in[1], y->in[0]);
    *swapped = crossed;
    return straight != crossed;
}

/* Whether what two nodes read may be one value: made alike, as far as that is known, or read alike
 * by all. Where a node reads a wrong value, both it and the right one have other readers. */
static bool align_agree(const struct align *al, int x, int y)
{
    int n = al->a->values[align_root(al->a, x)].producer;
    int m = al->b->values[align_root(al->b, y)].producer;
    const struct align_fusion *fusion = m < 0 ? NULL : align_fusion(&al->b->nodes[m]);
    bool fused = n >= 0 && fusion && align_holds(fusion->ends, al->a->nodes[n].op_type);
    if (isinf(align_gap(al, x, y)))
        return false;
    return fused || (n >= 0 && m >= 0 && align_fit(al, n, m).possible) ||
           align_same_readers(al, x, y);
}

/* What goes into two nodes that do the same, where that is beyond doubt: one input is not known, or
 * the order tells, or what makes them, and no constant differs. */
static bool align_inputs(struct align *al, int n, int m)
{
    struct align_call x = align_call(&al->a->nodes[n]), y = align_call(&al->b->nodes[m]);
    struct align_fit fit = align_fit(al, n, m);
    bool any = false, pair = x.n_in == 2 && y.n_in == 2;
    if (!fit.possible || fit.differ || !fit.unknown || (fit.unknown > 1 && x.n_in != y.n_in))
        return false;
    if (fit.unknown > 1 && align_commutes(x.op) && !(pair && align_order(al, &x, &y, &fit.swapped)))
        return false;
    for (int i = 0; i < x.n_in && i < y.n_in; i++) {
        int k = fit.swapped && i < 2 ? 1 - i : i;
        if (align_slot(al, x.in[i], y.in[k]) == ALIGN_UNKNOWN && align_agree(al, x.in[i], y.in[k]))
            any |= align_pair(al, x.in[i], y.in[k], ODB_PAIRED_STRUCTURE, 0.8);
    }
    return any;
}

/* The node that a fused one begins with, behind the partner of what it makes. */
static int align_begin_of(const struct align *al, int m)
{
    const struct odb_node *node = &al->b->nodes[m];
    const struct align_fusion *fusion = align_fusion(node);
    int u = node->n_out && node->out[0] >= 0 ? al->out->original[node->out[0]] : ODB_NO_VALUE;
    for (int depth = 0; fusion && u >= 0 && depth < ALIGN_CHAIN; depth++) {
        int n = al->a->values[align_root(al->a, u)].producer;
        if (n < 0 || al->taken[n])
            break;
        const struct odb_node *at = &al->a->nodes[n];
        if (!strcmp(align_head(align_call(at).op), align_head(align_call(node).op)))
            return depth ? n : ODB_NO_NODE;
        if (!align_holds(fusion->ends, at->op_type))
            break;
        u = ODB_NO_VALUE; /* the one input that is computed */
        for (int i = 0; i < at->n_in; i++)
            if (at->in[i] >= 0 && !odb_constant_behind(al->a, at->in[i]))
                u = u < 0 ? at->in[i] : ODB_NO_VALUE;
    }
    return ODB_NO_NODE;
}

/* What goes into a fused node, where its weight is that of the node that it begins with. */
static bool align_fused_input(struct align *al, int m)
{
    int n = align_begin_of(al, m);
    if (n < 0)
        return false;
    struct align_call x = align_call(&al->a->nodes[n]), y = align_call(&al->b->nodes[m]);
    return x.n_in > 1 && y.n_in > 1 && align_slot(al, x.in[1], y.in[1]) == ALIGN_ALIKE &&
           align_slot(al, x.in[0], y.in[0]) == ALIGN_UNKNOWN && align_agree(al, x.in[0], y.in[0]) &&
           align_pair(al, x.in[0], y.in[0], ODB_PAIRED_STRUCTURE, 0.8);
}

static bool align_backward(struct align *al, int m)
{
    if (al->out->node[m] < 0) {
        for (int o = 0; o < al->b->nodes[m].n_out; o++) { /* what carries its output on may tell */
            int w = al->b->nodes[m].out[o], u = ODB_NO_VALUE, readers = 0;
            for (; w >= 0 && u < 0 && readers < ALIGN_CHAIN; readers++) {
                const struct odb_value *value = &al->b->values[w];
                const struct odb_node *next =
                    value->n_consumers == 1 ? &al->b->nodes[value->consumers[0]] : NULL;
                u = al->out->original[w];
                w = next && align_carries(next) && next->in[0] == w ? next->out[0] : ODB_NO_VALUE;
            }
            int n = u < 0 ? ODB_NO_NODE : al->a->values[align_root(al->a, u)].producer;
            if (n >= 0 && !al->taken[n] && align_fit(al, n, m).possible) {
                al->out->node[m] = n;
                al->taken[n] = true;
            }
        }
    }
    return al->out->node[m] >= 0 && align_inputs(al, al->out->node[m], m);
}

/* --- fused ------------------------------------------------------------------------------------ */

/* Whether the nodes that make u of m's partners are a pattern that may have become m, and nothing
 * within is read elsewhere. */
static bool align_pattern(struct align *al, const struct align_fusion *fusion, int u, int m)
{
    int w = al->b->nodes[m].out[0];
    if (!align_same_border(al, u, w))
        return false;
    for (size_t n = 0; n < al->a->n_nodes; n++) {
        const struct odb_node *node = &al->a->nodes[n];
        if (!al->marks_a[n])
            continue;
        if (!align_carries(node) && !align_holds(fusion->holds, node->op_type))
            return false;
        for (int o = 0; o < node->n_out; o++) {
            if (node->out[o] < 0 || node->out[o] == u)
                continue;
            const struct odb_value *value = &al->a->values[node->out[o]];
            for (size_t c = 0; c < value->n_consumers; c++)
                if (!al->marks_a[value->consumers[c]])
                    return false;
            if (value->is_output)
                return false;
        }
    }
    return align_same_readers(al, u, w);
}

/* Nodes behind a value that a pattern may hold, breadth first. */
static size_t align_reach(const struct align *al, const struct align_fusion *fusion, int from,
                          int *list)
{
    size_t n = 0;
    bool *met = odb_new_n(bool, al->a->n_nodes + 1);
    for (size_t at = 0; at <= n && n < ALIGN_REGION; at++) {
        int v = at ? al->a->nodes[list[at - 1]].out[0] : from;
        for (size_t c = 0; v >= 0 && c < al->a->values[v].n_consumers && n < ALIGN_REGION; c++) {
            int reader = al->a->values[v].consumers[c];
            const struct odb_node *node = &al->a->nodes[reader];
            if (met[reader] || node->n_out < 1 ||
                !(align_carries(node) || align_holds(fusion->holds, node->op_type)))
                continue;
            met[reader] = true;
            list[n++] = reader;
        }
    }
    free(met);
    return n;
}

static bool align_fused(struct align *al, int m)
{
    const struct odb_node *node = &al->b->nodes[m];
    const struct align_fusion *fusion = align_fusion(node);
    int list[ALIGN_REGION], found = ODB_NO_VALUE, equal = ODB_NO_VALUE, n_found = 0, n_equal = 0;
    int in = fusion ? align_known_input(al, m) : ODB_NO_VALUE;
    if (in < 0 || al->out->node[m] >= 0 || node->n_out < 1 || node->out[0] < 0 ||
        align_has_partner(al, node->out[0]) || al->opaque[node->out[0]])
        return false;
    size_t n = align_reach(al, fusion, align_root(al->a, align_partner(al, in)), list);
    for (size_t i = 0; i < n; i++) {
        int u = al->a->nodes[list[i]].out[0];
        if (u < 0 || al->out->other[u] >= 0 ||
            !align_holds(fusion->ends, al->a->nodes[list[i]].op_type))
            continue;
        double gap = align_gap(al, u, node->out[0]);
        if (isinf(gap) || !align_pattern(al, fusion, u, m))
            continue;
        found = u;
        n_found++;
        if (align_near(al, gap)) {
            equal = u;
            n_equal++;
        }
    }
    int u = n_equal == 1 ? equal : n_found == 1 ? found : ODB_NO_VALUE;
    return align_pair(al, u, node->out[0], ODB_PAIRED_FUSED, 0.85);
}

static void align_structure(struct align *al)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t m = 0; m < al->b->n_nodes; m++)
            any |= align_forward(al, (int)m) || align_fused(al, (int)m);
        for (size_t m = al->b->n_nodes; m-- > 0;)
            any |= align_backward(al, (int)m) || align_fused_input(al, (int)m);
        for (size_t m = 0; m < al->b->n_nodes && !any; m++)
            any = align_replaced(al, (int)m);
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

/* ONNX Runtime keeps channels in blocks between ReorderInput and ReorderOutput: names and shapes
 * are as before, and the elements are not. */
static void align_mark_opaque(struct align *al)
{
    for (size_t m = 0; m < al->b->n_nodes; m++) {
        const struct odb_node *node = &al->b->nodes[m];
        bool blocked = !strcmp(node->domain, "com.microsoft.nchwc");
        for (int i = 0; i < node->n_in; i++)
            blocked |= node->in[i] >= 0 && al->opaque[node->in[i]];
        blocked &= strcmp(node->op_type, "ReorderOutput") != 0;
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                al->opaque[node->out[o]] = blocked;
    }
}

/* What is read is what counts: a partner that is only carried on (rounded, quantised and back)
 * gives way to what its readers have. */
static bool align_is_carried(const struct odb_graph *g, int v)
{
    bool carried = false;
    for (size_t c = 0; c < g->values[v].n_consumers; c++)
        carried |= align_carries(&g->nodes[g->values[v].consumers[c]]);
    return carried;
}

static void align_carry(struct align *al)
{
    bool quantised = false; /* itself: then it is quantised at other places than this one */
    for (size_t n = 0; n < al->a->n_nodes; n++)
        quantised |= !strcmp(al->a->nodes[n].op_type, "QuantizeLinear");
    for (size_t u = 0; u < al->a->n_values; u++) {
        int w = al->out->other[u];
        while (w >= 0 && !align_is_carried(al->a, (int)u) && al->b->values[w].n_consumers == 1 &&
               !al->b->values[w].is_output && al->b->values[w].producer != ODB_NO_NODE) {
            const struct odb_node *node = &al->b->nodes[al->b->values[w].consumers[0]];
            int next = align_carries(node) && node->in[0] == w ? node->out[0] : ODB_NO_VALUE;
            if (next < 0 || al->out->original[next] >= 0 || isinf(align_gap(al, (int)u, next)) ||
                (quantised && !strcmp(node->op_type, "QuantizeLinear")))
                break;
            al->out->original[w] = ODB_NO_VALUE;
            al->out->original[next] = (int)u;
            al->out->other[u] = w = next;
        }
    }
}

static void align_init(struct align *al)
{
    struct odb_alignment *out = al->out;
    *out = (struct odb_alignment){.n_values = al->a->n_values,
                                  .n_others = al->b->n_values,
                                  .n_nodes = al->b->n_nodes,
                                  .other = odb_new_n(int, al->a->n_values + 1),
                                  .original = odb_new_n(int, al->b->n_values + 1),
                                  .how = odb_new_n(enum odb_paired, al->a->n_values + 1),
                                  .confidence = odb_new_n(double, al->a->n_values + 1),
                                  .node = odb_new_n(int, al->b->n_nodes + 1)};
    for (size_t u = 0; u < al->a->n_values; u++)
        out->other[u] = ODB_NO_VALUE;
    for (size_t w = 0; w < al->b->n_values; w++)
        out->original[w] = ODB_NO_VALUE;
    for (size_t m = 0; m < al->b->n_nodes; m++)
        out->node[m] = ODB_NO_NODE;
    al->stop_a = odb_new_n(bool, al->a->n_values + 1);
    al->stop_b = odb_new_n(bool, al->b->n_values + 1);
    al->opaque = odb_new_n(bool, al->b->n_values + 1);
    al->taken = odb_new_n(bool, al->a->n_nodes + 1);
    al->marks_a = odb_new_n(bool, al->a->n_nodes + 1);
    al->marks_b = odb_new_n(bool, al->b->n_nodes + 1);
    al->border_a = odb_new_n(int, al->a->n_values + 1);
    al->border_b = odb_new_n(int, al->b->n_values + 1);
}

void odb_align(struct odb_alignment *out, const struct odb_align_sides *sides)
{
    struct align al = {.s = sides, .a = sides->original, .b = sides->other, .out = out};
    align_init(&al);
    align_mark_opaque(&al);
    align_map(&al);
    align_borders(&al);
    align_names(&al);
    align_values(&al);
    align_structure(&al);
    align_ask_numbers(&al);
    if (al.numbers_agree) {
        align_names(&al);
        align_structure(&al);
    }
    align_carry(&al);
    free(al.stop_a);
    free(al.stop_b);
    free(al.opaque);
    free(al.taken);
    free(al.marks_a);
    free(al.marks_b);
    free(al.border_a);
    free(al.border_b);
}

void odb_alignment_dispose(struct odb_alignment *a)
{
    free(a->other);
    free(a->original);
    free(a->how);
    free(a->confidence);
    free(a->node);
}

const char *odb_paired_name(enum odb_paired how)
{
    static const char *const names[] = {
#define ALIGN_PAIRED(name, text) [ODB_PAIRED_##name] = text,
        ODB_PAIRED_LIST(ALIGN_PAIRED)
#undef ALIGN_PAIRED
    };
    return names[how];
}
