/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small files are known by their contents, so that one that was only touched, or copied back, is
 * the same; large ones by size and time, because a search is often done before they were read.
 */
#include "session/identity.h"

#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "executor/program.h"
#include "executor/spec.h"
#include "executor/target.h"

#define IDENTITY_READ ((off_t)1 << 20) /* files up to here are read */

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

static void identity_put_file(const char *path, struct odb_buf *out)
{
    char hex[SHA256_DIGEST_STRING_LENGTH] = "";
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    odb_buf_puts(out, "file:");
    identity_put_path(path, out);
    if (st.st_size <= IDENTITY_READ && SHA256File(path, hex))
        odb_buf_printf(out, " %s\n", hex);
    else
        odb_buf_printf(out, " %lld bytes, %lld.%09ld\n", (long long)st.st_size,
                       (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* A module of Python's, by the name that an import has for it. */
static void identity_put_module(const char *name, struct odb_buf *out)
{
    char *path = odb_xstrdup(name);
    for (char *dot = strchr(path, '.'); dot; dot = strchr(dot, '.'))
        *dot = '/';
    char *files[] = {odb_xasprintf("%s.py", path), odb_xasprintf("%s/__init__.py", path)};
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        identity_put_file(files[i], out);
        free(files[i]);
    }
    free(path);
}

/* A program by its name alone. */
static void identity_put_program(const char *name, struct odb_buf *out)
{
    const char *path = strchr(name, '/') ? NULL : getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char *file = odb_xasprintf("%.*s/%s", (int)n, path, name);
        bool found = access(file, X_OK) == 0;
        if (found)
            identity_put_file(file, out);
        free(file);
        path += found ? strlen(path) : n + (path[n] == ':');
    }
}

/* A program and its words, of which some may be files. */
static void identity_put_command(const char *text, struct odb_buf *out)
{
    struct odb_argv argv = {0};
    odb_argv_split(&argv, text);
    for (size_t i = 0; i < argv.list.n; i++)
        identity_put_file(argv.list.items[i], out);
    if (argv.list.n)
        identity_put_program(argv.list.items[0], out);
    odb_argv_dispose(&argv);
}

/* What may be a file, FILE:CLASS, or MODULE:CLASS. */
static void identity_put_text(const char *text, struct odb_buf *out)
{
    char *head = odb_xstrdup(text), *colon = strrchr(head, ':');
    identity_put_file(text, out);
    if (colon) {
        *colon = '\0';
        identity_put_file(head, out);
        identity_put_module(head, out);
    }
    free(head);
}

void odb_identity_put_spec(const char *text, struct odb_buf *out)
{
    struct odb_spec *spec;
    if (!text || odb_spec_parse(&spec, text, NULL) != ODB_OK)
        return;
    if (spec->arg && !strcmp(spec->kind, "command"))
        identity_put_command(spec->arg, out);
    else if (spec->arg)
        identity_put_text(spec->arg, out);
    for (size_t i = 0; i < spec->n_options; i++)
        identity_put_text(spec->options[i].value, out);
    odb_identity_put_spec(spec->inner, out);
    odb_spec_free(spec);
}

void odb_identity_put_common(struct odb_buf *out)
{
    char *files[] = {odb_target_program(), odb_ort_file()};
    for (size_t i = 0; i < ODB_COUNT(files); i++) {
        if (files[i])
            identity_put_file(files[i], out);
        free(files[i]);
    }
}
