/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model: from bytes to a graph in order, and everything that commands do with one without running
 * it: text, declared shapes, lint, which nodes the reference has kernels for, a cut written and
 * read again.
 */
#include "fuzz.h"

#include "analysis/lint.h"
#include "interpret/cpu.h"
#include "model/model.h"
#include "model/read/load.h"
#include "model/text/model_text.h"
#include "model/write/write.h"

static void onnx_look(const struct odb_model *model)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_shapes shapes = {0};
    struct odb_lint lint = {0};
    struct odb_cpu *cpu = NULL;
    odb_model_text(model, &text);
    fuzz_check_shown(&text);
    odb_buf_clear(&text);
    for (size_t i = 0; i < model->graph->n_nodes; i++)
        odb_node_put(model->graph, (int)i, &text);
    fuzz_check_shown(&text);
    odb_buf_clear(&text);
    if (odb_model_text_exact(model, NULL, 16, NULL, &text, NULL) != ODB_OK)
        abort();
    odb_buf_dispose(&text);
    odb_shapes_declared(&shapes, model);
    odb_lint_model(&lint, model, &shapes);
    for (size_t i = 0; i < model->graph->n_values; i++)
        if (model->graph->values[i].init)
            odb_lint_value(&lint, model->graph, (int)i, model->graph->values[i].init);
    odb_lint_dispose(&lint);
    odb_shapes_dispose(&shapes);
    if (odb_cpu_new(&cpu, model, NULL) == ODB_OK)
        odb_cpu_free(cpu);
}

/* What was written must be read. */
static void onnx_cut(const struct odb_model *model)
{
    const struct odb_graph *graph = model->graph;
    struct odb_port *in = odb_new_n(struct odb_port, graph->n_inputs + 1);
    struct odb_port *out = odb_new_n(struct odb_port, graph->n_outputs + 1);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *again = NULL;
    for (size_t i = 0; i < graph->n_inputs; i++)
        in[i].value = graph->inputs[i];
    for (size_t i = 0; i < graph->n_outputs; i++)
        out[i].value = graph->outputs[i];
    struct odb_extract what = {.inputs = in,
                               .n_inputs = graph->n_inputs,
                               .outputs = out,
                               .n_outputs = graph->n_outputs,
                               .weights = ODB_WEIGHTS_INLINE};
    struct odb_error err = ODB_ERROR_INIT;
    if (odb_model_extract(model, &what, &bytes, &err) == ODB_OK &&
        odb_model_open_bytes(&again, bytes.data, bytes.len, NULL, "/nowhere", "cut", &err) ==
            ODB_OK)
        odb_model_free(again);
    odb_buf_dispose(&bytes);
    free(in);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    if (odb_model_open_bytes(&model, data, size, NULL, "/nowhere", "model", &err) != ODB_OK)
        return 0;
    onnx_look(model);
    onnx_cut(model);
    odb_model_free(model);
    return 0;
}
