/* SPDX-License-Identifier: MIT
 *
 * What ONNX Runtime made of the loaded model. A second session is made of it, which writes the
 * optimised graph and logs where it puts each node: the session that runs is never slowed by that.
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
#define ORT_PUT_IN "Inserted" /* begins the names of Casts that ONNX Runtime puts in */

/* --- the second session ----------------------------------------------------------------------- */

bool ort_log_places(const char *location)
{
    return strstr(location, "VerifyEachNodeIsAssignedToAnEp") != NULL;
}

/* Makes a session that says where nodes go and, with a path, writes the optimised graph. */
static enum odb_status ort_create_telling(struct ort *ort, const char *path, struct odb_buf *heard,
                                          struct odb_error *err)
{
    struct ort_session_options *options = NULL;
    struct ort_session *session = NULL;
    enum odb_status status;
    odb_buf_clear(heard);
    ODB_TRY_OUT(ort_session_options(ort, &options, err));
    ORT_TRY_OUT(set_log_level(options, ORT_LOG_VERBOSE));
    /* It never runs: weights need no other order. */
    ORT_TRY_OUT(set_config(options, "session.disable_prepacking", "1"));
    if (path) {
        ORT_TRY_OUT(write_optimized(options, path));
        ORT_TRY_OUT(set_config(options, "session.optimized_model_external_initializers_file_name",
                               ORT_WEIGHTS));
        ORT_TRY_OUT(set_config(
            options, "session.optimized_model_external_initializers_min_size_in_bytes", "1024"));
    }
    ort_listen(heard);
    status = ort_create(ort, options, &session, err);
    ort_listen(NULL);
out:
    if (session)
        ort->api.release_session(session);
    if (options)
        ort->api.release_options(options);
    return status;
}

/* The optimised graph, whose weights are not wanted: they are as large as the model's. *out stays
 * NULL where ONNX Runtime cannot write it, as with providers that compile. */
static enum odb_status ort_optimized(struct ort *ort, struct odb_model **out, struct odb_buf *heard,
                                     struct odb_account *account, struct odb_error *err)
{
    struct odb_error no = ODB_ERROR_INIT;
    char *dir, text[2048];
    ODB_TRY(odb_scratch_new(&dir, err));
    char *path = odb_xasprintf("%s/model.onnx", dir),
         *weights = odb_xasprintf("%s/" ORT_WEIGHTS, dir);
    enum odb_status status = ODB_OK;
    if (symlink("/dev/null", weights) < 0)
        status = odb_fail(&no, ODB_E_IO, "%s: %m", weights);
    if (status == ODB_OK)
        status = ort_create_telling(ort, path, heard, &no);
    unlink(weights); /* a model without its weights can be looked at, with the wrong ones not */
    if (status == ODB_OK)
        status = odb_model_open(out, path, &no);
    if (status != ODB_OK) {
        odb_account_note(account, "the optimised model cannot be shown: %s",
                         odb_error_text(&no, text, sizeof text));
        status = ort_create_telling(ort, NULL, heard, err);
    }
    odb_scratch_remove(dir);
    free(dir);
    free(path);
    free(weights);
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

enum odb_status ort_account(void *self, struct odb_account *account, struct odb_error *err)
{
    struct ort *ort = self;
    struct odb_model *optimized = NULL;
    struct odb_buf heard = ODB_BUF_INIT;
    if (!ort->session)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    enum odb_status status = ort_optimized(ort, &optimized, &heard, account, err);
    if (status == ODB_OK) {
        ort_places(&heard, optimized, account);
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
    odb_buf_dispose(&heard);
    return status;
}
