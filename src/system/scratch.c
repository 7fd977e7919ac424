/* SPDX-License-Identifier: MIT */
#include "system/scratch.h"

#include <errno.h>
#include <fts.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "system/temporary.h"
#include "base/mem.h"

#define SCRATCH_RUN "run-" /* of today's: those of older programs have no lock */
#define SCRATCH_ATTEMPTS 100

/* The first that a process makes has those removed that were left by others. */
static void scratch_sweep(const char *folder, const char *template)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&done))
        return;
    char *beginning = odb_xstrndup(template, strlen(template) - strlen("XXXXXX"));
    odb_temporary_sweep(folder, beginning, "");
    free(beginning);
}

/* As mkdtemp(), but that the folder is remembered before it is there: a signal may end the program
 * in the moment when it is new. */
static bool scratch_make(char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char drawn[6]; /* as many letters as a template of mkdtemp() ends in */
    char *six = name + strlen(name) - sizeof drawn;
    for (int attempt = 0; attempt < SCRATCH_ATTEMPTS; attempt++) {
        if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
            return false;
        for (size_t i = 0; i < sizeof drawn; i++)
            six[i] = letters[drawn[i] % (sizeof letters - 1)];
        odb_temporary_add(name);
        if (mkdir(name, 0700) == 0) {
            odb_temporary_lock(name);
            return true;
        }
        int why = errno;
        odb_temporary_drop(name);
        errno = why;
        if (why != EEXIST)
            return false;
    }
    return false;
}

enum odb_status odb_scratch_new(char **path, struct odb_error *err)
{
    char *wanted = odb_file_temporary(SCRATCH_RUN), *template = strrchr(wanted, '/');
    *template ++ = '\0';
    char *folder = realpath(*wanted ? wanted : "/", NULL); /* it is used from other directories */
    char *name = odb_xasprintf("%s/%s", folder ? folder : wanted, template);
    scratch_sweep(folder ? folder : wanted, template);
    enum odb_status status = ODB_OK;
    if (!scratch_make(name)) {
        odb_fail(err, ODB_E_IO, "cannot make a temporary directory: %s", strerror(errno));
        odb_error_at(err, "%s", name);
        status = odb_error_remedy(err, "name a writable one in TMPDIR");
        free(name);
        name = NULL;
    }
    *path = name;
    free(folder);
    free(wanted);
    return status;
}

enum odb_status odb_scratch_beside(char **scratch, const char *path, struct odb_error *err)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *whole = odb_xstrndup(path, n);
    char *name = odb_temporary_name(whole);
    odb_temporary_sweep_beside(whole);
    odb_temporary_add(name);
    enum odb_status status = odb_file_mkdir_new(name, err);
    *scratch = status == ODB_OK ? name : NULL;
    if (status == ODB_OK) {
        odb_temporary_lock(name);
    } else {
        odb_temporary_drop(name);
        free(name);
    }
    free(whole);
    return status;
}

enum odb_status odb_scratch_for_file(char **scratch, const char *path, struct odb_error *err)
{
    char *above = odb_file_absolute(path);
    strrchr(above, '/')[1] = '\0';
    int why = access(above, F_OK) == 0 ? 0 : errno;
    free(above);
    if (!why)
        return odb_scratch_beside(scratch, path, err);
    odb_fail(err, ODB_E_IO, "cannot write: %s", strerror(why));
    return odb_error_at(err, "%s", path);
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
    odb_temporary_drop(path);
}
