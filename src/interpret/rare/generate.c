/* SPDX-License-Identifier: MIT
 *
 * ONNX Runtime's loops around a decoder (com.microsoft 1): GreedySearch and BeamSearch. The decoder
 * is a body; what it wants to be fed follows from the model type and the order of its inputs:
 *
 *     GPT (0)      input_ids, position_ids, attention_mask, past_0, …
 *     T5 (1)       input_ids, [encoder_input_ids], encoder_attention_mask, [encoder_hidden_states],
 *                  keys and values of each layer (self), then those over the encoder's (cross)
 *     Whisper (2)  input_ids, [encoder_hidden_states], keys and values as above
 *
 * and it gives logits and the new keys and values. T5 and Whisper have an encoder too, which gives
 * the first logits and all keys and values. Every sequence is repeated once per beam; a step takes
 * the logits of the last token, changes and ranks them, and says for each beam which beam it goes
 * on from and with which token. Scores are summed in double.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interpret/cpu_int.h"

enum generate_model { GENERATE_GPT, GENERATE_T5, GENERATE_WHISPER };

/* Inputs of the two operators, in one order; -1: the operator has none. */
enum generate_input {
    IN_IDS,
    IN_MAX,
    IN_MIN,
    IN_BEAMS,
    IN_RETURN,
    IN_LENGTH_PENALTY,
    IN_REPETITION,
    IN_VOCAB_MASK,
    IN_PREFIX_MASK,
    IN_ATTENTION_MASK,
    IN_DECODER_IDS,
    IN_PROCESSOR,
    IN_TEMPERATURE,
    IN_COUNT
};
static const int generate_greedy_inputs[IN_COUNT] = {0, 1, 2, -1, -1, -1, 3, 4, 5, 6, -1, -1, -1};
static const int generate_beam_inputs[IN_COUNT] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

/* A finished sequence. */
struct generate_found {
    double score;
    int32_t *words; /* owned; [length] */
    size_t length;
};

struct generate {
    const struct cpu_scope *scope;
    int index;
    const struct odb_node *node;
    const struct odb_tensor *given[IN_COUNT]; /* borrowed */
    const struct cpu_plan *first, *decoder;   /* first: encoder, or the decoder of the prompt */
    bool greedy, early;
    int64_t model, eos, pad, start, ngram;
    size_t batch, beams, width; /* width: batch * beams */
    size_t max, min, returned, vocab;
    double length_penalty, repetition, temperature;
    bool timestamps;

    size_t length, step;           /* of the sequences so far; calls of the decoder */
    int32_t *words;                /* owned; [width][max] */
    double *scores;                /* owned; [width][vocab] of the next token */
    double *sums;                  /* owned; [width] */
    int32_t *next, *from;          /* owned; [width] */
    bool *done;                    /* owned; [batch] */
    struct generate_found *found;  /* owned; [batch][beams], the best first */
    size_t *n_found;               /* owned; [batch] */
    struct odb_tensor *all_scores; /* owned; output 2 */

    struct odb_tensor **feeds; /* owned; [n_feeds] of the decoder */
    size_t n_feeds, first_past;
};

static void generate_dispose(struct generate *g)
{
    for (size_t i = 0; g->found && i < g->batch * g->beams; i++)
        free(g->found[i].words);
    for (size_t i = 0; i < g->n_feeds; i++)
        odb_tensor_unref(g->feeds[i]);
    odb_tensor_unref(g->all_scores);
    free(g->feeds);
    free(g->found);
    free(g->n_found);
    free(g->words);
    free(g->scores);
    free(g->sums);
    free(g->next);
    free(g->from);
    free(g->done);
}

/* --- what the node says ----------------------------------------------------------------------- */

static int64_t generate_attr(const struct generate *g, const char *name, int64_t fallback)
{
    const struct cpu_node *slot = &g->scope->plan->nodes[g->index];
    const struct odb_attr *attr = odb_attrs_find(&slot->attrs, name);
    return attr && attr->type == ODB_ATTR_INT ? attr->i : fallback;
}

static double generate_number(const struct generate *g, enum generate_input i, double fallback)
{
    const struct odb_tensor *t = g->given[i];
    return t && t->kind == ODB_TENSOR && t->count == 1 && t->data ? odb_tensor_f64(t, 0) : fallback;
}

static enum odb_status generate_read(struct generate *g, struct odb_error *err)
{
    const struct odb_tensor *ids = g->given[IN_IDS], *words = g->given[IN_DECODER_IDS];
    g->model = generate_attr(g, "model_type", GENERATE_GPT);
    g->eos = generate_attr(g, "eos_token_id", -1);
    g->pad = generate_attr(g, "pad_token_id", -1);
    g->start = generate_attr(g, "decoder_start_token_id", -1);
    g->ngram = generate_attr(g, "no_repeat_ngram_size", 0);
    g->vocab = (size_t)ODB_MAX(generate_attr(g, "vocab_size", 0), 0);
    g->early = generate_attr(g, "early_stopping", 0) == 1;
    g->length_penalty = generate_number(g, IN_LENGTH_PENALTY, 1);
    g->repetition = generate_number(g, IN_REPETITION, 1);
    g->temperature = generate_number(g, IN_TEMPERATURE, 1);
    g->timestamps = generate_number(g, IN_PROCESSOR, 0) == 1;
    double max = generate_number(g, IN_MAX, 4096), beams = generate_number(g, IN_BEAMS, 1);
    double returned = generate_number(g, IN_RETURN, 1), min = generate_number(g, IN_MIN, 0);
    bool whisper = g->model == GENERATE_WHISPER;
    if (g->model < GENERATE_GPT || g->model > GENERATE_WHISPER)
        return odb_fail(err, ODB_UNSUPPORTED, "model_type %lld", (long long)g->model);
    if (!ids || ids->kind != ODB_TENSOR || ids->rank != (whisper ? 3 : 2) || !ids->dims[0] ||
        (!whisper && ids->dtype != ODB_I32))
        return odb_fail(err, ODB_E_OPERATOR, "the input must be %s",
                        whisper ? "features [batch,size,length]" : "int32 ids [batch,length]");
    if (words && (words->rank != 2 || words->dims[0] != ids->dims[0] || words->dtype != ODB_I32))
        return odb_fail(err, ODB_E_OPERATOR, "decoder_input_ids must be int32 [batch,length]");
    g->length = g->model == GENERATE_GPT ? (size_t)ids->dims[1]
                : whisper && words       ? (size_t)words->dims[1]
                                         : 1;
    if (g->eos < 0 || g->pad < 0 || !(beams >= 1 && beams <= 128) ||
        !(returned >= 1 && returned <= beams) || !(max > (double)g->length && max <= 4096) ||
        !(min < max) || !(g->repetition > 0) || !(g->temperature > 0))
        return odb_fail(err, ODB_E_OPERATOR,
                        "tokens, lengths, penalties or numbers of beams make no sense");
    g->batch = (size_t)ids->dims[0];
    g->beams = (size_t)beams;
    g->width = g->batch * g->beams;
    g->max = (size_t)max;
    g->min = (size_t)ODB_MAX(min, 0);
    g->returned = (size_t)returned;
    return ODB_OK;
}

/* --- room ------------------------------------------------------------------------------------- */

/* A batch may be as large as a dimension beside one that is 0. */
static enum odb_status generate_no_room(const struct generate *g, struct odb_error *err)
{
    return odb_fail(err, ODB_E_NOMEM, "no memory for %zu beams of %zu tokens", g->width, g->max);
}

static enum odb_status generate_room(struct generate *g, struct odb_error *err)
{
    g->words = calloc(g->width * g->max + 1, sizeof *g->words);
    g->sums = calloc(g->width + 1, sizeof *g->sums);
    g->next = calloc(g->width + 1, sizeof *g->next);
    g->from = calloc(g->width + 1, sizeof *g->from);
    g->done = calloc(g->batch + 1, sizeof *g->done);
    g->found = calloc(g->width + 1, sizeof *g->found);
    g->n_found = calloc(g->batch + 1, sizeof *g->n_found);
    bool all = g->words && g->sums && g->next && g->from && g->done && g->found && g->n_found;
    return all ? ODB_OK : generate_no_room(g, err);
}

/* --- tensors ---------------------------------------------------------------------------------- */

static enum odb_status generate_ints(struct odb_tensor **out, size_t rows, size_t columns,
                                     struct odb_error *err)
{
    return odb_tensor_new(out, ODB_I32, 2, (int64_t[]){(int64_t)rows, (int64_t)columns}, err);
}

/* Rows of t along axis, which[0, n) of them, in that order. */
static enum odb_status generate_pick(const struct odb_tensor *t, int axis, const int32_t *which,
                                     size_t n, struct odb_tensor **out, struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK];
    if (t->kind != ODB_TENSOR || t->rank <= axis || odb_dtype_info(t->dtype)->bits % 8)
        return odb_fail(err, ODB_E_OPERATOR, "a state of the decoder has no rows");
    memcpy(dims, t->dims, sizeof dims);
    dims[axis] = (int64_t)n;
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, dims, err));
    size_t row = odb_dtype_info(t->dtype)->bits / 8, outer = 1;
    for (int d = 0; d < t->rank; d++)
        *(d < axis ? &outer : &row) *= d == axis ? 1 : (size_t)t->dims[d];
    for (size_t o = 0; row && o < outer; o++)
        for (size_t i = 0; i < n; i++)
            memcpy((char *)(*out)->data + (o * n + i) * row,
                   (char *)t->data + (o * (size_t)t->dims[axis] + (size_t)which[i]) * row, row);
    return ODB_OK;
}

/* Every row of t once per beam. */
static enum odb_status generate_repeat(const struct generate *g, const struct odb_tensor *t,
                                       struct odb_tensor **out, struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || t->rank < 1 || t->dims[0] != (int64_t)g->batch)
        return odb_fail(err, ODB_E_OPERATOR, "a state of the encoder is not of this batch");
    int32_t *which = calloc(g->width + 1, sizeof *which);
    if (!which)
        return generate_no_room(g, err);
    for (size_t i = 0; i < g->width; i++)
        which[i] = (int32_t)(i / g->beams);
    enum odb_status status = generate_pick(t, 0, which, g->width, out, err);
    free(which);
    return status;
}

static void generate_set(struct generate *g, size_t feed, struct odb_tensor *t)
{
    odb_tensor_unref(g->feeds[feed]);
    g->feeds[feed] = t;
}

/* The declared value behind feed i of a body; NULL: it has fewer. */
static const struct odb_value *generate_input(const struct cpu_plan *body, size_t i)
{
    for (size_t n = 0; n < body->graph->n_inputs; n++) {
        const struct odb_value *v = &body->graph->values[body->graph->inputs[n]];
        if (!v->init && i-- == 0)
            return v;
    }
    return NULL;
}

static bool generate_is(const struct cpu_plan *body, size_t i, const char *name)
{
    const struct odb_value *v = generate_input(body, i);
    return v && strcmp(v->name, name) == 0;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* The logits of the last token of every beam. */
static enum odb_status generate_logits(struct generate *g, const struct odb_tensor *logits,
                                       struct odb_error *err)
{
    bool fits = logits->kind == ODB_TENSOR && logits->rank == 3 && logits->dims[1] > 0 &&
                (logits->dims[0] == (int64_t)g->width || logits->dims[0] == (int64_t)g->batch);
    if (fits && g->vocab == 0)
        g->vocab = (size_t)logits->dims[2];
    if (!fits || g->vocab > (size_t)logits->dims[2] || g->vocab == 0)
        return odb_fail(err, ODB_E_OPERATOR, "the decoder's first output is not its logits");
    if (!g->scores)
        g->scores = calloc(g->width * g->vocab, sizeof *g->scores);
    if (!g->scores)
        return generate_no_room(g, err);
    size_t words = (size_t)logits->dims[2], length = (size_t)logits->dims[1];
    size_t shared = g->width / (size_t)logits->dims[0];
    for (size_t i = 0; i < g->width; i++)
        for (size_t w = 0; w < g->vocab; w++)
            g->scores[i * g->vocab + w] =
                odb_tensor_f64(logits, ((i / shared + 1) * length - 1) * words + w);
    return ODB_OK;
}

static void generate_log_softmax(double *x, size_t n)
{
    double top = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        top = ODB_MAX(top, x[i]);
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - top);
    double shift = top + log(sum);
    for (size_t i = 0; i < n; i++)
        x[i] -= shift;
}

#define GENERATE_NEVER (-(double)FLT_MAX)

/* A word that occurred gets less likely, once however often it did. */
static void generate_punish(const struct generate *g, const int32_t *words, double *x)
{
    for (size_t j = 0; j < g->length; j++) {
        size_t w = (size_t)words[j], k = 0;
        while (words[k] != words[j])
            k++;
        if (k == j && w < g->vocab)
            x[w] = x[w] < 0 ? x[w] * g->repetition : x[w] / g->repetition;
    }
}

static void generate_block_ngrams(const struct generate *g, const int32_t *words, double *x)
{
    size_t head = (size_t)g->ngram - 1;
    for (size_t j = 0; j + head < g->length; j++)
        if (!memcmp(words + j, words + g->length - head, head * sizeof *words) &&
            (size_t)words[j + head] < g->vocab)
            x[words[j + head]] = GENERATE_NEVER;
}

static enum odb_status generate_mask(const struct generate *g, enum generate_input i,
                                     struct odb_error *err)
{
    const struct odb_tensor *mask = g->given[i];
    bool each = i == IN_PREFIX_MASK;
    if (!mask || (each && g->step > 1))
        return ODB_OK;
    if (mask->kind != ODB_TENSOR || mask->count != (each ? g->batch : 1) * g->vocab)
        return odb_fail(err, ODB_E_OPERATOR, "a mask of words has %zu numbers for %zu words",
                        mask->count, g->vocab);
    for (size_t e = 0; e < g->width * g->vocab; e++) {
        size_t row = each ? e / g->vocab / g->beams : 0;
        if (odb_tensor_i64(mask, row * g->vocab + e % g->vocab) == 0)
            g->scores[e] = GENERATE_NEVER;
    }
    return ODB_OK;
}

static enum odb_status generate_process(struct generate *g, struct odb_error *err)
{
    for (size_t i = 0; i < g->width; i++) {
        if (g->repetition != 1)
            generate_punish(g, g->words + i * g->max, g->scores + i * g->vocab);
        if (g->ngram > 0 && (size_t)g->ngram <= g->length)
            generate_block_ngrams(g, g->words + i * g->max, g->scores + i * g->vocab);
    }
    ODB_TRY(generate_mask(g, IN_VOCAB_MASK, err));
    ODB_TRY(generate_mask(g, IN_PREFIX_MASK, err));
    for (size_t i = 0; i < g->width && g->length < g->min; i++)
        if ((size_t)g->eos < g->vocab)
            g->scores[i * g->vocab + (size_t)g->eos] = GENERATE_NEVER;
    for (size_t e = 0; e < g->width * g->vocab && g->temperature != 1; e++)
        g->scores[e] /= g->temperature;
    return ODB_OK;
}

/* --- choosing --------------------------------------------------------------------------------- */

/* A sequence ends: it is kept if it is among the best of its batch entry. */
static void generate_keep(struct generate *g, size_t b, const int32_t *words, double sum)
{
    struct generate_found *found = g->found + b * g->beams;
    double score = sum / pow((double)g->length, g->length_penalty);
    size_t n = g->n_found[b], at = n;
    while (at > 0 && score > found[at - 1].score)
        at--;
    if (at == g->beams)
        return;
    if (n == g->beams)
        free(found[--n].words);
    memmove(found + at + 1, found + at, (n - at) * sizeof *found);
    found[at] = (struct generate_found){score, odb_new_n(int32_t, g->length + 1), g->length};
    memcpy(found[at].words, words, g->length * sizeof *words);
    g->n_found[b] = n + 1;
}

/* The n best of scores [count], the best first, the earlier of equals first. */
static void generate_best(const double *scores, size_t count, size_t *best, size_t n)
{
    size_t have = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = have;
        while (at > 0 && scores[i] > scores[best[at - 1]])
            at--;
        if (at == n)
            continue;
        have = ODB_MIN(have + 1, n);
        memmove(best + at + 1, best + at, (have - at - 1) * sizeof *best);
        best[at] = i;
    }
}

/* The next beams of batch entry b out of its 2 * beams best candidates. */
static enum odb_status generate_advance(struct generate *g, size_t b, const size_t *best,
                                        size_t n_best, struct odb_error *err)
{
    const double *scores = g->scores + b * g->beams * g->vocab;
    size_t n = 0, first = b * g->beams;
    double top = scores[best[0]];
    for (size_t j = 0; j < n_best && n < g->beams; j++) {
        size_t beam = first + best[j] / g->vocab, word = best[j] % g->vocab;
        if ((int64_t)word == g->eos) {
            if (j < g->beams)
                generate_keep(g, b, g->words + beam * g->max, scores[best[j]]);
            continue;
        }
        g->sums[first + n] = scores[best[j]];
        g->next[first + n] = (int32_t)word;
        g->from[first + n++] = (int32_t)beam;
    }
    if (n < g->beams)
        return odb_fail(err, ODB_E_OPERATOR, "%zu words are too few for %zu beams", g->vocab,
                        g->beams);
    if (g->n_found[b] == g->beams)
        g->done[b] = g->early || g->found[b * g->beams + g->beams - 1].score >=
                                     top / pow((double)g->length, g->length_penalty);
    return ODB_OK;
}

static enum odb_status generate_rank_beams(struct generate *g, struct odb_error *err)
{
    size_t count = g->beams * g->vocab, n = ODB_MIN(2 * g->beams, count);
    size_t *best = odb_new_n(size_t, n + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < g->width; i++)
        for (size_t w = 0; w < g->vocab; w++)
            g->scores[i * g->vocab + w] += g->sums[i];
    if (g->all_scores)
        for (size_t e = 0; e < g->width * g->vocab; e++)
            odb_store_f64(g->all_scores->dtype, g->all_scores->data,
                          (g->step - 1) * g->width * g->vocab + e, g->scores[e]);
    for (size_t b = 0; b < g->batch && status == ODB_OK; b++) {
        if (!g->done[b]) {
            generate_best(g->scores + b * count, count, best, n);
            status = generate_advance(g, b, best, n, err);
            continue;
        }
        for (size_t i = b * g->beams; i < (b + 1) * g->beams; i++) {
            g->sums[i] = 0;
            g->next[i] = (int32_t)g->pad;
            g->from[i] = (int32_t)i;
        }
    }
    free(best);
    return status;
}

static void generate_rank_greedy(struct generate *g)
{
    for (size_t b = 0; b < g->batch; b++) {
        size_t best = 0;
        generate_best(g->scores + b * g->vocab, g->vocab, &best, 1);
        g->done[b] = g->done[b] || (int64_t)best == g->eos;
        g->next[b] = (int32_t)(g->done[b] ? g->pad : (int64_t)best);
        g->from[b] = (int32_t)b;
    }
}

/* Every beam goes on from the one that was chosen for it. */
static enum odb_status generate_append(struct generate *g, struct odb_error *err)
{
    int32_t *words = calloc(g->width * g->max + 1, sizeof *words);
    if (!words)
        return generate_no_room(g, err);
    for (size_t i = 0; i < g->width; i++) {
        memcpy(words + i * g->max, g->words + (size_t)g->from[i] * g->max,
               g->length * sizeof *words);
        words[i * g->max + g->length] = g->next[i];
    }
    free(g->words);
    g->words = words;
    g->length++;
    return ODB_OK;
}

/* One more token for every sequence. *finished: nothing can get better any more. */
static enum odb_status generate_next(struct generate *g, const struct odb_tensor *logits,
                                     bool *finished, struct odb_error *err)
{
    g->step++;
    ODB_TRY(generate_logits(g, logits, err));
    if (g->step == 1 && g->node->n_out > 2 && g->node->out[2] >= 0)
        ODB_TRY(odb_tensor_new(&g->all_scores, logits->dtype, 4,
                               (int64_t[]){(int64_t)(g->max - g->length), (int64_t)g->batch,
                                           (int64_t)g->beams, (int64_t)g->vocab},
                               err));
    for (size_t i = 0; i < g->width && !g->greedy; i++)
        generate_log_softmax(g->scores + i * g->vocab, g->vocab);
    ODB_TRY(generate_process(g, err));
    if (g->greedy)
        generate_rank_greedy(g);
    else
        ODB_TRY(generate_rank_beams(g, err));
    ODB_TRY(generate_append(g, err));
    *finished = true;
    for (size_t b = 0; b < g->batch; b++)
        *finished = *finished && g->done[b];
    return ODB_OK;
}

/* --- feeding ---------------------------------------------------------------------------------- */

/* The next token of every beam, or all of them where the decoder wants them. */
static enum odb_status generate_feed_words(struct generate *g, struct odb_error *err)
{
    const struct odb_type *type = &generate_input(g->decoder, 0)->type;
    bool last = g->model == GENERATE_GPT || (type->rank == 2 && type->dims[1].value == 1);
    size_t columns = last ? 1 : g->length;
    struct odb_tensor *t = NULL;
    ODB_TRY(generate_ints(&t, g->width, columns, err));
    for (size_t i = 0; i < g->width; i++)
        memcpy((odb_i32 *)t->data + i * columns, g->words + i * g->max + g->length - columns,
               columns * sizeof(int32_t));
    generate_set(g, 0, t);
    return ODB_OK;
}

/* What the decoder has just given becomes the past of the beams that go on. */
static enum odb_status generate_feed_past(struct generate *g, struct odb_tensor *const *outs,
                                          size_t n_outs, struct odb_error *err)
{
    for (size_t o = 1; o < n_outs; o++) {
        struct odb_tensor *t = NULL;
        size_t feed = g->first_past + o - 1;
        if (feed >= g->n_feeds)
            return odb_fail(err, ODB_E_OPERATOR, "the decoder gives more states than it takes");
        if (outs[o]->kind != ODB_TENSOR || outs[o]->rank < 2 ||
            outs[o]->dims[g->model == GENERATE_GPT ? 1 : 0] != (int64_t)g->width)
            return odb_fail(err, ODB_E_OPERATOR, "a state of the decoder is not of this batch");
        ODB_TRY(
            generate_pick(outs[o], g->model == GENERATE_GPT ? 1 : 0, g->from, g->width, &t, err));
        generate_set(g, feed, t);
    }
    return ODB_OK;
}

/* Positions and attention mask of the prompt: padding has none. */
static enum odb_status generate_gpt_prompt(struct generate *g, struct odb_error *err)
{
    const struct odb_tensor *ids = g->given[IN_IDS], *given = g->given[IN_ATTENTION_MASK];
    struct odb_tensor *words = NULL, *places = NULL, *mask = NULL;
    if (given && (!odb_tensor_same_shape(given, ids) || given->dtype != ODB_I32))
        return odb_fail(err, ODB_E_OPERATOR, "attention_mask must be as input_ids is");
    ODB_TRY(generate_ints(&words, g->width, g->length, err));
    generate_set(g, 0, words);
    ODB_TRY(generate_ints(&places, g->width, g->length, err));
    generate_set(g, 1, places);
    ODB_TRY(generate_ints(&mask, g->width, g->length, err));
    generate_set(g, 2, mask);
    for (size_t i = 0; i < g->width; i++) {
        int32_t place = 0;
        for (size_t j = 0; j < g->length; j++) {
            size_t from = i / g->beams * g->length + j, to = i * g->length + j;
            int32_t word = ((const odb_i32 *)ids->data)[from];
            bool seen = given ? ((const odb_i32 *)given->data)[from] != 0 : word != g->pad;
            g->words[i * g->max + j] = ((odb_i32 *)words->data)[to] = word;
            ((odb_i32 *)mask->data)[to] = seen;
            ((odb_i32 *)places->data)[to] = seen ? place++ : 0;
        }
    }
    return ODB_OK;
}

/* Pasts without keys yet, of the sizes that the decoder declares. */
static enum odb_status generate_gpt_pasts(struct generate *g, struct odb_error *err)
{
    for (size_t i = 3; i < g->n_feeds; i++) {
        const struct odb_type *type = &generate_input(g->decoder, i)->type;
        struct odb_tensor *t = NULL;
        if (type->rank != 5 || type->dims[2].value < 1 || type->dims[4].value < 1)
            return odb_fail(err, ODB_UNSUPPORTED,
                            "input %zu of the decoder is not declared as a past of known size", i);
        int64_t dims[] = {2, (int64_t)g->width, type->dims[2].value, 0, type->dims[4].value};
        bool wide = g->scope->precision == ODB_PREC_F64;
        ODB_TRY(odb_tensor_new(&t, wide ? ODB_F64 : type->dtype, 5, dims, err));
        generate_set(g, i, t);
    }
    return ODB_OK;
}

/* The next position of every sequence, and one more column of the mask. */
static enum odb_status generate_gpt_step(struct generate *g, struct odb_error *err)
{
    const struct odb_tensor *old = g->feeds[2], *before = g->feeds[1];
    size_t columns = (size_t)old->dims[1], last = (size_t)before->dims[1];
    struct odb_tensor *mask = NULL, *places = NULL;
    ODB_TRY(generate_ints(&places, g->width, 1, err));
    for (size_t i = 0; i < g->width; i++) {
        int32_t place = ((const odb_i32 *)before->data)[(i + 1) * last - 1] + 1;
        if (g->step == 1) /* the prompt may end in padding */
            place = 0;
        for (size_t j = 0; g->step == 1 && j < columns; j++)
            place += ((const odb_i32 *)old->data)[i * columns + j];
        ((odb_i32 *)places->data)[i] = place;
    }
    generate_set(g, 1, places);
    ODB_TRY(generate_ints(&mask, g->width, columns + 1, err));
    for (size_t i = 0; i < g->width; i++) {
        memcpy((odb_i32 *)mask->data + i * (columns + 1), (const odb_i32 *)old->data + i * columns,
               columns * sizeof(int32_t));
        ((odb_i32 *)mask->data)[i * (columns + 1) + columns] = 1;
    }
    generate_set(g, 2, mask);
    return ODB_OK;
}

/* --- encoder and decoder ---------------------------------------------------------------------- */

/* The tokens that the decoder begins with. */
static enum odb_status generate_start(struct generate *g, struct odb_tensor **out,
                                      struct odb_error *err)
{
    const struct odb_tensor *given = g->given[IN_DECODER_IDS];
    if (g->model != GENERATE_WHISPER)
        given = NULL;
    if (!given && g->start < 0)
        return odb_fail(err, ODB_E_OPERATOR, "decoder_start_token_id is missing");
    ODB_TRY(generate_ints(out, g->batch, g->length, err));
    for (size_t i = 0; i < (*out)->count; i++)
        ((odb_i32 *)(*out)->data)[i] =
            given ? ((const odb_i32 *)given->data)[i] : (int32_t)g->start;
    for (size_t i = 0; i < g->width; i++)
        memcpy(g->words + i * g->max, (odb_i32 *)(*out)->data + i / g->beams * g->length,
               g->length * sizeof(int32_t));
    return ODB_OK;
}

/* 0 for the padding that a sequence begins with. */
static enum odb_status generate_encoder_mask(const struct generate *g, struct odb_tensor **out,
                                             struct odb_error *err)
{
    const struct odb_tensor *ids = g->given[IN_IDS], *given = g->given[IN_ATTENTION_MASK];
    if (given) {
        *out = odb_tensor_ref(given);
        return ODB_OK;
    }
    ODB_TRY(generate_ints(out, g->batch, (size_t)ids->dims[1], err));
    for (size_t b = 0; b < g->batch; b++) {
        bool seen = false;
        for (size_t j = 0; j < (size_t)ids->dims[1]; j++) {
            size_t at = b * (size_t)ids->dims[1] + j;
            seen = seen || ((const odb_i32 *)ids->data)[at] != g->pad;
            ((odb_i32 *)(*out)->data)[at] = seen;
        }
    }
    return ODB_OK;
}

/* Runs the encoder. feeds[3]: what it was fed, refs of the caller's. */
static enum odb_status generate_encode(struct generate *g, struct odb_tensor **feeds,
                                       struct odb_tensor **outs, struct odb_error *err)
{
    size_t n = odb_graph_feeds(g->first->graph, NULL), at = 0;
    size_t most = g->model == GENERATE_T5 ? 3 : 2;
    if (n > most || n + 1 < most || g->first->graph->n_outputs < 4)
        return odb_fail(err, ODB_UNSUPPORTED, "an encoder with %zu inputs and %zu outputs", n,
                        g->first->graph->n_outputs);
    if (strcmp(g->first->graph->values[g->first->graph->outputs[0]].name, "logits") != 0)
        return odb_fail(err, ODB_UNSUPPORTED, "an encoder that gives no logits");
    feeds[at++] = odb_tensor_ref(g->given[IN_IDS]);
    if (g->model == GENERATE_T5)
        ODB_TRY(generate_encoder_mask(g, &feeds[at++], err));
    ODB_TRY(generate_start(g, &feeds[at], err));
    return cpu_body_run(g->scope, g->index, g->first, g->step, feeds, outs, err);
}

/* What the decoder is fed besides the tokens: what the encoder was fed and gave, once per beam. */
static enum odb_status generate_feed_encoded(struct generate *g, struct odb_tensor *const *feeds,
                                             struct odb_tensor *const *outs, struct odb_error *err)
{
    size_t n_outs = g->first->graph->n_outputs, at = 1, state = 2;
    const struct cpu_plan *body = g->decoder;
    if (generate_is(body, at, "encoder_input_ids"))
        ODB_TRY(generate_repeat(g, feeds[0], &g->feeds[at++], err));
    if (g->model == GENERATE_T5 && at < g->n_feeds)
        ODB_TRY(generate_repeat(g, feeds[1], &g->feeds[at++], err));
    if (generate_is(body, at, "encoder_hidden_states"))
        ODB_TRY(generate_repeat(g, outs[1], &g->feeds[at++], err));
    g->first_past = at;
    if (g->n_feeds - ODB_MIN(at, g->n_feeds) != n_outs - 2)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "a decoder with %zu inputs for an encoder with %zu outputs", g->n_feeds,
                        n_outs);
    while (at < g->n_feeds)
        ODB_TRY(generate_repeat(g, outs[state++], &g->feeds[at++], err));
    return ODB_OK;
}

/* The encoder, and the first token from its logits. */
static enum odb_status generate_begin(struct generate *g, bool *finished, struct odb_error *err)
{
    struct odb_tensor *feeds[3] = {NULL};
    size_t n_outs = g->first->graph->n_outputs;
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, n_outs + 1);
    enum odb_status status = generate_encode(g, feeds, outs, err);
    if (status == ODB_OK && g->length + 1 >= g->max)
        status = odb_fail(err, ODB_E_OPERATOR, "max_length leaves no room for two tokens");
    if (status == ODB_OK)
        status = generate_feed_encoded(g, feeds, outs, err);
    if (status == ODB_OK)
        status = generate_next(g, outs[0], finished, err);
    *finished = false; /* the decoder runs at least once */
    for (size_t i = 0; i < ODB_COUNT(feeds); i++)
        odb_tensor_unref(feeds[i]);
    for (size_t i = 0; i < n_outs; i++)
        odb_tensor_unref(outs[i]);
    free(outs);
    return status;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* One call of a decoder, and the token that it leads to. */
static enum odb_status generate_turn(struct generate *g, bool *finished, struct odb_error *err)
{
    const struct cpu_plan *body =
        g->model == GENERATE_GPT && g->step == 0 && g->first ? g->first : g->decoder;
    size_t n_outs = body->graph->n_outputs;
    if (n_outs < 1 || odb_graph_feeds(body->graph, NULL) != g->n_feeds)
        return odb_fail(err, ODB_E_OPERATOR, "the decoders take different inputs");
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, n_outs);
    enum odb_status status =
        cpu_body_run(g->scope, g->index, body, g->step + 1, g->feeds, outs, err);
    if (status == ODB_OK)
        status = generate_next(g, outs[0], finished, err);
    if (status == ODB_OK && !*finished)
        status = generate_feed_past(g, outs, n_outs, err);
    if (status == ODB_OK && !*finished && g->model == GENERATE_GPT)
        status = generate_gpt_step(g, err);
    for (size_t o = 0; o < n_outs; o++)
        odb_tensor_unref(outs[o]);
    free(outs);
    return status;
}

static enum odb_status generate_run(struct generate *g, struct odb_error *err)
{
    bool finished = false;
    ODB_TRY(generate_room(g, err));
    g->n_feeds = odb_graph_feeds(g->decoder->graph, NULL);
    g->feeds = odb_new_n(struct odb_tensor *, g->n_feeds + 1);
    for (size_t i = 0; i < g->width; i++)
        g->sums[i] = i % g->beams ? -1e9 : 0; /* or all beams would be the same */
    if (g->n_feeds < 3)
        return odb_fail(err, ODB_E_OPERATOR, "a decoder with %zu inputs", g->n_feeds);
    if (g->model == GENERATE_GPT) {
        g->first_past = 3;
        if (g->n_feeds + 1 != 3 + g->decoder->graph->n_outputs)
            return odb_fail(err, ODB_UNSUPPORTED, "a decoder that writes into its past");
        ODB_TRY(generate_gpt_prompt(g, err));
        ODB_TRY(generate_gpt_pasts(g, err));
    } else {
        ODB_TRY(generate_begin(g, &finished, err));
    }
    while (g->length < g->max && !finished) {
        if (g->step > 0)
            ODB_TRY(generate_feed_words(g, err));
        ODB_TRY(generate_turn(g, &finished, err));
    }
    return ODB_OK;
}

/* --- outputs ---------------------------------------------------------------------------------- */

static void generate_fill(const struct generate *g, struct odb_tensor *out, size_t row,
                          const int32_t *words, size_t n)
{
    odb_i32 *y = (odb_i32 *)out->data + row * g->max;
    for (size_t j = 0; j < g->max; j++)
        y[j] = j < n ? words[j] : (int32_t)g->pad;
}

static enum odb_status generate_outputs(struct generate *g, struct odb_tensor **out,
                                        struct odb_error *err)
{
    bool wanted[3] = {false};
    for (int o = 0; o < ODB_MIN(g->node->n_out, 3); o++)
        wanted[o] = g->node->out[o] >= 0;
    int64_t dims[] = {(int64_t)g->batch, (int64_t)g->returned, (int64_t)g->max};
    for (size_t i = 0; !g->greedy && i < g->width; i++)
        if (!g->done[i / g->beams])
            generate_keep(g, i / g->beams, g->words + i * g->max, g->sums[i]);
    if (wanted[0] && g->greedy) {
        dims[1] = dims[2];
        ODB_TRY(odb_tensor_new(&out[0], ODB_I32, 2, dims, err));
        for (size_t b = 0; b < g->batch; b++)
            generate_fill(g, out[0], b, g->words + b * g->max, g->length);
        return ODB_OK;
    }
    if (wanted[0])
        ODB_TRY(odb_tensor_new(&out[0], ODB_I32, 3, dims, err));
    if (wanted[1])
        ODB_TRY(odb_tensor_new(&out[1], ODB_F32, 2, dims, err));
    for (size_t i = 0; i < g->batch * g->returned; i++) {
        const struct generate_found *f = &g->found[i / g->returned * g->beams + i % g->returned];
        if (wanted[0])
            generate_fill(g, out[0], i, f->words, f->length);
        if (wanted[1])
            ((odb_f32 *)out[1]->data)[i] = (float)f->score;
    }
    if (wanted[2])
        out[2] = odb_tensor_ref(g->all_scores);
    return ODB_OK;
}

static enum odb_status generate_search(struct generate *g, const struct odb_tensor *const *in,
                                       struct odb_tensor **out, struct odb_error *err)
{
    const int *at = g->greedy ? generate_greedy_inputs : generate_beam_inputs;
    g->node = &g->scope->plan->graph->nodes[g->index];
    for (int i = 0; i < IN_COUNT; i++)
        g->given[i] = at[i] >= 0 && at[i] < g->node->n_in ? in[at[i]] : NULL;
    if (g->node->n_out > (g->greedy ? 1 : 3))
        return odb_fail(err, ODB_UNSUPPORTED, "%s with %d outputs", g->node->op_type,
                        g->node->n_out);
    ODB_TRY(generate_read(g, err));
    g->decoder = cpu_body_find(g->scope, g->index, "decoder");
    g->first =
        cpu_body_find(g->scope, g->index, g->model == GENERATE_GPT ? "init_decoder" : "encoder");
    if (!g->decoder || (g->model != GENERATE_GPT && !g->first))
        return odb_fail(err, ODB_E_OPERATOR, "%s has no decoder, or no encoder", g->node->op_type);
    if (g->greedy && g->model != GENERATE_GPT)
        return odb_fail(err, ODB_UNSUPPORTED, "GreedySearch of an encoder and decoder");
    if (g->timestamps)
        return odb_fail(err, ODB_UNSUPPORTED, "BeamSearch with a logits_processor");
    if (g->width == 0)
        return odb_fail(err, ODB_E_OPERATOR, "no sequence to begin with");
    ODB_TRY(generate_run(g, err));
    return generate_outputs(g, out, err);
}

static enum odb_status generate_node(const struct cpu_scope *scope, int index, bool greedy,
                                     const struct odb_tensor *const *in, struct odb_tensor **out,
                                     struct odb_error *err)
{
    struct generate g = {.scope = scope, .index = index, .greedy = greedy};
    enum odb_status status = generate_search(&g, in, out, err);
    generate_dispose(&g);
    return status;
}

enum odb_status cpu_control_greedy(const struct cpu_scope *scope, int index,
                                   const struct odb_tensor *const *in, struct odb_tensor **out,
                                   struct odb_error *err)
{
    return generate_node(scope, index, true, in, out, err);
}

enum odb_status cpu_control_beam(const struct cpu_scope *scope, int index,
                                 const struct odb_tensor *const *in, struct odb_tensor **out,
                                 struct odb_error *err)
{
    return generate_node(scope, index, false, in, out, err);
}
