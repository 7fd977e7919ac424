/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a dimension is, by its name and, where that says nothing, by its place: exporters have
 * their habits.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "inputs/choice_int.h"

void choice_list_add(struct choice_list *list, int64_t n)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i] == n)
            return;
    if (n >= CHOICE_PLAIN && n <= CHOICE_MOST && list->n < ODB_COUNT(list->items))
        list->items[list->n++] = n;
}

/* --- names ------------------------------------------------------------------------------------ */

/* How a word of a name begins, between spaces; "$" ends one that is all of the word. The first row
 * that has any of a name's words counts. */
static const struct {
    const char *words;
    enum choice_kind kind;
} choice_names[] = {
    {"past cache kv mem memory prev", CHOICE_PAST},
    {"batch bs$ bsz minibatch", CHOICE_BATCH},
    {"channel chan chans ch$ chn", CHOICE_CHANNELS},
    {"height width rows cols columns row$ col$ h$ w$ hei wid high wide ih$ iw$ img image pixel",
     CHOICE_EXTENT},
    {"sample audio wav wave signal pcm", CHOICE_SAMPLES},
    {"seq sequence len length time token frame step timestep word char phoneme text source target "
     "src tgt query key total context attention mask t$ s$ l$ pos chunk ctx span encoder decoder",
     CHOICE_LENGTH},
    {"feature feat hidden embed mel bins bin$ coeff", CHOICE_FEATURES},
};

static bool choice_word_is(const char *word, size_t len, const char *words)
{
    while (*words) {
        size_t n = strcspn(words, " "), own = n - (words[n - 1] == '$');
        if (len >= own && !strncmp(word, words, own) && (own == n || len == own))
            return true;
        words += n + strspn(words + n, " ");
    }
    return false;
}

/* The words of a name are what letters make, small and great the same; a great letter after a small
 * one begins another. */
static bool choice_name_has(const char *name, const char *words)
{
    char word[64];
    size_t len = 0;
    for (const char *p = name;; p++) {
        bool letter = isalpha((unsigned char)*p);
        bool next =
            letter && p > name && isupper((unsigned char)*p) && islower((unsigned char)p[-1]);
        if (len && (!letter || next)) {
            if (choice_word_is(word, len, words))
                return true;
            len = 0;
        }
        if (letter && len < sizeof word)
            word[len++] = (char)tolower((unsigned char)*p);
        if (!*p)
            return false;
    }
}

static enum choice_kind choice_by_name(const char *name)
{
    for (size_t i = 0; i < ODB_COUNT(choice_names); i++)
        if (choice_name_has(name, choice_names[i].words))
            return choice_names[i].kind;
    return CHOICE_UNKNOWN;
}

/* --- places ----------------------------------------------------------------------------------- */

static bool choice_whole(const struct odb_input_known *input)
{
    return odb_dtype_is_integer(input->value->type.dtype);
}

/* Whether the axis holds the channels of a picture, or may. */
static bool choice_few(const struct odb_input_known *input, int axis)
{
    return input->dims[axis] == 1 || input->dims[axis] == 3 || input->dims[axis] == 4;
}

static enum choice_kind choice_by_place(const struct odb_input_known *input, int axis)
{
    int rank = input->rank;
    bool state = choice_name_has(input->value->name, "past cache present");
    if (rank == 1)
        return CHOICE_UNKNOWN;
    if (axis == 0 && !(rank == 3 && choice_few(input, 2) && input->dims[1] < 0))
        return CHOICE_BATCH;
    if (rank == 4 && state)
        return axis == 2 ? CHOICE_PAST : CHOICE_FEATURES;
    bool last = rank == 4 && choice_few(input, 3) && input->dims[1] < 0;
    if (rank >= 4)
        return axis == (last ? rank - 1 : 1) ? CHOICE_CHANNELS : CHOICE_EXTENT;
    if (rank == 3 && (choice_few(input, 0) || choice_few(input, 2)) && input->dims[1] < 0)
        return axis == 0 || choice_few(input, 0) || axis == 1 ? CHOICE_EXTENT : CHOICE_CHANNELS;
    if (choice_whole(input))
        return CHOICE_LENGTH;
    return axis == rank - 1 ? CHOICE_FEATURES : CHOICE_LENGTH;
}

enum choice_kind choice_size_kind(const struct odb_input_known *input, int axis, const char *param)
{
    enum choice_kind kind = param ? choice_by_name(param) : CHOICE_UNKNOWN;
    bool letter = param && param[0] && !param[1];
    if (letter && (strchr("Bb", *param) || (strchr("Nn", *param) && axis == 0 && input->rank > 1)))
        return CHOICE_BATCH;
    if (letter && strchr("Cc", *param) && input->rank > 2)
        return CHOICE_CHANNELS;
    return kind == CHOICE_UNKNOWN ? choice_by_place(input, axis) : kind;
}

/* --- sizes ------------------------------------------------------------------------------------ */

static const int64_t choice_sizes[CHOICE_KINDS][20] = {
    [CHOICE_BATCH] = {1, 2, 4, 8, 3},
    [CHOICE_PAST] = {0, 1, 8, 7, 16, 4, 2, 64},
    [CHOICE_CHANNELS] = {3, 1, 4, 2, 8, 16, 64},
    [CHOICE_EXTENT] = {64,  224, 32,  128, 28,  256, 96,  112, 48, 160,
                       320, 192, 227, 299, 416, 512, 640, 16,  8,  1},
    [CHOICE_LENGTH] = {8, 16, 32, 64, 128, 1, 256, 4, 2, 100, 512, 1000, 1024, 3, 10, 4096, 16000},
    [CHOICE_SAMPLES] = {16000, 512, 1024, 1536, 2048, 4096, 8000, 256, 160, 400, 480, 32000, 48000,
                        64, 8, 1},
    [CHOICE_FEATURES] = {8, 1, 2, 4, 16, 32, 64, 80, 128, 256, 512, 768, 1024, 40, 13, 10, 3},
    [CHOICE_NUMBER] = {CHOICE_PLAIN, 1, 2, 8, 4, 16, 3, 0, 32, 64, 10, 100, 128},
    [CHOICE_UNKNOWN] = {1, 8, 2, 4, 16, 3, 32, 64, 128, 256, 10, 100, 512, 1024, 16000},
};

void choice_size_list(struct choice_list *out, enum choice_kind kind)
{
    const int64_t *sizes = choice_sizes[kind];
    for (size_t i = 0; i < ODB_COUNT(choice_sizes[kind]); i++)
        if (sizes[i] || kind == CHOICE_PAST || (kind == CHOICE_NUMBER && i < 9))
            choice_list_add(out, sizes[i]);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* One name or number of len bytes. */
static bool choice_term(const char *text, size_t len, const struct choice_open *open, size_t n_open,
                        const int64_t *sizes, int64_t *n)
{
    char *end;
    while (len && strchr(" ()", text[len - 1]))
        len--;
    for (; len && strchr(" ()", *text); text++)
        len--;
    for (size_t i = 0; i < n_open; i++)
        if (open[i].param && !open[i].sum && strlen(open[i].param) == len &&
            !memcmp(open[i].param, text, len)) {
            *n = sizes ? sizes[i] : 1;
            return true;
        }
    *n = strtoll(text, &end, 10);
    return len && end == text + len && *n >= 0 && *n <= CHOICE_MOST;
}

bool choice_size_sum(const char *param, const struct choice_open *open, size_t n_open,
                     const int64_t *sizes, int64_t *n)
{
    int64_t product = 1, one;
    if (!param || !param[strcspn(param, "+*")])
        return false;
    *n = 0;
    for (const char *p = param;; p++) {
        size_t len = strcspn(p, "+*");
        if (!choice_term(p, len, open, n_open, sizes, &one))
            return false;
        product *= one;
        p += len;
        if (*p == '*')
            continue;
        *n += product;
        product = 1;
        if (!*p)
            return *n <= CHOICE_MOST;
    }
}
