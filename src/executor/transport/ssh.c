/* SPDX-License-Identifier: MIT
 *
 * ssh:HOST[:PORT],SPEC: a child on another machine.
 *
 * ssh's options are ours where no user is there to answer a question, and where a dead link has to
 * be seen; all else is the user's own configuration. Nothing of a spec stands on the command line
 * of the other machine, where a shell would read it: the spec goes with the first message.
 */
#include "executor/transport/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/executor.h"
#include "system/file.h"

/* Thirty seconds without a sign of life are the end of a link. */
static const char *const ssh_words[] = {
    "-T", "-x",
    "-o", "BatchMode=yes",
    "-o", "ConnectTimeout=20",
    "-o", "ServerAliveInterval=10",
    "-o", "ServerAliveCountMax=3",
};

/* What ssh says, and what helps; behind that comes the host. */
static const struct {
    const char *words, *remedy;
} ssh_troubles[] = {
    {"Host key verification failed", "see its key and accept it once by hand: ssh"},
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", "see why it has another key: ssh"},
    {"Permission denied", "no password is asked for; bring your public key there: ssh-copy-id"},
    {"Could not resolve hostname", "is the name right? ~/.ssh/config is respected: ssh"},
    {"Connection refused", "does sshd listen there, on that port? try: ssh"},
    {"", "this has to work without a question: ssh"},
};

static enum odb_status ssh_parse(struct odb_link *out, const struct odb_spec *spec,
                                 struct odb_error *err)
{
    const char *arg = spec->arg, *name = arg + strcspn(arg, "@");
    name = *name ? name + 1 : arg;
    const char *bracket = name[0] == '[' ? strchr(name, ']') : NULL;
    const char *end = bracket ? bracket + 1 : name + strcspn(name, ":");
    size_t port = *end == ':' ? strspn(end + 1, "0123456789") : 0;
    if (arg[0] == '-' || end == name || (name[0] == '[' && (!bracket || bracket == name + 1)) ||
        (*end && (*end != ':' || port == 0 || port > 5 || end[1 + port])))
        return odb_link_wrong(spec, "that is no host", err);
    size_t user = (size_t)(name - arg);
    out->where =
        bracket ? odb_xasprintf("%.*s%.*s", (int)user, arg, (int)(bracket - name - 1), name + 1)
                : odb_xstrndup(arg, (size_t)(end - arg));
    out->port = port ? odb_xstrdup(end + 1) : NULL;
    return ODB_OK;
}

/* Where nothing else is said it is looked for where `onnxdbg deploy` puts it, too: a command over
 * ssh has a short PATH. */
#define SSH_SERVE "sh -c 'PATH=$PATH:$HOME/.local/bin; exec onnxdbg-serve --relay'"

/* All but the command. */
static void ssh_begin(const struct odb_link *ssh, struct odb_argv *argv)
{
    const char *own = getenv("ONNXDBG_SSH");
    struct odb_buf text = ODB_BUF_INIT;
    if (own && own[0]) { /* a line for the shell, as git's GIT_SSH_COMMAND is */
        odb_argv_add(argv, "/bin/sh");
        odb_argv_add(argv, "-c");
        odb_buf_printf(&text, "%s \"$@\"", own);
        odb_argv_add(argv, odb_buf_text(&text));
    }
    odb_argv_add(argv, "ssh");
    for (size_t i = 0; i < ODB_COUNT(ssh_words); i++)
        odb_argv_add(argv, ssh_words[i]);
    if (ssh->port) {
        odb_argv_add(argv, "-p");
        odb_argv_add(argv, ssh->port);
    }
    odb_argv_add(argv, "--");
    odb_argv_add(argv, ssh->where);
    odb_buf_dispose(&text);
}

static void ssh_argv(const struct odb_link *ssh, struct odb_argv *argv)
{
    const char *serve = getenv("ONNXDBG_REMOTE_SERVE");
    char *own = serve && serve[0] ? odb_xasprintf("%s --relay", serve) : NULL;
    ssh_begin(ssh, argv);
    odb_argv_add(argv, own ? own : SSH_SERVE);
    free(own);
}

static void ssh_shell(const struct odb_link *ssh, const char *line, struct odb_argv *argv)
{
    ssh_begin(ssh, argv);
    odb_argv_add(argv, line ? line : "sh");
}

static void ssh_remedy(const struct odb_link *ssh, const char *words, struct odb_error *err)
{
    size_t i = 0;
    while (!strstr(words, ssh_troubles[i].words))
        i++;
    odb_error_remedy(err, "%s %s%s%s%s", ssh_troubles[i].remedy, ssh->port ? "-p " : "",
                     ssh->port ? ssh->port : "", ssh->port ? " " : "", ssh->where);
}

static void ssh_no_answer(const struct odb_link *ssh, int status, int signal, const char *words,
                          struct odb_error *err)
{
    if (status == 126 || status == 127) {
        odb_fail(err, ODB_E_EXECUTOR, "%s has no onnxdbg-serve", ssh->where);
        odb_error_remedy(err,
                         "bring it there: onnxdbg deploy %s%s%s; or name it in "
                         "ONNXDBG_REMOTE_SERVE",
                         ssh->where, ssh->port ? ":" : "", ssh->port ? ssh->port : "");
    } else if (status == 255 || status < 0) {
        odb_fail(err, ODB_E_EXECUTOR, "no link to %s", ssh->where);
        ssh_remedy(ssh, words, err);
    } else {
        odb_fail(err, ODB_E_EXECUTOR, "onnxdbg-serve on %s exited with status %d", ssh->where,
                 status);
        odb_error_remedy(err, "it has to be of this version, %s", ODB_VERSION);
    }
}

static void ssh_noisy(const struct odb_link *ssh, struct odb_error *err)
{
    odb_error_remedy(err, "this must print nothing: ssh %s true", ssh->where);
}

/* --- the row ---------------------------------------------------------------------------------- */

static const struct odb_transport ssh_transport = {
    .syntax = "write ssh:HOST,SPEC or ssh:HOST:PORT,SPEC; HOST may be USER@NAME or [IPV6]",
    .what = "host",
    .place = "HOST",
    .between = "+",
    .by = "on",
    .lost = "the link to",
    .missing = "install OpenSSH's client, or name another in ONNXDBG_SSH",
    .parse = ssh_parse,
    .argv = ssh_argv,
    .shell = ssh_shell,
    .no_answer = ssh_no_answer,
    .noisy = ssh_noisy,
};

static const struct odb_executor_option ssh_options[] = {
    {":", "HOST[:PORT],SPEC", NULL, "where, as ssh takes it, and what is to run there", true},
    {NULL, NULL, NULL, NULL, false},
};

static void ssh_available(const struct odb_runtime *runtime, char *why, size_t size)
{
    char *program = getenv("ONNXDBG_SSH") ? NULL : odb_file_in_path("ssh");
    why[0] = '\0';
    if (!program && !getenv("ONNXDBG_SSH"))
        snprintf(why, size,
                 "there is no ssh in PATH; install it (Debian: openssh-client), or name "
                 "another program in ONNXDBG_SSH");
    free(program);
}

const struct odb_executor_ops odb_executor_ssh = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof odb_executor_ssh,
    .kind = "ssh",
    .options = ssh_options,
    .help = "any of the others on another machine",
    .page = "onnxdbg-ssh(7)",
    .get = "apt install openssh-client",
    .transport = &ssh_transport,
    .available = ssh_available,
    .init = odb_link_not_here,
};
