/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What operators call their inputs and outputs: as many names as the schemas of
 * tests/operators.tsv allow, at every version; and the names themselves where they have changed.
 */
#include "model/formal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interpret/cpu_int.h"
#include "kernels/core/kern.h"

enum { FORMAL_MANY = 20 }; /* more than any operator has in a fixed number */

static struct odb_node formal_node(const char *domain, const char *op_type, int opset)
{
    return (struct odb_node){.domain = domain, .op_type = op_type, .opset = opset};
}

static void formal_expect(const struct odb_node *node, bool input, int slot, const char *expected)
{
    char name[ODB_FORMAL_NAME];
    assert_string_equal(odb_formal_name(node, input, slot, name), expected);
}

static bool formal_has(const struct odb_node *node, bool input, int slot)
{
    char name[ODB_FORMAL_NAME];
    return *odb_formal_name(node, input, slot, name);
}

/* "1-3", "1-*": the last of as many as are allowed has a name, and the next one has none. */
static void formal_count(const struct odb_node *node, bool input, const char *arity)
{
    const char *most = strchr(arity, '-') + 1;
    int n = *most == '*' ? FORMAL_MANY : (int)strtol(most, NULL, 10);
    for (int slot = 0; slot < n; slot++)
        if (!formal_has(node, input, slot))
            fail_msg("%s-%d: no name for %s %d", node->op_type, node->opset,
                     input ? "input" : "output", slot);
    if (*most != '*' && formal_has(node, input, n))
        fail_msg("%s-%d: a name for %s %d", node->op_type, node->opset, input ? "input" : "output",
                 n);
}

static void test_formal__as_many_as_the_schemas_have(void **state)
{
    char *line = NULL;
    size_t size = 0, n = 0;
    FILE *f = fopen("tests/operators.tsv", "r");
    assert_non_null(f);
    while (getline(&line, &size, f) >= 0) {
        char *columns[6], *save = NULL;
        if (*line == '#')
            continue;
        for (size_t i = 0; i < ODB_COUNT(columns); i++)
            assert_non_null(columns[i] = strtok_r(i ? NULL : line, "\t", &save));
        if (strcmp(columns[3], "-") != 0) /* deprecated: no schema of its own */
            continue;
        struct odb_node node = formal_node(strcmp(columns[0], "ai.onnx") ? columns[0] : "",
                                           columns[1], (int)strtol(columns[2], NULL, 10));
        formal_count(&node, true, columns[4]);
        formal_count(&node, false, columns[5]);
        n++;
    }
    assert_true(n > 500);
    free(line);
    fclose(f);
}

/* Of com.microsoft, all that the reference takes. */
static void test_formal__names_for_what_kernels_take(void **state)
{
    size_t n, found = 0;
    const struct odb_op *const *rows = odb_op_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct odb_op *op = rows[i];
        struct odb_node node = formal_node(op->domain, op->name, op->since);
        if (strcmp(op->domain, "com.microsoft") != 0)
            continue;
        for (int slot = 0; slot < op->max_in && slot < FORMAL_MANY; slot++)
            if (!formal_has(&node, true, slot))
                fail_msg("%s: no name for input %d", op->name, slot);
        for (int slot = 0; slot < op->max_out && slot < FORMAL_MANY; slot++)
            if (!formal_has(&node, false, slot))
                fail_msg("%s: no name for output %d", op->name, slot);
        found++;
    }
    assert_true(found > 80);
}

static void test_formal__names_of_versions(void **state)
{
    struct odb_node conv = formal_node("", "Conv", 17);
    struct odb_node old = formal_node("", "BatchNormalization", 9);
    formal_expect(&conv, true, 0, "X");
    formal_expect(&conv, true, 1, "W");
    formal_expect(&conv, true, 2, "B");
    formal_expect(&conv, false, 0, "Y");
    formal_expect(&old, true, 3, "mean");
    formal_expect(&old, false, 4, "saved_var");
    old.opset = 15;
    formal_expect(&old, true, 3, "input_mean");
    formal_expect(&old, false, 4, "");
    old.opset = 0; /* not imported */
    formal_expect(&old, true, 3, "input_mean");
    struct odb_node early = formal_node("", "Gelu", 19), own = formal_node("custom", "Conv", 1);
    formal_expect(&early, true, 0, "");
    formal_expect(&own, true, 0, "");
    assert_int_equal(odb_formal_width(&own), 0);
    struct odb_node heads = formal_node("com.microsoft", "GroupQueryAttention", 1);
    formal_expect(&heads, true, 5, "seqlens_k");
}

static void test_formal__as_many_as_there_are(void **state)
{
    struct odb_node max = formal_node("", "Max", 13), loop = formal_node("", "Loop", 16);
    formal_expect(&max, true, 0, "data_0");
    formal_expect(&max, true, 11, "data_11");
    formal_expect(&loop, true, 1, "cond");
    formal_expect(&loop, true, 2, "v_initial[0]");
    formal_expect(&loop, true, 4, "v_initial[2]");
    formal_expect(&loop, false, 1, "v_final_and_scan_outputs[1]");
    loop.n_in = 2;
    assert_int_equal(odb_formal_width(&loop), strlen("cond"));
}

static void test_formal__names_of_functions(void **state)
{
    static const char *const in[] = {"gate", "x"}, *const out[] = {"y"};
    struct odb_function function = {.inputs = in, .n_inputs = 2, .outputs = out, .n_outputs = 1};
    struct odb_node node = formal_node("", "Conv", 17);
    node.function = &function;
    formal_expect(&node, true, 0, "gate");
    formal_expect(&node, true, 1, "x");
    formal_expect(&node, true, 2, "");
    formal_expect(&node, false, 0, "y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formal__as_many_as_the_schemas_have),
        cmocka_unit_test(test_formal__names_for_what_kernels_take),
        cmocka_unit_test(test_formal__names_of_versions),
        cmocka_unit_test(test_formal__as_many_as_there_are),
        cmocka_unit_test(test_formal__names_of_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
