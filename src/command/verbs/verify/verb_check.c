/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Folders in the layout of ONNX's backend tests, by the thousand. The reference runs in worker
 * processes, each of which takes folder after folder from a common counter and leaves what it
 * found in shared memory: a kernel that crashes costs its own case and no other, and a case costs
 * no process.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/search_options.h"
#include "command/verbs/verify/check_int.h"
#include "interpret/cpu.h"
#include "model/read/load.h"
#include "report/json.h"
#include "system/file.h"
#include "system/parallel.h"

#define CHECK_DEPTH 32 /* of folders: a link may lead back up */

struct check_case {
    char *folder; /* owned */
    int set;      /* N of test_data_set_N; -1: there is none */
    bool golden;  /* there is an output_N.pb */
};

struct check {
    struct odb_command_call *call; /* borrowed */
    struct odb_search_hooks hooks; /* asked whether to stop */
    struct check_rules rules;
    int64_t ir_version;               /* --ir-version; 0: the model's */
    ODB_VEC(struct check_case) cases; /* those of one folder stand together */
    size_t n_folders;                 /* looked into */
    struct check_result *results;     /* mapped; one per case */
    struct check_shared {
        atomic_size_t next;         /* case to take; at the first of a folder */
        atomic_size_t current[256]; /* case that a worker is at */
        atomic_size_t done;
        atomic_size_t names; /* bytes in the file of names */
    } * shared;              /* mapped */
    size_t mapped;
    int names; /* a file in memory: the operators of every model, where results say */
};

/* --- finding cases --------------------------------------------------------------------------- */

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
    if (check->n_folders++ == ODB_FOLDERS_MOST)
        return odb_fail(err, ODB_E_INPUT, "more than %d folders to look into", ODB_FOLDERS_MOST);
    int n = scandir(folder, &entries, NULL,
                    (int (*)(const struct dirent **, const struct dirent **))check_by_name);
    if (n < 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "%s", folder);
    }
    if (check__exists(folder, "model.onnx"))
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

/* --- workers --------------------------------------------------------------------------------- */

static void check_put(struct check_result *result, const struct odb_error *err)
{
    char text[2048];
    result->outcome = CHECK_FAILED;
    snprintf(result->text, sizeof result->text, "%.480s", odb_error_text(err, text, sizeof text));
}

/* A case without anything to compare with: whether it could be run is reported all the same. */
static void check_run_none(struct check_result *result, const struct check_rules *rules,
                           const struct odb_model *model, const struct odb_cpu *cpu)
{
    const struct odb_graph *graph = model->graph;
    result->outcome = CHECK_NO_GOLDEN;
    for (size_t n = 0; n < graph->n_nodes && !rules->target; n++) {
        const char *why = odb_cpu_unsupported(cpu, (int)n);
        if (!*why)
            continue;
        struct odb_buf text = ODB_BUF_INIT;
        odb_node_put(graph, (int)n, &text);
        result->outcome = CHECK_UNSUPPORTED;
        odb_text_fit(result->text, sizeof result->text, "%s: %s", odb_buf_text(&text), why);
        odb_buf_dispose(&text);
        return;
    }
}

static void check_run_case(struct check *check, size_t at, const struct odb_model *model,
                           const struct odb_cpu *cpu)
{
    const struct check_case *one = &check->cases.items[at];
    if (!one->golden) {
        check_run_none(&check->results[at], &check->rules, model, cpu);
        return;
    }
    char *dir = odb_xasprintf("%s/test_data_set_%d", one->folder, one->set);
    check__case(&check->results[at], &check->rules, model, cpu, dir);
    free(dir);
}

/* Puts the model's operators into the file, in a place that no other worker has. */
static enum odb_status check_keep_operators(struct check *check, struct check_result *result,
                                            const struct odb_model *model, struct odb_error *err)
{
    struct odb_buf names = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    check__operators(&names, model);
    size_t at = atomic_fetch_add(&check->shared->names, names.len);
    for (size_t put = 0; put < names.len && status == ODB_OK;) {
        ssize_t n = pwrite(check->names, names.data + put, names.len - put, (off_t)(at + put));
        if (n <= 0 && errno != EINTR)
            status = odb_fail(err, ODB_E_NOMEM, "no memory for the names of its operators: %s",
                              strerror(errno));
        put += n > 0 ? (size_t)n : 0;
    }
    if (status == ODB_OK) {
        result->names_at = at;
        result->names_size = names.len;
    }
    odb_buf_dispose(&names);
    return status;
}

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
    enum odb_status status = odb_call_read_model(&model, check->call, path, &err);
    if (status == ODB_OK && check->ir_version)
        model->ir_version = check->ir_version; /* targets are given models that are written anew */
    if (status == ODB_OK)
        status = check_keep_operators(check, &check->results[begin], model, &err);
    for (size_t i = begin + 1; i < end; i++) {
        check->results[i].names_at = check->results[begin].names_at;
        check->results[i].names_size = check->results[begin].names_size;
    }
    if (status == ODB_OK)
        status = odb_cpu_new(&cpu, model, &err);
    for (size_t i = begin; i < end; i++) {
        atomic_store(current, i);
        if (status == ODB_OK)
            check_run_case(check, i, model, cpu);
        else
            check_put(&check->results[i], &err);
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

/* What a case gathers without end (a Loop without a trip count) is an error of that case, and takes
 * the memory of its worker, not the machine's. */
static void check_limit(const struct check *check, size_t jobs)
{
    uint64_t most = check->call->budget.memory ? check->call->budget.memory : odb_mem_spare();
    unsigned long long data = 0;
    struct rlimit limit;
    FILE *file = most < UINT64_MAX / 2 ? fopen("/proc/self/statm", "re") : NULL;
    bool known = file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) == 1;
    if (file)
        fclose(file);
    if (!known || getrlimit(RLIMIT_DATA, &limit) < 0)
        return;
    most = most / jobs + data * (uint64_t)sysconf(_SC_PAGESIZE);
    if (limit.rlim_cur == RLIM_INFINITY || most < limit.rlim_cur)
        limit.rlim_cur = most;
    setrlimit(RLIMIT_DATA, &limit);
}

static pid_t check_fork(struct check *check, size_t worker, size_t jobs)
{
    fflush(check->call->out);
    fflush(check->call->log);
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* of the main thread, which waits for us */
    if (getppid() != parent)
        _exit(1);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    if (jobs > 1)
        odb_parallel_set_threads(1);
    check_limit(check, jobs);
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
        pid_t pid = waitpid(-1, &wait_status, WNOHANG); /* a signal may come before a wait */
        if (check->hooks.cancelled(check->hooks.payload) && status == ODB_OK) {
            status = odb_fail(err, ODB_CANCELLED, "interrupted");
            for (size_t i = 0; i < jobs; i++)
                if (pids[i] > 0)
                    kill(pids[i], SIGTERM);
        }
        if (pid <= 0) {
            check_progress(check, false);
            if (pid == 0)
                usleep(20000);
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

static const char *const check_words[CHECK_OUTCOMES] = {[CHECK_NOT_RUN] = "not run",
                                                        [CHECK_PASSED] = "passed",
                                                        [CHECK_FAILED] = "failed",
                                                        [CHECK_UNSUPPORTED] = "unsupported",
                                                        [CHECK_NO_GOLDEN] = "without golden"};

/* Adds everything up; a case that was lost without an interruption has failed. */
static void check_count(struct check *check, size_t *counts, struct check_tally *tally,
                        const char *names, bool interrupted)
{
    for (size_t i = 0; i < check->cases.n; i++) {
        struct check_result *result = &check->results[i];
        if (!interrupted && result->outcome == CHECK_NOT_RUN) {
            result->outcome = CHECK_FAILED;
            snprintf(result->text, sizeof result->text, "not run: its process was lost");
        }
        counts[result->outcome]++;
        check_tally__add(tally, result, names, check->cases.items[i].folder);
    }
    check_tally__sort(tally);
    check->call->found = counts[CHECK_FAILED] > 0;
}

static void check_print(const struct check *check, const size_t *counts,
                        const struct check_tally *tally, struct odb_buf *out)
{
    for (size_t i = 0; i < check->cases.n; i++) {
        const struct check_case *one = &check->cases.items[i];
        const struct check_result *result = &check->results[i];
        if (result->outcome == CHECK_PASSED || result->outcome == CHECK_NOT_RUN)
            continue;
        odb_buf_printf(out, "%s: ", check_words[result->outcome]);
        odb_buf_put_shown(out, one->folder);
        if (one->set >= 0)
            odb_buf_printf(out, "/test_data_set_%d", one->set);
        if (result->text[0]) {
            odb_buf_puts(out, ": ");
            odb_buf_put_shown(out, result->text);
        }
        odb_buf_putc(out, '\n');
    }
    if (check->cases.n > 1) /* of one case, it would say what the line below says */
        check_tally__print(tally, out);
    if (counts[CHECK_NOT_RUN])
        odb_buf_printf(out, "not run: %zu\n", counts[CHECK_NOT_RUN]);
    odb_buf_printf(out, "%zu passed, %zu failed, %zu unsupported, %zu without golden\n",
                   counts[CHECK_PASSED], counts[CHECK_FAILED], counts[CHECK_UNSUPPORTED],
                   counts[CHECK_NO_GOLDEN]);
}

static json_t *check_case_json(const struct check_case *one, const struct check_result *result)
{
    return json_pack("{s:o,s:o,s:s,s:o,s:o}", "folder", odb_json_text(one->folder), "data_set",
                     one->set >= 0 ? json_integer(one->set) : json_null(), "outcome",
                     check_words[result->outcome], "error",
                     result->measured ? odb_json_real(result->error) : json_null(), "text",
                     odb_json_text(result->text));
}

static void check_print_json(const struct check *check, const size_t *counts,
                             const struct check_tally *tally, struct odb_buf *out)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < check->cases.n; i++)
        json_array_append_new(cases, check_case_json(&check->cases.items[i], &check->results[i]));
    odb_json_put(
        json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "target",
                  odb_json_text(check->rules.target ? check->rules.target : "cpu"), "passed",
                  (json_int_t)counts[CHECK_PASSED], "failed", (json_int_t)counts[CHECK_FAILED],
                  "unsupported", (json_int_t)counts[CHECK_UNSUPPORTED], "without_golden",
                  (json_int_t)counts[CHECK_NO_GOLDEN], "not_run", (json_int_t)counts[CHECK_NOT_RUN],
                  "operators", check_tally__json(tally), "cases", cases),
        out);
}

static enum odb_status check_list(struct check *check, bool interrupted, struct odb_error *err)
{
    size_t counts[CHECK_OUTCOMES] = {0}, size = atomic_load(&check->shared->names);
    struct check_tally tally = {0};
    struct odb_buf out = ODB_BUF_INIT;
    void *names = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, check->names, 0) : NULL;
    if (names == MAP_FAILED)
        return odb_fail(err, ODB_E_NOMEM, "no memory for the names of operators: %s",
                        strerror(errno));
    check_count(check, counts, &tally, names, interrupted);
    if (odb_call_has(check->call, ODB_OPTION_JSON))
        check_print_json(check, counts, &tally, &out);
    else
        check_print(check, counts, &tally, &out);
    odb_call__print(check->call, &out);
    check_tally__dispose(&tally);
    if (names)
        munmap(names, size);
    return ODB_OK;
}

static enum odb_status check_options(struct check *check, struct odb_error *err)
{
    struct odb_spec *spec;
    check->ir_version = odb_call_int(check->call, ODB_OPTION_IR_VERSION, 0);
    check->rules.target =
        odb_call__typed(check->call, odb_call_option(check->call, ODB_OPTION_TARGET));
    check->rules.own_tolerance = odb_call_has(check->call, ODB_OPTION_TOL);
    check->rules.tolerance = (struct odb_criterion){ODB_CRITERION_ALLCLOSE, {1e-3, 1e-7}};
    if (check->rules.own_tolerance)
        ODB_TRY(odb_call__tolerance(check->call, &check->rules.tolerance, err));
    if (check->rules.tolerance.kind == ODB_CRITERION_NOISE) {
        odb_fail(err, ODB_E_USAGE, "stored outputs say nothing of noise");
        odb_error_remedy(err, "give a fixed tolerance, such as allclose:1e-3,1e-7");
        return odb_error_at(err, "--tol");
    }
    if (check->rules.target) {
        ODB_TRY(odb_spec_parse(&spec, check->rules.target, err));
        bool known = odb_executor_find(spec->kind) != NULL;
        odb_spec_free(spec);
        if (!known) {
            odb_fail(err, ODB_E_USAGE, "there is no executor of that kind");
            odb_error_remedy(err, "`onnxdbg executors` lists them");
            return odb_error_at(err, "--target %s", check->rules.target);
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
    check->names = memfd_create("operators", MFD_CLOEXEC);
    if (check->names < 0)
        return odb_fail(err, ODB_E_NOMEM, "no file in memory for the names of operators: %s",
                        strerror(errno));
    return ODB_OK;
}

static void check_dispose(struct check *check)
{
    for (size_t i = 0; i < check->cases.n; i++)
        free(check->cases.items[i].folder);
    free(check->cases.items);
    if (check->shared)
        munmap(check->shared, check->mapped);
    if (check->names >= 0)
        close(check->names);
}

enum odb_status odb_command__check(struct odb_command_call *call, struct odb_error *err)
{
    struct check check = {.call = call, .names = -1};
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
    enum odb_status listed = check_list(&check, status != ODB_OK, err);
    status = status == ODB_OK ? listed : status;
out:
    check_dispose(&check);
    return status;
}
