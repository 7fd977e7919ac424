/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An executor that does what the option do= says, most of it wrong. Models have an input x and
 * outputs of floats; t_plugin.c says what should come of each.
 */
#include <onnxdbg/executor.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wrong {
    const struct onnxdbg_host *host;
    const struct onnxdbg_model *model;
    size_t n_outputs;
    char *act, *file; /* NULL: not given */
    char text[8192];  /* what was seen of options and model */
    size_t len;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int stopped;
};

int wrong_executor_done; /* how often the host has given back what was lent */

static const int64_t dims[] = {2, 4};
static const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const struct onnxdbg_data good = {
    .dtype = ONNXDBG_FLOAT, .rank = 2, .dims = dims, .count = 8, .size = 32, .elements = numbers};

__attribute__((format(printf, 2, 3))) static void see(struct wrong *wrong, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(wrong->text + wrong->len, sizeof wrong->text - wrong->len, format, args);
    va_end(args);
    wrong->len += n > 0 && wrong->len + (size_t)n < sizeof wrong->text ? (size_t)n : 0;
}

static int is(const struct wrong *wrong, const char *act)
{
    return wrong->act && !strcmp(wrong->act, act);
}

/* --- looking at a graph ----------------------------------------------------------------------- */

static void see_data(struct wrong *wrong, const struct onnxdbg_data *data)
{
    see(wrong, "%d:%d(", data->kind, data->dtype);
    for (int i = 0; i < data->rank; i++)
        see(wrong, "%s%lld", i ? "," : "", (long long)data->dims[i]);
    see(wrong, ")%s", (uintptr_t)data->elements % 64 ? "crooked" : "");
    for (size_t i = 0; data->dtype == ONNXDBG_FLOAT && i < data->size / 4 && i < 8; i++)
        see(wrong, " %g", (double)((const float *)data->elements)[i]);
    for (size_t i = 0; i < data->n_items; i++)
        see_data(wrong, data->items[i]);
}

static void see_graph(struct wrong *wrong, const struct onnxdbg_graph *graph);

static void see_attribute(struct wrong *wrong, const struct onnxdbg_attribute *a)
{
    see(wrong, " %s=", a->name);
    switch (a->type) {
    case ONNXDBG_ATTRIBUTE_FLOAT:
        see(wrong, "%g", (double)a->f);
        break;
    case ONNXDBG_ATTRIBUTE_INT:
        see(wrong, "%lld", (long long)a->i);
        break;
    case ONNXDBG_ATTRIBUTE_STRING:
        see(wrong, "%.*s", (int)a->s.size, a->s.data);
        break;
    case ONNXDBG_ATTRIBUTE_TYPE_PROTO:
        see(wrong, "%.*s %lld", (int)a->s.size, a->s.data, (long long)a->i);
        break;
    }
    for (size_t i = 0; i < a->n; i++) {
        if (a->type == ONNXDBG_ATTRIBUTE_FLOATS)
            see(wrong, "%g,", (double)a->floats[i]);
        if (a->type == ONNXDBG_ATTRIBUTE_INTS)
            see(wrong, "%lld,", (long long)a->ints[i]);
        if (a->type == ONNXDBG_ATTRIBUTE_STRINGS)
            see(wrong, "%.*s,", (int)a->strings[i].size, a->strings[i].data);
        if (a->type == ONNXDBG_ATTRIBUTE_TENSOR)
            see_data(wrong, a->tensors[i]);
        if (a->type == ONNXDBG_ATTRIBUTE_GRAPH) {
            see(wrong, "{\n");
            see_graph(wrong, a->graphs[i]);
            see(wrong, "}");
        }
    }
}

static void see_value(struct wrong *wrong, const struct onnxdbg_value *value)
{
    see(wrong, "%s %d:%d(", value->name, value->kind, value->dtype);
    for (int i = 0; i < value->rank; i++)
        see(wrong, "%s%lld%s", i ? "," : "", (long long)value->dims[i],
            value->symbols[i] ? value->symbols[i] : "");
    see(wrong, value->rank < 0 ? "?)" : ")");
    if (value->outer >= 0)
        see(wrong, " outer %d", value->outer);
    if (value->constant) {
        see(wrong, " = ");
        see_data(wrong, value->constant);
    }
    see(wrong, "\n");
}

static void see_graph(struct wrong *wrong, const struct onnxdbg_graph *graph)
{
    see(wrong, "graph %s\n", graph->name);
    for (size_t i = 0; i < graph->n_values; i++)
        see_value(wrong, graph->values[i]);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct onnxdbg_node *node = graph->nodes[i];
        see(wrong, "%s|%s|%s|%d|", node->name, node->domain, node->op_type, node->opset);
        for (int k = 0; k < node->n_inputs; k++)
            see(wrong, " %d", node->inputs[k]);
        see(wrong, " ->");
        for (int k = 0; k < node->n_outputs; k++)
            see(wrong, " %d", node->outputs[k]);
        for (int k = 0; k < node->n_attributes; k++)
            see_attribute(wrong, node->attributes[k]);
        see(wrong, "\n");
    }
    for (size_t i = 0; i < graph->n_inputs; i++)
        see(wrong, "in %d\n", graph->inputs[i]);
    for (size_t i = 0; i < graph->n_outputs; i++)
        see(wrong, "out %d\n", graph->outputs[i]);
}

/* --- giving ----------------------------------------------------------------------------------- */

static void done(void *payload)
{
    ++*(int *)payload;
}

static int give(struct wrong *wrong, size_t i, const struct onnxdbg_data *data)
{
    return wrong->host->give(wrong->host, i, data, done, &wrong_executor_done);
}

static int give_all(struct wrong *wrong)
{
    int result = 0;
    for (size_t i = 0; i < wrong->n_outputs && !result; i++)
        result = give(wrong, i, &good);
    return result;
}

static int give_data(struct wrong *wrong)
{
    struct onnxdbg_data data = good;
    const struct onnxdbg_data *self = &data, *pair[] = {&good, &good};
    static const int64_t negative[] = {2, -4}, huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
    if (is(wrong, "short"))
        data.size = 28;
    else if (is(wrong, "no-elements"))
        data.elements = NULL;
    else if (is(wrong, "no-dims"))
        data.dims = NULL;
    else if (is(wrong, "negative"))
        data.dims = negative;
    else if (is(wrong, "huge"))
        data.dims = huge;
    else if (is(wrong, "deep"))
        data = (struct onnxdbg_data){.kind = ONNXDBG_OPTIONAL, .n_items = 1, .items = &self};
    else if (is(wrong, "two"))
        data = (struct onnxdbg_data){.kind = ONNXDBG_OPTIONAL, .n_items = 2, .items = pair};
    else if (is(wrong, "one"))
        data = (struct onnxdbg_data){.kind = ONNXDBG_MAP, .n_items = 1, .items = pair};
    else if (is(wrong, "sequence"))
        data = (struct onnxdbg_data){.kind = ONNXDBG_SEQUENCE, .n_items = 2, .items = pair};
    else if (is(wrong, "kind"))
        data.kind = 9;
    else if (is(wrong, "rank"))
        data.rank = 17;
    return give(wrong, 0, is(wrong, "null") ? NULL : &data);
}

/* Until it is cancelled; what it then has to say goes into the file, from release(). */
static int wait_for_cancel(struct wrong *wrong)
{
    pthread_mutex_lock(&wrong->lock);
    while (!wrong->stopped)
        pthread_cond_wait(&wrong->wake, &wrong->lock);
    pthread_mutex_unlock(&wrong->lock);
    see(wrong, "stopped %d", wrong->host->cancelled(wrong->host) != 0);
    return give_all(wrong);
}

static int ask_for_cancel(struct wrong *wrong)
{
    while (!wrong->host->cancelled(wrong->host))
        usleep(1000);
    see(wrong, "asked");
    return wrong->host->fail(wrong->host, ONNXDBG_FAILED, "cancelled");
}

/* --- the calls -------------------------------------------------------------------------------- */

static int wrong_execute(void *self, const struct onnxdbg_run *run)
{
    struct wrong *wrong = self;
    const struct onnxdbg_host *host = wrong->host;
    if (is(wrong, "nothing"))
        return 0;
    if (is(wrong, "silent"))
        return 7;
    if (is(wrong, "fails")) {
        host->remedy(host, "too early");
        host->fail(host, ONNXDBG_UNSUPPORTED, "first line\nsecond %s", "line");
        host->fail(host, ONNXDBG_FAILED, "and then this");
        host->remedy(host, "a way\tout");
        return 0;
    }
    if (is(wrong, "bare"))
        return wrong->host->fail(host, 99, "an unknown code");
    if (is(wrong, "type"))
        return !host->output(host, 0, ONNXDBG_DOUBLE, 2, dims);
    if (is(wrong, "no-type"))
        return !host->output(host, 0, 99, 2, dims);
    if (is(wrong, "output-rank"))
        return !host->output(host, 0, ONNXDBG_FLOAT, 17, dims);
    if (is(wrong, "output-bare"))
        return !host->output(host, 0, ONNXDBG_FLOAT, 2, NULL);
    if (is(wrong, "output-huge"))
        return !host->output(host, 0, ONNXDBG_FLOAT, 3,
                             (int64_t[]){INT64_MAX, INT64_MAX, INT64_MAX});
    if (is(wrong, "index"))
        return give(wrong, 2, &good);
    if (is(wrong, "twice"))
        return give_all(wrong) || give(wrong, 0, &good);
    if (is(wrong, "late-graph"))
        return !host->graph(host);
    if (is(wrong, "string"))
        return host->output(host, 0, ONNXDBG_FLOAT, 2, dims) &&
               host->output_string(host, 0, 0, "text", 4);
    if (is(wrong, "early-note"))
        host->note(host, "a note");
    if (is(wrong, "wait"))
        return wait_for_cancel(wrong);
    if (is(wrong, "ask"))
        return ask_for_cancel(wrong);
    if (is(wrong, "hang"))
        for (;;)
            pause();
    if (is(wrong, "crash")) {
        fprintf(stderr, "the device is on fire\n");
        abort();
    }
    if (is(wrong, "fills")) {
        float *y = host->output(host, 0, ONNXDBG_FLOAT, 2, dims);
        memcpy(y, run->inputs[0]->elements, sizeof numbers);
        return 0;
    }
    if (is(wrong, "wanted")) { /* values say what was wanted */
        float told[8] = {run->wanted[0], wrong->n_outputs > 1 ? run->wanted[1] : -1};
        struct onnxdbg_data data = good;
        data.elements = told;
        for (size_t i = 0; i < wrong->n_outputs; i++)
            if (host->give(host, i, &data, NULL, NULL))
                return 1;
        return 0;
    }
    return wrong->act ? give_data(wrong) : give_all(wrong);
}

static int wrong_load_model(void *self, const struct onnxdbg_model *model)
{
    struct wrong *wrong = self;
    const struct onnxdbg_host *host = wrong->host;
    if (is(wrong, "load-silent"))
        return -3;
    if (is(wrong, "load-fails"))
        return host->fail(host, ONNXDBG_FAILED, "the compiler gave up");
    if (is(wrong, "load-output"))
        return !host->output(host, 0, ONNXDBG_FLOAT, 2, dims);
    wrong->n_outputs = model->n_outputs;
    if (is(wrong, "look")) {
        const struct onnxdbg_graph *graph = host->graph(host);
        see(wrong, "%d bytes, %d\n", model->size > 100, graph == host->graph(host));
        for (size_t i = 0; i < model->n_inputs; i++)
            see_value(wrong, model->inputs[i]);
        for (size_t i = 0; i < model->n_outputs; i++)
            see_value(wrong, model->outputs[i]);
        see_graph(wrong, graph);
    }
    return 0;
}

static int wrong_account(void *self)
{
    struct wrong *wrong = self;
    wrong->host->text(wrong->host, wrong->text, wrong->len);
    wrong->host->place(wrong->host, "node", NULL, "npu:0");
    wrong->host->note(wrong->host, "a note of %d\nlines", 2);
    return is(wrong, "bad-account")
               ? wrong->host->fail(wrong->host, ONNXDBG_FAILED, "the books are lost")
               : 0;
}

static void wrong_cancel(void *self)
{
    struct wrong *wrong = self;
    pthread_mutex_lock(&wrong->lock);
    wrong->stopped = 1;
    pthread_cond_signal(&wrong->wake);
    pthread_mutex_unlock(&wrong->lock);
}

static void wrong_release(void *self)
{
    struct wrong *wrong = self;
    FILE *f = wrong->file ? fopen(wrong->file, "w") : NULL;
    if (f) {
        fprintf(f, "%s, released\n", wrong->text);
        fclose(f);
    }
    free(wrong->act);
    free(wrong->file);
    free(wrong);
}

static const char *wrong_describe(void *self)
{
    struct wrong *wrong = self;
    return is(wrong, "quiet") ? NULL : wrong->text;
}

static int wrong_init(const struct onnxdbg_host *host, const struct onnxdbg_setup *setup,
                      void **self)
{
    struct wrong *wrong = calloc(1, sizeof *wrong);
    wrong->host = host;
    pthread_mutex_init(&wrong->lock, NULL);
    pthread_cond_init(&wrong->wake, NULL);
    for (size_t i = 0; i < setup->n_options; i++) {
        const char *key = setup->keys[i], *value = setup->values[i];
        if (!strcmp(key, "do"))
            wrong->act = strdup(value);
        else if (!strcmp(key, "file"))
            wrong->file = strdup(value);
        else
            see(wrong, "[%s|%s]", key, value);
    }
    if (is(wrong, "options"))
        see(wrong, "%d%d", setup->library[0] == '/', setup->directory[0] == '/');
    *self = wrong;
    if (!is(wrong, "init-fails") && !is(wrong, "init-silent"))
        return 0;
    int silent = is(wrong, "init-silent");
    wrong_release(wrong);
    if (silent)
        return 1;
    host->fail(host, ONNXDBG_FAILED, "no device");
    return host->remedy(host, "plug one in");
}

const struct onnxdbg_executor *onnxdbg_executor(void)
{
    static struct onnxdbg_executor wrong = {.abi = ONNXDBG_EXECUTOR_ABI,
                                            .size = sizeof wrong,
                                            .name = "wrong",
                                            .init = wrong_init,
                                            .load_model = wrong_load_model,
                                            .execute = wrong_execute,
                                            .release = wrong_release,
                                            .describe = wrong_describe,
                                            .account = wrong_account,
                                            .cancel = wrong_cancel};
    if (getenv("WRONG_EXECUTOR_DEAF")) /* one that knows nothing of being cancelled */
        wrong.cancel = NULL;
    return &wrong;
}
