/* SPDX-License-Identifier: MIT
 *
 * NonMaxSuppression: per batch entry and class, boxes by falling score (equal scores: lower index
 * first); one is kept unless it overlaps one kept before.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernels/core/kern.h"

#define ODB_BODY "kernels/vision/nms.real.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"

typedef bool (*nms_overlap_fn)(const void *boxes, size_t i, size_t j, bool center,
                               double threshold);

struct nms_box {
    double score;
    int64_t index;
};

struct nms {
    size_t batches, classes, boxes, limit;
    double iou, least; /* scores must be greater than least */
    bool center;
    nms_overlap_fn overlap;
};

typedef ODB_VEC(int64_t) nms_list;

static int nms_order(const void *a, const void *b)
{
    const struct nms_box *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The one element of an optional input. */
static enum odb_status nms_scalar(struct odb_kern *k, int i, double fallback, double *out)
{
    const struct odb_tensor *t = odb_kern_in(k, i);

    *out = fallback;
    if (t == NULL || t->count == 0)
        return ODB_OK;
    if (t->count != 1)
        return ODB_KERN_FAIL(k, "input %d has %zu elements, not one", i, t->count);
    *out = odb_tensor_f64(t, 0);
    return ODB_OK;
}

static enum odb_status nms_read(struct odb_kern *k, struct nms *n)
{
    const struct odb_tensor *boxes = k->in[0], *scores = k->in[1];
    char a[200], b[200];
    double limit;

    if (boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 ||
        boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2] ||
        boxes->dtype != scores->dtype)
        return ODB_KERN_FAIL(k, "boxes of shape %s and scores of shape %s do not go together",
                             odb_shape_text(boxes, a, sizeof a),
                             odb_shape_text(scores, b, sizeof b));
    n->batches = (size_t)boxes->dims[0];
    n->classes = (size_t)scores->dims[1];
    n->boxes = (size_t)boxes->dims[1];
    ODB_TRY(nms_scalar(k, 2, 0, &limit));
    ODB_TRY(nms_scalar(k, 3, 0, &n->iou));
    ODB_TRY(nms_scalar(k, 4, -INFINITY, &n->least));
    n->limit = limit > 0 ? (size_t)fmin(limit, 0x1p62) : 0;
    n->center = odb_kern_int(k, "center_point_box", 0) != 0;
    n->overlap = ODB_REAL_FN(k, boxes->dtype, nms_overlap);
    if (!(n->iou >= 0 && n->iou <= 1))
        return ODB_KERN_FAIL(k, "iou_threshold is %g, outside [0, 1]", n->iou);
    return ODB_OK;
}

/* Appends what is kept of one class of one batch entry. order and kept have room for all boxes. */
static void nms_class(const struct nms *n, const struct odb_tensor *boxes,
                      const struct odb_tensor *scores, size_t batch, size_t class_,
                      struct nms_box *order, int64_t *kept, nms_list *out)
{
    size_t first = (batch * n->classes + class_) * n->boxes, candidates = 0, n_kept = 0;
    size_t bytes = odb_dtype_info(boxes->dtype)->bits / 8;
    const unsigned char *mine = (const unsigned char *)boxes->data + batch * n->boxes * 4 * bytes;

    for (size_t i = 0; i < n->boxes; i++) {
        double score = odb_tensor_f64(scores, first + i);
        if (score > n->least || n->least == -INFINITY)
            order[candidates++] = (struct nms_box){isnan(score) ? -INFINITY : score, (int64_t)i};
    }
    qsort(order, candidates, sizeof *order, nms_order);
    for (size_t c = 0; c < candidates && n_kept < n->limit; c++) {
        bool keep = true;
        for (size_t j = 0; keep && j < n_kept; j++)
            keep = !n->overlap(mine, (size_t)order[c].index, (size_t)kept[j], n->center, n->iou);
        if (!keep)
            continue;
        kept[n_kept++] = order[c].index;
        odb_push(out, (int64_t)batch);
        odb_push(out, (int64_t)class_);
        odb_push(out, order[c].index);
    }
}

static enum odb_status nms_run(struct odb_kern *k)
{
    enum odb_status status = ODB_OK;
    nms_list out = {.n = 0};
    struct nms n = {.limit = 0};

    ODB_TRY(nms_read(k, &n));
    struct nms_box *order = malloc((n.boxes + 1) * sizeof *order);
    int64_t *kept = malloc((n.boxes + 1) * sizeof *kept);
    if (order == NULL || kept == NULL) {
        status = odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu boxes", n.boxes);
        goto out;
    }
    for (size_t b = 0; n.boxes && b < n.batches; b++)
        for (size_t c = 0; c < n.classes; c++)
            nms_class(&n, k->in[0], k->in[1], b, c, order, kept, &out);
    ODB_TRY_OUT(odb_kern_output(k, 0, ODB_I64, 2, (int64_t[]){(int64_t)(out.n / 3), 3}));
    for (size_t i = 0; i < out.n; i++)
        ((odb_i64 *)k->out[0]->data)[i] = out.items[i];
out:
    free(out.items);
    free(order);
    free(kept);
    return status;
}

static const struct odb_attr_spec nms_attrs[] = {
    {.name = "center_point_box", .type = ODB_ATTR_INT, .def = "0"}, {.name = NULL}};

const struct odb_op odb_ops_nms[] = {
    ODB_ONNX("NonMaxSuppression", 10, ODB_ARITY(2, 5), ODB_ARITY(1, 1),
             ODB_OP_EXACT | ODB_OP_BOUNDARY, nms_attrs, NULL, nms_run, ODB_BIT(ODB_F32),
             ODB_BIT(ODB_F32), ODB_BIT(ODB_I64), ODB_BIT(ODB_F32),
             ODB_NAMES("boxes,scores,max_output_boxes_per_class,iou_threshold,score_threshold",
                       "selected_indices"),
             ODB_WORK(depends), ODB_TRAITS(ODB_IS_SIZED_BY_DATA)),
    {.name = NULL},
};
