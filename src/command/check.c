/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Folders in the layout of ONNX's backend tests, by the thousand. The reference runs in worker
 * processes, each of which takes folder after folder from a common counter and leaves what it
 * found in shared memory: a kernel that crashes costs its own case and no other, and a case costs
 * no process.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel.h"
#include "command/watch.h"
#include "compare/numpy.h"
#include "executor/cpu.h"

#define CHECK_DEPTH 32 /* of folders: a link may lead back up */

enum check_outcome {
    CHECK_NOT_RUN,
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_UNSUPPORTED,
    CHECK_NO_GOLDEN,
    CHECK_OUTCOMES
};

struct check_case {
    char *folder; /* owned */
    int set;      /* N of test_data_set_N; -1: there is none */
    bool golden;  /* there is an output_N.pb */
};

/* In shared memory. */
struct check_result {
    enum check_outcome outcome;
    char text[500];
};

struct check {
    struct odb_command_call *call; /* borrowed */
    struct odb_search_hooks hooks; /* asked whether to stop */
    const char *target;            /* borrowed; NULL: the reference, in the worker */
    struct odb_criterion tolerance;
    bool own_tolerance;               /* given by --tol */
    ODB_VEC(struct check_case) cases; /* those of one folder stand together */
    struct check_result *results;     /* mapped; one per case */
    struct check_shared {
        atomic_size_t next;         /* case to take; at the first of a folder */
        atomic_size_t current[256]; /* case that a worker is at */
        atomic_size_t done;
    } * shared; /* mapped */
    size_t mapped;
};

/* A case at work. */
struct check_run {
    const struct odb_model *model;
    const struct odb_cpu *cpu;
    const char *dir;            /* of the data set */
    struct odb_tensor **values; /* owned array of refs; [n_values] */
    struct odb_tensor **golden; /* owned array of refs; [n_outputs]; NULL: not there */
    bool *random;               /* owned; [n_nodes] draws, or depends on one */
    enum odb_status first;      /* why the first node that did not run did not */
    char reason[400];
};

/* --- finding cases --------------------------------------------------------------------------- */

static bool check_exists(const char *dir, const char *name)
{
    struct stat info;
    char *path = odb_xasprintf("%s/%s", dir, name);
    bool there = stat(path, &info) == 0;
    free(path);
    return there;
}

static bool check_is_dir(const char *dir, const char *name)
{
    struct stat info;
    char *path = odb_xasprintf("%s/%s", dir, name);
    bool is = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    free(path);
    return is;
}

/* N of a name that is PREFIX, N, SUFFIX; -1 for any other. */
static int check_number(const char *name, const char *prefix, const char *suffix)
{
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(name, prefix, n) || name[n] < '0' || name[n] > '9')
        return -1;
    long number = strtol(name + n, &end, 10);
    return strcmp(end, suffix) || number > 1000000 ? -1 : (int)number;
}

static bool check_has_golden(const char *folder, int set)
{
    char *path = odb_xasprintf("%s/test_data_set_%d", folder, set);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found = check_number(entry->d_name, "output_", ".pb") >= 0;
    if (dir)
        closedir(dir);
    free(path);
    return found;
}

static int check_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void check_add_folder(struct check *check, const char *folder, struct dirent **entries,
                             int n)
{
    size_t before = check->cases.n;
    for (int set = 0, last = -1; set >= 0; last = set) {
        set = -1; /* the next larger number */
        for (int i = 0; i < n; i++) {
            int number = check_number(entries[i]->d_name, "test_data_set_", "");
            if (number > last && (set < 0 || number < set))
                set = number;
        }
        if (set >= 0)
            odb_push(&check->cases,
                     (struct check_case){odb_xstrdup(folder), set, check_has_golden(folder, set)});
    }
    if (check->cases.n == before)
        odb_push(&check->cases, (struct check_case){odb_xstrdup(folder), -1, false});
}

static enum odb_status check_scan(struct check *check, const char *folder, int depth,
                                  struct odb_error *err)
{
    struct dirent **entries;
    enum odb_status status = ODB_OK;
    int n = scandir(folder, &entries, NULL,
                    (int (*)(const struct dirent **, const struct dirent **))check_by_name);
    if (n < 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "%s", folder);
    }
    if (check_exists(folder, "model.onnx"))
        check_add_folder(check, folder, entries, n);
    else
        for (int i = 0; i < n && depth < CHECK_DEPTH && status == ODB_OK; i++) {
            if (entries[i]->d_name[0] == '.' || !check_is_dir(folder, entries[i]->d_name))
                continue;
            char *below = odb_xasprintf("%s/%s", folder, entries[i]->d_name);
            status = check_scan(check, below, depth + 1, err);
            free(below);
        }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return status;
}

/* --- one case -------------------------------------------------------------------------------- */

static enum odb_status check_read(struct odb_tensor **out, const struct check_run *run,
                                  const char *what, size_t i, int value, struct odb_error *err)
{
    const struct odb_type *type = &run->model->graph->values[value].type;
    char *path = odb_xasprintf("%s/%s_%zu.pb", run->dir, what, i);
    enum odb_status status = odb_pb_read_as(out, type, path, err);
    free(path);
    return status;
}

static size_t check_count(const struct check_run *run, const char *what)
{
    size_t n = 0;
    for (bool there = true; there; n += there) {
        char name[64];
        snprintf(name, sizeof name, "%s_%zu.pb", what, n);
        there = check_exists(run->dir, name);
    }
    return n;
}

/* Inputs stand for the feeds in order; where there are more files than feeds, for all of the
 * graph's inputs, those with an initializer among them. */
static enum odb_status check_inputs(struct check_run *run, struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds), n_files = check_count(run, "input");
    const int *order = feeds;
    enum odb_status status = ODB_OK;
    if (n_files > n && n_files == graph->n_inputs) {
        order = graph->inputs;
        n = n_files;
    }
    /* A weight that is stored sparse stays: ONNX Runtime, whose data this may be, lets nobody
     * replace it. */
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        if (!graph->values[order[i]].init_is_sparse)
            status = check_read(&run->values[order[i]], run, "input", i, order[i], err);
    free(feeds);
    return status;
}

static enum odb_status check_golden(struct check_run *run, struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        char name[64];
        snprintf(name, sizeof name, "output_%zu.pb", i);
        if (check_exists(run->dir, name))
            ODB_TRY(check_read(&run->golden[i], run, "output", i, graph->outputs[i], err));
    }
    return ODB_OK;
}

/* Keeps the first reason; what depends on the node fails for want of it. */
static enum odb_status check_after(void *payload, int node, enum odb_status status,
                                   struct odb_error *err)
{
    struct check_run *run = payload;
    char label[200], text[2048];
    if (status == ODB_OK || status == ODB_SKIPPED || run->first != ODB_OK)
        return ODB_OK;
    const struct odb_node *at = &run->model->graph->nodes[node];
    const char *why = err ? odb_error_text(err, text, sizeof text) : odb_status_text(status);
    run->first = status;
    snprintf(run->reason, sizeof run->reason, "%s%s%s (%s): %.250s", at->domain,
             *at->domain ? "::" : "", at->op_type, odb_node_label(at, label, sizeof label), why);
    return ODB_OK;
}

static enum odb_status check_run_cpu(struct check_run *run, struct odb_error *err)
{
    struct odb_cpu_run cpu_run = {.precision = ODB_PREC_NATIVE,
                                  .seed = 42,
                                  .values = run->values,
                                  .free_dead = true,
                                  .after = check_after,
                                  .payload = run};
    return odb_cpu_execute(run->cpu, &cpu_run, err);
}

static enum odb_status check_run_target(struct check_run *run, const char *target,
                                        struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    struct odb_feeds feeds = {.items = odb_new_n(struct odb_feed, graph->n_inputs + 1),
                              .warnings = (char *)""};
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    for (size_t i = 0; i < graph->n_inputs; i++)
        if (run->values[graph->inputs[i]])
            feeds.items[feeds.n++] = (struct odb_feed){.value = graph->inputs[i],
                                                       .tensor = run->values[graph->inputs[i]]};
    enum odb_status status = odb_run_values(run->model, &feeds, target, graph->outputs,
                                            graph->n_outputs, outputs, NULL, 0, NULL, err);
    for (size_t i = 0; i < graph->n_outputs && status == ODB_OK; i++) {
        odb_tensor_unref(run->values[graph->outputs[i]]);
        run->values[graph->outputs[i]] = outputs[i];
    }
    free(outputs);
    free(feeds.items);
    return status;
}

/* --- judging --------------------------------------------------------------------------------- */

/* What random draws must still agree in, and what must agree before numbers are looked at. */
static bool check_same_type(const struct odb_tensor *e, const struct odb_tensor *b, char *why,
                            size_t size)
{
    char text[2][300];
    bool same = e->kind == b->kind && e->n_items == b->n_items &&
                (e->kind != ODB_TENSOR || (e->dtype == b->dtype && odb_tensor_same_shape(e, b)));
    if (!same)
        snprintf(why, size, "%s where %s is expected",
                 odb_call__type_text(e, text[0], sizeof text[0]),
                 odb_call__type_text(b, text[1], sizeof text[1]));
    for (size_t i = 0; same && i < e->n_items; i++)
        same = check_same_type(e->items[i], b->items[i], why, size);
    return same;
}

/* The element that misses its bound by most; one that is NaN or Inf on one side only comes first.
 */
static size_t check_worst(const struct odb_criterion *c, const struct odb_tensor *e,
                          const struct odb_tensor *b)
{
    size_t worst = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < e->count; i++) {
        double x = odb_tensor_f64(e, i), y = odb_tensor_f64(b, i);
        bool finite = isfinite(x) && isfinite(y), same = x == y || (isnan(x) && isnan(y));
        double over = finite ? fabs(x - y) - c->v[1] - c->v[0] * fabs(y)
                      : same ? -INFINITY
                             : INFINITY;
        if (over > most) {
            most = over;
            worst = i;
        }
    }
    return worst;
}

static bool check_close(const struct odb_criterion *c, const struct odb_tensor *e,
                        const struct odb_tensor *b, char *why, size_t size)
{
    size_t bad = 0;
    for (size_t i = 0; i < e->n_items; i++)
        if (!check_close(c, e->items[i], b->items[i], why, size))
            return false;
    if (e->kind != ODB_TENSOR)
        return true;
    if (c->kind != ODB_CRITERION_ALLCLOSE || e->dtype == ODB_STRING)
        return odb_criterion_apply(c, e, b, why, size) == ODB_VERDICT_PASS;
    if (odb_all_close(e, b, c->v[0], c->v[1], true, &bad))
        return true;
    size_t worst = check_worst(c, e, b);
    snprintf(why, size, "%zu of %zu elements differ, most at %zu: %.9g where %.9g is expected", bad,
             e->count, worst, odb_tensor_f64(e, worst), odb_tensor_f64(b, worst));
    return false;
}

/* --tol, else the loosest that an operator of the model asks for, else the default. */
static struct odb_criterion check_tolerance(const struct check *check, const struct check_run *run)
{
    struct odb_criterion c = check->tolerance, own;
    for (size_t i = 0; !check->own_tolerance && i < run->model->graph->n_nodes; i++) {
        const struct odb_op *op = odb_cpu_op(run->cpu, (int)i);
        if (op && op->tolerance && odb_criterion_parse(&own, op->tolerance, NULL) == ODB_OK &&
            own.kind == c.kind)
            for (int k = 0; k < 2; k++)
                c.v[k] = ODB_MAX(c.v[k], own.v[k]);
    }
    return c;
}

static void check_mark_random(struct check_run *run)
{
    const struct odb_graph *graph = run->model->graph;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        bool random = odb_cpu_random(run->cpu, (int)i);
        for (size_t k = 0; k < odb_node_n_reads(node); k++) {
            int value = odb_node_reads(node, k);
            int from = value == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[value].producer;
            random |= from != ODB_NO_NODE && run->random[from];
        }
        run->random[i] = random;
    }
}

static enum check_outcome check_judge(const struct check *check, const struct check_run *run,
                                      char *text, size_t size)
{
    const struct odb_graph *graph = run->model->graph;
    struct odb_criterion c = check_tolerance(check, run);
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct odb_value *value = &graph->values[graph->outputs[i]];
        const struct odb_tensor *e = run->values[value->index], *b = run->golden[i];
        char why[300] = "";
        if (!b)
            continue;
        if (!e) {
            snprintf(text, size, "%s", run->first ? run->reason : "an output was not computed");
            return run->first == ODB_UNSUPPORTED ? CHECK_UNSUPPORTED : CHECK_FAILED;
        }
        while (e->kind == ODB_OPTIONAL && b->kind != ODB_OPTIONAL && e->n_items == 1)
            e = e->items[0];
        while (b->kind == ODB_OPTIONAL && e->kind != ODB_OPTIONAL && b->n_items == 1)
            b = b->items[0];
        bool random = value->producer != ODB_NO_NODE && run->random[value->producer];
        if (!check_same_type(e, b, why, sizeof why) ||
            (!random && !check_close(&c, e, b, why, sizeof why))) {
            snprintf(text, size, "%.100s: %s", value->name, why);
            return CHECK_FAILED;
        }
    }
    return CHECK_PASSED;
}

static void check_put(struct check_result *result, enum check_outcome outcome,
                      enum odb_status status, const struct odb_error *err)
{
    char text[2048];
    result->outcome = outcome;
    if (status != ODB_OK)
        snprintf(result->text, sizeof result->text, "%.480s",
                 odb_error_text(err, text, sizeof text));
}

static void check_run_case(struct check *check, size_t at, const struct odb_model *model,
                           const struct odb_cpu *cpu)
{
    const struct check_case *one = &check->cases.items[at];
    struct check_result *result = &check->results[at];
    struct odb_error err = ODB_ERROR_INIT;
    const struct odb_graph *graph = model->graph;
    if (!one->golden) {
        result->outcome = CHECK_NO_GOLDEN;
        return;
    }
    char *dir = odb_xasprintf("%s/test_data_set_%d", one->folder, one->set);
    struct check_run run = {.model = model,
                            .cpu = cpu,
                            .dir = dir,
                            .values = odb_new_n(struct odb_tensor *, graph->n_values + 1),
                            .golden = odb_new_n(struct odb_tensor *, graph->n_outputs + 1),
                            .random = odb_new_n(bool, graph->n_nodes + 1)};
    enum odb_status status = check_inputs(&run, &err);
    if (status == ODB_OK)
        status = check_golden(&run, &err);
    if (status == ODB_OK)
        status =
            check->target ? check_run_target(&run, check->target, &err) : check_run_cpu(&run, &err);
    if (status == ODB_OK) {
        check_mark_random(&run);
        result->outcome = check_judge(check, &run, result->text, sizeof result->text);
    } else {
        check_put(result, status == ODB_UNSUPPORTED ? CHECK_UNSUPPORTED : CHECK_FAILED, status,
                  &err);
    }
    for (size_t i = 0; i < graph->n_values; i++)
        odb_tensor_unref(run.values[i]);
    for (size_t i = 0; i < graph->n_outputs; i++)
        odb_tensor_unref(run.golden[i]);
    free(run.values);
    free(run.golden);
    free(run.random);
    free(dir);
}

/* --- workers --------------------------------------------------------------------------------- */

/* One past the last case of the folder that case at is in. */
static size_t check_folder_end(const struct check *check, size_t at)
{
    size_t end = at + 1;
    while (end < check->cases.n &&
           !strcmp(check->cases.items[at].folder, check->cases.items[end].folder))
        end++;
    return end;
}

static void check_folder(struct check *check, size_t begin, size_t end, atomic_size_t *current)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model = NULL;
    struct odb_cpu *cpu = NULL;
    char *path = odb_xasprintf("%s/model.onnx", check->cases.items[begin].folder);
    atomic_store(current, begin);
    enum odb_status status = odb_model_open(&model, path, &err);
    if (status == ODB_OK)
        status = odb_cpu_new(&cpu, model, &err);
    for (size_t i = begin; i < end; i++) {
        atomic_store(current, i);
        if (status == ODB_OK)
            check_run_case(check, i, model, cpu);
        else
            check_put(&check->results[i], CHECK_FAILED, status, &err);
        atomic_fetch_add(&check->shared->done, 1);
    }
    odb_cpu_free(cpu);
    odb_model_free(model);
    free(path);
}

static void check_work(struct check *check, size_t worker)
{
    for (;;) {
        size_t begin = atomic_load(&check->shared->next), end;
        do {
            if (begin >= check->cases.n)
                return;
            end = check_folder_end(check, begin);
        } while (!atomic_compare_exchange_weak(&check->shared->next, &begin, end));
        check_folder(check, begin, end, &check->shared->current[worker]);
    }
}

static pid_t check_fork(struct check *check, size_t worker, size_t jobs)
{
    fflush(check->call->out);
    fflush(check->call->log);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (jobs > 1)
        odb_parallel_set_threads(1);
    check_work(check, worker);
    _exit(0);
}

/* The case that a worker died at, and the rest of its folder. */
static void check_bury(struct check *check, size_t worker, int wait_status)
{
    size_t at = atomic_load(&check->shared->current[worker]);
    size_t end = check_folder_end(check, at);
    int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    for (size_t i = at; i < end; i++) {
        struct check_result *result = &check->results[i];
        if (result->outcome != CHECK_NOT_RUN)
            continue;
        result->outcome = CHECK_FAILED;
        if (i > at)
            snprintf(result->text, sizeof result->text, "not run: the data set before it crashed");
        else if (number)
            snprintf(result->text, sizeof result->text, "crashed: %s", strsignal(number));
        else
            snprintf(result->text, sizeof result->text, "ended with exit status %d",
                     WEXITSTATUS(wait_status));
        atomic_fetch_add(&check->shared->done, 1);
    }
}

static void check_progress(const struct check *check, bool last)
{
    if (check->call->progress)
        fprintf(check->call->log, last ? "\r\033[K" : "\r\033[K%zu of %zu cases",
                atomic_load(&check->shared->done), check->cases.n);
    fflush(check->call->log);
}

static enum odb_status check_work_all(struct check *check, size_t jobs, struct odb_error *err)
{
    pid_t pids[256] = {0};
    size_t alive = 0;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < jobs; i++, alive++)
        if ((pids[i] = check_fork(check, i, jobs)) < 0)
            break;
    if (!alive)
        return odb_fail(err, ODB_E_NOMEM, "cannot start a process: %s", strerror(errno));
    while (alive) {
        int wait_status;
        pid_t pid = waitpid(-1, &wait_status, check->call->progress ? WNOHANG : 0);
        if (check->hooks.cancelled(check->hooks.payload) && status == ODB_OK) {
            status = odb_fail(err, ODB_CANCELLED, "interrupted");
            for (size_t i = 0; i < jobs; i++)
                if (pids[i] > 0)
                    kill(pids[i], SIGTERM);
        }
        if (pid <= 0) {
            check_progress(check, false);
            if (pid == 0)
                usleep(50000);
            continue;
        }
        for (size_t i = 0; i < jobs; i++) {
            if (pids[i] != pid)
                continue;
            pids[i] = 0;
            alive--;
            if ((!WIFEXITED(wait_status) || WEXITSTATUS(wait_status)) && status == ODB_OK) {
                check_bury(check, i, wait_status);
                pids[i] = check_fork(check, i, jobs);
                alive += pids[i] > 0;
            }
        }
    }
    check_progress(check, true);
    return status;
}

/* --- the command ----------------------------------------------------------------------------- */

static void check_list(struct check *check, bool interrupted)
{
    static const char *const words[CHECK_OUTCOMES] = {[CHECK_NOT_RUN] = "not run",
                                                      [CHECK_FAILED] = "failed",
                                                      [CHECK_UNSUPPORTED] = "unsupported",
                                                      [CHECK_NO_GOLDEN] = "without golden"};
    size_t counts[CHECK_OUTCOMES] = {0};
    struct odb_buf out = ODB_BUF_INIT;
    for (size_t i = 0; i < check->cases.n; i++) {
        const struct check_case *one = &check->cases.items[i];
        const struct check_result *result = &check->results[i];
        counts[result->outcome]++;
        if (!words[result->outcome] || (interrupted && result->outcome == CHECK_NOT_RUN))
            continue;
        odb_buf_printf(&out, "%s: ", words[result->outcome]);
        odb_buf_put_shown(&out, one->folder);
        if (one->set >= 0)
            odb_buf_printf(&out, "/test_data_set_%d", one->set);
        if (result->text[0]) {
            odb_buf_puts(&out, ": ");
            odb_buf_put_shown(&out, result->text);
        }
        odb_buf_putc(&out, '\n');
    }
    if (interrupted)
        odb_buf_printf(&out, "not run: %zu\n", counts[CHECK_NOT_RUN]);
    else
        counts[CHECK_FAILED] += counts[CHECK_NOT_RUN];
    odb_buf_printf(&out, "%zu passed, %zu failed, %zu unsupported, %zu without golden\n",
                   counts[CHECK_PASSED], counts[CHECK_FAILED], counts[CHECK_UNSUPPORTED],
                   counts[CHECK_NO_GOLDEN]);
    check->call->found = counts[CHECK_FAILED] > 0;
    odb_call__print(check->call, &out);
}

static enum odb_status check_options(struct check *check, struct odb_error *err)
{
    struct odb_spec *spec;
    check->target = odb_call_option(check->call, ODB_OPTION_TARGET);
    check->own_tolerance = odb_call_has(check->call, ODB_OPTION_TOL);
    check->tolerance = (struct odb_criterion){ODB_CRITERION_ALLCLOSE, {1e-3, 1e-7}};
    if (check->own_tolerance)
        ODB_TRY(odb_call__tolerance(check->call, &check->tolerance, err));
    if (check->tolerance.kind == ODB_CRITERION_NOISE) {
        odb_fail(err, ODB_E_USAGE, "stored outputs say nothing of noise");
        odb_error_remedy(err, "give a fixed tolerance, such as allclose:1e-3,1e-7");
        return odb_error_at(err, "--tol");
    }
    if (check->target) {
        ODB_TRY(odb_spec_parse(&spec, check->target, err));
        bool known = odb_executor_find(spec->kind) != NULL;
        odb_spec_free(spec);
        if (!known) {
            odb_fail(err, ODB_E_USAGE, "there is no executor of that kind");
            odb_error_remedy(err, "`onnxdbg executors` lists them");
            return odb_error_at(err, "--target %s", check->target);
        }
    }
    return ODB_OK;
}

static enum odb_status check_map(struct check *check, struct odb_error *err)
{
    size_t head = (sizeof *check->shared + 63) & ~(size_t)63;
    check->mapped = head + check->cases.n * sizeof *check->results;
    void *memory =
        mmap(NULL, check->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return odb_fail(err, ODB_E_NOMEM, "no shared memory for the results: %s", strerror(errno));
    check->shared = memory;
    check->results = (struct check_result *)((char *)memory + head);
    return ODB_OK;
}

static void check_dispose(struct check *check)
{
    for (size_t i = 0; i < check->cases.n; i++)
        free(check->cases.items[i].folder);
    free(check->cases.items);
    if (check->shared)
        munmap(check->shared, check->mapped);
}

enum odb_status odb_command__check(struct odb_command_call *call, struct odb_error *err)
{
    struct check check = {.call = call};
    struct odb_watch watch;
    size_t jobs = (size_t)odb_call_int(call, ODB_OPTION_JOBS, odb_parallel_threads());
    enum odb_status status = ODB_OK;
    ODB_TRY_OUT(check_options(&check, err));
    for (size_t i = 0; i < call->n_args; i++) {
        char *folder = odb_xstrdup(call->args[i]);
        for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
            folder[n - 1] = '\0';
        status = check_scan(&check, folder, 0, err);
        free(folder);
        if (status != ODB_OK)
            goto out;
    }
    if (!check.cases.n) {
        status = odb_fail(err, ODB_E_INPUT, "there is no folder with a model.onnx");
        odb_error_at(err, "%s", call->args[0]);
        goto out;
    }
    ODB_TRY_OUT(check_map(&check, err));
    check.hooks = odb_watch_begin(&watch, call);
    status = check_work_all(&check, ODB_MIN(jobs, check.cases.n), err);
    odb_watch_end(&watch);
    check_list(&check, status != ODB_OK);
out:
    check_dispose(&check);
    return status;
}
