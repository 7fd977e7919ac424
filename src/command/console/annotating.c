/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/console/annotating.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "session/session_state.h"

#define ANNOTATING_MANY 100000 /* nodes in bodies that are counted */

void odb_annotating_copy(const struct odb_session *session, struct odb_annotation_list *out)
{
    odb_session_lock(session);
    odb_annotation_list_copy(out, &session->annotations, session->model->graph);
    odb_session_unlock(session);
}

/* --- saying what there is --------------------------------------------------------------------- */

void odb_annotating_put_where(const struct odb_graph *graph,
                              const struct odb_annotation *annotation, struct odb_buf *out)
{
    const struct odb_graph *body =
        annotation->n_way ? annotation->way[annotation->n_way - 1].body.graph : NULL;
    size_t n = 0, below = 0;
    if (annotation->kind == ODB_ANNOTATION_BREAK)
        odb_buf_puts(out, annotation->condition ? "behind " : "before ");
    if (annotation->kind == ODB_ANNOTATION_PIN ||
        (annotation->value >= 0 && annotation->condition)) {
        odb_buf_put_shown(out, annotation->place);
    } else if (body) {
        odb_buf_put_shown(out, annotation->place);
        if (annotation->node != ODB_NO_NODE)
            odb_buf_printf(out, " (%s)", body->nodes[annotation->node].op_type);
    } else if (annotation->node != ODB_NO_NODE) {
        odb_node_put(graph, annotation->node, out);
    } else if (annotation->place[0]) {
        for (size_t i = 0; i < graph->n_nodes; i++)
            n += odb_annotation_is_at(annotation, graph, (int)i, NULL);
        below = odb_annotation_count_below(graph, annotation->place, ANNOTATING_MANY);
        odb_buf_printf(out, "%zu%s node%s", n + below, below == ANNOTATING_MANY ? " or more" : "",
                       n + below == 1 ? "" : "s, each");
        odb_buf_puts(out, n + below == 1 ? ", a " : " a ");
        odb_buf_put_shown(out, annotation->place);
        if (below)
            odb_buf_puts(out, n ? ", also in bodies" : ", in bodies");
    } else if (annotation->kind == ODB_ANNOTATION_BREAK) {
        odb_buf_puts(out, "any node");
    }
}

static const char *annotating_times(int64_t n, char *buf, size_t size)
{
    snprintf(buf, size, n == 1 ? "once" : "%lld times", (long long)n);
    return buf;
}

void odb_annotating_put(const struct odb_graph *graph, const struct odb_annotation *annotation,
                        struct odb_buf *out)
{
    static const char *const before[ODB_ANNOTATION_COUNT] = {[ODB_ANNOTATION_BREAK] = "  if ",
                                                             [ODB_ANNOTATION_PIN] = " to ",
                                                             [ODB_ANNOTATION_MARK] = "  ",
                                                             [ODB_ANNOTATION_NOTE] = ": "};
    char times[40];
    odb_buf_printf(out, "%-3d %-11s ", annotation->number, odb_annotation_name(annotation->kind));
    odb_annotating_put_where(graph, annotation, out);
    if (annotation->text[0]) {
        odb_buf_puts(out, before[annotation->kind] ? before[annotation->kind] : "");
        odb_buf_put_shown(out, annotation->text);
    }
    odb_buf_puts(out, annotation->once ? "  once" : "");
    odb_buf_puts(out, annotation->disabled ? "  disabled" : "");
    if (annotation->ignore)
        odb_buf_printf(out, "  ignored %s",
                       annotating_times(annotation->ignore, times, sizeof times));
    if (annotation->hits)
        odb_buf_printf(out, "  hit %s", annotating_times(annotation->hits, times, sizeof times));
    odb_buf_putc(out, '\n');
}

size_t odb_annotating_put_list(const struct odb_session *session, unsigned kinds,
                               struct odb_buf *out)
{
    struct odb_annotation_list list;
    size_t n = 0;
    odb_annotating_copy(session, &list);
    for (size_t i = 0; i < list.items.n; i++)
        if (kinds >> list.items.items[i].kind & 1) {
            odb_annotating_put(session->model->graph, &list.items.items[i], out);
            n++;
        }
    odb_annotation_list_dispose(&list);
    return n;
}

/* --- changing it ------------------------------------------------------------------------------ */

/* "3", "2-5", or "$", the one put down last. */
static bool annotating_range(const struct odb_annotation_list *list, unsigned kinds,
                             const char *word, long *low, long *high)
{
    char *end;
    int kind = 0;
    while (kind < ODB_ANNOTATION_COUNT && !(kinds >> kind & 1))
        kind++;
    *low = *high = strcmp(word, "$") ? strtol(word, &end, 10) : list->last[kind];
    if (!strcmp(word, "$"))
        return true;
    if (end == word || *low <= 0)
        return false;
    if (*end == '-') {
        word = end + 1;
        *high = strtol(word, &end, 10);
    }
    return end != word && !*end && *high >= *low;
}

/* Which items the words name. marks: [list->items.n] */
static enum odb_status annotating_mark(const struct odb_annotation_list *list,
                                       const char *const *words, size_t n_words, unsigned kinds,
                                       bool *marks, struct odb_error *err)
{
    long low, high;
    for (size_t i = 0; i < list->items.n && !n_words; i++)
        marks[i] = kinds >> list->items.items[i].kind & 1;
    for (size_t w = 0; w < n_words; w++) {
        bool any = false;
        if (!annotating_range(list, kinds, words[w], &low, &high))
            return odb_fail(err, ODB_E_USAGE, "'%.40s' is neither a number nor a range as 2-5",
                            words[w]);
        for (size_t i = 0; i < list->items.n; i++) {
            const struct odb_annotation *annotation = &list->items.items[i];
            if (!(kinds >> annotation->kind & 1) || annotation->number < low ||
                annotation->number > high)
                continue;
            any = marks[i] = true;
        }
        if (any)
            continue;
        odb_fail(err, ODB_E_USAGE, "there is no number %.40s", words[w]);
        return odb_error_remedy(err, "`info %ss` lists them",
                                kinds & 1u << ODB_ANNOTATION_BREAK ? "breakpoint" : "display");
    }
    return ODB_OK;
}

enum odb_status odb_annotating_change(struct odb_command_call *call, const char *const *words,
                                      size_t n_words, const struct odb_annotating_change *how,
                                      struct odb_error *err)
{
    struct odb_session *session = call->session;
    struct odb_annotation_list *list = &session->annotations;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation_change change;
    size_t n = 0;
    odb_session_annotate_begin(session, &change);
    bool *marks = odb_new_n(bool, list->items.n + 1);
    enum odb_status status = annotating_mark(list, words, n_words, how->kinds, marks, err);
    for (size_t i = list->items.n; status == ODB_OK && i > 0; i--) {
        if (!marks[i - 1])
            continue;
        n++;
        if (how->remove)
            odb_annotation_remove(list, i - 1);
        else
            how->change(&list->items.items[i - 1], how->value);
    }
    free(marks);
    ODB_TRY(odb_session_annotate_end(session, &change, status, err));
    const char *what = how->kinds & 1u << ODB_ANNOTATION_BREAK  ? "breakpoint"
                       : how->kinds & 1u << ODB_ANNOTATION_PIN  ? "pin"
                       : how->kinds & 1u << ODB_ANNOTATION_MARK ? "mark"
                                                                : "display";
    odb_buf_printf(&out, "%zu %s%s %s\n", n, what, n == 1 ? "" : "s", how->said);
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_annotating_remove(struct odb_command_call *call, enum odb_annotation_kind kind,
                                      struct odb_error *err)
{
    const struct odb_annotating_change how = {
        .kinds = 1u << kind, .said = "deleted", .remove = true};
    return odb_annotating_change(call, call->args, call->n_args, &how, err);
}

enum odb_status odb_annotating_letter(const char *word, char *letter, struct odb_error *err)
{
    if (word[0] > ' ' && word[0] < 0x7f && !word[1]) {
        *letter = word[0];
        return ODB_OK;
    }
    odb_fail(err, ODB_E_USAGE, "'%.20s' cannot be a bookmark", word);
    return odb_error_remedy(err, "a bookmark is one letter or digit");
}
