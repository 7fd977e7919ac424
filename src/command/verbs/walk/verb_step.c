/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walking: `run`, `step`, `continue` and their kin move the target on through the model; what it
 * made on the way is judged, and it stands still before a node, as the reference does. `step` goes
 * into bodies, where a walk of its own is on the way (walk/inside.h), and so do all others where
 * a breakpoint is in one; then turn after turn is walked, and in the end the node runs as one, so
 * that what follows it is fed with what the target makes of it when it is not observed.
 *
 * In a sequence, `continue` goes on from the end of one step to the next in which something may
 * stop it, fed with the reference's state: only what a step itself makes wrong is seen in it.
 */
#include "command/verbs/walk/verb_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/call/input_settings.h"
#include "command/value/call_feeds.h"
#include "command/value/call_sequence.h"
#include "command/value/search_options.h"
#include "command/verbs/walk/stops.h"
#include "command/verbs/walk/verb_display.h"
#include "report/json.h"
#include "session/session_state.h"

/* A command that walks, on its way. */
struct step {
    struct odb_command_call *call;
    struct odb_session *session;
    struct odb_bisect_options options;
    struct odb_stop stop;
    struct odb_buf notes;        /* lines, said before where it stands */
    struct odb_call_steps steps; /* owned: of the sequence; made when the walk leaves one */
};

static long step_of_sequence(const struct step *s)
{
    return s->session->feeds->step;
}

static struct odb_walk *step_walk(const struct step *s)
{
    return s->session->inside ? s->session->inside->walk : s->session->walk;
}

static int step_end(const struct step *s)
{
    return (int)step_walk(s)->model->graph->n_nodes;
}

/* --- where it stands -------------------------------------------------------------------------- */

/* The worse of a node's outputs, as the walk judged them. */
static enum odb_verdict step_verdict(const struct odb_walk *walk, int node)
{
    const struct odb_node *n = &walk->model->graph->nodes[node];
    enum odb_verdict verdict = ODB_VERDICT_UNTESTED;
    for (int o = 0; o < n->n_out; o++) {
        enum odb_verdict v = n->out[o] < 0 ? ODB_VERDICT_UNTESTED : walk->values[n->out[o]].verdict;
        if (verdict == ODB_VERDICT_UNTESTED || odb_verdict_is_bad(v))
            verdict = v;
    }
    return verdict;
}

static void step_put_stop(const struct step *s, struct odb_buf *out)
{
    const struct odb_walk *walk = step_walk(s);
    const struct odb_stop *stop = &s->stop;
    if (step_of_sequence(s) != ODB_NO_STEP)
        odb_buf_printf(out, "step %ld: ", step_of_sequence(s));
    if (s->session->inside) {
        odb_buf_puts(out, "in ");
        odb_buf_put_shown(out, s->session->inside->path);
        out->data[--out->len] = '\0'; /* its slash */
        odb_buf_puts(out, ": ");
    }
    if (stop->number) {
        odb_buf_printf(out, "%s %d", odb_annotation_name(stop->kind), stop->number);
        if (stop->text[0]) {
            odb_buf_puts(out, " (");
            odb_buf_put_shown(out, stop->text);
            odb_buf_putc(out, ')');
        }
        odb_buf_puts(out, stop->node == ODB_NO_NODE ? ": before " : ": behind ");
        odb_node_put(walk->model->graph, stop->node == ODB_NO_NODE ? walk->at : stop->node, out);
    } else if (walk->at < step_end(s)) {
        odb_buf_puts(out, "stopped before ");
        odb_node_put(walk->model->graph, walk->at, out);
    } else {
        odb_buf_puts(out, s->session->inside ? "the body has run to its end"
                                             : "the model has run to its end");
    }
}

/* Nodes that have run: how many are judged, how many off, and which is the first of these. */
struct step_tally {
    size_t judged, off;
    int first; /* ODB_NO_NODE: none */
};

static struct step_tally step_count(const struct odb_walk *walk)
{
    struct step_tally n = {.first = ODB_NO_NODE};
    for (int i = 0; i < walk->at; i++) {
        enum odb_verdict verdict = step_verdict(walk, i);
        n.judged += verdict != ODB_VERDICT_UNTESTED;
        if (odb_verdict_is_bad(verdict) && !n.off++)
            n.first = i;
    }
    return n;
}

static void step_put_place(const struct step *s, struct odb_buf *out)
{
    const struct odb_walk *walk = step_walk(s);
    struct step_tally n = step_count(walk);
    step_put_stop(s, out);
    odb_buf_printf(out, "; %d of %d nodes have run, %zu judged, ", walk->at, step_end(s), n.judged);
    if (n.off) {
        odb_buf_printf(out, "%zu off, the first is ", n.off);
        odb_node_put(walk->model->graph, n.first, out);
        odb_buf_putc(out, '\n');
    } else {
        odb_buf_puts(out, "none off\n");
    }
}

static json_t *step_node_json(const struct step *s, int index)
{
    const struct odb_graph *graph = step_walk(s)->model->graph;
    if (index < 0 || index >= step_end(s))
        return json_null();
    const struct odb_node *node = &graph->nodes[index];
    return odb_json_node(index, node->name, node->op_type, node->domain);
}

static json_t *step_json(const struct step *s)
{
    const struct odb_walk *walk = step_walk(s);
    struct step_tally n = step_count(walk);
    json_t *stop = json_null();
    char *inside = s->session->inside ? odb_xstrdup(s->session->inside->path) : NULL;
    if (inside)
        inside[strlen(inside) - 1] = '\0'; /* its slash */
    if (s->stop.number)
        stop =
            json_pack("{s:o,s:i,s:o,s:o}", "kind", odb_json_text(odb_annotation_name(s->stop.kind)),
                      "number", s->stop.number, "text", odb_json_text(s->stop.text), "behind",
                      step_node_json(s, s->stop.node));
    long number = step_of_sequence(s);
    json_t *json = json_pack(
        "{s:o,s:o,s:o,s:o,s:i,s:i,s:I,s:I,s:o,s:o,s:o}", "step",
        number == ODB_NO_STEP ? json_null() : json_integer(number), "inside", odb_json_text(inside),
        "before", step_node_json(s, walk->at), "stop", stop, "run", walk->at, "of_nodes",
        step_end(s), "judged", (json_int_t)n.judged, "off", (json_int_t)n.off, "first_off",
        step_node_json(s, n.first), "notes", odb_json_text(odb_buf_text(&s->notes)), "displays",
        odb_call__displays_json(s->call));
    free(inside);
    return json;
}

/* --- running ---------------------------------------------------------------------------------- */

static bool step_stopped(const struct step *s)
{
    return s->stop.number != 0;
}

static bool step_is_standing(const struct step *s)
{
    return s->session->inside || s->session->at != ODB_NO_NODE;
}

static void step_show(const struct step *s)
{
    if (!s->session->inside)
        odb_session_walked(s->session);
}

/* Why a body cannot be gone into, where that is no reason to end; then it is run as one node. */
static enum odb_status step_excuse(struct step *s, const struct odb_error *why,
                                   struct odb_error *err)
{
    const struct odb_walk *walk = step_walk(s);
    if (why->code == ODB_CANCELLED || why->code == ODB_E_NOMEM) {
        *err = *why;
        return why->code;
    }
    odb_node_put(walk->model->graph, walk->at, &s->notes);
    odb_buf_puts(&s->notes, " runs as one: ");
    odb_buf_put_shown(&s->notes, why->what);
    odb_buf_putc(&s->notes, '\n');
    return ODB_OK;
}

/* Whether the node where it stands was entered. */
static enum odb_status step_enter(struct step *s, int64_t turn, bool *entered,
                                  struct odb_error *err)
{
    struct odb_inside *inside;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status =
        odb_inside_enter(&inside, s->session->inside, step_walk(s), turn, &s->options, &why);
    *entered = status == ODB_OK;
    if (status == ODB_E_USAGE && turn > 0) /* it does not come to that turn */
        return ODB_OK;
    if (status != ODB_OK)
        return step_excuse(s, &why, err);
    s->session->inside = inside;
    if (inside->outer == NULL)
        odb_session_walked(s->session);
    return ODB_OK;
}

static enum odb_status step_to(struct step *s, int bound, int whole, struct odb_error *err);

/* The rest of a turn, and of later ones in which something may stop it; then out of the body, to
 * before the node that it belongs to. all: every turn. */
static enum odb_status step_rest(struct step *s, bool all, struct odb_error *err)
{
    for (;;) {
        int64_t turn;
        ODB_TRY(step_to(s, step_end(s), ODB_NO_NODE, err));
        if (step_stopped(s))
            return ODB_OK;
        enum odb_status status = ODB_E_USAGE;
        struct odb_error why = ODB_ERROR_INIT;
        if (odb_stops_later(s->session, all, &turn))
            status = odb_inside_turn(&s->session->inside, turn, &s->options, &why);
        if (status != ODB_OK)
            s->session->inside = odb_inside_leave(s->session->inside);
        if (status == ODB_E_USAGE)
            return ODB_OK;
        if (status != ODB_OK)
            return step_excuse(s, &why, err);
        ODB_TRY(odb_stops_here(s->session, &s->stop, err));
        if (step_stopped(s))
            return ODB_OK;
    }
}

/* Through the bodies of the node where it stands, from a turn on; it stands there again unless
 * something stopped it. all: every turn is walked, else those in which a breakpoint is. */
static enum odb_status step_through(struct step *s, int64_t turn, bool all, struct odb_error *err)
{
    bool entered;
    ODB_TRY(step_enter(s, turn, &entered, err));
    if (!entered)
        return ODB_OK;
    int64_t later;
    if (!all && !odb_stops_inside(s->session) && !odb_stops_later(s->session, false, &later)) {
        s->session->inside = odb_inside_leave(s->session->inside); /* the other branch of an If */
        return ODB_OK;
    }
    ODB_TRY(odb_stops_here(s->session, &s->stop, err));
    return step_stopped(s) ? ODB_OK : step_rest(s, all, err);
}

/* Runs up to a node of where it stands, or the first stop before, which may be in a body on the
 * way. whole: a node that runs as one whatever is in it; ODB_NO_NODE: none. */
static enum odb_status step_to(struct step *s, int bound, int whole, struct odb_error *err)
{
    for (;;) {
        int64_t turn = 0;
        bool standing = step_is_standing(s);
        int from = step_walk(s)->at, below = odb_stops_below(s->session, bound, whole, &turn);
        int to = below == ODB_NO_NODE ? bound : below;
        enum odb_status status =
            odb_stops_walk(s->session, to, standing, whole, &s->options.hooks, &s->stop, err);
        step_show(s); /* also what a stretch that failed has found out */
        ODB_TRY(status);
        if (step_stopped(s) || (to == bound && !s->stop.look))
            return ODB_OK;
        if (!s->stop.look && (to > from || !standing))
            ODB_TRY(odb_stops_here(s->session, &s->stop, err));
        if (step_stopped(s))
            return ODB_OK;
        whole = step_walk(s)->at;
        ODB_TRY(step_through(s, turn, s->stop.look, err));
        if (step_stopped(s))
            return ODB_OK;
    }
}

/* --- moving ----------------------------------------------------------------------------------- */

/* The node whose body was left runs as one. */
static enum odb_status step_over(struct step *s, struct odb_error *err)
{
    int at = step_walk(s)->at;
    return step_to(s, at + 1, at, err);
}

/* From the end of a body into its next turn, else out of it. */
static enum odb_status step_turn(struct step *s, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    int64_t turn;
    enum odb_status status = ODB_E_USAGE;
    if (odb_stops_later(s->session, true, &turn))
        status = odb_inside_turn(&s->session->inside, turn, &s->options, &why);
    if (status == ODB_E_USAGE) {
        s->session->inside = odb_inside_leave(s->session->inside);
        return step_over(s, err);
    }
    if (status != ODB_OK)
        *err = why;
    return status == ODB_OK ? odb_stops_here(s->session, &s->stop, err) : status;
}

/* N steps. Nodes without bodies run together: the places between them are no stops. */
static enum odb_status step_some(struct step *s, int64_t n, bool enter, struct odb_error *err)
{
    bool entered = false, as_one = !enter;
    while (n > 0 && !step_stopped(s)) {
        const struct odb_walk *walk = step_walk(s);
        const struct odb_graph *graph = walk->model->graph;
        int to = walk->at, end = step_end(s);
        if (to == end && !s->session->inside)
            return step_to(s, end, ODB_NO_NODE, err);
        if (to == end) {
            ODB_TRY(step_turn(s, err));
            n--;
            continue;
        }
        if (!as_one && odb_node_has_body(&graph->nodes[to])) {
            ODB_TRY(step_enter(s, ODB_ANY_TURN, &entered, err));
            if (entered)
                ODB_TRY(odb_stops_here(s->session, &s->stop, err));
            n -= entered;
            as_one = !entered;
            continue;
        }
        do /* as_one: the first of them whatever it is */
            to++;
        while (to < end && to - walk->at < n && !(enter && odb_node_has_body(&graph->nodes[to])));
        n -= to - walk->at;
        int whole = enter && as_one ? walk->at : ODB_NO_NODE;
        as_one = !enter;
        ODB_TRY(step_to(s, to, whole, err));
    }
    return ODB_OK;
}

static enum odb_status step_finish(struct step *s, struct odb_error *err)
{
    ODB_TRY(step_rest(s, false, err));
    return step_stopped(s) ? ODB_OK : step_over(s, err);
}

/* --- from step to step of a sequence ---------------------------------------------------------- */

/* The next step before end in which something may stop the walk; ODB_NO_STEP: none. */
static long step_next_stop(const struct step *s, long end)
{
    for (long step = step_of_sequence(s) + 1; step < end; step++)
        if (odb_stops_may(s->session, step))
            return step;
    return ODB_NO_STEP;
}

/* As the reference has it, before its first node. */
static enum odb_status step_enter_step(struct step *s, long step, struct odb_error *err)
{
    struct odb_feeds *feeds;
    struct odb_walk *walk;
    char text[24];
    ODB_TRY(odb_rollout_feeds(&feeds, s->steps.rollout, (size_t)step, err));
    if (s->session->report)
        odb_buf_printf(&s->notes, "what the search found was of step %ld, and is put away\n",
                       step_of_sequence(s));
    odb_call__feed_take(s->call, feeds);
    snprintf(text, sizeof text, "%ld", step);
    odb_call__take_option(s->call, ODB_OPTION_AT_STEP, text);
    ODB_TRY(odb_call__input_settings_keep(s->call, false, err));
    return odb_session_walk(s->session, &walk, &s->options, true, err);
}

/* From the end of a step to the next; *on: there is one that may stop the walk. */
static enum odb_status step_on(struct step *s, bool *on, struct odb_error *err)
{
    struct odb_plan *plan;
    size_t at;
    *on = false;
    if (step_of_sequence(s) == ODB_NO_STEP || !odb_call__plan_given(s->call) ||
        odb_executor_recorded(s->options.target)) /* of one step */
        return ODB_OK;
    if (!s->steps.rollout) {
        ODB_TRY(odb_call__plan(s->call, NULL, &plan, err));
        long stop = step_next_stop(s, (long)plan->steps);
        odb_plan_free(plan);
        if (stop == ODB_NO_STEP)
            return ODB_OK;
        ODB_TRY(odb_call__steps(s->call, true, &s->steps, &at, err));
    }
    long next = step_next_stop(s, (long)s->steps.rollout->steps.n);
    *on = next != ODB_NO_STEP;
    return *on ? step_enter_step(s, next, err) : ODB_OK;
}

static enum odb_status step_continue(struct step *s, struct odb_error *err)
{
    for (bool on = true; on;) {
        while (s->session->inside && !step_stopped(s))
            ODB_TRY(step_finish(s, err));
        if (!step_stopped(s))
            ODB_TRY(step_to(s, step_end(s), ODB_NO_NODE, err));
        if (step_stopped(s))
            return ODB_OK;
        ODB_TRY(step_on(s, &on, err));
    }
    return ODB_OK;
}

static enum odb_status step_until(struct step *s, const char *text, struct odb_error *err)
{
    const struct odb_walk *walk = step_walk(s);
    int node;
    ODB_TRY(odb_graph_find_node(walk->model->graph, text, &node, err));
    if (node < walk->at || (node == walk->at && s->session->at != ODB_NO_NODE)) {
        odb_fail(err, ODB_E_USAGE, "the walk is past node #%d already", node);
        return odb_error_remedy(err, "`restart` goes back to the beginning");
    }
    return step_to(s, node, ODB_NO_NODE, err);
}

static enum odb_status step_move(struct step *s, enum odb_go how, const char *arg,
                                 struct odb_error *err)
{
    switch (how) {
    case ODB_GO_STEP:
    case ODB_GO_NEXT:
        return step_some(s, arg ? strtoll(arg, NULL, 10) : 1, how == ODB_GO_STEP, err);
    case ODB_GO_UNTIL:
        return step_until(s, arg, err);
    case ODB_GO_FINISH:
        if (!s->session->inside) {
            odb_fail(err, ODB_E_USAGE, "the walk is in no body that could be finished");
            return odb_error_remedy(err, "`continue` goes on to the end of the model");
        }
        return step_finish(s, err);
    case ODB_GO_RESTART:
        return ODB_OK;
    case ODB_GO_RUN:
    case ODB_GO_CONTINUE:
        break;
    }
    return step_continue(s, err);
}

enum odb_status odb_call__walk(struct odb_command_call *call, enum odb_go how, const char *arg,
                               struct odb_error *err)
{
    struct step s = {.call = call, .session = call->session, .notes = ODB_BUF_INIT};
    const struct odb_feeds *feeds;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_watch watch;
    struct odb_walk *walk;
    bool restart = how == ODB_GO_RUN || how == ODB_GO_RESTART;
    s.stop.node = ODB_NO_NODE;
    ODB_TRY(odb_call__search_options(call, &s.options, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    s.options.hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_session_walk(call->session, &walk, &s.options, restart, err);
    if (status == ODB_OK)
        status = step_move(&s, how, arg, err);
    odb_watch_end(&watch);
    odb_call__steps_dispose(&s.steps);
    if (status == ODB_OK) {
        odb_buf_puts(&out, odb_buf_text(&s.notes));
        step_put_place(&s, &out);
        odb_call__tell_displays(call, &out);
        json_t *json = odb_call_has(call, ODB_OPTION_JSON) ? step_json(&s) : NULL;
        status = odb_call__give(call, json, &out, err);
    }
    odb_buf_dispose(&s.notes);
    return status;
}

#define STEP_COMMAND(name, how)                                                                    \
    enum odb_status odb_command__##name(struct odb_command_call *call, struct odb_error *err)      \
    {                                                                                              \
        return odb_call__walk(call, how, odb_call_arg(call, 0), err);                              \
    }
STEP_COMMAND(step, ODB_GO_STEP)
STEP_COMMAND(next, ODB_GO_NEXT)
STEP_COMMAND(until, ODB_GO_UNTIL)
STEP_COMMAND(finish, ODB_GO_FINISH)
STEP_COMMAND(continue, ODB_GO_CONTINUE)
STEP_COMMAND(restart, ODB_GO_RESTART)
