/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formulas of a plan: what they come to, against NumPy, and what they refuse.
 */
#include "sequence/plan/formula.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tensor/dtype.h"

static struct odb_error err;

/* --- names ------------------------------------------------------------------------------------ */

struct names {
    ODB_VEC(char *) names;
    ODB_VEC(struct odb_tensor *) tensors;
};

static const struct odb_tensor *names_find(void *payload, const char *name)
{
    const struct names *names = payload;
    for (size_t i = 0; i < names->names.n; i++)
        if (!strcmp(names->names.items[i], name))
            return names->tensors.items[i];
    return NULL;
}

static void names_add_take(struct names *names, const char *name, struct odb_tensor *t)
{
    odb_push(&names->names, odb_xstrdup(name));
    odb_push(&names->tensors, t);
}

static void names_add(struct names *names, const char *name, enum odb_dtype dtype, int rank,
                      const int64_t *dims, const double *v)
{
    struct odb_tensor *t;
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, v ? v[i] : (double)i);
    names_add_take(names, name, t);
}

static void names_dispose(struct names *names)
{
    for (size_t i = 0; i < names->names.n; i++) {
        free(names->names.items[i]);
        odb_tensor_unref(names->tensors.items[i]);
    }
    free(names->names.items);
    free(names->tensors.items);
}

/* x float [2,3], h float16 [1,2,2], past int64 [2], 'a/b' int64 [1], z complex, q int4, s texts. */
static void names_usual(struct names *names)
{
    *names = (struct names){0};
    names_add(names, "x", ODB_F32, 2, (int64_t[]){2, 3}, NULL);
    names_add(names, "h", ODB_F16, 3, (int64_t[]){1, 2, 2}, NULL);
    names_add(names, "past", ODB_I64, 1, (int64_t[]){2}, (double[]){40, 41});
    names_add(names, "a/b", ODB_I64, 1, (int64_t[]){1}, (double[]){7});
    names_add(names, "it's", ODB_I64, 1, (int64_t[]){1}, (double[]){8});
    names_add(names, "z", ODB_C64, 1, (int64_t[]){2}, NULL);
    names_add(names, "q", ODB_I4, 1, (int64_t[]){3}, NULL);
    struct odb_tensor *t;
    assert_int_equal(odb_tensor_new(&t, ODB_STRING, 1, (int64_t[]){2}, &err), ODB_OK);
    names_add_take(names, "s", t);
}

static enum odb_status value(struct odb_tensor **out, struct names *names, const char *text,
                             int64_t most)
{
    const struct odb_formula_scope scope = {
        .find = names_find, .payload = names, .t = 3, .n = 2, .past = 5, .total = 7, .most = most};
    struct odb_formula *formula = NULL;
    *out = NULL;
    err = (struct odb_error)ODB_ERROR_INIT;
    enum odb_status status = odb_formula_parse(&formula, text, &err);
    if (status == ODB_OK)
        status = odb_formula_value(out, formula, &scope, &err);
    odb_formula_free(formula);
    assert_true((status == ODB_OK) == (*out != NULL));
    return status;
}

/* --- against NumPy ---------------------------------------------------------------------------- */

/* The next field of a line of formulas.py. */
static char *field(char **line)
{
    char *text = strsep(line, "\t\n");
    assert_non_null(text);
    return text;
}

static struct odb_tensor *read_tensor(char **line)
{
    struct odb_tensor *t;
    int64_t dims[ODB_MAX_RANK];
    int rank = 0;
    enum odb_dtype dtype = odb_dtype_parse(field(line));
    char *shape = field(line), *bytes = field(line);
    for (char *dim; strcmp(shape ? shape : "-", "-") != 0 && (dim = strsep(&shape, ","));)
        dims[rank++] = atoll(dim);
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, &err), ODB_OK);
    assert_int_equal(strlen(bytes), t->bytes ? 2 * t->bytes : 1);
    for (size_t i = 0; i < t->bytes; i++)
        assert_int_equal(sscanf(bytes + 2 * i, "%2hhx", (unsigned char *)t->data + i), 1);
    return t;
}

/* One type and shape, and the same bits; a computed NaN may have any. */
static bool same(const struct odb_tensor *a, const struct odb_tensor *b)
{
    bool equal = a->dtype == b->dtype && odb_tensor_same_shape(a, b);
    for (size_t i = 0; equal && i < a->count; i++) {
        size_t size = a->bytes / a->count;
        equal = !memcmp((char *)a->data + i * size, (char *)b->data + i * size, size) ||
                (isnan(odb_tensor_f64(a, i)) && isnan(odb_tensor_f64(b, i)));
    }
    return equal;
}

static void test_formula__numpy(void **state)
{
    const char *tier = getenv("ONNXDBG_TIER"), *python = "/usr/bin/python3";
    struct names names = {0};
    char command[200], *line = NULL;
    size_t size = 0, n = 0;
    bool all = tier && !strcmp(tier, "all");
    (void)state;
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) {
        print_message("skipped: there is no %s with numpy\n", python);
        skip();
    }
    snprintf(command, sizeof command, "%s tests/sequences/formulas.py 27 %d", python,
             all ? 20000 : 500);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    while (getline(&line, &size, list) > 0) {
        char *rest = line, *what = field(&rest), *text = field(&rest);
        struct odb_tensor *want = strcmp(what, "fails") ? read_tensor(&rest) : NULL, *got = NULL;
        if (!strcmp(what, "let")) {
            names_add_take(&names, text, want);
            continue;
        }
        enum odb_status status = value(&got, &names, text, 0);
        if (status != (want ? ODB_OK : ODB_E_INPUT))
            fail_msg("%s: status %d, %s", text, status, err.what);
        if (want && !same(want, got))
            fail_msg("%s: %s of %zu elements, the first is %g; NumPy has %s of %zu, %g", text,
                     odb_dtype_info(got->dtype)->name, got->count,
                     got->count ? odb_tensor_f64(got, 0) : 0, odb_dtype_info(want->dtype)->name,
                     want->count, want->count ? odb_tensor_f64(want, 0) : 0);
        odb_tensor_unref(want);
        odb_tensor_unref(got);
        n++;
    }
    assert_int_equal(pclose(list), 0);
    assert_true(n >= 500);
    free(line);
    names_dispose(&names);
}

/* --- by hand ---------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum odb_dtype dtype;
    const char *shape;
    double v[6];
} cases[] = {
    {"past", ODB_I64, "()", {5}}, /* in quotes it is a value */
    {"'past'", ODB_I64, "(2,)", {40, 41}},
    {"\"past\"[1]+past", ODB_I64, "()", {46}},
    {"'a/b'*2", ODB_I64, "(1,)", {14}},
    {"\"it's\"", ODB_I64, "(1,)", {8}},
    {"t>0", ODB_BOOL, "()", {1}},
    {"x[:,-1:]+1", ODB_F64, "(2, 1)", {3, 6}},
    {" x [ 1 , : : 2 ] ", ODB_F32, "(2,)", {3, 5}},
    {"x[n-1,t-1]", ODB_F32, "()", {5}},
    {"2+3*4-6//4%3", ODB_I64, "()", {13}},
    {"-7//2", ODB_I64, "()", {-4}},
    {"- -2", ODB_I64, "()", {2}},
    {"-0.0", ODB_F64, "()", {-0.0}},
    {"1//0", ODB_I64, "()", {0}},
    {"1.0//0.1", ODB_F64, "()", {9}}, /* and not 10: 0.1 is a little more than that */
    {"-9223372036854775807-1", ODB_I64, "()", {-0x1p63}},
    {"1e999", ODB_F64, "()", {INFINITY}},
    {"(1<2)+(2<=2)", ODB_I64, "()", {2}},
    {"concat(h,h[:,:1],1)", ODB_F16, "(1, 3, 2)", {0, 1, 2, 3, 0, 1}},
    {"concat(h[:,:1],ones(1,1,2),1)", ODB_F64, "(1, 2, 2)", {0, 1, 1, 1}},
    {"where(t>0,h,zeros(7))", ODB_F16, "(1, 2, 2)", {0, 1, 2, 3}},
    {"where('a/b'<0,nothing,x[:1])", ODB_F32, "(1, 3)", {0, 1, 2}},
    {"where(x>2,x,-1)", ODB_F64, "(2, 3)", {-1, -1, -1, 3, 4, 5}},
    {"where(x>2,x,x[:1])", ODB_F32, "(2, 3)", {0, 1, 2, 3, 4, 5}},
    {"put(x,1,x[:,:2],-1)", ODB_F32, "(2, 3)", {0, 0, 1, 3, 3, 4}},
    {"put(x,-1,zeros(1,3),0)", ODB_F32, "(2, 3)", {0, 1, 2, 0, 0, 0}},
    {"roll(x,1)", ODB_F32, "(2, 3)", {2, 0, 1, 5, 3, 4}},
    {"roll('past',-9223372036854775807-1)", ODB_I64, "(2,)", {40, 41}},
    {"gather(x,arange(2,0),1)", ODB_F32, "(2, 0)", {0}},
    {"gather(x,full(-1,1,1))", ODB_F32, "(1, 1, 3)", {3, 4, 5}},
    {"gather(x,-1,1)", ODB_F32, "(2,)", {2, 5}},
    {"argmax(x)", ODB_I64, "(2,)", {2, 2}},
    {"cumsum(x>0)-1", ODB_I64, "(2, 3)", {-1, 0, 1, 0, 1, 2}},
    {"len(x,-1)", ODB_I64, "()", {3}},
    {"z", ODB_C64, "(2,)", {0, 1}},
    {"roll(z,1)", ODB_C64, "(2,)", {1, 0}},
    {"q[1:]", ODB_I4, "(2,)", {1, 2}},
    {"q+1", ODB_I64, "(3,)", {1, 2, 3}},
};

static void test_formula__by_hand(void **state)
{
    struct names names;
    struct odb_tensor *t;
    char shape[64];
    (void)state;
    names_usual(&names);
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        if (value(&t, &names, cases[i].text, 0) != ODB_OK)
            fail_msg("%s: %s", cases[i].text, err.what);
        if (t->dtype != cases[i].dtype)
            fail_msg("%s is %s", cases[i].text, odb_dtype_info(t->dtype)->name);
        assert_string_equal(odb_shape_text(t, shape, sizeof shape), cases[i].shape);
        for (size_t k = 0; k < t->count; k++) {
            double had = odb_tensor_f64(t, k), want = cases[i].v[k];
            if (had != want || signbit(had) != signbit(want))
                fail_msg("%s: element %zu is %g, not %g", cases[i].text, k, had, want);
        }
        odb_tensor_unref(t);
    }
    names_dispose(&names);
}

/* A cache that only passes through is never copied. */
static void test_formula__passes_through(void **state)
{
    static const char *const texts[] = {"h", "h[...]", "where(t>0,h,x)", "(h)[:,:]"};
    struct names names;
    struct odb_tensor *t;
    (void)state;
    names_usual(&names);
    for (size_t i = 0; i < ODB_COUNT(texts); i++) {
        assert_int_equal(value(&t, &names, texts[i], 0), ODB_OK);
        assert_ptr_equal(t, names_find(&names, "h"));
        odb_tensor_unref(t);
    }
    names_dispose(&names);
}

static void test_formula__names(void **state)
{
    struct odb_formula *formula;
    (void)state;
    assert_int_equal(
        odb_formula_parse(&formula, "where(t>n,b.1+a,concat('a',\"past\",past))[total]", &err),
        ODB_OK);
    static const char *const want[] = {"b.1", "a", "past"};
    for (size_t i = 0; i < ODB_COUNT(want); i++)
        assert_string_equal(odb_formula_name(formula, i), want[i]);
    assert_null(odb_formula_name(formula, ODB_COUNT(want)));
    odb_formula_free(formula);
    odb_formula_free(NULL);
}

/* --- errors ----------------------------------------------------------------------------------- */

static const struct {
    const char *text, *what; /* what: behind "formula 'TEXT', " */
} refused[] =
    {
        {"", "character 1: a number, a name or ( is missing"},
        {"past+", "character 6: a number, a name or ( is missing"},
        {"x y", "character 3: nothing more may stand"},
        {"x/2", "character 2: nothing more may stand"},
        {"1<2<3", "character 4: nothing more may stand"},
        {"+1", "character 1: a number, a name or ( is missing"},
        {"(1", "character 3: a ) is missing"},
        {"1)", "character 2: nothing more may stand"},
        {"foo(1)", "character 1: there is no function foo"},
        {"1+ones (2", "character 10: a comma or ) is missing"},
        {"1+concat(x)", "character 3: it is concat(x,…,axis)"},
        {"put(x,1,x)", "character 1: it is put(x,place,y,axis)"},
        {"'a/b", "character 1: a quote is not closed"},
        {"0x10", "character 1: that is neither a number nor a name"},
        {"1_000", "character 1: that is neither a number nor a name"},
        {"1e", "character 1: that is neither a number nor a name"},
        {"9223372036854775808", "character 1: a whole number has 63 bits"},
        {"x[]", "character 3: an index or a range is missing"},
        {"x[1,]", "character 5: an index or a range is missing"},
        {"x[1:2:3:4]", "character 8: a comma or ] is missing"},
        {"x[1 2]", "character 5: a comma or ] is missing"},
        {"x[1", "character 4: a comma or ] is missing"},
},
  without[] = {
      {"nothing+1", "character 1: nothing has no value here"},
      {"1+s", "character 3: s has no numbers here"},
      {"x+x[:,:2]", "character 2: shapes do not fit: 3 and 2 on axis 1"},
      {"x[2]", "character 2: slice '[2]': index 2 at character 2 is outside a dimension of size 2"},
      {"x[...,...]", "character 2: slice '[...,...]': a second ... at character 6"},
      {"x[1.5:]", "character 2: an entry of the slice is no whole number"},
      {"x['past']", "character 2: an entry of the slice is no whole number"},
      {"zeros(2,-n)", "character 1: a dimension of -2"},
      {"ones(x)", "character 1: a term has to be one whole number"},
      {"full(x,2)", "character 1: what it is full of has to be one number"},
      {"argmax(x,2)", "character 1: a tensor of rank 2 has no axis 2"},
      {"argmax(x[:,:0])", "character 1: there is no largest of nothing"},
      {"1+concat(x,x[:1],1)", "character 3: pieces differ in more than axis 1"},
      {"gather(x,2)", "character 1: there is no place 2 on an axis of 2"},
      {"gather(x,0.5)", "character 1: places have to be whole numbers"},
      {"put(x,2,x,0)", "character 1: 2 from place 2 on are not on an axis of 2"},
      {"put(x,9223372036854775807,x,0)",
       "character 1: 2 from place 9223372036854775807 on are not on an axis of 2"},
      {"put(x,0,x[:1],1)", "character 1: shapes differ in more than axis 1"},
      {"where(x>2,'past',x)", "character 1: shapes do not fit: 3 and 2 on axis 1"},
      {"z+1", "character 2: there is no arithmetic with complex numbers"},
      {"concat(z,'past',0)", "character 1: complex numbers keep to themselves"},
      {"roll(q,1)", "character 1: elements of int4 do not stand in bytes of their own"},
      {"zeros(1000,1001)", "character 1: that makes too many elements"},
      {"arange(0,9223372036854775807)", "character 1: that makes too many elements"},
      {"arange(-9223372036854775807,9223372036854775807)",
       "character 1: that makes too many elements"},
      {"len(zeros(600,1000))+len(zeros(600,1000))", "character 26: that makes too many elements"},
      {"zeros(1000,1)+zeros(1,1001)", "character 14: that makes too many elements"},
      {"concat(zeros(500000),zeros(300000),0)", "character 1: that makes too many elements"},
      {"zeros(0,9223372036854775807)", "character 1: that makes too many elements"},
};

static void test_formula__errors(void **state)
{
    struct names names;
    struct odb_tensor *t;
    char want[400];
    (void)state;
    names_usual(&names);
    for (size_t i = 0; i < ODB_COUNT(refused) + ODB_COUNT(without); i++) {
        bool parsed = i >= ODB_COUNT(refused);
        const char *text = parsed ? without[i - ODB_COUNT(refused)].text : refused[i].text;
        snprintf(want, sizeof want, "formula '%s', %s", text,
                 parsed ? without[i - ODB_COUNT(refused)].what : refused[i].what);
        assert_int_equal(value(&t, &names, text, 1000000), parsed ? ODB_E_INPUT : ODB_E_USAGE);
        assert_string_equal(err.what, want);
    }
    names_dispose(&names);
}

/* Neither brackets nor length lead anywhere but to an error. */
static void test_formula__bounds(void **state)
{
    static const struct {
        const char *first, *more, *last;
        size_t most; /* more of them fail */
        const char *what;
    } shapes[] = {
        {"1", "+1", "", 199, "it is too long"},  {"(", "(", "1", 50, "it is too deep"},
        {"", "-", "1", 39, "it is too deep"},    {"x[:", ",:", "]", 100000, NULL},
        {"x", "[:]", "", 399, "it is too long"}, {"len(", "len(", "x", 50, "it is too deep"},
    };
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(shapes); i++)
        for (int over = 0; over < 2; over++) {
            struct odb_buf text = ODB_BUF_INIT;
            struct odb_formula *formula = NULL;
            odb_buf_puts(&text, shapes[i].first);
            for (size_t k = 0; k < shapes[i].most + (size_t)over; k++)
                odb_buf_puts(&text, shapes[i].more);
            odb_buf_puts(&text, shapes[i].last);
            enum odb_status status = odb_formula_parse(&formula, odb_buf_text(&text), &err);
            if (shapes[i].what && (over || strchr(shapes[i].more, '('))) {
                assert_int_equal(status, ODB_E_USAGE);
                assert_non_null(strstr(err.what, shapes[i].what));
            } else {
                assert_int_equal(status, ODB_OK);
            }
            odb_formula_free(formula);
            odb_buf_dispose(&text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula__numpy),  cmocka_unit_test(test_formula__by_hand),
        cmocka_unit_test(test_formula__names),  cmocka_unit_test(test_formula__passes_through),
        cmocka_unit_test(test_formula__errors), cmocka_unit_test(test_formula__bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
