/* SPDX-License-Identifier: MIT
 *
 * onnxdbg-serve SPEC: the child program. It answers requests (proto/executor.proto) on a socket
 * given by --fd, or on standard input and output, with the executor that SPEC names.
 *
 * Executors are foreign code: they print, they hang, they crash. So nothing but this file writes
 * to the connection (standard output is turned into standard error), and a thread watches for the
 * debugger's end, because the main thread may never come back from a call. PR_SET_PDEATHSIG would
 * not do: it fires when the thread that started us ends, which need not be the debugger's last.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "system/file.h"
#include "system/newer.h"
#include "base/mem.h"
#include "system/scratch.h"
#include "system/thread.h"
#include "executor/kept/cache.h"
#include "executor/executor.h"
#include "executor/transport/protocol.h"
#include "executor/programs/python.h"
#include "executor/transport/relay.h"

/* How long a call may take to come back once it is told to: less than the debugger waits. */
#define SERVE_GRACE_US (200 * 1000)
#define SERVE_RELAY_GRACE 5 /* seconds */

struct serve {
    const char *spec;    /* borrowed: argv */
    const char *scratch; /* borrowed: argv, cache; NULL: none */
    bool relays;
    struct odb_cache *cache; /* owned, for relays */
    struct odb_channel channel;
    uint64_t asked;                /* the number of the request that is being answered */
    struct odb_executor *executor; /* owned; NULL before hello */
    struct odb_executor *first;    /* owned: with the model that another was loaded beside; NULL */
    struct odb_error refused;      /* why there is no executor to be had; else empty */
    struct odb_executor *_Atomic busy; /* the one that is at work; NULL: none is */
    pthread_mutex_t leaving; /* for ever whose who puts things away: the thread that talks, at its
                                end, or the watch of a relay that is told to go; a target that is
                                closed by half would leave its files */
    atomic_bool ending;      /* SIGTERM came: nothing more is asked of the executor */
    pthread_mutex_t sending; /* for whose frame is under way: an answer or a sign of life */
    unsigned beat;           /* milliseconds between these; 0: none are wanted */
    /* inputs of the run before, which the debugger may refer to */
    struct odb_named *inputs; /* owned, with names and refs */
    size_t n_inputs;
};

static const char serve_usage[] =
    "usage: onnxdbg-serve [--fd=N] [--scratch=DIR] [--mem=BYTES] SPEC\n"
    "       onnxdbg-serve --relay\n"
    "\n"
    "Runs models with the executor SPEC for a debugger that speaks executor.proto on the socket\n"
    "N, or on standard input and output. onnxdbg starts it; there is no need to.\n"
    "\n"
    "  --fd=N         the connection is descriptor N, a socket within this machine\n"
    "  --scratch=DIR  a directory for temporary files, removed if the debugger dies\n"
    "  --mem=BYTES    how much memory it may take; 0: no limit\n"
    "  --relay        the far end of ssh or via: the spec comes with the first message\n"
    "  --help         this text\n"
    "  --version      the version, and the executors that can be had here\n";

/* --- the debugger's end ---------------------------------------------------------------------- */

/* The debugger is gone: so is everything that was started for it, for the process that speaks. */
static _Noreturn void serve_end_all(const struct serve *serve, pid_t speaker)
{
    signal(SIGTERM, SIG_IGN);
    bool leads = getpgrp() == speaker;
    if (leads)
        kill(0, SIGTERM);
    if (serve->scratch) {
        usleep(100 * 1000); /* for those who clean up after themselves */
        odb_scratch_remove(serve->scratch);
    }
    kill(leads ? 0 : speaker, SIGKILL);
    _exit(1);
}

static _Noreturn void serve_orphaned(const struct serve *serve)
{
    if (serve->relays) /* the other thread hears of it, too, and puts things away */
        sleep(SERVE_RELAY_GRACE);
    serve_end_all(serve, getpid());
}

/* Written by the handler of SIGTERM, which can hand nothing else over; read by the watch. */
static int serve_term[2] = {-1, -1};

static void serve_on_term(int signal)
{
    ssize_t n = write(serve_term[1], "", 1);
    (void)n; /* full: it was told before */
}

/* SIGTERM: a call that can be ended comes back and lets the executor put its things away. */
static void serve_terminated(struct serve *serve)
{
    atomic_store(&serve->ending, true);
    struct odb_executor *busy = atomic_load(&serve->busy);
    if (busy && odb_executor_cancel(busy))
        usleep(SERVE_GRACE_US);
    if (serve->relays) {
        pthread_mutex_lock(&serve->leaving);
        odb_scratch_remove(serve->scratch);
    }
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
}

static void *serve_watch(void *arg)
{
    struct serve *serve = arg;
    struct pollfd fds[2] = {{.fd = serve->channel.in, .events = POLLRDHUP},
                            {.fd = serve_term[0], .events = POLLIN}};
    for (;;) {
        int n = poll(fds, 2, -1);
        if (n > 0 && (fds[0].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)))
            serve_orphaned(serve);
        if (n > 0 && fds[1].revents)
            serve_terminated(serve);
    }
    return NULL;
}

static void serve_start_watch(struct serve *serve)
{
    pthread_t thread;
    if (odb_thread_start(&thread, serve_watch, serve))
        pthread_detach(thread);
}

/* --- another program in our place ------------------------------------------------------------ */

/* A process that waits for the end of the debugger, to end all that was started for it, or for the
 * end of the program that we are going to be. That program cannot be trusted with it: in Python, a
 * call that hangs may keep every thread from running. */
static void serve_watch_over_us(const struct serve *serve)
{
    pid_t speaker = getpid();
    int debugger = pidfd_open(getppid(), 0), us = pidfd_open(speaker, 0);
    if (debugger < 0 || us < 0 || fork() != 0) {
        close(debugger);
        close(us);
        return;
    }
    dup2(debugger, 0);
    dup2(us, 1);
    close_range(2, ~0U, 0); /* the connection above all: no other process may keep it open */
    struct pollfd ends[] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLIN}};
    while (poll(ends, 2, -1) < 0)
        ;
    if (!ends[1].revents)
        serve_end_all(serve, speaker);
    _exit(0);
}

/* Becomes the program that answers for the spec. Comes back only if that cannot be had. */
static void serve_become(struct serve *serve)
{
    struct odb_error *err = &serve->refused;
    struct odb_argv argv = {0};
    if (odb_python_args(&argv, serve->spec, serve->channel.in, serve->scratch, err) == ODB_OK) {
        serve_watch_over_us(serve);
        odb_python_environ(serve->spec);
        odb_push(&argv.list, NULL);
        execvp(argv.list.items[0], argv.list.items);
        odb_fail(err, ODB_E_EXECUTOR, "'%s' cannot be started: %s", argv.list.items[0],
                 strerror(errno));
        odb_error_remedy(err, "install python3, or name one in ONNXDBG_PYTHON");
    }
    odb_argv_dispose(&argv);
}

/* --- answers --------------------------------------------------------------------------------- */

static enum odb_status serve_reply(struct serve *serve, Odb__Wire__Reply *reply,
                                   const struct odb_parcel *parcel, struct odb_error *err)
{
    reply->id = serve->asked;
    pthread_mutex_lock(&serve->sending);
    enum odb_status status = odb_channel_send(&serve->channel, &reply->base, parcel, err);
    pthread_mutex_unlock(&serve->sending);
    return status;
}

/* Signs of life, until the connection is of no more use. An answer under way is one, and where the
 * pipe has no room the debugger does not listen. */
static void *serve_beats(void *arg)
{
    struct serve *serve = arg;
    for (enum odb_status status = ODB_OK; status == ODB_OK;) {
        Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
        Odb__Wire__Beat beat = ODB__WIRE__BEAT__INIT;
        struct pollfd out = {.fd = serve->channel.out, .events = POLLOUT};
        poll(NULL, 0, (int)serve->beat);
        reply.say_case = ODB__WIRE__REPLY__SAY_BEAT;
        reply.beat = &beat;
        if (pthread_mutex_trylock(&serve->sending) != 0)
            continue;
        if (poll(&out, 1, 0) > 0 && out.revents == POLLOUT)
            status = odb_channel_send(&serve->channel, &reply.base, NULL, NULL);
        pthread_mutex_unlock(&serve->sending);
    }
    return NULL;
}

static void serve_start_beats(struct serve *serve, unsigned beat)
{
    pthread_t thread;
    if (!serve->relays || !beat || serve->beat)
        return;
    serve->beat = beat > INT_MAX ? INT_MAX : beat;
    if (odb_thread_start(&thread, serve_beats, serve))
        pthread_detach(thread);
    else
        serve->beat = 0;
}

static enum odb_status serve_no(struct serve *serve, const struct odb_error *why,
                                struct odb_error *err)
{
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    Odb__Wire__Error no = ODB__WIRE__ERROR__INIT;
    no.code = why->code;
    no.where = (char *)why->where;
    no.what = (char *)why->what;
    no.remedy = (char *)why->remedy;
    struct odb_buf words = ODB_BUF_INIT;
    if (serve->relays && serve->executor)
        odb_target_words(odb_relay_target(serve->executor), &words);
    no.words.data = (uint8_t *)words.data;
    no.words.len = words.len;
    reply.say_case = ODB__WIRE__REPLY__SAY_ERROR;
    reply.error = &no;
    enum odb_status status = serve_reply(serve, &reply, NULL, err);
    odb_buf_dispose(&words);
    return status;
}

static enum odb_status serve_done(struct serve *serve, struct odb_error *err)
{
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    Odb__Wire__Done done = ODB__WIRE__DONE__INIT;
    reply.say_case = ODB__WIRE__REPLY__SAY_DONE;
    reply.done = &done;
    return serve_reply(serve, &reply, NULL, err);
}

/* Asked by a relay while its target is at work. */
static bool serve_is_alone(void *payload)
{
    const struct serve *serve = payload;
    struct pollfd fd = {.fd = serve->channel.in, .events = POLLRDHUP};
    return poll(&fd, 1, 0) > 0;
}

static enum odb_status serve_open(struct serve *serve, const char *spec, struct odb_error *err)
{
    if (serve->executor)
        return ODB_OK;
    if (serve->relays)
        return odb_relay_open(&serve->executor, spec, serve_is_alone, serve, err);
    return odb_executor_open(&serve->executor, serve->spec, err);
}

static enum odb_status serve_hello(struct serve *serve, const Odb__Wire__Hello *hello,
                                   struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    Odb__Wire__Ready ready = ODB__WIRE__READY__INIT;
    struct odb_buf can = ODB_BUF_INIT;
    char text[1024];
    if (serve->refused.what[0])
        return serve_no(serve, &serve->refused, err);
    serve_start_beats(serve, hello->beat);
    if (serve_open(serve, hello->spec, &why) != ODB_OK)
        return serve_no(serve, &why, err);
    if (serve->executor->ops->cancel || serve->relays)
        sigaction(SIGTERM, &(struct sigaction){.sa_handler = serve_on_term, .sa_flags = SA_RESTART},
                  NULL);
    odb_executor_describe(serve->executor, text, sizeof text);
    ready.version = ODB_VERSION;
    ready.description = text;
    ready.beats = serve->beat > 0;
    ready.beside = !serve->relays && odb_executor_beside(serve->executor);
    odb_executor_capabilities(serve->executor, &can);
    ready.capabilities = (char *)odb_buf_text(&can);
    reply.say_case = ODB__WIRE__REPLY__SAY_READY;
    reply.ready = &ready;
    enum odb_status status = serve_reply(serve, &reply, NULL, err);
    odb_buf_dispose(&can);
    return status;
}

/* Another executor for what is loaded now, if the model of this one is to stay. */
static enum odb_status serve_make_room(struct serve *serve, bool beside, struct odb_error *err)
{
    if (!beside) {
        odb_executor_close(serve->first);
        serve->first = NULL;
    } else if (!serve->first) {
        struct odb_executor *fresh;
        if (!odb_executor_beside(serve->executor))
            return odb_fail(err, ODB_E_EXECUTOR, "it holds one model at a time");
        ODB_TRY(odb_executor_open(&fresh, serve->spec, err));
        serve->first = serve->executor;
        serve->executor = fresh;
    }
    return ODB_OK;
}

static enum odb_status serve_load(struct serve *serve, const struct odb_frame *frame,
                                  const Odb__Wire__Load *message, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_load load = {
        .dir = serve->relays ? odb_cache_dir(serve->cache) : message->dir,
        .path = serve->relays || !message->path[0] ? NULL : message->path,
        .node_index = message->node_index,
        .n_nodes = message->n_node_index,
        .original_outputs = (const char *const *)message->original_outputs,
        .n_original_outputs = message->n_original_outputs,
        .account = message->account,
    };
    ODB_TRY(odb_frame_blob(frame, message->model, &load.bytes, &load.size, err));
    load.keep = message->model && message->model->attached ? frame->storage : NULL;
    for (size_t i = 0; serve->relays && i < message->n_files; i++)
        if (odb_cache_place(serve->cache, message->files[i]->key, message->files[i]->path, &why) !=
            ODB_OK)
            return serve_no(serve, &why, err);
    if (chdir(load.dir) < 0) {
        odb_fail(&why, ODB_E_IO, "cannot go there: %s", strerror(errno));
        odb_error_at(&why, "%s", load.dir);
        return serve_no(serve, &why, err);
    }
    if (serve_make_room(serve, message->beside, &why) != ODB_OK)
        return serve_no(serve, &why, err);
    atomic_store(&serve->busy, serve->executor);
    enum odb_status status = odb_executor_load(serve->executor, &load, &why);
    atomic_store(&serve->busy, NULL);
    if (status != ODB_OK)
        return serve_no(serve, &why, err);
    return serve_done(serve, err);
}

static enum odb_status serve_have(struct serve *serve, const Odb__Wire__Have *message,
                                  struct odb_error *err)
{
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    Odb__Wire__Need need = ODB__WIRE__NEED__INIT;
    need.keys = odb_new_n(char *, message->n_keys);
    for (size_t i = 0; i < message->n_keys; i++)
        if (!odb_cache_has(serve->cache, message->keys[i]))
            need.keys[need.n_keys++] = message->keys[i];
    reply.say_case = ODB__WIRE__REPLY__SAY_NEED;
    reply.need = &need;
    enum odb_status status = serve_reply(serve, &reply, NULL, err);
    free(need.keys);
    return status;
}

static enum odb_status serve_put(struct serve *serve, const struct odb_frame *frame,
                                 const Odb__Wire__Put *message, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    const void *data;
    size_t size;
    ODB_TRY(odb_frame_blob(frame, message->data, &data, &size, err));
    if (odb_cache_put(serve->cache, message->key, message->offset, message->whole, data, size,
                      &why) != ODB_OK)
        return serve_no(serve, &why, err);
    return serve_done(serve, err);
}

static void serve_free_inputs(struct odb_named *inputs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)inputs[i].name);
        odb_tensor_unref((struct odb_tensor *)inputs[i].tensor);
    }
    free(inputs);
}

static enum odb_status serve_input(const struct serve *serve, struct odb_frame *frame,
                                   const Odb__Wire__Execute *message, size_t *at,
                                   struct odb_named *input, struct odb_error *err)
{
    const Odb__Wire__Tensor *head = message->inputs[*at];
    struct odb_tensor *t = NULL;
    if (head->same) {
        ++*at;
        for (size_t i = 0; i < serve->n_inputs && !t; i++)
            if (!strcmp(serve->inputs[i].name, head->name))
                t = odb_tensor_ref(serve->inputs[i].tensor);
        if (!t)
            return odb_fail(err, ODB_E_FORMAT, "there was no input '%s' before", head->name);
    } else {
        ODB_TRY(odb_wire_get(&t, frame, message->inputs, message->n_inputs, at, err));
    }
    input->name = odb_xstrdup(head->name);
    input->tensor = t;
    return ODB_OK;
}

/* Takes the inputs of a request over, in place of those of the one before. */
static enum odb_status serve_inputs(struct serve *serve, struct odb_frame *frame,
                                    const Odb__Wire__Execute *message, struct odb_error *err)
{
    struct odb_named *inputs = odb_new_n(struct odb_named, message->n_inputs + 1);
    enum odb_status status = ODB_OK;
    size_t n = 0;
    for (size_t at = 0; at < message->n_inputs && status == ODB_OK;)
        if ((status = serve_input(serve, frame, message, &at, &inputs[n], err)) == ODB_OK)
            n++;
    if (status != ODB_OK) {
        serve_free_inputs(inputs, n);
        return status;
    }
    serve_free_inputs(serve->inputs, serve->n_inputs);
    serve->inputs = inputs;
    serve->n_inputs = n;
    return ODB_OK;
}

/* How long the nodes took in the run before, in one block that list points into; both are the
 * caller's to free. Returns how many. */
static size_t serve_times(struct odb_executor *ran, Odb__Wire__Took **block,
                          Odb__Wire__Took ***list)
{
    struct odb_times times = {0};
    odb_executor_times(ran, &times);
    size_t n = times.list.n;
    *block = odb_new_n(Odb__Wire__Took, n + 1);
    *list = odb_new_n(Odb__Wire__Took *, n + 1);
    for (size_t i = 0; i < n; i++) {
        odb__wire__took__init((*list)[i] = &(*block)[i]);
        (*block)[i].node = times.list.items[i].node;
        (*block)[i].seconds = times.list.items[i].seconds;
    }
    free(times.list.items);
    return n;
}

static enum odb_status serve_values(struct serve *serve, struct odb_executor *ran,
                                    struct odb_tensor *const *outputs, size_t n,
                                    struct odb_error *err)
{
    struct odb_wire_list list = {0};
    struct odb_parcel parcel = {0};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        status = odb_wire_put(&list, &parcel, "", outputs[i], false, &why);
    if (status == ODB_OK) {
        Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
        Odb__Wire__Values values = ODB__WIRE__VALUES__INIT;
        Odb__Wire__Took *took;
        values.outputs = list.items;
        values.n_outputs = list.n;
        values.n_times = serve_times(ran, &took, &values.times);
        reply.say_case = ODB__WIRE__REPLY__SAY_VALUES;
        reply.values = &values;
        status = serve_reply(serve, &reply, &parcel, err);
        free(values.times);
        free(took);
    } else {
        status = serve_no(serve, &why, err);
    }
    odb_wire_list_dispose(&list);
    odb_parcel_dispose(&parcel);
    return status;
}

static enum odb_status serve_execute(struct serve *serve, struct odb_frame *frame,
                                     const Odb__Wire__Execute *message, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    size_t n = message->n_outputs;
    struct odb_executor *asked = message->first ? serve->first : serve->executor;
    if (!asked)
        return odb_fail(err, ODB_E_FORMAT, "no model was loaded beside another");
    ODB_TRY(serve_inputs(serve, frame, message, err));
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n + 1);
    atomic_store(&serve->busy, asked);
    enum odb_status status =
        odb_executor_run(asked, serve->inputs, serve->n_inputs,
                         (const char *const *)message->outputs, n, outputs, &why);
    atomic_store(&serve->busy, NULL);
    if (status != ODB_OK)
        status = serve_no(serve, &why, err);
    else
        status = serve_values(serve, asked, outputs, n, err);
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(outputs[i]);
    free(outputs);
    return status;
}

static enum odb_status serve_tell(struct serve *serve, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct odb_parcel parcel = {0};
    Odb__Wire__Reply reply = ODB__WIRE__REPLY__INIT;
    Odb__Wire__Account message = ODB__WIRE__ACCOUNT__INIT;
    Odb__Wire__Blob text, groups;
    enum odb_status status = odb_executor_account(serve->executor, &account, &why);
    size_t n = account.places.n;
    Odb__Wire__Placement *places = odb_new_n(Odb__Wire__Placement, n + 1);
    Odb__Wire__Placement **list = odb_new_n(Odb__Wire__Placement *, n + 1);
    for (size_t i = 0; i < n; i++) {
        odb__wire__placement__init(list[i] = &places[i]);
        places[i].node = account.places.items[i].node;
        places[i].op_type = account.places.items[i].op_type;
        places[i].where = account.places.items[i].where;
    }
    odb_parcel_add(&parcel, &text, odb_buf_text(&account.text), account.text.len);
    odb_parcel_add(&parcel, &groups, odb_buf_text(&account.groups), account.groups.len);
    message.text = &text;
    message.groups = &groups;
    message.places = list;
    message.n_places = n;
    message.notes = account.notes.items;
    message.n_notes = account.notes.n;
    reply.say_case = ODB__WIRE__REPLY__SAY_ACCOUNT;
    reply.account = &message;
    status =
        status == ODB_OK ? serve_reply(serve, &reply, &parcel, err) : serve_no(serve, &why, err);
    odb_parcel_dispose(&parcel);
    odb_account_dispose(&account);
    free(places);
    free(list);
    return status;
}

/* --- the conversation ------------------------------------------------------------------------ */

/* One request. Sets *over when there is to be no other. An error is a connection that is of no
 * more use; what an executor refuses is an answer. */
static enum odb_status serve_request(struct serve *serve, bool *over, struct odb_error *err)
{
    struct odb_frame frame;
    ODB_TRY(odb_channel_receive(&serve->channel, &frame, err));
    Odb__Wire__Request *request =
        (Odb__Wire__Request *)odb_frame_unpack(&frame, &odb__wire__request__descriptor);
    int say = request ? (int)request->say_case : ODB__WIRE__REQUEST__SAY__NOT_SET;
    serve->asked = request ? request->id : 0;
    enum odb_status status = ODB_OK;
    if (say == ODB__WIRE__REQUEST__SAY_HELLO)
        status = serve_hello(serve, request->hello, err);
    else if (say == ODB__WIRE__REQUEST__SAY_LOAD && serve->executor)
        status = serve_load(serve, &frame, request->load, err);
    else if (say == ODB__WIRE__REQUEST__SAY_EXECUTE && serve->executor)
        status = serve_execute(serve, &frame, request->execute, err);
    else if (say == ODB__WIRE__REQUEST__SAY_TELL && serve->executor)
        status = serve_tell(serve, err);
    else if (say == ODB__WIRE__REQUEST__SAY_HAVE && serve->cache)
        status = serve_have(serve, request->have, err);
    else if (say == ODB__WIRE__REQUEST__SAY_PUT && serve->cache)
        status = serve_put(serve, &frame, request->put, err);
    else if (say == ODB__WIRE__REQUEST__SAY_SHUTDOWN)
        *over = true;
    else
        status = odb_fail(err, ODB_E_FORMAT, "what came is no request");
    if (request)
        odb__wire__request__free_unpacked(request, NULL);
    odb_frame_dispose(&frame);
    return status;
}

static int serve_talk(struct serve *serve)
{
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    char text[2048];
    for (bool over = false; !over && status == ODB_OK && !atomic_load(&serve->ending);)
        status = serve_request(serve, &over, &err);
    if (status == ODB_E_IO && serve->channel.local)
        serve_orphaned(serve);
    if (status == ODB_E_FORMAT) /* perhaps it understands what it is told */
        serve_no(serve, &err, NULL);
    pthread_mutex_lock(&serve->leaving);
    odb_executor_close(serve->first);
    odb_executor_close(serve->executor);
    odb_cache_close(serve->cache);
    serve_free_inputs(serve->inputs, serve->n_inputs);
    if (serve->scratch && !serve->relays) /* the debugger may be gone before it comes to that */
        odb_scratch_remove(serve->scratch);
    if (status == ODB_OK || status == ODB_E_IO)
        return 0;
    fprintf(stderr, "onnxdbg-serve: %s\n", odb_error_text(&err, text, sizeof text));
    return 2;
}

/* Standard input and output become the connection, out of everybody's reach. */
static int serve_take_stdio(struct odb_channel *channel)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    channel->in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    channel->out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (null < 0 || channel->in < 0 || channel->out < 0 || dup2(null, 0) < 0)
        return -1;
    close(null);
    return 0;
}

/* For this process and all that it starts. Data rather than address space, which threads, arenas
 * and mapped models reserve by the gigabyte and never touch. */
static void serve_limit(uint64_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    if (bytes == 0)
        return;
    if (setrlimit(RLIMIT_DATA, &limit) < 0)
        fprintf(stderr, "onnxdbg-serve: memory cannot be limited: %s\n", strerror(errno));
}

/* The target that we hand on to is a child of this very program; a debugger that is gone is an
 * error of writing, not a signal. */
static enum odb_status serve_become_relay(struct serve *serve, struct odb_error *err)
{
    char *self = odb_file_self();
    if (self)
        setenv("ONNXDBG_SERVE", self, 0);
    free(self);
    signal(SIGPIPE, SIG_IGN);
    ODB_TRY(odb_cache_open(&serve->cache, err));
    serve->scratch = odb_cache_scratch(serve->cache);
    return ODB_OK;
}

static int serve_version(void)
{
    size_t n;
    const struct odb_executor_ops *const *list = odb_executor_list(&n);
    printf("onnxdbg-serve %s\n", ODB_VERSION);
    for (size_t i = 0; i < n; i++) {
        char why[512];
        odb_executor_available(list[i], NULL, why, sizeof why);
        printf("  %-10s %s%s\n", list[i]->kind, why[0] ? "not here: " : list[i]->help, why);
    }
    return 0;
}

/* What came for the debugger's group, when this process had not left it yet, is forgotten. */
static void serve_forget_stops(void)
{
    static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ODB_COUNT(stops); i++) {
        signal(stops[i], SIG_IGN);
        signal(stops[i], SIG_DFL);
        sigaddset(&set, stops[i]);
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
    struct serve serve = {.channel = {.in = -1, .out = -1},
                          .leaving = PTHREAD_MUTEX_INITIALIZER,
                          .sending = PTHREAD_MUTEX_INITIALIZER};
    struct odb_error err = ODB_ERROR_INIT;
    char text[2048];
    int i = 1;
    odb_file_fill_standard();
    serve_forget_stops();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write(2) */
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (!strcmp(argv[i], "--")) {
            i++;
            break;
        } else if (!strncmp(argv[i], "--fd=", 5)) {
            serve.channel.in = serve.channel.out = (int)strtol(argv[i] + 5, NULL, 10);
            serve.channel.local = true;
        } else if (!strncmp(argv[i], "--scratch=", 10)) {
            serve.scratch = argv[i] + 10;
        } else if (!strncmp(argv[i], "--mem=", 6)) {
            serve_limit(strtoull(argv[i] + 6, NULL, 10));
        } else if (!strcmp(argv[i], "--relay")) {
            serve.relays = true;
        } else if (!strcmp(argv[i], "--version")) {
            return serve_version();
        } else {
            bool asked = !strcmp(argv[i], "--help");
            fputs(serve_usage, asked ? stdout : stderr);
            return asked ? 0 : 2;
        }
    }
    if (i + !serve.relays != argc) {
        fputs(serve_usage, stderr);
        return 2;
    }
    serve.spec = serve.relays ? "" : argv[i];
    if (serve.scratch)
        setenv("TMPDIR", serve.scratch, 1);
    if (odb_python_hosts(serve.spec))
        serve_become(&serve);
    if (serve.channel.local ? fcntl(serve.channel.in, F_SETFD, FD_CLOEXEC) < 0
                            : serve_take_stdio(&serve.channel) < 0) {
        fprintf(stderr, "onnxdbg-serve: the connection cannot be had: %s\n", strerror(errno));
        return 2;
    }
    dup2(2, 1);
    setvbuf(stdout, NULL, _IONBF, 0); /* a crash must not take its last words with it */
    if (pipe2(serve_term, O_CLOEXEC | O_NONBLOCK) < 0) {
        fprintf(stderr, "onnxdbg-serve: no pipe: %s\n", strerror(errno));
        return 2;
    }
    if (serve.relays && serve_become_relay(&serve, &err) != ODB_OK) {
        fprintf(stderr, "onnxdbg-serve: %s\n", odb_error_text(&err, text, sizeof text));
        return 2;
    }
    serve_start_watch(&serve);
    return serve_talk(&serve);
}
