/* SPDX-License-Identifier: MIT
 *
 * Models and tensors go as files in a directory of their own (exchange.h), what is to be done with
 * them as lines (talk.h). Files have absolute paths in requests, because the program stays where
 * it was started while directories change.
 */
#include "executor/programs/server.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/programs/can.h"
#include "executor/programs/exchange.h"
#include "executor/programs/made.h"
#include "executor/programs/talk.h"

#define SERVER_SHOWN 600 /* bytes of the program's own words in a message */

struct server {
    struct odb_argv words; /* the program and its arguments */
    char *dir;             /* owned: where it runs */
    struct odb_exchange files;
    struct odb_talk talk;
    struct odb_made made; /* zero: it does not compile */
    json_t *can;          /* owned: its answer to "capabilities"; NULL: it has none to give */
    bool loaded;          /* it runs, and has the last model */
    bool told;            /* that it prints what is no answer */
};

/* --- questions and answers ------------------------------------------------------------------- */

/* A text of an answer, shown safely; "": it has none. The caller disposes of it. */
static struct odb_buf server_text(const json_t *answer, const char *key)
{
    struct odb_buf out = ODB_BUF_INIT;
    const char *text = json_string_value(json_object_get(answer, key));
    char *cut = odb_xstrndup(text ? text : "", SERVER_SHOWN);
    for (char *p = cut; *p; p++)
        if (strchr("\r\n\t", *p))
            *p = ' ';
    odb_buf_put_shown(&out, cut);
    free(cut);
    return out;
}

/* An answer with "ok" false, as an error. */
static enum odb_status server_refused(const json_t *answer, const char *doing,
                                      struct odb_error *err)
{
    struct odb_buf text = server_text(answer, "error"), node = server_text(answer, "node");
    const char *kind = json_string_value(json_object_get(answer, "kind"));
    bool lacks = kind && !strcmp(kind, "unsupported"), fails = kind && !strcmp(kind, "failed");
    enum odb_status code = lacks ? ODB_UNSUPPORTED : ODB_E_EXECUTOR;
    if (text.len)
        odb_fail(err, code, "%s%s", fails ? "it failed: " : "", odb_buf_text(&text));
    else
        odb_fail(err, code, "%s while %s, and did not say why", fails ? "it failed" : "it refused",
                 doing);
    if (node.len)
        odb_error_at(err, "node %s", odb_buf_text(&node));
    odb_buf_dispose(&text);
    odb_buf_dispose(&node);
    return code;
}

/* Puts a question, and takes it over; *answer, the caller's to json_decref(), says "ok": true. */
static enum odb_status server_ask_take(struct server *s, json_t *take, const char *doing,
                                       json_t **answer, struct odb_error *err)
{
    char *line = take ? json_dumps(take, JSON_COMPACT) : NULL;
    enum odb_status status = ODB_E_USAGE;
    *answer = NULL;
    if (line)
        status = odb_talk_ask(&s->talk, line, doing, answer, err);
    else
        odb_fail(err, status, "the path of a directory is not UTF-8, and JSON cannot hold it");
    json_decref(take);
    free(line);
    if (status == ODB_OK && !json_is_true(json_object_get(*answer, "ok"))) {
        status = server_refused(*answer, doing, err);
        json_decref(*answer);
        *answer = NULL;
    }
    return status;
}

/* --- its life -------------------------------------------------------------------------------- */

static bool server_knows_nothing(enum odb_status status)
{
    return status == ODB_E_EXECUTOR || status == ODB_UNSUPPORTED;
}

/* Starts it and asks what it can do; it is no failure that it cannot say so. */
static enum odb_status server_start(struct server *s, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    ODB_TRY(odb_talk_start(&s->talk, err));
    json_decref(s->can);
    enum odb_status status =
        server_ask_take(s, json_pack("{s:s}", "do", "capabilities"), "it started", &s->can, &why);
    if (status == ODB_OK || (server_knows_nothing(status) && odb_talk_running(&s->talk)))
        return ODB_OK;
    *err = why;
    if (status == ODB_E_CRASH)
        odb_error_remedy(err, "a program that cannot say what it can do answers {\"ok\": false}");
    return status;
}

enum odb_status odb_server_open_take(void **out, struct odb_argv *take, const char *keep,
                                     const char *cache, struct odb_error *err)
{
    struct server *s = odb_new(struct server);
    s->words = *take;
    *take = (struct odb_argv){0};
    s->dir = getcwd(NULL, 0);
    odb_exchange_init(&s->files, keep, "the request");
    odb_talk_init(&s->talk, &s->words, s->dir);
    enum odb_status status = server_start(s, err);
    if (status == ODB_OK && odb_can_verb(s->can, "compile"))
        status = odb_made_init(&s->made, cache, err);
    if (status == ODB_OK)
        *out = s;
    else
        odb_server_release(s);
    return status;
}

void odb_server_release(void *self)
{
    struct server *s = self;
    odb_talk_dispose(&s->talk, "{\"do\":\"end\"}");
    odb_exchange_dispose(&s->files);
    odb_made_dispose(&s->made);
    odb_argv_dispose(&s->words);
    json_decref(s->can);
    free(s->dir);
    free(s);
}

bool odb_server_cancel(void *self)
{
    struct server *s = self;
    odb_talk_cancel(&s->talk);
    return true;
}

void odb_server_describe(void *self, char *text, size_t size)
{
    const struct server *s = self;
    struct odb_buf version = server_text(s->can, "version");
    if (version.len)
        snprintf(text, size, "%s", odb_buf_text(&version));
    else
        snprintf(text, size, "program %s", s->words.list.items[0]);
    odb_buf_dispose(&version);
}

void odb_server_capabilities(void *self, struct odb_buf *options)
{
    const struct server *s = self;
    odb_can_put(s->can, options);
}

enum odb_status odb_server_account(void *self, struct odb_account *account, struct odb_error *err)
{
    struct server *s = self;
    if (s->talk.noise && !s->told)
        odb_account_note(account, "%s", s->talk.noise);
    s->told = s->talk.noise != NULL;
    return odb_exchange_account(&s->files, account, err);
}

/* --- models ---------------------------------------------------------------------------------- */

/* Where a file of the exchange is; the caller frees it. */
static char *server_path(const struct server *s, const char *file)
{
    return odb_xasprintf("%s/%s", odb_place_dir(s->files.place), file);
}

/* Puts the model into its directory. *compiled, what the program is told of that: true, false, or
 * NULL for one that does not compile; the caller's. */
static enum odb_status server_place_model(struct server *s, const struct odb_load *load,
                                          json_t **compiled, struct odb_error *err)
{
    bool found;
    *compiled = NULL;
    if (!s->made.compiled)
        return odb_exchange_load(&s->files, load, err);
    char *says = odb_can_text(s->can);
    enum odb_status status =
        odb_made_place(&s->made, &s->files, load, &s->words, says, &found, err);
    free(says);
    if (status == ODB_OK)
        *compiled = json_boolean(found);
    return status;
}

enum odb_status odb_server_load(void *self, const struct odb_load *load, struct odb_error *err)
{
    struct server *s = self;
    json_t *answer, *compiled;
    s->loaded = false;
    if (!odb_talk_running(&s->talk))
        ODB_TRY(server_start(s, err));
    ODB_TRY(server_place_model(s, load, &compiled, err));
    bool make = json_is_false(compiled);
    char *path = server_path(s, "model.onnx");
    json_t *request =
        json_pack("{s:s,s:s,s:o*}", "do", "load", "model", path, "compiled", compiled);
    free(path);
    ODB_TRY(server_ask_take(s, request, "it loaded the model", &answer, err));
    json_decref(answer);
    if (make)
        odb_made_keep(&s->made, &s->files);
    s->loaded = true;
    return ODB_OK;
}

/* Files by their paths from anywhere. */
static void server_put_paths(const struct server *s, json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        char *path = server_path(s, json_string_value(json_object_get(item, "file")));
        json_object_set_new(item, "file", json_string(path));
        free(path);
    }
}

/* What an answer lists of outputs, by their names; NULL: it is no list of them, and err says so.
 * The caller's to json_decref(). */
static json_t *server_listed(const json_t *answer, struct odb_error *err)
{
    size_t i;
    const json_t *list = json_object_get(answer, "outputs");
    json_t *item, *listed = json_object();
    bool right = !list || json_is_null(list) || json_is_array(list);
    json_array_foreach(list, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        const json_t *file = json_object_get(item, "file");
        right = right && name && (json_is_string(file) || json_is_null(file));
        if (name)
            json_object_set(listed, name, item);
    }
    if (right)
        return listed;
    odb_fail(err, ODB_E_EXECUTOR, "its list of outputs has something that is no output");
    odb_error_remedy(err, "an output is {\"name\": TEXT, \"file\": TEXT}, and the file of one that "
                          "cannot be read is null");
    json_decref(listed);
    return NULL;
}

/* out: what the request says of the outputs. What the answer does not list is where that says. */
static enum odb_status server_read(const struct server *s, const json_t *answer, const json_t *out,
                                   const char *const *names, size_t n_outputs,
                                   struct odb_tensor **outputs, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    json_t *listed = server_listed(answer, err);
    if (!listed)
        return ODB_E_EXECUTOR;
    for (size_t i = 0; i < n_outputs && status == ODB_OK; i++) {
        const json_t *asked = json_array_get(out, i);
        const json_t *item =
            json_object_get(listed, json_string_value(json_object_get(asked, "name")));
        const char *file = json_string_value(json_object_get(item ? item : asked, "file"));
        if (!item)
            status = odb_exchange_read(&s->files, names[i], i, &outputs[i], err);
        else if (file)
            status = odb_exchange_read_named(&s->files, names[i], file, &outputs[i], err);
    }
    json_decref(listed);
    return status;
}

enum odb_status odb_server_execute(void *self, const struct odb_named *inputs, size_t n_inputs,
                                   const char *const *names, size_t n_outputs,
                                   struct odb_tensor **outputs, struct odb_error *err)
{
    struct server *s = self;
    json_t *in, *out, *answer;
    if (!s->loaded)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    ODB_TRY(odb_exchange_write(&s->files, inputs, n_inputs, names, n_outputs, &in, &out, err));
    server_put_paths(s, in);
    server_put_paths(s, out);
    json_t *request =
        json_pack("{s:s,s:n,s:o,s:O}", "do", "run", "step", "inputs", in, "outputs", out);
    enum odb_status status = server_ask_take(s, request, "it ran the model", &answer, err);
    s->loaded = odb_talk_running(&s->talk);
    if (status == ODB_OK)
        status = server_read(s, answer, out, names, n_outputs, outputs, err);
    json_decref(answer);
    json_decref(out);
    odb_exchange_clear(&s->files, n_inputs, n_outputs);
    return status;
}
