/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `session FILE` at a screen: work goes on with another session file, and with the model that it is
 * of. That is opened while the present one still is there, which stays where anything fails; then
 * the screen ends, and begins anew with the other.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/call.h"
#include "command/sessions.h"

/* Where the model of a session is now: where it was, or beside the session. Owned by the caller;
 * NULL: nowhere. */
static char *reopen_model(const struct odb_stored *stored)
{
    const char *base;
    if (!stored->model)
        return NULL;
    if (access(stored->model, R_OK) == 0)
        return odb_xstrdup(stored->model);
    char *folder = odb_xstrdup(stored->path);
    base = strrchr(stored->model, '/');
    char *beside = odb_xasprintf("%s/%s", dirname(folder), base ? base + 1 : stored->model);
    free(folder);
    if (access(beside, R_OK) == 0)
        return beside;
    free(beside);
    return NULL;
}

static enum odb_status reopen_read(const char *path, struct odb_session **out,
                                   struct odb_error *err)
{
    struct odb_stored stored;
    struct odb_model *model = NULL;
    char *file = NULL;
    enum odb_status status = odb_stored_read(&stored, path, err);
    bool named = status != ODB_OK; /* by that already */
    if (status == ODB_OK && !(file = reopen_model(&stored))) {
        status = odb_fail(err, ODB_E_IO, "its model %s is not there any more",
                          stored.model ? stored.model : "(not known)");
        odb_error_remedy(err, "put it back there, or beside the session");
    }
    if (status == ODB_OK)
        status = odb_model_open(&model, file, err);
    if (status == ODB_OK)
        status = odb_session_open_take(out, model, path, err);
    if (status != ODB_OK && !named)
        odb_error_at(err, "%s", path);
    free(file);
    odb_stored_dispose(&stored);
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
    ODB_TRY(reopen_read(path, &next, err));
    odb_session_close(console->next);
    console->next = next;
    return ODB_OK;
}
