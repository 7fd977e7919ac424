/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A variant is code that changes a call. What it made of the call is looked at, and said in
 * operators: other attributes and another version are the node's own, an operand that was left out
 * or exchanged is wired so, a weight has other contents. An operand that is fed, and a result, may
 * have become another type and back, a line (a x + b) or a transpose of what it was, which is found
 * by trying these. Whatever else it is, there is no model.
 */
#include "explain/as_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/variant.h"
#include "model/read/load.h"
#include "model/write/build.h"
#include "reference/trace.h"

#define AS_IF_FLOORS 8      /* of noise, that a line may be off: it is rounded twice */
#define AS_IF_CAST_OPSET 19 /* has every type that a number may go through */

struct as_if {
    const struct accused *s;
    const struct variant *v;
    struct odb_builder *model; /* owned */
    struct odb_tensor **made;  /* owned array of owned refs; [n_out] the changed call's results */
    struct odb_tensor **is;    /* likewise: what the variant makes of them */
    size_t n_made;             /* values that have names of their own here */
    bool said;                 /* all of it, up to now */
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

/* Whether now is was through a narrower type. */
static bool as_if_through(struct as_if *m, const struct odb_tensor *was,
                          const struct odb_tensor *now, const char *from, const char *to)
{
    static const enum odb_dtype types[] = {ODB_BF16,   ODB_F16, ODB_F8E4M3FN,
                                           ODB_F8E5M2, ODB_F32, ODB_I32};
    bool found = false;
    for (size_t i = 0; i < ODB_COUNT(types) && !found; i++) {
        struct odb_tensor *narrow = NULL, *back = NULL;
        found = types[i] != was->dtype && odb_tensor_cast(&narrow, was, types[i], NULL) == ODB_OK &&
                odb_tensor_cast(&back, narrow, was->dtype, NULL) == ODB_OK &&
                odb_tensor_identical(back, now);
        odb_tensor_unref(narrow);
        odb_tensor_unref(back);
        if (!found)
            continue;
        char *name = as_if_new_name(m);
        as_if_cast(m, from, name, types[i]);
        as_if_cast(m, name, to, was->dtype);
        free(name);
    }
    return found;
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

/* The line through two elements of was and now that are far apart; false: there is none. */
static bool as_if_fit(const struct odb_tensor *was, const struct odb_tensor *now, double *a,
                      double *b)
{
    size_t low = 0, high = 0;
    for (size_t i = 0; i < was->count; i++) {
        double x = odb_tensor_f64(was, i);
        if (!isfinite(x) || !isfinite(odb_tensor_f64(now, i)))
            return false;
        low = x < odb_tensor_f64(was, low) ? i : low;
        high = x > odb_tensor_f64(was, high) ? i : high;
    }
    double from = odb_tensor_f64(was, low), width = odb_tensor_f64(was, high) - from;
    double at = odb_tensor_f64(now, low);
    *a = width > 0 ? (odb_tensor_f64(now, high) - at) / width : 0;
    *b = at - *a * from;
    return true;
}

/* Whether now is a was + b, rounded; was is of a float type. */
static bool as_if_line(struct as_if *m, const struct odb_tensor *was, const struct odb_tensor *now,
                       const char *from, const char *to)
{
    double a, b, most = 0, eps = 4 * odb_noise_floor(1, was->dtype);
    if (!odb_dtype_is_float(was->dtype) || !was->count || !as_if_fit(was, now, &a, &b))
        return false;
    for (size_t i = 0; i < was->count; i++)
        most = fmax(most, fmax(fabs(a * odb_tensor_f64(was, i)), fabs(odb_tensor_f64(now, i))));
    b = fabs(b) <= eps * most ? 0 : b;
    for (size_t i = 0; i < was->count; i++)
        if (fabs(a * odb_tensor_f64(was, i) + b - odb_tensor_f64(now, i)) > eps * most)
            return false;
    char *between = b != 0 ? as_if_new_name(m) : odb_xstrdup(to);
    as_if_with_number(m, "Mul", a, was->dtype, from, between);
    if (b != 0)
        as_if_with_number(m, "Add", b, was->dtype, between, to);
    free(between);
    return true;
}

/* Whether now has the axes of was in another order, and is of the same shape. */
static bool as_if_transposed(struct as_if *m, const struct odb_tensor *was,
                             const struct odb_tensor *now, const char *from, const char *to)
{
    bool found = false;
    for (int i = 0; i < was->rank && !found; i++)
        for (int k = i + 1; k < was->rank && !found; k++) {
            struct odb_tensor *t = NULL;
            int perm[ODB_MAX_RANK];
            int64_t axes[ODB_MAX_RANK];
            for (int d = 0; d < was->rank; d++)
                axes[d] = perm[d] = d == i ? k : d == k ? i : d;
            found = tensor_transpose(&t, was, perm, NULL) == ODB_OK && odb_tensor_identical(t, now);
            odb_tensor_unref(t);
            if (!found)
                continue;
            odb_build_node(m->model, "Transpose", "", from, to);
            odb_build_attr_ints(m->model, "perm", (size_t)was->rank, axes);
        }
    return found;
}

/* Says in nodes how now comes of was; false: none of these ways. */
static bool as_if_derive(struct as_if *m, const struct odb_tensor *was,
                         const struct odb_tensor *now, const char *from, const char *to)
{
    bool alike = was && now && was->kind == ODB_TENSOR && now->kind == ODB_TENSOR && was->data &&
                 now->data && was->dtype == now->dtype;
    if (!alike)
        return false;
    if (!odb_tensor_same_shape(was, now))
        return as_if_transposed(m, was, now, from, to);
    return as_if_through(m, was, now, from, to) || as_if_line(m, was, now, from, to) ||
           as_if_transposed(m, was, now, from, to);
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
            m->said = m->said && as_if_derive(m, s->in[i], t, odb_buf_text(&from), made);
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
    return m->made[o] && m->is[o] && odb_tensor_identical(m->made[o], m->is[o]);
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

/* Whether a result is an output of the model. */
static bool as_if_is_told(const struct as_if *m, int o)
{
    int value = m->s->node->out[o];
    return value >= 0 && m->s->graph->values[value].is_output && m->is[o];
}

/* What becomes of the changed call's results. */
static void as_if_results(struct as_if *m)
{
    for (int o = 0; o < m->s->node->n_out; o++) {
        struct odb_buf name = ODB_BUF_INIT;
        char from[32];
        if (!as_if_is_told(m, o))
            continue;
        snprintf(from, sizeof from, "made_%d", o);
        as_if_put_value(m, m->s->node->out[o], &name);
        if (!as_if_stays(m, o))
            m->said = m->said && as_if_derive(m, m->made[o], m->is[o], from, odb_buf_text(&name));
        odb_build_output_typed(m->model, odb_buf_text(&name), m->is[o]->dtype, m->is[o]->rank,
                               m->is[o]->dims);
        odb_buf_dispose(&name);
    }
}

/* --- the model -------------------------------------------------------------------------------- */

/* Feeds the model what the node was fed; values: [n_values of it], owned refs. */
static void as_if_feed(const struct as_if *m, const struct odb_graph *graph,
                       struct odb_tensor **values)
{
    const struct odb_graph *from = m->s->graph;
    size_t next = 0;
    for (size_t i = 0; i < from->n_inputs; i++) {
        int value = from->inputs[i], fed = from->values[value].init ? ODB_NO_VALUE : value;
        int to = fed == ODB_NO_VALUE ? ODB_NO_VALUE : graph->inputs[next++];
        for (int k = 0; k < m->s->node->n_in && to != ODB_NO_VALUE; k++)
            if (m->s->node->in[k] == fed && !values[to])
                values[to] = odb_tensor_ref(m->s->in[k]);
    }
}

/* Whether t is what the variant gives, or as near as rounding is. */
static bool as_if_near(const struct odb_tensor *t, const struct odb_tensor *is)
{
    struct odb_gap gap;
    if (!t || t->dtype != is->dtype || !odb_tensor_same_shape(t, is))
        return false;
    if (odb_tensor_identical(t, is))
        return true;
    odb_gap_measure(&gap, t, is);
    return gap.comparable && gap.pattern &&
           gap.error <= AS_IF_FLOORS * odb_noise_floor(1, is->dtype);
}

/* Whether the model, run by the reference, gives what the variant gives. */
static bool as_if_gives(const struct as_if *m, const struct odb_buf *bytes)
{
    struct odb_model *model = NULL;
    struct odb_cpu *cpu = NULL;
    struct odb_tensor **values = NULL;
    size_t next = 0;
    bool same = odb_model_open_bytes(&model, bytes->data, bytes->len, NULL, ".", "as-if.onnx",
                                     NULL) == ODB_OK &&
                odb_cpu_new(&cpu, model, NULL) == ODB_OK;
    if (same) {
        values = odb_new_n(struct odb_tensor *, model->graph->n_values);
        as_if_feed(m, model->graph, values);
        struct odb_cpu_run run = {.values = values, .precision = ODB_PREC_NATIVE};
        same = odb_cpu_execute(cpu, &run, NULL) == ODB_OK;
    }
    for (int o = 0; o < m->s->node->n_out && same; o++)
        if (as_if_is_told(m, o))
            same = as_if_near(values[model->graph->outputs[next++]], m->is[o]);
    for (size_t v = 0; values && v < model->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    odb_cpu_free(cpu);
    odb_model_free(model);
    return same;
}

struct as_if_sought {
    const char *name; /* borrowed */
    struct variant *v;
};

static bool as_if_find(void *payload, struct variant *v, bool *take)
{
    struct as_if_sought *sought = payload;
    char *name = variant_name(v);
    *take = !strcmp(name, sought->name);
    if (*take)
        sought->v = v;
    free(name);
    return !*take;
}

static enum odb_status as_if_make(struct as_if *m, struct odb_buf *bytes, struct odb_error *err)
{
    const struct accused *s = m->s;
    struct odb_tensor **none = accused_outputs(s);
    struct odb_buf model = ODB_BUF_INIT;
    enum odb_status status = variant_replay(m->v, s, ODB_PREC_NATIVE, 0, m->made, err);
    if (status == ODB_OK)
        status = variant_run(m->v, s, ODB_PREC_NATIVE, 0, m->is, err);
    if (status == ODB_OK)
        status = accused_run(s, ODB_PREC_NATIVE, 0, as_if_change, m, none, err);
    if (status == ODB_SKIPPED && m->said) {
        as_if_results(m);
        odb_build_bytes(m->model, &model);
    }
    if (status == ODB_SKIPPED && m->said && as_if_gives(m, &model)) {
        odb_buf_add(bytes, model.data, model.len);
        status = ODB_OK;
    }
    odb_buf_dispose(&model);
    accused_drop(s, none);
    free(none);
    return status;
}

enum odb_status odb_explain_as_if(const struct odb_explain_question *q, const char *variant,
                                  struct odb_buf *bytes, struct odb_error *err)
{
    struct accused s;
    struct as_if_sought sought = {.name = variant};
    struct as_if m = {.s = &s, .said = true};
    enum odb_status status = accused_make(&s, q, q->in, q->out, err);
    if (status == ODB_OK)
        variant_each(&s, as_if_find, &sought);
    m.v = sought.v;
    if (status == ODB_OK && (!m.v || m.v->row->makes || q->model->graph->n_nodes != 1))
        status = ODB_SKIPPED;
    if (status == ODB_OK) {
        m.model = odb_build_new("as_if", 0);
        odb_build_ir_version(m.model, q->model->ir_version);
        m.made = accused_outputs(&s);
        m.is = accused_outputs(&s);
        status = as_if_make(&m, bytes, err);
        accused_drop(&s, m.made);
        accused_drop(&s, m.is);
    }
    if (m.model)
        odb_build_free(m.model);
    free(m.made);
    free(m.is);
    variant_free(sought.v);
    accused_dispose(&s);
    return status;
}
