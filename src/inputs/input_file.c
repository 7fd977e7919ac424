/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inputs/input_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "inputs/input_int.h"
#include "model/files.h"
#include "tensor/format/npy.h"
#include "tensor/format/wav.h"
#include "model/read/pb.h"

static bool input_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcasecmp(text + n - m, end);
}

/* --- words ------------------------------------------------------------------------------------ */

char *odb_input__word(const char **at)
{
    struct odb_buf word = ODB_BUF_INIT;
    const char *p = *at;
    if (!*p)
        return NULL;
    for (; *p && *p != ','; p++) {
        if (*p == '\\' && (p[1] == ',' || p[1] == '\\'))
            p++;
        odb_buf_putc(&word, *p);
    }
    *at = *p ? p + 1 : p;
    char *text = odb_buf_take(&word);
    return text ? text : odb_xstrdup("");
}

int odb_input__shape(const char *text, int64_t *dims)
{
    int rank = 0;
    if (!*text)
        return 0;
    for (const char *p = text;; p++) {
        char *end;
        long long n = strtoll(p, &end, 10);
        if (end == p || n < 0 || rank == ODB_MAX_RANK || (*end && *end != 'x'))
            return -1;
        dims[rank++] = n;
        if (!*end)
            return rank;
        p = end;
    }
}

/* --- bytes alone ------------------------------------------------------------------------------ */

/* One dimension that is not known follows from how many bytes there are. */
static enum odb_status input_raw_shape(int64_t *dims, int rank, enum odb_dtype dtype, size_t size,
                                       struct odb_error *err)
{
    size_t known = 1, bits = odb_dtype_info(dtype)->bits;
    int open = -1, n_open = 0;
    for (int k = 0; k < rank; k++) {
        n_open += dims[k] < 0;
        open = dims[k] < 0 ? k : open;
        if (dims[k] >= 0 && !odb_size_mul(known, (size_t)dims[k], &known))
            return odb_fail(err, ODB_E_INPUT, "the shape is too large");
    }
    if (n_open > 1 || (n_open && !known)) {
        odb_fail(err, ODB_E_USAGE, "%s",
                 n_open > 1 ? "more than one dimension is not known"
                            : "one dimension is 0, so the number of bytes tells no other");
        return odb_error_remedy(err, "write raw(FILE,%s,SHAPE), the shape as 1x3x224x224",
                                odb_dtype_info(dtype)->name);
    }
    if (n_open && known)
        dims[open] = (int64_t)(size * 8 / bits / known);
    return ODB_OK;
}

/* raw(FILE[,TYPE[,SHAPE]]) */
static enum odb_status input_raw(struct odb_tensor **out, char *source, size_t size,
                                 const struct odb_input_form *form, char *const *words,
                                 struct odb_error *err)
{
    enum odb_dtype dtype = words[1] ? odb_dtype_parse(words[1]) : form->type->dtype;
    int rank = form->rank;
    int64_t dims[ODB_MAX_RANK];
    struct model_bytes bytes;
    for (int k = 0; k < rank; k++)
        dims[k] = form->dims[k];
    if (words[1] && words[2])
        rank = odb_input__shape(words[2], dims);
    if (words[1] && words[2] && (rank < 0 || words[3]))
        return odb_fail(err, ODB_E_USAGE,
                        "raw bytes are written raw(FILE,TYPE,SHAPE), the shape "
                        "as 1x3x224x224");
    if (words[1] && dtype == ODB_UNDEFINED)
        return odb_fail(err, ODB_E_USAGE, "'%.40s' is no element type", words[1]);
    if (rank < 0 || !odb_dtype_info(dtype)->bits) {
        odb_fail(err, ODB_E_USAGE, "the model does not say what the bytes are");
        return odb_error_remedy(err, "write raw(FILE,TYPE,SHAPE), the shape as 1x3x224x224");
    }
    ODB_TRY(odb_model__map_file(&bytes, words[0], err));
    enum odb_status status = input_raw_shape(dims, rank, dtype, bytes.size, err);
    if (status == ODB_OK)
        status =
            odb_tensor_view(out, dtype, rank, dims, bytes.data, bytes.size, bytes.storage, err);
    for (size_t i = 0; status == ODB_OK && dtype == ODB_BOOL && i < bytes.size; i++)
        if (bytes.data[i] > 1) {
            status = odb_fail(err, ODB_E_INPUT, "byte %zu is %u, and bools are 0 or 1", i,
                              bytes.data[i]);
            odb_tensor_unref(*out);
            *out = NULL;
        }
    odb_storage_unref(bytes.storage);
    snprintf(source, size, "bytes of %.200s", words[0]);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "%s", words[0]);
}

/* --- all of it -------------------------------------------------------------------------------- */

typedef enum odb_status (*input_fn)(struct odb_tensor **out, char *source, size_t size,
                                    const struct odb_input_form *form, char *const *words,
                                    struct odb_error *err);

static enum odb_status input_npy(struct odb_tensor **out, char *source, size_t size,
                                 const struct odb_input_form *form, char *const *words,
                                 struct odb_error *err)
{
    snprintf(source, size, "file %.240s", words[0]);
    return odb_npy_read(out, words[0], err);
}

static enum odb_status input_pb(struct odb_tensor **out, char *source, size_t size,
                                const struct odb_input_form *form, char *const *words,
                                struct odb_error *err)
{
    snprintf(source, size, "file %.240s", words[0]);
    return odb_pb_read_as(out, form->type, words[0], err);
}

static enum odb_status input_wav(struct odb_tensor **out, char *source, size_t size,
                                 const struct odb_input_form *form, char *const *words,
                                 struct odb_error *err)
{
    uint32_t rate;
    struct odb_tensor *t;
    int64_t dims[ODB_MAX_RANK];
    ODB_TRY(odb_wav_read(&t, &rate, words[0], err));
    snprintf(source, size, "file %.200s, %u frames a second", words[0], rate);
    int rank = form->type && form->type->known ? form->type->rank : -1;
    if (rank <= t->rank || rank > ODB_MAX_RANK) {
        *out = t;
        return ODB_OK;
    }
    for (int i = 0; i < rank; i++) /* a batch of one */
        dims[i] = i < rank - t->rank ? 1 : t->dims[i - (rank - t->rank)];
    enum odb_status status = odb_tensor_reshape(out, t, rank, dims, err);
    odb_tensor_unref(t);
    return status;
}

static const struct {
    const char *ending;
    input_fn read;
} input_files[] = {
    {".npy", input_npy},         {".pb", input_pb},          {".bin", input_raw},
    {".raw", input_raw},         {".png", odb_input__image}, {".jpg", odb_input__image},
    {".jpeg", odb_input__image}, {".bmp", odb_input__image}, {".webp", odb_input__image},
    {".ppm", odb_input__image},  {".pgm", odb_input__image}, {".tif", odb_input__image},
    {".tiff", odb_input__image}, {".jp2", odb_input__image}, {".wav", input_wav}};

static const struct {
    const char *name;
    input_fn read;
} input_calls[] = {{"image(", odb_input__image}, {"raw(", input_raw}};

bool odb_input__is_image(const char *name)
{
    bool is = false;
    for (size_t i = 0; i < ODB_COUNT(input_files); i++)
        is |=
            input_files[i].read == odb_input__image && input_ends_with(name, input_files[i].ending);
    return is;
}

size_t odb_input__pictures(const char *text)
{
    static const char call[] = "image(";
    return strncmp(text, call, strlen(call)) ? 0 : strlen(call);
}

bool odb_input_names_file(const char *text)
{
    for (size_t i = 0; i < ODB_COUNT(input_files); i++)
        if (input_ends_with(text, input_files[i].ending))
            return true;
    if (strstr(text, "=@")) /* a list of numbers in a file, of --feed */
        return true;
    for (size_t i = 0; i < ODB_COUNT(input_calls); i++)
        for (const char *p = text; (p = strstr(p, input_calls[i].name)); p++)
            if (p > text && strchr("=:", p[-1]))
                return true;
    return false;
}

/* What commas part; NULL behind the last. The caller's, as are the words. */
static char **input_split(const char *text)
{
    ODB_VEC(char *) words = {0};
    char *word;
    while ((word = odb_input__word(&text)))
        odb_push(&words, word);
    odb_push(&words, NULL);
    return words.items;
}

static void input_words_free(char **words)
{
    for (size_t i = 0; words[i]; i++)
        free(words[i]);
    free(words);
}

/* NAME(a,b,c): its words. */
static enum odb_status input_call(struct odb_tensor **out, char *source, size_t size,
                                  const struct odb_input_form *form, const char *inside,
                                  input_fn read, struct odb_error *err)
{
    size_t n = strlen(inside);
    if (!n || inside[n - 1] != ')')
        return odb_fail(err, ODB_E_USAGE, "')' is missing at the end");
    char *copy = odb_xstrndup(inside, n - 1);
    char **words = input_split(copy);
    enum odb_status status = words[0] && *words[0] ? read(out, source, size, form, words, err)
                                                   : odb_fail(err, ODB_E_USAGE, "no file is named");
    input_words_free(words);
    free(copy);
    return status;
}

/* a.png,b.png: where each is a picture's name; else that is one name with commas in it. */
static bool input_is_batch(char *const *words)
{
    bool all = words[0] && words[1];
    for (size_t i = 0; words[i]; i++)
        all = all && odb_input__is_image(words[i]);
    return all;
}

enum odb_status odb_input_read(struct odb_tensor **out, char *source, size_t size,
                               const struct odb_input_form *form, const char *text,
                               struct odb_error *err)
{
    for (size_t i = 0; i < ODB_COUNT(input_calls); i++) {
        size_t n = strlen(input_calls[i].name);
        if (!strncmp(text, input_calls[i].name, n))
            return input_call(out, source, size, form, text + n, input_calls[i].read, err);
    }
    char **batch = input_split(text);
    for (size_t i = 0; i < ODB_COUNT(input_files); i++) {
        char *words[] = {(char *)text, NULL};
        if (!input_ends_with(text, input_files[i].ending))
            continue;
        enum odb_status status = input_files[i].read(out, source, size, form,
                                                     input_is_batch(batch) ? batch : words, err);
        input_words_free(batch);
        return status;
    }
    input_words_free(batch);
    odb_fail(err, ODB_E_USAGE, "neither a .npy nor a .pb file, nor an image, a .wav or a .bin");
    odb_error_remedy(err, "name what it is: image(FILE) or raw(FILE,TYPE,SHAPE)");
    return odb_error_at(err, "%s", text);
}

/* Appends a word of a list as it is written there, of a file's path the whole one. Whether it is
 * one. */
static bool input_put_word(struct odb_buf *out, const char *word, bool is_file)
{
    char *whole = is_file ? realpath(word, NULL) : NULL;
    bool found = whole != NULL;
    for (const char *p = found ? whole : word; *p; p++) {
        odb_buf_puts(out, strchr(",\\", *p) ? "\\" : "");
        odb_buf_putc(out, *p);
    }
    free(whole);
    return found;
}

char *odb_input_whole(const char *text)
{
    size_t n = strlen(text), head = 0;
    bool is_raw = false, found = false, is_file = true;
    struct odb_buf out = ODB_BUF_INIT;
    char *whole = realpath(text, NULL);
    if (whole)
        return whole;
    for (size_t i = 0; i < ODB_COUNT(input_calls); i++)
        if (!strncmp(text, input_calls[i].name, strlen(input_calls[i].name))) {
            head = strlen(input_calls[i].name);
            is_raw = input_calls[i].read == input_raw;
        }
    bool closed = head && text[n - 1] == ')';
    char *inside = odb_xstrndup(text + head, n - head - closed);
    char **words = input_split(inside);
    odb_buf_add(&out, text, head);
    for (size_t i = 0; words[i]; i++) {
        is_file = !i || (is_file && !is_raw && odb_input__is_image(words[i]));
        odb_buf_puts(&out, i ? "," : "");
        found |= input_put_word(&out, words[i], is_file);
    }
    odb_buf_puts(&out, closed ? ")" : "");
    input_words_free(words);
    free(inside);
    whole = found ? odb_buf_take(&out) : NULL;
    odb_buf_dispose(&out);
    return whole;
}
