/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators on strings. Text with blanks cannot be written as op_case.h does, so helpers here take
 * lists of strings.
 */
#include "tests/help/op_case.h"

#include "kernels/text/regex.h"

#define STRING_OK(call) assert_int_equal(call, ODB_OK)

/* A vector of strings; the list ends with NULL. */
static struct odb_tensor *string_list(const char *const *list)
{
    struct odb_tensor *t;
    int64_t n = 0;
    while (list[n])
        n++;
    STRING_OK(odb_tensor_new(&t, ODB_STRING, 1, &n, NULL));
    for (int64_t i = 0; i < n; i++)
        STRING_OK(odb_tensor_set_string(t, (size_t)i, list[i], strlen(list[i]), NULL));
    return t;
}

static void string_assert(const struct odb_tensor *t, const char *const *want)
{
    const struct odb_str *s = t->data;
    for (size_t i = 0; i < t->count; i++)
        assert_string_equal(s[i].data, want[i] ? want[i] : "(the end)");
    assert_null(want[t->count]);
}

#define STRINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- StringConcat ----------------------------------------------------------------------------- */

static void test_string__concat(void **state)
{
    OP_EXPECT(0, OP("StringConcat", 20, NULL, {"string[2] a b", "string[2] '' .com"}),
              "string[2] a b.com");
    OP_EXPECT(0, OP("StringConcat", 20, NULL, {"string[2,1] a b", "string[3] x y z"}),
              "string[2,3] ax ay az bx by bz");
    OP_EXPECT(0, OP("StringConcat", 20, NULL, {"string[] a", "string[] b"}), "string[] ab");
    OP_EXPECT(0, OP("StringConcat", 20, NULL, {"string[0,2]", "string[1] b"}), "string[0,2]");
    op_expect_error(
        &(struct op_call)OP("StringConcat", 20, NULL, {"string[2] a b", "string[3] c d e"}),
        ODB_E_OPERATOR);
}

/* --- StringSplit ------------------------------------------------------------------------------ */

/* Splits one string; want: its parts. */
static void string_split(const char *attrs, const char *text, const char *const *want)
{
    struct op_call c = {.op = "StringSplit", .opset = 20, .attrs = attrs};
    struct odb_tensor *x = string_list(STRINGS(text)), *out[2];
    STRING_OK(op_run(&c, 1, &x, 2, out, NULL));
    assert_int_equal(out[0]->rank, 2);
    assert_int_equal(out[0]->dims[1], odb_tensor_i64(out[1], 0));
    string_assert(out[0], want);
    odb_tensor_unref(x);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
}

static void test_string__split(void **state)
{
    string_split(NULL, "  a  b\tc\n", STRINGS("a", "b", "c"));
    string_split("maxsplit=1", "  a  b c ", STRINGS("a", "b c "));
    string_split("maxsplit=0", " a b", STRINGS("a b"));
    string_split("maxsplit=2", "a b", STRINGS("a", "b"));
    string_split(NULL,
                 "a\xc2\xa0"
                 "b\xe3\x80\x80"
                 "c",
                 STRINGS("a", "b", "c"));
    string_split(NULL, "", (const char *const[]){NULL});
    string_split(NULL, " \t ", (const char *const[]){NULL});
    string_split("delimiter=/", "a//b/", STRINGS("a", "", "b", ""));
    string_split("delimiter=--", "a---b", STRINGS("a", "-b"));
    string_split("delimiter=-- maxsplit=1", "a--b--c", STRINGS("a", "b--c"));
    string_split("delimiter=/ maxsplit=0", "a/b", STRINGS("a/b"));
    string_split("delimiter=/", "", STRINGS(""));
    string_split("delimiter=/", " a b ", STRINGS(" a b "));
}

static void test_string__split_pads(void **state)
{
    OP_EXPECT(0, OP("StringSplit", 20, "delimiter=.", {"string[2,1] a.b.c d"}),
              "string[2,1,3] a b c d '' ''", "int64[2,1] 3 1");
    OP_EXPECT(0, OP("StringSplit", 20, NULL, {"string[0,3]"}), "string[0,3,0]", "int64[0,3]");
    OP_EXPECT(0, OP("StringSplit", 20, NULL, {"string[] a"}), "string[1] a", "int64[] 1");
    struct op_call c = {.op = "StringSplit", .opset = 20};
    struct odb_tensor *x = string_list(STRINGS("\xff")), *out[2] = {NULL, NULL};
    assert_int_equal(op_run(&c, 1, &x, 2, out, NULL), ODB_E_OPERATOR);
    odb_tensor_unref(x);
}

/* --- StringNormalizer ------------------------------------------------------------------------- */

static void test_string__normalizer(void **state)
{
    static const char *const op = "StringNormalizer";
    OP_EXPECT(0, OP(op, 10, NULL, {"string[3] Mo Tu ''"}), "string[3] Mo Tu ''");
    OP_EXPECT(0, OP(op, 10, "stopwords=MO; case_change_action=LOWER", {"string[3] Mo Tu We"}),
              "string[2] tu we");
    OP_EXPECT(0,
              OP(op, 10, "stopwords=MO; is_case_sensitive=1 case_change_action=UPPER",
                 {"string[1,3] Mo MO We"}),
              "string[1,2] MO WE");
    OP_EXPECT(0, OP(op, 10, "stopwords=a;b;", {"string[2] A b"}), "string[1] ''");
    OP_EXPECT(0, OP(op, 10, "stopwords=a;b;", {"string[1,2] A b"}), "string[1,1] ''");
    OP_EXPECT(0, OP(op, 10, NULL, {"string[0]"}), "string[1] ''");
    OP_EXPECT(0, OP(op, 10, "case_change_action=UPPER locale=de_DE.UTF-8", {"string[3] äß œ ǆ"}),
              "string[3] Äß Œ Ǆ");
    OP_EXPECT(0, OP(op, 10, "case_change_action=LOWER", {"string[3] ÀΣ Ж I"}), "string[3] àσ ж i");
    OP_EXPECT(0, OP(op, 10, "stopwords=straße; case_change_action=UPPER", {"string[2] STRAßE x"}),
              "string[1] X");
    op_expect_error(&(struct op_call)OP(op, 10, NULL, {"string[2,1] a b"}), ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP(op, 10, "case_change_action=Lower", {"string[1] a"}),
                    ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP(op, 10, "case_change_action=LOWER", {"string[1] \xc3"}),
                    ODB_E_OPERATOR);
    op_expect_error(
        &(struct op_call)OP(op, 10, "case_change_action=LOWER locale=tr_TR", {"string[1] I"}),
        ODB_UNSUPPORTED);
    OP_EXPECT(0, OP(op, 10, "is_case_sensitive=1 locale=tr_TR", {"string[1] I"}), "string[1] I");
}

/* --- RegexFullMatch --------------------------------------------------------------------------- */

static enum odb_status string_match(const char *pattern, const char *text, bool *matches)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_regex *regex = NULL;
    enum odb_status status =
        odb_regex_new(&regex, (struct odb_str){pattern, strlen(pattern)}, &err);
    *matches = false;
    if (status == ODB_OK)
        status = odb_regex_match(regex, (struct odb_str){text, strlen(text)}, matches, &err);
    odb_regex_free(regex);
    assert_true(status == ODB_OK || (err.what[0] && err.code == status));
    return status;
}

/* Each row: pattern, what it matches, what it does not; of RE2's documentation. */
static const char *const string_patterns[][3] = {
    {"a.c", "abc", "a\nc"},
    {"(?s)a.c", "a\nc", "ac"},
    {"a|ab", "ab", "abc"}, /* not what a search would find first */
    {"(a|ab)(c|bcd)(d*)", "abcd", "abc d"},
    {"a*?", "aaa", "b"},
    {"x{2,3}", "xxx", "xxxx"},
    {"x{,3}", "x{,3}", "xx"},
    {"x{", "x{", "x"},
    {"(?i)straSSe", "STRAsse", "strase"},
    {"(?i:a)b", "Ab", "AB"},
    {"a(?i)b", "aB", "Ab"},
    {"(?P<name>a)(?<other>b)(?:c)", "abc", "ab"},
    {"[[:alpha:]]+", "abC", "ab1"},
    {"[^[:^digit:]]", "7", "x"},
    {"\\d\\D\\w\\W", "1a_-", "aaaa"},
    {"\\s\\S", " a", "\va"}, /* the vertical tab is no white space */
    {"[\\s\\d]", "\t", "\v"},
    {"[\\S]", "\v", " "},
    {"[\\s\\S]", "\n", ""},
    {"\\v", "\v", "\n"},
    {"\\pL\\p{Greek}\\P{Lu}", "äωa", "äωA"},
    {"\\p{^Lu}", "a", "A"},
    {"\\x41\\x{3a9}\\101", "AΩA", "A"},
    {"\\Qa.b*\\E+", "a.b**", "aab"},
    {"\\Qa\\b", "a\\b", "ab"},
    {"[]a]+", "]a", "b"},
    {"[^]a]", "b", "]"},
    {"[a[.b]+", "[.", "]"},
    {"[a\\]-]+", "]-", "\\"},
    {"^a$", "a", "a\n"},
    {"(?m)^a$\n^b$", "a\nb", "ab"},
    {"(?m)a\n^", "a\n", "a"},
    {"(?m:^a$)(\n|$)", "a\n", "a\n\n"},
    {"((?m)a$)\nb$", "a\nb", "a\nb\n"},
    {"(?m-s)(?-m:a$)|b$\n", "b\n", "a\n"},
    {"[a-z]*c", "abc", "abcb"},
    {"^*\\b+a$*", "a", "^a"},
    {"(?)a", "a", "A"},
    {"[\\d-z]+", "1-z", "y"},
    {"[[:digit:]-z]+", "1-z", "y"},
    {"(?i)\\w[\\w][[:alpha:]]k", "\xc5\xbf\xe2\x84\xaa\xc5\xbf\xe2\x84\xaa", "----"},
    {"(?i)\\W", "\xc3\xa9", "\xc5\xbf"},
    {"\\w|\\W", "\xc5\xbf", ""},
    {"(?i)[\\W]", "[", "k"},
    {"\\Aa\\z", "a", "b"},
    {"a\\b-\\Bc?", "a-", "ab"},
    {"\\.\\-\\/\\_\\%", ".-/_%", "....."},
    {"(a+)+", "aaaa", "aaab"},
    {".", "\xf0\x9f\x90\xa2", "ab"},
    {"", "", "a"},
    {"(|a)b", "b", "a"},
};

static void test_string__regex(void **state)
{
    for (size_t i = 0; i < ODB_COUNT(string_patterns); i++) {
        bool yes, no;
        const char *const *row = string_patterns[i];
        STRING_OK(string_match(row[0], row[1], &yes));
        STRING_OK(string_match(row[0], row[2], &no));
        if (!yes || no)
            fail_msg("%s: '%s' %d, '%s' %d", row[0], row[1], yes, row[2], no);
    }
}

static void test_string__regex_refused(void **state)
{
    static const char *const odd[] = {
        "(a)\\1",     "(?=a)",     "(?!a)",     "(?<=a)b",     "(?>a)",  "a++",       "a*+",
        "a**",        "a{2}{3}",   "x{1001}",   "(?P=n)",      "(?P>n)", "(?R)",      "(?1)",
        "(?#c)",      "(?x)a b",   "\\Z",       "\\G",         "\\K",    "\\R",       "\\X",
        "\\h",        "\\e",       "\\cA",      "\\q",         "\\",     "[a",        "(a",
        "a)",         "*a",        "(*UTF)a",   "[[:nope:]]",  "[z-a]",  "\\p{Nope}", "\\pQ",
        "\\p{greek}", "\\p{L&}",   "\\x4",      "\\x{110000}", "\\8",    "(?P<>a)",   "(?P<n",
        "(?i-)a",     "(?z)",      "[\\Qa\\E]", "[\\b]",       "\xff",   "(?|a)",     "(?C1)a",
        "\\o{101}",   "\\N{U+41}", "\\g1",      "\\p{Lu"};
    bool matches;
    for (size_t i = 0; i < ODB_COUNT(odd); i++)
        if (string_match(odd[i], "a", &matches) != ODB_E_OPERATOR)
            fail_msg("%s was not refused", odd[i]);
    assert_int_equal(string_match("\\C", "a", &matches), ODB_UNSUPPORTED);
    assert_int_equal(string_match("(?i)\\p{Lu}", "a", &matches), ODB_UNSUPPORTED);
    assert_int_equal(string_match("(?i)[[:^word:]]", "a", &matches), ODB_UNSUPPORTED);
    assert_int_equal(string_match("a", "\xff", &matches), ODB_E_OPERATOR);
}

/* Patterns that take other matchers ages. */
static void test_string__regex_is_quick(void **state)
{
    static const char *const slow[] = {"(a|a)*c", "(a*)*c", "(a+a+)+c", "(a?){40}a{40}c"};
    char *text = odb_xcalloc(400, 1);
    bool matches;
    memset(text, 'a', 300);
    for (size_t i = 0; i < ODB_COUNT(slow); i++) {
        strcpy(text + (i == 3 ? 60 : 300), "c");
        STRING_OK(string_match(slow[i], text, &matches));
        assert_true(matches);
        strcat(text, "b");
        STRING_OK(string_match(slow[i], text, &matches));
        assert_false(matches);
    }
    free(text);
}

static void test_string__full_match(void **state)
{
    OP_EXPECT(0,
              OP("RegexFullMatch", 20, "pattern=[a-z]+@x[.]com",
                 {"string[2,2] a@x.com a@xxcom a@x.com. ''"}),
              "bool[2,2] 1 0 0 0");
    OP_EXPECT(0, OP("RegexFullMatch", 20, "pattern=a", {"string[0]"}), "bool[0]");
    op_expect_error(&(struct op_call)OP("RegexFullMatch", 20, NULL, {"string[1] a"}),
                    ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP("RegexFullMatch", 20, "pattern=(a", {"string[1] a"}),
                    ODB_E_OPERATOR);
}

/* --- TfIdfVectorizer -------------------------------------------------------------------------- */

#define STRING_TFIDF(mode, least, most, skips, rest)                                               \
    "mode=" mode " min_gram_length=" least " max_gram_length=" most " max_skip_count=" skips       \
    " " rest
/* 2, 3, 5, 4 and the pairs (5, 6), (7, 8), (6, 7) */
#define STRING_POOL                                                                                \
    "ngram_counts=0,4, ngram_indexes=0,1,2,3,4,5,6, pool_int64s=2,3,5,4,5,6,7,8,6,7, "

static void test_string__tfidf_counts(void **state)
{
    static const char *const op = "TfIdfVectorizer";
    static const char *const x = "int32[12] 1 1 3 3 3 7 8 6 7 5 6 8";
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("TF", "2", "2", "0", STRING_POOL), {x}),
              "float[7] 0 0 0 0 1 1 1");
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("TF", "2", "2", "5", STRING_POOL), {x}),
              "float[7] 0 0 0 0 1 3 1");
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("TF", "1", "2", "5", STRING_POOL), {x}),
              "float[7] 0 3 1 0 1 3 1");
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("IDF", "1", "2", "5", STRING_POOL), {x}),
              "float[7] 0 1 1 0 1 1 1");
    OP_EXPECT(0,
              OP(op, 9, STRING_TFIDF("TF", "1", "1", "9", STRING_POOL), {"int64[2,3] 2 2 9 5 6 4"}),
              "float[2,7] 2 0 0 0 0 0 0 0 0 1 1 0 0 0");
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("TF", "1", "1", "0", STRING_POOL), {"int64[] 3"}),
              "float[7] 0 1 0 0 0 0 0");
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("TF", "1", "1", "0", STRING_POOL), {"int64[2,0]"}),
              "float[2,7] 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("TF", "1", "1", "0", STRING_POOL), {"int64[0,3]"}),
              "float[0,7]");
}

static void test_string__tfidf_weights(void **state)
{
    static const char *const op = "TfIdfVectorizer";
#define STRING_WORDS "ngram_counts=0,2, ngram_indexes=2,0,5, pool_strings=a;b;a;b; "
    OP_EXPECT(0, OP(op, 9, STRING_TFIDF("TF", "1", "2", "1", STRING_WORDS), {"string[3] a x b"}),
              "float[6] 1 0 1 0 0 1");
    OP_EXPECT(1e-7,
              OP(op, 9, STRING_TFIDF("TFIDF", "1", "2", "0", STRING_WORDS "weights=0.5f,2f,3f,"),
                 {"string[4] a b a b"}),
              "float[6] 4 0 1 0 0 6");
    OP_EXPECT(1e-7,
              OP(op, 9, STRING_TFIDF("IDF", "1", "2", "0", STRING_WORDS "weights=0.5f,2f,3f,"),
                 {"string[4] a b a b"}),
              "float[6] 2 0 0.5 0 0 3");
    OP_EXPECT(0,
              OP(op, 9, STRING_TFIDF("TF", "1", "2", "0", STRING_WORDS "weights=0.5f,2f,3f,"),
                 {"string[1,4] a b a b"}),
              "float[1,6] 2 0 2 0 0 2");
    /* several n-grams in one column; a pool of pairs alone */
    OP_EXPECT(
        0,
        OP(op, 9,
           STRING_TFIDF("TF", "1", "1", "0", "ngram_counts=0, ngram_indexes=0,0, pool_int64s=1,2,"),
           {"int64[3] 1 2 3"}),
        "float[1] 2");
    OP_EXPECT(
        0,
        OP(op, 9,
           STRING_TFIDF("TF", "2", "2", "0", "ngram_counts=0,0, ngram_indexes=0, pool_int64s=1,2,"),
           {"int64[3] 1 2 1"}),
        "float[1] 1");
}

static void string_refuse(const char *attrs, const char *x)
{
    op_expect_error(
        &(struct op_call){.op = "TfIdfVectorizer", .opset = 9, .attrs = attrs, .in = {x}},
        ODB_E_OPERATOR);
}

static void test_string__tfidf_refused(void **state)
{
    static const char *const x = "int64[1] 1";
    string_refuse(STRING_TFIDF("TF", "1", "1", "0", STRING_POOL), "string[1] a");
    string_refuse(STRING_TFIDF("TF", "1", "1", "0", STRING_POOL), "int64[1,1,1] 1");
    string_refuse(STRING_TFIDF("FT", "1", "1", "0", STRING_POOL), x);
    string_refuse(STRING_TFIDF("TF", "2", "1", "0", STRING_POOL), x);
    string_refuse(STRING_TFIDF("TF", "0", "1", "0", STRING_POOL), x);
    string_refuse(STRING_TFIDF("TF", "1", "1", "-1", STRING_POOL), x);
    string_refuse(STRING_TFIDF("TF", "1", "1", "0", STRING_POOL "pool_strings=a;"), x);
    string_refuse(STRING_TFIDF("TFIDF", "1", "1", "0", STRING_POOL "weights=1f,"), x);
    string_refuse(STRING_TFIDF("TF", "1", "1", "0",
                               "ngram_counts=0,2, ngram_indexes=0,1,2, pool_int64s=1,2,3,"),
                  x);
    string_refuse(STRING_TFIDF("TF", "1", "1", "0",
                               "ngram_counts=0,9, ngram_indexes=0,1,2, pool_int64s=1,2,3,"),
                  x);
    string_refuse(
        STRING_TFIDF("TF", "1", "1", "0", "ngram_counts=0, ngram_indexes=0, pool_int64s=1,2,3,"),
        x);
    string_refuse(
        STRING_TFIDF("TF", "1", "1", "0", "ngram_counts=0, ngram_indexes=-1, pool_int64s=1,"), x);
    string_refuse(STRING_TFIDF("TF", "1", "1", "0", "ngram_counts=0, pool_int64s=1,"), x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_string__concat),         cmocka_unit_test(test_string__split),
        cmocka_unit_test(test_string__split_pads),     cmocka_unit_test(test_string__normalizer),
        cmocka_unit_test(test_string__regex),          cmocka_unit_test(test_string__regex_refused),
        cmocka_unit_test(test_string__regex_is_quick), cmocka_unit_test(test_string__full_match),
        cmocka_unit_test(test_string__tfidf_counts),   cmocka_unit_test(test_string__tfidf_weights),
        cmocka_unit_test(test_string__tfidf_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
