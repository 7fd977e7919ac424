/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calling one operator from a test. Tensors are written "float[2,3] 1 2 3 4 5 6", or
 * "float[2,3] random 7" for values in [-1, 1) that depend on the number alone; "-" is an omitted
 * input. Attributes are written "axis=1 alpha=0.5f auto_pad=VALID pads=1,1," (a comma makes a
 * list), a list of numbers with an f ("0.5f,1f,") is one of floats, and one with semicolons
 * ("keys=a;b;") one of strings; a tensor has colons for spaces ("splits=@double[2]:1:2"). Strings
 * in tensors are words, '' the empty one; a complex number is two numbers. Operators of another
 * domain are written "com.microsoft::Gelu".
 */
#ifndef ODB_TESTS_OP_CASE_H
#define ODB_TESTS_OP_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"

enum { OP_MAX_IN = 20, OP_MAX_OUT = 8, OP_MAX_ATTRS = 24, OP_MAX_LIST = 40 };

struct op_call {
    const char *op;
    int opset;
    const char *attrs;         /* NULL: none */
    const char *in[OP_MAX_IN]; /* up to the first NULL */
    enum odb_precision precision;
    uint64_t seed; /* of noise */
};

static inline double op_draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / (double)(1ull << 52) - 1;
}

/* A small repeatable random number in [0, n). */
static inline int64_t op_random(uint64_t *state, int64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(*state >> 33) % n;
}

/* The same in [least, most]. */
static inline int64_t op_between(uint64_t *state, int64_t least, int64_t most)
{
    return least + op_random(state, most - least + 1);
}

static inline struct odb_tensor *op_tensor(const char *text)
{
    struct odb_tensor *t = NULL;
    int64_t dims[ODB_MAX_RANK];
    int rank = 0, used = 0;
    char type[32], *p;
    if (strcmp(text, "-") == 0)
        return NULL;
    assert_int_equal(sscanf(text, "%31[^[][%n", type, &used), 1);
    for (p = (char *)text + used; *p != ']'; p += *p == ',')
        dims[rank++] = strtoll(p, &p, 10);
    enum odb_dtype dtype = odb_dtype_parse(type);
    assert_int_not_equal(dtype, ODB_UNDEFINED);
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, NULL), ODB_OK);
    uint64_t state = 0;
    bool random = sscanf(p, "] random %lu", &state) == 1;
    p++;
    for (size_t i = 0; i < t->count; i++) {
        if (dtype == ODB_STRING) {
            p += strspn(p, " ");
            size_t len = strcspn(p, " ");
            bool empty = len == 2 && strncmp(p, "''", 2) == 0;
            assert_int_equal(odb_tensor_set_string(t, i, p, empty ? 0 : len, NULL), ODB_OK);
            p += len;
            continue;
        }
        if (!random && odb_dtype_info(dtype)->class_ == ODB_CLASS_COMPLEX) {
            enum odb_dtype half = dtype == ODB_C64 ? ODB_F32 : ODB_F64;
            odb_store_f64(half, t->data, 2 * i, strtod(p, &p));
            odb_store_f64(half, t->data, 2 * i + 1, strtod(p, &p));
            continue;
        }
        double v = random ? op_draw(&state) : 0;
        if (random && !odb_dtype_is_float(dtype))
            v = floor(v * 100);
        if (!random && odb_dtype_is_float(dtype))
            v = strtod(p, &p);
        if (ODB_BIT(dtype) & ODB_T_FLOAT8) /* so that Inf can be written */
            ((uint8_t *)t->data)[i] = odb_f64_to_f8(dtype, v, false, ODB_E8M0_UP);
        else if (random || odb_dtype_is_float(dtype))
            odb_store_f64(dtype, t->data, i, v);
        else
            odb_store_i64(dtype, t->data, i, (int64_t)strtoull(p, &p, 10)); /* takes a minus too */
    }
    return t;
}

struct op_attrs {
    char text[2000];
    struct odb_attr items[OP_MAX_ATTRS];
    int64_t lists[OP_MAX_ATTRS][OP_MAX_LIST];
    float floats[OP_MAX_ATTRS][OP_MAX_LIST];
    struct odb_str strings[OP_MAX_ATTRS][OP_MAX_LIST];
    struct odb_tensor *tensors[OP_MAX_ATTRS]; /* owned */
    size_t n;
};

static inline void op_free_attrs(struct op_attrs *attrs)
{
    for (size_t i = 0; i < attrs->n; i++)
        odb_tensor_unref(attrs->tensors[i]);
}

static inline void op_parse_attrs(const char *text, struct op_attrs *out)
{
    char *save = NULL;
    memset(out, 0, sizeof *out);
    snprintf(out->text, sizeof out->text, "%s", text ? text : "");
    for (char *p = strtok_r(out->text, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        struct odb_attr *a = &out->items[out->n];
        char *value = strchr(p, '='), *end;
        assert_non_null(value);
        *value++ = '\0';
        a->name = p;
        a->i = strtoll(value, &end, 10);
        a->type = ODB_ATTR_INT;
        size_t number = strspn(value, "-+.0123456789einfa");
        if (*value == '@') {
            for (char *c = value; *c; c++)
                *c = *c == ':' ? ' ' : *c;
            out->tensors[out->n] = op_tensor(value + 1);
            a->type = ODB_ATTR_TENSOR;
            a->tensors = &out->tensors[out->n];
            a->n = 1;
        } else if (strchr(value, ';')) {
            a->type = ODB_ATTR_STRINGS;
            a->strings = out->strings[out->n];
            for (char *item = value; *item; item += strcspn(item, ";") + 1)
                out->strings[out->n][a->n++] = (struct odb_str){item, strcspn(item, ";")};
        } else if (value[number] == ',' && number > 0 && value[number - 1] == 'f') {
            a->type = ODB_ATTR_FLOATS;
            a->floats = (const odb_f32 *)out->floats[out->n];
            for (char *item = value; *item; item += strcspn(item, ",") + 1)
                out->floats[out->n][a->n++] = strtof(item, NULL);
        } else if (*end == ',') {
            a->type = ODB_ATTR_INTS;
            a->ints = out->lists[out->n];
            for (char *item = value + (*value == ','); *item; item += *item == ',') /* ",": none */
                out->lists[out->n][a->n++] = strtoll(item, &item, 10);
        } else if (*end) {
            a->f = strtof(value, &end);
            a->type = strcmp(end, "f") == 0 && end > value ? ODB_ATTR_FLOAT : ODB_ATTR_STRING;
            a->s = (struct odb_str){value, strlen(value)};
        }
        out->n++;
    }
}

/* Runs it on tensors that the caller keeps. out[n_out]; all are wanted. */
static inline enum odb_status op_run(const struct op_call *c, int n_in,
                                     struct odb_tensor *const *in, int n_out,
                                     struct odb_tensor **out, struct odb_error *err)
{
    static const bool wanted[OP_MAX_OUT] = {true, true, true, true, true, true, true, true};
    const char *colons = strstr(c->op, "::");
    char domain[60];
    snprintf(domain, sizeof domain, "%.*s", colons ? (int)(colons - c->op) : 0, c->op);
    struct op_attrs attrs;
    op_parse_attrs(c->attrs, &attrs);
    const char *name = colons ? colons + 2 : c->op;
    struct odb_call call = {.op = odb_op_find(domain, name, c->opset),
                            .opset = c->opset,
                            .attrs = {attrs.items, attrs.n},
                            .n_in = n_in,
                            .n_out = n_out,
                            .in = (const struct odb_tensor *const *)in,
                            .wanted = wanted,
                            .precision = c->precision,
                            .seed = c->seed + 1};
    assert_non_null(call.op);
    enum odb_status status = odb_op_run(&call, out, err);
    op_free_attrs(&attrs);
    return status;
}

/* Runs it on what is written. */
static inline enum odb_status op_run_text(const struct op_call *c, int n_out,
                                          struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *in[OP_MAX_IN];
    int n = 0;
    for (; n < OP_MAX_IN && c->in[n]; n++)
        in[n] = op_tensor(c->in[n]);
    enum odb_status status = op_run(c, n, in, n_out, out, err);
    for (int i = 0; i < n; i++)
        odb_tensor_unref(in[i]);
    return status;
}

/* NaN equals NaN; others within tol, absolute for numbers below 1, else relative. */
static inline void op_assert_close(const struct odb_tensor *got, const struct odb_tensor *want,
                                   double tol, const char *what)
{
    char a[200], b[200];
    if (got->dtype != want->dtype || !odb_tensor_same_shape(got, want))
        fail_msg("%s: %s %s where %s %s was expected", what, odb_dtype_info(got->dtype)->name,
                 odb_shape_text(got, a, sizeof a), odb_dtype_info(want->dtype)->name,
                 odb_shape_text(want, b, sizeof b));
    if (want->dtype == ODB_STRING && !odb_tensor_identical(got, want))
        fail_msg("%s: other strings than were expected", what);
    for (size_t i = 0; i < want->count && want->dtype != ODB_STRING; i++) {
        double x = odb_tensor_f64(got, i), y = odb_tensor_f64(want, i);
        if (!(x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= tol * fmax(1, fabs(y))))
            fail_msg("%s: element %zu is %.17g, expected %.17g", what, i, x, y);
    }
}

/* Every output must equal what is written; NULL ends the list. */
static inline void op_expect(const struct op_call *c, double tol, const char *const *expected)
{
    struct odb_tensor *out[OP_MAX_OUT];
    struct odb_error err = ODB_ERROR_INIT;
    char text[2000];
    int n = 0;
    while (expected[n])
        n++;
    if (op_run_text(c, n, out, &err) != ODB_OK)
        fail_msg("%s %s: %s", c->op, c->attrs ? c->attrs : "",
                 odb_error_text(&err, text, sizeof text));
    for (int i = 0; i < n; i++) {
        struct odb_tensor *want = op_tensor(expected[i]);
        snprintf(text, sizeof text, "%s %s output %d", c->op, c->attrs ? c->attrs : "", i);
        op_assert_close(out[i], want, tol, text);
        odb_tensor_unref(want);
        odb_tensor_unref(out[i]);
    }
}
#define OP_EXPECT(tol, call, ...)                                                                  \
    op_expect(&(const struct op_call)call, tol, (const char *const[]){__VA_ARGS__, NULL})
#define OP(name, version, text, ...)                                                               \
    {                                                                                              \
        .op = name, .opset = version, .attrs = text, .in = __VA_ARGS__                             \
    }

/* The first n outputs of both calls are the same, whatever they are. */
static inline void op_expect_same(const struct op_call *a, const struct op_call *b, int n,
                                  double tol)
{
    struct odb_tensor *x[OP_MAX_OUT], *y[OP_MAX_OUT];
    struct odb_error err = ODB_ERROR_INIT;
    char text[2000];
    if (op_run_text(a, n, x, &err) != ODB_OK || op_run_text(b, n, y, &err) != ODB_OK)
        fail_msg("%s, %s: %s", a->op, b->op, odb_error_text(&err, text, sizeof text));
    for (int i = 0; i < n; i++) {
        op_assert_close(x[i], y[i], tol, a->op);
        odb_tensor_unref(x[i]);
        odb_tensor_unref(y[i]);
    }
}
#define OP_EXPECT_SAME(n, a, b)                                                                    \
    op_expect_same(&(const struct op_call)a, &(const struct op_call)b, n, 2e-6)

/* The call for n outputs fails, gives none of them, and says why: in words that hold `says`. */
static inline void op_expect_failure(const struct op_call *c, int n, enum odb_status status,
                                     const char *says)
{
    struct odb_tensor *out[OP_MAX_OUT] = {NULL};
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status got = op_run_text(c, n, out, &err);
    if (got != status || err.what[0] == '\0' || !strstr(err.what, says))
        fail_msg("%s %s: status %d, '%s', where '%s' was expected", c->op, c->attrs ? c->attrs : "",
                 (int)got, err.what, says);
    for (int i = 0; i < n; i++)
        assert_null(out[i]);
}
#define OP_REFUSES(says, call)                                                                     \
    op_expect_failure(&(const struct op_call)call, 1, ODB_E_OPERATOR, says)

static inline void op_expect_error(const struct op_call *c, enum odb_status status)
{
    op_expect_failure(c, 1, status, "");
}

/* The call breaks the operator's own rules; the reference does not know how. */
#define OP_FAILS(call) op_expect_error(&(const struct op_call)call, ODB_E_OPERATOR)
#define OP_LACKS(call) op_expect_error(&(const struct op_call)call, ODB_UNSUPPORTED)

/* All n calls break the operator's own rules. */
static inline void op_expect_errors(const struct op_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        op_expect_error(&calls[i], ODB_E_OPERATOR);
}

/* The bits of a result do not depend on the number of threads. */
static inline void op_expect_any_threads(const struct op_call *c)
{
    struct odb_tensor *one[OP_MAX_OUT], *many[OP_MAX_OUT];
    int before = odb_parallel_threads();
    odb_parallel_set_threads(1);
    assert_int_equal(op_run_text(c, 1, one, NULL), ODB_OK);
    for (int threads = 2; threads <= 3; threads++) {
        odb_parallel_set_threads(threads);
        assert_int_equal(op_run_text(c, 1, many, NULL), ODB_OK);
        assert_true(odb_tensor_identical(one[0], many[0]));
        odb_tensor_unref(many[0]);
    }
    odb_parallel_set_threads(before);
    odb_tensor_unref(one[0]);
}

/* The same call with its float inputs as double. */
static inline struct odb_tensor *op_in_double(const struct op_call *c)
{
    struct op_call copy = *c;
    struct odb_tensor *out[OP_MAX_OUT];
    copy.precision = ODB_PREC_F64;
    assert_int_equal(op_run_text(&copy, 1, out, NULL), ODB_OK);
    return out[0];
}

/* float within tol of double; noisy mode (sequential, jittered) within 30 tol. */
static inline void op_expect_modes(const struct op_call *c, double tol)
{
    struct odb_tensor *best = op_in_double(c), *out[OP_MAX_OUT], *want;
    struct op_call copy = *c;
    for (int noisy = 0; noisy < 2; noisy++) {
        copy.precision = noisy ? ODB_PREC_NOISY : ODB_PREC_NATIVE;
        assert_int_equal(op_run_text(&copy, 1, out, NULL), ODB_OK);
        assert_int_equal(odb_tensor_cast(&want, best, out[0]->dtype, NULL), ODB_OK);
        op_assert_close(out[0], want, noisy ? 30 * tol : tol, c->op);
        odb_tensor_unref(want);
        odb_tensor_unref(out[0]);
    }
    odb_tensor_unref(best);
}

#endif
