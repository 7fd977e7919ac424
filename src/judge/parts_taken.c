/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/parts_taken.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Whether a text has the word, with neither letters nor digits around it. */
static bool parts_says(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; n && (at = strstr(at, word)); at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]))
            return true;
    return false;
}

/* Whether the words are about an operator, which other parts do not have. */
static bool parts_is_of_operator(const struct odb_probe_part *part, const struct odb_error *err)
{
    for (size_t n = 0; n < part->graph->n_nodes; n++)
        if (part->nodes[n] && parts_says(err->what, part->graph->nodes[n].op_type))
            return true;
    return false;
}

/* Whether two parts of a kind have nothing in common that could be what is refused. */
static bool parts_differ(const struct odb_probe_part *part, const struct odb_refused_part *first)
{
    const struct odb_graph *graph = part->graph;
    if (part->takes == ODB_CUTS_PREFIX) /* all of them have the first nodes */
        return strcmp(graph->nodes[part->end].op_type, graph->nodes[first->end].op_type) != 0;
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (part->nodes[n] && first->nodes[n])
            return false;
    return true;
}

void odb_parts_taken(struct odb_parts *parts, const struct odb_probe_part *part)
{
    parts->taken[part->takes] = true;
}

void odb_parts_refused(struct odb_parts *parts, const struct odb_probe_part *part,
                       const struct odb_error *err)
{
    struct odb_refused_part *first = &parts->refused[part->takes];
    struct odb_signature words;
    if (part->takes == ODB_CUTS_NONE || !parts->taken[ODB_CUTS_NONE] || parts->taken[part->takes] ||
        !part->plain || parts_is_of_operator(part, err))
        return;
    odb_signature_refusal(&words, err);
    if (!first->nodes) {
        first->nodes = odb_xmemdup(part->nodes, part->graph->n_nodes * sizeof *part->nodes);
        first->end = part->end;
        first->words = words;
    } else if (parts_differ(part, first) &&
               odb_signature_match(&first->words, &words) == ODB_ANSWER_BAD) {
        enum odb_cuts found = part->takes == ODB_CUTS_PREFIX ? ODB_CUTS_NONE : ODB_CUTS_PREFIX;
        parts->found = ODB_MAX(parts->found, found);
    }
}

void odb_parts_dispose(struct odb_parts *parts)
{
    for (size_t i = 0; i < ODB_COUNT(parts->refused); i++)
        free(parts->refused[i].nodes);
}
