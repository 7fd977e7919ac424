/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user says of a plan: options, or the same words without dashes in a file, one in a line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sequence/plan/formula.h"
#include "base/star.h"
#include "sequence/plan/plan_int.h"
#include "system/file.h"

#define WORDS_STEPS 100000

static enum odb_status words_fail(const struct plan_word *word, struct odb_error *err,
                                  const char *what)
{
    odb_fail(err, ODB_E_USAGE, "%s", what);
    return odb_error_at(err, "%s %.120s", word->where, word->value);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void words_add(struct plan_words *words, const char *key, const char *value,
                      const char *where)
{
    odb_push(&words->items,
             (struct plan_word){odb_xstrdup(key), odb_xstrdup(value), odb_xstrdup(where)});
}

static void words_list(struct plan_words *words, const char *key, const char *const *list, size_t n)
{
    char where[32];
    snprintf(where, sizeof where, "--%s", key);
    for (size_t i = 0; i < n; i++)
        words_add(words, key, list[i], where);
}

static void words_line(struct plan_words *words, char *line, const char *file, size_t number)
{
    size_t n = strlen(line);
    while (n && isspace((unsigned char)line[n - 1]))
        line[--n] = '\0';
    while (isspace((unsigned char)*line))
        line++;
    size_t key = strcspn(line, " \t");
    if (!*line || *line == '#')
        return;
    char *word = odb_xstrndup(line, key);
    char *where = odb_xasprintf("%s:%zu: %s", file, number, word);
    while (isspace((unsigned char)line[key]))
        key++;
    words_add(words, word, line + key, where);
    free(where);
    free(word);
}

static enum odb_status words_file(struct plan_words *words, const char *path, struct odb_error *err)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file;
    if (odb_file_open(&file, path, err) != ODB_OK)
        return odb_error_at(err, "%s", path);
    for (size_t number = 1; getline(&line, &room, file) >= 0; number++)
        words_line(words, line, path, number);
    bool broken = ferror(file);
    free(line);
    fclose(file);
    return broken ? odb_fail(err, ODB_E_IO, "%s: cannot be read", path) : ODB_OK;
}

enum odb_status plan_words_read(struct plan_words *words, const struct odb_plan_options *options,
                                struct odb_error *err)
{
    char number[32];
    if (options->file)
        ODB_TRY(words_file(words, options->file, err));
    if (options->steps) {
        snprintf(number, sizeof number, "%zu", options->steps);
        words_add(words, "steps", number, "--steps");
    }
    if (options->prefill) {
        snprintf(number, sizeof number, "%zu", options->prefill);
        words_add(words, "prefill", number, "--prefill");
    }
    if (options->chunks)
        words_add(words, "chunks", options->chunks, "--chunks");
    words_list(words, "carry", options->carries, options->n_carries);
    words_list(words, "hold", options->holds, options->n_holds);
    words_list(words, "feed", options->feeds, options->n_feeds);
    words_list(words, "next", options->nexts, options->n_nexts);
    words_list(words, "start", options->starts, options->n_starts); /* behind what it begins */
    if (options->stop)
        words_add(words, "stop", options->stop, "--stop");
    if (options->free)
        words_add(words, "free", options->free, "--free");
    return ODB_OK;
}

void plan_words_dispose(struct plan_words *words)
{
    for (size_t i = 0; i < words->items.n; i++) {
        free(words->items.items[i].key);
        free(words->items.items[i].value);
        free(words->items.items[i].where);
    }
    free(words->items.items);
}

/* --- carries ---------------------------------------------------------------------------------- */

static void words_uncarry(struct odb_plan *plan, size_t i)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    input->move = ODB_MOVE_HOLD;
    input->output = ODB_NO_VALUE;
    input->axis = -1;
    input->kind = ODB_CARRY_UNKNOWN;
    plan_text(&input->start, "made");
    plan_text(&input->next, NULL);
}

static enum odb_status words_pair(struct odb_plan *plan, const struct plan_word *word, size_t i,
                                  int output, struct odb_error *err)
{
    const struct odb_graph *graph = plan->model->graph;
    int axis;
    if (!plan_fits(plan, &graph->values[plan->inputs.items[i].value], &graph->values[output],
                   &axis))
        return words_fail(word, err, "the output's type or shape is not that of the input");
    plan_carry(plan, i, output, ODB_BY_OPTION, axis, odb_xstrdup("given"));
    return ODB_OK;
}

/* OUT=IN or IN=OUT; either side may have a star, and then both. */
static enum odb_status words_carry(struct odb_plan *plan, const struct plan_word *word,
                                   struct odb_error *err)
{
    const char *equal = strchr(word->value, '=');
    size_t pairs = 0;
    if (!strcmp(word->value, "none") || word->value[0] == '-') {
        for (size_t i = 0; i < plan->inputs.n; i++) {
            const char *name = plan->model->graph->values[plan->inputs.items[i].value].name;
            bool all = word->value[0] != '-';
            if (all || !strcmp(name, word->value + 1)) {
                words_uncarry(plan, i);
                pairs++;
            }
        }
        return pairs || word->value[0] != '-'
                   ? ODB_OK
                   : words_fail(word, err, "the model has no such input");
    }
    if (!equal)
        return words_fail(word, err, "a carry is OUTPUT=INPUT, none, or -INPUT");
    const char *sides[2] = {word->value, equal + 1};
    size_t lens[2] = {(size_t)(equal - word->value), strlen(equal + 1)};
    for (size_t i = 0; i < plan->inputs.n; i++)
        for (int side = 0; side < 2; side++) {
            const char *name = plan->model->graph->values[plan->inputs.items[i].value].name, *star;
            size_t n;
            if (!odb_star_match(sides[side], lens[side], name, &star, &n))
                continue;
            char *other = odb_star_fill(sides[!side], lens[!side], star, n);
            int output = plan_find_output(plan, other);
            free(other);
            if (output == ODB_NO_VALUE)
                continue;
            ODB_TRY(words_pair(plan, word, i, output, err));
            pairs++;
            break;
        }
    return pairs ? ODB_OK
                 : words_fail(word, err, "the model has no such pair of an output and an input");
}

enum odb_status plan_words_carry(struct odb_plan *plan, const struct plan_words *words,
                                 struct odb_error *err)
{
    bool said = false;
    for (size_t w = 0; w < words->items.n; w++)
        if (!strcmp(words->items.items[w].key, "carry")) {
            ODB_TRY(words_carry(plan, &words->items.items[w], err));
            said = true;
        }
    if (!said)
        plan_ask_pairs(plan);
    return ODB_OK;
}

/* --- all else --------------------------------------------------------------------------------- */

static enum odb_status words_number(const struct plan_word *word, const char *text, size_t *out,
                                    struct odb_error *err)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || (*end && *end != ',') || errno || v < 1 || v > WORDS_STEPS)
        return words_fail(word, err, "a number from 1 to 100000 is missing");
    *out = (size_t)v;
    return ODB_OK;
}

static enum odb_status words_chunks(struct odb_plan *plan, const struct plan_word *word,
                                    struct odb_error *err)
{
    plan->chunks.n = 0;
    plan->chunks_said = true;
    for (const char *p = word->value; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        size_t n;
        ODB_TRY(words_number(word, p, &n, err));
        odb_push(&plan->chunks, n);
    }
    return ODB_OK;
}

static enum odb_status words_steps(struct odb_plan *plan, const struct plan_word *word,
                                   struct odb_error *err)
{
    return words_number(word, word->value, &plan->steps, err);
}

static enum odb_status words_prefill(struct odb_plan *plan, const struct plan_word *word,
                                     struct odb_error *err)
{
    size_t n;
    ODB_TRY(words_number(word, word->value, &n, err));
    plan->chunks.n = 0;
    plan->chunks_said = true;
    odb_push(&plan->chunks, n);
    odb_push(&plan->chunks, (size_t)1);
    return ODB_OK;
}

static enum odb_status words_free(struct odb_plan *plan, const struct plan_word *word,
                                  struct odb_error *err)
{
    plan->own_tokens = !strcmp(word->value, "all");
    return plan->own_tokens || !strcmp(word->value, "states")
               ? ODB_OK
               : words_fail(word, err, "free are states, or all");
}

/* What INPUT=VALUE says of one input. */
typedef enum odb_status words_input_fn(struct odb_plan *plan, const struct plan_word *word,
                                       size_t i, const char *value, struct odb_error *err);

/* Whether it is what --feed gave to a name that is no input's. */
static bool words_is_outside(const struct odb_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->outside.n; i++)
        if (!strcmp(plan->outside.items[i].name, name))
            return true;
    return false;
}

/* A formula in which all names are those of inputs, of outputs, and of what is fed to formulas
 * alone. i: of an input, *before: it reads the step before: input i, one that is not fed or held,
 * or an output. */
static enum odb_status words_formula(struct odb_plan *plan, const struct plan_word *word, size_t i,
                                     const char *text, bool *before, struct odb_error *err)
{
    struct odb_formula *formula = NULL;
    const char *name;
    char what[200] = "";
    *before = false;
    ODB_TRY(odb_formula_parse(&formula, text, err));
    for (size_t k = 0; (name = odb_formula_name(formula, k)); k++) {
        int own = plan_find_input(plan, name);
        bool output = plan_find_output(plan, name) != ODB_NO_VALUE;
        enum odb_move move = own < 0 ? ODB_MOVE_HOLD : plan->inputs.items[own].move;
        *before |= own == (int)i || output || move == ODB_MOVE_CARRY || move == ODB_MOVE_RULE;
        if (own < 0 && !output && !words_is_outside(plan, name))
            snprintf(what, sizeof what, "%.100s is neither an input nor an output", name);
    }
    odb_formula_free(formula);
    return what[0] ? words_fail(word, err, what) : ODB_OK;
}

static enum odb_status words_stop(struct odb_plan *plan, const struct plan_word *word,
                                  struct odb_error *err)
{
    bool before;
    ODB_TRY(words_formula(plan, word, SIZE_MAX, word->value, &before, err));
    plan_text(&plan->stop, word->value);
    return ODB_OK;
}

/* What a file holds is a name that formulas may read. */
static char *words_of_file(struct odb_plan *plan, size_t i, const char *path)
{
    const char *input = plan->model->graph->values[plan->inputs.items[i].value].name;
    char *name = odb_xasprintf("%s at first", input), *formula = odb_xasprintf("'%s'", name);
    for (size_t k = 0; k < plan->outside.n; k++)
        if (!strcmp(plan->outside.items[k].name, name)) { /* said before */
            plan_text(&plan->outside.items[k].what, path);
            free(name);
            return formula;
        }
    odb_push(&plan->outside, (struct odb_plan_outside){name, odb_xstrdup(path)});
    return formula;
}

/* Of an input that follows a formula another may be for step 0, or a file. */
static enum odb_status words_start(struct odb_plan *plan, const struct plan_word *word, size_t i,
                                   const char *value, struct odb_error *err)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    struct odb_error why = ODB_ERROR_INIT;
    char *end;
    bool before;
    (void)!strtod(value, &end);
    bool formula = input->next && (*end || input->move == ODB_MOVE_RULE) &&
                   words_formula(plan, word, i, value, &before, &why) == ODB_OK;
    if (input->move == ODB_MOVE_RULE && !formula) {
        struct stat file;
        const char *name = plan->model->graph->values[input->value].name;
        if (stat(value, &file) || !S_ISREG(file.st_mode) || strchr(name, '\''))
            return words_fail(word, err,
                              "an input that follows a rule begins with a formula, or a file");
        free(input->start);
        input->start = words_of_file(plan, i, value);
        return ODB_OK;
    }
    if (formula)
        input->move = ODB_MOVE_RULE;
    plan_text(&input->start, value);
    return ODB_OK;
}

static enum odb_status words_hold(struct odb_plan *plan, const struct plan_word *word, size_t i,
                                  const char *value, struct odb_error *err)
{
    (void)word;
    (void)err;
    words_uncarry(plan, i);
    plan->inputs.items[i].by = ODB_BY_OPTION;
    plan_text(&plan->inputs.items[i].start, *value ? value : "made");
    plan_text(&plan->inputs.items[i].why, "given");
    return ODB_OK;
}

/* VALUE, or VALUE/AXIS. */
static enum odb_status words_feed(struct odb_plan *plan, const struct plan_word *word, size_t i,
                                  const char *value, struct odb_error *err)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    const char *slash = strrchr(value, '/');
    char *end = NULL;
    long axis = slash ? strtol(slash + 1, &end, 10) : -1;
    bool cut = slash && end != slash + 1 && !*end;
    int usual = input->move == ODB_MOVE_FEED ? input->axis : -1;
    char *start = cut ? odb_xstrndup(value, (size_t)(slash - value)) : odb_xstrdup(value);
    int rank = plan->model->graph->values[input->value].type.rank;
    bool there = !cut || (axis >= 0 && axis < (rank >= 0 ? rank : ODB_MAX_RANK));
    words_uncarry(plan, i);
    input->move = ODB_MOVE_FEED;
    input->by = ODB_BY_OPTION;
    input->axis = cut && there ? (int)axis : usual;
    plan_text(&input->start, *start ? start : "made");
    plan_text(&input->why, "given");
    free(start);
    return there ? ODB_OK : words_fail(word, err, "the input has no such axis");
}

/* Where it reads the step before, step 0 has what was found out of the input, or what is made. */
static enum odb_status words_next(struct odb_plan *plan, const struct plan_word *word, size_t i,
                                  const char *value, struct odb_error *err)
{
    struct odb_plan_input *input = &plan->inputs.items[i];
    bool before;
    ODB_TRY(words_formula(plan, word, i, value, &before, err));
    if (before && input->move == ODB_MOVE_RULE) {
        plan_text(&input->start, input->start ? input->start : input->next);
    } else if (before && input->move != ODB_MOVE_CARRY) {
        input->move = ODB_MOVE_CARRY;
        plan_text(&input->start, "made");
    } else if (!before && input->move != ODB_MOVE_CARRY) {
        input->move = ODB_MOVE_RULE;
        plan_text(&input->start, NULL);
    }
    input->by = ODB_BY_OPTION;
    input->kind = ODB_CARRY_UNKNOWN;
    plan_text(&input->next, value);
    plan_text(&input->why, "given");
    return ODB_OK;
}

static bool words_reads(const char *text, const char *name)
{
    struct odb_formula *formula = NULL;
    struct odb_error ignored = ODB_ERROR_INIT;
    bool reads = false;
    if (!text || odb_formula_parse(&formula, text, &ignored) != ODB_OK)
        return false;
    for (size_t k = 0; odb_formula_name(formula, k); k++)
        reads |= !strcmp(odb_formula_name(formula, k), name);
    odb_formula_free(formula);
    return reads;
}

/* What is fed and is no input is there for formulas. */
static enum odb_status words_outside(struct odb_plan *plan, const struct plan_words *words,
                                     const struct plan_word *word, struct odb_error *err)
{
    const char *equal = strchr(word->value, '=');
    char *name = odb_xstrndup(word->value, equal ? (size_t)(equal - word->value) : 0);
    bool read = false;
    for (size_t w = 0; w < words->items.n && equal; w++) {
        const struct plan_word *other = &words->items.items[w];
        const char *of = strchr(other->value, '=');
        read |= (!strcmp(other->key, "next") || !strcmp(other->key, "start")) && of &&
                words_reads(of + 1, name);
        read |= !strcmp(other->key, "stop") && words_reads(other->value, name);
    }
    if (!read) {
        free(name);
        return words_fail(word, err, "the model has no such input, and no formula reads it");
    }
    odb_push(&plan->outside, (struct odb_plan_outside){name, odb_xstrdup(equal + 1)});
    return ODB_OK;
}

/* Whether it feeds what is no input. */
static bool words_is_for_formulas(const struct odb_plan *plan, const struct plan_word *word)
{
    const char *star;
    size_t n;
    if (strcmp(word->key, "feed") != 0)
        return false;
    for (size_t i = 0; i < plan->inputs.n; i++)
        if (odb_star_match(word->value, strcspn(word->value, "="),
                           plan->model->graph->values[plan->inputs.items[i].value].name, &star, &n))
            return false;
    return true;
}

static enum odb_status words_inputs(struct odb_plan *plan, const struct plan_word *word,
                                    words_input_fn *take, struct odb_error *err)
{
    const char *equal = strchr(word->value, '=');
    size_t len = strcspn(word->value, "="), found = 0;
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const char *name = plan->model->graph->values[plan->inputs.items[i].value].name, *star;
        size_t n;
        if (!odb_star_match(word->value, len, name, &star, &n))
            continue;
        found++;
        ODB_TRY(take(plan, word, i, equal ? equal + 1 : "", err));
    }
    return found ? ODB_OK : words_fail(word, err, "the model has no such input");
}

static const struct {
    const char *key;
    enum odb_status (*all)(struct odb_plan *, const struct plan_word *, struct odb_error *);
    words_input_fn *one; /* where it is of inputs */
} words_rows[] = {
    {"steps", words_steps, NULL}, {"prefill", words_prefill, NULL}, {"chunks", words_chunks, NULL},
    {"stop", words_stop, NULL},   {"free", words_free, NULL},       {"start", NULL, words_start},
    {"hold", NULL, words_hold},   {"feed", NULL, words_feed},       {"next", NULL, words_next},
    {"carry", NULL, NULL},
};

enum odb_status plan_words_take(struct odb_plan *plan, const struct plan_words *words,
                                struct odb_error *err)
{
    for (size_t w = 0; w < words->items.n; w++) /* before the formulas that read it */
        if (words_is_for_formulas(plan, &words->items.items[w]))
            ODB_TRY(words_outside(plan, words, &words->items.items[w], err));
    for (size_t w = 0; w < words->items.n; w++) {
        const struct plan_word *word = &words->items.items[w];
        size_t r = 0;
        if (words_is_for_formulas(plan, word))
            continue;
        while (r < ODB_COUNT(words_rows) && strcmp(words_rows[r].key, word->key) != 0)
            r++;
        if (r == ODB_COUNT(words_rows))
            return words_fail(word, err,
                              "no such word; there are steps, prefill, chunks, carry, start, hold, "
                              "feed, next, stop and free");
        if (words_rows[r].all)
            ODB_TRY(words_rows[r].all(plan, word, err));
        else if (words_rows[r].one)
            ODB_TRY(words_inputs(plan, word, words_rows[r].one, err));
    }
    return ODB_OK;
}
