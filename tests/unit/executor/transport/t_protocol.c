/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executor/transport/protocol.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "system/file.h"
#include "tests/help/executor_help.h"

/* --- every kind of tensor, there and back ---------------------------------------------------- */

static struct odb_tensor *make_strings(void)
{
    struct odb_tensor *t;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_tensor_new(&t, ODB_STRING, 2, (int64_t[]){2, 2}, &err), &err);
    help_ok(odb_tensor_set_string(t, 0, "a\0b", 3, &err), &err);
    help_ok(odb_tensor_set_string(t, 3, "\xff\xfe", 2, &err), &err);
    return t;
}

static struct odb_tensor *make_container(enum odb_kind kind, struct odb_tensor *a,
                                         struct odb_tensor *b)
{
    struct odb_tensor *t, *items[] = {a, b};
    struct odb_error err = ODB_ERROR_INIT;
    size_t n = (size_t)(a != NULL) + (b != NULL);
    help_ok(odb_tensor_new_container(&t, kind, items, n, &err), &err);
    return t;
}

/* All in one list: it nests, it is empty, it is large. */
static size_t make_all(struct odb_tensor **list)
{
    struct odb_error err = ODB_ERROR_INIT;
    int64_t large = 100000;
    size_t n = 0;
    list[n++] = help_floats(2, 4, help_x);
    odb_tensor_set_steps(list[0], 1, (double[]){1, 2, 3, 0.5}, 4);
    list[n++] = make_strings();
    list[n++] = make_container(ODB_SEQUENCE, list[0], list[0]);
    list[n++] = make_container(ODB_SEQUENCE, NULL, NULL);
    list[n++] = make_container(ODB_OPTIONAL, list[2], NULL);
    list[n++] = make_container(ODB_OPTIONAL, NULL, NULL);
    list[n++] = make_container(ODB_MAP, list[1], list[0]);
    help_ok(odb_tensor_new(&list[n++], ODB_F64, 1, &large, &err), &err);
    for (int64_t i = 0; i < large; i++)
        ((double *)list[n - 1]->data)[i] = (double)i;
    list[n++] = make_container(ODB_SEQUENCE, list[7], list[1]);
    help_ok(odb_tensor_new(&list[n++], ODB_F32, 0, NULL, &err), &err);
    help_ok(odb_tensor_new(&list[n++], ODB_I4, 2, (int64_t[]){3, 0}, &err), &err);
    help_ok(odb_tensor_new(&list[n++], ODB_I4, 1, (int64_t[]){3}, &err), &err);
    list[n] = make_container(ODB_SPARSE, list[0], list[7]);
    list[n]->rank = 2;
    list[n]->dims[0] = 100;
    list[n]->dims[1] = 200;
    list[n]->count = 20000;
    return n + 1;
}

struct sender {
    struct odb_channel channel;
    struct odb_tensor **list;
    size_t n;
    enum odb_status status;
};

static void *send_values(void *arg)
{
    struct sender *s = arg;
    struct odb_wire_list list = {0};
    struct odb_parcel parcel = {0};
    Odb__Wire__Values values = ODB__WIRE__VALUES__INIT;
    s->status = ODB_OK;
    for (size_t i = 0; i < s->n && s->status == ODB_OK; i++)
        s->status = odb_wire_put(&list, &parcel, "name", s->list[i], false, NULL);
    values.outputs = list.items;
    values.n_outputs = list.n;
    if (s->status == ODB_OK)
        s->status = odb_channel_send(&s->channel, &values.base, &parcel, NULL);
    odb_wire_list_dispose(&list);
    odb_parcel_dispose(&parcel);
    return NULL;
}

static void round_trip(struct odb_channel from, struct odb_channel to)
{
    struct odb_tensor *list[32];
    struct sender sender = {.channel = from, .list = list, .n = make_all(list)};
    struct odb_frame frame;
    struct odb_error err = ODB_ERROR_INIT;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_values, &sender), 0);
    help_ok(odb_channel_receive(&to, &frame, &err), &err);
    pthread_join(thread, NULL);
    assert_int_equal(sender.status, ODB_OK);
    assert_true(frame.attachment_size >= 800000);
    Odb__Wire__Values *values = odb__wire__values__unpack(NULL, frame.message_size, frame.message);
    assert_non_null(values);
    size_t at = 0;
    for (size_t i = 0; i < sender.n; i++) {
        struct odb_tensor *t;
        assert_string_equal(values->outputs[at]->name, "name");
        help_ok(odb_wire_get(&t, &frame, values->outputs, values->n_outputs, &at, &err), &err);
        assert_true(odb_tensor_identical(t, list[i]));
        assert_int_equal(t->kind, list[i]->kind);
        assert_int_equal(t->count, list[i]->count);
        for (size_t k = 0; k < t->count && t->kind == ODB_TENSOR; k++)
            assert_true(odb_tensor_step(t, k) == odb_tensor_step(list[i], k));
        odb_tensor_unref(t);
    }
    assert_int_equal(at, values->n_outputs);
    odb__wire__values__free_unpacked(values, NULL);
    odb_frame_dispose(&frame);
    for (size_t i = 0; i < sender.n; i++)
        odb_tensor_unref(list[i]);
}

static void test_protocol__socket(void **state)
{
    int s[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    struct odb_channel a = {.in = s[0], .out = s[0], .local = true};
    struct odb_channel b = {.in = s[1], .out = s[1], .local = true};
    round_trip(a, b);
    round_trip(b, a);
    close(s[0]);
    struct odb_frame frame;
    struct odb_error err = ODB_ERROR_INIT;
    Odb__Wire__Done done = ODB__WIRE__DONE__INIT;
    assert_int_equal(odb_channel_receive(&b, &frame, &err), ODB_E_IO);
    assert_int_equal(odb_channel_send(&b, &done.base, NULL, &err), ODB_E_IO); /* no SIGPIPE */
    close(s[1]);
}

static void test_protocol__pipe(void **state)
{
    int p[2];
    assert_int_equal(pipe(p), 0);
    round_trip((struct odb_channel){.in = -1, .out = p[1]},
               (struct odb_channel){.in = p[0], .out = -1});
    close(p[0]);
    close(p[1]);
}

struct lender {
    struct odb_channel channel;
    unsigned char *bytes;
    size_t size;
    enum odb_status status;
};

/* Sends the bytes in three parts, the second one at no page's border, and spoils them at once. */
static void *lend(void *arg)
{
    struct lender *l = arg;
    Odb__Wire__Load load = ODB__WIRE__LOAD__INIT;
    Odb__Wire__Blob blobs[3];
    struct odb_parcel parcel = {0};
    size_t third = l->size / 3 - 1000;
    for (size_t i = 0; i < 3; i++)
        odb_parcel_add(&parcel, &blobs[i], l->bytes + i * third, third);
    l->status = odb_channel_send(&l->channel, &load.base, &parcel, NULL);
    memset(l->bytes, 0xee, l->size);
    odb_parcel_dispose(&parcel);
    return NULL;
}

/* One exchange of so many bytes; how many of them the receiver has on disk. */
static size_t lend_once(size_t size, struct odb_spill *aside)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct lender l = {.channel = {.in = ends[0], .out = ends[0], .local = true},
                       .bytes = malloc(size),
                       .size = size};
    struct odb_channel to = {.in = ends[1], .out = ends[1], .local = true, .aside = aside};
    struct odb_frame frame;
    struct odb_error err = ODB_ERROR_INIT;
    pthread_t thread;
    for (size_t i = 0; i < l.size; i++)
        l.bytes[i] = (unsigned char)(i * 31 + i / 4096);
    assert_int_equal(pthread_create(&thread, NULL, lend, &l), 0);
    help_ok(odb_channel_receive(&to, &frame, &err), &err);
    pthread_join(thread, NULL);
    assert_int_equal(l.status, ODB_OK);
    size_t third = size / 3 - 1000, bad = 0, on_disk = aside ? odb_spill_size(aside) : 0;
    for (size_t p = 0; p < 3; p++)
        for (size_t k = 0; k < third; k++) {
            size_t i = p * third + k;
            bad += frame.attachment[p * ((third + 63) / 64 * 64) + k] !=
                   (unsigned char)(i * 31 + i / 4096);
        }
    assert_int_equal(bad, 0);
    odb_frame_dispose(&frame);
    free(l.bytes);
    close(ends[0]);
    close(ends[1]);
    return on_disk;
}

/* Memory that was lent for sending is the sender's again when the call returns. */
static void test_protocol__lent_pages(void **state)
{
    static const size_t sizes[] = {300000, 3 << 20, 20 << 20};
    for (size_t s = 0; s < ODB_COUNT(sizes); s++)
        assert_int_equal(lend_once(sizes[s], NULL), 0);
}

/* What is large is on disk when it has come, where the receiver has a place for it, and goes with
 * its last owner. */
static void test_protocol__aside(void **state)
{
    struct odb_spill *aside = odb_spill_new(0);
    assert_int_equal(lend_once(300000, aside), 0);
    assert_true(lend_once(3 << 20, aside) >= (3 << 20) - 3000);
    assert_true(lend_once(20 << 20, aside) >= (20 << 20) - 3000);
    assert_int_equal(odb_spill_size(aside), 0);
    odb_spill_unref(aside);
}

/* A reader that closes the pipe is an error for the sender, and no signal. */
static void test_protocol__reader_gone(void **state)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct lender l = {.channel = {.in = ends[0], .out = ends[0], .local = true},
                       .bytes = calloc(1, 8 << 20),
                       .size = 8 << 20};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, lend, &l), 0);
    usleep(50 * 1000); /* the pipe is full by now; its other end goes with the socket */
    close(ends[1]);
    pthread_join(thread, NULL);
    assert_int_equal(l.status, ODB_E_IO);
    free(l.bytes);
    close(ends[0]);
}

/* An attachment that could shrink under its reader is refused. */
static void test_protocol__unsealed(void **state)
{
    int s[2];
    unsigned char head[24] = {'O', 'D', 'B', 'X', ODB_WIRE_VERSION, 0, 1, 0, [16] = 64};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    int fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, 64), 0);
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {.iov_base = head, .iov_len = sizeof head};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    assert_int_equal(sendmsg(s[0], &message, 0), sizeof head);
    struct odb_channel b = {.in = s[1], .out = s[1], .local = true};
    struct odb_frame frame;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_channel_receive(&b, &frame, &err), ODB_E_FORMAT);
    help_has_text(&err, "not sealed");
    close(fd);
    close(s[0]);
    close(s[1]);
}

/* --- the child on standard input and output, as behind ssh ------------------------------------ */

static Odb__Wire__Reply *ask(const struct odb_channel *channel, Odb__Wire__Request *request,
                             const struct odb_parcel *parcel, struct odb_frame *frame)
{
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_channel_send(channel, &request->base, parcel, &err), &err);
    help_ok(odb_channel_receive(channel, frame, &err), &err);
    Odb__Wire__Reply *reply = odb__wire__reply__unpack(NULL, frame->message_size, frame->message);
    assert_non_null(reply);
    if (reply->say_case == ODB__WIRE__REPLY__SAY_ERROR)
        fail_msg("%s", reply->error->what);
    return reply;
}

static pid_t start_serve(struct odb_channel *channel)
{
    int down[2], up[2];
    help_find_serve();
    assert_int_equal(pipe2(down, O_CLOEXEC), 0);
    assert_int_equal(pipe2(up, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        dup2(down[0], 0);
        dup2(up[1], 1);
        execl(getenv("ONNXDBG_SERVE"), "onnxdbg-serve", "cpu", (char *)NULL);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    *channel = (struct odb_channel){.in = up[0], .out = down[1]};
    return pid;
}

static void test_protocol__serve_on_stdio(void **state)
{
    struct odb_channel channel;
    pid_t pid = start_serve(&channel);
    struct odb_frame frame;
    struct odb_error err = ODB_ERROR_INIT;
    Odb__Wire__Request request = ODB__WIRE__REQUEST__INIT;
    Odb__Wire__Hello hello = ODB__WIRE__HELLO__INIT;
    Odb__Wire__Load load = ODB__WIRE__LOAD__INIT;
    Odb__Wire__Execute execute = ODB__WIRE__EXECUTE__INIT;
    Odb__Wire__Shutdown shutdown = ODB__WIRE__SHUTDOWN__INIT;
    Odb__Wire__Blob blob;

    request.say_case = ODB__WIRE__REQUEST__SAY_HELLO;
    request.hello = &hello;
    Odb__Wire__Reply *reply = ask(&channel, &request, NULL, &frame);
    assert_int_equal(reply->say_case, ODB__WIRE__REPLY__SAY_READY);
    assert_string_equal(reply->ready->version, ODB_VERSION);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);

    struct odb_parcel parcel = {0};
    struct odb_builder *b = odb_build_new("identity", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    int64_t n = 50000;
    odb_build_input(b, "x", ODB_F32, 1, &n);
    odb_build_node(b, "Identity", "i", "x", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, &n);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    odb_parcel_add(&parcel, &blob, bytes.data, bytes.len);
    load.model = &blob;
    load.dir = "/";
    request.say_case = ODB__WIRE__REQUEST__SAY_LOAD;
    request.load = &load;
    reply = ask(&channel, &request, &parcel, &frame);
    assert_int_equal(reply->say_case, ODB__WIRE__REPLY__SAY_DONE);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    odb_parcel_dispose(&parcel);
    odb_buf_dispose(&bytes);

    struct odb_wire_list list = {0};
    struct odb_tensor *x, *y;
    char *name = "y";
    size_t at = 0;
    help_ok(odb_tensor_new(&x, ODB_F32, 1, &n, &err), &err);
    ((float *)x->data)[n - 1] = 7;
    help_ok(odb_wire_put(&list, &parcel, "x", x, false, &err), &err);
    execute.inputs = list.items;
    execute.n_inputs = list.n;
    execute.outputs = &name;
    execute.n_outputs = 1;
    request.say_case = ODB__WIRE__REQUEST__SAY_EXECUTE;
    request.execute = &execute;
    reply = ask(&channel, &request, &parcel, &frame);
    assert_int_equal(reply->say_case, ODB__WIRE__REPLY__SAY_VALUES);
    help_ok(odb_wire_get(&y, &frame, reply->values->outputs, 1, &at, &err), &err);
    assert_true(odb_tensor_identical(x, y));
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    odb__wire__reply__free_unpacked(reply, NULL);
    odb_frame_dispose(&frame);
    odb_wire_list_dispose(&list);
    odb_parcel_dispose(&parcel);

    int how;
    request.say_case = ODB__WIRE__REQUEST__SAY_SHUTDOWN;
    request.shutdown = &shutdown;
    help_ok(odb_channel_send(&channel, &request.base, NULL, &err), &err);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    close(channel.in);
    close(channel.out);
}

/* --- tensors that a peer got wrong ------------------------------------------------------------ */

#define WRONG_MOST 3

/* A tensor with its parts, as they stand in a message; what is said of it. */
static const struct wrong {
    struct {
        uint32_t kind, dtype, n_items;
        size_t n_dims;
        int64_t dims[2];
    } items[WRONG_MOST];
    size_t n;
    const char *says;
} wrongs[] = {
    {{{ODB_TENSOR, ODB_F32, 0, 1, {4}}}, 1, "do not fit its shape"},
    {{{ODB_TENSOR, ODB_F32, 0, 1, {-1}}}, 1, "do not fit its shape"},
    {{{ODB_TENSOR, ODB_STRING, 0, 1, {1}}}, 1, "do not fit its shape"},
    {{{ODB_TENSOR, ODB_UNDEFINED, 0, 1, {0}}}, 1, "do not fit its shape"},
    {{{ODB_TENSOR, ODB_DTYPE_COUNT, 0, 0, {0}}}, 1, "of kind 0"},
    {{{ODB_MAP + 1, ODB_F32, 0, 0, {0}}}, 1, "of kind"},
    {{{ODB_SEQUENCE, ODB_F32, 2, 0, {0}}, {ODB_TENSOR, ODB_F32, 0, 1, {0}}}, 2, "are missing"},
    {{{ODB_OPTIONAL, ODB_F32, 2, 0, {0}},
      {ODB_TENSOR, ODB_F32, 0, 1, {0}},
      {ODB_TENSOR, ODB_F32, 0, 1, {0}}},
     3,
     "one item at most"},
    {{{ODB_MAP, ODB_I64, 1, 0, {0}}, {ODB_TENSOR, ODB_I64, 0, 1, {0}}}, 2, "two parts"},
    {{{ODB_SPARSE, ODB_F32, 2, 1, {-1}},
      {ODB_TENSOR, ODB_F32, 0, 1, {0}},
      {ODB_TENSOR, ODB_I64, 0, 1, {0}}},
     3,
     "a shape is out of range"},
    {{{ODB_SPARSE, ODB_F32, 2, 2, {INT64_MAX, INT64_MAX}},
      {ODB_TENSOR, ODB_F32, 0, 1, {0}},
      {ODB_TENSOR, ODB_I64, 0, 1, {0}}},
     3,
     "a shape is out of range"},
    {{{ODB_SPARSE, ODB_F32, 2, 1, {4}},
      {ODB_TENSOR, ODB_F32, 0, 1, {0}},
      {ODB_SEQUENCE, ODB_I64, 0, 0, {0}}},
     3,
     "no tensors"},
    {{{ODB_MAP, ODB_STRING, 2, 0, {0}},
      {ODB_SEQUENCE, ODB_STRING, 0, 1, {1000}}, /* of no keys, and of a thousand */
      {ODB_TENSOR, ODB_F32, 0, 1, {0}}},
     3,
     "a sequence with a shape"},
    {{{ODB_MAP, ODB_STRING, 2, 0, {0}},
      {ODB_SEQUENCE, ODB_STRING, 0, 0, {0}},
      {ODB_TENSOR, ODB_F32, 0, 1, {0}}},
     3,
     "no tensors"},
};

static void test_protocol__wrong_tensors(void **state)
{
    for (size_t i = 0; i < ODB_COUNT(wrongs); i++) {
        Odb__Wire__Tensor items[WRONG_MOST], *list[WRONG_MOST];
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_frame frame = {0};
        struct odb_tensor *t = NULL;
        size_t at = 0;
        for (size_t k = 0; k < wrongs[i].n; k++) {
            list[k] = &items[k];
            odb__wire__tensor__init(&items[k]);
            items[k].kind = wrongs[i].items[k].kind;
            items[k].dtype = wrongs[i].items[k].dtype;
            items[k].n_items = wrongs[i].items[k].n_items;
            items[k].n_dims = wrongs[i].items[k].n_dims;
            items[k].dims = (int64_t *)(uintptr_t)wrongs[i].items[k].dims;
        }
        enum odb_status status = odb_wire_get(&t, &frame, list, wrongs[i].n, &at, &err);
        if (status == ODB_OK || !strstr(err.what, wrongs[i].says))
            fail_msg("%zu: status %d, \"%s\" where \"%s\" was expected", i, (int)status, err.what,
                     wrongs[i].says);
        assert_null(t);
    }
}

/* Steps that no element or several would have, or that are none. */
static void test_protocol__wrong_steps(void **state)
{
    static const struct {
        uint32_t axis;
        double steps[3];
    } wrong[] = {{1, {1, 1, 1}}, {9, {1, 1, 1}}, {0, {1, 0, 1}}, {0, {1, NAN, 1}}, {0, {1, -1, 1}}};
    static unsigned char bytes[12];
    for (size_t i = 0; i <= ODB_COUNT(wrong); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_frame frame = {0};
        struct odb_tensor *t = NULL;
        Odb__Wire__Tensor item = ODB__WIRE__TENSOR__INIT, *list[] = {&item};
        Odb__Wire__Blob blob = ODB__WIRE__BLOB__INIT;
        double steps[3] = {1, 2, 3};
        size_t at = 0;
        if (i < ODB_COUNT(wrong))
            memcpy(steps, wrong[i].steps, sizeof steps);
        blob.inline_ = (ProtobufCBinaryData){.len = sizeof bytes, .data = bytes};
        item.dtype = ODB_F32;
        item.n_dims = 1;
        item.dims = (int64_t[]){3};
        item.data = &blob;
        item.n_steps = 3;
        item.steps = steps;
        item.steps_axis = i < ODB_COUNT(wrong) ? wrong[i].axis : 0;
        enum odb_status status = odb_wire_get(&t, &frame, list, 1, &at, &err);
        assert_int_equal(status, i < ODB_COUNT(wrong) ? ODB_E_FORMAT : ODB_OK);
        odb_tensor_unref(t);
    }
}

/* Texts are copied: tensors that show the same bytes must not be as many as they like. */
static void test_protocol__shared_texts(void **state)
{
    static unsigned char texts[4096]; /* a thousand empty ones */
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_frame frame = {.attachment = texts, .attachment_size = sizeof texts};
    Odb__Wire__Tensor items[2], *list[] = {&items[0], &items[1]};
    Odb__Wire__Blob blob;
    int64_t count = sizeof texts / 4;
    struct odb_tensor *t;
    size_t at = 0;
    odb__wire__blob__init(&blob);
    blob.attached = true;
    blob.size = sizeof texts;
    for (size_t k = 0; k < ODB_COUNT(items); k++) {
        odb__wire__tensor__init(&items[k]);
        items[k].dtype = ODB_STRING;
        items[k].n_dims = 1;
        items[k].dims = &count;
        items[k].data = &blob;
    }
    help_ok(odb_wire_get(&t, &frame, list, 2, &at, &err), &err);
    assert_int_equal(t->count, count);
    odb_tensor_unref(t);
    assert_int_equal(odb_wire_get(&t, &frame, list, 2, &at, &err), ODB_E_FORMAT);
    assert_non_null(strstr(err.what, "more bytes than the message has"));
}

int main(void)
{
    odb_file_fill_standard(); /* pipes are put on the numbers of those that a child has */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocol__socket),
        cmocka_unit_test(test_protocol__shared_texts),
        cmocka_unit_test(test_protocol__wrong_steps),
        cmocka_unit_test(test_protocol__pipe),
        cmocka_unit_test(test_protocol__lent_pages),
        cmocka_unit_test(test_protocol__aside),
        cmocka_unit_test(test_protocol__reader_gone),
        cmocka_unit_test(test_protocol__unsealed),
        cmocka_unit_test(test_protocol__serve_on_stdio),
        cmocka_unit_test(test_protocol__wrong_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
