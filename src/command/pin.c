/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is put down about values and nodes: pins, marks and notes.
 */
#include <stdlib.h>
#include <string.h>

#include "command/keeping.h"
#include "command/words.h"
#include "executor/executor.h"

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
                    odb_call__type_text(t, is, sizeof is), value->name, has ? wanted : type->text);
}

/* The list without pins of a value; the session's own is copied. */
static void pin_without(const struct odb_session *session, int value, struct odb_kept_list *out)
{
    odb_keeping_copy(session, out);
    for (size_t i = out->items.n; i > 0; i--)
        if (out->items.items[i - 1].kind == ODB_KEPT_PIN &&
            (value == ODB_NO_VALUE || out->items.items[i - 1].value == value))
            odb_kept_remove(out, i - 1);
}

enum odb_status odb_command__pin(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0), *from = odb_call_arg(call, 1);
    const struct odb_graph *graph = call->model->graph;
    struct odb_kept what = {.kind = ODB_KEPT_PIN, .text = (char *)(from ? from : "reference")};
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_kept_list list;
    int value;
    if (!text) {
        if (!odb_keeping_put_list(call->session, 1u << ODB_KEPT_PIN, &out))
            odb_buf_puts(&out, "nothing is pinned\n");
        odb_call__print(call, &out);
        return ODB_OK;
    }
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
    enum odb_status status = odb_kept_add(&list, &what, graph, NULL, err);
    if (status == ODB_OK)
        status = odb_session_keep_list_take(call->session, &list, err);
    odb_kept_list_dispose(&list);
    ODB_TRY(status);
    if (strcmp(what.text, "reference") != 0) /* under the same name may be something else now */
        odb_session__repin(call->session, graph->values[value].producer);
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
    struct odb_kept_list list;
    int value = ODB_NO_VALUE;
    if (text)
        ODB_TRY(odb_call__find_value(call->model->graph, text, &value, err));
    size_t before = call->session->kept.items.n;
    pin_without(call->session, value, &list);
    size_t gone = before - list.items.n;
    enum odb_status status = odb_session_keep_list_take(call->session, &list, err);
    odb_kept_list_dispose(&list);
    ODB_TRY(status);
    if (text && !gone)
        return odb_fail(err, ODB_E_USAGE, "%s is not pinned", text);
    odb_buf_printf(&out, "%zu pin%s taken away\n", gone, gone == 1 ? "" : "s");
    odb_call__print(call, &out);
    return ODB_OK;
}

/* --- marks and notes -------------------------------------------------------------------------- */

/* Puts something down at a node in place of what is there of its kind; text "": takes that away. */
static enum odb_status pin_put(struct odb_command_call *call, enum odb_kept_kind kind, int node,
                               const char *text, bool remove, struct odb_buf *out,
                               struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    char place[32];
    struct odb_kept what = {.kind = kind, .place = place, .text = (char *)text};
    struct odb_kept_list list;
    enum odb_status status = ODB_OK;
    snprintf(place, sizeof place, "#%d", node);
    odb_keeping_copy(call->session, &list);
    size_t n = list.items.n;
    for (size_t i = n; i > 0; i--)
        if (list.items.items[i - 1].kind == kind && list.items.items[i - 1].node == node)
            odb_kept_remove(&list, i - 1);
    odb_node_put(graph, node, out);
    if (!remove)
        status = odb_kept_add(&list, &what, graph, NULL, err);
    odb_buf_printf(
        out, remove ? list.items.n < n ? " has no %s any more\n" : " has no %s\n" : " has a %s\n",
        odb_kept_name(kind));
    if (status == ODB_OK)
        status = odb_session_keep_list_take(call->session, &list, err);
    odb_kept_list_dispose(&list);
    return status;
}

static enum odb_status pin_mark(struct odb_command_call *call, bool remove, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT;
    int node;
    if (!text) {
        if (!odb_keeping_put_list(call->session, 1u << ODB_KEPT_MARK, &out))
            odb_buf_puts(&out, "no node is marked\n");
        odb_call__print(call, &out);
        return ODB_OK;
    }
    ODB_TRY(odb_graph_find_node(call->model->graph, text, &node, err));
    enum odb_status status = pin_put(call, ODB_KEPT_MARK, node, "", remove, &out, err);
    odb_call__print(call, &out);
    return status;
}

enum odb_status odb_command__mark(struct odb_command_call *call, struct odb_error *err)
{
    return pin_mark(call, false, err);
}

enum odb_status odb_command__unmark(struct odb_command_call *call, struct odb_error *err)
{
    return pin_mark(call, true, err);
}

/* `note NODE TEXT`; NODE alone takes its note away. */
enum odb_status odb_command__note(struct odb_command_call *call, struct odb_error *err)
{
    const char *at = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT, word = ODB_BUF_INIT;
    char quote = 0;
    int node;
    if (!at) {
        if (!odb_keeping_put_list(call->session, 1u << ODB_KEPT_NOTE, &out))
            odb_buf_puts(&out, "there are no notes\n");
        odb_call__print(call, &out);
        return ODB_OK;
    }
    odb_words__next(&at, &word, &quote);
    at += strspn(at, " \t");
    enum odb_status status =
        odb_graph_find_node(call->model->graph, odb_buf_text(&word), &node, err);
    if (status == ODB_OK)
        status = pin_put(call, ODB_KEPT_NOTE, node, at, !*at, &out, err);
    odb_buf_dispose(&word);
    odb_call__print(call, &out);
    return status;
}
