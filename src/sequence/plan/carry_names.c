/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs that names tell: `past_key_values.0.key` and `present.0.key`, `h` and `hn`, `state` and
 * `stateN`. What is left of a name without the words for before and after is its stem; one input
 * and one output of a stem, whose shapes fit, are a pair. Where those words are but `in` and `out`,
 * which any layer has, the stem must be the name of a state.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/plan/plan_int.h"

static bool name_is_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, words[i]))
            return true;
    return false;
}

/* What a word says. */
enum name_word {
    NAME_ELSE,
    NAME_TIME, /* before or after */
    NAME_SIDE, /* in or out, of the model or of a layer */
    NAME_STATE /* something that is kept */
};

static enum name_word name_word(const char *word)
{
    static const char *const times[] = {"past", "present", "prev", "previous", "next",   "new",
                                        "r",    "updated", "cur",  "curr",     "current"};
    static const char *const sides[] = {"in", "out", "input", "output", "values"};
    static const char *const states[] = {
        "h",      "c",   "hidden", "cell",   "state",   "states", "cache", "cached",    "mem",
        "memory", "buf", "kv",     "buffer", "buffers", "key",    "value", "recurrent", "ssm"};
    return name_is_of(word, times, ODB_COUNT(times))     ? NAME_TIME
           : name_is_of(word, sides, ODB_COUNT(sides))   ? NAME_SIDE
           : name_is_of(word, states, ODB_COUNT(states)) ? NAME_STATE
                                                         : NAME_ELSE;
}

/* "hn", "c0", "staten": the state with a letter or number for its time. */
static void name_shorten(char *word)
{
    static const char *const states[] = {"h", "c", "state", "states", "hidden", "cell"};
    size_t n = strlen(word);
    bool timed = n > 1 && (word[n - 1] == 'n' || word[n - 1] == '0');
    for (size_t i = 0; i < ODB_COUNT(states) && timed; i++)
        if (strlen(states[i]) == n - 1 && !strncmp(word, states[i], n - 1)) {
            word[n - 1] = '\0';
            return;
        }
}

/* A name without its words of time and side. */
struct name_stem {
    char *text;    /* owned */
    bool numbered; /* ".1" was left out */
    bool timed;    /* a word of time was left out */
    bool sided;    /* a word of side was */
    bool state;    /* a word of a state is left */
};

/* ":0" at the end is no part of a name, and neither is ".1", with which frameworks tell two of one
 * name apart; cut: how many bytes they are. */
static size_t name_cut(const char *name, size_t len, char before)
{
    return len > 2 && name[len - 2] == before && isdigit((unsigned char)name[len - 1]) ? 2 : 0;
}

static void name_stem_add(struct name_stem *stem, struct odb_buf *text, char *word, bool follows)
{
    enum name_word says = name_word(word);
    /* "key" of past_key_values is none of its own. */
    if (says == NAME_TIME || says == NAME_SIDE || (follows && !strcmp(word, "key"))) {
        stem->timed |= says == NAME_TIME;
        stem->sided |= says != NAME_TIME;
        return;
    }
    size_t before = strlen(word);
    name_shorten(word);
    stem->timed |= strlen(word) != before;
    stem->state |= name_word(word) == NAME_STATE;
    odb_buf_puts(text, text->len ? "." : "");
    odb_buf_puts(text, word);
}

/* loose: without ".1" at the end. */
static struct name_stem name_stem(const char *name, bool loose)
{
    struct name_stem stem = {0};
    struct odb_buf text = ODB_BUF_INIT;
    size_t len = strlen(name) - name_cut(name, strlen(name), ':');
    size_t number = loose ? name_cut(name, len, '.') : 0;
    len -= number;
    stem.timed = stem.numbered = number > 0;
    for (size_t at = 0; at < len;) {
        char word[64];
        size_t n = 0;
        while (at < len && !isalnum((unsigned char)name[at]))
            at++;
        for (; at < len && isalnum((unsigned char)name[at]); at++)
            if (n + 1 < sizeof word)
                word[n++] = (char)tolower((unsigned char)name[at]);
        word[n] = '\0';
        if (n)
            name_stem_add(&stem, &text, word, !strncmp(name + at, "_values", 7));
    }
    /* The activations between the layers of a transformer are called hidden_states. */
    if (!strcmp(odb_buf_text(&text), "hidden.states"))
        stem.state = false;
    stem.text = odb_xstrdup(odb_buf_text(&text));
    odb_buf_dispose(&text);
    return stem;
}

/* Whether both have one stem, and one of them says before or after. `past` and `present` need no
 * stem. */
static bool name_pairs(const char *input, const char *output, bool loose)
{
    struct name_stem a = name_stem(input, loose), b = name_stem(output, loose);
    bool named = *a.text || (strstr(input, "past") && strstr(output, "present"));
    bool timed = a.timed || b.timed, sided = (a.sided || b.sided) && a.state;
    bool one = !(a.numbered && b.numbered); /* two of one name, and not two numbers of their own */
    bool pairs = named && !strcmp(a.text, b.text) && one && (timed || sided);
    free(a.text);
    free(b.text);
    return pairs;
}

bool plan_names_state(const char *name)
{
    struct name_stem stem = name_stem(name, false);
    bool says = stem.timed || stem.state;
    free(stem.text);
    return says;
}

/* Whether an input of one letter is but one of a row: input_c, where an LSTM has input_h as well.
 */
static bool name_is_letter(const struct odb_plan *plan, size_t i)
{
    struct name_stem own =
        name_stem(plan->model->graph->values[plan->inputs.items[i].value].name, false);
    bool letter = !own.timed && !strcmp(own.text, "c");
    for (size_t k = 0; k < plan->inputs.n && letter; k++) {
        struct name_stem other =
            name_stem(plan->model->graph->values[plan->inputs.items[k].value].name, false);
        letter = strcmp(other.text, "h") != 0;
        free(other.text);
    }
    free(own.text);
    return letter;
}

/* The only output that goes with the input, and with no other; ODB_NO_VALUE. */
static int name_partner(const struct odb_plan *plan, size_t i, bool loose, int *axis)
{
    const struct odb_graph *graph = plan->model->graph;
    const struct odb_value *input = &graph->values[plan->inputs.items[i].value];
    int found = ODB_NO_VALUE;
    size_t n = 0;
    for (size_t o = 0; o < graph->n_outputs; o++) {
        const struct odb_value *output = &graph->values[graph->outputs[o]];
        int grows;
        if (plan_is_carried(plan, output->index) || !name_pairs(input->name, output->name, loose) ||
            !plan_fits(plan, input, output, &grows))
            continue;
        n++;
        found = output->index;
        *axis = grows;
    }
    for (size_t k = 0; k < plan->inputs.n && n == 1; k++) {
        const struct odb_value *other = &graph->values[plan->inputs.items[k].value];
        int grows;
        if (k != i && plan->inputs.items[k].move != ODB_MOVE_CARRY &&
            (plan_weight(plan, i) || !plan_weight(plan, k)) &&
            name_pairs(other->name, graph->values[found].name, loose) &&
            plan_fits(plan, other, &graph->values[found], &grows))
            return ODB_NO_VALUE;
    }
    return n == 1 ? found : ODB_NO_VALUE;
}

/* A state is beside data: some other input and output must be left. */
static bool name_leaves_data(const struct odb_plan *plan, size_t state)
{
    size_t in = plan_weight(plan, state), out = 0;
    for (size_t i = 0; i < plan->inputs.n; i++)
        in += plan->inputs.items[i].move != ODB_MOVE_CARRY && !plan_weight(plan, i);
    for (size_t o = 0; o < plan->model->graph->n_outputs; o++)
        out += !plan_is_carried(plan, plan->model->graph->outputs[o]);
    return in > 1 && out > 1;
}

void plan_find_names(struct odb_plan *plan)
{
    for (int loose = 0; loose < 2; loose++)
        for (size_t i = 0; i < plan->inputs.n; i++) {
            int axis = -1;
            if (plan->inputs.items[i].move == ODB_MOVE_CARRY || !name_leaves_data(plan, i) ||
                name_is_letter(plan, i))
                continue;
            int output = name_partner(plan, i, loose, &axis);
            if (output != ODB_NO_VALUE)
                plan_carry(plan, i, output, ODB_BY_NAME, axis,
                           odb_xstrdup("names and shapes go together"));
        }
}

/* --- what only looks like a pair -------------------------------------------------------------- */

/* The number at the end of a name without ":0"; *n digits, 0: there is none. */
static const char *name_number(const char *name, size_t *n)
{
    size_t end = strlen(name) - name_cut(name, strlen(name), ':'), at = end;
    while (at && isdigit((unsigned char)name[at - 1]))
        at--;
    *n = end - at;
    return name + at;
}

/* Numbers that a pair would be ordered by, as of input_5 and stack_5. PyTorch has "_output_0"
 * behind all that a node makes. */
static bool name_same_number(const char *a, const char *b)
{
    size_t n, m;
    const char *x = name_number(a, &n), *y = name_number(b, &m);
    bool told = n && n == m && !strncmp(x, y, n);
    return told && !(strstr(a, "_output_") && strstr(b, "_output_"));
}

void plan_ask_pairs(struct odb_plan *plan)
{
    const struct odb_graph *graph = plan->model->graph;
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_value *input = &graph->values[plan->inputs.items[i].value];
        for (size_t o = 0; o < graph->n_outputs; o++) {
            const struct odb_value *output = &graph->values[graph->outputs[o]];
            int axis;
            if (plan->inputs.items[i].move == ODB_MOVE_CARRY ||
                plan_is_carried(plan, output->index) || plan_weight(plan, i) ||
                !name_leaves_data(plan, i) || !odb_dtype_is_float(input->type.dtype) ||
                !name_same_number(input->name, output->name) ||
                !plan_fits(plan, input, output, &axis))
                continue;
            odb_push(&plan->asks, odb_xasprintf("--carry '%s=%s' # one number in the name, and "
                                                "one shape",
                                                output->name, input->name));
        }
    }
}
