/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small files are known by their contents, so that one that was only touched, or copied back, is
 * the same; large ones by size and time, because a search is often done before they were read.
 *
 * What a file loads in turn (a script's modules, a library's libraries) stands beside it as a rule,
 * and its name stands in it. So code beside a file that has its name somewhere in it counts too.
 */
#include "session/identity.h"

#include <dirent.h>
#include <fcntl.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "system/mapping.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/transport/program.h"
#include "executor/spec.h"
#include "executor/transport/target.h"

#define IDENTITY_READ ((off_t)1 << 20) /* files up to here are read */
/* Bytes of a file times names looked for in it: beyond these, as in /usr/lib, none is searched. */
#define IDENTITY_SEARCH ((size_t)256 << 20)

static void identity_put_path(const char *path, struct odb_buf *out)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c <= ' ' || c == '%' || c == 127)
            odb_buf_printf(out, "%%%02X", c);
        else
            odb_buf_putc(out, *path);
    }
}

static void identity_put_beside(const char *path, const struct stat *st, struct odb_buf *out);

/* A file that was put before is not put again. */
void odb_identity_put_file(const char *path, struct odb_buf *out)
{
    char hex[SHA256_DIGEST_STRING_LENGTH] = "";
    struct odb_buf line = ODB_BUF_INIT;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    odb_buf_puts(&line, "file:");
    identity_put_path(path, &line);
    odb_buf_putc(&line, ' ');
    bool there = strstr(odb_buf_text(out), odb_buf_text(&line)) != NULL;
    if (!there)
        odb_buf_puts(out, odb_buf_text(&line));
    odb_buf_dispose(&line);
    if (there)
        return;
    if (st.st_size <= IDENTITY_READ && SHA256File(path, hex))
        odb_buf_printf(out, "%s\n", hex);
    else
        odb_buf_printf(out, "%lld bytes, %lld.%09ld\n", (long long)st.st_size,
                       (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    identity_put_beside(path, &st, out);
}

/* How many characters at the beginning of a file's name are the name by which programs load it as
 * code; 0: it is no code. Others may be what the target writes. */
static size_t identity_stem(const char *name)
{
    size_t n = strlen(name);
    const char *library = strstr(name, ".so");
    if (n > 3 && !strcmp(name + n - 3, ".py"))
        return n - 3;
    return library && library != name && (!library[3] || library[3] == '.') ? n : 0;
}

static int identity_is_code(const struct dirent *entry)
{
    return identity_stem(entry->d_name) > 0;
}

/* Code in the same folder that the file names. */
static void identity_put_beside(const char *path, const struct stat *st, struct odb_buf *out)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? odb_xstrndup(path, (size_t)(slash - path) + 1) : odb_xstrdup("./");
    struct dirent **list = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct odb_mapping text = {0};
    if (fd >= 0) {
        (void)!odb_mapping_open(&text, fd, (size_t)st->st_size, path, NULL);
        close(fd); /* before it goes on to files that this one names: there may be many in a row */
    }
    int n = text.data ? scandir(folder, &list, identity_is_code, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        char *file = odb_xasprintf("%s%s", slash ? folder : "", name);
        if (strcmp(name, slash ? slash + 1 : path) != 0 &&
            (size_t)st->st_size <= IDENTITY_SEARCH / (size_t)n &&
            memmem(text.data, text.size, name, identity_stem(name)))
            odb_identity_put_file(file, out);
        free(file);
        free(list[i]);
    }
    free(list);
    odb_mapping_close(&text);
    free(folder);
}

/* A module of Python's, by the name that an import has for it. */
static void identity_put_module(const char *name, struct odb_buf *out)
{
    char *path = odb_xstrdup(name);
    for (char *dot = strchr(path, '.'); dot; dot = strchr(dot, '.'))
        *dot = '/';
    char *files[] = {odb_xasprintf("%s.py", path), odb_xasprintf("%s/__init__.py", path)};
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        odb_identity_put_file(files[i], out);
        free(files[i]);
    }
    free(path);
}

/* A program by its name alone. */
static void identity_put_program(const char *name, struct odb_buf *out)
{
    char *file = strchr(name, '/') ? NULL : odb_file_in_path(name);
    if (file)
        odb_identity_put_file(file, out);
    free(file);
}

/* A program and its words, of which some may be files. */
static void identity_put_command(const char *text, struct odb_buf *out)
{
    struct odb_argv argv = {0};
    odb_argv_split(&argv, text);
    for (size_t i = 0; i < argv.list.n; i++)
        odb_identity_put_file(argv.list.items[i], out);
    if (argv.list.n)
        identity_put_program(argv.list.items[0], out);
    odb_argv_dispose(&argv);
}

/* What may be a file, FILE:CLASS, or MODULE:CLASS. */
static void identity_put_text(const char *text, struct odb_buf *out)
{
    char *head = odb_xstrdup(text), *colon = strrchr(head, ':');
    odb_identity_put_file(text, out);
    if (colon) {
        *colon = '\0';
        odb_identity_put_file(head, out);
        identity_put_module(head, out);
    }
    free(head);
}

/* The library of an executor: that which a spec names, or else the usual one. */
static void identity_put_library(const struct odb_executor_ops *row, const struct odb_spec *spec,
                                 struct odb_buf *out)
{
    struct odb_runtime runtime = odb_executor_runtime(row, spec);
    char *file = row->file ? row->file(&runtime) : NULL;
    if (file)
        odb_identity_put_file(file, out);
    free(file);
}

static bool identity_put_visit(const struct odb_spec *spec, void *payload)
{
    struct odb_buf *out = payload;
    if (spec->arg && spec->row && spec->row->argument == ODB_ARGUMENT_COMMAND)
        identity_put_command(spec->arg, out);
    else if (spec->arg)
        identity_put_text(spec->arg, out);
    for (size_t i = 0; i < spec->n_options; i++)
        identity_put_text(spec->options[i].value, out);
    if (spec->row)
        identity_put_library(spec->row, spec, out);
    odb_identity_put_spec(odb_spec_option(spec, ODB_SPEC_PLAIN), out);
    return true;
}

void odb_identity_put_spec(const char *text, struct odb_buf *out)
{
    enum odb_status ignored = text ? odb_spec_walk(text, identity_put_visit, out, NULL) : ODB_OK;
    (void)ignored; /* of what is malformed, the part before it is put */
}

void odb_identity_put_common(struct odb_buf *out)
{
    size_t n;
    const struct odb_executor_ops *const *rows = odb_executor_list(&n);
    char *program = odb_target_program();
    odb_identity_put_file(program, out);
    free(program);
    for (size_t i = 0; i < n; i++)
        if (rows[i]->independence) /* it may be asked for a third opinion */
            identity_put_library(rows[i], NULL, out);
}
