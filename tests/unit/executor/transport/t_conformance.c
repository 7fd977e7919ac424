/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the debugger asks of every executor, asked through the child process as it does. An executor
 * is a row of the table at the end, a question is a case; a test is one case for one row. Models
 * use a handful of operators and small whole numbers, so that answers are the same to the last bit
 * in any precision that deserves the name.
 *
 * A row is a spec. What its executor cannot do stands in the row, and then it may say no: in one
 * clear line, and none the worse for it. A wrong answer is wrong even there.
 *
 *     t_conformance 'ort:*'      the cases of one row
 */
#include "executor/transport/target.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <jansson.h>

#include "system/scratch.h"
#include "tests/help/executor_help.h"
#include "model/model.h"
#include "model/read/load.h"
#include "model/read/pb.h"
#include "model/write/pb_write.h"
#include "model/write/write.h"
#include "tests/help/sshd_help.h"
#include "tensor/format/npy.h"

#define T(dtype) (UINT32_C(1) << ODB_##dtype)
#define TYPES_ALL (UINT32_MAX)
#define TYPES_NUMPY                                                                                \
    (T(F32) | T(U8) | T(I8) | T(U16) | T(I16) | T(I32) | T(I64) | T(BOOL) | T(F16) | T(F64) |      \
     T(U32) | T(U64) | T(STRING))
#define TYPES_WEB TYPES_NUMPY
#define TYPES_TORCH                                                                                \
    (T(F32) | T(U8) | T(I8) | T(I16) | T(I32) | T(I64) | T(BOOL) | T(F16) | T(F64) | T(BF16))

struct row {
    const char *name;  /* what its tests are called; 'make check' names what is skipped by it */
    const char *spec;  /* see spec_of() for what may stand in it */
    uint32_t types;    /* element types that it carries; of others it may say no */
    const char *lacks; /* what it may say no to, of: scalars, vectors, empty, many-dims, large,
                          sequences, empty-sequences, optionals, subset (of the outputs asked
                          for), names (that are no identifiers), external (weights) */
    /* Writes why it cannot be had here. NULL: what the executor itself says. */
    void (*missing)(char *why, size_t size);
    void (*prepare)(const char *dir); /* makes what the spec names below $DIR */
};

/* A row under test: its cases share a child, as the debugger's questions do. */
struct bench {
    const struct row *row;
    char dir[64], tmp[80]; /* $DIR; TMPDIR of the child, where nothing may be left */
    char *spec;
    struct odb_target *target; /* NULL: not open */
    int pid;                   /* the last child known */
    bool in_case;              /* the case before did not come to its end */
};

/* --- surroundings ---------------------------------------------------------------------------- */

/* The spec with its words filled in: $DIR is a directory of the row's own, $SELF this program, $TOP
 * the repository, $B the build folder. */
static char *spec_of(const char *spec, const char *dir)
{
    char self[4096], build[4096], top[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    const struct {
        const char *word, *text;
    } words[] = {{"$DIR", dir},
                 {"$SELF", self},
                 {"$TOP", getcwd(top, sizeof top)},
                 {"$B", help_build_folder(build, sizeof build)}};
    struct odb_buf out = ODB_BUF_INIT;
    for (const char *p = spec; *p;) {
        const char *text = NULL;
        for (size_t i = 0; i < ODB_COUNT(words) && !text; i++)
            if (!strncmp(p, words[i].word, strlen(words[i].word))) {
                text = words[i].text;
                p += strlen(words[i].word);
            }
        if (!text)
            odb_buf_putc(&out, *p++);
        for (; text && *text; text++)
            odb_buf_printf(&out, "%s%c", strchr(",=@\\", *text) ? "\\" : "", *text);
    }
    return odb_buf_take(&out);
}

/* Why the row cannot be tested here; "" where it can. */
static void row_missing(const struct row *row, char *why, size_t size)
{
    why[0] = '\0';
    if (row->missing) {
        row->missing(why, size);
        return;
    }
    char *text = odb_xstrdup(row->spec);
    for (struct odb_spec *spec; text && !why[0]; odb_spec_free(spec)) { /* what is wrapped, too */
        help_ok(odb_spec_parse(&spec, text, NULL), &(struct odb_error)ODB_ERROR_INIT);
        const struct odb_executor_ops *ops = odb_executor_find(spec->kind);
        if (ops)
            odb_executor_available(ops, spec, why, size);
        free(text);
        text = spec->inner ? odb_xstrdup(spec->inner) : NULL;
    }
    free(text);
}

static bool row_recorded(const struct row *row)
{
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(row->spec, ":,@"), row->spec);
    const struct odb_executor_ops *ops = odb_executor_find(kind);
    return ops && ops->recorded;
}

static bool lacks(const struct bench *bench, const char *word)
{
    const char *at = bench->row->lacks ? strstr(bench->row->lacks, word) : NULL;
    return at && (at[strlen(word)] == '\0' || at[strlen(word)] == ' ');
}

/* How many processes of the group are alive; the dead may wait for somebody to bury them. */
static int group_alive(int group)
{
    DIR *proc = opendir("/proc");
    int n = 0;
    assert_non_null(proc);
    for (const struct dirent *e; (e = readdir(proc));) {
        char path[300], line[1024] = "", state = 'X';
        int pgrp = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        FILE *f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        size_t len = f ? fread(line, 1, sizeof line - 1, f) : 0;
        if (f)
            fclose(f);
        line[len] = '\0';
        const char *behind = strrchr(line, ')'); /* the name may hold anything */
        if (behind && sscanf(behind, ") %c %*d %d", &state, &pgrp) == 2)
            n += pgrp == group && state != 'Z' && state != 'X';
    }
    closedir(proc);
    return n;
}

static void expect_group_gone(int group)
{
    for (int i = 0; i < 40 && group_alive(group) > 0; i++)
        usleep(50 * 1000);
    assert_int_equal(group_alive(group), 0);
}

static size_t count_files(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

/* --- asking ---------------------------------------------------------------------------------- */

static struct odb_target *bench_target(struct bench *bench)
{
    struct odb_error err = ODB_ERROR_INIT;
    if (!bench->target) {
        setenv("TMPDIR", bench->tmp, 1);
        help_ok(odb_target_open(&bench->target, bench->spec, &err), &err);
    }
    bench->pid = odb_target_pid(bench->target);
    return bench->target;
}

/* Loads what is built; takes the builder over. */
static enum odb_status load(struct bench *bench, struct odb_builder *take, struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_bytes(take, &bytes);
    odb_build_free(take);
    struct odb_load message = {.bytes = bytes.data, .size = bytes.len, .dir = bench->dir};
    enum odb_status status = odb_target_load(bench_target(bench), &message, err);
    odb_buf_dispose(&bytes);
    return status;
}

static enum odb_status run1(struct bench *bench, const struct odb_tensor *x, const char *output,
                            struct odb_tensor **y, struct odb_error *err)
{
    struct odb_named in = {"x", x};
    return odb_target_run(bench_target(bench), &in, 1, &output, 1, y, err);
}

/* Numbers that every type of numbers has; floats have a few of their own in between. */
static struct odb_tensor *tensor_of(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    static const double odd[] = {0.5, -0.0, INFINITY, -INFINITY, NAN};
    struct odb_tensor *t;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_tensor_new(&t, dtype, rank, dims, &err), &err);
    for (size_t i = 0; i < t->count; i++) {
        char text[32];
        if (dtype == ODB_STRING)
            help_ok(odb_tensor_set_string(t, i, text,
                                          (size_t)snprintf(text, sizeof text, "%s%zu",
                                                           i % 3 ? "gr\xc3\xbc\xc3\x9f " : "", i),
                                          &err),
                    &err);
        else if (odb_dtype_is_float(dtype) && i % 2)
            odb_store_f64(dtype, t->data, i, odd[i / 2 % ODB_COUNT(odd)]);
        else if (dtype == ODB_C64 || dtype == ODB_C128)
            for (size_t part = 0; part < 2; part++)
                odb_store_f64(dtype == ODB_C64 ? ODB_F32 : ODB_F64, t->data, 2 * i + part,
                              (double)i + 0.25 * (double)part);
        else
            odb_store_i64(dtype, t->data, i, dtype == ODB_BOOL ? i % 3 == 0 : (int64_t)i);
    }
    return t;
}

static struct odb_tensor *whole_numbers(int rank, const int64_t *dims, int from)
{
    struct odb_tensor *t;
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(odb_tensor_new(&t, ODB_F32, rank, dims, &err), &err);
    for (size_t i = 0; i < t->count; i++)
        ((float *)t->data)[i] = (float)((int)(i % 101) + from);
    return t;
}

/* Type, shape, and every number; -0 is 0. */
static void expect_values(const struct odb_tensor *got, const struct odb_tensor *want)
{
    char a[128], b[128];
    assert_non_null(got);
    assert_int_equal(got->kind, ODB_TENSOR);
    assert_int_equal(got->dtype, want->dtype);
    if (!odb_tensor_same_shape(got, want))
        fail_msg("the shape is %s, not %s", odb_shape_text(got, a, sizeof a),
                 odb_shape_text(want, b, sizeof b));
    for (size_t i = 0; i < want->count; i++)
        if (odb_tensor_f64(got, i) != odb_tensor_f64(want, i))
            fail_msg("element %zu is %g, not %g", i, odb_tensor_f64(got, i),
                     odb_tensor_f64(want, i));
}

/* It said no, in one line that says something, and the child lives on. */
static void expect_refusal(struct bench *bench, enum odb_status status, const struct odb_error *err)
{
    static const enum odb_status refusals[] = {ODB_E_EXECUTOR, ODB_E_INPUT, ODB_E_USAGE,
                                               ODB_E_NOMEM, ODB_UNSUPPORTED};
    char text[2048];
    bool refusal = false;
    for (size_t i = 0; i < ODB_COUNT(refusals); i++)
        refusal |= status == refusals[i];
    odb_error_text(err, text, sizeof text);
    if (!refusal)
        fail_msg("this is no refusal, but status %d: %s", status, text);
    if (strlen(err->what) < 10 || strpbrk(text, "\r\n"))
        fail_msg("this is no clear line: %s", text);
    if (odb_target_pid(bench->target) != bench->pid)
        fail_msg("saying no cost its life: %s", text);
}

/* x -> Identity -> y, of any type. */
static struct odb_builder *build_identity(enum odb_dtype dtype, int rank, const int64_t *dims,
                                          enum odb_kind kind)
{
    static const struct {
        enum odb_dtype from;
        int opset, ir;
    } since[] = {{ODB_I2, 25, 13},       {ODB_U2, 25, 13},        {ODB_F8E8M0, 24, 12},
                 {ODB_F4E2M1, 23, 11},   {ODB_U4, 21, 10},        {ODB_I4, 21, 10},
                 {ODB_F8E4M3FN, 19, 9},  {ODB_F8E4M3FNUZ, 19, 9}, {ODB_F8E5M2, 19, 9},
                 {ODB_F8E5M2FNUZ, 19, 9}};
    int opset = 17, ir = 8;
    for (size_t i = 0; i < ODB_COUNT(since); i++)
        if (since[i].from == dtype) {
            opset = since[i].opset;
            ir = since[i].ir;
        }
    struct odb_builder *b = odb_build_new("identity", opset);
    odb_build_ir_version(b, ir);
    odb_build_input(b, "x", dtype, rank, dims);
    odb_build_node(b, "Identity", "same", "x", "y");
    odb_build_output_typed(b, "y", dtype, rank, dims);
    if (kind != ODB_TENSOR) {
        odb_build_wrap(b, "x", kind);
        odb_build_wrap(b, "y", kind);
    }
    return b;
}

/* Nobody can tell what would be in an empty container. */
static bool same_value(const struct odb_tensor *a, const struct odb_tensor *b)
{
    if (a->kind != ODB_TENSOR && a->n_items == 0)
        return a->kind == b->kind && b->n_items == 0;
    return odb_tensor_identical(a, b);
}

/* Loads and runs; what comes must be x. may_refuse: or a refusal. */
static void expect_same(struct bench *bench, struct odb_builder *take, const struct odb_tensor *x,
                        bool may_refuse, const char *what)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *y = NULL;
    enum odb_status status = load(bench, take, &err);
    if (status == ODB_OK)
        status = run1(bench, x, "y", &y, &err);
    if (status != ODB_OK && !may_refuse) {
        char text[2048];
        fail_msg("%s: %s", what, odb_error_text(&err, text, sizeof text));
    } else if (status != ODB_OK) {
        expect_refusal(bench, status, &err);
    } else if (!same_value(x, y)) {
        fail_msg("%s comes back as something else", what);
    }
    odb_tensor_unref(y);
}

/* --- values ---------------------------------------------------------------------------------- */

static void case_types(struct bench *bench)
{
    for (int d = 1; d < ODB_DTYPE_COUNT; d++) {
        enum odb_dtype dtype = (enum odb_dtype)d;
        struct odb_tensor *x = tensor_of(dtype, 2, (int64_t[]){3, 5});
        expect_same(bench, build_identity(dtype, 2, x->dims, ODB_TENSOR), x,
                    !(bench->row->types & (UINT32_C(1) << d)), odb_dtype_info(dtype)->name);
        odb_tensor_unref(x);
    }
}

static void case_shapes(struct bench *bench)
{
    static const struct {
        const char *word;
        int rank;
        int64_t dims[8];
    } shapes[] = {
        {"scalars", 0, {0}},
        {"vectors", 1, {1}},
        {"empty", 1, {0}},
        {"empty", 3, {2, 0, 3}},
        {"many-dims", 6, {1, 2, 3, 2, 1, 2}},
        {"large", 2, {2048, 2048}},
    };
    for (size_t i = 0; i < ODB_COUNT(shapes); i++) {
        char text[128];
        struct odb_tensor *x = whole_numbers(shapes[i].rank, shapes[i].dims, -7);
        odb_shape_text(x, text, sizeof text);
        expect_same(bench, build_identity(ODB_F32, x->rank, x->dims, ODB_TENSOR), x,
                    lacks(bench, shapes[i].word), text);
        odb_tensor_unref(x);
    }
    struct odb_tensor *none = tensor_of(ODB_STRING, 1, (int64_t[]){0});
    expect_same(bench, build_identity(ODB_STRING, 1, none->dims, ODB_TENSOR), none,
                !(bench->row->types & T(STRING)) || lacks(bench, "empty"), "no strings");
    odb_tensor_unref(none);
}

static void case_containers(struct bench *bench)
{
    static const struct {
        enum odb_kind kind;
        size_t n;
        const char *word, *text;
    } containers[] = {
        {ODB_SEQUENCE, 2, "sequences", "a sequence of two"},
        {ODB_SEQUENCE, 0, "empty-sequences", "an empty sequence"},
        {ODB_OPTIONAL, 1, "optionals", "an optional that is there"},
        {ODB_OPTIONAL, 0, "optionals", "an optional that is not"},
    };
    struct odb_tensor *items[2] = {whole_numbers(2, (int64_t[]){2, 3}, 1),
                                   whole_numbers(2, (int64_t[]){2, 3}, 100)};
    for (size_t i = 0; i < ODB_COUNT(containers); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *x;
        help_ok(odb_tensor_new_container(&x, containers[i].kind, items, containers[i].n, &err),
                &err);
        x->dtype = ODB_F32;
        expect_same(bench, build_identity(ODB_F32, 2, items[0]->dims, containers[i].kind), x,
                    lacks(bench, containers[i].word), containers[i].text);
        odb_tensor_unref(x);
    }
    odb_tensor_unref(items[0]);
    odb_tensor_unref(items[1]);
}

/* A hundred outputs, y(i) = x + i, asked for from the last to the first, and some of them. */
static void case_many_outputs(struct bench *bench)
{
    enum { N = 100 };
    static const int64_t dims[] = {2, 4};
    struct odb_builder *b = odb_build_new("many", 17);
    struct odb_tensor *x = whole_numbers(2, dims, -3), *w[N], *want[N], *out[N];
    char names[N][8];
    const char *asked[N];
    struct odb_error err = ODB_ERROR_INIT;
    odb_build_input(b, "x", ODB_F32, 2, dims);
    for (int i = 0; i < N; i++) {
        char weight[8], inputs[16];
        snprintf(names[i], sizeof names[i], "y%d", i);
        snprintf(weight, sizeof weight, "w%d", i);
        snprintf(inputs, sizeof inputs, "x %s", weight);
        w[i] = whole_numbers(2, dims, 0);
        want[i] = whole_numbers(2, dims, i - 3);
        for (size_t e = 0; e < w[i]->count; e++)
            ((float *)w[i]->data)[e] = (float)i;
        odb_build_weight(b, weight, w[i]);
        odb_build_node(b, "Add", i ? names[i] : "cut", inputs, names[i]);
        odb_build_output_typed(b, names[i], ODB_F32, 2, dims);
        asked[N - 1 - i] = names[i];
    }
    help_ok(load(bench, b, &err), &err);
    struct odb_named in = {"x", x};
    for (int n = N; n > 0; n = n == N ? 3 : 0) {
        if (n < N && lacks(bench, "subset"))
            break;
        help_ok(odb_target_run(bench->target, &in, 1, asked, (size_t)n, out, &err), &err);
        for (int i = 0; i < n; i++) {
            expect_values(out[i], want[N - 1 - i]);
            odb_tensor_unref(out[i]);
        }
    }
    for (int i = 0; i < N; i++) {
        odb_tensor_unref(w[i]);
        odb_tensor_unref(want[i]);
    }
    odb_tensor_unref(x);
}

/* Names as exporters give them, and worse. */
static void case_names(struct bench *bench)
{
    static const char *const names[] = {"/layer.0/Neg_output_0", "b:0,c=@{}", "gr\xc3\xbc\xc3\x9f",
                                        "9"};
    static const int64_t dims[] = {2, 3};
    struct odb_tensor *x = whole_numbers(2, dims, 5), *out[2] = {NULL, NULL};
    struct odb_builder *b = odb_build_new("a graph/with a name", 17);
    struct odb_error err = ODB_ERROR_INIT;
    odb_build_input(b, names[0], ODB_F32, 2, dims);
    odb_build_node(b, "Neg", names[3], names[0], names[1]);
    odb_build_node(b, "Abs", "", names[1], names[2]);
    odb_build_node(b, "Relu", names[1], names[2], names[3]);
    odb_build_output_typed(b, names[2], ODB_F32, 2, dims);
    odb_build_output_typed(b, names[3], ODB_F32, 2, dims);
    struct odb_named in = {names[0], x};
    enum odb_status status = load(bench, b, &err);
    if (status == ODB_OK)
        status = odb_target_run(bench->target, &in, 1, names + 2, 2, out, &err);
    if (status == ODB_OK) {
        expect_values(out[0], x);
        expect_values(out[1], x);
    } else if (lacks(bench, "names")) {
        expect_refusal(bench, status, &err);
    } else {
        help_ok(status, &err);
    }
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    odb_tensor_unref(x);
}

/* Weights in a file beside the model. */
static void case_external(struct bench *bench)
{
    static const int64_t dims[] = {20, 30};
    struct odb_tensor *x = whole_numbers(2, dims, 1), *w = whole_numbers(2, dims, 50), *y = NULL;
    struct odb_builder *b = odb_build_new("external", 17);
    struct odb_error err = ODB_ERROR_INIT;
    char path[100];
    snprintf(path, sizeof path, "%s/external.onnx", bench->dir);
    odb_build_input(b, "x", ODB_F32, 2, dims);
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Add", "cut", "x w", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, dims);
    help_ok(odb_build_write(b, path, "external.weights", &err), &err);
    odb_build_free(b);
    static char bytes[4096];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    struct odb_load message = {.bytes = bytes, .dir = bench->dir};
    message.size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(message.size < sizeof bytes); /* so the weights are not in it */
    enum odb_status status = odb_target_load(bench_target(bench), &message, &err);
    if (status == ODB_OK)
        status = run1(bench, x, "y", &y, &err);
    if (status == ODB_OK) {
        for (size_t i = 0; i < w->count; i++)
            ((float *)w->data)[i] += ((const float *)x->data)[i];
        expect_values(y, w);
    } else if (lacks(bench, "external")) {
        expect_refusal(bench, status, &err);
    } else {
        help_ok(status, &err);
    }
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    odb_tensor_unref(w);
}

/* --- pieces of models ------------------------------------------------------------------------ */

static const int64_t pieces_dims[] = {3, 4};

/* Seven nodes, of which each reads the one before. */
static struct odb_model *pieces_model(void)
{
    struct odb_builder *b = odb_build_new("pieces", 17);
    struct odb_tensor *w = whole_numbers(2, pieces_dims, 1);
    struct odb_tensor *m = whole_numbers(2, (int64_t[]){4, 4}, -3);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model;
    struct odb_error err = ODB_ERROR_INIT;
    odb_build_input(b, "x", ODB_F32, 2, pieces_dims);
    odb_build_weight(b, "w", w);
    odb_build_weight(b, "m", m);
    odb_build_node(b, "Neg", "cut", "x", "a");
    odb_build_node(b, "Abs", "n1", "a", "b");
    odb_build_node(b, "Add", "n2", "b w", "c");
    odb_build_node(b, "Mul", "n3", "c a", "d");
    odb_build_node(b, "Relu", "n4", "d", "e");
    odb_build_node(b, "MatMul", "n5", "e m", "f");
    odb_build_node(b, "Identity", "n6", "f", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, pieces_dims);
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    help_ok(odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, "", "pieces", &err), &err);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(w);
    odb_tensor_unref(m);
    return model;
}

/* Every value of the model, by index, as the reference has it. */
static void pieces_values(const struct odb_model *model, struct odb_tensor **values)
{
    const struct odb_graph *graph = model->graph;
    struct odb_executor *cpu;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_port port[2] = {{.value = odb_graph_value(graph, "x")->index},
                               {.value = odb_graph_value(graph, "y")->index}};
    struct odb_extract whole = {.inputs = port, .n_inputs = 1, .outputs = port + 1, .n_outputs = 1};
    help_ok(odb_model_extract(model, &whole, &bytes, &err), &err);
    struct odb_tensor *x = whole_numbers(2, pieces_dims, -5);
    struct odb_named in = {"x", x};
    struct odb_load message = {.bytes = bytes.data, .size = bytes.len, .dir = "."};
    const char *names[16];
    assert_true(graph->n_values <= ODB_COUNT(names));
    for (size_t i = 0; i < graph->n_values; i++)
        names[i] = graph->values[i].name;
    help_ok(odb_executor_open(&cpu, "cpu", &err), &err);
    help_ok(odb_executor_load(cpu, &message, &err), &err);
    help_ok(odb_executor_run(cpu, &in, 1, names, graph->n_values, values, &err), &err);
    odb_executor_close(cpu);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(x);
}

/* The nodes from first to last as a model, with all that they make as outputs. */
static void expect_piece(struct bench *bench, const struct odb_model *model,
                         struct odb_tensor *const *values, int first, int last)
{
    const struct odb_graph *graph = model->graph;
    struct odb_port in[16], out[16];
    struct odb_named feeds[16];
    const char *names[16];
    struct odb_tensor *got[16];
    bool nodes[16] = {false};
    int list[16];
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_extract what = {.nodes = nodes, .inputs = in, .outputs = out};
    for (int i = first; i <= last; i++) {
        int value = graph->nodes[i].out[0];
        nodes[i] = true;
        names[what.n_outputs] = graph->values[value].name;
        out[what.n_outputs++] = (struct odb_port){.value = value, .like = values[value]};
    }
    what.n_inputs = odb_graph_segment_inputs(graph, nodes, list);
    for (size_t i = 0; i < what.n_inputs; i++) {
        in[i] = (struct odb_port){.value = list[i], .like = values[list[i]]};
        feeds[i] = (struct odb_named){graph->values[list[i]].name, values[list[i]]};
    }
    help_ok(odb_model_extract(model, &what, &bytes, &err), &err);
    struct odb_load message = {.bytes = bytes.data,
                               .size = bytes.len,
                               .dir = ".",
                               .node_index = help_identity,
                               .n_nodes = what.n_outputs};
    help_ok(odb_target_load(bench_target(bench), &message, &err), &err);
    help_ok(odb_target_run(bench->target, feeds, what.n_inputs, names, what.n_outputs, got, &err),
            &err);
    for (size_t i = 0; i < what.n_outputs; i++) {
        expect_values(got[i], values[out[i].value]);
        odb_tensor_unref(got[i]);
    }
    odb_buf_dispose(&bytes);
}

static void case_pieces(struct bench *bench)
{
    struct odb_model *model = pieces_model();
    struct odb_tensor *values[16];
    int n = (int)model->graph->n_nodes;
    pieces_values(model, values);
    for (int i = 0; i < n; i++) {
        expect_piece(bench, model, values, 0, i);     /* what is before, all of it looked at */
        expect_piece(bench, model, values, i, i);     /* alone */
        expect_piece(bench, model, values, i, n - 1); /* what is behind */
    }
    for (size_t i = 0; i < model->graph->n_values; i++)
        odb_tensor_unref(values[i]);
    odb_model_free(model);
}

/* --- again and again ------------------------------------------------------------------------- */

/* y = |-x| + w, side = -x */
static struct odb_builder *build_plain(float w)
{
    static const int64_t dims[] = {2, 4};
    struct odb_builder *b = odb_build_new("plain", 17);
    struct odb_tensor *t = whole_numbers(2, dims, 0);
    for (size_t i = 0; i < t->count; i++)
        ((float *)t->data)[i] = w;
    odb_build_input(b, "x", ODB_F32, 2, dims);
    odb_build_weight(b, "w", t);
    odb_build_node(b, "Neg", "cut", "x", "side");
    odb_build_node(b, "Abs", "abs", "side", "b");
    odb_build_node(b, "Add", "add", "b w", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, dims);
    odb_build_output_typed(b, "side", ODB_F32, 2, dims);
    odb_tensor_unref(t);
    return b;
}

static void load_plain(struct bench *bench, float w)
{
    struct odb_error err = ODB_ERROR_INIT;
    help_ok(load(bench, build_plain(w), &err), &err);
    bench->pid = odb_target_pid(bench->target); /* perhaps a new one */
}

static void expect_plain(struct bench *bench, float w, int from)
{
    static const int64_t dims[] = {2, 4};
    static const char *const names[] = {"y", "side"};
    if (row_recorded(bench->row))
        w = (float)(from = 1);
    struct odb_tensor *x = whole_numbers(2, dims, from), *out[2];
    struct odb_tensor *y = whole_numbers(2, dims, 0), *side = whole_numbers(2, dims, 0);
    struct odb_named in = {"x", x};
    struct odb_error err = ODB_ERROR_INIT;
    for (size_t i = 0; i < x->count; i++) {
        ((float *)side->data)[i] = -((float *)x->data)[i];
        ((float *)y->data)[i] = fabsf(((float *)x->data)[i]) + w;
    }
    help_ok(odb_target_run(bench->target, &in, 1, names, 2, out, &err), &err);
    expect_values(out[0], y);
    expect_values(out[1], side);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
    odb_tensor_unref(y);
    odb_tensor_unref(side);
    odb_tensor_unref(x);
}

/* One load, many runs: the same inputs give the same bits, whatever ran in between. */
static void case_repeats(struct bench *bench)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x = whole_numbers(2, (int64_t[]){2, 4}, 9), *first, *again;
    load_plain(bench, 5);
    help_ok(run1(bench, x, "y", &first, &err), &err);
    for (int i = 0; i < 4; i++) {
        expect_plain(bench, 5, -3 * i);
        help_ok(run1(bench, x, "y", &again, &err), &err);
        assert_true(odb_tensor_identical(first, again));
        odb_tensor_unref(again);
    }
    odb_tensor_unref(first);
    odb_tensor_unref(x);
}

/* Models one after the other, in one child. */
static void case_loads(struct bench *bench)
{
    size_t starts = odb_target_stats(bench_target(bench)).starts;
    for (int i = 0; i < 3; i++) {
        load_plain(bench, 7);
        expect_plain(bench, 7, -4);
        load_plain(bench, (float)i);
        load_plain(bench, (float)i);
        expect_plain(bench, (float)i, -4);
    }
    assert_int_equal(odb_target_stats(bench->target).starts, starts);
}

/* --- errors ---------------------------------------------------------------------------------- */

static void case_nothing_loaded(struct bench *bench)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x = whole_numbers(1, (int64_t[]){3}, 0), *y = NULL;
    odb_target_close(bench->target);
    bench->target = NULL;
    bench_target(bench);
    expect_refusal(bench, run1(bench, x, "y", &y, &err), &err);
    assert_null(y);
    odb_tensor_unref(x);
    load_plain(bench, 1);
    expect_plain(bench, 1, 0);
}

static void case_wrong_names(struct bench *bench)
{
    struct odb_tensor *x = whole_numbers(2, (int64_t[]){2, 4}, 1), *out[2];
    const struct {
        const char *input;
        size_t n;
        const char *output;
    } wrong[] = {{"nonsense", 1, "y"}, {"x", 0, "y"}, {"x", 1, "nonsense"}};
    for (size_t i = 0; i < ODB_COUNT(wrong); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_named in = {wrong[i].input, x};
        const char *names[] = {"side", wrong[i].output};
        load_plain(bench, 2);
        enum odb_status status =
            odb_target_run(bench->target, &in, wrong[i].n, names, 2, out, &err);
        if (status == ODB_OK)
            fail_msg("input '%s' (%zu of them), output '%s', and no complaint", wrong[i].input,
                     wrong[i].n, wrong[i].output);
        expect_refusal(bench, status, &err);
        if (!strstr(err.what, "nonsense") && !strstr(err.what, "'x'"))
            fail_msg("it does not say which name is wrong: %s", err.what);
        assert_null(out[0]);
        assert_null(out[1]);
        expect_plain(bench, 2, -1);
    }
    odb_tensor_unref(x);
}

/* What cannot be loaded may come to light with the first run. */
static enum odb_status load_and_run(struct bench *bench, const void *bytes, size_t size,
                                    struct odb_error *err)
{
    struct odb_load message = {.bytes = bytes, .size = size, .dir = "."};
    struct odb_tensor *x = whole_numbers(2, (int64_t[]){2, 4}, 1), *y = NULL;
    enum odb_status status = odb_target_load(bench_target(bench), &message, err);
    if (status == ODB_OK)
        status = run1(bench, x, "y", &y, err);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    return status;
}

static void case_broken_models(struct bench *bench)
{
    struct odb_builder *dangling = odb_build_new("dangling", 17);
    struct odb_builder *b = build_plain(3);
    struct odb_buf whole = ODB_BUF_INIT, gap = ODB_BUF_INIT;
    odb_build_bytes(b, &whole);
    odb_build_input(dangling, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_node(dangling, "Add", "n", "x nobody", "y");
    odb_build_output_typed(dangling, "y", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_bytes(dangling, &gap);
    const struct {
        const char *what;
        const void *bytes;
        size_t size;
    } broken[] = {
        {"text", "this is text, and no model", 26},
        {"nothing", "", 0},
        {"half a model", whole.data, whole.len / 2},
        {"a value that nobody makes", gap.data, gap.len},
    };
    for (size_t i = 0; i < ODB_COUNT(broken); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        load_plain(bench, 3);
        enum odb_status status = load_and_run(bench, broken[i].bytes, broken[i].size, &err);
        if (status == ODB_OK)
            fail_msg("%s is loaded and run", broken[i].what);
        expect_refusal(bench, status, &err);
        load_plain(bench, 3);
        expect_plain(bench, 3, -1);
    }
    odb_build_free(b);
    odb_build_free(dangling);
    odb_buf_dispose(&whole);
    odb_buf_dispose(&gap);
}

static void case_unsupported(struct bench *bench)
{
    static const char *const ops[] = {"NoSuchOperator", "com.example::NoSuchOperator"};
    for (size_t i = 0; i < ODB_COUNT(ops); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_buf bytes = ODB_BUF_INIT;
        struct odb_builder *b = odb_build_new("unknown", 17);
        odb_build_opset(b, "com.example", 1);
        odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
        odb_build_node(b, ops[i], "stranger", "x", "y");
        odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){2, 4});
        odb_build_bytes(b, &bytes);
        odb_build_free(b);
        enum odb_status status = load_and_run(bench, bytes.data, bytes.len, &err);
        odb_buf_dispose(&bytes);
        expect_refusal(bench, status, &err);
        if (status != ODB_UNSUPPORTED && status != ODB_E_EXECUTOR)
            fail_msg("an operator that it lacks is status %d", status);
        help_has_text(&err, "NoSuchOperator");
        load_plain(bench, 4);
        expect_plain(bench, 4, 0);
    }
}

/* --- being stopped --------------------------------------------------------------------------- */

static bool cancel_now(void *payload)
{
    ++*(int *)payload;
    return true;
}

/* Enough work for the slowest machine to be interrupted at. */
static struct odb_builder *build_busy(const int64_t *dims)
{
    struct odb_builder *b = odb_build_new("busy", 17);
    struct odb_tensor *w = whole_numbers(2, dims, 0);
    odb_build_input(b, "x", ODB_F32, 2, dims);
    odb_build_weight(b, "w", w);
    for (int i = 0; i < 40; i++) {
        char in[16], out[16];
        snprintf(in, sizeof in, i ? "v%d w" : "x w", i);
        snprintf(out, sizeof out, "v%d", i + 1);
        odb_build_node(b, "MatMul", out, in, i < 39 ? out : "y");
    }
    odb_build_output_typed(b, "y", ODB_F32, 2, dims);
    odb_tensor_unref(w);
    return b;
}

/* A call that is given up in the midst of work, and one that is not answered at all. */
static void case_cancel(struct bench *bench)
{
    static const int64_t dims[] = {1024, 1024};
    for (int stopped = 0; stopped < 2; stopped++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *x = whole_numbers(2, dims, 0), *y = NULL;
        int asked = 0;
        help_ok(load(bench, build_busy(dims), &err), &err);
        bench->pid = odb_target_pid(bench->target);
        size_t starts = odb_target_stats(bench->target).starts;
        if (stopped)
            kill(-bench->pid, SIGSTOP);
        odb_target_set_cancel(bench->target, cancel_now, &asked);
        enum odb_status status = run1(bench, x, "y", &y, &err);
        odb_target_set_cancel(bench->target, NULL, NULL);
        if (status == ODB_OK && !stopped && !asked) {
            print_message("%s was too quick to be cancelled\n", bench->row->name);
        } else {
            assert_int_equal(status, ODB_CANCELLED);
            assert_int_equal(odb_target_pid(bench->target), 0);
            expect_group_gone(bench->pid);
            starts++;
        }
        odb_tensor_unref(x);
        odb_tensor_unref(y);
        load_plain(bench, 6);
        expect_plain(bench, 6, -2);
        assert_int_equal(odb_target_stats(bench->target).starts, starts);
    }
}

/* A limit that a start and a load keep, found by trying; the target is open then, and loaded. */
static double shortest_limit(struct bench *bench)
{
    char *spec = bench->spec;
    for (double limit = 0.5;; limit *= 4) {
        struct odb_error err = ODB_ERROR_INIT;
        odb_target_close(bench->target);
        bench->target = NULL;
        char *limited = odb_xasprintf("%s,timeout=%g", spec, limit);
        enum odb_status status = odb_target_open(&bench->target, limited, &err);
        if (status == ODB_OK)
            status = load(bench, build_plain(1), &err);
        free(limited);
        if (status == ODB_OK)
            return limit;
        if (status != ODB_E_TIMEOUT || limit > 100)
            help_ok(status, &err);
    }
}

static void case_limit(struct bench *bench)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *x = whole_numbers(2, (int64_t[]){2, 4}, 0), *y = NULL;
    char text[32];
    snprintf(text, sizeof text, "within %g s", shortest_limit(bench));
    kill(-bench->pid, SIGSTOP);
    assert_int_equal(run1(bench, x, "y", &y, &err), ODB_E_TIMEOUT);
    help_has_text(&err, text);
    help_has_text(&err, "timeout=");
    expect_group_gone(bench->pid);
    load_plain(bench, 1);
    expect_plain(bench, 1, -2);
    odb_target_close(bench->target);
    bench->target = NULL;
    odb_tensor_unref(x);
}

/* --- what it says of itself ------------------------------------------------------------------ */

static void case_describes(struct bench *bench)
{
    const char *text = odb_target_description(bench_target(bench));
    assert_true(text[0] != '\0');
    assert_null(strpbrk(text, "\r\n"));
}

static void case_account(struct bench *bench)
{
    for (int after_run = 0; after_run < 2; after_run++) {
        struct odb_account account = ODB_ACCOUNT_INIT;
        struct odb_error err = ODB_ERROR_INIT;
        load_plain(bench, 1);
        if (after_run)
            expect_plain(bench, 1, 1);
        help_ok(odb_target_account(bench->target, &account, &err), &err);
        for (size_t i = 0; i < account.places.n; i++)
            assert_true(account.places.items[i].where[0] != '\0');
        for (size_t i = 0; i < account.notes.n; i++)
            assert_null(strpbrk(account.notes.items[i], "\r\n"));
        odb_account_dispose(&account);
        expect_plain(bench, 1, 2);
    }
}

static void case_release(struct bench *bench)
{
    load_plain(bench, 1);
    expect_plain(bench, 1, 2);
    odb_target_close(bench->target);
    bench->target = NULL;
    expect_group_gone(bench->pid);
    assert_int_equal(count_files(bench->tmp), 0);
}

/* --- command: and server: as rows
 * ------------------------------------------------------------------------ */

/* This very program as one that command: runs: the model and io.json are in the directory where it
 * is started. */
static enum odb_status program_value(json_t *item, struct odb_tensor **t, bool read,
                                     struct odb_error *err)
{
    const char *file = json_string_value(json_object_get(item, "file"));
    const char *dtype = json_string_value(json_object_get(item, "dtype"));
    enum odb_kind kind = !strncmp(dtype, "seq(", 4)        ? ODB_SEQUENCE
                         : !strncmp(dtype, "optional(", 9) ? ODB_OPTIONAL
                                                           : ODB_TENSOR;
    bool npy = strstr(file, ".npy") != NULL;
    if (read)
        return npy ? odb_npy_read(t, file, err) : odb_pb_read(t, kind, file, err);
    return npy ? odb_npy_write(*t, file, err) : odb_pb_write(*t, "", file, err);
}

static enum odb_status program_run(const json_t *io, struct odb_error *err)
{
    enum { MOST = 128 };
    static struct odb_named in[MOST];
    static const char *names[MOST];
    static struct odb_tensor *out[MOST];
    static char bytes[16 << 20];
    struct odb_executor *cpu;
    json_t *item;
    json_t *inputs = json_object_get(io, "inputs"), *outputs = json_object_get(io, "outputs");
    FILE *f = fopen("model.onnx", "rb");
    size_t i;
    if (!io || !f || json_array_size(inputs) > MOST || json_array_size(outputs) > MOST)
        return odb_fail(err, ODB_E_INPUT, "this is no directory of a run");
    struct odb_load message = {.bytes = bytes, .size = fread(bytes, 1, sizeof bytes, f), .dir = ""};
    json_array_foreach(inputs, i, item) {
        struct odb_tensor *t;
        ODB_TRY(program_value(item, &t, true, err));
        in[i] = (struct odb_named){json_string_value(json_object_get(item, "name")), t};
    }
    json_array_foreach(outputs, i, item)
        names[i] = json_string_value(json_object_get(item, "name"));
    ODB_TRY(odb_executor_open(&cpu, "cpu", err));
    ODB_TRY(odb_executor_load(cpu, &message, err));
    ODB_TRY(odb_executor_run(cpu, in, json_array_size(inputs), names, json_array_size(outputs), out,
                             err));
    json_array_foreach(outputs, i, item)
        ODB_TRY(program_value(item, &out[i], false, err));
    return ODB_OK;
}

static int program_main(void)
{
    struct odb_error err = ODB_ERROR_INIT;
    char text[2048];
    if (program_run(json_load_file("io.json", 0, NULL), &err) == ODB_OK)
        return 0;
    fprintf(stderr, "%s\n", odb_error_text(&err, text, sizeof text));
    return 1;
}

/* The same as one that server: keeps: each run in a process of its own, which answers. */
static void server_run(const json_t *request)
{
    struct odb_error err = ODB_ERROR_INIT;
    char text[2048];
    enum odb_status status = program_run(request, &err);
    const char *kind = status == ODB_UNSUPPORTED ? "unsupported" : "failed";
    json_t *answer = json_pack("{s:b,s:s,s:s}", "ok", status == ODB_OK, "kind", kind, "error",
                               odb_error_text(&err, text, sizeof text));
    json_dumpf(answer, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    _exit(0);
}

static int server_main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        json_t *request = json_loads(line, 0, NULL);
        const char *what = json_string_value(json_object_get(request, "do"));
        char *model = odb_xstrdup(json_string_length(json_object_get(request, "model"))
                                      ? json_string_value(json_object_get(request, "model"))
                                      : "");
        if (model[0])
            *strrchr(model, '/') = '\0';
        if (!strcmp(what, "run")) {
            if (fork() == 0)
                server_run(request);
            wait(NULL);
        } else {
            puts(!model[0] || chdir(model) == 0 ? "{\"ok\":true}" : "{\"ok\":false}");
            fflush(stdout);
        }
        free(model);
        json_decref(request);
    }
    free(line);
    return 0;
}

/* --- the tables ------------------------------------------------------------------------------ */

static void prepare_dump(const char *dir)
{
    static const char *const names[] = {"y", "side"};
    for (int i = 0; i < 2; i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_tensor *t = whole_numbers(2, (int64_t[]){2, 4}, 1);
        char *path = odb_xasprintf("%s/%s.npy", dir, names[i]);
        for (size_t k = 0; k < t->count; k++)
            ((float *)t->data)[k] = i ? -((float *)t->data)[k] : fabsf(((float *)t->data)[k]) + 1;
        help_ok(odb_npy_write(t, path, &err), &err);
        odb_tensor_unref(t);
        free(path);
    }
}

/* To have another executor tested, add a line: its name here, its spec, the types it carries (as
 * T(F32) | T(I64)), and what it cannot do, with why. Where it needs something that may not be there
 * and available() cannot know, `missing` says so; where it needs files, `prepare` makes them below
 * $DIR. An executor that gives what was `recorded` gets the cases marked so; it has recorded what
 * expect_plain() wants of it: y and side, (2, 4), for x = 1, 2, … and w = 1. */
/* The stand-in of tests/mlir is always there. */
static void mlir_missing(char *why, size_t size)
{
    why[0] = '\0';
}

#define MLIR                                                                                       \
    (TYPES_NUMPY & ~T(STRING)) | T(BF16) | T(C64) | T(C128) | T(F8E4M3FN) | T(F8E4M3FNUZ) |        \
        T(F8E5M2),                                                                                 \
        "sequences empty-sequences optionals", mlir_missing

/* ssh: an sshd that lasts as long as this program. */
static struct help_sshd conformance_sshd;

static void ssh_missing(char *why, size_t size)
{
    char dir[] = "/tmp/t_conformance-XXXXXX", serve[400];
    assert_non_null(mkdtemp(dir));
    help_sshd_start(&conformance_sshd, dir);
    snprintf(why, size, "%s", conformance_sshd.why);
    snprintf(serve, sizeof serve, "ONNXDBG_CACHE=%s/cache %s", dir, getenv("ONNXDBG_SERVE"));
    setenv("ONNXDBG_REMOTE_SERVE", serve, 1);
}

static void ssh_python_missing(char *why, size_t size)
{
    if (odb_executor_available(odb_executor_find("python"), NULL, why, size))
        ssh_missing(why, size);
}

static void ssh_end(void)
{
    if (!conformance_sshd.dir[0])
        return;
    help_sshd_stop(&conformance_sshd);
    odb_scratch_remove(conformance_sshd.dir);
}

static const struct row rows[] = {
    {"cpu", "cpu", TYPES_ALL},
    {"cpu:f64", "cpu:f64", TYPES_ALL},
    {"cpu:f16", "cpu:f16", TYPES_ALL},
    {"ort", "ort", TYPES_NUMPY | T(BF16), "empty-sequences"},
    {"ort,opt=disabled", "ort,opt=disabled", TYPES_NUMPY | T(BF16), "empty-sequences"},
    {"command", "command:$SELF --program", TYPES_ALL},
    {"server", "server:$SELF --server", TYPES_ALL},
    {"web", "web", TYPES_WEB, "many-dims sequences empty-sequences optionals"},
    {"python", "python:$TOP/tests/python/conform.py", TYPES_ALL},
    {"python, wrapped", "fault:scale,amount=0,node=cut@python:$TOP/tests/python/conform.py",
     TYPES_ALL},
    {"numpy", "numpy", TYPES_NUMPY, "sequences empty-sequences optionals"},
    {"opencv", "opencv", T(F32),
     "scalars vectors empty many-dims sequences empty-sequences optionals"},
    {"torch", "torch,device=cpu", TYPES_TORCH, "sequences empty-sequences optionals"},
    {"onnx-mlir", "onnx-mlir,home=$B/mlir,cache=$DIR/kept", MLIR},
    {"onnx-mlir 2021", "onnx-mlir:--stand-in=2021,home=$B/mlir,cache=off", MLIR},
    {"onnx-mlir 2020", "onnx-mlir:--stand-in=2020,home=$B/mlir,cache=off", MLIR},
    {"plugin", "plugin:$B/tiny_executor.so", TYPES_ALL},
    {"fault", "fault:scale,amount=0,node=cut@cpu", TYPES_ALL},
    {"stale", "stale:elsewhere@cpu", TYPES_ALL},
    {"dump", "dump:$DIR", TYPES_ALL, .prepare = prepare_dump},
    {"ssh", "ssh:loopback,cpu", TYPES_ALL, .missing = ssh_missing},
    {"ssh, python", "ssh:loopback,python:$TOP/tests/python/conform.py", TYPES_ALL,
     .missing = ssh_python_missing},
};

static const struct {
    const char *name;
    void (*run)(struct bench *bench);
    bool recorded; /* makes sense where what was recorded before is given, and nothing run */
} cases[] = {
    {"types", case_types},
    {"shapes", case_shapes},
    {"containers", case_containers},
    {"many outputs", case_many_outputs},
    {"names", case_names},
    {"external weights", case_external},
    {"pieces", case_pieces},
    {"repeats", case_repeats},
    {"loads", case_loads},
    {"nothing loaded", case_nothing_loaded, true},
    {"wrong names", case_wrong_names},
    {"broken models", case_broken_models},
    {"unsupported", case_unsupported},
    {"cancel", case_cancel},
    {"limit", case_limit, true},
    {"describes", case_describes, true},
    {"account", case_account, true},
    {"release", case_release, true},
};

struct test {
    struct bench *bench;
    size_t at; /* of cases */
};

static void run_case(void **state)
{
    const struct test *test = *state;
    struct bench *bench = test->bench;
    if (bench->in_case) { /* the case before has failed: from anew */
        odb_target_close(bench->target);
        bench->target = NULL;
    }
    bench->in_case = true;
    bench_target(bench);
    cases[test->at].run(bench);
    bench->in_case = false;
}

static void skip_row(void **state)
{
    skip();
}

static struct bench *bench_new(const struct row *row)
{
    struct bench *bench = odb_new(struct bench);
    bench->row = row;
    snprintf(bench->dir, sizeof bench->dir, "/tmp/t_conformance-XXXXXX");
    assert_non_null(mkdtemp(bench->dir));
    snprintf(bench->tmp, sizeof bench->tmp, "%s/tmp", bench->dir);
    mkdir(bench->tmp, 0700);
    bench->spec = spec_of(row->spec, bench->dir);
    if (row->prepare)
        row->prepare(bench->dir);
    return bench;
}

static void bench_free(struct bench *bench)
{
    if (!bench)
        return;
    odb_target_close(bench->target);
    odb_scratch_remove(bench->dir);
    free(bench->spec);
    free(bench);
}

int main(int argc, char **argv)
{
    enum { MOST = ODB_COUNT(rows) * ODB_COUNT(cases) };
    static struct CMUnitTest tests[MOST];
    static struct test states[MOST];
    struct bench *benches[ODB_COUNT(rows)] = {NULL};
    size_t n = 0;
    if (argc > 1 && !strcmp(argv[1], "--program"))
        _exit(program_main()); /* with all that it has taken */
    if (argc > 1 && !strcmp(argv[1], "--server"))
        _exit(server_main());
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    help_find_serve();
    for (size_t r = 0; r < ODB_COUNT(rows); r++) {
        char why[512];
        row_missing(&rows[r], why, sizeof why);
        if (why[0]) {
            tests[n].name = odb_xasprintf("%s: not here: %s", rows[r].name, why);
            tests[n++].test_func = skip_row;
            continue;
        }
        benches[r] = bench_new(&rows[r]);
        for (size_t c = 0; c < ODB_COUNT(cases); c++) {
            if (row_recorded(&rows[r]) && !cases[c].recorded)
                continue;
            states[n] = (struct test){benches[r], c};
            tests[n].name = odb_xasprintf("%s: %s", rows[r].name, cases[c].name);
            tests[n].test_func = run_case;
            tests[n].initial_state = &states[n];
            n++;
        }
    }
    int failed = _cmocka_run_group_tests("conformance", tests, n, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        free((char *)tests[i].name);
    for (size_t r = 0; r < ODB_COUNT(rows); r++)
        bench_free(benches[r]);
    ssh_end();
    return failed;
}
