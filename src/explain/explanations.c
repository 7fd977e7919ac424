/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explanations in words, and what they own.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "explain/explanations.h"
#include "explain/measure/curve.h"

#define EXPLANATION_TOLD 3 /* members of a class, in a sentence */

static const char *const explain_fits[] = {NULL,
#define FIT_NAME(id, name) name,
                                           ODB_FIT_LIST(FIT_NAME)
#undef FIT_NAME
};

const char *odb_fit_name(enum odb_fit fit)
{
    return explain_fits[fit];
}

bool odb_fit_parse(enum odb_fit *out, const char *name)
{
    for (size_t i = 1; i < ODB_COUNT(explain_fits); i++)
        if (name && !strcmp(explain_fits[i], name)) {
            *out = (enum odb_fit)i;
            return true;
        }
    return false;
}

/* Texts of the catalogue begin with "as if", "right but for", "holds", or name what is given. */
static const char *explanation_verb(const char *text)
{
    return !strncmp(text, "as ", 3)      ? "behaves "
           : !strncmp(text, "right ", 6) ? "is "
           : !strncmp(text, "holds ", 6) ? ""
                                         : "gives ";
}

const char *odb_explanation_doubt(const struct odb_explanations *all,
                                  const struct odb_explanation *one)
{
    return one->fit != ODB_FIT_CLASS ? NULL
           : one->members.n          ? "these inputs do not tell it from"
           : all->unfinished         ? "not all variants were tried"
           : strstr(one->variant, EXPLANATION_PAIR)
               ? "two faults at once are not sure without other inputs that show both"
               : "so few elements are wrong that this may be luck";
}

void odb_explanation_put_next(const struct odb_explanations *all, const struct odb_explanation *one,
                              struct odb_buf *out)
{
    if (!one->read && !one->inputs)
        return;
    if (one->read) {
        odb_buf_puts(out, "reading ");
        odb_buf_put_shown(out, one->read);
        odb_buf_puts(out, " next");
    } else {
        odb_buf_printf(out, all->recorded ? "a recording with inputs %s" : "inputs %s",
                       one->inputs);
    }
    odb_buf_printf(out, " would tell %s apart", one->told < one->members.n ? "some" : "them");
}

/* "3 of 10 elements are wrong, only at the border", of where's "3 of 10 elements: only at …". */
static void explanations_put_where(const char *where, struct odb_buf *out)
{
    size_t n = strcspn(where, ":");
    odb_buf_printf(out, "%.*s %s wrong", (int)n, where, *where == 'e' ? "is" : "are");
    if (where[n])
        odb_buf_printf(out, ",%s", where + n + 1);
}

/* What is known where no variant fits. */
static void explanations_put_none(const struct odb_explanations *all, struct odb_buf *out)
{
    /* Else it is the shape that is wrong, or nothing. */
    bool counted = all->where && (isdigit((unsigned char)*all->where) || *all->where == 'e');
    if (all->right || (!counted && !all->curve))
        return;
    odb_buf_printf(out, "No%s variant gives it; ", all->untried ? " likely" : "");
    if (counted)
        explanations_put_where(all->where, out);
    if (all->curve)
        odb_buf_printf(out, "%s%s", counted ? "; " : "", all->curve->text);
    odb_buf_puts(out, ". ");
}

/* Says the members of a class too: ", or as if auto_pad were …". */
static void explanations_put_members(const struct odb_explanation *one, struct odb_buf *out)
{
    size_t n = one->members.n, told = ODB_MIN(n, (size_t)EXPLANATION_TOLD);
    for (size_t m = 0; m < told; m++)
        odb_buf_printf(out, ", or %s",
                       m < one->says.n ? one->says.items[m] : one->members.items[m]);
    if (n > told)
        odb_buf_printf(out, ", or as %zu other variant%s", n - told, n - told == 1 ? "" : "s");
    odb_buf_puts(out, "; these inputs do not tell which");
}

void odb_explanations_put(const struct odb_explanations *all, struct odb_buf *out)
{
    const struct odb_explanation *best = all->items.n ? all->items.items : NULL;
    if (!best) {
        explanations_put_none(all, out);
        return;
    }
    odb_buf_printf(out, "It %s%s", explanation_verb(best->text), best->text);
    if (best->fit == ODB_FIT_PARTLY)
        odb_buf_printf(out, ": this explains %.4g %% of the error's energy, and not all",
                       100 * (1 - best->left));
    else if (best->refuted)
        odb_buf_puts(out, " (within noise on these inputs, and not on others)");
    else if (best->confirmed)
        odb_buf_printf(out, " (within noise, on these inputs and %zu other%s)", best->confirmed,
                       best->confirmed == 1 ? "" : "s");
    else
        odb_buf_puts(out, all->recorded ? " (it fits this recording)"
                                        : " (within noise, on these inputs alone)");
    if (best->members.n)
        explanations_put_members(best, out);
    else if (odb_explanation_doubt(all, best))
        odb_buf_printf(out, "; %s", odb_explanation_doubt(all, best));
    if (best->read || best->inputs) {
        odb_buf_puts(out, "; ");
        odb_explanation_put_next(all, best, out);
    }
    if (all->curve)
        odb_buf_printf(out, "; %s", all->curve->text);
    odb_buf_puts(out, ". ");
}

void odb_explanations_dispose(struct odb_explanations *all)
{
    for (size_t i = 0; i < all->items.n; i++) {
        struct odb_explanation *one = &all->items.items[i];
        for (size_t m = 0; m < one->members.n; m++)
            free(one->members.items[m]);
        for (size_t m = 0; m < one->says.n; m++)
            free(one->says.items[m]);
        free(one->members.items);
        free(one->says.items);
        free(one->read);
        free(one->inputs);
        free(one->variant);
        free(one->text);
    }
    for (size_t i = 0; i < all->trials.n; i++) {
        free(all->trials.items[i].variant);
        free(all->trials.items[i].text);
    }
    odb_curve_free(all->curve);
    free(all->trials.items);
    free(all->items.items);
    free(all->where);
    free(all->why_not);
    *all = (struct odb_explanations){0};
}

void odb_explain_pair_dispose(struct odb_explain_pair *pair, const struct odb_node *node)
{
    for (int i = 0; pair->in && i < node->n_in; i++)
        odb_tensor_unref(pair->in[i]);
    for (int o = 0; pair->out && o < node->n_out; o++)
        odb_tensor_unref(pair->out[o]);
    for (size_t v = 0; pair->given && v < pair->n_given; v++)
        odb_tensor_unref(pair->given[v]);
    free(pair->given);
    free(pair->in);
    free(pair->out);
    *pair = (struct odb_explain_pair){0};
}
