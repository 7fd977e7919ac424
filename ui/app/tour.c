/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Five steps from a model to a small one that shows its fault. What to do stands at the bottom; a
 * step is done when its command was, whichever key or line gave it.
 */
#include "ui/app/tour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "session/session.h"
#include "ui/terminal/key.h"
#include "ui/view/action.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"

static bool tour_found(const struct ui_app *app, const char *command)
{
    return odb_session_report(app->session) && odb_session_report(app->session)->culprits.n;
}

static bool tour_node(const struct ui_app *app, const char *command)
{
    return app->focus == UI_VIEW_NODE;
}

static bool tour_tensor(const struct ui_app *app, const char *command)
{
    return app->focus == UI_VIEW_TENSOR;
}

static bool tour_sorted(const struct ui_app *app, const char *command)
{
    return !strcmp(command, "sort") || !strcmp(command, "filter") || !strcmp(command, "fold");
}

static bool tour_exported(const struct ui_app *app, const char *command)
{
    return !strcmp(command, "export");
}

/* {bisect} is the key that gives the command, or, without a screen, the command. */
static const struct tour_step {
    const char *text;
    bool (*done)(const struct ui_app *app, const char *command);
} tour_steps[] = {
    {"A fault is planted in one of these nodes, for the target only. {bisect} runs the model on "
     "the reference and on the target, and finds where the two part.",
     tour_found},
    {"The culprit made an error of its own; what comes after it inherited that. {open} looks into "
     "the node.",
     tour_node},
    {"Here are its outputs and inputs, with their errors and the noise of honest rounding. Go to "
     "an output ({down}); {open} shows its numbers.",
     tour_tensor},
    {"Reference, target, difference, and where it is worst. {cancel} goes back, to the list of "
     "nodes at last; there {sort} puts the largest errors first.",
     tour_sorted},
    {"{filter} filters the list, {fold all} folds it. {export {node}} writes the selected node as "
     "a model of its own that shows the fault: go to the culprit ({next-culprit}) first.",
     tour_exported},
};

static void tour_key(const struct ui_app *app, const char *command, struct odb_buf *out)
{
    static const char *const views[] = {"nodes", "node", "all"};
    char name[16];
    int key = 0;
    for (size_t v = 0; v < ODB_COUNT(views) && !app->linear && !key; v++)
        key = ui_keymap_key(app->keymap, views[v], command);
    if (key)
        odb_buf_puts(out, ui_key_name(key, name, sizeof name));
    else
        odb_buf_printf(out, "`%s`", command);
}

void ui_tour_text(const struct ui_app *app, struct odb_buf *out)
{
    if (app->tour > (int)ODB_COUNT(tour_steps)) {
        odb_buf_puts(out, "That was the tour. ");
        tour_key(app, "view help", out);
        odb_buf_puts(out, " lists the keys, ");
        tour_key(app, "quit", out);
        odb_buf_puts(out, " leaves. Next: onnxdbg YOUR.onnx --target ort");
        return;
    }
    odb_buf_printf(out, "tour %d of %zu: ", app->tour, ODB_COUNT(tour_steps));
    for (const char *p = tour_steps[app->tour - 1].text; *p;) {
        if (*p != '{') {
            odb_buf_putc(out, *p++);
            continue;
        }
        size_t n = 0; /* of the command; {node} may be in it */
        for (int depth = 1; depth; n++)
            depth += (p[1 + n] == '{') - (p[1 + n] == '}');
        char *command = odb_xstrndup(p + 1, n - 1);
        tour_key(app, command, out);
        free(command);
        p += n + 1;
    }
}

static void tour_show(struct ui_app *app)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (app->linear) {
        ui_tour_text(app, &text);
        fprintf(app->linear, "%s\n", odb_buf_text(&text));
    }
    odb_buf_dispose(&text);
    app->dirty = true;
}

void ui_tour_note(struct ui_app *app, const char *command)
{
    if (!app->tour)
        return;
    if (app->tour > (int)ODB_COUNT(tour_steps)) {
        app->tour = 0;
    } else if (tour_steps[app->tour - 1].done(app, command)) {
        app->tour++;
        tour_show(app);
    }
}

UI_ACTION(tour)
{
    app->tour = app->tour ? 0 : 1;
    if (app->tour)
        tour_show(app);
    else
        ui_app_say(app, UI_STYLE_MESSAGE, "the tour is over");
    return ODB_OK;
}
