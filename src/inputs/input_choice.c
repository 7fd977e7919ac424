/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a call leaves open, from what is open to the options that close it.
 */
#include "inputs/input_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inputs/choice_int.h"
#include "run/feeds.h"

#define CHOICE_SHOWN 8   /* in the line */
#define CHOICE_NUMBERS 4 /* elements of an input that is one number, at most */
#define CHOICE_SET "test_data_set_0"

void choice_words_dispose(struct odb_input_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct odb_input_words){0};
}

void odb_input_choice_dispose(struct odb_input_choice *choice)
{
    free(choice->from);
    free(choice->text);
    choice_words_dispose(&choice->dims);
    choice_words_dispose(&choice->inputs);
    *choice = (struct odb_input_choice){0};
}

/* --- a set beside the model ------------------------------------------------------------------- */

/* The caller's; NULL: there is none, or it does not fit. */
static char *choice_beside(const struct odb_model *model, const struct odb_input_options *options)
{
    const char *slash = strrchr(model->path, '/');
    char *dir =
        odb_xasprintf("%.*s" CHOICE_SET, slash ? (int)(slash - model->path) + 1 : 0, model->path);
    struct odb_input_options from = *options;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_feeds *feeds = NULL;
    struct stat info;
    from.inputs_from = dir;
    bool fits = *model->path && stat(dir, &info) == 0 && S_ISDIR(info.st_mode) &&
                odb_feeds_make(&feeds, model, &from, &err) == ODB_OK;
    odb_feeds_free(feeds);
    if (fits)
        return dir;
    free(dir);
    return NULL;
}

/* --- what is open ----------------------------------------------------------------------------- */

static void choice_open_dim(struct choice *c, int input, int axis)
{
    const struct odb_input_known *known = &c->known[input];
    const struct odb_type *type = &known->value->type;
    const char *param = type->rank >= 0 ? odb_input_dim_name(&type->dims[axis]) : NULL;
    for (size_t i = 0; i < c->open.n && param; i++)
        if (c->open.items[i].param && !strcmp(c->open.items[i].param, param))
            return;
    odb_push(&c->open, (struct choice_open){.param = param,
                                            .input = input,
                                            .axis = axis,
                                            .kind = choice_size_kind(known, axis, param)});
}

/* Few whole numbers, of which nothing is proved: one for each of a batch at most. */
static bool choice_is_number(const struct choice *c, const struct odb_input_known *input)
{
    const struct odb_type *type = &input->value->type;
    int64_t n = 1, lo, hi;
    if (input->given || input->ranged || type->kind != ODB_TENSOR || input->rank < 0 ||
        (type->dtype != ODB_I32 && type->dtype != ODB_I64) ||
        choice_range_of(c->model, input->value->index, &lo, &hi))
        return false;
    for (int k = 0; k < input->rank; k++) {
        const char *name = k < type->rank ? odb_input_dim_name(&type->dims[k]) : NULL;
        bool batch = input->dims[k] < 0 && choice_size_kind(input, k, name) == CHOICE_BATCH;
        n *= batch ? 1 : input->dims[k] < 0 ? CHOICE_NUMBERS + 1 : input->dims[k];
    }
    return n > 0 && n <= CHOICE_NUMBERS;
}

/* All that is generated and not fixed. */
static void choice_find_open(struct choice *c)
{
    c->open.n = 0;
    free(c->sizes);
    for (size_t i = 0; i < c->n_known; i++) {
        const struct odb_input_known *input = &c->known[i];
        if (input->given || input->value->type.kind != ODB_TENSOR)
            continue;
        for (int k = 0; k < input->rank; k++)
            if (input->dims[k] < 0)
                choice_open_dim(c, (int)i, k);
    }
    for (size_t i = 0; i < c->n_known; i++)
        if (choice_is_number(c, &c->known[i]))
            odb_push(&c->open, (struct choice_open){.input = (int)i, .kind = CHOICE_NUMBER});
    int64_t n;
    for (size_t i = 0; i < c->open.n; i++)
        c->open.items[i].sum =
            choice_size_sum(c->open.items[i].param, c->open.items, c->open.n, NULL, &n);
    c->sizes = odb_new_n(int64_t, c->open.n + 1);
    for (size_t i = 0; i < c->open.n; i++) {
        struct choice_list list = {.n = 0};
        choice_size_list(&list, c->open.items[i].kind);
        c->sizes[i] =
            c->open.items[i].kind == CHOICE_NUMBER &&
                    choice_is_trips(c->model, c->known[c->open.items[i].input].value->index)
                ? CHOICE_TRIPS
                : list.items[0];
    }
}

/* --- as options ------------------------------------------------------------------------------- */

void choice_put(const struct choice *c, const int64_t *sizes, struct odb_input_words *dims,
                struct odb_input_words *inputs)
{
    for (size_t i = 0; i < c->open.n; i++) {
        const struct choice_open *open = &c->open.items[i];
        const char *name = c->known[open->input].value->name;
        long long n = (long long)sizes[i];
        if (open->kind == CHOICE_NUMBER) {
            if (n != CHOICE_PLAIN)
                odb_push(inputs, odb_xasprintf("%s=range(%lld,%lld)", name, n, n));
        } else if (open->param) {
            odb_push(dims, odb_xasprintf("%s=%lld", open->param, n));
        } else {
            odb_push(dims, odb_xasprintf("%s[%d]=%lld", name, open->axis, n));
        }
    }
}

/* What indexes a table is drawn from all of it. */
static void choice_ranges(const struct choice *c, struct odb_input_words *inputs)
{
    for (size_t i = 0; i < c->n_known; i++) {
        const struct odb_input_known *input = &c->known[i];
        int64_t lo, hi;
        if (!input->given && !input->ranged &&
            choice_range_of(c->model, input->value->index, &lo, &hi))
            odb_push(inputs, odb_xasprintf("%s=range(%lld,%lld)", input->value->name, (long long)lo,
                                           (long long)hi));
    }
}

static void choice_say_words(const struct odb_input_words *words, size_t *shown,
                             struct odb_buf *out)
{
    for (size_t i = 0; i < words->n && *shown < CHOICE_SHOWN; i++, ++*shown) {
        odb_buf_puts(out, out->len ? " " : "");
        odb_buf_put_shown(out, words->items[i]);
    }
}

static char *choice_say(const struct odb_input_choice *choice)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t shown = 0, all = choice->dims.n + choice->inputs.n;
    if (choice->from) {
        odb_buf_puts(&out, "inputs of ");
        odb_buf_put_shown(&out, choice->from);
    }
    choice_say_words(&choice->dims, &shown, &out);
    choice_say_words(&choice->inputs, &shown, &out);
    if (all > shown)
        odb_buf_printf(&out, " and %zu more", all - shown);
    return odb_buf_take(&out);
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool choice_given(const struct odb_input_options *options, const struct choice *c)
{
    bool given = options->n_inputs || options->inputs_from || options->n_dims;
    for (size_t i = 0; i < c->n_known; i++)
        given |= c->known[i].given;
    return given;
}

/* The error of a call that chooses nothing, and why what was tried did not do. */
static enum odb_status choice_refuse(const struct choice *c, const char *why, struct odb_error *err)
{
    struct odb_feeds *feeds = NULL;
    enum odb_status status = odb_feeds_make(&feeds, c->model, c->options, err);
    odb_feeds_free(feeds);
    if (status != ODB_E_USAGE)
        return ODB_OK; /* no size is open: the run itself says what is wrong */
    struct odb_error lacks = *err;
    odb_fail(err, ODB_E_USAGE, "%.200s, and the reference runs with none that was tried: %.300s",
             lacks.what, why);
    return odb_error_remedy(err, "%s", lacks.remedy);
}

/* With inputs of unknown rank as if they had this one. */
static enum odb_status choice_of_rank(struct choice *c, struct odb_input_known *known,
                                      const bool *unknown, int rank, bool lenient, char *why,
                                      size_t size)
{
    for (size_t i = 0; i < c->n_known; i++) {
        if (!unknown[i])
            continue;
        known[i].rank = rank;
        for (int k = 0; k < rank; k++)
            known[i].dims[k] = -1;
    }
    choice_find_open(c);
    return c->open.n ? choice_try(c, lenient, why, size) : ODB_OK;
}

/* What a kernel does not support is refused, before it is said to have nothing to do with sizes. */
static bool choice_search(struct choice *c, struct odb_input_known *known, char *why, size_t size)
{
    static const int ranks[] = {2, 4, 3, 1, 5};
    bool *unknown = odb_new_n(bool, c->n_known + 1), any = false, runs = false, unsupported = true;
    for (size_t i = 0; i < c->n_known; i++)
        any |= unknown[i] = !known[i].given && known[i].rank < 0;
    for (int lenient = 0; lenient < 2 && !runs && unsupported; lenient++) {
        unsupported = false;
        for (size_t r = 0; r < (any ? ODB_COUNT(ranks) : 1) && !runs; r++) {
            enum odb_status status =
                choice_of_rank(c, known, unknown, ranks[r], lenient, why, size);
            runs = status == ODB_OK;
            unsupported |= status == ODB_UNSUPPORTED;
        }
    }
    free(unknown);
    return runs;
}

static enum odb_status choice_make(struct odb_input_choice *out, struct choice *c,
                                   struct odb_input_known *known,
                                   const struct odb_input_options *options, struct odb_error *err)
{
    struct odb_input_options ranged = *options;
    enum odb_status status = ODB_OK;
    char why[400] = "";
    for (size_t i = 0; i < options->n_inputs; i++)
        odb_push(&out->inputs, odb_xstrdup(options->inputs[i]));
    struct odb_input_words proved = {0};
    choice_ranges(c, &proved);
    for (size_t i = 0; i < proved.n; i++)
        odb_push(&out->inputs, odb_xstrdup(proved.items[i]));
    ranged.inputs = (const char *const *)out->inputs.items;
    ranged.n_inputs = out->inputs.n;
    c->options = &ranged;
    bool runs = choice_search(c, known, why, sizeof why);
    if (!runs)
        status = choice_refuse(c, why, err);
    for (size_t i = 0; i < c->open.n && !runs; i++)
        if (c->open.items[i].kind == CHOICE_NUMBER)
            c->sizes[i] = CHOICE_PLAIN;
    struct odb_input_words dims = {0};
    if (status == ODB_OK)
        choice_put(c, c->sizes, &dims, &proved);
    choice_words_dispose(&out->inputs);
    out->inputs = proved;
    out->dims = dims;
    return status;
}

enum odb_status odb_inputs_choose(struct odb_input_choice *out, const struct odb_model *model,
                                  const struct odb_input_options *options, bool beside,
                                  struct odb_error *err)
{
    struct odb_input_known *known;
    struct choice c = {.model = model};
    *out = (struct odb_input_choice){0};
    ODB_TRY(odb_inputs_known(&known, &c.n_known, model, options, err));
    c.known = known;
    enum odb_status status = ODB_OK;
    if (beside && !choice_given(options, &c))
        out->from = choice_beside(model, options);
    if (!out->from)
        status = choice_make(out, &c, known, options, err);
    out->text = choice_say(out);
    free(known);
    free(c.open.items);
    free(c.sizes);
    return status;
}
