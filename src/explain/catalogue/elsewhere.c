/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The family elsewhere: the output is not the node's own. It is an input that passed through, what
 * a neighbour makes, another value of the graph, or nothing at all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/variant.h"

/* t in the shape and type of the target's output o; ODB_SKIPPED: it cannot be. */
static enum odb_status elsewhere_as(const struct accused *s, int o, const struct odb_tensor *t,
                                    struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *y = s->y[o];
    if (!y || !t || t->kind != ODB_TENSOR || !t->data || t->dtype != y->dtype ||
        t->count != y->count)
        return ODB_SKIPPED;
    return odb_tensor_reshape(out, t, y->rank, y->dims, err);
}

/* The one output that a row of this family says something of. */
static int elsewhere_output(const struct accused *s)
{
    int shown = s->shown;
    return shown < 0 ? 0 : shown;
}

/* Makes all outputs the reference's, but for the shown one, which is t; taken. */
static void elsewhere_put(const struct accused *s, struct odb_tensor *t, struct odb_tensor **out)
{
    for (int o = 0; o < s->node->n_out; o++)
        out[o] = o == elsewhere_output(s) ? t : odb_tensor_ref(s->r[o]);
}

/* --- skipped ---------------------------------------------------------------------------------- */

static enum choice elsewhere_choose_skipped(const struct accused *s, size_t k, struct variant *v)
{
    struct odb_tensor *t = NULL;
    if (k >= (size_t)s->node->n_in)
        return CHOICE_END;
    if (elsewhere_as(s, elsewhere_output(s), s->in[k], &t, NULL) != ODB_OK)
        return CHOICE_SKIP;
    odb_tensor_unref(t);
    v->at = (int)k;
    odb_buf_printf(&v->name, "%zu", k);
    odb_buf_puts(&v->text, "as if the node were left out: it gives ");
    accused_put_input(s, (int)k, &v->text);
    return CHOICE_MADE;
}

static enum odb_status elsewhere_skipped(const struct variant *v, const struct accused *s,
                                         struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    ODB_TRY(elsewhere_as(s, elsewhere_output(s), s->in[v->at], &t, err));
    elsewhere_put(s, t, out);
    return ODB_OK;
}

/* --- neighbours ------------------------------------------------------------------------------- */

/* What an operand of another node was, when it ran. */
static const struct odb_tensor *elsewhere_value(const struct accused *s, int value)
{
    const struct odb_value *v = value < 0 ? NULL : &s->graph->values[value];
    if (!v || v->init)
        return v ? v->init : NULL;
    return s->q->given ? s->q->given[value] : NULL;
}

/* A node that reads the shown output, number k of them, runs on what the reference makes. */
static const struct odb_node *elsewhere_reader(const struct accused *s, size_t k)
{
    int value = s->node->out[elsewhere_output(s)];
    if (value < 0 || k >= s->graph->values[value].n_consumers)
        return NULL;
    return &s->graph->nodes[s->graph->values[value].consumers[k]];
}

static enum choice elsewhere_choose_next(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_node *next = elsewhere_reader(s, k);
    if (!next)
        return CHOICE_END;
    if (next->n_out < 1 || next->n_captured || !odb_cpu_op(s->q->cpu, next->index) ||
        odb_cpu_random(s->q->cpu, next->index))
        return CHOICE_SKIP;
    for (int i = 0; i < next->n_in; i++)
        if (next->in[i] >= 0 && next->in[i] != s->node->out[elsewhere_output(s)] &&
            !elsewhere_value(s, next->in[i]))
            return CHOICE_SKIP;
    v->at = next->index;
    odb_buf_puts(&v->name, next->op_type);
    odb_buf_puts(&v->text, "as if what follows were done already: it holds what ");
    odb_node_put(s->graph, next->index, &v->text);
    odb_buf_puts(&v->text, " makes of it");
    return CHOICE_MADE;
}

static enum odb_status elsewhere_next(const struct variant *v, const struct accused *s,
                                      struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_node *next = &s->graph->nodes[v->at];
    int shown = elsewhere_output(s);
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, next->n_in);
    struct odb_tensor **made = odb_new_n(struct odb_tensor *, next->n_out);
    struct odb_tensor *t = NULL;
    for (int i = 0; i < next->n_in; i++)
        in[i] = next->in[i] == s->node->out[shown]
                    ? s->r[shown]
                    : (struct odb_tensor *)elsewhere_value(s, next->in[i]);
    enum odb_status status =
        odb_cpu_node(s->q->cpu, v->at, ODB_PREC_NATIVE, 0, in, NULL, made, err);
    if (status == ODB_OK)
        status = elsewhere_as(s, shown, made[0], &t, err);
    if (status == ODB_OK)
        elsewhere_put(s, t, out);
    for (int o = 0; o < next->n_out; o++)
        odb_tensor_unref(made[o]);
    free(made);
    free(in);
    return status;
}

/* The node that makes input k was left out: what that read comes here. */
static enum choice elsewhere_choose_previous(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= (size_t)s->node->n_in)
        return CHOICE_END;
    const struct odb_tensor *t = accused_in(s, (int)k);
    int value = s->node->in[k], made = value < 0 ? ODB_NO_NODE : s->graph->values[value].producer;
    const struct odb_node *previous = made == ODB_NO_NODE ? NULL : &s->graph->nodes[made];
    const struct odb_tensor *before =
        previous && previous->n_in ? elsewhere_value(s, previous->in[0]) : NULL;
    if (!t || !before || before->kind != ODB_TENSOR || before->dtype != t->dtype ||
        before->count != t->count)
        return CHOICE_SKIP;
    v->at = (int)k;
    v->other = previous->in[0];
    odb_buf_printf(&v->name, "%zu", k);
    odb_buf_puts(&v->text, "as if the node before it were left out: it reads what ");
    odb_node_put(s->graph, made, &v->text);
    odb_buf_puts(&v->text, " reads");
    return CHOICE_MADE;
}

static enum odb_status elsewhere_change_previous(const struct variant *v, const struct accused *s,
                                                 struct change *c, struct odb_error *err)
{
    const struct odb_tensor *t = c->in[v->at], *before = elsewhere_value(s, v->other);
    struct odb_tensor *shaped = NULL;
    if (!before || before->count != t->count)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_reshape(&shaped, before, t->rank, t->dims, err));
    change_input(c, v->at, shaped);
    return ODB_OK;
}

/* --- repeated --------------------------------------------------------------------------------- */

/* Elements follow themselves, a a b b, where the whole ought to follow itself, a b a b. */
static enum choice elsewhere_choose_repeated(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *x = accused_in(s, 0), *y = s->y[0];
    if (k || !x || !y || x->rank != y->rank || x->dtype != y->dtype || !x->count)
        return CHOICE_END;
    for (int axis = 0; axis < x->rank; axis++)
        if (y->dims[axis] % x->dims[axis])
            return CHOICE_END;
    odb_buf_puts(&v->text, "as if elements were repeated, a a b b, and not the whole, a b a b");
    return CHOICE_MADE;
}

struct elsewhere_tensors {
    const struct odb_tensor *x, *y;
};

static int64_t elsewhere_from_repeated(const void *payload, size_t i)
{
    const struct elsewhere_tensors *p = payload;
    int64_t at = 0, step = 1;
    for (int axis = p->x->rank; axis-- > 0;) {
        int64_t n = p->y->dims[axis], here = (int64_t)(i % (size_t)n);
        at += here / (n / p->x->dims[axis]) * step;
        step *= p->x->dims[axis];
        i /= (size_t)n;
    }
    return at;
}

static enum odb_status elsewhere_repeated(const struct variant *v, const struct accused *s,
                                          struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *x = accused_in(s, 0), *y = s->y[0];
    (void)v;
    if (x->rank != y->rank)
        return ODB_SKIPPED;
    const struct elsewhere_tensors both = {x, y};
    return tensor_gather_into(&out[0], x, y->rank, y->dims, elsewhere_from_repeated, &both, err);
}

/* --- what a fused node applies ---------------------------------------------------------------- */

static double elsewhere_relu(double x)
{
    return x < 0 ? 0 : x;
}
static double elsewhere_relu6(double x)
{
    return fmin(fmax(x, 0), 6);
}
static double elsewhere_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double elsewhere_hard_swish(double x)
{
    return x * fmin(fmax(x / 6 + 0.5, 0), 1);
}
static double elsewhere_silu(double x)
{
    return x / (1 + exp(-x));
}
static double elsewhere_negated(double x)
{
    return -x;
}

static const struct elsewhere_function {
    const char *name, *text;
    double (*f)(double x);
} elsewhere_functions[] = {
    {"Relu", "as if Relu were applied to it", elsewhere_relu},
    {"Relu6", "as if clip(y, 0, 6) were applied to it", elsewhere_relu6},
    {"Sigmoid", "as if Sigmoid were applied to it", elsewhere_sigmoid},
    {"Tanh", "as if Tanh were applied to it", tanh},
    {"HardSwish", "as if HardSwish were applied to it", elsewhere_hard_swish},
    {"SiLU", "as if y * sigmoid(y) were applied to it", elsewhere_silu},
    {"Abs", "as if its sign were lost", fabs},
    {"Neg", "as if its sign were turned round", elsewhere_negated},
};

static enum choice elsewhere_choose_function(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *y = s->y[elsewhere_output(s)];
    if (k >= ODB_COUNT(elsewhere_functions) || !y || !odb_dtype_is_float(y->dtype))
        return CHOICE_END;
    return variant_made(v, k, elsewhere_functions[k].name, elsewhere_functions[k].text);
}

static enum odb_status elsewhere_function(const struct variant *v, const struct accused *s,
                                          struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    int o = elsewhere_output(s);
    ODB_TRY(tensor_apply(&t, out[o], elsewhere_functions[v->at].f, err));
    tensor_replace(&out[o], t);
    return ODB_OK;
}

/* --- another value ---------------------------------------------------------------------------- */

/* Whether a value is computed from the node's output: then it holds the same error for that reason,
 * and says nothing of where the output comes from. */
static bool elsewhere_is_behind(const struct accused *s, int value)
{
    bool *marks = odb_new_n(bool, s->graph->n_nodes);
    odb_graph_ancestors(s->graph, &value, 1, NULL, marks);
    bool behind = marks[s->node->index];
    free(marks);
    return behind;
}

/* Value k of the graph, where the target's own bytes of it are those of the output. */
static enum choice elsewhere_choose_value(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *y = s->y[elsewhere_output(s)];
    if (!s->q->given || k >= s->graph->n_values || !y || y->count < 4)
        return CHOICE_END;
    const struct odb_tensor *other = s->q->given[k];
    if (!other || other == y || s->graph->values[k].producer == s->node->index ||
        other->kind != ODB_TENSOR || other->dtype != y->dtype || other->bytes != y->bytes ||
        !other->data || memcmp(other->data, y->data, y->bytes) != 0 ||
        elsewhere_is_behind(s, (int)k))
        return CHOICE_SKIP;
    for (int i = 0; i < s->node->n_in; i++)
        if (s->node->in[i] == (int)k) /* that is being skipped */
            return CHOICE_SKIP;
    char key[512];
    v->at = (int)k;
    odb_value_key(s->graph, &s->graph->values[k], key, sizeof key);
    odb_buf_printf(&v->name, "%s", key);
    odb_buf_puts(&v->text, "holds the values of ");
    odb_buf_put_shown(&v->text, key);
    return CHOICE_MADE;
}

static enum odb_status elsewhere_other_value(const struct variant *v, const struct accused *s,
                                             struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    ODB_TRY(elsewhere_as(s, elsewhere_output(s), s->q->given ? s->q->given[v->at] : NULL, &t, err));
    elsewhere_put(s, t, out);
    return ODB_OK;
}

/* The bytes that are wrong lie together: from where to where. */
struct elsewhere_range {
    size_t first, end, size; /* elements; bytes of one */
};

static bool elsewhere_wrong_range(const struct accused *s, struct elsewhere_range *range)
{
    int o = elsewhere_output(s);
    const struct odb_tensor *y = s->y[o], *r = s->r[o];
    range->size = y ? odb_dtype_info(y->dtype)->bits / 8 : 0;
    if (!range->size || !r || !s->target.wide[o] || y->count != r->count)
        return false;
    const odb_f64 *wide = s->target.wide[o]->data;
    double slack = s->q->factor * s->floor * s->target.rms[o];
    range->first = y->count;
    range->end = 0;
    for (size_t i = 0; i < y->count; i++) {
        double x = odb_tensor_f64(r, i);
        if (!(fabs(wide[i] - x) <= slack) && wide[i] != x && !(isnan(x) && isnan(wide[i]))) {
            range->first = ODB_MIN(range->first, i);
            range->end = i + 1;
        }
    }
    return range->end >= range->first + 4 && range->end - range->first < y->count;
}

/* Value k of the graph, whose bytes are there where the output is wrong. */
static enum choice elsewhere_choose_part(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *y = s->y[elsewhere_output(s)];
    const struct odb_tensor *other = NULL;
    struct elsewhere_range part;
    if (!s->q->given || k >= s->graph->n_values)
        return CHOICE_END;
    other = s->q->given[k];
    if (!y || !other || other == y || s->graph->values[k].producer == s->node->index ||
        other->kind != ODB_TENSOR || other->dtype != y->dtype || other->bytes != y->bytes ||
        !other->data || !elsewhere_wrong_range(s, &part) ||
        memcmp((const char *)other->data + part.first * part.size,
               (const char *)y->data + part.first * part.size,
               (part.end - part.first) * part.size) != 0 ||
        elsewhere_is_behind(s, (int)k))
        return CHOICE_SKIP;
    char key[512];
    v->at = (int)k;
    v->ints[0] = (int64_t)part.first;
    v->ints[1] = (int64_t)part.end;
    odb_value_key(s->graph, &s->graph->values[k], key, sizeof key);
    odb_buf_puts(&v->name, key);
    odb_buf_printf(&v->text, "holds, from element %zu to %zu of %zu, the values of ", part.first,
                   part.end - 1, y->count);
    odb_buf_put_shown(&v->text, key);
    return CHOICE_MADE;
}

static enum odb_status elsewhere_part(const struct variant *v, const struct accused *s,
                                      struct odb_tensor **out, struct odb_error *err)
{
    int o = elsewhere_output(s);
    struct odb_tensor *other = NULL, *t = NULL;
    ODB_TRY(elsewhere_as(s, o, s->q->given ? s->q->given[v->at] : NULL, &other, err));
    enum odb_status status = odb_tensor_clone(&t, out[o], err);
    if (status == ODB_OK) {
        size_t size = odb_dtype_info(t->dtype)->bits / 8, at = (size_t)v->ints[0] * size;
        size_t end = ODB_MIN((size_t)v->ints[1] * size, t->bytes);
        if (t->dtype == other->dtype && t->bytes == other->bytes && at < end)
            memcpy((char *)t->data + at, (const char *)other->data + at, end - at);
        tensor_replace(&out[o], t);
    }
    odb_tensor_unref(other);
    return status;
}

/* --- another operator ------------------------------------------------------------------------- */

static const struct elsewhere_operator {
    const char *ops, *other;
} elsewhere_operators[] = {
    {"MaxPool", "AveragePool"},
    {"AveragePool", "MaxPool"},
    {"GlobalAveragePool", "GlobalMaxPool"},
    {"GlobalMaxPool", "GlobalAveragePool"},
    {"ReduceMean", "ReduceSum"},
    {"ReduceSum|ReduceMax|ReduceMin", "ReduceMean"},
    {"ReduceMean|ReduceMin|ReduceSum", "ReduceMax"},
    {"ReduceMax", "ReduceMin"},
    {"Add", "Sub"},
    {"Sub", "Add"},
    {"Mul", "Div"},
    {"Div", "Mul"},
    {"Max", "Min"},
    {"Min", "Max"},
    {"Floor|Round", "Ceil"},
    {"Ceil|Round", "Floor"},
    {"Softmax", "LogSoftmax"},
    {"LogSoftmax", "Softmax"},
    {"ArgMax", "ArgMin"},
    {"ArgMin", "ArgMax"},
    {"And", "Or"},
    {"Or|Xor", "And"},
};

static enum choice elsewhere_choose_operator(const struct accused *s, size_t k, struct variant *v)
{
    if (k >= ODB_COUNT(elsewhere_operators))
        return CHOICE_END;
    const struct elsewhere_operator *row = &elsewhere_operators[k];
    const struct odb_op *op = odb_op_find("", row->other, s->op->since);
    if (!variant_is_for(row->ops, s->node->op_type) || s->node->domain[0] || !op ||
        s->node->n_in > op->max_in || s->node->n_out > 1)
        return CHOICE_SKIP;
    v->word = row->other;
    odb_buf_puts(&v->name, row->other);
    odb_buf_printf(&v->text, "as if it were %s", row->other);
    return CHOICE_MADE;
}

static enum odb_status elsewhere_change_operator(const struct variant *v, const struct accused *s,
                                                 struct change *c, struct odb_error *err)
{
    const struct odb_op *op = odb_op_find("", v->word, s->op->since);
    (void)err;
    if (!op)
        return ODB_SKIPPED;
    c->call->op = op;
    return ODB_OK;
}

/* --- nothing ---------------------------------------------------------------------------------- */

static enum choice elsewhere_choose_zero(const struct accused *s, size_t k, struct variant *v)
{
    const struct odb_tensor *y = s->y[elsewhere_output(s)];
    if (k || !y || y->dtype == ODB_STRING)
        return CHOICE_END;
    odb_buf_puts(&v->text, "as if it were never written: all of it is 0");
    return CHOICE_MADE;
}

static enum odb_status elsewhere_zero(const struct variant *v, const struct accused *s,
                                      struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *y = s->y[elsewhere_output(s)];
    struct odb_tensor *t = NULL;
    (void)v;
    ODB_TRY(odb_tensor_new(&t, y->dtype, y->rank, y->dims, err));
    elsewhere_put(s, t, out);
    return ODB_OK;
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* Outputs i < j have changed places. */
static enum choice elsewhere_choose_outputs(const struct accused *s, size_t k, struct variant *v)
{
    int i = (int)(k / 8), j = (int)(k % 8), n = ODB_MIN(s->node->n_out, 8);
    if (i >= n)
        return CHOICE_END;
    if (j <= i || j >= n || !s->y[i] || !s->y[j] || !s->r[i] || !s->r[j] ||
        s->r[i]->dtype != s->r[j]->dtype || !odb_tensor_same_shape(s->r[i], s->r[j]))
        return CHOICE_SKIP;
    v->at = i;
    v->other = j;
    odb_buf_printf(&v->name, "%d,%d", i, j);
    odb_buf_printf(&v->text, "as if its outputs %d and %d were exchanged", i, j);
    return CHOICE_MADE;
}

static enum odb_status elsewhere_outputs(const struct variant *v, const struct accused *s,
                                         struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *t = out[v->at];
    (void)s;
    (void)err;
    out[v->at] = out[v->other];
    out[v->other] = t;
    return ODB_OK;
}

const struct variant_row variants_elsewhere[] = {
    {"", "elsewhere/skipped=", elsewhere_choose_skipped, NULL, elsewhere_skipped, true, 0},
    {"", "elsewhere/next=", elsewhere_choose_next, NULL, elsewhere_next, true, 0},
    {"", "elsewhere/previous=", elsewhere_choose_previous, elsewhere_change_previous, NULL, false,
     0},
    {"Tile|Expand", "elsewhere/repeated", elsewhere_choose_repeated, NULL, elsewhere_repeated, true,
     0},
    {"", "elsewhere/value=", elsewhere_choose_value, NULL, elsewhere_other_value, true, 0},
    {"", "elsewhere/part=", elsewhere_choose_part, NULL, elsewhere_part, false, 1},
    {"", "elsewhere/operator=", elsewhere_choose_operator, elsewhere_change_operator, NULL, false,
     0, false},
    {"", "elsewhere/zero", elsewhere_choose_zero, NULL, elsewhere_zero, true, 0},
    {"", "elsewhere/applied=", elsewhere_choose_function, NULL, elsewhere_function, false, 0},
    {"", "elsewhere/outputs=", elsewhere_choose_outputs, NULL, elsewhere_outputs, false, 0},
    {NULL, NULL, NULL, NULL, NULL, false, 0},
};
