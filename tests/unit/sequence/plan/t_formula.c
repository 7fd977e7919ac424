/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formulas of a plan. What they come to is NumPy's; where each row came from is the expression with
 * "np." before its functions, put into places by hand.
 */
#include "sequence/plan/formula.h"

#include "tensor/tensor_print.h"
#include "tests/help/models.h"

/* x: 2 rows of 0 to 5 as floats; ids: (1, 3) of 7 8 9; half: float16; a/b: one number, 4. */
struct names {
    struct odb_tensor *x, *ids, *half, *odd;
};

static const struct odb_tensor *names_find(void *payload, const char *name)
{
    const struct names *names = payload;
    return !strcmp(name, "x")       ? names->x
           : !strcmp(name, "ids")   ? names->ids
           : !strcmp(name, "half")  ? names->half
           : !strcmp(name, "a/b:0") ? names->odd
                                    : NULL;
}

static void names_make(struct names *names)
{
    const float x[] = {0, 1, 2, 3, 4, 5};
    const int64_t ids[] = {7, 8, 9}, four = 4;
    const uint16_t half[] = {0x3c00, 0x4000}; /* 1, 2 */
    names->x = models_f32(2, (int64_t[]){2, 3}, x);
    MODELS_OK(odb_tensor_copy_of(&names->ids, ODB_I64, 2, (int64_t[]){1, 3}, ids, &why));
    MODELS_OK(odb_tensor_copy_of(&names->half, ODB_F16, 1, (int64_t[]){2}, half, &why));
    MODELS_OK(odb_tensor_copy_of(&names->odd, ODB_I64, 0, NULL, &four, &why));
}

static void names_free(struct names *names)
{
    odb_tensor_unref(names->x);
    odb_tensor_unref(names->ids);
    odb_tensor_unref(names->half);
    odb_tensor_unref(names->odd);
}

/* "float (2, 3) 0 1 2 3 4 5", or "error WHAT"; step 2 of pieces 4, 1, 1. */
static char *formula_text(const char *text)
{
    struct names names;
    struct odb_formula *formula = NULL;
    struct odb_tensor *t = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf out = ODB_BUF_INIT;
    char shape[96];
    names_make(&names);
    struct odb_formula_scope scope = {names_find, &names, 2, 1, 5, 6};
    enum odb_status status = odb_formula_parse(&formula, text, &err);
    if (status == ODB_OK)
        status = odb_formula_value(&t, formula, &scope, &err);
    if (status == ODB_OK)
        odb_buf_printf(&out, "%s %s", odb_dtype_info(t->dtype)->name,
                       odb_shape_text(t, shape, sizeof shape));
    else
        odb_buf_printf(&out, "error %s", err.what);
    for (size_t i = 0; t && i < t->count; i++)
        odb_buf_printf(&out, " %g", odb_tensor_f64(t, i));
    odb_tensor_unref(t);
    odb_formula_free(formula);
    names_free(&names);
    return odb_buf_take(&out);
}

static void formula_holds(const char *text, const char *wanted)
{
    char *had = formula_text(text);
    if (strcmp(had, wanted) != 0)
        fail_msg("%s is %s, not %s", text, had, wanted);
    free(had);
}

static void test_formula__numbers(void **state)
{
    (void)state;
    formula_holds("1", "int64 () 1");
    formula_holds("t+n*past-total", "int64 () 1");
    formula_holds("-7//2", "int64 () -4");
    formula_holds("-7%3", "int64 () 2");
    formula_holds("7//0", "int64 () 0");
    formula_holds("2.5*2", "double () 5");
    formula_holds("-2.5//1", "double () -3");
    formula_holds("1<2", "bool () 1");
    formula_holds("(1+2)*3==9", "bool () 1");
    formula_holds("1-1-1", "int64 () -1");
    formula_holds("1!=1", "bool () 0");
}

static void test_formula__names(void **state)
{
    (void)state;
    formula_holds("ids", "int64 (1, 3) 7 8 9");
    formula_holds("half", "float16 (2,) 1 2");
    formula_holds("'a/b:0'+1", "int64 () 5");
    formula_holds("ids+x", "double (2, 3) 7 9 11 10 12 14");
    formula_holds("x[1]", "float (3,) 3 4 5");
    formula_holds("x[:,-1:]", "float (2, 1) 2 5");
    formula_holds("x[0,t]", "float () 2");
    formula_holds("x[...,n:t+1]", "float (2, 2) 1 2 4 5");
    formula_holds("ids[0,::-1]", "int64 (3,) 9 8 7");
}

static void test_formula__functions(void **state)
{
    (void)state;
    formula_holds("arange(past,total)", "int64 (1,) 5");
    formula_holds("arange(3)", "int64 (3,) 0 1 2");
    formula_holds("arange(3,1)", "int64 (0,)");
    formula_holds("zeros(1,1)+arange(2,4)", "int64 (1, 2) 2 3");
    formula_holds("ones(len(ids),2)", "int64 (1, 2) 1 1");
    formula_holds("ones()", "int64 () 1");
    formula_holds("full(2.5,2)", "double (2,) 2.5 2.5");
    formula_holds("len(ids,-1)", "int64 () 3");
    formula_holds("concat(ids,ones(1,n),1)", "int64 (1, 4) 7 8 9 1");
    formula_holds("concat(x[:1],x,0)", "float (3, 3) 0 1 2 0 1 2 3 4 5");
    formula_holds("concat(half,half,0)", "float16 (4,) 1 2 1 2");
    formula_holds("cumsum(ids)", "int64 (1, 3) 7 15 24");
    formula_holds("cumsum(x,0)", "double (2, 3) 0 1 2 3 5 7");
    formula_holds("argmax(x)", "int64 (2,) 2 2");
    formula_holds("argmax(x,0)", "int64 (3,) 1 1 1");
    formula_holds("where(t>0,ids,x)", "int64 (1, 3) 7 8 9");
    formula_holds("where(t<0,ids,x)", "float (2, 3) 0 1 2 3 4 5");
    formula_holds("where(x>2,x,0*x)", "double (2, 3) 0 0 0 3 4 5");
    formula_holds("put(ids,1,full(1,1,1),1)", "int64 (1, 3) 7 1 9");
    formula_holds("put(half,0,ones(1),0)", "float16 (2,) 1 2");
    formula_holds("roll(ids,1)", "int64 (1, 3) 9 7 8");
    formula_holds("roll(x,-1,0)", "float (2, 3) 3 4 5 0 1 2");
    formula_holds("gather(ids,arange(2),1)", "int64 (1, 2) 7 8");
    formula_holds("gather(x,-1)", "float (1, 3) 3 4 5");
}

static void test_formula__refuses(void **state)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"", "a number, a name or ( is missing at character 1"},
        {"1+", "is missing at character 3"},
        {"1 2", "nothing more may stand at character 3"},
        {"(1", "a ) is missing"},
        {"x[1", "a comma or ] is missing"},
        {"x[1 2]", "a comma or ] is missing"},
        {"open('x')", "there is no such function"},
        {"len()", "it is len(x[,axis])"},
        {"'x", "a quote is not closed"},
        {"1<2<3", "nothing more may stand"},
        {"nothing", "nothing has no value here, at character 1"},
        {"x+arange(2)", "shapes do not fit"},
        {"x[0.5]", "an entry of a slice is no whole number"},
        {"ones(-1)", "out of range"},
        {"ones(1000000,1000000)", "out of range"},
        {"arange(1000000000)", "too long"},
        {"len(x,2)", "no such axis"},
        {"put(ids,3,full(1,1,1),1)", "are not on axis 1"},
        {"gather(ids,3,1)", "are not on axis 1"},
        {"concat(x,ids,0)+1", NULL},
        {"concat(x,ids,1)", "differ in more than axis 1"},
    };
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        char *had = formula_text(rows[i].text);
        bool error = !strncmp(had, "error ", 6);
        if (error != (rows[i].part != NULL) || (error && !strstr(had, rows[i].part)))
            fail_msg("%s: %s", rows[i].text, had);
        free(had);
    }
}

/* Deep and long ones are refused, and no stack runs out. */
static void test_formula__bounded(void **state)
{
    struct odb_buf deep = ODB_BUF_INIT, minus = ODB_BUF_INIT, wide = ODB_BUF_INIT;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        odb_buf_putc(&deep, '(');
        odb_buf_putc(&minus, '-');
        odb_buf_puts(&wide, "1+");
    }
    const char *texts[] = {deep.data, minus.data, wide.data};
    for (size_t i = 0; i < ODB_COUNT(texts); i++) {
        struct odb_formula *formula = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_formula_parse(&formula, texts[i], &err), ODB_E_USAGE);
    }
    odb_buf_dispose(&deep);
    odb_buf_dispose(&minus);
    odb_buf_dispose(&wide);
}

static void test_formula__reads(void **state)
{
    struct odb_formula *formula = NULL;
    (void)state;
    MODELS_OK(odb_formula_parse(&formula, "concat(b,a[:,t:],b,1)+total", &why));
    assert_string_equal(odb_formula_name(formula, 0), "b");
    assert_string_equal(odb_formula_name(formula, 1), "a");
    assert_null(odb_formula_name(formula, 2));
    odb_formula_free(formula);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula__numbers),   cmocka_unit_test(test_formula__names),
        cmocka_unit_test(test_formula__functions), cmocka_unit_test(test_formula__refuses),
        cmocka_unit_test(test_formula__bounded),   cmocka_unit_test(test_formula__reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
