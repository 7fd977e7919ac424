/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The debugger's side of a whole conversation: a target is asked to load, to run twice, to tell and
 * to run what it loaded again, and the bytes are what its child, or the other end of ssh, answers,
 * in whatever order. The child is one that has ended; its end of the connection is ours.
 *
 * The first byte chooses the kind of target. Then come records: a byte of flags, two bytes of
 * length, and so many bytes. The flags say what they are: a reply, which gets the number of the
 * next request and a header; a reply as it stands; an attachment of the reply before it, in the
 * stream or in shared memory; or bytes alone.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/transport/target_int.h"

enum { ANSWERS_FD = 1, ANSWERS_RAW = 2, ANSWERS_BARE = 4, ANSWERS_ATTACH = 8, ANSWERS_SSH = 1 };
#define ANSWERS_ROOM 65536 /* bytes that the connection holds without a reader */

struct answers_header {
    char magic[4];
    uint16_t version, flags;
    uint64_t message, attachment;
};

struct answers_record {
    unsigned flags;
    const uint8_t *data;
    size_t size;
};

static bool answers_record(struct answers_record *out, const uint8_t **data, size_t *size)
{
    if (*size < 3)
        return false;
    out->flags = (*data)[0];
    out->size = ODB_MIN((size_t)((*data)[1] | (*data)[2] << 8), *size - 3);
    out->data = *data + 3;
    *data += 3 + out->size;
    *size -= 3 + out->size;
    return true;
}

/* The reply with the number that is waited for, where it is one. */
static void answers_number(struct odb_buf *out, const struct answers_record *r, uint64_t id)
{
    Odb__Wire__Reply *reply = NULL;
    if (!(r->flags & ANSWERS_RAW))
        reply = odb__wire__reply__unpack(NULL, r->size, r->data);
    if (!reply) {
        odb_buf_add(out, r->data, r->size);
        return;
    }
    reply->id = id;
    size_t n = odb__wire__reply__get_packed_size(reply);
    uint8_t *packed = odb_xcalloc(n + 1, 1);
    odb__wire__reply__pack(reply, packed);
    odb_buf_add(out, packed, n);
    free(packed);
    odb__wire__reply__free_unpacked(reply, NULL);
}

/* Sealed memory with these bytes, as a child of this machine may send. */
static int answers_memory(const struct answers_record *r)
{
    int fd = memfd_create("answers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || write(fd, r->data, r->size) != (ssize_t)r->size)
        abort();
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return fd;
}

static void answers_send(int to, const struct odb_buf *bytes, int fd)
{
    struct iovec part = {.iov_base = bytes->data, .iov_len = bytes->len};
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (bytes->len && sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return; /* the connection is full: the rest is lost */
}

static void answers_play(int to, const uint8_t *data, size_t size)
{
    struct answers_record r, more = {0};
    uint64_t id = 1;
    for (size_t sent = 0; sent < ANSWERS_ROOM && answers_record(&r, &data, &size);) {
        struct odb_buf frame = ODB_BUF_INIT, message = ODB_BUF_INIT;
        struct answers_header header = {"ODBX", ODB_WIRE_VERSION, 0, 0, 0};
        bool attached = !(r.flags & ANSWERS_BARE) && (r.flags & ANSWERS_ATTACH) &&
                        answers_record(&more, &data, &size);
        int fd = attached && (r.flags & ANSWERS_FD) ? answers_memory(&more) : -1;
        answers_number(&message, &r, id++);
        header.flags = fd >= 0;
        header.message = message.len;
        header.attachment = attached ? more.size : 0;
        if (!(r.flags & ANSWERS_BARE))
            odb_buf_add(&frame, &header, sizeof header);
        odb_buf_add(&frame, odb_buf_text(&message), message.len);
        if (attached && fd < 0)
            odb_buf_add(&frame, more.data, more.size);
        answers_send(to, &frame, fd);
        sent += frame.len;
        if (fd >= 0)
            close(fd);
        odb_buf_dispose(&frame);
        odb_buf_dispose(&message);
    }
    shutdown(to, SHUT_WR);
}

/* One that has ended and waits to be buried. */
static pid_t answers_child(void)
{
    pid_t pid = vfork();
    if (pid == 0)
        _exit(3);
    if (pid < 0)
        abort();
    return pid;
}

static struct odb_target *answers_target(unsigned kind, int sock)
{
    struct odb_target *target = odb_new(struct odb_target);
    const char *spec = kind & ANSWERS_SSH ? "ssh:here,cpu" : "cpu";
    if (odb_spec_parse(&target->spec, spec, NULL) != ODB_OK)
        abort();
    if (kind & ANSWERS_SSH && odb_link_parse(&target->link, target->spec, NULL) != ODB_OK)
        abort();
    target->remote = kind & ANSWERS_SSH ? odb_remote_new() : NULL;
    target->timeout = 5;
    target->child = (struct odb_child)ODB_CHILD_INIT;
    target->child.pid = answers_child();
    target->child.sock = sock;
    fcntl(sock, F_SETFL, O_NONBLOCK);
    return target;
}

static void answers_account(struct odb_target *target)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_account account = {0};
    (void)!odb_target_account(target, &account, &err);
    odb_account_dispose(&account);
}

/* What comes must be what was asked for, or nothing. */
static void answers_run(struct odb_target *target, const struct odb_tensor *x)
{
    static const char *const names[] = {"y", "b"};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *out[ODB_COUNT(names)];
    struct odb_named in = {"x", x};
    enum odb_status status = odb_target_run(target, &in, 1, names, ODB_COUNT(names), out, &err);
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        if ((status == ODB_OK && !out[i] && !odb_target_recorded(target) &&
             !target->link.transport) ||
            (status != ODB_OK && out[i]))
            abort();
        fuzz_look_take(out[i]);
    }
}

static void answers_talk(struct odb_target *target)
{
    static const float numbers[4] = {1, 2, 3, 4};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf model = ODB_BUF_INIT;
    fuzz_model_bytes(&model);
    struct odb_load load = {.bytes = model.data, .size = model.len, .dir = "/"};
    struct odb_tensor *x;
    if (odb_tensor_copy_of(&x, ODB_F32, 1, (int64_t[]){4}, numbers, NULL) != ODB_OK)
        abort();
    for (int turn = 0; turn < 2 && target->child.pid; turn++) { /* no other is started */
        if (odb_target_load(target, &load, &err) != ODB_OK)
            continue;
        answers_run(target, x);
        answers_run(target, x);
        answers_account(target);
    }
    odb_tensor_unref(x);
    odb_buf_dispose(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int socks[2];
    struct odb_buf words = ODB_BUF_INIT;
    setenv("ONNXDBG_SSH", "exec false", 1); /* for another link, where this one is lost */
    if (!size)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
        abort();
    struct odb_target *target = answers_target(data[0], socks[0]);
    answers_play(socks[1], data + 1, size - 1);
    answers_talk(target);
    odb_target_words(target, &words);
    odb_buf_dispose(&words);
    odb_target_close(target);
    close(socks[1]);
    return 0;
}
