/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/node_words.h"
#include "command/value/spare_model.h"
#include "command/verbs/file/publish.h"
#include "kernels/core/kern.h"
#include "meaning/meaning.h"
#include "model/read/load.h"
#include "report/json.h"
#include "session/files/stored.h"
#include "system/file.h"

static void report_json(const json_t *report, struct odb_buf *out)
{
    odb_json_put(json_incref((json_t *)report), out);
}

static const struct {
    const char *name, *ending;
    void (*put)(const json_t *report, struct odb_buf *out);
} report_forms[] = {
    {"markdown", ".md", odb_publish_markdown},
    {"html", ".html", odb_publish_html},
    {"json", ".json", report_json},
    {"csv", ".csv", odb_publish_csv},
    {"junit", ".xml", odb_publish_junit},
};

/* A session, or a file of `bisect --json`. */
static enum odb_status report_read(json_t **out, const char *path, struct odb_error *err)
{
    char *text = NULL;
    json_error_t why;
    FILE *file;
    if (odb_file_open(&file, path, err) != ODB_OK)
        return odb_error_at(err, "%s", path);
    *out = json_loadf(file, 0, &why);
    fclose(file);
    if (!*out) {
        ODB_TRY(odb_stored_report(&text, path, err));
        *out = json_loads(text, 0, &why);
        free(text);
    }
    if (*out && json_is_array(json_object_get(*out, "values"))) {
        const char *verdict = odb_outcome_name(odb_outcome_of_json(*out)); /* old ones lack it */
        json_object_set_new(*out, "verdict", json_string(verdict));
        return ODB_OK;
    }
    json_decref(*out);
    *out = NULL;
    odb_fail(err, ODB_E_FORMAT, "%s holds no report", path);
    return odb_error_remedy(err, "take a session, or a file that bisect --json wrote");
}

/* What names mean is said, and looked for, once for each operator: "words" of the report has it by
 * operator and name; "": it is not known. */
static void report_words(json_t *report, const struct odb_node *node, const json_t *attrs,
                         const json_t *const names[2])
{
    json_t *words = json_object_get(report, "words"), *of, *item;
    char *op = odb_xasprintf("%s::%s", node->domain, node->op_type), meaning[ODB_MEANING];
    size_t i;
    of = json_object_get(words, op);
    if (!of)
        json_object_set_new(words, op, of = json_object());
    json_array_foreach(attrs, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && !json_object_get(of, name))
            json_object_set_new(of, name, odb_json_text(odb_meaning_of_attr(node, name, meaning)));
    }
    for (int input = 0; input < 2; input++)
        json_array_foreach(names[input], i, item) {
            const char *name = json_string_value(item);
            if (name && !json_object_get(of, name))
                json_object_set_new(
                    of, name, odb_json_text(odb_meaning_of_port(node, input, (int)i, meaning)));
        }
    free(op);
}

static json_t *report_node(json_t *report, const struct odb_graph *graph,
                           const struct odb_node *node)
{
    const struct odb_op *op = odb_op_find(node->domain, node->op_type, node->opset);
    json_t *json = odb_json_node(node->index, node->name, node->op_type, node->domain);
    json_t *attrs = odb_node_words_attrs(node, op, false);
    json_t *outputs = odb_node_words_names(node, false), *inputs = odb_node_words_names(node, true);
    report_words(report, node, attrs, (const json_t *const[]){outputs, inputs});
    json_object_set_new(json, "inputs", odb_json_values(graph, node->in, (size_t)node->n_in));
    json_object_set_new(json, "outputs", odb_json_values(graph, node->out, (size_t)node->n_out));
    json_object_set_new(json, "attributes", attrs);
    json_object_set_new(json, "formal_inputs", inputs);
    json_object_set_new(json, "formal_outputs", outputs);
    return json;
}

/* The model's nodes, where its file is there and still the same; else null. */
static json_t *report_nodes(const struct odb_command_call *call, json_t *report)
{
    struct odb_model *model = NULL;
    struct odb_error ignored = ODB_ERROR_INIT;
    const json_t *about = json_object_get(report, "model");
    const char *path = json_string_value(json_object_get(about, "path"));
    const char *want = json_string_value(json_object_get(about, "sha256"));
    char sha[65];
    json_t *nodes = json_null();
    if (!path || !want || odb_call_read_model(&model, call, path, &ignored) != ODB_OK)
        return nodes;
    if (odb_model_sha256(model, sha, &ignored) == ODB_OK && !strcmp(sha, want)) {
        nodes = json_array();
        json_object_set_new(report, "words", json_object());
        for (size_t i = 0; i < model->graph->n_nodes; i++)
            json_array_append_new(nodes,
                                  report_node(report, model->graph, &model->graph->nodes[i]));
    }
    odb_model_free(model);
    return nodes;
}

static enum odb_status report_no_form(const char *path, struct odb_error *err)
{
    struct odb_buf endings = ODB_BUF_INIT;
    for (size_t i = 0; i < ODB_COUNT(report_forms); i++) {
        bool last = i + 1 == ODB_COUNT(report_forms);
        odb_buf_printf(&endings, "%s%s", !i ? "" : last ? " or " : ", ", report_forms[i].ending);
    }
    odb_fail(err, ODB_E_USAGE, "-o %s: no form of a report has that ending", path);
    odb_error_remedy(err, "let the name end in %s, or name the form with --format",
                     odb_buf_text(&endings));
    odb_buf_dispose(&endings);
    return ODB_E_USAGE;
}

/* By name; else by the file's ending; else, for a file without one, the first. */
static enum odb_status report_form(size_t *form, const char *name, const char *path,
                                   struct odb_error *err)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *base = slash ? slash + 1 : path, *dot = path ? strrchr(base, '.') : NULL;
    *form = 0;
    if (dot == base) /* a hidden file */
        dot = NULL;
    for (size_t i = 0; i < ODB_COUNT(report_forms); i++)
        if (name ? !strcmp(report_forms[i].name, name)
                 : dot && !strcasecmp(dot, report_forms[i].ending)) {
            *form = i;
            return ODB_OK;
        }
    return dot && !name ? report_no_form(path, err) : ODB_OK;
}

enum odb_status odb_command__report(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    json_t *report;
    const char *path = odb_call_option(call, ODB_OPTION_REPORT_FILE);
    const char *name = odb_call_option(call, ODB_OPTION_REPORT_FORMAT);
    size_t form;
    enum odb_status status = ODB_OK;
    if (odb_call_has(call, ODB_OPTION_JSON)) {
        if (path || name)
            return odb_fail(err, ODB_E_USAGE, "--json is a form of its own, and needs no other");
        name = "json";
    }
    if (path && odb_call__same_file(odb_call_arg(call, 0), path)) {
        odb_fail(err, ODB_E_USAGE, "%s is what the report is made from, and would be lost", path);
        return odb_error_remedy(err, "write to another file");
    }
    ODB_TRY(report_form(&form, name, path, err));
    ODB_TRY(report_read(&report, odb_call_arg(call, 0), err));
    if (report_forms[form].put != report_json)
        json_object_set_new(report, "nodes", report_nodes(call, report));
    report_forms[form].put(report, &out);
    json_decref(report);
    if (path)
        status = odb_file_write(path, odb_buf_text(&out), out.len, err);
    else
        odb_call__print(call, &out);
    odb_buf_dispose(&out);
    return status;
}
