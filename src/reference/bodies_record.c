/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The reference runs through a node with bodies, watched: what each turn is fed and gives.
 */
#include "reference/bodies_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/hooks.h"
#include "reference/trace.h"

#define BODIES_NOISE 10 /* times the noise is still the same value */

void bodies_record_dispose(struct bodies_record *r)
{
    for (size_t i = 0; i < r->n_feeds; i++)
        odb_tensor_unref(r->feeds[i]);
    free(r->feeds);
}

static enum odb_status bodies_begin(void *payload, const struct odb_cpu_place *place,
                                    struct odb_tensor *const *feeds, size_t n,
                                    struct odb_error *err)
{
    struct bodies_record *r = payload;
    if (r->hooks)
        ODB_TRY(odb_hooks_cancelled(r->hooks, err));
    if (place->around)
        return ODB_OK;
    r->turns++;
    r->attr = place->attr;
    if (r->wanted == ODB_ANY_TURN || place->turn != (uint64_t)r->wanted)
        return ODB_OK;
    r->got = true;
    r->n_feeds = n;
    r->feeds = odb_new_n(struct odb_tensor *, n + 1);
    for (size_t i = 0; i < n; i++)
        r->feeds[i] = feeds[i] ? odb_tensor_ref(feeds[i]) : NULL;
    return odb_fail(err, ODB_SKIPPED, "the turn that was asked for has come");
}

bool bodies_alike(const struct odb_tensor *a, const struct odb_tensor *b, double noise)
{
    struct odb_gap gap;
    if (!a || !b)
        return a == b;
    odb_gap_measure(&gap, a, b);
    return gap.same ||
           (gap.comparable && gap.pattern && odb_dtype_is_float(b->dtype) &&
            gap.error <= BODIES_NOISE * fmax(noise, odb_noise_floor(gap.rms, b->dtype)));
}

static enum odb_status bodies_end(void *payload, const struct odb_cpu_place *place,
                                  struct odb_tensor *const *outs, size_t n, struct odb_error *err)
{
    struct bodies_record *r = payload;
    (void)err;
    if (place->around || !r->states || r->skip + r->n_states > n)
        return ODB_OK;
    bool alike = r->n_states > 0;
    for (size_t i = 0; i < r->n_states; i++)
        alike = alike && (!r->states[i] || bodies_alike(r->states[i], outs[r->skip + i], r->noise));
    if (alike) {
        r->like = r->turns;
        r->n_like++;
    }
    return ODB_OK;
}

const struct odb_tensor *bodies_value(const struct odb_trace *trace,
                                      struct odb_tensor *const *given, int value)
{
    return given && given[value] ? given[value] : odb_trace_value(trace, value);
}

enum odb_status bodies_run(const struct odb_trace *trace, struct odb_tensor *const *given, int node,
                           const struct odb_tensor *first, struct bodies_record *record,
                           struct odb_tensor **outs, struct odb_error *err)
{
    const struct odb_graph *graph = trace->model->graph;
    const struct odb_node *n = &graph->nodes[node];
    const struct odb_cpu_watch watch = {
        .payload = record, .begin = bodies_begin, .end = bodies_end};
    const struct odb_tensor **in = odb_new_n(const struct odb_tensor *, n->n_in + 1);
    const struct odb_tensor **around = odb_new_n(const struct odb_tensor *, graph->n_values);
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] < 0 ? NULL : bodies_value(trace, given, n->in[i]);
    if (first && n->n_in)
        in[0] = first;
    for (size_t c = 0; c < n->n_captured; c++)
        around[n->captured[c]] = bodies_value(trace, given, n->captured[c]);
    enum odb_status status = odb_cpu_node_watched(
        trace->cpu, node, trace->precision, trace->seed, (struct odb_tensor *const *)in,
        (struct odb_tensor *const *)around, &watch, outs, err);
    free(in);
    free(around);
    return status;
}

void bodies_drop(struct odb_tensor **values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(values[i]);
    free(values);
}

bool bodies_has_turns(const struct odb_body *body)
{
    return body->attr && !strcmp(body->attr, "body");
}

char *bodies_step(const struct odb_node *node, const struct odb_body *body, int64_t turn)
{
    char label[200];
    struct odb_buf text = ODB_BUF_INIT;
    odb_body_put_step(odb_node_label(node, label, sizeof label), body,
                      bodies_has_turns(body) ? turn : ODB_ANY_TURN, &text);
    return odb_buf_take(&text);
}
