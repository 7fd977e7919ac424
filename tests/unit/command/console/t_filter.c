/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The language of filters: what it lets through, where it says that it makes no sense, and what it
 * completes.
 */
#include <math.h>

#include "command/console/complete.h"
#include "command/console/filter.h"
#include "compare/verdict.h"
#include "executor/executor.h"
#include "session/session_state.h"
#include "tests/help/models.h"
#include "ui/view/constants.h"
#include "ui/view/outline.h"

static const struct ui_constants none; /* the scene has no constant parts */

/* Six nodes, with errors and verdicts. */
static struct odb_session *scene(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_session *session = NULL;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Relu", "/encoder/layer.0/act", "x", "a");
    odb_build_node(b, "Sigmoid", "/encoder/layer.0/gate", "a", "b");
    odb_build_node(b, "Mul", "/encoder/layer.1/Mul", "a b", "c");
    odb_build_node(b, "Relu", "/decoder/act[0]", "c", "d");
    odb_build_node(b, "Tanh", "", "d", "/decoder/tail_out");
    odb_build_node(b, "Add", "plain", "/decoder/tail_out a", "y|z");
    odb_build_output(b, "y|z");
    MODELS_OK(odb_session_open_take(&session, models_take(b), NULL, &why));
    static const struct odb_value_report reports[] = {
        {.verdict = ODB_VERDICT_PASS, .error = {true, 1e-7}},
        {.verdict = ODB_VERDICT_FAIL,
         .error = {true, 1e-2},
         .noise = {true, 1e-6},
         .local_error = {true, 1e-2},
         .culprit = true},
        {.verdict = ODB_VERDICT_FAIL,
         .error = {true, 2e-3},
         .noise = {true, 3e-6},
         .local_error = {true, 1e-7},
         .gain = {true, 0.2}},
        {.verdict = ODB_VERDICT_NAN},
        {.verdict = ODB_VERDICT_UNTESTED},
        {.verdict = ODB_VERDICT_PASS, .error = {true, 0}},
    };
    for (size_t i = 0; i < ODB_COUNT(reports); i++)
        session->values[session->model->graph->nodes[i].out[0]] = reports[i];
    session->generation++;
    odb_push(&session->account.places,
             (struct odb_placement){.node = odb_xstrdup("plain"),
                                    .op_type = odb_xstrdup("Add"),
                                    .where = odb_xstrdup("CUDAExecutionProvider")});
    return session;
}

static void passes(const struct odb_session *session, const char *text, const char *expected)
{
    struct odb_filter *filter = NULL;
    size_t at;
    char got[16] = "";
    MODELS_OK(odb_filter_parse(&filter, text, &at, &why));
    for (int i = 0; i < 6; i++)
        if (odb_filter_matches(filter, session, i))
            got[strlen(got)] = (char)('0' + i);
    odb_filter_free(filter);
    if (strcmp(got, expected))
        fail_msg("'%s' lets %s through, not %s", text, got, expected);
}

static void test_filter__lets_through(void **state)
{
    static const struct {
        const char *text, *nodes;
    } cases[] = {
        {"", "012345"},
        {"relu", "03"},
        {"RELU", ""},
        {"encoder", "012"},
        {"op:Relu", "03"},
        {"op:relu", "03"},
        {"op:Rel", ""},
        {"op:Re*", "03"},
        {"!op:Relu", "1245"},
        {"op:Relu | op:Add", "035"},
        {"op:Relu|op:Add", "035"},
        {"op:Relu decoder | op:Add plain", "35"},
        {"name~^/encoder/layer\\.[01]/", "012"},
        {"name~act", "03"},
        {"name:/decoder/act[0]", "3"}, /* a bracket is one where that fits */
        {"name:\"\"", "4"},
        {"in:a", "125"},
        {"out:c", "2"},
        {"domain:ai.onnx", "012345"},
        {"domain:com.microsoft", ""},
        {"verdict:fail", "12"},
        {"verdict:off", "123"},
        {"verdict:culprit", "1"},
        {"fail", "12"},
        {"off", "123"},
        {"culprit", "1"},
        {"!pass", "1234"},
        {"\"pass\"", ""},    /* the word, not the mark */
        {"err>1e-3", "123"}, /* NaN is as wrong as it gets */
        {"err>=1e-2", "13"},
        {"err<1e-3", "05"},
        {"error=0", "5"},
        {"!err>1e-3", "045"}, /* what is not known is not greater */
        {"index>=4", "45"},
        {"local>1e-3", "1"},
        {"local<1e-3", "2"}, /* not those of which it is not known */
        {"noise>=3e-6", "2"},
        {"gain<1", "2"},
        {"gain=0.2", "2"},
        {"runs~cuda", "5"},
        {"!runs:CPU*", "012345"},
        {"op:Relu err>1e-3 !pass", "3"},
        {"\"y|z\"", "5"},
        {"out:\"y|z\"", "5"},
        {"decoder/tail", "45"},
    };
    struct odb_session *session = scene();
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        passes(session, cases[i].text, cases[i].nodes);
    odb_session_close(session);
}

static void test_filter__says_where_it_is_wrong(void **state)
{
    static const struct {
        const char *text;
        size_t at;
        const char *why;
    } cases[] = {
        {"opp:Conv", 0, "there is no field 'opp'"},
        {"relu opp:Conv", 5, "there is no field 'opp'"},
        {"op:", 3, "something is missing"},
        {"op<3", 2, "op is a text"},
        {"err:1", 3, "err is a number"},
        {"err>x", 4, "'x' is no number"},
        {"err>", 4, "something is missing"},
        {"err>nan", 4, "'nan' is no number"},
        {"a |", 3, "behind |"},
        {"| a", 0, "in front of |"},
        {"a | | b", 4, "in front of |"},
        {"!", 1, "what is not to be"},
        {"name~(", 5, ""},
        {"a \"b", 2, "quote is not closed"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_filter *filter = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        char text[512];
        size_t at = 99;
        if (odb_filter_parse(&filter, cases[i].text, &at, &err) != ODB_E_USAGE)
            fail_msg("'%s' is understood", cases[i].text);
        assert_null(filter);
        assert_non_null(strstr(odb_error_text(&err, text, sizeof text), cases[i].why));
        if (at != cases[i].at)
            fail_msg("'%s': byte %zu, not %zu", cases[i].text, at, cases[i].at);
    }
}

/* Whatever is typed, nothing worse happens than that it is not understood. */
static void test_filter__survives_anything(void **state)
{
    static const char letters[] = "op:err~<>=!|\"' \t1e-*[(\\{\xc3\xa4";
    struct odb_session *session = scene();
    unsigned seed = 1;
    for (int turn = 0; turn < 20000; turn++) {
        char text[12];
        size_t n = 0, at = 0;
        for (size_t i = 0; i < sizeof text - 1; i++, n++) {
            seed = seed * 1103515245 + 12345;
            text[n] = letters[(seed >> 16) % (sizeof letters)];
        }
        text[n] = '\0';
        struct odb_filter *filter = NULL;
        struct odb_completion found;
        if (odb_filter_parse(&filter, text, &at, NULL) == ODB_OK)
            for (int i = 0; i < 6; i++)
                odb_filter_matches(filter, session, i);
        assert_true(at <= strlen(text));
        odb_filter_complete(&found, session->model->graph, text, strlen(text));
        odb_completion_dispose(&found);
        odb_filter_free(filter);
    }
    odb_session_close(session);
}

static void completes(const struct odb_session *session, const char *text, size_t from,
                      const char *common, const char *words)
{
    struct odb_completion found;
    struct odb_buf all = ODB_BUF_INIT;
    odb_filter_complete(&found, session->model->graph, text, strlen(text));
    for (size_t i = 0; i < found.words.n; i++)
        odb_buf_printf(&all, "%s%s", i ? " " : "", found.words.items[i]);
    assert_string_equal(odb_buf_text(&all), words);
    assert_int_equal(found.from, from);
    assert_string_equal(found.common ? found.common : "", common);
    odb_completion_dispose(&found);
    odb_buf_dispose(&all);
}

static void test_filter__completes(void **state)
{
    struct odb_session *session = scene();
    completes(session, "op:R", 0, "op:Relu", "op:Relu");
    completes(session, "fail !op:", 5, "!op:", "!op:Add !op:Mul !op:Relu !op:Sigmoid !op:Tanh");
    completes(session, "ver", 0, "verdict:", "verdict:");
    completes(session, "verdict:pa", 0, "verdict:pass", "verdict:pass");
    completes(session, "cul", 0, "culprit", "culprit");
    completes(session, "out:y", 0, "out:\"y|z\"", "out:\"y|z\"");
    completes(session, "err>", 0, "", "");
    completes(session, "nothing", 0, "", "");
    odb_session_close(session);
}

static void test_filter__knows_what_follows_a_search(void **state)
{
    static const struct {
        const char *text;
        bool follows;
    } cases[] = {
        {"op:Conv name~x", false}, {"err>1", true}, {"a | !pass", true}, {"\"pass\"", false}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_filter *filter = NULL;
        size_t at;
        MODELS_OK(odb_filter_parse(&filter, cases[i].text, &at, &why));
        assert_int_equal(odb_filter_follows(filter), cases[i].follows);
        odb_filter_free(filter);
    }
}

/* --- the outline ------------------------------------------------------------------------------ */

static void listed(const struct ui_outline *outline, const struct odb_session *session,
                   const char *expected)
{
    const struct odb_graph *graph = session->model->graph;
    struct odb_buf got = ODB_BUF_INIT;
    for (size_t i = 0; i < ui_outline_rows(outline, graph); i++) {
        struct ui_row row = ui_outline_row(outline, graph, i);
        odb_buf_printf(&got, "%s%d", i ? " " : "", row.node);
        if (row.scope)
            odb_buf_printf(&got, "(%d of %.*s, worst %d)", row.n, row.scope,
                           ui_outline_label(graph, row.node), row.worst);
    }
    assert_string_equal(odb_buf_text(&got), expected);
    odb_buf_dispose(&got);
}

static void test_filter__outline_sorts(void **state)
{
    struct odb_session *session = scene();
    struct ui_outline outline;
    ui_outline_init(&outline, &none);
    ui_outline_make(&outline, session);
    listed(&outline, session, "0 1 2 3 4 5");
    assert_true(outline.plain);
    outline.how.sort = UI_SORT_ERROR;
    ui_outline_make(&outline, session);
    listed(&outline, session, "5 0 2 1 3 4"); /* not known: last */
    outline.how.descending = true;
    ui_outline_make(&outline, session);
    listed(&outline, session, "3 1 2 0 5 4"); /* this way, too */
    assert_int_equal(ui_outline_find(&outline, 1), 1);
    outline.how.sort = UI_SORT_OP;
    outline.how.descending = false;
    ui_outline_make(&outline, session);
    listed(&outline, session, "5 2 0 3 1 4"); /* equal ones stay in order */
    outline.how.sort = UI_SORT_VERDICT;
    outline.how.descending = true;
    ui_outline_make(&outline, session);
    listed(&outline, session, "1 3 2 0 5 4"); /* the culprit, then by error */
    ui_outline_dispose(&outline);
    odb_session_close(session);
}

static void test_filter__outline_folds(void **state)
{
    struct odb_session *session = scene();
    const struct odb_graph *graph = session->model->graph;
    struct ui_outline outline;
    ui_outline_init(&outline, &none);
    ui_outline_depth(&outline, 0, false);
    ui_outline_make(&outline, session);
    listed(&outline, session, "0(3 of /encoder, worst 1) 3(2 of /decoder, worst 3) 5");
    assert_int_equal(ui_outline_find(&outline, 2), 0);
    assert_true(ui_outline_fold(&outline, graph, 0, false)); /* one level only */
    ui_outline_make(&outline, session);
    listed(&outline, session, "0(2 of /encoder/layer.0, worst 1) 2 3(2 of /decoder, worst 3) 5");
    assert_true(ui_outline_fold(&outline, graph, 1, true)); /* of a folded row: what is around it */
    ui_outline_make(&outline, session);
    listed(&outline, session, "0(3 of /encoder, worst 1) 3(2 of /decoder, worst 3) 5");
    assert_true(ui_outline_reveal(&outline, graph, 1));
    assert_false(ui_outline_reveal(&outline, graph, 1));
    ui_outline_make(&outline, session);
    listed(&outline, session, "0 1 2 3(2 of /decoder, worst 3) 5");
    assert_false(ui_outline_fold(&outline, graph, 4, true)); /* no scope */
    ui_outline_depth(&outline, UI_DEPTH_ALL, false);
    ui_outline_make(&outline, session);
    assert_true(outline.plain);
    assert_true(ui_outline_fold(&outline, graph, 4, true)); /* named by its value */
    outline.how.sort = UI_SORT_ERROR;
    outline.how.descending = true;
    ui_outline_make(&outline, session);
    listed(&outline, session, "3(2 of /decoder, worst 3) 1 2 0 5");
    ui_outline_dispose(&outline);
    odb_session_close(session);
}

static void test_filter__outline_filters(void **state)
{
    struct odb_session *session = scene();
    struct ui_outline outline;
    size_t at;
    ui_outline_init(&outline, &none);
    MODELS_OK(ui_outline_filter(&outline, "off", &at, &why));
    ui_outline_make(&outline, session);
    listed(&outline, session, "1 2 3");
    assert_true(ui_outline_follows(&outline));
    assert_int_equal(ui_outline_find(&outline, 0), 0); /* the next one that is listed */
    assert_int_equal(ui_outline_find(&outline, 5), 2);
    assert_int_equal(ui_outline_filter(&outline, "err>", &at, NULL), ODB_E_USAGE);
    assert_string_equal(outline.how.filter, "off");
    MODELS_OK(ui_outline_filter(&outline, "nowhere", &at, &why));
    ui_outline_make(&outline, session);
    assert_int_equal(ui_outline_rows(&outline, session->model->graph), 0);
    assert_int_equal(ui_outline_row(&outline, session->model->graph, 0).node, ODB_NO_NODE);
    assert_int_equal(ui_outline_find(&outline, 3), 0);
    ui_outline_dispose(&outline);
    odb_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter__lets_through),
        cmocka_unit_test(test_filter__says_where_it_is_wrong),
        cmocka_unit_test(test_filter__survives_anything),
        cmocka_unit_test(test_filter__completes),
        cmocka_unit_test(test_filter__knows_what_follows_a_search),
        cmocka_unit_test(test_filter__outline_sorts),
        cmocka_unit_test(test_filter__outline_folds),
        cmocka_unit_test(test_filter__outline_filters),
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
