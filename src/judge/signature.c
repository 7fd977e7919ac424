/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/signature.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "search/search.h"
#include "run/value_report.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

/* --- taking ----------------------------------------------------------------------------------- */

static unsigned signature_class(double v)
{
    return isnan(v) ? ODB_ODD_NAN : !isinf(v) ? 0 : v > 0 ? ODB_ODD_POS_INF : ODB_ODD_NEG_INF;
}

static unsigned signature_odd(const struct odb_tensor *t, const struct odb_tensor *base)
{
    unsigned odd = 0;
    if (!t || !base || t->kind != base->kind)
        return 0;
    for (size_t i = 0; t->kind != ODB_TENSOR && i < ODB_MIN(t->n_items, base->n_items); i++)
        odd |= signature_odd(t->items[i], base->items[i]);
    if (t->kind != ODB_TENSOR || !odb_tensor_same_shape(t, base) || !t->data || !base->data ||
        !odb_dtype_is_float(t->dtype) || !odb_dtype_is_float(base->dtype))
        return odd;
    for (size_t i = 0; i < t->count; i++) {
        unsigned here = signature_class(odb_tensor_f64(t, i));
        unsigned there = signature_class(odb_tensor_f64(base, i));
        if (here == there)
            continue;
        odd |= here ? here : ODB_ODD_LACKS;
    }
    return odd;
}

void odb_signature_value(struct odb_signature *out, const char *name,
                         const struct odb_value_report *report, const struct odb_tensor *t,
                         const struct odb_tensor *base)
{
    *out = (struct odb_signature){.verdict = report->verdict};
    if (report->verdict != ODB_VERDICT_PASS && !odb_verdict_is_bad(report->verdict))
        out->verdict = ODB_VERDICT_UNTESTABLE;
    snprintf(out->output, sizeof out->output, "%s", name ? name : "");
    if (out->verdict == ODB_VERDICT_NAN)
        out->odd = signature_odd(t, base);
    if (out->verdict == ODB_VERDICT_FAIL && report->error.known)
        out->error = report->error.v;
}

/* From the words of target.c and program.c. */
static void signature_fate(char *fate, size_t size, const char *what)
{
    static const char killed[] = "was killed by ", exited[] = "exited with status ";
    const char *at = strstr(what, killed);
    if (strstr(what, "ran out of memory")) {
        snprintf(fate, size, "memory");
    } else if (at) {
        at += sizeof killed - 1;
        bool number = !strncmp(at, "signal ", 7);
        snprintf(fate, size, "%.*s", (int)((number ? 7 : 0) + strcspn(at + (number ? 7 : 0), " ;")),
                 at);
    } else if ((at = strstr(what, exited))) {
        at += sizeof exited - 1;
        snprintf(fate, size, "exit %.*s", (int)strspn(at, "0123456789"), at);
    }
}

void odb_signature_status(struct odb_signature *out, enum odb_status status,
                          const struct odb_error *err)
{
    *out = (struct odb_signature){.verdict = status == ODB_OK          ? ODB_VERDICT_PASS
                                             : status == ODB_E_CRASH   ? ODB_VERDICT_CRASH
                                             : status == ODB_E_TIMEOUT ? ODB_VERDICT_TIMEOUT
                                                                       : ODB_VERDICT_UNTESTABLE};
    if (out->verdict == ODB_VERDICT_CRASH)
        signature_fate(out->fate, sizeof out->fate, err->what);
}

/* Whether what follows this word names something: "Node (conv1)", "Name:conv1". */
static bool signature_introduces(const char *word, size_t len)
{
    static const char *const words[] = {"node", "name", "input", "output", "value"};
    bool found = false;
    for (size_t i = 0; i < ODB_COUNT(words); i++)
        found |= strlen(words[i]) == len && !strncasecmp(word, words[i], len);
    return found;
}

/* Whether a word may stand in any message: a name or a path has digits, strokes or slashes. */
static bool signature_is_word(const char *word, size_t len)
{
    bool plain = len > 0;
    for (size_t i = 0; i < len; i++)
        plain = plain && (isalpha((unsigned char)word[i]) || word[i] == '-');
    return plain;
}

/* How far a word of a message goes, or what stands in quotes, which names something. */
static size_t signature_token(const char *text, const char *between)
{
    const char *end = *text && strchr("'\"`", *text) ? strchr(text + 1, *text) : NULL;
    return end ? (size_t)(end + 1 - text) : strcspn(text, between);
}

/* The plain words of a message, parted by blanks; of numbers, those of error codes alone. */
static void signature_put_words(char *out, size_t size, const char *text)
{
    static const char between[] = " \t\r\n()[]{}<>:;,=";
    const char *last = "";
    size_t last_len = 0, n = 0;
    out[0] = '\0';
    for (const char *p = text; *p;) {
        size_t gap = strspn(p, between);
        bool named =
            signature_introduces(last, last_len) && (memchr(p, ':', gap) || memchr(p, '(', gap));
        bool code = last_len == 4 && !strncasecmp(last, "code", 4);
        p += gap;
        size_t len = signature_token(p, between), word = len;
        while (word && strchr(".!?", p[word - 1]))
            word--;
        code = code && strspn(p, "0123456789") >= word;
        if (!named && (code || signature_is_word(p, word)) && n + word + 2 < size)
            n += (size_t)snprintf(out + n, size - n, "%s%.*s", n ? " " : "", (int)word, p);
        last = p;
        last_len = word;
        p += len;
    }
}

void odb_signature_refusal(struct odb_signature *out, const struct odb_error *err)
{
    *out = (struct odb_signature){.verdict = ODB_VERDICT_REFUSED};
    signature_put_words(out->fate, sizeof out->fate, err->what);
}

/* --- comparing -------------------------------------------------------------------------------- */

#define SIGNATURE_WORDS 64 /* of a refusal that are compared */

/* Splits at blanks, in place; how many words there are. */
static size_t signature_split(char *text, const char *words[SIGNATURE_WORDS])
{
    size_t n = 0;
    for (char *state, *word = strtok_r(text, " ", &state); word && n < SIGNATURE_WORDS;
         word = strtok_r(NULL, " ", &state))
        words[n++] = word;
    return n;
}

/* Refusals of one failure: of a larger cut, more may have been made of the nodes before they were
 * refused, and be named in it. So three words in four, in order, have to agree, and the last, which
 * is an error code where there is one. */
static bool signature_same_words(const struct odb_signature *a, const struct odb_signature *b)
{
    char texts[2][sizeof a->fate];
    const char *x[SIGNATURE_WORDS], *y[SIGNATURE_WORDS];
    size_t common[SIGNATURE_WORDS + 1] = {0}; /* of the first words of a, and these many of b */
    memcpy(texts[0], a->fate, sizeof texts[0]);
    memcpy(texts[1], b->fate, sizeof texts[1]);
    size_t n = signature_split(texts[0], x), m = signature_split(texts[1], y);
    if (!n || !m)
        return n == m;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0, before = 0; k < m; k++) {
            size_t both = before + !strcmp(x[i], y[k]);
            before = common[k + 1];
            common[k + 1] = ODB_MAX(both, ODB_MAX(common[k], common[k + 1]));
        }
    return !strcmp(x[n - 1], y[m - 1]) && 4 * common[m] >= 3 * ODB_MAX(n, m);
}

enum odb_answer odb_signature_match(const struct odb_signature *sought,
                                    const struct odb_signature *shown)
{
    if (shown->verdict == ODB_VERDICT_PASS)
        return ODB_ANSWER_GOOD;
    bool same = shown->verdict == sought->verdict && odb_verdict_is_bad(shown->verdict);
    if (sought->output[0] && shown->output[0])
        same = same && !strcmp(sought->output, shown->output);
    same = same && sought->odd == shown->odd &&
           (sought->verdict == ODB_VERDICT_REFUSED ? signature_same_words(sought, shown)
                                                   : !strcmp(sought->fate, shown->fate));
    if (same && sought->verdict == ODB_VERDICT_FAIL) {
        double least = sought->error / ODB_SIGNATURE_FACTOR;
        double most = sought->error * ODB_SIGNATURE_FACTOR;
        same = isinf(sought->error) ? isinf(shown->error)
                                    : shown->error >= least && shown->error <= most;
    }
    return same ? ODB_ANSWER_BAD : ODB_ANSWER_UNTESTABLE;
}

/* --- text ------------------------------------------------------------------------------------- */

static const struct signature_word {
    unsigned bit;
    const char *word;
} signature_words[] = {{ODB_ODD_NAN, "NaN"},
                       {ODB_ODD_POS_INF, "+Inf"},
                       {ODB_ODD_NEG_INF, "-Inf"},
                       {ODB_ODD_LACKS, "lacks"}};

static void signature_put_odd(unsigned odd, struct odb_buf *out)
{
    bool first = true;
    for (size_t i = 0; i < ODB_COUNT(signature_words); i++)
        if (odd & signature_words[i].bit) {
            odb_buf_printf(out, "%s%s", first ? "" : ",", signature_words[i].word);
            first = false;
        }
}

void odb_signature_put(const struct odb_signature *s, struct odb_buf *out)
{
    odb_buf_puts(out, odb_verdict_name(s->verdict));
    if (s->output[0]) {
        odb_buf_puts(out, " at ");
        odb_buf_put_shown(out, s->output);
    }
    if (s->verdict == ODB_VERDICT_FAIL)
        odb_buf_printf(out, ", relative error %.3g (%.3g to %.3g counts as the same)", s->error,
                       s->error / ODB_SIGNATURE_FACTOR, s->error * ODB_SIGNATURE_FACTOR);
    if (s->odd) {
        odb_buf_puts(out, ": ");
        signature_put_odd(s->odd & ~(unsigned)ODB_ODD_LACKS, out);
        if (s->odd & ODB_ODD_LACKS)
            odb_buf_printf(out, "%sthe reference's NaN or Inf are not there",
                           s->odd == ODB_ODD_LACKS ? "" : ", and ");
    }
    if (s->fate[0]) {
        odb_buf_puts(out, s->verdict == ODB_VERDICT_REFUSED ? ": " : " by ");
        odb_buf_put_shown(out, s->fate);
    }
}

void odb_signature_text(const struct odb_signature *s, struct odb_buf *out)
{
    odb_buf_puts(out, odb_verdict_name(s->verdict));
    if (s->verdict == ODB_VERDICT_FAIL)
        odb_buf_printf(out, " error=%.17g", s->error);
    if (s->odd) {
        odb_buf_puts(out, " odd=");
        signature_put_odd(s->odd, out);
    }
    if (s->fate[0]) { /* "signal 77" is two words */
        size_t at = out->len;
        odb_buf_printf(out, " fate=%s", s->fate);
        for (char *p = out->data + at + 1; *p; p++)
            if (*p == ' ')
                *p = '_';
    }
    if (s->output[0])
        odb_buf_printf(out, " output=%s", s->output);
}

/* One word behind the verdict; *end is where the next begins. */
static bool signature_take(struct odb_signature *out, const char *word, size_t len)
{
    if (!strncmp(word, "error=", 6)) {
        out->error = strtod(word + 6, NULL);
    } else if (!strncmp(word, "fate=", 5)) {
        snprintf(out->fate, sizeof out->fate, "%.*s", (int)len - 5, word + 5);
        for (char *p = out->fate; *p; p++)
            if (*p == '_')
                *p = ' ';
    } else if (!strncmp(word, "odd=", 4)) {
        for (size_t i = 0; i < ODB_COUNT(signature_words); i++) {
            const char *found = strstr(word + 4, signature_words[i].word);
            if (found && found < word + len)
                out->odd |= signature_words[i].bit;
        }
    } else {
        return false;
    }
    return true;
}

bool odb_signature_parse(struct odb_signature *out, const char *text)
{
    char verdict[24];
    size_t len = strcspn(text, " ");
    *out = (struct odb_signature){.verdict = ODB_VERDICT_UNTESTABLE};
    snprintf(verdict, sizeof verdict, "%.*s", (int)ODB_MIN(len, sizeof verdict - 1), text);
    if (!odb_verdict_parse(&out->verdict, verdict))
        return false;
    for (const char *at = text + len; *at;) {
        const char *word = at + strspn(at, " ");
        if (!strncmp(word, "output=", 7)) { /* the last: names may hold anything */
            snprintf(out->output, sizeof out->output, "%s", word + 7);
            return true;
        }
        len = strcspn(word, " ");
        if (len && !signature_take(out, word, len))
            return false;
        at = word + len;
    }
    return true;
}
