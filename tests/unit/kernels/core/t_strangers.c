/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators as a stranger's model may call them: dimensions that are huge beside one that is 0,
 * attributes and indices at the ends of their types, lists of any length. Whatever comes of a call,
 * it is a result or an error with words: no signal, no end of the program for want of memory. Each
 * row is called in a process of its own that may have little memory and time. ONLY=Name tries one
 * operator, CALLS=N so many calls of each row.
 */
#include "tests/help/op_case.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STRANGER_BOUNDED /* sanitizers need more than any program */
#endif

enum {
    STRANGER_ITEMS = 6,
    STRANGER_OUT = 8,
    STRANGER_CALLS = 40,   /* of each row */
    STRANGER_WORK = 1,     /* seconds of processor time, for each call */
    STRANGER_NOTHING = 10, /* where there is nothing to do */
    STRANGER_GIB = 1,
};

static const int64_t stranger_numbers[] = {
    0,         1,         2,         3,          -1,           -2,
    4,         8,         1 << 20,   -(1 << 20), INT32_MAX,    INT32_MIN,
    1LL << 40, INT64_MAX, INT64_MIN, 1LL << 62,  -(1LL << 62), INT64_MIN + 1};
static const float stranger_floats[] = {0, 1, -1, 0.5f, 1e30f, -1e30f, INFINITY, NAN};
static const char *const stranger_words[] = {
    "SAME_UPPER", "SAME_LOWER", "VALID",   "NOTSET", "1",      "",      "reflect", "constant",
    "linear",     "cubic",      "reverse", "mean",   "ij->ji", "i,i->", "DCR"};

/* All have either few elements or none. */
static const struct {
    int rank;
    int64_t dims[5];
} stranger_shapes[] = {
    {0, {0}},
    {1, {0}},
    {1, {1}},
    {1, {3}},
    {2, {1, 1}},
    {2, {2, 4}},
    {2, {1LL << 40, 0}},
    {2, {0, 1LL << 40}},
    {3, {1, 2, 4}},
    {3, {1 << 20, 1 << 20, 0}},
    {3, {0, 1 << 20, 1 << 20}},
    {3, {1 << 20, 0, 1 << 20}},
    {3, {1, 1LL << 40, 0}},
    {3, {1, 0, 1LL << 40}},
    {3, {1LL << 38, 0, 4}},
    {4, {1, 2, 3, 4}},
    {4, {0, 1 << 20, 1 << 20, 1}},
    {4, {1 << 20, 1, 0, 1 << 20}},
    {4, {1 << 11, 1 << 11, 1 << 18, 0}},
    {4, {1, 1, 0, 1LL << 40}},
    {4, {1, 1LL << 40, 0, 0}},
    {5, {1, 1, 2, 2, 2}},
    {5, {1, 0, 1 << 13, 1 << 13, 1 << 14}},
    {5, {0, 0, 0, 0, 0}},
};

/* What a call is made of. */
struct stranger {
    uint64_t random;
    struct odb_tensor *in[OP_MAX_IN]; /* owned */
    int n_in;
    struct op_attrs attrs;
};

static size_t stranger_draw(struct stranger *s, size_t n)
{
    return (size_t)op_random(&s->random, (int64_t)n);
}
#define STRANGER_PICK(s, list) ((list)[stranger_draw(s, ODB_COUNT(list))])

static int64_t stranger_number(struct stranger *s)
{
    return stranger_draw(s, 2) ? STRANGER_PICK(s, stranger_numbers) : op_random(&s->random, 5);
}

static struct odb_tensor *stranger_tensor(struct stranger *s, enum odb_dtype dtype, size_t shape)
{
    struct odb_tensor *t = NULL;
    enum odb_dtype_class class_ = odb_dtype_info(dtype)->class_;
    assert_int_equal(
        odb_tensor_new(&t, dtype, stranger_shapes[shape].rank, stranger_shapes[shape].dims, NULL),
        ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        if (dtype == ODB_STRING)
            assert_int_equal(odb_tensor_set_string(t, i, "1", 1, NULL), ODB_OK);
        else if (class_ == ODB_CLASS_FLOAT)
            odb_store_f64(dtype, t->data, i, (double)stranger_number(s));
        else if (class_ != ODB_CLASS_COMPLEX) /* those stay 0 */
            odb_store_i64(dtype, t->data, i, stranger_number(s));
    return t;
}

/* A type of the mask; the one before, where that is in it. */
static enum odb_dtype stranger_dtype(struct stranger *s, uint32_t mask, enum odb_dtype before)
{
    enum odb_dtype dtype = before;
    while (dtype == ODB_UNDEFINED || !(mask & ODB_BIT(dtype)))
        dtype = (enum odb_dtype)stranger_draw(s, ODB_DTYPE_COUNT);
    return dtype;
}

static void stranger_attr(struct stranger *s, const struct odb_attr_spec *spec)
{
    static const enum odb_dtype dtypes[] = {ODB_F32, ODB_I64, ODB_STRING, ODB_F64};
    struct op_attrs *attrs = &s->attrs;
    size_t at = attrs->n++;
    struct odb_attr *a = &attrs->items[at];
    const char *word = STRANGER_PICK(s, stranger_words);
    if (spec->def && stranger_draw(s, 2))
        word = spec->def;
    *a = (struct odb_attr){.name = spec->name,
                           .type = spec->type,
                           .i = stranger_number(s),
                           .f = STRANGER_PICK(s, stranger_floats),
                           .s = {word, strlen(word)},
                           .n = stranger_draw(s, STRANGER_ITEMS + 1),
                           .ints = attrs->lists[at],
                           .floats = (const odb_f32 *)attrs->floats[at],
                           .strings = attrs->strings[at],
                           .tensors = &attrs->tensors[at]};
    for (size_t i = 0; i < STRANGER_ITEMS; i++) {
        attrs->lists[at][i] = stranger_number(s);
        attrs->floats[at][i] = STRANGER_PICK(s, stranger_floats);
        attrs->strings[at][i] = (struct odb_str){"1", 1};
    }
    if (spec->type == ODB_ATTR_TENSOR) {
        a->n = 1;
        attrs->tensors[at] = stranger_tensor(s, STRANGER_PICK(s, dtypes),
                                             stranger_draw(s, ODB_COUNT(stranger_shapes)));
    }
}

static void stranger_make(struct stranger *s, const struct odb_op *op)
{
    uint32_t mask = ODB_T_ANY;
    enum odb_dtype dtype = ODB_UNDEFINED;
    int most = ODB_MIN(op->max_in == ODB_MANY ? op->min_in + 2 : op->max_in, OP_MAX_IN);
    size_t shape = stranger_draw(s, ODB_COUNT(stranger_shapes));
    s->n_in = op->min_in + (int)stranger_draw(s, (size_t)(most - op->min_in) + 1);
    for (int i = 0; i < s->n_in; i++) {
        mask = odb_op_types(op, i);
        uint32_t tensors = mask & ODB_T_ANY & ~ODB_BIT(ODB_UNDEFINED);
        if (i && stranger_draw(s, 2))
            shape = stranger_draw(s, ODB_COUNT(stranger_shapes));
        if (!tensors || (i >= op->min_in && !stranger_draw(s, 3)))
            continue; /* containers alone, or left out */
        enum odb_dtype own =
            stranger_dtype(s, tensors, dtype && tensors & ODB_BIT(dtype) ? dtype : 0);
        dtype = dtype ? dtype : own;
        s->in[i] = stranger_tensor(s, own, shape);
    }
    for (const struct odb_attr_spec *spec = op->attrs; spec && spec->name; spec++)
        if (s->attrs.n < OP_MAX_ATTRS && spec->type <= ODB_ATTR_STRINGS &&
            spec->type != ODB_ATTR_GRAPH && (spec->required || stranger_draw(s, 2)))
            stranger_attr(s, spec);
}

static void stranger_call(const struct odb_op *op, size_t number)
{
    static const bool wanted[STRANGER_OUT] = {true, true, true, true, true, true, true, true};
    static const enum odb_precision precisions[] = {ODB_PREC_NATIVE, ODB_PREC_F64, ODB_PREC_NOISY};
    struct odb_tensor *out[STRANGER_OUT] = {NULL};
    struct odb_error err = ODB_ERROR_INIT;
    struct stranger s = {.random = number * 0x9e3779b97f4a7c15};
    stranger_make(&s, op);
    int least = ODB_MAX(op->min_out, 1), most = ODB_MIN(op->max_out, STRANGER_OUT);
    struct odb_call call = {.op = op,
                            .opset = op->since,
                            .attrs = {s.attrs.items, s.attrs.n},
                            .n_in = s.n_in,
                            .n_out = stranger_draw(&s, 2) ? most : least,
                            .in = (const struct odb_tensor *const *)s.in,
                            .wanted = wanted,
                            .precision = STRANGER_PICK(&s, precisions),
                            .seed = 1};
    if (odb_op_run(&call, out, &err) != ODB_OK)
        assert_string_not_equal(err.what, "");
    for (int i = 0; i < STRANGER_OUT; i++)
        odb_tensor_unref(out[i]);
    for (int i = 0; i < s.n_in; i++)
        odb_tensor_unref(s.in[i]);
    op_free_attrs(&s.attrs);
}

/* --- processes -------------------------------------------------------------------------------- */

/* Sanitizers' own limits are an end of the program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* In a child: little memory, and whatever ends it is seen from outside. */
static void stranger_bound(void)
{
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
#ifdef STRANGER_BOUNDED
    const rlim_t most = (rlim_t)STRANGER_GIB << 30;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
#endif
}

static void stranger_clock(int seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

/* How the child ended; says so where that was not by itself. */
static int stranger_end(pid_t child, const char *name, int since, const volatile size_t *call)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status)
        print_error("%s-%d, call %zu: %s %d\n", name, since, *call,
                    WIFSIGNALED(status) ? "signal" : "exit status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return status;
}

/* Calls the row n times; after one that ends the process comes the next. How many those were, but
 * for those out of time: a window may be large, and there may be many of them. */
static int stranger_row(const struct odb_op *op, size_t n, volatile size_t *at)
{
    int breaches = 0;
    for (*at = 0; *at < n; ++*at) {
        pid_t child = fork();
        if (child == 0) {
            stranger_bound();
            for (; *at < n; ++*at) {
                stranger_clock(STRANGER_WORK);
                stranger_call(op, *at + 1);
            }
            _exit(0);
        }
        int end = stranger_end(child, op->name, op->since, at);
        breaches += end && !(WIFSIGNALED(end) && WTERMSIG(end) == SIGPROF);
    }
    return breaches;
}

static void test_strangers__are_answered(void **state)
{
    size_t n,
        *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *only = getenv("ONLY"), *calls = getenv("CALLS");
    const struct odb_op *const *rows = odb_op_table(&n);
    int breaches = 0;
    assert_ptr_not_equal(at, MAP_FAILED);
    for (size_t r = 0; r < n; r++)
        if (rows[r]->run && (!only || !strcmp(only, rows[r]->name)))
            breaches +=
                stranger_row(rows[r], calls ? strtoul(calls, NULL, 10) : STRANGER_CALLS, at);
    assert_int_equal(breaches, 0);
    munmap(at, sizeof *at);
}

/* --- shapes that go together ------------------------------------------------------------------ */

static const struct op_call stranger_cases[] = {
    OP("MatMul", 13, "", {"float[1048576,524288,0,2] ", "float[1048576,524288,2,0] "}),
    OP("QLinearMatMul", 10, "",
       {"uint8[1099511627776,0] ", "float[1] 1", "uint8[1] 0", "uint8[0,0] ", "float[1] 1",
        "uint8[1] 0", "float[1] 1", "uint8[1] 0"}),
    OP("LayerNormalization", 17, "", {"float[1099511627776,0] ", "float[0] "}),
    OP("RotaryEmbedding", 23, "num_heads=1",
       {"float[1048576,1048576,0] ", "float[1048576,1048576,0] ", "float[1048576,1048576,0] "}),
    OP("com.microsoft::RotaryEmbedding", 1, "",
       {"float[1048576,1048576,0] ", "int64[1] 0", "float[4,0] ", "float[4,0] "}),
    OP("com.microsoft::WordConvEmbedding", 1, "",
       {"int32[0,1099511627776] ", "float[1,1,1,1] 1", "float[1] 1", "float[1,1] 1"}),
    OP("com.microsoft::NGramRepeatBlock", 1, "ngram_size=1",
       {"int64[1099511627776,0] ", "float[1099511627776,0] "}),
    OP("Attention", 23, "",
       {"float[274877906944,1,0,1] ", "float[274877906944,1,0,1] ", "float[274877906944,1,0,1] "}),
    OP("NonMaxSuppression", 11, "",
       {"float[1048576,0,4] ", "float[1048576,1048576,0] ", "int64[1] 1"}),
    OP("com.microsoft::QGemm", 1, "",
       {"uint8[0,0] ", "float[1] 1", "uint8[1] 0", "uint8[0,1099511627776] ", "float[1] 1",
        "uint8[1] 0", "-", "float[1] 1", "uint8[1] 0"}),
    OP("SplitToSequence", 11, "", {"float[1099511627776,0] "}),
#ifdef STRANGER_BOUNDED /* parts, not their list, are too many; sums, not results */
    OP("SplitToSequence", 11, "", {"float[33554432,0] "}),
    OP("TfIdfVectorizer", 9,
       "mode=TF min_gram_length=1 max_gram_length=1 max_skip_count=0 ngram_counts=0, "
       "ngram_indexes=100000000, pool_int64s=7,",
       {"int64[1] 7"}),
#endif
    OP("Compress", 11, "axis=1", {"float[1099511627776,1,0] ", "bool[1] 1"}),
    OP("TopK", 11, "axis=1", {"float[1099511627776,0] ", "int64[1] 0"}),
    OP("QuantizeLinear", 21, "axis=1 block_size=1",
       {"float[1048576,1048576,0] ", "float[1048576,1048576,0] "}),
};

static void stranger_case(const struct op_call *c)
{
    struct odb_tensor *out[OP_MAX_OUT] = {NULL};
    struct odb_error err = ODB_ERROR_INIT;
    stranger_bound();
    stranger_clock(STRANGER_NOTHING);
    enum odb_status status = op_run_text(c, 1, out, &err);
    if (status != ODB_OK && (status != ODB_E_NOMEM || !err.what[0]))
        print_error("%s: status %d, '%s'\n", c->op, (int)status, err.what);
    odb_tensor_unref(out[0]);
    _exit(status != ODB_OK && status != ODB_E_NOMEM);
}

/* The operator's rules are kept: there is a result without elements, or no memory, at once: nothing
 * is walked over that is not there. */
static void test_strangers__have_nothing_in_great_numbers(void **state)
{
    int breaches = 0;
    for (size_t i = 0; i < ODB_COUNT(stranger_cases); i++) {
        pid_t child = fork();
        if (child == 0)
            stranger_case(&stranger_cases[i]);
        breaches += stranger_end(child, stranger_cases[i].op, stranger_cases[i].opset, &i) != 0;
    }
    assert_int_equal(breaches, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strangers__are_answered),
        cmocka_unit_test(test_strangers__have_nothing_in_great_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
