/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scripts go to the other end's sh by its standard input, so that no shell on the way has to be
 * outwitted. Their answers are lines with a mark, whatever else is printed there.
 */
#include "deploy/deploy_int.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "executor/transport/program.h"
#include "system/file.h"

#define DEPLOY_MARK "onnxdbg-deploy "
#define DEPLOY_SHOWN 400 /* bytes of what was printed in a message */

static const char deploy_say[] = "say() { echo \"" DEPLOY_MARK "$1=$2\"; }\n"
                                 "first() { read -r a || true; echo \"$a\"; }\n"
                                 "word() { read -r a b || true; echo \"$a\"; }\n";

static const char deploy_questions[] =
    "case $p in /*) ;; *) h=${HOME:-/tmp} && p=${h%/}/$p ;; esac\n"
    "say system \"$(uname -s)\"\n"
    "say machine \"$(uname -m)\"\n"
    "say page \"$(getconf PAGESIZE 2>/dev/null)\"\n"
    "c=$(getconf GNU_LIBC_VERSION 2>/dev/null) || c=$(ldd --version 2>&1 | first)\n"
    "say libc \"$c\"\n"
    "l=\n"
    "for f in /lib/ld-linux* /lib64/ld-linux* /lib/ld-musl* /system/bin/linker*; do\n"
    "    [ ! -e \"$f\" ] || l=\"$l $f\"\n"
    "done\n"
    "say loader \"$l\"\n"
    "say path \"$p\"\n"
    "d=${p%/*}\n"
    "while [ ! -d \"${d:-/}\" ]; do d=${d%/*}; done\n"
    "say folder \"${d:-/}\"\n"
    "[ ! -w \"${d:-/}\" ] || say writable yes\n"
    "say free \"$(df -Pk \"${d:-/}\" 2>/dev/null |\n"
    "    { read -r a; read -r a b c d e || true; echo \"$d\"; })\"\n"
    "say found \"$(command -v onnxdbg-serve)\"\n"
    "if [ -d \"$p\" ]; then\n"
    "    say there folder\n"
    "elif [ -e \"$p\" ] || [ -L \"$p\" ]; then\n"
    "    say there file\n"
    "    case ${p##*/} in\n"
    "    onnxdbg-serve*) say version \"$(\"$p\" --version </dev/null 2>/dev/null | first)\" ;;\n"
    "    esac\n"
    "    say sum \"$(sha256sum \"$p\" 2>/dev/null | word)\"\n"
    "fi\n"
    "say end yes\n";

/* --- facts ------------------------------------------------------------------------------------ */

const char *odb_deploy_fact(const struct odb_deploy_facts *facts, const char *key)
{
    for (size_t i = 0; i < facts->list.n; i++)
        if (!strcmp(facts->list.items[i].key, key))
            return facts->list.items[i].value;
    return "";
}

void odb_deploy_facts_dispose(struct odb_deploy_facts *facts)
{
    for (size_t i = 0; i < facts->list.n; i++) {
        free(facts->list.items[i].key);
        free(facts->list.items[i].value);
    }
    free(facts->list.items);
    *facts = (struct odb_deploy_facts){0};
}

int odb_deploy_libc(const char *text)
{
    int minor = 0;
    if (!strcasestr(text, "libc") && !strcasestr(text, "GNU"))
        return 0;
    for (const char *p = text; (p = strstr(p, "2.")); p += 2)
        if (isdigit((unsigned char)p[2]) && (p == text || !isalnum((unsigned char)p[-1])))
            minor = (int)strtol(p + 2, NULL, 10);
    return minor;
}

static void deploy_read(struct odb_deploy_facts *out, const char *said)
{
    char *text = odb_xstrdup(said), *rest = text;
    for (char *line; (line = strsep(&rest, "\r\n"));) {
        char *value = strchr(line, '=');
        if (strncmp(line, DEPLOY_MARK, strlen(DEPLOY_MARK)) != 0 || !value)
            continue;
        *value++ = '\0';
        value += strspn(value, " ");
        struct odb_deploy_fact fact = {odb_xstrdup(line + strlen(DEPLOY_MARK)), odb_xstrdup(value)};
        odb_push(&out->list, fact);
    }
    free(text);
}

/* --- a shell ---------------------------------------------------------------------------------- */

enum odb_status odb_deploy__fail(const struct odb_link *link, const struct odb_program *program,
                                 const char *what, struct odb_error *err)
{
    struct odb_buf words = ODB_BUF_INIT;
    int status = WIFEXITED(program->how) ? WEXITSTATUS(program->how) : -1;
    odb_program_last_words(program, DEPLOY_SHOWN, &words);
    bool said = words.len > 0;
    if (status == 255) /* ssh's own */
        link->transport->no_answer(link, status, 0, odb_buf_text(&words), err);
    else
        odb_fail(err, ODB_E_EXECUTOR, "%s", what);
    if (said)
        odb_text_fit(err->what + strlen(err->what), sizeof err->what - strlen(err->what),
                     "; output: %s", odb_buf_text(&words));
    odb_error_at(err, "%s", link->where);
    odb_buf_dispose(&words);
    return err->code;
}

enum odb_status odb_deploy__shell(struct odb_deploy_facts *out, const struct odb_link *link,
                                  const struct odb_deploy_vars *vars, const char *script,
                                  struct odb_error *err)
{
    struct odb_argv argv = {0};
    struct odb_buf text = ODB_BUF_INIT;
    char size[32];
    snprintf(size, sizeof size, "%zu", vars->size);
    odb_buf_printf(&text, "p='%s' size=%s sum='%s'\n%s%s", vars->path, size,
                   vars->sum ? vars->sum : "", deploy_say, script);
    enum odb_status status = ODB_OK;
    int fd = odb_file_nameless("/tmp");
    struct odb_program program = {
        .argv = &argv, .quiet = true, .input = &fd, .limit = DEPLOY_SECONDS};
    if (fd < 0 || write(fd, text.data, text.len) != (ssize_t)text.len || lseek(fd, 0, SEEK_SET) < 0)
        status = odb_fail(err, ODB_E_IO, "a temporary file cannot be written");
    link->transport->shell(link, NULL, &argv);
    if (status == ODB_OK)
        status = odb_program_run(&program, err);
    if (status == ODB_OK) {
        deploy_read(out, odb_buf_text(&program.said));
        if (!odb_deploy_fact(out, "end")[0])
            status = odb_deploy__fail(link, &program, "no shell answers there", err);
    }
    if (fd >= 0)
        close(fd);
    odb_program_dispose(&program);
    odb_argv_dispose(&argv);
    odb_buf_dispose(&text);
    return status;
}

/* A path that means itself to every shell and in every spec. */
static enum odb_status deploy_plain(const char *path, struct odb_error *err)
{
    size_t plain = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._+-");
    if (path[0] && path[0] != '-' && !path[plain] && path[strlen(path) - 1] != '/')
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "that is no place for a program");
    odb_error_at(err, "%s", path);
    return odb_error_remedy(err, "name a file by letters, digits and / . _ + - alone, such as "
                                 "/opt/bin/onnxdbg-serve");
}

enum odb_status odb_deploy_ask(struct odb_deploy_facts *out, const struct odb_link *link,
                               const char *path, struct odb_error *err)
{
    struct odb_deploy_vars vars = {.path = path};
    *out = (struct odb_deploy_facts){0};
    ODB_TRY(deploy_plain(path, err));
    enum odb_status status = odb_deploy__shell(out, link, &vars, deploy_questions, err);
    if (status == ODB_OK)
        status = deploy_plain(odb_deploy_fact(out, "path"), err);
    if (status != ODB_OK)
        odb_deploy_facts_dispose(out);
    return status;
}
