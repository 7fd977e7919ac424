/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sensitivity/sensitivity.h"

#define WORDS_SHOWN 20    /* nodes in the table */
#define WORDS_STAND_OUT 5 /* that stand out */
#define WORDS_LEVELS ".:-=+*#"
#define WORDS_LOWEST (-6) /* power of ten of the error below which all are one level */

static bool words_unknown(enum odb_sensitivity_known known)
{
    return known == ODB_SENSITIVITY_LEFT || known == ODB_SENSITIVITY_UNRUN;
}

static void words_error(struct odb_sensitivity_error e, bool estimated, struct odb_buf *out)
{
    char text[40];
    snprintf(text, sizeof text, "%s%.3g", estimated ? "~" : "", e.error);
    odb_buf_printf(out, "%10s",
                   isnan(e.error)                    ? "not known"
                   : e.how == ODB_SENSITIVITY_FINITE ? text
                                                     : odb_sensitivity_how_word(e.how));
}

/* "0.0012 at probabilities", "an overflow at …", "nothing". */
static void words_end(const struct odb_sensitivity_result *r, struct odb_sensitivity_error e,
                      struct odb_buf *out)
{
    static const char *const hows[] = {"", "NaN or Inf at other places", "another choice",
                                       "an error where the reference has zeros"};
    if (e.value == ODB_NO_VALUE) {
        odb_buf_puts(out, "no error at all");
        return;
    }
    if (e.how == ODB_SENSITIVITY_FINITE)
        odb_buf_printf(out, "an error of %.3g", e.error);
    else
        odb_buf_puts(out, hows[e.how]);
    odb_buf_puts(out, " at ");
    odb_buf_put_shown(out, r->model->graph->values[e.value].name);
}

static void words_whole(const struct odb_sensitivity_result *r, struct odb_buf *out)
{
    const char *type = odb_dtype_info(r->to)->name;
    odb_buf_printf(out, "%zu of %zu nodes compute in floats%s\n", r->n_computes,
                   r->model->graph->n_nodes, r->to == ODB_I8 ? ", and int8 is for them" : "");
    if (!r->n_computes)
        return;
    odb_buf_printf(out, "all of them in %s: ", type);
    if (r->whole_why) {
        odb_buf_puts(out, "not known, ");
        odb_buf_put_shown(out, r->whole_why);
    } else {
        words_end(r, r->whole, out);
    }
    if (r->n_ranked)
        odb_buf_printf(out,
                       "\none at a time: together %.3g, if their errors do not depend on each "
                       "other",
                       sqrt(r->squares));
    odb_buf_putc(out, '\n');
    if (r->n_without)
        odb_buf_printf(out, "%zu output%s that the reference does not compute not judged\n",
                       r->n_without, r->n_without == 1 ? " is" : "s are");
}

/* --- the table -------------------------------------------------------------------------------- */

static void words_row(const struct odb_sensitivity_result *r, int node, struct odb_buf *out)
{
    const struct odb_sensitive *about = &r->nodes[node];
    const struct odb_sensitivity_error *e = &about->contribution;
    if (e->how == ODB_SENSITIVITY_FINITE && r->squares > 0)
        odb_buf_printf(out, "  %4.1f %%", 100 * e->error * e->error / r->squares);
    else
        odb_buf_printf(out, "  %6s", "-");
    words_error(*e, about->known == ODB_SENSITIVITY_ESTIMATED, out);
    words_error(about->local, false, out);
    odb_buf_puts(out, "  ");
    odb_node_put(r->model->graph, node, out);
    if (isinf(e->error) && e->finite > 0)
        odb_buf_printf(out, ", %.3g elsewhere", e->finite);
    if (r->model->graph->n_outputs > 1 && e->value != ODB_NO_VALUE) {
        odb_buf_puts(out, ", at ");
        odb_buf_put_shown(out, r->model->graph->values[e->value].name);
    }
    odb_buf_putc(out, '\n');
}

static void words_table(const struct odb_sensitivity_result *r, struct odb_buf *out)
{
    size_t shown = 0;
    odb_buf_printf(out, "\n  %7s%10s%10s  node, alone in the type%s\n", "share", "outputs", "local",
                   r->n_estimated ? "; ~: an estimate" : "");
    for (; shown < r->n_ranked && shown < WORDS_SHOWN; shown++) {
        if (!(r->nodes[r->order[shown]].contribution.error > 0))
            break;
        words_row(r, r->order[shown], out);
    }
    if (!r->n_ranked)
        odb_buf_puts(out, "  no node was measured\n");
    else if (!shown)
        odb_buf_puts(out, "  no node that was measured changes an output\n");
    else if (shown < r->n_ranked)
        odb_buf_printf(out, "  and %zu more, which --json holds\n", r->n_ranked - shown);
}

/* --- the strip -------------------------------------------------------------------------------- */

/* ' ' nothing to compute, '0' no effect, then powers of ten, '!' infinite, '?' not known: the
 * higher of two is shown. */
static int words_level(const struct odb_sensitive *about)
{
    int levels = (int)strlen(WORDS_LEVELS);
    double e = about->contribution.error;
    if (about->known == ODB_SENSITIVITY_NOTHING)
        return 0;
    if (words_unknown(about->known))
        return levels + 3;
    if (isinf(e))
        return levels + 2;
    if (!(e > 0))
        return 1;
    int power = (int)floor(log10(e)) - WORDS_LOWEST + 1;
    return 2 + ODB_MAX(0, ODB_MIN(power, levels - 1));
}

static void words_strip(const struct odb_sensitivity_result *r, int width, struct odb_buf *out)
{
    static const char marks[] = " 0" WORDS_LEVELS "!?";
    size_t n = r->model->graph->n_nodes, columns = (size_t)ODB_MAX(width - 4, 16);
    size_t each = (n + columns - 1) / columns;
    odb_buf_puts(out, "\n  [");
    for (size_t first = 0; first < n; first += each) {
        int most = 0;
        for (size_t i = first; i < n && i < first + each; i++)
            most = ODB_MAX(most, words_level(&r->nodes[i]));
        odb_buf_putc(out, marks[most]);
    }
    odb_buf_puts(out, "]\n  ");
    if (each > 1)
        odb_buf_printf(out, "the worst of each %zu nodes, in order", each);
    else
        odb_buf_puts(out, "the nodes in order");
    odb_buf_printf(out,
                   ": 0 no effect, %c below 1e-6, : 1e-6, - 1e-5, = 1e-4,\n  + 1e-3, * 0.01, "
                   "# 0.1 and more, ! infinite, ? not known, blank: nothing to change\n",
                   WORDS_LEVELS[0]);
}

/* --- what is not there ------------------------------------------------------------------------ */

static void words_counts(const struct odb_sensitivity_result *r, struct odb_buf *out)
{
    odb_buf_printf(out, "\n%zu measured", r->n_measured);
    if (r->n_estimated)
        odb_buf_printf(out, ", %zu estimated", r->n_estimated);
    if (r->n_left)
        odb_buf_printf(out, ", %zu not measured", r->n_left);
    if (r->n_unrun)
        odb_buf_printf(out, ", %zu that the reference cannot run in the type", r->n_unrun);
    if (r->stopped || r->late)
        odb_buf_printf(out, ": %s", r->stopped ? "it was stopped" : "the time was up");
    odb_buf_putc(out, '\n');
    if (r->n_checked)
        odb_buf_printf(out,
                       "of %zu nodes that were estimated and then measured, half were estimated "
                       "within a factor\nof %.3g, and nine of ten of %.3g\n",
                       r->n_checked, r->off_half, r->off_most);
    if (r->n_harmless)
        odb_buf_printf(out, "harmless: %zu node%s together bring%s less than 1 %% of the squares",
                       r->n_harmless, odb_plural(r->n_harmless), r->n_harmless == 1 ? "s" : "");
    if (r->n_harmless_estimated)
        odb_buf_printf(out, ", %zu of them by an estimate", r->n_harmless_estimated);
    if (r->n_harmless)
        odb_buf_printf(out, ";\n%zu of all nodes %s the outputs as they are, bit for bit\n",
                       r->n_exact, r->n_exact == 1 ? "leaves" : "leave");
    if (r->n_left || r->n_unrun)
        odb_buf_printf(out, "nothing is said of the %zu that %s not measured\n",
                       r->n_left + r->n_unrun, r->n_left + r->n_unrun == 1 ? "was" : "were");
}

/* --- the target ------------------------------------------------------------------------------- */

static void words_match(const char *what, const struct odb_sensitivity_match *m,
                        struct odb_buf *out)
{
    odb_buf_printf(out, "  %-16s", what);
    if (!m->n)
        odb_buf_puts(out, "no node was looked at");
    else if (isnan(m->rank))
        odb_buf_printf(out, "no correlation can be said of %zu node%s", m->n, odb_plural(m->n));
    else
        odb_buf_printf(out, "rank correlation %.2f over %zu nodes", m->rank, m->n);
    if (m->worst)
        odb_buf_printf(out, "; %zu of its %zu worst are among the %zu foretold", m->found, m->worst,
                       m->worst);
    odb_buf_putc(out, '\n');
}

struct words_odd {
    int node;
    double times;
};

static int words_odder(const void *x, const void *y)
{
    const struct words_odd *a = x, *b = y;
    return a->times > b->times ? -1 : a->times < b->times ? 1 : a->node - b->node;
}

static void words_stand_out(const struct odb_sensitivity_result *r, struct odb_buf *out)
{
    struct words_odd *list = odb_new_n(struct words_odd, r->n_stand_out + 1);
    size_t n = 0;
    for (size_t i = 0; i < r->model->graph->n_nodes; i++)
        if (r->nodes[i].stands_out)
            list[n++] = (struct words_odd){(int)i, r->nodes[i].shown};
    qsort(list, n, sizeof *list, words_odder);
    odb_buf_printf(out, "  %zu node%s far worse there than the type explains:\n", n,
                   n == 1 ? " is" : "s are");
    for (size_t i = 0; i < n && i < WORDS_STAND_OUT; i++) {
        const struct odb_sensitive *about = &r->nodes[list[i].node];
        odb_buf_puts(out, "    ");
        odb_node_put(r->model->graph, list[i].node, out);
        odb_buf_printf(out, ": %.3g, where the type makes %.3g\n", about->shown,
                       isnan(about->expected) ? about->local.error : about->expected);
    }
    if (n > WORDS_STAND_OUT)
        odb_buf_printf(out, "    and %zu more, which --json holds\n", n - WORDS_STAND_OUT);
    free(list);
}

static void words_target(const struct odb_sensitivity_result *r, struct odb_buf *out)
{
    odb_buf_puts(out, "\non ");
    odb_buf_put_shown(out, r->target);
    if (r->target_why) {
        odb_buf_puts(out, ": its values could not be read, so nothing is said of it: ");
        odb_buf_put_shown(out, r->target_why);
        odb_buf_putc(out, '\n');
        return;
    }
    if (r->stopped) {
        odb_buf_puts(out, ": it was not asked for all, as it was stopped\n");
        return;
    }
    odb_buf_puts(out, ": ");
    if (isnan(r->target_error.error))
        odb_buf_puts(out, "no output was read");
    else
        words_end(r, r->target_error, out);
    odb_buf_puts(out, "\n");
    if (!r->local.n) {
        odb_buf_puts(out, "  no value inside was read, so nothing is said of its nodes\n");
        return;
    }
    words_match("local errors:", &r->local, out);
    words_match("at the outputs:", &r->outputs, out);
    if (r->n_stand_out)
        words_stand_out(r, out);
    else
        odb_buf_printf(out, "  none of %zu nodes is far worse there than the type explains\n",
                       r->local.n);
    if (r->local.n < r->n_computes)
        odb_buf_printf(out, "  of %zu other nodes nothing is known there%s\n",
                       r->n_computes - r->local.n, r->target_late ? ": the time was up" : "");
}

void odb_sensitivity_put(const struct odb_sensitivity_result *r, int width, struct odb_buf *out)
{
    words_whole(r, out);
    if (r->n_computes) {
        words_table(r, out);
        words_strip(r, width, out);
        words_counts(r, out);
    }
    if (r->target)
        words_target(r, out);
    odb_buf_printf(out, "%zu nodes ran again, %.1f s; a ranking, and no verdict on a node\n",
                   r->n_reruns, r->seconds);
}
