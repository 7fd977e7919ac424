/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/table/command.h"

#include "command/table/quoting.h"
#include "tests/help/models.h"

/* The words of the line must be those given, up to NULL. */
static void words_are(const char *line, const char *const *words)
{
    char **argv;
    int argc, n = 0;
    MODELS_OK(odb_words_split(&argv, &argc, line, &why));
    for (; words[n]; n++) {
        assert_true(n < argc);
        assert_string_equal(argv[n], words[n]);
    }
    assert_int_equal(argc, n);
    assert_null(argv[argc]);
    free(argv);
}
#define WORDS(line, ...) words_are(line, (const char *const[]){__VA_ARGS__, NULL})

static void words_quoted(const char *word, const char *quoted)
{
    struct odb_buf out = ODB_BUF_INIT;
    odb_words_quote(&out, word);
    assert_string_equal(odb_buf_text(&out), quoted);
    WORDS(quoted, word);
    odb_buf_dispose(&out);
}

static void test_words__split(void **state)
{
    words_are("", (const char *const[]){NULL});
    words_are(" \t\n ", (const char *const[]){NULL});
    WORDS("a", "a");
    WORDS("  export  conv1\t-o  repro ", "export", "conv1", "-o", "repro");
    WORDS("print x[0,:,2]", "print", "x[0,:,2]");
    WORDS("'a b' \"c d\" e\\ f", "a b", "c d", "e f");
    WORDS("a'b c'd\"e f\"", "ab cde f");
    WORDS("'' \"\"", "", "");
}

static void test_words__backslash(void **state)
{
    WORDS("\\a\\'\\\"\\\\", "a'\"\\");
    WORDS("\"\\a\\'\\\"\\\\\"", "\\a\\'\"\\");
    WORDS("'\\a\\\"\\'", "\\a\\\"\\");
    WORDS("a\\", "a\\"); /* nothing behind it to keep */
}

static void test_words__open_quote(void **state)
{
    static const char *const lines[] = {"'", "a 'b", "a \"b\\\"", "a '\\' '", "\"'"};
    for (size_t i = 0; i < ODB_COUNT(lines); i++) {
        char **argv;
        int argc;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_words_split(&argv, &argc, lines[i], &err), ODB_E_USAGE);
        assert_non_null(strstr(err.what, "not closed"));
    }
}

static void test_words__quote(void **state)
{
    words_quoted("conv1", "conv1");
    words_quoted("", "''");
    words_quoted("/a/b:0[1,2]", "/a/b:0[1,2]");
    words_quoted("a b", "'a b'");
    words_quoted("a\\b", "'a\\b'");
    words_quoted("say \"x\"", "'say \"x\"'");
    words_quoted("it's", "\"it's\"");
    words_quoted("it's \"\\\"", "\"it's \\\"\\\\\\\"\"");
    words_quoted("\xff\xfe\x01", "\xff\xfe\x01");
    words_quoted("a\nb", "'a\nb'");
}

/* Whatever stands in names comes back, alone and in company. */
static void test_words__round_trip(void **state)
{
    static const char alphabet[] = "a \t\n'\"\\[]~#-\x01\x7f\x80\xc3\xa4\xff";
    srandom(1);
    for (int round = 0; round < 20000; round++) {
        char words[4][9];
        const char *list[5] = {words[0], words[1], words[2], words[3], NULL};
        struct odb_buf line = ODB_BUF_INIT;
        size_t n = 1 + (size_t)random() % 4;
        for (size_t i = 0; i < n; i++) {
            size_t len = (size_t)random() % sizeof words[i];
            for (size_t j = 0; j < len; j++)
                words[i][j] = alphabet[(size_t)random() % (sizeof alphabet - 1)];
            words[i][len] = '\0';
            odb_buf_puts(&line, i ? " " : "");
            odb_words_quote(&line, words[i]);
        }
        list[n] = NULL;
        words_are(odb_buf_text(&line), list);
        odb_buf_dispose(&line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__split),      cmocka_unit_test(test_words__backslash),
        cmocka_unit_test(test_words__open_quote), cmocka_unit_test(test_words__quote),
        cmocka_unit_test(test_words__round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
