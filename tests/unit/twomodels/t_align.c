/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which value of one made-up model is which of another that was made of it.
 */
#include "twomodels/align.h"

#include <math.h>

#include "twomodels/weights.h"
#include "tests/help/models.h"
#include "model/read/load.h"

/* --- models ----------------------------------------------------------------------------------- */

static struct odb_tensor *ramp(int rank, const int64_t *dims, float first, float step)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, ODB_F32, rank, dims, &why));
    for (size_t i = 0; i < t->count; i++)
        ((odb_f32 *)t->data)[i] = first + step * (float)((i * 7) % 11);
    return t;
}

static void build_ramp(struct odb_builder *b, const char *name, int rank, const int64_t *dims,
                       float first, float step)
{
    struct odb_tensor *t = ramp(rank, dims, first, step);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* The same as what a node says. */
static void build_constant(struct odb_builder *b, const char *name, int rank, const int64_t *dims,
                           float first, float step)
{
    struct odb_tensor *t = ramp(rank, dims, first, step);
    odb_build_node(b, "Constant", "", "", name);
    odb_build_attr_tensor(b, "value", t);
    odb_tensor_unref(t);
}

/* A square matrix that others can be told from by its first element. */
static void build_matrix(struct odb_builder *b, const char *name, float first)
{
    build_ramp(b, name, 2, (int64_t[]){4, 4}, first, 0.125f);
}

static struct odb_builder *build_begin(const char *input)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_opset(b, "com.microsoft", 1);
    odb_build_input(b, input, ODB_F32, 2, (int64_t[]){2, 4});
    return b;
}

/* Nodes without names: "Conv x w > c; Relu c > r"; two blanks: an input that is left out. */
static void build_nodes(struct odb_builder *b, const char *text)
{
    char *copy = odb_xstrdup(text), *save = NULL;
    for (char *p = strtok_r(copy, ";", &save); p; p = strtok_r(NULL, ";", &save)) {
        char *op = p + strspn(p, " "), *in = strchr(op, ' '), *out = strstr(op, " > ");
        *in++ = *out = '\0';
        odb_build_node(b, op, "", in, out + 3);
    }
    free(copy);
}

struct pair {
    struct odb_model *original, *other;
    struct odb_alignment a;
};

static struct pair pair_align(struct odb_builder *original, struct odb_builder *other)
{
    struct pair p = {.original = models_take(original), .other = models_take(other)};
    struct odb_align_sides sides = {.original = p.original->graph, .other = p.other->graph};
    odb_align(&p.a, &sides);
    return p;
}

static void pair_close(struct pair *p)
{
    odb_alignment_dispose(&p->a);
    odb_model_free(p->original);
    odb_model_free(p->other);
}

/* The partner of a value; "" where it has none. */
static const char *partner(const struct pair *p, const char *name)
{
    int w = p->a.other[models_value(p->original, name)];
    return w < 0 ? "" : p->other->graph->values[w].name;
}

#define PAIRED(p, u, w) assert_string_equal(partner(&(p), u), w)

/* --- by name and by structure ----------------------------------------------------------------- */

/* x -> MatMul -> Add -> Relu for each layer, with the names that are given. */
static struct odb_builder *build_layers(const char *prefix, int layers, int spoilt)
{
    char in[40], out[40], words[120];
    struct odb_builder *b = build_begin("x");
    snprintf(in, sizeof in, "x");
    for (int l = 0; l < layers; l++) {
        snprintf(words, sizeof words, "%sw%d", prefix, l);
        build_matrix(b, words, (float)l + (l == spoilt ? 0.3f : 0));
        snprintf(words, sizeof words, "%sb%d", prefix, l);
        build_ramp(b, words, 1, (int64_t[]){4}, (float)-l, 0.5f);
        snprintf(words, sizeof words, "%s %sw%d", in, prefix, l);
        snprintf(out, sizeof out, "%sm%d", prefix, l);
        odb_build_node(b, "MatMul", "", words, out);
        snprintf(words, sizeof words, "%s %sb%d", out, prefix, l);
        snprintf(out, sizeof out, "%sa%d", prefix, l);
        odb_build_node(b, "Add", "", words, out);
        snprintf(in, sizeof in, l + 1 == layers ? "y" : "%sr%d", prefix, l);
        odb_build_node(b, "Relu", "", out, in);
    }
    odb_build_output(b, "y");
    return b;
}

static void test_align__the_same_names_of_the_same_nodes(void **state)
{
    struct pair p = pair_align(build_layers("", 3, -1), build_layers("", 3, 1));
    (void)state;
    PAIRED(p, "m0", "m0");
    PAIRED(p, "a1", "a1");
    PAIRED(p, "y", "y");
    assert_int_equal(p.a.how[models_value(p.original, "a1")], ODB_PAIRED_NAME);
    pair_close(&p);
}

/* Layers that look alike follow one another; another's name says nothing, a spoilt weight stands
 * in the middle, and nothing is taken for its neighbour. */
static void test_align__repeated_layers_renamed_with_a_wrong_weight(void **state)
{
    struct pair p = pair_align(build_layers("", 6, -1), build_layers("k", 6, 3));
    char u[8], w[8];
    (void)state;
    for (int l = 0; l < 6; l++)
        for (const char *kind = "mar"; *kind; kind++) {
            if (*kind == 'r' && l == 5)
                continue;
            snprintf(u, sizeof u, "%c%d", *kind, l);
            snprintf(w, sizeof w, "k%c%d", *kind, l);
            PAIRED(p, u, w);
        }
    pair_close(&p);
}

/* Numbers for names, that another writer counted from somewhere else: m0 is what was a0. */
static void test_align__numbers_that_mean_others(void **state)
{
    struct odb_builder *a = build_begin("x"), *b = build_begin("x");
    (void)state;
    build_nodes(a, "Tanh x > 1; Tanh 1 > 2; Tanh 2 > 3; Exp 3 > y");
    odb_build_output(a, "y");
    build_nodes(b, "Tanh x > 0; Tanh 0 > 1; Tanh 1 > 2; Exp 2 > y");
    odb_build_output(b, "y");
    struct pair p = pair_align(a, b);
    PAIRED(p, "1", "0");
    PAIRED(p, "2", "1");
    PAIRED(p, "3", "2");
    pair_close(&p);
}

/* The other model counts as the original does; a node behind which nothing else can be told has
 * become another one. */
static struct odb_builder *build_numbered(const char *first, const char *second)
{
    struct odb_builder *b = build_begin("x");
    build_nodes(b, "Tanh x > 10; Exp 10 > 11; Sin 11 > 12");
    odb_build_node(b, first, "", "12", "13");
    odb_build_node(b, second, "", "13", "14");
    build_nodes(b, "Add 14 14 > 15; Cos 15 > y");
    odb_build_output(b, "y");
    return b;
}

static void test_align__numbers_that_have_proved_right(void **state)
{
    struct pair p = pair_align(build_numbered("Sigmoid", "Neg"), build_numbered("Softplus", "Abs"));
    (void)state;
    PAIRED(p, "12", "12");
    PAIRED(p, "14", "14");
    PAIRED(p, "15", "15");
    pair_close(&p);
}

/* x -> MatMul -> Add, and x again: the sum of what is known before and behind a wrong node. */
static struct odb_builder *build_residual(const char *op, const char *prefix)
{
    char words[60], name[20];
    struct odb_builder *b = build_begin("x");
    build_matrix(b, "w", 1);
    build_matrix(b, "v", 2);
#define NAMED(stem) (snprintf(name, sizeof name, "%s" stem, prefix), name)
    odb_build_node(b, op, "", "x", NAMED("h"));
    snprintf(words, sizeof words, "%sh w", prefix);
    odb_build_node(b, "MatMul", "", words, NAMED("m"));
    snprintf(words, sizeof words, "%sm", prefix);
    odb_build_node(b, "Tanh", "", words, NAMED("t"));
    snprintf(words, sizeof words, "%sh %st", prefix, prefix);
    odb_build_node(b, "Add", "", words, NAMED("s"));
    snprintf(words, sizeof words, "%ss v", prefix);
    odb_build_node(b, "MatMul", "", words, "y");
#undef NAMED
    odb_build_output(b, "y");
    return b;
}

static void test_align__a_replaced_operator_and_what_lies_behind_it(void **state)
{
    struct pair p = pair_align(build_residual("Sigmoid", "a"), build_residual("Softplus", "b"));
    (void)state;
    PAIRED(p, "ah", "bh");
    PAIRED(p, "am", "bm");
    PAIRED(p, "as", "bs");
    pair_close(&p);
}

/* Two stretches, and a node that reads the end of the other one: what it reads is not taken for
 * what it should. */
static struct odb_builder *build_wired(const char *prefix, bool wrong)
{
    char words[60], name[20];
    struct odb_builder *b = build_begin("x");
    build_matrix(b, "w", 1);
#define NAMED(stem) (snprintf(name, sizeof name, "%s" stem, prefix), name)
    odb_build_node(b, "Exp", "", "x", NAMED("a"));
    snprintf(words, sizeof words, "%sa", prefix);
    odb_build_node(b, "Tanh", "", words, NAMED("b"));
    snprintf(words, sizeof words, "%sb", prefix);
    odb_build_node(b, wrong ? "Sin" : "Cos", "", words, NAMED("c"));
    snprintf(words, sizeof words, wrong ? "%sb" : "%sc", prefix);
    odb_build_node(b, "Neg", "", words, NAMED("d"));
    snprintf(words, sizeof words, "%sd w", prefix);
    odb_build_node(b, "MatMul", "", words, "y");
#undef NAMED
    odb_build_output(b, "y");
    return b;
}

static void test_align__a_node_that_reads_another_value(void **state)
{
    struct pair p = pair_align(build_wired("k", false), build_wired("l", true));
    (void)state;
    PAIRED(p, "ka", "la");
    PAIRED(p, "kb", "lb");
    PAIRED(p, "kc", "");
    PAIRED(p, "kd", "ld");
    pair_close(&p);
}

/* --- branches --------------------------------------------------------------------------------- */

/* Two branches of one shape; alike in the other model but for a letter, in another order. */
static struct odb_builder *build_branches(char c, float left, float right, bool turned)
{
    char words[60], name[8];
    struct odb_builder *b = build_begin("x");
    for (int i = 0; i < 2; i++) {
        int side = turned ? 1 - i : i;
        snprintf(name, sizeof name, "%cw%d", c, side);
        build_matrix(b, name, side ? right : left);
        snprintf(words, sizeof words, "x %s", name);
        snprintf(name, sizeof name, "%cm%d", c, side);
        odb_build_node(b, "MatMul", "", words, name);
        snprintf(words, sizeof words, "%cs%d", c, side);
        odb_build_node(b, "Sigmoid", "", name, words);
    }
    snprintf(words, sizeof words, "%cs0 %cs1", c, c);
    odb_build_node(b, "Add", "", words, "t");
    odb_build_node(b, "Tanh", "", "t", "y");
    odb_build_output(b, "y");
    return b;
}

static void test_align__equal_branches_are_nobodys(void **state)
{
    struct pair p = pair_align(build_branches('a', 1, 1, false), build_branches('b', 1, 1, true));
    (void)state;
    PAIRED(p, "am0", "");
    PAIRED(p, "am1", "");
    PAIRED(p, "as0", "");
    PAIRED(p, "as1", "");
    PAIRED(p, "t", "t");
    pair_close(&p);
}

static void test_align__weights_tell_branches_apart(void **state)
{
    struct pair p = pair_align(build_branches('a', 1, 2, false), build_branches('b', 1, 2, true));
    (void)state;
    PAIRED(p, "am0", "bm0");
    PAIRED(p, "as1", "bs1");
    pair_close(&p);
}

/* One branch has its weight still, so the other one is the one with the wrong weight. */
static void test_align__a_wrong_weight_in_one_of_two_branches(void **state)
{
    struct pair p =
        pair_align(build_branches('a', 1, 2, false), build_branches('b', 1, 2.5f, true));
    (void)state;
    PAIRED(p, "am0", "bm0");
    PAIRED(p, "am1", "bm1");
    pair_close(&p);
}

/* Both weights are others: nobody knows which branch is which. */
static void test_align__two_wrong_weights_are_no_evidence(void **state)
{
    struct pair p =
        pair_align(build_branches('a', 1, 2, false), build_branches('b', 1.5f, 2.5f, true));
    (void)state;
    PAIRED(p, "am0", "");
    PAIRED(p, "am1", "");
    pair_close(&p);
}

/* --- converted, folded, fused ----------------------------------------------------------------- */

static struct odb_builder *build_conv(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_opset(b, "com.microsoft", 1);
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, 2, 5, 5});
    build_ramp(b, "w", 4, (int64_t[]){2, 2, 3, 3}, 0.5f, 0.1f);
    return b;
}

static void build_norm(struct odb_builder *b)
{
    build_ramp(b, "g", 1, (int64_t[]){2}, 1, 0.5f);
    build_ramp(b, "v", 1, (int64_t[]){2}, 2, 0.5f);
    odb_build_node(b, "BatchNormalization", "bn", "c g g g v", "n");
}

/* The normalisation is gone, and the Conv has kept its own name for what was the other's value. */
static void test_align__a_normalisation_folded_into_the_node_before_it(void **state)
{
    struct odb_builder *a = build_conv(), *b = build_conv();
    (void)state;
    odb_build_node(a, "Conv", "conv", "x w", "c");
    build_norm(a);
    build_nodes(a, "Relu n > r; Conv r w > y");
    odb_build_output(a, "y");
    odb_build_node(b, "Conv", "conv", "x w", "c");
    build_nodes(b, "Relu c > r; Conv r w > y");
    odb_build_output(b, "y");
    struct pair p = pair_align(a, b);
    PAIRED(p, "c", "");
    PAIRED(p, "n", "c");
    PAIRED(p, "r", "r");
    pair_close(&p);
}

/* Layers of Conv, a part that adds or scales by constants, and Relu. folded: the part is in the
 * weights of the Conv, whose value is called by names. nodes: the constants are those of nodes. */
static struct odb_builder *build_folded(const char *part, bool folded, const char *names,
                                        bool nodes)
{
    void (*build)(struct odb_builder *, const char *, int, const int64_t *, float, float) =
        nodes ? build_constant : build_ramp;
    struct odb_builder *b = build_conv();
    char in[16] = "x", weight[16], conv[16], constant[16], words[120], out[16];
    for (int l = 0; l < 4; l++) {
        snprintf(weight, sizeof weight, "%sw%d", folded ? "f" : "", l);
        snprintf(constant, sizeof constant, "k%d", l);
        snprintf(conv, sizeof conv, "%s%d", names, l);
        build(b, weight, 4, (int64_t[]){2, 2, 3, 3}, (float)l + (folded ? 0.7f : 0.2f), 0.1f);
        if (folded && nodes) /* which nobody reads any more */
            build(b, constant, 1, (int64_t[]){2}, (float)l + 1, 0.25f);
        snprintf(words, sizeof words, "%s %s", in, weight);
        odb_build_node(b, "Conv", "", words, conv);
        if (!folded) {
            build(b, constant, 1, (int64_t[]){2}, (float)l + 1, 0.25f);
            snprintf(words, sizeof words, "%s %s %s %s %s", conv, constant, constant, constant,
                     constant);
            if (!strcmp(part, "Add"))
                snprintf(words, sizeof words, "%s %s", conv, constant);
            snprintf(conv, sizeof conv, "n%d", l);
            odb_build_node(b, part, "", words, conv);
        }
        snprintf(out, sizeof out, "r%d", l);
        odb_build_node(b, "Relu", "", conv, out);
        memcpy(in, out, sizeof in);
    }
    odb_build_output(b, "r3");
    return b;
}

/* Values say nothing, as behind a fold that is wrong: no value before what was folded may be the
 * partner of one behind it, whatever that is called. */
static void test_align__nothing_before_a_fold_is_paired_with_what_is_behind_it(void **state)
{
    static const char *const parts[] = {"BatchNormalization", "Add"}, *const names[] = {"c", "t"};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        const char *part = parts[i & 1], *name = names[i >> 1 & 1];
        struct pair p = pair_align(build_folded(part, false, "c", i & 4),
                                   build_folded(part, true, name, i & 4));
        for (int l = 0; l < 4; l++) {
            char u[8], w[8];
            snprintf(u, sizeof u, "c%d", l);
            PAIRED(p, u, "");
            snprintf(u, sizeof u, "n%d", l);
            snprintf(w, sizeof w, "%s%d", name, l);
            PAIRED(p, u, w);
            snprintf(u, sizeof u, "r%d", l);
            PAIRED(p, u, u);
        }
        pair_close(&p);
    }
}

static void test_align__a_fused_operator_is_the_end_of_its_pattern(void **state)
{
    struct odb_builder *a = build_conv(), *b = build_conv();
    (void)state;
    build_nodes(a, "Conv x w > c; Relu c > r; MaxPool r > p");
    odb_build_attr_ints(a, "kernel_shape", 2, (int64_t[]){2, 2});
    odb_build_node(a, "Tanh", "", "p", "y");
    odb_build_output(a, "y");
    odb_build_node(b, "com.microsoft::FusedConv", "", "x w", "u1");
    odb_build_attr_string(b, "activation", "Relu");
    odb_build_node(b, "MaxPool", "", "u1", "u2");
    odb_build_attr_ints(b, "kernel_shape", 2, (int64_t[]){2, 2});
    odb_build_node(b, "Tanh", "", "u2", "y");
    odb_build_output(b, "y");
    struct pair p = pair_align(a, b);
    PAIRED(p, "c", "");
    PAIRED(p, "r", "u1");
    PAIRED(p, "p", "u2");
    pair_close(&p);
}

/* erf as PyTorch writes it, once per layer; the other model has one node for each. */
static struct odb_builder *build_gelus(bool fused)
{
    char words[80], in[40] = "x", out[20];
    struct odb_builder *b = build_begin("x");
    build_ramp(b, "k2", 0, NULL, 1.41421356f, 0);
    build_ramp(b, "k1", 0, NULL, 1, 0);
    build_ramp(b, "kh", 0, NULL, 0.5f, 0);
    for (int l = 0; l < 3; l++) {
        snprintf(out, sizeof out, fused ? "F%d" : "w%d", l);
        build_matrix(b, out, (float)l);
        snprintf(words, sizeof words, fused ? "%s F%d" : "%s w%d", in, l);
        snprintf(out, sizeof out, fused ? "f%d" : "m%d", l);
        odb_build_node(b, "MatMul", "", words, out);
        if (fused) {
            snprintf(in, sizeof in, "h%d", l);
            odb_build_node(b, "com.microsoft::Gelu", "", out, in);
            continue;
        }
        snprintf(words, sizeof words, "%s k2", out);
        snprintf(in, sizeof in, "d%d", l);
        odb_build_node(b, "Div", "", words, in);
        snprintf(words, sizeof words, "e%d", l);
        odb_build_node(b, "Erf", "", in, words);
        snprintf(in, sizeof in, "e%d k1", l);
        snprintf(words, sizeof words, "s%d", l);
        odb_build_node(b, "Add", "", in, words);
        snprintf(in, sizeof in, "%s s%d", out, l);
        snprintf(words, sizeof words, "t%d", l);
        odb_build_node(b, "Mul", "", in, words);
        snprintf(words, sizeof words, "t%d kh", l);
        snprintf(in, sizeof in, "g%d", l);
        odb_build_node(b, "Mul", "", words, in);
    }
    odb_build_node(b, "Tanh", "", in, "y");
    odb_build_output(b, "y");
    return b;
}

static void test_align__gelu_in_every_layer(void **state)
{
    struct pair p = pair_align(build_gelus(false), build_gelus(true));
    (void)state;
    PAIRED(p, "m0", "f0");
    PAIRED(p, "g0", "h0");
    PAIRED(p, "m1", "f1");
    PAIRED(p, "g1", "h1");
    PAIRED(p, "g2", "h2");
    PAIRED(p, "d1", "");
    PAIRED(p, "t1", "");
    pair_close(&p);
}

/* What both models cast is a value of its own before that. */
static void test_align__a_cast_that_both_have(void **state)
{
    struct odb_builder *b[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        b[i] = build_begin("x");
        odb_build_node(b[i], "Shape", "", "x", "s");
        odb_build_node(b[i], "Cast", "", "s", i ? "cc" : "c");
        odb_build_attr_int(b[i], "to", ODB_F32);
        odb_build_node(b[i], "Sqrt", "", i ? "cc" : "c", "y");
        odb_build_output(b[i], "y");
    }
    struct pair p = pair_align(b[0], b[1]);
    PAIRED(p, "s", "s");
    pair_close(&p);
}

static void build_scalar(struct odb_builder *b, const char *name, enum odb_dtype dtype, double v)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, dtype, 0, NULL, &why));
    odb_store_f64(dtype, t->data, 0, v);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* What its readers have is a value's partner: behind the pair that quantises it. */
static void test_align__through_quantising_pairs(void **state)
{
    struct odb_builder *a = build_begin("x"), *b = build_begin("x");
    int scale, zero;
    (void)state;
    build_nodes(a, "Tanh x > h; Exp h > e; Sqrt e > y");
    odb_build_output(a, "y");
    build_scalar(b, "s", ODB_F32, 0.01);
    build_scalar(b, "z", ODB_U8, 128);
    build_nodes(b, "Tanh x > h; QuantizeLinear h s z > h_QuantizeLinear_Output; "
                   "DequantizeLinear h_QuantizeLinear_Output s z > hd; Exp hd > q7; "
                   "Sqrt q7 > y");
    odb_build_output(b, "y");
    struct pair p = pair_align(a, b);
    PAIRED(p, "h", "hd");
    PAIRED(p, "e", "q7");
    assert_true(odb_quantised_by(p.other->graph, models_value(p.other, "h_QuantizeLinear_Output"),
                                 &scale, &zero));
    assert_string_equal(p.other->graph->values[scale].name, "s");
    assert_string_equal(p.other->graph->values[zero].name, "z");
    assert_false(odb_quantised_by(p.other->graph, models_value(p.other, "q7"), &scale, &zero));
    pair_close(&p);
}

/* Channels in blocks: the name and the shape say one thing, the elements another. */
static void test_align__blocked_layouts_have_no_partners(void **state)
{
    struct odb_builder *a = build_conv(), *b = build_conv();
    (void)state;
    build_nodes(a, "Conv x w > c; Relu c > r; Tanh r > y");
    odb_build_output(a, "y");
    odb_build_opset(b, "com.microsoft.nchwc", 1);
    build_nodes(b, "com.microsoft.nchwc::Conv x w > c; Relu c > rb; "
                   "com.microsoft.nchwc::ReorderOutput rb > r; Tanh r > y");
    odb_build_output(b, "y");
    struct pair p = pair_align(a, b);
    PAIRED(p, "c", "");
    PAIRED(p, "r", "r");
    pair_close(&p);
}

/* The same where somebody has put the elements in order: a node in blocks has the name of the value
 * that it stands for, and is the fused one that its activation says. */
static void test_align__blocked_layouts_that_were_undone(void **state)
{
    struct odb_builder *a = build_conv(), *b = build_conv();
    (void)state;
    build_nodes(a, "Conv x w > c; Relu c > r; Conv r w > d; Add d r > s; Relu s > t; "
                   "Tanh t > y");
    odb_build_output(a, "y");
    odb_build_opset(b, "com.microsoft.nchwc", 1);
    odb_build_node(b, "com.microsoft.nchwc::Conv", "r_nchwc", "x w", "token_0");
    odb_build_attr_string(b, "activation", "Relu");
    odb_build_node(b, "com.microsoft.nchwc::Conv", "other", "token_0 w  token_0", "token_1");
    odb_build_attr_string(b, "activation", "Relu");
    build_nodes(b, "com.microsoft.nchwc::ReorderOutput token_1 > t; Tanh t > y");
    odb_build_output(b, "y");
    struct pair p = {.original = models_take(a), .other = models_take(b)};
    struct odb_align_sides sides = {
        .original = p.original->graph, .other = p.other->graph, .unblocked = true};
    odb_align(&p.a, &sides);
    PAIRED(p, "c", "");
    PAIRED(p, "r", "token_0");
    PAIRED(p, "d", "");
    PAIRED(p, "t", "t");
    pair_close(&p);
}

/* --- by value and by map ---------------------------------------------------------------------- */

/* The value of the original that a value of the other stands for, by the number in their names. */
static double gap_of_numbers(void *payload, int u, int w)
{
    const struct pair *p = payload;
    const char *a = p->original->graph->values[u].name, *b = p->other->graph->values[w].name;
    return fabs(atof(a + 1) - atof(b + 1)) / 10;
}

static struct odb_builder *build_odd(const char *op, const char *first, const char *second)
{
    struct odb_builder *b = build_begin("x0");
    odb_build_node(b, op, "", "x0", first);
    odb_build_node(b, "Softplus", "", first, second);
    odb_build_node(b, op, "", second, "y9");
    odb_build_output(b, "y9");
    return b;
}

static void test_align__equal_values_and_nothing_near_them(void **state)
{
    struct pair p = {.original = models_take(build_odd("Tanh", "v1", "v2")),
                     .other = models_take(build_odd("Sin", "q1", "q2.00001"))};
    struct odb_align_sides sides = {.original = p.original->graph,
                                    .other = p.other->graph,
                                    .gap = gap_of_numbers,
                                    .near = 1e-4,
                                    .payload = &p};
    (void)state;
    odb_align(&p.a, &sides);
    PAIRED(p, "v1", "q1");
    PAIRED(p, "v2", "q2.00001");
    assert_int_equal(p.a.how[models_value(p.original, "v2")], ODB_PAIRED_VALUE);
    pair_close(&p);
}

static void test_align__two_equal_values_are_nobodys(void **state)
{
    struct pair p = {.original = models_take(build_odd("Tanh", "v1", "v1.00001")),
                     .other = models_take(build_odd("Sin", "q1", "q5"))};
    struct odb_align_sides sides = {.original = p.original->graph,
                                    .other = p.other->graph,
                                    .gap = gap_of_numbers,
                                    .near = 1e-4,
                                    .payload = &p};
    (void)state;
    odb_align(&p.a, &sides);
    assert_int_not_equal(p.a.how[models_value(p.original, "v1")], ODB_PAIRED_VALUE);
    assert_int_not_equal(p.a.how[models_value(p.original, "v1.00001")], ODB_PAIRED_VALUE);
    pair_close(&p);
}

static char *map_crosswise(void *payload, const char *name)
{
    (void)payload;
    return !strcmp(name, "h") ? odb_xstrdup("k") : !strcmp(name, "e") ? odb_xstrdup("none") : NULL;
}

static void test_align__a_map_wins_over_names(void **state)
{
    struct odb_builder *a = build_begin("x"), *b = build_begin("x");
    (void)state;
    build_nodes(a, "Tanh x > h; Exp h > e; Sqrt e > y");
    odb_build_output(a, "y");
    build_nodes(b, "Tanh x > h; Tanh x > k; Add h k > e; Sqrt e > y");
    odb_build_output(b, "y");
    struct pair p = {.original = models_take(a), .other = models_take(b)};
    struct odb_align_sides sides = {
        .original = p.original->graph, .other = p.other->graph, .mapped = map_crosswise};
    odb_align(&p.a, &sides);
    PAIRED(p, "h", "k");
    assert_int_equal(p.a.n_unknown, 1);
    assert_int_equal(p.a.how[models_value(p.original, "h")], ODB_PAIRED_MAP);
    pair_close(&p);
}

/* --- regions ---------------------------------------------------------------------------------- */

static void test_align__a_region_ends_at_what_is_known(void **state)
{
    struct odb_model *model = models_take(build_layers("", 2, -1));
    const struct odb_graph *g = model->graph;
    bool *stop = odb_new_n(bool, g->n_values), *marks = odb_new_n(bool, g->n_nodes);
    int *border = odb_new_n(int, g->n_values);
    (void)state;
    stop[models_value(model, "a0")] = true;
    assert_int_equal(odb_region(g, models_value(model, "a1"), stop, marks, border), 1);
    assert_int_equal(border[0], models_value(model, "a0"));
    for (size_t n = 0; n < g->n_nodes; n++)
        assert_int_equal(marks[n], n >= 2 && n <= 4); /* Relu, MatMul, Add */
    free(stop);
    free(marks);
    free(border);
    odb_model_free(model);
}

/* --- weights ---------------------------------------------------------------------------------- */

static struct odb_weight_pair compared(struct odb_tensor *a, struct odb_tensor *b,
                                       struct odb_tensor *scale, int axis)
{
    struct odb_constant here = {.t = a}, there = {.t = b, .scale = scale, .axis = axis};
    struct odb_weight_pair pair = {0};
    odb_constants_compare(&pair, &here, &there);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    odb_tensor_unref(scale);
    return pair;
}

static struct odb_tensor *tensor_of(enum odb_dtype dtype, int64_t rows, int64_t columns,
                                    double (*at)(int64_t, int64_t))
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, dtype, 2, (int64_t[]){rows, columns}, &why));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            odb_store_f64(dtype, t->data, (size_t)(r * columns + c), at(r, c));
    return t;
}

static double at_plain(int64_t r, int64_t c)
{
    return 0.1 + 0.37 * (double)r - 0.21 * (double)c;
}
static double at_turned(int64_t r, int64_t c)
{
    return at_plain(c, r);
}
static double at_scaled(int64_t r, int64_t c)
{
    return at_plain(r, c) * (1.5 + 0.5 * (double)r);
}
static double at_spoilt(int64_t r, int64_t c)
{
    return at_plain(r, c) + (r == 1 && c == 2 ? 0.2 : 0);
}
static double at_codes(int64_t r, int64_t c)
{
    return nearbyint(at_plain(r, c) / 0.02);
}
static double at_wrong_code(int64_t r, int64_t c)
{
    return at_codes(r, c) + (r == 2 && c == 0 ? 9 : 0);
}

static struct odb_tensor *step_of(float step)
{
    return models_f32(0, NULL, &step);
}

static void test_weights__what_explains_a_difference(void **state)
{
    (void)state;
    assert_int_equal(
        compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_F32, 3, 4, at_plain), NULL, 0)
            .fate,
        ODB_FATE_SAME);
    assert_int_equal(
        compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_F16, 3, 4, at_plain), NULL, 0)
            .fate,
        ODB_FATE_RETYPED);
    assert_int_equal(
        compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_F32, 4, 3, at_turned), NULL, 0)
            .fate,
        ODB_FATE_MOVED);
    assert_int_equal(
        compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_F32, 3, 4, at_scaled), NULL, 0)
            .fate,
        ODB_FATE_SCALED);
    struct odb_weight_pair pair = compared(tensor_of(ODB_F32, 3, 4, at_plain),
                                           tensor_of(ODB_I8, 3, 4, at_codes), step_of(0.02f), 0);
    assert_int_equal(pair.fate, ODB_FATE_QUANTISED);
    assert_true(pair.error <= 0.0101 && pair.step > 0.0199 && pair.step < 0.0201);
}

static void test_weights__what_nothing_explains(void **state)
{
    (void)state;
    struct odb_weight_pair pair =
        compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_F32, 3, 4, at_spoilt), NULL, 0);
    assert_int_equal(pair.fate, ODB_FATE_DIFFERENT);
    assert_int_equal(pair.n_off, 1);
    assert_int_equal(pair.at, 6);
    pair =
        compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_F16, 3, 4, at_spoilt), NULL, 0);
    assert_int_equal(pair.fate, ODB_FATE_DIFFERENT);
    assert_int_equal(pair.n_off, 1);
    pair = compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_I8, 3, 4, at_wrong_code),
                    step_of(0.02f), 0);
    assert_int_equal(pair.fate, ODB_FATE_DIFFERENT);
    assert_int_equal(pair.at, 8);
    pair =
        compared(tensor_of(ODB_F32, 3, 4, at_plain), tensor_of(ODB_F32, 2, 4, at_plain), NULL, 0);
    assert_int_equal(pair.fate, ODB_FATE_DIFFERENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_align__the_same_names_of_the_same_nodes),
        cmocka_unit_test(test_align__repeated_layers_renamed_with_a_wrong_weight),
        cmocka_unit_test(test_align__numbers_that_mean_others),
        cmocka_unit_test(test_align__numbers_that_have_proved_right),
        cmocka_unit_test(test_align__a_replaced_operator_and_what_lies_behind_it),
        cmocka_unit_test(test_align__a_node_that_reads_another_value),
        cmocka_unit_test(test_align__equal_branches_are_nobodys),
        cmocka_unit_test(test_align__weights_tell_branches_apart),
        cmocka_unit_test(test_align__a_wrong_weight_in_one_of_two_branches),
        cmocka_unit_test(test_align__two_wrong_weights_are_no_evidence),
        cmocka_unit_test(test_align__a_normalisation_folded_into_the_node_before_it),
        cmocka_unit_test(test_align__nothing_before_a_fold_is_paired_with_what_is_behind_it),
        cmocka_unit_test(test_align__a_fused_operator_is_the_end_of_its_pattern),
        cmocka_unit_test(test_align__gelu_in_every_layer),
        cmocka_unit_test(test_align__a_cast_that_both_have),
        cmocka_unit_test(test_align__through_quantising_pairs),
        cmocka_unit_test(test_align__blocked_layouts_have_no_partners),
        cmocka_unit_test(test_align__blocked_layouts_that_were_undone),
        cmocka_unit_test(test_align__equal_values_and_nothing_near_them),
        cmocka_unit_test(test_align__two_equal_values_are_nobodys),
        cmocka_unit_test(test_align__a_map_wins_over_names),
        cmocka_unit_test(test_align__a_region_ends_at_what_is_known),
        cmocka_unit_test(test_weights__what_explains_a_difference),
        cmocka_unit_test(test_weights__what_nothing_explains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
