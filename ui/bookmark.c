/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Places in the list that have a letter, kept in the session.
 */
#include <string.h>

#include "ui/actions.h"
#include "ui/utf8.h"

static enum odb_status bookmark_letter(const char *word, char *letter, struct odb_error *err)
{
    if (word[0] > ' ' && word[0] < 0x7f && !word[1]) {
        *letter = word[0];
        return ODB_OK;
    }
    odb_fail(err, ODB_E_USAGE, "'%.20s' cannot be a bookmark", word);
    return odb_error_remedy(err, "a bookmark is one letter or digit");
}

UI_ACTION(bookmark)
{
    char letter = 0;
    int node = ui_app_node(app);
    if (!call->n_args) {
        size_t n = 0;
        for (size_t i = 0; i < app->session->bookmarks.n; i++, n++) {
            const struct odb_bookmark *mark = &app->session->bookmarks.items[i];
            struct odb_buf text = ODB_BUF_INIT;
            odb_node_put(app->session->model->graph, mark->node, &text);
            fprintf(call->out, "%c  %s\n", mark->letter, odb_buf_text(&text));
            odb_buf_dispose(&text);
        }
        if (!n)
            fputs("no bookmarks; `bookmark a` marks the selected node\n", call->out);
        return ODB_OK;
    }
    ODB_TRY(bookmark_letter(call->args[0], &letter, err));
    if (node == ODB_NO_NODE)
        return odb_fail(err, ODB_E_USAGE, "no node is selected");
    if (odb_session_bookmarked(app->session, letter) == node)
        node = ODB_NO_NODE; /* a second time: it is taken away */
    ODB_TRY(odb_session_bookmark(app->console->session, letter, node, err));
    if (node == ODB_NO_NODE)
        ui_app_say(app, UI_STYLE_MESSAGE, "bookmark %c is gone", letter);
    else
        ui_app_say(app, UI_STYLE_MESSAGE, "bookmark %c is #%d; '%c comes back to it", letter, node,
                   letter);
    return ODB_OK;
}

UI_ACTION(recall)
{
    char letter = 0;
    if (!call->n_args)
        return odb_fail(err, ODB_E_USAGE, "recall needs the letter of a bookmark");
    ODB_TRY(bookmark_letter(call->args[0], &letter, err));
    if (letter == '\'') { /* twice: where one was before */
        if (!app->trail.n)
            return odb_fail(err, ODB_E_USAGE, "there was no jump yet");
        ui_app_jump(app, app->trail.items[app->trail.n - 1]);
        return ODB_OK;
    }
    int node = odb_session_bookmarked(app->session, letter);
    if (node == ODB_NO_NODE) {
        odb_fail(err, ODB_E_USAGE, "there is no bookmark %c", letter);
        return odb_error_remedy(err, "m%c sets it", letter);
    }
    ui_app_jump(app, node);
    return ODB_OK;
}
