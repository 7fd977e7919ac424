/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shrink/repro_spec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "system/file.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/place.h"
#include "executor/transport/program.h"

#define SPEC_SIGNS " ,=@\\" /* of specs: no path that is put into one may hold them */

struct spec_files {
    ODB_VEC(char *) list; /* each owned */
};

/* --- what a spec names ------------------------------------------------------------------------ */

/* Programs and libraries that every machine has, or is known to lack. */
static bool spec_is_system(const char *path)
{
    static const char *const roots[] = {"/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/dev/"};
    for (size_t i = 0; i < ODB_COUNT(roots); i++)
        if (!strncmp(path, roots[i], strlen(roots[i])))
            return true;
    return false;
}

static bool spec_add(struct spec_files *files, const char *path)
{
    struct stat st;
    if (!*path || stat(path, &st) != 0)
        return false;
    if (!spec_is_system(path))
        odb_push(&files->list, odb_xstrdup(path));
    return true;
}

/* FILE, or FILE:CLASS. */
static void spec_add_argument(struct spec_files *files, const char *text)
{
    char *head = odb_xstrdup(text), *colon = strrchr(head, ':');
    if (!spec_add(files, text) && colon) {
        *colon = '\0';
        spec_add(files, head);
    }
    free(head);
}

static void spec_add_words(struct spec_files *files, const char *text)
{
    struct odb_argv words = {0};
    odb_argv_split(&words, text);
    for (size_t i = 0; i < words.list.n; i++) {
        const char *word = words.list.items[i], *equals = strchr(word, '=');
        if (!spec_add(files, word) && equals)
            spec_add(files, equals + 1);
    }
    odb_argv_dispose(&words);
}

/* Behind a transport they are files of the other machine. */
static bool spec_find_visit(const struct odb_spec *spec, void *payload)
{
    struct spec_files *files = payload;
    if (spec->row && spec->row->transport)
        return false;
    if (spec->arg && spec->row && spec->row->argument == ODB_ARGUMENT_COMMAND)
        spec_add_words(files, spec->arg);
    else if (spec->arg)
        spec_add_argument(files, spec->arg);
    for (size_t i = 0; i < spec->n_options; i++)
        if (strpbrk(spec->options[i].value, "/."))
            spec_add(files, spec->options[i].value);
    return true;
}

/* What stands before a part that is malformed is found. */
static void spec_find(struct spec_files *files, const char *text)
{
    enum odb_status ignored = odb_spec_walk(text, spec_find_visit, files, NULL);
    (void)ignored;
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Puts a path in the place of another, where that is a word of its own; false: nowhere. */
static bool spec_replace(char **text, const char *old, const char *with)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t n = strlen(old);
    bool found = false;
    for (const char *p = *text; *p;) {
        bool begins = p == *text || strchr(" :=,@", p[-1]);
        if (begins && !strncmp(p, old, n) && (!p[n] || strchr(" ,:@", p[n]))) {
            odb_buf_puts(&out, with);
            p += n;
            found = true;
        } else {
            odb_buf_putc(&out, *p++);
        }
    }
    free(*text);
    *text = odb_buf_take(&out);
    return found;
}

/* A name in the folder of copies that none of those before has. */
static char *spec_copy_name(const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/');
    char *name = odb_file_name(slash ? slash + 1 : path);
    for (int i = 2;; i++) {
        struct stat st;
        char *at = odb_xasprintf("%s/%s", folder, name);
        bool there = stat(at, &st) == 0;
        free(at);
        if (!there)
            return name;
        free(name);
        char *again = odb_file_name(slash ? slash + 1 : path);
        name = odb_xasprintf("%d-%s", i, again);
        free(again);
    }
}

static enum odb_status spec_copy(struct odb_repro_spec *spec, const char *path, const char *folder,
                                 struct odb_error *err)
{
    struct stat st;
    if (!odb_file_is_regular(path) || stat(path, &st) != 0) {
        odb_fail(err, ODB_E_USAGE, "--with-target copies files, and %s is none", path);
        return odb_error_remedy(err, "leave --with-target out");
    }
    char *name = spec_copy_name(path, folder);
    char *to = odb_xasprintf("%s/%s", folder, name);
    char *shown = odb_xasprintf(ODB_REPRO_TARGET "/%s", name);
    enum odb_status status = ODB_OK;
    if (strpbrk(to, SPEC_SIGNS) || !spec_replace(&spec->used, path, to) ||
        !spec_replace(&spec->shown, path, shown)) {
        odb_fail(err, ODB_E_USAGE, "--with-target cannot name a copy of %s in %s", path, folder);
        odb_error_remedy(err, "take names without blanks, commas, =, @ and backslashes");
        status = ODB_E_USAGE;
    }
    if (status == ODB_OK)
        status = odb_place_copy(path, to, err);
    if (status == ODB_OK && chmod(to, st.st_mode & 0777) != 0)
        status = odb_fail(err, ODB_E_IO, "the mode of %s cannot be set", to);
    spec->copied += status == ODB_OK;
    free(name);
    free(to);
    free(shown);
    return status;
}

static enum odb_status spec_copy_all(struct odb_repro_spec *spec, const struct spec_files *files,
                                     const char *dir, struct odb_error *err)
{
    char *folder = odb_xasprintf("%s/" ODB_REPRO_TARGET, dir);
    enum odb_status status = odb_file_mkdir(folder, err);
    for (size_t i = 0; i < files->list.n && status == ODB_OK; i++)
        status = spec_copy(spec, files->list.items[i], folder, err);
    free(folder);
    return status;
}

enum odb_status odb_repro_spec_make(struct odb_repro_spec *out, const char *spec, const char *dir,
                                    struct odb_error *err)
{
    struct spec_files files = {0};
    enum odb_status status = ODB_OK;
    *out = (struct odb_repro_spec){odb_xstrdup(spec), odb_xstrdup(spec), odb_xstrdup(spec), 0};
    spec_find(&files, spec);
    if (files.list.n && dir) {
        status = spec_copy_all(out, &files, dir, err);
    } else if (files.list.n) {
        free(out->shown);
        out->shown = NULL;
    }
    for (size_t i = 0; i < files.list.n; i++)
        free(files.list.items[i]);
    free(files.list.items);
    return status;
}

void odb_repro_spec_dispose(struct odb_repro_spec *spec)
{
    free(spec->given);
    free(spec->used);
    free(spec->shown);
    *spec = (struct odb_repro_spec){0};
}

/* --- on the page ------------------------------------------------------------------------------ */

static void spec_put_quoted(const char *text, struct odb_buf *out)
{
    odb_buf_putc(out, '\'');
    for (const char *p = text; *p; p++)
        odb_buf_puts(out, *p == '\'' ? "'\\''" : (char[]){*p, '\0'});
    odb_buf_putc(out, '\'');
}

void odb_repro_spec_put(const struct odb_repro_spec *spec, const char *variable,
                        struct odb_buf *out)
{
    if (spec->shown)
        spec_put_quoted(spec->shown, out);
    else
        odb_buf_printf(out, "\"$%s\"", variable);
}

void odb_repro_spec_explain(const struct odb_repro_spec *spec, const char *variable,
                            const char *what, struct odb_buf *out)
{
    if (spec->shown)
        return;
    odb_buf_printf(out, "`$%s` is %s, with its files as they are seen from this folder: it was `",
                   variable, what);
    odb_buf_put_shown(out, spec->given);
    odb_buf_puts(out, "` where this was made.\n\n");
}
