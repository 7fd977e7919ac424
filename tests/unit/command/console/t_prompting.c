/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands given one after the other at a console, without a screen: a chain of four nodes whose
 * target is off by one percent from the second on.
 */
#include "command/table/command.h"

#include <math.h>
#include <stdatomic.h>

#include "command/call/call.h"
#include "command/call/console.h"
#include "command/console/console_line.h"
#include "compare/verdict.h"
#include "report/report.h"
#include "session/session_state.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"

struct prompting_fixture {
    struct odb_console console;
    char *text; /* owned: what the last command printed */
    struct odb_error err;
    int wakes;
};

static void prompting_woken(void *payload)
{
    ++*(int *)payload;
}

static int prompting_setup(void **state)
{
    struct prompting_fixture *f = odb_new(struct prompting_fixture);
    struct odb_builder *b = odb_build_new("chain", 17);
    struct odb_session *session;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Exp", "n2", "q", "e");
    odb_build_node(b, "Mul", "n3", "e e", "y");
    odb_build_output(b, "y");
    MODELS_OK(odb_session_open_take(&session, models_take(b), NULL, &why));
    odb_console_init(&f->console, session);
    session->wake = prompting_woken;
    session->wake_payload = &f->wakes;
    odb_console_set(&f->console, ODB_OPTION_TARGET, "fault:scale,node=n1,amount=1e-2@cpu");
    help_find_serve();
    *state = f;
    return 0;
}

static int prompting_teardown(void **state)
{
    struct prompting_fixture *f = *state;
    odb_console_dispose(&f->console);
    free(f->text);
    free(f);
    return 0;
}

/* Gives a line as the prompt does. */
static enum odb_status prompting_give(struct prompting_fixture *f, const char *line, bool busy)
{
    struct odb_command_call call;
    char **argv = NULL;
    size_t size;
    free(f->text);
    f->text = NULL;
    f->err = (struct odb_error)ODB_ERROR_INIT;
    enum odb_status status = odb_console_parse(&f->console, line, &argv, &call, busy, &f->err);
    if (status == ODB_OK) {
        call.out = call.log = open_memstream(&f->text, &size);
        status = call.command->exec(&call, &f->err);
        fclose(call.out);
    }
    odb_call_dispose(&call);
    free(argv);
    return status;
}

static void prompting_says(struct prompting_fixture *f, const char *line, const char *part)
{
    char text[2048];
    if (prompting_give(f, line, false) != ODB_OK)
        fail_msg("%s: %s", line, odb_error_text(&f->err, text, sizeof text));
    if (!strstr(f->text, part))
        fail_msg("%s: no '%s' in:\n%s", line, part, f->text);
}

static void prompting_refuses(struct prompting_fixture *f, const char *line, const char *part)
{
    char text[2048];
    assert_int_equal(prompting_give(f, line, false), ODB_E_USAGE);
    if (!strstr(odb_error_text(&f->err, text, sizeof text), part))
        fail_msg("%s: no '%s' in: %s", line, part, text);
}

static enum odb_verdict prompting_verdict(const struct prompting_fixture *f, int node)
{
    return odb_session_node(f->console.session, node, NULL)->verdict;
}

static void test_prompting__search_leaves_what_it_found(void **state)
{
    struct prompting_fixture *f = *state;
    const struct odb_session *session = f->console.session;
    unsigned long before = session->generation;
    prompting_says(f, "bisect", "#1 n1 (Mul) is where");
    assert_int_equal(prompting_verdict(f, 0), ODB_VERDICT_PASS);
    assert_int_equal(prompting_verdict(f, 1), ODB_VERDICT_FAIL);
    assert_int_equal(prompting_verdict(f, 3), ODB_VERDICT_FAIL);
    assert_int_equal(odb_session_culprit(session, 1)->kind, ODB_KIND_INTRODUCED);
    assert_null(odb_session_culprit(session, 2));
    assert_true(session->generation > before);
    assert_true(f->wakes > 0);
    assert_true(session->log.n > 0 && session->log.items[session->log.n - 1].ended);
    struct odb_tensor *target = odb_session_target(session, models_value(session->model, "q"));
    struct odb_tensor *ref = odb_session_reference(session, models_value(session->model, "q"));
    assert_non_null(target);
    assert_true(fabs(odb_tensor_f64(target, 0) / odb_tensor_f64(ref, 0) - 1.01) < 1e-5);
    odb_tensor_unref(target);
    odb_tensor_unref(ref);
}

static void test_prompting__walks(void **state)
{
    struct prompting_fixture *f = *state;
    const struct odb_session *session = f->console.session;
    prompting_says(f, "break", "no breakpoints");
    prompting_says(f, "break Mul", "2 nodes, each a Mul");
    prompting_says(f, "run", "breakpoint 1: before #1 n1 (Mul); 1 of 4");
    assert_int_equal(session->at, 1);
    assert_int_equal(prompting_verdict(f, 0), ODB_VERDICT_PASS);
    assert_int_equal(prompting_verdict(f, 1), ODB_VERDICT_UNTESTED);
    prompting_says(f, "step", "stopped before #2 n2 (Exp)");
    assert_int_equal(prompting_verdict(f, 1), ODB_VERDICT_FAIL);
    prompting_says(f, "continue",
                   "breakpoint 1: before #3 n3 (Mul); 3 of 4 nodes have run, 3 judged, "
                   "2 off, the first is #1 n1 (Mul)");
    prompting_says(f, "step 10", "the model has run to its end");
    prompting_says(f, "toggle n1", "breakpoint  before #1");
    prompting_says(f, "delete", "2 breakpoints deleted");
    prompting_says(f, "run", "the model has run to its end; 4 of 4");
    assert_int_equal(session->at, 4);
}

static void test_prompting__tolerance_moves_verdicts_alone(void **state)
{
    struct prompting_fixture *f = *state;
    prompting_says(f, "bisect", "#1 n1");
    prompting_says(f, "tol allclose:0.5",
                   "tolerance allclose:0.5; of 4 values judged, 0 are over it");
    assert_int_equal(prompting_verdict(f, 1), ODB_VERDICT_PASS);
    assert_null(odb_session_culprit(f->console.session, 1));
    prompting_says(f, "export", "nothing diverges");
    prompting_says(f, "tol noise:10", "3 are over it");
    assert_non_null(odb_session_culprit(f->console.session, 1));
    assert_int_equal(prompting_verdict(f, 1), ODB_VERDICT_FAIL);
    assert_int_equal(prompting_verdict(f, 0), ODB_VERDICT_PASS);
    prompting_refuses(f, "tol nonsense", "nonsense");
    assert_string_equal(odb_console_tolerance(&f->console), "noise:10");
}

static void test_prompting__settings_stay(void **state)
{
    struct prompting_fixture *f = *state;
    prompting_says(f, "bisect --seed 7 --tol noise:20", "#1 n1");
    prompting_says(f, "set seed", "7");
    prompting_says(f, "set tol", "noise:20");
    prompting_says(f, "set target cpu", "cpu");
    assert_int_equal(prompting_verdict(f, 1), ODB_VERDICT_UNTESTED); /* of another target */
    assert_null(f->console.session->report);
    prompting_says(f, "bisect", "no divergence");
    prompting_says(f, "set input 'x=range(0,1,3)'", "range(0,1,3)");
    prompting_says(f, "set input 'x=range(0,2,3)'", "range(0,2,3)");
    assert_null(strstr(f->text, "range(0,1,3)"));
    prompting_says(f, "set input ''", "not set");
    prompting_refuses(f, "set targte ort", "did you mean target");
    prompting_refuses(f, "set seed many", "many");
    prompting_refuses(f, "set target nothing", "no executor 'nothing'");
    prompting_says(f, "set", "reference");
}

static void test_prompting__prints_both_sides(void **state)
{
    struct prompting_fixture *f = *state;
    prompting_says(f, "print 'q[0:2]'", "[");
    assert_null(strstr(f->text, "target"));
    prompting_says(f, "bisect", "#1 n1");
    prompting_says(f, "print 'q[0:2]'", "reference\n[");
    assert_non_null(strstr(f->text, "target\n["));
    prompting_refuses(f, "print nothing", "no value 'nothing'");
}

static void test_prompting__busy(void **state)
{
    struct prompting_fixture *f = *state;
    assert_int_equal(prompting_give(f, "bisect", true), ODB_E_USAGE);
    help_has_text(&f->err, "Esc stops it");
    assert_int_equal(prompting_give(f, "set target cpu", true), ODB_E_USAGE);
    assert_int_equal(prompting_give(f, "help bisect", true), ODB_OK);
    assert_int_equal(prompting_give(f, "node n1", true), ODB_OK);
}

static void test_prompting__what_is_not_offered(void **state)
{
    struct prompting_fixture *f = *state;
    prompting_refuses(f, "check somewhere", "no command 'check'");
    prompting_refuses(f, "debug", "no command 'debug'");
    prompting_refuses(f, "down", "needs a screen");
    prompting_refuses(f, "", "no command");
    prompting_refuses(f, "print 'q", "'");
}

static void test_prompting__cancel(void **state)
{
    struct prompting_fixture *f = *state;
    atomic_store(&f->console.cancel, true);
    assert_int_equal(prompting_give(f, "bisect", false), ODB_CANCELLED);
    atomic_store(&f->console.cancel, false);
    prompting_says(f, "bisect", "#1 n1");
    assert_null(f->console.session->memory);
    /* what failed is asked again from the start: it may have been mended */
    assert_int_equal(prompting_give(f, "bisect --target command:/nowhere/program", false),
                     ODB_E_EXECUTOR);
    assert_null(f->console.session->memory);
}

int main(void)
{
#define PROMPTING_TEST(name)                                                                       \
    cmocka_unit_test_setup_teardown(test_prompting__##name, prompting_setup, prompting_teardown)
    const struct CMUnitTest tests[] = {
        PROMPTING_TEST(search_leaves_what_it_found),
        PROMPTING_TEST(walks),
        PROMPTING_TEST(tolerance_moves_verdicts_alone),
        PROMPTING_TEST(settings_stay),
        PROMPTING_TEST(prints_both_sides),
        PROMPTING_TEST(busy),
        PROMPTING_TEST(what_is_not_offered),
        PROMPTING_TEST(cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
