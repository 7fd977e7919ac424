/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A contribution without a run to the outputs. Where all ways from a node to the outputs lead
 * through one node (its next), the error is carried there and no farther. What an error there comes
 * to at the outputs is known, as that node's own contribution over its own local error: times that.
 * From the last node to the first, so that a node's next has its number. It holds as far as errors
 * grow in proportion, and alike whatever their direction is; so it is called an estimate.
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
    bool known =
        about->known == ODB_SENSITIVITY_MEASURED || about->known == ODB_SENSITIVITY_ESTIMATED;
    if (!known || s->graph->nodes[index].n_out != 1 || !estimate_is_number(about->local) ||
        !estimate_is_number(about->contribution))
        return 0;
    return about->contribution.error / about->local.error;
}

/* The nearest node that all goes through and of which that is known; n_nodes: there is none. */
static int estimate_stop(const struct sensitivity *s, int index)
{
    int end = (int)s->graph->n_nodes, at = s->next[index];
    while (at != end && !(estimate_gain(s, at) > 0))
        at = s->next[at];
    return at;
}

static enum odb_status estimate_one(struct sensitivity *s, int index, struct odb_error *err)
{
    struct odb_sensitive *about = &s->result->nodes[index];
    int stop = estimate_stop(s, index), end = (int)s->graph->n_nodes;
    struct carried carried;
    ODB_TRY(sensitivity_measure(s, index, stop, &carried, err));
    about->reruns = carried.reruns;
    if (carried.failed) {
        about->known = ODB_SENSITIVITY_UNRUN;
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

enum odb_status sensitivity_estimate(struct sensitivity *s, struct odb_error *err)
{
    const char *phase = "estimated contributions";
    size_t total = s->graph->n_nodes;
    odb_hooks_phase(&s->options->hooks, phase, total);
    for (size_t i = 0; i < total; i++) {
        int n = (int)(total - 1 - i);
        const struct odb_sensitive *about = &s->result->nodes[n];
        if (about->known != ODB_SENSITIVITY_LEFT || !estimate_is_number(about->local) ||
            s->next[n] == ODB_NO_NODE)
            continue;
        if (sensitivity_ends(s))
            return ODB_OK;
        ODB_TRY(estimate_one(s, n, err));
        odb_hooks_progress(&s->options->hooks, phase, n, i + 1, total);
    }
    return ODB_OK;
}

void sensitivity_check_estimates(struct sensitivity *s)
{
    struct odb_sensitivity_result *r = s->result;
    struct sensitivity_rank *off = odb_new_n(struct sensitivity_rank, s->graph->n_nodes + 1);
    for (size_t n = 0; n < s->graph->n_nodes; n++) {
        const struct odb_sensitive *about = &r->nodes[n];
        if (about->known == ODB_SENSITIVITY_MEASURED && about->estimate > 0 &&
            estimate_is_number(about->contribution))
            off[r->n_checked++] = (struct sensitivity_rank){
                .node = (int)n, .a = fabs(log(about->estimate / about->contribution.error))};
    }
    sensitivity_sort(off, r->n_checked);
    r->off_half = r->n_checked ? exp(off[r->n_checked / 2].a) : NAN;
    r->off_most = r->n_checked ? exp(off[r->n_checked / 10].a) : NAN;
    free(off);
}
