/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/value/value_pair.h"

#include "bisect/bisect_options.h"
#include "command/call/call.h"
#include "command/call/watch.h"
#include "command/value/call_feeds.h"
#include "command/value/call_value.h"
#include "command/value/names.h"
#include "command/value/search_options.h"
#include "compare/exact.h"
#include "probe/run_values.h"
#include "probe/body_case.h"
#include "session/session_state.h"
#include "walk/inside.h"

void odb_value_pair_dispose(struct odb_value_pair *pair)
{
    for (size_t i = 0; i < ODB_COUNT(pair->side); i++)
        odb_tensor_unref(pair->side[i]);
    *pair = (struct odb_value_pair){{0}};
}

static struct odb_tensor *pair_ref(const struct odb_tensor *t)
{
    return t ? odb_tensor_ref(t) : NULL;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* A value of the body that the walk is in. */
static void pair_walked(struct odb_value_pair *out, const struct odb_inside *in, int index)
{
    out->side[ODB_SIDE_REFERENCE] = pair_ref(odb_trace_value(in->trace, index));
    out->side[ODB_SIDE_GOLDEN] = pair_ref(in->trace->golden[index]);
    out->side[ODB_SIDE_TARGET] = pair_ref(in->walk->given[index]);
}

static const struct odb_inside *pair_inside(const struct odb_command_call *call)
{
    return call->console ? call->session->inside : NULL;
}

/* Its index in the body that a path leads to. */
static enum odb_status pair_in_body(const struct odb_body_path *path, int *index,
                                    struct odb_error *err)
{
    const struct odb_graph *graph = path->steps[path->n - 1].body.graph;
    if (odb_call__find_output(graph, path->last, index, err) == ODB_OK)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "the body has no value '%.200s'", path->last);
    return odb_error_remedy(err, "`node` with the node around it shows what is in its bodies");
}

static bool pair_is_path(const struct odb_command_call *call, const char *name,
                         struct odb_body_path *path)
{
    return call->model && !odb_graph_value(call->model->graph, name) &&
           odb_body_path_parse(call->model->graph, NULL, name, path) && path->n;
}

/* The body's own reference, and the target if it is wanted, from what the reference feeds it. */
static enum odb_status pair_compute(struct odb_value_pair *out, const struct odb_body_case *body,
                                    int index, const struct odb_trace_options *how,
                                    const char *target, struct odb_error *err)
{
    struct odb_trace *trace;
    ODB_TRY(odb_trace_make(&trace, body->model, body->feeds, how, err));
    out->side[ODB_SIDE_REFERENCE] = pair_ref(odb_trace_value(trace, index));
    out->side[ODB_SIDE_GOLDEN] = pair_ref(trace->golden[index]);
    odb_trace_free(trace);
    bool made = body->model->graph->values[index].producer != ODB_NO_NODE;
    if (!target || !made)
        return ODB_OK;
    return odb_run_values(body->model, body->feeds, target, &index, 1, &out->side[ODB_SIDE_TARGET],
                          NULL, 0, &how->hooks, err);
}

/* Opens the body of a path, at its turn, and computes what is asked there. A session keeps the
 * whole trace for what is asked next; a command of the shell runs what leads to the body. */
static enum odb_status pair_follow(struct odb_value_pair *out, struct odb_command_call *call,
                                   const struct odb_body_path *path, bool target,
                                   struct odb_error *err)
{
    struct odb_bisect_options options;
    struct odb_trace_options how;
    struct odb_body_case body = {0};
    struct odb_trace *trace, *own = NULL;
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    enum odb_status status;
    int index;
    ODB_TRY(odb_call__search_options(call, &options, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    options.hooks = odb_watch_begin(&watch, call);
    ODB_TRY_OUT(odb_bisect_trace_options(&options, &how, err));
    how.hooks = options.hooks;
    if (call->console) {
        ODB_TRY_OUT(odb_session_trace(call->session, &trace, &options, err));
    } else {
        ODB_TRY_OUT(odb_body_case_reach(&own, call->model, feeds, path->steps[0].node, &how, err));
        trace = own;
    }
    how.reference_from = how.golden_from = NULL; /* they do not show what is in bodies */
    ODB_TRY_OUT(odb_body_case_enter(&body, trace, path, &how, err));
    ODB_TRY_OUT(odb_call__find_output(body.model->graph, path->last, &index, err));
    status = pair_compute(out, &body, index, &how, target ? options.target : NULL, err);
out:
    odb_watch_end(&watch);
    odb_body_case_dispose(&body);
    odb_trace_free(own);
    return status;
}

static enum odb_status pair_by_path(struct odb_value_pair *out, struct odb_command_call *call,
                                    const struct odb_body_path *path,
                                    enum odb_value_pair_effort effort, struct odb_error *err)
{
    const struct odb_inside *in = pair_inside(call);
    int index;
    ODB_TRY(pair_in_body(path, &index, err));
    while (in && !odb_inside_is(in, path->steps, path->n))
        in = in->outer;
    if (in && odb_call__find_output(in->walk->model->graph, path->last, &index, NULL) == ODB_OK)
        pair_walked(out, in, index);
    bool enough = out->side[effort == ODB_VALUE_PAIR_TARGET ? ODB_SIDE_TARGET : ODB_SIDE_REFERENCE];
    if (enough || effort == ODB_VALUE_PAIR_AT_HAND)
        return ODB_OK;
    odb_value_pair_dispose(out);
    return pair_follow(out, call, path, effort == ODB_VALUE_PAIR_TARGET, err);
}

/* --- any value -------------------------------------------------------------------------------- */

enum odb_status odb_value_pair_check(const struct odb_command_call *call, const char *name,
                                     struct odb_error *err)
{
    const struct odb_inside *in = pair_inside(call);
    struct odb_body_path path;
    int index;
    if (in && odb_graph_value(in->walk->model->graph, name))
        return ODB_OK;
    if (pair_is_path(call, name, &path))
        return pair_in_body(&path, &index, err);
    return odb_call__find_output(call->model->graph, name, &index, err);
}

enum odb_status odb_value_pair_find(struct odb_value_pair *out, struct odb_command_call *call,
                                    const char *name, enum odb_value_pair_effort effort,
                                    struct odb_error *err)
{
    const struct odb_session *session = call->session;
    const struct odb_inside *in = pair_inside(call);
    const struct odb_value *here =
        in && name ? odb_graph_value(in->walk->model->graph, name) : NULL;
    struct odb_body_path path;
    int index;
    *out = (struct odb_value_pair){{0}};
    if (here) {
        pair_walked(out, in, here->index);
        return ODB_OK;
    }
    if (name && pair_is_path(call, name, &path))
        return pair_by_path(out, call, &path, effort, err);
    if (effort != ODB_VALUE_PAIR_AT_HAND)
        ODB_TRY(odb_call__value(call, name, &out->side[ODB_SIDE_REFERENCE], err));
    if (!call->console || !name)
        return ODB_OK;
    ODB_TRY(odb_call__find_output(call->model->graph, name, &index, err));
    if (effort == ODB_VALUE_PAIR_AT_HAND)
        out->side[ODB_SIDE_REFERENCE] = odb_session_reference(session, index);
    out->side[ODB_SIDE_TARGET] = odb_session_target(session, index);
    odb_session_lock(session);
    if (session->trace)
        out->side[ODB_SIDE_GOLDEN] = pair_ref(session->trace->golden[index]);
    odb_session_unlock(session);
    return ODB_OK;
}

enum odb_status odb_value_pair_subtract(struct odb_value_pair *pair, struct odb_error *err)
{
    const struct odb_tensor *a = pair->side[ODB_SIDE_TARGET], *b = pair->side[ODB_SIDE_REFERENCE];
    struct odb_tensor **out = &pair->side[ODB_SIDE_DIFFERENCE];
    if (!a || !b || a->kind != ODB_TENSOR || b->kind != ODB_TENSOR || !a->data || !b->data ||
        a->dtype == ODB_STRING || b->dtype == ODB_STRING || !odb_tensor_same_shape(a, b))
        return ODB_OK;
    ODB_TRY(odb_tensor_new(out, ODB_F64, a->rank, a->dims, err));
    for (size_t i = 0; i < a->count; i++)
        odb_store_f64(ODB_F64, (*out)->data, i,
                      odb_exact_minus(a->dtype, a->data, b->dtype, b->data, i));
    return ODB_OK;
}
