/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/table/command.h"

#include "command/call/call.h"
#include "command/call/parse.h"
#include "command/shell/dispatch.h"
#include "command/table/command_find.h"
#include "command/table/help.h"
#include "command/table/nearest.h"
#include "command/table/short.h"
#include "command/table/table.h"
#include "tests/help/models.h"

static const struct odb_command *parse_command(const char *name)
{
    const struct odb_command *command = NULL;
    MODELS_OK(odb_command_find(&command, name, false, &why));
    return command;
}

/* Words separated by spaces, for a command that needs no model. */
static enum odb_status parse_words(struct odb_command_call *call, const char *name,
                                   const char *words, struct odb_error *err)
{
    static char text[400];
    static char *argv[20];
    int argc = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return odb_call_parse(call, parse_command(name), NULL, argc, argv, err);
}

static void parse_refused(const char *name, const char *words, const char *says)
{
    struct odb_command_call call;
    struct odb_error err = ODB_ERROR_INIT;
    char text[2048];
    assert_int_equal(parse_words(&call, name, words, &err), ODB_E_USAGE);
    odb_error_text(&err, text, sizeof text);
    if (!strstr(text, says))
        fail_msg("'%s' is not in '%s'", says, text);
    odb_call_dispose(&call);
}

static void test_parse__commands(void **state)
{
    const struct odb_command *command;
    struct odb_error err = ODB_ERROR_INIT;
    assert_string_equal(parse_command("bisect")->name, "bisect");
    assert_string_equal(parse_command("bis")->name, "bisect");
    assert_string_equal(parse_command("diff")->name, "compare");
    assert_string_equal(parse_command("node")->name, "node"); /* exact, though nodes exists */
    assert_int_equal(odb_command_find(&command, "e", false, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.what, "export, extract"));
    assert_int_equal(odb_command_find(&command, "bisekt", false, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.remedy, "onnxdbg bisect"));
    assert_int_equal(odb_command_find(&command, "", false, &err), ODB_E_USAGE);
    assert_int_equal(odb_command_find(&command, "quite another word", false, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.remedy, "onnxdbg help"));
}

static void test_parse__options_stand_anywhere(void **state)
{
    struct odb_command_call call;
    MODELS_OK(parse_words(&call, "check", "--jobs=3 a --tol ulp:2 b -t cpu -- --c", &why));
    assert_int_equal(call.n_args, 3);
    assert_string_equal(call.args[0], "a");
    assert_string_equal(call.args[2], "--c");
    assert_null(odb_call_arg(&call, 3));
    assert_int_equal(odb_call_int(&call, ODB_OPTION_JOBS, 1), 3);
    assert_int_equal(odb_call_int(&call, ODB_OPTION_SEED, 42), 42);
    assert_string_equal(odb_call_option(&call, ODB_OPTION_TOL), "ulp:2");
    assert_string_equal(odb_call_option(&call, ODB_OPTION_TARGET), "cpu");
    assert_false(odb_call_has(&call, ODB_OPTION_JSON));
    odb_call_dispose(&call);
}

static void test_parse__repeated_options(void **state)
{
    struct odb_command_call call;
    size_t n;
    MODELS_OK(parse_words(&call, "tensor", "f.npy v -i a=1 --input=b=2 -ic=3 --seed 1 -s=2", &why));
    const char **list = odb_call_list(&call, ODB_OPTION_INPUT, &n);
    assert_int_equal(n, 3);
    assert_string_equal(list[0], "a=1");
    assert_string_equal(list[1], "b=2");
    assert_string_equal(list[2], "c=3");
    assert_int_equal(odb_call_int(&call, ODB_OPTION_SEED, 42), 2); /* the last one counts */
    free((void *)list);
    odb_call_dispose(&call);
}

static void parse_json(const char *name, const char *words, const char *file, size_t n_args)
{
    struct odb_command_call call;
    MODELS_OK(parse_words(&call, name, words, &why));
    const char *json = odb_call_option(&call, ODB_OPTION_JSON);
    json = json ? json : odb_call_option(&call, ODB_OPTION_JSON_FILE);
    assert_string_equal(json, file);
    assert_int_equal(call.n_args, n_args);
    odb_call_dispose(&call);
}

/* --json of a report has a file behind it; of other commands one that ends in .json, for they were
 * written before their arguments as well. */
static void test_parse__json(void **state)
{
    parse_refused("bisect", "--json nosuch.onnx", "bisect needs MODEL");
    parse_refused("nodes", "--json a.json", "nodes needs MODEL");
    parse_refused("tensor", "f.npy --json=", "names no file");
    parse_refused("tensor", "f.npy -jx", "takes no value");
    parse_json("tensor", "f.npy -j", "-", 1);
    parse_json("tensor", "-j f.npy", "-", 1);
    parse_json("tensor", "--json f.npy x", "-", 2);
    parse_json("tensor", "--json o.json f.npy", "o.json", 1);
    parse_json("tensor", "f.npy -j o.json", "o.json", 1);
    parse_json("tensor", "f.npy --json=o", "o", 1);
    parse_json("tensor", "f.npy --json -", "-", 1);
    parse_json("explain", "--op Clip --json - x.npy y.npy", "-", 3);
}

/* The same of a command that writes a report, by the rule alone: its model would be opened. */
static void test_parse__json_of_report(void **state)
{
    static const struct {
        const char *word, *next, *behind;
        bool takes;
    } cases[] = {
        {"--json", "r", NULL, true},           {"--json", "-", "m.onnx", true},
        {"--json", "--strategy", NULL, false}, {"--json", NULL, NULL, false},
        {"-j", "m.onnx", NULL, false},         {"-j", "r.json", NULL, true},
        {"-j", "--strategy", NULL, false},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        assert_int_equal(odb_option_takes_next(ODB_OPTION_JSON_FILE, cases[i].word, cases[i].next,
                                               cases[i].behind),
                         cases[i].takes);
}

static void test_parse__refused(void **state)
{
    parse_refused("compare", "a", "compare needs BASE");
    parse_refused("compare", "a b c", "no further argument 'c'");
    parse_refused("check", "", "check needs DIR");
    parse_refused("check", "a --target", "--target needs a value, SPEC");
    parse_refused("check", "a --tolerance x", "no option '--tolerance'");
    parse_refused("check", "a --jbos 1", "did you mean --jobs?");
    parse_refused("check", "a --jobs 0", "1..256");
    parse_refused("check", "a --jobs 257", "1..256");
    parse_refused("check", "a --jobs 1x", "1..256");
    parse_refused("check", "a --jobs=", "1..256");
    parse_refused("check", "a --tol foo", "--tol");
    parse_refused("check", "a -z", "no option '-z'");
    parse_refused("compare", "a b --help=1", "--help takes no value");
    parse_refused("tensor", "a --seed -1", "0..4294967295");
    parse_refused("executors", "cpu -1", "no further argument '-1'");
    parse_refused("bisect", "a --strategy fast",
                  "auto|blame|probed|prefix|suffix|taps|linear|isolated|each|plain");
    parse_refused("bisect", "a --expect f1", "f16|bf16|f32|tf32");
}

static void test_parse__help_needs_no_arguments(void **state)
{
    struct odb_command_call call;
    MODELS_OK(parse_words(&call, "bisect", "--help", &why));
    assert_true(odb_call_has(&call, ODB_OPTION_HELP));
    odb_call_dispose(&call);
}

/* What every reader of the table relies on. */
static void test_parse__the_table_is_whole(void **state)
{
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        const struct odb_command *row = &rows[i];
        struct odb_buf text = ODB_BUF_INIT;
        assert_non_null(row->exec);
        assert_non_null(row->group);
        assert_non_null(row->help);
        assert_non_null(row->text);
        bool shell = row->flags & ODB_COMMAND_SHELL, prompt = row->flags & ODB_COMMAND_PROMPT;
        const struct odb_command *found;
        assert_true(shell || prompt);
        for (int side = 0; side < 2; side++)
            if (side ? prompt : shell) {
                MODELS_OK(odb_command_find(&found, row->name, side, &why));
                assert_ptr_equal(found, row);
            }
        /* the example is the command itself */
        const char *example = row->example + (shell ? 8 : 0);
        assert_true(!shell || !strncmp(row->example, "onnxdbg ", 8));
        assert_int_equal(strncmp(example, row->name, strlen(row->name)), 0);
        odb_help_command(row, &text);
        assert_non_null(strstr(odb_buf_text(&text), row->example));
        odb_buf_dispose(&text);
        bool ended = false; /* what may be left out stands behind what may not */
        for (const struct odb_arg *arg = row->args; arg && arg->name; arg++) {
            assert_false(ended && !arg->optional);
            ended |= arg->optional || arg->repeated;
        }
        for (int a = 0; a < ODB_OPTION_COUNT; a++)
            for (int b = a + 1; b < ODB_OPTION_COUNT; b++)
                if (odb_command_takes(row, a) && odb_command_takes(row, b)) {
                    assert_string_not_equal(odb_option_row(a)->name, odb_option_row(b)->name);
                    assert_false(odb_option_row(a)->letter &&
                                 odb_option_row(a)->letter == odb_option_row(b)->letter);
                }
    }
}

static void test_parse__exit_status(void **state)
{
    assert_int_equal(odb_exit_status(ODB_OK, false), 0);
    assert_int_equal(odb_exit_status(ODB_OK, true), 1);
    assert_int_equal(odb_exit_status(ODB_E_USAGE, true), 2);
    assert_int_equal(odb_exit_status(ODB_E_MODEL, true), 3);
    assert_int_equal(odb_exit_status(ODB_E_INPUT, false), 3);
    assert_int_equal(odb_exit_status(ODB_UNSUPPORTED, false), 3);
    assert_int_equal(odb_exit_status(ODB_E_EXECUTOR, true), 4);
    assert_int_equal(odb_exit_status(ODB_E_CRASH, false), 4);
    assert_int_equal(odb_exit_status(ODB_CANCELLED, true), 130);
}

static void test_parse__nearest(void **state)
{
    const char *const names[] = {"conv1", "relu1", "a"};
    assert_string_equal(odb_nearest("cnov1", names, 3), "conv1");
    assert_string_equal(odb_nearest("relu", names, 3), "relu1");
    assert_null(odb_nearest("something else", names, 3));
    assert_null(odb_nearest("x", names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__commands),
        cmocka_unit_test(test_parse__options_stand_anywhere),
        cmocka_unit_test(test_parse__repeated_options),
        cmocka_unit_test(test_parse__json),
        cmocka_unit_test(test_parse__json_of_report),
        cmocka_unit_test(test_parse__refused),
        cmocka_unit_test(test_parse__help_needs_no_arguments),
        cmocka_unit_test(test_parse__the_table_is_whole),
        cmocka_unit_test(test_parse__exit_status),
        cmocka_unit_test(test_parse__nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
