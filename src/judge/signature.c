/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/signature.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* --- comparing -------------------------------------------------------------------------------- */

enum odb_answer odb_signature_match(const struct odb_signature *sought,
                                    const struct odb_signature *shown)
{
    if (shown->verdict == ODB_VERDICT_PASS)
        return ODB_ANSWER_GOOD;
    bool same = shown->verdict == sought->verdict && odb_verdict_is_bad(shown->verdict);
    if (sought->output[0] && shown->output[0])
        same = same && !strcmp(sought->output, shown->output);
    same = same && sought->odd == shown->odd && !strcmp(sought->fate, shown->fate);
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
        odb_buf_puts(out, " by ");
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
