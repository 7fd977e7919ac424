/* SPDX-License-Identifier: MIT
 *
 * Signals: the discrete Fourier transform, its short-time form, windows, and the mel filter bank.
 *
 * The transform splits a length into its prime factors (Cooley and Tukey 1965), in double, with
 * each root of unity computed on its own, so the error grows with the logarithm of the length. A
 * length that is a large prime costs its square.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"
#include "kernels/core/workspace.h"

#define SIGNAL_GRAIN 4096 /* numbers per block of lines */

struct signal {
    size_t length;           /* of the transform */
    size_t given;            /* elements of a line that are there; the rest is zero */
    size_t kept;             /* elements of a result */
    size_t inner;            /* lines that lie between neighbours of a line */
    size_t parts, out_parts; /* reals per number: 1 or 2 */
    bool inverse, mirror;    /* mirror: one side of a spectrum is given */
    size_t frames, step;     /* STFT: lines per signal, and from one to the next; else 0 */
    size_t signal;           /* STFT: elements of a signal */
    const void *x, *window;  /* window: NULL: none */
    void *y;
    atomic_bool failed;
};

/* Least factor of n > 1. */
static size_t signal_factor(size_t n)
{
    if (n % 2 == 0)
        return 2;
    for (size_t p = 3; p * p <= n; p += 2)
        if (n % p == 0)
            return p;
    return n;
}

/* Where the first real of a line stands in x. */
static size_t signal_begin(const struct signal *s, size_t line)
{
    if (s->frames)
        return (line / s->frames * s->signal + line % s->frames * s->step) * s->parts;
    return (line / s->inner * s->given * s->inner + line % s->inner) * s->parts;
}

#define ODB_BODY "kernels/signal/signal.real.h"
#include "kernels/core/real.h"

/* lines: how many. Given elements beyond the length are left out. */
static enum odb_status signal_transform(struct odb_kern *k, struct signal *s, size_t lines)
{
    s->x = k->in[0]->data;
    s->y = k->out[0]->data;
    if (k->out[0]->count == 0)
        return ODB_OK;
    atomic_init(&s->failed, false);
    odb_parallel_for(lines, SIGNAL_GRAIN / s->length + 1,
                     ODB_REAL_FN(k, k->in[0]->dtype, signal_lines), s);
    if (atomic_load(&s->failed))
        return odb_kern_no_memory(k);
    return ODB_OK;
}

/* --- DFT -------------------------------------------------------------------------------------- */

/* A length, step or size: one number of an input, `fallback` where it is omitted. */
static enum odb_status signal_scalar(struct odb_kern *k, int input, const char *what, int64_t least,
                                     int64_t fallback, int64_t *value)
{
    size_t n;
    *value = fallback;
    ODB_TRY(odb_kern_values(k, input, value, 1, &n));
    if (odb_kern_in(k, input) && n != 1)
        return ODB_KERN_FAIL(k, "%s must be one number", what);
    if (*value < least || *value > INT32_MAX)
        return ODB_KERN_FAIL(k, "%s is %lld", what, (long long)*value);
    return ODB_OK;
}

static enum odb_status signal_dft_axis(struct odb_kern *k, int *axis)
{
    const struct odb_tensor *x = k->in[0];
    int64_t given = odb_kern_int(k, "axis", 1);
    size_t n = 1;
    if (x->rank < 2 || (x->dims[x->rank - 1] != 1 && x->dims[x->rank - 1] != 2))
        return ODB_KERN_FAIL(k, "the input's last dimension must be 1 (real) or 2 (complex)");
    if (k->op->since >= 20) {
        given = -2;
        ODB_TRY(odb_kern_values(k, 2, &given, 1, &n));
    }
    ODB_TRY(odb_kern_axis(k, given, x->rank, false, axis));
    if (*axis == x->rank - 1)
        return ODB_KERN_FAIL(k, "axis %lld is the one of real and imaginary parts",
                             (long long)given);
    return ODB_OK;
}

static enum odb_status signal_dft_read(struct odb_kern *k, struct signal *s, int *axis)
{
    const struct odb_tensor *x = k->in[0];
    bool onesided = odb_kern_int(k, "onesided", 0) != 0;
    int64_t length;
    ODB_TRY(signal_dft_axis(k, axis));
    s->inverse = odb_kern_int(k, "inverse", 0) != 0;
    s->mirror = s->inverse && onesided;
    s->parts = (size_t)x->dims[x->rank - 1];
    s->out_parts = s->mirror ? 1 : 2;
    if (onesided && s->parts != (s->inverse ? 2 : 1))
        return ODB_KERN_FAIL(k, "a onesided %s takes %s input",
                             s->inverse ? "inverse" : "transform", s->inverse ? "complex" : "real");
    int64_t own = s->mirror ? 2 * (x->dims[*axis] - 1) : x->dims[*axis];
    ODB_TRY(signal_scalar(k, 1, "dft_length", 1, own, &length));
    s->length = (size_t)length;
    s->given = (size_t)x->dims[*axis];
    s->kept = onesided && !s->inverse ? s->length / 2 + 1 : s->length;
    s->inner = odb_dims_product(x->dims, *axis + 1, x->rank - 1);
    return ODB_OK;
}

static enum odb_status signal_dft_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct signal s = {0};
    int64_t dims[ODB_MAX_RANK];
    int axis;
    ODB_TRY(signal_dft_read(k, &s, &axis));
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] = (int64_t)s.kept;
    dims[x->rank - 1] = (int64_t)s.out_parts;
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

static enum odb_status signal_dft_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct signal s = {0};
    int axis;
    ODB_TRY(signal_dft_read(k, &s, &axis));
    return signal_transform(k, &s, odb_dims_product(x->dims, 0, axis) * s.inner);
}

/* --- STFT ------------------------------------------------------------------------------------- */

static enum odb_status signal_stft_read(struct odb_kern *k, struct signal *s)
{
    const struct odb_tensor *x = k->in[0], *window = odb_kern_in(k, 2);
    bool onesided = odb_kern_int(k, "onesided", 1) != 0;
    int64_t step, length;
    /* A signal of rank 2 is real: the first exports left the last dimension out. */
    if (x->rank != 2 && (x->rank != 3 || (x->dims[2] != 1 && x->dims[2] != 2)))
        return ODB_KERN_FAIL(k, "the signal must have the shape (batch, length, 1 or 2)");
    s->parts = x->rank == 3 ? (size_t)x->dims[2] : 1;
    s->out_parts = 2;
    s->inner = 1;
    s->signal = (size_t)x->dims[1];
    if (onesided && s->parts == 2)
        return ODB_KERN_FAIL(k, "a onesided transform takes real input");
    if (window && window->rank != 1)
        return ODB_KERN_FAIL(k, "the window must have one dimension, not %d", window->rank);
    ODB_TRY(signal_scalar(k, 1, "frame_step", 1, 0, &step));
    ODB_TRY(signal_scalar(k, 3, "frame_length", 1, window ? window->dims[0] : x->dims[1], &length));
    if (window && window->dims[0] != length)
        return ODB_KERN_UNSUPPORTED(k, "a window of %lld for frames of %lld",
                                    (long long)window->dims[0], (long long)length);
    if (length > x->dims[1])
        return ODB_KERN_FAIL(k, "frames of %lld in a signal of %lld", (long long)length,
                             (long long)x->dims[1]);
    s->step = (size_t)step;
    s->length = s->given = (size_t)length;
    s->kept = onesided ? s->length / 2 + 1 : s->length;
    s->frames = 1 + (s->signal - s->length) / s->step;
    return ODB_OK;
}

static enum odb_status signal_stft_infer(struct odb_kern *k)
{
    struct signal s = {0};
    ODB_TRY(signal_stft_read(k, &s));
    int64_t dims[] = {k->in[0]->dims[0], (int64_t)s.frames, (int64_t)s.kept, 2};
    return odb_kern_outline(k, 0, k->in[0]->dtype, 4, dims);
}

static enum odb_status signal_stft_run(struct odb_kern *k)
{
    const struct odb_tensor *window = odb_kern_in(k, 2);
    struct signal s = {.window = window ? window->data : NULL};
    ODB_TRY(signal_stft_read(k, &s));
    return signal_transform(k, &s, (size_t)k->in[0]->dims[0] * s.frames);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* The attribute output_datatype; in double mode any float is a double. */
static enum odb_status signal_type(struct odb_kern *k, enum odb_dtype *dtype)
{
    int64_t number = odb_kern_int(k, "output_datatype", ODB_F32);
    *dtype = ODB_F32;
    if (number <= 0 || number >= ODB_DTYPE_COUNT || !(ODB_T_NUMBER >> number & 1))
        return ODB_KERN_FAIL(k, "output_datatype %lld is no type of numbers", (long long)number);
    bool carried = k->carry_f64 && odb_dtype_is_float((enum odb_dtype)number);
    *dtype = carried ? ODB_F64 : (enum odb_dtype)number;
    return ODB_OK;
}

static enum odb_status signal_window_infer(struct odb_kern *k)
{
    int64_t size;
    enum odb_dtype dtype;
    ODB_TRY(signal_type(k, &dtype));
    ODB_TRY(signal_scalar(k, 0, "the window's size", 0, 0, &size));
    return odb_kern_outline(k, 0, dtype, 1, &size);
}

/* w[n] = a + b cos(2 pi n / N) + c cos(4 pi n / N) */
static enum odb_status signal_window(struct odb_kern *k, double a, double b, double c)
{
    struct odb_tensor *y = k->out[0];
    double turn = (double)y->count - (odb_kern_int(k, "periodic", 1) ? 0 : 1);
    for (size_t n = 0; n < y->count; n++) {
        double angle = 2 * M_PI * (double)n / turn;
        odb_store_f64(y->dtype, y->data, n, a + b * cos(angle) + c * cos(2 * angle));
    }
    return ODB_OK;
}

static enum odb_status signal_hann_run(struct odb_kern *k)
{
    return signal_window(k, 0.5, -0.5, 0);
}

static enum odb_status signal_hamming_run(struct odb_kern *k)
{
    return signal_window(k, 25.0 / 46, -21.0 / 46, 0);
}

static enum odb_status signal_blackman_run(struct odb_kern *k)
{
    return signal_window(k, 0.42, -0.5, 0.08);
}

/* --- MelWeightMatrix -------------------------------------------------------------------------- */

static double signal_to_mel(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

static double signal_from_mel(double mel)
{
    return 700 * (pow(10, mel / 2595) - 1);
}

static enum odb_status signal_mel_infer(struct odb_kern *k)
{
    int64_t bins, length;
    enum odb_dtype dtype;
    ODB_TRY(signal_type(k, &dtype));
    ODB_TRY(signal_scalar(k, 0, "num_mel_bins", 0, 0, &bins));
    ODB_TRY(signal_scalar(k, 1, "dft_length", 1, 0, &length));
    return odb_kern_outline(k, 0, dtype, 2, (int64_t[]){length / 2 + 1, bins});
}

/* One triangle: column `bin` rises from low to centre and falls to high. */
static void signal_mel_triangle(struct odb_tensor *y, int64_t bin, const int64_t *edge)
{
    int64_t low = edge[0], centre = edge[1], high = edge[2], bins = y->dims[1];
    for (int64_t i = low; i < centre; i++)
        odb_store_f64(y->dtype, y->data, (size_t)(i * bins + bin),
                      (double)(i - low) / (double)(centre - low));
    odb_store_f64(y->dtype, y->data, (size_t)(centre * bins + bin), 1);
    for (int64_t i = centre + 1; i < high; i++)
        odb_store_f64(y->dtype, y->data, (size_t)(i * bins + bin),
                      (double)(high - i) / (double)(high - centre));
}

static enum odb_status signal_mel_run(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    int64_t length, rate, bins = y->dims[1];
    ODB_TRY(signal_scalar(k, 1, "dft_length", 1, 0, &length));
    ODB_TRY(signal_scalar(k, 2, "sample_rate", 1, 0, &rate));
    if (k->in[3]->count != 1 || k->in[4]->count != 1)
        return ODB_KERN_FAIL(k, "the edges must be one number each");
    double low = signal_to_mel(odb_tensor_f64(k->in[3], 0));
    double high = signal_to_mel(odb_tensor_f64(k->in[4], 0));
    double step = (high - low) / (double)(bins + 2);
    memset(y->data, 0, y->bytes);
    for (int64_t bin = 0; bin < bins; bin++) {
        int64_t edge[3];
        for (int e = 0; e < 3; e++) {
            double hertz = signal_from_mel(low + (double)(bin + e) * step);
            double at = floor((double)(length + 1) * hertz / (double)rate);
            if (!(at >= 0 && at <= (double)(y->dims[0] - (e < 2))))
                return ODB_KERN_FAIL(k,
                                     "band %lld reaches %g Hz, which a transform of %lld at %lld "
                                     "Hz does not have",
                                     (long long)bin, hertz, (long long)length, (long long)rate);
            edge[e] = (int64_t)at;
        }
        signal_mel_triangle(y, bin, edge);
    }
    return ODB_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Where a sum of a whole line is nearly zero, the line's own rounding is left. */
#define SIGNAL_INT(name_, def_) ODB_OPTIONAL_ATTR(name_, INT, def_)
static const struct odb_attr_spec signal_dft_17[] = {
    SIGNAL_INT("axis", "1"), SIGNAL_INT("inverse", "0"), SIGNAL_INT("onesided", "0"), {NULL}};
static const struct odb_attr_spec signal_dft_20[] = {
    SIGNAL_INT("inverse", "0"), SIGNAL_INT("onesided", "0"), {NULL}};
static const struct odb_attr_spec signal_stft_17[] = {SIGNAL_INT("onesided", "1"), {NULL}};
static const struct odb_attr_spec signal_window_17[] = {
    SIGNAL_INT("output_datatype", "1"), SIGNAL_INT("periodic", "1"), {NULL}};
static const struct odb_attr_spec signal_mel_17[] = {SIGNAL_INT("output_datatype", "1"), {NULL}};

#define SIGNAL_WINDOW(op, fn, ...)                                                                 \
    ODB_ONNX(op, 17, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, signal_window_17,              \
             signal_window_infer, fn, ODB_T_INDEX, __VA_ARGS__)
#define SIGNAL_TRANSFORM(op, first, least, most, list, fn, ...)                                    \
    {                                                                                              \
        .domain = "", .name = op, .since = first, .min_in = least, .max_in = most, .min_out = 1,   \
        .max_out = 1, .flags = ODB_OP_REAL, .attrs = list, .infer = fn##_infer, .run = fn##_run,   \
        .tolerance = "allclose:1e-3,1e-6", .types[0] = __VA_ARGS__                                 \
    }

const struct odb_op odb_ops_signal[] = {
    SIGNAL_TRANSFORM("DFT", 17, 1, 2, signal_dft_17, signal_dft, ODB_T_FLOAT, ODB_T_INDEX,
                     ODB_NAMES("input,dft_length", "output"), ODB_HALVES(17, 17)),
    SIGNAL_TRANSFORM("DFT", 20, 1, 3, signal_dft_20, signal_dft, ODB_T_FLOAT, ODB_T_INDEX,
                     ODB_BIT(ODB_I64), ODB_NAMES("input,dft_length,axis", "output")),
    SIGNAL_TRANSFORM("STFT", 17, 2, 4, signal_stft_17, signal_stft, ODB_T_FLOAT, ODB_T_INDEX,
                     ODB_AS(0), ODB_AS(1),
                     ODB_NAMES("signal,frame_step,window,frame_length", "output"),
                     ODB_HALVES(17, 17)),
    SIGNAL_WINDOW("HannWindow", signal_hann_run, ODB_NAMES("size", "output")),
    SIGNAL_WINDOW("HammingWindow", signal_hamming_run, ODB_NAMES("size", "output")),
    SIGNAL_WINDOW("BlackmanWindow", signal_blackman_run, ODB_NAMES("size", "output")),
    ODB_ONNX("MelWeightMatrix", 17, ODB_ARITY(5, 5), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_BOUNDARY,
             signal_mel_17, signal_mel_infer, signal_mel_run, ODB_T_INDEX, ODB_AS(0), ODB_AS(0),
             ODB_T_FLOAT,
             ODB_NAMES("num_mel_bins,dft_length,sample_rate,lower_edge_hertz,upper_edge_hertz",
                       "output")),
    {.name = NULL},
};
