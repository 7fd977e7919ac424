/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * python:FILE.py:CLASS, a metric of the user's. Its class lives in a child as a target does
 * (share/python/onnxdbg_score.py), so that it may crash or hang without harm. The child has every
 * sample's outputs from when it is given them until the end, and makes an object for each score.
 *
 * What passes between is two models that are never run, for the protocol knows nothing else: one
 * takes the outputs and gives the number of what was taken, the other takes such numbers and gives
 * a score.
 */
#include <stdlib.h>
#include <string.h>

#include "executor/programs/share.h"
#include "executor/spec.h"
#include "executor/transport/target.h"
#include "model/write/build.h"
#include "score/metric.h"

#define OWN_FILE "onnxdbg_score.py"
#define OWN_LABEL "onnxdbg_label"
#define OWN_TAKEN "onnxdbg_taken"
#define OWN_PICKED "onnxdbg_picked"
#define OWN_SCORE "onnxdbg_score"

static const struct odb_executor_option own_options[] = {
    {":", "FILE.py[:CLASS]", NULL, "the file, and the class where it has several", true},
    {"*", "VALUE", NULL, "what the class takes when it is made", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status own_load(struct odb_metric *m, struct odb_builder *b, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_bytes(b, &bytes);
    struct odb_load load = {.bytes = bytes.data, .size = bytes.len, .dir = "/"};
    enum odb_status status = odb_target_load(m->own, &load, err);
    odb_buf_dispose(&bytes);
    odb_build_free(b);
    return status;
}

/* picked: the model that scores; else the one that takes. */
static enum odb_status own_turn(struct odb_metric *m, bool picked, struct odb_error *err)
{
    struct odb_builder *b;
    if (m->axis == picked + 1) /* it is loaded */
        return ODB_OK;
    m->axis = picked + 1;
    b = odb_build_new("score", 17);
    for (size_t o = 0; !picked && o < m->graph->n_outputs; o++)
        odb_build_input(b, m->graph->values[m->graph->outputs[o]].name, ODB_F32, 0, NULL);
    if (!picked && m->labels)
        odb_build_input(b, OWN_LABEL, ODB_F32, 0, NULL);
    if (picked)
        odb_build_input(b, OWN_PICKED, ODB_I64, 1, (int64_t[]){-1});
    odb_build_output_typed(b, picked ? OWN_SCORE : OWN_TAKEN, picked ? ODB_F64 : ODB_I64, picked,
                           (int64_t[]){2});
    return own_load(m, b, err);
}

static enum odb_status own_open(struct odb_metric *m, struct odb_error *err)
{
    char *driver = odb_share_find("python", OWN_FILE);
    struct odb_buf spec = ODB_BUF_INIT;
    if (!driver)
        return odb_fail(err, ODB_E_EXECUTOR, "share/python/" OWN_FILE " is not found");
    odb_buf_puts(&spec, "python:");
    odb_spec_put_word(&spec, driver);
    odb_buf_puts(&spec, ":Score,file=");
    odb_spec_put_word(&spec, m->spec->arg);
    for (size_t i = 0; i < m->spec->n_options; i++) {
        odb_buf_printf(&spec, ",%s=", m->spec->options[i].key);
        odb_spec_put_word(&spec, m->spec->options[i].value);
    }
    enum odb_status status = odb_target_open_until(&m->own, odb_buf_text(&spec), m->hooks.cancelled,
                                                   m->hooks.payload, err);
    odb_buf_dispose(&spec);
    free(driver);
    return status;
}

/* A row of an array, else the line as it stands. */
static enum odb_status own_label(struct odb_metric *m, const struct odb_metric_sample *sample,
                                 struct odb_tensor **out, struct odb_error *err)
{
    const char *line;
    if (m->labels->rows)
        return odb_labels_numbers(m->labels, sample->index, sample->source, out, err);
    if (m->labels->coco)
        line = sample->source;
    else
        ODB_TRY(odb_labels_line(m->labels, sample->index, sample->source, &line, err));
    ODB_TRY(odb_tensor_new(out, ODB_STRING, 0, NULL, err));
    return odb_tensor_set_string(*out, 0, line, strlen(line), err);
}

/* The child is gone, or said no: all that it was given is gone with it, so that this is no word of
 * the target that is scored. */
static enum odb_status own_end(enum odb_status status, struct odb_error *err)
{
    if (status == ODB_OK || status == ODB_CANCELLED)
        return status;
    if (err)
        err->code = ODB_E_INPUT;
    return ODB_E_INPUT;
}

static enum odb_status own_take(struct odb_metric *m, const struct odb_metric_sample *sample,
                                struct odb_share *out, struct odb_error *err)
{
    size_t n = m->graph->n_outputs;
    struct odb_named *in = odb_new_n(struct odb_named, n + 1);
    struct odb_tensor *label = NULL, *taken = NULL;
    const char *name = OWN_TAKEN;
    for (size_t o = 0; o < n; o++)
        in[o] = (struct odb_named){m->graph->values[m->graph->outputs[o]].name, sample->outputs[o]};
    enum odb_status status = own_turn(m, false, err);
    if (status == ODB_OK && m->labels)
        status = own_label(m, sample, &label, err);
    in[n] = (struct odb_named){OWN_LABEL, label};
    if (status == ODB_OK)
        status = odb_target_run(m->own, in, n + (label != NULL), &name, 1, &taken, err);
    if (status == ODB_OK)
        out->own = (size_t)odb_tensor_i64(taken, 0);
    odb_tensor_unref(taken);
    odb_tensor_unref(label);
    free(in);
    return own_end(status, err);
}

static enum odb_status own_score(struct odb_metric *m, const struct odb_share *shares,
                                 const size_t *picked, size_t n, double *out, struct odb_error *err)
{
    const int64_t dims[] = {(int64_t)n};
    const char *name = OWN_SCORE;
    struct odb_tensor *numbers, *score = NULL;
    ODB_TRY(own_end(own_turn(m, true, err), err));
    ODB_TRY(odb_tensor_new(&numbers, ODB_I64, 1, dims, err));
    for (size_t i = 0; i < n; i++)
        ((int64_t *)numbers->data)[i] = (int64_t)shares[picked[i]].own;
    const struct odb_named in = {OWN_PICKED, numbers};
    enum odb_status status = odb_target_run(m->own, &in, 1, &name, 1, &score, err);
    if (status == ODB_OK) {
        *out = odb_tensor_f64(score, 0);
        m->k = odb_tensor_f64(score, 1) != 0;
    }
    odb_tensor_unref(score);
    odb_tensor_unref(numbers);
    return own_end(status, err);
}

const struct odb_metric_kind odb_metric_python = {
    .name = "python",
    .options = own_options,
    .help = "a class with add(outputs, label) and score()",
    .unit = "",
    .diff = "",
    .factor = 1,
    .text = true,
    .right = "no labels",
    .dear = true,
    .open = own_open,
    .take = own_take,
    .score = own_score,
};
