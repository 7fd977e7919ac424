/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What differs between two models, in words.
 */
#include "twomodels/against_int.h"

#include <math.h>
#include <string.h>

#include "report/integers.h"
#include "report/report.h"
#include "run/value_report.h"
#include "model/text/model_text.h"

#define AGAINST_LISTED 4 /* weights, attributes in a text */

/* --- what differs within ---------------------------------------------------------------------- */

static bool against_suspicious(enum odb_fate fate)
{
    return fate == ODB_FATE_DIFFERENT || fate == ODB_FATE_SCALED;
}

static void against_put_weight(const struct against *x, const struct odb_weight_pair *w,
                               struct odb_buf *out)
{
    odb_buf_put_shown(out, x->a->values[w->original].name);
    if (w->fate == ODB_FATE_SCALED) {
        odb_buf_puts(out, " is scaled by channel");
        return;
    }
    size_t count = x->b->values[w->other].init->count;
    odb_buf_printf(out,
                   " is another one in %zu of %zu elements, by up to %.3g (element %zu: %.6g "
                   "here, %.6g there)",
                   w->n_off, count, w->error, w->at, w->here, w->there);
    if (w->step > 0)
        odb_buf_printf(out, ", where half a quantisation step is %.3g", w->step / 2);
}

void against_weights_within(const struct against *x, struct against_region *r)
{
    size_t told = 0;
    for (size_t i = 0; i < x->n_weights; i++) {
        const struct odb_weight_pair *w = &x->weights[i];
        const struct odb_value *value = &x->a->values[w->original];
        bool read = false;
        for (size_t c = 0; c < value->n_consumers && w->other >= 0; c++)
            read |= r->here[value->consumers[c]];
        if (!read || !against_suspicious(w->fate) || told++ >= AGAINST_LISTED)
            continue;
        odb_buf_puts(&r->words, "Weight ");
        against_put_weight(x, w, &r->words);
        odb_buf_puts(&r->words, ". ");
    }
}

static void against_put_attr(const struct against *x, struct against_region *r, int m,
                             const char *name, const struct odb_attr *a, const struct odb_attr *b)
{
    struct odb_buf text[2] = {ODB_BUF_INIT, ODB_BUF_INIT};
    const struct odb_attr *attrs[2] = {a, b};
    for (int i = 0; i < 2; i++)
        if (attrs[i])
            odb_attr_text(attrs[i], &text[i]);
        else
            odb_buf_puts(&text[i], "not set");
    if (strcmp(odb_buf_text(&text[0]), odb_buf_text(&text[1])) != 0) {
        odb_buf_puts(&r->words, "Attribute ");
        odb_buf_put_shown(&r->words, name);
        odb_buf_puts(&r->words, " of ");
        odb_node_put(x->b, m, &r->words);
        odb_buf_printf(&r->words, " is %.80s where the original has %.80s. ",
                       odb_buf_text(&text[1]), odb_buf_text(&text[0]));
    }
    odb_buf_dispose(&text[0]);
    odb_buf_dispose(&text[1]);
}

void against_attrs_within(const struct against *x, struct against_region *r)
{
    for (size_t m = 0; m < x->b->n_nodes; m++) {
        int n = x->alignment.node[m];
        if (!r->there[m] || n < 0 || strcmp(x->a->nodes[n].op_type, x->b->nodes[m].op_type) != 0)
            continue;
        const struct odb_attrs *a = &x->a->nodes[n].attrs, *b = &x->b->nodes[m].attrs;
        bool same = !strcmp(x->a->nodes[n].domain, x->b->nodes[m].domain);
        if (same && x->a->nodes[n].opset != x->b->nodes[m].opset &&
            r->odd_opsets++ < AGAINST_LISTED) {
            odb_node_put(x->b, (int)m, &r->words);
            odb_buf_printf(&r->words, " is of opset %d where the original's is of %d. ",
                           x->b->nodes[m].opset, x->a->nodes[n].opset);
        }
        for (size_t i = 0; i < a->n; i++)
            against_put_attr(x, r, (int)m, a->items[i].name, &a->items[i],
                             odb_attrs_find(b, a->items[i].name));
        for (size_t i = 0; i < b->n && same; i++)
            if (!odb_attrs_find(a, b->items[i].name))
                against_put_attr(x, r, (int)m, b->items[i].name, NULL, &b->items[i]);
    }
}

void against_border_within(const struct against *x, struct against_region *r)
{
    for (size_t i = 0; i < r->n_in_there; i++) {
        int u = x->alignment.original[r->in_there[i]];
        bool both = false;
        for (size_t j = 0; j < r->n_in_here; j++)
            both |= r->in_here[j] == u;
        if (!both) {
            odb_buf_puts(&r->words, "It reads ");
            odb_buf_put_shown(&r->words, x->b->values[r->in_there[i]].name);
            odb_buf_puts(&r->words, ", which the original does not read there. ");
        }
    }
    for (size_t j = 0; j < r->n_in_here; j++) {
        int w = x->alignment.other[r->in_here[j]];
        bool both = false;
        for (size_t i = 0; i < r->n_in_there; i++)
            both |= r->in_there[i] == w;
        if (!both) {
            odb_buf_puts(&r->words, "It does not read ");
            odb_buf_put_shown(&r->words, x->a->values[r->in_here[j]].name);
            odb_buf_puts(&r->words, ", which the original does. ");
        }
    }
}

void against_shape_within(const struct against *x, struct against_region *r)
{
    char shapes[2][200];
    for (size_t n = 0; n < x->a->n_nodes; n++)
        for (int o = 0; r->here[n] && o < x->a->nodes[n].n_out; o++) {
            int u = x->a->nodes[n].out[o];
            const struct odb_value *v = u < 0 ? NULL : odb_graph_value(x->b, x->a->values[u].name);
            const struct odb_tensor *had = v ? x->had[v - x->b->values] : NULL;
            const struct odb_tensor *ref = u < 0 ? NULL : x->trace->ref[u];
            if (!had || !ref || had->kind != ODB_TENSOR || ref->kind != ODB_TENSOR ||
                v->producer == ODB_NO_NODE || !r->there[v->producer] ||
                odb_tensor_same_shape(had, ref))
                continue;
            odb_buf_put_shown(&r->words, v->name);
            odb_buf_printf(&r->words, " has the shape %s, and %s in the original. ",
                           odb_shape_text(had, shapes[0], sizeof shapes[0]),
                           odb_shape_text(ref, shapes[1], sizeof shapes[1]));
            return;
        }
}

/* --- in words --------------------------------------------------------------------------------- */

/* "#3 conv (Conv)", or "#3 conv (Conv) to #5 relu (Relu), 3 nodes". */
static void against_put_nodes(const struct odb_graph *g, const bool *marks, struct odb_buf *out)
{
    int first = ODB_NO_NODE, last = ODB_NO_NODE;
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (marks[i]) {
            first = n++ ? first : (int)i;
            last = (int)i;
        }
    if (!n) {
        odb_buf_puts(out, "no node");
        return;
    }
    odb_node_put(g, first, out);
    if (n > 1) {
        odb_buf_puts(out, " to ");
        odb_node_put(g, last, out);
        odb_buf_printf(out, ", %zu nodes", n);
    }
}

void against_words(const struct against *x, const struct odb_culprit *c,
                   const struct against_region *r, struct odb_buf *out)
{
    bool accuses = odb_diagnosis_accuses(c->kind);
    const struct odb_number *local = &c->numbers.local_error, *noise = &c->numbers.local_noise;
    odb_buf_puts(out, accuses ? "The other model's part " : "The value ");
    if (accuses) {
        odb_buf_putc(out, '(');
        against_put_nodes(x->b, r->there, out);
        odb_buf_puts(out, ") that makes ");
    }
    odb_buf_put_shown(out, x->b->values[r->value].name);
    if (accuses) {
        odb_buf_puts(out, " does not compute what the original's (");
        against_put_nodes(x->a, r->here, out);
        odb_buf_puts(out, ") does");
        const char *reason = c->numbers.reason;
        if (local->known) {
            odb_buf_puts(out, ": on the same values it is off by ");
            odb_put_off(*local, *noise, out);
        }
        if (reason[0] && (!local->known || !noise->known)) {
            odb_buf_puts(out, local->known ? "; " : ": ");
            odb_buf_put_shown(out, reason);
        }
        odb_buf_puts(out, ". ");
        odb_report_put_integers(x->given[c->value], x->trace->ref[c->value], "the original", out);
    } else {
        odb_buf_puts(out, c->kind == ODB_KIND_AMPLIFIED
                              ? " is the first over tolerance, but on the same values both models "
                                "compute the same there: it enlarges small differences. "
                              : " is the first over tolerance, but on the same values both models "
                                "compute the same there: small differences before it add up. ");
    }
    if (accuses && (r->alone == ODB_CONFIRMS || r->alone == ODB_CONTRADICTS))
        odb_buf_puts(out, r->alone == ODB_CONFIRMS
                              ? "Fed with the original's values it is off as well, so nothing "
                                "before it is needed for that. "
                              : "Fed with the original's values it is within tolerance: its own "
                                "values are needed for that. ");
    if (r->pinned == ODB_CONFIRMS || r->pinned == ODB_CONTRADICTS)
        odb_buf_puts(out, r->pinned == ODB_CONFIRMS
                              ? "With the original's value in its place the other model's outputs "
                                "pass, so that is all that is wrong with them. "
                              : "With the original's value in its place outputs of the other model "
                                "are wrong still. ");
    if (c->held.known) {
        odb_buf_puts(out, "It holds the values of the original's ");
        odb_buf_put_shown(out, x->a->values[c->held.of].name);
        odb_buf_puts(out, ". ");
    }
    odb_buf_puts(out, odb_buf_text(&r->words));
    if (x->alignment.confidence[c->value] < AGAINST_NAMED)
        odb_buf_puts(out, "The two values are taken for one by their name alone, so this may be a "
                          "misunderstanding; --map FILE can say otherwise. ");
    odb_buf_printf(out, "Confidence: %s (%s).", odb_confidence_name(c->confidence),
                   c->confidence_reason);
}

/* --- the summary ------------------------------------------------------------------------------ */

size_t against_count(const struct against *x, size_t by[])
{
    size_t n = 0;
    for (size_t u = 0; u < x->a->n_values; u++) {
        const struct odb_value *value = &x->a->values[u];
        if (value->producer == ODB_NO_NODE || !value->name[0] || value->init)
            continue;
        n++;
        by[x->alignment.other[u] < 0 ? ODB_PAIRED_NOT : x->alignment.how[u]]++;
    }
    return n;
}

void against_sum_pairs(const struct against *x, struct odb_buf *out)
{
    size_t by[AGAINST_PAIRED] = {0}, n = against_count(x, by);
    odb_buf_printf(out, "paired: %zu of %zu values", n - by[ODB_PAIRED_NOT], n);
    for (int p = ODB_PAIRED_NOT + 1, told = 0; p < AGAINST_PAIRED; p++)
        if (by[p])
            odb_buf_printf(out, "%s%zu %s", told++ ? ", " : " (", by[p],
                           odb_paired_name((enum odb_paired)p));
    odb_buf_printf(out, "%s, with %zu and %zu nodes\n", n > by[ODB_PAIRED_NOT] ? ")" : "",
                   x->a->n_nodes, x->b->n_nodes);
}

void against_sum_layout(const struct against *x, struct odb_buf *out)
{
    if (x->n_blocked && x->block)
        odb_buf_printf(
            out,
            "layout: %zu values of the other model are in blocks of %lld channels, which "
            "was undone\n",
            x->n_blocked, (long long)x->block);
    else if (x->n_blocked)
        odb_buf_printf(out,
                       "layout: %zu values of the other model are in blocks of channels, and %s "
                       "does not tell how large these are: they have no partners, and what lies "
                       "between two that have is judged as one\n",
                       x->n_blocked, x->how->spec);
}

void against_sum_weights(const struct against *x, struct odb_buf *out)
{
    size_t fates[AGAINST_FATES] = {0}, told = 0;
    double step = 0;
    for (size_t i = 0; i < x->n_weights; i++) {
        fates[x->weights[i].fate]++;
        if (x->weights[i].fate == ODB_FATE_QUANTISED)
            step = fmax(step, x->weights[i].step);
    }
    odb_buf_puts(out, "weights:");
    for (int f = 0; f < AGAINST_FATES; f++)
        if (fates[f])
            odb_buf_printf(out, "%s %zu %s", told++ ? "," : "", fates[f],
                           odb_fate_name((enum odb_fate)f));
    odb_buf_puts(out, told ? "" : " none");
    if (step > 0)
        odb_buf_printf(out, "; steps up to %.3g", step);
    odb_buf_putc(out, '\n');
    for (size_t i = 0, n = 0; i < x->n_weights; i++)
        if (x->weights[i].fate == ODB_FATE_DIFFERENT && n++ < AGAINST_LISTED) {
            odb_buf_puts(out, n == 1 ? "first suspect: weight " : "suspect: weight ");
            against_put_weight(x, &x->weights[i], out);
            odb_buf_putc(out, '\n');
        }
}
