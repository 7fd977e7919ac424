/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "command/console/filter.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/view/constants.h"

#define OUTLINE_CULPRIT 4 /* how bad a culprit is */

const char *ui_sort_name(enum ui_sort sort)
{
    static const char *const names[] = {
#define OUTLINE_NAME(id, name) [UI_SORT_##id] = name,
        UI_SORT_LIST(OUTLINE_NAME)
#undef OUTLINE_NAME
    };
    return names[sort];
}

/* --- how -------------------------------------------------------------------------------------- */

void ui_arrangement_dispose(struct ui_arrangement *how)
{
    free(how->filter);
    for (size_t i = 0; i < how->folds.n; i++)
        free(how->folds.items[i].scope);
    free(how->folds.items);
    *how = (struct ui_arrangement){.depth = UI_DEPTH_ALL};
}

void ui_arrangement_copy(struct ui_arrangement *out, const struct ui_arrangement *from)
{
    *out = (struct ui_arrangement){.sort = from->sort,
                                   .descending = from->descending,
                                   .depth = from->depth,
                                   .constants = from->constants,
                                   .columns = from->columns,
                                   .filter = from->filter ? odb_xstrdup(from->filter) : NULL};
    for (size_t i = 0; i < from->folds.n; i++) {
        struct ui_fold fold = from->folds.items[i];
        fold.scope = fold.scope ? odb_xstrdup(fold.scope) : NULL;
        odb_push(&out->folds, fold);
    }
}

void ui_outline_init(struct ui_outline *outline, const struct ui_constants *constants)
{
    *outline = (struct ui_outline){
        .plain = true, .how.depth = UI_DEPTH_ALL, .constants = constants, .trunk = ""};
}

static void outline_forget(struct ui_outline *outline)
{
    free(outline->rows);
    free(outline->row_of);
    free(outline->next);
    outline->rows = NULL;
    outline->row_of = outline->next = NULL;
    outline->n = 0;
    outline->plain = true;
}

void ui_outline_dispose(struct ui_outline *outline)
{
    outline_forget(outline);
    odb_filter_free(outline->parsed);
    ui_arrangement_dispose(&outline->how);
    *outline = (struct ui_outline){.plain = true};
}

enum odb_status ui_outline_filter(struct ui_outline *outline, const char *text, size_t *at,
                                  struct odb_error *err)
{
    struct odb_filter *parsed = NULL;
    bool any = text && text[strspn(text, " \t")];
    if (any)
        ODB_TRY(odb_filter_parse(&parsed, text, at, err));
    odb_filter_free(outline->parsed);
    free(outline->how.filter);
    outline->parsed = parsed;
    outline->how.filter = any ? odb_xstrdup(text) : NULL;
    return ODB_OK;
}

/* Whether constant parts stand before what reads them. */
static bool outline_gathers(const struct ui_outline *outline)
{
    const struct ui_arrangement *how = &outline->how;
    return outline->constants && outline->constants->n && !outline->parsed &&
           how->sort == UI_SORT_INDEX && !how->descending;
}

bool ui_outline_follows(const struct ui_outline *outline)
{
    if (outline->plain)
        return false;
    return outline->how.sort >= UI_SORT_TYPE || outline->how.depth != UI_DEPTH_ALL ||
           outline->how.folds.n || outline_gathers(outline) ||
           (outline->parsed && odb_filter_follows(outline->parsed));
}

/* --- scopes ----------------------------------------------------------------------------------- */

const char *ui_outline_label(const struct odb_graph *graph, int node)
{
    const struct odb_node *n = &graph->nodes[node];
    if (*n->name)
        return n->name;
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] != ODB_NO_VALUE && *graph->values[n->out[o]].name)
            return graph->values[n->out[o]].name;
    return "";
}

/* Bytes of the label that its scope of this depth (from 1) has; 0: it has none. */
static int outline_scope(const struct ui_outline *outline, const char *label, int depth)
{
    const char *p = label + (*label == outline->separator);
    while (*p && (p = strchr(p, outline->separator)) && --depth)
        p++;
    return p && *p && p[1] ? (int)(p - label) : 0;
}

/* Names with / in them are paths; dots part them where there is none. */
void ui_outline_look(struct ui_outline *outline, const struct odb_graph *graph)
{
    size_t slashes = 0;
    if (outline->separator)
        return;
    for (size_t i = 0; i < graph->n_nodes; i++)
        slashes += strchr(ui_outline_label(graph, (int)i), '/') != NULL;
    outline->separator = slashes ? '/' : '.';
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const char *label = ui_outline_label(graph, (int)i);
        while (outline_scope(outline, label, outline->deepest + 1))
            outline->deepest++;
    }
}

/* Of a scope: n bytes of a label, or of what a reader reads: label NULL. */
static struct ui_fold *outline_fold(const struct ui_outline *outline, const char *label, int n)
{
    for (size_t i = 0; i < outline->how.folds.n; i++) {
        struct ui_fold *fold = &outline->how.folds.items[i];
        if (label ? fold->scope && strlen(fold->scope) == (size_t)n &&
                        !strncmp(fold->scope, label, (size_t)n)
                  : !fold->scope && fold->reader == n)
            return fold;
    }
    return NULL;
}

static bool outline_is_gathered(const struct ui_outline *outline, int reader)
{
    const struct ui_fold *fold = outline_fold(outline, NULL, reader);
    return fold ? fold->folded : !outline->how.constants;
}

/* The node that a folded constant part is folded for; ODB_NO_NODE: it is none. */
static int outline_gathered_for(const struct ui_outline *outline, int node)
{
    int reader =
        outline_gathers(outline) ? ui_constants_reader(outline->constants, node) : ODB_NO_NODE;
    return reader != ODB_NO_NODE && outline_is_gathered(outline, reader) ? reader : ODB_NO_NODE;
}

/* Scopes of the trunk that the label is in. */
static int outline_shared(const struct ui_outline *outline, const char *label)
{
    int shared = 0;
    for (int n; shared < outline->trunk_depth; shared++)
        if (!(n = outline_scope(outline, label, shared + 1)) ||
            strncmp(label, outline->trunk, (size_t)n + 1))
            break;
    return shared;
}

/* Down to which depth scopes of the label stay open. Where it leaves the trunk it has as much less
 * to go: what stands beside the trunk is folded when the trunk's branches are. */
static int outline_depth(const struct ui_outline *outline, const char *label)
{
    if (outline->how.depth == UI_DEPTH_ALL)
        return UI_DEPTH_ALL;
    int beside = outline->trunk_depth - outline_shared(outline, label);
    return ODB_MAX(outline->how.depth - beside, 0);
}

int ui_outline_branch(const struct ui_outline *outline, const char *label)
{
    return outline_scope(outline, label, outline_shared(outline, label) + 1);
}

static bool outline_is_folded(const struct ui_outline *outline, const char *label, int n, int depth)
{
    const struct ui_fold *fold = outline_fold(outline, label, n);
    return fold ? fold->folded : depth > outline_depth(outline, label);
}

static void outline_set_fold(struct ui_outline *outline, const char *label, int n, bool folded)
{
    struct ui_fold *fold = outline_fold(outline, label, n);
    if (fold)
        fold->folded = folded;
    else
        odb_push(&outline->how.folds,
                 (struct ui_fold){label ? odb_xstrndup(label, (size_t)n) : NULL, n, folded});
}

/* The outermost scope of the label that is folded, as bytes of it; 0: none is. */
static int outline_folded_scope(const struct ui_outline *outline, const char *label)
{
    for (int depth = 1;; depth++) {
        int n = outline_scope(outline, label, depth);
        if (!n || outline_is_folded(outline, label, n, depth))
            return n;
    }
}

bool ui_outline_fold(struct ui_outline *outline, const struct odb_graph *graph, size_t row,
                     bool fold)
{
    ui_outline_look(outline, graph);
    struct ui_row at = ui_outline_row(outline, graph, row);
    if (at.node == ODB_NO_NODE)
        return false;
    const char *label = ui_outline_label(graph, at.node);
    int found = 0;
    int reader = outline_gathers(outline) && !at.scope
                     ? ui_constants_reader(outline->constants, at.node)
                     : ODB_NO_NODE;
    if (reader != ODB_NO_NODE && fold != outline_is_gathered(outline, reader)) {
        outline_set_fold(outline, NULL, reader, fold);
        return true;
    }
    for (int depth = 1;; depth++) {
        int n = outline_scope(outline, label, depth);
        if (!n || (fold && at.scope && n >= at.scope))
            break;
        if (!fold || !outline_is_folded(outline, label, n, depth))
            found = n;
        if (!fold && n == at.scope)
            break;
    }
    if (!found || (!fold && !at.scope))
        return false;
    outline_set_fold(outline, label, found, fold);
    return true;
}

bool ui_outline_reveal(struct ui_outline *outline, const struct odb_graph *graph, int node)
{
    int reader = outline->plain ? ODB_NO_NODE : outline_gathered_for(outline, node);
    bool scopes = outline->how.depth != UI_DEPTH_ALL || outline->how.folds.n, any = false;
    if (outline->plain || (!scopes && reader == ODB_NO_NODE))
        return false;
    const char *label = ui_outline_label(graph, node);
    if (reader != ODB_NO_NODE && outline->rows[outline->row_of[node]].n > 1) {
        outline_set_fold(outline, NULL, reader, false);
        any = true;
    }
    for (int n; (n = outline_folded_scope(outline, label)); any = true)
        outline_set_fold(outline, label, n, false);
    return any;
}

void ui_outline_depth(struct ui_outline *outline, int depth, bool constants)
{
    for (size_t i = 0; i < outline->how.folds.n; i++)
        free(outline->how.folds.items[i].scope);
    outline->how.folds.n = 0;
    outline->how.depth = depth;
    outline->how.constants = constants;
}

/* --- sorting ---------------------------------------------------------------------------------- */

/* How bad a verdict is, for the worst of many. */
static double outline_badness(const struct odb_session *session, int node)
{
    const struct odb_value_report *report = odb_session_node(session, node, NULL);
    if (report->culprit || odb_session_culprit(session, node))
        return OUTLINE_CULPRIT;
    if (odb_verdict_is_bad(report->verdict))
        return 3;
    return report->verdict == ODB_VERDICT_UNTESTED ? 0
           : report->verdict == ODB_VERDICT_PASS   ? 1
                                                   : 2;
}

static double outline_number(struct odb_number number)
{
    return number.known ? isnan(number.v) ? HUGE_VAL : number.v : NAN;
}

static double outline_took(double seconds)
{
    return seconds > 0 ? seconds : NAN;
}

/* NaN: not known. */
static double outline_error(const struct odb_session *session, int node)
{
    const struct odb_value_report *report = odb_session_node(session, node, NULL);
    return report->verdict == ODB_VERDICT_UNTESTED ? NAN : odb_report_error(report);
}

struct outline_key {
    struct ui_row row;
    double number;    /* NaN: not known */
    double then;      /* among equal ones; NaN: not known */
    const char *text; /* NULL: the number counts */
    char *owned;
    bool descending;
};

static void outline_key(const struct odb_session *session, enum ui_sort sort,
                        struct outline_key *key)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    const struct odb_node *node = &graph->nodes[key->row.worst];
    const struct odb_kernel *kernel;
    int value;
    const struct odb_value_report *report = odb_session_node(session, key->row.worst, &value);
    switch (sort) {
    case UI_SORT_OP:
        key->text = node->op_type;
        break;
    case UI_SORT_NAME:
        key->text = ui_outline_label(graph, key->row.node);
        break;
    case UI_SORT_OUTPUT:
        key->text = value == ODB_NO_VALUE ? "" : graph->values[value].name;
        break;
    case UI_SORT_TYPE: {
        struct odb_buf type = ODB_BUF_INIT;
        if (value != ODB_NO_VALUE)
            odb_session_put_type(session, value, &type);
        key->text = key->owned = odb_xstrdup(odb_buf_text(&type));
        odb_buf_dispose(&type);
        break;
    }
    case UI_SORT_KERNEL: /* in the order of the kernels' first nodes */
        kernel = odb_session_kernel(session, key->row.worst);
        key->number = kernel ? (double)kernel->nodes[0] : NAN;
        break;
    case UI_SORT_ERROR:
        key->number = outline_error(session, key->row.worst);
        break;
    case UI_SORT_LOCAL:
        key->number = outline_number(report->local_error);
        break;
    case UI_SORT_NOISE:
        key->number = outline_number(report->noise);
        break;
    case UI_SORT_GAIN:
        key->number = outline_number(report->gain);
        break;
    case UI_SORT_SECONDS:
        key->number = outline_took(odb_session_reference_took(session, key->row.worst));
        break;
    case UI_SORT_TARGET_SECONDS:
        key->number = outline_took(odb_session_target_took(session, key->row.worst));
        break;
    case UI_SORT_VERDICT:
        key->number = outline_badness(session, key->row.worst);
        key->then = outline_error(session, key->row.worst);
        break;
    case UI_SORT_INDEX:
    case UI_SORT_COUNT:
        key->number = key->row.node;
        break;
    }
}

/* What is not known comes last either way: *unknown. */
static int outline_order(double x, double y, int *unknown)
{
    *unknown = isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* What is equal stays in the model's order. */
static int outline_compare(const void *a, const void *b)
{
    const struct outline_key *x = a, *y = b;
    int unknown = 0;
    int order = x->text ? strcmp(x->text, y->text) : outline_order(x->number, y->number, &unknown);
    if (!order && !unknown)
        order = outline_order(x->then, y->then, &unknown);
    if (unknown)
        return unknown;
    if (x->descending)
        order = -order;
    return order ? order : x->row.node - y->row.node;
}

/* Whether rows stand in the model's order. */
static bool outline_in_order(const struct outline_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (keys[i].row.node < keys[i - 1].row.node)
            return false;
    return true;
}

/* Rows of which nothing is known come last, and stand as they should mostly: while a search goes
 * on, these are nearly all. */
static void outline_sort(struct ui_outline *outline, const struct odb_session *session)
{
    if (outline->how.sort == UI_SORT_INDEX && !outline->how.descending)
        return;
    size_t n = 0, known = 0;
    struct outline_key *keys = odb_new_n(struct outline_key, outline->n + 1);
    struct outline_key *rest = odb_new_n(struct outline_key, outline->n + 1);
    for (size_t i = 0; i < outline->n; i++) {
        struct outline_key key = {.row = outline->rows[i], .descending = outline->how.descending};
        outline_key(session, outline->how.sort, &key);
        if (key.text || !isnan(key.number))
            keys[known++] = key;
        else
            rest[n++] = key;
    }
    qsort(keys, known, sizeof *keys, outline_compare);
    if (!outline_in_order(rest, n))
        qsort(rest, n, sizeof *rest, outline_compare);
    for (size_t i = 0; i < known; i++) {
        outline->rows[i] = keys[i].row;
        free(keys[i].owned);
    }
    for (size_t i = 0; i < n; i++)
        outline->rows[known + i] = rest[i].row;
    free(keys);
    free(rest);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void outline_worse(const struct odb_session *session, struct ui_row *row, int node)
{
    double now = outline_error(session, row->worst), other = outline_error(session, node);
    double bad = outline_badness(session, row->worst), badness = outline_badness(session, node);
    if (badness > bad || (badness == bad && (other > now || (isnan(now) && !isnan(other)))))
        row->worst = node;
}

/* What a node adds to the error by itself; 0 where that is not known, or no number. */
static double outline_adds(const struct odb_session *session, int node)
{
    struct odb_number local = odb_session_node(session, node, NULL)->local_error;
    return local.known && isfinite(local.v) ? local.v : 0;
}

/* Rows on their way. */
struct outline_making {
    const struct odb_session *session;
    const struct odb_graph *graph;
    struct odb_map *scopes; /* owned: rows of folded ones; NULL: none is */
    int *last;              /* owned; [n_nodes] of a row */
    int reader;             /* whose constant parts were met last, and their row */
    size_t reader_row;
};

/* The row that the node is folded into, a new one if need be: outline->n. *scope: of its name. */
static size_t outline_place(const struct ui_outline *outline, struct outline_making *making,
                            int node, int *scope)
{
    const char *label = ui_outline_label(making->graph, node);
    size_t row = outline->n;
    *scope = making->scopes ? outline_folded_scope(outline, label) : 0;
    if (*scope) {
        char *key = odb_xstrndup(label, (size_t)*scope);
        if (!odb_map_get(making->scopes, key, &row))
            odb_map_set(making->scopes, key, row);
        free(key);
        return row;
    }
    int reader = outline_gathered_for(outline, node);
    if (reader == ODB_NO_NODE)
        return row;
    if (reader != making->reader)
        making->reader_row = row;
    making->reader = reader;
    return making->reader_row;
}

static void outline_add(struct ui_outline *outline, struct outline_making *making, int node)
{
    int scope;
    size_t row = outline_place(outline, making, node, &scope);
    struct ui_row *at = &outline->rows[row];
    if (row == outline->n) {
        *at = (struct ui_row){.node = node, .scope = scope, .worst = node};
        outline->n++;
    } else {
        outline_worse(making->session, at, node);
        outline->next[making->last[row]] = node;
    }
    at->n++;
    at->culprits += outline_badness(making->session, node) == OUTLINE_CULPRIT;
    at->adds += outline_adds(making->session, node);
    making->last[row] = node;
    outline->row_of[node] = (int)row;
}

/* A row for each node that the filter lets through, or for what it is folded into, where the first
 * of them stands. */
static void outline_list(struct ui_outline *outline, const struct odb_session *session)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    bool folds = outline->how.depth != UI_DEPTH_ALL || outline->how.folds.n;
    struct outline_making making = {.session = session,
                                    .graph = graph,
                                    .scopes = folds ? odb_map_new() : NULL,
                                    .last = odb_new_n(int, graph->n_nodes + 1),
                                    .reader = ODB_NO_NODE};
    outline->adds = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        outline->row_of[i] = -1;
        outline->next[i] = ODB_NO_NODE;
        outline->adds += outline_adds(session, (int)i);
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        int node = outline_gathers(outline) ? outline->constants->order[i] : (int)i;
        if (!outline->parsed || odb_filter_matches(outline->parsed, session, node))
            outline_add(outline, &making, node);
    }
    for (size_t row = 0; row < outline->n; row++)
        if (outline->rows[row].n == 1) { /* nothing would be hidden but its name */
            outline->rows[row].scope = outline->rows[row].culprits = 0;
            outline->rows[row].adds = 0;
        }
    free(making.last);
    odb_map_free(making.scopes);
}

void ui_outline_make(struct ui_outline *outline, const struct odb_session *session)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    const struct ui_arrangement *how = &outline->how;
    outline_forget(outline);
    outline->plain = !outline->parsed && how->sort == UI_SORT_INDEX && !how->descending &&
                     how->depth == UI_DEPTH_ALL && !how->folds.n && !outline_gathers(outline);
    if (outline->plain)
        return;
    ui_outline_look(outline, graph);
    outline->rows = odb_new_n(struct ui_row, graph->n_nodes + 1);
    outline->row_of = odb_new_n(int, graph->n_nodes + 1);
    outline->next = odb_new_n(int, graph->n_nodes + 1);
    outline_list(outline, session);
    outline_sort(outline, session);
    for (size_t row = 0; row < outline->n; row++)
        for (int node = outline->rows[row].node; node != ODB_NO_NODE; node = outline->next[node])
            outline->row_of[node] = (int)row;
}

size_t ui_outline_rows(const struct ui_outline *outline, const struct odb_graph *graph)
{
    return outline->plain ? graph->n_nodes : outline->n;
}

struct ui_row ui_outline_row(const struct ui_outline *outline, const struct odb_graph *graph,
                             size_t row)
{
    if (row >= ui_outline_rows(outline, graph))
        return (struct ui_row){.node = ODB_NO_NODE, .worst = ODB_NO_NODE};
    if (outline->plain)
        return (struct ui_row){.node = (int)row, .n = 1, .worst = (int)row};
    return outline->rows[row];
}

size_t ui_outline_find(const struct ui_outline *outline, int node)
{
    size_t row = 0;
    if (node < 0)
        return 0;
    if (outline->plain)
        return (size_t)node;
    if (outline->row_of[node] >= 0)
        return (size_t)outline->row_of[node];
    if (outline->how.sort == UI_SORT_INDEX && !outline->how.descending)
        while (row + 1 < outline->n && outline->rows[row].node < node)
            row++;
    return row;
}
