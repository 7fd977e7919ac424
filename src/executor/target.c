/* SPDX-License-Identifier: MIT
 *
 * Four things can go wrong with a child: it says no, it dies, it says nothing, or it talks
 * nonsense. The first is an answer and leaves the child as it was. After any of the others it is
 * killed with its whole process group, reaped, and its scratch directory removed; the next load
 * starts another.
 *
 * Everything the child prints comes through one pipe, of which the last 4 KiB are kept: what a
 * library says before it dies is often the best description of why.
 */
#include "executor/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/protocol.h"
#include "executor/scratch.h"

/* Long, because the first run of a large model on a slow target takes minutes and a hang wrongly
 * reported costs more than waiting: the user sees the time and can cancel. */
#define TARGET_TIMEOUT 600.0
#define TARGET_WORDS 4096
#define TARGET_SHOWN 400      /* of the last words in a message */
#define TARGET_TICK_MS 100    /* how often cancel and deadline are looked at */
#define TARGET_CHILD_FD 3     /* the child's end of the socket */
#define TARGET_GRACE 2.0      /* seconds to end by itself when asked to */
#define TARGET_TERM_GRACE 0.3 /* seconds between SIGTERM and SIGKILL */

struct target_sent {
    char *name;                /* owned */
    struct odb_tensor *tensor; /* ref */
};

struct odb_target {
    struct odb_spec *spec; /* owned */
    double timeout;
    bool (*cancelled)(void *payload);
    void *payload;     /* borrowed: for cancelled */
    char *description; /* owned */
    struct odb_target_stats stats;

    /* the child */
    pid_t pid;          /* 0: none */
    int sock, words_fd; /* -1: closed */
    char *scratch;      /* owned */
    bool loaded;
    double deadline;
    const char *doing; /* for messages */
    char words[TARGET_WORDS];
    size_t n_words;           /* printed since the last load; the ring holds the last of them */
    struct target_sent *sent; /* owned: inputs that the child still has */
    size_t n_sent;
};

static double target_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void target_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void target_forget_sent(struct odb_target *target)
{
    for (size_t i = 0; i < target->n_sent; i++) {
        free(target->sent[i].name);
        odb_tensor_unref(target->sent[i].tensor);
    }
    free(target->sent);
    target->sent = NULL;
    target->n_sent = 0;
}

/* --- last words ------------------------------------------------------------------------------ */

/* Takes what there is in the pipe, at most one ring's worth so that a flood cannot hold us. */
static void target_listen(struct odb_target *target)
{
    char piece[TARGET_WORDS];
    if (target->words_fd < 0)
        return;
    ssize_t n = read(target->words_fd, piece, sizeof piece);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        target_close_fd(&target->words_fd);
    for (ssize_t i = 0; i < n; i++)
        target->words[target->n_words++ % TARGET_WORDS] = piece[i];
}

/* The end of what the child printed, as one line; "" when it printed nothing. */
static void target_last_words(struct odb_target *target, struct odb_buf *out)
{
    char raw[TARGET_SHOWN + 1];
    size_t end = target->n_words;
    while (end > 0 && target->n_words - end < TARGET_WORDS &&
           strchr(" \r\n\t", target->words[(end - 1) % TARGET_WORDS]))
        end--;
    size_t oldest = target->n_words > TARGET_WORDS ? target->n_words - TARGET_WORDS : 0;
    size_t begin = end > TARGET_SHOWN ? end - TARGET_SHOWN : 0;
    begin = ODB_MAX(begin, oldest);
    size_t n = 0;
    for (size_t i = begin; i < end; i++) {
        char c = target->words[i % TARGET_WORDS];
        raw[n++] = c == '\0' || c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
    }
    raw[n] = '\0';
    odb_buf_put_shown(out, raw);
}

/* --- the end of a child ---------------------------------------------------------------------- */

/* Waits until the child has ended, listening; false when it has not after so many seconds. */
static bool target_reap(struct odb_target *target, double seconds, int *how)
{
    for (double end = target_now() + seconds;;) {
        pid_t pid = waitpid(target->pid, how, WNOHANG);
        if (pid == target->pid || (pid < 0 && errno == ECHILD))
            return true;
        if (target_now() >= end)
            return false;
        target_listen(target);
        poll(NULL, 0, 2);
    }
}

/* Ends the whole process group, whatever it does, and takes everything of the child's away. */
static void target_bury(struct odb_target *target, bool reaped)
{
    int how;
    if (!target->pid)
        return;
    if (!reaped) {
        kill(-target->pid, SIGTERM);
        reaped = target_reap(target, TARGET_TERM_GRACE, &how);
    }
    kill(-target->pid, SIGKILL);
    if (!reaped)
        waitpid(target->pid, &how, 0);
    for (int i = 0; i < 64 && target->words_fd >= 0; i++)
        target_listen(target);
    target->pid = 0;
    target->loaded = false;
    target_close_fd(&target->sock);
    target_close_fd(&target->words_fd);
    target_forget_sent(target);
    if (target->scratch)
        odb_scratch_remove(target->scratch);
    free(target->scratch);
    target->scratch = NULL;
}

static enum odb_status target_crashed(struct odb_target *target, struct odb_error *err)
{
    struct odb_buf words = ODB_BUF_INIT;
    char fate[128];
    int how = 0;
    bool reaped = target_reap(target, TARGET_GRACE, &how);
    if (!reaped)
        snprintf(fate, sizeof fate, "closed the connection");
    else if (WIFSIGNALED(how))
        snprintf(fate, sizeof fate, "was killed by SIG%s", sigabbrev_np(WTERMSIG(how)));
    else
        snprintf(fate, sizeof fate, "exited with status %d", WEXITSTATUS(how));
    target_bury(target, reaped);
    target_last_words(target, &words);
    odb_fail(err, ODB_E_CRASH, "the executor %s while %s%s%s", fate, target->doing,
             words.len ? "; its last words: " : "", odb_buf_text(&words));
    odb_buf_dispose(&words);
    return ODB_E_CRASH;
}

/* What a failed exchange means; the child does not survive it. */
static enum odb_status target_broken(struct odb_target *target, enum odb_status status,
                                     struct odb_error *err)
{
    if (status == ODB_E_IO)
        return target_crashed(target, err);
    if (status == ODB_E_FORMAT) {
        err->code = ODB_E_EXECUTOR;
        odb_error_at(err, "a broken message while %s", target->doing);
    }
    target_bury(target, false);
    return err->code;
}

/* --- talking --------------------------------------------------------------------------------- */

/* True when the child has ended though its socket is still open: a process that it left behind
 * may hold the other end. */
static bool target_is_dead(const struct odb_target *target)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)target->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == target->pid;
}

static enum odb_status target_wait(void *payload, int fd, short events, struct odb_error *err)
{
    struct odb_target *target = payload;
    for (;;) {
        struct pollfd fds[2] = {{.fd = fd, .events = events},
                                {.fd = target->words_fd, .events = POLLIN}};
        int n = poll(fds, 2, TARGET_TICK_MS);
        if (n < 0 && errno != EINTR)
            return odb_fail(err, ODB_E_INTERNAL, "poll: %s", strerror(errno));
        if (n > 0 && fds[1].revents)
            target_listen(target);
        if (n > 0 && fds[0].revents)
            return ODB_OK;
        if (n == 0 && target_is_dead(target))
            return odb_fail(err, ODB_E_IO, "the executor has ended");
        if (target->cancelled && target->cancelled(target->payload))
            return odb_fail(err, ODB_CANCELLED, "cancelled while %s", target->doing);
        if (target_now() > target->deadline) {
            odb_fail(err, ODB_E_TIMEOUT, "no answer within %g s while %s", target->timeout,
                     target->doing);
            odb_error_remedy(err, "timeout=SECONDS in its spec gives it longer");
            return ODB_E_TIMEOUT;
        }
    }
}

/* Codes that an executor may give its refusals; anything else is E_EXECUTOR, so that nobody takes
 * what a target says of a model for the truth about the model. */
static const enum odb_status target_codes[] = {ODB_E_USAGE, ODB_E_INPUT, ODB_E_NOMEM, ODB_E_CRASH,
                                               ODB_UNSUPPORTED};

static enum odb_status target_said_no(const Odb__Wire__Error *no, struct odb_error *err)
{
    enum odb_status code = ODB_E_EXECUTOR;
    for (size_t i = 0; i < ODB_COUNT(target_codes); i++)
        if (no->code == (int)target_codes[i])
            code = target_codes[i];
    odb_fail(err, code, "%s", no->what);
    if (no->where[0])
        odb_error_at(err, "%s", no->where);
    if (no->remedy[0])
        odb_error_remedy(err, "%s", no->remedy);
    return code;
}

/* One exchange. On success reply is the caller's to free, and frame to dispose of. */
static enum odb_status target_ask(struct odb_target *target, const Odb__Wire__Request *request,
                                  const struct odb_parcel *parcel, const char *doing,
                                  Odb__Wire__Reply__SayCase want, Odb__Wire__Reply **reply,
                                  struct odb_frame *frame, struct odb_error *err)
{
    struct odb_channel channel = {.in = target->sock,
                                  .out = target->sock,
                                  .local = true,
                                  .wait = target_wait,
                                  .payload = target};
    target->doing = doing;
    target->deadline = target_now() + target->timeout;
    *frame = (struct odb_frame){0};
    enum odb_status status = odb_channel_send(&channel, &request->base, parcel, err);
    if (status == ODB_OK)
        status = odb_channel_receive(&channel, frame, err);
    if (status != ODB_OK)
        return target_broken(target, status, err);
    *reply = odb__wire__reply__unpack(NULL, frame->message_size, frame->message);
    if (*reply && (*reply)->say_case == want)
        return ODB_OK;
    if (*reply && (*reply)->say_case == ODB__WIRE__REPLY__SAY_ERROR)
        status = target_said_no((*reply)->error, err);
    else
        status = target_broken(target, odb_fail(err, ODB_E_FORMAT, "it is no answer"), err);
    if (*reply)
        odb__wire__reply__free_unpacked(*reply, NULL);
    odb_frame_dispose(frame);
    return status;
}

/* --- the beginning of a child ---------------------------------------------------------------- */

static char *target_beside(const char *program, const char *more)
{
    char *dir = odb_xstrdup(program);
    char *slash = strrchr(dir, '/');
    if (slash)
        *slash = '\0';
    char *path = odb_xasprintf("%s%s/onnxdbg-serve", slash ? dir : ".", more);
    free(dir);
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* $ONNXDBG_SERVE, else beside this program or in its libexec; else left to PATH. */
static char *target_program(void)
{
    const char *env = getenv("ONNXDBG_SERVE");
    if (env && env[0])
        return odb_xstrdup(env);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *path = NULL;
    if (n > 0) {
        self[n] = '\0';
        path = target_beside(self, "");
        if (!path)
            path = target_beside(self, "/../libexec");
    }
    return path ? path : odb_xstrdup("onnxdbg-serve");
}

/* A copy of fd out of the way of the numbers that the child's descriptors get. */
static int target_move_up(int fd)
{
    int up = fcntl(fd, F_DUPFD_CLOEXEC, 16);
    close(fd);
    return up;
}

/* Process group of its own, default signals, no input, all output into words, the socket as
 * descriptor 3, nothing else open. */
static int target_exec(struct odb_target *target, int sock, int words)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, none;
    char *program = target_program();
    char *fd_arg = odb_xasprintf("--fd=%d", TARGET_CHILD_FD);
    char *scratch_arg = odb_xasprintf("--scratch=%s", target->scratch);
    char *argv[] = {program, fd_arg, scratch_arg, "--", target->spec->text, NULL};
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, words, 1);
    posix_spawn_file_actions_adddup2(&files, words, 2);
    posix_spawn_file_actions_adddup2(&files, sock, TARGET_CHILD_FD);
    posix_spawn_file_actions_addclosefrom_np(&files, TARGET_CHILD_FD + 1);
    int error = posix_spawnp(&target->pid, program, &files, &attr, argv, environ);
    if (error)
        target->pid = 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    free(program);
    free(fd_arg);
    free(scratch_arg);
    return error;
}

static enum odb_status target_spawn(struct odb_target *target, struct odb_error *err)
{
    int socks[2] = {-1, -1}, words[2] = {-1, -1};
    ODB_TRY(odb_scratch_new(&target->scratch, err));
    enum odb_status status = ODB_OK;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0 ||
        pipe2(words, O_CLOEXEC) < 0)
        status = odb_fail(err, ODB_E_IO, "no connection to a child: %s", strerror(errno));
    if (status == ODB_OK) {
        fcntl(socks[0], F_SETFL, O_NONBLOCK);
        fcntl(words[0], F_SETFL, O_NONBLOCK);
        socks[1] = target_move_up(socks[1]);
        words[1] = target_move_up(words[1]);
        int error = target_exec(target, socks[1], words[1]);
        if (error) {
            status = odb_fail(err, ODB_E_EXECUTOR, "onnxdbg-serve cannot be started: %s",
                              strerror(error));
            odb_error_remedy(err, "install it beside onnxdbg, or name it in ONNXDBG_SERVE");
        }
    }
    target_close_fd(&socks[1]);
    target_close_fd(&words[1]);
    if (status != ODB_OK) {
        target_close_fd(&socks[0]);
        target_close_fd(&words[0]);
        odb_scratch_remove(target->scratch);
        free(target->scratch);
        target->scratch = NULL;
        return status;
    }
    target->sock = socks[0];
    target->words_fd = words[0];
    target->n_words = 0;
    target->stats.starts++;
    return ODB_OK;
}

/* A child that has accepted its spec. */
static enum odb_status target_start(struct odb_target *target, struct odb_error *err)
{
    if (target->pid)
        return ODB_OK;
    ODB_TRY(target_spawn(target, err));
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Hello hello = ODB__WIRE__HELLO__INIT;
    Odb__Wire__Reply *reply;
    struct odb_frame frame;
    request.say_case = ODB__WIRE__REQUEST__SAY_HELLO;
    request.hello = &hello;
    enum odb_status status = target_ask(target, &request, NULL, "starting",
                                        ODB__WIRE__REPLY__SAY_READY, &reply, &frame, err);
    if (status != ODB_OK) {
        target_bury(target, false);
        return status;
    }
    free(target->description);
    target->description = odb_xstrdup(reply->ready->description);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    return ODB_OK;
}

/* --- public ---------------------------------------------------------------------------------- */

/* timeout= may stand in the spec of a wrapper or in what it wraps; the outermost counts. */
static enum odb_status target_timeout(const struct odb_spec *spec, double *out,
                                      struct odb_error *err)
{
    if (odb_spec_option(spec, "timeout")) {
        ODB_TRY(odb_spec_number(spec, "timeout", out, err));
        if (*out > 0)
            return ODB_OK;
        odb_fail(err, ODB_E_USAGE, "timeout=%g is no time", *out);
        return odb_error_at(err, "%s", spec->text);
    }
    if (!spec->inner)
        return ODB_OK;
    struct odb_spec *inner;
    ODB_TRY(odb_spec_parse(&inner, spec->inner, err));
    enum odb_status status = target_timeout(inner, out, err);
    odb_spec_free(inner);
    return status;
}

enum odb_status odb_target_open(struct odb_target **out, const char *spec, struct odb_error *err)
{
    struct odb_error unasked;
    err = err ? err : &unasked;
    struct odb_target *target = odb_new(struct odb_target);
    target->sock = target->words_fd = -1;
    target->timeout = TARGET_TIMEOUT;
    enum odb_status status = odb_spec_parse(&target->spec, spec, err);
    if (status == ODB_OK)
        status = target_timeout(target->spec, &target->timeout, err);
    if (status == ODB_OK) {
        status = target_start(target, err);
        if (status == ODB_E_CRASH) /* nothing was tried yet that could be called a crash */
            err->code = status = ODB_E_EXECUTOR;
        if (status != ODB_OK && !err->where[0])
            odb_error_at(err, "%s", spec);
    }
    if (status != ODB_OK) {
        odb_target_close(target);
        return status;
    }
    *out = target;
    return ODB_OK;
}

void odb_target_close(struct odb_target *target)
{
    if (!target)
        return;
    bool reaped = false;
    if (target->pid) {
        Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
        Odb__Wire__Shutdown shutdown = ODB__WIRE__SHUTDOWN__INIT;
        struct odb_channel channel = {.in = target->sock, .out = target->sock, .local = true};
        int how;
        request.say_case = ODB__WIRE__REQUEST__SAY_SHUTDOWN;
        request.shutdown = &shutdown;
        if (odb_channel_send(&channel, &request.base, NULL, NULL) == ODB_OK)
            reaped = target_reap(target, TARGET_GRACE, &how);
        target_bury(target, reaped);
    }
    odb_spec_free(target->spec);
    free(target->description);
    free(target);
}

static void target_load_message(Odb__Wire__Load *message, const struct odb_load *load,
                                const char *dir, struct odb_parcel *parcel, Odb__Wire__Blob *model)
{
    odb_parcel_add(parcel, model, load->bytes, load->size);
    message->model = model;
    message->dir = (char *)dir;
    message->node_index = (int32_t *)load->node_index;
    message->n_node_index = load->node_index ? load->n_nodes : 0;
    message->original_outputs = (char **)load->original_outputs;
    message->n_original_outputs = load->n_original_outputs;
}

static enum odb_status target_load(struct odb_target *target, const struct odb_load *load,
                                   struct odb_error *err)
{
    ODB_TRY(target_start(target, err));
    char *dir = realpath(load->dir && load->dir[0] ? load->dir : ".", NULL);
    if (!dir) {
        odb_fail(err, ODB_E_IO, "the model's directory cannot be read: %s", strerror(errno));
        return odb_error_at(err, "%s", load->dir ? load->dir : ".");
    }
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Load message = ODB__WIRE__LOAD__INIT;
    Odb__Wire__Blob model;
    Odb__Wire__Reply *reply;
    struct odb_parcel parcel = {0};
    struct odb_frame frame;
    target_load_message(&message, load, dir, &parcel, &model);
    request.say_case = ODB__WIRE__REQUEST__SAY_LOAD;
    request.load = &message;
    target->loaded = false;
    target_listen(target);
    target->n_words = 0; /* what it said of another model would mislead */
    target->stats.loads++;
    target->stats.model_bytes += load->size;
    enum odb_status status = target_ask(target, &request, &parcel, "loading",
                                        ODB__WIRE__REPLY__SAY_DONE, &reply, &frame, err);
    odb_parcel_dispose(&parcel);
    free(dir);
    if (status != ODB_OK)
        return status;
    target->loaded = true;
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    return ODB_OK;
}

enum odb_status odb_target_load(struct odb_target *target, const struct odb_load *load,
                                struct odb_error *err)
{
    struct odb_error unasked;
    err = err ? err : &unasked;
    double begin = target_now();
    enum odb_status status = target_load(target, load, err);
    target->stats.load_seconds += target_now() - begin;
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", target->spec->kind);
}

/* Whether the child has this very tensor from the run before. Tensors do not change, and one that
 * we hold a ref on cannot have made room for another. */
static bool target_has(const struct odb_target *target, const struct odb_named *input)
{
    for (size_t i = 0; i < target->n_sent; i++) {
        const struct odb_tensor *had = target->sent[i].tensor;
        if (!strcmp(target->sent[i].name, input->name))
            return had == input->tensor ||
                   (had->kind == ODB_TENSOR && input->tensor->kind == ODB_TENSOR && had->data &&
                    had->data == input->tensor->data && had->dtype == input->tensor->dtype &&
                    had->storage == input->tensor->storage &&
                    odb_tensor_same_shape(had, input->tensor));
    }
    return false;
}

static void target_remember_sent(struct odb_target *target, const struct odb_named *inputs,
                                 size_t n)
{
    struct target_sent *sent = odb_new_n(struct target_sent, n + 1);
    for (size_t i = 0; i < n; i++) {
        sent[i].name = odb_xstrdup(inputs[i].name);
        sent[i].tensor = odb_tensor_ref(inputs[i].tensor);
    }
    target_forget_sent(target);
    target->sent = sent;
    target->n_sent = n;
}

static enum odb_status target_values(struct odb_target *target, const Odb__Wire__Values *values,
                                     const struct odb_frame *frame, const char *const *names,
                                     size_t n_outputs, struct odb_tensor **outputs,
                                     struct odb_error *err)
{
    size_t at = 0, i = 0;
    enum odb_status status = ODB_OK;
    for (; i < n_outputs && status == ODB_OK; i++) {
        status = odb_wire_get(&outputs[i], frame, values->outputs, values->n_outputs, &at, err);
        if (status == ODB_OK && !outputs[i] && !odb_target_recorded(target))
            status = odb_fail(err, ODB_E_FORMAT, "the value of '%s' is missing", names[i]);
    }
    if (status == ODB_OK && at == values->n_outputs)
        return ODB_OK;
    if (status == ODB_OK)
        status = odb_fail(err, ODB_E_FORMAT, "it has more values than were asked for");
    for (i = 0; i < n_outputs; i++) {
        odb_tensor_unref(outputs[i]);
        outputs[i] = NULL;
    }
    return status == ODB_E_NOMEM ? status : target_broken(target, ODB_E_FORMAT, err);
}

static enum odb_status target_run(struct odb_target *target, const struct odb_named *inputs,
                                  size_t n_inputs, const char *const *names, size_t n_outputs,
                                  struct odb_tensor **outputs, struct odb_error *err)
{
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Execute message = ODB__WIRE__EXECUTE__INIT;
    Odb__Wire__Reply *reply;
    struct odb_wire_list list = {0};
    struct odb_parcel parcel = {0};
    struct odb_frame frame;
    enum odb_status status;
    if (!target->pid || !target->loaded)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    for (size_t i = 0; i < n_inputs; i++)
        ODB_TRY_OUT(odb_wire_put(&list, &parcel, inputs[i].name, inputs[i].tensor,
                                 target_has(target, &inputs[i]), err));
    message.inputs = list.items;
    message.n_inputs = list.n;
    message.outputs = (char **)names;
    message.n_outputs = n_outputs;
    request.say_case = ODB__WIRE__REQUEST__SAY_EXECUTE;
    request.execute = &message;
    target->stats.runs++;
    target_remember_sent(target, inputs, n_inputs);
    ODB_TRY_OUT(target_ask(target, &request, &parcel, "running", ODB__WIRE__REPLY__SAY_VALUES,
                           &reply, &frame, err));
    status = target_values(target, reply->values, &frame, names, n_outputs, outputs, err);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
out:
    odb_wire_list_dispose(&list);
    odb_parcel_dispose(&parcel);
    return status;
}

enum odb_status odb_target_run(struct odb_target *target, const struct odb_named *inputs,
                               size_t n_inputs, const char *const *names, size_t n_outputs,
                               struct odb_tensor **outputs, struct odb_error *err)
{
    struct odb_error unasked;
    err = err ? err : &unasked;
    double begin = target_now();
    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    enum odb_status status = target_run(target, inputs, n_inputs, names, n_outputs, outputs, err);
    target->stats.run_seconds += target_now() - begin;
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", target->spec->kind);
}

static enum odb_status target_read_account(const Odb__Wire__Account *message,
                                           const struct odb_frame *frame,
                                           struct odb_account *account, struct odb_error *err)
{
    const void *text = NULL;
    size_t size = 0;
    if (message->text)
        ODB_TRY(odb_frame_blob(frame, message->text, &text, &size, err));
    odb_buf_add(&account->text, text, size);
    for (size_t i = 0; i < message->n_places; i++) {
        const Odb__Wire__Placement *place = message->places[i];
        odb_account_place(account, place->node, place->op_type, place->where);
    }
    for (size_t i = 0; i < message->n_notes; i++)
        odb_account_note(account, "%s", message->notes[i]);
    return ODB_OK;
}

enum odb_status odb_target_account(struct odb_target *target, struct odb_account *account,
                                   struct odb_error *err)
{
    struct odb_error unasked;
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Tell tell = ODB__WIRE__TELL__INIT;
    Odb__Wire__Reply *reply;
    struct odb_frame frame;
    err = err ? err : &unasked;
    if (!target->pid || !target->loaded)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    request.say_case = ODB__WIRE__REQUEST__SAY_TELL;
    request.tell = &tell;
    ODB_TRY(target_ask(target, &request, NULL, "asking about the model",
                       ODB__WIRE__REPLY__SAY_ACCOUNT, &reply, &frame, err));
    enum odb_status status = target_read_account(reply->account, &frame, account, err);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    return status == ODB_OK ? ODB_OK : target_broken(target, status, err);
}

bool odb_target_recorded(const struct odb_target *target)
{
    const struct odb_executor_ops *ops = odb_executor_find(target->spec->kind);
    return ops && ops->recorded;
}

const char *odb_target_spec(const struct odb_target *target)
{
    return target->spec->text;
}

const char *odb_target_description(const struct odb_target *target)
{
    return target->description ? target->description : "";
}

struct odb_target_stats odb_target_stats(const struct odb_target *target)
{
    return target->stats;
}

int odb_target_pid(const struct odb_target *target)
{
    return (int)target->pid;
}

void odb_target_set_cancel(struct odb_target *target, bool (*cancelled)(void *), void *payload)
{
    target->cancelled = cancelled;
    target->payload = payload;
}
