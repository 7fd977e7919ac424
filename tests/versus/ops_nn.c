/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Windows, normalization, recurrence, sampling: how their calls are drawn.
 */
#include <string.h>

#include "versus.h"

/* --- windows --------------------------------------------------------------------------------- */

struct window {
    int rank;
    int64_t kernel[3];
};

/* Strides, dilations and borders for that many axes, each given or not. */
static void draw_borders(struct draw *d, const struct window *w, bool dilate)
{
    int64_t v[6];
    const char *pad = vs_word(d, "NOTSET|NOTSET|SAME_UPPER|SAME_LOWER|VALID|");
    for (int i = 0; i < w->rank; i++)
        v[i] = vs_int(d, 1, 3);
    if (vs_chance(d, 60))
        vs_attr_ints(d, "strides", (size_t)w->rank, v);
    for (int i = 0; i < w->rank; i++)
        v[i] = vs_int(d, 1, 2);
    if (dilate && vs_chance(d, 40))
        vs_attr_ints(d, "dilations", (size_t)w->rank, v);
    for (int i = 0; i < 2 * w->rank; i++)
        v[i] = vs_int(d, 0, ODB_MIN(w->kernel[i % w->rank] - 1, 2));
    if (*pad)
        vs_attr_string(d, "auto_pad", pad);
    if ((!*pad || pad[0] == 'N') && vs_chance(d, 60))
        vs_attr_ints(d, "pads", (size_t)(2 * w->rank), v);
}

/* The image of a window operator. */
static struct dims draw_image(struct draw *d, struct window *w, int64_t channels)
{
    struct dims dims = {.rank = 2, .d = {vs_int(d, 1, 2), channels}};
    w->rank = vs_chance(d, 60) ? 2 : (int)vs_int(d, 1, 3);
    for (int i = 0; i < w->rank; i++) {
        dims.d[dims.rank++] = vs_int(d, 3, w->rank == 3 ? 5 : 9);
        w->kernel[i] = vs_int(d, 1, 3);
    }
    return dims;
}

static void draw_pool(struct draw *d)
{
    struct window w;
    vs_in(d, draw_image(d, &w, vs_int(d, 1, 3)));
    bool average = strcmp(d->row->op, "AveragePool") == 0;
    bool lp = strcmp(d->row->op, "LpPool") == 0;
    vs_attr_ints(d, "kernel_shape", (size_t)w.rank, w.kernel);
    draw_borders(d, &w, d->opset >= (average ? 19 : lp ? 18 : 10));
    if (d->opset >= (lp ? 18 : 10))
        vs_attrs(d, "ceil_mode=-|0|1");
    if (average && d->opset >= 7)
        vs_attrs(d, "count_include_pad=-|0|1");
    if (lp)
        vs_attrs(d, d->opset >= 2 ? "p=-|1|2|3" : "p=-");
    if (!average && !lp && d->opset >= 8) {
        vs_attrs(d, "storage_order=-|0|1");
        d->n_out = (int)vs_int(d, 1, 2);
    }
}

static void draw_global(struct draw *d)
{
    vs_in(d, vs_dims(d, 3, 5, 4));
    if (strcmp(d->row->op, "GlobalLpPool") == 0)
        vs_attrs(d, d->opset >= 2 ? "p=-|1|2|3" : "p=-");
}

static void draw_conv(struct draw *d)
{
    struct window w;
    int64_t group = vs_int(d, 1, 3), c = vs_int(d, 1, 3), m = vs_int(d, 1, 3);
    struct dims image = draw_image(d, &w, group * c), weights = {.rank = 2, .d = {group * m, c}};
    for (int i = 0; i < w.rank; i++)
        weights.d[weights.rank++] = w.kernel[i];
    vs_in(d, image);
    vs_in(d, weights);
    if (vs_chance(d, 60))
        vs_in(d, VS_DIMS(group * m));
    if (group > 1 || vs_chance(d, 30))
        vs_attr_int(d, "group", group);
    if (vs_chance(d, 60))
        vs_attr_ints(d, "kernel_shape", (size_t)w.rank, w.kernel);
    draw_borders(d, &w, true);
}

static void draw_conv_transpose(struct draw *d)
{
    struct window w;
    int64_t group = vs_int(d, 1, 3), c = vs_int(d, 1, 3), m = vs_int(d, 1, 3), v[3];
    struct dims image = draw_image(d, &w, group * c), weights = {.rank = 2, .d = {group * c, m}};
    for (int i = 0; i < w.rank; i++)
        weights.d[weights.rank++] = w.kernel[i];
    vs_in(d, image);
    vs_in(d, weights);
    if (vs_chance(d, 60))
        vs_in(d, VS_DIMS(group * m));
    if (group > 1 || vs_chance(d, 30))
        vs_attr_int(d, "group", group);
    if (vs_chance(d, 60))
        vs_attr_ints(d, "kernel_shape", (size_t)w.rank, w.kernel);
    draw_borders(d, &w, true);
    bool shape = vs_chance(d, 25), more = !shape && vs_chance(d, 25);
    for (int i = 0; i < w.rank; i++) {
        int64_t stride = vs_drawn_item(d, "strides", (size_t)i, 1);
        int64_t window = (w.kernel[i] - 1) * vs_drawn_item(d, "dilations", (size_t)i, 1) + 1;
        v[i] =
            shape ? (image.d[2 + i] - 1) * stride + vs_int(d, 1, window) : vs_int(d, 0, stride - 1);
    }
    if (shape || more)
        vs_attr_ints(d, shape ? "output_shape" : "output_padding", (size_t)w.rank, v);
}

static void draw_unpool(struct draw *d)
{
    int64_t c = vs_int(d, 1, 2), h = vs_int(d, 1, 3), w = vs_int(d, 1, 3), v[2] = {2, 2};
    struct dims dims = VS_DIMS(1, c, h, w);
    vs_in(d, dims);
    d->extreme = false;
    struct odb_tensor *at = vs_in_range(d, ODB_I64, dims, 0, 0);
    for (int64_t i = 0; i < (int64_t)at->count; i++) /* one of each window of 2 by 2 */
        ((int64_t *)at->data)[i] = i / (h * w) * 4 * h * w + i / w % h * 2 * 2 * w + i % w * 2 +
                                   vs_int(d, 0, 1) + vs_int(d, 0, 1) * 2 * w;
    vs_attr_ints(d, "kernel_shape", 2, v);
    vs_attr_ints(d, "strides", 2, v);
}

static void draw_col2im(struct draw *d)
{
    int64_t image[2] = {vs_int(d, 3, 6), vs_int(d, 3, 6)}, block[2], step[2], dilate[2], pads[4];
    int64_t n = 1;
    for (int i = 0; i < 2; i++) {
        block[i] = vs_int(d, 1, 3);
        step[i] = vs_int(d, 1, 2);
        dilate[i] = vs_int(d, 1, block[i] > 1 && image[i] > 4 ? 2 : 1);
        pads[i] = vs_int(d, 0, 1);
        pads[i + 2] = vs_int(d, 0, 1);
        n *= (image[i] + pads[i] + pads[i + 2] - dilate[i] * (block[i] - 1) - 1) / step[i] + 1;
    }
    vs_in(d, VS_DIMS(vs_int(d, 1, 2), vs_int(d, 1, 2) * block[0] * block[1], n));
    vs_in_ints(d, ODB_I64, 2, image);
    vs_in_ints(d, ODB_I64, 2, block);
    vs_attr_ints(d, "strides", 2, step);
    vs_attr_ints(d, "dilations", 2, dilate);
    vs_attr_ints(d, "pads", 4, pads);
}

/* --- normalization --------------------------------------------------------------------------- */

static void draw_batch_norm(struct draw *d)
{
    struct dims dims = vs_dims(d, 2, 5, 4);
    struct dims c = VS_DIMS(dims.d[1]);
    vs_in(d, dims);
    for (int i = 0; i < 4; i++)
        vs_in_range(d, d->dtype, c, i == 3 ? 0.1 : -2, 2);
    vs_attrs(d, "epsilon=-|0.01f momentum=-|0.5f");
    if (d->opset < 7)
        vs_attr_int(d, "is_test", 1);
    if (d->opset < 6)
        vs_attrs(d, "consumed_inputs=0,0,0,1,1,");
    if (d->opset < 9 && d->opset >= 7)
        vs_attrs(d, "spatial=-|1");
    if (d->opset >= 14 && vs_chance(d, 30)) {
        vs_attr_int(d, "training_mode", 1);
        d->n_out = 3;
    }
}

static void draw_instance_norm(struct draw *d)
{
    struct dims dims = vs_dims(d, 3, 5, 4);
    vs_in(d, dims);
    vs_in(d, VS_DIMS(dims.d[1]));
    vs_in(d, VS_DIMS(dims.d[1]));
    vs_attrs(d, "epsilon=-|0.01f");
}

static void draw_layer_norm(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 4, 5), scale;
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    scale = vs_shape(dims.rank - axis, dims.d + axis);
    vs_in(d, dims);
    vs_in(d, scale);
    if (vs_chance(d, 60))
        vs_in(d, scale);
    if (axis != dims.rank - 1 || vs_chance(d, 50))
        vs_attr_int(d, "axis", vs_chance(d, 50) ? axis : axis - dims.rank);
    vs_attrs(d, "epsilon=-|0.01f");
    d->n_out = (int)vs_int(d, 1, 3);
}

static void draw_group_norm(struct draw *d)
{
    int64_t groups = vs_int(d, 1, 3), c = groups * vs_int(d, 1, 3);
    struct dims dims = vs_dims(d, 3, 4, 4);
    dims.d[1] = c;
    vs_in(d, dims);
    vs_in(d, VS_DIMS(d->opset >= 21 ? c : groups));
    vs_in(d, VS_DIMS(d->opset >= 21 ? c : groups));
    vs_attr_int(d, "num_groups", groups);
    vs_attrs(d, "epsilon=-|0.01f");
}

static void draw_lrn(struct draw *d)
{
    vs_in(d, vs_dims(d, 4, 4, 5));
    vs_attrs(d, "size=1|3|5 alpha=-|0.5f beta=-|0.5f bias=-|2f");
}

static void draw_mvn(struct draw *d)
{
    struct dims dims = vs_dims(d, 4, 4, 4);
    vs_in(d, dims);
    vs_attrs(d, "axes=-|0,2,3,|0,1,2,3,|1,|-1,2,");
}

static void draw_lp_norm(struct draw *d)
{
    vs_in(d, vs_dims(d, 1, 4, 4));
    vs_attrs(d, "axis=-|@|@ p=-|1|2");
}

static void draw_dropout(struct draw *d)
{
    vs_in(d, vs_dims(d, 0, 4, 4));
    if (d->opset < 7)
        vs_attr_int(d, "is_test", 1);
    if (d->opset < 12)
        vs_attrs(d, "ratio=-|0.3f");
    else if (vs_chance(d, 50))
        vs_in_scalar(d, ODB_F32, 0.3);
    d->n_out = (int)vs_int(d, 1, 2);
}

/* --- loss ------------------------------------------------------------------------------------ */

static void draw_loss(struct draw *d)
{
    struct dims dims = vs_dims(d, 2, 4, 4), target = dims;
    int64_t c = dims.d[1];
    for (int i = 1; i + 1 < dims.rank; i++)
        target.d[i] = dims.d[i + 1];
    target.rank--;
    bool ignore = vs_chance(d, 40);
    bool nll = d->row->op[0] == 'N';
    vs_in(d, dims);
    d->extreme = false;
    struct odb_tensor *t =
        vs_in_range(d, vs_chance(d, 60) ? ODB_I64 : ODB_I32, target, 0, (double)c - 1);
    for (size_t i = 0; i < t->count && ignore; i++)
        if (vs_chance(d, 30))
            odb_store_i64(t->dtype, t->data, i, -1);
    if (vs_chance(d, 50))
        vs_in_range(d, d->dtype, VS_DIMS(c), 0.1, 2);
    if (ignore)
        vs_attr_int(d, "ignore_index", -1);
    vs_attrs(d, "reduction=-|none|sum|mean");
    d->n_out = nll ? 1 : (int)vs_int(d, 1, 2);
}

/* --- recurrence ------------------------------------------------------------------------------ */

static void draw_activations(struct draw *d, int gates, int n)
{
    struct odb_buf words = ODB_BUF_INIT;
    static const char *const plain[] = {"Sigmoid", "Tanh", "Softsign", "HardSigmoid", "Relu"};
    for (int i = 0; i < n; i++) { /* gates stay small */
        int64_t last = gates == 1 ? 2 : i % gates ? 4 : 3;
        odb_buf_printf(&words, "%s%s", i ? " " : "", plain[vs_int(d, 0, last)]);
    }
    vs_attr_strings(d, "activations", odb_buf_text(&words));
    odb_buf_dispose(&words);
}

static void draw_recurrent(struct draw *d)
{
    char kind = d->row->op[0];
    int gates = kind == 'L' ? 4 : kind == 'G' ? 3 : 1;
    int functions = kind == 'L' ? 3 : kind == 'G' ? 2 : 1;
    int64_t seq = vs_int(d, 1, 4), batch = vs_int(d, 1, 3), in = vs_int(d, 1, 3);
    int64_t h = vs_int(d, 1, 4);
    const char *direction = vs_word(d, "|forward|reverse|bidirectional");
    int64_t two = direction[0] == 'b' ? 2 : 1;
    if (*direction)
        vs_attr_string(d, "direction", direction);
    vs_attr_int(d, "hidden_size", h);
    vs_in(d, VS_DIMS(seq, batch, in));
    vs_in(d, VS_DIMS(two, gates * h, in));
    vs_in(d, VS_DIMS(two, gates * h, h));
    bool more = vs_chance(d, 50), lengths = more && vs_chance(d, 50);
    if (vs_chance(d, 60))
        vs_in(d, VS_DIMS(two, 2 * gates * h));
    else
        vs_in_none(d);
    if (lengths)
        vs_in_range(d, ODB_I32, VS_DIMS(batch), 1, (double)seq);
    else
        vs_in_none(d);
    if (more && vs_chance(d, 60))
        vs_in(d, VS_DIMS(two, batch, h));
    else
        vs_in_none(d);
    if (kind == 'L' && more) {
        if (vs_chance(d, 60))
            vs_in(d, VS_DIMS(two, batch, h));
        else
            vs_in_none(d);
        if (vs_chance(d, 40))
            vs_in(d, VS_DIMS(two, 3 * h));
    }
    while (!d->in[d->n_in - 1])
        d->n_in--;
    if (vs_chance(d, 40))
        draw_activations(d, functions, functions * (int)two);
    if (vs_chance(d, 20))
        vs_attr_float(d, "clip", 0.5);
    if (kind == 'L')
        vs_attrs(d, "input_forget=-|-|0|1");
    if (kind == 'G' && d->opset >= 3)
        vs_attrs(d, "linear_before_reset=-|0|1");
    if (d->opset < 7)
        vs_attr_int(d, "output_sequence", 1);
    d->n_out = kind == 'L' ? 3 : 2;
    d->no_out[0] = vs_chance(d, 15);
}

/* --- resizing and sampling ------------------------------------------------------------------- */

static void draw_resize(struct draw *d)
{
    bool upsample = strcmp(d->row->op, "Upsample") == 0, old = upsample || d->opset < 11;
    const char *mode = vs_word(d, old ? "nearest|linear" : "nearest|linear|cubic");
    bool cubic = mode[0] == 'c', linear = mode[0] == 'l',
         some = !old && d->opset >= 18 && vs_chance(d, 30);
    vs_attr_string(d, "mode", mode);
    struct dims dims = vs_dims(d, cubic || linear ? 4 : 1, 4, 5);
    int first = (cubic || linear) && !vs_chance(d, 10) ? 2 : 0;
    float scales[VS_RANK];
    int64_t sizes[VS_RANK], axes[VS_RANK];
    size_t n = 0;
    vs_in(d, dims);
    static const float some_scales[] = {0.5F, 2, 1.5F, 0.6F, 3, 1, 0.8F, 1.2345F};
    for (int i = 0; i < dims.rank; i++) {
        if (some && i < first)
            continue;
        scales[n] = i < first ? 1 : some_scales[vs_int(d, 0, 7)];
        if (upsample && scales[n] < 1)
            scales[n] = 2;
        if ((int64_t)((float)dims.d[i] * scales[n]) == dims.d[i]) /* theirs copies then */
            scales[n] = 1;
        sizes[n] = i < first ? dims.d[i] : vs_int(d, 1, 9);
        axes[n++] = vs_chance(d, 30) ? i - dims.rank : i;
    }
    if (old) {
        struct odb_tensor *t = NULL;
        if (upsample && d->opset < 9) {
            vs_attr_floats(d, "scales", n, scales);
            return;
        }
        if (odb_tensor_copy_of(&t, ODB_F32, 1, (int64_t[]){(int64_t)n}, scales, NULL) == ODB_OK)
            vs_take(d, t);
        return;
    }
    vs_attrs(d, "coordinate_transformation_mode=-|half_pixel|pytorch_half_pixel|align_corners|"
                "asymmetric|tf_crop_and_resize|half_pixel");
    const char *how = vs_drawn_text(d, "coordinate_transformation_mode", "");
    if (how[0] == 't') {
        struct odb_tensor *roi = vs_in_range(d, ODB_F32, VS_DIMS(2 * (int64_t)n), 0, 0.4);
        for (size_t i = n; i < 2 * n; i++)
            odb_store_f64(ODB_F32, roi->data, i, 0.5 + 0.5 * vs_real(d, 0, 1));
        for (size_t i = 0; i < n; i++)
            if (!some && (int)i < first) {
                odb_store_f64(ODB_F32, roi->data, i, 0);
                odb_store_f64(ODB_F32, roi->data, n + i, 1);
            }
        vs_attrs(d, "extrapolation_value=-|7.5f");
    } else if (d->opset >= 13) {
        vs_in_none(d);
    } else {
        vs_in_range(d, ODB_F32, VS_DIMS(0), 0, 0);
    }
    if (vs_chance(d, 50)) {
        struct odb_tensor *t = NULL;
        if (odb_tensor_copy_of(&t, ODB_F32, 1, (int64_t[]){(int64_t)n}, scales, NULL) == ODB_OK)
            vs_take(d, t);
    } else {
        if (d->opset >= 13)
            vs_in_none(d);
        else
            vs_in_range(d, ODB_F32, VS_DIMS(0), 0, 0);
        vs_in_ints(d, ODB_I64, n, sizes);
        if (d->opset >= 18)
            vs_attrs(d, "keep_aspect_ratio_policy=-|stretch|not_larger|not_smaller");
    }
    if (some)
        vs_attr_ints(d, "axes", n, axes);
    if (cubic)
        vs_attrs(d, "cubic_coeff_a=-|-0.5f exclude_outside=-|0|1");
    if (mode[0] == 'n')
        vs_attrs(d, "nearest_mode=-|round_prefer_floor|round_prefer_ceil|floor|ceil");
    else if (d->opset >= 18)
        vs_attrs(d, "antialias=-|-|0|1");
}

static void draw_grid_sample(struct draw *d)
{
    bool volume = d->opset >= 20 && vs_chance(d, 30);
    int64_t n = vs_int(d, 1, 2);
    if (volume) {
        vs_in(d, VS_DIMS(n, vs_int(d, 1, 2), vs_int(d, 1, 3), vs_int(d, 1, 4), vs_int(d, 1, 4)));
        vs_in_range(d, d->dtype, VS_DIMS(n, vs_int(d, 1, 3), 2, vs_int(d, 1, 3), 3), -1.5, 1.5);
    } else {
        vs_in(d, VS_DIMS(n, vs_int(d, 1, 2), vs_int(d, 1, 5), vs_int(d, 1, 5)));
        vs_in_range(d, d->dtype, VS_DIMS(n, vs_int(d, 1, 4), vs_int(d, 1, 4), 2), -1.5, 1.5);
    }
    vs_attrs(d, d->opset >= 20 ? (volume ? "mode=-|linear|nearest" : "mode=-|linear|nearest|cubic")
                               : "mode=-|bilinear|nearest|bicubic");
    vs_attrs(d, "padding_mode=-|zeros|border|reflection align_corners=-|0|1");
}

static void draw_affine_grid(struct draw *d)
{
    int64_t n = vs_int(d, 1, 2),
            size[5] = {n, 2, vs_int(d, 1, 4), vs_int(d, 1, 4), vs_int(d, 1, 4)};
    bool volume = vs_chance(d, 40);
    vs_in(d, VS_DIMS(n, volume ? 3 : 2, volume ? 4 : 3));
    vs_in_ints(d, ODB_I64, volume ? 5 : 4, size);
}

static void draw_roi(struct draw *d)
{
    bool align = strcmp(d->row->op, "RoiAlign") == 0;
    int64_t n = vs_int(d, 1, 3), images = vs_int(d, 1, 2);
    vs_in(d, VS_DIMS(images, vs_int(d, 1, 2), vs_int(d, 3, 8), vs_int(d, 3, 8)));
    d->extreme = false;
    struct odb_tensor *rois = vs_in_range(d, d->dtype, VS_DIMS(n, align ? 4 : 5), 0, 4);
    for (int64_t i = 0; i < n; i++) { /* x1, y1, x2, y2 */
        size_t at = (size_t)(i * (align ? 4 : 5) + !align);
        for (size_t k = 0; k < 2; k++)
            odb_store_f64(d->dtype, rois->data, at + 2 + k,
                          odb_tensor_f64(rois, at + k) + vs_real(d, 0, 5));
        if (!align)
            odb_store_f64(d->dtype, rois->data, at - 1, (double)vs_int(d, 0, images - 1));
    }
    vs_attrs(d, "spatial_scale=-|0.5f|1f");
    if (!align) {
        vs_attrs(d, "pooled_shape=2,2,|1,3,");
        return;
    }
    vs_in_range(d, ODB_I64, VS_DIMS(n), 0, (double)images - 1);
    vs_attrs(d, "mode=-|avg|max output_height=-|2|3 output_width=-|2|3 sampling_ratio=-|0|1|2|3");
    if (d->opset >= 16)
        vs_attrs(d, "coordinate_transformation_mode=-|half_pixel|output_half_pixel");
}

static void draw_nms(struct draw *d)
{
    int64_t n = vs_int(d, 1, 8), batch = vs_int(d, 1, 2), classes = vs_int(d, 1, 3);
    struct odb_tensor *boxes = vs_in_range(d, ODB_F32, VS_DIMS(batch, n, 4), 0, 2);
    vs_attrs(d, "center_point_box=-|0|1");
    (void)boxes;
    vs_in_range(d, ODB_F32, VS_DIMS(batch, classes, n), 0, 1);
    if (vs_chance(d, 90)) {
        vs_in_scalar(d, ODB_I64, (double)vs_int(d, 0, 6));
        if (vs_chance(d, 80)) {
            vs_in_scalar(d, ODB_F32, vs_real(d, 0, 1));
            if (vs_chance(d, 70))
                vs_in_scalar(d, ODB_F32, vs_real(d, 0, 0.6));
        }
    }
}

#define F3264 (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64) | ODB_BIT(ODB_F16))

const struct row vs_nn_rows[] = {
    {.op = "MaxPool", .draw = draw_pool},
    {.op = "AveragePool", .draw = draw_pool},
    {.op = "LpPool", .draw = draw_pool},
    {.op = "GlobalAveragePool", .draw = draw_global, .full = true},
    {.op = "GlobalMaxPool", .draw = draw_global, .full = true},
    {.op = "GlobalLpPool", .draw = draw_global, .full = true},
    {.op = "Conv", .draw = draw_conv, .tame = true},
    {.op = "ConvTranspose", .draw = draw_conv_transpose, .tame = true},
    {.op = "MaxUnpool", .draw = draw_unpool},
    {.op = "Col2Im", .draw = draw_col2im},
    {.op = "BatchNormalization", .draw = draw_batch_norm, .tol = 1e-4, .tame = true, .full = true},
    {.op = "InstanceNormalization",
     .draw = draw_instance_norm,
     .tame = true,
     .full = true,
     .tol = 1e-4},
    {.op = "LayerNormalization", .draw = draw_layer_norm, .from = 17, .tame = true, .tol = 1e-3},
    {.op = "GroupNormalization", .draw = draw_group_norm, .tame = true, .full = true, .tol = 1e-3},
    {.op = "LRN", .draw = draw_lrn, .tame = true, .full = true},
    {.op = "MeanVarianceNormalization",
     .draw = draw_mvn,
     .from = 9,
     .tame = true,
     .full = true,
     .tol = 1e-4},
    {.op = "LpNormalization", .draw = draw_lp_norm, .tame = true, .full = true},
    {.op = "Dropout", .draw = draw_dropout},
    {.op = "NegativeLogLikelihoodLoss", .draw = draw_loss, .full = true},
    {.op = "SoftmaxCrossEntropyLoss", .draw = draw_loss, .full = true},
    {.op = "LSTM", .draw = draw_recurrent, .tame = true, .tol = 1e-4},
    {.op = "GRU", .draw = draw_recurrent, .tame = true, .tol = 1e-4},
    {.op = "RNN", .draw = draw_recurrent, .tame = true, .tol = 1e-4},
    {.op = "Resize", .draw = draw_resize, .tol = 1e-4, .full = true},
    {.op = "Upsample", .draw = draw_resize, .from = 7, .to = 9, .tol = 1e-4},
    {.op = "GridSample", .draw = draw_grid_sample, .types = F3264, .tol = 1e-4, .tame = true},
    {.op = "AffineGrid", .draw = draw_affine_grid, .types = F3264, .tol = 1e-5},
    {.op = "RoiAlign", .draw = draw_roi, .types = F3264},
    {.op = "MaxRoiPool", .draw = draw_roi, .types = F3264},
    {.op = "NonMaxSuppression", .draw = draw_nms, .types = ODB_BIT(ODB_F32)},
    {NULL},
};
