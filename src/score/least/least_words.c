/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>

#include "report/json.h"
#include "score/least/least.h"

#define WORDS_NODES 20 /* that are shown */
#define WORDS_SAMPLES 10

static void words_loss(const struct odb_least *r, double loss, struct odb_buf *out)
{
    if (isnan(loss))
        odb_buf_puts(out, "an amount that is not known");
    else
        odb_buf_printf(out, "%.3g%s%s", loss, r->score->diff[0] ? " " : "", r->score->diff);
}

static void words_node(const struct odb_least *r, const struct odb_least_node *one,
                       struct odb_buf *out)
{
    odb_buf_puts(out, "  ");
    odb_node_put(r->score->model->graph, one->node, out);
    if (one->why) {
        odb_buf_puts(out, ": cannot be run alone: ");
        odb_buf_put_shown(out, one->why);
    } else if (!isnan(one->alone)) {
        odb_buf_puts(out, ": ");
        words_loss(r, one->alone, out);
        odb_buf_puts(out, " alone");
    }
    if (one->of_set && r->n_set > 1 && !isnan(one->without)) {
        odb_buf_puts(out, "; without it the others cost ");
        words_loss(r, one->without, out);
    }
    odb_buf_putc(out, '\n');
}

/* Those of the set, or the others. */
static void words_nodes(const struct odb_least *r, bool of_set, struct odb_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < r->nodes.n; i++)
        if (r->nodes.items[i].of_set == of_set && n++ < WORDS_NODES)
            words_node(r, &r->nodes.items[i], out);
    if (n > WORDS_NODES)
        odb_buf_printf(out, "  and %zu more, which --json holds\n", n - WORDS_NODES);
}

static void words_set(const struct odb_least *r, struct odb_buf *out)
{
    odb_buf_printf(out, "\nLeft to the target, with every other node mended, %s ",
                   r->n_set == 1 ? "this node costs" : "these nodes cost");
    words_loss(r, r->loss, out);
    odb_buf_puts(out, ":\n");
    words_nodes(r, true, out);
    odb_buf_puts(out, !r->minimal     ? "whether all of them are needed was not tried to the end\n"
                      : r->n_set == 1 ? ""
                                      : "none of them can be left out; that others, and fewer, "
                                        "would do is not ruled out\n");
    if (r->hunted)
        odb_buf_puts(out, "what searches accuse does not cost it: all nodes were divided\n");
    if (r->nodes.n > r->n_set)
        odb_buf_puts(out, "Accused as well, and not needed for that:\n");
    words_nodes(r, false, out);
}

static void words_samples(const struct odb_least *r, struct odb_buf *out)
{
    odb_buf_printf(out, "On %zu of %zu samples %s ", r->samples.n, r->score->used,
                   r->n_set == 1 ? "it costs" : "they cost");
    words_loss(r, r->samples_loss, out);
    odb_buf_puts(out, ": ");
    for (size_t i = 0; i < r->samples.n && i < WORDS_SAMPLES; i++) {
        odb_buf_puts(out, i ? ", " : "");
        odb_buf_put_shown(out, r->score->samples.items[r->samples.items[i]].source);
    }
    odb_buf_puts(out, r->samples.n > WORDS_SAMPLES ? " …\n" : "\n");
}

/* dir NULL: on the page in the folder itself. */
static void words_written(const struct odb_least *r, const char *dir, struct odb_buf *out)
{
    odb_buf_puts(out, "\n");
    odb_buf_put_shown(out, dir ? dir : "model.onnx");
    odb_buf_printf(out, ": %zu node%s, ", r->repro_nodes, odb_plural(r->repro_nodes));
    if (r->part)
        odb_buf_puts(out, "the part from these on, ");
    else
        odb_buf_printf(out, "all that the metric needs, as %s, ", r->whole_why);
    odb_buf_printf(out, "and %zu sample%s; ", r->samples.n, odb_plural(r->samples.n));
    if (r->again) {
        odb_buf_puts(out, "scored again from its files: the target ");
        odb_buf_puts(out, r->reproduces ? "loses " : "does NOT lose that, but ");
        words_loss(r, r->again->loss.is, out);
        odb_buf_putc(out, '\n');
    } else {
        odb_buf_puts(out, "not scored again\n");
    }
    for (size_t i = 0; i < r->cuts.n; i++) {
        odb_buf_puts(out, dir ? dir : "");
        odb_buf_printf(out, "%s%s: ", dir ? "/" : "", r->cuts.items[i].dir);
        odb_buf_put_shown(out, r->cuts.items[i].summary);
        odb_buf_putc(out, '\n');
    }
}

void odb_least_put(const struct odb_least *r, const char *dir, struct odb_buf *out)
{
    odb_score_put_scores(r->score, out);
    if (!r->fails) {
        odb_buf_puts(out, "\nthe target loses no more than ");
        words_loss(r, r->drop, out);
        odb_buf_puts(out, ", so there is nothing to minimise\n");
        return;
    }
    words_set(r, out);
    words_samples(r, out);
    if (r->written || !dir)
        words_written(r, dir, out);
    for (size_t i = 0; i < r->notes.n; i++)
        odb_buf_printf(out, "note: %s\n", r->notes.items[i]);
    if (dir)
        odb_buf_printf(out, "\n%zu sets of nodes, %zu load%s and %zu run%s of the target, %.1f s\n",
                       r->tries, r->cost.loads, odb_plural(r->cost.loads), r->cost.runs,
                       odb_plural(r->cost.runs), r->seconds);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *json_known(double number)
{
    return isnan(number) ? json_null() : odb_json_real(number);
}

static json_t *json_nodes(const struct odb_least *r, bool of_set)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->nodes.n; i++) {
        const struct odb_least_node *one = &r->nodes.items[i];
        const struct odb_node *node = &r->score->model->graph->nodes[one->node];
        if (one->of_set != of_set)
            continue;
        json_t *json = odb_json_node(one->node, node->name, node->op_type, node->domain);
        json_object_set_new(json, "alone", json_known(one->alone));
        json_object_set_new(json, "failure", odb_json_text(one->why));
        if (of_set)
            json_object_set_new(json, "without", json_known(one->without));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *json_samples(const struct odb_least *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->samples.n; i++)
        json_array_append_new(
            list, json_pack("{s:I,s:o}", "index", (json_int_t)r->samples.items[i], "source",
                            odb_json_text(r->score->samples.items[r->samples.items[i]].source)));
    return list;
}

static json_t *json_cuts(const struct odb_least *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->cuts.n; i++) {
        const struct odb_least_cut *cut = &r->cuts.items[i];
        json_array_append_new(list, json_pack("{s:i,s:o,s:o,s:b}", "index", cut->node, "path",
                                              odb_json_text(cut->dir), "summary",
                                              odb_json_text(cut->summary), "reproduces",
                                              cut->reproduces));
    }
    return list;
}

void odb_least_json(const struct odb_least *r, const char *dir, struct odb_buf *out)
{
    const struct {
        const char *key;
        json_t *value;
    } rows[] = {
        {"score", odb_score_object(r->score)},
        {"drop", odb_json_real(r->drop)},
        {"fails", json_boolean(r->fails)},
        {"set", json_nodes(r, true)},
        {"others", json_nodes(r, false)},
        {"set_loss", json_known(r->loss)},
        {"minimal", json_boolean(r->minimal)},
        {"checked", json_boolean(r->checked)},
        {"divided", json_boolean(r->hunted)},
        {"tries", json_integer((json_int_t)r->tries)},
        {"samples", json_samples(r)},
        {"samples_loss", json_known(r->samples_loss)},
        {"stopped", json_boolean(r->stopped)},
        {"written", json_boolean(r->written)},
        {"path", odb_json_text(r->written ? dir : NULL)},
        {"nodes", json_integer((json_int_t)r->repro_nodes)},
        {"part", json_boolean(r->part)},
        {"whole_because", odb_json_text(r->whole_why)},
        {"reproduces", r->again ? json_boolean(r->reproduces) : json_null()},
        {"written_loss", r->again ? json_known(r->again->loss.is) : json_null()},
        {"cuts", json_cuts(r)},
        {"notes", odb_json_texts(r->notes.items, r->notes.n)},
        {"target_loads", json_integer((json_int_t)r->cost.loads)},
        {"target_runs", json_integer((json_int_t)r->cost.runs)},
        {"seconds", odb_json_real(r->seconds)},
    };
    json_t *root = json_object();
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        json_object_set_new(root, rows[i].key, rows[i].value);
    odb_json_put(root, out);
}
