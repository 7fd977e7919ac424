/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What rows say of operators beside how they are computed: every operator has names, and no fact is
 * about an input, an operator or a formula that is not there. All breaches are printed before the
 * test fails.
 */
#include "kernels/core/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "interpret/cpu_int.h"
#include "kernels/core/kern.h"

/* Operators of ONNX's early days, for which there is no schema any more. */
static const char *const facts_nameless[] = {
    "Affine",          "ConstantFill",       "Crop",  "DynamicSlice", "ImageScaler",
    "GivenTensorFill", "ParametricSoftplus", "Scale", "ScaledTanh"};

typedef void (*facts_check_fn)(const struct odb_op *op, bool oldest, size_t *breaches);

static void ODB_PRINTF(3, 4)
    facts_breach(const struct odb_op *op, size_t *breaches, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s%s%s-%d: ", op->domain, *op->domain ? "::" : "", op->name, op->since);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    ++*breaches;
}

static void facts_each(facts_check_fn check)
{
    size_t n, breaches = 0;
    const struct odb_op *const *rows = odb_op_table(&n);
    assert_true(n > 400);
    for (size_t i = 0; i < n; i++) {
        bool oldest = !i || strcmp(rows[i]->name, rows[i - 1]->name) != 0 ||
                      strcmp(rows[i]->domain, rows[i - 1]->domain) != 0;
        check(rows[i], oldest, &breaches);
    }
    assert_int_equal(breaches, 0);
}

static void facts_named(const struct odb_op *op, bool oldest, size_t *breaches)
{
    (void)oldest;
    for (size_t i = 0; i < ODB_COUNT(facts_nameless); i++)
        if (!*op->domain && !strcmp(op->name, facts_nameless[i]))
            return;
    /* a version before the standard's own, or one that is deprecated, has no schema with names */
    if (op->facts.standard <= op->since && !op->facts.instead &&
        !odb_facts_names(op->domain, op->name, op->since, true))
        facts_breach(op, breaches, "nobody says what its inputs and outputs are called");
    if (!op->facts.in != !op->facts.out)
        facts_breach(op, breaches, "names of inputs without names of outputs, or of these alone");
}

static void test_facts__every_operator_has_names(void **state)
{
    (void)state;
    facts_each(facts_named);
}

static void facts_first(const struct odb_op *op, bool oldest, size_t *breaches)
{
    struct odb_facts other = op->facts;
    static const struct odb_facts none;
    if (oldest)
        return;
    other.in = other.out = other.instead = NULL;
    other.halves = none.halves;
    if (other.work.kind || other.fusion.head || other.fusion.ends || other.fusion.holds ||
        other.quantised.of || other.quantised.scale || other.traits || other.steering ||
        other.parameters || other.standard || other.reads)
        facts_breach(op, breaches, "what holds in all versions stands in the oldest row");
}

static void test_facts__of_all_versions_stand_in_the_oldest_row(void **state)
{
    (void)state;
    facts_each(facts_first);
}

static void facts_word(const struct odb_op *op, const char *word, size_t *breaches)
{
    static const char *const domains[] = {"", "com.microsoft"};
    size_t n;
    for (size_t i = 0; i < ODB_COUNT(domains); i++)
        if (odb_op_rows(domains[i], word, &n))
            return;
    facts_breach(op, breaches, "%s is no operator", word);
}

static void facts_words(const struct odb_op *op, const char *words, size_t *breaches)
{
    char *copy = words ? odb_xstrdup(words) : NULL, *save = NULL;
    if (words && (*words != ' ' || words[strlen(words) - 1] != ' '))
        facts_breach(op, breaches, "words stand between blanks: \"%s\"", words);
    for (char *p = copy ? strtok_r(copy, " ", &save) : NULL; p; p = strtok_r(NULL, " ", &save))
        facts_word(op, p, breaches);
    free(copy);
}

static void facts_operators(const struct odb_op *op, bool oldest, size_t *breaches)
{
    const struct odb_facts *facts = &op->facts;
    (void)oldest;
    if (facts->fusion.head)
        facts_word(op, facts->fusion.head, breaches);
    if (facts->quantised.of)
        facts_word(op, facts->quantised.of, breaches);
    if (!facts->fusion.ends != !facts->fusion.holds)
        facts_breach(op, breaches, "a pattern has an end, and holds something");
    facts_words(op, facts->fusion.ends, breaches);
    facts_words(op, facts->fusion.holds, breaches);
}

static void test_facts__name_operators_that_there_are(void **state)
{
    (void)state;
    facts_each(facts_operators);
}

/* Inputs of the newest row, which has the most. */
static int facts_inputs(const struct odb_op *op)
{
    size_t n;
    const struct odb_op *const *rows = odb_op_rows(op->domain, op->name, &n);
    int most = 0;
    for (size_t i = 0; i < n; i++)
        most = ODB_MAX(most, rows[i]->max_in);
    return most;
}

static void facts_numbers(const struct odb_op *op, bool oldest, size_t *breaches)
{
    const struct odb_facts *facts = &op->facts;
    int most = facts_inputs(op);
    (void)oldest;
    if (!most) /* another's operator, of which no inputs are known */
        return;
    if (facts->work.b >= most || facts->work.bias >= most)
        facts_breach(op, breaches, "its work hangs on an input that it does not have");
    if (facts->quantised.scale >= most || facts->quantised.n_in > 3)
        facts_breach(op, breaches, "the scale, or an operand, is an input that it does not have");
    for (int i = 0; i < facts->quantised.n_in; i++)
        if (facts->quantised.in[i] >= most)
            facts_breach(op, breaches, "operand %d is an input that it does not have", i);
    if (most < 32 && (facts->halves.keep_in >> most || facts->parameters >> most ||
                      (facts->steering && facts->steering >> most != ~0u >> most)))
        facts_breach(op, breaches, "bits of inputs that it does not have");
}

static void test_facts__are_about_inputs_that_there_are(void **state)
{
    (void)state;
    facts_each(facts_numbers);
}

static void test_facts__every_formula_is_used(void **state)
{
    size_t n, used[ODB_WORK_COUNT] = {0};
    const struct odb_op *const *rows = odb_op_table(&n);
    (void)state;
    for (size_t i = 0; i < n; i++)
        used[rows[i]->facts.work.kind]++;
    for (int kind = 1; kind < ODB_WORK_COUNT; kind++)
        assert_true(used[kind]);
}

/* A row without a kernel ends an operator's life, says why, or is run with the graph. */
static void facts_run(const struct odb_op *op, bool oldest, size_t *breaches)
{
    bool runs = op->run || cpu_control_find(op->domain, op->name);
    if (!runs && !op->facts.instead && !op->facts.without)
        facts_breach(op, breaches, "nobody runs it, and nothing is said instead");
    if (runs && op->facts.without)
        facts_breach(op, breaches, "it is run, and said to be without a kernel");
    if (!op->run && oldest && op->facts.instead)
        facts_breach(op, breaches, "an end without a beginning");
}

static void test_facts__who_runs_an_operator(void **state)
{
    (void)state;
    facts_each(facts_run);
}

static void test_facts__by_version(void **state)
{
    int since = 0;
    (void)state;
    assert_null(odb_facts_at("", "NoSuchOperator", 1, &since));
    assert_null(odb_facts_names("", "NoSuchOperator", 1, true));
    assert_null(odb_facts_of("", "NoSuchOperator")->in);
    assert_string_equal(odb_facts_at("", "Scatter", 16, &since)->instead, "use ScatterElements");
    assert_int_equal(since, 11);
    assert_null(odb_facts_at("", "GroupNormalization", 21, &since)->instead);
    assert_string_equal(odb_facts_names("", "Clip", 6, true), "input");
    assert_string_equal(odb_facts_names("", "Clip", 0, true), "input,min,max");
    assert_null(odb_facts_halves("", "Add", 6));
    assert_int_equal(odb_facts_halves("", "Dropout", 9)->keep_in, 0);
    assert_int_equal(odb_facts_halves("", "Dropout", 13)->keep_in, 2);
    assert_int_equal(odb_facts_of("com.microsoft", "QLinearConv")->work.kind, 0);
    assert_string_equal(odb_facts_of(NULL, "QGemm")->quantised.of, "Gemm");
}

static void test_facts__why_an_operator_has_no_kernel(void **state)
{
    (void)state;
    assert_non_null(strstr(odb_facts_without("com.microsoft", "EPContext"), "one device"));
    assert_non_null(strstr(odb_facts_without("ai.onnx.contrib", "BertTokenizer"), "tokenizers"));
    assert_non_null(odb_facts_without("com.microsoft.extensions", "StringSplit"));
    assert_null(odb_facts_without("com.microsoft", "MoE"));
    assert_null(odb_facts_without("mine", "EPContext"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts__every_operator_has_names),
        cmocka_unit_test(test_facts__of_all_versions_stand_in_the_oldest_row),
        cmocka_unit_test(test_facts__name_operators_that_there_are),
        cmocka_unit_test(test_facts__are_about_inputs_that_there_are),
        cmocka_unit_test(test_facts__every_formula_is_used),
        cmocka_unit_test(test_facts__who_runs_an_operator),
        cmocka_unit_test(test_facts__by_version),
        cmocka_unit_test(test_facts__why_an_operator_has_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
