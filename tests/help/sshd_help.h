/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An sshd of the test's own: on loopback, at a port of its own, with keys made for it, as the
 * user that runs the test. It ends with the test's process.
 */
#ifndef ODB_TESTS_SSHD_HELP_H
#define ODB_TESTS_SSHD_HELP_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SSHD_PRIVSEP "/run/sshd" /* root's sshd wants it to be there */

struct help_sshd {
    char dir[128]; /* for its keys and configuration; the caller's */
    pid_t pid;
    int port;
    bool made_privsep;
    char mark[160]; /* NAME=DIR: in the environment of all that it starts, of no other process */
    char why[512];  /* not empty: there is none, because */
};

static inline int sshd_free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;
    if (bind(fd, (struct sockaddr *)&at, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &size) == 0)
        port = ntohs(at.sin_port);
    close(fd);
    return port;
}

static inline bool sshd_answers(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answers = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return answers;
}

static inline void sshd_write(const char *dir, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) < 0)
        abort();
    chmod(path, 0600);
}

/* Keys of the host and of the user, and the list of those that may log in. */
static inline bool sshd_keys(const char *dir)
{
    char line[1200];
    snprintf(line, sizeof line,
             "cd '%s' && for k in host key stranger; do ssh-keygen -q -t ed25519 -N '' -f $k; done "
             "&& cp key.pub authorized",
             dir);
    return system(line) == 0;
}

static inline const char *sshd_program(void)
{
    static char fetched[4200]; /* by `make setup`; sshd wants an absolute path */
    static const char *const paths[] = {"/usr/sbin/sshd", "/usr/local/sbin/sshd", fetched};
    char here[4096];
    snprintf(fetched, sizeof fetched, "%s/vendor/openssh-server/usr/sbin/sshd",
             getcwd(here, sizeof here));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], X_OK) == 0)
            return paths[i];
    return NULL;
}

static inline void sshd_spawn(struct help_sshd *sshd, const char *program)
{
    char config[200];
    pid_t parent = getpid();
    snprintf(config, sizeof config, "%s/sshd_config", sshd->dir);
    sshd->pid = fork();
    if (sshd->pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int log = open("/dev/null", O_WRONLY);
    dup2(log, 1);
    dup2(log, 2);
    execl(program, program, "-D", "-f", config, (char *)NULL);
    _exit(127);
}

/* ssh's configuration: the alias "loopback", and a host whose key is another. */
static inline void sshd_client_config(const struct help_sshd *sshd, const char *name,
                                      const char *key, bool known)
{
    char text[2000];
    snprintf(text, sizeof text,
             "Host loopback\n  HostName 127.0.0.1\n  Port %d\n"
             "Host *\n  IdentityFile %s/%s\n  IdentitiesOnly yes\n"
             "  UserKnownHostsFile %s/%s\n  GlobalKnownHostsFile /dev/null\n"
             "  StrictHostKeyChecking %s\n  LogLevel ERROR\n",
             sshd->port, sshd->dir, key, sshd->dir, known ? "known" : "known-none",
             known ? "accept-new" : "yes");
    sshd_write(sshd->dir, name, text);
}

static inline void help_sshd_stop(struct help_sshd *sshd)
{
    if (sshd->pid > 0) {
        kill(sshd->pid, SIGTERM);
        waitpid(sshd->pid, NULL, 0);
        sshd->pid = 0;
    }
    if (sshd->made_privsep)
        rmdir(SSHD_PRIVSEP);
    sshd->made_privsep = false;
}

/* ONNXDBG_SSH names this file of the client's configuration from now on. */
static inline void help_sshd_use(const struct help_sshd *sshd, const char *config)
{
    char text[300];
    snprintf(text, sizeof text, "ssh -F '%s/%s'", sshd->dir, config);
    setenv("ONNXDBG_SSH", text, 1);
}

/* Starts it below dir. sshd->why says why that cannot be done. Configurations of the client:
 * "config" (right), "wrong-key", "wrong-host". */
static inline void help_sshd_start(struct help_sshd *sshd, const char *dir)
{
    char text[1000];
    const char *program = sshd_program();
    *sshd = (struct help_sshd){.port = sshd_free_port()};
    snprintf(sshd->dir, sizeof sshd->dir, "%s", dir);
    if (!program || system("command -v ssh ssh-keygen >/dev/null 2>&1") != 0) {
        snprintf(sshd->why, sizeof sshd->why, "no sshd here; `make setup` fetches one");
        return;
    }
    sshd->made_privsep = geteuid() == 0 && mkdir(SSHD_PRIVSEP, 0755) == 0;
    snprintf(text, sizeof text,
             "Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s/authorized\n"
             "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
             "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
             "MaxStartups 100\nPrintMotd no\nUseDNS no\n",
             sshd->port, dir, dir);
    /* Nothing else comes through from here; of several such lines sshd takes the first. */
    const char *python = getenv("ONNXDBG_PYTHON");
    size_t n = strlen(text);
    snprintf(sshd->mark, sizeof sshd->mark, "ONNXDBG_TEST_FAR=%s", dir);
    snprintf(text + n, sizeof text - n, "SetEnv %s%s%s\n", sshd->mark,
             python ? " ONNXDBG_PYTHON=" : "", python ? python : "");
    sshd_write(dir, "sshd_config", text);
    sshd_client_config(sshd, "config", "key", true);
    sshd_client_config(sshd, "wrong-key", "stranger", true);
    sshd_client_config(sshd, "wrong-host", "key", false);
    if (!sshd_keys(dir)) {
        snprintf(sshd->why, sizeof sshd->why, "ssh-keygen makes no keys");
        return;
    }
    sshd_spawn(sshd, program);
    for (int i = 0; i < 100 && !sshd_answers(sshd->port); i++)
        usleep(50 * 1000);
    snprintf(text, sizeof text, "ssh -n -F '%s/config' -o BatchMode=yes loopback true 2>'%s/log'",
             dir, dir);
    if (system(text) != 0)
        snprintf(sshd->why, sizeof sshd->why, "nobody can log in on an sshd of this user's own");
    help_sshd_use(sshd, "config");
}

#endif
