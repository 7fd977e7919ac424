/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Views, commands and the session are the screen's; only what is in front of them differs. Views
 * are drawn as always, into a row of paper (draw.h), which is printed. Where a command moves the
 * selection, the row that is selected then is printed; where it opens something, the rows of that.
 */
#include "ui/app/plain_screen.h"

#include <poll.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "command/call/console.h"
#include "command/console/complete.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "interpret/cpu.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/app/layout.h"
#include "ui/app/paper.h"
#include "ui/app/running.h"
#include "ui/list/jump.h"
#include "ui/list/view_nodes.h"
#include "ui/view/app.h"
#include "ui/view/history.h"
#include "ui/view/mark.h"
#include "ui/view/outline.h"
#include "ui/view/saving.h"

enum {
    LINEAR_PAGE = 20,     /* rows printed of a list */
    LINEAR_COLUMNS = 200, /* into which rows are drawn */
    LINEAR_PATIENCE = 5,  /* seconds that a view is waited for */
    LINEAR_TELL = 2       /* seconds between two lines of progress */
};

struct linear {
    struct ui_app *app; /* borrowed */
    struct ui_history history;
    FILE *input; /* where lines are read from if it is no terminal */
    bool tty;
};

/* readline gives its callbacks nothing that could lead to the console. */
static const struct odb_console *linear_console;

/* --- reading ---------------------------------------------------------------------------------- */

static char **linear_complete(const char *text, int start, int end)
{
    struct odb_completion found;
    char *line = odb_xstrndup(rl_line_buffer, (size_t)end);
    rl_attempted_completion_over = 1;
    odb_complete(&found, linear_console, line, strlen(line));
    free(line);
    size_t n = found.words.n;
    char **matches = NULL;
    if (n && found.from == (size_t)start) {
        rl_completion_suppress_append = found.partial;
        matches = odb_new_n(char *, n + 2);
        const char *common = n == 1 ? found.words.items[0] : found.common;
        matches[0] = odb_xstrdup(common ? common : text);
        for (size_t i = 0; n > 1 && i < n; i++)
            matches[i + 1] = odb_xstrdup(found.words.items[i]);
    }
    odb_completion_dispose(&found);
    return matches;
}

static void linear_begin(struct linear *linear)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    linear->app->interrupt = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    linear->tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (!linear->tty)
        return;
    linear_console = linear->app->console;
    rl_readline_name = "onnxdbg";
    rl_attempted_completion_function = linear_complete;
    rl_completer_word_break_characters = " \t";
    rl_catch_signals = 0;
    ui_history_open(&linear->history, "history");
    for (size_t i = 0; i < linear->history.lines.n; i++)
        add_history(linear->history.lines.items[i]);
}

/* Owned by the caller; NULL: there are no more. */
static char *linear_read(struct linear *linear)
{
    if (linear->tty) {
        char *line = readline("onnxdbg> ");
        if (line && *line) {
            add_history(line);
            ui_history_add(&linear->history, line);
        }
        return line;
    }
    char *line = NULL;
    size_t size = 0;
    ssize_t n = getline(&line, &size, stdin);
    if (n < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* --- printing --------------------------------------------------------------------------------- */

/* A row as words: where columns were apart, there are two blanks. */
static void linear_squeeze(const char *line, struct odb_buf *out)
{
    line += strspn(line, " ");
    while (*line) {
        size_t blanks = strspn(line, " ");
        odb_buf_puts(out, blanks > 2 ? "  " : blanks == 2 ? "  " : blanks ? " " : "");
        line += blanks;
        size_t n = strcspn(line, " ");
        odb_buf_add(out, line, n);
        line += n;
    }
}

static void linear_number(const char *name, struct odb_number number, struct odb_buf *out)
{
    char text[32];
    if (number.known)
        odb_buf_printf(out, ", %s %s", name, ui_number_text(number, text, sizeof text));
}

/* A node in words, which need no columns and no signs. */
static void linear_node(const struct ui_app *app, size_t at, struct odb_buf *out)
{
    const struct odb_session *session = app->session;
    const struct odb_graph *graph = odb_session_model(session)->graph;
    struct ui_row row = ui_outline_row(ui_nodes_outline(app->views[UI_VIEW_NODES]), graph, at);
    int value;
    if (row.node == ODB_NO_NODE)
        return;
    odb_session_lock(session);
    const struct odb_value_report *report = odb_session_node(session, row.worst, &value);
    const struct odb_node *node = &graph->nodes[row.node];
    if (row.n > 1 && !row.scope)
        odb_buf_printf(out, "#%d, %d constant parts, worst #%d", row.node, row.n, row.worst);
    else if (row.scope)
        odb_buf_printf(out, "#%d scope %.*s, %d nodes, worst #%d", row.node, row.scope,
                       ui_outline_label(graph, row.node), row.n, row.worst);
    else
        odb_buf_printf(out, "#%d %s %s", row.node, node->op_type,
                       ui_outline_label(graph, row.node));
    bool culprit = report->culprit || odb_session_culprit(session, row.worst);
    odb_buf_printf(out, ": %s%s", culprit ? "culprit, " : "", odb_verdict_name(report->verdict));
    linear_number("error", report->error, out);
    linear_number("local error", report->local_error, out);
    linear_number("noise", report->noise, out);
    if (*odb_cpu_unsupported(odb_session_cpu(session), row.worst))
        odb_buf_puts(out, ", no kernel");
    if (odb_session_breaks(session)[row.node])
        odb_buf_puts(out, ", breakpoint");
    if (odb_session_at(session) == row.node)
        odb_buf_puts(out, ", the target stands here");
    for (size_t i = 0; i < odb_session_n_bookmarks(session); i++)
        if (odb_session_bookmark_at(session, i)->node == row.node)
            odb_buf_printf(out, ", bookmark %c", odb_session_bookmark_at(session, i)->letter);
    struct odb_buf type = ODB_BUF_INIT;
    if (row.n == 1 && value != ODB_NO_VALUE)
        odb_session_put_type(session, value, &type);
    if (type.len)
        odb_buf_printf(out, ", %s", odb_buf_text(&type));
    odb_buf_dispose(&type);
    odb_session_unlock(session);
}

static void linear_say(const struct ui_app *app, const char *line)
{
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, line);
    fprintf(app->linear, "%s\n", odb_buf_text(&shown));
    odb_buf_dispose(&shown);
}

static void linear_print_row(struct ui_app *app, struct ui_view *view, size_t row)
{
    struct odb_buf text = ODB_BUF_INIT, line = ODB_BUF_INIT;
    size_t selected = view->selected;
    if (view == app->views[UI_VIEW_NODES]) {
        linear_node(app, row, &line);
    } else {
        view->selected = row;
        ui_paper_print_row(view, LINEAR_COLUMNS, &text);
        view->selected = selected;
        char *plain = odb_xstrndup(odb_buf_text(&text), strcspn(odb_buf_text(&text), "\n"));
        linear_squeeze(plain, &line);
        free(plain);
    }
    if (line.len)
        linear_say(app, odb_buf_text(&line));
    odb_buf_dispose(&line);
    odb_buf_dispose(&text);
}

/* A line is printed once: so what the view computes for itself is waited for, for a while. */
static void linear_prepare(struct ui_app *app, struct ui_view *view)
{
    double began = odb_clock();
    struct pollfd wake = {.fd = app->wake[0], .events = POLLIN};
    for (;;) {
        if (view->ops->prepare)
            view->ops->prepare(view, LINEAR_COLUMNS);
        if (!view->ops->busy || !view->ops->busy(view) || odb_clock() - began > LINEAR_PATIENCE)
            return;
        char drain[64];
        if (poll(&wake, 1, 100) > 0 && read(app->wake[0], drain, sizeof drain) >= 0)
            atomic_store(&app->woken, false);
    }
}

/* The view with the keys: all of a text, a page of a list. */
static void linear_print_view(struct ui_app *app)
{
    struct ui_view *view = ui_app_view(app);
    struct odb_buf title = ODB_BUF_INIT;
    linear_prepare(app, view);
    odb_session_lock(app->session);
    size_t rows = view->ops->rows(view);
    view->ops->title(view, &title);
    odb_session_unlock(app->session);
    linear_say(app, odb_buf_text(&title));
    odb_buf_dispose(&title);
    bool text = view->ops->wraps || view == app->views[UI_VIEW_NODE];
    size_t from = text ? 0 : ODB_MIN(view->selected, rows);
    size_t end = text ? rows : ODB_MIN(from + LINEAR_PAGE, rows);
    for (size_t row = from; row < end; row++)
        linear_print_row(app, view, row);
    if (end < rows)
        fprintf(app->linear, "%zu more rows; page-down goes on\n", rows - end);
}

/* --- doing ------------------------------------------------------------------------------------ */

static void linear_tell(const struct ui_app *app)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_session_lock(app->session);
    ui_layout_state(app, &text);
    odb_session_unlock(app->session);
    fprintf(stderr, "%s\n", odb_buf_text(&text));
    odb_buf_dispose(&text);
}

static void linear_cancel(struct ui_app *app)
{
    if (ui_app_busy(app))
        atomic_store(&app->console->cancel, true);
    else
        ui_saving_stop(app->saving);
}

/* Until the command that runs has ended. */
static void linear_wait(struct linear *linear)
{
    struct ui_app *app = linear->app;
    double told = odb_clock();
    while (ui_app_busy(app) || app->console->pending.n || ui_saving_path(app->saving)) {
        struct pollfd polled[] = {{.fd = app->wake[0], .events = POLLIN},
                                  {.fd = app->interrupt, .events = POLLIN}};
        char drain[64];
        poll(polled, ODB_COUNT(polled), 100);
        while (read(app->wake[0], drain, sizeof drain) == (ssize_t)sizeof drain)
            ;
        atomic_store(&app->woken, false);
        if (ui_app_interrupted(app))
            linear_cancel(app);
        if (odb_clock() - told >= LINEAR_TELL) {
            told = odb_clock();
            linear_tell(app);
        }
        ui_running_collect(app);
    }
}

/* Whether a command of the screen only moves the selection. */
static bool linear_moves(enum odb_screen_id id)
{
    switch (id) {
    case ODB_SCREEN_UP:
    case ODB_SCREEN_DOWN:
    case ODB_SCREEN_GOTO:
    case ODB_SCREEN_PRODUCER:
    case ODB_SCREEN_CONSUMER:
    case ODB_SCREEN_NEXT_CULPRIT:
    case ODB_SCREEN_PREV_CULPRIT:
    case ODB_SCREEN_NEXT_DIVERGENCE:
    case ODB_SCREEN_PREV_DIVERGENCE:
    case ODB_SCREEN_SEARCH:
    case ODB_SCREEN_NEXT_MATCH:
    case ODB_SCREEN_PREV_MATCH:
    case ODB_SCREEN_JUMP_BACK:
    case ODB_SCREEN_JUMP_FORWARD:
    case ODB_SCREEN_RECALL:
    case ODB_SCREEN_BOOKMARK:
    case ODB_SCREEN_WORST:
        return true;
    default:
        return false;
    }
}

/* Those that show nothing new. */
static bool linear_silent(enum odb_screen_id id)
{
    return id == ODB_SCREEN_NONE || id == ODB_SCREEN_WRITE || id == ODB_SCREEN_COPY ||
           id == ODB_SCREEN_PAGE || id == ODB_SCREEN_EDIT || id == ODB_SCREEN_QUIT ||
           id == ODB_SCREEN_TOUR;
}

static enum odb_screen_id linear_screen_id(const char *line)
{
    const struct odb_command *command;
    line += strspn(line, " \t");
    char *word = odb_xstrndup(line, strcspn(line, " \t"));
    enum odb_screen_id id =
        odb_command_find(&command, word, true, NULL) == ODB_OK ? command->screen : ODB_SCREEN_NONE;
    free(word);
    return id;
}

static void linear_do(struct linear *linear, const char *line)
{
    struct ui_app *app = linear->app;
    struct ui_view *view = ui_app_view(app);
    enum odb_screen_id id = linear_screen_id(line);
    int node = ui_app_node(app);
    app->failed = false;
    ui_app_interrupted(app); /* what came before is about nothing */
    ui_app_command(app, line);
    linear_wait(linear);
    if (app->quit || app->failed)
        return;
    bool opened = ui_app_view(app) != view;
    if (opened || (!linear_moves(id) && !linear_silent(id)))
        linear_print_view(app);
    else if (linear_moves(id))
        linear_print_row(app, ui_app_view(app), ui_app_view(app)->selected);
    else if (ui_app_node(app) != node)
        linear_print_row(app, app->views[UI_VIEW_NODES], app->views[UI_VIEW_NODES]->selected);
    fflush(app->linear);
}

void ui_linear_run(struct ui_app *app)
{
    struct linear linear = {.app = app};
    char *line;
    for (int id = 0; id < UI_VIEW_COUNT; id++)
        app->views[id]->height = LINEAR_PAGE;
    linear_begin(&linear);
    linear_wait(&linear);
    fflush(app->linear);
    while (!app->quit && (line = linear_read(&linear))) {
        linear_do(&linear, line);
        free(line);
    }
    if (linear.tty)
        ui_history_close(&linear.history);
    if (app->interrupt >= 0)
        close(app->interrupt);
    app->interrupt = -1;
}
