/* SPDX-License-Identifier: MIT
 *
 * Four things can go wrong with a child: it says no, it dies, it says nothing, or it talks
 * nonsense. The first is an answer and leaves the child as it was. After any of the others it is
 * killed with its whole process group, reaped, and its scratch directory removed; the next load
 * starts another.
 *
 * The last 4 KiB of what it printed go with every verdict: what a library says before it dies is
 * often the best description of why.
 */
#include "executor/transport/target_int.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "system/file.h"
#include "system/mapping.h"
#include "base/mem.h"
#include "system/scratch.h"
#include "base/utf8.h"
#include "executor/groups.h"

/* Long, because the first run of a large model on a slow target takes minutes and a hang wrongly
 * reported costs more than waiting: the user sees the time and can cancel. */
#define TARGET_TIMEOUT 600.0
/* To start, it has this long at least: a framework takes seconds to load, which says nothing of how
 * long a model may run. */
#define TARGET_START 60.0
#define TARGET_SHOWN 400         /* of the last words in a message */
#define TARGET_TICK_MS 100       /* how often cancel and deadline are looked at */
#define TARGET_GRACE 2.0         /* seconds to end by itself when asked to */
#define TARGET_LINK_GRACE 10.0   /* seconds that a link may be silent beyond the executor's time */
#define TARGET_BEAT 10.0         /* seconds between signs of life over a link */
#define TARGET_BEAT_MOST 86400.0 /* that may be asked for */
#define TARGET_BEATS_MISSED 3    /* in a row: the link is lost, as with ssh's own */
#define TARGET_BEATS_START 6     /* that long the start of a link may be silent */
#define TARGET_ASLEEP 1.0        /* seconds between two looks: it was we who did not listen */

#define TARGET_KILLED                                                                              \
    "the kernel may have done that for want of memory: mem=SIZE in the spec sets a limit before "  \
    "it"

struct target_sent {
    char *name;                /* owned */
    struct odb_tensor *tensor; /* ref */
};

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

/* For messages: what the executor is, or where. */
static const char *target_name(const struct odb_target *target)
{
    return target->link.transport ? target->link.where : target->spec->kind;
}

static void target_forget_model(struct odb_target *target)
{
    target->loaded = false;
    free(target->path);
    target->path = NULL;
}

static void target_forget_held(struct odb_target *target)
{
    free(target->held);
    target->held = NULL;
}

/* --- the end of a child ---------------------------------------------------------------------- */

static void target_bury(struct odb_target *target)
{
    odb_child_bury(&target->child);
    target_forget_model(target);
    target_forget_held(target);
    target_forget_sent(target);
    odb_remote_forget(target->remote);
}

/* What is said where memory runs out: by us, by C++, by Python, by the C library. */
static const char *const target_oom_words[] = {
    "out of memory",          "bad_alloc",
    "bad allocation",         "MemoryError",
    "Cannot allocate memory", "Failed to allocate memory"};

bool odb_target_speaks_of_memory(const char *text)
{
    for (size_t i = 0; i < ODB_COUNT(target_oom_words); i++)
        if (strcasestr(text, target_oom_words[i]))
            return true;
    return false;
}

static void target_explain_memory(const struct odb_target *target, struct odb_error *err)
{
    odb_error_remedy(err, "mem=%s in its spec limits its memory", target->mem_text);
}

/* Adds the last words, in short, to what went wrong. */
static void target_add_words(struct odb_target *target, struct odb_error *err)
{
    struct odb_buf line = ODB_BUF_INIT;
    size_t n = strlen(err->what);
    odb_child_last_line(&target->child, TARGET_SHOWN, &line);
    if (line.len)
        odb_text_fit(err->what + n, sizeof err->what - n, "; output: %s", line.data);
    odb_buf_dispose(&line);
}

/* Seconds that nothing may be heard of the other end of a link, which gives signs of life, or of
 * which a frame has come by half. Before its first word a container may be fetched, or a job wait.
 */
static double target_most_silent(const struct odb_target *target)
{
    return target->beats || target->moves ? TARGET_BEATS_MISSED * target->beat
           : target->start                ? target->start
                                          : TARGET_BEATS_START * target->beat;
}

/* The program of a link has ended, or what it is to reach. That is no crash: the message says which
 * it was. A link that was there once is no refusal of the target's either. */
static enum odb_status target_cut_off(struct odb_target *target, struct odb_error *err)
{
    struct odb_buf words = ODB_BUF_INIT;
    double unheard = odb_clock() - target->heard;
    int how;
    bool silent = target->silent && !odb_child_ended(&target->child, &how) &&
                  unheard > target_most_silent(target);
    if (silent || !odb_child_wait(&target->child, TARGET_GRACE, &how))
        how = -1;
    target_bury(target);
    odb_child_words(&target->child, &words);
    if (silent)
        odb_fail(err, ODB_E_IO, "%s %s gave no sign of life for %.3g s while %s",
                 target->link.transport->lost, target->link.where, unheard, target->doing);
    if (silent && !target->answered)
        odb_error_remedy(err, "start=SECONDS in its spec waits longer, as for a job in a queue");
    target->lost = silent || odb_link_explain(&target->link, how, odb_buf_text(&words),
                                              target->answered ? target->doing : NULL, err);
    odb_buf_dispose(&words);
    target_add_words(target, err);
    return err->code = target->description ? ODB_E_IO : err->code;
}

/* Whether it was the child itself that could not go on, and said so: mem.h. */
static bool target_had_no_memory(int how, const char *words)
{
    return WIFEXITED(how) && WEXITSTATUS(how) == ODB_MEM_STATUS &&
           strstr(words, "onnxdbg-serve: " ODB_MEM_WORDS);
}

static enum odb_status target_crashed(struct odb_target *target, struct odb_error *err)
{
    struct odb_buf words = ODB_BUF_INIT;
    char fate[64] = "closed the connection", name[32];
    int how = 0;
    if (odb_child_wait(&target->child, TARGET_GRACE, &how)) {
        if (WIFSIGNALED(how))
            snprintf(fate, sizeof fate, "was killed by %s",
                     odb_signal_name(WTERMSIG(how), name, sizeof name));
        else
            snprintf(fate, sizeof fate, "exited with status %d", WEXITSTATUS(how));
    }
    target_bury(target);
    odb_child_words(&target->child, &words);
    bool oom = (target->mem && odb_target_speaks_of_memory(odb_buf_text(&words))) ||
               target_had_no_memory(how, odb_buf_text(&words));
    target->killed = WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
    odb_fail(err, oom || target->killed ? ODB_E_NOMEM : ODB_E_CRASH, "the executor %s%s while %s",
             oom ? "ran out of memory and " : "", fate, target->doing);
    if (target->mem && (oom || WIFSIGNALED(how)))
        target_explain_memory(target, err);
    else if (target->killed)
        odb_error_remedy(err, TARGET_KILLED);
    target_add_words(target, err);
    odb_buf_dispose(&words);
    return err->code;
}

/* What a failed exchange means; the child does not survive it. */
static enum odb_status target_broken(struct odb_target *target, enum odb_status status,
                                     struct odb_error *err)
{
    if (status == ODB_E_IO)
        return target->link.transport ? target_cut_off(target, err) : target_crashed(target, err);
    if (status == ODB_E_FORMAT) {
        err->code = ODB_E_EXECUTOR;
        odb_error_at(err, "a broken message while %s", target->doing);
        if (target->link.transport && !target->answered && !err->remedy[0])
            target->link.transport->noisy(&target->link, err);
    }
    target_bury(target);
    if (status != ODB_CANCELLED)
        target_add_words(target, err);
    return err->code;
}

/* --- talking --------------------------------------------------------------------------------- */

/* Whether the other end of a link should have been heard of since. */
static bool target_is_silent(struct odb_target *target, double now)
{
    if (now > target->tick + TARGET_ASLEEP)
        target->heard = now;
    return target->beat > 0 && (target->beats || target->moves || !target->answered) &&
           now > target->heard + target_most_silent(target);
}

/* What is looked at ten times a second, however busy the line is: the user, the time, and, where
 * nothing comes, a child that has ended though a process that it left behind holds its socket. */
static enum odb_status target_tick(struct odb_target *target, bool ready, struct odb_error *err)
{
    double now = odb_clock();
    int how, stopped;
    char name[32];
    if (now < target->tick)
        return ODB_OK;
    bool silent = !ready && target_is_silent(target, now);
    target->tick = now + TARGET_TICK_MS * 1e-3;
    if (!ready && odb_child_ended(&target->child, &how))
        return odb_fail(err, ODB_E_IO, "the executor has ended");
    if (target->cancelled && target->cancelled(target->payload))
        return odb_fail(err, ODB_CANCELLED, "cancelled while %s", target->doing);
    if (silent) {
        target->silent = true;
        return odb_fail(err, ODB_E_IO, "silent");
    }
    if (now <= target->deadline)
        return ODB_OK;
    stopped = odb_child_stopped(&target->child);
    if (stopped)
        odb_fail(err, ODB_E_TIMEOUT, "no answer within %g s while %s: it was stopped by %s",
                 target->limit, target->doing, odb_signal_name(stopped, name, sizeof name));
    else
        odb_fail(err, ODB_E_TIMEOUT, "no answer within %g s while %s", target->limit,
                 target->doing);
    return odb_error_remedy(err, "%s=SECONDS in its spec gives it longer",
                            target->loading ? "compile-timeout" : "timeout");
}

/* From now on what is under way has its time. Behind a link that is kept at the other end; here it
 * is for the answer to stay away. */
static void target_expect(struct odb_target *target)
{
    target->deadline =
        odb_clock() + target->limit + (target->link.transport ? TARGET_LINK_GRACE : 0);
}

static enum odb_status target_wait(void *payload, int fd, short events, struct odb_error *err)
{
    struct odb_target *target = payload;
    struct odb_child *child = &target->child;
    if (target->moves)
        target_expect(target);
    for (bool ready = false; !ready;) {
        struct pollfd fds[2] = {{.fd = fd, .events = events},
                                {.fd = child->words_fd, .events = POLLIN}};
        int n = poll(fds, 2, TARGET_TICK_MS);
        if (n < 0 && errno != EINTR)
            return odb_fail(err, ODB_E_INTERNAL, "poll: %s", strerror(errno));
        if (n > 0 && fds[1].revents)
            odb_child_listen(child);
        if (n > 0 && fds[1].revents && !target->answered)
            target->heard = odb_clock(); /* of what fetches a container, or waits in a queue */
        ready = n > 0 && fds[0].revents;
        ODB_TRY(target_tick(target, ready, err));
    }
    target->heard = odb_clock();
    target->moves = target->link.transport != NULL;
    return ODB_OK;
}

/* Codes that an executor may give its refusals; anything else is E_EXECUTOR, so that what a target
 * says of a model is not taken for the truth about the model. */
static const enum odb_status target_codes[] = {ODB_E_USAGE, ODB_E_INPUT,   ODB_E_NOMEM,
                                               ODB_E_CRASH, ODB_E_TIMEOUT, ODB_UNSUPPORTED};

static enum odb_status target_said_no(struct odb_target *target, const Odb__Wire__Error *no,
                                      struct odb_error *err)
{
    enum odb_status code = ODB_E_EXECUTOR;
    for (size_t i = 0; i < ODB_COUNT(target_codes); i++)
        if (no->code == (int)target_codes[i])
            code = target_codes[i];
    if (target->link.transport && no->code == ODB_E_IO) /* of the other end's own */
        code = ODB_E_IO;
    if (target->mem && code == ODB_E_EXECUTOR && odb_target_speaks_of_memory(no->what))
        code = ODB_E_NOMEM;
    if (target->link.transport && (code == ODB_E_CRASH || code == ODB_E_TIMEOUT)) {
        target_forget_model(target); /* the child is dead, there */
        odb_child_say(&target->child, no->words.data, no->words.len);
    }
    odb_fail(err, code, "%s", no->what);
    if (no->where[0])
        odb_error_at(err, "%s", no->where);
    if (no->remedy[0])
        odb_error_remedy(err, "%s", no->remedy);
    else if (target->mem && code == ODB_E_NOMEM)
        target_explain_memory(target, err);
    return code;
}

static struct odb_channel target_channel(struct odb_target *target)
{
    return (struct odb_channel){.in = target->child.sock,
                                .out = target->child.sock,
                                .local = !target->link.transport,
                                .wait = target_wait,
                                .payload = target,
                                .aside = target->aside};
}

/* The next frame and the reply in it, NULL where it is none, but for signs of life: they are no
 * progress. */
static enum odb_status target_receive(struct odb_target *target, const struct odb_channel *channel,
                                      Odb__Wire__Reply **reply, struct odb_frame *frame,
                                      struct odb_error *err)
{
    if (target->link.transport)
        target_expect(target);
    for (double deadline = target->deadline;; target->deadline = deadline) {
        target->moves = false;
        ODB_TRY(odb_channel_receive(channel, frame, err));
        *reply = (Odb__Wire__Reply *)odb_frame_unpack(frame, &odb__wire__reply__descriptor);
        if (!target->beat || !*reply || (*reply)->say_case != ODB__WIRE__REPLY__SAY_BEAT)
            return ODB_OK;
        target->beats = true;
        odb__wire__reply__free_unpacked(*reply, NULL);
        odb_frame_dispose(frame);
    }
}

enum odb_status odb_target__ask(struct odb_target *target, Odb__Wire__Request *request,
                                const struct odb_parcel *parcel, const char *doing,
                                Odb__Wire__Reply__SayCase want, Odb__Wire__Reply **reply,
                                struct odb_frame *frame, struct odb_error *err)
{
    struct odb_channel channel = target_channel(target);
    target->doing = doing;
    target->loading = request->say_case == ODB__WIRE__REQUEST__SAY_LOAD;
    double start = target->start + TARGET_START;
    target->limit = want == ODB__WIRE__REPLY__SAY_READY ? ODB_MAX(target->timeout, start)
                    : target->loading                   ? target->compile_timeout
                                                        : target->timeout;
    target_expect(target);
    target->moves = false;
    target->heard = odb_clock();
    request->id = ++target->asked;
    *frame = (struct odb_frame){0};
    enum odb_status status = odb_channel_send(&channel, &request->base, parcel, err);
    if (status == ODB_OK)
        status = target_receive(target, &channel, reply, frame, err);
    if (status != ODB_OK)
        return target_broken(target, status, err);
    bool answers = *reply && (*reply)->id == request->id;
    if (answers && (*reply)->say_case == want)
        return ODB_OK;
    if (answers && (*reply)->say_case == ODB__WIRE__REPLY__SAY_ERROR)
        status = target_said_no(target, (*reply)->error, err);
    else
        status = target_broken(
            target,
            odb_fail(err, ODB_E_FORMAT,
                     *reply && !answers ? "it answers another request" : "it is no answer"),
            err);
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
char *odb_target_program(void)
{
    const char *env = getenv("ONNXDBG_SERVE");
    if (env && env[0])
        return odb_xstrdup(env);
    char *self = odb_file_self(), *path = self ? target_beside(self, "") : NULL;
    if (self && !path)
        path = target_beside(self, "/../libexec");
    free(self);
    return path ? path : odb_xstrdup("onnxdbg-serve");
}

static enum odb_status target_spawn_link(struct odb_target *target, struct odb_error *err)
{
    struct odb_argv argv = {0};
    target->link.transport->argv(&target->link, &argv);
    odb_push(&argv.list, NULL);
    enum odb_status status = odb_child_start(&target->child, argv.list.items, true, err);
    if (status == ODB_E_EXECUTOR)
        odb_error_remedy(err, "%s", target->link.transport->missing);
    odb_argv_dispose(&argv);
    target->answered = target->beats = false;
    target->stats.starts += status == ODB_OK;
    return status;
}

static enum odb_status target_spawn(struct odb_target *target, struct odb_error *err)
{
    struct odb_child *child = &target->child;
    ODB_TRY(odb_scratch_new(&child->scratch, err));
    char *program = odb_target_program();
    char *fd_arg = odb_xasprintf("--fd=%d", ODB_CHILD_FD);
    char *scratch_arg = odb_xasprintf("--scratch=%s", child->scratch);
    char *mem_arg = odb_xasprintf("--mem=%zu", target->mem);
    char *argv[] = {program, fd_arg, scratch_arg, mem_arg, "--", target->spec->text, NULL};
    enum odb_status status = odb_child_start(child, argv, false, err);
    if (status == ODB_E_EXECUTOR)
        odb_error_remedy(err, "install it beside onnxdbg, or name it in ONNXDBG_SERVE");
    free(program);
    free(fd_arg);
    free(scratch_arg);
    free(mem_arg);
    target->stats.starts += status == ODB_OK;
    return status;
}

static void target_describe(struct odb_target *target, const Odb__Wire__Ready *ready)
{
    bool same = !strcmp(ready->version, ODB_VERSION);
    free(target->description);
    if (target->link.transport)
        target->description = odb_xasprintf(
            "%s, %s %s%s%s", ready->description, target->link.transport->by, target->link.where,
            same ? "" : " by onnxdbg-serve ", same ? "" : ready->version);
    else
        target->description = odb_xstrdup(ready->description);
}

/* What its program says of itself counts where the spec says nothing. */
static enum odb_status target_take_capabilities(struct odb_target *target,
                                                const Odb__Wire__Ready *ready,
                                                struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    if (odb_capabilities_read(&target->can, ready->capabilities, &why) == ODB_OK)
        return ODB_OK;
    return odb_fail(err, ODB_E_EXECUTOR, "what it says of what it can do is not understood: %.300s",
                    why.what);
}

/* A child that has accepted its spec. */
static enum odb_status target_start(struct odb_target *target, struct odb_error *err)
{
    if (target->child.pid)
        return ODB_OK;
    ODB_TRY(target->link.transport ? target_spawn_link(target, err) : target_spawn(target, err));
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Hello hello = ODB__WIRE__HELLO__INIT;
    Odb__Wire__Reply *reply;
    struct odb_frame frame;
    request.say_case = ODB__WIRE__REQUEST__SAY_HELLO;
    request.hello = &hello;
    hello.spec = target->link.transport ? target->spec->inner : "";
    hello.beat = (uint32_t)(target->beat * 1e3);
    enum odb_status status = odb_target__ask(target, &request, NULL, "starting",
                                             ODB__WIRE__REPLY__SAY_READY, &reply, &frame, err);
    if (status != ODB_OK) {
        target_bury(target);
        return status;
    }
    target->answered = true;
    target->beats = target->beat > 0 && reply->ready->beats;
    target->beside = reply->ready->beside && !target->link.transport && !target->mem;
    target->silent = false;
    target_describe(target, reply->ready);
    status = target_take_capabilities(target, reply->ready, err);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    if (status != ODB_OK)
        target_bury(target);
    return status;
}

/* --- public ---------------------------------------------------------------------------------- */

/* A limit in seconds, unless one was said farther outside. */
static enum odb_status target_time(const struct odb_spec *spec, const char *key, double *seconds,
                                   struct odb_error *err)
{
    if (*seconds || !odb_spec_option(spec, key))
        return ODB_OK;
    ODB_TRY(odb_spec_number(spec, key, seconds, err));
    if (*seconds > 0)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s=%g is no time", key, *seconds);
    return odb_error_at(err, "%s", spec->text);
}

double odb_target_limit(const char *text)
{
    struct odb_spec *spec;
    double seconds = 0;
    if (odb_spec_parse(&spec, text, NULL) != ODB_OK)
        return 0;
    if (target_time(spec, "timeout", &seconds, NULL) == ODB_OK && !seconds)
        seconds = spec->inner ? odb_target_limit(spec->inner) : TARGET_TIMEOUT;
    odb_spec_free(spec);
    return seconds > 0 ? seconds : 0;
}

/* What every target has: it may stand in the spec of a wrapper or in what that wraps; the outermost
 * counts. */
static enum odb_status target_limits(struct odb_target *target, const struct odb_spec *spec,
                                     struct odb_error *err)
{
    ODB_TRY(target_time(spec, "timeout", &target->timeout, err));
    ODB_TRY(target_time(spec, "compile-timeout", &target->compile_timeout, err));
    ODB_TRY(target_time(spec, "start", &target->start, err));
    if (!target->mem && odb_spec_option(spec, "mem")) {
        ODB_TRY(odb_spec_size(spec, "mem", &target->mem, err));
        snprintf(target->mem_text, sizeof target->mem_text, "%s", odb_spec_option(spec, "mem"));
    }
    ODB_TRY(odb_capabilities_add(&target->can, spec, err));
    if (!target->can.types && spec->row && spec->row->by_value)
        target->can.types = odb_xstrdup("value");
    if (!spec->inner)
        return ODB_OK;
    struct odb_spec *inner;
    ODB_TRY(odb_spec_parse(&inner, spec->inner, err));
    enum odb_status status = target_limits(target, inner, err);
    odb_spec_free(inner);
    return status;
}

/* Seconds between signs of life; 0: the user wants none. */
static double target_beat(void)
{
    const char *text = getenv("ONNXDBG_BEAT");
    char *end;
    double seconds = text && text[0] ? strtod(text, &end) : TARGET_BEAT;
    if (text && text[0] && (*end || !(seconds >= 0 && seconds <= TARGET_BEAT_MOST)))
        return TARGET_BEAT;
    return seconds;
}

enum odb_status odb_target_open_until(struct odb_target **out, const char *spec,
                                      bool (*cancelled)(void *), void *payload,
                                      struct odb_error *err)
{
    struct odb_error unasked;
    err = err ? err : &unasked;
    struct odb_target *target = odb_new(struct odb_target);
    target->child = (struct odb_child)ODB_CHILD_INIT;
    odb_target_set_cancel(target, cancelled, payload);
    enum odb_status status = odb_spec_parse(&target->spec, spec, err);
    if (status == ODB_OK)
        status = target_limits(target, target->spec, err);
    if (status == ODB_OK && target->spec->row && target->spec->row->transport) {
        status = odb_link_parse(&target->link, target->spec, err);
        target->remote = odb_remote_new();
        target->beat = target_beat();
    }
    if (!target->timeout)
        target->timeout = TARGET_TIMEOUT;
    if (!target->compile_timeout)
        target->compile_timeout = target->timeout;
    if (status == ODB_OK) {
        status = target_start(target, err);
        if (target->killed) /* from outside, which says nothing of the target: once more */
            status = target_start(target, err);
        if (status == ODB_E_CRASH) /* nothing was tried yet that could be called a crash */
            err->code = status = ODB_E_EXECUTOR;
        if (status != ODB_OK && (!err->where[0] || target->link.transport))
            odb_error_at(err, "%s", err->where[0] ? target->link.where : spec);
    }
    if (status != ODB_OK) {
        odb_target_close(target);
        return status;
    }
    *out = target;
    return ODB_OK;
}

enum odb_status odb_target_open(struct odb_target **out, const char *spec, struct odb_error *err)
{
    return odb_target_open_until(out, spec, NULL, NULL, err);
}

void odb_target_dismiss(struct odb_target *target)
{
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Shutdown shutdown = ODB__WIRE__SHUTDOWN__INIT;
    if (!target->child.pid || target->dismissed)
        return;
    struct odb_channel channel = target_channel(target);
    request.say_case = ODB__WIRE__REQUEST__SAY_SHUTDOWN;
    request.shutdown = &shutdown;
    target->doing = "ending";
    target->deadline = odb_clock() + TARGET_GRACE;
    target->cancelled = NULL;
    target->dismissed = odb_channel_send(&channel, &request.base, NULL, NULL) == ODB_OK;
}

void odb_target_close(struct odb_target *target)
{
    int how;
    if (!target)
        return;
    odb_target_dismiss(target);
    if (target->dismissed)
        odb_child_wait(&target->child, TARGET_GRACE, &how);
    if (target->child.pid)
        target_bury(target);
    odb_spec_free(target->spec);
    odb_link_dispose(&target->link);
    odb_remote_free(target->remote);
    odb_capabilities_dispose(&target->can);
    free(target->description);
    free(target->times.list.items);
    free(target);
}

/* dir: NULL for another machine, which has neither that nor the file. */
static void target_load_message(Odb__Wire__Load *message, const struct odb_load *load,
                                const char *dir, struct odb_parcel *parcel, Odb__Wire__Blob *model)
{
    odb_parcel_add(parcel, model, load->bytes, load->size);
    message->model = model;
    message->dir = (char *)(dir ? dir : "");
    message->path = (char *)(dir && load->path ? load->path : "");
    message->node_index = (int32_t *)load->node_index;
    message->n_node_index = load->node_index ? load->n_nodes : 0;
    message->original_outputs = (char **)load->original_outputs;
    message->n_original_outputs = load->n_original_outputs;
    message->account = load->account;
}

/* dir: absolute; NULL: the model's files are listed in message. */
static enum odb_status target_load_from(struct odb_target *target, const struct odb_load *load,
                                        const char *dir, Odb__Wire__Load *message,
                                        struct odb_error *err)
{
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Blob model;
    Odb__Wire__Reply *reply;
    struct odb_parcel parcel = {0};
    struct odb_frame frame;
    target_load_message(message, load, dir, &parcel, &model);
    request.say_case = ODB__WIRE__REQUEST__SAY_LOAD;
    request.load = message;
    target->stats.loads++;
    target->stats.model_bytes += load->size;
    enum odb_status status = odb_target__ask(target, &request, &parcel, "loading",
                                             ODB__WIRE__REPLY__SAY_DONE, &reply, &frame, err);
    odb_parcel_dispose(&parcel);
    if (status != ODB_OK)
        return status;
    target->loaded = true;
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    return ODB_OK;
}

/* On this machine. beside: as of the load, and possible. */
static enum odb_status target_load_here(struct odb_target *target, const struct odb_load *load,
                                        bool beside, struct odb_error *err)
{
    Odb__Wire__Load message = ODB__WIRE__LOAD__INIT;
    char *dir = realpath(load->dir && load->dir[0] ? load->dir : ".", NULL);
    if (!dir) {
        odb_fail(err, ODB_E_IO, "the model's directory cannot be read: %s", strerror(errno));
        return odb_error_at(err, "%s", load->dir ? load->dir : ".");
    }
    if (!beside)
        target_forget_held(target);
    else if (!target->held)
        target->held = odb_xstrdup(target->path);
    target_forget_model(target);
    message.beside = beside;
    enum odb_status status = target_load_from(target, load, dir, &message, err);
    free(dir);
    if (status == ODB_OK && load->path)
        target->path = odb_xstrdup(load->path);
    return status;
}

static enum odb_status target_load(struct odb_target *target, const struct odb_load *load,
                                   struct odb_error *err)
{
    Odb__Wire__Load message = ODB__WIRE__LOAD__INIT;
    ODB_TRY(target_start(target, err));
    odb_child_hush(&target->child); /* what it said of another model would mislead */
    if (target->link.transport) {
        target_forget_model(target);
        odb_remote_keep(target->remote, load);
        ODB_TRY(odb_remote_send(target, load, &message, err));
        enum odb_status status = target_load_from(target, load, NULL, &message, err);
        odb_remote_unlist(&message);
        return status;
    }
    bool beside = load->beside && target->beside && (target->held || target->path);
    enum odb_status status = target_load_here(target, load, beside, err);
    if (status == ODB_OK || !beside || !target->child.pid)
        return status;
    return target_load_here(target, load, false, err); /* as if it had been so from the start */
}

/* Another link, and what was loaded once more: at most once for each call from outside, so that a
 * link that dies of what it is asked says so. */
static enum odb_status target_link_again(struct odb_target *target, struct odb_error *err)
{
    char first[sizeof err->what];
    memcpy(first, err->what, sizeof first);
    target->stats.relinks++;
    enum odb_status status = target_load(target, odb_remote_last(target->remote), err);
    if (status == ODB_OK || status == ODB_CANCELLED || (target->child.pid && !target->lost))
        return status;
    odb_error_at(err, "%s; and once more", first);
    return err->code = ODB_E_IO;
}

/* How a load or a run has ended. The child reads the files that we read: where one of them has
 * become shorter, its failure says nothing of it. */
static enum odb_status target_end(struct odb_target *target, enum odb_status status,
                                  struct odb_error *err)
{
    target->away[0] = '\0';
    if (status == ODB_OK)
        return ODB_OK;
    if (status == ODB_E_IO && target->link.transport && !target->child.pid)
        odb_error_text(err, target->away, sizeof target->away);
    if (status != ODB_CANCELLED && odb_mapping_lost(err))
        return err->code;
    return odb_error_at(err, "%s", target_name(target));
}

enum odb_status odb_target_load(struct odb_target *target, const struct odb_load *load,
                                struct odb_error *err)
{
    struct odb_error unasked;
    err = err ? err : &unasked;
    double begin = odb_clock();
    target->lost = false;
    enum odb_status status = target_load(target, load, err);
    if (status != ODB_OK && target->lost)
        status = target_link_again(target, err);
    target->stats.load_seconds += odb_clock() - begin;
    return target_end(target, status, err);
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

/* What stands in the table for it; NULL: only the other machine knows. */
static const struct odb_executor_ops *target_ops(const struct odb_target *target)
{
    return odb_executor_of(target->spec->text);
}

/* Whether an answer may be without some of the values asked for. */
static bool target_may_lack(const struct odb_target *target)
{
    const struct odb_executor_ops *ops = target_ops(target);
    return !ops || ops->recorded || ops->partial;
}

static enum odb_status target_values(struct odb_target *target, const Odb__Wire__Values *values,
                                     struct odb_frame *frame, const char *const *names,
                                     size_t n_outputs, struct odb_tensor **outputs,
                                     struct odb_error *err)
{
    size_t at = 0, i = 0;
    enum odb_status status = ODB_OK;
    for (; i < n_outputs && status == ODB_OK; i++) {
        status = odb_wire_get(&outputs[i], frame, values->outputs, values->n_outputs, &at, err);
        if (status == ODB_OK && !outputs[i] && !target_may_lack(target))
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

bool odb_target_beside(const struct odb_target *target)
{
    return target->beside;
}

bool odb_target_turn_to(struct odb_target *target, const char *path)
{
    bool last = !path || (target->path && !strcmp(target->path, path));
    target->first = !last && target->held && !strcmp(target->held, path);
    return last || target->first;
}

void odb_target_set_aside(struct odb_target *target, struct odb_spill *aside)
{
    target->aside = aside;
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
    if (!target->child.pid || !(target->first ? target->held != NULL : target->loaded))
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    for (size_t i = 0; i < n_inputs; i++)
        ODB_TRY_OUT(odb_wire_put(&list, &parcel, inputs[i].name, inputs[i].tensor,
                                 target_has(target, &inputs[i]), err));
    message.inputs = list.items;
    message.n_inputs = list.n;
    message.outputs = (char **)names;
    message.n_outputs = n_outputs;
    message.first = target->first;
    request.say_case = ODB__WIRE__REQUEST__SAY_EXECUTE;
    request.execute = &message;
    target->stats.runs++;
    target->times.list.n = 0;
    target_remember_sent(target, inputs, n_inputs);
    ODB_TRY_OUT(odb_target__ask(target, &request, &parcel, "running", ODB__WIRE__REPLY__SAY_VALUES,
                                &reply, &frame, err));
    status = target_values(target, reply->values, &frame, names, n_outputs, outputs, err);
    for (size_t i = 0; i < reply->values->n_times && status == ODB_OK; i++)
        odb_push(&target->times.list, ((struct odb_took){reply->values->times[i]->node,
                                                         reply->values->times[i]->seconds}));
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
    double begin = odb_clock();
    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    target->lost = false;
    enum odb_status status = target_run(target, inputs, n_inputs, names, n_outputs, outputs, err);
    if (status != ODB_OK && target->lost) {
        status = target_link_again(target, err);
        if (status == ODB_OK)
            status = target_run(target, inputs, n_inputs, names, n_outputs, outputs, err);
    }
    target->stats.run_seconds += odb_clock() - begin;
    return target_end(target, status, err);
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
    ODB_TRY(odb_frame_blob(frame, message->groups, &text, &size, err));
    if (size)
        odb_account_groups(account, text, size);
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
    if (!target->child.pid || !target->loaded)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    request.say_case = ODB__WIRE__REQUEST__SAY_TELL;
    request.tell = &tell;
    ODB_TRY(odb_target__ask(target, &request, NULL, "asking about the model",
                            ODB__WIRE__REPLY__SAY_ACCOUNT, &reply, &frame, err));
    enum odb_status status = target_read_account(reply->account, &frame, account, err);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    return status == ODB_OK ? ODB_OK : target_broken(target, status, err);
}

bool odb_target_accounts(const struct odb_target *target)
{
    return odb_executor_accounts(target->spec->text);
}

const struct odb_capabilities *odb_target_capabilities(const struct odb_target *target)
{
    return &target->can;
}

bool odb_target_recorded(const struct odb_target *target)
{
    const struct odb_executor_ops *ops = target_ops(target);
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

const struct odb_times *odb_target_times(const struct odb_target *target)
{
    return &target->times;
}

struct odb_target_stats odb_target_stats(const struct odb_target *target)
{
    return target->stats;
}

void odb_target_stats_add(struct odb_target_stats *sum, const struct odb_target_stats *more)
{
    sum->loads += more->loads;
    sum->runs += more->runs;
    sum->starts += more->starts;
    sum->load_seconds += more->load_seconds;
    sum->run_seconds += more->run_seconds;
    sum->model_bytes += more->model_bytes;
    sum->file_bytes += more->file_bytes;
    sum->relinks += more->relinks;
}

void odb_target_stats_less(struct odb_target_stats *sum, const struct odb_target_stats *before)
{
    sum->loads -= before->loads;
    sum->runs -= before->runs;
    sum->starts -= before->starts;
    sum->load_seconds -= before->load_seconds;
    sum->run_seconds -= before->run_seconds;
    sum->model_bytes -= before->model_bytes;
    sum->file_bytes -= before->file_bytes;
    sum->relinks -= before->relinks;
}

bool odb_target_killed(const struct odb_target *target)
{
    return target->killed;
}

const char *odb_target_away(const struct odb_target *target)
{
    return target->away[0] ? target->away : NULL;
}

int odb_target_pid(const struct odb_target *target)
{
    return (int)target->child.pid;
}

void odb_target_words(const struct odb_target *target, struct odb_buf *out)
{
    odb_child_words(&target->child, out);
}

void odb_target_set_cancel(struct odb_target *target, bool (*cancelled)(void *), void *payload)
{
    target->cancelled = cancelled;
    target->payload = payload;
}
