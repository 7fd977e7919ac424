/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operator table against ONNX's own schemas, as tests/operators.tsv has them: every version of
 * every operator has a row that takes what the schema allows and names its attributes with their
 * defaults; what is deprecated is not served, and no row claims a version that does not exist.
 * All breaches are printed before the test fails, so that one run gives the whole list.
 */
#include "tests/help/schemas.h"

#include <math.h>

/* What stands on purpose. */
static const struct operators_exception {
    const char *name, *text, *why;
} operators_exceptions[] = {
    {"Col2Im", "input 0 does not take string bool complex64 complex128",
     "it adds what overlaps: strings and bools have no sums, and of complex ones nobody makes "
     "images"},
    {"GRU", "direction = forward, the schema's foward", "a slip of the schema"},
    {"GroupNormalization", "deprecated, but served",
     "its meaning is not in doubt, and exporters and ONNX Runtime know opset 18"},
    {NULL, NULL, NULL},
};

/* Rows of opset 1 that no schema has: experiments that ONNX withdrew and old models still hold, and
 * what ONNX Runtime writes into models of any opset. */
static const char *const operators_withdrawn[] = {"Affine",
                                                  "ConstantFill",
                                                  "Crop",
                                                  "DynamicSlice",
                                                  "FC",
                                                  "GivenTensorFill",
                                                  "ImageScaler",
                                                  "MeanVarianceNormalization",
                                                  "ParametricSoftplus",
                                                  "Scale",
                                                  "ScaledTanh",
                                                  "ThresholdedRelu",
                                                  "LayerNormalization",
                                                  "SimplifiedLayerNormalization"};

static int schemas_setup(void **state)
{
    static struct schemas schemas;
    schemas_read(&schemas, "tests/operators.tsv");
    assert_true(schemas.all.n > 500);
    *state = &schemas;
    return 0;
}

static int schemas_teardown(void **state)
{
    schemas_free(*state);
    return 0;
}

/* --- breaches ------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 4, 5)))
operators_breach(struct schemas *all, const char *name, int since, const char *format, ...)
{
    char text[500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const struct operators_exception *e = operators_exceptions; e->name; e++)
        if (strcmp(e->name, name) == 0 && strcmp(e->text, text) == 0)
            return;
    print_error("%s-%d: %s\n", name, since, text);
    all->breaches++;
}

/* Ends each test. */
static void operators_judge(struct schemas *all)
{
    int n = all->breaches;
    all->breaches = 0;
    if (n)
        fail_msg("%d breaches, listed above", n);
}

/* The row that serves the schema; NULL: none, which another test complains of. */
static const struct odb_op *operators_row(const struct schema *s)
{
    return s->deprecated ? NULL : schema_row(s);
}

static void test_operators__served(void **state)
{
    struct schemas *all = *state;
    for (size_t i = 0; i < all->all.n; i++) {
        const struct schema *s = &all->all.items[i];
        const struct odb_op *row = odb_op_find(s->domain, s->name, s->since);
        if (s->deprecated && row)
            operators_breach(all, s->name, s->since, "deprecated, but served");
        if (!s->deprecated && !operators_row(s))
            operators_breach(all, s->name, s->since, "no row");
    }
    operators_judge(all);
}

static void test_operators__arity(void **state)
{
    struct schemas *all = *state;
    for (size_t i = 0; i < all->all.n; i++) {
        const struct schema *s = &all->all.items[i];
        const struct odb_op *row = operators_row(s);
        if (row && (row->min_in > s->min_in || row->max_in < s->max_in))
            operators_breach(all, s->name, s->since, "takes %d to %d inputs, the schema %d to %d",
                             row->min_in, row->max_in, s->min_in, s->max_in);
        if (row && (row->min_out > s->min_out || row->max_out < s->max_out))
            operators_breach(all, s->name, s->since, "gives %d to %d outputs, the schema %d to %d",
                             row->min_out, row->max_out, s->min_out, s->max_out);
    }
    operators_judge(all);
}

static void operators_mask_text(uint32_t mask, char *text, size_t size)
{
    static const char *const containers[] = {"sequence", "optional", "sparse", "map"};
    size_t used = 0;
    text[0] = '\0';
    for (int bit = 1; bit < 31 && used < size; bit++) {
        if (!(mask >> bit & 1))
            continue;
        const char *name = bit < ODB_DTYPE_COUNT ? odb_dtype_info((enum odb_dtype)bit)->name
                                                 : containers[bit - ODB_DTYPE_COUNT];
        used += (size_t)snprintf(text + used, size - used, " %s", name);
    }
}

static void test_operators__types(void **state)
{
    struct schemas *all = *state;
    for (size_t i = 0; i < all->all.n; i++) {
        const struct schema *s = &all->all.items[i];
        const struct odb_op *row = operators_row(s);
        uint32_t mask = ODB_T_ANY;
        for (int in = 0; row && in < s->n_types; in++) {
            char text[400];
            mask = odb_op_types(row, in);
            operators_mask_text(s->types[in] & ~mask, text, sizeof text);
            if (text[0])
                operators_breach(all, s->name, s->since, "input %d does not take%s", in, text);
        }
    }
    operators_judge(all);
}

static const char *const operators_attr_types[] = {
    [ODB_ATTR_FLOAT] = "float",
    [ODB_ATTR_INT] = "int",
    [ODB_ATTR_STRING] = "string",
    [ODB_ATTR_TENSOR] = "tensor",
    [ODB_ATTR_GRAPH] = "graph",
    [ODB_ATTR_FLOATS] = "floats",
    [ODB_ATTR_INTS] = "ints",
    [ODB_ATTR_STRINGS] = "strings",
    [ODB_ATTR_TENSORS] = "tensors",
    [ODB_ATTR_SPARSE_TENSOR] = "sparse_tensor",
    [ODB_ATTR_TYPE_PROTO] = "type_proto",
};

/* Numbers as numbers; lists without brackets, quotes and spaces. */
static bool operators_same_default(const char *type, const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    if (strcmp(type, "float") == 0) { /* the document rounds: "(3.402823e+38)" */
        double x = strtod(a + strspn(a, "("), NULL), y = strtod(b + strspn(b, "("), NULL);
        return fabs(x - y) <= 1e-5 * fabs(y);
    }
    while (*a || *b) {
        a += strspn(a, "[]' ");
        b += strspn(b, "[]' ");
        if (*a != *b)
            return false;
        a += *a != 0;
        b += *b != 0;
    }
    return true;
}

static const struct odb_attr_spec *operators_spec(const struct odb_op *row, const char *name)
{
    for (const struct odb_attr_spec *spec = row->attrs; spec && spec->name; spec++)
        if (strcmp(spec->name, name) == 0)
            return spec;
    return NULL;
}

static void test_operators__attributes(void **state)
{
    struct schemas *all = *state;
    for (size_t i = 0; i < all->all.n; i++) {
        const struct schema *s = &all->all.items[i];
        const struct odb_op *row = operators_row(s);
        for (int a = 0; row && a < s->n_attrs; a++) {
            const struct schema_attr *want = &s->attrs[a];
            const struct odb_attr_spec *spec = operators_spec(row, want->name);
            if (!spec) {
                operators_breach(all, s->name, s->since, "no attribute %s", want->name);
                continue;
            }
            if (strcmp(operators_attr_types[spec->type], want->type) != 0)
                operators_breach(all, s->name, s->since, "%s is %s, the schema's %s", want->name,
                                 operators_attr_types[spec->type], want->type);
            if (!operators_same_default(want->type, spec->def, want->def))
                operators_breach(all, s->name, s->since, "%s = %s, the schema's %s", want->name,
                                 spec->def ? spec->def : "nothing",
                                 want->def ? want->def : "nothing");
            if (spec->required != want->required)
                operators_breach(all, s->name, s->since, "%s is %s", want->name,
                                 want->required ? "required" : "not required");
        }
    }
    operators_judge(all);
}

/* A schema that the row serves has the attribute; NULL: has the version. */
static bool operators_known(const struct schemas *all, const struct odb_op *row, const char *attr)
{
    for (size_t i = 0; i < all->all.n; i++) {
        const struct schema *s = &all->all.items[i];
        if (strcmp(s->domain, row->domain) != 0 || strcmp(s->name, row->name) != 0)
            continue;
        if (s->since == row->since && (!attr || s->deprecated)) /* no attributes are listed then */
            return true;
        for (int a = 0; attr && operators_row(s) == row && a < s->n_attrs; a++)
            if (strcmp(s->attrs[a].name, attr) == 0)
                return true;
    }
    return false;
}

static bool operators_is_withdrawn(const struct odb_op *row)
{
    for (size_t i = 0; i < ODB_COUNT(operators_withdrawn); i++)
        if (row->since == 1 && strcmp(row->name, operators_withdrawn[i]) == 0)
            return true;
    return false;
}

static void test_operators__rows_of_versions(void **state)
{
    struct schemas *all = *state;
    size_t n;
    const struct odb_op *const *rows = odb_op_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct odb_op *row = rows[i];
        if ((row->domain[0] && strncmp(row->domain, "ai.onnx", 7) != 0) ||
            operators_is_withdrawn(row))
            continue;
        if (!operators_known(all, row, NULL))
            operators_breach(all, row->name, row->since, "a version that ONNX does not have");
        for (const struct odb_attr_spec *spec = row->attrs; spec && spec->name; spec++)
            if (!operators_known(all, row, spec->name))
                operators_breach(all, row->name, row->since, "%s is an attribute of no schema",
                                 spec->name);
        if (i && odb_op_find(row->domain, row->name, row->since) != row && row->run)
            operators_breach(all, row->name, row->since, "two rows");
    }
    operators_judge(all);
}

/* --- calls ---------------------------------------------------------------------------------- */

static const struct {
    int rank;
    int64_t dims[4];
} call_shapes[] = {{2, {2, 3}},    {4, {1, 3, 4, 4}}, {0, {0}},
                   {3, {3, 1, 0}}, {3, {2, 2, 2}},    {1, {0}}};

/* Ones of a type, in one of the shapes; indices and the like are one number. */
static struct odb_tensor *call_operand(enum odb_dtype dtype, size_t shape, bool data)
{
    bool one = !data && (ODB_BIT(dtype) & (ODB_T_INDEX | ODB_T_BOOL)) && shape != 2;
    const int64_t single = 1;
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, one ? 1 : call_shapes[shape].rank,
                                    one ? &single : call_shapes[shape].dims, NULL),
                     ODB_OK);
    for (size_t i = 0; i < t->count; i++) {
        if (dtype == ODB_STRING)
            assert_int_equal(odb_tensor_set_string(t, i, "1", 1, NULL), ODB_OK);
        else
            odb_store_f64(dtype, t->data, i, 1);
    }
    return t;
}

/* Calls the row with as few or as many inputs as it takes, the first of type dtype. Whatever comes
 * of it, it is a result or an error with words. */
static void call_row(const struct odb_op *op, enum odb_dtype dtype, size_t shape, bool full,
                     enum odb_precision precision)
{
    enum { MOST = 16 };
    static const bool wanted[MOST] = {true, true, true, true, true, true, true, true,
                                      true, true, true, true, true, true, true, true};
    struct odb_tensor *in[MOST] = {NULL}, *out[MOST] = {NULL};
    struct odb_error err = ODB_ERROR_INIT;
    uint32_t mask = ODB_T_ANY;
    int n_in = full ? (op->max_in == ODB_MANY ? op->min_in + 2 : op->max_in) : op->min_in;
    n_in = ODB_MIN(n_in, MOST);
    for (int i = 0; i < n_in; i++) {
        mask = odb_op_types(op, i);
        bool same = (mask & ODB_BIT(dtype)) != 0;
        if (mask & ODB_T_ANY) /* an input that takes containers alone is left out */
            in[i] = call_operand(same ? dtype : (enum odb_dtype)__builtin_ctz(mask), shape,
                                 i == 0 || same);
    }
    int n_out = full ? ODB_MIN(op->max_out, 8) : ODB_MAX(op->min_out, 1);
    struct odb_call call = {.op = op,
                            .opset = op->since,
                            .n_in = n_in,
                            .n_out = n_out,
                            .in = (const struct odb_tensor *const *)in,
                            .wanted = wanted,
                            .precision = precision,
                            .seed = 1};
    if (odb_op_run(&call, out, &err) != ODB_OK)
        assert_string_not_equal(err.what, "");
    for (int i = 0; i < MOST; i++) {
        odb_tensor_unref(in[i]);
        odb_tensor_unref(out[i]);
    }
}

/* Every row with every type of its first input, without attributes, in shapes that mostly make no
 * sense: sanitizers see what happens. */
static void test_operators__survive(void **state)
{
    size_t n;
    const struct odb_op *const *rows = odb_op_table(&n);
    for (size_t r = 0; r < n; r++)
        for (int dtype = 1; rows[r]->run && dtype < ODB_DTYPE_COUNT; dtype++) {
            if (rows[r]->max_in > 0 && !(odb_op_types(rows[r], 0) & ODB_BIT(dtype)))
                continue;
            for (size_t shape = 0; shape < ODB_COUNT(call_shapes); shape++)
                for (int way = 0; way < 4; way++)
                    call_row(rows[r], (enum odb_dtype)dtype, shape, way % 2 != 0,
                             way / 2 ? ODB_PREC_F64 : ODB_PREC_NATIVE);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators__served),
        cmocka_unit_test(test_operators__arity),
        cmocka_unit_test(test_operators__types),
        cmocka_unit_test(test_operators__attributes),
        cmocka_unit_test(test_operators__rows_of_versions),
        cmocka_unit_test(test_operators__survive),
    };
    return cmocka_run_group_tests(tests, schemas_setup, schemas_teardown);
}
