/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words of inputs, outputs and attributes, held against the tables of operators: every name has
 * words at every version, and every line of words is taken for each operator that it stands below.
 * No line says what a more general one says already.
 */
#include "meaning/meaning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "kernels/core/kern.h"
#include "model/formal.h"

enum { MEANING_LONGEST = 60, MEANING_SLOTS = 32, MEANING_VERSIONS = 64 };

static const char *meaning_domain(const struct odb_op *op)
{
    return *op->domain ? op->domain : "ai.onnx";
}

static struct odb_node meaning_node(const struct odb_op *op, int version)
{
    return (struct odb_node){.domain = op->domain, .op_type = op->name, .opset = version};
}

typedef void (*meaning_fn)(void *arg, const struct odb_op *op, const char *name, int version);

/* All names of a row of the table, at a version that it holds for. */
static void meaning_each_name(const struct odb_op *op, int version, meaning_fn fn, void *arg)
{
    struct odb_node node = meaning_node(op, version);
    char key[ODB_FORMAL_NAME], last[ODB_FORMAL_NAME];
    for (int input = 0; input < 2; input++) {
        *last = '\0';
        for (int slot = 0; slot < MEANING_SLOTS; slot++) {
            odb_formal_key(&node, input, slot, key);
            if (!*key || !strcmp(key, last))
                break;
            fn(arg, op, key, version);
            strcpy(last, key);
        }
    }
    for (const struct odb_attr_spec *spec = op->attrs; spec && spec->name; spec++)
        fn(arg, op, spec->name, version);
}

/* ... of all rows, each at its first version, and at `version` where that is one of its own. */
static void meaning_each(int version, meaning_fn fn, void *arg)
{
    size_t n, n_rows;
    const struct odb_op *const *table = odb_op_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct odb_op *const *rows = odb_op_rows(table[i]->domain, table[i]->name, &n_rows);
        int end = INT32_MAX;
        for (size_t r = 0; r < n_rows; r++)
            if (rows[r]->since > table[i]->since && rows[r]->since < end)
                end = rows[r]->since;
        meaning_each_name(table[i], table[i]->since, fn, arg);
        if (version > table[i]->since && version < end)
            meaning_each_name(table[i], version, fn, arg);
    }
}

/* --- every name has words --------------------------------------------------------------------- */

static void meaning_expect(void *arg, const struct odb_op *op, const char *name, int version)
{
    char words[ODB_MEANING];
    size_t *n = arg;
    if (!*odb_meaning(op->domain, op->name, version, name, words))
        fail_msg("share/words has no line for %s of %s %s, version %d", name, meaning_domain(op),
                 op->name, version);
    (*n)++;
}

static void test_meaning__every_name_has_words(void **state)
{
    size_t n = 0;
    meaning_each(0, meaning_expect, &n);
    assert_true(n > 3000);
}

/* --- every line is one for a name ------------------------------------------------------------- */

struct meaning_line {
    const struct odb_meaning_row *row;
    char words[ODB_MEANING];
    const char *operators[400]; /* for which it is taken */
    size_t n;
};

static void meaning_take(void *arg, const struct odb_op *op, const char *name, int version)
{
    struct meaning_line *line = arg;
    char words[ODB_MEANING];
    if (strlen(name) != (size_t)line->row->name_len ||
        strncmp(name, line->row->name, strlen(name)) != 0 ||
        (line->row->below && version >= line->row->below) ||
        (line->n && line->operators[line->n - 1] == op->name) || line->n == 400)
        return;
    if (*line->row->domains != '*' && !odb_meaning_lists(line->row->domains, meaning_domain(op)))
        return;
    if (*line->row->operators != '*' && !odb_meaning_lists(line->row->operators, op->name))
        return;
    if (!strcmp(odb_meaning(op->domain, op->name, version, name, words), line->words))
        line->operators[line->n++] = op->name;
}

static bool meaning_taken_for(const struct meaning_line *line, const char *op, size_t len)
{
    for (size_t i = 0; i < line->n; i++)
        if (strlen(line->operators[i]) == len && !strncmp(line->operators[i], op, len))
            return true;
    return false;
}

static void test_meaning__every_line_is_taken(void **state)
{
    struct odb_meaning_row row = {0};
    size_t n = 0;
    for (; odb_meaning_next(&row); n++) {
        struct meaning_line line = {.row = &row};
        size_t len;
        snprintf(line.words, sizeof line.words, "%.*s", row.words_len, row.words);
        for (int version = row.below ? row.below - 1 : 1000; version >= 0;
             version -= row.below ? row.below : 1001)
            meaning_each(version, meaning_take, &line);
        if (!line.n)
            fail_msg("no operator has %.*s: %s", row.name_len, row.name, line.words);
        for (const char *op = row.operators; *op != '*' && *op != '\n';
             op += len + (op[len] == ' '))
            if (len = strcspn(op, " \n"), !meaning_taken_for(&line, op, len))
                fail_msg("%.*s has no %.*s: %s", (int)len, op, row.name_len, row.name, line.words);
    }
    assert_true(n > 1300);
}

/* --- the lines -------------------------------------------------------------------------------- */

static int meaning_columns(const char *words)
{
    int n = 0;
    for (; *words; words++)
        n += !odb_utf8_inside(*words);
    return n;
}

static int meaning_generality(const struct odb_meaning_row *row)
{
    return (*row->operators == '*') + (*row->domains == '*');
}

/* Whether what `row` says for its operators is what `other` would say anyway. */
static bool meaning_repeats(const struct odb_meaning_row *row, const struct odb_meaning_row *other)
{
    return *other->operators == '*' && meaning_generality(row) < meaning_generality(other) &&
           (*other->domains == '*' || other->domains == row->domains) &&
           row->name_len == other->name_len && row->words_len == other->words_len &&
           !strncmp(row->name, other->name, (size_t)row->name_len) &&
           !strncmp(row->words, other->words, (size_t)row->words_len);
}

static void test_meaning__lines_are_short_and_say_something_new(void **state)
{
    struct odb_meaning_row row = {0}, other;
    while (odb_meaning_next(&row)) {
        char words[ODB_MEANING];
        snprintf(words, sizeof words, "%.*s", row.words_len, row.words);
        if (!row.words_len || meaning_columns(words) > MEANING_LONGEST)
            fail_msg("%.*s: 1 to %d columns, and not %d: %s", row.name_len, row.name,
                     MEANING_LONGEST, meaning_columns(words), words);
        if (words[row.words_len - 1] == '.' || words[row.words_len - 1] == ' ')
            fail_msg("%.*s: a line, no sentence: %s", row.name_len, row.name, words);
        for (other = (struct odb_meaning_row){0}; odb_meaning_next(&other);)
            if (meaning_repeats(&row, &other))
                fail_msg("%.*s repeats what is said for all: %s", row.name_len, row.name, words);
    }
}

/* --- which line is taken ---------------------------------------------------------------------- */

static void meaning_is(const char *domain, const char *op, int version, const char *name,
                       const char *begins)
{
    char words[ODB_MEANING];
    odb_meaning(domain, op, version, name, words);
    if (strncmp(words, begins, strlen(begins)) != 0 || (!*begins && *words))
        fail_msg("%s %d, %s: '%s' and not '%s…'", op, version, name, words, begins);
}

static void test_meaning__the_closest_line_is_taken(void **state)
{
    meaning_is("", "Selu", 6, "X", "the tensor that it works on");
    meaning_is("", "Relu", 14, "X", "the numbers");
    meaning_is("", "Conv", 11, "X", "images or signals: (N, C");
    meaning_is("", "Conv", 11, "auto_pad", "NOTSET");
    meaning_is("com.microsoft", "NhwcConv", 1, "X", "images or signals: (N, spatial…, C)");
    meaning_is("", "Softmax", 12, "axis", "axes from this one on");
    meaning_is("", "Softmax", 13, "axis", "axis along which");
    meaning_is("", "GroupNormalization", 18, "scale", "factor per group");
    meaning_is("", "GroupNormalization", 21, "scale", "factor per channel");
    meaning_is("", "Conv", 11, "nothing", "");
    meaning_is("elsewhere", "Conv", 1, "dilations", "distance of");
}

static void test_meaning__of_a_node(void **state)
{
    char words[ODB_MEANING];
    struct odb_node node = {.domain = "", .op_type = "Max", .opset = 13};
    assert_string_equal(odb_meaning_of_port(&node, true, 7, words),
                        "the tensors, broadcast together (before opset 8: alike)");
    struct odb_function function = {.n_inputs = 0};
    node.function = &function;
    assert_string_equal(odb_meaning_of_port(&node, true, 0, words), "");
    assert_string_equal(odb_meaning_of_attr(&node, "axis", words), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning__every_name_has_words),
        cmocka_unit_test(test_meaning__every_line_is_taken),
        cmocka_unit_test(test_meaning__lines_are_short_and_say_something_new),
        cmocka_unit_test(test_meaning__the_closest_line_is_taken),
        cmocka_unit_test(test_meaning__of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
