/* SPDX-License-Identifier: MIT
 *
 * custom::deform_conv2d for onnxdbg's CPU reference: a convolution whose samples are moved by
 * learnt offsets (Dai et al., Deformable Convolutional Networks, 2017; Zhu et al., v2, 2019).
 *
 *     Y = deform_conv2d(X, offset, weight[, bias[, mask]])
 *
 * X       float or double, (N, C, H, W)
 * offset  (N, offset_groups * KH * KW * 2, OH, OW): for every tap how far it moves, y before x
 * weight  (M, C / groups, KH, KW)
 * bias    (M)
 * mask    (N, offset_groups * KH * KW, OH, OW): a factor for every tap
 *
 * Attributes stride, padding and dilation are pairs, y before x; groups and offset_groups numbers.
 * A model that carries only X and offset keeps its weights elsewhere: then the attribute weight is
 * looked for, a tensor.
 *
 * Samples between pixels are interpolated linearly, what lies outside is zero. Every output is one
 * sum, taken in double.
 */
#include <math.h>
#include <onnxdbg/kernel.h>

/* Everything that a call says, checked. */
struct deform {
    const struct onnxdbg_tensor *x, *offset, *weight, *bias, *mask;
    int64_t n, c, h, w, m, kh, kw, oh, ow;
    int64_t groups, offset_groups;
    int64_t stride[2], padding[2], dilation[2];
};

static const struct onnxdbg_tensor *deform_input(const struct onnxdbg_call *call, int i)
{
    return i < call->n_inputs ? call->inputs[i] : NULL;
}

static int deform_pair(const struct onnxdbg_call *call, const char *name, int64_t fallback,
                       int64_t least, int64_t *pair)
{
    size_t n;
    const int64_t *values = call->attr_ints(call, name, &n);
    if (n != 0 && n != 2)
        return call->fail(call, "%s has %zu numbers, and must have 2", name, n);
    for (int i = 0; i < 2; i++) {
        pair[i] = n ? values[i] : fallback;
        if (pair[i] < least || pair[i] > INT32_MAX)
            return call->fail(call, "%s is %lld", name, (long long)pair[i]);
    }
    return 0;
}

/* Dims of t must be these; for offset and mask that is where the output's size is checked. */
static int deform_check(const struct onnxdbg_call *call, const char *name,
                        const struct onnxdbg_tensor *t, int rank, const int64_t *dims)
{
    if (!t)
        return 0;
    if (t->rank != rank)
        return call->fail(call, "%s has rank %d, and must have %d", name, (int)t->rank, rank);
    for (int d = 0; d < rank; d++)
        if (t->dims[d] != dims[d])
            return call->fail(call, "dimension %d of %s is %lld, and must be %lld", d, name,
                              (long long)t->dims[d], (long long)dims[d]);
    return t->dtype == call->inputs[0]->dtype
               ? 0
               : call->fail(call, "%s is of another type than the input", name);
}

static int deform_read(const struct onnxdbg_call *call, struct deform *d)
{
    d->x = deform_input(call, 0);
    d->offset = deform_input(call, 1);
    d->weight = deform_input(call, 2);
    d->bias = deform_input(call, 3);
    d->mask = deform_input(call, 4);
    if (!d->weight)
        d->weight = call->attr_tensor(call, "weight");
    if (!d->weight)
        return call->unsupported(call, "the weights are neither an input nor an attribute");
    if (d->x->rank != 4 || d->weight->rank != 4)
        return call->fail(call, "input and weight must have rank 4");
    if (deform_pair(call, "stride", 1, 1, d->stride) ||
        deform_pair(call, "padding", 0, 0, d->padding) ||
        deform_pair(call, "dilation", 1, 1, d->dilation))
        return -1;
    d->groups = call->attr_int(call, "groups", 1);
    d->offset_groups = call->attr_int(call, "offset_groups", 1);
    d->n = d->x->dims[0], d->c = d->x->dims[1], d->h = d->x->dims[2], d->w = d->x->dims[3];
    d->m = d->weight->dims[0], d->kh = d->weight->dims[2], d->kw = d->weight->dims[3];
    if (d->groups < 1 || d->c % d->groups || d->m % d->groups || d->offset_groups < 1 ||
        d->c % d->offset_groups)
        return call->fail(call, "%lld channels and %lld outputs in %lld groups, %lld of offsets",
                          (long long)d->c, (long long)d->m, (long long)d->groups,
                          (long long)d->offset_groups);
    int64_t reach_h = d->h + 2 * d->padding[0] - d->dilation[0] * (d->kh - 1) - 1;
    int64_t reach_w = d->w + 2 * d->padding[1] - d->dilation[1] * (d->kw - 1) - 1;
    if (reach_h < 0 || reach_w < 0)
        return call->fail(call, "the kernel is larger than the padded input");
    d->oh = reach_h / d->stride[0] + 1;
    d->ow = reach_w / d->stride[1] + 1;
    int64_t taps = d->offset_groups * d->kh * d->kw;
    const int64_t weight[] = {d->m, d->c / d->groups, d->kh, d->kw};
    const int64_t offset[] = {d->n, taps * 2, d->oh, d->ow}, mask[] = {d->n, taps, d->oh, d->ow};
    if (deform_check(call, "weight", d->weight, 4, weight) ||
        deform_check(call, "offset", d->offset, 4, offset) ||
        deform_check(call, "bias", d->bias, 1, &d->m) ||
        deform_check(call, "mask", d->mask, 4, mask))
        return -1;
    return 0;
}

static int deform_shape(const struct onnxdbg_call *call)
{
    struct deform d;
    if (deform_read(call, &d))
        return -1;
    return call->output(call, 0, d.x->dtype, 4, (const int64_t[]){d.n, d.m, d.oh, d.ow});
}

static double deform_at(const struct onnxdbg_tensor *t, int64_t i)
{
    return t->dtype == ONNXDBG_DOUBLE ? ((const double *)t->data)[i] : ((const float *)t->data)[i];
}

/* The plane of X that begins at element plane, read between its pixels. */
static double deform_sample(const struct deform *d, int64_t plane, double y, double x)
{
    double fy = floor(y), fx = floor(x), sum = 0;
    if (!(y > -1 && y < (double)d->h && x > -1 && x < (double)d->w))
        return 0;
    for (int corner = 0; corner < 4; corner++) {
        int64_t py = (int64_t)fy + corner / 2, px = (int64_t)fx + corner % 2;
        double wy = corner / 2 ? y - fy : 1 - (y - fy), wx = corner % 2 ? x - fx : 1 - (x - fx);
        if (py >= 0 && py < d->h && px >= 0 && px < d->w)
            sum += wy * wx * deform_at(d->x, plane + py * d->w + px);
    }
    return sum;
}

/* Y[n, m, oy, ox] */
static double deform_one(const struct deform *d, int64_t n, int64_t m, int64_t oy, int64_t ox)
{
    int64_t in_group = d->c / d->groups, first = m / (d->m / d->groups) * in_group;
    int64_t size = d->oh * d->ow, at = oy * d->ow + ox, taps = d->kh * d->kw;
    double sum = d->bias ? deform_at(d->bias, m) : 0;
    for (int64_t c = 0; c < in_group; c++) {
        int64_t channel = first + c, group = channel / (d->c / d->offset_groups);
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t moved = (n * d->offset_groups + group) * taps + tap;
            double y = (double)(oy * d->stride[0] - d->padding[0] + tap / d->kw * d->dilation[0]);
            double x = (double)(ox * d->stride[1] - d->padding[1] + tap % d->kw * d->dilation[1]);
            y += deform_at(d->offset, moved * 2 * size + at);
            x += deform_at(d->offset, (moved * 2 + 1) * size + at);
            double v = deform_sample(d, (n * d->c + channel) * d->h * d->w, y, x);
            if (d->mask)
                v *= deform_at(d->mask, moved * size + at);
            sum += v * deform_at(d->weight, (m * in_group + c) * taps + tap);
        }
    }
    return sum;
}

static int deform_run(const struct onnxdbg_call *call)
{
    struct deform d;
    int64_t i = 0;
    if (deform_read(call, &d))
        return -1;
    if (!call->outputs[0])
        return 0;
    for (int64_t n = 0; n < d.n; n++)
        for (int64_t m = 0; m < d.m; m++)
            for (int64_t oy = 0; oy < d.oh; oy++)
                for (int64_t ox = 0; ox < d.ow; ox++, i++) {
                    double y = deform_one(&d, n, m, oy, ox);
                    if (call->outputs[0]->dtype == ONNXDBG_DOUBLE)
                        ((double *)call->outputs[0]->data)[i] = y;
                    else
                        ((float *)call->outputs[0]->data)[i] = (float)y;
                }
    return 0;
}

#define DEFORM_FLOATS (ONNXDBG_BIT(ONNXDBG_FLOAT) | ONNXDBG_BIT(ONNXDBG_DOUBLE))

static const struct onnxdbg_kernel deform_kernels[] = {{.domain = "custom",
                                                        .op_type = "deform_conv2d",
                                                        .since = 1,
                                                        .min_inputs = 2,
                                                        .max_inputs = 5,
                                                        .min_outputs = 1,
                                                        .max_outputs = 1,
                                                        .flags = ONNXDBG_REAL,
                                                        .types = {DEFORM_FLOATS},
                                                        .shape = deform_shape,
                                                        .run = deform_run}};

const struct onnxdbg_kernels *onnxdbg_kernels(void)
{
    static const struct onnxdbg_kernels all = {
        .abi = ONNXDBG_KERNEL_ABI,
        .kernel_size = sizeof(struct onnxdbg_kernel),
        .n_kernels = sizeof deform_kernels / sizeof *deform_kernels,
        .kernels = deform_kernels,
    };
    return &all;
}
