/* SPDX-License-Identifier: MIT */
#include "executor/programs/made.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "executor/place.h"

#define MADE_FORM "onnxdbg made 1" /* another one makes other keys */

struct odb_made_file {
    char *path; /* owned: below the directory */
    struct stat st;
};

static enum odb_status made_io(struct odb_error *err, const char *path)
{
    odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    return odb_error_at(err, "%s", path);
}

/* --- its life -------------------------------------------------------------------------------- */

enum odb_status odb_made_init(struct odb_made *made, const char *cache, struct odb_error *err)
{
    *made = (struct odb_made){0};
    ODB_TRY(odb_compiled_open(&made->compiled, cache, 0, err));
    made->keys = odb_compiled_keys_new();
    return ODB_OK;
}

static void made_forget(struct odb_made *made)
{
    for (size_t i = 0; i < made->files.n; i++)
        free(made->files.items[i].path);
    free(made->files.items);
    made->files.items = NULL;
    made->files.n = made->files.cap = 0;
    json_decref(made->about);
    made->about = NULL;
}

void odb_made_dispose(struct odb_made *made)
{
    made_forget(made);
    odb_compiled_close(made->compiled);
    odb_compiled_keys_free(made->keys);
    *made = (struct odb_made){0};
}

/* --- a model --------------------------------------------------------------------------------- */

static int made_order(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static FTS *made_open(const char *dir)
{
    char *roots[] = {(char *)(uintptr_t)dir, NULL};
    return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, made_order);
}

/* Notes the files of a model's directory. */
static enum odb_status made_note(struct odb_made *made, const char *dir, struct odb_error *err)
{
    FTS *tree = made_open(dir);
    if (!tree)
        return made_io(err, dir);
    for (const FTSENT *e; (e = fts_read(tree));)
        if (e->fts_info == FTS_F)
            odb_push(&made->files, ((struct odb_made_file){
                                       odb_xstrdup(e->fts_path + strlen(dir) + 1), *e->fts_statp}));
    fts_close(tree);
    return ODB_OK;
}

/* A model lies in dir, not yet compiled. */
static enum odb_status made_begin(struct odb_made *made, const char *dir,
                                  const struct odb_load *load, const struct odb_argv *words,
                                  const char *says, struct odb_error *err)
{
    struct odb_buf by = ODB_BUF_INIT;
    made_forget(made);
    ODB_TRY(made_note(made, dir, err));
    odb_compiled_key_begin(made->keys);
    odb_compiled_key_text(made->keys, MADE_FORM);
    for (size_t i = 0; i < words->list.n; i++)
        odb_compiled_key_word(made->keys, words->list.items[i], i == 0);
    odb_compiled_key_text(made->keys, "");
    odb_compiled_key_text(made->keys, says);
    ODB_TRY(odb_compiled_key_model(made->keys, load, err));
    odb_compiled_key_end(made->keys, made->key);
    odb_argv_show(words, &by);
    made->about = odb_compiled_key_about(made->keys, load, odb_buf_text(&by));
    odb_buf_dispose(&by);
    made->since = odb_clock();
    return ODB_OK;
}

/* --- copies ---------------------------------------------------------------------------------- */

static bool made_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Whether a file is of the model, as it was. */
static bool made_was_there(const struct odb_made *made, const char *path, const struct stat *st)
{
    for (size_t i = 0; i < made->files.n; i++)
        if (!strcmp(made->files.items[i].path, path))
            return made_same(&made->files.items[i].st, st);
    return false;
}

/* With its time and with the right to be executed, in the place of what has its name. */
static enum odb_status made_copy_file(const FTSENT *e, const char *to, struct odb_error *err)
{
    struct timespec times[2] = {e->fts_statp->st_atim, e->fts_statp->st_mtim};
    unlink(to);
    ODB_TRY(odb_place_copy(e->fts_path, to, err));
    if (chmod(to, (e->fts_statp->st_mode & 0777) | 0600) < 0)
        return made_io(err, to);
    utimensat(AT_FDCWD, to, times, 0);
    return ODB_OK;
}

static enum odb_status made_copy_link(const FTSENT *e, const char *to, struct odb_error *err)
{
    char target[4096];
    ssize_t n = readlink(e->fts_path, target, sizeof target - 1);
    if (n < 0)
        return made_io(err, e->fts_path);
    target[n] = '\0';
    unlink(to);
    return symlink(target, to) < 0 ? made_io(err, to) : ODB_OK;
}

static enum odb_status made_copy_one(const struct odb_made *made, const FTSENT *e, const char *path,
                                     const char *to, struct odb_error *err)
{
    switch (e->fts_info) {
    case FTS_D:
        return mkdir(to, 0700) < 0 && errno != EEXIST ? made_io(err, to) : ODB_OK;
    case FTS_F:
        return made_was_there(made, path, e->fts_statp) ? ODB_OK : made_copy_file(e, to, err);
    case FTS_SL:
    case FTS_SLNONE:
        return made_copy_link(e, to, err);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        errno = e->fts_errno;
        return made_io(err, e->fts_path);
    default:
        return ODB_OK;
    }
}

/* All but what was there before the model was compiled. */
static enum odb_status made_copy(const struct odb_made *made, const char *from, const char *to,
                                 struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    FTS *tree = made_open(from);
    if (!tree)
        return made_io(err, from);
    for (FTSENT *e; status == ODB_OK && (e = fts_read(tree));) {
        if (e->fts_level == FTS_ROOTLEVEL && e->fts_info != FTS_NS && e->fts_info != FTS_DNR)
            continue;
        const char *path = e->fts_path + strlen(from);
        char *name = odb_xasprintf("%s%s", to, path);
        status = made_copy_one(made, e, path + (path[0] == '/'), name, err);
        free(name);
    }
    fts_close(tree);
    return status;
}

/* --- what is kept ---------------------------------------------------------------------------- */

/* Copies what was made of it before into dir, if that is kept. After an error dir holds half of
 * it. */
static enum odb_status made_find(const struct odb_made *made, const char *dir, bool *found,
                                 struct odb_error *err)
{
    struct odb_compiled_use use;
    *found = odb_compiled_find(made->compiled, made->key, &use);
    if (!*found)
        return ODB_OK;
    enum odb_status status = made_copy(made, use.files, dir, err);
    odb_compiled_leave(&use);
    *found = status == ODB_OK;
    return status;
}

enum odb_status odb_made_place(struct odb_made *made, struct odb_exchange *files,
                               const struct odb_load *load, const struct odb_argv *words,
                               const char *says, bool *found, struct odb_error *err)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    *found = false;
    ODB_TRY(odb_exchange_load(files, load, err));
    ODB_TRY(made_begin(made, odb_place_dir(files->place), load, words, says, err));
    if (made_find(made, odb_place_dir(files->place), found, &ignored) == ODB_OK)
        return ODB_OK;
    /* It could not be read, or there is no room: a directory without the pieces. */
    ODB_TRY(odb_exchange_load(files, load, err));
    return made_begin(made, odb_place_dir(files->place), load, words, says, err);
}

struct made_fill {
    const struct odb_made *made;
    const char *dir;
};

static enum odb_status made_fill(void *from, const char *to, struct odb_error *err)
{
    const struct made_fill *fill = from;
    return made_copy(fill->made, fill->dir, to, err);
}

void odb_made_keep(struct odb_made *made, const struct odb_exchange *files)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct made_fill fill = {made, odb_place_dir(files->place)};
    char line[2048];
    json_object_set_new(made->about, "seconds", json_real(odb_clock() - made->since));
    if (odb_compiled_keep_take(made->compiled, made->key, made_fill, &fill,
                               json_incref(made->about), &why) == ODB_OK)
        return;
    char *text = odb_xasprintf("what was compiled could not be kept: %s\n",
                               odb_error_text(&why, line, sizeof line));
    odb_program_say(text, strlen(text));
    free(text);
}
