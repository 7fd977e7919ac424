/* SPDX-License-Identifier: MIT
 *
 * From a file to encodings: which format it is, and what all formats have in common.
 */
#include "encodings/encodings.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "encodings/encodings_int.h"
#include "system/file.h"

#define ENCODINGS_MOST ((size_t)1 << 30) /* bytes of a file */
#define ENCODINGS_BITS 32

/* --- numbers ---------------------------------------------------------------------------------- */

static enum odb_status encodings_add_numbers(struct encodings_numbers *out, const json_t *json,
                                             int depth, size_t *room, struct odb_error *err)
{
    if (json_is_number(json)) {
        if (out->n == *room) {
            *room = *room ? 2 * *room : 8;
            out->items = odb_xrealloc(out->items, *room, sizeof *out->items);
        }
        out->items[out->n++] = json_number_value(json);
        return ODB_OK;
    }
    if (!json_is_array(json) || depth == ODB_MAX_RANK)
        return odb_fail(err, ODB_E_FORMAT, "a number or a list of numbers is wanted");
    size_t n = json_array_size(json);
    if (depth < out->rank && out->dims[depth] != n)
        return odb_fail(err, ODB_E_FORMAT, "lists side by side are of different lengths");
    out->dims[depth] = n;
    out->rank = depth + 1 > out->rank ? depth + 1 : out->rank;
    for (size_t i = 0; i < n; i++)
        ODB_TRY(encodings_add_numbers(out, json_array_get(json, i), depth + 1, room, err));
    return ODB_OK;
}

enum odb_status encodings_numbers(struct encodings_numbers *out, const json_t *json,
                                  struct odb_error *err)
{
    size_t room = 0;
    *out = (struct encodings_numbers){.items = NULL};
    return json ? encodings_add_numbers(out, json, 0, &room, err) : ODB_OK;
}

enum odb_status encodings_whole(int *out, const json_t *json, const char *what,
                                struct odb_error *err)
{
    json_int_t v = json_integer_value(json);
    if (!json)
        return ODB_OK;
    if (!json_is_integer(json) || v < 0 || v > INT_MAX)
        return odb_fail(err, ODB_E_FORMAT, "its %s is no whole number from 0 on", what);
    *out = (int)v;
    return ODB_OK;
}

/* --- what is said of a value ------------------------------------------------------------------ */

void encodings_said_dispose(struct encodings_said *said)
{
    free(said->scale.items);
    free(said->zero.items);
    said->scale.items = said->zero.items = NULL;
}

static enum odb_status encodings_check_said(const struct encodings_said *said,
                                            struct odb_error *err)
{
    if (said->bits < 2 || said->bits > ENCODINGS_BITS)
        return odb_fail(err, ODB_E_FORMAT, "%d bits are not supported, but 2 to %d", said->bits,
                        ENCODINGS_BITS);
    if (!said->scale.n)
        return odb_fail(err, ODB_E_FORMAT, "it has no scale");
    if (said->zero.n > 1 && said->zero.n != said->scale.n)
        return odb_fail(err, ODB_E_FORMAT, "it has %zu scales and %zu zero points", said->scale.n,
                        said->zero.n);
    if (said->scale.n > 1 && said->axis == ODB_ENCODING_NO_AXIS &&
        said->block_axis == ODB_ENCODING_NO_AXIS)
        return odb_fail(err, ODB_E_FORMAT, "it has %zu scales and no axis", said->scale.n);
    if (said->block_axis != ODB_ENCODING_NO_AXIS && (said->block < 1 || said->block > INT_MAX))
        return odb_fail(err, ODB_E_FORMAT, "a block of %lld elements is none",
                        (long long)said->block);
    for (size_t i = 0; i < said->scale.n; i++) {
        double scale = said->scale.items[i]; /* of float, and 0 only where it is 0 */
        if (!(scale >= 0 && scale <= (double)FLT_MAX) || (scale > 0 && (odb_f32)scale == 0))
            return odb_fail(err, ODB_E_FORMAT, "%g is no scale", scale);
    }
    for (size_t i = 0; i < said->zero.n; i++)
        if (said->zero.items[i] != nearbyint(said->zero.items[i]))
            return odb_fail(err, ODB_E_FORMAT,
                            "its zero point %g is no whole number: those are "
                            "not supported",
                            said->zero.items[i]);
    return ODB_OK;
}

static enum odb_status encodings_fill(struct odb_encoding *out, const struct encodings_said *said,
                                      struct odb_error *err)
{
    double codes = ldexp(1, said->bits), least = said->is_signed ? -codes / 2 : 0;
    double most = least + codes - 1;
    if (said->bounded) {
        least = said->least;
        most = said->most;
    }
    for (size_t i = 0; i < out->n; i++) {
        double zero = said->zero.n ? said->zero.items[said->zero.n > 1 ? i : 0] : 0;
        out->scale[i] = (odb_f32)said->scale.items[i];
        out->lo[i] = least - zero;
        out->hi[i] = most - zero;
        if (out->lo[i] > out->hi[i] || zero < least || zero > most)
            return odb_fail(err, ODB_E_FORMAT,
                            "its zero point %g is none of its codes, which are %g to %g", zero,
                            least, most);
    }
    return ODB_OK;
}

enum odb_status encodings_say(struct odb_encodings *out, const struct encodings_said *said,
                              struct odb_error *err)
{
    struct odb_encoding e;
    bool steps = said->type == ODB_UNDEFINED;
    enum odb_status status = steps ? encodings_check_said(said, err) : ODB_OK;
    if (status != ODB_OK)
        return odb_error_at(err, "value %.200s", said->name);
    odb_encoding_init(&e, said->name, steps ? said->scale.n : 1);
    e.type = said->type;
    e.bits = said->bits;
    e.symmetric = said->symmetric;
    e.axis = said->axis;
    e.block_axis = said->block_axis;
    e.block = said->block;
    if (steps)
        status = encodings_fill(&e, said, err);
    if (status == ODB_OK && !odb_encodings_add(out, &e))
        status = odb_fail(err, ODB_E_FORMAT, "it has two encodings");
    odb_encoding_dispose(&e);
    return status == ODB_OK ? ODB_OK : odb_error_at(err, "value %.200s", said->name);
}

enum odb_status encodings_take(struct odb_encodings *out, struct encodings_said *said,
                               enum odb_status status, struct odb_error *err)
{
    if (status != ODB_OK)
        odb_error_at(err, "value %.200s", said->name);
    else if (said->type != ODB_F32)
        status = encodings_say(out, said, err);
    encodings_said_dispose(said);
    return status;
}

/* --- the file --------------------------------------------------------------------------------- */

static enum odb_status encodings_load(struct odb_buf *out, const char *path, struct odb_error *err)
{
    FILE *f;
    size_t got = 1;
    ODB_TRY(odb_file_open(&f, path, err));
    while (got && out->len < ENCODINGS_MOST) {
        char *to = odb_buf_reserve(out, 1 << 16);
        got = fread(to, 1, 1 << 16, f);
        out->len += got;
    }
    bool failed = ferror(f) != 0;
    fclose(f);
    odb_buf_putc(out, '\0'); /* it is read as a text */
    out->len--;
    if (failed)
        return odb_fail(err, ODB_E_IO, "%s", strerror(errno));
    if (out->len >= ENCODINGS_MOST)
        return odb_fail(err, ODB_E_FORMAT, "it is larger than any file of encodings");
    return ODB_OK;
}

static void encodings_hash(const struct odb_buf *text, char hex[65])
{
    SHA256_CTX sha;
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_Init(&sha);
    odb_sha256_update(&sha, text->data, text->len);
    SHA256_Final(digest, &sha);
    odb_hex(digest, sizeof digest, hex);
}

static enum odb_status encodings_parse_json(struct odb_encodings *out, const struct odb_buf *text,
                                            struct odb_error *err)
{
    json_error_t where;
    json_t *root = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return odb_fail(err, ODB_E_FORMAT, "line %d: %s", where.line, where.text);
    enum odb_status status = ODB_OK;
    if (json_object_get(root, "values"))
        status = encodings_read_own(out, root, err);
    else if (json_object_get(root, "activation_encodings") ||
             json_object_get(root, "param_encodings") || json_object_get(root, "encodings"))
        status = encodings_read_aimet(out, root, err);
    else
        status =
            odb_fail(err, ODB_E_FORMAT,
                     "its JSON has neither values, as onnxdbg's own, nor activation_encodings, "
                     "param_encodings or encodings, as AIMET's and QNN's");
    json_decref(root);
    return status;
}

static enum odb_status encodings_parse(struct odb_encodings *out, const struct odb_buf *text,
                                       struct odb_error *err)
{
    const char *at = odb_buf_text(text);
    at += strspn(at, " \t\r\n");
    if (*at == '{')
        return encodings_parse_json(out, text, err);
    if (strstr(at, "quantize_parameters:"))
        return encodings_read_rknn(out, at, err);
    odb_fail(err, ODB_E_FORMAT, "it is no file of encodings that is known");
    return odb_error_remedy(err, "onnxdbg-encodings(7) describes what is read");
}

enum odb_status odb_encodings_read(struct odb_encodings **out, const char *path,
                                   struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_encodings *made = odb_new(struct odb_encodings);
    made->path = odb_xstrdup(path);
    enum odb_status status = encodings_load(&text, path, err);
    if (status == ODB_OK)
        status = encodings_parse(made, &text, err);
    if (status == ODB_OK && !made->list.n)
        status = odb_fail(err, ODB_E_FORMAT, "it has no encodings");
    if (status == ODB_OK)
        encodings_hash(&text, made->sha256);
    odb_buf_dispose(&text);
    if (status != ODB_OK) {
        odb_encodings_free(made);
        return odb_error_at(err, "%s", path);
    }
    *out = made;
    return ODB_OK;
}
