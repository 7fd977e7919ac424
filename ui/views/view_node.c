/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything about the node that is selected in the list: attributes, inputs and outputs with the
 * nodes that make and read them, statistics, errors, and its ONNX text. Statistics of large values
 * take a while, so they are made in the background, and the rows are made again when they are
 * there.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/table/command.h"
#include "interpret/cpu.h"
#include "meaning/meaning.h"
#include "model/formal.h"
#include "model/text/model_text.h"
#include "report/report.h"
#include "session/session.h"
#include "system/job.h"
#include "tensor/stats.h"
#include "tensor/tensor_print.h"
#include "ui/list/body_view.h"
#include "ui/list/checklist.h"
#include "ui/list/jump.h"
#include "ui/list/list.h"
#include "ui/list/text_view.h"
#include "ui/list/view_nodes.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/outline.h"
#include "ui/view/view.h"
#include "ui/views/node_folded.h"

#define NODE_READERS 50 /* listed before "and N more" */

/* One value of the node, as far as the background has come. */
struct node_value {
    int value;
    struct odb_tensor *tensors[2]; /* owned refs: reference, target */
    struct odb_stats stats[2];
    bool had[2];
};

/* What the background works on. */
struct node_request {
    ODB_VEC(struct node_value) values;
    int node;
    unsigned long generation;
    atomic_bool stop; /* it is not wanted any more */
};

struct node_view {
    struct ui_text_view text;
    int node, cols;
    struct ui_row row;            /* of the list, which the node is in; folded: summed up */
    unsigned long generation;     /* of the session when the rows were made */
    struct odb_job *clerk;        /* owned */
    struct node_request asked;    /* the clerk's while it works */
    struct node_request answered; /* what the rows show */
    ODB_VEC(size_t)
    attr_rows;       /* where the node's attributes begin, so that they can be opened;
                        then the row behind the last */
    size_t first;    /* row of the first output */
    size_t text_row; /* that opens the target's own text; 0: there is none */
};

/* --- statistics ------------------------------------------------------------------------------- */

static void node_drop(struct node_request *request)
{
    for (size_t i = 0; i < request->values.n; i++)
        for (int side = 0; side < 2; side++)
            odb_tensor_unref(request->values.items[i].tensors[side]);
    free(request->values.items);
    *request = (struct node_request){.node = ODB_NO_NODE};
}

static bool node_stop(void *payload, size_t done, size_t total)
{
    const struct node_request *request = payload;
    return atomic_load(&request->stop);
}

static void node_work(void *arg)
{
    struct node_request *request = arg;
    const struct odb_progress progress = {node_stop, request};
    for (size_t i = 0; i < request->values.n; i++)
        for (int side = 0; side < 2; side++) {
            struct node_value *v = &request->values.items[i];
            const struct odb_tensor *t = v->tensors[side];
            v->had[side] = t && t->kind == ODB_TENSOR && t->count && t->data &&
                           odb_stats(&v->stats[side], t, &progress, NULL) == ODB_OK;
        }
}

static void node_done(void *app)
{
    ui_app_wake(app);
}

static void node_ask(struct node_view *v)
{
    const struct odb_session *session = v->text.view.app->session;
    const struct odb_node *node = &odb_session_model(session)->graph->nodes[v->node];
    if (odb_job_busy(v->clerk)) { /* asked again when it has answered */
        if (v->asked.node != v->node)
            atomic_store(&v->asked.stop, true);
        return;
    }
    node_drop(&v->asked);
    v->asked.node = v->node;
    v->asked.generation = v->generation;
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        int value = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        if (value != ODB_NO_VALUE)
            odb_push(&v->asked.values,
                     (struct node_value){.value = value,
                                         .tensors = {odb_session_reference(session, value),
                                                     odb_session_target(session, value)}});
    }
    odb_job_start(v->clerk, node_work, &v->asked);
}

static const struct node_value *node_find(const struct node_view *v, int value)
{
    for (size_t i = 0; v->answered.node == v->node && i < v->answered.values.n; i++)
        if (v->answered.values.items[i].value == value)
            return &v->answered.values.items[i];
    return NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void node_row(struct node_view *v, enum ui_style style, int indent, int node, int value,
                     const char *fmt, ...) ODB_PRINTF(6, 7);

static void node_row(struct node_view *v, enum ui_style style, int indent, int node, int value,
                     const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ui_text_addv(&v->text, v->cols, style, indent, node, value, fmt, args);
    va_end(args);
}

static void node_head(struct node_view *v, const char *title)
{
    node_row(v, UI_STYLE_LABEL, 0, ODB_NO_NODE, ODB_NO_VALUE, "%s", title);
}

static void node_put_numbers(struct node_view *v, int value)
{
    const struct odb_value_report *r = &odb_session_values(v->text.view.app->session)[value];
    struct odb_named_number numbers[ODB_REPORT_NUMBERS];
    struct odb_buf line = ODB_BUF_INIT;
    if (r->verdict == ODB_VERDICT_UNTESTED)
        return;
    odb_buf_printf(&line, "%s%s", odb_verdict_name(r->verdict), r->culprit ? ", culprit" : "");
    odb_report_numbers(r, numbers);
    for (size_t i = 0; i < ODB_REPORT_NUMBERS; i++)
        if (numbers[i].number.known)
            odb_buf_printf(&line, "  %s %.3g", numbers[i].name, numbers[i].number.v);
    if (r->boundary)
        odb_buf_puts(&line, "  boundary");
    node_row(v, ui_mark_style(r, false), 6, ODB_NO_NODE, value, "%s", odb_buf_text(&line));
    if (r->reason[0])
        node_row(v, UI_STYLE_DIM, 6, ODB_NO_NODE, value, "%s", r->reason);
    odb_buf_dispose(&line);
}

static void node_put_stats(struct node_view *v, int value)
{
    static const char *const sides[] = {"reference", "target"};
    const struct node_value *found = node_find(v, value);
    for (int side = 0; found && side < 2; side++) {
        const struct odb_stats *s = &found->stats[side];
        struct odb_buf line = ODB_BUF_INIT;
        if (!found->had[side])
            continue;
        odb_buf_printf(&line, "%-9s", sides[side]);
        if (odb_stats_finite(s))
            odb_buf_printf(&line, "  min %.4g  max %.4g  mean %.4g  std %.4g", s->min, s->max,
                           s->mean, s->std);
        else if (s->count)
            odb_buf_puts(&line, "  no finite number");
        else
            odb_buf_puts(&line, "  no elements");
        if (s->nan)
            odb_buf_printf(&line, "  nan %zu", s->nan);
        if (s->pos_inf + s->neg_inf)
            odb_buf_printf(&line, "  inf %zu", s->pos_inf + s->neg_inf);
        bool odd = s->nan + s->pos_inf + s->neg_inf;
        node_row(v, odd ? UI_STYLE_WARN : UI_STYLE_NUMBER, 6, ODB_NO_NODE, value, "%s",
                 odb_buf_text(&line));
        odb_buf_dispose(&line);
    }
}

static void node_put_link(struct node_view *v, const char *what, int node)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_node_put(odb_session_model(v->text.view.app->session)->graph, node, &text);
    node_row(v, UI_STYLE_NAME, 6, node, ODB_NO_VALUE, "%s %s", what, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* What a weight takes, and where it lies. */
static void node_put_weight(const struct odb_value *value, struct odb_buf *out)
{
    if (!value->init)
        return;
    odb_buf_puts(out, "  weight");
    if (value->init->kind == ODB_TENSOR)
        odb_buf_printf(out, ", %zu bytes", odb_tensor_size(value->init));
    if (value->init_is_external)
        odb_buf_puts(out, " in another file");
    if (value->init_is_sparse)
        odb_buf_puts(out, ", sparse in the file");
}

/* What a name of the operator means, below it. */
static void node_put_meaning(struct node_view *v, int value, const char *meaning)
{
    if (*meaning)
        node_row(v, UI_STYLE_DIM, 6, ODB_NO_NODE, value, "%s", meaning);
}

/* place: which of the node's inputs or outputs it is; meaning: in words, or "". */
static void node_put_value(struct node_view *v, int index, const char *place, const char *meaning,
                           bool input)
{
    const struct odb_session *session = v->text.view.app->session;
    const struct odb_graph *graph = odb_session_model(session)->graph;
    struct odb_buf type = ODB_BUF_INIT, weight = ODB_BUF_INIT;
    char key[512];
    if (index == ODB_NO_VALUE) {
        node_row(v, UI_STYLE_DIM, 2, ODB_NO_NODE, ODB_NO_VALUE, "%somitted", place);
        node_put_meaning(v, index, meaning);
        return;
    }
    const struct odb_value *value = &graph->values[index];
    odb_session_put_type(session, index, &type);
    node_put_weight(value, &weight);
    node_row(v, UI_STYLE_NAME, 2, ODB_NO_NODE, index, "%s%s  %s%s%s", place,
             odb_value_key(graph, value, key, sizeof key),
             type.len ? odb_buf_text(&type) : "(type not known)",
             value->init       ? odb_buf_text(&weight)
             : value->is_input ? "  input of the model"
                               : "",
             value->is_output ? "  output of the model" : "");
    odb_buf_dispose(&type);
    odb_buf_dispose(&weight);
    node_put_meaning(v, index, meaning);
    node_put_numbers(v, index);
    node_put_stats(v, index);
    if (input && value->producer != ODB_NO_NODE)
        node_put_link(v, "made by", value->producer);
    for (size_t i = 0; !input && i < value->n_consumers && i < NODE_READERS; i++)
        node_put_link(v, "read by", value->consumers[i]);
    if (!input && value->n_consumers > NODE_READERS)
        node_row(v, UI_STYLE_DIM, 6, ODB_NO_NODE, index, "and %zu more",
                 value->n_consumers - NODE_READERS);
}

/* A number, and what the operator calls it, padded to this width. */
static void node_put_port(struct node_view *v, const struct odb_node *node, int slot, bool input,
                          int width)
{
    char name[ODB_FORMAL_NAME], meaning[ODB_MEANING];
    char *place = odb_xasprintf("%d  %-*s%s", slot, width, odb_formal_name(node, input, slot, name),
                                width ? "  " : "");
    node_put_value(v, input ? node->in[slot] : node->out[slot], place,
                   odb_meaning_of_port(node, input, slot, meaning), input);
    free(place);
}

static void node_put_captured(struct node_view *v, const struct odb_node *node)
{
    if (node->n_captured)
        node_head(v, "read by its bodies");
    for (size_t i = 0; i < node->n_captured; i++) {
        char *place = odb_xasprintf("%zu  ", i);
        node_put_value(v, node->captured[i], place, "", true);
        free(place);
    }
}

/* What the exporter has noted: of PyTorch's, where in the program the node comes from. */
static void node_put_metadata(struct node_view *v, const struct odb_node *node)
{
    if (node->metadata.n)
        node_head(v, "metadata");
    for (size_t i = 0; i < node->metadata.n; i++)
        node_row(v, UI_STYLE_NAME, 2, ODB_NO_NODE, ODB_NO_VALUE, "%s = %s",
                 node->metadata.items[i][0], node->metadata.items[i][1]);
}

static void node_put_attr(struct node_view *v, const struct odb_node *node, enum ui_style style,
                          const char *name, enum odb_attr_type type, const char *value)
{
    char meaning[ODB_MEANING];
    char *row = odb_xasprintf("%s: %s = %s", name, odb_attr_type_text(type), value);
    ui_text_add(&v->text, 0, style, 2, ODB_NO_NODE, ODB_NO_VALUE, row);
    free(row);
    node_put_meaning(v, ODB_NO_VALUE, odb_meaning_of_attr(node, name, meaning));
}

static void node_put_attrs(struct node_view *v, const struct odb_node *node,
                           const struct odb_op *op)
{
    struct odb_buf text = ODB_BUF_INIT;
    bool any = node->attrs.n;
    v->attr_rows.n = 0;
    if (any)
        node_head(v, "attributes");
    for (size_t i = 0; i < node->attrs.n; i++) {
        const struct odb_attr *attr = &node->attrs.items[i];
        odb_buf_clear(&text);
        odb_attr_text(attr, &text);
        odb_push(&v->attr_rows, v->text.lines.n);
        node_put_attr(v, node, UI_STYLE_NAME, attr->name, attr->type, odb_buf_text(&text));
    }
    odb_push(&v->attr_rows, v->text.lines.n);
    for (const struct odb_attr_spec *spec = op ? op->attrs : NULL; spec && spec->name; spec++) {
        if (!spec->def || odb_attrs_find(&node->attrs, spec->name))
            continue;
        if (!any)
            node_head(v, "attributes");
        any = true;
        char *value = odb_xasprintf("%s  (default)", spec->def);
        node_put_attr(v, node, UI_STYLE_DIM, spec->name, spec->type, value);
        free(value);
    }
    odb_buf_dispose(&text);
}

/* Where the operator is documented, as terminals make links of; nothing for others' domains. */
static void node_put_page(struct node_view *v, const struct odb_node *node)
{
    static const struct {
        const char *domain, *before, *after;
    } pages[] = {
        {"", "https://onnx.ai/onnx/operators/onnx__", ".html"},
        {"ai.onnx.ml", "https://onnx.ai/onnx/operators/onnx_aionnxml_", ".html"},
        {"com.microsoft",
         "https://github.com/microsoft/onnxruntime/blob/main/docs/"
         "ContribOperators.md#com.microsoft.",
         ""},
    };
    for (size_t i = 0; i < ODB_COUNT(pages) && !node->function; i++)
        if (!strcmp(pages[i].domain, node->domain)) {
            char *text = odb_xasprintf("%s%s%s", pages[i].before, node->op_type, pages[i].after);
            node_head(v, "the operator's page");
            ui_text_add(&v->text, 0, UI_STYLE_DIM, 2, ODB_NO_NODE, ODB_NO_VALUE, text);
            free(text);
        }
}

/* Why it is accused, in brief; the diagnosis has it in words. */
static void node_put_checklist(struct node_view *v, const struct odb_culprit *culprit)
{
    struct ui_checklist list;
    ui_checklist_make(&list, v->text.view.app, culprit);
    for (size_t i = 0; i < list.n; i++)
        node_row(v, list.lines[i].style, 2, ODB_NO_NODE, ODB_NO_VALUE, "%s",
                 odb_buf_text(&list.lines[i].text));
    ui_checklist_dispose(&list);
}

static void node_put_head(struct node_view *v, const struct odb_node *node, const struct odb_op *op)
{
    const struct odb_session *session = v->text.view.app->session;
    const struct odb_culprit *culprit = odb_session_culprit(session, node->index);
    const char *why = odb_cpu_unsupported(odb_session_cpu(session), node->index);
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_printf(&line, "%s, %s opset %d", node->op_type,
                   *node->domain ? node->domain : "ai.onnx", node->opset);
    if (op)
        odb_buf_printf(&line, ", reference kernel since %d", op->since);
    if (node->function)
        odb_buf_printf(&line, ", local function of %zu node%s", node->function->graph->n_nodes,
                       odb_plural(node->function->graph->n_nodes));
    if (node->file_index != node->index)
        odb_buf_printf(&line, ", number %d in the file", node->file_index);
    node_row(v, UI_STYLE_OP, 0, ODB_NO_NODE, ODB_NO_VALUE, "%s", odb_buf_text(&line));
    odb_buf_dispose(&line);
    if (*why)
        node_row(v, UI_STYLE_WARN, 0, ODB_NO_NODE, ODB_NO_VALUE, "the reference cannot run it: %s",
                 why);
    if (culprit)
        node_row(v, UI_STYLE_BAD, 0, ODB_NO_NODE, ODB_NO_VALUE, "culprit: %s",
                 odb_diagnosis_name(culprit->kind));
    if (culprit)
        node_put_checklist(v, culprit);
    if (odb_session_breaks(session)[node->index])
        node_row(v, UI_STYLE_WARN, 0, ODB_NO_NODE, ODB_NO_VALUE, "a breakpoint is here");
    if (node->doc && *node->doc)
        node_row(v, UI_STYLE_DIM, 0, ODB_NO_NODE, ODB_NO_VALUE, "%s", node->doc);
}

/* How long it took; a target that tells nothing of single nodes has no time of one. */
static void node_put_took(struct node_view *v)
{
    const struct ui_app *app = v->text.view.app;
    const struct odb_session *session = app->session;
    double reference = odb_session_reference_took(session, v->node);
    double target = odb_session_target_took(session, v->node);
    char number[32];
    struct odb_buf line = ODB_BUF_INIT;
    if (reference > 0)
        odb_buf_printf(
            &line, "takes %s s on the reference",
            ui_number_text(ODB_NUMBER(ui_app_seconds(app, reference)), number, sizeof number));
    if (target > 0)
        odb_buf_printf(
            &line, "%s%s s on the target", line.len ? ", " : "takes ",
            ui_number_text(ODB_NUMBER(ui_app_seconds(app, target)), number, sizeof number));
    else if (line.len && odb_session_report(session))
        odb_buf_puts(&line, "; the target gives no time of this node alone");
    if (line.len)
        node_row(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, ODB_NO_VALUE, "%s", odb_buf_text(&line));
    odb_buf_dispose(&line);
}

/* What the target said of the node when it was asked about the model. */
static void node_put_place(struct node_view *v)
{
    const struct odb_session *session = v->text.view.app->session;
    const char *where = odb_session_place(session, v->node);
    if (where)
        node_row(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, ODB_NO_VALUE, "the target runs it on %s",
                 where);
    else if (odb_session_account(session)->places.n && !odb_session_kernel(session, v->node))
        node_row(v, UI_STYLE_DIM, 0, ODB_NO_NODE, ODB_NO_VALUE, "%s",
                 "the target runs no node of this name: it is fused, folded or renamed");
}

/* The kernel that the target made of it, and the other nodes in it, which can be gone to. */
static void node_put_kernel(struct node_view *v)
{
    const struct odb_session *session = v->text.view.app->session;
    const struct odb_kernel *kernel = odb_session_kernel(session, v->node);
    struct odb_buf line = ODB_BUF_INIT;
    if (!kernel)
        return;
    odb_buf_put_shown(&line, kernel->name);
    node_row(v, UI_STYLE_NORMAL, 0, ODB_NO_NODE, ODB_NO_VALUE, "in the target's kernel %s%s",
             odb_buf_text(&line), kernel->n > 1 ? ", with" : ", alone");
    for (size_t i = 0; i < kernel->n; i++) {
        if (kernel->nodes[i] == v->node)
            continue;
        odb_buf_clear(&line);
        odb_node_put(odb_session_model(session)->graph, kernel->nodes[i], &line);
        node_row(v, UI_STYLE_NORMAL, 2, kernel->nodes[i], ODB_NO_VALUE, "%s", odb_buf_text(&line));
    }
    odb_buf_dispose(&line);
}

/* Opened, it shows where the target's own text speaks of the node. */
static void node_put_text(struct node_view *v)
{
    v->text_row = 0;
    if (!odb_session_account(v->text.view.app->session)->text.len)
        return;
    node_head(v, "on the target");
    v->text_row = v->text.lines.n;
    node_row(v, UI_STYLE_NAME, 2, ODB_NO_NODE, ODB_NO_VALUE, "the model in the target's own words");
}

static void node_make(struct node_view *v)
{
    const struct odb_session *session = v->text.view.app->session;
    const struct odb_graph *graph = odb_session_model(session)->graph;
    const struct odb_node *node = &graph->nodes[v->node];
    const struct odb_op *op = odb_cpu_op(odb_session_cpu(session), v->node);
    struct odb_buf text = ODB_BUF_INIT;
    int width = odb_formal_width(node);
    ui_text_clear(&v->text);
    node_put_head(v, node, op);
    node_put_took(v);
    node_put_place(v);
    node_put_kernel(v);
    if (node->n_out)
        node_head(v, "outputs");
    v->first = v->text.lines.n;
    for (int i = 0; i < node->n_out; i++)
        node_put_port(v, node, i, false, width);
    if (node->n_in)
        node_head(v, "inputs");
    for (int i = 0; i < node->n_in; i++)
        node_put_port(v, node, i, true, width);
    node_put_captured(v, node);
    node_put_attrs(v, node, op);
    node_put_metadata(v, node);
    node_head(v, "ONNX text");
    odb_node_text(graph, node, &text);
    for (size_t n = text.len; n && text.data[n - 1] == '\n'; n--)
        text.data[n - 1] = '\0';
    node_row(v, UI_STYLE_DIM, 2, ODB_NO_NODE, ODB_NO_VALUE, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
    node_put_text(v);
    if (op)
        node_put_page(v, node);
}

static void node_sum_up(struct node_view *v)
{
    ui_text_clear(&v->text);
    v->first = v->attr_rows.n = v->text_row = 0;
    ui_folded_put(&v->text, &v->row, v->cols);
}

/* --- the view --------------------------------------------------------------------------------- */

static void node_open(struct ui_view *view)
{
    struct node_view *v = (struct node_view *)view;
    v->node = v->asked.node = v->answered.node = ODB_NO_NODE;
    v->clerk = odb_job_new(node_done, view->app);
}

static void node_close(struct ui_view *view)
{
    struct node_view *v = (struct node_view *)view;
    atomic_store(&v->asked.stop, true);
    odb_job_free(v->clerk);
    node_drop(&v->asked);
    node_drop(&v->answered);
    free(v->attr_rows.items);
    ui_text_close(view);
}

static void node_prepare(struct ui_view *view, int cols)
{
    struct node_view *v = (struct node_view *)view;
    const struct odb_session *session = view->app->session;
    struct ui_row row = ui_nodes_row(view->app->views[UI_VIEW_NODES]);
    int node = row.node;
    bool answered = odb_job_collect(v->clerk);
    if (answered && atomic_load(&v->asked.stop)) {
        node_drop(&v->asked);
        answered = false;
    } else if (answered) {
        node_drop(&v->answered);
        v->answered = v->asked;
        v->asked = (struct node_request){.node = ODB_NO_NODE};
    }
    odb_session_lock(session);
    unsigned long generation = odb_session_generation(session);
    bool another = v->node != node || v->row.n != row.n;
    bool stale = another || v->cols != cols - 2 || v->generation != generation;
    v->node = node;
    v->row = row;
    v->cols = cols - 2;
    v->generation = generation;
    if (node == ODB_NO_NODE)
        ui_text_clear(&v->text);
    else if (stale && row.n > 1)
        node_sum_up(v);
    else if (row.n > 1)
        answered = false;
    else if (stale || answered)
        node_make(v);
    if (another) { /* on what it makes, where Enter leads to the numbers */
        view->top = 0;
        view->selected = v->first;
    }
    odb_session_unlock(session);
    bool old = v->answered.node != node ||
               (v->answered.generation != generation && !ui_app_busy(view->app));
    if (node != ODB_NO_NODE && row.n == 1 && old)
        node_ask(v);
}

static void node_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct node_view *v = (const struct node_view *)view;
    const struct odb_graph *graph = odb_session_model(view->app->session)->graph;
    if (v->node == ODB_NO_NODE)
        odb_buf_puts(out, "no node");
    else if (v->row.n > 1)
        ui_folded_title(view->app, &v->row, out);
    else
        odb_node_put(graph, v->node, out);
}

static void node_subject(const struct ui_view *view, struct ui_subject *out)
{
    const struct node_view *v = (const struct node_view *)view;
    ui_text_subject(view, out);
    if (out->node == ODB_NO_NODE && out->value == ODB_NO_VALUE)
        out->node = v->node;
}

/* --- what can be opened ----------------------------------------------------------------------- */

/* Tensors with their numbers, bodies with their nodes, the rest in full. */
static void node_open_attr(struct node_view *v, const struct odb_attr *attr)
{
    struct ui_app *app = v->text.view.app;
    struct odb_buf text = ODB_BUF_INIT;
    char shape[256];
    for (size_t i = 0; attr->tensors && i < attr->n; i++) {
        odb_buf_printf(&text, "%s %s\n", odb_dtype_info(attr->tensors[i]->dtype)->name,
                       odb_shape_text(attr->tensors[i], shape, sizeof shape));
        odb_print_tensor(&text, attr->tensors[i], NULL);
        odb_buf_putc(&text, '\n');
    }
    for (size_t i = 0; attr->graphs && i < attr->n; i++)
        ui_body_put(attr->graphs[i], ODB_NO_NODE, &text);
    if (!text.len)
        odb_attr_text(attr, &text);
    ui_output_show(app->views[UI_VIEW_OUTPUT], attr->name, odb_buf_text(&text));
    odb_buf_dispose(&text);
    ui_app_open(app, UI_VIEW_OUTPUT);
}

/* The target's text, where it first speaks of the node or of what that makes. */
static void node_open_text(struct node_view *v)
{
    struct ui_app *app = v->text.view.app;
    const struct odb_session *session = app->session;
    const struct odb_graph *graph = odb_session_model(session)->graph;
    const struct odb_node *node = &graph->nodes[v->node];
    struct ui_view *output = app->views[UI_VIEW_OUTPUT];
    odb_session_lock(session);
    char *text = odb_xstrdup(odb_buf_text(&odb_session_account(session)->text));
    odb_session_unlock(session);
    ui_output_show(output, "target --text", text);
    free(text);
    ui_app_open(app, UI_VIEW_OUTPUT);
    bool found = node->name[0] && ui_list_find(output, node->name, 1, true);
    for (int o = 0; o < node->n_out && !found; o++)
        found =
            node->out[o] >= 0 && ui_list_find(output, graph->values[node->out[o]].name, 1, true);
}

static enum ui_answer node_act(struct ui_view *view, const struct odb_command_call *call,
                               struct odb_error *err)
{
    struct node_view *v = (struct node_view *)view;
    struct ui_app *app = view->app;
    if (call->command->screen != ODB_SCREEN_OPEN || odb_call_arg(call, 0) || v->node < 0 ||
        v->row.n > 1)
        return UI_NOT_MINE;
    const struct odb_node *node = &odb_session_model(app->session)->graph->nodes[v->node];
    for (size_t i = 0, at = ui_text_selected(view); i + 1 < v->attr_rows.n; i++)
        if (at >= v->attr_rows.items[i] && at < v->attr_rows.items[i + 1]) {
            node_open_attr(v, &node->attrs.items[i]);
            return UI_DONE;
        }
    if (v->text_row && view->selected == v->text_row) {
        node_open_text(v);
        return UI_DONE;
    }
    struct ui_subject subject = ui_app_subject(app);
    if (subject.value == ODB_NO_VALUE && subject.node == v->node && node->function) {
        struct odb_buf text = ODB_BUF_INIT;
        ui_body_put(node->function->graph, ODB_NO_NODE, &text);
        ui_output_show(app->views[UI_VIEW_OUTPUT], node->op_type, odb_buf_text(&text));
        odb_buf_dispose(&text);
        ui_app_open(app, UI_VIEW_OUTPUT);
        return UI_DONE;
    }
    return UI_NOT_MINE;
}

static bool node_busy(const struct ui_view *view)
{
    return odb_job_busy(((const struct node_view *)view)->clerk);
}

const struct ui_view_ops ui_node_view = {
    .busy = node_busy,
    .help = "everything about the selected node",
    .size = sizeof(struct node_view),
    .open = node_open,
    .close = node_close,
    .title = node_title,
    .prepare = node_prepare,
    UI_TEXT_LINES,
    .subject = node_subject,
    .act = node_act,
};
