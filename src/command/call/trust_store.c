/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A list in the user's own folder, a hash per line, of what he gave on command lines and prompts
 * and no file may ask for: executors that start, load, reach or write what they name, and inputs
 * from files, whose contents would end up in what is exported. What is hashed is the whole of what
 * would happen: a spec counts in the folder where it was given, because it may say "./run", and
 * with the contents of the files that it names (session/identity.h), because an archive from a
 * stranger may have been unpacked over them. The list holds no secret; it counts only while no
 * other user can have written it.
 */
#include "command/call/trust_store.h"

#include <fcntl.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "executor/executor.h"
#include "inputs/input_file.h"
#include "session/annotations.h"
#include "session/identity.h"
#include "session/session_state.h"
#include "system/file.h"

#define TRUST_MOST 1000                        /* lines; older ones go */
#define TRUST_LINE SHA256_DIGEST_STRING_LENGTH /* with the end of line in place of the NUL */

/* --- what does no harm ------------------------------------------------------------------------ */

static bool trust_is_spec(enum odb_option_id id)
{
    return id == ODB_OPTION_REFERENCE || id == ODB_OPTION_TARGET;
}

static bool trust_harmless(enum odb_option_id id, const char *value)
{
    if (trust_is_spec(id))
        return odb_executor_trusted(value);
    bool file = id == ODB_OPTION_INPUT || id == ODB_OPTION_START || id == ODB_OPTION_FEED;
    return id != ODB_OPTION_INPUTS_FROM && id != ODB_OPTION_SEQUENCE &&
           (!file || !odb_input_names_file(value));
}

/* --- the list --------------------------------------------------------------------------------- */

static void trust_put(struct odb_buf *what, const char *text)
{
    odb_buf_add(what, text, strlen(text) + 1);
}

/* False: the current folder is unknown. */
static bool trust_line(enum odb_option_id id, const char *value, char line[TRUST_LINE])
{
    struct odb_buf what = ODB_BUF_INIT, files = ODB_BUF_INIT;
    char *here = trust_is_spec(id) ? getcwd(NULL, 0) : odb_xstrdup("");
    if (trust_is_spec(id))
        odb_identity_put_spec(value, &files);
    trust_put(&what, trust_is_spec(id) ? "spec" : odb_option_row(id)->name);
    trust_put(&what, value);
    trust_put(&what, here ? here : "");
    trust_put(&what, odb_buf_text(&files));
    SHA256Data((const uint8_t *)what.data, what.len, line);
    line[TRUST_LINE - 1] = '\n';
    odb_buf_dispose(&files);
    odb_buf_dispose(&what);
    free(here);
    return here != NULL;
}

/* The list; -1: there is none, or others may have written it. */
static int trust_open(const char *path, int flags)
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
static char *trust_read(const char *path, size_t *n)
{
    struct odb_buf text = ODB_BUF_INIT;
    char block[TRUST_LINE * 64];
    ssize_t got;
    int fd = trust_open(path, O_RDONLY);
    while (fd >= 0 && text.len < 2 * TRUST_MOST * TRUST_LINE &&
           (got = read(fd, block, sizeof block)) > 0)
        odb_buf_add(&text, block, (size_t)got);
    if (fd >= 0)
        close(fd);
    *n = text.len / TRUST_LINE;
    return odb_buf_take(&text);
}

static bool trust_lists(const char *lines, size_t n, const char line[TRUST_LINE])
{
    for (size_t i = 0; i < n; i++)
        if (!memcmp(lines + i * TRUST_LINE, line, TRUST_LINE))
            return true;
    return false;
}

/* A line is written at once, so that those of several programs stand one below the other. Where two
 * make room at once one of their lines may go, and is asked for again. */
static void trust_add(const char *path, const char *lines, size_t n, const char line[TRUST_LINE])
{
    size_t half = n >= TRUST_MOST ? n / 2 : 0;
    if (half)
        (void)!odb_file_write(path, lines + (n - half) * TRUST_LINE, half * TRUST_LINE, NULL);
    int fd = trust_open(path, O_WRONLY | O_APPEND | O_CREAT);
    struct stat st;
    /* A line that a full disk took half of would move all that come behind it. */
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size % TRUST_LINE)
        (void)!ftruncate(fd, st.st_size - st.st_size % TRUST_LINE);
    (void)!(fd >= 0 && write(fd, line, TRUST_LINE) == TRUST_LINE);
    if (fd >= 0)
        close(fd);
}

char *odb_trust_path(void)
{
    return odb_file_home("XDG_STATE_HOME", ".local/state", "given");
}

/* --- both ------------------------------------------------------------------------------------- */

bool odb_trust_follows(enum odb_option_id id, const char *value)
{
    char line[TRUST_LINE];
    size_t n = 0;
    if (trust_harmless(id, value))
        return true;
    char *path = odb_trust_path();
    char *lines = path ? trust_read(path, &n) : NULL;
    bool follows = n && trust_line(id, value, line) && trust_lists(lines, n, line);
    free(lines);
    free(path);
    return follows;
}

void odb_trust_keep(enum odb_option_id id, const char *value)
{
    char line[TRUST_LINE];
    size_t n = 0;
    char *path = trust_harmless(id, value) ? NULL : odb_trust_path();
    if (!path || !odb_file_make_home(path)) {
        free(path);
        return;
    }
    char *lines = trust_read(path, &n);
    if (trust_line(id, value, line) && !trust_lists(lines, n, line))
        trust_add(path, lines, n, line);
    free(lines);
    free(path);
}

void odb_trust_keep_specs(const struct odb_command_call *call)
{
    static const enum odb_option_id ids[] = {ODB_OPTION_REFERENCE, ODB_OPTION_TARGET};
    for (size_t i = 0; i < ODB_COUNT(ids); i++)
        if (odb_call_option(call, ids[i]))
            odb_trust_keep(ids[i], odb_call_option(call, ids[i]));
}

/* A pin is a file that a value is held to: kept as inputs from a file are, by its whole path. */
void odb_trust_keep_pin(const char *file)
{
    char *whole = odb_file_absolute(file);
    odb_trust_keep(ODB_OPTION_INPUTS_FROM, whole);
    free(whole);
}

void odb_trust_drop_pins(struct odb_command_call *call, struct odb_session *session)
{
    for (size_t i = 0; i < session->annotations.items.n; i++) {
        struct odb_annotation *annotation = &session->annotations.items.items[i];
        if (annotation->kind != ODB_ANNOTATION_PIN || annotation->disabled ||
            !strcmp(annotation->text, "reference"))
            continue;
        char *whole = odb_file_absolute(annotation->text);
        annotation->disabled = !odb_trust_follows(ODB_OPTION_INPUTS_FROM, whole);
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

char *odb_call__untrusted(enum odb_option_id id, const char *spec)
{
    const char *name = odb_option_row(id)->name;
    return odb_xasprintf("the session names the %s %s, which is not followed only because a file "
                         "says so; give it yourself with --%s",
                         name, spec, name);
}

enum odb_status odb_call__refuse_untrusted(enum odb_option_id id, const char *spec,
                                           struct odb_error *err)
{
    char *why = odb_call__untrusted(id, spec);
    odb_fail(err, ODB_E_USAGE, "%s", why);
    free(why);
    return ODB_E_USAGE;
}
