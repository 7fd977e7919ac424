/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/plan/stream.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "inputs/input_file.h"
#include "probe/answers.h"
#include "sequence/plan/axis.h"
#include "system/file.h"

#define STREAM_MOST ((size_t)1 << 24) /* numbers of a file */

/* One input's. */
struct stream {
    struct odb_tensor *whole; /* owned: all pieces along the axis, or what it begins with */
    ODB_VEC(struct odb_tensor *) pieces; /* owned refs: where each is a whole input */
    int rank;                            /* of the input */
    char source[256];
};

struct odb_streams {
    const struct odb_plan *plan; /* borrowed */
    size_t pieces;
    struct stream *items;        /* owned; [plan->inputs.n] */
    struct odb_tensor **outside; /* owned refs; [plan->outside.n] */
};

/* --- from numbers and files ------------------------------------------------------------------- */

/* "1,2,3": the numbers, the caller's; NULL: it is no such list. */
static double *stream_numbers(const char *text, size_t *n)
{
    ODB_VEC(double) list = {0};
    const char *at = text;
    char *end = NULL;
    for (bool more = true; more; at = end + 1) {
        errno = 0;
        double v = strtod(at, &end);
        if (end == at || errno || (*end && *end != ',')) {
            free(list.items);
            return NULL;
        }
        odb_push(&list, v);
        more = *end == ',';
    }
    *n = list.n;
    return list.items;
}

/* The numbers of a file, which white space and commas part. */
static enum odb_status stream_file(double **out, size_t *n, const char *path, struct odb_error *err)
{
    ODB_VEC(double) list = {0};
    FILE *file;
    double v;
    int got;
    if (odb_file_open(&file, path, err) != ODB_OK)
        return odb_error_at(err, "%s", path);
    while ((got = fscanf(file, "%lf%*[, \t\r\n]", &v)) == 1 && list.n < STREAM_MOST)
        odb_push(&list, v);
    bool broken = ferror(file), rest = got != EOF;
    fclose(file);
    *out = list.items;
    *n = list.n;
    if (list.n && !broken && !rest)
        return ODB_OK;
    free(list.items);
    *out = NULL;
    odb_fail(err, broken ? ODB_E_IO : ODB_E_FORMAT,
             broken                  ? "it cannot be read"
             : list.n == STREAM_MOST ? "it has more than %zu numbers"
             : list.n                ? "what follows %zu numbers is none"
                                     : "it does not begin with a number",
             list.n);
    return odb_error_at(err, "%s", path);
}

/* "1,2,3", or "@FILE"; *out is the caller's, NULL where it is something else. */
static enum odb_status stream_list(double **out, size_t *n, const char *text, struct odb_error *err)
{
    if (*text == '@')
        return stream_file(out, n, text + 1, err);
    *out = stream_numbers(text, n);
    return ODB_OK;
}

/* Numbers in the type and shape of like, but with n places on the axis (-1: as like has them), the
 * same for every place of the other axes. */
static enum odb_status stream_fill(struct odb_tensor **out, const struct odb_tensor *like, int axis,
                                   const double *numbers, size_t n, struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK];
    size_t inner = 1;
    if (axis >= like->rank)
        return odb_fail(err, ODB_E_USAGE, "the input has %d axes, and none that is number %d",
                        like->rank, axis);
    memcpy(dims, like->dims, sizeof dims);
    if (axis >= 0)
        dims[axis] = (int64_t)n;
    for (int i = axis + 1; axis >= 0 && i < like->rank; i++)
        inner *= (size_t)dims[i];
    ODB_TRY(odb_tensor_new(out, like->dtype, like->rank, dims, err));
    for (size_t i = 0; i < (*out)->count; i++)
        odb_store_f64(like->dtype, (*out)->data, i, numbers[axis >= 0 ? i / inner % n : 0]);
    return ODB_OK;
}

static enum odb_status stream_read(struct stream *s, const struct odb_value *value,
                                   const char *text, struct odb_error *err)
{
    struct odb_input_form form = {.type = &value->type, .rank = -1};
    ODB_TRY(odb_input_read(&s->whole, s->source, sizeof s->source, &form, text, err));
    if (s->whole->dtype == value->type.dtype || !value->type.known)
        return ODB_OK;
    struct odb_tensor *t = s->whole;
    enum odb_status status = odb_tensor_cast(&s->whole, t, value->type.dtype, err);
    odb_tensor_unref(t);
    return status;
}

/* --- as the input settings make it ------------------------------------------------------------ */

static const struct odb_feed *stream_made(const struct odb_feeds *feeds, int value)
{
    for (size_t i = 0; i < feeds->n; i++)
        if (feeds->items[i].value == value)
            return &feeds->items[i];
    return NULL;
}

/* The first input whose pieces are counted, and made; SIZE_MAX: none is. */
static size_t stream_counted(const struct odb_plan *plan)
{
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        if (input->move == ODB_MOVE_FEED && input->axis >= 0 && !strcmp(input->start, "made"))
            return i;
    }
    return SIZE_MAX;
}

enum odb_status odb_streams_chunks(struct odb_plan *plan, const struct odb_stream_source *source,
                                   struct odb_error *err)
{
    size_t counted = stream_counted(plan);
    if (counted == SIZE_MAX)
        return ODB_OK;
    const struct odb_plan_input *input = &plan->inputs.items[counted];
    plan->chunks.n = 0;
    for (size_t k = 0; k < plan->steps; k++) {
        struct odb_feeds *feeds;
        ODB_TRY(source->make(source->payload, (uint32_t)k, &feeds, err));
        const struct odb_feed *feed = stream_made(feeds, input->value);
        bool fits = feed && feed->tensor->rank > input->axis && feed->tensor->dims[input->axis];
        odb_push(&plan->chunks, fits ? (size_t)feed->tensor->dims[input->axis] : (size_t)1);
        odb_feeds_free(feeds);
    }
    return ODB_OK;
}

enum odb_status odb_streams_untold(const char *name, size_t step, struct odb_error *err)
{
    odb_fail(err, ODB_E_INPUT, "step %zu has no input '%s', and nothing tells what it was fed",
             step, name);
    return odb_error_remedy(err, "say --feed '%s=NUMBERS', or a file", name);
}

static void stream_drop_pieces(struct stream *s)
{
    for (size_t k = 0; k < s->pieces.n; k++)
        odb_tensor_unref(s->pieces.items[k]);
    free(s->pieces.items);
    s->pieces.items = NULL;
    s->pieces.n = s->pieces.cap = 0;
}

/* Pieces from inputs made with one seed after the other, or step by step, until there are enough.
 */
static enum odb_status stream_generate(struct odb_streams *streams,
                                       const struct odb_stream_source *source, size_t i,
                                       struct odb_error *err)
{
    const struct odb_plan_input *input = &streams->plan->inputs.items[i];
    const struct odb_value *value = &streams->plan->model->graph->values[input->value];
    struct stream *s = &streams->items[i];
    size_t had = 0;
    for (uint32_t shift = 0; had < streams->pieces; shift++) {
        struct odb_feeds *feeds;
        ODB_TRY(source->make(source->payload, shift, &feeds, err));
        const struct odb_feed *feed = stream_made(feeds, input->value);
        if (!feed) {
            odb_feeds_free(feeds);
            return odb_streams_untold(value->name, shift, err);
        }
        struct odb_tensor *t = feed->tensor;
        if (!shift)
            snprintf(s->source, sizeof s->source, "%s", feed->source);
        size_t n = input->axis < 0 ? 1 : input->axis < t->rank ? (size_t)t->dims[input->axis] : 0;
        odb_push(&s->pieces, odb_tensor_ref(t));
        odb_feeds_free(feeds);
        had += n;
        if (!n)
            return odb_fail(err, ODB_E_INPUT, "input '%s' is made with no place on axis %d",
                            value->name, input->axis);
    }
    if (input->axis < 0)
        return ODB_OK;
    struct odb_tensor *all;
    ODB_TRY(odb_axis_join(&all, s->pieces.items, s->pieces.n, input->axis, err));
    enum odb_status status =
        odb_axis_part(&s->whole, all, input->axis, 0, (int64_t)streams->pieces, err);
    odb_tensor_unref(all);
    stream_drop_pieces(s);
    return status;
}

/* --- what a state begins with ----------------------------------------------------------------- */

static enum odb_status stream_start(struct stream *s, const struct odb_plan *plan,
                                    const struct odb_plan_input *input,
                                    const struct odb_tensor *made, struct odb_error *err)
{
    const struct odb_value *value = &plan->model->graph->values[input->value];
    const char *start = input->start ? input->start : "made";
    double zero = 0, *numbers = NULL;
    size_t n = 0;
    snprintf(s->source, sizeof s->source, "%s", start);
    if (!strcmp(start, "made") || !strcmp(start, "default")) {
        s->whole = odb_tensor_ref(made);
        return ODB_OK;
    }
    if (!strcmp(start, "empty"))
        return input->axis < 0
                   ? odb_fail(err, ODB_E_USAGE,
                              "state '%s' grows along no axis, and cannot be empty", value->name)
                   : odb_axis_part(&s->whole, made, input->axis, 0, 0, err);
    if (!strcmp(start, "zeros"))
        return stream_fill(&s->whole, made, -1, &zero, 1, err);
    numbers = stream_numbers(start, &n);
    if (!numbers)
        return stream_read(s, value, start, err);
    enum odb_status status =
        n == 1 ? stream_fill(&s->whole, made, -1, numbers, 1, err)
               : odb_fail(err, ODB_E_USAGE, "'%s' of input '%s' is no single number", start,
                          value->name);
    free(numbers);
    return status;
}

/* Each number fills a whole input. */
static enum odb_status stream_each(struct stream *s, const struct odb_tensor *made,
                                   const double *numbers, size_t n, struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct odb_tensor *t;
        ODB_TRY(stream_fill(&t, made, -1, &numbers[i], 1, err));
        odb_push(&s->pieces, t);
    }
    return ODB_OK;
}

static size_t stream_length(const struct stream *s, int axis)
{
    if (!s->whole)
        return s->pieces.n;
    return axis < s->whole->rank ? (size_t)s->whole->dims[axis] : 0;
}

/* Those of step 0 stay; the others are chosen when the steps are run. */
static enum odb_status stream_greedy(struct odb_streams *streams,
                                     const struct odb_stream_source *source, size_t i,
                                     struct odb_error *err)
{
    struct stream *s = &streams->items[i];
    struct odb_tensor *own;
    ODB_TRY(stream_generate(streams, source, i, err));
    ODB_TRY(odb_tensor_clone(&own, s->whole, err));
    odb_tensor_unref(s->whole);
    s->whole = own;
    return ODB_OK;
}

/* Numbers or a file, of which there are enough for all steps. */
static enum odb_status stream_feed(struct odb_streams *streams,
                                   const struct odb_stream_source *source, size_t i,
                                   const struct odb_tensor *made, struct odb_error *err)
{
    const struct odb_plan_input *input = &streams->plan->inputs.items[i];
    const struct odb_value *value = &streams->plan->model->graph->values[input->value];
    struct stream *s = &streams->items[i];
    size_t n = 0;
    if (!input->start || !strcmp(input->start, "made"))
        return stream_generate(streams, source, i, err);
    if (!strcmp(input->start, "greedy"))
        return stream_greedy(streams, source, i, err);
    double *numbers;
    ODB_TRY(stream_list(&numbers, &n, input->start, err));
    snprintf(s->source, sizeof s->source, "--feed %s", input->start);
    s->rank = made->rank;
    enum odb_status status = !numbers ? stream_read(s, value, input->start, err)
                             : input->axis < 0
                                 ? stream_each(s, made, numbers, n, err)
                                 : stream_fill(&s->whole, made, input->axis, numbers, n, err);
    free(numbers);
    if (status != ODB_OK)
        return status;
    size_t had = stream_length(s, ODB_MAX(input->axis, 0));
    if (had >= streams->pieces)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "the steps take %zu pieces of input '%s', and --feed gives %zu",
             streams->pieces, value->name, had);
    return odb_error_remedy(err, "give more, or take fewer --steps");
}

/* "1,1;0,1": rows of n numbers each, one behind the other, the caller's; one alone has a semicolon
 * behind it. NULL: it is something else. */
static double *stream_rows(const char *text, size_t *rows, size_t *n)
{
    ODB_VEC(double) all = {0};
    bool fits = true;
    *rows = *n = 0;
    for (const char *at = text; at && fits && (*at || at == text);) {
        const char *end = strchr(at, ';');
        char *row = end ? odb_xstrndup(at, (size_t)(end - at)) : odb_xstrdup(at);
        size_t had = 0;
        double *numbers = stream_numbers(row, &had);
        fits = numbers && (!*rows || had == *n);
        for (size_t i = 0; i < had && fits; i++)
            odb_push(&all, numbers[i]);
        *n = had;
        ++*rows;
        free(numbers);
        free(row);
        at = end ? end + 1 : NULL;
    }
    if (fits)
        return all.items;
    free(all.items);
    return NULL;
}

/* A list, or rows, are int64, or float64 where one of them is no whole number. */
static enum odb_status stream_outside(struct odb_tensor **out, const char *what,
                                      struct odb_error *err)
{
    const struct odb_type unknown = {.rank = -1};
    struct odb_input_form form = {.type = &unknown, .rank = -1};
    char source[256];
    double *numbers = NULL;
    size_t n = 0, rows = 1;
    bool whole = true;
    if (*what == '@')
        ODB_TRY(stream_file(&numbers, &n, what + 1, err));
    else
        numbers = stream_rows(what, &rows, &n);
    if (!numbers)
        return odb_input_read(out, source, sizeof source, &form, what, err);
    for (size_t i = 0; i < rows * n; i++)
        whole &= fabs(numbers[i]) < 0x1p53 && numbers[i] == floor(numbers[i]);
    bool two = *what != '@' && strchr(what, ';');
    int64_t dims[] = {(int64_t)(two ? rows : n), (int64_t)n};
    enum odb_status status = odb_tensor_new(out, whole ? ODB_I64 : ODB_F64, two ? 2 : 1, dims, err);
    for (size_t i = 0; i < rows * n && status == ODB_OK; i++)
        odb_store_f64((*out)->dtype, (*out)->data, i, numbers[i]);
    free(numbers);
    return status;
}

const struct odb_tensor *odb_streams_outside(const struct odb_streams *streams, const char *name)
{
    const struct odb_plan *plan = streams->plan;
    for (size_t i = 0; i < plan->outside.n; i++)
        if (!strcmp(plan->outside.items[i].name, name))
            return streams->outside[i];
    return NULL;
}

enum odb_status odb_streams_make(struct odb_streams **out, const struct odb_plan *plan,
                                 const struct odb_stream_source *source, struct odb_error *err)
{
    struct odb_streams *streams = odb_new(struct odb_streams);
    struct odb_feeds *feeds = NULL;
    streams->plan = plan;
    streams->pieces = odb_plan_past(plan, plan->steps);
    streams->items = odb_new_n(struct stream, plan->inputs.n + 1);
    streams->outside = odb_new_n(struct odb_tensor *, plan->outside.n + 1);
    enum odb_status status = source->make(source->payload, 0, &feeds, err);
    for (size_t i = 0; i < plan->outside.n && status == ODB_OK; i++)
        status = stream_outside(&streams->outside[i], plan->outside.items[i].what, err);
    for (size_t i = 0; i < plan->inputs.n && status == ODB_OK; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        const struct odb_feed *fed = stream_made(feeds, input->value);
        /* What the model has a value for is not made. */
        const struct odb_tensor *made =
            fed ? fed->tensor : plan->model->graph->values[input->value].init;
        if (input->move == ODB_MOVE_FEED)
            status = stream_feed(streams, source, i, made, err);
        else if (input->move != ODB_MOVE_RULE)
            status = stream_start(&streams->items[i], plan, input, made, err);
    }
    odb_feeds_free(feeds);
    if (status != ODB_OK) {
        odb_streams_free(streams);
        return status;
    }
    *out = streams;
    return ODB_OK;
}

void odb_streams_free(struct odb_streams *streams)
{
    if (!streams)
        return;
    for (size_t i = 0; i < streams->plan->inputs.n; i++) {
        struct stream *s = &streams->items[i];
        stream_drop_pieces(s);
        odb_tensor_unref(s->whole);
    }
    for (size_t i = 0; i < streams->plan->outside.n; i++)
        odb_tensor_unref(streams->outside[i]);
    free(streams->outside);
    free(streams->items);
    free(streams);
}

size_t odb_streams_pieces(const struct odb_streams *streams)
{
    return streams->pieces;
}

void odb_streams_identify(const struct odb_streams *streams, struct odb_buf *out)
{
    for (size_t i = 0; i < streams->plan->inputs.n; i++) {
        const struct stream *s = &streams->items[i];
        odb_buf_printf(out, "\n%zu ", i);
        if (s->whole)
            odb_answers_put_tensor(out, s->whole);
        for (size_t k = 0; k < s->pieces.n; k++)
            odb_answers_put_tensor(out, s->pieces.items[k]);
    }
    for (size_t i = 0; i < streams->plan->outside.n; i++)
        odb_answers_put_tensor(out, streams->outside[i]);
}

void odb_streams_end(struct odb_streams *streams)
{
    streams->pieces = odb_plan_past(streams->plan, streams->plan->steps);
}

/* --- tokens that are chosen ------------------------------------------------------------------- */

/* The largest of n from the first on; n: some are NaN, and none is chosen. */
static size_t stream_best(const struct odb_tensor *t, size_t first, size_t n)
{
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        double v = odb_tensor_f64(t, first + i);
        if (isnan(v))
            return n;
        best = v > odb_tensor_f64(t, first + best) ? i : best;
    }
    return best;
}

enum odb_status odb_streams_choose(struct odb_tensor **out, const struct odb_streams *streams,
                                   size_t i, const struct odb_tensor *logits, struct odb_error *err)
{
    const struct odb_tensor *whole = streams->items[i].whole;
    int axis = streams->plan->inputs.items[i].axis, last = logits->rank - 1;
    int64_t dims[ODB_MAX_RANK];
    char shape[96];
    memcpy(dims, whole->dims, sizeof dims);
    dims[axis] = 1;
    ODB_TRY(odb_tensor_new(out, whole->dtype, whole->rank, dims, err));
    size_t rows = (*out)->count, words = last >= 0 ? (size_t)logits->dims[last] : 0;
    size_t each = rows && logits->data ? logits->count / rows : 0; /* of one row of the batch */
    if (!words || each < words || each % words || each * rows != logits->count) {
        odb_tensor_unref(*out);
        *out = NULL;
        return odb_fail(err, ODB_E_INPUT, "logits of shape %s choose no token for %zu rows",
                        odb_shape_text(logits, shape, sizeof shape), rows);
    }
    enum odb_status status = ODB_OK;
    for (size_t r = 0; r < rows && status == ODB_OK; r++) {
        size_t best = stream_best(logits, (r + 1) * each - words, words);
        if (best == words)
            status = odb_fail(err, ODB_E_INPUT, "logits that are NaN choose no token");
        odb_store_i64(whole->dtype, (*out)->data, r, (int64_t)best);
    }
    if (status != ODB_OK) {
        odb_tensor_unref(*out);
        *out = NULL;
    }
    return status;
}

enum odb_status odb_streams_follow(struct odb_streams *streams, size_t at,
                                   const struct odb_tensor *logits, struct odb_error *err)
{
    int i = odb_plan_tokens(streams->plan);
    struct odb_tensor *chosen;
    if (i < 0 || strcmp(streams->plan->inputs.items[i].start, "greedy") != 0)
        return ODB_OK;
    struct odb_tensor *whole = streams->items[i].whole;
    int axis = streams->plan->inputs.items[i].axis;
    ODB_TRY(odb_streams_choose(&chosen, streams, (size_t)i, logits, err));
    size_t inner = 1, length = (size_t)whole->dims[axis];
    for (int d = axis + 1; d < whole->rank; d++)
        inner *= (size_t)whole->dims[d];
    for (size_t k = 0; k < chosen->count; k++)
        odb_store_i64(whole->dtype, whole->data, (k / inner * length + at) * inner + k % inner,
                      odb_tensor_i64(chosen, k));
    odb_tensor_unref(chosen);
    return ODB_OK;
}

/* A piece that is a whole input, out of a file that has them one behind the other. */
static enum odb_status stream_one(struct odb_tensor **out, const struct stream *s, size_t at,
                                  struct odb_error *err)
{
    struct odb_tensor *one;
    ODB_TRY(odb_axis_part(&one, s->whole, 0, (int64_t)at, 1, err));
    if (one->rank == s->rank) {
        *out = one;
        return ODB_OK;
    }
    enum odb_status status = odb_tensor_reshape(out, one, one->rank - 1, one->dims + 1, err);
    odb_tensor_unref(one);
    return status;
}

enum odb_status odb_streams_take(struct odb_tensor **out, const struct odb_streams *streams,
                                 size_t i, size_t from, size_t n, struct odb_error *err)
{
    const struct odb_plan_input *input = &streams->plan->inputs.items[i];
    const struct stream *s = &streams->items[i];
    *out = NULL;
    if (input->move != ODB_MOVE_FEED) {
        *out = odb_tensor_ref(s->whole);
        return ODB_OK;
    }
    if (input->axis >= 0)
        return odb_axis_part(out, s->whole, input->axis, (int64_t)from, (int64_t)n, err);
    if (s->whole)
        return stream_one(out, s, from, err);
    *out = odb_tensor_ref(s->pieces.items[from]);
    return ODB_OK;
}

const char *odb_streams_source(const struct odb_streams *streams, size_t i)
{
    return streams->items[i].source;
}
