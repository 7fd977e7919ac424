/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The plan: local errors of all nodes, which cost little more than two runs of the model; then
 * contributions, each of which costs a run of what follows. Where all of them take longer than
 * there is time, they are estimated first, and measured from the largest estimate on.
 */
#include "sensitivity/sensitivity.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "compare/metrics.h"
#include "run/hooks.h"
#include "sensitivity/sensitivity_int.h"

#define SENSITIVITY_ESTIMATES 0.5 /* part of the time that estimates may take at most */
#define SENSITIVITY_TARGET 0.35   /* part of the time that is left for what the target shows */
#define SENSITIVITY_SPARE 2       /* times the time that all is thought to take */
#define SENSITIVITY_HARMLESS 0.01 /* of the squares */

const char *odb_sensitivity_known_word(enum odb_sensitivity_known known)
{
    static const char *const words[] = {"nothing", "cannot run", "not measured", "estimated",
                                        "measured"};
    return words[known];
}

const char *odb_sensitivity_how_word(enum odb_sensitivity_how how)
{
    static const char *const words[] = {"finite", "overflow", "choice", "zeros"};
    return words[how];
}

/* --- errors ----------------------------------------------------------------------------------- */

struct odb_sensitivity_error sensitivity_no_error(void)
{
    return (struct odb_sensitivity_error){.value = ODB_NO_VALUE};
}

struct odb_sensitivity_error sensitivity_distance(const struct odb_tensor *t,
                                                  const struct odb_tensor *base, int value)
{
    struct odb_sensitivity_error out = sensitivity_no_error();
    struct odb_metrics m;
    if (!base || t == base)
        return out;
    odb_compare(&m, t, base, -1);
    if (m.nan_ref_only || m.nan_target_only || m.inf_mismatch)
        out.how = ODB_SENSITIVITY_OVERFLOW;
    else if (m.missing || m.shape_mismatch || m.dtype_mismatch || m.exact_differing)
        out.how = ODB_SENSITIVITY_CHOICE;
    else if (isinf(m.finite_diff2))
        out.how = ODB_SENSITIVITY_ZEROS;
    else
        out.finite = isnan(m.finite_diff2) ? 0 : m.finite_diff2;
    out.error = out.how == ODB_SENSITIVITY_FINITE ? out.finite : INFINITY;
    out.value = out.error > 0 ? value : ODB_NO_VALUE;
    return out;
}

void sensitivity_raise(struct odb_sensitivity_error *most, struct odb_sensitivity_error one)
{
    double finite = fmax(most->finite, one.finite);
    bool first = isinf(one.error) && isinf(most->error) && one.how < most->how; /* overflow */
    if (one.error > most->error || first)
        *most = one;
    most->finite = finite;
}

/* --- time ------------------------------------------------------------------------------------- */

bool sensitivity_ends(struct sensitivity *s)
{
    const struct odb_search_hooks *hooks = &s->options->hooks;
    if (hooks->cancelled && hooks->cancelled(hooks->payload))
        s->result->stopped = true;
    return s->result->stopped || (s->until > 0 && odb_clock() > s->until);
}

bool sensitivity_cancelled(void *payload)
{
    return sensitivity_ends(payload);
}

/* The work now at hand may go on until so much of the time is over. */
static void sensitivity_until(struct sensitivity *s, double part)
{
    s->until = s->deadline > 0 ? s->start + part * (s->deadline - s->start) : 0;
}

/* The part of the time by which nothing is measured any more. */
static double sensitivity_measured_by(const struct sensitivity *s)
{
    return s->options->target ? 1 - SENSITIVITY_TARGET : 1;
}

/* --- contributions ---------------------------------------------------------------------------- */

/* Whether all can be measured in the time, by how long the reference took, as if everything behind
 * a node followed from it. */
static bool sensitivity_fits(const struct sensitivity *s)
{
    double behind = 0, all = 0;
    if (s->deadline <= 0)
        return true;
    for (size_t n = s->graph->n_nodes; n-- > 0;) {
        if (s->result->nodes[n].known == ODB_SENSITIVITY_LEFT)
            all += behind;
        behind += s->trace->took[n];
    }
    return SENSITIVITY_SPARE * all <
           s->start + sensitivity_measured_by(s) * (s->deadline - s->start) - odb_clock();
}

/* What local errors are multiplied by, at the nodes where that is known: their geometric mean. */
static double sensitivity_gain(const struct sensitivity *s)
{
    double sum = 0;
    size_t count = 0;
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        const struct odb_sensitive *about = &s->result->nodes[n];
        double gain = about->contribution.error / about->local.error;
        if (!isfinite(gain) || !(gain > 0))
            continue;
        sum += log(gain);
        count++;
    }
    return count ? exp(sum / (double)count) : 1;
}

/* What is measured first: what overflows, then by estimate, or what an error of this size is
 * elsewhere. */
static size_t sensitivity_list(const struct sensitivity *s, struct sensitivity_rank *list)
{
    double gain = sensitivity_gain(s);
    size_t count = 0;
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        const struct odb_sensitive *about = &s->result->nodes[n];
        bool open =
            about->known == ODB_SENSITIVITY_LEFT || about->known == ODB_SENSITIVITY_ESTIMATED;
        if (open && !isnan(about->local.error))
            list[count++] =
                (struct sensitivity_rank){.node = (int)n,
                                          .a = isinf(about->local.error) ? INFINITY
                                               : isnan(about->estimate)  ? about->local.error * gain
                                                                         : about->estimate,
                                          .b = about->local.error};
    }
    sensitivity_sort(list, count);
    return count;
}

static enum odb_status sensitivity_one(struct sensitivity *s, int node, struct odb_error *err)
{
    struct odb_sensitive *about = &s->result->nodes[node];
    struct carried carried;
    enum odb_status status = sensitivity_measure(s, node, (int)s->graph->n_nodes, &carried, err);
    if (status == ODB_CANCELLED && sensitivity_ends(s))
        return ODB_OK;
    ODB_TRY(status);
    about->reruns = carried.reruns;
    about->known = carried.failed ? ODB_SENSITIVITY_UNRUN : ODB_SENSITIVITY_MEASURED;
    about->contribution = carried.end;
    if (carried.failed)
        about->contribution.error = NAN;
    return ODB_OK;
}

static enum odb_status sensitivity_all(struct sensitivity *s, struct odb_error *err)
{
    const char *phase = "contributions";
    struct sensitivity_rank *list = odb_new_n(struct sensitivity_rank, s->graph->n_nodes + 1);
    size_t n = sensitivity_list(s, list);
    enum odb_status status = ODB_OK;
    odb_hooks_phase(&s->options->hooks, phase, n);
    for (size_t i = 0; i < n && status == ODB_OK && !sensitivity_ends(s); i++) {
        status = sensitivity_one(s, list[i].node, err);
        odb_hooks_progress(&s->options->hooks, phase, list[i].node, i + 1, n);
    }
    free(list);
    return status;
}

static enum odb_status sensitivity_contributions(struct sensitivity *s, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    sensitivity_until(s, SENSITIVITY_ESTIMATES * sensitivity_measured_by(s));
    if (!sensitivity_fits(s))
        status = sensitivity_estimate(s, err);
    if (status == ODB_CANCELLED && sensitivity_ends(s))
        status = ODB_OK;
    ODB_TRY(status);
    sensitivity_until(s, sensitivity_measured_by(s));
    return sensitivity_all(s, err);
}

/* --- what may be said ------------------------------------------------------------------------- */

static void sensitivity_count(struct sensitivity *s)
{
    struct odb_sensitivity_result *r = s->result;
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        const struct odb_sensitive *about = &r->nodes[n];
        r->n_measured += about->known == ODB_SENSITIVITY_MEASURED;
        r->n_estimated += about->known == ODB_SENSITIVITY_ESTIMATED;
        r->n_left += about->known == ODB_SENSITIVITY_LEFT;
        r->n_unrun += about->known == ODB_SENSITIVITY_UNRUN;
        r->n_exact += about->known == ODB_SENSITIVITY_MEASURED && about->contribution.error == 0;
    }
    r->late = !r->stopped && (r->n_left || r->n_estimated);
}

static void sensitivity_order(struct sensitivity *s)
{
    struct odb_sensitivity_result *r = s->result;
    struct sensitivity_rank *list = odb_new_n(struct sensitivity_rank, s->graph->n_nodes + 1);
    double rest = 0;
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        const struct odb_sensitive *about = &r->nodes[n];
        if (about->known < ODB_SENSITIVITY_ESTIMATED)
            continue;
        list[r->n_ranked++] = (struct sensitivity_rank){
            (int)n, about->contribution.error,
            isinf(about->contribution.error) ? about->contribution.finite : about->local.error};
        if (isfinite(about->contribution.error))
            r->squares += about->contribution.error * about->contribution.error;
    }
    sensitivity_sort(list, r->n_ranked);
    r->order = odb_new_n(int, r->n_ranked + 1);
    for (size_t i = 0; i < r->n_ranked; i++)
        r->order[i] = list[i].node;
    for (size_t i = r->n_ranked; i-- > 0 && isfinite(list[i].a); r->n_harmless++) {
        rest += list[i].a * list[i].a;
        if (rest >= SENSITIVITY_HARMLESS * r->squares && rest > 0)
            break;
        r->n_harmless_estimated += r->nodes[list[i].node].known == ODB_SENSITIVITY_ESTIMATED;
    }
    free(list);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Least and greatest of every float value; 0 is always between; NaN: it has no steps. */
static double (*sensitivity_ranges(const struct sensitivity *s))[2]
{
    double(*range)[2] = odb_xcalloc(s->graph->n_values + 1, sizeof *range);
    for (size_t v = 0; v < s->graph->n_values; v++) {
        const struct odb_tensor *t = s->trace->ref[v];
        if (!t || t->kind != ODB_TENSOR || t->dtype != ODB_F32)
            continue;
        for (size_t i = 0; i < t->count && !isinf(range[v][1]); i++) {
            double x = odb_tensor_f64(t, i);
            range[v][0] = fmin(range[v][0], x);
            range[v][1] = isnan(x) ? INFINITY : fmax(range[v][1], x);
        }
    }
    return range;
}

static enum odb_status sensitivity_steps(struct sensitivity *s, struct odb_error *err)
{
    const struct odb_tensor **like = odb_new_n(const struct odb_tensor *, s->graph->n_values + 1);
    double(*range)[2] = sensitivity_ranges(s);
    for (size_t v = 0; v < s->graph->n_values; v++)
        like[v] = odb_trace_value(s->trace, (int)v);
    const struct odb_convert_options options = {
        .to = ODB_I8, .like = like, .range = (const double(*)[2])range};
    enum odb_status status = odb_convert_new(&s->convert, s->model, &options, err);
    free(like);
    free(range);
    return status;
}

static enum odb_status sensitivity_check(const struct sensitivity *s, struct odb_error *err)
{
    size_t had = 0;
    for (size_t o = 0; o < s->graph->n_outputs; o++)
        had += odb_trace_value(s->trace, s->graph->outputs[o]) != NULL;
    s->result->n_without = s->graph->n_outputs - had;
    if (had)
        return ODB_OK;
    odb_fail(err, ODB_UNSUPPORTED, "the reference computes none of the outputs");
    return odb_error_remedy(err, "`onnxdbg info` says which operators it lacks");
}

static enum odb_status sensitivity_prepare(struct sensitivity *s, struct odb_error *err)
{
    ODB_TRY(sensitivity_check(s, err));
    if (s->options->to == ODB_I8)
        ODB_TRY(sensitivity_steps(s, err));
    sensitivity_follow(s);
    sensitivity_carry_begin(s);
    return ODB_OK;
}

static enum odb_status sensitivity_do(struct sensitivity *s, struct odb_error *err)
{
    ODB_TRY(sensitivity_prepare(s, err));
    sensitivity_until(s, sensitivity_measured_by(s));
    ODB_TRY(sensitivity_whole(s, err));
    ODB_TRY(sensitivity_local(s, err));
    ODB_TRY(sensitivity_contributions(s, err));
    sensitivity_check_estimates(s);
    sensitivity_count(s);
    sensitivity_order(s);
    sensitivity_until(s, 1);
    return s->options->target && !s->result->stopped ? sensitivity_shown(s, err) : ODB_OK;
}

/* result: to be filled in, and freed by sensitivity_end() unless it is taken out. */
static struct sensitivity sensitivity_begin(const struct odb_model *model,
                                            const struct odb_feeds *feeds,
                                            const struct odb_trace *trace,
                                            const struct odb_sensitivity_options *options)
{
    struct odb_sensitivity_result *r = odb_new(struct odb_sensitivity_result);
    double start = odb_clock();
    trace = trace->own ? trace->own : trace;
    *r = (struct odb_sensitivity_result){
        .model = model,
        .to = options->to,
        .nodes = odb_new_n(struct odb_sensitive, model->graph->n_nodes + 1),
        .target = options->target ? odb_xstrdup(options->target) : NULL,
        .target_error = {.error = NAN, .value = ODB_NO_VALUE},
        .local = {.rank = NAN},
        .outputs = {.rank = NAN}};
    return (struct sensitivity){.model = model,
                                .graph = model->graph,
                                .feeds = feeds,
                                .trace = trace,
                                .options = options,
                                .result = r,
                                .as = options->to == ODB_F16    ? ODB_PREC_F16
                                      : options->to == ODB_BF16 ? ODB_PREC_BF16
                                                                : trace->precision,
                                .start = start,
                                .deadline = options->seconds > 0 ? start + options->seconds : 0};
}

static void sensitivity_end(struct sensitivity *s)
{
    sensitivity_carry_end(s);
    odb_convert_free(s->convert);
    free(s->next);
    odb_sensitivity_result_free(s->result);
}

enum odb_status odb_sensitivity(struct odb_sensitivity_result **out, const struct odb_model *model,
                                const struct odb_feeds *feeds, const struct odb_trace *trace,
                                const struct odb_sensitivity_options *options,
                                struct odb_error *err)
{
    struct sensitivity s = sensitivity_begin(model, feeds, trace, options);
    enum odb_status status = sensitivity_do(&s, err);
    s.result->seconds = odb_clock() - s.start;
    *out = status == ODB_OK ? s.result : NULL;
    if (status == ODB_OK)
        s.result = NULL;
    sensitivity_end(&s);
    return status;
}

enum odb_status sensitivity_tell(struct sensitivity *s, struct odb_tensor *const *values,
                                 struct odb_error *err)
{
    if (!s->made)
        return ODB_OK;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, s->graph->n_outputs + 1);
    for (size_t o = 0; o < s->graph->n_outputs && values; o++)
        outputs[o] = values[s->graph->outputs[o]];
    enum odb_status status = s->made(s->payload, s->which, values ? outputs : NULL, err);
    free(outputs);
    return status;
}

/* One node, or all of them, on the way to the outputs. */
static enum odb_status sensitivity_try(struct sensitivity *s, const int *nodes, size_t n,
                                       struct odb_error *err)
{
    struct carried carried = {0};
    struct odb_error why = ODB_ERROR_INIT;
    bool whole = s->which == n;
    enum odb_status status =
        whole ? sensitivity_whole(s, &why)
              : sensitivity_measure(s, nodes[s->which], (int)s->graph->n_nodes, &carried, &why);
    if (status == ODB_CANCELLED || status == ODB_E_NOMEM) {
        *err = why;
        return status;
    }
    ODB_TRY(odb_hooks_cancelled(&s->options->hooks, err));
    bool failed = status != ODB_OK || carried.failed || (whole && s->result->whole_why);
    return failed ? sensitivity_tell(s, NULL, err) : ODB_OK;
}

enum odb_status odb_sensitivity_outputs(const struct odb_model *model,
                                        const struct odb_feeds *feeds,
                                        const struct odb_trace *trace,
                                        const struct odb_sensitivity_options *options,
                                        const int *nodes, size_t n, odb_sensitivity_made_fn *made,
                                        void *payload, struct odb_error *err)
{
    struct sensitivity s = sensitivity_begin(model, feeds, trace, options);
    s.made = made;
    s.payload = payload;
    enum odb_status status = sensitivity_prepare(&s, err);
    for (s.which = 0; s.which <= n && status == ODB_OK; s.which++)
        status = sensitivity_try(&s, nodes, n, err);
    sensitivity_end(&s);
    return status;
}

void odb_sensitivity_result_free(struct odb_sensitivity_result *r)
{
    if (!r)
        return;
    free(r->nodes);
    free(r->order);
    free(r->whole_why);
    free(r->target);
    free(r->description);
    free(r->target_why);
    free(r);
}
