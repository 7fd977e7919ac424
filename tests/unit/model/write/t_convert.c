/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models written in narrower types: which types the values have, that borders stay as they were,
 * where Casts stand, and that nothing is converted that cannot be.
 */
#include "model/write/convert.h"

#include <math.h>

#include "system/file.h"
#include "interpret/cpu.h"
#include "model/write/convert_int.h"
#include "tests/help/models.h"
#include "model/read/load.h"
#include "model/write/write.h"

/* A model, one run of it by the reference, and what was written of it. */
struct written {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_tensor **values; /* owned refs; [n_values] */
    struct odb_convert *convert;
    struct odb_buf bytes;
    struct odb_model *mixed;
    int *origin;
    size_t n_origin;
};

static struct odb_tensor **written_run(const struct odb_model *model, struct odb_cpu **cpu,
                                       const struct odb_tensor *x)
{
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, model->graph->n_values + 1);
    struct odb_cpu_run run = {.values = values};
    values[models_value(model, "x")] = odb_tensor_ref(x);
    MODELS_OK(odb_cpu_new(cpu, model, &why));
    MODELS_OK(odb_cpu_execute(*cpu, &run, &why));
    return values;
}

static void written_drop(const struct odb_model *model, struct odb_tensor **values)
{
    for (size_t v = 0; v < model->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

static void written_begin(struct written *w, struct odb_builder *b, struct odb_tensor *x,
                          enum odb_dtype to)
{
    *w = (struct written){.bytes = ODB_BUF_INIT};
    w->model = models_take(b);
    w->values = written_run(w->model, &w->cpu, x);
    odb_tensor_unref(x);
    double(*range)[2] = odb_xcalloc(w->model->graph->n_values + 1, sizeof *range);
    for (size_t v = 0; v < w->model->graph->n_values; v++)
        for (size_t i = 0; w->values[v] && i < w->values[v]->count; i++) {
            range[v][0] = fmin(range[v][0], odb_tensor_f64(w->values[v], i));
            range[v][1] = fmax(range[v][1], odb_tensor_f64(w->values[v], i));
        }
    const struct odb_convert_options options = {.to = to,
                                                .like = (const struct odb_tensor *const *)w->values,
                                                .range = (const double(*)[2])range};
    MODELS_OK(odb_convert_new(&w->convert, w->model, &options, &why));
    free(range);
}

static void written_write(struct written *w, const bool *keep)
{
    const struct odb_convert_form form = {
        .keep = keep, .origin = &w->origin, .n_nodes = &w->n_origin};
    MODELS_OK(odb_convert_write(w->convert, &form, &w->bytes, &why));
    MODELS_OK(
        odb_model_open_bytes(&w->mixed, w->bytes.data, w->bytes.len, NULL, "", "mixed", &why));
    assert_int_equal(w->n_origin, w->mixed->graph->n_nodes);
}

static void written_end(struct written *w)
{
    written_drop(w->model, w->values);
    odb_cpu_free(w->cpu);
    odb_convert_free(w->convert);
    odb_model_free(w->mixed);
    odb_model_free(w->model);
    odb_buf_dispose(&w->bytes);
    free(w->origin);
}

/* The type of every value of the mixed model, as it runs; the worst relative distance of its
 * outputs from those of the model. */
static double written_distance(const struct written *w, struct odb_tensor ***ran)
{
    struct odb_cpu *cpu;
    double worst = 0;
    struct odb_tensor **values =
        written_run(w->mixed, &cpu, w->values[models_value(w->model, "x")]);
    for (size_t o = 0; o < w->model->graph->n_outputs; o++) {
        const struct odb_value *out = &w->model->graph->values[w->model->graph->outputs[o]];
        const struct odb_tensor *a = w->values[out->index];
        const struct odb_tensor *b = values[models_value(w->mixed, out->name)];
        assert_non_null(b);
        assert_int_equal(a->dtype, b->dtype);
        assert_true(odb_tensor_same_shape(a, b));
        for (size_t i = 0; i < a->count; i++)
            worst = fmax(worst, fabs(odb_tensor_f64(a, i) - odb_tensor_f64(b, i)) /
                                    fmax(fabs(odb_tensor_f64(a, i)), 1e-6));
    }
    odb_cpu_free(cpu);
    if (ran)
        *ran = values;
    else
        written_drop(w->mixed, values);
    return worst;
}

static size_t written_count(const struct written *w, const char *op)
{
    size_t n = 0;
    for (size_t i = 0; i < w->mixed->graph->n_nodes; i++)
        n += !strcmp(w->mixed->graph->nodes[i].op_type, op);
    return n;
}

static struct odb_tensor *written_ramp(int64_t rows, int64_t cols)
{
    struct odb_tensor *t;
    MODELS_OK(odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){rows, cols}, &why));
    for (size_t i = 0; i < t->count; i++)
        ((odb_f32 *)t->data)[i] = (float)((int)(i * 37 % 23) - 11) / 8;
    return t;
}

static void written_weight(struct odb_builder *b, const char *name, int64_t rows, int64_t cols)
{
    struct odb_tensor *t = written_ramp(rows, cols);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* x -> MatMul "m0" -> a -> Relu "r" -> b -> MatMul "m1" -> y, and a is an output as well. */
static struct odb_builder *written_chain(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 8});
    written_weight(b, "w0", 8, 8);
    written_weight(b, "w1", 8, 4);
    odb_build_node(b, "MatMul", "m0", "x w0", "a");
    odb_build_node(b, "Relu", "r", "a", "b");
    odb_build_node(b, "MatMul", "m1", "b w1", "y");
    odb_build_value_info(b, "b", ODB_F32, 2, (int64_t[]){2, 8});
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_output_typed(b, "a", ODB_F32, 2, (int64_t[]){2, 8});
    odb_build_metadata(b, "author", "somebody");
    return b;
}

static enum odb_dtype written_type(const struct written *w, struct odb_tensor *const *ran,
                                   const char *name)
{
    return ran[models_value(w->mixed, name)]->dtype;
}

static void written_all_half(enum odb_dtype to, double worst)
{
    struct written w;
    struct odb_tensor **ran;
    written_begin(&w, written_chain(), written_ramp(2, 8), to);
    written_write(&w, NULL);
    double distance = written_distance(&w, &ran);
    assert_true(distance > 0 && distance < worst);
    assert_int_equal(written_type(&w, ran, "x"), ODB_F32);
    assert_int_equal(written_type(&w, ran, "y"), ODB_F32);
    assert_int_equal(written_type(&w, ran, "a"), ODB_F32);
    assert_int_equal(written_type(&w, ran, "b"), to);
    assert_int_equal(written_type(&w, ran, to == ODB_F16 ? "x_f16" : "x_bf16"), to);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "w0")].init->dtype, to);
    /* x down, y up, a up; the weights need none */
    assert_int_equal(written_count(&w, "Cast"), 3);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "b")].type.dtype, to);
    assert_string_equal(w.mixed->metadata.items[0][1], "somebody");
    assert_int_equal(w.mixed->graph->n_inputs, 1);
    written_drop(w.mixed, ran);
    written_end(&w);
}

static void test_convert__all_in_half(void **state)
{
    written_all_half(ODB_F16, 2e-2);
    written_all_half(ODB_BF16, 1e-1);
}

static void test_convert__all_kept_is_the_model(void **state)
{
    struct written w;
    const bool keep[3] = {true, true, true};
    written_begin(&w, written_chain(), written_ramp(2, 8), ODB_F16);
    written_write(&w, keep);
    assert_int_equal(w.mixed->graph->n_nodes, 3);
    assert_true(written_distance(&w, NULL) == 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(w.origin[i], i);
    written_end(&w);
}

/* One Cast per value and direction, however many readers; a weight of both has two tensors. */
static void test_convert__casts_are_shared(void **state)
{
    struct written w;
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){4, 4});
    written_weight(b, "w", 4, 4);
    odb_build_node(b, "MatMul", "n0", "x w", "a");
    odb_build_node(b, "Add", "n1", "a w", "b");
    odb_build_node(b, "Mul", "n2", "a x", "c");
    odb_build_node(b, "Sub", "n3", "a w", "d");
    odb_build_node(b, "Max", "n4", "a b c d", "y");
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(4, 4), ODB_F16);
    const bool keep[5] = {false, true, true, false, false}; /* n1 and n2 */
    written_write(&w, keep);
    /* x to half (n0); a back (n1 and n2); b and c to half (n4), y back */
    assert_int_equal(written_count(&w, "Cast"), 5);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "w")].init->dtype, ODB_F32);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "w_f16")].init->dtype, ODB_F16);
    assert_true(written_distance(&w, NULL) < 0.05);
    written_end(&w);
}

/* Names that are taken already are not made again. */
static void test_convert__names_stay_unique(void **state)
{
    struct written w;
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_node(b, "Relu", "x_f16", "x", "x_f16_2");
    odb_build_node(b, "Neg", "y", "x_f16_2", "y");
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(2, 2), ODB_F16);
    written_write(&w, NULL);
    assert_non_null(odb_graph_value(w.mixed->graph, "x_f16_3"));
    for (size_t i = 0; i < w.mixed->graph->n_nodes; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(w.mixed->graph->nodes[i].name, w.mixed->graph->nodes[k].name);
    assert_true(written_distance(&w, NULL) < 0.01);
    written_end(&w);
}

static void test_convert__a_weight_beyond_the_type_keeps_its_reader(void **state)
{
    struct written w;
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *big = models_f32(1, (int64_t[]){2}, (float[]){1, -1e5f});
    struct odb_tensor *inf = models_f32(1, (int64_t[]){2}, (float[]){-INFINITY, 65504});
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_weight(b, "big", big);
    odb_build_weight(b, "inf", inf);
    odb_build_node(b, "Mul", "n0", "x big", "a");
    odb_build_node(b, "Max", "n1", "a inf", "y");
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(2, 2), ODB_F16);
    assert_int_equal(odb_convert_class(w.convert, 0), ODB_CONVERT_STAYS);
    assert_true(odb_convert_beyond(w.convert, 0));
    assert_non_null(strstr(odb_convert_why(w.convert, 0), "big holds -100000"));
    assert_int_equal(odb_convert_class(w.convert, 1), ODB_CONVERT_FREE);
    written_write(&w, NULL);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "big")].init->dtype, ODB_F32);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "inf")].init->dtype, ODB_F16);
    written_end(&w);
    odb_tensor_unref(big);
    odb_tensor_unref(inf);
}

/* A Constant is a weight; Cast and ConstantOfShape say the new type; Shape needs no Cast; Resize
 * keeps its scales. */
static void test_convert__operators_with_something_to_know(void **state)
{
    struct written w;
    struct odb_tensor **ran;
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *two = models_f32(0, NULL, &(float){2.5f});
    struct odb_tensor *scales = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_weight(b, "scales", scales);
    odb_build_node(b, "Constant", "c", "", "k");
    odb_build_attr_tensor(b, "value", two);
    odb_build_node(b, "Mul", "n1", "x k", "a");
    odb_build_node(b, "Shape", "n2", "a", "s");
    odb_build_node(b, "Cast", "n3", "s", "sf");
    odb_build_attr_int(b, "to", ODB_F32);
    odb_build_node(b, "ConstantOfShape", "n4", "s", "z");
    odb_build_node(b, "Add", "n5", "a z", "d");
    odb_build_node(b, "Resize", "n6", "d - scales", "e");
    odb_build_node(b, "ReduceSum", "n7", "sf", "f");
    odb_build_node(b, "Mul", "n8", "e f", "y");
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(2, 2), ODB_F16);
    written_write(&w, NULL);
    assert_true(written_distance(&w, &ran) < 0.01);
    static const char *const halves[] = {"a", "sf", "z", "d", "e", "f"};
    for (size_t i = 0; i < ODB_COUNT(halves); i++)
        assert_int_equal(written_type(&w, ran, halves[i]), ODB_F16);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "k")].init->dtype, ODB_F16);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "scales")].init->dtype, ODB_F32);
    assert_int_equal(written_count(&w, "Constant"), 0);
    assert_int_equal(written_count(&w, "Cast"), 3); /* x, y, and the model's own */
    written_drop(w.mixed, ran);
    written_end(&w);
    odb_tensor_unref(two);
    odb_tensor_unref(scales);
}

/* What a body reads keeps name and type. */
static void test_convert__bodies_stay(void **state)
{
    struct written w;
    struct odb_builder *b = odb_build_new("g", 17), *yes = odb_build_new("yes", 0);
    struct odb_builder *no = odb_build_new("no", 0);
    struct odb_tensor *flag;
    MODELS_OK(odb_tensor_copy_of(&flag, ODB_BOOL, 0, NULL, &(bool){true}, &why));
    odb_build_node(yes, "Relu", "in", "a", "v");
    odb_build_output_typed(yes, "v", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_node(no, "Neg", "in2", "a", "u");
    odb_build_output_typed(no, "u", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_weight(b, "flag", flag);
    odb_build_node(b, "Tanh", "n0", "x", "a");
    odb_build_node(b, "If", "n1", "flag", "c");
    odb_build_attr_graph(b, "then_branch", yes);
    odb_build_attr_graph(b, "else_branch", no);
    odb_build_node(b, "Add", "n2", "a c", "y");
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(2, 2), ODB_F16);
    assert_int_equal(odb_convert_class(w.convert, 1), ODB_CONVERT_STAYS);
    written_write(&w, NULL);
    assert_true(written_distance(&w, NULL) < 0.01);
    /* x and c down, y and a up, where a keeps its name for the body */
    assert_int_equal(written_count(&w, "Cast"), 4);
    assert_non_null(odb_graph_value(w.mixed->graph, "a_f16"));
    written_end(&w);
    odb_tensor_unref(flag);
}

static void test_convert__containers_and_old_opsets(void **state)
{
    struct written w;
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *zero;
    MODELS_OK(odb_tensor_new(&zero, ODB_I64, 0, NULL, &why));
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_weight(b, "zero", zero);
    odb_build_node(b, "SequenceConstruct", "n0", "x", "s");
    odb_build_node(b, "SequenceAt", "n1", "s zero", "a");
    odb_build_node(b, "Celu", "n2", "a", "y"); /* float16 from opset 28 on */
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(2, 2), ODB_F16);
    for (int n = 0; n < 3; n++)
        assert_int_equal(odb_convert_class(w.convert, n), ODB_CONVERT_STAYS);
    assert_non_null(strstr(odb_convert_why(w.convert, 2), "Celu of opset 17"));
    written_write(&w, NULL);
    assert_int_equal(w.mixed->graph->n_nodes, 3);
    written_end(&w);
    odb_tensor_unref(zero);

    struct odb_convert *none;
    struct odb_error err = ODB_ERROR_INIT;
    b = odb_build_new("g", 6);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 2});
    odb_build_node(b, "Relu", "n0", "x", "y");
    odb_build_output(b, "y");
    struct odb_model *old = models_take(b);
    assert_int_equal(
        odb_convert_new(&none, old, &(struct odb_convert_options){.to = ODB_F16}, &err),
        ODB_UNSUPPORTED);
    odb_model_free(old);
}

/* An initializer that is an input as well is a plain weight in what is written. */
static void test_convert__weights_among_the_inputs(void **state)
{
    struct written w;
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_ir_version(b, 3);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 4});
    odb_build_input(b, "w", ODB_F32, 2, (int64_t[]){4, 4});
    written_weight(b, "w", 4, 4);
    odb_build_node(b, "MatMul", "n0", "x w", "y");
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(2, 4), ODB_F16);
    written_write(&w, NULL);
    assert_int_equal(w.mixed->graph->n_inputs, 1);
    assert_true(w.mixed->ir_version >= 4);
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "w")].init->dtype, ODB_F16);
    assert_int_equal(written_count(&w, "Cast"), 2);
    written_end(&w);
}

/* Large weights in a file beside, and by their range in the original one: the same model. */
static void test_convert__weights_elsewhere(void **state)
{
    struct written w;
    const bool keep[3] = {true, false, false};
    struct odb_builder *b = odb_build_new("g", 17);
    char *folder = models_folder(), *from = odb_xasprintf("%s/from.onnx", folder);
    char *to = odb_xasprintf("%s/to.onnx", folder), *data = odb_xasprintf("%s/w.bin", folder);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 32});
    written_weight(b, "w0", 32, 32);
    written_weight(b, "w1", 32, 32);
    odb_build_node(b, "MatMul", "m0", "x w0", "a");
    odb_build_node(b, "Relu", "r", "a", "b");
    odb_build_node(b, "MatMul", "m1", "b w1", "y");
    odb_build_output(b, "y");
    MODELS_OK(odb_build_write(b, from, NULL, &why));
    written_begin(&w, b, written_ramp(2, 32), ODB_F16);
    odb_convert_free(w.convert);
    odb_cpu_free(w.cpu);
    odb_model_free(w.model);
    w.cpu = NULL;
    MODELS_OK(odb_model_open(&w.model, from, &why)); /* the same again, from a file */
    const struct odb_convert_options options = {.to = ODB_F16,
                                                .like = (const struct odb_tensor *const *)w.values};
    MODELS_OK(odb_convert_new(&w.convert, w.model, &options, &why));
    for (int how = 0; how < 3; how++) {
        static const enum odb_weights hows[] = {ODB_WEIGHTS_INLINE, ODB_WEIGHTS_BESIDE,
                                                ODB_WEIGHTS_REFERENCE};
        struct odb_file_parts weights = {0};
        const struct odb_convert_form form = {
            .keep = keep, .weights = hows[how], .weights_file = "w.bin", .weights_out = &weights};
        odb_buf_clear(&w.bytes);
        MODELS_OK(odb_convert_write(w.convert, &form, &w.bytes, &why));
        /* w0 is 4096 bytes of float, w1 2048 of float16, which are in no file yet */
        const size_t least[] = {4096 + 2048, 0, 2048}, most[] = {9000, 2000, 4000};
        assert_true(w.bytes.len >= least[how] && w.bytes.len < most[how]);
        assert_int_equal(weights.size, hows[how] == ODB_WEIGHTS_BESIDE ? 4096 + 2048 : 0);
        MODELS_OK(odb_file_write_parts(data, weights.pieces.items, weights.pieces.n, &why));
        MODELS_OK(odb_file_write(to, w.bytes.data, w.bytes.len, &why));
        MODELS_OK(odb_model_open(&w.mixed, to, &why));
        double distance = written_distance(&w, NULL);
        assert_true(distance > 0 && distance < 0.05);
        odb_model_free(w.mixed);
        w.mixed = NULL;
        odb_file_parts_dispose(&weights);
    }
    written_end(&w);
    models_remove(folder);
    free(from);
    free(to);
    free(data);
}

/* --- int8 ----------------------------------------------------------------------------------- */

static void test_convert__int8_around_products(void **state)
{
    struct written w;
    struct odb_tensor *in, *weight;
    written_begin(&w, written_chain(), written_ramp(2, 8), ODB_I8);
    assert_int_equal(odb_convert_class(w.convert, 0), ODB_CONVERT_FREE);
    assert_int_equal(odb_convert_class(w.convert, 1), ODB_CONVERT_NOTHING);
    const bool keep[3] = {false, false, true};
    written_write(&w, keep);
    assert_int_equal(written_count(&w, "QuantizeLinear"), 1);
    assert_int_equal(written_count(&w, "DequantizeLinear"), 2);
    const struct odb_value *q = &w.mixed->graph->values[models_value(w.mixed, "w0_quantized")];
    const struct odb_value *scale = &w.mixed->graph->values[models_value(w.mixed, "w0_scale")];
    assert_int_equal(q->init->dtype, ODB_I8);
    assert_int_equal(scale->init->count, 8); /* a scale per column */
    assert_null(odb_graph_value(w.mixed->graph, "w0"));
    assert_int_equal(w.mixed->graph->values[models_value(w.mixed, "w1")].init->dtype, ODB_F32);
    /* what the operands are said to become is what the written model computes */
    struct odb_tensor **ran;
    written_distance(&w, &ran);
    MODELS_OK(
        odb_convert_operand(w.convert, 0, 0, w.values[models_value(w.model, "x")], &in, &why));
    MODELS_OK(odb_convert_operand(w.convert, 0, 1, NULL, &weight, &why));
    assert_true(odb_tensor_identical(in, ran[models_value(w.mixed, "x_dequantized")]));
    assert_true(odb_tensor_identical(weight, ran[models_value(w.mixed, "w0_dequantized")]));
    odb_tensor_unref(in);
    odb_tensor_unref(weight);
    written_drop(w.mixed, ran);
    written_end(&w);
}

static void test_convert__int8_axes(void **state)
{
    struct written w;
    struct odb_builder *b = odb_build_new("g", 13);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){3, 4});
    written_weight(b, "w", 5, 4);
    written_weight(b, "v", 4, 3);
    odb_build_node(b, "Gemm", "n0", "x w", "a");
    odb_build_attr_int(b, "transB", 1);
    odb_build_node(b, "MatMul", "n1", "x v", "b");
    odb_build_node(b, "MatMul", "n2", "b a", "y"); /* both computed */
    odb_build_output(b, "y");
    written_begin(&w, b, written_ramp(3, 4), ODB_I8);
    written_write(&w, NULL);
    const struct odb_graph *g = w.mixed->graph;
    assert_int_equal(g->values[models_value(w.mixed, "w_scale")].init->count, 5);
    assert_int_equal(g->values[models_value(w.mixed, "v_scale")].init->count, 3);
    assert_int_equal(g->values[models_value(w.mixed, "a_scale")].init->count, 1);
    assert_int_equal(written_count(&w, "QuantizeLinear"), 3); /* x once, a, b */
    struct odb_tensor **ran;
    written_distance(&w, &ran);
    const struct odb_tensor *y = ran[models_value(w.mixed, "y")];
    const struct odb_tensor *ref = w.values[models_value(w.model, "y")];
    for (size_t i = 0; i < y->count; i++)
        assert_true(fabs(odb_tensor_f64(y, i) - odb_tensor_f64(ref, i)) < 0.3);
    written_drop(w.mixed, ran);
    written_end(&w);
}

/* --- the table ------------------------------------------------------------------------------ */

/* Could be converted as far as their types go, and are not: draws, containers, bodies, what has a
 * type in an attribute, and quantisation, which has its own. And from opset 7 on only. */
static const char *const convert_left_out[] = {"Bernoulli",
                                               "BitCast",
                                               "BlackmanWindow",
                                               "Constant",
                                               "EyeLike",
                                               "HammingWindow",
                                               "HannWindow",
                                               "If",
                                               "Loop",
                                               "MelWeightMatrix",
                                               "Multinomial",
                                               "Optional",
                                               "RandomNormal",
                                               "RandomNormalLike",
                                               "RandomUniform",
                                               "RandomUniformLike",
                                               "Scan",
                                               "SequenceConstruct",
                                               "SequenceAt",
                                               "SequenceInsert",
                                               "SequenceMap",
                                               "SplitToSequence",
                                               "ConcatFromSequence",
                                               "OptionalGetElement",
                                               "OptionalHasElement",
                                               "QuantizeLinear",
                                               "DequantizeLinear",
                                               "QLinearMatMul",
                                               "Scatter"};

/* Whether every place of "float,double;int64" that takes float takes the type, but the fixed ones;
 * *any: there is one. */
static bool convert_column(char *text, const char *type, uint32_t fixed, bool *any)
{
    bool all = true;
    int i = 0;
    char *rest;
    for (char *place = strtok_r(text, ";", &rest); place; place = strtok_r(NULL, ";", &rest), i++) {
        char *padded = odb_xasprintf(",%s,", place), *wanted = odb_xasprintf(",%s,", type);
        if (strstr(padded, ",float,") && !(fixed >> i & 1)) {
            *any = true;
            all = all && strstr(padded, wanted);
        }
        free(padded);
        free(wanted);
    }
    return all;
}

static int convert_check_row(const char *line, enum odb_dtype to)
{
    char *copy = odb_xstrdup(line), *column[8], *rest = copy;
    const char *type = to == ODB_F16 ? "float16" : "bfloat16";
    uint32_t in, out;
    bool any = false, left_out = false;
    int bad = 0;
    for (int i = 0; i < 8; i++)
        column[i] = strsep(&rest, "\t");
    int since = atoi(column[2]);
    bool takes = convert_takes("", column[1], since, to, &in, &out);
    bool may = convert_column(column[6], type, in, &any);
    may = convert_column(column[7], type, out, &any) && may;
    for (size_t i = 0; i < ODB_COUNT(convert_left_out); i++)
        left_out = left_out || !strcmp(convert_left_out[i], column[1]);
    if (!strcmp(column[0], "ai.onnx") && !strcmp(column[3], "-")) {
        if (takes && !may) {
            print_error("%s %d does not take %s everywhere\n", column[1], since, type);
            bad = 1;
        } else if (!takes && may && any && since >= 7 && !left_out) {
            print_error("%s %d takes %s and is not in the table\n", column[1], since, type);
            bad = 1;
        }
    }
    free(copy);
    return bad;
}

static void test_convert__table_against_the_schemas(void **state)
{
    char *line = NULL;
    size_t size = 0;
    int rows = 0, bad = 0;
    FILE *f = fopen("tests/operators.tsv", "r");
    assert_non_null(f);
    while (getline(&line, &size, f) >= 0) {
        if (line[0] == '#')
            continue;
        line[strcspn(line, "\n")] = '\0';
        bad += convert_check_row(line, ODB_F16) + convert_check_row(line, ODB_BF16);
        rows++;
    }
    free(line);
    fclose(f);
    assert_true(rows > 500);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert__all_in_half),
        cmocka_unit_test(test_convert__all_kept_is_the_model),
        cmocka_unit_test(test_convert__casts_are_shared),
        cmocka_unit_test(test_convert__names_stay_unique),
        cmocka_unit_test(test_convert__a_weight_beyond_the_type_keeps_its_reader),
        cmocka_unit_test(test_convert__operators_with_something_to_know),
        cmocka_unit_test(test_convert__bodies_stay),
        cmocka_unit_test(test_convert__containers_and_old_opsets),
        cmocka_unit_test(test_convert__weights_among_the_inputs),
        cmocka_unit_test(test_convert__weights_elsewhere),
        cmocka_unit_test(test_convert__int8_around_products),
        cmocka_unit_test(test_convert__int8_axes),
        cmocka_unit_test(test_convert__table_against_the_schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
