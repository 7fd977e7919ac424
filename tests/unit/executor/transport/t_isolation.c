/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Children that misbehave in every way there is. This program plays them itself: with HOSTILE in
 * its environment it is the child, answers what it is asked until it is to run, and then does what
 * the row of that name says. After each: the right verdict, the last words in full, no process of
 * the group, no file, and the next load works.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "executor/transport/protocol.h"
#include "executor/transport/target.h"
#include "tests/help/executor_help.h"

#define LINK 3 /* the connection's descriptor in the child */

/* --- the hostile child ------------------------------------------------------------------------ */

static struct odb_channel link_channel = {.in = LINK, .out = LINK, .local = true};
static uint64_t asked; /* the request that is to be answered */

static void answer(Odb__Wire__Reply *reply, uint64_t id)
{
    struct odb_parcel none = {0};
    reply->id = id;
    if (odb_channel_send(&link_channel, &reply->base, &none, NULL) != ODB_OK)
        _exit(99);
}

static void answer_values(int64_t n, uint64_t id, const Odb__Wire__Blob *blob)
{
    static float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    Odb__Wire__Blob data = ODB__WIRE__BLOB__INIT;
    Odb__Wire__Tensor t = ODB__WIRE__TENSOR__INIT, *list[] = {&t, &t};
    Odb__Wire__Values values = ODB__WIRE__VALUES__INIT;
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    data.inline_.data = (uint8_t *)numbers;
    data.inline_.len = (size_t)n * sizeof(float);
    t.dtype = ODB_F32;
    t.dims = &n;
    t.n_dims = 1;
    t.data = blob ? (Odb__Wire__Blob *)blob : &data;
    values.outputs = list;
    values.n_outputs = 2;
    reply.say_case = ODB__WIRE__REPLY__SAY_VALUES;
    reply.values = &values;
    answer(&reply, id);
}

/* Answers until it is told to run. */
static void answer_until_run(void)
{
    Odb__Wire__Ready ready = ODB__WIRE__READY__INIT;
    Odb__Wire__Done done = ODB__WIRE__DONE__INIT;
    for (;;) {
        Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
        struct odb_frame frame;
        if (odb_channel_receive(&link_channel, &frame, NULL) != ODB_OK)
            _exit(98);
        Odb__Wire__Request *request =
            odb__wire__request__unpack(NULL, frame.message_size, frame.message);
        asked = request->id;
        int say = (int)request->say_case;
        odb__wire__request__free_unpacked(request, NULL);
        odb_frame_dispose(&frame);
        reply.ready = &ready;
        reply.say_case = ODB__WIRE__REPLY__SAY_READY;
        if (say == ODB__WIRE__REQUEST__SAY_LOAD) {
            reply.done = &done;
            reply.say_case = ODB__WIRE__REPLY__SAY_DONE;
        } else if (say != ODB__WIRE__REQUEST__SAY_HELLO) {
            return;
        }
        answer(&reply, asked);
    }
}

struct head {
    char magic[4];
    uint16_t version, flags;
    uint64_t message, attachment;
};

static void send_head(const char *magic, unsigned version, unsigned flags, uint64_t message,
                      uint64_t attachment)
{
    struct head head = {.version = (uint16_t)version,
                        .flags = (uint16_t)flags,
                        .message = message,
                        .attachment = attachment};
    memcpy(head.magic, magic, 4);
    if (write(LINK, &head, sizeof head) != sizeof head)
        _exit(97);
}

/* A frame of nothing but an attachment of so many bytes that is said to be behind fd. */
static void send_fd(int fd, uint64_t size)
{
    struct head head = {"ODBX", ODB_WIRE_VERSION, 1, 0, size};
    struct iovec part = {.iov_base = &head, .iov_len = sizeof head};
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    if (sendmsg(LINK, &message, 0) != sizeof head)
        _exit(96);
}

static int shared_memory(off_t size, int seals, bool filled)
{
    int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    char page[4096] = {1};
    if (ftruncate(fd, size) < 0)
        _exit(95);
    for (off_t at = 0; filled && at < size; at += 4096)
        if (pwrite(fd, page, (size_t)ODB_MIN(size - at, 4096), at) < 0)
            _exit(94);
    if (seals)
        fcntl(fd, F_ADD_SEALS, seals);
    return fd;
}

static _Noreturn void stay(void)
{
    for (;;)
        pause();
}

static void act_signal(int n)
{
    signal(n, SIG_DFL);
    raise(n);
}

static void act_exit(int n)
{
    _exit(n);
}

static void act_abort(int n)
{
    fprintf(stderr, "terminate called after throwing an instance of 'std::bad_alloc'\n");
    abort();
}

static void act_magic(int n)
{
    send_head("HTTP", ODB_WIRE_VERSION, 0, 0, 0);
    stay();
}

static void act_version(int n)
{
    send_head("ODBX", 77, 0, 0, 0);
    stay();
}

/* Lengths by number: of the message, of the attachment. */
static const uint64_t lengths[][2] = {
    {UINT64_MAX, 0}, {(uint64_t)1 << 40, 0}, {0, UINT64_MAX}, {0, (uint64_t)1 << 62}};

static void act_length(int n)
{
    send_head("ODBX", ODB_WIRE_VERSION, 0, lengths[n][0], lengths[n][1]);
    stay();
}

static void act_half_head(int n)
{
    if (write(LINK, "ODBX", 4) != 4)
        _exit(93);
    if (n)
        stay();
    _exit(0);
}

static void act_half_message(int n)
{
    send_head("ODBX", ODB_WIRE_VERSION, 0, 1000, 0);
    if (n)
        stay();
    _exit(0);
}

/* One byte now and then: never the end of a message, never silence either. */
static void act_trickle(int n)
{
    send_head("ODBX", ODB_WIRE_VERSION, 0, 1 << 20, 0);
    for (;;) {
        if (write(LINK, "x", 1) != 1)
            _exit(0);
        usleep(5000);
    }
}

static void act_no_fd(int n)
{
    send_head("ODBX", ODB_WIRE_VERSION, 1, 0, 4096);
    stay();
}

static void act_null_fd(int n)
{
    send_fd(open("/dev/zero", O_RDONLY), 4096);
    stay();
}

static void act_directory_fd(int n)
{
    send_fd(open("/", O_RDONLY | O_DIRECTORY), 4096);
    stay();
}

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Would shrink under the reader. */
static void act_unsealed(int n)
{
    int fd = shared_memory(1 << 20, 0, true);
    send_fd(fd, 1 << 20);
    if (ftruncate(fd, 0) < 0)
        _exit(92);
    stay();
}

static void act_short_memory(int n)
{
    send_fd(shared_memory(4096, ALL_SEALS, true), 8192);
    stay();
}

/* A terabyte that weighs nothing until it is read. */
static void act_hollow(int n)
{
    send_fd(shared_memory((off_t)1 << 40, ALL_SEALS, false), (uint64_t)1 << 40);
    stay();
}

static void act_short_pipe(int n)
{
    int ends[2];
    if (pipe(ends) < 0 || write(ends[1], "abc", 3) != 3)
        _exit(91);
    send_fd(ends[0], 1 << 20);
    close(ends[0]);
    close(ends[1]);
    stay();
}

static void act_silent_pipe(int n)
{
    int ends[2];
    if (pipe(ends) < 0)
        _exit(90);
    send_fd(ends[0], 1 << 20);
    stay();
}

static void act_other_request(int n)
{
    answer_values(8, asked + (uint64_t)n, NULL);
    stay();
}

/* The second of two answers must not pass for the answer to what is asked next. */
static void act_twice(int n)
{
    answer_values(8, asked, NULL);
    answer_values(8, asked, NULL);
    answer_until_run();
    stay();
}

static void act_wrong_reply(int n)
{
    Odb__Wire__Ready ready = ODB__WIRE__READY__INIT;
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    reply.say_case = ODB__WIRE__REPLY__SAY_READY;
    reply.ready = &ready;
    answer(&reply, asked);
    stay();
}

/* 60 MB of empty tensors would be gigabytes of structs. */
static void act_many_parts(int n)
{
    size_t size = (size_t)60 << 20, body = size - 6;
    unsigned char *message = malloc(size), *p = message;
    *p++ = 4 << 3 | 2; /* Reply.values */
    for (size_t left = body; left; left >>= 7)
        *p++ = (unsigned char)((left & 127) | (left > 127 ? 128 : 0));
    for (; p + 2 <= message + size; p += 2) { /* Values.outputs, empty */
        p[0] = 1 << 3 | 2;
        p[1] = 0;
    }
    send_head("ODBX", ODB_WIRE_VERSION, 0, (uint64_t)(p - message), 0);
    for (unsigned char *at = message; at < p;) {
        ssize_t k = write(LINK, at, (size_t)(p - at));
        if (k <= 0)
            _exit(0);
        at += k;
    }
    stay();
}

static void act_outside(int n)
{
    Odb__Wire__Blob blob = ODB__WIRE__BLOB__INIT;
    blob.attached = 1;
    blob.offset = n ? UINT64_MAX - 8 : 1 << 20;
    blob.size = 32;
    answer_values(8, asked, &blob);
    stay();
}

static void act_hang_up(int n)
{
    close(LINK);
    stay();
}

static void act_stop(int n)
{
    raise(SIGSTOP);
    stay();
}

static void act_hang(int n)
{
    signal(SIGTERM, SIG_IGN);
    stay();
}

static _Noreturn void flood(void)
{
    static char line[1 << 16];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (;;)
        if (write(1, line, sizeof line) < 0)
            stay();
}

static void act_flood(int n)
{
    flood();
}

/* Babbles in another process all the while, and answers well. */
static void act_flood_aside(int n)
{
    if (fork() == 0)
        flood();
    usleep(100 * 1000);
    answer_values(8, asked, NULL);
    answer_until_run();
    stay();
}

/* Somebody of the group lives on with the connection and the pipe of words. */
static void act_leave_behind(int n)
{
    if (fork() == 0) {
        if (fork() != 0)
            _exit(0);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        if (n)
            flood();
        stay();
    }
    usleep(50 * 1000);
    _exit(7);
}

/* Files that are hard to remove. */
static void act_litter(int n)
{
    if (mkdir("litter", 0700) < 0 || mkdir("litter/deep", 0700) < 0 ||
        close(creat("litter/deep/file", 0400)) < 0 || symlink("/", "litter/deep/root") < 0 ||
        chmod("litter/deep", 0) < 0 || chmod("litter", 0500) < 0)
        _exit(89);
    _exit(4);
}

struct act {
    const char *name;
    void (*act)(int n);
    int n;
    enum odb_status status;
    const char *text;
};

static const struct act acts[] = {
    {"exit-0", act_exit, 0, ODB_E_CRASH, "exited with status 0"},
    {"exit-1", act_exit, 1, ODB_E_CRASH, "exited with status 1"},
    {"exit-255", act_exit, 255, ODB_E_CRASH, "exited with status 255"},
    {"real-time-signal", act_signal, 40, ODB_E_CRASH, "killed by signal 40"},
    {"abort", act_abort, 0, ODB_E_CRASH, "killed by SIGABRT while running; output: "},
    {"magic", act_magic, 0, ODB_E_EXECUTOR, "no message of onnxdbg-serve"},
    {"version", act_version, 0, ODB_E_EXECUTOR, "the other end speaks version 77"},
    {"length-0", act_length, 0, ODB_E_EXECUTOR, "over the limit"},
    {"length-1", act_length, 1, ODB_E_EXECUTOR, "over the limit"},
    {"length-2", act_length, 2, ODB_E_EXECUTOR, "over the limit"},
    {"length-3", act_length, 3, ODB_E_EXECUTOR, "over the limit"},
    {"half-head", act_half_head, 0, ODB_E_CRASH, "exited with status 0"},
    {"half-head-stays", act_half_head, 1, ODB_E_TIMEOUT, "no answer within"},
    {"half-message", act_half_message, 0, ODB_E_CRASH, "exited with status 0"},
    {"half-message-stays", act_half_message, 1, ODB_E_TIMEOUT, "no answer within"},
    {"trickle", act_trickle, 0, ODB_E_TIMEOUT, "no answer within"},
    {"no-fd", act_no_fd, 0, ODB_E_EXECUTOR, "do not fit"},
    {"null-fd", act_null_fd, 0, ODB_E_EXECUTOR, "not sealed memory"},
    {"directory-fd", act_directory_fd, 0, ODB_E_EXECUTOR, "not sealed memory"},
    {"unsealed", act_unsealed, 0, ODB_E_EXECUTOR, "not sealed memory"},
    {"short-memory", act_short_memory, 0, ODB_E_EXECUTOR, "not sealed memory"},
    {"hollow", act_hollow, 0, ODB_E_EXECUTOR, "not sealed memory"},
    {"short-pipe", act_short_pipe, 0, ODB_E_CRASH, "closed the connection"},
    {"silent-pipe", act_silent_pipe, 0, ODB_E_TIMEOUT, "no answer within"},
    {"earlier-request", act_other_request, -1, ODB_E_EXECUTOR, "it answers another request"},
    {"later-request", act_other_request, 1, ODB_E_EXECUTOR, "it answers another request"},
    {"wrong-reply", act_wrong_reply, 0, ODB_E_EXECUTOR, "it is no answer"},
    {"many-parts", act_many_parts, 0, ODB_E_EXECUTOR, "it is no answer"},
    {"outside", act_outside, 0, ODB_E_EXECUTOR, "lie outside the attachment"},
    {"far-outside", act_outside, 1, ODB_E_EXECUTOR, "lie outside the attachment"},
    {"hang-up", act_hang_up, 0, ODB_E_CRASH, "closed the connection"},
    {"stop", act_stop, 0, ODB_E_TIMEOUT, "it was stopped by SIGSTOP"},
    {"hang", act_hang, 0, ODB_E_TIMEOUT, "no answer within"},
    {"flood", act_flood, 0, ODB_E_TIMEOUT, "no answer within"},
    {"leave-behind", act_leave_behind, 0, ODB_E_CRASH, "exited with status 7"},
    {"leave-behind-loud", act_leave_behind, 1, ODB_E_CRASH, "exited with status 7"},
    {"litter", act_litter, 0, ODB_E_CRASH, "exited with status 4"},
};

/* Those who are right the first time. */
static const struct act acts_twice[] = {
    {"twice", act_twice, 0, ODB_E_EXECUTOR, "it answers another request"},
    {"flood-aside", act_flood_aside, 0, ODB_E_TIMEOUT, "no answer within"},
};

static void be_act(const struct act *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].name, name))
            list[i].act(list[i].n);
}

/* Its words are longer than what a message shows of them. */
static _Noreturn void be_hostile(const char *name, char **argv)
{
    const char *scratch = "";
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails must not leave us behind */
    for (int i = 1; argv[i]; i++)
        if (!strncmp(argv[i], "--scratch=", 10))
            scratch = argv[i] + 10;
    answer_until_run();
    fprintf(stderr, "the beginning of the words\n%*s\nthe end of the words\n", 1000, "");
    if (chdir(scratch) < 0)
        _exit(88);
    if (!strncmp(name, "signal-", 7))
        act_signal(atoi(name + 7));
    be_act(acts, ODB_COUNT(acts), name);
    be_act(acts_twice, ODB_COUNT(acts_twice), name);
    _exit(87);
}

/* --- the debugger's side ---------------------------------------------------------------------- */

struct place {
    char dir[64];
    char *serve, *self;
};

static size_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int setup(void **state)
{
    struct place *place = odb_new(struct place);
    char self[4096];
    help_find_serve();
    snprintf(place->dir, sizeof place->dir, "/tmp/t_isolation-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    setenv("TMPDIR", place->dir, 1);
    place->serve = odb_xstrdup(getenv("ONNXDBG_SERVE"));
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    place->self = odb_xstrdup(self);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    setenv("ONNXDBG_SERVE", place->serve, 1);
    unsetenv("HOSTILE");
    unsetenv("TMPDIR");
    int bad = rmdir(place->dir) < 0;
    free(place->serve);
    free(place->self);
    free(place);
    return bad;
}

static enum odb_status run_chain(struct odb_target *target, struct odb_error *err)
{
    struct odb_tensor *x = help_floats(2, 4, help_x), *out[2];
    struct odb_named in = {"x", x};
    enum odb_status status = odb_target_run(target, &in, 1, help_chain_outputs, 2, out, err);
    odb_tensor_unref(x);
    for (int i = 0; i < 2; i++)
        odb_tensor_unref(out[i]);
    return status;
}

/* What init has not reaped yet is given a moment. */
static bool group_is_gone(pid_t pid)
{
    for (int i = 0; i < 200; i++) {
        if (kill(-pid, 0) < 0 && errno == ESRCH)
            return true;
        usleep(10 * 1000);
    }
    return false;
}

static void hostile(const struct place *place, const char *name)
{
    setenv("ONNXDBG_SERVE", place->self, 1);
    setenv("HOSTILE", name, 1);
}

/* Opens, loads, runs until it goes wrong; then all that must hold. */
static void expect(const struct place *place, const char *name, int runs, enum odb_status status,
                   const char *text, bool words)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf said = ODB_BUF_INIT;
    hostile(place, name);
    /* Who ends is seen to end, however long might be waited. */
    struct odb_target *target =
        help_open_target(status == ODB_E_TIMEOUT ? "cpu,timeout=2" : "cpu,timeout=600");
    help_load_chain(target);
    pid_t pid = odb_target_pid(target);
    for (; runs > 1; runs--)
        help_ok(run_chain(target, &err), &err);
    enum odb_status got = run_chain(target, &err);
    if (got != status)
        fail_msg("%s: status %d: %s", name, got, err.what);
    help_has_text(&err, text);
    help_has_text(&err, "while running");
    odb_target_words(target, &said);
    if (words && (!strstr(odb_buf_text(&said), "the beginning of the words") ||
                  !strstr(odb_buf_text(&said), "the end of the words")))
        fail_msg("%s: it said: %s", name, odb_buf_text(&said));
    if (words)
        help_has_text(&err, "; output: ");
    odb_buf_dispose(&said);
    assert_int_equal(odb_target_pid(target), 0);
    if (!group_is_gone(pid))
        fail_msg("%s: processes are left", name);
    if (count_entries(place->dir) > 0)
        fail_msg("%s: files are left", name);
    setenv("ONNXDBG_SERVE", place->serve, 1);
    help_load_chain(target);
    help_ok(run_chain(target, &err), &err);
    odb_target_close(target);
}

static void test_isolation__signals(void **state)
{
    for (int n = 1; n < 32; n++) {
        char name[32], text[64];
        if (n == SIGCHLD || n == SIGCONT || n == SIGURG || n == SIGWINCH || n == SIGSTOP ||
            n == SIGTSTP || n == SIGTTIN || n == SIGTTOU)
            continue;
        snprintf(name, sizeof name, "signal-%d", n);
        snprintf(text, sizeof text, "the executor was killed by SIG%s while running",
                 sigabbrev_np(n));
        expect(*state, name, 1, n == SIGKILL ? ODB_E_NOMEM : ODB_E_CRASH, text, true);
    }
}

static void test_isolation__acts(void **state)
{
    for (size_t i = 0; i < ODB_COUNT(acts); i++)
        expect(*state, acts[i].name, 1, acts[i].status, acts[i].text,
               !strstr(acts[i].name, "flood") && !strstr(acts[i].name, "loud"));
}

static void test_isolation__second_run(void **state)
{
    for (size_t i = 0; i < ODB_COUNT(acts_twice); i++)
        expect(*state, acts_twice[i].name, 2, acts_twice[i].status, acts_twice[i].text, i == 0);
}

/* Babble fills nothing. */
static void test_isolation__flood_is_cheap(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf said = ODB_BUF_INIT;
    struct rusage before, after;
    hostile(*state, "flood-aside");
    struct odb_target *target = help_open_target("cpu,timeout=600");
    help_load_chain(target);
    getrusage(RUSAGE_SELF, &before);
    help_ok(run_chain(target, &err), &err);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 4096); /* KiB */
    odb_target_words(target, &said);
    assert_int_equal(said.len, 4096);
    odb_buf_dispose(&said);
    odb_target_close(target);
}

/* y = Expand(x): as large as it is asked for. */
static enum odb_status run_large(struct odb_target *target, int64_t count, struct odb_error *err)
{
    struct odb_builder *b = odb_build_new("large", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *n, *out;
    int64_t one = 1;
    struct odb_error ignored;
    odb_build_input(b, "n", ODB_I64, 1, &one);
    odb_build_node(b, "ConstantOfShape", "grow", "n", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, &count);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    enum odb_status status = odb_target_load(target, &load, err);
    help_ok(odb_tensor_copy_of(&n, ODB_I64, 1, &one, &count, &ignored), &ignored);
    struct odb_named in = {"n", n};
    const char *name = "y";
    if (status == ODB_OK)
        status = odb_target_run(target, &in, 1, &name, 1, &out, err);
    if (status == ODB_OK)
        odb_tensor_unref(out);
    odb_tensor_unref(n);
    odb_buf_dispose(&bytes);
    return status;
}

static void test_isolation__memory(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    if (SANITIZED)
        skip(); /* shadow memory is over any limit */
    struct odb_target *target = help_open_target("cpu:f64,mem=300M");
    help_ok(run_large(target, 1 << 20, &err), &err);
    assert_int_equal(run_large(target, (int64_t)1 << 28, &err), ODB_E_NOMEM);
    help_has_text(&err, "mem=300M in its spec limits its memory");
    help_ok(run_large(target, 1 << 20, &err), &err); /* it said no, and is none the worse */
    assert_int_equal(odb_target_stats(target).starts, 1);
    odb_target_close(target);
    char path[64], line[200], found[200] = "";
    target = help_open_target("fault:crash,node=#0@cpu,mem=1.5G");
    snprintf(path, sizeof path, "/proc/%d/limits", odb_target_pid(target));
    FILE *f = fopen(path, "r");
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, "Max data size", 13))
            memcpy(found, line, sizeof found);
    fclose(f);
    assert_non_null(strstr(found, " 1610612736 "));
    odb_target_close(target);
}

/* A death for want of memory is called so where the words say it. */
static void test_isolation__memory_death(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    hostile(*state, "abort");
    struct odb_target *target = help_open_target("cpu,mem=4G");
    help_load_chain(target);
    assert_int_equal(run_chain(target, &err), ODB_E_NOMEM);
    help_has_text(&err, "the executor ran out of memory and was killed by SIGABRT while running");
    help_has_text(&err, "mem=4G in its spec limits its memory");
    hostile(*state, "signal-9");
    help_load_chain(target);
    assert_int_equal(run_chain(target, &err), ODB_E_NOMEM);
    help_has_text(&err, "the executor was killed by SIGKILL");
    help_has_text(&err, "mem=4G");
    odb_target_close(target);
}

static void test_isolation__memory_spec(void **state)
{
    static const char *const bad[] = {"cpu,mem",     "cpu,mem=",     "cpu,mem=0",
                                      "cpu,mem=-1",  "cpu,mem=4X",   "cpu,mem=4GB",
                                      "cpu,mem=nan", "cpu,mem=1e30", "cpu,mem=G"};
    for (size_t i = 0; i < ODB_COUNT(bad); i++) {
        struct odb_target *target = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_target_open(&target, bad[i], &err), ODB_E_USAGE);
        help_has_text(&err, "is no size; write mem=4G");
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_isolation__##name, setup, teardown)

static void *stop_the_job(void *arg)
{
    for (;;)
        kill(0, SIGTSTP);
    return arg;
}

/* In a job of its own, which is stopped all the time and takes no notice. */
static void start_while_stopped(void)
{
    pthread_t thread;
    setpgid(0, 0);
    signal(SIGTSTP, SIG_IGN);
    alarm(20);
    if (pthread_create(&thread, NULL, stop_the_job, NULL) != 0)
        _exit(2);
    for (int i = 0; i < 20; i++) {
        struct odb_target *target = help_open_target("cpu");
        help_load_chain(target);
        odb_target_close(target);
    }
    _exit(0);
}

/* The child leaves the job's group at once, and who lets the job go on would not reach it. */
static void test_isolation__a_stop_of_the_job(void **state)
{
    int how;
    setenv("ONNXDBG_SERVE", ((const struct place *)*state)->serve, 1);
    pid_t job = fork();
    if (job == 0)
        start_while_stopped();
    assert_int_equal(waitpid(job, &how, 0), job);
    assert_int_equal(how, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CASE(signals), CASE(acts),         CASE(second_run),  CASE(flood_is_cheap),
        CASE(memory),  CASE(memory_death), CASE(memory_spec), CASE(a_stop_of_the_job),
    };
    if (getenv("HOSTILE") && fcntl(LINK, F_GETFD) >= 0)
        be_hostile(getenv("HOSTILE"), argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
