/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/views/node_folded.h"

#include <stdlib.h>

#include "base/buf.h"
#include "model/opnames.h"
#include "report/report.h"
#include "session/session.h"
#include "ui/list/text_view.h"
#include "ui/list/view_nodes.h"
#include "ui/view/app.h"
#include "ui/view/constants.h"
#include "ui/view/mark.h"
#include "ui/view/outline.h"

#define FOLDED_CULPRITS 20 /* that are listed before "and N more" */

/* What the nodes have in common. */
struct folded_sum {
    size_t verdicts[ODB_VERDICT_COUNT];
    struct odb_opnames ops; /* owned */
    ODB_VEC(size_t) counts; /* [ops] */
};

static const struct ui_outline *folded_outline(const struct ui_text_view *view)
{
    return ui_nodes_outline(view->view.app->views[UI_VIEW_NODES]);
}

static const struct odb_graph *folded_graph(const struct ui_text_view *view)
{
    return odb_session_model(view->view.app->session)->graph;
}

void ui_folded_title(const struct ui_app *app, const struct ui_row *row, struct odb_buf *out)
{
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    if (row->scope) {
        odb_buf_printf(out, "scope %.*s", row->scope, ui_outline_label(graph, row->node));
        return;
    }
    odb_buf_printf(out, "%d constant parts of ", row->n);
    odb_node_put(graph, ui_constants_reader(&app->constants, row->node), out);
}

static void folded_row(struct ui_text_view *view, int cols, enum ui_style style, int indent,
                       int node, const char *fmt, ...) ODB_PRINTF(6, 7);

static void folded_row(struct ui_text_view *view, int cols, enum ui_style style, int indent,
                       int node, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ui_text_addv(view, cols, style, indent, node, ODB_NO_VALUE, fmt, args);
    va_end(args);
}

static void folded_count(const struct ui_text_view *view, const struct ui_row *row,
                         struct folded_sum *sum)
{
    const struct odb_graph *graph = folded_graph(view);
    *sum = (struct folded_sum){0};
    for (int node = row->node; node != ODB_NO_NODE; node = folded_outline(view)->next[node]) {
        sum->verdicts[odb_session_node(view->view.app->session, node, NULL)->verdict]++;
        size_t op = odb_opnames_number(&sum->ops, &graph->nodes[node]);
        if (op == sum->counts.n)
            odb_push(&sum->counts, 0);
        sum->counts.items[op]++;
    }
}

/* "158 nodes: 69 fail, 89 pass". */
static void folded_put_verdicts(struct ui_text_view *view, const struct ui_row *row,
                                const struct folded_sum *sum, int cols)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_printf(&line, "%d nodes", row->n);
    for (int v = 0, any = 0; v < ODB_VERDICT_COUNT; v++)
        if (sum->verdicts[v])
            odb_buf_printf(&line, "%s %zu %s", any++ ? "," : ":", sum->verdicts[v],
                           odb_verdict_name((enum odb_verdict)v));
    folded_row(view, cols, UI_STYLE_NORMAL, 0, ODB_NO_NODE, "%s", odb_buf_text(&line));
    odb_buf_dispose(&line);
    double all = folded_outline(view)->adds;
    if (all > 0)
        folded_row(view, cols, UI_STYLE_NORMAL, 0, ODB_NO_NODE,
                   "they add %.0f %% of what all nodes add to the error by themselves",
                   100 * row->adds / all);
}

static void folded_put_node(struct ui_text_view *view, int node, int cols)
{
    const struct odb_value_report *report = odb_session_node(view->view.app->session, node, NULL);
    char error[32], local[32];
    struct odb_buf line = ODB_BUF_INIT;
    odb_node_put(folded_graph(view), node, &line);
    if (report->error.known)
        odb_buf_printf(&line, "  error %s", ui_number_text(report->error, error, sizeof error));
    if (report->local_error.known)
        odb_buf_printf(&line, ", local %s",
                       ui_number_text(report->local_error, local, sizeof local));
    folded_row(view, cols, UI_STYLE_NAME, 2, node, "%s", odb_buf_text(&line));
    odb_buf_dispose(&line);
}

static void folded_put_culprits(struct ui_text_view *view, const struct ui_row *row, int cols)
{
    const struct odb_session *session = view->view.app->session;
    int listed = 0;
    if (!row->culprits)
        return;
    folded_row(view, cols, UI_STYLE_LABEL, 0, ODB_NO_NODE, "culprits");
    for (int node = row->node; node != ODB_NO_NODE && listed < FOLDED_CULPRITS;
         node = folded_outline(view)->next[node])
        if (odb_session_node(session, node, NULL)->culprit || odb_session_culprit(session, node)) {
            folded_put_node(view, node, cols);
            listed++;
        }
    if (listed < row->culprits)
        folded_row(view, cols, UI_STYLE_DIM, 2, ODB_NO_NODE, "and %d more", row->culprits - listed);
}

/* The most frequent first. */
static void folded_put_operators(struct ui_text_view *view, struct folded_sum *sum, int cols)
{
    struct odb_buf line = ODB_BUF_INIT;
    folded_row(view, cols, UI_STYLE_LABEL, 0, ODB_NO_NODE, "operators");
    for (size_t i = 0; i < sum->counts.n; i++) {
        size_t most = 0;
        for (size_t j = 1; j < sum->counts.n; j++)
            most = sum->counts.items[j] > sum->counts.items[most] ? j : most;
        odb_buf_printf(&line, "%s%zu ", line.len ? ", " : "", sum->counts.items[most]);
        odb_opname_put(&sum->ops.items.items[most], &line);
        sum->counts.items[most] = 0;
    }
    folded_row(view, cols, UI_STYLE_OP, 2, ODB_NO_NODE, "%s", odb_buf_text(&line));
    odb_buf_dispose(&line);
}

void ui_folded_put(struct ui_text_view *view, const struct ui_row *row, int cols)
{
    struct folded_sum sum;
    folded_count(view, row, &sum);
    folded_put_verdicts(view, row, &sum, cols);
    folded_row(view, cols, UI_STYLE_DIM, 0, ODB_NO_NODE, "Enter in the list unfolds them");
    folded_row(view, cols, UI_STYLE_LABEL, 0, ODB_NO_NODE, "the worst of them");
    folded_put_node(view, row->worst, cols);
    folded_put_culprits(view, row, cols);
    folded_put_operators(view, &sum, cols);
    odb_opnames_dispose(&sum.ops);
    free(sum.counts.items);
}
