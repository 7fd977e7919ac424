/* SPDX-License-Identifier: MIT */
#include "executor/transport/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/file.h"
#include "system/newer.h"
#include "executor/transport/child.h"

#define PROGRAM_LINE 800  /* bytes of a telling line in a message */
#define PROGRAM_DRAIN 256 /* reads from the pipe after its end: one pipe's worth, and no flood */

/* --- command lines --------------------------------------------------------------------------- */

void odb_argv_add(struct odb_argv *argv, const char *word)
{
    odb_push(&argv->list, odb_xstrdup(word));
}

void odb_argv_split(struct odb_argv *argv, const char *text)
{
    struct odb_buf word = ODB_BUF_INIT;
    bool open = false;
    for (const char *p = text; *p; p++) {
        if (*p == ' ') {
            if (open)
                odb_argv_add(argv, odb_buf_text(&word));
            odb_buf_clear(&word);
            open = false;
            continue;
        }
        if (*p == '\\' && (p[1] == ' ' || p[1] == '\\'))
            p++;
        odb_buf_putc(&word, *p);
        open = true;
    }
    if (open)
        odb_argv_add(argv, odb_buf_text(&word));
    odb_buf_dispose(&word);
}

void odb_argv_find_files(struct odb_argv *argv)
{
    struct stat st;
    for (size_t i = 0; i < argv->list.n; i++) {
        char *word = argv->list.items[i], *equals = strchr(word, '=');
        int prefix = stat(word, &st) < 0 && equals ? (int)(equals + 1 - word) : 0;
        char *path = odb_file_is_regular(word + prefix) ? realpath(word + prefix, NULL) : NULL;
        if (!path)
            continue;
        argv->list.items[i] = odb_xasprintf("%.*s%s", prefix, word, path);
        free(word);
        free(path);
    }
}

static enum odb_status program_not_started(enum odb_status status, const char *name, int error,
                                           struct odb_error *err)
{
    static const struct {
        int error;
        const char *remedy;
    } remedies[] = {
        {EACCES, "make it executable (chmod +x), or name what runs it: command:python3 FILE"},
        {ENOEXEC, "let it begin with a line such as #!/bin/sh, or name what runs it"},
        {ENOENT, "name an executable file, or one that is in PATH; if it is a script, what its "
                 "first line names is missing"},
    };
    odb_fail(err, status, "'%s' cannot be started: %s", name, strerror(error));
    for (size_t i = 0; i < ODB_COUNT(remedies); i++)
        if (remedies[i].error == error)
            odb_error_remedy(err, "%s", remedies[i].remedy);
    return status;
}

enum odb_status odb_argv_check(const struct odb_argv *argv, struct odb_error *err)
{
    const char *name = argv->list.items[0];
    char *path = strchr(name, '/') ? odb_xstrdup(name) : odb_file_in_path(name);
    struct stat st;
    int error = 0;
    if (!path)
        error = ENOENT;
    else if (stat(path, &st) != 0 || access(path, X_OK) != 0)
        error = errno;
    else if (S_ISDIR(st.st_mode))
        error = EISDIR;
    free(path);
    return error ? program_not_started(ODB_E_USAGE, name, error, err) : ODB_OK;
}

void odb_argv_dispose(struct odb_argv *argv)
{
    for (size_t i = 0; i < argv->list.n; i++)
        free(argv->list.items[i]);
    free(argv->list.items);
    *argv = (struct odb_argv){0};
}

void odb_argv_show(const struct odb_argv *argv, struct odb_buf *out)
{
    for (size_t i = 0; i < argv->list.n; i++) {
        bool quote = strpbrk(argv->list.items[i], " \t\n\"\\$`*?;&|<>()") != NULL;
        odb_buf_puts(out, i ? quote ? " '" : " " : quote ? "'" : "");
        odb_buf_put_shown(out, argv->list.items[i]);
        odb_buf_puts(out, quote ? "'" : "");
    }
}

/* --- running --------------------------------------------------------------------------------- */

void odb_program_say(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t put = write(STDERR_FILENO, text, n);
        if (put < 0)
            return; /* our output has no reader; the program must not stop for that */
        text += put;
        n -= (size_t)put;
    }
}

bool odb_program_verbose(void)
{
    const char *verbose = getenv("VERBOSE");
    return verbose && verbose[0];
}

static void program_announce(const struct odb_program *program)
{
    struct odb_buf line = ODB_BUF_INIT;
    if (program->quiet || !odb_program_verbose())
        return;
    odb_argv_show(program->argv, &line);
    odb_buf_putc(&line, '\n');
    odb_program_say(line.data, line.len);
    odb_buf_dispose(&line);
}

/* The process group stays ours: so it ends with us, whatever it does. */
enum odb_status odb_program_spawn(const struct odb_program *program, const int fds[3], pid_t *pid,
                                  struct odb_error *err)
{
    sigset_t all, none;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    size_t n = program->argv->list.n;
    program_announce(program);
    char **argv = odb_new_n(char *, n + 1);
    memcpy(argv, program->argv->list.items, n * sizeof *argv);
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawn_file_actions_init(&files);
    if (fds[0] < 0)
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = fds[0] < 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&files, fds[i], i);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    if (program->dir)
        posix_spawn_file_actions_addchdir_np(&files, program->dir);
    int error = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    free(argv);
    if (!error)
        return ODB_OK;
    return program_not_started(ODB_E_EXECUTOR, program->argv->list.items[0], error, err);
}

void odb_program_heard(struct odb_program *program, const char *text, size_t n)
{
    struct odb_buf *said = &program->said;
    if (!program->quiet)
        odb_program_say(text, n);
    odb_buf_add(said, text, n);
    for (size_t i = said->len - n; i < said->len; i++)
        said->data[i] = said->data[i] ? said->data[i] : ' ';
    if (said->len > 2 * ODB_PROGRAM_WORDS) {
        size_t drop = said->len - ODB_PROGRAM_WORDS;
        memmove(said->data, said->data + drop, ODB_PROGRAM_WORDS);
        said->len = ODB_PROGRAM_WORDS;
        said->data[said->len] = '\0';
    }
}

bool odb_program_listen(struct odb_program *program, int from)
{
    char piece[4096];
    ssize_t n = read(from, piece, sizeof piece);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    odb_program_heard(program, piece, (size_t)n);
    return true;
}

/* Listens until it has ended. The pipe may stay open, or even busy, in what it leaves behind. */
static void program_wait(struct odb_program *program, pid_t pid, int from)
{
    bool open = true;
    double end = program->limit > 0 ? odb_clock() + program->limit : INFINITY;
    for (pid_t done = 0; done == 0;) {
        bool watch = open || isfinite(end);
        struct pollfd fd = {.fd = open ? from : -1, .events = POLLIN};
        done = waitpid(pid, &program->how, watch ? WNOHANG : 0);
        if (done < 0 && errno == EINTR)
            done = 0;
        else if (done == 0 && poll(&fd, 1, 20) > 0)
            open = odb_program_listen(program, from);
        if (done == 0 && odb_clock() > end) {
            kill(pid, SIGKILL);
            end = INFINITY;
        }
    }
    struct pollfd fd = {.fd = from, .events = POLLIN};
    for (int i = 0; i < PROGRAM_DRAIN && open && poll(&fd, 1, 0) > 0; i++)
        open = odb_program_listen(program, from);
}

enum odb_status odb_program_run(struct odb_program *program, struct odb_error *err)
{
    pid_t pid = 0;
    int pipes[2];
    program->said = (struct odb_buf)ODB_BUF_INIT;
    program->how = 0;
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return odb_fail(err, ODB_E_IO, "pipe: %s", strerror(errno));
    int words = program->apart ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    const int fds[] = {program->input ? *program->input : -1, pipes[1],
                       words < 0 ? pipes[1] : words};
    enum odb_status status = odb_program_spawn(program, fds, &pid, err);
    if (words >= 0)
        close(words);
    close(pipes[1]);
    if (status == ODB_OK)
        program_wait(program, pid, pipes[0]);
    close(pipes[0]);
    return status;
}

void odb_program_dispose(struct odb_program *program)
{
    odb_buf_dispose(&program->said);
}

/* --- verdicts -------------------------------------------------------------------------------- */

enum odb_status odb_program_check(const struct odb_program *program, const char *says,
                                  struct odb_error *err)
{
    char signal_name[32];
    const char *name = program->argv->list.items[0];
    int status = WEXITSTATUS(program->how);
    if (WIFSIGNALED(program->how))
        return odb_fail(err, ODB_E_CRASH, "%s was killed by %s%s", name,
                        odb_signal_name(WTERMSIG(program->how), signal_name, sizeof signal_name),
                        says);
    if (status == 0)
        return ODB_OK;
    odb_fail(err, ODB_E_EXECUTOR, "%s exited with status %d%s", name, status, says);
    if (status == 127 || status == 126)
        odb_error_remedy(err, "%d is how a shell says that what it was to run %s", status,
                         status == 127 ? "was not found" : "is not executable");
    return ODB_E_EXECUTOR;
}

void odb_program_last_words(const struct odb_program *program, size_t max, struct odb_buf *out)
{
    size_t end = program->said.len;
    while (end > 0 && strchr(" \r\n\t", program->said.data[end - 1]))
        end--;
    size_t from = end > max ? end - max : 0;
    char *line = odb_xstrndup(odb_buf_text(&program->said) + from, end - from);
    for (char *p = line; *p; p++)
        if (strchr("\r\n\t", *p))
            *p = ' ';
    odb_buf_put_shown(out, line);
    free(line);
}

static bool program_line_tells(const char *line)
{
    static const char *const marks[] = {"error", "assertion", "fatal", "not found", "unsupported"};
    for (size_t i = 0; i < ODB_COUNT(marks); i++)
        if (strcasestr(line, marks[i]))
            return true;
    return false;
}

void odb_program_telling_line(const struct odb_program *program, struct odb_buf *out)
{
    char *text = odb_xstrdup(odb_buf_text(&program->said)), *rest = text, *last = NULL;
    for (char *line; (line = strsep(&rest, "\r\n"));) {
        line += strspn(line, " \t");
        if (!line[0])
            continue;
        last = line;
        if (program_line_tells(line))
            break;
    }
    if (last && strlen(last) > PROGRAM_LINE)
        last[PROGRAM_LINE] = '\0';
    odb_buf_put_shown(out, last ? last : "");
    free(text);
}
