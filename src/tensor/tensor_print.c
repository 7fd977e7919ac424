/* SPDX-License-Identifier: MIT
 *
 * Two walks over the elements that will be shown: the first measures them, so that all columns get
 * one width and all numbers one notation, the second writes them. Lines break where NumPy breaks
 * them.
 */
#include "tensor/tensor_print.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* A float in all its digits: 310 before the point, and a precision behind it. */
enum { PRINT_NUMBER = 400, PRINT_MAX_PRECISION = 60, PRINT_MAX_SHOWN = 1 << 16 };

/* How the numbers of one component (real, imaginary) are written. */
struct print_float {
    bool scientific, plus;       /* plus: positive numbers show their sign */
    int precision;               /* digits behind the point: of all, or at most */
    int left, right;             /* widths before and behind the point */
    int exponent;                /* digits of the exponent */
    bool any, odd, negative_inf; /* seen: finite numbers, others, -Inf */
    double largest, smallest;    /* magnitudes, 0 not counted */
};

struct print_job {
    struct odb_buf *buf;
    const struct odb_tensor *t;
    struct odb_print_opts opts;
    bool summary;
    void (*visit)(struct print_job *job, size_t i);
    struct print_float part[2]; /* [1]: imaginary */
    int width;                  /* of integers and bools */
    struct odb_buf word;        /* the element being written */
};

/* --- digits ----------------------------------------------------------------------------------- */

static bool print_same(enum odb_dtype dtype, double a, double b)
{
    uint64_t x = 0, y = 0;
    odb_store_f64(dtype, &x, 0, a);
    odb_store_f64(dtype, &y, 0, b);
    return x == y;
}

/* Significant digits that v needs to be itself in its type. */
static int print_digits(enum odb_dtype dtype, double v)
{
    char text[40];
    int n = 1;
    for (; n < 17; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, v);
        if (print_same(dtype, strtod(text, NULL), v))
            break;
    }
    return n;
}

/* Power of ten of the first of n digits. */
static int print_exponent(double v, int n)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", n - 1, v);
    return (int)strtol(strchr(text, 'e') + 1, NULL, 10);
}

static void print_trim_zeros(char *text)
{
    size_t len = strlen(text);
    while (len && text[len - 1] == '0')
        len--;
    text[len] = 0;
}

/* "12.5", "3.": as many digits as v needs, at most precision behind the point. */
static void print_positional(char *out, enum odb_dtype dtype, double v, int precision, bool plus)
{
    int behind = 0;
    if (v != 0) {
        int digits = print_digits(dtype, v);
        behind = ODB_MAX(0, digits - 1 - print_exponent(v, digits));
    }
    snprintf(out, PRINT_NUMBER, plus ? "%+#.*f" : "%#.*f", ODB_MIN(behind, precision), v);
    print_trim_zeros(out);
}

/* Mantissa "1.5" and exponent; zeros at the end are gone. */
static int print_scientific(char *out, enum odb_dtype dtype, double v, int precision, bool plus)
{
    int behind = v == 0 ? 0 : print_digits(dtype, v) - 1;
    snprintf(out, PRINT_NUMBER, plus ? "%+#.*e" : "%#.*e", ODB_MIN(behind, precision), v);
    char *e = strchr(out, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10);
    *e = 0;
    print_trim_zeros(out);
    return exponent;
}

/* --- columns of floats ------------------------------------------------------------------------ */

static void print_float_see(struct print_float *f, double v, char notation)
{
    double a = fabs(v);
    if (!isfinite(v)) {
        f->odd = true;
        f->negative_inf |= v == -INFINITY;
        return;
    }
    f->any = true;
    if (a == 0)
        return;
    f->largest = ODB_MAX(f->largest, a);
    f->smallest = f->smallest > 0 ? ODB_MIN(f->smallest, a) : a;
    f->scientific = notation            ? notation == 'e'
                    : f->largest >= 1e8 ? true
                                        : f->smallest < 1e-4 || f->largest / f->smallest > 1000;
}

static void print_float_measure(struct print_float *f, enum odb_dtype dtype, double v,
                                int precision)
{
    char text[PRINT_NUMBER], exponent[16];
    if (!isfinite(v))
        return;
    if (f->scientific) {
        int e = print_scientific(text, dtype, v, precision, f->plus);
        f->exponent = ODB_MAX(f->exponent, snprintf(exponent, sizeof exponent, "%02d", abs(e)));
    } else {
        print_positional(text, dtype, v, precision, f->plus);
    }
    int left = (int)(strchr(text, '.') - text), right = (int)strlen(text) - left - 1;
    f->left = ODB_MAX(f->left, left);
    f->precision = ODB_MAX(f->precision, right);
}

/* After the last element was measured. */
static void print_float_ready(struct print_float *f)
{
    f->right = f->precision + (f->scientific ? f->exponent + 2 : 0);
    if (f->odd) {
        int inf = f->plus || f->negative_inf ? 4 : 3;
        f->left = ODB_MAX(f->left, ODB_MAX(3, inf) - (f->right + 1));
    }
}

static void print_float_put(struct odb_buf *buf, const struct print_float *f, enum odb_dtype dtype,
                            double v)
{
    char text[PRINT_NUMBER];
    if (!isfinite(v)) {
        snprintf(text, sizeof text, "%s%s",
                 v < 0     ? "-"
                 : f->plus ? "+"
                           : "",
                 v != v ? "nan" : "inf");
        odb_buf_printf(buf, "%*s", f->left + f->right + 1, text);
        return;
    }
    if (f->scientific) { /* all with the same number of digits, exact ones */
        snprintf(text, sizeof text, f->plus ? "%+#.*e" : "%#.*e", f->precision, v);
        char *e = strchr(text, 'e');
        int exponent = (int)strtol(e + 1, NULL, 10), left = (int)(strchr(text, '.') - text);
        odb_buf_printf(buf, "%*s%.*se%c%0*d", ODB_MAX(0, f->left - left), "", (int)(e - text), text,
                       exponent < 0 ? '-' : '+', f->exponent, abs(exponent));
        return;
    }
    print_positional(text, dtype, v, f->precision, f->plus);
    int left = (int)(strchr(text, '.') - text), right = (int)strlen(text) - left - 1;
    odb_buf_printf(buf, "%*s%s%*s", ODB_MAX(0, f->left - left), "", text,
                   ODB_MAX(0, f->precision - right), "");
}

/* --- elements --------------------------------------------------------------------------------- */

static bool print_is_complex(enum odb_dtype dtype)
{
    return dtype == ODB_C64 || dtype == ODB_C128;
}

static bool print_is_floating(enum odb_dtype dtype)
{
    return odb_dtype_is_float(dtype) || print_is_complex(dtype);
}

/* Real or imaginary part. */
static double print_load(const struct odb_tensor *t, size_t i, int part)
{
    size_t at = print_is_complex(t->dtype) ? 2 * i + (size_t)part : i;
    return odb_load_f64(odb_dtype_part(t->dtype), t->data, at);
}

static void print_integer(struct odb_buf *buf, const struct odb_tensor *t, size_t i, int width)
{
    long long v = (long long)odb_tensor_i64(t, i);
    if (t->dtype == ODB_BOOL)
        odb_buf_printf(buf, "%*s", width, v ? "True" : "False");
    else
        odb_buf_printf(buf, t->dtype == ODB_U64 ? "%*llu" : "%*lld", width, v);
}

/* Bytes of the UTF-8 character at p that may be shown as it is; 0: none. */
static size_t print_character(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *next = p;
    uint32_t c;
    return odb_utf8_next(&next, end, &c) && !odb_utf8_acts(c) ? (size_t)(next - p) : 0;
}

static bool print_is_bits(const struct print_job *job)
{
    return job->opts.notation == 'x' && !print_is_complex(job->t->dtype) &&
           job->t->dtype != ODB_STRING;
}

/* An element's bits; narrow ones are packed, low bits first. */
static void print_bits(struct odb_buf *buf, const struct odb_tensor *t, size_t i)
{
    unsigned bits = odb_dtype_info(t->dtype)->bits;
    const unsigned char *data = t->data;
    uint64_t raw = 0;
    if (bits >= 8)
        memcpy(&raw, data + i * (bits / 8), bits / 8);
    else
        raw = (uint64_t)data[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
    odb_buf_printf(buf, "0x%0*llx", (int)(bits + 3) / 4, (unsigned long long)raw);
}

static void print_string(struct odb_buf *buf, const struct odb_str *s)
{
    static const char escapes[] = "\nn\tt\rr\\\\";
    bool single = s->len && memchr(s->data, '\'', s->len);
    char quote = single && !memchr(s->data, '"', s->len) ? '"' : '\'';
    const unsigned char *p = (const unsigned char *)s->data, *end = s->len ? p + s->len : p;
    odb_buf_putc(buf, quote);
    for (size_t n; p < end; p += n ? n : 1) {
        unsigned char c = *p;
        n = print_character(p, end);
        const char *escape = escapes;
        while (*escape && *escape != (char)c)
            escape += 2;
        if (c && *escape)
            odb_buf_printf(buf, "\\%c", escape[1]);
        else if (c == (unsigned char)quote)
            odb_buf_printf(buf, "\\%c", quote);
        else if (n)
            odb_buf_add(buf, (const char *)p, n);
        else
            odb_buf_printf(buf, "\\x%02x", c);
    }
    odb_buf_putc(buf, quote);
}

void odb_print_number(struct odb_buf *buf, enum odb_dtype dtype, double v)
{
    char text[PRINT_NUMBER];
    double a = fabs(v);
    if (!isfinite(v)) {
        odb_buf_puts(buf, v != v ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    if (a != 0 && (a < 1e-4 || a >= 1e16)) {
        int exponent = print_scientific(text, dtype, v, PRINT_MAX_PRECISION, false);
        size_t len = strlen(text);
        text[len - (text[len - 1] == '.')] = 0;
        odb_buf_printf(buf, "%se%c%02d", text, exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (a >= 1) { /* zeros stand in for the digits before the point that it does not need */
        snprintf(text, sizeof text, "%.*e", print_digits(dtype, v) - 1, v);
        v = strtod(text, NULL);
        dtype = ODB_F64;
    }
    print_positional(text, dtype, v, PRINT_MAX_PRECISION, false);
    odb_buf_printf(buf, "%s%s", text, text[strlen(text) - 1] == '.' ? "0" : "");
}

void odb_print_element(struct odb_buf *buf, const struct odb_tensor *t, size_t i)
{
    if (t->dtype == ODB_STRING) {
        print_string(buf, (const struct odb_str *)t->data + i);
    } else if (print_is_complex(t->dtype)) {
        double imaginary = print_load(t, i, 1);
        odb_print_number(buf, odb_dtype_part(t->dtype), print_load(t, i, 0));
        odb_buf_puts(buf, signbit(imaginary) ? "" : "+");
        odb_print_number(buf, odb_dtype_part(t->dtype), imaginary);
        odb_buf_putc(buf, 'j');
    } else if (odb_dtype_is_float(t->dtype)) {
        odb_print_number(buf, t->dtype, print_load(t, i, 0));
    } else {
        print_integer(buf, t, i, 0);
    }
}

/* --- walks ------------------------------------------------------------------------------------ */

static void print_see(struct print_job *job, size_t i)
{
    for (int part = 0; part < (print_is_complex(job->t->dtype) ? 2 : 1); part++)
        print_float_see(&job->part[part], print_load(job->t, i, part), job->opts.notation);
}

static void print_measure(struct print_job *job, size_t i)
{
    if (!print_is_floating(job->t->dtype)) {
        odb_buf_clear(&job->word);
        print_integer(&job->word, job->t, i, 0);
        job->width = ODB_MAX(job->width, (int)job->word.len);
        return;
    }
    for (int part = 0; part < (print_is_complex(job->t->dtype) ? 2 : 1); part++)
        print_float_measure(&job->part[part], odb_dtype_part(job->t->dtype),
                            print_load(job->t, i, part), job->opts.precision);
}

/* The element into job->word. */
static void print_word(struct print_job *job, size_t i)
{
    const struct odb_tensor *t = job->t;
    odb_buf_clear(&job->word);
    if (print_is_bits(job)) {
        print_bits(&job->word, t, i);
    } else if (t->dtype == ODB_STRING) {
        print_string(&job->word, (const struct odb_str *)t->data + i);
    } else if (!print_is_floating(t->dtype)) {
        print_integer(&job->word, t, i, job->width);
    } else {
        enum odb_dtype type = odb_dtype_part(t->dtype);
        print_float_put(&job->word, &job->part[0], type, print_load(t, i, 0));
        if (!print_is_complex(t->dtype))
            return;
        print_float_put(&job->word, &job->part[1], type, print_load(t, i, 1));
        size_t end = job->word.len; /* the j stands before the padding */
        while (end && job->word.data[end - 1] == ' ')
            end--;
        odb_buf_putc(&job->word, ' ');
        memmove(job->word.data + end + 1, job->word.data + end, job->word.len - end - 1);
        job->word.data[end] = 'j';
    }
}

static size_t print_stride(const struct odb_tensor *t, int axis)
{
    size_t stride = 1;
    for (int d = axis + 1; d < t->rank; d++)
        stride *= (size_t)t->dims[d];
    return stride;
}

/* Position k of a dimension, when some are left out in the middle; ODB_NOWHERE stands for these. */
static size_t print_shown(const struct print_job *job, int axis, size_t *places)
{
    size_t n = (size_t)job->t->dims[axis], edge = job->opts.edge_items, shown = 0;
    bool cut = job->summary && n > 2 * edge;
    for (size_t k = 0; k < n; k++) {
        if (cut && k == edge) {
            places[shown++] = SIZE_MAX;
            k = n - edge;
        }
        if (k < n)
            places[shown++] = k;
    }
    return shown;
}

static size_t *print_places(const struct print_job *job, int axis, size_t *n)
{
    size_t dim = (size_t)job->t->dims[axis];
    size_t most = job->summary ? ODB_MIN(dim, 2 * job->opts.edge_items) + 2 : dim + 1;
    size_t *places = odb_new_n(size_t, most);
    *n = print_shown(job, axis, places);
    return places;
}

static void print_visit(struct print_job *job, int axis, size_t first)
{
    if (axis == job->t->rank) {
        job->visit(job, first);
        return;
    }
    size_t n, stride = print_stride(job->t, axis), *places = print_places(job, axis, &n);
    for (size_t k = 0; k < n; k++)
        if (places[k] != SIZE_MAX)
            print_visit(job, axis + 1, first + places[k] * stride);
    free(places);
}

static void print_trim_spaces(struct odb_buf *buf)
{
    while (buf->len && buf->data[buf->len - 1] == ' ')
        buf->data[--buf->len] = 0;
}

/* Characters, not bytes. */
static int print_columns(const struct odb_buf *word)
{
    int n = 0;
    for (size_t i = 0; i < word->len; i++)
        n += !odb_utf8_inside(word->data[i]);
    return n;
}

static void print_row(struct print_job *job, size_t first, const size_t *places, size_t n,
                      int indent, int width)
{
    int column = indent;
    for (size_t k = 0; k < n; k++) {
        if (places[k] == SIZE_MAX) {
            odb_buf_clear(&job->word);
            odb_buf_puts(&job->word, "...");
        } else {
            print_word(job, first + places[k]);
        }
        int len = print_columns(&job->word);
        if (column > indent && column + len > width) {
            print_trim_spaces(job->buf);
            odb_buf_printf(job->buf, "\n%*s", indent, "");
            column = indent;
        }
        odb_buf_add(job->buf, job->word.data, job->word.len);
        if (k + 1 < n)
            odb_buf_putc(job->buf, ' ');
        column += len + 1;
    }
}

static void print_nested(struct print_job *job, int axis, size_t first, int indent, int width)
{
    size_t n, *places = print_places(job, axis, &n), stride = print_stride(job->t, axis);
    int left = job->t->rank - axis;
    odb_buf_putc(job->buf, '[');
    if (left == 1)
        print_row(job, first, places, n, indent, width - 1);
    for (size_t k = 0; left > 1 && k < n; k++) {
        if (k)
            odb_buf_printf(job->buf, "%*s", indent, "");
        if (places[k] == SIZE_MAX)
            odb_buf_puts(job->buf, "...");
        else
            print_nested(job, axis + 1, first + places[k] * stride, indent + 1, width - 1);
        for (int line = 1; line < left && k + 1 < n; line++)
            odb_buf_putc(job->buf, '\n');
    }
    odb_buf_putc(job->buf, ']');
    free(places);
}

/* Fewer at the edges when that many dimensions would still show too much. */
static void print_limit_edges(struct print_job *job)
{
    for (;; job->opts.edge_items--) {
        double shown = 1;
        for (int d = 0; d < job->t->rank; d++)
            shown *= (double)ODB_MIN((size_t)job->t->dims[d], 2 * job->opts.edge_items);
        if (shown <= PRINT_MAX_SHOWN || job->opts.edge_items <= 1)
            return;
    }
}

static void print_values(struct print_job *job)
{
    const struct odb_tensor *t = job->t;
    if (job->summary)
        print_limit_edges(job);
    if (print_is_floating(t->dtype)) {
        job->part[1].plus = true;
        job->visit = print_see;
        print_visit(job, 0, 0);
    }
    if (t->dtype != ODB_STRING) {
        job->visit = print_measure;
        print_visit(job, 0, 0);
    }
    if (t->dtype == ODB_BOOL)
        job->width = 5;
    print_float_ready(&job->part[0]);
    print_float_ready(&job->part[1]);
    if (t->rank) {
        print_nested(job, 0, 0, 1, job->opts.width);
    } else {
        print_word(job, 0);
        odb_buf_add(job->buf, job->word.data, job->word.len);
    }
}

static void print_items(struct odb_buf *buf, const struct odb_tensor *t,
                        const struct odb_print_opts *opts)
{
    char shape[256];
    odb_buf_puts(buf, odb_shape_text(t, shape, sizeof shape));
    for (size_t i = 0; i < t->n_items; i++) {
        const struct odb_tensor *item = t->items[i];
        odb_buf_printf(buf, "\nitem %zu: ", i);
        if (!item) {
            odb_buf_puts(buf, "none");
            continue;
        }
        if (item->kind == ODB_TENSOR)
            odb_buf_printf(buf, "%s %s\n", odb_dtype_info(item->dtype)->name,
                           odb_shape_text(item, shape, sizeof shape));
        odb_print_tensor(buf, item, opts);
    }
}

void odb_print_tensor(struct odb_buf *buf, const struct odb_tensor *t,
                      const struct odb_print_opts *opts)
{
    if (t->kind != ODB_TENSOR) {
        print_items(buf, t, opts);
    } else if (!t->data) {
        odb_buf_puts(buf, "no values");
    } else if (t->count == 0) {
        odb_buf_puts(buf, "[]");
    } else if (t->rank == 0 && !(opts && opts->notation)) {
        odb_print_element(buf, t, 0);
    } else {
        struct print_job job = {
            .buf = buf, .t = t, .opts = opts ? *opts : ODB_PRINT_OPTS, .word = ODB_BUF_INIT};
        job.opts.edge_items = ODB_MIN(ODB_MAX(job.opts.edge_items, 1), PRINT_MAX_SHOWN);
        job.opts.precision = ODB_MIN(ODB_MAX(job.opts.precision, 0), PRINT_MAX_PRECISION);
        job.summary = t->count > job.opts.threshold;
        print_values(&job);
        odb_buf_dispose(&job.word);
    }
}
