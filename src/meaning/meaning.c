/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text is gone through for each question: 1,400 lines take less than a tenth of a millisecond,
 * and a node has some ten names.
 */
#include "meaning/meaning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/formal.h"
#include "words.h"

/* --- lines ------------------------------------------------------------------------------------ */

/* "  NAME<13  words" behind its indentation. */
static void meaning_row(struct odb_meaning_row *row, const char *line)
{
    row->name = line;
    row->name_len = (int)strcspn(line, "< ");
    row->below = line[row->name_len] == '<' ? (int)strtol(line + row->name_len + 1, NULL, 10) : 0;
    line += strcspn(line, " ");
    row->words = line + strspn(line, " ");
    row->words_len = (int)strcspn(row->words, "\n");
}

bool odb_meaning_next(struct odb_meaning_row *row)
{
    static const char domain[] = "domain ";
    const char *line = row->words ? row->words + row->words_len + 1 : meaning_words;
    for (; *line; line += strcspn(line, "\n") + 1) {
        if (*line == ' ') {
            meaning_row(row, line + strspn(line, " "));
            return true;
        }
        if (!strncmp(line, domain, sizeof domain - 1))
            row->domains = line + sizeof domain - 1;
        else if (*line != '#' && *line != '\n')
            row->operators = line;
    }
    return false;
}

bool odb_meaning_lists(const char *list, const char *word)
{
    size_t n = strlen(word), len = 0;
    for (; *list != '\n'; list += len + (list[len] == ' ')) {
        len = strcspn(list, " \n");
        if (len == n && !strncmp(list, word, n))
            return true;
    }
    return false;
}

/* --- questions -------------------------------------------------------------------------------- */

/* How close a row is: 3 the operator's own, 2 its domain's, 1 everyone's; 0: it is of others. */
static int meaning_closeness(const struct odb_meaning_row *row, const char *domain,
                             const char *op_type)
{
    bool own = odb_meaning_lists(row->domains, domain), all = *row->operators == '*';
    if (!own && *row->domains != '*')
        return 0;
    if (!all)
        return odb_meaning_lists(row->operators, op_type) ? 3 : 0;
    return own ? 2 : 1;
}

const char *odb_meaning(const char *domain, const char *op_type, int version, const char *name,
                        char buf[ODB_MEANING])
{
    struct odb_meaning_row row = {0};
    size_t n = strlen(name);
    int closest = 0;
    *buf = '\0';
    while (odb_meaning_next(&row)) {
        if ((size_t)row.name_len != n || strncmp(row.name, name, n) != 0 ||
            (row.below && version >= row.below))
            continue;
        int closeness = meaning_closeness(&row, *domain ? domain : "ai.onnx", op_type);
        if (closeness > closest)
            snprintf(buf, ODB_MEANING, "%.*s", row.words_len, row.words);
        closest = closeness > closest ? closeness : closest;
    }
    return buf;
}

const char *odb_meaning_of_attr(const struct odb_node *node, const char *name,
                                char buf[ODB_MEANING])
{
    *buf = '\0';
    return node->function ? buf : odb_meaning(node->domain, node->op_type, node->opset, name, buf);
}

const char *odb_meaning_of_port(const struct odb_node *node, bool input, int slot,
                                char buf[ODB_MEANING])
{
    char name[ODB_FORMAL_NAME];
    return odb_meaning_of_attr(node, odb_formal_key(node, input, slot, name), buf);
}
