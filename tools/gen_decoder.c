/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A language model as they are exported today: RMSNorm out of primitives, rotary positions,
 * attention whose keys and values have fewer heads than the queries (Ainslie et al. 2023), a gated
 * feed-forward part (Shazeer 2020). It is as deep as the weights that are asked for allow; from
 * 1 GiB on it is as wide as those of a billion parameters. Weights may be float16, with all that is
 * computed, or four bits in blocks, as MatMulNBits has them.
 */
#include <math.h>

#include "tools/gen_int.h"

struct decoder {
    int64_t hidden, heads, groups, inner, words, length;
    const char *cosines, *sines; /* of the rotary positions */
    const char *mask;
};

static const struct decoder decoder_small = {256, 8, 2, 704, 1000, 16};
static const struct decoder decoder_wide = {2048, 32, 8, 5632, 32000, 16};

enum {
    DECODER_WIDE = 1024, /* MiB */
    DECODER_BLOCK = 32,  /* weights of four bits that share a scale */
    DECODER_CODES = 7    /* of either sign */
};

static size_t decoder_layers(const struct gen *g, const struct decoder *d)
{
    const double sizes[] = {[GEN_F32] = 4, [GEN_F16] = 2, [GEN_INT4] = 0.5 + 4.0 / DECODER_BLOCK};
    double size = sizes[g->options->weights], embedded = g->floats == ODB_F16 ? 2 : 4;
    double kv = (double)(d->hidden / d->heads * d->groups), hidden = (double)d->hidden;
    double each = size * (2 * hidden * hidden + 2 * hidden * kv + 3 * hidden * (double)d->inner);
    double rest = (embedded + size) * (double)d->words * hidden;
    double all = (double)g->options->count * 1048576;
    return all > rest + each ? (size_t)ceil((all - rest) / each) : 1;
}

/* A matrix [out, in] of four bits: blocks of a row share a scale, 8 stands for 0. Codes are
 * [out, blocks, bytes], scales [out * blocks]. */
static const char *decoder_blocks(struct gen *g, const char *module, int64_t in, int64_t out,
                                  double spread)
{
    const int64_t blocks = in / DECODER_BLOCK;
    const int64_t dims[] = {out, blocks, DECODER_BLOCK / 2}, n = out * blocks;
    struct odb_tensor *codes = gen_tensor(ODB_U8, 3, dims), *scales = gen_tensor(g->floats, 1, &n);
    for (int64_t b = 0; b < n; b++) {
        double w[DECODER_BLOCK], most = 0;
        for (int i = 0; i < DECODER_BLOCK; i++) {
            w[i] = spread * gen_normal(g);
            most = fmax(most, fabs(w[i]));
        }
        odb_store_f64(g->floats, scales->data, (size_t)b, most / DECODER_CODES);
        double scale = odb_load_f64(g->floats, scales->data, (size_t)b);
        uint8_t *to = (uint8_t *)codes->data + b * DECODER_BLOCK / 2;
        for (int i = 0; i < DECODER_BLOCK && scale > 0; i++)
            to[i / 2] |= (uint8_t)((int)nearbyint(w[i] / scale) + 8) << i % 2 * 4;
    }
    const char *name = gen_f(g, "%s.weight", module), *by = gen_f(g, "%s.scales", module);
    gen_add(g, name, codes);
    gen_add(g, by, scales);
    return gen_f(g, "%s %s", name, by);
}

/* x times a matrix, which has no bias. */
static const char *decoder_linear(struct gen *g, const char *path, const char *module,
                                  const char *x, int64_t in, int64_t out, double gain)
{
    double spread = gain * sqrt(1.0 / (double)in);
    if (g->options->weights != GEN_INT4)
        return gen_binary(
            g, "MatMul", path, x,
            gen_weight(g, gen_f(g, "%s.weight", module), 2, (int64_t[]){in, out}, 0, spread));
    const char *name = gen_f(g, "/%s/MatMulNBits", path), *y = gen_f(g, "%s_output_0", name);
    odb_build_node(g->b, "com.microsoft::MatMulNBits", name,
                   gen_f(g, "%s %s", x, decoder_blocks(g, module, in, out, spread)), y);
    odb_build_attr_int(g->b, "K", in);
    odb_build_attr_int(g->b, "N", out);
    odb_build_attr_int(g->b, "bits", 4);
    odb_build_attr_int(g->b, "block_size", DECODER_BLOCK);
    odb_build_attr_int(g->b, "accuracy_level", 1); /* sums in float32 */
    return y;
}

static const char *decoder_norm(struct gen *g, const char *path, const char *module, const char *x,
                                int64_t n)
{
    const char *scale = gen_vector(g, gen_f(g, "%s.weight", module), n, 1, 0.1);
    const char *two = gen_scalar(g, gen_f(g, "%s.two", module), 2);
    const char *least = gen_scalar(g, gen_f(g, "%s.eps", module), 1e-6);
    const char *axis = GEN_INTS(g, gen_f(g, "%s.axis", module), -1);
    const char *mean = gen_binary(g, "ReduceMean", path, gen_binary(g, "Pow", path, x, two), axis);
    const char *root = gen_unary(g, "Sqrt", path, gen_binary(g, "Add", path, mean, least));
    const char *unit = gen_binary(g, "Mul", path, x, gen_unary(g, "Reciprocal", path, root));
    return gen_binary(g, "Mul", gen_f(g, "%s/scale", path), scale, unit);
}

/* Angles of position times frequency, once for each half of a head's elements. */
static void decoder_positions(struct gen *g, struct decoder *d)
{
    int64_t each = d->hidden / d->heads, half = each / 2;
    const int64_t dims[] = {1, 1, d->length, each};
    struct odb_tensor *angles = gen_tensor(g->floats, 4, dims);
    for (int64_t p = 0; p < d->length; p++)
        for (int64_t i = 0; i < each; i++)
            odb_store_f64(g->floats, angles->data, (size_t)(p * each + i),
                          (double)p * pow(10000, -(double)(i % half) / (double)half));
    odb_build_weight(g->b, "rotary.angles", angles);
    odb_tensor_unref(angles);
    d->cosines = gen_unary(g, "Cos", "rotary", "rotary.angles");
    d->sines = gen_unary(g, "Sin", "rotary", "rotary.angles");
}

/* What comes later is not looked at. */
static void decoder_mask(struct gen *g, struct decoder *d)
{
    const int64_t dims[] = {1, 1, d->length, d->length};
    struct odb_tensor *mask = gen_tensor(g->floats, 4, dims);
    for (int64_t i = 0; i < d->length; i++)
        for (int64_t j = i + 1; j < d->length; j++)
            odb_store_f64(g->floats, mask->data, (size_t)(i * d->length + j), -10000);
    odb_build_weight(g->b, "mask", mask);
    odb_tensor_unref(mask);
    d->mask = "mask";
}

/* x cos + (-second half, first half) sin. */
static const char *decoder_rotate(struct gen *g, const struct decoder *d, const char *path,
                                  const char *x)
{
    int64_t each = d->hidden / d->heads;
    const char *name = gen_f(g, "/%s/Split", path);
    const char *first = gen_f(g, "%s_output_0", name), *second = gen_f(g, "%s_output_1", name);
    odb_build_node(
        g->b, "Split", name,
        gen_f(g, "%s %s", x, GEN_INTS(g, gen_f(g, "%s.halves", path), each / 2, each / 2)),
        gen_f(g, "%s %s", first, second));
    odb_build_attr_int(g->b, "axis", -1);
    const char *turned = gen_binary(g, "Concat", path, gen_unary(g, "Neg", path, second), first);
    odb_build_attr_int(g->b, "axis", -1);
    const char *cosine = gen_binary(g, "Mul", path, x, d->cosines);
    const char *sine = gen_binary(g, "Mul", gen_f(g, "%s/turned", path), turned, d->sines);
    return gen_binary(g, "Add", path, cosine, sine);
}

/* [1, length, heads * each] -> [1, heads, length, each] */
static const char *decoder_split(struct gen *g, const struct decoder *d, const char *path,
                                 const char *x, int64_t heads)
{
    static const int64_t turn[] = {0, 2, 1, 3};
    const int64_t shape[] = {1, d->length, heads, d->hidden / d->heads};
    return gen_transpose(g, path, gen_reshape(g, path, x, 4, shape), 4, turn);
}

/* Every head of keys or values serves as many heads of queries. */
static const char *decoder_share(struct gen *g, const struct decoder *d, const char *path,
                                 const char *x)
{
    int64_t each = d->hidden / d->heads, times = d->heads / d->groups;
    const int64_t all[] = {1, d->heads, d->length, each};
    x = gen_binary(g, "Unsqueeze", path, x, GEN_INTS(g, gen_f(g, "%s.axis", path), 2));
    x = gen_binary(g, "Expand", path, x,
                   GEN_INTS(g, gen_f(g, "%s.times", path), 1, d->groups, times, d->length, each));
    return gen_reshape(g, gen_f(g, "%s/heads", path), x, 4, all);
}

static const char *decoder_attention(struct gen *g, const struct decoder *d, const char *path,
                                     const char *module, const char *x)
{
    static const int64_t turn[] = {0, 1, 3, 2}, back[] = {0, 2, 1, 3};
    int64_t each = d->hidden / d->heads, kv = each * d->groups;
    const char *q = gen_f(g, "%s/q_proj", path), *k = gen_f(g, "%s/k_proj", path),
               *v = gen_f(g, "%s/v_proj", path);
    const char *query =
        decoder_linear(g, q, gen_f(g, "%s.q_proj", module), x, d->hidden, d->hidden, 1);
    const char *key = decoder_linear(g, k, gen_f(g, "%s.k_proj", module), x, d->hidden, kv, 1);
    const char *value = decoder_linear(g, v, gen_f(g, "%s.v_proj", module), x, d->hidden, kv, 1);
    query = decoder_rotate(g, d, q, decoder_split(g, d, q, query, d->heads));
    key = decoder_rotate(g, d, k, decoder_split(g, d, k, key, d->groups));
    key = gen_transpose(g, gen_f(g, "%s/turned", k), decoder_share(g, d, k, key), 4, turn);
    value = decoder_share(g, d, v, decoder_split(g, d, v, value, d->groups));
    const char *score = gen_binary(g, "MatMul", path, query, key);
    score = gen_binary(g, "Mul", path, score,
                       gen_scalar(g, gen_f(g, "%s.scale", module), 1 / sqrt((double)each)));
    score = gen_unary(g, "Softmax", path, gen_binary(g, "Add", path, score, d->mask));
    odb_build_attr_int(g->b, "axis", -1);
    const char *y = gen_binary(g, "MatMul", gen_f(g, "%s/context", path), score, value);
    y = gen_transpose(g, path, y, 4, back);
    y = gen_reshape(g, path, y, 3, (int64_t[]){1, d->length, d->hidden});
    return decoder_linear(g, gen_f(g, "%s/o_proj", path), gen_f(g, "%s.o_proj", module), y,
                          d->hidden, d->hidden, 0.5);
}

/* down(silu(gate(x)) * up(x)) */
static const char *decoder_feed_forward(struct gen *g, const struct decoder *d, const char *path,
                                        const char *module, const char *x)
{
    const char *gate = decoder_linear(g, gen_f(g, "%s/gate_proj", path),
                                      gen_f(g, "%s.gate_proj", module), x, d->hidden, d->inner, 1);
    const char *up = decoder_linear(g, gen_f(g, "%s/up_proj", path), gen_f(g, "%s.up_proj", module),
                                    x, d->hidden, d->inner, 1);
    const char *act = gen_f(g, "%s/act_fn", path);
    gate = gen_binary(g, "Mul", act, gate, gen_unary(g, "Sigmoid", act, gate));
    return decoder_linear(g, gen_f(g, "%s/down_proj", path), gen_f(g, "%s.down_proj", module),
                          gen_binary(g, "Mul", path, gate, up), d->inner, d->hidden, 0.5);
}

static const char *decoder_layer(struct gen *g, const struct decoder *d, size_t layer,
                                 const char *x)
{
    const char *path = gen_f(g, "layers.%zu", layer), *module = gen_f(g, "model.layers.%zu", layer);
    const char *y = decoder_norm(g, gen_f(g, "%s/input_layernorm", path),
                                 gen_f(g, "%s.input_layernorm", module), x, d->hidden);
    y = decoder_attention(g, d, gen_f(g, "%s/self_attn", path), gen_f(g, "%s.self_attn", module),
                          y);
    x = gen_binary(g, "Add", gen_f(g, "%s/attention", path), x, y);
    y = decoder_norm(g, gen_f(g, "%s/post_attention_layernorm", path),
                     gen_f(g, "%s.post_attention_layernorm", module), x, d->hidden);
    y = decoder_feed_forward(g, d, gen_f(g, "%s/mlp", path), gen_f(g, "%s.mlp", module), y);
    return gen_binary(g, "Add", path, x, y);
}

void gen_decoder(struct gen *g)
{
    struct decoder d = g->options->count < DECODER_WIDE ? decoder_small : decoder_wide;
    const size_t layers = decoder_layers(g, &d);
    g->b = odb_build_new("decoder", 18);
    if (g->options->weights == GEN_INT4)
        odb_build_opset(g->b, "com.microsoft", 1);
    odb_build_input(g->b, "input_ids", ODB_I64, 2, (int64_t[]){1, d.length});
    decoder_positions(g, &d);
    decoder_mask(g, &d);
    gen_weight(g, "model.embed_tokens.weight", 2, (int64_t[]){d.words, d.hidden}, 0, 1);
    const char *x =
        gen_binary(g, "Gather", "embed_tokens", "model.embed_tokens.weight", "input_ids");
    for (size_t layer = 0; layer < layers; layer++)
        x = decoder_layer(g, &d, layer, x);
    x = decoder_norm(g, "norm", "model.norm", x, d.hidden);
    x = decoder_linear(g, "lm_head", "lm_head", x, d.hidden, d.words, 1);
    odb_build_node(g->b, "Identity", "/Identity", x, "logits");
    odb_build_output_typed(g->b, "logits", g->floats, 3, (int64_t[]){1, d.length, d.words});
}
