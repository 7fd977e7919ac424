/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/recall.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "run/hooks.h"
#include "reference/trace.h"

#define RECALL_LISTED 8                  /* weights that are reported */
#define RECALL_FACTOR 1e-4               /* how far elements may be from a common factor */
#define RECALL_BATCH ((size_t)256 << 20) /* bytes of weights asked for at once */

/* A stretch of the weight: elements of one place of its first axis. */
struct recall_channel {
    bool off;
    bool scaled; /* by factor, all of it */
    double factor;
};

static struct recall_channel recall_channel(const struct odb_tensor *had,
                                            const struct odb_tensor *init, size_t first, size_t n)
{
    struct recall_channel c = {.scaled = true};
    double products = 0, squares = 0, most = 0;
    for (size_t i = first; i < first + n; i++) {
        double a = odb_tensor_f64(had, i), b = odb_tensor_f64(init, i);
        c.off |= !(a == b || (isnan(a) && isnan(b)));
        products += a * b;
        squares += a * a;
        most = fmax(most, fabs(a));
    }
    c.factor = products / squares;
    for (size_t i = first; i < first + n && c.scaled; i++)
        c.scaled = fabs(odb_tensor_f64(had, i) * c.factor - odb_tensor_f64(init, i)) <=
                   RECALL_FACTOR * fabs(c.factor) * most;
    return c;
}

/* Where two of one type and shape differ, and how: "channel 3, 1.2 times", "8 of 64 channels, off
 * by 0.3 of its rms". */
static void recall_place(const struct odb_tensor *had, const struct odb_tensor *init,
                         const struct odb_gap *gap, char *text, size_t size)
{
    bool plain = had->kind == ODB_TENSOR && odb_dtype_is_float(had->dtype) && had->rank > 0;
    size_t channels = plain ? (size_t)had->dims[0] : 0, n_off = 0, at = 0;
    struct recall_channel first = {.scaled = false};
    for (size_t c = 0; c < channels; c++) {
        size_t each = had->count / channels;
        struct recall_channel one = recall_channel(had, init, c * each, each);
        if (!one.off)
            continue;
        at = n_off ? at : c;
        first = n_off ? first : one;
        first.scaled &= one.scaled && fabs(one.factor - first.factor) <= RECALL_FACTOR;
        n_off++;
    }
    const char *what = had->rank > 1 ? "channel" : "element";
    char factor[40];
    snprintf(factor, sizeof factor, "%.4g times", first.factor);
    if (n_off == 1)
        text += odb_text_fit(text, size, "%s %zu, ", what, at);
    else if (n_off && n_off < channels)
        text += odb_text_fit(text, size, "%zu of %zu %ss, the first is %zu, ", n_off, channels,
                             what, at);
    if (first.scaled)
        odb_text_fit(text, size / 2, "%s", factor);
    else
        odb_text_fit(text, size / 2, "off by %.3g of its rms", gap->error);
}

/* How a recorded weight differs from the model's; "" where it does not. Floats that were recorded
 * in another type are rounded to the model's first, and *had is that then. */
static void recall_differs(struct odb_tensor **had, const struct odb_tensor *init, char *text,
                           size_t size)
{
    struct odb_tensor *cast = NULL;
    struct odb_error ignored;
    struct odb_gap gap;
    char a[120], b[120];
    text[0] = '\0';
    if (odb_tensor_real(*had) != ODB_UNDEFINED && odb_tensor_real(init) != ODB_UNDEFINED &&
        (*had)->dtype != init->dtype &&
        odb_tensor_cast_floats(&cast, *had, odb_tensor_real(init), &ignored) == ODB_OK) {
        odb_tensor_unref(*had);
        *had = cast;
    }
    odb_gap_measure(&gap, *had, init);
    if (!odb_tensor_same_shape(*had, init) || (*had)->dtype != init->dtype)
        odb_text_fit(text, size, "%s %.30s, in the model %s %.30s",
                     odb_dtype_info((*had)->dtype)->name, odb_shape_text(*had, a, sizeof a),
                     odb_dtype_info(init->dtype)->name, odb_shape_text(init, b, sizeof b));
    else if (!gap.same)
        recall_place(*had, init, &gap, text, size);
}

struct recall {
    struct odb_prober *prober;
    void (*tell)(void *payload, const char *line);
    void (*take)(void *payload, const struct odb_recalled *weight); /* NULL: not wanted */
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
        if (!had[i])
            continue;
        struct odb_recalled weight = {.value = w->batch[i]->index};
        recall_differs(&had[i], w->batch[i]->init, weight.text, sizeof weight.text);
        w->compared++;
        if (weight.text[0] && w->differ++ < RECALL_LISTED) {
            recall_tell(w, "weight %s is another one in the recording: %s", names[i], weight.text);
            bool same = odb_tensor_same_shape(had[i], w->batch[i]->init);
            weight.t = same && w->take ? odb_tensor_ref(had[i]) : NULL;
            if (w->take)
                w->take(w->payload, &weight);
        }
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
                    "%zu of %zu recorded weight%s %s not the model's, so values differ that no "
                    "operator is to blame for",
                    w->differ, w->compared, odb_plural(w->compared), w->differ == 1 ? "is" : "are");
    return status;
}

enum odb_status odb_recall_notes(struct odb_prober *prober,
                                 void (*tell)(void *payload, const char *line),
                                 void (*take)(void *payload, const struct odb_recalled *weight),
                                 void *payload, struct odb_error *err)
{
    struct odb_account account = ODB_ACCOUNT_INIT;
    struct recall w = {.prober = prober, .tell = tell, .take = take, .payload = payload};
    enum odb_status status = recall_weights(&w, err);
    if (status == ODB_OK)
        status = odb_target_account(odb_pool_target(prober->pool), &account, err);
    for (size_t i = 0; i < account.notes.n && status == ODB_OK; i++)
        tell(payload, account.notes.items[i]);
    odb_account_dispose(&account);
    return status;
}
