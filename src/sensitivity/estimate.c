/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A contribution without a run to the outputs. Where all ways from a node to the outputs lead
 * through one node, the error is carried there and no farther. What an error there comes to at the
 * outputs is known, as that node's own contribution over its own local error: times that. Such
 * nodes (anchors) are measured themselves, so many that the way to the next is short: estimates by
 * estimates would be off by more from one to the next. It holds as far as errors grow in
 * proportion, and alike whatever their direction is; so it is called an estimate.
 */
#include <math.h>
#include <stdlib.h>

#include "run/hooks.h"
#include "sensitivity/sensitivity_int.h"

/* --- the next node ---------------------------------------------------------------------------- */

/* The first node that both lead through. */
static int estimate_meet(const struct sensitivity *s, int a, int b)
{
    while (a != b)
        if (a < b)
            a = s->next[a];
        else
            b = s->next[b];
    return a;
}

void sensitivity_follow(struct sensitivity *s)
{
    int end = (int)s->graph->n_nodes;
    s->next = odb_new_n(int, s->graph->n_nodes + 1);
    s->next[end] = end;
    for (int n = end - 1; n >= 0; n--) {
        const struct odb_node *node = &s->graph->nodes[n];
        int meet = ODB_NO_NODE;
        for (int o = 0; o < node->n_out; o++) {
            const struct odb_value *v = node->out[o] < 0 ? NULL : &s->graph->values[node->out[o]];
            if (v && v->is_output)
                meet = end;
            for (size_t c = 0; v && c < v->n_consumers; c++) {
                int reader = v->consumers[c];
                if (s->next[reader] != ODB_NO_NODE)
                    meet = meet == ODB_NO_NODE ? reader : estimate_meet(s, meet, reader);
            }
        }
        s->next[n] = meet;
    }
}

/* --- estimates -------------------------------------------------------------------------------- */

static bool estimate_is_number(struct odb_sensitivity_error e)
{
    return e.how == ODB_SENSITIVITY_FINITE && isfinite(e.error) && e.error > 0;
}

/* What an error of what the node makes is to be multiplied by; 0: that is not known. */
static double estimate_gain(const struct sensitivity *s, int index)
{
    const struct odb_sensitive *about = &s->result->nodes[index];
    if (about->known != ODB_SENSITIVITY_MEASURED || s->graph->nodes[index].n_out != 1 ||
        !estimate_is_number(about->local) || !estimate_is_number(about->contribution))
        return 0;
    return about->contribution.error / about->local.error;
}

/* Whether a node may become an anchor. */
static bool estimate_may(const struct sensitivity *s, int index)
{
    const struct odb_sensitive *about = &s->result->nodes[index];
    return about->known != ODB_SENSITIVITY_NOTHING && about->known != ODB_SENSITIVITY_UNRUN &&
           about->known != ODB_SENSITIVITY_MEASURED && s->graph->nodes[index].n_out == 1 &&
           estimate_is_number(about->local);
}

/* A run from a node up to stop; up to the outputs, it is measured. */
static enum odb_status estimate_one(struct sensitivity *s, int index, int stop,
                                    struct odb_error *err)
{
    struct odb_sensitive *about = &s->result->nodes[index];
    int end = (int)s->graph->n_nodes;
    struct carried carried;
    ODB_TRY(sensitivity_measure(s, index, stop, &carried, err));
    about->reruns = carried.reruns;
    if (carried.failed) {
        about->known = ODB_SENSITIVITY_UNRUN;
        about->contribution.error = NAN;
    } else if (stop == end || carried.end.value == ODB_NO_VALUE) {
        about->contribution = carried.end;
        about->known = ODB_SENSITIVITY_MEASURED;
    } else if (estimate_is_number(carried.end)) {
        about->contribution = s->result->nodes[stop].contribution;
        about->contribution.error = carried.end.error * estimate_gain(s, stop);
        about->contribution.finite = about->contribution.error;
        about->estimate = about->contribution.error;
        about->known = ODB_SENSITIVITY_ESTIMATED;
    }
    return ODB_OK;
}

/* The nearest anchor on all ways from a node; n_nodes: there is none. Where that is far, the first
 * node on all ways that can be one becomes one. behind: [n_nodes + 1] seconds of the reference from
 * a node on. With so many anchors as the root of the
 * nodes, they take as long as the ways to them do, and both together least. */
static enum odb_status estimate_anchor(struct sensitivity *s, int index, const double *behind,
                                       int *out, struct odb_error *err)
{
    int end = (int)s->graph->n_nodes, at = s->next[index], may = end;
    double far = behind[0] / sqrt((double)ODB_MAX(s->result->n_computes, (size_t)1));
    while (at != end && !(estimate_gain(s, at) > 0)) {
        may = may == end && estimate_may(s, at) ? at : may;
        at = s->next[at];
    }
    *out = at;
    if (may == end || behind[may] - behind[at] <= far)
        return ODB_OK;
    ODB_TRY(estimate_one(s, may, end, err));
    *out = estimate_gain(s, may) > 0 ? may : at;
    return ODB_OK;
}

enum odb_status sensitivity_estimate(struct sensitivity *s, struct odb_error *err)
{
    const char *phase = "estimated contributions";
    size_t total = s->graph->n_nodes;
    double *behind = odb_new_n(double, total + 1);
    enum odb_status status = ODB_OK;
    for (size_t n = total; n-- > 0;)
        behind[n] = behind[n + 1] + s->trace->took[n];
    odb_hooks_phase(&s->options->hooks, phase, total);
    for (size_t i = 0; i < total && status == ODB_OK && !sensitivity_ends(s); i++) {
        int n = (int)(total - 1 - i), stop;
        const struct odb_sensitive *about = &s->result->nodes[n];
        if (about->known != ODB_SENSITIVITY_LEFT || !estimate_is_number(about->local) ||
            s->next[n] == ODB_NO_NODE)
            continue;
        status = estimate_anchor(s, n, behind, &stop, err);
        if (status == ODB_OK && s->result->nodes[n].known == ODB_SENSITIVITY_LEFT)
            status = estimate_one(s, n, stop, err);
        odb_hooks_progress(&s->options->hooks, phase, n, i + 1, total);
    }
    free(behind);
    return status;
}

void sensitivity_check_estimates(struct sensitivity *s)
{
    struct odb_sensitivity_result *r = s->result;
    struct sensitivity_rank *off = odb_new_n(struct sensitivity_rank, s->graph->n_nodes + 1);
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        const struct odb_sensitive *about = &r->nodes[n];
        if (about->known == ODB_SENSITIVITY_MEASURED && about->estimate > 0 &&
            estimate_is_number(about->contribution) &&
            about->contribution.error > ODB_SENSITIVITY_ROUNDING)
            off[r->n_checked++] = (struct sensitivity_rank){
                .node = (int)n, .a = fabs(log(about->estimate / about->contribution.error))};
    }
    sensitivity_sort(off, r->n_checked);
    r->off_half = r->n_checked ? exp(off[r->n_checked / 2].a) : NAN;
    r->off_most = r->n_checked ? exp(off[r->n_checked / 10].a) : NAN;
    free(off);
}
