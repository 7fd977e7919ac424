/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "score/least/least_page.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "base/host.h"
#include "model/read/load.h"
#include "system/file.h"

static enum odb_status page_file(const struct least_repro *r, const char *name,
                                 struct odb_buf *text, struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s", r->dir, name);
    enum odb_status status =
        odb_file_write_unsynced(path, &(struct iovec){text->data, text->len}, 1, err);
    free(path);
    odb_buf_dispose(text);
    return status;
}

static void page_origin(const struct least_repro *r, struct odb_buf *text)
{
    const struct odb_model *model = r->l->scorer.model;
    struct odb_error ignored = ODB_ERROR_INIT;
    char sha[65];
    bool hashed = odb_model_sha256(model, sha, &ignored) == ODB_OK;
    odb_buf_printf(text,
                   "# What costs the task\n\nOf a model with %zu nodes (SHA-256 %s), cut out by "
                   "onnxdbg %s.\n\n",
                   model->graph->n_nodes, hashed ? sha : "unknown", ODB_VERSION);
    odb_least_put(r->l->out, NULL, text);
}

static void page_files(const struct least_repro *r, struct odb_buf *text)
{
    const struct odb_least *out = r->l->out;
    odb_buf_printf(text,
                   "\n| file | what |\n| --- | --- |\n| model.onnx | %s |\n"
                   "| test_data_set_N/input_N.pb | what it is fed: a sample in each folder |\n"
                   "| test_data_set_N/output_N.pb | what the reference gives |\n",
                   out->part ? "the nodes above and all that follows from them; what comes to them "
                               "is the reference's"
                             : "the model, as far as the metric needs it");
    if (r->labels)
        odb_buf_printf(text, "| %s | what is right for these samples |\n", r->labels);
    if (out->again)
        odb_buf_puts(text, "| score.json | the score from these files |\n");
    for (size_t i = 0; i < out->cuts.n; i++)
        if (out->cuts.items[i].reproduces)
            odb_buf_printf(text, "| %s/ | node #%d as a model of its own |\n",
                           out->cuts.items[i].dir, out->cuts.items[i].node);
    if (r->target.copied)
        odb_buf_puts(text, "| " ODB_REPRO_TARGET "/ | the files that the target is made of |\n");
}

static void page_command(const struct least_repro *r, struct odb_buf *text)
{
    const struct odb_repro_spec metric = {.shown = r->metric};
    odb_buf_puts(text, "\n## Run it\n\nIn this folder; exit status 1 says that the target loses "
                       "more than --drop:\n\n    onnxdbg score model.onnx --inputs-from . "
                       "--reference ");
    odb_repro_spec_put(&r->reference, "REFERENCE", text);
    odb_buf_puts(text, " --target ");
    odb_repro_spec_put(&r->target, "TARGET", text);
    odb_buf_puts(text, " --metric ");
    odb_repro_spec_put(&metric, "METRIC", text);
    if (r->labels)
        odb_buf_printf(text, " --labels %s", r->labels);
    odb_buf_printf(text, " --drop %.12g%s%s\n\n", r->l->out->drop,
                   r->search.expect ? " --expect " : "", r->search.expect ? r->search.expect : "");
    odb_repro_spec_explain(&r->target, "TARGET", "the target that loses", text);
    odb_repro_spec_explain(&r->reference, "REFERENCE", "the reference", text);
    odb_buf_printf(text, "## Made with\n\n- onnxdbg %s\n- machine: ", ODB_VERSION);
    odb_host_put(text);
    odb_buf_putc(text, '\n');
}

enum odb_status least_page(struct least_repro *r, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT, json = ODB_BUF_INIT;
    page_origin(r, &text);
    page_files(r, &text);
    page_command(r, &text);
    enum odb_status status = page_file(r, "README.md", &text, err);
    if (status != ODB_OK || !r->l->out->again)
        return status;
    odb_score_json(r->l->out->again, &json);
    return page_file(r, "score.json", &json, err);
}
