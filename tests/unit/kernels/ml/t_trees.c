/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trees: random forests against a walk that follows the specification word by word, then what it
 * leaves to say: votes, base values, aggregates, two classes, missing values, attributes that do
 * not go together.
 */
#include "tests/help/op_case.h"

#define TREES_OK(call) assert_int_equal(call, ODB_OK)

/* --- random forests --------------------------------------------------------------------------- */

enum { TREES_MAX = 400, TREES_FEATURES = 4, TREES_ROWS = 70, TREES_TARGETS = 3 };

static const char *const trees_modes[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                          "BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
enum { TREES_LEAF = 6 };

/* As the attributes have it; a node's mode is its place in trees_modes. */
struct trees_forest {
    size_t n, n_votes;
    int64_t tree[TREES_MAX], node[TREES_MAX], feature[TREES_MAX], on_true[TREES_MAX],
        on_false[TREES_MAX], missing[TREES_MAX];
    int mode[TREES_MAX];
    float value[TREES_MAX];
    int64_t vote_tree[TREES_MAX], vote_node[TREES_MAX], vote_target[TREES_MAX];
    float weight[TREES_MAX];
    uint64_t state;
};

static int trees_draw(struct trees_forest *f, int n)
{
    return (int)((op_draw(&f->state) + 1) / 2 * n);
}

/* Adds a node and what is below it; returns its id. */
static int64_t trees_grow(struct trees_forest *f, int64_t tree, int64_t *next, int depth)
{
    int64_t id = (*next)++;
    size_t at = f->n++;
    assert_in_range(at, 0, TREES_MAX - 1);
    f->tree[at] = tree;
    f->node[at] = id;
    f->mode[at] = depth == 0 || trees_draw(f, 5) == 0 ? TREES_LEAF : trees_draw(f, TREES_LEAF);
    f->feature[at] = trees_draw(f, TREES_FEATURES);
    f->value[at] = (float)(trees_draw(f, 7) - 3);
    f->missing[at] = trees_draw(f, 2);
    if (f->mode[at] == TREES_LEAF) {
        int votes = 1 + trees_draw(f, 3);
        for (int v = 0; v < votes; v++, f->n_votes++) {
            assert_in_range(f->n_votes, 0, TREES_MAX - 1);
            f->vote_tree[f->n_votes] = tree;
            f->vote_node[f->n_votes] = id;
            f->vote_target[f->n_votes] = trees_draw(f, TREES_TARGETS);
            f->weight[f->n_votes] = (float)op_draw(&f->state);
        }
    } else {
        f->on_true[at] = trees_grow(f, tree, next, depth - 1);
        f->on_false[at] = trees_grow(f, tree, next, depth - 1);
    }
    return id;
}

static void trees_plant(struct trees_forest *f, int trees, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    f->state = seed * 77 + 1;
    for (int t = 0; t < trees; t++) {
        int64_t next = 0;
        trees_grow(f, 10 * t, &next, 4);
    }
}

static size_t trees_at(const struct trees_forest *f, int64_t tree, int64_t node)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->tree[i] == tree && f->node[i] == node)
            return i;
    fail_msg("tree %ld has no node %ld", (long)tree, (long)node);
    return 0;
}

static bool trees_decide(const struct trees_forest *f, size_t at, float x)
{
    float t = f->value[at];
    bool said[] = {x <= t, x<t, x >= t, x> t, x == t, x != t};
    return isnan(x) ? f->missing[at] : said[f->mode[at]];
}

/* What the votes of the leaf that x reaches in a tree add to scores; seen counts them. */
static void trees_walk(const struct trees_forest *f, int64_t tree, const float *x, double *scores,
                       int *seen, int how)
{
    int64_t node = 0;
    size_t at;
    while (f->mode[at = trees_at(f, tree, node)] != TREES_LEAF)
        node = trees_decide(f, at, x[f->feature[at]]) ? f->on_true[at] : f->on_false[at];
    for (size_t v = 0; v < f->n_votes; v++) {
        if (f->vote_tree[v] != tree || f->vote_node[v] != node)
            continue;
        double *s = &scores[f->vote_target[v]], w = f->weight[v];
        bool first = seen[f->vote_target[v]]++ == 0;
        *s = how == 'm'   ? (first || w < *s ? w : *s)
             : how == 'M' ? (first || w > *s ? w : *s)
                          : *s + w;
    }
}

static struct odb_tensor *trees_input(uint64_t seed)
{
    struct odb_tensor *x;
    uint64_t state = seed;
    TREES_OK(odb_tensor_new(&x, ODB_F32, 2, (int64_t[]){TREES_ROWS, TREES_FEATURES}, NULL));
    for (size_t i = 0; i < x->count; i++) {
        double v = floor(op_draw(&state) * 5);
        odb_store_f64(ODB_F32, x->data, i, v > 3 ? NAN : v);
    }
    return x;
}

struct trees_attrs {
    struct odb_attr items[24];
    struct odb_str modes[TREES_MAX];
    size_t n;
};

static void trees_ints(struct trees_attrs *a, const char *name, const int64_t *v, size_t n)
{
    a->items[a->n++] = (struct odb_attr){.name = name, .type = ODB_ATTR_INTS, .ints = v, .n = n};
}

static void trees_floats(struct trees_attrs *a, const char *name, const float *v, size_t n)
{
    a->items[a->n++] = (struct odb_attr){
        .name = name, .type = ODB_ATTR_FLOATS, .floats = (const odb_f32 *)v, .n = n};
}

static void trees_string(struct trees_attrs *a, const char *name, const char *s)
{
    a->items[a->n++] =
        (struct odb_attr){.name = name, .type = ODB_ATTR_STRING, .s = {s, strlen(s)}};
}

static void trees_nodes(struct trees_attrs *a, const struct trees_forest *f)
{
    for (size_t i = 0; i < f->n; i++)
        a->modes[i] = (struct odb_str){trees_modes[f->mode[i]], strlen(trees_modes[f->mode[i]])};
    a->items[a->n++] = (struct odb_attr){
        .name = "nodes_modes", .type = ODB_ATTR_STRINGS, .strings = a->modes, .n = f->n};
    trees_ints(a, "nodes_treeids", f->tree, f->n);
    trees_ints(a, "nodes_nodeids", f->node, f->n);
    trees_ints(a, "nodes_featureids", f->feature, f->n);
    trees_ints(a, "nodes_truenodeids", f->on_true, f->n);
    trees_ints(a, "nodes_falsenodeids", f->on_false, f->n);
    trees_ints(a, "nodes_missing_value_tracks_true", f->missing, f->n);
    trees_floats(a, "nodes_values", f->value, f->n);
}

static enum odb_status trees_call(const char *op, int opset, const struct trees_attrs *a,
                                  const struct odb_tensor *x, enum odb_precision precision,
                                  int n_out, struct odb_tensor **out, struct odb_error *err)
{
    static const bool wanted[] = {true, true};
    struct odb_call call = {.op = odb_op_find("ai.onnx.ml", op, opset),
                            .opset = opset,
                            .attrs = {a->items, a->n},
                            .n_in = 1,
                            .n_out = n_out,
                            .in = &x,
                            .wanted = wanted,
                            .precision = precision,
                            .seed = 1};
    return odb_op_run(&call, out, err);
}

static void trees_regress(struct trees_attrs *a, const struct trees_forest *f, const char *how)
{
    trees_nodes(a, f);
    trees_ints(a, "target_treeids", f->vote_tree, f->n_votes);
    trees_ints(a, "target_nodeids", f->vote_node, f->n_votes);
    trees_ints(a, "target_ids", f->vote_target, f->n_votes);
    trees_floats(a, "target_weights", f->weight, f->n_votes);
    trees_string(a, "aggregate_function", how);
    a->items[a->n++] =
        (struct odb_attr){.name = "n_targets", .type = ODB_ATTR_INT, .i = TREES_TARGETS};
}

static void test_trees__random_regressions(void **state)
{
    static const float base[TREES_TARGETS] = {0.5f, -1, 2};
    static struct trees_forest f;
    const int trees = 6;
    for (int round = 0; round < 40; round++) {
        const char *how = (const char *[]){"SUM", "AVERAGE", "MIN", "MAX"}[round % 4];
        struct trees_attrs a = {.n = 0};
        struct odb_tensor *x = trees_input((uint64_t)round + 3), *out = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        trees_plant(&f, trees, (uint64_t)round);
        trees_regress(&a, &f, how);
        if (round % 8 < 4)
            trees_floats(&a, "base_values", base, TREES_TARGETS);
        enum odb_status status =
            trees_call("TreeEnsembleRegressor", 3, &a, x, ODB_PREC_NATIVE, 1, &out, &err);
        bool all = true;
        for (size_t r = 0; r < TREES_ROWS; r++) {
            double scores[TREES_TARGETS] = {0};
            int seen[TREES_TARGETS] = {0};
            for (int t = 0; t < trees; t++)
                trees_walk(&f, 10 * t, (const float *)x->data + r * TREES_FEATURES, scores, seen,
                           how[0] == 'M' ? how[1] == 'I' ? 'm' : 'M' : '+');
            for (int t = 0; t < TREES_TARGETS; t++) {
                double want = how[0] == 'A' ? scores[t] / trees : scores[t];
                want += round % 8 < 4 ? base[t] : 0;
                all &= seen[t] > 0 || how[0] != 'M';
                if (status == ODB_OK)
                    assert_float_equal(odb_tensor_f64(out, r * TREES_TARGETS + (size_t)t),
                                       (float)want, 1e-6);
            }
        }
        assert_int_equal(status, all ? ODB_OK : ODB_UNSUPPORTED); /* the least of no votes */
        odb_tensor_unref(out);
        odb_tensor_unref(x);
    }
}

static void test_trees__modes_agree(void **state)
{
    static struct trees_forest f;
    struct trees_attrs a = {.n = 0};
    struct odb_tensor *x = trees_input(9), *best, *noisy, *one, *many;
    trees_plant(&f, 12, 5);
    trees_regress(&a, &f, "SUM");
    TREES_OK(trees_call("TreeEnsembleRegressor", 1, &a, x, ODB_PREC_F64, 1, &best, NULL));
    TREES_OK(trees_call("TreeEnsembleRegressor", 1, &a, x, ODB_PREC_NOISY, 1, &noisy, NULL));
    assert_int_equal(best->dtype, ODB_F64);
    for (size_t i = 0; i < best->count; i++) /* noise is in the sums, not in the branches */
        assert_float_equal(odb_tensor_f64(noisy, i), odb_tensor_f64(best, i), 4e-6);
    int before = odb_parallel_threads();
    odb_parallel_set_threads(1);
    TREES_OK(trees_call("TreeEnsembleRegressor", 1, &a, x, ODB_PREC_NATIVE, 1, &one, NULL));
    odb_parallel_set_threads(3);
    TREES_OK(trees_call("TreeEnsembleRegressor", 1, &a, x, ODB_PREC_NATIVE, 1, &many, NULL));
    odb_parallel_set_threads(before);
    assert_true(odb_tensor_identical(one, many));
    odb_tensor_unref(best);
    odb_tensor_unref(noisy);
    odb_tensor_unref(one);
    odb_tensor_unref(many);
    odb_tensor_unref(x);
}

static void test_trees__random_classes(void **state)
{
    static const int64_t labels[TREES_TARGETS] = {7, -2, 40};
    static struct trees_forest f;
    for (int round = 0; round < 10; round++) {
        struct trees_attrs a = {.n = 0};
        struct odb_tensor *x = trees_input((uint64_t)round + 3), *out[2];
        trees_plant(&f, 5, (uint64_t)round + 100);
        trees_nodes(&a, &f);
        trees_ints(&a, "class_treeids", f.vote_tree, f.n_votes);
        trees_ints(&a, "class_nodeids", f.vote_node, f.n_votes);
        trees_ints(&a, "class_ids", f.vote_target, f.n_votes);
        trees_floats(&a, "class_weights", f.weight, f.n_votes);
        trees_ints(&a, "classlabels_int64s", labels, TREES_TARGETS);
        TREES_OK(trees_call("TreeEnsembleClassifier", 1, &a, x, ODB_PREC_NATIVE, 2, out, NULL));
        for (size_t r = 0; r < TREES_ROWS; r++) {
            double scores[TREES_TARGETS] = {0};
            int seen[TREES_TARGETS] = {0}, best = 0;
            for (int t = 0; t < 5; t++)
                trees_walk(&f, 10 * t, (const float *)x->data + r * TREES_FEATURES, scores, seen,
                           '+');
            for (int c = 0; c < TREES_TARGETS; c++) {
                best = scores[c] > scores[best] ? c : best;
                assert_float_equal(odb_tensor_f64(out[1], r * TREES_TARGETS + (size_t)c), scores[c],
                                   1e-6);
            }
            assert_int_equal(odb_tensor_i64(out[0], r), labels[best]);
        }
        odb_tensor_unref(out[0]);
        odb_tensor_unref(out[1]);
        odb_tensor_unref(x);
    }
}

/* --- small ones ------------------------------------------------------------------------------- */

/* One split at 0.5: leaves 1 (true) and 2 (false). */
#define TREES_STUMP                                                                                \
    "nodes_treeids=0,0,0, nodes_nodeids=0,1,2, nodes_featureids=0,0,0, "                           \
    "nodes_modes=BRANCH_LEQ;LEAF;LEAF; nodes_truenodeids=1,0,0, nodes_falsenodeids=2,0,0, "        \
    "nodes_values=0.5f,0f,0f, "
#define TREES_TARGET(a, b)                                                                         \
    "target_treeids=0,0, target_nodeids=1,2, target_ids=0,0, target_weights=" a "f," b "f, "
#define TREES_CLASS(a, b, ids)                                                                     \
    "class_treeids=0,0, class_nodeids=1,2, class_ids=" ids " class_weights=" a "f," b "f, "
#define TREES_R "ai.onnx.ml::TreeEnsembleRegressor"
#define TREES_C "ai.onnx.ml::TreeEnsembleClassifier"
#define TREES_E "ai.onnx.ml::TreeEnsemble"

static void test_trees__inputs_of_all_types(void **state)
{
    static const char *const attrs = TREES_STUMP TREES_TARGET("10", "20") "n_targets=1";
    OP_EXPECT(0, OP(TREES_R, 1, attrs, {"float[3,1] 0 0.5 1"}), "float[3,1] 10 10 20");
    OP_EXPECT(0, OP(TREES_R, 3, attrs, {"double[3,1] 0 0.5 0.50000000001"}), "float[3,1] 10 10 20");
    OP_EXPECT(0, OP(TREES_R, 1, attrs, {"int64[2,1] 0 1"}), "float[2,1] 10 20");
    OP_EXPECT(0, OP(TREES_R, 1, attrs, {"int32[2,2] 0 9 1 9"}), "float[2,1] 10 20");
    OP_EXPECT(0, OP(TREES_R, 1, attrs, {"float[1] 1"}), "float[1,1] 20");
    OP_EXPECT(0, OP(TREES_R, 1, attrs, {"float[0,1]"}), "float[0,1]");
    OP_EXPECT(0, OP(TREES_R, 1, attrs, {"float[1,1] nan"}), "float[1,1] 20");
    OP_EXPECT(0,
              OP(TREES_R, 1,
                 TREES_STUMP TREES_TARGET(
                     "10", "20") "n_targets=1 nodes_missing_value_tracks_true=1,0,0,",
                 {"float[1,1] nan"}),
              "float[1,1] 10");
}

static void test_trees__tensor_attributes(void **state)
{
    OP_EXPECT(0,
              OP(TREES_R, 3,
                 "nodes_treeids=0,0,0, nodes_nodeids=0,1,2, nodes_featureids=0,0,0, "
                 "nodes_modes=BRANCH_LEQ;LEAF;LEAF; nodes_truenodeids=1,0,0, "
                 "nodes_falsenodeids=2,0,0, nodes_values_as_tensor=@double[3]:0.1:0:0 "
                 "target_treeids=0,0, target_nodeids=1,2, target_ids=0,0, "
                 "target_weights_as_tensor=@double[2]:1:2 n_targets=1 "
                 "base_values_as_tensor=@double[1]:0.25",
                 {"double[3,1] 0.1 0.10000000000000002 0.10000000149011612"}),
              "float[3,1] 1.25 2.25 2.25"); /* 0.1 as a float would be the last */
    op_expect_error(
        &(struct op_call)OP(TREES_R, 3,
                            TREES_STUMP TREES_TARGET(
                                "1", "2") "n_targets=1 nodes_values_as_tensor=@double[3]:0:0:0",
                            {"float[1,1] 0"}),
        ODB_E_OPERATOR);
}

static void test_trees__transforms(void **state)
{
#define TREES_SAY(post, x, want)                                                                   \
    OP_EXPECT(2e-6,                                                                                \
              OP(TREES_R, 1, TREES_STUMP TREES_TARGET(x, x) "n_targets=1 post_transform=" post,    \
                 {"float[1,1] 0"}),                                                                \
              "float[1,1] " want)
    TREES_SAY("NONE", "0.3", "0.3");
    TREES_SAY("LOGISTIC", "-2", "0.11920292");
    TREES_SAY("LOGISTIC", "-200", "0");
    TREES_SAY("SOFTMAX", "3", "1");
    TREES_SAY("SOFTMAX_ZERO", "0", "0.5");
    TREES_SAY("PROBIT", "0.5", "0");
    TREES_SAY("PROBIT", "0.975", "1.9590494");
    TREES_SAY("PROBIT", "0.025", "-1.9590494");
    TREES_SAY("PROBIT", "0", "-inf");
    TREES_SAY("PROBIT", "2", "nan");
#undef TREES_SAY
}

/* A class that all votes are for, where there are two: the score is the second class's. */
static void test_trees__two_classes_one_vote(void **state)
{
    static const char *const x[] = {"float[2,1] 0 1"};
#define TREES_SAY(a, b, ids, more, labels, scores)                                                 \
    OP_EXPECT(1e-6,                                                                                \
              OP(TREES_C, 1, TREES_STUMP TREES_CLASS(a, b, ids) "classlabels_int64s=5,8, " more,   \
                 {x[0]}),                                                                          \
              "int64[2] " labels, "float[2,2] " scores)
    TREES_SAY("0.2", "0.7", "0,0,", "", "5 8", "0.8 0.2 0.3 0.7");
    TREES_SAY("0.5", "0.75", "1,1,", "", "5 8", "0.5 0.5 0.25 0.75");
    TREES_SAY("-1", "1", "0,0,", "post_transform=LOGISTIC", "5 8",
              "0.7310586 0.2689414 0.2689414 0.7310586");
    TREES_SAY("-1", "1", "0,0,", "post_transform=SOFTMAX", "5 8",
              "0.8807971 0.1192029 0.1192029 0.8807971");
    TREES_SAY("-1", "1", "0,0,", "post_transform=LOGISTIC base_values=2f,", "8 8",
              "0.2689414 0.7310586 0.0474259 0.9525741");
    TREES_SAY("-1", "1", "1,1,", "base_values=9f,0.5f,", "5 8", "1.5 -0.5 -0.5 1.5");
    TREES_SAY("0.2", "0.7", "0,1,", "", "5 8", "0.2 0 0 0.7");
    TREES_SAY("0.2", "0.2", "0,1,", "base_values=0f,1f,", "8 8", "0.2 1 0 1.2");
#undef TREES_SAY
    OP_EXPECT(1e-6,
              OP(TREES_C, 3,
                 TREES_STUMP TREES_CLASS("0.2", "0.7", "0,0,") "classlabels_strings=no;yes;",
                 {"double[2,1] 0 1"}),
              "string[2] no yes", "float[2,2] 0.8 0.2 0.3 0.7");
}

/* Two branches and three leaves: x0 <= 1 ? 10 : (x1 in {2, 0} ? 20 : 30). */
#define TREES_NODES(type)                                                                          \
    "tree_roots=0, nodes_featureids=0,1, nodes_modes=@uint8[2]:0:6 nodes_splits=@" type            \
    "[2]:1:0 nodes_truenodeids=0,1, nodes_falsenodeids=1,2, nodes_trueleafs=1,1, "                 \
    "nodes_falseleafs=0,1, leaf_weights=@" type "[3]:10:20:30 leaf_targetids=0,0,0, "              \
    "membership_values=@" type "[3]:2:0:nan n_targets=1 "

static void test_trees__ensemble_with_members(void **state)
{
    OP_EXPECT(0, OP(TREES_E, 5, TREES_NODES("float"), {"float[4,2] 0 0 2 2 2 0 2 1"}),
              "float[4,1] 10 20 20 30");
    OP_EXPECT(0, OP(TREES_E, 5, TREES_NODES("double"), {"double[2,2] 1 0 1.5 3"}),
              "double[2,1] 10 30");
    OP_EXPECT(0, OP(TREES_E, 5, TREES_NODES("float16"), {"float16[2,2] 1 0 1.5 2"}),
              "float16[2,1] 10 20");
    OP_EXPECT(0, OP(TREES_E, 5, TREES_NODES("float"), {"float[2,2] nan 0 2 nan"}),
              "float[2,1] 20 30");
    OP_EXPECT(0,
              OP(TREES_E, 5, TREES_NODES("float") "nodes_missing_value_tracks_true=1,1,",
                 {"float[2,2] nan 0 2 nan"}),
              "float[2,1] 10 20");
    OP_EXPECT(1e-6, OP(TREES_E, 5, TREES_NODES("float") "post_transform=2", {"float[1,2] 0 0"}),
              "float[1,1] 0.9999546");
}

/* A tree that is a leaf; every mode at its threshold; every aggregate. */
static void test_trees__ensemble_modes(void **state)
{
    static const char *const at_threshold[] = {"1", "0", "1", "0", "1", "0"};
    for (int mode = 0; mode < 6; mode++) {
        char attrs[400], want[40];
        snprintf(attrs, sizeof attrs,
                 "tree_roots=0, nodes_featureids=0, nodes_modes=@uint8[1]:%d "
                 "nodes_splits=@float[1]:2 nodes_truenodeids=1, nodes_falsenodeids=0, "
                 "nodes_trueleafs=1, nodes_falseleafs=1, leaf_weights=@float[2]:0:1 "
                 "leaf_targetids=0,0, n_targets=1",
                 mode);
        snprintf(want, sizeof want, "float[1,1] %s", at_threshold[mode]);
        OP_EXPECT(0, OP(TREES_E, 5, attrs, {"float[1,1] 2"}), want);
    }
#define TREES_TWO(how)                                                                             \
    "tree_roots=0,1, nodes_featureids=0,0, nodes_modes=@uint8[2]:0:0 nodes_splits=@float[2]:0:0 "  \
    "nodes_truenodeids=0,1, nodes_falsenodeids=0,1, nodes_trueleafs=1,1, nodes_falseleafs=1,1, "   \
    "leaf_weights=@float[2]:3:5 leaf_targetids=0,0, n_targets=1 aggregate_function=" how
    OP_EXPECT(0, OP(TREES_E, 5, TREES_TWO("0"), {"float[1,1] 2"}), "float[1,1] 4");
    OP_EXPECT(0, OP(TREES_E, 5, TREES_TWO("1"), {"float[1,1] 2"}), "float[1,1] 8");
    OP_EXPECT(0, OP(TREES_E, 5, TREES_TWO("2"), {"float[1,1] 2"}), "float[1,1] 3");
    OP_EXPECT(0, OP(TREES_E, 5, TREES_TWO("3"), {"float[1,1] 2"}), "float[1,1] 5");
    op_expect_error(&(struct op_call)OP(TREES_E, 5, TREES_TWO("4"), {"float[1,1] 2"}),
                    ODB_E_OPERATOR);
}

static void trees_refuse(const char *op, int opset, const char *attrs, const char *x,
                         const char *why)
{
    struct odb_tensor *out[2] = {NULL, NULL};
    struct odb_error err = ODB_ERROR_INIT;
    struct op_call c = OP(op, opset, attrs, {x});
    enum odb_status status = op_run_text(&c, strcmp(op, TREES_C) == 0 ? 2 : 1, out, &err);
    if (status == ODB_OK || !strstr(err.what, why))
        fail_msg("%s: '%s' where '%s' was expected", attrs, err.what, why);
}

static void test_trees__what_does_not_fit(void **state)
{
    static const char *const one = "float[1,1] 0";
#define TREES_ODD(modes, on_true, on_false, features)                                              \
    "nodes_treeids=0,0,0, nodes_nodeids=0,1,2, nodes_featureids=" features " nodes_modes=" modes   \
    " nodes_truenodeids=" on_true " nodes_falsenodeids=" on_false                                  \
    " nodes_values=0.5f,0f,0f, " TREES_TARGET("1", "2") "n_targets=1"
#define TREES_MODES "BRANCH_LEQ;LEAF;LEAF;"
    trees_refuse(TREES_R, 1, TREES_ODD("BRANCH_MEH;LEAF;LEAF;", "1,0,0,", "2,0,0,", "0,0,0,"), one,
                 "BRANCH_MEH");
    trees_refuse(TREES_R, 1, TREES_ODD(TREES_MODES, "1,0,0,", "3,0,0,", "0,0,0,"), one,
                 "no node 3");
    trees_refuse(TREES_R, 1, TREES_ODD(TREES_MODES, "1,0,0,", "0,0,0,", "0,0,0,"), one,
                 "leads back to itself");
    trees_refuse(TREES_R, 1, TREES_ODD("BRANCH_LEQ;BRANCH_LEQ;LEAF;", "1,0,0,", "2,2,0,", "0,0,0,"),
                 one, "leads back to itself");
    trees_refuse(TREES_R, 1, TREES_ODD(TREES_MODES, "1,0,0,", "2,0,0,", "1,0,0,"), one,
                 "outside [0, 1)");
    trees_refuse(TREES_R, 1, TREES_ODD(TREES_MODES, "1,0,", "2,0,0,", "0,0,0,"), one,
                 "nodes_truenodeids has 2");
    trees_refuse(TREES_R, 1, TREES_STUMP TREES_TARGET("1", "2"), one, "n_targets");
    trees_refuse(TREES_R, 1, TREES_STUMP TREES_TARGET("1", "2") "n_targets=1 base_values=1f,2f,",
                 one, "base_values has 2");
    trees_refuse(TREES_R, 1, TREES_STUMP TREES_TARGET("1", "2") "n_targets=1 post_transform=X", one,
                 "post_transform 'X'");
    trees_refuse(TREES_R, 1, TREES_STUMP TREES_TARGET("1", "2") "n_targets=1 aggregate_function=X",
                 one, "aggregate_function 'X'");
    trees_refuse(TREES_R, 1, "n_targets=1", one, "nodes_modes has 0");
    trees_refuse(TREES_R, 1,
                 TREES_STUMP "n_targets=1 target_treeids=0, target_nodeids=9, "
                             "target_ids=0, target_weights=1f,",
                 one, "not there");
    trees_refuse(TREES_R, 1,
                 TREES_STUMP "n_targets=1 target_treeids=0, target_nodeids=1, "
                             "target_ids=1, target_weights=1f,",
                 one, "outside [0, 1)");
    trees_refuse(TREES_C, 1, TREES_STUMP TREES_CLASS("1", "2", "0,0,"), one, "must be given");
    trees_refuse(TREES_C, 1, TREES_STUMP TREES_CLASS("1", "2", "0,0,") "classlabels_int64s=1,", one,
                 "one class");
    trees_refuse(TREES_C, 1, TREES_STUMP TREES_CLASS("1", "2", "0,2,") "classlabels_int64s=1,2,",
                 one, "outside [0, 2)");
    trees_refuse(TREES_R, 1, TREES_STUMP TREES_TARGET("1", "2") "n_targets=1", "float[] 1",
                 "must be [N, C]");
    trees_refuse(TREES_E, 5, TREES_NODES("float") "nodes_missing_value_tracks_true=1,",
                 "float[1,2] "
                 "0 0",
                 "has 1 elements");
    trees_refuse(TREES_E, 5, TREES_NODES("float"), one, "outside [0, 1)");
}

static void test_trees__deprecated(void **state)
{
    assert_null(odb_op_find("ai.onnx.ml", "TreeEnsembleRegressor", 5));
    assert_null(odb_op_find("ai.onnx.ml", "TreeEnsembleClassifier", 5));
    assert_non_null(odb_op_find("ai.onnx.ml", "TreeEnsembleClassifier", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees__random_regressions),
        cmocka_unit_test(test_trees__random_classes),
        cmocka_unit_test(test_trees__modes_agree),
        cmocka_unit_test(test_trees__inputs_of_all_types),
        cmocka_unit_test(test_trees__tensor_attributes),
        cmocka_unit_test(test_trees__transforms),
        cmocka_unit_test(test_trees__two_classes_one_vote),
        cmocka_unit_test(test_trees__ensemble_with_members),
        cmocka_unit_test(test_trees__ensemble_modes),
        cmocka_unit_test(test_trees__what_does_not_fit),
        cmocka_unit_test(test_trees__deprecated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
