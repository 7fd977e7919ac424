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

#include "command/table/call.h"
#include "command/console/sessions.h"
#include "model/read/load.h"

/* The path from the folder where we are, if it is below that: it is shown. */
static char *reopen_shorten_take(char *path)
{
    char *here = getcwd(NULL, 0);
    size_t n = here ? strlen(here) : 0;
    bool below = n && !strncmp(path, here, n) && path[n] == '/';
    if (below)
        memmove(path, path + n + 1, strlen(path + n + 1) + 1);
    free(here);
    return path;
}

/* Where the model of a session is now: where it was, which old files tell as it was seen from one
 * folder or another, or beside the session. Owned by the caller; NULL: nowhere. */
static char *reopen_find(const struct odb_stored *stored)
{
    const char *base = stored->model ? strrchr(stored->model, '/') : NULL;
    if (!stored->model)
        return NULL;
    char *folder = odb_xstrdup(stored->path);
    const char *dir = dirname(folder);
    char *places[] = {odb_xstrdup(stored->model), odb_xasprintf("%s/%s", dir, stored->model),
                      odb_xasprintf("%s/%s", dir, base ? base + 1 : stored->model)};
    char *found = NULL;
    for (size_t i = 0; i < ODB_COUNT(places); i++) {
        if (!found && access(places[i], R_OK) == 0)
            found = places[i];
        else
            free(places[i]);
    }
    free(folder);
    return found ? reopen_shorten_take(found) : NULL;
}

enum odb_status odb_sessions_model(char **out, const char *path, struct odb_error *err)
{
    struct odb_stored stored;
    enum odb_status status = odb_stored_read(&stored, path, err);
    *out = status == ODB_OK ? reopen_find(&stored) : NULL;
    if (status == ODB_OK && !*out) {
        status = odb_fail(err, ODB_E_IO, "its model %s is not there any more",
                          stored.model ? reopen_shorten_take(stored.model) : "(not known)");
        odb_error_remedy(err, "put it back there, or beside the session");
        odb_error_at(err, "%s", path);
    }
    odb_stored_dispose(&stored);
    return status;
}

static enum odb_status reopen_read(const char *path, enum odb_links links, struct odb_session **out,
                                   struct odb_error *err)
{
    struct odb_model *model = NULL;
    char *file;
    ODB_TRY(odb_sessions_model(&file, path, err));
    enum odb_status status = odb_model_open_linked(&model, file, links, err);
    if (status == ODB_OK)
        status = odb_session_open_take(out, model, path, err);
    if (status != ODB_OK)
        odb_error_at(err, "%s", path);
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
    ODB_TRY(reopen_read(path, console->session->model->links, &next, err));
    odb_session_close(console->next);
    console->next = next;
    return ODB_OK;
}
