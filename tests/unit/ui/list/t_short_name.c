/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is left of a name where there is no room for all of it.
 */
#include <locale.h>

#include "tests/help/models.h"

#include "base/buf.h"
#include "model/write/build.h"
#include "ui/list/short_name.h"
#include "ui/terminal/terminal.h"

static const struct ui_terminal short_terminal = {.unicode = true};

static void short_is(const struct ui_short_name *what, int cols, const char *expected,
                     const char *repeated)
{
    struct odb_buf text = ODB_BUF_INIT;
    size_t n = ui_short_name_put(what, '/', &short_terminal, cols, &text);
    assert_string_equal(odb_buf_text(&text), expected);
    assert_int_equal(n, strlen(repeated));
    assert_memory_equal(odb_buf_text(&text), repeated, n);
    odb_buf_dispose(&text);
}

static void test_short_name__whole(void **state)
{
    struct ui_short_name what = {
        .name = "/block/bn1/BatchNormalization", .op = "Relu", .above = "/block/conv1/Conv"};
    short_is(&what, 29, "/block/bn1/BatchNormalization", "/block");
    what.above = NULL;
    short_is(&what, 29, "/block/bn1/BatchNormalization", "");
}

static void test_short_name__told_apart(void **state)
{
    const char *const beside[] = {"layer_5/intermediate/activation/Sqrt",
                                  "layer_3/intermediate/activation/Sqrt"};
    struct ui_short_name what = {.name = "layer_4/intermediate/activation/Pow",
                                 .op = "Add",
                                 .above = "layer_4/intermediate/dense",
                                 .beside = beside,
                                 .n = 2};
    short_is(&what, 20, "…/activation/Pow", "…");
    what.name = "layer_4/intermediate/activation/Sqrt";
    short_is(&what, 20, "layer_4/…/Sqrt", "layer_4/…");
    short_is(&what, 25, "layer_4/…/activation/Sqrt", "layer_4/…");
}

static void test_short_name__operator(void **state)
{
    const char *const beside[] = {"/block/bn2/BatchNormalization", "/block/conv1/Conv"};
    struct ui_short_name what = {.name = "/block/bn1/BatchNormalization",
                                 .op = "BatchNormalization",
                                 .beside = beside,
                                 .n = 2};
    short_is(&what, 20, "/block/bn1/…", "");
    short_is(&what, 24, "…/bn1/BatchNormalization", "");
}

static void test_short_name__no_room(void **state)
{
    struct ui_short_name what = {.name = "a/a_long_last_part", .op = ""};
    short_is(&what, 5, "…/a_long_last_part", "");
    what.name = "nothing_to_leave_out";
    short_is(&what, 5, "nothing_to_leave_out", "");
    what.name = "";
    short_is(&what, 5, "", "");
}

static void test_short_name__end(void **state)
{
    struct odb_buf text = ODB_BUF_INIT;
    ui_short_name_end("model/bert/encoder/", '/', &short_terminal, 16, &text);
    assert_string_equal(odb_buf_text(&text), "…/bert/encoder/");
    odb_buf_dispose(&text);
}

static void fit_is(const char *name, int cols, const char *expected)
{
    struct odb_buf text = ODB_BUF_INIT;
    ui_short_name_fit(name, '/', &short_terminal, cols, &text);
    assert_string_equal(odb_buf_text(&text), expected);
    odb_buf_dispose(&text);
}

static void test_short_name__fit(void **state)
{
    fit_is("model/bert/dense", 16, "model/bert/dense");
    fit_is("model/bert/dense", 15, "…/bert/dense");
    fit_is("model/bert/dense", 7, "…/dense");
    fit_is("model/bert/dense", 5, "…ense");
    fit_is("model/bert/dense", 1, "…");
    fit_is("", 1, "");
    assert_int_equal(ui_short_name_least("model/bert/dense", '/', &short_terminal), 7);
    assert_int_equal(ui_short_name_least("dense", '/', &short_terminal), 5);
}

/* n nodes of a name, and one of another. */
static void short_prefix(const char *name, int n, const char *other, const char *expected)
{
    struct ui_names names;
    struct odb_model *model = NULL;
    struct odb_builder *b = odb_build_new("names", 17);
    char input[16] = "x", output[16];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    for (int i = 0; i <= n; i++) {
        char *each = i < n ? odb_xasprintf("%s_%d", name, i) : odb_xstrdup(other);
        snprintf(output, sizeof output, "v%d", i);
        odb_build_node(b, "Relu", each, input, output);
        memcpy(input, output, sizeof input);
        free(each);
    }
    odb_build_output_typed(b, output, ODB_F32, 1, (int64_t[]){4});
    model = models_take(b);
    ui_names_make(&names, model->graph, '/', &short_terminal);
    assert_string_equal(names.prefix, expected);
    assert_string_equal(ui_names_rest(&names, other), other);
    ui_names_dispose(&names);
    odb_model_free(model);
}

static void test_short_name__prefix(void **state)
{
    short_prefix("model/encoder/dense", 20, "pooler", "model/encoder/");
    short_prefix("/net/dense", 20, "/out", "/net/");
    short_prefix("model/encoder/dense", 5, "pooler", "");
    short_prefix("dense", 20, "pooler", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_name__whole),    cmocka_unit_test(test_short_name__told_apart),
        cmocka_unit_test(test_short_name__operator), cmocka_unit_test(test_short_name__no_room),
        cmocka_unit_test(test_short_name__end),      cmocka_unit_test(test_short_name__fit),
        cmocka_unit_test(test_short_name__prefix),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
