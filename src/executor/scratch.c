/* SPDX-License-Identifier: MIT */
#include "executor/scratch.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/leavings.h"
#include "base/mem.h"

enum odb_status odb_scratch_new(char **path, struct odb_error *err)
{
    char *name = odb_file_temporary("");
    if (!mkdtemp(name)) {
        odb_fail(err, ODB_E_IO, "cannot make a temporary directory: %s", strerror(errno));
        odb_error_at(err, "%s", name);
        free(name);
        return odb_error_remedy(err, "name a writable one in TMPDIR");
    }
    *path = realpath(name, NULL); /* it is used from other directories */
    if (!*path)
        *path = name;
    else
        free(name);
    odb_leavings_add(*path);
    return ODB_OK;
}

void odb_scratch_remove(const char *path)
{
    char *roots[] = {(char *)path, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
    for (FTSENT *e; tree && (e = fts_read(tree));)
        if (e->fts_info == FTS_D)
            chmod(e->fts_accpath,
                  S_IRWXU); /* as far as that is possible: caches like it read-only */
        else
            remove(e->fts_accpath);
    if (tree)
        fts_close(tree);
    odb_leavings_drop(path);
}
