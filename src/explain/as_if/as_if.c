/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A variant is code that changes a call. What it made of the call is looked at, and said in
 * operators: other attributes and another version are the node's own, an operand that was left out
 * or exchanged is wired so, a weight has other contents. An operand that is fed, and a result, may
 * have become another type and back, a line (a x + b) or a transpose of what it was, which is found
 * by trying these on several sets of operands (as_if_samples.h). Whatever else it is, there is no
 * model.
 */
#include "explain/as_if/as_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/as_if/as_if_samples.h"
#include "explain/judge.h"
#include "model/read/load.h"
#include "model/write/build.h"
#include "reference/trace.h"

#define AS_IF_FLOORS 8      /* of noise, that a line may be off: it is rounded twice */
#define AS_IF_CAST_OPSET 19 /* has every type that a number may go through */

struct as_if {
    const struct accused *s; /* the first sample's */
    const struct variant *v;
    struct as_if_samples samples; /* owned */
    struct odb_builder *model;    /* owned */
    size_t n_made;                /* values that have names of their own here */
    bool said;                    /* all of it, up to now */
};

/* What a tensor was, and what the variant has made of it: in each sample. */
struct as_if_pairs {
    const struct odb_tensor *was[AS_IF_SAMPLES], *now[AS_IF_SAMPLES];
    size_t n;
};

/* --- names ------------------------------------------------------------------------------------ */

/* The builder takes names with blanks between them. Appends. */
static void as_if_put_value(const struct as_if *m, int value, struct odb_buf *out)
{
    const char *name = m->s->graph->values[value].name;
    if (*name && strcmp(name, "-") != 0 && !strpbrk(name, " \t\n"))
        odb_buf_puts(out, name);
    else
        odb_buf_printf(out, "value_%d", value);
}

/* One that only this model has. Owned by the caller. */
static char *as_if_new_name(struct as_if *m)
{
    return odb_xasprintf("as_if_%zu", m->n_made++);
}

/* --- what became of a tensor ------------------------------------------------------------------ */

static void as_if_cast(struct as_if *m, const char *from, const char *to, enum odb_dtype dtype)
{
    odb_build_node(m->model, "Cast", "", from, to);
    odb_build_attr_int(m->model, "to", dtype);
}

static bool as_if_is_through(const struct odb_tensor *was, const struct odb_tensor *now,
                             enum odb_dtype dtype)
{
    struct odb_tensor *narrow = NULL, *back = NULL;
    bool is = odb_tensor_cast(&narrow, was, dtype, NULL) == ODB_OK &&
              odb_tensor_cast(&back, narrow, was->dtype, NULL) == ODB_OK &&
              odb_tensor_identical(back, now);
    odb_tensor_unref(narrow);
    odb_tensor_unref(back);
    return is;
}

/* Whether now is was through a narrower type. */
static bool as_if_through(struct as_if *m, const struct as_if_pairs *p, const char *from,
                          const char *to)
{
    static const enum odb_dtype types[] = {ODB_BF16,   ODB_F16, ODB_F8E4M3FN,
                                           ODB_F8E5M2, ODB_F32, ODB_I32};
    enum odb_dtype own = p->was[0]->dtype;
    for (size_t i = 0; i < ODB_COUNT(types); i++) {
        bool all = types[i] != own;
        for (size_t k = 0; k < p->n && all; k++)
            all = as_if_is_through(p->was[k], p->now[k], types[i]);
        if (!all)
            continue;
        char *name = as_if_new_name(m);
        as_if_cast(m, from, name, types[i]);
        as_if_cast(m, name, to, own);
        free(name);
        return true;
    }
    return false;
}

static void as_if_with_number(struct as_if *m, const char *op, double number, enum odb_dtype dtype,
                              const char *from, const char *to)
{
    struct odb_tensor *t = NULL;
    char *name = as_if_new_name(m), *names = odb_xasprintf("%s %s", from, name);
    if (odb_tensor_new(&t, dtype, 0, NULL, NULL) == ODB_OK) {
        odb_store_f64(dtype, t->data, 0, number);
        odb_build_weight(m->model, name, t);
        odb_build_node(m->model, op, "", names, to);
    } else {
        m->said = false;
    }
    odb_tensor_unref(t);
    free(names);
    free(name);
}

/* An element: what it was, and is. */
struct as_if_point {
    double x, y;
};

/* Element i of sample k; false: neither number is finite, which says nothing of a line. */
static bool as_if_point(const struct as_if_pairs *p, size_t k, size_t i, struct as_if_point *out)
{
    *out = (struct as_if_point){odb_tensor_f64(p->was[k], i), odb_tensor_f64(p->now[k], i)};
    return isfinite(out->x) || isfinite(out->y);
}

/* The line through two elements that are far apart; most: the largest number there is. False: there
 * is no line. */
static bool as_if_fit(const struct as_if_pairs *p, double *a, double *b, double *most)
{
    struct as_if_point low = {INFINITY, 0}, high = {-INFINITY, 0}, at;
    *most = 0;
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->was[k]->count; i++) {
            if (!as_if_point(p, k, i, &at))
                continue;
            if (!isfinite(at.x) || !isfinite(at.y))
                return false;
            low = at.x < low.x ? at : low;
            high = at.x > high.x ? at : high;
            *most = fmax(*most, fabs(at.y));
        }
    *a = high.x > low.x ? (high.y - low.y) / (high.x - low.x) : 0;
    *b = low.y - *a * low.x;
    *most = fmax(*most, fmax(fabs(*a * low.x), fabs(*a * high.x)));
    return isfinite(*a) && isfinite(*b);
}

/* Whether a was + b is now, but for so much. */
static bool as_if_on_line(const struct as_if_pairs *p, double a, double b, double slack)
{
    struct as_if_point at;
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->was[k]->count; i++)
            if (as_if_point(p, k, i, &at) && !(fabs(a * at.x + b - at.y) <= slack))
                return false;
    return true;
}

/* Whether now is a was + b, rounded; was is of a float type. */
static bool as_if_line(struct as_if *m, const struct as_if_pairs *p, const char *from,
                       const char *to)
{
    enum odb_dtype dtype = p->was[0]->dtype;
    double a, b, most, eps = 4 * odb_noise_floor(1, dtype);
    if (!odb_dtype_is_float(dtype) || !as_if_fit(p, &a, &b, &most))
        return false;
    b = fabs(b) <= eps * most ? 0 : b;
    if (!as_if_on_line(p, a, b, eps * most))
        return false;
    char *between = b != 0 ? as_if_new_name(m) : odb_xstrdup(to);
    as_if_with_number(m, "Mul", a, dtype, from, between);
    if (b != 0)
        as_if_with_number(m, "Add", b, dtype, between, to);
    free(between);
    return true;
}

static bool as_if_is_transposed(const struct odb_tensor *was, const struct odb_tensor *now,
                                const int *perm)
{
    struct odb_tensor *t = NULL;
    bool is = tensor_transpose(&t, was, perm, NULL) == ODB_OK && odb_tensor_identical(t, now);
    odb_tensor_unref(t);
    return is;
}

/* Whether now is was with axes i and j exchanged. */
static bool as_if_exchanged(struct as_if *m, const struct as_if_pairs *p, int i, int j,
                            const char *from, const char *to)
{
    int rank = p->was[0]->rank, perm[ODB_MAX_RANK];
    int64_t axes[ODB_MAX_RANK];
    for (int d = 0; d < rank; d++)
        axes[d] = perm[d] = d == i ? j : d == j ? i : d;
    for (size_t k = 0; k < p->n; k++)
        if (!as_if_is_transposed(p->was[k], p->now[k], perm))
            return false;
    odb_build_node(m->model, "Transpose", "", from, to);
    odb_build_attr_ints(m->model, "perm", (size_t)rank, axes);
    return true;
}

/* Whether now has two axes of was in the place of each other. */
static bool as_if_transposed(struct as_if *m, const struct as_if_pairs *p, const char *from,
                             const char *to)
{
    bool found = false;
    for (int i = 0; i < p->was[0]->rank; i++)
        for (int j = i + 1; j < p->was[0]->rank; j++)
            found = found || as_if_exchanged(m, p, i, j, from, to);
    return found;
}

static bool as_if_alike(const struct odb_tensor *a, const struct odb_tensor *b)
{
    return a && b && a->kind == ODB_TENSOR && b->kind == ODB_TENSOR && a->data && b->data &&
           a->dtype == b->dtype;
}

/* Says in nodes how now comes of was; false: none of these ways. What one sample alone shows may be
 * luck. */
static bool as_if_derive(struct as_if *m, const struct as_if_pairs *p, const char *from,
                         const char *to)
{
    bool same = true;
    if (p->n < 2)
        return false;
    for (size_t k = 0; k < p->n; k++) {
        if (!as_if_alike(p->was[k], p->now[k]) || !as_if_alike(p->was[0], p->was[k]) ||
            p->was[k]->rank != p->was[0]->rank)
            return false;
        same = same && odb_tensor_same_shape(p->was[k], p->now[k]);
    }
    if (!same)
        return as_if_transposed(m, p, from, to);
    return as_if_through(m, p, from, to) || as_if_line(m, p, from, to) ||
           as_if_transposed(m, p, from, to);
}

/* Operand i, fed and changed. */
static struct as_if_pairs as_if_fed(const struct as_if *m, int i)
{
    struct as_if_pairs p = {.n = m->samples.n};
    for (size_t k = 0; k < p.n; k++) {
        p.was[k] = m->samples.items[k].s.in[i];
        p.now[k] = i < m->samples.items[k].n_changed ? m->samples.items[k].changed[i] : NULL;
    }
    return p;
}

/* Result o, made and changed. */
static struct as_if_pairs as_if_made(const struct as_if *m, int o)
{
    struct as_if_pairs p = {.n = m->samples.n};
    for (size_t k = 0; k < p.n; k++) {
        p.was[k] = m->samples.items[k].made[o];
        p.now[k] = m->samples.items[k].is[o];
    }
    return p;
}

/* --- the node --------------------------------------------------------------------------------- */

static void as_if_attr(struct as_if *m, const struct odb_attr *attr)
{
    struct odb_buf text = ODB_BUF_INIT;
    switch (attr->type) {
    case ODB_ATTR_INT:
        odb_build_attr_int(m->model, attr->name, attr->i);
        break;
    case ODB_ATTR_INTS:
        odb_build_attr_ints(m->model, attr->name, attr->n, attr->ints);
        break;
    case ODB_ATTR_FLOAT:
        odb_build_attr_float(m->model, attr->name, attr->f);
        break;
    case ODB_ATTR_FLOATS:
        odb_build_attr_floats(m->model, attr->name, attr->n, attr->floats);
        break;
    case ODB_ATTR_STRING:
        odb_buf_add(&text, attr->s.data, attr->s.len);
        odb_build_attr_string(m->model, attr->name, odb_buf_text(&text));
        break;
    case ODB_ATTR_TENSOR:
        odb_build_attr_tensor(m->model, attr->name, attr->tensors[0]);
        break;
    default:
        m->said = false;
    }
    odb_buf_dispose(&text);
}

/* Operand i of the changed call: the name of what it reads, appended. */
static void as_if_operand(struct as_if *m, const struct odb_tensor *t, int i, struct odb_buf *names)
{
    const struct accused *s = m->s;
    int value = i < s->node->n_in ? s->node->in[i] : ODB_NO_VALUE;
    int same = i;
    for (int k = s->node->n_in; k-- > 0 && (i >= s->node->n_in || s->in[i] != t);)
        same = s->in[k] == t ? k : same;
    odb_buf_puts(names, names->len ? " " : "");
    if (!t) {
        odb_buf_putc(names, '-');
    } else if (same < s->node->n_in && s->in[same] == t) {
        as_if_put_value(m, s->node->in[same], names);
    } else {
        char *made = as_if_new_name(m);
        struct odb_buf from = ODB_BUF_INIT;
        if (value == ODB_NO_VALUE || s->graph->values[value].init) {
            odb_build_weight(m->model, made, t);
        } else {
            as_if_put_value(m, value, &from);
            const struct as_if_pairs p = as_if_fed(m, i);
            m->said = m->said && as_if_derive(m, &p, odb_buf_text(&from), made);
        }
        odb_buf_puts(names, made);
        odb_buf_dispose(&from);
        free(made);
    }
}

/* Inputs and weights as they are, whether or not the variant reads them. */
static void as_if_declare(struct as_if *m)
{
    const struct odb_graph *graph = m->s->graph;
    for (int i = 0; i < m->s->node->n_in; i++) {
        int value = m->s->node->in[i];
        struct odb_buf name = ODB_BUF_INIT;
        bool again = false;
        for (int k = 0; k < i; k++)
            again |= m->s->node->in[k] == value;
        if (value < 0 || again || !graph->values[value].init)
            continue;
        as_if_put_value(m, value, &name);
        odb_build_weight(m->model, odb_buf_text(&name), graph->values[value].init);
        odb_buf_dispose(&name);
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct odb_value *value = &graph->values[graph->inputs[i]];
        const struct odb_tensor *t = NULL;
        struct odb_buf name = ODB_BUF_INIT;
        for (int k = 0; k < m->s->node->n_in; k++)
            t = m->s->node->in[k] == value->index ? m->s->in[k] : t;
        if (value->init)
            continue;
        as_if_put_value(m, value->index, &name);
        if (t && t->kind == ODB_TENSOR)
            odb_build_input(m->model, odb_buf_text(&name), t->dtype, t->rank, t->dims);
        else
            m->said = false;
        odb_buf_dispose(&name);
    }
}

/* Whether a result of the call is the variant's as it is. */
static bool as_if_stays(const struct as_if *m, int o)
{
    bool stays = true;
    for (size_t k = 0; k < m->samples.n; k++) {
        const struct as_if_sample *sample = &m->samples.items[k];
        stays = stays && sample->made[o] && sample->is[o] &&
                odb_tensor_identical(sample->made[o], sample->is[o]);
    }
    return stays;
}

/* Says the changed call in a node. */
static void as_if_node(struct as_if *m, const struct odb_call *call)
{
    const struct odb_node *node = m->s->node;
    struct odb_buf in = ODB_BUF_INIT, out = ODB_BUF_INIT, op = ODB_BUF_INIT;
    int opset = odb_model_opset(m->s->graph->model, "");
    if (*node->domain) {
        odb_buf_printf(&op, "%s::", node->domain);
        odb_build_opset(m->model, node->domain, call->opset);
    } else {
        opset = call->opset;
    }
    odb_build_opset(m->model, "", opset ? opset : AS_IF_CAST_OPSET);
    odb_buf_puts(&op, call->op->name);
    as_if_declare(m);
    for (int i = 0; i < call->n_in; i++)
        as_if_operand(m, call->in[i], i, &in);
    for (int o = 0; o < node->n_out; o++) {
        odb_buf_puts(&out, o ? " " : "");
        if (node->out[o] < 0)
            odb_buf_putc(&out, '-');
        else if (as_if_stays(m, o))
            as_if_put_value(m, node->out[o], &out);
        else
            odb_buf_printf(&out, "made_%d", o);
    }
    odb_build_node(m->model, odb_buf_text(&op), node->name, odb_buf_text(&in), odb_buf_text(&out));
    for (size_t a = 0; a < call->attrs.n; a++)
        as_if_attr(m, &call->attrs.items[a]);
    odb_buf_dispose(&in);
    odb_buf_dispose(&out);
    odb_buf_dispose(&op);
}

static enum odb_status as_if_change(void *payload, struct odb_call *call, struct odb_error *err)
{
    struct as_if *m = payload;
    struct change c;
    change_begin(&c, m->s, call);
    enum odb_status status = m->v->row->change ? m->v->row->change(m->v, m->s, &c, err) : ODB_OK;
    if (status == ODB_OK)
        as_if_node(m, call);
    change_end(&c);
    return status == ODB_OK ? ODB_SKIPPED : status; /* it was looked at, that is all */
}

/* What the variant gives on the operands that are explained; NULL: it is no output of the model. */
static const struct odb_tensor *as_if_told(const struct as_if *m, int o)
{
    int value = m->s->node->out[o];
    bool told = value >= 0 && m->s->graph->values[value].is_output;
    return told ? m->samples.items[0].is[o] : NULL;
}

/* What becomes of the changed call's results. */
static void as_if_results(struct as_if *m)
{
    for (int o = 0; o < m->s->node->n_out; o++) {
        const struct odb_tensor *is = as_if_told(m, o);
        const struct as_if_pairs p = as_if_made(m, o);
        struct odb_buf name = ODB_BUF_INIT;
        char from[32];
        if (!is)
            continue;
        snprintf(from, sizeof from, "made_%d", o);
        as_if_put_value(m, m->s->node->out[o], &name);
        if (!as_if_stays(m, o))
            m->said = m->said && as_if_derive(m, &p, from, odb_buf_text(&name));
        odb_build_output_typed(m->model, odb_buf_text(&name), is->dtype, is->rank, is->dims);
        odb_buf_dispose(&name);
    }
}

/* --- the model -------------------------------------------------------------------------------- */

/* Feeds the model what the node is fed in a sample; values: [n_values of it], owned refs. */
static void as_if_feed(const struct accused *s, const struct odb_graph *graph,
                       struct odb_tensor **values)
{
    size_t next = 0;
    for (size_t i = 0; i < s->graph->n_inputs; i++) {
        int fed = s->graph->inputs[i];
        if (s->graph->values[fed].init)
            continue;
        int to = graph->inputs[next++];
        for (int k = 0; k < s->node->n_in; k++)
            if (s->node->in[k] == fed && !values[to])
                values[to] = odb_tensor_ref(s->in[k]);
    }
}

/* Whether t is what the variant gives, or as near as rounding is. */
static bool as_if_near(const struct odb_tensor *t, const struct odb_tensor *is)
{
    struct odb_gap gap;
    if (!t || !is || t->dtype != is->dtype || !odb_tensor_same_shape(t, is))
        return false;
    if (odb_tensor_identical(t, is))
        return true;
    odb_gap_measure(&gap, t, is);
    return gap.comparable && gap.pattern &&
           gap.error <= AS_IF_FLOORS * odb_noise_floor(1, is->dtype);
}

/* Whether the model gives what the variant gives of a sample. */
static bool as_if_gives(const struct as_if *m, const struct odb_cpu *cpu,
                        const struct odb_graph *graph, const struct as_if_sample *sample)
{
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, graph->n_values);
    struct odb_cpu_run run = {.values = values, .precision = ODB_PREC_NATIVE};
    size_t next = 0;
    as_if_feed(&sample->s, graph, values);
    bool same = odb_cpu_execute(cpu, &run, NULL) == ODB_OK;
    for (int o = 0; o < m->s->node->n_out && same; o++)
        if (as_if_told(m, o))
            same = as_if_near(values[graph->outputs[next++]], sample->is[o]);
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    return same;
}

/* Whether the model, run by the reference, gives what the variant gives of all samples. */
static bool as_if_holds(const struct as_if *m, const struct odb_buf *bytes)
{
    struct odb_model *model = NULL;
    struct odb_cpu *cpu = NULL;
    bool same = odb_model_open_bytes(&model, bytes->data, bytes->len, NULL, ".", "as-if.onnx",
                                     NULL) == ODB_OK &&
                odb_cpu_new(&cpu, model, NULL) == ODB_OK;
    for (size_t k = 0; k < m->samples.n && same; k++)
        same = as_if_gives(m, cpu, model->graph, &m->samples.items[k]);
    odb_cpu_free(cpu);
    odb_model_free(model);
    return same;
}

/* ODB_SKIPPED: there is no model. */
static enum odb_status as_if_make(struct as_if *m, struct odb_buf *bytes, struct odb_error *err)
{
    const struct accused *s = m->s;
    struct odb_tensor **none = accused_outputs(s);
    struct odb_buf model = ODB_BUF_INIT;
    m->model = odb_build_new("as_if", 0);
    odb_build_ir_version(m->model, s->graph->model->ir_version);
    enum odb_status status = accused_run(s, ODB_PREC_NATIVE, 0, as_if_change, m, none, err);
    if (status == ODB_SKIPPED && m->said) {
        as_if_results(m);
        odb_build_bytes(m->model, &model);
    }
    if (status == ODB_SKIPPED && m->said && as_if_holds(m, &model)) {
        odb_buf_add(bytes, model.data, model.len);
        status = ODB_OK;
    }
    odb_build_free(m->model);
    odb_buf_dispose(&model);
    accused_drop(s, none);
    free(none);
    return status;
}

/* Whether the variant gives what the target gave of this call, which need not be the one that was
 * explained: a node alone may get another kernel. */
static bool as_if_is_true(const struct accused *s, const struct variant *v)
{
    struct explain_hit hit = {0};
    return s->shown >= 0 && explain_judge(v, s, &hit) && hit.exact;
}

enum odb_status odb_explain_as_if(const struct odb_explain_question *q, const char *variant,
                                  struct odb_buf *bytes, struct odb_error *err)
{
    struct accused s;
    struct as_if m = {.said = true};
    enum odb_status status = accused_make(&s, q, q->in, q->out, err);
    struct variant *v = status == ODB_OK ? variant_find(&s, variant) : NULL;
    m.v = v;
    if (status == ODB_OK &&
        (!m.v || m.v->row->makes || q->model->graph->n_nodes != 1 || !as_if_is_true(&s, m.v)))
        status = ODB_SKIPPED;
    if (status == ODB_OK)
        status = as_if_samples_make(&m.samples, &s, m.v);
    m.s = &m.samples.items[0].s;
    if (status == ODB_OK)
        status = as_if_make(&m, bytes, err);
    as_if_samples_dispose(&m.samples);
    variant_free(v);
    accused_dispose(&s);
    return status;
}
