/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/probe_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"

static char log_name[] = "value";

/* A graph of n nodes and values; nothing but their names is looked at. */
static struct odb_graph log_graph(size_t n)
{
    struct odb_graph graph = {.n_nodes = n, .n_values = n};
    graph.values = odb_new_n(struct odb_value, n);
    for (size_t i = 0; i < n; i++)
        graph.values[i].name = log_name;
    return graph;
}

static void test_probe_log__worst_values_are_kept(void **state)
{
    struct odb_all_seen seen = {0};
    odb_seen_note(NULL, &(struct odb_seen){0}); /* nobody wants to know */
    for (int i = 0; i < 1000; i++)
        odb_seen_note(
            &seen, &(struct odb_seen){.value = i,
                                      .verdict = i % 100 == 7 ? ODB_VERDICT_FAIL : ODB_VERDICT_PASS,
                                      .error = ODB_NUMBER(i % 100 == 7 ? 1e-9 * i : 1e-3)});
    size_t bad = 0;
    for (size_t i = 0; i < seen.told; i++)
        bad += seen.list[i].verdict == ODB_VERDICT_FAIL;
    assert_int_equal(seen.n, 1000);
    assert_int_equal(seen.bad, 10);
    assert_int_equal(seen.told, ODB_COMPARED_MOST);
    assert_int_equal(bad, 10);
}

static void test_probe_log__cut_and_verdict(void **state)
{
    struct odb_graph graph = log_graph(10);
    const bool nodes[10] = {false, true, true, false, true, false, false, true, true, true};
    const int in[] = {0, 3}, out[] = {9};
    const struct odb_probe_kind_facts facts = {.graph = &graph,
                                               .asked = ODB_PROBE_KIND_PREFIX,
                                               .nodes = nodes,
                                               .in = in,
                                               .out = out,
                                               .n_in = 2,
                                               .n_out = 1};
    struct odb_search_event event = {.what = ODB_EVENT_PROBE_BEGIN,
                                     .text = "prefix up to #9",
                                     .node = 9,
                                     .asked = &facts,
                                     .remaining = 10};
    struct odb_all_seen seen = {0};
    struct odb_probe_log entry;
    odb_probe_log_begin(&entry, &graph, &event, 1.5);
    assert_false(entry.ended);
    assert_int_equal(entry.nodes, 6);
    assert_int_equal(entry.cut.n, 3);
    assert_int_equal(entry.cut.items[2].first, 7);
    assert_int_equal(entry.cut.items[2].last, 9);
    assert_int_equal(entry.fed.n, 2);
    assert_int_equal(entry.cut.cap, 3); /* nothing is kept for what does not come */
    assert_int_equal(entry.fed.cap, 2);
    assert_int_equal(entry.fed.items[1].value, 3);
    odb_seen_note(&seen, &(struct odb_seen){.value = 1, .error = ODB_NUMBER(2)});
    odb_seen_note(
        &seen, &(struct odb_seen){.value = 2, .verdict = ODB_VERDICT_FAIL, .error = ODB_NUMBER(1)});
    event.what = ODB_EVENT_PROBE_END;
    event.verdict = ODB_VERDICT_FAIL;
    event.remaining = 4;
    event.compared = &seen;
    odb_probe_log_end(&entry, &graph, &event);
    assert_int_equal(entry.suspects, 10);
    assert_int_equal(entry.remaining, 4);
    assert_int_equal(entry.compared.items[0].value, 2); /* what is wrong comes first */
    assert_int_equal(entry.bad, 1);
    odb_probe_log_dispose(&entry);
    free(graph.values);
}

/* Indices of a body's values mean nothing in the graph that is looked at. */
static void test_probe_log__bodies_have_no_values_of_the_graph(void **state)
{
    struct odb_graph graph = log_graph(2), body = log_graph(500);
    const bool nodes[500] = {true};
    const int in[] = {400};
    const struct odb_probe_kind_facts facts = {.graph = &body, .nodes = nodes, .in = in, .n_in = 1};
    const struct odb_search_event event = {
        .what = ODB_EVENT_PROBE_BEGIN, .text = "body", .asked = &facts};
    struct odb_all_seen seen = {.n = 1, .told = 1, .list = {{.value = 400}}};
    struct odb_search_event end = {.what = ODB_EVENT_PROBE_END, .compared = &seen};
    struct odb_probe_log entry;
    odb_probe_log_begin(&entry, &graph, &event, 0);
    odb_probe_log_end(&entry, &graph, &end);
    assert_true(entry.within);
    assert_int_equal(entry.fed.items[0].value, ODB_NO_VALUE);
    assert_string_equal(entry.fed.items[0].name, "value");
    assert_int_equal(entry.compared.n, 0);
    odb_probe_log_dispose(&entry);
    free(graph.values);
    free(body.values);
}

static void test_probe_log__words(void **state)
{
    for (int asked = ODB_PROBE_KIND_PLAIN + 1; asked < ODB_PROBE_KIND_COUNT; asked++) {
        const char *why = odb_probe_kind_why((enum odb_probe_kind)asked);
        assert_true(*why && why[strlen(why) - 1] != '.');
    }
    assert_string_equal(odb_probe_kind_why(ODB_PROBE_KIND_PLAIN), "");
    assert_non_null(
        strstr(odb_probe_kind_means(ODB_PROBE_KIND_ALONE, ODB_VERDICT_PASS), "what its operator"));
    assert_non_null(
        strstr(odb_probe_kind_means(ODB_PROBE_KIND_ALONE, ODB_VERDICT_NAN), "wrong alone"));
    assert_non_null(
        strstr(odb_probe_kind_means(ODB_PROBE_KIND_ALONE, ODB_VERDICT_UNTESTABLE), "no answer"));
    assert_non_null(
        strstr(odb_probe_kind_means(ODB_PROBE_KIND_ALONE, ODB_VERDICT_CRASH), "did not live"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_log__worst_values_are_kept),
        cmocka_unit_test(test_probe_log__cut_and_verdict),
        cmocka_unit_test(test_probe_log__bodies_have_no_values_of_the_graph),
        cmocka_unit_test(test_probe_log__words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
