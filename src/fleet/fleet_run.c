/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet/fleet_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/causes.h"
#include "system/ending.h"
#include "system/file.h"
#include "system/lock.h"
#include "system/scratch.h"

#define RUN_POLL 10000000 /* nanoseconds */
#define RUN_LAST 600      /* bytes of what a debugger said last */

/* What a debugger is asked for. */
enum run_part { RUN_PLAIN, RUN_SEARCH, RUN_REPRO };
static const char *const run_parts[] = {
    [RUN_PLAIN] = "plain runs", [RUN_SEARCH] = "searches", [RUN_REPRO] = "small models of causes"};

/* A debugger at work. */
struct run_slot {
    pid_t pid;   /* 0: it is free */
    size_t item; /* of the part's list */
    double began;
    char *json, *said, *folder; /* owned: files that it writes; folder: of a repro */
};

/* One part: a list of models, or of causes, and those who work it off. */
struct run_list {
    struct odb_fleet_run *run;
    enum run_part part;
    size_t *items; /* owned */
    size_t n, next, done, folders;
    const struct odb_causes *causes; /* of RUN_REPRO */
    char *scratch;                   /* owned */
    struct run_slot *slots;          /* owned; [workers] */
};

/* FNV-1a (Fowler, Noll, Vo): tells files apart that would have one name. */
static uint32_t run_mix(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

char *odb_fleet_session(const char *folder, const struct odb_fleet *fleet,
                        const struct odb_fleet_model *model)
{
    char *file = odb_file_name(model->name);
    char *stamp = odb_xasprintf("%lld %lld", (long long)model->bytes, (long long)model->changed);
    uint32_t hash = run_mix(run_mix(run_mix(2166136261u, model->name), stamp), fleet->options);
    char *path = odb_xasprintf("%s/%s-%08x.odb", folder, file, hash);
    free(stamp);
    free(file);
    return path;
}

/* --- the command line ------------------------------------------------------------------------- */

static void run_add(struct odb_argv *argv, char *word)
{
    odb_argv_add(argv, word);
    free(word);
}

static size_t run_member(const struct run_list *list, size_t item)
{
    const struct odb_cause *cause = list->causes ? &list->causes->list.items[item] : NULL;
    return cause ? cause->members.items[cause->smallest].model : item;
}

static void run_add_budget(const struct odb_fleet_run *run, struct odb_argv *argv)
{
    const struct odb_budget *budget = run->budget;
    if (budget->deadline > 0)
        run_add(argv, odb_xasprintf("--budget=%.0f", budget->deadline - odb_clock() + 1));
    if (budget->compiles)
        run_add(argv, odb_xasprintf("--compiles=%zu", budget->compiles - budget->compiled));
}

/* What this run and another one have found by now. */
static void run_add_known(const struct odb_fleet_run *run, struct odb_argv *argv)
{
    struct odb_causes causes;
    struct odb_buf known = ODB_BUF_INIT;
    odb_buf_puts(&known, run->known);
    odb_causes_find(&causes, run->fleet);
    odb_causes_put_known(&causes, &known);
    odb_causes_dispose(&causes);
    if (known.len)
        run_add(argv, odb_xasprintf("--known=%s", odb_buf_text(&known)));
    odb_buf_dispose(&known);
}

static void run_words(const struct run_list *list, const struct run_slot *slot,
                      struct odb_argv *argv)
{
    struct odb_fleet_run *run = list->run;
    const struct odb_fleet_model *model = &run->fleet->models.items[run_member(list, slot->item)];
    char *session = odb_fleet_session(run->folder, run->fleet, model);
    run_add(argv, odb_file_self());
    odb_argv_add(argv, list->part == RUN_REPRO ? "minimise" : "bisect");
    odb_argv_add(argv, model->path);
    if (list->part == RUN_REPRO) {
        const struct odb_cause *cause = &list->causes->list.items[slot->item];
        const json_t *culprit = cause->members.items[cause->smallest].culprit;
        run_add(argv, odb_xasprintf("#%lld", (long long)json_integer_value(
                                                 json_object_get(culprit, "index"))));
        run_add(argv, odb_xasprintf("--output=%s", slot->folder));
    }
    const struct odb_argv *words = list->part == RUN_REPRO ? run->repro_words : run->words;
    for (size_t i = 0; i < words->list.n; i++)
        odb_argv_add(argv, words->list.items[i]);
    if (list->part == RUN_PLAIN)
        odb_argv_add(argv, "--strategy=plain");
    if (list->part == RUN_SEARCH) {
        run_add(argv, odb_xasprintf("--session=%s", session));
        odb_argv_add(argv, "--retry");
        run_add_known(run, argv);
    }
    run_add_budget(run, argv);
    run_add(argv, odb_xasprintf("--json=%s", slot->json));
    free(session);
}

/* DIR/cause-N that nothing has yet; the caller's. */
static char *run_new_folder(struct run_list *list)
{
    for (;;) {
        char *folder = odb_xasprintf("%s/cause-%zu", list->run->folder, ++list->folders);
        if (access(folder, F_OK) < 0)
            return folder;
        free(folder);
    }
}

/* --- one debugger ----------------------------------------------------------------------------- */

static enum odb_status run_start(struct run_list *list, struct run_slot *slot, size_t item,
                                 struct odb_error *err)
{
    struct odb_argv argv = {0};
    struct odb_program program = {.argv = &argv, .quiet = true};
    size_t number = (size_t)(slot - list->slots);
    *slot = (struct run_slot){.item = item, .began = odb_clock()};
    slot->json = odb_xasprintf("%s/%zu.json", list->scratch, number);
    slot->said = odb_xasprintf("%s/%zu.txt", list->scratch, number);
    if (list->part == RUN_REPRO)
        slot->folder = run_new_folder(list);
    unlink(slot->json);
    run_words(list, slot, &argv);
    int said = open(slot->said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    enum odb_status status =
        said < 0 || none < 0 ? odb_fail(err, ODB_E_IO, "%s: %m", slot->said) : ODB_OK;
    if (status == ODB_OK)
        status = odb_program_spawn(&program, (int[]){-1, none, said}, &slot->pid, err);
    if (said >= 0)
        close(said);
    if (none >= 0)
        close(none);
    odb_argv_dispose(&argv);
    return status;
}

static void run_free(struct run_slot *slot)
{
    free(slot->json);
    free(slot->said);
    free(slot->folder);
    *slot = (struct run_slot){0};
}

char *odb_fleet_last_line(const char *path)
{
    char text[RUN_LAST + 1] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    if (fseek(file, -RUN_LAST, SEEK_END) < 0)
        rewind(file);
    text[fread(text, 1, RUN_LAST, file)] = '\0';
    fclose(file);
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n')
        text[--n] = '\0';
    const char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    line += !strncmp(line, "onnxdbg: ", 9) ? 9 : 0;
    return *line ? odb_xstrdup(line) : NULL;
}

/* The report without what is large: its values are in the session. */
static json_t *run_report(const char *path)
{
    json_t *report = json_load_file(path, 0, NULL);
    odb_fleet_trim(report);
    return report;
}

static char *run_said(const json_t *report, const char *said, int how)
{
    const char *failure = json_string_value(json_object_get(report, "failure"));
    if (failure)
        return odb_xstrdup(failure);
    if (WIFSIGNALED(how))
        return odb_xasprintf("the debugger died: %s", strsignal(WTERMSIG(how)));
    return report ? NULL : odb_fleet_last_line(said);
}

static bool run_spent(const struct odb_fleet_run *run)
{
    const struct odb_budget *budget = run->budget;
    return odb_budget_spent(budget) || (budget->compiles && budget->compiled >= budget->compiles);
}

/* Whether a debugger came to its end, so that it need not be asked again: what was stopped from
 * outside, or by the budget, did not. */
static bool run_finished(const struct run_list *list, const json_t *report,
                         enum odb_fleet_verdict verdict)
{
    if (json_is_true(json_object_get(report, "complete")) || verdict == ODB_FLEET_REFUSED)
        return true;
    return list->part == RUN_PLAIN && !run_spent(list->run);
}

/* A model was asked, or searched. */
static enum odb_status run_take_model(struct run_list *list, const struct run_slot *slot, int how,
                                      struct odb_error *err)
{
    struct odb_fleet_run *run = list->run;
    struct odb_fleet_model *model = &run->fleet->models.items[slot->item];
    json_t *report = run_report(slot->json);
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    enum odb_fleet_verdict verdict = odb_fleet_judge(report, status);
    int64_t compiles = json_integer_value(json_object_get(report, "target_models"));
    model->seconds += odb_clock() - slot->began;
    model->compiles += compiles;
    run->budget->compiled += (size_t)compiles;
    if (run_finished(list, report, verdict)) {
        bool plain = list->part == RUN_PLAIN;
        model->stage = plain ? ODB_FLEET_ASKED : ODB_FLEET_SEARCHED;
        if (plain || verdict != ODB_FLEET_NONE) { /* else what the plain run has shown stands */
            model->verdict = verdict;
            json_decref(model->report);
            model->report = json_incref(report);
        }
    }
    free(model->said);
    model->said = run_said(report, slot->said, how);
    json_decref(report);
    return odb_fleet_file_put_model(run->file, model, err);
}

static enum odb_status run_take_repro(struct run_list *list, const struct run_slot *slot, int how,
                                      struct odb_error *err)
{
    const struct odb_cause *cause = &list->causes->list.items[slot->item];
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    bool made = status == 0;
    if (status != 0 && status != 1) /* it was kept from it, and may be another time */
        return ODB_OK;
    struct odb_fleet_repro repro = {.cause = odb_xstrdup(cause->key),
                                    .folder = made ? odb_xstrdup(slot->folder) : NULL,
                                    .said = odb_fleet_last_line(slot->said)};
    odb_push(&list->run->fleet->repros, repro);
    return odb_fleet_file_put_repro(list->run->file, &repro, err);
}

static enum odb_status run_take(struct run_list *list, struct run_slot *slot, int how,
                                struct odb_error *err)
{
    const struct odb_fleet_run *run = list->run;
    const char *name =
        odb_fleet_brief(run->fleet, run->fleet->models.items[run_member(list, slot->item)].name);
    enum odb_status status = list->part == RUN_REPRO ? run_take_repro(list, slot, how, err)
                                                     : run_take_model(list, slot, how, err);
    list->done++;
    if (run->progress)
        run->progress(run->payload, run_parts[list->part], list->done, list->n, name);
    run_free(slot);
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

static enum odb_status run_ends(const struct odb_fleet_run *run, struct odb_error *err)
{
    if (run->cancelled && run->cancelled(run->payload))
        return odb_fail(err, ODB_CANCELLED, "stopped");
    if (run_spent(run))
        return odb_fail(err, ODB_SKIPPED, "the budget is spent");
    return ODB_OK;
}

/* Those at work end by themselves when they are asked to, and keep what they have. */
static void run_stop(struct run_list *list)
{
    for (size_t i = 0; i < list->run->workers; i++)
        if (list->slots[i].pid)
            kill(list->slots[i].pid, SIGTERM);
    for (size_t i = 0; i < list->run->workers; i++) {
        while (list->slots[i].pid && waitpid(list->slots[i].pid, NULL, 0) < 0 && errno == EINTR)
            ;
        run_free(&list->slots[i]);
    }
}

static enum odb_status run_turn(struct run_list *list, bool *busy, struct odb_error *err)
{
    *busy = false;
    for (size_t i = 0; i < list->run->workers; i++) {
        struct run_slot *slot = &list->slots[i];
        int how;
        if (slot->pid && waitpid(slot->pid, &how, WNOHANG) == slot->pid)
            ODB_TRY(run_take(list, slot, how, err));
        if (!slot->pid && list->next < list->n) {
            ODB_TRY(run_ends(list->run, err));
            ODB_TRY(run_start(list, slot, list->items[list->next++], err));
        }
        *busy |= slot->pid != 0;
    }
    return ODB_OK;
}

static enum odb_status run_list(struct run_list *list, struct odb_error *err)
{
    enum odb_status status = odb_scratch_new(&list->scratch, err);
    list->slots = odb_new_n(struct run_slot, list->run->workers);
    if (list->run->progress && list->n)
        list->run->progress(list->run->payload, run_parts[list->part], 0, list->n, "");
    for (bool busy = true; busy && status == ODB_OK;) {
        status = run_turn(list, &busy, err);
        if (status == ODB_OK && busy)
            status = list->run->cancelled && list->run->cancelled(list->run->payload)
                         ? odb_fail(err, ODB_CANCELLED, "stopped")
                         : ODB_OK;
        if (status == ODB_OK && busy)
            nanosleep(&(struct timespec){.tv_nsec = RUN_POLL}, NULL);
    }
    run_stop(list);
    if (list->scratch)
        odb_scratch_remove(list->scratch);
    free(list->scratch);
    free(list->slots);
    free(list->items);
    return status;
}

/* --- the three parts -------------------------------------------------------------------------- */

static const struct odb_fleet *run_sorted; /* what qsort() has no argument for */

static int run_by_size(const void *a, const void *b)
{
    const struct odb_fleet_model *x = &run_sorted->models.items[*(const size_t *)a];
    const struct odb_fleet_model *y = &run_sorted->models.items[*(const size_t *)b];
    return x->bytes != y->bytes ? (x->bytes > y->bytes) - (x->bytes < y->bytes)
                                : strcmp(x->name, y->name);
}

static int run_by_time(const void *a, const void *b)
{
    const struct odb_fleet_model *x = &run_sorted->models.items[*(const size_t *)a];
    const struct odb_fleet_model *y = &run_sorted->models.items[*(const size_t *)b];
    return x->seconds != y->seconds ? (x->seconds > y->seconds) - (x->seconds < y->seconds)
                                    : run_by_size(a, b);
}

static enum odb_status run_models(struct odb_fleet_run *run, enum run_part part,
                                  struct odb_error *err)
{
    struct run_list list = {.run = run, .part = part};
    list.items = odb_new_n(size_t, run->fleet->models.n + 1);
    for (size_t i = 0; i < run->fleet->models.n; i++) {
        const struct odb_fleet_model *model = &run->fleet->models.items[i];
        /* What had no verdict may have one now: something was missing here, perhaps. */
        bool anew = model->stage == ODB_FLEET_NEW || model->verdict == ODB_FLEET_NONE;
        bool wanted = part == RUN_PLAIN ? anew
                                        : model->stage == ODB_FLEET_ASKED && model->report &&
                                              odb_fleet_fails(model->verdict);
        if (wanted)
            list.items[list.n++] = i;
    }
    run_sorted = run->fleet;
    qsort(list.items, list.n, sizeof *list.items, part == RUN_PLAIN ? run_by_size : run_by_time);
    return run_list(&list, err);
}

static enum odb_status run_repros(struct odb_fleet_run *run, struct odb_error *err)
{
    struct odb_causes causes;
    struct run_list list = {.run = run, .part = RUN_REPRO, .causes = &causes};
    odb_causes_find(&causes, run->fleet);
    list.items = odb_new_n(size_t, causes.list.n + 1);
    for (size_t i = 0; i < causes.list.n; i++) {
        const struct odb_cause *cause = &causes.list.items[i];
        if (cause->members.items[cause->smallest].culprit && !odb_cause_repro(run->fleet, cause))
            list.items[list.n++] = i;
    }
    enum odb_status status = run_list(&list, err);
    odb_causes_dispose(&causes);
    return status;
}

enum odb_status odb_fleet_run(struct odb_fleet_run *run, struct odb_error *err)
{
    if (mkdir(run->folder, 0777) < 0 && errno != EEXIST)
        return odb_fail(err, ODB_E_IO, "%s: %m", run->folder);
    int lock;
    ODB_TRY(odb_lock_folder(&lock, run->folder, err)); /* of two fleets in one file, one is first */
    odb_ending_pass_on();
    enum odb_status status = run_models(run, RUN_PLAIN, err);
    if (status == ODB_OK)
        status = run_models(run, RUN_SEARCH, err);
    if (status == ODB_OK && run->repros)
        status = run_repros(run, err);
    if (lock >= 0)
        close(lock);
    return status;
}
