/* SPDX-License-Identifier: MIT
 *
 * Overlap of two boxes, in the arithmetic of the model: whether it is over a threshold is a
 * question of the last bit for boxes on a grid.
 */

struct FN(nms_span) {
    T low, high;
};

static struct FN(nms_span) FN(nms_side)(const T *box, int axis, bool center)
{
    if (center)
        return (struct FN(nms_span)){box[axis] - box[axis + 2] / 2, box[axis] + box[axis + 2] / 2};
    return (struct FN(nms_span)){ODB_MIN(box[axis], box[axis + 2]),
                                 ODB_MAX(box[axis], box[axis + 2])};
}

/* Intersection over union strictly greater than the threshold; degenerate boxes overlap no box. */
static bool FN(nms_overlap)(const void *boxes, size_t i, size_t j, bool center, double threshold)
{
    const T *a = (const T *)boxes + 4 * i, *b = (const T *)boxes + 4 * j;
    T area_a = 1, area_b = 1, both = 1;

    for (int axis = 0; axis < 2; axis++) {
        struct FN(nms_span) sa = FN(nms_side)(a, axis, center), sb = FN(nms_side)(b, axis, center);
        T low = ODB_MAX(sa.low, sb.low), high = ODB_MIN(sa.high, sb.high);
        if (!(high > low))
            return false;
        both *= high - low;
        area_a *= sa.high - sa.low;
        area_b *= sb.high - sb.low;
    }
    T all = area_a + area_b - both;
    return area_a > 0 && area_b > 0 && all > 0 && both / all > (T)threshold;
}
