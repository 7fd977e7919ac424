/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs that names tell: `past_key_values.0.key` and `present.0.key`, `h` and `hn`, `state` and
 * `stateN`. What is left of a name without the words for before and after is its stem; one input
 * and one output of a stem, whose shapes fit, are a pair.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/plan/plan_int.h"

/* Says before or after, and nothing of what it is. */
static bool name_is_time(const char *word)
{
    static const char *const words[] = {
        "past", "present", "prev",   "previous", "next", "new",  "updated", "in",
        "out",  "input",   "output", "r",        "cur",  "curr", "current", "values"};
    for (size_t i = 0; i < ODB_COUNT(words); i++)
        if (!strcmp(word, words[i]))
            return true;
    return false;
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

/* The stem, the caller's; told: a word of time was left out. loose: without ".1" and ":0" at the
 * end, which frameworks put behind names that they have twice. */
static char *name_stem(const char *name, bool loose, bool *told)
{
    struct odb_buf stem = ODB_BUF_INIT;
    size_t len = strlen(name);
    *told = false;
    if (len > 2 && name[len - 2] == ':' && isdigit((unsigned char)name[len - 1]))
        len -= 2;
    if (loose && len > 2 && name[len - 2] == '.' && isdigit((unsigned char)name[len - 1])) {
        len -= 2;
        *told = true;
    }
    for (size_t at = 0; at < len;) {
        char word[64];
        size_t n = 0;
        while (at < len && !isalnum((unsigned char)name[at]))
            at++;
        for (; at < len && isalnum((unsigned char)name[at]); at++)
            if (n + 1 < sizeof word)
                word[n++] = (char)tolower((unsigned char)name[at]);
        word[n] = '\0';
        /* "key" of past_key_values is none of its own. */
        bool follows = !strncmp(name + at, "_values", 7);
        if (!n || name_is_time(word) || (follows && !strcmp(word, "key"))) {
            *told |= n > 0;
            continue;
        }
        size_t before = strlen(word);
        name_shorten(word);
        *told |= strlen(word) != before;
        odb_buf_puts(&stem, stem.len ? "." : "");
        odb_buf_puts(&stem, word);
    }
    char *text = odb_xstrdup(odb_buf_text(&stem));
    odb_buf_dispose(&stem);
    return text;
}

/* Whether both have one stem, and one of them says before or after. `input` and `output` alone say
 * nothing; `past` and `present` do. */
static bool name_pairs(const char *input, const char *output, bool loose)
{
    bool in_told, out_told;
    char *a = name_stem(input, loose, &in_told), *b = name_stem(output, loose, &out_told);
    bool named = *a || (strstr(input, "past") && strstr(output, "present"));
    bool pairs = named && !strcmp(a, b) && (in_told || out_told);
    free(a);
    free(b);
    return pairs;
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
            !plan_fits(input, output, &grows))
            continue;
        n++;
        found = output->index;
        *axis = grows;
    }
    for (size_t k = 0; k < plan->inputs.n && n == 1; k++) {
        const struct odb_value *other = &graph->values[plan->inputs.items[k].value];
        int grows;
        if (k != i && plan->inputs.items[k].move != ODB_MOVE_CARRY &&
            name_pairs(other->name, graph->values[found].name, loose) &&
            plan_fits(other, &graph->values[found], &grows))
            return ODB_NO_VALUE;
    }
    return n == 1 ? found : ODB_NO_VALUE;
}

/* A state is beside data: some other input and output must be left. */
static bool name_leaves_data(const struct odb_plan *plan)
{
    size_t in = 0, out = 0;
    for (size_t i = 0; i < plan->inputs.n; i++)
        in += plan->inputs.items[i].move != ODB_MOVE_CARRY;
    for (size_t o = 0; o < plan->model->graph->n_outputs; o++)
        out += !plan_is_carried(plan, plan->model->graph->outputs[o]);
    return in > 1 && out > 1;
}

void plan_find_names(struct odb_plan *plan)
{
    for (int loose = 0; loose < 2; loose++)
        for (size_t i = 0; i < plan->inputs.n; i++) {
            int axis = -1;
            if (plan->inputs.items[i].move == ODB_MOVE_CARRY || !name_leaves_data(plan))
                continue;
            int output = name_partner(plan, i, loose, &axis);
            if (output != ODB_NO_VALUE)
                plan_carry(plan, i, output, ODB_BY_NAME, axis,
                           odb_xstrdup("names and shapes go together"));
        }
}

/* --- what only looks like a pair -------------------------------------------------------------- */

/* Numbers that a pair would be ordered by, as of input_5 and stack_5. */
static bool name_same_number(const char *a, const char *b)
{
    const char *x = a + strlen(a), *y = b + strlen(b);
    while (x > a && isdigit((unsigned char)x[-1]))
        x--;
    while (y > b && isdigit((unsigned char)y[-1]))
        y--;
    return *x && *y && !strcmp(x, y);
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
                plan_is_carried(plan, output->index) || !name_leaves_data(plan) ||
                !odb_dtype_is_float(input->type.dtype) ||
                !name_same_number(input->name, output->name) || !plan_fits(input, output, &axis))
                continue;
            odb_push(&plan->asks, odb_xasprintf("--carry '%s=%s' # one number in the name, and "
                                                "one shape",
                                                output->name, input->name));
        }
    }
}
