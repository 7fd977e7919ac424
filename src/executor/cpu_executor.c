/* SPDX-License-Identifier: MIT
 *
 * The CPU reference as a target, in any of its precisions: so there is always something to debug
 * against. Values come back in the types that the model declares for them.
 */
#include "executor/cpu_executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "encodings/encodings.h"
#include "interpret/cpu.h"
#include "system/parallel.h"
#include "model/read/load.h"

#define CPU_KIND "cpu"

static const struct cpu_mode {
    const char *arg, *text;
    bool expected;
} cpu_modes[ODB_PREC_COUNT] = {
#define CPU_MODE(id, name, text, expected) [ODB_PREC_##id] = {name, text, expected},
    ODB_PRECISIONS(CPU_MODE)
#undef CPU_MODE
};

struct cpu_executor {
    enum odb_precision precision;
    uint64_t seed;
    struct odb_model *model;           /* owned; NULL: none loaded */
    struct odb_cpu *cpu;               /* owned */
    struct odb_encodings *encodings;   /* owned; NULL: none */
    const struct odb_cpu_watch *watch; /* borrowed; NULL: none */
    int *origin;  /* owned; [n_nodes] of each node of the file, where the debugged model has it;
                     NULL: it was not told */
    double *took; /* owned; [n_nodes] as in struct odb_cpu_run, of the last run */
};

/* One run: values by index, and which nodes are needed for it. */
struct cpu_job {
    const struct cpu_executor *executor;
    struct odb_tensor **values; /* owned refs */
    bool *keep, *nodes, *fed;
    int *wanted; /* values to return */
};

static const struct odb_executor_option cpu_options[] = {
    {":", ODB_PRECISION_CHOICES, NULL, "another precision than the model's own types", false},
    {"seed", "N", "42", "of cpu:noisy: which noise", false},
    {"threads", "N", "0", "how many; 0: one per core. The results do not depend on it", false},
    {"encodings", "FILE", NULL, "simulates these; see onnxdbg-encodings(7)", false},
    {NULL, NULL, NULL, NULL, false},
};

enum odb_status odb_precision_parse(enum odb_precision *out, const char *spec,
                                    struct odb_error *err)
{
    static const char prefix[] = CPU_KIND ":";
    for (size_t i = 0; i < ODB_COUNT(cpu_modes); i++) {
        const char *arg = cpu_modes[i].arg;
        bool is = arg[0] ? !strncmp(spec, prefix, sizeof prefix - 1) &&
                               !strcmp(spec + sizeof prefix - 1, arg)
                         : !strcmp(spec, CPU_KIND);
        if (is) {
            *out = (enum odb_precision)i;
            return ODB_OK;
        }
    }
    odb_fail(err, ODB_E_USAGE, "'%s' is no precision of the CPU reference", spec);
    return odb_error_remedy(err, "use " CPU_KIND ", or one of %s behind %s", ODB_PRECISION_CHOICES,
                            prefix);
}

const char *odb_precision_expected(const char *name)
{
    for (size_t i = 0; i < ODB_COUNT(cpu_modes); i++)
        if (cpu_modes[i].expected && !strcmp(cpu_modes[i].arg, name))
            return cpu_modes[i].arg;
    return strcmp(name, "int8") == 0 ? "int8" : NULL;
}

static enum odb_status cpu_executor_init(void **out, const struct odb_spec *spec,
                                         struct odb_error *err)
{
    struct cpu_executor *self = odb_new(struct cpu_executor);
    odb_mem_keep_pages();
    double seed = 42, threads = 0;
    enum odb_status status;
    ODB_TRY_OUT(odb_spec_check(spec, cpu_options, err));
    for (size_t i = 0; i < ODB_COUNT(cpu_modes); i++)
        if (!strcmp(cpu_modes[i].arg, spec->arg ? spec->arg : ""))
            self->precision = (enum odb_precision)i;
    ODB_TRY_OUT(odb_spec_whole(spec, "seed", 0, 0x1p53, &seed, err));
    ODB_TRY_OUT(odb_spec_whole(spec, "threads", 0, 4096, &threads, err));
    if (odb_spec_option(spec, "seed") && self->precision != ODB_PREC_NOISY) {
        odb_fail(err, ODB_E_USAGE, "seed= belongs to cpu:noisy");
        status = odb_error_at(err, "%s", spec->text);
        goto out;
    }
    const char *encodings = odb_spec_option(spec, "encodings");
    if (encodings)
        ODB_TRY_OUT(odb_encodings_read(&self->encodings, encodings, err));
    self->seed = (uint64_t)seed;
    if (threads > 0)
        odb_parallel_set_threads((int)threads);
    *out = self;
    return ODB_OK;
out:
    free(self);
    return status;
}

static void cpu_executor_unload(struct cpu_executor *self)
{
    odb_cpu_free(self->cpu);
    odb_model_free(self->model);
    free(self->origin);
    free(self->took);
    self->cpu = NULL;
    self->model = NULL;
    self->origin = NULL;
    self->took = NULL;
}

static void cpu_executor_release(void *self)
{
    struct cpu_executor *own = self;
    cpu_executor_unload(own);
    odb_encodings_free(own->encodings);
    free(own);
}

static enum odb_status cpu_executor_load(void *arg, const struct odb_load *load,
                                         struct odb_error *err)
{
    struct cpu_executor *self = arg;
    cpu_executor_unload(self);
    ODB_TRY(odb_model_open_bytes(&self->model, load->bytes, load->size, load->keep, load->dir,
                                 "model", err));
    enum odb_status status = odb_cpu_new(&self->cpu, self->model, err);
    if (status == ODB_OK && self->encodings)
        status = odb_cpu_simulate(self->cpu, self->encodings, err);
    if (status != ODB_OK) {
        cpu_executor_unload(self);
        return status;
    }
    const struct odb_graph *graph = self->model->graph;
    self->took = odb_new_n(double, graph->n_nodes + 1);
    if (load->node_index && load->n_nodes == graph->n_nodes && graph->n_nodes)
        self->origin = odb_xmemdup(load->node_index, load->n_nodes * sizeof *load->node_index);
    return ODB_OK;
}

/* A node that cannot be run ends the run: all of them are needed. */
static enum odb_status cpu_executor_after(void *payload, int node, enum odb_status status,
                                          struct odb_error *err)
{
    const struct cpu_job *job = payload;
    char label[256];
    const char *why = odb_cpu_unsupported(job->executor->cpu, node);
    if (status == ODB_UNSUPPORTED && !err->what[0])
        odb_fail(err, status, "%s", why);
    if (!err->what[0])
        odb_fail(err, status, "%s", odb_status_text(status));
    const struct odb_node *n = &job->executor->model->graph->nodes[node];
    return odb_error_at(err, "%s", odb_node_label(n, label, sizeof label)), status;
}

static enum odb_status cpu_job_prepare(struct cpu_job *job, const struct odb_named *inputs,
                                       size_t n_inputs, const char *const *names, size_t n_outputs,
                                       struct odb_error *err)
{
    const struct odb_graph *graph = job->executor->model->graph;
    for (size_t i = 0; i < n_inputs; i++) {
        const struct odb_value *value = odb_graph_value(graph, inputs[i].name);
        if (!value)
            return odb_fail(err, ODB_E_INPUT, "the model has no input '%s'", inputs[i].name);
        odb_tensor_unref(job->values[value->index]);
        job->values[value->index] = odb_tensor_ref(inputs[i].tensor);
        job->fed[value->index] = true;
    }
    for (size_t i = 0; i < n_outputs; i++) {
        const struct odb_value *value = odb_graph_value(graph, names[i]);
        if (!value)
            return odb_fail(err, ODB_E_INPUT, "the model has no value '%s'", names[i]);
        job->wanted[i] = value->index;
        job->keep[value->index] = true;
    }
    odb_graph_ancestors(graph, job->wanted, n_outputs, job->fed, job->nodes);
    return ODB_OK;
}

/* An input that is needed and was not given would make a node fail with less to say. */
static enum odb_status cpu_job_check_inputs(const struct cpu_job *job, struct odb_error *err)
{
    const struct odb_graph *graph = job->executor->model->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        if (!job->fed[feeds[i]] && graph->values[feeds[i]].type.kind != ODB_OPTIONAL)
            status = odb_fail(err, ODB_E_INPUT, "there is no value for the input '%s'",
                              graph->values[feeds[i]].name);
    free(feeds);
    return status;
}

static enum odb_status cpu_job_output(const struct cpu_job *job, int index, struct odb_tensor **out,
                                      struct odb_error *err)
{
    const struct odb_value *value = &job->executor->model->graph->values[index];
    const struct odb_tensor *t = job->values[index] ? job->values[index] : value->init;
    if (!t)
        return odb_fail(err, ODB_E_INTERNAL, "'%s' was not computed", value->name);
    if (value->type.known && odb_dtype_is_float(value->type.dtype))
        return odb_tensor_cast_floats(out, t, value->type.dtype, err);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

static enum odb_status cpu_executor_execute(void *arg, const struct odb_named *inputs,
                                            size_t n_inputs, const char *const *names,
                                            size_t n_outputs, struct odb_tensor **outputs,
                                            struct odb_error *err)
{
    struct cpu_executor *self = arg;
    if (!self->cpu)
        return odb_fail(err, ODB_E_EXECUTOR, "no model is loaded");
    const struct odb_graph *graph = self->model->graph;
    struct cpu_job job = {
        .executor = self,
        .values = odb_new_n(struct odb_tensor *, graph->n_values + 1),
        .keep = odb_new_n(bool, graph->n_values + 1),
        .nodes = odb_new_n(bool, graph->n_nodes + 1),
        .fed = odb_new_n(bool, graph->n_values + 1),
        .wanted = odb_new_n(int, n_outputs + 1),
    };
    enum odb_status status;
    ODB_TRY_OUT(cpu_job_prepare(&job, inputs, n_inputs, names, n_outputs, err));
    ODB_TRY_OUT(cpu_job_check_inputs(&job, err));
    struct odb_cpu_run run = {.precision = self->precision,
                              .seed = self->seed,
                              .values = job.values,
                              .nodes = job.nodes,
                              .free_dead = true,
                              .overwrite = true,
                              .keep = job.keep,
                              .after = cpu_executor_after,
                              .after_failures = true,
                              .payload = &job,
                              .watch = self->watch,
                              .took = self->took};
    memset(self->took, 0, graph->n_nodes * sizeof *self->took);
    ODB_TRY_OUT(odb_cpu_execute(self->cpu, &run, err));
    for (size_t i = 0; i < n_outputs; i++)
        ODB_TRY_OUT(cpu_job_output(&job, job.wanted[i], &outputs[i], err));
out:
    for (size_t i = 0; i < graph->n_values; i++)
        odb_tensor_unref(job.values[i]);
    free(job.values);
    free(job.keep);
    free(job.nodes);
    free(job.fed);
    free(job.wanted);
    return status;
}

static void cpu_executor_times(void *arg, struct odb_times *times)
{
    const struct cpu_executor *self = arg;
    size_t n = self->origin ? self->model->graph->n_nodes : 0;
    for (size_t i = 0; i < n; i++) {
        const struct odb_node *node = &self->model->graph->nodes[i];
        if (self->took[i] > 0)
            odb_push(&times->list,
                     ((struct odb_took){self->origin[node->file_index], self->took[i]}));
    }
}

static void cpu_executor_describe(void *arg, char *text, size_t size)
{
    const struct cpu_executor *self = arg;
    snprintf(text, size, "onnxdbg %s CPU reference, %s", ODB_VERSION,
             cpu_modes[self->precision].text);
}

const struct odb_executor_ops odb_executor_cpu = {
    .version = ODB_EXECUTOR_VERSION,
    .size = sizeof(struct odb_executor_ops),
    .kind = CPU_KIND,
    .options = cpu_options,
    .help = "the CPU reference, in the model's own types or another precision",
    .page = "onnxdbg-reference(7)",
    .reference = true,
    .trusted = "*",
    .init = cpu_executor_init,
    .load_model = cpu_executor_load,
    .execute = cpu_executor_execute,
    .release = cpu_executor_release,
    .describe = cpu_executor_describe,
    .times = cpu_executor_times,
};

bool odb_cpu_executor_watch(struct odb_executor *executor, const struct odb_cpu_watch *watch)
{
    if (executor->ops != &odb_executor_cpu)
        return false;
    struct cpu_executor *self = executor->self;
    self->watch = watch;
    return true;
}
