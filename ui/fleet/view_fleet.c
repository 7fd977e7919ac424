/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows are made anew when the file has changed, each with a name of its own, by which what was
 * selected and unfolded is found again. Which of them are listed, and in which order, is arranged
 * from these: a cause stands before its models.
 */
#include "ui/fleet/view_fleet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "fleet/fleet_run.h"
#include "fleet/fleet_words.h"
#include "ui/fleet/fleet_debug.h"
#include "ui/fleet/fleet_progress.h"
#include "ui/fleet/fleet_reader.h"
#include "ui/list/list.h"
#include "ui/list/table_view.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"

#define FLEET_NAME 16 /* columns that a model's name has at least, if it needs them */

enum fleet_by { FLEET_BY_CAUSE, FLEET_BY_MODEL, FLEET_BY_COUNT };
static const char *const fleet_by[] = {"cause", "model"};

static const struct ui_cells_column fleet_columns[][UI_CELLS + 1] =
    {
        [FLEET_BY_CAUSE] =
            {
                {"#", 3, UI_CUT_END, UI_STYLE_NUMBER, .right = true},
                {"models", 6, UI_CUT_END, UI_STYLE_NUMBER, .right = true},
                {"alone", 5, UI_CUT_END, UI_STYLE_NUMBER, .right = true},
                {"cause", 0, UI_CUT_END, UI_STYLE_NAME},
                {"verdict", 10, UI_CUT_END, UI_STYLE_DIM},
            },
        [FLEET_BY_MODEL] =
            {
                {"model", 28, UI_CUT_MIDDLE, UI_STYLE_NAME},
                {"verdict", 10, UI_CUT_END, UI_STYLE_NORMAL},
                {"what", 0, UI_CUT_END, UI_STYLE_NAME},
                {"error", 8, UI_CUT_END, UI_STYLE_NUMBER, .right = true},
                {"seconds", 8, UI_CUT_END, UI_STYLE_NUMBER, .right = true},
                {"cause", 5, UI_CUT_END, UI_STYLE_NUMBER, .right = true},
            },
};

/* What a row is about. */
struct fleet_row {
    enum { FLEET_HEAD, FLEET_NOTE, FLEET_REPRO, FLEET_MODEL } kind;
    size_t cause, model; /* SIZE_MAX: none */
};

struct fleet_rows {
    struct fleet_row *items; /* owned */
    size_t n, cap;
};

/* A listing: its rows, and what each is about. */
struct fleet_listing {
    struct ui_cells_rows all;
    struct fleet_rows rows;
    bool made; /* of what is known now */
};

struct fleet_view {
    struct ui_cells_view cells;
    struct ui_fleet_reader *reader; /* owned; NULL: no fleet is shown */
    struct ui_fleet_known *known;   /* owned; NULL: nothing yet */
    struct ui_fleet_progress progress;
    enum fleet_by by;
    bool looked; /* into the file, once */
    struct ui_cells_column columns[UI_CELLS + 1];
    struct fleet_rows rows;     /* of cells.all */
    struct fleet_listing spare; /* the other listing, so that to turn to it makes nothing anew */
    ODB_VEC(char *) unfolded;   /* owned: keys of causes */
};

static const enum ui_glyph fleet_glyphs[ODB_FLEET_COUNT] = {
    [ODB_FLEET_DIVERGES] = UI_GLYPH_FAIL,   [ODB_FLEET_CRASH] = UI_GLYPH_CRASH,
    [ODB_FLEET_HANG] = UI_GLYPH_TIMEOUT,    [ODB_FLEET_REFUSED] = UI_GLYPH_REFUSED,
    [ODB_FLEET_NONE] = UI_GLYPH_UNTESTABLE, [ODB_FLEET_PASS] = UI_GLYPH_PASS,
    [ODB_FLEET_QUEUED] = UI_GLYPH_UNTESTED};
static const enum ui_style fleet_styles[ODB_FLEET_COUNT] = {
    [ODB_FLEET_DIVERGES] = UI_STYLE_BAD, [ODB_FLEET_CRASH] = UI_STYLE_BAD,
    [ODB_FLEET_HANG] = UI_STYLE_BAD,     [ODB_FLEET_REFUSED] = UI_STYLE_WARN,
    [ODB_FLEET_NONE] = UI_STYLE_UNKNOWN, [ODB_FLEET_PASS] = UI_STYLE_GOOD,
    [ODB_FLEET_QUEUED] = UI_STYLE_DIM};

/* --- rows ------------------------------------------------------------------------------------- */

static void fleet_add(struct fleet_view *v, struct fleet_row is, struct ui_cells_row row)
{
    row.value = ODB_NO_VALUE;
    ui_cells_add_take(&v->cells, row);
    odb_push(&v->rows, is);
}

static const char *fleet_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "2.1e-3" */
static char *fleet_error(const json_t *culprit)
{
    const json_t *error = json_object_get(culprit, "error");
    return json_is_number(error)   ? odb_xasprintf("%.2g", json_number_value(error))
           : json_is_string(error) ? odb_xstrdup(json_string_value(error))
                                   : NULL;
}

/* "#3 Clip /ceiling" */
static void fleet_put_node(const json_t *culprit, struct odb_buf *out)
{
    odb_buf_printf(out, "#%lld %s %s",
                   (long long)json_integer_value(json_object_get(culprit, "index")),
                   fleet_text(culprit, "op_type"), fleet_text(culprit, "name"));
}

/* A line of a cause that is about none of its models. */
static void fleet_add_note(struct fleet_view *v, size_t cause, int kind, const char *label,
                           const char *text)
{
    const char *key = v->known->causes.list.items[cause].key;
    fleet_add(v, (struct fleet_row){kind, cause, SIZE_MAX},
              (struct ui_cells_row){.cells[3] = odb_xasprintf("  %s: %s", label, text),
                                    .mark = UI_GLYPH_DOT,
                                    .style = UI_STYLE_DIM,
                                    .what = odb_xasprintf("%s\n\n%s", key, label)});
}

static void fleet_add_member(struct fleet_view *v, size_t at, const struct odb_cause_member *member)
{
    const struct odb_cause *cause = &v->known->causes.list.items[at];
    const struct odb_fleet_model *model = &v->known->fleet.models.items[member->model];
    char *error = fleet_error(member->culprit);
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "  %s", odb_fleet_brief(&v->known->fleet, model->name));
    if (member->culprit) {
        odb_buf_puts(&text, ": ");
        fleet_put_node(member->culprit, &text);
    }
    if (error)
        odb_buf_printf(&text, ", off by %s", error);
    fleet_add(v, (struct fleet_row){FLEET_MODEL, at, member->model},
              (struct ui_cells_row){.cells = {[2] = odb_xstrdup(member->alone ? "alone" : ""),
                                              [3] = odb_buf_take(&text),
                                              [4] = odb_xstrdup(odb_fleet_word(model->verdict))},
                                    .mark = fleet_glyphs[model->verdict],
                                    .style = fleet_styles[model->verdict],
                                    .what = odb_xasprintf("%s\n%s", cause->key, model->name)});
    free(error);
}

static void fleet_add_cause(struct fleet_view *v, size_t at)
{
    const struct odb_cause *cause = &v->known->causes.list.items[at];
    const struct odb_fleet_repro *repro = odb_cause_repro(&v->known->fleet, cause);
    struct odb_buf common = ODB_BUF_INIT;
    fleet_add(v, (struct fleet_row){FLEET_HEAD, at, SIZE_MAX},
              (struct ui_cells_row){
                  .cells = {odb_xasprintf("%zu", at + 1), odb_xasprintf("%zu", cause->models),
                            odb_xasprintf("%zu", cause->unblocks), odb_xstrdup(cause->title),
                            odb_xstrdup(odb_fleet_word(cause->verdict))},
                  .style = fleet_styles[cause->verdict],
                  .what = odb_xstrdup(cause->key)});
    for (size_t i = 0; i < cause->common.n; i++)
        odb_buf_printf(&common, "%s%s", i ? ", " : "", cause->common.items[i]);
    if (common.len)
        fleet_add_note(v, at, FLEET_NOTE, "in common", odb_buf_text(&common));
    if (repro && repro->folder)
        fleet_add_note(v, at, FLEET_REPRO, "repro", repro->folder);
    else if (repro)
        fleet_add_note(v, at, FLEET_NOTE, "no repro",
                       repro->said ? repro->said : "it does not fail again");
    for (size_t i = 0; i < cause->members.n; i++)
        fleet_add_member(v, at, &cause->members.items[i]);
    odb_buf_dispose(&common);
}

/* Why a model fails, in a few words: its first culprit, and what that computes instead. */
static char *fleet_what(const struct odb_fleet_model *model)
{
    const json_t *culprits = json_object_get(model->report, "culprits");
    const json_t *first = json_array_get(culprits, 0);
    struct odb_buf text = ODB_BUF_INIT;
    if (!first)
        return model->said ? odb_xstrdup(model->said) : NULL;
    fleet_put_node(first, &text);
    const char *variant =
        fleet_text(json_array_get(json_object_get(first, "explanations"), 0), "text");
    if (json_array_size(culprits) > 1)
        odb_buf_printf(&text, " and %zu more", json_array_size(culprits) - 1);
    odb_buf_printf(&text, "%s%s", *variant ? ": " : "", variant);
    return odb_buf_take(&text);
}

/* "1, 4" of each model; owned, each and all. */
static struct odb_buf *fleet_causes(const struct ui_fleet_known *known)
{
    struct odb_buf *of = odb_new_n(struct odb_buf, known->fleet.models.n + 1);
    for (size_t i = 0; i < known->fleet.models.n; i++)
        of[i] = (struct odb_buf)ODB_BUF_INIT;
    for (size_t c = 0; c < known->causes.list.n; c++) {
        const struct odb_cause *cause = &known->causes.list.items[c];
        for (size_t i = 0; i < cause->members.n; i++) {
            struct odb_buf *list = &of[cause->members.items[i].model];
            char *number = odb_xasprintf("%zu", c + 1);
            size_t n = strlen(number);
            bool again = list->len >= n && !strcmp(odb_buf_text(list) + list->len - n, number) &&
                         (list->len == n || list->data[list->len - n - 1] == ',');
            if (!again)
                odb_buf_printf(list, "%s%s", list->len ? "," : "", number);
            free(number);
        }
    }
    return of;
}

static void fleet_add_models(struct fleet_view *v)
{
    const struct odb_fleet *fleet = &v->known->fleet;
    struct odb_buf *causes = fleet_causes(v->known);
    for (size_t i = 0; i < fleet->models.n; i++) {
        const struct odb_fleet_model *model = &fleet->models.items[i];
        const json_t *first = json_array_get(json_object_get(model->report, "culprits"), 0);
        double seconds = ui_app_seconds(v->cells.view.app, model->seconds);
        fleet_add(
            v, (struct fleet_row){FLEET_MODEL, SIZE_MAX, i},
            (struct ui_cells_row){
                .cells = {odb_xstrdup(odb_fleet_brief(fleet, model->name)),
                          odb_xstrdup(odb_fleet_word(model->verdict)), fleet_what(model),
                          fleet_error(first),
                          model->stage == ODB_FLEET_NEW ? NULL : odb_xasprintf("%.1f", seconds),
                          causes[i].len ? odb_xstrdup(odb_buf_text(&causes[i])) : NULL},
                .mark = fleet_glyphs[model->verdict],
                .style = fleet_styles[model->verdict],
                .what = odb_xasprintf("\n%s", model->name)});
        odb_buf_dispose(&causes[i]);
    }
    free(causes);
}

/* --- which are listed ------------------------------------------------------------------------- */

static bool fleet_is_unfolded(const struct fleet_view *v, const char *key)
{
    for (size_t i = 0; i < v->unfolded.n; i++)
        if (!strcmp(v->unfolded.items[i], key))
            return true;
    return false;
}

static void fleet_fold(struct fleet_view *v, const char *key, bool fold)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->unfolded.n; i++)
        if (strcmp(v->unfolded.items[i], key) != 0)
            v->unfolded.items[kept++] = v->unfolded.items[i];
        else
            free(v->unfolded.items[i]);
    v->unfolded.n = kept;
    if (!fold)
        odb_push(&v->unfolded, odb_xstrdup(key));
}

static void fleet_sort(struct ui_cells_view *cells, size_t *items, size_t n)
{
    if (cells->order.column && n)
        qsort_r(items, n, sizeof *items, ui_cells_compare, cells);
}

/* The rows of a cause from its head to the next one, as far as they are listed: those that hold the
 * filter's text, all where the cause itself does, and no model while it is folded. */
static void fleet_list_cause(struct fleet_view *v, size_t head)
{
    struct ui_cells_view *cells = &v->cells;
    struct ui_cells_row *row = &cells->all.items[head];
    bool whole = !cells->filter || ui_cells_row_matches(row, cells->filter);
    bool unfolded = fleet_is_unfolded(v, row->what);
    size_t from = cells->kept.n + 1, models;
    odb_push(&cells->kept, head);
    bool any = whole;
    size_t end = head + 1;
    while (end < v->rows.n && v->rows.items[end].kind != FLEET_HEAD)
        end++;
    for (int kind = FLEET_NOTE; kind <= FLEET_MODEL; kind++) {
        models = cells->kept.n;
        for (size_t i = head + 1; i < end; i++) {
            bool matches =
                whole ? unfolded : ui_cells_row_matches(&cells->all.items[i], cells->filter);
            if ((int)v->rows.items[i].kind == kind && matches)
                odb_push(&cells->kept, i);
        }
    }
    any |= cells->kept.n >= from + 1;
    if (!any) {
        cells->kept.n--;
        return;
    }
    row->mark = cells->kept.n > from ? UI_GLYPH_UNFOLDED : UI_GLYPH_FOLDED;
    if (cells->kept.n > models)
        fleet_sort(cells, cells->kept.items + models, cells->kept.n - models);
}

/* Of table_view.h. */
static void fleet_arrange(struct ui_cells_view *cells)
{
    struct fleet_view *v = (struct fleet_view *)cells;
    ODB_VEC(size_t) heads = {0};
    cells->kept.n = 0;
    for (size_t i = 0; i < v->rows.n; i++) {
        if (v->by == FLEET_BY_CAUSE && v->rows.items[i].kind == FLEET_HEAD)
            odb_push(&heads, i);
        else if (v->by == FLEET_BY_MODEL &&
                 (!cells->filter || ui_cells_row_matches(&cells->all.items[i], cells->filter)))
            odb_push(&cells->kept, i);
    }
    if (v->by == FLEET_BY_MODEL)
        fleet_sort(cells, cells->kept.items, cells->kept.n);
    fleet_sort(cells, heads.items, heads.n);
    for (size_t i = 0; i < heads.n; i++)
        fleet_list_cause(v, heads.items[i]);
    free(heads.items);
}

/* --- what is selected ------------------------------------------------------------------------- */

static const struct fleet_row *fleet_selected(const struct fleet_view *v)
{
    size_t at = v->cells.view.selected;
    return at < v->cells.kept.n ? &v->rows.items[v->cells.kept.items[at]] : NULL;
}

/* The name of the row that is selected; the caller's, NULL: there is none. */
static char *fleet_selection(const struct fleet_view *v)
{
    const struct ui_cells_row *row = ui_cells_selected(&v->cells.view);
    return row ? odb_xstrdup(row->what) : NULL;
}

/* Selects the row of this name, else one of the same model, else of the same cause, and keeps it
 * where it was on the screen. */
static void fleet_select_take(struct fleet_view *v, char *name)
{
    struct ui_view *view = &v->cells.view;
    size_t was = view->selected, best = was;
    const char *model = name ? strchr(name, '\n') : NULL;
    int rank = 0;
    for (size_t i = 0; name && i < v->cells.kept.n; i++) {
        const char *what = v->cells.all.items[v->cells.kept.items[i]].what;
        const char *its = strchr(what, '\n');
        size_t n = strcspn(name, "\n");
        int is = !strcmp(what, name)                                         ? 3
                 : model && model[1] && its && !strcmp(its, model)           ? 2
                 : n && !its && strlen(what) == n && !strncmp(what, name, n) ? 1
                                                                             : 0;
        if (is > rank) {
            rank = is;
            best = i;
        }
    }
    view->selected = best;
    view->top = view->top + best > was ? view->top + best - was : 0;
    free(name);
}

/* --- keeping up ------------------------------------------------------------------------------- */

/* The rows of the listing. */
static void fleet_fill(struct fleet_view *v)
{
    ui_cells_begin(&v->cells);
    v->rows.n = 0;
    if (v->known && v->by == FLEET_BY_MODEL)
        fleet_add_models(v);
    for (size_t i = 0; v->known && v->by == FLEET_BY_CAUSE && i < v->known->causes.list.n; i++)
        fleet_add_cause(v, i);
}

static void fleet_spare_drop(struct fleet_view *v)
{
    ui_cells_rows_dispose(&v->spare.all);
    free(v->spare.rows.items);
    v->spare = (struct fleet_listing){0};
}

/* Shows the listing, whose rows are there; what was selected is, if it is in it. selected: taken.
 */
static void fleet_show(struct fleet_view *v, char *selected)
{
    static const char *const empty[] = {"nothing fails", "none"};
    memcpy(v->columns, fleet_columns[v->by], sizeof v->columns);
    v->cells.empty = empty[v->by];
    fleet_arrange(&v->cells);
    fleet_select_take(v, selected);
}

static void fleet_make(struct fleet_view *v)
{
    char *selected = fleet_selection(v);
    fleet_spare_drop(v);
    fleet_fill(v);
    fleet_show(v, selected);
}

/* To the other listing. */
static void fleet_swap(struct fleet_view *v)
{
    char *selected = fleet_selection(v);
    const struct fleet_listing shown = {v->cells.all, v->rows, true};
    v->cells.all = v->spare.all;
    v->rows = v->spare.rows;
    if (!v->spare.made)
        fleet_fill(v);
    v->spare = shown;
    fleet_show(v, selected);
}

/* What the file cannot be read for is said, and what was known stays. */
static void fleet_take(struct fleet_view *v, struct ui_fleet_known *known)
{
    bool first = !v->known;
    if (known->status != ODB_OK) {
        ui_app_say_error(v->cells.view.app, &known->err);
        ui_fleet_known_free(known);
        return;
    }
    ui_fleet_reader_drop(v->reader, v->known);
    v->known = known;
    ui_fleet_progress_see(&v->progress, known);
    if (first && !known->causes.list.n)
        v->by = FLEET_BY_MODEL;
    fleet_make(v);
}

/* The run that was begun with the screen: how it ended is said where that is not by itself. */
static void fleet_wait(struct fleet_view *v)
{
    struct odb_fleet_shown *shown = v->cells.view.app->console->fleet;
    int how;
    if (!shown->run || waitpid(shown->run, &how, WNOHANG) != shown->run)
        return;
    shown->run = 0;
    ui_fleet_reader_look(v->reader, true);
    char *said = odb_fleet_last_line(shown->said);
    if (WIFEXITED(how) && (WEXITSTATUS(how) < 2 || WEXITSTATUS(how) == 4))
        ui_app_say(v->cells.view.app, UI_STYLE_MESSAGE, "the run is over%s%s", said ? ": " : "",
                   said ? said : "");
    else
        ui_app_say(v->cells.view.app, UI_STYLE_ERROR, "the run ended: %s",
                   said ? said : "it said no why");
    free(said);
}

static void fleet_prepare(struct ui_view *view, int cols)
{
    struct fleet_view *v = (struct fleet_view *)view;
    if (!v->reader)
        return;
    fleet_wait(v);
    struct ui_fleet_known *known =
        v->looked ? ui_fleet_reader_take(v->reader) : ui_fleet_reader_now(v->reader);
    v->looked = true;
    ui_fleet_reader_look(v->reader, false);
    if (known)
        fleet_take(v, known);
    if (v->by == FLEET_BY_MODEL) /* names are paths: they have more room where there is more */
        v->columns[0].most = ODB_MAX(cols * 7 / 20, FLEET_NAME);
    ui_cells_end(&v->cells, cols - 2);
}

/* --- commands --------------------------------------------------------------------------------- */

static enum ui_answer fleet_answer(enum odb_status status)
{
    return status == ODB_OK ? UI_DONE : UI_FAILED;
}

static enum ui_answer fleet_refuse(struct odb_error *err, const char *why)
{
    odb_fail(err, ODB_E_USAGE, "%s", why);
    return UI_FAILED;
}

/* What has come below the cause that is selected is seen. */
static void fleet_reveal(struct fleet_view *v)
{
    struct ui_view *view = &v->cells.view;
    size_t last = view->selected;
    while (last + 1 < v->cells.kept.n &&
           v->rows.items[v->cells.kept.items[last + 1]].kind != FLEET_HEAD)
        last++;
    ui_list_reveal(view, last);
}

/* `fold HOW` of the cause around the selected row, which is selected then. */
static enum ui_answer fleet_do_fold(struct fleet_view *v, const char *how, struct odb_error *err)
{
    const struct fleet_row *row = fleet_selected(v);
    bool all = !strcmp(how, "all") || !strcmp(how, "more");
    bool none = !strcmp(how, "none") || !strcmp(how, "less");
    if (v->by != FLEET_BY_CAUSE || !row)
        return fleet_refuse(err, "only causes fold; `by cause` lists them");
    char *selected = fleet_selection(v);
    const struct odb_causes *causes = &v->known->causes;
    for (size_t i = 0; (all || none) && i < causes->list.n; i++)
        fleet_fold(v, causes->list.items[i].key, all);
    if (!all && !none) {
        const char *key = causes->list.items[row->cause].key;
        bool folds = !strcmp(how, "close") || (strcmp(how, "open") && fleet_is_unfolded(v, key));
        fleet_fold(v, key, folds);
    }
    fleet_arrange(&v->cells);
    fleet_select_take(v, selected);
    if (!all && !none)
        fleet_reveal(v);
    return UI_DONE;
}

/* name NULL: by the next. */
static enum ui_answer fleet_turn(struct fleet_view *v, const char *name, struct odb_error *err)
{
    int by = name ? 0 : (int)(v->by + 1) % FLEET_BY_COUNT;
    while (name && by < FLEET_BY_COUNT && strcmp(name, fleet_by[by]) != 0)
        by++;
    if (by == FLEET_BY_COUNT)
        return fleet_refuse(err, "a fleet is listed by cause or by model");
    bool other = v->by != (enum fleet_by)by;
    v->by = (enum fleet_by)by;
    v->cells.order = (struct ui_sorted){0};
    if (other)
        fleet_swap(v);
    else
        fleet_show(v, fleet_selection(v));
    return UI_DONE;
}

/* searches: F, else Enter. */
static enum ui_answer fleet_look(struct fleet_view *v, bool searches, struct odb_error *err)
{
    struct ui_app *app = v->cells.view.app;
    const struct fleet_row *row = fleet_selected(v);
    if (!row)
        return fleet_refuse(err, "there is nothing to open here");
    if (row->model == SIZE_MAX && searches)
        return fleet_refuse(err, "select a model to be searched; Enter unfolds a cause");
    if (row->kind == FLEET_REPRO) {
        const struct odb_cause *cause = &v->known->causes.list.items[row->cause];
        return fleet_answer(ui_fleet_debug_repro(
            app, &v->known->fleet, odb_cause_repro(&v->known->fleet, cause)->folder, err));
    }
    if (row->model == SIZE_MAX)
        return fleet_do_fold(v, "toggle", err);
    enum odb_status status = ui_fleet_debug(
        app, &v->known->fleet, &v->known->fleet.models.items[row->model], searches, err);
    ui_fleet_reader_look(v->reader, true);
    return fleet_answer(status);
}

static enum ui_answer fleet_act(struct ui_view *view, const struct odb_command_call *call,
                                struct odb_error *err)
{
    struct fleet_view *v = (struct fleet_view *)view;
    const char *arg = odb_call_arg(call, 0);
    if (!v->reader)
        return UI_NOT_MINE;
    switch (call->command->screen) {
    case ODB_SCREEN_OPEN:
        return fleet_look(v, false, err);
    case ODB_SCREEN_GO_ON:
        return fleet_look(v, true, err);
    case ODB_SCREEN_FOLD:
        return fleet_do_fold(v, arg ? arg : "toggle", err);
    case ODB_SCREEN_BY:
        return fleet_turn(v, arg, err);
    case ODB_SCREEN_RELOAD:
        ui_fleet_reader_look(v->reader, true);
        return UI_DONE;
    case ODB_SCREEN_CANCEL:
        if (!v->cells.filter)
            return UI_NOT_MINE;
        ui_cells_filter(view, NULL);
        return UI_DONE;
    default:
        return ui_cells_act(view, call, err);
    }
}

/* --- the view --------------------------------------------------------------------------------- */

static void fleet_open(struct ui_view *view)
{
    struct fleet_view *v = (struct fleet_view *)view;
    const struct odb_fleet_shown *shown = view->app->console->fleet;
    memcpy(v->columns, fleet_columns[v->by], sizeof v->columns);
    v->cells.columns = v->columns;
    v->cells.empty = "none is open";
    v->cells.arrange = fleet_arrange;
    if (shown)
        v->reader = ui_fleet_reader_new(view->app, shown->path);
}

static void fleet_close(struct ui_view *view)
{
    struct fleet_view *v = (struct fleet_view *)view;
    ui_fleet_reader_free(v->reader);
    ui_fleet_known_free(v->known);
    for (size_t i = 0; i < v->unfolded.n; i++)
        free(v->unfolded.items[i]);
    free(v->unfolded.items);
    free(v->rows.items);
    fleet_spare_drop(v);
    ui_cells_close(view);
}

static void fleet_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct fleet_view *v = (const struct fleet_view *)view;
    if (v->reader && !v->known) {
        odb_buf_puts(out, "nothing was read");
        return;
    }
    size_t n = v->by == FLEET_BY_MODEL ? v->cells.all.n : v->known ? v->known->causes.list.n : 0;
    if (n)
        odb_buf_printf(out, "%zu ", n);
    odb_buf_printf(out, "%s%s", fleet_by[v->by], odb_plural(n));
    ui_cells_count(view, out);
}

static bool fleet_shows_progress(const struct fleet_view *v)
{
    return v->known && (v->cells.view.app->console->fleet->run || ui_fleet_reader_runs(v->reader));
}

/* How far the run is, while there is one, and the titles of the columns. */
static int fleet_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    const struct fleet_view *v = (const struct fleet_view *)view;
    int above = rows > 4 && v->reader && fleet_shows_progress(v);
    if (!area)
        return above + ui_cells_header(view, NULL, rows);
    struct ui_area first = ui_area_part(area, 0, 0, 1, area->cols);
    struct ui_area titles = ui_area_part(area, above, 0, area->rows - above, area->cols);
    if (above)
        ui_fleet_progress_draw(&v->progress, view->app, &first);
    ui_cells_header(view, &titles, rows);
    return above + 1;
}

void ui_fleet_put_head(const struct ui_view *view, struct odb_buf *out)
{
    const struct fleet_view *v = (const struct fleet_view *)view;
    if (v->known)
        odb_buf_printf(out, "%s  %zu model%s",
                       v->known->fleet.target ? v->known->fleet.target : "no run",
                       v->known->fleet.models.n, odb_plural(v->known->fleet.models.n));
}

void ui_fleet_put_counts(const struct ui_view *view, struct odb_buf *out)
{
    const struct fleet_view *v = (const struct fleet_view *)view;
    if (!v->known)
        return;
    const struct odb_fleet_told told = {.fleet = &v->known->fleet, .causes = &v->known->causes};
    odb_fleet_put_line(&told, out);
}

bool ui_fleet_runs(const struct ui_view *view)
{
    const struct odb_fleet_shown *shown = view->app->console->fleet;
    return shown && shown->run;
}

const struct ui_view_ops ui_fleet_view = {
    .help = "many models: what fails, and for which cause",
    .size = sizeof(struct fleet_view),
    .whole = true,
    .open = fleet_open,
    .close = fleet_close,
    .title = fleet_title,
    .prepare = fleet_prepare,
    .act = fleet_act,
    .header = fleet_header,
    .column = ui_cells_column,
    .subject = ui_cells_subject,
    UI_CELLS_ROWS_OPS,
};
