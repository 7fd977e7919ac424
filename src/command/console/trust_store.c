/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A list in the user's own folder, a hash per line, of what he gave on command lines and prompts
 * and no file may ask for: executors that start, load, reach or write what they name, and inputs
 * from files, whose contents would end up in what is exported. What is hashed is the whole of what
 * would happen: a spec counts in the folder where it was given, because it may say "./run", and
 * with the contents of the files that it names (session/identity.h), because an archive from a
 * stranger may have been unpacked over them. The list holds no secret; it counts only while nobody
 * else can have written it.
 */
#include "command/console/trust_store.h"

#include <fcntl.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "inputs/input_file.h"
#include "executor/executor.h"
#include "session/identity.h"

#define GIVEN_MOST 1000                        /* lines; older ones go */
#define GIVEN_LINE SHA256_DIGEST_STRING_LENGTH /* with the end of line in place of the NUL */

/* --- what does no harm ------------------------------------------------------------------------ */

static bool given_is_spec(enum odb_option_id id)
{
    return id == ODB_OPTION_REFERENCE || id == ODB_OPTION_TARGET;
}

static bool given_harmless(enum odb_option_id id, const char *value)
{
    if (given_is_spec(id))
        return odb_executor_trusted(value);
    return id != ODB_OPTION_INPUTS_FROM && (id != ODB_OPTION_INPUT || !odb_input_names_file(value));
}

/* --- the list --------------------------------------------------------------------------------- */

static void given_put(struct odb_buf *what, const char *text)
{
    odb_buf_add(what, text, strlen(text) + 1);
}

/* False: nobody knows where this is. */
static bool given_line(enum odb_option_id id, const char *value, char line[GIVEN_LINE])
{
    struct odb_buf what = ODB_BUF_INIT, files = ODB_BUF_INIT;
    char *here = given_is_spec(id) ? getcwd(NULL, 0) : odb_xstrdup("");
    if (given_is_spec(id))
        odb_identity_put_spec(value, &files);
    given_put(&what, given_is_spec(id) ? "spec" : odb_option_row(id)->name);
    given_put(&what, value);
    given_put(&what, here ? here : "");
    given_put(&what, odb_buf_text(&files));
    SHA256Data((const uint8_t *)what.data, what.len, line);
    line[GIVEN_LINE - 1] = '\n';
    odb_buf_dispose(&files);
    odb_buf_dispose(&what);
    free(here);
    return here != NULL;
}

/* The list; -1: there is none, or others may have written it. */
static int given_open(const char *path, int flags)
{
    struct stat st;
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    close(fd);
    return -1;
}

/* Its lines; *n: how many. The caller's. */
static char *given_read(const char *path, size_t *n)
{
    struct odb_buf text = ODB_BUF_INIT;
    char block[GIVEN_LINE * 64];
    ssize_t got;
    int fd = given_open(path, O_RDONLY);
    while (fd >= 0 && text.len < 2 * GIVEN_MOST * GIVEN_LINE &&
           (got = read(fd, block, sizeof block)) > 0)
        odb_buf_add(&text, block, (size_t)got);
    if (fd >= 0)
        close(fd);
    *n = text.len / GIVEN_LINE;
    return odb_buf_take(&text);
}

static bool given_lists(const char *lines, size_t n, const char line[GIVEN_LINE])
{
    for (size_t i = 0; i < n; i++)
        if (!memcmp(lines + i * GIVEN_LINE, line, GIVEN_LINE))
            return true;
    return false;
}

/* A line is written at once, so that those of several programs stand one below the other. Where two
 * make room at once one of their lines may go, and is asked for again. */
static void given_add(const char *path, const char *lines, size_t n, const char line[GIVEN_LINE])
{
    size_t half = n >= GIVEN_MOST ? n / 2 : 0;
    if (half)
        (void)!odb_file_write(path, lines + (n - half) * GIVEN_LINE, half * GIVEN_LINE, NULL);
    int fd = given_open(path, O_WRONLY | O_APPEND | O_CREAT);
    struct stat st;
    /* A line that a full disk took half of would move all that come behind it. */
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size % GIVEN_LINE)
        (void)!ftruncate(fd, st.st_size - st.st_size % GIVEN_LINE);
    (void)!(fd >= 0 && write(fd, line, GIVEN_LINE) == GIVEN_LINE);
    if (fd >= 0)
        close(fd);
}

static char *given_path(void)
{
    return odb_file_home("XDG_STATE_HOME", ".local/state", "given");
}

/* --- both ------------------------------------------------------------------------------------- */

bool odb_given_follows(enum odb_option_id id, const char *value)
{
    char line[GIVEN_LINE];
    size_t n = 0;
    if (given_harmless(id, value))
        return true;
    char *path = given_path();
    char *lines = path ? given_read(path, &n) : NULL;
    bool follows = n && given_line(id, value, line) && given_lists(lines, n, line);
    free(lines);
    free(path);
    return follows;
}

void odb_given_keep(enum odb_option_id id, const char *value)
{
    char line[GIVEN_LINE];
    size_t n = 0;
    char *path = given_harmless(id, value) ? NULL : given_path();
    if (!path || !odb_file_make_home(path)) {
        free(path);
        return;
    }
    char *lines = given_read(path, &n);
    if (given_line(id, value, line) && !given_lists(lines, n, line))
        given_add(path, lines, n, line);
    free(lines);
    free(path);
}

void odb_given_keep_specs(const struct odb_command_call *call)
{
    static const enum odb_option_id ids[] = {ODB_OPTION_REFERENCE, ODB_OPTION_TARGET};
    for (size_t i = 0; i < ODB_COUNT(ids); i++)
        if (odb_call_option(call, ids[i]))
            odb_given_keep(ids[i], odb_call_option(call, ids[i]));
}

/* A pin is a file that a value is held to: kept as inputs from a file are, by its whole path. */
void odb_given_keep_pin(const char *file)
{
    char *whole = odb_file_absolute(file);
    odb_given_keep(ODB_OPTION_INPUTS_FROM, whole);
    free(whole);
}

void odb_given_drop_pins(struct odb_command_call *call, struct odb_session *session)
{
    for (size_t i = 0; i < session->annotations.items.n; i++) {
        struct odb_annotation *annotation = &session->annotations.items.items[i];
        if (annotation->kind != ODB_ANNOTATION_PIN || annotation->disabled ||
            !strcmp(annotation->text, "reference"))
            continue;
        char *whole = odb_file_absolute(annotation->text);
        annotation->disabled = !odb_given_follows(ODB_OPTION_INPUTS_FROM, whole);
        free(whole);
        if (!annotation->disabled)
            continue;
        char *why = odb_xasprintf("the session holds %s to %s, which is not read only because a "
                                  "file says so; pin it yourself",
                                  annotation->place, annotation->text);
        odb_call__warn(call, why);
        free(why);
    }
}
