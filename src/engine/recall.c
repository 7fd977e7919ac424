/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/recall.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "engine/hooks.h"

#define RECALL_LISTED 8                  /* weights that are told of */
#define RECALL_BATCH ((size_t)256 << 20) /* bytes of weights asked for at once */

/* How a recorded weight differs from the model's; "" where it does not. Floats that were recorded
 * in another type are rounded to the model's first. */
static void recall_differs(const struct odb_tensor *had, const struct odb_tensor *init, char *text,
                           size_t size)
{
    struct odb_tensor *cast = NULL;
    struct odb_error ignored;
    struct odb_gap gap;
    char a[120], b[120];
    text[0] = '\0';
    if (odb_tensor_real(had) != ODB_UNDEFINED && odb_tensor_real(init) != ODB_UNDEFINED &&
        had->dtype != init->dtype &&
        odb_tensor_cast_floats(&cast, had, odb_tensor_real(init), &ignored) == ODB_OK)
        had = cast;
    odb_gap_measure(&gap, had, init);
    if (!odb_tensor_same_shape(had, init) || had->dtype != init->dtype)
        snprintf(text, size, "%s %.60s, in the model %s %.60s", odb_dtype_info(had->dtype)->name,
                 odb_shape_text(had, a, sizeof a), odb_dtype_info(init->dtype)->name,
                 odb_shape_text(init, b, sizeof b));
    else if (!gap.same)
        snprintf(text, size, "off by %.3g of its rms", gap.error);
    odb_tensor_unref(cast);
}

struct recall {
    struct odb_prober *prober;
    void (*tell)(void *payload, const char *line);
    void *payload;
    const struct odb_value **batch; /* owned array */
    size_t n;
    size_t compared, differ;
};

static void ODB_PRINTF(2, 3) recall_tell(const struct recall *w, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(line, sizeof line, fmt, args);
    va_end(args);
    w->tell(w->payload, line);
}

static enum odb_status recall_batch(struct recall *w, struct odb_error *err)
{
    const char **names = odb_new_n(const char *, w->n);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, w->n);
    for (size_t i = 0; i < w->n; i++)
        names[i] = w->batch[i]->name;
    enum odb_status status = odb_hooks_cancelled(&w->prober->hooks, err);
    if (status == ODB_OK && w->n)
        status = odb_target_run(odb_pool_target(w->prober->pool), NULL, 0, names, w->n, had, err);
    for (size_t i = 0; i < w->n; i++) {
        char text[300] = "";
        if (!had[i])
            continue;
        recall_differs(had[i], w->batch[i]->init, text, sizeof text);
        w->compared++;
        if (text[0] && w->differ++ < RECALL_LISTED)
            recall_tell(w, "weight %s is another one in the recording: %s", names[i], text);
        odb_tensor_unref(had[i]);
    }
    w->n = 0;
    free(had);
    free(names);
    return status;
}

/* In batches: all of them at once would be the model once more in memory. */
static enum odb_status recall_weights(struct recall *w, struct odb_error *err)
{
    const struct odb_graph *graph = w->prober->model->graph;
    enum odb_status status = ODB_OK;
    size_t bytes = 0;
    w->batch = odb_new_n(const struct odb_value *, graph->n_values);
    for (size_t v = 0; v < graph->n_values && status == ODB_OK; v++) {
        const struct odb_value *value = &graph->values[v];
        if (!value->init || !value->name[0] || value->producer != ODB_NO_NODE)
            continue;
        w->batch[w->n++] = value;
        bytes += value->init->bytes;
        if (bytes < RECALL_BATCH)
            continue;
        status = recall_batch(w, err);
        bytes = 0;
    }
    if (status == ODB_OK)
        status = recall_batch(w, err);
    free(w->batch);
    if (status == ODB_OK && w->differ)
        recall_tell(w,
                    "%zu of %zu recorded weights are not the model's, so values differ that no "
                    "operator is to blame for",
                    w->differ, w->compared);
    return status;
}

enum odb_status odb_recall_notes(struct odb_prober *prober,
                                 void (*tell)(void *payload, const char *line), void *payload,
                                 struct odb_error *err)
{
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct recall w = {.prober = prober, .tell = tell, .payload = payload};
    enum odb_status status = recall_weights(&w, err);
    if (status == ODB_OK)
        status = odb_target_account(odb_pool_target(prober->pool), &account, err);
    for (size_t i = 0; i < account.notes.n && status == ODB_OK; i++)
        tell(payload, account.notes.items[i]);
    odb_account_dispose(&account);
    return status;
}
