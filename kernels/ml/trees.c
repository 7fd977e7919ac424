/* SPDX-License-Identifier: MIT
 *
 * TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier. Whatever the attributes look like,
 * they become one forest: branches in an array, leaves as ranges of votes (target, weight).
 *
 * Thresholds and features are compared in double, which holds every float exactly; votes are summed
 * in double, tree by tree in the order of the trees, and rounded once. (ONNX Runtime sums in float
 * unless attributes or input are double, and in another order when it takes several threads.)
 *
 * A missing feature (NaN) goes where nodes_missing_value_tracks_true says, for every comparison.
 * (ONNX Runtime lets BRANCH_NEQ be true of NaN.)
 *
 * TreeEnsembleClassifier with two classes and votes for one of them only: the sum is the score s of
 * the second class. The first class gets 1 - s where s is taken for a probability (NONE, PROBIT)
 * and -s where it is a margin (all transforms of margins), and the greater wins. This is what
 * ONNX's reference implementation does. (ONNX Runtime decides by the signs of the weights instead:
 * margins if one is negative, else probabilities that are not transformed. Both are the same for
 * forests of probabilities with NONE and for boosted margins with LOGISTIC.)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/ml/ml.h"
#include "kernels/core/row.h"

#define TREE_GRAIN ((size_t)64) /* rows of a block; they go through a tree while it is in cache */

enum tree_mode { TREE_LEQ, TREE_LT, TREE_GTE, TREE_GT, TREE_EQ, TREE_NEQ, TREE_MEMBER, TREE_LEAF };

enum tree_aggregate { TREE_AVERAGE, TREE_SUM, TREE_MIN, TREE_MAX };

struct tree_branch {
    double split;
    size_t first, n; /* TREE_MEMBER: its members */
    int64_t feature;
    int32_t child[2]; /* when false, when true; negative: ~leaf */
    uint8_t mode;     /* enum tree_mode */
    uint8_t missing;  /* which child NaN goes to */
};

struct tree_vote {
    size_t target;
    double weight;
};

struct forest {
    struct tree_branch *branches; /* owned, as all arrays here */
    size_t n_branches;
    uint64_t greatest; /* of the features that branches look at; one below 0 is enormous */
    int32_t *roots;    /* negative: ~leaf */
    size_t n_roots;
    struct tree_vote *votes; /* by leaf */
    size_t *first_vote;      /* [n_leaves + 1] */
    size_t n_leaves, n_targets;
    double *members, *base; /* base: NULL or [n_targets] */
    enum tree_aggregate aggregate;
    enum odb_ml_post post;
    int only; /* of two classes the one that all votes are for; else -1 */
};

static void forest_free(void *forest)
{
    struct forest *f = forest;
    free(f->branches);
    free(f->roots);
    free(f->votes);
    free(f->first_vote);
    free(f->members);
    free(f->base);
    free(f);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* A list of ints of length n; NULL where it may be left out and is. */
static enum odb_status tree_ints(struct odb_kern *k, const char *name, size_t n, bool required,
                                 const int64_t **out)
{
    size_t got;
    *out = odb_kern_ints(k, name, &got);
    if (got == 0 && !required)
        *out = NULL;
    else if (got != n)
        return ODB_KERN_FAIL(k, "%s has %zu elements, not %zu", name, got, n);
    return ODB_OK;
}

/* Floats, or a tensor in name_as_tensor or (as TreeEnsemble has it) in the name itself, as
 * doubles that the caller frees. */
static enum odb_status tree_numbers(struct odb_kern *k, const char *name, double **out, size_t *n)
{
    char tensor[64];
    snprintf(tensor, sizeof tensor, "%s_as_tensor", name);
    const struct odb_tensor *t = odb_kern_tensor(k, tensor);
    const odb_f32 *floats = odb_kern_floats(k, name, n);
    if (t == NULL)
        t = odb_kern_tensor(k, name);
    if (t && *n)
        return ODB_KERN_FAIL(k, "only one of %s and %s may be given", name, tensor);
    if (t && (t->data == NULL || !(ODB_BIT(t->dtype) & ODB_T_FLOAT)))
        return ODB_KERN_FAIL(k, "%s holds %s, not floats", name, odb_dtype_info(t->dtype)->name);
    *n = t ? t->count : *n;
    *out = odb_new_n(double, *n + 1);
    odb_convert(ODB_F64, *out, t ? t->dtype : ODB_F32, t ? t->data : (const void *)floats, *n);
    return ODB_OK;
}

static enum odb_status tree_numbers_of(struct odb_kern *k, const char *name, size_t n, double **out)
{
    size_t got;
    ODB_TRY(tree_numbers(k, name, out, &got));
    if (got == n)
        return ODB_OK;
    free(*out);
    *out = NULL;
    return ODB_KERN_FAIL(k, "%s has %zu elements, not %zu", name, got, n);
}

/* base_values: one per target, or none. */
static enum odb_status tree_base(struct odb_kern *k, struct forest *f, bool one_does)
{
    size_t n;
    ODB_TRY(tree_numbers(k, "base_values", &f->base, &n));
    if (n == 1 && one_does && f->n_targets == 2) {
        f->base = odb_xrealloc(f->base, 2, sizeof *f->base);
        f->base[1] = f->base[0];
        n = 2;
    }
    if (n != 0 && n != f->n_targets)
        return ODB_KERN_FAIL(k, "base_values has %zu elements, not %zu", n, f->n_targets);
    if (n == 0) {
        free(f->base);
        f->base = NULL;
    }
    return ODB_OK;
}

static enum odb_status tree_mode_named(struct odb_kern *k, struct odb_str s, uint8_t *out)
{
    static const char *const names[] = {
        [TREE_LEQ] = "BRANCH_LEQ", [TREE_LT] = "BRANCH_LT", [TREE_GTE] = "BRANCH_GTE",
        [TREE_GT] = "BRANCH_GT",   [TREE_EQ] = "BRANCH_EQ", [TREE_NEQ] = "BRANCH_NEQ",
        [TREE_MEMBER] = NULL,      [TREE_LEAF] = "LEAF"};
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        if (names[i] && strlen(names[i]) == s.len && memcmp(names[i], s.data, s.len) == 0) {
            *out = (uint8_t)i;
            return ODB_OK;
        }
    }
    return ODB_KERN_FAIL(k, "nodes_modes has no mode '%.*s'", (int)ODB_MIN(s.len, (size_t)40),
                         s.data);
}

/* A number that must be below n. */
static enum odb_status tree_index(struct odb_kern *k, const char *name, size_t i, int64_t v,
                                  size_t n)
{
    if (v < 0 || (uint64_t)v >= n)
        return ODB_KERN_FAIL(k, "%s[%zu] is %lld, outside [0, %zu)", name, i, (long long)v, n);
    return ODB_OK;
}

/* --- checks that make walking safe ------------------------------------------------------------ */

/* A walk ends if nothing leads back to itself: taking away branches that no branch leads to, again
 * and again, must leave none. */
static enum odb_status forest_check_loops(struct odb_kern *k, const struct forest *f)
{
    size_t n = f->n_branches, ready = 0, done = 0;
    size_t *leads = odb_new_n(size_t, n + 1);
    int32_t *queue = odb_new_n(int32_t, n + 1);
    for (size_t i = 0; i < 2 * n; i++)
        if (f->branches[i / 2].child[i % 2] >= 0)
            leads[f->branches[i / 2].child[i % 2]]++;
    for (size_t i = 0; i < n; i++)
        if (leads[i] == 0)
            queue[ready++] = (int32_t)i;
    for (; done < ready; done++) {
        for (int c = 0; c < 2; c++) {
            int32_t child = f->branches[queue[done]].child[c];
            if (child >= 0 && --leads[child] == 0)
                queue[ready++] = child;
        }
    }
    free(leads);
    free(queue);
    return done == n ? ODB_OK : ODB_KERN_FAIL(k, "a node of a tree leads back to itself");
}

static enum odb_status forest_check_features(struct odb_kern *k, const struct forest *f,
                                             size_t width)
{
    for (size_t i = 0; f->greatest >= width && i < f->n_branches; i++)
        ODB_TRY(tree_index(k, "nodes_featureids", i, f->branches[i].feature, width));
    return ODB_OK;
}

/* --- TreeEnsembleRegressor and TreeEnsembleClassifier: nodes with ids ------------------------- */

struct tree_id {
    int64_t tree, node;
    size_t at;   /* among the nodes as listed */
    int32_t ref; /* the branch, or ~leaf */
};

struct tree_ids {
    struct tree_id *items; /* owned; by tree and node */
    size_t n;
};

static int tree_id_order(const void *a, const void *b)
{
    const struct tree_id *x = a, *y = b;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static const struct tree_id *tree_find(const struct tree_ids *ids, int64_t tree, int64_t node)
{
    struct tree_id key = {.tree = tree, .node = node};
    return ids->n ? bsearch(&key, ids->items, ids->n, sizeof key, tree_id_order) : NULL;
}

static enum odb_status tree_child(struct odb_kern *k, const struct tree_ids *ids, int64_t tree,
                                  int64_t node, int32_t *ref)
{
    const struct tree_id *found = tree_find(ids, tree, node);
    if (!found)
        return ODB_KERN_FAIL(k, "tree %lld has no node %lld that a branch leads to",
                             (long long)tree, (long long)node);
    *ref = found->ref;
    return ODB_OK;
}

/* Numbers branches and leaves, and finds the roots: of each tree the node listed first. */
static enum odb_status forest_number(struct odb_kern *k, struct forest *f, struct tree_ids *ids,
                                     const struct odb_str *modes, uint8_t *mode)
{
    const int64_t *trees, *nodes;
    ODB_TRY(tree_ints(k, "nodes_treeids", ids->n, true, &trees));
    ODB_TRY(tree_ints(k, "nodes_nodeids", ids->n, true, &nodes));
    for (size_t i = 0; i < ids->n; i++) {
        ODB_TRY(tree_mode_named(k, modes[i], &mode[i]));
        int32_t ref = mode[i] == TREE_LEAF ? ~(int32_t)f->n_leaves++ : (int32_t)f->n_branches++;
        ids->items[i] = (struct tree_id){trees[i], nodes[i], i, ref};
    }
    qsort(ids->items, ids->n, sizeof *ids->items, tree_id_order);
    f->roots = odb_new_n(int32_t, ids->n + 1);
    size_t first = 0;
    for (size_t i = 0; i < ids->n; i++) {
        const struct tree_id *id = &ids->items[i];
        bool fresh = i == 0 || id[-1].tree != id->tree;
        if (!fresh && id[-1].node == id->node)
            return ODB_KERN_FAIL(k, "tree %lld has two nodes %lld", (long long)id->tree,
                                 (long long)id->node);
        if (fresh || id->at < first) {
            first = id->at;
            f->n_roots += fresh;
            f->roots[f->n_roots - 1] = id->ref;
        }
    }
    return ODB_OK;
}

static enum odb_status forest_read_branches(struct odb_kern *k, struct forest *f,
                                            const struct tree_ids *ids, const uint8_t *mode,
                                            const double *splits)
{
    const int64_t *features, *on_true, *on_false, *missing;
    ODB_TRY(tree_ints(k, "nodes_featureids", ids->n, true, &features));
    ODB_TRY(tree_ints(k, "nodes_truenodeids", ids->n, true, &on_true));
    ODB_TRY(tree_ints(k, "nodes_falsenodeids", ids->n, true, &on_false));
    ODB_TRY(tree_ints(k, "nodes_missing_value_tracks_true", ids->n, false, &missing));
    f->branches = odb_new_n(struct tree_branch, f->n_branches + 1);
    for (size_t i = 0; i < ids->n; i++) {
        const struct tree_id *id = &ids->items[i];
        size_t at = id->at;
        if (mode[at] == TREE_LEAF)
            continue;
        struct tree_branch *b = &f->branches[id->ref];
        *b = (struct tree_branch){.split = splits[at],
                                  .feature = features[at],
                                  .mode = mode[at],
                                  .missing = missing && missing[at] != 0};
        ODB_TRY(tree_child(k, ids, id->tree, on_false[at], &b->child[0]));
        ODB_TRY(tree_child(k, ids, id->tree, on_true[at], &b->child[1]));
    }
    return ODB_OK;
}

/* Sorts votes by leaf, of one leaf in the order given. What is voted at a branch is never heard.
 * prefix: "class" or "target". */
static enum odb_status forest_read_votes(struct odb_kern *k, struct forest *f,
                                         const struct tree_ids *ids, const char *prefix)
{
    char name[4][40];
    static const char *const parts[] = {"ids", "treeids", "nodeids", "weights"};
    const int64_t *targets, *trees, *nodes;
    double *weights = NULL;
    enum odb_status status = ODB_OK;
    size_t n;
    for (int i = 0; i < 4; i++)
        snprintf(name[i], sizeof name[i], "%s_%s", prefix, parts[i]);
    targets = odb_kern_ints(k, name[0], &n);
    int32_t *leaf = odb_new_n(int32_t, n + 1);
    ODB_TRY_OUT(tree_ints(k, name[1], n, true, &trees));
    ODB_TRY_OUT(tree_ints(k, name[2], n, true, &nodes));
    ODB_TRY_OUT(tree_numbers_of(k, name[3], n, &weights));
    f->first_vote = odb_new_n(size_t, f->n_leaves + 2);
    f->votes = odb_new_n(struct tree_vote, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct tree_id *id = tree_find(ids, trees[i], nodes[i]);
        if (!id) {
            status = ODB_KERN_FAIL(k, "%s[%zu] is node %lld of tree %lld, which is not there",
                                   name[2], i, (long long)nodes[i], (long long)trees[i]);
            goto out;
        }
        ODB_TRY_OUT(tree_index(k, name[0], i, targets[i], f->n_targets));
        leaf[i] = id->ref;
        if (id->ref < 0)
            f->first_vote[~id->ref + 2]++;
    }
    for (size_t i = 2; i < f->n_leaves + 2; i++)
        f->first_vote[i] += f->first_vote[i - 1];
    for (size_t i = 0; i < n; i++)
        if (leaf[i] < 0)
            f->votes[f->first_vote[~leaf[i] + 1]++] =
                (struct tree_vote){(size_t)targets[i], weights[i]};
out:
    free(leaf);
    free(weights);
    return status;
}

static enum odb_status forest_read_flat(struct odb_kern *k, struct forest *f, const char *prefix)
{
    enum odb_status status = ODB_OK;
    struct tree_ids ids = {NULL, 0};
    double *splits = NULL;
    const struct odb_str *modes = odb_kern_strings(k, "nodes_modes", &ids.n);
    uint8_t *mode = odb_new_n(uint8_t, ids.n + 1);
    ids.items = odb_new_n(struct tree_id, ids.n + 1);
    if (ids.n == 0 || ids.n >= INT32_MAX) {
        status = ODB_KERN_FAIL(k, "nodes_modes has %zu elements", ids.n);
        goto out;
    }
    ODB_TRY_OUT(odb_ml_post(k, &f->post));
    ODB_TRY_OUT(forest_number(k, f, &ids, modes, mode));
    ODB_TRY_OUT(tree_numbers_of(k, "nodes_values", ids.n, &splits));
    ODB_TRY_OUT(forest_read_branches(k, f, &ids, mode, splits));
    ODB_TRY_OUT(forest_read_votes(k, f, &ids, prefix));
    status = forest_check_loops(k, f);
out:
    free(splits);
    free(mode);
    free(ids.items);
    return status;
}

/* --- TreeEnsemble: branches and leaves apart -------------------------------------------------- */

/* Sets of members, one per TREE_MEMBER in the order of the nodes, with NaN after each (the last one
 * may do without). */
static enum odb_status forest_read_members(struct odb_kern *k, struct forest *f)
{
    size_t n, at = 0;
    ODB_TRY(tree_numbers(k, "membership_values", &f->members, &n));
    for (size_t i = 0; i < f->n_branches; i++) {
        struct tree_branch *b = &f->branches[i];
        if (b->mode != TREE_MEMBER)
            continue;
        if (at >= n)
            return ODB_KERN_FAIL(k, "membership_values has no set for node %zu", i);
        b->first = at;
        while (at < n && !isnan(f->members[at]))
            at++;
        b->n = at++ - b->first;
    }
    return at >= n ? ODB_OK
                   : ODB_KERN_FAIL(k, "membership_values has more sets than there are "
                                      "nodes that ask for membership");
}

static enum odb_status forest_read_leaves(struct odb_kern *k, struct forest *f)
{
    double *weights = NULL;
    const int64_t *targets = odb_kern_ints(k, "leaf_targetids", &f->n_leaves);
    enum odb_status status = ODB_OK;
    ODB_TRY_OUT(tree_numbers_of(k, "leaf_weights", f->n_leaves, &weights));
    f->first_vote = odb_new_n(size_t, f->n_leaves + 1);
    f->votes = odb_new_n(struct tree_vote, f->n_leaves + 1);
    for (size_t i = 0; i < f->n_leaves; i++) {
        ODB_TRY_OUT(tree_index(k, "leaf_targetids", i, targets[i], f->n_targets));
        f->votes[i] = (struct tree_vote){(size_t)targets[i], weights[i]};
        f->first_vote[i + 1] = i + 1;
    }
out:
    free(weights);
    return status;
}

static enum odb_status forest_read_nodes(struct odb_kern *k, struct forest *f, const double *splits)
{
    static const char *const names[2][2] = {{"nodes_falsenodeids", "nodes_falseleafs"},
                                            {"nodes_truenodeids", "nodes_trueleafs"}};
    const int64_t *features, *missing, *child[2], *leaf[2];
    const struct odb_tensor *modes = odb_kern_tensor(k, "nodes_modes");
    size_t n = f->n_branches;
    if (!modes || modes->dtype != ODB_U8 || modes->count != n || !modes->data)
        return ODB_KERN_FAIL(k, "nodes_modes must be a tensor of %zu uint8", n);
    ODB_TRY(tree_ints(k, "nodes_featureids", n, true, &features));
    ODB_TRY(tree_ints(k, "nodes_missing_value_tracks_true", n, false, &missing));
    for (int c = 0; c < 2; c++) {
        ODB_TRY(tree_ints(k, names[c][0], n, true, &child[c]));
        ODB_TRY(tree_ints(k, names[c][1], n, true, &leaf[c]));
    }
    f->branches = odb_new_n(struct tree_branch, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct tree_branch *b = &f->branches[i];
        *b = (struct tree_branch){.split = splits[i],
                                  .feature = features[i],
                                  .mode = ((const odb_u8 *)modes->data)[i],
                                  .missing = missing && missing[i] != 0};
        if (b->mode > TREE_MEMBER)
            return ODB_KERN_FAIL(k, "nodes_modes[%zu] is %d, which is no mode", i, b->mode);
        for (int c = 0; c < 2; c++) {
            bool last = leaf[c][i] != 0;
            ODB_TRY(tree_index(k, names[c][0], i, child[c][i], last ? f->n_leaves : n));
            b->child[c] = last ? ~(int32_t)child[c][i] : (int32_t)child[c][i];
        }
    }
    return ODB_OK;
}

static enum odb_status forest_read(struct odb_kern *k, struct forest *f)
{
    double *splits = NULL;
    size_t n_roots;
    const int64_t *roots = odb_kern_ints(k, "tree_roots", &n_roots);
    int64_t post = odb_kern_int(k, "post_transform", 0);
    enum odb_status status;
    ODB_TRY_OUT(tree_numbers(k, "nodes_splits", &splits, &f->n_branches));
    ODB_TRY_OUT(forest_read_leaves(k, f));
    if (n_roots == 0 || f->n_branches >= INT32_MAX || f->n_leaves >= INT32_MAX || post < 0 ||
        post > ODB_ML_PROBIT) {
        status = ODB_KERN_FAIL(k, "%zu trees, %zu nodes and post_transform %lld make no ensemble",
                               n_roots, f->n_branches, (long long)post);
        goto out;
    }
    f->post = (enum odb_ml_post)post;
    ODB_TRY_OUT(forest_read_nodes(k, f, splits));
    ODB_TRY_OUT(forest_read_members(k, f));
    f->n_roots = n_roots;
    f->roots = odb_new_n(int32_t, n_roots);
    for (size_t i = 0; i < n_roots; i++) {
        ODB_TRY_OUT(tree_index(k, "tree_roots", i, roots[i], f->n_branches));
        f->roots[i] = (int32_t)roots[i];
    }
    status = forest_check_loops(k, f);
out:
    free(splits);
    return status;
}

/* The node's forest, read once. */
static enum odb_status forest_get(struct odb_kern *k,
                                  enum odb_status (*read)(struct odb_kern *, struct forest *),
                                  const struct forest **out)
{
    *out = odb_memo_find(k->memo, forest_free, 0);
    if (*out)
        return ODB_OK;
    struct forest *f = odb_new(struct forest);
    enum odb_status status = read(k, f);
    if (status != ODB_OK) {
        forest_free(f);
        return status;
    }
    for (size_t i = 0; i < f->n_branches; i++)
        f->greatest = ODB_MAX(f->greatest, (uint64_t)f->branches[i].feature);
    *out = odb_memo_keep(k->memo, forest_free, 0, f);
    return ODB_OK;
}

/* --- walking ---------------------------------------------------------------------------------- */

struct tree_job {
    const struct forest *f;
    const odb_f64 *x; /* [rows][width] */
    size_t width;
    double *scores; /* [rows][n_targets] */
    uint8_t *voted; /* as scores: whether anything was; NULL: sums, where it does not matter */
    bool in_float;  /* sums are rounded at every step */
};

static bool tree_is_member(const struct forest *f, const struct tree_branch *b, double v)
{
    for (size_t i = 0; i < b->n; i++)
        if (f->members[b->first + i] == v)
            return true;
    return false;
}

static bool tree_test(const struct forest *f, const struct tree_branch *b, double v)
{
    switch ((enum tree_mode)b->mode) {
    case TREE_LEQ:
        return v <= b->split;
    case TREE_LT:
        return v < b->split;
    case TREE_GTE:
        return v >= b->split;
    case TREE_GT:
        return v > b->split;
    case TREE_EQ:
        return v == b->split;
    case TREE_NEQ:
        return v != b->split;
    default:
        return tree_is_member(f, b, v);
    }
}

static size_t tree_leaf(const struct forest *f, int32_t at, const odb_f64 *row)
{
    while (at >= 0) {
        const struct tree_branch *b = &f->branches[at];
        double v = row[b->feature];
        at = b->child[isnan(v) ? b->missing : tree_test(f, b, v)];
    }
    return (size_t)~at;
}

static void tree_vote_add(const struct tree_job *job, size_t at, double weight)
{
    double *score = &job->scores[at];
    if (!job->voted) {
        *score += weight;
        if (job->in_float)
            *score = (float)*score;
        return;
    }
    if (!job->voted[at] || (job->f->aggregate == TREE_MIN ? weight < *score : weight > *score))
        *score = weight;
    job->voted[at] = 1;
}

static void tree_rows(void *arg, size_t begin, size_t end)
{
    const struct tree_job *job = arg;
    const struct forest *f = job->f;
    for (size_t t = 0; t < f->n_roots; t++) {
        for (size_t r = begin; r < end; r++) {
            size_t leaf = tree_leaf(f, f->roots[t], job->x + r * job->width);
            for (size_t v = f->first_vote[leaf]; v < f->first_vote[leaf + 1]; v++)
                tree_vote_add(job, r * f->n_targets + f->votes[v].target, f->votes[v].weight);
        }
    }
}

/* Scores of all rows, base values added; *scores is the caller's to free. */
static enum odb_status forest_run(struct odb_kern *k, const struct forest *f, double **scores)
{
    struct odb_tensor *x = NULL;
    struct tree_job job = {.f = f, .in_float = k->sequential && k->in[0]->dtype != ODB_F64};
    enum odb_status status;
    size_t rows;
    *scores = NULL;
    ODB_TRY(odb_ml_shape(k, &rows, &job.width));
    ODB_TRY(forest_check_features(k, f, job.width));
    ODB_TRY_OUT(odb_tensor_cast(&x, k->in[0], ODB_F64, k->err));
    ODB_TRY_OUT(odb_ml_doubles(k, scores, rows, f->n_targets));
    size_t n = rows * f->n_targets;
    job.x = x->data;
    job.scores = *scores;
    if (f->aggregate == TREE_MIN || f->aggregate == TREE_MAX)
        job.voted = odb_work_take(n + 1, 1);
    if (!job.voted && (f->aggregate == TREE_MIN || f->aggregate == TREE_MAX))
        ODB_TRY_OUT(odb_kern_no_memory(k));
    odb_parallel_for(rows, TREE_GRAIN, tree_rows, &job);
    for (size_t i = 0; i < n; i++) {
        if (job.voted && !job.voted[i]) {
            status = ODB_KERN_UNSUPPORTED(k,
                                          "no leaf votes for target %zu in row %zu, and ONNX does "
                                          "not say what the least or greatest of nothing is",
                                          i % f->n_targets, i / f->n_targets);
            goto out;
        }
        if (f->aggregate == TREE_AVERAGE)
            job.scores[i] /= (double)f->n_roots;
        if (f->base)
            job.scores[i] += f->base[i % f->n_targets];
    }
out:
    odb_tensor_unref(x);
    odb_work_give(job.voted);
    return status;
}

/* --- TreeEnsemble, TreeEnsembleRegressor ------------------------------------------------------ */

static enum odb_status tree_targets(struct odb_kern *k, size_t *n)
{
    int64_t targets = odb_kern_int(k, "n_targets", 0);
    if (targets < 1 || targets > INT32_MAX)
        return ODB_KERN_FAIL(k, "n_targets must be given and positive");
    *n = (size_t)targets;
    return ODB_OK;
}

static enum odb_status tree_infer_regress(struct odb_kern *k)
{
    size_t rows, width, targets = 0;
    bool flat = k->op->since < 5;
    ODB_TRY(odb_ml_shape(k, &rows, &width));
    ODB_TRY(tree_targets(k, &targets));
    return odb_kern_outline(k, 0, flat ? odb_ml_float(k) : k->in[0]->dtype, 2,
                            (int64_t[]){(int64_t)rows, (int64_t)targets});
}

static enum odb_status tree_aggregate(struct odb_kern *k, enum tree_aggregate *out)
{
    static const char *const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    int64_t number = k->op->since < 5 ? -1 : odb_kern_int(k, "aggregate_function", TREE_SUM);
    const char *name = odb_kern_string(k, "aggregate_function", "SUM");
    for (int i = 0; i < (int)ODB_COUNT(names); i++) {
        if (number < 0 ? strcmp(name, names[i]) == 0 : number == i) {
            *out = (enum tree_aggregate)i;
            return ODB_OK;
        }
    }
    return number < 0 ? ODB_KERN_FAIL(k, "there is no aggregate_function '%s'", name)
                      : ODB_KERN_FAIL(k, "there is no aggregate_function %lld", (long long)number);
}

static enum odb_status tree_read_regress(struct odb_kern *k, struct forest *f)
{
    ODB_TRY(tree_targets(k, &f->n_targets));
    ODB_TRY(tree_aggregate(k, &f->aggregate));
    if (k->op->since >= 5)
        return forest_read(k, f);
    ODB_TRY(forest_read_flat(k, f, "target"));
    return tree_base(k, f, false);
}

static enum odb_status tree_run_regress(struct odb_kern *k)
{
    const struct forest *f;
    double *scores;
    ODB_TRY(forest_get(k, tree_read_regress, &f));
    enum odb_status status = forest_run(k, f, &scores);
    for (size_t r = 0; status == ODB_OK && r < k->out[0]->count / f->n_targets; r++)
        odb_ml_post_apply(f->post, scores + r * f->n_targets, f->n_targets);
    if (status == ODB_OK)
        odb_ml_write(k, 0, scores);
    free(scores);
    return status;
}

/* --- TreeEnsembleClassifier ------------------------------------------------------------------- */

static enum odb_status tree_labels(struct odb_kern *k, struct odb_ml_labels *labels)
{
    ODB_TRY(odb_ml_labels(k, "classlabels_int64s", "classlabels_strings", labels));
    if (labels->n < 2)
        return ODB_KERN_UNSUPPORTED(k, "a classifier with one class: ONNX does not say which "
                                       "label the other one has");
    return ODB_OK;
}

static enum odb_status tree_infer_classify(struct odb_kern *k)
{
    struct odb_ml_labels labels;
    size_t rows, width;
    ODB_TRY(odb_ml_shape(k, &rows, &width));
    ODB_TRY(tree_labels(k, &labels));
    int64_t dims[2] = {(int64_t)rows, (int64_t)labels.n};
    ODB_TRY(odb_kern_outline(k, 0, odb_ml_labels_dtype(&labels), 1, dims));
    return odb_kern_outline(k, 1, odb_ml_float(k), 2, dims);
}

/* The one class that all votes are for, where there are two classes; else -1. */
static int tree_only_class(struct odb_kern *k, const struct forest *f)
{
    size_t n;
    const int64_t *ids = odb_kern_ints(k, "class_ids", &n);
    for (size_t i = 1; i < n; i++)
        if (ids[i] != ids[0])
            return -1;
    return f->n_targets == 2 && n > 0 ? (int)ids[0] : -1;
}

static enum odb_status tree_read_classify(struct odb_kern *k, struct forest *f)
{
    struct odb_ml_labels labels;
    ODB_TRY(tree_labels(k, &labels));
    f->n_targets = labels.n;
    f->aggregate = TREE_SUM;
    ODB_TRY(forest_read_flat(k, f, "class"));
    f->only = tree_only_class(k, f);
    return tree_base(k, f, f->only >= 0);
}

static enum odb_status tree_run_classify(struct odb_kern *k)
{
    const struct forest *f;
    struct odb_ml_labels labels;
    double *scores = NULL;
    size_t *best = NULL, rows, width;
    enum odb_status status;
    ODB_TRY(tree_labels(k, &labels));
    ODB_TRY(odb_ml_shape(k, &rows, &width));
    ODB_TRY(forest_get(k, tree_read_classify, &f));
    ODB_TRY_OUT(forest_run(k, f, &scores));
    best = odb_work_take(rows + 1, sizeof *best);
    if (!best)
        ODB_TRY_OUT(odb_kern_no_memory(k));
    for (size_t r = 0; r < rows; r++) {
        double *row = scores + r * labels.n;
        if (f->only >= 0) {
            row[1] = row[f->only];
            row[0] = f->post == ODB_ML_NONE || f->post == ODB_ML_PROBIT ? 1 - row[1] : -row[1];
        }
        best[r] = odb_ml_argmax(k, row, labels.n);
        odb_ml_post_apply(f->post, row, labels.n);
    }
    odb_ml_write(k, 1, scores);
    status = odb_ml_labels_write(k, 0, &labels, best);
out:
    free(scores);
    odb_work_give(best);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

#define TREE_FLAT_ATTRS                                                                            \
    {.name = "nodes_falsenodeids", .type = ODB_ATTR_INTS},                                         \
        {.name = "nodes_featureids", .type = ODB_ATTR_INTS},                                       \
        {.name = "nodes_hitrates", .type = ODB_ATTR_FLOATS},                                       \
        {.name = "nodes_missing_value_tracks_true", .type = ODB_ATTR_INTS},                        \
        {.name = "nodes_modes", .type = ODB_ATTR_STRINGS},                                         \
        {.name = "nodes_nodeids", .type = ODB_ATTR_INTS},                                          \
        {.name = "nodes_treeids", .type = ODB_ATTR_INTS},                                          \
        {.name = "nodes_truenodeids", .type = ODB_ATTR_INTS},                                      \
        {.name = "nodes_values", .type = ODB_ATTR_FLOATS},                                         \
        {.name = "base_values", .type = ODB_ATTR_FLOATS},                                          \
    {                                                                                              \
        .name = "post_transform", .type = ODB_ATTR_STRING, .def = "NONE"                           \
    }
#define TREE_FLAT_TENSORS                                                                          \
    {.name = "base_values_as_tensor", .type = ODB_ATTR_TENSOR},                                    \
        {.name = "nodes_hitrates_as_tensor", .type = ODB_ATTR_TENSOR},                             \
    {                                                                                              \
        .name = "nodes_values_as_tensor", .type = ODB_ATTR_TENSOR                                  \
    }
#define TREE_VOTES(prefix)                                                                         \
    {.name = prefix "_ids", .type = ODB_ATTR_INTS},                                                \
        {.name = prefix "_nodeids", .type = ODB_ATTR_INTS},                                        \
        {.name = prefix "_treeids", .type = ODB_ATTR_INTS},                                        \
    {                                                                                              \
        .name = prefix "_weights", .type = ODB_ATTR_FLOATS                                         \
    }
#define TREE_REGRESS                                                                               \
    {.name = "aggregate_function", .type = ODB_ATTR_STRING, .def = "SUM"},                         \
    {                                                                                              \
        .name = "n_targets", .type = ODB_ATTR_INT                                                  \
    }
#define TREE_CLASSIFY                                                                              \
    {.name = "classlabels_int64s", .type = ODB_ATTR_INTS},                                         \
    {                                                                                              \
        .name = "classlabels_strings", .type = ODB_ATTR_STRINGS                                    \
    }

static const struct odb_attr_spec tree_attrs_regress_1[] = {
    TREE_FLAT_ATTRS, TREE_VOTES("target"), TREE_REGRESS, {.name = NULL}};
static const struct odb_attr_spec tree_attrs_regress_3[] = {
    TREE_FLAT_ATTRS,
    TREE_FLAT_TENSORS,
    TREE_VOTES("target"),
    TREE_REGRESS,
    {.name = "target_weights_as_tensor", .type = ODB_ATTR_TENSOR},
    {.name = NULL}};
static const struct odb_attr_spec tree_attrs_classify_1[] = {
    TREE_FLAT_ATTRS, TREE_VOTES("class"), TREE_CLASSIFY, {.name = NULL}};
static const struct odb_attr_spec tree_attrs_classify_3[] = {
    TREE_FLAT_ATTRS,
    TREE_FLAT_TENSORS,
    TREE_VOTES("class"),
    TREE_CLASSIFY,
    {.name = "class_weights_as_tensor", .type = ODB_ATTR_TENSOR},
    {.name = NULL}};
static const struct odb_attr_spec tree_attrs_5[] = {
    {.name = "aggregate_function", .type = ODB_ATTR_INT, .def = "1"},
    {.name = "leaf_targetids", .type = ODB_ATTR_INTS, .required = true},
    {.name = "leaf_weights", .type = ODB_ATTR_TENSOR, .required = true},
    {.name = "membership_values", .type = ODB_ATTR_TENSOR},
    {.name = "n_targets", .type = ODB_ATTR_INT},
    {.name = "nodes_falseleafs", .type = ODB_ATTR_INTS, .required = true},
    {.name = "nodes_falsenodeids", .type = ODB_ATTR_INTS, .required = true},
    {.name = "nodes_featureids", .type = ODB_ATTR_INTS, .required = true},
    {.name = "nodes_hitrates", .type = ODB_ATTR_TENSOR},
    {.name = "nodes_missing_value_tracks_true", .type = ODB_ATTR_INTS},
    {.name = "nodes_modes", .type = ODB_ATTR_TENSOR, .required = true},
    {.name = "nodes_splits", .type = ODB_ATTR_TENSOR, .required = true},
    {.name = "nodes_trueleafs", .type = ODB_ATTR_INTS, .required = true},
    {.name = "nodes_truenodeids", .type = ODB_ATTR_INTS, .required = true},
    {.name = "post_transform", .type = ODB_ATTR_INT, .def = "0"},
    {.name = "tree_roots", .type = ODB_ATTR_INTS, .required = true},
    {.name = NULL}};

/* Steady: a step in an operand would only try other branches, which is what boundaries are for. */
#define TREE_ROW(op, since, outs, mask, attrs, does, ...)                                          \
    ODB_ONNX_ML(op, since, ODB_ARITY(1, 1), ODB_ARITY(outs, outs),                                 \
                ODB_OP_REAL | ODB_OP_BOUNDARY | ODB_OP_STEADY, attrs, tree_infer_##does,           \
                tree_run_##does, mask, __VA_ARGS__)

const struct odb_op odb_ops_trees[] = {
    TREE_ROW("TreeEnsemble", 5, 1, ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64) | ODB_BIT(ODB_F16),
             tree_attrs_5, regress, ODB_NAMES("X", "Y")),
    TREE_ROW("TreeEnsembleRegressor", 1, 1, ODB_ML_NUMBERS, tree_attrs_regress_1, regress,
             ODB_NAMES("X", "Y")),
    TREE_ROW("TreeEnsembleRegressor", 3, 1, ODB_ML_NUMBERS, tree_attrs_regress_3, regress),
    {.domain = "ai.onnx.ml",
     .name = "TreeEnsembleRegressor",
     .since = 5,
     ODB_INSTEAD("use TreeEnsemble")}, /* is TreeEnsemble */
    TREE_ROW("TreeEnsembleClassifier", 1, 2, ODB_ML_NUMBERS, tree_attrs_classify_1, classify,
             ODB_NAMES("X", "Y,Z")),
    TREE_ROW("TreeEnsembleClassifier", 3, 2, ODB_ML_NUMBERS, tree_attrs_classify_3, classify),
    {.domain = "ai.onnx.ml",
     .name = "TreeEnsembleClassifier",
     .since = 5,
     ODB_INSTEAD("use TreeEnsemble")},
    {.name = NULL},
};
