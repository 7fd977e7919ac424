/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suspects/suspects.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "interpret/cpu.h"
#include "run/hooks.h"
#include "suspects/suspects_int.h"

bool suspects_stopping(struct suspects *s)
{
    const struct odb_search_hooks *hooks = &s->options->search->hooks;
    double end = odb_clock() + SUSPECTS_GRACE;
    if (s->result->stopped || !hooks->cancelled || !hooks->cancelled(hooks->payload))
        return false;
    s->result->stopped = true;
    s->start = odb_clock();
    s->deadline = s->deadline > 0 ? fmin(s->deadline, end) : end;
    return true;
}

bool suspects_late(struct suspects *s, double part)
{
    suspects_stopping(s);
    return s->deadline > 0 && odb_clock() > s->start + part * (s->deadline - s->start);
}

static int suspects_first(const void *a, const void *b)
{
    const struct observed *x = a, *y = b;
    return x->differs != y->differs ? y->differs - x->differs
                                    : (x->sample > y->sample) - (x->sample < y->sample);
}

static enum odb_status suspects_rank(struct suspects *s, struct odb_error *err)
{
    suspects_weigh(s);
    qsort(s->seen.items, s->seen.n, sizeof *s->seen.items, suspects_first);
    enum odb_status status = suspects_list(s, err);
    if (status == ODB_OK)
        status = suspects_screen(s, err);
    if (status != ODB_OK && status != ODB_CANCELLED)
        return status;
    suspects_conclude(s);
    return ODB_OK;
}

static bool suspects_differ(const struct suspects *s)
{
    for (size_t i = 0; i < s->seen.n; i++)
        if (s->seen.items[i].differs)
            return true;
    return false;
}

static void suspects_dispose(struct suspects *s)
{
    for (size_t i = 0; i < s->seen.n; i++) {
        suspects_drop(s, s->seen.items[i].values);
        free(s->seen.items[i].golden);
        free(s->seen.items[i].off);
    }
    free(s->seen.items);
    free(s->candidates.items);
    free(s->leads);
    free(s->scale);
    odb_cpu_free(s->cpu);
}

enum odb_status odb_suspects(struct odb_suspects **out, const struct odb_model *model,
                             struct odb_samples *samples,
                             const struct odb_suspects_options *options, struct odb_error *err)
{
    struct odb_suspects *r = odb_new(struct odb_suspects);
    double began = odb_clock();
    struct suspects s = {.model = model,
                         .graph = model->graph,
                         .options = options,
                         .samples = samples,
                         .result = r,
                         .leads = odb_new_n(bool, model->graph->n_nodes + 1),
                         .scale = odb_new_n(double, model->graph->n_outputs + 1),
                         .start = began,
                         .deadline = options->seconds > 0 ? began + options->seconds : 0};
    *r = (struct odb_suspects){.model = model,
                               .target = odb_xstrdup(options->search->target),
                               .probability = NAN,
                               .complete = true};
    enum odb_status status = odb_cpu_new(&s.cpu, model, err);
    if (status == ODB_OK)
        status = suspects_observe(&s, err);
    if (status == ODB_OK && suspects_differ(&s))
        status = suspects_rank(&s, err);
    suspects_dispose(&s);
    r->complete &= !r->stopped;
    r->seconds = odb_clock() - began;
    *out = status == ODB_OK ? r : NULL;
    if (status != ODB_OK)
        odb_suspects_free(r);
    return status;
}

void odb_suspects_free(struct odb_suspects *suspects)
{
    if (!suspects)
        return;
    free(suspects->target);
    free(suspects->list.items);
    free(suspects);
}
