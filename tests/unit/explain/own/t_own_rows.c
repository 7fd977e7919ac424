/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows of the user's: each kind of change is told from what another model, or arithmetic, makes.
 */
#include "explain/own/own_rows.h"

#include <math.h>
#include <unistd.h>

#include "explain/explanations.h"
#include "interpret/cpu.h"
#include "tests/help/models.h"

static char *path; /* of a file for rows */

static enum odb_status rows_read(const char *text, struct odb_own_rows **out, struct odb_error *err)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return odb_own_rows_read(out, path, err);
}

static struct odb_tensor *numbers(uint64_t seed, int rank, const int64_t *dims)
{
    struct odb_tensor *t;
    assert_int_equal(odb_tensor_new(&t, ODB_F32, rank, dims, NULL), ODB_OK);
    for (size_t i = 0; i < t->count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        odb_store_f64(ODB_F32, t->data, i, (double)(seed >> 40) / (1 << 23) - 1);
    }
    return t;
}

/* Conv of a 9 x 9 image with 3 channels, and a bias. */
static struct odb_builder *conv(int64_t dilation, int64_t pad)
{
    struct odb_builder *b = odb_build_new("conv", 17);
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, 3, 9, 9});
    odb_build_input(b, "w", ODB_F32, 4, (int64_t[]){2, 3, 3, 3});
    odb_build_input(b, "b", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Conv", "node", "x w b", "y");
    odb_build_attr_ints(b, "dilations", 2, (int64_t[]){dilation, dilation});
    odb_build_attr_ints(b, "pads", 4, (int64_t[]){pad, pad, pad, pad});
    odb_build_output(b, "y");
    return b;
}

static struct odb_builder *gemm(const char *inputs, int64_t trans)
{
    struct odb_builder *b = odb_build_new("gemm", 17);
    odb_build_input(b, "a", ODB_F32, 2, (int64_t[]){4, 4});
    odb_build_input(b, "b", ODB_F32, 2, (int64_t[]){4, 4});
    odb_build_input(b, "c", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Gemm", "node", inputs, "y");
    odb_build_attr_int(b, "transB", trans);
    odb_build_output(b, "y");
    return b;
}

/* What the node of a model makes of its inputs, which are the same for all models of that shape;
 * in: [3], may be NULL. */
static struct odb_tensor *made_by(struct odb_builder *b, struct odb_tensor **in)
{
    struct odb_model *model = models_take(b);
    const struct odb_graph *graph = model->graph;
    struct odb_cpu *cpu = NULL;
    struct odb_tensor *x[3] = {NULL, NULL, NULL}, *y;
    for (int i = 0; i < graph->nodes[0].n_in; i++) {
        const struct odb_value *v = &graph->values[graph->nodes[0].in[i]];
        int64_t dims[4];
        for (int k = 0; k < v->type.rank; k++)
            dims[k] = v->type.dims[k].value;
        x[i] = numbers((uint64_t)(v->name[0]), v->type.rank, dims);
    }
    assert_int_equal(odb_cpu_new(&cpu, model, NULL), ODB_OK);
    assert_int_equal(odb_cpu_node(cpu, 0, ODB_PREC_NATIVE, 0, x, NULL, &y, NULL), ODB_OK);
    for (int i = 0; i < 3; i++) {
        if (in)
            in[i] = x[i];
        else
            odb_tensor_unref(x[i]);
    }
    odb_cpu_free(cpu);
    odb_model_free(model);
    return y;
}

/* The first explanation of y, as what the model makes; takes model and y. */
static void assert_told(struct odb_builder *b, struct odb_builder *again, struct odb_tensor *y,
                        const char *rows, const char *variant, const char *text)
{
    struct odb_explanations all;
    struct odb_own_rows *own = NULL;
    struct odb_tensor *in[3];
    struct odb_cpu *cpu;
    odb_tensor_unref(made_by(b, in));
    struct odb_model *model = models_take(again);
    assert_int_equal(rows_read(rows, &own, NULL), ODB_OK);
    assert_int_equal(odb_cpu_new(&cpu, model, NULL), ODB_OK);
    const struct odb_explain_question q = {
        .model = model, .cpu = cpu, .in = in, .out = &y, .factor = 10, .own = own};
    assert_int_equal(odb_explain(&all, &q, NULL), ODB_OK);
    assert_true(all.items.n > 0);
    assert_string_equal(all.items.items[0].variant, variant);
    assert_true(all.items.items[0].fit >= ODB_FIT_CLASS);
    if (text)
        assert_string_equal(all.items.items[0].text, text);
    odb_explanations_dispose(&all);
    odb_own_rows_free(own);
    odb_cpu_free(cpu);
    odb_model_free(model);
    odb_tensor_unref(y);
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(in[i]);
}

static void test_own_rows__attributes(void **state)
{
    (void)state;
    assert_told(conv(2, 2), conv(2, 2), made_by(conv(1, 1), NULL),
                "# a remark\n\n other Relu results bf16\n"
                "dense Conv attribute dilations=1,1 + attribute pads=1,1,1,1 \"no holes\"\n",
                "own/dense", "as your row says: no holes");
    assert_told(gemm("a b c", 1), gemm("a b c", 1), made_by(gemm("a b c", 0), NULL),
                "plain * attribute transB-=1\n", "own/plain",
                "as your row says: attribute transB-=1");
    assert_told(gemm("a b c", 1), gemm("a b c", 1), made_by(gemm("a b c", 0), NULL),
                "plain Gemm attribute transB dropped\n", "own/plain", NULL);
}

static void test_own_rows__inputs(void **state)
{
    (void)state;
    assert_told(gemm("a b c", 0), gemm("a b c", 0), made_by(gemm("a b", 0), NULL),
                "c Gemm input C missing\n", "own/c", NULL);
    assert_told(gemm("a b c", 0), gemm("a b c", 0), made_by(gemm("a b", 0), NULL),
                "c Gemm|Conv input 2 scaled 0\n", "own/c", NULL);
    assert_told(gemm("a b c", 0), gemm("a b c", 0), made_by(gemm("b a c", 0), NULL),
                "swap Gemm input A swapped B\n", "own/swap", NULL);
    assert_told(gemm("a b c", 0), gemm("a b c", 0), made_by(gemm("a b c", 1), NULL),
                "t Gemm input 1 transposed 1,0\n", "own/t", NULL);
    assert_told(gemm("a b c", 0), gemm("a b c", 0), made_by(gemm("a b c", 1), NULL),
                "t Gemm input B misread 1,0\n", "own/t", NULL);
}

/* What the Gemm makes, changed by fn. */
static struct odb_tensor *changed(double (*fn)(const struct odb_tensor *t, size_t i))
{
    struct odb_tensor *t = made_by(gemm("a b c", 0), NULL), *y;
    assert_int_equal(odb_tensor_clone(&y, t, NULL), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, y->data, i, fn(t, i));
    odb_tensor_unref(t);
    return y;
}

static double tripled_and_more(const struct odb_tensor *t, size_t i)
{
    return 3 * odb_tensor_f64(t, i) + 0.25;
}

static double between(const struct odb_tensor *t, size_t i)
{
    return fmin(fmax(odb_tensor_f64(t, i), -0.5), 0.25);
}

static double rolled(const struct odb_tensor *t, size_t i)
{
    return odb_tensor_f64(t, i - i % 4 + (i % 4 + 3) % 4);
}

static double halved(const struct odb_tensor *t, size_t i)
{
    float f = (float)odb_tensor_f64(t, i);
    odb_round_f32(ODB_F16, &f, 1);
    return (double)f;
}

static void test_own_rows__outputs_and_numbers(void **state)
{
    (void)state;
    assert_told(gemm("a b c", 0), gemm("a b c", 0), changed(tripled_and_more),
                "l Gemm output scaled 3 + output plus 0.25\n", "own/l",
                "as your row says: output scaled 3 + output plus 0.25");
    assert_told(gemm("a b c", 0), gemm("a b c", 0), changed(between),
                "c * output clamped -0.5 0.25\n", "own/c", NULL);
    assert_told(gemm("a b c", 0), gemm("a b c", 0), changed(rolled), "r * output rolled 1 -1\n",
                "own/r", NULL);
    assert_told(gemm("a b c", 0), gemm("a b c", 0), changed(halved), "h * results f16\n", "own/h",
                NULL);
}

static void test_own_rows__what_is_none_is_named_with_its_line(void **state)
{
    static const char *const bad[] = {
        "x",
        "x Relu",
        "x Rel input X zero",
        "x Relu|Rel input X zero",
        "x Relu input Y zero",
        "x Relu input X scled 2",
        "x Relu input X scaled",
        "x Relu input X scaled q",
        "x Relu input X scaled \"2\"",
        "x Relu output clamped 0",
        "x Relu output clamped 0 + output nan-as-0",
        "x Conv attribute axis=1",
        "x Conv attribute dilations=1,x",
        "x Conv attribute dilations+=1",
        "x Conv attribute dilations",
        "x Conv attribute dilations gone",
        "x Relu result bf16",
        "x Relu results bf15",
        "x Relu output rolled 1.5 0",
        "x Conv input X transposed 0,0,1",
        "x Conv input X transposed 0,1,2,3,4,5,6,7,8",
        "x Relu output nan-as-0 output scaled 1",
        "x Relu output nan-as-0 +",
        "x Relu output nan-as-0 \"words\" more",
        "x! Relu output nan-as-0",
        "\"x\" Relu output nan-as-0",
        "x Relu output nan-as-0\nx Relu output nan-as-0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct odb_own_rows *own = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        char *text = odb_xasprintf("ok Relu results bf16\n\n%s\n", bad[i]);
        char *where = odb_xasprintf("%s:%d", path, strchr(bad[i], '\n') ? 4 : 3);
        assert_int_equal(rows_read(text, &own, &err), ODB_E_USAGE);
        assert_null(own);
        if (!strstr(err.where, where))
            print_message("%s: %s\n", bad[i], err.where);
        assert_non_null(strstr(err.where, where));
        free(text);
        free(where);
    }
}

static int remove_file(void **state)
{
    (void)state;
    int status = unlink(path);
    free(path);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_rows__attributes),
        cmocka_unit_test(test_own_rows__inputs),
        cmocka_unit_test(test_own_rows__outputs_and_numbers),
        cmocka_unit_test(test_own_rows__what_is_none_is_named_with_its_line),
    };
    path = odb_file_temporary("own-rows-");
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
