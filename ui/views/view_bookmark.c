/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Places in the list that have a letter, kept in the session.
 */
#include "ui/views/view_bookmark.h"

#include "command/call/console.h"
#include "command/console/annotating.h"
#include "session/session.h"
#include "ui/list/jump.h"
#include "ui/view/action.h"
#include "ui/view/app.h"

UI_ACTION(bookmark)
{
    char letter = 0;
    int node = ui_app_node(app);
    ODB_TRY(odb_annotating_letter(call->args[0], &letter, err));
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
    ODB_TRY(odb_annotating_letter(call->args[0], &letter, err));
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
