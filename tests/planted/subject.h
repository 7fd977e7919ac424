/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model that faults are planted in, and the specs of targets that have them.
 */
#ifndef TESTS_PLANTED_SUBJECT_H
#define TESTS_PLANTED_SUBJECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs/inputs.h"
#include "base/clock.h"
#include "base/mem.h"
#include "bisect/plan/bisect.h"
#include "judge/blame.h"
#include "probe/probe.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "tensor/random.h"
#include "model/read/load.h"

struct subject {
    const char *path;
    struct odb_model *model;
    struct odb_feeds *feeds;
    struct odb_trace *trace;
    int *eligible;
    size_t n_eligible;
};

#define PLANTED_AMOUNT 1e-2

/* A node can be planted when it has a float output that is finite and not all zero, in a type
 * where rounding does not explain as much as is planted: in float16 it does. */
static bool eligible(const struct subject *s, const struct odb_node *node)
{
    for (int o = 0; o < node->n_out; o++) {
        const struct odb_tensor *t = node->out[o] < 0 ? NULL : s->trace->ref[node->out[o]];
        if (!t || t->kind != ODB_TENSOR || !odb_dtype_is_float(t->dtype))
            continue;
        struct odb_gap gap;
        odb_gap_measure(&gap, t, t);
        const struct odb_value *value = &s->model->graph->values[node->out[o]];
        bool read = value->n_consumers > 0 || value->is_output;
        double explained = 10 * odb_noise_floor(gap.rms, t->dtype);
        return read && value->name[0] && gap.rms > 0 && explained < PLANTED_AMOUNT &&
               !odb_cpu_random(s->trace->cpu, node->index);
    }
    return false;
}

static enum odb_status subject_open(struct subject *s, const char *path, const char *reference,
                                    const char *expect, struct odb_error *err)
{
    struct stat st;
    struct odb_input_options inputs = ODB_INPUT_OPTIONS_INIT;
    struct odb_bisect_options search = {.reference = reference, .expect = expect};
    struct odb_trace_options how;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    char *file = folder ? odb_xasprintf("%s/model.onnx", path) : odb_xstrdup(path);
    char *data = odb_xasprintf("%s/test_data_set_0", path);
    enum odb_status status = ODB_OK;
    *s = (struct subject){.path = path};
    inputs.inputs_from = folder ? data : NULL;
    ODB_TRY_OUT(odb_bisect_trace_options(&search, &how, err));
    ODB_TRY_OUT(odb_model_open(&s->model, file, err));
    ODB_TRY_OUT(odb_feeds_make(&s->feeds, s->model, &inputs, err));
    ODB_TRY_OUT(odb_reference_make(&s->trace, s->model, s->feeds, &how, err));
    s->eligible = odb_new_n(int, s->model->graph->n_nodes);
    for (size_t n = 0; n < s->model->graph->n_nodes; n++)
        if (eligible(s, &s->model->graph->nodes[n]))
            s->eligible[s->n_eligible++] = (int)n;
out:
    free(file);
    free(data);
    return status;
}

static void subject_close(struct subject *s)
{
    free(s->eligible);
    odb_trace_free(s->trace);
    odb_feeds_free(s->feeds);
    odb_model_free(s->model);
}

static bool faultless(const char *kind)
{
    return strcmp(kind, "none") == 0 || strcmp(kind, "honest") == 0;
}

static bool records(const char *kind)
{
    return strcmp(kind, "recorded") == 0 || strcmp(kind, "sparse") == 0 ||
           strcmp(kind, "spoilt") == 0 || strcmp(kind, "honest") == 0;
}

static char *fault_spec(const char *kind, int node, const char *target)
{
    if (faultless(kind) || strcmp(kind, "spoilt") == 0)
        return odb_xstrdup(target);
    if (strcmp(kind, "hidden") == 0)
        return odb_xasprintf("fault:scale,node=#%d,amount=%g,hidden@%s", node, PLANTED_AMOUNT,
                             target);
    if (strcmp(kind, "scale") == 0 || strcmp(kind, "reference") == 0 || records(kind))
        return odb_xasprintf("fault:scale,node=#%d,amount=%g@%s", node, PLANTED_AMOUNT, target);
    if (strcmp(kind, "hang") == 0)
        return odb_xasprintf("fault:hang,node=#%d,timeout=2@%s", node, target);
    return odb_xasprintf("fault:%s,node=#%d@%s", kind, node, target);
}

#endif
