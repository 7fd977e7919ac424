/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What calls are held against before a kernel sees them: every input of every operator with every
 * other type, every attribute with every other type, left out, and one that the schema does not
 * have. What is accepted is what the schemas accept. All breaches are printed before a test fails.
 */
#include "tests/help/schemas.h"

/* --- breaches ------------------------------------------------------------------------------- */

static int setup(void **state)
{
    static struct schemas schemas;
    schemas_read(&schemas, "tests/operators.tsv");
    schemas_read(&schemas, "tests/contrib.tsv");
    assert_true(schemas.all.n > 600);
    *state = &schemas;
    return 0;
}

static int teardown(void **state)
{
    schemas_free(*state);
    return 0;
}

static void __attribute__((format(printf, 3, 4)))
breach(struct schemas *all, const struct schema *s, const char *format, ...)
{
    char text[500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_error("%s%s%s-%d: %s\n", s->domain, *s->domain ? "::" : "", s->name, s->since, text);
    all->breaches++;
}

static void judge(struct schemas *all)
{
    int n = all->breaches;
    all->breaches = 0;
    if (n)
        fail_msg("%d breaches, listed above", n);
}

/* --- the rows' type variables --------------------------------------------------------------- */

static int schema_last(const struct schema *s)
{
    return s->max_in > s->n_types ? s->n_types + 1 : s->max_in; /* two of as many as there may be */
}

static const char *schema_var(const struct schema *s, int i)
{
    return i < s->n_types ? s->vars[i] : s->n_types ? s->vars[s->n_types - 1] : NULL;
}

static bool schema_shares(const struct schema *s, int i, int j)
{
    const char *a = schema_var(s, i), *b = schema_var(s, j);
    return a && b && strcmp(a, b) == 0 && !strchr(a, '*');
}

static uint32_t schema_types_of(const struct schema *s, int i)
{
    return s->types[i < s->n_types ? i : s->n_types - 1];
}

static void test_schema__variables(void **state)
{
    struct schemas *all = *state;
    for (size_t n = 0; n < all->all.n; n++) {
        const struct schema *s = &all->all.items[n];
        const struct odb_op *row = s->deprecated ? NULL : schema_row(s);
        for (int j = 1; row && j < schema_last(s); j++)
            for (int i = 0; i < j; i++) {
                uint32_t a = odb_op_types(row, i), b = odb_op_types(row, j);
                bool row_shares = odb_op_type_of(row, i) == odb_op_type_of(row, j);
                bool one = a == b && __builtin_popcount(a) == 1;
                bool one_there = schema_types_of(s, i) == schema_types_of(s, j) &&
                                 __builtin_popcount(schema_types_of(s, i)) == 1;
                if (schema_shares(s, i, j) && !row_shares && !one)
                    breach(all, s, "inputs %d and %d share %s", i, j, schema_var(s, i));
                if (!schema_shares(s, i, j) && row_shares && !one_there)
                    breach(all, s, "inputs %d and %d do not share a type", i, j);
            }
    }
    judge(all);
}

/* --- calls ---------------------------------------------------------------------------------- */

enum { CALL_MAX = 24, CALL_ATTRS = SCHEMA_MAX_ATTRS + 1 };

/* A call of a row that is held against it, and made: whatever a kernel makes of it. */
struct trial {
    const struct odb_op *row;
    int n_in;
    struct odb_tensor *in[CALL_MAX]; /* owned; NULL: left out */
    size_t n_attrs;
    struct odb_attr attrs[CALL_ATTRS];
    enum odb_precision precision;
};

static const int64_t trial_list[] = {1, 1};
static const float trial_floats[] = {1, 1};
static const struct odb_str trial_strings[] = {{"1", 1}};

/* Something of that type, which a kernel that is called may read. */
static struct odb_attr trial_attr(const char *name, enum odb_attr_type type,
                                  struct odb_tensor **tensor)
{
    bool list = type >= ODB_ATTR_FLOATS && type != ODB_ATTR_SPARSE_TENSOR;
    return (struct odb_attr){.name = name,
                             .type = type,
                             .i = 1,
                             .f = 1,
                             .s = {"1", 1},
                             .n = type == ODB_ATTR_STRINGS ? 1
                                  : list                   ? 2
                                                           : 1,
                             .ints = trial_list,
                             .floats = (const odb_f32 *)trial_floats,
                             .strings = trial_strings,
                             .tensors = tensor,
                             .text = ""};
}

static struct odb_tensor *trial_tensor(enum odb_dtype dtype)
{
    struct odb_tensor *t = NULL;
    const int64_t dims[] = {1, 2};
    assert_int_equal(odb_tensor_new(&t, dtype, 2, dims, NULL), ODB_OK);
    for (size_t i = 0; i < t->count && dtype == ODB_STRING; i++)
        assert_int_equal(odb_tensor_set_string(t, i, "1", 1, NULL), ODB_OK);
    return t;
}

static struct odb_tensor *trial_container(uint32_t mask)
{
    static const int64_t one = 1;
    struct odb_tensor *items[2] = {NULL}, *t = NULL;
    bool pair = (mask & (ODB_T_SEQUENCE | ODB_T_OPTIONAL)) == 0;
    enum odb_kind kind = mask & ODB_T_SEQUENCE   ? ODB_SEQUENCE
                         : mask & ODB_T_OPTIONAL ? ODB_OPTIONAL
                         : mask & ODB_T_SPARSE   ? ODB_SPARSE
                                                 : ODB_MAP;
    assert_int_equal(odb_tensor_new(&items[kind == ODB_MAP], ODB_F32, 1, &one, NULL), ODB_OK);
    if (pair)
        assert_int_equal(odb_tensor_new(&items[kind != ODB_MAP], ODB_I64, 1, &one, NULL), ODB_OK);
    assert_int_equal(odb_tensor_new_container(&t, kind, items, pair ? 2 : 1, NULL), ODB_OK);
    t->dtype = ODB_F32;
    if (kind == ODB_SPARSE) {
        t->rank = 2;
        t->dims[0] = t->dims[1] = 1;
        t->count = 1;
    }
    odb_tensor_unref(items[0]);
    odb_tensor_unref(items[1]);
    return t;
}

/* A type of the set; the one that is wished for, where it is in it. */
static struct odb_tensor *trial_operand(uint32_t mask, enum odb_dtype wish)
{
    uint32_t tensors = mask & ODB_T_ANY & ~ODB_BIT(ODB_UNDEFINED);
    if (tensors & ODB_BIT(wish))
        return trial_tensor(wish);
    if (tensors)
        return trial_tensor((enum odb_dtype)__builtin_ctz(tensors));
    return mask ? trial_container(mask) : NULL;
}

/* All inputs, of types that the schema allows, and the attributes that it requires. */
static void trial_begin(struct trial *t, const struct schema *s, const struct odb_op *row,
                        enum odb_dtype wish, struct odb_tensor **tensor)
{
    memset(t, 0, sizeof *t);
    t->row = row;
    t->n_in = ODB_MIN(schema_last(s), CALL_MAX);
    for (int i = 0; i < t->n_in; i++)
        t->in[i] = trial_operand(schema_types_of(s, i) & odb_op_types(row, i), wish);
    for (const struct odb_attr_spec *spec = row->attrs; spec && spec->name; spec++)
        if (spec->required)
            t->attrs[t->n_attrs++] = trial_attr(spec->name, spec->type, tensor);
}

static void trial_end(struct trial *t)
{
    for (int i = 0; i < t->n_in; i++)
        odb_tensor_unref(t->in[i]);
}

/* Whether it is accepted. One that is not leaves words; a kernel sees one that is. */
static bool trial_accepted(const struct trial *t)
{
    static const bool wanted[] = {true, true, true, true, true, true, true, true};
    struct odb_tensor *out[ODB_COUNT(wanted)] = {NULL};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_call call = {.op = t->row,
                            .opset = t->row->since,
                            .attrs = {t->attrs, t->n_attrs},
                            .n_in = t->n_in,
                            .n_out = ODB_MAX(t->row->min_out, 1),
                            .in = (const struct odb_tensor *const *)t->in,
                            .wanted = wanted,
                            .precision = t->precision,
                            .seed = 1};
    bool accepted = odb_op_check(&call, &err) == ODB_OK;
    if (!accepted)
        assert_string_not_equal(err.what, "");
    if (t->row->run && odb_op_run(&call, out, &err) != ODB_OK)
        assert_string_not_equal(err.what, "");
    else if (!accepted && t->row->run)
        fail_msg("%s: what is refused was run", t->row->name);
    for (size_t i = 0; i < ODB_COUNT(out); i++)
        odb_tensor_unref(out[i]);
    return accepted;
}

/* --- inputs of other types ------------------------------------------------------------------ */

/* Rows that take more than any schema does, on purpose. */
static const struct lenient {
    const char *name; /* NULL: any */
    uint32_t least;   /* of those whose row takes all of these types */
    uint32_t takes;
    const char *why;
} lenient[] = {
    {NULL, 0, ODB_T_HALVES, "arithmetic widens them"},
    {NULL, ODB_T_ANY & ~(ODB_T_COMPLEX | ODB_T_STRING), ODB_T_ANY, "a move moves any type"},
    {"Reduce", 0, ODB_T_INT, "integers are summed as integers, of any width"},
    {"Cum", 0, ODB_T_INT, "so they are on the way"},
    {"GroupNorm", 0, ODB_BIT(ODB_F64), "one kernel for all of its kind"},
    {"SparseToDenseMatMul", 0, ODB_T_ANY, "a sparse weight may be stored dense"},
    {"NhwcMaxPool", 0, ODB_T_FLOAT, "another layout of MaxPool"},
};

/* What some version takes there, and those above. */
static uint32_t known_types(const struct schemas *all, const struct odb_op *row, int i)
{
    uint32_t mask = 0, own = odb_op_types(row, i);
    for (size_t l = 0; l < ODB_COUNT(lenient); l++)
        if ((own & lenient[l].least) == lenient[l].least &&
            (!lenient[l].name || !strncmp(row->name, lenient[l].name, strlen(lenient[l].name))) &&
            (lenient[l].name || lenient[l].least || (own & ODB_T_FLOAT)))
            mask |= lenient[l].takes;
    for (size_t n = 0; n < all->all.n; n++) {
        const struct schema *s = &all->all.items[n];
        if (!s->deprecated && strcmp(s->name, row->name) == 0 && i < schema_last(s) && s->n_types)
            mask |= schema_types_of(s, i);
    }
    return mask;
}

/* Whether a present input shares the type of input i. */
static bool trial_bound(const struct schema *s, const struct trial *t, int i)
{
    for (int j = 0; j < t->n_in; j++)
        if (j != i && t->in[j] && t->in[i] && schema_shares(s, i, j))
            return true;
    return false;
}

/* Input i of type dtype, where all others are as the schema has them. */
static void inputs_try(struct schemas *all, const struct schema *s, struct trial *t, int i,
                       enum odb_dtype dtype)
{
    struct odb_tensor *own = t->in[i];
    bool bound = trial_bound(s, t, i) && own->dtype != dtype;
    t->in[i] = trial_tensor(dtype);
    bool accepted = trial_accepted(t);
    uint32_t bit = ODB_BIT(dtype);
    if (accepted && bound && t->precision != ODB_PREC_F64)
        breach(all, s, "input %d of type %s beside %s is taken", i, odb_dtype_info(dtype)->name,
               odb_dtype_info(own->dtype)->name);
    if (accepted && !(bit & known_types(all, t->row, i)) &&
        !(t->precision == ODB_PREC_F64 && odb_dtype_is_float(dtype)))
        breach(all, s, "input %d of type %s is taken", i, odb_dtype_info(dtype)->name);
    if (!accepted && !bound && (bit & schema_types_of(s, i) & odb_op_types(t->row, i)))
        breach(all, s, "input %d of type %s is refused", i, odb_dtype_info(dtype)->name);
    odb_tensor_unref(t->in[i]);
    t->in[i] = own;
}

static void inputs_of(struct schemas *all, const struct schema *s, enum odb_precision precision)
{
    static const enum odb_dtype wishes[] = {ODB_F32, ODB_I64};
    const struct odb_op *row = schema_row(s);
    struct odb_tensor *tensor = trial_tensor(ODB_F32);
    for (size_t w = 0; row && w < ODB_COUNT(wishes); w++) {
        struct trial t;
        trial_begin(&t, s, row, wishes[w], &tensor);
        t.precision = precision;
        if (precision == ODB_PREC_NATIVE && !trial_accepted(&t))
            breach(all, s, "what the schema says is refused");
        for (int i = 0; i < t.n_in; i++)
            for (int dtype = 1; dtype < ODB_DTYPE_COUNT && t.in[i]; dtype++)
                inputs_try(all, s, &t, i, (enum odb_dtype)dtype);
        trial_end(&t);
    }
    odb_tensor_unref(tensor);
}

static void test_schema__inputs(void **state)
{
    static const enum odb_precision precisions[] = {ODB_PREC_NATIVE, ODB_PREC_F64};
    struct schemas *all = *state;
    for (size_t n = 0; n < all->all.n; n++)
        for (size_t p = 0; p < ODB_COUNT(precisions) && !all->all.items[n].deprecated; p++)
            inputs_of(all, &all->all.items[n], precisions[p]);
    judge(all);
}

/* In double mode all floats are double, and what the model declares tells them apart. */
static void test_schema__carried_floats(void **state)
{
    const struct odb_op *op = odb_op_find("", "NegativeLogLikelihoodLoss", 13);
    struct odb_tensor *x = trial_tensor(ODB_F64), *labels = NULL, *weight = NULL;
    const int64_t one = 1, two = 2;
    assert_int_equal(odb_tensor_new(&labels, ODB_I64, 1, &one, NULL), ODB_OK);
    assert_int_equal(odb_tensor_new(&weight, ODB_F64, 1, &two, NULL), ODB_OK);
    const struct {
        enum odb_dtype x, weight;
        bool accepted;
    } cases[] = {{ODB_F32, ODB_F32, true},       {ODB_F32, ODB_F64, false},
                 {ODB_F16, ODB_F32, false},      {ODB_UNDEFINED, ODB_F32, true},
                 {ODB_F32, ODB_UNDEFINED, true}, {ODB_UNDEFINED, ODB_UNDEFINED, true}};
    (void)state;
    for (size_t c = 0; c < ODB_COUNT(cases); c++)
        for (int told = 0; told < 2; told++) {
            const struct odb_tensor *in[] = {x, labels, weight};
            const enum odb_dtype types[] = {cases[c].x, ODB_UNDEFINED, cases[c].weight};
            struct odb_tensor *out = NULL;
            struct odb_error err = ODB_ERROR_INIT;
            const bool wanted = true;
            x->declared = told ? ODB_UNDEFINED : cases[c].x;
            weight->declared = told ? ODB_UNDEFINED : cases[c].weight;
            struct odb_call call = {.op = op,
                                    .opset = 13,
                                    .n_in = 3,
                                    .n_out = 1,
                                    .in = in,
                                    .wanted = &wanted,
                                    .types = told ? types : NULL,
                                    .precision = ODB_PREC_F64};
            assert_int_equal(odb_op_run(&call, &out, &err) == ODB_OK, cases[c].accepted);
            if (cases[c].accepted)
                assert_int_equal(out->declared, cases[c].x);
            else
                assert_non_null(strstr(err.what, "inputs 0 and 2 of NegativeLogLikelihoodLoss must "
                                                 "be of one type, and are "));
            odb_tensor_unref(out);
        }
    odb_tensor_unref(x);
    odb_tensor_unref(labels);
    odb_tensor_unref(weight);
}

/* --- attributes ----------------------------------------------------------------------------- */

static bool attr_known(const struct schema *s, const char *name)
{
    for (int a = 0; a < s->n_attrs; a++)
        if (strcmp(s->attrs[a].name, name) == 0)
            return true;
    return false;
}

/* The attribute with each type: the schema's alone is taken. */
static void attributes_try(struct schemas *all, const struct schema *s, struct trial *t,
                           const struct schema_attr *attr, struct odb_tensor **tensor)
{
    const struct odb_attr_spec *spec = odb_op_attr(t->row, attr->name);
    size_t at = 0;
    if (!spec) {
        breach(all, s, "no attribute %s", attr->name);
        return;
    }
    while (at < t->n_attrs && strcmp(t->attrs[at].name, attr->name) != 0)
        at++;
    size_t n = t->n_attrs;
    t->n_attrs = ODB_MAX(n, at + 1);
    for (int type = ODB_ATTR_FLOAT; type <= ODB_ATTR_TYPE_PROTOS; type++) {
        struct odb_attr own = t->attrs[at];
        t->attrs[at] = trial_attr(attr->name, (enum odb_attr_type)type, tensor);
        bool right = strcasecmp(odb_attr_type_name((enum odb_attr_type)type), attr->type) == 0;
        if (right && (spec->type == ODB_ATTR_GRAPH || spec->type == ODB_ATTR_SPARSE_TENSOR))
            assert_int_equal(spec->type, type); /* which a kernel could read */
        else if (trial_accepted(t) != right)
            breach(all, s, "attribute %s as %s is %s", attr->name,
                   odb_attr_type_name((enum odb_attr_type)type), right ? "refused" : "taken");
        t->attrs[at] = own;
    }
    t->n_attrs = n;
    if (attr->required && at < n && strcmp(attr->name, "consumed_inputs") != 0) {
        struct odb_attr own = t->attrs[at];
        t->attrs[at] = t->attrs[--t->n_attrs];
        if (trial_accepted(t))
            breach(all, s, "without attribute %s it is taken", attr->name);
        t->n_attrs = n;
        t->attrs[at] = own;
    }
}

static void attributes_of(struct schemas *all, const struct schema *s)
{
    static const char *const strangers[] = {"stranger", "__stranger"};
    const struct odb_op *row = schema_row(s);
    struct odb_tensor *tensor = trial_tensor(ODB_F32);
    struct trial t;
    if (row) {
        bool standard = !*s->domain || strcmp(s->domain, "ai.onnx.ml") == 0;
        trial_begin(&t, s, row, ODB_F32, &tensor);
        for (int a = 0; a < s->n_attrs; a++)
            attributes_try(all, s, &t, &s->attrs[a], &tensor);
        for (size_t a = 0; a < ODB_COUNT(strangers); a++) {
            t.attrs[t.n_attrs++] = trial_attr(strangers[a], ODB_ATTR_INT, NULL);
            if (trial_accepted(&t) == (standard && a == 0))
                breach(all, s, "attribute %s is %s", strangers[a], a ? "refused" : "taken");
            t.n_attrs--;
        }
        trial_end(&t);
    }
    odb_tensor_unref(tensor);
}

static void test_schema__attributes(void **state)
{
    struct schemas *all = *state;
    for (size_t n = 0; n < all->all.n; n++) {
        const struct schema *s = &all->all.items[n];
        const struct odb_op *row = s->deprecated ? NULL : schema_row(s);
        if (s->deprecated)
            continue;
        attributes_of(all, s);
        for (const struct odb_attr_spec *spec = row ? row->attrs : NULL; spec && spec->name; spec++)
            if (spec->required && !attr_known(s, spec->name) &&
                strcmp(spec->name, "consumed_inputs") != 0)
                breach(all, s, "attribute %s is of no schema", spec->name);
    }
    judge(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema__variables),
        cmocka_unit_test(test_schema__inputs),
        cmocka_unit_test(test_schema__carried_floats),
        cmocka_unit_test(test_schema__attributes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
