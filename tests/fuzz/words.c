/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What people write on command lines, in rules and breakpoints, and what files repeat of it: specs
 * of executors, tolerances, conditions, filters, slices, expressions, formats, things to look for;
 * then what is as short and comes from elsewhere: lines of a dump's journal, the signatures of
 * compiled models, names that become files'. The first byte chooses.
 */
#include "fuzz.h"

#include "system/file.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/parse.h"
#include "command/value/call_run.h"
#include "command/console/complete.h"
#include "command/console/console_line.h"
#include "command/value/expression.h"
#include "compare/criterion.h"
#include "compare/inspect/seek.h"
#include "judge/condition.h"
#include "dump/dump.h"
#include "sweep/over.h"
#include "judge/signature.h"
#include "executor/executor.h"
#include "executor/onnx_mlir/onnx_mlir_int.h"
#include "executor/transport/link.h"
#include "model/model.h"
#include "session/session_state.h"
#include "tensor/format/format.h"
#include "tensor/grid.h"
#include "tensor/tensor_print.h"
#include "command/console/filter.h"

/* A call on a session where both sides and a verdict are known of every node's value. */
static struct odb_command_call *words_call(void)
{
    static struct odb_console console;
    static struct odb_command_call call;
    struct odb_session *session;
    char **argv = NULL;
    if (call.session)
        return &call;
    if (odb_session_open_take(&session, fuzz_model(), NULL, NULL) != ODB_OK)
        abort();
    odb_console_init(&console, session);
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere || odb_console_parse(&console, "print y", &argv, &call, false, NULL) != ODB_OK)
        abort();
    call.out = call.log = nowhere;
    if (odb_call_run(&call, NULL) != ODB_OK)
        abort();
    odb_call_dispose(&call);
    free(argv);
    for (size_t i = 0; i < session->model->graph->n_nodes; i++) {
        const struct odb_tensor *pair[2];
        int value = session->model->graph->nodes[i].out[0];
        fuzz_pair(pair);
        session->given[value] = odb_tensor_ref((struct odb_tensor *)pair[0]);
        session->values[value] = (struct odb_value_report){
            .verdict = i ? ODB_VERDICT_FAIL : ODB_VERDICT_PASS,
            .error = {true, i ? 0.5 : 0},
            .noise = {true, 1e-7},
            .local_error = {i > 0, 0.5},
            .gain = {i > 1, 3},
            .culprit = i == 1,
        };
    }
    call =
        (struct odb_command_call){.console = &console, .session = session, .model = session->model};
    return &call;
}

static void words_spec(const char *text, struct odb_error *err)
{
    struct odb_spec *spec;
    struct odb_link link;
    double number = 0;
    size_t bytes = 0;
    if (odb_spec_parse(&spec, text, err) != ODB_OK)
        return;
    (void)!odb_spec_number(spec, "timeout", &number, err);
    (void)!odb_spec_whole(spec, "workers", 1, 64, &number, err);
    (void)!odb_spec_size(spec, "mem", &bytes, err);
    (void)!odb_spec_check(spec, odb_spec_common, err);
    if (spec->row && spec->row->transport && odb_link_parse(&link, spec, err) == ODB_OK) {
        struct odb_argv argv = {0};
        link.transport->argv(&link, &argv);
        odb_argv_dispose(&argv);
        odb_link_dispose(&link);
    }
    for (size_t i = 0; i < odb_link_count(spec); i++)
        free(odb_link_spec(spec, i));
    odb_spec_free(spec);
}

static void words_criterion(const char *text, struct odb_error *err)
{
    struct odb_criterion criterion, again;
    const struct odb_tensor *pair[2];
    char back[128], why[160];
    if (odb_criterion_parse(&criterion, text, err) != ODB_OK)
        return;
    if (odb_criterion_parse(&again, odb_criterion_text(&criterion, back, sizeof back), err) !=
            ODB_OK ||
        again.kind != criterion.kind)
        abort();
    if (criterion.kind == ODB_CRITERION_NOISE) /* is nothing that two values alone decide */
        return;
    fuzz_pair(pair);
    if (odb_criterion_apply(&criterion, pair[0], pair[1], why, sizeof why) !=
        odb_criterion_apply(&again, pair[0], pair[1], NULL, 0))
        abort();
}

static void words_condition(const char *text, struct odb_error *err)
{
    struct odb_condition *condition;
    struct odb_condition_facts nothing = {0};
    const struct odb_tensor *pair[2];
    struct odb_buf shown = ODB_BUF_INIT;
    if (odb_condition_parse(&condition, text, err) != ODB_OK)
        return;
    odb_condition_ask(condition, &nothing);
    odb_condition_searched(condition);
    fuzz_pair(pair);
    struct odb_measured m = {.evaluated = pair[0], .base = pair[1], .options = {.th = -1}};
    struct odb_value_report report = {.verdict = ODB_VERDICT_FAIL, .error = {true, 0.5}};
    odb_condition_ask(condition, &(struct odb_condition_facts){&report, pair[0], pair[1], &m});
    odb_condition_put_measures(condition, &m, &shown);
    fuzz_check_shown(&shown);
    odb_buf_dispose(&shown);
    odb_condition_free(condition);
}

static void words_filter(const char *text, struct odb_error *err)
{
    const struct odb_session *session = words_call()->session;
    struct odb_completion found;
    struct odb_filter *filter;
    size_t at, n = strlen(text);
    odb_filter_complete(&found, session->model->graph, text, n);
    odb_completion_dispose(&found);
    odb_filter_complete(&found, session->model->graph, text, n / 2);
    odb_completion_dispose(&found);
    if (odb_filter_parse(&filter, text, &at, err) == ODB_OK) {
        for (int i = 0; i < (int)session->model->graph->n_nodes; i++)
            odb_filter_matches(filter, session, i);
        odb_filter_follows(filter);
        odb_filter_free(filter);
    } else if (at > n) {
        abort();
    }
}

static void words_slice(const char *text, struct odb_error *err)
{
    struct odb_tensor *t, *cut;
    size_t at;
    if (odb_tensor_new(&t, ODB_F32, 3, (int64_t[]){2, 3, 5}, err) != ODB_OK)
        return;
    if (odb_slice(&cut, t, text, err) == ODB_OK)
        fuzz_look_take(cut);
    if (odb_index_parse(&at, t, text, err) == ODB_OK && at >= t->count)
        abort();
    odb_tensor_unref(t);
}

static void words_expression(const char *text, struct odb_error *err)
{
    struct odb_command_call *call = words_call();
    const struct odb_graph *graph = call->model->graph;
    struct odb_expression expression;
    struct odb_buf shown = ODB_BUF_INIT;
    int node;
    odb_expression_parse(&expression, text, graph);
    if (odb_expression_put(call, &expression, '\0', true, &shown, err) == ODB_OK)
        fuzz_check_shown(&shown);
    odb_expression_dispose(&expression);
    odb_buf_dispose(&shown);
    if (odb_graph_find_node(graph, text, &node, err) == ODB_OK &&
        (node < 0 || (size_t)node >= graph->n_nodes))
        abort();
}

static void words_format(const char *text, struct odb_error *err)
{
    struct odb_format format;
    char shown[ODB_FORMAT_TEXT];
    if (odb_format_parse(&format, text, err) == ODB_OK)
        odb_format_real(&format, 1.0 / 3, shown, sizeof shown);
}

static void words_seek(const char *text, struct odb_error *err)
{
    struct odb_seek seek;
    (void)!odb_seek_parse(&seek, text, err);
}

static void words_over(const char *text, struct odb_error *err)
{
    struct odb_over over = {0};
    (void)!odb_over_parse(&over, text, err);
    odb_over_dispose(&over);
}

static void words_signature(const char *text, struct odb_error *err)
{
    struct odb_signature signature;
    struct odb_buf out = ODB_BUF_INIT;
    if (odb_signature_parse(&signature, text)) {
        odb_signature_put(&signature, &out);
        fuzz_check_shown(&out);
    }
    odb_buf_dispose(&out);
}

static void words_journal(const char *text, struct odb_error *err)
{
    size_t index;
    char *why = NULL;
    (void)err;
    if (odb_dump_note_read(text, &index, &why) && why && strchr(why, '\n'))
        abort();
    free(why);
}

static void words_compiled(const char *text, struct odb_error *err)
{
    static const char *const names[] = {"x", "y"};
    struct mlir_ports ports = {0};
    bool by_name = true;
    if (mlir_ports_read(&ports, &by_name, text, "inputs", names, ODB_COUNT(names), err) == ODB_OK)
        for (size_t i = 0; i < ODB_COUNT(names); i++)
            if (!ports.items[i].name || ports.items[i].rank > ODB_MAX_RANK)
                abort();
    mlir_ports_dispose(&ports);
}

static void words_file_name(const char *text, struct odb_error *err)
{
    char *name = odb_file_name(text);
    (void)err;
    if (strchr(name, '/') || strlen(name) > ODB_FILE_NAME) /* an ending follows */
        abort();
    free(name);
}

static void (*const words_parsers[])(const char *text, struct odb_error *err) = {
    words_spec,       words_criterion, words_condition, words_filter, words_slice,
    words_expression, words_format,    words_seek,      words_over,   words_signature,
    words_journal,    words_compiled,  words_file_name};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    if (!size)
        return 0;
    char *text = fuzz_text(data + 1, size - 1);
    words_parsers[(size_t)(*data - 'a') % ODB_COUNT(words_parsers)](text, &err);
    free(text);
    return 0;
}
