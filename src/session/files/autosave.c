/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each run of the debugger has a folder of its own, which it holds locked: so two that work on one
 * model never meet, and none takes a file away that another one writes. The folder's name begins
 * with digests of the model and of its path, so that those of a model are found without opening
 * any: MODEL-PATH-XXXXXX/session.odb. The file is SQLite's (store.h): a program that is killed
 * leaves whole transactions.
 *
 * Nothing is written into a folder that another user owns or may write to.
 */
#include "session/files/autosave.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "model/read/load.h"
#include "session/session_state.h"
#include "system/file.h"
#include "system/lock.h"

#define AUTOSAVE_FILE "session.odb"
#define AUTOSAVE_DIGITS 16 /* of each digest */
#define AUTOSAVE_KEY (2 * AUTOSAVE_DIGITS + 1)
#define AUTOSAVE_NAME (AUTOSAVE_KEY + 1 + 6)

/* What SQLite keeps beside the file, behind its name. */
static const char *const autosave_endings[] = {"", "-wal", "-shm", "-journal"};

bool odb_autosave_is_on(const char *setting, bool otherwise)
{
    const char *said = setting ? setting : getenv("ONNXDBG_AUTOSAVE");
    return said && *said ? strcmp(said, "off") != 0 : otherwise;
}

/* --- the folder ------------------------------------------------------------------------------- */

char *odb_autosave_folder(void)
{
    return odb_file_home("XDG_STATE_HOME", ".local/state", "sessions");
}

static bool autosave_is_mine(const struct stat *st)
{
    return st->st_uid == geteuid();
}

/* A link to a folder is fine if it is the user's, and so is the folder. */
static enum odb_status autosave_check(const char *path, struct odb_error *err)
{
    struct stat link, st;
    if (lstat(path, &link) || stat(path, &st))
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        odb_fail(err, ODB_E_IO, "it is no folder");
    else if (!autosave_is_mine(&link) || !autosave_is_mine(&st))
        odb_fail(err, ODB_E_IO, "it belongs to another user");
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        odb_fail(err, ODB_E_IO, "other users may write to it");
    else
        return ODB_OK;
    odb_error_remedy(err, "--session FILE keeps it elsewhere");
    return odb_error_at(err, "%s", path);
}

/* make: where it is not there. */
static enum odb_status autosave_enter(const char *folder, bool make, struct odb_error *err)
{
    char *above = odb_xstrndup(folder, (size_t)(strrchr(folder, '/') - folder));
    enum odb_status status = ODB_OK;
    if (make && !odb_file_make_home(folder)) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        status = odb_error_at(err, "%s", above);
    }
    if (status == ODB_OK)
        status = autosave_check(above, err);
    if (status == ODB_OK && make && mkdir(folder, 0700) != 0 && errno != EEXIST) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        status = odb_error_at(err, "%s", folder);
    }
    free(above);
    return status == ODB_OK ? autosave_check(folder, err) : status;
}

/* --- what is in it ---------------------------------------------------------------------------- */

struct autosave_entry {
    char *folder; /* owned: whole path */
    struct timespec used;
    size_t bytes;
};

struct autosave_list {
    ODB_VEC(struct autosave_entry) entries;
};

static void autosave_list_dispose(struct autosave_list *list)
{
    for (size_t i = 0; i < list->entries.n; i++)
        free(list->entries.items[i].folder);
    free(list->entries.items);
    *list = (struct autosave_list){0};
}

static const char *autosave_name(const struct autosave_entry *entry)
{
    return strrchr(entry->folder, '/') + 1;
}

static bool autosave_is_name(const char *name)
{
    static const char hex[] = "0123456789abcdef";
    return strlen(name) == AUTOSAVE_NAME && strspn(name, hex) == AUTOSAVE_DIGITS &&
           name[AUTOSAVE_DIGITS] == '-' &&
           strspn(name + AUTOSAVE_DIGITS + 1, hex) == AUTOSAVE_DIGITS && name[AUTOSAVE_KEY] == '-';
}

static bool autosave_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* Newest first; of the same age by name. */
static int autosave_compare(const void *left, const void *right)
{
    const struct autosave_entry *a = left, *b = right;
    if (autosave_later(a->used, b->used))
        return -1;
    return autosave_later(b->used, a->used) ? 1 : strcmp(a->folder, b->folder);
}

/* What a folder of that name holds; a link is none. */
static void autosave_add(struct autosave_list *list, const char *folder, const char *name)
{
    struct stat st;
    struct autosave_entry entry = {.folder = odb_xasprintf("%s/%s", folder, name)};
    if (lstat(entry.folder, &st) != 0 || !S_ISDIR(st.st_mode) || !autosave_is_mine(&st)) {
        free(entry.folder);
        return;
    }
    entry.used = st.st_mtim;
    for (size_t i = 0; i < ODB_COUNT(autosave_endings); i++) {
        char *file = odb_xasprintf("%s/" AUTOSAVE_FILE "%s", entry.folder, autosave_endings[i]);
        bool there = lstat(file, &st) == 0 && S_ISREG(st.st_mode);
        free(file);
        if (!there)
            continue;
        entry.bytes += (size_t)st.st_size;
        if (i < 2 && autosave_later(st.st_mtim, entry.used))
            entry.used = st.st_mtim;
    }
    odb_push(&list->entries, entry);
}

static void autosave_read(struct autosave_list *list, const char *folder)
{
    DIR *dir = opendir(folder);
    *list = (struct autosave_list){0};
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (autosave_is_name(entry->d_name))
            autosave_add(list, folder, entry->d_name);
    if (dir)
        closedir(dir);
    if (list->entries.n)
        qsort(list->entries.items, list->entries.n, sizeof *list->entries.items, autosave_compare);
}

static char *autosave_path(const struct autosave_entry *entry)
{
    return odb_xasprintf("%s/" AUTOSAVE_FILE, entry->folder);
}

/* False: a program works in it. */
static bool autosave_remove(const struct autosave_entry *entry)
{
    int lock;
    if (odb_lock_folder(&lock, entry->folder, NULL) != ODB_OK)
        return false;
    for (size_t i = 0; i < ODB_COUNT(autosave_endings); i++) {
        char *file = odb_xasprintf("%s/" AUTOSAVE_FILE "%s", entry->folder, autosave_endings[i]);
        unlink(file); /* mostly it is not there */
        free(file);
    }
    rmdir(entry->folder);
    if (lock >= 0)
        close(lock);
    return true;
}

/* The oldest go, but for those that programs work in. */
static void autosave_make_room(const char *folder)
{
    struct autosave_list list;
    size_t bytes = 0, kept = 0;
    autosave_read(&list, folder);
    for (size_t i = 0; i < list.entries.n; i++) {
        const struct autosave_entry *entry = &list.entries.items[i];
        bool fits = kept < ODB_AUTOSAVE_MOST && bytes + entry->bytes <= ODB_AUTOSAVE_BYTES;
        if (!fits && autosave_remove(entry))
            continue;
        kept++;
        bytes += entry->bytes;
    }
    autosave_list_dispose(&list);
}

/* --- which model it is of --------------------------------------------------------------------- */

/* "MODEL-PATH" */
static enum odb_status autosave_key(const struct odb_model *model, char key[AUTOSAVE_KEY + 1],
                                    struct odb_error *err)
{
    char hex[65], path[SHA256_DIGEST_STRING_LENGTH];
    ODB_TRY(odb_model_identity(model, hex, err));
    char *whole = realpath(model->path, NULL);
    if (!whole)
        whole = odb_file_absolute(model->path);
    SHA256Data((const uint8_t *)whole, strlen(whole), path);
    free(whole);
    snprintf(key, AUTOSAVE_KEY + 1, "%.*s-%.*s", AUTOSAVE_DIGITS, hex, AUTOSAVE_DIGITS, path);
    return ODB_OK;
}

/* Whether a search is in the file of a folder that no program works in; out is read then. */
static bool autosave_offers(const struct autosave_entry *entry, struct odb_stored *out)
{
    int lock;
    if (odb_lock_folder(&lock, entry->folder, NULL) != ODB_OK)
        return false;
    char *path = autosave_path(entry);
    bool offers = odb_stored_read(out, path, NULL) == ODB_OK && out->searches > 0;
    if (!offers)
        odb_stored_dispose(out);
    free(path);
    if (lock >= 0)
        close(lock);
    return offers;
}

void odb_autosave_find(struct odb_autosave_found *found, const struct odb_model *model)
{
    char key[AUTOSAVE_KEY + 1];
    struct autosave_list list;
    char *folder = odb_autosave_folder();
    *found = (struct odb_autosave_found){0};
    if (!folder || autosave_enter(folder, false, NULL) != ODB_OK ||
        autosave_key(model, key, NULL) != ODB_OK) {
        free(folder);
        return;
    }
    autosave_read(&list, folder);
    for (int changed = 0; changed < 2 && !found->stored.path; changed++)
        for (size_t i = 0; i < list.entries.n && !found->stored.path; i++) {
            const char *name = autosave_name(&list.entries.items[i]);
            size_t from = changed ? AUTOSAVE_DIGITS : 0; /* the same path, or the same model */
            if (strncmp(name + from, key + from, AUTOSAVE_DIGITS + 1) == 0 &&
                autosave_offers(&list.entries.items[i], &found->stored))
                found->changed = changed;
        }
    autosave_list_dispose(&list);
    free(folder);
}

void odb_autosave_found_dispose(struct odb_autosave_found *found)
{
    odb_stored_dispose(&found->stored);
    found->changed = false;
}

void odb_autosave_list(char ***out, size_t *n)
{
    struct autosave_list list = {0};
    ODB_VEC(char *) paths = {0};
    char *folder = odb_autosave_folder();
    if (folder && autosave_enter(folder, false, NULL) == ODB_OK)
        autosave_read(&list, folder);
    for (size_t i = 0; i < list.entries.n; i++)
        odb_push(&paths, autosave_path(&list.entries.items[i]));
    autosave_list_dispose(&list);
    free(folder);
    *out = paths.items;
    *n = paths.n;
}

/* --- a session -------------------------------------------------------------------------------- */

/* An empty file for the user alone; SQLite gives what it makes beside it the same mode. */
static enum odb_status autosave_touch(const char *path, struct odb_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "%s", path);
    }
    close(fd);
    return ODB_OK;
}

/* folder: made here, and empty. */
static enum odb_status autosave_open(struct odb_session *session, const char *folder,
                                     struct odb_error *err)
{
    struct odb_store *store;
    char *path = odb_xasprintf("%s/" AUTOSAVE_FILE, folder);
    enum odb_status status = odb_lock_folder(&session->claim, folder, err);
    if (status == ODB_OK)
        status = autosave_touch(path, err);
    if (status == ODB_OK)
        status = odb_store_open(&store, path, session->model, err);
    free(path);
    ODB_TRY(status);
    status = odb_store_bound(store, err);
    if (status != ODB_OK) {
        odb_store_close(store);
        return status;
    }
    session->by_itself = true;
    session->store = store;
    return odb_session__store_all(session, err);
}

static void autosave_give_up(struct odb_session *session, const struct autosave_entry *own)
{
    if (session->claim >= 0)
        close(session->claim);
    session->claim = -1;
    (void)!autosave_remove(own);
}

static enum odb_status autosave_begin(struct odb_session *session, struct odb_error *err)
{
    char key[AUTOSAVE_KEY + 1];
    char *folder = odb_autosave_folder();
    if (!folder)
        return odb_fail(err, ODB_E_IO, "neither XDG_STATE_HOME nor HOME names a folder");
    enum odb_status status = autosave_enter(folder, true, err);
    if (status == ODB_OK)
        status = autosave_key(session->model, key, err);
    if (status == ODB_OK) {
        struct autosave_entry own = {.folder = odb_xasprintf("%s/%s-XXXXXX", folder, key)};
        if (!mkdtemp(own.folder)) {
            odb_fail(err, ODB_E_IO, "%s", strerror(errno));
            status = odb_error_at(err, "%s", folder);
        } else {
            status = autosave_open(session, own.folder, err);
            autosave_make_room(folder);
        }
        if (status != ODB_OK && !session->store)
            autosave_give_up(session, &own);
        free(own.folder);
    }
    free(folder);
    return status;
}

void odb_autosave_begin(struct odb_session *session)
{
    struct odb_error err = ODB_ERROR_INIT;
    if (!session->store && !session->told && autosave_begin(session, &err) != ODB_OK)
        odb_session__tell_unsaved(session, &err);
}

/* The folder of a file that lies where they do; NULL: it does not. The caller's. */
static char *autosave_folder_of(const char *path)
{
    char *all = odb_autosave_folder(), *whole = all ? odb_file_absolute(path) : NULL;
    size_t n = all ? strlen(all) : 0;
    bool is = whole && !strncmp(whole, all, n) && whole[n] == '/' &&
              strlen(whole) == n + 1 + AUTOSAVE_NAME + strlen("/" AUTOSAVE_FILE) &&
              !strcmp(whole + n + 1 + AUTOSAVE_NAME, "/" AUTOSAVE_FILE);
    if (is)
        whole[n + 1 + AUTOSAVE_NAME] = '\0';
    is = is && autosave_is_name(whole + n + 1);
    free(all);
    if (is)
        return whole;
    free(whole);
    return NULL;
}

bool odb_autosave_is(const char *path)
{
    char *folder = autosave_folder_of(path);
    free(folder);
    return folder != NULL;
}

enum odb_status odb_autosave_claim(struct odb_session *session, struct odb_error *err)
{
    char *folder = session->store ? autosave_folder_of(odb_store_path(session->store)) : NULL;
    if (!folder)
        return ODB_OK;
    enum odb_status status = odb_lock_folder(&session->claim, folder, err);
    free(folder);
    if (status != ODB_OK)
        return odb_error_remedy(err, "leave that one first; or search anew, in a file of its own");
    session->by_itself = true;
    return odb_store_bound(session->store, err);
}

enum odb_status odb_autosave_delete(const char *path, struct odb_error *err)
{
    char *folder = autosave_folder_of(path);
    enum odb_status status = ODB_OK;
    int lock = -1;
    if (folder)
        status = odb_lock_folder(&lock, folder, err);
    if (status == ODB_OK)
        status = odb_stored_delete(path, err);
    if (status == ODB_OK && folder)
        rmdir(folder);
    if (lock >= 0)
        close(lock);
    free(folder);
    return status;
}
