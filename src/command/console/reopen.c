/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `session FILE` at a screen: work goes on with another session file, and with the model that it is
 * of. That is opened while the present one still is there, which stays where anything fails; then
 * the screen ends, and begins anew with the other.
 */
#include "command/console/reopen.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/console.h"
#include "command/call/session_model.h"
#include "command/console/sessions.h"
#include "command/table/quoting.h"
#include "model/read/load.h"
#include "session/files/autosave.h"
#include "session/session_state.h"

/* Where the model of a session is: it is the one that is open here, if that is the same. */
static enum odb_status reopen_model(const struct odb_model *open, const char *path, char **out,
                                    struct odb_error *err)
{
    struct odb_stored stored;
    char sha256[65];
    enum odb_status status = odb_stored_read(&stored, path, err);
    bool same = status == ODB_OK && *open->path && stored.sha256 &&
                odb_model_sha256(open, sha256, NULL) == ODB_OK && !strcmp(sha256, stored.sha256);
    odb_stored_dispose(&stored);
    ODB_TRY(status);
    if (!same)
        return odb_sessions_model(out, path, err);
    *out = odb_xstrdup(open->path);
    return ODB_OK;
}

static enum odb_status reopen_read(const char *path, const struct odb_model *open,
                                   struct odb_session **out, struct odb_error *err)
{
    struct odb_model *model = NULL;
    struct odb_session *session = NULL;
    char *file;
    ODB_TRY(reopen_model(open, path, &file, err));
    enum odb_status status = odb_model_open_linked(&model, file, open->links, err);
    if (status == ODB_OK)
        status = odb_session_open_take(&session, model, path, err);
    if (status == ODB_OK)
        status = odb_autosave_claim(session, err);
    if (status != ODB_OK) {
        odb_session_close(session);
        odb_error_at(err, "%s", path);
    }
    *out = status == ODB_OK ? session : NULL;
    free(file);
    return status;
}

/* What is in no file would be lost. */
static enum odb_status reopen_spares(const struct odb_session *session, const char *path,
                                     struct odb_error *err)
{
    struct odb_buf word = ODB_BUF_INIT;
    if (session->store || !session->report)
        return ODB_OK;
    odb_words_quote(&word, path);
    odb_fail(err, ODB_E_USAGE, "what was found here is in no file, and would be lost");
    odb_error_remedy(err, "type `:session %s over`", odb_buf_text(&word));
    odb_buf_dispose(&word);
    return err->code;
}

enum odb_status odb_sessions_reopen(struct odb_console *console, const char *path, bool over,
                                    struct odb_error *err)
{
    struct odb_session *next = NULL;
    if (odb_sessions_is_open(console, path))
        return odb_fail(err, ODB_E_USAGE, "this session is open already");
    if (!over)
        ODB_TRY(reopen_spares(console->session, path, err));
    ODB_TRY(reopen_read(path, console->session->model, &next, err));
    odb_session_close(console->next);
    console->next = next;
    return ODB_OK;
}
