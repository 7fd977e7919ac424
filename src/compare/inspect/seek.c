/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A search goes on in stretches of some blocks; after each there is an answer, or the question
 * whether to go on.
 */
#include "compare/inspect/seek.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/inspect/pairs.h"

enum { SEEK_AT_ONCE = 16 }; /* blocks */

#define SEEK_BLOCK (128 * ODB_PASS_CHUNK)

/* --- what to look for ------------------------------------------------------------------------- */

static const struct seek_place {
    const char *name;
    unsigned where;
} seek_places[] = {
    {"reference", ODB_SEEK_REFERENCE}, {"ref", ODB_SEEK_REFERENCE},    {"target", ODB_SEEK_TARGET},
    {"tgt", ODB_SEEK_TARGET},          {"difference", ODB_SEEK_ERROR}, {"diff", ODB_SEEK_ERROR},
    {"dif", ODB_SEEK_ERROR},           {"error", ODB_SEEK_ERROR},
};

/* Takes the place, and a word "in" before it, off the end of the text. */
static unsigned seek_parse_where(char *text)
{
    char *last = strrchr(text, ' ');
    for (size_t i = 0; last && i < ODB_COUNT(seek_places); i++)
        if (!strcmp(last + 1, seek_places[i].name)) {
            while (last > text && *last == ' ')
                *last-- = '\0';
            size_t n = strlen(text);
            if (n > 3 && !strcmp(text + n - 3, " in"))
                text[n - 3] = '\0';
            return seek_places[i].where;
        }
    return ODB_SEEK_REFERENCE | ODB_SEEK_TARGET;
}

/* A number up to the end of the text, or up to "..". */
static bool seek_parse_number(const char *text, double *out, const char **end)
{
    char copy[64];
    const char *dots = strstr(text, "..");
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    char *stop;
    snprintf(copy, sizeof copy, "%.*s", (int)ODB_MIN(n, sizeof copy - 1), text);
    *out = strtod(copy, &stop);
    *end = text + n;
    return stop > copy && !stop[strspn(stop, " ")] && n < sizeof copy && *out == *out;
}

/* Half a unit of the last digit that was written. */
static double seek_half_unit(const char *text)
{
    const char *e = strpbrk(text, "eE"), *point = strchr(text, '.');
    size_t mantissa = e ? (size_t)(e - text) : strlen(text);
    int behind = point && point < text + mantissa ? (int)(text + mantissa - point) - 1 : 0;
    return 0.5 * pow(10, (e ? (double)strtol(e + 1, NULL, 10) : 0) - behind);
}

static bool seek_parse_compared(struct odb_seek *out, const char *text)
{
    static const struct {
        const char *sign;
        bool less, open;
    } signs[] = {{">=", false, false}, {"<=", true, false}, {">", false, true}, {"<", true, true}};
    const char *end;
    double v;
    for (size_t i = 0; i < ODB_COUNT(signs); i++) {
        size_t n = strlen(signs[i].sign);
        if (strncmp(text, signs[i].sign, n))
            continue;
        if (!seek_parse_number(text + n, &v, &end) || *end)
            return false;
        double border = !signs[i].open ? v : nextafter(v, signs[i].less ? -INFINITY : INFINITY);
        out->lo = signs[i].less ? -INFINITY : border;
        out->hi = signs[i].less ? border : INFINITY;
        return true;
    }
    return false;
}

static bool seek_parse_equal(struct odb_seek *out, const char *text)
{
    const char *end;
    char *stop;
    if (!strncmp(text, "==", 2) || *text == '=')
        text += 1 + (text[1] == '=');
    if (!strncmp(text, "!=", 2)) {
        out->not = true;
        text += 2;
    }
    text += strspn(text, " ");
    if (!strcasecmp(text, "nan")) {
        out->kind = ODB_SEEK_NAN;
        return true;
    }
    out->kind = ODB_SEEK_EQUAL;
    if (!strcasecmp(text, "true") || !strcasecmp(text, "false"))
        text = tolower((unsigned char)*text) == 't' ? "1" : "0";
    if (!seek_parse_number(text, &out->lo, &end) || *end)
        return false;
    errno = 0;
    out->whole = strtoll(text, &stop, 10);
    out->is_whole = !errno && !stop[strspn(stop, " ")];
    return true;
}

static bool seek_parse_range(struct odb_seek *out, const char *text)
{
    const char *end;
    if (*text == '~') {
        text += 1 + strspn(text + 1, " ");
        if (!seek_parse_number(text, &out->lo, &end) || *end)
            return false;
        double half = seek_half_unit(text);
        out->hi = out->lo + half;
        out->lo -= half;
        return true;
    }
    return strstr(text, "..") && seek_parse_number(text, &out->lo, &end) &&
           !strncmp(end, "..", 2) && seek_parse_number(end + 2, &out->hi, &end) && !*end &&
           out->lo <= out->hi;
}

enum odb_status odb_seek_parse(struct odb_seek *out, const char *text, struct odb_error *err)
{
    struct odb_seek seek = {.kind = ODB_SEEK_RANGE};
    text += strspn(text, " ");
    if (strlen(text) >= sizeof seek.text)
        return odb_fail(err, ODB_E_USAGE, "more than %zu characters to look for",
                        sizeof seek.text - 1);
    snprintf(seek.text, sizeof seek.text, "%s", text);
    seek.where = seek_parse_where(seek.text);
    if (!*seek.text) {
        odb_fail(err, ODB_E_USAGE, "nothing to look for");
        return odb_error_remedy(err, "write something like `find >1e3`, `find 0.1..0.2 target`, "
                                     "`find nan` or `find >1e-3 difference`");
    }
    bool compared = seek_parse_compared(&seek, seek.text) || seek_parse_range(&seek, seek.text);
    if (!compared && !seek_parse_equal(&seek, seek.text))
        seek.kind = ODB_SEEK_TEXT;
    *out = seek;
    return ODB_OK;
}

/* --- looking ---------------------------------------------------------------------------------- */

struct seek_job {
    const struct odb_seek *seek;
    struct odb_pairs pairs;
    double equal[3]; /* per place: the number as the type has it */
    int direction;   /* 0: all are counted */
    size_t at;       /* count: of those before it */
};

struct seek_found {
    size_t at; /* next: ODB_NOWHERE, or the first */
    bool last; /* or the last */
    size_t count, before;
};

static bool seek_holds(const struct odb_tensor *t, size_t i, const char *text)
{
    const struct odb_str *s = (const struct odb_str *)t->data + i;
    size_t n = strlen(text);
    return n <= s->len && memmem(s->data, s->len, text, n);
}

/* Marks the elements of one place that match. */
static void seek_mark(const struct seek_job *job, int place, const double *v, size_t n,
                      unsigned char *hits)
{
    const struct odb_seek *seek = job->seek;
    unsigned char bit = (unsigned char)(1 << place), not = seek->not ;
    double equal = job->equal[place];
    if (seek->kind == ODB_SEEK_NAN)
        for (size_t i = 0; i < n; i++)
            hits[i] |= (unsigned char)(((v[i] != v[i]) ^ not ) * bit);
    else if (seek->kind == ODB_SEEK_EQUAL)
        for (size_t i = 0; i < n; i++)
            hits[i] |= (unsigned char)(((v[i] == equal) ^ not ) * bit);
    else
        for (size_t i = 0; i < n; i++)
            hits[i] |= (unsigned char)((v[i] >= seek->lo && v[i] <= seek->hi) * bit);
}

/* Doubles are too coarse for integers of 64 bits: those that seem equal are looked at again. */
static void seek_mark_wide(const struct seek_job *job, int side, size_t first, size_t n,
                           unsigned char *hits)
{
    const struct odb_tensor *t = job->pairs.t[side];
    unsigned char bit = (unsigned char)(1 << side);
    for (size_t i = 0; i < n; i++) {
        bool same = odb_load_i64(t->dtype, t->data, first + i) == job->seek->whole;
        if (t->dtype == ODB_U64 && job->seek->whole < 0)
            same = false;
        hits[i] = (unsigned char)((hits[i] & ~bit) | (same != job->seek->not ) * bit);
    }
}

static void seek_mark_side(const struct seek_job *job, int side, size_t first, size_t n,
                           const double *v, unsigned char *hits)
{
    const struct odb_tensor *t = job->pairs.t[side];
    if (!t || first >= t->count)
        return;
    n = ODB_MIN(n, t->count - first);
    if (t->dtype == ODB_STRING) {
        for (size_t i = 0; i < n; i++)
            hits[i] |= (unsigned char)(seek_holds(t, first + i, job->seek->text) << side);
        return;
    }
    seek_mark(job, side, v, n, hits);
    if (job->seek->kind == ODB_SEEK_EQUAL && job->seek->is_whole &&
        (t->dtype == ODB_I64 || t->dtype == ODB_U64))
        seek_mark_wide(job, side, first, n, hits);
}

static void seek_chunk(const struct seek_job *job, size_t first, size_t n, unsigned char *hits)
{
    double ref[ODB_PASS_CHUNK], target[ODB_PASS_CHUNK], error[ODB_PASS_CHUNK];
    double *v[2] = {ref, target};
    memset(hits, 0, n);
    odb_pairs_load(&job->pairs, first, n, v, error);
    for (int side = 0; side < 2; side++)
        if (job->seek->where >> side & 1)
            seek_mark_side(job, side, first, n, v[side], hits);
    if (job->seek->where & ODB_SEEK_ERROR && job->pairs.both)
        seek_mark(job, 2, error, n, hits);
}

static void seek_next(const void *arg, void *share, size_t begin, size_t end)
{
    const struct seek_job *job = arg;
    struct seek_found *found = share;
    unsigned char hits[ODB_PASS_CHUNK];
    bool last = job->direction < 0;
    size_t at = ODB_NOWHERE;
    for (size_t n; begin < end && (at == ODB_NOWHERE || last); begin += n) {
        n = ODB_MIN(end - begin, ODB_PASS_CHUNK);
        seek_chunk(job, begin, n, hits);
        for (size_t i = 0; i < n && (at == ODB_NOWHERE || last); i++)
            if (hits[i])
                at = begin + i;
    }
    found->at = at;
}

static void seek_count(const void *arg, void *share, size_t begin, size_t end)
{
    const struct seek_job *job = arg;
    struct seek_found *found = share;
    unsigned char hits[ODB_PASS_CHUNK];
    size_t count = 0, before = 0, at = job->at;
    for (size_t n; begin < end; begin += n) {
        n = ODB_MIN(end - begin, ODB_PASS_CHUNK);
        seek_chunk(job, begin, n, hits);
        for (size_t i = 0; i < n; i++) {
            count += hits[i] != 0;
            before += hits[i] != 0 && begin + i < at;
        }
    }
    found->count += count;
    found->before += before;
}

static void seek_join(void *total, const void *share)
{
    struct seek_found *to = total;
    const struct seek_found *from = share;
    if (from->at != ODB_NOWHERE && (to->at == ODB_NOWHERE || to->last))
        to->at = from->at;
    to->count += from->count;
    to->before += from->before;
}

static struct odb_pass seek_pass(const struct seek_job *job, const struct odb_progress *progress)
{
    return (struct odb_pass){.end = job->pairs.count,
                             .block = SEEK_BLOCK,
                             .shares = SEEK_AT_ONCE,
                             .item = sizeof(struct seek_found),
                             .job = job,
                             .whole = job->direction ? seek_next : seek_count,
                             .join = seek_join,
                             .progress = progress,
                             .total = job->pairs.count};
}

/* The number to look for, rounded as a type would round it. */
static double seek_rounded(const struct odb_tensor *t, double v)
{
    unsigned char room[16] = {0};
    if (!t || !odb_dtype_is_float(t->dtype) || isinf(v))
        return v;
    odb_store_f64(t->dtype, room, 0, v);
    return odb_load_f64(t->dtype, room, 0);
}

static enum odb_status seek_begin(struct seek_job *job, const struct odb_seek *seek,
                                  const struct odb_tensor *ref, const struct odb_tensor *target,
                                  struct odb_error *err)
{
    *job = (struct seek_job){.seek = seek};
    odb_pairs_init(&job->pairs, ref, target);
    bool strings = false;
    for (int side = 0; side < 2; side++) {
        strings |= job->pairs.t[side] && job->pairs.t[side]->dtype == ODB_STRING;
        job->equal[side] = seek_rounded(job->pairs.t[side], seek->lo);
    }
    job->equal[2] = seek->lo;
    if (seek->kind != ODB_SEEK_TEXT || strings)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "'%s' is nothing that a number could be", seek->text);
    return odb_error_remedy(err, "write 1.5, ~1.5, >1e3, 0.1..0.2, != 0, nan or inf, and behind it "
                                 "reference, target or difference");
}

/* The first hit of [first, last) in the direction. */
static enum odb_status seek_stretch(struct odb_pass *pass, size_t first, size_t last,
                                    struct seek_found *found, struct odb_error *err)
{
    const struct seek_job *job = pass->job;
    while (first < last && found->at == ODB_NOWHERE) {
        size_t n = ODB_MIN(last - first, SEEK_BLOCK * SEEK_AT_ONCE);
        pass->begin = job->direction < 0 ? last - n : first;
        pass->end = pass->begin + n;
        ODB_TRY(odb_pass_run(pass, found, err));
        first += job->direction < 0 ? 0 : n;
        last -= job->direction < 0 ? n : 0;
    }
    return ODB_OK;
}

enum odb_status odb_seek_next(size_t *at, unsigned *where, const struct odb_seek *seek,
                              const struct odb_tensor *ref, const struct odb_tensor *target,
                              size_t from, int direction, const struct odb_progress *progress,
                              struct odb_error *err)
{
    struct seek_job job;
    struct seek_found found = {.at = ODB_NOWHERE, .last = direction < 0};
    *at = ODB_NOWHERE;
    *where = 0;
    ODB_TRY(seek_begin(&job, seek, ref, target, err));
    size_t n = job.pairs.count;
    job.direction = direction < 0 ? -1 : 1;
    struct odb_pass pass = seek_pass(&job, progress);
    /* Two stretches: up to the end, and from the other end up to here. */
    size_t here = from == ODB_NOWHERE ? (direction < 0 ? n : 0) : ODB_MIN(from, n);
    size_t behind = direction < 0 || from == ODB_NOWHERE ? here : ODB_MIN(here + 1, n);
    if (direction < 0) {
        ODB_TRY(seek_stretch(&pass, 0, here, &found, err));
        ODB_TRY(seek_stretch(&pass, here, n, &found, err));
    } else {
        ODB_TRY(seek_stretch(&pass, behind, n, &found, err));
        ODB_TRY(seek_stretch(&pass, 0, behind, &found, err));
    }
    unsigned char hit = 0;
    *at = found.at;
    if (*at != ODB_NOWHERE)
        seek_chunk(&job, *at, 1, &hit);
    *where = hit & -hit;
    return ODB_OK;
}

enum odb_status odb_seek_count(size_t *total, size_t *before, const struct odb_seek *seek,
                               const struct odb_tensor *ref, const struct odb_tensor *target,
                               size_t at, const struct odb_progress *progress,
                               struct odb_error *err)
{
    struct seek_job job;
    struct seek_found found = {.at = ODB_NOWHERE};
    *total = *before = 0;
    ODB_TRY(seek_begin(&job, seek, ref, target, err));
    job.at = at;
    struct odb_pass pass = seek_pass(&job, progress);
    ODB_TRY(odb_pass_run(&pass, &found, err));
    *total = found.count;
    *before = found.before;
    return ODB_OK;
}
