/* SPDX-License-Identifier: MIT
 *
 * What ONNX Runtime made of the loaded model: a session that tells writes the optimised graph and
 * logs where it puts each node, while it is made. That costs it little, but it keeps its weights
 * twice; so it is the one that runs only where the debugger says that it will ask, and else a
 * second one.
 */
#include "executor/ort/ort_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "system/scratch.h"
#include "model/model.h"
#include "model/read/load.h"
#include "model/text/model_text.h"

/* Weights of the optimised model go here, and from here to nowhere. */
#define ORT_WEIGHTS "weights"
#define ORT_GRAPH "model.onnx"
#define ORT_PUT_IN "Inserted" /* begins the names of Casts that ONNX Runtime puts in */

/* --- a session that tells --------------------------------------------------------------------- */

bool ort_log_places(const char *location)
{
    return strstr(location, "VerifyEachNodeIsAssignedToAnEp") != NULL;
}

void ort_telling_dispose(struct ort_telling *telling)
{
    if (telling->folder)
        odb_scratch_remove(telling->folder);
    free(telling->folder);
    odb_buf_dispose(&telling->heard);
    *telling = (struct ort_telling)ORT_TELLING_INIT;
}

static void ort_note_unwritten(struct odb_account *account, const struct odb_error *why)
{
    char text[2048];
    odb_account_note(account, "the optimised model cannot be shown: %s",
                     odb_error_text(why, text, sizeof text));
}

/* Has the optimised graph written into a new folder, whose weights are not wanted: they are as
 * large as the model's. */
static enum odb_status ort_write_graph(struct ort *ort, struct ort_session_options *options,
                                       struct ort_telling *telling, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    ODB_TRY(odb_scratch_new(&telling->folder, err));
    char *path = odb_xasprintf("%s/" ORT_GRAPH, telling->folder),
         *weights = odb_xasprintf("%s/" ORT_WEIGHTS, telling->folder);
    if (symlink("/dev/null", weights) < 0)
        ODB_TRY_OUT(odb_fail(err, ODB_E_IO, "%s: %m", weights));
    ORT_TRY_OUT(write_optimized(options, path));
    ORT_TRY_OUT(set_config(options, "session.optimized_model_external_initializers_file_name",
                           ORT_WEIGHTS));
    ORT_TRY_OUT(set_config(
        options, "session.optimized_model_external_initializers_min_size_in_bytes", "1024"));
out:
    free(weights);
    free(path);
    return status;
}

static enum odb_status ort_create_heard(struct ort *ort, struct ort_session_options *options,
                                        bool writes, struct ort_telling *telling,
                                        struct ort_session **out, struct odb_error *err)
{
    ORT_TRY(set_log_level(options, ORT_LOG_VERBOSE));
    if (writes)
        ODB_TRY(ort_write_graph(ort, options, telling, err));
    ort_listen(&telling->heard);
    enum odb_status status = ort_create(ort, options, out, err);
    ort_listen(NULL);
    char *weights = odb_xasprintf("%s/" ORT_WEIGHTS, writes ? telling->folder : "");
    if (writes)
        unlink(weights); /* a model without its weights can be looked at, with the wrong ones not */
    free(weights);
    return status;
}

/* Makes a session that says where nodes go and, where it writes, leaves the optimised graph. One
 * that never runs needs its weights in no other order. */
static enum odb_status ort_create_telling(struct ort *ort, bool runs, bool writes,
                                          struct ort_telling *telling, struct ort_session **out,
                                          struct odb_error *err)
{
    struct ort_session_options *options = NULL;
    enum odb_status status = ort_session_options(ort, &options, err);
    if (status == ODB_OK && !runs)
        status =
            ort_check(ort, ort->api.set_config(options, "session.disable_prepacking", "1"), err);
    if (status == ODB_OK)
        status = ort_create_heard(ort, options, writes, telling, out, err);
    if (options)
        ort->api.release_options(options);
    if (status != ODB_OK)
        ort_telling_dispose(telling);
    return status;
}

/* What a provider compiled cannot be written; and files that the user wants are written by a
 * session of their own settings. */
bool ort_create_told(struct ort *ort)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    return !ort->options.providers.n && !ort->options.optimized && !ort->options.profile &&
           ort_create_telling(ort, true, true, &ort->told, &ort->session, &ignored) == ODB_OK;
}

/* The same of a second session. Its graph is left out where it cannot be written. */
static enum odb_status ort_tell_again(struct ort *ort, struct ort_telling *telling,
                                      struct odb_account *account, struct odb_error *err)
{
    struct ort_session *session = NULL;
    struct odb_error no = ODB_ERROR_INIT;
    enum odb_status status = ort_create_telling(ort, false, true, telling, &session, &no);
    if (status != ODB_OK) {
        ort_note_unwritten(account, &no);
        status = ort_create_telling(ort, false, false, telling, &session, err);
    }
    if (session)
        ort->api.release_session(session);
    return status;
}

/* --- placement -------------------------------------------------------------------------------- */

/* What lies between two texts, the caller's; NULL: it is not so. */
static char *ort_between(const char *text, const char *before, const char *behind)
{
    const char *begin = strstr(text, before);
    const char *end = begin ? strstr(begin + strlen(before), behind) : NULL;
    return end ? odb_xstrndup(begin + strlen(before), (size_t)(end - begin) - strlen(before))
               : NULL;
}

/* "  Conv (name)" */
static void ort_place_node(const char *line, const char *where, struct odb_account *account)
{
    const char *open = strstr(line, " ("), *close = strrchr(line, ')');
    if (!open || !close || close < open + 2)
        return;
    char *op = odb_xstrndup(line, (size_t)(open - line));
    char *name = odb_xstrndup(open + 2, (size_t)(close - open) - 2);
    odb_account_place(account, name, op, where);
    free(op);
    free(name);
}

/* Every provider has a line "… placed on [NAME]. Number of nodes: N", and its nodes a line each
 * behind it, but where one has them all: then only the graph names the nodes. */
static void ort_places(const struct odb_buf *heard, const struct odb_model *optimized,
                       struct odb_account *account)
{
    char *where = NULL;
    for (size_t at = 0; at < heard->len; at += strlen(heard->data + at) + 1) {
        const char *line = heard->data + at;
        char *provider = ort_between(line, "placed on [", "]");
        if (provider) {
            free(where);
            where = provider;
        } else if (where && !strncmp(line, "  ", 2)) {
            ort_place_node(line + 2, where, account);
        }
    }
    if (where && account->places.n == 0 && optimized)
        for (size_t i = 0; i < optimized->graph->n_nodes; i++)
            odb_account_place(account, optimized->graph->nodes[i].name,
                              optimized->graph->nodes[i].op_type, where);
    free(where);
}

/* --- notes ------------------------------------------------------------------------------------ */

static size_t ort_count_at(const struct odb_account *account, const char *key)
{
    size_t n = 0;
    for (size_t i = 0; i < account->places.n; i++) {
        char *at = ort_provider_key(account->places.items[i].where);
        n += !strcmp(at, key);
        free(at);
    }
    return n;
}

static void ort_note_providers(const struct ort *ort, struct odb_account *account)
{
    size_t all = account->places.n, cpu = ort_count_at(account, "cpu");
    const char *s = all == 1 ? "" : "s";
    for (size_t i = 0; i < ort->options.providers.n; i++) {
        const struct ort_provider *provider = &ort->options.providers.items[i];
        if (cpu == all)
            odb_account_note(account,
                             "%s was asked for, but everything runs on the CPU: %zu node%s",
                             provider->name, all, s);
        else if (ort_count_at(account, provider->key) == 0)
            odb_account_note(account, "%s was asked for, but runs none of %zu node%s",
                             provider->name, all, s);
    }
    if (cpu > 0 && cpu < all)
        odb_account_note(account, "%zu of %zu nodes run on the CPU", cpu, all);
}

/* Values that are float32 where the model's are float16: what a Cast that was put in widens, and
 * what is computed from such. Nodes that compute them are counted and their operators named. */
static void ort_note_widened(const struct odb_model *optimized, struct odb_account *account)
{
    const struct odb_graph *graph = optimized->graph;
    bool *wide = odb_new_n(bool, graph->n_values + 1);
    struct odb_map *seen = odb_map_new();
    struct odb_buf ops = ODB_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        bool cast =
            !strcmp(node->op_type, "Cast") && !strncmp(node->name, ORT_PUT_IN, strlen(ORT_PUT_IN));
        bool reads = cast;
        for (int k = 0; k < node->n_in && !cast; k++)
            reads |= node->in[k] != ODB_NO_VALUE && wide[node->in[k]];
        for (int k = 0; k < node->n_out && reads; k++)
            if (node->out[k] != ODB_NO_VALUE) {
                const struct odb_type *type = &graph->values[node->out[k]].type;
                wide[node->out[k]] = !type->known || type->dtype == ODB_F32;
            }
        if (cast || !reads)
            continue;
        n++;
        if (odb_map_add(seen, node->op_type, 0))
            odb_buf_printf(&ops, "%s%s", ops.len ? ", " : "", node->op_type);
    }
    if (n)
        odb_account_note(account,
                         "%zu node%s of the model's half precision run%s in float32, between Casts "
                         "that ONNX Runtime put in: %s",
                         n, n == 1 ? "" : "s", n == 1 ? "s" : "", odb_buf_text(&ops));
    odb_map_free(seen);
    odb_buf_dispose(&ops);
    free(wide);
}

/* *out stays NULL where it was not written, or cannot be read. */
static void ort_read_graph(const struct ort_telling *telling, struct odb_model **out,
                           struct odb_account *account)
{
    struct odb_error no = ODB_ERROR_INIT;
    char *path = odb_xasprintf("%s/" ORT_GRAPH, telling->folder ? telling->folder : "");
    if (telling->folder && odb_model_open(out, path, &no) != ODB_OK)
        ort_note_unwritten(account, &no);
    free(path);
}

enum odb_status ort_account(void *self, struct odb_account *account, struct odb_error *err)
{
    struct ort *ort = self;
    struct odb_model *optimized = NULL;
    struct ort_telling again = ORT_TELLING_INIT;
    bool told = ort->told.folder;
    if (!ort->session)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    enum odb_status status = told ? ODB_OK : ort_tell_again(ort, &again, account, err);
    const struct ort_telling *telling = told ? &ort->told : &again;
    if (status == ODB_OK) {
        ort_read_graph(telling, &optimized, account);
        ort_places(&telling->heard, optimized, account);
        if (account->places.n)
            ort_note_providers(ort, account);
        else if (!optimized || optimized->graph->n_nodes)
            odb_account_note(account, "ONNX Runtime %s does not say where nodes run", ort->version);
    }
    if (status == ODB_OK && optimized) {
        ort_note_widened(optimized, account);
        ort_groups(ort, optimized, account);
        odb_model_text(optimized, &account->text);
    }
    odb_model_free(optimized);
    ort_telling_dispose(&again);
    return status;
}
