/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wer, of what gives a text: the edits (words put in, left out or replaced) that make what is right
 * of it, over the words of what is right. perplexity, of what gives the next token: exp of the mean
 * of -ln p(token), p being the softmax over the last axis.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "executor/spec.h"
#include "score/metric.h"

/* Words, or token ids as words. */
struct words {
    char **items; /* owned, and each of them */
    size_t n, cap;
};

static void words_free(struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->items[i]);
    free(w->items);
}

static const struct odb_executor_option wer_options[] = {
    {":", "OUTPUT", NULL, "the output: token ids, or scores of them on the last axis", false},
    {"blank", "N", NULL, "CTC: equal neighbours are one, and this id is none", false},
    {"vocab", "FILE", NULL, "the text of each id, a line each; else ids are words", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum odb_status wer_open(struct odb_metric *m, struct odb_error *err)
{
    const char *vocab = odb_spec_option(m->spec, "vocab");
    double blank = -1;
    ODB_TRY(odb_spec_whole(m->spec, "blank", 0, 1e9, &blank, err));
    m->k = (long)blank;
    if (vocab)
        ODB_TRY(odb_labels_lines(vocab, &m->words, err));
    for (size_t i = 0; i < m->words.n; i++) /* a score may follow, as SentencePiece writes it */
        m->words.items[i][strcspn(m->words.items[i], "\t")] = '\0';
    return ODB_OK;
}

static int64_t wer_id(const struct odb_tensor *t, size_t place)
{
    size_t n = (size_t)t->dims[t->rank - 1], best = 0;
    if (odb_tensor_real(t) == ODB_UNDEFINED)
        return odb_tensor_i64(t, place);
    for (size_t i = 1; i < n; i++)
        if (odb_tensor_f64(t, place * n + i) > odb_tensor_f64(t, place * n + best))
            best = i;
    return (int64_t)best;
}

/* Words of a line, between blanks. */
static void wer_split(const char *line, struct words *out)
{
    for (line += strspn(line, " "); *line; line += strspn(line, " ")) {
        size_t n = strcspn(line, " ");
        odb_push(out, odb_xstrndup(line, n));
        line += n;
    }
}

/* The text that ids stand for; U+2581 is a blank, as SentencePiece has it. */
static void wer_text(const struct odb_metric *m, int64_t id, struct odb_buf *text)
{
    const char *piece = id >= 0 && (size_t)id < m->words.n ? m->words.items[id] : "\xef\xbf\xbd";
    for (; *piece; piece++)
        if (!strncmp(piece, "\xe2\x96\x81", 3)) {
            odb_buf_putc(text, ' ');
            piece += 2;
        } else {
            odb_buf_putc(text, *piece);
        }
}

static enum odb_status wer_words(const struct odb_metric *m, const struct odb_tensor *t,
                                 struct words *out, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    int64_t before = -1;
    if (!t || t->kind != ODB_TENSOR || t->dtype == ODB_STRING ||
        (odb_tensor_real(t) != ODB_UNDEFINED && !t->rank))
        return odb_fail(err, ODB_E_INPUT, "output %s holds neither token ids nor scores of them",
                        m->graph->values[m->graph->outputs[m->output]].name);
    bool scores = odb_tensor_real(t) != ODB_UNDEFINED;
    size_t n = scores ? t->count / ODB_MAX((size_t)t->dims[t->rank - 1], (size_t)1) : t->count;
    for (size_t i = 0; i < n; i++) {
        int64_t id = wer_id(t, i);
        bool repeats = m->k >= 0 && id == before;
        before = id;
        if (repeats || id == m->k)
            continue;
        if (m->words.n)
            wer_text(m, id, &text);
        else
            odb_push(out, odb_xasprintf("%lld", (long long)id));
    }
    if (m->words.n)
        wer_split(odb_buf_text(&text), out);
    odb_buf_dispose(&text);
    return ODB_OK;
}

/* The edit distance, a row of its table at a time. */
static size_t wer_edits(const struct words *a, const struct words *b)
{
    size_t *row = odb_new_n(size_t, b->n + 1);
    for (size_t j = 0; j <= b->n; j++)
        row[j] = j;
    for (size_t i = 1; i <= a->n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b->n; j++) {
            size_t same = corner + (strcmp(a->items[i - 1], b->items[j - 1]) != 0);
            corner = row[j];
            row[j] = ODB_MIN(same, 1 + ODB_MIN(row[j], row[j - 1]));
        }
    }
    size_t edits = row[b->n];
    free(row);
    return edits;
}

static enum odb_status wer_take(struct odb_metric *m, const struct odb_metric_sample *sample,
                                struct odb_share *out, struct odb_error *err)
{
    struct words is = {0}, right = {0};
    const char *line;
    enum odb_status status = wer_words(m, sample->outputs[m->output], &is, err);
    if (status == ODB_OK && m->labels) {
        status = odb_labels_line(m->labels, sample->index, sample->source, &line, err);
        if (status == ODB_OK)
            wer_split(line, &right);
    } else if (status == ODB_OK) {
        status = wer_words(m, sample->reference[m->output], &right, err);
    }
    out->sum = (double)wer_edits(&is, &right);
    out->of = (double)right.n;
    words_free(&is);
    words_free(&right);
    return status;
}

const struct odb_metric_kind odb_metric_wer = {
    .name = "wer",
    .options = wer_options,
    .help = "edits over words: put in, left out, replaced",
    .unit = " %",
    .diff = "points",
    .factor = 100,
    .lower = true,
    .text = true,
    .one = true,
    .open = wer_open,
    .take = wer_take,
    .score = odb_metric__ratio,
};

/* --- perplexity ------------------------------------------------------------------------------- */

static const struct odb_executor_option perplexity_options[] = {
    {":", "OUTPUT", NULL, "the output of logits; else the first", false},
    {"ids", "INPUT", NULL, "the tokens that are fed; else input_ids, or the only input that fits",
     false},
    {NULL, NULL, NULL, NULL, false},
};

/* -ln of the softmax at one class. */
static double perplexity_of(const struct odb_tensor *t, size_t place, size_t n, size_t token)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, odb_tensor_f64(t, place * n + i));
    for (size_t i = 0; i < n; i++)
        sum += exp(odb_tensor_f64(t, place * n + i) - most);
    return log(sum) + most - odb_tensor_f64(t, place * n + token);
}

/* The tokens that the model is fed: whole numbers, as many as there are places. Of several inputs
 * that fit none is taken, unless it is named, or called input_ids. */
static const struct odb_tensor *perplexity_fed(const struct odb_metric *m,
                                               const struct odb_metric_sample *sample, size_t n)
{
    const char *wanted = odb_spec_option(m->spec, "ids");
    const struct odb_tensor *only = NULL;
    size_t fit = 0;
    for (size_t i = 0; i < sample->feeds->n; i++) {
        const struct odb_tensor *t = sample->feeds->items[i].tensor;
        const char *name = m->graph->values[sample->feeds->items[i].value].name;
        bool fits =
            t->kind == ODB_TENSOR && (t->dtype == ODB_I64 || t->dtype == ODB_I32) && t->count == n;
        if (fits && !strcmp(name, wanted ? wanted : "input_ids"))
            return t;
        only = fits && !wanted ? t : only;
        fit += fits && !wanted;
    }
    return fit == 1 ? only : NULL;
}

static enum odb_status perplexity_take(struct odb_metric *m, const struct odb_metric_sample *sample,
                                       struct odb_share *out, struct odb_error *err)
{
    const struct odb_tensor *t = sample->outputs[m->output];
    const char *name = m->graph->values[m->graph->outputs[m->output]].name;
    struct odb_tensor *label;
    if (!t || t->kind != ODB_TENSOR || odb_tensor_real(t) == ODB_UNDEFINED || t->rank < 2)
        return odb_fail(err, ODB_E_INPUT, "output %s holds no logits: (..., places, tokens)", name);
    size_t n = (size_t)t->dims[t->rank - 1], row = (size_t)t->dims[t->rank - 2],
           places = n ? t->count / n : 0;
    ODB_TRY(odb_metric_label(m, sample, true, &label, err));
    const struct odb_tensor *tokens = label ? label : perplexity_fed(m, sample, places);
    if (!tokens || tokens->count != places) {
        odb_tensor_unref(label);
        odb_fail(err, ODB_E_INPUT,
                 label ? "the label has not as many tokens as output %s has places, %zu"
                       : "which input has the tokens of output %s, of %zu places, is open",
                 name, places);
        if (!label)
            odb_error_remedy(err, "name it: perplexity,ids=INPUT");
        return odb_error_at(err, "%s", sample->source);
    }
    for (size_t p = 0; p < places; p++) {
        size_t next = label ? p : p + 1; /* what is fed is predicted by the place before it */
        if (!label && p % row == row - 1)
            continue;
        int64_t token = odb_tensor_i64(tokens, next);
        if (token < 0 || (size_t)token >= n) /* -100: none */
            continue;
        out->sum += perplexity_of(t, p, n, (size_t)token);
        out->of++;
    }
    odb_tensor_unref(label);
    return ODB_OK;
}

static enum odb_status perplexity_score(struct odb_metric *m, const struct odb_share *shares,
                                        const size_t *picked, size_t n, double *out,
                                        struct odb_error *err)
{
    ODB_TRY(odb_metric__ratio(m, shares, picked, n, out, err));
    *out = exp(*out);
    return ODB_OK;
}

const struct odb_metric_kind odb_metric_perplexity = {
    .name = "perplexity",
    .options = perplexity_options,
    .help = "exp of the mean of -ln p(next token)",
    .unit = "",
    .diff = "of perplexity",
    .factor = 1,
    .lower = true,
    .one = true,
    .right = "the tokens that it is fed",
    .take = perplexity_take,
    .score = perplexity_score,
};

/* --- signal over noise ------------------------------------------------------------------------ */

#define SNR_CAP 60 /* dB: a thousandth of the signal is off */

static const struct odb_executor_option snr_options[] = {
    {":", "OUTPUT", NULL, "the output; else the first", false},
    {"cap", "DB", "60", "more than that counts as that, as none is heard", false},
    {NULL, NULL, NULL, NULL, false},
};

/* The cap, in thousandths. */
static enum odb_status snr_open(struct odb_metric *m, struct odb_error *err)
{
    double cap = SNR_CAP;
    ODB_TRY(odb_spec_number(m->spec, "cap", &cap, err));
    m->k = lrint(1000 * fmin(cap, 1e6));
    return ODB_OK;
}

/* sum: the energy of the difference; of: that of what is right. */
static enum odb_status snr_take(struct odb_metric *m, const struct odb_metric_sample *sample,
                                struct odb_share *out, struct odb_error *err)
{
    const struct odb_tensor *t = sample->outputs[m->output];
    const char *name = m->graph->values[m->graph->outputs[m->output]].name;
    struct odb_tensor *label;
    ODB_TRY(odb_metric_label(m, sample, false, &label, err));
    const struct odb_tensor *right = label ? label : sample->reference[m->output];
    enum odb_status status = ODB_OK;
    if (!t || !right || t->kind != ODB_TENSOR || right->kind != ODB_TENSOR ||
        t->dtype == ODB_STRING || t->count != right->count) {
        odb_fail(err, ODB_E_INPUT, "output %s and what is right have not as many numbers", name);
        status = odb_error_at(err, "%s", sample->source);
    }
    for (size_t i = 0; status == ODB_OK && i < t->count; i++) {
        double is = odb_tensor_f64(t, i), should = odb_tensor_f64(right, i);
        out->sum += is == should ? 0 : (is - should) * (is - should);
        out->of += should * should;
    }
    if (isnan(out->sum)) /* no signal is left */
        out->sum = INFINITY;
    odb_tensor_unref(label);
    return status;
}

static enum odb_status snr_score(struct odb_metric *m, const struct odb_share *shares,
                                 const size_t *picked, size_t n, double *out, struct odb_error *err)
{
    ODB_TRY(odb_metric__ratio(m, shares, picked, n, out, err));
    *out = fmin(-10 * log10(*out), (double)m->k / 1000);
    return ODB_OK;
}

const struct odb_metric_kind odb_metric_snr = {
    .name = "snr",
    .options = snr_options,
    .help = "the signal's energy over the difference's",
    .unit = " dB",
    .diff = "dB",
    .factor = 1,
    .one = true,
    .open = snr_open,
    .take = snr_take,
    .score = snr_score,
};
