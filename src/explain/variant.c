/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/variant.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/formal.h"

/* The families in the order in which they are tried. */
static const struct variant_row *const variant_families[] = {variants_own,       variants_attribute,
                                                             variants_input,     variants_number,
                                                             variants_elsewhere, variants_output};

bool variant_is_for(const char *ops, const char *op_type)
{
    size_t len = strlen(op_type);
    if (!ops[0])
        return true;
    for (const char *p = ops; p; p = strchr(p, '|')) {
        p += *p == '|';
        if (strncmp(p, op_type, len) == 0 && (p[len] == '|' || !p[len]))
            return true;
    }
    return false;
}

void variant_free(struct variant *v)
{
    if (!v)
        return;
    odb_buf_dispose(&v->name);
    odb_buf_dispose(&v->text);
    free(v->list);
    free(v);
}

char *variant_name(const struct variant *v)
{
    return odb_xasprintf("%s%s", v->row->name, odb_buf_text(&v->name));
}

static struct variant *variant_new(const struct accused *s, const struct variant_row *row, size_t k,
                                   enum choice *choice)
{
    struct variant *v = odb_new(struct variant);
    *v = (struct variant){
        .row = row, .choice = k, .fitted = row->fitted, .name = ODB_BUF_INIT, .text = ODB_BUF_INIT};
    *choice = row->choose(s, k, v);
    if (*choice == CHOICE_MADE)
        return v;
    variant_free(v);
    return NULL;
}

struct variant *variant_choice(const struct accused *s, const struct variant_row *row, size_t k)
{
    enum choice choice;
    return variant_new(s, row, k, &choice);
}

/* The choices of one row; false: fn says stop. */
static bool variant_choices(const struct accused *s, const struct variant_row *row,
                            variant_each_fn *fn, void *payload)
{
    enum choice choice = CHOICE_SKIP;
    bool go_on = true;
    for (size_t k = 0; choice != CHOICE_END && go_on; k++) {
        struct variant *v = variant_new(s, row, k, &choice);
        bool take = false;
        if (v)
            go_on = fn(payload, v, &take);
        if (!take)
            variant_free(v);
    }
    return go_on;
}

void variant_each(const struct accused *s, variant_each_fn *fn, void *payload)
{
    for (size_t f = 0; f < ODB_COUNT(variant_families); f++)
        for (const struct variant_row *row = variant_families[f]; row->name; row++)
            if (variant_is_for(row->ops, s->node->op_type) && !variant_choices(s, row, fn, payload))
                return;
}

/* --- running ---------------------------------------------------------------------------------- */

struct variant_run {
    const struct variant *v;
    const struct accused *s;
    struct change change;
};

void change_begin(struct change *c, const struct accused *s, struct odb_call *call)
{
    *c = (struct change){.call = call};
    c->attrs = odb_new_n(struct odb_attr, call->attrs.n + 4);
    c->in = odb_new_n(const struct odb_tensor *, s->node->n_in + 1);
    if (call->attrs.n)
        memcpy(c->attrs, call->attrs.items, call->attrs.n * sizeof *c->attrs);
    if (call->n_in)
        memcpy(c->in, call->in, (size_t)call->n_in * sizeof *c->in);
    call->attrs.items = c->attrs;
    call->in = c->in;
    call->memo = NULL;
}

static enum odb_status variant_change(void *payload, struct odb_call *call, struct odb_error *err)
{
    struct variant_run *run = payload;
    change_begin(&run->change, run->s, call);
    return run->v->row->change(run->v, run->s, &run->change, err);
}

void change_end(struct change *c)
{
    for (size_t i = 0; i < c->made.n; i++)
        odb_tensor_unref(c->made.items[i]);
    free(c->made.items);
    free(c->attrs);
    free(c->in);
}

enum odb_status variant_replay(const struct variant *v, const struct accused *s,
                               enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                               struct odb_error *err)
{
    struct variant_run run = {v, s, {0}};
    bool replays = v->row->change || precision == ODB_PREC_NOISY;
    enum odb_status status = ODB_OK;
    memset(out, 0, (size_t)s->node->n_out * sizeof *out);
    if (v->row->makes)
        return ODB_OK;
    if (replays)
        status =
            accused_run(s, precision, seed, v->row->change ? variant_change : NULL, &run, out, err);
    for (int o = 0; o < s->node->n_out && !replays; o++)
        out[o] = odb_tensor_ref(precision == ODB_PREC_NATIVE ? s->native[o] : s->r[o]);
    change_end(&run.change);
    return status;
}

enum odb_status variant_finish(const struct variant *v, const struct accused *s,
                               struct odb_tensor **out, struct odb_error *err)
{
    enum odb_status status = v->row->result ? v->row->result(v, s, out, err) : ODB_OK;
    if (status != ODB_OK)
        accused_drop(s, out);
    return status;
}

enum odb_status variant_run(const struct variant *v, const struct accused *s,
                            enum odb_precision precision, uint64_t seed, struct odb_tensor **out,
                            struct odb_error *err)
{
    ODB_TRY(variant_replay(v, s, precision, seed, out, err));
    return variant_finish(v, s, out, err);
}

/* --- changing --------------------------------------------------------------------------------- */

void change_drop_attr(struct change *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->call->attrs.n; i++)
        if (strcmp(c->attrs[i].name, name) != 0)
            c->attrs[n++] = c->attrs[i];
    c->call->attrs.n = n;
}

void change_attr(struct change *c, const struct odb_attr *attr)
{
    change_drop_attr(c, attr->name);
    c->attrs[c->call->attrs.n++] = *attr;
}

void change_ints(struct change *c, const char *name, const int64_t *ints, size_t n)
{
    change_attr(c, &(struct odb_attr){.name = name, .type = ODB_ATTR_INTS, .n = n, .ints = ints});
}

void change_input(struct change *c, int i, struct odb_tensor *t)
{
    c->in[i] = t;
    if (t)
        odb_push(&c->made, t);
    c->call->n_in = ODB_MAX(c->call->n_in, i + 1);
    while (c->call->n_in > c->call->op->min_in && !c->in[c->call->n_in - 1])
        c->call->n_in--;
}

/* --- asking ----------------------------------------------------------------------------------- */

const struct odb_attr *accused_attr(const struct accused *s, const char *name)
{
    return odb_attrs_find(&s->node->attrs, name);
}

int64_t accused_int(const struct accused *s, const char *name, int64_t fallback)
{
    const struct odb_attr *attr = accused_attr(s, name);
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    return attr ? attr->i : spec && spec->def ? strtoll(spec->def, NULL, 10) : fallback;
}

double accused_float(const struct accused *s, const char *name, double fallback)
{
    const struct odb_attr *attr = accused_attr(s, name);
    const struct odb_attr_spec *spec = odb_op_attr(s->op, name);
    return attr ? (double)attr->f : spec && spec->def ? strtod(spec->def, NULL) : fallback;
}

const struct odb_tensor *accused_in(const struct accused *s, int i)
{
    const struct odb_tensor *t = i < s->node->n_in ? s->in[i] : NULL;
    return t && t->kind == ODB_TENSOR && t->data ? t : NULL;
}

void accused_put_input(const struct accused *s, int i, struct odb_buf *out)
{
    char formal[ODB_FORMAL_NAME], key[512];
    odb_formal_name(s->node, true, i, formal);
    if (formal[0])
        odb_buf_printf(out, "input %s", formal);
    else
        odb_buf_printf(out, "input %d", i);
    if (s->node->in[i] < 0)
        return;
    odb_buf_puts(out, " (");
    odb_buf_put_shown(out,
                      odb_value_key(s->graph, &s->graph->values[s->node->in[i]], key, sizeof key));
    odb_buf_putc(out, ')');
}
