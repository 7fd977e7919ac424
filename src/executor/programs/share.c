/* SPDX-License-Identifier: MIT */
#include "executor/programs/share.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "system/file.h"

static char *share_try(const char *dir, const char *below, const char *folder, const char *file)
{
    char *path = odb_xasprintf("%s%s/%s/%s", dir, below, folder, file);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static char *share_beside(const char *program, const char *folder, const char *file)
{
    static const char *const below[] = {"/../share/onnxdbg", "/share"};
    char *dir = odb_xstrdup(program), *slash = strrchr(dir, '/'), *path = NULL;
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < ODB_COUNT(below) && !path; i++)
        path = share_try(dir, below[i], folder, file);
    free(dir);
    return path;
}

char *odb_share_find(const char *folder, const char *file)
{
    const char *env = getenv(ODB_SHARE_ENV), *serve = getenv("ONNXDBG_SERVE");
    if (env && env[0])
        return share_try(env, "", folder, file);
    char *self = odb_file_self(), *path = self ? share_beside(self, folder, file) : NULL;
    free(self);
    return path || !serve ? path : share_beside(serve, folder, file);
}
