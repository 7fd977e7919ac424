/* SPDX-License-Identifier: MIT */
#include "executor/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum odb_status odb_scratch_new(char **path, struct odb_error *err)
{
    const char *base = getenv("TMPDIR");
    char *name = odb_xasprintf("%s/onnxdbg-XXXXXX", base && base[0] ? base : "/tmp");
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
    return ODB_OK;
}

static int scratch_remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    remove(path); /* what cannot be removed stays; the rest still goes */
    return 0;
}

void odb_scratch_remove(const char *path)
{
    nftw(path, scratch_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
