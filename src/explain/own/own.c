/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The family own: rows of the user's (own_rows.h), tried before all others. One row of the
 * catalogue stands for all of them: its choice k is row k of the file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/catalogue/attribute.h"
#include "explain/catalogue/number.h"
#include "explain/own/own_rows.h"
#include "explain/variant.h"
#include "model/formal.h"

/* --- the call --------------------------------------------------------------------------------- */

/* The number of an input by its name or number; -1: the node has none there. */
static int own_input(const struct accused *s, const char *name)
{
    char formal[ODB_FORMAL_NAME];
    if (name[strspn(name, "0123456789")] == '\0') {
        int i = (int)strtol(name, NULL, 10);
        return i < s->node->n_in && s->in[i] ? i : -1;
    }
    for (int i = 0; i < s->node->n_in; i++)
        if (s->in[i] && !strcmp(odb_formal_name(s->node, true, i, formal), name))
            return i;
    return -1;
}

/* The value that is set, or what the node has and so much more. */
static enum odb_status own_set_attribute(const struct own_change *own, const struct accused *s,
                                         struct change *c, struct odb_error *err)
{
    struct odb_attr attr = own->value.attr;
    double sign = own->numbers[0];
    (void)err;
    if (own->value.name == NULL) {
        change_drop_attr(c, own->name);
        return ODB_OK;
    }
    attr.i = sign != 0 ? accused_int(s, own->name, 0) + (int64_t)sign * attr.i : attr.i;
    attr.f = sign != 0 ? (float)(accused_float(s, own->name, 0) + sign * (double)attr.f) : attr.f;
    change_attr(c, &attr);
    if (attr.type == ODB_ATTR_INTS)
        attribute_settle(s, c);
    return ODB_OK;
}

static enum odb_status own_missing(const struct own_change *own, const struct accused *s,
                                   struct change *c, struct odb_error *err)
{
    (void)err;
    change_input(c, own_input(s, own->name), NULL);
    return ODB_OK;
}

/* A factor, and what is added. */
struct own_line {
    double times, plus;
};

static double own_line(const void *payload, size_t i, double x)
{
    const struct own_line *line = payload;
    (void)i;
    return (line->times != 0 ? line->times * x : 0) + line->plus;
}

static enum odb_status own_map_input(const struct own_change *own, const struct accused *s,
                                     struct change *c, struct own_line line, struct odb_error *err)
{
    int i = own_input(s, own->name);
    struct odb_tensor *t = NULL;
    if (!c->in[i])
        return ODB_SKIPPED;
    ODB_TRY(tensor_map(&t, c->in[i], own_line, &line, err));
    change_input(c, i, t);
    return ODB_OK;
}

static enum odb_status own_zero(const struct own_change *own, const struct accused *s,
                                struct change *c, struct odb_error *err)
{
    return own_map_input(own, s, c, (struct own_line){0, 0}, err);
}

static enum odb_status own_scaled(const struct own_change *own, const struct accused *s,
                                  struct change *c, struct odb_error *err)
{
    return own_map_input(own, s, c, (struct own_line){own->numbers[0], 0}, err);
}

static enum odb_status own_plus(const struct own_change *own, const struct accused *s,
                                struct change *c, struct odb_error *err)
{
    return own_map_input(own, s, c, (struct own_line){1, own->numbers[0]}, err);
}

static enum odb_status own_swapped(const struct own_change *own, const struct accused *s,
                                   struct change *c, struct odb_error *err)
{
    int i = own_input(s, own->name), j = own_input(s, own->other);
    const struct odb_tensor *t = c->in[i];
    (void)err;
    c->in[i] = c->in[j];
    c->in[j] = t;
    return ODB_OK;
}

static enum odb_status own_reorder(const struct own_change *own, const struct accused *s,
                                   struct change *c, bool misread, struct odb_error *err)
{
    int i = own_input(s, own->name);
    struct odb_tensor *t = NULL;
    if (!c->in[i] || c->in[i]->rank != own->n_perm)
        return ODB_SKIPPED;
    ODB_TRY((misread ? tensor_misread : tensor_transpose)(&t, c->in[i], own->perm, err));
    change_input(c, i, t);
    return ODB_OK;
}

static enum odb_status own_transposed(const struct own_change *own, const struct accused *s,
                                      struct change *c, struct odb_error *err)
{
    return own_reorder(own, s, c, false, err);
}

static enum odb_status own_misread(const struct own_change *own, const struct accused *s,
                                   struct change *c, struct odb_error *err)
{
    return own_reorder(own, s, c, true, err);
}

static enum odb_status own_operands(const struct own_change *own, const struct accused *s,
                                    struct change *c, struct odb_error *err)
{
    for (int i = 0; i < c->call->n_in; i++) {
        struct odb_tensor *t = NULL;
        if (number_steers(s, i) || !number_fits(own->type, c->in[i]))
            continue;
        ODB_TRY(number_through(own->type, c->in[i], &t, err));
        change_input(c, i, t);
    }
    return ODB_OK;
}

/* --- what was made ---------------------------------------------------------------------------- */

static enum odb_status own_results(const struct own_change *own, const struct accused *s,
                                   struct odb_tensor **out, struct odb_error *err)
{
    for (int o = 0; o < s->node->n_out; o++) {
        struct odb_tensor *t = NULL;
        if (!number_fits(own->type, out[o]))
            continue;
        ODB_TRY(number_through(own->type, out[o], &t, err));
        tensor_replace(&out[o], t);
    }
    return ODB_OK;
}

static enum odb_status own_map_output(const struct accused *s, struct odb_tensor **out,
                                      double (*fn)(const void *, size_t, double),
                                      const void *payload, struct odb_error *err)
{
    struct odb_tensor *t = NULL;
    if (s->shown < 0 || !out[s->shown])
        return ODB_SKIPPED;
    ODB_TRY(tensor_map(&t, out[s->shown], fn, payload, err));
    tensor_replace(&out[s->shown], t);
    return ODB_OK;
}

static enum odb_status own_scaled_output(const struct own_change *own, const struct accused *s,
                                         struct odb_tensor **out, struct odb_error *err)
{
    return own_map_output(s, out, own_line, &(struct own_line){own->numbers[0], 0}, err);
}

static enum odb_status own_plus_output(const struct own_change *own, const struct accused *s,
                                       struct odb_tensor **out, struct odb_error *err)
{
    return own_map_output(s, out, own_line, &(struct own_line){1, own->numbers[0]}, err);
}

static double own_clamp(const void *payload, size_t i, double x)
{
    const double *bounds = payload;
    (void)i;
    return isnan(x) ? x : fmin(fmax(x, bounds[0]), bounds[1]);
}

static enum odb_status own_clamped_output(const struct own_change *own, const struct accused *s,
                                          struct odb_tensor **out, struct odb_error *err)
{
    return own_map_output(s, out, own_clamp, own->numbers, err);
}

static double own_nan(const void *payload, size_t i, double x)
{
    (void)payload;
    (void)i;
    return isnan(x) ? 0 : x;
}

static enum odb_status own_nan_output(const struct own_change *own, const struct accused *s,
                                      struct odb_tensor **out, struct odb_error *err)
{
    (void)own;
    return own_map_output(s, out, own_nan, NULL, err);
}

/* An axis whose elements stand so many places further on, round its end. */
struct own_roll {
    size_t n, inner, by;
};

static int64_t own_rolled(const void *payload, size_t i)
{
    const struct own_roll *roll = payload;
    size_t at = i / roll->inner % roll->n, from = (at + roll->n - roll->by) % roll->n;
    return (int64_t)(i - at * roll->inner + from * roll->inner);
}

static enum odb_status own_rolled_output(const struct own_change *own, const struct accused *s,
                                         struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *made = s->shown < 0 ? NULL : out[s->shown];
    struct odb_tensor *t = NULL;
    int64_t by = (int64_t)own->numbers[0];
    int axis = (int)own->numbers[1];
    size_t outer;
    struct own_roll roll;
    axis += made && axis < 0 ? made->rank : 0;
    if (!made || axis < 0 || axis >= made->rank || !made->dims[axis])
        return ODB_SKIPPED;
    tensor_around(made, axis, &outer, &roll.n, &roll.inner);
    roll.by = (size_t)((by % (int64_t)roll.n + (int64_t)roll.n) % (int64_t)roll.n);
    ODB_TRY(tensor_gather(&t, made, own_rolled, &roll, err));
    tensor_replace(&out[s->shown], t);
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

const struct own_kind own_kinds[] = {
    {"attribute", "", "", "attribute NAME=VALUE, NAME+=N, NAME-=N, or NAME dropped",
     own_set_attribute, NULL},
    {"input", "missing", "", "input NAME missing", own_missing, NULL},
    {"input", "zero", "", "input NAME zero", own_zero, NULL},
    {"input", "scaled", "n", "input NAME scaled FACTOR", own_scaled, NULL},
    {"input", "plus", "n", "input NAME plus NUMBER", own_plus, NULL},
    {"input", "swapped", "i", "input NAME swapped NAME", own_swapped, NULL},
    {"input", "transposed", "p", "input NAME transposed 0,2,1", own_transposed, NULL},
    {"input", "misread", "p", "input NAME misread 0,2,1", own_misread, NULL},
    {"operands", "", "t", "operands TYPE", own_operands, NULL},
    {"results", "", "t", "results TYPE", NULL, own_results},
    {"output", "scaled", "n", "output scaled FACTOR", NULL, own_scaled_output},
    {"output", "plus", "n", "output plus NUMBER", NULL, own_plus_output},
    {"output", "clamped", "nn", "output clamped LOW HIGH", NULL, own_clamped_output},
    {"output", "rolled", "ww", "output rolled PLACES AXIS", NULL, own_rolled_output},
    {"output", "nan-as-0", "", "output nan-as-0", NULL, own_nan_output},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

/* --- the row ---------------------------------------------------------------------------------- */

/* Whether the call has what a change is of. */
static bool own_applies(const struct own_change *own, const struct accused *s)
{
    bool attribute = own->kind->change == own_set_attribute;
    const struct odb_attr_spec *spec = attribute ? odb_op_attr(s->op, own->name) : NULL;
    if (attribute)
        return own->value.name ? spec && spec->type == own->value.attr.type
                               : accused_attr(s, own->name) != NULL;
    return (!own->name || own_input(s, own->name) >= 0) &&
           (!own->other || own_input(s, own->other) >= 0);
}

static const struct own_row *own_row(const struct accused *s, size_t k)
{
    const struct odb_own_rows *rows = s->q->own;
    return rows && k < rows->items.n ? &rows->items.items[k] : NULL;
}

static enum choice own_choose(const struct accused *s, size_t k, struct variant *v)
{
    const struct own_row *row = own_row(s, k);
    if (!row)
        return CHOICE_END;
    bool applies = variant_is_for(row->ops, s->node->op_type);
    for (size_t i = 0; i < row->changes.n && applies; i++)
        applies = own_applies(&row->changes.items[i], s);
    odb_buf_puts(&v->name, row->name);
    odb_buf_printf(&v->text, "as your row says: %s", row->text);
    return applies ? CHOICE_MADE : CHOICE_SKIP;
}

static enum odb_status own_change(const struct variant *v, const struct accused *s,
                                  struct change *c, struct odb_error *err)
{
    const struct own_row *row = own_row(s, v->choice);
    for (size_t i = 0; i < row->changes.n; i++) {
        const struct own_change *own = &row->changes.items[i];
        if (own->kind->change)
            ODB_TRY(own->kind->change(own, s, c, err));
    }
    return ODB_OK;
}

static enum odb_status own_result(const struct variant *v, const struct accused *s,
                                  struct odb_tensor **out, struct odb_error *err)
{
    const struct own_row *row = own_row(s, v->choice);
    for (size_t i = 0; i < row->changes.n; i++) {
        const struct own_change *own = &row->changes.items[i];
        if (own->kind->change == own_set_attribute)
            ODB_TRY(attribute_cut_off(v, s, out, err));
        if (own->kind->result)
            ODB_TRY(own->kind->result(own, s, out, err));
    }
    return ODB_OK;
}

const struct variant_row variants_own[] = {
    {"", "own/", own_choose, own_change, own_result, false, 0},
    {NULL, NULL, NULL, NULL, NULL, false, 0},
};
