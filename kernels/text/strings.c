/* SPDX-License-Identifier: MIT
 *
 * StringConcat, StringSplit, StringNormalizer, RegexFullMatch, TfIdfVectorizer. Strings are UTF-8;
 * where characters matter (case, white space, patterns) anything else is refused.
 *
 * StringNormalizer maps character to character, as Unicode's simple mappings do, whatever the
 * locale; locales that map otherwise (Turkic, Lithuanian) are not supported.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "base/buf.h"
#include "system/blocks.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "kernels/core/kern.h"
#include "kernels/text/lookup.h"
#include "kernels/text/regex.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"

static const struct odb_str *text_strings(const struct odb_tensor *t)
{
    return t->data;
}

/* --- StringConcat ----------------------------------------------------------------------------- */

static enum odb_status text_infer_concat(struct odb_kern *k)
{
    int rank = 0;
    int64_t dims[ODB_MAX_RANK];
    ODB_TRY(odb_kern_broadcast(k, k->in[0], k->in[1], &rank, dims));
    return odb_kern_outline(k, 0, ODB_STRING, rank, dims);
}

/* Where the element of t is that an output at these coordinates reads. */
static size_t text_at(const struct odb_tensor *t, const int64_t *at, int rank)
{
    size_t index = 0;
    for (int d = 0; d < t->rank; d++) {
        int64_t i = t->dims[d] == 1 ? 0 : at[rank - t->rank + d];
        index = index * (size_t)t->dims[d] + (size_t)i;
    }
    return index;
}

static enum odb_status text_run_concat(struct odb_kern *k)
{
    struct odb_tensor *y = k->out[0];
    struct odb_buf joined = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    int64_t at[ODB_MAX_RANK];
    for (size_t i = 0; i < y->count && status == ODB_OK; i++) {
        odb_buf_clear(&joined);
        odb_stride_coordinates(y->rank, y->dims, i, at);
        for (int side = 0; side < 2; side++) {
            const struct odb_tensor *x = k->in[side];
            const struct odb_str *s = text_strings(x) + text_at(x, at, y->rank);
            odb_buf_add(&joined, s->data, s->len);
        }
        status = odb_tensor_set_string(y, i, odb_buf_text(&joined), joined.len, k->err);
    }
    odb_buf_dispose(&joined);
    return status;
}

/* --- StringSplit ------------------------------------------------------------------------------ */

typedef ODB_VEC(struct odb_str) text_parts;

static bool text_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Skips characters while they are white space (or while they are not). False: no UTF-8. */
static bool text_skip(const unsigned char **p, const unsigned char *end, bool space)
{
    while (*p < end) {
        const unsigned char *next = *p;
        uint32_t c;
        if (!odb_utf8_next(&next, end, &c))
            return false;
        if (text_is_space(c) != space)
            break;
        *p = next;
    }
    return true;
}

/* At runs of white space; the rest behind the last split keeps what is in it. */
static bool text_split_spaces(struct odb_str s, size_t most, text_parts *parts)
{
    const unsigned char *p = (const unsigned char *)s.data, *end = p + s.len, *from;
    for (size_t splits = 0;; splits++) {
        if (!text_skip(&p, end, true))
            return false;
        if (p == end)
            return true;
        from = p;
        if (splits == most)
            p = end;
        else if (!text_skip(&p, end, false))
            return false;
        odb_push(parts, (struct odb_str){(const char *)from, (size_t)(p - from)});
    }
}

static void text_split_at(struct odb_str s, struct odb_str delimiter, size_t most,
                          text_parts *parts)
{
    const char *p = s.data, *end = p + s.len, *found;
    for (size_t splits = 0; splits < most; splits++) {
        found = memmem(p, (size_t)(end - p), delimiter.data, delimiter.len);
        if (!found)
            break;
        odb_push(parts, (struct odb_str){p, (size_t)(found - p)});
        p = found + delimiter.len;
    }
    odb_push(parts, (struct odb_str){p, (size_t)(end - p)});
}

/* All parts of all elements, and how many each has. */
static enum odb_status text_split(struct odb_kern *k, text_parts *parts, size_t *counts)
{
    const struct odb_tensor *x = k->in[0];
    const struct odb_attr *delimiter = odb_attrs_find(&k->attrs, "delimiter");
    int64_t limit = odb_kern_int(k, "maxsplit", -1);
    size_t most = limit < 0 ? SIZE_MAX : (size_t)limit;
    bool spaces = !delimiter || delimiter->type != ODB_ATTR_STRING || delimiter->s.len == 0;
    for (size_t i = 0; i < x->count; i++) {
        size_t before = parts->n;
        if (!spaces)
            text_split_at(text_strings(x)[i], delimiter->s, most, parts);
        else if (!text_split_spaces(text_strings(x)[i], most, parts))
            return ODB_KERN_FAIL(k, "element %zu is not UTF-8", i);
        counts[i] = parts->n - before;
    }
    return ODB_OK;
}

static enum odb_status text_write_parts(struct odb_kern *k, const text_parts *parts,
                                        const size_t *counts)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK + 1];
    size_t most = 0, part = 0;
    for (size_t i = 0; i < x->count; i++)
        most = ODB_MAX(most, counts[i]);
    memcpy(dims, x->dims, sizeof x->dims);
    dims[x->rank] = (int64_t)most;
    ODB_TRY(odb_kern_output(k, 0, ODB_STRING, x->rank + 1, dims));
    ODB_TRY(odb_kern_output(k, 1, ODB_I64, x->rank, dims));
    for (size_t i = 0; i < x->count; i++) {
        if (k->n_out > 1 && k->out[1])
            odb_store_i64(ODB_I64, k->out[1]->data, i, (int64_t)counts[i]);
        for (size_t j = 0; j < counts[i]; j++, part++)
            if (k->out[0])
                ODB_TRY(odb_tensor_set_string(k->out[0], i * most + j, parts->items[part].data,
                                              parts->items[part].len, k->err));
    }
    return ODB_OK;
}

static enum odb_status text_run_split(struct odb_kern *k)
{
    text_parts parts = {.n = 0};
    size_t *counts = odb_work_take(k->in[0]->count + 1, sizeof *counts);
    if (!counts)
        return odb_kern_no_memory(k);
    enum odb_status status = text_split(k, &parts, counts);
    if (status == ODB_OK)
        status = text_write_parts(k, &parts, counts);
    free(parts.items);
    odb_work_give(counts);
    return status;
}

/* --- StringNormalizer ------------------------------------------------------------------------- */

enum text_case { TEXT_AS_IS, TEXT_LOWER, TEXT_UPPER };

/* s in another case, appended to out. False: no UTF-8. */
static bool text_fold(struct odb_str s, enum text_case to, locale_t locale, struct odb_buf *out)
{
    const unsigned char *p = (const unsigned char *)s.data, *end = p + s.len;
    char bytes[ODB_UTF8_MAX];
    uint32_t c;
    while (p < end) {
        if (!odb_utf8_next(&p, end, &c))
            return false;
        if (to == TEXT_LOWER)
            c = (uint32_t)towlower_l((wint_t)c, locale);
        else if (to == TEXT_UPPER)
            c = (uint32_t)towupper_l((wint_t)c, locale);
        odb_buf_add(out, bytes, odb_utf8_put(bytes, c));
    }
    return true;
}

struct text_normalizer {
    enum text_case change, compare; /* compare: stop words and elements are brought to this case */
    locale_t locale;                /* owned */
    struct odb_buf *folded;         /* owned, [n_words]: stop words */
    struct odb_str *words;          /* owned: their texts */
    size_t n_words;
    struct odb_lookup stop;
};

static void text_normalizer_dispose(struct text_normalizer *n)
{
    for (size_t i = 0; n->folded && i < n->n_words; i++)
        odb_buf_dispose(&n->folded[i]);
    free(n->folded);
    free(n->words);
    odb_lookup_dispose(&n->stop);
    if (n->locale)
        freelocale(n->locale);
}

static enum odb_status text_read_case(struct odb_kern *k, struct text_normalizer *n)
{
    static const char *const names[] = {"NONE", "LOWER", "UPPER"};
    const char *name = odb_kern_string(k, "case_change_action", "NONE");
    const char *locale = odb_kern_string(k, "locale", "");
    size_t i = 0;
    while (i < ODB_COUNT(names) && strcmp(name, names[i]) != 0)
        i++;
    if (i == ODB_COUNT(names))
        return ODB_KERN_FAIL(k, "there is no case_change_action '%s'", name);
    n->change = (enum text_case)i;
    if (!odb_kern_int(k, "is_case_sensitive", 0))
        n->compare = n->change == TEXT_UPPER ? TEXT_UPPER : TEXT_LOWER;
    bool odd = strncmp(locale, "tr", 2) == 0 || strncmp(locale, "az", 2) == 0 ||
               strncmp(locale, "lt", 2) == 0;
    if (odd && (n->change || n->compare))
        return ODB_KERN_UNSUPPORTED(k, "the case of letters in locale '%s'", locale);
    n->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!n->locale)
        return ODB_KERN_UNSUPPORTED(k, "this system has no locale C.UTF-8");
    return ODB_OK;
}

static enum odb_status text_read_normalizer(struct odb_kern *k, struct text_normalizer *n)
{
    ODB_TRY(text_read_case(k, n));
    const struct odb_str *words = odb_kern_strings(k, "stopwords", &n->n_words);
    n->folded = odb_new_n(struct odb_buf, n->n_words + 1);
    n->words = odb_new_n(struct odb_str, n->n_words + 1);
    for (size_t i = 0; i < n->n_words; i++) {
        n->folded[i] = (struct odb_buf)ODB_BUF_INIT;
        if (!text_fold(words[i], n->compare, n->locale, &n->folded[i]))
            return ODB_KERN_FAIL(k, "stopwords[%zu] is not UTF-8", i);
        n->words[i] = (struct odb_str){odb_buf_text(&n->folded[i]), n->folded[i].len};
    }
    odb_lookup_init(&n->stop, NULL, n->words, n->n_words);
    return ODB_OK;
}

/* Keeps what is no stop word, in the case wanted. */
static enum odb_status text_normalize(struct odb_kern *k, const struct text_normalizer *n,
                                      struct odb_buf *room, text_parts *kept)
{
    const struct odb_tensor *x = k->in[0];
    for (size_t i = 0; i < x->count; i++) {
        struct odb_str s = text_strings(x)[i];
        odb_buf_clear(room);
        if (!text_fold(s, n->compare, n->locale, room))
            return ODB_KERN_FAIL(k, "element %zu is not UTF-8", i);
        if (odb_lookup_string(&n->stop, (struct odb_str){odb_buf_text(room), room->len}) ==
            ODB_LOOKUP_NONE)
            odb_push(kept, s);
    }
    return ODB_OK;
}

static enum odb_status text_write_kept(struct odb_kern *k, const struct text_normalizer *n,
                                       struct odb_buf *room, const text_parts *kept)
{
    int rank = k->in[0]->rank;
    int64_t dims[2] = {1, 1};
    dims[rank - 1] = (int64_t)ODB_MAX(kept->n, (size_t)1); /* one empty string if nothing stays */
    ODB_TRY(odb_kern_output(k, 0, ODB_STRING, rank, dims));
    for (size_t i = 0; i < kept->n; i++) {
        odb_buf_clear(room);
        text_fold(kept->items[i], n->change, n->locale, room);
        ODB_TRY(odb_tensor_set_string(k->out[0], i, odb_buf_text(room), room->len, k->err));
    }
    return ODB_OK;
}

static enum odb_status text_run_normalize(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct text_normalizer n = {.change = TEXT_AS_IS};
    struct odb_buf room = ODB_BUF_INIT;
    text_parts kept = {.n = 0};
    enum odb_status status;
    char shape[200];
    if (x->rank != 1 && !(x->rank == 2 && x->dims[0] == 1))
        return ODB_KERN_FAIL(k, "input of shape %s; it must be [C] or [1, C]",
                             odb_shape_text(x, shape, sizeof shape));
    ODB_TRY_OUT(text_read_normalizer(k, &n));
    ODB_TRY_OUT(text_normalize(k, &n, &room, &kept));
    status = text_write_kept(k, &n, &room, &kept);
out:
    text_normalizer_dispose(&n);
    odb_buf_dispose(&room);
    free(kept.items);
    return status;
}

/* --- RegexFullMatch --------------------------------------------------------------------------- */

static enum odb_status text_infer_match(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, ODB_BOOL, k->in[0]->rank, k->in[0]->dims);
}

static enum odb_status text_run_match(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    const struct odb_attr *pattern = odb_attrs_find(&k->attrs, "pattern");
    struct odb_regex *regex;
    enum odb_status status = ODB_OK;
    if (!pattern || pattern->type != ODB_ATTR_STRING)
        return ODB_KERN_FAIL(k, "pattern is missing");
    ODB_TRY(odb_regex_new(&regex, pattern->s, k->err));
    for (size_t i = 0; i < x->count && status == ODB_OK; i++) {
        bool matches = false;
        status = odb_regex_match(regex, text_strings(x)[i], &matches, k->err);
        odb_store_i64(ODB_BOOL, k->out[0]->data, i, matches);
    }
    odb_regex_free(regex);
    return status;
}

/* --- TfIdfVectorizer -------------------------------------------------------------------------- */

/* Tokens are numbers: places in the pool of the last token that is equal; -1 is in no n-gram. */
struct text_gram {
    const int64_t *tokens; /* [n] */
    size_t n, number;      /* number: which n-gram of the pool it is */
};

struct text_vectorizer {
    const int64_t *pool_ints, *columns; /* borrowed */
    const struct odb_str *pool_strings; /* borrowed */
    const odb_f32 *weights;             /* borrowed; NULL: all 1 */
    struct odb_lookup lookup;
    int64_t *pool;                 /* owned: tokens */
    struct text_gram *grams;       /* owned, sorted */
    size_t n_pool, n_grams, width; /* width: columns of the output */
    size_t least, most, skips;     /* lengths of n-grams */
    bool binary;                   /* counts are 0 or 1 */
};

static void text_vectorizer_dispose(struct text_vectorizer *v)
{
    odb_lookup_dispose(&v->lookup);
    free(v->pool);
    free(v->grams);
}

/* Shorter first, then token by token; tokens may lie apart. */
static int text_gram_compare(const struct text_gram *g, const int64_t *tokens, size_t step,
                             size_t n)
{
    if (g->n != n)
        return g->n < n ? -1 : 1;
    for (size_t i = 0; i < n; i++)
        if (g->tokens[i] != tokens[i * step])
            return g->tokens[i] < tokens[i * step] ? -1 : 1;
    return 0;
}

static int text_gram_order(const void *a, const void *b)
{
    const struct text_gram *x = a, *y = b;
    int order = text_gram_compare(x, y->tokens, 1, y->n);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int64_t text_token(const struct text_vectorizer *v, const struct odb_tensor *x, size_t i)
{
    size_t at = v->pool_ints ? odb_lookup_int(&v->lookup, odb_tensor_i64(x, i))
                             : odb_lookup_string(&v->lookup, text_strings(x)[i]);
    return at == ODB_LOOKUP_NONE ? -1 : (int64_t)at;
}

static enum odb_status text_read_pool(struct odb_kern *k, struct text_vectorizer *v)
{
    size_t n_ints, n_strings;
    v->pool_ints = odb_kern_ints(k, "pool_int64s", &n_ints);
    v->pool_strings = odb_kern_strings(k, "pool_strings", &n_strings);
    bool strings = k->in[0]->dtype == ODB_STRING;
    if ((strings ? n_strings : n_ints) == 0 || (strings ? n_ints : n_strings) > 0)
        return ODB_KERN_FAIL(k, "%zu pool_int64s and %zu pool_strings for input of type %s", n_ints,
                             n_strings, odb_dtype_info(k->in[0]->dtype)->name);
    v->n_pool = n_ints + n_strings;
    v->pool_ints = strings ? NULL : v->pool_ints;
    odb_lookup_init(&v->lookup, v->pool_ints, v->pool_strings, v->n_pool);
    v->pool = odb_new_n(int64_t, v->n_pool);
    for (size_t i = 0; i < v->n_pool; i++)
        v->pool[i] = (int64_t)(strings ? odb_lookup_string(&v->lookup, v->pool_strings[i])
                                       : odb_lookup_int(&v->lookup, v->pool_ints[i]));
    return ODB_OK;
}

/* The pool cut into n-grams: ngram_counts says where those of one token, of two, … begin. */
static enum odb_status text_read_grams(struct odb_kern *k, struct text_vectorizer *v)
{
    size_t n_starts, n_columns;
    const int64_t *starts = odb_kern_ints(k, "ngram_counts", &n_starts);
    v->columns = odb_kern_ints(k, "ngram_indexes", &n_columns);
    v->grams = odb_new_n(struct text_gram, v->n_pool);
    for (size_t i = 0; i < n_starts; i++) {
        size_t n = i + 1, next = i + 1 < n_starts ? (size_t)starts[i + 1] : v->n_pool;
        if (starts[i] < 0 || (size_t)starts[i] > next || next > v->n_pool ||
            (next - (size_t)starts[i]) % n != 0 || (i == 0 && starts[i] != 0))
            return ODB_KERN_FAIL(k,
                                 "ngram_counts[%zu] is %lld, which does not cut a pool of %zu "
                                 "tokens into n-grams",
                                 i, (long long)starts[i], v->n_pool);
        for (size_t at = (size_t)starts[i]; at < next; at += n, v->n_grams++)
            v->grams[v->n_grams] = (struct text_gram){v->pool + at, n, v->n_grams};
    }
    if (v->n_grams != n_columns || n_columns == 0)
        return ODB_KERN_FAIL(k, "%zu ngram_indexes for %zu n-grams", n_columns, v->n_grams);
    for (size_t i = 0; i < n_columns; i++) {
        if (v->columns[i] < 0 || v->columns[i] >= INT32_MAX)
            return ODB_KERN_FAIL(k, "ngram_indexes[%zu] is %lld", i, (long long)v->columns[i]);
        v->width = ODB_MAX(v->width, (size_t)v->columns[i] + 1);
    }
    qsort(v->grams, v->n_grams, sizeof *v->grams, text_gram_order);
    return ODB_OK;
}

static enum odb_status text_read_vectorizer(struct odb_kern *k, struct text_vectorizer *v)
{
    const char *mode = odb_kern_string(k, "mode", "");
    int64_t least = odb_kern_int(k, "min_gram_length", 0);
    int64_t most = odb_kern_int(k, "max_gram_length", 0);
    int64_t skips = odb_kern_int(k, "max_skip_count", 0);
    size_t n_weights;
    if (strcmp(mode, "TF") != 0 && strcmp(mode, "IDF") != 0 && strcmp(mode, "TFIDF") != 0)
        return ODB_KERN_FAIL(k, "there is no mode '%s'", mode);
    if (least < 1 || most < least || skips < 0)
        return ODB_KERN_FAIL(k, "n-grams of %lld to %lld tokens, %lld skipped", (long long)least,
                             (long long)most, (long long)skips);
    v->least = (size_t)least;
    v->most = (size_t)most;
    v->skips = (size_t)skips;
    v->binary = strcmp(mode, "IDF") == 0;
    ODB_TRY(text_read_pool(k, v));
    ODB_TRY(text_read_grams(k, v));
    v->weights = odb_kern_floats(k, "weights", &n_weights);
    if (n_weights != 0 && n_weights != v->n_grams)
        return ODB_KERN_FAIL(k, "%zu weights for %zu n-grams", n_weights, v->n_grams);
    if (n_weights == 0 || strcmp(mode, "TF") == 0)
        v->weights = NULL;
    return ODB_OK;
}

/* Counts every n-gram of the pool that these tokens, step apart, are. */
static void text_count_gram(const struct text_vectorizer *v, const int64_t *tokens, size_t step,
                            size_t n, size_t *counts)
{
    size_t low = 0, high = v->n_grams;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text_gram_compare(&v->grams[middle], tokens, step, n) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < v->n_grams && text_gram_compare(&v->grams[low], tokens, step, n) == 0)
        counts[v->grams[low++].number]++;
}

/* Single tokens are counted once; longer n-grams for every distance that skipping allows. */
static void text_count(const struct text_vectorizer *v, const int64_t *tokens, size_t n_tokens,
                       size_t *counts)
{
    size_t longest = v->grams[v->n_grams - 1].n, most = ODB_MIN(v->most, longest);
    for (size_t n = v->least; n <= most; n++) {
        size_t steps = n == 1 ? 1 : v->skips + 1;
        for (size_t step = 1; step <= steps && (n - 1) * step < n_tokens; step++)
            for (size_t at = 0; at + (n - 1) * step < n_tokens; at++)
                text_count_gram(v, tokens + at, step, n, counts);
    }
}

static enum odb_status text_vectorize(struct odb_kern *k, const struct text_vectorizer *v,
                                      size_t rows, size_t width)
{
    size_t *counts = odb_work_take(v->n_grams, sizeof *counts);
    int64_t *tokens = odb_work_take(width + 1, sizeof *tokens);
    double *sums = odb_work_take(v->width, sizeof *sums);
    struct odb_tensor *y = k->out[0];
    enum odb_status status = counts && tokens && sums ? ODB_OK : odb_kern_no_memory(k);
    for (size_t r = 0; status == ODB_OK && r < rows; r++) {
        memset(counts, 0, v->n_grams * sizeof *counts);
        memset(sums, 0, v->width * sizeof *sums);
        for (size_t i = 0; i < width; i++)
            tokens[i] = text_token(v, k->in[0], r * width + i);
        text_count(v, tokens, width, counts);
        for (size_t g = 0; g < v->n_grams; g++) {
            double n = v->binary && counts[g] > 1 ? 1 : (double)counts[g];
            sums[v->columns[g]] += n * (v->weights ? v->weights[g] : 1);
        }
        for (size_t i = 0; i < v->width; i++)
            odb_store_f64(y->dtype, y->data, r * v->width + i, sums[i]);
    }
    odb_work_give(counts);
    odb_work_give(tokens);
    odb_work_give(sums);
    return status;
}

static enum odb_status text_run_vectorize(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct text_vectorizer v = {.n_pool = 0};
    enum odb_status status;
    if (x->rank > 2)
        return ODB_KERN_FAIL(k, "input of rank %d; it must be [C] or [N, C]", x->rank);
    ODB_TRY_OUT(text_read_vectorizer(k, &v));
    size_t rows = x->rank == 2 ? (size_t)x->dims[0] : 1;
    size_t width = x->rank ? (size_t)x->dims[x->rank - 1] : 1;
    int64_t dims[2] = {(int64_t)rows, (int64_t)v.width};
    bool matrix = x->rank == 2;
    ODB_TRY_OUT(odb_kern_output(k, 0, k->carry_f64 ? ODB_F64 : ODB_F32, matrix ? 2 : 1,
                                matrix ? dims : dims + 1));
    status = text_vectorize(k, &v, rows, width);
out:
    text_vectorizer_dispose(&v);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec text_attrs_split[] = {
    {.name = "delimiter", .type = ODB_ATTR_STRING},
    {.name = "maxsplit", .type = ODB_ATTR_INT},
    {.name = NULL}};
static const struct odb_attr_spec text_attrs_normalize[] = {
    {.name = "case_change_action", .type = ODB_ATTR_STRING, .def = "NONE"},
    {.name = "is_case_sensitive", .type = ODB_ATTR_INT, .def = "0"},
    {.name = "locale", .type = ODB_ATTR_STRING},
    {.name = "stopwords", .type = ODB_ATTR_STRINGS},
    {.name = NULL}};
static const struct odb_attr_spec text_attrs_match[] = {
    {.name = "pattern", .type = ODB_ATTR_STRING}, {.name = NULL}};
static const struct odb_attr_spec text_attrs_vectorize[] = {
    {.name = "max_gram_length", .type = ODB_ATTR_INT, .required = true},
    {.name = "max_skip_count", .type = ODB_ATTR_INT, .required = true},
    {.name = "min_gram_length", .type = ODB_ATTR_INT, .required = true},
    {.name = "mode", .type = ODB_ATTR_STRING, .required = true},
    {.name = "ngram_counts", .type = ODB_ATTR_INTS, .required = true},
    {.name = "ngram_indexes", .type = ODB_ATTR_INTS, .required = true},
    {.name = "pool_int64s", .type = ODB_ATTR_INTS},
    {.name = "pool_strings", .type = ODB_ATTR_STRINGS},
    {.name = "weights", .type = ODB_ATTR_FLOATS},
    {.name = NULL}};

const struct odb_op odb_ops_text[] = {
    ODB_ONNX("StringConcat", 20, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_EXACT, NULL,
             text_infer_concat, text_run_concat, ODB_T_STRING, ODB_NAMES("X,Y", "Z")),
    ODB_ONNX("StringSplit", 20, ODB_ARITY(1, 1), ODB_ARITY(2, 2), ODB_OP_EXACT, text_attrs_split,
             NULL, text_run_split, ODB_T_STRING, ODB_NAMES("X", "Y,Z"),
             ODB_TRAITS(ODB_IS_SIZED_BY_DATA)),
    ODB_ONNX("StringNormalizer", 10, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_EXACT,
             text_attrs_normalize, NULL, text_run_normalize, ODB_T_STRING, ODB_NAMES("X", "Y")),
    ODB_ONNX("RegexFullMatch", 20, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_EXACT, text_attrs_match,
             text_infer_match, text_run_match, ODB_T_STRING, ODB_NAMES("X", "Y")),
    ODB_ONNX("TfIdfVectorizer", 9, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL,
             text_attrs_vectorize, NULL, text_run_vectorize, ODB_T_INDEX | ODB_T_STRING,
             ODB_NAMES("X", "Y")),
    {.name = NULL},
};
