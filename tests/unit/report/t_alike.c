/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What several culprits have in common.
 */
#include "report/report.h"
#include "tests/help/models.h"

#define ALIKE_NODES 5

/* Relu behind LeakyRelu of these slopes, the first of which is not given where it is 0. */
static struct odb_model *alike_model(const float *slopes)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    for (int i = 0; i < ALIKE_NODES; i++) {
        char in[16], out[16];
        snprintf(in, sizeof in, i ? "v%d" : "x", i - 1);
        snprintf(out, sizeof out, "v%d", i);
        odb_build_node(b, "LeakyRelu", "", in, out);
        if (slopes[i] != 0)
            odb_build_attr_float(b, "alpha", slopes[i]);
    }
    odb_build_node(b, "Relu", "", "v4", "y");
    odb_build_output(b, "y");
    return models_take(b);
}

static void alike_is(const float *slopes, const int *culprits, size_t n, const char *want)
{
    struct odb_model *model = alike_model(slopes);
    struct odb_report *report = odb_report_new(model);
    struct odb_buf out = ODB_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        odb_push(&report->culprits,
                 (struct odb_culprit){.node = culprits[i], .segment = {culprits[i], culprits[i]}});
    odb_report_put_alike(report, &out);
    assert_string_equal(odb_buf_text(&out), want);
    odb_buf_dispose(&out);
    odb_report_free(report);
    odb_model_free(model);
}

static void test_alike__attribute(void **state)
{
    const float same[] = {0.5F, 0.25F, 0.5F, 0.125F, 0.75F};
    const float others[] = {0.5F, 0.25F, 0.25F, 0.125F, 0.25F};
    alike_is(same, (int[]){0, 2}, 2,
             "all 2 culprits are LeakyRelu with alpha = 0.5, which no other has");
    alike_is(others, (int[]){0, 3}, 2,
             "all 2 culprits are LeakyRelu with alpha other than 0.25, which all others have");
}

static void test_alike__nothing(void **state)
{
    const float same[] = {0.5F, 0.25F, 0.5F, 0.125F, 0.75F};
    const float unsaid[] = {0, 0.25F, 0.5F, 0.5F, 0.25F};
    alike_is(same, (int[]){0}, 1, "");             /* one has nothing in common */
    alike_is(same, (int[]){0, 1}, 2, "");          /* and #2 has what #0 has */
    alike_is(same, (int[]){0, 5}, 2, "");          /* another operator */
    alike_is(same, (int[]){0, 1, 2, 3, 4}, 5, ""); /* there are no others */
    alike_is(unsaid, (int[]){2, 3}, 2, "");        /* the default may be the same */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alike__attribute),
        cmocka_unit_test(test_alike__nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
