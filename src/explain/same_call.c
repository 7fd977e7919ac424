/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/same_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kernels/core/kern.h"
#include "model/text/model_text.h"

struct same_call {
    const struct accused *s;
    const struct variant *v;
    struct odb_buf text;
    bool said; /* all of it */
};

/* Of lists that the operator's row has no default for: what it takes where there is none. */
static bool same_call_usual(const struct odb_attr *attr)
{
    int64_t usual = !strcmp(attr->name, "pads") ? 0 : 1;
    bool listed = !strcmp(attr->name, "pads") || !strcmp(attr->name, "strides") ||
                  !strcmp(attr->name, "dilations");
    for (size_t i = 0; i < attr->n && listed; i++)
        listed = attr->ints && attr->ints[i] == usual;
    return listed;
}

static void same_call_put(struct same_call *c, const struct odb_call *call)
{
    const struct odb_attr_spec *spec = call->op->attrs;
    odb_buf_printf(&c->text, "%s %d", call->op->name, call->op->since);
    for (; spec && spec->name; spec++) {
        const struct odb_attr *attr = odb_attrs_find(&call->attrs, spec->name);
        odb_buf_printf(&c->text, " %s=", spec->name);
        if (attr && !(!spec->def && same_call_usual(attr)))
            odb_attr_text(attr, &c->text);
        else if (spec->def)
            odb_buf_printf(&c->text, spec->type == ODB_ATTR_STRING ? "\"%s\"" : "%s", spec->def);
    }
    for (int i = 0; i < c->s->node->n_in; i++) {
        const struct odb_tensor *t = i < call->n_in ? call->in[i] : NULL;
        odb_buf_puts(&c->text, t ? " x" : " -");
        c->said &= !t || t == c->s->in[i];
    }
}

static enum odb_status same_call_look(void *payload, struct odb_call *call, struct odb_error *err)
{
    struct same_call *c = payload;
    struct change change;
    c->said = true;
    for (int i = 0; i < c->s->node->n_in; i++) /* double mode may have made others of them */
        c->said &= i >= call->n_in || call->in[i] == c->s->in[i];
    change_begin(&change, c->s, call);
    enum odb_status status = c->v->row->change(c->v, c->s, &change, err);
    if (status == ODB_OK)
        same_call_put(c, call);
    change_end(&change);
    return status == ODB_OK ? ODB_SKIPPED : status; /* it was looked at, that is all */
}

char *same_call(const struct accused *s, const struct variant *v)
{
    struct same_call c = {.s = s, .v = v, .text = ODB_BUF_INIT};
    if (s->group || v->under || !v->row->change || v->row->result || v->row->makes)
        return NULL;
    struct odb_tensor **none = accused_outputs(s);
    bool looked = accused_run(s, ODB_PREC_NATIVE, 0, same_call_look, &c, none, NULL) == ODB_SKIPPED;
    accused_drop(s, none);
    free(none);
    if (looked && c.said)
        return odb_buf_take(&c.text);
    odb_buf_dispose(&c.text);
    return NULL;
}
