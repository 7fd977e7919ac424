/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the files of the model from being written over.
 */
#include "command/value/spare_model.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/error.h"
#include "command/call/call.h"
#include "model/write/external.h"

bool odb_call__same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static bool call_has_weights(const struct odb_model *model, const char *path)
{
    size_t n;
    const char **files = odb_model_external_files(model, &n);
    bool found = false;
    for (size_t i = 0; i < n && !found; i++) {
        char *file = odb_xasprintf("%s/%s", model->dir && *model->dir ? model->dir : ".", files[i]);
        found = odb_call__same_file(file, path);
        free(file);
    }
    free((void *)files);
    return found;
}

enum odb_status odb_call__spare_model(const struct odb_command_call *call, const char *path,
                                      struct odb_error *err)
{
    if (!call->model)
        return ODB_OK;
    if (odb_call__same_file(call->model->path, path))
        odb_fail(err, ODB_E_USAGE, "%s is the model itself, which would be lost", path);
    else if (call_has_weights(call->model, path))
        odb_fail(err, ODB_E_USAGE, "%s holds weights of the model, which would be lost", path);
    else
        return ODB_OK;
    return odb_error_remedy(err, "write to another file");
}
