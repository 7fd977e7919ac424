/* SPDX-License-Identifier: MIT
 *
 * Operators that look things up: LabelEncoder, CategoryMapper, OneHotEncoder, DictVectorizer,
 * CastMap, ZipMap, ArrayFeatureExtractor. Of equal keys the last one counts. Nothing here computes.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/text/lookup.h"
#include "kernels/ml/ml.h"
#include "kernels/core/row.h"

/* A copy of element j of `from` becomes element i of `to`, of the same type. */
static enum odb_status encode_copy(struct odb_tensor *to, size_t i, const struct odb_tensor *from,
                                   size_t j, struct odb_error *err)
{
    size_t size = odb_dtype_info(to->dtype)->bits / 8;
    const struct odb_str *s = (const struct odb_str *)from->data + j;
    if (to->dtype == ODB_STRING)
        return odb_tensor_set_string(to, i, s->data, s->len, err);
    memcpy((char *)to->data + i * size, (const char *)from->data + j * size, size);
    return ODB_OK;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Element i as an integer that is equal where the elements are: integers themselves, floats by
 * their bits, all of which are a number's own (any NaN is NaN, -0 is 0) unless `bitwise`. */
static int64_t encode_key(const struct odb_tensor *t, size_t i, bool bitwise)
{
    int64_t bits;
    if (!odb_dtype_is_float(t->dtype))
        return odb_tensor_i64(t, i);
    double v = odb_tensor_f64(t, i);
    if (!bitwise)
        v = isnan(v) ? NAN : v + 0.0;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

struct encode_keys {
    struct odb_lookup lookup;
    int64_t *ints; /* owned; NULL: strings */
    bool bitwise;
};

static void encode_keys_init(struct encode_keys *keys, const struct odb_tensor *t, bool bitwise)
{
    *keys = (struct encode_keys){.bitwise = bitwise};
    if (t->dtype != ODB_STRING) {
        keys->ints = odb_new_n(int64_t, t->count + 1);
        for (size_t i = 0; i < t->count; i++)
            keys->ints[i] = encode_key(t, i, bitwise);
    }
    odb_lookup_init(&keys->lookup, keys->ints, t->data, t->count);
}

static void encode_keys_dispose(struct encode_keys *keys)
{
    odb_lookup_dispose(&keys->lookup);
    free(keys->ints);
}

static size_t encode_find(const struct encode_keys *keys, const struct odb_tensor *x, size_t i)
{
    if (x->dtype == ODB_STRING)
        return odb_lookup_string(&keys->lookup, ((const struct odb_str *)x->data)[i]);
    return odb_lookup_int(&keys->lookup, encode_key(x, i, keys->bitwise));
}

/* Every element of input 0 becomes the value at its key's place, or the fallback's only one. */
static enum odb_status encode_map(struct odb_kern *k, const struct odb_tensor *keys,
                                  const struct odb_tensor *values,
                                  const struct odb_tensor *fallback, bool bitwise)
{
    struct encode_keys index;
    enum odb_status status = ODB_OK;
    encode_keys_init(&index, keys, bitwise);
    for (size_t i = 0; i < k->in[0]->count && status == ODB_OK; i++) {
        size_t at = encode_find(&index, k->in[0], i);
        status = at == ODB_LOOKUP_NONE ? encode_copy(k->out[0], i, fallback, 0, k->err)
                                       : encode_copy(k->out[0], i, values, at, k->err);
    }
    encode_keys_dispose(&index);
    return status;
}

/* --- lists from attributes -------------------------------------------------------------------- */

static const struct encode_source {
    const char *suffix;
    enum odb_attr_type type;
    enum odb_dtype dtype; /* of the elements; tensors have their own */
} encode_sources[] = {{"strings", ODB_ATTR_STRINGS, ODB_STRING},
                      {"int64s", ODB_ATTR_INTS, ODB_I64},
                      {"floats", ODB_ATTR_FLOATS, ODB_F32},
                      {"tensor", ODB_ATTR_TENSOR, ODB_UNDEFINED}};

static enum odb_status encode_from(struct odb_kern *k, const struct odb_attr *a,
                                   enum odb_dtype dtype, struct odb_tensor **out)
{
    int64_t dims[1] = {(int64_t)a->n};
    if (a->type == ODB_ATTR_STRINGS)
        return odb_tensor_copy_of(out, dtype, 1, dims, a->strings, k->err);
    if (a->type == ODB_ATTR_INTS)
        return odb_tensor_copy_of(out, dtype, 1, dims, a->ints, k->err);
    if (a->type == ODB_ATTR_FLOATS)
        return odb_tensor_copy_of(out, dtype, 1, dims, a->floats, k->err);
    const struct odb_tensor *t = a->tensors[0];
    if (t->kind != ODB_TENSOR || !t->data || odb_dtype_info(t->dtype)->bits % 8)
        return ODB_KERN_UNSUPPORTED(k, "%s of type %s", a->name, odb_dtype_info(t->dtype)->name);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

/* What prefix_strings, prefix_int64s, prefix_floats or prefix_tensor holds, one and only one of
 * them. */
static enum odb_status encode_list(struct odb_kern *k, const char *prefix, struct odb_tensor **out)
{
    const struct odb_attr *list = NULL;
    enum odb_dtype dtype = ODB_UNDEFINED;
    for (size_t i = 0; i < ODB_COUNT(encode_sources); i++) {
        const struct encode_source *source = &encode_sources[i];
        char name[40];
        snprintf(name, sizeof name, "%s_%s", prefix, source->suffix);
        const struct odb_attr *a = odb_attrs_find(&k->attrs, name);
        if (!a || a->type != source->type || a->n == 0)
            continue;
        if (list)
            return ODB_KERN_FAIL(k, "only one of %s and %s may be given", list->name, name);
        list = a;
        dtype = source->dtype;
    }
    if (!list)
        return ODB_KERN_FAIL(k, "no list of %s is given", prefix);
    return encode_from(k, list, dtype, out);
}

static enum odb_status encode_one(struct odb_tensor **out, enum odb_dtype dtype, int64_t i,
                                  double f, const char *s, struct odb_error *err)
{
    ODB_TRY(odb_tensor_new(out, dtype, 0, NULL, err));
    if (odb_dtype_is_float(dtype))
        odb_store_f64(dtype, (*out)->data, 0, f);
    else if (dtype != ODB_STRING)
        odb_store_i64(dtype, (*out)->data, 0, i);
    else
        return odb_tensor_set_string(*out, 0, s, strlen(s), err);
    return ODB_OK;
}

/* --- LabelEncoder ----------------------------------------------------------------------------- */

/* From version 2 on: keys and values as lists of any type. */
struct encode_label {
    struct odb_tensor *keys, *values, *fallback; /* owned */
};

static void encode_label_dispose(struct encode_label *l)
{
    odb_tensor_unref(l->keys);
    odb_tensor_unref(l->values);
    odb_tensor_unref(l->fallback);
}

static enum odb_status encode_read_fallback(struct odb_kern *k, struct encode_label *l)
{
    const struct odb_tensor *t = odb_kern_tensor(k, "default_tensor");
    enum odb_dtype dtype = l->values->dtype;
    if (t && t->count == 1 && t->data && t->dtype == dtype) {
        l->fallback = odb_tensor_ref(t);
        return ODB_OK;
    }
    if (t && t->dtype != ODB_UNDEFINED)
        return ODB_KERN_FAIL(k, "default_tensor must be one %s", odb_dtype_info(dtype)->name);
    return encode_one(&l->fallback, dtype, odb_kern_int(k, "default_int64", -1),
                      odb_kern_float(k, "default_float", -0.0),
                      odb_kern_string(k, "default_string", "_Unused"), k->err);
}

static enum odb_status encode_read_label(struct odb_kern *k, struct encode_label *l)
{
    const struct odb_tensor *x = k->in[0];
    ODB_TRY(encode_list(k, "keys", &l->keys));
    ODB_TRY(encode_list(k, "values", &l->values));
    if (l->keys->count != l->values->count)
        return ODB_KERN_FAIL(k, "%zu keys and %zu values", l->keys->count, l->values->count);
    bool carried = k->carry_f64 && odb_dtype_is_float(x->dtype);
    if (l->keys->dtype != x->dtype && !(carried && odb_dtype_is_float(l->keys->dtype)))
        return ODB_KERN_FAIL(k, "keys of type %s for input of type %s",
                             odb_dtype_info(l->keys->dtype)->name, odb_dtype_info(x->dtype)->name);
    return encode_read_fallback(k, l);
}

static enum odb_status encode_infer_label(struct odb_kern *k)
{
    struct encode_label l = {NULL, NULL, NULL};
    enum odb_status status;
    ODB_TRY_OUT(encode_read_label(k, &l));
    status = odb_kern_outline(k, 0, l.values->dtype, k->in[0]->rank, k->in[0]->dims);
out:
    encode_label_dispose(&l);
    return status;
}

static enum odb_status encode_run_label(struct odb_kern *k)
{
    struct encode_label l = {NULL, NULL, NULL};
    enum odb_status status;
    ODB_TRY_OUT(encode_read_label(k, &l));
    status = encode_map(k, l.keys, l.values, l.fallback, k->op->since < 4);
out:
    encode_label_dispose(&l);
    return status;
}

/* --- strings to numbers and back -------------------------------------------------------------- */

/* LabelEncoder 1, CategoryMapper: strings become int64, int64 becomes strings. */
static enum odb_status encode_infer_swap(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    return odb_kern_outline(k, 0, x->dtype == ODB_STRING ? ODB_I64 : ODB_STRING, x->rank, x->dims);
}

static enum odb_status encode_swap(struct odb_kern *k, const int64_t *ints,
                                   const struct odb_str *strings, size_t n)
{
    struct odb_tensor *numbers = NULL, *words = NULL, *fallback = NULL;
    enum odb_status status;
    bool forth = k->in[0]->dtype == ODB_STRING;
    int64_t dims[1] = {(int64_t)n};
    ODB_TRY_OUT(odb_tensor_copy_of(&numbers, ODB_I64, 1, dims, ints, k->err));
    ODB_TRY_OUT(odb_tensor_copy_of(&words, ODB_STRING, 1, dims, strings, k->err));
    ODB_TRY_OUT(encode_one(&fallback, forth ? ODB_I64 : ODB_STRING,
                           odb_kern_int(k, "default_int64", -1), 0,
                           odb_kern_string(k, "default_string", "_Unused"), k->err));
    status = encode_map(k, forth ? words : numbers, forth ? numbers : words, fallback, false);
out:
    odb_tensor_unref(numbers);
    odb_tensor_unref(words);
    odb_tensor_unref(fallback);
    return status;
}

static enum odb_status encode_run_classes(struct odb_kern *k)
{
    size_t n;
    const struct odb_str *strings = odb_kern_strings(k, "classes_strings", &n);
    if (n == 0)
        return ODB_KERN_FAIL(k, "classes_strings is missing");
    int64_t *ints = odb_new_n(int64_t, n);
    for (size_t i = 0; i < n; i++)
        ints[i] = (int64_t)i;
    enum odb_status status = encode_swap(k, ints, strings, n);
    free(ints);
    return status;
}

static enum odb_status encode_run_category(struct odb_kern *k)
{
    size_t n_ints, n_strings;
    const int64_t *ints = odb_kern_ints(k, "cats_int64s", &n_ints);
    const struct odb_str *strings = odb_kern_strings(k, "cats_strings", &n_strings);
    if (n_ints != n_strings || n_ints == 0)
        return ODB_KERN_FAIL(k, "%zu cats_int64s and %zu cats_strings", n_ints, n_strings);
    return encode_swap(k, ints, strings, n_ints);
}

/* --- OneHotEncoder ---------------------------------------------------------------------------- */

static enum odb_status encode_read_categories(struct odb_kern *k, struct odb_ml_labels *cats)
{
    ODB_TRY(odb_ml_labels(k, "cats_int64s", "cats_strings", cats));
    if ((k->in[0]->dtype == ODB_STRING) != (cats->strings != NULL))
        return ODB_KERN_FAIL(k, "%s for input of type %s",
                             cats->strings ? "cats_strings" : "cats_int64s",
                             odb_dtype_info(k->in[0]->dtype)->name);
    return ODB_OK;
}

static enum odb_status encode_infer_onehot(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_ml_labels cats;
    int64_t dims[ODB_MAX_RANK + 1];
    ODB_TRY(encode_read_categories(k, &cats));
    memcpy(dims, x->dims, sizeof x->dims);
    dims[x->rank] = (int64_t)cats.n;
    return odb_kern_outline(k, 0, odb_ml_float(k), x->rank + 1, dims);
}

static enum odb_status encode_run_onehot(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    struct odb_ml_labels cats;
    struct odb_lookup index;
    enum odb_status status = ODB_OK;
    ODB_TRY(encode_read_categories(k, &cats));
    bool skip = odb_kern_int(k, "zeros", 1) != 0;
    odb_lookup_init(&index, cats.ints, cats.strings, cats.n);
    memset(y->data, 0, y->bytes);
    for (size_t i = 0; i < x->count; i++) {
        bool is_float = odb_dtype_is_float(x->dtype);
        double v = is_float ? odb_tensor_f64(x, i) : 0;
        size_t at = ODB_LOOKUP_NONE;
        if (x->dtype == ODB_STRING)
            at = odb_lookup_string(&index, ((const struct odb_str *)x->data)[i]);
        else if (v >= -0x1p63 && v < 0x1p63) /* what no integer stands for has no category */
            at = odb_lookup_int(&index, odb_tensor_i64(x, i));
        if (at != ODB_LOOKUP_NONE) {
            odb_store_i64(y->dtype, y->data, i * cats.n + at, 1);
        } else if (!skip) {
            status = ODB_KERN_FAIL(k, "element %zu is in no category, and zeros is 0", i);
            break;
        }
    }
    odb_lookup_dispose(&index);
    return status;
}

/* --- maps ------------------------------------------------------------------------------------- */

/* The parts of input 0, a map: as many keys as values, both tensors. */
static enum odb_status encode_parts(struct odb_kern *k, const struct odb_tensor **keys,
                                    const struct odb_tensor **values)
{
    const struct odb_tensor *x = k->in[0];
    if (x->kind != ODB_MAP || x->items[0]->kind != ODB_TENSOR)
        return ODB_KERN_FAIL(k, "input 0 is no map");
    *keys = x->items[0];
    *values = x->items[1];
    bool empty = (*keys)->count == 0 && (*values)->kind == ODB_SEQUENCE; /* of unknown type */
    if (!empty && ((*values)->kind != ODB_TENSOR || (*values)->count != (*keys)->count))
        return ODB_KERN_UNSUPPORTED(k, "a map whose values are no single numbers or strings");
    return ODB_OK;
}

static enum odb_status encode_run_vectorize(struct odb_kern *k)
{
    const struct odb_tensor *keys = NULL, *values = NULL;
    struct odb_ml_labels words;
    struct encode_keys index;
    enum odb_status status;
    ODB_TRY(encode_parts(k, &keys, &values));
    ODB_TRY(odb_ml_labels(k, "int64_vocabulary", "string_vocabulary", &words));
    if (odb_ml_labels_dtype(&words) != keys->dtype)
        return ODB_KERN_FAIL(k, "a map with keys of type %s and a vocabulary of another",
                             odb_dtype_info(keys->dtype)->name);
    if (values->kind != ODB_TENSOR)
        return ODB_KERN_UNSUPPORTED(k, "an empty map whose values have no type");
    encode_keys_init(&index, keys, false);
    ODB_TRY_OUT(odb_kern_output(k, 0, values->dtype, 2, (int64_t[]){1, (int64_t)words.n}));
    struct odb_tensor *y = k->out[0];
    if (y->dtype != ODB_STRING)
        memset(y->data, 0, y->bytes);
    for (size_t i = 0; i < words.n; i++) {
        size_t at = words.ints ? odb_lookup_int(&index.lookup, words.ints[i])
                               : odb_lookup_string(&index.lookup, words.strings[i]);
        if (at != ODB_LOOKUP_NONE)
            ODB_TRY_OUT(encode_copy(y, i, values, at, k->err));
    }
out:
    encode_keys_dispose(&index);
    return status;
}

/* Text as a number, all of it. */
static enum odb_status encode_parse(struct odb_kern *k, struct odb_str s, enum odb_dtype dtype,
                                    void *data, size_t i)
{
    char *text = odb_xstrndup(s.data, s.len), *end = text;
    bool whole = dtype == ODB_I64;
    errno = 0;
    int64_t integer = whole ? strtoll(text, &end, 10) : 0;
    double real = whole ? 0 : dtype == ODB_F32 ? strtof(text, &end) : strtod(text, &end);
    bool bad = end == text || (size_t)(end - text) != s.len || (whole && errno == ERANGE);
    free(text);
    if (bad)
        return ODB_KERN_FAIL(k, "'%.*s' is no number that fits", (int)ODB_MIN(s.len, (size_t)40),
                             s.data);
    if (whole)
        odb_store_i64(dtype, data, i, integer);
    else
        odb_store_f64(dtype, data, i, real);
    return ODB_OK;
}

/* Value j of a map as element i of the output. ONNX does not say how a number is written; six
 * decimals is what ONNX Runtime gives. */
static enum odb_status encode_cast(struct odb_kern *k, size_t i, const struct odb_tensor *values,
                                   size_t j)
{
    struct odb_tensor *y = k->out[0];
    char text[400];
    if (values->dtype == y->dtype)
        return encode_copy(y, i, values, j, k->err);
    if (values->dtype == ODB_STRING)
        return encode_parse(k, ((const struct odb_str *)values->data)[j], y->dtype, y->data, i);
    double v = odb_tensor_f64(values, j);
    if (y->dtype == ODB_STRING) {
        snprintf(text, sizeof text, "%f", v);
        return odb_tensor_set_string(y, i, text, strlen(text), k->err);
    }
    if (y->dtype == ODB_I64 && !(v >= -0x1p63 && v < 0x1p63))
        return ODB_KERN_FAIL(k, "%g is outside of int64", v);
    odb_convert(y->dtype, (char *)y->data + i * odb_dtype_info(y->dtype)->bits / 8, ODB_F64, &v, 1);
    return ODB_OK;
}

/* Places that a sparse map leaves empty hold zeros; of strings ONNX does not say what, and this is
 * what ONNX Runtime has there. */
static enum odb_status encode_fill(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    if (y->dtype != ODB_STRING)
        memset(y->data, 0, y->bytes);
    for (size_t i = 0; y->dtype == ODB_STRING && i < y->count; i++)
        ODB_TRY(odb_tensor_set_string(y, i, "0.f", 3, k->err));
    return ODB_OK;
}

static enum odb_status encode_cast_type(struct odb_kern *k, enum odb_dtype *out)
{
    const char *to = odb_kern_string(k, "cast_to", "TO_FLOAT");
    *out = strcmp(to, "TO_FLOAT") == 0    ? odb_ml_float(k)
           : strcmp(to, "TO_INT64") == 0  ? ODB_I64
           : strcmp(to, "TO_STRING") == 0 ? ODB_STRING
                                          : ODB_UNDEFINED;
    return *out == ODB_UNDEFINED ? ODB_KERN_FAIL(k, "there is no cast_to '%s'", to) : ODB_OK;
}

/* Sparse: key n is element n. */
static enum odb_status encode_cast_sparse(struct odb_kern *k, const struct odb_lookup *index,
                                          const struct odb_tensor *values)
{
    ODB_TRY(encode_fill(k));
    for (size_t i = 0; i < index->n; i++) {
        int64_t key = index->ints[i];
        if (key < 0 || (size_t)key >= k->out[0]->count)
            return ODB_KERN_FAIL(k, "key %lld is outside [0, max_map)", (long long)key);
        ODB_TRY(encode_cast(k, (size_t)key, values, odb_lookup_int(index, key)));
    }
    return ODB_OK;
}

static enum odb_status encode_run_castmap(struct odb_kern *k)
{
    const struct odb_tensor *keys = NULL, *values = NULL;
    struct encode_keys index;
    enum odb_dtype dtype;
    enum odb_status status;
    const char *form = odb_kern_string(k, "map_form", "DENSE");
    bool sparse = strcmp(form, "SPARSE") == 0;
    int64_t most = odb_kern_int(k, "max_map", 1);
    ODB_TRY(encode_parts(k, &keys, &values));
    ODB_TRY(encode_cast_type(k, &dtype));
    if (!sparse && strcmp(form, "DENSE") != 0)
        return ODB_KERN_FAIL(k, "there is no map_form '%s'", form);
    if (keys->dtype != ODB_I64 || (sparse && most < 1))
        return ODB_KERN_FAIL(k, "keys of type %s and max_map %lld",
                             odb_dtype_info(keys->dtype)->name, (long long)most);
    encode_keys_init(&index, keys, false);
    ODB_TRY_OUT(odb_kern_output(k, 0, dtype, 1, (int64_t[]){sparse ? most : (int64_t)keys->count}));
    if (sparse)
        ODB_TRY_OUT(encode_cast_sparse(k, &index.lookup, values));
    for (size_t i = 0; !sparse && i < keys->count; i++)
        ODB_TRY_OUT(encode_cast(k, i, values, index.lookup.order[i]));
out:
    encode_keys_dispose(&index);
    return status;
}

/* --- ZipMap ----------------------------------------------------------------------------------- */

/* A row of scores as a map; maps are in the order of their keys. */
static enum odb_status encode_zip_row(struct odb_kern *k, struct odb_tensor *keys,
                                      const struct odb_lookup *index, size_t row,
                                      struct odb_tensor **out)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *values;
    ODB_TRY(odb_tensor_new_raw(&values, odb_ml_float(k), 1, keys->dims, k->err));
    for (size_t i = 0; i < index->n; i++)
        odb_store_f64(values->dtype, values->data, i,
                      odb_tensor_f64(x, row * index->n + index->order[i]));
    enum odb_status status =
        odb_tensor_new_container(out, ODB_MAP, (struct odb_tensor *[]){keys, values}, 2, k->err);
    odb_tensor_unref(values);
    return status;
}

static enum odb_status encode_zip_keys(struct odb_kern *k, const struct odb_lookup *index,
                                       const struct odb_ml_labels *labels, struct odb_tensor **keys)
{
    size_t *order = index->order, n = index->n;
    ODB_TRY(odb_tensor_new(keys, odb_ml_labels_dtype(labels), 1, (int64_t[]){(int64_t)n}, k->err));
    for (size_t i = 0; i < n; i++) {
        bool again = i > 0 && (labels->ints ? labels->ints[order[i - 1]] == labels->ints[order[i]]
                                            : odb_str_order(labels->strings[order[i - 1]],
                                                            labels->strings[order[i]]) == 0);
        if (again)
            return ODB_KERN_FAIL(k, "class labels %zu and %zu are the same", order[i - 1],
                                 order[i]);
        if (labels->ints)
            odb_store_i64(ODB_I64, (*keys)->data, i, labels->ints[order[i]]);
        else
            ODB_TRY(odb_tensor_set_string(*keys, i, labels->strings[order[i]].data,
                                          labels->strings[order[i]].len, k->err));
    }
    return ODB_OK;
}

static enum odb_status encode_run_zip(struct odb_kern *k)
{
    struct odb_ml_labels labels;
    struct odb_lookup index;
    struct odb_tensor *keys = NULL, **maps = NULL;
    enum odb_status status;
    size_t rows, width;
    ODB_TRY(odb_ml_shape(k, &rows, &width));
    ODB_TRY(odb_ml_labels(k, "classlabels_int64s", "classlabels_strings", &labels));
    if (width != labels.n)
        return ODB_KERN_FAIL(k, "%zu columns for %zu class labels", width, labels.n);
    odb_lookup_init(&index, labels.ints, labels.strings, labels.n);
    ODB_TRY_OUT(encode_zip_keys(k, &index, &labels, &keys));
    maps = odb_work_take(rows + 1, sizeof(struct odb_tensor *));
    if (!maps)
        ODB_TRY_OUT(odb_kern_no_memory(k));
    for (size_t i = 0; i < rows; i++)
        ODB_TRY_OUT(encode_zip_row(k, keys, &index, i, &maps[i]));
    status = odb_tensor_new_container(&k->out[0], ODB_SEQUENCE, maps, rows, k->err);
out:
    for (size_t i = 0; maps && i < rows; i++)
        odb_tensor_unref(maps[i]);
    odb_work_give(maps);
    odb_tensor_unref(keys);
    odb_lookup_dispose(&index);
    return status;
}

/* --- ArrayFeatureExtractor -------------------------------------------------------------------- */

/* All dimensions but the last stay; a vector becomes a matrix of one row. */
static enum odb_status encode_infer_extract(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK] = {1};
    int rank = ODB_MAX(x->rank, 2);
    if (x->rank == 0)
        return ODB_KERN_FAIL(k, "input 0 is a scalar");
    if (x->rank > 1)
        memcpy(dims, x->dims, sizeof x->dims);
    dims[rank - 1] = (int64_t)k->in[1]->count;
    return odb_kern_outline(k, 0, x->dtype, rank, dims);
}

static enum odb_status encode_run_extract(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *indices = k->in[1];
    size_t n = indices->count, width = (size_t)x->dims[x->rank - 1];
    for (size_t i = 0; i < n; i++) {
        int64_t at = odb_tensor_i64(indices, i);
        if (at < 0 || (uint64_t)at >= width)
            return ODB_KERN_FAIL(k, "index %lld is outside [0, %zu)", (long long)at, width);
    }
    for (size_t i = 0; i < k->out[0]->count; i++)
        ODB_TRY(encode_copy(k->out[0], i, x, i / n * width + (size_t)odb_tensor_i64(indices, i % n),
                            k->err));
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

#define ENCODE_DEFAULTS                                                                            \
    {.name = "default_int64", .type = ODB_ATTR_INT, .def = "-1"},                                  \
    {                                                                                              \
        .name = "default_string", .type = ODB_ATTR_STRING, .def = "_Unused"                        \
    }
#define ENCODE_LISTS                                                                               \
    {.name = "default_float", .type = ODB_ATTR_FLOAT, .def = "-0.0"},                              \
        {.name = "keys_floats", .type = ODB_ATTR_FLOATS},                                          \
        {.name = "keys_int64s", .type = ODB_ATTR_INTS},                                            \
        {.name = "keys_strings", .type = ODB_ATTR_STRINGS},                                        \
        {.name = "values_floats", .type = ODB_ATTR_FLOATS},                                        \
        {.name = "values_int64s", .type = ODB_ATTR_INTS},                                          \
    {                                                                                              \
        .name = "values_strings", .type = ODB_ATTR_STRINGS                                         \
    }

static const struct odb_attr_spec encode_attrs_label_1[] = {
    {.name = "classes_strings", .type = ODB_ATTR_STRINGS}, ENCODE_DEFAULTS, {.name = NULL}};
static const struct odb_attr_spec encode_attrs_label_2[] = {
    ENCODE_DEFAULTS, ENCODE_LISTS, {.name = NULL}};
static const struct odb_attr_spec encode_attrs_label_4[] = {
    ENCODE_DEFAULTS,
    ENCODE_LISTS,
    {.name = "default_tensor", .type = ODB_ATTR_TENSOR},
    {.name = "keys_tensor", .type = ODB_ATTR_TENSOR},
    {.name = "values_tensor", .type = ODB_ATTR_TENSOR},
    {.name = NULL}};
static const struct odb_attr_spec encode_attrs_category[] = {
    ENCODE_DEFAULTS,
    {.name = "cats_int64s", .type = ODB_ATTR_INTS},
    {.name = "cats_strings", .type = ODB_ATTR_STRINGS},
    {.name = NULL}};
static const struct odb_attr_spec encode_attrs_onehot[] = {
    {.name = "cats_int64s", .type = ODB_ATTR_INTS},
    {.name = "cats_strings", .type = ODB_ATTR_STRINGS},
    {.name = "zeros", .type = ODB_ATTR_INT, .def = "1"},
    {.name = NULL}};
static const struct odb_attr_spec encode_attrs_vectorize[] = {
    {.name = "int64_vocabulary", .type = ODB_ATTR_INTS},
    {.name = "string_vocabulary", .type = ODB_ATTR_STRINGS},
    {.name = NULL}};
static const struct odb_attr_spec encode_attrs_castmap[] = {
    {.name = "cast_to", .type = ODB_ATTR_STRING, .def = "TO_FLOAT"},
    {.name = "map_form", .type = ODB_ATTR_STRING, .def = "DENSE"},
    {.name = "max_map", .type = ODB_ATTR_INT, .def = "1"},
    {.name = NULL}};
static const struct odb_attr_spec encode_attrs_zip[] = {
    {.name = "classlabels_int64s", .type = ODB_ATTR_INTS},
    {.name = "classlabels_strings", .type = ODB_ATTR_STRINGS},
    {.name = NULL}};

#define ENCODE_SWAPS (ODB_T_STRING | ODB_BIT(ODB_I64))
#define ENCODE_KEYS (ENCODE_SWAPS | ODB_BIT(ODB_F32))
#define ENCODE_ROW(op, since, mask, attrs, infer, run, ...)                                        \
    ODB_ONNX_ML(op, since, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_EXACT | ODB_OP_BOUNDARY,       \
                attrs, infer, run, mask, __VA_ARGS__)

const struct odb_op odb_ops_encode[] = {
    ENCODE_ROW("LabelEncoder", 1, ENCODE_SWAPS, encode_attrs_label_1, encode_infer_swap,
               encode_run_classes, ODB_NAMES("X", "Y")),
    ENCODE_ROW("LabelEncoder", 2, ENCODE_KEYS, encode_attrs_label_2, encode_infer_label,
               encode_run_label),
    ENCODE_ROW("LabelEncoder", 4,
               ENCODE_KEYS | ODB_BIT(ODB_F64) | ODB_BIT(ODB_I32) | ODB_BIT(ODB_I16),
               encode_attrs_label_4, encode_infer_label, encode_run_label),
    ENCODE_ROW("CategoryMapper", 1, ENCODE_SWAPS, encode_attrs_category, encode_infer_swap,
               encode_run_category, ODB_NAMES("X", "Y")),
    ENCODE_ROW("OneHotEncoder", 1, ODB_ML_NUMBERS | ODB_T_STRING, encode_attrs_onehot,
               encode_infer_onehot, encode_run_onehot, ODB_NAMES("X", "Y")),
    ENCODE_ROW("DictVectorizer", 1, ODB_T_MAP, encode_attrs_vectorize, NULL, encode_run_vectorize,
               ODB_NAMES("X", "Y")),
    ENCODE_ROW("CastMap", 1, ODB_T_MAP, encode_attrs_castmap, NULL, encode_run_castmap,
               ODB_NAMES("X", "Y")),
    ENCODE_ROW("ZipMap", 1, ODB_BIT(ODB_F32), encode_attrs_zip, NULL, encode_run_zip,
               ODB_NAMES("X", "Z")),
    ODB_ONNX_ML("ArrayFeatureExtractor", 1, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_EXACT, NULL,
                encode_infer_extract, encode_run_extract, ODB_ML_NUMBERS | ODB_T_STRING,
                ODB_BIT(ODB_I64), ODB_NAMES("X,Y", "Z")),
    {.name = NULL},
};
