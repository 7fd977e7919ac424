/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/look/explain_print.h"

#include <math.h>
#include <string.h>

#include "command/table/help.h"
#include "explain/measure/curve.h"
#include "model/model.h"
#include "report/explained.h"
#include "report/json.h"
#include "tensor/grid.h"

#define EXPLAIN_ELEMENTS 40 /* of an output that are printed beside one another */
#define EXPLAIN_COLS 78     /* of a curve that is drawn */
#define EXPLAIN_ROWS 16
#define EXPLAIN_RECORDING "fits this recording:" /* what exact is where nothing is asked again */

static void explain_put_member(const struct odb_explanation *one, size_t m, struct odb_buf *out)
{
    odb_buf_printf(out, "            %s", one->members.items[m]);
    if (m < one->says.n)
        odb_buf_printf(out, ": %s", one->says.items[m]);
    odb_buf_putc(out, '\n');
}

static void explain_put_one(const struct odb_explanations *all, const struct odb_explanation *one,
                            struct odb_buf *out)
{
    bool recording = all->recorded && one->fit == ODB_FIT_EXACT;
    if (recording)
        odb_buf_puts(out, "  " EXPLAIN_RECORDING);
    else
        odb_buf_printf(out, "  %-7s ", odb_fit_name(one->fit));
    odb_help_wrap(out, one->text, 10, recording ? strlen("  " EXPLAIN_RECORDING) : 10);
    odb_buf_printf(out, "          %s: residual %.3g, noise %.3g", one->variant, one->residual,
                   one->noise);
    if (isfinite(one->of)) /* else nothing can be compared: of another shape, or NaN */
        odb_buf_printf(out, ", of %.3g", one->of);
    if (one->fit == ODB_FIT_PARTLY)
        odb_buf_printf(out, ", %.2f %% of the error's energy", 100 * (1 - one->left));
    else if (!all->recorded)
        odb_buf_printf(out, ", holds on %zu other input%s", one->confirmed,
                       odb_plural(one->confirmed));
    if (one->apart)
        odb_buf_printf(out, "; alone, on inputs %s, %zu other%s no more", one->made, one->apart,
                       one->apart == 1 ? " does" : "s do");
    if (one->refuted)
        odb_buf_puts(out, ", and not on others");
    odb_buf_putc(out, '\n');
    if (odb_explanation_doubt(all, one))
        odb_buf_printf(out, "          %s\n", odb_explanation_doubt(all, one));
    for (size_t m = 0; m < one->members.n; m++)
        explain_put_member(one, m, out);
    if (one->read || one->inputs) {
        odb_buf_puts(out, "          ");
        odb_explanation_put_next(all, one, out);
        odb_buf_putc(out, '\n');
    }
}

/* Every variant, those first that leave least. */
static void explain_put_trials(const struct odb_explanations *all, struct odb_buf *out)
{
    if (all->trials.n)
        odb_buf_puts(out, "\n  error left  variant and what it says\n");
    for (size_t i = 0; i < all->trials.n; i++) {
        const struct odb_trial *trial = &all->trials.items[i];
        if (isinf(trial->left))
            odb_buf_printf(out, "  %10s", "-");
        else
            odb_buf_printf(out, "  %8.3g %%", 100 * trial->left);
        odb_buf_printf(out, "  %s%s: ", trial->variant, trial->agrees ? " (agrees)" : "");
        odb_buf_put_shown(out, trial->text);
        odb_buf_putc(out, '\n');
    }
}

/* What the target makes of x, in words and as a drawing. */
static void explain_put_curve(const struct odb_explanations *all, struct odb_buf *out)
{
    if (!all->curve)
        return;
    odb_buf_puts(out, "  ");
    odb_help_wrap(out, all->curve->text, 4, 2);
    odb_buf_puts(out, all->curve->points.n ? "  * target, . reference\n" : "");
    odb_curve_plot(all->curve, EXPLAIN_COLS, EXPLAIN_ROWS, out);
}

static void explain_put_beside(const struct explain_of *of, struct odb_buf *out)
{
    const struct odb_beside *b = of->beside;
    size_t shown = 0, more = 0;
    char index[128];
    odb_buf_puts(out, "\n  ");
    odb_buf_put_shown(out, b->text);
    odb_buf_printf(out, "\n  %-24s %14s %14s %14s\n", "element", "target", "reference", "variant");
    for (size_t i = 0; i < b->target->count; i++) {
        if (!odb_beside_shows(b, i))
            continue;
        if (shown == EXPLAIN_ELEMENTS) {
            more++;
            continue;
        }
        shown++;
        odb_buf_printf(out, "  %-24s %14.7g %14.7g %14.7g\n",
                       odb_index_text(b->target, i, index, sizeof index),
                       odb_tensor_f64(b->target, i), odb_tensor_f64(b->reference, i),
                       odb_tensor_f64(b->variant, i));
    }
    if (more)
        odb_buf_printf(out, "  and %zu more\n", more);
}

void explain_put_text(const struct explain_of *of, const struct odb_explanations *all,
                      struct odb_buf *out)
{
    if (of->title) {
        odb_buf_put_shown(out, of->title);
    } else {
        odb_node_put(of->graph, of->node, out);
        odb_buf_puts(out, " on ");
        odb_buf_put_shown(out, of->made_by);
    }
    odb_buf_putc(out, '\n');
    if (!all->tried) {
        odb_buf_printf(out, "  not explained: %s\n", all->why_not ? all->why_not : "");
        return;
    }
    odb_buf_printf(out, "  wrong: %s\n", all->where && all->where[0] ? all->where : "not known");
    if (all->right)
        odb_buf_puts(out, "  it makes what its operator says, within noise\n");
    else if (!all->items.n && all->untried)
        odb_buf_printf(out, "  none of the %zu likeliest variants gives what the target gave\n",
                       all->variants);
    else if (!all->items.n)
        odb_buf_puts(out, "  no variant gives what the target gave\n");
    for (size_t i = 0; i < all->items.n; i++)
        explain_put_one(all, &all->items.items[i], out);
    odb_buf_printf(out, "  %zu variant%s", all->variants, odb_plural(all->variants));
    if (all->pairs)
        odb_buf_printf(out, " and %zu pair%s", all->pairs, odb_plural(all->pairs));
    odb_buf_printf(out, " in %.3g s", all->seconds);
    if (all->untried)
        odb_buf_printf(out, ", %zu less likely untried", all->untried);
    if (all->recorded)
        odb_buf_puts(out, "; a recording cannot be asked again\n");
    else
        odb_buf_printf(out, ", %zu other input%s\n", all->asked, odb_plural(all->asked));
    if (all->why_not)
        odb_buf_printf(out, "  %s\n", all->why_not);
    explain_put_curve(all, out);
    explain_put_trials(all, out);
    if (of->beside)
        explain_put_beside(of, out);
}

static json_t *explain_trials_json(const struct odb_explanations *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->trials.n; i++) {
        const struct odb_trial *trial = &all->trials.items[i];
        json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:b}", "variant",
                                              odb_json_text(trial->variant), "text",
                                              odb_json_text(trial->text), "left",
                                              odb_json_real(trial->left), "agrees", trial->agrees));
    }
    return list;
}

static json_t *explain_beside_json(const struct explain_of *of)
{
    const struct odb_beside *b = of->beside;
    json_t *list = json_array();
    for (size_t i = 0; i < b->target->count; i++)
        if (odb_beside_shows(b, i))
            json_array_append_new(
                list, json_pack("{s:I,s:o,s:o,s:o}", "element", (json_int_t)i, "target",
                                odb_json_real(odb_tensor_f64(b->target, i)), "reference",
                                odb_json_real(odb_tensor_f64(b->reference, i)), "variant",
                                odb_json_real(odb_tensor_f64(b->variant, i))));
    return json_pack("{s:i,s:o,s:o}", "output", b->output, "text", odb_json_text(b->text),
                     "elements", list);
}

void explain_put_json(const struct explain_of *of, const struct odb_explanations *all,
                      struct odb_buf *out)
{
    const struct odb_node *n = &of->graph->nodes[of->node];
    json_t *json = odb_json_node(of->node, n->name, n->op_type, n->domain);
    json_object_set_new(json, "target", odb_json_text(of->made_by));
    json_object_set_new(json, "chosen", odb_json_text(of->chosen));
    odb_explained_json(all, json);
    json_object_set_new(json, "right", json_boolean(all->right));
    json_object_set_new(json, "why_not", odb_json_text(all->why_not));
    json_object_set_new(json, "asked", json_integer((json_int_t)all->asked));
    json_object_set_new(json, "seconds", odb_json_real(all->seconds));
    if (all->trials.n)
        json_object_set_new(json, "trials", explain_trials_json(all));
    if (of->beside)
        json_object_set_new(json, "beside", explain_beside_json(of));
    odb_json_put(json, out);
}
