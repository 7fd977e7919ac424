/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dump_tools' command line: which outputs, from which executor, where to, and held against what.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/console.h"
#include "command/call/tensor_file.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/nearest.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/search_options.h"
#include "command/value/call_sequence.h"
#include "command/verbs/file/dump_json.h"
#include "command/verbs/file/dump_steps.h"
#include "command/verbs/file/part.h"
#include "compare/oldstyle.h"
#include "dump/dump.h"
#include "inputs/inputs.h"
#include "model/read/load.h"
#include "model/write/write.h"
#include "report/json.h"
#include "session/identity.h"
#include "session/session_state.h"
#include "system/file.h"

enum dump_kind { DUMP_FULL, DUMP_ONCE, DUMP_RANGE, DUMP_LIST };
static const char *const dump_kinds[] = {"full", "once", "range", "list"};

struct dump_command {
    struct odb_command_call *call;
    enum dump_kind kind;
    size_t first_name; /* of the arguments that are no model */
    struct odb_watch watch;
    int *outputs; /* owned; [n_outputs] by topological index */
    size_t n_outputs;
    bool *chosen;                  /* owned; [n_outputs] */
    const struct odb_model *model; /* borrowed: the call's, or part */
    struct odb_model *part;        /* owned; NULL: all of the model is dumped */
    const char *spec, *executor;   /* borrowed: what gives the values, and what the user calls it */
    const struct odb_feeds *feeds; /* borrowed: own, or the session's */
    struct odb_feeds *own;         /* owned; NULL: they are the session's */
    char *root, *inputs, *folder;  /* owned */
    struct odb_oldstyle_options limits;
    const char *step; /* borrowed: the folder of a step; NULL: there are none */
    json_t *json;     /* owned; NULL: nothing is dumped yet */
    json_t *steps;    /* owned: of each step; NULL: there are none */
    bool instead;     /* it is printed, and nothing else */
};

static const char *dump_option(const struct dump_command *d, enum odb_option_id id,
                               const char *fallback)
{
    const char *value = odb_call_option(d->call, id);
    return value ? value : fallback;
}

/* --- which outputs ---------------------------------------------------------------------------- */

static enum odb_status dump_unknown(const struct dump_command *d, const char *name,
                                    struct odb_error *err)
{
    const struct odb_graph *graph = d->model->graph;
    const struct odb_value *value = odb_graph_value(graph, name);
    const char **names = odb_new_n(const char *, d->n_outputs + 1);
    struct odb_buf shown = ODB_BUF_INIT;
    for (size_t i = 0; i < d->n_outputs; i++)
        names[i] = graph->values[d->outputs[i]].name;
    const char *near = odb_nearest(name, names, d->n_outputs);
    odb_buf_put_shown(&shown, name);
    odb_fail(err, ODB_E_USAGE,
             value ? "'%s' is no output of a node" : "the model has no output '%s'",
             odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    if (near) {
        odb_buf_put_shown(&shown, near);
        odb_error_remedy(err, "did you mean '%s'?", odb_buf_text(&shown));
    } else {
        odb_error_remedy(err, "`onnxdbg nodes` lists the outputs");
    }
    odb_buf_dispose(&shown);
    free(names);
    return ODB_E_USAGE;
}

/* A name, or, where numbers are taken, an index. */
static enum odb_status dump_find(const struct dump_command *d, const char *text, bool numbers,
                                 size_t *index, struct odb_error *err)
{
    const struct odb_graph *graph = d->model->graph;
    for (size_t i = 0; i < d->n_outputs; i++)
        if (!strcmp(graph->values[d->outputs[i]].name, text)) {
            *index = i;
            return ODB_OK;
        }
    if (!numbers || !*text || text[strspn(text, "0123456789")])
        return dump_unknown(d, text, err);
    *index = strtoul(text, NULL, 10);
    if (*index < d->n_outputs)
        return ODB_OK;
    return odb_fail(err, ODB_E_USAGE, "there is no output %s: indices are 0 to %zu", text,
                    d->n_outputs - 1);
}

/* Every step-th from begin on, and end. */
static void dump_choose_steps(struct dump_command *d, size_t begin, size_t end)
{
    size_t step = (size_t)odb_call_int(d->call, ODB_OPTION_DUMP_STEP, 1);
    for (size_t i = begin; i <= end; i += step)
        d->chosen[i] = true;
    d->chosen[end] = true;
}

static enum odb_status dump_end_of(struct dump_command *d, enum odb_option_id by_index,
                                   enum odb_option_id by_name, size_t arg, size_t *index,
                                   struct odb_error *err)
{
    const char *name = odb_call_option(d->call, by_name);
    const char *text = odb_call_option(d->call, by_index);
    if (name && text)
        return odb_fail(err, ODB_E_USAGE, "--%s and --%s say the same",
                        odb_option_row(by_index)->name, odb_option_row(by_name)->name);
    const char *word = odb_call_arg(d->call, d->first_name + arg);
    if (word && (name || text))
        return odb_fail(err, ODB_E_USAGE, "'%.80s' and --%s both say where the range %s", word,
                        odb_option_row(name ? by_name : by_index)->name, arg ? "ends" : "begins");
    if (!name)
        text = text ? text : word;
    if (name)
        return dump_find(d, name, false, index, err);
    return text ? dump_find(d, text, true, index, err) : ODB_OK;
}

static enum odb_status dump_choose_range(struct dump_command *d, struct odb_error *err)
{
    const struct odb_graph *graph = d->model->graph;
    size_t begin = 0, end = d->n_outputs - 1;
    if (d->call->n_args > d->first_name + 2)
        return odb_fail(err, ODB_E_USAGE, "a range has two ends, and '%.80s' is a third word",
                        d->call->args[d->first_name + 2]);
    ODB_TRY(dump_end_of(d, ODB_OPTION_BEGIN, ODB_OPTION_BEGIN_NAME, 0, &begin, err));
    ODB_TRY(dump_end_of(d, ODB_OPTION_END, ODB_OPTION_END_NAME, 1, &end, err));
    if (begin > end) {
        odb_fail(err, ODB_E_USAGE, "the range begins with output %zu (%s), behind its end %zu (%s)",
                 begin, graph->values[d->outputs[begin]].name, end,
                 graph->values[d->outputs[end]].name);
        return odb_error_remedy(err, "swap --begin and --end");
    }
    dump_choose_steps(d, begin, end);
    return ODB_OK;
}

static enum odb_status dump_choose_names(struct dump_command *d, struct odb_error *err)
{
    size_t n, index, named = d->call->n_args - d->first_name;
    const char **list = odb_call_list(d->call, ODB_OPTION_OUTPUT_NAME, &n);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n + named && status == ODB_OK; i++) {
        const char *name = i < n ? list[i] : d->call->args[d->first_name + i - n];
        status = dump_find(d, name, false, &index, err);
        if (status == ODB_OK)
            d->chosen[index] = true;
    }
    free((void *)list);
    if (n + named || status != ODB_OK)
        return status;
    if (d->kind == DUMP_ONCE) {
        odb_fail(err, ODB_E_USAGE, "dump once writes one output, and none is named");
        return odb_error_remedy(err, "add -n NAME");
    }
    dump_choose_steps(d, 0, d->n_outputs - 1);
    return ODB_OK;
}

static enum odb_status dump_choose(struct dump_command *d, struct odb_error *err)
{
    d->outputs = odb_dump_outputs(d->model->graph, &d->n_outputs);
    d->chosen = odb_new_n(bool, d->n_outputs + 1);
    if (!d->n_outputs)
        return odb_fail(err, ODB_E_INPUT, "no node of the model has an output to write");
    if (d->kind == DUMP_RANGE)
        return dump_choose_range(d, err);
    if (d->kind != DUMP_FULL)
        return dump_choose_names(d, err);
    if (d->call->n_args > d->first_name)
        return odb_fail(err, ODB_E_USAGE, "dump full takes no names; dump list does");
    dump_choose_steps(d, 0, d->n_outputs - 1);
    return ODB_OK;
}

/* --- a part of the model ---------------------------------------------------------------------- */

/* From here on the model is what lies between the values of --inputs and --outputs. */
static enum odb_status dump_part(struct dump_command *d, struct odb_error *err)
{
    const struct odb_model *whole = d->call->model;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_part part;
    enum odb_status status;
    d->model = whole;
    if (!odb_call_has(d->call, ODB_OPTION_CUT_INPUTS) &&
        !odb_call_has(d->call, ODB_OPTION_CUT_OUTPUTS))
        return ODB_OK;
    odb_part_init(&part, d->call);
    part.alone = true;
    ODB_TRY_OUT(odb_part_ports(&part, err));
    ODB_TRY_OUT(odb_part_cut(&part, err));
    ODB_TRY_OUT(odb_part_types(&part, err));
    const struct odb_extract what = {.nodes = part.nodes,
                                     .inputs = part.inputs.items,
                                     .n_inputs = part.inputs.n,
                                     .outputs = part.outputs.items,
                                     .n_outputs = part.outputs.n,
                                     .weights = ODB_WEIGHTS_REFERENCE};
    ODB_TRY_OUT(odb_model_extract(whole, &what, &bytes, err));
    ODB_TRY_OUT(odb_model_open_bytes(&d->part, bytes.data, bytes.len, NULL, whole->base,
                                     "the part between --inputs and --outputs", err));
    d->model = d->part;
out:
    odb_part_dispose(&part);
    odb_buf_dispose(&bytes);
    return status;
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* NAME:FILE,NAME:FILE as its parts; commas within brackets are no ends. A setting is one part. */
static void dump_add_inputs(const struct dump_command *d, const char *text, char ***list, size_t *n)
{
    bool given = false;
    for (size_t i = 0; i < d->call->options.n; i++)
        given |= d->call->options.items[i].value == text;
    for (const char *from = text, *p = text;; p++) {
        int depth = 0;
        for (; *p && (*p != ',' || depth > 0 || !given); p++)
            depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
        *list = odb_xrealloc(*list, *n + 1, sizeof **list);
        (*list)[(*n)++] = odb_xstrndup(from, (size_t)(p - from));
        if (!*p)
            return;
        from = p + 1;
    }
}

static enum odb_status dump_make_feeds(struct dump_command *d, struct odb_error *err)
{
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    const char *recordings[ODB_CALL_RECORDINGS];
    size_t n_given, n = 0;
    char **parts = NULL;
    const char **given = odb_call_list(d->call, ODB_OPTION_INPUT, &n_given);
    for (size_t i = 0; i < n_given; i++)
        dump_add_inputs(d, given[i], &parts, &n);
    options.inputs = (const char *const *)parts;
    options.n_inputs = n;
    if (!d->part) /* whose inputs have fixed shapes */
        options.dims = odb_call_list(d->call, ODB_OPTION_DIM, &options.n_dims);
    options.inputs_from = odb_call_option(d->call, ODB_OPTION_INPUTS_FROM);
    options.seed = (uint32_t)odb_call_int(d->call, ODB_OPTION_SEED, options.seed);
    if (d->call->console) { /* as the session has them */
        options.recordings = recordings;
        options.n_recordings = odb_call__recordings(d->call, recordings);
    } else {
        options.dumped = true;
    }
    enum odb_status status = odb_feeds_make(&d->own, d->model, &options, err);
    for (size_t i = 0; i < n; i++)
        free(parts[i]);
    free(parts);
    free((void *)given);
    free((void *)options.dims);
    return status;
}

/* Those of a session are looked at, and never made or changed for it. */
static enum odb_status dump_feeds(struct dump_command *d, struct odb_error *err)
{
    static const enum odb_option_id ids[] = {ODB_OPTION_INPUT, ODB_OPTION_INPUTS_FROM,
                                             ODB_OPTION_DIM, ODB_OPTION_SEED};
    bool asked = !d->call->console || !d->call->session->feeds;
    for (size_t i = 0; i < d->call->options.n; i++)
        for (size_t k = 0; k < ODB_COUNT(ids); k++)
            asked |= d->call->options.items[i].id == ids[k];
    d->feeds = d->call->session->feeds;
    if (odb_call__step_given(d->call)) {
        ODB_TRY(odb_call__step_feeds(d->call, &d->own, err));
    } else {
        if (!asked)
            return ODB_OK;
        ODB_TRY(dump_make_feeds(d, err));
    }
    odb_call__feed_tell(d->call, d->own);
    d->feeds = d->own;
    return ODB_OK;
}

/* --- options ---------------------------------------------------------------------------------- */

/* Nothing runs for hours before it is found out that there is nothing to compare with. */
static enum odb_status dump_check_folders(const struct dump_command *d, struct odb_error *err)
{
    static const enum odb_option_id ids[] = {ODB_OPTION_COMPARE_DIR, ODB_OPTION_DUMP_GOLDEN};
    for (size_t i = 0; i < ODB_COUNT(ids); i++) {
        const char *path = odb_call_option(d->call, ids[i]);
        struct stat st;
        if (!path || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
            continue;
        odb_fail(err, ODB_E_USAGE, "there is no folder %s", path);
        return odb_error_at(err, "--%s", odb_option_row(ids[i])->name);
    }
    if (odb_call_has(d->call, ODB_OPTION_COMPARE_DIR) ||
        !odb_call_has(d->call, ODB_OPTION_DUMP_GOLDEN))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "--golden-dir judges a target beside another dump");
    return odb_error_remedy(err, "add -cd DIR, or give the golden folder as -cd");
}

/* In a session the model is there, and so is the target. The environment is all the debugger's, so
 * that no other command would find what this one had put there. */
static enum odb_status dump_join(struct dump_command *d, struct odb_error *err)
{
    static const struct {
        enum odb_option_id id;
        const char *why, *remedy;
    } others[] = {
        {ODB_OPTION_ONNX_DIR, "the model is the session's", "leave it out"},
        {ODB_OPTION_CUT_INPUTS, "the session is about the whole model", "use dump range or list"},
        {ODB_OPTION_CUT_OUTPUTS, "the session is about the whole model", "use dump range or list"},
        {ODB_OPTION_MODEL_TYPE, "compilers read this when the debugger starts",
         "leave, and start onnxdbg with ONNXDBG_MODEL_TYPE in the environment"},
        {ODB_OPTION_PASSED_PATH, "compilers read this when the debugger starts",
         "leave, and start onnxdbg with ONNXDBG_PASSED_PATH in the environment"},
    };
    for (size_t i = 0; i < ODB_COUNT(others); i++) {
        if (!odb_call_has(d->call, others[i].id))
            continue;
        odb_fail(err, ODB_E_USAGE, "%s", others[i].why);
        odb_error_at(err, "--%s", odb_option_row(others[i].id)->name);
        return odb_error_remedy(err, "%s", others[i].remedy);
    }
    d->first_name = 2;
    if (d->executor)
        return ODB_OK;
    d->executor = odb_console_target(d->call->console);
    d->spec = odb_call__target(d->call);
    return ODB_OK;
}

/* The model is opened by the first word that may be it. */
static enum odb_status dump_open_model(struct dump_command *d, struct odb_error *err)
{
    const char *path = odb_call_option(d->call, ODB_OPTION_ONNX_DIR);
    d->first_name = path ? 1 : 2;
    if (!path)
        path = odb_call_arg(d->call, 1);
    if (!path) {
        odb_fail(err, ODB_E_USAGE, "no model is named");
        return odb_error_remedy(err, "onnxdbg dump %s MODEL -f ort", d->call->args[0]);
    }
    if (!d->executor) {
        odb_fail(err, ODB_E_USAGE, "no executor is named");
        return odb_error_remedy(err, "add -f ort; `onnxdbg executors` lists what there is");
    }
    return odb_call__open_model(d->call, path, err);
}

/* The model and what is to be done. */
static enum odb_status dump_open(struct dump_command *d, struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(dump_kinds); i++)
        if (!strcmp(dump_kinds[i], d->call->args[0]))
            d->kind = (enum dump_kind)i;
    d->executor = odb_call_option(d->call, ODB_OPTION_FRAME_TYPE);
    d->spec = odb_call__spec(d->call, ODB_OPTION_FRAME_TYPE);
    ODB_TRY(dump_check_folders(d, err));
    ODB_TRY(odb_call__real(d->call, ODB_OPTION_INPUT_TAG, &d->limits.tag, err));
    ODB_TRY(odb_call__real(d->call, ODB_OPTION_TH1, &d->limits.th1, err));
    ODB_TRY(odb_call__real(d->call, ODB_OPTION_TH2, &d->limits.th2, err));
    return d->call->console ? dump_join(d, err) : dump_open_model(d, err);
}

/* "cpu:f16" and "cpu,threads=2" go to cpu_dump. */
static void dump_folders(struct dump_command *d)
{
    const char *root = odb_call_option(d->call, ODB_OPTION_ROOT_DIR);
    free(d->root);
    free(d->inputs);
    free(d->folder);
    d->root = d->step ? odb_xstrdup(d->step)
              : root  ? odb_xstrdup(root)
                      : odb_xasprintf("%.*s_dump", (int)strcspn(d->executor, ":,@"), d->executor);
    d->inputs = odb_xasprintf("%s/%s", d->root, dump_option(d, ODB_OPTION_INPUTS_DIR, "inputs"));
    d->folder = odb_xasprintf("%s/%s", d->root, dump_option(d, ODB_OPTION_OUTPUTS_DIR, "outputs"));
}

/* --- running ---------------------------------------------------------------------------------- */

static void dump_say(void *payload, const char *line, bool failed)
{
    struct dump_command *d = payload;
    if (failed) {
        char *warning = odb_xasprintf("onnxdbg: warning: %s", line);
        odb_watch_print(&d->watch, d->call->log, warning);
        free(warning);
    } else if (!d->instead) {
        odb_watch_print(&d->watch, d->call->out, line);
    }
}

static void dump_conclude(const struct dump_command *d, const struct odb_dump *dump)
{
    FILE *log = d->call->log;
    fprintf(log, "onnxdbg: %s: %zu output%s", d->root, dump->n, dump->n == 1 ? "" : "s");
    if (dump->failed)
        fprintf(log, ", %zu of them failed", dump->failed);
    if (dump->kept)
        fprintf(log, ", %zu from the dump that was stopped here", dump->kept);
    fprintf(log, ", %zu load%s, %.1f s\n", dump->loads, dump->loads == 1 ? "" : "s",
            odb_clock() - d->watch.start);
}

/* The submodel of `dump once`, as ONNX text and in the executor's words. */
static enum odb_status dump_put_text(struct dump_command *d, const struct odb_dump *dump,
                                     struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    ODB_TRY(odb_dump_text(dump, &out, err));
    json_object_set_new(d->json, "text", odb_json_text(odb_buf_text(&out)));
    if (dump->own) {
        odb_buf_printf(&out, "\n%s:\n", dump->options.executor);
        odb_buf_put_shown_lines(&out, dump->own);
    }
    if (!d->instead)
        odb_call__print(d->call, &out);
    odb_buf_dispose(&out);
    return ODB_OK;
}

/* What went wrong is reported; that nothing was had at all is an error. */
static enum odb_status dump_judge(struct dump_command *d, const struct odb_dump *dump,
                                  struct odb_error *err)
{
    d->call->found |= dump->failed > 0;
    if (dump->failed < dump->n)
        return ODB_OK;
    if (dump->why.code == ODB_OK)
        return odb_fail(err, ODB_E_EXECUTOR, "no output could be had");
    *err = dump->why;
    return err->code == ODB_SKIPPED ? ODB_E_EXECUTOR : err->code;
}

static enum odb_status dump_run(struct dump_command *d, const struct odb_dump_options *options,
                                struct odb_error *err)
{
    struct odb_dump dump;
    size_t *indices = odb_new_n(size_t, d->n_outputs + 1), n = 0;
    for (size_t i = 0; i < d->n_outputs; i++)
        if (d->chosen[i])
            indices[n++] = i;
    enum odb_status status = odb_dump_run(&dump, d->model, d->feeds, indices, n, options, err);
    odb_watch_end(&d->watch);
    if (status == ODB_OK) {
        dump_conclude(d, &dump);
        d->json = odb_dump_json(&dump);
    }
    if (status == ODB_CANCELLED && options->indexed)
        odb_error_remedy(err, "the same command line goes on from here");
    if (status == ODB_OK && d->kind == DUMP_ONCE && dump.failed < dump.n)
        status = dump_put_text(d, &dump, err);
    if (status == ODB_OK)
        status = dump_judge(d, &dump, err);
    odb_dump_dispose(&dump);
    free(indices);
    return status;
}

/* The environment of the child, which passes it on to the compiler. */
static void dump_tell_compilers(const struct dump_command *d, const char **type,
                                const char **passes)
{
    if (d->call->console) {
        *type = getenv("ONNXDBG_MODEL_TYPE");
        *passes = getenv("ONNXDBG_PASSED_PATH");
        *type = *type ? *type : "fp16";
        return;
    }
    *type = dump_option(d, ODB_OPTION_MODEL_TYPE, "fp16");
    *passes = odb_call_option(d->call, ODB_OPTION_PASSED_PATH);
    setenv("ONNXDBG_MODEL_TYPE", *type, 1);
    if (*passes)
        setenv("ONNXDBG_PASSED_PATH", *passes, 1);
}

static enum odb_status dump_write(struct dump_command *d, struct odb_error *err)
{
    static const char *const strategies[] = {"auto", "all", "each"};
    const char *strategy = odb_call_option(d->call, ODB_OPTION_DUMP_STRATEGY);
    const char *type, *passes;
    struct odb_buf identity = ODB_BUF_INIT;
    dump_tell_compilers(d, &type, &passes);
    dump_folders(d);
    odb_identity_put_spec(d->spec, &identity);
    odb_identity_put_common(&identity);
    odb_buf_printf(&identity, "passes %s\n", passes ? passes : "");
    if (passes)
        odb_identity_put_file(passes, &identity);
    struct odb_dump_options options = {.spec = d->spec,
                                       .executor = d->executor,
                                       .cut_from = d->part ? d->call->model->path : NULL,
                                       .model_dtype = type,
                                       .root = d->root,
                                       .inputs = d->inputs,
                                       .outputs = d->folder,
                                       .identity = odb_buf_text(&identity),
                                       .indexed = d->kind != DUMP_ONCE,
                                       .account = d->kind == DUMP_ONCE,
                                       .seed = (uint64_t)odb_call_int(d->call, ODB_OPTION_SEED, 42),
                                       .say = dump_say,
                                       .payload = d};
    for (size_t i = 0; strategy && i < ODB_COUNT(strategies); i++)
        if (!strcmp(strategy, strategies[i]))
            options.strategy = (enum odb_dump_strategy)i;
    options.hooks = odb_watch_begin(&d->watch, d->call);
    d->watch.aside = true;
    enum odb_status status = dump_run(d, &options, err);
    odb_buf_dispose(&identity);
    return status;
}

/* --- step by step ------------------------------------------------------------------------------
 */

/* The options of a sequence were given, with this command; those of a session are about its search.
 */
static bool dump_has_steps(const struct dump_command *d)
{
    return odb_call__plan_said(d->call) && !odb_call__step_given(d->call);
}

static enum odb_status dump_refuse_steps(const struct dump_command *d, struct odb_error *err)
{
    const char *with = d->kind != DUMP_FULL                            ? dump_kinds[d->kind]
                       : d->part                                       ? "--inputs and --outputs"
                       : odb_call_has(d->call, ODB_OPTION_COMPARE_DIR) ? "--compare-dir"
                                                                       : NULL;
    if (!with)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "several steps are dumped in full, and not with %s", with);
    return odb_error_remedy(err, "dump one step: --at-step K");
}

static enum odb_status dump_step(void *payload, const char *folder, const struct odb_feeds *feeds,
                                 struct odb_error *err)
{
    struct dump_command *d = payload;
    d->step = folder;
    d->feeds = feeds;
    enum odb_status status = dump_write(d, err);
    if (d->json)
        json_array_append_new(d->steps, d->json);
    d->json = NULL;
    d->step = NULL;
    d->feeds = NULL;
    return status;
}

static enum odb_status dump_steps(struct dump_command *d, struct odb_error *err)
{
    ODB_TRY(dump_refuse_steps(d, err));
    dump_folders(d);
    char *root = odb_xstrdup(d->root);
    d->steps = json_array();
    enum odb_status status = odb_call__dump_steps(d->call, root, dump_step, d, err);
    d->json = json_pack("{so,so}", "root", odb_json_text(root), "steps", d->steps);
    free(root);
    return status;
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool dump_compared(void *payload, size_t done, size_t total)
{
    const struct odb_search_hooks *hooks = payload;
    hooks->event(hooks->payload, &(struct odb_search_event){.what = ODB_EVENT_PROGRESS,
                                                            .text = "comparing",
                                                            .node = ODB_NO_NODE,
                                                            .done = done,
                                                            .total = total});
    return hooks->cancelled(hooks->payload);
}

/* The lines, the log and the workbook. */
static enum odb_status dump_publish(struct dump_command *d, const struct odb_oldstyle *what,
                                    struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    char *log = odb_xasprintf("%s/compare_result.log", d->root);
    char *book = odb_xasprintf("%s/compare_results.xlsx", d->root);
    d->call->found = odb_oldstyle_put(what, &text) || d->call->found;
    enum odb_status status = odb_file_write(log, odb_buf_text(&text), text.len, err);
    if (status == ODB_OK)
        status = odb_oldstyle_workbook(what, book, err);
    json_object_set_new(d->json, "comparison", odb_oldstyle_json(what));
    if (!d->instead)
        odb_call__print(d->call, &text);
    odb_buf_dispose(&text);
    free(book);
    free(log);
    return status;
}

static enum odb_status dump_compare(struct dump_command *d, struct odb_error *err)
{
    struct odb_oldstyle what;
    const char *const dirs[] = {d->folder, odb_call_option(d->call, ODB_OPTION_COMPARE_DIR),
                                odb_call_option(d->call, ODB_OPTION_DUMP_GOLDEN)};
    if (!dirs[ODB_OLDSTYLE_COMPARE])
        return ODB_OK;
    struct odb_search_hooks hooks = odb_watch_begin(&d->watch, d->call);
    const struct odb_oldstyle_reader reader = {odb_call__read_tensor, dump_compared, &hooks};
    enum odb_status status = odb_oldstyle_folders(&what, dirs, &d->limits, &reader, err);
    odb_watch_end(&d->watch);
    if (status == ODB_OK)
        status = dump_publish(d, &what, err);
    if (status == ODB_OK)
        status = odb_oldstyle_readable(&what, err);
    odb_oldstyle_dispose(&what);
    return status;
}

enum odb_status odb_command__dump(struct odb_command_call *call, struct odb_error *err)
{
    struct dump_command d = {.call = call, .limits = ODB_OLDSTYLE_INIT};
    struct odb_buf none = ODB_BUF_INIT; /* lines are printed as outputs come */
    struct odb_error late = ODB_ERROR_INIT;
    enum odb_status status, given = ODB_OK;
    bool wanted = odb_call__json(call, &d.instead);
    ODB_TRY_OUT(dump_open(&d, err));
    ODB_TRY_OUT(dump_part(&d, err));
    ODB_TRY_OUT(dump_choose(&d, err));
    if (dump_has_steps(&d)) {
        status = dump_steps(&d, err);
        goto out;
    }
    ODB_TRY_OUT(dump_feeds(&d, err));
    ODB_TRY_OUT(dump_write(&d, err));
    status = dump_compare(&d, err);
out:
    if (wanted && d.json) /* what is there is said, whatever failed since */
        given = odb_call__give(call, json_incref(d.json), &none, &late);
    if (status == ODB_OK && given != ODB_OK) {
        *err = late;
        status = given;
    }
    json_decref(d.json);
    free(d.outputs);
    free(d.chosen);
    free(d.root);
    free(d.inputs);
    free(d.folder);
    odb_feeds_free(d.own);
    odb_model_free(d.part);
    return status;
}
