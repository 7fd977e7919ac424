/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers as NumPy shows them: nested brackets, columns aligned, long tensors shortened to their
 * ends; every number with the fewest digits that give it back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/call.h"

#define PRINT_WHOLE 1000 /* elements up to which nothing is left out */
#define PRINT_EDGE 3     /* kept at each end of a shortened axis */
#define PRINT_WIDTH 75

/* --- slices ------------------------------------------------------------------------------------- */

/* Along one axis of the source. */
struct print_range {
    int64_t start, step, count;
    bool dropped; /* an index: the axis disappears */
};

static enum odb_status print_slice_error(const char *text, const char *why, struct odb_error *err)
{
    odb_fail(err, ODB_E_USAGE, "%s", why);
    odb_error_remedy(err, "write it as in Python: [0,:,1:5:2]");
    return odb_error_at(err, "slice %.100s", text);
}

/* Python's rule for one end of a range. */
static int64_t print_clip(int64_t v, int64_t n, int64_t lo, int64_t hi)
{
    v += v < 0 ? n : 0;
    return v < lo ? lo : v > hi ? hi : v;
}

/* One part of a slice, up to ',' or ']'. */
static enum odb_status print_part(struct print_range *out, const char *text, size_t len, int64_t n,
                                  struct odb_error *err)
{
    bool given[3] = {false};
    int64_t v[3] = {0, 0, 1};
    const char *p = text, *end = text + len;
    int k = 0;
    for (;; p++, k++) {
        char *after;
        p += strspn(p, " ");
        int64_t number = strtoll(p, &after, 10);
        if (after != p && after <= end) {
            v[k] = number;
            given[k] = true;
            p = after + strspn(after, " ");
        }
        if (p >= end || *p != ':' || k == 2)
            break;
    }
    if (p != end || (k == 0 && !given[0]) || v[2] == 0)
        return print_slice_error(text, "this is no index and no range", err);
    if (k == 0) {
        int64_t at = v[0] + (v[0] < 0 ? n : 0);
        if (at < 0 || at >= n)
            return print_slice_error(text, "the index is outside", err);
        *out = (struct print_range){at, 1, 1, true};
        return ODB_OK;
    }
    bool back = v[2] < 0;
    int64_t lo = back ? -1 : 0, hi = back ? n - 1 : n;
    int64_t start = given[0] ? print_clip(v[0], n, lo, hi) : back ? n - 1 : 0;
    int64_t stop = given[1] ? print_clip(v[1], n, lo, hi) : back ? -1 : n;
    int64_t span = back ? start - stop : stop - start, stride = back ? -v[2] : v[2];
    *out = (struct print_range){start, v[2], span > 0 ? (span - 1) / stride + 1 : 0, false};
    return ODB_OK;
}

/* "[0,...,1:3]" to one range per axis. */
static enum odb_status print_parse(struct print_range *ranges, const char *text,
                                   const struct odb_tensor *t, struct odb_error *err)
{
    size_t n = strlen(text);
    int axis = 0, parts = n > 2;
    if (n < 2 || text[0] != '[' || text[n - 1] != ']')
        return print_slice_error(text, "a slice stands in brackets", err);
    for (const char *p = text; *p; p++)
        parts += *p == ',';
    for (int i = 0; i < t->rank; i++)
        ranges[i] = (struct print_range){0, 1, t->dims[i], false};
    for (const char *p = text + 1; n > 2;) {
        size_t len = strcspn(p, ",]");
        if (len == 3 && !strncmp(p, "...", 3)) {
            axis = t->rank - (parts - 1) + axis; /* the parts behind it count from the end */
            parts = 1;                           /* a second one has nothing left to stand for */
            if (axis < 0)
                return print_slice_error(text, "more parts than dimensions", err);
        } else {
            if (axis >= t->rank)
                return print_slice_error(text, "more parts than dimensions", err);
            ODB_TRY(print_part(&ranges[axis], p, len, t->dims[axis], err));
            axis++;
        }
        p += len;
        if (*p++ == ']')
            return *p ? print_slice_error(text, "something stands behind the bracket", err)
                      : ODB_OK;
    }
    return ODB_OK;
}

static enum odb_status print_copy(struct odb_tensor *to, size_t i, const struct odb_tensor *from,
                                  size_t k, struct odb_error *err)
{
    const struct odb_dtype_info *info = odb_dtype_info(from->dtype);
    if (from->dtype == ODB_STRING) {
        const struct odb_str *s = (const struct odb_str *)from->data + k;
        return odb_tensor_set_string(to, i, s->data, s->len, err);
    }
    if (info->bits >= 8)
        memcpy((char *)to->data + i * info->bits / 8, (const char *)from->data + k * info->bits / 8,
               info->bits / 8);
    else
        odb_store_f64(to->dtype, to->data, i, odb_load_f64(from->dtype, from->data, k));
    return ODB_OK;
}

static enum odb_status print_slice(struct odb_tensor **out, const struct odb_tensor *t,
                                   const char *text, struct odb_error *err)
{
    struct print_range ranges[ODB_MAX_RANK];
    int64_t dims[ODB_MAX_RANK], at[ODB_MAX_RANK] = {0};
    int rank = 0;
    ODB_TRY(print_parse(ranges, text, t, err));
    for (int i = 0; i < t->rank; i++)
        if (!ranges[i].dropped)
            dims[rank++] = ranges[i].count;
    ODB_TRY(odb_tensor_new(out, t->dtype, rank, dims, err));
    for (size_t i = 0; i < (*out)->count; i++) {
        size_t k = 0;
        for (int a = 0; a < t->rank; a++)
            k = k * (size_t)t->dims[a] + (size_t)(ranges[a].start + at[a] * ranges[a].step);
        enum odb_status status = print_copy(*out, i, t, k, err);
        if (status != ODB_OK) {
            odb_tensor_unref(*out);
            return status;
        }
        for (int a = t->rank - 1; a >= 0 && ++at[a] >= ranges[a].count; a--)
            at[a] = 0;
    }
    return ODB_OK;
}

/* --- numbers ------------------------------------------------------------------------------------ */

static void print_real(struct odb_buf *out, double v, enum odb_dtype dtype)
{
    char text[40];
    int most = dtype == ODB_F64 || dtype == ODB_C128 ? 17 : 9;
    if (isnan(v) || isinf(v)) {
        odb_buf_puts(out, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = 1; digits <= most; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        double back = strtod(text, NULL), stored;
        enum odb_dtype part = dtype == ODB_C64 ? ODB_F32 : dtype == ODB_C128 ? ODB_F64 : dtype;
        char cell[8] = {0};
        odb_store_f64(part, cell, 0, back);
        stored = odb_load_f64(part, cell, 0);
        if (stored == v)
            break;
    }
    odb_buf_puts(out, text);
    if (!strpbrk(text, ".e"))
        odb_buf_putc(out, '.');
}

static void print_element(struct odb_buf *out, const struct odb_tensor *t, size_t i)
{
    enum odb_dtype dtype = t->dtype;
    switch (odb_dtype_info(dtype)->class_) {
    case ODB_CLASS_FLOAT:
        print_real(out, odb_tensor_f64(t, i), dtype);
        break;
    case ODB_CLASS_COMPLEX: {
        enum odb_dtype part = dtype == ODB_C64 ? ODB_F32 : ODB_F64;
        double im = odb_load_f64(part, t->data, 2 * i + 1);
        print_real(out, odb_load_f64(part, t->data, 2 * i), dtype);
        odb_buf_puts(out, signbit(im) ? "" : "+");
        print_real(out, im, dtype);
        odb_buf_putc(out, 'j');
        break;
    }
    case ODB_CLASS_BOOL:
        odb_buf_puts(out, odb_tensor_i64(t, i) ? "True" : "False");
        break;
    case ODB_CLASS_UINT:
        odb_buf_printf(out, "%llu", (unsigned long long)odb_tensor_i64(t, i));
        break;
    case ODB_CLASS_STRING: {
        const struct odb_str *s = (const struct odb_str *)t->data + i;
        char *text = odb_xstrndup(s->len ? s->data : "", s->len);
        odb_buf_putc(out, '\'');
        odb_buf_put_shown(out, text);
        odb_buf_putc(out, '\'');
        free(text);
        break;
    }
    default:
        odb_buf_printf(out, "%lld", (long long)odb_tensor_i64(t, i));
        break;
    }
}

/* --- layout ------------------------------------------------------------------------------------- */

struct print_job {
    const struct odb_tensor *t;
    bool shortened;
    size_t width; /* of the widest element shown */
    struct odb_buf *out;
    size_t column;
};

/* Elements of an axis that are shown: calls each for them, gap where some are left out. */
static bool print_skips(const struct print_job *job, int axis, int64_t i)
{
    int64_t n = job->t->dims[axis];
    return job->shortened && n > 2 * PRINT_EDGE && i >= PRINT_EDGE && i < n - PRINT_EDGE;
}

static void print_measure(struct print_job *job, int axis, size_t at)
{
    const struct odb_tensor *t = job->t;
    if (axis == t->rank) {
        struct odb_buf one = ODB_BUF_INIT;
        print_element(&one, t, at);
        job->width = ODB_MAX(job->width, one.len);
        odb_buf_dispose(&one);
        return;
    }
    for (int64_t i = 0; i < t->dims[axis]; i++)
        if (!print_skips(job, axis, i))
            print_measure(job, axis + 1, at * (size_t)t->dims[axis] + (size_t)i);
}

static void print_newline(struct print_job *job, int indent)
{
    odb_buf_printf(job->out, "\n%*s", indent, "");
    job->column = (size_t)indent;
}

static void print_axis(struct print_job *job, int axis, size_t at)
{
    const struct odb_tensor *t = job->t;
    struct odb_buf one = ODB_BUF_INIT;
    bool gap = false, last = axis == t->rank - 1;
    odb_buf_putc(job->out, '[');
    job->column++;
    for (int64_t i = 0; i < t->dims[axis]; i++) {
        size_t next = at * (size_t)t->dims[axis] + (size_t)i;
        bool skipped = print_skips(job, axis, i);
        if (skipped && gap)
            continue;
        gap = skipped;
        odb_buf_clear(&one);
        if (skipped)
            odb_buf_puts(&one, "...");
        else if (last)
            print_element(&one, t, next);
        size_t pad = last && !skipped && job->width > one.len ? job->width - one.len : 0;
        if (i && !last)
            for (int k = axis; k < t->rank - 1; k++)
                print_newline(job, k == t->rank - 2 ? axis + 1 : 0);
        else if (i && job->column + 1 + pad + one.len > PRINT_WIDTH)
            print_newline(job, axis + 1);
        else if (i) {
            odb_buf_putc(job->out, ' ');
            job->column++;
        }
        odb_buf_printf(job->out, "%*s%s", (int)pad, "", odb_buf_text(&one));
        job->column += pad + one.len;
        if (!last && !skipped)
            print_axis(job, axis + 1, next);
    }
    odb_buf_putc(job->out, ']');
    job->column++;
    odb_buf_dispose(&one);
}

static void print_tensor(const struct odb_tensor *t, struct odb_buf *out)
{
    struct print_job job = {.t = t, .shortened = t->count > PRINT_WHOLE, .out = out};
    char shape[300];
    for (size_t i = 0; i < t->n_items; i++) {
        odb_buf_printf(out, "[%zu] ", i);
        print_tensor(t->items[i], out);
    }
    if (t->kind != ODB_TENSOR) {
        if (!t->n_items)
            odb_buf_puts(out, "empty\n");
        return;
    }
    if (t->rank == 0) {
        print_element(out, t, 0);
    } else if (!t->count) {
        odb_buf_printf(out, "[] of shape %s", odb_shape_text(t, shape, sizeof shape));
    } else {
        print_measure(&job, 0, 0);
        print_axis(&job, 0, 0);
    }
    odb_buf_putc(out, '\n');
}

/* --- the command -------------------------------------------------------------------------------- */

/* The value that text names, and where its slice begins; a name may itself hold brackets. */
static char *print_split(const struct odb_graph *graph, const char *text, const char **slice)
{
    const char *open = strrchr(text, '[');
    size_t n = strlen(text);
    *slice = NULL;
    if ((graph && odb_graph_value(graph, text)) || !open || text[n - 1] != ']')
        return odb_xstrdup(text);
    *slice = open;
    return odb_xstrndup(text, (size_t)(open - text));
}

enum odb_status odb_command__print(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 1), *slice = NULL, *source = call->args[0];
    const char *save = odb_call_option(call, ODB_OPTION_SAVE);
    struct odb_tensor *t = NULL, *part = NULL;
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    char *name = NULL;
    size_t n = strlen(source);
    if (n > 5 && !strcmp(source + n - 5, ".onnx"))
        ODB_TRY(odb_model_open(&call->model, source, err));
    if (text)
        name = print_split(call->model ? call->model->graph : NULL, text, &slice);
    ODB_TRY_OUT(odb_call__value(call, name && *name ? name : NULL, &t, err));
    if (slice && t->kind != ODB_TENSOR) {
        status = odb_fail(err, ODB_E_USAGE, "only tensors can be sliced");
        goto out;
    }
    if (slice)
        ODB_TRY_OUT(print_slice(&part, t, slice, err));
    if (save)
        status = odb_call__write_tensor(part ? part : t, name ? name : "", save, err);
    else
        print_tensor(part ? part : t, &out);
    odb_call__print(call, &out);
out:
    odb_tensor_unref(part);
    odb_tensor_unref(t);
    free(name);
    return status;
}
