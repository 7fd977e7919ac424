/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Breakpoints and watchpoints: put down, switched, counted and taken away, as in gdb.
 */
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/console/annotating.h"
#include "command/table/quoting.h"
#include "command/table/verbs.h"
#include "command/value/names.h"
#include "session/session_state.h"

#define BREAK_STOPS (1u << ODB_ANNOTATION_BREAK | 1u << ODB_ANNOTATION_WATCH)

/* --- putting down ----------------------------------------------------------------------------- */

/* Without the blanks at its end. */
static char *break_trim(const char *text)
{
    size_t n = strlen(text);
    while (n && strchr(" \t", text[n - 1]))
        n--;
    return odb_xstrndup(text, n);
}

/* "PLACE", "PLACE if CONDITION" or "if CONDITION"; both are the caller's. */
static enum odb_status break_split(const char *text, char **place, char **condition,
                                   struct odb_error *err)
{
    struct odb_buf word = ODB_BUF_INIT;
    const char *at = text;
    char quote = 0;
    *place = *condition = NULL;
    if (strncmp(text, "if ", 3) != 0)
        odb_words__next(&at, &word, &quote);
    at += strspn(at, " \t");
    bool conditional = !strncmp(at, "if", 2) && (!at[2] || strchr(" \t(!", at[2]));
    if (quote || (*at && !conditional)) {
        odb_buf_dispose(&word);
        if (quote)
            return odb_fail(err, ODB_E_USAGE, "a %c is not closed", quote);
        odb_fail(err, ODB_E_USAGE, "'%.40s' stands where 'if' is expected", at);
        return odb_error_remedy(err, "write break NODE if CONDITION");
    }
    at += conditional ? 2 : 0;
    *condition = break_trim(at + strspn(at, " \t"));
    if (conditional && !**condition) {
        odb_buf_dispose(&word);
        free(*condition);
        odb_fail(err, ODB_E_USAGE, "no condition stands behind 'if'");
        return odb_error_remedy(err, "`help break` shows some");
    }
    *place = word.len ? odb_buf_take(&word) : odb_xstrdup("");
    return ODB_OK;
}

static enum odb_status break_keep(struct odb_command_call *call, struct odb_annotation *what,
                                  struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation_list list;
    int number;
    ODB_TRY(odb_session_annotate(call->session, what, &number, err));
    odb_annotating_copy(call->session, &list);
    odb_annotating_put(call->model->graph, odb_annotation_find(&list, what->kind, number), &out);
    odb_annotation_list_dispose(&list);
    odb_call__print(call, &out);
    return ODB_OK;
}

static enum odb_status break_list(struct odb_command_call *call)
{
    struct odb_buf out = ODB_BUF_INIT;
    if (!odb_annotating_put_list(call->session, BREAK_STOPS, &out))
        odb_buf_puts(&out, "there are no breakpoints\n");
    odb_call__print(call, &out);
    return ODB_OK;
}

static enum odb_status break_set(struct odb_command_call *call, bool once, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0);
    struct odb_annotation what = {.kind = ODB_ANNOTATION_BREAK, .once = once};
    if (!text)
        return break_list(call);
    ODB_TRY(break_split(text, &what.place, &what.text, err));
    enum odb_status status = break_keep(call, &what, err);
    free(what.place);
    free(what.text);
    return status;
}

enum odb_status odb_command__break(struct odb_command_call *call, struct odb_error *err)
{
    return break_set(call, false, err);
}

enum odb_status odb_command__tbreak(struct odb_command_call *call, struct odb_error *err)
{
    return break_set(call, true, err);
}

enum odb_status odb_command__watch(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_annotation what = {.kind = ODB_ANNOTATION_WATCH,
                                  .text = (char *)odb_call_arg(call, 0)};
    return what.text ? break_keep(call, &what, err) : break_list(call);
}

/* Takes away what is before a node, and not in a body; returns how many there were. */
static size_t break_remove_at(struct odb_annotation_list *list, int node)
{
    size_t before = list->items.n;
    for (size_t i = before; i > 0; i--) {
        const struct odb_annotation *annotation = &list->items.items[i - 1];
        if (annotation->kind == ODB_ANNOTATION_BREAK && !annotation->n_way &&
            annotation->node == node)
            odb_annotation_remove(list, i - 1);
    }
    return before - list->items.n;
}

/* What a key does: there is one before this node, or there is none. */
enum odb_status odb_command__toggle(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_annotation what = {.kind = ODB_ANNOTATION_BREAK,
                                  .place = (char *)odb_call_arg(call, 0)};
    struct odb_session *session = call->session;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation_change change;
    struct odb_annotation_list copy;
    int node;
    ODB_TRY(odb_graph_find_node(call->model->graph, what.place, &node, err));
    odb_annotating_copy(session, &copy);
    bool any = break_remove_at(&copy, node) > 0;
    odb_annotation_list_dispose(&copy);
    if (!any)
        return break_keep(call, &what, err);
    odb_session_annotate_begin(session, &change);
    break_remove_at(&session->annotations, node);
    ODB_TRY(odb_session_annotate_end(session, &change, ODB_OK, err));
    odb_buf_puts(&out, "no breakpoint any more before ");
    odb_node_put(call->model->graph, node, &out);
    odb_buf_putc(&out, '\n');
    odb_call__print(call, &out);
    return ODB_OK;
}

/* --- changing --------------------------------------------------------------------------------- */

static void break_switch(struct odb_annotation *annotation, int64_t off)
{
    annotation->disabled = off;
}

/* `enable 2`, `disable display 1`. */
static enum odb_status break_switch_some(struct odb_command_call *call, bool off,
                                         struct odb_error *err)
{
    bool display = call->n_args && !strncmp("display", call->args[0], strlen(call->args[0]));
    const struct odb_annotating_change how = {.kinds = display ? 1u << ODB_ANNOTATION_DISPLAY
                                                               : BREAK_STOPS,
                                              .said = off ? "disabled" : "enabled",
                                              .change = break_switch,
                                              .value = off};
    return odb_annotating_change(call, call->args + display, call->n_args - display, &how, err);
}

enum odb_status odb_command__enable(struct odb_command_call *call, struct odb_error *err)
{
    return break_switch_some(call, false, err);
}

enum odb_status odb_command__disable(struct odb_command_call *call, struct odb_error *err)
{
    return break_switch_some(call, true, err);
}

static void break_ignore(struct odb_annotation *annotation, int64_t times)
{
    annotation->ignore = times;
}

enum odb_status odb_command__ignore(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_annotating_change how = {.kinds = BREAK_STOPS,
                                              .said = "changed",
                                              .change = break_ignore,
                                              .value = strtoll(call->args[1], NULL, 10)};
    return odb_annotating_change(call, call->args, 1, &how, err);
}

enum odb_status odb_command__condition(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0);
    struct odb_session *session = call->session;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation *annotation = NULL;
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || (*end && !strchr(" \t", *end)))
        return odb_fail(err, ODB_E_USAGE, "the number of a breakpoint is expected, not '%.40s'",
                        text);
    char *condition = break_trim(end + strspn(end, " \t"));
    struct odb_annotation_change change;
    odb_session_annotate_begin(session, &change);
    for (size_t i = 0; i < session->annotations.items.n; i++)
        if (BREAK_STOPS >> session->annotations.items.items[i].kind & 1 &&
            session->annotations.items.items[i].number == number)
            annotation = &session->annotations.items.items[i];
    enum odb_status status = annotation
                                 ? odb_annotation_set_text(annotation, condition, err)
                                 : odb_fail(err, ODB_E_USAGE, "there is no breakpoint %ld", number);
    if (status == ODB_OK)
        odb_annotating_put(session->model->graph, annotation, &out);
    status = odb_session_annotate_end(session, &change, status, err);
    free(condition);
    if (status == ODB_OK)
        odb_call__print(call, &out);
    else
        odb_buf_dispose(&out);
    return status;
}

/* `delete 2`, `delete 1-3`; `delete Conv` takes away what was put there by that name. */
enum odb_status odb_command__delete(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_annotating_change how = {.kinds = BREAK_STOPS, .said = "deleted", .remove = true};
    const char *text = odb_call_arg(call, 0);
    struct odb_buf numbers = ODB_BUF_INIT;
    struct odb_annotation_list list;
    ODB_VEC(char *) words = {0};
    bool number = text && strspn(text, "0123456789") == strcspn(text, "-");
    if (!text || number || !strcmp(text, "$") || call->n_args > 1)
        return odb_annotating_change(call, call->args, call->n_args, &how, err);
    bool *marks = NULL;
    size_t n;
    enum odb_status status = odb_call__mark_nodes(call->model->graph, text, &marks, &n, err);
    odb_annotating_copy(call->session, &list);
    for (size_t i = 0; i < list.items.n; i++) {
        const struct odb_annotation *annotation = &list.items.items[i];
        bool node = annotation->node != ODB_NO_NODE && !annotation->n_way && marks &&
                    marks[annotation->node];
        if (annotation->kind == ODB_ANNOTATION_BREAK &&
            (node || !strcasecmp(annotation->place, text)))
            odb_push(&words, odb_xasprintf("%d", annotation->number));
    }
    odb_annotation_list_dispose(&list);
    free(marks);
    if (words.n)
        status = odb_annotating_change(call, (const char *const *)words.items, words.n, &how, err);
    else if (status == ODB_OK)
        status = odb_fail(err, ODB_E_USAGE, "there is no breakpoint at %.80s", text);
    for (size_t i = 0; i < words.n; i++)
        free(words.items[i]);
    free(words.items);
    odb_buf_dispose(&numbers);
    return status;
}
