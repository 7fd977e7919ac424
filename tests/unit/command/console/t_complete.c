/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/table/command.h"

#include <sys/stat.h>

#include "tests/help/allocations.h"
#include "command/call/console.h"
#include "command/console/complete.h"
#include "command/table/table.h"
#include "executor/executor.h"
#include "model/read/load.h"
#include "session/annotations.h"
#include "session/session_state.h"
#include "tests/help/models.h"

struct complete_at {
    struct odb_session session;
    struct odb_console console;
    struct odb_completion found;
    char *folder;
};

static void complete_model(struct complete_at *at, struct odb_builder *b)
{
    *at = (struct complete_at){.session.model = models_take(b)};
    at->console.session = &at->session;
}

/* Names as they come: paths, a blank, a quote, a colon, a dash, none at all, twice the same. */
static int complete_setup(void **state)
{
    struct complete_at *at = odb_new(struct complete_at);
    struct odb_builder *b = odb_build_new("tiny", 17);
    struct odb_tensor *w = models_f32(1, (int64_t[]){3}, (float[]){1, 2, 3});
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){3});
    odb_build_weight(b, "conv.weight", w);
    odb_tensor_unref(w);
    odb_build_node(b, "Relu", "first", "x", "a");
    odb_build_node(b, "Relu", "/enc/layer.0/attn/MatMul", "a", "b");
    odb_build_node(b, "Add", "/enc/layer.1/attn/MatMul", "b conv.weight", "c");
    odb_build_node(b, "Sigmoid", "has:colon", "c", "has,comma");
    odb_build_node(b, "Sin", "it's odd", "has,comma", "e");
    odb_build_node(b, "Cos", "it is even", "e", "f");
    odb_build_node(b, "Exp", "", "f", "made_of_it");
    odb_build_node(b, "Neg", "twice", "made_of_it", "g");
    odb_build_node(b, "Neg", "twice", "g", "h");
    odb_build_node(b, "Abs", "-dash", "h", "y");
    odb_build_output(b, "y");
    complete_model(at, b);
    *state = at;
    return 0;
}

static int complete_teardown(void **state)
{
    struct complete_at *at = *state;
    odb_completion_dispose(&at->found);
    odb_model_free((struct odb_model *)at->session.model);
    free(at);
    return 0;
}

static void complete_line(struct complete_at *at, const char *line)
{
    odb_completion_dispose(&at->found);
    odb_complete(&at->found, &at->console, line, strlen(line));
}

static bool complete_has(const struct complete_at *at, const char *word)
{
    for (size_t i = 0; i < at->found.words.n; i++)
        if (!strcmp(at->found.words.items[i], word))
            return true;
    return false;
}

/* The words in order, separated by "|"; common NULL: the line stays as it is. */
static void complete_gives(struct complete_at *at, const char *line, const char *words,
                           const char *common)
{
    struct odb_buf all = ODB_BUF_INIT;
    complete_line(at, line);
    for (size_t i = 0; i < at->found.words.n; i++)
        odb_buf_printf(&all, "%s%s", i ? "|" : "", at->found.words.items[i]);
    assert_string_equal(odb_buf_text(&all), words);
    odb_buf_dispose(&all);
    if (common)
        assert_string_equal(at->found.common ? at->found.common : "(none)", common);
    else
        assert_null(at->found.common);
}

static void test_complete__commands(void **state)
{
    struct complete_at *at = *state;
    size_t n, prompt = 0;
    const struct odb_command *rows = odb_command_table(&n);
    for (size_t i = 0; i < n; i++)
        prompt += (rows[i].flags & ODB_COMMAND_PROMPT) != 0;
    complete_line(at, "");
    assert_int_equal(at->found.words.n, prompt);
    assert_null(at->found.common);
    complete_gives(at, "bis", "bisect", "bisect");
    assert_false(at->found.partial);
    assert_int_equal(at->found.from, 0);
    complete_gives(at, "  bis", "bisect", "bisect");
    assert_int_equal(at->found.from, 2);
    complete_gives(at, "isec", "bisect", "bisect");
    complete_line(at, "page-");
    assert_int_equal(at->found.words.n, 2);
    assert_string_equal(at->found.common, "page-");
    complete_gives(at, "no-such-command", "", NULL);
    complete_gives(at, "no-such-command ", "", NULL);
    complete_gives(at, "help toleran", "tolerance", "tolerance");
    complete_gives(at, "help bis", "bisect", "bisect");
}

static void test_complete__only_before_the_cursor(void **state)
{
    struct complete_at *at = *state;
    odb_complete(&at->found, &at->console, "bisect first", 3);
    assert_int_equal(at->found.words.n, 1);
    assert_string_equal(at->found.words.items[0], "bisect");
}

static void test_complete__options(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "bisect --tar", "--target", "--target");
    assert_int_equal(at->found.from, 7);
    complete_gives(at, "bisect --strategy ",
                   "auto|blame|probed|prefix|suffix|taps|linear|isolated|each|plain", NULL);
    complete_gives(at, "bisect --strategy pre", "prefix", "prefix");
    complete_gives(at, "bisect --strategy=pre", "--strategy=prefix", "--strategy=prefix");
    complete_gives(at, "bisect --strategy x --expect b", "bf16", "bf16");
    complete_gives(at, "bisect --seed ", "", NULL);
    complete_gives(at, "bisect --target=cpu:n", "--target=cpu:noisy", "--target=cpu:noisy");
    complete_gives(at, "bisect -t cpu:n", "cpu:noisy", "cpu:noisy");
    complete_gives(at, "bisect -tcpu:n", "-tcpu:noisy", "-tcpu:noisy");
    complete_line(at, "bisect "); /* no argument is left: options */
    assert_true(complete_has(at, "--target"));
    assert_true(complete_has(at, "--help"));
    assert_false(complete_has(at, "--jobs"));
    complete_gives(at, "node -- --", "", NULL);
}

/* The model is left out, options of old scripts count, and only outputs of nodes are offered. */
static void test_complete__dump(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "dump ", "full|once|range|list", NULL);
    complete_gives(at, "dump o", "once", "once");
    complete_line(at, "dump list ");
    assert_true(complete_has(at, "made_of_it"));
    assert_false(complete_has(at, "x"));
    assert_false(complete_has(at, "conv.weight"));
    complete_gives(at, "dump list a made", "made_of_it", "made_of_it");
    complete_gives(at, "dump range -b made", "made_of_it", "made_of_it");
    complete_gives(at, "dump once -n made", "made_of_it", "made_of_it");
    complete_gives(at, "dump full -f cpu:n", "cpu:noisy", "cpu:noisy");
    complete_gives(at, "dump full --target cpu:n", "cpu:noisy", "cpu:noisy");
    complete_gives(at, "dump full --strategy ", "auto|all|each", NULL);
    complete_gives(at, "dump full --root", "--root-dir", "--root-dir");
}

static void test_complete__nodes(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "goto fi", "first", "first");
    complete_gives(at, "node fi", "first", "first"); /* the model is not named at the prompt */
    complete_gives(at, "goto /enc/layer.0", "/enc/layer.0/attn/MatMul", "/enc/layer.0/attn/MatMul");
    complete_gives(at, "goto /e", "/enc/layer.0/attn/MatMul|/enc/layer.1/attn/MatMul",
                   "/enc/layer.");
    complete_gives(at, "goto ATTN", "/enc/layer.0/attn/MatMul|/enc/layer.1/attn/MatMul", NULL);
    complete_gives(at, "goto 1/attn", "/enc/layer.1/attn/MatMul", "/enc/layer.1/attn/MatMul");
    complete_gives(at, "goto #", "#0|#1|#2|#3|#4|#5|#6|#7|#8|#9", "#");
    complete_gives(at, "goto #7", "#7", "#7");
    complete_gives(at, "goto #77", "", NULL);
    complete_gives(at, "goto made", "made_of_it", "made_of_it");
    complete_gives(at, "goto twice", "", NULL); /* known as g and h */
    complete_gives(at, "goto -d", "", NULL);
    complete_gives(at, "goto first ", "--help", "--help");
}

static void test_complete__quoting(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "goto it", "\"it's odd\"|\"it is even\"", "\"it");
    complete_gives(at, "goto \"it", "\"it's odd\"|\"it is even\"", "\"it");
    complete_gives(at, "goto 'it i", "'it is even'", "'it is even'");
    complete_gives(at, "goto it\\ is", "'it is even'", "'it is even'");
    assert_int_equal(at->found.from, 5);
    complete_gives(at, "goto \"fir", "\"first\"", "\"first\"");
    complete_gives(at, "goto 'it is even' ", "--help", "--help");
}

static void test_complete__ranges(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "export first:has", "first:has:colon", "first:has:colon");
    complete_gives(at, "export has", "has:colon", "has:colon");
    complete_gives(at, "export has:colon:fi", "has:colon:first", "has:colon:first");
    complete_gives(at, "export #1:#2", "#1:#2", "#1:#2");
    complete_gives(at, "export nobody:fi", "", NULL);
}

static void test_complete__values(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "tensor conv", "conv.weight", "conv.weight");
    assert_false(at->found.partial);
    complete_gives(at, "print conv", "conv.weight", "conv.weight");
    assert_true(at->found.partial); /* a slice may follow */
    complete_gives(at, "p conv", "conv.weight", "conv.weight");
    complete_gives(at, "print conv.weight[0", "", NULL);
}

static void test_complete__executors(void **state)
{
    struct complete_at *at = *state;
    size_t n;
    const struct odb_executor_ops *const *list = odb_executor_list(&n);
    complete_line(at, "bisect --target ");
    assert_int_equal(at->found.words.n, n);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(strstr(at->found.words.items[i], list[i]->kind), at->found.words.items[i]);
    assert_true(complete_has(at, "cpu") && complete_has(at, "command:"));
    complete_gives(at, "bisect --target or", "ort", "ort");
    assert_true(at->found.partial);
    complete_line(at, "bisect --target ort");
    assert_string_equal(at->found.words.items[0], "ort");
    assert_string_equal(at->found.words.items[1], "ort,opt=");
    assert_string_equal(at->found.common, "ort");
    complete_line(at, "bisect --target ort,opt=all,");
    assert_true(complete_has(at, "ort,opt=all,threads="));
    assert_true(complete_has(at, "ort,opt=all,timeout="));
    assert_false(complete_has(at, "ort,opt=all,opt="));
    assert_null(at->found.common);
    complete_gives(at, "bisect --target ort,opt=",
                   "ort,opt=all|ort,opt=layout|ort,opt=extended|ort,opt=basic|ort,opt=disabled",
                   NULL);
    complete_gives(at, "bisect --target ort,threads=2,mode=p", "ort,threads=2,mode=parallel",
                   "ort,threads=2,mode=parallel");
    complete_gives(at, "bisect --target ort,no=", "", NULL);
    complete_gives(at, "bisect --target ort,provider=", "", NULL);
    complete_gives(at, "bisect --target nobody,", "", NULL);
    complete_gives(at, "bisect --target cpu:b", "cpu:bf16", "cpu:bf16");
    complete_gives(at, "bisect --target cpu:f16,t",
                   "cpu:f16,threads=|cpu:f16,timeout=|cpu:f16,taps=|cpu:f16,types=", "cpu:f16,t");
}

static void test_complete__faults(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "bisect --target fault:sc", "fault:scale", "fault:scale");
    complete_gives(at, "bisect --target fault:nan,no", "fault:nan,node=", "fault:nan,node=");
    complete_gives(at, "bisect --target fault:nan,node=fi", "fault:nan,node=first",
                   "fault:nan,node=first");
    complete_gives(at, "bisect --target fault:nan,node=conv", "fault:nan,node=conv.weight",
                   "fault:nan,node=conv.weight");
    complete_gives(at, "bisect --target fault:nan,node=has,hi", "fault:nan,node=has,hidden",
                   "fault:nan,node=has,hidden");
    complete_gives(at, "bisect --target fault:nan,node=comma", "'fault:nan,node=has\\,comma'",
                   "'fault:nan,node=has\\,comma'");
    complete_gives(at, "bisect --target fault:nan,node=#3,hid", "fault:nan,node=#3,hidden",
                   "fault:nan,node=#3,hidden");
    complete_gives(at, "bisect --target 'fault:nan,node=a\\@b@cp", "'fault:nan,node=a\\@b@cpu'",
                   "'fault:nan,node=a\\@b@cpu'");
    complete_gives(at, "bisect --target fault:nan,node=first@cpu:n",
                   "fault:nan,node=first@cpu:noisy", "fault:nan,node=first@cpu:noisy");
}

/* What the syntax names are all the kinds that there are. */
static void test_complete__every_kind_of_fault(void **state)
{
    struct complete_at *at = *state;
    struct odb_executor *executor = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf names = ODB_BUF_INIT;
    assert_int_not_equal(odb_executor_open(&executor, "fault:none,node=x@cpu", &err), ODB_OK);
    complete_line(at, "bisect --target fault:");
    assert_true(at->found.words.n > 5);
    for (size_t i = 0; i < at->found.words.n; i++)
        odb_buf_printf(&names, "%s%s", i ? ", " : "choose one of ",
                       at->found.words.items[i] + strlen("fault:"));
    assert_string_equal(odb_buf_text(&names), err.remedy);
    odb_buf_dispose(&names);
}

static void test_complete__tolerances(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "bisect --tol no", "noise", "noise");
    complete_gives(at, "tol all", "allclose", "allclose");
    complete_gives(at, "bisect --tol deci", "decimal:", "decimal:");
    assert_true(at->found.partial);
    complete_gives(at, "bisect --tol decimal:3", "", NULL);
}

static void test_complete__screen(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "view lo", "log", "log");
    complete_gives(at, "mode diff", "difference", "difference");
    complete_gives(at, "break Si", "Sigmoid|Sin", "Si");
    complete_gives(at, "break fir", "first", "first");
    complete_gives(at, "search fi", "", NULL);
    complete_gives(at, "up ", "", NULL);
    complete_gives(at, "set tar", "target", "target");
    complete_gives(at, "set target cpu:n", "cpu:noisy", "cpu:noisy");
    complete_gives(at, "set strategy ",
                   "auto|blame|probed|prefix|suffix|taps|linear|isolated|each|plain", NULL);
    complete_gives(at, "set tol ulp", "ulp:", "ulp:");
    complete_gives(at, "set nothing ", "", NULL);
}

static void complete_touch(const char *folder, const char *name)
{
    char *path = odb_xasprintf("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    free(path);
}

static void test_complete__files(void **state)
{
    struct complete_at *at = *state;
    char *folder = models_folder(), *line, *want;
    complete_touch(folder, "one.npy");
    complete_touch(folder, "one more.npy");
    complete_touch(folder, ".hidden");
    line = odb_xasprintf("%s/sub", folder);
    assert_int_equal(mkdir(line, 0700), 0);
    free(line);

    line = odb_xasprintf("bisect --session %s/on", folder);
    want = odb_xasprintf("'%s/one more.npy'|'%s/one.npy'", folder, folder);
    char *common = odb_xasprintf("'%s/one", folder);
    complete_gives(at, line, want, common);
    free(line);
    free(want);
    free(common);

    line = odb_xasprintf("export first -o %s/s", folder);
    want = odb_xasprintf("%s/sub/", folder);
    complete_gives(at, line, want, want);
    assert_true(at->found.partial);
    assert_int_equal(at->found.from, strlen("export first -o "));
    free(want);

    setenv("HOME", folder, 1);
    want = odb_xasprintf("%s/.hidden", folder);
    complete_gives(at, "bisect --session ~/.h", want, want);
    free(want);
    want = odb_xasprintf("--session=%s/one.npy", folder);
    complete_gives(at, "bisect --session=~/one.", want, want);
    free(want);
    complete_line(at, "bisect --session ~");
    assert_int_equal(at->found.words.n, 3);
    complete_gives(at, "bisect --session /no/such/folder/x", "", NULL);
    free(line);
    models_remove(folder);
}

static void test_complete__without_a_model(void **state)
{
    struct odb_completion found;
    odb_complete(&found, NULL, "goto x", 6);
    assert_int_equal(found.words.n, 0);
    odb_completion_dispose(&found);
    odb_complete(&found, NULL, "bis", 3);
    assert_int_equal(found.words.n, 1);
    odb_completion_dispose(&found);
}

/* Characters of several bytes are not cut. */
static void test_complete__characters(void **state)
{
    struct complete_at at;
    struct odb_builder *b = odb_build_new("tiny", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){3});
    odb_build_node(b, "Relu", "n\xc3\xa4", "x", "a");
    odb_build_node(b, "Relu", "n\xc3\xa5", "a", "b");
    odb_build_node(b, "Relu", "m\xe4\xff", "b", "y"); /* not UTF-8 */
    odb_build_output(b, "y");
    complete_model(&at, b);
    complete_gives(&at, "goto n", "n\xc3\xa4|n\xc3\xa5", "n");
    complete_gives(&at, "goto m", "m\xe4\xff", "m\xe4\xff");
    complete_gives(&at, "goto \xe4", "m\xe4\xff", "m\xe4\xff");
    odb_completion_dispose(&at.found);
    odb_model_free((struct odb_model *)at.session.model);
}

/* Lists stay short, and memory is asked for not much oftener than there are names. */
static void test_complete__large_models(void **state)
{
    static const char *const lines[] = {
        "goto ",   "goto /m", "goto attn",   "goto zzz",  "goto #",
        "goto #4", "tensor ", "tensor out4", "tensor zz", "goto /model/layer.7/"};
    struct complete_at at;
    struct odb_builder *b = odb_build_new("large", 17);
    char name[80], from[80] = "x", to[80];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){3});
    for (int i = 0; i < 50000; i++) {
        snprintf(name, sizeof name, "/model/layer.%d/%s/part%d/MatMul", i / 1000,
                 i % 2 ? "attn" : "mlp", i % 1000);
        snprintf(to, sizeof to, "out%d", i);
        odb_build_node(b, "Relu", name, from, to);
        memcpy(from, to, sizeof to);
    }
    odb_build_output(b, from);
    complete_model(&at, b);
    for (size_t i = 0; i < ODB_COUNT(lines); i++) {
        size_t before = allocations;
        complete_line(&at, lines[i]);
        assert_true(at.found.words.n <= 2000);
        assert_true(allocations - before < 60000);
    }
    complete_line(&at, "goto ");
    assert_int_equal(at.found.words.n, 50);
    assert_string_equal(at.found.words.items[0], "/model/layer.0/");
    assert_string_equal(at.found.common, "/model/layer.");
    assert_true(at.found.partial);
    complete_gives(&at, "goto /model/layer.49/", "/model/layer.49/mlp/|/model/layer.49/attn/",
                   "/model/layer.49/");
    complete_line(&at, "goto attn");
    assert_int_equal(at.found.words.n, 50);
    assert_string_equal(at.found.words.items[0], "/model/layer.0/attn/");
    assert_null(at.found.common);
    complete_gives(&at, "goto layer.49/attn/part99",
                   "/model/layer.49/attn/part99/MatMul|"
                   "/model/layer.49/attn/part991/MatMul|/model/layer.49/attn/part993/MatMul|"
                   "/model/layer.49/attn/part995/MatMul|/model/layer.49/attn/part997/MatMul|"
                   "/model/layer.49/attn/part999/MatMul",
                   "/model/layer.49/attn/part99");
    odb_completion_dispose(&at.found);
    odb_model_free((struct odb_model *)at.session.model);
}

#define COMPLETE_TEST(name) cmocka_unit_test_setup_teardown(name, complete_setup, complete_teardown)

/* What was put down is offered by number, name or letter, to those commands that are about it. */
static void test_complete__what_was_put_down(void **state)
{
    struct complete_at *at = *state;
    const struct odb_graph *graph = at->session.model->graph;
    const struct odb_annotation put[] = {
        {.kind = ODB_ANNOTATION_BREAK, .place = "#1"},
        {.kind = ODB_ANNOTATION_BREAK, .place = "Neg"},
        {.kind = ODB_ANNOTATION_WATCH, .text = "nan"},
        {.kind = ODB_ANNOTATION_DISPLAY, .text = "max(a)"},
        {.kind = ODB_ANNOTATION_DISPLAY, .text = "a"},
        {.kind = ODB_ANNOTATION_PIN, .place = "b"},
        {.kind = ODB_ANNOTATION_MARK, .place = "#0"},
        {.kind = ODB_ANNOTATION_MARK, .place = "#7"},
    };
    for (size_t i = 0; i < ODB_COUNT(put); i++)
        MODELS_OK(odb_annotation_add(&at->session.annotations, &put[i], graph, NULL, &why));
    odb_push(&at->session.bookmarks, (struct odb_bookmark){'q', 3});
    complete_gives(at, "condition ", "1|2|3", NULL);
    complete_gives(at, "ignore ", "1|2|3", NULL);
    complete_gives(at, "enable ", "1|2|3|display", NULL);
    complete_gives(at, "disable display ", "1|2", NULL);
    complete_gives(at, "undisplay ", "1|2", NULL);
    complete_gives(at, "delete Ne", "Neg", "Neg");
    complete_gives(at, "delete fi", "first", "first");
    complete_gives(at, "delete 3", "3", "3");
    complete_gives(at, "unpin ", "b", "b");
    complete_gives(at, "unmark ", "first|#7", NULL);
    complete_gives(at, "recall ", "q", "q");
    complete_gives(at, "info disp", "displays", "displays");
    odb_annotation_list_dispose(&at->session.annotations);
    free(at->session.bookmarks.items);
}

static void test_complete__conditions_and_functions(void **state)
{
    struct complete_at *at = *state;
    complete_gives(at, "break first if local", "local error", "local error");
    complete_gives(at, "watch ref.ma", "ref.max", "ref.max");
    complete_gives(at, "watch dtype == bf", "bfloat16", "bfloat16");
    complete_gives(at, "watch verdict == unt", "untested|untestable", "untest");
    complete_gives(at, "print ma", "made_of_it|max(", "ma");
    complete_gives(at, "print max(conv", "max(conv.weight", "max(conv.weight");
    complete_gives(at, "display mean(diff(made", "mean(diff(made_of_it", "mean(diff(made_of_it");
    complete_gives(at, "diff fir", "first", "first");
}

/* Through a node with bodies into them. */
static void test_complete__bodies(void **state)
{
    struct complete_at at;
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_builder *then = odb_build_new("then", 17), *other = odb_build_new("else", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_input(b, "c", ODB_BOOL, 0, NULL);
    odb_build_node(then, "Exp", "inner", "x", "t");
    odb_build_output_typed(then, "t", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(other, "Cos", "outer", "x", "o");
    odb_build_output_typed(other, "o", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "If", "gate", "c", "y");
    odb_build_attr_graph(b, "then_branch", then);
    odb_build_attr_graph(b, "else_branch", other);
    odb_build_output(b, "y");
    complete_model(&at, b);
    at.found = (struct odb_completion){0};
    complete_gives(&at, "break ga", "gate|gate.then/|gate.else/", "gate");
    complete_gives(&at, "break gate.th", "gate.then/", "gate.then/");
    complete_gives(&at, "break gate.then/", "gate.then/Exp|gate.then/inner", NULL);
    complete_gives(&at, "break C", "Cos", "Cos");
    complete_gives(&at, "print max(gate.else/o", "max(gate.else/o", "max(gate.else/o");
    complete_gives(&at, "node gate.else/", "gate.else/outer", "gate.else/outer");
    complete_gives(&at, "goto gate.th", "gate.then/", "gate.then/");
    complete_gives(&at, "mark gate.then/", "gate.then/inner", "gate.then/inner");
    complete_gives(&at, "note gate.else/", "gate.else/outer", "gate.else/outer");
    complete_gives(&at, "toggle ga", "gate", "gate"); /* it takes no path */
    complete_teardown((void *[]){odb_xmemdup(&at, sizeof at)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPLETE_TEST(test_complete__commands),
        COMPLETE_TEST(test_complete__only_before_the_cursor),
        COMPLETE_TEST(test_complete__options),
        COMPLETE_TEST(test_complete__nodes),
        COMPLETE_TEST(test_complete__quoting),
        COMPLETE_TEST(test_complete__ranges),
        COMPLETE_TEST(test_complete__values),
        COMPLETE_TEST(test_complete__executors),
        COMPLETE_TEST(test_complete__faults),
        COMPLETE_TEST(test_complete__every_kind_of_fault),
        COMPLETE_TEST(test_complete__dump),
        COMPLETE_TEST(test_complete__tolerances),
        COMPLETE_TEST(test_complete__screen),
        COMPLETE_TEST(test_complete__files),
        COMPLETE_TEST(test_complete__what_was_put_down),
        COMPLETE_TEST(test_complete__conditions_and_functions),
        cmocka_unit_test(test_complete__bodies),
        cmocka_unit_test(test_complete__without_a_model),
        cmocka_unit_test(test_complete__characters),
        cmocka_unit_test(test_complete__large_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
