/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What refusals of parts say of all parts.
 */
#include "judge/parts_taken.h"

#include "tests/help/models.h"

enum { N = 5 };

/* n0 Relu, n1 Neg, n2 Relu, n3 Sqrt, n4 Exp, one after the other. */
static struct odb_node nodes[N] = {{.op_type = "Relu"},
                                   {.op_type = "Neg"},
                                   {.op_type = "Relu"},
                                   {.op_type = "Sqrt"},
                                   {.op_type = "Exp"}};
static struct odb_graph graph = {.nodes = nodes, .n_nodes = N};

/* A part from one node to another; all of the model if it has both ends. */
static struct odb_probe_part part(bool *marks, int first, int last)
{
    for (int n = 0; n < N; n++)
        marks[n] = n >= first && n <= last;
    return (struct odb_probe_part){.graph = &graph,
                                   .nodes = marks,
                                   .end = last,
                                   .takes = first          ? ODB_CUTS_ANY
                                            : last < N - 1 ? ODB_CUTS_PREFIX
                                                           : ODB_CUTS_NONE,
                                   .plain = true};
}

static void taken(struct odb_parts *parts, int first, int last)
{
    bool marks[N];
    struct odb_probe_part p = part(marks, first, last);
    odb_parts_taken(parts, &p);
}

static void refused(struct odb_parts *parts, int first, int last, const char *words)
{
    bool marks[N];
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_probe_part p = part(marks, first, last);
    odb_fail(&err, ODB_UNSUPPORTED, "%s", words);
    odb_parts_refused(parts, &p, &err);
}

#define NO_PART "only complete networks are supported"

/* Two refusals of a target that runs the model, or not. */
static enum odb_cuts found(bool runs, const int ends[4], const char *words, const char *others)
{
    struct odb_parts parts = {0};
    if (runs)
        taken(&parts, 0, N - 1);
    refused(&parts, ends[0], ends[1], words);
    assert_int_equal(parts.found, ODB_CUTS_ANY);
    refused(&parts, ends[2], ends[3], others);
    enum odb_cuts is = parts.found;
    odb_parts_dispose(&parts);
    return is;
}

static void test_parts__two_are_believed(void **state)
{
    (void)state;
    assert_int_equal(found(true, (int[]){1, 2, 3, 4}, NO_PART, NO_PART), ODB_CUTS_PREFIX);
    assert_int_equal(found(true, (int[]){0, 2, 0, 1}, NO_PART, NO_PART), ODB_CUTS_NONE);
    assert_int_equal(found(true, (int[]){0, 2, 0, 1}, NO_PART " (3 nodes)", NO_PART " (2 nodes)"),
                     ODB_CUTS_NONE);
}

static void test_parts__what_else_may_be_refused(void **state)
{
    (void)state;
    static const char *const other = "out of registers in block";
    assert_int_equal(found(true, (int[]){1, 2, 2, 4}, NO_PART, NO_PART), ODB_CUTS_ANY);
    assert_int_equal(found(true, (int[]){0, 2, 0, 0}, NO_PART, NO_PART), ODB_CUTS_ANY);
    assert_int_equal(found(true, (int[]){1, 2, 0, 1}, NO_PART, NO_PART), ODB_CUTS_ANY);
    assert_int_equal(found(true, (int[]){1, 2, 3, 4}, NO_PART, other), ODB_CUTS_ANY);
    assert_int_equal(
        found(true, (int[]){0, 1, 0, 2}, "no kernel for Neg(13)", "no kernel for Neg(13)"),
        ODB_CUTS_ANY);
    assert_int_equal(found(false, (int[]){0, 2, 0, 1}, NO_PART, NO_PART), ODB_CUTS_ANY);
}

static void test_parts__an_operator_is_a_word(void **state)
{
    (void)state;
    assert_int_equal(found(true, (int[]){0, 1, 0, 2}, "Expected a network, Negatives are none",
                           "Expected a network, Negatives are none"),
                     ODB_CUTS_NONE);
}

static void test_parts__one_that_was_taken_speaks_for_all(void **state)
{
    (void)state;
    struct odb_parts parts = {0};
    taken(&parts, 0, N - 1);
    taken(&parts, 0, 2);
    refused(&parts, 0, 1, NO_PART);
    refused(&parts, 0, 3, NO_PART);
    assert_int_equal(parts.found, ODB_CUTS_ANY);
    refused(&parts, 1, 1, NO_PART);
    refused(&parts, 2, 4, NO_PART);
    assert_int_equal(parts.found, ODB_CUTS_PREFIX);
    odb_parts_dispose(&parts);
}

static void test_parts__of_another_type_it_says_nothing(void **state)
{
    (void)state;
    struct odb_parts parts = {0};
    taken(&parts, 0, N - 1);
    for (int last = 1; last < 3; last++) {
        bool marks[N];
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_probe_part p = part(marks, 0, last);
        p.plain = false;
        odb_fail(&err, ODB_UNSUPPORTED, NO_PART);
        odb_parts_refused(&parts, &p, &err);
    }
    assert_int_equal(parts.found, ODB_CUTS_ANY);
    odb_parts_dispose(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts__two_are_believed),
        cmocka_unit_test(test_parts__what_else_may_be_refused),
        cmocka_unit_test(test_parts__an_operator_is_a_word),
        cmocka_unit_test(test_parts__one_that_was_taken_speaks_for_all),
        cmocka_unit_test(test_parts__of_another_type_it_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
