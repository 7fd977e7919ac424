/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Texts that have to fit: what is left of a character at their end is no character.
 */
#include "base/utf8.h"

#include "base/error.h"
#include "probe/probe.h"
#include "tests/help/models.h"
#include "model/read/load.h"

static void expect_whole(const char *text)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
    uint32_t c;
    while (p < end)
        if (!odb_utf8_next(&p, end, &c))
            fail_msg("'%s' has a part of a character", text);
}

static void test_utf8__what_does_not_fit_ends_with_a_character(void **state)
{
    static const struct {
        size_t size;
        const char *text, *fits;
    } cases[] = {
        {1, "é", ""},
        {2, "é", ""},
        {3, "é", "é"},
        {3, "aé", "a"},
        {4, "aé", "aé"},
        {4, "né…", "né"},
        {6, "né…", "né"},
        {7, "né…", "né…"},
        {4, "😀", ""},
        {5, "😀", "😀"},
        {8, "x😀😀", "x😀"},
        {4, "plain", "pla"},
        {3, "\xc3", "\xc3"},
        {3, "\x80\x80\x80", "\x80\x80"}, /* never was one */
        {6, "\x80\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        char *buf = odb_new_n(char, cases[i].size); /* for who looks at what is beyond */
        assert_int_equal(odb_text_fit(buf, cases[i].size, "%s", cases[i].text),
                         strlen(cases[i].fits));
        assert_string_equal(buf, cases[i].fits);
        free(buf);
    }
    (void)state;
}

/* Each name of a byte more moves the end by one: of titles of questions, labels of nodes, errors.
 */
static void test_utf8__nobody_cuts_names_within_a_character(void **state)
{
    for (size_t shift = 0; shift < 4; shift++) {
        char name[4 * 400 + 8] = "xxx", buf[200];
        struct odb_error err = ODB_ERROR_INIT;
        name[shift] = '\0';
        for (int i = 0; i < 400; i++)
            strcat(name, "😀");
        struct odb_builder *b = odb_build_new("g", 17);
        odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
        odb_build_node(b, "Neg", name, "x", name);
        odb_build_node(b, "Neg", "last", name, "y");
        odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){1});
        struct odb_model *model = models_take(b);
        const struct odb_graph *graph = model->graph;
        for (size_t size = sizeof buf - 4; size <= sizeof buf; size++) {
            expect_whole(odb_probe_title(graph, "prefix up to", 0, 1, buf, size));
            expect_whole(odb_node_label(&graph->nodes[0], buf, size));
            expect_whole(odb_value_key(graph, &graph->values[graph->nodes[0].out[0]], buf, size));
        }
        odb_fail(&err, ODB_E_INPUT, "%s is pinned", name);
        odb_error_at(&err, "at %s", name);
        odb_error_remedy(&err, "name another than %s", name);
        expect_whole(err.what);
        expect_whole(err.where);
        expect_whole(err.remedy);
        expect_whole(odb_error_text(&err, buf, sizeof buf));
        odb_model_free(model);
    }
    (void)state;
}

static void test_utf8__every_character_and_nothing_else(void **state)
{
    static const char *const none[] = {
        "", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8"};
    for (uint32_t c = 0, read; c <= 0x110000; c++) {
        char text[ODB_UTF8_MAX + 1] = "";
        if (!odb_utf8_is(c))
            continue;
        size_t n = odb_utf8_put(text, c);
        assert_int_equal(odb_utf8_read(text, n, &read), n);
        assert_int_equal(read, c);
        assert_int_equal(odb_utf8_length((unsigned char)text[0]), n);
        assert_int_equal(odb_utf8_back(text, n - 1), 0);
        assert_int_equal(odb_utf8_read(text, n - 1, &read), 0);
    }
    for (size_t i = 0; i < ODB_COUNT(none); i++) {
        uint32_t c = 7;
        assert_int_equal(odb_utf8_read(none[i], strlen(none[i]), &c), 0);
        assert_int_equal(c, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8__every_character_and_nothing_else),
        cmocka_unit_test(test_utf8__what_does_not_fit_ends_with_a_character),
        cmocka_unit_test(test_utf8__nobody_cuts_names_within_a_character),
    };
    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
