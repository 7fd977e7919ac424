/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file goes through cat: boards often have neither scp nor sftp. What came is measured there,
 * and started, before it takes the place of anything.
 */
#include "deploy/deploy_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/transport/program.h"
#include "system/file.h"

#define DEPLOY_PACE 20000.0 /* bytes a second that a link makes at least */

static const char deploy_folder[] = "mkdir -p \"${p%/*}\" || say failed folder\n"
                                    "say end yes\n";

static const char deploy_remove[] = "rm -f \"$p.part\"\n"
                                    "say end yes\n";

static const char deploy_finish[] =
    "bad() { say failed \"$1\"; rm -f \"$p.part\"; say end yes; exit 0; }\n"
    "[ -e \"$p.part\" ] || bad gone\n"
    "n=$(wc -c <\"$p.part\" 2>/dev/null | word)\n"
    "[ \"${n:-$size}\" = \"$size\" ] || { say said \"$n\"; bad size; }\n"
    "s=$(sha256sum \"$p.part\" 2>/dev/null | word)\n"
    "[ \"${s:-$sum}\" = \"$sum\" ] || bad sum\n"
    "chmod 755 \"$p.part\" || bad mode\n"
    "o=$(\"$p.part\" --version 2>&1 </dev/null)\n"
    "say status $?\n"
    "case $o in\n"
    "\"onnxdbg-serve \"*) ;;\n"
    "*) say said \"$o\"; bad start ;;\n"
    "esac\n"
    "say version \"$(echo \"$o\" | first)\"\n"
    "say executors \"$(echo \"$o\" | while read -r a b c; do case $a,$b,$c in\n"
    "    onnxdbg-serve,*|*,not,here:*) ;; *) echo \"$a\" ;; esac; done | { s=\n"
    "    while read -r a; do s=\"$s$a \"; done; echo \"$s\"; })\"\n"
    "mv -f \"$p.part\" \"$p\" || bad name\n"
    "say end yes\n";

enum odb_status odb_deploy_check(const struct odb_link *link, const struct odb_deploy_facts *facts,
                                 const struct odb_deploy_build *build, bool *same,
                                 struct odb_error *err)
{
    const char *path = odb_deploy_fact(facts, "path"), *free_kib = odb_deploy_fact(facts, "free");
    const char *there = odb_deploy_fact(facts, "there");
    bool ours = !strncmp(odb_deploy_fact(facts, "version"), "onnxdbg-serve ", 14);
    *same = ours && !strcmp(odb_deploy_fact(facts, "sum"), build->sum);
    if (*same)
        return ODB_OK;
    if (there[0] && !ours)
        odb_fail(err, ODB_E_IO, "a %s is there that is no onnxdbg-serve which runs", there);
    else if (!odb_deploy_fact(facts, "writable")[0])
        odb_fail(err, ODB_E_IO, "%s cannot be written to", odb_deploy_fact(facts, "folder"));
    else if (free_kib[0] && strtod(free_kib, NULL) * 1024 < (double)build->size)
        odb_fail(err, ODB_E_IO, "there is no room: %.1f MB are free, and it takes %.1f",
                 strtod(free_kib, NULL) * 1024e-6, (double)build->size * 1e-6);
    else
        return ODB_OK;
    odb_error_at(err, "%s: %s", link->where, path);
    return odb_error_remedy(err, "%sname another place with -o PATH",
                            there[0] && !ours ? "remove it there, or " : "");
}

/* The file's bytes into PATH.part there. */
static enum odb_status deploy_send(const struct odb_link *link, const char *path,
                                   const struct odb_deploy_build *build, struct odb_error *err)
{
    struct odb_argv argv = {0};
    char *line = odb_xasprintf("cat >%s.part", path);
    FILE *file = fopen(build->path, "rb");
    int fd = file ? fileno(file) : -1;
    struct odb_program program = {.argv = &argv,
                                  .quiet = true,
                                  .input = &fd,
                                  .limit = DEPLOY_SECONDS + (double)build->size / DEPLOY_PACE};
    enum odb_status status = ODB_OK;
    link->transport->shell(link, line, &argv);
    if (!file)
        status = odb_fail(err, ODB_E_IO, "%s cannot be read", build->path);
    else
        status = odb_program_run(&program, err);
    if (status == ODB_OK && program.how != 0)
        status = odb_deploy__fail(link, &program, "it could not be written there", err);
    if (file)
        fclose(file);
    odb_program_dispose(&program);
    odb_argv_dispose(&argv);
    free(line);
    return status;
}

/* Why it cannot be started there, as far as its shell's words tell. */
static void deploy_no_start(const struct odb_deploy_facts *said, const char *triplet,
                            struct odb_error *err)
{
    const char *words = odb_deploy_fact(said, "said");
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, words);
    odb_fail(err, ODB_E_EXECUTOR, "it cannot be started there (status %s): %s",
             odb_deploy_fact(said, "status"), odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    if (strstr(words, "shared librar"))
        odb_error_remedy(err,
                         "this machine's own needs libraries that are not there; make one that "
                         "needs none: make serve CROSS=%s-",
                         triplet);
    else if (strstr(words, "GLIBC_"))
        odb_error_remedy(err, "its C library is too old; run it in a container with a newer "
                              "system, behind via:COMMAND");
    else if (strcasestr(words, "permission denied"))
        odb_error_remedy(err, "the file system may be mounted noexec; name a place on another "
                              "with -o PATH");
    else
        odb_error_remedy(err, "is it of that processor?");
}

static enum odb_status deploy_failed(const struct odb_link *link,
                                     const struct odb_deploy_facts *facts,
                                     const struct odb_deploy_facts *said, const char *triplet,
                                     struct odb_error *err)
{
    static const struct {
        const char *key, *what, *remedy;
    } ways[] = {
        {"folder", "its folder cannot be made", "name another place with -o PATH"},
        {"gone", "what was written is not there any more",
         "the command seems to begin a new system each time; name one that stays, such as podman "
         "exec -i NAME"},
        {"size", "not all of it came, or more", "the command has to pass bytes on as they are"},
        {"sum", "it came with other bytes", "the command has to pass bytes on as they are"},
        {"mode", "it cannot be made executable", "name another place with -o PATH"},
        {"name", "it cannot be given its name", "name another place with -o PATH"},
    };
    const char *failed = odb_deploy_fact(said, "failed");
    if (!strcmp(failed, "start"))
        deploy_no_start(said, triplet, err);
    for (size_t i = 0; i < ODB_COUNT(ways); i++)
        if (!strcmp(failed, ways[i].key)) {
            odb_fail(err, ODB_E_IO, "%s", ways[i].what);
            odb_error_remedy(err, "%s", ways[i].remedy);
        }
    return odb_error_at(err, "%s: %s", link->where, odb_deploy_fact(facts, "path"));
}

enum odb_status odb_deploy_put(struct odb_deploy_facts *out, const struct odb_link *link,
                               const struct odb_deploy_facts *facts,
                               const struct odb_deploy_build *build, struct odb_error *err)
{
    struct odb_deploy_vars vars = {odb_deploy_fact(facts, "path"), build->size, build->sum};
    struct odb_deploy_facts removed = {0};
    enum odb_status status;
    *out = (struct odb_deploy_facts){0};
    ODB_TRY_OUT(odb_deploy__shell(out, link, &vars, deploy_folder, err));
    if (!odb_deploy_fact(out, "failed")[0]) {
        odb_deploy_facts_dispose(out);
        status = deploy_send(link, vars.path, build, err);
        if (status != ODB_OK &&
            odb_deploy__shell(&removed, link, &vars, deploy_remove, NULL) == ODB_OK)
            odb_deploy_facts_dispose(&removed);
        if (status == ODB_OK)
            status = odb_deploy__shell(out, link, &vars, deploy_finish, err);
        ODB_TRY_OUT(status);
    }
    if (odb_deploy_fact(out, "failed")[0])
        status = deploy_failed(link, facts, out, build->triplet, err);
out:
    if (status != ODB_OK)
        odb_deploy_facts_dispose(out);
    return status;
}
