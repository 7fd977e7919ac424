/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is put down about values and nodes: pins, marks and notes.
 */
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/call/tensor_file.h"
#include "command/call/trust_store.h"
#include "command/console/annotating.h"
#include "command/table/quoting.h"
#include "command/table/verbs.h"
#include "command/value/names.h"
#include "executor/executor.h"
#include "session/session_state.h"

static enum odb_status pin_list(struct odb_command_call *call, enum odb_annotation_kind kind,
                                const char *none)
{
    struct odb_buf out = ODB_BUF_INIT;
    if (!odb_annotating_put_list(call->session, 1u << kind, &out))
        odb_buf_puts(&out, none);
    odb_call__print(call, &out);
    return ODB_OK;
}

/* --- pins ------------------------------------------------------------------------------------- */

/* The value that text names must be made by a node, and the target be able to take it. */
static enum odb_status pin_check(struct odb_command_call *call, const char *text, int *value,
                                 struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    ODB_TRY(odb_call__find_value(graph, text, value, err));
    const struct odb_value *v = &graph->values[*value];
    if (v->producer == ODB_NO_NODE) {
        odb_fail(err, ODB_E_USAGE, "no node makes %s", v->name);
        return odb_error_remedy(err, "`set input NAME=FILE` changes what the model is fed");
    }
    if (!v->name[0])
        return odb_fail(err, ODB_E_USAGE, "%s has no name by which a target could be fed", text);
    if (odb_executor_recorded(odb_console_target(call->console)))
        return odb_fail(err, ODB_E_USAGE,
                        "a recording is fed with nothing, so that nothing can be "
                        "pinned");
    return ODB_OK;
}

/* What is pinned must be of the type that the model declares, as far as it does, and of that which
 * the reference has there. */
static enum odb_status pin_check_type(const struct odb_session *session, int index,
                                      const struct odb_tensor *t, struct odb_error *err)
{
    const struct odb_value *value = &session->model->graph->values[index];
    const struct odb_type *type = &value->type;
    struct odb_tensor *has = odb_session_reference(session, index);
    char is[320], wanted[320];
    bool fits = !type->known || (t->kind == type->kind && t->dtype == type->dtype);
    fits &= !type->known || t->kind != ODB_TENSOR || type->rank < 0 || t->rank == type->rank;
    for (int d = 0; fits && type->known && t->kind == ODB_TENSOR && d < type->rank; d++)
        fits = type->dims[d].value < 0 || type->dims[d].value == t->dims[d];
    if (fits && has)
        fits = has->kind == t->kind && has->dtype == t->dtype && odb_tensor_same_shape(has, t);
    if (has)
        odb_call__type_text(has, wanted, sizeof wanted);
    odb_tensor_unref(has);
    if (fits)
        return ODB_OK;
    return odb_fail(err, ODB_E_INPUT, "it is %s, and %s is %s",
                    odb_call__type_text(t, is, sizeof is), value->name, has ? wanted : type->shown);
}

/* The list without pins of a value; the session's own is copied. */
static void pin_without(const struct odb_session *session, int value,
                        struct odb_annotation_list *out)
{
    odb_annotating_copy(session, out);
    for (size_t i = out->items.n; i > 0; i--)
        if (out->items.items[i - 1].kind == ODB_ANNOTATION_PIN &&
            (value == ODB_NO_VALUE || out->items.items[i - 1].value == value))
            odb_annotation_remove(out, i - 1);
}

enum odb_status odb_command__pin(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0), *from = odb_call_arg(call, 1);
    const struct odb_graph *graph = call->model->graph;
    struct odb_annotation what = {.kind = ODB_ANNOTATION_PIN,
                                  .text = (char *)(from ? from : "reference")};
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation_list list;
    int value;
    if (!text)
        return pin_list(call, ODB_ANNOTATION_PIN, "nothing is pinned\n");
    ODB_TRY(pin_check(call, text, &value, err));
    if (strcmp(what.text, "reference") != 0) { /* one that cannot be read is refused now */
        struct odb_tensor *t;
        ODB_TRY(odb_call__read_tensor(&t, what.text, err));
        enum odb_status fits = pin_check_type(call->session, value, t, err);
        odb_tensor_unref(t);
        if (fits != ODB_OK)
            return odb_error_at(err, "%s", what.text);
    }
    what.place = (char *)graph->values[value].name;
    pin_without(call->session, value, &list);
    enum odb_status status = odb_annotation_add(&list, &what, graph, NULL, err);
    if (status == ODB_OK)
        status = odb_session_annotations_take(call->session, &list, err);
    odb_annotation_list_dispose(&list);
    ODB_TRY(status);
    if (strcmp(what.text, "reference") != 0) { /* under the same name may be something else now */
        odb_session__repin(call->session, graph->values[value].producer);
        odb_trust_keep_pin(what.text);
    }
    odb_buf_put_shown(&out, what.place);
    odb_buf_puts(&out, " is held to ");
    odb_buf_put_shown(&out, strcmp(what.text, "reference") ? what.text : "the reference's value");
    if (graph->nodes[graph->values[value].producer].n_out > 1)
        odb_buf_puts(&out, ", what else its node makes to the reference's");
    odb_buf_puts(&out, "; walking and searching go on from there\n");
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_command__unpin(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation_list list;
    int value = ODB_NO_VALUE;
    if (text)
        ODB_TRY(odb_call__find_value(call->model->graph, text, &value, err));
    size_t before = call->session->annotations.items.n;
    pin_without(call->session, value, &list);
    size_t gone = before - list.items.n;
    enum odb_status status = odb_session_annotations_take(call->session, &list, err);
    odb_annotation_list_dispose(&list);
    ODB_TRY(status);
    if (text && !gone)
        return odb_fail(err, ODB_E_USAGE, "%s is not pinned", text);
    odb_buf_printf(&out, "%zu pin%s taken away\n", gone, gone == 1 ? "" : "s");
    odb_call__print(call, &out);
    return ODB_OK;
}

/* --- marks and notes -------------------------------------------------------------------------- */

/* Puts something down in place of what is there of its kind, or takes that away, and says so. A
 * node of the main graph is kept by its index: names may be repeated. */
static enum odb_status pin_put(struct odb_command_call *call, enum odb_annotation_kind kind,
                               const char *at, const char *text, bool remove, struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    struct odb_annotation what = {.kind = kind, .place = (char *)at, .text = (char *)text};
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation_list one = {0};
    char place[32];
    bool had = false;
    int node;
    if (odb_graph_find_node(graph, at, &node, NULL) == ODB_OK) {
        snprintf(place, sizeof place, "#%d", node);
        what.place = place;
    }
    ODB_TRY(odb_annotation_add(&one, &what, graph, NULL, err));
    odb_annotating_put_where(graph, &one.items.items[0], &out);
    odb_annotation_list_dispose(&one);
    enum odb_status status = odb_session_annotate_at(call->session, &what, remove, &had, err);
    if (status != ODB_OK) {
        odb_buf_dispose(&out);
        return status;
    }
    odb_buf_printf(&out,
                   !remove ? " has a %s\n"
                   : had   ? " has no %s any more\n"
                           : " has no %s\n",
                   odb_annotation_name(kind));
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_command__mark(struct odb_command_call *call, struct odb_error *err)
{
    if (!call->n_args)
        return pin_list(call, ODB_ANNOTATION_MARK, "no node is marked\n");
    return pin_put(call, ODB_ANNOTATION_MARK, call->args[0], "", false, err);
}

enum odb_status odb_command__unmark(struct odb_command_call *call, struct odb_error *err)
{
    return pin_put(call, ODB_ANNOTATION_MARK, call->args[0], "", true, err);
}

/* `note NODE TEXT`; NODE alone takes its note away. */
enum odb_status odb_command__note(struct odb_command_call *call, struct odb_error *err)
{
    const char *at = odb_call_arg(call, 0);
    struct odb_buf word = ODB_BUF_INIT;
    char quote = 0;
    if (!at)
        return pin_list(call, ODB_ANNOTATION_NOTE, "there are no notes\n");
    odb_words__next(&at, &word, &quote);
    at += strspn(at, " \t");
    enum odb_status status = pin_put(call, ODB_ANNOTATION_NOTE, odb_buf_text(&word), at, !*at, err);
    odb_buf_dispose(&word);
    return status;
}
