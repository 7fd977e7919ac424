/* SPDX-License-Identifier: MIT
 *
 * via:COMMAND,SPEC: a child behind any program that passes standard input and output on. Nothing of
 * SPEC is a word of the command: it goes with the first message.
 */
#include "executor/transport/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "executor/transport/child.h"

#define VIA_RELAY "--relay"

static enum odb_status via_parse(struct odb_link *out, const struct odb_spec *spec,
                                 struct odb_error *err)
{
    struct odb_argv words = {0};
    bool several = false;
    odb_argv_split(&words, spec->arg);
    for (size_t i = 0; i < words.list.n; i++)
        several |= !strcmp(words.list.items[i], "+");
    odb_argv_dispose(&words);
    if (several)
        return odb_link_wrong(spec,
                              "several commands are for a target at the very beginning of a "
                              "spec, each with words of its own",
                              err);
    out->where = odb_xstrdup(spec->arg);
    return ODB_OK;
}

/* Where the child stands in the command: it is there as it is to be called, or its name is the last
 * word, or it is not there. */
static void via_argv(const struct odb_link *link, struct odb_argv *argv)
{
    bool complete = false;
    odb_argv_split(argv, link->where);
    for (size_t i = 0; i < argv->list.n; i++)
        complete |= strstr(argv->list.items[i], VIA_RELAY) != NULL;
    if (complete)
        return;
    const char *last = argv->list.items[argv->list.n - 1], *slash = strrchr(last, '/');
    if (strncmp(slash ? slash + 1 : last, "onnxdbg-serve", strlen("onnxdbg-serve")) != 0)
        odb_argv_add(argv, "onnxdbg-serve");
    odb_argv_add(argv, VIA_RELAY);
}

/* A command that joins its words for a shell, as adb's does, has that redirect what sh does. */
static void via_shell(const struct odb_link *link, const char *line, struct odb_argv *argv)
{
    odb_argv_split(argv, link->where);
    odb_argv_add(argv, "sh");
    if (line) {
        odb_argv_add(argv, "-c");
        odb_argv_add(argv, line);
    }
}

/* The command line for a person to try. */
static void via_try(const struct odb_link *link, struct odb_buf *out)
{
    struct odb_argv argv = {0};
    struct odb_buf line = ODB_BUF_INIT;
    via_argv(link, &argv);
    odb_argv_show(&argv, &line);
    const char *text = odb_buf_text(&line), *relay = strstr(text, VIA_RELAY);
    odb_buf_printf(out, "%.*s--version%s", (int)(relay - text), text, relay + strlen(VIA_RELAY));
    odb_buf_dispose(&line);
    odb_argv_dispose(&argv);
}

static void via_no_answer(const struct odb_link *link, int status, int signal, const char *words,
                          struct odb_error *err)
{
    struct odb_buf line = ODB_BUF_INIT;
    char name[32];
    if (signal)
        odb_fail(err, ODB_E_EXECUTOR, "'%s' was killed by %s before onnxdbg-serve answered",
                 link->where, odb_signal_name(signal, name, sizeof name));
    else if (status < 0)
        odb_fail(err, ODB_E_EXECUTOR,
                 "'%s' closed its standard output before onnxdbg-serve answered", link->where);
    else
        odb_fail(err, ODB_E_EXECUTOR, "'%s' ended with status %d before onnxdbg-serve answered",
                 link->where, status);
    via_try(link, &line);
    odb_error_remedy(err, "%sthis has to print the version %s: %s",
                     status == 127 ? "127 is how many programs say that they found none; " : "",
                     ODB_VERSION, odb_buf_text(&line));
    odb_buf_dispose(&line);
}

static void via_noisy(const struct odb_link *link, struct odb_error *err)
{
    struct odb_buf line = ODB_BUF_INIT;
    via_try(link, &line);
    odb_error_remedy(err, "this must print nothing before the version: %s", odb_buf_text(&line));
    odb_buf_dispose(&line);
}

/* --- the row ---------------------------------------------------------------------------------- */

static const struct odb_transport via_transport = {
    .syntax = "write via:COMMAND,SPEC, where COMMAND passes standard input and output on: "
              "via:podman run -i IMAGE,cpu",
    .what = "command",
    .place = "COMMAND",
    .between = " + ",
    .also = "ssh:",
    .by = "via",
    .lost = "the link through",
    .missing = "name a program that is in PATH, or a file",
    .parse = via_parse,
    .argv = via_argv,
    .shell = via_shell,
    .no_answer = via_no_answer,
    .noisy = via_noisy,
};

static const struct odb_executor_option via_options[] = {
    {":", "COMMAND,SPEC", NULL, "what passes the child's input and output on, and what is to run",
     true},
    {NULL, NULL, NULL, NULL, false},
};

const struct odb_executor_ops odb_executor_via = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof odb_executor_via,
    .kind = "via",
    .options = via_options,
    .help = "any of the others behind a program: a batch system, a container, a board",
    .page = "onnxdbg-via(7)",
    .transport = &via_transport,
    .argument = ODB_ARGUMENT_COMMAND,
    .init = odb_link_not_here,
};
