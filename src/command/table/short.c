/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What stands for an option beside its long name: the letter of its row, and the words of old
 * scripts, which have two letters, other letters than the house, and underscores. A word counts for
 * commands that know its option, and before the letters.
 */
#include "command/table/short.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "command/table/command.h"
#include "command/table/table.h"

static const struct {
    const char *word;
    enum odb_option_id id;
} short_words[] = {
    {"f", ODB_OPTION_FRAME_TYPE},  {"d", ODB_OPTION_ONNX_DIR},     {"mt", ODB_OPTION_MODEL_TYPE},
    {"p", ODB_OPTION_PASSED_PATH}, {"s", ODB_OPTION_DUMP_STEP},    {"n", ODB_OPTION_OUTPUT_NAME},
    {"b", ODB_OPTION_BEGIN},       {"e", ODB_OPTION_END},          {"bs", ODB_OPTION_BEGIN_NAME},
    {"es", ODB_OPTION_END_NAME},   {"cd", ODB_OPTION_COMPARE_DIR}, {"g", ODB_OPTION_DUMP_GOLDEN},
    {"t", ODB_OPTION_INPUT_TAG},   {"t1", ODB_OPTION_TH1},         {"t2", ODB_OPTION_TH2},
};

/* Long ones. */
static const struct {
    const char *word;
    enum odb_option_id id, beside; /* counts for commands that know both */
} long_words[] = {
    {"target", ODB_OPTION_FRAME_TYPE, ODB_OPTION_FRAME_TYPE},
    {"input-file", ODB_OPTION_INPUT, ODB_OPTION_FRAME_TYPE},
};

const char *odb_option_short(const struct odb_command *command, enum odb_option_id id, char *buf)
{
    char letter = odb_option_row(id)->letter;
    buf[0] = letter;
    buf[1] = '\0';
    for (size_t i = 0; i < ODB_COUNT(short_words); i++) {
        const char *word = short_words[i].word;
        if (!odb_command_knows(command, short_words[i].id))
            continue;
        if (short_words[i].id == id) {
            snprintf(buf, ODB_OPTION_SHORT, "%s", word);
            break;
        }
        if (letter && word[0] == letter && !word[1])
            buf[0] = '\0';
    }
    return buf;
}

/* Underscores are dashes. */
static bool short_same(const char *name, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] != word[i] && !(name[i] == '-' && word[i] == '_'))
            return false;
    return !name[len];
}

int odb_option_long(const struct odb_command *command, const char *word, size_t len)
{
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        if (odb_command_knows(command, id) && short_same(odb_option_row(id)->name, word, len))
            return id;
    for (size_t i = 0; i < ODB_COUNT(long_words); i++)
        if (odb_command_knows(command, long_words[i].id) &&
            odb_command_knows(command, long_words[i].beside) &&
            short_same(long_words[i].word, word, len))
            return (int)long_words[i].id;
    return -1;
}

int odb_option_letters(const struct odb_command *command, const char *word, size_t *len)
{
    size_t whole = strcspn(word, "=");
    int found = -1;
    *len = 0;
    for (int id = 0; id < ODB_OPTION_COUNT; id++) {
        char text[ODB_OPTION_SHORT];
        if (!odb_command_knows(command, id))
            continue;
        size_t n = strlen(odb_option_short(command, id, text));
        /* Two letters are a word of their own; one may be followed by its value. */
        bool fits = n == 1 ? word[0] == text[0] : n > 1 && n == whole && !strncmp(word, text, n);
        if (fits && n > *len) {
            found = id;
            *len = n;
        }
    }
    return found;
}

bool odb_option_takes_next(enum odb_option_id id, const char *word, const char *next,
                           const char *behind)
{
    bool report = id == ODB_OPTION_JSON_FILE && word[1] == '-';
    if (id != ODB_OPTION_JSON && id != ODB_OPTION_JSON_FILE)
        return odb_option_row(id)->type != ODB_ARG_FLAG;
    if (!next)
        return false;
    if (!strcmp(next, "-")) /* which is an argument of explain's */
        return report || !behind;
    return next[0] != '-' && (report || odb_ends_with(next, ".json"));
}

const char *odb_option_alone(enum odb_option_id id)
{
    return id == ODB_OPTION_JSON || id == ODB_OPTION_JSON_FILE ? "-" : NULL;
}
