/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators of ai.onnx.ml: how their calls are drawn.
 */
#include <stdio.h>
#include <string.h>

#include "versus.h"

static void draw_floats(struct draw *d, const char *name, int64_t n, double lo, double hi)
{
    float v[VS_LIST];
    int grain = vs_chance(d, 50), apart = strncmp(name, "keys", 4) == 0;
    for (int64_t i = 0; i < n; i++)
        v[i] = grain ? (float)vs_int(d, (int64_t)(lo * 4), (int64_t)(hi * 4)) / 4 +
                           (apart ? (float)i * 8 : 0)
                     : (float)vs_real(d, lo, hi);
    vs_attr_floats(d, name, (size_t)n, v);
}

static void draw_count(struct draw *d, const char *name, int64_t n)
{
    int64_t v[VS_LIST];
    for (int64_t i = 0; i < n; i++)
        v[i] = i * 3 - 1;
    vs_attr_ints(d, name, (size_t)n, v);
}

static void draw_names(struct draw *d, const char *name, int64_t n)
{
    static const char *const words[] = {"a", "b", "c", "ab", "The", "nan", "2", "-3.5"};
    struct odb_buf text = ODB_BUF_INIT;
    for (int64_t i = 0; i < n; i++)
        odb_buf_printf(&text, "%s%s", i ? " " : "", words[i % 8]);
    vs_attr_strings(d, name, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

static void draw_extract(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 5);
    int64_t last = dims.d[dims.rank - 1];
    vs_in(d, dims);
    d->extreme = false;
    vs_in_range(d, ODB_I64, VS_DIMS(vs_int(d, 1, 4)), 0, (double)last - 1);
}

static void draw_mapper(struct draw *d)
{
    int64_t n = vs_int(d, 1, 8);
    d->dtype = vs_chance(d, 50) ? ODB_STRING : ODB_I64;
    vs_in_range(d, d->dtype, vs_dims(d, 1, 3, 4), -2, 20);
    draw_names(d, "cats_strings", n);
    draw_count(d, "cats_int64s", n);
    vs_attrs(d, d->dtype == ODB_STRING ? "default_int64=-|7" : "default_string=-|zz");
}

static void draw_features(struct draw *d)
{
    int64_t n = vs_int(d, 1, 3), rows = vs_int(d, 1, 3), sizes[3];
    for (int64_t i = 0; i < n; i++) {
        sizes[i] = vs_int(d, 1, 4);
        vs_in(d, VS_DIMS(rows, sizes[i]));
    }
    vs_attr_ints(d, "inputdimensions", (size_t)n, sizes);
}

static void draw_impute(struct draw *d)
{
    bool whole = d->dtype == ODB_I64 || d->dtype == ODB_I32;
    d->dtype = whole ? ODB_I64 : ODB_F32;
    struct dims dims = vs_dims(d, 2, 2, 5);
    int64_t n = vs_chance(d, 50) ? 1 : dims.d[1];
    struct odb_tensor *t = vs_in(d, dims);
    if (whole) {
        draw_count(d, "imputed_value_int64s", n);
        vs_attrs(d, "replaced_value_int64=-|1|0");
        return;
    }
    draw_floats(d, "imputed_value_floats", n, 5, 9);
    vs_attrs(d, "replaced_value_float=-|1f|nanf");
    for (size_t i = 0; i < t->count; i++)
        if (vs_chance(d, 20))
            odb_store_f64(ODB_F32, t->data, i, vs_chance(d, 50) ? 1 : __builtin_nan(""));
}

static void draw_encoder(struct draw *d)
{
    static const char *const kinds[] = {"strings", "int64s", "floats"};
    int64_t n = vs_int(d, 1, 8), from = vs_int(d, 0, 2), to = vs_int(d, 0, 2);
    char name[40];
    if (d->version == 1) {
        d->dtype = vs_chance(d, 50) ? ODB_STRING : ODB_I64;
        vs_in_range(d, d->dtype, vs_dims(d, 1, 3, 4), -1, 9);
        draw_names(d, "classes_strings", n);
        vs_attrs(d, d->dtype == ODB_STRING ? "default_int64=-|7" : "default_string=-|zz");
        return;
    }
    d->dtype = from == 0 ? ODB_STRING : from == 1 ? ODB_I64 : ODB_F32;
    vs_in_range(d, d->dtype, vs_dims(d, 1, 3, 4), -2, 9);
    for (int side = 0; side < 2; side++) {
        int64_t kind = side ? to : from;
        snprintf(name, sizeof name, "%s_%s", side ? "values" : "keys", kinds[kind]);
        if (kind == 0)
            draw_names(d, name, n);
        else if (kind == 1)
            draw_count(d, name, n);
        else
            draw_floats(d, name, n, -2, 2);
    }
    vs_attrs(d, to == 0   ? "default_string=-|zz"
                : to == 1 ? "default_int64=-|7"
                          : "default_float=-|1.5f");
}

static void draw_regressor(struct draw *d)
{
    int64_t n = vs_int(d, 1, 3), c = vs_int(d, 1, 4), targets = vs_int(d, 1, 3);
    vs_in(d, VS_DIMS(n, c));
    draw_floats(d, "coefficients", c * targets, -2, 2);
    if (vs_chance(d, 70))
        draw_floats(d, "intercepts", targets, -2, 2);
    vs_attr_int(d, "targets", targets);
    if (targets > 1)
        vs_attrs(d, "post_transform=-|NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO");
}

static void draw_classifier(struct draw *d)
{
    int64_t n = vs_int(d, 1, 3), c = vs_int(d, 1, 4), classes = vs_int(d, 2, 4);
    int64_t rows = classes;
    vs_in(d, VS_DIMS(n, c));
    draw_floats(d, "coefficients", c * rows, -2, 2);
    draw_floats(d, "intercepts", rows, -2, 2);
    if (vs_chance(d, 50))
        draw_names(d, "classlabels_strings", classes);
    else
        draw_count(d, "classlabels_ints", classes);
    vs_attrs(d, "multi_class=-|0|1 post_transform=-|NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO");
    d->n_out = 2;
}

static void draw_onehot(struct draw *d)
{
    int64_t n = vs_int(d, 1, 6);
    if (d->dtype == ODB_STRING) {
        vs_in(d, vs_dims(d, 1, 2, 4));
        draw_names(d, "cats_strings", n);
        vs_attrs(d, "zeros=1");
    } else {
        d->extreme = false;
        struct odb_tensor *t = vs_in_range(d, d->dtype, vs_dims(d, 1, 2, 4), -1, 9);
        for (size_t i = 0; i < t->count && odb_dtype_is_float(t->dtype); i++)
            odb_store_f64(t->dtype, t->data, i, (double)vs_int(d, -1, 9));
        draw_count(d, "cats_int64s", n);
        vs_attrs(d, "zeros=-|1");
    }
}

static void draw_scaler(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 2, 4);
    int64_t n = vs_chance(d, 50) ? 1 : dims.d[dims.rank - 1];
    vs_in(d, dims);
    draw_floats(d, "offset", n, -2, 2);
    draw_floats(d, "scale", n, -2, 2);
}

static void draw_svm(struct draw *d)
{
    bool classify = strstr(d->row->op, "Classifier") != NULL;
    int64_t n = vs_int(d, 1, 3), c = vs_int(d, 1, 3), vectors = vs_int(d, 2, 4), per[3], all = 0;
    int64_t classes = vs_int(d, 2, 3);
    vs_in(d, VS_DIMS(n, c));
    vs_attrs(d, "kernel_type=-|LINEAR|POLY|RBF|SIGMOID");
    float params[3] = {0.5F, 0.25F, 2};
    vs_attr_floats(d, "kernel_params", 3, params);
    if (!classify) {
        draw_floats(d, "support_vectors", vectors * c, -2, 2);
        draw_floats(d, "coefficients", vectors, -1, 1);
        draw_floats(d, "rho", 1, -1, 1);
        vs_attr_int(d, "n_supports", vectors);
        vs_attrs(d, "one_class=-|0|1");
        return;
    }
    for (int64_t i = 0; i < classes; i++)
        all += per[i] = vs_int(d, 1, 2);
    draw_floats(d, "support_vectors", all * c, -2, 2);
    draw_floats(d, "coefficients", all * (classes - 1), -1, 1);
    draw_floats(d, "rho", classes * (classes - 1) / 2, -1, 1);
    vs_attr_ints(d, "vectors_per_class", (size_t)classes, per);
    if (vs_chance(d, 50)) {
        draw_floats(d, "prob_a", classes * (classes - 1) / 2, -2, -0.5);
        draw_floats(d, "prob_b", classes * (classes - 1) / 2, -0.5, 0.5);
    }
    if (vs_chance(d, 50))
        draw_names(d, "classlabels_strings", classes);
    else
        draw_count(d, "classlabels_ints", classes);
    if (classes > 2)
        vs_attrs(d, "post_transform=-|NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO");
    d->n_out = 2;
}

/* Trees of some nodes: node i's branches are 2i + 1 and 2i + 2, where those exist. */
static void draw_trees(struct draw *d)
{
    static const char *const modes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    bool classify = strstr(d->row->op, "Classifier") != NULL;
    int64_t tree[VS_LIST], node[VS_LIST], feature[VS_LIST], yes[VS_LIST], no[VS_LIST];
    int64_t missing[VS_LIST], leaf_tree[VS_LIST], leaf_node[VS_LIST], leaf_to[VS_LIST];
    float value[VS_LIST], weight[VS_LIST];
    struct odb_buf words = ODB_BUF_INIT;
    int64_t c = vs_int(d, 1, 3), targets = vs_int(d, 1, 3), trees = vs_int(d, 1, 3), n = 0,
            leaves = 0;
    const char *mode = vs_chance(d, 50) ? "BRANCH_LEQ" : NULL;
    int64_t classes = classify ? 3 : targets;
    targets = classes;
    for (int64_t t = 0; t < trees; t++) {
        int64_t inner = vs_int(d, 0, 4), size = 2 * inner + 1;
        for (int64_t i = 0; i < size; i++, n++) {
            bool leaf = i >= inner;
            tree[n] = t;
            node[n] = i;
            feature[n] = leaf ? 0 : vs_int(d, 0, c - 1);
            yes[n] = leaf ? 0 : 2 * i + 1;
            no[n] = leaf ? 0 : 2 * i + 2;
            value[n] = leaf ? 0 : (float)vs_int(d, -4, 4) / 2;
            missing[n] = vs_chance(d, 30);
            const char *how = leaf ? "LEAF" : mode ? mode : modes[vs_int(d, 0, 5)];
            odb_buf_printf(&words, "%s%s", n ? " " : "", how);
            for (int64_t k = 0; leaf && k < 1 + (classes > 1 && vs_chance(d, 30)); k++, leaves++) {
                leaf_tree[leaves] = t;
                leaf_node[leaves] = i;
                leaf_to[leaves] = (k + vs_int(d, 0, classes - 1)) % classes;
                weight[leaves] = (float)vs_real(d, classify ? 0.1 : -1, 1);
                if (k == 1 && leaf_to[leaves] == leaf_to[leaves - 1])
                    leaf_to[leaves] = (leaf_to[leaves] + 1) % classes;
            }
        }
    }
    d->extreme = d->extreme && d->dtype != ODB_I64 && d->dtype != ODB_I32;
    vs_in(d, VS_DIMS(vs_int(d, 1, 5), c));
    vs_attr_ints(d, "nodes_treeids", (size_t)n, tree);
    vs_attr_ints(d, "nodes_nodeids", (size_t)n, node);
    vs_attr_ints(d, "nodes_featureids", (size_t)n, feature);
    vs_attr_ints(d, "nodes_truenodeids", (size_t)n, yes);
    vs_attr_ints(d, "nodes_falsenodeids", (size_t)n, no);
    vs_attr_floats(d, "nodes_values", (size_t)n, value);
    vs_attr_strings(d, "nodes_modes", odb_buf_text(&words));
    odb_buf_dispose(&words);
    if (vs_chance(d, 50))
        vs_attr_ints(d, "nodes_missing_value_tracks_true", (size_t)n, missing);
    vs_attr_ints(d, classify ? "class_treeids" : "target_treeids", (size_t)leaves, leaf_tree);
    vs_attr_ints(d, classify ? "class_nodeids" : "target_nodeids", (size_t)leaves, leaf_node);
    vs_attr_ints(d, classify ? "class_ids" : "target_ids", (size_t)leaves, leaf_to);
    vs_attr_floats(d, classify ? "class_weights" : "target_weights", (size_t)leaves, weight);
    if (!classify) {
        vs_attr_int(d, "n_targets", targets);
        if (targets > 1) { /* some leaves have no vote for some of them */
            vs_attrs(d, "aggregate_function=-|SUM|AVERAGE");
            return;
        }
        if (vs_chance(d, 50))
            draw_floats(d, "base_values", 1, -1, 1);
        vs_attrs(d, "aggregate_function=-|SUM|AVERAGE|MIN|MAX");
        return;
    }
    if (vs_chance(d, 50))
        draw_names(d, "classlabels_strings", classes);
    else
        vs_attrs(d, "classlabels_int64s=5,7,-2,");
    vs_attrs(d, "post_transform=-|NONE|SOFTMAX|LOGISTIC");
    d->n_out = 2;
}

static void draw_table(struct draw *d)
{
    vs_in(d, vs_dims(d, 1, 2, 5));
}

#define F32 ODB_BIT(ODB_F32)
#define ML(name, ...)                                                                              \
    {                                                                                              \
        .op = "ai.onnx.ml::" name, .full = true, __VA_ARGS__                                       \
    }

const struct row vs_ml_rows[] = {
    ML("ArrayFeatureExtractor", .draw = draw_extract),
    ML("Binarizer", .attrs = "threshold=-|1f|-0.5f"),
    ML("CategoryMapper", .draw = draw_mapper, .tame = true),
    ML("FeatureVectorizer", .draw = draw_features),
    ML("Imputer", .draw = draw_impute, .tame = true),
    ML("LabelEncoder", .draw = draw_encoder),
    ML("LinearRegressor", .draw = draw_regressor, .types = F32, .tame = true),
    ML("LinearClassifier", .draw = draw_classifier, .tame = true, .tol = 1e-5),
    ML("Normalizer", .draw = draw_table, .attrs = "norm=-|MAX|L1|L2", .tame = true),
    ML("OneHotEncoder", .draw = draw_onehot),
    ML("Scaler", .draw = draw_scaler, .tame = true),
    ML("SVMRegressor", .draw = draw_svm, .types = F32, .tame = true, .tol = 1e-4),
    ML("SVMClassifier", .draw = draw_svm, .tame = true, .tol = 1e-4),
    ML("TreeEnsembleRegressor", .draw = draw_trees),
    ML("TreeEnsembleClassifier", .draw = draw_trees),
    {NULL},
};
