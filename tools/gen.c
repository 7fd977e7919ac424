/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What makes a generated network useful to a debugger is that its values stay alive: neither
 * exploding nor vanishing with depth, no two channels alike, and an error made anywhere still
 * visible at the end. So weights are drawn with the variance that keeps a layer's output at its
 * input's size (He et al. 2015), branches that are added to a residual are scaled down, and the
 * statistics of a BatchNormalization are close to, but not, the identity.
 *
 * Names follow what PyTorch's exporter writes, since that is what users look at.
 */
#include "tools/gen_int.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    GEN_INSIDE = 1024, /* bytes of a weight that is worth no file */
    GEN_ALIGN = 4096   /* of the others in theirs, so that they can be mapped one by one */
};

const char *gen_f(struct gen *g, const char *fmt, ...)
{
    va_list args;
    char *text;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    ODB_ASSERT(n >= 0);
    odb_push(&g->texts, text);
    return text;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Mean 0, variance 1, nearly normal: a sum of uniforms needs no libm, so every machine draws the
 * same bits. */
double gen_normal(struct gen *g)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += odb_pcg64_double(&g->random);
    return (sum - 2) * 1.7320508075688772;
}

struct odb_tensor *gen_tensor(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    struct odb_tensor *t;
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status status = odb_tensor_new(&t, dtype, rank, dims, &err);
    ODB_ASSERT(status == ODB_OK);
    return t;
}

/* Behind what was written before; whether that succeeds, the file knows. */
static void gen_add_beside(struct gen *g, const char *name, const struct odb_tensor *t)
{
    static const char zeros[GEN_ALIGN];
    size_t gap = (GEN_ALIGN - g->data_size % GEN_ALIGN) % GEN_ALIGN;
    fwrite(zeros, 1, gap, g->options->data);
    fwrite(t->data, 1, t->bytes, g->options->data);
    odb_build_weight_beside(g->b, name, t, g->options->data_name, g->data_size + gap);
    g->data_size += gap + t->bytes;
}

void gen_add(struct gen *g, const char *name, struct odb_tensor *t)
{
    if (g->options->data && t->bytes > GEN_INSIDE)
        gen_add_beside(g, name, t);
    else
        odb_build_weight(g->b, name, t);
    g->weight_bytes += t->bytes;
    odb_tensor_unref(t);
}

/* mean + spread * normal. */
const char *gen_weight(struct gen *g, const char *name, int rank, const int64_t *dims, double mean,
                       double spread)
{
    struct odb_tensor *t = gen_tensor(g->floats, rank, dims);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(g->floats, t->data, i, mean + spread * gen_normal(g));
    gen_add(g, name, t);
    return name;
}

const char *gen_vector(struct gen *g, const char *name, int64_t n, double mean, double spread)
{
    return gen_weight(g, name, 1, &n, mean, spread);
}

const char *gen_scalar(struct gen *g, const char *name, double value)
{
    return gen_weight(g, name, 0, NULL, value, 0);
}

const char *gen_ints(struct gen *g, const char *name, int64_t n, const int64_t *values)
{
    struct odb_tensor *t = gen_tensor(ODB_I64, 1, &n);
    memcpy(t->data, values, (size_t)n * sizeof *values);
    gen_add(g, name, t);
    return name;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* One node with one output, named as an exporter would: "/PATH/Op" makes "/PATH/Op_output_0". */
const char *gen_node(struct gen *g, const char *op, const char *path, const char *inputs)
{
    const char *name = gen_f(g, "/%s%s%s", path, path[0] ? "/" : "", op);
    const char *out = gen_f(g, "%s_output_0", name);
    odb_build_node(g->b, op, name, inputs, out);
    return out;
}

const char *gen_unary(struct gen *g, const char *op, const char *path, const char *x)
{
    return gen_node(g, op, path, x);
}

const char *gen_binary(struct gen *g, const char *op, const char *path, const char *x,
                       const char *y)
{
    return gen_node(g, op, path, gen_f(g, "%s %s", x, y));
}

const char *gen_transpose(struct gen *g, const char *path, const char *x, int rank,
                          const int64_t *perm)
{
    const char *out = gen_node(g, "Transpose", path, x);
    odb_build_attr_ints(g->b, "perm", (size_t)rank, perm);
    return out;
}

const char *gen_reshape(struct gen *g, const char *path, const char *x, int64_t rank,
                        const int64_t *shape)
{
    const char *name = gen_f(g, "%s.shape", path);
    return gen_binary(g, "Reshape", path, x, gen_ints(g, name, rank, shape));
}

struct conv {
    int64_t in, out, kernel, stride, group;
    double gain; /* of the output's size; 1 keeps it */
    bool bias;
};

/* "PATH/Conv" with weights "PATH.weight", "PATH.bias". */
static const char *gen_conv(struct gen *g, const char *path, const char *weights, const char *x,
                            struct conv c)
{
    int64_t per = c.in / c.group, pad = c.kernel / 2;
    double spread = c.gain * sqrt(2.0 / (double)(per * c.kernel * c.kernel));
    const char *w = gen_weight(g, gen_f(g, "%s.weight", weights), 4,
                               (int64_t[]){c.out, per, c.kernel, c.kernel}, 0, spread);
    const char *bias = c.bias ? gen_vector(g, gen_f(g, "%s.bias", weights), c.out, 0, 0.1) : "";
    const char *out = gen_node(g, "Conv", path, gen_f(g, "%s %s %s", x, w, bias));
    GEN_ATTR_INTS(g, "dilations", 1, 1);
    odb_build_attr_int(g->b, "group", c.group);
    GEN_ATTR_INTS(g, "kernel_shape", c.kernel, c.kernel);
    GEN_ATTR_INTS(g, "pads", pad, pad, pad, pad);
    GEN_ATTR_INTS(g, "strides", c.stride, c.stride);
    return out;
}

static const char *gen_bn(struct gen *g, const char *path, const char *weights, const char *x,
                          int64_t n, double gain)
{
    const char *scale = gen_vector(g, gen_f(g, "%s.weight", weights), n, gain, 0.1 * gain);
    const char *bias = gen_vector(g, gen_f(g, "%s.bias", weights), n, 0, 0.1);
    const char *mean = gen_vector(g, gen_f(g, "%s.running_mean", weights), n, 0, 0.1);
    const char *var = gen_vector(g, gen_f(g, "%s.running_var", weights), n, 1, 0.15);
    const char *out = gen_node(g, "BatchNormalization", path,
                               gen_f(g, "%s %s %s %s %s", x, scale, bias, mean, var));
    odb_build_attr_float(g->b, "epsilon", 1e-5f);
    odb_build_attr_float(g->b, "momentum", 0.9f);
    return out;
}

static const char *gen_max_pool(struct gen *g, const char *path, const char *x, int64_t kernel,
                                int64_t stride, int64_t pad)
{
    const char *out = gen_node(g, "MaxPool", path, x);
    GEN_ATTR_INTS(g, "kernel_shape", kernel, kernel);
    GEN_ATTR_INTS(g, "pads", pad, pad, pad, pad);
    GEN_ATTR_INTS(g, "strides", stride, stride);
    return out;
}

static const char *gen_gemm(struct gen *g, const char *path, const char *weights, const char *x,
                            int64_t in, int64_t out_size, double gain)
{
    const char *w = gen_weight(g, gen_f(g, "%s.weight", weights), 2, (int64_t[]){out_size, in}, 0,
                               gain * sqrt(1.0 / (double)in));
    const char *b = gen_vector(g, gen_f(g, "%s.bias", weights), out_size, 0, 0.1);
    const char *out = gen_node(g, "Gemm", path, gen_f(g, "%s %s %s", x, w, b));
    odb_build_attr_float(g->b, "alpha", 1);
    odb_build_attr_float(g->b, "beta", 1);
    odb_build_attr_int(g->b, "transB", 1);
    return out;
}

/* MatMul and Add, as a linear layer on three dimensions is exported. */
static const char *gen_linear(struct gen *g, const char *path, const char *weights, const char *x,
                              int64_t in, int64_t out_size, double gain)
{
    const char *w = gen_weight(g, gen_f(g, "%s.weight", weights), 2, (int64_t[]){in, out_size}, 0,
                               gain * sqrt(1.0 / (double)in));
    const char *b = gen_vector(g, gen_f(g, "%s.bias", weights), out_size, 0, 0.1);
    return gen_binary(g, "Add", path, b, gen_binary(g, "MatMul", path, x, w));
}

static const char *gen_constant(struct gen *g, const char *path, double value)
{
    struct odb_tensor *t = gen_tensor(ODB_F32, 0, NULL);
    odb_store_f64(ODB_F32, t->data, 0, value);
    const char *out = gen_node(g, "Constant", path, "");
    odb_build_attr_tensor(g->b, "value", t);
    odb_tensor_unref(t);
    return out;
}

/* LayerNorm out of primitives, as opsets before 17 have it; its two numbers are Constants. */
static const char *gen_layer_norm(struct gen *g, const char *path, const char *weights,
                                  const char *x, int64_t n)
{
    const char *scale = gen_vector(g, gen_f(g, "%s.weight", weights), n, 1, 0.1);
    const char *bias = gen_vector(g, gen_f(g, "%s.bias", weights), n, 0, 0.1);
    const char *mean = gen_node(g, "ReduceMean", path, x);
    GEN_ATTR_INTS(g, "axes", -1);
    odb_build_attr_int(g->b, "keepdims", 1);
    const char *centred = gen_binary(g, "Sub", path, x, mean);
    const char *two = gen_constant(g, path, 2);
    const char *squares = gen_binary(g, "Pow", path, centred, two);
    const char *var = gen_node(g, "ReduceMean", gen_f(g, "%s/var", path), squares);
    GEN_ATTR_INTS(g, "axes", -1);
    odb_build_attr_int(g->b, "keepdims", 1);
    const char *eps = gen_constant(g, gen_f(g, "%s/eps", path), 1e-12);
    const char *safe = gen_binary(g, "Add", gen_f(g, "%s/eps", path), var, eps);
    const char *root = gen_unary(g, "Sqrt", path, safe);
    const char *unit = gen_binary(g, "Div", path, centred, root);
    return gen_binary(g, "Add", path, gen_binary(g, "Mul", path, unit, scale), bias);
}

/* --- demo ------------------------------------------------------------------------------------- */

static const char *gen_demo_block(struct gen *g, const char *x)
{
    struct conv c = {16, 16, 3, 1, 1, 1, false};
    const char *y = gen_conv(g, "block/conv1", "block.conv1", x, c);
    y = gen_bn(g, "block/bn1", "block.bn1", y, 16, 1);
    y = gen_unary(g, "Relu", "block/act1", y);
    y = gen_conv(g, "block/conv2", "block.conv2", y, c);
    y = gen_bn(g, "block/bn2", "block.bn2", y, 16, 0.5);
    y = gen_binary(g, "Add", "block", y, x);
    return gen_unary(g, "Relu", "block/act2", y);
}

static const char *gen_demo_mixed(struct gen *g, const char *x)
{
    const char *a =
        gen_conv(g, "mixed/point", "mixed.point", x, (struct conv){16, 8, 1, 1, 1, 1, true});
    a = gen_unary(g, "Relu", "mixed/point", a);
    const char *b =
        gen_conv(g, "mixed/wide", "mixed.wide", x, (struct conv){16, 16, 3, 1, 1, 1, true});
    b = gen_unary(g, "Relu", "mixed/wide", b);
    const char *c = gen_node(g, "AveragePool", "mixed/pool", x);
    GEN_ATTR_INTS(g, "kernel_shape", 3, 3);
    GEN_ATTR_INTS(g, "pads", 1, 1, 1, 1);
    GEN_ATTR_INTS(g, "strides", 1, 1);
    odb_build_attr_int(g->b, "count_include_pad", 1);
    c = gen_conv(g, "mixed/pool", "mixed.pool", c, (struct conv){16, 8, 1, 1, 1, 1, true});
    c = gen_unary(g, "Relu", "mixed/pool", c);
    const char *out = gen_node(g, "Concat", "mixed", gen_f(g, "%s %s %s", a, b, c));
    odb_build_attr_int(g->b, "axis", 1);
    return out;
}

/* One head over 64 places of 32 channels. */
static const char *gen_demo_attention(struct gen *g, const char *x)
{
    const char *places = gen_reshape(g, "attn/flat", x, 3, (int64_t[]){1, 32, 64});
    places = gen_transpose(g, "attn/flat", places, 3, (int64_t[]){0, 2, 1});
    const char *heads[3], *const names[] = {"query", "key", "value"};
    for (int i = 0; i < 3; i++) {
        const char *w = gen_weight(g, gen_f(g, "attn.%s.weight", names[i]), 2, (int64_t[]){32, 32},
                                   0, sqrt(1.0 / 32));
        heads[i] = gen_binary(g, "MatMul", gen_f(g, "attn/%s", names[i]), places, w);
    }
    const char *keys = gen_transpose(g, "attn/key", heads[1], 3, (int64_t[]){0, 2, 1});
    const char *score = gen_binary(g, "MatMul", "attn/score", heads[0], keys);
    score = gen_binary(g, "Mul", "attn/score", score, gen_scalar(g, "attn.scale", sqrt(1.0 / 32)));
    score = gen_unary(g, "Softmax", "attn", score);
    odb_build_attr_int(g->b, "axis", -1);
    const char *mixed = gen_binary(g, "MatMul", "attn/context", score, heads[2]);
    mixed = gen_linear(g, "attn/out", "attn.out", mixed, 32, 32, 1);
    mixed = gen_binary(g, "Add", "attn", mixed, places);
    mixed = gen_layer_norm(g, "attn/norm", "attn.norm", mixed, 32);
    mixed = gen_transpose(g, "attn/unflat", mixed, 3, (int64_t[]){0, 2, 1});
    return gen_reshape(g, "attn/unflat", mixed, 4, (int64_t[]){1, 32, 8, 8});
}

static void gen_demo(struct gen *g)
{
    g->b = odb_build_new("demo", 13);
    odb_build_input(g->b, "image", ODB_F32, 4, (int64_t[]){1, 3, 32, 32});
    const char *x =
        gen_conv(g, "stem/conv", "stem.conv", "image", (struct conv){3, 16, 3, 1, 1, 1, false});
    x = gen_bn(g, "stem/bn", "stem.bn", x, 16, 1);
    x = gen_unary(g, "Relu", "stem/act", x);
    x = gen_max_pool(g, "stem/pool", x, 2, 2, 0);
    x = gen_demo_block(g, x);
    x = gen_demo_mixed(g, x);
    x = gen_conv(g, "down/conv", "down.conv", x, (struct conv){32, 32, 3, 2, 1, 1, false});
    x = gen_bn(g, "down/bn", "down.bn", x, 32, 1);
    x = gen_unary(g, "Relu", "down/act", x);
    x = gen_demo_attention(g, x);
    x = gen_unary(g, "GlobalAveragePool", "pool", x);
    x = gen_unary(g, "Flatten", "", x);
    odb_build_attr_int(g->b, "axis", 1);
    x = gen_gemm(g, "fc1", "fc1", x, 32, 64, 2);
    x = gen_unary(g, "Relu", "act", x);
    x = gen_gemm(g, "fc2", "fc2", x, 64, 10, 2);
    odb_build_node(g->b, "Softmax", "/Softmax", x, "probabilities");
    odb_build_attr_int(g->b, "axis", 1);
    odb_build_output_typed(g->b, "probabilities", ODB_F32, 2, (int64_t[]){1, 10});
}

/* --- resnet50 --------------------------------------------------------------------------------- */

/* A convolution whose normalisation is a node, or went into its weights. */
static const char *gen_conv_bn(struct gen *g, const char *path, const char *module,
                               const char *conv, const char *bn, const char *x, struct conv c)
{
    bool apart = g->options->bn;
    double gain = c.gain;
    c.bias = !apart;
    c.gain = apart ? 1 : gain;
    const char *y =
        gen_conv(g, gen_f(g, "%s/%s", path, conv), gen_f(g, "%s.%s", module, conv), x, c);
    if (!apart)
        return y;
    return gen_bn(g, gen_f(g, "%s/%s", path, bn), gen_f(g, "%s.%s", module, bn), y, c.out, gain);
}

static const char *gen_bottleneck(struct gen *g, int layer, int block, const char *x, int64_t in,
                                  int64_t width, int64_t stride)
{
    const char *path = gen_f(g, "layer%d/layer%d.%d", layer, layer, block);
    const char *module = gen_f(g, "layer%d.%d", layer, block);
    int64_t out = width * 4;
    const char *y =
        gen_conv_bn(g, path, module, "conv1", "bn1", x, (struct conv){in, width, 1, 1, 1, 1, true});
    y = gen_unary(g, "Relu", gen_f(g, "%s/relu", path), y);
    y = gen_conv_bn(g, path, module, "conv2", "bn2", y,
                    (struct conv){width, width, 3, stride, 1, 1, true});
    y = gen_unary(g, "Relu", gen_f(g, "%s/relu_1", path), y);
    y = gen_conv_bn(g, path, module, "conv3", "bn3", y,
                    (struct conv){width, out, 1, 1, 1, 0.35, true});
    if (in != out)
        x = gen_conv_bn(g, gen_f(g, "%s/downsample", path), gen_f(g, "%s.downsample", module), "0",
                        "1", x, (struct conv){in, out, 1, stride, 1, 0.7, true});
    y = gen_binary(g, "Add", path, y, x);
    return gen_unary(g, "Relu", gen_f(g, "%s/relu_2", path), y);
}

static void gen_resnet50(struct gen *g)
{
    static const int blocks[] = {3, 4, 6, 3};
    g->b = odb_build_new("main_graph", 13);
    odb_build_input(g->b, "input", ODB_F32, 4, (int64_t[]){1, 3, 224, 224});
    const char *x =
        gen_conv_bn(g, "", "stem", "conv1", "bn1", "input", (struct conv){3, 64, 7, 2, 1, 1, true});
    x = gen_unary(g, "Relu", "relu", x);
    x = gen_max_pool(g, "maxpool", x, 3, 2, 1);
    int64_t in = 64;
    for (int layer = 0; layer < 4; layer++) {
        int64_t width = (int64_t)64 << layer;
        for (int block = 0; block < blocks[layer]; block++) {
            x = gen_bottleneck(g, layer + 1, block, x, in, width, layer && !block ? 2 : 1);
            in = width * 4;
        }
    }
    x = gen_unary(g, "GlobalAveragePool", "avgpool", x);
    x = gen_unary(g, "Flatten", "", x);
    odb_build_attr_int(g->b, "axis", 1);
    const char *w = gen_weight(g, "fc.weight", 2, (int64_t[]){1000, in}, 0, sqrt(1.0 / (double)in));
    const char *b = gen_vector(g, "fc.bias", 1000, 0, 0.1);
    odb_build_node(g->b, "Gemm", "/fc/Gemm", gen_f(g, "%s %s %s", x, w, b), "output");
    odb_build_attr_int(g->b, "transB", 1);
    odb_build_output_typed(g->b, "output", ODB_F32, 2, (int64_t[]){1, 1000});
}

/* --- mobilenetv2 ------------------------------------------------------------------------------ */

static const char *gen_relu6(struct gen *g, const char *path, const char *x)
{
    return gen_node(g, "Clip", path, gen_f(g, "%s relu6.min relu6.max", x));
}

static const char *gen_inverted(struct gen *g, int index, const char *x, int64_t in, int64_t out,
                                int64_t stride, int64_t expand)
{
    const char *path = gen_f(g, "features/features.%d", index), *y = x;
    const char *module = gen_f(g, "features.%d.conv", index);
    int64_t hidden = in * expand;
    if (expand != 1) {
        y = gen_conv(g, gen_f(g, "%s/expand", path), gen_f(g, "%s.0", module), y,
                     (struct conv){in, hidden, 1, 1, 1, 1.2, true});
        y = gen_relu6(g, gen_f(g, "%s/expand", path), y);
    }
    y = gen_conv(g, gen_f(g, "%s/depth", path), gen_f(g, "%s.1", module), y,
                 (struct conv){hidden, hidden, 3, stride, hidden, 1.2, true});
    y = gen_relu6(g, gen_f(g, "%s/depth", path), y);
    y = gen_conv(g, gen_f(g, "%s/project", path), gen_f(g, "%s.2", module), y,
                 (struct conv){hidden, out, 1, 1, 1, stride == 1 && in == out ? 0.5 : 1, true});
    return stride == 1 && in == out ? gen_binary(g, "Add", path, x, y) : y;
}

static void gen_mobilenetv2(struct gen *g)
{
    static const struct {
        int64_t expand, out;
        int n, stride;
    } rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    int64_t in = 32;
    int index = 1;
    g->b = odb_build_new("main_graph", 13);
    odb_build_input(g->b, "input", ODB_F32, 4, (int64_t[]){1, 3, 224, 224});
    gen_scalar(g, "relu6.min", 0);
    gen_scalar(g, "relu6.max", 6);
    const char *x = gen_conv(g, "features/features.0", "features.0.0", "input",
                             (struct conv){3, 32, 3, 2, 1, 1, true});
    x = gen_relu6(g, "features/features.0", x);
    for (size_t r = 0; r < ODB_COUNT(rows); r++)
        for (int i = 0; i < rows[r].n; i++) {
            x = gen_inverted(g, index++, x, in, rows[r].out, i ? 1 : rows[r].stride,
                             rows[r].expand);
            in = rows[r].out;
        }
    x = gen_conv(g, "features/features.18", "features.18.0", x,
                 (struct conv){in, 1280, 1, 1, 1, 1, true});
    x = gen_relu6(g, "features/features.18", x);
    x = gen_unary(g, "GlobalAveragePool", "", x);
    x = gen_unary(g, "Flatten", "", x);
    odb_build_attr_int(g->b, "axis", 1);
    const char *w =
        gen_weight(g, "classifier.1.weight", 2, (int64_t[]){1000, 1280}, 0, sqrt(1.0 / 1280));
    const char *b = gen_vector(g, "classifier.1.bias", 1000, 0, 0.1);
    odb_build_node(g->b, "Gemm", "/classifier/classifier.1/Gemm", gen_f(g, "%s %s %s", x, w, b),
                   "output");
    odb_build_attr_int(g->b, "transB", 1);
    odb_build_output_typed(g->b, "output", ODB_F32, 2, (int64_t[]){1, 1000});
}

/* --- bert ------------------------------------------------------------------------------------- */

struct bert {
    int layers;
    int64_t hidden, heads, length, words;
};

static const char *gen_bert_table(struct gen *g, const char *name, int64_t rows, int64_t hidden,
                                  const char *indices)
{
    const char *weights = gen_f(g, "embeddings.%s.weight", name);
    gen_weight(g, weights, 2, (int64_t[]){rows, hidden}, 0, 1);
    return gen_binary(g, "Gather", gen_f(g, "embeddings/%s", name), weights, indices);
}

static const char *gen_bert_embeddings(struct gen *g, const struct bert *bert)
{
    struct odb_tensor *places = gen_tensor(ODB_I64, 2, (int64_t[]){1, bert->length});
    for (int64_t i = 0; i < bert->length; i++)
        odb_store_i64(ODB_I64, places->data, (size_t)i, i);
    gen_add(g, "embeddings.position_ids", places);
    const char *words =
        gen_bert_table(g, "word_embeddings", bert->words, bert->hidden, "input_ids");
    const char *types =
        gen_bert_table(g, "token_type_embeddings", 2, bert->hidden, "token_type_ids");
    const char *x = gen_binary(g, "Add", "embeddings", words, types);
    const char *at = gen_bert_table(g, "position_embeddings", bert->length, bert->hidden,
                                    "embeddings.position_ids");
    x = gen_binary(g, "Add", "embeddings/position", x, at);
    return gen_layer_norm(g, "embeddings/LayerNorm", "embeddings.LayerNorm", x, bert->hidden);
}

/* (1 - mask) * -10000, shaped to be added to every head's scores. */
static const char *gen_bert_mask(struct gen *g)
{
    const char *mask =
        gen_binary(g, "Unsqueeze", "mask", "attention_mask", GEN_INTS(g, "mask.axis1", 1));
    mask = gen_binary(g, "Unsqueeze", "mask/heads", mask, GEN_INTS(g, "mask.axis2", 2));
    mask = gen_unary(g, "Cast", "mask", mask);
    odb_build_attr_int(g->b, "to", ODB_F32);
    mask = gen_binary(g, "Sub", "mask", gen_scalar(g, "mask.one", 1), mask);
    return gen_binary(g, "Mul", "mask", mask, gen_scalar(g, "mask.low", -10000));
}

static const char *gen_bert_attention(struct gen *g, const struct bert *bert, const char *path,
                                      const char *module, const char *x, const char *mask)
{
    static const int64_t split[] = {0, 2, 1, 3}, split_key[] = {0, 2, 3, 1};
    const char *const names[] = {"query", "key", "value"}, *heads[3];
    int64_t h = bert->hidden, each = h / bert->heads;
    for (int i = 0; i < 3; i++) {
        const char *at = gen_f(g, "%s/attention/self/%s", path, names[i]);
        const char *y =
            gen_linear(g, at, gen_f(g, "%s.attention.self.%s", module, names[i]), x, h, h, 1);
        y = gen_reshape(g, at, y, 4, (int64_t[]){1, bert->length, bert->heads, each});
        heads[i] = gen_transpose(g, at, y, 4, i == 1 ? split_key : split);
    }
    const char *self = gen_f(g, "%s/attention/self", path);
    const char *score = gen_binary(g, "MatMul", self, heads[0], heads[1]);
    const char *scale =
        gen_scalar(g, gen_f(g, "%s.attention.self.scale", module), sqrt((double)each));
    score = gen_binary(g, "Div", self, score, scale);
    score = gen_binary(g, "Add", self, score, mask);
    score = gen_unary(g, "Softmax", self, score);
    odb_build_attr_int(g->b, "axis", -1);
    const char *y = gen_binary(g, "MatMul", gen_f(g, "%s/context", self), score, heads[2]);
    y = gen_transpose(g, self, y, 4, split);
    y = gen_reshape(g, self, y, 3, (int64_t[]){1, bert->length, h});
    const char *out = gen_f(g, "%s/attention/output", path);
    y = gen_linear(g, gen_f(g, "%s/dense", out), gen_f(g, "%s.attention.output.dense", module), y,
                   h, h, 1);
    y = gen_binary(g, "Add", out, y, x);
    return gen_layer_norm(g, gen_f(g, "%s/LayerNorm", out),
                          gen_f(g, "%s.attention.output.LayerNorm", module), y, h);
}

/* x * 0.5 * (1 + erf(x / sqrt 2)) as five nodes. */
static const char *gen_gelu(struct gen *g, const char *path, const char *module, const char *x)
{
    const char *root = gen_scalar(g, gen_f(g, "%s.sqrt2", module), 1.4142135623730951);
    const char *one = gen_scalar(g, gen_f(g, "%s.one", module), 1);
    const char *half = gen_scalar(g, gen_f(g, "%s.half", module), 0.5);
    const char *y = gen_unary(g, "Erf", path, gen_binary(g, "Div", path, x, root));
    y = gen_binary(g, "Mul", path, x, gen_binary(g, "Add", path, y, one));
    return gen_binary(g, "Mul", gen_f(g, "%s/half", path), y, half);
}

static const char *gen_bert_layer(struct gen *g, const struct bert *bert, int layer, const char *x,
                                  const char *mask)
{
    const char *path = gen_f(g, "encoder/layer.%d", layer);
    const char *module = gen_f(g, "encoder.layer.%d", layer);
    int64_t h = bert->hidden;
    x = gen_bert_attention(g, bert, path, module, x, mask);
    const char *y = gen_linear(g, gen_f(g, "%s/intermediate/dense", path),
                               gen_f(g, "%s.intermediate.dense", module), x, h, 4 * h, 1);
    y = gen_gelu(g, gen_f(g, "%s/intermediate/act", path), gen_f(g, "%s.intermediate.act", module),
                 y);
    y = gen_linear(g, gen_f(g, "%s/output/dense", path), gen_f(g, "%s.output.dense", module), y,
                   4 * h, h, 1);
    y = gen_binary(g, "Add", gen_f(g, "%s/output", path), y, x);
    return gen_layer_norm(g, gen_f(g, "%s/output/LayerNorm", path),
                          gen_f(g, "%s.output.LayerNorm", module), y, h);
}

static void gen_bert(struct gen *g, struct bert bert)
{
    static const char *const feeds[] = {"input_ids", "attention_mask", "token_type_ids"};
    int64_t h = bert.hidden;
    g->b = odb_build_new("main_graph", 13);
    for (size_t i = 0; i < ODB_COUNT(feeds); i++)
        odb_build_input(g->b, feeds[i], ODB_I64, 2, (int64_t[]){1, bert.length});
    const char *mask = gen_bert_mask(g);
    const char *x = gen_bert_embeddings(g, &bert);
    for (int layer = 0; layer < bert.layers; layer++)
        x = gen_bert_layer(g, &bert, layer, x, mask);
    odb_build_output_typed(g->b, x, ODB_F32, 3, (int64_t[]){1, bert.length, h});
    struct odb_tensor *zero = gen_tensor(ODB_I64, 0, NULL);
    gen_add(g, "pooler.index", zero);
    x = gen_binary(g, "Gather", "pooler", x, "pooler.index");
    odb_build_attr_int(g->b, "axis", 1);
    x = gen_gemm(g, "pooler/dense", "pooler.dense", x, h, h, 1);
    odb_build_node(g->b, "Tanh", "/pooler/activation/Tanh", x, "pooler_output");
    odb_build_output_typed(g->b, "pooler_output", ODB_F32, 2, (int64_t[]){1, h});
}

static void gen_bert_base(struct gen *g)
{
    gen_bert(g, (struct bert){12, 768, 12, 128, 30522});
}

static void gen_bert_tiny(struct gen *g)
{
    gen_bert(g, (struct bert){2, 64, 4, 16, 512});
}

/* --- chain ------------------------------------------------------------------------------------ */

enum { CHAIN_ROWS = 8, CHAIN_COLUMNS = 16, CHAIN_LANES = 16 };

/* Orthogonal, so that MatMul by it changes no size: rotations of pairs of columns. */
static void gen_rotation(struct gen *g, const char *name)
{
    enum { N = CHAIN_COLUMNS };
    double m[N][N] = {{0}};
    for (int i = 0; i < N; i++)
        m[i][i] = 1;
    for (int k = 0; k < 4 * N; k++) {
        int a = k % N, b = (a + 1 + k / N) % N;
        for (int row = 0; row < N; row++) {
            double x = m[row][a], y = m[row][b];
            m[row][a] = 0.8 * x - 0.6 * y;
            m[row][b] = 0.6 * x + 0.8 * y;
        }
    }
    struct odb_tensor *t = gen_tensor(ODB_F32, 2, (int64_t[]){N, N});
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, t->data, i, m[i / N][i % N]);
    gen_add(g, name, t);
}

/* Nothing in this cycle changes the size of the values for long or loses any of them, so that an
 * error is seen through any number of rounds. */
static const struct {
    const char *op, *weight;
} chain_cycle[] = {
    {"Add", "bias"}, {"Mul", "up"},     {"Neg", ""}, {"MatMul", "rotation"},
    {"Sub", "bias"}, {"Transpose", ""}, {"Neg", ""}, {"Transpose", ""},
    {"Mul", "down"}, {"Sub", "shift"},  {"Neg", ""}, {"Add", "shift"},
};

/* Whether the last value has rows and columns exchanged. */
static bool gen_chain_line(struct gen *g)
{
    const char *x = "x";
    bool turned = false;
    size_t n = g->options->count;
    for (size_t i = 0; i < n; i++) {
        const char *op = chain_cycle[i % ODB_COUNT(chain_cycle)].op;
        const char *y = i + 1 == n ? "y" : gen_f(g, "v%zu", i);
        odb_build_node(g->b, op, gen_f(g, "n%zu", i),
                       gen_f(g, "%s %s", x, chain_cycle[i % ODB_COUNT(chain_cycle)].weight), y);
        x = y;
        if (strcmp(op, "Transpose"))
            continue;
        GEN_ATTR_INTS(g, "perm", 0, 2, 1);
        turned = !turned;
    }
    return turned;
}

/* Sixteen lanes; a step turns two of them, (a, b) -> ((a + b) r, (a - b) r) with r = sqrt(1/2),
 * which keeps their size; lanes not chosen skip on, some for long. */
static void gen_chain_wide(struct gen *g)
{
    const char *lanes[CHAIN_LANES], *all = "";
    size_t n = g->options->count, made = 0;
    for (int i = 0; i < CHAIN_LANES; i++, made++) {
        gen_weight(g, gen_f(g, "lane%d", i), 3, (int64_t[]){1, CHAIN_ROWS, CHAIN_COLUMNS}, 1, 0.3);
        odb_build_node(g->b, "Mul", gen_f(g, "n%zu", made), gen_f(g, "x lane%d", i),
                       gen_f(g, "v%zu", made));
        lanes[i] = gen_f(g, "v%zu", made);
    }
    while (made + 1 < n) {
        size_t a = odb_pcg64_u64(&g->random) % CHAIN_LANES;
        size_t b = (a + 1 + odb_pcg64_u64(&g->random) % (CHAIN_LANES - 1)) % CHAIN_LANES;
        const char *const ops[] = {"Add", "Sub", "Mul", "Mul"}, *out[4];
        bool whole = made + 5 <= n;
        for (int k = 0; k < (whole ? 4 : 1); k++, made++) {
            const char *in = !whole ? lanes[a]
                                    : gen_f(g, "%s %s", k < 2 ? lanes[a] : out[k - 2],
                                            k < 2 ? lanes[b] : "root");
            out[k] = gen_f(g, "v%zu", made);
            odb_build_node(g->b, whole ? ops[k] : "Neg", gen_f(g, "n%zu", made), in, out[k]);
        }
        lanes[a] = whole ? out[2] : out[0];
        lanes[b] = whole ? out[3] : lanes[b];
    }
    for (int i = 0; i < CHAIN_LANES; i++)
        all = gen_f(g, "%s %s", all, lanes[i]);
    odb_build_node(g->b, "Concat", gen_f(g, "n%zu", made), all, "y");
    odb_build_attr_int(g->b, "axis", 0);
}

static void gen_chain(struct gen *g)
{
    const int64_t shape[] = {1, CHAIN_ROWS, CHAIN_COLUMNS},
                  wide[] = {CHAIN_LANES, CHAIN_ROWS, CHAIN_COLUMNS};
    g->b = odb_build_new("chain", 13);
    odb_build_input(g->b, "x", ODB_F32, 3, shape);
    if (g->options->wide) {
        gen_scalar(g, "root", sqrt(0.5));
        gen_chain_wide(g);
        odb_build_output_typed(g->b, "y", ODB_F32, 3, wide);
        return;
    }
    gen_weight(g, "bias", 1, (int64_t[]){CHAIN_COLUMNS}, 0.2, 0.1);
    gen_scalar(g, "shift", 0.25);
    gen_scalar(g, "up", 1.25);
    gen_scalar(g, "down", 0.8);
    gen_rotation(g, "rotation");
    bool turned = gen_chain_line(g);
    odb_build_output_typed(g->b, "y", ODB_F32, 3,
                           turned ? (int64_t[]){1, CHAIN_COLUMNS, CHAIN_ROWS} : shape);
}

/* --- large ------------------------------------------------------------------------------------ */

enum { LARGE_COLUMNS = 16384, LARGE_ROWS_PER_MIB = 16 };

static void gen_large(struct gen *g)
{
    const int64_t rows = LARGE_ROWS_PER_MIB * (int64_t)g->options->count, one = 1;
    g->b = odb_build_new("large", 18);
    odb_build_input(g->b, "x", ODB_F32, 2, (int64_t[]){rows, 1});
    gen_weight(g, "row", 2, (int64_t[]){1, LARGE_COLUMNS}, 0, 1);
    const char *y = gen_binary(g, "Mul", "spread", "x", "row");
    y = gen_binary(g, "ReduceMax", "gathered", y, gen_ints(g, "axis", 1, &one));
    odb_build_output_typed(g->b, y, ODB_F32, 2, (int64_t[]){rows, 1});
}

/* --- odd -------------------------------------------------------------------------------------- */

static struct odb_tensor *gen_f32_scalar(double value)
{
    struct odb_tensor *t = gen_tensor(ODB_F32, 0, NULL);
    odb_store_f64(ODB_F32, t->data, 0, value);
    return t;
}

/* Y = X * alpha + X, alpha from the caller. */
static void gen_odd_function(struct gen *g)
{
    struct odb_builder *body = odb_build_new("", 17);
    odb_build_node(body, "Constant", "", "", "alpha");
    odb_build_attr_ref(body, "value_float", ODB_ATTR_FLOAT, "alpha");
    odb_build_node(body, "Mul", "scale", "X alpha", "scaled");
    odb_build_node(body, "Add", "", "scaled X", "Y");
    odb_build_opset(g->b, "local", 1);
    odb_build_function(g->b, "local", "Scaled", "X", "Y", "alpha", body);
}

/* A branch that reads a value of the graph around it. */
static struct odb_builder *gen_odd_branch(const char *name, const char *op, double value)
{
    struct odb_builder *body = odb_build_new(name, 17);
    struct odb_tensor *t = gen_f32_scalar(value);
    odb_build_weight(body, "amount", t);
    odb_build_node(body, op, "same name", "clipped amount", name);
    odb_build_output_typed(body, name, ODB_F32, 2, (int64_t[]){2, 2});
    odb_tensor_unref(t);
    return body;
}

/* float16, bool and int64 on the way. */
static void gen_odd_types(struct gen *g)
{
    struct odb_builder *b = g->b;
    struct odb_tensor *half = gen_tensor(ODB_F16, 0, NULL);
    odb_store_f64(ODB_F16, half->data, 0, 1.5);
    gen_add(g, "half", half);
    odb_build_node(b, "Cast", "", "left", "left16");
    odb_build_attr_int(b, "to", ODB_F16);
    odb_build_node(b, "Mul", "", "left16 half", "big16");
    odb_build_node(b, "Cast", "", "big16", "big");
    odb_build_attr_int(b, "to", ODB_F32);
    odb_build_node(b, "Greater", "compare", "big middle", "mask");
    odb_build_node(b, "Not", "", "mask", "rest");
    odb_build_node(b, "Where", "", "rest big middle", "chosen");
    odb_build_node(b, "Shape", "", "x", "shape");
    odb_build_node(b, "Gather", "pick", "shape which", "sizes");
    odb_build_node(b, "Add", "", "sizes ones", "counts");
    odb_build_node(b, "Cast", "", "counts", "counts32");
    odb_build_attr_int(b, "to", ODB_F32);
}

static void gen_odd(struct gen *g)
{
    static const int64_t square[] = {2, 2};
    struct odb_builder *b = g->b = odb_build_new("odd graph", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, 6});
    odb_build_input(b, "flag", ODB_BOOL, 0, NULL);
    odb_build_input(b, "which", ODB_I64, 1, (int64_t[]){2});
    odb_build_metadata(b, "purpose", "legal, but unusual");
    GEN_INTS(g, "ones", 1, 1);
    GEN_INTS(g, "parts", 2, 2, 2);
    gen_scalar(g, "ceiling", 0.75);
    odb_build_node(b, "Split", "cut", "x parts", "left middle right/odd:0");
    odb_build_attr_int(b, "axis", 1);
    odb_build_node(b, "Clip", "same name", "right/odd:0 - ceiling", "clipped");
    odb_build_node_metadata(b, "pkg.torch.onnx.stack_trace",
                            "File \"net.py\", line 12, in forward\n  x = x.clamp(max=0.75)");
    gen_odd_types(g);
    odb_build_node(b, "If", "branch", "flag", "branched");
    odb_build_attr_graph(b, "then_branch", gen_odd_branch("then", "Add", 2));
    odb_build_attr_graph(b, "else_branch", gen_odd_branch("else", "Mul", -1.5));
    gen_odd_function(g);
    odb_build_node(b, "local::Scaled", "call", "branched", "scaled");
    odb_build_attr_float(b, "alpha", 0.5);
    odb_build_node(b, "Sum", "", "scaled chosen counts32", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, square);
    odb_build_output_typed(b, "counts", ODB_I64, 1, square);
    odb_build_output_typed(b, "mask", ODB_BOOL, 2, square);
    odb_build_output_typed(b, "chosen", ODB_F32, 2, square);
}

/* --- bodies ----------------------------------------------------------------------------------- */

enum { BODIES_WIDTH = 8, BODIES_TURNS = 12 };

static const int64_t bodies_row[] = {BODIES_WIDTH};

/* A Loop's body: a turn's number, whether to go on, the state. */
static struct odb_builder *gen_bodies_loop(void)
{
    struct odb_builder *body = odb_build_new("step", 17);
    odb_build_input(body, "turn", ODB_I64, 0, NULL);
    odb_build_input(body, "go", ODB_BOOL, 0, NULL);
    odb_build_input(body, "state", ODB_F32, 1, bodies_row);
    odb_build_output_typed(body, "go_on", ODB_BOOL, 0, NULL);
    odb_build_output_typed(body, "next", ODB_F32, 1, bodies_row);
    odb_build_output_typed(body, "shown", ODB_F32, 1, bodies_row);
    return body;
}

static struct odb_builder *gen_bodies_branch(const char *name, const char *op, const char *with)
{
    struct odb_builder *branch = odb_build_new(name, 17);
    char inputs[40];
    snprintf(inputs, sizeof inputs, "mixed %s", with);
    odb_build_node(branch, op, op, inputs, "moved");
    odb_build_node(branch, "Tanh", "Tanh", "moved", name);
    odb_build_output_typed(branch, name, ODB_F32, 1, bodies_row);
    return branch;
}

/* Twelve turns of a small recurrent cell, the second half of which go another way. */
static void gen_bodies_decode(struct gen *g)
{
    struct odb_builder *body = gen_bodies_loop();
    struct odb_tensor *half = gen_tensor(ODB_I64, 0, NULL), *turns = gen_tensor(ODB_I64, 0, NULL);
    struct odb_tensor *yes = gen_tensor(ODB_BOOL, 0, NULL);
    odb_store_i64(ODB_I64, half->data, 0, BODIES_TURNS / 2);
    odb_store_i64(ODB_I64, turns->data, 0, BODIES_TURNS);
    odb_store_i64(ODB_BOOL, yes->data, 0, 1);
    gen_add(g, "turns", turns);
    gen_add(g, "yes", yes);
    gen_weight(g, "cell", 2, (int64_t[]){BODIES_WIDTH, BODIES_WIDTH}, 0, 0.45);
    odb_build_weight(body, "half", half);
    odb_tensor_unref(half);
    odb_build_node(body, "MatMul", "MatMul", "state cell", "turned");
    odb_build_node(body, "Add", "Add", "turned stem", "mixed");
    odb_build_node(body, "Less", "early", "turn half", "is_early");
    odb_build_node(body, "If", "gate", "is_early", "next");
    odb_build_attr_graph(body, "then_branch", gen_bodies_branch("first", "Add", "bias"));
    odb_build_attr_graph(body, "else_branch", gen_bodies_branch("second", "Mul", "gain"));
    odb_build_node(body, "Sigmoid", "Sigmoid", "next", "shown");
    odb_build_node(body, "Identity", "", "go", "go_on");
    odb_build_node(g->b, "Loop", "decode", "turns yes stem", "final steps");
    odb_build_attr_graph(g->b, "body", body);
}

/* A running mean over the rows, from the last to the first. */
static void gen_bodies_filter(struct gen *g)
{
    struct odb_builder *body = odb_build_new("row", 17);
    odb_build_input(body, "mean", ODB_F32, 1, bodies_row);
    odb_build_input(body, "row", ODB_F32, 1, bodies_row);
    odb_build_node(body, "Sub", "Sub", "row mean", "away");
    odb_build_node(body, "Mul", "Mul", "away rate", "part");
    odb_build_node(body, "Add", "Add", "mean part", "new_mean");
    odb_build_output_typed(body, "new_mean", ODB_F32, 1, bodies_row);
    odb_build_output_typed(body, "away", ODB_F32, 1, bodies_row);
    odb_build_node(g->b, "Scan", "filter", "final steps", "mean_of_all rows");
    odb_build_attr_graph(g->b, "body", body);
    odb_build_attr_int(g->b, "num_scan_inputs", 1);
    GEN_ATTR_INTS(g, "scan_input_directions", 1);
}

/* local::Block(X) = Scaled(X)^2 + X, of a function that calls another. */
static void gen_bodies_block(struct gen *g)
{
    struct odb_builder *block = odb_build_new("", 17);
    odb_build_opset(block, "local", 1);
    odb_build_node(block, "local::Scaled", "Scaled", "X", "S");
    odb_build_attr_float(block, "alpha", 0.5);
    odb_build_node(block, "Mul", "Square", "S S", "Q");
    odb_build_node(block, "Add", "Add", "Q X", "Y");
    gen_odd_function(g);
    odb_build_function(g->b, "local", "Block", "X", "Y", "", block);
    odb_build_node(g->b, "local::Block", "block", "rows", "blocked");
}

static void gen_bodies(struct gen *g)
{
    g->b = odb_build_new("bodies", 17);
    odb_build_input(g->b, "x", ODB_F32, 1, bodies_row);
    gen_vector(g, "bias", BODIES_WIDTH, 0, 0.3);
    gen_vector(g, "gain", BODIES_WIDTH, 1.5, 0.2);
    gen_scalar(g, "rate", 0.25);
    odb_build_node(g->b, "Sin", "stem", "x", "stem");
    gen_bodies_decode(g);
    gen_bodies_filter(g);
    gen_bodies_block(g);
    odb_build_node(g->b, "Neg", "head", "blocked", "y");
    odb_build_output_typed(g->b, "y", ODB_F32, 2, (int64_t[]){BODIES_TURNS, BODIES_WIDTH});
    odb_build_output_typed(g->b, "mean_of_all", ODB_F32, 1, bodies_row);
}

/* --- all -------------------------------------------------------------------------------------- */

/* --- a deformable convolution, as an operator of ONNX's own or of a custom domain ----------------
 */

static void gen_deform_net(struct gen *g, bool custom)
{
    g->b = odb_build_new("deform", 19);
    if (custom)
        odb_build_opset(g->b, "custom", 1);
    odb_build_input(g->b, "image", ODB_F32, 4, (int64_t[]){1, 3, 20, 20});
    const char *x = gen_conv(g, "stem", "stem", "image", (struct conv){3, 8, 3, 1, 1, 1, true});
    x = gen_unary(g, "Relu", "stem/act", x);
    const char *offset = gen_conv(g, "offset", "offset", x, (struct conv){8, 18, 3, 2, 1, 1, true});
    const char *mask = gen_conv(g, "mask", "mask", x, (struct conv){8, 9, 3, 2, 1, 1, true});
    mask = gen_unary(g, "Sigmoid", "mask", mask);
    const char *w = gen_weight(g, "deform.weight", 4, (int64_t[]){12, 8, 3, 3}, 0, 0.2);
    const char *bias = gen_vector(g, "deform.bias", 12, 0, 0.1);
    if (custom) {
        odb_build_node(g->b, "custom::deform_conv2d", "/deform",
                       gen_f(g, "%s %s %s %s %s", x, offset, w, bias, mask), "deformed");
        GEN_ATTR_INTS(g, "stride", 2, 2);
        GEN_ATTR_INTS(g, "padding", 1, 1);
    } else {
        odb_build_node(g->b, "DeformConv", "/deform",
                       gen_f(g, "%s %s %s %s %s", x, w, offset, bias, mask), "deformed");
        GEN_ATTR_INTS(g, "strides", 2, 2);
        GEN_ATTR_INTS(g, "pads", 1, 1, 1, 1);
    }
    x = gen_unary(g, "Relu", "act", "deformed");
    x = gen_unary(g, "GlobalAveragePool", "pool", x);
    x = gen_unary(g, "Flatten", "", x);
    odb_build_node(g->b, "Softmax", "/Softmax", x, "probabilities");
    odb_build_output_typed(g->b, "probabilities", ODB_F32, 2, (int64_t[]){1, 12});
}

static void gen_deform(struct gen *g)
{
    gen_deform_net(g, true);
}

static void gen_deform_onnx(struct gen *g)
{
    gen_deform_net(g, false);
}

const struct gen_kind gen_kinds[] = {
    {"demo", "a small network: convolutions, branches, attention", gen_demo},
    {"resnet50", "122 nodes, 102 MB; --bn: 175 nodes", gen_resnet50},
    {"mobilenetv2", "100 nodes, 14 MB", gen_mobilenetv2},
    {"bert-base", "12 layers, about 670 nodes, 440 MB", gen_bert_base},
    {"bert-tiny", "2 layers, about 130 nodes", gen_bert_tiny},
    {"chain", "as many cheap nodes as are asked for; --wide: 16 lanes that mix", gen_chain},
    {"decoder", "a language model with so many MiB of weights; --type f16|int4", gen_decoder},
    {"large", "one value of so many MiB", gen_large},
    {"deform", "with custom::deform_conv2d", gen_deform},
    {"deform-onnx", "the same with DeformConv", gen_deform_onnx},
    {"odd", "legal, but unusual: names, omitted inputs, types, a function, a body", gen_odd},
    {"bodies", "If in Loop, Scan, a function that calls another", gen_bodies},
    {NULL, NULL, NULL},
};

struct odb_builder *gen_model(const char *kind, const struct gen_options *options,
                              size_t *weight_bytes)
{
    struct gen g = {.options = options, .floats = options->weights == GEN_F16 ? ODB_F16 : ODB_F32};
    odb_pcg64_seed(&g.random, options->seed);
    for (size_t i = 0; gen_kinds[i].name; i++)
        if (!strcmp(gen_kinds[i].name, kind))
            gen_kinds[i].make(&g);
    for (size_t i = 0; i < g.texts.n; i++)
        free(g.texts.items[i]);
    free(g.texts.items);
    if (weight_bytes)
        *weight_bytes = g.weight_bytes;
    return g.b;
}
