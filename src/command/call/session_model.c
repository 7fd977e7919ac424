/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the model of a session file is.
 */
#include "command/call/session_model.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/files/stored.h"

/* The path from the folder where we are, if it is below that: it is shown. */
static char *session_model_shorten_take(char *path)
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
static char *session_model_find(const struct odb_stored *stored)
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
    return found ? session_model_shorten_take(found) : NULL;
}

enum odb_status odb_sessions_model(char **out, const char *path, struct odb_error *err)
{
    struct odb_stored stored;
    enum odb_status status = odb_stored_read(&stored, path, err);
    *out = status == ODB_OK ? session_model_find(&stored) : NULL;
    if (status == ODB_OK && !*out) {
        status = odb_fail(err, ODB_E_IO, "its model %s is not there any more",
                          stored.model ? session_model_shorten_take(stored.model) : "(not known)");
        odb_error_remedy(err, "put it back there, or beside the session");
        odb_error_at(err, "%s", path);
    }
    odb_stored_dispose(&stored);
    return status;
}
