/* SPDX-License-Identifier: MIT
 *
 * A message is small, whatever the tensors weigh: bytes beyond the first few tens of kilobytes go
 * to the attachment. On one machine that is a pipe of its own, to which the sender lends its pages
 * (vmsplice), so that the one copy there is happens at the receiver's; a memfd that is mapped there
 * is understood as well. The receiver believes nothing: lengths are capped before anything is
 * allocated, what a message unpacks to has a budget, and a memfd must be sealed and without holes,
 * because one that shrinks under a mapping is a SIGBUS for its reader, and holes are memory that
 * reading would make.
 */
#include "executor/transport/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "system/blocks.h"
#include "base/buf.h"
#include "base/mem.h"

#define WIRE_MAGIC "ODBX"
#define WIRE_FLAG_FD 1u
#define WIRE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define WIRE_INLINE ((size_t)64 << 10)      /* bytes of tensors in one message */
#define WIRE_MESSAGE_MAX ((size_t)64 << 20) /* names and shapes of 500,000 values */
#define WIRE_ATTACHMENT_MAX ODB_SIZE_LIMIT(1ull << 42)
#define WIRE_UNPACKED_MAX ((size_t)32 << 20) /* what any message may unpack to, and … */
#define WIRE_UNPACKED_EACH 16                /* … how much more for each byte of it */
#define WIRE_PIPE (1 << 20)                  /* bytes: the most that an ordinary user gets */
#define WIRE_BLOCK_MAX ((size_t)8 << 20)     /* what is worth keeping when it is let go */
#define WIRE_ASIDE ((size_t)1 << 20)         /* what is worth a place on disk */
#define WIRE_ALIGN 64
#define WIRE_DEPTH 8 /* of sequences in optionals in maps */

struct odb_parcel_part {
    const void *data; /* borrowed */
    size_t size, offset;
};

struct wire_header {
    char magic[4];
    uint16_t version, flags;
    uint64_t message, attachment;
};

_Static_assert(sizeof(struct wire_header) == 24, "the header is what executor.proto says");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers travel little-endian");

/* --- parcels --------------------------------------------------------------------------------- */

void odb_parcel_dispose(struct odb_parcel *parcel)
{
    free(parcel->parts);
    *parcel = (struct odb_parcel){0};
}

void odb_parcel_add(struct odb_parcel *parcel, Odb__Wire__Blob *blob, const void *data, size_t size)
{
    odb__wire__blob__init(blob);
    if (size <= WIRE_INLINE - parcel->inlined) {
        parcel->inlined += size;
        blob->inline_.data = (uint8_t *)data;
        blob->inline_.len = size;
        return;
    }
    if (parcel->n_parts == parcel->cap) {
        parcel->cap = parcel->cap ? parcel->cap * 2 : 8;
        parcel->parts = odb_xrealloc(parcel->parts, parcel->cap, sizeof *parcel->parts);
    }
    parcel->parts[parcel->n_parts++] =
        (struct odb_parcel_part){.data = data, .size = size, .offset = parcel->size};
    blob->attached = 1;
    blob->offset = parcel->size;
    blob->size = size;
    parcel->size += (size + WIRE_ALIGN - 1) / WIRE_ALIGN * WIRE_ALIGN;
}

/* --- sending --------------------------------------------------------------------------------- */

static enum odb_status channel_gone(struct odb_error *err, const char *doing)
{
    if (errno == EMFILE) /* our own limit, not a fault of the other end */
        return odb_fail(err, ODB_E_NOMEM, "%s: too many files are open here", doing);
    return odb_fail(err, ODB_E_IO, "%s: %s", doing,
                    errno == 0 || errno == EPIPE || errno == ECONNRESET ? "the other end is gone"
                                                                        : strerror(errno));
}

static enum odb_status channel_wait(const struct odb_channel *channel, int fd, short events,
                                    struct odb_error *err)
{
    return channel->wait ? channel->wait(channel->payload, fd, events, err) : ODB_OK;
}

/* Writes, or lends pages to a pipe where that can be done. A reader that is gone is an
 * errno, not a signal. */
static ssize_t channel_put(int fd, const void *data, size_t size, bool lend, bool block)
{
    struct iovec part = {.iov_base = (void *)data, .iov_len = size};
    const struct timespec now = {0};
    sigset_t sigpipe, before, pending;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
    ssize_t n = -1;
    if (lend)
        n = vmsplice(fd, &part, 1, block ? 0 : SPLICE_F_NONBLOCK);
    if (!lend || (n < 0 && (errno == ENOSYS || errno == EPERM)))
        n = write(fd, data, size);
    int error = errno;
    if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&sigpipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

/* One piece of a write; passes the descriptor along when fd is not -1. */
static ssize_t channel_write_some(const struct odb_channel *channel, const void *data, size_t size,
                                  int fd)
{
    if (!channel->local)
        return channel_put(channel->out, data, size, false, false);
    struct iovec part = {.iov_base = (void *)data, .iov_len = size};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control.space;
        message.msg_controllen = sizeof control.space;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return sendmsg(channel->out, &message, MSG_NOSIGNAL);
}

static enum odb_status channel_write(const struct odb_channel *channel, const void *data,
                                     size_t size, int fd, struct odb_error *err)
{
    const char *p = data;
    while (size > 0) {
        ODB_TRY(channel_wait(channel, channel->out, POLLOUT, err));
        ssize_t n = channel_write_some(channel, p, size, fd);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return channel_gone(err, "sending");
        fd = -1;
        p += n;
        size -= (size_t)n;
    }
    return ODB_OK;
}

static enum odb_status channel_write_parts(const struct odb_channel *channel,
                                           const struct odb_parcel *parcel, struct odb_error *err)
{
    static const char zeros[WIRE_ALIGN];
    for (size_t i = 0; i < parcel->n_parts; i++) {
        const struct odb_parcel_part *part = &parcel->parts[i];
        size_t end = i + 1 < parcel->n_parts ? parcel->parts[i + 1].offset : parcel->size;
        ODB_TRY(channel_write(channel, part->data, part->size, -1, err));
        ODB_TRY(channel_write(channel, zeros, end - part->offset - part->size, -1, err));
    }
    return ODB_OK;
}

/* The attachment through a pipe. Pages are lent as long as a pipe's worth comes behind them: once
 * that has been taken in, no lent page can still be unread, and the caller may do with its memory
 * what it likes. */
static enum odb_status channel_feed(const struct odb_channel *channel, int fd,
                                    const struct odb_parcel *parcel, struct odb_error *err)
{
    static const char zeros[WIRE_ALIGN];
    size_t kept = (size_t)ODB_MAX(fcntl(fd, F_GETPIPE_SZ), 0), done = 0;
    size_t lent = parcel->size > kept ? parcel->size - kept : 0;
    for (size_t i = 0; done < parcel->size;) {
        const struct odb_parcel_part *part = &parcel->parts[i];
        size_t at = done - part->offset;
        size_t end = i + 1 < parcel->n_parts ? parcel->parts[i + 1].offset : parcel->size;
        const char *data = at < part->size ? (const char *)part->data + at : zeros;
        size_t size = at < part->size ? part->size - at : end - done;
        bool lend = at < part->size && done < lent;
        ODB_TRY(channel_wait(channel, fd, POLLOUT, err));
        ssize_t n = channel_put(fd, data, lend ? ODB_MIN(size, lent - done) : size, lend,
                                channel->wait == NULL);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return channel_gone(err, "sending");
        done += n > 0 ? (size_t)n : 0;
        i += done == end;
    }
    return ODB_OK;
}

static enum odb_status channel_pipe(const struct odb_channel *channel, int pipe[2],
                                    struct odb_error *err)
{
    if (pipe2(pipe, O_CLOEXEC) < 0)
        return odb_fail(err, ODB_E_NOMEM, "no pipe for an attachment: %s", strerror(errno));
    fcntl(pipe[1], F_SETPIPE_SZ, WIRE_PIPE);
    if (channel->wait)
        fcntl(pipe[1], F_SETFL, O_NONBLOCK);
    return ODB_OK;
}

enum odb_status odb_channel_send(const struct odb_channel *channel, const ProtobufCMessage *message,
                                 const struct odb_parcel *parcel, struct odb_error *err)
{
    struct wire_header header = {.magic = WIRE_MAGIC, .version = ODB_WIRE_VERSION};
    size_t size = protobuf_c_message_get_packed_size(message);
    size_t attachment = parcel ? parcel->size : 0;
    if (size > WIRE_MESSAGE_MAX || attachment > WIRE_ATTACHMENT_MAX)
        return odb_fail(err, ODB_E_NOMEM, "a message of %zu and %zu bytes is over the limit", size,
                        attachment);
    header.message = size;
    header.attachment = attachment;
    int pipe[2] = {-1, -1};
    if (attachment > 0 && channel->local) {
        header.flags = WIRE_FLAG_FD;
        ODB_TRY(channel_pipe(channel, pipe, err));
    }
    char *frame = odb_xcalloc(1, sizeof header + size);
    memcpy(frame, &header, sizeof header);
    protobuf_c_message_pack(message, (uint8_t *)frame + sizeof header);
    enum odb_status status = channel_write(channel, frame, sizeof header + size, pipe[0], err);
    free(frame);
    if (pipe[0] >= 0)
        close(pipe[0]);
    if (status == ODB_OK && attachment > 0)
        status = channel->local ? channel_feed(channel, pipe[1], parcel, err)
                                : channel_write_parts(channel, parcel, err);
    if (pipe[1] >= 0)
        close(pipe[1]);
    return status;
}

/* --- receiving ------------------------------------------------------------------------------- */

/* Takes the descriptors that came with a piece; the first is kept, others are closed. */
static void channel_take_fds(struct msghdr *message, int *fd)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int got;
            memcpy(&got, CMSG_DATA(c) + i * sizeof got, sizeof got);
            if (*fd < 0)
                *fd = got;
            else
                close(got);
        }
    }
}

static ssize_t channel_read_some(const struct odb_channel *channel, void *data, size_t size,
                                 int *fd)
{
    if (!channel->local)
        return read(channel->in, data, size);
    struct iovec part = {.iov_base = data, .iov_len = size};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space};
    ssize_t n = recvmsg(channel->in, &message, MSG_CMSG_CLOEXEC);
    if (n >= 0)
        channel_take_fds(&message, fd);
    if (n < 0 || !(message.msg_flags & MSG_CTRUNC))
        return n;
    errno = EMFILE; /* a descriptor came and found no place */
    return -1;
}

static enum odb_status channel_read(const struct odb_channel *channel, void *data, size_t size,
                                    int *fd, struct odb_error *err)
{
    char *p = data;
    while (size > 0) {
        ODB_TRY(channel_wait(channel, channel->in, POLLIN, err));
        ssize_t n = channel_read_some(channel, p, size, fd);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0) {
            errno = n == 0 ? 0 : errno;
            return channel_gone(err, "receiving");
        }
        p += n;
        size -= (size_t)n;
    }
    return ODB_OK;
}

/* An attachment as a storage: a private mapping, or a block that goes to the next of its size. */
struct wire_map {
    struct odb_storage base;
    void *data;
    size_t size;
    bool mapped;
};

static void wire_map_release(struct odb_storage *storage)
{
    struct wire_map *map = (struct wire_map *)storage;
    if (map->mapped)
        munmap(map->data, map->size);
    else
        odb_blocks_give(map->data, map->size);
    free(map);
}

/* Memory that can be read without harm: it cannot shrink, and all of it is there. */
static bool frame_sealed(int fd, size_t size)
{
    struct stat st;
    struct statfs fs;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & WIRE_SEALS) == WIRE_SEALS && fstat(fd, &st) == 0 &&
           (uint64_t)st.st_size >= size && (uint64_t)st.st_blocks >= size / 512 &&
           fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

/* Memory for the attachment: that behind fd, or fresh where fd is -1. */
static enum odb_status frame_map(struct odb_frame *frame, size_t size, int fd,
                                 struct odb_error *err)
{
    if (fd >= 0 && !frame_sealed(fd, size))
        return odb_fail(err, ODB_E_FORMAT, "the attachment is not sealed memory of %zu bytes",
                        size);
    bool mapped = fd >= 0 || size > WIRE_BLOCK_MAX;
    void *data = !mapped ? odb_blocks_take(size)
                 : fd < 0
                     ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, fd, 0)
                     : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (!data || data == MAP_FAILED)
        return odb_fail(err, ODB_E_NOMEM, "no memory for an attachment of %zu bytes: %s", size,
                        strerror(errno));
    if (mapped && fd < 0)
        madvise(data, size, MADV_HUGEPAGE);
    struct wire_map *map = odb_new(struct wire_map);
    map->mapped = mapped;
    map->base.refs = 1;
    map->base.release = wire_map_release;
    map->data = data;
    map->size = size;
    frame->attachment = data;
    frame->attachment_size = size;
    frame->storage = &map->base;
    return ODB_OK;
}

/* Has the kernel write to disk what comes in a pipe, as far as it does; *done: so many bytes. */
static enum odb_status frame_draw_aside(const struct odb_channel *from, struct odb_storage *storage,
                                        size_t size, size_t *done, struct odb_error *err)
{
    while (*done < size) {
        ODB_TRY(channel_wait(from, from->in, POLLIN, err));
        ssize_t n = odb_spill_draw(storage, *done, from->in, size - *done);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0) /* the file system cannot, or has no room: writing says which */
            return ODB_OK;
        errno = 0;
        if (n == 0)
            return channel_gone(err, "receiving");
        *done += (size_t)n;
    }
    return ODB_OK;
}

/* Writes an attachment to disk as it comes. */
static enum odb_status frame_put_aside(const struct odb_channel *from, struct odb_storage *storage,
                                       size_t size, bool pipe, struct odb_error *err)
{
    size_t done = 0;
    if (pipe)
        ODB_TRY(frame_draw_aside(from, storage, size, &done, err));
    if (done == size)
        return ODB_OK;
    char *piece = odb_work_n(char, WIRE_PIPE);
    enum odb_status status = ODB_OK;
    int none = -1;
    for (size_t n; done < size && status == ODB_OK; done += n) {
        n = ODB_MIN(size - done, (size_t)WIRE_PIPE);
        status = channel_read(from, piece, n, &none, err);
        if (status == ODB_OK)
            status = odb_spill_fill(storage, done, piece, n, err);
    }
    odb_work_give(piece);
    return status;
}

/* Takes the attachment: from the connection, or from the pipe or the memory behind fd. */
static enum odb_status frame_attach(const struct odb_channel *channel, struct odb_frame *frame,
                                    size_t size, int fd, struct odb_error *err)
{
    struct stat st;
    bool pipe = fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    if (fd >= 0 && !pipe)
        return frame_map(frame, size, fd, err);
    struct odb_channel from = *channel;
    const void *there = NULL;
    if (pipe) {
        from.in = fd;
        from.local = false;
        if (channel->wait)
            fcntl(fd, F_SETFL, O_NONBLOCK);
    }
    if (from.aside && size >= WIRE_ASIDE)
        frame->storage = odb_spill_reserve(from.aside, size, &there);
    if (frame->storage) {
        frame->attachment = there;
        frame->attachment_size = size;
        return frame_put_aside(&from, frame->storage, size, pipe, err);
    }
    ODB_TRY(frame_map(frame, size, -1, err));
    int none = -1;
    return channel_read(&from, (void *)frame->attachment, size, &none, err);
}

/* Often it is a text that a person can make something of. */
static enum odb_status frame_is_none(const struct wire_header *header, struct odb_error *err)
{
    struct odb_buf shown = ODB_BUF_INIT;
    char *raw = odb_xstrndup((const char *)header, sizeof *header);
    odb_buf_put_shown(&shown, raw);
    odb_fail(err, ODB_E_FORMAT, "what came is no message of onnxdbg-serve: '%s...'",
             odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    free(raw);
    return ODB_E_FORMAT;
}

static enum odb_status frame_check(const struct wire_header *header, int fd, struct odb_error *err)
{
    if (memcmp(header->magic, WIRE_MAGIC, sizeof header->magic) != 0)
        return frame_is_none(header, err);
    if (header->version != ODB_WIRE_VERSION) {
        odb_fail(err, ODB_E_FORMAT, "the other end speaks version %u, this one %d", header->version,
                 ODB_WIRE_VERSION);
        return odb_error_remedy(err, "install onnxdbg and onnxdbg-serve of the same version");
    }
    if (header->message > WIRE_MESSAGE_MAX || header->attachment > WIRE_ATTACHMENT_MAX)
        return odb_fail(err, ODB_E_FORMAT, "a message of %llu and %llu bytes is over the limit",
                        (unsigned long long)header->message,
                        (unsigned long long)header->attachment);
    if (((header->flags & WIRE_FLAG_FD) != 0) != (fd >= 0))
        return odb_fail(err, ODB_E_FORMAT, "a message and its attachment do not fit");
    return ODB_OK;
}

enum odb_status odb_channel_receive(const struct odb_channel *channel, struct odb_frame *frame,
                                    struct odb_error *err)
{
    struct wire_header header;
    enum odb_status status;
    int fd = -1;
    *frame = (struct odb_frame){0};
    ODB_TRY_OUT(channel_read(channel, &header, sizeof header, &fd, err));
    ODB_TRY_OUT(frame_check(&header, fd, err));
    frame->message_size = (size_t)header.message;
    frame->message = malloc(frame->message_size + 1);
    if (!frame->message) {
        status =
            odb_fail(err, ODB_E_NOMEM, "no memory for a message of %zu bytes", frame->message_size);
        goto out;
    }
    ODB_TRY_OUT(channel_read(channel, frame->message, frame->message_size, &fd, err));
    if (header.attachment > 0)
        ODB_TRY_OUT(frame_attach(channel, frame, (size_t)header.attachment, fd, err));
out:
    if (fd >= 0)
        close(fd);
    if (status != ODB_OK)
        odb_frame_dispose(frame);
    return status;
}

/* Memory under a budget: a message of many empty parts unpacks to a hundred times its size. */
static void *frame_alloc(void *budget, size_t size)
{
    size_t *left = budget;
    if (size > *left)
        return NULL;
    *left -= size;
    return malloc(size);
}

static void frame_free(void *budget, void *p)
{
    free(p);
}

ProtobufCMessage *odb_frame_unpack(const struct odb_frame *frame,
                                   const ProtobufCMessageDescriptor *type)
{
    size_t left = WIRE_UNPACKED_MAX + frame->message_size * WIRE_UNPACKED_EACH;
    ProtobufCAllocator budget = {frame_alloc, frame_free, &left};
    return protobuf_c_message_unpack(type, &budget, frame->message_size, frame->message);
}

void odb_frame_dispose(struct odb_frame *frame)
{
    free(frame->message);
    odb_storage_unref(frame->storage);
    *frame = (struct odb_frame){0};
}

enum odb_status odb_frame_blob(const struct odb_frame *frame, const Odb__Wire__Blob *blob,
                               const void **data, size_t *size, struct odb_error *err)
{
    *data = "";
    *size = 0;
    if (!blob)
        return ODB_OK;
    if (!blob->attached) {
        *data = blob->inline_.len ? (const void *)blob->inline_.data : "";
        *size = blob->inline_.len;
        return ODB_OK;
    }
    if (!blob->size)
        return ODB_OK;
    if (blob->offset > frame->attachment_size || blob->size > frame->attachment_size - blob->offset)
        return odb_fail(err, ODB_E_FORMAT, "bytes %llu+%llu lie outside the attachment",
                        (unsigned long long)blob->offset, (unsigned long long)blob->size);
    *data = frame->attachment + blob->offset;
    *size = (size_t)blob->size;
    return ODB_OK;
}

/* --- tensors --------------------------------------------------------------------------------- */

void odb_wire_list_dispose(struct odb_wire_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i]->data);
        free(list->items[i]->dims);
        free(list->items[i]->steps);
        free(list->items[i]);
    }
    for (size_t i = 0; i < list->n_texts; i++) {
        odb_buf_dispose(list->texts[i]);
        free(list->texts[i]);
    }
    free(list->items);
    free(list->texts);
    *list = (struct odb_wire_list){0};
}

static Odb__Wire__Tensor *wire_new(struct odb_wire_list *list, const char *name)
{
    Odb__Wire__Tensor *item = odb_new(Odb__Wire__Tensor);
    odb__wire__tensor__init(item);
    item->name = (char *)name;
    if (list->n == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 8;
        list->items = odb_xrealloc(list->items, list->cap, sizeof *list->items);
    }
    list->items[list->n++] = item;
    return item;
}

/* Strings as one run of bytes: u32 length, bytes. */
static enum odb_status wire_put_strings(struct odb_wire_list *list, struct odb_parcel *parcel,
                                        Odb__Wire__Blob *blob, const struct odb_tensor *t,
                                        struct odb_error *err)
{
    struct odb_buf *text = odb_new(struct odb_buf);
    *text = (struct odb_buf)ODB_BUF_INIT;
    list->texts = odb_xrealloc(list->texts, list->n_texts + 1, sizeof *list->texts);
    list->texts[list->n_texts++] = text;
    const struct odb_str *s = t->data;
    for (size_t i = 0; i < t->count; i++) {
        if (s[i].len > UINT32_MAX)
            return odb_fail(err, ODB_E_INPUT, "a string of %zu bytes is too long", s[i].len);
        uint32_t len = (uint32_t)s[i].len;
        odb_buf_add(text, &len, sizeof len);
        odb_buf_add(text, s[i].data, s[i].len);
    }
    odb_parcel_add(parcel, blob, odb_buf_text(text), text->len);
    return ODB_OK;
}

enum odb_status odb_wire_put(struct odb_wire_list *list, struct odb_parcel *parcel,
                             const char *name, const struct odb_tensor *t, bool same,
                             struct odb_error *err)
{
    Odb__Wire__Tensor *item = wire_new(list, name);
    item->same = same;
    item->absent = !same && !t;
    if (same || !t)
        return ODB_OK;
    item->kind = (uint32_t)t->kind;
    item->dtype = (uint32_t)t->dtype;
    item->n_dims = (size_t)t->rank;
    item->dims = odb_xmemdup(t->dims, sizeof t->dims);
    item->n_items = (uint32_t)t->n_items;
    item->read_as = t->read_as ? t->read_as : item->read_as;
    item->steps = t->n_steps ? odb_xmemdup(t->steps, t->n_steps * sizeof *t->steps) : NULL;
    item->n_steps = t->n_steps;
    item->steps_axis = (uint32_t)t->steps_axis;
    if (t->kind == ODB_TENSOR) {
        if (!t->data && t->count > 0)
            return odb_fail(err, ODB_E_INPUT, "'%s' has a shape but no values", name);
        item->data = odb_new(Odb__Wire__Blob);
        if (t->dtype == ODB_STRING)
            return wire_put_strings(list, parcel, item->data, t, err);
        odb_parcel_add(parcel, item->data, t->data, t->bytes);
    }
    for (size_t i = 0; i < t->n_items; i++)
        ODB_TRY(odb_wire_put(list, parcel, "", t->items[i], false, err));
    return ODB_OK;
}

static enum odb_status wire_get_strings(struct odb_tensor *t, const char *data, size_t size,
                                        struct odb_error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        uint32_t len;
        if (size < sizeof len)
            return odb_fail(err, ODB_E_FORMAT, "a string tensor ends early");
        memcpy(&len, data, sizeof len);
        if (len > size - sizeof len)
            return odb_fail(err, ODB_E_FORMAT, "a string tensor ends early");
        ODB_TRY(odb_tensor_set_string(t, i, data + sizeof len, len, err));
        data += sizeof len + len;
        size -= sizeof len + len;
    }
    return size == 0 ? ODB_OK : odb_fail(err, ODB_E_FORMAT, "a string tensor is too long");
}

/* What the shape says is compared with the bytes that came before anything is allocated. */
static bool wire_fits(const Odb__Wire__Tensor *item, size_t size)
{
    size_t count = 1, bytes;
    for (size_t i = 0; i < item->n_dims; i++)
        if (item->dims[i] < 0 || !odb_size_mul(count, (uint64_t)item->dims[i], &count))
            return false;
    enum odb_dtype dtype = (enum odb_dtype)item->dtype;
    if (dtype == ODB_STRING)
        return count <= size / sizeof(uint32_t);
    return odb_dtype_info(dtype)->bits > 0 && odb_dtype_bytes(dtype, count, &bytes) &&
           bytes == size;
}

static enum odb_status wire_get_dense(struct odb_tensor **out, struct odb_frame *frame,
                                      const Odb__Wire__Tensor *item, struct odb_error *err)
{
    const void *data;
    size_t size;
    int rank = (int)item->n_dims;
    enum odb_dtype dtype = (enum odb_dtype)item->dtype;
    ODB_TRY(odb_frame_blob(frame, item->data, &data, &size, err));
    if (!wire_fits(item, size))
        return odb_fail(err, ODB_E_FORMAT, "a tensor's bytes do not fit its shape");
    if (dtype != ODB_STRING) {
        if (item->data && item->data->attached)
            return odb_tensor_view(out, dtype, rank, item->dims, data, size, frame->storage, err);
        return odb_tensor_copy_of(out, dtype, rank, item->dims, data, err);
    }
    /* They are copied, so bytes that several tensors share count for each. */
    if (size > frame->message_size + frame->attachment_size - frame->strings)
        return odb_fail(err, ODB_E_FORMAT, "texts of more bytes than the message has");
    frame->strings += size;
    struct odb_tensor *t;
    ODB_TRY(odb_tensor_new(&t, dtype, rank, item->dims, err));
    enum odb_status status = wire_get_strings(t, data, size, err);
    if (status == ODB_OK)
        *out = t;
    else
        odb_tensor_unref(t);
    return status;
}

static enum odb_status wire_get(struct odb_tensor **out, struct odb_frame *frame,
                                Odb__Wire__Tensor *const *items, size_t n, size_t *at, int depth,
                                struct odb_error *err);

/* Only what is sparse has a shape of its own; keys, sparse values and indices are tensors. Code
 * that counts elements may then look at as many. */
static enum odb_status wire_check_parts(const struct odb_tensor *t, size_t n_dims,
                                        struct odb_error *err)
{
    static const char *const names[] = {[ODB_SEQUENCE] = "a sequence",
                                        [ODB_OPTIONAL] = "an optional",
                                        [ODB_SPARSE] = "a sparse tensor",
                                        [ODB_MAP] = "a map"};
    if (n_dims && t->kind != ODB_SPARSE)
        return odb_fail(err, ODB_E_FORMAT, "%s with a shape", names[t->kind]);
    size_t n = t->kind == ODB_SPARSE ? 2 : t->kind == ODB_MAP ? 1 : 0;
    for (size_t i = 0; i < n; i++)
        if (t->items[i]->kind != ODB_TENSOR)
            return odb_fail(err, ODB_E_FORMAT, "%s of what are no tensors", names[t->kind]);
    return ODB_OK;
}

static enum odb_status wire_get_container(struct odb_tensor **out, struct odb_frame *frame,
                                          Odb__Wire__Tensor *const *items, size_t n, size_t *at,
                                          int depth, struct odb_error *err)
{
    const Odb__Wire__Tensor *head = items[*at - 1];
    size_t n_parts = head->n_items, got = 0;
    if (n_parts > n - *at)
        return odb_fail(err, ODB_E_FORMAT, "parts of a tensor are missing");
    struct odb_tensor **parts = odb_new_n(struct odb_tensor *, n_parts + 1);
    struct odb_tensor *t = NULL;
    enum odb_status status = ODB_OK;
    for (; got < n_parts; got++)
        ODB_TRY_OUT(wire_get(&parts[got], frame, items, n, at, depth + 1, err));
    ODB_TRY_OUT(odb_tensor_new_container(&t, (enum odb_kind)head->kind, parts, n_parts, err));
    ODB_TRY_OUT(wire_check_parts(t, head->n_dims, err));
    t->dtype = (enum odb_dtype)head->dtype;
    t->rank = (int)head->n_dims;
    t->count = t->rank > 0 ? 1 : t->count;
    for (int i = 0; i < t->rank; i++) {
        t->dims[i] = head->dims[i];
        if (t->dims[i] < 0 || !odb_size_mul(t->count, (uint64_t)t->dims[i], &t->count)) {
            status = odb_fail(err, ODB_E_FORMAT, "a shape is out of range");
            goto out;
        }
    }
    *out = odb_tensor_ref(t);
out:
    odb_tensor_unref(t);
    for (size_t i = 0; i < got; i++)
        odb_tensor_unref(parts[i]);
    free(parts);
    return status;
}

static enum odb_status wire_get(struct odb_tensor **out, struct odb_frame *frame,
                                Odb__Wire__Tensor *const *items, size_t n, size_t *at, int depth,
                                struct odb_error *err)
{
    if (*at >= n)
        return odb_fail(err, ODB_E_FORMAT, "parts of a tensor are missing");
    const Odb__Wire__Tensor *item = items[(*at)++];
    *out = NULL;
    if (item->absent && depth == 0)
        return ODB_OK;
    if (depth > WIRE_DEPTH || item->kind > ODB_MAP || item->n_dims > ODB_MAX_RANK ||
        item->dtype >= ODB_DTYPE_COUNT)
        return odb_fail(err, ODB_E_FORMAT, "a tensor of kind %u, type %u and rank %zu", item->kind,
                        item->dtype, item->n_dims);
    if (item->kind != ODB_TENSOR)
        return wire_get_container(out, frame, items, n, at, depth, err);
    ODB_TRY(wire_get_dense(out, frame, item, err));
    odb_tensor_set_read_as(*out, item->read_as);
    if (odb_tensor_take_steps(*out, item->steps_axis, item->steps, item->n_steps))
        return ODB_OK;
    odb_tensor_unref(*out);
    *out = NULL;
    return odb_fail(err, ODB_E_FORMAT, "a tensor with %zu steps, which do not fit its shape",
                    item->n_steps);
}

enum odb_status odb_wire_get(struct odb_tensor **out, struct odb_frame *frame,
                             Odb__Wire__Tensor *const *items, size_t n, size_t *at,
                             struct odb_error *err)
{
    return wire_get(out, frame, items, n, at, 0, err);
}
