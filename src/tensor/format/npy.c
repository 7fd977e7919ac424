/* SPDX-License-Identifier: MIT
 *
 * The header of an .npy file is a Python dictionary as text. It is read by a small strict parser
 * that knows where it stands, so that a broken file is answered with the byte that is wrong.
 */
#include "tensor/format/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "system/file.h"
#include "system/mapping.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { NPY_MAP_FROM = 1 << 20, NPY_CHUNK = 1 << 20, NPY_ALIGN = 64, NPY_GROWTH_DIGITS = 21 };
#define NPY_EMPTY_MOST 1000000 /* elements of "<U0", which take no byte of the file */

static const char npy_magic[6] = "\x93NUMPY";

/* What a header says. */
struct npy_header {
    char kind;   /* of the descriptor: b i u f c U S */
    size_t item; /* bytes per element */
    bool swapped, fortran;
    int rank;
    int64_t dims[ODB_MAX_RANK];
    size_t offset; /* of the data in the file */
};

struct npy_parser {
    const char *data; /* the file */
    size_t pos, end;  /* within the header */
    struct odb_error *err;
};

/* --- header ----------------------------------------------------------------------------------- */

static enum odb_status npy_fail(struct npy_parser *p, const char *what)
{
    odb_fail(p->err, ODB_E_FORMAT, "%s in the header of an .npy file", what);
    return odb_error_at(p->err, "byte %zu", p->pos);
}

static void npy_skip_space(struct npy_parser *p)
{
    while (p->pos < p->end && strchr(" \t\r\n", p->data[p->pos]) && p->data[p->pos])
        p->pos++;
}

/* Skips space and one c; false and no further when something else stands there. */
static bool npy_accept(struct npy_parser *p, char c)
{
    npy_skip_space(p);
    if (p->pos >= p->end || p->data[p->pos] != c)
        return false;
    p->pos++;
    return true;
}

static enum odb_status npy_expect(struct npy_parser *p, char c)
{
    char what[32];
    if (npy_accept(p, c))
        return ODB_OK;
    snprintf(what, sizeof what, "'%c' expected", c);
    return npy_fail(p, what);
}

/* A quoted word of at most size - 1 plain characters. */
static enum odb_status npy_string(struct npy_parser *p, char *out, size_t size)
{
    npy_skip_space(p);
    char quote = p->pos < p->end ? p->data[p->pos] : 0;
    if (quote != '\'' && quote != '"')
        return npy_fail(p, "quoted text expected");
    size_t len = 0, start = ++p->pos;
    while (p->pos < p->end && p->data[p->pos] != quote) {
        if (len + 1 >= size || p->data[p->pos] == '\\') {
            p->pos = start;
            return npy_fail(p, "unknown text");
        }
        out[len++] = p->data[p->pos++];
    }
    out[len] = 0;
    return p->pos < p->end ? (p->pos++, ODB_OK) : npy_fail(p, "closing quote expected");
}

static enum odb_status npy_integer(struct npy_parser *p, int64_t *out)
{
    npy_skip_space(p);
    size_t start = p->pos;
    int64_t v = 0;
    while (p->pos < p->end && p->data[p->pos] >= '0' && p->data[p->pos] <= '9') {
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, p->data[p->pos] - '0', &v)) {
            p->pos = start;
            return npy_fail(p, "dimension too large");
        }
        p->pos++;
    }
    if (p->pos == start)
        return npy_fail(p, "non-negative integer expected");
    if (p->pos < p->end && p->data[p->pos] == 'L') /* Python 2 */
        p->pos++;
    *out = v;
    return ODB_OK;
}

static enum odb_status npy_shape(struct npy_parser *p, struct npy_header *h)
{
    ODB_TRY(npy_expect(p, '('));
    h->rank = 0;
    while (!npy_accept(p, ')')) {
        if (h->rank == ODB_MAX_RANK)
            return npy_fail(p, "too many dimensions");
        ODB_TRY(npy_integer(p, &h->dims[h->rank++]));
        if (!npy_accept(p, ',')) {
            ODB_TRY(npy_expect(p, ')'));
            break;
        }
    }
    return ODB_OK;
}

static enum odb_status npy_boolean(struct npy_parser *p, bool *out)
{
    npy_skip_space(p);
    size_t left = p->end - p->pos;
    *out = left >= 4 && !memcmp(p->data + p->pos, "True", 4);
    if (!*out && !(left >= 5 && !memcmp(p->data + p->pos, "False", 5)))
        return npy_fail(p, "True or False expected");
    p->pos += *out ? 4 : 5;
    return ODB_OK;
}

static enum odb_status npy_descriptor(struct npy_parser *p, struct npy_header *h)
{
    char text[24], *end;
    npy_skip_space(p);
    size_t start = p->pos;
    if (p->pos < p->end && p->data[p->pos] == '[') {
        odb_fail(p->err, ODB_UNSUPPORTED, "an array of structures is no tensor");
        return odb_error_remedy(p->err, "save each field as an array of its own");
    }
    ODB_TRY(npy_string(p, text, sizeof text));
    const char *type = text;
    h->swapped = false;
    if (*type && strchr("<>=|", *type)) {
        h->swapped = *type == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
        type++;
    }
    h->kind = *type;
    unsigned long n = *type ? strtoul(type + 1, &end, 10) : 0;
    if (*type == 'O') {
        odb_fail(p->err, ODB_UNSUPPORTED, "the array holds Python objects (pickled), no numbers");
        return odb_error_remedy(p->err, "save it with a number or string type");
    }
    if (!*type || type[1] < '0' || type[1] > '9' || *end || n > INT_MAX / 4) {
        p->pos = start;
        return npy_fail(p, "unknown element type");
    }
    h->item = h->kind == 'U' ? 4 * n : n;
    return ODB_OK;
}

static enum odb_status npy_dictionary(struct npy_parser *p, struct npy_header *h)
{
    unsigned seen = 0;
    ODB_TRY(npy_expect(p, '{'));
    while (!npy_accept(p, '}')) {
        char key[24];
        npy_skip_space(p);
        size_t start = p->pos;
        ODB_TRY(npy_string(p, key, sizeof key));
        unsigned bit = !strcmp(key, "descr")           ? 1
                       : !strcmp(key, "fortran_order") ? 2
                       : !strcmp(key, "shape")         ? 4
                                                       : 0;
        if (!bit || (seen & bit)) {
            p->pos = start;
            return npy_fail(p, bit ? "key given twice" : "unknown key");
        }
        seen |= bit;
        ODB_TRY(npy_expect(p, ':'));
        ODB_TRY(bit == 1   ? npy_descriptor(p, h)
                : bit == 2 ? npy_boolean(p, &h->fortran)
                           : npy_shape(p, h));
        if (!npy_accept(p, ',')) {
            ODB_TRY(npy_expect(p, '}'));
            break;
        }
    }
    npy_skip_space(p);
    if (p->pos != p->end)
        return npy_fail(p, "text behind the dictionary");
    return seen == 7 ? ODB_OK : npy_fail(p, "descr, fortran_order or shape missing");
}

static enum odb_status npy_parse_header(struct npy_header *h, const char *data, size_t size,
                                        struct odb_error *err)
{
    const unsigned char *bytes = (const unsigned char *)data;
    if (size < 10 || memcmp(data, npy_magic, sizeof npy_magic))
        return odb_fail(err, ODB_E_FORMAT, "not an .npy file: it does not begin with \\x93NUMPY");
    if (bytes[6] < 1 || bytes[6] > 3)
        return odb_fail(err, ODB_E_FORMAT, "version %d.%d of .npy is not known", bytes[6],
                        bytes[7]);
    size_t start = bytes[6] == 1 ? 10 : 12, len = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1 && size >= start)
        len |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (size < start || len > size - start)
        return odb_fail(err, ODB_E_FORMAT,
                        "the header says it has %zu bytes; the file ends at byte %zu", len, size);
    struct npy_parser p = {.data = data, .pos = start, .end = start + len, .err = err};
    h->offset = start + len;
    return npy_dictionary(&p, h);
}

static enum odb_dtype npy_dtype(const struct npy_header *h)
{
    if (h->kind == 'U' || h->kind == 'S')
        return ODB_STRING;
    for (unsigned i = 1; i < ODB_DTYPE_COUNT; i++) {
        const struct odb_dtype_info *info = odb_dtype_info((enum odb_dtype)i);
        if (info->descr && info->descr[1] == h->kind && info->bits == 8 * h->item)
            return (enum odb_dtype)i;
    }
    return ODB_UNDEFINED;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Calls for every element, in C order, with its place in the file's order. */
struct npy_walk {
    const struct npy_header *h;
    size_t strides[ODB_MAX_RANK]; /* in elements of the file */
    int64_t index[ODB_MAX_RANK];
    size_t at;
};

static void npy_walk_init(struct npy_walk *w, const struct npy_header *h)
{
    size_t stride = 1;
    *w = (struct npy_walk){.h = h};
    for (int k = 0; k < h->rank; k++) {
        int d = h->fortran ? k : h->rank - 1 - k;
        w->strides[d] = stride;
        stride *= (size_t)h->dims[d];
    }
}

static void npy_walk_next(struct npy_walk *w)
{
    for (int d = w->h->rank - 1; d >= 0; d--) {
        w->at += w->strides[d];
        if (++w->index[d] < w->h->dims[d])
            return;
        w->at -= w->strides[d] * (size_t)w->h->dims[d];
        w->index[d] = 0;
    }
}

static void npy_copy_element(char *to, const char *from, size_t size, size_t unit, bool swapped)
{
    if (!swapped) {
        memcpy(to, from, size);
        return;
    }
    for (size_t i = 0; i < size; i += unit)
        for (size_t k = 0; k < unit; k++)
            to[i + k] = from[i + unit - 1 - k];
}

static enum odb_status npy_copy_numbers(struct odb_tensor *t, const struct npy_header *h,
                                        const char *data, struct odb_error *err)
{
    size_t unit = h->kind == 'c' ? h->item / 2 : h->item;
    struct npy_walk w;
    npy_walk_init(&w, h);
    if (!h->swapped && (!h->fortran || h->rank < 2)) {
        if (t->bytes)
            memcpy(t->data, data, t->bytes);
    } else {
        for (size_t i = 0; i < t->count; i++, npy_walk_next(&w))
            npy_copy_element((char *)t->data + i * h->item, data + w.at * h->item, h->item, unit,
                             h->swapped);
    }
    if (h->kind == 'b')
        for (size_t i = 0; i < t->count; i++)
            ((uint8_t *)t->data)[i] = ((uint8_t *)t->data)[i] != 0;
    return ODB_OK;
}

/* One element of UTF-32 as UTF-8 in out. False where a code is no character. */
static bool npy_to_utf8(const char *from, const struct npy_header *h, char *out, size_t *len)
{
    size_t n = h->item / 4;
    uint32_t c;
    *len = 0;
    while (n > 0 && !memcmp(from + 4 * (n - 1), "\0\0\0", 4)) /* padding */
        n--;
    for (size_t i = 0; i < n; i++) {
        npy_copy_element((char *)&c, from + 4 * i, 4, 4, h->swapped);
        if (!odb_utf8_is(c))
            return false;
        *len += odb_utf8_put(out + *len, c);
    }
    return true;
}

static enum odb_status npy_copy_strings(struct odb_tensor *t, const struct npy_header *h,
                                        const char *data, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    char *text = odb_xcalloc(h->item + 1, 1);
    struct npy_walk w;
    npy_walk_init(&w, h);
    for (size_t i = 0; i < t->count && !status; i++, npy_walk_next(&w)) {
        const char *from = data + w.at * h->item;
        size_t len = h->item;
        if (h->kind == 'U' && !npy_to_utf8(from, h, text, &len)) {
            odb_fail(err, ODB_E_FORMAT, "element %zu holds a code that is no character", i);
            status = odb_error_at(err, "byte %zu", h->offset + w.at * h->item);
            break;
        }
        if (h->kind == 'S') {
            while (len > 0 && !from[len - 1])
                len--;
            memcpy(text, from, len);
        }
        status = odb_tensor_set_string(t, i, text, len, err);
    }
    free(text);
    return status;
}

/* Whether the bytes of the file are those of the tensor. */
static bool npy_viewable(const struct npy_header *h, const uint8_t *data, size_t bytes)
{
    if (h->swapped || h->kind == 'U' || h->kind == 'S' || (h->fortran && h->rank > 1))
        return false;
    if (h->kind == 'b')
        for (size_t i = 0; i < bytes; i++)
            if (data[i] > 1)
                return false;
    return true;
}

enum odb_status odb_npy_parse(struct odb_tensor **out, const void *data, size_t size,
                              struct odb_storage *storage, struct odb_error *err)
{
    struct npy_header h = {0};
    ODB_TRY(npy_parse_header(&h, data, size, err));
    enum odb_dtype dtype = npy_dtype(&h);
    if (dtype == ODB_UNDEFINED)
        return odb_fail(err, ODB_UNSUPPORTED, "no tensor holds elements of NumPy type '%c%zu'",
                        h.kind, h.item);
    struct odb_tensor *shape = NULL, *t = NULL;
    if (odb_tensor_new_shape(&shape, dtype, h.rank, h.dims, err) != ODB_OK) {
        if (err) /* no lack of memory: the header is wrong */
            err->code = ODB_E_FORMAT;
        return ODB_E_FORMAT;
    }
    size_t needs, count = shape->count, has = size - h.offset;
    odb_tensor_unref(shape);
    if (!odb_size_mul(count, h.item, &needs) || needs > has)
        return odb_fail(err, ODB_E_FORMAT,
                        "%zu elements of %zu bytes do not fit into the %zu bytes behind the header",
                        count, h.item, has);
    if (!h.item && count > NPY_EMPTY_MOST)
        return odb_fail(err, ODB_E_FORMAT, "%zu elements of no bytes are more than the %d allowed",
                        count, NPY_EMPTY_MOST);
    const char *values = (const char *)data + h.offset;
    if (storage && npy_viewable(&h, (const uint8_t *)values, needs))
        return odb_tensor_view(out, dtype, h.rank, h.dims, values, needs, storage, err);
    ODB_TRY(odb_tensor_new_raw(&t, dtype, h.rank, h.dims, err));
    enum odb_status status = dtype == ODB_STRING ? npy_copy_strings(t, &h, values, err)
                                                 : npy_copy_numbers(t, &h, values, err);
    if (status)
        odb_tensor_unref(t);
    else
        *out = t;
    return status;
}

/* --- reading files ---------------------------------------------------------------------------- */

struct npy_file {
    struct odb_storage base;
    struct odb_mapping mapping; /* or, of small ones: */
    void *copy;                 /* owned */
    const void *data;           /* in one of them */
    size_t size;
};

static void npy_file_release(struct odb_storage *storage)
{
    struct npy_file *file = (struct npy_file *)storage;
    odb_mapping_close(&file->mapping);
    free(file->copy);
    free(file);
}

/* Fills file->data. */
static enum odb_status npy_file_load(struct npy_file *file, int fd, const char *path,
                                     struct odb_error *err)
{
    if (file->size >= NPY_MAP_FROM &&
        odb_mapping_open(&file->mapping, fd, file->size, path, NULL) == ODB_OK) {
        file->data = file->mapping.data;
        return ODB_OK;
    }
    file->data = file->copy = malloc(file->size + 1);
    if (!file->copy)
        return odb_fail(err, ODB_E_NOMEM, "no memory for %zu bytes", file->size);
    for (size_t done = 0; done < file->size;) {
        ssize_t n = read(fd, (char *)file->copy + done, file->size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return odb_fail(err, ODB_E_IO, "cannot read byte %zu: %s", done,
                            n < 0 ? strerror(errno) : "the file became shorter");
        done += (size_t)n;
    }
    return ODB_OK;
}

enum odb_status odb_npy_read(struct odb_tensor **out, const char *path, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    struct npy_file *file = NULL;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st)) {
        status = odb_fail(err, ODB_E_IO, "cannot open: %s", strerror(errno));
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        status = odb_fail(err, ODB_E_IO, "not a regular file");
        goto out;
    }
    file = odb_new(struct npy_file);
    atomic_init(&file->base.refs, 1);
    file->base.release = npy_file_release;
    ODB_TRY_OUT(odb_file_size(&file->size, &st, err));
    ODB_TRY_OUT(npy_file_load(file, fd, path, err));
    ODB_TRY_OUT(odb_npy_parse(out, file->data, file->size, &file->base, err));
out:
    if (fd >= 0)
        close(fd);
    if (file)
        odb_storage_unref(&file->base);
    if (status)
        odb_error_at(err, "%s", path);
    return status;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Longest string in characters, or in bytes when some string is no UTF-8 (*utf8 false then). */
static size_t npy_longest(const struct odb_tensor *t, bool *utf8)
{
    const struct odb_str *s = t->data;
    size_t chars = 1, bytes = 1;
    *utf8 = true;
    for (size_t i = 0; i < t->count; i++) {
        const unsigned char *p = (const unsigned char *)s[i].data, *end = p + s[i].len;
        size_t n = 0;
        uint32_t c;
        for (; *utf8 && p < end; n++)
            *utf8 = odb_utf8_next(&p, end, &c);
        chars = ODB_MAX(chars, n);
        bytes = ODB_MAX(bytes, s[i].len);
    }
    return *utf8 ? chars : bytes;
}

static enum odb_status npy_image_strings(struct odb_npy_image *image, const struct odb_tensor *t,
                                         char *descr, size_t size, struct odb_error *err)
{
    const struct odb_str *s = t->data;
    bool utf8;
    size_t longest = npy_longest(t, &utf8), item = utf8 ? 4 * longest : longest;
    snprintf(descr, size, utf8 ? "<U%zu" : "|S%zu", longest);
    for (size_t i = 0; i < t->count; i++)
        if (s[i].len && !s[i].data[s[i].len - 1])
            return odb_fail(err, ODB_UNSUPPORTED,
                            "string %zu ends in a NUL byte, which .npy cannot hold", i);
    if (!odb_size_mul(t->count, item, &image->body_size) ||
        !(image->made = calloc(image->body_size + 1, 1)))
        return odb_fail(err, ODB_E_NOMEM, "no memory for %zu strings of %zu bytes", t->count, item);
    image->body = image->made;
    for (size_t i = 0; i < t->count; i++) {
        unsigned char *to = (unsigned char *)image->made + i * item;
        const unsigned char *p = (const unsigned char *)s[i].data, *end = p + s[i].len;
        uint32_t c;
        if (!utf8 && s[i].len)
            memcpy(to, p, s[i].len);
        for (; utf8 && p < end && odb_utf8_next(&p, end, &c); to += 4)
            for (int k = 0; k < 4; k++)
                to[k] = (unsigned char)(c >> 8 * k);
    }
    return ODB_OK;
}

static void npy_put_header(struct odb_buf *buf, const struct odb_tensor *t, const char *descr)
{
    odb_buf_add(buf, npy_magic, sizeof npy_magic);
    odb_buf_add(buf, "\1\0\0\0", 4);
    odb_buf_printf(buf, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < t->rank; i++)
        odb_buf_printf(buf, t->rank == 1 ? "%lld," : i ? ", %lld" : "%lld", (long long)t->dims[i]);
    odb_buf_puts(buf, "), }");
    /* NumPy leaves room for the first dimension to grow in place. */
    char digits[32];
    int grow =
        t->rank ? NPY_GROWTH_DIGITS - snprintf(digits, sizeof digits, "%lld", (long long)t->dims[0])
                : 0;
    size_t padding = NPY_ALIGN - (buf->len + (size_t)grow + 1) % NPY_ALIGN + (size_t)grow;
    odb_buf_printf(buf, "%*s\n", (int)padding, "");
    size_t len = buf->len - 10;
    buf->data[8] = (char)(len & 0xff);
    buf->data[9] = (char)(len >> 8);
}

enum odb_status odb_npy_image_init(struct odb_npy_image *image, const struct odb_tensor *t,
                                   struct odb_error *err)
{
    char strings[32];
    *image = (struct odb_npy_image){0};
    if (t->kind != ODB_TENSOR || !t->data) {
        odb_fail(err, ODB_UNSUPPORTED, ".npy holds tensors with values only");
        return odb_error_remedy(err, "write a .pb file");
    }
    const char *descr = odb_dtype_info(t->dtype)->descr;
    if (t->dtype == ODB_STRING) {
        enum odb_status status = npy_image_strings(image, t, strings, sizeof strings, err);
        if (status) {
            odb_npy_image_dispose(image);
            return status;
        }
        descr = strings;
    } else if (descr) {
        image->body = t->data;
        image->body_size = t->bytes;
    } else {
        odb_fail(err, ODB_UNSUPPORTED, "NumPy has no type %s", odb_dtype_info(t->dtype)->name);
        return odb_error_remedy(err, "write a .pb file");
    }
    struct odb_buf buf = ODB_BUF_INIT;
    npy_put_header(&buf, t, descr);
    image->head_size = buf.len;
    image->head = odb_buf_take(&buf);
    return ODB_OK;
}

void odb_npy_image_dispose(struct odb_npy_image *image)
{
    free(image->head);
    free(image->made);
    *image = (struct odb_npy_image){0};
}

enum odb_status
odb_npy_image_make(struct odb_npy_image *image, enum odb_dtype dtype, int rank, const int64_t *dims,
                   void (*fill)(const void *payload, size_t at, void *out, size_t n),
                   const void *payload, struct odb_error *err)
{
    struct odb_buf buf = ODB_BUF_INIT;
    struct odb_tensor *shape;
    ODB_TRY(odb_tensor_new_shape(&shape, dtype, rank, dims, err));
    *image = (struct odb_npy_image){.fill = fill, .payload = payload, .body_size = shape->bytes};
    npy_put_header(&buf, shape, odb_dtype_info(dtype)->descr);
    image->head_size = buf.len;
    image->head = odb_buf_take(&buf);
    odb_tensor_unref(shape);
    return ODB_OK;
}

static enum odb_status npy_put_body(const struct odb_npy_image *image, struct odb_file_out *out,
                                    struct odb_error *err)
{
    if (image->body || !image->fill)
        return odb_file_put(out, image->body, image->body_size, err);
    enum odb_status status = ODB_OK;
    char *made = odb_new_n(char, NPY_CHUNK);
    for (size_t at = 0; at < image->body_size && !status; at += NPY_CHUNK) {
        size_t n = ODB_MIN(image->body_size - at, (size_t)NPY_CHUNK);
        image->fill(image->payload, at, made, n);
        status = odb_file_put(out, made, n, err);
    }
    free(made);
    return status;
}

static enum odb_status npy_put_take(const struct odb_npy_image *image, struct odb_file_out *out,
                                    struct odb_error *err)
{
    enum odb_status status = odb_file_put(out, image->head, image->head_size, err);
    if (!status)
        status = npy_put_body(image, out, err);
    return odb_file_end_take(out, status, err);
}

enum odb_status odb_npy_image_write(const struct odb_npy_image *image, const char *path,
                                    const struct odb_progress *progress, struct odb_error *err)
{
    struct odb_file_out *out;
    ODB_TRY(odb_file_begin(&out, path, image->head_size + image->body_size, progress, err));
    return npy_put_take(image, out, err);
}

enum odb_status odb_npy_write(const struct odb_tensor *t, const char *path, struct odb_error *err)
{
    struct odb_npy_image image;
    struct odb_file_out *out;
    enum odb_status status = odb_npy_image_init(&image, t, err);
    if (status) {
        odb_error_at(err, "%s", path);
        return status;
    }
    status = odb_file_begin(&out, path, 0, NULL, err);
    if (status == ODB_OK) {
        odb_file_unsynced(out);
        status = npy_put_take(&image, out, err);
    }
    odb_npy_image_dispose(&image);
    return status;
}
