/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/cost.h"
#include "analysis/lint.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_shapes.h"
#include "command/value/names.h"
#include "command/verbs/look/info_topics.h"
#include "interpret/cpu.h"
#include "model/opnames.h"
#include "model/read/load.h"
#include "report/json.h"

/* An operator, and how often it stands in the model. */
struct info_op {
    struct odb_opname kind;
    size_t nodes, unsupported;
    size_t uncounted;     /* whose work is not known, those in bodies among them */
    size_t unknown;       /* those of the main graph alone */
    uint64_t macs, flops; /* of those in the main graph that are known */
    const char *why;      /* borrowed: cpu; of the first unsupported one */
};

struct info {
    const struct odb_model *model;
    struct odb_cpu *cpu;         /* owned */
    struct odb_opnames kinds;    /* owned */
    ODB_VEC(struct info_op) ops; /* in the order of kinds while they are counted */
    size_t body_nodes;
    size_t n_weights, weight_bytes;
    char sha256[65];
    struct odb_shapes shapes; /* owned */
    struct odb_cost *costs;   /* owned; [n_nodes] */
    struct odb_cost_sum sum;
    size_t errors, warnings; /* that lint finds */
};

/* Nodes that info names as those with most work. */
enum { INFO_HEAVIEST = 5 };

static struct info_op *info_op(struct info *info, const struct odb_node *node)
{
    size_t number = odb_opnames_number(&info->kinds, node);
    if (number == info->ops.n)
        odb_push(&info->ops, (struct info_op){.kind = info->kinds.items.items[number]});
    return &info->ops.items[number];
}

static void info_count(struct info *info, const struct odb_graph *graph, bool body)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        struct info_op *op = info_op(info, node);
        const char *why = body ? "" : odb_cpu_unsupported(info->cpu, (int)i);
        op->nodes++;
        op->macs += body ? 0 : info->costs[i].macs;
        op->flops += body ? 0 : info->costs[i].flops;
        op->uncounted += body || !info->costs[i].known;
        op->unknown += !body && !info->costs[i].known;
        info->body_nodes += body;
        if (*why) {
            op->why = op->why ? op->why : why;
            op->unsupported++;
        }
        for (size_t k = 0; k < node->attrs.n; k++)
            if (node->attrs.items[k].type == ODB_ATTR_GRAPH ||
                node->attrs.items[k].type == ODB_ATTR_GRAPHS)
                for (size_t g = 0; g < node->attrs.items[k].n; g++)
                    info_count(info, node->attrs.items[k].graphs[g], true);
    }
}

static int info_by_count(const void *a, const void *b)
{
    const struct info_op *x = a, *y = b;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? 1 : -1;
    return strcmp(x->kind.op_type, y->kind.op_type);
}

static enum odb_status info_gather(struct info *info, struct odb_command_call *call,
                                   struct odb_error *err)
{
    const struct odb_model *model = call->model;
    const struct odb_graph *graph = model->graph;
    info->model = model;
    ODB_TRY(odb_call__shapes(call, NULL, NULL, &info->shapes, err));
    odb_cost_model(&info->costs, &info->sum, model, &info->shapes);
    struct odb_lint lint = {0};
    odb_lint_model(&lint, model, &info->shapes);
    info->errors = lint.errors;
    info->warnings = lint.warnings;
    odb_lint_dispose(&lint);
    ODB_TRY(odb_cpu_new(&info->cpu, model, err));
    ODB_TRY(odb_model_sha256(model, info->sha256, err));
    info_count(info, graph, false);
    if (info->ops.n)
        qsort(info->ops.items, info->ops.n, sizeof *info->ops.items, info_by_count);
    for (size_t i = 0; i < graph->n_values; i++)
        if (graph->values[i].init && !graph->values[i].is_outer &&
            graph->values[i].producer == ODB_NO_NODE) {
            info->n_weights++;
            info->weight_bytes += graph->values[i].init->bytes;
        }
    return ODB_OK;
}

static void info_dispose(struct info *info)
{
    odb_cpu_free(info->cpu);
    odb_shapes_dispose(&info->shapes);
    free(info->costs);
    free(info->ops.items);
    odb_opnames_dispose(&info->kinds);
}

/* --- text ------------------------------------------------------------------------------------ */

static void info_bytes(struct odb_buf *out, size_t bytes)
{
    if (bytes >= 1024) {
        odb_buf_put_bytes(out, bytes);
        odb_buf_printf(out, " (%zu bytes)", bytes);
    } else {
        odb_buf_printf(out, "%zu bytes", bytes);
    }
}

static void info_row(struct odb_buf *out, const char *left, const char *text)
{
    if (!text || !*text)
        return;
    odb_buf_printf(out, "%-12s", left);
    odb_buf_put_shown(out, text);
    odb_buf_putc(out, '\n');
}

static void info_put_domain(struct odb_buf *out, const char *domain)
{
    odb_buf_put_shown(out, *domain ? domain : "ai.onnx");
}

static void info_head(const struct info *info, struct odb_buf *out)
{
    const struct odb_model *model = info->model;
    char ir[64];
    info_row(out, "model", model->path);
    info_row(out, "sha256", info->sha256);
    odb_buf_puts(out, "size        ");
    info_bytes(out, model->file_bytes);
    odb_buf_putc(out, '\n');
    snprintf(ir, sizeof ir, "%lld", (long long)model->ir_version);
    info_row(out, "IR version", ir);
    odb_buf_puts(out, "opsets      ");
    for (size_t i = 0; i < model->n_opsets; i++) {
        odb_buf_puts(out, i ? ", " : "");
        info_put_domain(out, model->opsets[i].domain);
        odb_buf_printf(out, " %lld", (long long)model->opsets[i].version);
    }
    odb_buf_putc(out, '\n');
    if (model->producer_name && *model->producer_name) {
        odb_buf_puts(out, "producer    ");
        odb_buf_put_shown(out, model->producer_name);
        odb_buf_putc(out, ' ');
        odb_buf_put_shown(out, model->producer_version ? model->producer_version : "");
        odb_buf_putc(out, '\n');
    }
    info_row(out, "domain", model->domain);
    info_row(out, "doc", model->doc);
    odb_call__put_metadata(&model->metadata, out);
}

static void info_ports(const struct odb_graph *graph, const char *title, const int *list, size_t n,
                       struct odb_buf *out)
{
    odb_buf_printf(out, "\n%s:\n", title);
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &graph->values[list[i]];
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, value->name);
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, value->type.known ? value->type.shown : "(no type declared)");
        odb_buf_puts(out,
                     value->is_input && value->init ? "  (has a weight as its default)\n" : "\n");
    }
}

static void info_ops(const struct info *info, struct odb_buf *out)
{
    bool any = false;
    odb_buf_puts(out, "\noperators:\n");
    for (size_t i = 0; i < info->ops.n; i++) {
        const struct info_op *op = &info->ops.items[i];
        odb_buf_printf(out, "  %6zu  ", op->nodes);
        if (*op->kind.domain) {
            odb_buf_put_shown(out, op->kind.domain);
            odb_buf_puts(out, "::");
        }
        odb_buf_put_shown(out, op->kind.op_type);
        odb_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < info->ops.n; i++) {
        const struct info_op *op = &info->ops.items[i];
        if (!op->unsupported)
            continue;
        odb_buf_puts(out, any ? "" : "\nno reference kernel:\n");
        any = true;
        odb_buf_printf(out, "  %6zu  ", op->unsupported);
        if (*op->kind.domain) {
            odb_buf_put_shown(out, op->kind.domain);
            odb_buf_puts(out, "::");
        }
        odb_buf_put_shown(out, op->kind.op_type);
        odb_buf_puts(out, ": ");
        odb_buf_put_shown(out, op->why);
        odb_buf_putc(out, '\n');
    }
}

/* "4.09 G": three digits and the prefix. */
static const char *info_si(uint64_t n, char buf[24])
{
    static const char prefixes[] = " kMGTPE";
    double v = (double)n;
    size_t i = 0;
    for (; v >= 999.5 && i + 2 < sizeof prefixes; i++)
        v /= 1000;
    if (i)
        snprintf(buf, 24, "%.*f %c", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, prefixes[i]);
    else
        snprintf(buf, 24, "%d ", (int)n);
    return buf;
}

/* ": 2 Resize, 1 Loop" */
static void info_uncounted(const struct info *info, struct odb_buf *out)
{
    size_t told = 0;
    for (size_t i = 0; i < info->ops.n; i++) {
        const struct info_op *op = &info->ops.items[i];
        if (!op->unknown)
            continue;
        if (told == INFO_HEAVIEST) {
            odb_buf_puts(out, " and others");
            return;
        }
        odb_buf_printf(out, "%s%zu ", told++ ? ", " : ": ", op->unknown);
        odb_buf_put_shown(out, op->kind.op_type);
    }
}

static void info_work(const struct info *info, struct odb_buf *out)
{
    const struct odb_cost_sum *sum = &info->sum;
    const struct odb_graph *graph = info->model->graph;
    char macs[24], flops[24];
    if (sum->unknown && (2 * sum->unknown >= graph->n_nodes || !sum->flops))
        odb_buf_puts(out, "work        not known");
    else
        odb_buf_printf(out, "work        %s%sMACs, %sFLOPs", sum->unknown ? "at least " : "",
                       info_si(sum->macs, macs), info_si(sum->flops, flops));
    if (sum->unknown)
        odb_buf_printf(out, "; %zu of %zu nodes not counted", sum->unknown, graph->n_nodes);
    if (sum->bodies)
        odb_buf_printf(out, ", %zu of them with bodies", sum->bodies);
    if (sum->unknown)
        info_uncounted(info, out);
    odb_buf_puts(out, sum->unknown && !info->shapes.measured ? " (--run measures shapes)\n" : "\n");
    odb_buf_puts(out, "memory      ");
    info_bytes(out, sum->activations);
    odb_buf_puts(out, " of values, at most ");
    info_bytes(out, sum->peak);
    odb_buf_puts(out, " at once");
    if (sum->peak_node != ODB_NO_NODE) {
        odb_buf_puts(out, ", at ");
        odb_node_put(graph, sum->peak_node, out);
    }
    if (sum->sizeless)
        odb_buf_printf(out, "; %zu values of unknown size not counted", sum->sizeless);
    odb_buf_putc(out, '\n');
}

/* The nodes with most MACs, and their share. */
static void info_heaviest(const struct info *info, struct odb_buf *out)
{
    const struct odb_graph *graph = info->model->graph;
    bool *told = odb_new_n(bool, graph->n_nodes + 1);
    char macs[24];
    odb_buf_puts(out, info->sum.macs ? "\nmost work:\n" : "");
    for (int i = 0; i < INFO_HEAVIEST; i++) {
        size_t most = graph->n_nodes;
        for (size_t n = 0; n < graph->n_nodes; n++)
            if (!told[n] && info->costs[n].macs &&
                (most == graph->n_nodes || info->costs[n].macs > info->costs[most].macs))
                most = n;
        if (most == graph->n_nodes)
            break;
        told[most] = true;
        odb_buf_printf(out, "  %6sMACs  %4.1f %%  ", info_si(info->costs[most].macs, macs),
                       100.0 * (double)info->costs[most].macs / (double)info->sum.macs);
        odb_node_put(graph, (int)most, out);
        odb_buf_putc(out, '\n');
    }
    free(told);
}

static void info_functions(const struct odb_model *model, struct odb_buf *out)
{
    odb_buf_puts(out, model->n_functions ? "\nlocal functions:\n" : "");
    for (size_t i = 0; i < model->n_functions; i++) {
        const struct odb_function *f = &model->functions[i];
        odb_buf_puts(out, "  ");
        info_put_domain(out, f->domain);
        odb_buf_puts(out, "::");
        odb_buf_put_shown(out, f->name);
        odb_buf_printf(out, "  %zu node%s\n", f->graph->n_nodes, odb_plural(f->graph->n_nodes));
    }
}

static void info_text(const struct info *info, struct odb_buf *out)
{
    const struct odb_graph *graph = info->model->graph;
    info_head(info, out);
    info_row(out, "graph", graph->name);
    info_row(out, "doc", graph->doc);
    odb_call__put_metadata(&graph->metadata, out);
    odb_buf_printf(out, "nodes       %zu", graph->n_nodes);
    if (info->body_nodes)
        odb_buf_printf(out, ", and %zu in bodies", info->body_nodes);
    odb_buf_puts(out, graph->was_unsorted ? "; the file's order is not topological\n" : "\n");
    odb_buf_printf(out, "weights     %zu, ", info->n_weights);
    info_bytes(out, info->weight_bytes);
    odb_buf_printf(out, "\nparameters  %llu\n", (unsigned long long)info->sum.parameters);
    info_work(info, out);
    if (info->errors || info->warnings)
        odb_buf_printf(out, "problems    %zu error%s, %zu warning%s; `onnxdbg lint` tells them\n",
                       info->errors, odb_plural(info->errors), info->warnings,
                       odb_plural(info->warnings));
    info_ports(graph, "inputs", graph->inputs, graph->n_inputs, out);
    info_ports(graph, "outputs", graph->outputs, graph->n_outputs, out);
    info_heaviest(info, out);
    info_ops(info, out);
    info_functions(info->model, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *info_json_ports(const struct odb_graph *graph, const int *list, size_t n)
{
    json_t *ports = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &graph->values[list[i]];
        json_t *port = json_object();
        json_object_set_new(port, "name", odb_json_text(value->name));
        json_object_set_new(port, "type",
                            odb_json_text(value->type.known ? value->type.text : NULL));
        json_object_set_new(port, "shape", odb_json_type_shape(&value->type));
        json_object_set_new(port, "initializer", json_boolean(value->init != NULL));
        json_array_append_new(ports, port);
    }
    return ports;
}

static json_t *info_json_ops(const struct info *info)
{
    json_t *ops = json_array();
    for (size_t i = 0; i < info->ops.n; i++) {
        const struct info_op *op = &info->ops.items[i];
        json_t *row = json_object();
        json_object_set_new(row, "op_type", odb_json_text(op->kind.op_type));
        json_object_set_new(row, "domain", odb_json_text(op->kind.domain));
        json_object_set_new(row, "nodes", json_integer((json_int_t)op->nodes));
        json_object_set_new(row, "unsupported", json_integer((json_int_t)op->unsupported));
        json_object_set_new(row, "why", odb_json_text(op->why));
        json_object_set_new(row, "not_counted", json_integer((json_int_t)op->uncounted));
        json_object_set_new(row, "macs", json_integer((json_int_t)op->macs));
        json_object_set_new(row, "flops", json_integer((json_int_t)op->flops));
        json_array_append_new(ops, row);
    }
    return ops;
}

static json_t *info_json_work(const struct info *info)
{
    const struct odb_cost_sum *sum = &info->sum;
    json_t *work = json_object();
    json_object_set_new(work, "measured", json_boolean(info->shapes.measured));
    json_object_set_new(work, "macs", json_integer((json_int_t)sum->macs));
    json_object_set_new(work, "flops", json_integer((json_int_t)sum->flops));
    json_object_set_new(work, "nodes_not_counted", json_integer((json_int_t)sum->unknown));
    json_object_set_new(work, "with_bodies", json_integer((json_int_t)sum->bodies));
    json_object_set_new(work, "value_bytes", json_integer((json_int_t)sum->activations));
    json_object_set_new(work, "peak_bytes", json_integer((json_int_t)sum->peak));
    json_object_set_new(work, "peak_node",
                        sum->peak_node < 0 ? json_null() : json_integer(sum->peak_node));
    json_object_set_new(work, "values_not_counted", json_integer((json_int_t)sum->sizeless));
    return work;
}

static json_t *info_json(const struct info *info)
{
    const struct odb_model *model = info->model;
    const struct odb_graph *graph = model->graph;
    json_t *root = json_object(), *opsets = json_object(), *functions = json_array();
    for (size_t i = 0; i < model->n_opsets; i++) {
        const char *domain = model->opsets[i].domain;
        json_object_set_new(opsets, *domain ? domain : "ai.onnx",
                            json_integer(model->opsets[i].version));
    }
    for (size_t i = 0; i < model->n_functions; i++)
        json_array_append_new(functions, odb_json_text(model->functions[i].name));
    json_object_set_new(root, "path", odb_json_text(model->path));
    json_object_set_new(root, "sha256", odb_json_text(info->sha256));
    json_object_set_new(root, "bytes", json_integer((json_int_t)model->file_bytes));
    json_object_set_new(root, "ir_version", json_integer(model->ir_version));
    json_object_set_new(root, "opsets", opsets);
    json_object_set_new(root, "producer", odb_json_text(model->producer_name));
    json_object_set_new(root, "producer_version", odb_json_text(model->producer_version));
    json_object_set_new(root, "metadata", odb_json_metadata(&model->metadata));
    json_object_set_new(root, "graph", odb_json_text(graph->name));
    json_object_set_new(root, "graph_doc", odb_json_text(graph->doc));
    json_object_set_new(root, "graph_metadata", odb_json_metadata(&graph->metadata));
    json_object_set_new(root, "nodes", json_integer((json_int_t)graph->n_nodes));
    json_object_set_new(root, "body_nodes", json_integer((json_int_t)info->body_nodes));
    json_object_set_new(root, "unsorted", json_boolean(graph->was_unsorted));
    json_object_set_new(root, "weights", json_integer((json_int_t)info->n_weights));
    json_object_set_new(root, "weight_bytes", json_integer((json_int_t)info->weight_bytes));
    json_object_set_new(root, "parameters", json_integer((json_int_t)info->sum.parameters));
    json_object_set_new(root, "work", info_json_work(info));
    json_object_set_new(root, "problems",
                        json_pack("{sIsI}", "errors", (json_int_t)info->errors, "warnings",
                                  (json_int_t)info->warnings));
    json_object_set_new(root, "inputs", info_json_ports(graph, graph->inputs, graph->n_inputs));
    json_object_set_new(root, "outputs", info_json_ports(graph, graph->outputs, graph->n_outputs));
    json_object_set_new(root, "operators", info_json_ops(info));
    json_object_set_new(root, "functions", functions);
    return root;
}

enum odb_status odb_command__info(struct odb_command_call *call, struct odb_error *err)
{
    struct info info = {0};
    struct odb_buf out = ODB_BUF_INIT;
    if (odb_call_arg(call, 1))
        return odb_info_topic(call, call->args[1], err);
    enum odb_status status = info_gather(&info, call, err);
    json_t *json =
        status == ODB_OK && odb_call_has(call, ODB_OPTION_JSON) ? info_json(&info) : NULL;
    if (json) {
        odb_call__json_chosen(call, json);
        odb_json_put(json, &out);
    } else if (status == ODB_OK) {
        info_text(&info, &out);
    }
    odb_call__print(call, &out);
    info_dispose(&info);
    return status;
}
